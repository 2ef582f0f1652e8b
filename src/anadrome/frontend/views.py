"""Views: arrays that look into the storage of another.

A view is a shape and the place in its base of each of its elements. Reading, writing, and views of views
follow from that. NumPy decides by the layout in memory whether `reshape` and `ravel` look into their base or
copy it. Where only the run knows, the result may share memory with its base: it is read as a copy, and a
write to one makes the other unreadable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import ArrayType, Atom, Const, Size, Var, i64
from anadrome.dtypes import I64
from anadrome.errors.frontend import WritesArgument
from anadrome.frontend.context import Context
from anadrome.frontend.sizes import is_nonnegative, multiply_sizes
from anadrome.frontend.values import (
    BY_ROWS,
    UNKNOWN_LAYOUT,
    Array,
    Cell,
    Complex,
    Fixed,
    Item,
    Layout,
    Range,
    Region,
    Staged,
    Value,
    View,
    link,
)

At = Callable[[Builder, tuple[Atom, ...]], list[Atom]]
"""The indices of an element of a view -> its indices in what it looks into."""


def view_of(
    context: Context,
    base: Array,
    shape: Sequence[Size],
    at: At,
    layout: Layout = UNKNOWN_LAYOUT,
    is_writable: bool = True,
    read: Callable[[Builder, Var], Var] | None = None,
) -> Array:
    """The view of an array with `base[at(indices)]` everywhere; `read` makes the same in another way."""
    outer = base.view

    def through(var: Var) -> Var:
        source = var if outer is None else outer.read(var)
        if read is not None:
            return read(context.builder, source)
        result = context.builder.build(shape, lambda inner, indices: inner.index(source, at(inner, indices)))
        assert isinstance(result, Var)
        return result

    var = through(base.cell.var)
    context.read(base)
    writable = is_writable and (outer is None or outer.is_writable)
    place = joined(place_of(base), at)
    return Array(
        base.cell,
        View(base.cell.var, var, through, None, place, writable, layout, base.cell.exchanges),
        base.list_depth,
    )


def copy_that_may_share(context: Context, base: Array, var: Var) -> Array:
    """A copy that NumPy makes for some layouts in memory, and for others a view."""
    cell = Cell(var, context.scope)
    link(cell, (base.cell, *base.cell.partners))
    return Array(cell)


# ---------------------------------------------------------------------------- places
def place_of(array: Array) -> At | None:
    """Where in its cell each element of an array is; None for the cell itself."""
    view = array.view
    if view is None:
        return None
    return view.at if view.place is None else at_items(view.place)


def region_of(context: Context, array: Array) -> Region:
    """The part of its cell that an array is."""
    at = place_of(array)
    if at is None:
        return ()
    indices = tuple(Var("i", ArrayType(I64)) for _ in array.shape)
    return tuple(map(known_index, at(context.builder.child(), indices)))


def known_index(index: Atom) -> int | None:
    """An index that is known while compiling."""
    return int(index.value) if isinstance(index, Const) else None


def joined(outer: At | None, inner: At) -> At:
    """Where in the base of a view an element of a view of that view is."""
    if outer is None:
        return inner
    found = outer
    return lambda builder, indices: found(builder, tuple(inner(builder, indices)))


def at_items(items: Sequence[Item]) -> At:
    """Where an element of a slice is: each index, or start + step·index."""

    def at(builder: Builder, indices: tuple[Atom, ...]) -> list[Atom]:
        own = iter(indices)
        return [
            item.atom if isinstance(item, Fixed) else range_index(builder, item, next(own)) for item in items
        ]

    return at


def range_index(builder: Builder, item: Range, index: Atom) -> Atom:
    """start + step·index"""
    if item.is_whole:
        return index
    return builder.apply("add", item.start, builder.apply("mul", item.step, index))


def unraveled(context: Context, builder: Builder, index: Atom, shape: Sequence[Size]) -> tuple[Atom, ...]:
    """The indices of an element that stands at a place in row-major order."""
    if len(shape) == 1:
        return (index,)
    found: list[Atom] = []
    for axis, size in enumerate(shape):
        below = multiply_sizes(context, tuple(shape[axis + 1 :]))
        place = builder.apply("floordiv", index, below)
        found.append(builder.apply("mod", place, size) if axis else place)
    return tuple(found)


def raveled(context: Context, builder: Builder, indices: Sequence[Atom], shape: Sequence[Size]) -> Atom:
    """The place in row-major order of the element at some indices."""
    found: Atom = i64(0)
    for index, size in zip(indices, shape, strict=True):
        found = builder.apply("add", builder.apply("mul", found, size), index)
    return found


def at_reshaped(context: Context, source: Sequence[Size], target: Sequence[Size]) -> At:
    """Where the element of an array that was given another shape is; sizes of 1 come and go."""
    kept = [size for size in source if not _is_one(size)]
    if [size for size in target if not _is_one(size)] == kept:

        def same(builder: Builder, indices: tuple[Atom, ...]) -> list[Atom]:
            own = iter([index for index, size in zip(indices, target, strict=True) if not _is_one(size)])
            return [i64(0) if _is_one(size) else next(own) for size in source]

        return same
    return lambda builder, indices: list(
        unraveled(context, builder, raveled(context, builder, indices, target), source)
    )


def _is_one(size: Size) -> bool:
    return isinstance(size, Const) and size.value == 1


# ---------------------------------------------------------------------------- layout in memory
def layout_in_memory(array: np.ndarray) -> Layout:
    """Where the elements of a NumPy array are that is known while compiling."""
    order = tuple(np.argsort([-abs(step) for step in array.strides], kind="stable").tolist())
    is_dense = bool(array.transpose(order).flags.c_contiguous)
    return Layout(bool(array.flags.c_contiguous), order, is_dense)


def layout_of(array: Array) -> Layout:
    """What is known of an array's layout in memory."""
    return array.cell.layout if array.view is None else array.view.layout


