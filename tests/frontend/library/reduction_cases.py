"""Cases of the reductions and prefixes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from tests.frontend.library.staging import Case, case

RANDOM = np.random.default_rng(8)
X = RANDOM.normal(size=(4, 3))
CUBE = RANDOM.normal(size=(2, 3, 4))
TIES = np.array([[1.0, 3.0, 3.0], [2.0, -1.0, -1.0], [np.nan, 1.0, np.nan], [0.0, -0.0, 0.0]])
NUMBERS = RANDOM.integers(-9, 9, (3, 4))
SMALL = RANDOM.integers(0, 9, (3, 4)).astype(np.uint8)
BOOLS = np.array([[True, False, True], [False, False, False]])
OPERANDS = (X, X[:, 0].copy(), CUBE, X.astype(np.float32), NUMBERS.astype(np.int32), SMALL, BOOLS)
LINE = RANDOM.normal(size=20)


def along(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """The call of a function with options, as a program of its own."""
    return lambda x: function(x, **options)


FOLDS = (
    np.sum,
    np.prod,
    np.mean,
    np.var,
    np.std,
    np.min,
    np.max,
    np.amin,
    np.amax,
    np.any,
    np.all,
    np.count_nonzero,
)
METHODS = ("sum", "prod", "mean", "var", "std", "min", "max", "any", "all")

HOLED = np.where(X > 0.8, np.nan, X)
STEEP = np.array([0.0, 3.0, 6.5, 1.0, -3.2, 9.0, np.pi, 2 * np.pi, 0.0, -np.pi, 0.0])
METHODS_OF_QUANTILES = (
    *("lower", "higher", "nearest", "midpoint", "inverted_cdf", "averaged_inverted_cdf", "hazen", "weibull"),
    *("closest_observation", "interpolated_inverted_cdf", "median_unbiased", "normal_unbiased", "linear"),
)

CASES: list[Case] = [
    *(
        case(
            np.average,
            lambda x, w: np.average(x, weights=w),
            np.array([3, 1, 4], one),
            np.array([1, 2, 5], other),
        )
        for one, other in (
            ("int8", "float32"),
            ("float32", "uint8"),
            ("float32", "int64"),
            ("bool", "float32"),
        )
    ),
    *(
        case(
            np.histogram2d,
            lambda x, y, w: (
                *(np.histogram2d(x, y), np.histogram2d(x, y, (3, 4), weights=w)),
                *(
                    np.histogram2d(x, y, [2, [-1.0, 0.0, 2.0]], density=True),
                    np.histogram2d(x, y, [-1, 0, 1, 2]),
                ),
                *(np.histogram2d(x, y, 3, [(-1, 1), None], weights=w > 0.5), np.histogram2d(x[:0], y[:0], 2)),
            ),
            *(places, LINE[::-1].copy(), np.linspace(0.0, 1.0, 20)),
        )
        for places in (LINE, LINE.astype(np.float32), (LINE * 3).astype(int))
    ),
    *(
        case(
            (np.quantile, np.percentile, np.nanquantile, np.nanpercentile),
            lambda x, m=method: (
                *(np.quantile(x, [0.0, 0.3, 0.5, 1.0], method=m), np.percentile(x, 30, axis=0, method=m)),
                *(
                    np.nanquantile(x, 0.3, axis=-1, keepdims=True, method=m),
                    np.nanpercentile(x, [1, 80.0], method=m),
                ),
                np.nanquantile(x, 0.7, axis=(1, 0), method=m, keepdims=True),
            ),
            operand,
        )
        for method in METHODS_OF_QUANTILES
        for operand in (X, HOLED, NUMBERS.astype(np.int8), np.arange(10.0).reshape(2, 5))
    ),
    case(
        np.quantile,
        lambda x: (np.quantile(x, 1), np.quantile(x, np.array([0, 1])), np.percentile(x, 0)),
        SMALL,
    ),
    case(np.quantile, lambda x: (np.quantile(x, np.float32(0.4)), np.quantile(x, 0.4)), X.astype(np.float32)),
    *(
        case(
            (np.median, np.nanmedian),
            lambda x: (
                *(np.nanmedian(x), np.nanmedian(x, axis=0, keepdims=True), np.median(x, axis=(0, 1))),
                *(
                    np.nanmedian(x, axis=(1, 0), keepdims=True),
                    np.nanmedian(x[0] * np.nan),
                    np.nanmedian(x[:, 0]),
                ),
            ),
            operand,
        )
        for operand in (X, HOLED, HOLED.astype(np.float32), SMALL)
    ),
    *(
        case(
            (np.nanargmin, np.nanargmax),
            lambda x: (
                *(np.nanargmin(x), np.nanargmax(x, axis=0), np.nanargmin(x, 1, keepdims=True)),
                np.nanargmax(x[:, 0]),
            ),
            operand,
        )
        for operand in (X, np.where(X > 1.0, np.nan, X), SMALL, BOOLS)
    ),
    *(
        case(
            np.unwrap,
            lambda x, period=period: (
                np.unwrap(x, period=period),
                np.unwrap(x, 4, period=period),
                np.unwrap(x[:0]),
            ),
            operand,
        )
        for operand in (STEEP, STEEP.astype(np.float32), np.array([0, 90, -90, 5], np.int8))
        for period in (2 * np.pi, 6, 7)
    ),
    case(np.unwrap, lambda x: (np.unwrap(9 * x), np.unwrap(9 * x, axis=0)), X),
    *(
        case(
            function.reduceat,
            lambda x, f=function: (
                *(
                    f.reduceat(x, [0, 2, 1, 3]),
                    f.reduceat(x, np.array([1]), axis=-1),
                    f.reduceat(x[0], [2, 2]),
                ),
                f.reduceat(x, np.zeros(0, int), 1),
            ),
            operand,
        )
        for function in (np.add, np.multiply, np.minimum, np.maximum, np.logical_and, np.logical_or)
        for operand in (X, NUMBERS.T.astype(np.int8), BOOLS[[0, 1, 0, 0]])
    ),
    *(
        case(
            function,
            lambda x, f=function: (
                f(x, axis=-1),
                f(x, axis=0, include_initial=True),
                f(x[0, 0]),
                f(x[0, :0], include_initial=True),
                f([x[0], x[1]], axis=1, include_initial=True),
                f(x, axis=1, dtype=np.float32),
            ),
            operand,
        )
        for function in (np.cumulative_sum, np.cumulative_prod)
        for operand in (X, X.astype(np.float32), NUMBERS.astype(np.int32), SMALL, BOOLS)
    ),
    *(case(f, along(f), x) for f in FOLDS for x in OPERANDS),
    *(case(f, along(f, axis=-1), x) for f in FOLDS for x in OPERANDS),
    *(case(f, along(f, axis=0, keepdims=True), x) for f in FOLDS for x in OPERANDS),
    *(case(f, along(f, axis=(0, -1)), CUBE) for f in FOLDS),
    *(case(f, along(f, keepdims=True), X) for f in FOLDS),
    *(
        case(f, along(f), np.zeros((0, 3)))
        for f in (np.sum, np.prod, np.any, np.all, np.count_nonzero, np.mean, np.var)
    ),
    *(case(f, along(f, axis=0), np.zeros((3, 0))) for f in FOLDS),
    *(
        case(f, along(f, dtype=np.float64), X.astype(np.float32))
        for f in (np.sum, np.mean, np.var, np.cumsum)
    ),
    *(case(f, along(f, dtype=bool), NUMBERS) for f in (np.sum, np.prod)),
    *(case(f, along(f), TIES) for f in (np.min, np.max, np.argmin, np.argmax)),
    *(case(f, along(f, initial=0.5), TIES) for f in (np.min, np.max)),
    case((np.max, "max"), lambda x: (x[:0].max(initial=-1), np.min(x[:0], 0, initial=2)), TIES),
    *(case(f, along(f, axis=1), TIES) for f in (np.min, np.max, np.argmin, np.argmax)),
    *(
        case(f, along(f, axis=axis), x)
        for f in (np.argmin, np.argmax)
        for axis in (None, 0, -1)
        for x in OPERANDS
    ),
    case(np.argmin, lambda x: np.argmin(x, axis=1, keepdims=True), X),
    case(np.argmin, lambda x: np.argmin(x), np.full(3, np.inf)),
    case(np.var, lambda x: np.var(x, ddof=1), X),
    case(np.std, lambda x: np.std(x, axis=0, ddof=1.5), X),
    case(np.ptp, lambda x: (np.ptp(x), np.ptp(x, axis=0), np.ptp(x, -1, keepdims=True)), X),
    *(
        case(f, along(f, axis=axis), x)
        for f in (np.cumsum, np.cumprod)
        for axis in (None, 0, -1)
        for x in OPERANDS
    ),
    *(case(f, along(f, axis=1), CUBE) for f in (np.cumsum, np.cumprod)),
    case(np.cumsum, lambda x: np.cumsum(x), np.zeros(0)),
    case(np.diff, lambda x: (np.diff(x), np.diff(x, axis=0), np.diff(x, n=2), np.diff(x, 0)), X),
    case(np.diff, lambda x: np.diff(x), BOOLS),
    case(np.diff, lambda x: np.diff(x), np.zeros(0)),
    case(np.diff, lambda x: np.diff(x), LINE),
    case(scipy.special.logsumexp, lambda x: scipy.special.logsumexp(x), X * 100),
    case(
        scipy.special.logsumexp,
        lambda x: scipy.special.logsumexp(x, axis=1, keepdims=True),
        X.astype(np.float32),
    ),
    case(scipy.special.logsumexp, lambda x: scipy.special.logsumexp(x), np.full(3, -np.inf)),
    case(scipy.special.logsumexp, lambda x: scipy.special.logsumexp(x), np.array([np.inf, 1.0])),
    case(scipy.special.softmax, lambda x: (scipy.special.softmax(x), scipy.special.softmax(x, axis=0)), X),
    case(scipy.special.log_softmax, lambda x: scipy.special.log_softmax(x, axis=-1), X),
    case(
        METHODS,
        lambda x: (x.sum(), x.prod(), x.mean(), x.var(), x.std(), x.min(), x.max(), x.any(), x.all()),
        X,
    ),
    case(
        ("argmin", "argmax", "cumsum", "cumprod"),
        lambda x: (x.argmin(), x.argmax(axis=0), x.cumsum(0), x.cumprod(axis=1), x.sum(0), x.max(axis=1)),
        X,
    ),
    *(
        case((f.reduce, f.accumulate), lambda x, f=f: (f.reduce(x), f.reduce(x, axis=1), f.accumulate(x)), x)
        for f in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)
        for x in (NUMBERS, SMALL, BOOLS, NUMBERS.astype(np.int8))
    ),
    *(
        case((f.reduce, f.accumulate), lambda x, f=f: (f.reduce(x), f.reduce(x, axis=1), f.accumulate(x)), x)
        for f in (np.logaddexp, np.logaddexp2, np.hypot)
        for x in (NUMBERS, NUMBERS.astype(np.int32), X.astype(np.float32))
    ),
    *(
        case((np.cov, np.corrcoef), lambda x: (np.cov(x), np.corrcoef(x), np.cov(x, x), np.corrcoef(x, x)), x)
        for x in (X.astype(np.float32), X[:, 0].astype(np.float32), SMALL)
    ),
    case(
        np.nan_to_num,
        lambda x, v: (np.nan_to_num(x, nan=v[0]), np.nan_to_num(x, nan=1, posinf=v[1], neginf=v[2])),
        np.array([np.nan, 1.5, np.inf, -np.inf], np.float32),
        LINE,
    ),
    case(
        (np.max, np.min),
        lambda x, y: (np.max(x, initial=y[0]), np.min(y, axis=0, initial=x[0, 1]), np.max(x, initial=0.5)),
        NUMBERS,
        X[:, 0].astype(np.float32),
    ),
    case("sum", lambda x: (x[0, 0].sum(), x[0, 0].mean(), np.sum(x[0, 0]), np.max(x[0, 0])), X),
]
