"""The least and greatest that loops keep: which are reductions, and that all is as Python has it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anadrome as ad
from anadrome.array_ir.nodes import Loop
from anadrome.array_ir.text import parse
from anadrome.array_ir.walk import all_lets

INF, NAN = math.inf, math.nan


def least(x, start):
    best = start
    for v in x:
        if v < best:
            best = v
    return best


def least_turned(x, start):
    best = start
    for v in x:
        if best > v:
            best = v
    return best


def greatest(x, start):
    best = start
    for v in x:
        best = max(best, v * v - v)
    return best


def greatest_of_numpy(x, start):
    best = start
    for v in x:
        best = np.maximum(best, v)
    return best


def least_of_numpy(x, start):
    best = start
    for v in x:
        best = np.minimum(v, best)
    return best


def where_it_is(x, start):
    best, at = start, -1
    for i in range(len(x)):
        if x[i] < best:
            best, at = x[i], i
    return best + 10.0 * at


def only_where(x, start):
    best, at = start, 7
    for i in range(len(x)):
        if x[i] > best:
            best = x[i]
            at = i
    return at


def what_stands_beside(x, start):
    best, place, other = start, 3, 0.5
    for i in range(len(x)):
        v = np.cos(x[i])
        if v < best:
            best = v
            other = x[-1 - i] * x[i]
            place = 2 * i + 1
    return best * other + place


def of_each_row(x, start):
    total = 0.0
    for i in range(len(x)):
        best, at = start, 0
        for j in range(len(x)):
            d = (x[i] - x[j]) ** 2 + (0.25 if i == j else 0.0)
            if d < best:
                best, at = d, j
        total += best * (1.0 + 0.01 * x[at])
    return total


def row_beside(x, start):
    rows = np.outer(x, [1.0, 2.0, -0.5])
    best, row = start, np.zeros(3)
    for i in range(len(x)):
        if np.sin(x[i]) > best:
            best = np.sin(x[i])
            row = rows[i] * 2.0
    return best + row[0] * row[2]


def several(x, start):
    low, high, at = start, -start, 0
    for i in range(len(x)):
        low = min(low, x[i])
        if x[i] > high:
            high, at = x[i], i
    return high - low + at


def of_integers(x, start):
    best, at = 5, -1
    for i in range(len(x)):
        k = int(np.floor(3.0 * np.arctan(x[i])))
        if k < best:
            best, at = k, i
    return best + 100 * at


EXTREMES = (
    least,
    least_turned,
    greatest,
    greatest_of_numpy,
    where_it_is,
    only_where,
    what_stands_beside,
    of_each_row,
    row_beside,
    several,
    of_integers,
)


def last_of_equals(x, start):
    best, at = start, -1
    for i in range(len(x)):
        if x[i] <= best:
            best, at = x[i], i
    return best + 10.0 * at


def waits_for_the_best(x, start):
    best = start
    for v in x:
        if v - 0.1 * best < best:
            best = v - 0.1 * best
    return best


def the_other_way(x, start):
    best = start
    for v in x:
        best = min(v, best)
    return best


def counts_records(x, start):
    best, count = start, 0
    for v in x:
        if v < best:
            best = v
            count += 1
    return best + count


def reads_the_best(x, start):
    best, total = start, 0.0
    for v in x:
        if v < best:
            best = v
        total += best
    return total


def one_for_each(x, start):
    out = np.zeros(len(x))
    for i in range(len(x)):
        best = start
        for j in range(len(x)):
            if abs(x[i] - x[j] + 0.3) < best:
                best = abs(x[i] - x[j] + 0.3)
        out[i] = best
    return np.sum(out * out)


def place_for_each(x, start):
    out = np.zeros(len(x))
    for i in range(len(x)):
        best, at = start, 0
        for j in range(len(x)):
            if abs(x[i] - x[j] + 0.3) < best:
                best, at = abs(x[i] - x[j] + 0.3), j
        out[i] = x[at] * best
    return np.sum(out * out)


def only_the_place(x, start):
    total = 0.0
    for i in range(len(x)):
        best, at = start, 0
        for j in range(len(x)):
            if abs(x[i] - x[j] + 0.3) < best:
                best, at = abs(x[i] - x[j] + 0.3), j
        total += x[at]
    return total


INSIDE = (one_for_each, place_for_each, only_the_place)


ORDERED = (least_of_numpy, last_of_equals, waits_for_the_best, the_other_way, counts_records, reads_the_best)


def loops(function: Callable[..., Any], *args: Any) -> int:
    text = ad.show(ad.jit(function), *args, stage="parallel-loops")
    return sum(isinstance(let.expr, Loop) for let in all_lets(parse(text).body))


@pytest.mark.parametrize("function", EXTREMES)
def test_they_are_reductions(function: Callable[..., Any]) -> None:
    assert loops(function, np.ones(20), 3.0) == (2 if function is of_each_row else 0)


@pytest.mark.parametrize("function", ORDERED)
def test_what_waits_stays(function: Callable[..., Any]) -> None:
    assert loops(function, np.ones(20), 3.0) == 1


def test_inside_of_loops_only_what_pays_is_a_reduction() -> None:
    args = np.ones(20), 3.0
    functions = (one_for_each, place_for_each, of_each_row, only_the_place)
    assert [loops(function, *args) for function in functions] == [1, 1, 2, 2]
    found = []
    for function in functions:
        text = ad.show(ad.grad(function), *args, stage="primal-parallel-loops")
        found.append(sum(isinstance(let.expr, Loop) for let in all_lets(parse(text).body)))
    assert found == [0, 1, 2, 2]


def drawn(random: np.random.Generator, length: int) -> np.ndarray:
    """Numbers with equals among them, and some that are none."""
    x = random.choice([-2.0, -1.5, 0.25, 1.0, 3.5, 0.0, random.normal(), random.normal()], length)
    special = random.choice([NAN, INF, -INF], length)
    return np.where(random.random(length) < random.choice([0.0, 0.2, 0.9]), special, x)


@pytest.mark.parametrize("function", (*EXTREMES, *INSIDE, *ORDERED))
@pytest.mark.parametrize("length", [0, 1, 2, 8, 9, 40])
def test_values_are_those_of_python(function: Callable[..., Any], length: int) -> None:
    random = np.random.default_rng(length)
    compiled = ad.jit(function)
    for _ in range(25):
        x = drawn(random, length)
        if function is of_integers:
            x = np.nan_to_num(x)
        for start in (INF, 0.25, NAN, -1.5):
            with np.errstate(all="ignore"):
                np.testing.assert_allclose(compiled(x, start), function(x, start), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("function", (*EXTREMES, *INSIDE))
@pytest.mark.parametrize("start", [0.3, 100.0, -100.0])
def test_derivatives(function: Callable[..., Any], start: float) -> None:
    x = np.random.default_rng(3).normal(size=23)
    if function in (of_each_row, *INSIDE):
        x, start = x * 3.0, abs(start) + 0.1
    value, (along_x, along_start) = ad.value_and_grad(
        lambda x, start: function(x, start) * 1.0, argnums=(0, 1)
    )(x, start)
    np.testing.assert_allclose(value, function(x, start), rtol=1e-14, atol=1e-14)
    direction, step = np.cos(np.arange(23.0)), 1e-6
    ahead, behind = (function(x + s * step * direction, start + s * step) for s in (1.0, -1.0))
    numeric = (ahead - behind) / (2 * step)
    np.testing.assert_allclose(along_x @ direction + along_start, numeric, rtol=1e-6, atol=1e-8)
    _, pushed = ad.jvp(lambda x, start: function(x, start) * 1.0, (x, start), (direction, 1.0))
    np.testing.assert_allclose(pushed, along_x @ direction + along_start, rtol=1e-12)


def test_the_first_of_equals_has_the_derivative() -> None:
    x = np.array([3.0, 1.0, 2.0, 1.0, 5.0, 1.0, 7.0, 8.0, 9.0, 9.5])
    np.testing.assert_array_equal(ad.grad(least)(x, INF), np.eye(10)[1])
    np.testing.assert_array_equal(ad.grad(least)(x, 1.0), np.zeros(10))


def test_an_index_outside_is_named() -> None:
    def nearest(x, places):
        best = np.inf
        for p in places:
            if x[p] < best:
                best = x[p]
        return best

    places = np.arange(20)
    places[7] = 30
    with pytest.raises(IndexError, match="index 30 is out of range"):
        ad.jit(nearest)(np.ones(20), places)


def test_what_fails_in_an_iteration_that_does_not_win_fails() -> None:
    def increasing(x):
        best = -1.0
        for v in x:
            if v > best:
                best = v
            else:
                raise ValueError("not increasing")
        return best

    x = np.arange(20.0)
    assert ad.jit(increasing)(x) == 19.0
    x[7] = 2.0
    with pytest.raises(ValueError, match="not increasing"):
        ad.jit(increasing)(x)


def test_an_index_outside_is_named_that_does_not_win_in_the_end() -> None:
    def beside(x, places, table):
        best, found = np.inf, 0.0
        for i in range(len(x)):
            if x[i] < best:
                best = x[i]
                found = table[places[i]]
        return best + found

    x, places, table = np.linspace(3.0, 1.0, 20), np.arange(20), np.cos(np.arange(20.0))
    assert ad.jit(beside)(x, places, table) == beside(x, places, table)
    places[7] = 30
    with pytest.raises(IndexError, match="index 30 is out of range"):
        ad.jit(beside)(x, places, table)
