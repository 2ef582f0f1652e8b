"""Where an accumulator is contributed to: every `add_to` on its way, with the loops and branches around it.

A token is linear, so its contributions stand on one chain: statements of a body that take it and pass it on.
Parfors and branches on the chain are entered; a sequential loop on it, or another accumulator opened around
it, ends the search without an answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from anadrome.array_ir.dead import STRUCTURED
from anadrome.array_ir.nodes import (
    AddTo,
    Atom,
    Body,
    Bounds,
    Carry,
    If,
    Let,
    ParFor,
    Part,
    Reduce,
    Stack,
    Var,
)
from anadrome.array_ir.walk import expression_variables
from anadrome.prims.node import replace


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    """A condition under which a contribution is made; it is evaluated inside `depth` loops."""

    condition: Atom
    holds: bool
    depth: int


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """A statement on the way to a contribution: inside how many loops, and behind how many guards."""

    let: Let
    depth: int
    guards: int


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """One contribution: [at]·value for every iteration of the path in which all guards hold."""

    path: tuple[Let, ...]
    """The parfors around it, outermost first."""
    guards: tuple[Guard, ...]
    bindings: dict[Var, Binding]
    at: tuple[Atom, ...]
    value: Atom

    @property
    def loops(self) -> tuple[ParFor, ...]:
        """The parfors of the path."""
        return tuple(let.expr for let in self.path if isinstance(let.expr, ParFor))


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """Where the search stands."""

    path: tuple[Let, ...] = ()
    guards: tuple[Guard, ...] = ()
    bindings: dict[Var, Binding] = field(default_factory=dict)

    def after(self, let: Let) -> None:
        """Note a statement of the body the search stands in."""
        binding = Binding(let, len(self.path), len(self.guards))
        self.bindings.update(dict.fromkeys(let.targets, binding))

    def inside(self, let: Let) -> _Place:
        """The place in the body of a parfor."""
        return replace(self, path=(*self.path, let), bindings=dict(self.bindings))

    def under(self, condition: Atom, holds: bool) -> _Place:
        """The place in a branch."""
        guard = Guard(condition, holds, len(self.path))
        return replace(self, guards=(*self.guards, guard), bindings=dict(self.bindings))


def sites_of_token(body: Body, token: Var, final: Atom) -> list[Site] | None:
    """The contributions between a token and its final state in a body; None where they are not all known."""
    found: list[Site] = []
    state = _follow(body, token, _Place(), found)
    return found if state is final else None


def sites_of_yield(let: Let, expr: ParFor, part: Part) -> list[Site]:
    """The contributions of a yield that adds: one site."""
    return [_site(_Place().inside(let), expr.body, part.at, part.value)]


def _site(place: _Place, body: Body, at: tuple[Atom, ...], value: Atom) -> Site:
    """One contribution; that of a row is one of its elements, in the nest that stacks them or adds up
    rows."""
    for let in body.lets:
        if isinstance(let.expr, ParFor) and value.type.shape and value in let.targets:
            part = let.expr.part_of(let.targets.index(value))
            inside = place.inside(let), let.expr.body
            match part.item:
                case Stack():
                    return _site(*inside, (*at, let.expr.index), part.value)
                case Reduce(operator="add"):
                    return _site(*inside, at, part.value)
                case _:
                    pass
        place.after(let)
    return Site(place.path, (), place.bindings, at, value)


def _follow(body: Body, state: Var, place: _Place, found: list[Site]) -> Var | None:
    """The last state of an accumulator in a body; its contributions are appended. None: not followed."""
    for let in body.lets:
        expr = let.expr
        after: Var | None = state
        match expr:
            case AddTo(token=token, indices=at, value=value, bounds=bounds) if token is state:
                if bounds is Bounds.CHECKED:
                    return None
                found.append(Site(place.path, place.guards, dict(place.bindings), at, value))
                after = let.targets[0]
            case ParFor(yields=yields) if any(_carries(item, state) for item in yields):
                after = _through_parfor(let, expr, state, place, found)
            case If() if state in expression_variables(expr):
                after = _through_branch(let, expr, state, place, found)
            case _ if isinstance(expr, STRUCTURED) and state in expression_variables(expr):
                return None
            case _:
                pass
        if after is None:
            return None
        state = after
        place.after(let)
    return state


def _carries(item: object, state: Var) -> bool:
    return isinstance(item, Carry) and item.source is state


def _through_parfor(let: Let, expr: ParFor, state: Var, place: _Place, found: list[Site]) -> Var | None:
    for part, where in expr.slices():
        if _carries(part.item, state):
            last = _follow(expr.body, state, place.inside(let), found)
            return let.targets[where.start] if last is part.value else None
    return None


def _through_branch(let: Let, expr: If, state: Var, place: _Place, found: list[Site]) -> Var | None:
    ends: list[Var] = []
    for body, holds in ((expr.then, True), (expr.other, False)):
        last = _follow(body, state, place.under(expr.condition, holds), found)
        if last is None:
            return None
        ends.append(last)
    for target, left, right in zip(let.targets, expr.then.results, expr.other.results, strict=True):
        if left is ends[0] and right is ends[1]:
            return target
    return None
