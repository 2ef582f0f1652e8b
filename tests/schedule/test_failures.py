"""Checks inside of kernels tell the block and the thread; memory is given back."""

from __future__ import annotations

import re
import resource

import numpy as np
import pytest
from launching import AT, WORKERS, compiled, scheduled

from anadrome.errors.runtime import AssertionFailed, IndexOutOfBounds
from anadrome.kernel_ir.interp import run
from anadrome.kernel_ir.nodes import Binding, Check, For
from anadrome.kernel_ir.text import parse
from anadrome.kernel_ir.walk import statements

pytestmark = pytest.mark.usefixtures("several_workers_pay")


def gather(before: str = "", after: str = "") -> str:
    """Reads x at places that are read from memory, which are checked."""
    return f"""
kernel gather(n: i64, at_1: i64 buffer [n], x: f64 buffer [n], y: f64 buffer [n])
{AT} {{
  alloc s: f64 shared [64]
  {before}
  let i: i64 = add(mul(ix, mul(bx, by)), add(mul(ty, bx), tx))
  let k: i64 = at_1[i]
  check 0: and(ge(k, 0), lt(k, n)), k, n
  y[i] = x[min(max(k, 0), sub(n, 1))]
  {after}
}}
failure index "index {{0}} is out of bounds for an axis of size {{1}}" at "user.py" 7 4 9
failure assert "no luck with {{0}}" at "user.py" 8 4 9
fn main(n: i64, places: i64 buffer, x: f64 buffer) {{
  alloc y: f64 global [n]
  launch gather [truncdiv(n, 16), 1, 1] [8, 2, 1] [0] (n, places, x, y)
  return y as f64 [n]
}}
failure assert "the host's own"
"""


