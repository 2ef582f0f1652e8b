"""The heap: what objects of Python's own hold, part by part, and how they are given other parts.

Every object that a program can change or reach by two names has an identity. The storage of an array is a
`Cell`; a list, dict, set, instance or iterator is itself, with a `Record`. Its *contents* are its parts in
order: the items of a list by position, those of a dict by key, attributes by name. A set, whose members are
known while compiling, is one part. Branches put contents back and join them, loops carry them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from anadrome.errors.base import Span
from anadrome.errors.objects import ChangesItem
from anadrome.frontend import structures
from anadrome.frontend.structures import (
    REFERENCE,
    Inside,
    RowList,
    can_refer,
    children,
    class_name,
    is_number,
)
from anadrome.frontend.values import (
    WHOLE,
    Array,
    Cell,
    Complex,
    Holder,
    Key,
    Record,
    State,
    Value,
    is_staged,
    python_name,
)

MEMBERS = "members"
"""The one part of a set."""


class Stateful:
    """An object of the front end's own with a state that the heap follows: an iterator."""

    __slots__ = ()
    is_rebuilt: ClassVar[bool] = False
    """Whether its parts say all that it is, so that one may stand for two of its kind."""

    def contents(self) -> dict[Key, Value]:
        """The parts of the state, in order."""
        raise NotImplementedError

    def refill(self, contents: Mapping[Key, Value]) -> None:
        """Take another state."""
        raise NotImplementedError


def contents(owner: Any) -> dict[Key, Value]:
    """The parts of an object, in order."""
    match owner:
        case Stateful():
            return owner.contents()
        case list() | deque():
            return dict(enumerate(owner))
        case dict():
            return dict(owner)
        case set() | bytearray():
            return {MEMBERS: type(owner)(owner)}
        case _:
            return {name: getattr(owner, name) for name in attributes(owner)}


def is_container(value: object) -> bool:
    """Whether a value is a container of Python's own that can be changed."""
    return isinstance(value, list | dict | set | deque | bytearray)


def is_same_object(left: Value, right: Value) -> bool:
    """Whether two values are one object; an array is one with each name of it, and no view is its base."""
    if isinstance(left, Array) and isinstance(right, Array):
        one, two = itself(left), itself(right)
        return one.cell is two.cell and one.view is two.view
    if isinstance(left, Complex) and isinstance(right, Complex):
        return is_same_object(left.real, right.real) and is_same_object(left.imag, right.imag)
    return left is right


def itself(array: Array) -> Array:
    """The array that a name which stands for another one means."""
    while array.view is not None and array.view.stands_for is not None:
        array = array.view.stands_for
    return array


def changes_item(owner: object, span: Span | None, what: str = "", is_chosen: bool = False) -> ChangesItem:
    """The error of a change of an object of which a list holds a copy, or a choice between lists."""
    return ChangesItem(what or f"a {python_name(owner)}", span, is_container(owner), is_chosen)


def learned_of(owner: object, records: Iterable[Record]) -> Iterator[Span | str]:
    """What may be known of a program that changes an instance which a list holds: that instances of its class
    are changed so, or of one that it holds; that a list which holds one has a length of the run."""
    names = classes_in(owner)
    yield from names
    for record in records if names else ():
        of_list = record.owner if isinstance(record.owner, list) else ()
        if record.site is not None and any(type(item) is type(owner) for item in of_list):
            yield record.site


def classes_in(value: Any) -> list[str]:
    """The class of an instance of the user's, and those of what it holds as attributes."""
    found, names, waiting = set[int](), list[str](), [value]
    while waiting:
        one = waiting.pop(0)
        if can_refer(one) and id(one) not in found:
            found.add(id(one))
            names.append(class_name(one))
            waiting += [getattr(one, name) for name in attributes(one)]
    return names


def is_view_of(value: Value, base: Value) -> bool:
    """Whether an array looks into the storage of another, so that writing it writes the other."""
    if isinstance(value, Complex) and isinstance(base, Complex):
        return is_view_of(value.real, base.real) and is_view_of(value.imag, base.imag)
    return isinstance(value, Array) and isinstance(base, Array) and value.cell is base.cell


def part_key(owner: Any, index: Any) -> Key:
    """The part that `owner[index] = …` exchanges; `WHOLE` where it may add or remove parts."""
    if isinstance(owner, list | deque) and isinstance(index, int | np.integer):
        return int(index) + (len(owner) if index < 0 else 0)
    try:
        return index if isinstance(owner, dict) and index in owner else WHOLE
    except TypeError:
        return WHOLE


