"""What becomes of a parfor's results: one sink per yield, the same for one thread and for many.

A sink is opened before the loop, entered by each worker (whose index is None where there is only one), told
of every iteration, left by each worker, and closed after the join. A worker combines into memory of its own;
the partial results are combined in the order of the workers, so that a result does not depend on timing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

from anadrome.array_ir import nodes as array_ir
from anadrome.array_ir.walk import all_lets, bodies, operands
from anadrome.dtypes import DType
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir.arithmetic import ZERO, multiply, neutral
from anadrome.kernel_ir.nodes import Buffer, Expr, i64
from anadrome.lower.access import bound, combine, write
from anadrome.lower.emit import is_small
from anadrome.lower.lowering import Located, Lowering, Offer, is_scalar
from anadrome.lower.values import Delivered, Destination, Place, same_all

CACHE_LINE = i64(8)
"""Elements between the partial results of two workers."""

Wants = Iterator[tuple[array_ir.Atom, Offer]]


@dataclass(slots=True, eq=False)
class Sink(ABC):
    """The results of one yield."""

    low: Lowering
    let: array_ir.Let
    targets: tuple[array_ir.Var, ...]
    workers: Expr | None
    """How many workers there are; None for the calling thread alone."""

    @abstractmethod
    def open(self) -> None:
        """Before the loop."""

    def enter(self, worker: Expr | None) -> None:  # noqa: B027 - most sinks keep nothing per worker
        """Before the iterations of a worker."""

    def wants(self, index: Expr) -> Wants:
        """The places this sink has for arrays that an iteration computes."""
        return iter(())

    @abstractmethod
    def step(self, index: Expr) -> None:
        """After the body of an iteration."""

    def leave(self, worker: Expr | None) -> None:  # noqa: B027
        """After the iterations of a worker."""

    @abstractmethod
    def close(self) -> None:
        """After the loop: bind the targets."""


@dataclass(slots=True, eq=False)
class StackSink(Sink):
    """result[i] = value, in the place of an array whose element i the iteration reads and nobody after it

    Where iterations run in lanes and others read single elements, rows lie side by side; so do those of a few
    numbers of which parallel loops read one or the other.
    """

    value: array_ir.Atom
    is_in_lanes: bool = False
    inside: tuple[array_ir.Var, ...] = ()
    """Arrays that lie in the place of the result already."""
    place: Place = field(init=False)
    operator: str | None = field(init=False, default=None)
    _row: Place | None = field(init=False, default=None)
    _replaced: array_ir.Var | None = field(init=False, default=None)

    def open(self) -> None:
        own = self._read_in_place()
        found = self.low.offer(self.targets[0], *self.inside, *own)
        self.operator = None if found is None else found.operator
        if found is not None:
            self.place = found.place
            self._replaced = own[0] if len(own) == 1 else found.replaced
            if own and is_scalar(self.value):
                self.low.bind(self.targets[0], self.place)  # at once, so that no other one takes it
        elif is_read_by_element(self.low, self.targets[0]) and (
            self.is_in_lanes or is_read_by_columns(self.low, self.targets[0])
        ):
            shape = self.low.scalars(self.targets[0].type.shape)
            self.place = self.low.emit.allocate_side_by_side(
                self.targets[0].name, self.value.type.dtype, shape
            )
        else:
            old = (
                None
                if self.is_in_lanes
                else self.low.read_for_the_last_time(self.let, self.targets[0], self.value)
            )
            self.place = self.low.allocate(self.targets[0]) if old is None else old

    def _read_in_place(self) -> tuple[array_ir.Var, ...]:
        """The arrays in the place that is wanted of which an iteration reads just what it replaces."""
        found, expr = self.low.reserve(self.targets[0]), self.let.expr
        if found is None or found.operator is not None:
            return ()
        assert isinstance(expr, array_ir.ParFor)
        return tuple(
            name
            for name in found.place.storage.names()
            if isinstance(old := self.low.env.get(name), Place)
            and old.is_at(found.place)
            and same_all(old.shape, found.place.shape)
            and self.low.live.knowledge.reads_own(expr, self.value, name)
        )

    def wants(self, index: Expr) -> Wants:
        self._row = None
        if not is_scalar(self.value):
            self._row = row = bound(self.low, self.place.row((index,))).part()
            yield self.value, lambda: Destination(row, self.operator, self._replaced)

    def step(self, index: Expr) -> None:
        located = Located(self._row or self.place.row((index,)))
        value = self.low.value(self.value)
        if self.operator is None:
            write(self.low, located, value)
        else:
            combine(self.low, located, value, self.operator)

    def close(self) -> None:
        self.low.bind(self.targets[0], self.place if self.operator is None else Delivered())


def is_read_by_element(low: Lowering, var: array_ir.Var) -> bool:
    """Whether an array of rows about to be computed is read in the open body alone, by all of its indices."""
    facts = low.live.frames[-1].facts
    used = facts.uses.get(var, [])
    if len(var.type.shape) < 2 or not used or used[-1] == len(facts.lets):
        return False
    readers = [facts.lets[position] for position in used]
    return all(_reads_elements(let, var) for let in all_lets(array_ir.Body(tuple(readers))))


COLUMNS = 16
"""The most numbers of a row that lie side by side with those of other rows because of its readers."""


def is_read_by_columns(low: Lowering, var: array_ir.Var) -> bool:
    """Whether an array of short rows is read at the index of the innermost parallel loop and constant ones,
    so that neighbours side by side are one vector for its lanes."""
    extents = var.type.shape[1:]
    sizes = [int(extent.value) for extent in extents if isinstance(extent, array_ir.Const)]
    if low.emit.is_kernel:
        return False  # a thread's arrays are its own, of constant size
    if isinstance(var.type.shape[0], array_ir.Const) or len(sizes) < len(extents) or prod(sizes) > COLUMNS:
        return False
    facts = low.live.frames[-1].facts
    return all(_reads_columns(facts.lets[position], var, None) for position in facts.uses[var])


def _reads_columns(let: array_ir.Let, var: array_ir.Var, index: array_ir.Var | None) -> bool:
    """The same of one statement, in the parallel loop of this index."""
    match let.expr:
        case array_ir.Index(array=array, indices=(first, *rest)) if array is var:
            return first is index and all(isinstance(one, array_ir.Const) for one in rest)
        case array_ir.ParFor(index=own, body=body):
            return all(_reads_columns(inner, var, own) for inner in body.lets)
        case expr:
            around = index if isinstance(expr, array_ir.If | array_ir.WithSum) else None
            inside = (inner for _, body in bodies(expr) for inner in body.lets)
            return all(_reads_columns(inner, var, around) for inner in inside)


def _reads_elements(let: array_ir.Let, var: array_ir.Var) -> bool:
    expr = let.expr
    if isinstance(expr, array_ir.Index) and expr.array is var:
        return len(expr.indices) == len(var.type.shape)
    inner = (atom for _, body in bodies(expr) for atom in body.results)
    return var not in operands(expr) and var not in inner


@dataclass(slots=True, eq=False)
class ReduceScalarSink(Sink):
    """result = result ⊕ value in a cell"""

    operator: str
    value: array_ir.Atom
    _cell: Buffer = field(init=False)
    _partials: Place = field(init=False)

    def open(self) -> None:
        if self.workers is not None:
            size = multiply(self.workers, CACHE_LINE)
            self._partials = self.low.emit.allocate("partials", self._dtype, (size,), is_shared=True)

    @property
    def _dtype(self) -> DType:
        return self.value.type.dtype

    def enter(self, worker: Expr | None) -> None:
        start = neutral(self.operator, self._dtype)
        self._cell = self.low.emit.cell(self.targets[0].name, self._dtype, start)

    def step(self, index: Expr) -> None:
        self._combine(self.low.scalar(self.value))

    def _combine(self, value: Expr) -> None:
        self.low.emit.combine_element(self.operator, self._cell, (ZERO,), value)

    def leave(self, worker: Expr | None) -> None:
        if worker is not None:
            value = kernel_ir.Load(self._cell, (ZERO,))
            self.low.emit.emit(kernel_ir.Store(self._partials.buffer, (multiply(worker, CACHE_LINE),), value))

    def close(self) -> None:
        if self.workers is not None:
            self.enter(None)
            with self.low.emit.loop("t", ZERO, self.workers) as worker:
                self._combine(kernel_ir.Load(self._partials.buffer, (multiply(worker, CACHE_LINE),)))
        self.low.bind(self.targets[0], self.low.emit.load(self.targets[0].name, self._cell))


@dataclass(slots=True, eq=False)
class Combined(Sink):
    """An array that iterations combine into by a named operator: the part that reductions, histograms and
    accumulators share. Each worker but the calling thread alone has an array of its own."""

    operator: str
    place: Place = field(init=False)
    mine: Place = field(init=False)
    _partials: Place | None = field(init=False, default=None)

    def open(self) -> None:
        self.place = self.result_place()
        if self.workers is not None:
            buffer = self.place.buffer
            shape = (self.workers, *self.place.shape)
            self._partials = self.low.emit.allocate(buffer.name, buffer.dtype, shape, is_shared=True)

    @abstractmethod
    def result_place(self) -> Place:
        """The finished array's place, holding what the contributions are combined with."""

    def enter(self, worker: Expr | None) -> None:
        if worker is None or self._partials is None:
            self.mine = self.place
            return
        if is_small(self.place.shape):
            self.mine = self.low.temporary("mine", self.place.dtype, self.place.shape)
        else:
            self.mine = bound(self.low, self._partials.row((worker,)))
        self.low.emit.fill(self.mine, neutral(self.operator, self.place.dtype))

    def leave(self, worker: Expr | None) -> None:
        partials = self._partials
        if worker is not None and partials is not None and self.mine.buffer is not partials.buffer:
            self.low.emit.copy(partials.row((worker,)), self.mine)

    def close(self) -> None:
        if self.workers is not None and self._partials is not None:
            with self.low.emit.loop("t", ZERO, self.workers) as worker:
                self.low.emit.combine(self.place, self._partials.row((worker,)), self.operator)
        self.bind()

    def bind(self) -> None:
        """Bind the target to the finished array."""
        self.low.bind(self.targets[0], self.place)


@dataclass(slots=True, eq=False)
class ReduceArraySink(Combined):
    """result[k] = result[k] ⊕ value[k]; straight into the place where the result is a contribution itself."""

    value: array_ir.Atom = field(kw_only=True)
    _is_delivered: bool = field(init=False, default=False)

    def result_place(self) -> Place:
        found = self.low.offer(self.targets[0])
        self._is_delivered = found is not None and found.operator == self.operator
        if found is not None and self._is_delivered:
            return found.place
        is_free = found is not None and found.operator is None
        place = found.place if found is not None and is_free else self.low.allocate(self.targets[0])
        self.low.emit.fill(place, neutral(self.operator, place.dtype))
        return place

    def wants(self, index: Expr) -> Wants:
        part = self.mine.part()
        yield self.value, lambda: Destination(part, self.operator)

    def step(self, index: Expr) -> None:
        combine(self.low, Located(self.mine), self.low.value(self.value), self.operator)

    def bind(self) -> None:
        self.low.bind(self.targets[0], Delivered() if self._is_delivered else self.place)
