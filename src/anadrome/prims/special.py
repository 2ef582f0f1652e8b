"""Rows of the special functions: error function, gamma function's relatives, logistic function."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.special

from anadrome.prims import facts
from anadrome.prims.record import Algebra, Partials, Prim
from anadrome.prims.types import FLOATS, same

Args = tuple[Any, ...]


# ---------------------------------------------------------------------------- partials
def _gaussian(algebra: Algebra[Any], x: Any, scale: float) -> Any:
    return algebra.mul(algebra.constant(scale, x), algebra.apply("exp", algebra.neg(algebra.mul(x, x))))


def _erf(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """2/√π · exp(-x²)"""
    return (_gaussian(algebra, args[0], 2.0 / math.sqrt(math.pi)),)


def _erfc(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """-2/√π · exp(-x²)"""
    return (_gaussian(algebra, args[0], -2.0 / math.sqrt(math.pi)),)


def _lgamma(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """ψ(x)"""
    return (algebra.apply("digamma", args[0]),)


def _digamma(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """ψ₁(x)"""
    return (algebra.apply("trigamma", args[0]),)


def _sigmoid(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """out·σ(-x), where 1 - out would have lost the digits of σ(-x) for large x"""
    return (algebra.mul(out, algebra.apply("sigmoid", algebra.neg(args[0]))),)


# ---------------------------------------------------------------------------- expansions
def _expand_sigmoid(algebra: Algebra[Any], args: Args) -> Any:
    """With e = exp(-|x|), which is that of σ(-x) in the derivative as well: 1/(1 + e), e/(1 + e) for x < 0"""
    (x,) = args
    one = algebra.constant(1.0, x)
    small = algebra.apply("exp", algebra.neg(algebra.apply("abs", x)))
    is_negative = algebra.apply("lt", x, algebra.constant(0.0, x))
    return algebra.div(algebra.select(is_negative, small, one), algebra.add(one, small))


# The root of digamma as a sum of two float32 numbers and a rest: x minus the first two is exact near it.
_ROOT = (1.4616321325302124, 1.243815006546356e-08, -1.2654465062537432e-16)
_NEAR_ROOT = 0.06
# ψ⁽ᵏ⁾(root)/k! for k = 1 … 12.
_AT_ROOT = (
    0.9676722454476212,
    -0.4427631689835921,
    0.258499760955651,
    -0.16394270544240652,
    0.10782405069126237,
    -0.07219956125645471,
    0.04880428816414311,
    -0.03316112647484736,
    0.022597648232218104,
    -0.01542476590494896,
    0.010538791616612175,
    -0.007204534386356869,
)
# The Bernoulli numbers B₂, B₄, … B₁₆.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_SHIFT = 8


def _polynomial(algebra: Algebra[Any], x: Any, coefficients: Sequence[float]) -> Any:
    """c₀ + c₁x + c₂x² + … by Horner's rule"""
    total = algebra.constant(coefficients[-1], x)
    for coefficient in reversed(coefficients[:-1]):
        total = algebra.add(algebra.mul(total, x), algebra.constant(coefficient, x))
    return total


def _expand_digamma(algebra: Algebra[Any], args: Args) -> Any:
    """Three ways to ψ (Abramowitz & Stegun 6.3.6, 6.3.7, 6.3.18; 2·10⁻¹⁴ relative for x > 0 in float64).

    Near its positive root a Taylor series; else, for w = x or, where x < 0, w = 1 - x:
        ψ(w) = log z - 1/(2z) - Σ B₂ₖ/(2k·z²ᵏ) - Σ_{k<8} 1/(w+k)    with z = w + 8,
        ψ(x) = ψ(1 - x) - π/tan πx                                  NaN at -1, -2, …
    """
    (x,) = args
    zero, one = algebra.constant(0.0, x), algebra.constant(1.0, x)
    is_negative = algebra.apply("lt", x, zero)
    right = _digamma_right(algebra, algebra.select(is_negative, algebra.sub(one, x), x))
    left = algebra.sub(right, _cotangent_term(algebra, x))
    result = algebra.select(is_negative, left, right)
    distance = x
    for part in _ROOT:
        distance = algebra.sub(distance, algebra.constant(part, x))
    series = algebra.mul(distance, _polynomial(algebra, distance, _AT_ROOT))
    is_near = algebra.apply("lt", algebra.apply("abs", distance), algebra.constant(_NEAR_ROOT, x))
    return algebra.select(is_near, series, result)


def _digamma_right(algebra: Algebra[Any], w: Any) -> Any:
    """ψ(w) for w ≥ 0 by recurrence to w + 8 and the asymptotic series there."""
    z = algebra.add(w, algebra.constant(float(_SHIFT), w))
    inverse = algebra.div(algebra.constant(1.0, w), z)
    coefficients = [number / (2 * k) for k, number in enumerate(_BERNOULLI, 1)]
    square = algebra.mul(inverse, inverse)
    series = algebra.mul(square, _polynomial(algebra, square, coefficients))
    half = algebra.mul(algebra.constant(0.5, w), inverse)
    asymptotic = algebra.sub(algebra.sub(algebra.apply("log", z), half), series)
    return algebra.sub(asymptotic, _reciprocal_sum(algebra, w))


