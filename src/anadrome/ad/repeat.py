"""What runs when a scope's forward code is executed again: no checks and no contributions to accumulators.

The first execution has checked and contributed already; both would be wrong or wasted a second time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from anadrome.array_ir.dead import live_body
from anadrome.array_ir.nodes import (
    AddTo,
    Apply,
    Atom,
    Body,
    Check,
    Expr,
    Full,
    If,
    Index,
    Let,
    Library,
    Literal,
    Loop,
    ParFor,
    Reshape,
    SumType,
    Update,
    WithSum,
)


def repeated(body: Body, wanted: Sequence[Atom] | None = None) -> Body:
    """The statements of a body that compute the wanted atoms (all but accumulators), checks left out."""
    lets = tuple(_statement(let) for let in body.lets if not isinstance(let.expr, Check))
    if wanted is None:
        targets = [target for let in lets for target in let.targets]
        wanted = [target for target in targets if not isinstance(target.type, SumType)]
    return live_body(Body(lets, tuple(wanted)))


def _statement(let: Let) -> Let:
    expr = _expression(let.expr)
    return let if expr is let.expr else Let(let.targets, expr, let.span)


def _body(body: Body) -> Body:
    lets = tuple(_statement(let) for let in body.lets if not isinstance(let.expr, Check))
    if len(lets) == len(body.lets) and all(new is old for new, old in zip(lets, body.lets, strict=True)):
        return body
    return Body(lets, body.results)


def _expression(expr: Expr) -> Expr:
    match expr:
        case ParFor(index=index, extent=extent, body=body, yields=yields):
            new = _body(body)
            return expr if new is body else ParFor(index, extent, new, yields)
        case Loop(carried, init, body, index, trip, condition):
            new = _body(body)
            new_condition = None if condition is None else _body(condition)
            if new is body and new_condition is condition:
                return expr
            return Loop(carried, init, new, index, trip, new_condition)
        case If(condition=condition, then=then, other=other):
            sides = _body(then), _body(other)
            return expr if sides[0] is then and sides[1] is other else If(condition, *sides)
        case WithSum(init=init, tokens=tokens, body=body):
            new = _body(body)
            return expr if new is body else WithSum(init, tokens, new)
        case Apply() | Index() | Update() | Full() | Literal() | Reshape() | AddTo() | Check() | Library():
            return expr
        case _:
            assert_never(expr)
