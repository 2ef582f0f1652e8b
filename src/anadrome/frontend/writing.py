"""Writing `x[…] = v`: an element, a row, a slice, places given by an index array or a mask; views too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from anadrome.array_ir.build import Builder, as_var
from anadrome.array_ir.nodes import ArrayType, Atom, Bounds, Const, Part, Scatter, Size, Update, Var, i64
from anadrome.errors.base import counted
from anadrome.errors.frontend import (
    ReadOnly,
    ShapeMismatch,
    UnsupportedType,
    WritesThroughView,
)
from anadrome.errors.objects import StaleMerge
from anadrome.frontend.arrays import as_array, atom, convert, describe, type_of, variable_of
from anadrome.frontend.context import Context, dtype_of
from anadrome.frontend.heap import members
from anadrome.frontend.indexing import (
    Gather,
    Gathering,
    NewAxis,
    Selector,
    at_selectors,
    compose,
    gathering,
    is_mask,
    make_sure_inside,
    selectors,
)
from anadrome.frontend.operators import element, is_one
from anadrome.frontend.restarts import Restage
from anadrome.frontend.sizes import agree, multiply_sizes, show_shape
from anadrome.frontend.structures import can_refer, children, class_name
from anadrome.frontend.values import (
    Array,
    Cell,
    Fixed,
    Range,
    Region,
    Scope,
    ScopeKind,
    Value,
    View,
    link,
)
from anadrome.frontend.views import known_index, place_of, range_index, unraveled

SMALL_BLOCK = 36
"""The most elements of a block that are written one after the other, each by a statement."""
FEW_ROWS = 8
"""The most rows, each of which is a loop of its own."""

RAGGED = (
    "a list of rows of {0} and of {1} items, whose size only the run knows, is not supported: "
    "make the rows of one size"
)


def put(context: Context, array: Array, index: Value, value: Value) -> None:
    """`array[index] = value`"""
    is_item = not array.list_depth or (array.view is not None and _is_of_item(array.view))
    if array.cell.has_twins and is_item:
        help = "make a new array for each item, `[a.copy() for _ in range(n)]`"
        raise WritesThroughView("two items of this list may be one array", context.span, help)
    if array.list_depth:
        _fit_list(context, array, index, value)
    if is_mask(index) and _put_number(context, array, index, value):
        return
    found = selectors(context, array.shape, index)
    view = array.view
    if view is not None:
        context.read(array)
        if not view.is_writable:
            raise ReadOnly(context.span)
        is_empty = ArrayType(array.dtype, array.shape).is_empty
        taken = _elements_taken(context, found).shape if is_empty else ()
        if ArrayType(array.dtype, taken).is_empty:
            check_inside(context, array, found)
            _check_value(context, atom(context, value, array.dtype), taken)
            return
        items = [item for item in found if isinstance(item, Fixed | Range)]
        if view.place is None or len(items) != len(found):
            _put_elements(context, array, found, value)
            return
        found = list(compose(context, view.place, items))
    cell = array.cell
    base = context.read(Array(cell))
    stored = atom(context, value, base.type.dtype)
    is_shared = context.thread is not None and context.thread.holds(cell)
    replaced = _replaced(context, base, found, stored, is_shared)
    least_rank = len(array.shape) if array.list_depth else 0
    site = context.list_sites.get(cell)
    if cell.lists and cell.rank > least_rank and site is not None and site not in context.grown:
        raise Restage(site, StaleMerge("an item of a list", site, context.span))
    context.write(cell, replaced, least_rank=least_rank, region=_region(found))
    if array.list_depth and stored.type.shape:
        several = children(value) if isinstance(index, slice) else None
        for item in (value,) if several is None else several:
            becomes_item(context, cell, item)
        cell.exchanges += 1


def exchange_items(context: Context, items: Array, first: Fixed, second: Fixed) -> None:
    """`items[i], items[j] = items[j], items[i]` of a list of rows: each row stays one item of it."""
    before = context.read(Array(items.cell))
    builder, var = context.builder, before
    for target, source in ((first, second), (second, first)):
        row = builder.index(before, (source.atom,), _bounds([source]))
        var = builder.let_one(Update(var, (target.atom,), row, _bounds([target])))
    context.write(items.cell, var, least_rank=len(items.shape))
    items.cell.exchanges += 1


def _region(found: Sequence[Selector]) -> Region:
    """The part of an array that selectors take."""
    taken: list[int | None] = []
    for item in found:
        if isinstance(item, NewAxis):
            break
        taken.append(known_index(item.atom) if isinstance(item, Fixed) else None)
    return tuple(taken)


def becomes_item(context: Context, items: Cell, value: Value) -> None:
    """An array or list becomes an item of a list, which holds a copy of it: where one is written, the other
    cannot be read any more. One that may be an item twice cannot be written by the list."""
    if isinstance(value, Array):
        item = value.cell
        is_item = item is items or item in items.partners or item.has_twins
        items.has_twins |= is_item or _is_repeated(context, item.home)
        link(items, (item, *item.partners))
        return
    for part in children(value) or ():
        if isinstance(part, Array):
            becomes_item(context, items, part)
    objects_become_items(context, (items,), value)


def objects_become_items(context: Context, columns: Sequence[Cell], value: Value) -> None:
    """The same of the objects of Python's own in a value: those that lists hold copies of cannot change."""
    record = context.records.get(id(value))
    if record is not None:
        context.copied.update([class_name(value)] if can_refer(value) else [])
        record.items += 1
        context.made_items.append(record)
        for items in columns:
            is_repeated = record.is_merged or _is_repeated(context, record.home)
            items.has_twins |= record in items.lists or is_repeated
            items.lists.append(record)
    for part in members(value, record is not None) or ():
        objects_become_items(context, columns, part)


