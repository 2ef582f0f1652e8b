"""Join two loops that do the same for the most part: the loop of a value and the one that stores for the
return sweep, the loop of a value and the one that counts its iterations.

They were written apart and carry different values, so they are no common subexpression. Which carried values
are the same is assumed first, of those that start the same, and checked: with each pair as one variable, the
statements of the second body are looked for among those of the first, and each pair must come out as one
variable again. Pairs that do not are given up, and the rest is checked anew. Nests inside the bodies are
joined in the same way: parfors of one extent, branches on one condition, loops. The statements of the second
that the first has not stand between those of the first, in their own order. Two nests are joined where at
least half of the statements of one are found in the other.

What the second adds cannot fail, so no error comes earlier than it did, and an array that a statement
overwrites in place is still needed for the last time there.

Before:
    fn f(x: f64[n]) -> f64, f64[n] {
      z = full [n] 0.0
      a = loop (p = 1.0) for i < n { u = x[i]; q = mul p u; return q }
      b, c = loop (r = 1.0, s = z) for j < n { t = update s[j] r; v = x[j]; w = mul r v; return w, t }
      return a, c
    }
After:
    fn f(x: f64[n]) -> f64, f64[n] {
      z = full [n] 0.0
      a, c = loop (p = 1.0, s = z) for i < n { t = update s[i] p; u = x[i]; q = mul p u; return q, t }
      return a, c
    }
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from anadrome.array_ir.dead import remove_dead
from anadrome.array_ir.nodes import (
    Atom,
    Body,
    Expr,
    Full,
    Function,
    If,
    Let,
    Library,
    Loop,
    ParFor,
    Part,
    SumType,
    Var,
    WithSum,
)
from anadrome.array_ir.overwriting import Reads, overwritten_here
from anadrome.array_ir.rewrite import Substitution, remade, with_body
from anadrome.array_ir.walk import (
    all_lets,
    bodies,
    free_variables,
    has_effect,
    let_variables,
    map_bodies,
    operands,
    same_atom,
)
from anadrome.config import Config
from anadrome.library.table import LIBRARY
from anadrome.passes.join_outlines import Outline, Starts, may_join, may_share, size
from anadrome.passes.value_numbering import expression_key


class _Known(Substitution):
    """What stands for what, the outlines of the two loops, and which variables a statement reads, which is
    found once for each."""

    def __init__(self, first: Outline, second: Outline, reads: Reads) -> None:
        super().__init__()
        self.first, self.second = first, second
        self.reads = reads

    def child(self) -> _Known:
        """What begins with what is known and is forgotten afterwards."""
        child = _Known(self.first, self.second, self.reads)
        child.mapping.update(self.mapping)
        return child


class CannotJoinError(Exception):
    """The two do not do the same, or joining them would change what fails or is copied."""


def join(fn: Function, config: Config) -> Function:
    """The function with loops joined in every body, outermost first."""
    body = _body(fn.body, cache(let_variables))
    return fn if body is fn.body else remove_dead(with_body(fn, body))


def _body(body: Body, reads: Reads) -> Body:
    """Join in this body, then in those nested in what came of it; the same object where nothing was."""
    joined = _joined(body, reads)
    return remade(joined, [_nested(let, reads) for let in joined.lets])


def _nested(let: Let, reads: Reads) -> Let:
    if not isinstance(let.expr, ParFor | Loop | If | WithSum):
        return let
    return remade(let, let.targets, map_bodies(let.expr, lambda body: _body(body, reads), operators=True))


def _joined(body: Body, reads: Reads) -> Body:
    """The body with every two of its loops joined that can be."""
    starts = {let.targets[0]: expression_key(let.expr) for let in body.lets if isinstance(let.expr, Full)}
    outlines: dict[Let, Outline] = {}
    loops = _loops_of(body, starts, outlines)
    alike = _alike(loops, outlines)
    position = 0
    while position < len(loops):
        first = loops[position]
        kinds = set(outlines[first].carried(first))
        places = {place for kind in kinds for place in alike[kind] if place > position}
        for place in sorted(places):
            second = loops[place]
            if not may_join((first, outlines[first]), (second, outlines[second])):
                continue
            known = _Known(outlines[first], outlines[second], reads)
            found = _attempt(body, first, second, starts, known)
            if found is not None:
                body = found
                loops = _loops_of(body, starts, outlines)
                alike = _alike(loops, outlines)
                break
        else:
            position += 1
    return body


def _alike(loops: Sequence[Let], outlines: Mapping[Let, Outline]) -> dict[Hashable, list[int]]:
    """The places of the loops that carry a value of each kind: only such loops can be joined."""
    found: dict[Hashable, list[int]] = {}
    for place, let in enumerate(loops):
        for kind in set(outlines[let].carried(let)):
            found.setdefault(kind, []).append(place)
    return found


def _loops_of(body: Body, starts: Starts, outlines: dict[Let, Outline]) -> list[Let]:
    """The loops that stand in a body, each with its outline, if there are two."""
    loops = [let for let in body.lets if isinstance(let.expr, Loop)]
    if len(loops) < 2:
        return []
    for let in loops:
        if let not in outlines:
            outlines[let] = Outline(let, starts)
    return loops


def _attempt(body: Body, first: Let, second: Let, starts: Starts, known: _Known) -> Body | None:
    """The body with two of its loops as one, or None."""
    reads = known.reads
    try:
        joined = _loops(first, second, known, starts)
        order = _ordered(body, first, second, reads)
        became: list[tuple[Let, Let]] = [(first, joined), (second, joined)]
        is_after = False
        lets: list[Let] = []
        for let in order:
            is_after = is_after or let is first
            is_changed = is_after and not known.mapping.keys().isdisjoint(reads(let))
            lets.append(joined if let is first else known.let(let) if is_changed else let)
            became.append((let, lets[-1]))
        new = Body(tuple(lets), known.atoms(body.results))
        _check_overwriting(became, overwritten_here(body, (), reads), overwritten_here(new, (), reads), known)
    except CannotJoinError:
        return None
    return new


def _ordered(body: Body, first: Let, second: Let, reads: Reads) -> list[Let]:
    """The statements without the second, which goes to where the first is, with what it needs before it."""
    begin, end = body.lets.index(first), body.lets.index(second)
    needed = set(reads(second))
    moved: list[Let] = []
    for let in reversed(body.lets[begin:end]):
        if needed.isdisjoint(let.targets):
            continue
        if let is first or _may_fail(let.expr) or _is_linear(let.targets):
            raise CannotJoinError
        needed.update(reads(let))
        moved.append(let)
    stay = [let for let in body.lets[begin:] if let is not second and let not in moved]
    return [*body.lets[:begin], *reversed(moved), *stay]


def _check_overwriting(
    became: Iterable[tuple[Let, Let]],
    before: Mapping[Let, tuple[Var, ...]],
    after: Mapping[Let, tuple[Var, ...]],
    known: _Known,
) -> None:
    """Refuse what would copy: each statement still overwrites, for the last time, what it did."""
    for old, new in became:
        still = set(known.variables(before.get(old, ())))
        if still and not still.intersection(operands(new.expr)).issubset(after.get(new, ())):
            raise CannotJoinError


# ---------------------------------------------------------------------------- statements
@dataclass(slots=True, eq=False)
class _Merging:
    """The statements of two bodies, each once, as they are written."""

    first: Sequence[Let]
    known: _Known
    lets: list[Let] = field(default_factory=list)
    became: list[tuple[Let, Let]] = field(default_factory=list)
    nests: dict[type[Expr], list[int]] = field(default_factory=dict)
    """Where the nests of each kind are in the first body."""
    done: int = 0
    """How many of the first body are written."""

    def upto(self, place: int) -> None:
        """Write the first body's statements before this one."""
        for let in self.first[self.done : place]:
            self.lets.append(let)
            self.became.append((let, let))
        self.done = max(self.done, place)

    def merge(self, second: Sequence[Let]) -> None:
        """Write both; what stands for the targets of the second is known afterwards."""
        known = self.known
        places: dict[Hashable, list[int]] = {}
        for place, let in enumerate(self.first):
            if isinstance(let.expr, ParFor | Loop | If):
                self.nests.setdefault(type(let.expr), []).append(place)
            if not _is_linear(let.targets):
                places.setdefault(known.first.results(let), []).append(place)
        for let in second:
            if _is_linear(let.targets):
                raise CannotJoinError
            same = self.found(let, places.get(known.second.results(let), ()))
            if same is not None:
                self.upto(same + 1)
                self.became.append((let, self.first[same]))
                for target, found in zip(let.targets, self.first[same].targets, strict=True):
                    known.replace(target, found)
            elif not self.is_joined(let):
                if _may_fail(let.expr):
                    raise CannotJoinError
                expr = known.expr(let.expr, known.body)
                self.lets.append(Let(known.all_bound(let.targets), expr, let.span))
                self.became.append((let, self.lets[-1]))
        self.upto(len(self.first))

    def found(self, let: Let, places: Sequence[int]) -> int | None:
        """Where the first body computes what a statement of the second does, of the places that may."""
        if not places:
            return None
        key = expression_key(self.known.expr(let.expr, self.known.body))
        for place in places:
            first = self.first[place]
            if expression_key(first.expr) == key and _has_types(first, let, self.known):
                return place
        return None

    def is_joined(self, let: Let) -> bool:
        """Write a nest of the second body as one with a nest of the first that is still to come, if one does
        all that the other does."""
        for place in self.nests.get(type(let.expr), ()):
            if place < self.done:
                continue
            candidate = self.first[place]
            try:
                joined = _nests(candidate, let, self.known)
            except CannotJoinError:
                continue
            self.upto(place)
            self.done += 1
            self.lets.append(joined)
            self.became += [(candidate, joined), (let, joined)]
            return True
        return False


