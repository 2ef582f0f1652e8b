"""Attributes of arrays and scalars."""

from __future__ import annotations

from collections.abc import Callable

from anadrome.array_ir.nodes import ArrayType, i64
from anadrome.frontend.arrays import boxed, weakness
from anadrome.frontend.context import Context
from anadrome.frontend.library.common import permuted_view
from anadrome.frontend.operators import as_number
from anadrome.frontend.sizes import multiply_sizes, size_value
from anadrome.frontend.values import Array, Staged, Value
from anadrome.frontend.views import view_of


def shape(context: Context, value: Staged) -> Value:
    """The dimensions, each an int where it is known."""
    return tuple(size_value(context, size) for size in value.shape)


def element_count(context: Context, value: Staged) -> Value:
    """How many elements there are."""
    return size_value(context, multiply_sizes(context, value.shape))


def item_size(context: Context, value: Staged) -> Value:
    """How many bytes an element takes."""
    return value.dtype.numpy.itemsize


def byte_count(context: Context, value: Staged, parts: int = 1) -> Value:
    """How many bytes all elements take, that have so many parts."""
    element = i64(parts * value.dtype.numpy.itemsize)
    return size_value(context, multiply_sizes(context, (*value.shape, element)))


def transpose(context: Context, value: Staged) -> Value:
    """The view with its dimensions in reverse order."""
    return permuted_view(context, value, range(len(value.shape))[::-1])


def real_part(context: Context, value: Staged) -> Value:
    """The real part of a real number or array: itself, of a Python bool the integer that it is."""
    return as_number(context, "real", value) if weakness(value) else value


def imaginary_part(context: Context, value: Staged) -> Value:
    """The imaginary part of a real number or array: zeros, which NumPy makes read-only."""
    if weakness(value):
        return 0.0 if value.dtype.is_float else 0
    only = context.builder.zeros(ArrayType(value.dtype, value.shape))
    zeros = boxed(context, only) if isinstance(value, Array) and not value.shape else context.wrap(only)
    if not isinstance(zeros, Array):
        return zeros
    return view_of(context, zeros, zeros.shape, lambda _, indices: list(indices), is_writable=False)


ATTRIBUTES: dict[str, Callable[[Context, Staged], Value]] = {
    "shape": shape,
    "size": element_count,
    "itemsize": item_size,
    "nbytes": byte_count,
    "ndim": lambda context, value: len(value.shape),
    "dtype": lambda context, value: value.dtype.numpy,
    "T": transpose,
    "real": real_part,
    "imag": imaginary_part,
}
"""The name of an attribute -> function(context, value) -> value."""
