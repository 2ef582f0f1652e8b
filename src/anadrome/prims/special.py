"""Rows of the gamma function, its relatives, and the incomplete gamma and beta functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import scipy

from anadrome.prims import facts
from anadrome.prims.record import Algebra, Partials, Prim
from anadrome.prims.series import in_double, of_scipy, polynomial, split
from anadrome.prims.types import FLOATS, same

Args = tuple[Any, ...]


# ---------------------------------------------------------------------------- partials
def _lgamma(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """ψ(x)"""
    return (algebra.apply("digamma", args[0]),)


def _digamma(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """ψ₁(x)"""
    return (algebra.apply("trigamma", args[0]),)


def _trigamma(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """ψ₂ by the derivatives of the terms of ψ₁ (`_expand_trigamma`), so that every order is there:
    -1/z² - 1/z³ - Σ (2k+1)·B₂ₖ/z²ᵏ⁺² - Σ 2/(w+k)³, and -2π³·cos πx/sin³ πx more where x < 0"""
    (x,) = args
    one = algebra.constant(1.0, x)
    is_negative = algebra.apply("lt", x, algebra.constant(0.0, x))
    w = algebra.select(is_negative, algebra.sub(one, x), x)
    inverse = algebra.div(one, algebra.add(w, algebra.constant(float(_SHIFT), w)))
    square = algebra.mul(inverse, inverse)
    odd = [(2 * k + 1) * number for k, number in enumerate(BERNOULLI, 1)]
    tail = algebra.mul(square, polynomial(algebra, square, odd))
    total = algebra.mul(square, algebra.add(algebra.add(one, inverse), tail))
    for k in range(_SHIFT):
        reciprocal = algebra.div(one, algebra.add(w, algebra.constant(float(k), x)))
        cube = algebra.mul(reciprocal, algebra.mul(reciprocal, reciprocal))
        total = algebra.add(total, algebra.add(cube, cube))
    angle, _ = _past_whole(algebra, x)
    angle = algebra.select(is_negative, angle, one)
    ratio = algebra.div(algebra.constant(math.pi, x), algebra.apply("sin", angle))
    cube = algebra.mul(algebra.mul(ratio, algebra.mul(ratio, ratio)), algebra.apply("cos", angle))
    beside = algebra.select(is_negative, algebra.add(cube, cube), algebra.constant(0.0, x))
    return (algebra.neg(algebra.add(total, beside)),)


def _gamma(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """Γ·ψ"""
    return (algebra.mul(out, algebra.apply("digamma", args[0])),)


def _betaln(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """(ψ(a) - ψ(a + b), ψ(b) - ψ(a + b))"""
    a, b = args
    both = algebra.apply("digamma", algebra.add(a, b))
    return tuple(algebra.sub(algebra.apply("digamma", one), both) for one in (a, b))


def _beta(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """B·(ψ(a) - ψ(a + b)), B·(ψ(b) - ψ(a + b))"""
    return tuple(algebra.mul(out, one) for one in _betaln(algebra, args, out))


def _gammainc(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """By x: x^(a-1)·exp(-x)/Γ(a)"""
    return None, gamma_density(algebra, *args)


def _gammaincc(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """By x: -x^(a-1)·exp(-x)/Γ(a)"""
    return None, algebra.neg(gamma_density(algebra, *args))


def _betainc(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """By x: x^(a-1)·(1-x)^(b-1)/B(a, b)"""
    return None, None, _beta_density(algebra, *args)


def _betaincc(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """By x: -x^(a-1)·(1-x)^(b-1)/B(a, b)"""
    return None, None, algebra.neg(_beta_density(algebra, *args))


def _beta_density(algebra: Algebra[Any], a: Any, b: Any, x: Any) -> Any:
    """x^(a-1)·(1-x)^(b-1)/B(a, b)"""
    one = algebra.constant(1.0, x)
    left = algebra.apply("xlogy", algebra.sub(a, one), x)
    right = algebra.apply("xlog1py", algebra.sub(b, one), algebra.neg(x))
    logarithm = algebra.sub(algebra.add(left, right), algebra.apply("betaln", a, b))
    return algebra.apply("exp", logarithm)


_LARGE_SHAPE = 20.0


def gamma_density(algebra: Algebra[Any], a: Any, x: Any) -> Any:
    """x^(a-1)·exp(-x)/Γ(a), the density of the gamma distribution (Loader 2000, §5).

    Where a ≥ 20, with λ = x/a and the rest s(a) of Stirling's series, it is
        √(a/2π)/x · exp(a·(1 + log λ - λ) - s(a)),
    whose exponent is small where the density is not; elsewhere exp((a-1)·log x - x - log Γ(a)).
    """
    one = algebra.constant(1.0, x)
    is_large = algebra.apply("ge", a, algebra.constant(_LARGE_SHAPE, x))
    small, large = split(algebra, a, is_large, 1.0, _LARGE_SHAPE)
    power = algebra.sub(algebra.apply("xlogy", algebra.sub(small, one), x), x)
    direct = algebra.apply("exp", algebra.sub(power, algebra.apply("lgamma", small)))
    direct = algebra.select(algebra.apply("isinf", x), algebra.constant(0.0, x), direct)
    is_inside = algebra.apply("and", algebra.apply("gt", x, algebra.constant(0.0, x)), is_large)
    is_inside = algebra.apply("and", is_inside, algebra.apply("isfinite", x))
    inner = algebra.select(is_inside, x, large)
    ratio, step = algebra.div(inner, large), algebra.div(algebra.sub(inner, large), large)
    is_apart = algebra.apply("gt", algebra.apply("abs", step), algebra.constant(0.5, x))
    near, _ = split(algebra, step, is_apart, 0.0, 0.0)
    _, far = split(algebra, ratio, is_apart, 1.0, 1.0)
    close = algebra.sub(algebra.apply("log1p", near), near)
    apart = algebra.sub(algebra.add(one, algebra.apply("log", far)), far)
    exponent = algebra.mul(large, algebra.select(is_apart, apart, close))
    exponent = algebra.sub(exponent, stirling_rest(algebra, large))
    root = algebra.apply("sqrt", algebra.mul(large, algebra.constant(0.5 / math.pi, x)))
    centred = algebra.mul(algebra.div(root, inner), algebra.apply("exp", exponent))
    is_beyond = algebra.apply("ge", x, algebra.constant(0.0, x))
    outside = algebra.select(is_beyond, algebra.constant(0.0, x), algebra.constant(math.nan, x))
    return algebra.select(is_large, algebra.select(is_inside, centred, outside), direct)


def stirling_rest(algebra: Algebra[Any], a: Any) -> Any:
    """log Γ(a) - ((a - ½)·log a - a + ½·log 2π) = Σ B₂ₖ/(2k·(2k-1)·a^(2k-1)), for a ≥ 20"""
    inverse = algebra.div(algebra.constant(1.0, a), a)
    coefficients = [number / (2 * k * (2 * k - 1)) for k, number in enumerate(BERNOULLI[:5], 1)]
    return algebra.mul(inverse, polynomial(algebra, algebra.mul(inverse, inverse), coefficients))


# ---------------------------------------------------------------------------- expansions
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
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_SHIFT = 8


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
    series = algebra.mul(distance, polynomial(algebra, distance, _AT_ROOT))
    is_near = algebra.apply("lt", algebra.apply("abs", distance), algebra.constant(_NEAR_ROOT, x))
    return algebra.select(is_near, series, result)


def _digamma_right(algebra: Algebra[Any], w: Any) -> Any:
    """ψ(w) for w ≥ 0 by recurrence to w + 8 and the asymptotic series there."""
    z = algebra.add(w, algebra.constant(float(_SHIFT), w))
    inverse = algebra.div(algebra.constant(1.0, w), z)
    coefficients = [number / (2 * k) for k, number in enumerate(BERNOULLI, 1)]
    square = algebra.mul(inverse, inverse)
    series = algebra.mul(square, polynomial(algebra, square, coefficients))
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
    tail = algebra.mul(square, polynomial(algebra, square, BERNOULLI))
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
    """ψ₁, the derivative of digamma."""
    return scipy.special.polygamma(1, x)


def _row(
    name: str, partials: Partials, arity: int = 1, scipy_name: str = "", cost: int = 10, **rest: Any
) -> Prim:
    """A row whose code is SciPy's, if it has no other."""
    numpy: Callable[..., Any] = in_double(of_scipy(scipy_name or name))
    special = "" if {"libm", "expansion"} & set(rest) else name
    symbol = f"scipy.special.{scipy_name or name}"
    return Prim(name, arity, same(FLOATS), numpy, partials, cost=cost, symbol=symbol, special=special, **rest)


