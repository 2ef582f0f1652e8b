"""Polynomials by their coefficients, the highest first: `np.polyval` and its kin."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Const, Var, i64
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.arrays import as_array, atom, promote
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.indexing import take as taken
from anadrome.frontend.library.common import array_var, static_int
from anadrome.frontend.library.creation import new_of
from anadrome.frontend.operators import element, is_one
from anadrome.frontend.sizes import agree, size_value
from anadrome.frontend.values import Array, Value

UNROLLED = 16
"""Polynomials of so many coefficients are written out."""


def _coefficients(context: Context, name: str, p: Value) -> Array:
    found = context.wrap(array_var(context, name, context.call(np.atleast_1d, p)))
    if not isinstance(found, Array) or len(found.shape) != 1:
        raise UnsupportedArgument(name, "coefficients that are no vector", context.span)
    return found


def value_at(context: Context, p: Value, x: Value) -> Value:
    """np.polyval by Horner's rule: 0·x + p₀, then ·x + p₁, …"""
    name = "np.polyval"
    parts, places = array_var(context, name, _coefficients(context, name, p)), as_array(context, x)
    dtype, _ = promote(context, (context.wrap(parts), places), name)
    wanted, count = atom(context, places), parts.type.shape[0]

    def place(builder: Builder, at: tuple[Var, ...]) -> Atom:
        value = builder.convert(element(builder, wanted, wanted.type.shape, at), dtype)

        def step(inner: Builder, total: Atom, index: Atom) -> Atom:
            one = inner.convert(inner.index(parts, (index,)), dtype)
            return inner.add(inner.mul(total, value), one)

        start = builder.constant(0, value)
        if isinstance(count, Const) and int(count.value) <= UNROLLED:
            total: Atom = start
            for k in range(int(count.value)):
                total = step(builder, total, Const(k, count.dtype))
            return total
        return builder.loop(count, (start,), lambda inner, index, carried: (step(inner, carried[0], index),))[
            0
        ]

    found = context.builder.build(wanted.type.shape, place)
    return new_of(context, found) if isinstance(x, Array) and not places.shape else context.wrap(found)


def derivative(context: Context, p: Value, m: Value = 1) -> Value:
    """np.polyder: the coefficients of the derivative of a known order"""
    name = "np.polyder"
    order, parts = static_int(context, name, "m", m), _coefficients(context, name, p)
    if order < 0:
        raise UnsupportedArgument(name, "a negative order", context.span, "integrate with np.polyint")
    if not order and isinstance(p, Array):
        return p
    for _ in range(order):
        count = size_value(context, parts.shape[0])
        powers = context.call(np.arange, context.call(np.subtract, count, 1), 0, -1)
        found = context.call(np.multiply, taken(context, parts, slice(None, -1)), powers)
        assert isinstance(found, Array)
        parts = found
    return parts


def antiderivative(context: Context, p: Value, m: Value = 1, k: Value = None) -> Value:
    """np.polyint: the coefficients of the integral of a known order, with constants of integration"""
    name, call = "np.polyint", context.call
    order, found = static_int(context, name, "m", m), _coefficients(context, name, p)
    if order < 0:
        raise UnsupportedArgument(name, "a negative order", context.span, "differentiate with np.polyder")
    if not order and isinstance(p, Array):
        return p
    for constant in _constants(context, order, k):
        powers = call(np.arange, size_value(context, found.shape[0]), 0, -1)
        joined = call(np.append, call(np.divide, found, powers), constant)
        assert isinstance(joined, Array)
        found = joined
    return found


def _constants(context: Context, order: int, k: Value) -> list[Value]:
    """A constant of integration for each integral: zeros, one for all, or one each."""
    if k is None:
        return [0.0] * order
    given = as_array(context, context.call(np.atleast_1d, k))
    if len(given.shape) != 1:
        raise UnsupportedArgument("np.polyint", "constants that are no vector", context.span)
    if is_one(given.shape[0]):
        return [context.call(np.take, given, 0)] * order
    agree(context, given.shape[0], i64(order), "np.polyint: the constants of integration")
    return [context.call(np.take, given, place) for place in range(order)]


def product(context: Context, a1: Value, a2: Value) -> Value:
    """np.polymul: the convolution of the coefficients without the zeros in front"""
    name = "np.polymul"
    return context.call(np.convolve, *(_trimmed(context, name, one) for one in (a1, a2)))


def _trimmed(context: Context, name: str, p: Value) -> Value:
    """The coefficients from the first one on that is not zero; a zero where there is none."""
    call, own = context.call, _coefficients(context, name, p)
    parts = call(np.concatenate, [call(np.zeros, 1, own.dtype.numpy), own])  # there is one, at least
    assert isinstance(parts, Array)
    last = size_value(context, own.shape[0])
    is_last = call(np.equal, call(np.arange, call(np.add, last, 1)), last)
    first = call(np.argmax, call(np.logical_or, call(np.not_equal, parts, 0), is_last))
    return taken(context, parts, slice(first, None))


def sum_of_two(name: str, function: np.ufunc) -> StagedCall:
    """np.polyadd, np.polysub: the shorter one has zeros in front"""

    def staged(context: Context, a1: Value, a2: Value) -> Value:
        left, right = _coefficients(context, name, a1), _coefficients(context, name, a2)
        call, builder = context.call, context.builder
        size = builder.size("max", left.shape[0], right.shape[0])
        wide = [
            call(np.concatenate, [call(np.zeros, size_value(context, gap), one.dtype.numpy), one])
            for one in (left, right)
            for gap in (builder.size("sub", size, one.shape[0]),)
        ]
        return call(function, *wide)

    return staged


CALLS: dict[Callable[..., object], StagedCall] = {
    np.polyval: value_at,
    np.polyder: derivative,
    np.polyint: antiderivative,
    np.polyadd: sum_of_two("np.polyadd", np.add),
    np.polysub: sum_of_two("np.polysub", np.subtract),
    np.polymul: product,
}