def _merged(
    first: tuple[Sequence[Var], Body], second: tuple[Sequence[Var], Body], known: _Known
) -> list[Let]:
    """The statements of two bodies with what they bind on entering, each once."""
    merging = _Merging(first[1].lets, known)
    merging.merge(second[1].lets)
    results = (*first[1].results, *known.atoms(second[1].results))
    binders = (*first[0], *known.variables(second[0]))
    before = {
        **overwritten_here(first[1], first[0], known.reads),
        **overwritten_here(second[1], second[0], known.reads),
    }
    after = overwritten_here(Body(tuple(merging.lets), results), binders, known.reads)
    _check_overwriting(merging.became, before, after, known)
    return merging.lets


def _check_gain(first: Sequence[Body], second: Sequence[Body], joined: Sequence[Body]) -> None:
    """Refuse to join bodies less than half of whose statements are the same, in the smaller ones."""
    one, two, both = (sum(size(body.lets) for body in bodies) for bodies in (first, second, joined))
    if 2 * (one + two - both) < min(one, two):
        raise CannotJoinError


def _check_outlines(first: Let, second: Let, known: _Known) -> None:
    """Refuse nests less than half of whose statements can turn out to be the same."""
    if not may_share((first, known.first), (second, known.second)):
        raise CannotJoinError


