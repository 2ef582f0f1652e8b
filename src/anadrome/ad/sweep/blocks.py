"""Blocks of iterations: what a snapshot stands for where a loop with a policy updates arrays in place.

A snapshot of a state of n elements takes n copies, and so does reversing from it; an iteration that writes
one of them takes one. So that snapshots cost no more than the iterations between them, they are then taken
of blocks of

    length = ⌊bytes of a snapshot / bytes that one iteration logs⌋ ≥ 1

iterations, and a block is reversed like a loop without a policy: it runs forward from its snapshot, logs what
it overwrites (`ad.sweep.log`), which takes no more memory than another snapshot, and goes back
(`ad.sweep.undo`):

    for block < ⌈trip / length⌉ with the policy { for k < min(length, trip - block · length) { … } }
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod

from anadrome.ad.sweep.mutated import Frame, LoopPlan, loop_plan
from anadrome.ad.sweep.scope import Blocks, Scope
from anadrome.array_ir.affine import affine
from anadrome.array_ir.build import Builder
from anadrome.array_ir.checkpoint import Checkpoint
from anadrome.array_ir.nodes import ArrayType, Body, Const, Let, Loop, Size, Type, Var, i64
from anadrome.dtypes import I64
from anadrome.errors.base import Span

SHARE = 4
"""Of a state of which an iteration overwrites at least a part in so many, snapshots are taken as they are."""


def blocks_of(scope: Scope, expr: Loop, hint: Checkpoint, trip: Size, snapshot: Size) -> Blocks | None:
    """The blocks of a loop of `trip` iterations whose snapshots take `snapshot` bytes; None where a snapshot
    is as good for each iteration: without states, or where an iteration overwrites them all, or logs as much
    as only running it tells."""
    plan = loop_plan(expr)
    builder = scope.builder
    if not plan.positions or _overwrites_all(scope, expr, plan):
        return None
    logged = _logged_bytes(scope, plan)
    if logged is None:
        return None
    room = snapshot
    if hint.memory is not None:
        # What the budget leaves beside two snapshots, the least that it takes, and one log.
        rest = builder.size("sub", i64(hint.memory), builder.size("mul", i64(2), snapshot))
        room = builder.size("min", room, builder.size("add", builder.size("max", rest, i64(0)), logged))
    length = builder.size("floordiv", room, logged)
    if length == i64(1):
        return None
    length = builder.size("max", builder.size("min", length, trip), i64(1))
    if length == i64(1):
        return None
    last = builder.size("sub", length, i64(1))
    count = builder.size("floordiv", builder.size("add", trip, last), length)
    found = Blocks(_size("trip"), _size("length"), _size("count"), builder.size("mul", last, logged))
    scope.renaming.mapping.update({found.trip: trip, found.length: length, found.count: count})
    return found


def over_blocks(scope: Scope, expr: Loop, blocks: Blocks, span: Span | None) -> Loop:
    """The loop over blocks, in the program that is differentiated; the body of `expr` is in it as it is."""
    carried = tuple(Var(var.name, var.type) for var in expr.carried)
    targets = tuple(Var(var.name, var.type) for var in expr.carried)
    for var, *copies in zip(expr.carried, carried, targets, strict=True):
        if var in scope.varied:
            scope.varied.update(copies)
    builder, block, place = Builder(), _size("block"), _size("k")
    builder.span = span
    builder.bind(block, blocks.trip, blocks.length, *carried)
    start = builder.mul(block, blocks.length)
    here = builder.apply("min", blocks.length, builder.sub(blocks.trip, start))
    inner = builder.child()
    inner.bind(place)
    index = inner.add(start, place)
    lets = inner.lets if expr.index is None else [*inner.lets[:-1], Let((expr.index,), inner.lets[-1].expr)]
    assert isinstance(index, Var)
    body = Body((*lets, *expr.body.lets), expr.body.results)
    builder.emit(Let(targets, Loop(expr.carried, carried, body, place, here), span))
    return Loop(carried, expr.init, builder.body(targets), block, blocks.count, None, expr.checkpoint)


def bytes_of(builder: Builder, type_: ArrayType) -> Size:
    """The bytes of an array of the new program."""
    size: Size = i64(type_.dtype.bytes)
    for extent in type_.shape:
        size = builder.size("mul", size, extent)
    return size


# ---------------------------------------------------------------------------- what an iteration logs
def _logged_bytes(scope: Scope, plan: LoopPlan) -> Size | None:
    """The bytes that an iteration adds to the logs of a plan; None where they differ."""
    builder = scope.builder
    total: Size = i64(0)
    for key, frame in plan.channels():
        trips = _trips(frame)
        if trips is None:
            return None
        size = bytes_of(builder, _array_type(scope.renaming.type(key.type)))
        for trip in trips:
            size = builder.size("mul", size, scope.new_size(trip))
        total = builder.size("add", total, size)
    return builder.size("max", total, i64(1))


def _trips(frame: Frame) -> Sequence[Size] | None:
    """How often the frames between a loop and this one run each time; None where that differs."""
    found: list[Size] = []
    while frame.around is not None:
        if not frame.is_regular or frame.trip is None:
            return None
        found.append(frame.trip)
        frame = frame.around
    return found


def _overwrites_all(scope: Scope, expr: Loop, plan: LoopPlan) -> bool:
    """Whether an iteration surely logs about as much of each state as there is."""
    logged = []
    for key, frame in plan.channels():
        trips = _trips(frame)
        if trips is not None:
            logged.append(_extents(scope, [*_array_type(key.type).shape, *trips]))
    for position in plan.positions:
        symbols, constant = _extents(scope, expr.carried[position].type.shape)
        if not any(found >= symbols and SHARE * times >= constant for found, times in logged):
            return False
    return True


def _extents(scope: Scope, sizes: Sequence[Size]) -> tuple[Counter[object], int]:
    """The product of sizes: what those that are no constants grow with (n and n - 2 grow alike), and the
    product of the others."""
    symbols = (affine(size, scope.definitions).slope for size in sizes if not isinstance(size, Const))
    return Counter(symbols), prod(int(size.value) for size in sizes if isinstance(size, Const))


def _array_type(type_: Type) -> ArrayType:
    assert isinstance(type_, ArrayType)
    return type_


def _size(name: str) -> Var:
    return Var(name, ArrayType(I64))