def refill(owner: Any, parts: Mapping[Key, Value]) -> None:
    """Give an object exactly these parts."""
    match owner:
        case Stateful():
            owner.refill(parts)
        case list():
            owner[:] = parts.values()
        case deque():
            owner.clear()
            owner.extend(parts.values())
        case dict():
            owner.clear()
            owner.update(parts)
        case set():
            owner.clear()
            owner.update(parts[MEMBERS])  # type: ignore[arg-type]
        case bytearray():
            owner[:] = parts[MEMBERS]  # type: ignore[call-overload]
        case _:
            for name in attributes(owner):
                if name not in parts:
                    object.__delattr__(owner, name)
            for key, value in parts.items():
                object.__setattr__(owner, str(key), value)


def attributes(owner: Any) -> list[str]:
    """The names of the attributes that an instance has itself."""
    slots = [
        name
        for cls in type(owner).__mro__
        for name in _names_of(vars(cls).get("__slots__", ()))
        if name not in ("__dict__", "__weakref__") and hasattr(owner, name)
    ]
    return [*slots, *(name for name in getattr(owner, "__dict__", {}) if name != REFERENCE)]


def _names_of(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def members(value: Any, is_made: bool) -> list[Value] | None:
    """The parts that make up an object which holds others, or None for anything else.

    Beside containers these are the instances, iterators and deques that the program made.
    """
    if isinstance(value, RowList):
        return [*value.columns]
    parts = children(value)
    if parts is not None or not is_made or isinstance(value, set | bytearray):
        return parts
    return list(contents(value).values())


def is_alike(left: Any, right: Any) -> bool:
    """Whether two objects that hold others are of one type and have the same parts."""
    if isinstance(left, RowList) and isinstance(right, RowList):
        is_kept = left.is_apart is right.is_apart and len(left.columns) == len(right.columns)
        return is_kept and is_same_structure(left.example, right.example, left.inside)
    if children(left) is not None or children(right) is not None:
        return structures.is_alike(left, right)
    return type(left) is type(right) and list(contents(left)) == list(contents(right))


def in_containers(value: Value) -> list[Value] | None:
    """The parts of a container, and of nothing else: how far a loop goes into what it carries."""
    return members(value, is_made=False)


def is_same_structure(before: Value, after: Value, inside: Inside = in_containers) -> bool:
    """Whether two values have leaves in the same places and equal static parts."""
    is_leaf = [is_staged(value) or is_number(value) for value in (before, after)]
    if any(is_leaf):
        return all(is_leaf)
    mine, theirs = inside(before), inside(after)
    if mine is None or theirs is None:
        return before is after or (type(before) is type(after) and bool(before == after))
    if not is_alike(before, after):
        return False
    return all(is_same_structure(one, two, inside) for one, two in zip(mine, theirs, strict=True))


def with_members(value: Any, parts: Sequence[Value]) -> Value:
    """An object like `value` with other parts."""
    if isinstance(value, RowList):
        return replace(value, columns=tuple(part for part in parts if isinstance(part, Array)))
    if children(value) is not None:
        return structures.with_children(value, list(parts))
    if isinstance(value, deque):
        return deque(parts, value.maxlen)
    new = object.__new__(type(value))
    refill(new, dict(zip(contents(value), parts, strict=True)))
    return new


def with_state(value: Any, state: Mapping[Key, Value]) -> Value:
    """An object like `value` that holds this."""
    match value:
        case list() | dict() | set() | bytearray() | deque():
            new: Any = copy(value)
        case _:
            new = object.__new__(type(value))
    refill(new, state)
    return new


def state_of(holder: Holder) -> State:
    """What an object holds now."""
    return holder.var if isinstance(holder, Cell) else contents(holder.owner)


def is_unknown(holder: Holder, key: Key) -> bool:
    """Whether only the run knows what a part of an object holds."""
    if isinstance(holder, Cell):
        return True
    return key is not WHOLE and is_staged(contents(holder.owner).get(key))


def set_state(holder: Holder, state: State) -> None:
    """Let an object hold something else, whatever scope is open."""
    if isinstance(holder, Cell):
        assert not isinstance(state, dict)
        holder.var = state
    else:
        assert isinstance(state, dict)
        refill(holder.owner, state)


def describe_part(record: Record, key: Key) -> str:
    """What a user calls a part of an object."""
    match record.owner:
        case list() | deque() | dict():
            return f"[{key!r}]"
        case set() | bytearray():
            return f"a {python_name(record.owner)}"
        case Stateful():
            return f"the {key} of {record.owner}"
        case _:
            return f".{key}"
