"""Accumulators: a token is the buffer of its sum, and contributions are added where they are made."""

from __future__ import annotations

from anadrome.array_ir import nodes as array_ir
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.lower.access import combine, locate
from anadrome.lower.lowering import Lowering, is_scalar, is_zero
from anadrome.lower.values import Delivered, Filled, Place, Value


def lower_with_sum(low: Lowering, let: array_ir.Let, expr: array_ir.WithSum) -> None:
    """Open the sums on their initial values, run the body, read them.

    A sum that starts at zero and is wanted as a contribution somewhere is added to right there.
    """
    count = len(expr.tokens)
    opened = [_open(low, let, *pair) for pair in zip(expr.init, let.targets, strict=False)]
    places = [place for place, _ in opened]
    further = let.targets[count:]
    offers = [None if is_scalar(target) else low.offer(target) for target in further]
    binders = tuple(zip(expr.tokens, places, strict=True))
    values = low.run(
        expr.body, expr.body.results, [None] * count + offers, is_repeating=False, binders=binders
    )
    for target, (place, value) in zip(let.targets, opened, strict=False):
        is_number = is_scalar(target)
        low.bind(target, low.emit.element(target.name, place) if is_number else value)
    for target, result in zip(further, values[count:], strict=True):
        low.bind(target, result)


def _open(low: Lowering, let: array_ir.Let, init: array_ir.Var, target: array_ir.Var) -> tuple[Place, Value]:
    """Where the contributions go, and what the finished sum is."""
    if is_scalar(init):
        place = low.allocate(init)
        low.emit.emit(kernel_ir.Store(place.buffer, place.at(), low.scalar(init)))
        return place, place
    start = low.array(init)
    found = low.reserve(target)
    if found is not None and found.operator == "add":
        low.offer(target)
        if isinstance(start, Filled) and is_zero(start.value):
            return found.place, Delivered()
    place = low.take_over(let, init, target)
    return place, place


def token_place(low: Lowering, token: array_ir.Var) -> Place:
    """Where the contributions to an accumulator go."""
    place = low.env[token]
    assert isinstance(place, Place), f"{token} is not an accumulator"
    return place


def lower_add_to(low: Lowering, let: array_ir.Let, expr: array_ir.AddTo) -> None:
    """Add a contribution, unless it was added while it was computed."""
    place = token_place(low, expr.token)
    value = low.value(expr.value)
    if not isinstance(value, Delivered):
        located = low.located.pop(let, None) or locate(low, place, expr.indices, expr.bounds, let.span)
        combine(low, located, value, "add")
    low.bind(let.targets[0], place)
