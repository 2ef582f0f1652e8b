"""Making complex values: of static numbers and arrays, of real values, of lists, of two parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

import numpy as np

from anadrome.array_ir.nodes import ArrayType
from anadrome.dtypes import F32, F64, DType
from anadrome.errors.frontend import ShapeMismatch
from anadrome.frontend.arrays import as_array, atom, promote, type_of
from anadrome.frontend.context import Context
from anadrome.frontend.heap import with_members
from anadrome.frontend.sizes import retype, show_shape
from anadrome.frontend.structures import Inside, children, flatten
from anadrome.frontend.values import Array, Complex, Scalar, Staged, Value
from anadrome.frontend.views import layout_of, view_of


# ---------------------------------------------------------------------------- what is complex
def is_complex(value: Value) -> bool:
    """Whether a value is a complex number or array, static or staged."""
    return isinstance(value, Complex | complex | np.complexfloating) or is_complex_array(value)


def is_complex_array(value: Value) -> TypeGuard[np.ndarray]:
    """Whether a value is a NumPy array of complex numbers."""
    return isinstance(value, np.ndarray) and value.dtype.kind == "c"


def has_complex(value: Value) -> bool:
    """Whether a value is complex or a container with a complex value somewhere in it."""
    if is_complex(value):
        return True
    parts = None if isinstance(value, slice) else children(value)  # `np.r_[0:1:5j]` has five numbers
    return parts is not None and any(has_complex(part) for part in parts)


def part_type(dtype: Value) -> DType | None:
    """The scalar type of the parts where `dtype` means complex64 or complex128; None for any other value."""
    if not isinstance(dtype, type | np.dtype | str):
        return None
    if isinstance(dtype, str) and not dtype.lstrip("<=").startswith(("complex", "c8", "c16")):
        return None
    if isinstance(dtype, type) and not issubclass(dtype, complex | np.complexfloating):
        return None
    try:
        found = np.dtype(dtype)
    except TypeError:
        return None
    return {np.dtype(np.complex64): F32, np.dtype(np.complex128): F64}.get(found)


def numpy_type(dtype: DType) -> np.dtype[np.complexfloating]:
    """The NumPy dtype of a complex array whose parts are of this type."""
    return np.dtype(np.complex64 if dtype is F32 else np.complex128)


# ---------------------------------------------------------------------------- making them
def complex_of(context: Context, value: Value) -> Complex:
    """Any number, array or nested list as a complex value: float32 as complex64, other types as complex128.

    A Python number stays one, which adapts its type. Raises `UnsupportedType` for what is no number or array.
    """
    match value:
        case Complex():
            return value
        case complex() if not isinstance(value, np.generic):
            parts = (context.constant(part, F64) for part in (value.real, value.imag))
            return Complex(*(Scalar(part, is_weak=True) for part in parts))
        case np.complexfloating():
            return Complex(as_array(context, value.real), as_array(context, value.imag))
        case np.ndarray() if value.dtype.kind == "c":
            return _of_array(context, value)
        case list() | tuple() if has_complex(value):
            return _of_rows(context, value)
        case _:
            dtype, is_weak = type_of(context, value)
            target = F32 if dtype is F32 else F64
            if is_weak:
                return Complex(
                    Scalar(atom(context, value, target), True), Scalar(context.constant(0.0, target), True)
                )
            real = as_array(context, value, target)
            return Complex(real, zeros_like(context, real))


def from_parts(context: Context, real: Staged, imag: Staged) -> Complex:
    """The complex value of two real ones of one shape, under their common float type.

    Raises `ShapeMismatch` where the shapes are known to differ; where that is not known, the program checks.
    """
    dtype, is_weak = promote(context, (real, imag), "complex")
    target = dtype if dtype.is_float else F64
    if isinstance(real, Scalar) and isinstance(imag, Scalar):
        parts = (Scalar(atom(context, part, target), is_weak) for part in (real, imag))
        return Complex(*parts)
    if not (isinstance(real, Array) and isinstance(imag, Array)):
        raise ShapeMismatch("complex", show_shape(real.shape), show_shape(imag.shape), context.span)
    left, right = as_array(context, real, target), as_array(context, imag, target)
    assert isinstance(left, Array) and isinstance(right, Array)
    if left.shape == right.shape:
        return Complex(left, right)
    if right.view is not None:  # it stays a view, as its other part does
        return Complex(
            left,
            view_of(
                context,
                right,
                left.shape,
                lambda _, indices: list(indices),
                layout_of(right),
                read=lambda _, var: retype(context, var, left.type, "complex"),
            ),
        )
    fitted = retype(context, context.read(right), left.type, "complex")
    return Complex(left, context.wrap(fitted))


def zeros_like(context: Context, real: Staged) -> Staged:
    """Zeros of the type of a part: what stands beside it in a complex value that is real."""
    return context.wrap(context.builder.zeros(ArrayType(real.dtype, real.shape)))


def converted(context: Context, value: Complex, dtype: DType) -> Complex:
    """The value with parts of another float type; new arrays."""
    parts = (context.wrap(atom(context, part, dtype)) for part in (value.real, value.imag))
    return Complex(*parts)


def split(context: Context, value: Value) -> tuple[Value, Value | None]:
    """The parts of a value; a real one has no imaginary part, and its type is not changed."""
    if is_complex(value) or (isinstance(value, list | tuple) and has_complex(value)):
        found = complex_of(context, value)
        return found.real, found.imag
    return value, None


def mapped(value: Complex, function: object) -> Complex:
    """`function` on either part."""
    return Complex(function(value.real), function(value.imag))  # type: ignore[operator]


def _of_array(context: Context, array: np.ndarray) -> Complex:
    """A NumPy array of the surroundings: large ones are passed to the program, small ones written into it."""
    if array.size > context.config.literal_limit:
        return context.captured_complex(array)
    context.surroundings.elements(array)
    parts: list[Staged] = []
    for part in (array.real, array.imag):
        own = np.array(part, order="C")
        context.surroundings.made(own)
        parts.append(as_array(context, own))
    return Complex(*parts)


def _of_rows(context: Context, rows: Sequence[Value]) -> Complex:
    """np.array of nested lists with a complex number somewhere in them."""
    leaves, rebuild = flatten(list(rows), lambda leaf: children(leaf) is None or isinstance(leaf, Complex))
    found = [complex_of(context, leaf) for leaf in leaves]
    sides = (rebuild(iter([one.real for one in found])), rebuild(iter([one.imag for one in found])))
    real, imag = (as_array(context, side) for side in sides)
    return from_parts(context, real, imag)


def staged_surroundings(context: Context, value: Value, inside: Inside = children) -> Value:
    """A value with complex numbers, and NumPy arrays of the program's surroundings, as staged ones.

    Nobody may write into these arrays.
    """
    context.surroundings.fields(value)
    leaves, rebuild = flatten(value, _is_static_leaf, inside, with_members)
    if not leaves:
        return value
    staged = [complex_of(context, leaf) if is_complex(leaf) else as_array(context, leaf) for leaf in leaves]
    for leaf in staged:
        for part in (leaf.real, leaf.imag) if isinstance(leaf, Complex) else (leaf,):
            if isinstance(part, Array):
                part.cell.is_argument = True
    return rebuild(iter(staged))


def lifted(context: Context, value: Value, inside: Inside = children) -> Value:
    """A value with the complex numbers in it that are known now as run-time ones."""
    leaves, rebuild = flatten(value, _is_static_complex, inside, with_members)
    return rebuild(iter([complex_of(context, leaf) for leaf in leaves])) if leaves else value


def _is_static_complex(leaf: Value) -> bool:
    return is_complex(leaf) and not isinstance(leaf, Complex)


def _is_static_leaf(leaf: Value) -> bool:
    return isinstance(leaf, np.ndarray | complex | np.complexfloating)
