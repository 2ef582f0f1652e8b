"""`Launch`: the arrays a kernel writes are written where they are, if nobody needs the old ones."""

from __future__ import annotations

from anadrome.array_ir import nodes as array_ir
from anadrome.array_ir.launch import sizes_of, written_places
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir.nodes import Expr, Space
from anadrome.lower.library import buffer_of
from anadrome.lower.lowering import Lowering, is_scalar
from anadrome.lower.values import Destination, Place


def lower_launch(low: Lowering, let: array_ir.Let, expr: array_ir.Launch) -> None:
    """Emit the launch. Its arguments are on the heap, where every worker sees them."""
    places = written_places(expr.kernel, len(expr.args))
    targets = dict(zip(places, let.targets, strict=True))
    given: list[Expr | Place] = []
    for place, arg in enumerate(expr.args):
        if isinstance(arg, array_ir.Var) and not is_scalar(arg):
            given.append(_taken(low, let, arg, targets.get(place)))
        else:
            given.append(low.scalar(arg))
    shapes = [low.scalars(arg.type.shape) for arg in expr.args]
    args = (
        *sizes_of(expr.kernel, shapes),
        *(buffer_of(low, one) if isinstance(one, Place) else one for one in given),
    )
    (gx, gy, gz), (bx, by, bz) = low.scalars(expr.grid), low.scalars(expr.block)
    launch = kernel_ir.Launch(expr.kernel, (gx, gy, gz), (bx, by, bz), low.scalar(expr.shared), args)
    low.emit.launch(launch)
    for place, target in targets.items():
        found = given[place]
        assert isinstance(found, Place)
        low.bind(target, found)


def _taken(low: Lowering, let: array_ir.Let, arg: array_ir.Var, target: array_ir.Var | None) -> Place:
    """Where an argument is; one that is written, where the kernel may write it."""
    if target is None:
        return _shared(low, arg)
    old = low.array(arg)
    is_there = isinstance(old, Place) and old.buffer.space is Space.GLOBAL
    if isinstance(old, Place) and is_there and low.live.is_consumable(arg, old.storage, let):
        wanted = low.reserve(target)
        if wanted is None or wanted.operator is not None or wanted.place.is_at(old):
            low.offer(target, arg)
            return old
    found = low.offer(target)
    if found is not None and found.operator is None and found.place.buffer.space is Space.GLOBAL:
        new = found.place
    else:
        new = low.emit.allocate(target.name, target.type.dtype, old.shape, is_shared=True)
    low.deliver(old, Destination(new))
    return new


def _shared(low: Lowering, arg: array_ir.Var) -> Place:
    """An array in memory that every worker sees."""
    value = low.array(arg)
    if isinstance(value, Place) and value.buffer.space is Space.GLOBAL:
        return value
    new = low.emit.allocate(arg.name, arg.type.dtype, value.shape, is_shared=True)
    low.deliver(value, Destination(new))
    return new
