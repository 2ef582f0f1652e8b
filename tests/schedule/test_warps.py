"""Kernels whose lanes work together."""

from __future__ import annotations

import numpy as np
import pytest
from launching import AT, results

pytestmark = pytest.mark.usefixtures("several_workers_pay")

FULL = 4294967295


def over(body: str, block: str = "[64, 1, 1]", blocks: int = 2, dtype: str = "f64") -> str:
    """A kernel over arrays x and y; i is the thread's number in the launch, l its lane."""
    return f"""
kernel k(n: i64, x: {dtype} buffer [n], y: {dtype} buffer [n])
{AT} {{
  let own: i64 = add(mul(add(mul(tz, by), ty), bx), tx)
  let i: i64 = add(mul(ix, mul(mul(bx, by), bz)), own)
  let l: i64 = bitand(own, 31)
  {body}
}}
fn main(n: i64, x: {dtype} buffer) {{
  alloc y: {dtype} global [n]
  fill y [n] = {"0.0" if dtype == "f64" else "0"}
  launch k [{blocks}, 1, 1] {block} [0] (n, x, y)
  return y as {dtype} [n]
}}
"""


SUM = f"""
  alloc v: f64 local [1]
  alloc step: i64 local [1]
  v[0] = x[i]
  step[0] = 16
  while {{ }} test gt(step[0], 0) {{
    warp down {FULL}, v[0], step[0] -> other: f64
    v[0] = add(v[0], other)
    step[0] = truncdiv(step[0], 2)
  }}
  if eq(l, 0) {{
    y[i] = v[0]
  }}
"""

SCAN = f"""
  alloc v: f64 local [1]
  v[0] = x[i]
  for k in 0 .. 5 sequential {{
    let step: i64 = shl(1, k)
    warp up {FULL}, v[0], step -> below: f64
    if ge(l, step) {{
      v[0] = add(v[0], below)
    }}
  }}
  y[i] = v[0]
"""

BUTTERFLY = f"""
  alloc v: f64 local [1]
  v[0] = x[i]
  for k in 0 .. 5 sequential {{
    warp xor {FULL}, v[0], shl(1, k) -> other: f64
    v[0] = add(v[0], other)
  }}
  y[i] = v[0]
"""


@pytest.mark.parametrize("block", ["[64, 1, 1]", "[n, 1, 1]", "[16, 2, 2]", "[8, 8, 1]"])
def test_reduction_scan_and_butterfly(block: str) -> None:
    x = np.random.default_rng(1).normal(size=128 if "n" not in block else 96)
    rows = x.reshape(-1, 32)
    blocks = 2 if "n" not in block else 1
    (sums,) = results(over(SUM, block, blocks), len(x), x)
    np.testing.assert_allclose(sums.reshape(-1, 32)[:, 0], rows.sum(axis=1))
    (scanned,) = results(over(SCAN, block, blocks), len(x), x)
    np.testing.assert_allclose(scanned.reshape(-1, 32), np.cumsum(rows, axis=1))
    (every,) = results(over(BUTTERFLY, block, blocks), len(x), x)
    np.testing.assert_allclose(every.reshape(-1, 32), np.repeat(rows.sum(axis=1)[:, None], 32, axis=1))


def test_a_warp_that_is_not_full() -> None:
    x = np.random.default_rng(2).normal(size=41)
    (found,) = results(over(SCAN, "[n, 1, 1]", 1), 41, x)
    np.testing.assert_allclose(found, np.concatenate([np.cumsum(x[:32]), np.cumsum(x[32:])]))
    body = f"warp down {FULL}, x[i], 3 -> v: f64\n y[i] = v"
    (found,) = results(over(body, "[n, 1, 1]", 1), 41, x)
    expected = x.copy()
    expected[:29], expected[32:38] = x[3:32], x[35:]
    np.testing.assert_array_equal(found, expected)


