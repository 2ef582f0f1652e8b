"""Putting arrays together and taking them apart: concatenate, stack, split and their kin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import ArrayType, Atom, Const, Size, Var, i64
from anadrome.dtypes import DType
from anadrome.errors.frontend import ShapeMismatch, UnsupportedArgument
from anadrome.frontend.arrays import as_array, common_type
from anadrome.frontend.context import Context, StagedCall, dtype_of
from anadrome.frontend.indexing import take_items, whole
from anadrome.frontend.library.common import (
    array_var,
    axis_of,
    built,
    optional_dtype,
    static_flag,
    static_int,
)
from anadrome.frontend.library.shape import at_least, expand_dims, moveaxis, swapaxes
from anadrome.frontend.sizes import add_sizes, agree, show_shape
from anadrome.frontend.values import Array, Range, Value


def parts_of(context: Context, name: str, arrays: Value) -> list[Value]:
    """The arrays of a list or tuple, or the rows of an array of a known number of them."""
    if isinstance(arrays, list | tuple):
        if not arrays:
            raise UnsupportedArgument(name, "no arrays at all", context.span)
        return list(arrays)
    found = as_array(context, arrays)
    if not found.shape or not isinstance(found.shape[0], Const):
        raise UnsupportedArgument(name, "a list or tuple of arrays is expected", context.span)
    var = array_var(context, name, found)
    return [context.wrap(context.builder.index(var, (i64(k),))) for k in range(int(found.shape[0].value))]


def merged(context: Context, arrays: Value) -> Var | None:
    """A comprehension's list of arrays as one array, where its length is known at run time only."""
    if isinstance(arrays, Array) and len(arrays.shape) > 1 and not isinstance(arrays.shape[0], Const):
        return context.read(arrays)
    return None


def _run_together(context: Context, var: Var, dtype: Value) -> Value:
    """The rows of an array one after the other along their first axis."""
    first, second, *rest = var.type.shape
    joined = context.builder.reshape(var, (context.builder.size("mul", first, second), *rest))
    return as_array(context, context.wrap(joined), optional_dtype(context, dtype))


def concatenate(context: Context, arrays: Value, axis: Value = 0, *, dtype: Value = None) -> Value:
    """np.concatenate: the arrays one after the other along an axis."""
    rows = merged(context, arrays)
    if rows is not None and axis == 0:
        return _run_together(context, rows, dtype)
    return _joined(context, "np.concatenate", parts_of(context, "np.concatenate", arrays), axis, dtype)


def _joined(context: Context, name: str, values: Sequence[Value], axis: Value, dtype: Value = None) -> Value:
    parts = [as_array(context, value) for value in values]
    target = common_type(context, parts) if dtype is None else dtype_of(dtype, context.span)
    pieces = [array_var(context, name, part) for part in parts]
    if axis is None:
        pieces = [
            array_var(context, name, at_least("np.ravel", 1)(context, _flat(context, one))) for one in pieces
        ]
    along = 0 if axis is None else axis_of(context, name, axis, len(pieces[0].type.shape))
    shape = list(pieces[0].type.shape)
    for one in pieces[1:]:
        own = one.type.shape
        if len(own) != len(shape):
            raise ShapeMismatch(name, show_shape(tuple(shape)), show_shape(own), context.span)
        for position, size in enumerate(own):
            if position != along:
                words = (show_shape(tuple(shape)), show_shape(own))
                shape[position] = agree(context, shape[position], size, name, words)
    starts: list[Size] = [i64(0)]
    for one in pieces:
        starts.append(add_sizes(context, starts[-1], one.type.shape[along]))
    total = shape[along] = starts[-1]
    is_known = all(isinstance(one.type.shape[along], Const) for one in pieces)
    if is_known and isinstance(total, Const) and int(total.value) <= context.config.small_dimension:
        return context.wrap(_literal(context.builder, pieces, shape, along, target))

    def place(builder: Builder, indices: tuple[Var, ...]) -> Atom:
        return _choose(builder, pieces, starts, along, indices, target)

    return context.wrap(built(context.builder, shape, place))


def _flat(context: Context, var: Var) -> Value:
    count: Size = i64(1)
    for size in var.type.shape:
        count = context.builder.size("mul", count, size)
    return context.wrap(context.builder.reshape(var, (count,)))