def _is_repeated(context: Context, home: Scope) -> bool:
    """Whether a loop repeats what is staged here, and finds there what was made in this scope."""
    for scope in context.scopes():
        if scope is home:
            return False
        if scope.kind is ScopeKind.LOOP:
            return True
    return False


def _fit_list(context: Context, array: Array, index: Value, value: Value) -> None:
    """Before an item of a list is exchanged: a list holds what is put into it, whatever its type."""
    if not isinstance(index, slice | tuple) and index is not Ellipsis:
        _check_item(context, array, value)
    if array.view is not None and not _is_of_item(array.view):
        raise WritesThroughView("an item of a list of the rows of an array is exchanged", context.span)
    base, dtype = context.read(Array(array.cell)), type_of(context, value)[0]
    joint = np.result_type(base.type.dtype.numpy, dtype.numpy)
    if joint != base.type.dtype.numpy:
        context.write(array.cell, as_var(convert(context, base, dtype_of(joint, context.span))))


def _is_of_item(view: View) -> bool:
    """Whether a view is an item of a list of lists, and no part of the list."""
    return any(isinstance(item, Fixed) for item in view.place or ())


def _check_item(context: Context, array: Array, value: Value) -> None:
    """An item of a list of rows is exchanged for another row, and no number fills one."""
    given, wanted = as_array(context, value).shape, array.shape[1:]
    if len(given) != len(wanted):
        was = f"{describe(value)}, where the others have {counted(len(wanted), 'dimension')}"
        raise UnsupportedType(
            "an item of a run-time list", was, context.span, "use an array, and fill its row"
        )
    words = (show_shape(given), show_shape(wanted))
    for left, right in zip(given, wanted, strict=True):
        agree(context, left, right, "an item of a run-time list", words, RAGGED)


