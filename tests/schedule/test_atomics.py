"""Atomic operations: plain where one worker owns the element, atomic or on copies where several run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from launching import AT, WORKERS, compiled, prepared, results, scheduled

from anadrome.kernel_ir.interp import run
from anadrome.kernel_ir.nodes import Atomic, Binding, For
from anadrome.kernel_ir.text import parse
from anadrome.kernel_ir.walk import statements
from anadrome.schedule.workers import sharing_of

pytestmark = pytest.mark.usefixtures("several_workers_pay")

HISTOGRAM = f"""
kernel histogram(n: i64, m: i64, x: i64 buffer [n], bins: i64 buffer [m])
{AT} {{
  alloc own: i64 shared [8]
  if lt(tx, 8) {{
    own[tx] = 0
  }}
  barrier
  let i: i64 = add(mul(ix, bx), tx)
  if lt(i, n) {{
    atomic add own[x[i]] = 1
  }}
  barrier
  if lt(tx, 8) {{
    atomic add bins[tx] = own[tx]
  }}
}}
fn main(n: i64, blocks: i64, x: i64 buffer) {{
  alloc bins: i64 global [8]
  fill bins [8] = 1
  launch histogram [blocks, 1, 1] [32, 1, 1] [0] (n, 8, x, bins)
  return bins as i64 [8]
}}
"""


def test_histogram_in_shared_memory() -> None:
    x = np.random.default_rng(1).integers(0, 8, 300)
    (found,) = results(HISTOGRAM, 300, 10, x)
    np.testing.assert_array_equal(found, np.bincount(x, minlength=8) + 1)


def one(operation: str, dtype: str, shape: str = "[5]", use: str = "", start: str = "3") -> str:
    """Every thread combines its value into one of five elements."""
    number = start if dtype == "i64" else f"{start}:{dtype}"
    return f"""
kernel k(x: {dtype} buffer, out: {dtype} buffer {shape}, seen: {dtype} buffer)
{AT} {{
  let i: i64 = add(mul(ix, bx), tx)
  atomic {operation} out[mod(i, 5)] = x[i] {use}
  {"seen[i] = old" if use.endswith(dtype) else ""}
}}
fn main(n: i64, x: {dtype} buffer) {{
  alloc out: {dtype} global [5]
  alloc seen: {dtype} global [n]
  fill seen [n] = {number}
  fill out [5] = {number}
  launch k [truncdiv(n, 10), 1, 1] [10, 1, 1] [0] (x, out, seen)
  return out as {dtype} [5], seen as {dtype} [n]
}}
"""


def expected(operation: str, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What is left of 3s, and the order that makes old values what they are."""
    ufuncs: dict[str, Any] = {
        "add": np.add, "sub": np.subtract, "min": np.fmin, "max": np.fmax,
        "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
        "exchange": lambda _, new: new,
    }  # fmt: skip
    out = np.full(5, 3, x.dtype)
    for i, value in enumerate(x):
        out[i % 5] = ufuncs[operation](out[i % 5], value)
    return out


@pytest.mark.parametrize(
    ("operation", "dtype"),
    [
        (operation, dtype)
        for operation in ("add", "sub", "min", "max", "and", "or", "xor", "exchange")
        for dtype in ("i64", "i32", "u8", "f64", "f32")
        if not (dtype.startswith("f") and operation in ("and", "or", "xor"))
    ],
)
def test_every_operation(operation: str, dtype: str) -> None:
    draw = np.random.default_rng(2)
    x = draw.normal(size=60) if dtype.startswith("f") else draw.integers(0, 9, 60)
    x = x.astype({"i64": np.int64, "i32": np.int32, "u8": np.uint8, "f64": float, "f32": np.float32}[dtype])
    for workers in WORKERS:
        executable = compiled(one(operation, dtype), workers)
        first, second = executable([60, x])[0], executable([60, x])[0]
        np.testing.assert_array_equal(first, second)
        np.testing.assert_allclose(first, expected(operation, x), rtol=2e-6 if dtype == "f32" else 1e-12)


@pytest.mark.parametrize("dtype", ["i64", "f64"])
@pytest.mark.parametrize("operation", ["add", "exchange", "compare", "max"])
def test_old_values(operation: str, dtype: str) -> None:
    use = ("if x[sub(59, i)] " if operation == "compare" else "") + f"-> old: {dtype}"
    text = one(operation, dtype, use=use)
    x = np.random.default_rng(3).integers(2, 5, 60)
    expected = run(parse(text), prepared(parse(text), (60, x)), judge=False)
    for workers in WORKERS:
        found = compiled(text, workers)(prepared(parse(text), (60, x)))
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])


