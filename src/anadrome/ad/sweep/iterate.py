"""What the rules of sequential loops share: counting a `while`, accumulators that pass through a loop."""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.ad.sweep.scope import Scope
from anadrome.array_ir.build import Builder
from anadrome.array_ir.dead import live_body
from anadrome.array_ir.nodes import ArrayType, Atom, Body, Let, Loop, Size, SumType, Var, i64


def count_iterations(scope: Scope, expr: Loop, init: Sequence[Atom]) -> Size:
    """How many iterations a while loop makes: it is run once, and keeps only what its condition needs."""
    assert expr.condition is not None
    condition = expr.condition
    kept = [position for position, var in enumerate(expr.carried) if isinstance(var.type, ArrayType)]
    body = live_body(Body(expr.body.lets, tuple(expr.body.results[position] for position in kept)))

    def mapping(carried: tuple[Var, ...]) -> dict[Var, Atom]:
        values = dict(zip((expr.carried[position] for position in kept), carried, strict=False))
        return {**scope.renaming.mapping, **values}

    def test(inner: Builder, carried: tuple[Var, ...]) -> Atom:
        (result,) = inner.inline(condition, mapping(carried))
        return result

    def step(inner: Builder, carried: tuple[Var, ...]) -> Sequence[Atom]:
        results = inner.inline(body, mapping(carried))
        return (*results, inner.add(carried[-1], i64(1)))

    return scope.builder.while_loop([*(init[position] for position in kept), i64(0)], test, step)[-1]


def pass_tokens(scope: Scope, let: Let, expr: Loop) -> bool:
    """Let the adjoint of an accumulator be one array all the way: before, in and after the loop."""
    is_needed = False
    for target, result, var, init in zip(
        let.targets, expr.body.results, expr.carried, expr.init, strict=True
    ):
        adjoint = scope.token_adjoints.get(target) if isinstance(target.type, SumType) else None
        if adjoint is not None:
            assert isinstance(result, Var) and isinstance(init, Var)
            scope.token_adjoints.update({result: adjoint, var: adjoint, init: adjoint})
            is_needed = True
    return is_needed
