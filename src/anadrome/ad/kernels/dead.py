"""Leaving out what a derived kernel does for nothing: stores that nothing reads, values that nothing uses.

A statement is kept if what it writes is a result, is read by what is kept, or decides whether something kept
runs. Barriers are kept where threads read what others may have written, or write it again, one between two
uses of such memory; one whose result nobody needs only waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Barrier,
    Buffer,
    Check,
    Expr,
    Fence,
    For,
    If,
    Kernel,
    Let,
    Load,
    Space,
    Stmt,
    Store,
    Var,
    Warp,
    While,
)
from anadrome.kernel_ir.walk import (
    bodies,
    bound,
    changes,
    expressions,
    free_names,
    statements,
    subexpressions,
    with_bodies,
)
from anadrome.prims.node import replace


def remove_dead(kernel: Kernel, results: Iterable[Buffer], *, keeps_barriers: bool = False) -> Kernel:
    """The kernel without what its `results`, parameters that it writes, do not depend on. Parameters stay.
    `keeps_barriers`: so that threads which do not reach one are found."""
    live = _Live(set(results), is_ordered=keeps_barriers)
    live.settle(kernel.body)
    if keeps_barriers:
        return replace(kernel, body=_kept(kernel.body, live))
    exchanged = _exchanged(kernel.body, live)
    if exchanged:
        live.is_ordered = True
        live.settle(kernel.body)
    return replace(kernel, body=_ordered(_kept(kernel.body, live), exchanged))


def _exchanged(body: tuple[Stmt, ...], live: _Live) -> set[Buffer]:
    """Memory of which threads read what others write, or write again what others have written."""
    writes: dict[Buffer, list[tuple[str, bool]]] = {}
    for stmt, meets in _with_meetings(body, False):
        for buffer in changes(stmt) if stmt in live.kept else ():
            if buffer.space is not Space.LOCAL:
                kind = stmt.operation if isinstance(stmt, Atomic) else "store"
                writes.setdefault(buffer, []).append((kind, meets))
    return {buffer for buffer, found in writes.items() if buffer in live.read or _need_order(found)}


def _need_order(writes: list[tuple[str, bool]]) -> bool:
    """Whether a barrier may stand between two of these writes, and any order of them is not as good."""
    if len({kind for kind, _ in writes}) == 1 and writes[0][0] in COMMUTE:
        return False
    return len(writes) > 1 or any(meets for _, meets in writes)


COMMUTE = frozenset(("add", "sub", "min", "max", "and", "or", "xor"))
"""Atomic operations that any order of the threads brings to the same."""


def _with_meetings(body: tuple[Stmt, ...], meets: bool) -> Iterator[tuple[Stmt, bool]]:
    """Statements at any depth, each with whether a loop around it has a barrier."""
    for stmt in body:
        yield stmt, meets
        has_barrier = isinstance(stmt, For | While) and any(
            isinstance(inner, Barrier) for inner in statements((stmt,))
        )
        for part in bodies(stmt):
            yield from _with_meetings(part, meets or has_barrier)


@dataclass(slots=True)
class _Live:
    """The buffers whose elements are wanted, the variables that are used, the statements that are kept; those
    buffers that are read; whether threads must wait for one another, and barriers that need do no more."""

    buffers: set[Buffer]
    vars: set[Var] = field(default_factory=set)
    kept: set[Stmt] = field(default_factory=set)
    read: set[Buffer] = field(default_factory=set)
    is_ordered: bool = False
    waits: set[Stmt] = field(default_factory=set)

    def settle(self, body: tuple[Stmt, ...]) -> None:
        """Look at the whole body until nothing more is found."""
        before = (-1, -1, -1)
        while before != (now := (len(self.buffers), len(self.kept), len(self.waits))):
            before = now
            self.body(body)

    def body(self, body: tuple[Stmt, ...]) -> None:
        """Look at statements from the last to the first."""
        for stmt in reversed(body):
            for inner in reversed(bodies(stmt)):
                self.body(inner)
            if stmt not in self.kept and self.is_alive(stmt):
                self.keep(stmt)
            elif self.is_ordered and isinstance(stmt, Barrier):
                self.waits.add(stmt)

    def is_alive(self, stmt: Stmt) -> bool:
        """Whether a statement does something for what is alive."""
        match stmt:
            case Store(buffer=buffer) | Alloc(buffer=buffer):
                return buffer in self.buffers
            case Atomic(old=old):
                return old in self.vars or not self.buffers.isdisjoint(changes(stmt))
            case Check():
                return True
            case If() | For() | While():
                return any(one in self for inner in bodies(stmt) for one in inner)
            case Fence() | Barrier(operation="") | Warp(operation="sync"):
                return self.is_ordered
            case _:
                return bound(stmt) in self.vars

    def __contains__(self, stmt: object) -> bool:
        return stmt in self.kept or stmt in self.waits

    def keep(self, stmt: Stmt) -> None:
        """A statement stays, and what it reads is alive."""
        self.kept.add(stmt)
        layout = (*stmt.buffer.shape, *stmt.buffer.strides) if isinstance(stmt, Alloc) else ()
        for expr in (*expressions(stmt), *layout):
            for part in subexpressions(expr):
                self.use(part)
        if isinstance(stmt, Atomic) and (stmt.old in self.vars or stmt.beside):
            self.buffers.update(changes(stmt))
            self.read.add(stmt.buffer)

    def use(self, part: Expr) -> None:
        """An expression is computed."""
        if isinstance(part, Var):
            self.vars.add(part)
        elif isinstance(part, Load):
            self.buffers.add(part.buffer)
            self.read.add(part.buffer)


def _kept(body: tuple[Stmt, ...], kept: _Live) -> tuple[Stmt, ...]:
    return tuple(_inside(stmt, kept) for stmt in body if stmt in kept)


def _inside(stmt: Stmt, kept: _Live) -> Stmt:
    if isinstance(stmt, Barrier) and stmt not in kept.kept:
        return Barrier(span=stmt.span)
    return with_bodies(stmt, [_kept(body, kept) for body in bodies(stmt)])


def _ordered(body: tuple[Stmt, ...], exchanged: set[Buffer]) -> tuple[Stmt, ...]:
    """The body of a kernel without barriers before or after which no memory is used that threads exchange."""
    found: list[Stmt] = []
    last = max((place for place, stmt in enumerate(body) if _uses(stmt, exchanged)), default=-1)
    is_used = False
    for place, stmt in enumerate(body):
        if _only_waits(stmt):
            if is_used and place < last:
                found.append(Barrier())
            is_used = False
            continue
        is_used = is_used or _uses(stmt, exchanged)
        found.append(_once(stmt))
    return tuple(found)


def _only_waits(stmt: Stmt) -> bool:
    """Whether a statement is barriers and nothing else, perhaps in a loop."""
    match stmt:
        case Barrier(operation=operation):
            return not operation
        case For(body=body) | While(body=body):
            return all(isinstance(inner, Let) or _only_waits(inner) for inner in body)
        case _:
            return False


def _once(stmt: Stmt) -> Stmt:
    """A statement with one barrier where there are several in a row inside it."""

    def single(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        pairs = zip((None, *body), body, strict=False)
        return tuple(_once(one) for before, one in pairs if not (_is_plain(before) and _is_plain(one)))

    return with_bodies(stmt, [single(body) for body in bodies(stmt)])


def _is_plain(stmt: Stmt | None) -> bool:
    return isinstance(stmt, Barrier) and not stmt.operation


def _uses(stmt: Stmt, exchanged: set[Buffer]) -> bool:
    return not exchanged.isdisjoint(free_names((stmt,)).buffers)
