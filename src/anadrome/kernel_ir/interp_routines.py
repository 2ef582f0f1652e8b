"""The meaning of the routines on NumPy, for the interpreter: buffers are flat arrays, changed in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

Meaning = Callable[..., None]

_LAPACK: Any = scipy.linalg.lapack


def _matrix(buffer: Any, rows: int, columns: int, is_transposed: bool = False) -> Any:
    if is_transposed:
        return buffer[: rows * columns].reshape(columns, rows).T
    return buffer[: rows * columns].reshape(rows, columns)


def _gemm(
    left: Any, right: Any, out: Any, rows: int, columns: int, inner: int, tl: bool, tr: bool, accumulate: bool
) -> None:
    product = _matrix(left, rows, inner, tl) @ _matrix(right, inner, columns, tr)
    result = _matrix(out, rows, columns)
    result[...] = result + product if accumulate else product


def _status_of_pivots(factors: Any) -> int:
    zeros = np.flatnonzero(np.diagonal(factors) == 0)
    return 0 if not len(zeros) else int(zeros[0]) + 1


def _solve(matrix: Any, right: Any, out: Any, status: Any, n: int, m: int, transpose: bool) -> None:
    square = _matrix(matrix, n, n)
    status[0] = 0 if n == 0 else _status_of_pivots(_factors(square))
    if status[0] == 0:
        system = square.T if transpose else square
        _matrix(out, n, m)[...] = np.linalg.solve(system, _matrix(right, n, m))


def _factors(square: Any) -> Any:
    """LU factors as LAPACK's getrf of the transpose leaves them."""
    getrf = _LAPACK.sgetrf if square.dtype == np.float32 else _LAPACK.dgetrf
    return getrf(square.T)[0]


def _triangular_solve(
    matrix: Any, right: Any, out: Any, status: Any, n: int, m: int, lower: bool, transpose: bool
) -> None:
    square = _matrix(matrix, n, n)
    status[0] = _status_of_pivots(square)
    if status[0] == 0 and n:
        system = square.T if transpose else square
        is_lower = lower is not transpose
        _matrix(out, n, m)[...] = scipy.linalg.solve_triangular(system, _matrix(right, n, m), lower=is_lower)


def _inv(matrix: Any, out: Any, status: Any, n: int) -> None:
    square = _matrix(matrix, n, n)
    status[0] = 0 if n == 0 else _status_of_pivots(_factors(square))
    if status[0] == 0:
        _matrix(out, n, n)[...] = np.linalg.inv(square)


def _det(matrix: Any, out: Any, n: int) -> None:
    out[0] = np.linalg.det(_matrix(matrix, n, n))


def _cholesky(matrix: Any, out: Any, status: Any, n: int) -> None:
    square = _matrix(matrix, n, n)
    potrf = _LAPACK.spotrf if square.dtype == np.float32 else _LAPACK.dpotrf
    factor, info = potrf(square, lower=1, clean=1) if n else (square, 0)
    status[0] = info
    if info == 0:
        _matrix(out, n, n)[...] = factor


def _cholesky_adjoint(factor: Any, adjoint: Any, out: Any, n: int) -> None:
    square, found = _matrix(factor, n, n), np.tril(_matrix(adjoint, n, n))
    with np.errstate(all="ignore"):
        for j in reversed(range(n)):
            below, diagonal = found[j + 1 :, j], square[j, j]
            below /= diagonal
            twice = (found[j, j] - below @ square[j + 1 :, j]) / diagonal
            found[j + 1 :, :j] -= np.outer(below, square[j, :j])
            found[j, :j] -= below @ square[j + 1 :, :j] + twice * square[j, :j]
            found[j, j] = twice / 2
    _matrix(out, n, n)[...] = found


def _argsort(values: Any, out: Any, n: int) -> None:
    out[:n] = np.argsort(values[:n], kind="stable")


def _slogdet(matrix: Any, sign: Any, logarithm: Any, n: int) -> None:
    sign[0], logarithm[0] = np.linalg.slogdet(_matrix(matrix, n, n))


def _qr(matrix: Any, q: Any, r: Any, m: int, n: int) -> None:
    _matrix(q, m, n)[...], _matrix(r, n, n)[...] = np.linalg.qr(_matrix(matrix, m, n))


def _eigh(matrix: Any, values: Any, vectors: Any, status: Any, n: int) -> None:
    status[0] = 0
    try:
        values[:n], _matrix(vectors, n, n)[...] = np.linalg.eigh(_matrix(matrix, n, n))
    except np.linalg.LinAlgError:
        status[0] = 1


def _svd(matrix: Any, u: Any, s: Any, vt: Any, status: Any, m: int, n: int, k: int) -> None:
    status[0] = 0
    try:
        _matrix(u, m, k)[...], s[:k], _matrix(vt, k, n)[...] = np.linalg.svd(
            _matrix(matrix, m, n), full_matrices=False
        )
    except np.linalg.LinAlgError:
        status[0] = 1


def _fourier(real: Any, imag: Any, out_real: Any, out_imag: Any, rows: int, n: int, backward: bool) -> None:
    if rows and n:
        values = _joined(_matrix(real, rows, n), _matrix(imag, rows, n))
        found = np.fft.ifft(values, norm="forward") if backward else np.fft.fft(values)
        _matrix(out_real, rows, n)[...], _matrix(out_imag, rows, n)[...] = found.real, found.imag


def _fourier_of_real(values: Any, out_real: Any, out_imag: Any, rows: int, n: int, half: int) -> None:
    found = np.fft.rfft(_matrix(values, rows, n)) if rows and n else np.zeros((rows, half), complex)
    _matrix(out_real, rows, half)[...], _matrix(out_imag, rows, half)[...] = found.real, found.imag


def _fourier_to_real(real: Any, imag: Any, out: Any, rows: int, n: int, half: int) -> None:
    if rows and n:
        values = _joined(_matrix(real, rows, half), _matrix(imag, rows, half))
        _matrix(out, rows, n)[...] = np.fft.irfft(values, n, norm="forward")


def _joined(real: Any, imag: Any) -> Any:
    values = np.empty(real.shape, np.result_type(real.dtype, 1j))
    values.real, values.imag = real, imag
    return values


MEANINGS: dict[str, Meaning] = {
    "gemm": _gemm,
    "solve": _solve,
    "triangular_solve": _triangular_solve,
    "inv": _inv,
    "det": _det,
    "cholesky": _cholesky,
    "cholesky_adjoint": _cholesky_adjoint,
    "slogdet": _slogdet,
    "qr": _qr,
    "eigh": _eigh,
    "svd": _svd,
    "fourier": _fourier,
    "fourier_of_real": _fourier_of_real,
    "fourier_to_real": _fourier_to_real,
    "argsort": _argsort,
}
"""Operation of the routine table -> what it does to buffers and values, in the row's order."""