def _put_elements(context: Context, array: Array, found: Sequence[Selector], value: Value) -> None:
    """`view[…] = value`, element by element in row-major order, each where it is in the base."""
    place, base = place_of(array), context.read(Array(array.cell))
    assert place is not None
    stored = atom(context, value, base.type.dtype)
    check_inside(context, array, found)
    taken = _elements_taken(context, found)
    _check_value(context, stored, taken.shape)
    axes = [item for item in found if not isinstance(item, NewAxis)]
    gathered = [axis for axis, item in enumerate(axes) if isinstance(item, Gather)]
    is_proved = taken.bounds is Bounds.PROVED
    builder, has_axes = context.builder, bool(base.type.shape)
    if all(map(is_one, taken.shape)):
        first = tuple(i64(0) for _ in taken.shape)
        only_own = tuple(taken.at(builder, first))
        for axis in () if is_proved else gathered:
            make_sure_inside(builder, only_own[axis], array.shape[axis])
        at = place(builder, only_own)
        only = element(builder, stored, taken.shape, first)
        result = builder.update(base, tuple(at), only, Bounds.PROVED) if has_axes else only
        context.write(array.cell, variable_of(context, result))
        return
    if not has_axes:  # its one element, which may be written several times or not at all
        base = as_var(builder.full((i64(1),), base))

    def body(inner: Builder, index: Var) -> Sequence[Part]:
        indices = unraveled(context, inner, index, taken.shape)
        own = tuple(taken.at(inner, indices))
        for axis in () if is_proved else gathered:
            make_sure_inside(inner, own[axis], array.shape[axis])
        at = place(inner, own) if has_axes else (i64(0),)
        return (Scatter.of(base, tuple(at), element(inner, stored, taken.shape, indices), Bounds.CHECKED),)

    (result,) = builder.parfor(multiply_sizes(context, taken.shape), body)
    context.write(array.cell, result if has_axes else variable_of(context, builder.index(result, (i64(0),))))


def _elements_taken(context: Context, found: Sequence[Selector]) -> Gathering:
    """The shape of what selectors take, and where each element of it is."""
    if any(isinstance(item, Gather) for item in found):
        return gathering(context, found)
    shape = tuple(
        i64(1) if isinstance(item, NewAxis) else item.extent
        for item in found
        if isinstance(item, NewAxis | Range)
    )
    return Gathering(shape, at_selectors(found), Bounds.PROVED)


def check_inside(context: Context, array: Array, found: Sequence[Selector]) -> None:
    """An index outside of a view may be inside its base: it is checked against the view."""
    sizes = iter(array.shape)
    for item in found:
        if isinstance(item, NewAxis):
            continue
        size = next(sizes)
        if isinstance(item, Fixed) and not item.is_proved:
            make_sure_inside(context.builder, item.atom, size)


def _put_number(context: Context, array: Array, index: Value, value: Value) -> bool:
    """x[mask] = number: the number where the mask holds. Any other write through a mask is a scatter."""
    mask = as_array(context, index)
    stored = atom(context, value, array.dtype)
    if stored.type.shape or array.view is not None or len(mask.shape) != len(array.shape):
        return False
    assert isinstance(mask, Array)
    base, condition = context.read(array), context.read(mask)
    words = (show_shape(mask.shape), show_shape(array.shape))
    for left, right in zip(mask.shape, array.shape, strict=True):
        agree(context, left, right, "mask", words)

    def place(inner: Builder, indices: tuple[Var, ...]) -> Atom:
        return inner.select(inner.index(condition, indices), stored, inner.index(base, indices))

    result = context.builder.build(base.type.shape, place)
    assert isinstance(result, Var)
    context.write(array.cell, result)
    return True


# ---------------------------------------------------------------------------- the array with places replaced
def _replaced(
    context: Context, base: Var, found: Sequence[Selector], value: Atom, is_shared: bool = False
) -> Var:
    """The array with places replaced; one that other threads see is written where it is, even whole."""
    taken = list(found)
    while len(taken) > is_shared and isinstance(taken[-1], Range) and taken[-1].is_whole:
        taken.pop()
    if any(isinstance(item, Gather) for item in taken):
        return _scatter_gathered(context, base, taken, value)
    shape = _target_shape(context, base, taken)
    bounds = _bounds(taken)
    if all(isinstance(item, Fixed) for item in taken):
        row = _stretched(context, value, shape)
        if not taken:
            return variable_of(context, row)
        indices = tuple(item.atom for item in taken if isinstance(item, Fixed))
        return context.builder.let_one(Update(base, indices, row, bounds))
    _check_value(context, value, shape)
    taken, shape = _as_long_as(value, taken, shape)
    if _is_small_block(base, taken, shape):
        return _written_out(context, base, [], taken, value, shape, bounds)
    return _scatter(context.builder, context, base, taken, value, shape, bounds)


