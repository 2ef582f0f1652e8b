"""Checkpoint policies: the gradient of a loop is the same number for number whatever its sweep keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors.runtime import BudgetExceeded
from tests.derivatives.agreement import agree

POLICIES: tuple[dict[str, Any], ...] = (
    {"checkpoint": "sqrt"},
    {"checkpoint": "log"},
    {"checkpoint": 3},
    {"memory": "0.4kB"},
    {"checkpoint": "all", "memory": "1MB"},
)
TRIPS = (0, 1, 2, 3, 7, 100)
Loop = Callable[..., range]
Make = Callable[[Loop], Callable[..., Any]]


# ---------------------------------------------------------------------------- programs
def one_number(steps: Loop) -> Callable[..., Any]:
    def program(x, a, n):
        for i in steps(n):
            x = x + a * np.sin(x + i)
        return x

    return program


def an_array(steps: Loop) -> Callable[..., Any]:
    def program(x, a, n):
        u = x * np.arange(1.0, 6.0)
        for _ in steps(n):
            u = u + a * np.cos(u * u[0])
        return np.sum(u * u)

    return program


def several(steps: Loop) -> Callable[..., Any]:
    def program(x, a, n):
        u, v, total, count = x * np.ones(3), a, 0.0, 1
        for i in steps(n):
            u, v = np.sin(u) * v, v + u[i % 3]
            total += v * count
            count = (count * 3 + 1) % 7
        return total + np.sum(u)

    return program


def in_place(steps: Loop) -> Callable[..., Any]:
    def program(x, a, n):
        u = np.full(4, x)
        for i in steps(n):
            u[i % 4] = np.sin(u[(i + 1) % 4]) + a * u[i % 4]
        return np.sum(u * u)

    return program


def reads_around(steps: Loop) -> Callable[..., Any]:
    def program(x, a, n):
        w = np.sin(np.arange(5.0) * a)
        s = x
        for i in steps(n):
            s = np.sin(s) * w[i % 5] + w[(2 * i) % 5] * x
        return s

    return program


def nested(steps: Loop) -> Callable[..., Any]:
    def program(x, a, n):
        s = x
        for i in steps(n // 4):
            t = s
            for j in steps(i % 5):
                t = t + a * np.sin(t * j)
            s = np.cos(t) + s * a
        return s

    return program


def with_while(steps: Loop) -> Callable[..., Any]:
    def program(x, a, n):
        s = x
        for _ in steps(n):
            t = 0.5 + s * s
            while t < 3.0:
                t = t * (1.2 + a * a)
            s = np.sin(t) + a * s
        return s

    return program


def with_break(steps: Loop) -> Callable[..., Any]:
    def program(x, a, n):
        s, k = x, 0.0
        for i in steps(n):
            if i % 3 == 1:
                continue
            s = s + a * np.sin(s)
            k += s * s
            if k > 40.0:
                break
        return s * k

    return program


def with_return(steps: Loop) -> Callable[..., Any]:
    def program(x, a, n):
        s = x
        for i in steps(n):
            s = s + a * np.sin(s + i)
            if i > 50:
                return s * s
        return s

    return program


def branches(steps: Loop) -> Callable[..., Any]:
    def program(x, a, n):
        u = np.array([x, a, x * a])
        for i in steps(n):
            if u[0] * (i % 2) > 0.3:
                u = np.sin(u) + a
            else:
                u[1] = u[1] * a + u[2]
        return np.sum(u)

    return program


def rows(steps: Loop) -> Callable[..., Any]:
    def program(x, a, n):
        u = np.full((6, 2), x)
        last = x
        for i in steps(n):
            for k in range(2):
                u[(i + 1) % 6, k] = np.sin(u[i % 6, 1 - k]) + a * last
            last = 0.9 * u[(i + 1) % 6, 0]
            if last > 1.1:
                break
        return np.sum(u * u) + last

    return program


PROGRAMS: tuple[Make, ...] = (
    one_number,
    an_array,
    several,
    rows,
    in_place,
    reads_around,
    nested,
    with_while,
    with_break,
    with_return,
    branches,
)


# ---------------------------------------------------------------------------- tests
def gradient(make: Make, steps: Loop) -> Callable[..., Any]:
    return ad.value_and_grad(make(steps), argnums=(0, 1))


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_every_policy_gives_the_gradient_of_a_plain_loop(make: Make) -> None:
    plain = gradient(make, range)
    for policy in POLICIES:
        kept = gradient(make, lambda n: ad.range(n, **policy))
        for n in TRIPS:
            for x in (0.7, -1.1):
                got, wanted = kept(x, 0.4, n), plain(x, 0.4, n)
                np.testing.assert_allclose(got[0], wanted[0], rtol=1e-14)
                np.testing.assert_allclose(got[1], wanted[1], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_gradients_agree_with_forward_mode_and_differences(make: Make) -> None:
    program = make(lambda n: ad.range(n, checkpoint="log"))
    agree(lambda x, a: program(x, a, 5), 0.7, 0.3)


@pytest.mark.parametrize("make", PROGRAMS[:5], ids=lambda make: make.__name__)
@pytest.mark.parametrize("policy", ({"checkpoint": "log"}, {"memory": 400}), ids=str)
def test_second_order(make: Make, policy: dict[str, Any]) -> None:
    program = make(lambda n: ad.range(n, **policy))
    agree(lambda x, a: program(x, a, 6), 0.7, 0.3, order=2)


def test_a_loop_in_a_parallel_loop_has_its_snapshots_there() -> None:
    program = one_number(lambda n: ad.range(n, checkpoint="log"))
    x = np.linspace(-1.0, 1.0, 50)
    got = ad.grad(lambda x: np.sum(ad.vmap(lambda one: program(one, 0.3, 40))(x)))(x)
    plain = one_number(range)
    wanted = ad.vmap(ad.grad(lambda one: plain(one, 0.3, 40)))(x)
    np.testing.assert_allclose(got, wanted, rtol=1e-13)


def test_plain_python_runs_a_range() -> None:
    assert ad.range(3) == range(3)
    assert list(ad.range(1, 8, 3, checkpoint="sqrt")) == [1, 4, 7]
    assert one_number(lambda n: ad.range(n, memory="1MB"))(0.5, 0.1, 4) == one_number(range)(0.5, 0.1, 4)


def test_bounds_steps_and_wrappers_keep_the_policy() -> None:
    @ad.jit
    def program(x, n):
        for i in reversed(ad.range(2, n, 3, checkpoint="log")):
            x = np.sin(x) * i
        for i, j in enumerate(ad.range(n, checkpoint=2)):
            x = np.sin(x) + i * j
        return x

    assert ad.show(program, 0.5, 9, stage="array").count("loop checkpoint") == 2
    agree(lambda x: program.python(x, 9), 0.5)


def test_a_budget_too_small_is_refused_while_compiling_or_when_called() -> None:
    program = an_array(lambda n: ad.range(n, memory=90))
    with pytest.raises(BudgetExceeded, match="may keep 90 bytes, and 2 of its states need 96"):
        ad.grad(lambda x: program(x, 0.1, 10))(0.5)
    compiled = ad.grad(program)
    assert np.isfinite(compiled(0.5, 0.1, 1))
    with pytest.raises(BudgetExceeded, match="may keep 90 bytes, and 2 of its states need 96"):
        compiled(0.5, 0.1, 10)
    assert np.isfinite(compiled(0.5, 0.1, 0))
    with pytest.raises(BudgetExceeded, match="and 100 of its states need 4800"):
        ad.grad(an_array(lambda n: ad.range(n, checkpoint="all", memory="4kB")))(0.5, 0.1, 100)


def tables(outer: Loop, inner: Loop) -> Callable[..., Any]:
    def program(x, n, m):
        t = np.full(7, x)
        for i in outer(n):
            if t[i % 7] > 0.3:
                for j in inner(m):
                    t[(i + j) % 7] = np.sin(t[j % 7]) * t[(i * j + 1) % 7] + x
            t[i % 7] = t[i % 7] * t[(i + 2) % 7]
        return np.sum(t * t)

    return program


def test_a_table_filled_by_loops_that_keep_it_in_different_ways() -> None:
    def log(n: int) -> range:
        return ad.range(n, checkpoint="log")

    def twice(n: int) -> range:
        return ad.range(n, checkpoint=2)

    wanted = ad.grad(tables(range, range))(0.7, 5, 6)
    agree(lambda x: tables(range, log)(x, 5, 6), 0.7)
    for outer, inner in ((range, log), (log, range), (twice, log)):
        np.testing.assert_allclose(ad.grad(tables(outer, inner))(0.7, 5, 6), wanted, rtol=1e-11)


def test_reverse_over_reverse_keeps_to_the_policy() -> None:
    def twice(policy: dict[str, Any]) -> Callable[..., Any]:
        def program(u, n):
            for _ in ad.range(n, **policy):
                u = u + 0.01 * np.sin(u)
            return np.sum(u**3)

        return ad.grad(lambda u, n: np.sum(ad.grad(program)(u, n) ** 2))

    args = (np.ones(100), 500)
    whole, log = (ad.explain(twice(policy), *args, measure=True) for policy in ({}, {"checkpoint": "log"}))
    assert (log.measured or 0) < (whole.measured or 0) / 4
    np.testing.assert_allclose(twice({"checkpoint": "log"})(*args), twice({})(*args), rtol=1e-12)