WAYS = {
    "plain": ("", ""),
    "barriers": ("barrier", "barrier"),
    "warps": ("warp sync 65535", "warp any 65535, true -> b: bool"),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_block_and_the_thread_are_told(way: str) -> None:
    places, x = np.arange(48), np.arange(48.0)
    text = gather(*WAYS[way])
    for workers in WORKERS:
        executable = compiled(text, workers)
        np.testing.assert_array_equal(executable([48, places, x])[0], x)
        wrong = places.copy()
        wrong[16 + 8 + 3] = 99
        with pytest.raises(IndexOutOfBounds) as caught:
            executable([48, wrong, x])
        with pytest.raises(IndexOutOfBounds) as judged:
            run(parse(text), [48, wrong, x])
        assert "index 99 is out of bounds" in str(caught.value)
        assert "in block (1, 0, 0), thread (3, 1, 0)" in str(caught.value)
        assert str(caught.value) == str(judged.value)
        wrong[16 + 8 + 3] = -50
        with pytest.raises(IndexOutOfBounds) as caught:
            executable([48, wrong, x])
        error = caught.value.at(None)
        assert "index -98 is out of bounds" in str(error) and "thread (3, 1, 0)" in str(error)
        np.testing.assert_array_equal(executable([48, places, x])[0], x)


def test_failures_of_host_and_kernel_are_kept_apart() -> None:
    text = gather(after="check 1: ne(ix, 2), i").replace("  launch", "  check 0: lt(n, 90)\n  launch")
    x = np.arange(96.0)
    for workers in WORKERS:
        executable = compiled(text, workers)
        with pytest.raises(AssertionFailed, match="the host's own"):
            executable([96, np.arange(96), x])
        words = r"no luck with 3\d, in block \(2, 0, 0\), thread \(\d, 0, 0\)"
        with pytest.raises(AssertionFailed, match=words):
            executable([48, np.arange(48), x])


def test_memory_is_given_back_after_a_failure() -> None:
    text = f"""
kernel k(n: i64, y: f64 buffer [n])
{AT} {{
  alloc s: f64 shared [truncdiv(bytes, 8)]
  let v: f64 = y[tx]
  s[tx] = v
  barrier
  check 0: lt(ix, 3)
  y[tx] = add(s[0], v)
}}
failure assert "third block"
fn main(n: i64) {{
  alloc y: f64 global [n]
  fill y [n] = 1.0
  launch k [5, 1, 1] [32, 1, 1] [mul(8, n)] (n, y)
  return y as f64 [n]
}}
"""
    for workers in (1, 2):
        executable = compiled(text, workers)
        for count in (3, 60):
            for _ in range(count):
                with pytest.raises(AssertionFailed):
                    executable([1 << 20])
            if count == 3:
                before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def checked(index: str, size: str = "n", before: str = "", block: str = "[8, 4, 1]") -> str:
    """Every thread adds to an element whose index is checked."""
    return f"""
kernel k(n: i64, m: i64, y: f64 buffer [n], z: f64 buffer)
{AT} {{
  {before}
  let i: i64 = {index}
  let inside: bool = and(ge(i, 0), lt(i, {size}))
  check 0: inside, i, {size}
  let index: i64 = select(inside, i, 0)
  z[add(mul(add(mul(iy, 4), ty), 24), add(mul(ix, 8), tx))] = y[index]
}}
failure index "index {{0}} of {{1}}"
fn main(n: i64, m: i64) {{
  alloc y: f64 global [n]
  for e in 0 .. n parallel {{
    y[e] = to_f64(e)
  }}
  alloc z: f64 global [288]
  fill z [288] = 0.0
  launch k [3, 3, 1] {block} [0] (n, m, y, z)
  return z as f64 [12, 24]
}}
"""


INDICES = {
    "add(mul(ix, 8), tx)": lambda x, y, m: x,
    "add(mul(iy, by), ty)": lambda x, y, m: y,
    "sub(add(mul(ix, bx), tx), 2)": lambda x, y, m: x - 2,
    "add(tx, m)": lambda x, y, m: x % 8 + m,
    "sub(m, tx)": lambda x, y, m: m - x % 8,
    "add(mul(add(mul(iy, 4), ty), 24), add(mul(ix, 8), tx))": lambda x, y, m: 24 * y + x,
    "mul(2, add(mul(ix, 8), tx))": lambda x, y, m: 2 * x,
    "m": lambda x, y, m: m + 0 * x,
    "5": lambda x, y, m: 5 + 0 * x,
}


@pytest.mark.parametrize("index", INDICES)
def test_checks_before_the_loop_are_those_of_each_thread(index: str) -> None:
    text = checked(index)
    y, x = np.indices((12, 24))
    expected = {(n, m): INDICES[index](x, y, m) for n in (5, 10, 23, 24, 47, 288) for m in (-3, 0, 7, 30)}
    for workers in (1, 2):
        executable = compiled(text, workers)
        for (n, m), places in expected.items():
            if ((places >= 0) & (places < n)).all():
                np.testing.assert_array_equal(executable([n, m])[0], places)
                continue
            with pytest.raises(IndexOutOfBounds) as caught:
                executable([n, m])
            told = [int(number) for number in re.findall(r"-?\d+", str(caught.value).partition("\n")[0])]
            at = (4 * told[3] + told[6], 8 * told[2] + told[5])
            assert told[:2] == [places[at], n] and not 0 <= told[0] < n
            assert (told[4], told[7]) == (0, 0)


def test_sums_that_leave_i64_are_outside() -> None:
    executable = compiled(checked("add(tx, m)"))
    for m in (2**63 - 1, 2**63 - 3, -(2**63), -(2**62) - 9, 2**62):
        with pytest.raises(IndexOutOfBounds):
            executable([40, m])


def test_checks_before_the_loop_leave_lanes() -> None:
    for index in ("add(mul(ix, 8), tx)", "add(mul(iy, by), ty)", "add(tx, m)"):
        loops = [stmt for stmt in statements(scheduled(checked(index)).body) if isinstance(stmt, For)]
        assert [loop.binding for loop in loops if loop.index.name == "tx"] == [Binding.PARALLEL]
    loops = [stmt for stmt in statements(scheduled(checked("mul(2, tx)")).body) if isinstance(stmt, For)]
    assert [loop.binding for loop in loops if loop.index.name == "tx"] == [Binding.SEQUENTIAL]


def test_what_never_fails_is_not_checked() -> None:
    fn = scheduled(checked("tx", "8"))
    assert not any(isinstance(stmt, Check) for stmt in statements(fn.body))
