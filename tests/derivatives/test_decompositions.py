"""Cholesky, QR, eigenvalues, singular values, determinants: NumPy's values, derivatives to second order."""

from __future__ import annotations

import numpy as np
import pytest

import anadrome as ad
from tests.derivatives.agreement import agree

RANDOM = np.random.default_rng(5)
SQUARE, TALL, WIDE = RANDOM.normal(size=(3, 3)), RANDOM.normal(size=(4, 3)), RANDOM.normal(size=(2, 4))
LARGE, LARGE_TALL, LARGE_WIDE = (RANDOM.normal(size=shape) for shape in ((18, 18), (21, 18), (17, 20)))
STACK = RANDOM.normal(size=(2, 3, 3))
MATRICES = {
    "square": SQUARE,
    "tall": TALL,
    "wide": WIDE,
    "large": LARGE,
    "large_tall": LARGE_TALL,
    "large_wide": LARGE_WIDE,
    "stack": STACK,
}


def log_determinant(a):
    sign, logarithm = np.linalg.slogdet(a)
    return sign * logarithm**2


def orthonormal_and_upper(a):
    q, r = np.linalg.qr(a)
    return np.sum(np.sin(q) * q) + np.sum(r**3)


def upper_alone(a):
    return np.linalg.qr(a, mode="r")


def eigenvalues_and_vectors(a):
    values, vectors = np.linalg.eigh(a)
    return np.sin(values), vectors**2 * values[..., None, :]


def upper_triangle_is_read(a):
    found = np.linalg.eigh(a, UPLO="U")
    return found.eigenvalues[..., 0] * found.eigenvectors[..., 0, 0] ** 2


def smallest_eigenvalues(a):
    return np.linalg.eigvalsh(a @ np.swapaxes(a, -1, -2))[..., :2]


def singular_parts(a):
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return np.sum(s**3) + np.sum(u**4) + np.sum(vt**2 * s[..., :, None]) + np.sum(vt**4)


def low_rank(a):
    found = np.linalg.svd(a, full_matrices=False)
    return (found.U[..., :, :2] * found.S[..., None, :2]) @ found.Vh[..., :2, :]


def nuclear_norm(a):
    return np.sum(np.linalg.svd(a, compute_uv=False))


OF_SQUARES = (log_determinant, eigenvalues_and_vectors, upper_triangle_is_read)
OF_ALL = (orthonormal_and_upper, upper_alone, singular_parts, low_rank, nuclear_norm, smallest_eigenvalues)


@pytest.mark.parametrize("name", ["square", "large", "stack"])
@pytest.mark.parametrize("function", OF_SQUARES, ids=lambda f: f.__name__)
def test_square(function, name: str) -> None:
    agree(function, MATRICES[name], order=2 if name == "square" else 1)


@pytest.mark.parametrize("count", [2, 5, 40])
@pytest.mark.parametrize("triangle", ["L", "U"])
def test_eigenvectors_are_those_of_numpy_up_to_sign(triangle: str, count: int) -> None:
    matrix = RANDOM.normal(size=(count, count))
    compiled = ad.jit(lambda a: np.linalg.eigh(a, triangle))
    (values, vectors), (wanted_values, wanted) = compiled(matrix), np.linalg.eigh(matrix, triangle)
    np.testing.assert_allclose(values, wanted_values, rtol=1e-12, atol=1e-12)
    signs = np.sign(np.sum(vectors * wanted, axis=0))
    np.testing.assert_allclose(vectors, wanted * signs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["tall", "large_wide", "stack"])
@pytest.mark.parametrize("function", OF_ALL[:-1], ids=lambda f: f.__name__)
def test_of_any_shape(function, name: str) -> None:
    agree(function, MATRICES[name])


@pytest.mark.parametrize("function", OF_ALL, ids=lambda f: f.__name__)
def test_second_order(function) -> None:
    agree(function, WIDE, order=2)


@pytest.mark.slow
@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("function", OF_ALL, ids=lambda f: f.__name__)
def test_second_order_of_any_shape(function, name: str) -> None:
    if function is smallest_eigenvalues and name in ("tall", "large_tall"):
        return  # a·aᵀ has equal eigenvalues there, zeros
    agree(function, MATRICES[name], order=2)


def test_one_program_serves_tall_and_wide() -> None:
    compiled = ad.grad(orthonormal_and_upper)
    for shape in ((17, 30), (30, 17), (40, 40)):
        matrix = RANDOM.normal(size=shape)
        step = 1e-6 * RANDOM.normal(size=shape)
        slope = orthonormal_and_upper(matrix + step) - orthonormal_and_upper(matrix - step)
        np.testing.assert_allclose(np.sum(compiled(matrix) * step) * 2, slope, rtol=1e-5)
    assert compiled.compilations == 1


def test_single_precision() -> None:
    matrix = SQUARE.astype(np.float32)
    for found, wanted in zip(ad.jit(np.linalg.qr)(matrix), np.linalg.qr(matrix), strict=True):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_several_directions_at_once() -> None:
    def parts(a):
        q, r = np.linalg.qr(a)
        u, s, _ = np.linalg.svd(a, full_matrices=False)
        return np.sum(q * q * q, axis=1), np.sum(r, axis=0), s, u[0] ** 2, np.linalg.eigvalsh(a)

    for forward, reverse in zip(ad.jacfwd(parts)(SQUARE), ad.jacrev(parts)(SQUARE), strict=True):
        np.testing.assert_allclose(forward, reverse, rtol=1e-9, atol=1e-10)


