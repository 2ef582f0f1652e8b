"""Policies on loops that update arrays in place: snapshots of blocks, each reversed with an undo log."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anadrome.ad.reverse import vjp
from anadrome.array_ir.check import check
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import Function
from anadrome.array_ir.text import parse, show
from tests.ad.oracles import assert_derivatives, direction, is_float

WISHES = ("checkpoint sqrt", "checkpoint log", "checkpoint 1", "checkpoint 3", "memory 1000")
RING = """
fn f(x: f64[m], a: f64, n: i64) -> f64[m], f64 {
  s, t = loop WISH (u = x, r = a) for i < n {
    here = mod i m
    old = u[here]
    v = sin old
    w = mul v r
    z = add w 0.1
    b = update u[here] z
    q = mul r 0.99
    return b, q
  }
  return s, t
}
"""
WHILE = """
fn f(x: f64[m], a: f64) -> f64[m] {
  s, t, k = loop WISH (u = x, r = a, i = 0) while { p = lt r 9.0; return p } do {
    here = mod i m
    old = u[here]
    v = sin old
    w = mul v r
    b = update u[here] w
    q = add r 0.3
    e = add w q
    j = add i 1
    return b, e, j
  }
  return s
}
"""
ROWS = """
fn f(x: f64[m, k], n: i64) -> f64[m, k] {
  s = loop WISH (u = x) for i < n {
    here = mod i m
    next = add i 1
    there = mod next m
    row = parfor j < k { a = u[here, j]; c = u[there, j]; d = cos a; e = mul c d; yield stack e }
    b = update u[here] row
    return b
  }
  return s
}
"""
NESTED = """
fn f(x: f64[m, k], n: i64) -> f64[m, k] {
  s = loop WISH (u = x) for i < n {
    here = mod i m
    t = loop (v = u) for j < k { a = v[here, j]; d = sin a; e = mul d 1.1; c = update v[here, j] e; return c }
    return t
  }
  return s
}
"""
BRANCH = """
fn f(x: f64[m], n: i64) -> f64[m] {
  s = loop WISH (u = x) for i < n {
    here = mod i m
    old = u[here]
    p = gt old 0.35
    t = if p { d = sin old; b = update u[here] d; return b } else { return u }
    return t
  }
  return s
}
"""
WHOLE = """
fn f(x: f64[m], n: i64) -> f64[m] {
  s = loop WISH (u = x) for i < n {
    t = loop (v = u) for j < m { a = v[j]; d = sin a; c = update v[j] d; return c }
    return t
  }
  return s
}
"""
OPEN = """
fn f(x: f64[m], n: i64) -> f64[m] {
  s = loop WISH (u = x) for i < n {
    here = mod i m
    t, k = loop (v = u, h = 0) while { p = lt h here; return p } do {
      a = v[h]; d = sin a; c = update v[h] d; g = add h 1
      return c, g
    }
    return t
  }
  return s
}
"""
X = np.array([0.3, 1.2, -0.4, 0.9, 2.0])
TABLE = np.linspace(-1.0, 1.5, 12).reshape(4, 3)
PROGRAMS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "ring": (RING, (X, 0.9)),
    "rows": (ROWS, (TABLE,)),
    "nested": (NESTED, (TABLE,)),
    "branch": (BRANCH, (X,)),
    "whole": (WHOLE, (X,)),
    "open": (OPEN, (X,)),
}
IN_BLOCKS = ("ring", "rows", "nested", "branch")


def program(text: str, hint: str) -> Function:
    fn = parse(text.replace("WISH ", f"{hint} " if hint else ""))
    check(fn)
    return fn


def adjoints(text: str, hint: str, args: list[Any]) -> Any:
    """The outcome of reverse mode, for random cotangents."""
    fn = program(text, hint)
    seeds = [value for value in run(fn, args).results if is_float(value)]
    backward = vjp(fn, tuple(is_float(arg) for arg in args))
    check(backward)
    return run(backward, [*args, *direction(np.random.default_rng(3), seeds)])


@pytest.mark.parametrize("hint", WISHES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_policy_changes_no_digit(name: str, hint: str) -> None:
    text, args = PROGRAMS[name]
    for n in (0, 1, 2, 3, 7, 40):
        got, wanted = (adjoints(text, asked, [*args, n]).results for asked in (hint, ""))
        for one, other in zip(got, wanted, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("hint", WISHES)
def test_derivatives(hint: str) -> None:
    for text, args in PROGRAMS.values():
        for n in (0, 1, 7):
            assert_derivatives(program(text, hint), [*args, n], order=2)
    assert_derivatives(program(WHILE, hint), [X, 1.4], order=2)


@pytest.mark.parametrize("hint", WISHES)
def test_a_counted_loop_has_blocks_too(hint: str) -> None:
    got, wanted = (adjoints(WHILE, asked, [X, 1.4]).results for asked in (hint, ""))
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
    assert "swept blocks" in show(vjp(program(WHILE, hint), (True, True)))


@pytest.mark.parametrize("name", PROGRAMS)
def test_only_what_is_written_in_parts_has_blocks(name: str) -> None:
    text, args = PROGRAMS[name]
    backward = show(vjp(program(text, "checkpoint log"), (*(True for _ in args), False)))
    assert ("swept blocks" in backward) == (name in IN_BLOCKS)
    assert show(parse(backward)) == backward


@pytest.mark.parametrize("hint", ("checkpoint sqrt", "checkpoint 2", "memory 1000000"))
def test_the_work_does_not_grow_with_the_state(hint: str) -> None:
    """Each iteration that is reversed copied its state before: the work was the square of the size."""
    ratios = []
    for n in (50, 200, 800):
        args = [np.linspace(0.1, 0.9, n), 0.9, n]
        ratios.append(adjoints(RING, hint, args).work.total / run(program(RING, ""), args).work.total)
    assert ratios[2] < 1.1 * ratios[1] and ratios[2] < 10.0


@pytest.mark.parametrize("n", (50, 400))
def test_an_iteration_of_a_block_runs_once_more_than_asked_for_to_write_the_log(n: int) -> None:
    for times in (1, 2, 3):
        sines = adjoints(RING, f"checkpoint {times}", [X, 0.9, n]).work.applied["sin"]
        assert sines == 3 * n if times == 1 else 3 * n < sines <= (2 + times) * n
