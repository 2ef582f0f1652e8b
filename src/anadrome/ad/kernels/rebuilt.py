"""Memory that is written anew in each run of a loop, so that its elements need not be kept.

    for k in 0 .. n {                      the run k of the return sweep begins with
      s[tx] = f(x[k, tx])                    t[tx] = f(x[k, tx])
      barrier                                barrier
      … s[j] …                             and reads t[j] where it needs s[j]
      barrier
    }

`t` is memory like `s`. This holds where every run writes the same elements, before it reads any, behind one
barrier if the memory is shared. Tiles of matrices, halos and the fluxes of an element are such memory.
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
)
from anadrome.kernel_ir.walk import bodies


@dataclass(frozen=True, slots=True, eq=False)
class Rebuilt:
    """A buffer, the loop whose runs write it anew, and what writes it there."""

    buffer: Buffer
    loop: Loop
    stores: tuple[Store, ...]

    def values(self, places: Places) -> Iterator[Expr]:
        """What the writes read: values, indices, and the conditions under which they run."""
        for store in self.stores:
            yield store.value
            yield from store.indices
            around = places.of[store].around
            for stmt in around[around.index(self.loop) + 1 :]:
                if isinstance(stmt, If):
                    yield stmt.condition


def find_rebuilt(places: Places) -> dict[Buffer, Rebuilt]:
    """The buffers of a kernel that loops write anew."""
    found: dict[Buffer, Rebuilt] = {}
    for buffer, writes in places.writers.items():
        stores = tuple(write for write in writes if isinstance(write, Store))
        is_own = buffer.space is not Space.GLOBAL and places.is_there(buffer)
        if not is_own or len(stores) != len(writes):
            continue
        loop = _common_loop(places, stores)
        if loop is None or not all(_is_the_same(places, loop, store) for store in stores):
            continue
        found[buffer] = Rebuilt(buffer, loop, stores)
    return found


def is_rebuilt(places: Places, rebuilt: Rebuilt, read: Stmt) -> bool:
    """Whether a statement reads what the run of the loop around it has written."""
    place = places.of[read]
    last = max(places.of[store].order for store in rebuilt.stores)
    if rebuilt.loop not in place.loops or place.order < last:
        return False
    if rebuilt.buffer.space is Space.LOCAL:
        return True
    between = (
        stmt
        for stmt in bodies(rebuilt.loop)[-1]
        if isinstance(stmt, Barrier) and last < places.of[stmt].order < place.order
    )
    return any(between)


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
    around = places.of[store].around
    inside = around[around.index(loop) + 1 :]
    free: set[Var] = set()
    for stmt in inside:
        match stmt:
            case If(condition=condition):
                if not _is_invariant(places, condition, free):
                    return False
            case For(index=index, lo=lo, hi=hi) if places.is_uniform(lo) and places.is_uniform(hi):
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
