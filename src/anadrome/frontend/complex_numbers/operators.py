"""Python's operators on complex values, and functions of their parts at every element."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Part, Size, Stack, Var
from anadrome.dtypes import F64, DType
from anadrome.errors.frontend import AmbiguousTruth, ComplexRefused
from anadrome.frontend.arrays import atom, describe, promote
from anadrome.frontend.complex_numbers import formulas
from anadrome.frontend.complex_numbers.formulas import Pair, RealRule, Rule
from anadrome.frontend.complex_numbers.parts import complex_of, is_complex, split
from anadrome.frontend.context import Context
from anadrome.frontend.operators import apply_prim, broadcast_shapes, element, noted
from anadrome.frontend.structures import has_staged
from anadrome.frontend.values import Array, Complex, Scalar, Staged, Value, Weak
from anadrome.frontend.views import laid_out_like

SYMBOLS: dict[type[ast.AST], str] = {
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Invert: "~",
}
"""Operators that complex numbers do not have."""

ORDERS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("lt", "lt"),
    ast.LtE: ("lt", "le"),
    ast.Gt: ("gt", "gt"),
    ast.GtE: ("gt", "ge"),
}
"""How the real parts and, where these are equal, the imaginary parts are compared."""

WHOLE_LIMIT = 100
"""Whole exponents up to here are repeated products, as in NumPy."""


def meets_complex(left: Value, right: Value) -> bool:
    """Whether an operation of these is one of complex values that are not both known now."""
    return (is_complex(left) or is_complex(right)) and (has_staged(left) or has_staged(right))


# ---------------------------------------------------------------------------- at every element
def common_type(context: Context, values: Sequence[Value], what: str) -> tuple[DType, Weak]:
    """The type of the parts of a result of these operands, and whether it is a Python number."""
    dtype, is_weak = promote(context, [split(context, value)[0] for value in values], what)
    return (dtype if dtype.is_float else F64), is_weak


def over_pairs(context: Context, values: Sequence[Value], rule: Rule, what: str) -> Complex:
    """`rule` at every place of the operands broadcast together; real operands have an imaginary part of 0."""
    return _over(context, values, rule, what, [True] * len(values))


def _over(
    context: Context, values: Sequence[Value], rule: Rule, what: str, is_pair: Sequence[bool]
) -> Complex:
    """The same, where operands that are no pair come as one real scalar."""
    dtype, is_weak = common_type(context, values, what)
    operands = [_operand(context, value, dtype) for value in values]
    shape = broadcast_shapes(context, [real.type.shape for real, _ in operands], what)

    def place(inner: Builder, indices: tuple[Var, ...]) -> Pair:
        scalars: list[Pair | Atom] = []
        for (real, imag), as_pair in zip(operands, is_pair, strict=True):
            first = inner.convert(element(inner, real, shape, indices), dtype)
            if not as_pair:
                scalars.append(first)
                continue
            second = inner.constant(0.0, first)
            if imag is not None:
                second = inner.convert(element(inner, imag, shape, indices), dtype)
            scalars.append((first, second))
        return rule(inner, *scalars)

    real, imag = _built(context.builder, shape, place)
    parts = (laid_out_like(context, context.wrap(part, is_weak), values, True) for part in (real, imag))
    return Complex(*parts)


def _operand(context: Context, value: Value, dtype: DType) -> tuple[Atom, Atom | None]:
    """The parts as atoms; numbers under the type of the result, arrays under their own."""
    real, imag = split(context, value)
    target = None if isinstance(real, Array | list | tuple | np.ndarray) else dtype
    return atom(context, real, target), None if imag is None else atom(context, imag, target)


def _built(
    builder: Builder, shape: Sequence[Size], place: Callable[[Builder, tuple[Var, ...]], Pair]
) -> tuple[Atom, ...]:
    """Two arrays of this shape in one nest of parfors."""

    def level(inner: Builder, outer: tuple[Var, ...]) -> tuple[Atom, ...]:
        if len(outer) == len(shape):
            return place(inner, outer)

        def body(deeper: Builder, index: Var) -> list[Part]:
            return [Stack.of(part) for part in level(deeper, (*outer, index))]

        return inner.parfor(shape[len(outer)], body)

    return level(builder, ())


def over_real(context: Context, value: Value, rule: RealRule, what: str) -> Staged:
    """A function of one complex number whose result is real, at every element."""
    dtype, is_weak = common_type(context, (value,), what)
    found = complex_of(context, value)
    shape = found.shape
    real, imag = (atom(context, part) for part in (found.real, found.imag))

    def place(inner: Builder, indices: tuple[Var, ...]) -> Atom:
        pair = tuple(inner.convert(element(inner, part, shape, indices), dtype) for part in (real, imag))
        return rule(inner, pair)  # type: ignore[arg-type]  # two of them

    built = context.wrap(context.builder.build(shape, place), is_weak)
    result = laid_out_like(context, built, (value,), is_elementwise=True)
    return noted(context, result, (real, imag)) if rule is formulas.absolute else result


# ---------------------------------------------------------------------------- operators
def binary(context: Context, kind: type[ast.operator], left: Value, right: Value) -> Value:
    """`left kind right` where a complex value is among them."""
    match kind:
        case ast.MatMult:
            return context.call(np.matmul, left, right)
        case ast.Pow:
            return power(context, left, right)
        case ast.Add:
            return over_pairs(context, (left, right), formulas.add, "+")
        case ast.Sub:
            return over_pairs(context, (left, right), formulas.subtract, "-")
        case ast.Mult:
            return multiply(context, left, right)
        case ast.Div:
            return divide(context, left, right)
        case _:
            raise refused(context, kind, left, right)


def multiply(context: Context, left: Value, right: Value) -> Complex:
    """left · right; of a real operand both parts take the product."""
    if not is_complex(right):
        left, right = right, left
    if not is_complex(left):
        return _over(context, (left, right), _scale, "*", (False, True))
    return over_pairs(context, (left, right), formulas.multiply, "*")


def _scale(b: Builder, factor: Atom, z: Pair) -> Pair:
    """f·z, as the product with f + 0i: it tells the zeros of either sign apart, as NumPy's does."""
    zero = b.constant(0.0, factor)
    return b.sub(b.mul(factor, z[0]), b.mul(zero, z[1])), b.add(b.mul(factor, z[1]), b.mul(zero, z[0]))