def _has_types(first: Let, second: Let, known: _Known) -> bool:
    return [target.type for target in first.targets] == [known.type(target.type) for target in second.targets]


def _may_fail(expr: Expr) -> bool:
    """Whether there is a check in an expression, or a library call that not every argument suits."""
    if has_effect(expr):
        return True
    inner = (expr, *(let.expr for _, body in bodies(expr) for let in all_lets(body)))
    return any(isinstance(found, Library) and not LIBRARY[found.operation].is_total for found in inner)


def _is_linear(variables: Iterable[Var]) -> bool:
    return any(isinstance(var.type, SumType) for var in variables)


# ---------------------------------------------------------------------------- nests
def _nests(first: Let, second: Let, known: _Known) -> Let:
    """Two nests as one statement, whose results begin with those of the first."""
    match first.expr, second.expr:
        case Loop(), Loop():
            return _loops(first, second, known, {})
        case ParFor() as one, ParFor() as two:
            return _parfors((first, one), (second, two), known)
        case If() as one, If() as two:
            return _branches((first, one), (second, two), known)
        case _:
            raise CannotJoinError


def _results(first: Let, second: Let, found: Mapping[int, int], known: _Known) -> tuple[Var, ...]:
    """The targets of the joined statement: those of the first, and of the second those not found there."""
    for position, place in found.items():
        known.replace(second.targets[position], first.targets[place])
    further = tuple(target for position, target in enumerate(second.targets) if position not in found)
    return (*first.targets, *known.all_bound(further))


def _parfors(first: tuple[Let, ParFor], second: tuple[Let, ParFor], known: _Known) -> Let:
    """Parfors of one extent."""
    (let, one), (other, two) = first, second
    if not same_atom(one.extent, known.atom(two.extent)) or _is_linear((*let.targets, *other.targets)):
        raise CannotJoinError
    _check_outlines(let, other, known)
    inner = known.child()
    inner.replace(two.index, one.index)
    lets = _merged(((one.index,), one.body), ((), two.body), inner)
    places = {_part_key(one, part): where.start for part, where in one.slices()}
    found: dict[int, int] = {}
    further: list[Part] = []
    for part, where in two.slices():
        new = inner.part(part)
        place = places.get(_part_key(one, new))
        if place is None:
            further.append(new)
        else:
            found.update(zip(range(where.start, where.stop), range(place, len(let.targets)), strict=False))
    joined = ParFor.of(one.index, one.extent, lets, (*one.parts, *further))
    if has_effect(ParFor.of(one.index, one.extent, (), further)):
        raise CannotJoinError
    _check_gain((one.body,), (two.body,), (joined.body,))
    return Let(_results(let, other, found, known), joined, let.span)


def _part_key(expr: ParFor, part: Part) -> Hashable:
    return expression_key(ParFor.of(expr.index, expr.extent, (), [part]))


