"""Two lists that differ in kind or length where two ways meet: what they hold then, as lists of the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from anadrome.array_ir.nodes import ArrayType, Var, i64
from anadrome.errors.frontend import FrontendError, UnsupportedType
from anadrome.frontend.context import Context
from anadrome.frontend.growing import as_value, growing_list
from anadrome.frontend.heap import set_state, state_of
from anadrome.frontend.joining import Join, Joining
from anadrome.frontend.run_time_lists import GrowingList
from anadrome.frontend.sizes import as_size
from anadrome.frontend.structures import RowList, are_apart, shared
from anadrome.frontend.values import Array, Value
from anadrome.frontend.ways import Way
from anadrome.frontend.writing import objects_become_items
from anadrome.prims.node import replace


def is_list(value: Value) -> bool:
    """Whether Python knows a value as a list, whose items may be numbers, arrays or tuples of these."""
    return isinstance(value, list | RowList | GrowingList) or (
        isinstance(value, Array) and value.list_depth > 0
    )


def rows_differ(one: Any, two: Any) -> bool:
    """Whether two lists of the run have items of two forms."""
    are_lists = isinstance(one, GrowingList) and isinstance(two, GrowingList)
    return are_lists and (len(one.columns) != len(two.columns) or one.row != two.row)


def join_lists(
    joining: Joining,
    what: str,
    pair: tuple[Value, Value],
    ends: tuple[Value, Value],
    join: Callable[[Joining, str, Value, Value], Join],
) -> Join | None:
    """Two lists made one of the run; None where they are not lists, or their items differ. `pair` are the
    lists, `ends` what they hold at the end of the ways.

    A change of one of the lists is refused from now on: what was made of it would not see it.
    """
    if joining.may_differ or not all(map(is_list, ends)) or ends[0] is ends[1]:
        return None
    if any(_grows_in_a_loop(joining.context, one) for one in pair):
        return None
    marks = joining.context.marks()
    try:
        rows = _as_rows(joining, pair, ends)
        if rows is not None:
            with joining.of_any_lengths():
                return join(joining, what, *rows)
    except FrontendError:
        joining.context.take_back(marks)
        raise
    joining.context.take_back(marks)
    return None


def _grows_in_a_loop(context: Context, value: Value) -> bool:
    """Whether an open loop appends to a list, which it then cannot exchange for a choice between lists."""
    return isinstance(value, GrowingList) and any(value in scope.room for scope in context.scopes())


def _as_rows(
    joining: Joining, pair: tuple[Value, Value], ends: tuple[Value, Value]
) -> tuple[Value, Value] | None:
    """Two lists as arrays that Python knows as lists, or as rows of several such."""
    context, found = joining.context, list[Value]()
    try:
        for way, given, value in zip((joining.first, joining.second), pair, ends, strict=True):
            with _at_the_end(context, way):
                rows = _rows_of(context, given if context.is_made(given) else value)
            cells = [column.cell for column in _columns(rows)]
            objects_become_items(context, cells, given)
            record = context.records.get(id(given))
            if record is not None:
                record.is_chosen = True
                for cell in cells:
                    cell.selves.append(record)
            found.append(rows)
    except UnsupportedType:
        return None
    if all(rows is None for rows in found):
        return None
    left, right = (_nothing_like(context, found[1 - at]) if found[at] is None else found[at] for at in (0, 1))
    if not are_apart(left) or not are_apart(right):
        left, right = shared(left), shared(right)
    is_alike = len(_columns(left)) == len(_columns(right)) and type(left) is type(right)
    return (left, right) if is_alike else None


@contextmanager
def _at_the_end(context: Context, way: Way) -> Iterator[None]:
    """Evaluate something at the end of a way, with arrays and objects as it leaves them."""
    before = {holder: state_of(holder) for holder in way.states}
    for holder, state in way.states.items():
        set_state(holder, state)
    try:
        with context.reopened(way.scope):
            yield
    finally:
        for holder, state in before.items():
            set_state(holder, state)


def _rows_of(context: Context, value: Value) -> Array | RowList | None:
    """The items of a list; None of an empty one whose items nobody knows."""
    if isinstance(value, list):
        value = growing_list(context, value)
    if isinstance(value, GrowingList):
        length, columns = as_size(context, value.length), value.columns
        if isinstance(length, Var) and columns and columns[0].shape[0] != length:
            context.most.setdefault(length, (context.builder.affine(columns[0].shape[0]),))
        value = as_value(context, value)
    return value if isinstance(value, Array | RowList) else None


def _columns(rows: Value) -> tuple[Array, ...]:
    match rows:
        case Array():
            return (rows,)
        case RowList(columns=columns):
            return columns
        case _:
            return ()


def _nothing_like(context: Context, rows: Value) -> Value:
    """No items, of the kind that others are of."""
    columns: list[Array] = []
    for column in _columns(rows):
        type_ = ArrayType(column.dtype, (i64(0), *column.shape[1:]))
        made = context.wrap(context.builder.zeros(type_))
        assert isinstance(made, Array)
        columns.append(Array(made.cell, None, column.list_depth))
    return replace(rows, columns=tuple(columns)) if isinstance(rows, RowList) else columns[0]
