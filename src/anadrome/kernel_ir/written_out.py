"""Loops that are written as their iterations, one after the other, since that shows something."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from anadrome.kernel_ir.nodes import (
    Alloc,
    Binding,
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
    View,
    Workers,
)
from anadrome.kernel_ir.walk import bodies, expressions, statements, subexpressions, trip_count
from anadrome.kernel_ir.work import TOGETHER

WRITTEN_OUT = 500
"""Operations up to which a loop may be written as its iterations, one after the other."""

_LOCAL = 64
"""Elements up to which each iteration may have an array of its own on the stack."""

_ROW = 16
"""Elements up to which a copy is written out, so that its stores stand beside others."""


class Surroundings(Protocol):
    """What is known where a loop is written."""

    def is_known(self, var: Var) -> bool:
        """Whether a number is a constant, or one in each lane."""
        ...

    def is_steady(self, var: Var) -> bool:
        """Whether the loop around does not change a number."""
        ...

    def is_kept(self, buffer: Buffer) -> bool:
        """Whether what is read of an array may stand in front of the loop around."""
        ...


def written_out(loop: For, around: Surroundings) -> range | None:
    """The iterations of a loop that are written one after the other: they are few and short, and with numbers
    for the index it is known what a condition is, or that a read may stand in front of the loop around; or
    they store a row."""
    if not isinstance(loop.lo, Const) or not isinstance(loop.hi, Const):
        return None
    size = _size(loop)
    if size is None or size > WRITTEN_OUT or not (_is_row(loop) or _opens(loop, around)):
        return None
    return range(int(loop.lo.value), int(loop.hi.value))


def _is_row(loop: For) -> bool:
    """Whether a loop does nothing but to store a few elements."""
    match loop.body:
        case (Store(value=Load() | Const() | Var()),):
            return (trip_count(loop) or 0) <= _ROW
        case _:
            return False


def _opens(loop: For, around: Surroundings) -> bool:
    """Whether a condition is computed from the indices of a loop and those in it, and else from what is
    known; or where an element is of an array that is kept, and else from what is steady."""
    known: set[Var] = set()
    steady: set[Var] = set()

    def is_computed(exprs: Iterable[Expr], is_given: Callable[[Var], bool]) -> bool:
        parts = [part for expr in exprs for part in subexpressions(expr)]
        names = {part for part in parts if isinstance(part, Var)}
        if any(isinstance(part, Load | Workers) for part in parts) or names.isdisjoint(known):
            return False
        return all(name in known or is_given(name) for name in names)

    def stays(name: Var) -> bool:
        return name in steady or around.is_steady(name)

    for stmt in statements((loop,)):
        for part in (part for expr in expressions(stmt) for part in subexpressions(expr)):
            match part:
                case Load(buffer=buffer, indices=indices):
                    if around.is_kept(buffer) and is_computed(indices, stays):
                        return True
                case Compute(prim=prim, args=(condition, _, _)) if prim.name == "select":
                    if is_computed((condition,), around.is_known):
                        return True
                case _:
                    pass
        match stmt:
            case For(index=index):
                known.add(index)
            case If(condition=condition) if is_computed((condition,), around.is_known):
                return True
            case Let(var=var, value=value) if is_computed((value,), around.is_known):
                known.add(var)
            case Let(var=var, value=value) if is_computed((value,), stays):
                steady.add(var)
            case _:
                pass
    return False


def _size(stmt: Stmt) -> int | None:
    """The operations that a statement is written as, with the loops in it written out; None where one cannot
    be."""
    match stmt:
        case Let() | Store() | If() | View():
            times = 1
        case Alloc(buffer=buffer, size=Const(value=count)) if buffer.space is Space.LOCAL and count <= _LOCAL:
            times = 1
        case For(binding=Binding.LANES, hi=Const(value=width)):
            times = -(-int(width) // TOGETHER)
        case For(binding=Binding.SEQUENTIAL | Binding.PARALLEL) if trip_count(stmt) is not None:
            times = trip_count(stmt) or 0
        case _:
            return None
    inner = [_size(one) for body in bodies(stmt) for one in body]
    own = sum(isinstance(part, Compute | Load) for expr in expressions(stmt) for part in subexpressions(expr))
    known = [size for size in inner if size is not None]
    return times * (own + isinstance(stmt, Store) + sum(known)) if len(known) == len(inner) else None
