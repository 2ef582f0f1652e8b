"""Arrays and lists that a loop exchanges for ones of other sizes, which only the run tells from the same."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors.runtime import SizeMismatch
from tests.derivatives.agreement import agree, assert_same

X = np.random.default_rng(6).uniform(0.5, 1.5, size=20)


def layers(x):
    current, total = [x[0] * 3.0], 0.0
    while current:
        following = []
        for value in current:
            total += value * x[1]
            if value > 0.3:
                following.append(value * 0.5)
                following.append(value * 0.4)
        current = following
    return total


def generations(x, n):
    current = [x[0]]
    for _ in range(n):
        following = []
        for value in current:
            if value > 0.1:
                following.append(value * 0.7)
                following.append(value * 0.4 * x[2])
        current = following
    return sum(current) + len(current)


def clipped(x):
    """The area of a polygon cut by lines."""
    outline = np.array([[0.0, 0.0], [4.0 * x[0], 0.1], [4.0, 3.0], [2.0, 5.0 * x[1]], [0.0, 3.0]])
    corners = [(p[0], p[1]) for p in outline]
    for angle in np.linspace(0.05, 6.2, 12):
        a, b, left = np.cos(angle), np.sin(angle), []
        c = 1.7 + 2.03 * a + 1.53 * b
        for i in range(len(corners)):
            p, q = corners[i - 1], corners[i]
            before, after = a * p[0] + b * p[1] - c, a * q[0] + b * q[1] - c
            if before * after < 0:
                t = before / (before - after)
                left.append((p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])))
            if after <= 0:
                left.append(q)
        corners = left
    area = 0.0
    for i in range(len(corners)):
        area += corners[i - 1][0] * corners[i][1] - corners[i][0] * corners[i - 1][1]
    return 0.5 * area


def filtered(x):
    v = x * 1.0
    for k in range(12):
        w = v * 1.1
        v = w[w < 3.0]
        if len(v) < 3:
            v = np.append(v, [1.0, 2.0, k])
    return np.sum(v) + len(v)


def filtered_alike(x):
    u = x[x > 1.0]
    for k in range(5):
        u = x[x > 1.0] * k + u
    return np.sum(u**2)


def best_so_far(x):
    path, best, most = np.array([x[0]]), np.array([x[0]]), 0.0
    for k in range(15):
        path = np.append(path, path[-1] * 1.1)
        if path[-1] * np.sin(k) > most:
            most, best = path[-1], path
    return np.sum(best) * most + len(best)


def one_of_two_filters(x):
    a, b = x[x > 0.8], x[x > 1.1]
    if np.sum(a) > 2.0 * np.sum(b):
        a = b
    return np.sum(a**2) + len(a)


def three_generations(x):
    return generations(x, 3)


def five_generations(x):
    return generations(x, 5)


@pytest.mark.parametrize(
    "program",
    [
        layers,
        three_generations,
        five_generations,
        clipped,
        filtered,
        filtered_alike,
        best_so_far,
        one_of_two_filters,
    ],
)
def test_sizes_that_differ_between_iterations(program) -> None:
    assert_same(ad.jit(program)(X), program(X))
    agree(program, X)


def test_the_program_that_was_made_instead_is_called_then() -> None:
    program = ad.jit(generations)
    assert program(X, 0) == generations(X, 0)
    for count in (4, 0, 7, 2):
        assert_same(program(X, count), generations(X, count))
    made = program.program((X, 3), {})[0]
    assert len(made.instead) == 1
    first = made.instead[0]
    assert_same(program(X, 5), generations(X, 5))
    assert made.instead == [first]


def test_programs_go_with_their_function() -> None:
    """What would be made instead does not hold the function, which holds its programs."""
    function = ad.jit(lambda x: x * 2.0)
    function(1.0)
    executable = weakref.ref(function.program((1.0,), {})[0].executable)
    gc.collect()
    gc.disable()
    try:
        del function
        assert executable() is None
    finally:
        gc.enable()


AROUND = np.linspace(0.2, 1.0, 40)


def reads_around(x, n):
    v = x * 1.0
    for k in range(n):
        v = np.append(v[v > 0.1 * k], AROUND[k : k + 2])[: 3 * k + 2]
    return np.sum(v) * AROUND[0] + len(v)


def test_arrays_around_the_program_are_read_by_that_program_too(monkeypatch) -> None:
    program = ad.jit(reads_around)
    assert_same(program(X, 5), reads_around(X, 5))
    monkeypatch.setitem(globals(), "AROUND", AROUND * 2.0)
    assert_same(program(X, 5), reads_around(X, 5))
    assert_same(program(X, 6), reads_around(X, 6))


def prints_a_generation(x, n):
    current = [x[0]]
    for _ in range(n):
        print(len(current))
        following = []
        for value in current:
            if value > 0.1:
                following.append(value * 0.7)
                following.append(value * 0.4)
        current = following
    return sum(current)


def draws_a_generation(rng, x, n):
    return generations(x + rng.normal() ** 2, n)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ad.jit(prints_a_generation)(X, 3),
        lambda: ad.jit(draws_a_generation)(np.random.default_rng(1), X, 3),
    ],
)
def test_what_must_not_run_again_says_which_sizes_differ(call) -> None:
    with pytest.raises(SizeMismatch, match="changes its size inside the loop"):
        call()


def test_sizes_that_do_not_fit_otherwise_are_errors_as_before() -> None:
    def adds(x, n):
        v = x[:n]
        return np.sum(v + x[: n + 1])

    with pytest.raises(SizeMismatch):
        ad.jit(adds)(X, 7)


def of_a_product(x):
    y = x * x[::2]
    return y[:-1]


def of_an_update(x):
    y = x.copy()
    y *= x[::2]
    y[1:] += 1.0
    return y


@pytest.mark.parametrize("program", [of_a_product, of_an_update])
def test_a_size_that_must_be_half_of_itself(program):
    """n and (n + 1) // 2 are one size from here on, as for NumPy where n is 1; the error is the product's."""
    one = np.ones(1)
    assert np.array_equal(ad.jit(program)(one), program(one))
    with pytest.raises(SizeMismatch, match="sizes 20 and 10 differ"):
        ad.jit(program)(np.ones(20))
