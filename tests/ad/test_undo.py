"""Reverse mode of loops that update arrays in place: random nests, work, and how states are planned."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import anadrome as ad
from anadrome.ad.reverse import vjp
from anadrome.ad.sweep.mutated import Mode, loop_plan
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import Function, Loop
from anadrome.array_ir.text import parse
from anadrome.compile import optimise, prepare
from anadrome.config import Config
from tests.ad.oracles import assert_derivatives
from tests.ad.test_random_programs import assert_agree
from tests.in_place import CASES
from tests.nests import nests

LIMIT = 6.0
LIMITS = {"lu_blocks": 7.5}
"""Of a loop over blocks whose iteration is undone as a whole, run again, and undone row by row."""
SIZES = (17, 21, 26)

SLOW = list(HealthCheck)


@settings(max_examples=25, deadline=None, suppress_health_check=SLOW)
@given(case=nests())
def test_derivatives_of_nests_agree(case):
    assert_agree(*case)


@pytest.mark.fuzz
@settings(max_examples=2000, deadline=None, suppress_health_check=SLOW)
@given(case=nests(statements=5))
def test_derivatives_of_many_nests_agree(case):
    assert_agree(*case)


def program(name: str, size: int) -> Function:
    function, arguments = CASES[name]
    text = ad.show(function, *arguments(size, np.random.default_rng(5)), stage="array")
    return prepare(parse(text), Config())


def works(fn: Function, gradient: Function, name: str) -> list[float]:
    ratios = []
    for size in SIZES:
        args = CASES[name][1](size, np.random.default_rng(5))
        outcome = run(fn, args)
        cotangents = [np.float64(1.0) if np.ndim(v) == 0 else np.ones_like(v) for v in outcome.results]
        ratios.append(run(gradient, [*args, *cotangents]).work.total / outcome.work.total)
    return ratios


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_cheap(name: str) -> None:
    fn = program(name, SIZES[0])
    gradient = vjp(fn, (True,) * len(fn.params))
    ratios = works(fn, gradient, name)
    assert max(ratios) <= LIMITS.get(name, LIMIT) and ratios[-1] <= ratios[0] * 1.05, ratios


@pytest.mark.parametrize("name", CASES)
def test_optimised_gradients_are_cheap(name: str) -> None:
    fn = program(name, SIZES[0])
    gradient = optimise(vjp(fn, (True,) * len(fn.params)), Config())
    ratios = works(optimise(fn, Config()), gradient, name)
    assert max(ratios) <= LIMITS.get(name, LIMIT) and ratios[-1] <= ratios[0] * 1.05, ratios


TABLE = """fn f(x: f64[n]) -> f64[n] {
  y = loop (a = x) for i < n {
    b = loop (c = a) for j < i {
      u = c[i]
      v = c[j]
      w = mul u v
      t = sin w
      d = update c[j] t
      return d
    }
    return b
  }
  return y
}"""

SWAPPED = """fn f(x: f64[n], y: f64[n]) -> f64[n] {
  p, q = loop (a = x, b = y) for i < n { u = a[i]; v = mul u u; c = update a[i] v; return b, c }
  return p
}"""

LATE = """fn f(x: f64[n]) -> f64[n] {
  y = loop (a = x) for i < n {
    u = a[i]
    v = mul u u
    b = update a[i] v
    w = a[0]
    z = sin w
    c = update b[0] z
    return c
  }
  return y
}"""


def plan_of(text: str):
    (let, *_) = parse(text).body.lets
    assert isinstance(let.expr, Loop)
    return loop_plan(let.expr)


def test_a_nest_is_skipped_to_its_innermost_writes() -> None:
    plan = plan_of(TABLE)
    assert plan.positions == [0] and plan.body.mode is Mode.SKIP
    (link,) = plan.body.links.values()
    assert link.loop is not None and link.loop.positions == [0]


def test_what_is_no_chain_is_no_state() -> None:
    assert plan_of(LATE).positions == []


def test_arrays_that_are_exchanged_are_states() -> None:
    assert plan_of(SWAPPED).positions == [0, 1]
    assert plan_of(SWAPPED.replace("return b, c", "return b, b")).positions == [1]


@pytest.mark.parametrize("text", [TABLE, SWAPPED, LATE])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_derivatives_of_plans_agree(text: str, size: int) -> None:
    fn = parse(text)
    source = np.random.default_rng(size)
    assert_derivatives(fn, [source.uniform(0.2, 1.3, size) for _ in fn.params], order=2)