def test_places_of_threads_in_three_dimensions() -> None:
    body = f"warp shuffle {FULL}, add(mul(add(mul(tz, 10), ty), 10), tx), sub(31, l) -> v: i64\n y[i] = v"
    (found,) = results(over(body, "[3, 5, 3]", 1, "i64"), 45, np.zeros(45))
    z, y, x = np.indices((3, 5, 3)).reshape(3, -1)
    places = 100 * z + 10 * y + x
    lane = np.arange(45) % 32
    source = np.arange(45) - lane + 31 - lane
    np.testing.assert_array_equal(found, np.where(source < 45, places[np.minimum(source, 44)], places))


def test_branches_that_diverge() -> None:
    body = f"""
  let is_low: bool = lt(x[i], 0.5)
  alloc r: f64 local [1]
  r[0] = -1.0
  if lt(l, 12) {{
    warp xor 4095, x[i], 1 -> v: f64
    r[0] = mul(v, 2.0)
    if lt(l, 4) {{
      warp shuffle 15, r[0], 3 -> w: f64
      r[0] = add(w, r[0])
    }}
  }} else {{
    warp up {FULL - 4095}, x[i], 1 -> u: f64
    r[0] = u
    if is_low {{
      r[0] = add(r[0], 100.0)
    }}
  }}
  y[i] = r[0]
"""
    x = np.random.default_rng(3).uniform(size=128)
    (found,) = results(over(body).replace("warp up", "warp sync 4294963200\n warp down"), 128, x)
    rows, lane = x.reshape(-1, 32), np.arange(32)
    low = 2 * rows[:, lane ^ 1]
    low[:, :4] += low[:, 3:4]
    high = rows[:, np.minimum(lane + 1, 31)] + 100.0 * (rows < 0.5)
    np.testing.assert_allclose(found.reshape(-1, 32), np.where(lane < 12, low, high))


def test_votes() -> None:
    body = f"""
  let holds: bool = gt(x[i], 3)
  warp ballot {FULL}, holds -> bits: i64
  warp any {FULL}, holds -> some: bool
  warp all {FULL}, holds -> every: bool
  y[i] = add(bits, mul(4294967296, add(select(some, 1, 0), select(every, 2, 0))))
"""
    x = np.random.default_rng(4).integers(0, 8, (4, 32))
    x[1], x[2] = 2, 7
    (found,) = results(over(body, dtype="i64"), 128, x)
    holds = x > 3
    bits = (holds << np.arange(32)).sum(axis=1)
    words = bits + (1 << 32) * (holds.any(axis=1) + 2 * holds.all(axis=1))
    np.testing.assert_array_equal(found.reshape(4, 32), np.repeat(words[:, None], 32, axis=1))


def test_votes_of_some_lanes() -> None:
    body = """
  if eq(bitand(l, 1), 1) {
    warp ballot 2863311530, gt(x[i], 3) -> bits: i64
    warp all 2863311530, gt(x[i], 0) -> every: bool
    y[i] = select(every, bits, sub(0, bits))
  }
"""
    x = np.random.default_rng(5).integers(0, 8, (4, 32))
    x[0] = np.maximum(x[0], 1)
    x[0, 0] = 0
    (found,) = results(over(body, dtype="i64"), 128, x)
    odd = np.arange(32) % 2 == 1
    bits = ((x > 3) & odd) @ (1 << np.arange(32))
    bits = np.where(((x > 0) | ~odd).all(axis=1), bits, -bits)
    np.testing.assert_array_equal(found.reshape(4, 32), np.where(odd, bits[:, None], 0))


def test_loops_that_diverge() -> None:
    """Lanes run as often as their own number says; those that still run vote."""
    body = f"""
  alloc count: i64 local [1]
  alloc total: i64 local [1]
  count[0] = bitand(x[i], 7)
  total[0] = 0
  while {{
    let more: bool = gt(count[0], 0)
    warp ballot {FULL}, more -> bits: i64
    total[0] = add(total[0], bits)
  }} test gt(bits, 0) {{
    if more {{
      count[0] = sub(count[0], 1)
    }}
  }}
  y[i] = total[0]
"""
    x = np.random.default_rng(6).integers(0, 8, (4, 32))
    (found,) = results(over(body, dtype="i64"), 128, x)
    totals = sum(((x > k) << np.arange(32)).sum(axis=1) for k in range(8))
    np.testing.assert_array_equal(found.reshape(4, 32), np.repeat(np.array(totals)[:, None], 32, axis=1))


