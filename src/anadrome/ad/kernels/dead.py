"""Leaving out what a derived kernel does for nothing: stores that nothing reads, values that nothing uses.

A statement is kept if what it writes is a result, is read by what is kept, or decides whether something kept
runs. Barriers are kept where threads read what others may have written, one between two uses of such memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

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
from anadrome.kernel_ir.walk import bodies, bound, changes, expressions, free_names, subexpressions


def remove_dead(kernel: Kernel, results: Iterable[Buffer]) -> Kernel:
    """The kernel without what its `results`, parameters that it writes, do not depend on. Parameters stay."""
    live = _Live(set(results))
    live.settle(kernel.body)
    changed = {buffer for stmt in live.kept for buffer in changes(stmt)}
    written = {buffer for buffer in changed if buffer.space is not Space.LOCAL}
    exchanged = written & live.read
    if exchanged:
        live.is_ordered = True
        live.settle(kernel.body)
    return replace(kernel, body=_ordered(_kept(kernel.body, live.kept), exchanged))


@dataclass(slots=True)
class _Live:
    """The buffers whose elements are wanted, the variables that are used, the statements that are kept; those
    buffers that are read; whether threads must wait for one another."""

    buffers: set[Buffer]
    vars: set[Var] = field(default_factory=set)
    kept: set[Stmt] = field(default_factory=set)
    read: set[Buffer] = field(default_factory=set)
    is_ordered: bool = False

    def settle(self, body: tuple[Stmt, ...]) -> None:
        """Look at the whole body until nothing more is found."""
        before = (-1, -1)
        while before != (len(self.buffers), len(self.kept)):
            before = len(self.buffers), len(self.kept)
            self.body(body)

    def body(self, body: tuple[Stmt, ...]) -> None:
        """Look at statements from the last to the first."""
        for stmt in reversed(body):
            for inner in reversed(bodies(stmt)):
                self.body(inner)
            if stmt not in self.kept and self.is_alive(stmt):
                self.keep(stmt)

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
                return any(one in self.kept for inner in bodies(stmt) for one in inner)
            case Fence() | Barrier(operation="") | Warp(operation="sync"):
                return self.is_ordered
            case _:
                return bound(stmt) in self.vars

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


def _kept(body: tuple[Stmt, ...], kept: set[Stmt]) -> tuple[Stmt, ...]:
    return tuple(_inside(stmt, kept) for stmt in body if stmt in kept)


def _inside(stmt: Stmt, kept: set[Stmt]) -> Stmt:
    match stmt:
        case If(condition=condition, then=then, other=other):
            return If(condition, _kept(then, kept), _kept(other, kept))
        case For(body=body):
            return replace(stmt, body=_kept(body, kept))
        case While(prelude=prelude, condition=condition, body=body):
            return While(_kept(prelude, kept), condition, _kept(body, kept))
        case _:
            return stmt


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

    match stmt:
        case If(condition=condition, then=then, other=other):
            return If(condition, single(then), single(other))
        case For(body=body):
            return replace(stmt, body=single(body))
        case While(prelude=prelude, condition=condition, body=body):
            return While(prelude, condition, single(body))
        case _:
            return stmt


def _is_plain(stmt: Stmt | None) -> bool:
    return isinstance(stmt, Barrier) and not stmt.operation


def _uses(stmt: Stmt, exchanged: set[Buffer]) -> bool:
    return not exchanged.isdisjoint(free_names((stmt,)).buffers)
