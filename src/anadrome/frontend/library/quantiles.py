"""Medians and quantiles: elements of the sorted values, and lines between neighbours."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Const, Size, Var, i64
from anadrome.dtypes import BOOL, F64, I64, DType
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.arrays import as_array, atom, convert, type_of
from anadrome.frontend.context import Context, StagedCall, dtype_of
from anadrome.frontend.library.common import array_var, axes_of, element_at, require, static_flag
from anadrome.frontend.library.order import sort
from anadrome.frontend.library.reductions import require_elements
from anadrome.frontend.library.shape import expand_dims, moveaxis, raveled, reshaped, transposed
from anadrome.frontend.sizes import multiply_sizes, size_value
from anadrome.frontend.values import Value

Count = Callable[[Builder, tuple[Atom, ...]], Atom]
"""(builder, place) -> how many of the sorted values there count."""


def _sorted_rows(context: Context, name: str, a: Value, axis: Value) -> Var:
    """The values in order along the last axis: that of `axis`, of several, or of all elements."""
    found = as_array(context, a)
    if found.dtype is BOOL:
        raise UnsupportedArgument(name, "an array of bools", context.span)
    axes = axes_of(context, name, axis, len(found.shape))
    if axis is None:
        own = raveled(context, found)
    elif len(axes) == 1:
        own = moveaxis(context, found, axes[0], -1)
    else:
        kept = [one for one in range(len(found.shape)) if one not in axes]
        sizes = [found.shape[one] for one in kept]
        together = multiply_sizes(context, tuple(found.shape[one] for one in axes))
        turned = transposed(context, found, [*kept, *axes])
        own = reshaped(context, turned, [size_value(context, size) for size in (*sizes, together)])
    var = array_var(context, name, own)
    require_elements(context, name, (var.type.shape[-1],), var.type.shape[:-1])
    return array_var(context, name, sort(context, context.wrap(var)))


def _kept(
    context: Context, result: Value, a: Value, axis: Value, keepdims: Value, name: str, lead: int
) -> Value:
    """The result with the reduced axes as dimensions of size 1, where the call asks for them."""
    if not static_flag(context, name, "keepdims", keepdims):
        return result
    for one in axes_of(context, name, axis, len(as_array(context, a).shape)):
        result = expand_dims(context, result, lead + one)
    return result


# ---------------------------------------------------------------------------- which values count
def _all_count(context: Context, rows: Var) -> Count:
    return lambda builder, at: rows.type.shape[-1]


def _numbers_count(context: Context, rows: Var) -> Count:
    """All but the NaNs, which are sorted last."""
    if not rows.type.dtype.is_float:
        return _all_count(context, rows)
    numbers = context.call(np.logical_not, context.call(np.isnan, context.wrap(rows)))
    counts = atom(context, context.call(np.sum, numbers, axis=-1))
    return lambda builder, at: element_at(builder, counts, at)


def _last(builder: Builder, count: Atom) -> Atom:
    """The last place of those that count; the first one, of a NaN, where none does."""
    return builder.apply("max", builder.apply("sub", count, i64(1)), i64(0))


def _unless_nan(builder: Builder, rows: Var, at: tuple[Atom, ...], value: Atom) -> Atom:
    """NaN where there is one among the values: it is sorted last."""
    if not rows.type.dtype.is_float:
        return value
    final = builder.index(rows, (*at, builder.size("sub", rows.type.shape[-1], i64(1))))
    is_nan = builder.apply("isnan", final)
    return builder.select(is_nan, builder.convert(final, value.type.dtype), value)


# ---------------------------------------------------------------------------- medians
def medians(name: str, skips_nan: bool = False) -> StagedCall:
    """np.median, np.nanmedian: the middle of the sorted values, or half the sum of the two in the middle"""

    def staged(context: Context, a: Value, axis: Value = None, *, keepdims: Value = False) -> Value:
        rows = _sorted_rows(context, name, a, axis)
        dtype = rows.type.dtype if rows.type.dtype.is_float else F64
        count = _numbers_count(context, rows) if skips_nan else _all_count(context, rows)

        def place(builder: Builder, at: tuple[Var, ...]) -> Atom:
            size = count(builder, at)
            upper = builder.apply("floordiv", size, i64(2))
            lower = builder.apply("floordiv", _last(builder, size), i64(2))
            low, high = (builder.convert(builder.index(rows, (*at, one)), dtype) for one in (lower, upper))
            both = builder.div(builder.add(low, high), builder.constant(2, low))
            middle = builder.select(builder.apply("eq", lower, upper), low, both)
            return middle if skips_nan else _unless_nan(builder, rows, at, middle)

        result = context.wrap(context.builder.build(rows.type.shape[:-1], place))
        return _kept(context, result, a, axis, keepdims, name, 0)

    return staged


# ---------------------------------------------------------------------------- quantiles
Rule = Callable[[Builder, Atom, Atom], Atom]
"""(builder, n, q) -> a place among n sorted values, which need not be whole."""


def _plotting(alpha: float, beta: float) -> Rule:
    """n q + (α + q (1 - α - β)) - 1"""

    def place(builder: Builder, n: Atom, q: Atom) -> Atom:
        offset = builder.mul(q, builder.constant(1 - alpha - beta, q))
        offset = builder.add(builder.constant(alpha, q), offset)
        return builder.sub(builder.add(builder.mul(n, q), offset), builder.constant(1, q))

    return place


def _part(name: str) -> Rule:
    """n q rounded, less one: a product that is rounded before anything is taken from it is NumPy's"""

    def place(builder: Builder, n: Atom, q: Atom) -> Atom:
        return builder.sub(builder.apply(name, builder.mul(n, q)), builder.constant(1, q))

    return place


