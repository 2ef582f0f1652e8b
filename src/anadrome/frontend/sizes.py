"""Sizes: static integers or variables, when two are equal, and when an index is known to be inside."""

from __future__ import annotations

from anadrome.array_ir.affine import Affine
from anadrome.array_ir.nodes import ArrayType, Atom, Check, Const, Size, Var, i64
from anadrome.dtypes import I64
from anadrome.errors.base import indefinite
from anadrome.errors.frontend import ShapeMismatch, UnsupportedType, quoted
from anadrome.frontend.context import Context
from anadrome.frontend.values import Array, Scalar, Value


def size_value(context: Context, size: Size) -> Value:
    """A size as the program sees it: an int where it is known, else a weak i64."""
    if isinstance(size, Const):
        return int(size.value)
    context.nonnegative.add(size)
    return Scalar(size, is_weak=True)


def as_size(context: Context, value: Value, what: str = "a size") -> Size:
    """An integer of the program, static or staged, as a size."""
    if isinstance(value, Scalar) and value.dtype.is_integer:
        return context.builder.convert(value.atom, I64)
    help = "use integers: `int(n)` for one number"
    if isinstance(value, Scalar | Array):
        shape = show_shape(value.shape) if isinstance(value, Array) else ""
        raise UnsupportedType(what, f"{value.dtype.numpy_name}{shape}", context.span, help)
    try:
        return i64(value.__index__())  # type: ignore[attr-defined]
    except (AttributeError, TypeError):
        raise UnsupportedType(what, indefinite(type(value).__name__), context.span, help) from None


def show_shape(shape: tuple[Size, ...]) -> str:
    """A shape for people: `(3, n)`."""
    words = [str(size.value) if isinstance(size, Const) else size.name for size in shape]
    return f"({', '.join(words)}{',' if len(words) == 1 else ''})"


# ---------------------------------------------------------------------------- equality
def canonical(context: Context, size: Size) -> Size:
    """The size that stands for all those known to equal this one here."""
    for scope in context.scopes():
        found = scope.equal.get(size)
        if found is not None:
            return canonical(context, found)
    return size


def equals(context: Context, size: Size) -> list[Size]:
    """The other sizes that are known to equal this one here."""
    known = {one: None for scope in context.scopes() for pair in scope.equal.items() for one in pair}
    same = canonical(context, size)
    return [one for one in known if one is not size and canonical(context, one) == same]


def is_same_size(context: Context, left: Size, right: Size) -> bool:
    """Whether two sizes are known to be equal."""
    if left is right or left == right:
        return True
    return canonical(context, left) == canonical(context, right)


def agree(
    context: Context,
    left: Size,
    right: Size,
    what: str,
    shapes: tuple[str, str] | None = None,
    words: str = "",
    check: str = "size",
) -> Size:
    """One size for two that must be equal: known, or checked at run time, or refused. A constant wins, then
    what is bound further outside: a size that is computed here would not be known there.

    `words` is what a check says that fails, with places for the two.
    """
    if not is_same_size(context, left, right):
        one, two = canonical(context, left), canonical(context, right)
        if isinstance(one, Const) and isinstance(two, Const):
            raise ShapeMismatch(what, *(shapes or (str(one.value), str(two.value))), context.span)
        builder = context.builder
        builder.let(
            Check(
                builder.apply("eq", left, right),
                check,
                words or f"{quoted(what)}: sizes {{0}} and {{1}} differ",
                (left, right),
            )
        )
        context.scope.equal[two if isinstance(one, Const) else one] = one if isinstance(one, Const) else two
    if isinstance(left, Const):
        return left
    return right if isinstance(right, Const) or context.builder.is_around(right, left) else left


def retype(context: Context, var: Var, type_: ArrayType, what: str, words: str = "") -> Var:
    """The array under a type whose sizes are other names of the same numbers (checked where not known)."""
    assert isinstance(var.type, ArrayType)
    if var.type == type_:
        return var
    if var.type.rank != type_.rank or var.type.dtype is not type_.dtype:
        raise ShapeMismatch(what, show_shape(var.type.shape), show_shape(type_.shape), context.span)
    for left, right in zip(var.type.shape, type_.shape, strict=True):
        agree(context, left, right, what, (show_shape(var.type.shape), show_shape(type_.shape)), words)
    return context.builder.reshape(var, type_.shape)


# ---------------------------------------------------------------------------- arithmetic
def add_sizes(context: Context, left: Size, right: Size) -> Size:
    """The sum of two sizes; the two parts of `x[:c]` and `x[c:]` add up to the size of x."""
    return context.complements.get(frozenset((left, right))) or context.builder.size("add", left, right)


def multiply_sizes(context: Context, sizes: tuple[Size, ...]) -> Size:
    """The product of sizes: an element count."""
    total: Size = i64(1)
    for size in sizes:
        total = context.builder.size("mul", total, size)
    return total


