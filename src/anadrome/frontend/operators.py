"""Python's operators and elementwise operations on staged values: promotion, broadcasting, stacks."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Check, Const, Size, Var, i64
from anadrome.dtypes import BOOL, F64, I8, I64, DType
from anadrome.errors.frontend import AmbiguousTruth, PromotionError, quoted
from anadrome.frontend.arrays import atom, describe, promote, type_of, weakness
from anadrome.frontend.context import Context
from anadrome.frontend.sizes import agree, is_at_most_one, is_same_size, show_shape
from anadrome.frontend.values import Array, Magnitude, Scalar, Staged, Value, Weak
from anadrome.frontend.views import laid_out_like
from anadrome.prims.table import PRIMS

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.BitAnd: "bitand",
    ast.BitOr: "bitor",
    ast.BitXor: "bitxor",
    ast.LShift: "shl",
    ast.RShift: "shr",
}
"""Python's binary operators; `@` is a call of `np.matmul`."""

COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}

ON_BOOLS = {"bitand": "and", "bitor": "or", "bitxor": "xor", "add": "or", "mul": "and", "bitnot": "not"}
ON_BOOLS |= {"min": "and", "max": "or"}
"""Operations on bools by the names of those on numbers."""

_OF_INTEGERS = frozenset({"add", "sub", "mul", "floordiv", "mod", "shl", "shr", "neg", "abs", "bitnot"})
"""Operations for which Python's bools are integers, and NumPy's are not."""
_SIZES = ("add", "sub", "mul")

_WHOSE = "a bool that may be Python's or NumPy's"
_WHOSE_HELP = (
    "Python's bools are the integers 0 and 1 here, NumPy's are not, and only the run knows which these are: "
    "write `int(a > 1) + int(b > 1)` for Python's, `np.logical_or(a > 1, b > 1)` for NumPy's"
)


# ---------------------------------------------------------------------------- broadcasting
def broadcast_shapes(context: Context, shapes: Sequence[tuple[Size, ...]], what: str) -> tuple[Size, ...]:
    """The shape operands are broadcast to. A constant 1 stretches; other sizes must agree."""
    rank = max(len(shape) for shape in shapes)
    result: list[Size] = [i64(1)] * rank
    for shape in shapes:
        for position, size in enumerate(shape, rank - len(shape)):
            known = result[position]
            if is_one(known):
                result[position] = size
            elif not is_one(size):
                words = (show_shape(tuple(result)), show_shape(shape))
                result[position] = agree(context, known, size, what, words)
    return tuple(result)


def _shapes_with_ones(
    context: Context, shapes: Sequence[tuple[Size, ...]], what: str
) -> list[tuple[Size, ...]]:
    """The shapes with 1 for sizes that are 0 or 1, as that of `x[k:k + 1]`, and meet another size.

    Such a size stretches where it is 1. The run checks that it is, or that both are 0.
    """
    rank = max(len(shape) for shape in shapes)
    result = [list(shape) for shape in shapes]
    narrow = {size for shape in shapes for size in shape if is_at_most_one(context, size)}
    for axis in range(-rank, 0) if narrow else ():
        met = [shape[axis] for shape in shapes if len(shape) >= -axis]
        others = [size for size in met if size not in narrow and not is_one(size)]
        for shape in result if others else ():
            if len(shape) < -axis or shape[axis] not in narrow:
                continue
            builder, sizes = context.builder, (shape[axis], others[0])
            if is_same_size(context, *sizes):
                continue
            is_fit = builder.apply("or", builder.apply("eq", sizes[0], i64(1)), builder.apply("eq", *sizes))
            builder.let(Check(is_fit, "size", f"{quoted(what)}: sizes {{0}} and {{1}} differ", sizes))
            shape[axis] = i64(1)
    return [tuple(shape) for shape in result]


def is_one(size: Size) -> bool:
    """Whether a size is the constant 1."""
    return isinstance(size, Const) and size.value == 1