def _choose(
    builder: Builder,
    pieces: Sequence[Var],
    starts: Sequence[Size],
    axis: int,
    indices: tuple[Atom, ...],
    dtype: DType,
) -> Atom:
    """The element of the piece that holds `indices`, found by halving the pieces."""
    if len(pieces) == 1:
        at = list(indices)
        at[axis] = builder.apply("sub", indices[axis], starts[0])
        return builder.convert(builder.index(pieces[0], at), dtype)
    half = len(pieces) // 2
    is_before = builder.apply("lt", indices[axis], starts[half])
    return builder.branch(
        is_before,
        lambda inner: (_choose(inner, pieces[:half], starts[: half + 1], axis, indices, dtype),),
        lambda inner: (_choose(inner, pieces[half:], starts[half:], axis, indices, dtype),),
    )[0]


def _literal(builder: Builder, pieces: Sequence[Var], shape: Sequence[Size], axis: int, dtype: DType) -> Var:
    """The result written out along a short axis: its parts stay in registers."""
    if not int(shape[axis].value):  # type: ignore[union-attr]
        full = builder.full(shape, number(0, dtype))
        assert isinstance(full, Var)
        return full

    def row(inner: Builder, outer: tuple[Var, ...]) -> Atom:
        elements = []
        for one in pieces:
            for k in range(int(one.type.shape[axis].value)):  # type: ignore[union-attr]
                elements.append(_typed_row(inner, one, (*outer, i64(k)), shape[axis + 1 :], dtype))
        return inner.literal(elements)

    if not axis:
        result = row(builder, ())
        assert isinstance(result, Var)
        return result
    return built(builder, shape[:axis], row)


def _typed_row(
    builder: Builder, piece: Var, at: tuple[Atom, ...], rest: Sequence[Size], dtype: DType
) -> Atom:
    """piece[at] with its elements converted and its sizes named as those of the result."""
    row = builder.index(piece, at)
    if row.type == ArrayType(dtype, tuple(rest)):
        return row
    return builder.build(
        rest, lambda inner, indices: inner.convert(inner.index(piece, (*at, *indices)), dtype)
    )


def stacked(context: Context, arrays: Value, axis: Value = 0, *, dtype: Value = None) -> Value:
    """np.stack: the arrays along a new axis."""
    rows = merged(context, arrays)
    if rows is not None:
        along = axis_of(context, "np.stack", axis, len(rows.type.shape))
        turned = moveaxis(context, context.wrap(rows), 0, along)
        return as_array(context, turned, optional_dtype(context, dtype))
    values = parts_of(context, "np.stack", arrays)
    parts = [as_array(context, value) for value in values]
    rank = len(parts[0].shape)
    for part in parts:
        if len(part.shape) != rank:
            raise ShapeMismatch("np.stack", show_shape(parts[0].shape), show_shape(part.shape), context.span)
    target = common_type(context, parts) if dtype is None else dtype_of(dtype, context.span)
    along = axis_of(context, "np.stack", axis, rank + 1)
    if not along:
        return as_array(context, parts, target)
    return _joined(
        context, "np.stack", [expand_dims(context, part, along) for part in parts], along, target.numpy
    )


def vertical(context: Context, tup: Value, *, dtype: Value = None) -> Value:
    """np.vstack: rows, or matrices, one below the other"""
    found = merged(context, tup)
    if found is not None:
        is_rows = len(found.type.shape) == 2
        together = context.wrap(found) if is_rows else _run_together(context, found, None)
        return as_array(context, together, optional_dtype(context, dtype))
    rows = [at_least("np.vstack", 2)(context, one) for one in parts_of(context, "np.vstack", tup)]
    return _joined(context, "np.vstack", rows, 0, dtype)


def horizontal(context: Context, tup: Value, *, dtype: Value = None) -> Value:
    """np.hstack: vectors one after the other, matrices side by side"""
    found = merged(context, tup)
    if found is not None and len(found.type.shape) == 2:
        return _run_together(context, found, dtype)
    parts = [at_least("np.hstack", 1)(context, one) for one in parts_of(context, "np.hstack", tup)]
    axis = 0 if len(as_array(context, parts[0]).shape) == 1 else 1
    return _joined(context, "np.hstack", parts, axis, dtype)


def columns(context: Context, tup: Value) -> Value:
    """np.column_stack: vectors as the columns of a matrix, matrices side by side"""
    rows = merged(context, tup)
    if rows is not None and len(rows.type.shape) == 2:
        return swapaxes(context, context.wrap(rows), 0, 1)
    parts: list[Value] = []
    for one in parts_of(context, "np.column_stack", tup):
        found = as_array(context, one)
        parts.append(
            found
            if len(found.shape) >= 2
            else expand_dims(context, at_least("np.column_stack", 1)(context, found), 1)
        )
    return _joined(context, "np.column_stack", parts, 1)


