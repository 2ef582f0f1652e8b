"""Cases of shapes, joins, new arrays, order and search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view as windows

from tests.frontend.library.staging import Case, case

RANDOM = np.random.default_rng(10)
X, CUBE = RANDOM.normal(size=(4, 3)), RANDOM.normal(size=(2, 3, 4))
U, V, F = X[0].copy(), X[1].copy(), X.astype(np.float32)
LONG = RANDOM.normal(size=20)
N = RANDOM.integers(-3, 3, (2, 2))
ODD = np.array([2.0, np.nan, -1.0, np.inf, 2.0, -np.inf, np.nan])
SORTED = np.array([-1.0, 0.0, 0.0, 0.5, 2.0])
NARROW = (
    np.array([200, 1, 100], np.uint8),
    np.array([100, -9, 50], np.int8),
    np.array([9, 2, 3], np.int32),
    np.array([3.3, 1.1, 2.2], np.float32),
)
YES = np.array([True, False, True])
PLACES = np.array([-2.0, -1.0, 0.0, 0.2, 2.0, 3.0, np.nan])


def applied(function: Callable[..., Any]) -> Callable[..., Any]:
    """The call of a function, as a program of its own."""
    return lambda *args: function(*args)


SHAPES: list[Case] = [
    case(
        np.reshape,
        lambda x: (np.reshape(x, (3, 4)), np.reshape(x, -1), np.reshape(x, (2, -1)), np.reshape(x, 12)),
        X,
    ),
    case(np.reshape, lambda x: (np.reshape(x, (x.shape[0], -1)), np.reshape(x, (-1, x.shape[2]))), CUBE),
    case(
        "reshape",
        lambda x: (x.reshape(12), x.reshape(-1, 2), x.reshape((3, 2, 2)), x.reshape(3, 4, order="C")),
        X,
    ),
    case("reshape", lambda x: (x.sum().reshape(1, 1), x[:1, :1].reshape(())), X),
    case(
        (np.ravel, "ravel", "flatten"), lambda x: (np.ravel(x), x.ravel(), x.flatten(), np.ravel(x[0])), CUBE
    ),
    case(
        np.transpose,
        lambda x: (np.transpose(x), np.transpose(x, (1, 2, 0)), np.transpose(x, (0, -1, 1))),
        CUBE,
    ),
    case("transpose", lambda x: (x.transpose(), x.transpose(1, 0, 2), x.transpose((2, 1, 0)), x.T), CUBE),
    case((np.swapaxes, "swapaxes"), lambda x: (np.swapaxes(x, 0, -1), x.swapaxes(0, 1)), CUBE),
    case(
        np.moveaxis,
        lambda x: (np.moveaxis(x, 0, -1), np.moveaxis(x, -1, 0), np.moveaxis(x, (0, 1), (1, 2))),
        CUBE,
    ),
    case(
        (np.asfortranarray, np.astype, np.broadcast_shapes),
        lambda x: (
            *(np.asfortranarray(x), np.asfortranarray(x[0, 0]), np.asfortranarray(x[0, 0, 0], np.float32)),
            *(
                np.astype(x, np.float32),
                np.astype(x[0], int),
                np.broadcast_shapes(x.shape, x.shape[2], (1, 1)),
            ),
        ),
        CUBE,
    ),
    case(
        np.rollaxis,
        lambda x: (np.rollaxis(x, 2), np.rollaxis(x, 0, 3), np.rollaxis(x, -1, 1), np.rollaxis(x, 1, -2)),
        CUBE,
    ),
    case(
        (np.matrix_transpose, np.linalg.matrix_transpose),
        lambda x: (np.matrix_transpose(x), np.linalg.matrix_transpose(x[0])),
        CUBE,
    ),
    case(
        np.resize, lambda x: (np.resize(x, 5), np.resize(x, (3, 7)), np.resize(x, ()), np.resize(x[:0], 2)), F
    ),
    case(np.resize, lambda x: (np.resize(x, (2, 3)), np.resize(x[0], 0)), N),
    case(
        np.expand_dims, lambda x: (np.expand_dims(x, 0), np.expand_dims(x, -1), np.expand_dims(x, (0, 2))), X
    ),
    case((np.squeeze, "squeeze"), lambda x: (np.squeeze(x[None]), x[:, None].squeeze(1), np.squeeze(x)), X),
    case(np.atleast_1d, lambda x: (np.atleast_1d(x), np.atleast_1d(x[0, 0])), X),
    case(
        (np.atleast_2d, np.atleast_3d),
        lambda x: (np.atleast_2d(x[0]), np.atleast_3d(x[0]), np.atleast_3d(x)),
        X,
    ),
    case(np.broadcast_to, lambda x: (np.broadcast_to(x, (5, 3)), np.broadcast_to(x[0], (2,))), U),
    case(np.broadcast_to, lambda x: np.broadcast_to(x[:, None], (4, 3, 6)), U),
    case(np.broadcast_arrays, lambda x, y: tuple(np.broadcast_arrays(x, y)), X, U),
    case(
        windows, lambda x: (windows(x, (2, 1, 4)), windows(x[:, ::-1], 2, axis=1), windows(x, (), ())), CUBE
    ),
    case(windows, lambda x: (windows(x, (2, 2), axis=(0, 0)), windows(x, (3, 0), (-1, 0))), X),
    case(windows, lambda x, k: windows(x, k).max(axis=-1), LONG, 4),
    case(np.flip, lambda x: (np.flip(x), np.flip(x, 0), np.flip(x, (0, -1))), CUBE),
    case((np.flipud, np.fliplr), lambda x: (np.flipud(x), np.fliplr(x)), X),
    case(
        np.roll,
        lambda x: (np.roll(x, 2), np.roll(x, -1, axis=0), np.roll(x, 7, 1), np.roll(x, (1, -1), (0, 1))),
        X,
    ),
    case(np.roll, lambda x, k: np.roll(x, k), LONG, -3),
    case(np.roll, lambda x: np.roll(x, 1), np.zeros(0)),
    *(
        case(np.repeat, lambda x, n: (np.repeat(x, n), x.repeat(n[1])), U, np.array([2, 0, 1], kind))
        for kind in (np.int8, np.uint8, np.int32, np.uint32)
    ),
    case(np.repeat, lambda x, keep: np.repeat(x, keep, axis=0), X[:3].copy(), YES),
    case((np.repeat, "repeat"), lambda x: (np.repeat(x, 2), np.repeat(x, 3, axis=1), x.repeat(2, axis=0)), X),
    case(np.tile, lambda x: (np.tile(x, 2), np.tile(x, (2, 1)), np.tile(x, (2, 1, 3))), X),
    case(np.tile, lambda x, k: np.tile(x, k), U, 4),
]

JOINS: list[Case] = [
    case(np.concatenate, lambda x, y: np.concatenate([x, y]), U, X[:, 0].copy()),
    case(np.concatenate, lambda x: (np.concatenate((x, x + 1), axis=1), np.concatenate([x, x], axis=-2)), X),
    case(np.concatenate, lambda x, y: np.concatenate([x, y, x, y, 2 * x]), LONG, U),
    case(np.concatenate, lambda x, y: np.concatenate([x, y]), LONG.astype(np.float32), np.arange(3)),
    case(np.concatenate, lambda x, y: np.concatenate([x, y], axis=1), F, X),
    case(np.concatenate, lambda x: np.concatenate([x[:2], np.zeros(2), [1.0, 2.0]]), U),
    case(np.concatenate, lambda x: np.concatenate([x, x.T], axis=None), X),
    case(np.concatenate, lambda x: np.concatenate([x, x]), np.zeros(0)),
    case(np.concatenate, lambda x: np.concatenate([x, x]), CUBE),
    case(np.stack, lambda x, y: (np.stack([x, y]), np.stack((x, y), axis=1), np.stack([x, y], -1)), U, V),
    case(np.stack, lambda x: np.stack([x, 2 * x, x], axis=1), X),
    case(np.stack, lambda x: np.stack([x[0], x[1]]), U),
    case(np.vstack, lambda x, y: (np.vstack([x, y]), np.vstack([y, y])), X, U),
    case(np.hstack, lambda x, y: (np.hstack([x, x]), np.hstack([y, y, y])), X, U),
    case(np.column_stack, lambda x, y: np.column_stack([y, x, y]), X, X[:, 0].copy()),
    case(np.append, lambda x, y: (np.append(x, y), np.append(y, 1.0), np.append(x, x, axis=0)), X, U),
    case(
        np.split,
        lambda x: (*np.split(x, 2), *np.split(x, 3, axis=1), *np.split(x, [1, 3]), *np.split(x, [1, 9])),
        X,
    ),
    case((np.vsplit, np.hsplit), lambda x: (*np.vsplit(x, 2), *np.hsplit(x, 3)), X),
    case(np.hsplit, lambda x: tuple(np.hsplit(x, 4)), LONG),
    case(np.meshgrid, lambda x, y: (*np.meshgrid(x, y), *np.meshgrid(x, y, indexing="ij")), U, LONG),
    case(np.meshgrid, lambda x, y: np.meshgrid(x, y, x), U, LONG),
]

CREATION: list[Case] = [
    *(
        case(f, lambda x, f=f: (f(x.shape[0]), f((2, x.shape[1])), f(x.shape, dtype=np.int32), f(20)), X)
        for f in (np.zeros, np.ones)
    ),
    case(np.empty, lambda x: np.empty(x.shape).shape, X),
    *(case(f, lambda x, f=f: (f(x), f(x, dtype=int)), F) for f in (np.zeros_like, np.ones_like)),
    case(np.empty_like, lambda x: np.empty_like(x).shape, X),
    case(
        np.full,
        lambda x: (np.full(x.shape, 2), np.full(3, x[0, 0]), np.full((2, 3), x[0]), np.full(2, 1, float)),
        F,
    ),
    case(np.full_like, lambda x: (np.full_like(x, 2), np.full_like(x, 1.5, dtype=np.float64)), F),
    case(np.arange, lambda n: (np.arange(n), np.arange(1, n), np.arange(n, 0, -2), np.arange(0, n, 3)), 8),
    case(
        np.arange,
        lambda n: (np.arange(n), np.arange(2, n), np.arange(n, dtype=float), np.arange(n, 20, n)),
        0 + 1,
    ),
    case(np.arange, lambda n: np.arange(5, n), 2),
    case(np.arange, lambda x: (np.arange(0.0, x, 0.25), np.arange(x), np.arange(x, 0, -0.5)), 2.6),
    case(np.arange, lambda x: np.arange(len(x)) * x, LONG),
    *(
        case(np.arange, lambda x: (np.arange(x[0]), np.arange(x[1], x[0]), np.arange(1, x[0], x[2])), numbers)
        for numbers in NARROW
    ),
    case(np.arange, lambda x: np.arange(x[1], x[0], 1, np.float32), NARROW[-1]),
    case(
        np.linspace,
        lambda x: (np.linspace(0, x, 5), np.linspace(x, 1.0), np.linspace(0, x, 4, endpoint=False)),
        2.6,
    ),
    case(
        np.linspace, lambda x, n: (np.linspace(-1, x, n), np.linspace(x, 2, 1), np.linspace(x, x, 3)), 2.6, 9
    ),
    case(np.linspace, lambda x, n: np.linspace(x, 3, n), 2.6, 1),
    case(np.linspace, lambda x: np.linspace(x[0, 0], 1, 5), F),
    case(
        np.array,
        lambda x: (np.array([x[0, 0], 0.1]), np.array([x[0, 0], 1]), np.array([x[0, 0], x[0, 1]])),
        F,
    ),
    case(
        np.array,
        lambda x, y: (np.array([x, y]), np.array([[x, 1], [2, y]]), np.array([x, 1], dtype=np.float32)),
        1.5,
        2.5,
    ),
    case(np.array, lambda x: (np.array([x, 2 * x]), np.array(x, copy=True), np.array([x[0], x[1]])), X),
    *(
        case(f, lambda x, f=f: (f(x), f([x, x]), f(x, dtype=np.float32)), X)
        for f in (np.asarray, np.asanyarray, np.ascontiguousarray)
    ),
    case((np.copy, "copy"), lambda x: (np.copy(x), x.copy()), X),
    case(np.vander, lambda x: (np.vander(x, 4), np.vander(x, 3, increasing=True)), U),
    *(case(np.vander, lambda x: np.vander(x, 3), numbers) for numbers in NARROW),
]

ORDER: list[Case] = [
    *(case(f, applied(f), x) for f in (np.sort, np.argsort) for x in (LONG, X, CUBE, ODD, np.zeros(0))),
    case(np.sort, lambda x: (np.sort(x, axis=0), np.sort(x, axis=None), np.sort(x, kind="stable")), CUBE),
    case((np.argsort, "argsort"), lambda x: (np.argsort(x, axis=0), x.argsort()), X),
    case(
        np.take,
        lambda x, i: (np.take(x, i), np.take(x, i, axis=0), np.take(x, i, axis=1)),
        CUBE,
        np.array([1, 0, -1]),
    ),
    case(np.take, lambda x, i: (np.take(x, i, axis=1), x.take(1), np.take(x, [0, -1])), X, N),
    case("take", lambda x: x.take([0, 2], axis=1), X),
    case(np.take_along_axis, lambda x: np.take_along_axis(x, np.argsort(x, axis=1), axis=1), X),
    *(
        case(np.searchsorted, lambda a, v, s=s: np.searchsorted(a, v, side=s), SORTED, PLACES)
        for s in ("left", "right")
    ),
    case(
        (np.searchsorted, "searchsorted"),
        lambda a, v: (a.searchsorted(v), np.searchsorted(a, 0.25)),
        SORTED,
        N,
    ),
    case(np.searchsorted, lambda a, v: np.searchsorted(a, v), np.zeros(0), PLACES),
    *(
        case(
            np.select,
            lambda x, y: (np.select([x > 1, x > 0], [x, y]), np.select([x > 1], [y], default=x)),
            np.array([0, 1, 2, 3], one),
            np.array([1, 1, 0, 1], other),
        )
        for one, other in (("uint8", "bool"), ("float32", "bool"), ("int8", "uint8"))
    ),
    case(np.searchsorted, lambda a: np.searchsorted(a, -1), np.arange(4, dtype=np.uint64)),
    case(
        np.searchsorted,
        lambda a: (np.searchsorted(a, 0.1), np.searchsorted(a, 0.1, side="right")),
        np.array([0.1, 0.2], np.float32),
    ),
    *(
        case(np.digitize, lambda x, b, r=r: np.digitize(x, b, right=r), np.arange(6), np.array(bins))
        for bins in ([4, 3, 3, 0], [3, 1], [2, 2], [0, 1, 1, 5])
        for r in (False, True)
    ),
    case(np.searchsorted, lambda a, v: np.searchsorted(a, v), np.arange(33.0), RANDOM.uniform(-1, 35, 40)),
    case(
        np.interp,
        lambda x, xp, fp: np.interp(x, xp, fp),
        PLACES,
        np.unique(SORTED),
        np.array([1.0, 3.0, 2.0, 5.0]),
    ),
    case(
        np.interp,
        lambda x, xp, fp: np.interp(x, xp, fp, left=-9, right=9),
        PLACES,
        np.arange(1.0),
        np.ones(1),
    ),
    case(
        np.interp,
        lambda x, xp, fp: (np.interp(x, xp, fp, period=1.7), np.interp(x, xp, fp, 1.0, 2.0, -3.0)),
        RANDOM.uniform(-5.0, 5.0, 9),
        RANDOM.uniform(-2.0, 2.0, 6),
        RANDOM.normal(size=6),
    ),
    case(np.interp, lambda x, xp, fp: np.interp(x, xp, fp), 0.3, np.arange(4.0), np.arange(4) ** 2),
    case(np.gradient, lambda x: (np.gradient(x), np.gradient(x, 0.5), np.gradient(x, 2, axis=1)), F),
    *(case(np.gradient, lambda x: (np.gradient(x), np.gradient(x, 2)), numbers) for numbers in NARROW),
    case(np.gradient, lambda x: np.gradient(x, axis=1), NARROW[1].reshape(1, 3)),
    case(np.gradient, lambda x, h: np.gradient(x, h[0]), NARROW[-1], U),
    case(np.bincount, lambda i: (np.bincount(i), np.bincount(i, minlength=7)), np.array([0, 3, 3, 1])),
    case(np.bincount, lambda i, w: np.bincount(i, weights=w), np.array([0, 3, 3, 1]), np.arange(4)),
    case(np.bincount, lambda i: np.bincount(i), np.zeros(0, int)),
    case(np.histogram, lambda x, w: np.histogram(x, 3, weights=w), U, YES),
    case("item", lambda x: (x.item(1, 2), x[0, 0].item(), x[:1, :1].item(), x.item(-1, 0)), F),
]

COMPREHENSIONS: list[Case] = [
    case(np.array, lambda x: np.array([row * 2 for row in x]), X),
    case(np.array, lambda x: np.asarray([row.sum() for row in x]) + np.ones(4), X),
    case(np.stack, lambda x: (np.stack([row for row in x]), np.stack([row + 1 for row in x], axis=1)), X),
    case(np.concatenate, lambda x: np.concatenate([row * row for row in x]), X),
    case(np.vstack, lambda x: (np.vstack([row for row in x]), np.hstack([row for row in x])), X),
    case(np.column_stack, lambda x: np.column_stack([row for row in x]), X),
    case("sum", lambda x: np.sum([v * v for v in x]) + np.max([v for v in x]), LONG),
    case(np.dot, lambda x: np.dot([v * v for v in x], x), LONG),
]
CASES = [*COMPREHENSIONS, *SHAPES, *JOINS, *CREATION, *ORDER]
