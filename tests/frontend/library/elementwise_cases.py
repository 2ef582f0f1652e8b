"""Cases of the elementwise functions and of `math`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from anadrome.dtypes import ALL
from anadrome.frontend.library import elementwise, mathematics
from anadrome.prims.table import PRIMS
from tests.frontend.library.staging import Case, case

RANDOM = np.random.default_rng(7)


def applied(function: Callable[..., Any]) -> Callable[..., Any]:
    """The call of a function, as a program of its own."""
    return lambda *args: function(*args)


def drawn(name: str, position: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """Numbers of the interval a row's tests draw from."""
    low, high = PRIMS[name].interval(position)
    values = RANDOM.uniform(low, high, shape)
    if np.dtype(dtype).kind in "iu":
        values = np.maximum(np.rint(values), 1)
    return values.astype(dtype)


def row_cases() -> list[Case]:
    """Every universal function of one row: matrix and vector; single precision, integers, nothing."""
    cases = []
    for ufunc, name in elementwise._ROWS.items():
        is_bitwise = name.startswith("bit") or name in ("shl", "shr")
        main = np.int64 if is_bitwise else np.float64
        shapes = ((2, 3), (3,)) if ufunc.nin == 2 else ((2, 3),)
        for types in ([main, np.int32, np.float32], [np.int64, np.uint8])[is_bitwise]:
            args = [drawn(name, k, shape, types) for k, shape in enumerate(shapes)]
            cases.append(case(ufunc, applied(ufunc), *args))
        cases.append(case(ufunc, applied(ufunc), *[np.zeros((0,), main)] * ufunc.nin))
    return cases


X = RANDOM.normal(size=(4, 3))
Y = RANDOM.normal(size=(3,))
F = X.astype(np.float32)
ODD = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5, -2.5])
ODDS = np.repeat(ODD, 7), np.tile(ODD, 7)
B = X > 0
C = Y > 0
N = RANDOM.integers(-5, 6, (4, 3))
WHOLE = np.array([0, 5, 3, 61])

CASES: list[Case] = [
    *row_cases(),
    *(case(f, applied(f), *ODDS) for f in (np.minimum, np.maximum, np.fmin, np.fmax, np.hypot, np.copysign)),
    *(case(f, applied(f), *ODDS) for f in (np.logaddexp, np.logaddexp2, np.heaviside, np.equal, np.less)),
    *(
        case(f, applied(f), ODD)
        for f in (np.isnan, np.isinf, np.isfinite, np.sign, np.abs, np.rint, np.floor)
    ),
    *(case(f, applied(f), B, C) for f in elementwise._LOGICAL if f.nin == 2),
    *(case(f, applied(f), X, N) for f in elementwise._LOGICAL if f.nin == 2),
    *(
        case(f, applied(f), B, C)
        for f in (np.maximum, np.minimum, np.bitwise_and, np.bitwise_or, np.add, np.equal)
    ),
    *(case(f, applied(f), B) for f in (np.abs, np.invert, np.logical_not, np.isnan, np.floor)),
    case(np.logical_not, np.logical_not, X),
    *(case(f, applied(f), np.abs(X) + 0.5, Y) for f in elementwise._COMPOSED if f.nin == 2),
    *(case(f, applied(f), F) for f in elementwise._COMPOSED if f.nin == 1),
    *(case(dtype.numpy.type, applied(dtype.numpy.type), np.abs(X * 9)) for dtype in ALL),
    *(case(dtype.numpy.type, applied(dtype.numpy.type), 3.5) for dtype in ALL),
    case(np.square, lambda x: np.square(x), N),
    case(np.square, lambda x: np.square(x), F),
    case(np.power, lambda x: np.power(x, 2), X),
    case(np.power, lambda x: np.power(x, 3), N),
    case(np.power, lambda x, y: np.power(x, y), np.abs(X), Y),
    case(np.power, lambda x: np.power(2.0, x), F),
    *(case(f, applied(f), F) for f in (np.positive, np.conjugate, np.real)),
    case(np.where, lambda p, x: np.where(p, x, 0.0), B, F),
    case(np.where, lambda p, x, y: np.where(p, x, y), C, X, N),
    case(np.where, lambda p: np.where(p, 1, 2), B),
    case(np.where, lambda p, x: np.where(p > 0, x, -x), 0.5, Y),
    case(np.clip, lambda x: np.clip(x, -0.5, 0.5), F),
    case(np.clip, lambda x: np.clip(x, -1, None), N),
    case(np.clip, lambda x: np.clip(x, a_min=None, a_max=0.3), ODD),
    case(np.clip, lambda x, low: np.clip(x, low, low + 1), X, Y),
    case((np.clip, "clip"), lambda x: x.clip(-0.5, 0.5), X),
    case(
        (np.round, np.around, "round"),
        lambda x: (np.round(x), np.around(x, 2), x.round(1), np.round(x, -1)),
        X * 30,
    ),
    case(np.round, lambda x: np.round(x), N),
    case(np.fix, lambda x: np.fix(x), X * 3),
    case(np.isclose, lambda x, y: np.isclose(x, y, atol=0.5), X, Y),
    case(np.isclose, lambda x, y: np.isclose(x, y), *ODDS),
    case(
        (np.isclose, np.allclose),
        lambda x, y: (np.isclose(x, y, equal_nan=True), np.allclose(x, x, equal_nan=True)),
        *ODDS,
    ),
    *(case(f, applied(f), N, N[::-1]) for f in (np.fmax, np.fmin)),
    case("astype", lambda x: (x.astype(np.float32), x.astype(int), x.astype("bool")), X * 4),
    case(("conj", "conjugate"), lambda x: (x.conj(), x.conjugate()), X),
    case(np.exp, lambda x, y: np.exp(x) * y, 0.5, F),
    case(np.divide, lambda x: np.divide(x, 2), np.arange(4, dtype=np.int8)),
    case(np.add, lambda x: np.add(x, 1), np.arange(4, dtype=np.int8)),
    case(np.power, lambda x: (x**2, x**3, np.power(x, 2), x**2.0), np.array([True, False])),
    *(
        case(np.power, lambda x, y: (x**y, np.power(y, x), 2**y, x ** y[0], x[1] ** y[1]), x, y)
        for x in (WHOLE, WHOLE.astype(np.int32), WHOLE.astype(np.uint8))
        for y in (WHOLE[::-1].copy(), WHOLE.astype(np.int8))
    ),
    case(np.power, lambda x, y: (x**y, x**x, y**x, 2**x), np.array([True, False]), np.array([3, 2])),
    case(np.power, lambda x: (np.power(2, x), x ** [1, 2, 3, 70], 3 ** x[3], x**100), WHOLE),
    case(np.cos, lambda x: (np.cos(0.25), np.floor(2.5), np.float64(1.0), np.add(1, 2), x * np.cos(0.25)), F),
]


