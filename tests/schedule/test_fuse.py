"""Loops along a running value in the loops that compute it: which ones, and that they compute the same."""

from __future__ import annotations

import numpy as np
import pytest
from launching import config, scheduled
from test_innermost import LENGTHS, agree, arguments

from anadrome.kernel_ir.nodes import Alloc, For, Space
from anadrome.kernel_ir.text import parse
from anadrome.kernel_ir.walk import statements
from anadrome.schedule.fuse import fused
from anadrome.targets.cpu import compile_cpu

SUM = "let v: f64 = s[0] y[i] = v"
LOSS = "let u: f64 = y[j] let w: f64 = x[add(j, n)] t[0] = add~(t[0], mul(w, mul(u, u)))"


def program(first: str, second: str, between: str = "", outputs: str = "", bounds: str = "0 .. n") -> str:
    """A running value over n numbers, and a loop behind it."""
    return f"""fn f(x: f64 buffer, k: i64 buffer, n: i64) {{
      alloc y: f64 global [add(n, 2)]
      fill y [add(n, 2)] = 0.5
      alloc z: f64 global [add(n, 2)]
      fill z [add(n, 2)] = 0.25
      view later = y [1]
      view ahead = z [1]
      alloc s: f64 local [1]
      s[0] = 0.0
      alloc c: i64 local [1]
      c[0] = 0
      for i in 0 .. n sequential {{ {first} }}
      alloc t: f64 local [1]
      t[0] = 1.0
      {between}
      for j in {bounds} sequential {{ {second} }}
      return t[0] as f64, s[0] as f64, c[0] as i64, z as f64 [add(n, 2)]{outputs}
    }}
    failure index "index {{0}} is outside of {{1}}" at "user.py" 4 2 9"""


FUSED = {
    "a prefix sum": (f"s[0] = add~(s[0], x[i]) {SUM}", LOSS, ""),
    "a recurrence": (f"s[0] = add(mul(s[0], 0.5), x[i]) {SUM}", LOSS, ""),
    "the largest so far": (f"s[0] = max(s[0], x[i]) {SUM}", LOSS, ""),
    "without the own element": (f"{SUM} s[0] = add~(s[0], x[i])", LOSS, ""),
    "a map": (f"s[0] = add~(s[0], x[i]) {SUM}", "let u: f64 = y[j] z[j] = mul(u, x[j])", ""),
    "one prefix sum of another": (
        f"s[0] = add~(s[0], x[i]) {SUM}",
        "let u: f64 = y[j] t[0] = add~(t[0], u) let r: f64 = t[0] z[j] = r",
        "",
    ),
    "read twice": (
        f"s[0] = add~(s[0], x[i]) {SUM}",
        "let u: f64 = y[j] let w: f64 = y[j] t[0] = add~(t[0], mul(u, w))",
        "",
    ),
    "in the place of what the first reads": (
        f"let a: f64 = z[i] s[0] = add~(s[0], mul(a, x[i])) {SUM}",
        "let u: f64 = y[j] z[j] = mul(u, 2.0)",
        "",
    ),
    "behind something else": (
        f"s[0] = add~(s[0], x[i]) {SUM}",
        LOSS,
        "for q in 0 .. n parallel { z[q] = mul(x[q], 3.0) } let g: f64 = x[0] t[0] = g",
    ),
    "behind a check": (
        f"s[0] = add~(s[0], x[i]) {SUM}",
        LOSS,
        "let p: bool = lt(n, 100000) check 0: p, n, n",
    ),
}
"""Loops of which the second needs what the first has just computed."""

KEPT = {
    "read behind both": (f"s[0] = add~(s[0], x[i]) {SUM}", LOSS, "", ", y as f64 [n]"),
}
"""The same, but the array is a result."""

