"""Reverse mode of the parallel construct: one adjoint parfor, whose terms become its yields.

With y_adj the adjoint of a result and v_adj that of the value in iteration i:

  stack:           v_adj = y_adj[i]
  reduce add:      v_adj = y_adj
  scan add:        v_adj = r[i],  r = the reversed scan of y_adj
  accumulate add:  v_adj = y_adj[at],  init_adj = y_adj
  carry:           the adjoint of an accumulator is one array all the way

and a term [at]·v of a variable bound around the parfor leaves it (design §6, Bernstein et al. 2020, §5)

  at free of i:              reduce add v,             [at]
  one index is i itself:     stack v,                  that dimension whole
  one index is a·i + c:      stack v, then Σ_i [j = a·i + c]·v_i  as a guarded gather
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from anadrome.ad.adjoints import Term, merge
from anadrome.ad.arrays import element, flipped, is_inside, move_first_axis, read_inside, reverse
from anadrome.ad.sweep.residuals import inner_variables
from anadrome.ad.sweep.scope import Residuals, Scope, Sweeps
from anadrome.array_ir.affine import Affine
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import (
    Accumulate,
    ArrayType,
    Atom,
    Body,
    Carry,
    Const,
    Let,
    ParFor,
    Part,
    Reduce,
    Scan,
    Scatter,
    Size,
    Stack,
    Var,
    i64,
)


@dataclass(frozen=True, slots=True, eq=False)
class _Leaving:
    """A term of `var` on its way out of the parfor: how its yield's result becomes a term outside.

    `axis` is the dimension that the parfor's index runs over (None: the term is reduced) and
    `form` the affine form of its place there in `index`, None where it is the index itself.
    """

    var: Var
    at: tuple[Atom | None, ...]
    axis: int | None
    form: Affine | None
    index: Var
    is_guarded: bool


def reverse_parfor(scope: Scope, let: Let, expr: ParFor, residuals: Residuals, sweeps: Sweeps) -> None:
    """The adjoint of one parfor, from the adjoints of its results that stand in the scope."""
    seeds = [_seed(scope, part, let.targets[where.start]) for part, where in expr.slices()]
    carries = any(seed is not None for seed in seeds) or any(
        isinstance(item, Carry) and item.source in scope.token_adjoints for item in expr.yields
    )
    if not carries:
        return
    builder = scope.builder
    for item, seed in zip(expr.yields, seeds, strict=True):
        if isinstance(item, Accumulate) and seed is not None:
            scope.contribute_whole(item.init, seed)
    extent = scope.new_size(expr.extent)
    leaving: list[_Leaving] = []
    sources: list[tuple[Var, Var]] = []

    def body(inner_builder: Builder, index: Var) -> list[Part]:
        scope.renaming.mapping[expr.index] = index
        inner = scope.nested(inner_builder, scope.tokens)
        inner.is_in_parfor = True
        kept = _rows(inner_builder, expr.body, residuals, index)
        inner_residuals = sweeps.forward(inner, expr.body, True, kept)
        for part, seed in zip(expr.parts, seeds, strict=True):
            if seed is not None:
                _plant(inner, part, seed, index)
        sweeps.backward(inner, expr.body, inner_residuals)
        parts: list[Part] = []
        for var, terms in inner.adjoints.items():
            for term in merge(inner_builder, terms):
                way, part = _leave(scope, inner_builder, index, extent, var, term)
                leaving.append(way)
                parts.append(part)
        for var, token in inner.tokens.items():
            if token is not scope.tokens[var]:
                sources.append((var, token))
                parts.append(Carry.of(scope.tokens[var], token))
        return parts

    results = builder.parfor(extent, body)
    for way, result in zip(leaving, results, strict=False):
        scope.contribute(way.var, _outside(scope, way, result))
    for (var, _), token in zip(sources, results[len(leaving) :], strict=True):
        scope.tokens[var] = token


def _rows(builder: Builder, body: Body, residuals: Residuals, index: Var) -> Residuals:
    """What was kept of this iteration: the values of the body's variables, rows of those deeper inside."""
    rows: Residuals = {}
    for var in inner_variables(body):
        array = residuals.get(var)
        if isinstance(array, Var):
            rows[var] = builder.index(array, (index,))
    return rows


def _seed(scope: Scope, part: Part, target: Var) -> Atom | None:
    """The adjoint of a yield's result, in the form that iterations read it."""
    item = part.item
    if isinstance(item, Carry):
        adjoint, token = scope.token_adjoints.get(target), part.value
        assert isinstance(token, Var)
        if adjoint is not None:
            scope.token_adjoints[item.source] = scope.token_adjoints[token] = adjoint
        return None
    adjoint_array = scope.take(target)
    if isinstance(item, Scan) and adjoint_array is not None:
        return _reversed_scan(scope.builder, adjoint_array, item.exclusive)
    return adjoint_array


