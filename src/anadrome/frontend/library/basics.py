"""The rows every program needs, and the pattern for the others: elementwise functions, sums, new arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Size, Var
from anadrome.dtypes import F64, I64
from anadrome.frontend.arrays import as_array, atom
from anadrome.frontend.context import Context, StagedCall, dtype_of
from anadrome.frontend.operators import apply_prim, apply_typed
from anadrome.frontend.sizes import as_size
from anadrome.frontend.values import Array, Staged, Value


def float_function(name: str) -> StagedCall:
    """A NumPy function that is a row of the primitive table and gives floats."""

    def staged(context: Context, *values: Value) -> Value:
        return apply_prim(context, name, *values, is_float=True)

    return staged


def math_function(name: str) -> StagedCall:
    """A function of `math`: it takes Python floats and gives one, so its result adapts its type (NEP 50)."""

    def staged(context: Context, *values: Value) -> Value:
        return apply_typed(context, name, F64, values, is_weak=True)

    return staged


def total(context: Context, values: Value) -> Staged:
    """np.sum over all elements; bools and small integers are summed as int64."""
    found = as_array(context, values)
    dtype = found.dtype if found.dtype.is_float or found.dtype.bits == 64 else I64

    def level(builder: Builder, part: Atom) -> Atom:
        if not part.type.shape:
            return builder.convert(part, dtype)
        assert isinstance(part, Var)
        rows = part
        return builder.reduce("add", rows.type.shape[0], lambda inner, i: level(inner, inner.index(rows, (i,))))

    return context.wrap(level(context.builder, atom(context, found)))


def shape_argument(context: Context, shape: Value) -> tuple[Size, ...]:
    """A shape argument: one size or several."""
    parts = shape if isinstance(shape, tuple | list) else (shape,)
    return tuple(as_size(context, part, "a shape") for part in parts)


def filled(value: float) -> StagedCall:
    """np.zeros, np.ones."""

    def staged(context: Context, shape: Value, dtype: Any = np.float64) -> Value:
        number = context.constant(value, dtype_of(dtype, context.span))
        return context.wrap(context.builder.full(shape_argument(context, shape), number))

    return staged


def new_array(context: Context, values: Value, dtype: Any = None) -> Value:
    """np.array: always a copy."""
    found = as_array(context, values, None if dtype is None else dtype_of(dtype, context.span))
    return context.wrap(context.read(found)) if isinstance(found, Array) else found


def copied(context: Context, array: Staged) -> Value:
    """x.copy(): a cell of its own that holds the same."""
    return context.wrap(context.read(array)) if isinstance(array, Array) else array


CALLS: dict[Callable[..., object], StagedCall] = {
    np.exp: float_function("exp"),
    math.exp: math_function("exp"),
    math.sqrt: math_function("sqrt"),
    np.sum: total,
    np.zeros: filled(0.0),
    np.ones: filled(1.0),
    np.array: new_array,
}

METHODS: dict[str, StagedCall] = {
    "copy": copied,
    "sum": total,
}