def appended(context: Context, arr: Value, values: Value, axis: Value = None) -> Value:
    """np.append: a concatenation of two, flattened where there is no axis"""
    if axis is None:
        parts = [at_least("np.append", 1)(context, one) for one in (arr, values)]
        return _joined(context, "np.append", parts, axis)
    return _joined(context, "np.append", (arr, values), axis)


# ---------------------------------------------------------------------------- apart
def split(context: Context, ary: Value, indices_or_sections: Value, axis: Value = 0) -> Value:
    """np.split into equal parts, or at known places: views."""
    found = as_array(context, ary)
    var = array_var(context, "np.split", found)
    assert isinstance(found, Array)
    along = axis_of(context, "np.split", axis, len(found.shape))
    size = found.shape[along]
    if isinstance(indices_or_sections, list | tuple):
        places = [static_int(context, "np.split", "indices_or_sections", one) for one in indices_or_sections]
        return split_at(context, found, along, _bounds(context, size, places))
    count = static_int(context, "np.split", "indices_or_sections", indices_or_sections)
    if count <= 0:
        raise UnsupportedArgument("np.split", f"{count} sections", context.span)
    part = context.builder.size("floordiv", var.type.shape[along], i64(count))
    agree(context, context.builder.size("mul", part, i64(count)), size, "np.split into equal parts")
    starts = [context.builder.size("mul", part, i64(k)) for k in range(count)]
    return split_at(context, found, along, [(start, part) for start in starts])


def _bounds(context: Context, size: Size, places: Sequence[int]) -> list[tuple[Size, Size]]:
    """(start, extent) of the parts between known places; a place beyond the end is the end."""
    if any(place < 0 for place in places) or list(places) != sorted(places):
        raise UnsupportedArgument("np.split", "places that do not rise from 0", context.span)
    builder = context.builder
    cuts = [i64(0), *(builder.size("min", i64(place), size) for place in places), size]
    return [(start, builder.size("sub", stop, start)) for start, stop in pairwise(cuts)]


def split_at(context: Context, found: Array, axis: int, bounds: Sequence[tuple[Size, Size]]) -> list[Array]:
    """The parts of an array along an axis, each from a start on and of an extent: views."""

    def part(start: Size, extent: Size) -> Array:
        items = [
            Range(start, i64(1), extent) if one == axis else whole(size)
            for one, size in enumerate(found.shape)
        ]
        return take_items(context, found, items)

    return [part(start, extent) for start, extent in bounds]


def split_along(axis: int) -> StagedCall:
    """np.vsplit, np.hsplit"""

    def staged(context: Context, ary: Value, indices_or_sections: Value) -> Value:
        rank = len(as_array(context, ary).shape)
        return split(context, ary, indices_or_sections, 0 if rank == 1 else axis)

    return staged


def meshgrid(context: Context, *xi: Value, indexing: Value = "xy", copy: Value = True) -> Value:
    """np.meshgrid: every vector along an axis of its own, as new arrays"""
    if not static_flag(context, "np.meshgrid", "copy", copy):
        help = "leave it out: the grids are then arrays of their own"
        raise UnsupportedArgument("np.meshgrid", "`copy=False` is not supported", context.span, help)
    if indexing not in ("xy", "ij"):
        raise UnsupportedArgument("np.meshgrid", f"indexing={indexing!r}", context.span)
    vectors = [array_var(context, "np.meshgrid", at_least("np.meshgrid", 1)(context, one)) for one in xi]
    if any(len(one.type.shape) != 1 for one in vectors):
        raise UnsupportedArgument("np.meshgrid", "vectors are expected", context.span)
    shape = [one.type.shape[0] for one in vectors]
    results: list[Value] = []
    for axis, one in enumerate(vectors):

        def place(inner: Builder, indices: tuple[Var, ...], one: Var = one, axis: int = axis) -> Atom:
            return inner.index(one, (indices[axis],))

        grid = context.wrap(built(context.builder, shape, place))
        results.append(swapaxes(context, grid, 0, 1) if indexing == "xy" and len(shape) > 1 else grid)
    return tuple(results)


CALLS: dict[Callable[..., object], StagedCall] = {
    np.concatenate: concatenate,
    np.stack: stacked,
    np.vstack: vertical,
    np.hstack: horizontal,
    np.column_stack: columns,
    np.append: appended,
    np.split: split,
    np.vsplit: split_along(0),
    np.hsplit: split_along(1),
    np.meshgrid: meshgrid,
}
