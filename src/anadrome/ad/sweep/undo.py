"""The return sweep's way through the versions of a state: undoing writes from their logs, last one first.

    A' = update A[at] v           undone:   A = update A'[at] old          (old: what the log holds of A[at])

In the reverse sweep the state is one array that goes backwards: each version is the result of undoing the
write that ended it, and is read before the next write is undone. So every version is used up once, and all
of them stand in the same memory.
"""

from __future__ import annotations

from anadrome.ad.arrays import flipped
from anadrome.ad.sweep.mutated import BodyPlan, Frame, Link, LoopPlan, Mode
from anadrome.ad.sweep.repeat import repeated
from anadrome.ad.sweep.scope import Residuals, Scope, Sweeps, Trail
from anadrome.array_ir.build import Builder
from anadrome.array_ir.induction import value_at
from anadrome.array_ir.nodes import (
    Accumulate,
    Atom,
    Body,
    Custom,
    If,
    Let,
    Loop,
    ParFor,
    Part,
    Scatter,
    Size,
    Update,
    Var,
)
from anadrome.array_ir.rewrite import Renaming


def enter_body(scope: Scope, body: Body, trail: Trail, sweeps: Sweeps, kept: Residuals) -> Residuals:
    """Begin the reversal of a body that a state passes through, from the versions it ends with.

    Afterwards everything is there that the return sweep reads: in UNDO and REDO mode the body has run again.
    """
    plan, renaming, builder = trail.plan, scope.renaming, scope.builder
    if plan.mode is Mode.SKIP:
        _read_kept(builder, renaming, trail)
        scope.trail = trail
        return sweeps.forward(scope, Body(tuple(plan.plain)), True, kept)
    clean = tuple(let for let in plan.plain if let not in plan.tainted)
    residuals = sweeps.forward(scope, Body(clean), True, kept)
    _read_kept(builder, renaming, trail)
    _emit(builder, renaming, tuple(let for let in plan.plain if let in plan.tainted))
    undo_links(builder, renaming, trail)
    first = set(clean)
    rest = Body(tuple(let for let in body.lets if let not in first))
    residuals.update(sweeps.forward(scope, rest, True, kept))
    scope.trail = trail if plan.mode is Mode.REDO else None
    return residuals


def step_back(scope: Scope, let: Let, is_needed: bool, sweeps: Sweeps) -> Residuals:
    """Before a statement is reversed (if that is needed), make what it reads stand there; what a forward run
    of it kept, where none has been. A loop or a branch takes the state back itself while it is reversed."""
    trail = scope.trail
    assert trail is not None
    link = trail.plan.links.get(let)
    if link is not None:
        if not is_needed or not isinstance(let.expr, If | Loop):
            undo_link(scope.builder, scope.renaming, link, trail)
        return {}
    is_late = trail.plan.mode is Mode.SKIP and let in trail.plan.reading
    if is_needed and is_late and isinstance(let.expr, Loop | Custom):
        return sweeps.forward(scope, Body((let,)), True, {})
    return {}


def passed_back(scope: Scope, let: Let) -> list[Var]:
    """The versions that the reversal of a loop or a branch gives back."""
    link = None if scope.trail is None else scope.trail.plan.links.get(let)
    if link is None or not isinstance(let.expr, If | Loop):
        return []
    return [before for _, before, _ in link.moves]


def undo_link(builder: Builder, renaming: Renaming, link: Link, trail: Trail) -> None:
    """Undo one statement of a chain: what was the version after it becomes the version before it."""
    mapping, expr = renaming.mapping, link.let.expr
    match expr:
        case Update(indices=indices, bounds=bounds):
            ((_, before, after),) = link.moves
            old = trail.read(builder, link.logs[0])
            mapping[before] = builder.update(renaming.variable(after), renaming.atoms(indices), old, bounds)
        case ParFor():
            _undo_parfor(builder, renaming, link, expr, trail)
        case If():
            _undo_branch(builder, renaming, link, expr, trail)
        case Loop():
            _undo_loop(builder, renaming, link, expr, trail)
        case _:
            raise AssertionError(f"{type(expr).__name__} is no link of a chain")


def undo_links(builder: Builder, renaming: Renaming, trail: Trail) -> None:
    """Undo every write of a body, from its last versions to its first."""
    for link in reversed(trail.plan.links.values()):
        undo_link(builder, renaming, link, trail)


def first_place(builder: Builder, renaming: Renaming, frame: Frame, trail: Trail) -> Atom:
    """The first place, in its logs, of a frame inside this body."""
    if not frame.is_regular:
        return trail.read(builder, frame.entry)
    assert frame.trip is not None
    return builder.apply("mul", trail.place, renaming.atom(frame.trip))


