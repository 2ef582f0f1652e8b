"""Arrays of indices: of triangles, diagonals and grids, and places in row-major order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from anadrome.array_ir.nodes import Const, i64
from anadrome.dtypes import I64, U64
from anadrome.errors.base import counted
from anadrome.errors.frontend import ShapeMismatch, UnsupportedArgument
from anadrome.frontend.arrays import as_array, atom, describe, promote
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.indexing import take as taken
from anadrome.frontend.library.common import own_shape, require, shape_argument, static_flag, static_int
from anadrome.frontend.sizes import agree, multiply_sizes, show_shape, size_value
from anadrome.frontend.values import Array, Staged, Value


# ---------------------------------------------------------------------------- triangles and diagonals
def lower_indices(context: Context, n: Value, k: Value = 0, m: Value = None) -> Value:
    """np.tril_indices: where a matrix of n rows is at or below a diagonal"""
    return context.call(np.nonzero, context.call(np.tri, n, m, k, bool))


def upper_indices(context: Context, n: Value, k: Value = 0, m: Value = None) -> Value:
    """np.triu_indices: where it is at or above a diagonal"""
    above = static_int(context, "np.triu_indices", "k", k)
    below = context.call(np.tri, n, m, above - 1, bool)
    return context.call(np.nonzero, context.call(np.logical_not, below))


def of_matrix(name: str, form: StagedCall) -> StagedCall:
    """np.tril_indices_from, np.triu_indices_from: of a matrix of that shape"""

    def staged(context: Context, arr: Value, k: Value = 0) -> Value:
        shape = own_shape(context, name, arr)
        if len(shape) != 2:
            raise UnsupportedArgument(name, f"{describe(arr)} where a matrix is expected", context.span)
        rows, columns = (size_value(context, size) for size in shape)
        return form(context, rows, k, columns)

    return staged


def diagonal_indices(context: Context, n: Value, ndim: Value = 2) -> Value:
    """np.diag_indices: 0, 1, …, n - 1 for each dimension"""
    steps = context.call(np.arange, n)
    return (steps,) * static_int(context, "np.diag_indices", "ndim", ndim)


def diagonal_indices_of(context: Context, arr: Value) -> Value:
    """np.diag_indices_from: of an array all sizes of which are one"""
    name = "np.diag_indices_from"
    shape = own_shape(context, name, arr)
    if len(shape) < 2:
        raise UnsupportedArgument(name, f"an array of {counted(len(shape), 'dimension')}", context.span)
    for size in shape[1:]:
        agree(context, shape[0], size, name)
    return diagonal_indices(context, size_value(context, shape[0]), len(shape))


# ---------------------------------------------------------------------------- grids
def grids(context: Context, name: str, dimensions: Value, dtype: Value) -> list[Value]:
    """For each dimension of a shape the array of that shape with the index along it."""
    if not isinstance(dimensions, tuple | list):
        raise UnsupportedArgument(name, f"the shape {describe(dimensions)}", context.span, "give a tuple")
    sizes = shape_argument(context, name, dimensions)
    whole = tuple(size_value(context, size) for size in sizes)
    call, found = context.call, []
    for axis, size in enumerate(whole):
        steps = call(np.reshape, call(np.arange, size, dtype=dtype), (-1,) + (1,) * (len(whole) - axis - 1))
        found.append(call(np.copy, call(np.broadcast_to, steps, whole)))
    return found


def indices(context: Context, dimensions: Value, dtype: Value = int, sparse: Value = False) -> Value:
    """np.indices: the indices along each dimension, stacked"""
    name = "np.indices"
    if static_flag(context, name, "sparse", sparse):
        raise UnsupportedArgument(name, "`sparse=True`", context.span, "use `np.ogrid`")
    return context.call(np.stack, grids(context, name, dimensions, dtype))


def from_function(
    context: Context, function: Value, shape: Value, *, dtype: Value = float, **kwargs: Value
) -> Value:
    """np.fromfunction: the function of the arrays of indices of a shape"""
    return context.call(function, *grids(context, "np.fromfunction", shape, dtype), **kwargs)


# ---------------------------------------------------------------------------- places in an order
def _strides(context: Context, name: str, shape: Value, order: Value) -> tuple[list[Value], list[Value]]:
    """The sizes, and how many places apart neighbours along each dimension are."""
    sizes = shape_argument(context, name, shape)
    if order not in ("C", "F"):
        raise UnsupportedArgument(name, f"order={order!r}", context.span, 'give `order="C"` or `order="F"`')
    rank = len(sizes)
    inner = [sizes[:axis] if order == "F" else sizes[axis + 1 :] for axis in range(rank)]
    steps = [size_value(context, multiply_sizes(context, one)) for one in inner]
    return [size_value(context, size) for size in sizes], steps


def _whole(context: Context, name: str, value: Value) -> Staged:
    """An array of integers, or an integer, as int64."""
    found = as_array(context, value)
    if not found.dtype.is_integer:
        raise UnsupportedArgument(name, f"{describe(value)} as indices", context.span, "give whole numbers")
    return as_array(context, found, I64)


def _require_all(context: Context, condition: Value, words: str) -> None:
    require(context, atom(context, context.call(np.all, condition)), "raise", f"ValueError: {words}")


def _is_inside(context: Context, index: Value, size: Value) -> Value:
    call = context.call
    return call(np.logical_and, call(np.greater_equal, index, 0), call(np.less, index, size))


def unravelled(context: Context, indices: Value, shape: Value, order: Value = "C") -> Value:
    """np.unravel_index: place // stride mod size, for each dimension"""
    name, call = "np.unravel_index", context.call
    sizes, steps = _strides(context, name, shape, order)
    places = _whole(context, name, indices)
    if not sizes and places.shape:
        raise UnsupportedArgument(name, f"{describe(indices)} as places of a number", context.span)
    count = size_value(context, multiply_sizes(context, shape_argument(context, name, shape)))
    _require_all(context, _is_inside(context, places, count), f"{name}: an index is out of bounds")
    return tuple(
        call(np.remainder, call(np.floor_divide, places, step), size)
        for size, step in zip(sizes, steps, strict=True)
    )