def clamp_size(context: Context, size: Size) -> Size:
    """max(size, 0): the length of a range that may be empty."""
    if isinstance(size, Var) and is_nonnegative(context, size):
        context.nonnegative.add(size)
        return size
    return context.builder.size("max", size, i64(0))


def give_most(context: Context, size: Size, most: Affine) -> None:
    """Remember that a size is no larger than this."""
    if isinstance(size, Var):
        context.most[size] = (*context.most.get(size, ()), most)


def is_at_most_one(context: Context, size: Size) -> bool:
    """Whether a size that is not known is known to be 0 or 1."""
    found = context.most.get(size, ()) if isinstance(size, Var) else ()
    return any(not most.terms and most.constant <= 1 for most in found)


def least_size(context: Context, left: Size, right: Size) -> Size:
    """min(left, right), one of them where it is known to be no larger."""
    builder = context.builder
    if is_nonnegative(context, builder.size("sub", left, right)):
        return right
    return (
        left
        if is_nonnegative(context, builder.size("sub", right, left))
        else builder.size("min", left, right)
    )


# ---------------------------------------------------------------------------- proofs
def give_range(context: Context, index: Var, lo: Atom, hi: Atom) -> None:
    """Remember that lo <= index < hi wherever the index is bound."""
    context.ranges[index] = (context.builder.affine(lo), context.builder.affine(hi))


def is_nonnegative(context: Context, atom: Atom, asked: frozenset[Var] = frozenset()) -> bool:
    """Whether an integer is known not to be negative."""
    return _is_at_least_zero(context, _extreme(context, context.builder.affine(atom), -1), asked)


def _is_at_least_zero(context: Context, form: Affine, asked: frozenset[Var] = frozenset()) -> bool:
    """Whether constant + Σ cᵢ·xᵢ >= 0 for every size xᵢ not below what is known of it."""
    if any(coefficient < 0 or not is_size(context, size, asked) for size, coefficient in form.terms):
        return False
    return form.constant + sum(c * context.least.get(size, 0) for size, c in form.terms) >= 0


def is_size(context: Context, var: Var, asked: frozenset[Var] = frozenset()) -> bool:
    """Whether a variable is known not to be negative: as a size, a product of those, or a quotient.

    `asked` are those that it follows from already: n does from (n + 1) // 2, which may have to be n.
    """
    definition = context.builder.definition(var)
    if var in context.nonnegative or definition is None:
        return var in context.nonnegative
    if definition.prim.name == "mul":
        return all(factor in context.nonnegative for factor in definition.args)
    if definition.prim.name != "floordiv" or var in asked:
        return False
    dividend, divisor = definition.args
    is_positive = isinstance(divisor, Const) and int(divisor.value) > 0
    return is_positive and is_nonnegative(context, dividend, asked | {var})


def is_below(context: Context, atom: Atom, size: Atom) -> bool:
    """Whether an integer is known to be less than a size."""
    return _is_distant(context, atom, size, 1)


def is_at_most(context: Context, atom: Atom, size: Atom) -> bool:
    """Whether an integer is known to be no larger than a size."""
    return _is_distant(context, atom, size, 0)


def _is_distant(context: Context, atom: Atom, size: Atom, distance: int) -> bool:
    """Whether size - atom >= distance is known."""
    builder = context.builder
    form = builder.affine(atom).plus(builder.affine(size), -1)
    largest = _extreme(context, form, 1)
    return _is_at_least_zero(context, Affine((), -distance).plus(largest, -1))


def differ_always(context: Context, left: Size, right: Size) -> bool:
    """Whether two sizes are known to differ whatever the arguments are, two constants aside."""
    if isinstance(left, Const) and isinstance(right, Const):
        return False
    return is_below(context, left, right) or is_below(context, right, left)


def _extreme(context: Context, form: Affine, sign: int) -> Affine:
    """The form with every index replaced by its bound on the side of `sign` (1: largest, -1: smallest)."""
    form = _renamed(context, form)
    for _ in range(64):
        found = next(((var, c) for var, c in form.terms if var in context.ranges), None)
        if found is None:
            return form
        var, coefficient = found
        lo, hi = context.ranges[var]
        bound = Affine(hi.terms, hi.constant - 1) if coefficient * sign > 0 else lo
        form = _renamed(context, form.without(var).plus(bound, coefficient))
    return form


def _renamed(context: Context, form: Affine) -> Affine:
    result = Affine((), form.constant)
    for var, coefficient in form.terms:
        size = canonical(context, var)
        one = Affine((), int(size.value)) if isinstance(size, Const) else Affine(((size, 1),), 0)
        result = result.plus(one, coefficient)
    return result
