"""Functions whose form for complex values is their own: parts, choices, statistics, linear systems."""

from __future__ import annotations

import ast
from collections.abc import Callable

import numpy as np
import scipy

from anadrome.errors.frontend import ComplexRefused, UnsupportedArgument
from anadrome.frontend.arrays import as_array, describe
from anadrome.frontend.complex_numbers import formulas, operators
from anadrome.frontend.complex_numbers.parts import complex_of, has_complex, is_complex
from anadrome.frontend.complex_numbers.rules import by_parts, multilinear, together
from anadrome.frontend.complex_numbers.storing import write_complex
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.indexing import take
from anadrome.frontend.library import CALLS
from anadrome.frontend.library.attributes import imaginary_part as imag_of_real
from anadrome.frontend.library.common import as_strong
from anadrome.frontend.library.norms import matrix_norm
from anadrome.frontend.operators import apply_prim
from anadrome.frontend.values import Array, Complex, Value


def real_part(context: Context, val: Value) -> Value:
    """np.real: a view"""
    return complex_of(context, val).real


def imaginary_part(context: Context, val: Value) -> Value:
    """np.imag: a view"""
    return complex_of(context, val).imag if is_complex(val) else imag_of_real(context, as_array(context, val))


def angle(context: Context, z: Value, deg: Value = False) -> Value:
    """np.angle"""
    found = as_strong(operators.over_real(context, z, formulas.angle, "np.angle"))
    return context.call(np.degrees, found) if deg else found


def conjugate(context: Context, value: Complex) -> Value:
    """z.conjugate(): of a Python complex number one of Python's"""
    if value.is_weak:
        return Complex(value.real, operators.negate(context, value).imag)
    return context.call(np.conjugate, value)


def argsort(context: Context, a: Value, axis: Value = -1) -> Value:
    """np.argsort by the real and then the imaginary part; behind those without a NaN the ones with NaN as
    imaginary part, as real part, and as both."""
    call, found = context.call, complex_of(context, a)
    real, imag = (call(np.ravel, part) if axis is None else part for part in (found.real, found.imag))
    along = -1 if axis is None else axis
    kind = call(np.add, call(np.multiply, call(np.isnan, real), 2), call(np.isnan, imag))
    order = call(np.argsort, imag, axis=along)
    for key in (real, kind):
        finer = call(np.argsort, call(np.take_along_axis, key, order, along), axis=along)
        order = call(np.take_along_axis, order, finer, along)
    return order


def sort(context: Context, a: Value, axis: Value = -1) -> Value:
    """np.sort"""
    found = context.call(np.ravel, a) if axis is None else complex_of(context, a)
    return context.call(
        np.take_along_axis, found, argsort(context, found, axis), -1 if axis is None else axis
    )


def sort_in_place(context: Context, array: Value, axis: Value = -1) -> Value:
    """z.sort()"""
    assert isinstance(array, Complex)
    write_complex(context, "sort", array, sort(context, array, axis))
    return None


def add_at(ufunc: Callable[..., object]) -> StagedCall:
    """np.add.at and np.subtract.at: each part at the same places"""

    def staged(context: Context, a: Value, indices: Value, b: Value) -> Value:
        if not isinstance(a, Complex):
            raise ComplexRefused("a real array", describe(b), context.span, "give it a complex array")
        given = complex_of(context, b)
        for own, part in ((a.real, given.real), (a.imag, given.imag)):
            context.call(ufunc, own, indices, part)
        return None

    return staged


def where(context: Context, condition: Value, *choices: Value) -> Value:
    """np.where"""
    holds = operators.nonzero(context, condition) if is_complex(condition) else condition
    if len(choices) != 2 or not has_complex(list(choices)):
        return CALLS[np.where](context, holds, *choices)
    pairs = [complex_of(context, choice) for choice in choices]
    real = CALLS[np.where](context, holds, *(pair.real for pair in pairs))
    return together(context, real, CALLS[np.where](context, holds, *(pair.imag for pair in pairs)))


def is_close(context: Context, a: Value, b: Value, rtol: Value = 1e-05, atol: Value = 1e-08) -> Value:
    """np.isclose: |a - b| ≤ atol + rtol·|b|, or a = b"""
    distance = context.call(np.absolute, operators.binary(context, ast.Sub, a, b))
    size = context.call(np.absolute, b)
    limit = apply_prim(context, "add", atol, apply_prim(context, "mul", rtol, size))
    near = apply_prim(
        context, "and", apply_prim(context, "le", distance, limit), context.call(np.isfinite, b)
    )
    return apply_prim(context, "or", near, operators.compare(context, ast.Eq, a, b))


def all_close(context: Context, a: Value, b: Value, rtol: Value = 1e-05, atol: Value = 1e-08) -> Value:
    """np.allclose"""
    return context.call(np.all, is_close(context, a, b, rtol, atol))


def einsum(context: Context, subscripts: Value, *operands: Value, **kwargs: Value) -> Value:
    """np.einsum"""
    form = multilinear(CALLS[np.einsum], range(1, len(operands) + 1))
    return form(context, subscripts, *operands, **kwargs)


