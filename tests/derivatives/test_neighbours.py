"""Second derivatives of chains of maps over neighbours, at sizes that are constants and at others.

Each has been wrong at some sizes up to 16, where LLVM vectorised loops of guarded rows (`targets.branches`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anadrome as ad

SIZES = (3, 5, 7, 8, 9, 10, 12, 13, 16, 17, 24)


def products(x):
    x = x[1:] * x[:-1]
    return np.sum(x[1:] * x[:-1])


def first_product(x):
    x = x[1:] * x[:-1]
    return (x[1:] * x[:-1])[0]


def squared_differences(x):
    return np.sum(np.diff(np.diff(x) ** 2) ** 2)


def squared_means(x):
    x = 0.5 * (x[1:] + x[:-1]) ** 2
    return np.sum(0.5 * (x[1:] + x[:-1]) ** 2)


def sines(x):
    for _ in range(2):
        x = np.sin(x[1:] + x[:-1])
    return x[0]


def sines_by_comprehension(x):
    x = np.array([np.sin(a + b) for a, b in zip(x, x[1:], strict=False)])  # noqa: RUF007
    x = np.array([np.sin(a + b) for a, b in zip(x, x[1:], strict=False)])  # noqa: RUF007
    return x[0]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "function", [products, first_product, squared_differences, squared_means, sines, sines_by_comprehension]
)
def test_hessians_agree(function: Callable[..., Any], size: int) -> None:
    x = np.linspace(0.2, 1.1, size) ** 2
    by_columns, by_rows = ad.hessian(function)(x), ad.jacrev(ad.grad(function))(x)
    step = 1e-5
    slopes = ad.grad(function)
    numeric = [(slopes(x + step * one) - slopes(x - step * one)) / (2 * step) for one in np.eye(size)]
    np.testing.assert_allclose(by_columns, by_rows, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(by_columns, numeric, rtol=1e-6, atol=1e-8)


# ---------------------------------------------------------------------------- one parameter
def tree(rate, count):
    values = [1.0 * place for place in range(count + 1)]
    for _ in reversed(range(count)):
        values = [
            max(np.exp(-rate) * (np.exp(rate) * up + (1 - np.exp(rate)) * down), -1.0)
            for down, up in zip(values, values[1:], strict=False)  # noqa: RUF007
        ]
    return values[0]


def network(weight, count):
    values = np.linspace(0.1, 1.0, count)
    for _ in range(3):
        values = np.array(
            [
                np.tanh(weight * a + b * np.exp(weight)) * np.exp(weight)
                for a, b in zip(values, values[1:], strict=False)  # noqa: RUF007
            ]
        )
    return values[0]


@pytest.mark.parametrize("count", [6, 9, 12, 15])
@pytest.mark.parametrize("function", [tree, network])
def test_second_derivatives_by_one_number_agree(function: Callable[..., Any], count: int) -> None:
    def program(parameter):
        return function(parameter, count)

    slope, step = ad.grad(program), 1e-5
    numeric = (slope(0.3 + step) - slope(0.3 - step)) / (2 * step)
    for second in (ad.grad(slope), ad.hessian(program), lambda x: ad.jvp(slope, (x,), (1.0,))[1]):
        np.testing.assert_allclose(second(0.3), numeric, rtol=1e-7)