_RIGHT = ((0.3, 12.0),)
_SHAPE = {0: "a"}
_ITERATED = 300
"""What functions that SciPy computes by series and fractions cost."""

ROWS = (
    _row("lgamma", _lgamma, scipy_name="gammaln", libm="lgamma", sample=_RIGHT, facts=facts.POLE),
    _row("digamma", _digamma, expansion=_expand_digamma, sample=_RIGHT, facts=facts.POLE),
    Prim(
        "trigamma",
        1,
        same(FLOATS),
        in_double(trigamma),
        _trigamma,
        expansion=_expand_trigamma,
        sample=_RIGHT,
        facts=facts.POLE,
        cost=10,
        symbol="scipy.special.polygamma",
    ),
    _row("gamma", _gamma, sample=_RIGHT, facts=facts.POLE),
    _row("beta", _beta, 2, sample=_RIGHT, facts=facts.POLE),
    _row("betaln", _betaln, 2, sample=_RIGHT, facts=facts.POLE),
    _row(
        "gammainc", _gammainc, 2, cost=_ITERATED, sample=_RIGHT, facts=facts.POLE, without_derivative=_SHAPE
    ),
    _row(
        "gammaincc", _gammaincc, 2, cost=_ITERATED, sample=_RIGHT, facts=facts.POLE, without_derivative=_SHAPE
    ),
    *(
        _row(
            name,
            derivative,
            3,
            cost=_ITERATED,
            sample=((0.3, 8.0), (0.3, 8.0), (0.05, 0.95)),
            facts=facts.POLE,
            without_derivative={0: "a", 1: "b"},
        )
        for name, derivative in (("betainc", _betainc), ("betaincc", _betaincc))
    ),
)
