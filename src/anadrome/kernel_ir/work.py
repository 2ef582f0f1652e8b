"""How much work statements are, in scalar operations: for the ways that loops run, and enough to know after
how many of them a program must look whether it is to end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from anadrome.errors.ir import IRError
from anadrome.kernel_ir.affine import steps_of
from anadrome.kernel_ir.limits import Limits
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Barrier,
    Binding,
    Call,
    Check,
    Compute,
    Const,
    Copy,
    Expr,
    Fence,
    Fill,
    For,
    Free,
    If,
    Launch,
    Let,
    Load,
    Print,
    Space,
    Stmt,
    Store,
    Swap,
    Var,
    View,
    Warp,
    While,
    Workers,
)
from anadrome.kernel_ir.walk import expressions, statements, subexpressions
from anadrome.prims.node import replace

PATIENCE = 1 << 18
"""Operations after which a program looks whether it is to end: 30 microseconds of the cheapest ones, 30
milliseconds of those that miss every cache."""

ALWAYS = PATIENCE + 1
"""So much work that the program looks after it."""

TOGETHER = 4
"""Lanes whose operations take the time of one."""

_MEMORY = 100
"""What it costs to ask for memory or give it back."""

_CHEAP = 32
"""Operations up to which an iteration is cheap: a pass over a hundred million elements takes some tenths of a
second."""


@dataclass(frozen=True, slots=True)
class Work:
    """The operations of statements; `is_all` unless some depend on a run-time number, and are not counted."""

    operations: int
    is_all: bool = True

    def __add__(self, other: Work) -> Work:
        return Work(self.operations + other.operations, self.is_all and other.is_all)


@dataclass(frozen=True, slots=True)
class Works:
    """The work of a program's statements, each list of them counted once."""

    limits: Limits = field(default_factory=Limits)
    _found: dict[tuple[Stmt, ...], Work] = field(default_factory=dict)

    def of(self, body: tuple[Stmt, ...]) -> Work:
        """The work of statements, run once."""
        found = self._found.get(body)
        if found is None:
            found = Work(0)
            for stmt in body:
                found += Work(1 + sum(map(_operations, expressions(stmt)))) + self._inside(stmt)
            self._found[body] = found
        return found

    def _inside(self, stmt: Stmt) -> Work:
        match stmt:
            case For(binding=Binding.THREADS) | While() | Call() | Print() | Fill() | Copy():
                return Work(0, is_all=False)
            case For(body=body):
                trip, work = self.limits.trips(stmt), self.of(body)
                if trip is not None and iterations_at_once(trip, work) == 0:
                    at_once = TOGETHER if stmt.binding is Binding.LANES else 1
                    return Work(-(-trip * work.operations // at_once))
                return Work(0, is_all=False)
            case If(then=then, other=other):
                return self.of(then) + self.of(other)
            case Alloc() | Free():
                return Work(_MEMORY)
            case Let() | View() | Swap() | Store() | Atomic() | Check():
                return Work(0)
            case Barrier() | Warp() | Fence() | Launch():
                raise IRError("a launch that was not scheduled")
            case _:
                assert_never(stmt)


def iterations_at_once(trip: int | None, work: Work) -> int | None:
    """How many iterations of this work a loop may run without looking; None where that is only known when it
    runs, 0 where all of them are few enough."""
    if not work.is_all:
        return None
    fitting = max(1, PATIENCE // max(work.operations, 1))
    return 0 if trip is not None and trip <= fitting else fitting


def is_cheap_pass(loop: For) -> bool:
    """Whether a loop goes along arrays, so that their size bounds it, and its iterations are cheap and do not
    wait for one another, save in sums, nor for reads at places that are read first. Of strips of lanes, one
    lane is asked."""
    match loop.body:
        case (For(binding=Binding.LANES) as lanes,):
            return is_cheap_pass(replace(lanes, binding=loop.binding))
        case _:
            pass
    if Works().of(loop.body).operations > _CHEAP:
        return False
    inside = list(statements(loop.body))
    if any(
        isinstance(stmt, Check | Print) for stmt in inside
    ):  # the loop may go on beyond the end of an array
        return False
    loads = [
        part
        for stmt in inside
        for expr in expressions(stmt)
        for part in subexpressions(expr)
        if isinstance(part, Load)
    ]
    read = {stmt.var for stmt in inside if isinstance(stmt, Let) and _has_load(stmt.value)}
    places = (part for load in loads for index in load.indices for part in subexpressions(index))
    if any(part in read or isinstance(part, Load) for part in places):
        return False
    loaded = {load.buffer for load in loads}
    waits = loop.binding is not Binding.PARALLEL and any(
        isinstance(stmt, Store) and stmt.buffer in loaded and not _is_sum(stmt) for stmt in inside
    )
    steps = steps_of(loop.body, loop.index)
    return not waits and any(step for buffer, step in steps if buffer.space is Space.GLOBAL)


def _has_load(expr: Expr) -> bool:
    return any(isinstance(part, Load) for part in subexpressions(expr))


def _is_sum(stmt: Store) -> bool:
    return isinstance(stmt.value, Compute) and stmt.value.is_reassociable


def _operations(expr: Expr) -> int:
    match expr:
        case Var() | Const() | Workers():
            return 0
        case Compute(prim=prim, args=args):
            return prim.cost + sum(map(_operations, args))
        case Load(indices=indices):
            return 1 + sum(map(_operations, indices)) + 2 * (len(indices) - 1)
        case _:
            assert_never(expr)


def value_operations(expr: Expr, load: int = 1) -> int:
    """Operations that make a value, without those that say where elements are; an element read counts
    `load`."""
    match expr:
        case Compute(prim=prim, args=args):
            return prim.cost + sum(value_operations(arg, load) for arg in args)
        case Load():
            return load
        case Var() | Const() | Workers():
            return 0
        case _:
            assert_never(expr)
