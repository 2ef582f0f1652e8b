"""Instances of plain classes that a run-time loop exchanges for others: `q = q.rotated(w)`.

A name that holds an instance means the same one in every iteration, until an iteration is seen to put another
one there. The loop is then staged once more with the numbers and arrays of the instance carried, and those of
the instances in it. What both hold is not gone into: a world that each particle has a reference to stays the
one object that it is, and may be changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anadrome.errors.objects import stale
from anadrome.frontend.arrays import describe
from anadrome.frontend.complex_numbers.parts import lifted, staged_surroundings
from anadrome.frontend.context import Context
from anadrome.frontend.heap import (
    Stateful,
    attributes,
    in_containers,
    is_same_structure,
    members,
    with_members,
)
from anadrome.frontend.restarts import Objects
from anadrome.frontend.structures import Inside, RowList, children, flatten, is_dataclass_instance, is_number
from anadrome.frontend.values import Complex, Maybe, Place, Scope, Value, is_staged, python_name


def inside(context: Context, objects: Objects) -> Inside:
    """The parts of a value that a loop goes into which exchanges objects."""

    def parts(value: Value) -> list[Value] | None:
        if objects.keeps(value) or isinstance(value, Stateful):
            return None
        if id(value) in objects.captured:
            return _captured_parts(context, value)
        return members(value, context.is_made(value))

    return parts


def objects_exchanged(context: Context, before: Value, after: Value) -> Objects | None:
    """How far to go into what is one value before an iteration and another one after it, so that both have
    the same structure; None where they have not, or where an object holds itself."""
    found = Objects()
    if not all(_compared(context, before, after, found, ()) for _ in ("collect", "check")):
        return None
    start, end = (gone_into(context, found, value) for value in (before, after))
    return found if is_same_structure(start, end, inside(context, found)) else None


def _compared(context: Context, before: Value, after: Value, found: Objects, around: tuple[int, ...]) -> bool:
    """Say of all objects in two values whether they are kept or captured. False where one holds itself, or
    where one that is kept stands for another one elsewhere."""
    if id(before) in around:
        return False
    if before is not after and (found.keeps(before) or found.keeps(after)):
        return False
    if any(is_staged(value) or is_number(value) for value in (before, after)):
        return True
    theirs = members(after, context.is_made(after)) if not isinstance(after, Stateful) else None
    if theirs is None:
        return True
    if before is after and not isinstance(before, tuple | slice | Complex | Maybe):
        found.kept[id(before)] = before
        return True
    mine = members(before, context.is_made(before))
    if mine is None and type(before) is type(after) and getattr(before, "__dict__", None):
        found.captured[id(before)] = before
        mine = _captured_parts(context, before)
    inner = (*around, id(before))
    return all(_compared(context, *pair, found, inner) for pair in zip(mine or (), theirs, strict=False))


def _captured_parts(context: Context, value: Value) -> list[Value]:
    return [context.attribute_of(value, name) for name in attributes(value)]


def difference(
    context: Context, before: Value, after: Value, around: tuple[int, ...] = ()
) -> tuple[str, Value, Value]:
    """The first part in which two values differ: how it is reached from them, and what it is in each."""
    parts = [_named_parts(context, value) for value in (before, after)]
    is_last = describe(before) != describe(after) or not parts[0] or id(before) in around
    if is_last or parts[0].keys() != parts[1].keys():
        return "", before, after
    for name, part in parts[0].items():
        other = parts[1][name]
        if not is_same_structure(part, other) or describe(part) != describe(other):
            path, one, two = difference(context, part, other, (*around, id(before)))
            return name + path, one, two
    return "", before, after


def _named_parts(context: Context, value: Value) -> dict[str, Value]:
    """The parts of a value, by what a user writes behind it to reach them."""
    if isinstance(value, tuple | list | dict):
        keys = value if isinstance(value, dict) else range(len(value))
        return {f"[{key!r}]": value[key] for key in keys}
    is_known = is_dataclass_instance(value) or context.is_made(value)
    is_object = is_known and not isinstance(value, Stateful | RowList)
    return {f".{name}": getattr(value, name) for name in attributes(value)} if is_object else {}


def made_in(context: Context, loop: Scope) -> Inside:
    """The parts of a value that a loop leaves: of containers, and of objects that an iteration has made."""

    def parts(value: Value) -> list[Value] | None:
        found = in_containers(value)
        record = context.records.get(id(value))
        if found is not None or record is None or isinstance(value, Stateful):
            return found
        return members(value, is_made=True) if record.home.is_inside(loop) else None

    return parts


def holds_itself(value: Value, inside: Inside, around: tuple[int, ...] = ()) -> bool:
    """Whether an object is found again inside of it."""
    inner = (*around, id(value))
    return id(value) in around or any(holds_itself(part, inside, inner) for part in inside(value) or ())


def refuse_stale(context: Context, value: Value, inside: Inside) -> None:
    """What may have been changed since a branch or loop chose it cannot be left or returned."""
    record = context.records.get(id(value))
    if record is not None and record.stale is not None:
        context.refuse(value, stale(python_name(value), record.stale, context.span))
    for part in inside(value) or ():
        refuse_stale(context, part, inside)


def holds(value: Value, owner: object, inside: Inside) -> bool:
    """Whether a value is an object, or holds it somewhere."""
    return value is owner or any(holds(part, owner, inside) for part in inside(value) or ())


def gone_into(context: Context, objects: Objects, value: Value) -> Value:
    """A value whose objects a loop exchanges, with all that is in them staged."""
    parts = inside(context, objects)
    staged = lifted(context, staged_surroundings(context, value, parts), parts)
    if staged is value and objects.captured:
        leaves, rebuild = leaves_of(value, parts)
        staged = rebuild(iter(leaves))
    if staged is not value:
        merge(context, staged, (value,), parts)
        context.identities.carries(staged, (value,), staged, parts)
    return staged


def merge(
    context: Context, made: Value, sources: Sequence[Value], inside: Inside, place: Place | None = None
) -> None:
    """The objects in a rebuilt value stand for those of its sources; `place`: what a loop carries."""
    each = [inside(source) or () for source in sources]
    if isinstance(made, Complex) or inside(sources[0]) is None:
        return
    is_new = made is not sources[0] or children(made) is not None
    if is_new and not isinstance(made, tuple | slice | Maybe | RowList):
        context.merged(made, sources, place)
    for position, part in enumerate(members(made, is_made=True) or ()):
        merge(context, part, [parts[position] for parts in each if position < len(parts)], inside, place)


def leaves_of(value: Value, inside: Inside = in_containers) -> tuple[list[Value], Callable[..., Value]]:
    """The numbers and arrays of a value, and the value made of others like them."""
    return flatten(value, lambda leaf: is_staged(leaf) or is_number(leaf), inside, with_members)
