"""Extrema as reads at the place that won, which needs no derivative of its own (SC22 §IV; IFL23, §3.2).

A maximum is the value of one iteration; who that is has no derivative. The smallest iteration wins on ties,
a NaN wins over everything, as in NumPy, and the initial value of a bin stands before all iterations:

  y = max_i v_i               w = min { i : v_i = y },                      y = v_w
  y = scan max v              w_i = the last iteration ≤ i that set a new record,   y_i = v_{w_i}
  y = accumulate max h[k] v   w_b = min { i : k_i = b, v_i = y_b },         y_b = v_{w_b}, or h_b if it is y_b

and the same for minima. The adjoint of the read is one element for each y. The value itself is the extremum
as it was found, linked to that read: what no derivative needs the place for does not look for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anadrome.ad.arrays import element, where_inside
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Accumulate, Atom, Bounds, Part, Scan, Size, Var, i64
from anadrome.array_ir.operators import identity

Places = Callable[[Builder, Var], tuple[Atom, ...]]
"""(builder, i) -> the indices of iteration i"""


def _still(builder: Builder, value: Atom) -> Atom:
    """The value without its derivative."""
    return builder.apply("stop_gradient", value)


def _wins(builder: Builder, value: Atom, best: Atom) -> Atom:
    return builder.apply("or", builder.apply("eq", value, best), builder.apply("isnan", value))


def _row(builder: Builder, values: Var, index: Atom) -> Atom:
    """The values of an iteration without their derivatives."""
    return builder.build(
        values.type.shape[1:], lambda inner, c: _still(inner, element(inner, values, (index, *c)))
    )


def read_at_winner(builder: Builder, best: Atom, value: Atom) -> Atom:
    """The extremum, whose derivative is that of the value at its place."""
    return builder.apply("linked", _still(builder, best), value, builder.constant(1.0, value))


def first_winner(builder: Builder, operator: str, values: Var, extent: Size) -> tuple[Var, Var]:
    """The extremum, and the first iteration at it (for rows, of each column); the extent if there is none."""
    row = values.type.shape[1:]
    best = builder.reduce(operator, extent, lambda inner, index: _row(inner, values, index))
    if not row:
        return best, _first_number(builder, operator, values, best, extent)

    def candidates(inner: Builder, index: Var) -> Atom:
        def candidate(deeper: Builder, column: tuple[Var, ...]) -> Atom:
            value = element(deeper, values, (index, *column))
            return deeper.select(_wins(deeper, value, element(deeper, best, column)), index, extent)

        return inner.build(row, candidate)

    return best, builder.reduce("min", extent, candidates)


def _first_number(builder: Builder, operator: str, values: Var, best: Var, extent: Size) -> Var:
    """The first iteration that the extremum does not beat, or the first NaN where that is the extremum: only
    then is each value asked whether it is one."""
    beats = "gt" if operator == "min" else "lt"

    found = builder.reduce(
        "min",
        extent,
        lambda inner, index: inner.select(
            inner.apply(beats, element(inner, values, (index,)), best), extent, index
        ),
    )
    if not best.type.dtype.is_float:
        return found

    def first_nan(branch: Builder) -> tuple[Atom, ...]:
        return (
            branch.reduce(
                "min",
                extent,
                lambda inner, index: inner.select(
                    inner.apply("isnan", element(inner, values, (index,))), index, extent
                ),
            ),
        )

    (place,) = builder.branch(builder.apply("isnan", best), first_nan, lambda branch: (found,))
    assert isinstance(place, Var)
    return place


def reduced_extremum(builder: Builder, operator: str, values: Var, extent: Size) -> Var:
    """The extremum of the iterations' values (for rows, of each column), read at its place."""
    best, first = first_winner(builder, operator, values, extent)
    empty = identity(operator, values.type.dtype)

    def read(inner: Builder, column: tuple[Var, ...]) -> Atom:
        winner = element(inner, first, column)
        (value,) = inner.branch(
            inner.apply("lt", winner, extent),
            lambda branch: (branch.index(values, (winner, *column)),),
            lambda branch: (empty,),
        )
        return read_at_winner(inner, element(inner, best, column), value)

    return builder.array(values.type.shape[1:], read)


