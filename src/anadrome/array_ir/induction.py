"""Induction variables: integers that follow from the number of the iteration, and what they say of how often
a `while` runs.

What an iteration adds to such a variable is the same in each, or grows evenly with the iteration i:

    k ← k + s              k_i = k_0 + s·i
    k ← k + s + d·i        k_i = k_0 + s·i + d·i(i - 1)/2

(chains of recurrences of first and second order: Bachmann, Wang and Zima, ISSAC 1994). Both hold modulo 2⁶⁴,
as integers are added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from anadrome.array_ir.affine import Affine, affine
from anadrome.array_ir.nodes import FALSE, Apply, ArrayType, Atom, Body, Expr, If, Loop, Var, i64
from anadrome.array_ir.rewrite import Substitution
from anadrome.array_ir.walk import all_lets, bound_in
from anadrome.dtypes import I64


@dataclass(frozen=True, slots=True)
class Step:
    """What iteration i adds: `even` + `growth`·i, of which the loop changes nothing."""

    even: Affine
    growth: int


def induction_steps(loop: Loop) -> dict[int, Step]:
    """The steps of the induction variables among what a loop carries, by position."""
    made = {
        let.targets[0]: let.expr
        for let in loop.body.lets
        if isinstance(let.expr, Apply) and let.targets[0].type == ArrayType(I64)
    }
    changing = {*loop.carried, *(target for let in loop.body.lets for target in let.targets)}
    found: dict[int, Step] = {}
    for position, (carried, after) in enumerate(zip(loop.carried, loop.body.results, strict=True)):
        definition = made.get(after) if isinstance(after, Var) else None
        if definition is None or definition.prim.name not in ("add", "sub"):
            continue
        form = affine(after, made)
        added = form.without(carried)
        even = added if loop.index is None else added.without(loop.index)
        is_fixed = all(var not in changing for var, _ in even.terms)
        if form.coefficient(carried) == 1 and is_fixed and _is_small(added):
            growth = 0 if loop.index is None else added.coefficient(loop.index)
            found[position] = Step(even, growth)
    return found


def _is_small(form: Affine) -> bool:
    """Whether the numbers in a form are integers of 64 bits."""
    return all(-(2**63) <= number < 2**63 for number in (form.constant, *dict(form.terms).values()))


def value_at(
    apply: Callable[..., Atom], known: Substitution, start: Atom, step: Step, iteration: Atom
) -> Atom:
    """The value with which an iteration begins, by what writes operations; `known` is what stands for the
    variables around the loop."""
    each: Atom = i64(step.even.constant)
    for var, coefficient in step.even.terms:
        each = apply("add", apply("mul", known.atom(var), i64(coefficient)), each)
    value = apply("add", apply("mul", each, iteration), known.atom(start))
    if step.growth:
        # i(i - 1)/2 = h (2 (i - h) - 1) with h = ⌊i/2⌋: no part of it is larger than the whole
        half = apply("floordiv", iteration, i64(2))
        odd = apply("sub", apply("mul", apply("sub", iteration, half), i64(2)), i64(1))
        value = apply("add", apply("mul", apply("mul", half, odd), i64(step.growth)), value)
    return value


# ---------------------------------------------------------------------------- how often a loop runs
@dataclass(frozen=True, slots=True)
class Most:
    """No more than ⌈left / each⌉ iterations, none where that is negative."""

    left: Affine
    each: int


def most_iterations(loop: Loop) -> Most | None:
    """How often a `while` runs at most, where its condition says so of an induction variable: `k < n and …`.
    The numbers that `left` is of are bound around the loop."""
    condition = loop.condition
    if condition is None:
        return None
    made = {target: let.expr for let in all_lets(condition) for target in let.targets}
    inside = {*loop.carried, *bound_in(condition), *bound_in(loop.body)}
    steps = {
        loop.carried[position]: (loop.init[position], step.even.constant)
        for position, step in induction_steps(loop).items()
        if not step.growth and not step.even.terms
    }
    for below in _negative(condition, condition.results[0], made):
        for var, (start, step) in steps.items():
            factor = below.coefficient(var)
            rest = below.without(var).plus(affine(start, {}), factor)
            if factor * step > 0 and not any(other in inside for other, _ in rest.terms):
                return Most(rest.times(-1), factor * step)
    return None


def _negative(body: Body, atom: Atom, made: Mapping[Var, Expr]) -> Iterator[Affine]:
    """The forms that are negative wherever a condition holds, which is bound in a body."""
    match made.get(atom) if isinstance(atom, Var) else None:
        case Apply(prim=prim, args=(left, right)) if left.type == ArrayType(I64):
            if prim.name in ("gt", "ge"):
                left, right = right, left
            if prim.name in ("lt", "le", "gt", "ge"):
                form = affine(left, made).plus(affine(right, made), -1)
                yield form if prim.name in ("lt", "gt") else form.plus(Affine((), -1))
        case Apply(prim=prim, args=args) if prim.name == "and":
            for arg in args:
                yield from _negative(body, arg, made)
        case If(condition=asked, then=then, other=other) as expr:
            (let,) = (let for let in all_lets(body) if let.expr is expr)
            position = let.targets.index(atom)
            if other.results[position] == FALSE:
                yield from _negative(body, asked, made)
                yield from _negative(body, then.results[position], made)
        case _:
            pass