def is_contiguous(array: Array) -> bool | None:
    """Whether the elements follow one another in memory in row-major order; None where only the run knows."""
    return layout_of(array).is_contiguous


def memory_order(array: Array) -> tuple[int, ...] | None:
    """The axes from the one with the largest stride in memory to that with the smallest, where known."""
    layout = layout_of(array)
    return tuple(range(len(array.shape))) if layout.is_contiguous else layout.order


def common_layout(arrays: Sequence[Array]) -> Layout:
    """The layout of what is one of these arrays, whichever it is."""
    layouts = {layout_of(array) for array in arrays}
    return layouts.pop() if len(layouts) == 1 else UNKNOWN_LAYOUT


def laid_out_like(
    context: Context, result: Staged, sources: Sequence[Value], is_elementwise: bool = False
) -> Staged:
    """A new array, which NumPy lays out in memory as those that it is computed from: an elementwise function
    in the order of their axes, any other one by rows where they all are."""
    arrays = [one.real if isinstance(one, Complex) else one for one in sources]
    orders = {
        layout_in_memory(one).order if isinstance(one, np.ndarray) else memory_order(one)
        for one in arrays
        if isinstance(one, Array | np.ndarray) and len(one.shape) > 1
    }
    if not isinstance(result, Array) or len(result.shape) < 2 or not orders:
        return result
    order = orders.pop() if len(orders) == 1 else None
    is_by_rows = all(one is not None and list(one) == sorted(one) for one in (order, *orders))
    if is_by_rows:
        result.cell.layout = BY_ROWS
    elif order is None or len(order) != len(result.shape) or not is_elementwise:
        result.cell.layout = UNKNOWN_LAYOUT
    else:
        result.cell.layout = dense_layout(context, result.shape, order)
    return result


def dense_layout(context: Context, shape: Sequence[Size], order: tuple[int, ...]) -> Layout:
    """The layout of elements without gaps in this order of the axes; axes of one element do not count."""
    wide = [axis for axis in order if not _is_one(shape[axis])]
    is_known = all(is_several(context, shape[axis]) for axis in wide)
    return Layout(True if wide == sorted(wide) else False if is_known else None, order, is_dense=True)


def sliced_layout(context: Context, base: Array, items: Sequence[object]) -> Layout:
    """The layout of a slice, whose axes are in the order of those of its base."""
    found, taken = memory_order(base), [item for item in items if isinstance(item, Range | Fixed)]
    order = None
    if found is not None and len(taken) == len(items):
        kept = [axis for axis, item in enumerate(items) if isinstance(item, Range)]
        kept += range(len(items), len(base.shape))
        order = tuple(kept.index(axis) for axis in found if axis in kept)
    elif found is not None and list(found) == sorted(found):
        fixed = sum(isinstance(item, Fixed) for item in items)
        order = tuple(range(len(base.shape) - fixed + len(items) - len(taken)))
    return Layout(_is_sliced_contiguous(context, is_contiguous(base), items), order)


def _is_sliced_contiguous(context: Context, base: bool | None, items: Sequence[object]) -> bool | None:
    """Whether a slice is contiguous: fixed indices, one range of step 1, then whole dimensions."""
    if base is not True:
        return None
    taken = list(items)
    while taken and isinstance(taken[-1], Range) and taken[-1].is_whole:
        taken.pop()
    is_open, found = False, True
    for item in taken:
        if not isinstance(item, Range | Fixed):
            continue  # a new axis
        is_gap = is_open or (isinstance(item, Range) and not _is_one(item.step))
        if is_gap and (isinstance(item, Fixed) or not item.is_whole):
            wide = [one for one in taken if isinstance(one, Range)]
            if not all(is_several(context, one.extent) for one in wide):
                return None
            found = False
        is_open = is_open or (isinstance(item, Range) and not _is_one(item.extent))
    return found


def permuted_layout(context: Context, array: Array, axes: Sequence[int]) -> Layout:
    """The layout of an array with its axes in another order."""
    base, found = layout_of(array), memory_order(array)
    wide = [axis for axis in axes if not _is_one(array.shape[axis])]
    order = None if found is None else tuple(list(axes).index(axis) for axis in found)
    if wide == sorted(wide):
        return Layout(base.is_contiguous, order, base.is_dense)
    if order is None or not base.is_dense:
        return Layout(None, order)
    return dense_layout(context, [array.shape[axis] for axis in axes], order)


def is_several(context: Context, size: Size) -> bool:
    """Whether a size is known to be at least 2."""
    return is_nonnegative(context, context.builder.size("sub", size, i64(2)))


# ---------------------------------------------------------------------------- known arrays
def refuse_write(context: Context, *arrays: np.ndarray) -> NoReturn:
    """One of these arrays, which are known while compiling, is written: what an operator has made of known
    arrays becomes an array of the run; one from outside the program is refused."""
    owners = [looked_through(array)[-1] for array in arrays]
    made = [one for one in owners if context.is_made(one)]
    context.grows(made[0] if made else None, WritesArgument(context.span))


def looked_through(array: np.ndarray) -> list[np.ndarray]:
    """An array, that into which it is a view, and so on to the one that holds the memory."""
    base = array.base
    return [array, *(looked_through(base) if isinstance(base, np.ndarray) else ())]
