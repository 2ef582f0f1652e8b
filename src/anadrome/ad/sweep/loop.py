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
`for` of that many iterations; one that has room for the logs of as many as it may make at most runs once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from anadrome.ad.adjoints import Term, dense_term
from anadrome.ad.arrays import flipped
from anadrome.ad.sweep.checkpoint import forward_checkpointed, is_checkpointed, snapshots_of
from anadrome.ad.sweep.log import counted, record
from anadrome.ad.sweep.mutated import LoopPlan, Mode, loop_plan
from anadrome.ad.sweep.repeat import repeated
from anadrome.ad.sweep.residuals import explained
from anadrome.ad.sweep.scope import Residuals, Scope, Sweeps, Trail
from anadrome.ad.sweep.undo import enter_body, enter_iteration, executions, first_place, undo_link
from anadrome.array_ir.build import Builder
from anadrome.array_ir.checkpoint import Checkpoint
from anadrome.array_ir.nodes import ArrayType, Atom, Body, Index, Let, Loop, Size, SumType, Update, Var, i64
from anadrome.array_ir.walk import free_variables


# ---------------------------------------------------------------------------- the forward run
def forward_loop(scope: Scope, let: Let, again: Let, is_repeated: bool) -> Residuals:
    """Run a loop and keep what its return sweep needs: snapshots, which the scope remembers, or the logs of
    its plan; where these are. `again` is the loop without what a repeated run leaves out."""
    expr, run = let.expr, again.expr
    assert isinstance(expr, Loop) and isinstance(run, Loop)
    if is_checkpointed(expr):
        forward_checkpointed(scope, again, run)
        return {}
    plan = plan_of(scope, expr)
    recording = record(let, expr, plan, counted(scope, let, expr, plan, is_repeated, is_bounded=True))
    lets = recording.lets
    if is_repeated:
        arrays = [target for target in let.targets if isinstance(target.type, ArrayType)]
        lets = repeated(Body(lets), [*arrays, *recording.logs.values(), recording.trip]).lets
    for recorded in lets:
        scope.builder.emit(scope.renaming.let(recorded))
    logs = {key: scope.renaming.variable(log) for key, log in recording.logs.items()}
    scope.kept.append((let.span, [(one, logs[key]) for key, one in explained(plan, expr, let.span)]))
    residuals: Residuals = {**logs}
    if expr.trip is None:
        residuals[plan.frame.count] = scope.new(recording.trip)
    return residuals


def plan_of(scope: Scope, expr: Loop) -> LoopPlan:
    """The plan of a loop, made once."""
    found = scope.plans.get(expr)
    if found is None:
        found = scope.plans[expr] = loop_plan(expr)
        found.body.reads = {var: Var("log", var.type) for var in _reads(expr, list(found.entries))}
    return found


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
def reverse_loop(scope: Scope, let: Let, expr: Loop, residuals: Residuals, sweeps: Sweeps) -> None:
    """The adjoint of one loop, from the adjoints of its results that stand in the scope.

    It carries backwards the adjoints of what the loop carries, the sums of those of scalars that are free in
    its body, the accumulators of arrays, and what the way back to each iteration needs: the states that logs
    undo (`_Logs`), or the stack of snapshots (`checkpoint.snapshots_of`).
    """
    active = [
        position
        for position, var in enumerate(expr.carried)
        if var in scope.varied and isinstance(var.type, ArrayType)
    ]
    seeds = {position: scope.take(let.targets[position]) for position in active}
    is_needed = _pass_tokens(scope, let, expr)
    if not is_needed and all(seed is None for seed in seeds.values()):
        if scope.trail is not None and let in scope.trail.plan.links:
            undo_link(scope.builder, scope.renaming, scope.trail.plan.links[let], scope.trail)
        return
    way = snapshots_of(scope, let, expr) if is_checkpointed(expr) else _logs(scope, let, expr, residuals)
    expr = way.expr
    free = [var for var in free_variables(expr.body) if var in scope.varied and var not in expr.carried]
    scalars = [var for var in free if isinstance(var.type, ArrayType) and not var.type.shape]
    arrays = [var for var in free if var in scope.tokens]
    builder = scope.builder
    start: list[Atom] = [_start(scope, expr.carried[position], seeds[position]) for position in active]
    start += [builder.zeros(scope.type_of(var)) for var in scalars]
    start += [scope.tokens[var] for var in arrays]
    first_array, first_state = len(active) + len(scalars), len(start)
    start += way.start(scope, let)

    def step(inner_builder: Builder, index: Var, carried: tuple[Var, ...]) -> Sequence[Atom]:
        tokens = dict(zip(arrays, carried[first_array:first_state], strict=True))
        inner = scope.nested(inner_builder, tokens)
        inner.is_in_loop = True
        inner_residuals, leave = way.enter(inner, index, carried[first_state:], sweeps)
        for position, adjoint in zip(active, carried, strict=False):
            is_late = not adjoint.type.shape
            term = Term(dense_term(adjoint).at, adjoint, is_late=is_late)
            inner.contribute(expr.body.results[position], term)
        sweeps.backward(inner, expr.body, inner_residuals)
        after: list[Atom] = [inner.take_or_zero(expr.carried[position]) for position in active]
        for var, total in zip(scalars, carried[len(active) :], strict=False):
            part = inner.take(var)
            after.append(total if part is None else inner_builder.add(total, part))
        after += [inner.tokens[var] for var in arrays]
        assert not inner.adjoints, "an array read in a loop has an accumulator"
        return [*after, *leave()]

    results = builder.loop(way.trip, start, step, way.checkpoint)
    scope.tokens.update(zip(arrays, results[first_array:first_state], strict=True))
    for var, result in zip(scalars, results[len(active) : first_array], strict=True):
        scope.contribute_whole(var, result)
    for position, result in zip(active, results, strict=False):
        scope.contribute_whole(expr.init[position], result)
    if scope.trail is not None and let in scope.trail.plan.links:
        found = dict(zip(way.positions, results[first_state:], strict=True))
        moves = scope.trail.plan.links[let].moves
        scope.renaming.mapping.update({before: found[position] for position, before, _ in moves})