def test_a_number_wins_over_nan() -> None:
    x = np.array([np.nan, 1.0, 5.0, np.nan, 4.0] * 2)
    for operation, least in (("min", [3.0, 1.0, 3.0, 3.0, 3.0]), ("max", [3.0, 3.0, 5.0, 3.0, 4.0])):
        (found, _) = results(one(operation, "f64"), 10, x)
        np.testing.assert_array_equal(found, least)
    (found, _) = results(one("min", "f64").replace("fill out [5] = 3:f64", "fill out [5] = nan"), 10, x)
    np.testing.assert_array_equal(found, [np.nan, 1.0, 5.0, np.nan, 4.0])


def test_slots_are_given_out_in_order() -> None:
    text = f"""
kernel compact(n: i64, x: f64 buffer [n], count: i64 buffer [1], out: f64 buffer [n])
{AT} {{
  let i: i64 = add(mul(ix, bx), tx)
  if lt(i, n) {{
    if gt(x[i], 0.0) {{
      atomic add count[0] = 1 -> slot: i64
      out[slot] = x[i]
    }}
  }}
}}
fn main(n: i64, x: f64 buffer) {{
  alloc count: i64 global [1]
  alloc out: f64 global [n]
  fill count [1] = 0
  fill out [n] = 0.0
  launch compact [truncdiv(add(n, 15), 16), 1, 1] [16, 1, 1] [0] (n, x, count, out)
  return out as f64 [n], count[0] as i64
}}
"""
    x = np.random.default_rng(4).normal(size=75)
    found, count = results(text, 75, x)
    assert count == (x > 0).sum()
    np.testing.assert_array_equal(found[:count], x[x > 0])


def test_a_loop_of_compare_and_exchange() -> None:
    text = f"""
kernel k(x: f64 buffer, out: f64 buffer [1])
{AT} {{
  alloc goes: i64 local [1]
  goes[0] = 1
  while {{ }} test eq(goes[0], 1) {{
    let seen: f64 = out[0]
    atomic compare out[0] = mul(seen, x[tx]) if seen -> old: f64
    if eq(old, seen) {{
      goes[0] = 0
    }}
  }}
}}
fn main(x: f64 buffer) {{
  alloc out: f64 global [1]
  out[0] = 1.0
  launch k [1, 1, 1] [20, 1, 1] [0] (x, out)
  return out[0] as f64
}}
"""
    x = np.random.default_rng(5).uniform(0.5, 2.0, 20)
    for workers in WORKERS:
        np.testing.assert_allclose(compiled(text, workers)([x])[0], np.prod(x))


@pytest.mark.parametrize(
    ("text", "copied", "indivisible"),
    [
        (one("add", "f64"), 1, 0),
        (one("add", "i64"), 0, 1),
        (one("max", "i64"), 0, 1),
        (one("exchange", "i64"), None, None),
        (one("max", "f64"), None, None),
        (one("add", "f64", use="-> old: f64"), None, None),
        (one("add", "f64", use="-> unused: f64 "), 1, 0),
        (one("add", "f64", shape=""), None, None),
        (one("add", "i64", use="\n let v: i64 = out[0] seen[i] = v"), None, None),
        (one("add", "i64", use="\n atomic max out[0] = 1"), None, None),
        (one("add", "i64", use="\n atomic sub out[0] = 1"), 0, 1),
    ],
)
def test_who_may_run_the_blocks(text: str, copied: int | None, indivisible: int | None) -> None:
    (launch,) = (stmt for stmt in statements(parse(text).body) if hasattr(stmt, "kernel"))
    sharing = sharing_of(launch.kernel)
    loops = [stmt for stmt in statements(scheduled(text, 2).body) if isinstance(stmt, For)]
    assert any(loop.binding is Binding.THREADS for loop in loops) is (copied is not None)
    if copied is None:
        assert sharing is None
        return
    assert sharing is not None
    assert (len(sharing.copied), len(sharing.indivisible)) == (copied, indivisible)
    atomics = [stmt for stmt in statements(scheduled(text, 2).body) if isinstance(stmt, Atomic)]
    assert bool(atomics) is bool(indivisible)


def test_one_worker_where_little_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    x = np.ones(60)
    text = one("add", "f64").replace("truncdiv(n, 10)", "6")
    assert not [
        stmt
        for stmt in statements(scheduled(text, 2).body)
        if isinstance(stmt, For) and stmt.binding is Binding.THREADS
    ]
    np.testing.assert_allclose(results(text, 60, x)[0], 15.0)
