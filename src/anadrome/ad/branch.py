"""Reverse mode of a branch: the same branch again, each side differentiated.

A term leaves a branch under its condition p, [p]·[at]·v: the value where the side that made it runs, zero
where the other one does. Its indices do not depend on anything bound inside (`regular` sees to that).
"""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.ad.adjoints import Term, merge
from anadrome.ad.scope import Scope, Sweeps
from anadrome.array_ir.affine import Affine
from anadrome.array_ir.nodes import Atom, Body, If, Let, SumType, Var

_Key = tuple[Var, tuple[Affine | None, ...]]


def reverse_if(scope: Scope, let: Let, expr: If, sweeps: Sweeps) -> None:
    """The adjoint of one branch, from the adjoints of its results that stand in the scope."""
    seeds: list[Atom | None] = []
    is_needed = False
    for position, target in enumerate(let.targets):
        if isinstance(target.type, SumType):
            adjoint = scope.token_adjoints.get(target)
            _pass_token(scope, expr, position, adjoint)
            is_needed = is_needed or adjoint is not None
            seeds.append(None)
        else:
            seeds.append(scope.take(target))
    if not is_needed and all(seed is None for seed in seeds):
        return
    sides = [_side(scope, body, seeds, sweeps) for body in (expr.then, expr.other)]
    terms = [_terms(side) for side in sides]
    keys = dict.fromkeys((*terms[0], *terms[1]))
    changed = [
        var for var, token in scope.tokens.items() if any(side.tokens[var] is not token for side in sides)
    ]
    at = {key: _outside(scope, key) for key in keys}
    bodies = []
    for side, found in zip(sides, terms, strict=True):
        values = [_value(scope, side, key, found.get(key)) for key in keys]
        bodies.append(side.builder.body((*values, *(side.tokens[var] for var in changed))))
    results = scope.builder.let(If(scope.new(expr.condition), bodies[0], bodies[1]))
    for key, result in zip(keys, results, strict=False):
        scope.contribute(key[0], Term(at[key], result, any(index is not None for index in at[key])))
    for var, token in zip(changed, results[len(keys) :], strict=True):
        scope.tokens[var] = token


def _pass_token(scope: Scope, expr: If, position: int, adjoint: Atom | None) -> None:
    if adjoint is None:
        return
    for body in (expr.then, expr.other):
        token = body.results[position]
        assert isinstance(token, Var)
        scope.token_adjoints[token] = adjoint


def _side(scope: Scope, body: Body, seeds: Sequence[Atom | None], sweeps: Sweeps) -> Scope:
    side = scope.nested(scope.builder.child(), scope.tokens)
    residuals = sweeps.forward(side, body, True, {})
    for result, seed in zip(body.results, seeds, strict=True):
        if seed is not None:
            side.contribute_whole(result, seed)
    sweeps.backward(side, body, residuals)
    return side


def _terms(side: Scope) -> dict[_Key, Term]:
    builder = side.builder
    found: dict[_Key, Term] = {}
    for var, terms in side.adjoints.items():
        for term in merge(builder, terms):
            key = tuple(None if index is None else builder.affine(index) for index in term.at)
            found[var, key] = term
    return found


def _outside(scope: Scope, key: _Key) -> tuple[Atom | None, ...]:
    return tuple(None if form is None else scope.builder.emit_affine(form) for form in key[1])


def _value(scope: Scope, side: Scope, key: _Key, term: Term | None) -> Atom:
    if term is not None:
        return term.value
    var, forms = key
    type_ = scope.type_of(var)
    whole = tuple(size for size, form in zip(type_.shape, forms, strict=True) if form is None)
    return side.builder.zeros(type(type_)(type_.dtype, whole))
