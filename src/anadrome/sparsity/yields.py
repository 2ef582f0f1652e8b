"""The search for a sparsity pattern in a parfor: all iterations at once, then each yield.

With v_i the value of iteration i and D(·) the inputs an element may depend on:

    stack:       D(y_i) = D(v_i)
    reduce:      D(y) = ∪_i D(v_i)
    scan:        D(y_i) = ∪_{j ≤ i} D(v_j)
    accumulate:  D(y_k) = D(init_k) ∪ ∪_{at_i = k} D(v_i)
    scatter:     D(y_k) = D(v_i) of the last i with at_i = k, or D(init_k)

A lambda may mix its operands: each result depends on all values of every operand that flows into it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import assert_never

import numpy as np

from anadrome.array_ir.nodes import (
    Accumulate,
    Atom,
    Body,
    Carry,
    Lambda,
    Operator,
    ParFor,
    Part,
    Reduce,
    Scan,
    Scatter,
    Stack,
    Var,
)
from anadrome.array_ir.operators import identity
from anadrome.array_ir.walk import free_variables
from anadrome.prims.node import replace
from anadrome.sparsity.flow import Flow
from anadrome.sparsity.sets import Ints, Sets, grouped, nothing, pick, prefixes, spans, stacked, union
from anadrome.sparsity.state import ELEMENTS, State, breadth, concatenated
from anadrome.sparsity.values import (
    Block,
    Data,
    Lanes,
    Pending,
    Places,
    Scalar,
    Source,
    Store,
    Value,
    collected,
    contiguous,
    contribution,
    lift_block,
    places,
)

COMBINE: dict[str, np.ufunc] = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.logical_and,
    "or": np.logical_or,
}
"""A named operator -> what it does to arrays."""


def parfor(state: State, targets: Sequence[Var], expr: ParFor, lanes: Lanes) -> None:
    """Run the body for every iteration of every lane, and make what is wanted of the results."""
    counts = np.maximum(state.size(expr.extent, lanes), 0)
    _, up, index = spans(counts)
    inner = Lanes(len(up), lanes, up)
    wanted = [
        (part, targets[where])
        for part, where in expr.slices()
        if any(state.is_reached(var) or state.is_needed(var) for var in targets[where])
    ]
    step = max(1, ELEMENTS // breadth(state, expr.body, lanes))
    if step >= inner.count:
        state.bind(expr.index, Scalar(inner, index))
        state.run(state, expr.body, inner)
    else:
        reduced = _in_parts(state, expr, [part for part, _ in wanted], inner, lanes, step)
    for part, made in wanted:
        item = part.item
        if isinstance(item, Reduce) and step < inner.count:
            for var, blocks in zip(made, reduced[part], strict=True):
                state.bind(var, _together(item.operator, blocks))
        else:
            _yield(state, made, part, inner, lanes)


def _in_parts(
    state: State, expr: ParFor, wanted: Sequence[Part], inner: Lanes, lanes: Lanes, step: int
) -> dict[Part, list[list[Block]]]:
    """Run so many iterations at a time; what yields take of them is put together, reductions for each part
    apart."""
    index = np.arange(inner.count) - np.searchsorted(inner.up, inner.up)
    reduced: dict[Part, list[list[Block]]] = {
        part: [[] for _ in part.takes] for part in wanted if isinstance(part.item, Reduce)
    }
    kept: dict[Var, list[Value]] = {}
    for first in range(0, inner.count, step):
        up = inner.up[first : first + step]
        some = Lanes(len(up), lanes, up)
        state.bind(expr.index, Scalar(some, index[first : first + step]))
        state.run(state, expr.body, some)
        for part in wanted:
            item = part.item
            if isinstance(item, Reduce):
                for position, blocks in enumerate(reduced[part]):
                    blocks.append(_reduced(state, item.operator, part.takes, position, some, lanes))
            elif not isinstance(item, Carry):
                _keep(state, part, some, kept)
    for var, values in kept.items():
        state.bind(var, _all_parts(state, values, inner))
    return reduced


def _keep(state: State, part: Part, some: Lanes, all_kept: dict[Var, list[Value]]) -> None:
    """Keep what a yield takes of some iterations until all have run."""
    for atom in set(part.takes):
        found = state.values.get(atom) if isinstance(atom, Var) else None
        if isinstance(atom, Var) and found is not None and found.lanes is some:
            kept = contiguous(found) if isinstance(found, Block) else found
            if atom not in all_kept or all_kept[atom][-1].lanes is not some:
                all_kept.setdefault(atom, []).append(kept)


def _all_parts(state: State, parts: Sequence[Value], inner: Lanes) -> Value:
    """One value of the values of consecutive iterations."""
    scalars = [part for part in parts if isinstance(part, Scalar)]
    if scalars:
        known = [part.value for part in scalars if part.value is not None]
        value = np.concatenate(known) if len(known) == len(scalars) else None
        if not any(part.sources for part in scalars):
            return Scalar(inner, value)
        sets = [collected(part.sources) for part in scalars]
        filled = [
            nothing(part.lanes.count, state.inputs) if one is None else one
            for part, one in zip(scalars, sets, strict=True)
        ]
        return Scalar(inner, value, frozenset([Source(stacked(filled), np.arange(inner.count))]))
    blocks = [part for part in parts if isinstance(part, Block)]
    starts = np.cumsum([0, *(block.store.count for block in blocks)])
    offset = np.concatenate([block.offset + start for block, start in zip(blocks, starts, strict=False)])
    shape = tuple(np.concatenate(sizes) for sizes in zip(*(block.shape for block in blocks), strict=True))
    return Block(inner, offset, shape, concatenated(state, [block.store for block in blocks]))


def _together(operator: Operator, parts: Sequence[Block]) -> Block:
    """The reduction of the reductions of consecutive iterations."""
    first = parts[0]
    sets = [part.store.sets for part in parts if part.store.sets is not None]
    known = [part.store.data for part in parts if part.store.data is not None]
    data = None
    if len(known) == len(parts) and isinstance(operator, str):
        data = functools.reduce(COMBINE[operator], known)
    return Block(
        first.lanes, first.offset, first.shape, Store(first.store.count, data, union(sets) if sets else None)
    )


def _yield(state: State, made: Sequence[Var], part: Part, inner: Lanes, lanes: Lanes) -> None:
    match part.item:
        case Stack():
            rows = contiguous(state.block(part.value, inner))
            state.bind(made[0], _packed(state, made[0], rows.store, lanes))
        case Reduce(operator=operator):
            for position, var in enumerate(made):
                state.bind(var, _reduced(state, operator, part.takes, position, inner, lanes))
        case Scan(operator=operator, exclusive=exclusive):
            for position, var in enumerate(made):
                store = _scanned(state, operator, part.takes, position, exclusive, inner)
                state.bind(var, _packed(state, var, store, lanes))
        case Accumulate(operator=operator, init=init):
            state.bind(made[0], accumulated(state, operator, init, part.at, part.value, inner, lanes))
        case Scatter(init=init):
            state.bind(made[0], written(state, init, part.at, part.value, inner, lanes))
        case Carry(source=source):
            state.bind(made[0], state.block(source, lanes))
        case _:
            assert_never(part.item)


def _packed(state: State, var: Var, store: Store, lanes: Lanes) -> Block:
    """The elements of all iterations as the arrays of the lanes around, one after the other."""
    block = state.blank(state.shape(var.type, lanes), lanes)
    return Block(lanes, block.offset, block.shape, store)


# ---------------------------------------------------------------------------- reductions
def _columns(rows: Block) -> tuple[Ints, Ints]:
    """For each element of the iterations' rows, its iteration and its place in the row."""
    _, runs, within = spans(rows.sizes())
    return runs, within


