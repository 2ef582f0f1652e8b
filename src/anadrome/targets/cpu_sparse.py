"""Solving sparse systems for compiled programs: values in memory become NumPy's arrays, and SuperLU's
factors solve.

A program solves with a matrix and in the return sweep with its transpose; so the factors of the last
matrices are kept until the call ends.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import scipy

from anadrome.library.record import NoResult
from anadrome.library.sparse import factored, solved
from anadrome.targets.cpu_signals import end_call

_SOLVE_TYPE = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 6, *[ctypes.c_int64] * 4)
"""The call takes the interpreter lock."""

KEPT = 4
"""The factors of how many matrices are kept in a call."""

Matrix = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any], int]
"""The stored values, their rows, their columns, and the size."""


class SparseSolver:
    """The function that programs call to solve, at `address`. It may be called from several threads."""

    def __init__(self) -> None:
        self._kept: dict[int, list[tuple[Matrix, scipy.sparse.linalg.SuperLU | None]]] = {}
        self._function = _SOLVE_TYPE(self._solve)
        self.address = ctypes.cast(self._function, ctypes.c_void_p).value

    def forget(self, frame: int) -> None:
        """The call with this frame has ended."""
        self._kept.pop(frame, None)

    def _solve(
        self,
        frame: int,
        data: int,
        rows: int,
        columns: int,
        right: int,
        out: int,
        k: int,
        n: int,
        m: int,
        size: int,
    ) -> int:
        try:
            number: Any = ctypes.c_double if size == 8 else ctypes.c_float
            matrix = (
                _array(data, number, (k,)),
                _array(rows, ctypes.c_int64, (k,)),
                _array(columns, ctypes.c_int64, (k,)),
                n,
            )
            if n:
                factors, is_transposed = self._factors(frame, matrix)
                _array(out, number, (n, m))[...] = solved(
                    factors, _array(right, number, (n, m)), is_transposed
                )
        except NoResult as error:
            return 1 + error.status
        except BaseException as error:  # compiled code ends the call, which raises it
            end_call(frame, error)
            return 0
        return 1

    def _factors(self, frame: int, matrix: Matrix) -> tuple[scipy.sparse.linalg.SuperLU | None, bool]:
        """Factors of the matrix, or of its transpose."""
        kept = self._kept.setdefault(frame, [])
        data, rows, columns, size = matrix
        for known, factors in kept:
            for one, is_transposed in ((matrix, False), ((data, columns, rows, size), True)):
                if _is_same(known, one):
                    return factors, is_transposed
        factors = factored(*matrix)
        own = (data.copy(), rows.copy(), columns.copy(), size)
        kept.append((own, factors))
        del kept[:-KEPT]
        return factors, False


def _is_same(one: Matrix, other: Matrix) -> bool:
    return one[3] == other[3] and all(
        left.dtype == right.dtype and np.array_equal(left, right)
        for left, right in zip(one[:3], other[:3], strict=True)
    )


def _array(address: int, kind: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """The memory of a program as an array."""
    if 0 in shape:
        return np.empty(shape, np.dtype(kind))
    return np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(kind)), shape)
