"""`Loop`: carried scalars in cells, carried arrays updated in place or in two buffers that change roles.

Parallel assignment: whatever lies elsewhere at the end of an iteration is first copied to the slot's second
buffer; only when nothing reads the old state any more do the second buffers become the state.
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
from anadrome.lower.lowering import Lowering, is_pinned, is_scalar, number
from anadrome.lower.origin import is_updated_in_place, is_written_by_rows, predecessor
from anadrome.lower.values import Destination, Place, Splat, Value


@dataclass(slots=True, eq=False)
class Slot:
    """The storage of one carried value: a cell, the place of an array's state with a second place where the
    next state is built, or (neither) an accumulator."""

    carried: array_ir.Var
    cell: Buffer | None = None
    state: Place | None = None
    following: Place | None = None


def lower_loop(low: Lowering, let: array_ir.Let, expr: array_ir.Loop) -> None:
    """A `For` or a `While` over the slots."""
    slots = [_slot(low, let, expr, position) for position in range(len(expr.carried))]
    if expr.trip is not None and expr.index is not None:
        with low.emit.loop(expr.index.name, ZERO, low.scalar(expr.trip)) as index:
            _iteration(low, expr, slots, (expr.index, index))
    else:
        _while(low, expr, slots)
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
    return Slot(carried, state=_front(low, let, init, target, following), following=following)


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
    low: Lowering, let: array_ir.Let, init: array_ir.Var, target: array_ir.Var, following: Place
) -> Place:
    """The first state: the initial array itself if it may be exchanged with the second buffer."""
    value = low.array(init)
    if isinstance(value, Place) and value.storage.is_whole and not value.storage.children:
        is_alike = value.buffer.space is following.buffer.space
        if is_alike and low.live.is_consumable(init, value.storage, let):
            return value
    place = low.allocate(target)
    low.deliver(value, Destination(place))
    return place


def _while(low: Lowering, expr: array_ir.Loop, slots: list[Slot]) -> None:
    condition = expr.condition
    assert condition is not None
    with low.emit.open("loop") as prelude:
        binders = [(slot.carried, _current(low, slot)) for slot in slots]
        (holds,) = low.run(condition, is_repeating=True, binders=binders)
        held = low.emit.let("holds", BOOL, number(holds))
    with low.emit.open("loop") as body:
        _iteration(low, expr, slots)
    low.emit.emit(kernel_ir.While(tuple(prelude.stmts), held, tuple(body.stmts), low.emit.span))


def _current(low: Lowering, slot: Slot) -> Value:
    if slot.cell is not None:
        return low.emit.load(slot.carried.name, slot.cell)
    return slot.state if slot.state is not None else low.env[slot.carried]


def _iteration(
    low: Lowering, expr: array_ir.Loop, slots: list[Slot], *index: tuple[array_ir.Var, Value]
) -> None:
    binders = [*index, *((slot.carried, _current(low, slot)) for slot in slots)]
    destinations = [None if slot.following is None else Destination(slot.following) for slot in slots]
    results = low.run(expr.body, destinations, is_repeating=True, binders=binders)
    places = (place for slot in slots for place in (slot.state, slot.following) if place is not None)
    taken = {place.buffer for place in places}
    values = [_settled(low, slot, value, taken) for slot, value in zip(slots, results, strict=True)]
    for slot, value in zip(slots, values, strict=True):
        if slot.cell is not None:
            low.emit.emit(kernel_ir.Store(slot.cell, (ZERO,), number(value)))
        elif slot.state is not None:
            _advance(low, slot.state, slot.following, value)


def _settled(low: Lowering, slot: Slot, value: Value, taken: set[Buffer]) -> Value:
    """The next state of an array that should have been updated in place, out of the way of what other states
    and their second buffers are in."""
    if slot.state is None or slot.following is not None or not isinstance(value, Place):
        return value
    return value if value.is_at(slot.state) or value.buffer not in taken else low.moved(value)


def _advance(low: Lowering, state: Place, following: Place | None, value: Value) -> None:
    if following is None:
        low.deliver(value, Destination(state))
    elif state.buffer.space is Space.GLOBAL and state.storage.is_whole:
        low.emit.emit(kernel_ir.Swap(state.buffer, following.buffer))
        if state.buffer in low.donated:
            low.exchanged.add(following.buffer)
    else:
        low.emit.copy(state, following)