def _reduced(
    state: State, operator: Operator, values: Sequence[Atom], position: int, inner: Lanes, lanes: Lanes
) -> Block:
    type_ = values[position].type
    out = state.blank(state.shape(type_, lanes), lanes)
    rows = contiguous(state.block(values[position], inner))
    runs, within = _columns(rows)
    if isinstance(operator, Lambda):
        mixed = _mixed(state, operator, values, position, inner)
        if mixed is None:
            return out
        whole = grouped(mixed, inner.up, lanes.count)
        _, owner, _ = spans(out.sizes())
        return Block(lanes, out.offset, out.shape, Store(out.store.count, None, pick(whole, owner)))
    groups = out.offset[inner.up[runs]] + within
    sets = None if rows.store.sets is None else grouped(rows.store.sets, groups, out.store.count)
    data = None
    if rows.store.data is not None:
        data = np.full(out.store.count, identity(operator, type_.dtype).value, type_.dtype.numpy)
        COMBINE[operator].at(data, groups, rows.store.data)
    return Block(lanes, out.offset, out.shape, Store(out.store.count, data, sets))


def _scanned(
    state: State, operator: Operator, values: Sequence[Atom], position: int, exclusive: bool, inner: Lanes
) -> Store:
    rows = contiguous(state.block(values[position], inner))
    runs, within = _columns(rows)
    if isinstance(operator, Lambda):
        mixed = _mixed(state, operator, values, position, inner)
        sets = None if mixed is None else pick(mixed, runs)
    else:
        sets = rows.store.sets
    is_first = np.ones(inner.count, bool)
    is_first[1:] = inner.up[1:] != inner.up[:-1]
    before = np.where(is_first, -1, np.arange(inner.count) - 1)[runs]
    previous = np.where(before < 0, -1, rows.offset[before] + within)
    data = None
    if rows.store.data is not None and isinstance(operator, str):
        data = _prefix_values(operator, rows.store.data, previous)
        if exclusive:
            unit = identity(operator, values[position].type.dtype).value
            data = np.where(previous < 0, np.asarray(unit, data.dtype), data[previous]) if len(data) else data
    if sets is not None:
        sets = prefixes(sets, previous)
        sets = pick(sets, previous) if exclusive else sets
    return Store(rows.store.count, data, sets)


