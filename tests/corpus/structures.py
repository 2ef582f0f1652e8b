"""Containers and functions: tuples, dictionaries, dataclasses, closures, methods, recursion, partials."""

# ruff: noqa: B905, PIE804 (programs are written as their users write them)

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

import anadrome as ad
from anadrome.errors.frontend import EscapingMutation, RecursionTooDeep
from tests.corpus.draw import N, given, normal, positive, several, whole
from tests.corpus.harness import Program, Refused


@dataclass
class Oscillator:
    stiffness: float
    damping: float
    positions: Any

    def energy(self):
        return 0.5 * self.stiffness * np.sum(self.positions**2)

    @property
    def scale(self):
        return self.stiffness / (1.0 + self.damping)


class Layer(NamedTuple):
    weights: Any
    bias: Any

    def __call__(self, x):
        return np.tanh(self.weights @ x + self.bias)


@dataclass(frozen=True)
class Model:
    layers: tuple[Layer, ...]
    activation: Callable[..., Any]

    def __call__(self, x):
        for layer in self.layers:
            x = self.activation(layer.weights @ x + layer.bias)
        return x


def of_a_dataclass(oscillator):
    return oscillator.energy() * oscillator.scale


def dataclass_carried(oscillator, n):
    for _ in range(n):
        damping = oscillator.damping * 0.9 + oscillator.energy() * 0.01
        oscillator = Oscillator(oscillator.stiffness, damping, oscillator.positions)
    return oscillator.damping * oscillator.stiffness


def of_named_tuples(one, other, x):
    return np.sum(other(one(x)))


def of_a_dictionary(parameters, x):
    return np.sum((x * parameters["scale"] + parameters["shift"]) ** 2) + parameters["nested"]["power"] ** 2


def dictionary_carried(x):
    state = {"mean": 0.0, "best": x[0]}
    for v in x:
        state = {"mean": 0.9 * state["mean"] + 0.1 * v, "best": max(state["best"], v * state["mean"])}
    return state["mean"] * state["best"]


def dictionary_result(x):
    return {"sum": np.sum(x), "squares": x**2, "pair": (x[0], [x[1] * x[2]])}


def list_of_pairs(pairs):
    return sum(w @ w * s for w, s in pairs)


def nested_tuples_carried(x, n):
    state = ((x, 1.0), (0.5 * x,))
    for k in range(n):
        (a, b), (c,) = state
        state = ((a + 0.1 * b, b - 0.1 * math.sin(a) * c), (c * 0.9 + k,))
    return state[0][0] * state[1][0]


def closure_over_values(x):
    scale = x[0] * x[1]

    def scaled(v):
        return v * scale + shift

    shift = math.sin(x[2])
    return sum(scaled(v) for v in x)


def closures_made_in_a_loop(x):
    result = 0.0
    for v in x:

        def add(amount):
            return amount * v + result * 0.1

        result = add(v) + add(1.0)
    return result


def functions_in_a_list(x):
    functions = [math.sin, lambda v: v * v, functools.partial(math.hypot, 0.5), abs]
    total = 0.0
    for f in functions:
        total += f(x[1]) * x[0]
    return total + np.sum(x)


def functions_of_functions(x):
    def twice(f):
        return lambda v: f(f(v))

    def composed(f, g):
        return lambda v: f(g(v))

    return composed(twice(math.sin), twice(lambda v: v * v * 0.9))(x)


def function_as_argument(x, n):
    def iterate(f, v, times):
        for _ in range(times):
            v = f(v)
        return v

    return iterate(lambda v: v - (v**3 - x) / (3.0 * v**2 + 1.0), x, n)


