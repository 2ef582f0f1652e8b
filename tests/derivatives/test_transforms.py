"""Transforms inside programs and around them: nesting, `vmap`, `stop_gradient`, auxiliary results, trees."""

# ruff: noqa: B905 (programs are written as their users write them)

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import anadrome as ad
from tests.derivatives.agreement import agree, assert_same, mapped

RANDOM = np.random.default_rng(4)
SHORT, LONG, TALL = RANDOM.normal(size=4), RANDOM.normal(size=19), RANDOM.normal(size=(18, 3))


def potential(q):
    return np.sum(0.5 * q**2 + 0.25 * q**4) + q[0] * q[1]


def potential_slope(q):
    slope = q + q**3
    slope[0] += q[1]
    slope[1] += q[0]
    return slope


def close(left, right, rtol=1e-10):
    np.testing.assert_allclose(left, right, rtol=rtol, atol=1e-12)


# ---------------------------------------------------------------------------- derivatives inside programs
def test_gradient_inside_a_loop():
    def leapfrog(slope):
        def run(q, p):
            for _ in range(8):
                p = p - 0.05 * slope(q)
                q = q + 0.1 * p
                p = p - 0.05 * slope(q)
            return np.sum(q * p) + potential(q)

        return run

    by_hand, by_machine = leapfrog(potential_slope), leapfrog(ad.grad(potential))
    for q in (SHORT, LONG):
        close(ad.jit(by_machine)(q, q[::-1]), by_hand(q, q[::-1]))
        for one, two in zip(
            ad.grad(by_machine, argnums=(0, 1))(q, q[::-1]), ad.grad(by_hand, argnums=(0, 1))(q, q[::-1])
        ):
            close(one, two)


def test_newton_iteration_with_an_inner_derivative():
    def root(function):
        def find(a):
            x = 1.0
            while abs(function(x, a)) > 1e-13:
                x = x - function(x, a) / ad.grad(function)(x, a)
            return x

        return find

    found = root(lambda x, a: x**3 + x - a)
    x = ad.jit(found)(4.0)
    close(x**3 + x, 4.0)
    close(ad.grad(found)(4.0), 1.0 / (3.0 * x**2 + 1.0), 1e-6)


def test_hessian_inside_a_program():
    def damped_step(q):
        return q - np.linalg.solve(ad.hessian(potential)(q) + np.eye(4), ad.grad(potential)(q))

    hessian = np.diag(1.0 + 3.0 * SHORT**2) + np.eye(4)[[1, 0, 2, 3]] * np.array([1.0, 1.0, 0.0, 0.0])
    close(ad.hessian(potential)(SHORT), hessian)
    close(ad.jit(damped_step)(SHORT), SHORT - np.linalg.solve(hessian + np.eye(4), potential_slope(SHORT)))
    jacobian = ad.jacfwd(damped_step)(SHORT)
    close(jacobian, ad.jacrev(damped_step)(SHORT))
    steps = [
        (ad.jit(damped_step)(SHORT + h) - ad.jit(damped_step)(SHORT - h)) / 2e-5 for h in 1e-5 * np.eye(4)
    ]
    close(jacobian, np.array(steps).T, 1e-6)


def test_perturbations_are_not_confused():
    assert float(ad.grad(lambda x: x * ad.grad(lambda y: x + y)(2.0))(1.0)) == 1.0
    assert float(ad.grad(lambda x: x * ad.jvp(lambda y: x * y, (3.0,), (1.0,))[1])(5.0)) == 10.0
    third = ad.grad(ad.grad(ad.grad(lambda x: x**5)))
    close(third(1.5), 60 * 1.5**2)
    close(ad.jvp(ad.grad(lambda x: x * np.sin(x)), (0.7,), (1.0,))[1], 2 * np.cos(0.7) - 0.7 * np.sin(0.7))


def test_second_derivatives_by_every_order_of_modes():
    def program(x):
        total = 0.0
        for i in range(1, len(x)):
            if x[i] > 0.0:
                total += x[i] ** 3 * np.sin(x[i - 1])
            else:
                total += x[i] * total
        return total

    for x in (SHORT, LONG):
        v = np.cos(np.arange(len(x)))
        expected = ad.hessian(program)(x) @ v
        close(expected, ad.hvp(program, (x,), (v,)))
        close(expected, ad.grad(lambda y: ad.grad(program)(y) @ v)(x))
        close(expected, ad.grad(lambda y: ad.jvp(program, (y,), (v,))[1])(x))
        close(expected, ad.jvp(lambda y: ad.vjp(program, y)[1](1.0)[0], (x,), (v,))[1])
        close(ad.jacrev(ad.grad(program))(x) @ v, expected)
        close(ad.jacfwd(ad.jacfwd(program))(x) @ v, expected)


# ---------------------------------------------------------------------------- vmap
def halving(x, limit):
    steps = 0.0
    while np.sum(x**2) > limit:
        x = 0.5 * x * (1.0 + 0.1 * np.sin(x))
        steps += 1.0
    if x[0] > 0.0:
        return steps + np.sum(x**3)
    return np.sum(x) * x[1]


