"""Fourier transforms: every function in both modes to second order, many points, loops and batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import scipy.fft

import anadrome as ad
from anadrome.frontend.complex_numbers import cosine, fourier
from tests.derivatives.agreement import agree

RANDOM = np.random.default_rng(8)
NAMES = ("fft", "ifft", "irfft", "hfft", "fft2", "ifft2", "irfft2", "fftn", "ifftn", "irfftn")
OF_REAL_NAMES = ("rfft", "ihfft", "rfft2", "rfftn")
MOVING_NAMES = ("fftshift", "ifftshift")
FREQUENCIES = (np.fft.fftfreq, np.fft.rfftfreq, scipy.fft.fftfreq, scipy.fft.rfftfreq)
OF_COMPLEX = [getattr(module, name) for module in (np.fft, scipy.fft) for name in (*NAMES, *MOVING_NAMES)]
OF_REAL = [getattr(module, name) for module in (np.fft, scipy.fft) for name in OF_REAL_NAMES]
SHAPES = {"numpy": (4, 3), "scipy": (5, 6)}
"""The forms are the same for both modules."""
TRIGONOMETRIC = (scipy.fft.dct, scipy.fft.idct, scipy.fft.dst, scipy.fft.idst)
ROWS = (*OF_COMPLEX, *OF_REAL, *FREQUENCIES)
"""The functions that have a case here."""


def of_complex(functions: Sequence[Callable[..., Any]], x: Any, y: Any) -> Any:
    """Something nonlinear of the transforms of x + iy."""
    found = [function(x + 1j * y) for function in functions]
    return [(np.sum(one.real**3), np.sum(one.imag * one.real * np.arange(one.shape[-1]))) for one in found]


def of_real(functions: Sequence[Callable[..., Any]], x: Any) -> Any:
    """Something nonlinear of the transforms of x."""
    found = [function(x) for function in functions]
    return [(np.sum(one.real**3), np.sum(one.imag * one.real * np.arange(one.shape[-1]))) for one in found]


@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("module", SHAPES)
def test_of_complex_values(module: str, part: int) -> None:
    functions = [one for one in OF_COMPLEX if one.__module__.startswith(module)][part::3]
    x, y = RANDOM.normal(size=(2, *SHAPES[module]))
    agree(lambda x, y: of_complex(functions, x, y), x, y)


@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("module", SHAPES)
def test_of_real_values(module: str, part: int) -> None:
    functions = [one for one in (*OF_REAL, *OF_COMPLEX) if one.__module__.startswith(module)][part::3]
    agree(lambda x: of_real(functions, x), RANDOM.normal(size=SHAPES[module]))


@pytest.mark.parametrize("n", [4, 5])
def test_second_derivatives(n: int) -> None:
    def program(x: Any, y: Any) -> Any:
        half, whole = np.fft.rfft(x), np.fft.fft(x + 1j * y)
        values = np.fft.irfft(half * whole[: n // 2 + 1], n)
        back = np.fft.ifft(whole * whole)
        return np.sum(values**3) + np.sum(back.real * back.imag) + np.sum(half.real**2 * half.imag)

    x, y = RANDOM.normal(size=(2, n))
    agree(program, x, y, order=2)


@pytest.mark.parametrize("kind", [2, 3])
@pytest.mark.parametrize("n", [4, 19])
def test_cosine_and_sine_transforms(n: int, kind: int) -> None:
    def program(x: Any) -> Any:
        found = [function(x, kind, norm="ortho") for function in TRIGONOMETRIC]
        return [np.sum(one**3 * np.arange(len(one))) for one in found], scipy.fft.dct(x[1:], kind) ** 2

    agree(program, RANDOM.normal(size=n))


def test_frequencies() -> None:
    agree(
        lambda x, d: [function(len(x), d) * x[0] + function(9, d=2.0 * d)[1] for function in FREQUENCIES],
        RANDOM.normal(size=6),
        0.3,
    )


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_norms_and_numbers_of_points(norm: str, n: int) -> None:
    def program(x: Any) -> Any:
        half = np.fft.rfft(x, n, norm=norm)
        whole = np.fft.ifft(np.fft.fft(x, n, norm=norm) * half[0], n + 1, norm=norm)
        return np.fft.irfft(half, n, norm=norm) ** 2, np.abs(whole) ** 2

    agree(program, RANDOM.normal(size=5))


@pytest.mark.parametrize("n", [1, 2, 17, 1009, 4096, 65537])
def test_of_many_points(n: int) -> None:
    """d/dx ½ Σ |y_k|² = n·x for y = F·x (Parseval)."""
    x = RANDOM.normal(size=n)
    for transform in (np.fft.fft, np.fft.ifft):
        energy = ad.grad(lambda x, f=transform: 0.5 * np.sum(np.abs(f(x, norm="ortho")) ** 2))
        np.testing.assert_allclose(energy(x), x, atol=1e-12 * np.sqrt(n))
    back = ad.grad(lambda x: np.sum(np.fft.irfft(np.fft.rfft(x), len(x)) * x))
    np.testing.assert_allclose(back(x), 2 * x, atol=1e-12)


def test_single_precision() -> None:
    x = RANDOM.normal(size=40).astype(np.float32)
    found = ad.grad(lambda x: np.sum(np.abs(np.fft.rfft(x)) ** 2))(x)
    wanted = ad.grad(lambda x: np.sum(np.abs(np.fft.rfft(x)) ** 2))(x.astype(float))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-3)


def test_one_program_serves_every_size() -> None:
    compiled = ad.grad(lambda x: np.sum(np.fft.rfft(x).imag ** 2 * np.fft.rfft(x).real))
    for n in (20, 33, 64):
        x = RANDOM.normal(size=n)
        tangent = RANDOM.normal(size=n)
        shown = [np.fft.rfft(x + sign * 1e-6 * tangent) for sign in (1, -1)]
        high, low = (np.sum(one.imag**2 * one.real) for one in shown)
        np.testing.assert_allclose(compiled(x) @ tangent, (high - low) / 2e-6, rtol=1e-5)
    assert compiled.compilations == 1


def test_complex_arguments() -> None:
    """With w = F·z: grad Σ |w_k|² = 2n·conj(z), and the cotangent of z is F·(that of w), since Fᵀ = F."""
    for n in (5, 40):
        z, c = (real + 1j * imag for real, imag in RANDOM.normal(size=(2, 2, n)))
        assert np.array_equal(ad.jit(np.fft.fft)(z), np.fft.fft(z))
        found = ad.grad(lambda z: np.sum(np.abs(np.fft.fft(z)) ** 2))(z)
        np.testing.assert_allclose(found, 2 * n * z.conj(), atol=1e-11)
        np.testing.assert_allclose(ad.vjp(np.fft.fft, z)[1](c)[0], np.fft.fft(c), atol=1e-12)
        np.testing.assert_allclose(ad.vjp(np.fft.ifft, z)[1](c)[0], np.fft.ifft(c), atol=1e-12)
        np.testing.assert_allclose(ad.jvp(np.fft.fft, (z,), (c,))[1], np.fft.fft(c), atol=1e-12)
        slope = ad.jacfwd(np.fft.fft, holomorphic=True)(z)
        np.testing.assert_allclose(slope, np.fft.fft(np.eye(n)), atol=1e-12)
        single = ad.jit(np.fft.fft)(z.astype(np.complex64))
        assert single.dtype == np.complex64
        np.testing.assert_allclose(single, np.fft.fft(z), atol=1e-4)


def spectrum(x: Any) -> Any:
    found = np.fft.rfft(np.sin(x))
    return found.real**2 + found.imag


def test_several_directions_and_jacobians() -> None:
    for n in (6, 21):
        x = RANDOM.normal(size=n)
        waves = np.exp(-2j * np.pi * np.outer(np.arange(n // 2 + 1), np.arange(n)) / n) * np.cos(x)
        wanted = 2 * np.fft.rfft(np.sin(x)).real[:, None] * waves.real + waves.imag
        for mode in (ad.jacfwd, ad.jacrev):
            np.testing.assert_allclose(mode(spectrum)(x), wanted, atol=1e-12)
        hessian = ad.hessian(lambda x: np.sum(spectrum(x)))(x)
        np.testing.assert_allclose(hessian, ad.jacrev(ad.grad(lambda x: np.sum(spectrum(x))))(x), atol=1e-11)
        np.testing.assert_allclose(hessian, hessian.T, atol=1e-11)


def test_batches_and_linear_functions() -> None:
    rows = RANDOM.normal(size=(5, 21))
    found = ad.vmap(ad.grad(lambda x: np.sum(spectrum(x))))(rows)
    for row, one in zip(rows, found, strict=True):
        np.testing.assert_allclose(one, ad.grad(lambda x: np.sum(spectrum(x)))(row), atol=1e-11)
    value, push = ad.linearize(spectrum, rows[0])
    np.testing.assert_allclose(value, spectrum(rows[0]))
    np.testing.assert_allclose(push(rows[1]), ad.jvp(spectrum, (rows[0],), (rows[1],))[1], atol=1e-11)


def test_sparse_jacobians_keep_rows_apart() -> None:
    def rows(a: Any) -> Any:
        return np.fft.irfft(np.fft.rfft(a, axis=1) ** 2, a.shape[1], axis=1).reshape(-1)

    a = RANDOM.normal(size=(4, 18))
    found = ad.jacobian(rows, sparse=True)(a)
    assert found.nnz == 4 * 18 * 18
    dense = ad.jacrev(rows)(a).reshape(72, 72)
    np.testing.assert_allclose(found.toarray(), dense, atol=1e-11)


def test_parallel_rows() -> None:
    a = RANDOM.normal(size=(200, 96))

    def program(a: Any) -> Any:
        return np.sum(np.array([np.sum(spectrum(row) * row[:49]) for row in a]))

    threaded = ad.jit(ad.grad(program), config=ad.Config(threads=4))
    single = ad.jit(ad.grad(program), config=ad.Config(threads=1))
    np.testing.assert_allclose(threaded(a), single(a), rtol=1e-13)


def test_checkpointed_steps() -> None:
    def program(x: Any, n: int) -> Any:
        for _ in ad.range(n, checkpoint="sqrt"):
            x = np.fft.irfft(np.fft.rfft(x) * np.exp(-0.1 * np.arange(len(x) // 2 + 1)), len(x)) + np.sin(x)
        return np.sum(x**2)

    agree(program, RANDOM.normal(size=7), 5, order=2)


def test_every_transform_has_a_case() -> None:
    assert set(fourier.CALLS) == set(ROWS)
    assert set(cosine.CALLS) == set(TRIGONOMETRIC)