def _start(scope: Scope, carried: Var, seed: Atom | None) -> Atom:
    return scope.builder.zeros(scope.type_of(carried)) if seed is None else seed


def _pass_tokens(scope: Scope, let: Let, expr: Loop) -> bool:
    """Let the adjoint of an accumulator be one array all the way: before, in and after the loop."""
    is_needed = False
    for target, result, var, init in zip(
        let.targets, expr.body.results, expr.carried, expr.init, strict=True
    ):
        adjoint = scope.token_adjoints.get(target) if isinstance(target.type, SumType) else None
        if adjoint is not None:
            assert isinstance(result, Var) and isinstance(init, Var)
            scope.token_adjoints.update({result: adjoint, var: adjoint, init: adjoint})
            is_needed = True
    return is_needed


# ---------------------------------------------------------------------------- the way back by logs
@dataclass(frozen=True, slots=True)
class _Logs:
    """A run of a loop that logs lead back through: its plan, the logs, where in them it begins, how long it
    is."""

    expr: Loop
    plan: LoopPlan
    logs: Mapping[Var, Atom]
    base: Atom
    trip: Size
    checkpoint: Checkpoint | None = None

    @property
    def positions(self) -> Sequence[int]:
        """The carried arrays that go backwards with the sweep."""
        return self.plan.positions

    def start(self, scope: Scope, let: Let) -> list[Atom]:
        """The states as the loop left them."""
        return [scope.new(let.targets[position]) for position in self.plan.positions]

    def enter(
        self, inner: Scope, index: Var, carried: Sequence[Var], sweeps: Sweeps
    ) -> tuple[Residuals, Callable[[], list[Atom]]]:
        """Begin the reversal of one iteration: what its forward run left, and the states at its entry, which
        the sweep may find only on its way."""
        builder, plan = inner.builder, self.plan
        iteration = flipped(builder, self.trip, index)
        trail = Trail(plan.body, self.logs, builder.apply("add", self.base, iteration))
        enter_iteration(builder, inner.renaming, self.expr, plan, iteration, trail)
        inner.renaming.mapping.update(zip(plan.body.ends, carried, strict=True))
        kept = {var: trail.read(builder, key) for var, key in plan.body.reads.items()}
        if carried:
            residuals = enter_body(inner, self.expr.body, trail, sweeps, kept)
        else:
            residuals = sweeps.forward(inner, self.expr.body, True, kept)
        return residuals, lambda: [inner.new(var) for var in plan.body.starts]


def _logs(scope: Scope, let: Let, expr: Loop, residuals: Residuals) -> _Logs:
    """A loop on its own has the logs of its own recording; one inside a chain those around it."""
    trail, builder = scope.trail, scope.builder
    link = None if trail is None or trail.plan.mode is not Mode.SKIP else trail.plan.links.get(let)
    if link is None or trail is None:
        plan = plan_of(scope, expr)
        trip = residuals[plan.frame.count] if expr.trip is None else scope.new_size(expr.trip)
        return _Logs(expr, plan, residuals, i64(0), trip)
    assert link.frame is not None and link.loop is not None
    base = first_place(builder, scope.renaming, link.frame, trail)
    trip = executions(builder, scope.renaming, link.frame, trail)
    return _Logs(expr, link.loop, trail.logs, base, trip)
