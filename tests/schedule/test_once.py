"""What is the same for all threads of a block, or of a warp, is done once."""

from __future__ import annotations

import numpy as np
import pytest
from launching import AT, results, scheduled

from anadrome.kernel_ir.interp import run
from anadrome.kernel_ir.nodes import Alloc, For, Function, Space, Store
from anadrome.kernel_ir.text import parse
from anadrome.kernel_ir.walk import statements

pytestmark = pytest.mark.usefixtures("several_workers_pay")


def over(body: str) -> str:
    """A kernel of two blocks of 48 threads."""
    return f"""
kernel k(few: i64, a: f64, c: i64 buffer, x: f64 buffer, y: f64 buffer)
{AT} {{
  alloc s: f64 shared [48]
  let i: i64 = add(mul(ix, 48), tx)
  {body}
}}
fn main(few: i64, c: i64 buffer, x: f64 buffer) {{
  alloc y: f64 global [96]
  fill y [96] = 0.0
  launch k [2, 1, 1] [48, 1, 1] [0] (few, 0.5, c, x, y)
  return y as f64 [96]
}}
"""


def stores_in_loops_over_threads(fn: Function, name: str) -> int:
    """How often an array is written in innermost loops over 48 threads or 32 lanes."""
    loops = [stmt for stmt in statements(fn.body) if isinstance(stmt, For)]
    inside = [stmt for loop in loops if loop.index.name in ("tx", "lane") for stmt in statements(loop.body)]
    return sum(isinstance(stmt, Store) and stmt.buffer.name == name for stmt in inside)


SUM = """
  alloc half: i64 local [1]
  half[0] = 32
  s[tx] = x[i]
  barrier
  while {
    let h: i64 = half[0]
  } test gt(h, 0) {
    if and(lt(tx, h), lt(add(tx, h), 48)) {
      s[tx] = add(s[tx], s[add(tx, h)])
    }
    barrier
    half[0] = truncdiv(h, 2)
  }
  y[i] = s[0]
"""


def test_a_number_that_the_block_counts_down() -> None:
    x = np.random.default_rng(1).normal(size=96)
    (found,) = results(over(SUM), 0, [0], x)
    np.testing.assert_allclose(found, np.repeat(x.reshape(2, 48).sum(axis=1), 48))
    fn = scheduled(over(SUM))
    assert stores_in_loops_over_threads(fn, "half") == 0
    assert not fn.failures


def test_elements_and_floats_that_are_the_same() -> None:
    body = """
  let scale: f64 = mul(a, to_f64(few))
  let first: f64 = x[mul(ix, 48)]
  s[tx] = x[i]
  barrier
  for k in 0 .. c[ix] sequential {
    let v: f64 = s[sub(47, tx)]
    barrier
    s[tx] = add(mul(v, scale), first)
    barrier
  }
  y[i] = s[tx]
"""
    x = np.random.default_rng(2).normal(size=96)
    (found,) = results(over(body), 3, [2, 1], x)
    rows = x.reshape(2, 48)
    expected = rows[:, ::-1] * 1.5 + rows[:, :1]
    expected[0] = expected[0, ::-1] * 1.5 + rows[0, 0]
    np.testing.assert_allclose(found.reshape(2, 48), expected)
    fn = scheduled(over(body))
    assert not fn.failures
    held = [s.buffer.name for s in statements(fn.body) if isinstance(s, Alloc) and s.buffer.name != "y"]
    assert held == ["s", "v"]


@pytest.mark.parametrize(
    "body",
    [
        "alloc n: i64 local [1]\n n[0] = tx\n barrier\n y[i] = to_f64(n[0])",
        "alloc n: i64 local [1]\n n[0] = 1\n if lt(tx, 9) { n[0] = 2 }\n barrier\n y[i] = to_f64(n[0])",
        "alloc n: i64 local [1]\n n[0] = 1\n for k in 0 .. 3 sequential { n[0] = add(n[0], k) }\n"
        "barrier\n y[i] = to_f64(n[0])",
        "alloc n: i64 local [1]\n alloc m: i64 local [1]\n m[0] = 1\n n[0] = m[0]\n m[0] = tx\n barrier\n"
        "n[0] = m[0]\n y[i] = to_f64(n[0])",
        "alloc n: f64 local [1]\n n[0] = y[0]\n barrier\n y[i] = add(n[0], to_f64(tx))",
        "alloc n: i64 local [1]\n fill n [1] = tx\n barrier\n n[0] = add(n[0], 1)\n y[i] = to_f64(n[0])",
        "alloc n: i64 local [1]\n n[0] = 3\n barrier\n atomic add n[0] = tx -> o: i64\n y[i] = to_f64(o)",
    ],
)
def test_numbers_that_vary_are_kept_for_each_thread(body: str) -> None:
    results(over(body.replace("y[0]", "x[tx]")), 1, [0, 0], np.arange(96.0))


def test_a_piece_that_reads_what_is_set_after_it() -> None:
    body = """
  alloc n: i64 local [1]
  n[0] = 1
  barrier
  if lt(tx, 20) {
    s[tx] = to_f64(n[0])
  } else {
    s[tx] = to_f64(add(n[0], 10))
  }
  n[0] = add(n[0], few)
  y[i] = add(s[tx], to_f64(mul(100, n[0])))
"""
    (found,) = results(over(body), 4, [0], np.zeros(96))
    np.testing.assert_array_equal(found, np.tile(np.where(np.arange(48) < 20, 501.0, 511.0), 2))


def test_numbers_of_a_warp() -> None:
    """Each warp counts for itself, the second after the first."""
    body = """
  alloc step: i64 local [1]
  alloc v: f64 local [1]
  v[0] = x[i]
  step[0] = 8
  while { } test gt(step[0], 0) {
    warp xor 4294967295, v[0], step[0] -> w: f64
    v[0] = add(v[0], w)
    step[0] = truncdiv(step[0], 2)
  }
  y[i] = v[0]
"""
    x = np.random.default_rng(3).normal(size=96)
    (found,) = results(over(body), 0, [0], x)
    np.testing.assert_allclose(found, np.repeat(x.reshape(6, 16).sum(axis=1), 16))
    assert stores_in_loops_over_threads(scheduled(over(body)), "step") == 0


def test_lanes_that_leave_a_loop_keep_their_number() -> None:
    """What the prelude sets holds for the lanes that are still there."""
    body = """
  alloc n: i64 local [1]
  n[0] = 0
  while {
    n[0] = add(n[0], 1)
    warp sync 4294967295
  } test lt(n[0], add(bitand(tx, 3), 1)) {
    y[i] = add(y[i], 1.0)
  }
  y[i] = add(mul(y[i], 100.0), to_f64(n[0]))
"""
    text = over(body)
    expected = run(parse(text), [0, [0], np.zeros(96)], judge=False)[0]
    lane = np.arange(96) % 4
    np.testing.assert_array_equal(expected, 100.0 * lane + lane + 1)
    for workers in (1, 2):
        np.testing.assert_array_equal(run(scheduled(text, workers), [0, [0], np.zeros(96)])[0], expected)


def test_what_is_done_once_stands_on_the_stack() -> None:
    allocated = [s for s in statements(scheduled(over(SUM)).body) if isinstance(s, Alloc)]
    assert [s.buffer.space for s in allocated if s.buffer.name == "half"] == [Space.LOCAL]
