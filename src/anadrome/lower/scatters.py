"""Yields that put values at computed indices: histograms, scatters, and the accumulators a parfor carries."""

from __future__ import annotations

from dataclasses import dataclass, field

from anadrome.array_ir import nodes as array_ir
from anadrome.array_ir.nodes import Bounds
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir.arithmetic import ZERO, product
from anadrome.kernel_ir.nodes import Expr
from anadrome.lower.access import bound, combine, locate, write
from anadrome.lower.lowering import Located, Lowering, is_scalar, is_zero, number
from anadrome.lower.monoids import apply_operator
from anadrome.lower.sums import token_place
from anadrome.lower.values import Delivered, Destination, Place, Splat, Value
from anadrome.lower.yields import Combined, Sink, Wants


def open_array(low: Lowering, let: array_ir.Let, init: array_ir.Var, target: array_ir.Var) -> Place:
    """The memory that starts as `init` and becomes `target`; of one element for a scalar."""
    if not is_scalar(init):
        return low.take_over(let, init, target)
    place = low.allocate(init)
    low.emit.emit(kernel_ir.Store(place.buffer, place.at(), low.scalar(init)))
    return place


def finished(low: Lowering, target: array_ir.Var, place: Place) -> Value:
    """What such memory is in the end: the array, or the scalar in it."""
    return low.emit.element(target.name, place) if is_scalar(target) else place


@dataclass(slots=True, eq=False)
class AccumulateSink(Combined):
    """result[at] = result[at] ⊕ value, by a named operator"""

    part: array_ir.Part = field(kw_only=True)
    item: array_ir.Accumulate = field(kw_only=True)
    _is_delivered: bool = field(init=False, default=False)
    _located: Located | None = field(init=False, default=None)

    def result_place(self) -> Place:
        target, init = self.targets[0], self.item.init
        found = None if is_scalar(target) else self.low.reserve(target)
        if found is not None and found.operator == self.operator == "add":
            start = self.low.array(init)
            if isinstance(start, Splat) and is_zero(start.value):
                self.low.offer(target)
                self._is_delivered = True
                return found.place
        return open_array(self.low, self.let, init, target)

    def wants(self, index: Expr) -> Wants:
        self._located = None
        if not is_scalar(self.part.value) and self.item.bounds is not Bounds.IGNORED:
            yield self.part.value, self._offer

    def _offer(self) -> Destination | None:
        if not self.low.is_known(self.part.at):
            return None
        self._located = self._located or self._locate()
        return Destination(self._located.place.part(), self.operator)

    def _locate(self) -> Located:
        return locate(self.low, self.mine, self.part.at, self.item.bounds, self.let.span)

    def step(self, index: Expr) -> None:
        value = self.low.value(self.part.value)
        if not isinstance(value, Delivered):
            combine(self.low, self._located or self._locate(), value, self.operator)

    def bind(self) -> None:
        value = Delivered() if self._is_delivered else finished(self.low, self.targets[0], self.place)
        self.low.bind(self.targets[0], value)


@dataclass(slots=True, eq=False)
class AccumulateLambdaSink(Sink):
    """result[at] = result[at] ⊕ value, by a lambda. Each of several workers has bins of its own, which begin
    at the identity and are combined in the order of the workers, which is that of the iterations."""

    operator: array_ir.Lambda
    part: array_ir.Part
    item: array_ir.Accumulate
    place: Place = field(init=False)
    mine: Place = field(init=False)
    _partials: Place | None = field(init=False, default=None)

    def open(self) -> None:
        self.place = open_array(self.low, self.let, self.item.init, self.targets[0])
        if self.workers is not None:
            buffer, shape = self.place.buffer, (self.workers, *self.place.shape)
            self._partials = self.low.emit.allocate(buffer.name, buffer.dtype, shape, is_shared=True)

    def enter(self, worker: Expr | None) -> None:
        self.mine = self.place
        if worker is not None and self._partials is not None:
            self.mine = bound(self.low, self._partials.row((worker,)))
            (identity,) = self.operator.identity
            self.low.emit.fill(self.mine, self.low.scalar(identity))

    def step(self, index: Expr) -> None:
        located = locate(self.low, self.mine, self.part.at, self.item.bounds, self.let.span)
        if located.guard is None:
            self._combine(located.place)
            return
        with self.low.emit.open("branch") as block:
            self._combine(located.place)
        self.low.emit.emit(kernel_ir.If(located.guard, tuple(block.stmts)))

    def _combine(self, row: Place) -> None:
        value = self.low.value(self.part.value)
        old: Value = row if row.shape else self.low.emit.element("old", row)
        (new,) = apply_operator(self.low, self.operator, [old], [value])
        if isinstance(new, Place) and not new.is_at(row):
            new = self.low.moved(new)
        write(self.low, Located(row), new)

    def close(self) -> None:
        if self.workers is not None and self._partials is not None:
            with self.low.emit.loop("t", ZERO, self.workers) as worker:
                self._join(bound(self.low, self._partials.row((worker,))))
        self.low.bind(self.targets[0], finished(self.low, self.targets[0], self.place))

    def _join(self, partial: Place) -> None:
        """place[k] = place[k] ⊕ partial[k]"""
        with self.low.emit.loop("k", ZERO, product(self.place.shape)) as k:
            old = self.low.emit.element("old", self.place, k)
            value = self.low.emit.element("partial", partial, k)
            (new,) = apply_operator(self.low, self.operator, [old], [value])
            self.low.emit.emit(kernel_ir.Store(self.place.buffer, self.place.at(k), number(new)))


@dataclass(slots=True, eq=False)
class ScatterSink(Sink):
    """result[at] = value, one iteration after the other, so that the last one wins"""

    part: array_ir.Part
    item: array_ir.Scatter
    place: Place = field(init=False)
    _located: Located | None = field(init=False, default=None)

    def open(self) -> None:
        self.place = open_array(self.low, self.let, self.item.init, self.targets[0])

    def wants(self, index: Expr) -> Wants:
        self._located = None
        if not is_scalar(self.part.value) and self.item.bounds is not Bounds.IGNORED:
            yield self.part.value, self._offer

    def _offer(self) -> Destination | None:
        if not self.low.is_known(self.part.at):
            return None
        self._located = self._located or self._locate()
        return Destination(self._located.place.part())

    def _locate(self) -> Located:
        return locate(self.low, self.place, self.part.at, self.item.bounds, self.let.span)

    def step(self, index: Expr) -> None:
        write(self.low, self._located or self._locate(), self.low.value(self.part.value))

    def close(self) -> None:
        self.low.bind(self.targets[0], finished(self.low, self.targets[0], self.place))


@dataclass(slots=True, eq=False)
class CarrySink(Combined):
    """The accumulator of the scope around: a worker of several adds to zeros of its own."""

    part: array_ir.Part = field(kw_only=True)
    item: array_ir.Carry = field(kw_only=True)

    def result_place(self) -> Place:
        return token_place(self.low, self.item.source)

    def enter(self, worker: Expr | None) -> None:
        Combined.enter(self, worker)
        self.low.env[self.item.source] = self.mine

    def step(self, index: Expr) -> None:
        """Contributions were made where they arose."""

    def leave(self, worker: Expr | None) -> None:
        Combined.leave(self, worker)
        self.low.env[self.item.source] = self.place
