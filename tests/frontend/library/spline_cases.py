"""Cases of the piecewise polynomials of `scipy.interpolate`."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicHermiteSpline, CubicSpline, PchipInterpolator, PPoly

from tests.frontend.library.staging import Case, case

RANDOM = np.random.default_rng(14)
PLACES = np.array([-0.5, 0.0, 0.3, 1.1, 2.0, 5.0, 7.2, np.nan])
ENDS = [
    *("not-a-knot", "natural", "clamped", ("not-a-knot", "natural"), ("clamped", "not-a-knot")),
    ((1, 0.5), (2, -0.3)),
]


def drawn(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Knots, none close to another, and values: the same whichever tests ran before."""
    random, spacing = np.random.default_rng(count), 5.0 / (count - 1)
    return spacing * (np.arange(count) + random.uniform(-0.3, 0.3, count)), random.normal(size=count)


def made_inside(count: int) -> list[Case]:
    """Splines of every kind of end, of vectors and of rows along an axis."""
    x, y = drawn(count)
    cases = [
        case(
            CubicSpline,
            lambda x, y, q, ends=ends: (
                CubicSpline(x, y, bc_type=ends)(q),
                CubicSpline(x, y, bc_type=ends, extrapolate=False)(q, 1),
                CubicSpline(x, y, 0, ends)(q, nu=2),
                CubicSpline(x, y, bc_type=ends)(0.3),
            ),
            x,
            y,
            PLACES,
        )
        for ends in ENDS
    ]
    for ends in ("not-a-knot", "natural"):
        cases.append(
            case(
                CubicSpline,
                lambda x, z, q, ends=ends: CubicSpline(x, z, axis=1, bc_type=ends)(q),
                x,
                RANDOM.normal(size=(2, count, 3)),
                PLACES[:4].reshape(2, 2),
            )
        )
    if count > 2:
        closed = np.append(y[:-1], y[0])
        cases.append(
            case(CubicSpline, lambda x, y, q: CubicSpline(x, y, bc_type="periodic")(q), x, closed, PLACES)
        )
    return cases


X, Y = drawn(6)
SPLINE, MONOTONE = CubicSpline(X, Y), PchipInterpolator(X, Y)
ROWS = CubicSpline(X, RANDOM.normal(size=(2, 6)), axis=1)
STEPS = PPoly(np.array([[1.0, 2.0, -1.0]]), np.array([0.0, 1.0, 2.0, 4.0]))

MADE_OUTSIDE: list[Case] = [
    case(
        PPoly.__call__,
        lambda q: (
            SPLINE(q),
            SPLINE(q, 2),
            SPLINE(q, extrapolate=False),
            MONOTONE(q),
            ROWS(q),
            STEPS(q),
            STEPS(q, 1),
        ),
        PLACES,
    ),
    case(
        PPoly.integrate,
        lambda a: (
            SPLINE.integrate(a, 2.0),
            SPLINE.integrate(3.0, a),
            SPLINE.integrate(a, 9.0, extrapolate=False),
        ),
        0.4,
    ),
]

OTHERS: list[Case] = [
    case(
        (CubicSpline, PPoly.integrate),
        lambda x, y, q: (
            CubicSpline(x, y).derivative()(q),
            CubicSpline(x, y).derivative(4)(q),
            CubicSpline(x, y).antiderivative()(q),
            CubicSpline(x, y).antiderivative(2)(q, 1),
            CubicSpline(x, y).antiderivative().derivative(-1)(q),
            CubicSpline(x, y).integrate(q[1], q[3]),
            CubicSpline(x, y)(q, 4),
            CubicSpline(x, y).c,
            CubicSpline(x, y).x,
        ),
        X,
        Y,
        PLACES,
    ),
    case(CubicHermiteSpline, lambda x, y, s, q: CubicHermiteSpline(x, y, s)(q), X, Y, Y**2, PLACES),
    case(
        CubicSpline, lambda x, y, q: CubicSpline(x, y)(q), X, Y.astype(np.float32), PLACES.astype(np.float32)
    ),
    case(CubicSpline, lambda x, y: CubicSpline(x, y)(2), np.arange(5), np.arange(5) ** 3),
    case(
        CubicSpline,
        lambda x, y, s, q: CubicSpline(x, y, bc_type=((1, s), (2, -s)))(q),
        X,
        RANDOM.normal(size=(6, 2)),
        RANDOM.normal(size=2),
        PLACES,
    ),
]

LARGE: list[Case] = [*made_inside(4), *made_inside(20), *OTHERS, *MADE_OUTSIDE]
SMALL: list[Case] = [*made_inside(2), *made_inside(3)]
"""Where the number of points must be known when the function is compiled."""