def element(
    builder: Builder,
    operand: Atom,
    shape: tuple[Size, ...],
    indices: tuple[Atom, ...],
    own: tuple[Size, ...] | None = None,
) -> Atom:
    """The element of an operand that meets `indices` of the broadcast shape; `own` are its sizes."""
    own = operand.type.shape if own is None else own
    if not own:
        return operand
    assert isinstance(operand, Var)
    skipped = len(shape) - len(own)
    taken = (
        i64(0) if is_one(size) and not is_one(shape[skipped + axis]) else indices[skipped + axis]
        for axis, size in enumerate(own)
    )
    return builder.index(operand, tuple(taken))


def map_elements(
    context: Context,
    operands: Sequence[Atom],
    function: Callable[[Builder, tuple[Atom, ...]], Atom],
    what: str,
    is_weak: Weak = False,
) -> Staged:
    """`function(builder, scalars)` at every place of the operands broadcast together."""
    own = _shapes_with_ones(context, [operand.type.shape for operand in operands], what)
    shape = broadcast_shapes(context, own, what)

    def place(inner: Builder, indices: tuple[Var, ...]) -> Atom:
        found = (
            element(inner, operand, shape, indices, sizes)
            for operand, sizes in zip(operands, own, strict=True)
        )
        return function(inner, tuple(found))

    return context.wrap(context.builder.build(shape, place), is_weak)


# ---------------------------------------------------------------------------- operations
def apply_prim(context: Context, name: str, *values: Value, is_float: bool = False) -> Staged:
    """A row of the primitive table on values promoted to one type, elementwise.

    `is_float` is for operations that are only defined on floats (division, exp): integers become float64.
    """
    symbol = PRIMS[name].symbol or name
    dtype, is_weak = promote(context, values, symbol)
    if is_float and not dtype.is_float:
        dtype = F64
    if dtype is BOOL and name in _OF_INTEGERS:
        dtype = type_of_bools(context, symbol, is_weak)
    if dtype is BOOL:
        name = ON_BOOLS.get(name, name)
    return apply_typed(context, name, dtype, values, is_weak)


def type_of_bools(context: Context, symbol: str, is_weak: Weak) -> DType:
    """The type in which bools are added, negated and so on: Python's are integers, NumPy's stay bools."""
    if is_weak is None:
        raise PromotionError(symbol, _WHOSE, context.span, _WHOSE_HELP)
    return I64 if is_weak else BOOL


def as_number(context: Context, symbol: str, value: Value) -> Value:
    """A value as what `+` of it is: the integer that a Python bool is, and any other number itself."""
    if not isinstance(value, Scalar) or value.dtype is not BOOL:
        return value
    if type_of_bools(context, symbol, value.is_weak) is BOOL:
        raise PromotionError(symbol, "bool", context.span)
    return Scalar(context.builder.convert(value.atom, I64), is_weak=True)


def apply_typed(
    context: Context, name: str, dtype: DType, values: Sequence[Value], is_weak: Weak = False
) -> Staged:
    """A row of the table on values converted to `dtype`, elementwise."""
    prim = PRIMS[name]
    if prim.types((dtype,) * prim.arity) is None:
        raise PromotionError(prim.symbol or name, dtype.numpy_name, context.span)
    atoms = [atom(context, value, None if isinstance(value, Array) else dtype) for value in values]
    if is_weak and dtype is I64 and name in _SIZES:
        return Scalar(context.builder.size(name, *atoms), is_weak=True)  # type: ignore[arg-type]

    def scalar(builder: Builder, scalars: tuple[Atom, ...]) -> Atom:
        return builder.apply(name, *(builder.convert(one, dtype) for one in scalars))

    found = laid_out_like(
        context, map_elements(context, atoms, scalar, prim.symbol or name, is_weak), values, True
    )
    return noted(context, found, atoms) if name == "abs" else found


def binary(context: Context, operator: type[ast.operator], left: Value, right: Value) -> Staged:
    """`left operator right` where at least one of them is staged."""
    name = BINARY[operator]
    if name == "pow":
        if isinstance(left, Array) and left.dtype is BOOL and type(right) is int and right == 2:
            # Python's ** asks NumPy for the square, which is int8
            return apply_typed(context, "mul", I8, (left, left))
        return power(context, left, right)
    if name == "mul" and left is right:
        square = square_of_magnitude(context, left)
        if square is not None:
            return square
    return apply_prim(context, name, left, right, is_float=name == "div")


