"""`Collective`: what threads of a kernel do together, on memory that stays where it is."""

from __future__ import annotations

from anadrome.array_ir import nodes as array_ir
from anadrome.errors.kernels_launch import KernelCopy
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir.arithmetic import ZERO, compute, product
from anadrome.kernel_ir.nodes import Buffer, Expr, Space, Var, i64
from anadrome.lower.access import locate
from anadrome.lower.lowering import Lowering, is_pinned
from anadrome.lower.values import Place, Storage


def lower_collective(low: Lowering, let: array_ir.Let, expr: array_ir.Collective) -> None:
    """Emit the statement, and bind the arrays anew: to where they are."""
    assert low.emit.is_kernel, "threads stand in kernels alone"
    kind, _, operation = expr.operation.partition(" ")
    if kind == "shared":
        low.bind(let.targets[0], _shared(low, let.targets[0], expr))
        return
    places = [_kept(low, let, array) for array in expr.arrays]
    value = let.targets[0] if len(let.targets) > len(places) else None
    is_used = value is not None and value in low.live.frames[-1].facts.uses
    result = Var(value.name, value.type.dtype) if value is not None and is_used else None
    args = None if kind == "atomic" else low.scalars(expr.args)
    match kind:
        case "atomic":
            low.emit.emit(_atomic(low, let, expr, operation, places[0], result))
        case "barrier":
            low.emit.emit(kernel_ir.Barrier(operation, args[0] if args else None, result, let.span))
        case "warp":
            low.emit.emit(_warp(operation, args or (), result, let))
        case "fence":
            low.emit.emit(kernel_ir.Fence())
        case _:
            raise AssertionError(expr.operation)
    if value is not None and result is not None:
        low.emit.know(result)
        low.bind(value, result)
    for target, place in zip(let.targets[len(let.targets) - len(places) :], places, strict=True):
        low.bind(target, place)


def _kept(low: Lowering, let: array_ir.Let, array: array_ir.Var) -> Place:
    """Where an array is, which nobody reads any more as it was."""
    place = low.array(array)
    is_there = isinstance(place, Place) and is_pinned(place)
    if not isinstance(place, Place) or not is_there or not low.live.is_consumable(array, place.storage, let):
        raise KernelCopy(array.name, let.span)
    return place


def _shared(low: Lowering, target: array_ir.Var, expr: array_ir.Collective) -> Place:
    """Memory of the block, bound outside of branches and loops: once for each place of the program. The
    dynamic part has as many elements as the bytes, which are then an operand, hold."""
    shape: tuple[Expr, ...]
    if expr.args:
        shape = (compute("truncdiv", low.scalar(expr.args[0]), i64(target.type.dtype.bytes)),)
    else:
        shape = low.scalars(target.type.shape)
    buffer = Buffer(target.name, target.type.dtype, Space.SHARED, shape)
    low.emit.at_start(kernel_ir.Alloc(buffer, product(shape), low.emit.span))
    return Place(Storage(buffer, is_pinned=True), ZERO, shape)


def _atomic(
    low: Lowering,
    let: array_ir.Let,
    expr: array_ir.Collective,
    operation: str,
    place: Place,
    old: Var | None,
) -> kernel_ir.Atomic:
    rank = len(place.shape)
    indices, values = expr.args[:rank], low.scalars(expr.args[rank:])
    found = locate(low, place, indices, expr.bounds, let.span).place
    expected = values[1] if operation == "compare" else None
    return kernel_ir.Atomic(operation, place.buffer, found.at(), values[0], old, expected, let.span)


def _warp(operation: str, args: tuple[Expr, ...], result: Var | None, let: array_ir.Let) -> kernel_ir.Warp:
    value = args[1] if len(args) > 1 else None
    lane = args[2] if len(args) > 2 else None
    return kernel_ir.Warp(operation, args[0], value, lane, result, let.span)