def _reversed_scan(builder: Builder, y_adj: Atom, exclusive: bool) -> Var:
    """r_i = Σ_{k ≥ i} y_adj_k of an inclusive scan, Σ_{k > i} of an exclusive one."""
    assert isinstance(y_adj, Var)
    extent = y_adj.type.shape[0]

    def scanned(inner: Builder, index: Var) -> list[Part]:
        return [Scan.of("add", (inner.index(y_adj, (flipped(inner, extent, index),)),), exclusive)]

    (prefixes,) = builder.parfor(extent, scanned)
    return reverse(builder, prefixes)


def _plant(inner: Scope, part: Part, seed: Atom, index: Var) -> None:
    """Put the adjoint of one iteration's value into the scope of the body."""
    builder = inner.builder
    match part.item:
        case Stack() | Scan(operator="add"):
            if isinstance(part.value, Var) and part.value in inner.varied:
                inner.contribute_whole(part.value, element(builder, seed, (index,)))
        case Reduce(operator="add"):
            inner.contribute_whole(part.value, seed)
        case Accumulate(operator="add", bounds=bounds):
            if isinstance(part.value, Var) and part.value in inner.varied:
                places = inner.renaming.atoms(part.at)
                inner.contribute_whole(part.value, read_inside(builder, seed, places, bounds))
        case Carry() | Scatter() | Reduce() | Scan() | Accumulate():
            raise AssertionError("rewritten before the reverse sweep")
        case _:
            assert_never(part.item)


# ---------------------------------------------------------------------------- terms that leave
def _leave(
    scope: Scope, inner: Builder, index: Var, extent: Size, var: Var, term: Term
) -> tuple[_Leaving, Part]:
    """The yield that carries a term out of the parfor over `index`."""
    axis: int | None = None
    axis_form: Affine | None = None
    at: list[Atom | None] = []
    for dimension, place in enumerate(term.at):
        form = None if place is None else inner.affine(place)
        if form is None:
            at.append(None)
        elif form.coefficient(index) == 0:
            assert not any(inner.owns(part) for part, _ in form.terms), (
                "a read that is not affine has an accumulator"
            )
            at.append(scope.builder.emit_affine(form))
        else:
            assert axis is None, "a read that is not affine has an accumulator"
            axis, axis_form = dimension, form
            at.append(None)
    is_guarded = term.is_guarded or not _is_there(at, scope.type_of(var).shape, extent)
    way = _Leaving(var, tuple(at), axis, axis_form, index, is_guarded)
    if axis is None:
        return way, Reduce.of("add", (term.value,))
    assert axis_form is not None
    is_whole = axis_form.atom is index and extent == scope.type_of(var).shape[axis]
    if is_whole:
        way = _Leaving(var, tuple(at), axis, None, index, term.is_guarded)
    return way, Stack.of(term.value)


def _is_there(at: Sequence[Atom | None], shape: Sequence[Size], extent: Size) -> bool:
    """Whether places that each iteration reads are there even where there is no iteration. (Rows that are as
    long as the parfor have no elements then.)"""
    if isinstance(extent, Const):
        return int(extent.value) > 0
    fixed = [(place, size) for place, size in zip(at, shape, strict=False) if place is not None]
    return all(
        isinstance(place, Const) and isinstance(size, Const) and 0 <= int(place.value) < int(size.value)
        for place, size in fixed
    )


def _outside(scope: Scope, way: _Leaving, result: Var) -> Term:
    """The term outside, from the yield's result."""
    builder = scope.builder
    if way.axis is None:
        return Term(way.at, result, way.is_guarded)
    position = sum(index is None for index in way.at[: way.axis])
    if way.form is not None:
        size = scope.type_of(way.var).shape[way.axis]
        result = _spread(builder, result, way.index, way.form, size)
    value = move_first_axis(builder, result, position) if position else result
    return Term(way.at, value, way.is_guarded)


def _spread(builder: Builder, stacked: Var, index: Var, form: Affine, size: Size) -> Var:
    """Σ_i [j = a·i + c]·v_i for every j < size: a gather from i = (j - c) / a where that is an iteration."""
    factor = form.coefficient(index)
    offset = builder.emit_affine(form.without(index))
    assert isinstance(stacked.type, ArrayType)
    row_type = stacked.type.row()

    def row(inner: Builder, place: Var) -> Atom:
        distance = inner.sub(place, offset)
        iteration = distance if factor == 1 else inner.apply("floordiv", distance, i64(factor))
        hit = is_inside(inner, (iteration,), stacked)
        if abs(factor) != 1:
            exact = inner.apply("eq", inner.mul(iteration, i64(factor)), distance)
            hit = inner.apply("and", hit, exact)

        def read(branch: Builder) -> tuple[Atom, ...]:
            return (branch.index(stacked, (iteration,)),)

        (value,) = inner.branch(hit, read, lambda branch: (branch.zeros(row_type),))
        return value

    return builder.stack(size, row)
