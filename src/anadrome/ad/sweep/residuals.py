"""What a repeated forward run keeps of its parfors: the return sweep reads it instead of computing it.

A parfor inside a repeated body runs forward once and is entered by the return sweep once more. What is
expensive in its body (a reduction, a transcendental function) is stacked by the forward run; memory is
scratch of the iteration around it, never of the whole program (design §6: what is stored, what recomputed).

Before:
    s = parfor j < m { d = parfor c < k { …; yield reduce add p }; w = mul d d; yield reduce add w }
After:
    s, ds = parfor j < m { d = …; w = mul d d; yield reduce add w; yield stack d }
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from anadrome.ad.kernels.residuals import Residual
from anadrome.ad.sweep.mutated import BodyPlan, LoopPlan
from anadrome.array_ir.build import UNNAMED
from anadrome.array_ir.nodes import (
    Apply,
    ArrayType,
    Body,
    Const,
    If,
    Index,
    Let,
    Loop,
    ParFor,
    Reduce,
    Stack,
    Var,
)
from anadrome.array_ir.rewrite import remade
from anadrome.array_ir.walk import all_lets
from anadrome.errors.base import Span
from anadrome.prims.costs import EXPENSIVE
from anadrome.prims.node import replace


def keeping(let: Let) -> tuple[Let, dict[Var, Var]]:
    """The parfor statement with its expensive inner values as further results: inner variable -> result."""
    assert isinstance(let.expr, ParFor)
    body, kept = _kept_in(let.expr.body, let.expr.index)
    if not kept:
        return let, {}
    expr = let.expr
    stacks = [Stack.of(array) for array in kept.values()]
    found = {var: _stacked(array, expr) for var, array in kept.items()}
    new = replace(expr, body=body).yielding((*expr.parts, *stacks))
    return Let((*let.targets, *found.values()), new, let.span), found


def inner_variables(body: Body) -> Iterator[Var]:
    """The variables of a body and of the parfors nested in it: those of which something may be kept."""
    for let in body.lets:
        yield from let.targets
        if isinstance(let.expr, ParFor):
            yield from inner_variables(let.expr.body)


def _stacked(row: Var, expr: ParFor) -> Var:
    return Var(row.name, ArrayType(row.type.dtype, (expr.extent, *row.type.shape)))


def _kept_in(body: Body, index: Var) -> tuple[Body, dict[Var, Var]]:
    """The body with inner parfors that keep values, and the values: variable -> where this body has it."""
    lets: list[Let] = []
    kept: dict[Var, Var] = {}
    bound = {index}
    for let in body.lets:
        if isinstance(let.expr, ParFor):
            new, inner = keeping(let)
            lets.append(new)
            kept.update({var: array for var, array in inner.items() if bound.isdisjoint(array.type.shape)})
        else:
            lets.append(let)
        kept.update({target: target for target in _expensive(let)})
        bound.update(let.targets)
    return remade(body, lets, body.results), kept


def _expensive(let: Let) -> list[Var]:
    """The scalar results of a statement that are worth keeping."""
    match let.expr:
        case Apply(prim=prim) if prim.cost >= EXPENSIVE:
            return [target for target in let.targets if target.type.dtype.is_float]
        case ParFor() as expr:
            return [
                target
                for part, where in expr.slices()
                if isinstance(part.item, Reduce)
                for target in let.targets[where]
                if not target.type.shape and target.type.dtype.is_float
            ]
        case _:
            return []


# ---------------------------------------------------------------------------- what is kept, in words
@dataclass(frozen=True, slots=True)
class LoopSweep:
    """What the return sweep of a loop has of the values of its iterations, and how; all else it computes
    again."""

    span: Span | None
    residuals: tuple[Residual, ...]


Kept = tuple[Residual, Var]
"""How a value is had again, and the array of the new program in which it is kept."""


def sweeps_of(kept: Iterable[tuple[Span | None, Sequence[Kept]]], body: Body) -> Iterator[LoopSweep]:
    """What is kept of loops, each with its source place, as far as a body still has it: what nobody reads,
    dead-code removal has dropped."""
    there = {target for let in all_lets(body) for target in let.targets}
    for span, values in kept:
        residuals = tuple(dict.fromkeys(residual for residual, array in values if array in there))
        if residuals:
            yield LoopSweep(span, residuals)


def explained(plan: LoopPlan, expr: Loop, span: Span | None) -> Iterator[tuple[Var, Residual]]:
    """Each log of a plan in words: which value it has, and why that is kept."""
    for var, key in plan.entries.items():
        yield key, residual(var, "stored", "each iteration begins with it", key, span)
    yield from _explained(plan.body, expr.body)


def _explained(plan: BodyPlan, body: Body) -> Iterator[tuple[Var, Residual]]:
    made = {target: let for let in body.lets for target in let.targets}
    for var, key in plan.kept.items():
        names = ", ".join(dict.fromkeys(map(_named, plan.starts)))
        yield key, residual(var, "kept", f"it depends on {names}, updated in place", key, made[var].span)
    for var, key in plan.reads.items():
        expr = made[var].expr
        array = _named(expr.array) if isinstance(expr, Index) else "an array"
        reason = f"of {array}, which each iteration makes anew, nothing else is read"
        yield key, residual(var, "kept", reason, key, made[var].span)
    for let, link in plan.links.items():
        befores = [before for _, before, _ in link.moves]
        for before, key in zip(befores, link.logs, strict=False):
            yield key, residual(before, "logged", "what is overwritten is put back on the way", key, let.span)
        for before, keys in zip(befores, link.places, strict=False):
            for key in keys:
                reason = f"a place that depends on {_named(before)} itself"
                yield key, replace(residual(key, "kept", reason, key, let.span), name="")
        if link.frame is not None and not link.frame.is_regular:
            for key in (link.frame.entry, link.frame.count):
                counted = residual(key, "counted", "how often this runs differs", key, let.span)
                yield key, replace(counted, name="")
        match let.expr:
            case Loop() as inner if link.loop is not None:
                yield from explained(link.loop, inner, let.span)
            case If(then=then, other=other):
                for side, own in zip(link.sides, (then, other), strict=True):
                    yield from _explained(side, own)
            case _:
                pass


def _named(var: Var) -> str:
    """An array in words: by its name, if the program has given it one."""
    return "an array" if var.name in UNNAMED else f"`{var.name}`"


def residual(var: Var, how: str, reason: str, key: Var, span: Span | None) -> Residual:
    """How a value is had again. An entry has the type of `key`; one whose size is not known takes no bits."""
    sizes = [int(size.value) for size in key.type.shape if isinstance(size, Const)]
    is_known = len(sizes) == len(key.type.shape)
    bits = 8 * key.type.dtype.bytes * prod(sizes) if is_known else 0
    return Residual("" if var.name in UNNAMED else var.name, how, reason, bits, None, span)
