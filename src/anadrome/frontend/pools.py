"""Objects that a list of run-time length has made, and that are changed where they are.

bodies = [Body(x, v) for x, v in zip(xs, vs)]       columns x, v; places [0, 1, …, n - 1]
b = bodies[k]                                       a reference to place k
b.x += h * b.v                                      x[k] = x[k] + h * v[k]

A list of run-time length holds copies of its items. Where one of them is changed, the program is staged once
more with the objects in a pool: lists, names and other objects then hold places in it, and whoever looks at
an object reads the arrays of the pool. All names of an object see a change, as in Python, and two are one
where their places are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from anadrome.array_ir.nodes import Atom, Var
from anadrome.dtypes import F64, I64
from anadrome.errors.frontend import UnsupportedType
from anadrome.frontend.arrays import atom, describe, undecided
from anadrome.frontend.complex_numbers.parts import lifted, staged_surroundings
from anadrome.frontend.context import Context
from anadrome.frontend.heap import attributes, classes_in, is_same_structure, members, with_members
from anadrome.frontend.indexing import take, take_inside
from anadrome.frontend.rows import are_made_apart, refuse_made, row_leaves, row_parts
from anadrome.frontend.structures import (
    REFERENCE,
    Pool,
    Reference,
    RowList,
    can_refer,
    class_name,
    first_maybe,
    flatten,
    is_dataclass_instance,
    place_in,
    reference_of,
    referring,
)
from anadrome.frontend.values import Array, Scalar, Scope, Value
from anadrome.frontend.writing import objects_become_items, put


@dataclass(frozen=True, slots=True)
class _Read:
    """An object of a pool with its attributes, as the arrays were in a scope."""

    value: Value
    reference: Reference
    scope: Scope
    columns: tuple[Var, ...]


def is_pooled(context: Context, made: Any) -> bool:
    """Whether what a comprehension gives is a list of objects, each made for itself, of a class whose objects
    are changed while lists hold them."""
    is_apart = isinstance(made, RowList) and made.is_apart
    return is_apart and _holds_changed(context, made.example)


def _holds_changed(context: Context, value: Value) -> bool:
    """Whether a value is, or has as an attribute, an object of a class whose objects are changed so."""
    return any(name in context.grown for name in classes_in(value))


def _names(value: Any) -> list[str]:
    """The names of the attributes of an instance, as its parts are in order."""
    return [one.name for one in fields(value)] if is_dataclass_instance(value) else attributes(value)


def becomes_reference(value: Any, reference: Reference) -> None:
    """Let an instance be an object of a pool, where its attributes are."""
    for name in attributes(value):
        object.__delattr__(value, name)
    value.__dict__[REFERENCE] = reference


def join(context: Context, value: Any, reference: Reference) -> None:
    """Let an instance be an object of a pool, and what it holds as attributes and may be changed."""
    for name, part in zip(_names(value), [getattr(value, name) for name in _names(value)], strict=True):
        if _holds_changed(context, part):
            join(context, part, replace(reference, path=(*reference.path, name)))
    becomes_reference(value, reference)


def of_new_pool(context: Context, rows: RowList) -> RowList:
    """The list of all objects of a new pool, which is made of a list of copies."""
    places = context.wrap(context.builder.stack(rows.extent, lambda _, index: index))
    assert isinstance(places, Array)
    pool = Pool(rows, context.scope, context.met, Array(places.cell, None, 1), places.cell.var)
    example = referring(rows.example, Reference(pool, places.cell.var))

    def whole(leaves: Iterator[Value]) -> Value:
        return referring(example, Reference(pool, place_in(next(leaves))))

    return RowList((Array(places.cell, None, 1),), whole, example, row_parts(context))


def _leaves_of(context: Context, example: Value, path: tuple[str, ...]) -> slice:
    """Which of the leaves of an object are those of an attribute, of an attribute of it."""
    first, inside = 0, row_parts(context)
    for name, part in zip(_names(example), inside(example) or (), strict=True):
        last = first + len(row_leaves(context, part)[0])
        if name == path[0]:
            inner = _leaves_of(context, part, path[1:]) if path[1:] else slice(0, last - first)
            return slice(first + inner.start, first + inner.stop)
        first = last
    raise AssertionError("the attribute is one of the object's")


def _at(value: Value, path: tuple[str, ...]) -> Value:
    for name in path:
        value = getattr(value, name)
    return value


def unpooled(context: Context, value: Any) -> Value:
    """An instance like one that joins a pool, for the pool to take its leaves from."""
    parts = members(value, is_made=True) or ()
    made = with_members(
        value, [unpooled(context, part) if _holds_changed(context, part) else part for part in parts]
    )
    context.made(made)
    return made


def may_join(context: Context, values: Sequence[Value]) -> bool:
    """Whether instances can become objects of a pool: each is made here for itself, and those of its class
    are changed while lists hold them."""
    return (
        all(_holds_changed(context, value) for value in values)
        and not any(map(reference_of, values))
        and are_made_apart(context, values)
        and all(_is_free(context, value) for value in values)
    )


def _is_free(context: Context, value: Any) -> bool:
    """Whether nothing stands for an instance or holds a copy of it, nor of what it holds and is changed."""
    record = context.records.get(id(value))
    is_free = record is not None and not record.items and not record.versions
    parts = [getattr(value, name) for name in _names(value)]
    return is_free and all(_is_free(context, part) for part in parts if _holds_changed(context, part))


def looked_at(context: Context, value: Value, reference: Reference) -> Value:
    """An object of a pool, with its attributes as they are now, read in the scope that looks at it."""
    pool = reference.pool
    if not any(scope is pool.home for scope in context.scopes()):
        pool.met.add(class_name(value))
        what = f"{describe(value)} of a list that was made inside of a loop, branch or comprehension"
        help = "make the list before it, or read the attributes there"
        raise UnsupportedType("what is read here", what, context.span, help)
    columns = tuple(column.cell.var for column in pool.rows.columns)
    for one in pool.read:
        assert isinstance(one, _Read)
        is_now = all(var is now for var, now in zip(one.columns, columns, strict=True))
        if is_now and one.reference == reference and one.scope is context.scope:
            return one.value
    take_one = take_inside if reference.is_proved else _take_checked
    leaves = [take_one(context, column, reference.place) for column in pool.rows.columns]
    made = pool.rows.rebuild(iter(leaves))
    _refer(context, made, replace(reference, path=()), columns)
    return _at(made, reference.path)


def _refer(context: Context, made: Any, reference: Reference, columns: tuple[Var, ...]) -> None:
    """Let an object say which one of a pool it is, and those that it has as attributes and may be changed."""
    for name in _names(made):
        part = getattr(made, name)
        if can_refer(part) and _holds_changed(context, part):
            _refer(context, part, replace(reference, path=(*reference.path, name)), columns)
    made.__dict__[REFERENCE] = reference
    reference.pool.read.append(_Read(made, reference, context.scope, columns))


def detached(context: Context, value: Value) -> Value:
    """A value with copies of the objects of pools in it, as they are now, for whoever takes it apart."""
    leaves, rebuild = flatten(value, lambda leaf: reference_of(leaf) is not None)
    return rebuild(iter([_copy_of(context, leaf) for leaf in leaves])) if leaves else value


def _copy_of(context: Context, value: Value) -> Value:
    found: Any = context.seen(value)
    made = object.__new__(type(found))
    for name in attributes(found):
        object.__setattr__(made, name, detached(context, getattr(found, name)))
    context.made(made)
    return made


def _take_checked(context: Context, column: Array, place: Atom) -> Value:
    return take(context, column, _index(context, place))


def _index(context: Context, place: Atom) -> Scalar:
    """A place of a pool as an index, which is never counted from the end."""
    if isinstance(place, Var):
        context.nonnegative.add(place)
    return Scalar(place, is_weak=True)


def store(context: Context, changed: Value, name: str, value: Value) -> None:
    """`b.name = value` of an object of a pool: the columns of the attribute have other elements there."""
    reference = reference_of(changed)
    assert reference is not None
    pool, inside = reference.pool, row_parts(context)
    refuse_made(context, value)
    found = lifted(context, staged_surroundings(context, value, inside), inside)
    maybe = first_maybe(found)
    if maybe is not None:
        raise undecided(maybe, context.span, _words(name))
    owner = _at(pool.rows.example, reference.path)
    before = getattr(owner, name, None)
    if name not in _names(owner):
        raise _refusal(context, name, describe(value), "no attribute of this name")
    if not is_same_structure(before, found, inside):
        raise _refusal(context, name, describe(value), describe(before))
    if _holds_changed(context, before):
        help = "change the object that it holds instead, each of its attributes"
        what = "exchanged for another object, where the one that it holds is changed elsewhere"
        raise UnsupportedType(_words(name), what, context.span, help)
    leaves, _ = row_leaves(context, found)
    columns = pool.rows.columns[_leaves_of(context, pool.rows.example, (*reference.path, name))]
    for column, leaf in zip(columns, leaves, strict=True):
        given, own = atom(context, leaf).type.dtype, column.dtype
        becomes_float = isinstance(pool.rows, RowList) and (given, own) == (F64, I64)
        if given is not own and (given, own) != (I64, F64) and not becomes_float:
            raise _refusal(context, name, given.numpy.name, own.numpy.name)
        put(context, column, _index(context, reference.place), leaf)
    objects_become_items(context, [column.cell for column in columns], value)
    becomes_reference(changed, reference)
    for one in pool.read:
        assert isinstance(one, _Read)
        becomes_reference(one.value, one.reference)
    pool.read.clear()


def _words(name: str) -> str:
    return f"the attribute `{name}` of an item of a run-time list"


def _refusal(context: Context, name: str, what: str, was: str) -> UnsupportedType:
    help = "make the items with an attribute like it: of the same structure, types and texts"
    return UnsupportedType(_words(name), f"{what}, where the items are made with {was}", context.span, help)
