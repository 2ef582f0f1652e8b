"""Derivatives by sparse matrices and through sparse systems: both modes, differences, second order; and a
coefficient of a Poisson problem found from its solution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import factorized, splu, spsolve

import anadrome as ad
from anadrome.errors import runtime
from tests.frontend.test_sparse_matrices import KINDS, made, regular

pytestmark = pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")

SOME = (sp.csr_array, sp.csc_matrix, sp.coo_array)
V, W = np.linspace(-1.0, 2.0, 23), np.linspace(3.0, 1.0, 31)
B = np.sin(np.arange(30.0))

RECTANGULAR: dict[str, Callable[[Any, Any], Any]] = {
    "A @ x": lambda A, x: np.sum((A @ x) ** 2 * W),
    "x.T @ A.T": lambda A, x: np.sum(np.sin(x @ A.T)),
    "matrix": lambda A, x: np.sum(np.sin(0.1 * A @ np.outer(x, x[:3]))),
    "A.T": lambda A, x: np.sum((A.T @ (A @ x)) ** 2),
    "scaled": lambda A, x: np.sum((x[0] * A / 3.0) @ x),
    "multiply": lambda A, x: np.sum(np.cos(A.multiply(x) @ x)),
    "toarray": lambda A, x: np.sum(np.tanh(0.01 * A.toarray()) @ x),
    "diagonal": lambda A, x: np.sum(A.diagonal() ** 2 * x) + A.trace() * A.sum() * A.mean(),
    "formats": lambda A, x: np.sum((A.tocsr() @ x) * (A.tocsc() @ x)) + np.sum(A.tocoo().data ** 3),
}
SQUARE: dict[str, Callable[[Any, Any], Any]] = {
    "spsolve": lambda A, b: np.sum(spsolve(A, b) ** 2),
    "several": lambda A, b: np.sum(np.sin(spsolve(A, np.outer(b, b[:3])))),
    "transposed": lambda A, b: np.sum(b * spsolve(A.T, b * b)),
    "twice": lambda A, b: np.sum(spsolve(A, spsolve(2.0 * A, b)) ** 2),
    "splu": lambda A, b: np.sum(splu(A).solve(b) * splu(A).solve(b, "T")),
    "factorized": lambda A, b: np.sum(factorized(A)(factorized(A)(b)) ** 2),
}


@pytest.mark.parametrize("kind", SOME, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", RECTANGULAR)
def test_products(kind: Any, name: str) -> None:
    ad.check_grads(RECTANGULAR[name], (made(kind, (31, 23)), V))


@pytest.mark.parametrize("kind", SOME, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", SQUARE)
def test_systems(kind: Any, name: str) -> None:
    ad.check_grads(SQUARE[name], (regular(kind), B))


@pytest.mark.parametrize("name", ["A @ x", "multiply"])
def test_products_to_second_order(name: str) -> None:
    for kind in SOME:
        ad.check_grads(RECTANGULAR[name], (made(kind, (31, 23)), V), order=2)


@pytest.mark.parametrize("name", ["spsolve", "several", "transposed", "splu"])
def test_systems_to_second_order(name: str) -> None:
    ad.check_grads(SQUARE[name], (regular(sp.csc_array), B), order=2)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_gradient_by_a_matrix_has_its_pattern(kind: Any) -> None:
    """d xᵀA y / dA = x yᵀ at the stored places; the class is that of the argument."""
    A = made(kind, (31, 23))
    slope = ad.grad(lambda A: W @ (A @ V))(A)
    assert type(slope) is kind and slope.shape == A.shape
    places = A.tocoo()
    np.testing.assert_allclose(slope.tocoo().data, W[places.row] * V[places.col])
    value, (by_matrix, by_vector) = ad.value_and_grad(lambda A, x: np.sum((A @ x) ** 2), argnums=(0, 1))(A, V)
    assert isinstance(value, float) and type(by_matrix) is kind
    np.testing.assert_allclose(by_vector, 2.0 * A.T @ (A @ V))
    tree = ad.grad(lambda p: W @ (p["A"] @ p["x"]))({"A": A, "x": V})
    np.testing.assert_allclose(tree["A"].data, slope.data)


def test_the_gradient_by_a_system_is_that_of_the_adjoint_method() -> None:
    A = regular(sp.csr_array)
    x = spsolve(A, B)
    right_adj = spsolve(A.T.tocsr(), 2.0 * x)
    by_matrix, by_right = ad.grad(lambda A, b: np.sum(spsolve(A, b) ** 2), argnums=(0, 1))(A, B)
    np.testing.assert_allclose(by_right, right_adj)
    places = A.tocoo()
    np.testing.assert_allclose(by_matrix.data, -right_adj[places.row] * x[places.col])


def test_tangents_and_cotangents_are_matrices_of_the_same_pattern() -> None:
    A = regular(sp.csr_array)
    value, tangent = ad.jvp(lambda A, b: spsolve(A, b), (A, B), (2.0 * A, 0.0 * B))
    np.testing.assert_allclose(tangent, -2.0 * value)
    scaled, tangent = ad.jvp(lambda A: 3.0 * A.T, (A,), (A,))
    assert type(tangent) is sp.csc_array
    np.testing.assert_allclose(tangent.toarray(), scaled.toarray())
    _, pull = ad.vjp(lambda A: 3.0 * A, A)
    np.testing.assert_allclose(pull(A)[0].toarray(), 3.0 * A.toarray())
    other = A.copy()
    other.indices = np.roll(other.indices, 1)
    for call in (
        lambda: ad.jvp(lambda A: A @ B, (A,), (other,)),
        lambda: ad.vjp(lambda A: 3.0 * A, A)[1](other),
    ):
        with pytest.raises(runtime.SizeMismatch, match="at other places"):
            call()


def test_other_transforms() -> None:
    A = regular(sp.csr_array)
    inverse = np.linalg.inv(A.toarray())
    np.testing.assert_allclose(ad.jacobian(lambda b: spsolve(A, b))(B), inverse, atol=1e-12)
    np.testing.assert_allclose(ad.jacrev(lambda A, b: spsolve(A, b), argnums=1)(A, B), inverse, atol=1e-12)
    np.testing.assert_allclose(
        ad.hessian(lambda b: np.sum(spsolve(A, b) ** 2))(B), 2.0 * inverse.T @ inverse, atol=1e-12
    )
    pattern = ad.jacobian(lambda x: A @ x, sparse=True)(B)
    np.testing.assert_allclose(pattern.toarray(), A.toarray(), atol=1e-12)
    rows = np.stack([B, 2.0 * B, B**2])
    found = ad.vmap(lambda A, b: spsolve(A, b), in_axes=(None, 0))(A, rows)
    np.testing.assert_allclose(found, rows @ inverse.T, atol=1e-12)
    systems = ad.vmap(lambda s: spsolve(s * A, B))(np.array([1.0, 2.0, 4.0]))
    np.testing.assert_allclose(systems, np.outer([1.0, 0.5, 0.25], inverse @ B), atol=1e-12)


def test_a_function_with_a_rule_of_its_own() -> None:
    """Its tangents and cotangents are matrices too."""
    A = regular(sp.csr_array)

    @ad.custom_vjp
    def product(A, x):
        return A @ x

    product.defvjp(lambda A, x: (A @ x, (A, x)), lambda kept, y_adj: (kept[0] * 0.0 + 7.0 * kept[0], kept[1]))
    np.testing.assert_allclose(ad.grad(lambda A: np.sum(product(A, B)))(A).data, 7.0 * A.data)

    @ad.custom_jvp
    def scaled(A, x):
        return A @ x

    scaled.defjvp(lambda primals, tangents: (primals[0] @ primals[1], 5.0 * (tangents[0] @ primals[1])))
    _, tangent = ad.jvp(lambda A: scaled(A, B), (A,), (A,))
    np.testing.assert_allclose(tangent, 5.0 * (A @ B))


def test_implicit_functions_read_matrices() -> None:
    A = regular(sp.csr_array)

    def fixed(A, b):
        return np.sum(ad.fixed_point(lambda x, A, b: 0.02 * (A @ np.sin(x)) + b, b, A, b) ** 2)

    ad.check_grads(fixed, (A, B))


# ---------------------------------------------------------------------------- a Poisson problem
def grid(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The edges of a grid of n × n points, and the cell beside each, out of (n - 1)²."""
    points = np.arange(n * n).reshape(n, n)
    cells = np.arange((n - 1) ** 2).reshape(n - 1, n - 1)
    left = np.concatenate([points[:-1, :-1].ravel(), points[:-1, :-1].ravel()])
    right = np.concatenate([points[:-1, 1:].ravel(), points[1:, :-1].ravel()])
    return left, right, np.concatenate([cells.ravel(), cells.ravel()])


