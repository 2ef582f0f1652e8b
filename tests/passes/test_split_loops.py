"""Searches that leave their loops: which do, with the same numbers, errors and derivatives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from oracle import becomes

import anadrome as ad
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import Loop, ParFor
from anadrome.array_ir.text import parse
from anadrome.array_ir.walk import all_lets
from anadrome.config import Config
from anadrome.passes.split_loops import split_loops
from tests.printing import quoted

SEARCH = "r = loop (t = {start}) while {{ c = gt t 1.0; return c }} do {{ h = mul t 0.5; return h }}"
STAYS = {
    "what the loop carries": f"{SEARCH.format(start='s')}; w = add r 1.0",
    "what is made of what the loop carries": f"u = add s 1.0; {SEARCH.format(start='u')}; w = add r s",
    "where a failure by what is carried comes first": 'q = x[i]; d = gt s 0.0; check d raise "below"; '
    f"{SEARCH.format(start='q')}; w = add r s",
    "an array": "z = full [3] 2.0; r = loop (t = z) while { u = t[0]; c = gt u 1.0; return c } do { "
    "u = t[0]; h = mul u 0.5; b = update t[0] h; return b }; v = r[1]; w = add v s",
    "a short loop": "q = x[i]; r = loop (t = q) for j < 16 { h = mul t 0.5; return h }; w = add r s",
    "a loop along an array": "r = loop (t = 1.0) for j < n { u = x[j]; h = add t u; return h }; w = add r s",
    "a loop that fills an array": "z = full [n] 2.0; a = loop (t = z) for j < n { u = to_f64 j; "
    "b = update t[j] u; return b }; r = a[i]; w = add r s",
    "made of sums": "q = parfor j < n { v = x[j]; yield reduce add v }; "
    f"{SEARCH.format(start='q')}; w = add r s",
    "where the loop prints": f"q = x[i]; print {quoted('search')}; {SEARCH.format(start='q')}; w = add r s",
}


@pytest.mark.parametrize("rule", STAYS)
def test_stays(rule: str) -> None:
    body = f"loop (s = 0.0) for i < n {{ {STAYS[rule]}; return w }}"
    text = f"fn f(x: f64[n]) -> f64 {{\n y = {body}\n return y\n}}"
    becomes(split_loops, text, text)


LEAVES = {
    "a loop as long as said": "r = loop (t = q) for j < m { h = mul t 0.5; return h }",
    "a loop as long as data say": "k = y[i]; r = loop (t = q) for j < k { h = mul t 0.5; return h }",
    "a loop of 17": "r = loop (t = q) for j < 17 { u = x[i]; h = mul t u; return h }",
    "a loop of a short array": "z = full [3] 2.0; a = loop (t = z) for j < m { u = t[0]; h = mul u q; "
    "b = update t[1] h; return b }; r = a[1]",
}


@pytest.mark.parametrize("rule", LEAVES)
def test_leaves(rule: str) -> None:
    fn = parse(
        "fn f(x: f64[n], y: i64[n], m: i64) -> f64 {\n a1 = loop (s = 0.0) for i < n { q = x[i]; "
        f"{LEAVES[rule]}; w = add r s; return w }}\n return a1\n}}"
    )
    made = split_loops(fn, Config())
    assert [type(let.expr) for let in made.body.lets] == [ParFor, Loop]
    args = np.linspace(0.1, 0.9, 5), np.array([3, 0, 1, 7, 2]), 4
    assert run(made, args).results == run(fn, args).results


def test_stays_where_no_array_is_as_long() -> None:
    body = f"loop (s = 0.0) for i < k {{ q = to_f64 i; {SEARCH.format(start='q')}; w = add r s; return w }}"
    text = f"fn f(x: f64[n], k: i64) -> f64 {{\n y = {body}\n return y\n}}"
    becomes(split_loops, text, text)
    nest = f"parfor m < n {{ y = {body}; yield reduce add y }}"
    made = split_loops(parse(f"fn f(x: f64[n], k: i64) -> f64 {{\n z = {nest}\n return z\n}}"), Config())
    assert sum(isinstance(let.expr, ParFor) for let in all_lets(made.body)) == 2


def row_below(grid: np.ndarray, v: float) -> int:
    low, high = 0, len(grid) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if grid[middle] > v:
            high = middle
        else:
            low = middle
    return low


def interpolated(grids: np.ndarray, values: np.ndarray, at: np.ndarray) -> float:
    """A sum over points of a state that goes through what is found in several grids, in order."""

    def one(v: float) -> float:
        state = 1.0
        for k in range(len(grids)):
            row = row_below(grids[k], v)
            share = (grids[k, row + 1] - v) / (grids[k, row + 1] - grids[k, row])
            state = 0.5 * state + share * values[k, row] + (1.0 - share) * values[k, row + 1]
        return state**2

    return sum(one(v) for v in at)


def roots(a: np.ndarray, starts: np.ndarray, at: np.ndarray) -> float:
    """A sum in order over roots that are iterated until they are exact."""
    total = 0.0
    for k in range(len(starts)):
        x = starts[k]
        while abs(x * x - a[k, 0]) > 1e-13 * a[k, 0]:
            x = 0.5 * (x + a[k, 0] / x)
        total = 0.7 * total + x * at[0]
    return total


def inputs(rows: int, columns: int) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(rows)
    grids = np.linspace(1.0, 5.0, columns) + random.uniform(0.0, 0.05, size=(rows, columns))
    return grids, random.normal(size=(rows, columns)), random.uniform(1.5, 4.0, size=11)


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 40])
def test_values_and_gradients_of_searches(rows: int) -> None:
    grids, values, at = inputs(rows, 30)
    assert np.isclose(ad.jit(interpolated)(grids, values, at), interpolated(grids, values, at), rtol=1e-13)
    ad.check_grads(interpolated, (grids, values, at), order=1, rtol=1e-4)


@pytest.mark.parametrize("rows", [1, 17, 40])
def test_values_and_gradients_of_iterations(rows: int) -> None:
    random = np.random.default_rng(rows)
    a, starts, at = random.uniform(1.0, 9.0, size=(rows, 2)), np.ones(rows), np.ones(1)
    assert np.isclose(ad.jit(roots)(a, starts, at), roots(a, starts, at), rtol=1e-12)
    slope = ad.grad(lambda a: roots_smoothed(a, at))(a)
    found = ad.grad(roots)(a, starts, at)
    assert np.allclose(found, slope, rtol=1e-6)


def roots_smoothed(a: np.ndarray, at: np.ndarray) -> float:
    total = 0.0
    for k in range(len(a)):
        total = 0.7 * total + np.sqrt(a[k, 0]) * at[0]
    return total


def test_the_return_sweep_does_not_search_again() -> None:
    grids, values, at = inputs(20, 30)
    text = ad.show(ad.grad(interpolated, argnums=1), grids, values, at, stage="outer-lanes")
    assert text.count("while {") == 1


@pytest.mark.parametrize("transform", [ad.jit, ad.value_and_grad])
def test_an_index_outside_is_named(transform: Callable[..., Callable[..., object]]) -> None:
    def program(values: np.ndarray, at: np.ndarray) -> float:
        total = 0.0
        for k in range(len(at)):
            n = at[k]
            while n > 50:
                n = n // 2
            total = total * 0.5 + values[n]
        return total

    values, at = np.arange(60.0), np.arange(1, 80) * 7
    assert np.isclose(ad.jit(program)(values, at), program(values, at))
    with pytest.raises(IndexError, match="index 50 is out of range for a dimension of size 50"):
        transform(program)(values[:50], at)


def test_a_loop_without_iterations() -> None:
    grids, values, at = inputs(20, 30)
    assert ad.jit(interpolated)(grids[:0], values[:0], at) == interpolated(grids[:0], values[:0], at) == 11.0
    assert ad.jit(interpolated)(grids, values, at[:0]) == 0.0


def test_it_runs_in_the_loop_no_more() -> None:
    fn = parse(
        "fn f(x: f64[n]) -> f64 {\n y = loop (s = 0.0) for i < n { q = x[i]; "
        f"{SEARCH.format(start='q')}; w = add r s; return w }}\n return y\n}}"
    )
    loops = [let.expr for let in split_loops(fn, Config()).body.lets if isinstance(let.expr, Loop)]
    assert [one.condition for one in loops] == [None]
    assert not any(isinstance(let.expr, Loop) for let in all_lets(loops[0].body))
