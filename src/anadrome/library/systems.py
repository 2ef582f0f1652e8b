"""Products of matrices, linear systems, determinants and Cholesky factors.

`cholesky_adjoint` takes a lower triangular factor L of A and the adjoint of L, and gives the adjoint of A; of
both only the lower triangle is read, of A the lower triangle is what has an adjoint.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from anadrome.library.record import Array, LibraryOperation, NoResult, signature
from anadrome.library.samples import definite, drawn, regular

SINGULAR = "the matrix is singular"
NOT_POSITIVE = "the matrix is not positive definite"


# ---------------------------------------------------------------------------- meaning
def _matmul(left: Array, right: Array, transpose_left: bool, transpose_right: bool) -> Array:
    product = (left.T if transpose_left else left) @ (right.T if transpose_right else right)
    return np.ascontiguousarray(product)


def _lapack(routine: str, matrix: Array) -> Any:
    """A routine for numbers of the type of a matrix."""
    return getattr(scipy.linalg.lapack, ("s" if matrix.dtype == np.float32 else "d") + routine)


def _check_pivots(factors: Array) -> None:
    """Where a pivot is zero there is no result; the routine reports the row of the first."""
    zeros = np.flatnonzero(np.diagonal(factors) == 0)
    if len(zeros):
        raise NoResult(int(zeros[0]) + 1)


def _check_regular(matrix: Array) -> None:
    """The same of the factors that LAPACK makes of the transpose, which is what our routines give it."""
    if len(matrix):
        _check_pivots(_lapack("getrf", matrix)(matrix.T)[0])


def _solve(matrix: Array, right: Array, transpose: bool) -> Array:
    _check_regular(matrix)
    return np.linalg.solve(matrix.T if transpose else matrix, right)


def _triangular_solve(matrix: Array, right: Array, lower: bool, transpose: bool) -> Array:
    _check_pivots(matrix)
    if not matrix.size or not right.size:
        return right.copy()
    found: Array = scipy.linalg.solve_triangular(
        matrix, right, lower=bool(lower), trans=1 if transpose else 0, check_finite=False
    )
    return found


def _inv(matrix: Array) -> Array:
    _check_regular(matrix)
    return np.linalg.inv(matrix)


def _cholesky(matrix: Array) -> Array:
    if not len(matrix):
        return matrix.copy()
    factor, info = _lapack("potrf", matrix)(matrix, lower=1, clean=1)
    if info:
        raise NoResult(info)
    found: Array = np.ascontiguousarray(factor)
    return found


def _cholesky_adjoint(factor: Array, adjoint: Array) -> Array:
    """The adjoint of the columns of L·Lᵀ from the last to the first (Murray 2016, §4)."""
    found = np.tril(adjoint)
    with np.errstate(all="ignore"):
        for j in reversed(range(len(factor))):
            below, rows = found[j + 1 :, j], factor[j + 1 :, :j]
            below /= factor[j, j]
            diagonal = (found[j, j] - below @ factor[j + 1 :, j]) / factor[j, j]
            found[j + 1 :, :j] -= np.outer(below, factor[j, :j])
            found[j, :j] -= below @ rows + diagonal * factor[j, :j]
            found[j, j] = diagonal / 2
    return found


def _slogdet(matrix: Array) -> tuple[Array, ...]:
    return tuple(np.linalg.slogdet(matrix))


# ---------------------------------------------------------------------------- rows
ROWS = (
    LibraryOperation(
        "matmul",
        signature("left[rows, inner], right[inner, columns] -> out[rows, columns]"),
        numpy=_matmul,
        work=lambda rows, columns, inner: 2 * rows * inner * columns,
        sample=lambda random: (drawn(random, 3, 4), drawn(random, 4, 2)),
        attributes=("transpose_left", "transpose_right"),
        linear=("left", "right"),
        apart="rows columns",
        plain="product",
        routine="gemm",
        order="rows columns inner",
        is_adding=True,
    ),
    LibraryOperation(
        "solve",
        signature("matrix[n, n], right[n, m] -> out[n, m]"),
        numpy=_solve,
        work=lambda n, m: n**3 * 2 / 3 + 2 * n * n * m,
        sample=lambda random: (regular(random, 4), drawn(random, 4, 2)),
        attributes=("transpose",),
        failure=SINGULAR,
        linear=("right",),
        apart="m",
    ),
    LibraryOperation(
        "triangular_solve",
        signature("matrix[n, n], right[n, m] -> out[n, m]"),
        numpy=_triangular_solve,
        work=lambda n, m: n * n * m,
        sample=lambda random: (regular(random, 4), drawn(random, 4, 2)),
        attributes=("lower", "transpose"),
        failure=SINGULAR,
        linear=("right",),
        apart="m",
        triangle=("matrix",),
    ),
    LibraryOperation(
        "inv",
        signature("matrix[n, n] -> out[n, n]"),
        numpy=_inv,
        work=lambda n: 2 * n**3,
        sample=lambda random: (regular(random, 4),),
        failure=SINGULAR,
    ),
    LibraryOperation(
        "det",
        signature("matrix[n, n] -> out"),
        numpy=np.linalg.det,
        work=lambda n: n**3 * 2 / 3,
        sample=lambda random: (regular(random, 4),),
    ),
    LibraryOperation(
        "slogdet",
        signature("matrix[n, n] -> sign, logarithm"),
        numpy=_slogdet,
        work=lambda n: n**3 * 2 / 3,
        sample=lambda random: (regular(random, 4),),
    ),
    LibraryOperation(
        "cholesky",
        signature("matrix[n, n] -> out[n, n]"),
        numpy=_cholesky,
        work=lambda n: n**3 / 3,
        sample=lambda random: (definite(random, 4),),
        failure=NOT_POSITIVE,
        triangle=("matrix",),
    ),
    LibraryOperation(
        "cholesky_adjoint",
        signature("factor[n, n], adjoint[n, n] -> out[n, n]"),
        numpy=_cholesky_adjoint,
        work=lambda n: n**3 * 2 / 3,
        sample=lambda random: (regular(random, 4), drawn(random, 4, 4)),
        linear=("adjoint",),
        triangle=("factor", "adjoint"),
    ),
)
