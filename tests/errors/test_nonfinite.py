"""NaN and infinities flow through compiled programs as IEEE 754 says; integers wrap as NumPy's do."""

from __future__ import annotations

import math

import numpy as np
import pytest

import anadrome as ad

SPECIAL = np.array([0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 5e-324, 1e308] * 3)


def polynomial(x):
    return x * x * x - 2.0 * x + 1.0


def quotients(x):
    return 1.0 / x


def functions(x):
    return np.exp(x) + np.sqrt(np.abs(x)) + np.tanh(x)


def logarithm(x):
    return np.log(x)


def choice(x):
    return np.where(x > 0.0, x, -x)


def branches(x):
    return [v * 2.0 if v > 0.0 else v - 1.0 for v in x]


def loop(x):
    total = 0.0
    for v in x:
        total = total * 0.5 + v
    return total


def reductions(x):
    return np.sum(x), np.max(x), np.min(x), np.mean(x)


def comparisons(x):
    return [np.isnan(v) or v == v for v in x]


@pytest.mark.parametrize(
    "function",
    [polynomial, quotients, functions, logarithm, choice, branches, loop, reductions, comparisons],
    ids=lambda function: function.__name__,
)
def test_values_flow(function) -> None:
    with np.errstate(all="ignore"):
        expected = function(SPECIAL)
    found = ad.jit(function)(SPECIAL)
    for mine, theirs in zip(np.atleast_1d(found), np.atleast_1d(expected), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-14)


def test_gradients_flow() -> None:
    slope = ad.grad(lambda x: np.sum(x * x))(SPECIAL)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(slope, 2.0 * SPECIAL)
    assert math.isinf(ad.grad(lambda x: math.log(x))(0.0))
    assert math.isnan(ad.grad(lambda x: x * x)(math.nan))


def test_integers_are_those_of_numpy() -> None:
    top = np.full(20, np.iinfo(np.int64).max)
    np.testing.assert_array_equal(ad.jit(lambda x: x + 1)(top), top + 1)
    np.testing.assert_array_equal(ad.jit(lambda x: x * 3)(top), top * 3)
    small = np.full(20, 200, np.uint8)
    np.testing.assert_array_equal(ad.jit(lambda x: x + x)(small), small + small)
    with np.errstate(all="ignore"):
        zeros = np.zeros(20, np.int64)
        np.testing.assert_array_equal(ad.jit(lambda x: 7 // x)(zeros), 7 // zeros)
        np.testing.assert_array_equal(ad.jit(lambda x: 7 % x)(zeros), 7 % zeros)
