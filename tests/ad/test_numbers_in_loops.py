"""Adjoints of numbers that loops read, where iterations wait for nobody and where they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anadrome as ad


def line(x, a, b):
    total = 0.0
    for v in x:
        total += (a * v + b) ** 2
    return total


def one_number(x, a, b):
    total = b
    for v in x:
        total = total - np.sin(a * v)
    return total


def two_totals(x, a, b):
    low, high = 0.0, 1.0
    for i in range(len(x)):
        low = low + a * x[i]
        high = np.cos(b * x[i]) + high
    return 2.0 * low - high


def where_it_holds(x, a, b):
    total = 0.0
    for v in x:
        if v > 0.2:
            total += np.exp(a * v)
        else:
            total = total - np.sin(b * v)
    return total


def of_each_type(x, a, b):
    total, turned = 0.0, 0.0j
    for v in x:
        total += a * v
        turned += v * (b + 1.0j * v) ** 2
    return total + turned.imag


def with_a_loop_inside(x, a, b):
    total = 0.0
    for i in range(len(x)):
        u = x[i]
        for _ in range(4):
            u = a * u + 0.1 * np.sin(u)
        total += u * b
    return total


OPEN = (line, one_number, two_totals, where_it_holds, of_each_type, with_a_loop_inside)


def recurrence(x, a, b):
    state = b
    for v in x:
        state = a * state + v
    return state


def read_in_between(x, a, b):
    total, mixed = b, 0.0
    for v in x:
        total += a * v
        mixed += total * v
    return mixed


def exchanged(x, a, b):
    first, second = a, b
    for v in x:
        first, second = second + a * v, first
    return first * second


def updated_in_place(x, a, b):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = a * y[i - 1] + b * y[i]
    return np.sum(y * y)


def stored_as_well(x, a, b):
    out, total = np.zeros(len(x)), 0.0
    for i in range(len(x)):
        out[i] = a * x[i]
        total += np.tanh(b * x[i])
    return total * np.sum(out * out)


IN_ORDER = (recurrence, read_in_between, exchanged, updated_in_place, stored_as_well)


@pytest.mark.parametrize("function", (*OPEN, *IN_ORDER))
@pytest.mark.parametrize("length", [0, 1, 7, 40])
def test_derivatives(function: Callable[..., Any], length: int) -> None:
    x = np.random.default_rng(length).normal(size=length)
    point = np.array([0.7, -0.4])
    value, found = ad.value_and_grad(function, argnums=(1, 2))(x, *point)
    np.testing.assert_allclose(value, function(x, *point), rtol=1e-13)
    ends = [(function(x, *(point + d)), function(x, *(point - d))) for d in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(found, [(a - b) / 2e-6 for a, b in ends], rtol=1e-7, atol=1e-7)
    second = ad.hessian(function, argnums=1)(x, *point)
    slopes = [ad.grad(function, argnums=1)(x, point[0] + h, point[1]) for h in (1e-6, -1e-6)]
    np.testing.assert_allclose(second, (slopes[0] - slopes[1]) / 2e-6, rtol=1e-6, atol=1e-6)
