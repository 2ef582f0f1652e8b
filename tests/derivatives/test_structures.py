"""Comprehensions, containers, closures, methods, recursion and matrices, as users write them."""

# ruff: noqa: B905, PIE804, RUF007 (programs are written as their users write them)

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import anadrome as ad
from tests.derivatives.agreement import agree

RANDOM = np.random.default_rng(3)
SHORT, LONG, OTHER = RANDOM.normal(size=5), RANDOM.normal(size=20), RANDOM.normal(size=20)
MATRIX, TALL, WIDE = RANDOM.normal(size=(4, 3)), RANDOM.normal(size=(18, 3)), RANDOM.normal(size=(3, 19))
SMALL, LARGE = RANDOM.normal(size=(3, 3)), RANDOM.normal(size=(17, 17)) / 4.0


# ---------------------------------------------------------------------------- comprehensions
def filtered_reductions(x):
    return sum(v**2 for v in x if v > 0.0) * max(v for v in x if v < 1.0) + min(abs(v) for v in x if v != 0.0)


def filtered_list(x):
    kept = [v * v for v in x if v > 0.0]
    return sum(kept) / len(kept) + kept[0]


def filtered_list_as_array(x):
    kept = np.array([np.sin(v) for v in x if v > -0.5])
    return np.sum(kept**2) * kept[-1]


def product_by_math(x):
    return math.prod(1.0 + 0.1 * v for v in x)


def nested_list(x, y):
    table = np.array([[np.cos(a * b) for b in y] for a in x])
    return np.sum(table @ y) + table[0, 0]


def two_clauses(x):
    n = len(x)
    return sum(x[i] * x[j] / (1.0 + abs(i - j)) for i in range(n) for j in range(i) if (i + j) % 3 != 0)


def matrix_by_comprehension(a, b):
    n, m, k = a.shape[0], b.shape[1], a.shape[1]
    return np.array([[sum(a[i, p] * b[p, j] for p in range(k)) for j in range(m)] for i in range(n)])


def mixture_likelihood(points, means, log_weights):
    def one(point):
        parts = [
            w - 0.5 * sum((p - m) ** 2 for p, m in zip(point, mean)) for mean, w in zip(means, log_weights)
        ]
        top = max(parts)
        return top + np.log(sum(np.exp(part - top) for part in parts))

    return sum(one(point) for point in points)


def enumerated_and_reversed(x):
    return sum(i * v * w for i, (v, w) in enumerate(zip(x, reversed(x)))) + sum(
        v**i for i, v in enumerate(x[:3])
    )


def any_and_all_of_values(x):
    scale = 2.0 if any(v > 1.5 for v in x) else 3.0
    shift = x[0] if all(v > -9.0 for v in x) else x[1]
    return scale * shift * x[2]


def comprehension_with_inner_loop(x):
    def power_sum(v):
        total, term = 0.0, 1.0
        for k in range(1, 7):
            term = term * v / k
            total = total + term
        return total

    return np.array([power_sum(v) for v in x]) * x


def comprehension_with_inner_while(x):
    def root(v):
        r = 1.0
        while abs(r * r - v) > 1e-12:
            r = 0.5 * (r + v / r)
        return r

    return np.array([root(abs(v) + 0.5) for v in x])


# ---------------------------------------------------------------------------- containers
@dataclass
class Spring:
    stiffness: float
    rest: float

    def energy(self, length):
        return 0.5 * self.stiffness * (length - self.rest) ** 2


class Layer(NamedTuple):
    weights: Any
    bias: Any


class Model:
    """An object with static attributes and a method."""

    scale = 0.5

    def __init__(self, power):
        self.power = power

    def __call__(self, x):
        return self.scale * self._raise(x)

    def _raise(self, x):
        return np.sum(np.abs(x) ** self.power)


MODEL = Model(3)


def spring_chain(spring, x):
    return sum(spring.energy(abs(b - a)) for a, b in zip(x[:-1], x[1:]))


def layers(parameters, x):
    for layer in parameters:
        x = np.tanh(layer.weights @ x + layer.bias)
    return np.sum(x**2)


