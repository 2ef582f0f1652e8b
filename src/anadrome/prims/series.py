"""What rows of special functions share: polynomials, ranges of a formula, meanings in double precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy

from anadrome.prims.record import Algebra


def polynomial(algebra: Algebra[Any], x: Any, coefficients: Sequence[float]) -> Any:
    """c₀ + c₁x + c₂x² + … by Horner's rule"""
    total = algebra.constant(coefficients[-1], x)
    for coefficient in reversed(coefficients[:-1]):
        total = algebra.add(algebra.mul(total, x), algebra.constant(coefficient, x))
    return total


def split(algebra: Algebra[Any], x: Any, is_far: Any, near: float, far: float) -> tuple[Any, Any]:
    """x for the formula of the near range and for that of the far range; where it belongs to the other one,
    a number at which the formula and its derivatives are finite."""
    return (
        algebra.select(is_far, algebra.constant(near, x), x),
        algebra.select(is_far, x, algebra.constant(far, x)),
    )


def of_scipy(name: str) -> Callable[..., Any]:
    """A function of `scipy.special`, which SciPy imports when one of them is first called."""

    def meaning(*args: Any) -> Any:
        return getattr(scipy.special, name)(*args)

    meaning.__name__ = name
    return meaning


def in_double(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of SciPy whose code for float32 is less exact, as that for float64, rounded."""

    def meaning(*args: Any) -> Any:
        own = np.result_type(*args)
        return np.asarray(function(*(np.asarray(arg, np.float64) for arg in args))).astype(own)[()]

    meaning.__name__ = function.__name__
    return meaning
