"""A primal with rules: both modes do what the rule says, and transpose it where they have only the other's.

With y = f(x) and the rules J·t (forward) and Jᵀ·c (backward, over the residuals r of a forward run),

    forward mode     y_tan = J·x_tan              or  (c ↦ Jᵀ·c)ᵀ · x_tan
    reverse mode     x_adj ← x_adj + Jᵀ·y_adj     or  (t ↦ J·t)ᵀ · y_adj

A linear map is transposed by reverse mode itself, at zero: its derivative is the same everywhere. That it is
linear is seen in the program (`linear`); a rule of which it is not seen is refused in the other mode.

A primal without a rule is a checkpoint. The first run keeps nothing of it; the return sweep runs it again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from anadrome.ad.arrays import element, zeros_like
from anadrome.ad.linear import is_linear
from anadrome.ad.sweep.scope import Residuals, Scope, Sweeps
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import (
    ArrayType,
    Atom,
    Body,
    Custom,
    Function,
    JvpRule,
    Let,
    Var,
    VjpRule,
)
from anadrome.array_ir.rewrite import Renaming
from anadrome.array_ir.walk import free_variables
from anadrome.errors import Span
from anadrome.errors.ad import ClosedOver, RuleNotLinear


class Reverse(Protocol):
    """Reverse mode, which is handed in: its own rules need what stands here."""

    def __call__(self, fn: Function, active: Sequence[bool]) -> Function:
        """The vector-Jacobian product of a function."""
        ...


def hold_closed(let: Let, expr: Custom, varied: set[Var]) -> None:
    """Refuse a ruled primal that reads a differentiated value beside its arguments."""
    for var in free_variables(expr.primal):
        if var in varied and var not in expr.params:
            raise ClosedOver(let.span)


def floats(atoms: Sequence[Atom]) -> list[int]:
    """The positions of the floats."""
    return [position for position, atom in enumerate(atoms) if atom.type.dtype.is_float]


# ---------------------------------------------------------------------------- transposing
def _closed(params: Sequence[Var], body: Body) -> tuple[Function, tuple[Var, ...]]:
    """The body as a function of what it reads around itself, which is returned, and of these parameters."""
    free = [var for var in free_variables(body) if var not in params]
    sizes = {size for var in (*params, *free) for size in var.type.shape}
    outside = tuple(var for var in free if var not in sizes)
    return Function("rule", (*outside, *params), body), outside


def _transposed(
    builder: Builder,
    renaming: Renaming,
    reverse: Reverse,
    body: Body,
    fixed: tuple[Sequence[Var], Sequence[Atom]],
    inputs: Sequence[Var],
    seeds: Sequence[Atom],
) -> tuple[Atom, ...]:
    """The transpose of the map from `inputs` to the float results of a body, on a seed for each of these.

    `fixed` are the other parameters and what stands for them.
    """
    params, values = fixed
    fn, outside = _closed((*params, *inputs), body)
    active = (False,) * (len(fn.params) - len(inputs)) + (True,) * len(inputs)
    derivative = reverse(fn, active)
    local = Renaming({**renaming.mapping, **dict(zip(params, values, strict=True))})
    zeros = [builder.zeros(local.type(var.type)) for var in inputs]
    args = (*renaming.atoms(outside), *values, *zeros, *seeds)
    return builder.call(derivative, args)[len(body.results) :]


# ---------------------------------------------------------------------------- forward mode
Push = Callable[[Builder, Sequence[Atom]], Sequence[Atom]]
"""(builder, a tangent of each argument) -> a tangent of each float result."""


def forward_custom(
    builder: Builder, renaming: Renaming, expr: Custom, reverse: Reverse, span: Span | None
) -> tuple[tuple[Atom, ...], Push]:
    """The results of a ruled primal, and how tangents go through it."""
    args = renaming.atoms(expr.args)
    if expr.jvp is not None:
        return _push_forward(builder, renaming, expr.jvp, args, len(expr.primal.results))
    assert expr.vjp is not None
    return _push_transposed(builder, renaming, expr.vjp, args, len(expr.primal.results), reverse, span)


def _push_forward(
    builder: Builder, renaming: Renaming, rule: JvpRule, args: tuple[Atom, ...], count: int
) -> tuple[tuple[Atom, ...], Push]:
    def run(inner: Builder, tangents: Sequence[Atom]) -> tuple[Atom, ...]:
        bound = dict(zip((*rule.params, *rule.tangents), (*args, *tangents), strict=True))
        return inner.inline(rule.body, {**renaming.mapping, **bound})

    results = run(builder, [zeros_like(builder, arg) for arg in args])[:count]
    return results, lambda inner, tangents: run(inner, tangents)[count:]


def _push_transposed(
    builder: Builder,
    renaming: Renaming,
    rule: VjpRule,
    args: tuple[Atom, ...],
    count: int,
    reverse: Reverse,
    span: Span | None,
) -> tuple[tuple[Atom, ...], Push]:
    if not is_linear(rule.backward, rule.cotangents, rule.backward.results):
        raise RuleNotLinear("vjp", "jvp", span)
    bound = dict(zip(rule.params, args, strict=True))
    found = builder.inline(rule.forward, {**renaming.mapping, **bound})
    residuals = found[count:]

    def push(inner: Builder, tangents: Sequence[Atom]) -> tuple[Atom, ...]:
        fixed = (rule.residuals, residuals)
        return _transposed(inner, renaming, reverse, rule.backward, fixed, rule.cotangents, tangents)

    return found[:count], push


# ---------------------------------------------------------------------------- reverse mode
def run_custom(scope: Scope, let: Let, expr: Custom) -> Residuals:
    """Run a primal as its rule wants it run; what it keeps for the return sweep."""
    builder, mapping = scope.builder, scope.renaming.mapping
    args = scope.renaming.atoms(expr.args)
    count = len(expr.primal.results)
    residuals: Residuals = {}
    if expr.vjp is not None:
        hold_closed(let, expr, scope.varied)
        bound = dict(zip(expr.vjp.params, args, strict=True))
        found = builder.inline(expr.vjp.forward, {**mapping, **bound})
        residuals = dict(zip(expr.vjp.residuals, found[count:], strict=True))
    elif expr.jvp is not None:
        hold_closed(let, expr, scope.varied)
        found, _ = _push_forward(builder, scope.renaming, expr.jvp, args, count)
    else:
        found = builder.inline(expr.primal, mapping)
    mapping.update(zip(let.targets, found, strict=False))
    return residuals


def reverse_custom(
    scope: Scope, let: Let, expr: Custom, residuals: Residuals, sweeps: Sweeps, reverse: Reverse
) -> None:
    """The adjoint of a primal, from the adjoints of its results that stand in the scope."""
    if not expr.has_rule:
        _run_again(scope, let, expr, sweeps)
        return
    seeds = [scope.take(let.targets[position]) for position in floats(let.targets)]
    if all(seed is None for seed in seeds):
        return
    targets = [let.targets[position] for position in floats(let.targets)]
    given = [
        scope.builder.zeros(scope.type_of(target)) if seed is None else seed
        for target, seed in zip(targets, seeds, strict=True)
    ]
    adjoints = _pull_back(scope, let, expr, residuals, given, reverse)
    for arg, adjoint in zip(expr.args, adjoints, strict=True):
        scope.contribute_whole(arg, adjoint)


def _pull_back(
    scope: Scope, let: Let, expr: Custom, residuals: Residuals, seeds: Sequence[Atom], reverse: Reverse
) -> tuple[Atom, ...]:
    mapping = scope.renaming.mapping
    if expr.vjp is not None:
        kept = {var: residuals[var] for var in expr.vjp.residuals}
        bound = dict(zip(expr.vjp.cotangents, seeds, strict=True))
        return scope.builder.inline(expr.vjp.backward, {**mapping, **kept, **bound})
    rule = expr.jvp
    assert rule is not None
    count = len(expr.primal.results)
    if not is_linear(rule.body, rule.tangents, rule.body.results[count:]):
        raise RuleNotLinear("jvp", "vjp", let.span)
    body = Body(rule.body.lets, rule.body.results[count:])
    fixed = (rule.params, scope.renaming.atoms(expr.args))
    return _transposed(scope.builder, scope.renaming, reverse, body, fixed, rule.tangents, seeds)


def _run_again(scope: Scope, let: Let, expr: Custom, sweeps: Sweeps) -> None:
    """A checkpoint: its forward run once more, then its return sweep."""
    for target, result in zip(let.targets, expr.primal.results, strict=True):
        seed = scope.take(target)
        if seed is not None:
            scope.contribute_whole(result, seed)
    mapping = scope.renaming.mapping
    before = {var: scope.new(var) for var in free_variables(expr.primal) if _is_float(var)}
    mapping.update({var: _again(scope.builder, value) for var, value in before.items()})
    residuals = sweeps.forward(scope, expr.primal, True, {})
    sweeps.backward(scope, expr.primal, residuals)
    mapping.update(before)


def _is_float(var: Var) -> bool:
    return isinstance(var.type, ArrayType) and var.type.dtype.is_float


def _again(builder: Builder, value: Atom) -> Atom:
    """The value for a second run, behind the `optimization_barrier`: what is computed from it is not the same
    as in the first run to any pass, and so nothing of that is kept."""
    shape = value.type.shape
    return builder.build(
        shape, lambda inner, at: inner.apply("optimization_barrier", element(inner, value, at))
    )
