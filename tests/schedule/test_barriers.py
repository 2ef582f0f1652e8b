"""Kernels whose threads meet at barriers."""

from __future__ import annotations

import numpy as np
import pytest
from launching import AT, compiled, results, scheduled

from anadrome.errors.runtime import BarrierDivergence
from anadrome.kernel_ir.interp import run
from anadrome.kernel_ir.nodes import Alloc
from anadrome.kernel_ir.text import parse
from anadrome.kernel_ir.walk import statements

pytestmark = pytest.mark.usefixtures("several_workers_pay")


def reduction(block: str) -> str:
    """The sum of each block, by halving."""
    return f"""
kernel total(n: i64, x: f64 buffer [n], sums: f64 buffer)
{AT} {{
  alloc s: f64 shared [truncdiv(bytes, 8)]
  alloc half: i64 local [1]
  let i: i64 = add(mul(ix, bx), tx)
  s[tx] = 0.0
  if lt(i, n) {{
    s[tx] = x[i]
  }}
  barrier
  half[0] = truncdiv(bx, 2)
  while {{
    let h: i64 = half[0]
  }} test gt(h, 0) {{
    if lt(tx, h) {{
      s[tx] = add(s[tx], s[add(tx, h)])
    }}
    barrier
    half[0] = truncdiv(h, 2)
  }}
  if eq(tx, 0) {{
    sums[ix] = s[0]
  }}
}}
fn main(n: i64, threads: i64, blocks: i64, x: f64 buffer) {{
  alloc sums: f64 global [blocks]
  launch total [blocks, 1, 1] [{block}, 1, 1] [mul(8, {block})] (n, x, sums)
  return sums as f64 [blocks]
}}
"""


@pytest.mark.parametrize("block", ["32", "threads"])
def test_block_reduction(block: str) -> None:
    x = np.random.default_rng(3).normal(size=150)
    (found,) = results(reduction(block), 150, 32, 5, x)
    np.testing.assert_allclose(found, np.append(x, np.zeros(10)).reshape(5, 32).sum(axis=1))


def test_scan_with_barriers_in_a_loop() -> None:
    text = f"""
kernel scan(x: f64 buffer, y: f64 buffer)
{AT} {{
  alloc s: f64 shared [2, 64] [128]
  let base: i64 = mul(ix, 64)
  s[0, tx] = x[add(base, tx)]
  barrier
  for k in 0 .. 6 sequential {{
    let from: i64 = bitand(k, 1)
    let to: i64 = sub(1, from)
    let step: i64 = shl(1, k)
    let own: f64 = s[from, tx]
    if ge(tx, step) {{
      s[to, tx] = add(own, s[from, sub(tx, step)])
    }} else {{
      s[to, tx] = own
    }}
    barrier
  }}
  y[add(base, tx)] = s[0, tx]
}}
fn main(x: f64 buffer) {{
  alloc y: f64 global [192]
  launch scan [3, 1, 1] [64, 1, 1] [0] (x, y)
  return y as f64 [3, 64]
}}
"""
    x = np.random.default_rng(4).normal(size=192)
    (found,) = results(text, x)
    np.testing.assert_allclose(found, np.cumsum(x.reshape(3, 64), axis=1))


def test_tiled_transpose() -> None:
    text = f"""
kernel transpose(n: i64, m: i64, x: f64 buffer [n, m], y: f64 buffer [m, n])
{AT} {{
  alloc tile: f64 shared [8, 9] [72]
  let column: i64 = add(mul(ix, 8), tx)
  let row: i64 = add(mul(iy, 8), ty)
  if and(lt(row, n), lt(column, m)) {{
    tile[ty, tx] = x[row, column]
  }}
  barrier
  let row_1: i64 = add(mul(ix, 8), ty)
  let column_1: i64 = add(mul(iy, 8), tx)
  if and(lt(row_1, m), lt(column_1, n)) {{
    y[row_1, column_1] = tile[tx, ty]
  }}
}}
fn main(n: i64, m: i64, x: f64 buffer) {{
  alloc y: f64 global [mul(n, m)]
  launch transpose [truncdiv(add(m, 7), 8), truncdiv(add(n, 7), 8), 1] [8, 8, 1] [0] (n, m, x, y)
  return y as f64 [m, n]
}}
"""
    x = np.random.default_rng(5).normal(size=(19, 30))
    (found,) = results(text, 19, 30, x)
    np.testing.assert_array_equal(found, x.T)


