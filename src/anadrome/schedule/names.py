"""What the names of a kernel stand for at the place where it is put: each variable and buffer of the result
is bound once, so every copy of a statement binds new ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Self, assert_never

from anadrome.errors.ir import IRError
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Buffer,
    Check,
    Compute,
    Const,
    Expr,
    For,
    If,
    Let,
    Load,
    Stmt,
    Store,
    Var,
    View,
    While,
    Workers,
)
from anadrome.kernel_ir.walk import free_names, offset_of
from anadrome.prims.node import replace

COPIED = (Let, Alloc, View, Store, Atomic, If, For, While, Check)
"""The statements that `Names` makes copies of."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a buffer of the kernel is: a buffer of the result. One with an element for each thread holds
    those of neighbouring threads side by side, and `own` is the thread's number."""

    buffer: Buffer
    own: Expr | None = None


@dataclass(slots=True)
class Names:
    """What variables and buffers stand for. `later` are variables that are computed where they are
    needed: by the names there, and the statements before."""

    vars: dict[Var, Expr] = field(default_factory=dict)
    buffers: dict[Buffer, Place] = field(default_factory=dict)
    later: dict[Var, Callable[[Names, list[Stmt]], Expr]] = field(default_factory=dict)

    @classmethod
    def around(cls, stmts: Iterable[Stmt]) -> Self:
        """The names around statements, as they are."""
        free = free_names(stmts)
        return cls({var: var for var in free.vars}, {one: Place(one) for one in free.buffers})

    def inner(self) -> Names:
        """The names inside a body: what is bound there is not seen outside."""
        return Names(dict(self.vars), dict(self.buffers), dict(self.later))

    def expr(self, expr: Expr) -> Expr:
        """An expression of the kernel as one of the result."""
        match expr:
            case Var():
                found = self.vars.get(expr)
                if found is None:
                    raise IRError(f"{expr} is not known where the kernel is put")
                return found
            case Const() | Workers():
                return expr
            case Compute(prim=prim, args=args, is_reassociable=is_reassociable):
                return Compute(prim, tuple(map(self.expr, args)), is_reassociable)
            case Load(buffer=buffer, indices=indices):
                return Load(*self.element(buffer, indices))
            case _:
                assert_never(expr)

    def exprs(self, exprs: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """Expressions of the kernel as ones of the result."""
        return tuple(map(self.expr, exprs))

    def element(self, buffer: Buffer, indices: tuple[Expr, ...]) -> tuple[Buffer, tuple[Expr, ...]]:
        """Where an element of a buffer of the kernel is."""
        place = self.buffers[buffer]
        if place.own is None:
            return place.buffer, self.exprs(indices)
        return place.buffer, (self.expr(offset_of(buffer, indices)), place.own)

    def layout(self, buffer: Buffer, name: str = "") -> Buffer:
        """A new buffer laid out as one of the kernel."""
        return Buffer(
            name or buffer.name,
            buffer.dtype,
            buffer.space,
            self.exprs(buffer.shape),
            self.exprs(buffer.strides),
        )

    # ------------------------------------------------------------------ statements
    def copies(self, stmts: Iterable[Stmt]) -> tuple[Stmt, ...]:
        """Statements under new names, by what the others stand for."""
        return tuple(map(self._copy, stmts))

    def _copy(self, stmt: Stmt) -> Stmt:
        match stmt:
            case Let(var=var, value=value, span=span):
                known = self.expr(value)
                return Let(self._new(var), known, span)
            case Alloc(buffer=buffer, size=size, span=span):
                made = self.layout(buffer)
                self.buffers[buffer] = Place(made)
                return Alloc(made, self.expr(size), span)
            case View(buffer=buffer, base=base, offset=offset):
                made, seen = self.layout(buffer), self.buffers[base]
                if seen.own is not None:
                    raise IRError(f"a view of {base}, of which each lane has its own")
                self.buffers[buffer] = Place(made)
                return View(made, seen.buffer, self.expr(offset))
            case Store(buffer=buffer, indices=indices, value=value, span=span):
                return Store(*self.element(buffer, indices), self.expr(value), span)
            case Atomic(buffer=buffer, indices=indices, value=value):
                at, place = self.element(buffer, indices)
                return replace(stmt, buffer=at, indices=place, value=self.expr(value))
            case If(condition=condition, then=then, other=other):
                return If(self.expr(condition), self.copies(then), self.copies(other))
            case For(index=index, lo=lo, hi=hi, body=body):
                first, last = self.expr(lo), self.expr(hi)
                return replace(stmt, index=self._new(index), lo=first, hi=last, body=self.copies(body))
            case While(prelude=prelude, condition=condition, body=body):
                before = self.copies(prelude)
                return replace(stmt, prelude=before, condition=self.expr(condition), body=self.copies(body))
            case Check(condition=condition, values=values):
                return replace(stmt, condition=self.expr(condition), values=self.exprs(values))
            case _:
                raise IRError(f"{type(stmt).__name__} in a loop in lanes")

    def _new(self, var: Var) -> Var:
        made = Var(var.name, var.dtype)
        self.vars[var] = made
        return made


def copied(stmts: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """Statements once more, under new names."""
    return Names.around(stmts).copies(stmts)
