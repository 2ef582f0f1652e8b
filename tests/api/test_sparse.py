"""Sparse derivatives: equal to the dense ones, along as many directions as there are colours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.optimize import rosen_der, rosen_hess
from scipy.sparse import csr_array

import anadrome as ad
from anadrome.api.sparse.colouring import colour_columns, colour_symmetric
from anadrome.api.sparse.compression import Compression, compressed


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


# ---------------------------------------------------------------------------- programs
def differences(x):
    return x[1:] - x[:-1] ** 2


def stencil(x):
    return np.array([x[max(i - 1, 0)] * x[i] - np.sin(x[min(i + 1, len(x) - 1)]) for i in range(len(x))])


def one_output(x):
    return np.sum(x * x)


def looped(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        if i % 2 == 0:
            y[i] = x[i] ** 2
        else:
            y[i] = x[i] * x[i - 1]
    return y


def stepped(x):
    for _ in range(3):
        x = np.array([x[max(i - 1, 0)] + x[i] * x[i] for i in range(len(x))])
    return x


def branched(x):
    return np.array([x[i] ** 2 if x[i] > 0.0 else x[len(x) - 1 - i] for i in range(len(x))])


def picked(x):
    return x[np.argmax(x)] * x[:3]


def scattered(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[(i * 3) % len(x)] += x[i] ** 3
    return y


def summed(x):
    return np.cumsum(x * x)


def rows(x):
    a = x.reshape(5, 4)
    return np.array([np.prod(a[i]) for i in range(5)])


def counted(x):
    k, total = 0, 0.0
    found = np.zeros(len(x))
    while k < len(x):
        total = total + x[k]
        found[k] = x[k] * 2.0
        k = k + 2
    return found


def solved(x):
    return np.linalg.solve(np.eye(4) + np.outer(x[:4], x[:4]), x[4:8])


PROGRAMS = (
    *(differences, stencil, one_output, looped, stepped, branched, picked, scattered, summed, rows, counted),
    solved,
)


@pytest.mark.parametrize(
    ("program", "mode"),
    [
        *((program, "auto") for program in PROGRAMS),
        *((program, mode) for program in (looped, branched) for mode in ("forward", "reverse", "both")),
    ],
)
def test_sparse_jacobians_are_the_dense_ones(program, mode):
    x = random(20)
    dense = ad.jacfwd(program)(x)
    found = ad.jacobian(program, sparse=True, mode=mode)(x)
    assert isinstance(found, csr_array)
    np.testing.assert_allclose(found.toarray(), dense.reshape(-1, 20), atol=1e-12)


@pytest.mark.parametrize("program", PROGRAMS)
def test_patterns_hold_at_other_values(program):
    derivative = ad.jacobian(program, sparse=True)
    pattern = derivative.sparsity(random(20)).pattern.toarray()
    for seed in range(1, 4):
        dense = ad.jacfwd(program)(random(20, seed=seed)).reshape(-1, 20)
        assert not (dense[~pattern] != 0).any()


@pytest.mark.parametrize(
    ("program", "elements", "directions"),
    [
        (differences, 38, 2),
        (stencil, 58, 3),
        (one_output, 20, 1),
        (looped, 30, 2),
        (stepped, 4 * 20 - 6, 4),
        (scattered, 20, 1),
        (rows, 20, 1),
        (counted, 10, 1),
        (summed, 210, 20),
    ],
)
def test_patterns_are_as_small_as_they_should_be(program, elements, directions):
    found = ad.sparsity(program)(random(20))
    assert (found.nonzeros, found.directions) == (elements, directions)


def test_one_result_takes_one_reverse_sweep():
    assert ad.sparsity(one_output)(random(20)).mode == "reverse"
    assert ad.sparsity(one_output, mode="forward")(random(20)).directions == 20


def bordered(x):
    """One input in all results, and one result of all inputs."""
    return np.concatenate((np.array([np.sum(x**2)]), x[0] * np.sin(x[1:])))


def test_a_border_takes_directions_of_both_kinds():
    x = random(60)
    derivative = ad.jacobian(bordered, sparse=True)
    np.testing.assert_allclose(derivative(x).toarray(), ad.jacfwd(bordered)(x), atol=1e-12)
    found = derivative.sparsity(x)
    assert (found.mode, found.directions) == ("both", 3)
    assert ad.sparsity(bordered, mode="forward")(x).directions == 60


def test_a_long_border():
    """Work that grew with the square of the size would take minutes."""
    x, v = random(100_000), random(100_000, seed=1)
    derivative = ad.jacobian(bordered, sparse=True)
    assert derivative.sparsity(x).directions == 3
    np.testing.assert_allclose(derivative(x) @ v, ad.jvp(bordered, (x,), (v,))[1], atol=1e-9)


# ---------------------------------------------------------------------------- Hessians
def rosenbrock(x):
    return sum(100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2 for i in range(len(x) - 1))


def rosenbrock_in_slices(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_in_a_loop(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def arrow(x):
    return np.sum(x[1:] ** 3) + x[0] * np.sum(np.sin(x[1:]))


def separable(x):
    return np.sum(np.exp(x))


def linear(x):
    return 3.0 * np.sum(x)


@pytest.mark.parametrize(
    ("program", "directions"),
    [
        (rosenbrock, 3),
        (rosenbrock_in_slices, 3),
        (rosenbrock_in_a_loop, 3),
        (arrow, 2),
        (separable, 1),
        (linear, 0),
        (one_output, 1),
    ],
)
def test_sparse_hessians_are_the_dense_ones(program, directions):
    x = random(30)
    derivative = ad.hessian(program, sparse=True)
    found = derivative(x)
    np.testing.assert_allclose(found.toarray(), ad.hessian(program)(x), atol=1e-10)
    assert derivative.sparsity(x).directions == directions
    assert (found != found.T).nnz == 0


def test_the_hessian_of_a_long_chain():
    x = random(100_000)
    derivative = ad.hessian(rosenbrock, sparse=True)
    found, seen = derivative(x), derivative.sparsity(x)
    assert (seen.directions, seen.nonzeros) == (3, 3 * 100_000 - 2)
    v = random(100_000, seed=1)
    np.testing.assert_allclose(found @ v, ad.hvp(rosenbrock, (x,), (v,)), rtol=1e-9, atol=1e-9)
    step = 1e-7 * v
    central = (rosen_der(x + step) - rosen_der(x - step)) / 2e-7
    np.testing.assert_allclose(found @ v, central, rtol=1e-3, atol=1e-2)
    np.testing.assert_allclose(derivative(x[:40]).toarray(), rosen_hess(x[:40]), rtol=1e-10, atol=1e-9)


def test_the_hessian_of_a_long_arrow():
    """A variable that meets all others costs them nothing."""
    x, v = random(100_000), random(100_000, seed=1)
    derivative = ad.hessian(arrow, sparse=True)
    assert derivative.sparsity(x).directions == 2
    np.testing.assert_allclose(derivative(x) @ v, ad.hvp(arrow, (x,), (v,)), atol=1e-9)


def test_hessians_by_several_arguments():
    def program(x, y):
        return np.sum(x[:, 0] * y**2) + np.sum(x[:, 1] ** 3)

    x, y = random(20, 2), random(20, seed=1)
    dense = ad.hessian(program, argnums=(0, 1))(x, y)
    found = ad.hessian(program, argnums=(0, 1), sparse=True)(x, y)
    for i, first in enumerate((x, y)):
        for j, second in enumerate((x, y)):
            expected = dense[i][j].reshape(first.size, second.size)
            np.testing.assert_allclose(found[i][j].toarray(), expected, atol=1e-12)


# ---------------------------------------------------------------------------- arguments and results
@dataclass
class Model:
    scale: float
    weights: np.ndarray
    name: str


def test_containers_of_arguments_and_results():
    def program(model, x, shift=0.0):
        y = model.weights * x[: len(model.weights)] * model.scale
        return {"y": y + shift, "count": len(x), "norm": np.sum(x * x)}

    model, x = Model(2.0, random(17), "m"), random(25, seed=1)
    found = ad.jacobian(program, argnums=(0, 1), sparse=True)(model, x, shift=1.0)
    dense = ad.jacfwd(program, argnums=(0, 1))(model, x, shift=1.0)
    assert found["count"] is None
    for name, size in (("y", 17), ("norm", 1)):
        by_model, by_x = found[name]
        expected_model, expected_x = dense[name]
        assert by_model.name == "m"
        np.testing.assert_allclose(by_model.scale.toarray(), np.reshape(expected_model.scale, (size, 1)))
        np.testing.assert_allclose(by_model.weights.toarray(), expected_model.weights.reshape(size, 17))
        np.testing.assert_allclose(by_x.toarray(), expected_x.reshape(size, 25))


def test_numbers_and_single_precision():
    assert ad.jacobian(lambda x: x * x, sparse=True)(3.0).toarray() == [[6.0]]
    found = ad.jacobian(differences, sparse=True)(random(20).astype(np.float32))
    assert found.dtype == np.float32


def test_empty_arguments_and_results():
    found = ad.jacobian(differences, sparse=True)(np.zeros(1))
    assert found.shape == (0, 1)
    assert ad.jacobian(lambda x: x * 2.0, sparse=True)(np.zeros(0)).shape == (0, 0)


def gathered(x, at, which):
    return x[at] * x[0] if which else x[at]


def test_a_pattern_is_of_its_integers():
    derivative = ad.jacobian(gathered, sparse=True)
    x = random(20)
    for seed in range(3):
        at = np.random.default_rng(seed).integers(0, 20, 30)
        for which in (True, False):
            found = derivative(x, at, which)
            np.testing.assert_allclose(found.toarray(), ad.jacfwd(gathered)(x, at, which))
            assert derivative.sparsity(x, at, which).nonzeros == 30 + which * np.sum(at != 0)


AROUND = {"scale": np.arange(20.0)}


def test_a_pattern_follows_the_surroundings():
    at = np.arange(20)

    def program(x):
        return x[at] * AROUND["scale"]

    derivative = ad.jacobian(program, sparse=True)
    x = random(20)
    np.testing.assert_allclose(derivative(x).toarray(), np.diag(AROUND["scale"]))
    at = at[::-1].copy()
    AROUND["scale"] = AROUND["scale"] + 1.0
    np.testing.assert_allclose(derivative(x).toarray(), np.diag(AROUND["scale"])[:, ::-1])


def test_static_arguments():
    @ad.jit(static_argnums=1, static_argnames="unit")
    def program(x, shift, unit=1):
        return x[:-shift] * x[shift:] * unit

    x = random(20)
    for shift in (1, 2):
        found = ad.jacobian(program, sparse=True)(x, shift, unit=shift)
        np.testing.assert_allclose(found.toarray(), ad.jacfwd(program)(x, shift, unit=shift))


@ad.custom_vjp
def turned(x):
    return np.sin(x)


turned.defvjp(lambda x: (np.sin(x), np.cos(x)), lambda slope, g: (slope * g[::-1],))


def test_a_custom_rule_decides_the_pattern():
    x = random(20)
    derivative = ad.jacobian(lambda x: turned(x) * 2.0, sparse=True)
    np.testing.assert_allclose(derivative(x).toarray(), ad.jacrev(lambda x: turned(x) * 2.0)(x), atol=1e-14)
    assert (derivative.sparsity(x).pattern.toarray() == np.eye(20, dtype=bool)[::-1]).all()


def test_results_share_nothing_with_what_is_kept():
    derivative = ad.jacobian(differences, sparse=True)
    x = np.zeros(20)
    first = derivative(x)
    first.eliminate_zeros()
    first.data[:] = 7.0
    np.testing.assert_allclose(derivative(x).toarray(), ad.jacfwd(differences)(x))


def test_a_derivative_is_made_once():
    assert ad.jacobian(differences, sparse=True) is ad.jacobian(differences, sparse=True)
    assert ad.jacobian(differences, sparse=True) is not ad.jacobian(differences, sparse=True, mode="reverse")


# ---------------------------------------------------------------------------- colourings
def products_of(found: Compression, values: np.ndarray) -> np.ndarray:
    rows, columns = values.shape
    forward = values @ found.forward_seeds(0, (columns,), np.float64)
    reverse = found.reverse_seeds(0, (rows,), np.float64) @ values
    return np.concatenate((forward.ravel(), reverse.ravel()))


@pytest.mark.parametrize("seed", range(8))
def test_colourings_of_random_patterns(seed):
    source = np.random.default_rng(seed)
    dense = source.uniform(size=(30, 25)) < 0.1
    pattern = csr_array(dense)
    colours = colour_columns(pattern)
    for row in dense:
        assert len(set(colours[row])) == row.sum()
    values = np.where(dense, source.normal(size=dense.shape), 0.0)
    for mode in ("forward", "reverse", "both", "auto"):
        found = compressed(pattern, mode, False)
        np.testing.assert_allclose(found.matrix(products_of(found, values)).toarray(), values)


@pytest.mark.parametrize("seed", range(8))
def test_symmetric_patterns_are_recovered(seed):
    source = np.random.default_rng(seed)
    dense = source.uniform(size=(30, 30)) < 0.08
    dense |= dense.T
    values = np.where(dense, source.normal(size=dense.shape), 0.0)
    values = values + values.T
    found = compressed(csr_array(dense), "auto", True)
    np.testing.assert_allclose(found.matrix(products_of(found, values)).toarray(), values)
    assert found.forward <= colour_columns(csr_array(dense | np.eye(30, dtype=bool))).max() + 1


@pytest.mark.parametrize("density", [0.04, 0.1, 0.3])
def test_a_star_colouring_has_no_path_of_two_colours(density):
    source = np.random.default_rng(3)
    dense = source.uniform(size=(25, 25)) < density
    dense |= dense.T
    np.fill_diagonal(dense, False)
    colour = colour_symmetric(csr_array(dense))
    near: list[Any] = [np.flatnonzero(row) for row in dense]
    for b in range(25):
        for c in near[b]:
            assert colour[b] != colour[c]
            for a in near[b]:
                for d in near[c]:
                    if len({a, b, c, d}) == 4:
                        assert len({colour[v] for v in (a, b, c, d)}) > 2


def test_accumulators_of_which_only_some_contributions_are_reached() -> None:
    """Of two contributions of one sum the later one alone depends on the direction."""
    q = np.array([0.3, 1.7, 3.2, 0.5])
    for function in (
        lambda q: np.sum(np.interp(q, np.arange(4.0), q)),
        lambda q: np.sum(np.interp(q[:2], np.arange(5.0), np.array([0.0, 1.0, 4.0, 2.0, 3.0]) * q[2])),
    ):
        found = ad.hessian(function, sparse=True)(q).toarray()
        np.testing.assert_allclose(found, ad.hessian(function)(q), atol=1e-13)