def _prefix_values(operator: str, data: Data, previous: Ints) -> Data:
    combine, pointers = COMBINE[operator], previous
    while (pointers >= 0).any():
        data = np.where(pointers >= 0, combine(data[pointers], data), data).astype(data.dtype)
        pointers = np.where(pointers >= 0, pointers[pointers], -1)
    return data


def _mixed(
    state: State, operator: Lambda, values: Sequence[Atom], position: int, inner: Lanes
) -> Sets | None:
    """What a result of a lambda may depend on in each iteration: the operands that flow into it, element by
    element or not, and what the lambda reads around it."""
    found = [_whole(state, values[other], inner) for other in _flows_into(operator, position)]
    found += [_whole(state, var, inner) for var in free_variables(operator.body) if state.is_reached(var)]
    found += [_whole(state, atom, inner) for atom in operator.identity]
    kept = [sets for sets in found if sets is not None]
    return union(kept) if kept else None


def _whole(state: State, atom: Atom, lanes: Lanes) -> Sets | None:
    """The union over all elements of an array, for each lane."""
    rows = contiguous(state.block(atom, lanes))
    runs, _ = _columns(rows)
    return None if rows.store.sets is None else grouped(rows.store.sets, runs, lanes.count)


def _flows_into(operator: Lambda, position: int) -> list[int]:
    """The operands of a lambda that may reach one of its results, in any number of applications."""
    flow = Flow.of(Body(operator.body.lets))
    count = len(operator.left)
    steps = []
    for other in range(count):
        reached = flow.downstream((operator.left[other], operator.right[other]), with_steered=False)
        steps.append({place for place in range(count) if operator.body.results[place] in reached})
    found, pending = {position}, [position]
    while pending:
        goal = pending.pop()
        for other in range(count):
            if goal in steps[other] and other not in found:
                found.add(other)
                pending.append(other)
    return sorted(found)


# ---------------------------------------------------------------------------- writing
def indices_of(state: State, at: Sequence[Atom], lanes: Lanes) -> list[Ints | None]:
    """The indices where they are known."""
    return [state.known(index, lanes) for index in at]


def accumulated(
    state: State,
    operator: Operator,
    init: Atom,
    at: Sequence[Atom],
    value: Atom,
    inner: Lanes,
    lanes: Lanes,
) -> Block:
    """`init` with contributions of the inner lanes."""
    base = state.block(init, lanes)
    own = base if base.pending is not None else contiguous(base)
    target, rows = lift_block(own, inner), contiguous(state.block(value, inner))
    where = places(target, indices_of(state, at, inner))
    pending = own.pending or Pending()
    pending.add(*contribution(where, rows.store))
    if isinstance(operator, Lambda):
        for var in free_variables(operator.body):
            around = _whole(state, var, inner) if state.is_reached(var) else None
            if around is not None:
                runs, _ = _columns(rows)
                pending.add(*contribution(where, Store(rows.store.count, None, pick(around, runs))))
    if own.pending is not None:
        return own
    data = _added(operator, own.store.data, where, rows)
    return Block(lanes, own.offset, own.shape, replace(pending.joined(own.store), data=data))


def _added(operator: Operator, data: Data | None, where: Places, rows: Block) -> Data | None:
    """The values of an accumulation, where everything about it is known."""
    if data is None or rows.store.data is None or not where.is_exact or isinstance(operator, Lambda):
        return None
    _, runs, within = spans(where.row)
    inside = where.inside[runs]
    found = data.copy()
    COMBINE[operator].at(found, (where.address[runs] + within)[inside], rows.store.data[inside])
    return found


def written(state: State, init: Atom, at: Sequence[Atom], value: Atom, inner: Lanes, lanes: Lanes) -> Block:
    """`init` with the rows of the inner lanes put to their places: what stood there is gone, where the place
    is known."""
    base = state.block(init, lanes)
    own = base if base.pending is not None else contiguous(base)
    target, rows = lift_block(own, inner), contiguous(state.block(value, inner))
    where = places(target, indices_of(state, at, inner))
    if own.pending is not None or not where.is_exact:
        pending = own.pending or Pending()
        pending.add(*contribution(where, rows.store))
        return own if own.pending else Block(lanes, own.offset, own.shape, pending.joined(own.store))
    _, runs, within = spans(where.row)
    addresses = np.where(where.inside[runs], where.address[runs] + within, -1)
    last = np.arange(own.store.count)
    np.maximum.at(last, addresses[addresses >= 0], np.flatnonzero(addresses >= 0) + own.store.count)
    return Block(lanes, own.offset, own.shape, _replaced(state, own.store, rows.store, last))


def _replaced(state: State, old: Store, new: Store, rows: Ints) -> Store:
    """The elements `rows` of the old ones followed by the new ones."""
    data = None
    if old.data is not None and new.data is not None:
        data = np.concatenate((old.data, new.data))[rows]
    sets = None
    if old.sets is not None or new.sets is not None:
        sets = pick(stacked((state.sets(old), state.sets(new))), rows)
    return Store(old.count, data, sets)
