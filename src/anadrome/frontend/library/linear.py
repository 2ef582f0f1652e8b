"""Linear algebra: systems, inverses, determinants, factors, norms, and matrices by their diagonals."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import ArrayType, Atom, Const, Library, Size, Var, i64
from anadrome.dtypes import BOOL, F64, DType
from anadrome.errors.base import counted
from anadrome.errors.frontend import UnsuitableSize, UnsupportedArgument
from anadrome.frontend.arrays import as_array, describe, promote
from anadrome.frontend.context import Context, StagedCall, dtype_of
from anadrome.frontend.library.common import (
    array_var,
    axis_of,
    built,
    permuted,
    shape_argument,
    static_flag,
    static_int,
)
from anadrome.frontend.library.contraction import contract
from anadrome.frontend.library.reductions import Nest, over_axes, sum_type
from anadrome.frontend.operators import broadcast_shapes, element
from anadrome.frontend.sizes import (
    agree,
    clamp_size,
    is_same_size,
    multiply_sizes,
    retype,
    show_shape,
    size_value,
)
from anadrome.frontend.values import Array, Value
from anadrome.frontend.views import view_of

MATRIX_HELP = "use a matrix, an array of two dimensions; `x[:, None]` makes a column of a vector"


# ---------------------------------------------------------------------------- systems
def square_matrix(context: Context, name: str, value: Value, dtype: DType | None = None) -> Var:
    """A float operand whose last two sizes are one."""
    found = as_array(context, value)
    target = dtype or (found.dtype if found.dtype.is_float else F64)
    var = array_var(context, name, value, target)
    if var.type.shape[1:] == ():
        raise UnsupportedArgument(name, "a vector where a matrix is expected", context.span, MATRIX_HELP)
    rows, columns = var.type.shape[-2:]
    if isinstance(rows, Const) and isinstance(columns, Const) and rows.value != columns.value:
        reason = f"a matrix of shape {show_shape(var.type.shape)} is not square"
        help = "use a square matrix, or `np.linalg.lstsq` for least squares"
        raise UnsuitableSize(name, reason, context.span, help)
    words = f"{name}: a matrix of {{0}} rows and {{1}} columns is not square"
    size = agree(context, rows, columns, name, None, words)
    return retype(context, var, ArrayType(target, (*var.type.shape[:-2], size, size)), name)


def of_matrices(name: str, operation: str) -> StagedCall:
    """A library operation on one matrix, at every place of the leading dimensions."""

    def staged(context: Context, a: Value) -> Value:
        var = square_matrix(context, name, a)

        def place(builder: Builder, indices: tuple[Var, ...]) -> Atom:
            matrix = builder.index(var, indices)
            assert isinstance(matrix, Var)
            return builder.let_one(Library(operation, (matrix,)))

        return context.wrap(context.builder.build(var.type.shape[:-2], place))

    return staged


def cholesky(context: Context, a: Value, *, upper: Value = False) -> Value:
    """np.linalg.cholesky: L of A = L·Lᵀ, or its transpose; of A that triangle is read"""
    name = "np.linalg.cholesky"
    return triangular_factor(context, name, a, not static_flag(context, name, "upper", upper))


def triangular_factor(context: Context, name: str, a: Value, is_lower: bool) -> Value:
    """L of A = L·Lᵀ by the lower triangle, or Lᵀ by the upper one, with zeros in the other."""
    var = square_matrix(context, name, a)

    def place(builder: Builder, indices: tuple[Var, ...]) -> Atom:
        matrix = builder.index(var, indices)
        assert isinstance(matrix, Var)
        if is_lower:
            return builder.let_one(Library("cholesky", (matrix,)))
        factor = builder.let_one(Library("cholesky", (_turned(builder, matrix),)))
        return _turned(builder, factor)

    return context.wrap(context.builder.build(var.type.shape[:-2], place))


def _turned(builder: Builder, matrix: Var) -> Var:
    return built(builder, matrix.type.shape[::-1], lambda inner, at: inner.index(matrix, at[::-1]))


def solve(context: Context, a: Value, b: Value) -> Value:
    """np.linalg.solve: one right-hand side (a vector), or the columns of a matrix; stacks of both."""
    name = "np.linalg.solve"
    dtype, _ = promote(context, (a, b), name)
    target = dtype if all(as_array(context, one).dtype.is_float for one in (a, b)) else F64
    matrix = square_matrix(context, name, a, target)
    right = array_var(context, name, b, target)
    is_vector = right.type.rank == 1  # type: ignore[union-attr]
    size = matrix.type.shape[-1]
    rows = right.type.shape[0 if is_vector else -2]
    agree(context, rows, size, name, (show_shape(matrix.type.shape), show_shape(right.type.shape)))
    if is_vector:
        right = context.builder.reshape(right, (size, i64(1)))
    else:
        fitted = (*right.type.shape[:-2], size, right.type.shape[-1])
        right = retype(context, right, ArrayType(target, fitted), name)
    batch = broadcast_shapes(context, (matrix.type.shape[:-2], right.type.shape[:-2]), name)

    def place(builder: Builder, indices: tuple[Var, ...]) -> Atom:
        parts = [_row(builder, one, batch, indices) for one in (matrix, right)]
        return builder.let_one(Library("solve", tuple(parts), (False,)))

    result = context.builder.build(batch, place)
    assert isinstance(result, Var)
    return context.wrap(context.builder.reshape(result, (*batch, size)) if is_vector else result)


def solve_tensors(context: Context, a: Value, b: Value, axes: Value = None) -> Value:
    """np.linalg.tensorsolve: x of Σ a[i.., j..] x[j..] = b[i..]; the named axes stand last"""
    name, call, matrix = "np.linalg.tensorsolve", context.call, as_array(context, a)
    right, rank = as_array(context, b), len(matrix.shape)
    order = list(range(rank))
    for one in axes_in_order(context, name, axes):
        along = axis_of(context, name, one, rank)
        order.remove(along)
        order.append(along)
    if len(right.shape) >= rank:
        reason = f"{describe(a)} and {describe(b)}"
        raise UnsupportedArgument(name, reason, context.span, "give `a` more dimensions than `b`")
    turned = as_array(context, call(np.transpose, matrix, order))
    shape = tuple(size_value(context, size) for size in turned.shape[len(right.shape) :])
    count = size_value(context, multiply_sizes(context, turned.shape[len(right.shape) :]))
    found = solve(context, call(np.reshape, turned, (count, count)), call(np.ravel, right))
    return call(np.reshape, found, shape)


def axes_in_order(context: Context, name: str, axes: Value) -> Sequence[Value]:
    """Axes as they are given, one after the other; None names none."""
    if axes is None:
        return ()
    if not isinstance(axes, tuple | list):
        raise UnsupportedArgument(name, f"axes={describe(axes)}", context.span, "give a tuple of axes")
    return axes


def inverse_of_tensor(context: Context, a: Value, ind: Value = 2) -> Value:
    """np.linalg.tensorinv: the inverse of the matrix whose rows the first `ind` dimensions count"""
    name, call, found = "np.linalg.tensorinv", context.call, as_array(context, a)
    count = static_int(context, name, "ind", ind)
    if count <= 0:
        raise UnsupportedArgument(name, f"ind={count}", context.span, "give 1 or more")
    rows = size_value(context, multiply_sizes(context, found.shape[count:]))
    inverse = call(np.linalg.inv, call(np.reshape, found, (rows, -1)))
    shape = [size_value(context, size) for size in (*found.shape[count:], *found.shape[:count])]
    return call(np.reshape, inverse, tuple(shape))


def _row(builder: Builder, operand: Var, batch: tuple[Size, ...], indices: tuple[Var, ...]) -> Var:
    """The matrix of a stack that meets `indices` of the broadcast leading dimensions."""
    own = operand.type.shape[:-2]
    skipped = len(batch) - len(own)
    at = [i64(0) if size == i64(1) else index for size, index in zip(own, indices[skipped:], strict=True)]
    found = builder.index(operand, at)
    assert isinstance(found, Var)
    return found


# ---------------------------------------------------------------------------- diagonals
def diagonal_length(context: Context, rows: Size, columns: Size, offset: int) -> Size:
    """How many elements the diagonal `offset` steps right of the main one has."""
    if not offset and is_same_size(context, rows, columns):
        return columns
    builder = context.builder
    left = builder.size("add", rows, i64(offset)) if offset < 0 else rows
    right = builder.size("sub", columns, i64(offset)) if offset > 0 else columns
    return clamp_size(context, builder.size("min", left, right))


def diagonal(context: Context, a: Value, offset: Value = 0, axis1: Value = 0, axis2: Value = 1) -> Value:
    """np.diagonal: the elements a[i, i + offset] of two axes along a new last one; a read-only view"""
    name = "np.diagonal"
    found = as_array(context, a)
    rank = len(found.shape)
    one, two = axis_of(context, name, axis1, rank), axis_of(context, name, axis2, rank)
    if one == two:
        raise UnsupportedArgument(name, "`axis1` and `axis2` are one axis", context.span)
    assert isinstance(found, Array)
    shift = static_int(context, name, "offset", offset)
    shape = found.shape
    others = [axis for axis in range(rank) if axis not in (one, two)]
    length = diagonal_length(context, shape[one], shape[two], shift)

    def at(builder: Builder, indices: tuple[Atom, ...]) -> list[Atom]:
        places: dict[int, Atom] = dict(zip(others, indices, strict=False))
        places[one] = builder.apply("add", indices[-1], i64(max(-shift, 0)))
        places[two] = builder.apply("add", indices[-1], i64(max(shift, 0)))
        return [places[axis] for axis in range(rank)]

    return view_of(context, found, [*(shape[axis] for axis in others), length], at, is_writable=False)


def trace(context: Context, a: Value, offset: Value = 0, axis1: Value = 0, axis2: Value = 1) -> Value:
    """np.trace: the sum of a diagonal"""
    found = diagonal(context, a, offset, axis1, axis2)
    target = sum_type(as_array(context, found).dtype)

    def place(builder: Builder, nest: Nest) -> Atom:
        return nest.fold(builder, "add", lambda inner, one, _: inner.convert(one, target))

    return over_axes(context, "np.trace", found, -1, False, place)


def diag(context: Context, v: Value, k: Value = 0) -> Value:
    """np.diag: the diagonal of a matrix, or the matrix of a diagonal."""
    var = array_var(context, "np.diag", v)
    if len(var.type.shape) == 2:
        return diagonal(context, v, k)
    if len(var.type.shape) != 1:
        raise UnsupportedArgument(
            "np.diag", f"an array of {counted(len(var.type.shape), 'dimension')}", context.span
        )
    shift = static_int(context, "np.diag", "k", k)
    size = context.builder.size("add", var.type.shape[0], i64(abs(shift)))
    zero = number(0, var.type.dtype)

    def place(builder: Builder, indices: tuple[Var, ...]) -> Atom:
        row, column = indices
        is_on = builder.apply("eq", builder.apply("add", row, i64(shift)), column)
        at = row if shift >= 0 else column
        return builder.branch(is_on, lambda inner: (inner.index(var, (at,)),), lambda inner: (zero,))[0]

    return context.wrap(built(context.builder, (size, size), place))


def diagonal_matrix(context: Context, v: Value, k: Value = 0) -> Value:
    """np.diagflat: the matrix whose diagonal the elements are, in row-major order"""
    return diag(context, context.call(np.ravel, v), k)


def of_last_axes(function: Callable[..., object]) -> StagedCall:
    """np.linalg.diagonal, np.linalg.trace: of the matrices of a stack, which are its last two axes"""

    def staged(context: Context, x: Value, *, offset: Value = 0) -> Value:
        return context.call(function, x, offset=offset, axis1=-2, axis2=-1)

    return staged


def triangle(name: str, order: str) -> StagedCall:
    """np.tril, np.triu: the elements on one side of a diagonal, zeros elsewhere"""

    def staged(context: Context, m: Value, k: Value = 0) -> Value:
        var = array_var(context, name, m)
        if len(var.type.shape) < 2:
            raise UnsupportedArgument(name, "a vector where a matrix is expected", context.span, MATRIX_HELP)
        shift = static_int(context, name, "k", k)
        zero = number(0, var.type.dtype)

        def place(builder: Builder, indices: tuple[Var, ...]) -> Atom:
            is_kept = builder.apply(order, indices[-1], builder.apply("add", indices[-2], i64(shift)))
            return builder.select(is_kept, builder.index(var, indices), zero)

        return context.wrap(built(context.builder, var.type.shape, place))

    return staged


def eye(
    context: Context,
    N: Value,  # noqa: N803
    M: Value = None,  # noqa: N803
    k: Value = 0,
    dtype: Value = float,
) -> Value:
    """np.eye: ones on one diagonal"""
    target = dtype_of(dtype, context.span)
    rows, columns = shape_argument(context, "np.eye", (N, N if M is None else M))
    shift = static_int(context, "np.eye", "k", k)

    def place(builder: Builder, indices: tuple[Var, ...]) -> Atom:
        row, column = indices
        is_on = builder.apply("eq", builder.apply("add", row, i64(shift)), column)
        return builder.convert(is_on, target)

    return context.wrap(built(context.builder, (rows, columns), place))


def identity(context: Context, n: Value, dtype: Value = float) -> Value:
    """np.identity"""
    return eye(context, n, None, 0, float if dtype is None else dtype)


# ---------------------------------------------------------------------------- products
def cross(context: Context, a: Value, b: Value) -> Value:
    """np.cross of 3-vectors along the last axis: c_k = a_{k+1}·b_{k+2} - a_{k+2}·b_{k+1}, modulo 3"""
    left, right = array_var(context, "np.cross", a), array_var(context, "np.cross", b)
    dtype, _ = promote(context, (context.wrap(left), context.wrap(right)), "np.cross")
    if dtype is BOOL or any(one.type.shape[-1] != i64(3) for one in (left, right)):
        raise UnsupportedArgument(
            "np.cross", "anything but vectors of 3 numbers along the last axis", context.span
        )
    shape = broadcast_shapes(context, (left.type.shape, right.type.shape), "np.cross")

    def place(builder: Builder, indices: tuple[Var, ...]) -> Atom:
        def at(operand: Var, k: int) -> Atom:
            return builder.convert(element(builder, operand, shape, (*indices, i64(k % 3))), dtype)

        def component(k: int) -> Atom:
            ahead = builder.mul(at(left, k + 1), at(right, k + 2))
            return builder.sub(ahead, builder.mul(at(left, k + 2), at(right, k + 1)))

        return builder.literal([component(k) for k in range(3)])

    return context.wrap(built_rows(context.builder, shape[:-1], place))


def cross_along(context: Context, x1: Value, x2: Value, *, axis: Value = -1) -> Value:
    """np.linalg.cross: of 3-vectors along an axis of both"""
    moved = [context.call(np.moveaxis, one, axis, -1) for one in (x1, x2)]
    return context.call(np.moveaxis, cross(context, *moved), -1, axis)


def built_rows(
    builder: Builder, shape: tuple[Size, ...], place: Callable[[Builder, tuple[Var, ...]], Atom]
) -> Var:
    """The array of rows `place(inner, indices)`, the row itself for shape ()."""
    result = builder.build(shape, place)
    assert isinstance(result, Var)
    return result


def kron(context: Context, a: Value, b: Value) -> Value:
    """np.kron: blocks a[i, j, …]·b; the one of fewer dimensions has ones in front"""
    parts = [as_array(context, one) for one in (a, b)]
    rank = max(len(one.shape) for one in parts)
    if not rank:
        return context.call(np.multiply, *parts)
    builder = context.builder
    left, right = (
        builder.reshape(
            array_var(context, "np.kron", context.call(np.atleast_1d, one)),
            (*[i64(1)] * (rank - len(one.shape)), *one.shape),
        )
        for one in parts
    )
    first, second = (tuple(f"{side}{axis}" for axis in range(rank)) for side in "ab")
    product = contract(
        context, "np.kron", (context.wrap(left), context.wrap(right)), (first, second), (*first, *second)
    )
    order = [side * rank + axis for axis in range(rank) for side in (0, 1)]
    var = permuted(builder, array_var(context, "np.kron", product), order)
    shape = [builder.size("mul", *sizes) for sizes in zip(left.type.shape, right.type.shape, strict=True)]
    return context.wrap(builder.reshape(var, shape))


CALLS: dict[Callable[..., object], StagedCall] = {
    np.linalg.solve: solve,
    np.linalg.inv: of_matrices("np.linalg.inv", "inv"),
    np.linalg.det: of_matrices("np.linalg.det", "det"),
    np.linalg.cholesky: cholesky,
    np.linalg.tensorsolve: solve_tensors,
    np.linalg.tensorinv: inverse_of_tensor,
    np.trace: trace,
    np.diag: diag,
    np.diagonal: diagonal,
    np.diagflat: diagonal_matrix,
    np.linalg.diagonal: of_last_axes(np.diagonal),
    np.linalg.trace: of_last_axes(np.trace),
    np.tril: triangle("np.tril", "le"),
    np.triu: triangle("np.triu", "ge"),
    np.eye: eye,
    np.identity: identity,
    np.cross: cross,
    np.linalg.cross: cross_along,
    np.kron: kron,
}

METHODS: dict[str, StagedCall] = {"trace": trace, "diagonal": diagonal}
