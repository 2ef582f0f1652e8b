"""SciPy's sparse matrices and those of programs (`sparse_program`): one made of the other, and its parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy

from anadrome.frontend import sparse_program
from anadrome.frontend.sparse_program import (
    Coo,
    Sparse,
    coo_array,
    coo_matrix,
    csc_array,
    csc_matrix,
    csr_array,
    csr_matrix,
)
from anadrome.frontend.tables import Late

_KINDS = (csr_array, csc_array, coo_array, csr_matrix, csc_matrix, coo_matrix)

KINDS: Late[type[Sparse]] = Late(
    "scipy.sparse", lambda: {getattr(scipy.sparse, kind.__name__): kind for kind in _KINDS}
)
"""A class of SciPy's -> that of programs."""

COO_OF: dict[type[Sparse], type[Sparse]] = {
    **dict.fromkeys((csr_array, csc_array, coo_array), coo_array),
    **dict.fromkeys((csr_matrix, csc_matrix, coo_matrix), coo_matrix),
}
"""A class -> that of the same family for entries in any order."""


def _outside(kind: type[Sparse]) -> Any:
    """The class of SciPy's."""
    return getattr(scipy.sparse, kind.__name__)


def is_sparse(value: object) -> bool:
    """Whether a value is a sparse matrix of SciPy's, of any class."""
    return KINDS.is_there and bool(sparse_program.is_sparse(value))


def kind_of(value: object) -> type[Sparse] | None:
    """The class that a program has for a matrix; None for others, and where there is room beside entries."""
    if isinstance(value, Sparse):
        return type(value)
    kind = KINDS.rows().get(type(value)) if KINDS.is_there else None
    if kind is None:
        return None
    matrix: Any = value
    is_plain = matrix.ndim == 2 and matrix.nnz == len(matrix.data)
    return kind if is_plain and (issubclass(kind, Coo) or len(matrix.indices) == len(matrix.data)) else None


def parts_of(matrix: Any, kind: type[Sparse]) -> tuple[Any, ...]:
    """The stored values, the two arrays of places, and the shape."""
    if isinstance(matrix, Sparse):
        return matrix.data, matrix._first, matrix._second, matrix._rows, matrix._columns
    return (*(getattr(matrix, name) for name in kind.names), *matrix.shape)


def part_names(kind: type[Sparse]) -> tuple[str, ...]:
    """How a user writes these parts, after the name of the matrix and a dot."""
    return (*kind.names, "shape[0]", "shape[1]")


def made_of(kind: type[Sparse], parts: Sequence[Any]) -> Any:
    """The matrix of these parts: SciPy's where they are NumPy's."""
    data, first, second, rows, columns = parts
    if not all(isinstance(part, np.ndarray) for part in (data, first, second)):
        made = object.__new__(kind)
        Sparse.__init__(made, *parts)
        return made
    inside = (data, (first, second)) if issubclass(kind, Coo) else (data, first, second)
    return _outside(kind)(inside, shape=(int(rows), int(columns)))


def example(kind: type[Sparse]) -> Any:
    """A matrix of SciPy's, of no entries."""
    return _outside(kind)((1, 1))


def sparse_help(value: object) -> str:
    """What to write where a sparse matrix cannot be; empty for other values."""
    if isinstance(value, Sparse):
        return "use the operators and methods of the matrix, such as `A @ x`, or `A.toarray()`"
    return "convert the sparse matrix to CSR first: `A.tocsr()`" if is_sparse(value) else ""