def test_tiled_product_keeps_the_sum_of_each_thread() -> None:
    text = f"""
kernel product(n: i64, a: f64 buffer [n, n], b: f64 buffer [n, n], c: f64 buffer [n, n])
{AT} {{
  alloc left: f64 shared [4, 4] [16]
  alloc right: f64 shared [4, 4] [16]
  alloc total: f64 local [1]
  total[0] = 0.0
  let row: i64 = add(mul(iy, 4), ty)
  let column: i64 = add(mul(ix, 4), tx)
  for tile in 0 .. truncdiv(n, 4) sequential {{
    left[ty, tx] = a[row, add(mul(tile, 4), tx)]
    right[ty, tx] = b[add(mul(tile, 4), ty), column]
    barrier
    for k in 0 .. 4 sequential {{
      total[0] = add(total[0], mul(left[ty, k], right[k, tx]))
    }}
    barrier
  }}
  c[row, column] = total[0]
}}
fn main(n: i64, a: f64 buffer, b: f64 buffer) {{
  alloc c: f64 global [mul(n, n)]
  launch product [truncdiv(n, 4), truncdiv(n, 4), 1] [4, 4, 1] [0] (n, a, b, c)
  return c as f64 [n, n]
}}
"""
    a, b = np.random.default_rng(6).normal(size=(2, 12, 12))
    (found,) = results(text, 12, a, b)
    np.testing.assert_allclose(found, a @ b)


def test_what_lives_across_barriers() -> None:
    """Values of every kind: floats, formulas of places, arrays of a thread, old values; in three
    dimensions."""
    text = f"""
kernel k(x: f64 buffer, y: f64 buffer, z: i64 buffer)
{AT} {{
  alloc s: i64 shared [1]
  alloc own: f64 local [2, 3] [6]
  let i: i64 = add(mul(add(mul(tz, by), ty), bx), tx)
  let v: f64 = mul(x[i], 2.0)
  let is_odd: bool = eq(bitand(i, 1), 1)
  for k in 0 .. 3 sequential {{
    own[0, k] = add(v, to_f64(k))
    own[1, k] = to_f64(i)
  }}
  if eq(i, 0) {{
    s[0] = 5
  }}
  barrier
  atomic add s[0] = i -> before: i64
  barrier
  let read: i64 = s[0]
  let w: f64 = select(is_odd, v, x[sub(23, i)])
  barrier
  y[i] = add(mul(w, own[1, 2]), own[0, bitand(i, 1)])
  z[i] = add(mul(read, 1000), before)
}}
fn main(x: f64 buffer) {{
  alloc y: f64 global [24]
  alloc z: i64 global [24]
  launch k [1, 1, 1] [3, 4, 2] [0] (x, y, z)
  return y as f64 [24], z as i64 [24]
}}
"""
    x = np.random.default_rng(7).normal(size=24)
    y, z = results(text, x)
    i = np.arange(24)
    w = np.where(i % 2 == 1, 2 * x, x[::-1])
    np.testing.assert_allclose(y, w * i + 2 * x + i % 2)
    np.testing.assert_array_equal(z, (5 + 276) * 1000 + 5 + np.cumsum(i) - i)


def test_predicates() -> None:
    text = f"""
kernel k(x: i64 buffer, y: i64 buffer)
{AT} {{
  let v: i64 = x[add(mul(ix, bx), tx)]
  barrier: count gt(v, 2) -> c: i64
  barrier: and gt(v, 0) -> every: bool
  barrier: or gt(v, 8) -> some: bool
  if every {{
    barrier
    y[add(mul(ix, bx), tx)] = add(c, 100)
  }} else {{
    y[add(mul(ix, bx), tx)] = select(some, add(c, 200), c)
  }}
}}
fn main(x: i64 buffer) {{
  alloc y: i64 global [18]
  launch k [3, 1, 1] [6, 1, 1] [0] (x, y)
  return y as i64 [3, 6]
}}
"""
    x = np.array([[1, 2, 3, 4, 5, 6], [0, 2, 9, 4, 5, 6], [0, 1, 2, 3, 4, 8]])
    (found,) = results(text, x)
    np.testing.assert_array_equal(found, np.repeat([[104], [204], [3]], 6, axis=1))


def test_an_early_return_that_all_threads_take() -> None:
    text = f"""
kernel k(n: i64, x: f64 buffer [n], y: f64 buffer [n])
{AT} {{
  alloc s: f64 shared [8]
  let i: i64 = add(mul(ix, 8), tx)
  let limit: f64 = x[0]
  if lt(to_f64(ix), limit) {{
    s[tx] = x[i]
    barrier
    y[i] = s[sub(7, tx)]
  }}
}}
fn main(n: i64, x: f64 buffer) {{
  alloc y: f64 global [n]
  fill y [n] = 0.0
  launch k [truncdiv(n, 8), 1, 1] [8, 1, 1] [0] (n, x, y)
  return y as f64 [n]
}}
"""
    x = np.arange(32.0) + 2
    (found,) = results(text, 32, x)
    np.testing.assert_array_equal(found[:16], x.reshape(4, 8)[:2, ::-1].reshape(-1))
    np.testing.assert_array_equal(found[16:], 0.0)


