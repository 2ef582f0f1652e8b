"""Rows of arithmetic: sums, products, quotients, extrema, signs, and what fuses them."""

from __future__ import annotations

from typing import Any

import numpy as np

from anadrome.prims import facts
from anadrome.prims.record import Algebra, Prim
from anadrome.prims.types import FLOATS, NUMBERS, same

Args = tuple[Any, ...]
_BY_NONZERO = ((-3.0, 3.0), (0.5, 3.0))


# ---------------------------------------------------------------------------- partials
def _add(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """∂(x + y) = (1, 1)"""
    one = algebra.constant(1.0, out)
    return one, one


def _sub(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """∂(x - y) = (1, -1)"""
    return algebra.constant(1.0, out), algebra.constant(-1.0, out)


def _mul(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """∂(x·y) = (y, x)"""
    x, y = args
    return y, x


def _div(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """∂(x / y) = (1/y, -out/y), with one division for both"""
    inverse = algebra.div(algebra.constant(1.0, out), args[1])
    return inverse, algebra.neg(algebra.mul(out, inverse))


def _neg(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """∂(-x) = -1"""
    return (algebra.constant(-1.0, out),)


def _abs(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """∂|x| = sign x, which is 0 at 0"""
    return (algebra.apply("sign", args[0]),)


def _winner(algebra: Algebra[Any], args: Args, out: Any, order: str) -> Args:
    """The winner has the whole derivative; the first argument wins a tie, and a NaN wins over a number."""
    x, y = args
    zero, one = algebra.constant(0.0, out), algebra.constant(1.0, out)
    first = algebra.apply("or", algebra.apply(order, x, y), algebra.apply("isnan", x))
    return algebra.select(first, one, zero), algebra.select(first, zero, one)


def _min(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """∂min(x, y) = ([x ≤ y], [x > y])"""
    return _winner(algebra, args, out, "le")


def _max(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """∂max(x, y) = ([x ≥ y], [x < y])"""
    return _winner(algebra, args, out, "ge")


def _modulo(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """x mod y = x - y·q with an integer q that is locally constant: ∂ = (1, -q), q = (x - out) / y"""
    x, y = args
    quotient = algebra.div(algebra.sub(x, out), y)
    return algebra.constant(1.0, out), algebra.neg(algebra.apply("round", quotient))


def _fma(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """∂(x·y + z) = (y, x, 1)"""
    x, y, _ = args
    return y, x, algebra.constant(1.0, out)


def _hypot(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """∂√(x² + y²) = (x/out, y/out), which is (0, 0) at the origin"""
    x, y = args
    at_origin = algebra.apply("eq", out, algebra.constant(0.0, out))
    radius = algebra.select(at_origin, algebra.constant(1.0, out), out)
    return algebra.div(x, radius), algebra.div(y, radius)


def _copysign(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """copysign(x, y) = |x|·sgn y: ∂ = (sign x · sgn y, 0), where sgn y = ±1 by the sign bit of y"""
    x, y = args
    sign_bit = algebra.apply("copysign", algebra.constant(1.0, out), y)
    return algebra.mul(algebra.apply("sign", x), sign_bit), None


def _cube(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """3x², which the rule of products finds as x·x + (1·x)·x + (1·x)·x"""
    (x,) = args
    return (algebra.mul(algebra.constant(3.0, x), algebra.mul(x, x)),)


# ---------------------------------------------------------------------------- expansions
def _expand_cube(algebra: Algebra[Any], args: Args) -> Any:
    (x,) = args
    return algebra.mul(x, algebra.mul(x, x))


def _expand_sign(algebra: Algebra[Any], args: Args) -> Any:
    """1, -1, or the argument itself, which is then 0 or NaN"""
    (x,) = args
    zero = algebra.constant(0, x)
    below = algebra.select(algebra.apply("lt", x, zero), algebra.constant(-1, x), x)
    return algebra.select(algebra.apply("gt", x, zero), algebra.constant(1, x), below)


def _expand_integer_sign(algebra: Algebra[Any], args: Args) -> Any:
    """(0 < x) - (x < 0), where the second is never true of unsigned numbers"""
    (x,) = args
    zero, one = algebra.constant(0, x), algebra.constant(1, x)
    is_positive = algebra.select(algebra.apply("gt", x, zero), one, zero)
    is_negative = algebra.select(algebra.apply("lt", x, zero), one, zero)
    return algebra.sub(is_positive, is_negative)


def _expand_integer_abs(algebra: Algebra[Any], args: Args) -> Any:
    (x,) = args
    return algebra.select(algebra.apply("lt", x, algebra.constant(0, x)), algebra.neg(x), x)


def _expand_integer_min(algebra: Algebra[Any], args: Args) -> Any:
    x, y = args
    return algebra.select(algebra.apply("lt", y, x), y, x)


def _expand_integer_max(algebra: Algebra[Any], args: Args) -> Any:
    x, y = args
    return algebra.select(algebra.apply("gt", y, x), y, x)


def _expand_mod(algebra: Algebra[Any], args: Args) -> Any:
    """r = fmod(x, y), then r + y where r and y differ in sign; a zero takes the sign of y."""
    x, y = args
    zero = algebra.constant(0.0, x)
    remainder = algebra.apply("fmod", x, y)
    differ = algebra.apply("xor", algebra.apply("lt", remainder, zero), algebra.apply("lt", y, zero))
    shifted = algebra.select(differ, algebra.add(remainder, y), remainder)
    return algebra.select(algebra.apply("eq", remainder, zero), algebra.apply("copysign", zero, y), shifted)


def _expand_floordiv(algebra: Algebra[Any], args: Args) -> Any:
    """q = (x - fmod(x, y)) / y is near an integer; less 1 where the remainder and y differ in sign.

    The nearest integer to q is taken, a zero takes the sign of x / y, and division by zero gives x / y.
    """
    x, y = args
    zero, one = algebra.constant(0.0, x), algebra.constant(1.0, x)
    remainder = algebra.apply("fmod", x, y)
    quotient = algebra.div(algebra.sub(x, remainder), y)
    lowered = algebra.select(_is_rounded_up(algebra, remainder, y), algebra.sub(quotient, one), quotient)
    whole = algebra.apply("round", lowered)
    true_quotient = algebra.div(x, y)
    is_zero = algebra.apply("eq", whole, zero)
    signed = algebra.select(is_zero, algebra.apply("copysign", zero, true_quotient), whole)
    return algebra.select(algebra.apply("eq", y, zero), true_quotient, signed)


def _expand_integer_fmod(algebra: Algebra[Any], args: Args) -> Any:
    """x - truncdiv(x, y)·y, and 0 where y = 0"""
    x, y = args
    zero = algebra.constant(0, x)
    remainder = algebra.sub(x, algebra.mul(algebra.apply("truncdiv", x, y), y))
    return algebra.select(algebra.apply("eq", y, zero), zero, remainder)


def _expand_integer_mod(algebra: Algebra[Any], args: Args) -> Any:
    """The remainder of truncated division, plus y where it differs from y in sign"""
    y = args[1]
    remainder = _expand_integer_fmod(algebra, args)
    return algebra.select(_is_rounded_up(algebra, remainder, y), algebra.add(remainder, y), remainder)


def _expand_integer_floordiv(algebra: Algebra[Any], args: Args) -> Any:
    """The truncated quotient, less 1 where its remainder differs from y in sign"""
    x, y = args
    quotient = algebra.apply("truncdiv", x, y)
    remainder = algebra.sub(x, algebra.mul(quotient, y))
    lowered = algebra.sub(quotient, algebra.constant(1, x))
    result = algebra.select(_is_rounded_up(algebra, remainder, y), lowered, quotient)
    zero = algebra.constant(0, x)
    return algebra.select(algebra.apply("eq", y, zero), zero, result)


def _is_rounded_up(algebra: Algebra[Any], remainder: Any, y: Any) -> Any:
    """Whether truncation gave more than the floor: a remainder that is not 0 and has not the sign of y."""
    zero = algebra.constant(0, y)
    differ = algebra.apply("xor", algebra.apply("lt", remainder, zero), algebra.apply("lt", y, zero))
    return algebra.apply("and", differ, algebra.apply("ne", remainder, zero))


# ---------------------------------------------------------------------------- meaning
def fused_multiply_add(x: Any, y: Any, z: Any) -> Any:
    """x·y + z with the product's rounding error kept (Dekker 1971, Knuth's two-sum): within one ulp of fma.

    A float32 product is exact in float64.
    """
    dtype = np.result_type(x, y, z)
    if dtype == np.float32:
        return (np.float64(x) * np.float64(y) + np.float64(z)).astype(np.float32)
    product, product_error = _two_product(x, y)
    total = product + z
    part = total - product
    total_error = (product - (total - part)) + (z - part)
    exact = total + (product_error + total_error)
    return np.where(np.isfinite(exact), exact, x * y + z)[()]


def _two_product(x: Any, y: Any) -> tuple[Any, Any]:
    x_high, x_low = _split(x)
    y_high, y_low = _split(y)
    product = x * y
    error = ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low
    return product, error


def _split(x: Any) -> tuple[Any, Any]:
    scaled = x * 134217729.0
    high = scaled - (scaled - x)
    return high, x - high


# ---------------------------------------------------------------------------- rows
ROWS = (
    Prim("add", 2, same(NUMBERS), np.add, _add, facts=facts.SEMIGROUP, symbol="+"),
    Prim("sub", 2, same(NUMBERS), np.subtract, _sub, symbol="-"),
    Prim("mul", 2, same(NUMBERS), np.multiply, _mul, facts=facts.SEMIGROUP, symbol="*"),
    Prim(
        "cube",
        1,
        same(FLOATS),
        lambda x: x * (x * x),
        _cube,
        expansion=_expand_cube,
        facts=facts.ODD,
        cost=2,
        symbol="**",
    ),
    Prim("div", 2, same(FLOATS), np.true_divide, _div, sample=_BY_NONZERO, facts=facts.POLE, symbol="/"),
    Prim("neg", 1, same(NUMBERS), np.negative, _neg, facts=facts.ODD_INVOLUTION, symbol="-"),
    Prim(
        "abs",
        1,
        same(NUMBERS),
        np.absolute,
        _abs,
        intrinsic="fabs",
        integer_expansion=_expand_integer_abs,
        facts=facts.EVEN_PROJECTION,
        symbol="abs",
    ),
    Prim(
        "sign",
        1,
        same(NUMBERS),
        np.sign,
        zero_derivative=True,
        expansion=_expand_sign,
        integer_expansion=_expand_integer_sign,
        facts=facts.ODD_PROJECTION,
        symbol="np.sign",
    ),
    Prim(
        "min",
        2,
        same(NUMBERS),
        np.minimum,
        _min,
        intrinsic="minimum",
        integer_expansion=_expand_integer_min,
        facts=facts.LATTICE,
        symbol="np.minimum",
    ),
    Prim(
        "max",
        2,
        same(NUMBERS),
        np.maximum,
        _max,
        intrinsic="maximum",
        integer_expansion=_expand_integer_max,
        facts=facts.LATTICE,
        symbol="np.maximum",
    ),
    Prim(
        "floordiv",
        2,
        same(NUMBERS),
        np.floor_divide,
        zero_derivative=True,
        expansion=_expand_floordiv,
        integer_expansion=_expand_integer_floordiv,
        sample=_BY_NONZERO,
        symbol="//",
    ),
    Prim(
        "mod",
        2,
        same(NUMBERS),
        np.remainder,
        _modulo,
        expansion=_expand_mod,
        integer_expansion=_expand_integer_mod,
        sample=_BY_NONZERO,
        facts=facts.POLE,
        symbol="%",
    ),
    Prim(
        "fmod",
        2,
        same(NUMBERS),
        np.fmod,
        _modulo,
        libm="fmod",
        integer_expansion=_expand_integer_fmod,
        sample=_BY_NONZERO,
        facts=facts.POLE,
        symbol="np.fmod",
    ),
    Prim("fma", 3, same(FLOATS), fused_multiply_add, _fma, intrinsic="fma", symbol="math.fma"),
    Prim(
        "hypot",
        2,
        same(FLOATS),
        np.hypot,
        _hypot,
        libm="hypot",
        facts=facts.COMMUTATIVE,
        cost=10,
        symbol="np.hypot",
    ),
    Prim("copysign", 2, same(FLOATS), np.copysign, _copysign, intrinsic="copysign", symbol="np.copysign"),
)
