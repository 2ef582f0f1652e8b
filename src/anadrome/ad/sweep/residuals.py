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

from collections.abc import Iterator

from anadrome.array_ir.nodes import Apply, ArrayType, Body, Let, ParFor, Reduce, Stack, Var
from anadrome.array_ir.rewrite import remade
from anadrome.prims.node import replace

EXPENSIVE = 10
"""The cost of a scalar operation from which on a result is worth a store and a load."""


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
