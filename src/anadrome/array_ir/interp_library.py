"""What the rows of `array_ir.library` mean on NumPy, and the work they count as."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg

from anadrome.errors import Span
from anadrome.errors.runtime import SingularMatrix

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class LibraryMeaning:
    """One row: the results on arrays and attributes, and the scalar operations of the usual algorithm."""

    run: Callable[..., Any]
    operations: Callable[..., float]


def run_library(
    operation: str, args: list[Array], attributes: tuple[bool | int, ...], span: Span | None
) -> Any:
    """The results of a library operation, in order; one that has none raises `SingularMatrix`."""
    try:
        found = LIBRARY_MEANING[operation].run(*args, *attributes)
    except np.linalg.LinAlgError as error:
        raise SingularMatrix(f"{operation}: {error}", span) from error
    return found if isinstance(found, tuple) else (found,)


def library_operations(operation: str, args: list[Array], attributes: tuple[bool | int, ...]) -> int:
    """How many scalar operations the call counts as."""
    return round(LIBRARY_MEANING[operation].operations(*args, *attributes))


def _matmul(left: Array, right: Array, transpose_left: bool, transpose_right: bool) -> Array:
    product = (left.T if transpose_left else left) @ (right.T if transpose_right else right)
    return np.ascontiguousarray(product)


def _matmul_operations(left: Array, right: Array, transpose_left: bool, transpose_right: bool) -> float:
    columns = int(right.shape[0 if transpose_right else 1])
    return 2.0 * left.size * columns


def _solve(matrix: Array, right: Array, transpose: bool) -> Array:
    return np.linalg.solve(matrix.T if transpose else matrix, right)


def _triangular_solve(matrix: Array, right: Array, lower: bool, transpose: bool) -> Array:
    if not matrix.size or not right.size:
        return right.copy()
    return scipy.linalg.solve_triangular(
        matrix, right, lower=bool(lower), trans=1 if transpose else 0, check_finite=False
    )


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


def _argsort(values: Array) -> Array:
    return np.argsort(values, kind="stable").astype(np.int64)


def _svd(matrix: Array, room: Array) -> tuple[Array, ...]:
    return tuple(np.linalg.svd(matrix, full_matrices=False))


def _fourier(real: Array, imag: Array, backward: bool) -> tuple[Array, ...]:
    values = _joined(real, imag)
    return _parts(
        _transform(np.fft.ifft if backward else np.fft.fft, values, "forward" if backward else None)
    )


def _fourier_of_real(values: Array, room: Array) -> tuple[Array, ...]:
    if not values.shape[-1]:
        zeros = np.zeros((*values.shape[:-1], len(room)), values.dtype)
        return zeros, zeros.copy()
    return _parts(_transform(np.fft.rfft, values, None))


def _fourier_to_real(real: Array, imag: Array, room: Array) -> Array:
    shape = (*real.shape[:-1], len(room))
    if not np.prod(shape):
        return np.zeros(shape, real.dtype)
    return np.asarray(np.fft.irfft(_joined(real, imag), len(room), norm="forward"))


def _transform(function: Callable[..., Any], values: Array, norm: str | None) -> Array:
    """NumPy's transform, which refuses to be of no elements."""
    return np.asarray(function(values, norm=norm)) if values.shape[-1] else values


def _joined(real: Array, imag: Array) -> Array:
    values = np.empty(real.shape, np.result_type(real.dtype, 1j))
    values.real, values.imag = real, imag
    return values


def _parts(values: Array) -> tuple[Array, ...]:
    return np.ascontiguousarray(values.real), np.ascontiguousarray(values.imag)


def _fourier_operations(size: int, n: int) -> float:
    """5·n·log₂ n for each row (Cooley and Tukey 1965), and one for each element."""
    return size * (1.0 + 5.0 * math.log2(max(n, 1)))


LIBRARY_MEANING: Mapping[str, LibraryMeaning] = {
    "matmul": LibraryMeaning(_matmul, _matmul_operations),
    "solve": LibraryMeaning(_solve, lambda a, b, t: len(a) ** 3 * 2 / 3 + 2 * a.size * b.shape[1]),
    "triangular_solve": LibraryMeaning(_triangular_solve, lambda a, b, lower, t: a.size * b.shape[1]),
    "inv": LibraryMeaning(np.linalg.inv, lambda a: 2 * len(a) ** 3),
    "det": LibraryMeaning(np.linalg.det, lambda a: len(a) ** 3 * 2 / 3),
    "cholesky": LibraryMeaning(np.linalg.cholesky, lambda a: len(a) ** 3 / 3),
    "cholesky_adjoint": LibraryMeaning(_cholesky_adjoint, lambda factor, adjoint: len(factor) ** 3 * 2 / 3),
    "slogdet": LibraryMeaning(lambda a: tuple(np.linalg.slogdet(a)), lambda a: len(a) ** 3 * 2 / 3),
    "qr": LibraryMeaning(lambda a: tuple(np.linalg.qr(a)), lambda a: 4 * a.size * a.shape[1]),
    "eigh": LibraryMeaning(lambda a: tuple(np.linalg.eigh(a)), lambda a: 9 * len(a) ** 3),
    "svd": LibraryMeaning(_svd, lambda a, room: 14 * a.size * len(room)),
    "fourier": LibraryMeaning(_fourier, lambda re, im, b: _fourier_operations(re.size, re.shape[-1])),
    "fourier_of_real": LibraryMeaning(
        _fourier_of_real, lambda a, room: _fourier_operations(a.size, a.shape[-1]) / 2
    ),
    "fourier_to_real": LibraryMeaning(
        _fourier_to_real, lambda re, im, room: _fourier_operations(re[..., 0].size * len(room), len(room)) / 2
    ),
    "argsort": LibraryMeaning(_argsort, lambda a: len(a) * max(1.0, np.log2(max(1, len(a))))),
}
"""Operation -> meaning; one row for each of `array_ir.library.LIBRARY`."""
