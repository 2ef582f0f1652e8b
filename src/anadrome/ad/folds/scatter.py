"""Parallel rules of `scatter` and of histograms of products and of operators with an inverse.

`canonical` leaves each alone in a parfor that reads its values from an array. With k_i iteration i's place:

  scatter:       v_i_adj = [i is the last writer of k_i]·y_adj[k_i],   init_adj = y_adj, zero at every k_i
  accumulate ⊕:  v_i_adj = y_adj[k_i]·p_i,   init_b_adj = y_adj_b·q_b
                 p_i = ∂y_{k_i}/∂v_i,  q_b = ∂y_b/∂init_b:   the other factors of a product (`products`), else
                 from the inverse of ⊕ (`inverse`)

The last writers are found by scattering the iterations' numbers. Where the places are known to differ (one is
affine in i) everybody is a last writer; where there are many more places than iterations, a sequential loop
goes back through the writes instead, so that a gradient never costs a pass over an array that its program
touches at few places. An ignored place outside contributes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anadrome.ad.arrays import element, flipped, read_inside, where_inside
from anadrome.ad.folds.inverse import inverted_partials
from anadrome.ad.folds.monoids import Derivative, Lookup
from anadrome.ad.folds.products import Places, other_factors
from anadrome.ad.sweep.scope import Scope
from anadrome.array_ir.affine import affine
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import (
    Accumulate,
    ArrayType,
    Atom,
    Bounds,
    Const,
    Index,
    Let,
    ParFor,
    Part,
    Scatter,
    Size,
    Var,
    i64,
)
from anadrome.array_ir.rewrite import Renaming
from anadrome.array_ir.walk import expression_variables
from anadrome.prims.node import replace

SPARSE = 8
"""Places per iteration from which on writes are gone through one after the other."""


def is_sparse(builder: Builder, extent: Size, array: Var, depth: int) -> Atom:
    """Whether an array has far more places than a parfor of this extent writes."""
    places: Atom = i64(1)
    for size in array.type.shape[:depth]:
        places = builder.mul(places, size)
    return builder.apply("gt", places, builder.mul(extent, i64(SPARSE)))


def value_array(expr: ParFor) -> Var:
    """The array that a lone scatter's or histogram's values are read from."""
    (part,) = expr.parts
    for let in expr.body.lets:
        if isinstance(let.expr, Index) and let.targets[0] is part.value:
            return let.expr.array
    raise AssertionError("the values of a lone yield are read from an array")


def places_of(renaming: Renaming, expr: ParFor) -> Places:
    """The indices of each iteration in the new program."""
    (part,) = expr.parts
    outside = {var: renaming.atom(var) for var in expression_variables(expr)}

    def at(builder: Builder, index: Atom) -> tuple[Atom, ...]:
        local = Renaming({**outside, expr.index: index})
        for let in expr.body.lets:
            if let.targets[0] is not part.value:
                builder.emit(local.let(let))
        return local.atoms(part.at)

    return at


def reverse_bins(scope: Scope, let: Let, expr: ParFor, reverse: Derivative) -> None:
    """The adjoint of a scatter or histogram that stands alone, from the adjoint of its result."""
    (item,) = expr.yields
    (target,) = let.targets
    y_adj = scope.take(target)
    if y_adj is None:
        return
    assert isinstance(y_adj, Var)
    if isinstance(item, Scatter):
        _reverse_scatter(scope, expr, item, y_adj)
    else:
        assert isinstance(item, Accumulate)
        total = scope.renaming.variable(target)
        if item.operator == "mul":
            adjoints = _reverse_products(scope, expr, item, total, y_adj)
        else:
            given = (scope.builder, scope.renaming, expr, total, scope.varied, reverse)
            adjoints = lone_partials(*given, y_adj)
        for var, adjoint in zip((value_array(expr), item.init), adjoints, strict=True):
            scope.contribute_whole(var, adjoint)


# ---------------------------------------------------------------------------- scatter
def _reverse_scatter(scope: Scope, expr: ParFor, item: Scatter, y_adj: Var) -> None:
    builder, extent = scope.builder, scope.new_size(expr.extent)
    at, values = places_of(scope.renaming, expr), value_array(expr)
    wanted = (values in scope.varied, item.init in scope.varied)

    def parallel(branch: Builder) -> tuple[Atom, ...]:
        found: list[Atom] = []
        if wanted[0]:
            found.append(_last_writers(branch, expr, scope, at, item, y_adj, extent))
        if wanted[1]:
            found.append(_cleared(branch, at, item, y_adj, extent))
        return tuple(found)

    def backwards(branch: Builder) -> tuple[Atom, ...]:
        results = _undone(branch, at, item.bounds, y_adj, extent, item.rank)
        return tuple(result for result, is_wanted in zip(results, wanted, strict=True) if is_wanted)

    if not wanted[0] or _is_distinct(scope, expr):
        results: Sequence[Atom] = parallel(builder)
    else:
        results = either(builder, is_sparse(builder, extent, y_adj, item.rank), backwards, parallel)
    sources = [var for var, is_wanted in zip((values, item.init), wanted, strict=True) if is_wanted]
    for var, result in zip(sources, results, strict=True):
        scope.contribute_whole(var, result)


Side = Callable[[Builder], tuple[Atom, ...]]


def either(builder: Builder, condition: Atom, then: Side, other: Side) -> Sequence[Atom]:
    """One of two, chosen while compiling where the sizes are known."""
    if isinstance(condition, Const):
        return then(builder) if condition.value else other(builder)
    return builder.branch(condition, then, other)


def _is_distinct(scope: Scope, expr: ParFor) -> bool:
    """Whether no two iterations write one place: some index is affine in the iteration."""
    own = {target for let in expr.body.lets for target in let.targets}
    for place in expr.parts[0].at:
        form = affine(place, scope.definitions)
        if form.coefficient(expr.index) != 0 and not any(
            var in own and var is not expr.index for var, _ in form.terms
        ):
            return True
    return False


def _last_writers(
    builder: Builder, expr: ParFor, scope: Scope, at: Places, item: Scatter, y_adj: Var, extent: Size
) -> Var:
    """v_i_adj: the row that was written, zeros where somebody wrote after."""
    assert isinstance(y_adj.type, ArrayType)
    row = y_adj.type.row(item.rank)
    winners: Var | None = None
    if not _is_distinct(scope, expr):
        nobody = builder.full(y_adj.type.shape[: item.rank], i64(-1))
        assert isinstance(nobody, Var)

        def write(inner: Builder, index: Var) -> list[Part]:
            return [Scatter.of(nobody, at(inner, index), index, item.bounds)]

        (winners,) = builder.parfor(extent, write)

    def part(inner: Builder, index: Var) -> Atom:
        places = at(inner, index)
        if winners is None:
            return read_inside(inner, y_adj, places, item.bounds)
        known = winners

        def inside(deeper: Builder) -> Atom:
            is_last = deeper.apply("eq", deeper.index(known, places), index)
            if not row.shape:
                zero = deeper.zeros(row)
                return deeper.select(is_last, deeper.index(y_adj, places), zero)
            (own,) = deeper.branch(is_last, lambda b: (b.index(y_adj, places),), lambda b: (b.zeros(row),))
            return own

        return where_inside(inner, places, y_adj, item.bounds, inside, lambda branch: branch.zeros(row))

    return builder.stack(extent, part)


def _cleared(builder: Builder, at: Places, item: Scatter, y_adj: Var, extent: Size) -> Var:
    """init_adj: y_adj with zeros wherever something was written."""
    row = y_adj.type.shape[item.rank :]

    def write(inner: Builder, index: Var) -> list[Part]:
        nothing = inner.full(row, inner.constant(0.0, y_adj))
        return [Scatter.of(y_adj, at(inner, index), nothing, item.bounds)]

    (result,) = builder.parfor(extent, write)
    return result


def _undone(
    builder: Builder, at: Places, bounds: Bounds, y_adj: Var, extent: Size, depth: int
) -> tuple[Atom, ...]:
    """v_adj and init_adj by going back through the writes: each takes what is there and leaves zero."""
    row = y_adj.type.shape[depth:]
    zero = builder.constant(0.0, y_adj)
    start = builder.full((extent, *row), zero)

    def step(inner: Builder, index: Var, carried: tuple[Var, ...]) -> Sequence[Atom]:
        found, rest = carried
        last = flipped(inner, extent, index)
        places = at(inner, last)
        value = read_inside(inner, rest, places, bounds)
        nothing = inner.full(row, zero)
        return inner.update(found, (last,), value), inner.update(rest, places, nothing, bounds)

    return builder.loop(extent, (start, y_adj), step)


# ---------------------------------------------------------------------------- histograms
def _reverse_products(
    scope: Scope, expr: ParFor, item: Accumulate, product: Var, y_adj: Var
) -> tuple[Atom, Atom]:
    """v_adj and init_adj of a histogram of products."""
    builder, extent, at = scope.builder, scope.new_size(expr.extent), places_of(scope.renaming, expr)
    others, starts = lone_factors(builder, scope.renaming, expr, product)

    def part(inner: Builder, index: Var) -> Atom:
        row = read_inside(inner, y_adj, at(inner, index), item.bounds)
        return inner.mul(row, inner.index(others, (index,)))

    def start(inner: Builder, place: Sequence[Var]) -> Atom:
        return inner.mul(inner.index(y_adj, place), inner.index(starts, place))

    return builder.stack(extent, part), builder.build(y_adj.type.shape, start)


def lone_factors(builder: Builder, renaming: Renaming, expr: ParFor, product: Var) -> tuple[Var, Var]:
    """What multiplies each value, and each bin's initial value, in a histogram of products."""
    (item,) = expr.yields
    assert isinstance(item, Accumulate)
    init, factors = renaming.variable(item.init), renaming.variable(value_array(expr))
    at, extent = places_of(renaming, expr), renaming.atom(expr.extent)
    return other_factors(builder, init, product, at, factors, extent, item.bounds)


