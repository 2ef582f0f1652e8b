"""`Loop`: carried scalars in cells, carried arrays updated in place or in buffers that change roles.

Parallel assignment: whatever lies elsewhere at the end of an iteration is first copied to the slot's second
buffer; only when nothing reads the old state any more do the second buffers become the state. Where the next
state of one slot is what an iteration leaves in the buffer of another one (`u, w = w, u`; `old, u = u, new`),
the buffers move on along such a chain, and nothing is copied (`_chains`).
"""

from __future__ import annotations

from dataclasses import dataclass

from anadrome.array_ir import nodes as array_ir
from anadrome.array_ir.nodes import SumType
from anadrome.dtypes import BOOL
from anadrome.errors.kernels_launch import KernelCopy
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir.arithmetic import ZERO
from anadrome.kernel_ir.nodes import Buffer, Space
from anadrome.lower.emit import is_small
from anadrome.lower.lowering import Lowering, is_pinned, is_scalar, number
from anadrome.lower.origin import is_updated_in_place, is_written_by_rows, origin, predecessor
from anadrome.lower.values import Destination, Place, Splat, Value


@dataclass(slots=True, eq=False)
class Slot:
    """The storage of one carried value: a cell, the place of an array's state with a second place where the
    next state is built, or (neither) an accumulator."""

    carried: array_ir.Var
    cell: Buffer | None = None
    state: Place | None = None
    following: Place | None = None


Chain = list[int]
"""Slots, by position, of which each one's next state lies in the buffer of the slot before it; that of the
first one in the buffer of the last, or in a buffer behind it in the chain, which then is that one's."""


def lower_loop(low: Lowering, let: array_ir.Let, expr: array_ir.Loop) -> None:
    """A `For` or a `While` over the slots."""
    chains = _chains(low, expr)
    passed = {position for chain in chains for position in chain}
    first = {chain[0] for chain in chains if _source(low, expr, chain[0]) is None}
    slots = [
        _passed_on(low, let, expr, position, is_new=position in first)
        if position in passed
        else _slot(low, let, expr, position)
        for position in range(len(expr.carried))
    ]
    if expr.trip is not None and expr.index is not None:
        with low.emit.loop(expr.index.name, ZERO, low.scalar(expr.trip)) as index:
            _iteration(low, expr, slots, chains, (expr.index, index))
    else:
        _while(low, expr, slots, chains)
    for target, slot in zip(let.targets, slots, strict=True):
        if slot.cell is not None:
            low.bind(target, low.emit.load(target.name, slot.cell))
        else:
            low.bind(target, slot.state if slot.state is not None else low.env[slot.carried])


def _slot(low: Lowering, let: array_ir.Let, expr: array_ir.Loop, position: int) -> Slot:
    carried, init, target = expr.carried[position], expr.init[position], let.targets[position]
    if isinstance(carried.type, SumType):
        low.env[carried] = low.value(init)
        return Slot(carried)
    if is_scalar(carried):
        return Slot(carried, cell=low.emit.cell(carried.name, carried.type.dtype, low.scalar(init)))
    assert isinstance(init, array_ir.Var)
    if is_updated_in_place(low.live.facts, expr, position) and not _is_copied(low, expr, position):
        start = low.array(init)
        if isinstance(start, Splat) and (
            start.is_room
            or is_written_by_rows(low.live.facts, expr, position, low.live.knowledge.definitions)
        ):
            return Slot(carried, state=low.destination(target))
        return Slot(carried, state=low.take_over(let, init, target))
    if is_pinned(low.value(init)):
        raise KernelCopy(init.name, let.span)
    following = low.allocate(target)
    state = _front(low, let, init, target, following.buffer.space)
    return Slot(carried, state=state, following=following)


def _passed_on(low: Lowering, let: array_ir.Let, expr: array_ir.Loop, position: int, *, is_new: bool) -> Slot:
    """A slot of a chain: a buffer of its own, and a second one where its next state is made anew."""
    carried, init, target = expr.carried[position], expr.init[position], let.targets[position]
    assert isinstance(init, array_ir.Var)
    following = low.allocate(target) if is_new else None
    return Slot(carried, state=_front(low, let, init, target), following=following)


def _chains(low: Lowering, expr: array_ir.Loop) -> list[Chain]:
    """The slots whose next states lie in the buffers of other ones, as the buffers move on."""
    found = [(position, _source(low, expr, position)) for position in range(len(expr.carried))]
    behind = {source: position for position, source in found if position == source}
    for position, source in found:
        if source is not None:
            behind.setdefault(source, position)
    behind = {source: position for source, position in behind.items() if position != source}
    before = {position: source for source, position in behind.items()}
    chains: list[Chain] = []
    left = dict.fromkeys([*behind, *before])
    while left:
        start = next((position for position in left if position not in before), next(iter(left)))
        chain = [start]
        while (following := behind.get(chain[-1])) is not None and following != start:
            chain.append(following)
        for position in chain:
            del left[position]
        chains.append(chain)
    return chains


def _source(low: Lowering, expr: array_ir.Loop, position: int) -> int | None:
    """The slot in whose buffer an iteration leaves the next state of an array, itself perhaps; None where it
    is made anew, or where buffers of its size are not exchanged."""
    carried = expr.carried[position]
    if isinstance(carried.type, SumType) or is_scalar(carried):
        return None
    found = origin(low.live.facts, expr.body, expr.body.results[position])
    if found is None or found not in expr.carried:
        return None
    source = expr.carried.index(found)
    if source == position:
        return None if _is_copied(low, expr, position) else position
    values = [low.value(expr.init[one]) for one in (position, source)]
    is_local = low.emit.is_kernel or is_small(low.scalars(carried.type.shape))
    is_exchanged = found.type == carried.type and not is_local
    if not is_exchanged or any(map(is_pinned, values)) or _copies(low, expr.body, position):
        return None
    return source


