"""Pseudo-inverses and least squares: of full rank by QR, which is smooth, else by singular values.

Singular values decide the rank, and have no derivative there; only a matrix whose rank is not full is
differentiated through them: along matrices of that rank, since across ranks the results jump.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import Atom, Library, Size, Var, i64
from anadrome.dtypes import F64, I32, I64
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.arrays import atom, promote
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library.common import array_var, built
from anadrome.frontend.library.decompositions import float_matrix, short_side
from anadrome.frontend.sizes import agree, is_at_most, is_same_size, show_shape
from anadrome.frontend.structures import is_number
from anadrome.frontend.values import Scalar, Value


# ---------------------------------------------------------------------------- pseudo-inverse
def pinv(context: Context, a: Value, rcond: Value = None, *, rtol: Value = np._NoValue) -> Value:
    """np.linalg.pinv: of full rank R⁻¹·Qᵀ (of a wide matrix by its transpose), else V·S⁺·Uᵀ"""
    name = "np.linalg.pinv"
    var = float_matrix(context, name, a)
    share = _cut(context, name, var, rcond, rtol)
    short = short_side(context, var)

    def place(builder: Builder, indices: tuple[Var, ...]) -> Atom:
        matrix = builder.index(var, indices)
        assert isinstance(matrix, Var)
        _, values, _ = _singular(builder, matrix, short)
        return _inverted(context, builder, matrix, _counted(builder, values, share), None, share)

    return context.wrap(context.builder.build(var.type.shape[:-2], place))


def _cut(context: Context, name: str, var: Var, rcond: Value, rtol: Value) -> Atom:
    """The share of the largest singular value up to which others count as zero."""
    if rcond is not None and rtol is not np._NoValue:
        raise UnsupportedArgument(name, "both `rcond` and `rtol`", context.span, "give `rtol`")
    given = rcond if rcond is not None else rtol
    if given is np._NoValue:
        return number(1e-15, var.type.dtype)
    return _share(context, name, var, given)


def _share(context: Context, name: str, var: Var, given: Value) -> Atom:
    """The same as it is given; None means the longer side in units of the precision."""
    dtype = var.type.dtype
    if given is None:
        longer = context.builder.size("max", *var.type.shape[-2:])
        return context.builder.mul(context.builder.convert(longer, dtype), _precision(var))
    if isinstance(given, Scalar):
        return atom(context, given, dtype)
    if not is_number(given):
        raise UnsupportedArgument(name, "a cut-off that is no number", context.span)
    return number(float(given), dtype)  # type: ignore[arg-type]


def _precision(var: Var) -> Atom:
    return number(float(np.finfo(var.type.dtype.numpy_name).eps), var.type.dtype)


# ---------------------------------------------------------------------------- least squares
def lstsq(context: Context, a: Value, b: Value, rcond: Value = None) -> Value:
    """np.linalg.lstsq: the solution of least length, the sums of squares left over, rank and singular values

    As in NumPy there are no sums where the rank is less than the columns, or nothing can be left over.
    """
    name = "np.linalg.lstsq"
    dtype, _ = promote(context, (a, b), name)
    target = dtype if dtype.is_float else F64
    matrix, right = array_var(context, name, a, target), array_var(context, name, b, target)
    if matrix.type.rank != 2 or right.type.rank > 2:  # type: ignore[union-attr]
        raise UnsupportedArgument(name, "a stack of matrices", context.span, "go over it in a loop")
    shapes = show_shape(matrix.type.shape), show_shape(right.type.shape)
    (m, n), is_vector = matrix.type.shape, len(right.type.shape) == 1
    agree(context, right.type.shape[0], m, name, shapes)
    builder, columns = context.builder, i64(1) if is_vector else right.type.shape[1]
    right = builder.reshape(right, (m, columns))
    share = _share(context, name, matrix, rcond)
    if isinstance(rcond, Scalar):
        is_given = context.builder.apply("ge", share, number(0.0, target))
        share = context.builder.select(is_given, share, _precision(matrix))
    elif is_number(rcond) and rcond < 0:  # type: ignore[operator]
        share = _precision(matrix)
    short = short_side(context, matrix)
    _, values, _ = _singular(builder, matrix, short)
    rank = _counted(builder, values, share)
    found = _inverted(context, builder, matrix, rank, right, share)
    residuals = _residuals(context, matrix, right, found, rank)
    solution = builder.reshape(found, (n,)) if is_vector else found
    numbers = builder.convert(rank, I32)
    return tuple(context.wrap(one) for one in (solution, residuals, numbers, values))


def _residuals(context: Context, matrix: Var, right: Var, found: Var, rank: Atom) -> Atom:
    """Σ_i (b - A·x)_ij² for each column, where there is more than nothing left."""
    builder, (m, n) = context.builder, matrix.type.shape
    size: Size = i64(0)
    if not is_at_most(context, m, n):
        is_full = builder.apply("and", builder.apply("gt", m, n), builder.apply("eq", rank, n))
        chosen = builder.select(is_full, right.type.shape[1], i64(0))
        assert isinstance(chosen, Var)
        context.nonnegative.add(chosen)
        size = chosen
    product = builder.let_one(Library("matmul", (matrix, found), (False, False)))

    def column(inner: Builder, j: Var) -> Atom:
        def square(deeper: Builder, i: Var) -> Atom:
            left = deeper.sub(deeper.index(right, (i, j)), deeper.index(product, (i, j)))
            return deeper.mul(left, left)

        return inner.reduce("add", m, square)

    return builder.stack(size, column)


# ---------------------------------------------------------------------------- what both share
def _singular(builder: Builder, matrix: Var, short: Size) -> tuple[Var, ...]:
    """U, the singular values and Vᵀ."""
    room = builder.full((short,), number(0.0, matrix.type.dtype))
    return builder.let(Library("svd", (matrix, room)))


def _cutoff(builder: Builder, values: Var, share: Atom) -> Atom:
    largest = builder.reduce("max", values.type.shape[0], lambda inner, k: inner.index(values, (k,)))
    return builder.mul(share, largest)


def _counted(builder: Builder, values: Var, share: Atom) -> Var:
    """How many singular values do not count as zero: the rank."""
    cutoff = _cutoff(builder, values, share)

    def one(inner: Builder, k: Var) -> Atom:
        return inner.convert(inner.apply("gt", inner.index(values, (k,)), cutoff), I64)

    return builder.reduce("add", values.type.shape[0], one)


def _inverted(
    context: Context, builder: Builder, matrix: Var, rank: Var, right: Var | None, share: Atom
) -> Var:
    """The pseudo-inverse of a matrix, or that times the right-hand sides."""
    short, shape = short_side(context, matrix), matrix.type.shape
    is_tall, is_wide = (is_same_size(context, short, size) for size in reversed(shape))

    def tall(inner: Builder) -> tuple[Atom, ...]:
        return (_of_full_columns(inner, matrix, right),)

    def wide(inner: Builder) -> tuple[Atom, ...]:
        return (_of_full_rows(inner, matrix, right),)

    def of_full_rank(inner: Builder) -> tuple[Atom, ...]:
        if is_tall or is_wide:
            return tall(inner) if is_tall else wide(inner)
        return inner.branch(inner.apply("ge", *shape), tall, wide)

    def of_less_rank(inner: Builder) -> tuple[Atom, ...]:
        return (_of_less_rank(inner, matrix, short, share, right),)

    return builder.branch(builder.apply("eq", rank, short), of_full_rank, of_less_rank)[0]


def _transposed(builder: Builder, matrix: Var) -> Var:
    return built(builder, matrix.type.shape[::-1], lambda inner, at: inner.index(matrix, at[::-1]))


def _product(builder: Builder, left: Var, right: Var, is_left_turned: bool, is_right_turned: bool) -> Var:
    return builder.let_one(Library("matmul", (left, right), (is_left_turned, is_right_turned)))


def _of_full_columns(builder: Builder, matrix: Var, right: Var | None) -> Var:
    """R⁻¹·Qᵀ, or that times B"""
    q, r = builder.let(Library("qr", (matrix,)))
    turned = _transposed(builder, q) if right is None else _product(builder, q, right, True, False)
    return builder.let_one(Library("triangular_solve", (r, turned), (False, False)))


def _of_full_rows(builder: Builder, matrix: Var, right: Var | None) -> Var:
    """With Q·R = Aᵀ: (R⁻¹·Qᵀ)ᵀ, or Q·R⁻ᵀ·B"""
    if right is None:
        return _transposed(builder, _of_full_columns(builder, _transposed(builder, matrix), None))
    q, r = builder.let(Library("qr", (_transposed(builder, matrix),)))
    solved = builder.let_one(Library("triangular_solve", (r, right), (False, True)))
    return _product(builder, q, solved, False, False)


def _of_less_rank(builder: Builder, matrix: Var, short: Size, share: Atom, right: Var | None) -> Var:
    """V·S⁺·Uᵀ, or that times B"""
    u, values, vt = _singular(builder, matrix, short)
    cutoff, one = _cutoff(builder, values, share), number(1.0, matrix.type.dtype)

    def scaled(inner: Builder, at: tuple[Var, ...]) -> Atom:
        value, nothing = inner.index(values, at[:1]), number(0.0, matrix.type.dtype)
        return inner.branch(
            inner.apply("gt", value, cutoff),
            lambda branch: (branch.mul(branch.div(one, value), branch.index(vt, at)),),
            lambda branch: (nothing,),
        )[0]

    rows = built(builder, vt.type.shape, scaled)
    if right is None:
        return _product(builder, rows, u, True, True)
    return _product(builder, rows, _product(builder, u, right, True, False), True, False)


CALLS: dict[Callable[..., object], StagedCall] = {np.linalg.pinv: pinv, np.linalg.lstsq: lstsq}