LEFT = {
    "backwards": (f"s[0] = add~(s[0], x[i]) {SUM}", "let u: f64 = y[sub(sub(n, 1), j)] z[j] = u", ""),
    "a neighbour": (f"s[0] = add~(s[0], x[i]) {SUM}", "let u: f64 = y[add(j, 1)] z[j] = u", ""),
    "own and neighbour": (
        f"s[0] = add~(s[0], x[i]) {SUM}",
        "let u: f64 = y[j] let w: f64 = y[add(j, 1)] z[j] = add(u, w)",
        "",
    ),
    "what the running value is in the end": (f"s[0] = add~(s[0], x[i]) {SUM}", f"{LOSS} z[j] = s[0]", ""),
    "it changes what the first reads": (
        f"let a: f64 = z[add(i, 1)] s[0] = add~(s[0], a) {SUM}",
        "let u: f64 = y[j] z[j] = mul(u, 2.0)",
        "",
    ),
    "it writes to the array itself": (
        f"s[0] = add~(s[0], x[i]) {SUM}",
        "let u: f64 = y[j] y[j] = mul(u, 2.0) t[0] = add~(t[0], u)",
        "",
    ),
    "the array is changed between": (f"s[0] = add~(s[0], x[i]) {SUM}", LOSS, "fill y [n] = 2.0"),
    "the array is read between": (f"s[0] = add~(s[0], x[i]) {SUM}", LOSS, "t[0] = y[0]"),
    "what the first reads is changed between": (
        f"let a: f64 = z[i] s[0] = add~(s[0], a) {SUM}",
        LOSS,
        "fill z [n] = 2.0",
    ),
    "through a view": (
        f"s[0] = add~(s[0], x[i]) {SUM}",
        "let u: f64 = o[j] t[0] = add~(t[0], u)",
        "view o = y [1]",
    ),
    "through a view that was there before": (
        f"s[0] = add~(s[0], x[i]) {SUM}",
        "let u: f64 = later[j] t[0] = add~(t[0], u)",
        "",
    ),
    "into a view of what the first reads": (
        f"let a: f64 = z[i] s[0] = add~(s[0], a) {SUM}",
        "let u: f64 = y[j] ahead[j] = mul(u, 2.0)",
        "",
    ),
    "written twice": (f"s[0] = add~(s[0], x[i]) {SUM} y[i] = mul(v, 2.0)", LOSS, ""),
    "no running value": ("let v: f64 = mul(x[i], 2.0) y[i] = v", LOSS, ""),
    "a function": (f"s[0] = add~(s[0], x[i]) {SUM}", "let u: f64 = y[j] z[j] = exp(mul(u, -0.1))", ""),
    "a branch": (
        f"s[0] = add~(s[0], x[i]) {SUM}",
        "let u: f64 = y[j] if gt(u, 1.0) { t[0] = add~(t[0], u) }",
        "",
    ),
}
"""Loops that stay two."""


def loops_of(text: str) -> int:
    """How many loops there are behind the fusion over all numbers but those between."""
    fn = fused(parse(text))
    return sum(isinstance(stmt, For) and stmt.index.name in "ij" for stmt in statements(fn.body))


@pytest.mark.parametrize("name", [*FUSED, *KEPT])
def test_one_loop(name: str) -> None:
    first, second, between, *outputs = {**FUSED, **KEPT}[name]
    text = program(first, second, between, *outputs)
    assert loops_of(text) == 1
    for length in (*LENGTHS, 130):
        if length:
            agree(text, 512, *arguments(length))


@pytest.mark.parametrize("name", LEFT)
def test_two_loops(name: str) -> None:
    text = program(*LEFT[name])
    assert loops_of(text) == 2
    for length in (1, 9, 67):
        agree(text, 512, *arguments(length))


@pytest.mark.parametrize("bounds", ["0 .. sub(n, 1)", "1 .. n"])
def test_other_bounds_are_other_loops(bounds: str) -> None:
    text = program(f"s[0] = add~(s[0], x[i]) {SUM}", LOSS, "", "", bounds)
    assert loops_of(text) == 2
    agree(text, 512, *arguments(33))


WHOLE = """fn f(x: f64 buffer, n: i64) {
  alloc y: f64 global [max(n, 1)]
  alloc s: f64 local [1]
  s[0] = 0.0
  for i in 0 .. n sequential { s[0] = add~(s[0], x[i]) let v: f64 = s[0] y[i] = v }
  alloc t: f64 local [1]
  t[0] = 0.0
  for j in 0 .. n sequential { let u: f64 = y[j] t[0] = add~(t[0], mul(u, u)) }
  alloc r: f64 local [1]
  r[0] = 0.0
  for k in 0 .. n parallel { let w: f64 = y[k] r[0] = add~(r[0], w) }
  free y
  return t[0] as f64, r[0] as f64
}"""


def test_an_array_that_nobody_needs_is_not_there() -> None:
    fn = fused(parse(WHOLE))
    assert not any(
        isinstance(stmt, Alloc) and stmt.buffer.space is Space.GLOBAL for stmt in statements(fn.body)
    )
    assert sum(isinstance(stmt, For) for stmt in statements(fn.body)) == 1
    for length in LENGTHS:
        agree(WHOLE, 512, np.linspace(0.0, 1.0, max(length, 1)), length)


def test_infinities_and_what_is_no_number() -> None:
    x = np.array([1.0, np.inf, 2.0, -np.inf, 3.0, np.nan, 4.0])
    fn = scheduled(WHOLE, vector_bits=512)
    for length in range(8):
        with np.errstate(invalid="ignore"):
            sums = np.cumsum(x[:length])
            expected = [np.sum(sums * sums), np.sum(sums)]
        found = compile_cpu(fn, config(1))([x, length])
        np.testing.assert_equal([float(one) for one in found], expected)