def _branches(first: tuple[Let, If], second: tuple[Let, If], known: _Known) -> Let:
    """Branches on one condition."""
    (let, one), (other, two) = first, second
    if not same_atom(one.condition, known.atom(two.condition)) or _is_linear((*let.targets, *other.targets)):
        raise CannotJoinError
    _check_outlines(let, other, known)
    sides: list[Body] = []
    agreed: list[tuple[int, int]] | None = None
    results: list[tuple[Atom, ...]] = []
    for body, added in ((one.then, two.then), (one.other, two.other)):
        inner = known.child()
        lets = _merged((_arrays_around(body), body), (_arrays_around(added), added), inner)
        results.append(inner.atoms(added.results))
        same = [
            (position, place)
            for position, atom in enumerate(results[-1])
            for place, mine in enumerate(body.results)
            if same_atom(mine, atom)
        ]
        agreed = same if agreed is None else [pair for pair in agreed if pair in same]
        sides.append(Body(tuple(lets), body.results))
    _check_gain((one.then, one.other), (two.then, two.other), sides)
    found = dict(reversed(agreed or []))
    targets = _results(let, other, found, known)
    then, otherwise = (
        Body(
            side.lets, (*side.results, *(atom for position, atom in enumerate(own) if position not in found))
        )
        for side, own in zip(sides, results, strict=True)
    )
    return Let(targets, If(one.condition, then, otherwise), let.span)


def _arrays_around(body: Body) -> tuple[Var, ...]:
    """The arrays bound around a branch of which a side reads, and which it may overwrite."""
    return tuple(var for var in free_variables(body) if var.type.shape)


# ---------------------------------------------------------------------------- loops
def _loops(first: Let, second: Let, known: _Known, starts: Starts) -> Let:
    """Loops of one trip count, or while one condition holds."""
    one, two = first.expr, second.expr
    assert isinstance(one, Loop) and isinstance(two, Loop)
    if _is_linear((*one.carried, *two.carried)) or (one.condition is None) != (two.condition is None):
        raise CannotJoinError
    if one.trip is not None and (two.trip is None or not same_atom(one.trip, known.atom(two.trip))):
        raise CannotJoinError
    if not may_join((first, known.first), (second, known.second)):
        raise CannotJoinError
    begin = known.atoms(two.init)
    kinds = known.first.carried(first), known.second.carried(second)
    wrong: set[tuple[int, int]] = set()
    while True:
        pairs = _pairs(one, two, begin, kinds, wrong, known, starts)
        if not pairs:
            raise CannotJoinError
        inner = known.child()
        for position, place in pairs.items():
            inner.replace(two.carried[position], one.carried[place])
        further = [position for position in range(len(two.carried)) if position not in pairs]
        carried = (*one.carried, *inner.all_bound(tuple(two.carried[position] for position in further)))
        index = one.index or two.index
        if index is not None and two.index is not None:
            inner.replace(two.index, index)
        lets = _merged((one.carried, one.body), (two.carried, two.body), inner)
        after = inner.atoms(two.body.results)
        failed = {
            (position, place)
            for position, place in pairs.items()
            if not same_atom(after[position], one.body.results[place])
        }
        if not failed:
            break
        wrong |= failed
    _check_condition(one, two, inner)
    _check_gain((one.body,), (two.body,), (Body(tuple(lets)),))
    targets = _results(first, second, pairs, known)
    init = (*one.init, *(begin[position] for position in further))
    body = Body(tuple(lets), (*one.body.results, *(after[position] for position in further)))
    return Let(targets, Loop(carried, init, body, index, one.trip, one.condition, one.checkpoint), first.span)


def _pairs(
    one: Loop,
    two: Loop,
    begin: tuple[Atom, ...],
    kinds: tuple[tuple[Hashable, ...], tuple[Hashable, ...]],
    wrong: set[tuple[int, int]],
    known: _Known,
    starts: Starts,
) -> dict[int, int]:
    """Which carried value of the second loop may be which of the first: they start the same, are of one kind,
    and it is not known to be wrong. Those of one name come first, then those that no other has."""
    pairs: dict[int, int] = {}
    for position, var in enumerate(two.carried):
        places = [
            place
            for place, mine in enumerate(one.carried)
            if kinds[0][place] == kinds[1][position]
            and mine.type == known.type(var.type)
            and (position, place) not in wrong
            and _starts_as(one.init[place], begin[position], starts)
        ]
        others = set(pairs.values())
        places.sort(key=lambda place: (one.carried[place].name != var.name, place in others))
        if places:
            pairs[position] = places[0]
    return pairs


def _check_condition(one: Loop, two: Loop, inner: _Known) -> None:
    """Refuse `while` loops that do not go on as long as one another."""
    if one.condition is None or two.condition is None:
        return
    _merged((one.carried, one.condition), (two.carried, two.condition), inner)
    if not same_atom(inner.atom(two.condition.results[0]), one.condition.results[0]):
        raise CannotJoinError


def _starts_as(left: Atom, right: Atom, starts: Starts) -> bool:
    if same_atom(left, right):
        return True
    key = starts.get(left) if isinstance(left, Var) else None
    return key is not None and isinstance(right, Var) and key == starts.get(right)
