"""The transforms, outside and inside programs, in every nesting."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors.api import (
    ArgumentNumbers,
    AuxiliaryMissing,
    AxisMismatch,
    IntegerArgument,
    NonFloatOutput,
    NonScalarOutput,
    NothingToDifferentiate,
    StructureMismatch,
)

X = np.linspace(0.1, 1.3, 24)
SMALL = np.array([0.3, -1.2, 0.8])


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass(frozen=True)
class Model:
    weights: Any
    bias: Any
    kind: str = "linear"


def wave(x):
    return np.sum(np.sin(x) * x**2)


def wave_slope(x):
    return np.cos(x) * x**2 + 2 * x * np.sin(x)


def wave_curvature(x):
    return -np.sin(x) * x**2 + 4 * x * np.cos(x) + 2 * np.sin(x)


# ---------------------------------------------------------------------------- gradients
def test_grad_and_value_and_grad() -> None:
    np.testing.assert_allclose(ad.grad(wave)(X), wave_slope(X), rtol=1e-13)
    value, slope = ad.value_and_grad(wave)(X)
    assert np.isclose(value, wave(X), rtol=1e-13)
    np.testing.assert_allclose(slope, wave_slope(X), rtol=1e-13)


def test_argnums() -> None:
    def product(x, y, z):
        return x * y**2 * z**3

    assert ad.grad(product, argnums=1)(2.0, 3.0, 1.0) == 12.0
    assert ad.grad(product, argnums=-1)(2.0, 3.0, 1.0) == 54.0
    assert ad.grad(product, argnums=(2, 0))(2.0, 3.0, 1.0) == (54.0, 9.0)
    assert ad.grad(product)(2.0, y=3.0, z=1.0) == 9.0
    for argnums in (3, (0, 0), (), -4):
        with pytest.raises(ArgumentNumbers):
            ad.grad(product, argnums=argnums)(2.0, 3.0, 1.0)


def test_has_aux() -> None:
    def with_extras(x):
        return np.sum(x**2), {"twice": 2 * x, "count": len(x), "text": "t"}

    slope, extras = ad.grad(with_extras, has_aux=True)(SMALL)
    np.testing.assert_allclose(slope, 2 * SMALL)
    np.testing.assert_array_equal(extras["twice"], 2 * SMALL)
    assert (extras["count"], extras["text"]) == (3, "t")
    (value, extras), slope = ad.value_and_grad(with_extras, has_aux=True)(SMALL)
    assert np.isclose(value, np.sum(SMALL**2))
    with pytest.raises(AuxiliaryMissing):
        ad.grad(wave, has_aux=True)(X)


def test_containers() -> None:
    def loss(model, data):
        return np.sum((data[0] @ model.weights + model.bias - data[1].second) ** 2)

    matrix, target = np.arange(6.0).reshape(2, 3), np.array([1.0, -1.0])
    model = Model(SMALL, 0.5)
    gradient = ad.grad(loss)(model, [matrix, Pair(None, target)])
    residual = matrix @ SMALL + 0.5 - target
    assert isinstance(gradient, Model) and gradient.kind == "linear"
    np.testing.assert_allclose(gradient.weights, 2 * matrix.T @ residual)
    assert np.isclose(gradient.bias, 2 * np.sum(residual))
    by_data = ad.grad(loss, argnums=1)(model, [matrix, Pair(None, target)])
    np.testing.assert_allclose(by_data[0], 2 * np.outer(residual, SMALL))
    assert by_data[1].first is None
    np.testing.assert_allclose(by_data[1].second, -2 * residual)


def test_float32_stays() -> None:
    slope = ad.grad(wave)(X.astype(np.float32))
    assert slope.dtype == np.float32
    np.testing.assert_allclose(slope, wave_slope(X), rtol=1e-5)


def test_what_grad_refuses() -> None:
    with pytest.raises(NonScalarOutput, match="float64 of shape"):
        ad.grad(lambda x: 2 * x)(X)
    with pytest.raises(NonScalarOutput, match=r"\(\*, \*\)"):
        ad.grad(lambda x: (x, x))(1.0)
    with pytest.raises(NonScalarOutput, match="one int64"):
        ad.grad(lambda x: len(x))(X)
    with pytest.raises(IntegerArgument, match="`n` is int64"):
        ad.grad(lambda x, n: x * n, argnums=1)(1.0, 2)
    with pytest.raises(IntegerArgument, match=r"`model.weights`"):
        ad.grad(lambda model: np.sum(model.weights) * model.bias)(Model(np.arange(3), 2))
    with pytest.raises(NothingToDifferentiate):
        ad.grad(lambda how, x: x)("how", 1.0)


@pytest.mark.parametrize("jacobian", [ad.jacfwd, ad.jacrev, ad.jacobian])
def test_jacobians_of_integers_are_refused(jacobian) -> None:
    for function in (np.argsort, lambda x: 3, lambda x: "x", lambda x: {"count": len(x)}):
        with pytest.raises(NonFloatOutput):
            jacobian(function)(X)


def test_jacobians_of_floats_beside_integers() -> None:
    for jacobian in (ad.jacfwd, ad.jacrev, ad.jacobian):
        count, slope = jacobian(lambda x: (len(x), x * x))(SMALL)
        assert count is None
        np.testing.assert_allclose(slope, np.diag(2 * SMALL))
        with pytest.raises(NonFloatOutput, match="one int64"):
            jacobian(lambda x: (len(x), x), has_aux=True)(SMALL)


def test_kinds_of_functions() -> None:
    class Holder:
        factor = 3.0

        def method(self, x):
            return self.factor * x**2

        @staticmethod
        def static(x):
            return x**2

        @classmethod
        def of_class(cls, x):
            return cls.factor * x**2

    def closure(factor):
        def inner(x):
            return factor * x**2

        return inner

    assert ad.grad(Holder().method)(2.0) == 12.0
    assert ad.grad(Holder.static)(2.0) == 4.0
    assert ad.grad(Holder.of_class)(2.0) == 12.0
    assert ad.grad(closure(5.0))(2.0) == 20.0
    assert ad.grad(functools.partial(lambda factor, x: factor * x**2, 3.0))(2.0) == 12.0
    assert ad.grad(ad.jit(lambda x: x**2))(2.0) == 4.0
    assert ad.jit(ad.grad(lambda x: x**2))(2.0) == 4.0


# ---------------------------------------------------------------------------- products
def test_vjp_and_jvp() -> None:
    def both(x, y):
        return x * y, np.sum(y)

    (product, _), pullback = ad.vjp(both, 2.0, SMALL)
    np.testing.assert_allclose(product, 2 * SMALL)
    by_x, by_y = pullback((np.ones(3), 10.0))
    assert np.isclose(by_x, np.sum(SMALL))
    np.testing.assert_allclose(by_y, 12.0)
    again = pullback((np.zeros(3), 0.0))
    assert again[0] == 0.0
    out, tangent = ad.jvp(both, (2.0, SMALL), (1.0, np.array([1.0, 0.0, 0.0])))
    np.testing.assert_allclose(out[0], 2 * SMALL)
    np.testing.assert_allclose(tangent[0], SMALL + np.array([2.0, 0.0, 0.0]))
    assert np.isclose(tangent[1], 1.0)


def test_a_pullback_keeps_its_primals() -> None:
    x = SMALL.copy()
    _, pullback = ad.vjp(lambda x: x**2, x)
    x[:] = 0.0
    np.testing.assert_allclose(pullback(np.ones(3))[0], 2 * SMALL)


def test_jvp_with_auxiliary_result() -> None:
    value, tangent, extra = ad.jvp(lambda x: (x**2, {"triple": 3 * x}), (3.0,), (2.0,), has_aux=True)
    assert (value, tangent, extra) == (9.0, 12.0, {"triple": 9.0})
    with pytest.raises(
        ad.AnadromeError, match="`jvp` with `has_aux=True` requires a function that returns a pair"
    ):
        ad.jvp(lambda x: x**2, (3.0,), (2.0,), has_aux=True)

    def inside(x: Any) -> Any:
        parts = ad.jvp(lambda y: (y**3, y), (x,), (1.0,), has_aux=True)
        return parts[1] * parts[2]

    np.testing.assert_allclose(ad.grad(inside)(2.0), 36.0)


@pytest.mark.parametrize(
    "extra",
    [
        lambda f, x: ad.grad(f, has_aux=True)(x)[1],
        lambda f, x: ad.value_and_grad(f, has_aux=True)(x)[0][1],
        lambda f, x: ad.jacfwd(f, has_aux=True)(x)[1],
        lambda f, x: ad.jacrev(f, has_aux=True)(x)[1],
        lambda f, x: ad.hessian(f, has_aux=True)(x)[1],
        lambda f, x: ad.jvp(f, (x,), (1.0,), has_aux=True)[2],
        lambda f, x: ad.vjp(f, x, has_aux=True)[2],
    ],
)
def test_an_outer_transform_differentiates_auxiliary_results(extra: Any) -> None:
    def pair(y: Any) -> Any:
        return y**2, y**3

    assert ad.grad(lambda x: extra(pair, x))(2.0) == pytest.approx(12.0)
    assert ad.jvp(lambda x: extra(pair, x), (2.0,), (1.0,))[1] == pytest.approx(12.0)


def test_hessian_with_auxiliary_result() -> None:
    matrix, extra = ad.hessian(lambda x: (np.sum(x**3), np.sum(x)), has_aux=True)(SMALL)
    np.testing.assert_allclose(matrix, np.diag(6 * SMALL))
    np.testing.assert_allclose(extra, np.sum(SMALL))


def test_second_derivatives_are_refused_by_their_own_names() -> None:
    with pytest.raises(ad.AnadromeError, match="`hessian` requires a scalar-valued function"):
        ad.hessian(lambda x: x * 2)(SMALL)
    with pytest.raises(ad.AnadromeError, match="`hvp` requires a scalar-valued function"):
        ad.hvp(lambda x: x * 2, (SMALL,), (SMALL,))


def test_vjp_with_auxiliary_result() -> None:
    value, pullback, extra = ad.vjp(lambda x: (x**2, "extra"), 3.0, has_aux=True)
    assert (value, extra) == (9.0, "extra")
    assert pullback(1.0) == (6.0,)


def test_forms_must_fit() -> None:
    with pytest.raises(StructureMismatch, match="tangents"):
        ad.jvp(lambda x, y: x * y, (1.0, 2.0), (1.0,))
    with pytest.raises(StructureMismatch, match="a tangent: expected float64 of shape"):
        ad.jvp(wave, (SMALL,), (1.0,))
    with pytest.raises(StructureMismatch, match="cotangent"):
        ad.vjp(lambda x: (x, x), 1.0)[1](1.0)


def test_integers_have_zero_tangents() -> None:
    (_, index), (_, tangent) = ad.jvp(lambda x: (np.max(x), np.argmax(x)), (SMALL,), (np.ones(3),))
    assert (index, tangent) == (2, 0)


# ---------------------------------------------------------------------------- Jacobians
@pytest.mark.parametrize("mode", [ad.jacfwd, ad.jacrev], ids=["jacfwd", "jacrev"])
@pytest.mark.parametrize(
    "x", [SMALL, X, np.arange(6.0).reshape(2, 3), np.arange(40.0).reshape(2, 20)], ids=np.shape
)
def test_jacobian_shapes_and_values(mode: Any, x: np.ndarray) -> None:
    def transposed(x):
        return np.array([[x[i, j] ** 2 for i in range(x.shape[0])] for j in range(x.shape[1])])

    if x.ndim == 1:
        np.testing.assert_allclose(mode(lambda x: x**2)(x), np.diag(2 * x))
        return
    found = mode(transposed)(x)
    expected = np.einsum("ia,jb,ij->jiab", np.eye(x.shape[0]), np.eye(x.shape[1]), 2 * x)
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("mode", [ad.jacfwd, ad.jacrev], ids=["jacfwd", "jacrev"])
def test_jacobian_of_containers(mode: Any) -> None:
    def two(parameters, scale):
        return {"sum": scale * (parameters.weights + parameters.bias), "dot": np.sum(parameters.weights**2)}

    found = mode(two, argnums=(0, 1))(Model(SMALL, 2.0), 3.0)
    by_model, by_scale = found["sum"]
    np.testing.assert_allclose(by_model.weights, 3.0 * np.eye(3))
    np.testing.assert_allclose(by_model.bias, 3.0 * np.ones(3))
    np.testing.assert_allclose(by_scale, SMALL + 2.0)
    np.testing.assert_allclose(found["dot"][0].weights, 2 * SMALL)
    assert found["dot"][1] == 0.0


@pytest.mark.parametrize("mode", [ad.jacfwd, ad.jacrev], ids=["jacfwd", "jacrev"])
def test_jacobian_with_auxiliary_result(mode: Any) -> None:
    jacobian, extra = mode(lambda x: (x**2, np.sum(x)), has_aux=True)(SMALL)
    np.testing.assert_allclose(jacobian, np.diag(2 * SMALL))
    assert np.isclose(extra, np.sum(SMALL))


def test_jacobian_of_known_and_unknown_sizes_together() -> None:
    def outer(x, y):
        return np.array([[a * b for b in y] for a in x])

    by_x, by_y = ad.jacfwd(outer, argnums=(0, 1))(SMALL, X)
    np.testing.assert_allclose(by_x, np.einsum("ia,j->ija", np.eye(3), X))
    np.testing.assert_allclose(by_y, np.einsum("i,jb->ijb", SMALL, np.eye(len(X))))


def test_hessian_and_hvp() -> None:
    np.testing.assert_allclose(ad.hessian(wave)(SMALL), np.diag(wave_curvature(SMALL)), atol=1e-13)
    np.testing.assert_allclose(ad.hessian(wave)(X), np.diag(wave_curvature(X)), atol=1e-13)
    direction = np.cos(X)
    np.testing.assert_allclose(ad.hvp(wave, (X,), (direction,)), wave_curvature(X) * direction, rtol=1e-12)
    by_x, by_y = ad.hvp(lambda x, y: x**2 * y, (2.0, 3.0), (1.0, 10.0))
    assert (by_x, by_y) == (46.0, 4.0)
    matrix = ad.hessian(lambda x, y: x**2 * y, argnums=(0, 1))(2.0, 3.0)
    assert matrix == ((6.0, 4.0), (4.0, 0.0))


# ---------------------------------------------------------------------------- vmap
def test_vmap_axes() -> None:
    matrix = np.arange(60.0).reshape(3, 20)
    double = ad.vmap(lambda row, factor: row * factor, in_axes=(1, None), out_axes=-1)
    np.testing.assert_allclose(double(matrix, 2.0), 2 * matrix)
    np.testing.assert_allclose(ad.vmap(np.sum, in_axes=1)(matrix), matrix.sum(axis=0))
    tree = ad.vmap(lambda p: {"s": p[0] * p[1], "n": None}, in_axes=((0, None),))((X, 3.0))
    np.testing.assert_allclose(tree["s"], 3 * X)


def test_vmap_keeps_branches_and_loops() -> None:
    def steps(x):
        count = 0
        while x < 1.0:
            x = x * 2.0 if x > 0.5 else x + 0.25
            count = count + 1
        return x, count

    values, counts = ad.vmap(steps)(X)
    expected = [steps(float(x)) for x in X]
    np.testing.assert_allclose(values, [value for value, _ in expected])
    np.testing.assert_array_equal(counts, [count for _, count in expected])


def test_vmap_refuses() -> None:
    with pytest.raises(AxisMismatch, match="at least one"):
        ad.vmap(wave, in_axes=None)(X)
    with pytest.raises(AxisMismatch, match="no axis 0"):
        ad.vmap(lambda x: x)(1.0)
    with pytest.raises(AxisMismatch, match="does not match"):
        ad.vmap(lambda x: x, in_axes=(0, 0))(X)


# ---------------------------------------------------------------------------- nesting
def test_orders_of_derivatives() -> None:
    power = lambda x: x**5
    first, second, third = ad.grad(power), ad.grad(ad.grad(power)), ad.grad(ad.grad(ad.grad(power)))
    assert np.allclose([first(2.0), second(2.0), third(2.0)], [80.0, 160.0, 240.0])
    assert (
        ad.jacfwd(ad.jacfwd(power))(2.0)
        == ad.jacrev(ad.jacfwd(power))(2.0)
        == ad.jacfwd(ad.jacrev(power))(2.0)
    )


def test_no_confusion_of_perturbations() -> None:
    assert ad.grad(lambda x: x * ad.grad(lambda y: x + y)(1.0))(1.0) == 1.0
    assert ad.jacfwd(lambda x: x * ad.jacfwd(lambda y: x + y)(1.0))(1.0) == 1.0
    assert ad.jacfwd(lambda x: x * ad.grad(lambda y: x * y)(2.0))(3.0) == 6.0


def test_transforms_inside_a_function() -> None:
    def newton(x, steps):
        slope = ad.grad(wave_at)
        for _ in range(steps):
            x = x - slope(x) / ad.grad(slope)(x)
        return x

    def wave_at(x):
        return np.cos(x) + 0.1 * x**2

    found = ad.jit(newton)(3.0, 20)
    assert abs(-np.sin(found) + 0.2 * found) < 1e-14


def test_products_inside_a_function() -> None:
    def program(x):
        value, pullback = ad.vjp(lambda y: np.sin(y) * x, x)
        _, tangent = ad.jvp(lambda y: y**3, (x,), (2.0,))
        return value + pullback(1.0)[0] + tangent + np.sum(ad.hvp(wave, (SMALL * x,), (SMALL,)))

    def expected(x):
        return x * np.sin(x) + x * np.cos(x) + 6 * x**2 + np.sum(wave_curvature(SMALL * x) * SMALL)

    assert np.isclose(ad.jit(program)(0.7), expected(0.7), rtol=1e-13)
    step = 1e-6
    numeric = (expected(0.7 + step) - expected(0.7 - step)) / (2 * step)
    assert np.isclose(ad.grad(program)(0.7), numeric, rtol=1e-8)


def test_vmap_and_grad_commute() -> None:
    cube = lambda x: x**3
    np.testing.assert_allclose(ad.vmap(ad.grad(cube))(X), 3 * X**2)
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(ad.vmap(cube)(x)))(X), 3 * X**2)
    rows = np.arange(60.0).reshape(3, 20) / 60
    np.testing.assert_allclose(ad.vmap(ad.grad(wave))(rows), wave_slope(rows))


def test_what_a_derivative_closes_over_is_constant() -> None:
    def program(x, y):
        inner = lambda z: np.sum(z * y) + np.sum(x)
        return np.sum(ad.grad(inner)(x) * x)

    by_x, by_y = ad.grad(program, argnums=(0, 1))(X, X + 1.0)
    np.testing.assert_allclose(by_x, X + 1.0)
    np.testing.assert_allclose(by_y, X)


def test_stop_gradient() -> None:
    def program(tree):
        held = ad.stop_gradient(tree)
        return tree["x"] * held["x"] + np.sum(held["y"] * tree["y"]) + held["n"]

    gradient = ad.grad(lambda x, y: program({"x": x, "y": y, "n": 3, "s": "text"}), argnums=(0, 1))(
        2.0, SMALL
    )
    assert gradient[0] == 2.0
    np.testing.assert_allclose(gradient[1], SMALL)
    assert ad.stop_gradient(5) == 5
    assert ad.jacfwd(lambda x: ad.stop_gradient(x) * x)(3.0) == 3.0


def test_writing_into_what_is_differentiated_is_refused() -> None:
    def spoils(x):
        x[0] = 1.0
        return np.sum(x)

    with pytest.raises(ValueError, match="cannot write into an array that it did not make"):
        ad.grad(spoils)(X)
