"""Piecewise polynomials of `scipy.interpolate`: cubic splines made in the program, any made outside."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Const, Size, Var, i64
from anadrome.dtypes import F64
from anadrome.errors.frontend import StaticRequired, UnsuitableSize, UnsupportedArgument
from anadrome.frontend.arrays import as_array, atom
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library import spline_program
from anadrome.frontend.library.common import array_var, axis_of, checked, require, static_int
from anadrome.frontend.library.creation import new_of
from anadrome.frontend.library.order import interval_of, search_steps
from anadrome.frontend.library.reductions import fold_all
from anadrome.frontend.library.shape import moveaxis
from anadrome.frontend.library.spline_program import NOT_A_KNOT
from anadrome.frontend.operators import element
from anadrome.frontend.sizes import agree, canonical
from anadrome.frontend.tables import Key, Late
from anadrome.frontend.values import Array, Staged, Value

PERIODIC = "periodic"


class Spline:
    """A piecewise polynomial of the program: its knots x, its coefficients c, what lies outside, its axis."""

    def __init__(self, x: Value, c: Value, extrapolate: Value, axis: int) -> None:
        self.x, self.c, self.extrapolate, self.axis = x, c, extrapolate, axis
        self.__name__ = "scipy.interpolate.PPoly"

    def __anadrome_stage__(
        self, context: Context, args: tuple[Value, ...], kwargs: Mapping[str, Value]
    ) -> Value:
        return METHODS["__call__"](context, self, *args, **kwargs)

    def __getattr__(self, name: str) -> SplineMethod:
        if name not in METHODS:
            raise AttributeError(name)
        return SplineMethod(self, name)


class SplineMethod:
    """A method of such a polynomial, looked up and not yet called."""

    def __init__(self, owner: Spline, name: str) -> None:
        self.owner, self.name = owner, name

    def __anadrome_stage__(
        self, context: Context, args: tuple[Value, ...], kwargs: Mapping[str, Value]
    ) -> Value:
        return METHODS[self.name](context, self.owner, *args, **kwargs)


def _made(context: Context, x: Value, c: Value, extrapolate: Value, axis: int) -> Spline:
    found = Spline(x, c, extrapolate, axis)
    context.made(found)
    return found


# ---------------------------------------------------------------------------- making
def cubic_spline(
    context: Context,
    x: Value,
    y: Value,
    axis: Value = 0,
    bc_type: Value = NOT_A_KNOT,
    extrapolate: Value = None,
) -> Value:
    """scipy.interpolate.CubicSpline"""
    name = "scipy.interpolate.CubicSpline"
    knots, values, along = _points(context, name, x, y, axis)
    ends = _ends(context, name, bc_type)
    if ends is None:
        slopes = _periodic(context, name, knots, values)
    else:
        slopes = _slopes(context, name, knots, values, ends)
    outside = (PERIODIC if ends is None else True) if extrapolate is None else extrapolate
    found = context.call(spline_program.coefficients, knots, values, slopes)
    return _made(context, knots, found, outside, along)


def hermite_spline(
    context: Context, x: Value, y: Value, dydx: Value, axis: Value = 0, extrapolate: Value = None
) -> Value:
    """scipy.interpolate.CubicHermiteSpline: the slopes are given"""
    name = "scipy.interpolate.CubicHermiteSpline"
    knots, values, along = _points(context, name, x, y, axis)
    slopes = moveaxis(context, _array(context, name, dydx), along, 0)
    found = context.call(spline_program.coefficients, knots, values, slopes)
    return _made(context, knots, found, True if extrapolate is None else extrapolate, along)


def _array(context: Context, name: str, value: Value) -> Array:
    found = context.wrap(array_var(context, name, value, F64))
    assert isinstance(found, Array)
    return found


def _points(context: Context, name: str, x: Value, y: Value, axis: Value) -> tuple[Array, Staged, int]:
    """The knots, the values with the axis in front, and where it was; what SciPy refuses is refused."""
    knots, whole = _array(context, name, x), _array(context, name, y)
    along = axis_of(context, name, axis, len(whole.shape))
    if len(knots.shape) != 1:
        raise UnsupportedArgument(name, "`x` is a vector of knots", context.span)
    agree(context, knots.shape[0], whole.shape[along], name)
    values = as_array(context, moveaxis(context, whole, along, 0))
    _require_points(context, name, knots.shape[0], 2)

    def is_finite(builder: Builder, one: Sequence[Atom]) -> Atom:
        return builder.apply("isfinite", one[0])

    def rises(builder: Builder, one: Sequence[Atom]) -> Atom:
        return builder.apply("gt", one[0], builder.constant(0.0, one[0]))

    steps = as_array(context, context.call(np.diff, knots))
    for operand, holds, words in (
        (knots, is_finite, "`x` must contain only finite values"),
        (values, is_finite, "`y` must contain only finite values"),
        (steps, rises, "`x` must be strictly increasing"),
    ):
        found = fold_all(context, "and", (operand,), holds, name)
        require(context, found, "raise", f"ValueError: {name}: {words}")
    return knots, values, along


def _require_points(context: Context, name: str, count: Size, least: int) -> None:
    """A number of points that the ends ask for, checked when the program runs where it is not known."""
    extent = canonical(context, count)
    if isinstance(extent, Const):
        if int(extent.value) < least:
            help = f"give it {least} points or more"
            raise UnsuitableSize(name, f"{extent.value} points", context.span, help)
        return
    words = f"{name}: {{0}} points, and {least} are needed"
    if least > 2:
        words += " where their number is known when the program runs only"
    require(context, context.builder.apply("ge", count, i64(least)), "size", words, (count,))


# ---------------------------------------------------------------------------- ends
End = tuple[Value, Value]
"""`not-a-knot`, or the order of the derivative that is given; and that derivative."""


def _ends(context: Context, name: str, bc_type: Value) -> tuple[End, End] | None:
    """The conditions at both ends, None where the curve is periodic."""
    if isinstance(bc_type, str):
        if bc_type == PERIODIC:
            return None
        both = (bc_type, bc_type)
    elif isinstance(bc_type, tuple | list) and len(bc_type) == 2:
        both = (bc_type[0], bc_type[1])
    else:
        raise UnsupportedArgument(name, "`bc_type` is a name, or a condition for each end", context.span)
    return _end(context, name, both[0]), _end(context, name, both[1])


_NAMED: Mapping[str, End] = {NOT_A_KNOT: (NOT_A_KNOT, 0.0), "clamped": (1, 0.0), "natural": (2, 0.0)}


def _end(context: Context, name: str, condition: Value) -> End:
    if isinstance(condition, str) and condition in _NAMED:
        return _NAMED[condition]
    if isinstance(condition, tuple | list) and len(condition) == 2:
        if condition[0] in (1, 2):
            return int(condition[0]), as_array(context, condition[1], F64)
        raise UnsupportedArgument(name, "a condition on a derivative of another order", context.span, _HELP)
    raise UnsupportedArgument(name, f"`bc_type={condition!r}`", context.span, _HELP)


_HELP = "take 'not-a-knot', 'natural', 'clamped', 'periodic', or (order, value) with the order 1 or 2"


def _slopes(context: Context, name: str, x: Array, y: Staged, ends: tuple[End, End]) -> Value:
    (start, first), (end, last) = ends
    row = y.shape[1:]
    given = [_row(context, name, value, row) for value in (first, last)]
    free = sum(kind == NOT_A_KNOT for kind in (start, end))
    count = canonical(context, x.shape[0])
    if isinstance(count, Const) and count.value == 2:
        return context.call(spline_program.line_slopes, x, y, start, given[0], end, given[1])
    if isinstance(count, Const) and count.value == 3 and free == 2:
        return context.call(spline_program.parabola_slopes, x, y)
    _require_points(context, name, x.shape[0], 2 + free)
    return context.call(spline_program.spline_slopes, x, y, start, given[0], end, given[1])


def _row(context: Context, name: str, value: Value, shape: Sequence[Size]) -> Value:
    """A derivative at an end, of the shape of a row of the values."""
    found = as_array(context, value, F64)
    if len(found.shape) not in (0, len(shape)):
        raise UnsupportedArgument(
            name, "a derivative of another shape than a row of `y`", context.span, _HELP
        )
    return context.wrap(context.builder.full(shape, atom(context, found))) if not found.shape else found


def _periodic(context: Context, name: str, x: Array, y: Staged) -> Value:
    """The slopes of a closed curve, whose first and last value are equal."""

    def is_same(builder: Builder, one: Sequence[Atom]) -> Atom:
        left, right = one
        distance = builder.apply("abs", builder.sub(left, right))
        limit = builder.mul(builder.constant(1e-15, left), builder.apply("abs", right))
        return builder.apply("le", distance, builder.add(builder.constant(1e-15, left), limit))

    assert isinstance(y, Array)
    ends = tuple(as_array(context, context.call(np.take, y, at, axis=0)) for at in (0, -1))
    same = fold_all(context, "and", ends, is_same, name)
    require(context, same, "raise", f"ValueError: {name}: the first and the last `y` must be equal")
    count = canonical(context, x.shape[0])
    if isinstance(count, Const) and count.value == 2:
        return context.call(np.zeros_like, y)
    if isinstance(count, Const) and count.value == 3:
        return context.call(spline_program.periodic_slopes_of_three, x, y)
    _require_points(context, name, x.shape[0], 4)
    return context.call(spline_program.periodic_slopes, x, y)


# ---------------------------------------------------------------------------- evaluating
def evaluated(context: Context, owner: Any, x: Value, nu: Value = 0, extrapolate: Value = None) -> Value:
    """A piecewise polynomial, or its derivative of order `nu`, at x.

    Σ_k c[k, i]·(x - x_i)^(K-k) in the interval i of x, which is closed on the left; NaN outside where nothing
    is extrapolated. At a knot derivatives are those of the interval on its right.
    """
    name = "scipy.interpolate.PPoly"
    outside = context.attribute_of(owner, "extrapolate") if extrapolate is None else extrapolate
    order = static_int(context, name, "nu", nu)
    if order < 0:
        raise UnsupportedArgument(
            name, f"`nu={order}`", context.span, "give 0 or more; integrate with `integrate`"
        )
    knots, parts = _parts(context, name, owner)
    wanted = atom(context, as_array(context, x, F64))
    row, steps = parts.type.shape[2:], search_steps(context, knots.type.shape[0])

    def place(builder: Builder, at: tuple[Var, ...]) -> Atom:
        rank = len(wanted.type.shape)
        value = element(builder, wanted, wanted.type.shape, at[:rank])
        inside, is_outside = _interval(context, builder, knots, value, outside, steps)
        found = _polynomial(builder, knots, parts, inside, order, at[rank:])
        return (
            found
            if is_outside is None
            else builder.select(is_outside, builder.constant(math.nan, found), found)
        )

    result = new_of(context, context.builder.build((*wanted.type.shape, *row), place))
    axis = int(owner.axis)
    if not axis:
        return result
    # the axis of the values goes where it was: of what is in front of it in a row, before the places
    rank, total = len(wanted.type.shape), len(result.shape)
    moved = [*range(rank, rank + axis), *range(rank), *range(rank + axis, total)]
    return context.call(np.transpose, result, tuple(moved))


def _parts(context: Context, name: str, owner: Any) -> tuple[Var, Var]:
    """The knots and the coefficients, of which the first dimension is known."""
    x, c = context.attribute_of(owner, "x"), context.attribute_of(owner, "c")
    knots, parts = array_var(context, name, x, F64), array_var(context, name, c, F64)
    if not isinstance(parts.type.shape[0], Const):
        raise StaticRequired("the degree of a piecewise polynomial", context.span)
    return knots, parts


def _interval(
    context: Context, builder: Builder, knots: Var, x: Atom, outside: Value, steps: Size
) -> tuple[tuple[Atom, Atom], Atom | None]:
    """((the interval, x in it), whether x is outside and there is nothing there)."""
    first = builder.index(knots, (i64(0),))
    last = builder.index(knots, (builder.apply("sub", knots.type.shape[0], i64(1)),))
    if isinstance(outside, str):
        if outside != PERIODIC:
            raise UnsupportedArgument("scipy.interpolate.PPoly", f"`extrapolate={outside!r}`", context.span)
        length = builder.sub(last, first)
        x = builder.add(first, builder.apply("mod", builder.sub(x, first), length))
        return (interval_of(builder, knots, x, steps), x), None
    at = interval_of(builder, knots, x, steps)
    if outside:
        return (at, x), None
    is_below, is_above = builder.apply("lt", x, first), builder.apply("gt", x, last)
    return (at, x), builder.apply("or", is_below, is_above)


def _polynomial(
    builder: Builder, knots: Var, parts: Var, inside: tuple[Atom, Atom], order: int, row: Sequence[Atom]
) -> Atom:
    """The derivative of this order of the polynomial of an interval, the lowest powers first."""
    at, x = inside
    step = builder.sub(x, builder.index(knots, (at,)))
    degree = int(parts.type.shape[0].value) - 1  # type: ignore[union-attr]
    # 0·step, so that of a NaN also a constant is NaN
    total, power_of = builder.constant(0.0, step), builder.constant(1.0, step)
    for power in range(order, degree + 1):
        one = builder.mul(builder.index(parts, (i64(degree - power), at, *row)), power_of)
        one = builder.mul(one, builder.constant(float(math.perm(power, order)), one))
        total = builder.add(total, one)
        power_of = builder.mul(power_of, step)
    return total if order < degree else builder.select(builder.apply("isnan", step), step, total)


# ---------------------------------------------------------------------------- other polynomials
def derivative(context: Context, owner: Any, nu: Value = 1) -> Value:
    """The derivative of a piecewise polynomial, which is one as well"""
    name = "scipy.interpolate.PPoly.derivative"
    order = static_int(context, name, "nu", nu)
    if order < 0:
        return antiderivative(context, owner, -order)
    _, parts = _parts(context, name, owner)
    found = context.call(spline_program.derivative, context.wrap(parts), order)
    return _like(context, owner, found, context.attribute_of(owner, "extrapolate"))


def antiderivative(context: Context, owner: Any, nu: Value = 1) -> Value:
    """The integral of a piecewise polynomial from its first knot, `nu` times; what was periodic is no more"""
    name = "scipy.interpolate.PPoly.antiderivative"
    order = static_int(context, name, "nu", nu)
    if order < 1:
        return derivative(context, owner, -order)
    knots, parts = _parts(context, name, owner)
    found: Value = context.wrap(parts)
    for _ in range(order):
        found = context.call(spline_program.antiderivative, context.wrap(knots), found)
    outside = context.attribute_of(owner, "extrapolate")
    return _like(context, owner, found, False if outside == PERIODIC else outside)


def _like(context: Context, owner: Any, c: Value, outside: Value) -> Value:
    """A polynomial on the same knots."""
    return _made(context, context.attribute_of(owner, "x"), c, outside, int(owner.axis))


def integrate(context: Context, owner: Any, a: Value, b: Value, extrapolate: Value = None) -> Value:
    """The integral of a piecewise polynomial between two places"""
    name = "scipy.interpolate.PPoly.integrate"
    outside = context.attribute_of(owner, "extrapolate") if extrapolate is None else extrapolate
    if isinstance(outside, str):
        raise UnsupportedArgument(name, "a periodic polynomial", context.span, "integrate over its period")
    whole = antiderivative(context, owner)
    ends = [evaluated(context, whole, end, 0, outside) for end in (b, a)]
    return new_of(context, atom(context, context.call(np.subtract, *ends)))


_FORMS: dict[str, StagedCall] = {
    "__call__": evaluated,
    "derivative": derivative,
    "antiderivative": antiderivative,
    "integrate": integrate,
}

METHODS: dict[str, StagedCall] = {
    name: checked(f"scipy.interpolate.PPoly.{name}", form) for name, form in _FORMS.items()
}
"""Methods of polynomials made in the program; they are those of SciPy's as well."""


def _calls() -> dict[Key, StagedCall]:
    return {
        scipy.interpolate.CubicSpline: cubic_spline,
        scipy.interpolate.CubicHermiteSpline: hermite_spline,
        scipy.interpolate.PPoly.__call__: evaluated,
        scipy.interpolate.PPoly.integrate: integrate,
    }


CALLS = Late("scipy.interpolate", _calls)
