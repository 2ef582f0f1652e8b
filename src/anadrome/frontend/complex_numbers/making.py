"""New complex arrays and conversions: `np.zeros(n, dtype=complex)`, `np.array`, `astype`, `complex(x, y)`."""

from __future__ import annotations

from typing import Any

import numpy as np

from anadrome.dtypes import DType
from anadrome.errors.frontend import ComplexRefused, UnsupportedArgument
from anadrome.frontend.arrays import as_array, boxed, describe, unboxed
from anadrome.frontend.complex_numbers import formulas, operators
from anadrome.frontend.complex_numbers.parts import (
    complex_of,
    converted,
    is_complex,
    part_type,
    split,
    zeros_like,
)
from anadrome.frontend.complex_numbers.rules import strong, together
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library import CALLS
from anadrome.frontend.library.common import static_flag
from anadrome.frontend.values import Array, Complex, Scalar, Value


def typed(form: StagedCall) -> StagedCall:
    """np.zeros(shape, dtype=complex) and its kin: zeros or ones with an imaginary part of zeros."""

    def staged(context: Context, shape: Value, dtype: Value = np.float64) -> Value:
        target = _target(context, dtype)
        real = as_array(context, form(context, shape, target.numpy))
        return Complex(real, zeros_like(context, real))

    return staged


def typed_like(form: StagedCall) -> StagedCall:
    """np.zeros_like of a complex array, or of a real one with a complex dtype."""

    def staged(context: Context, a: Value, dtype: Value = None, *, shape: Value = None) -> Value:
        real, _ = split(context, a)
        if dtype is not None and part_type(dtype) is None:
            return form(context, real, dtype, shape=shape)
        target = None if dtype is None else _target(context, dtype).numpy
        found = as_array(context, form(context, real, target, shape=shape))
        return Complex(found, zeros_like(context, found))

    return staged


def typed_matrix(form: StagedCall) -> StagedCall:
    """np.eye and np.identity with a complex dtype"""

    def staged(context: Context, *args: Value, dtype: Value = np.float64, **kwargs: Value) -> Value:
        real = as_array(context, form(context, *args, dtype=_target(context, dtype).numpy, **kwargs))
        return Complex(real, zeros_like(context, real))

    return staged


def full(context: Context, shape: Value, fill_value: Value, dtype: Value = None) -> Value:
    """np.full with a complex value or a complex dtype"""
    found = _cast(context, fill_value, dtype)
    return together(context, *(CALLS[np.full](context, shape, part) for part in (found.real, found.imag)))


def full_like(context: Context, a: Value, fill_value: Value, dtype: Value = None) -> Value:
    """np.full_like"""
    real, imag = split(context, a)
    if imag is None and dtype is None:
        raise ComplexRefused("a real array", describe(fill_value), context.span)
    found = _cast(context, fill_value, dtype)
    target = found.dtype.numpy if dtype is not None else None
    like = (CALLS[np.full_like](context, real, part, target) for part in (found.real, found.imag))
    return together(context, *like)


def new_array(context: Context, object: Value, dtype: Value = None, *, copy: Value = True) -> Value:
    """np.array: a copy, of complex values or with a complex dtype"""
    if copy is None or not static_flag(context, "np.array", "copy", copy):
        same = same_array(context, object, dtype)
        if copy is None or same is object:
            return same
        raise UnsupportedArgument("np.array", "`copy=False` where a copy has to be made", context.span)
    found = strong(_cast(context, object, dtype))
    return Complex(*(_fresh(context, part) for part in (found.real, found.imag)))


def new_typed(context: Context, array: Value, dtype: Value) -> Value:
    """A copy of an array or number under a type"""
    found = strong(_cast(context, array, dtype))
    is_number = isinstance(array, Complex | Scalar) and not array.shape
    return found if is_number and isinstance(found.real, Scalar) else new_array(context, found)


def same_array(context: Context, a: Value, dtype: Value = None) -> Value:
    """np.asarray: the array itself, where it is one of that type"""
    is_same = isinstance(a, Complex) and (dtype is None or part_type(dtype) is a.dtype)
    return a if is_same and isinstance(a, Complex) and not a.list_depth else new_array(context, a, dtype)


def contiguous(context: Context, a: Value, dtype: Value = None) -> Value:
    """np.ascontiguousarray: the array itself where it is contiguous, else a copy"""
    found = complex_of(context, same_array(context, a, dtype))
    return together(
        context, *(CALLS[np.ascontiguousarray](context, part) for part in (found.real, found.imag))
    )


def astype(context: Context, array: Value, dtype: Value, *, copy: Value = True) -> Value:
    """x.astype(dtype): a new array, or with `copy=False` the array itself where it has the type"""
    if static_flag(context, "astype", "copy", copy):
        return new_typed(context, array, dtype)
    return same_array(context, array, dtype)


def conversion(dtype: type) -> StagedCall:
    """np.complex128(x) and np.complex64(x)"""

    def staged(context: Context, x: Value = 0) -> Value:
        found = unboxed(context, same_array(context, x, dtype))
        return found if not isinstance(found, Complex) or found.shape else strong(found)

    return staged


def _fresh(context: Context, part: Any) -> Any:
    made = context.wrap(context.read(part)) if isinstance(part, Array) else part
    return boxed(context, made.atom) if isinstance(made, Scalar) else made


def _cast(context: Context, value: Value, dtype: Value) -> Complex:
    found = complex_of(context, value)
    return found if dtype is None else converted(context, found, _target(context, dtype))


def _target(context: Context, dtype: Value) -> DType:
    """The type of the parts of a complex dtype; NumPy would drop the imaginary part for any other."""
    found = part_type(dtype)
    if found is None:
        help = "take `z.real` or `abs(z)`"
        raise ComplexRefused(
            f"a conversion to {getattr(dtype, '__name__', dtype)}", "complex", context.span, help
        )
    return found


def python_complex(context: Context, real: Value = 0, imag: Value = None) -> Value:
    """complex(x), complex(x, y): a Python number"""
    values = [real] if imag is None else [real, imag]
    for value in values:
        if (as_array(context, value) if not is_complex(value) else complex_of(context, value)).shape:
            raise UnsupportedArgument("complex", f"{describe(value)}, which is no number", context.span)
    found = complex_of(context, real)
    if imag is not None:
        turned = operators.multiply(context, 1j, imag)
        found = operators.over_pairs(context, (found, turned), formulas.add, "complex")
    return as_python(context, found)


def as_python(context: Context, value: Complex) -> Complex:
    """The number as a Python complex, which adapts its type."""
    wide = converted(context, value, _target(context, complex))
    return Complex(*(Scalar(part.atom, True) for part in (wide.real, wide.imag) if isinstance(part, Scalar)))
