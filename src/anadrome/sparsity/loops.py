"""The search for a sparsity pattern in branches and sequential loops.

A branch on a known condition is taken lane by lane; on one that is not known both sides count. A loop is
followed in one of two ways, both sound:

* *step by step*, in order, which forgets what is overwritten; the number of iterations must be known;
* *joined*: with J the union of what a carried value depends on over all iterations, the body is evaluated for
  all iterations at once with J for the carried values, until J does not grow. Writing into a carried array
  joins what is written to J at its place, so that no iteration has an array of its own.

Joined is exact for sums, for arrays that are only written into, and what else does not go round; and it is
all there is where the number of iterations depends on the differentiated values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from anadrome.array_ir.nodes import Apply, ArrayType, Atom, Body, Const, If, Loop, SumType, Var
from anadrome.array_ir.walk import all_lets
from anadrome.sparsity.flow import Flow, is_updated_only
from anadrome.sparsity.sets import Ints, grouped, spans, union
from anadrome.sparsity.state import ELEMENTS, State, breadth, chosen
from anadrome.sparsity.values import (
    OUTSIDE,
    Block,
    Data,
    Lanes,
    Pending,
    Scalar,
    Source,
    Store,
    Value,
    collected,
    collecting,
    contiguous,
    lift,
    lift_block,
)

STEPS = 50_000
"""A loop is followed step by step where it runs at most this many statements, those of inner loops once."""


# ---------------------------------------------------------------------------- branches
def branch(state: State, targets: Sequence[Var], expr: If, lanes: Lanes) -> None:
    """Take the known way in each lane, both ways where it is not known."""
    condition = state.known(expr.condition, lanes)
    wanted = [place for place, var in enumerate(targets) if _is_wanted(state, var)]
    sides: list[list[Value]] = []
    for body, is_taken in ((expr.then, condition), (expr.other, None if condition is None else ~condition)):
        if is_taken is None or is_taken.all():
            state.run(state, body, lanes)
            sides.append([state.value(body.results[place], lanes) for place in wanted])
            if is_taken is not None:
                break
            continue
        members = np.flatnonzero(is_taken)
        if not len(members) and lanes.count:
            continue
        inner = Lanes(len(members), lanes, members)
        state.run(state, body, inner)
        sides.append([spread(state.value(body.results[place], inner), lanes, members) for place in wanted])
    for position, place in enumerate(wanted):
        value = sides[0][position]
        if len(sides) > 1:
            then, other = (side[position] for side in sides)
            value = chosen(state, condition, then, other, lanes)
        state.bind(targets[place], value)


def _is_wanted(state: State, var: Var) -> bool:
    return state.is_reached(var) or state.is_needed(var)


def spread(value: Value, lanes: Lanes, members: Ints) -> Value:
    """A value of some lanes as one of all of them, with nothing in the others."""
    if isinstance(value, Scalar):
        known = None
        if value.value is not None:
            known = np.zeros(lanes.count, value.value.dtype)
            known[members] = value.value
        return Scalar(lanes, known, frozenset(_spread_source(s, lanes, members) for s in value.sources))
    if value.pending is not None and value.pending.root is not None:
        return lift_block(value.pending.root, lanes)
    offset = np.full(lanes.count, OUTSIDE)
    offset[members] = value.offset
    return Block(
        lanes, offset, tuple(_spread_ints(size, lanes, members) for size in value.shape), value.store
    )


def _spread_source(source: Source, lanes: Lanes, members: Ints) -> Source:
    rows = np.full(lanes.count, -1)
    rows[members] = source.rows
    return Source(source.sets, rows)


def _spread_ints(values: Ints, lanes: Lanes, members: Ints) -> Ints:
    found = np.zeros(lanes.count, np.int64)
    found[members] = values
    return found


# ---------------------------------------------------------------------------- loops
@dataclass(frozen=True, slots=True, eq=False)
class _Carried:
    """A carried value that matters: its place, its variables, and how the loop may treat it."""

    place: int
    var: Var
    target: Var
    init: Atom
    result: Atom

    @property
    def is_token(self) -> bool:
        """Whether this is an accumulator, whose contributions are collected anyway."""
        return isinstance(self.var.type, SumType)

    @property
    def is_scalar(self) -> bool:
        """Whether this is a number."""
        return isinstance(self.var.type, ArrayType) and self.var.type.is_scalar


def loop(state: State, targets: Sequence[Var], expr: Loop, lanes: Lanes) -> None:
    """Follow a loop step by step or joined."""
    rows = zip(expr.carried, targets, expr.init, expr.body.results, strict=True)
    carried = [
        _Carried(place, *row)
        for place, row in enumerate(rows)
        if _is_wanted(state, row[0]) or _is_wanted(state, row[1])
    ]
    trip = None
    if expr.trip is not None:
        found = state.known(expr.trip, lanes)
        trip = None if found is None else np.maximum(found, 0)
    statements = sum(1 for _ in all_lets(expr.body)) + 1
    most = max(STEPS // statements, 2)
    if expr.trip is None:
        is_followed = _stepwise(state, expr, carried, None, lanes, most)
    else:
        is_simple = all(_is_simple(state, one, expr) for one in carried)
        is_short = trip is not None and _longest(trip) <= (1 if is_simple else most)
        is_followed = is_short and _stepwise(state, expr, carried, trip, lanes, most)
    if not is_followed:
        _joined(state, expr, carried, trip, lanes)


def _longest(trip: Ints) -> int:
    return int(trip.max(initial=0))


def _is_simple(state: State, one: _Carried, expr: Loop) -> bool:
    """Whether joining loses nothing of a carried value."""
    if one.is_token:
        return True
    if not state.is_reached(one.var):
        return not state.is_needed(one.var) or _step(one, expr) is not None
    if not one.is_scalar:
        return is_updated_only(one.var, expr.body, one.place)
    onward = Flow.of(expr.body).downstream((one.var,), with_steered=False)
    return not any(
        result in onward for place, result in enumerate(expr.body.results) if place != one.place
    ) and not any(var in onward for var in _sums(expr.body))


def _sums(body: Body) -> set[Var]:
    return {target for let in all_lets(body) for target in let.targets if isinstance(target.type, SumType)}


def _stepwise(
    state: State,
    expr: Loop,
    carried: Sequence[_Carried],
    trip: Ints | None,
    lanes: Lanes,
    most: int,
) -> bool:
    """Follow the iterations in order; False where the condition is not known, or after too many."""
    values = [state.value(one.init, lanes) for one in carried]
    iteration = 0
    while True:
        running = _running(state, expr, carried, values, trip, iteration, lanes)
        if running is None or iteration > most:
            return False
        if not running.any():
            break
        members = np.flatnonzero(running)
        inner = lanes if len(members) == lanes.count else Lanes(len(members), lanes, members)
        for one, value in zip(carried, values, strict=True):
            state.bind(one.var, lift(value, inner))
        if expr.index is not None:
            state.bind(expr.index, Scalar(inner, np.full(inner.count, iteration)))
        state.run(state, expr.body, inner)
        after = [
            lift(value, inner) if one.is_token else state.value(one.result, inner)
            for one, value in zip(carried, values, strict=True)
        ]
        if inner is not lanes:
            after = [
                chosen(state, running, spread(new, lanes, members), old, lanes)
                for one, new, old in zip(carried, after, values, strict=True)
            ]
        values = [_tidy(value) for value in after]
        iteration += 1
    for one, value in zip(carried, values, strict=True):
        state.bind(one.target, value)
    return True


def _running(
    state: State,
    expr: Loop,
    carried: Sequence[_Carried],
    values: Sequence[Value],
    trip: Ints | None,
    iteration: int,
    lanes: Lanes,
) -> Data | None:
    """The lanes in which an iteration runs; None where that is not known."""
    if trip is not None:
        return iteration < trip
    assert expr.condition is not None
    for one, value in zip(carried, values, strict=True):
        state.bind(one.var, value)
    state.run(state, expr.condition, lanes)
    return state.known(expr.condition.results[0], lanes)


def _tidy(value: Value) -> Value:
    """What one iteration leaves to the next: one source for a scalar, no store that grows with the steps."""
    if isinstance(value, Scalar):
        if len(value.sources) <= 1:
            return value
        sets = collected(value.sources)
        return Scalar(value.lanes, value.value, frozenset([Source(sets, np.arange(value.lanes.count))]))
    return value if value.pending is not None else contiguous(value)


# ---------------------------------------------------------------------------- all iterations at once
def _joined(state: State, expr: Loop, carried: Sequence[_Carried], trip: Ints | None, lanes: Lanes) -> None:
    """Let every iteration start from the join of all."""
    start = {one.place: state.value(one.init, lanes) for one in carried}
    joins = {place: _open(value) for place, value in start.items()}
    marks = [(p, len(p.parts)) for p in map(_pending_of, start.values()) if p is not None]
    last = 1 if trip is None else _longest(trip)
    chunk = _chunk(state, expr, carried, joins, lanes)
    while True:
        before = _members(joins)
        for pending, length in marks:
            del pending.parts[length:]
        for first in range(0, last, chunk):
            inner, index = _iterations(trip, first, chunk, lanes)
            for one in carried:
                join = joins[one.place]
                count = _counter(state, one, expr, start[one.place], index, inner)
                state.bind(one.var, lift(join, inner) if count is None else count)
            if expr.index is not None:
                state.bind(expr.index, Scalar(inner, index))
            state.run(state, expr.body, inner)
            for one in carried:
                if not one.is_token:
                    after = state.value(one.result, inner)
                    joins[one.place] = _join(joins[one.place], start[one.place], after, lanes)
        if _members(joins) == before:
            break
    for one in carried:
        value = joins[one.place]
        if isinstance(value, Block) and _pending_of(start[one.place]) is None:
            value = Block(lanes, value.offset, value.shape, value.store)
        state.bind(one.target, _counter(state, one, expr, start[one.place], trip, lanes) or value)


def _pending_of(value: Value) -> Pending | None:
    return value.pending if isinstance(value, Block) else None


def _chunk(
    state: State, expr: Loop, carried: Sequence[_Carried], joins: Mapping[int, Value], lanes: Lanes
) -> int:
    """How many iterations to join at once: as many as make a bearable number of elements."""
    size = breadth(state, expr.body, lanes)
    for one in carried:
        join = joins[one.place]
        is_whole = not one.is_token and not is_updated_only(one.var, expr.body, one.place)
        if isinstance(join, Block) and is_whole:
            size = max(size, int(join.sizes().max(initial=0)))
    return max(1, ELEMENTS // max(1, lanes.count * size))


def _iterations(trip: Ints | None, first: int, chunk: int, lanes: Lanes) -> tuple[Lanes, Ints | None]:
    """The lanes of some iterations; one iteration that stands for all where their number is not known."""
    if trip is None:
        return Lanes(lanes.count, lanes, np.arange(lanes.count)), None
    _, up, index = spans(np.clip(trip - first, 0, chunk))
    return Lanes(len(up), lanes, up), index + first


def _open(value: Value) -> Value:
    """A carried value as the first join: what it starts with, its values not known. What is collected anyway
    is left as it is."""
    if isinstance(value, Scalar):
        return Scalar(value.lanes, None, value.sources)
    if value.pending is not None:
        return value
    own = contiguous(value)
    return collecting(own, Store(own.store.count, None, own.store.sets))


def _join(join: Value, start: Value, after: Value, lanes: Lanes) -> Value:
    """The join with what the iterations end with."""
    if isinstance(after, Scalar):
        assert isinstance(join, Scalar)
        sets = collected(after.sources)
        if sets is None:
            return join
        found = grouped(sets, after.lanes.up, lanes.count)
        mine = collected(join.sources)
        whole = found if mine is None else union((mine, found))
        return Scalar(lanes, None, frozenset([Source(whole, np.arange(lanes.count))]))
    assert isinstance(join, Block) and join.pending is not None
    if after.pending is not join.pending:
        own = contiguous(after)
        _, runs, within = spans(own.sizes())
        join.pending.add(join.offset[own.lanes.up[runs]] + within, own.store.sets)
    if join.pending is _pending_of(start):
        return join
    return collecting(join, join.pending.joined(join.store))


def _members(joins: Mapping[int, Value]) -> list[int]:
    """How much each join holds: it grows until nothing is left to be added."""
    found = []
    for join in joins.values():
        sets = collected(join.sources) if isinstance(join, Scalar) else join.store.sets
        found.append(0 if sets is None else int(sets.nnz))
    return found


# ---------------------------------------------------------------------------- counters
def _step(one: _Carried, expr: Loop) -> Atom | None:
    """By how much a counter grows in each iteration: `k = k + 2`. None for what is no counter."""
    if not one.is_scalar or not one.var.type.dtype.is_integer:
        return None
    if one.result is one.var:
        return Const(0, one.var.type.dtype)
    inside = {*expr.carried, expr.index, *(var for let in all_lets(expr.body) for var in let.targets)}
    for let in expr.body.lets:
        if one.result in let.targets and isinstance(let.expr, Apply) and let.expr.prim.name == "add":
            left, right = let.expr.args
            other = right if left is one.var else left if right is one.var else None
            return None if other is None or other in inside else other
    return None


def _counter(
    state: State, one: _Carried, expr: Loop, start: Value, iteration: Ints | None, lanes: Lanes
) -> Scalar | None:
    """A counter after so many iterations, where its start and step are known."""
    step = _step(one, expr)
    if step is None or iteration is None:
        return None
    first, by = lift(start, lanes), state.known(step, lanes)
    if not isinstance(first, Scalar) or first.value is None or by is None:
        return None
    return Scalar(lanes, (first.value + iteration * by).astype(first.value.dtype))