def scanned_extremum(builder: Builder, operator: str, values: Var, extent: Size, exclusive: bool) -> Var:
    """The running extremum (for rows, of each column), each read at its place."""
    row = values.type.shape[1:]
    empty = identity(operator, values.type.dtype)
    (prefixes,) = builder.parfor(
        extent, lambda inner, index: [Scan.of(operator, (_row(inner, values, index),))]
    )

    def records(inner: Builder, index: Var) -> list[Part]:
        last = inner.apply("max", inner.sub(index, i64(1)), i64(0))
        is_first = inner.apply("eq", index, i64(0))

        def record(deeper: Builder, column: tuple[Var, ...]) -> Atom:
            before, here = (deeper.index(prefixes, (at, *column)) for at in (last, index))
            is_new = deeper.apply("and", deeper.apply("ne", here, before), _is_number(deeper, before))
            return deeper.select(deeper.apply("or", is_first, is_new), index, i64(0))

        return [Scan.of("max", (inner.build(row, record),))]

    (winners,) = builder.parfor(extent, records)

    def read(inner: Builder, at: tuple[Var, ...]) -> Atom:
        index, column = at[0], at[1:]
        if not exclusive:
            value = inner.index(values, (inner.index(winners, at), *column))
            return read_at_winner(inner, inner.index(prefixes, at), value)

        def before(branch: Builder) -> tuple[Atom, ...]:
            winner = branch.index(winners, (branch.sub(index, i64(1)), *column))
            return (branch.index(values, (winner, *column)),)

        (value,) = inner.branch(inner.apply("gt", index, i64(0)), before, lambda branch: (empty,))
        return value

    return builder.array(values.type.shape, read)


def _is_number(builder: Builder, value: Atom) -> Atom:
    return builder.apply("not", builder.apply("isnan", value))


def accumulated_extremum(
    builder: Builder, operator: str, init: Var, at: Places, values: Var, extent: Size, bounds: Bounds
) -> Var:
    """The extremum of each bin and its initial value, read at its place; values may be rows."""
    shape = init.type.shape
    start = builder.array(shape, lambda inner, place: _still(inner, element(inner, init, place)))
    nobody = builder.full(shape, extent)
    assert isinstance(nobody, Var)
    row = values.type.shape[1:]

    def collect(inner: Builder, index: Var) -> list[Part]:
        value = inner.build(row, lambda deeper, c: _still(deeper, element(deeper, values, (index, *c))))
        return [Accumulate.of(operator, start, at(inner, index), value, bounds)]

    (best,) = builder.parfor(extent, collect)

    def candidates(inner: Builder, index: Var) -> list[Part]:
        places = at(inner, index)

        def candidate(deeper: Builder, column: tuple[Var, ...]) -> Atom:
            value = element(deeper, values, (index, *column))
            found = _wins(deeper, value, element(deeper, best, (*places, *column)))
            return deeper.select(found, index, extent)

        own = where_inside(
            inner,
            places,
            init,
            bounds,
            lambda deeper: deeper.build(row, candidate),
            lambda deeper: deeper.full(row, extent),
        )
        return [Accumulate.of("min", nobody, places, own, bounds)]

    (first,) = builder.parfor(extent, candidates)
    depth = len(shape) - len(row)

    def read(inner: Builder, place: Sequence[Var]) -> Atom:
        winner = inner.index(first, place)
        own = element(inner, init, place)
        stays = inner.apply(
            "or", _wins(inner, own, inner.index(best, place)), inner.apply("eq", winner, extent)
        )
        (value,) = inner.branch(
            stays,
            lambda branch: (element(branch, init, place),),
            lambda branch: (branch.index(values, (winner, *place[depth:])),),
        )
        return read_at_winner(inner, inner.index(best, place), value)

    return builder.array(shape, read)
