"""What a transform differentiates by: arguments by position and by name, and the floats in containers."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors.api import ArgumentNumbers, IntegerArgument, SettingMismatch, StructureMismatch

SMALL = np.array([0.3, -1.2, 0.8])


# ---------------------------------------------------------------------------- by name
def by_name(x, y=2.0, *, scale, shift=0.0):
    return scale * x**2 * y + shift * x


@pytest.mark.parametrize(
    ("argnums", "expected"),
    [
        ("x", 36.0),
        ("scale", 12.0),
        (("scale", "x"), (12.0, 36.0)),
        ((0, "scale"), (36.0, 12.0)),
        (1, 12.0),
        (-1, 12.0),
    ],
)
def test_arguments_by_name(argnums: Any, expected: Any) -> None:
    for call in (
        lambda f: f(2.0, 3.0, scale=3.0),
        lambda f: f(2.0, scale=3.0, y=3.0),
        lambda f: f(y=3.0, x=2.0, scale=3.0),
    ):
        assert call(ad.grad(by_name, argnums=argnums)) == expected
        assert call(ad.value_and_grad(by_name, argnums=argnums)) == (36.0, expected)
        for transform in (ad.jacfwd, ad.jacrev, ad.jacobian):
            assert call(transform(by_name, argnums)) == expected
        if not isinstance(argnums, int):
            assert call(ad.jit(lambda *a, **k: ad.grad(by_name, argnums)(*a, **k))) == expected


@pytest.mark.parametrize("transform", [ad.grad, ad.jacfwd, ad.jacrev, ad.jacobian])
def test_argnames(transform: Any) -> None:
    assert transform(by_name, argnames="scale")(2.0, scale=3.0) == 8.0
    assert transform(by_name, argnames=["shift", "y"])(2.0, 3.0, scale=3.0, shift=1.0) == (2.0, 12.0)
    for argnames in ("shift", "factor", (), ("x", "x"), "0"):
        with pytest.raises(ArgumentNumbers):
            transform(by_name, argnames=argnames)(2.0, scale=3.0)
    for given in ({"argnames": 0}, {"argnames": ["x", 1]}, {"argnums": 0, "argnames": "x"}):
        with pytest.raises(SettingMismatch, match="argnames"):
            transform(by_name, **given)


def test_argnames_of_several_levels() -> None:
    curvature = ad.hessian(by_name, argnames=("x", "scale"))(2.0, 3.0, scale=3.0)
    assert curvature == ((18.0, 12.0), (12.0, 0.0))
    assert ad.grad(ad.grad(by_name, argnames="scale"), argnames="x")(x=2.0, scale=3.0) == 8.0
    assert ad.grad(functools.partial(by_name, scale=3.0), argnames="y")(2.0, 3.0) == 12.0
    weights = np.arange(100.0)

    def loss(rate, *, parameters):
        return rate * np.sum(parameters["w"] ** 2) * parameters["b"]

    found = ad.grad(loss, argnames="parameters")(2.0, parameters={"w": weights, "b": 3.0})
    np.testing.assert_allclose(found["w"], 12.0 * weights)
    matrix = ad.hessian(loss, argnames="parameters", sparse=True)(2.0, parameters={"w": weights, "b": 3.0})
    np.testing.assert_allclose(matrix["w"]["w"].toarray(), 12.0 * np.eye(100))
    pattern = ad.sparsity(lambda x, *, y: x + y**2, argnames="y")(1.0, y=weights).pattern
    assert pattern.shape == (100, 100) and pattern.nnz == 100


def test_argnames_inside() -> None:
    def program(a, b):
        def inner(x, *, scale):
            return scale * x**3

        return ad.grad(inner, argnames="x")(a, scale=b) + ad.grad(inner, argnames="scale")(x=a, scale=b)

    assert ad.jit(program)(2.0, 3.0) == 36.0 + 8.0
    assert ad.grad(program)(2.0, 3.0) == 36.0 + 12.0


# ---------------------------------------------------------------------------- integers among the floats
@dataclass(frozen=True)
class Settings:
    weights: Any
    steps: Any
    is_shifted: Any
    places: Any
    name: str = "settings"
    nothing: Any = None


def settled(settings, rate):
    total = 0.0
    for _ in range(settings.steps):
        total += rate * np.sum(settings.weights**2)
    return total + (np.sum(settings.weights[settings.places]) if settings.is_shifted else 0.0)


def settings_of(size: int) -> Settings:
    return Settings(np.arange(1.0, size + 1.0), 3, True, np.array([0, 2, 2]))


def slope_of(settings: Settings) -> Any:
    return 12.0 * settings.weights + np.bincount(settings.places, minlength=len(settings.weights))


def is_zero_of(found: Settings, settings: Settings, shape: tuple[int, ...] = ()) -> bool:
    """Whether what is not differentiated has zeros of its own type, and static fields are kept."""
    assert found.name == "settings" and found.nothing is None
    assert np.shape(found.steps) == shape and not np.any(found.steps)
    assert np.shape(found.is_shifted) == shape and not np.any(found.is_shifted)
    assert found.places.dtype == settings.places.dtype and found.places.shape == (*shape, 3)
    return not np.any(found.places)


@pytest.mark.parametrize("size", [3, 100])
def test_integer_fields_are_not_differentiated(size: int) -> None:
    settings = settings_of(size)
    inside = ad.jit(lambda settings, rate: ad.grad(settled)(settings, rate))
    for transform in (ad.grad(settled), ad.jacfwd(settled), ad.jacrev(settled), inside):
        found = transform(settings, 2.0)
        np.testing.assert_allclose(found.weights, slope_of(settings))
        assert type(found.steps) is int and type(found.is_shifted) is bool and is_zero_of(found, settings)
    value, pullback = ad.vjp(settled, settings, 2.0)
    by_settings, by_rate = pullback(1.0)
    np.testing.assert_allclose(by_settings.weights, slope_of(settings))
    assert is_zero_of(by_settings, settings) and np.isclose(by_rate, 3.0 * np.sum(settings.weights**2))
    direction = Settings(np.ones(size), 0, False, np.zeros(3, dtype=int))
    for found, slope in (
        ad.jvp(settled, (settings, 2.0), (direction, 0.0)),
        (value, ad.linearize(settled, settings, 2.0)[1](direction, 0.0)),
    ):
        assert np.isclose(found, settled(settings, 2.0)) and np.isclose(slope, np.sum(slope_of(settings)))
    for wrong in (1.0, np.float64(0.0)):
        with pytest.raises(StructureMismatch, match="a zero of its own type"):
            ad.jvp(settled, (settings, 2.0), (replace(direction, steps=wrong), 0.0))


@pytest.mark.parametrize("size", [3, 100])
def test_jacobians_by_integer_fields_are_zeros(size: int) -> None:
    settings = settings_of(size)
    expected = np.diag(2.0 * settings.weights)

    def squares(settings):
        return settings.weights**2 * np.ones(settings.steps)[0]

    for transform in (ad.jacfwd, ad.jacrev, ad.jacobian):
        found = transform(squares)(settings)
        np.testing.assert_allclose(found.weights, expected)
        assert is_zero_of(found, settings, (size,))
    curvature = ad.hessian(settled)(settings, 2.0)
    np.testing.assert_allclose(curvature.weights.weights, 12.0 * np.eye(size))
    assert is_zero_of(curvature.weights, settings, (size,))
    direction = Settings(np.ones(size), 0, False, np.zeros(3, dtype=int))
    by_settings, _ = ad.hvp(settled, (settings, 2.0), (direction, 0.0))
    np.testing.assert_allclose(by_settings.weights, 12.0 * np.ones(size))
    sparse = ad.jacobian(squares, sparse=True)(settings)
    np.testing.assert_allclose(sparse.weights.toarray(), expected)
    assert sparse.places.shape == (size, 3) and sparse.steps.shape == (size, 1) and sparse.places.nnz == 0


def test_a_step_down_a_tree_with_integers() -> None:
    """What the gradient holds for an integer can be fed to `p - rate * g` like the rest."""

    def loss(tree):
        return tree["w"] ** 2 * tree["power"] + np.sum(tree["layers"][0] ** tree["power"])

    tree = {"w": 3.0, "power": 2, "layers": (SMALL, True)}
    slope = ad.grad(loss)(tree)
    assert slope["power"] == 0 and slope["layers"][1] is False
    step = {name: tree[name] - 0.1 * slope[name] for name in ("w", "power")}
    assert step == {"w": 3.0 - 0.1 * 12.0, "power": 2.0}
    assert type(tree["power"])(step["power"]) == 2
    np.testing.assert_allclose(tree["layers"][0] - 0.1 * slope["layers"][0], 0.8 * SMALL)


@pytest.mark.parametrize("size", [3, 100])
@pytest.mark.parametrize("kind", [list, tuple])
def test_lists_of_floats(size: int, kind: type) -> None:
    for function in (lambda xs: sum(x * x for x in xs), lambda xs: np.sum(np.array(xs) ** 2)):
        found = ad.grad(function)(kind(float(k) for k in range(size)))
        assert type(found) is kind and found == kind(2.0 * k for k in range(size))


@pytest.mark.parametrize("size", [3, 100])
def test_lists_with_integers_are_refused(size: int) -> None:
    def total(xs):
        return sum(x * x for x in xs)

    with pytest.raises(IntegerArgument, match=r"`xs\[0\]` is int64(?s:.*)`2.0` for `2`"):
        ad.grad(total)(list(range(size)))
    mixed = [1.0] * (size - 1) + [2]
    with pytest.raises(IntegerArgument, match=rf"`xs\[{size - 1}\]` is int64 in a list of floats"):
        ad.grad(total)(mixed)
    assert ad.grad(total)(tuple(mixed)) == (2.0,) * (size - 1) + (0,)
    assert ad.grad(lambda xs: np.sum(xs[0]) * xs[1])([SMALL, 2])[1] == 0
