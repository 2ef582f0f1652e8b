"""What loops take from their last iteration that a condition chose: computed in it, and as Python has it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anadrome as ad
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import ArrayType, Loop
from anadrome.array_ir.text import parse, show
from anadrome.array_ir.walk import all_lets
from anadrome.config import Config
from anadrome.passes.winners import winners


def first_hit_of_rays(x, y):
    total = 0.0
    for i in range(len(x)):
        best, hit = 4.0, -1
        for j in range(len(y)):
            disc = x[i] * y[j] + 0.5
            if disc > 0.0:
                t = x[i] - np.sqrt(disc)
                if t > -1.0 and t < best:
                    best = t
                    hit = j
        if hit >= 0:
            total += best * y[hit]
        else:
            total += x[i]
    return total


def last_of_equals(x, y):
    best, at = y[0], 0
    for i in range(len(x)):
        if np.floor(x[i]) <= best:
            best, at = np.floor(x[i]) + 0.0 * x[i], i
    return best * x[at]


def last_that_is_positive(x, y):
    last = y[0] * 2.0
    for i in range(len(x)):
        if x[i] > 0.0:
            last = np.exp(x[i]) * y[-1]
    return last


def by_enough(x, y):
    best, beside = 3.0, y[0]
    for i in range(len(x)):
        if x[i] < best - 0.25:
            best = x[i]
            beside = x[i] * y[i % len(y)]
    return best + beside


def in_else(x, y):
    best, beside = -3.0, y[0]
    for i in range(len(x)):
        if x[i] <= best:
            pass
        else:
            best = x[i]
            beside = x[i] ** 2
    return best * beside


def row_of_the_best(x, y):
    rows = np.outer(x, y[:3])
    best, row = -1.0, np.ones(3) * y[0]
    for i in range(len(x)):
        if np.sum(rows[i]) > best:
            best = np.sum(rows[i])
            row = rows[i] * x[i]
    return best * row[0] + row[2]


def two_that_win(x, y):
    low, lowest = 2.0, y[0]
    high, highest = -2.0, y[1]
    for i in range(len(x)):
        v = np.sin(x[i])
        if v < low:
            low, lowest = v, x[i]
        elif v > high:
            high, highest = v, x[i] * y[i % len(y)]
    return (high - low) * (highest + lowest)


def by_nested_conditions(x, y):
    best, beside, count = 9.0, 0.0, 0
    for i in range(len(x)):
        if i % 2 == 0:
            d = (x[i] - y[0]) ** 2
            if d > 0.01:
                count += 1
                if d < best:
                    best = d
                    beside = x[i] + count
    return best * beside


def of_each_row(x, y):
    out = np.zeros(len(x))
    for i in range(len(x)):
        best, at = 10.0, 0
        for j in range(len(y)):
            if abs(x[i] - y[j]) < best:
                best, at = abs(x[i] - y[j]), j
        out[i] = best * y[at]
    return np.sum(out * out)


def at_random(x, y):
    kept = y[0]
    for i in range(len(x)):
        if i % 3 == 1:
            kept = x[i] * y[1]
    return kept * kept


def pivots(x, y):
    a = np.outer(x, np.cos(x)) + np.diag(y[0] + np.sin(x) + 1.0)
    total = 1.0
    for k in range(len(a)):
        best, p = abs(a[k, k]), k
        for i in range(k + 1, len(a)):
            if abs(a[i, k]) > best:
                best, p = abs(a[i, k]), i
        for j in range(len(a)):
            t = a[k, j]
            a[k, j] = a[p, j]
            a[p, j] = t
        total *= a[k, k] + 0.1 * best
        for i in range(k + 1, len(a)):
            f = a[i, k] / a[k, k]
            for j in range(k + 1, len(a)):
                a[i, j] -= f * a[k, j]
    return total


TAKEN = (
    first_hit_of_rays,
    last_of_equals,
    last_that_is_positive,
    by_enough,
    in_else,
    row_of_the_best,
    two_that_win,
    of_each_row,
    at_random,
    pivots,
)


def waits_for_the_one_before(x, y):
    best, beside = 3.0, y[0]
    for i in range(len(x)):
        if x[i] < best:
            best = x[i]
            beside = 0.5 * beside + x[i]
    return beside


def reads_the_best(x, y):
    best, total = 3.0, 0.0
    for i in range(len(x)):
        if x[i] < best:
            best = x[i] * y[0]
        total += best
    return total * best


def best_of_the_best(x, y):
    best, second = y[0], y[1]
    for i in range(len(x)):
        if x[i] < best:
            second = best
            best = x[i]
    return best + second


def decays(x, y):
    best = y[0]
    for i in range(len(x)):
        best = best * 0.9
        if x[i] > best:
            best = x[i]
    return best


def chosen_by_the_best(x, y):
    best, beside = 3.0, y[0]
    for i in range(len(x)):
        taken = x[i] * y[0] if best > 1.0 else x[i] * y[1]
        if x[i] < best:
            best, beside = x[i], taken
    return beside


LEFT = (waits_for_the_one_before, reads_the_best, decays, chosen_by_the_best)

TEXT = """
fn f(x: f64[n], p: f64) -> f64 {
  least = loop (l = p) for i < n {
    v = x[i]
    c = ge v l
    m = select c l v
    return m
  }
  return least
}
"""


def test_what_an_iteration_prints_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    def talkative(x):
        best = 2.0
        for i in range(len(x)):
            if x[i] < best:
                best = x[i]
                print("better at", i)
        return best * best

    value, adjoint = ad.value_and_grad(talkative)(np.arange(20.0)[::-1].copy())
    assert (value, adjoint[-1], capsys.readouterr().out) == (0.0, 0.0, "better at 18\nbetter at 19\n")


def drawn(seed: int, length: int) -> np.ndarray:
    """Numbers, one of which is drawn three times."""
    x = np.random.default_rng(seed).normal(size=length)
    x[2:9:3] = x[3:4]
    return x


def numbers_kept(function: Callable[..., Any], *args: Any) -> int:
    """How many floats the loops of a function carry before it is differentiated."""
    text = ad.show(ad.grad(function, argnums=(0, 1)), *args, stage="primal-winners")
    loops = [let.expr for let in all_lets(parse(text).body) if isinstance(let.expr, Loop)]
    types = [var.type for loop in loops for var in loop.carried]
    return sum(isinstance(type_, ArrayType) and type_.dtype.is_float for type_ in types)


@pytest.mark.parametrize("function", (*TAKEN, *LEFT, by_nested_conditions, best_of_the_best))
@pytest.mark.parametrize("seed", range(4))
def test_values_and_derivatives(function: Callable[..., Any], seed: int) -> None:
    random = np.random.default_rng(seed)
    x, y = random.normal(size=14), random.normal(size=4) + 0.3
    value, (along_x, along_y) = ad.value_and_grad(function, argnums=(0, 1))(x, y)
    np.testing.assert_allclose(value, function(x, y), rtol=1e-13)
    into_x, into_y = np.cos(np.arange(14.0)), np.sin(1.0 + np.arange(4.0))
    step = 1e-7
    ahead, behind = (function(x + s * step * into_x, y + s * step * into_y) for s in (1.0, -1.0))
    pushed = ad.jvp(function, (x, y), (into_x, into_y))[1]
    np.testing.assert_allclose(pushed, (ahead - behind) / (2.0 * step), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(along_x @ into_x + along_y @ into_y, pushed, rtol=1e-10)
    hessian = ad.hessian(function)(x, y)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("length", [0, 1, 2, 9])
@pytest.mark.parametrize("function", (last_that_is_positive, by_enough, in_else, two_that_win, at_random))
def test_where_none_may_win(function: Callable[..., Any], length: int) -> None:
    for seed in range(5):
        x, y = drawn(seed, length), np.random.default_rng(seed).normal(size=4)
        x[2:3] = math.nan
        if function in (in_else, at_random):
            x = np.nan_to_num(x)  # NaN wins there
        value, adjoint = ad.value_and_grad(function, argnums=1)(x, y)
        np.testing.assert_allclose(value, function(x, y), rtol=1e-14)
        numeric = [(function(x, y + d) - function(x, y - d)) / 2e-6 for d in 1e-6 * np.eye(4)]
        np.testing.assert_allclose(adjoint, numeric, rtol=1e-6, atol=1e-7)


def test_the_loop_keeps_what_conditions_read() -> None:
    args = np.ones(20), np.ones(20)
    found = {function.__name__: numbers_kept(function, *args) for function in TAKEN[:-1]}
    assert found == {
        "first_hit_of_rays": 2,
        "last_of_equals": 1,
        "last_that_is_positive": 0,
        "by_enough": 1,
        "in_else": 1,
        "row_of_the_best": 1,
        "two_that_win": 2,
        "of_each_row": 1,
        "at_random": 0,
    }


def test_a_select_may_take_where_its_condition_does_not_hold() -> None:
    program = parse(TEXT)
    made = winners(program, Config())
    assert "winner" in show(made)
    for x in ([3.0, 1.0, 2.0, 1.0], [9.0], []):
        for start in (2.5, 0.5):
            args = np.array(x), start
            assert run(made, args).results == run(program, args).results == (min([start, *x]),)


def test_what_prints_is_left() -> None:
    printing = parse(TEXT.replace("    v = x[i]", '    v = x[i]\n    print "" v'))
    assert winners(printing, Config()) is printing


@pytest.mark.parametrize("function", LEFT)
def test_what_waits_is_left(function: Callable[..., Any]) -> None:
    text = ad.show(ad.grad(function, argnums=(0, 1)), np.ones(14), np.ones(4), stage="primal-winners")
    assert "winner" not in text
