"""Reductions along axes: sum, mean, max, argmin and their kin.

A reduction is one nest straight over the elements: stacks over the axes that stay, folds over the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import Atom, Size, Var, i64
from anadrome.dtypes import BOOL, F64, I64, U64, DType
from anadrome.errors.frontend import PromotionError, ShapeMismatch, UnsupportedArgument
from anadrome.frontend.arrays import as_array, atom, describe
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library.common import (
    axes_of,
    axis_of,
    element_at,
    optional_dtype,
    require,
    smooth_root,
    static_flag,
)
from anadrome.frontend.operators import broadcast_shapes, element, is_one
from anadrome.frontend.sizes import agree, show_shape
from anadrome.frontend.values import Staged, Value

_LARGEST = np.iinfo(np.int64).max

Summand = Callable[[Builder, Atom, tuple[Atom, ...]], Atom]
"""(builder, element, its indices) -> what is combined."""


# ---------------------------------------------------------------------------- nests
@dataclass(frozen=True, slots=True, eq=False)
class Nest:
    """An operand, the axes that are reduced, and the indices of one place of the result."""

    operand: Atom
    axes: tuple[int, ...]
    outer: dict[int, Atom]

    def fold(self, builder: Builder, operator: str, value: Summand) -> Atom:
        """`value` of every element at this place, combined; the last axis is innermost."""

        def level(inner: Builder, position: int, indices: dict[int, Atom]) -> Atom:
            if position == len(self.axes):
                ordered = tuple(indices[axis] for axis in range(len(indices)))
                return value(inner, element_at(inner, self.operand, ordered), ordered)
            axis = self.axes[position]

            def inside(deeper: Builder, index: Var) -> Atom:
                return level(deeper, position + 1, {**indices, axis: index})

            return inner.reduce(operator, self.operand.type.shape[axis], inside)

        return level(builder, 0, self.outer)


def over_axes(
    context: Context,
    name: str,
    values: Value,
    axis: Value,
    keepdims: Value,
    place: Callable[[Builder, Nest], Atom],
    is_checked: bool = False,
) -> Staged:
    """The array of `place(builder, nest)` over the axes that stay. `is_checked` refuses a fold of nothing."""
    operand = atom(context, as_array(context, values))
    shape = operand.type.shape
    axes = axes_of(context, name, axis, len(shape))
    kept = [one for one in range(len(shape)) if one not in axes]
    if is_checked:
        require_elements(context, name, [shape[one] for one in axes], [shape[one] for one in kept])

    def at(builder: Builder, indices: tuple[Var, ...]) -> Atom:
        return place(builder, Nest(operand, axes, dict(zip(kept, indices, strict=True))))

    result = context.builder.build([shape[one] for one in kept], at)
    if static_flag(context, name, "keepdims", keepdims) and axes:
        full = [i64(1) if one in axes else size for one, size in enumerate(shape)]
        result = (
            context.builder.reshape(result, full)
            if kept and isinstance(result, Var)
            else context.builder.full(full, result)
        )
    return context.wrap(result)


def fold_all(
    context: Context,
    operator: str,
    operands: Sequence[Staged],
    value: Callable[[Builder, Sequence[Atom]], Atom],
    what: str,
) -> Atom:
    """`value` of the elements of operands broadcast together, all combined."""
    atoms = [atom(context, operand) for operand in operands]
    shape = broadcast_shapes(context, [one.type.shape for one in atoms], what)

    def level(builder: Builder, indices: tuple[Atom, ...]) -> Atom:
        if len(indices) == len(shape):
            return value(builder, [element(builder, one, shape, indices) for one in atoms])
        return builder.reduce(
            operator, shape[len(indices)], lambda inner, index: level(inner, (*indices, index))
        )

    return level(context.builder, ())


def require_elements(context: Context, name: str, reduced: Sequence[Size], kept: Sequence[Size]) -> None:
    """Check that there is something to reduce, or no place that would hold the result."""
    builder = context.builder
    condition: Atom = number(True, BOOL)
    for size in reduced:
        condition = _both(builder, condition, builder.apply("gt", size, i64(0)))
    if getattr(condition, "value", None) is True:
        return
    for size in kept:
        condition = builder.apply("or", condition, builder.apply("eq", size, i64(0)))
    require(context, condition, "empty", f"{name} of an empty array")


def _both(builder: Builder, left: Atom, right: Atom) -> Atom:
    constant = getattr(left, "value", None)
    return right if constant is True else builder.apply("and", left, right)


# ---------------------------------------------------------------------------- sums and products
def sum_type(dtype: DType) -> DType:
    """The type NumPy adds and multiplies in: bools and small integers become 64 bits wide."""
    if dtype.is_float:
        return dtype
    return U64 if dtype.kind == "uint" else I64


_ON_BOOLS = {"add": "or", "mul": "and", "min": "and", "max": "or"}


Mask = Callable[[Builder, tuple[Atom, ...]], Atom]
"""(builder, indices) -> whether the element there counts."""


def mask_of(context: Context, name: str, own: Staged, where: Value) -> Mask | None:
    """`where=` of a reduction, broadcast to the elements; None where every element counts."""
    if where is True or where is None:
        return None
    holds = as_array(context, where)
    if holds.dtype is not BOOL:
        raise UnsupportedArgument(name, f"`where` is {describe(where)}", context.span, "give it booleans")
    shape = own.shape
    words = (show_shape(shape), show_shape(holds.shape))
    if len(holds.shape) > len(shape):
        raise ShapeMismatch(f"`where` of {name}", *words, context.span)
    for size, wanted in zip(holds.shape[::-1], shape[::-1], strict=False):
        if not is_one(size):
            agree(context, size, wanted, name, words)
    held = atom(context, holds)
    return lambda builder, at: element(builder, held, shape, at)


def counting(value: Summand, mask: Mask | None, neutral: float) -> Summand:
    """What is combined, and where an element does not count what leaves the rest as it is."""
    if mask is None:
        return value

    def masked(builder: Builder, one: Atom, at: tuple[Atom, ...]) -> Atom:
        found = value(builder, one, at)
        return builder.select(mask(builder, at), found, builder.constant(neutral, found))

    return masked


def folding(name: str, operator: str) -> StagedCall:
    """np.sum, np.prod"""
    neutral = 0.0 if operator == "add" else 1.0

    def staged(
        context: Context,
        a: Value,
        axis: Value = None,
        dtype: Value = None,
        *,
        keepdims: Value = False,
        initial: Value = None,
        where: Value = True,
    ) -> Value:
        own = as_array(context, a)
        target = optional_dtype(context, dtype) or sum_type(own.dtype)
        named = _ON_BOOLS[operator] if target is BOOL else operator
        mask = mask_of(context, name, own, where)
        start = None if initial is None else _number(context, name, atom(context, initial, target))

        def place(builder: Builder, nest: Nest) -> Atom:
            value = counting(lambda inner, one, _: inner.convert(one, target), mask, neutral)
            found = nest.fold(builder, named, value)
            return found if start is None else builder.apply(named, start, found)

        return over_axes(context, name, own, axis, keepdims, place)

    return staged


def average(
    context: Context,
    a: Value,
    axis: Value = None,
    dtype: Value = None,
    *,
    keepdims: Value = False,
    where: Value = True,
) -> Value:
    """np.mean: Σx / n"""
    own = as_array(context, a)
    target = optional_dtype(context, dtype) or (own.dtype if own.dtype.is_float else F64)
    if not target.is_float:
        raise PromotionError("np.mean", f"dtype={target.numpy_name}", context.span)
    mask = mask_of(context, "np.mean", own, where)
    return over_axes(
        context, "np.mean", own, axis, keepdims, lambda builder, nest: _mean(builder, nest, target, mask)
    )


def _mean(builder: Builder, nest: Nest, dtype: DType, mask: Mask | None) -> Atom:
    total = nest.fold(builder, "add", counting(lambda inner, one, _: inner.convert(one, dtype), mask, 0.0))
    return builder.div(total, builder.convert(_count(builder, nest, mask), dtype))


def _count(builder: Builder, nest: Nest, mask: Mask | None) -> Atom:
    """How many elements count."""
    if mask is not None:
        held = mask
        return nest.fold(builder, "add", lambda inner, _, at: inner.convert(held(inner, at), I64))
    total: Size = i64(1)
    for axis in nest.axes:
        total = builder.size("mul", total, nest.operand.type.shape[axis])
    return total


def spread(name: str, is_root: bool) -> StagedCall:
    """np.var, np.std: Σ(x - mean)² / (n - ddof), and its root"""

    def staged(
        context: Context,
        a: Value,
        axis: Value = None,
        dtype: Value = None,
        *,
        ddof: Value = 0,
        keepdims: Value = False,
        where: Value = True,
    ) -> Value:
        own = as_array(context, a)
        target = optional_dtype(context, dtype) or (own.dtype if own.dtype.is_float else F64)
        if not target.is_float:
            raise PromotionError(name, f"dtype={target.numpy_name}", context.span)
        less = atom(context, ddof, target)
        mask = mask_of(context, name, own, where)

        def place(builder: Builder, nest: Nest) -> Atom:
            mean = _mean(builder, nest, target, mask)

            def square(inner: Builder, one: Atom, _: tuple[Atom, ...]) -> Atom:
                step = inner.sub(inner.convert(one, target), mean)
                return inner.mul(step, step)

            total = nest.fold(builder, "add", counting(square, mask, 0.0))
            degrees = builder.sub(builder.convert(_count(builder, nest, mask), target), less)
            degrees = builder.apply("max", degrees, builder.constant(0.0, degrees))
            variance = builder.div(total, degrees)
            return smooth_root(builder, variance) if is_root else variance

        return over_axes(context, name, own, axis, keepdims, place)

    return staged


# ---------------------------------------------------------------------------- extrema and logic
def extremum(name: str, operator: str) -> StagedCall:
    """np.min, np.max: a NaN wins; of nothing there is none, or `initial`, which is compared as well,
    as the type of the elements"""

    def staged(
        context: Context,
        a: Value,
        axis: Value = None,
        *,
        keepdims: Value = False,
        initial: Value = None,
        where: Value = True,
    ) -> Value:
        own = as_array(context, a)
        named = _ON_BOOLS[operator] if own.dtype is BOOL else operator
        start = None if initial is None else _number(context, name, atom(context, initial, own.dtype))
        mask = mask_of(context, name, own, where)
        if mask is not None and start is None:
            help = "say what the result is where no element counts: `initial=`"
            raise UnsupportedArgument(name, "`where` without `initial`", context.span, help)

        def counted(inner: Builder, one: Atom, at: tuple[Atom, ...]) -> Atom:
            if mask is None or start is None:
                return one
            return inner.select(mask(inner, at), one, start)

        def place(builder: Builder, nest: Nest) -> Atom:
            found = nest.fold(builder, named, counted)
            return found if start is None else builder.apply(named, start, found)

        return over_axes(context, name, own, axis, keepdims, place, is_checked=start is None)

    return staged


def _number(context: Context, name: str, value: Atom) -> Atom:
    """What a reduction begins with is one number."""
    if value.type.shape:
        raise UnsupportedArgument(name, "an array as `initial`", context.span, "give one number")
    return value


def peak_to_peak(context: Context, a: Value, axis: Value = None, *, keepdims: Value = False) -> Value:
    """np.ptp: max - min"""
    own = as_array(context, a)
    if own.dtype is BOOL:
        raise PromotionError("np.ptp", "bool", context.span)

    def place(builder: Builder, nest: Nest) -> Atom:
        high, low = (nest.fold(builder, operator, lambda inner, one, _: one) for operator in ("max", "min"))
        return builder.sub(high, low)

    return over_axes(context, "np.ptp", own, axis, keepdims, place, is_checked=True)


def logic(name: str, operator: str) -> StagedCall:
    """np.any, np.all"""

    neutral = operator == "and"

    def staged(
        context: Context, a: Value, axis: Value = None, *, keepdims: Value = False, where: Value = True
    ) -> Value:
        own = as_array(context, a)
        mask = mask_of(context, name, own, where)

        def place(builder: Builder, nest: Nest) -> Atom:
            value = counting(lambda inner, one, _: inner.convert(one, BOOL), mask, neutral)
            return nest.fold(builder, operator, value)

        return over_axes(context, name, own, axis, keepdims, place)

    return staged


def count_nonzero(context: Context, a: Value, axis: Value = None, *, keepdims: Value = False) -> Value:
    """np.count_nonzero: Σ[x ≠ 0]"""

    def place(builder: Builder, nest: Nest) -> Atom:
        return nest.fold(builder, "add", lambda inner, one, _: inner.convert(inner.convert(one, BOOL), I64))

    return over_axes(context, "np.count_nonzero", a, axis, keepdims, place)


def position(name: str, operator: str) -> StagedCall:
    """np.argmin, np.argmax: the smallest index at which the extremum, or a NaN, stands.

    m = min x;  argmin = min { i : x[i] = m or x[i] is NaN }: two reductions that run in lanes.
    """

    def staged(context: Context, a: Value, axis: Value = None, *, keepdims: Value = False) -> Value:
        if axis is not None and isinstance(axis, tuple | list):
            axis_of(context, name, axis, 0)  # refuses what is not one integer
        own = as_array(context, a)
        sizes = own.shape

        def place(builder: Builder, nest: Nest) -> Atom:
            return _position(builder, nest, operator, sizes)

        return over_axes(context, name, own, axis, keepdims, place, is_checked=True)

    return staged


def _position(builder: Builder, nest: Nest, operator: str, sizes: tuple[Size, ...]) -> Atom:
    dtype = nest.operand.type.dtype
    ordered = I64 if dtype is BOOL else dtype
    winner = nest.fold(builder, operator, lambda inner, one, _: inner.convert(one, ordered))

    def candidate(inner: Builder, one: Atom, indices: tuple[Atom, ...]) -> Atom:
        value = inner.convert(one, ordered)
        is_winner = inner.apply("eq", value, winner)
        if dtype.is_float:
            is_winner = inner.apply("or", is_winner, inner.apply("isnan", value))
        place: Atom = i64(0)
        for axis in nest.axes:
            place = inner.apply("add", inner.apply("mul", place, sizes[axis]), indices[axis])
        return inner.select(is_winner, place, i64(_LARGEST))

    return nest.fold(builder, "min", candidate)


CALLS: dict[Callable[..., object], StagedCall] = {
    np.sum: folding("np.sum", "add"),
    np.prod: folding("np.prod", "mul"),
    np.mean: average,
    np.var: spread("np.var", is_root=False),
    np.std: spread("np.std", is_root=True),
    np.min: extremum("np.min", "min"),
    np.max: extremum("np.max", "max"),
    np.amin: extremum("np.amin", "min"),
    np.amax: extremum("np.amax", "max"),
    np.ptp: peak_to_peak,
    np.any: logic("np.any", "or"),
    np.all: logic("np.all", "and"),
    np.count_nonzero: count_nonzero,
    np.argmin: position("np.argmin", "min"),
    np.argmax: position("np.argmax", "max"),
}

METHODS: dict[str, StagedCall] = {
    "sum": folding("sum", "add"),
    "prod": folding("prod", "mul"),
    "mean": average,
    "var": spread("var", is_root=False),
    "std": spread("std", is_root=True),
    "min": extremum("min", "min"),
    "max": extremum("max", "max"),
    "any": logic("any", "or"),
    "all": logic("all", "and"),
    "argmin": position("argmin", "min"),
    "argmax": position("argmax", "max"),
}
