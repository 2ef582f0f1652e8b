"""Eigenvalues of any matrix, and decompositions of complex ones: NumPy's values, derivatives to second order.

Eigenvectors of `eig` are NumPy's, of length 1 with the largest component real. Of Hermitian matrices and of
singular vectors the factor of size 1 is left open by LAPACK; here the largest component is real and positive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anadrome as ad
from tests.derivatives.agreement import agree

RANDOM = np.random.default_rng(31)


def turning(count: int) -> np.ndarray:
    """A real matrix some of whose eigenvalues are complex, none close to another."""
    matrix = 0.3 * RANDOM.normal(size=(count, count)) / np.sqrt(count) + np.diag(np.arange(1.0, count + 1))
    matrix[:2, :2] = [[1.0, -2.0], [2.5, 1.5]]
    return matrix


def complex_normal(*shape: int) -> np.ndarray:
    return RANDOM.normal(size=shape) + 1j * RANDOM.normal(size=shape)


def eigenvalues_and_vectors(a):
    values, vectors = np.linalg.eig(a)
    return values, vectors


def function_of_a_matrix(a):
    found = np.linalg.eig(a)
    return (found.eigenvectors * np.sin(found.eigenvalues)[..., None, :]) @ np.linalg.inv(found.eigenvectors)


def spectral_radius(a):
    return np.max(np.abs(np.linalg.eigvals(a)))


def symmetric_functions(a):
    values = np.linalg.eigvals(a)
    return np.sum(values), np.prod(values / len(values)), np.sum(np.sin(values))


# ---------------------------------------------------------------------------- eigenvalues of any matrix
@pytest.mark.parametrize(
    "function", [eigenvalues_and_vectors, function_of_a_matrix, spectral_radius, symmetric_functions]
)
def test_of_any_matrix(function: Callable[..., Any]) -> None:
    for matrix in (turning(3), complex_normal(3, 3)):
        agree(function, matrix)
    if function is not eigenvalues_and_vectors:  # their order and signs change with the matrix
        agree(function, turning(18), rtol=1e-5)


def test_of_stacks() -> None:
    agree(eigenvalues_and_vectors, np.stack([turning(3), turning(3)]))
    agree(eigenvalues_and_vectors, complex_normal(2, 3, 3))


@pytest.mark.parametrize("count", [1, 2, 5, 40])
def test_the_results_are_numpy_s(count: int) -> None:
    compiled = ad.jit(lambda a: np.linalg.eig(a))
    alone = ad.jit(lambda a: np.linalg.eigvals(a))
    for matrix in (RANDOM.normal(size=(count, count)), complex_normal(count, count), np.eye(count)):
        values, vectors = compiled(matrix)
        wanted_values, wanted = np.linalg.eig(matrix)
        assert values.dtype == vectors.dtype == np.complex128
        np.testing.assert_allclose(values, wanted_values, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(vectors, wanted, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(alone(matrix), values)


@pytest.mark.parametrize("kind", [np.float32, np.complex64])
def test_single_precision(kind: type) -> None:
    matrix = turning(6).astype(kind)
    values, vectors = ad.jit(lambda a: np.linalg.eig(a))(matrix)
    assert values.dtype == vectors.dtype == np.complex64
    np.testing.assert_allclose(np.sort(values), np.sort(np.linalg.eigvals(matrix)), rtol=1e-4)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, rtol=1e-3, atol=1e-4)


def test_one_program_serves_real_and_complex_eigenvalues() -> None:
    compiled = ad.jit(lambda a: np.linalg.eigvals(a))
    np.testing.assert_allclose(compiled(np.array([[2.0, 1.0], [0.0, 3.0]])), [2.0, 3.0])
    np.testing.assert_allclose(compiled(np.array([[0.0, -1.0], [1.0, 0.0]])), [1j, -1j], atol=1e-15)
    assert compiled.compilations == 1


def test_equal_eigenvalues_have_a_sum() -> None:
    """Where eigenvectors span all there is, a function of the eigenvalues alone asks for no gaps."""
    matrix = np.diag([1.0, 2.0, 2.0])
    slopes = ad.grad(lambda a: np.sum(np.linalg.eigvals(a) ** 2).real)(matrix)
    np.testing.assert_allclose(slopes, 2 * matrix, atol=1e-12)


def test_vectors_of_equal_eigenvalues_have_no_derivative() -> None:
    weights = np.arange(9.0).reshape(3, 3)
    slopes = ad.grad(lambda a: np.sum(np.linalg.eig(a)[1].real * weights))(np.diag([1.0, 2.0, 2.0]))
    assert not np.isfinite(slopes).all()


def test_a_matrix_without_enough_eigenvectors_has_no_derivative() -> None:
    """√t is an eigenvalue of [[0, 1], [t, 0]]: its slope at t = 0 is infinite, or as large as can be."""
    slopes = ad.grad(lambda a: np.linalg.eigvals(a)[0].real)(np.array([[0.0, 1.0], [0.0, 0.0]]))
    assert not (np.abs(slopes) < 1e100).all()


def test_nothing_and_what_is_not_finite() -> None:
    values, vectors = ad.jit(lambda a: np.linalg.eig(a))(np.zeros((0, 0)))
    assert values.shape == (0,) and vectors.shape == (0, 0)
    for bad in (np.nan, np.inf):
        with pytest.raises(np.linalg.LinAlgError, match="the eigenvalues of the matrix were not found"):
            ad.jit(lambda a: np.linalg.eigvals(a))(np.full((3, 3), bad))


# ---------------------------------------------------------------------------- Hermitian matrices
def phased(vectors):
    """The vectors with a first component that is real and positive, whatever their phases are."""
    return vectors * np.exp(-1j * np.angle(vectors[..., :1, :]))


def values_and_vectors(a):
    values, vectors = np.linalg.eigh(a)
    return values, phased(vectors)


def upper_triangle(a):
    values, vectors = np.linalg.eigh(a, "U")
    return np.sin(values), np.abs(vectors) ** 2


def function_of_a_hermitian_matrix(a):
    found = np.linalg.eigh(a)
    return (found.eigenvectors * np.sin(found.eigenvalues)) @ found.eigenvectors.conj().T


def largest_eigenvalues(a):
    return np.linalg.eigvalsh(a @ np.conj(a.T))[-2:]


@pytest.mark.parametrize(
    "function", [values_and_vectors, upper_triangle, function_of_a_hermitian_matrix, largest_eigenvalues]
)
def test_hermitian(function: Callable[..., Any]) -> None:
    agree(function, complex_normal(3, 3), order=2 if function is values_and_vectors else 1)
    agree(function, complex_normal(17, 17) + 9.0 * np.diag(np.arange(17)), rtol=1e-5)


def test_hermitian_stacks() -> None:
    agree(values_and_vectors, complex_normal(2, 3, 3))


@pytest.mark.parametrize("lower", ["L", "U"])
def test_one_triangle_of_a_hermitian_matrix_is_read(lower: str) -> None:
    matrix = complex_normal(4, 4)
    slopes = ad.grad(lambda a: np.sum(np.linalg.eigvalsh(a, lower) ** 2))(matrix)
    hidden = np.triu(slopes, 1) if lower == "L" else np.tril(slopes, -1)
    assert not hidden.any() and not np.diag(slopes).imag.any()


# ---------------------------------------------------------------------------- singular values
def low_rank(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return (u[..., :, :2] * s[..., None, :2]) @ vh[..., :2, :]


def factors(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    turn = np.exp(-1j * np.angle(u[..., :1, :]))
    return u * turn, s, vh * np.conj(np.swapaxes(turn, -1, -2))


def values_alone(a):
    return np.linalg.svdvals(a), np.linalg.norm(a, "nuc"), np.linalg.norm(a, 2), np.linalg.cond(a)


@pytest.mark.parametrize("function", [low_rank, factors, values_alone])
def test_complex_singular_values(function: Callable[..., Any]) -> None:
    agree(function, complex_normal(3, 2))
    agree(function, complex_normal(20, 17), rtol=1e-5)
    agree(function, complex_normal(17, 18), rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("function", [low_rank, factors, values_alone])
def test_second_derivatives_of_complex_singular_values(function: Callable[..., Any]) -> None:
    agree(function, complex_normal(4, 3), order=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "function", [eigenvalues_and_vectors, function_of_a_matrix, spectral_radius, symmetric_functions]
)
def test_second_derivatives_of_any_matrix(function: Callable[..., Any]) -> None:
    for matrix in (turning(3), complex_normal(3, 3)):
        agree(function, matrix, order=2)


def test_complex_singular_values_of_stacks() -> None:
    agree(low_rank, complex_normal(2, 3, 4))


# ---------------------------------------------------------------------------- the factor of a vector
def left_vectors(a):
    return np.linalg.svd(a, full_matrices=False)[0]


def right_vectors(a):
    return np.linalg.svd(a, full_matrices=False)[2]


def eigenvectors(a):
    return np.linalg.eigh(a)[1]


@pytest.mark.parametrize("function", [left_vectors, right_vectors, eigenvectors])
def test_phases_are_differentiated_as_they_are_chosen(function: Callable[..., Any]) -> None:
    """The compiled function itself is smooth, phases included, and this is its derivative."""
    matrix, step = complex_normal(3, 3), complex_normal(3, 3)
    weights = complex_normal(3, 3)
    compiled = ad.jit(function)
    _, tangent = ad.jvp(function, (matrix,), (step,))
    size = 1e-5
    numeric = (compiled(matrix + size * step) - compiled(matrix - size * step)) / (2 * size)
    np.testing.assert_allclose(tangent, numeric, rtol=1e-7, atol=1e-8)
    (adjoint,) = ad.vjp(function, matrix)[1](weights)
    np.testing.assert_allclose(np.sum(weights * tangent).real, np.sum(adjoint * step).real, rtol=1e-10)


def test_the_largest_component_is_real() -> None:
    for vectors in (
        ad.jit(eigenvectors)(complex_normal(5, 5)),
        ad.jit(left_vectors)(complex_normal(6, 4)),
        ad.jit(eigenvectors)(np.array([[0.0, -1j], [1j, 0.0]])),
    ):
        places = np.argmax(np.abs(vectors) > 0.999999 * np.abs(vectors).max(axis=0), axis=0)
        largest = vectors[places, np.arange(vectors.shape[1])]
        assert (largest.real > 0).all()
        np.testing.assert_allclose(largest.imag, 0.0, atol=1e-15)
