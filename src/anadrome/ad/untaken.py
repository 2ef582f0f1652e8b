"""Which products of the return sweep may be 0·∞ because a `select` leaves out what they belong to.

Where the other side of a choice is taken the adjoint of a side is zero, and so is that of everything it was
made of, whatever their partials are (`partials.chain_product`). That costs more than a product, so only those
are looked at that belong to a side of a choice, and have to do with what may not be finite: the results of
functions with poles, what is computed from them, and what a program itself asks about (`isnan` and the like).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from anadrome.array_ir.nodes import Apply, Atom, Body, Let, Loop, ParFor, Var
from anadrome.array_ir.walk import (
    all_lets,
    bodies,
    expression_variables,
    operands,
    outer_operands,
)

QUESTIONS = ("isnan", "isinf", "isfinite")


def masked_variables(body: Body) -> set[Var]:
    """The results of scalar operations, at any depth, whose products need that look."""
    sides = _behind(body, lambda expr: expr.args[1:] if expr.prim.name == "select" else ())
    if not sides:
        return set()
    doubted = _behind(body, lambda expr: expr.args if expr.prim.name in QUESTIONS else ())
    _infinite(body, doubted)
    return {
        let.targets[0]
        for let in all_lets(body)
        if isinstance(let.expr, Apply)
        and let.targets[0] in sides
        and not doubted.isdisjoint((*let.targets, *(arg for arg in let.expr.args if isinstance(arg, Var))))
    }


# ---------------------------------------------------------------------------- against the flow
Begin = Callable[[Apply], Iterable[Atom]]
"""The operands of an operation with which a search against the flow of values begins."""


def _behind(body: Body, begin: Begin) -> set[Var]:
    """The float variables, at any depth, from which one of those follows with which the search begins."""
    found: set[Var] = set()
    _body_behind(body, begin, found)
    return found


def _add(atoms: Iterable[Atom], found: set[Var]) -> None:
    found.update(atom for atom in atoms if isinstance(atom, Var) and atom.type.dtype.is_float)


def _body_behind(body: Body, begin: Begin, found: set[Var]) -> None:
    for let in reversed(body.lets):
        _let_behind(let, begin, found)


def _let_behind(let: Let, begin: Begin, found: set[Var]) -> None:
    expr = let.expr
    is_found = not found.isdisjoint(let.targets)
    match expr:
        case Apply():
            _add(expr.args if is_found else begin(expr), found)
        case ParFor():
            for part, where in expr.slices():
                if not found.isdisjoint(let.targets[where]):
                    _add((*outer_operands(part.item), *part.takes), found)
            for _, inner in bodies(expr):
                _body_behind(inner, begin, found)
        case Loop(carried=carried, init=init, body=body):
            if is_found:
                _add(body.results, found)
            before = -1
            while before != len(found):
                before = len(found)
                _body_behind(body, begin, found)
                pairs = zip(carried, body.results, strict=True)
                _add((result for var, result in pairs if var in found), found)
            _add((start for var, start in zip(carried, init, strict=True) if var in found), found)
        case _:
            for _, inner in bodies(expr):
                if is_found:
                    _add(inner.results, found)
                _body_behind(inner, begin, found)
            if is_found:
                _add(operands(expr), found)


# ---------------------------------------------------------------------------- with the flow
def _infinite(body: Body, doubted: set[Var]) -> None:
    """Add what functions with poles give, and what is computed from what is doubted."""
    before = -1
    while before != len(doubted):
        before = len(doubted)
        for let in all_lets(body):
            expr = let.expr
            has_pole = isinstance(expr, Apply) and "pole" in expr.prim.facts
            given = [atom for _, inner in bodies(expr) for atom in inner.results if isinstance(atom, Var)]
            if has_pole or not doubted.isdisjoint((*expression_variables(expr), *given)):
                _add(let.targets, doubted)
            if isinstance(expr, Loop):
                pairs = zip(expr.carried, expr.init, expr.body.results, strict=True)
                _add((var for var, *sources in pairs if not doubted.isdisjoint(sources)), doubted)
