"""Sums that each lane has for itself while a loop runs in lanes, and what puts them together in the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anadrome.dtypes import I64, DType
from anadrome.kernel_ir.arithmetic import ZERO, add
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
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
    i64,
)
from anadrome.kernel_ir.walk import bodies, with_bodies
from anadrome.prims.monoids import identity_of
from anadrome.prims.node import replace
from anadrome.prims.table import PRIMS
from anadrome.schedule.apart import Sum


@dataclass(frozen=True, slots=True)
class Private:
    """The sums of lanes: of which one, and where they are."""

    of: Sum
    buffer: Buffer
    width: int


def private(one: Sum, width: int) -> Private:
    """Memory for a sum of each lane."""
    shape = (i64(width),)
    return Private(one, Buffer(one.buffer.name, one.buffer.dtype, Space.LOCAL, shape), width)


def opened(one: Private) -> tuple[Stmt, ...]:
    """The sums of the lanes, of nothing yet."""
    lane = Var("lane", I64)
    start = Store(one.buffer, (lane,), _neutral(one.of.operator, one.buffer.dtype))
    return (Alloc(one.buffer, i64(one.width)), vector_of(lane, one.width, (start,)))


def vector_of(lane: Var, width: int, body: tuple[Stmt, ...]) -> For:
    """Statements of all lanes."""
    return For(lane, ZERO, i64(width), body, Binding.LANES)


def _neutral(operator: str, dtype: DType) -> Const:
    """What changes nothing: -0.0 for sums, for 0.0 would turn a sum that is -0.0."""
    is_sum = operator == "add" and dtype.is_float
    return Const(-0.0 if is_sum else identity_of(operator, dtype), dtype)


def closed(one: Private) -> tuple[Stmt, ...]:
    """The sums of the lanes put together, and with the sum. Where its place may be outside if no iteration
    adds to it, it is left alone then."""
    of = one.of
    if of.is_there:
        return _together(one, of.buffer, of.indices)
    neutral = _neutral(of.operator, one.buffer.dtype)
    total = Buffer(of.buffer.name, one.buffer.dtype, Space.LOCAL, (i64(1),))
    sum_of_all = Load(total, (ZERO,))
    both = Compute(PRIMS[of.operator], (Load(of.buffer, of.indices), sum_of_all), is_reassociable=True)
    return (
        Alloc(total, i64(1)),
        Store(total, (ZERO,), neutral),
        *_together(one, total, (ZERO,)),
        If(Compute(PRIMS["ne"], (sum_of_all, neutral)), (Store(of.buffer, of.indices, both),)),
    )


def _together(one: Private, target: Buffer, indices: tuple[Expr, ...]) -> tuple[Stmt, ...]:
    """The sums of the lanes put together with an element: additions at once, others in halves."""
    found: list[Stmt] = []
    prim, width, operator = PRIMS[one.of.operator], one.width, one.of.operator
    if operator == "add":
        lane = Var("lane", I64)
        together = Atomic("add", target, indices, Load(one.buffer, (lane,)), is_alone=True)
        return (vector_of(lane, width, (together,)),)
    while width > 1:
        width //= 2
        lane = Var("lane", I64)
        other = Load(one.buffer, (add(lane, i64(width)),))
        both = Compute(prim, (Load(one.buffer, (lane,)), other), is_reassociable=True)
        found.append(vector_of(lane, width, (Store(one.buffer, (lane,), both),)))
    total = Compute(prim, (Load(target, indices), Load(one.buffer, (ZERO,))), is_reassociable=True)
    return (*found, Store(target, indices, total))


def with_sums(stmts: tuple[Stmt, ...], privates: Sequence[Private], lane: Var) -> tuple[Stmt, ...]:
    """Statements that add to sums of their own."""
    if not privates:
        return stmts
    places = {part: one for one in privates for part in one.of.parts}

    def expr(value: Expr) -> Expr:
        match value:
            case Load() if value in places:
                return Load(places[value].buffer, (lane,))
            case Load(buffer=buffer, indices=indices):
                return Load(buffer, tuple(map(expr, indices)))
            case Compute(prim=prim, args=args):
                return Compute(prim, tuple(map(expr, args)), value.is_reassociable)
            case _:
                return value

    def statement(stmt: Stmt) -> Stmt:
        match stmt:
            case Store() if stmt in places:
                return replace(stmt, buffer=places[stmt].buffer, indices=(lane,), value=expr(stmt.value))
            case Store() | Let() | Atomic():
                return replace(stmt, value=expr(stmt.value))
            case _:
                return with_bodies(stmt, [tuple(map(statement, body)) for body in bodies(stmt)])

    return tuple(map(statement, stmts))
