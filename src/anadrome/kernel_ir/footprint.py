"""How much memory a program will hold, from the numbers it is called with: no array is touched.

Only what the sizes of its buffers depend on is run (`_Relevant`): sizes, the loops that compute them, the
branches and loops that allocate. An iteration of a loop whose sizes do not change stands for all of them, and
memory that belongs to a worker is counted once for each. Swapped buffers are of one size. A size that
depends on the elements of an array is known only by running; then `is_exact` is false.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

import numpy as np

from anadrome.errors.base import Span
from anadrome.kernel_ir.nodes import (
    Alloc,
    Binding,
    Buffer,
    Compute,
    Const,
    Expr,
    For,
    Free,
    Function,
    If,
    Let,
    Load,
    Space,
    Stmt,
    Store,
    Var,
    While,
    Workers,
)
from anadrome.kernel_ir.walk import bodies, expressions, statements, subexpressions

Number = bool | int | float
LONGEST_RUN = 100_000
"""Statements of loops that are run to learn a size; what takes more is known only by running."""


@dataclass(frozen=True, slots=True)
class Holding:
    """A buffer that is held when most is held: its name, its bytes, and the line that asks for it."""

    name: str
    bytes: int
    span: Span | None


@dataclass(frozen=True, slots=True)
class Footprint:
    """The most bytes held at once, and by what. Not exact: some sizes are known only by running."""

    peak: int
    holdings: tuple[Holding, ...]
    is_exact: bool


def footprint(fn: Function, scalars: Mapping[Var, Number], workers: int) -> Footprint:
    """What a call of a host program will hold at most beside its arguments; `scalars` are its parameters."""
    run = _Run(dict(scalars), workers, _relevant(fn))
    run.block(fn.body)
    holdings = sorted(run.most, key=lambda holding: -holding.bytes)
    return Footprint(run.peak, tuple(holdings), run.is_exact)


def _is_heap(stmt: Stmt) -> bool:
    return isinstance(stmt, Alloc) and stmt.buffer.space is Space.GLOBAL


# ---------------------------------------------------------------------------- what sizes depend on
def _relevant(fn: Function) -> set[Stmt]:
    """The statements that allocate, and those that decide how much."""
    parents: dict[Stmt, Stmt] = {}
    writers: dict[Var | Buffer, list[Stmt]] = {}
    for stmt in statements(fn.body):
        parents.update({inner: stmt for body in bodies(stmt) for inner in body})
        match stmt:
            case Let(var=var) | For(index=var):
                writers.setdefault(var, []).append(stmt)
            case Store(buffer=buffer) if buffer.space is Space.LOCAL:
                writers.setdefault(buffer, []).append(stmt)
            case _:
                pass
    found: set[Stmt] = set()
    queue = [stmt for stmt in statements(fn.body) if _is_heap(stmt) or isinstance(stmt, Free)]
    while queue:
        stmt = queue.pop()
        if stmt in found:
            continue
        found.add(stmt)
        if stmt in parents:
            queue.append(parents[stmt])
        for name in _names(expressions(stmt)):
            queue += writers.get(name, ())
    return found


def _names(exprs: Iterable[Expr]) -> Iterable[Var | Buffer]:
    for expr in exprs:
        for part in subexpressions(expr):
            match part:
                case Var():
                    yield part
                case Load(buffer=buffer):
                    yield buffer
                case Compute() | Const() | Workers():
                    pass
                case _:
                    assert_never(part)


# ---------------------------------------------------------------------------- the run
@dataclass(slots=True)
class _Run:
    """Numbers that are known (None: not known), bytes held now, and the most there ever were."""

    values: dict[Var, Number | None]
    workers: int
    relevant: set[Stmt]
    cells: dict[Buffer, Number | None] = field(default_factory=dict)
    held: dict[Buffer, Holding] = field(default_factory=dict)
    copies: int = 1
    peak: int = 0
    most: tuple[Holding, ...] = ()
    is_exact: bool = True
    steps: int = 0

    def value(self, expr: Expr) -> Number | None:
        """The value of an expression, where it is known."""
        match expr:
            case Var():
                return self.values.get(expr)
            case Const(value=value):
                return value
            case Workers():
                return self.workers
            case Load(buffer=buffer):
                return self.cells.get(buffer)
            case Compute(prim=prim, args=args):
                if prim.name == "select":
                    choice = self.value(args[0])
                    return None if choice is None else self.value(args[1] if choice else args[2])
                known = [self.value(arg) for arg in args]
                numbers = [number for number in known if number is not None]
                if len(numbers) < len(known):
                    return None
                with np.errstate(all="ignore"):
                    found: Number = np.asarray(prim.numpy(*map(np.asarray, numbers))).item()
                return found
            case _:
                assert_never(expr)

    def block(self, body: Iterable[Stmt]) -> None:
        """The relevant statements of a body."""
        for stmt in body:
            if stmt in self.relevant:
                self.steps += 1
                self.statement(stmt)

    def statement(self, stmt: Stmt) -> None:
        """One relevant statement."""
        match stmt:
            case Let(var=var, value=value):
                self.values[var] = self.value(value)
            case Store(buffer=buffer, value=value):
                self.cells[buffer] = self.value(value)
            case Alloc(buffer=buffer) if buffer.space is Space.GLOBAL:
                self.allocate(stmt)
            case Free(buffer=buffer):
                self.held.pop(buffer, None)
            case If(condition=condition, then=then, other=other):
                self.branch(self.value(condition), then, other)
            case For():
                self.loop(stmt)
            case While():
                self.repeat(stmt)
            case _:
                pass

    def allocate(self, stmt: Alloc) -> None:
        """Hold a buffer from here on."""
        size = self.value(stmt.size)
        if size is None:
            self.is_exact = False
            size = 0
        bytes_ = int(size) * stmt.buffer.dtype.bytes * self.copies
        self.held[stmt.buffer] = Holding(stmt.buffer.name, bytes_, stmt.span)
        total = sum(holding.bytes for holding in self.held.values())
        if total > self.peak:
            self.peak, self.most = total, tuple(self.held.values())

    def branch(self, condition: Number | None, then: tuple[Stmt, ...], other: tuple[Stmt, ...]) -> None:
        """A branch; both sides where it is not known which one runs."""
        if condition is not None:
            self.block(then if condition else other)
            return
        self.is_exact = self.is_exact and not any(map(_is_heap, statements((*then, *other))))
        self.block(then)
        self.block(other)
        self.forget((*then, *other))

    def forget(self, body: Iterable[Stmt]) -> None:
        """What a body stores is not known any more."""
        for stmt in statements(body):
            if isinstance(stmt, Store):
                self.cells[stmt.buffer] = None

    def loop(self, stmt: For) -> None:
        """A `for`: every iteration where sizes may change in it, else the first."""
        lo, hi = self.value(stmt.lo), self.value(stmt.hi)
        if lo is None or hi is None:
            self.is_exact = self.is_exact and not any(map(_is_heap, statements(stmt.body)))
            self.forget(stmt.body)
            lo, hi = lo or 0, (lo or 0) + 1
        if hi <= lo:
            return
        outer = self.copies
        if stmt.binding is Binding.THREADS:
            self.copies *= max(1, min(self.workers, int(hi - lo)))
        if self.varies(stmt.body, stmt.index) and int(hi - lo) > 1:
            for index in range(int(lo), int(hi)):
                self.values[stmt.index] = index
                self.block(stmt.body)
                if self.is_long():
                    self.forget(stmt.body)
                    break
        else:
            self.values[stmt.index] = lo
            self.block(stmt.body)
        self.copies = outer

    def repeat(self, stmt: While) -> None:
        """A `while`: to its end where that can be told, else one iteration."""
        while True:
            self.block(stmt.prelude)
            goes_on = self.value(stmt.condition)
            if goes_on is not None and not goes_on:
                return
            if goes_on is None or self.is_long():
                break
            self.block(stmt.body)
        self.is_exact = self.is_exact and not any(map(_is_heap, statements(stmt.body)))
        self.forget((*stmt.prelude, *stmt.body))
        self.block((*stmt.prelude, *stmt.body))
        self.forget((*stmt.prelude, *stmt.body))

    def is_long(self) -> bool:
        """Whether this has gone on for too long."""
        self.is_exact = self.is_exact and self.steps <= LONGEST_RUN
        return self.steps > LONGEST_RUN

    def varies(self, body: tuple[Stmt, ...], index: Var) -> bool:
        """Whether sizes differ between iterations: they read the index, or what iterations store."""
        own = [stmt for stmt in statements(body) if stmt in self.relevant]
        stored = {stmt.buffer for stmt in own if isinstance(stmt, Store)}
        made = {stmt.buffer for stmt in statements(body) if isinstance(stmt, Alloc)}
        read = {name for stmt in own for name in _names(expressions(stmt))}
        return index in read or not read.isdisjoint(stored - made)
