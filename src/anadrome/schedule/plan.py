"""What a kernel's statements are to a block of threads: pieces that each thread runs by itself, and what all
threads do together between them.

A *piece* is a run of statements without a barrier. Branches and loops that hold a barrier are the block's:
what they ask (a condition, bounds) is bound in the piece before. A piece that holds warp operations is split
at these in the same way, for the lanes of a warp.

A value that is whole numbers or bools computed from parameters and from where the thread is, cheaply, is
*recomputed* wherever it is needed (`Plan.formulas`), so it need not be kept from one piece to the next.
Floats are kept: the same formula may be rounded differently in two places.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from anadrome.dtypes import I64, DType
from anadrome.kernel_ir.nodes import (
    Alloc,
    Barrier,
    Buffer,
    Compute,
    Const,
    Expr,
    Fence,
    For,
    If,
    Kernel,
    Let,
    Load,
    Space,
    Stmt,
    Var,
    Warp,
    While,
    Workers,
)
from anadrome.kernel_ir.walk import bound, free_names, statements

CHEAP = 24
"""Scalar operations up to which a formula is computed again instead of kept."""

Marker = type[Barrier] | type[Warp]
"""What splits: barriers for a block, warp operations for a warp."""


@dataclass(slots=True, eq=False)
class Piece:
    """What each thread does by itself; `inner` are its parts where it holds warp operations."""

    stmts: tuple[Stmt, ...]
    inner: list[Item] | None = None


@dataclass(slots=True, eq=False)
class Meeting:
    """A barrier or a warp operation. Its operands are variables or constants."""

    stmt: Barrier | Warp
    value: Expr | None = None
    mask: Expr | None = None
    lane: Expr | None = None


@dataclass(slots=True, eq=False)
class Branch:
    """An `If` around a meeting."""

    stmt: If
    condition: Expr
    then: list[Item]
    other: list[Item]


@dataclass(slots=True, eq=False)
class Loop:
    """A `For` around a meeting."""

    stmt: For
    lo: Expr
    hi: Expr
    body: list[Item]


@dataclass(slots=True, eq=False)
class Repeat:
    """A `While` around a meeting; the last piece of the prelude binds the condition."""

    stmt: While
    prelude: list[Item]
    condition: Expr
    body: list[Item]


Item = Piece | Meeting | Branch | Loop | Repeat


@dataclass(slots=True)
class Plan:
    """The parts of a kernel, and what lives across them."""

    kernel: Kernel
    items: list[Item] = field(default_factory=list)
    shared: list[Alloc] = field(default_factory=list)
    formulas: dict[Var, Expr] = field(default_factory=dict)
    """What is recomputed, in the order in which it is bound."""
    uniform: set[Var] = field(default_factory=set)
    """What is the same for all threads of a block (in a warp: of the warp), and can be computed for them."""
    kept: set[Var | Buffer] = field(default_factory=set)
    """What has an element for each thread of the block."""
    kept_in_warps: set[Var | Buffer] = field(default_factory=set)
    """What has an element for each lane of a warp."""


def plan_of(kernel: Kernel) -> Plan:
    """The parts of a kernel."""
    plan = Plan(kernel)
    where = kernel.geometry
    params = (param for param in kernel.params if isinstance(param, Var))
    plan.uniform = {*params, *where.grid, *where.block, *where.block_index, where.shared}
    plan.items = _Splitter(plan, Barrier).items(kernel.body)
    plan.kept = _kept(plan, plan.items)
    for piece in pieces(plan.items):
        if holds(piece.stmts, Warp):
            piece.inner = _Splitter(plan, Warp).items(piece.stmts)
            plan.kept_in_warps |= _kept(plan, piece.inner) - plan.kept
    return plan


def holds(stmts: Iterable[Stmt], marker: Marker) -> bool:
    """Whether statements hold a meeting of this kind."""
    return any(isinstance(stmt, marker) for stmt in statements(stmts))


def pieces(items: Iterable[Item]) -> Iterable[Piece]:
    """All pieces, in order."""
    for item in items:
        match item:
            case Piece():
                yield item
            case Meeting():
                pass
            case Branch(then=then, other=other):
                yield from pieces((*then, *other))
            case Loop(body=body):
                yield from pieces(body)
            case Repeat(prelude=prelude, body=body):
                yield from pieces((*prelude, *body))
            case _:
                assert_never(item)


def _asked(items: Iterable[Item]) -> Iterable[Expr | None]:
    """What meetings, branches and loops ask of each thread."""
    for item in items:
        match item:
            case Piece():
                pass
            case Meeting(value=value, mask=mask, lane=lane):
                yield from (value, mask, lane)
            case Branch(condition=condition, then=then, other=other):
                yield condition
                yield from _asked((*then, *other))
            case Loop(lo=lo, hi=hi, body=body):
                yield from (lo, hi)
                yield from _asked(body)
            case Repeat(prelude=prelude, condition=condition, body=body):
                yield condition
                yield from _asked((*prelude, *body))
            case _:
                assert_never(item)


def _results(items: Iterable[Item]) -> Iterable[Var]:
    """What meetings bind, and loops around them."""
    for item in items:
        match item:
            case Piece():
                pass
            case Meeting(stmt=stmt):
                if stmt.result is not None:
                    yield stmt.result
            case Branch(then=then, other=other):
                yield from _results((*then, *other))
            case Loop(stmt=stmt, body=body):
                yield stmt.index
                yield from _results(body)
            case Repeat(prelude=prelude, body=body):
                yield from _results((*prelude, *body))
            case _:
                assert_never(item)


def _kept(plan: Plan, items: list[Item]) -> set[Var | Buffer]:
    """What is bound in one piece, or by a meeting, and used in another one or by a meeting."""
    home: dict[Var | Buffer, Piece | None] = dict.fromkeys(_results(items))
    for piece in pieces(items):
        for stmt in statements(piece.stmts):
            var = bound(stmt)
            if var is not None:
                home[var] = piece
            if isinstance(stmt, Alloc):
                home[stmt.buffer] = piece
    found: set[Var | Buffer] = {expr for expr in _asked(items) if isinstance(expr, Var) and expr in home}
    for piece in pieces(items):
        names = free_names(piece.stmts)
        used: set[Var | Buffer] = {*names.vars, *names.buffers}
        found |= {name for name in used if name in home and home[name] is not piece}
    return found - plan.formulas.keys() - plan.uniform


class _Splitter:
    """Splits statements at one kind of meeting."""

    def __init__(self, plan: Plan, marker: Marker) -> None:
        self.plan = plan
        self.marker = marker

    def items(self, stmts: Iterable[Stmt]) -> list[Item]:
        """The parts of a list of statements."""
        found: list[Item] = []
        current: list[Stmt] = []

        def flush() -> None:
            if current:
                found.append(Piece(tuple(current)))
                current.clear()

        for stmt in stmts:
            match stmt:
                case Fence():
                    pass
                case Alloc(buffer=buffer) if buffer.space is Space.SHARED:
                    self.plan.shared.append(stmt)
                case Barrier() | Warp() if isinstance(stmt, self.marker):
                    meeting = self._meeting(stmt, current)
                    flush()
                    found.append(meeting)
                case If() | For() | While() if holds((stmt,), self.marker):
                    item = self._control(stmt, current, flush)
                    found.append(item)
                case _:
                    self._learn(stmt)
                    current.append(stmt)
        flush()
        return found

    def _meeting(self, stmt: Barrier | Warp, current: list[Stmt]) -> Meeting:
        match stmt:
            case Barrier(predicate=predicate, result=result):
                if result is not None:
                    self.plan.uniform.add(result)
                return Meeting(stmt, self._bound("predicate", predicate, current))
            case Warp(mask=mask, value=value, lane=lane):
                return Meeting(
                    stmt,
                    self._bound("value", value, current),
                    self._bound("mask", mask, current),
                    self._bound("lane", lane, current),
                )

    def _control(self, stmt: If | For | While, current: list[Stmt], flush: object) -> Item:
        assert callable(flush)
        match stmt:
            case If(condition=condition, then=then, other=other):
                asked = self._bound("condition", condition, current)
                assert asked is not None
                flush()
                return Branch(stmt, asked, self.items(then), self.items(other))
            case For(index=index, lo=lo, hi=hi, body=body):
                first, last = self._bound("lo", lo, current), self._bound("hi", hi, current)
                assert first is not None and last is not None
                flush()
                if self.marker is Barrier or (self.is_uniform(first) and self.is_uniform(last)):
                    self.plan.uniform.add(index)
                return Loop(stmt, first, last, self.items(body))
            case While(prelude=prelude, condition=condition, body=body):
                flush()
                ends: list[Stmt] = []
                asked = self._bound("condition", condition, ends)
                assert asked is not None
                return Repeat(stmt, self.items((*prelude, *ends)), asked, self.items(body))

    def _bound(self, name: str, expr: Expr | None, current: list[Stmt]) -> Expr | None:
        """An expression as a variable or a constant, bound in the piece that is being filled."""
        if expr is None or isinstance(expr, Var | Const):
            return expr
        var = Var(name, dtype_of(expr))
        let = Let(var, expr)
        self._learn(let)
        current.append(let)
        return var

    def _learn(self, stmt: Stmt) -> None:
        """See whether what a statement binds can be recomputed."""
        if not isinstance(stmt, Let):
            return
        cost = self._cost(stmt.value)
        if cost is not None and cost <= CHEAP:
            self.plan.formulas[stmt.var] = stmt.value
            if self.is_uniform(stmt.value):
                self.plan.uniform.add(stmt.var)

    def _cost(self, expr: Expr) -> int | None:
        """The operations of a formula, those of the formulas it reads included; None where it is none."""
        match expr:
            case Var():
                if expr in self.plan.formulas:
                    return self._cost(self.plan.formulas[expr])
                is_place = expr in self.plan.kernel.geometry.thread_index
                return 0 if is_place or expr in self.plan.uniform else None
            case Const():
                return 0
            case Compute(prim=prim, args=args):
                if dtype_of(expr).is_float or any(dtype_of(arg).is_float for arg in args):
                    return None
                costs = [self._cost(arg) for arg in args]
                known = [cost for cost in costs if cost is not None]
                return prim.cost + sum(known) if len(known) == len(costs) else None
            case Load() | Workers():
                return None
            case _:
                assert_never(expr)

    def is_uniform(self, expr: Expr) -> bool:
        """Whether a formula is the same for all threads that run together."""
        match expr:
            case Var():
                return expr in self.plan.uniform
            case Const():
                return True
            case Compute(args=args):
                return all(map(self.is_uniform, args))
            case Load() | Workers():
                return False
            case _:
                assert_never(expr)


def dtype_of(expr: Expr) -> DType:
    """The type of an expression that the verifier accepts."""
    match expr:
        case Var(dtype=dtype) | Const(dtype=dtype):
            return dtype
        case Load(buffer=buffer):
            return buffer.dtype
        case Workers():
            return I64
        case Compute(prim=prim, args=args):
            found = prim.types(tuple(map(dtype_of, args)))
            assert found is not None, prim.name
            return found
        case _:
            assert_never(expr)
