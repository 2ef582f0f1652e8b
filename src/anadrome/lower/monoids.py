"""Reductions and scans by a lambda: the running value in cells and places, the operator's body inlined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from anadrome.array_ir import nodes as array_ir
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir.arithmetic import ZERO, add, compute, neutral
from anadrome.kernel_ir.nodes import Buffer, Expr, i64
from anadrome.lower.access import write
from anadrome.lower.lowering import Located, Lowering, is_scalar, number
from anadrome.lower.values import Destination, Place, Value
from anadrome.lower.yields import Sink


@dataclass(slots=True, eq=False)
class State:
    """The running value of one operand: a cell, or a place with another one for the next value."""

    cell: Buffer | None = None
    place: Place | None = None
    following: Place | None = None


def open_states(low: Lowering, values: Sequence[array_ir.Atom], start: Sequence[Value]) -> list[State]:
    """States of the values' types that hold `start`."""
    states = []
    for atom, value in zip(values, start, strict=True):
        if is_scalar(atom):
            states.append(State(low.emit.cell("state", atom.type.dtype, number(value))))
            continue
        shape = low.scalars(atom.type.shape)
        place, following = (low.temporary("state", atom.type.dtype, shape) for _ in range(2))
        low.deliver(value, Destination(place))
        states.append(State(place=place, following=following))
    return states


def current(low: Lowering, states: Sequence[State]) -> list[Value]:
    """What the states hold."""
    found: list[Value] = []
    for state in states:
        if state.cell is not None:
            found.append(low.emit.load("state", state.cell))
        else:
            assert state.place is not None
            found.append(state.place)
    return found


def apply_operator(
    low: Lowering,
    operator: array_ir.Lambda,
    left: Sequence[Value],
    right: Sequence[Value],
    destinations: Sequence[Destination | None] = (),
) -> tuple[Value, ...]:
    """left ⊕ right"""
    binders = [*zip(operator.left, left, strict=True), *zip(operator.right, right, strict=True)]
    return low.run(operator.body, destinations, is_repeating=True, binders=binders)


def advance(
    low: Lowering, operator: array_ir.Operator, states: Sequence[State], right: Sequence[Value]
) -> None:
    """state = state ⊕ right"""
    if isinstance(operator, str):
        (state,), (value,) = states, right
        if state.cell is not None:
            old = kernel_ir.Load(state.cell, (ZERO,))
            total = low.emit.fold(operator, state.cell.dtype, old, number(value))
            low.emit.emit(kernel_ir.Store(state.cell, (ZERO,), total))
        else:
            assert state.place is not None
            low.deliver(value, Destination(state.place, operator))
        return
    destinations = [None if state.following is None else Destination(state.following) for state in states]
    values = apply_operator(low, operator, current(low, states), right, destinations)
    for state, value in zip(states, values, strict=True):
        if state.cell is not None:
            low.emit.emit(kernel_ir.Store(state.cell, (ZERO,), number(value)))
        elif state.place is not None and state.following is not None:
            low.emit.copy(state.place, state.following)


def identities(low: Lowering, operator: array_ir.Operator, values: Sequence[array_ir.Atom]) -> list[Value]:
    """The neutral element for these values; of a named operator on arrays it is filled in where it is put."""
    if isinstance(operator, str):
        (atom,) = values
        element = neutral(operator, atom.type.dtype)
        return [element if is_scalar(atom) else low.filled(element, atom.type.shape)]
    return [low.value(atom) for atom in operator.identity]


@dataclass(slots=True, eq=False)
class ReduceLambdaSink(Sink):
    """state = state ⊕ values, and after the join the workers' states in order."""

    operator: array_ir.Lambda
    values: tuple[array_ir.Atom, ...]
    _states: list[State] = field(init=False, default_factory=list)
    _partials: list[Place] = field(init=False, default_factory=list)

    def open(self) -> None:
        if self.workers is not None:
            self._partials = [
                self.low.emit.allocate(
                    "partials",
                    atom.type.dtype,
                    (self.workers, *self.low.scalars(atom.type.shape)),
                    is_shared=True,
                )
                for atom in self.values
            ]

    def enter(self, worker: Expr | None) -> None:
        start = identities(self.low, self.operator, self.values)
        self._states = open_states(self.low, self.values, start)

    def step(self, index: Expr) -> None:
        advance(self.low, self.operator, self._states, [self.low.value(atom) for atom in self.values])

    def leave(self, worker: Expr | None) -> None:
        if worker is not None:
            for value, partial in zip(current(self.low, self._states), self._partials, strict=True):
                write(self.low, Located(partial.row((worker,))), value)

    def close(self) -> None:
        if self.workers is not None:
            self.enter(None)
            with self.low.emit.loop("t", ZERO, self.workers) as worker:
                right = [self._partial(place.row((worker,))) for place in self._partials]
                advance(self.low, self.operator, self._states, right)
        for target, value in zip(self.targets, current(self.low, self._states), strict=True):
            self.low.bind(target, value)

    def _partial(self, place: Place) -> Value:
        return place if place.shape else self.low.emit.element("partial", place)


@dataclass(slots=True, eq=False)
class ScanSink(Sink):
    """state = state ⊕ values; the prefixes are the states after (or, exclusive, before) each iteration."""

    operator: array_ir.Operator
    values: tuple[array_ir.Atom, ...]
    is_exclusive: bool
    _states: list[State] = field(init=False, default_factory=list)
    _turned: list[Place | None] = field(init=False, default_factory=list)
    """Where prefixes are put from the last to the first, since they are read so."""
    _places: list[Place] = field(init=False, default_factory=list)

    def open(self) -> None:
        pairs = list(zip(self.targets, self.values, strict=True))
        self._turned = [self.low.turned_round(self.let, *pair) for pair in pairs]
        self._places = [
            self._forwards(*pair) if turned is None else turned
            for pair, turned in zip(pairs, self._turned, strict=True)
        ]
        start = identities(self.low, self.operator, self.values)
        self._states = open_states(self.low, self.values, start)

    def _forwards(self, target: array_ir.Var, value: array_ir.Atom) -> Place:
        """Where prefixes are put from the first to the last."""
        found = self.low.offer(target)
        if found is not None and found.operator is None:
            return found.place
        old = self.low.read_for_the_last_time(self.let, target, value)
        return self.low.allocate(target) if old is None else old

    def step(self, index: Expr) -> None:
        if self.is_exclusive:
            self._record(index)
        advance(self.low, self.operator, self._states, [self.low.value(atom) for atom in self.values])
        if not self.is_exclusive:
            self._record(index)

    def _record(self, index: Expr) -> None:
        values = current(self.low, self._states)
        for place, turned, value in zip(self._places, self._turned, values, strict=True):
            at = index if turned is None else compute("sub", add(place.shape[0], i64(-1)), index)
            write(self.low, Located(place.row((at,))), value)

    def close(self) -> None:
        for target, place, turned in zip(self.targets, self._places, self._turned, strict=True):
            self.low.bind(target, place)
            if turned is not None:
                self.low.backwards.add(target)
