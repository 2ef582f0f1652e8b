"""Prefixes and differences along an axis: cumsum, cumulative_prod, diff and their kin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Part, Scan, Size, Var, i64
from anadrome.dtypes import BOOL, DType
from anadrome.errors.frontend import PromotionError, UnsupportedArgument
from anadrome.frontend.arrays import as_array, atom, promote
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.indexing import take
from anadrome.frontend.library.common import (
    array_var,
    axis_of,
    built,
    optional_dtype,
    permuted,
    static_flag,
)
from anadrome.frontend.library.reductions import sum_type
from anadrome.frontend.sizes import is_nonnegative, multiply_sizes, size_value
from anadrome.frontend.values import Array, Value, is_staged


# ---------------------------------------------------------------------------- sums and products so far
def prefixes(name: str, operator: str) -> StagedCall:
    """np.cumsum, np.cumprod: the inclusive scan along one axis, or over the elements in row-major order"""

    def staged(context: Context, a: Value, axis: Value = None, dtype: Value = None) -> Value:
        own = as_array(context, a)
        target = optional_dtype(context, dtype) or sum_type(own.dtype)
        if target is BOOL:
            raise PromotionError(name, "dtype=bool", context.span, "use a type of integers or floats")
        if not own.shape:
            if axis is not None:
                axis_of(context, name, axis, 1)  # NumPy takes a number for a vector of one
            return context.wrap(context.builder.full((i64(1),), atom(context, own, target)))
        var = array_var(context, name, own)
        if axis is None and len(own.shape) > 1:
            var = context.builder.reshape(var, (multiply_sizes(context, own.shape),))
        along = 0 if axis is None else axis_of(context, name, axis, var.type.rank)  # type: ignore[union-attr]
        return context.wrap(scanned(context.builder, var, along, operator, target))

    return staged


def cumulative(name: str, operator: str, neutral: int) -> StagedCall:
    """np.cumulative_sum, np.cumulative_prod: the prefixes along an axis, which an array of several dimensions
    must name, and with `include_initial` that of no element before them"""
    inclusive = prefixes(name, operator)

    def staged(
        context: Context,
        x: Value,
        *,
        axis: Value = None,
        dtype: Value = None,
        include_initial: Value = False,
    ) -> Value:
        own = as_array(context, context.call(np.atleast_1d, x))
        if axis is None and len(own.shape) > 1:
            help = "say along which dimension: `axis=`"
            raise UnsupportedArgument(
                name, "an array of several dimensions without `axis`", context.span, help
            )
        along = axis_of(context, name, 0 if axis is None else axis, len(own.shape))
        found = as_array(context, inclusive(context, own, along, dtype))
        if not static_flag(context, name, "include_initial", include_initial):
            return found
        sizes = [i64(1) if one == along else size for one, size in enumerate(found.shape)]
        first = context.wrap(context.builder.full(sizes, context.constant(neutral, found.dtype)))
        return context.call(np.concatenate, [first, found], axis=along)

    return staged


def scanned(builder: Builder, var: Var, axis: int, operator: str, dtype: DType) -> Var:
    """The inclusive scan of the elements as `dtype` along one axis."""
    shape = var.type.shape
    others = [one for one in range(len(shape)) if one != axis]

    def row(inner: Builder, outer: tuple[Var, ...]) -> Atom:
        def body(deeper: Builder, index: Var) -> Sequence[Part]:
            indices = [*outer[:axis], index, *outer[axis:]]
            return (Scan.of(operator, (deeper.convert(deeper.index(var, indices), dtype),)),)

        (result,) = inner.parfor(shape[axis], body)
        return result

    rows = built(builder, [shape[one] for one in others], row) if others else row(builder, ())
    assert isinstance(rows, Var)
    order = [*range(axis), len(shape) - 1, *range(axis, len(shape) - 1)]
    return permuted(builder, rows, order)


def differences(
    context: Context,
    a: Value,
    n: Value = 1,
    axis: Value = -1,
    prepend: Value = None,
    append: Value = None,
) -> Value:
    """np.diff: x[i + 1] - x[i] along an axis, n times, of the array with more before and behind it; of bools
    whether they differ"""
    var = array_var(context, "np.diff", _between(context, prepend, a, append, axis))
    times = n if isinstance(n, int) else 1
    if not isinstance(n, int) or times < 0:
        raise PromotionError("np.diff", "an order `n` that is not a known whole number", context.span)
    if times == 0:
        return a
    along = axis_of(context, "np.diff", axis, len(var.type.shape))
    for _ in range(times):
        var = _difference(context, var, along)
    return context.wrap(var)


def _between(context: Context, before: Value, a: Value, behind: Value, axis: Value) -> Value:
    """An array with others, or one number all along, before and behind it."""
    if before is None and behind is None:
        return a
    own = as_array(context, a)
    along = axis_of(context, "np.diff", axis, len(own.shape))
    parts: list[Value] = [own]
    for value, position in ((before, 0), (behind, 2)):
        if value is None:
            continue
        found = as_array(context, value)
        if not found.shape:
            sizes = [1 if one == along else size_value(context, size) for one, size in enumerate(own.shape)]
            found = as_array(context, context.call(np.full, tuple(sizes), found))
        parts.insert(position, found)
    return context.call(np.concatenate, parts, axis=along)


def _difference(context: Context, var: Var, axis: int) -> Var:
    shape = list(var.type.shape)
    shape[axis] = _one_less(context, shape[axis])

    def place(inner: Builder, indices: tuple[Var, ...]) -> Atom:
        later = [inner.apply("add", one, i64(1)) if at == axis else one for at, one in enumerate(indices)]
        left, right = inner.index(var, later), inner.index(var, indices)
        return inner.apply("ne", left, right) if var.type.dtype is BOOL else inner.sub(left, right)

    return built(context.builder, shape, place)


def _one_less(context: Context, size: Size) -> Size:
    less = context.builder.size("sub", size, i64(1))
    return less if is_nonnegative(context, less) else context.builder.size("max", less, i64(0))


def unwrapped(
    context: Context, p: Value, discont: Value = None, axis: Value = -1, *, period: Value = 2 * np.pi
) -> Value:
    """np.unwrap: whole periods are added from each jump on, so that no step is longer than half of one"""
    name, call, found = "np.unwrap", context.call, as_array(context, p)
    if not isinstance(found, Array):
        raise UnsupportedArgument(name, "a number where an array is expected", context.span)
    along = axis_of(context, name, axis, len(found.shape))
    steps = call(np.diff, found, axis=along)
    dtype, _ = promote(context, (steps, period), name)
    if is_staged(period):
        reason = "a period that only the run knows"
        raise UnsupportedArgument(name, reason, context.span, "unwrap `p / period` by a period of 1.0")
    length: Any = period
    half, rest = divmod(length, 2) if dtype.is_integer else (length / 2, 0)
    least = length / 2 if discont is None else discont
    wrapped = call(np.add, call(np.remainder, call(np.add, steps, half), length), -half)
    if not rest:
        is_end = call(np.logical_and, call(np.equal, wrapped, -half), call(np.greater, steps, 0))
        wrapped = call(np.where, is_end, half, wrapped)
    is_short = call(np.less, call(np.absolute, steps), least)
    added = call(np.where, is_short, 0, call(np.subtract, wrapped, steps))
    before = (slice(None),) * along
    first, others = (take(context, found, (*before, part)) for part in (slice(0, 1), slice(1, None)))
    others = as_array(context, call(np.add, others, call(np.cumsum, added, axis=along)), dtype)
    return call(np.concatenate, [as_array(context, first, dtype), others], axis=along)


CALLS: dict[Callable[..., object], StagedCall] = {
    np.cumsum: prefixes("np.cumsum", "add"),
    np.cumprod: prefixes("np.cumprod", "mul"),
    np.cumulative_sum: cumulative("np.cumulative_sum", "add", 0),
    np.cumulative_prod: cumulative("np.cumulative_prod", "mul", 1),
    np.diff: differences,
    np.unwrap: unwrapped,
}

METHODS: dict[str, StagedCall] = {
    "cumsum": prefixes("cumsum", "add"),
    "cumprod": prefixes("cumprod", "mul"),
}