def static_recursion(x):
    def power(v, n):
        if n == 0:
            return 1.0
        half = power(v, n // 2)
        return half * half * (v if n % 2 else 1.0)

    return power(x, 11) + power(math.sin(x), 6)


def recursion_over_a_tree(tree, x):
    def value(node):
        match_pair = isinstance(node, tuple)
        if match_pair:
            left, right = node
            return value(left) * x + math.sin(value(right))
        return node

    return value(tree)


def divide_and_conquer(x):
    def total(low, high):
        if high - low == 1:
            return x[low] ** 2
        middle = (low + high) // 2
        return total(low, middle) * 0.5 + math.sin(total(middle, high))

    return total(0, 4) + np.sum(x)


def defaults_and_keywords(x):
    def kernel(a, b=2.0, *rest, gamma=0.5, **options):
        return a * b * gamma + sum(rest) * options.get("extra", 1.0)

    parts = kernel(x[0]) + kernel(x[1], x[2], x[3], gamma=x[0], extra=3.0) + kernel(*x[:2], **{"gamma": x[2]})
    return parts * np.sum(x)


def model_object(x, scale):
    weights = np.array([[0.3, -0.2, 0.5], [0.1, 0.9, -0.4], [0.2, 0.2, 0.2]]) * scale
    model = Model((Layer(weights, x), Layer(weights.T, x * scale)), np.tanh)
    return np.sum(model(x))


def unpacking(x):
    first, *middle, last = x
    (a, b), c = (first, last), middle[1]
    return a * b + c**2 - sum(middle)


def list_grown(x):
    means = [x[0]]
    for i in range(1, 5):
        means.append(0.8 * means[-1] + 0.2 * x[i])
    return sum(m**2 for m in means) + means.pop() * len(means) + np.sum(x)


def try_and_swap(x, y):
    table = {"a": x, "b": y}
    table["a"], table["b"] = table["b"] * table["a"], table["a"]
    table["c"] = table["a"] + table["b"]
    return sum(v * v for v in table.values())


def global_constants(x):
    return sum(w * v * v for w, v in zip(WEIGHTS, x)) * FACTOR


WEIGHTS = np.linspace(0.5, 1.5, 64)
FACTOR = 1.25


def parameters(random, size):
    return {
        "scale": random.normal(),
        "shift": random.normal(size=size),
        "nested": {"power": random.normal()},
    }


def counted_by_an_inner_function(x):
    total, weight = 0.0, 1.0

    def add(value):
        nonlocal total, weight
        total += weight * value * value
        weight *= 0.9

    for value in x:
        if value > -0.5:
            add(value)
    return total * weight


def dataclass_replaced(oscillator):
    damped = replace(oscillator, damping=oscillator.damping * 2.0)
    for _ in range(3):
        damped = replace(damped, positions=damped.positions * damped.damping)
    return np.sum(damped.positions**2) * oscillator.stiffness


def generator_function(x):
    def pairs(values):
        for v in values:
            yield v, v * v

    return sum(a * b for a, b in pairs(x))


def slice_of_a_global_by_a_run_time_length(x):
    return np.sum(WEIGHTS[: len(x)] * x * x)


PROGRAMS = (
    Program(slice_of_a_global_by_a_run_time_length, (normal(N),), sizes=(40, 50, 60)),
    Program(counted_by_an_inner_function, (normal(N),)),
    Program(dataclass_replaced, (several(Oscillator, positive(), positive(), normal(N)),)),
    Program(of_a_dataclass, (several(Oscillator, positive(), positive(), normal(N)),)),
    Program(dataclass_carried, (several(Oscillator, positive(), positive(), normal(N)), given(4))),
    Program(
        of_named_tuples,
        (several(Layer, normal(N, 3), normal(N)), several(Layer, normal(2, N), normal(2)), normal(3)),
    ),
    Program(of_a_dictionary, (parameters, normal(N))),
    Program(dictionary_carried, (normal(N),)),
    Program(dictionary_result, (normal(N),)),
    Program(
        list_of_pairs, (lambda random, size: [(random.normal(size=size), random.normal()) for _ in range(3)],)
    ),
    Program(nested_tuples_carried, (normal(), whole(N))),
    Program(closure_over_values, (normal(N),)),
    Program(closures_made_in_a_loop, (normal(N),)),
    Program(functions_in_a_list, (normal(N),)),
    Program(functions_of_functions, (normal(),), sizes=(1,)),
    Program(function_as_argument, (positive(), whole(N))),
    Program(static_recursion, (given(0.9),), sizes=(1,)),
    Program(recursion_over_a_tree, (given(((1.0, 2.0), (0.5, (0.3, 0.2)))), given(0.7)), sizes=(1,)),
    Program(divide_and_conquer, (normal(N),)),
    Program(defaults_and_keywords, (normal(N),)),
    Program(model_object, (normal(3), normal()), sizes=(1,)),
    Program(unpacking, (given((0.3, -0.7, 1.1, 0.4, 0.9)),), sizes=(1,)),
    Program(list_grown, (normal(N),)),
    Program(try_and_swap, (normal(), normal()), sizes=(1,)),
    Program(global_constants, (normal(N),), sizes=(16, 32, 64)),
    Program(generator_function, (normal(N),)),
)


def _endless(x):
    return _endless(x * 0.5) + 1.0


KEPT = []


def _escapes(x):
    KEPT.append(x)
    return x * x


REFUSED = (
    Refused("recursion_without_end", lambda: ad.grad(_endless)(1.0), RecursionTooDeep),
    Refused("writes_a_global_list", lambda: ad.grad(_escapes)(1.0), EscapingMutation),
)