_MODES = ("raise", "wrap", "clip")


def within(context: Context, name: str, index: Staged, size: Value, mode: Value, words: str) -> Value:
    """An index that is made to be inside: checked, counted on from the other end, or moved to the nearest."""
    if mode not in _MODES:
        raise UnsupportedArgument(name, f"mode={mode!r}", context.span, "give `raise`, `wrap` or `clip`")
    if mode == "raise":
        _require_all(context, _is_inside(context, index, size), words)
        return index
    if mode == "wrap":
        return context.call(np.remainder, index, size)
    return context.call(np.clip, index, 0, context.call(np.subtract, size, 1))


def ravelled(
    context: Context, multi_index: Value, dims: Value, mode: Value = "raise", order: Value = "C"
) -> Value:
    """np.ravel_multi_index: Σ index · stride, of indices for each dimension that are broadcast"""
    name, call = "np.ravel_multi_index", context.call
    sizes, steps = _strides(context, name, dims, order)
    parts = [_whole(context, name, one) for one in items_of(context, name, multi_index, len(sizes))]
    modes = list(mode) if isinstance(mode, tuple | list) else [mode] * len(sizes)
    if len(parts) != len(sizes) or len(modes) != len(sizes) or not sizes:
        reason = f"{len(parts)} arrays of indices for {counted(len(sizes), 'dimension')}"
        raise UnsupportedArgument(name, reason, context.span)
    words = f"{name}: an index is out of bounds"
    total: Value = 0
    for part, size, step, own in zip(parts, sizes, steps, modes, strict=True):
        place = within(context, name, part, size, own, words)
        total = call(np.add, total, call(np.multiply, place, step))
    return total


def items_of(context: Context, name: str, value: Value, count: int | None = None) -> Sequence[Value]:
    """The items of a list or tuple, or of an array with as many as are known, or expected."""
    if isinstance(value, tuple | list):
        return value
    found = as_array(context, value)
    if isinstance(found, Array) and found.shape and count is not None:
        agree(context, found.shape[0], i64(count), name)
        return [taken(context, found, k) for k in range(count)]
    if not isinstance(found, Array) or not found.shape or not isinstance(found.shape[0], Const):
        raise UnsupportedArgument(name, f"{describe(value)} where a tuple is expected", context.span)
    return [taken(context, found, k) for k in range(int(found.shape[0].value))]


def sorted_by_keys(context: Context, keys: Value, axis: Value = -1) -> Value:
    """np.lexsort: the order by the last of several keys, where that is equal by the one before, and so on"""
    name, call = "np.lexsort", context.call
    parts = [as_array(context, one) for one in items_of(context, name, keys)]
    if not parts or not parts[0].shape:
        raise UnsupportedArgument(name, f"{describe(keys)} as keys", context.span, "give arrays of one shape")
    shape = parts[0].shape
    for part in parts[1:]:
        if len(part.shape) != len(shape):
            raise ShapeMismatch(name, show_shape(shape), show_shape(part.shape), context.span)
        for size, own in zip(shape, part.shape, strict=True):
            agree(context, size, own, name)
    order = call(np.argsort, parts[0], axis=axis)
    for part in parts[1:]:
        following = call(np.argsort, call(np.take_along_axis, part, order, axis=axis), axis=axis)
        order = call(np.take_along_axis, order, following, axis=axis)
    return order


# ---------------------------------------------------------------------------- one of several
def chosen(context: Context, a: Value, choices: Value, *, mode: Value = "raise") -> Value:
    """np.choose: of several arrays the element of that one which an index names, all broadcast"""
    name, call = "np.choose", context.call
    items = items_of(context, name, choices)
    if not items:
        raise UnsupportedArgument(name, "no choices", context.span)
    if as_array(context, a).dtype is U64:
        raise UnsupportedArgument(name, "indices of type uint64", context.span, "write `i.astype(np.int64)`")
    dtype, _ = promote(context, items, name)
    parts = [as_array(context, one, dtype) for one in items]
    index = within(context, name, _whole(context, name, a), len(parts), mode, f"{name}: no such choice")
    wide = call(np.broadcast_arrays, index, *parts)
    assert isinstance(wide, tuple)
    found = wide[-1]
    for k in reversed(range(len(parts) - 1)):
        found = call(np.where, call(np.equal, wide[0], k), wide[k + 1], found)
    return call(np.copy, found) if len(parts) == 1 else found


CALLS: dict[Callable[..., object], StagedCall] = {
    np.tril_indices: lower_indices,
    np.triu_indices: upper_indices,
    np.tril_indices_from: of_matrix("np.tril_indices_from", lower_indices),
    np.triu_indices_from: of_matrix("np.triu_indices_from", upper_indices),
    np.diag_indices: diagonal_indices,
    np.diag_indices_from: diagonal_indices_of,
    np.indices: indices,
    np.fromfunction: from_function,
    np.unravel_index: unravelled,
    np.ravel_multi_index: ravelled,
    np.choose: chosen,
    np.lexsort: sorted_by_keys,
}
