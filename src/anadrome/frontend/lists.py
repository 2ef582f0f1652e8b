"""Lists of the program into which objects are put: as copies, or as references into a pool of theirs.

Without a change of such an object there is no pool, and a list is one of copies.
"""

from __future__ import annotations

from typing import Any

from anadrome.array_ir.nodes import Atom, i64
from anadrome.dtypes import I64
from anadrome.errors.frontend import UnknownRoom, UnsupportedType
from anadrome.frontend import growing
from anadrome.frontend.arrays import atom
from anadrome.frontend.context import Context
from anadrome.frontend.growing import append_all, as_value, growing_list, outermost_scope
from anadrome.frontend.iterables import Iterated, row_item
from anadrome.frontend.pools import is_pooled, join, may_join, of_new_pool, unpooled
from anadrome.frontend.restarts import OnePool
from anadrome.frontend.run_time_lists import GrowingList
from anadrome.frontend.structures import Pool, Reference, RowList, class_name, referring
from anadrome.frontend.values import Scope, ScopeKind, Value


def new_list(context: Context, items: list[Value]) -> Value:
    """A list that the program makes; of run-time length where staging has shown that it must be."""
    if context.span not in context.grown:
        _into_pool(context, items)
        context.made(items)
        return items
    if not may_join(context, items):
        return growing_list(context, items)
    made = growing_list(context, ())
    for item in items:
        append(context, made, item)
    return made


def append(context: Context, owner: GrowingList, value: Value) -> None:
    """`list.append(value)`"""
    if may_join(context, [value]):
        _join(context, _pool_for(context, owner, value), value)
    growing.append(context, owner, value)


def set_item(context: Context, owner: GrowingList, index: Value, value: Value) -> None:
    """`list[index] = value`"""
    if may_join(context, [value]):
        _join(context, _pool_for(context, owner, value), value)
    growing.set_item(context, owner, index, value)


def extend(context: Context, owner: GrowingList, values: Value) -> None:
    """`list.extend(values)`"""
    source = context.evaluators.source(context, values)
    if isinstance(source, Iterated):
        append_all(context, owner, source)
        return
    for item in source:
        append(context, owner, item)


def pooled(context: Context, rows: Any) -> Value:
    """The list of all objects of a pool, made of a list of copies that nobody has seen yet, where its objects
    are changed; any other value as it is."""
    if not is_pooled(context, rows):
        return rows
    pool, grows = _one_pool(context, rows.example), context.span in context.grown
    if pool is None and not grows:
        return of_new_pool(context, rows)
    made = growing_list(context, ())
    pool = pool or _pool_for(context, made, rows.example)
    append_all(context, made, _join_all(context, pool, rows))
    return made if grows else as_value(context, made)


def shares_pool(context: Context, owner: GrowingList, other: GrowingList) -> None:
    """Let what is appended to a list join the pool of another one, of which it is a copy."""
    if owner in context.pools:
        context.pools[other] = context.pools[owner]


def _growing_pool(context: Context, home: Scope) -> Pool:
    heap = GrowingList()
    context.made(heap, home)
    return Pool(heap, home, context.met)


def _pool_for(context: Context, owner: GrowingList, value: Value) -> Pool:
    """The pool that objects join which are appended to a list."""
    found = _one_pool(context, value)
    if found is not None:
        return found
    if owner not in context.pools:
        context.pools[owner] = _growing_pool(context, context.records[id(owner)].home)
    return context.pools[owner]


def _one_pool(context: Context, value: Value) -> Pool | None:
    """The pool of all objects of a class, if there is only one in the program or function transformed."""
    name = class_name(value)
    if OnePool(name) not in context.grown:
        return None
    around = (ScopeKind.LOOP, ScopeKind.BRANCH)
    home = next(scope for scope in context.scopes() if scope.kind not in around)
    if (home, name) not in context.pools:
        context.pools[home, name] = _growing_pool(context, home)
    return context.pools[home, name]


def _into_pool(context: Context, items: list[Value]) -> None:
    """Make objects those of a pool, if they may be and are all alike."""
    if not items or not may_join(context, items):
        return
    pools = [_one_pool(context, item) for item in items]
    for pool, item in zip(pools, items, strict=True):
        if pool is not None:
            _join(context, pool, item)
    if any(pools):
        return
    try:
        rows = as_value(context, growing_list(context, [unpooled(context, item) for item in items]))
    except UnsupportedType:
        return  # they differ in more than their numbers
    made = Pool(rows, context.scope, context.met)
    for place, item in enumerate(items):
        join(context, item, Reference(made, i64(place), is_proved=True))


def joins_pool(context: Context, value: Value) -> None:
    """Let an object that was made join the one pool of its class, if it has one: but for the items of a
    comprehension, which join it at once."""
    pool = _one_pool(context, value)
    kinds = (ScopeKind.FUNCTION, ScopeKind.OPEN)
    if pool is not None and context.records[id(pool.rows)].home.kind in kinds and may_join(context, [value]):
        _join(context, pool, value)


def _join(context: Context, pool: Pool, value: Value) -> None:
    """Make an object the next one of a pool that grows."""
    outermost = outermost_scope(context, pool.rows)
    if outermost is not None and outermost.is_counting:
        raise UnknownRoom(context.span, is_read=True)
    place = atom(context, pool.rows.length, I64)
    growing.append(context, pool.rows, unpooled(context, value))
    join(context, value, Reference(pool, place, is_proved=True))


def _join_all(context: Context, pool: Pool, rows: RowList) -> Iterated:
    """Make the items of a list of copies the next objects of a pool that grows: the references to them."""
    first = atom(context, pool.rows.length, I64)
    append_all(context, pool.rows, Iterated(rows.extent, lambda inner, at: row_item(inner, rows, at)))

    def item(inner: Context, index: Atom) -> Value:
        place = inner.builder.size("add", first, index)
        return referring(rows.example, Reference(pool, place, is_proved=True))

    return Iterated(rows.extent, item)
