"""Matrices: products in every shape, factorisations, solves, determinants, iterations with them."""

# ruff: noqa: B905 (programs are written as their users write them)

from __future__ import annotations

import numpy as np
import scipy.linalg

import anadrome as ad
from anadrome.errors.frontend import ShapeMismatch
from anadrome.errors.runtime import SingularMatrix
from tests.corpus.draw import N, definite, dominant, given, normal
from tests.corpus.harness import Program, Refused


def products_of_every_shape(a, x, y):
    return x @ a @ y + np.sum((a @ y) ** 2) + np.sum(x @ a)


def quadratic_form(a, x):
    return x @ a @ x


def normal_equations_form(a, x):
    return x @ a.T @ a @ x


def chain_of_products(a, b, c):
    return np.sum(a @ b @ c)


def transposed_products(a, b):
    return np.trace(a.T @ b) + np.sum((b @ a.T) ** 2)


def einsum_contractions(a, b):
    return np.einsum("ij,kj->ik", a, b).sum() + np.einsum("ij,ij->", a, b) ** 2


def batched_product(a, b):
    return np.sum(np.tanh(a @ b))


def outer_and_kronecker(x, y):
    return np.sum(np.outer(x, y) ** 2) + np.sum(np.kron(x, y[:2]) ** 3)


def solve_a_system(a, b):
    return np.linalg.solve(a, b)


def solve_many_right_sides(a, b):
    return np.sum(np.linalg.solve(a, b) ** 2)


def log_determinant(a):
    return np.log(np.linalg.det(a))


def inverse(a):
    return np.sum(np.linalg.inv(a) ** 2)


def cholesky_density(a, x):
    l = np.linalg.cholesky(a)
    y = np.linalg.solve(l, x)
    return -0.5 * y @ y - np.sum(np.log(np.diag(l)))


def cholesky_factor(a, w):
    return np.sum(w * np.linalg.cholesky(a))


def cholesky_of_a_transpose(a, w):
    return np.linalg.cholesky(a.T)[::2, ::-1].T @ w


def gaussian_process(points, y, width, noise):
    d = points[:, None] - points[None, :]
    k = np.exp(-0.5 * (d / width) ** 2) + noise**2 * np.eye(len(points))
    return 0.5 * y @ np.linalg.solve(k, y) + 0.5 * np.log(np.linalg.det(k))


def least_squares(a, b, ridge):
    return np.linalg.solve(a.T @ a + ridge * np.eye(a.shape[1]), a.T @ b)


def power_iteration(a, v, n):
    for _ in range(n):
        v = a @ v
        v = v / np.linalg.norm(v)
    return v @ a @ v


def conjugate_gradients(a, b, n):
    x = np.zeros(len(b))
    r = b
    p = b
    for _ in range(n):
        q = a @ p
        step = (r @ r) / (p @ q)
        x = x + step * p
        new = r - step * q
        p = new + (new @ new) / (r @ r) * p
        r = new
    return np.sum(x**2)


def newton_schulz_inverse(a, n):
    x = a.T / np.sum(a * a)
    for _ in range(n):
        x = 2.0 * x - x @ a @ x
    return np.sum(x)


def matrix_exponential_series(a, n):
    total = np.eye(len(a))
    term = np.eye(len(a))
    for k in range(1, n):
        term = term @ a / k
        total = total + term
    return np.sum(total)


def power_by_squaring(a, n):
    result = np.eye(len(a))
    while n > 0:
        if n % 2 == 1:
            result = result @ a
        a = a @ a
        n = n // 2
    return np.sum(result)


def gram_schmidt(a):
    q = np.zeros(a.shape)
    for j in range(a.shape[1]):
        v = a[:, j]
        for k in range(j):
            v = v - (q[:, k] @ a[:, j]) * q[:, k]
        q[:, j] = v / np.sqrt(v @ v)
    return np.sum(q**3)


def small_rotation(angles, points):
    c, s = np.cos(angles[0]), np.sin(angles[0])
    r = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, angles[1]]])
    return np.sum((points @ r.T) ** 3)


def cross_products(a, b):
    return sum(np.cross(p, q) @ p[::-1] for p, q in zip(a, b))


def mahalanobis(points, precision, mean):
    return sum((p - mean) @ precision @ (p - mean) for p in points)


def determinant_by_cofactors(a):
    return (
        a[0, 0] * (a[1, 1] * a[2, 2] - a[1, 2] * a[2, 1])
        - a[0, 1] * (a[1, 0] * a[2, 2] - a[1, 2] * a[2, 0])
        + a[0, 2] * (a[1, 0] * a[2, 1] - a[1, 1] * a[2, 0])
    )


CUBIC = (4, 8, 16)


def powers_of_a_matrix(a):
    return np.sum(np.linalg.matrix_power(a, 5) * np.linalg.matrix_power(a, -1))


def least_squares_by_the_pseudo_inverse(a, b):
    return np.sum((a @ (np.linalg.pinv(a) @ b) - b) ** 2)


def triangular_systems(a, b):
    below = scipy.linalg.solve_triangular(a, b, lower=True)
    return np.sum(scipy.linalg.solve_triangular(a, below, "T", lower=True, unit_diagonal=True) ** 2)


def factored_once(a, b, x):
    factor = scipy.linalg.cho_factor(a)
    return np.sum(b * scipy.linalg.cho_solve(factor, b)) + x @ scipy.linalg.cho_solve(factor, x)