def dictionary_of_parameters(p, x):
    hidden = np.maximum(0.0, x @ p["w"] + p["b"])
    return {"loss": np.mean(hidden**2), "first": hidden[0] * p["scale"]}


def tuple_carried_in_a_loop(x, n):
    state = (x, 1.0, (x * 0.5,))
    for _ in range(n):
        position, speed, (extra,) = state
        state = (position + 0.1 * speed, speed - 0.1 * np.sin(position) * extra, (extra * 0.9,))
    return state


def dictionary_carried_in_a_loop(x):
    state = {"sum": 0.0, "best": x[0]}
    for v in x:
        state = {"sum": state["sum"] * 0.9 + v, "best": max(state["best"], v * state["sum"])}
    return state["sum"] * state["best"]


def dataclass_carried_in_a_loop(spring, steps):
    for _ in range(steps):
        spring = Spring(spring.stiffness * 0.9, spring.rest + spring.energy(1.0))
    return spring.energy(2.0)


def model_object(x):
    return MODEL(x) + Model(2)(x[:3])


def unpacking(x):
    first, *middle, last = x
    (a, b), c = (first, last), middle[1]
    return a * b + c**2 - sum(middle)


def static_recursion(x, depth=4):
    if depth == 0:
        return x
    left = static_recursion(x * 0.5, depth - 1)
    return np.sin(left) + static_recursion(x, depth - 1) * 0.1


def closures(x):
    scale = x[0]

    def add(amount):
        return lambda value: value * scale + amount

    functions = [add(1.0), add(x[1]), functools.partial(lambda a, b: a * b, x[2])]
    result = x[3]
    for function in functions:
        result = function(result)
    return result


def defaults_and_keywords(x):
    def kernel(a, b=2.0, *rest, gamma=0.5, **options):
        return a * b * gamma + sum(rest) * options.get("extra", 1.0)

    return kernel(x[0]) + kernel(x[1], x[2], x[3], gamma=x[4], extra=3.0) + kernel(*x[:2], **{"gamma": x[2]})


def list_grown_in_unrolled_loop(x):
    means = [x[0]]
    for i in range(1, 6):
        means.append(0.8 * means[-1] + 0.2 * x[i])
    return sum(mean**2 for mean in means)


# ---------------------------------------------------------------------------- matrices
def gaussian_log_density(a, x):
    covariance = a @ a.T + 2.0 * np.eye(len(a))
    factor = np.linalg.cholesky(covariance)
    y = np.linalg.solve(factor, x)
    return -0.5 * y @ y - np.sum(np.log(np.diag(factor)))


def regression(a, y, ridge):
    return np.linalg.solve(a.T @ a + ridge * np.eye(a.shape[1]), a.T @ y)


def determinant_and_inverse(a):
    b = a @ a.T + np.eye(a.shape[0])
    return np.log(np.linalg.det(b)) + np.trace(np.linalg.inv(b) @ a)


def power_iteration(a, v):
    for _ in range(9):
        v = a @ v
        v = v / np.linalg.norm(v)
    return v @ (a @ v)


def matrix_power_by_loop(a, n):
    result = np.eye(len(a))
    for _ in range(n):
        result = result @ a + 0.1 * result.T
    return result


def kalman(x, q):
    mean, variance = np.zeros(2), np.eye(2)
    step = np.array([[1.0, 0.1], [0.0, 1.0]])
    total = 0.0
    for value in x:
        mean = step @ mean
        variance = step @ variance @ step.T + q * np.eye(2)
        gain = variance[:, 0] / (variance[0, 0] + 0.5)
        error = value - mean[0]
        mean = mean + gain * error
        variance = variance - np.outer(gain, variance[0])
        total += error**2 / (variance[0, 0] + 0.5)
    return total