def executions(builder: Builder, renaming: Renaming, frame: Frame, trail: Trail) -> Size:
    """How often a frame inside this body ran."""
    if frame.trip is not None:
        return renaming.atom(frame.trip)
    return trail.read(builder, frame.count)


def enter_iteration(
    builder: Builder, renaming: Renaming, expr: Loop, plan: LoopPlan, index: Atom, trail: Trail
) -> None:
    """Bind what an iteration of a loop was entered with, but for its states."""
    if expr.index is not None:
        renaming.mapping[expr.index] = index
    for var, (start, step) in plan.counters.items():
        renaming.mapping[var] = value_at(builder.apply, renaming, start, step, index)
    for var, key in plan.entries.items():
        renaming.mapping[var] = trail.read(builder, key)


# ---------------------------------------------------------------------------- the parts
def _read_kept(builder: Builder, renaming: Renaming, trail: Trail) -> None:
    for var, key in trail.plan.kept.items():
        renaming.mapping[var] = trail.read(builder, key)


def _emit(builder: Builder, renaming: Renaming, lets: tuple[Let, ...]) -> None:
    for let in repeated(Body(lets)).lets:
        builder.emit(renaming.let(let))


def _undo_all(builder: Builder, renaming: Renaming, trail: Trail) -> None:
    """Undo a body that is not reversed otherwise, computing what its places need."""
    _read_kept(builder, renaming, trail)
    _emit(builder, renaming, tuple(trail.plan.plain))
    undo_links(builder, renaming, trail)


def _undo_parfor(builder: Builder, renaming: Renaming, link: Link, expr: ParFor, trail: Trail) -> None:
    """Scatter what was overwritten: every writer of a place has logged the same."""
    assert link.frame is not None
    base = first_place(builder, renaming, link.frame, trail)

    def body(inner: Builder, index: Var) -> list[Part]:
        renaming.mapping[expr.index] = index
        here = Trail(trail.plan, trail.logs, inner.apply("add", base, index))
        parts: list[Part] = []
        for key, places, (position, _, after) in zip(link.logs, link.places, link.moves, strict=True):
            part = expr.part_of(position)
            assert isinstance(part.item, Accumulate | Scatter)
            at = tuple(here.read(inner, place) for place in places)
            if not places:
                for let in repeated(expr.body, part.at).lets:
                    inner.emit(renaming.let(let))
                at = renaming.atoms(part.at)
            old = here.read(inner, key)
            parts.append(Scatter.of(renaming.variable(after), at, old, part.item.bounds))
        return parts

    results = builder.parfor(renaming.atom(expr.extent), body)
    renaming.mapping.update((before, new) for (_, before, _), new in zip(link.moves, results, strict=True))


def _undo_branch(builder: Builder, renaming: Renaming, link: Link, expr: If, trail: Trail) -> None:
    mapping = renaming.mapping
    last = [renaming.atom(after) for _, _, after in link.moves]

    def side(inner: Builder, plan: BodyPlan) -> list[Atom]:
        mapping.update(zip(plan.ends, last, strict=True))
        _undo_all(inner, renaming, Trail(plan, trail.logs, trail.place))
        return [renaming.atom(start) for start in plan.starts]

    then, other = link.sides
    results = builder.branch(
        renaming.atom(expr.condition), lambda inner: side(inner, then), lambda inner: side(inner, other)
    )
    mapping.update((before, new) for (_, before, _), new in zip(link.moves, results, strict=True))


def _undo_loop(builder: Builder, renaming: Renaming, link: Link, expr: Loop, trail: Trail) -> None:
    assert link.frame is not None and link.loop is not None
    plan, mapping = link.loop, renaming.mapping
    base = first_place(builder, renaming, link.frame, trail)
    trip = executions(builder, renaming, link.frame, trail)

    def step(inner: Builder, index: Var, carried: tuple[Var, ...]) -> list[Atom]:
        now = flipped(inner, trip, index)
        here = Trail(plan.body, trail.logs, inner.apply("add", base, now))
        enter_iteration(inner, renaming, expr, plan, now, here)
        mapping.update(zip(plan.body.ends, carried, strict=True))
        _undo_all(inner, renaming, here)
        return [renaming.atom(start) for start in plan.body.starts]

    results = builder.loop(trip, [renaming.atom(after) for _, _, after in link.moves], step)
    mapping.update((before, new) for (_, before, _), new in zip(link.moves, results, strict=True))
