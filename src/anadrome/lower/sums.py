"""Accumulators: a token is the buffer of its sum, and contributions are added where they are made.

A sum that starts at zero and gets one contribution for each element, of a sequential loop as long as it is,
is neither filled nor read: its contributions are put there.
"""

from __future__ import annotations

from anadrome.array_ir import nodes as array_ir
from anadrome.array_ir.build import as_var
from anadrome.errors.ir import IRError
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.lower.access import combine, locate, write
from anadrome.lower.lowering import Lowering, is_scalar, is_zero
from anadrome.lower.values import Delivered, Place, Splat, Value


def lower_with_sum(low: Lowering, let: array_ir.Let, expr: array_ir.WithSum) -> None:
    """Open the sums on their initial values, run the body, read them.

    A sum that starts at zero and is wanted as a contribution somewhere is added to right there.
    """
    count = len(expr.tokens)
    only = [_only_contribution(expr, position) for position in range(count)]
    opened = [_open(low, let, *part) for part in zip(expr.init, let.targets, only, strict=False)]
    places = [place for place, _ in opened]
    further = let.targets[count:]
    offers = [None if is_scalar(target) else low.offer(target) for target in further]
    binders = tuple(zip(expr.tokens, places, strict=True))
    values = low.run(expr.body, [None] * count + offers, is_repeating=False, binders=binders)
    if not all(low.only.get(one, True) for one in only if one is not None):
        raise IRError("a sum that is neither filled nor added to was not written")
    for target, (place, value) in zip(let.targets, opened, strict=False):
        is_number = is_scalar(target)
        low.bind(target, low.emit.element(target.name, place) if is_number else value)
    for target, result in zip(further, values[count:], strict=True):
        low.bind(target, result)


def _open(
    low: Lowering,
    let: array_ir.Let,
    init: array_ir.Var,
    target: array_ir.Var,
    only: array_ir.Let | None,
) -> tuple[Place, Value]:
    """Where the contributions go, and what the finished sum is. `only` gives each element its only one."""
    if is_scalar(init):
        place = low.allocate(init)
        low.emit.emit(kernel_ir.Store(place.buffer, place.at(), low.scalar(init)))
        return place, place
    start = low.array(init)
    found = low.reserve(target)
    if found is not None and found.operator == "add":
        low.offer(target)
        if isinstance(start, Splat) and is_zero(start.value):
            return found.place, Delivered()
    if only is not None and isinstance(start, Splat) and is_zero(start.value):
        low.only[only] = False
        place = low.destination(target)
    else:
        place = low.take_over(let, init, target)
    return place, place


def _only_contribution(expr: array_ir.WithSum, position: int) -> array_ir.Let | None:
    """The statement that alone contributes to a sum, once to each element; None if there is none.

    It stands in a loop of as many iterations as there are elements, at another element in each.
    """
    made = {target: let for let in expr.body.lets for target in let.targets}
    outer = made.get(as_var(expr.body.results[position]))
    loop = None if outer is None else outer.expr
    if outer is None or not isinstance(loop, array_ir.Loop) or loop.condition is not None:
        return None
    token = expr.tokens[position]
    place = outer.targets.index(as_var(expr.body.results[position]))
    if loop.init[place] is not token or token.type.shape != (loop.trip,):
        return None
    inner = {target: let for let in loop.body.lets for target in let.targets}
    found = inner.get(as_var(loop.body.results[place]))
    match found:
        case array_ir.Let(expr=array_ir.AddTo(at_token, (at,), _, array_ir.Bounds.PROVED)) if (
            at_token is loop.carried[place] and _is_another_each_time(at, loop, inner)
        ):
            return found
        case _:
            return None


def _is_another_each_time(
    at: array_ir.Atom, loop: array_ir.Loop, inner: dict[array_ir.Var, array_ir.Let]
) -> bool:
    """Whether an index is the loop's own, or that plus or minus what does not change."""
    if at is loop.index:
        return True
    made = inner.get(at) if isinstance(at, array_ir.Var) else None
    if made is None or not isinstance(made.expr, array_ir.Apply) or made.expr.prim.name not in ("add", "sub"):
        return False
    left, right = made.expr.args
    others = [arg for arg in (left, right) if arg is not loop.index]
    return len(others) == 1 and others[0] not in inner and others[0] not in loop.carried


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
        if let in low.only:
            low.only[let] = True
            write(low, located, value)
        else:
            combine(low, located, value, "add")
    low.bind(let.targets[0], place)
