"""Arrays of short rows lie with their columns side by side where parallel loops read one or the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors.kernels_launch import KernelArray

RNG = np.random.default_rng(2)
CONFIGS = [ad.Config(lanes=1, threads=1), ad.Config(threads=1), ad.Config(threads=2)]


def heights(x, centres, scales):
    """Σ_i max_k of heights by a 2 × 2 matrix for each k, computed once."""
    factors = np.array([[[np.exp(s[0]), 0.0], [s[1], np.exp(s[2])]] for s in scales])
    return sum(
        max(
            -((f[0, 0] * (p[0] - c[0])) ** 2) - (f[1, 0] * (p[0] - c[0]) + f[1, 1] * (p[1] - c[1])) ** 2
            for f, c in zip(factors, centres, strict=True)
        )
        for p in x
    )


def in_branches(x, centres, scales):
    """Columns read in a branch, and written from a branch."""
    rows = np.array([[s[0], s[1] * s[1], s[2] + 1.0] if s[0] > 0.0 else [s[1], s[2], 2.0] for s in scales])
    total = 0.0
    for p in x:
        total += sum(r[0] * p[0] if r[2] > 1.0 else r[1] * p[1] for r in rows)
    return total


def by_data(x, centres, scales):
    """Rows that data name are read whole."""
    rows = np.array([[s[0], s[1] * s[1], s[2]] for s in scales])
    places = np.argsort(scales[:, 0])
    return sum(sum(rows[k, 0] * rows[k, 2] * p[1] for k in places) for p in x)


def as_matrix(x, centres, scales):
    """An array that a routine takes."""
    rows = np.array([[s[0], s[1] * s[1], s[2]] for s in scales])
    return np.sum((rows @ rows.T)[0]) + sum(sum(r[0] * p[0] for r in rows) for p in x)


@pytest.mark.parametrize("count", [17, 18, 33, 40])
@pytest.mark.parametrize(
    ("function", "is_by_columns"),
    [(heights, True), (in_branches, True), (by_data, False), (as_matrix, False)],
)
def test_short_rows(function: Callable[..., float], is_by_columns: bool, count: int) -> None:
    args = RNG.normal(size=(21, 2)), RNG.normal(size=(count, 2)), RNG.normal(size=(count, 3))
    wanted = function(*args)
    gradient = ad.grad(function, argnums=(0, 2))
    slopes = [ad.jit(gradient, config=config)(*args) for config in CONFIGS]
    direction = RNG.normal(size=(count, 3))
    step = 1e-6
    difference = sum(sign * function(*args[:2], args[2] + sign * step * direction) for sign in (1, -1))
    for config, (_, slope) in zip(CONFIGS, slopes, strict=True):
        assert ad.jit(function, config=config)(*args) == pytest.approx(wanted, rel=1e-12)
        assert np.sum(slope * direction) == pytest.approx(difference / (2 * step), rel=1e-5, abs=1e-6)
    for one, other in zip(slopes[0], slopes[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)
    text = ad.show(ad.jit(function, config=CONFIGS[0]), *args, stage="kernel")
    assert (" by [1, " in text) is is_by_columns


def test_memory_is_predicted() -> None:
    args = RNG.normal(size=(21, 2)), RNG.normal(size=(40, 2)), RNG.normal(size=(40, 3))
    found = ad.explain(ad.grad(heights, argnums=(1, 2)), *args, measure=True)
    assert found.is_exact and found.measured == found.predicted


@ad.kernel
def rows_of_a_thread(x, out, n):
    i = ad.grid(1)
    rows = np.array([[np.exp(x[j]) if x[j] > out[i] else 0.0, x[j] * 2.0] for j in range(n)])
    total = np.sum(rows[:, 0] * rows[:, 1])
    out[i] = np.sum(rows[:, 0] * total) + np.sum(rows[:, 1] * total)


def test_a_thread_of_a_kernel_has_no_such_array() -> None:
    with pytest.raises(KernelArray, match=r"rows = np\.array"):
        rows_of_a_thread[1, 8](np.ones(40), np.zeros(8), 40)
