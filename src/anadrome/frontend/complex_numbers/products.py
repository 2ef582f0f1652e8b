"""np.prod and np.cumprod of complex numbers: reductions and scans by the product of pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Part, Reduce, Scan, Size, Stack, Var
from anadrome.errors.frontend import ComplexRefused
from anadrome.frontend.arrays import as_array, atom, describe
from anadrome.frontend.complex_numbers.pairs import pair_product
from anadrome.frontend.complex_numbers.parts import complex_of
from anadrome.frontend.context import Context
from anadrome.frontend.library.common import axis_of
from anadrome.frontend.values import Array, Complex, Value


def product(context: Context, a: Value, axis: Value = None) -> Value:
    """np.prod"""
    found = _arranged(context, "np.prod", a, axis)
    return _along(context, found, lambda lam, pair: Reduce.of(lam, pair))


def cumulative_product(context: Context, a: Value, axis: Value = None) -> Value:
    """np.cumprod of a vector, or of all elements"""
    value = complex_of(context, a)
    if len(value.shape) > 1 and axis is not None:
        raise ComplexRefused("`np.cumprod` along an axis", describe(value), context.span)
    return _along(context, _arranged(context, "np.cumprod", a, None), lambda lam, pair: Scan.of(lam, pair))


def _arranged(context: Context, name: str, a: Value, axis: Value) -> Complex:
    """The value with the axis that is gone over as its last one; without an axis as one vector."""
    value = complex_of(context, a)
    if axis is None:
        return Complex(
            *(as_array(context, context.call(np.ravel, part)) for part in (value.real, value.imag))
        )
    along = axis_of(context, name, axis, len(value.shape))
    parts = (context.call(np.moveaxis, part, along, -1) for part in (value.real, value.imag))
    return Complex(*(as_array(context, part) for part in parts))


def _along(context: Context, value: Complex, made: object) -> Complex:
    """The reduction or scan over the last axis, for every index of the others."""
    real, imag = (atom(context, part) for part in (value.real, value.imag))
    assert isinstance(real, Var) and isinstance(imag, Var) and isinstance(value.real, Array)
    shape: Sequence[Size] = value.shape

    def level(builder: Builder, outer: tuple[Var, ...]) -> tuple[Atom, ...]:
        is_last = len(outer) + 1 == len(shape)

        def body(inner: Builder, index: Var) -> list[Part]:
            if is_last:
                pair = (inner.index(real, (*outer, index)), inner.index(imag, (*outer, index)))
                return [made(pair_product(inner, value.dtype), pair)]  # type: ignore[operator]
            return [Stack.of(part) for part in level(inner, (*outer, index))]

        return builder.parfor(shape[len(outer)], body)

    first, second = level(context.builder, ())
    return Complex(context.wrap(first), context.wrap(second))
