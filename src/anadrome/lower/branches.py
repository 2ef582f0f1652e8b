"""`If`: both branches leave their results in the same cells and places."""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.array_ir import nodes as array_ir
from anadrome.array_ir.nodes import SumType
from anadrome.errors.kernels_launch import KernelCopy
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir.arithmetic import ONE, ZERO
from anadrome.kernel_ir.nodes import Buffer, Space, Stmt
from anadrome.lower.lowering import Lowering, is_pinned, is_scalar, number
from anadrome.lower.origin import origin
from anadrome.lower.values import Delivered, Destination, Place, Storage, Value


def lower_if(low: Lowering, let: array_ir.Let, expr: array_ir.If) -> None:
    """Scalars go through cells; arrays are built where they are wanted, or in the place of the array that
    both branches update if that is dead afterwards."""
    cells: dict[int, Buffer] = {}
    destinations: list[Destination | None] = []
    for position, target in enumerate(let.targets):
        destinations.append(None)
        if isinstance(target.type, SumType):
            continue
        if is_scalar(target):
            cells[position] = Buffer(target.name, target.type.dtype, Space.LOCAL)
            low.emit.emit(kernel_ir.Alloc(cells[position], ONE))
        else:
            taken = {found.place.storage.root for found in destinations if found is not None}
            destinations[position] = _destination(low, let, expr, position, taken)
    then, tokens = _branch(low, expr.then, destinations, cells)
    other, _ = _branch(low, expr.other, destinations, cells)
    low.emit.emit(kernel_ir.If(low.scalar(expr.condition), then, other))
    for position, target in enumerate(let.targets):
        found = destinations[position]
        if position in cells:
            low.bind(target, low.emit.load(target.name, cells[position]))
        elif found is None:
            low.bind(target, tokens[position])
        else:
            low.bind(target, found.place if found.operator is None else Delivered())


def _branch(
    low: Lowering,
    body: array_ir.Body,
    destinations: Sequence[Destination | None],
    cells: dict[int, Buffer],
) -> tuple[tuple[Stmt, ...], tuple[Value, ...]]:
    with low.emit.open("branch") as block:
        values = low.run(body, destinations, is_repeating=False)
        for position, cell in cells.items():
            low.emit.emit(kernel_ir.Store(cell, (ZERO,), number(values[position])))
    return tuple(block.stmts), values


def _destination(
    low: Lowering, let: array_ir.Let, expr: array_ir.If, position: int, taken: set[Storage]
) -> Destination:
    target = let.targets[position]
    updated = _updated(low, expr, position)
    if updated is not None and is_pinned(updated):
        low.offer(target)
        return Destination(updated)
    for body in (expr.then, expr.other):
        first = origin(low.live.facts, body, body.results[position])
        if first is not None and is_pinned(low.env.get(first)):
            raise KernelCopy(first.name, let.span)
    if updated is not None and updated.storage.root not in taken:
        found = low.reserve(target)
        if found is None or (found.operator is None and found.place.is_at(updated)):
            low.offer(target)
            return Destination(updated)
    return low.offer(target) or Destination(low.allocate(target))


def _updated(low: Lowering, expr: array_ir.If, position: int) -> Place | None:
    """The place of the array of which both branches give an updated version, if it is dead afterwards."""
    first = origin(low.live.facts, expr.then, expr.then.results[position])
    second = origin(low.live.facts, expr.other, expr.other.results[position])
    if first is None or first is not second:
        return None
    place = low.env.get(first)
    if not isinstance(place, Place) or not place.storage.is_owned:
        return None
    is_dead = not any(low.live.is_live(name) for name in place.storage.names())
    return place if is_dead else None
