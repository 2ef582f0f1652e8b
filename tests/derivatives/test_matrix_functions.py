"""Norms, condition numbers, least squares, products of many matrices, exponentials: values, derivatives."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.linalg

import anadrome as ad
from anadrome.array_ir.interp import run
from anadrome.config import Config
from anadrome.frontend.stage import stage
from tests.derivatives.agreement import agree
from tests.frontend.library.staging import spec

RANDOM = np.random.default_rng(12)
SQUARE, TALL, WIDE = RANDOM.normal(size=(3, 3)), RANDOM.normal(size=(4, 3)), RANDOM.normal(size=(2, 4))
LARGE = RANDOM.normal(size=(18, 17))
STACK = RANDOM.normal(size=(2, 3, 4))


# ---------------------------------------------------------------------------- norms
@pytest.mark.parametrize("order", ["nuc", "fro", 2, -2, 1, -1, np.inf, -np.inf])
def test_norms_of_matrices(order: object) -> None:
    for matrix in (SQUARE, TALL, LARGE):
        agree(lambda a: np.linalg.norm(a, order), matrix, order=2 if matrix is TALL else 1)
    agree(lambda a: np.linalg.norm(a, order, axis=(2, 0), keepdims=True), STACK)


def test_the_nuclear_norm_of_a_matrix_of_less_rank_has_the_derivative_of_its_rank() -> None:
    """Along matrices of that rank the norm is smooth, with the derivative U·Vᵀ of the reduced factors."""
    matrix = np.outer([1.0, 2.0, -1.0], [0.5, 1.0, 3.0])
    u, _, vt = np.linalg.svd(matrix)
    step = u[:, :1] @ RANDOM.normal(size=(1, 3)) + RANDOM.normal(size=(3, 1)) @ vt[:1]
    found = ad.jvp(lambda a: np.linalg.norm(a, "nuc"), (matrix,), (step,))[1]
    np.testing.assert_allclose(found, np.sum(np.outer(u[:, 0], vt[0]) * step), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("order", [None, 2, -2, "fro", 1, np.inf])
def test_condition_numbers(order: object) -> None:
    agree(lambda a: np.linalg.cond(a, order), SQUARE, order=2)
    agree(lambda a: np.linalg.cond(a, order), np.stack([SQUARE, SQUARE.T @ SQUARE]))


def test_the_condition_of_a_singular_matrix_is_infinite() -> None:
    for order in (None, 1, "fro"):
        compiled = ad.value_and_grad(lambda a: np.linalg.cond(a, order))
        for matrix in (np.zeros((3, 3)), np.diag([1.0, 0.0, 2.0])):
            assert compiled(matrix)[0] == np.inf


# ---------------------------------------------------------------------------- least squares
def fitted(a, b):
    x, residuals, _, s = np.linalg.lstsq(a, b, rcond=None)
    return np.sin(x), np.sum(residuals**2), s


@pytest.mark.parametrize("columns", [None, 2])
def test_least_squares(columns: int | None) -> None:
    for matrix in (TALL, WIDE, SQUARE, LARGE):
        rows = len(matrix)
        right = RANDOM.normal(size=(rows,) if columns is None else (rows, columns))
        agree(lambda a, b: fitted(a, b), matrix, right, order=2 if matrix is TALL and columns is None else 1)


def test_one_program_solves_tall_and_wide_systems() -> None:
    """And one more square ones, by chance the last dimension of the matrix is as long as the vector."""
    compiled = ad.jit(lambda a, b: np.linalg.lstsq(a, b, rcond=None))
    for shape, made in (((30, 20), 1), ((20, 30), 1), ((25, 25), 2)):
        a, b = RANDOM.normal(size=shape), RANDOM.normal(size=shape[0])
        for found, wanted in zip(compiled(a, b), np.linalg.lstsq(a, b, rcond=None), strict=True):
            assert np.shape(found) == np.shape(wanted)
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-10)
        assert compiled.compilations == made


def test_least_squares_of_less_rank_change_along_matrices_of_that_rank() -> None:
    """Aᵀ·A·x = Aᵀ·b with x in the row space, differentiated along A(t) = L(t)·R(t) of rank 2."""
    left, right, b = RANDOM.normal(size=(5, 2)), RANDOM.normal(size=(2, 3)), RANDOM.normal(size=5)
    agree(lambda l, r: np.linalg.lstsq(l @ r, b, rcond=1e-10)[0], left, right)
    _, residuals, rank, _ = ad.jit(lambda a: np.linalg.lstsq(a, b, rcond=None))(left @ right)
    assert rank == 2 and residuals.shape == (0,)


# ---------------------------------------------------------------------------- products
def chain(*matrices):
    return np.linalg.multi_dot(matrices)


@pytest.mark.parametrize(
    "shapes",
    [
        ((3, 4), (4, 2), (2, 5)),
        ((2, 17), (17, 3), (3, 17), (17, 2)),
        ((17,), (17, 18), (18, 20), (20,)),
        ((4,), (4, 3), (3, 2)),
    ],
)
def test_products_of_many_matrices(shapes: tuple[tuple[int, ...], ...]) -> None:
    matrices = [RANDOM.normal(size=shape) for shape in shapes]
    agree(chain, *matrices, order=2 if len(shapes) == 3 else 1)


def work_of(matrices: list[np.ndarray]) -> int:
    """The multiplications that the compiled product takes, counted by the interpreter."""
    staged = stage(chain, [spec(one, True) for one in matrices], {}, Config())
    return run(staged.function, matrices).work.operations


def test_the_order_of_a_product_is_the_best_one_for_the_sizes_of_the_run() -> None:
    column, matrix, row = (
        RANDOM.normal(size=(60, 2)),
        RANDOM.normal(size=(2, 50)),
        RANDOM.normal(size=(50, 3)),
    )
    assert work_of([column, matrix, row]) < 2 * 2 * (2 * 50 * 3 + 60 * 2 * 3)
    assert work_of([row.T, matrix.T, column.T]) < 2 * 2 * (2 * 50 * 3 + 60 * 2 * 3)


# ---------------------------------------------------------------------------- exponential
@pytest.mark.parametrize("scale", [1e-3, 0.3, 3.0])
@pytest.mark.parametrize("count", [1, 3, 17])
def test_exponential(count: int, scale: float) -> None:
    matrix = scale * RANDOM.normal(size=(count, count)) / math.sqrt(count)
    agree(lambda a: scipy.linalg.expm(a), matrix, order=2 if count == 3 and scale == 3.0 else 1)


def test_the_derivative_of_the_exponential_is_that_of_a_block_matrix() -> None:
    """e^[[A, E], [0, A]] has the derivative of e^A along E in its corner (Mathias 1996)."""
    for matrix in (SQUARE, np.zeros((3, 3)), 6.0 * SQUARE, np.array([[1.0, 1e4], [0.0, -1.0]])):
        n = len(matrix)
        step = RANDOM.normal(size=(n, n))
        block = np.block([[matrix, step], [np.zeros((n, n)), matrix]])
        wanted = scipy.linalg.expm(block)[:n, n:]
        found = ad.jvp(lambda a: scipy.linalg.expm(a), (matrix,), (step,))[1]
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-11 * np.abs(wanted).max())


def test_the_exponential_agrees_with_scipy_to_thirteen_digits() -> None:
    compiled = ad.jit(lambda a: scipy.linalg.expm(a))
    generator = np.abs(RANDOM.normal(size=(8, 8)))
    np.fill_diagonal(generator, 0.0)
    for matrix in (
        *(RANDOM.normal(size=(n, n)) / math.sqrt(n) for n in (1, 2, 5, 20)),
        *(generator - np.diag(generator.sum(axis=1)), np.diag([-40.0, -1.0, 0.0]), 1e-9 * SQUARE),
        *(np.array([[1.0, 1e6], [0.0, -1.0]]), np.zeros((4, 4)), np.diag(np.ones(5), 1)),
    ):
        wanted = scipy.linalg.expm(matrix)
        assert np.max(np.abs(compiled(matrix) - wanted)) <= 1e-13 * np.max(np.abs(wanted))
    np.testing.assert_array_equal(compiled(np.zeros((4, 4))), np.eye(4))


def test_exponential_of_complex_matrices() -> None:
    agree(lambda a: scipy.linalg.expm(a), SQUARE + 1j * TALL[:3])
    agree(lambda t: scipy.linalg.expm(-1j * t * (SQUARE + SQUARE.T)), 0.7, order=2)


# ---------------------------------------------------------------------------- Cholesky
@pytest.mark.parametrize("lower", [True, False])
def test_cholesky_of_either_triangle(lower: bool) -> None:
    matrix = SQUARE @ SQUARE.T + np.eye(3)
    agree(lambda a: scipy.linalg.cholesky(a, lower=lower), matrix, order=2)
    agree(lambda a: np.linalg.cholesky(a, upper=not lower), np.stack([matrix, matrix + np.eye(3)]))
    slopes = ad.grad(lambda a: np.sum(scipy.linalg.cholesky(a, lower=lower)))(matrix)
    assert not (np.triu(slopes, 1) if lower else np.tril(slopes, -1)).any()
