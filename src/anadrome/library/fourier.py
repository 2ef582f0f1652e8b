"""Fourier transforms along the last dimension, not scaled, the real and the imaginary part apart.

With θ = 2π·jk/n:

    fourier:          y_k = Σ_j (real_j + i·imag_j)·e^(∓iθ), `backward` with e^(+iθ)
    fourier_of_real:  y_k = Σ_j values_j·e^(-iθ) for k = 0 … ⌊n/2⌋, which is as long as `room`
    fourier_to_real:  y_j = Σ_k c_k·e^(+iθ) for j = 0 … n - 1 with n that of `room`, where c_k is
                      real_k + i·imag_k for k ≤ ⌊n/2⌋, the conjugate of c_(n-k) beyond, and the imaginary
                      parts of c_0 and (n even) c_(n/2) count as zero
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from anadrome.library.record import Array, LibraryOperation, signature
from anadrome.library.samples import drawn


# ---------------------------------------------------------------------------- meaning
def _fourier(real: Array, imag: Array, backward: bool) -> tuple[Array, ...]:
    values = _joined(real, imag)
    return _parts(
        _transform(np.fft.ifft if backward else np.fft.fft, values, "forward" if backward else None)
    )


def _fourier_of_real(values: Array, half: int) -> tuple[Array, ...]:
    if not values.size:
        zeros = np.zeros((*values.shape[:-1], half), values.dtype)
        return zeros, zeros.copy()
    return _parts(_transform(np.fft.rfft, values, None))


def _fourier_to_real(real: Array, imag: Array, n: int) -> Array:
    shape = (*real.shape[:-1], n)
    if not np.prod(shape):
        return np.zeros(shape, real.dtype)
    return np.asarray(np.fft.irfft(_joined(real, imag), n, norm="forward"))


def _transform(function: Callable[..., Any], values: Array, norm: str | None) -> Array:
    """NumPy's transform, which refuses to be of no elements."""
    return np.asarray(function(values, norm=norm)) if values.size else values


def _joined(real: Array, imag: Array) -> Array:
    values = np.empty(real.shape, np.result_type(real.dtype, 1j))
    values.real, values.imag = real, imag
    return values


def _parts(values: Array) -> tuple[Array, ...]:
    return np.ascontiguousarray(values.real), np.ascontiguousarray(values.imag)


def _work(n: int) -> float:
    """5·n·log₂ n (Cooley and Tukey 1965), and one for each element."""
    return n * (1.0 + 5.0 * math.log2(max(n, 1)))


# ---------------------------------------------------------------------------- rows
ROWS = (
    LibraryOperation(
        "fourier",
        signature("real[..., n], imag[..., n] -> out_real[..., n], out_imag[..., n]"),
        numpy=_fourier,
        work=_work,
        sample=lambda random: (drawn(random, 2, 5), drawn(random, 2, 5)),
        attributes=("backward",),
        linear=("real imag",),
    ),
    LibraryOperation(
        "fourier_of_real",
        signature("values[..., n], room[half] -> out_real[..., half], out_imag[..., half]"),
        numpy=_fourier_of_real,
        work=lambda n, half: _work(n) / 2,
        sample=lambda random: (drawn(random, 2, 6), np.zeros(4)),
        linear=("values",),
    ),
    LibraryOperation(
        "fourier_to_real",
        signature("real[..., half], imag[..., half], room[n] -> out[..., n]"),
        numpy=_fourier_to_real,
        work=lambda n, half: _work(n) / 2,
        sample=lambda random: (drawn(random, 2, 3), drawn(random, 2, 3), np.zeros(5)),
        linear=("real imag",),
        order="n half",
    ),
)
