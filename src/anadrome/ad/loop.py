"""Reverse mode of sequential loops: store what the return sweep needs, run backwards (SC22 §IV-C, fig. 5).

For `for i < n` with carried values s, the forward run keeps s at the entry of every iteration. The reverse
loop restores them, runs the body again and then its return sweep:

    s_adj ← ∂body(s)/∂sᵀ · s_adj          x_adj ← x_adj + ∂body(s)/∂xᵀ · s_adj     (x free in the body)

What turns out not to be read is dropped by dead-code removal: accumulators, for one, are not stored. Of a
carried array that is read element by element only what was read is kept, one value per read and iteration;
the whole array only where something else needs it. An array that is free in the body takes its contributions
in an accumulator, so that reading `x[e]` costs O(1).

A `while` is counted by an inspector first, which keeps only what its condition needs, and then runs as a
`for` of that many iterations.
"""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.ad.arrays import flipped
from anadrome.ad.scope import Residuals, Scope, Sweeps
from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import ArrayType, Atom, Index, Let, Loop, Size, SumType, Update, Var, i64
from anadrome.array_ir.walk import free_variables


def forward_loop(scope: Scope, let: Let, expr: Loop) -> Residuals:
    """Run a loop and keep the carried values of every iteration; what was kept."""
    builder = scope.builder
    init = [scope.new(atom) for atom in expr.init]
    trip = _count(builder, scope, expr, init) if expr.trip is None else scope.new_size(expr.trip)
    kept = [var for var in expr.carried if isinstance(var.type, ArrayType)]
    kept += _reads(expr, kept)
    stores = [_store(builder, scope, trip, var) for var in kept]

    def step(inner: Builder, index: Var, carried: tuple[Var, ...]) -> Sequence[Atom]:
        values, saved = carried[: len(init)], carried[len(init) :]
        _enter(scope, expr, index, values)
        for inner_let in expr.body.lets:
            inner.emit(scope.renaming.let(inner_let))
        written = [
            inner.update(array, (index,), scope.new(var)) for array, var in zip(saved, kept, strict=True)
        ]
        return (*scope.renaming.atoms(expr.body.results), *written)

    results = builder.loop(trip, [*init, *stores], step)
    scope.renaming.mapping.update(zip(let.targets, results[: len(init)], strict=True))
    residuals: Residuals = dict(zip(kept, results[len(init) :], strict=True))
    residuals[_key(let)] = trip
    return residuals


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


def _key(let: Let) -> Var:
    """The result under which a loop's trip count is kept; a while loop has one that is no accumulator."""
    return next((target for target in let.targets if isinstance(target.type, ArrayType)), let.targets[0])


def _store(builder: Builder, scope: Scope, trip: Size, var: Var) -> Atom:
    type_ = scope.type_of(var)
    return builder.full((trip, *type_.shape), number(0, type_.dtype))


def _enter(scope: Scope, expr: Loop, index: Atom, values: Sequence[Atom]) -> None:
    mapping = scope.renaming.mapping
    mapping.update(zip(expr.carried, values, strict=True))
    if expr.index is not None:
        mapping[expr.index] = index


def _count(builder: Builder, scope: Scope, expr: Loop, init: Sequence[Atom]) -> Size:
    """How many iterations a while loop makes."""
    assert expr.condition is not None
    condition = expr.condition

    def test(inner: Builder, carried: tuple[Var, ...]) -> Atom:
        _enter(scope, expr, carried[-1], carried[:-1])
        (result,) = inner.inline(condition, scope.renaming.mapping)
        return result

    def step(inner: Builder, carried: tuple[Var, ...]) -> Sequence[Atom]:
        _enter(scope, expr, carried[-1], carried[:-1])
        results = inner.inline(expr.body, scope.renaming.mapping)
        return (*results, inner.add(carried[-1], i64(1)))

    return builder.while_loop([*init, i64(0)], test, step)[-1]


def reverse_loop(scope: Scope, let: Let, expr: Loop, residuals: Residuals, sweeps: Sweeps) -> None:
    """The adjoint of one loop, from the adjoints of its results that stand in the scope."""
    active = [
        position
        for position, var in enumerate(expr.carried)
        if var in scope.varied and isinstance(var.type, ArrayType)
    ]
    seeds = {position: scope.take(let.targets[position]) for position in active}
    is_needed = _pass_tokens(scope, let, expr)
    if not is_needed and all(seed is None for seed in seeds.values()):
        return
    free = [var for var in free_variables(expr.body) if var in scope.varied and var not in expr.carried]
    scalars = [var for var in free if isinstance(var.type, ArrayType) and not var.type.shape]
    arrays = [var for var in free if var in scope.tokens]
    trip = residuals[_key(let)] if expr.trip is None else scope.new_size(expr.trip)
    builder = scope.builder
    start: list[Atom] = [_start(scope, expr.carried[position], seeds[position]) for position in active]
    start += [builder.zeros(scope.type_of(var)) for var in scalars]
    start += [scope.tokens[var] for var in arrays]

    def step(inner_builder: Builder, index: Var, carried: tuple[Var, ...]) -> Sequence[Atom]:
        adjoints = carried[: len(active)]
        sums = carried[len(active) : len(active) + len(scalars)]
        inner = scope.nested(
            inner_builder, dict(zip(arrays, carried[len(active) + len(scalars) :], strict=True))
        )
        kept = _restore(inner, expr, flipped(inner_builder, trip, index), residuals)
        inner_residuals = sweeps.forward(inner, expr.body, True, kept)
        for position, adjoint in zip(active, adjoints, strict=True):
            inner.contribute_whole(expr.body.results[position], adjoint)
        sweeps.backward(inner, expr.body, inner_residuals)
        after: list[Atom] = [inner.take_or_zero(expr.carried[position]) for position in active]
        for var, total in zip(scalars, sums, strict=True):
            part = inner.take(var)
            after.append(total if part is None else inner_builder.add(total, part))
        after += [inner.tokens[var] for var in arrays]
        assert not inner.adjoints, "an array read in a loop has an accumulator"
        return after

    results = builder.loop(trip, start, step)
    first_array = len(active) + len(scalars)
    scope.tokens.update(zip(arrays, results[first_array:], strict=True))
    for var, result in zip(scalars, results[len(active) : first_array], strict=True):
        scope.contribute_whole(var, result)
    for position, result in zip(active, results, strict=False):
        scope.contribute_whole(expr.init[position], result)


def _start(scope: Scope, carried: Var, seed: Atom | None) -> Atom:
    return scope.builder.zeros(scope.type_of(carried)) if seed is None else seed


def _restore(inner: Scope, expr: Loop, index: Atom, residuals: Residuals) -> Residuals:
    """Bind the carried values to what was kept of this iteration; what was kept of the body's reads."""

    def row(var: Var) -> Atom:
        store = residuals[var]
        assert isinstance(store, Var)
        return inner.builder.index(store, (index,))

    if expr.index is not None:
        inner.renaming.mapping[expr.index] = index
    carried = [var for var in expr.carried if isinstance(var.type, ArrayType)]
    inner.renaming.mapping.update({var: row(var) for var in carried})
    return {var: row(var) for var in _reads(expr, carried) if var in residuals}


def _pass_tokens(scope: Scope, let: Let, expr: Loop) -> bool:
    """The adjoint of an accumulator is one array all the way: before, in and after the loop."""
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