def lone_partials(
    builder: Builder,
    renaming: Renaming,
    expr: ParFor,
    total: Var,
    varied: set[Var],
    derivative: Derivative,
    weights: Var | None = None,
) -> tuple[Var, Var]:
    """p and q, times the weights of the bins, in a histogram by an operator with an inverse."""
    (item,) = expr.yields
    assert isinstance(item, Accumulate)
    init, values = renaming.variable(item.init), renaming.variable(value_array(expr))
    at, extent = places_of(renaming, expr), renaming.atom(expr.extent)
    own = replace(item, operator=renaming.operator(item.operator), init=init)
    is_start_varied = item.init in varied
    return inverted_partials(builder, own, total, at, values, extent, is_start_varied, derivative, weights)


def forward_bins(
    builder: Builder, renaming: Renaming, let: Let, expr: ParFor, varied: set[Var], forward: Derivative
) -> Callable[[Builder, Lookup], Sequence[Atom]]:
    """y_tan_b = q_b·init_tan_b + Σ_{i: k_i = b} p_i·v_i_tan; the factors serve every direction."""
    (item,) = expr.yields
    assert isinstance(item, Accumulate)
    init, values, bounds = item.init, value_array(expr), item.bounds
    product = renaming.variable(let.targets[0])
    if item.operator == "mul":
        others, starts = lone_factors(builder, renaming, expr, product)
    else:
        others, starts = lone_partials(builder, renaming, expr, product, varied, forward)
    at, extent = places_of(renaming, expr), renaming.atom(expr.extent)

    def tangents(inner: Builder, tangent: Lookup) -> Sequence[Atom]:
        start_tan, values_tan = tangent(init), tangent(values)

        def start(deeper: Builder, place: Sequence[Var]) -> Atom:
            if start_tan is None:
                return deeper.constant(0.0, product)
            return deeper.mul(element(deeper, start_tan, place), deeper.index(starts, place))

        base = inner.build(product.type.shape, start)
        if values_tan is None:
            return (base,)

        def collect(deeper: Builder, index: Var) -> list[Part]:
            change = deeper.mul(element(deeper, values_tan, (index,)), deeper.index(others, (index,)))
            assert isinstance(base, Var)
            return [Accumulate.of("add", base, at(deeper, index), change, bounds)]

        return inner.parfor(extent, collect)

    return tangents


def forward_scatter(
    renaming: Renaming, let: Let, expr: ParFor
) -> Callable[[Builder, Lookup], Sequence[Atom]]:
    """y_tan is init_tan with v_i_tan scattered to the same places: the same writers win."""
    (item,) = expr.yields
    assert isinstance(item, Scatter)
    init, values, bounds = item.init, value_array(expr), item.bounds
    at, extent = places_of(renaming, expr), renaming.atom(expr.extent)
    (target,) = let.targets

    def tangents(inner: Builder, tangent: Lookup) -> Sequence[Atom]:
        start, changes = tangent(init), tangent(values)
        base = inner.zeros(renaming.type(target.type)) if start is None else start
        row = renaming.type(target.type).shape[item.rank :]
        assert isinstance(base, Var)

        def write(deeper: Builder, index: Var) -> list[Part]:
            if changes is None:
                change = deeper.full(row, deeper.constant(0.0, base))
            else:
                change = element(deeper, changes, (index,))
            return [Scatter.of(base, at(deeper, index), change, bounds)]

        return inner.parfor(extent, write)

    return tangents
