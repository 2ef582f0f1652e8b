"""The methods of lists whose length is known at run time only."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np

from anadrome.array_ir.nodes import Check
from anadrome.errors.frontend import (
    FrontendError,
    NoAttribute,
    StaticRequired,
    UnsupportedCall,
    UnsupportedSyntax,
)
from anadrome.frontend.arrays import atom, describe
from anadrome.frontend.context import Context
from anadrome.frontend.growing import growing_list, plain_list, row_at
from anadrome.frontend.library import python_program
from anadrome.frontend.lists import append, extend, shares_pool
from anadrome.frontend.overloads import holds_own, is_equal_to_itself
from anadrome.frontend.restarts import Restage
from anadrome.frontend.rows import row_like, row_parts
from anadrome.frontend.run_time_lists import GrowingList, inside, refuse_counted
from anadrome.frontend.structures import (
    RowList,
    can_refer,
    children,
    flatten,
    kind_of_reference,
    reference_of,
)
from anadrome.frontend.values import Array, Cell, Scalar, Value, is_staged, link


def _pop(context: Context, owner: GrowingList, index: Value = -1) -> Value:
    """`list.pop(index)`: the item, behind which all others move up"""
    refuse_counted(context, owner, is_taken=True)
    place = inside(context, owner, index)
    parts, like = row_parts(context), row_like(context)
    leaves, rebuild = flatten(row_at(context, owner, place), is_staged, parts, like)
    values = [context.wrap(context.read(leaf)) if isinstance(leaf, Array) else leaf for leaf in leaves]
    last = place if isinstance(index, int) and index == -1 else inside(context, owner, -1)
    if last is not place:
        context.call(python_program.close_gap, owner, Scalar(place, is_weak=True))
    context.change(owner, "a list, by `pop`,", "length")
    owner.length = Scalar(last, is_weak=True)
    return rebuild(iter(values))


def delete(context: Context, owner: GrowingList, index: Value) -> None:
    """`del list[index]`"""
    if isinstance(index, slice):
        raise UnsupportedSyntax("`del` of a part of a list of run-time length", context.span)
    _pop(context, owner, index)


def _insert(context: Context, owner: GrowingList, index: Value, value: Value) -> None:
    """`list.insert(index, value)`"""
    refuse_counted(context, owner, is_taken=True)
    context.call(python_program.insert, owner, index, value)


def _remove(context: Context, owner: GrowingList, value: Value) -> None:
    """`list.remove(value)`"""
    refuse_counted(context, owner, is_taken=True)
    _pop(context, owner, _index(context, owner, value))


def _clear(context: Context, owner: GrowingList) -> None:
    context.change(owner, "a list, by `clear`,", "length")
    owner.length = 0


def _copy(context: Context, owner: GrowingList) -> Value:
    made = GrowingList()
    context.made(made)
    refuse_counted(context, owner)
    made.length, made.row = owner.length, owner.row
    shares_pool(context, owner, made)
    copies = [context.wrap(context.read(column)) for column in owner.columns]
    for one, column in zip(copies, owner.columns, strict=True):
        if isinstance(one, Array) and len(one.shape) > 1:  # the rows are those of the list
            link(one.cell, (column.cell, *column.cell.partners))
            one.cell.holds_items_of((column.cell,))
    made.columns = tuple(
        Array(one.cell, None, column.list_depth)
        for one, column in zip(copies, owner.columns, strict=True)
        if isinstance(one, Array)
    )
    return made


def _are_equal(context: Context, owner: Value, value: Value) -> Value:
    """Which items of a list are equal to a value; objects are asked by their methods."""
    items = plain_list(context, owner)
    if isinstance(items, RowList) and holds_objects(items):
        if reference_of(items.example) is None:
            what = f"a search for {describe(value)} in a list of run-time length"
            context.refuse(items.example, UnsupportedSyntax(what, context.span, "compare their attributes"))
        is_alike = kind_of_reference(items.example) == kind_of_reference(value)
        place = children(value) if is_alike else None
        return context.call(np.equal, items.columns[0], -1 if place is None else place[0])
    if isinstance(items, list) and holds_own((items, value)):
        same = [item is value or context.call(operator.eq, item, value) for item in items]
        return context.call(np.array, same, bool)
    return context.call(np.equal, items, value)


def holds_objects(items: Any) -> bool:
    """Whether the items of a list of the run are instances, which are equal to themselves alone."""
    if not isinstance(items, RowList | GrowingList) or not is_equal_to_itself(items.example):
        return False
    return reference_of(items.example) is not None or can_refer(items.example)


def is_among(context: Context, items: Value, value: Value) -> Value:
    """`value in items` of instances that are equal to themselves alone"""
    return context.call(np.any, _are_equal(context, items, value))


def _index(context: Context, owner: Array | GrowingList, value: Value) -> Value:
    """`list.index(value)`: the first place where it stands"""
    is_there = _are_equal(context, owner, value)
    found = atom(context, context.call(np.any, is_there))
    context.builder.let(Check(found, "raise", "ValueError: list.index(x): x is not in the list"))
    return context.call(int, context.call(np.argmax, is_there))


def _count_of(context: Context, owner: Array | GrowingList, value: Value) -> Value:
    """`list.count(value)`"""
    is_there = _are_equal(context, owner, value)
    return context.call(int, context.call(np.sum, is_there))


def _sort(context: Context, owner: GrowingList, *, key: Value = None, reverse: Value = False) -> None:
    """`list.sort()`"""
    ordered = context.call(sorted, owner, key=key, reverse=reverse)
    _clear(context, owner)
    extend(context, owner, ordered)


def _reverse(context: Context, owner: GrowingList) -> None:
    """`list.reverse()`"""
    turned = context.call(list, context.call(reversed, _copy(context, owner)))
    _clear(context, owner)
    extend(context, owner, turned)


def list_attribute(context: Context, base: Array | RowList, name: str) -> Value:
    """A method of a list that a comprehension has made: one that changes it makes it a list that can grow."""
    if name in ("index", "count") and isinstance(base, Array):
        return ListMethod(name, base)
    error = NoAttribute("a list made by a comprehension", name, LIST_METHODS, context.span)
    if name in LIST_METHODS:
        grow(context, base, error)
    raise error


def grow(context: Context, base: Array | RowList, error: FrontendError) -> NoReturn:
    """Stage the program once more with a list of the run as one that can grow; else raise the error."""
    site = context.list_sites.get(_first_cell(base))
    if site is None or site in context.grown:
        raise error
    raise Restage(site, error)


def run_time_list(context: Context, items: Value) -> Value:
    """A list that the program makes here of a run-time sequence: one that can grow, if it must."""
    if not isinstance(items, RowList) and not (isinstance(items, Array) and items.list_depth):
        return items
    if context.span not in context.grown:
        context.list_sites[_first_cell(items)] = context.span
        return items
    made = growing_list(context, ())
    extend(context, made, items)
    return made


def _first_cell(items: Array | RowList) -> Cell:
    """What holds the items of a list, or the first leaf of each."""
    return items.cell if isinstance(items, Array) else items.columns[0].cell


def _sort_known(context: Context, owner: list[Value], *, key: Value = None, reverse: Value = False) -> None:
    """`list.sort()` of a list of run-time numbers whose length is known"""
    ordered = context.call(sorted, owner, key=key, reverse=reverse)
    items = [context.call(operator.getitem, ordered, place) for place in range(len(owner))]
    context.change(owner, "a list, by `sort`,")
    owner[:] = items


def _remove_known(context: Context, owner: list[Value], value: Value) -> None:
    """`list.remove(value)` of a list of run-time numbers whose length is known, and then is not any more"""
    context.grows(owner, StaticRequired("what `.remove` takes out", context.span, "take it out by its place"))


COMPARING_METHODS: Mapping[str, Callable[..., Value]] = {
    "index": _index,
    "count": _count_of,
    "sort": _sort_known,
    "remove": _remove_known,
}
"""Methods that compare the items of a list of known length, where these are known at run time only."""

LIST_METHODS: Mapping[str, Callable[..., Value]] = {
    "index": _index,
    "count": _count_of,
    "sort": _sort,
    "reverse": _reverse,
    "append": append,
    "extend": extend,
    "pop": _pop,
    "insert": _insert,
    "remove": _remove,
    "clear": _clear,
    "copy": _copy,
}
"""The methods of a list whose length is known at run time only."""


@dataclass(frozen=True, slots=True, eq=False)
class ListMethod:
    """A method of such a list, looked up and not yet called."""

    python_name: ClassVar[str] = "method"
    name: str
    owner: Any

    def __anadrome_stage__(
        self, context: Context, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> Value:
        if self.name not in LIST_METHODS or (kwargs and self.name != "sort"):
            help = "take `append`, `insert`, `pop`, `remove` and the like, or make it an array: `np.array(x)`"
            reason = "the length of this list is known at run time only"
            raise UnsupportedCall(f".{self.name}", context.span, reason, help)
        return LIST_METHODS[self.name](context, self.owner, *args, **kwargs)
