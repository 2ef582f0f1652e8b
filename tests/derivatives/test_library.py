"""Every row of the library whose result depends differentiably on a float: value, both modes, differences.

Rows of one kind of argument stand in one program; sizes are known while compiling, then symbolic.
"""

# ruff: noqa: B905 (programs are written as their users write them)

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.special
from numpy.lib.stride_tricks import sliding_window_view as windows

import anadrome as ad
from anadrome.frontend.library import CALLS, METHODS, sparse
from tests.derivatives import special_rows
from tests.derivatives.agreement import agree, assert_same
from tests.derivatives.editing_rows import EDITING
from tests.derivatives.selection_rows import SELECTIONS, VALUES, keys_of

RANDOM = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def numbers_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test draws the same numbers, whichever tests ran before it."""
    monkeypatch.setitem(globals(), "RANDOM", np.random.default_rng(7))


NAMES = (
    "sqrt cbrt exp expm1 exp2 log log1p log2 log10 sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh"
)
ON_INTERVAL = [
    *(getattr(np, name) for name in NAMES.split()),
    *(np.arctanh, np.negative, np.absolute, np.fabs, np.reciprocal, np.deg2rad, np.radians, np.rad2deg),
    *(np.degrees, np.square, np.positive, np.conjugate, np.real, np.float64),
    *(scipy.special.erf, scipy.special.erfc, scipy.special.gammaln, scipy.special.expit),
    *(scipy.special.cbrt, scipy.special.exp2, scipy.special.expm1, scipy.special.log1p),
]
"""Of one argument in (0, 1)."""
OF_TWO = [
    *(np.add, np.subtract, np.multiply, np.divide, np.remainder, np.fmod, np.minimum, np.maximum, np.hypot),
    *(np.copysign, np.float_power, np.arctan2, np.fmax, np.fmin, np.logaddexp, np.logaddexp2, np.power),
]
"""Of two positive arguments."""
SCALAR_NAMES = (
    "sqrt cbrt exp expm1 exp2 log1p log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh atanh"
)
ON_NUMBERS = [
    *(getattr(math, name) for name in SCALAR_NAMES.split()),
    *(math.erf, math.erfc, math.lgamma, math.fabs, math.radians, math.degrees, math.log, math.hypot),
]
"""Functions of `math` of one number in (0, 1)."""
PAIRS_OF_NUMBERS = [math.atan2, math.pow, math.fmod, math.copysign, math.log, math.hypot]

CONSTANT = [
    *(
        np.floor_divide,
        np.sign,
        np.floor,
        np.ceil,
        np.rint,
        np.trunc,
        np.fix,
        np.round,
        np.around,
        np.heaviside,
    ),
]
"""Float results whose derivative is zero wherever there is one."""
NOT_FLOAT = [
    *(np.isnan, np.isinf, np.isfinite, np.equal, np.not_equal, np.less, np.less_equal, np.greater),
    *(np.greater_equal, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift),
    *(np.right_shift, np.logical_and, np.logical_or, np.logical_xor, np.logical_not, np.isclose),
    *(np.any, np.all, np.count_nonzero, np.argmin, np.argmax, np.argsort, np.searchsorted),
    *(np.isposinf, np.isneginf, np.isreal, np.iscomplex, np.array_equiv, np.result_type, np.indices),
    *(np.tril_indices, np.triu_indices, np.tril_indices_from, np.triu_indices_from, np.diag_indices),
    *(
        np.broadcast_shapes,
        np.nanargmin,
        np.nanargmax,
        np.lexsort,
        np.diag_indices_from,
        np.unravel_index,
        np.ravel_multi_index,
        np.linalg.matrix_rank,
    ),
    *(np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
    *(math.isnan, math.isinf, math.isfinite, math.floor, math.ceil, math.trunc, math.isclose),
]
"""Results of integers and bools."""
NO_FLOAT_ARGUMENT = [
    *(np.zeros, np.ones, np.empty, np.zeros_like, np.ones_like, np.empty_like, np.eye, np.identity),
]

Row = tuple[Any, Callable[..., Any]]
REDUCTIONS: list[Row] = [
    *((f, f) for f in (np.sum, np.prod, np.mean, np.var, np.std, np.min, np.max, np.amin, np.amax, np.ptp)),
    (np.sum, lambda a: np.sum(a, axis=0, keepdims=True)),
    (np.prod, lambda a: np.prod(a, axis=1)),
    (np.mean, lambda a: np.mean(a, axis=(0, 1))),
    (np.var, lambda a: np.var(a, axis=1, ddof=1)),
    (np.std, lambda a: np.std(a, axis=0)),
    (np.max, lambda a: np.max(a, axis=1)),
    (np.min, lambda a: np.min(a, axis=0)),
    (np.cumsum, lambda a: (np.cumsum(a), np.cumsum(a, axis=0))),
    (np.cumprod, lambda a: (np.cumprod(a), np.cumprod(a, axis=1))),
    (np.diff, lambda a: (np.diff(a), np.diff(a, n=2, axis=0))),
    (scipy.special.logsumexp, lambda a: (scipy.special.logsumexp(a), scipy.special.logsumexp(a, axis=0))),
    (scipy.special.softmax, lambda a: scipy.special.softmax(a, axis=1)),
    (scipy.special.log_softmax, lambda a: scipy.special.log_softmax(a, axis=0)),
    (("sum", "prod", "mean", "var"), lambda a: (a.sum(0), a.prod(), a.mean(1), a.var())),
    (("std", "min", "max"), lambda a: (a.std(axis=1), a.min(0), a.max())),
    (("cumsum", "cumprod"), lambda a: (a.cumsum(0), a.cumprod(1))),
]
SHAPES: list[Row] = [
    ((np.reshape, "reshape"), lambda a: (np.reshape(a, (a.shape[1], -1)), a.reshape(-1))),
    ((np.ravel, "ravel", "flatten"), lambda a: np.ravel(a) * a.ravel() + a.T.flatten()),
    ((np.transpose, "transpose"), lambda a: (np.transpose(a), a.transpose(1, 0))),
    ((np.swapaxes, "swapaxes"), lambda a: np.swapaxes(a, 0, 1) * a.swapaxes(1, 0)),
    (np.moveaxis, lambda a: np.moveaxis(a, 0, -1)),
    (np.expand_dims, lambda a: np.expand_dims(a, 1)),
    ((np.squeeze, "squeeze"), lambda a: np.squeeze(a[None]) + a[:, None].squeeze(1)),
    (
        (np.atleast_1d, np.atleast_2d, np.atleast_3d),
        lambda a: np.atleast_3d(np.atleast_2d(np.atleast_1d(a[0]))),
    ),
    (np.broadcast_to, lambda a: np.broadcast_to(a[:, None], (a.shape[0], 2, a.shape[1]))),
    (np.broadcast_arrays, lambda a: tuple(np.broadcast_arrays(a, a[0]))),
    (np.lib.stride_tricks.sliding_window_view, lambda a: windows(a, (2, 2)) * windows(a[:, ::-1], (2, 2))),
    ((np.flip, np.flipud, np.fliplr), lambda a: np.flip(a) * np.flipud(a) + np.fliplr(a)),
    (np.roll, lambda a: (np.roll(a, 2), np.roll(a, -1, axis=0))),
    ((np.repeat, "repeat"), lambda a: (np.repeat(a, 2), a.repeat(3, axis=1))),
    (np.tile, lambda a: np.tile(a, (2, 1))),
    (np.concatenate, lambda a: (np.concatenate([a, a * 2.0]), np.concatenate([a, a[:, :1]], axis=1))),
    (np.stack, lambda a: (np.stack([a, a**2]), np.stack([a, a], axis=-1))),
    ((np.vstack, np.hstack), lambda a: (np.vstack([a, a[0]]), np.hstack([a, a]))),
    ((np.column_stack, np.append), lambda a: (np.column_stack([a, a[:, 0]]), np.append(a, a[0]))),
    (
        (np.split, np.vsplit, np.hsplit),
        lambda a: (*np.split(a, [1, 3]), *np.vsplit(a, 2), *np.hsplit(a, [1])),
    ),
    (np.meshgrid, lambda a: tuple(np.meshgrid(a[0], a[:, 0], indexing="ij"))),
    ((np.full, np.full_like), lambda a: (np.full((2, 3), a[0, 0]), np.full_like(a, a[1, 1]))),
    (np.linspace, lambda a: np.linspace(a[0, 0], a[0, 1], 5)),
    (np.arange, lambda a: np.arange(a.shape[0]) * a[:, 0]),
    ((np.array, np.asarray), lambda a: np.array([a[0, 0], 2.0 * a[0, 1]]) * np.asarray([a[1, 1], a[1, 0]])),
    ((np.asanyarray, np.ascontiguousarray), lambda a: np.asanyarray(a) * np.ascontiguousarray(a)),
    ((np.copy, "copy"), lambda a: np.copy(a) * a.copy()),
    (np.vander, lambda a: np.vander(a[:, 0], 4)),
    ((np.where, np.clip), lambda a: np.where(a > 1.2, a, a**2) * np.clip(a, 0.8, 1.6)),
    (("clip", "astype"), lambda a: a.clip(0.7, a[0, 0]) * a.astype(np.float64)),
    (("round", "conj", "conjugate"), lambda a: (0.01 * a).round(1) + a.conj() * a.conjugate()),
    (np.float32, lambda a: np.float64(3.0) * a),
]
LINEAR: list[Row] = [
    (np.matmul, lambda a, b: (a @ b.T, np.matmul(a.T, b), a @ b[0], a[:, 0] @ b)),
    ((np.dot, "dot"), lambda a, b: np.dot(a, b.T) * a.dot(b.T)),
    ((np.inner, np.outer, np.vdot), lambda a, b: (np.inner(a, b[0]), np.outer(a[0], b[1]), np.vdot(a, b))),
    (np.tensordot, lambda a, b: (np.tensordot(a, b), np.tensordot(a, b, axes=(0, 0)))),
    (
        np.einsum,
        lambda a, b: (np.einsum("ij,kj->ik", a, b), np.einsum("ij,ij->", a, b), np.einsum("ij->ji", a)),
    ),
    (np.kron, lambda a, b: np.kron(a[:2], b[:2])),
    (np.linalg.norm, lambda a, b: (np.linalg.norm(a), np.linalg.norm(b, axis=1), np.linalg.norm(a[0], 1))),
    ((np.trace, "trace"), lambda a, b: np.trace(a) * b.trace(1)),
    (
        (np.diag, np.diagonal, "diagonal"),
        lambda a, b: (np.diag(a[0], 1), np.diagonal(a), b.diagonal() * np.diag(b)),
    ),
    ((np.tril, np.triu), lambda a, b: (np.tril(a) * b, np.triu(b, 1))),
]


def apart(matrix):
    """The matrix with eigenvalues and singular values that keep their order under small changes."""
    return matrix + np.diag(9.0 * np.arange(len(matrix)))


SQUARES: list[Row] = [
    (np.linalg.solve, lambda a, b: (np.linalg.solve(a, b), np.linalg.solve(a, b[0]))),
    (np.linalg.inv, lambda a, b: np.linalg.inv(a)),
    (np.linalg.det, lambda a, b: np.linalg.det(a)),
    (np.linalg.matrix_power, lambda a, b: np.linalg.matrix_power(a, 3) - np.linalg.matrix_power(a, -2)),
    (scipy.linalg.solve_triangular, lambda a, b: scipy.linalg.solve_triangular(a, b, "T", lower=True)),
    (scipy.linalg.cho_factor, lambda a, b: np.triu(scipy.linalg.cho_factor(a)[0])),
    (scipy.linalg.cho_solve, lambda a, b: scipy.linalg.cho_solve(scipy.linalg.cho_factor(a, True), b)),
    (np.linalg.cholesky, lambda a, b: np.linalg.cholesky(a @ a.T + np.eye(len(a)))),
    (np.linalg.cholesky, lambda a, b: np.linalg.cholesky(a)),
    (np.linalg.cond, lambda a, b: np.linalg.cond(apart(a))),
    (np.linalg.multi_dot, lambda a, b: np.linalg.multi_dot([a, b, a[0]])),
    (np.linalg.lstsq, lambda a, b: np.linalg.lstsq(apart(a)[:, 1:], b[0])[0]),
    (scipy.linalg.cholesky, lambda a, b: scipy.linalg.cholesky(a)),
    (scipy.linalg.expm, lambda a, b: scipy.linalg.expm(0.1 * b)),
    (np.linalg.slogdet, lambda a, b: np.linalg.slogdet(a)),
    (np.linalg.pinv, lambda a, b: (np.linalg.pinv(b[1:]), np.linalg.pinv(a[:, 1:]))),
    (np.linalg.qr, lambda a, b: np.linalg.qr(b, mode="r")),
    (np.linalg.eigvalsh, lambda a, b: np.linalg.eigvalsh(apart(a))),
    (np.linalg.eigh, lambda a, b: np.linalg.eigh(apart(a))[0]),
    (np.linalg.svd, lambda a, b: np.linalg.svd(apart(b), compute_uv=False)),
    (np.linalg.svdvals, lambda a, b: np.linalg.svdvals(apart(b))),
]
ORDER: list[Row] = [
    (np.sort, lambda x, y: (np.sort(x), np.sort(x * y[0]))),
    ((np.take, "take"), lambda x, y: np.take(x, [0, 2, 2]) * y.take([1, 1, 0])),
    (np.take_along_axis, lambda x, y: np.take_along_axis(x, np.argsort(y), axis=0)),
    (np.interp, lambda x, y: np.interp(0.8 * x + 0.1, np.linspace(0.0, 2.0, len(y)), y)),
    (np.bincount, lambda x, y: np.sum(np.bincount(np.argsort(x) // 2, weights=y) ** 3)),
    ("item", lambda x, y: x[:1].item() * y.item(1)),
    (math.fsum, lambda x, y: math.fsum([x[0], y[1], x[2]])),
    (math.dist, lambda x, y: math.dist((x[0], x[1]), (y[0], 1.0))),
    (math.hypot, lambda x, y: math.hypot(x[0], x[1], y[0])),
    (np.arccosh, lambda x, y: np.arccosh(x + 1.0)),
    (math.acosh, lambda x, y: math.acosh(x[0] + 1.0)),
]


def all_of(rows: list[Row]) -> Callable[..., Any]:
    """One program of the results of all rows."""
    return lambda *args: [function(*args) for _, function in rows]


def spaced(count: int) -> Any:
    """Numbers between 0.15 and 0.9 in no order, none close to another."""
    return RANDOM.permutation(np.linspace(0.15, 0.9, count)) + RANDOM.uniform(-0.1, 0.1, count) / count


@pytest.mark.parametrize("count", [5, 20])
@pytest.mark.parametrize("part", range(4))
def test_functions_of_one_argument(part, count):
    functions = ON_INTERVAL[part::4]
    agree(lambda x: [f(x) for f in functions], spaced(count))


@pytest.mark.parametrize("count", [5, 20])
@pytest.mark.parametrize("part", range(2))
def test_functions_of_two_arguments(part, count):
    functions = OF_TWO[part::2]
    agree(lambda x, y: [f(x, y) for f in functions], spaced(count), 1.7 * spaced(count))
    agree(lambda x, y: [f(x, y) for f in functions], spaced(count), 0.5123)


@pytest.mark.parametrize("part", range(2))
def test_second_derivatives_of_functions(part):
    one, two = ON_INTERVAL[part::2], OF_TWO[part::2]
    agree(
        lambda x, y: sum(f(x).sum() for f in one) + sum(f(x, y).sum() for f in two),
        spaced(3),
        spaced(3),
        order=2,
    )


def test_functions_of_numbers():
    agree(lambda x, y: [*(f(x) for f in ON_NUMBERS), *(f(x, y) for f in PAIRS_OF_NUMBERS)], 0.37, 1.9)


def test_constant_functions():
    x = spaced(20) * 3.0
    total = lambda x: sum(f(x).sum() for f in CONSTANT if f.__name__ not in ("floor_divide", "heaviside"))
    both = lambda x: total(x) + np.floor_divide(x, 0.3).sum() + np.heaviside(x, x).sum() + x[0]
    agree(both, x)


@pytest.mark.parametrize("shape", [(4, 3), (18, 20)])
@pytest.mark.parametrize("part", range(3))
def test_reductions(part, shape):
    agree(all_of(REDUCTIONS[part::3]), 2.0 * spaced(math.prod(shape)).reshape(shape))


@pytest.mark.parametrize("shape", [(4, 3), (18, 20)])
@pytest.mark.parametrize("part", range(4))
def test_shapes_joins_and_new_arrays(part, shape):
    agree(all_of(SHAPES[part::4]), 2.0 * spaced(math.prod(shape)).reshape(shape))


@pytest.mark.parametrize("shape", [(4, 3), (18, 20)])
def test_contractions(shape):
    agree(all_of(LINEAR), RANDOM.normal(size=shape), RANDOM.normal(size=shape))


@pytest.mark.parametrize("size", [3, 17])
def test_squares(size):
    matrix = RANDOM.normal(size=(size, size)) / size
    agree(all_of(SQUARES), matrix @ matrix.T + np.eye(size), RANDOM.normal(size=(size, size)))


@pytest.mark.parametrize("count", [6, 20])
def test_order_and_places(count):
    agree(all_of(ORDER), spaced(count), spaced(count))
    if count == 6:
        agree(lambda x, y: np.cross(x[:3], y[3:]), spaced(6), spaced(6))


def test_second_derivatives_of_the_rest():
    matrix = RANDOM.normal(size=(3, 3)) / 3.0 + 2.0 * np.eye(3)
    agree(lambda a: np.linalg.cholesky(a) @ np.linalg.inv(a), matrix, order=2)
    agree(
        lambda a: [np.var(a), np.std(a), np.prod(a), np.max(a) * np.min(a)], spaced(6).reshape(3, 2), order=2
    )
    agree(lambda x, y: np.interp(x, np.linspace(0.0, 1.0, 4), y) * np.sort(x), spaced(4), spaced(4), order=2)


def test_single_precision():
    count = 20
    x, y = spaced(count).astype(np.float32), spaced(count).astype(np.float32)
    one, two = ON_INTERVAL[1:30:2], [f for f in OF_TWO[::2] if f is not np.float_power]
    program = lambda x, y: [*(f(x) for f in one), *(f(x, y) for f in two)]
    tangents = RANDOM.normal(size=count).astype(np.float32), RANDOM.normal(size=count).astype(np.float32)
    value, tangent = ad.jvp(program, (x, y), tangents)
    assert_same(value, program(x, y))
    exact = ad.jvp(program, (x.astype(float), y.astype(float)), tuple(t.astype(float) for t in tangents))[1]
    weights = [RANDOM.normal(size=count).astype(np.float32) for _ in value]
    adjoints = ad.vjp(program, x, y)[1](weights)
    assert all(leaf.dtype == np.float32 for leaf in (*tangent, *adjoints))
    for single, double in zip(tangent, exact):
        np.testing.assert_allclose(single, double, rtol=1e-3, atol=1e-4)
    forward = sum(float(np.sum(w * t.astype(float))) for w, t in zip(weights, tangent))
    reverse = sum(float(np.sum(t * a.astype(float))) for t, a in zip(tangents, adjoints))
    np.testing.assert_allclose(forward, reverse, rtol=1e-3, atol=1e-2)


def test_conversions_to_single_precision_and_back():
    program = lambda x: np.sum(x.astype(np.float32) * 2.0) + np.sum(np.float32(x) ** 2)
    x = spaced(20)
    slope = ad.grad(program)(x)
    assert slope.dtype == np.float64
    np.testing.assert_allclose(slope, 2.0 + 2.0 * x, rtol=1e-6)
    np.testing.assert_allclose(ad.jvp(program, (x,), (x,))[1], np.sum((2.0 + 2.0 * x) * x), rtol=1e-5)


def test_every_row_has_a_case():
    rows = [*REDUCTIONS, *SHAPES, *LINEAR, *SQUARES, *ORDER]
    keys = {key for found, _ in rows for key in (found if isinstance(found, tuple) else (found,))}
    keys |= {*ON_INTERVAL, *OF_TWO, *ON_NUMBERS, *PAIRS_OF_NUMBERS, *CONSTANT, *NOT_FLOAT}
    keys |= {*NO_FLOAT_ARGUMENT, np.cross, *keys_of(SELECTIONS), *keys_of(VALUES)} | special_rows.KEYS
    keys |= keys_of(EDITING)
    keys |= set(sparse.CALLS)  # tests/derivatives/test_sparse_matrices.py
    assert [function for function in CALLS if function not in keys] == []
    not_differentiable = {
        "any",
        "all",
        "argmin",
        "argmax",
        "argsort",
        "searchsorted",
        "nonzero",
    }
    assert set(METHODS) - keys - not_differentiable == {"put", "resize"}
