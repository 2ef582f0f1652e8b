"""The least or greatest of what a loop's iterations compute, and what is taken from the one that wins.

`if v < least: least = v` passes over what is no number, and the first of equals stays. So NaN counts for
nothing in the reduction, which is compared with what the loop starts from, and the iteration that wins is the
first one of the least. What is taken from that one is computed in it alone. To find it the terms are computed
again, or kept where they are dear.

Before:
    least, at = loop (l = p, k = q) for i < n { v = f(i); c = lt v l; m = select c v l; j = select c g(i) k
      return m, j }
After:
    r = parfor i < n { v = f(i); s = isnan v; w = select s inf v; yield reduce min w }
    c = lt r p
    least = select c r p
    at = if c { i = parfor j < n { v = f(j); e = eq v r; h = select e j n; yield reduce min h }; return g(i) }
      else { return q }
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from anadrome.array_ir.build import Builder
from anadrome.array_ir.dead import live_body
from anadrome.array_ir.nodes import (
    Apply,
    Atom,
    Body,
    Const,
    Expr,
    If,
    Let,
    Loop,
    ParFor,
    Part,
    Reduce,
    Stack,
    Var,
)
from anadrome.array_ir.operators import identity
from anadrome.array_ir.walk import all_lets, bodies, has_effect, operands
from anadrome.prims.costs import EXPENSIVE

KEPT = {"lt": ("min", "max"), "gt": ("max", "min")}
"""A comparison -> what is kept where `term < kept` takes the term, and what where `kept < term` does."""


@dataclass(frozen=True, slots=True, eq=False)
class Extreme:
    """A number of which a loop keeps the least or greatest (`operator`) of what iterations offer (`term`).
    `beside`: what else it carries, each with what it takes from an iteration that wins, which the statements
    `winning` compute. `passes_over`: whether what is no number never wins; else it always does."""

    carried: Var
    operator: str
    term: Atom
    passes_over: bool
    beside: Sequence[tuple[Var, Atom]] = ()
    winning: tuple[Let, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Choice:
    """What a loop carries that a condition replaces by a value, and the statement that does it."""

    carried: Var
    value: Atom
    let: Let


def extremes_of(loop: Loop) -> Iterator[Extreme]:
    """The extremes that a loop carries, which nothing else reads but what is beside them."""
    lets = list(all_lets(loop.body))
    uses = Counter(atom for let in lets for atom in operands(let.expr))
    uses.update(atom for let in lets for _, body in bodies(let.expr) for atom in body.results)
    uses.update(loop.body.results)
    made = {target: let for let in loop.body.lets for target in let.targets}
    choices: dict[Var, list[_Choice]] = {}
    for carried, after in zip(loop.carried, loop.body.results, strict=True):
        if not isinstance(after, Var) or uses[after] != 1 or after not in made:
            continue
        let = made[after]
        match let.expr:
            case Apply(prim=prim, args=(kept, term)) if prim.name in ("min", "max") and kept is carried:
                if uses[carried] == 1:  # the first of equals has the derivative, as in the reduction
                    yield Extreme(carried, prim.name, term, passes_over=False)
            case Apply(prim=prim, args=(Var() as condition, value, kept)) if prim.name == "select":
                if kept is carried:
                    choices.setdefault(condition, []).append(_Choice(carried, value, let))
            case If(condition=Var() as condition, then=then, other=other):
                position = let.targets.index(after)
                if other.results[position] is carried:
                    choice = _Choice(carried, then.results[position], let)
                    choices.setdefault(condition, []).append(choice)
            case _:
                pass
    for condition, chosen in choices.items():
        comparison = made[condition].expr if condition in made else None
        found = _compared(comparison, chosen, uses)
        if found is not None and _is_all(condition, chosen, uses):
            yield found


def _compared(comparison: Expr | None, chosen: Sequence[_Choice], uses: Counter[Atom]) -> Extreme | None:
    """The extreme of a comparison, with what is chosen beside it; None if it is none of a loop's own."""
    best = [one for one in chosen if _operator(comparison, one.value, one.carried) is not None]
    others = [one for one in chosen if one not in best]
    if len(best) != 1 or uses[best[0].carried] != 2 or any(uses[one.carried] != 1 for one in others):
        return None
    if any(has_effect(one.let.expr) for one in chosen):
        return None  # an iteration may fail that does not win in the end, or that never does
    branches = dict.fromkeys(one.let for one in chosen if isinstance(one.let.expr, If))
    winning = tuple(let for one in branches if isinstance(one.expr, If) for let in one.expr.then.lets)
    (extreme,) = best
    operator = _operator(comparison, extreme.value, extreme.carried)
    assert operator is not None
    beside = [(one.carried, one.value) for one in others]
    return Extreme(extreme.carried, operator, extreme.value, True, beside, winning)