def solution(k, f, left, right, cell):
    """u with -div k grad u + u = f: a stiffness matrix of the entries of all edges."""
    n = len(f)
    weights = k[cell]
    diagonal = np.arange(n)
    row = np.concatenate([left, right, left, right, diagonal])
    column = np.concatenate([left, right, right, left, diagonal])
    data = np.concatenate([weights, weights, -weights, -weights, np.ones(n)])
    A = sp.coo_array((data, (row, column)), shape=(n, n)).tocsr()
    return spsolve(A, f)


def misfit(k, seen, f, left, right, cell):
    return np.sum((solution(k, f, left, right, cell) - seen) ** 2)


def test_a_coefficient_is_found_from_a_solution() -> None:
    """Each cell of a Poisson problem has its own; the misfit falls under steps of Gauss and Newton."""
    n = 9
    edges = grid(n)
    random = np.random.default_rng(0)
    true = 1.0 + random.random((n - 1) ** 2)
    f = random.normal(size=n * n)
    seen = solution(true, f, *edges)
    np.testing.assert_allclose(ad.jit(solution)(true, f, *edges), seen, atol=1e-12)
    k = np.full((n - 1) ** 2, 1.5)
    ad.check_grads(lambda k: misfit(k, seen, f, *edges), (k,), order=2)
    assert ad.grad(misfit)(k, seen, f, *edges) == pytest.approx(differences(k, seen, f, *edges), abs=1e-6)
    slope = ad.jit(ad.jacobian(solution))
    for _ in range(8):
        residual = solution(k, f, *edges) - seen
        k = k - np.linalg.lstsq(slope(k, f, *edges), residual, rcond=None)[0]
    np.testing.assert_allclose(k, true, rtol=1e-6)


def differences(k, *rest):
    found = np.zeros(len(k))
    for place in range(len(k)):
        step = np.zeros(len(k))
        step[place] = 1e-6
        found[place] = (misfit(k + step, *rest) - misfit(k - step, *rest)) / 2e-6
    return found