DIVERGENT = f"""
kernel k(x: f64 buffer)
{AT} {{
  BODY
}}
fn main(n: i64) {{
  alloc x: f64 global [4096]
  fill x [4096] = 0.0
  launch k [2, 2, 1] [n, 2, 1] [0] (x)
  return x as f64 [4096]
}}
"""


@pytest.mark.parametrize(
    ("body", "thread"),
    [
        ("if lt(tx, 3) { barrier }", "(3, 0, 0)"),
        ("let i: i64 = add(mul(ty, 4), tx)\n if ne(i, 6) { x[0] = 1.0 } else { barrier }", "(2, 1, 0)"),
        ("for k in 0 .. add(1, ty) sequential { barrier }", "(0, 1, 0)"),
        ("alloc c: i64 local [1]\n c[0] = tx\n while { } test lt(c[0], 3) {barrier\n c[0] = 3}", "(3, 0, 0)"),
    ],
)  # fmt: skip
def test_divergent_barriers_are_refused(body: str, thread: str) -> None:
    text = DIVERGENT.replace("BODY", body)
    with pytest.raises(BarrierDivergence):
        run(parse(text), [4], judge=False)
    for workers in (1, 2):
        with pytest.raises(BarrierDivergence) as caught:
            compiled(text, workers)([4])
        assert f"in block (0, 0, 0), thread {thread}" in str(caught.value)


def test_conditions_that_cannot_differ_are_not_looked_at() -> None:
    text = DIVERGENT.replace("BODY", "for k in 0 .. add(ix, bx) sequential { x[tx] = 1.0\n barrier }")
    assert not scheduled(text).failures


def test_memory_is_allocated_once_for_a_worker_and_freed() -> None:
    fn = scheduled(reduction("32"))
    outer = [stmt.buffer.name for stmt in fn.body if isinstance(stmt, Alloc)]
    inner = [stmt.buffer.name for stmt in statements(fn.body) if isinstance(stmt, Alloc)]
    assert "s" in outer and inner.count("s") == 1


def test_fills_and_copies_of_arrays_that_live_across_barriers() -> None:
    text = f"""
kernel k(x: f64 buffer [4, 4], y: f64 buffer [16, 4])
{AT} {{
  alloc a: f64 local [4]
  alloc b: f64 local [2, 2] [4]
  alloc c: f64 local [4]
  fill a [4] = to_f64(tx)
  fill c [4] = 7.0
  copy c [2] = x
  barrier
  copy b [4] = c
  a[0] = b[1, 0]
  barrier
  for k in 0 .. 4 sequential {{
    y[tx, k] = add(mul(a[k], 100.0), b[truncdiv(k, 2), bitand(k, 1)])
  }}
}}
fn main(x: f64 buffer) {{
  alloc y: f64 global [64]
  launch k [1, 1, 1] [16, 1, 1] [0] (x, y)
  return y as f64 [16, 4]
}}
"""
    x = np.arange(1.0, 17.0)
    (found,) = results(text, x)
    expected = np.repeat(np.arange(16.0)[:, None], 4, axis=1)
    expected[:, 0] = 7.0
    np.testing.assert_array_equal(found, expected * 100 + np.array([1.0, 2.0, 7.0, 7.0]))


def test_shared_memory_of_a_size_that_the_kernel_computes() -> None:
    text = f"""
kernel reverse(x: f64 buffer, y: f64 buffer)
{AT} {{
  let n: i64 = truncdiv(bytes, 8)
  let wide: i64 = add(n, 1)
  alloc s: f64 shared [2, wide] [mul(2, wide)]
  let i: i64 = add(mul(ix, bx), tx)
  s[1, tx] = x[i]
  barrier
  y[i] = s[1, sub(sub(n, 1), tx)]
}}
fn main(x: f64 buffer) {{
  alloc y: f64 global [15]
  launch reverse [3, 1, 1] [5, 1, 1] [40] (x, y)
  return y as f64 [15]
}}
"""
    x = np.arange(15.0)
    (found,) = results(text, x)
    np.testing.assert_array_equal(found, x.reshape(3, 5)[:, ::-1].reshape(-1))