@pytest.mark.parametrize("rows", [TALL, TALL[:5], RANDOM.normal(size=(18, 17))])
def test_vmap_of_loops_and_branches(rows):
    batched = ad.vmap(halving, in_axes=(0, None))
    close(batched(rows, 0.3), [halving(row, 0.3) for row in rows])
    each = ad.vmap(ad.grad(halving), in_axes=(0, None))(rows, 0.3)
    close(each, [ad.grad(halving)(row, 0.3) for row in rows])
    close(each, ad.grad(lambda a: np.sum(batched(a, 0.3)))(rows))
    columns = ad.vmap(halving, in_axes=(1, None))(np.ascontiguousarray(rows.T), 0.3)
    close(columns, batched(rows, 0.3))


def test_vmap_of_vmap_and_pairs():
    kernel = lambda x, y: np.exp(-np.sum((x - y) ** 2))
    gram = ad.vmap(ad.vmap(kernel, in_axes=(None, 0)), in_axes=(0, None))
    expected = np.exp(-np.sum((TALL[:, None] - TALL[None]) ** 2, axis=-1))
    close(gram(TALL, TALL), expected)
    slope = ad.grad(lambda x: np.sum(gram(x, TALL) ** 2))(TALL)
    by_hand = np.sum(-4.0 * expected[..., None] ** 2 * (TALL[:, None] - TALL[None]), axis=1)
    close(slope, by_hand)


# -------------------------------------------------------------------------- stop_gradient, auxiliary results
def test_stop_gradient_in_a_program():
    def loss(x):
        target = ad.stop_gradient(np.mean(x))
        total = 0.0
        for v in x:
            total += (v - target) ** 2 * ad.stop_gradient(total + 1.0)
        return total

    for x in (SHORT, LONG):
        totals, total = [], 0.0
        for v in x:
            totals.append(total + 1.0)
            total += (v - x.mean()) ** 2 * (total + 1.0)
        expected = 2.0 * (x - x.mean()) * np.array(totals)
        close(ad.grad(loss)(x), expected)
        close(ad.jvp(loss, (x,), (np.ones(len(x)),))[1], expected.sum())


def test_auxiliary_results_and_argnums():
    def loss(w, x, y, count):
        residual = w * x - y
        return np.sum(residual**2) / count, {"residual": residual, "count": count}

    (value, aux), slopes = ad.value_and_grad(loss, argnums=(2, 0), has_aux=True)(SHORT, SHORT**2, 2.0, 4)
    residual = SHORT**3 - 2.0
    close(value, np.sum(residual**2) / 4)
    close(aux["residual"], residual)
    assert aux["count"] == 4
    close(slopes[0], -np.sum(residual) / 2)
    close(slopes[1], residual * SHORT**2 / 2)
    slope, again = ad.grad(loss, argnums=-2, has_aux=True)(SHORT, SHORT**2, 2.0, 4)
    close(slope, slopes[0])
    close(again["residual"], residual)


@dataclass
class Gaussian:
    mean: np.ndarray
    spread: float


class Batch(NamedTuple):
    points: np.ndarray
    parts: tuple


def test_pytrees_in_and_out():
    def program(model, batch, options):
        scaled = (batch.points - model["prior"].mean) / model["prior"].spread
        mixed = [part * weight for part, weight in zip(batch.parts, model["weights"])]
        return {"a": np.sum(scaled**2), "b": (mixed, Gaussian(scaled[0], mixed[0] * options["scale"]))}

    model = {"prior": Gaussian(SHORT[:3], 1.7), "weights": [0.3, 0.4]}
    batch = Batch(TALL, (1.5, 2.5))
    agree(program, model, batch, {"scale": 0.1})
    slope = ad.grad(lambda *args: program(*args)["a"], argnums=(0, 1))(model, batch, {"scale": 0.1})
    assert isinstance(slope[0]["prior"], Gaussian) and isinstance(slope[1], Batch)
    assert_same(
        mapped(lambda leaf: leaf * 0.0, slope), mapped(lambda leaf: np.zeros(np.shape(leaf)), (model, batch))
    )
    close(slope[1].points, 2.0 * (TALL - SHORT[:3]) / 1.7**2)


@pytest.mark.parametrize("size", [5, 23])
def test_single_precision_stays_single(size):
    def program(x, s):
        y = np.zeros_like(x)
        for i in range(len(x)):
            y[i] = np.tanh(x[i] * s) + 0.5 * y[i - 1]
        if y[0] > 0:
            y = y * 2.0
        return np.sum(y * x) / len(x) + np.max(x) ** 2

    x = RANDOM.normal(size=size).astype(np.float32)
    value, slope = ad.value_and_grad(program)(x, np.float32(0.7))
    assert value.dtype == slope.dtype == np.float32
    tangent = ad.jvp(program, (x, np.float32(0.7)), (np.ones_like(x), np.float32(0.0)))[1]
    assert tangent.dtype == np.float32
    exact = ad.grad(program)(x.astype(np.float64), 0.7)
    close(slope, exact, 1e-4)
    np.testing.assert_allclose(tangent, exact.sum(), rtol=1e-4)
