"""Rows of the Bessel functions, and of those times an exponential.

Their derivatives are Bessel functions of the neighbouring orders (Abramowitz & Stegun 9.1.27, 9.6.26), so
every order of derivative is there. By the order of the function there is no derivative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from anadrome.prims import facts
from anadrome.prims.record import Algebra, Prim
from anadrome.prims.series import of_scipy, split
from anadrome.prims.types import FLOATS, same

Args = tuple[Any, ...]
Order = Any
"""An order that the program gives, or a whole number known here."""
Slope = Callable[[Algebra[Any], Order, Any, Any], Any]
"""(algebra, order, x, result) -> the derivative by x"""


def _of(algebra: Algebra[Any], name: str, order: Order, x: Any) -> Any:
    """The function of this order, by its row of one argument where there is one."""
    if isinstance(order, int) and order in (0, 1):
        row = {"jv": "j{}", "yv": "y{}", "iv": "i{}", "kv": "k{}", "ive": "i{}e", "kve": "k{}e"}[name]
        return algebra.apply(row.format(order), x)
    return algebra.apply(name, _order(algebra, order, x), x)


def _order(algebra: Algebra[Any], order: Order, x: Any) -> Any:
    return algebra.constant(float(order), x) if isinstance(order, int) else order


def _is_zero(order: Order) -> bool:
    return isinstance(order, int) and order == 0


def _neighbours(algebra: Algebra[Any], name: str, order: Order, x: Any) -> tuple[Any, Any]:
    """The functions of the orders below and above."""
    if isinstance(order, int):
        return _of(algebra, name, order - 1, x), _of(algebra, name, order + 1, x)
    one = algebra.constant(1.0, x)
    return _of(algebra, name, algebra.sub(order, one), x), _of(algebra, name, algebra.add(order, one), x)


def _half(algebra: Algebra[Any], value: Any) -> Any:
    return algebra.mul(algebra.constant(0.5, value), value)


# ---------------------------------------------------------------------------- derivatives
def _jv(algebra: Algebra[Any], order: Order, x: Any, out: Any) -> Any:
    """(J_{v-1} - J_{v+1}) / 2"""
    if _is_zero(order):
        return algebra.neg(_of(algebra, "jv", 1, x))
    return _half(algebra, algebra.sub(*_neighbours(algebra, "jv", order, x)))


def _yv(algebra: Algebra[Any], order: Order, x: Any, out: Any) -> Any:
    """(Y_{v-1} - Y_{v+1}) / 2; where both are infinite, at 0, that of the larger order decides"""
    if _is_zero(order):
        return algebra.neg(_of(algebra, "yv", 1, x))
    below, above = _neighbours(algebra, "yv", order, x)
    is_positive = algebra.apply("ge", _order(algebra, order, x), algebra.constant(0.0, x))
    larger = algebra.select(is_positive, algebra.neg(above), below)
    direct = _half(algebra, algebra.sub(below, above))
    return algebra.select(algebra.apply("isinf", larger), larger, direct)


def _iv(algebra: Algebra[Any], order: Order, x: Any, out: Any) -> Any:
    """(I_{v-1} + I_{v+1}) / 2"""
    if _is_zero(order):
        return _of(algebra, "iv", 1, x)
    return _half(algebra, algebra.add(*_neighbours(algebra, "iv", order, x)))


def _kv(algebra: Algebra[Any], order: Order, x: Any, out: Any) -> Any:
    """-(K_{v-1} + K_{v+1}) / 2"""
    if _is_zero(order):
        return algebra.neg(_of(algebra, "kv", 1, x))
    return algebra.neg(_half(algebra, algebra.add(*_neighbours(algebra, "kv", order, x))))


def _ive(algebra: Algebra[Any], order: Order, x: Any, out: Any) -> Any:
    """With e = exp(-|x|): (e·I_{v-1} + e·I_{v+1}) / 2 - sign(x)·e·I_v, where |x| is large by the series.

    I_v is even or odd where x is negative, so that the slope there is that at |x| with the sign of x·I_v.
    """
    square, is_far, near, far = _ranges(algebra, order, x)
    mean = _of(algebra, "ive", 1, near)
    if not _is_zero(order):
        mean = _half(algebra, algebra.add(*_neighbours(algebra, "ive", order, near)))
    own = algebra.mul(algebra.apply("sign", near), _of(algebra, "ive", order, near))
    slope = _far_slope(algebra, square, algebra.apply("abs", far), 1.0 / math.sqrt(2.0 * math.pi), -1.0)
    is_turned = algebra.apply("lt", algebra.mul(x, out), algebra.constant(0.0, x))
    slope = algebra.select(is_turned, algebra.neg(slope), slope)
    return algebra.select(is_far, slope, algebra.sub(mean, own))


def _kve(algebra: Algebra[Any], order: Order, x: Any, out: Any) -> Any:
    """With e = exp(x): e·K_v - (e·K_{v-1} + e·K_{v+1}) / 2, where x is large by the series; -∞ at 0"""
    square, is_far, near, far = _ranges(algebra, order, x)
    mean = _of(algebra, "kve", 1, near)
    if not _is_zero(order):
        mean = _half(algebra, algebra.add(*_neighbours(algebra, "kve", order, near)))
    direct = algebra.sub(_of(algebra, "kve", order, near), mean)
    direct = algebra.select(algebra.apply("isinf", mean), algebra.neg(mean), direct)
    slope = _far_slope(algebra, square, far, math.sqrt(0.5 * math.pi), 1.0)
    return algebra.select(is_far, slope, direct)


# ---------------------------------------------------------------------------- large arguments
_TERMS = 8
_BEGIN = 200.0


def _ranges(algebra: Algebra[Any], order: Order, x: Any) -> tuple[Any, Any, Any, Any]:
    """(4v², whether |x| > 200·(1 + 4v²), x for the formula of neighbours, x for the series).

    Beyond, the difference of neighbours loses more digits than the series.
    """
    own = _order(algebra, order, x)
    square = algebra.mul(algebra.constant(4.0, x), algebra.mul(own, own))
    limit = algebra.mul(algebra.constant(_BEGIN, x), algebra.add(algebra.constant(1.0, x), square))
    is_far = algebra.apply("gt", algebra.apply("abs", x), limit)
    return (square, is_far, *split(algebra, x, is_far, 1.0, _BEGIN))


def _far_slope(algebra: Algebra[Any], square: Any, x: Any, scale: float, sign: float) -> Any:
    """-scale·x^(-3/2)·Σ (k + ½)·cₖ x⁻ᵏ with cₖ = cₖ₋₁·sign·(4v² - (2k - 1)²)/8k: the derivative of
    scale·x^(-½)·Σ cₖ x⁻ᵏ, the series of the scaled functions (Abramowitz & Stegun 9.7.1, 9.7.2)."""
    inverse = algebra.div(algebra.constant(1.0, x), x)
    coefficient, total = algebra.constant(1.0, x), algebra.constant(0.5, x)
    for k in range(1, _TERMS):
        factor = algebra.sub(square, algebra.constant(float((2 * k - 1) ** 2), x))
        factor = algebra.mul(algebra.constant(sign / (8.0 * k), x), factor)
        coefficient = algebra.mul(algebra.mul(coefficient, factor), inverse)
        total = algebra.add(total, algebra.mul(algebra.constant(k + 0.5, x), coefficient))
    outside = algebra.mul(algebra.apply("sqrt", inverse), inverse)
    return algebra.mul(algebra.mul(algebra.constant(-scale, x), outside), total)


# ---------------------------------------------------------------------------- rows
def _row(name: str, slope: Slope, order: int | None = None, **rest: Any) -> Prim:
    """A function of its order and x, or of x alone where the order is known."""

    def partials(algebra: Algebra[Any], args: Args, out: Any) -> Args:
        if order is not None:
            return (slope(algebra, order, args[0], out),)
        return None, slope(algebra, args[0], args[1], out)

    return Prim(
        name,
        1 if order is not None else 2,
        same(FLOATS),
        of_scipy(name),
        partials,
        special=name,
        without_derivative={} if order is not None else {0: "v"},
        cost=30 if order is not None else 300,
        symbol=f"scipy.special.{name}",
        **rest,
    )


_RIGHT = ((0.3, 12.0),)
_ORDERS = ((0.0, 3.0), (0.5, 12.0))

ROWS = (
    _row("j0", _jv, 0, facts=facts.EVEN),
    _row("j1", _jv, 1, facts=facts.ODD),
    _row("jv", _jv, sample=_ORDERS, facts=facts.POLE),
    _row("y0", _yv, 0, sample=_RIGHT, facts=facts.POLE),
    _row("y1", _yv, 1, sample=_RIGHT, facts=facts.POLE),
    _row("yv", _yv, sample=_ORDERS, facts=facts.POLE),
    _row("i0", _iv, 0, facts=facts.EVEN_POLE),
    _row("i1", _iv, 1, facts=facts.ODD_POLE),
    _row("iv", _iv, sample=_ORDERS, facts=facts.POLE),
    _row("i0e", _ive, 0, facts=facts.EVEN),
    _row("i1e", _ive, 1, facts=facts.ODD),
    _row("ive", _ive, sample=_ORDERS, facts=facts.POLE),
    _row("k0", _kv, 0, sample=_RIGHT, facts=facts.POLE),
    _row("k1", _kv, 1, sample=_RIGHT, facts=facts.POLE),
    _row("kv", _kv, sample=_ORDERS, facts=facts.POLE),
    _row("k0e", _kve, 0, sample=_RIGHT, facts=facts.POLE),
    _row("k1e", _kve, 1, sample=_RIGHT, facts=facts.POLE),
    _row("kve", _kve, sample=_ORDERS, facts=facts.POLE),
)