def _is_all(condition: Var, chosen: Sequence[_Choice], uses: Counter[Atom]) -> bool:
    """Whether nothing but these choices depends on a condition."""
    makers = dict.fromkeys(one.let for one in chosen)
    return uses[condition] == len(makers) and sum(len(let.targets) for let in makers) == len(chosen)


def _operator(condition: Expr | None, term: Atom, carried: Var) -> str | None:
    """What is kept where a condition takes a term in the place of what is carried."""
    match condition:
        case Apply(prim=prim, args=(left, right)) if prim.name in KEPT:
            if left == term and right is carried:
                return KEPT[prim.name][0]
            return KEPT[prim.name][1] if left is carried and right == term else None
        case _:
            return None


def offered(builder: Builder, extreme: Extreme, loop: Loop, term: Atom) -> list[Part]:
    """What the parfor of a loop yields for an extreme, by the term of an iteration."""
    if extreme.passes_over and term.type.dtype.is_float:
        none = identity(extreme.operator, term.type.dtype)
        term = builder.apply("select", builder.apply("isnan", term), none, term)
    reduced = Reduce.of(extreme.operator, (term,))
    return [reduced, Stack.of(term)] if extreme.beside and _is_dear(loop) else [reduced]


def _is_dear(loop: Loop) -> bool:
    """Whether what iterations offer is kept to find the one that wins, not computed once more."""
    exprs = [let.expr for let in all_lets(loop.body)]
    costs = (expr.prim.cost for expr in exprs if isinstance(expr, Apply))
    extents = [expr.extent for expr in exprs if isinstance(expr, ParFor)]
    has_loops = any(isinstance(expr, Loop) for expr in exprs)
    return (
        has_loops or max(costs, default=0) >= EXPENSIVE or not all(isinstance(one, Const) for one in extents)
    )


def settled(
    builder: Builder, extreme: Extreme, loop: Loop, results: Sequence[Var], start: Sequence[Atom]
) -> tuple[Atom, ...]:
    """What the loop ends with, of the extreme and of what is beside it, by the results of the parfor and what
    each of these starts from."""
    best = results[0]
    if not extreme.passes_over:
        return (builder.apply(extreme.operator, start[0], best),)
    wins = builder.apply("lt" if extreme.operator == "min" else "gt", best, start[0])
    least = builder.apply("select", wins, best, start[0])
    if not extreme.beside:
        return (least,)
    assert loop.index is not None and loop.trip is not None
    index, trip = loop.index, loop.trip

    def iteration(inner: Builder, at: Atom, wanted: Sequence[Atom]) -> Sequence[Atom]:
        body = live_body(Body((*loop.body.lets, *extreme.winning), tuple(wanted)))
        return inner.inline(body, {**dict(zip(loop.carried, loop.init, strict=True)), index: at})

    def place(inner: Builder, at: Var) -> Atom:
        kept = [inner.index(array, (at,)) for array in results[1:]]
        (term,) = kept or iteration(inner, at, (extreme.term,))
        return inner.apply("select", inner.apply("eq", term, best), at, trip)

    def winner(inner: Builder) -> Sequence[Atom]:
        first = inner.reduce("min", trip, place)
        return iteration(inner, first, [value for _, value in extreme.beside])

    return (least, *builder.branch(wins, winner, lambda _: start[1:]))
