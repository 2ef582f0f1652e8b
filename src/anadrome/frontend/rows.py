"""Rows of lists of run-time length: what an item is taken apart into, and the item that is read again.

A list holds copies of its items. Objects of Python's own that were put into it cannot change any more, nor
can those that are read from it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from anadrome.errors.frontend import UnsupportedType
from anadrome.frontend.complex_numbers.parts import complex_of
from anadrome.frontend.context import Context
from anadrome.frontend.functions import StagedFunction
from anadrome.frontend.heap import Stateful, members, with_members
from anadrome.frontend.sharing import aliases
from anadrome.frontend.structures import Inside, Rebuild, children, flatten, is_number, joined, reference_of
from anadrome.frontend.values import Array, Complex, Maybe, Value, is_staged, link


def row_parts(context: Context) -> Inside:
    """The parts of a row of a list: of containers, and of instances that the program has made."""

    def parts(value: Value) -> list[Value] | None:
        found = children(value)
        is_object = context.is_made(value) and not isinstance(value, Stateful | deque | set | bytearray)
        return members(value, is_made=True) if found is None and is_object else found

    return parts


def row_like(context: Context) -> Callable[[Any, list[Value]], Value]:
    """Makes the row that is read of one that was put into a list."""

    def like(value: Any, parts: list[Value]) -> Value:
        made = with_members(value, parts)
        if not isinstance(made, tuple | slice | Complex | Maybe) and reference_of(made) is None:
            context.merged(made, ())
            context.records[id(made)].items = 1
        context.identities.is_row(made)
        return made

    return like


def row_leaves(context: Context, value: Value) -> tuple[list[Value], Rebuild]:
    """The numbers and arrays of a row, none where no array can hold it, and the row made of others."""
    if has_made(context, value):
        return [], next
    is_leaf = lambda leaf: is_staged(leaf) or is_number(leaf)  # noqa: E731
    return flatten(value, is_leaf, row_parts(context), row_like(context))


def refuse_made(context: Context, value: Value) -> None:
    """No array can hold a function, set, deque or iterator that the program has made, nor an object that
    holds itself: one row would have another one than the next."""
    if has_made(context, value):
        what = "a function, set, deque or iterator that the program makes, or an object that holds itself"
        help = "put in the numbers and arrays that are needed of it; call functions where the item is made"
        raise UnsupportedType("an item of a run-time list", what, context.span, help)


def holds_instances(context: Context, value: Value) -> bool:
    """Whether an item is an instance of a plain class that the program has made, or holds one."""
    parts = row_parts(context)(value)
    return parts is not None and (
        children(value) is None or any(holds_instances(context, part) for part in parts)
    )


def is_made_apart(context: Context, value: Value) -> bool:
    """Whether an item and the objects in it are made with it, each for one place, so that no two items share
    one."""
    return are_made_apart(context, [value])


def are_made_apart(context: Context, values: Sequence[Value]) -> bool:
    """The same of several."""
    inside, found, waiting = row_parts(context), set[int](), [*values]
    while waiting:
        one = waiting.pop()
        parts, record = inside(one), context.records.get(id(one))
        is_new = record is not None and not record.is_merged and record.home is context.scope
        if reference_of(one) is not None:
            continue
        is_shared = id(one) in found or not is_new
        if parts is not None and is_shared and not isinstance(one, tuple):  # nobody can change a tuple
            return False
        found.add(id(one))
        waiting += parts or ()
    return all(inside(value) is not None for value in values)


def has_made(context: Context, value: Value, around: tuple[int, ...] = ()) -> bool:
    """Whether there is anything in a row that the program has made and no array can hold."""
    parts = None if is_staged(value) else row_parts(context)(value)
    if parts is not None:
        inner = (*around, id(value))
        return id(value) in around or any(has_made(context, part, inner) for part in parts)
    return isinstance(value, StagedFunction) or (id(value) in context.records and not is_staged(value))


def refuse_shared_list(context: Context, value: Value) -> None:
    """A list from outside of a loop would be one row in every iteration."""
    record = context.records.get(id(value))
    if isinstance(value, list) and record is not None and record.home is not context.scope:
        help = "copy it: `list(row)`"
        raise UnsupportedType("an item of a run-time list", "a list that was made before", context.span, help)


def complex_row(context: Context, value: Value) -> tuple[list[Value], Rebuild]:
    """A complex number or array, or a list with complex numbers in it, as a row of two parts."""
    found = complex_of(context, value)
    if isinstance(value, list):
        for part in (found.real, found.imag):
            if isinstance(part, Array):
                link(part.cell, aliases(flatten(value, is_staged)[0]))
        parts = (
            Array(part.cell, part.view, 1) for part in (found.real, found.imag) if isinstance(part, Array)
        )
        found = Complex(*parts)

    def whole(parts: Iterator[Value]) -> Value:
        return joined(next(parts), next(parts))

    return [found.real, found.imag], whole