def _is_copied(low: Lowering, expr: array_ir.Loop, position: int) -> bool:
    """Whether each iteration copies a carried array that it updates, since the statement that does so, or one
    behind it, reads what the array was: the copy is then the next state, in the second of two buffers. A
    branch that copies is left alone, for its other side may not."""
    return not is_pinned(low.value(expr.init[position])) and _copies(low, expr.body, position)


def _copies(low: Lowering, body: array_ir.Body, position: int) -> bool:
    """Whether a body copies the array that a result of it is a version of."""
    facts = low.live.facts
    uses, definitions = (found := facts.body(body)).uses, found.definitions
    atom = body.results[position]
    while isinstance(atom, array_ir.Var) and atom in definitions:
        let = definitions[atom]
        place = let.targets.index(atom)
        before = predecessor(facts, let, place)
        if before is None:
            return False
        match let.expr:
            case array_ir.If():
                is_alone = True
            case array_ir.WithSum(init=init, body=inner) if place >= len(init):
                is_alone = not _copies(low, inner, place)
            case _:
                is_alone = low.live.is_sole_operand(before, let)
        if uses[before][-1] > body.lets.index(let) or not is_alone:
            return True
        atom = before
    return False


def _front(
    low: Lowering, let: array_ir.Let, init: array_ir.Var, target: array_ir.Var, space: Space = Space.GLOBAL
) -> Place:
    """The first state: the initial array itself if it may be exchanged with other buffers."""
    value = low.array(init)
    if isinstance(value, Place) and value.storage.is_whole and not value.storage.children:
        is_alike = value.buffer.space is space
        if is_alike and low.live.is_consumable(init, value.storage, let):
            return value
    place = low.allocate(target)
    low.deliver(value, Destination(place))
    return place


def _while(low: Lowering, expr: array_ir.Loop, slots: list[Slot], chains: list[Chain]) -> None:
    condition = expr.condition
    assert condition is not None
    with low.emit.open("loop") as prelude:
        binders = [(slot.carried, _current(low, slot)) for slot in slots]
        (holds,) = low.run(condition, is_repeating=True, binders=binders)
        held = low.emit.let("holds", BOOL, number(holds))
    with low.emit.open("loop") as body:
        _iteration(low, expr, slots, chains)
    low.emit.emit(kernel_ir.While(tuple(prelude.stmts), held, tuple(body.stmts), low.emit.span))


def _current(low: Lowering, slot: Slot) -> Value:
    if slot.cell is not None:
        return low.emit.load(slot.carried.name, slot.cell)
    return slot.state if slot.state is not None else low.env[slot.carried]


def _iteration(
    low: Lowering,
    expr: array_ir.Loop,
    slots: list[Slot],
    chains: list[Chain],
    *index: tuple[array_ir.Var, Value],
) -> None:
    binders = [*index, *((slot.carried, _current(low, slot)) for slot in slots)]
    destinations = [None if slot.following is None else Destination(slot.following) for slot in slots]
    results = low.run(expr.body, destinations, is_repeating=True, binders=binders)
    places = (place for slot in slots for place in (slot.state, slot.following) if place is not None)
    taken = {place.buffer for place in places}
    before = {position: chain[place - 1] for chain in chains for place, position in enumerate(chain)}
    sources = [slots[before.get(position, position)].state for position in range(len(slots))]
    settled = [
        _settled(low, slot, source, value, taken)
        for slot, source, value in zip(slots, sources, results, strict=True)
    ]
    for position, (slot, value) in enumerate(zip(slots, settled, strict=True)):
        if slot.cell is not None:
            low.emit.emit(kernel_ir.Store(slot.cell, (ZERO,), number(value)))
        elif slot.state is not None and position not in before:
            _advance(low, slot.state, slot.following, value)
    for chain in chains:
        _pass_on(low, [slots[position] for position in chain])
        for position in chain:
            slot, source, value = slots[position], sources[position], settled[position]
            is_there = isinstance(value, Place) and source is not None and value.is_at(source)
            if slot.following is None and not is_there:
                assert slot.state is not None
                low.deliver(value, Destination(slot.state))


def _settled(low: Lowering, slot: Slot, source: Place | None, value: Value, taken: set[Buffer]) -> Value:
    """The next state of an array that should have been left in a buffer, `source`, out of the way of what
    other states and their second buffers are in."""
    if source is None or slot.following is not None or not isinstance(value, Place):
        return value
    return value if value.is_at(source) or value.buffer not in taken else low.moved(value)


def _pass_on(low: Lowering, slots: list[Slot]) -> None:
    """Each slot's buffer becomes the next one's, and the last one's the first one's or its second buffer."""
    first = slots[0].following
    places = [*([] if first is None else [first]), *(slot.state for slot in slots if slot.state is not None)]
    for place, other in zip(reversed(places), reversed(places[:-1])):  # noqa: B905, pairs of neighbours
        low.emit.emit(kernel_ir.Swap(place.buffer, other.buffer))
    if any(place.buffer in low.donated for place in places):
        low.exchanged.update(place.buffer for place in places)


def _advance(low: Lowering, state: Place, following: Place | None, value: Value) -> None:
    if following is None:
        low.deliver(value, Destination(state))
    elif state.buffer.space is Space.GLOBAL and state.storage.is_whole:
        low.emit.emit(kernel_ir.Swap(state.buffer, following.buffer))
        if state.buffer in low.donated:
            low.exchanged.add(following.buffer)
    else:
        low.emit.copy(state, following)
