"""`ParFor`: one loop for all its yields, on the calling thread or split among workers.

for t < workers  [threads]
  for i in the t-th part of the extent
    body; every sink takes its value
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from anadrome.array_ir import nodes as array_ir
from anadrome.dtypes import I64
from anadrome.kernel_ir.arithmetic import ONE, ZERO, add, compute, greatest, least, multiply, subtract
from anadrome.kernel_ir.nodes import Binding, Expr
from anadrome.lower.interchange import interchange
from anadrome.lower.lowering import Lowering, is_scalar
from anadrome.lower.monoids import ReduceLambdaSink, ScanSink
from anadrome.lower.origin import turned
from anadrome.lower.pieces import Piece, are_in_order, ends, pieces
from anadrome.lower.scatters import AccumulateLambdaSink, AccumulateSink, CarrySink, ScatterSink
from anadrome.lower.schedule import workers
from anadrome.lower.values import Place
from anadrome.lower.yields import ReduceArraySink, ReduceScalarSink, Sink, StackSink


def lower_parfor(low: Lowering, let: array_ir.Let, expr: array_ir.ParFor) -> None:
    """Emit the loops and bind the results."""
    array = turned(let, low.live.knowledge.definitions) if low.backwards else None
    if array is not None and array in low.backwards:
        low.offer(let.targets[0])
        low.bind(let.targets[0], low.array(array))
        return
    interchanged = () if expr.in_lanes else interchange(let, expr)
    if interchanged:
        for part in interchanged:
            assert isinstance(part.expr, array_ir.ParFor)
            _lower(low, part, part.expr)
    elif found := pieces(expr):
        _lower_pieces(low, let, expr, found)
    else:
        _lower(low, let, expr)


def _lower_pieces(low: Lowering, let: array_ir.Let, expr: array_ir.ParFor, found: tuple[Piece, ...]) -> None:
    """Piece after piece into the same results; nothing for one that lies there already."""
    copied = [piece.copied(expr.index, low.live.knowledge) for piece in found]
    inside = tuple(low.pieces.get(let, ()))
    in_order = are_in_order(found, expr.extent, low.live.knowledge)
    extent, opened = low.scalar(expr.extent), _stacks(low, let, expr, None, inside)
    for sink in opened:
        sink.open()
    start: Expr = ZERO
    for piece, array, end in zip(found, copied, ends(found, expr.extent), strict=True):
        until = low.scalar(end)
        if not in_order:
            until = extent if end is expr.extent else least(greatest(until, start), extent)
            if not isinstance(end, array_ir.Const):  # which stays where it bounds a loop
                until = low.emit.let("end", I64, until)
        old = low.env.get(array) if array in inside else None
        if not isinstance(old, Place) or not old.is_at(opened[0].place.row((start,))):
            length = array_ir.Var("length", array_ir.ArrayType(I64))
            distance = subtract(until, start)
            low.bind(length, low.emit.let("length", I64, distance))
            part = array_ir.ParFor(expr.index, length, piece.body, piece.yields)
            count = workers(low, let, part)
            sinks = _stacks(low, let, part, count, ())
            for sink, whole in zip(sinks, opened, strict=True):
                sink.place, sink.operator = whole.place, whole.operator
            _iterate(low, part, sinks, count, start, until)
        start = until
    for sink in opened:
        sink.close()


def _stacks(
    low: Lowering,
    let: array_ir.Let,
    expr: array_ir.ParFor,
    count: Expr | None,
    inside: tuple[array_ir.Var, ...],
) -> list[StackSink]:
    return [
        StackSink(low, let, let.targets[where], count, part.value, inside=inside)
        for part, where in expr.slices()
        if isinstance(part.item, array_ir.Stack)
    ]


def _lower(low: Lowering, let: array_ir.Let, expr: array_ir.ParFor) -> None:
    count = workers(low, let, expr)
    sinks = [
        _sink(low, let, part, let.targets[where], count, in_lanes=expr.in_lanes)
        for part, where in expr.slices()
    ]
    for sink in sinks:
        sink.open()
    _iterate(low, expr, sinks, count, ZERO, low.scalar(expr.extent))
    for sink in sinks:
        sink.close()


def _iterate(
    low: Lowering,
    expr: array_ir.ParFor,
    sinks: Sequence[Sink],
    count: Expr | None,
    start: Expr,
    end: Expr,
) -> None:
    """The iterations from `start` to `end`, as many as the extent says."""
    outer, low.is_in_parfor = low.is_in_parfor, True
    if count is None:
        _run(low, expr, sinks, None, start, end)
    else:
        with low.emit.loop("t", ZERO, count, Binding.THREADS) as worker:
            lo, hi = _part(low, worker, count, low.scalar(expr.extent), start)
            _run(low, expr, sinks, worker, lo, hi)
    low.is_in_parfor = outer


def _part(low: Lowering, worker: Expr, count: Expr, extent: Expr, start: Expr) -> tuple[Expr, Expr]:
    """The t-th of `count` parts of the extent: ⌊t·extent/count⌋ up to ⌊(t+1)·extent/count⌋, from the start"""
    lo = add(start, compute("truncdiv", multiply(worker, extent), count))
    hi = add(start, compute("truncdiv", multiply(add(worker, ONE), extent), count))
    return low.emit.let("lo", I64, lo), low.emit.let("hi", I64, hi)


def _run(
    low: Lowering, expr: array_ir.ParFor, sinks: Sequence[Sink], worker: Expr | None, lo: Expr, hi: Expr
) -> None:
    for sink in sinks:
        sink.enter(worker)
    is_map = all(isinstance(sink, StackSink) for sink in sinks)
    binding = Binding.OUTER if expr.in_lanes else Binding.SEQUENTIAL
    with low.emit.loop(expr.index.name, lo, hi, binding, is_map=is_map) as index:
        wants = [want for sink in sinks for want in sink.wants(index)]
        low.run(expr.body, is_repeating=True, binders=[(expr.index, index)], wants=wants)
        for sink in sinks:
            sink.step(index)
    for sink in sinks:
        sink.leave(worker)


def _sink(
    low: Lowering,
    let: array_ir.Let,
    part: array_ir.Part,
    targets: tuple[array_ir.Var, ...],
    count: Expr | None,
    *,
    in_lanes: bool,
) -> Sink:
    match part.item:
        case array_ir.Stack():
            return StackSink(low, let, targets, count, part.value, in_lanes)
        case array_ir.Reduce(operator=operator):
            return _reduce(low, let, operator, part.takes, targets, count)
        case array_ir.Scan(operator=operator, exclusive=exclusive):
            return ScanSink(low, let, targets, count, operator, part.takes, exclusive)
        case array_ir.Accumulate(operator=operator) as item:
            if isinstance(operator, str):
                return AccumulateSink(low, let, targets, count, operator, part=part, item=item)
            return AccumulateLambdaSink(low, let, targets, count, operator, part, item)
        case array_ir.Scatter() as item:
            return ScatterSink(low, let, targets, count, part, item)
        case array_ir.Carry() as item:
            return CarrySink(low, let, targets, count, "add", part=part, item=item)
        case _:
            assert_never(part.item)


def _reduce(
    low: Lowering,
    let: array_ir.Let,
    operator: array_ir.Operator,
    values: tuple[array_ir.Atom, ...],
    targets: tuple[array_ir.Var, ...],
    count: Expr | None,
) -> Sink:
    if not isinstance(operator, str):
        return ReduceLambdaSink(low, let, targets, count, operator, values)
    (value,) = values
    if is_scalar(value):
        return ReduceScalarSink(low, let, targets, count, operator, value)
    return ReduceArraySink(low, let, targets, count, operator, value=value)
