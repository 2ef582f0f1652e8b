"""Lists whose length is known at run time only: an array for each leaf of a row, and how many rows count.

The arrays have room for more rows than there are. Outside of loops and branches a list that grows gets
larger arrays. What a loop or branch carries keeps its shape, so the outermost of them makes room before it
begins, for as many rows as its text can append: the product of the trip counts around each `append`. Where
these are not known before the loop, it is staged twice: first it counts, then it stores. The first has no use
for the rows. Where what it counts depends on them, as with a list of what is still to do, room is tried: its
size is a hidden parameter of the program, and a call that finds it too small runs again with more.

A row that is an array is an object that other names may have as well. It is stored as a copy, which is right
as long as nobody writes into either; a write into one makes the other unreadable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import (
    ArrayType,
    Atom,
    Check,
    Const,
    Part,
    Size,
    Stack,
    Var,
    i64,
)
from anadrome.dtypes import I64
from anadrome.errors.frontend import (
    StaticCallFailed,
    UnknownRoom,
    UnsupportedType,
)
from anadrome.frontend.arrays import as_array, atom, convert, describe, undecided, weakness
from anadrome.frontend.complex_numbers.parts import complex_of, has_complex, is_complex
from anadrome.frontend.context import Context
from anadrome.frontend.drawing import check_tried, tried_room
from anadrome.frontend.indexing import take_inside, take_items, whole
from anadrome.frontend.iterables import Iterated, size_of
from anadrome.frontend.restarts import COUNTED, TRIED, TRIES_ROOMS, RestartGrown
from anadrome.frontend.rooms import is_outside, put_rows, widened
from anadrome.frontend.rows import (
    refuse_made,
    refuse_shared_list,
    row_leaves,
    row_like,
    row_parts,
)
from anadrome.frontend.run_time_lists import (
    ONE_LENGTH,
    GrowingList,
    RowType,
    counting_loop,
    inside,
    joint_row,
    keep_last,
    recent,
    refuse_counted,
)
from anadrome.frontend.sharing import aliases
from anadrome.frontend.sizes import as_size, retype, show_shape
from anadrome.frontend.structures import RowList, first_maybe, flatten
from anadrome.frontend.values import (
    Array,
    Complex,
    Range,
    Scalar,
    Scope,
    ScopeKind,
    Value,
    is_staged,
    link,
)
from anadrome.frontend.writing import RAGGED, becomes_item, objects_become_items


def growing_list(context: Context, items: Sequence[Value]) -> GrowingList:
    """A new list of these items: an array of each leaf of them, which holds those of all items at once.

    [(w, b), (w1, b1)]      columns [[w, w1], [b, b1]]
    """
    made = GrowingList()
    context.made(made)
    rows: list[list[Value]] = []
    joint: RowType | None = None
    for item in items:
        leaves, row = row_of(context, context.seen(item))
        joint = joint_row(context, joint, row)
        rows.append(leaves)
    if joint is None:
        return made
    columns: list[Array] = []
    for place, type_ in enumerate(joint.types):
        parts = [_as_row(context, leaves[place], type_) for leaves in rows]
        column = context.wrap(context.builder.literal(parts))
        assert isinstance(column, Array)
        for leaves in rows:
            if isinstance(leaves[place], Array):
                becomes_item(context, column.cell, leaves[place])
        columns.append(Array(column.cell, None, 1 + joint.depths[place]))
    made.columns, made.row, made.length = tuple(columns), joint, len(rows)
    for item in items:
        _keep(context, made, item)
    return made


def repeated(context: Context, items: Sequence[Value], times: Scalar) -> GrowingList:
    """`[…] * n` with an n that only the run knows: the items again and again."""
    made = growing_list(context, items)
    count, columns = len(items), list[Array]()
    builder = context.builder
    extent = builder.size("max", builder.size("mul", as_size(context, times), i64(count)), i64(0))
    for column in made.columns:
        var = context.read(column)

        def row(inner: Builder, index: Var, var: Var = var) -> Atom:
            return inner.index(var, (inner.apply("mod", index, i64(count)),))

        if len(var.type.shape) > 1:
            raise UnsupportedType(
                "a list that is repeated",
                "a list of arrays, which would all be one",
                context.span,
                "make a new array for each item: `[np.zeros(3) for _ in range(n)]`",
            )
        found = context.wrap(builder.stack(extent, row))
        assert isinstance(found, Array)
        found.cell.holds_items_of((column.cell,))
        found.cell.has_twins |= bool(column.cell.lists)
        columns.append(Array(found.cell, None, column.list_depth))
    made.columns, made.length = tuple(columns), size_of(extent)
    return made


def plain_list(context: Context, value: Value) -> Value:
    """A list of run-time length as the values that it holds now; any other value as it is."""
    return as_value(context, value) if isinstance(value, GrowingList) else value


def is_list(value: Value) -> bool:
    """Whether Python knows a value as a list."""
    return isinstance(value, list | GrowingList) or (
        isinstance(value, Array | Complex) and value.list_depth > 0
    )


def list_as_array(context: Context, value: Value) -> Value:
    """A list of numbers, or of arrays of one shape, as an array that Python knows as a list."""
    value = plain_list(context, value)
    if not isinstance(value, list):
        return value
    value = complex_of(context, value) if has_complex(value) else as_array(context, value)
    return Array(value.cell, value.view, 1) if isinstance(value, Array) else value


def without_growing(context: Context, value: Value) -> Value:
    """A value with the lists of run-time length in it as the values that they hold now."""
    leaves, rebuild = flatten(value, lambda leaf: isinstance(leaf, GrowingList))
    return rebuild(iter([plain_list(context, leaf) for leaf in leaves])) if leaves else value


# ---------------------------------------------------------------------------- rows
def row_of(context: Context, value: Value) -> tuple[list[Value], RowType]:
    """The leaves of a row, and what it is."""
    refuse_shared_list(context, value)
    given, maybe = value, first_maybe(value)
    if maybe is not None:
        raise undecided(maybe, context.span, "an item of a run-time list")
    items = flatten(value, is_staged)[0] if isinstance(value, list) else ()
    is_callers = isinstance(value, list) and id(value) not in context.records
    value = list_as_array(context, value)
    if is_complex(value):
        value = complex_of(context, value)
    for part in flatten(value, is_staged)[0] if is_callers else ():
        if isinstance(part, Array):
            part.cell.is_argument = True  # a write into the row would be one into the list
    for part in flatten(value, is_staged)[0] if items else ():
        if isinstance(part, Array):
            link(part.cell, aliases(items))  # the row of a list of views sees what they look into
    inside, like = row_parts(context), row_like(context)
    refuse_made(context, value)
    arrays, whole = flatten(value, lambda leaf: isinstance(leaf, np.ndarray), inside, like)
    if arrays:
        value = whole(iter([as_array(context, array) for array in arrays]))
    leaves, rebuild = row_leaves(context, value)
    if not leaves or isinstance(value, RowList):
        raise UnsupportedType("an item of a run-time list", describe(value), context.span)
    types: list[ArrayType] = []
    for leaf in leaves:
        own = atom(context, leaf).type
        assert isinstance(own, ArrayType)
        types.append(own)
    weak = tuple(weakness(leaf) for leaf in leaves)
    depths = tuple(leaf.list_depth if isinstance(leaf, Array) else 0 for leaf in leaves)
    objects_become_items(context, (), given)
    return leaves, RowType(tuple(types), weak, depths, rebuild, value, inside)


# ---------------------------------------------------------------------------- room
def append(context: Context, owner: GrowingList, value: Value) -> None:
    """Append a copy of an item."""
    outermost = outermost_scope(context, owner)
    leaves, row = row_of(context, value)
    joint = joint_row(context, owner.row, row)
    if outermost is not None and outermost.is_counting:
        _count(context, owner, outermost, joint, i64(1))
        keep_last(context, owner, row.rebuild(iter(leaves)))
        return
    if outermost is None:
        _make_room(context, owner, joint, i64(1))
    else:
        _ask_room(context, owner, outermost, joint, i64(1))
    _store(context, owner, owner.length, leaves, is_new=True)
    _keep(context, owner, value)
    context.change(owner, "a list, by `append`,", "length")
    owner.length = _sum(context, owner.length, i64(1))


def _keep(context: Context, owner: GrowingList, value: Value) -> None:
    """Say that a list holds a copy of what was put into it; of arrays `put_row` has said so."""
    objects_become_items(context, [column.cell for column in owner.columns], value)


def outermost_scope(context: Context, owner: GrowingList) -> Scope | None:
    """The outermost loop or branch between here and the scope in which a list was made."""
    home = context.records[id(owner)].home
    found = None
    for scope in context.scopes():
        if scope is home:
            break
        if scope.kind in (ScopeKind.LOOP, ScopeKind.BRANCH):
            found = scope
    return found


SPARE = 16
"""Room for so many rows more than were counted: the loop that stores them may round in another way."""


def _check_room(context: Context, owner: GrowingList, outermost: Scope, more: Size) -> None:
    """Where rows were counted, or room for them is tried: the program checks that there is room for what is
    stored."""
    room = outermost.room.get(owner)
    if room not in (COUNTED, TRIED):
        return
    builder = context.builder
    needed = builder.size("add", atom(context, owner.length, I64), more)
    if room == TRIED:
        check_tried(context, needed, owner.columns[0].shape[0], owner.tried)
        return
    fits = builder.apply("le", needed, owner.columns[0].shape[0])
    message = "RuntimeError: a list gets more items than its loop has counted; its end depends on rounding"
    builder.let(Check(fits, "raise", message))


def _ask_room(context: Context, owner: GrowingList, outermost: Scope, row: RowType, more: Size) -> None:
    """Make sure that the loop or branch has made room for what is appended here, of this type."""
    used = outermost.appended.get(owner, 0)
    known = owner.row
    fits = known is not None and [one.dtype for one in known.types] == [one.dtype for one in row.types]
    if not fits or used >= outermost.room.get(owner, 0):
        raise RestartGrown(outermost, owner, row, _bound(context, outermost, more))
    outermost.appended[owner] = used + 1
    _check_room(context, owner, outermost, more)


def _count(context: Context, owner: GrowingList, outermost: Scope, row: RowType, more: Size) -> None:
    """Count rows that are appended, and store none."""
    outermost.counted[owner] = joint_row(context, outermost.counted.get(owner), row)  # type: ignore[arg-type]
    for part in ("length", "count"):
        context.change(owner, "a list, by `append`,", part)
        setattr(owner, part, _sum(context, getattr(owner, part), more))


def make_counted_room(
    context: Context, counted: Mapping[object, object], counts: Mapping[object, Value]
) -> None:
    """Before a loop begins whose rows were counted: room for so many."""
    for owner, row in counted.items():
        assert isinstance(owner, GrowingList) and isinstance(row, RowType)
        owner.last = ()
        more = context.builder.size("add", as_size(context, counts[owner]), i64(SPARE))
        _make_room(context, owner, joint_row(context, owner.row, row), more)


def _bound(context: Context, outermost: Scope, more: Size) -> Size | None:
    """How many rows are appended here at most while the outermost scope runs once; None where nothing says
    so, and room is tried."""
    trips: list[Size | None] = []
    for scope in context.scopes():
        if scope.kind is ScopeKind.LOOP:
            trips.append(scope.trip)
        if scope is outermost:
            break
    found = more
    for extent in (more, *trips):
        if extent is None or not is_outside(outermost, extent):
            if TRIES_ROOMS in context.grown:
                return None
            raise UnknownRoom(context.span, outermost)
    for extent in trips:
        assert extent is not None
        with context.reopened(outermost.parent or outermost):
            found = context.builder.size("mul", found, extent)
    return found


def make_room(context: Context, stopped: RestartGrown) -> None:
    """Before a loop or branch begins: room for what it may append to a list."""
    owner = stopped.owner
    assert isinstance(owner, GrowingList) and isinstance(stopped.row, RowType)
    more = stopped.bound
    if more is None:
        owner.tried, more = tried_room(context)
    _make_room(context, owner, joint_row(context, owner.row, stopped.row), more)


def _make_room(context: Context, owner: GrowingList, row: RowType, more: Size) -> None:
    """Larger arrays, which hold the rows that there are, under a type that holds those to come."""
    old = owner.columns
    here: Size = old[0].shape[0] if old else i64(0)
    capacity = context.builder.size("add", here, more)
    sizes = [size for type_ in row.types for size in type_.shape if isinstance(size, Var)]
    if any(not any(scope.builder.binds(size) for scope in context.scopes()) for size in sizes):
        raise UnknownRoom(context.span, None)
    columns: list[Array] = []
    for position, type_ in enumerate(row.types):
        target = ArrayType(type_.dtype, (capacity, *type_.shape))
        made = context.wrap(_copied(context, old[position], target) if old else context.builder.zeros(target))
        assert isinstance(made, Array)
        if old:
            link(made.cell, (old[position].cell, *old[position].cell.partners))
            made.cell.holds_items_of((old[position].cell,))
        columns.append(Array(made.cell, None, 1 + row.depths[position]))
    context.change(owner, "a list", "columns")
    owner.columns, owner.row = tuple(columns), row


def _copied(context: Context, old: Array, type_: ArrayType) -> Atom:
    """The rows of an array, and zeros behind them."""
    var = convert(context, context.read(old), type_.dtype)
    assert isinstance(var, Var)
    return widened(context.builder, var, type_)


def _store(
    context: Context, owner: GrowingList, index: Value, leaves: Sequence[Value], is_new: bool = False
) -> None:
    """Put the leaves of a row at an index that is known to be inside."""
    place = atom(context, index, I64)
    for column, leaf in zip(owner.columns, leaves, strict=True):
        put_row(context, column, place, leaf, is_new)


def put_row(context: Context, column: Array, place: Atom, leaf: Value, is_new: bool) -> None:
    """column[place] = leaf; a new row is no change that anybody else could see."""
    base = context.read(Array(column.cell))
    stored = _as_row(context, leaf, ArrayType(base.type.dtype, base.type.shape[1:]))
    rank = len(base.type.shape)  # items themselves stay what they are
    context.write(column.cell, context.builder.update(base, (place,), stored), is_new, least_rank=rank)
    if isinstance(leaf, Array):
        becomes_item(context, column.cell, leaf)
        column.cell.exchanges += not is_new


def _as_row(context: Context, leaf: Value, row: ArrayType) -> Atom:
    """A leaf of an item as a row of the array that holds it."""
    found = atom(context, leaf, row.dtype)
    if isinstance(found, Var) and found.type.shape:
        sizes = [(one, two) for one, two in zip(found.type.shape, row.shape, strict=False) if one != two]
        if any(isinstance(one, Const) and isinstance(two, Const) for one, two in sizes):
            what = f"of shape {show_shape(found.type.shape)} beside one of shape {show_shape(row.shape)}"
            raise UnsupportedType("an item of a run-time list", what, context.span, ONE_LENGTH)
        return retype(context, found, row, "a row of a list", RAGGED)
    return found


def _sum(context: Context, length: Value, more: Size) -> Value:
    if isinstance(length, int) and isinstance(more, Const):
        return length + int(more.value)
    return size_of(context.builder.size("add", atom(context, length, I64), more))


# ---------------------------------------------------------------------------- reading
def as_value(context: Context, owner: GrowingList) -> Value:
    """The rows that count, for whoever reads them all: views of the arrays."""
    refuse_counted(context, owner)
    if not owner.columns or owner.row is None:
        empty: list[Value] = []
        context.made(empty)
        return empty
    extent = as_size(context, owner.length)
    columns = [_counted(context, column, extent) for column in owner.columns]
    found = owner.row.rebuild(iter(columns))
    if len(columns) == 1 and found is columns[0]:
        return found
    return (
        found
        if is_complex(found)
        else RowList(tuple(columns), owner.row.rebuild, owner.row.example, owner.row.inside)
    )


def _counted(context: Context, column: Array, extent: Size) -> Array:
    """The rows of an array that count."""
    if extent is column.shape[0] or extent == column.shape[0]:
        return column
    taken = Range(i64(0), i64(1), extent)
    found = take_items(context, column, [taken, *(whole(size) for size in column.shape[1:])])
    return Array(found.cell, found.view, column.list_depth)


def iterated(context: Context, owner: GrowingList) -> Iterated:
    """The rows in order; the list must not grow while they are gone over."""
    extent = as_size(context, owner.length)
    before = owner.length

    def item(inner: Context, index: Atom) -> Value:
        if owner.length is not before and not (
            isinstance(before, int) and isinstance(owner.length, int) and owner.length == before
        ):
            raise UnsupportedType(
                "what a loop goes over",
                "a list that the loop changes",
                inner.span,
                "go over a copy: `list(x)`",
            )
        return row_at(inner, owner, index)

    return Iterated(extent, item)


def row_at(context: Context, owner: GrowingList, index: Atom) -> Value:
    """The row at an index that is known to be inside."""
    refuse_counted(context, owner)
    assert owner.row is not None
    leaves: list[Value] = []
    for column, is_weak in zip(owner.columns, owner.row.weak, strict=True):
        found = take_inside(context, column, index)
        leaves.append(Scalar(found.atom, is_weak) if isinstance(found, Scalar) else found)
    return owner.row.rebuild(iter(leaves))


def get_item(context: Context, owner: GrowingList, index: Value) -> Value:
    """`list[index]`"""
    counting = counting_loop(context, owner)
    if counting is not None:
        return recent(context, owner, counting, index)
    if not owner.columns:
        raise StaticCallFailed("this index", IndexError("list index out of range"), context.span)
    return row_at(context, owner, inside(context, owner, index))


def set_item(context: Context, owner: GrowingList, index: Value, value: Value) -> None:
    """`list[index] = value`"""
    refuse_counted(context, owner)
    if not owner.columns or owner.row is None:
        raise StaticCallFailed("this assignment", IndexError("list index out of range"), context.span)
    leaves, row = row_of(context, value)
    joint = joint_row(context, owner.row, row)
    outermost = outermost_scope(context, owner)
    if [type_.dtype for type_ in joint.types] != [type_.dtype for type_ in owner.row.types]:
        if outermost is not None:
            raise RestartGrown(outermost, owner, joint, i64(0), is_longer=False)
        _make_room(context, owner, joint, i64(0))
    place = inside(context, owner, index)
    for column, leaf in zip(owner.columns, leaves, strict=True):
        put_row(context, column, place, leaf, is_new=False)
    _keep(context, owner, value)


def append_all(context: Context, owner: GrowingList, source: Iterated) -> None:
    """Append the items of a run-time sequence, all at once."""
    rows: list[tuple[Sequence[Value], RowType]] = []

    def taken(inner: Builder, index: Var) -> Sequence[Part]:
        with context.filling(inner):
            leaves, row = row_of(context, source.item(context, index))
            rows.append((leaves, row))
            return [Stack.of(atom(context, leaf)) for leaf in leaves]

    found = context.builder.parfor(source.extent, taken)
    outermost = outermost_scope(context, owner)
    leaves, row = rows[0]
    joint = joint_row(context, owner.row, row)
    if outermost is not None and outermost.is_counting:
        if owner.last:
            raise UnknownRoom(context.span, is_read=True)
        _count(context, owner, outermost, joint, source.extent)
        return
    if outermost is None:
        _make_room(context, owner, joint, source.extent)
    else:
        _ask_room(context, owner, outermost, joint, source.extent)
    length = atom(context, owner.length, I64)
    for column, new, leaf in zip(owner.columns, found, leaves, strict=True):
        base = context.read(Array(column.cell))
        stored = convert(context, new, base.type.dtype)
        assert isinstance(stored, Var)
        result = put_rows(context.builder, base, stored, length)
        context.write(column.cell, result, is_new=True)
        if isinstance(leaf, Array):
            column.cell.has_twins |= leaf.cell.has_twins or leaf.cell is column.cell
            link(column.cell, (leaf.cell, *leaf.cell.partners))
    context.change(owner, "a list, by `extend`,", "length")
    owner.length = _sum(context, owner.length, source.extent)
