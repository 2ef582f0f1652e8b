"""Logarithms of sums of exponentials, which neither overflow nor vanish: logsumexp, softmax, log_softmax."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Var
from anadrome.dtypes import F64, DType
from anadrome.frontend.arrays import as_array, atom, convert, promote
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library.common import INFINITY, axes_of, element_at, static_flag
from anadrome.frontend.library.reductions import Nest, Summand, over_axes, require_elements
from anadrome.frontend.tables import Key, Late
from anadrome.frontend.values import Value

Weight = Callable[[Builder, tuple[Atom, ...]], Atom]
"""(builder, indices) -> the factor of the exponential there"""


def log_sum_exp(
    context: Context,
    a: Value,
    axis: Value = None,
    b: Value = None,
    keepdims: Value = False,
    return_sign: Value = False,
) -> Value:
    """scipy.special.logsumexp: log Σ b·exp(a - m) + m, with m = max a held constant: nothing depends on it.

    A negative sum has the logarithm NaN; with `return_sign` that of its size, beside its sign. SciPy raises
    for all of an empty matrix, and gives -inf for an empty vector and along an axis.
    """
    name = "scipy.special.logsumexp"
    has_sign = static_flag(context, name, "return_sign", return_sign)
    if b is None:
        own = as_array(context, a)
        target = own.dtype if own.dtype.is_float else F64
        weight = None
    else:
        dtype, _ = promote(context, (as_array(context, a), as_array(context, b)), name)
        target = dtype if dtype.is_float else F64
        both = context.call(np.broadcast_arrays, a, b)
        assert isinstance(both, tuple | list)
        own = as_array(context, both[0])
        held = convert(context, atom(context, as_array(context, both[1])), target)
        weight = lambda builder, at: element_at(builder, held, at)  # noqa: E731

    if axis is None and len(own.shape) > 1:
        require_elements(context, name, own.shape, ())

    def size(builder: Builder, nest: Nest) -> Atom:
        shift, total = _shift_and_sum(builder, nest, target, weight)
        total = builder.apply("abs", total) if has_sign else total
        return builder.add(builder.apply("log", total), shift)

    def sign(builder: Builder, nest: Nest) -> Atom:
        return builder.apply("sign", _shift_and_sum(builder, nest, target, weight)[1])

    found = over_axes(context, name, own, axis, keepdims, size)
    return (found, over_axes(context, name, own, axis, keepdims, sign)) if has_sign else found


def _shift_and_sum(builder: Builder, nest: Nest, dtype: DType, weight: Weight | None) -> tuple[Atom, Atom]:
    """(m, Σ b·exp(a - m)), where what has the factor 0 counts neither in m nor, if infinite, in the sum"""
    if weight is None:
        counted: Summand = lambda inner, one, at: inner.convert(one, dtype)  # noqa: E731
    else:

        def counted(inner: Builder, one: Atom, at: tuple[Atom, ...]) -> Atom:
            value, factor = inner.convert(one, dtype), weight(inner, at)
            is_out = inner.apply("eq", factor, inner.constant(0.0, factor))
            return inner.select(is_out, inner.constant(-INFINITY, value), value)

    shift = _finite(builder, nest.fold(builder, "max", counted))

    def power(inner: Builder, one: Atom, at: tuple[Atom, ...]) -> Atom:
        found = inner.apply("exp", inner.sub(inner.convert(one, dtype), shift))
        if weight is None:
            return found
        factor, zero = weight(inner, at), inner.constant(0.0, found)
        is_out = inner.apply("eq", factor, zero)
        is_lost = inner.apply("and", is_out, inner.apply("not", inner.apply("isfinite", found)))
        return inner.mul(factor, inner.select(is_lost, zero, found))

    return shift, nest.fold(builder, "add", power)


def _finite(builder: Builder, largest: Atom) -> Atom:
    """The greatest number held constant, or 0 where it is infinite or NaN."""
    is_finite = builder.apply("isfinite", largest)
    return builder.apply("stop_gradient", builder.select(is_finite, largest, builder.constant(0.0, largest)))


def soft_max(name: str, is_log: bool) -> StagedCall:
    """scipy.special.softmax, log_softmax: e / Σ e, e = exp(x - m), m = max x held constant; x - m - log Σ e

    The logarithm of the sum is not added to m first, which for large x would round it away.
    """

    def staged(context: Context, x: Value, axis: Value = None) -> Value:
        own = as_array(context, x)
        target = own.dtype if own.dtype.is_float else F64
        operand = atom(context, own)
        shape = operand.type.shape
        axes = axes_of(context, name, axis, len(shape))
        kept = [size for one, size in enumerate(shape) if one not in axes]
        require_elements(context, name, [shape[one] for one in axes], kept)

        def shift(builder: Builder, nest: Nest) -> Atom:
            largest = nest.fold(builder, "max", lambda inner, one, at: inner.convert(one, target))
            return _finite(builder, largest) if is_log else builder.apply("stop_gradient", largest)

        shifts = atom(context, as_array(context, over_axes(context, name, own, axis, False, shift)))

        def below(builder: Builder, indices: tuple[Var, ...]) -> Atom:
            value = builder.convert(element_at(builder, operand, indices), target)
            return builder.sub(value, element_at(builder, shifts, rest(indices)))

        def rest(indices: tuple[Var, ...]) -> list[Var]:
            return [index for one, index in enumerate(indices) if one not in axes]

        shifted = context.builder.build(shape, below)

        def total(builder: Builder, nest: Nest) -> Atom:
            return nest.fold(builder, "add", lambda inner, one, at: inner.apply("exp", one))

        lower = as_array(context, context.wrap(shifted))
        totals = atom(context, as_array(context, over_axes(context, name, lower, axis, False, total)))

        def place(builder: Builder, indices: tuple[Var, ...]) -> Atom:
            value, sum_ = element_at(builder, shifted, indices), element_at(builder, totals, rest(indices))
            if is_log:
                return builder.sub(value, builder.apply("log", sum_))
            return builder.div(builder.apply("exp", value), sum_)

        return context.wrap(context.builder.build(shape, place))

    return staged


def _calls() -> dict[Key, StagedCall]:
    return {
        scipy.special.logsumexp: log_sum_exp,
        scipy.special.softmax: soft_max("scipy.special.softmax", is_log=False),
        scipy.special.log_softmax: soft_max("scipy.special.log_softmax", is_log=True),
    }


CALLS = Late("scipy.special", _calls)
