"""Order and search: sorting, gathering by index arrays, binary search, counting into bins, interpolation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Accumulate, Atom, Bounds, Const, Library, Part, Size, Var, i64
from anadrome.dtypes import F64, I64, DType
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.errors.runtime import INDEX_MESSAGE
from anadrome.frontend.arrays import as_array, atom, promote
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library.common import (
    array_var,
    as_strong,
    axis_of,
    built,
    permuted,
    require,
    shape_argument,
)
from anadrome.frontend.library.reductions import require_elements
from anadrome.frontend.library.shape import raveled
from anadrome.frontend.operators import element
from anadrome.frontend.sizes import agree, as_size, is_below, is_nonnegative, multiply_sizes
from anadrome.frontend.values import Value


# ---------------------------------------------------------------------------- sorting
def _last_axis(context: Context, name: str, a: Value, axis: Value) -> tuple[Var, int]:
    """The operand with the axis moved to the end, and where the axis was."""
    found = as_array(context, a)
    if axis is None:
        return array_var(context, name, raveled(context, found)), 0
    var = array_var(context, name, found)
    rank = len(var.type.shape)
    along = axis_of(context, name, axis, rank)
    return permuted(context.builder, var, [one for one in range(rank) if one != along] + [along]), along


def _back(context: Context, var: Var, along: int) -> Value:
    rank = len(var.type.shape)
    return context.wrap(permuted(context.builder, var, [*range(along), rank - 1, *range(along, rank - 1)]))


def argsort(context: Context, a: Value, axis: Value = -1) -> Value:
    """np.argsort: the indices that sort, equal elements in their order."""
    var, along = _last_axis(context, "np.argsort", a, axis)

    def place(builder: Builder, indices: tuple[Var, ...]) -> Atom:
        return _order(builder, _row(builder, var, indices))

    result = context.builder.build(var.type.shape[:-1], place)
    assert isinstance(result, Var)
    return _back(context, result, along)


def _row(builder: Builder, var: Var, indices: tuple[Var, ...]) -> Var:
    row = builder.index(var, indices)
    assert isinstance(row, Var)
    return row


def _order(builder: Builder, row: Var) -> Var:
    return builder.let_one(Library("argsort", (row,)))


def sort(context: Context, a: Value, axis: Value = -1) -> Value:
    """np.sort: a gather by argsort."""
    var, along = _last_axis(context, "np.sort", a, axis)

    def place(builder: Builder, indices: tuple[Var, ...]) -> Atom:
        row = _row(builder, var, indices)
        order = _order(builder, row)
        return builder.stack(
            row.type.shape[0], lambda inner, i: inner.index(row, (inner.index(order, (i,)),))
        )

    result = context.builder.build(var.type.shape[:-1], place)
    assert isinstance(result, Var)
    return _back(context, result, along)


def partition(context: Context, a: Value, kth: Value, axis: Value = -1) -> Value:
    """np.partition: sorted, which is one of the orders it may give"""
    return _partitioned(context, "np.partition", sort, a, kth, axis)


def argpartition(context: Context, a: Value, kth: Value, axis: Value = -1) -> Value:
    """np.argpartition: the indices that sort"""
    return _partitioned(context, "np.argpartition", argsort, a, kth, axis)


def _partitioned(context: Context, name: str, order: StagedCall, a: Value, kth: Value, axis: Value) -> Value:
    found = as_array(context, a)
    if axis is None:
        size = multiply_sizes(context, found.shape)
    else:
        size = found.shape[axis_of(context, name, axis, len(found.shape))]
    require_kth(context, name, kth, size)
    return order(context, a, axis)


def require_kth(context: Context, name: str, kth: Value, size: Size) -> None:
    """Check that each place which must be in order is one of the axis."""
    for one in kth if isinstance(kth, tuple | list) else (kth,):
        at = as_size(context, one, "an index")
        fitted, bounds = wrapped(context, context.builder, at, size)
        if bounds is Bounds.CHECKED:
            require_inside(context, fitted, size)


def require_inside(context: Context, index: Atom, size: Size) -> None:
    """Check an index that counts from 0."""
    builder = context.builder
    inside = builder.apply("and", builder.apply("ge", index, i64(0)), builder.apply("lt", index, size))
    require(context, inside, "index", INDEX_MESSAGE, (index, size))


# ---------------------------------------------------------------------------- gathering
def take(context: Context, a: Value, indices: Value, axis: Value = None) -> Value:
    """np.take: the elements (or slices along an axis) at the indices, negative ones counted from the end."""
    found = as_array(context, a)
    var = array_var(context, "np.take", raveled(context, found) if axis is None else found)
    along = 0 if axis is None else axis_of(context, "np.take", axis, len(found.shape))
    at = atom(context, as_array(context, indices))
    _require_integers(context, "np.take", at.type.dtype)
    rank = len(at.type.shape)
    shape = [*var.type.shape[:along], *at.type.shape, *var.type.shape[along + 1 :]]

    def place(builder: Builder, where: tuple[Var, ...]) -> Atom:
        own = where[along : along + rank]
        index = element(builder, at, at.type.shape, own)
        fitted, bounds = wrapped(context, builder, index, var.type.shape[along])
        return builder.index(var, (*where[:along], fitted, *where[along + rank :]), bounds)

    return context.wrap(context.builder.build(shape, place))


def _require_integers(context: Context, name: str, dtype: DType) -> None:
    """Refuse indices that are no integers."""
    if not dtype.is_integer:
        raise UnsupportedArgument(name, f"indices of type {dtype.numpy_name}", context.span)


def wrapped(context: Context, builder: Builder, index: Atom, size: Size) -> tuple[Atom, Bounds]:
    """An index with negative ones counted from the end, and whether it must be checked."""
    if isinstance(index, Const) and isinstance(size, Const):
        value = int(index.value)
        fitted = i64(value + int(size.value) if value < 0 else value)
        is_inside = 0 <= int(fitted.value) < int(size.value)
        return fitted, Bounds.PROVED if is_inside else Bounds.CHECKED
    plain = builder.convert(index, I64)
    if isinstance(plain, Var) and is_nonnegative(context, plain):
        return plain, Bounds.PROVED if is_below(context, plain, size) else Bounds.CHECKED
    is_negative = builder.apply("lt", plain, i64(0))
    return builder.select(is_negative, builder.apply("add", plain, size), plain), Bounds.CHECKED


def take_along_axis(context: Context, arr: Value, indices: Value, axis: Value = -1) -> Value:
    """np.take_along_axis: y[.., i, ..] = x[.., indices[.., i, ..], ..]"""
    name = "np.take_along_axis"
    var, at = array_var(context, name, arr), array_var(context, name, indices)
    _require_integers(context, name, at.type.dtype)
    if len(var.type.shape) != len(at.type.shape):
        raise UnsupportedArgument(
            name, "indices of as many dimensions as the array are expected", context.span
        )
    along = axis_of(context, name, axis, len(var.type.shape))
    for one, (left, right) in enumerate(zip(var.type.shape, at.type.shape, strict=True)):
        if one != along:
            agree(context, left, right, name)

    def place(builder: Builder, where: tuple[Var, ...]) -> Atom:
        fitted, bounds = wrapped(context, builder, builder.index(at, where), var.type.shape[along])
        return builder.index(var, (*where[:along], fitted, *where[along + 1 :]), bounds)

    return context.wrap(built(context.builder, at.type.shape, place))


# ---------------------------------------------------------------------------- binary search
def searchsorted(context: Context, a: Value, v: Value, side: Value = "left") -> Value:
    """np.searchsorted: how many elements of the sorted vector come before (or, `right`, not after) v."""
    if side not in ("left", "right"):
        raise UnsupportedArgument("np.searchsorted", f"side={side!r}", context.span)
    dtype, _ = promote(context, (as_array(context, a), as_strong(as_array(context, v))), "np.searchsorted")
    var = array_var(context, "np.searchsorted", a)
    if len(var.type.shape) != 1:
        raise UnsupportedArgument("np.searchsorted", "a sorted vector is expected", context.span)
    wanted = atom(context, as_array(context, v))
    steps = search_steps(context, var.type.shape[0])

    def place(builder: Builder, indices: tuple[Var, ...]) -> Atom:
        value = builder.convert(element(builder, wanted, wanted.type.shape, indices), dtype)
        return _search(builder, var, value, dtype, steps, side == "right")

    return context.wrap(context.builder.build(wanted.type.shape, place))


def search_steps(context: Context, size: Size) -> Size:
    """⌈log₂(n + 1)⌉: how often n + 1 possible answers can be halved."""
    if isinstance(size, Const):
        return i64(int(size.value).bit_length())
    builder = context.builder
    answers = builder.convert(builder.size("add", size, i64(1)), F64)
    return builder.convert(builder.apply("ceil", builder.apply("log2", answers)), I64)


def _search(builder: Builder, var: Var, value: Atom, dtype: DType, steps: Size, is_right: bool) -> Atom:
    """Halve [low, high): an element before the answer moves low past it, another one moves high to it."""
    size = var.type.shape[0]
    last = builder.apply("sub", size, i64(1))

    def body(inner: Builder, _: Var, carried: tuple[Var, ...]) -> tuple[Atom, ...]:
        low, high = carried
        middle = inner.apply("shr", inner.apply("add", low, high), i64(1))
        one = inner.convert(inner.index(var, (inner.apply("min", middle, last),)), dtype)
        is_before = inner.apply("not", _less(inner, value, one)) if is_right else _less(inner, one, value)
        is_open = inner.apply("lt", low, high)
        moves_low = inner.apply("and", is_open, is_before)
        moves_high = inner.apply("and", is_open, inner.apply("not", is_before))
        after = inner.apply("add", middle, i64(1))
        return inner.select(moves_low, after, low), inner.select(moves_high, middle, high)

    return builder.loop(steps, (i64(0), size), body)[0]


def interval_of(builder: Builder, places: Var, value: Atom, steps: Size) -> Atom:
    """The interval between rising places that a number is in, closed on the left; the nearest one outside,
    the last one for NaN. `steps` is what `search_steps` gives."""
    after = _search(builder, places, value, F64, steps, is_right=True)
    lower = builder.apply("max", builder.apply("sub", after, i64(1)), i64(0))
    before_last = builder.apply("max", builder.apply("sub", places.type.shape[0], i64(2)), i64(0))
    return builder.apply("min", lower, before_last)


def _less(builder: Builder, left: Atom, right: Atom) -> Atom:
    """The order of sorting: NaN comes last."""
    is_less = builder.apply("lt", left, right)
    if not left.type.dtype.is_float:
        return is_less
    is_last = builder.apply(
        "and", builder.apply("isnan", right), builder.apply("not", builder.apply("isnan", left))
    )
    return builder.apply("or", is_less, is_last)


def interpolate(
    context: Context,
    x: Value,
    xp: Value,
    fp: Value,
    left: Value = None,
    right: Value = None,
    period: Value = None,
) -> Value:
    """np.interp: the line through the points of x's interval, fp[k] + slope·(x - xp[k]); ends are held."""
    if period is not None:
        x, xp, fp = _folded(context, x, xp, fp, period)
        left = right = None
    places, heights = array_var(context, "np.interp", xp, F64), array_var(context, "np.interp", fp, F64)
    if len(places.type.shape) != 1 or len(heights.type.shape) != 1:
        raise UnsupportedArgument("np.interp", "vectors of places and heights are expected", context.span)
    size = agree(context, places.type.shape[0], heights.type.shape[0], "np.interp")
    require_elements(context, "np.interp", (size,), ())
    wanted = atom(context, as_array(context, x, F64))
    steps = search_steps(context, size)
    ends = [None if value is None else atom(context, value, F64) for value in (left, right)]

    def place(builder: Builder, indices: tuple[Var, ...]) -> Atom:
        value = element(builder, wanted, wanted.type.shape, indices)
        last = builder.apply("sub", size, i64(1))
        lower = interval_of(builder, places, value, steps)
        upper = builder.apply("min", builder.apply("add", lower, i64(1)), last)
        x_low, x_high, y_low, y_high = (
            builder.index(var, (at,)) for var in (places, heights) for at in (lower, upper)
        )
        slope = builder.div(builder.sub(y_high, y_low), builder.sub(x_high, x_low))
        inside = builder.add(builder.mul(slope, builder.sub(value, x_low)), y_low)
        inside = builder.select(builder.apply("eq", size, i64(1)), y_low, inside)
        first = builder.index(places, (i64(0),))
        end = builder.index(places, (last,))
        low_end = builder.index(heights, (i64(0),)) if ends[0] is None else ends[0]
        final = builder.index(heights, (last,))
        high_end = final if ends[1] is None else ends[1]
        result = builder.select(builder.apply("eq", value, end), final, inside)
        result = builder.select(builder.apply("gt", value, end), high_end, result)
        return builder.select(builder.apply("lt", value, first), low_end, result)

    return context.wrap(context.builder.build(wanted.type.shape, place))


