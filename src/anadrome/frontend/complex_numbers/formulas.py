"""Functions of complex numbers as functions of their parts, elementwise: one function for each.

A rule takes a builder and one pair (x, y) for each operand, z = x + iy, and gives the pair of the result. The
formulas do not overflow, nor lose digits, where the result itself does not; branch cuts are NumPy's, to which
side a point on a cut belongs being decided by the sign of its zero. Derivatives are those of the real
functions below, with their conventions where |z| = 0.

Sources: W. Kahan, Branch cuts for complex elementary functions (1987), for sqrt and the inverse functions;
R. L. Smith, Algorithm 116: complex division (1962).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom

Pair = tuple[Atom, Atom]
Rule = Callable[..., Pair]
"""(builder, a pair for each operand) -> the pair of the result"""

RealRule = Callable[[Builder, Pair], Atom]
"""(builder, a pair) -> a real number or bool"""


# ---------------------------------------------------------------------------- arithmetic
def add(b: Builder, z: Pair, w: Pair) -> Pair:
    """z + w"""
    return b.add(z[0], w[0]), b.add(z[1], w[1])


def subtract(b: Builder, z: Pair, w: Pair) -> Pair:
    """z - w"""
    return b.sub(z[0], w[0]), b.sub(z[1], w[1])


def multiply(b: Builder, z: Pair, w: Pair) -> Pair:
    """(x + iy)(u + iv) = (xu - yv) + i(xv + yu)"""
    (x, y), (u, v) = z, w
    return b.sub(b.mul(x, u), b.mul(y, v)), b.add(b.mul(x, v), b.mul(y, u))


def divide(b: Builder, z: Pair, w: Pair) -> Pair:
    """Smith's division. With |u| ≥ |v|, r = v/u and d = u + vr:  z/w = ((x + yr) + i(y - xr)) / d.

    Where |v| is larger, z/w = (y - ix)/(v - iu) is divided in the same way. Of w = 0 the parts are x/0, y/0.
    """
    (x, y), (u, v) = z, w
    is_flat = b.apply("ge", b.apply("abs", u), b.apply("abs", v))
    big, small = b.select(is_flat, u, v), b.select(is_flat, v, u)
    zero, one = b.constant(0.0, u), b.constant(1.0, u)
    is_zero = b.apply("eq", big, zero)
    ratio = b.div(small, b.select(is_zero, one, big))
    divisor = b.add(big, b.mul(small, ratio))
    first, second = b.select(is_flat, x, y), b.select(is_flat, y, x)
    real = b.div(b.add(first, b.mul(second, ratio)), divisor)
    turned = b.div(b.sub(second, b.mul(first, ratio)), divisor)
    return real, b.select(is_flat, turned, b.apply("neg", turned))


def negate(b: Builder, z: Pair) -> Pair:
    """-z"""
    return b.apply("neg", z[0]), b.apply("neg", z[1])


def conjugate(b: Builder, z: Pair) -> Pair:
    """x - iy"""
    return z[0], b.apply("neg", z[1])


def square(b: Builder, z: Pair) -> Pair:
    """z² = (x² - y²) + 2ixy"""
    x, y = z
    product = b.mul(x, y)
    return b.sub(b.mul(x, x), b.mul(y, y)), b.add(product, product)


def reciprocal(b: Builder, z: Pair) -> Pair:
    """1/z"""
    return divide(b, (b.constant(1.0, z[0]), b.constant(0.0, z[0])), z)


def whole_power(exponent: int) -> Rule:
    """zⁿ by repeated squaring, as NumPy has it for small n; 1/z⁻ⁿ where n is negative"""

    def rule(b: Builder, z: Pair) -> Pair:
        result: Pair | None = None
        factor, left = z, abs(exponent)
        while left:
            if left & 1:
                result = factor if result is None else multiply(b, result, factor)
            left >>= 1
            if left:
                factor = square(b, factor)
        if result is None:
            return b.constant(1.0, z[0]), b.constant(0.0, z[0])
        return reciprocal(b, result) if exponent < 0 else result

    return rule


def real_power(b: Builder, z: Pair, exponent: Atom) -> Pair:
    """z^p = |z|^p (cos pθ + i sin pθ) for a real exponent, θ the angle of z"""
    radius = b.apply("pow", absolute(b, z), exponent)
    turn = b.mul(exponent, angle(b, z))
    return b.mul(radius, b.apply("cos", turn)), b.mul(radius, b.apply("sin", turn))


def power(b: Builder, z: Pair, w: Pair) -> Pair:
    """z^w = exp(w log z); where z = 0 it is 1 for w = 0, 0 for Re w > 0, else NaN, as in NumPy"""
    x, y = z
    zero, one, nan = (b.constant(value, x) for value in (0.0, 1.0, math.nan))
    is_origin = b.apply("and", b.apply("eq", x, zero), b.apply("eq", y, zero))
    found = exp(b, multiply(b, w, log(b, (b.select(is_origin, one, x), y))))
    is_one = b.apply("and", *(b.apply("eq", part, zero) for part in w))
    beside = b.select(b.apply("or", is_one, b.apply("gt", w[0], zero)), zero, nan)
    at_origin = b.select(is_one, one, beside)
    return b.select(is_origin, at_origin, found[0]), b.select(is_origin, beside, found[1])


def _size(b: Builder, x: Atom) -> Atom:
    """|x| as a choice between x and -x, for what is smooth at 0: of `abs` the derivative there is 0."""
    return _like_the_sign(b, x, x)


def _like_the_sign(b: Builder, value: Atom, x: Atom) -> Atom:
    """`value` with its sign changed where x < 0"""
    return b.select(b.apply("ge", x, b.constant(0.0, x)), value, b.apply("neg", value))


# ---------------------------------------------------------------------------- real results
def absolute(b: Builder, z: Pair) -> Atom:
    """|z|, whose derivative at 0 is 0"""
    return b.apply("hypot", *z)


def square_of_size(b: Builder, z: Pair) -> Atom:
    """|z|² = x² + y²"""
    return b.add(b.mul(z[0], z[0]), b.mul(z[1], z[1]))


def angle(b: Builder, z: Pair) -> Atom:
    """The angle of z in (-π, π], whose derivative at 0 is 0"""
    return b.apply("atan2", z[1], z[0])


def either(name: str) -> RealRule:
    """Whether it holds of either part: isnan, isinf"""
    return lambda b, z: b.apply("or", b.apply(name, z[0]), b.apply(name, z[1]))


def is_finite(b: Builder, z: Pair) -> Atom:
    """Whether both parts are finite"""
    return b.apply("and", b.apply("isfinite", z[0]), b.apply("isfinite", z[1]))


# ---------------------------------------------------------------------------- exponentials and logarithms
def exp(b: Builder, z: Pair) -> Pair:
    """eˣ (cos y + i sin y), with eˣ as the product of two halves, one of which may be beyond all floats"""
    x, y = z
    half = b.apply("exp", b.mul(x, b.constant(0.5, x)))
    real = b.mul(half, b.mul(half, b.apply("cos", y)))
    return real, b.mul(half, b.mul(half, b.apply("sin", y)))


def expm1(b: Builder, z: Pair) -> Pair:
    """eᶻ - 1 = (expm1(x) cos y - 2 sin²(y/2)) + i eˣ sin y"""
    x, y = z
    sine = b.apply("sin", b.mul(y, b.constant(0.5, y)))
    real = b.sub(b.mul(b.apply("expm1", x), b.apply("cos", y)), b.mul(b.constant(2.0, x), b.mul(sine, sine)))
    return real, b.mul(b.apply("exp", x), b.apply("sin", y))


def log(b: Builder, z: Pair) -> Pair:
    """log|z| + i angle(z); near the unit circle log|z| = ½ log1p((big - 1)(big + 1) + small²)"""
    x, y = (_size(b, part) for part in z)
    radius = absolute(b, z)
    is_flat = b.apply("ge", x, y)
    big, small = b.select(is_flat, x, y), b.select(is_flat, y, x)
    half, one, two = (b.constant(value, x) for value in (0.5, 1.0, 2.0))
    is_near = b.apply("and", b.apply("gt", radius, half), b.apply("lt", radius, two))
    big, small = b.select(is_near, big, one), b.select(is_near, small, b.constant(0.0, x))
    excess = b.add(b.mul(b.sub(big, one), b.add(big, one)), b.mul(small, small))
    near = b.mul(half, b.apply("log1p", excess))
    far = b.apply("log", b.select(is_near, one, radius))
    return b.select(is_near, near, far), angle(b, z)


def log1p(b: Builder, z: Pair) -> Pair:
    """½ log1p(x(x + 2) + y²) + i angle(1 + z) where |z| is small, log(1 + z) elsewhere"""
    x, y = z
    one = b.constant(1.0, x)
    is_small = b.apply("lt", absolute(b, z), b.constant(0.5, x))
    zero = b.constant(0.0, x)
    left, right = b.select(is_small, x, zero), b.select(is_small, y, zero)
    excess = b.add(b.mul(left, b.add(left, b.constant(2.0, x))), b.mul(right, right))
    near = b.mul(b.constant(0.5, x), b.apply("log1p", excess))
    far, turn = log(b, (b.add(x, one), y))
    return b.select(is_small, near, far), turn


def scaled_after(rule: Rule, factor: float) -> Rule:
    """factor · rule(z): logarithms to another base"""

    def scaled(b: Builder, z: Pair) -> Pair:
        real, imag = rule(b, z)
        return b.mul(real, b.constant(factor, real)), b.mul(imag, b.constant(factor, imag))

    return scaled


def exp2(b: Builder, z: Pair) -> Pair:
    """2ᶻ = 2ˣ (cos(y log 2) + i sin(y log 2))"""
    radius, turn = b.apply("exp2", z[0]), b.mul(z[1], b.constant(math.log(2.0), z[1]))
    return b.mul(radius, b.apply("cos", turn)), b.mul(radius, b.apply("sin", turn))


def sqrt(b: Builder, z: Pair) -> Pair:
    """With t = √((|x| + |z|)/2):  t + iy/2t where x ≥ 0, |y|/2t + i(±t) with the sign of y elsewhere, whose
    derivative on the cut is that of the side which the sign of zero says."""
    x, y = z
    half, zero, one = (b.constant(value, x) for value in (0.5, 0.0, 1.0))
    size = b.add(b.mul(half, _size(b, x)), b.mul(half, absolute(b, z)))
    root = b.apply("sqrt", size)
    is_zero = b.apply("eq", root, zero)
    other = b.div(b.mul(half, y), b.select(is_zero, one, root))
    is_right, sign = b.apply("ge", x, zero), b.apply("copysign", one, y)
    real = b.select(is_right, root, b.mul(sign, other))
    imag = b.select(is_right, other, b.mul(sign, root))
    return real, b.select(is_zero, y, imag)


# ---------------------------------------------------------------------------- trigonometric functions
def sin(b: Builder, z: Pair) -> Pair:
    """sin x cosh y + i cos x sinh y"""
    x, y = z
    real = b.mul(b.apply("sin", x), b.apply("cosh", y))
    return real, b.mul(b.apply("cos", x), b.apply("sinh", y))


def cos(b: Builder, z: Pair) -> Pair:
    """cos x cosh y - i sin x sinh y"""
    x, y = z
    real = b.mul(b.apply("cos", x), b.apply("cosh", y))
    return real, b.apply("neg", b.mul(b.apply("sin", x), b.apply("sinh", y)))


def sinh(b: Builder, z: Pair) -> Pair:
    """sinh x cos y + i cosh x sin y"""
    return _turned_back(b, sin(b, _turned(b, z)))


def cosh(b: Builder, z: Pair) -> Pair:
    """cos(iz)"""
    return cos(b, _turned(b, z))


def tanh(b: Builder, z: Pair) -> Pair:
    """With T = tanh x, q = 1/cosh² x, c = cos y, s = sin y:  (T + iqsc) / (c² + T²s²).

    q = 4e/(1 + e)² with e = exp(-2|x|), which does not overflow.
    """
    x, y = z
    decay = b.apply("exp", b.mul(b.constant(-2.0, x), _size(b, x)))
    over = b.add(b.constant(1.0, x), decay)
    q = b.div(b.mul(b.constant(4.0, x), decay), b.mul(over, over))
    tangent, cosine, sine = b.apply("tanh", x), b.apply("cos", y), b.apply("sin", y)
    part = b.mul(tangent, sine)
    divisor = b.add(b.mul(cosine, cosine), b.mul(part, part))
    return b.div(tangent, divisor), b.div(b.mul(q, b.mul(sine, cosine)), divisor)


def tan(b: Builder, z: Pair) -> Pair:
    """-i tanh(iz)"""
    return _turned_back(b, tanh(b, _turned(b, z)))


def asinh(b: Builder, z: Pair) -> Pair:
    """-i asin(iz)"""
    return _turned_back(b, asin(b, _turned(b, z)))


def asin(b: Builder, z: Pair) -> Pair:
    """With p = √(1 - z), q = √(1 + z):  atan(x / Re(pq)) + i asinh(Im(p̄q))"""
    low, high = _roots_beside_one(b, z)
    real = b.apply("atan2", z[0], multiply(b, low, high)[0])
    return real, b.apply("asinh", multiply(b, conjugate(b, low), high)[1])


def acos(b: Builder, z: Pair) -> Pair:
    """With p = √(1 - z), q = √(1 + z):  2 atan(Re p / Re q) + i asinh(Im(q̄p))"""
    low, high = _roots_beside_one(b, z)
    half = b.apply("atan2", low[0], high[0])
    return b.add(half, half), b.apply("asinh", multiply(b, conjugate(b, high), low)[1])


def acosh(b: Builder, z: Pair) -> Pair:
    """With p = √(z - 1), q = √(z + 1):  asinh(Re(p̄q)) + 2i atan(Im p / Re q)"""
    one = b.constant(1.0, z[0])
    low, high = sqrt(b, (b.sub(z[0], one), z[1])), sqrt(b, (b.add(z[0], one), z[1]))
    half = b.apply("atan2", low[1], high[0])
    return b.apply("asinh", multiply(b, conjugate(b, low), high)[0]), b.add(half, half)


def atanh(b: Builder, z: Pair) -> Pair:
    """¼ log1p(4x / ((1 - x)² + y²)) + ½ i angle((1 - x)(1 + x) - y² + 2iy), by the half with x ≥ 0

    The real part is odd in x: it is computed of |x|, so that the logarithm is of a number above 1.
    """
    x, y = z
    one = b.constant(1.0, x)
    size = _size(b, x)
    below = b.sub(one, size)
    square_y = b.mul(y, y)
    distance = b.add(b.mul(below, below), square_y)
    growth = b.apply("log1p", b.div(b.mul(b.constant(4.0, x), size), distance))
    real = b.mul(b.constant(0.25, x), _like_the_sign(b, growth, x))
    across = b.sub(b.mul(below, b.add(one, size)), square_y)
    turn = b.apply("atan2", b.add(y, y), across)
    return real, b.mul(b.constant(0.5, x), turn)


def atan(b: Builder, z: Pair) -> Pair:
    """-i atanh(iz)"""
    return _turned_back(b, atanh(b, _turned(b, z)))


def _turned(b: Builder, z: Pair) -> Pair:
    """iz"""
    return b.apply("neg", z[1]), z[0]


def _turned_back(b: Builder, z: Pair) -> Pair:
    """-iz"""
    return z[1], b.apply("neg", z[0])


def _roots_beside_one(b: Builder, z: Pair) -> tuple[Pair, Pair]:
    """√(1 - z) and √(1 + z)"""
    x, y = z
    one = b.constant(1.0, x)
    return sqrt(b, (b.sub(one, x), b.apply("neg", y))), sqrt(b, (b.add(one, x), y))


def sign(b: Builder, z: Pair) -> Pair:
    """z/|z|, and 0 of 0"""
    radius = absolute(b, z)
    zero = b.constant(0.0, radius)
    divisor = b.select(b.apply("eq", radius, zero), b.constant(1.0, radius), radius)
    return b.div(z[0], divisor), b.div(z[1], divisor)


# ---------------------------------------------------------------------------- the tables
BINARY: Mapping[np.ufunc, Rule] = {
    np.add: add,
    np.subtract: subtract,
    np.multiply: multiply,
    np.divide: divide,
}
"""Functions of two complex numbers."""

UNARY: Mapping[np.ufunc, Rule] = {
    np.negative: negate,
    np.positive: lambda b, z: z,
    np.conjugate: conjugate,
    np.square: square,
    np.reciprocal: reciprocal,
    np.exp: exp,
    np.expm1: expm1,
    np.exp2: exp2,
    np.log: log,
    np.log1p: log1p,
    np.log2: scaled_after(log, 1.0 / math.log(2.0)),
    np.log10: scaled_after(log, 1.0 / math.log(10.0)),
    np.sqrt: sqrt,
    np.sin: sin,
    np.cos: cos,
    np.tan: tan,
    np.sinh: sinh,
    np.cosh: cosh,
    np.tanh: tanh,
    np.arcsin: asin,
    np.arccos: acos,
    np.arctan: atan,
    np.arcsinh: asinh,
    np.arccosh: acosh,
    np.arctanh: atanh,
    np.sign: sign,
}
"""Functions of one complex number."""

REAL: Mapping[np.ufunc, RealRule] = {
    np.absolute: absolute,
    np.isnan: either("isnan"),
    np.isinf: either("isinf"),
    np.isfinite: is_finite,
}
"""Functions of one complex number whose result is real."""