# ---------------------------------------------------------------------------- Cholesky
def factor_of_part(a):
    return np.linalg.cholesky(a[::-1, ::-1].T) ** 2


def factors_of_both_triangles(a):
    return np.linalg.cholesky(a) @ np.linalg.cholesky(a.T)[:, ::2]


def definite(count: int) -> np.ndarray:
    drawn = RANDOM.normal(size=(count, count)) / np.sqrt(count + 1)
    return drawn @ drawn.T + np.eye(count)


@pytest.mark.parametrize("count", [1, 4, 17, 70])
@pytest.mark.parametrize(
    "function", [np.linalg.cholesky, factor_of_part, factors_of_both_triangles], ids=lambda f: f.__name__
)
def test_cholesky(function, count: int) -> None:
    agree(lambda a: function(a), definite(count), order=2)


def test_cholesky_of_a_stack() -> None:
    matrices = np.stack([definite(3) for _ in range(2)])
    for forward, reverse in zip(
        ad.jacfwd(np.linalg.cholesky)(matrices), ad.jacrev(np.linalg.cholesky)(matrices), strict=True
    ):
        np.testing.assert_allclose(forward, reverse, rtol=1e-10, atol=1e-12)
    agree(lambda a: np.linalg.cholesky(a), matrices, order=2)


def test_cholesky_of_nothing_and_in_single_precision() -> None:
    total = ad.grad(lambda a: np.sum(np.linalg.cholesky(a) ** 3))
    assert total(np.zeros((0, 0))).shape == (0, 0)
    matrix = definite(40)
    found = total(matrix.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, total(matrix), rtol=1e-3, atol=1e-4)


def test_cholesky_reads_the_lower_triangle_of_its_cotangent() -> None:
    """What stands above the diagonal of a factor is zero, whatever it is multiplied by."""
    matrix = definite(40)
    weights = RANDOM.normal(size=(40, 40))
    _, pull_back = ad.vjp(np.linalg.cholesky, matrix)
    (wanted,) = pull_back(weights)
    (found,) = pull_back(weights + np.triu(np.full((40, 40), np.nan), 1))
    np.testing.assert_array_equal(found, wanted)
    assert not np.triu(wanted, 1).any()


# ---------------------------------------------------------------------------- where there is none
EQUAL = np.diag([1.0, 2.0, 2.0])


def test_eigenvalues_that_are_equal_still_have_a_symmetric_sum() -> None:
    gradient = ad.grad(lambda a: np.sum(np.linalg.eigvalsh(a) ** 2))(EQUAL)
    np.testing.assert_allclose(gradient, 2 * EQUAL, atol=1e-12)


def test_singular_values_that_are_equal_still_have_a_symmetric_sum() -> None:
    gradient = ad.grad(lambda a: np.sum(np.linalg.svd(a, compute_uv=False) ** 2))(EQUAL)
    np.testing.assert_allclose(gradient, 2 * EQUAL, atol=1e-12)


def put_together(a):
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return np.sum((u * s) @ vt * np.arange(9.0).reshape(3, 3))


def put_together_again(a):
    w, v = np.linalg.eigh(a)
    return np.sum((v * w) @ v.T * np.arange(9.0).reshape(3, 3))


@pytest.mark.parametrize("function", [put_together, put_together_again], ids=lambda f: f.__name__)
@pytest.mark.parametrize("diagonal", [(1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
def test_parts_that_cancel_are_not_zero(function, diagonal: tuple[float, ...]) -> None:
    """The product is the matrix itself, whose derivative is not zero; what is 0/0 must not become 0."""
    matrix = np.diag(diagonal)
    turn = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]])
    assert not np.isfinite(ad.grad(function)(matrix)).all()
    assert not np.isfinite(ad.jvp(function, (matrix,), (turn,))[1])


def test_vectors_of_equal_eigenvalues_have_no_derivative() -> None:
    """Infinite or NaN, never a number."""
    weights = np.arange(9.0).reshape(3, 3)
    gradient = ad.grad(lambda a: np.sum(np.linalg.eigh(a)[1] * weights))(EQUAL)
    assert not np.isfinite(gradient).all()


def test_a_singular_matrix_has_no_logarithm_to_differentiate() -> None:
    assert ad.jit(np.linalg.slogdet)(np.zeros((3, 3))) == (0.0, -np.inf)
    with pytest.raises(ArithmeticError, match="singular"):
        ad.grad(lambda a: np.linalg.slogdet(a)[1])(np.zeros((3, 3)))


@pytest.mark.parametrize("size", [0, 1])
def test_small(size: int) -> None:
    matrix = np.full((size, size), 2.0)
    for function in (np.linalg.qr, np.linalg.slogdet, np.linalg.eigh):
        for found, wanted in zip(ad.jit(function)(matrix), function(matrix), strict=True):
            np.testing.assert_allclose(found, wanted)
