"""Programs that update arrays in place: NumPy's values, forward = reverse = differences, second order."""

from __future__ import annotations

import numpy as np
import pytest

import anadrome as ad
from tests.derivatives.agreement import agree
from tests.in_place import CASES

SECOND = (
    "trajectory",
    "ring",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("dtw", "lu", "chol", "bubble", "insertion")),
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("sieve", "early", "window")),
)


@pytest.mark.parametrize("name", CASES)
def test_derivatives_agree(name: str) -> None:
    function, arguments = CASES[name]
    agree(function, *arguments(7, np.random.default_rng(1)))


@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives_agree(name: str) -> None:
    function, arguments = CASES[name]
    agree(function, *arguments(5, np.random.default_rng(2)), order=2)


def swapped(x):
    first, second = x.copy(), np.sin(x)
    for i in range(x.shape[0]):
        first[i] = first[i] * second[0] + second[i]
        first, second = second, first
    return first - second


def nothing(x):
    a = x.copy()
    for i in range(x.shape[0] - 20):
        for j in range(i):
            a[j] = a[j] * a[i]
    return a


def halves(x):
    a = x.copy()
    for i in range(1, x.shape[0]):
        if a[i] > 0.7:
            a[i - 1] = a[i] * a[i - 1]
            for j in range(i):
                a[j] = np.sin(a[j]) * a[i]
        elif a[i] > 0.5:
            a[i] = a[i] * a[0]
        while a[i] > 0.3:
            a[i] = a[i] * 0.8 + 0.01 * a[0]
    return a


def queue(x):
    items = np.zeros(8)
    head, tail, total = 0, 0, 0.0
    for i in range(x.shape[0]):
        items[tail % 8] = x[i] * (1.0 + total)
        tail = tail + 1
        while tail - head > 3:
            total = total + np.sin(items[head % 8]) * 0.3
            head = head + 1
    return total


@pytest.mark.parametrize("function", [swapped, nothing, halves, queue])
def test_odd_programs_agree(function) -> None:
    agree(function, np.random.default_rng(5).uniform(0.2, 1.3, 9))


def last_of_trajectory(x):
    us = np.zeros(x.shape[0])
    us[0] = x[0]
    for i in range(1, x.shape[0]):
        us[i] = np.sin(us[i - 1]) * x[i]
    return us[x.shape[0] - 1]


def test_a_gradient_of_writes_is_linear_in_them() -> None:
    """One element written in each of n steps on an array of n: bytes grow as n does, never as n²."""
    gradient = ad.grad(last_of_trajectory)
    held = []
    for size in (10**4, 10**5, 10**6):
        measured = ad.explain(gradient, np.linspace(0.5, 1.5, size), measure=True).measured
        assert measured is not None
        held.append(measured / size)
    assert max(held) <= 8 * 8
    assert max(held) <= 1.1 * min(held)


@pytest.mark.parametrize("name", ["blocks", "assembled"])
def test_small_blocks_are_written_where_they_are(name) -> None:
    """A copy of the whole array in each iteration would be exchanged with it at its end. The slices of one
    are as long as what is added to them, which a check says."""
    function, arguments = CASES[name]
    kernel = ad.show(function, *arguments(20, np.random.default_rng(1)), stage="kernel")
    assert "f64 global" in kernel
    assert "swap" not in kernel