def norm(context: Context, x: Value, ord: Value = None, axis: Value = None, keepdims: Value = False) -> Value:
    """np.linalg.norm: of |z|, save for what is made of singular values and for the root of squares.

    That is √Σ(x² + y²), which is smooth where some z is 0, as |z| is not.
    """
    own = complex_of(context, x)
    rank = len(own.shape) if axis is None else len(axis) if isinstance(axis, tuple) else 1
    if ord is None or (rank == 1 and ord == 2) or (rank == 2 and ord in ("fro", "f")):
        squares = operators.over_real(context, x, formulas.square_of_size, "np.linalg.norm")
        total = context.call(np.sum, squares, axis=axis, keepdims=keepdims)
        return context.call(np.sqrt, total)
    if rank == 2:
        return matrix_norm(context, own, len(own.shape), ord, axis, keepdims)
    size = context.call(np.absolute, x)
    return context.call(np.linalg.norm, size, ord, axis=axis, keepdims=keepdims)


def condition(context: Context, x: Value, p: Value = None) -> Value:
    """np.linalg.cond, by singular values"""
    if p is not None and p not in (2, -2):
        raise ComplexRefused(f"`np.linalg.cond` with `p={p!r}`", describe(x), context.span)
    return CALLS[np.linalg.cond](context, x, p)


def spread(is_root: bool) -> StagedCall:
    """np.var and np.std: the mean of |z - mean|²"""

    def staged(
        context: Context, a: Value, axis: Value = None, *, ddof: Value = 0, keepdims: Value = False
    ) -> Value:
        centre = context.call(np.mean, a, axis=axis, keepdims=True)
        size = context.call(np.absolute, operators.binary(context, ast.Sub, a, centre))
        square = context.call(np.square, size)
        total = context.call(np.sum, square, axis=axis, keepdims=keepdims)
        ones = context.call(np.ones_like, square)
        count = context.call(np.sum, ones, axis=axis, keepdims=keepdims)
        found = apply_prim(context, "div", total, apply_prim(context, "sub", count, ddof, is_float=True))
        return context.call(np.sqrt, found) if is_root else found

    return staged


def appended(context: Context, arr: Value, values: Value, axis: Value = None) -> Value:
    """np.append"""
    return by_parts(CALLS[np.append], (0, 1))(context, arr, values, axis)


PAD_MODES = frozenset({"constant", "edge", "reflect", "symmetric", "wrap", "mean", "empty"})
"""Modes of np.pad that are linear."""


def padded(
    context: Context, array: Value, pad_width: Value, mode: Value = "constant", *, constant_values: Value = 0
) -> Value:
    """np.pad"""
    if mode not in PAD_MODES:
        raise ComplexRefused(f"`np.pad` with `mode={mode!r}`", describe(array), context.span)
    parts, fills = complex_of(context, array), [constant_values, 0.0]
    if has_complex(constant_values):
        fill = complex_of(context, constant_values)
        fills = [fill.real, fill.imag]
    halves: list[Value] = []
    for part, fill_value in zip((parts.real, parts.imag), fills, strict=True):
        extra = {"constant_values": fill_value} if mode == "constant" else {}
        halves.append(CALLS[np.pad](context, part, pad_width, mode, **extra))
    return together(context, *halves)


# ---------------------------------------------------------------------------- linear systems
def solve(context: Context, a: Value, b: Value) -> Value:
    """np.linalg.solve, by the real system of twice the size: [[X, -Y], [Y, X]] [u, v] = [p, q]"""
    left, right = complex_of(context, a), complex_of(context, b)
    if len(left.shape) != 2 or len(right.shape) not in (1, 2):
        reason = "a matrix and a vector or matrix are expected where numbers are complex"
        raise UnsupportedArgument("np.linalg.solve", reason, context.span)
    block = _block(context, left)
    stacked = context.call(np.concatenate, (right.real, right.imag))
    return _halves(context, left, context.call(np.linalg.solve, block, stacked))


def inverse(context: Context, a: Value) -> Value:
    """np.linalg.inv, by the inverse of the real matrix of twice the size"""
    matrix = complex_of(context, a)
    if len(matrix.shape) != 2:
        raise UnsupportedArgument(
            "np.linalg.inv", "one matrix is expected where numbers are complex", context.span
        )
    eye = context.call(np.eye, _rows_of(context, matrix))
    return solve(context, matrix, eye)


def exponential(context: Context, A: Value) -> Value:  # noqa: N803
    """scipy.linalg.expm, by the exponential of the real matrix of twice the size"""
    matrix = complex_of(context, A)
    if len(matrix.shape) != 2:
        raise UnsupportedArgument(
            "scipy.linalg.expm", "one matrix is expected where numbers are complex", context.span
        )
    found = as_array(context, context.call(scipy.linalg.expm, _block(context, matrix)))
    assert isinstance(found, Array)
    first = take(context, found, (slice(None), slice(None, _rows_of(context, matrix))))
    assert isinstance(first, Array)
    return _halves(context, matrix, first)


def _block(context: Context, matrix: Complex) -> Value:
    minus = context.call(np.negative, matrix.imag)
    top = context.call(np.concatenate, (matrix.real, minus), axis=1)
    low = context.call(np.concatenate, (matrix.imag, matrix.real), axis=1)
    return context.call(np.concatenate, (top, low))


def _halves(context: Context, matrix: Complex, stacked: Value) -> Value:
    rows, found = _rows_of(context, matrix), as_array(context, stacked)
    assert isinstance(found, Array)
    return together(context, *(take(context, found, part) for part in (slice(None, rows), slice(rows, None))))


def _rows_of(context: Context, matrix: Complex) -> Value:
    from_shape = CALLS[np.shape](context, matrix.real)
    assert isinstance(from_shape, tuple)
    return from_shape[0]
