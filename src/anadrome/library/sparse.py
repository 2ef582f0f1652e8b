"""Sparse linear systems, by SuperLU.

A matrix is its stored entries: values, rows and columns. Entries of one place add up; there is no order.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import scipy

from anadrome.library.record import Array, LibraryOperation, NoResult, signature
from anadrome.library.samples import drawn

SINGULAR = "the sparse matrix is singular"


def factored(data: Array, rows: Array, columns: Array, size: int) -> scipy.sparse.linalg.SuperLU | None:
    """The factors of a square matrix; None where a number is not finite, so that every solution is NaN.

    Raises `NoResult` where the matrix is singular, and `ValueError` where an entry is outside of it.
    """
    matrix = scipy.sparse.coo_array((data, (rows, columns)), shape=(size, size)).tocsc()
    if not np.isfinite(matrix.data).all():
        return None
    try:
        found: scipy.sparse.linalg.SuperLU = importlib.import_module("scipy.sparse.linalg").splu(matrix)
        return found
    except RuntimeError as error:
        if "singular" in str(error):
            raise NoResult(1) from None
        raise


def solved(factors: scipy.sparse.linalg.SuperLU | None, right: Array, is_transposed: bool) -> Array:
    """A⁻¹·B or A⁻ᵀ·B"""
    if factors is None:
        return np.full_like(right, np.nan)
    either: Any = factors  # the stubs know no `trans`
    found: Array = either.solve(right, "T" if is_transposed else "N")
    return found


def _sparse_solve(data: Array, rows: Array, columns: Array, right: Array) -> Array:
    if not len(right):
        return right.copy()
    return np.ascontiguousarray(solved(factored(data, rows, columns, len(right)), right, False))


def _sample(random: np.random.Generator) -> tuple[Array, ...]:
    """Five unknowns; two entries are of one place."""
    rows = np.array([0, 1, 2, 3, 4, 0, 3, 1, 4, 1])
    columns = np.array([0, 1, 2, 3, 4, 2, 0, 4, 3, 4])
    data = np.concatenate([3.0 + drawn(random, 5) ** 2, drawn(random, 5)])
    return data, rows, columns, drawn(random, 5, 2)


ROWS = (
    LibraryOperation(
        "sparse_solve",
        signature("data[k], rows[k]:i64, columns[k]:i64, right[n, m] -> out[n, m]"),
        numpy=_sparse_solve,
        work=lambda k, n, m: 1 + 10.0 * (k + n) * (1 + m),
        sample=_sample,
        failure=SINGULAR,
        linear=("right",),
        apart="m",
    ),
)
