"""What a loop takes from the last iteration that a condition chose is computed in that iteration alone.

`if d < best: best, at = d, j` keeps `d` of one iteration, though the loop carries the best of each; so does
`if x[i] > 0: last = f(i)`. The derivative of what is kept is that of the iteration that won, whose number the
loop carries as well: the values from before are for conditions alone then, which have no derivatives. How
conditions compare, and in which order, is all the same.

What is taken must wait for no iteration before, and the loop must use what it keeps for conditions alone.

Before:
    fn f(x: f64[n], p: f64, q: f64) -> f64, f64 {
      least, beside = loop (l = p, k = q) for i < n {
        v = x[i]
        u = mul v v
        c = lt u l
        m = select c u l
        j = select c v k
        return m, j
      }
      return least, beside
    }
After:
    fn f(x: f64[n], p: f64, q: f64) -> f64, f64 {
      least, winner = loop (l = p, w = -1) for i < n {
        v = x[i]
        u = mul v v
        c = lt u l
        m = select c u l
        z = select c i w
        return m, z
      }
      is_won = lt -1 winner
      best, beside = if is_won {
        v = x[winner]
        u = mul v v
        return u, v
      } else {
        return p, q
      }
      return best, beside
    }
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from anadrome.array_ir.build import Builder
from anadrome.array_ir.dead import live_body
from anadrome.array_ir.nodes import (
    Apply,
    ArrayType,
    Atom,
    Body,
    Collective,
    Function,
    If,
    Launch,
    Let,
    Loop,
    Print,
    Var,
    i64,
)
from anadrome.array_ir.rewrite import Substitution, remade, with_body
from anadrome.array_ir.walk import all_lets, bodies, holds, let_variables, operands
from anadrome.config import Config
from anadrome.dtypes import I64


def winners(fn: Function, config: Config) -> Function:
    """The function with what loops take from a last iteration behind them; itself where they take nothing."""
    if not any(isinstance(let.expr, Loop) for let in all_lets(fn.body)):
        return fn
    new = _Winners(fn.body).body(fn.body)
    return fn if new is fn.body else with_body(fn, live_body(new))


@dataclass(frozen=True, slots=True)
class _Step:
    """A choice on the way to what is taken: the variable that it makes, its condition, the side that takes,
    and whether it is a branch, which the way goes into, or a select."""

    target: Var
    condition: Atom
    takes_if: bool
    is_branch: bool


@dataclass(frozen=True, slots=True)
class _Taken:
    """What a loop carries at a position becomes this value where `steps`, from the outside inwards, lead to
    it, and else stays."""

    position: int
    value: Atom
    steps: tuple[_Step, ...]


class _Iteration:
    """What the iterations of a loop take. Their statements, those in branches too: by what they make, and in
    which order."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.made: dict[Atom, Let] = {}
        self.order: dict[Let, int] = {}
        for let in all_lets(loop.body):
            self.made.update(dict.fromkeys(let.targets, let))
            self.order[let] = len(self.order)

    def taken(self, position: int) -> _Taken | None:
        """What the loop takes for what it carries at a position; None where more than that becomes of it."""
        carried, atom = self.loop.carried[position], self.loop.body.results[position]
        steps: list[_Step] = []
        while isinstance(atom, Var) and atom in self.made:
            match self.made[atom].expr:
                case Apply(prim=prim, args=(condition, left, right)) if prim.name == "select":
                    is_branch = False
                case If(condition=condition, then=then, other=other):
                    at = self.made[atom].targets.index(atom)
                    left, right, is_branch = then.results[at], other.results[at], True
                case _:
                    break
            if carried not in (left, right):
                break
            steps.append(_Step(atom, condition, right is carried, is_branch))
            atom = left if right is carried else right
        return _Taken(position, atom, tuple(steps)) if steps and atom is not carried else None

    def groups(self, read: set[Var]) -> list[list[_Taken]]:
        """What is taken of the same iteration together, where a float of it is read behind the loop."""
        loop = self.loop
        waiting: set[Atom] = {*loop.carried}
        _wait(loop.body, waiting)
        numbers = [at for at, carried in enumerate(loop.carried) if isinstance(carried.type, ArrayType)]
        found = [taken for taken in map(self.taken, numbers) if taken is not None]
        alone = {taken.position: taken for taken in found if taken.value not in waiting}
        wanted: set[Atom] = {result for at, result in enumerate(loop.body.results) if at not in alone}
        _want(loop.body, wanted)
        groups: dict[tuple[tuple[Atom, bool], ...], list[_Taken]] = {}
        for position, taken in alone.items():
            carried = loop.carried[position]
            if carried not in wanted or not _has_derivative(carried):
                key = tuple((step.condition, step.takes_if) for step in taken.steps)
                groups.setdefault(key, []).append(taken)
        return [group for group in groups.values() if any(self.is_worth_it(one, read) for one in group)]

    def is_worth_it(self, taken: _Taken, read: set[Var]) -> bool:
        """Whether something that may have a derivative is taken, and read behind the loop."""
        carried = self.loop.carried[taken.position]
        return isinstance(taken.value, Var) and carried.type.dtype.is_float and carried in read

    def won(self, builder: Builder, group: Sequence[_Taken], winner: Var) -> tuple[Var, ...]:
        """What is taken of the iteration that won; what the loop starts with where none did."""
        assert self.loop.index is not None
        values = tuple(one.value for one in group)
        inside, index = Body(self.making(values), values), self.loop.index
        start = [self.loop.init[one.position] for one in group]
        there = builder.apply("lt", i64(-1), winner)
        return builder.branch(there, lambda inner: inner.inline(inside, {index: winner}), lambda _: start)

    def making(self, values: Sequence[Atom]) -> tuple[Let, ...]:
        """The statements that make values; no checks, which an iteration that wins has passed."""
        needed: set[Let] = set()
        left: list[Atom] = [*values]
        while left:
            let = self.made.get(left.pop())
            if let is not None and let not in needed:
                needed.add(let)
                left += let_variables(let)
        return tuple(sorted(needed, key=self.order.__getitem__))


