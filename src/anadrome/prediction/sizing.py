"""Which statements of a program decide how much memory it holds.

They are those that allocate and free, the loops and branches around them, and, backwards, what their sizes
and conditions are computed from: scalars, and buffers of whole numbers such as a stack of positions. What is
read of floats in memory, of arguments, and of storage that has several names is left to the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Buffer,
    Call,
    Compute,
    Const,
    Expr,
    For,
    Free,
    Function,
    Let,
    Load,
    Space,
    Stmt,
    Var,
    View,
    Workers,
)
from anadrome.kernel_ir.walk import bodies, buffers, expressions, statements, subexpressions


def is_heap(stmt: Stmt) -> bool:
    """Whether a statement takes memory that is counted."""
    return isinstance(stmt, Alloc) and stmt.buffer.space is Space.GLOBAL


def readable(fn: Function) -> set[Buffer]:
    """The buffers whose elements are followed: mutable scalars, and whole numbers under one name."""
    found: set[Buffer] = set()
    hidden: set[Buffer] = set()
    for stmt in statements(fn.body):
        match stmt:
            case Alloc(buffer=buffer) if buffer.space is Space.LOCAL or not buffer.dtype.is_float:
                found.add(buffer)
            case View() | Call() | Atomic():
                hidden.update(buffers(stmt))
            case _:
                pass
    return found - hidden


def deciding(fn: Function, followed: set[Buffer]) -> set[Stmt]:
    """The statements that allocate, and those that decide how much; `followed` are buffers that are read."""
    parents: dict[Stmt, Stmt] = {}
    writers: dict[Var | Buffer, list[Stmt]] = {}
    for stmt in statements(fn.body):
        parents.update({inner: stmt for body in bodies(stmt) for inner in body})
        match stmt:
            case Let(var=var) | For(index=var):
                writers.setdefault(var, []).append(stmt)
            case _:
                for buffer in buffers(stmt):
                    writers.setdefault(buffer, []).append(stmt)
    found: set[Stmt] = set()
    queue = [stmt for stmt in statements(fn.body) if is_heap(stmt) or isinstance(stmt, Free)]
    while queue:
        stmt = queue.pop()
        if stmt in found:
            continue
        found.add(stmt)
        if stmt in parents:
            queue.append(parents[stmt])
        names = {*names_of(expressions(stmt))}
        if not isinstance(stmt, Alloc | Free):
            names.update(buffers(stmt))
        for name in names:
            if isinstance(name, Var) or name in followed:
                queue += writers.get(name, ())
    return found


def names_of(exprs: Iterable[Expr]) -> Iterator[Var | Buffer]:
    """The variables and buffers that expressions read."""
    for expr in exprs:
        for part in subexpressions(expr):
            match part:
                case Var():
                    yield part
                case Load(buffer=buffer):
                    yield buffer
                case Compute() | Const() | Workers():
                    pass