def divide(context: Context, left: Value, right: Value) -> Complex:
    """left / right; a real divisor divides both parts."""
    if not is_complex(right):
        return _over(context, (left, right), _over_real, "/", (True, False))
    return over_pairs(context, (left, right), formulas.divide, "/")


def _over_real(b: Builder, z: Pair, divisor: Atom) -> Pair:
    return b.div(z[0], divisor), b.div(z[1], divisor)


def power(context: Context, base: Value, exponent: Value) -> Complex:
    """base ** exponent: products for a known whole number, polar form for a real one, else exp(w log z)."""
    whole = _whole(exponent)
    if whole is not None:
        _, is_weak = common_type(context, (base, exponent), "**")
        found = over_pairs(context, (base,), formulas.whole_power(whole), "**")
        return found if is_weak or not isinstance(found.real, Scalar) else _strong(found)
    if not is_complex(exponent):
        return _over(context, (base, exponent), formulas.real_power, "**", (True, False))
    return over_pairs(context, (base, exponent), formulas.power, "**")


def _whole(exponent: Value) -> int | None:
    """A small whole exponent that is known now."""
    if not isinstance(exponent, int | float | complex | np.integer) or isinstance(exponent, bool):
        return None
    real = float(exponent.real)
    return int(real) if abs(real) < WHOLE_LIMIT and real == int(real) and not exponent.imag else None


def _strong(value: Complex) -> Complex:
    return Complex(*(Scalar(part.atom) for part in (value.real, value.imag) if isinstance(part, Scalar)))


def negate(context: Context, value: Complex) -> Complex:
    """-value"""
    return over_pairs(context, (value,), formulas.negate, "-")


def compare(
    context: Context, kind: type[ast.cmpop], left: Value, right: Value, is_ufunc: bool = False
) -> Value:
    """`left == right` and `left != right`; those of NumPy's have an order as well: by their real parts, and
    where these are equal by their imaginary parts.

    x < y:   Re x < Re y and neither imaginary part is NaN, or Re x = Re y and Im x < Im y

    The operators of two numbers do not look at NaN, the universal functions do.
    """
    one, other = complex_of(context, left), complex_of(context, right)
    if kind not in (ast.Eq, ast.NotEq):
        if one.is_weak and other.is_weak:
            raise refused(context, kind, left, right)
        strict, own = ORDERS[kind]
        looked_at = (one, other) if is_ufunc or one.shape or other.shape else ()
        known = [apply_prim(context, "eq", part.imag, part.imag) for part in looked_at]
        first = apply_prim(context, strict, one.real, other.real)
        for is_known in known:
            first = apply_prim(context, "and", first, is_known)
        equal = apply_prim(context, "eq", one.real, other.real)
        second = apply_prim(context, "and", equal, apply_prim(context, own, one.imag, other.imag))
        return apply_prim(context, "or", first, second)
    name, both = ("eq", "and") if kind is ast.Eq else ("ne", "or")
    parts = [apply_prim(context, name, a, b) for a, b in ((one.real, other.real), (one.imag, other.imag))]
    return apply_prim(context, both, *parts)


def nonzero(context: Context, value: Value) -> Staged:
    """Whether each element is not 0."""
    found = complex_of(context, value)
    parts = [apply_prim(context, "ne", part, 0.0) for part in (found.real, found.imag)]
    return apply_prim(context, "or", *parts)


def truth(context: Context, value: Complex) -> Staged:
    """The truth of a complex number."""
    if value.shape:
        raise AmbiguousTruth(describe(value), context.span)
    return nonzero(context, value)


def refused(context: Context, kind: type[ast.AST], *operands: Value) -> ComplexRefused:
    """The error for an operator that complex numbers do not have."""
    got = next((describe(value) for value in operands if is_complex(value)), "a list of complex numbers")
    is_order = issubclass(kind, ast.cmpop)
    help = "compare `abs(z)`, `z.real` or `z.imag`" if is_order else "use `z.real` or `z.imag`"
    return ComplexRefused(f"`{SYMBOLS[kind]}`", got, context.span, help)
