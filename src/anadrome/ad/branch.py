"""Reverse mode of a branch: the same branch again, each side differentiated.

A term leaves a branch under its condition p, [p]·[at]·v: the value where the side that made it runs, zero
where the other one does. Its indices do not depend on anything bound inside (`regular` sees to that).
"""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.ad.adjoints import Term, dense_term, merge
from anadrome.ad.sweep.mutated import BodyPlan, Mode, passed_on
from anadrome.ad.sweep.scope import Scope, Sweeps, Trail
from anadrome.ad.sweep.undo import enter_body, undo_link
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
    trail = scope.trail
    link = None if trail is None else trail.plan.links.get(let)
    if not is_needed and all(seed is None for seed in seeds):
        if link is not None and trail is not None:
            undo_link(scope.builder, scope.renaming, link, trail)
        return
    last = [] if link is None else [scope.new(after) for _, _, after in link.moves]
    plans = (None, None) if link is None else link.sides
    seeded = [target for target, seed in zip(let.targets, seeds, strict=True) if seed is not None]
    passed = [var for var in passed_on(let, seeded) if var in scope.varied and var not in scope.tokens]
    sides: list[Scope] = []
    states: list[list[Atom]] = []
    for body, plan in zip((expr.then, expr.other), plans, strict=True):
        side, first = _side(scope, body, seeds, sweeps, plan, last)
        for var in passed:
            side.adjoints[var] = [dense_term(side.take_or_zero(var))]
        sides.append(side)
        states.append(first)
    terms = [_terms(side) for side in sides]
    keys = dict.fromkeys((*terms[0], *terms[1]))
    changed = [
        var for var, token in scope.tokens.items() if any(side.tokens[var] is not token for side in sides)
    ]
    at = {key: _outside(scope, key) for key in keys}
    bodies = []
    for side, found, first in zip(sides, terms, states, strict=True):
        values = [_value(scope, side, key, found.get(key)) for key in keys]
        bodies.append(side.builder.body((*values, *(side.tokens[var] for var in changed), *first)))
    results = scope.builder.let(If(scope.new(expr.condition), bodies[0], bodies[1]))
    for key, result in zip(keys, results, strict=False):
        scope.contribute(key[0], Term(at[key], result, any(index is not None for index in at[key])))
    further = results[len(keys) :]
    scope.tokens.update(zip(changed, further, strict=False))
    if link is not None:
        before = (var for _, var, _ in link.moves)
        scope.renaming.mapping.update(zip(before, further[len(changed) :], strict=True))


def _pass_token(scope: Scope, expr: If, position: int, adjoint: Atom | None) -> None:
    if adjoint is None:
        return
    for body in (expr.then, expr.other):
        token = body.results[position]
        assert isinstance(token, Var)
        scope.token_adjoints[token] = adjoint


def _side(
    scope: Scope,
    body: Body,
    seeds: Sequence[Atom | None],
    sweeps: Sweeps,
    plan: BodyPlan | None,
    states: Sequence[Atom],
) -> tuple[Scope, list[Atom]]:
    """One side reversed; where states pass through it, what they were before it."""
    side = scope.nested(scope.builder.child(), scope.tokens)
    first: list[Atom] = []
    if plan is None or scope.trail is None:
        residuals = sweeps.forward(side, body, True, {})
    else:
        side.renaming.mapping.update(zip(plan.ends, states, strict=True))
        trail = Trail(plan, scope.trail.logs, scope.trail.place)
        residuals = enter_body(side, body, trail, sweeps, {})
        first = [side.new(var) for var in plan.starts]
    for result, seed in zip(body.results, seeds, strict=True):
        if seed is not None:
            side.contribute_whole(result, seed)
    sweeps.backward(side, body, residuals)
    if plan is not None and plan.mode is not Mode.UNDO:
        first = [side.new(var) for var in plan.starts]
    return side, first


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
