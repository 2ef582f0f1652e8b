"""Transforms of transforms: perturbations kept apart, closures, three levels, rows, `stop_gradient`."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors.api import AxisMismatch, StructureMismatch
from tests.derivatives.agreement import agree

X = np.linspace(0.2, 1.7, 5)
LONG = np.linspace(0.1, 2.0, 40)


def reverse(function):
    return ad.grad(function)


def forward(function):
    return lambda x: ad.jvp(function, (x,), (1.0,))[1]


def columns(function):
    return ad.jacfwd(function)


MODES = {"r": reverse, "f": forward, "c": columns}
PAIRS = list(itertools.product("rfc", repeat=2))


# ---------------------------------------------------------------------------- perturbation confusion
@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_perturbations_are_kept_apart(outer, inner):
    """d/dx (x · d/dy (x + y)) = 1, d/dx (x · d/dy (x·y)) = 2x, and their like (Siskind, Pearlmutter 2005)."""
    d, e = MODES[outer], MODES[inner]
    assert float(d(lambda x: x * e(lambda y: x + y)(1.0))(1.0)) == 1.0
    assert float(d(lambda x: x * e(lambda y: x * y)(2.0))(3.0)) == 6.0
    assert float(d(lambda x: e(lambda y: x * x * y * y)(x))(2.0)) == 6 * 4.0
    assert float(d(lambda x: e(lambda y: e(lambda z: x * y * z * z)(y) * x)(x))(2.0)) == pytest.approx(48.0)


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_closures_over_what_the_outer_level_differentiates(outer, inner):
    d, e = MODES[outer], MODES[inner]

    def program(a):
        table = [a * k for k in range(1, 4)]

        def inside(y):
            total = 0.0
            for i in range(5):
                total = total + np.sin(y * a * i) * table[i % 3]
            return total

        return e(inside)(a) * a

    def by_hand(a):
        return a * sum(np.cos(a * a * i) * a * i * a * (i % 3 + 1) for i in range(5))

    numeric = (by_hand(0.7 + 1e-6) - by_hand(0.7 - 1e-6)) / 2e-6
    assert float(d(program)(0.7)) == pytest.approx(numeric, rel=1e-6)


@pytest.mark.parametrize("modes", list(itertools.product("rf", repeat=3)), ids="".join)
def test_three_levels(modes):
    """Loops, branches, while and in-place writes under three transforms, in every order."""

    def program(x):
        y = np.zeros(4)
        y[0] = x
        for i in range(1, 4):
            y[i] = y[i - 1] * y[i - 1] * 0.5 + x * i if x > 0.1 else y[i - 1]
        t = x
        while t < 3.0:
            t = t * t + 1.0
        return np.sum(np.sin(y)) + t

    def nested(names):
        function = program
        for name in names:
            function = MODES[name](function)
        return function

    second = ad.jit(reverse(reverse(program)))
    numeric = (second(0.6 + 1e-4) - second(0.6 - 1e-4)) / 2e-4
    assert float(ad.jit(nested(modes))(0.6)) == pytest.approx(numeric, rel=1e-5)


# ---------------------------------------------------------------------------- rows
def test_rows_of_gradients_and_gradients_of_rows():
    def of_a_row(row):
        y = np.zeros(len(row))
        total = 0.0
        for i in range(len(row)):
            if row[i] > 0.5:
                y[i] = np.sin(row[i]) * total
            else:
                y[i] = row[i] ** 2
            total = total + y[i]
        while total > 1.0:
            total = total * 0.5
        return total + np.sum(y)

    table = np.random.default_rng(0).uniform(size=(7, 5))
    rows = ad.vmap(ad.grad(of_a_row))(table)
    np.testing.assert_allclose(rows, [ad.grad(of_a_row)(row) for row in table], rtol=1e-12)
    agree(lambda t: ad.vmap(of_a_row)(t), table, order=2)
    whole = ad.grad(lambda t: np.sum(ad.vmap(of_a_row)(t)))(table)
    np.testing.assert_allclose(whole, rows, rtol=1e-12)
    curvature = ad.vmap(ad.hessian(of_a_row))(table)
    np.testing.assert_allclose(
        curvature, [ad.hessian(of_a_row)(row) for row in table], rtol=1e-10, atol=1e-12
    )


def test_rows_of_rows():
    outer = ad.vmap(ad.vmap(lambda x, y: x * np.sin(y), in_axes=(0, None)), in_axes=(None, 0))
    agree(lambda x, y: outer(x, y), X, LONG)
    np.testing.assert_allclose(ad.jit(outer)(X, LONG), X[None, :] * np.sin(LONG[:, None]))


# ---------------------------------------------------------------------------- what is not differentiated
@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_stop_gradient_at_every_level(outer, inner):
    d, e = MODES[outer], MODES[inner]
    assert float(d(lambda x: x * ad.stop_gradient(x))(3.0)) == 3.0
    assert float(e(d(lambda x: x * x * ad.stop_gradient(x)))(3.0)) == 6.0
    assert float(d(lambda x: e(lambda y: x * y * ad.stop_gradient(y))(2.0) * x)(3.0)) == 2 * 2.0 * 3.0
    assert float(d(lambda x: ad.stop_gradient(e(lambda y: y * y * x)(x)) * x)(3.0)) == 18.0


def test_stop_gradient_in_loops_rows_and_containers():
    def program(x):
        state = {"a": x, "b": (x * 2.0,)}
        for i in range(4):
            kept = ad.stop_gradient(state)
            state = {"a": state["a"] * kept["b"][0] * 0.5, "b": (kept["a"] + x * i,)}
        return np.sum(state["a"]) + np.sum(state["b"][0])

    forward_mode, reverse_mode = ad.jacfwd(program)(X), ad.grad(program)(X)
    np.testing.assert_allclose(forward_mode, reverse_mode, rtol=1e-12)
    rows = ad.vmap(ad.grad(lambda v: v * ad.stop_gradient(v) ** 2))(X)
    np.testing.assert_allclose(rows, X**2)


# ---------------------------------------------------------------------------- the verbs together
def test_linearize():
    value, push = ad.linearize(lambda x, y: np.sin(x) * y, X, 2.0)
    np.testing.assert_allclose(value, np.sin(X) * 2.0)
    np.testing.assert_allclose(push(X, 1.0), np.cos(X) * 2.0 * X + np.sin(X))
    np.testing.assert_allclose(push(0.0 * X, 0.0), 0.0 * X)
    before = X.copy()
    changed = X.copy()
    _, push = ad.linearize(lambda x: x * x, changed)
    changed[:] = 0.0
    np.testing.assert_allclose(push(np.ones(5)), 2 * before)


def test_linearize_inside():
    @ad.jit
    def program(x, directions):
        value, push = ad.linearize(lambda x: np.sin(x) * x, x)
        return value, ad.vmap(push)(directions)

    _, rows = program(X, np.eye(5))
    np.testing.assert_allclose(rows, np.diag(np.cos(X) * X + np.sin(X)), atol=1e-15)
    agree(lambda x: ad.linearize(lambda y: np.sin(y) * x, x * x)[1](x), X)


def test_linear_functions_go_into_programs():
    """Made outside, they are derivatives at the same primals under every transform."""
    slope = np.cos(X) * 2.0
    point = X.copy()
    _, push = ad.linearize(lambda x, y: np.sin(x) * y, point, 2.0)
    _, pull = ad.vjp(lambda x, y: np.sin(x) * y, point, 2.0)
    point[:] = 0.0
    np.testing.assert_allclose(ad.vmap(push)(np.eye(5), np.zeros(5)), np.diag(slope))
    np.testing.assert_allclose(ad.jit(push)(X, 1.0), push(X, 1.0))
    np.testing.assert_allclose(ad.jacrev(push)(X, 0.0), np.diag(slope))
    np.testing.assert_allclose(ad.vmap(pull)(np.eye(5))[0], np.diag(slope))
    np.testing.assert_allclose(ad.jit(pull)(X)[1], pull(X)[1])
    np.testing.assert_allclose(
        ad.grad(lambda t: pull(np.exp(t * X))[1])(0.5), np.sum(np.sin(X) * X * np.exp(X / 2))
    )
    _, push = ad.linearize(np.sin, np.linspace(0.0, 1.0, 100_000))
    assert ad.jit(push)(np.ones(100_000))[-1] == pytest.approx(np.cos(1.0), rel=1e-15)
    _, pull, beside = ad.vjp(lambda z: (z * z, "beside"), 1 + 2j, has_aux=True)
    assert ad.jit(pull)(1 + 0j) == (2 + 4j,)
    assert beside == "beside"


def test_misuse_of_linear_functions_names_the_function():
    def scaled(x):
        return 2.0 * x

    _, push = ad.linearize(scaled, X)
    _, pull = ad.vjp(scaled, X)
    for call, error in (
        (lambda: ad.jit(push)(np.ones(3)), ad.AnadromeError),
        (lambda: ad.vmap(pull)(1.0), AxisMismatch),
        (lambda: push(), StructureMismatch),
        (lambda: ad.jit(lambda v: push(x=v))(X), StructureMismatch),
        (lambda: ad.jit(lambda v: pull(v, v))(X), StructureMismatch),
    ):
        with pytest.raises(error) as caught:
            call()
        assert caught.value.span is None or caught.value.span.file.endswith("test_composition.py")


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_jacobian(mode):
    np.testing.assert_allclose(ad.jacobian(lambda x: x**2, mode=mode)(LONG), np.diag(2 * LONG))
    np.testing.assert_allclose(ad.jacobian(lambda x: np.sum(x**2), mode=mode)(LONG), 2 * LONG)
    np.testing.assert_allclose(ad.jacobian(lambda t: t * LONG, mode=mode)(2.0), LONG)
    found = ad.jacobian(lambda p: {"a": p["u"] * p["v"], "b": p["u"]}, mode=mode)({"u": 2.0, "v": X})
    np.testing.assert_allclose(found["a"]["u"], X)
    np.testing.assert_allclose(found["a"]["v"], 2.0 * np.eye(5))
    np.testing.assert_allclose(found["b"]["v"], np.zeros(5))
    pair = ad.jacobian(lambda x, y: (x * y, x), argnums=(0, 1), has_aux=True, mode=mode)(2.0, 3.0)
    assert pair == ((3.0, 2.0), 2.0)


def test_jacobian_chooses_by_the_sizes():
    wide = str(ad.show(ad.jacobian(lambda x: np.sum(x * x)), LONG, stage="array"))
    assert wide == str(ad.show(ad.jacobian(lambda x: np.sum(x * x), mode="reverse"), LONG, stage="array"))
    tall = str(ad.show(ad.jacobian(lambda t: t * LONG), 2.0, stage="array"))
    assert tall == str(ad.show(ad.jacobian(lambda t: t * LONG, mode="forward"), 2.0, stage="array"))
