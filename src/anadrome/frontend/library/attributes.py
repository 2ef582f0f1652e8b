"""Attributes of arrays and scalars."""

from __future__ import annotations

from collections.abc import Callable

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import ArrayType, Atom, Var
from anadrome.frontend.context import Context
from anadrome.frontend.sizes import multiply_sizes, size_value
from anadrome.frontend.values import Array, Staged, Value


def shape(context: Context, value: Staged) -> Value:
    """The dimensions, each an int where it is known."""
    return tuple(size_value(context, size) for size in value.shape)


def element_count(context: Context, value: Staged) -> Value:
    """How many elements there are."""
    return size_value(context, multiply_sizes(context, value.shape))


def transpose(context: Context, value: Staged) -> Value:
    """The view with its dimensions in reverse order."""
    if not isinstance(value, Array) or len(value.shape) < 2:
        return value

    def read(var: Var) -> Var:
        def place(inner: Builder, indices: tuple[Var, ...]) -> Atom:
            return inner.index(var, indices[::-1])

        result = context.builder.build(var.type.shape[::-1], place)
        assert isinstance(result, Var)
        return result

    return context.view(value, read)


def imaginary_part(context: Context, value: Staged) -> Value:
    """The imaginary part of a real number or array: zeros."""
    return context.wrap(context.builder.zeros(ArrayType(value.dtype, value.shape)))


ATTRIBUTES: dict[str, Callable[[Context, Staged], Value]] = {
    "shape": shape,
    "size": element_count,
    "ndim": lambda context, value: len(value.shape),
    "dtype": lambda context, value: value.dtype.numpy,
    "T": transpose,
    "real": lambda context, value: value,
    "imag": imaginary_part,
}
"""The name of an attribute -> function(context, value) -> value."""