def _averaged(builder: Builder, n: Atom, q: Atom) -> Atom:
    """n q - 1 where that is whole, else the middle between the whole places around it"""
    around = (_part(name)(builder, n, q) for name in ("floor", "ceil"))
    return builder.mul(builder.constant(0.5, q), builder.add(*around))


def _line(builder: Builder, n: Atom, q: Atom) -> Atom:
    """(n - 1) q"""
    return builder.mul(builder.sub(n, builder.constant(1, n)), q)


def _rounded(name: str) -> Rule:
    return lambda builder, n, q: builder.apply(name, _line(builder, n, q))


def _middle(builder: Builder, n: Atom, q: Atom) -> Atom:
    """Half the sum of the two whole places around (n - 1) q."""
    around = (_rounded(name)(builder, n, q) for name in ("floor", "ceil"))
    return builder.mul(builder.constant(0.5, q), builder.add(*around))


DISCRETE: Mapping[str, Rule] = {
    "lower": _rounded("floor"),
    "higher": _rounded("ceil"),
    "nearest": _rounded("round"),
    "inverted_cdf": _part("ceil"),
    "closest_observation": _part("round"),
}
"""Methods that take one of the values -> its place (Hyndman and Fan, 1996)."""
CONTINUOUS: Mapping[str, Rule] = {
    "linear": _line,
    "midpoint": _middle,
    "averaged_inverted_cdf": _averaged,
    "interpolated_inverted_cdf": _plotting(0, 1),
    "hazen": _plotting(0.5, 0.5),
    "weibull": _plotting(0, 0),
    "median_unbiased": _plotting(1 / 3, 1 / 3),
    "normal_unbiased": _plotting(3 / 8, 3 / 8),
}
"""Methods that go along the line between neighbours -> the place."""
STEPS: Mapping[str, tuple[float, float]] = {"midpoint": (0.0, 0.5), "averaged_inverted_cdf": (0.5, 1.0)}
"""Methods that go to a fixed point between neighbours: from a place that is whole, and from another one."""
OF_FLOATS = ("averaged_inverted_cdf", "interpolated_inverted_cdf", "weibull")
"""Methods by which NumPy gives integers for arrays of integers as `q`."""


def quantiles(name: str, scale: float, skips_nan: bool = False) -> StagedCall:
    """np.quantile, np.percentile and their kin: with v the place by the method, k = ⌊v⌋ and t = v - k
    the line x_k + t (x_{k+1} - x_k), or the value at v, as for q of whole numbers"""

    def staged(
        context: Context,
        a: Value,
        q: Value,
        axis: Value = None,
        *,
        method: Value = "linear",
        keepdims: Value = False,
    ) -> Value:
        rule = _rule(context, name, method)
        rows = _sorted_rows(context, name, a, axis)
        wanted = as_array(context, q)
        dtype, is_weak = type_of(context, q)
        is_whole = scale == 1 and not dtype.is_float
        if is_whole and not is_weak and method in OF_FLOATS:
            raise UnsupportedArgument(name, f"whole numbers by {method!r}", context.span, "make `q` floats")
        places = dtype if dtype.is_float and not is_weak else F64
        parts = convert(context, atom(context, wanted), places)
        _check_range(context, name, parts, scale)
        rank = len(parts.type.shape)
        count = _numbers_count(context, rows) if skips_nan else _all_count(context, rows)
        target = None if method in DISCRETE or (is_whole and method == "linear") else _type(context, rows, q)

        def place(builder: Builder, at: tuple[Var, ...]) -> Atom:
            part = parts if not isinstance(parts, Var) else builder.index(parts, at[:rank])
            if scale != 1:
                part = builder.div(part, builder.constant(scale, part))
            own = at[rank:]
            size = count(builder, own)
            found = rule(builder, builder.convert(size, places), part)
            last = _last(builder, size)
            if target is None:
                value = builder.index(rows, (*own, _inside(builder, found, last)))
            else:
                value = _between(builder, rows, own, found, last, target, STEPS.get(str(method)))
            return value if skips_nan else _unless_nan(builder, rows, own, value)

        shape: tuple[Size, ...] = (*parts.type.shape, *rows.type.shape[:-1])
        result = context.wrap(context.builder.build(shape, place))
        return _kept(context, result, a, axis, keepdims, name, rank)

    return staged