def _target_shape(context: Context, base: Var, taken: Sequence[Selector]) -> tuple[Size, ...]:
    rest = base.type.shape[sum(1 for item in taken if not isinstance(item, NewAxis)) :]
    own: list[Size] = []
    for item in taken:
        match item:
            case Range(extent=extent):
                own.append(extent)
            case Gather():
                raise AssertionError("index arrays have a shape of their own")
            case NewAxis():
                raise WritesThroughView("an index with a new axis", context.span)
            case Fixed():
                pass
    return (*own, *rest)


def _bounds(taken: Sequence[Selector]) -> Bounds:
    is_proved = all(item.is_proved for item in taken if isinstance(item, Fixed))
    return Bounds.PROVED if is_proved else Bounds.CHECKED


def _check_value(context: Context, value: Atom, shape: tuple[Size, ...]) -> None:
    own = value.type.shape
    words = (show_shape(shape), show_shape(own))
    if len(own) > len(shape):
        raise ShapeMismatch("assignment", *words, context.span)
    for left, right in zip(shape[len(shape) - len(own) :], own, strict=True):
        if not is_one(right):
            agree(context, left, right, "assignment", words)


def _stretched(context: Context, value: Atom, shape: tuple[Size, ...]) -> Atom:
    """The value broadcast to the shape of its place, under exactly that type."""
    _check_value(context, value, shape)
    if value.type == ArrayType(value.type.dtype, shape):
        return value
    if not value.type.shape:
        return context.builder.full(shape, value)
    same_rank = len(value.type.shape) == len(shape)
    if same_rank and not any(
        is_one(a) and not is_one(b) for a, b in zip(value.type.shape, shape, strict=True)
    ):
        assert isinstance(value, Var)
        return context.builder.reshape(value, shape)
    return context.builder.build(shape, lambda inner, indices: element(inner, value, shape, indices))


def _scatter(
    builder: Builder,
    context: Context,
    base: Var,
    taken: Sequence[Selector],
    value: Atom,
    shape: tuple[Size, ...],
    bounds: Bounds,
) -> Var:
    """One scatter per slice, outermost first; an inner slice is scattered into the row taken out.

    x[a:b, c] = v:      parfor i < b - a { yield scatter x at (a + i, c) v[i] }
    x[a:b, c:d] = v:    parfor i < b - a { r = x[a + i]; s = (r with [c:d] = v[i]);
                                           yield scatter x at a + i s }
    """
    first = next(p for p, item in enumerate(taken) if isinstance(item, Range))
    item = taken[first]
    assert isinstance(item, Range)
    before = [one.atom for one in taken[:first] if isinstance(one, Fixed)]
    after = list(taken[first + 1 :])

    def body(inner: Builder, index: Var) -> Sequence[Part]:
        at: list[Atom] = [*before, range_index(inner, item, index)]
        part = _part(inner, value, shape, index)
        if all(isinstance(one, Fixed) for one in after):
            at += [one.atom for one in after if isinstance(one, Fixed)]
            with context.filling(inner):
                row = _stretched(context, part, shape[1:])
        else:
            old = inner.index(base, at, bounds)
            assert isinstance(old, Var)
            row = _scatter(inner, context, old, after, part, shape[1:], bounds)
        return (Scatter.of(base, tuple(at), row, bounds),)

    (result,) = builder.parfor(item.extent, body)
    return result


