"""A side of a choice that is not taken has no part in the gradient, whatever it comes to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anadrome as ad

WAYS = ("auto", "reverse", "store", "recompute")


def entropy(p):
    return -np.sum(np.where(p > 0.0, p * np.log(p), 0.0))


def softplus(x):
    return np.sum(np.where(x > 0.0, x + np.log(1.0 + np.exp(-x)), np.log(1.0 + np.exp(x))))


def logistic(x):
    return np.sum(np.where(x > 0.0, 1.0 / (1.0 + np.exp(-x)), np.exp(x) / (1.0 + np.exp(x))))


def of_products_of_exponentials(x):
    return np.sum(np.where(x > 0.0, np.exp(-x) * np.exp(x) * x, -x))


def of_sums(x):
    rows = np.array([np.sum(np.exp(row) * row) for row in np.outer(x, x)])
    return np.sum(np.where(np.isfinite(rows), rows * rows, x))


def in_a_loop(x):
    total = 0.0
    for v in x:
        t = v
        for _ in range(5):
            t = t * np.exp(t)
        total += np.where(np.isfinite(t), t * v, v)
    return total


def of_missing_data(x):
    return np.nansum(x * x) + np.nansum((x - 0.5) * np.sin(x))


def of_roots_of_maxima(v):
    return np.sum(np.sqrt(np.maximum(v, 0.0)) * v)


def of_a_root_of_the_larger(v):
    return np.sqrt(max(v[0], 0.0)) * v[1] + np.log(np.minimum(v[1], 1.0))


def of_powers_within_limits(v):
    return np.sum(np.clip(v, 0.0, 1.0) ** 0.5 + np.maximum(0.0, v - 0.1) ** 1.5)


def of_what_is_positive(v):
    return np.sum(np.sqrt(v * (v > 0.0)))


def volatility(x):
    """Heston's variance by Euler's steps with full truncation: it has been negative on the way."""
    variance, total = x[0], 0.0
    for noise in np.array([-1.5, -2.0, 1.0, 0.4, -3.0, 2.0]):
        positive = np.maximum(variance, 0.0)
        variance = variance + x[1] * (x[2] - positive) * 0.1 + x[3] * np.sqrt(positive) * noise
        total += np.sqrt(positive)
    return total


CASES: dict[str, tuple[Callable[..., Any], np.ndarray]] = {
    "entropy": (entropy, np.array([0.5, 0.0, 0.2])),
    "softplus": (softplus, np.array([800.0, -800.0, 1.0, -1.0])),
    "logistic": (logistic, np.array([800.0, -800.0, 1.0, -1.0])),
    "exponentials": (of_products_of_exponentials, np.array([-800.0, 2.0, -1.0])),
    "sums": (of_sums, np.array([40.0, 0.1, -0.3])),
    "loop": (in_a_loop, np.array([2.0, 0.1, -0.3])),
    "roots of maxima": (of_roots_of_maxima, np.array([-0.2, 0.3, -1.0])),
    "root of the larger": (of_a_root_of_the_larger, np.array([-0.2, 0.3])),
    "powers within limits": (of_powers_within_limits, np.array([-0.2, 0.3, 1.7])),
    "what is positive": (of_what_is_positive, np.array([-0.2, 0.3, 1.7])),
    "volatility": (volatility, np.array([0.04, 2.0, 0.09, 0.3])),
    "missing": (of_missing_data, np.array([1.0, np.nan, -2.0])),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CASES)
def test_reverse_mode_agrees_with_forward_mode(name: str, way: str) -> None:
    function, x = CASES[name]
    compiled = ad.jit(function, config=ad.Config(mixed=way))
    with np.errstate(all="ignore"):
        forward = ad.jacfwd(compiled)(x)
        assert np.all(np.isfinite(forward))
        np.testing.assert_allclose(ad.grad(compiled)(x), forward, rtol=1e-12, atol=1e-14)
        second = ad.jacfwd(ad.jacfwd(compiled))(x)
        assert np.all(np.isfinite(second))
        np.testing.assert_allclose(ad.jacrev(ad.grad(compiled))(x), second, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("way", WAYS)
def test_forward_mode_of_the_gradient(way: str) -> None:
    function = ad.jit(lambda p: np.sum(np.where(p > 0.0, np.log(p), 0.0) * p), config=ad.Config(mixed=way))
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            ad.hessian(function)(np.array([0.5, 0.0, 2.0])), np.diag([2.0, 0.0, 0.5]), atol=1e-14
        )


def test_derivatives_of_a_truncated_variance_are_those_of_differences() -> None:
    function, x = CASES["volatility"]
    steps = 1e-6 * np.eye(len(x))
    differences = [(function(x + step) - function(x - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(ad.grad(function)(x), differences, rtol=1e-6)


def test_a_maximum_before_a_pole_has_no_part_where_it_is_not_larger() -> None:
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(ad.jacfwd(lambda v: np.maximum(np.sqrt(v), 1.0))(0.0), 0.0)
        np.testing.assert_array_equal(ad.grad(lambda v: np.maximum(np.sqrt(v), 1.0))(0.0), 0.0)


def test_what_is_taken_keeps_its_nan() -> None:
    with np.errstate(all="ignore"):
        assert np.isnan(ad.grad(lambda x: np.where(x > 0.0, np.log(x) * np.nan, x))(1.0))