def _reciprocal_sum(algebra: Algebra[Any], w: Any) -> Any:
    """Σ_{k<8} 1/(w+k), two at a time: 1/(w+k) + 1/(w+7-k) = (2w+7) / (w·(w+7) + k·(7-k)).

    Beyond 10¹⁸, where the sum no longer counts, w is held there so that its square is finite.
    """
    w = algebra.apply("min", w, algebra.constant(1e18, w))
    last = _SHIFT - 1
    seven = algebra.constant(float(last), w)
    numerator = algebra.add(algebra.add(w, w), seven)
    product = algebra.mul(w, algebra.add(w, seven))
    total = algebra.div(numerator, product)
    for k in range(1, _SHIFT // 2):
        denominator = algebra.add(product, algebra.constant(float(k * (last - k)), w))
        total = algebra.add(total, algebra.div(numerator, denominator))
    return total


def _past_whole(algebra: Algebra[Any], x: Any) -> tuple[Any, Any]:
    """(π·(x - round x), whether x is whole): sin² and tan of πx depend on the part past the whole alone."""
    part = algebra.sub(x, algebra.apply("round", x))
    is_whole = algebra.apply("eq", part, algebra.constant(0.0, x))
    return algebra.mul(algebra.constant(math.pi, x), part), is_whole


def _cotangent_term(algebra: Algebra[Any], x: Any) -> Any:
    """π/tan πx, NaN where x is whole"""
    angle, is_whole = _past_whole(algebra, x)
    value = algebra.div(algebra.constant(math.pi, x), algebra.apply("tan", angle))
    return algebra.select(is_whole, algebra.constant(math.nan, x), value)


def _expand_trigamma(algebra: Algebra[Any], args: Args) -> Any:
    """ψ₁ by recurrence and asymptotic series (Abramowitz & Stegun 6.4.6, 6.4.7, 6.4.12).

    For w = x or, where x < 0, w = 1 - x:
        ψ₁(w) = 1/z + 1/(2z²) + Σ B₂ₖ/z²ᵏ⁺¹ + Σ_{k<8} 1/(w+k)²    with z = w + 8,
        ψ₁(x) = π²/sin² πx - ψ₁(1 - x)                            ∞ at 0, -1, -2, …
    """
    (x,) = args
    zero, one = algebra.constant(0.0, x), algebra.constant(1.0, x)
    is_negative = algebra.apply("lt", x, zero)
    w = algebra.select(is_negative, algebra.sub(one, x), x)
    inverse = algebra.div(one, algebra.add(w, algebra.constant(float(_SHIFT), w)))
    square = algebra.mul(inverse, inverse)
    # 1/z·(1 + 1/(2z) + 1/z²·Σ B₂ₖ₊₂/z²ᵏ)
    tail = algebra.mul(square, _polynomial(algebra, square, _BERNOULLI))
    head = algebra.add(one, algebra.mul(algebra.constant(0.5, x), inverse))
    total = algebra.mul(inverse, algebra.add(head, tail))
    for k in range(_SHIFT):
        reciprocal = algebra.div(one, algebra.add(w, algebra.constant(float(k), x)))
        total = algebra.add(total, algebra.mul(reciprocal, reciprocal))
    angle, _ = _past_whole(algebra, x)
    ratio = algebra.div(algebra.constant(math.pi, x), algebra.apply("sin", angle))
    return algebra.select(is_negative, algebra.sub(algebra.mul(ratio, ratio), total), total)


# ---------------------------------------------------------------------------- rows
def trigamma(x: Any) -> Any:
    """ψ₁, the derivative of digamma, in the precision of its argument."""
    return np.asarray(scipy.special.polygamma(1, x)).astype(np.asarray(x).dtype)[()]


_RIGHT = ((0.3, 12.0),)


def _row(name: str, numpy: Callable[..., Any], partials: Partials | None, **rest: Any) -> Prim:
    return Prim(
        name, 1, same(FLOATS), numpy, partials, cost=10, symbol=f"scipy.special.{numpy.__name__}", **rest
    )


ROWS = (
    _row("erf", scipy.special.erf, _erf, libm="erf", facts=facts.ODD),
    _row("erfc", scipy.special.erfc, _erfc, libm="erfc"),
    _row("lgamma", scipy.special.gammaln, _lgamma, libm="lgamma", sample=_RIGHT, facts=facts.POLE),
    _row(
        "digamma", scipy.special.digamma, _digamma, expansion=_expand_digamma, sample=_RIGHT, facts=facts.POLE
    ),
    _row("trigamma", trigamma, None, expansion=_expand_trigamma, sample=_RIGHT),
    _row("sigmoid", scipy.special.expit, _sigmoid, expansion=_expand_sigmoid),
)