def _wait(body: Body, waiting: set[Atom]) -> None:
    """Add what statements make of what waits for another iteration, directly or not."""
    for let in body.lets:
        if isinstance(let.expr, If):
            then, other = let.expr.then, let.expr.other
            _wait(then, waiting)
            _wait(other, waiting)
            if let.expr.condition not in waiting:
                ends = zip(let.targets, then.results, other.results, strict=True)
                waiting.update(target for target, *sides in ends if not waiting.isdisjoint(sides))
                continue
        if not waiting.isdisjoint(let_variables(let)):
            waiting.update(let.targets)


def _want(body: Body, wanted: set[Atom]) -> None:
    """Add what statements make what is wanted of, directly or not, as far as it may have a derivative."""
    for let in reversed(body.lets):
        positions = [at for at, target in enumerate(let.targets) if target in wanted]
        if isinstance(let.expr, If):
            for side in (let.expr.then, let.expr.other):
                wanted.update(side.results[at] for at in positions)
                _want(side, wanted)
        elif positions:
            wanted.update(var for var in let_variables(let) if _has_derivative(var))


def _has_derivative(var: Var) -> bool:
    return not isinstance(var.type, ArrayType) or var.type.dtype.is_float


class _Winners(Substitution):
    """One walk over the program, inner loops first."""

    def __init__(self, body: Body) -> None:
        super().__init__()
        self.read: set[Atom] = {*body.results}
        for let in all_lets(body):
            self.read.update(operands(let.expr))
            for _, inner in bodies(let.expr):
                self.read.update(inner.results)

    def body(self, body: Body) -> Body:
        """A body, behind whose loops the iterations that won compute what was taken."""
        lets = [made for let in body.lets for made in self.statement(let)]
        return remade(body, lets, self.atoms(body.results))

    def statement(self, let: Let) -> Iterator[Let]:
        """A statement and what follows it."""
        new = self.let(let)
        loop = new.expr
        if not isinstance(loop, Loop) or loop.index is None or loop.checkpoint is not None:
            yield new
            return
        iteration = _Iteration(loop)
        ends = zip(loop.carried, let.targets, strict=True)
        read = {carried for carried, end in ends if end in self.read}
        groups = [] if holds(loop.body, Print, Launch, Collective) else iteration.groups(read)
        if not groups:
            yield new
            return
        marks = [Var("winner", ArrayType(I64)) for _ in groups]
        ways = [(group[0].steps, mark) for group, mark in zip(groups, marks, strict=True)]
        body = _marked(loop.body, ways, loop.index)
        init = (*loop.init, *[i64(-1) for _ in groups])
        found = [Var("winner", ArrayType(I64)) for _ in groups]
        builder = Builder()
        builder.span = let.span
        whole = Loop((*loop.carried, *marks), init, body, loop.index, loop.trip)
        builder.emit(Let((*new.targets, *found), whole, let.span))
        for group, winner in zip(groups, found, strict=True):
            results = iteration.won(builder, group, winner)
            for one, result in zip(group, results, strict=True):
                self.replace(let.targets[one.position], result)
        yield from builder.lets


Way = tuple[Sequence[_Step], Var]
"""Steps to what is taken, and the number of the last iteration that they led to it, as it was before."""


def _marked(body: Body, ways: Sequence[Way], index: Var) -> Body:
    """A body that also gives the last iteration, this one included, that each of these ways led inside."""
    firsts = [next((at for at, step in enumerate(steps) if step.is_branch), len(steps)) for steps, _ in ways]
    into: dict[Var, list[int]] = {}
    for way, ((steps, _), first) in enumerate(zip(ways, firsts, strict=True)):
        for step in steps[first : first + 1]:
            into.setdefault(step.target, []).append(way)
    numbers: dict[int, Atom] = {way: index for way, at in enumerate(firsts) if at == len(ways[way][0])}
    builder = Builder()
    for let in body.lets:
        inside = [way for target in let.targets for way in into.get(target, ())]
        if inside:
            rest = [(ways[way][0][firsts[way] :], ways[way][1]) for way in inside]
            let, found = _entered(let, rest, index)
            for way, number in zip(inside, found, strict=True):
                numbers[way] = number
        builder.lets.append(let)
    for way, ((steps, mark), first) in enumerate(zip(ways, firsts, strict=True)):
        for step in reversed(steps[:first]):
            sides = (numbers[way], mark) if step.takes_if else (mark, numbers[way])
            numbers[way] = builder.apply("select", step.condition, *sides)
    return Body(tuple(builder.lets), (*body.results, *[numbers[way] for way in range(len(ways))]))


def _entered(let: Let, ways: Sequence[Way], index: Var) -> tuple[Let, tuple[Var, ...]]:
    """A branch whose sides give the last iterations, too, which ways lead into; and these."""
    assert isinstance(let.expr, If)
    sides = []
    for side, takes_if in ((let.expr.then, True), (let.expr.other, False)):
        inside = [(steps[1:], mark) for steps, mark in ways if steps[0].takes_if == takes_if]
        marked = _marked(side, inside, index)
        found = iter(marked.results[len(side.results) :])
        marks = [next(found) if steps[0].takes_if == takes_if else mark for steps, mark in ways]
        sides.append(Body(marked.lets, (*side.results, *marks)))
    numbers = tuple(Var("winner", mark.type) for _, mark in ways)
    return Let((*let.targets, *numbers), If(let.expr.condition, *sides), let.span), numbers
