"""Run-time checks that cannot fail go: checked indices that are proved inside, checks that hold.

So do comparisons of integers that are decided, and the clamps `min i hi`, `max i lo` that change nothing.

What is known: 0 ≤ i < n of the index of a parfor or loop; sizes are not negative; comparisons of the branch
one stands in and of a loop's condition; a carried integer that only grows from its start, or stays above or
below it for other reasons; what holds of
quotients, remainders, minima, maxima and choices (`ranges` does the proofs). A check at the top of the
function (`n = m`) is known afterwards, since a failed one ends the call there; inside a loop or parfor it
is not, since there a failed check lets the others run on. So a check of an index that only depends on the
loops around it is made before them, once, and is then known to all that follows (`lifting`).

Before:
    fn f(x: f64[n], k: i64) -> f64 {
      s = parfor i < n {
        a = add i k
        j = mod a n
        v = x[j]?
        yield reduce add v
      }
      return s
    }
After:
    fn f(x: f64[n], k: i64) -> f64 {
      s = parfor i < n {
        a = add i k
        j = mod a n
        v = x[j]
        yield reduce add v
      }
      return s
    }
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import assert_never

from anadrome.array_ir.launch import GEOMETRY
from anadrome.array_ir.nodes import (
    FALSE,
    TRUE,
    Accumulate,
    AddTo,
    Apply,
    ArrayType,
    Atom,
    Body,
    Bounds,
    Check,
    Collective,
    Const,
    Custom,
    Expr,
    Full,
    Function,
    If,
    Index,
    Launch,
    Let,
    Library,
    Literal,
    Loop,
    ParFor,
    Print,
    Reshape,
    Scatter,
    Update,
    Var,
    WithSum,
    Yield,
)
from anadrome.array_ir.rewrite import Substitution, remade, with_body
from anadrome.config import Config
from anadrome.dtypes import I64
from anadrome.passes.hoist_checks import Lift, begin, leave, may_be_lifted, without, write
from anadrome.passes.ranges import Ranges
from anadrome.prims.node import replace
from anadrome.prims.polynomials import Polynomial


def eliminate_bounds_checks(fn: Function, config: Config) -> Function:
    """The function with every check dropped that is known to hold."""
    walk = _Prover()
    walk.ranges.learn_sizes(param.type for param in fn.params)
    return with_body(fn, walk.body(fn.body, 0))


def prove_thread(fn: Function, config: Config) -> Function:
    """The same for what a thread of a kernel does, of which is known where in its grid and block it is.

    A thread goes on behind a check that fails, as an iteration of a loop does.
    """
    walk = _Prover()
    where = fn.params[: len(GEOMETRY)]
    walk.ranges.learn_sizes((*(param.type for param in fn.params), ArrayType(I64, where)))
    for index, extent in zip(where[6:12], where[:6], strict=True):
        walk.ranges.learn_below(index, extent)
    return with_body(fn, walk.body(fn.body, 1))


class _Prover:
    """One walk with the facts that hold where it stands."""

    def __init__(self) -> None:
        self.ranges = Ranges()
        self.same = Substitution()
        self.lifts: list[Lift] = []
        """Checks on their way out of the loops that the walk stands in."""
        self.conditional: list[tuple[set[Hashable], Polynomial]] = []
        """What holds where loops over some extents run: the extents, and what is then ≥ 0."""
        self.invariants: list[Polynomial] = []
        """What holds before and after each iteration of the loop that the walk has just left."""
        self.entered: list[Hashable] = []
        """The extents of the loops that the walk stands in."""

    def body(self, body: Body, depth: int) -> Body:
        """A body, `depth` loops inside the function; its facts are its own."""
        with self.ranges.scope():
            lets = self.top(body.lets) if depth == 0 else self.statements(body.lets, depth)
            results = self.same.atoms(body.results)
        return remade(body, lets, results)

    def statements(self, lets: tuple[Let, ...], depth: int) -> list[Let]:
        """The statements of a body inside a loop or branch, and what may leave it."""
        written: list[Let] = []
        for let in lets:
            new = self.statement(let, depth)
            if new is not None:
                written.append(new)
                lift = begin(self.ranges, new) if isinstance(new.expr, Check | Index) else None
                if lift is not None:
                    self.lifts.append(lift)
        return written

    def top(self, lets: tuple[Let, ...]) -> list[Let]:
        """The statements of the function itself, and before each the checks that left its loops."""
        written: list[Let] = []

        def emit(let: Let) -> Atom:
            new = self.statement(let, 0)
            if new is not None:
                written.append(new)
            return self.same.atom(let.targets[0]) if let.targets else TRUE

        for let in lets:
            new = self.statement(let, 0)
            lifts, self.lifts = self.lifts, []
            if lifts and new is not None and may_be_lifted(new):
                for lift in lifts:
                    write(lift, emit)
                    self.conditional += [
                        (set(part.extents), part.poly) for part in lift.parts if part.extents
                    ]
                # what it writes may be proved by what its reads have asked
                new = self.statement(without(new, {lift.origin for lift in lifts}), 0)
                self.lifts = []
            if new is not None:
                written.append(new)
        return written

    @contextmanager
    def inside(self, index: Var | None, extent: Atom | None) -> Iterator[None]:
        """The scope of a loop's iterations: 0 ≤ index < extent, and what holds where such a loop runs."""
        depth = len(self.entered)
        with self.ranges.scope():
            if index is not None and extent is not None:
                self.ranges.learn_below(index, extent)
                own = self.ranges.form(extent)
                self.entered.append(own)
                for extents, poly in self.conditional:
                    if own in extents and extents.issubset(self.entered):
                        self.ranges.learn(poly)
            yield
        del self.entered[depth:]

    def leaving(
        self,
        before: list[Lift],
        index: Var | None,
        extent: Atom | None,
        body: Body,
        carried: tuple[Var, ...] = (),
    ) -> None:
        """The checks of a loop's body that are made before the loop; the others stay in it."""
        inner, self.lifts = self.lifts, before
        if index is not None and extent is not None:
            found = (leave(self.ranges, lift, index, extent, body, carried) for lift in inner)
            self.lifts += [lift for lift in found if lift is not None]

    def statement(self, let: Let, depth: int) -> Let | None:
        """A statement without the checks that hold; None where nothing is left of it."""
        expr = let.expr
        ranges = self.ranges
        if not isinstance(expr, ParFor | Loop | If | WithSum | Custom):
            expr = self.same.expr(expr, _unchanged)
        match expr:
            case Apply():
                return self.apply(let, expr)
            case Check(condition=condition):
                if ranges.decides(condition) is True:
                    return None
                if depth == 0:
                    ranges.learn_condition(condition, True)
                return remade(let, (), expr)
            case Full() | Literal() | Reshape() | Print() | Library() | Launch() | Collective():
                new: Expr = expr
            case Index(array=array, indices=indices, bounds=bounds):
                new = remade(expr, array, indices, self.bounds(array, indices, bounds))
            case Update(array, indices, value, bounds):
                new = remade(expr, array, indices, value, self.bounds(array, indices, bounds))
            case AddTo(token, indices, value, bounds):
                new = remade(expr, token, indices, value, self.bounds(token, indices, bounds))
            case ParFor():
                new = self.parfor(expr, depth)
            case Loop():
                new = self.loop(expr, depth)
                self.learn_results(let.targets, expr.carried)
            case If():
                new = self.branch(expr, depth)
            case WithSum(init=init, tokens=tokens, body=body):
                sums = self.same.variables(init)
                lifts = list(self.lifts)
                new = remade(expr, sums, self.same.all_bound(tokens), self.body(body, depth))
                self.lifts = lifts
            case Custom():
                lifts = list(self.lifts)
                new = self.same.custom(expr, lambda body: self.body(body, depth + 1))
                self.lifts = lifts
            case _:
                assert_never(expr)
        targets = self.same.all_bound(let.targets)
        ranges.learn_sizes(target.type for target in targets)
        return remade(let, targets, new)

    def apply(self, let: Let, expr: Apply) -> Let | None:
        """A scalar operation; None where the proofs say what it is."""
        (target,) = let.targets
        found = self.decided(expr)
        if found is not None:
            self.same.replace(target, found)
            return None
        self.ranges.define(target, expr)
        return remade(let, let.targets, expr)

    def decided(self, expr: Apply) -> Atom | None:
        """The result of a comparison of integers that is decided, of an extremum whose winner is known."""
        name, args = expr.prim.name, expr.args
        if name == "select" and isinstance(args[0], Const):
            return args[1 if args[0].value else 2]
        if name == "and" and any(isinstance(arg, Const) for arg in args):
            return args[0] if args[1] == TRUE else args[1] if args[0] == TRUE else FALSE
        if len(args) != 2 or args[0].type != ArrayType(I64):
            return None
        if name in ("min", "max"):
            if self.ranges.proves(self.ranges.difference(args[1], args[0])):
                return args[0 if name == "min" else 1]
            if self.ranges.proves(self.ranges.difference(args[0], args[1])):
                return args[1 if name == "min" else 0]
            return None
        holds = self.ranges.compares(name, args)
        return None if holds is None else (TRUE if holds else FALSE)

    def bounds(self, array: Var, indices: tuple[Atom, ...], bounds: Bounds) -> Bounds:
        """PROVED where every index is inside."""
        if bounds is Bounds.PROVED:
            return bounds
        pairs = zip(indices, array.type.shape, strict=False)
        is_inside = all(self.ranges.is_inside(index, size) for index, size in pairs)
        return Bounds.PROVED if is_inside else bounds

    # ------------------------------------------------------------------ nested bodies
    def parfor(self, expr: ParFor, depth: int) -> ParFor:
        """Inside, the index is below the extent."""
        before, self.lifts = self.lifts, []
        extent = self.same.atom(expr.extent)
        with self.inside(expr.index, extent):
            lets = self.statements(expr.body.lets, depth + 1)
            body = remade(expr.body, lets, self.same.atoms(expr.body.results))
            lifts = list(self.lifts)
            places = [part.at for part in replace(expr, body=body).parts]
            items = zip(expr.yields, places, strict=True)
            yields = tuple(self.item(item, at, depth + 1) for item, at in items)
        self.lifts = lifts
        self.leaving(before, expr.index, extent, body)
        return remade(expr, expr.index, extent, body, yields)

    def item(self, item: Yield, at: tuple[Atom, ...], depth: int) -> Yield:
        """A yield; the place of an accumulation may be proved inside."""

        def operator_body(body: Body) -> Body:
            return self.body(body, depth)

        item = self.same.item(item, operator_body)
        if isinstance(item, Accumulate | Scatter):
            bounds = self.bounds(item.init, at, item.bounds)
            return item if bounds is item.bounds else replace(item, bounds=bounds)
        return item

    def branch(self, expr: If, depth: int) -> If:
        """In each branch the condition is known."""
        condition = self.same.atom(expr.condition)
        before = list(self.lifts)
        sides: list[Body] = []
        for body, holds in ((expr.then, True), (expr.other, False)):
            with self.ranges.scope():
                self.ranges.learn_condition(condition, holds)
                sides.append(self.body(body, depth + 1))
        self.lifts = before
        return remade(expr, condition, sides[0], sides[1])

    def loop(self, expr: Loop, depth: int) -> Loop:
        """Inside, the index is below the trip count, the condition holds, and counters have grown."""
        ranges = self.ranges
        trip = None if expr.trip is None else self.same.atom(expr.trip)
        init = self.same.atoms(expr.init)
        carried = self.same.all_bound(expr.carried)
        ranges.learn_sizes(var.type for var in carried)
        condition = None
        before, self.lifts = self.lifts, []
        with self.inside(expr.index, trip):
            self.learn_counters(expr, init)
            self.invariants = invariants = self.found_invariants(expr, init)
            for poly in invariants:
                ranges.learn(poly)
            if expr.condition is not None:
                condition = self.body(expr.condition, depth + 1)
                ranges.learn_condition(condition.results[0], True)
                self.lifts = []
            body = self.body(expr.body, depth + 1)
        self.invariants = invariants
        self.leaving(before, expr.index if expr.condition is None else None, trip, body, carried)
        return remade(expr, carried, init, body, expr.index, trip, condition)

    def learn_counters(self, expr: Loop, init: tuple[Atom, ...]) -> None:
        """A carried integer to which only constants ≥ 0 (≤ 0) are added stays above (below) its start."""
        steps = {let.targets[0]: let.expr for let in expr.body.lets if isinstance(let.expr, Apply)}
        for carried, start, after in zip(expr.carried, init, expr.body.results, strict=True):
            if carried.type != ArrayType(I64):
                continue
            directions = _directions(after, carried, steps)
            grown = self.ranges.difference(carried, start)
            if directions == {1}:
                self.ranges.learn(grown)
            elif directions == {-1}:
                self.ranges.learn(grown.times(-1))

    def found_invariants(self, expr: Loop, init: tuple[Atom, ...]) -> list[Polynomial]:
        """Bounds that carried integers have by their starts: those that hold after an iteration where all of
        them, and the condition, held before it (Flanagan and Leino, FME 2001). The ends of a search by
        halves stay in the range that it starts with."""
        ranges = self.ranges
        candidates: list[tuple[Polynomial, Polynomial]] = []
        for carried, start, after in zip(expr.carried, init, expr.body.results, strict=True):
            if carried.type == ArrayType(I64) and after is not carried:
                before, later = (ranges.difference(atom, start) for atom in (carried, after))
                candidates += [(before, later), (before.times(-1), later.times(-1))]
        if len(candidates) > MOST_CANDIDATES:
            return []
        while candidates:
            with ranges.scope():
                for before, _ in candidates:
                    ranges.learn(before)
                if expr.condition is not None:
                    self.define(expr.condition)
                    ranges.learn_condition(self.same.atom(expr.condition.results[0]), True)
                self.define(expr.body)
                kept = [pair for pair in candidates if ranges.proves(pair[1])]
            if len(kept) == len(candidates):
                break
            candidates = kept
        return [before for before, _ in candidates]

    def define(self, body: Body) -> None:
        """What the statements of a body compute, before the walk comes to them."""
        for let in body.lets:
            if isinstance(let.expr, Apply):
                self.ranges.define(let.targets[0], self.same.expr(let.expr, _unchanged))

    def learn_results(self, targets: tuple[Var, ...], carried: tuple[Var, ...]) -> None:
        """What holds of the results of a loop: what holds before and after each iteration."""
        for poly in self.invariants:
            for target, var in zip(targets, carried, strict=True):
                poly = poly.at(var, self.ranges.form(target))
            self.ranges.learn(poly)


MOST_CANDIDATES = 8
"""Of so many bounds is asked whether they are invariants."""


def _unchanged(body: Body) -> Body:
    return body


def _directions(after: Atom, carried: Var, steps: Mapping[Var, Expr]) -> set[int]:
    """The signs of what an iteration adds to a counter, as far as known; 0 where it is not known."""
    if after is carried:
        return {1}
    step = steps.get(after) if isinstance(after, Var) else None
    if not isinstance(step, Apply):
        return {0}
    if step.prim.name == "select":
        return _directions(step.args[1], carried, steps) | _directions(step.args[2], carried, steps)
    if step.prim.name in ("add", "sub") and step.args[0] is carried and isinstance(step.args[1], Const):
        sign = 1 if step.args[1].value >= 0 else -1
        return {sign if step.prim.name == "add" else -sign}
    if step.prim.name == "add" and step.args[1] is carried and isinstance(step.args[0], Const):
        return {1 if step.args[0].value >= 0 else -1}
    if step.prim.name == "max" and any(arg is carried for arg in step.args):
        return {1}
    return {0}
