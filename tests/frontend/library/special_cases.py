"""Cases of SciPy's special functions."""

from __future__ import annotations

import numpy as np
import scipy.special as special

from anadrome.frontend.library.special import composed_rules, rows
from tests.frontend.library.elementwise_cases import applied, drawn
from tests.frontend.library.staging import Case, case

RANDOM = np.random.default_rng(11)


def row_cases() -> list[Case]:
    """Every function of one row: arrays broadcast together; single precision, integers, numbers, nothing."""
    cases = []
    for ufunc, name in rows().items():
        shapes = ((2, 3), (3,), (1, 3))[: ufunc.nin]
        for dtype in (np.float64, np.float32, np.int64):
            args = [drawn(name, k, shape, dtype) for k, shape in enumerate(shapes)]
            cases.append(case(ufunc, applied(ufunc), *args))
        cases.append(
            case(ufunc, applied(ufunc), *[float(drawn(name, k, (), float)) for k in range(ufunc.nin)])
        )
        cases.append(case(ufunc, applied(ufunc), *[np.zeros((0,))] * ufunc.nin))
        cases.append(case(ufunc, applied(ufunc), *grid(ufunc.nin)))
    return cases


ODD = np.array([np.nan, np.inf, -0.0, 0.0, 1.0, -1.0, 0.5, 2.5, 1e-300, 40.0, 700.0])


def grid(count: int) -> list[np.ndarray]:
    """Every combination of numbers at which functions end or overflow."""
    return [axis.ravel() for axis in np.meshgrid(*[ODD] * count)]


def shape_and_place() -> tuple[np.ndarray, np.ndarray]:
    """Shapes and places of the incomplete gamma functions in each range of their formulas."""
    shapes = np.array([0.0, 1e-6, 0.3, 2.0, 30.0, 120.0, 1e5])
    return shapes[:, None], shapes * np.array([0.5, 1e6, 2.0, 0.9, 1.0, 1.1, 1.001])


X = RANDOM.uniform(0.1, 4.0, (2, 3))

CASES: list[Case] = [
    *row_cases(),
    *(case(f, applied(f), *shape_and_place()) for f in (special.gammainc, special.gammaincc)),
    *(case(f, applied(f), *grid(f.nin)) for f in composed_rules()),
    *(case(f, applied(f), *[X.astype(np.float32)] * f.nin) for f in composed_rules()),
    case(special.psi, lambda x: special.psi(x), X),
    case(special.jn, lambda x: special.jn(2, x), X),
    case(
        special.polygamma,
        lambda x, n: (special.polygamma(0, x), special.polygamma(1, x), special.polygamma(1, n)),
        X.astype(np.float32),
        np.arange(1, 5),
    ),
    *(
        case(
            (special.softmax, special.log_softmax), lambda x: (special.softmax(x), special.log_softmax(x)), x
        )
        for x in (
            np.array([1e10, 1e10, 1.0]),
            np.array([150.0, 130.0, 131.0]),
            np.array([np.inf, 1.0, 2.0]),
            np.array([-np.inf, 1.0]),
        )
    ),
    case(
        special.logsumexp,
        lambda x, b: (
            special.logsumexp(x, b=b),
            special.logsumexp(x, 1, b),
            special.logsumexp(x, b=b[0], axis=0, keepdims=True),
            special.logsumexp(x, b=2, axis=(0, 1)),
            special.logsumexp(x[0], b=b),
        ),
        300.0 * X,
        RANDOM.uniform(0.1, 2.0, (2, 3)),
    ),
    case(special.logsumexp, lambda x, b: special.logsumexp(x, b=b), X.astype(np.float32), 2.0 * X),
    case(special.logsumexp, lambda x, b: special.logsumexp(x, b=b), X.astype(np.float32), 2.5),
    case(special.logsumexp, lambda x, b: special.logsumexp(x, b=b), np.arange(3), np.arange(3)),
    case(
        special.logsumexp,
        lambda x, b: (
            special.logsumexp(x, b=b),
            special.logsumexp(x, axis=1, b=b, return_sign=True),
            special.logsumexp(x, b=-1.0, return_sign=True),
        ),
        np.array([[1.0, np.inf, 2.0], [-np.inf, 3.0, 800.0]]),
        np.array([[1.0, 0.0, -3.0], [2.0, -1.0, 0.0]]),
    ),
    case(special.logsumexp, lambda x, b: special.logsumexp(x, b=b), np.zeros(0), np.zeros(0)),
    case(
        special.logsumexp,
        lambda x, b: special.logsumexp(x, b=b),
        np.array([np.nan, 1.0]),
        np.array([0.0, 2.0]),
    ),
]
