"""Rows of the error function, its relatives and inverses, and of the normal distribution."""

from __future__ import annotations

import math
from typing import Any

from anadrome.prims import facts
from anadrome.prims.record import Algebra, Partials, Prim
from anadrome.prims.series import in_double, of_scipy, polynomial, split
from anadrome.prims.types import FLOATS, same

Args = tuple[Any, ...]

_ROOT_PI = math.sqrt(math.pi)


# ---------------------------------------------------------------------------- partials
def _gaussian(algebra: Algebra[Any], x: Any, scale: float, rate: float = -1.0) -> Any:
    """scale · exp(rate·x²)"""
    square = algebra.mul(algebra.constant(rate, x), algebra.mul(x, x))
    return algebra.mul(algebra.constant(scale, x), algebra.apply("exp", square))


def _of_argument(scale: float, rate: float = -1.0) -> Partials:
    """The derivative scale · exp(rate·x²)"""
    return lambda algebra, args, out: (_gaussian(algebra, args[0], scale, rate),)


def _of_result(scale: float, rate: float = 1.0) -> Partials:
    """The derivative of an inverse, scale · exp(rate·out²)"""
    return lambda algebra, args, out: (_gaussian(algebra, out, scale, rate),)


_FAR = 12.0
_ODD_FACTORIALS = tuple(float(math.prod(range(1, 2 * k + 2, 2))) for k in range(11))
"""(2k+1)!! for k = 0 … 10: at 12 the series below is right to 4·10⁻¹⁵."""


def _far_slope(algebra: Algebra[Any], x: Any, scale: float, sign: float) -> Any:
    """scale/x² · Σ (2k+1)!!·(sign/2x²)ᵏ, the derivative of the asymptotic series of erfcx and dawsn
    (Abramowitz & Stegun 7.1.23), where their differential equations lose what cancels."""
    inverse = algebra.div(algebra.constant(1.0, x), algebra.mul(x, x))
    series = polynomial(algebra, algebra.mul(algebra.constant(0.5 * sign, x), inverse), _ODD_FACTORIALS)
    return algebra.mul(algebra.mul(algebra.constant(scale, x), inverse), series)


def _erfcx(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """2x·erfcx x - 2/√π, and beyond 12 the series -1/(√π x²) · Σ (2k+1)!!·(-1/2x²)ᵏ"""
    (x,) = args
    is_far = algebra.apply("gt", x, algebra.constant(_FAR, x))
    near, far = split(algebra, x, is_far, 0.0, _FAR)
    product = algebra.mul(algebra.add(near, near), algebra.apply("erfcx", near))
    direct = algebra.sub(product, algebra.constant(2.0 / _ROOT_PI, x))
    return (algebra.select(is_far, _far_slope(algebra, far, -1.0 / _ROOT_PI, -1.0), direct),)


def _dawsn(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """1 - 2x·dawsn x, and beyond ±12 the series -1/(2x²) · Σ (2k+1)!!·(1/2x²)ᵏ"""
    (x,) = args
    is_far = algebra.apply("gt", algebra.apply("abs", x), algebra.constant(_FAR, x))
    near, far = split(algebra, x, is_far, 0.0, _FAR)
    product = algebra.mul(algebra.add(near, near), algebra.apply("dawsn", near))
    direct = algebra.sub(algebra.constant(1.0, x), product)
    return (algebra.select(is_far, _far_slope(algebra, far, -0.5, 1.0), direct),)


def _log_ndtr(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """φ(x)/Φ(x) = √(2/π) / erfcx(-x/√2), which loses nothing in either tail"""
    scaled = algebra.mul(args[0], algebra.constant(-math.sqrt(0.5), args[0]))
    root = algebra.constant(math.sqrt(2.0 / math.pi), args[0])
    return (algebra.div(root, algebra.apply("erfcx", scaled)),)


# ---------------------------------------------------------------------------- expansions
def _expand_ndtr(algebra: Algebra[Any], args: Args) -> Any:
    """Φ(x) = erfc(-x/√2) / 2"""
    scaled = algebra.mul(args[0], algebra.constant(-math.sqrt(0.5), args[0]))
    return algebra.mul(algebra.constant(0.5, args[0]), algebra.apply("erfc", scaled))


# ---------------------------------------------------------------------------- rows
def _row(
    name: str,
    partials: Partials,
    sample: tuple[float, float] = (-3.0, 3.0),
    **code: Any,
) -> Prim:
    code = code if {"libm", "expansion"} & set(code) else {"special": name, **code}
    numpy = in_double(of_scipy(name)) if "special" in code else of_scipy(name)
    return Prim(
        name,
        1,
        same(FLOATS),
        numpy,
        partials,
        cost=10,
        sample=(sample,),
        symbol=f"scipy.special.{name}",
        **code,
    )


_PROBABILITY = (0.02, 0.98)

ROWS = (
    _row("erf", _of_argument(2.0 / _ROOT_PI), libm="erf", facts=facts.ODD),
    _row("erfc", _of_argument(-2.0 / _ROOT_PI), libm="erfc"),
    _row("erfcx", _erfcx, facts=facts.POLE),
    _row("erfi", _of_argument(2.0 / _ROOT_PI, 1.0), facts=facts.ODD_POLE),
    _row("dawsn", _dawsn, facts=facts.ODD),
    _row("erfinv", _of_result(0.5 * _ROOT_PI), sample=(-0.95, 0.95), facts=facts.ODD_POLE),
    _row("erfcinv", _of_result(-0.5 * _ROOT_PI), sample=(0.05, 1.95), facts=facts.POLE),
    _row("ndtr", _of_argument(1.0 / math.sqrt(2.0 * math.pi), -0.5), expansion=_expand_ndtr),
    _row("log_ndtr", _log_ndtr),
    _row("ndtri", _of_result(math.sqrt(2.0 * math.pi), 0.5), sample=_PROBABILITY, facts=facts.POLE),
)
