"""Walks over the kernel IR: what an expression or statement contains, reads and binds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import assert_never

from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Barrier,
    Buffer,
    Call,
    Check,
    Compute,
    Const,
    Copy,
    Expr,
    Fill,
    For,
    Free,
    Function,
    If,
    Let,
    Load,
    Print,
    Shown,
    Stmt,
    Store,
    Swap,
    Var,
    View,
    While,
    Workers,
)


def bodies(stmt: Stmt) -> tuple[tuple[Stmt, ...], ...]:
    """The statement lists inside a statement, in the order they run."""
    match stmt:
        case If(then=then, other=other):
            return (then, other)
        case For(body=body):
            return (body,)
        case While(prelude=prelude, body=body):
            return (prelude, body)
        case Let() | Alloc() | Free() | View() | Swap() | Store() | Atomic() | Fill() | Copy():
            return ()
        case Check() | Print() | Call() | Barrier():
            return ()
        case _:
            assert_never(stmt)


def expressions(stmt: Stmt) -> tuple[Expr, ...]:
    """The expressions a statement evaluates itself, those of its bodies excluded."""
    match stmt:
        case Let(value=value):
            return (value,)
        case Alloc(size=size) | Copy(size=size):
            return (size,)
        case View(offset=offset):
            return (offset,)
        case Store(offset=offset, value=value) | Atomic(offset=offset, value=value):
            return (offset, value)
        case Fill(size=size, value=value):
            return (size, value)
        case If(condition=condition) | While(condition=condition):
            return (condition,)
        case For(lo=lo, hi=hi):
            return (lo, hi)
        case Check(condition=condition, values=values):
            return (condition, *values)
        case Print(values=values):
            parts = (value.shape if isinstance(value, Shown) else (value,) for value in values)
            return tuple(expr for part in parts for expr in part)
        case Call(args=args):
            return tuple(arg for arg in args if not isinstance(arg, Buffer))
        case Free() | Swap() | Barrier():
            return ()
        case _:
            assert_never(stmt)


def buffers(stmt: Stmt) -> tuple[Buffer, ...]:
    """The buffers a statement names itself, loads and the statements inside excluded."""
    match stmt:
        case Alloc(buffer=buffer) | Free(buffer=buffer) | Store(buffer=buffer) | Atomic(buffer=buffer):
            return (buffer,)
        case Fill(buffer=buffer):
            return (buffer,)
        case View(buffer=buffer, base=base):
            return (buffer, base)
        case Swap(first=first, second=second):
            return (first, second)
        case Copy(target=target, source=source):
            return (target, source)
        case Call(args=args):
            return tuple(arg for arg in args if isinstance(arg, Buffer))
        case Print(values=values):
            return tuple(value.buffer for value in values if isinstance(value, Shown))
        case Let() | If() | For() | While() | Check() | Barrier():
            return ()
        case _:
            assert_never(stmt)


def subexpressions(expr: Expr) -> Iterator[Expr]:
    """The expression and all inside it."""
    yield expr
    match expr:
        case Compute(args=args):
            for arg in args:
                yield from subexpressions(arg)
        case Load(offset=offset):
            yield from subexpressions(offset)
        case Var() | Const() | Workers():
            pass
        case _:
            assert_never(expr)


def statements(body: Iterable[Stmt]) -> Iterator[Stmt]:
    """Every statement of a body, outer ones before those inside them."""
    for stmt in body:
        yield stmt
        for inner in bodies(stmt):
            yield from statements(inner)


@dataclass(slots=True)
class Names:
    """Variables and buffers in order of first appearance."""

    vars: dict[Var, None] = field(default_factory=dict)
    buffers: dict[Buffer, None] = field(default_factory=dict)

    def add_expr(self, expr: Expr) -> None:
        """Collect what an expression reads."""
        match expr:
            case Var():
                self.vars.setdefault(expr)
            case Compute(args=args):
                for arg in args:
                    self.add_expr(arg)
            case Load(buffer=buffer, offset=offset):
                self.buffers.setdefault(buffer)
                self.add_expr(offset)
            case Const() | Workers():
                pass
            case _:
                assert_never(expr)


def free_names(body: Iterable[Stmt]) -> Names:
    """The variables and buffers a body uses that it does not bind itself."""
    used, bound = Names(), Names()
    for stmt in statements(body):
        match stmt:
            case Let(var=var) | For(index=var):
                bound.vars.setdefault(var)
            case Alloc(buffer=buffer) | View(buffer=buffer):
                bound.buffers.setdefault(buffer)
            case _:
                pass
        for expr in expressions(stmt):
            used.add_expr(expr)
        for buffer in buffers(stmt):
            used.buffers.setdefault(buffer)
    return Names(
        {var: None for var in used.vars if var not in bound.vars},
        {buffer: None for buffer in used.buffers if buffer not in bound.buffers},
    )


def swapped_buffers(fn: Function) -> set[Buffer]:
    """The buffers whose storage a `Swap` may change."""
    found: set[Buffer] = set()
    for stmt in statements(fn.body):
        if isinstance(stmt, Swap):
            found |= {stmt.first, stmt.second}
    return found
