"""Arrays put together and taken apart at places: blocks, uneven parts, elements inserted and left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import TRUE, Atom, Bounds, Const, Size, Var, i64
from anadrome.dtypes import BOOL, I64
from anadrome.errors.base import counted
from anadrome.errors.frontend import StaticCallFailed, UnsupportedArgument
from anadrome.frontend.arrays import as_array, describe, promote
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.indexing import take as taken
from anadrome.frontend.library.common import array_var, axis_of, built, static_int
from anadrome.frontend.library.joining import split, split_at
from anadrome.frontend.library.order import require_inside, wrapped
from anadrome.frontend.library.shape import moveaxis, raveled
from anadrome.frontend.operators import is_one
from anadrome.frontend.sizes import agree, as_size, size_value
from anadrome.frontend.structures import has_staged
from anadrome.frontend.values import Array, Scalar, Staged, Value, is_staged
from anadrome.frontend.writing import put


# ---------------------------------------------------------------------------- put together
def block(context: Context, arrays: Value) -> Value:
    """np.block: the innermost lists are joined along the last axis, those around them along the one before"""
    depth = _depth(context, arrays)
    rank = max(depth, *(len(as_array(context, leaf).shape) for leaf in _leaves(arrays)))

    def joined(part: Value, level: int) -> Value:
        if level == depth:
            return (
                context.call(np.copy, _of_rank(context, "np.block", part, rank))
                if not depth
                else _of_rank(context, "np.block", part, rank)
            )
        assert isinstance(part, list)
        return context.call(np.concatenate, [joined(one, level + 1) for one in part], axis=level - depth)

    return joined(arrays, 0)


def _depth(context: Context, part: Value) -> int:
    """How many lists are around each array, which must be as many for all."""
    if not isinstance(part, list):
        if isinstance(part, tuple):
            raise UnsupportedArgument("np.block", "a tuple among the blocks", context.span, "use lists")
        return 0
    depths = {_depth(context, one) for one in part}
    if len(depths) != 1:
        reason = "an empty list among the blocks" if not depths else "blocks in lists of different depths"
        raise UnsupportedArgument("np.block", reason, context.span)
    return depths.pop() + 1


def _leaves(part: Value) -> list[Value]:
    return [leaf for one in part for leaf in _leaves(one)] if isinstance(part, list) else [part]


def _of_rank(context: Context, name: str, value: Value, rank: int) -> Value:
    """An array with dimensions of 1 in front of its own, of which it has no more than so many."""
    found = as_array(context, value)
    if len(found.shape) > rank:
        reason = f"values of {counted(len(found.shape), 'dimension')}, and there are {rank}"
        raise UnsupportedArgument(name, reason, context.span)
    sizes = tuple(size_value(context, size) for size in found.shape)
    return context.call(np.reshape, found, ((1,) * (rank - len(sizes)) + sizes)) if rank else found


def open_mesh(context: Context, *args: Value) -> Value:
    """np.ix_: vectors of indices, each along an axis of its own"""
    found: list[Value] = []
    for axis, one in enumerate(args):
        vector = as_array(context, one)
        if len(vector.shape) != 1:
            raise UnsupportedArgument("np.ix_", "vectors of indices are expected", context.span)
        at = context.call(np.flatnonzero, vector) if vector.dtype is BOOL else vector
        sizes = tuple(-1 if other == axis else 1 for other in range(len(args)))
        found.append(context.call(np.reshape, at, sizes))
    return tuple(found)


def joined_by_index(context: Context, owner: Value, key: Value) -> Value:
    """np.r_[…], np.c_[…]: arrays, numbers and ranges in one row, or as columns"""
    name = "np.c_" if owner is np.c_ else "np.r_"
    parts = list(key) if isinstance(key, tuple) else [key]
    if any(isinstance(part, str) for part in parts):
        raise UnsupportedArgument(name, "a directive in quotes", context.span, "use np.concatenate")
    found = [_range(context, name, part) if isinstance(part, slice) else part for part in parts]
    dtype, _ = promote(context, tuple(found), name)  # a Python number takes the type of the arrays
    found = [as_array(context, part, dtype) for part in found]
    if owner is np.c_:
        columns = [_as_column(context, part) for part in found]
        return context.call(np.concatenate, columns, axis=-1)
    return context.call(np.concatenate, [context.call(np.atleast_1d, part) for part in found])


def grid_by_index(context: Context, owner: Value, key: Value) -> Value:
    """np.mgrid[…], np.ogrid[…]: the numbers of ranges, each along a dimension of its own"""
    is_open = getattr(owner, "sparse", False)
    name = "np.ogrid" if is_open else "np.mgrid"
    parts = key if isinstance(key, tuple) else (key,)
    ranges = [_range(context, name, part) for part in parts if isinstance(part, slice)]
    if len(ranges) != len(parts):
        raise UnsupportedArgument(name, "an index that is no range", context.span, "write `0:n`")
    if not isinstance(key, tuple):
        return ranges[0]
    if is_open:
        return open_mesh(context, *ranges)
    grids = context.call(np.meshgrid, *ranges, indexing="ij")
    assert isinstance(grids, tuple)
    return context.call(np.stack, list(grids))


def index_expression(context: Context, owner: Value, item: Value) -> Value:
    """np.s_[…], np.index_exp[…]: the index itself, as a tuple by the latter"""
    is_tuple = isinstance(item, tuple) or not getattr(owner, "maketuple", False)
    return item if is_tuple else (item,)


def _range(context: Context, name: str, part: slice) -> Value:
    start, stop = 0 if part.start is None else part.start, part.stop
    if stop is None:
        raise UnsupportedArgument(name, "a range without an end", context.span)
    if isinstance(part.step, complex):
        return context.call(np.linspace, start, stop, int(abs(part.step)))
    return context.call(np.arange, start, stop, 1 if part.step is None else part.step)


def _as_column(context: Context, part: Value) -> Value:
    found = as_array(context, part)
    return context.call(np.reshape, found, (-1, 1)) if len(found.shape) < 2 else found


# ---------------------------------------------------------------------------- taken apart
def array_split(context: Context, ary: Value, indices_or_sections: Value, axis: Value = 0) -> Value:
    """np.array_split: parts of which the first have one element more where they cannot be equal; views"""
    if isinstance(indices_or_sections, list | tuple):
        return split(context, ary, indices_or_sections, axis)
    name = "np.array_split"
    found, count = (
        as_array(context, ary),
        static_int(context, name, "indices_or_sections", indices_or_sections),
    )
    if count <= 0 or not isinstance(found, Array):
        raise UnsupportedArgument(name, f"{count} sections of {describe(ary)}", context.span)
    along = axis_of(context, name, axis, len(found.shape))
    builder, size = context.builder, found.shape[along]
    part = builder.size("floordiv", size, i64(count))
    extra = builder.size("sub", size, builder.size("mul", part, i64(count)))

    def start(k: int) -> Size:
        return builder.size("add", builder.size("mul", part, i64(k)), builder.size("min", i64(k), extra))

    bounds = [(start(k), builder.size("sub", start(k + 1), start(k))) for k in range(count)]
    return split_at(context, found, along, bounds)


# ---------------------------------------------------------------------------- left out
def delete(context: Context, arr: Value, obj: Value, axis: Value = None) -> Value:
    """np.delete: one element, or those at several places, of a slice or where a mask holds, left out"""
    name = "np.delete"
    found, along = _along(context, name, arr, axis)
    size = found.shape[along]
    if _is_place(obj):
        return _without(context, name, found, along, obj)
    if _is_nothing(obj):
        return context.call(np.copy, found)
    if isinstance(size, Const) and not has_staged(obj) and not _has_staged_ends(obj):
        context.surroundings.whole(obj)
        try:
            kept = np.delete(np.arange(int(size.value)), obj)  # type: ignore[call-overload]
        except (IndexError, ValueError) as error:
            raise StaticCallFailed("`np.delete`", error, context.span) from error
        return context.call(np.take, found, kept, axis=along)
    steps = context.call(np.arange, size_value(context, size))
    assert isinstance(steps, Array)
    at = as_array(context, taken(context, steps, obj) if isinstance(obj, slice) else obj)
    if at.dtype is BOOL:
        return context.call(np.compress, context.call(np.logical_not, at), found, axis=along)
    if not at.dtype.is_integer:
        raise UnsupportedArgument(name, f"{describe(obj)} as places", context.span, "give it whole numbers")
    mask = context.wrap(context.builder.full((size,), TRUE))
    assert isinstance(mask, Array)
    put(context, mask, at, False)
    return context.call(np.compress, mask, found, axis=along)


def _along(context: Context, name: str, arr: Value, axis: Value) -> tuple[Array, int]:
    """The array, as a vector where no axis is named, and the axis."""
    own = as_array(context, arr)
    found = as_array(context, raveled(context, own)) if axis is None else own
    if not isinstance(found, Array) or not found.shape:
        raise UnsupportedArgument(name, "a number where an array is expected", context.span)
    return found, 0 if axis is None else axis_of(context, name, axis, len(found.shape))


def _is_place(obj: Value) -> bool:
    """Whether an argument is one index."""
    if isinstance(obj, Scalar):
        return obj.dtype is not BOOL
    return isinstance(obj, int | np.integer) and not isinstance(obj, bool)


def _is_nothing(obj: Value) -> bool:
    """Whether places are an empty list, which NumPy takes to be one of whole numbers."""
    return isinstance(obj, list | tuple) and not obj


def _has_staged_ends(obj: Value) -> bool:
    return isinstance(obj, slice) and any(is_staged(one) for one in (obj.start, obj.stop, obj.step))


def _place(context: Context, name: str, obj: Value, size: Size, is_end_too: bool = False) -> Atom:
    """An index counted from 0, checked to be inside; the end is one where something is put in."""
    fitted, bounds = wrapped(context, context.builder, as_size(context, obj), size)
    limit = context.builder.size("add", size, i64(1)) if is_end_too else size
    if bounds is Bounds.CHECKED:
        require_inside(context, fitted, limit)
    return fitted


def _without(context: Context, name: str, found: Array, along: int, obj: Value) -> Value:
    """The array without one index of an axis."""
    var, place = context.read(found), _place(context, name, obj, found.shape[along])
    shape = list(found.shape)
    left = context.builder.size("sub", shape[along], i64(1))
    shape[along] = context.builder.size("max", left, i64(0)) if isinstance(left, Const) else left

    def at(inner: Builder, indices: tuple[Var, ...]) -> Atom:
        is_later = inner.apply("ge", indices[along], place)
        source = inner.apply("add", indices[along], inner.convert(is_later, I64))
        return inner.index(var, (*indices[:along], source, *indices[along + 1 :]))

    return context.wrap(built(context.builder, shape, at))


# ---------------------------------------------------------------------------- put in
def insert(context: Context, arr: Value, obj: Value, values: Value, axis: Value = None) -> Value:
    """np.insert: values before an index, or before each of several"""
    name = "np.insert"
    found, along = _along(context, name, arr, axis)
    given = as_array(context, values, found.dtype)
    if isinstance(obj, slice):
        steps = context.call(np.arange, size_value(context, found.shape[along]))
        assert isinstance(steps, Array)
        obj = taken(context, steps, obj)
    if _is_place(obj):
        # what the values are along the first axis, they are along this one
        block = moveaxis(context, _of_rank(context, name, given, len(found.shape)), 0, along)
        return _with_block(context, name, found, along, obj, block)
    if _is_nothing(obj):
        return context.call(np.copy, found)
    at = as_array(context, obj)
    at = as_array(context, context.call(np.flatnonzero, at)) if at.dtype is BOOL else at
    if len(at.shape) != 1 or not at.dtype.is_integer:
        raise UnsupportedArgument(name, f"{describe(obj)} as places", context.span, "give it whole numbers")
    if is_one(at.shape[0]):
        block = _of_rank(context, name, given, len(found.shape))
        return _with_block(context, name, found, along, context.call(np.take, at, 0), block)
    return _with_each(context, found, along, at, given)


def _with_block(context: Context, name: str, found: Array, along: int, obj: Value, block: Value) -> Value:
    """All values before one index."""
    builder = context.builder
    place = _place(context, name, obj, found.shape[along], is_end_too=True)
    values, var = array_var(context, name, block), context.read(found)
    count = values.type.shape[along]
    shape = list(found.shape)
    for one, (size, own) in enumerate(zip(shape, values.type.shape, strict=True)):
        if one != along and not is_one(own):
            agree(context, own, size, name)
    shape[along] = builder.size("add", shape[along], count)
    last_value, last = _last(builder, count), _last(builder, found.shape[along])

    def at(inner: Builder, indices: tuple[Var, ...]) -> Atom:
        index = indices[along]
        past = inner.apply("sub", index, place)
        is_new = inner.apply("and", inner.apply("ge", past, i64(0)), inner.apply("lt", past, count))
        # an index that is not wanted is kept inside
        inside = inner.apply("min", inner.apply("max", past, i64(0)), last_value)
        source = inner.select(inner.apply("lt", index, place), index, inner.apply("sub", index, count))
        source = inner.apply("min", inner.apply("max", source, i64(0)), last)
        own = [
            inside if one == along else i64(0) if is_one(size) else indices[one]
            for one, size in enumerate(values.type.shape)
        ]
        return _one_of(inner, is_new, (values, own), (var, (*indices[:along], source, *indices[along + 1 :])))

    return context.wrap(built(builder, shape, at))


def _last(builder: Builder, size: Size) -> Atom:
    return builder.size("max", builder.size("sub", size, i64(1)), i64(0))


def _one_of(
    builder: Builder,
    condition: Atom,
    then: tuple[Var, Sequence[Atom]],
    other: tuple[Var, Sequence[Atom]],
) -> Atom:
    """An element of one of two arrays, of which the one that is not read may be empty."""
    (found,) = builder.branch(
        condition,
        lambda inner: (inner.index(then[0], tuple(then[1])),),
        lambda inner: (inner.index(other[0], tuple(other[1])),),
    )
    return found


def _with_each(context: Context, found: Array, along: int, at: Staged, given: Staged) -> Value:
    """A value before each of several indices: where the new ones stand follows from their order."""
    call = context.call
    size = size_value(context, found.shape[along])
    front = as_array(context, moveaxis(context, found, along, 0))
    places = call(np.where, call(np.less, at, 0), call(np.add, at, size), at)
    order = call(np.argsort, places)
    count = size_value(context, at.shape[0])
    ranks = call(np.zeros, count, np.int64)
    assert isinstance(ranks, Array)
    put(context, ranks, order, call(np.arange, count))
    final = call(np.add, places, ranks)
    total = size_value(context, context.builder.size("add", found.shape[along], at.shape[0]))
    is_new = call(np.zeros, total, bool)
    assert isinstance(is_new, Array)
    put(context, is_new, final, True)
    result = call(
        np.zeros, (total, *(size_value(context, one) for one in front.shape[1:])), found.dtype.numpy
    )
    assert isinstance(result, Array)
    put(context, result, call(np.logical_not, is_new), front)
    values = moveaxis(context, given, along, 0) if len(given.shape) == len(found.shape) else given
    put(context, result, final, values)
    return moveaxis(context, result, 0, along)


CALLS: dict[Callable[..., object], StagedCall] = {
    np.block: block,
    np.ix_: open_mesh,
    np.array_split: array_split,
    np.delete: delete,
    np.insert: insert,
    type(np.r_).__getitem__: joined_by_index,
    type(np.s_).__getitem__: index_expression,
    type(np.mgrid).__getitem__: grid_by_index,
}
