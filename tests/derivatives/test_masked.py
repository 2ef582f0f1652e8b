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


CASES: dict[str, tuple[Callable[..., Any], np.ndarray]] = {
    "entropy": (entropy, np.array([0.5, 0.0, 0.2])),
    "softplus": (softplus, np.array([800.0, -800.0, 1.0, -1.0])),
    "logistic": (logistic, np.array([800.0, -800.0, 1.0, -1.0])),
    "exponentials": (of_products_of_exponentials, np.array([-800.0, 2.0, -1.0])),
    "sums": (of_sums, np.array([40.0, 0.1, -0.3])),
    "loop": (in_a_loop, np.array([2.0, 0.1, -0.3])),
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
        np.testing.assert_allclose(ad.jacrev(ad.grad(compiled))(x), second, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("way", WAYS)
def test_forward_mode_of_the_gradient(way: str) -> None:
    function = ad.jit(lambda p: np.sum(np.where(p > 0.0, np.log(p), 0.0) * p), config=ad.Config(mixed=way))
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            ad.hessian(function)(np.array([0.5, 0.0, 2.0])), np.diag([2.0, 0.0, 0.5]), atol=1e-14
        )


def test_what_is_taken_keeps_its_nan() -> None:
    with np.errstate(all="ignore"):
        assert np.isnan(ad.grad(lambda x: np.where(x > 0.0, np.log(x) * np.nan, x))(1.0))
