"""Programs of one vector for the functions that choose, sort out, pad and slide; with the tables' keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

PLACES = np.array([0, 3, 3, -1])
Row = tuple[Any, Callable[..., Any]]


def in_place(ufunc: np.ufunc) -> Callable[..., Any]:
    def program(x):
        y = x.copy()
        ufunc.at(y, PLACES, x[:4])
        return y

    return program


def at_rows(x):
    y = np.ones((3, 4))
    np.subtract.at(y, [0, 0, 1], x[:4])
    np.add.at(y, (np.array([0, 1, 0]), np.array([1, -1, 1])), x[:3])
    return y


def at_broadcast_rows(x):
    rows, columns = np.array([0, 1, 1]), np.array([1, 3, 1, 1])
    y = np.ones((3, 4))
    np.add.at(y, (rows[:, None], columns), np.outer(x[:3], x[:4]))
    np.multiply.at(y, np.ix_(rows, columns[1:3]), x[0] + 2.0)
    np.subtract.at(y, (2, columns), x[:4])
    return y


def masked(x):
    y = x.copy()
    below = y < 0.0
    y[below] = y[below] * 2.0 + 1.0
    y[x > 0.5] += x[0]
    y[x > 1.5] = 3.0
    return y


def masked_rows(x):
    y = np.outer(x, x)
    y[x > 0.0] *= x
    y[:, x < 0.0] = x[0]
    return y


def missing(x):
    return np.where(x > 0.3, np.nan, x)


def padded(mode: str) -> Callable[..., Any]:
    return lambda x: np.pad(x, (3, 2), mode=mode)  # type: ignore[call-overload]


def slid(function: Callable[..., Any], mode: str, size: int, is_turned: bool) -> Callable[..., Any]:
    if is_turned:
        return lambda x: function(x[:size], x, mode)
    return lambda x: function(x, x[:size], mode)


SELECTIONS: list[Row] = [
    ((), lambda x: np.sum(x[x > 0.0] ** 2)),
    ((), lambda x: np.sum(np.outer(x, x)[np.outer(x, x) > 0.1] ** 2)),
    ((), lambda x: np.sum(np.outer(x, x)[x > 0.0, 1] ** 2) + np.sum(np.outer(x, x)[:, x > 0.0] ** 2)),
    ((), masked),
    ((), masked_rows),
    (np.nonzero, lambda x: np.sum(x[np.nonzero(x > 0.0)] ** 2)),
    (np.where, lambda x: np.sum(np.outer(x, x)[np.where(np.outer(x, x) > 0.0)] ** 2)),
    (np.flatnonzero, lambda x: np.sum(x[np.flatnonzero(x > 0.0)] ** 2)),
    (np.argwhere, lambda x: np.sum(x[np.argwhere(x > 0.0)[:, 0]] ** 2)),
    (np.compress, lambda x: np.sum(np.compress(x > 0.0, x) ** 2)),
    (np.compress, lambda x: np.sum(np.compress(x[:3] > 0.0, np.outer(x, x[:3]), axis=1) ** 2)),
    (np.extract, lambda x: np.sum(np.extract(np.outer(x, x) > 0.0, np.outer(x, x)) ** 2)),
    (np.unique, lambda x: np.sum(np.unique(np.append(x, x)) ** 2)),
    (np.select, lambda x: np.select([x > 1.0, x > 0.0], [x * 2.0, x**2], x**3)),
    (np.piecewise, lambda x: np.piecewise(x, [x < 0.0, x >= 0.0], [lambda v: v**2, lambda v: v**3])),
    (np.piecewise, lambda x: np.piecewise(x, [x < 0.0], [-1.0, lambda v: v**3])),
    (np.median, lambda x: (np.median(x), np.median(x[:5]), np.median(x[:4]))),
    (np.median, lambda x: (np.median(np.outer(x, x[:3]), axis=0), np.median(np.outer(x, x), keepdims=True))),
    (np.quantile, lambda x: (np.quantile(x, 0.3), np.quantile(x, [0.0, 0.25, 1.0]))),
    (np.quantile, lambda x: np.quantile(x, x[0] ** 2 / (1.0 + x[0] ** 2))),
    (np.percentile, lambda x: np.percentile(np.outer(x, x[:4]), 37.5, axis=0)),
    (np.percentile, lambda x: np.percentile(np.outer(x, x[:4]), [10, 90.0], axis=1, keepdims=True)),
    *((np.pad, padded(mode)) for mode in ("constant", "edge", "reflect", "symmetric", "wrap")),
    (np.pad, lambda x: np.pad(np.outer(x[:4], x), ((1, 2), (0, 3)), constant_values=1.5)),
    (np.pad, lambda x: np.pad(x[:2], (1, 2), constant_values=(x[0], 2.0))),
    (np.pad, lambda x: np.pad(np.outer(x[:3], x[:2]), 5, mode="reflect")),
    (np.pad, lambda x: np.pad(np.outer(x[:3], x[:2]), 7, mode="wrap") + x[0]),
    *(
        (function, slid(function, mode, size, is_turned))
        for function in (np.convolve, np.correlate)
        for mode in ("full", "same", "valid")
        for size, is_turned in ((1, False), (3, False), (4, False), (2, True), (3, True))
    ),
    *((np.rot90, lambda x, k=k: np.rot90(np.outer(x[:3], x), k) * (1.0 + x[0])) for k in (0, 1, 2, 3, -1)),
    (np.histogram, lambda x: np.histogram(x, bins=4, weights=x**2)[0]),
    (np.histogram, lambda x: np.histogram(x, bins=4)[1]),
    (np.histogram, lambda x: np.histogram(x, bins=np.array([-1, 0.0, 0.5, 2]), weights=x)[0]),
    (np.histogram, lambda x: np.histogram(x, np.array([-9, 0.0, 0.5, 9]), weights=x**2, density=True)[0]),
    *((ufunc.at, in_place(ufunc)) for ufunc in (np.add, np.subtract, np.multiply, np.maximum, np.minimum)),
    (np.add.at, at_rows),
    ((np.add.at, np.multiply.at, np.subtract.at), at_broadcast_rows),
    (np.add.reduce, lambda x: np.add.reduce(np.outer(x, x))),
    (np.multiply.reduce, lambda x: np.multiply.reduce(np.outer(x[:3], x), axis=1)),
    ((np.maximum.reduce, np.minimum.reduce), lambda x: np.maximum.reduce(x) * np.minimum.reduce(x)),
    (np.logaddexp.reduce, lambda x: np.logaddexp.reduce(x)),
    (np.hypot.reduce, lambda x: np.hypot.reduce(np.outer(x, x[:2]))),
    (np.hypot.reduce, lambda x: np.hypot.reduce(np.outer(x[:1], x)) * np.hypot.reduce(x[1:2])),
    (np.hypot.accumulate, lambda x: np.hypot.accumulate(x)),
    (np.hypot.accumulate, lambda x: np.hypot.accumulate(np.outer(x, x[:4]), axis=1)),
    (np.logaddexp.accumulate, lambda x: np.logaddexp.accumulate(x)),
    (np.maximum.accumulate, lambda x: np.maximum.accumulate(x)),
    (np.minimum.accumulate, lambda x: np.minimum.accumulate(np.outer(x, x[:4]), axis=1)),
    (np.add.accumulate, lambda x: np.add.accumulate(np.outer(x, x[:4]))),
    (np.multiply.accumulate, lambda x: np.multiply.accumulate(x)),
    (np.subtract.outer, lambda x: np.subtract.outer(x, x[:3])),
    (np.maximum.outer, lambda x: np.maximum.outer(x, 0.7 * np.outer(x[:2], x[:2]))),
    (np.average, lambda x: (np.average(x), np.average(x, weights=x**2))),
    (np.average, lambda x: np.average(np.outer(x, x[:3]), axis=0, weights=x**2)),
    (np.average, lambda x: np.average(np.outer(x, x[:3]), axis=1, weights=np.arange(3))),
    (np.trapezoid, lambda x: (np.trapezoid(x), np.trapezoid(x, np.cumsum(x**2)))),
    (np.trapezoid, lambda x: np.trapezoid(np.outer(x, x[:3]), x, axis=0)),
    (np.trapezoid, lambda x: np.trapezoid(np.outer(x, x[:3]), dx=0.5)),
    (np.cov, lambda x: (np.cov(np.stack([x, x**2])), np.cov(x), np.cov(x, x**2, bias=True))),
    (np.corrcoef, lambda x: np.corrcoef(x, x**3 + x)),
    (np.nansum, lambda x: np.nansum(missing(x))),
    (np.nanprod, lambda x: np.nanprod(missing(x))),
    (np.nanmean, lambda x: np.nanmean(missing(x))),
    (np.nanmax, lambda x: np.nanmax(missing(x))),
    (np.nanmin, lambda x: np.nanmin(np.outer(missing(x), [1.0, 2.0]))),
    (np.nan_to_num, lambda x: np.nan_to_num(np.append(x, np.nan))),
    (np.gradient, lambda x: np.gradient(x)),
    (np.gradient, lambda x: np.gradient(np.outer(x, x), 0.5, 2.0)),
    (np.gradient, lambda x: np.gradient(np.outer(x, x), axis=0)),
    (np.ediff1d, lambda x: np.ediff1d(np.outer(x, x))),
    (np.sinc, lambda x: np.sinc(np.append(x, 0.0))),
    (np.dstack, lambda x: np.dstack([x, x**2])),
]
VALUES: list[Row] = [
    (np.nonzero, lambda x: np.nonzero(np.outer(x, x) > 0.0)),
    ("nonzero", lambda x: (x > 0.0).nonzero()),
    (np.flatnonzero, lambda x: np.flatnonzero(np.outer(x, x) > 0.0)),
    (np.argwhere, lambda x: np.argwhere(np.outer(x, x) > 0.0)),
    (np.where, lambda x: np.where(x > 9.0)),
    (np.unique, lambda x: (np.unique(np.round(x)), np.unique(np.arange(30) // len(x)))),
    (np.unique, lambda x: np.unique(np.append(x, [np.nan, np.nan]))),
    (np.median, lambda x: (np.median(x.astype(np.float32)), np.median(np.arange(len(x))))),
    (np.median, lambda x: np.median(np.append(x, np.nan))),
    (np.percentile, lambda x: np.percentile(x.astype(np.float32), 30)),
    (np.percentile, lambda x: np.percentile(x.astype(np.float32), np.array([30.0]))),
    (np.quantile, lambda x: (np.quantile(np.arange(len(x)), 0.3), np.quantile(np.append(x, np.nan), 0.2))),
    (np.digitize, lambda x: np.digitize(x, np.array([-1, 0, 0.5]))),
    (np.digitize, lambda x: np.digitize(x, np.array([-1, 0, 0.5]), right=True)),
    (np.digitize, lambda x: np.digitize(x, np.array([0.5, 0, -1]))),
    (np.digitize, lambda x: np.digitize(x, np.array([0.5, 0, -1]), True)),
    (np.digitize, lambda x: np.digitize(x[0], np.array([-1, 0, 0.5]))),
    (np.histogram, lambda x: np.histogram(x)),
    (np.histogram, lambda x: np.histogram(x.astype(np.float32), 5)),
    (np.histogram, lambda x: np.histogram(x, 5, (-1, 1))),
    (np.histogram, lambda x: np.histogram(x[:0], 2)),
    (np.histogram, lambda x: np.histogram(x * 0.0, 3)),
    (np.logical_and.accumulate, lambda x: np.logical_and.accumulate(x < 1.0)),
    (np.logical_or.reduce, lambda x: np.logical_or.reduce(x > 1.0)),
    (np.maximum.accumulate, lambda x: np.maximum.accumulate(x < 1.0)),
    (np.add.reduce, lambda x: np.add.reduce((x * 3.0).astype(np.int32))),
    (np.bitwise_xor.reduce, lambda x: np.bitwise_xor.reduce(np.arange(len(x)))),
    (np.convolve, lambda x: np.convolve(np.arange(len(x)), [1, 2])),
    (np.pad, lambda x: np.pad(np.arange(len(x)), 2, constant_values=7)),
    ((np.size, np.shape, np.ndim), lambda x: (np.size(x), np.ndim(x), np.size(np.outer(x, [1, 2]), 1))),
    (np.shape, lambda x: np.shape(np.outer(x, x))),
    (np.isin, lambda x: np.isin(np.arange(len(x)), [1, 3])),
    (np.allclose, lambda x: np.allclose(x, x + 1e-12)),
    (np.nanmean, lambda x: (np.nanmean(np.arange(len(x))), np.nanmean(x.astype(np.float32)))),
    (np.nanmax, lambda x: (np.nanmax(np.arange(len(x))), np.nansum(np.arange(len(x))))),
]


def keys_of(rows: list[Row]) -> set[Any]:
    """The tables' keys that rows are cases of."""
    return {key for found, _ in rows for key in (found if isinstance(found, tuple) else (found,))}