def math_cases() -> list[Case]:
    """Every function of `math` that is one row."""
    cases = []
    for name in (
        "sqrt cbrt exp expm1 exp2 log1p log2 log10 sin cos tan asin acos atan "
        "sinh cosh tanh asinh acosh atanh "
        "erf erfc lgamma gamma fabs isnan isinf isfinite floor ceil trunc radians degrees log"
    ).split():
        function = getattr(math, name)
        number = 1.25 if name == "acosh" else 0.625
        cases += [case(function, applied(function), number)]
    return cases


MATH_CASES: list[Case] = [
    *math_cases(),
    case(math.floor, lambda x: (math.floor(x), math.ceil(x), math.trunc(x)), -2.5),
    case(math.floor, lambda n: math.floor(n), 7),
    case(math.modf, lambda x: (math.modf(x), math.modf(-x)), 2.75),
    case(math.sqrt, lambda x, v: math.sqrt(x) * v, 2.0, F),
    case(math.log, lambda x: math.log(x, 2), 10.0),
    case(math.log, lambda x, b: math.log(x, b), 10.0, 3.0),
    *(case(f, applied(f), 2.5, -1.5) for f in (math.atan2, math.fmod, math.copysign, math.hypot)),
    case(math.pow, lambda x, y: math.pow(x, y), 2.5, -1.5),
    case(math.hypot, lambda x, y, z: math.hypot(x, y, z), 3.0, 4.0, -12.0),
    case(math.hypot, lambda x: math.hypot(x), -3.0),
    case(math.dist, lambda x, y, z: math.dist((x, y), (z, 1.0)), 1.0, 2.0, 3.0),
    case(math.dist, lambda p, q: math.dist(p * 1e200, q * 1e200), Y, X[0]),
    case(math.dist, lambda p, q: math.dist(p * 1e-200, q * 1e-200) * 1e200, Y, X[0]),
    case(math.dist, lambda p, q: math.dist(p, q), np.array([math.nan, -math.inf]), np.zeros(2)),
    case(math.dist, lambda p, q: math.dist(p, q), np.array([math.nan, 1.0]), np.zeros(2)),
    case(math.dist, lambda p: math.dist(p, p), Y),
    case(math.fsum, lambda x, y: math.fsum([x, y, 2]), 1.5, 2.0),
    case(math.isclose, lambda x, y: (math.isclose(x, y), math.isclose(x, y, abs_tol=1.0)), 1.0, 1.5),
    case(math.isclose, lambda x, y: math.isclose(x, y), math.inf, math.inf),
]

assert set(mathematics.CALLS) <= {key for one in MATH_CASES for key in one.keys}
