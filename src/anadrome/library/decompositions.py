"""QR, eigenvalues and singular values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from anadrome.library.record import Array, LibraryOperation, NoResult, signature
from anadrome.library.samples import apart, drawn

NOT_CONVERGED = "the iteration for the eigenvalues or singular values of the matrix did not converge"


# ---------------------------------------------------------------------------- meaning
def _qr(matrix: Array) -> tuple[Array, ...]:
    return tuple(np.linalg.qr(matrix))


def converged(function: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Array, ...]:
    """What an iterative function of NumPy gives."""
    try:
        return tuple(function(*args, **kwargs))
    except np.linalg.LinAlgError as error:
        raise NoResult(1) from error


def _eigh(matrix: Array, lower: bool) -> tuple[Array, ...]:
    return converged(np.linalg.eigh, matrix, "L" if lower else "U")


def _svd(matrix: Array, k: int) -> tuple[Array, ...]:
    return converged(np.linalg.svd, matrix, full_matrices=False)


# ---------------------------------------------------------------------------- rows
ROWS = (
    LibraryOperation(
        "qr",
        signature("matrix[m, n] -> q[m, n], r[n, n]"),
        numpy=_qr,
        work=lambda m, n: 4 * m * n * n,
        sample=lambda random: (drawn(random, 5, 3),),
    ),
    LibraryOperation(
        "eigh",
        signature("matrix[n, n] -> values[n], vectors[n, n]"),
        numpy=_eigh,
        work=lambda n: 9 * n**3,
        sample=lambda random: (apart(random, 4, 4),),
        attributes=("lower",),
        failure=NOT_CONVERGED,
        error="decomposition",
        triangle=("matrix",),
    ),
    LibraryOperation(
        "svd",
        signature("matrix[m, n], room[k] -> u[m, k], s[k], vt[k, n]"),
        numpy=_svd,
        work=lambda m, n, k: 14 * m * n * k,
        sample=lambda random: (apart(random, 5, 3), np.zeros(3)),
        failure=NOT_CONVERGED,
        error="decomposition",
    ),
)
"""QR has m ≥ n, and svd k = min(m, n)."""
