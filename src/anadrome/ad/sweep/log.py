"""The forward run of a loop that its return sweep will undo: the same loop, writing logs as it goes.

What an update of a state overwrites, and the scalars a plan keeps (`ad.sweep.mutated`), are written to logs,
flat arrays with one place for each execution, allocated once. Where only running tells how often something
runs, logs have room for as often as it may at most, if that is known and takes little memory (`_most`): what
is not needed of it is not touched either. Else the loop runs once before, to be counted (an inspector), and
logs have just the size they need.

Before:
    y = loop (a = x) for i < n { v = f(a, i); b = update a[i] v; return b }
After:
    l = unfilled [n] 0.0
    y, log = loop (a = x, m = l) for i < n {
      v = f(a, i)
      o = a[i]
      w = update m[i] o
      b = update a[i] v
      return b, w
    }
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from anadrome.ad.arrays import read_inside
from anadrome.ad.sweep.mutated import BodyPlan, Frame, Link, LoopPlan
from anadrome.ad.sweep.repeat import repeated
from anadrome.ad.sweep.scope import Scope
from anadrome.array_ir.affine import Affine, affine
from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.dead import live_body
from anadrome.array_ir.induction import Most, most_iterations
from anadrome.array_ir.nodes import (
    TRUE,
    Accumulate,
    Apply,
    ArrayType,
    Atom,
    Body,
    Const,
    Full,
    If,
    Let,
    Loop,
    ParFor,
    Scatter,
    Size,
    Update,
    Var,
    i64,
)
from anadrome.array_ir.rewrite import Renaming
from anadrome.array_ir.walk import all_lets, bound_in
from anadrome.dtypes import F64, I64


@dataclass(frozen=True, slots=True)
class Recording:
    """A loop that writes logs, in the variables of the program it is made of.

    `lets`: the statements that stand for the loop; `logs`: the array of each log that the plan names; `trip`:
    how often it ran.
    """

    lets: tuple[Let, ...]
    logs: dict[Var, Var]
    trip: Size


def record(let: Let, expr: Loop, plan: LoopPlan, executions: Executions) -> Recording:
    """The loop with its logs."""
    builder = Builder()
    writer = _Writer(is_logging=True)
    for key, frame in plan.channels():
        assert isinstance(key.type, ArrayType)
        size = _capacity(builder, frame, executions.most)
        log = Full((size, *key.type.shape), number(0, key.type.dtype), is_room=True)
        writer.logs[key] = builder.let_one(log, key.name)
    writer.counts = {frame: i64(0) for frame in plan.body.counted()}
    trip = writer.loop(builder, let.targets, let, expr, plan, i64(0), executions.trip)
    return Recording(tuple(builder.lets), writer.logs, trip)


def _inspect(let: Let, expr: Loop, plan: LoopPlan) -> tuple[Let, Size, dict[Frame, Size]]:
    """The loop with nothing but its counters, the trip count it finds, and how often each frame runs."""
    counted = list(plan.body.counted())
    builder = Builder()
    writer = _Writer(is_logging=False)
    writer.counts = dict.fromkeys(counted, i64(0))
    targets = tuple(Var(target.name, target.type) for target in let.targets)
    trip = writer.loop(builder, targets, let, expr, plan, i64(0), expr.trip)
    found = {frame: writer.counts[frame] for frame in counted}
    return builder.lets[0], trip, found


def _capacity(builder: Builder, frame: Frame, most: Mapping[Frame, Size]) -> Size:
    """How often a frame runs in all, or at most."""
    if frame in most:
        return most[frame]
    assert frame.trip is not None and frame.around is not None
    around = _capacity(builder, frame.around, most)
    return builder.size("mul", around, builder.size("max", frame.trip, i64(0)))


@dataclass(frozen=True, slots=True)
class Executions:
    """How often a loop runs, None where only its end tells; and how often, at most, it and those frames in it
    that do not always run equally often."""

    trip: Size | None
    most: Mapping[Frame, Size]


def counted(
    scope: Scope, let: Let, expr: Loop, plan: LoopPlan, is_repeated: bool, *, is_bounded: bool = False
) -> Executions:
    """How often the loop and what is in it run: as the program says, or found by running an inspector. Where
    a bound is enough, the inspector is left out if there is room for that."""
    if expr.trip is not None and not any(plan.body.counted()):
        return Executions(expr.trip, {plan.frame: expr.trip})
    inspector, found = _inspector(let, expr, plan, is_repeated)

    def inspect(builder: Builder) -> None:
        for counting in inspector.lets:
            builder.emit(scope.renaming.let(counting))

    builder = Builder()
    most = None if not is_bounded or _is_cheap(inspector) else _most(builder, expr, plan)
    if most is None:
        inspect(scope.builder)
        return Executions(found[plan.frame], found)
    fits = _fits(builder, plan, most, ROOM_OF_ITERATION if scope.is_in_parfor else ROOM)
    for sizing in builder.lets:
        scope.builder.emit(scope.renaming.let(sizing))
    sizes = {frame: bound.count for frame, bound in most.items()}
    if fits != TRUE:

        def exactly(inner: Builder) -> tuple[Atom, ...]:
            inspect(inner)
            return tuple(scope.new(found[frame]) for frame in sizes)

        bounds = [scope.new(size) for size in sizes.values()]
        results = scope.builder.branch(scope.new(fits), lambda _: bounds, exactly)
        exact = {frame: Var("most", ArrayType(I64)) for frame in sizes}
        scope.renaming.mapping.update(zip(exact.values(), results, strict=True))
        return Executions(expr.trip, exact)
    return Executions(expr.trip, sizes)


def _inspector(let: Let, expr: Loop, plan: LoopPlan, is_repeated: bool) -> tuple[Body, Mapping[Frame, Size]]:
    """The statements that count, and what they find."""
    inspector, trip, counts = _inspect(let, expr, plan)
    found = {plan.frame: trip, **counts}
    unknown = [size for size in found.values() if isinstance(size, Var) and size is not expr.trip]
    # Where a `while` goes on for ever, a check in it may be all that ends it.
    keeps_checks = not is_repeated and _has_while(expr)
    body = Body((inspector,), tuple(unknown))
    return live_body(body) if keeps_checks else repeated(body, unknown), found


def _is_cheap(inspector: Body) -> bool:
    """Whether the statements do nothing but count."""
    lets = [let for let in all_lets(inspector) if not isinstance(let.expr, Loop | If)]
    return all(isinstance(let.expr, Apply) and not let.targets[0].type.dtype.is_float for let in lets)


# ---------------------------------------------------------------------------- bounds instead of counts
ROOM = 1 << 26
"""Bytes of logs for which a loop is not counted first. What is not written to is memory in name only."""
ROOM_OF_ITERATION = 1 << 16
"""The same of a loop in a parfor, of which each worker has one."""
EXACT = 2.0**52
"""Below this all integers are floats."""


@dataclass(frozen=True, slots=True)
class _Bound:
    """How often a frame runs at most, in all; the same as a float, which does not wrap around; and how large
    the numbers are, together, of which that is computed."""

    count: Size
    product: Atom
    largest: Atom


def _most(builder: Builder, expr: Loop, plan: LoopPlan) -> dict[Frame, _Bound] | None:
    """The bounds of the loop and of those frames in it that do not always run equally often; None where there
    is one of which only running tells."""
    inside = {expr.index, *expr.carried, *bound_in(expr.body)}
    loops = {plan.frame: expr, **dict(_loops(plan.body))}
    found: dict[Frame, _Bound] = {}
    for frame in (plan.frame, *plan.body.counted()):
        most = Most(affine(frame.trip, {}), 1) if frame.trip is not None else most_iterations(loops[frame])
        if most is None or any(var in inside for var, _ in most.left.terms):
            return None
        left = builder.size("add", builder.emit_affine(most.left), i64(most.each - 1))
        count = builder.size("max", builder.size("floordiv", left, i64(most.each)), i64(0))
        product = builder.apply("max", _sum(builder, most.left), _real(0.0))
        if frame.around is not None:
            sizes = {outer: bound.count for outer, bound in found.items()}
            count = builder.size("mul", count, _capacity(builder, frame.around, sizes))
            product = builder.apply("mul", product, _product(builder, frame.around, found))
        found[frame] = _Bound(count, product, _sum(builder, most.left, "abs"))
    return found


def _loops(plan: BodyPlan) -> Iterator[tuple[Frame, Loop]]:
    """The loops of a chain, by the frames that count their iterations."""
    for link in plan.links.values():
        if link.loop is not None and isinstance(link.let.expr, Loop):
            yield link.loop.frame, link.let.expr
            yield from _loops(link.loop.body)
        for side in link.sides:
            yield from _loops(side)


def _fits(builder: Builder, plan: LoopPlan, most: Mapping[Frame, _Bound], room: int) -> Atom:
    """Whether all logs together take no more bytes than there is room for, and nothing that says so has
    wrapped around."""
    total: Atom = _real(0.0)
    for key, frame in plan.channels():
        assert isinstance(key.type, ArrayType)
        size: Atom = _real(key.type.dtype.bytes)
        for extent in key.type.shape:
            size = builder.apply("mul", size, builder.convert(extent, F64))
        total = builder.apply("add", total, builder.apply("mul", size, _product(builder, frame, most)))
    fits = builder.apply("le", total, _real(room))
    for bound in most.values():
        fits = builder.apply("and", fits, builder.apply("le", bound.largest, _real(EXACT)))
    return fits


def _product(builder: Builder, frame: Frame, most: Mapping[Frame, _Bound]) -> Atom:
    """How often a frame runs at most, as a float."""
    if frame in most:
        return most[frame].product
    assert frame.trip is not None and frame.around is not None
    trip = builder.apply("max", builder.convert(frame.trip, F64), _real(0.0))
    return builder.apply("mul", trip, _product(builder, frame.around, most))


def _sum(builder: Builder, form: Affine, of_each: str = "") -> Atom:
    """A form in floats, or the sum of what an operation makes of each of its terms."""
    terms: list[Atom] = [_real(form.constant)]
    terms += [builder.apply("mul", builder.convert(var, F64), _real(factor)) for var, factor in form.terms]
    total: Atom = _real(0.0)
    for term in terms:
        total = builder.apply("add", total, builder.apply(of_each, term) if of_each else term)
    return total


def _real(value: float) -> Const:
    return Const(float(value), F64)


def _has_while(expr: Loop) -> bool:
    inner = (let.expr for let in all_lets(expr.body))
    return any(found.condition is not None for found in (expr, *inner) if isinstance(found, Loop))


class _Writer:
    """Writes the body of a loop again with its logs (or with its counters alone): where they stand now."""

    def __init__(self, *, is_logging: bool) -> None:
        self.is_logging = is_logging
        self.logs: dict[Var, Var] = {}
        self.counts: dict[Frame, Atom] = {}

    def loop(
        self,
        builder: Builder,
        targets: tuple[Var, ...],
        let: Let,
        expr: Loop,
        plan: LoopPlan,
        base: Atom,
        trip: Size | None,
    ) -> Size:
        """A loop whose iterations have the places from `base` on; how many it made."""
        keys = [key for key, _ in plan.channels()] if self.is_logging else []
        frames = list(plan.body.counted())
        logs, counts = dict(self.logs), dict(self.counts)
        start = [*(logs[key] for key in keys), *(counts[frame] for frame in frames)]
        inner = builder.child()
        extra = [Var(atom.name if isinstance(atom, Var) else "count", atom.type) for atom in start]
        index, position = expr.index, Var("place", ArrayType(I64))
        if trip is None:
            place: Atom = position
            extra.append(position)
            start.append(base)
        else:
            index = index or Var("i", ArrayType(I64))
            inner.bind(index)
            place = inner.apply("add", base, index)
        inner.bind(*expr.carried, *extra)
        self.logs.update(zip(keys, extra, strict=False))
        self.counts.update(zip(frames, extra[len(keys) :], strict=False))
        for var, key in plan.entries.items():
            self.write(inner, key, place, var)
        self.body(inner, expr.body, plan.body, place)
        after: list[Atom] = [*(self.logs[key] for key in keys), *(self.counts[frame] for frame in frames)]
        if trip is None:
            after.append(inner.apply("add", position, i64(1)))
        finals = tuple(Var(var.name, var.type) for var in extra)
        new = Loop(
            (*expr.carried, *extra),
            (*expr.init, *start),
            inner.body((*expr.body.results, *after)),
            None if trip is None else index,
            trip,
            expr.condition if trip is None else None,
        )
        builder.emit(Let((*targets, *finals), new, let.span))
        self.logs, self.counts = logs, counts
        self.logs.update(zip(keys, finals, strict=False))
        self.counts.update(zip(frames, finals[len(keys) :], strict=False))
        if trip is not None:
            return trip
        count = builder.apply("sub", finals[-1], base)
        assert isinstance(count, Var)
        return count

    def write(self, builder: Builder, key: Var, place: Atom, value: Atom) -> None:
        """Put a value into a log."""
        if self.is_logging:
            self.logs[key] = builder.update(self.logs[key], (place,), value)

    def body(self, builder: Builder, body: Body, plan: BodyPlan, place: Atom) -> None:
        """The statements of a body that runs at this place of its frame."""
        for let in body.lets:
            builder.span = let.span
            link = plan.links.get(let)
            if link is None:
                builder.emit(let)
            else:
                self.link(builder, link, place)
            for keys in (plan.kept, plan.reads):
                for target in let.targets:
                    if target in keys:
                        self.write(builder, keys[target], place, target)

    def link(self, builder: Builder, link: Link, place: Atom) -> None:
        """A statement that writes to states."""
        let, expr = link.let, link.let.expr
        match expr:
            case Update(array=array, indices=indices, bounds=bounds):
                if self.is_logging:
                    self.write(builder, link.logs[0], place, read_inside(builder, array, indices, bounds))
                builder.emit(let)
            case ParFor():
                self.parfor(builder, link, expr, place)
                builder.emit(let)
            case If():
                self.branch(builder, link, expr, place)
            case Loop():
                assert link.frame is not None and link.loop is not None
                base = self.enter(builder, link.frame, place)
                made = self.loop(builder, let.targets, let, expr, link.loop, base, expr.trip)
                self.leave(builder, link.frame, place, base, made)
            case _:
                raise AssertionError(f"{type(expr).__name__} is no link of a chain")

    def enter(self, builder: Builder, frame: Frame, place: Atom) -> Atom:
        """The first place of a frame that is entered now."""
        if frame.is_regular:
            assert frame.trip is not None
            return builder.apply("mul", place, frame.trip)
        base = self.counts[frame]
        self.write(builder, frame.entry, place, base)
        return base

    def leave(self, builder: Builder, frame: Frame, place: Atom, base: Atom, made: Atom) -> None:
        """The frame was executed `made` times."""
        if frame.is_regular:
            return
        if frame.trip is not None:
            made = builder.apply("max", made, i64(0))
        self.write(builder, frame.count, place, made)
        self.counts[frame] = builder.apply("add", base, made)

    def parfor(self, builder: Builder, link: Link, expr: ParFor, place: Atom) -> None:
        """Log what scatters overwrite, in a parfor of its own before."""
        assert link.frame is not None
        base = self.enter(builder, link.frame, place)
        if self.is_logging:
            inner, renaming = builder.child(), Renaming({})
            index = renaming.fresh(expr.index)
            inner.bind(index)
            for let in expr.body.lets:
                inner.emit(renaming.let(let))
            at = inner.apply("add", base, index)
            logged: dict[Var, Atom] = {}
            for key, places, (position, before, _) in zip(link.logs, link.places, link.moves, strict=True):
                part = expr.part_of(position)
                assert isinstance(part.item, Accumulate | Scatter)
                indices = renaming.atoms(part.at)
                logged[key] = read_inside(inner, before, indices, part.item.bounds)
                logged.update(zip(places, indices, strict=False))
            parts = [Scatter.of(self.logs[key], (at,), value) for key, value in logged.items()]
            results = builder.let(ParFor.of(index, expr.extent, inner.lets, parts))
            self.logs.update(zip(logged, results, strict=True))
        self.leave(builder, link.frame, place, base, expr.extent)

    def branch(self, builder: Builder, link: Link, expr: If, place: Atom) -> None:
        """Both sides give back every log and counter that either has written to."""
        keys = [key for side in link.sides for key, _ in side.channels()] if self.is_logging else []
        frames = [frame for side in link.sides for frame in side.counted()]
        logs, counts = dict(self.logs), dict(self.counts)
        bodies = []
        finals: list[Var] = []
        for body, plan in zip((expr.then, expr.other), link.sides, strict=True):
            self.logs, self.counts = dict(logs), dict(counts)
            inner = builder.child()
            self.body(inner, body, plan, place)
            after = [*(self.logs[key] for key in keys), *(self.counts[frame] for frame in frames)]
            finals = [Var(atom.name if isinstance(atom, Var) else "count", atom.type) for atom in after]
            bodies.append(inner.body((*body.results, *after)))
        builder.emit(
            Let((*link.let.targets, *finals), If(expr.condition, bodies[0], bodies[1]), link.let.span)
        )
        self.logs, self.counts = logs, counts
        self.logs.update(zip(keys, finals, strict=False))
        self.counts.update(zip(frames, finals[len(keys) :], strict=False))
