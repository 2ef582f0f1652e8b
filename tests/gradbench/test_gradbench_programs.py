"""The twelve programs: their values, and their derivatives against three others.

* values, plain and compiled, against an independent formulation;
* the derivative against the complex step of that formulation, to 1e-9;
* the derivative against central differences of the plain function, to 1e-6;
* the derivative against forward mode in random directions, to 1e-9.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import gradbench_references as reference
import kmeans
import numpy as np
import ode
import particle
import pytest
import saddle
from gradbench_inputs import PARTICLE_CONTROL, SADDLE_PLACE, generator, kmeans_data
from gradbench_programs import PROGRAMS, Program, flat

import anadrome as ad

NAMES = tuple(PROGRAMS)
DIRECTIONS = 3


@cache
def program(name: str) -> Program:
    return PROGRAMS[name]()


def directions(active: tuple[np.ndarray, ...]) -> list[tuple[np.ndarray, ...]]:
    """Random directions, the same ones each time."""
    random = generator(10)
    return [tuple(random.normal(size=np.shape(array)) for array in active) for _ in range(DIRECTIONS)]


def moved(active: tuple[np.ndarray, ...], direction: tuple[np.ndarray, ...], step: Any) -> list[Any]:
    return [array + step * part for array, part in zip(active, direction, strict=True)]


def assert_close(actual: Any, expected: Any, tolerance: float) -> None:
    """Close in the largest element, relative to the largest expected."""
    left, right = flat(actual), flat(expected)
    assert left.shape == right.shape
    assert np.all(np.isfinite(left))
    assert np.max(np.abs(left - right)) <= tolerance * np.max(np.abs(right))


@pytest.mark.parametrize("name", NAMES)
def test_plain_value(name: str) -> None:
    function = program(name)
    assert_close(function.plain(*function.active), function.reference(*function.active), 1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_compiled_value(name: str) -> None:
    function = program(name)
    assert_close(function.compiled(*function.active), function.reference(*function.active), 1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_derivative_against_complex_step(name: str) -> None:
    function = program(name)
    for direction in directions(function.active):
        shifted = function.reference(*moved(function.active, direction, 1e-30j))
        assert_close(function.product(direction), np.imag(shifted) / 1e-30, 1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_derivative_against_central_differences(name: str) -> None:
    function = program(name)
    step = 1e-6
    for direction in directions(function.active):
        ahead = flat(function.plain(*moved(function.active, direction, step)))
        behind = flat(function.plain(*moved(function.active, direction, -step)))
        assert_close(function.product(direction), (ahead - behind) / (2.0 * step), 1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_derivative_against_forward_mode(name: str) -> None:
    function = program(name)
    for direction in directions(function.active):
        value, tangent = ad.jvp(function.compiled, function.active, direction)
        assert_close(value, function.reference(*function.active), 1e-12)
        assert_close(function.product(direction), tangent, 1e-9)


def test_kmeans_direction_is_the_way_to_the_mean() -> None:
    data = kmeans_data()
    assert_close(
        kmeans.direction(data["points"], data["centroids"]), reference.kmeans_direction(**data), 1e-9
    )


def test_kmeans_curvature_against_central_differences() -> None:
    data = kmeans_data()
    points, centroids = data["points"], data["centroids"]
    ones, step = np.ones_like(centroids), 1e-6
    slope = ad.grad(lambda c: kmeans.cost(points, c))
    _, curvature = ad.jvp(slope, (centroids,), (ones,))
    differences = (slope(centroids + step * ones) - slope(centroids - step * ones)) / (2.0 * step)
    assert_close(curvature, differences, 1e-6)


def test_ode_solution() -> None:
    x = generator(11).uniform(size=6)
    assert_close(ode.solve.python(x, 4), reference.ode_solution(x, 4), 1e-12)
    assert_close(ode.solve(x, 4), reference.ode_solution(x, 4), 1e-12)


def test_ode_gradient_in_closed_form() -> None:
    """Runge-Kutta is exact up to the fourth power of t, so y_3(2) = 2⁴/4! x_0 x_1 x_2 x_3."""
    x = generator(12).uniform(0.5, 1.5, size=4)
    assert_close(ode.gradient(x, 2), 2.0**4 / 24.0 * np.prod(x) / x, 1e-12)


@pytest.mark.parametrize("mode", ["ff", "fr", "rf", "rr"])
def test_particle_reaches_the_origin(mode: str) -> None:
    assert abs(getattr(particle, mode)(0.0) - PARTICLE_CONTROL) <= 1e-9


@pytest.mark.parametrize("mode", ["ff", "fr", "rf", "rr"])
def test_saddle_point_is_found(mode: str) -> None:
    assert np.allclose(getattr(saddle, mode)(np.array([1.0, 1.0])), SADDLE_PLACE, rtol=1e-6, atol=0.0)
