"""Reverse mode of sequential loops: keep what the return sweep needs, run backwards (SC22 §IV-C, fig. 5).

For `for i < n` with carried values s, the return sweep restores s at the entry of iteration i, runs the body
again and then its return sweep:

    s_adj ← ∂body(s)/∂sᵀ · s_adj          x_adj ← x_adj + ∂body(s)/∂xᵀ · s_adj     (x free in the body)

How s is restored:

* An array that the loop updates in place, however deep inside, is a state (`ad.sweep.mutated`): the forward
  run logs what is overwritten (`ad.sweep.log`), and the array is carried backwards, its writes undone one by
  one (`ad.sweep.undo`). Memory is in the number of elements written.
* Any other carried value is stored at the entry of every iteration. Of an array that is read element by
  element only what was read is kept; the whole array only where something else needs it.

What turns out not to be read is dropped by dead-code removal: accumulators, for one, are not stored. An array
that is free in the body takes its contributions in an accumulator, so that reading `x[e]` costs O(1).

A `while` is counted by an inspector first, which keeps only what its condition needs, and then runs as a
`for` of that many iterations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anadrome.ad.adjoints import Term, dense_term
from anadrome.ad.arrays import flipped
from anadrome.ad.sweep.iterate import pass_tokens
from anadrome.ad.sweep.log import inspect, record
from anadrome.ad.sweep.mutated import Frame, LoopPlan, Mode, loop_plan
from anadrome.ad.sweep.repeat import repeated
from anadrome.ad.sweep.scope import Residuals, Scope, Sweeps, Trail
from anadrome.ad.sweep.undo import enter_body, enter_iteration, executions, first_place, undo_link
from anadrome.array_ir.build import Builder
from anadrome.array_ir.dead import live_body
from anadrome.array_ir.nodes import ArrayType, Atom, Body, Index, Let, Loop, Size, Update, Var, i64
from anadrome.array_ir.walk import all_lets, free_variables


# ---------------------------------------------------------------------------- the forward run
def forward_loop(scope: Scope, let: Let, expr: Loop, is_repeated: bool) -> Residuals:
    """Run a loop and write the logs of its plan; where they are. `expr` is the loop as the program has it; a
    repeated run leaves out what `ad.sweep.repeat` says."""
    plan = plan_of(scope, expr)
    trip, counts = _counted(scope, let, expr, plan, is_repeated)
    recording = record(let, expr, plan, trip, counts)
    lets = recording.lets
    if is_repeated:
        arrays = [target for target in let.targets if isinstance(target.type, ArrayType)]
        lets = repeated(Body(lets), [*arrays, *recording.logs.values()]).lets
    for recorded in lets:
        scope.builder.emit(scope.renaming.let(recorded))
    residuals: Residuals = {key: scope.new(log) for key, log in recording.logs.items()}
    if expr.trip is None:
        residuals[plan.frame.count] = scope.new(trip)
    return residuals


def plan_of(scope: Scope, expr: Loop) -> LoopPlan:
    """The plan of a loop, made once."""
    found = scope.plans.get(expr)
    if found is None:
        found = scope.plans[expr] = loop_plan(expr)
        found.body.reads = {var: Var("log", var.type) for var in _reads(expr, list(found.entries))}
    return found


def _counted(
    scope: Scope, let: Let, expr: Loop, plan: LoopPlan, is_repeated: bool
) -> tuple[Size, Mapping[Frame, Size]]:
    """How often the loop and what is in it run: as the program says, or found by running an inspector."""
    if expr.trip is not None and not any(plan.body.counted()):
        return expr.trip, {}
    inspector, trip, counts = inspect(let, expr, plan)
    found = [size for size in (trip, *counts.values()) if isinstance(size, Var) and size is not expr.trip]
    # Where a `while` goes on for ever, a check in it may be all that ends it.
    keeps_checks = not is_repeated and _has_while(expr)
    body = Body((inspector,), tuple(found))
    for counting in live_body(body).lets if keeps_checks else repeated(body, found).lets:
        scope.builder.emit(scope.renaming.let(counting))
    return trip, counts


def _has_while(expr: Loop) -> bool:
    inner = (let.expr for let in all_lets(expr.body))
    return any(found.condition is not None for found in (expr, *inner) if isinstance(found, Loop))


def _reads(expr: Loop, arrays: Sequence[Var]) -> list[Var]:
    """The elements and rows that the body itself reads of carried arrays, before or after updating them."""
    states = {var for var in arrays if var.type.shape}
    reads: list[Var] = []
    for let in expr.body.lets:
        match let.expr:
            case Index(array=array) if array in states:
                reads += let.targets
            case Update(array=array) if array in states:
                states.update(let.targets)
            case _:
                pass
    return reads


# ---------------------------------------------------------------------------- the return sweep
@dataclass(frozen=True, slots=True)
class _Run:
    """A run of a loop that is to be reversed: its plan, its logs, where in them it begins, how long it is."""

    plan: LoopPlan
    logs: Mapping[Var, Atom]
    base: Atom
    trip: Size


def _run(scope: Scope, let: Let, expr: Loop, residuals: Residuals) -> _Run:
    """A loop on its own has the logs of its own recording; one inside a chain those around it."""
    trail, builder = scope.trail, scope.builder
    link = None if trail is None or trail.plan.mode is not Mode.SKIP else trail.plan.links.get(let)
    if link is None or trail is None:
        plan = plan_of(scope, expr)
        trip = residuals[plan.frame.count] if expr.trip is None else scope.new_size(expr.trip)
        return _Run(plan, residuals, i64(0), trip)
    assert link.frame is not None and link.loop is not None
    base = first_place(builder, scope.renaming, link.frame, trail)
    return _Run(link.loop, trail.logs, base, executions(builder, scope.renaming, link.frame, trail))


def reverse_loop(scope: Scope, let: Let, expr: Loop, residuals: Residuals, sweeps: Sweeps) -> None:
    """The adjoint of one loop, from the adjoints of its results that stand in the scope."""
    active = [
        position
        for position, var in enumerate(expr.carried)
        if var in scope.varied and isinstance(var.type, ArrayType)
    ]
    seeds = {position: scope.take(let.targets[position]) for position in active}
    is_needed = pass_tokens(scope, let, expr)
    if not is_needed and all(seed is None for seed in seeds.values()):
        if scope.trail is not None and let in scope.trail.plan.links:
            undo_link(scope.builder, scope.renaming, scope.trail.plan.links[let], scope.trail)
        return
    run = _run(scope, let, expr, residuals)
    free = [var for var in free_variables(expr.body) if var in scope.varied and var not in expr.carried]
    scalars = [var for var in free if isinstance(var.type, ArrayType) and not var.type.shape]
    arrays = [var for var in free if var in scope.tokens]
    builder = scope.builder
    start: list[Atom] = [_start(scope, expr.carried[position], seeds[position]) for position in active]
    start += [builder.zeros(scope.type_of(var)) for var in scalars]
    start += [scope.tokens[var] for var in arrays]
    first_state = len(start)
    start += [scope.new(let.targets[position]) for position in run.plan.positions]

    def step(inner_builder: Builder, index: Var, carried: tuple[Var, ...]) -> Sequence[Atom]:
        adjoints = carried[: len(active)]
        sums = carried[len(active) : len(active) + len(scalars)]
        inner = scope.nested(
            inner_builder, dict(zip(arrays, carried[len(active) + len(scalars) : first_state], strict=True))
        )
        inner.is_in_loop = True
        inner_residuals, states = _enter(inner, expr, run, index, carried[first_state:], sweeps)
        for position, adjoint in zip(active, adjoints, strict=True):
            is_late = not adjoint.type.shape
            term = Term(dense_term(adjoint).at, adjoint, is_late=is_late)
            inner.contribute(expr.body.results[position], term)
        sweeps.backward(inner, expr.body, inner_residuals)
        after: list[Atom] = [inner.take_or_zero(expr.carried[position]) for position in active]
        for var, total in zip(scalars, sums, strict=True):
            part = inner.take(var)
            after.append(total if part is None else inner_builder.add(total, part))
        after += [inner.tokens[var] for var in arrays]
        assert not inner.adjoints, "an array read in a loop has an accumulator"
        return [*after, *(states or [inner.new(var) for var in run.plan.body.starts])]

    results = builder.loop(run.trip, start, step)
    first_array = len(active) + len(scalars)
    scope.tokens.update(zip(arrays, results[first_array:first_state], strict=True))
    for var, result in zip(scalars, results[len(active) : first_array], strict=True):
        scope.contribute_whole(var, result)
    for position, result in zip(active, results, strict=False):
        scope.contribute_whole(expr.init[position], result)
    if scope.trail is not None and let in scope.trail.plan.links:
        link = scope.trail.plan.links[let]
        before = {position: var for position, var, _ in link.moves}
        found = dict(zip(run.plan.positions, results[first_state:], strict=True))
        scope.renaming.mapping.update({var: found[position] for position, var in before.items()})


def _enter(
    inner: Scope, expr: Loop, run: _Run, index: Var, states: Sequence[Var], sweeps: Sweeps
) -> tuple[Residuals, list[Atom]]:
    """Begin the reversal of one iteration: what its forward run left, and its states at its entry where they
    are not the sweep's to find."""
    builder, plan = inner.builder, run.plan
    iteration = flipped(builder, run.trip, index)
    trail = Trail(plan.body, run.logs, builder.apply("add", run.base, iteration))
    enter_iteration(builder, inner.renaming, expr, plan, iteration, trail)
    inner.renaming.mapping.update(zip(plan.body.ends, states, strict=True))
    kept = {var: trail.read(builder, key) for var, key in plan.body.reads.items()}
    if not states:
        return sweeps.forward(inner, expr.body, True, kept), []
    residuals = enter_body(inner, expr.body, trail, sweeps, kept)
    is_undone = plan.body.mode is Mode.UNDO
    return residuals, [inner.new(var) for var in plan.body.starts] if is_undone else []


def _start(scope: Scope, carried: Var, seed: Atom | None) -> Atom:
    return scope.builder.zeros(scope.type_of(carried)) if seed is None else seed