def _as_long_as(
    value: Atom, taken: Sequence[Selector], shape: tuple[Size, ...]
) -> tuple[list[Selector], tuple[Size, ...]]:
    """The selectors and the shape of a place, where slices that were found to be as long as the value have
    the extents that are known of it."""
    skipped, axis = len(shape) - len(value.type.shape), 0
    found, sizes = list(taken), list(shape)
    for position, item in enumerate(taken):
        if isinstance(item, Range):
            own = value.type.shape[axis - skipped] if axis >= skipped else None
            if isinstance(own, Const) and not is_one(own):
                found[position], sizes[axis] = replace(item, extent=own), own
            axis += 1
    return found, tuple(sizes)


def _is_small_block(base: Var, taken: Sequence[Selector], shape: tuple[Size, ...]) -> bool:
    """Whether few elements of an array of more than one dimension, or few rows of one of unknown size, are
    replaced, known while compiling: one after the other, where it lies. A nest of scatters would copy it.
    (An array as small as that becomes numbers.)"""
    extents = [item.extent for item in taken if isinstance(item, Range)]
    counts = [extent.value for extent in extents if isinstance(extent, Const)]
    sizes = [size.value for size in base.type.shape if isinstance(size, Const)]
    is_known, has_rows = len(sizes) == len(base.type.shape), len(extents) < len(shape)
    if (
        len(shape) < 2
        or len(counts) < len(extents)
        or (is_known and (has_rows or prod(sizes) <= SMALL_BLOCK))
    ):
        return False
    return prod(counts) <= (FEW_ROWS if has_rows else SMALL_BLOCK)


def _written_out(
    context: Context,
    base: Var,
    before: Sequence[Atom],
    taken: Sequence[Selector],
    value: Atom,
    shape: tuple[Size, ...],
    bounds: Bounds,
) -> Var:
    """An update for each row or element. `before`: where in the array they are, in front of what is taken."""
    builder = context.builder
    if not taken:
        return builder.update(base, before, _stretched(context, value, shape), bounds)
    item, *rest = taken
    match item:
        case Fixed(atom=atom):
            return _written_out(context, base, [*before, atom], rest, value, shape, bounds)
        case Range(extent=Const(value=extent)):
            for k in range(int(extent)):
                place = [*before, range_index(builder, item, i64(k))]
                part = _part(builder, value, shape, i64(k))
                base = _written_out(context, base, place, rest, part, shape[1:], bounds)
            return base
        case _:
            raise AssertionError("a small block has known extents, and no index arrays")


def _part(builder: Builder, value: Atom, shape: tuple[Size, ...], index: Atom) -> Atom:
    """The part of a value that meets the first index of the shape it is broadcast to."""
    if len(value.type.shape) < len(shape):
        return value
    assert isinstance(value, Var)
    return builder.index(value, (i64(0) if is_one(value.type.shape[0]) and not is_one(shape[0]) else index,))


def _scatter_gathered(context: Context, base: Var, taken: Sequence[Selector], value: Atom) -> Var:
    """x[i] = v, x[i, j] = v, x[:, i] = v with index arrays: the last writer of a place wins, as in NumPy.

    One scatter of the elements (or, behind the selectors, of rows) in row-major order of the places.
    """
    found = gathering(context, taken)
    rest = base.type.shape[sum(1 for item in taken if not isinstance(item, NewAxis)) :]
    shape = (*found.shape, *rest)
    _check_value(context, value, shape)
    rank = len(found.shape)

    def body(inner: Builder, index: Var) -> Sequence[Part]:
        indices = unraveled(context, inner, index, found.shape)
        part = value
        if len(value.type.shape) > len(rest):
            assert isinstance(value, Var)
            skipped = len(shape) - len(value.type.shape)
            own = value.type.shape[: rank - skipped]
            part = inner.index(
                value,
                [
                    i64(0) if is_one(size) and not is_one(shape[skipped + axis]) else indices[skipped + axis]
                    for axis, size in enumerate(own)
                ],
            )
        with context.filling(inner):
            row = _stretched(context, part, rest)
        return (Scatter.of(base, tuple(found.at(inner, indices)), row, found.bounds),)

    (result,) = context.builder.parfor(multiply_sizes(context, found.shape), body)
    return result