def compare(context: Context, operator: type[ast.cmpop], left: Value, right: Value) -> Staged:
    """`left operator right` where at least one of them is staged."""
    return apply_prim(context, COMPARE[operator], left, right)


def compare_name(context: Context, name: str, left: Value, right: Value) -> Value:
    """A comparison by the name of its primitive; static numbers are compared now."""
    if isinstance(left, int | float) and isinstance(right, int | float):
        return left < right if name == "lt" else left > right
    return apply_prim(context, name, left, right)


def power(context: Context, base: Value, exponent: Value) -> Staged:
    """base ** exponent. A small whole exponent known now is a product, which is what NumPy computes for 2."""
    base = _without_bool(context, base)
    if isinstance(exponent, Scalar) and exponent.dtype is BOOL and exponent.is_weak:
        if isinstance(base, Scalar) and base.dtype.is_integer:  # the base itself, or 1
            one = context.constant(1, base.dtype)
            return Scalar(context.builder.select(exponent.atom, base.atom, one), base.is_weak)
        exponent = _without_bool(context, exponent)
    if isinstance(exponent, int | float) and 0 <= exponent <= 64 and exponent == int(exponent):
        dtype, is_weak = promote(context, (base, exponent), "**")
        whole = int(exponent)
        found = _even_power(context, base, whole, dtype, is_weak)
        if found is not None:
            return found
        if whole in (2, 3) or dtype.is_integer:
            return _whole_power(context, base, whole, dtype, is_weak)
    dtype, is_weak = promote(context, (base, exponent), "**")
    if (
        dtype.is_integer and is_weak and isinstance(exponent, int)
    ):  # a negative exponent: Python gives a float
        dtype = F64
    if dtype.is_integer and is_weak and isinstance(base, int) and isinstance(exponent, Scalar):
        return _power_of_constant(context, base, exponent, is_weak)
    if dtype is BOOL and any(isinstance(one, Array) for one in (base, exponent)):
        dtype = I8  # as NumPy's
    if dtype.is_integer:
        _refuse_negative_powers(context, exponent)
    return apply_typed(context, "pow", dtype, (base, exponent), is_weak)


def _refuse_negative_powers(context: Context, exponent: Value) -> None:
    """The check that no integer is raised to a negative one, as NumPy makes it: of every exponent."""
    own, _ = type_of(context, exponent)
    if np.issubdtype(own.numpy, np.signedinteger):
        is_fit = atom(context, context.call(np.all, apply_prim(context, "ge", exponent, 0)))
        context.builder.let(Check(is_fit, "power", NEGATIVE_POWER))


def _without_bool(context: Context, value: Value) -> Value:
    """A side of `**`: the integer that a Python bool is."""
    return as_number(context, "**", value) if weakness(value) else value


LARGEST = 2**63 - 1
NEGATIVE_POWER = "integers to negative integer powers are not allowed"


def _power_of_constant(context: Context, base: int, exponent: Scalar, is_weak: Weak) -> Staged:
    """A whole number known now to a whole power that is not: an element of the table of its powers.

    A power that is no whole number, or does not fit, is an error of the run.
    """
    builder, power = context.builder, context.builder.convert(exponent.atom, I64)
    most = next(k for k in range(1, 65) if k == 64 or abs(base) ** (k + 1) > LARGEST)
    builder.let(Check(builder.apply("ge", power, i64(0)), "power", NEGATIVE_POWER))
    if abs(base) <= 1:
        power, most = (
            builder.apply("mod", power, i64(2)) if base == -1 else builder.apply("min", power, i64(1)),
            1,
        )
    fits = builder.apply("le", power, i64(most))
    builder.let(Check(fits, "raise", f"OverflowError: {base} to a power above {most} does not fit 64 bits"))
    place = builder.apply("max", builder.apply("min", power, i64(most)), i64(0))
    table = builder.literal([i64(base**k) for k in range(most + 1)])
    return Scalar(builder.index(table, (place,)), is_weak)


