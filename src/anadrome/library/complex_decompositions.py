"""Eigenvalues of any matrix, and the decompositions of complex matrices.

A complex matrix is two real ones, its parts. An eigenvector, and a pair of singular vectors, is determined up
to a factor. `eig` and `complex_eig` give vectors of length 1 whose largest component is real, as LAPACK does.
LAPACK leaves the factor open in `complex_eigh` and `complex_svd`; there the first of the largest components
(up to rounding) of a vector, or of a column of u, is real and positive.
"""

from __future__ import annotations

import numpy as np

from anadrome.library.decompositions import NOT_CONVERGED, converged
from anadrome.library.record import Array, LibraryOperation, NoResult, signature
from anadrome.library.samples import apart, drawn

NOT_FOUND = "the eigenvalues of the matrix were not found"
ROUNDING = 8
"""Components that differ by so many units in the last place are equally large."""


# ---------------------------------------------------------------------------- meaning
def _complex(real: Array, imag: Array) -> Array:
    found = np.empty(real.shape, np.result_type(real.dtype, 1j))
    found.real, found.imag = real, imag
    return found


def _parts(*arrays: Array) -> tuple[Array, ...]:
    return tuple(np.ascontiguousarray(part) for array in arrays for part in (array.real, array.imag))


def _eig(matrix: Array) -> tuple[Array, ...]:
    if not np.isfinite(matrix).all():
        raise NoResult(1)
    return _parts(*converged(np.linalg.eig, matrix))


def _complex_eig(real: Array, imag: Array) -> tuple[Array, ...]:
    return _eig(_complex(real, imag))


def _phases(vectors: Array) -> Array:
    """For each column the number of size 1 that makes its largest component real and positive."""
    squares = vectors.real**2 + vectors.imag**2
    least = squares.max(axis=0, initial=0.0) * (1 - ROUNDING * np.finfo(squares.dtype).eps)
    columns = np.arange(vectors.shape[1])
    largest = vectors[(squares >= least).argmax(axis=0), columns] if vectors.size else vectors[:0].sum(axis=0)
    found: Array = largest.conj() / np.abs(largest)
    return found


def _complex_eigh(real: Array, imag: Array, lower: bool) -> tuple[Array, ...]:
    values, vectors = converged(np.linalg.eigh, _complex(real, imag), "L" if lower else "U")
    return values, *_parts(vectors * _phases(vectors))


def _complex_svd(real: Array, imag: Array, k: int) -> tuple[Array, ...]:
    u, s, vh = converged(np.linalg.svd, _complex(real, imag), full_matrices=False)
    phases = _phases(u)
    u_real, u_imag = _parts(u * phases)
    return u_real, u_imag, s, *_parts(phases.conj()[:, None] * vh)


# ---------------------------------------------------------------------------- samples
def _turning(random: np.random.Generator) -> Array:
    """A matrix with a pair of complex eigenvalues and two real ones, none close to another."""
    found = apart(random, 4, 4)
    found[:2, :2] = [[1.0, -2.0], [2.5, 1.5]]
    return found


def _two(random: np.random.Generator, *shape: int) -> tuple[Array, ...]:
    return apart(random, *shape), 0.3 * drawn(random, *shape)


# ---------------------------------------------------------------------------- rows
ROWS = (
    LibraryOperation(
        "eig",
        signature("matrix[n, n] -> values_real[n], values_imag[n], vectors_real[n, n], vectors_imag[n, n]"),
        numpy=_eig,
        work=lambda n: 25 * n**3,
        sample=lambda random: (_turning(random),),
        failure=NOT_FOUND,
        error="decomposition",
    ),
    LibraryOperation(
        "complex_eig",
        signature(
            "real[n, n], imag[n, n] -> values_real[n], values_imag[n], vectors_real[n, n], vectors_imag[n, n]"
        ),
        numpy=_complex_eig,
        work=lambda n: 100 * n**3,
        sample=lambda random: _two(random, 4, 4),
        failure=NOT_FOUND,
        error="decomposition",
    ),
    LibraryOperation(
        "complex_eigh",
        signature("real[n, n], imag[n, n] -> values[n], vectors_real[n, n], vectors_imag[n, n]"),
        numpy=_complex_eigh,
        work=lambda n: 36 * n**3,
        sample=lambda random: _two(random, 4, 4),
        attributes=("lower",),
        failure=NOT_CONVERGED,
        error="decomposition",
        triangle=("real", "imag"),
    ),
    LibraryOperation(
        "complex_svd",
        signature(
            "real[m, n], imag[m, n], room[k] -> "
            "u_real[m, k], u_imag[m, k], s[k], vh_real[k, n], vh_imag[k, n]"
        ),
        numpy=_complex_svd,
        work=lambda m, n, k: 56 * m * n * k,
        sample=lambda random: (*_two(random, 5, 3), np.zeros(3)),
        failure=NOT_CONVERGED,
        error="decomposition",
    ),
)
"""The imaginary part of the diagonal counts as zero in `complex_eigh`; complex_svd has k = min(m, n)."""
