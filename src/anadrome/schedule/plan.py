"""What a kernel's statements are to a block of threads: pieces that each thread runs by itself, and what all
threads do together between them.

A *piece* is a run of statements without a barrier. Branches and loops that hold a barrier are the block's:
what they ask (a condition, bounds) is bound in the piece before. A piece that holds warp operations is split
at these in the same way, for the lanes of a warp.

What is the same for all threads of a block by its form, and needs no formula, is done *once*: floats computed
from parameters, elements of arrays that the kernel does not write, and mutable numbers (`half` in a loop that
halves it) that are only ever set to such values where all threads are.

A value that is whole numbers or bools computed from parameters and from where the thread is, cheaply, is
*recomputed* wherever it is needed (`Plan.formulas`), so it need not be kept from one piece to the next.
Floats are kept: the same formula may be rounded differently in two places.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from anadrome.dtypes import BOOL, I64, DType
from anadrome.kernel_ir.check import LOCAL_BYTES
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Barrier,
    Buffer,
    Compute,
    Const,
    Copy,
    Expr,
    Fence,
    Fill,
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
    Workers,
)
from anadrome.kernel_ir.walk import bodies, bound, buffers, free_names, statements, written

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


@dataclass(slots=True, eq=False)
class Once:
    """What is done once for all threads that run together."""

    stmt: Let | Alloc | Store


Item = Piece | Meeting | Branch | Loop | Repeat | Once


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
    read_only: set[Buffer] = field(default_factory=set)
    """Arrays of the launch that the kernel does not write."""
    cells: set[Buffer] = field(default_factory=set)
    """Arrays of a thread that are the same for all, and are there once."""
    kept: set[Var | Buffer] = field(default_factory=set)
    """What has an element for each thread of the block."""
    kept_in_warps: set[Var | Buffer] = field(default_factory=set)
    """What has an element for each lane of a warp."""


def plan_of(kernel: Kernel) -> Plan:
    """The parts of a kernel. Mutable numbers are taken to be the same for all threads until one is set to
    something else; then the plan is made anew without it."""
    cells, varying = cells_of(kernel), Varying()
    while True:
        before = len(varying)
        plan = _attempt(kernel, cells, varying)
        if len(varying) == before:
            return plan


Varying = set[Buffer | While]
"""Mutable numbers that are not the same for all threads, and loops that some lanes leave before others."""


def _attempt(kernel: Kernel, cells: Cells, varying: Varying) -> Plan:
    """A plan by what is known to vary, to which it adds."""
    plan = Plan(kernel)
    where = kernel.geometry
    params = (param for param in kernel.params if isinstance(param, Var))
    plan.uniform = {*params, *where.grid, *where.block, *where.block_index, where.shared}
    plan.read_only = {param for param in kernel.params if isinstance(param, Buffer)} - set(written(kernel))
    plan.items = _Splitter(plan, Barrier, cells.of_blocks - varying, varying).items(kernel.body)
    plan.kept = _kept(plan, plan.items)
    for piece in pieces(plan.items):
        if holds(piece.stmts, Warp):
            piece.inner = _Splitter(plan, Warp, cells.of_warps - varying, varying).items(piece.stmts)
            plan.kept_in_warps |= _kept(plan, piece.inner) - plan.kept
    varying |= cells.of_warps & plan.kept
    return plan


@dataclass(frozen=True, slots=True)
class Cells:
    """Arrays of a thread that are set only where all threads of a block, or all lanes of a warp, may be."""

    of_blocks: set[Buffer]
    of_warps: set[Buffer]


def cells_of(kernel: Kernel) -> Cells:
    """Those there are in a kernel."""
    if not holds(kernel.body, Barrier) and not holds(kernel.body, Warp):
        return Cells(set(), set())
    levels: dict[Buffer, int] = {}
    _note_writes(kernel.body, 0, levels)
    return Cells(
        {buffer for buffer, level in levels.items() if level == 0},
        {buffer for buffer, level in levels.items() if level == 1},
    )


def _note_writes(stmts: Iterable[Stmt], level: int, levels: dict[Buffer, int]) -> None:
    """Who writes each array of a thread: the block (0), a warp (1) or some thread (2)."""
    for stmt in stmts:
        match stmt:
            case Store(buffer=buffer) if buffer.space is Space.LOCAL:
                levels[buffer] = max(level, levels.get(buffer, 0))
            case Atomic() | Fill() | Copy():
                levels.update(dict.fromkeys(buffers(stmt), 2))
            case _:
                inner = level if holds((stmt,), Barrier) else max(level, 1) if holds((stmt,), Warp) else 2
                for body in bodies(stmt):
                    _note_writes(body, inner, levels)


def holds(stmts: Iterable[Stmt], marker: Marker) -> bool:
    """Whether statements hold a meeting of this kind."""
    return any(isinstance(stmt, marker) for stmt in statements(stmts))


def pieces(items: Iterable[Item]) -> Iterable[Piece]:
    """All pieces, in order."""
    for item in items:
        match item:
            case Piece():
                yield item
            case Meeting() | Once():
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
            case Piece() | Once():
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
            case Piece() | Once():
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
    return found - plan.formulas.keys() - plan.uniform - plan.cells


class _Splitter:
    """Splits statements at one kind of meeting."""

    def __init__(self, plan: Plan, marker: Marker, cells: set[Buffer], varying: Varying) -> None:
        self.plan = plan
        self.marker = marker
        self.varying = varying
        self.has_meetings = holds(plan.kernel.body, Barrier) or holds(plan.kernel.body, Warp)
        self.is_guarded = False
        """Whether only some lanes may be here."""
        plan.cells |= cells
        self._cells = cells

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
                    meeting = self._meeting(stmt, current, found)
                    flush()
                    found.append(meeting)
                case If() | For() | While() if holds((stmt,), self.marker):
                    item = self._control(stmt, current, found)
                    flush()
                    found.append(item)
                case Let() | Alloc() | Store() if self._is_once(stmt):
                    if isinstance(stmt, Store) and stmt.buffer in free_names(current).buffers:
                        flush()
                    found.append(Once(stmt))
                case _:
                    self._learn(stmt)
                    current.append(stmt)
        flush()
        return found

    def _is_once(self, stmt: Let | Alloc | Store) -> bool:
        """Whether a statement is done once for all threads that run together."""
        match stmt:
            case Let(var=var, value=value):
                self._learn(stmt)
                if var in self.plan.formulas or not self.has_meetings or not self.is_uniform(value):
                    return False
                if self.is_guarded and free_names((stmt,)).buffers:
                    return False
                self.plan.uniform.add(var)
                return True
            case Alloc(buffer=buffer, size=size):
                is_fixed = isinstance(size, Const) and size.value * buffer.dtype.bytes <= LOCAL_BYTES
                if buffer in self._cells and not is_fixed:
                    self.varying.add(buffer)
                return buffer in self._cells
            case Store(buffer=buffer, indices=indices, value=value):
                if buffer not in self._cells:
                    return False
                if self.is_guarded or not all(map(self.is_uniform, (*indices, value))):
                    self.varying.add(buffer)
                return True

    def _meeting(self, stmt: Barrier | Warp, current: list[Stmt], found: list[Item]) -> Meeting:
        match stmt:
            case Barrier(predicate=predicate, result=result):
                if result is not None:
                    self.plan.uniform.add(result)
                asked = predicate and self._bound("predicate", predicate, current, found)
                return Meeting(stmt, asked)
            case Warp(mask=mask, value=value, lane=lane):
                return Meeting(
                    stmt,
                    value and self._bound("value", value, current, found),
                    self._bound("mask", mask, current, found),
                    lane and self._bound("lane", lane, current, found),
                )

    def _control(self, stmt: If | For | While, current: list[Stmt], found: list[Item]) -> Item:
        was_guarded = self.is_guarded
        item: Item
        match stmt:
            case If(condition=condition, then=then, other=other):
                asked = self._bound("condition", condition, current, found)
                self._guard(asked)
                item = Branch(stmt, asked, self.items(then), self.items(other))
            case For(index=index, lo=lo, hi=hi, body=body):
                first = self._bound("lo", lo, current, found)
                last = self._bound("hi", hi, current, found)
                if self.marker is Barrier or (self.is_uniform(first) and self.is_uniform(last)):
                    self.plan.uniform.add(index)
                self._guard(first, last)
                item = Loop(stmt, first, last, self.items(body))
            case While(prelude=prelude, condition=condition, body=body):
                self.is_guarded |= stmt in self.varying
                ends = Let(Var("condition", BOOL), condition)
                asked = ends.var
                before = self.items((*prelude, ends))
                if self._guard(asked):
                    self.varying.add(stmt)
                item = Repeat(stmt, before, asked, self.items(body))
        self.is_guarded = was_guarded
        return item

    def _guard(self, *asked: Expr) -> bool:
        """Enter what only some lanes may do, where what is asked may differ; whether it may."""
        differs = self.marker is Warp and not all(map(self.is_uniform, asked))
        self.is_guarded |= differs
        return differs

    def _bound(self, name: str, expr: Expr, current: list[Stmt], found: list[Item]) -> Expr:
        """An expression as a variable or a constant, bound once or in the piece that is being filled."""
        if isinstance(expr, Var | Const):
            return expr
        let = Let(Var(name, dtype_of(expr)), expr)
        if self._is_once(let):
            found.append(Once(let))
        else:
            current.append(let)
        return let.var

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
            case Load(buffer=buffer, indices=indices):
                is_same = buffer in self.plan.cells or buffer in self.plan.read_only
                return is_same and all(map(self.is_uniform, indices))
            case Workers():
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