def _whole_power(context: Context, base: Value, exponent: int, dtype: DType, is_weak: Weak) -> Staged:
    def scalar(builder: Builder, scalars: tuple[Atom, ...]) -> Atom:
        square = builder.convert(scalars[0], dtype)
        if exponent == 3 and dtype.is_float:
            return builder.apply("cube", square)
        result: Atom | None = None
        left = exponent
        while left:
            if left & 1:
                result = square if result is None else builder.mul(result, square)
            left >>= 1
            if left:
                square = builder.mul(square, square)
        return builder.constant(1, square) if result is None else result

    return laid_out_like(
        context, map_elements(context, [atom(context, base)], scalar, "**", is_weak), (base,), True
    )


# ---------------------------------------------------------------------------- magnitudes
def noted(context: Context, magnitude: Staged, parts: Sequence[Atom], is_root: bool = False) -> Staged:
    """|x|, |z| or √s as it is, noted with x, the parts of z, or s: even powers are computed from these.

    |x|² = x², |z|² = x² + y² and √s² = s are smooth at 0, where |x|, |z| and √s are not.
    """
    var = magnitude.atom if isinstance(magnitude, Scalar) else magnitude.cell.var
    if isinstance(var, Var) and magnitude.dtype.is_float:
        context.magnitudes[var] = Magnitude(tuple(parts), is_root)
    return magnitude


def square_of_magnitude(context: Context, value: Value) -> Staged | None:
    """The square of what has been noted to be a magnitude, of the same type; None of other values."""
    if not isinstance(value, Scalar | Array):
        return None
    return _even_power(context, value, 2, value.dtype, weakness(value))


def _even_power(context: Context, base: Value, exponent: int, dtype: DType, is_weak: Weak) -> Staged | None:
    """|x|ⁿ = xⁿ, |z|ⁿ = (x² + y²)^(n/2) and √sⁿ = s^(n/2) for an even n > 0.

    The value for |z| and √s is the power of these, infinite where a part is; the derivative is that of the
    right side.
    """
    if exponent % 2 or not exponent or not isinstance(base, Scalar | Array) or base.dtype is not dtype:
        return None
    magnitude = atom(context, base)
    found = context.magnitudes.get(magnitude) if isinstance(magnitude, Var) else None
    if found is None:
        return None
    is_root = found.is_root

    def raised(builder: Builder, value: Atom, by: int) -> Atom:
        if by <= 2:
            return value if by == 1 else builder.mul(value, value)
        return builder.apply("pow", value, builder.constant(by, value))

    def scalar(builder: Builder, scalars: tuple[Atom, ...]) -> Atom:
        size, first, *others = (builder.convert(one, dtype) for one in scalars)
        if not others and not is_root:
            return raised(builder, first, exponent)
        total = first if is_root else builder.mul(first, first)
        for other in others:
            total = builder.add(total, builder.mul(other, other))
        held = builder.apply("stop_gradient", raised(builder, size, exponent))
        smooth = raised(builder, total, exponent // 2)
        return builder.apply("linked", held, smooth, builder.constant(1.0, smooth))

    return map_elements(context, [magnitude, *found.parts], scalar, "**", is_weak)


def negate(context: Context, value: Value) -> Staged:
    """-value; of an index or size it stays an affine form."""
    if isinstance(value, Scalar) and value.is_weak and value.dtype is I64:
        return Scalar(context.builder.size("sub", i64(0), value.atom), is_weak=True)
    return apply_prim(context, "neg", value)


def truth(context: Context, value: Value) -> Atom:
    """The truth of a staged scalar as a bool atom."""
    dtype, _ = type_of(context, value)
    found = atom(context, value)
    if found.type.shape:
        raise AmbiguousTruth(describe(value), context.span)
    if dtype is BOOL:
        return found
    return context.builder.apply("ne", found, context.builder.constant(0, found))
