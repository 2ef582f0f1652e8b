"""Rows of roots, powers, exponentials, logarithms, circular and hyperbolic functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from anadrome.prims import facts
from anadrome.prims.record import Algebra, Partials, Prim
from anadrome.prims.types import FLOATS, NUMBERS, same

Args = tuple[Any, ...]


# ---------------------------------------------------------------------------- partials
def _unary(derivative: Callable[[Algebra[Any], Any, Any], Any]) -> Partials:
    """The partials of a function of one argument from `derivative(algebra, x, out)`."""
    return lambda algebra, args, out: (derivative(algebra, args[0], out),)


def _one(algebra: Algebra[Any], x: Any) -> Any:
    return algebra.constant(1.0, x)


def _sqrt(algebra: Algebra[Any], x: Any, out: Any) -> Any:
    """½ / √x, which is ∞ at 0"""
    return algebra.div(algebra.constant(0.5, x), out)


def _cbrt(algebra: Algebra[Any], x: Any, out: Any) -> Any:
    """⅓ / out², which is ∞ at 0"""
    return algebra.div(algebra.constant(1.0 / 3.0, x), algebra.mul(out, out))


def _reciprocal_of(scale: float, algebra: Algebra[Any], value: Any) -> Any:
    return algebra.div(algebra.constant(scale, value), value)


def _one_minus_square(algebra: Algebra[Any], x: Any) -> Any:
    """1 - x² as (1 - x)·(1 + x), which keeps its digits near ±1"""
    return algebra.mul(algebra.sub(_one(algebra, x), x), algebra.add(_one(algebra, x), x))


def _asin(algebra: Algebra[Any], x: Any, out: Any) -> Any:
    """1 / √(1 - x²), which is ∞ at ±1"""
    return _reciprocal_of(1.0, algebra, algebra.apply("sqrt", _one_minus_square(algebra, x)))


def _acos(algebra: Algebra[Any], x: Any, out: Any) -> Any:
    """-1 / √(1 - x²)"""
    return _reciprocal_of(-1.0, algebra, algebra.apply("sqrt", _one_minus_square(algebra, x)))


def _atan(algebra: Algebra[Any], x: Any, out: Any) -> Any:
    """1 / (1 + x²)"""
    return _reciprocal_of(1.0, algebra, algebra.add(_one(algebra, x), algebra.mul(x, x)))


def _asinh(algebra: Algebra[Any], x: Any, out: Any) -> Any:
    """1 / √(1 + x²)"""
    square = algebra.add(_one(algebra, x), algebra.mul(x, x))
    return _reciprocal_of(1.0, algebra, algebra.apply("sqrt", square))


def _acosh(algebra: Algebra[Any], x: Any, out: Any) -> Any:
    """1 / √(x² - 1)"""
    square = algebra.mul(algebra.sub(x, _one(algebra, x)), algebra.add(x, _one(algebra, x)))
    return _reciprocal_of(1.0, algebra, algebra.apply("sqrt", square))


def _tan(algebra: Algebra[Any], x: Any, out: Any) -> Any:
    """1 + out²"""
    return algebra.add(_one(algebra, x), algebra.mul(out, out))


def _tanh(algebra: Algebra[Any], x: Any, out: Any) -> Any:
    """1 - out²"""
    return algebra.sub(_one(algebra, x), algebra.mul(out, out))


def _atan2(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """∂atan2(y, x) = (x, -y) / (x² + y²), and (0, 0) at the origin.

    With t = small/big of the two in magnitude, x² + y² = big·(big + small·t) neither overflows nor vanishes:
    where |y| ≤ |x| the partials are (1, -t)/(x + y·t), else (t, -1)/(y + x·t).
    """
    y, x = args
    zero, one = algebra.constant(0.0, out), algebra.constant(1.0, out)
    is_steep = algebra.apply("gt", algebra.apply("abs", y), algebra.apply("abs", x))
    big, small = algebra.select(is_steep, y, x), algebra.select(is_steep, x, y)
    at_origin = algebra.apply("eq", big, zero)
    big = algebra.select(at_origin, one, big)
    ratio = algebra.div(small, big)
    inverse = algebra.div(one, algebra.add(big, algebra.mul(small, ratio)))
    inverse = algebra.select(at_origin, zero, inverse)
    scaled = algebra.mul(ratio, inverse)
    return algebra.select(is_steep, scaled, inverse), algebra.neg(algebra.select(is_steep, inverse, scaled))


def _pow(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """∂x^y = (y·x^(y-1), x^y·log x).

    The first is 0 where y = 0 (x^0 = 1 for every x), whatever 0·x^(-1) says. The second is 0 where x = 0 and
    y ≥ 0, as one-sided limits say for y > 0; it is NaN where x < 0, because x^y is then no function of y.
    """
    x, y = args
    zero, one = algebra.constant(0.0, out), algebra.constant(1.0, out)
    lower = algebra.apply("pow", x, algebra.sub(y, one))
    is_infinite = algebra.apply("not", algebra.apply("isfinite", lower))
    is_lost = algebra.apply("and", algebra.apply("eq", y, zero), is_infinite)
    by_base = algebra.select(is_lost, zero, algebra.mul(y, lower))
    is_flat = algebra.apply("and", algebra.apply("eq", x, zero), algebra.apply("ge", y, zero))
    by_exponent = algebra.select(is_flat, zero, algebra.mul(out, algebra.apply("log", x)))
    return by_base, by_exponent


# ---------------------------------------------------------------------------- integer powers
def power(x: Any, y: Any) -> Any:
    """`np.power`, where an integer to a negative exponent is 0 (the front end checks that there is none)."""
    if np.result_type(x, y).kind != "i":
        return np.power(x, y)
    is_negative = np.less(y, 0)
    return np.where(is_negative, 0, np.power(x, np.where(is_negative, 0, y))).astype(np.result_type(x, y))[()]


def _expand_integer_power(algebra: Algebra[Any], args: Args) -> Any:
    """Square and multiply over the 64 bits an exponent can have"""
    base, exponent = args
    zero, one = algebra.constant(0, base), algebra.constant(1, base)
    is_negative = algebra.apply("lt", exponent, zero)
    result, square, rest = one, base, algebra.select(is_negative, zero, exponent)
    for _ in range(64):
        is_odd = algebra.apply("ne", algebra.apply("bitand", rest, one), zero)
        result = algebra.select(is_odd, algebra.mul(result, square), result)
        square, rest = algebra.mul(square, square), algebra.apply("shr", rest, one)
    return algebra.select(is_negative, zero, result)


# ---------------------------------------------------------------------------- rows
def _row(
    name: str,
    derivative: Callable[[Algebra[Any], Any, Any], Any],
    interval: tuple[float, float] = (-3.0, 3.0),
    words: frozenset[str] = facts.NONE,
    numpy_name: str = "",
) -> Prim:
    numpy_name = numpy_name or name
    return Prim(
        name,
        1,
        same(FLOATS),
        getattr(np, numpy_name),
        _unary(derivative),
        libm=name,
        sample=(interval,),
        facts=words,
        cost=10,
        symbol=f"np.{numpy_name}",
    )


_POSITIVE = (0.05, 8.0)
_INSIDE = (-0.95, 0.95)

ROWS = (
    Prim(
        "sqrt",
        1,
        same(FLOATS),
        np.sqrt,
        _unary(_sqrt),
        intrinsic="sqrt",
        facts=facts.POLE,
        sample=(_POSITIVE,),
        symbol="np.sqrt",
    ),
    Prim(
        "pow",
        2,
        same(NUMBERS),
        power,
        _pow,
        libm="pow",
        facts=facts.POLE,
        integer_expansion=_expand_integer_power,
        sample=(_POSITIVE, (-3.0, 3.0)),
        cost=10,
        symbol="**",
    ),
    _row("cbrt", _cbrt, _POSITIVE, facts.ODD_POLE),
    _row("exp", lambda algebra, x, out: out, words=facts.POLE),
    _row("expm1", lambda algebra, x, out: algebra.apply("exp", x), words=facts.POLE),
    _row(
        "exp2", lambda algebra, x, out: algebra.mul(out, algebra.constant(math.log(2.0), x)), words=facts.POLE
    ),
    _row("log", lambda algebra, x, out: _reciprocal_of(1.0, algebra, x), _POSITIVE, facts.POLE),
    _row(
        "log1p",
        lambda algebra, x, out: _reciprocal_of(1.0, algebra, algebra.add(_one(algebra, x), x)),
        (-0.9, 8.0),
        facts.POLE,
    ),
    _row(
        "log2", lambda algebra, x, out: _reciprocal_of(1.0 / math.log(2.0), algebra, x), _POSITIVE, facts.POLE
    ),
    _row(
        "log10",
        lambda algebra, x, out: _reciprocal_of(1.0 / math.log(10.0), algebra, x),
        _POSITIVE,
        facts.POLE,
    ),
    _row("sin", lambda algebra, x, out: algebra.apply("cos", x), words=facts.ODD),
    _row("cos", lambda algebra, x, out: algebra.neg(algebra.apply("sin", x)), words=facts.EVEN),
    _row("tan", _tan, (-1.2, 1.2), facts.ODD),
    _row("asin", _asin, _INSIDE, facts.ODD_POLE, "arcsin"),
    _row("acos", _acos, _INSIDE, facts.POLE, "arccos"),
    _row("atan", _atan, words=facts.ODD, numpy_name="arctan"),
    Prim(
        "atan2",
        2,
        same(FLOATS),
        np.arctan2,
        _atan2,
        libm="atan2",
        facts=facts.POLE,
        cost=10,
        symbol="np.arctan2",
    ),
    _row("sinh", lambda algebra, x, out: algebra.apply("cosh", x), words=facts.ODD_POLE),
    _row("cosh", lambda algebra, x, out: algebra.apply("sinh", x), words=facts.EVEN_POLE),
    _row("tanh", _tanh, words=facts.ODD),
    _row("asinh", _asinh, words=facts.ODD, numpy_name="arcsinh"),
    _row("acosh", _acosh, (1.05, 8.0), facts.POLE, "arccosh"),
    _row(
        "atanh",
        lambda algebra, x, out: _reciprocal_of(1.0, algebra, _one_minus_square(algebra, x)),
        _INSIDE,
        facts.ODD_POLE,
        "arctanh",
    ),
)