def _rule(context: Context, name: str, method: Value) -> Rule:
    if not isinstance(method, str) or method not in (DISCRETE.keys() | CONTINUOUS.keys()):
        raise UnsupportedArgument(name, f"method={method!r}", context.span, "take method='linear'")
    return DISCRETE[method] if method in DISCRETE else CONTINUOUS[method]


def _type(context: Context, rows: Var, q: Value) -> DType:
    """A Python number takes the type of the values."""
    own = rows.type.dtype if rows.type.dtype.is_float else F64
    dtype, is_weak = type_of(context, q)
    if is_weak:
        return own
    share = dtype if dtype.is_float else F64
    return dtype_of(np.result_type(rows.type.dtype.numpy, share.numpy), context.span)


def _check_range(context: Context, name: str, parts: Atom, scale: float) -> None:
    """Every part is in [0, scale]."""
    builder = context.builder

    def inside(inner: Builder, part: Atom) -> Atom:
        low = inner.apply("ge", part, inner.constant(0, part))
        return inner.apply("and", low, inner.apply("le", part, inner.constant(scale, part)))

    def level(inner: Builder, at: tuple[Atom, ...]) -> Atom:
        if len(at) == len(parts.type.shape):
            return inside(inner, inner.index(parts, at) if isinstance(parts, Var) else parts)
        return inner.reduce("and", parts.type.shape[len(at)], lambda deeper, i: level(deeper, (*at, i)))

    holds = level(builder, ())
    words = f"ValueError: {name}: q must be between 0 and {scale:g}"
    if isinstance(holds, Const) and not holds.value:
        raise UnsupportedArgument(
            name, f"q is not between 0 and {scale:g}", context.span, f"use a number from 0 to {scale:g}"
        )
    require(context, holds, "raise", words)


def _inside(builder: Builder, place: Atom, last: Atom) -> Atom:
    return builder.apply("min", builder.apply("max", builder.convert(place, I64), i64(0)), last)


def _between(
    builder: Builder,
    rows: Var,
    at: tuple[Atom, ...],
    place: Atom,
    last: Atom,
    dtype: DType,
    steps: tuple[float, float] | None,
) -> Atom:
    floor = builder.apply("floor", place)
    step = builder.sub(place, floor)
    if steps is not None:
        whole, other = (builder.constant(one, step) for one in steps)
        step = builder.select(builder.apply("eq", step, builder.constant(0, step)), whole, other)
    step = builder.convert(step, dtype)
    lower = _inside(builder, floor, last)
    above = builder.apply("min", builder.apply("add", lower, i64(1)), last)
    upper = builder.select(builder.apply("lt", place, builder.constant(0, place)), lower, above)
    own = rows.type.dtype if rows.type.dtype.is_float else F64
    low, high = (builder.convert(builder.index(rows, (*at, one)), own) for one in (lower, upper))
    rise = builder.convert(builder.sub(high, low), dtype)
    low, high = builder.convert(low, dtype), builder.convert(high, dtype)
    up = builder.add(low, builder.mul(rise, step))
    down = builder.sub(high, builder.mul(rise, builder.sub(builder.constant(1, step), step)))
    return builder.select(builder.apply("ge", step, builder.constant(0.5, step)), down, up)


CALLS: dict[Callable[..., object], StagedCall] = {
    np.median: medians("np.median"),
    np.nanmedian: medians("np.nanmedian", skips_nan=True),
    np.quantile: quantiles("np.quantile", 1.0),
    np.percentile: quantiles("np.percentile", 100.0),
    np.nanquantile: quantiles("np.nanquantile", 1.0, skips_nan=True),
    np.nanpercentile: quantiles("np.nanpercentile", 100.0, skips_nan=True),
}