def _folded(context: Context, x: Value, xp: Value, fp: Value, period: Value) -> tuple[Value, Value, Value]:
    """The places within one period, in order, with the last point before the first and the first after the
    last."""
    call = context.call
    length = call(np.abs, period)
    builder, size = context.builder, atom(context, length, F64)
    words = "ValueError: np.interp: the period must not be zero"
    require(context, builder.apply("ne", size, builder.constant(0.0, size)), "raise", words)
    places = call(np.remainder, as_array(context, xp, F64), length)
    order = call(np.argsort, places)
    places, heights = call(np.take, places, order), call(np.take, as_array(context, fp, F64), order)
    end, begin = (call(np.take, places, [at]) for at in (-1, 0))
    around = [call(np.subtract, end, length), places, call(np.add, begin, length)]
    closed = [call(np.take, heights, [-1]), heights, call(np.take, heights, [0])]
    within = call(np.remainder, as_array(context, x, F64), length)
    return within, call(np.concatenate, around), call(np.concatenate, closed)


# ---------------------------------------------------------------------------- bins
def bincount(context: Context, x: Value, weights: Value = None, minlength: Value = 0) -> Value:
    """np.bincount: how often each whole number stands in x, or the sum of the weights at its places."""
    at = array_var(context, "np.bincount", x)
    if not at.type.dtype.is_integer or len(at.type.shape) != 1:
        raise UnsupportedArgument("np.bincount", "a vector of whole numbers is expected", context.span)
    builder, extent = context.builder, at.type.shape[0]
    largest = builder.reduce("max", extent, lambda inner, i: inner.convert(inner.index(at, (i,)), I64))
    (least,) = shape_argument(context, "np.bincount", (minlength,))
    size = builder.apply("max", builder.apply("add", largest, i64(1)), least)
    assert isinstance(size, Var)
    context.nonnegative.add(size)
    amounts = None if weights is None else array_var(context, "np.bincount", weights, F64)
    if amounts is not None:
        if len(amounts.type.shape) != 1:
            raise UnsupportedArgument("np.bincount", "weights that are no vector", context.span)
        agree(context, extent, amounts.type.shape[0], "np.bincount")
    dtype = I64 if amounts is None else F64
    start = builder.full((size,), builder.constant(0, Const(0, dtype)))
    assert isinstance(start, Var)
    init = start

    def body(inner: Builder, index: Var) -> tuple[Part]:
        value: Atom = i64(1) if amounts is None else inner.index(amounts, (index,))
        place = inner.convert(inner.index(at, (index,)), I64)
        return (Accumulate.of("add", init, (place,), value, Bounds.CHECKED),)

    return context.wrap(builder.parfor(extent, body)[0])


CALLS: dict[Callable[..., object], StagedCall] = {
    np.sort: sort,
    np.argsort: argsort,
    np.partition: partition,
    np.argpartition: argpartition,
    np.take: take,
    np.take_along_axis: take_along_axis,
    np.searchsorted: searchsorted,
    np.interp: interpolate,
    np.bincount: bincount,
}


METHODS: dict[str, StagedCall] = {
    "argsort": argsort,
    "take": take,
    "searchsorted": searchsorted,
}