@pytest.mark.parametrize("loop", ["for", "while"])
def test_loops_of_some_lanes(loop: str) -> None:
    """In the k-th iteration the lanes below 8 - k take part."""
    mask = "sub(shl(1, sub(8, k)), 1)"
    inner = f"""
    warp ballot {mask}, ge(l, 0) -> bits: i64
    warp shuffle {mask}, r[0], sub(7, k) -> last: i64
    r[0] = add(r[0], add(last, bits))
"""
    if loop == "for":
        body = f"for k in 0 .. sub(8, l) sequential {{ {inner} }}"
    else:
        body = f"""
  alloc c: i64 local [1]
  c[0] = 0
  while {{
    let k: i64 = c[0]
  }} test lt(k, sub(8, l)) {{ {inner}
    c[0] = add(k, 1)
  }}
"""
    body = f"alloc r: i64 local [1]\n r[0] = x[i]\n {body} y[i] = r[0]"
    x = np.random.default_rng(7).integers(0, 8, (4, 32))
    (found,) = results(over(body, dtype="i64"), 128, x)
    r = x.copy()
    for k in range(8):
        r[:, : 8 - k] += r[:, 7 - k : 8 - k].copy() + (1 << (8 - k)) - 1
    np.testing.assert_array_equal(found.reshape(4, 32), r)


def test_warps_and_barriers() -> None:
    """The sum of a block: shuffles in each warp, shared memory, shuffles in the first warp."""
    body = f"""
  alloc parts: f64 shared [32]
  alloc v: f64 local [1]
  let start: f64 = x[i]
  v[0] = start
  for k in 0 .. 5 sequential {{
    warp xor {FULL}, v[0], shl(1, k) -> other: f64
    v[0] = add(v[0], other)
  }}
  if eq(l, 0) {{
    parts[truncdiv(own, 32)] = v[0]
  }}
  barrier
  if lt(own, 32) {{
    v[0] = 0.0
    if lt(own, 3) {{
      v[0] = parts[own]
    }}
    for k in 0 .. 5 sequential {{
      warp xor {FULL}, v[0], shl(1, k) -> another: f64
      v[0] = add(v[0], another)
    }}
    if eq(own, 0) {{
      parts[0] = v[0]
    }}
  }}
  barrier
  y[i] = sub(parts[0], start)
"""
    x = np.random.default_rng(8).normal(size=192)
    (found,) = results(over(body, "[96, 1, 1]"), 192, x)
    np.testing.assert_allclose(found, np.repeat(x.reshape(2, 96).sum(axis=1), 96) - x)


def test_barriers_inside_a_loop_with_warps() -> None:
    body = f"""
  alloc s: f64 shared [64]
  alloc v: f64 local [1]
  v[0] = x[i]
  for round in 0 .. 3 sequential {{
    warp shuffle {FULL}, v[0], bitand(add(l, 1), 31) -> next: f64
    s[own] = next
    barrier
    v[0] = add(next, s[sub(63, own)])
    barrier
  }}
  y[i] = v[0]
"""
    x = np.random.default_rng(9).normal(size=128)
    (found,) = results(over(body), 128, x)
    v = x.reshape(2, 64)
    for _ in range(3):
        moved = np.roll(v.reshape(2, 2, 32), -1, axis=2).reshape(2, 64)
        v = moved + moved[:, ::-1]
    np.testing.assert_allclose(found.reshape(2, 64), v)


def test_arrays_of_a_lane_across_warp_operations() -> None:
    body = f"""
  alloc a: f64 local [4]
  for k in 0 .. 4 sequential {{
    a[k] = add(x[i], to_f64(k))
  }}
  warp sync {FULL}
  warp xor {FULL}, a[2], 1 -> v: f64
  y[i] = add(v, a[bitand(l, 3)])
"""
    x = np.random.default_rng(10).normal(size=128)
    (found,) = results(over(body), 128, x)
    i = np.arange(128)
    np.testing.assert_allclose(found, x[i ^ 1] + 2 + x + i % 4)
