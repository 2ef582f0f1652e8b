"""What the names of a kernel stand for at the place where it is put: each variable and buffer of the result
is bound once, so every copy of a statement binds new ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import assert_never

from anadrome.errors.ir import IRError
from anadrome.kernel_ir.nodes import Buffer, Compute, Const, Expr, Load, Stmt, Var, Workers
from anadrome.kernel_ir.walk import offset_of


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
