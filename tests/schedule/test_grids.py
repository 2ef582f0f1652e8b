"""Kernels without barriers on grids of one, two and three dimensions."""

from __future__ import annotations

import numpy as np
import pytest
from launching import AT, results

pytestmark = pytest.mark.usefixtures("several_workers_pay")

AXPY = f"""
kernel axpy(n: i64, a: f64, x: f64 buffer [n], y: f64 buffer [n])
{AT} {{
  let i: i64 = add(mul(ix, bx), tx)
  if lt(i, n) {{
    y[i] = add(mul(a, x[i]), y[i])
  }}
}}
fn main(n: i64, threads: i64, blocks: i64, x: f64 buffer, old: f64 buffer) {{
  alloc y: f64 global [n]
  copy y [n] = old
  launch axpy [blocks, 1, 1] [threads, 1, 1] [0] (n, 2.5, x, y)
  return y as f64 [n]
}}
"""


@pytest.mark.parametrize(("n", "threads", "blocks"), [(100, 32, 4), (7, 32, 1), (1000, 1, 1000)])
def test_axpy(n: int, threads: int, blocks: int) -> None:
    x, y = np.random.default_rng(1).normal(size=(2, n))
    (found,) = results(AXPY, n, threads, blocks, x, y)
    expected = y.copy()
    done = min(n, threads * blocks)
    expected[:done] += 2.5 * x[:done]
    np.testing.assert_allclose(found, expected)


def test_the_geometry_of_three_dimensions() -> None:
    text = f"""
kernel k(out: i64 buffer [6, 4, 6])
{AT} {{
  let x: i64 = add(mul(ix, bx), tx)
  let y: i64 = add(mul(iy, by), ty)
  let z: i64 = add(mul(iz, bz), tz)
  let whole: i64 = add(mul(add(mul(gx, 10), gy), 10), gz)
  out[z, y, x] = add(mul(whole, 1000), add(mul(add(mul(ix, 10), iy), 10), iz))
}}
fn main(one: i64) {{
  alloc out: i64 global [144]
  launch k [mul(one, 3), 2, 3] [2, mul(2, one), 2] [0] (out)
  return out as i64 [6, 4, 6]
}}
"""
    (found,) = results(text, 1)
    z, y, x = np.indices((6, 4, 6))
    np.testing.assert_array_equal(found, 323000 + 100 * (x // 2) + 10 * (y // 2) + z // 2)


def test_strided_parameters() -> None:
    text = f"""
kernel k(x: f64 buffer [3, 4] by [1, 3], y: f64 buffer [3, 4])
{AT} {{
  y[ty, tx] = x[ty, tx]
}}
fn main(x: f64 buffer) {{
  alloc y: f64 global [12]
  launch k [1, 1, 1] [4, 3, 1] [0] (x, y)
  return y as f64 [3, 4]
}}
"""
    x = np.arange(12.0)
    (found,) = results(text, x)
    np.testing.assert_array_equal(found, x.reshape(4, 3).T)


def test_launches_in_loops_and_twice() -> None:
    text = f"""
kernel double(n: i64, x: f64 buffer [n])
{AT} {{
  let i: i64 = add(mul(ix, bx), tx)
  if lt(i, n) {{
    x[i] = mul(x[i], 2.0)
  }}
}}
fn main(n: i64, x: f64 buffer) {{
  alloc y: f64 global [n]
  copy y [n] = x
  for step in 0 .. 5 sequential {{
    launch double [2, 1, 1] [32, 1, 1] [0] (n, y)
    if gt(step, 2) {{
      launch double [1, 1, 1] [16, 1, 1] [0] (10, y)
    }}
  }}
  return y as f64 [n]
}}
"""
    x = np.arange(50.0)
    (found,) = results(text, 50, x)
    np.testing.assert_array_equal(found, x * 32.0 * np.where(np.arange(50) < 10, 4.0, 1.0))


def test_loops_branches_and_local_arrays_of_one_thread() -> None:
    text = f"""
kernel k(n: i64, x: f64 buffer [n], y: f64 buffer [n])
{AT} {{
  let i: i64 = add(mul(ix, bx), tx)
  alloc c: f64 local [3]
  alloc d: f64 local [bx]
  c[0] = x[i]
  c[1] = 0.0
  for k in 0 .. i sequential {{
    c[1] = add(c[1], x[k])
    d[bitand(k, 7)] = x[k]
  }}
  c[2] = 1.0
  while {{
    let small: bool = lt(c[2], c[1])
  }} test small {{
    c[2] = mul(c[2], 2.0)
  }}
  if gt(i, 4) {{
    y[i] = add(c[2], d[0])
  }} else {{
    y[i] = c[2]
  }}
}}
fn main(n: i64, x: f64 buffer) {{
  alloc y: f64 global [n]
  launch k [2, 1, 1] [8, 1, 1] [0] (n, x, y)
  return y as f64 [n]
}}
"""
    x = np.random.default_rng(0).uniform(0.5, 2, 16)
    (found,) = results(text, 16, x)
    sums = np.cumsum(x) - x
    powers = np.where(sums > 1, 2.0 ** np.ceil(np.log2(np.maximum(sums, 1e-9))), 1.0)
    last = np.array([x[8 * ((i - 1) // 8)] if i else 0.0 for i in range(16)])
    np.testing.assert_allclose(found, powers + np.where(np.arange(16) > 4, last, 0.0))