def attention(q, k, v):
    scores = q @ k.T / np.sqrt(q.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.einsum("ij,jk->ik", weights / weights.sum(axis=1, keepdims=True), v)


def solve_in_a_loop(a, x):
    for _ in range(3):
        x = np.linalg.solve(a + 6.0 * np.eye(len(a)), np.sin(x))
    return x


def implicit_steps(x, rate):
    n = len(x)
    matrix = np.eye(n) * (1.0 + 2.0 * rate) - rate * np.eye(n, k=1) - rate * np.eye(n, k=-1)
    for _ in range(3):
        x = np.linalg.solve(matrix, x)
    return x


def rotations(angle, points):
    c, s = np.cos(angle), np.sin(angle)
    turned = points @ np.array([[c, -s], [s, c]]).T
    return np.sum(turned**3)


def rodrigues(rotation, points):
    angle = np.sqrt(np.sum(rotation**2) + 1e-12)
    axis = rotation / angle
    return np.array(
        [
            p * np.cos(angle) + np.cross(axis, p) * np.sin(angle) + axis * (axis @ p) * (1.0 - np.cos(angle))
            for p in points
        ]
    )


SPRING = Spring(2.0, 0.4)
CASES = [
    (filtered_reductions, LONG),
    (filtered_reductions, SHORT),
    (filtered_list, LONG),
    (filtered_list_as_array, LONG),
    (product_by_math, LONG),
    (nested_list, LONG, OTHER[:17]),
    (nested_list, SHORT, LONG),
    (two_clauses, LONG),
    (matrix_by_comprehension, TALL, WIDE),
    (matrix_by_comprehension, MATRIX, SMALL),
    (mixture_likelihood, TALL, MATRIX, SHORT[:4]),
    (mixture_likelihood, TALL, RANDOM.normal(size=(17, 3)), OTHER[:17]),
    (enumerated_and_reversed, LONG),
    (any_and_all_of_values, LONG),
    (comprehension_with_inner_loop, LONG),
    (comprehension_with_inner_while, LONG),
    (spring_chain, SPRING, LONG),
    (layers, [Layer(SMALL, SHORT[:3]), Layer(SMALL[:2], SHORT[:2])], SHORT[:3]),
    (dictionary_of_parameters, {"w": WIDE, "b": LONG[:19], "scale": 0.7}, SHORT[:3]),
    (tuple_carried_in_a_loop, 0.7, 9),
    (dictionary_carried_in_a_loop, LONG),
    (dataclass_carried_in_a_loop, SPRING, 7),
    (model_object, LONG),
    (unpacking, SHORT),
    (static_recursion, 0.8),
    (closures, SHORT),
    (defaults_and_keywords, SHORT),
    (list_grown_in_unrolled_loop, LONG),
    (gaussian_log_density, LARGE, LONG[:17]),
    (gaussian_log_density, SMALL, SHORT[:3]),
    (regression, TALL, LONG[:18], 0.1),
    (determinant_and_inverse, LARGE),
    (determinant_and_inverse, SMALL),
    (power_iteration, SMALL @ SMALL.T, SHORT[:3]),
    (power_iteration, LARGE @ LARGE.T, LONG[:17]),
    (matrix_power_by_loop, SMALL, 4),
    (matrix_power_by_loop, LARGE, 4),
    (kalman, LONG, 0.3),
    (attention, TALL, RANDOM.normal(size=(19, 3)), RANDOM.normal(size=(19, 2))),
    (solve_in_a_loop, LARGE, LONG[:17]),
    (implicit_steps, LONG, 0.3),
    (rotations, 0.4, RANDOM.normal(size=(18, 2))),
    (rodrigues, SHORT[:3], TALL),
]
TWICE = [
    (filtered_list, LONG),
    (comprehension_with_inner_loop, LONG),
    (dictionary_of_parameters, {"w": WIDE, "b": LONG[:19], "scale": 0.7}, SHORT[:3]),
    (tuple_carried_in_a_loop, 0.7, 4),
    (gaussian_log_density, SMALL, SHORT[:3]),
    (regression, MATRIX, SHORT[:4], 0.1),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_first_order(case):
    function, *args = case
    agree(function, *args)


@pytest.mark.parametrize("case", TWICE, ids=lambda case: case[0].__name__)
def test_second_order(case):
    function, *args = case
    agree(function, *args, order=2)


def test_bound_method_and_partial():
    agree(MODEL._raise, LONG)
    agree(functools.partial(lambda a, b: np.sum(a * b**2), OTHER), LONG)
    np.testing.assert_allclose(ad.grad(MODEL)(LONG), 1.5 * LONG * np.abs(LONG), rtol=1e-12)
