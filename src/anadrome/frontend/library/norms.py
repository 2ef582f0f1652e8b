"""Norms of vectors and matrices, condition numbers and ranks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom
from anadrome.dtypes import BOOL, F64
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.arrays import as_array, atom
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library.common import axes_of, axis_of, smooth_root, static_flag
from anadrome.frontend.library.linear import MATRIX_HELP
from anadrome.frontend.library.reductions import Nest, over_axes
from anadrome.frontend.operators import apply_prim, map_elements, noted
from anadrome.frontend.values import Staged, Value

_NORM, _COND = "np.linalg.norm", "np.linalg.cond"
_SUMS = (1, -1, np.inf, -np.inf)
"""Orders of matrices that are the largest or smallest sum of magnitudes of a column (±1) or a row (±∞)."""


# ---------------------------------------------------------------------------- norms
def norm(context: Context, x: Value, ord: Value = None, axis: Value = None, keepdims: Value = False) -> Value:
    """np.linalg.norm: of vectors any order; of matrices Frobenius, nuclear, ±2, ±1 and ±∞"""
    found = as_array(context, x)
    rank = len(found.shape)
    if not rank:
        raise UnsupportedArgument(_NORM, "a number where an array is expected", context.span)
    if axis is None and ord is None:
        return _vector_norm(context, found, None, 2, keepdims)
    axes = axes_of(context, _NORM, axis, rank)
    if len(axes) == 1:
        return _vector_norm(context, found, axes, 2 if ord is None else ord, keepdims)
    if len(axes) != 2:
        raise UnsupportedArgument(_NORM, f"a norm over {len(axes)} dimensions", context.span)
    if ord is None or ord in ("fro", "f"):
        return _vector_norm(context, found, axes, 2, keepdims)
    numbers = found if found.dtype.is_float else as_array(context, found, F64)
    return matrix_norm(context, numbers, rank, ord, axis, keepdims)


def _vector_norm(
    context: Context, x: Value, axes: tuple[int, ...] | None, order: Value, keepdims: Value
) -> Value:
    dtype = as_array(context, x).dtype
    target = dtype if dtype.is_float else F64
    if isinstance(order, bool) or not isinstance(order, int | float):
        raise UnsupportedArgument(_NORM, f"the order {order!r}", context.span)
    exponent = float(order)

    def magnitude(inner: Builder, one: Atom, _: tuple[Atom, ...]) -> Atom:
        return inner.apply("abs", inner.convert(one, target))

    def square(inner: Builder, one: Atom, _: tuple[Atom, ...]) -> Atom:
        value = inner.convert(one, target)
        return inner.mul(value, value)

    def is_there(inner: Builder, one: Atom, _: tuple[Atom, ...]) -> Atom:
        return inner.convert(inner.convert(one, BOOL), target)

    def power(inner: Builder, one: Atom, _: tuple[Atom, ...]) -> Atom:
        value = magnitude(inner, one, _)
        return inner.apply("pow", value, inner.constant(exponent, value))

    def place(builder: Builder, nest: Nest) -> Atom:
        if exponent == 2.0:
            return nest.fold(builder, "add", square)
        if exponent in (np.inf, -np.inf):
            return nest.fold(builder, "max" if exponent > 0 else "min", magnitude)
        if exponent in (0.0, 1.0):
            return nest.fold(builder, "add", magnitude if exponent else is_there)
        total = nest.fold(builder, "add", power)
        return builder.apply("pow", total, builder.constant(1.0 / exponent, total))

    is_checked = exponent in (np.inf, -np.inf)
    found = over_axes(context, _NORM, x, axes, keepdims, place, is_checked)
    return _length(context, found) if exponent == 2.0 else found


def _length(context: Context, square: Staged) -> Staged:
    """√s of a sum of squares s; its derivative ds / 2√s is 0 where all summands are 0."""
    squares = [atom(context, square)]

    def root(builder: Builder, scalars: tuple[Atom, ...]) -> Atom:
        (total,) = scalars
        return smooth_root(builder, total)

    return noted(context, map_elements(context, squares, root, _NORM), squares, is_root=True)


def vector_norm(
    context: Context, x: Value, *, axis: Value = None, keepdims: Value = False, ord: Value = 2
) -> Value:
    """np.linalg.vector_norm: over the named axes, as if they were one; a number is a vector of one"""
    found = as_array(context, x)
    axes = axes_of(context, "np.linalg.vector_norm", axis, len(found.shape))
    if found.shape and not axes:
        raise UnsupportedArgument("np.linalg.vector_norm", "a norm over no axes", context.span)
    return _vector_norm(context, found, axes, ord, keepdims)


def norm_of_matrices(context: Context, x: Value, *, keepdims: Value = False, ord: Value = "fro") -> Value:
    """np.linalg.matrix_norm: of the matrices of a stack, which are its last two axes"""
    return context.call(np.linalg.norm, x, ord, (-2, -1), keepdims)


# ---------------------------------------------------------------------------- matrices
_OF_SINGULAR_VALUES = {"nuc": "add", 2: "max", -2: "min"}
_OF_SUMS = {1: (-2, "max"), -1: (-2, "min"), np.inf: (-1, "max"), -np.inf: (-1, "min")}
"""Order -> the axis along which magnitudes are added, and which of the sums is taken."""


def matrix_norm(context: Context, x: Value, rank: int, order: Value, axis: Value, keepdims: Value) -> Value:
    """The norm of this order over two axes of a real or complex array."""
    if isinstance(order, bool) or order not in (*_OF_SINGULAR_VALUES, *_OF_SUMS):
        help = "take `'fro'`, `'nuc'`, 1, 2 or np.inf, or the negative of one of the numbers"
        raise UnsupportedArgument(_NORM, f"the order {order!r} of a matrix", context.span, help)
    pair = axis if isinstance(axis, tuple | list) else (-2, -1)
    axes = [axis_of(context, _NORM, one, rank) for one in pair]
    matrices = context.call(np.moveaxis, x, axes, (-2, -1))
    if order in _OF_SINGULAR_VALUES:
        values = context.call(np.linalg.svd, matrices, compute_uv=False)
        found = _folded(context, values, _OF_SINGULAR_VALUES[order])
    else:
        along, operator = _OF_SUMS[order]  # type: ignore[index]
        sums = context.call(np.sum, context.call(np.absolute, matrices), axis=along)
        found = _folded(context, sums, operator)
    if static_flag(context, _NORM, "keepdims", keepdims):
        return context.call(np.expand_dims, found, tuple(sorted(axes)))
    return found


def _folded(context: Context, values: Value, operator: str, name: str = _NORM) -> Staged:
    """The values along the last dimension combined."""

    def place(builder: Builder, nest: Nest) -> Atom:
        return nest.fold(builder, operator, lambda inner, one, _: one)

    return over_axes(context, name, values, -1, False, place, operator != "add")


# ---------------------------------------------------------------------------- condition
def cond(context: Context, x: Value, p: Value = None) -> Value:
    """np.linalg.cond: the largest singular value over the smallest, or ‖A‖·‖A⁻¹‖ in the norm `p`

    It is infinite where the matrix is singular.
    """
    if len(context.call(np.shape, x)) < 2:  # type: ignore[arg-type]
        raise UnsupportedArgument(_COND, "a vector where a matrix is expected", context.span, MATRIX_HELP)
    if p is None or p in (2, -2):
        values = context.call(np.linalg.svd, x, compute_uv=False)
        largest, smallest = (_folded(context, values, operator, _COND) for operator in ("max", "min"))
        pair = (smallest, largest) if p == -2 else (largest, smallest)
        found = apply_prim(context, "div", *pair)
    else:
        found = _by_inverse(context, x, p)
    is_bad = context.call(np.any, context.call(np.isnan, x), axis=(-2, -1))
    is_nothing = apply_prim(
        context, "and", context.call(np.isnan, found), context.call(np.logical_not, is_bad)
    )
    return context.call(np.where, is_nothing, np.inf, found)


def _by_inverse(context: Context, x: Value, p: Value) -> Staged:
    """‖A‖·‖A⁻¹‖; NaN where the matrix is singular: the inverse of the identity is computed there instead."""
    sign = as_array(context, context.call(np.linalg.slogdet, x)[0])  # type: ignore[index]
    is_regular = as_array(context, context.call(np.not_equal, sign, 0.0))
    holds = context.call(np.expand_dims, is_regular, (-2, -1)) if is_regular.shape else is_regular
    eye = context.call(np.eye, context.call(np.shape, x)[-1], dtype=sign.dtype.numpy)  # type: ignore[index]
    inverse = context.call(np.linalg.inv, context.call(np.where, holds, x, eye))
    sizes = [context.call(np.linalg.norm, one, p, axis=(-2, -1)) for one in (x, inverse)]
    return as_array(context, context.call(np.where, is_regular, apply_prim(context, "mul", *sizes), np.nan))


def matrix_rank(context: Context, A: Value, tol: Value = None, *, rtol: Value = None) -> Value:  # noqa: N803
    """np.linalg.matrix_rank: how many singular values exceed `tol`, or `rtol` times the greatest one

    Where neither is given, `rtol` is max(m, n) times the precision of the type.
    """
    name, call = "np.linalg.matrix_rank", context.call
    shape = call(np.shape, A)
    assert isinstance(shape, tuple)
    if tol is not None and rtol is not None:
        raise UnsupportedArgument(name, "both `tol` and `rtol`", context.span, "give one of them")
    if len(shape) < 2:
        return call(int, call(np.any, call(np.not_equal, A, 0)))
    values = as_array(context, call(np.linalg.svd, A, compute_uv=False))
    if tol is None:
        least = np.finfo(np.float64 if values.dtype is F64 else np.float32).eps
        share = (
            call(np.multiply, call(np.maximum, *shape[-2:]), least) if rtol is None else _tall(context, rtol)
        )
        bound = call(np.multiply, call(np.max, values, axis=-1, keepdims=True, initial=0), share)
    else:
        bound = _tall(context, tol)
    return call(np.count_nonzero, call(np.greater, values, bound), axis=-1)


def _tall(context: Context, bound: Value) -> Value:
    return context.call(np.expand_dims, bound, -1)


CALLS: dict[Callable[..., object], StagedCall] = {
    np.linalg.norm: norm,
    np.linalg.vector_norm: vector_norm,
    np.linalg.matrix_norm: norm_of_matrices,
    np.linalg.cond: cond,
    np.linalg.matrix_rank: matrix_rank,
}
