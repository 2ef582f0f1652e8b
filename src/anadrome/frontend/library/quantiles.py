"""Medians and quantiles: elements of the sorted values, and lines between neighbours."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Const, Size, Var, i64
from anadrome.dtypes import BOOL, F64, I64, DType
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.arrays import as_array, atom, convert, type_of
from anadrome.frontend.context import Context, StagedCall, dtype_of
from anadrome.frontend.library.common import array_var, axis_of, require, static_flag
from anadrome.frontend.library.order import sort
from anadrome.frontend.library.reductions import require_elements
from anadrome.frontend.library.shape import expand_dims, moveaxis, raveled
from anadrome.frontend.values import Value


def _sorted_rows(context: Context, name: str, a: Value, axis: Value) -> Var:
    """The values in order along the last axis: that of `axis`, or of all elements."""
    found = as_array(context, a)
    if found.dtype is BOOL:
        raise UnsupportedArgument(name, "an array of bools", context.span)
    if axis is None:
        own = raveled(context, found)
    else:
        own = moveaxis(context, found, axis_of(context, name, axis, len(found.shape)), -1)
    var = array_var(context, name, own)
    require_elements(context, name, (var.type.shape[-1],), var.type.shape[:-1])
    return array_var(context, name, sort(context, context.wrap(var)))


def _kept(
    context: Context, result: Value, a: Value, axis: Value, keepdims: Value, name: str, lead: int
) -> Value:
    """The result with the reduced axes as dimensions of size 1, where the call asks for them."""
    if not static_flag(context, name, "keepdims", keepdims):
        return result
    rank = len(as_array(context, a).shape)
    axes = range(rank) if axis is None else [axis_of(context, name, axis, rank)]
    for one in axes:
        result = expand_dims(context, result, lead + one)
    return result


def _unless_nan(builder: Builder, rows: Var, at: tuple[Atom, ...], value: Atom) -> Atom:
    """NaN where there is one among the values: it is sorted last."""
    if not rows.type.dtype.is_float:
        return value
    final = builder.index(rows, (*at, builder.size("sub", rows.type.shape[-1], i64(1))))
    is_nan = builder.apply("isnan", final)
    return builder.select(is_nan, builder.convert(final, value.type.dtype), value)


def median(context: Context, a: Value, axis: Value = None, *, keepdims: Value = False) -> Value:
    """np.median: the middle of the sorted values, or half the sum of the two in the middle."""
    rows = _sorted_rows(context, "np.median", a, axis)
    dtype = rows.type.dtype if rows.type.dtype.is_float else F64
    size = rows.type.shape[-1]

    def place(builder: Builder, at: tuple[Var, ...]) -> Atom:
        upper = builder.apply("floordiv", size, i64(2))
        lower = builder.apply("floordiv", builder.apply("sub", size, i64(1)), i64(2))
        low, high = (builder.convert(builder.index(rows, (*at, one)), dtype) for one in (lower, upper))
        both = builder.div(builder.add(low, high), builder.constant(2, low))
        middle = builder.select(builder.apply("eq", lower, upper), low, both)
        return _unless_nan(builder, rows, at, middle)

    result = context.wrap(context.builder.build(rows.type.shape[:-1], place))
    return _kept(context, result, a, axis, keepdims, "np.median", 0)


def quantiles(name: str, scale: float) -> StagedCall:
    """np.quantile, np.percentile: with v = q(n - 1), k = ⌊v⌋, t = v - k, the line x_k + t (x_{k+1} - x_k)"""

    def staged(
        context: Context,
        a: Value,
        q: Value,
        axis: Value = None,
        *,
        method: Value = "linear",
        keepdims: Value = False,
    ) -> Value:
        if method != "linear":
            raise UnsupportedArgument(name, f"method={method!r}", context.span, "take method='linear'")
        rows = _sorted_rows(context, name, a, axis)
        wanted = as_array(context, q)
        dtype = _type(context, rows, q)
        parts = convert(context, atom(context, wanted), dtype)
        _check_range(context, name, parts, scale)
        rank = len(parts.type.shape)

        def place(builder: Builder, at: tuple[Var, ...]) -> Atom:
            part = parts if not isinstance(parts, Var) else builder.index(parts, at[:rank])
            if scale != 1:
                part = builder.div(part, builder.constant(scale, part))
            value = _between(builder, rows, at[rank:], part, dtype)
            return _unless_nan(builder, rows, at[rank:], value)

        shape: tuple[Size, ...] = (*parts.type.shape, *rows.type.shape[:-1])
        result = context.wrap(context.builder.build(shape, place))
        return _kept(context, result, a, axis, keepdims, name, rank)

    return staged


def _type(context: Context, rows: Var, q: Value) -> DType:
    """A Python number takes the type of the values."""
    own = rows.type.dtype if rows.type.dtype.is_float else F64
    dtype, is_weak = type_of(context, q)
    return own if is_weak else dtype_of(np.result_type(own.numpy, dtype.numpy), context.span)


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


def _between(builder: Builder, rows: Var, at: tuple[Atom, ...], part: Atom, dtype: DType) -> Atom:
    last = builder.size("sub", rows.type.shape[-1], i64(1))
    virtual = builder.mul(part, builder.convert(last, dtype))
    floor = builder.apply("floor", virtual)
    step = builder.sub(virtual, floor)
    lower = builder.apply("min", builder.apply("max", builder.convert(floor, I64), i64(0)), last)
    upper = builder.apply("min", builder.apply("add", lower, i64(1)), last)
    own = rows.type.dtype if rows.type.dtype.is_float else F64
    low, high = (builder.convert(builder.index(rows, (*at, one)), own) for one in (lower, upper))
    rise = builder.convert(builder.sub(high, low), dtype)
    low, high = builder.convert(low, dtype), builder.convert(high, dtype)
    up = builder.add(low, builder.mul(rise, step))
    down = builder.sub(high, builder.mul(rise, builder.sub(builder.constant(1, step), step)))
    return builder.select(builder.apply("ge", step, builder.constant(0.5, step)), down, up)


CALLS: dict[Callable[..., object], StagedCall] = {
    np.median: median,
    np.quantile: quantiles("np.quantile", 1.0),
    np.percentile: quantiles("np.percentile", 100.0),
}
