"""How far apart neighbouring iterations of a loop read, which SIMD lanes would have to gather; and whether a
loop goes along an array at all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from anadrome.kernel_ir.nodes import (
    Atomic,
    Buffer,
    Compute,
    Const,
    Expr,
    Let,
    Load,
    Space,
    Stmt,
    Store,
    Var,
    View,
    Workers,
)
from anadrome.kernel_ir.walk import bodies, expressions, offset_of, statements, subexpressions

CLAMPS = ("min", "max", "select")
"""Operations that hold an index between bounds."""

UNKNOWN = 1 << 30
"""The factor where it is a size that is not known: far."""


def widest_stride(body: Iterable[Stmt], index: Var) -> int:
    """The largest distance, in elements, between what two neighbouring iterations over `index` read.

    Only offsets that are affine in the index count; one that is read from memory has no stride.
    """
    walk = _Strides(index)
    walk.statements(body)
    return walk.widest


def widest_step(body: Iterable[Stmt], index: Var) -> int:
    """The same of what they read or write."""
    walk = _Strides(index)
    walk.statements(body)
    return max(walk.widest, walk.widest_written)


def goes_along(body: Iterable[Stmt], index: Var) -> bool:
    """Whether each iteration over `index` reads or writes another element of some array."""
    walk = _Strides(index)
    walk.statements(body)
    return walk.is_along


def writes_by_data(body: Iterable[Stmt]) -> bool:
    """Whether an element is written whose place is computed from what is in memory."""
    loaded: set[Var] = set()

    def is_loaded(expr: Expr) -> bool:
        return any(isinstance(part, Load) or part in loaded for part in subexpressions(expr))

    for stmt in statements(body):
        match stmt:
            case Let(var=var, value=value) if is_loaded(value):
                loaded.add(var)
            case Store(indices=indices) | Atomic(indices=indices) if any(map(is_loaded, indices)):
                return True
            case _:
                pass
    return False


@dataclass(slots=True)
class _Strides:
    """One walk: the factor of the index in every scalar and every view of the body; which scalars are held
    between bounds."""

    index: Var
    scalars: dict[Var, int] = field(default_factory=dict)
    views: dict[Buffer, int] = field(default_factory=dict)
    clamped: set[Var] = field(default_factory=set)
    widest: int = 0
    widest_written: int = 0
    is_along: bool = False

    def statements(self, body: Iterable[Stmt]) -> None:
        """Statements in order, those nested in them included."""
        for stmt in body:
            for expr in expressions(stmt):
                for part in subexpressions(expr):
                    self.reads(part)
            match stmt:
                case Let(var=var, value=value):
                    self.scalars[var] = self.factor(value)
                    if self.is_clamped(value):
                        self.clamped.add(var)
                case Store(buffer=buffer, indices=indices):
                    offset = offset_of(buffer, indices)
                    step = abs(self.views.get(buffer, 0) + self.factor(offset))
                    self.widest_written = max(self.widest_written, step)
                    self.goes(buffer, offset)
                case View(buffer=buffer, base=base, offset=offset):
                    self.views[buffer] = self.views.get(base, 0) + self.factor(offset)
                case _:
                    pass
            for inner in bodies(stmt):
                self.statements(inner)

    def reads(self, expr: Expr) -> None:
        """Take a load into account."""
        if isinstance(expr, Load):
            offset = offset_of(expr.buffer, expr.indices)
            self.widest = max(self.widest, abs(self.views.get(expr.buffer, 0) + self.factor(offset)))
            self.goes(expr.buffer, offset)

    def goes(self, buffer: Buffer, offset: Expr) -> None:
        """Take a load or store into account."""
        if buffer.space is Space.GLOBAL and self.factor(offset) and not self.is_clamped(offset):
            self.is_along = True

    def is_clamped(self, expr: Expr) -> bool:
        """Whether a number is held between bounds somewhere in an expression."""
        return any(
            part in self.clamped or (isinstance(part, Compute) and part.prim.name in CLAMPS)
            for part in subexpressions(expr)
        )

    def factor(self, expr: Expr) -> int:
        """The factor of the index in an integer expression; 0 where it is not affine in it."""
        match expr:
            case Var():
                return 1 if expr is self.index else self.scalars.get(expr, 0)
            case Compute(prim=prim, args=(left, right)) if prim.name in ("add", "sub"):
                return self.factor(left) + (1 if prim.name == "add" else -1) * self.factor(right)
            case Compute(prim=prim, args=(left, Const(value=value))) if prim.name == "mul":
                return self.factor(left) * int(value)
            case Compute(prim=prim, args=(Const(value=value), right)) if prim.name == "mul":
                return self.factor(right) * int(value)
            case Compute(prim=prim, args=(left, right)) if prim.name == "mul":
                return UNKNOWN if self.factor(left) or self.factor(right) else 0
            case Compute(prim=prim, args=args) if prim.name in CLAMPS:  # a clamped index
                return max(map(self.factor, args))
            case Compute() | Const() | Load() | Workers():
                return 0
            case _:
                assert_never(expr)