def fit_of_least_squares(a, b):
    x, _, _, s = np.linalg.lstsq(a, b, rcond=None)
    return np.sum((a @ x - b) ** 2) + np.sum(np.log(s))


def norms_of_singular_values(a):
    return np.linalg.norm(a, "nuc") + np.linalg.norm(a, 2) * np.linalg.norm(a, -2) + np.linalg.cond(a)


def growth_of_a_system(a):
    return np.log(np.sum(np.exp(np.linalg.eigvals(a).real)))


def sine_of_a_matrix(a):
    values, vectors = np.linalg.eig(a)
    return np.sum(np.real((vectors * np.sin(values)) @ np.linalg.inv(vectors)) ** 2)


def exponential_of_a_matrix(a, x):
    return np.sum(scipy.linalg.expm(a) @ x)


def product_of_many(a, b, c, d, x):
    return np.sum(np.linalg.multi_dot([a, b, c, d]) ** 2) + np.sum(np.linalg.multi_dot([x, b, c]) ** 2)


def upper_factor(a, x):
    return np.sum((x @ scipy.linalg.cholesky(a)) ** 2) + np.sum(np.linalg.cholesky(a, upper=True) ** 3)


PROGRAMS = (
    Program(fit_of_least_squares, (normal(N + 2, N), normal(N + 2)), sizes=CUBIC),
    Program(norms_of_singular_values, (normal(N, N + 1),), sizes=CUBIC),
    Program(growth_of_a_system, (normal(N, N),), sizes=CUBIC),
    Program(sine_of_a_matrix, (dominant(N),), sizes=CUBIC),
    Program(exponential_of_a_matrix, (dominant(N), normal(N)), sizes=(16, 32, 64)),
    Program(
        product_of_many, (normal(N, N), normal(N, 4), normal(4, N), normal(N, N), normal(N)), sizes=CUBIC
    ),
    Program(upper_factor, (definite(N), normal(N)), sizes=CUBIC),
    Program(powers_of_a_matrix, (dominant(N),), sizes=CUBIC),
    Program(least_squares_by_the_pseudo_inverse, (normal(N + 2, N), normal(N + 2)), sizes=CUBIC),
    Program(triangular_systems, (dominant(N), normal(N)), sizes=CUBIC),
    Program(factored_once, (definite(N), normal(N, N), normal(N)), sizes=CUBIC),
    Program(products_of_every_shape, (normal(N, N + 1), normal(N), normal(N + 1)), sizes=CUBIC),
    Program(quadratic_form, (normal(N, N), normal(N)), sizes=CUBIC),
    Program(normal_equations_form, (normal(N, N), normal(N)), sizes=CUBIC),
    Program(chain_of_products, (normal(N, N), normal(N, N), normal(N, N)), sizes=CUBIC),
    Program(transposed_products, (normal(N, N), normal(N, N)), sizes=CUBIC),
    Program(einsum_contractions, (normal(N, N), normal(N, N)), sizes=CUBIC),
    Program(batched_product, (normal(3, N, N), normal(3, N, N)), sizes=(8, 16, 32)),
    Program(outer_and_kronecker, (normal(N), normal(N)), sizes=CUBIC),
    Program(solve_a_system, (dominant(N), normal(N)), sizes=CUBIC),
    Program(solve_many_right_sides, (dominant(N), normal(N, N)), sizes=CUBIC),
    Program(log_determinant, (definite(N),), sizes=CUBIC),
    Program(inverse, (dominant(N),), sizes=CUBIC),
    Program(cholesky_density, (definite(N), normal(N)), sizes=CUBIC),
    Program(cholesky_factor, (definite(N), normal(N, N)), sizes=(32, 64, 128)),
    Program(cholesky_of_a_transpose, (definite(2 * N), normal(N, 3)), sizes=(16, 32, 64)),
    Program(gaussian_process, (normal(N), normal(N), given(0.8), given(0.5)), sizes=CUBIC),
    Program(least_squares, (normal(N + 2, N), normal(N + 2), given(0.1)), sizes=CUBIC),
    Program(power_iteration, (definite(N), normal(N), given(4)), sizes=CUBIC),
    Program(conjugate_gradients, (definite(N), normal(N), given(3)), sizes=CUBIC),
    Program(newton_schulz_inverse, (dominant(N), given(5)), sizes=CUBIC),
    Program(matrix_exponential_series, (normal(N, N, scale=0.3), given(6)), sizes=CUBIC),
    Program(power_by_squaring, (normal(N, N, scale=0.3), given(13)), sizes=CUBIC),
    Program(gram_schmidt, (dominant(N),), sizes=CUBIC),
    Program(small_rotation, (normal(2), normal(N, 3))),
    Program(cross_products, (normal(N, 3), normal(N, 3))),
    Program(mahalanobis, (normal(N, 3), definite(3), normal(3))),
    Program(determinant_by_cofactors, (normal(3, 3),), sizes=(1,)),
)

REFUSED = (
    Refused(
        "singular", lambda: ad.grad(lambda a: np.linalg.solve(a, a[0])[0])(np.ones((20, 20))), SingularMatrix
    ),
    Refused(
        "inner_sizes_differ",
        lambda: ad.grad(lambda a, b: np.sum(a @ b))(np.ones((3, 4)), np.ones((3, 4))),
        ShapeMismatch,
    ),
)
