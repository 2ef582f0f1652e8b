"""New arrays: filled, counted, copied."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Const, Size, Var, i64
from anadrome.dtypes import BOOL, F64, I64, DType
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.arrays import as_array, atom, boxed, promote
from anadrome.frontend.context import Context, StagedCall, dtype_of
from anadrome.frontend.iterables import row_item
from anadrome.frontend.library.common import (
    built,
    optional_dtype,
    plain,
    require,
    reshaped_view,
    shape_argument,
    static_flag,
    static_int,
)
from anadrome.frontend.library.shape import broadcast_to, is_by_columns, transposed
from anadrome.frontend.operators import apply_prim
from anadrome.frontend.sizes import as_size, clamp_size, size_value
from anadrome.frontend.structures import RowList
from anadrome.frontend.values import Array, Scalar, Staged, Value
from anadrome.frontend.views import copy_that_may_share, is_contiguous, laid_out_like


# ---------------------------------------------------------------------------- filled
def filled(name: str, value: int) -> StagedCall:
    """np.zeros, np.ones; np.empty, whose elements are zeros"""

    def staged(context: Context, shape: Value, dtype: Value = np.float64) -> Value:
        number = context.constant(value, dtype_of(dtype, context.span))
        return new_of(context, context.builder.full(shape_argument(context, name, shape), number))

    return staged


def filled_like(name: str, value: int) -> StagedCall:
    """np.zeros_like, np.ones_like, np.empty_like"""

    def staged(context: Context, a: Value, dtype: Value = None, *, shape: Value = None) -> Value:
        found = as_array(context, a)
        number = context.constant(value, optional_dtype(context, dtype) or found.dtype)
        sizes = found.shape if shape is None else shape_argument(context, name, shape)
        made = new_of(context, context.builder.full(sizes, number))
        return laid_out_like(context, made, (found,), is_elementwise=shape is None)

    return staged


def full(context: Context, shape: Value, fill_value: Value, dtype: Value = None) -> Value:
    """np.full"""
    found = as_array(context, fill_value)
    return _full(
        context,
        shape_argument(context, "np.full", shape),
        found,
        optional_dtype(context, dtype) or found.dtype,
    )


def full_like(
    context: Context, a: Value, fill_value: Value, dtype: Value = None, *, shape: Value = None
) -> Value:
    """np.full_like"""
    like = as_array(context, a)
    sizes = like.shape if shape is None else shape_argument(context, "np.full_like", shape)
    filling = as_array(context, fill_value)
    made = _full(context, sizes, filling, optional_dtype(context, dtype) or like.dtype)
    return laid_out_like(context, made, (like,), is_elementwise=shape is None)


def _full(context: Context, sizes: tuple[Size, ...], found: Staged, dtype: DType) -> Staged:
    if not found.shape:
        return new_of(context, context.builder.full(sizes, atom(context, found, dtype)))
    cast = context.wrap(atom(context, found, dtype))
    wide = as_array(context, broadcast_to(context, cast, tuple(size_value(context, size) for size in sizes)))
    return new_of(context, atom(context, wide))


# ---------------------------------------------------------------------------- counted
def arange(
    context: Context, start: Value, stop: Value = None, step: Value = None, dtype: Value = None
) -> Value:
    """np.arange: start, start + step, … before stop."""
    low, high = (0, start) if stop is None else (start, stop)
    given = [low, high, *([] if step is None else [step])]
    own, _ = promote(context, given, "np.arange")
    found = dtype_of(np.promote_types(own.numpy, np.int64), context.span)
    target = optional_dtype(context, dtype) or found
    if own is BOOL or target is BOOL:
        raise UnsupportedArgument("np.arange", "bools", context.span)
    if found.is_integer:
        return _whole_numbers(context, low, high, 1 if step is None else step, target)
    return _even_numbers(context, low, high, 1 if step is None else step, target)


def _whole_numbers(context: Context, low: Value, high: Value, step: Value, dtype: DType) -> Value:
    builder = context.builder
    first, last = as_size(context, low, "an integer"), as_size(context, high, "an integer")
    stride = as_size(context, step, "an integer")
    count = _count(context, first, last, stride)

    def place(inner: Builder, index: Var) -> Atom:
        return inner.convert(inner.apply("add", inner.apply("mul", index, stride), first), dtype)

    return context.wrap(builder.stack(count, place))


def _count(context: Context, first: Size, last: Size, stride: Size) -> Size:
    """max(0, ⌈(last - first) / stride⌉)"""
    builder = context.builder
    distance = builder.size("sub", last, first)
    if isinstance(stride, Const):
        if not stride.value:
            raise UnsupportedArgument("np.arange", "a step of 0", context.span)
        if stride.value == 1:
            return clamp_size(context, distance)
    else:
        require(context, builder.apply("ne", stride, i64(0)), "raise", "np.arange: the step is 0")
    quotient = builder.size("floordiv", builder.size("sub", i64(0), distance), stride)
    return clamp_size(context, builder.size("sub", i64(0), quotient))


def _even_numbers(context: Context, low: Value, high: Value, step: Value, dtype: DType) -> Value:
    """⌈(stop - start) / step⌉ numbers start + i·((start + step) - start), counted in float64 as NumPy's.

    The distance, the quotient and the second number are those of the types that the numbers have.
    """
    builder = context.builder
    ratio = apply_prim(context, "div", apply_prim(context, "sub", high, low), step, is_float=True)
    quotient = builder.apply("ceil", atom(context, ratio, F64))
    count = builder.convert(builder.apply("max", quotient, builder.constant(0.0, quotient)), I64)
    if isinstance(count, Var):
        context.nonnegative.add(count)
    start, second = (atom(context, one, dtype) for one in (low, apply_prim(context, "add", low, step)))
    delta = builder.sub(second, start)

    def place(inner: Builder, index: Var) -> Atom:
        return inner.add(start, inner.mul(inner.convert(index, dtype), delta))

    return context.wrap(builder.stack(count, place))


def linspace(
    context: Context, start: Value, stop: Value, num: Value = 50, endpoint: Value = True, dtype: Value = None
) -> Value:
    """np.linspace: start + i·(stop - start)/(num - 1), the last one exactly stop."""
    if any(as_array(context, value).shape for value in (start, stop)):
        raise UnsupportedArgument("np.linspace", "arrays as bounds", context.span)
    is_closed = static_flag(context, "np.linspace", "endpoint", endpoint)
    own, _ = promote(context, (start, stop, 0.0), "np.linspace")
    target = optional_dtype(context, dtype) or own
    builder = context.builder
    (count,) = shape_argument(context, "np.linspace", num)
    first, last = atom(context, start, own), atom(context, stop, own)
    intervals = builder.size("sub", count, i64(1)) if is_closed else count
    divisor = builder.convert(builder.apply("max", intervals, i64(1)), own)
    step = builder.div(builder.sub(last, first), divisor)
    has_end = builder.apply("gt", count, i64(1))

    def place(inner: Builder, index: Var) -> Atom:
        value = inner.add(inner.mul(inner.convert(index, own), step), first)
        if is_closed:
            is_last = inner.apply("and", inner.apply("eq", index, intervals), has_end)
            value = inner.select(is_last, last, value)
        return inner.convert(inner.apply("floor", value) if target.is_integer else value, target)

    return context.wrap(builder.stack(count, place))


# ---------------------------------------------------------------------------- copied
def new_array(
    context: Context, object: Value, dtype: Value = None, *, copy: Value = True, ndmin: Value = 0
) -> Value:
    """np.array: a copy, but for `copy=None` and `copy=False`, which raises where one would have to be made"""
    object = rows_of(context, object)
    least = static_int(context, "np.array", "ndmin", ndmin)
    if least:
        found = new_array(context, object, dtype, copy=copy)
        more = least - len(as_array(context, found).shape)
        return context.call(np.expand_dims, found, tuple(range(more))) if more > 0 else found
    if copy is None or not static_flag(context, "np.array", "copy", copy):
        found = same_array(context, object, dtype)
        if copy is None or found is object:
            return found
        raise UnsupportedArgument("np.array", "`copy=False` where a copy has to be made", context.span)
    return copied_as_laid_out(context, as_array(context, object, optional_dtype(context, dtype)))


def rows_of(context: Context, value: Value) -> Value:
    """A list of tuples of run-time length as the array of its rows; any other value as it is."""
    if not isinstance(value, RowList):
        return value

    def row(inner: Builder, index: Var) -> Atom:
        with context.filling(inner):
            return atom(context, as_array(context, row_item(context, value, index)))

    return context.wrap(context.builder.stack(value.extent, row))


def same_array(context: Context, a: Value, dtype: Value = None) -> Value:
    """np.asarray: the array itself, where it is one of that type."""
    a = rows_of(context, a)
    target = optional_dtype(context, dtype)
    found = plain(context, a)
    made = found if target is None else as_array(context, found, target)
    return made if isinstance(made, Array) else boxed(context, made.atom)


def contiguous(context: Context, a: Value, dtype: Value = None) -> Value:
    """np.ascontiguousarray: the array itself where it is contiguous, else a copy."""
    found = same_array(context, a, dtype)
    if isinstance(found, Array) and not found.shape:
        return reshaped_view(context, found, (i64(1),))
    if not isinstance(found, Array) or is_contiguous(found):
        return found
    if is_contiguous(found) is False:
        return copied(context, found)
    return copy_that_may_share(context, found, context.read(found))


def by_columns(context: Context, a: Value, dtype: Value = None) -> Value:
    """np.asfortranarray: the array itself where it is contiguous by columns, else a copy that is."""
    found = same_array(context, a, dtype)
    if not isinstance(found, Array) or len(found.shape) < 2:
        return contiguous(context, found)
    turned = transposed(context, found)
    made = contiguous(context, turned)
    return found if made is turned else transposed(context, made)


def copied(context: Context, a: Value, order: Value = "C") -> Value:
    """x.copy(): a cell of its own that holds the same; by columns it is laid out like a transposed one."""
    found = as_array(context, a)
    if isinstance(found, Array) and is_by_columns(context, "copy", found, order):
        return transposed(context, copied(context, transposed(context, found)))
    return new_of(context, context.read(found)) if isinstance(found, Array) else Scalar(found.atom)


def new_of(context: Context, found: Atom) -> Array:
    """A new array, also of no dimensions."""
    made = context.wrap(found)
    return made if isinstance(made, Array) else boxed(context, found)


def copied_as_laid_out(context: Context, a: Value, order: Value = "K") -> Value:
    """np.copy, np.array: a copy with the layout of what is copied."""
    if order in ("C", "F"):
        return copied(context, a, order)
    found = as_array(context, a)
    return laid_out_like(context, new_of(context, atom(context, found)), (found,), is_elementwise=True)


def vandermonde(
    context: Context,
    x: Value,
    N: Value = None,  # noqa: N803
    increasing: Value = False,
) -> Value:
    """np.vander: the powers of every element, of known number, each the product of the one before and x"""
    operand = atom(context, as_array(context, x))
    if len(operand.type.shape) != 1 or not isinstance(N, int) or N < 1:
        raise UnsupportedArgument(
            "np.vander", "a vector and a known number of columns are expected", context.span
        )
    rising = static_flag(context, "np.vander", "increasing", increasing)
    assert isinstance(operand, Var)
    dtype = dtype_of(np.promote_types(operand.type.dtype.numpy, np.int64), context.span)

    def place(inner: Builder, indices: tuple[Var, ...]) -> Atom:
        value = inner.convert(inner.index(operand, indices), dtype)
        powers = [inner.constant(1, value)]
        for _ in range(N - 1):
            powers.append(inner.mul(powers[-1], value))
        return inner.literal(powers if rising else powers[::-1])

    return context.wrap(built(context.builder, operand.type.shape, place))


CALLS: dict[Callable[..., object], StagedCall] = {
    np.zeros: filled("np.zeros", 0),
    np.ones: filled("np.ones", 1),
    np.empty: filled("np.empty", 0),
    np.zeros_like: filled_like("np.zeros_like", 0),
    np.ones_like: filled_like("np.ones_like", 1),
    np.empty_like: filled_like("np.empty_like", 0),
    np.full: full,
    np.full_like: full_like,
    np.arange: arange,
    np.linspace: linspace,
    np.array: new_array,
    np.asarray: same_array,
    np.asanyarray: same_array,
    np.ascontiguousarray: contiguous,
    np.asfortranarray: by_columns,
    np.copy: copied_as_laid_out,
    np.vander: vandermonde,
}

METHODS: dict[str, StagedCall] = {"copy": copied}
