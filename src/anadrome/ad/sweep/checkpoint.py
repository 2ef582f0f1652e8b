"""Reverse mode of loops with a checkpoint policy: a few snapshots, and forward runs between them.

The forward run keeps the carried values at the entry of some iterations, on a stack of `slots` places that
is allocated once. The return sweep of iteration i drops the snapshot behind i, if there is one, runs forward
from the topmost snapshot to i, setting new ones on the way while there is room, and then reverses iteration i
from the state on top of the stack:

    places = […, p]                       with p ≤ i the iteration of the topmost snapshot
    while p < i { run p, p + 1, …, p + m - 1; push the state; p = p + m }
    s_adj ← ∂body(s)/∂sᵀ · s_adj          from the state s on top

`ad.sweep.schedule` says how many places there are and how long m is (Griewank & Walther 2000); all of it is
computed by the program, so one program serves every number of iterations. The body stands three times in it:
in the forward run, in the runs between snapshots, and in the return sweep. Where the loop updates arrays in
place all this is done with blocks of iterations (`ad.sweep.blocks`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anadrome.ad.arrays import flipped
from anadrome.ad.sweep.blocks import blocks_of, bytes_of, over_blocks
from anadrome.ad.sweep.log import counted
from anadrome.ad.sweep.mutated import called, counting_plan
from anadrome.ad.sweep.repeat import repeated
from anadrome.ad.sweep.residuals import residual
from anadrome.ad.sweep.schedule import PLACE_BYTES, slots_kept
from anadrome.ad.sweep.scope import Residuals, Scope, Snapshots, Sweeps
from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.checkpoint import Checkpoint
from anadrome.array_ir.nodes import (
    ArrayType,
    Atom,
    Body,
    Bounds,
    Check,
    Const,
    Full,
    Let,
    Loop,
    Size,
    Var,
    i64,
)
from anadrome.errors.base import Span
from anadrome.errors.runtime import BudgetExceeded
from anadrome.prims.node import replace

BUDGET_WORDS = "this loop may keep {0} bytes, and {1} of its states need {2}"


def is_checkpointed(expr: Loop) -> bool:
    """Whether a loop has a policy of its own to follow."""
    return _policy(expr) is not None and any(isinstance(var.type, ArrayType) for var in expr.carried)


def _policy(expr: Loop) -> Checkpoint | None:
    """What a loop asks for, where that is not what any loop gets."""
    hint = expr.checkpoint
    if hint is not None and hint.is_swept:
        hint = Checkpoint.of(hint.repeats or hint.policy, None) if hint.policy != "budget" else None
    return None if hint == Checkpoint("all") else hint


def _states(expr: Loop) -> list[int]:
    """Which carried values are kept: all but accumulators, which the return sweep does not read."""
    return [position for position, var in enumerate(expr.carried) if isinstance(var.type, ArrayType)]


# ---------------------------------------------------------------------------- forward
def forward_checkpointed(scope: Scope, let: Let, expr: Loop) -> None:
    """Run a loop and take snapshots of what it carries; the scope remembers them for the return sweep."""
    builder = scope.builder
    init = [scope.new(atom) for atom in expr.init]
    plan = counting_plan(expr)
    trip = scope.new(counted(scope, let, expr, plan, False).most[plan.frame])
    states = _states(expr)
    hint = _policy(expr)
    assert hint is not None
    types = [scope.type_of(expr.carried[position]) for position in states]
    snapshot = _snapshot_bytes(builder, types)
    blocks = blocks_of(scope, expr, hint, trip, snapshot)
    if blocks is not None:
        expr, trip = over_blocks(scope, expr, blocks, let.span), scope.new_size(blocks.count)
    slots = _slots(builder, hint, trip, snapshot, i64(0) if blocks is None else blocks.reserved, let.span)
    places = builder.zeros(ArrayType(i64(0).dtype, (slots,)))
    names = [called(expr.carried[position].name, "snapshots") for position in states]
    stores = [
        builder.let_one(Full((slots, *type_.shape), number(0, type_.dtype), is_room=True), name)
        for type_, name in zip(types, names, strict=True)
    ]
    first = [builder.update(store, (i64(0),), init[k]) for store, k in zip(stores, states, strict=True)]

    def goes_on(inner: Builder, carried: tuple[Var, ...]) -> Atom:
        return inner.apply("lt", carried[0], trip)

    def segment(inner: Builder, carried: tuple[Var, ...]) -> Sequence[Atom]:
        (done, top, old_places), old_stores = carried[:3], carried[3 : 3 + len(states)]
        length = _distance(inner, inner.sub(trip, done), _free(inner, slots, top))
        after = _run(scope, inner, expr, expr.body, done, length, carried[3 + len(states) :])
        now = inner.add(done, length)
        is_kept = inner.apply("lt", now, trip)
        above = inner.add(top, i64(1))
        at = (inner.select(is_kept, above, slots),)
        new_places = inner.update(old_places, at, now, Bounds.IGNORED)
        new_stores = [
            inner.update(store, at, after[k], Bounds.IGNORED)
            for store, k in zip(old_stores, states, strict=True)
        ]
        return (now, inner.select(is_kept, above, top), new_places, *new_stores, *after)

    results = builder.while_loop([i64(0), i64(0), places, *first, *init], goes_on, segment)
    top, last_places = results[1:3]
    scope.renaming.mapping.update(zip(let.targets, results[3 + len(states) :], strict=True))
    last_stores = results[3 : 3 + len(states)]
    found = Snapshots(trip, top, last_places, last_stores, blocks)
    pairs = zip((expr.carried[position] for position in states), last_stores, strict=True)
    why = "iterations run again from the last one before them"
    scope.kept.append((let.span, [(residual(var, "snapshots", why, var, let.span), at) for var, at in pairs]))
    scope.snapshots.update(dict.fromkeys(let.targets, found))


def _run(
    scope: Scope,
    builder: Builder,
    expr: Loop,
    body: Body,
    start: Atom,
    length: Atom,
    values: Sequence[Atom],
    states: Sequence[int] | None = None,
) -> tuple[Var, ...]:
    """`length` iterations of a body from iteration `start` on, which carries the values of `states`."""
    carried = expr.carried if states is None else [expr.carried[position] for position in states]

    def step(inner: Builder, index: Var, current: tuple[Var, ...]) -> Sequence[Atom]:
        mapping = {**scope.renaming.mapping, **dict(zip(carried, current, strict=True))}
        if expr.index is not None:
            mapping[expr.index] = inner.add(start, index)
        return inner.inline(body, mapping)

    return builder.loop(length, values, step)


# ---------------------------------------------------------------------------- return sweep
@dataclass(frozen=True, slots=True)
class _Stack:
    """The way back through a loop by its snapshots: the stack goes along, with the state that the iteration
    to be reversed was entered with on top."""

    expr: Loop
    found: Snapshots
    checkpoint: Checkpoint
    positions: Sequence[int] = ()

    @property
    def trip(self) -> Size:
        """How many iterations, or blocks of them, there are."""
        return self.found.trip

    def start(self, scope: Scope, let: Let) -> list[Atom]:
        """The stack as the forward run left it."""
        return [self.found.top, self.found.places, *self.found.stores]

    def enter(
        self, inner: Scope, index: Var, carried: Sequence[Var], sweeps: Sweeps
    ) -> tuple[Residuals, Callable[[], list[Atom]]]:
        """Begin the reversal of one iteration: what its forward run left, and the stack."""
        expr, states = self.expr, _states(self.expr)
        place = flipped(inner.builder, self.found.trip, index)
        again = repeated(expr.body, [expr.body.results[position] for position in states])
        top, places, *stores = _advanced(inner, inner.builder, expr, again, self.found, place, carried)
        mapping = inner.renaming.mapping
        if expr.index is not None:
            mapping[expr.index] = place
        for position, store in zip(states, stores, strict=True):
            mapping[expr.carried[position]] = inner.builder.index(store, (top,))
        residuals = sweeps.forward(inner, expr.body, True, {})
        return residuals, lambda: [top, places, *stores]


def snapshots_of(scope: Scope, let: Let, expr: Loop) -> _Stack:
    """The way back through a loop whose forward run has left snapshots."""
    found = next(scope.snapshots[target] for target in let.targets if target in scope.snapshots)
    if found.blocks is not None:
        expr = over_blocks(scope, expr, found.blocks, let.span)
    assert expr.checkpoint is not None
    swept = replace(expr.checkpoint, is_swept=True, in_blocks=found.blocks is not None)
    return _Stack(expr, found, swept)


def _advanced(
    scope: Scope,
    builder: Builder,
    expr: Loop,
    body: Body,
    found: Snapshots,
    place: Atom,
    stack: Sequence[Var],
) -> tuple[Var, ...]:
    """The stack (top, places, stores) with the state at the entry of iteration `place` on top."""
    top, places, *stores = stack
    is_behind = builder.apply("gt", builder.index(places, (top,)), place)
    lower = builder.select(is_behind, builder.sub(top, i64(1)), top)

    def is_before(inner: Builder, carried: tuple[Var, ...]) -> Atom:
        return inner.apply("lt", inner.index(carried[1], carried[:1]), place)

    def segment(inner: Builder, carried: tuple[Var, ...]) -> Sequence[Atom]:
        here, old_places, *old_stores = carried
        begin = inner.index(old_places, (here,))
        left = inner.add(inner.sub(place, begin), i64(1))
        length = _distance(inner, left, _free(inner, found.slots, here))
        values = [inner.index(store, (here,)) for store in old_stores]
        after = _run(scope, inner, expr, body, begin, length, values, _states(expr))
        above = inner.add(here, i64(1))
        new_places = inner.update(old_places, (above,), inner.add(begin, length))
        pairs = zip(old_stores, after, strict=True)
        return (above, new_places, *(inner.update(store, (above,), value) for store, value in pairs))

    return builder.while_loop([lower, places, *stores], is_before, segment)


# ---------------------------------------------------------------------------- the schedule, in the program
def _free(builder: Builder, slots: Size, top: Atom) -> Atom:
    """How many snapshots may stand from `top` on; one place more is for the state being reversed."""
    return builder.sub(builder.size("sub", slots, i64(1)), top)


def _distance(builder: Builder, length: Atom, free: Atom) -> Atom:
    """`schedule.distance`, and 1 at the last iteration."""

    def several(inner: Builder) -> Sequence[Atom]:
        def is_short(loop: Builder, carried: tuple[Var, ...]) -> Atom:
            return loop.apply("lt", carried[2], length)

        def more(loop: Builder, carried: tuple[Var, ...]) -> Sequence[Atom]:
            times, _, reach = carried
            after = loop.add(times, i64(1))
            return after, reach, loop.apply("floordiv", loop.mul(reach, loop.add(free, after)), after)

        start = [i64(1), i64(1), inner.add(free, i64(1))]
        times, before, _ = inner.while_loop(start, is_short, more)
        fewer = inner.sub(inner.add(free, times), i64(1))
        rest = inner.apply("floordiv", inner.mul(before, free), fewer)
        return (inner.apply("min", before, inner.sub(length, rest)),)

    is_one = builder.apply("lt", free, i64(2))
    (found,) = builder.branch(is_one, lambda inner: (inner.sub(length, i64(1)),), several)
    return builder.apply("max", found, i64(1))


def _slots(
    builder: Builder, hint: Checkpoint, trip: Size, snapshot: Size, reserved: Size, span: Span | None
) -> Size:
    """`schedule.slots_kept`; refused here or, where a size is not known yet, when the program runs, if the
    budget does not hold as much. `reserved` bytes of it are for the log of a block."""
    most = builder.size("max", trip, i64(1))
    least = builder.size("min", most, i64(2))
    if isinstance(trip, Const) and isinstance(snapshot, Const) and reserved == i64(0):
        slots: Size = i64(slots_kept(hint, int(trip.value), int(snapshot.value)))
    else:
        wanted = _wanted(builder, hint, trip, snapshot, reserved)
        slots = builder.size("max", builder.size("min", wanted, most), least)
    if hint.memory is not None:
        needed = builder.size("add", builder.size("mul", slots, snapshot), reserved)
        _hold(builder, hint.memory, needed, slots, span)
    return slots


def _snapshot_bytes(builder: Builder, types: Sequence[ArrayType]) -> Size:
    total: Size = i64(PLACE_BYTES)
    for type_ in types:
        total = builder.size("add", total, bytes_of(builder, type_))
    return total


def _wanted(builder: Builder, hint: Checkpoint, trip: Size, snapshot: Size, reserved: Size) -> Size:
    """How many states a policy keeps, before it is held to what is useful."""
    match hint.policy:
        case "all":
            return trip
        case "sqrt" | "repeats":
            times = hint.repeats if hint.policy == "repeats" else 2
            if times == 1:
                return trip

            def is_short(inner: Builder, carried: tuple[Var, ...]) -> Atom:
                return inner.apply("lt", carried[1], trip)

            def more(inner: Builder, carried: tuple[Var, ...]) -> Sequence[Atom]:
                count = inner.add(carried[0], i64(1))
                reach = inner.mul(carried[1], inner.add(count, i64(times)))
                return count, inner.apply("floordiv", reach, count)

            snapshots = builder.while_loop([i64(1), i64(times + 1)], is_short, more)[0]
            return builder.size("add", snapshots, i64(1))
        case "log":

            def is_less(inner: Builder, carried: tuple[Var, ...]) -> Atom:
                return inner.apply("lt", carried[1], trip)

            def double(inner: Builder, carried: tuple[Var, ...]) -> Sequence[Atom]:
                return inner.add(carried[0], i64(1)), inner.mul(carried[1], i64(2))

            return builder.while_loop([i64(1), i64(1)], is_less, double)[0]
        case "budget":
            assert hint.memory is not None
            return builder.size("floordiv", builder.size("sub", i64(hint.memory), reserved), snapshot)


def _hold(builder: Builder, memory: int, needed: Size, slots: Size, span: Span | None) -> None:
    """Refuse a budget that the states do not fit in."""
    if isinstance(needed, Const):
        if int(needed.value) > memory:
            raise BudgetExceeded.of(BUDGET_WORDS, (memory, _shown(slots), needed.value), span)
        return
    fits = builder.apply("le", needed, i64(memory))
    builder.let(Check(fits, "budget", BUDGET_WORDS, (i64(memory), slots, needed)))


def _shown(size: Size) -> object:
    return size.value if isinstance(size, Const) else size
