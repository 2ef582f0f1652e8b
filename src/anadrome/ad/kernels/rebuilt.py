"""Memory that is written anew in each run of a body, so that its elements need not be kept.

    for k in 0 .. n {                      the run k of the return sweep begins with
      s[tx] = f(x[k, tx])                    t[tx] = f(x[k, tx])
      barrier                                barrier
      … s[j] …                             and reads t[j] where it needs s[j]
      barrier
    }

`t` is memory like `s`. This holds where every run writes the same elements, before it reads any, behind one
barrier if the memory is shared. Tiles of matrices, halos and the fluxes of an element are such memory. What
begins in the body itself may be written there in any way: what a branch decides, and arrays of a thread's own
that loops fill.

    for k in 0 .. n {                      the run k of the return sweep begins with
      alloc s                                alloc t
      if c { s[0] = f(x[k]) }                if c { t[0] = f(x[k]) }
      else { s[0] = g(x[k]) }                else { t[0] = g(x[k]) }
      … s[0] …
    }
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from anadrome.ad.kernels.places import Loop, Places
from anadrome.kernel_ir.nodes import (
    Barrier,
    Buffer,
    Compute,
    Const,
    Expr,
    For,
    If,
    Let,
    Load,
    Space,
    Stmt,
    Store,
    Var,
    While,
)
from anadrome.kernel_ir.walk import bodies

Scope = tuple[Stmt, int]
"""A body: the statement that it is in, and which of its bodies it is."""


@dataclass(frozen=True, slots=True, eq=False)
class Rebuilt:
    """A buffer, the body whose runs write it anew, what writes it there, and whether it begins there."""

    buffer: Buffer
    scope: Scope
    stores: tuple[Store, ...]
    is_fresh: bool

    def values(self, places: Places) -> Iterator[Expr]:
        """What the writes read: values, indices, and the conditions under which they run."""
        for store in self.stores:
            yield store.value
            yield from store.indices
            for stmt in _inside(places, self.scope[0], store):
                if isinstance(stmt, If):
                    yield stmt.condition


def find_rebuilt(places: Places) -> dict[Buffer, Rebuilt]:
    """The buffers of a kernel that its bodies write anew."""
    found: dict[Buffer, Rebuilt] = {}
    for buffer, writes in places.writers.items():
        stores = tuple(write for write in writes if isinstance(write, Store))
        if buffer.space is Space.GLOBAL or len(stores) != len(writes):
            continue
        scope = places.scope_of(places.homes[buffer])
        if scope is not None:
            if all(_is_known(places, scope[0], store) for store in stores):
                found[buffer] = Rebuilt(buffer, scope, stores, is_fresh=True)
            continue
        loop = _common_loop(places, stores)
        if loop is not None and all(_is_the_same(places, loop, store) for store in stores):
            found[buffer] = Rebuilt(buffer, (loop, len(bodies(loop)) - 1), stores, is_fresh=False)
    return found


def is_rebuilt(places: Places, rebuilt: Rebuilt, read: Stmt) -> bool:
    """Whether a statement reads what the run of the body around it has written."""
    place = places.of[read]
    last = max(places.of[store].order for store in rebuilt.stores)
    if rebuilt.scope[0] not in place.around or place.order < last:
        return False
    if rebuilt.is_fresh:
        loops = {stmt for stmt in _inside(places, rebuilt.scope[0], read) if isinstance(stmt, For | While)}
        return all(loops.isdisjoint(places.of[store].around) for store in rebuilt.stores)
    if rebuilt.buffer.space is Space.LOCAL:
        return True
    between = (
        stmt
        for stmt in bodies(rebuilt.scope[0])[-1]
        if isinstance(stmt, Barrier) and last < places.of[stmt].order < place.order
    )
    return any(between)


def _inside(places: Places, outer: Stmt, stmt: Stmt) -> tuple[Stmt, ...]:
    """The statements around a statement that stand inside of another one."""
    around = places.of[stmt].around
    return around[around.index(outer) + 1 :]


def _is_known(places: Places, outer: Stmt, store: Store) -> bool:
    """Whether branches, and loops whose trip counts are known, are all that a statement stands in."""
    return all(isinstance(stmt, If) or is_static(places, stmt) for stmt in _inside(places, outer, store))


def is_static(places: Places, loop: Stmt) -> bool:
    """Whether the trip count of a loop is known before any loop, and the same for all threads."""
    return isinstance(loop, For) and places.is_uniform(loop.lo) and places.is_uniform(loop.hi)


def _common_loop(places: Places, stores: tuple[Store, ...]) -> Loop | None:
    """The innermost loop around all of these statements."""
    shared: list[Loop] = []
    for level in zip(*(places.of[store].loops for store in stores), strict=False):
        if len(set(level)) > 1:
            break
        shared.append(level[0])
    return shared[-1] if shared else None


def _is_the_same(places: Places, loop: Loop, store: Store) -> bool:
    """Whether a statement writes the same elements in each run of a loop."""
    free: set[Var] = set()
    for stmt in _inside(places, loop, store):
        match stmt:
            case If(condition=condition):
                if not _is_invariant(places, condition, free):
                    return False
            case For(index=index) if is_static(places, stmt):
                free.add(index)
            case _:
                return False
    return all(_is_invariant(places, index, free) for index in store.indices)


def _is_invariant(places: Places, expr: Expr, free: set[Var]) -> bool:
    """Whether a number is the same in each run, but for the indices of loops inside the run."""
    match expr:
        case Const():
            return True
        case Var():
            if expr in free or places.is_at_top(expr):
                return True
            stmt = places.binders[expr]
            return isinstance(stmt, Let) and _is_invariant(places, stmt.value, free)
        case Compute(args=args):
            return all(_is_invariant(places, arg, free) for arg in args)
        case Load(buffer=buffer, indices=indices):
            is_given = buffer not in places.homes and buffer not in places.writers
            return is_given and all(_is_invariant(places, index, free) for index in indices)
        case _:
            return False
