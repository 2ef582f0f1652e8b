"""Kernels and programs whose loops run in lanes: which do, and that they compute the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from launching import AT, config, prepared, scheduled

import anadrome as ad
from anadrome.kernel_ir.interp import run
from anadrome.kernel_ir.nodes import Atomic, Binding, For, Function
from anadrome.kernel_ir.text import parse
from anadrome.kernel_ir.walk import statements
from anadrome.targets.cpu import compile_cpu

RNG = np.random.default_rng(11)
BITS = [64, 128, 256, 512, 1024]
LENGTHS = [0, 1, 7, 8, 9, 31, 64]


def widths(fn: Function) -> list[int]:
    """How many lanes the loops in lanes of a program have."""
    loops = [stmt for stmt in statements(fn.body) if isinstance(stmt, For)]
    return [int(loop.hi.value) for loop in loops if loop.binding is Binding.LANES]


def agree(text: str, bits: int, *args: object) -> None:
    """The program in lanes computes what the interpreter makes of the program as it was."""
    fn = scheduled(text, vector_bits=bits)
    written = parse(text)
    expected = run(written, prepared(written, args))
    for found in (compile_cpu(fn, config(1))(prepared(fn, args)), run(fn, prepared(fn, args))):
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)


# ---------------------------------------------------------------------------- loops of programs
HALVED = """fn f(x: f64 buffer, n: i64) {
  alloc out: f64 global [n]
  for i in 0 .. n parallel {
    alloc v: f64 local [1]
    v[0] = x[i]
    while { } test gt(abs(v[0]), 0.25) { v[0] = mul(v[0], 0.5) }
    out[i] = v[0]
  }
  return out as f64 [n]
}"""


SUMMED = """fn f(x: f64 buffer, k: i64 buffer, n: i64) {{
  alloc out: f64 global [n]
  fill out [n] = 0.0
  alloc s: f64 local [1]
  s[0] = 0.5
  for i in 0 .. n sequential {{
    alloc v: f64 local [1]
    v[0] = x[i]
    while {{ }} test gt(abs(v[0]), 0.25) {{ v[0] = mul(v[0], 0.5) }}
    for j in 0 .. k[i] sequential {{ v[0] = add(mul(v[0], v[0]), 0.125) }}
    {sum}
  }}
  return out as f64 [n], s[0] as f64
}}"""
SUMS = {
    "a sum": "s[0] = add~(s[0], v[0])",
    "a product": "s[0] = mul~(s[0], v[0])",
    "the largest": "s[0] = max~(s[0], v[0])",
    "a sum of some": "if gt(x[i], 0.0) { s[0] = add~(s[0], v[0]) }",
    "a sum inside": "while { } test lt(v[0], 1.0) { v[0] = add(v[0], 0.5) s[0] = add~(s[0], v[0]) }",
    "a sum, and its terms": "out[i] = v[0] s[0] = add~(s[0], v[0])",
}


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("length", LENGTHS)
def test_every_length_at_every_width(length: int, bits: int) -> None:
    agree(HALVED, bits, RNG.standard_normal(length), length)
    assert widths(scheduled(HALVED, vector_bits=bits)) == ([] if bits == 64 else [bits // 64])


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("rule", SUMS)
def test_each_lane_has_sums_of_its_own(rule: str, bits: int) -> None:
    text = SUMMED.format(sum=SUMS[rule])
    for length in LENGTHS:
        agree(text, bits, RNG.standard_normal(length), RNG.integers(-2, 6, length), length)
    assert bool(widths(scheduled(text, vector_bits=bits))) is (bits > 64)


def body(text: str, types: str = "f64") -> str:
    """A program of one parallel loop."""
    return f"""fn f(x: {types} buffer, k: i64 buffer, n: i64) {{
      alloc out: {types} global [n]
      for i in 0 .. n parallel {{ {text} }}
      return out as {types} [n]
    }}"""


SEARCH = """
  alloc c: i64 local [1] c[0] = 0
  while { } test lt(c[0], k[i]) { c[0] = add(c[0], 1) }
  out[i] = x[mod(c[0], n)]
"""


PARTS = """fn f(x: f64 buffer, n: i64) {{
  alloc out: f64 global [mul(3, n)]
  fill out [mul(3, n)] = 0.0
  let team: i64 = max(min(workers, n), 1)
  alloc sums: f64 global [team]
  for t in 0 .. team {binding} {{
    alloc s: f64 local [1] s[0] = 0.0
    let lo: i64 = truncdiv(mul(t, n), team)
    let hi: i64 = truncdiv(mul(add(t, 1), n), team)
    for i in lo .. hi sequential {{
      out[i] = x[i]
      out[add({distance}, i)] = exp(x[i])
      s[0] = add~(s[0], x[i])
    }}
    sums[t] = s[0]
  }}
  alloc sum: f64 local [1] sum[0] = 0.0
  for t in 0 .. team sequential {{ sum[0] = add(sum[0], sums[t]) }}
  return out as f64 [mul(3, n)], sum[0] as f64
}}"""
"""A worker's part of a loop writes rows of an array."""


@pytest.mark.parametrize("length", [1, 5, 8, 40])
@pytest.mark.parametrize("distance", ["n", "mul(2, n)"])
def test_workers_write_rows_apart(distance: str, length: int) -> None:
    text = PARTS.format(binding="threads", distance=distance)
    assert 8 in widths(scheduled(text, vector_bits=512))
    agree(text, 512, RNG.standard_normal(length), length)


@pytest.mark.parametrize(("binding", "distance"), [("threads", "sub(n, 1)"), ("sequential", "n")])
def test_rows_that_may_meet(binding: str, distance: str) -> None:
    assert not widths(scheduled(PARTS.format(binding=binding, distance=distance), vector_bits=512))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (body(SEARCH), [8]),
        (body(SEARCH, "f32"), [16]),
        (body("out[i] = mul(x[i], 2.0)"), [32, 8]),
        (body("out[i] = x[k[i]]"), [8, 8]),
        (body("out[i] = 0.0 if gt(x[i], 0.0) { out[i] = sqrt(x[i]) }"), [32, 8]),
        (body(f"{SEARCH} for j in 0 .. 4 sequential {{ out[i] = add(out[i], x[mod(j, n)]) }}"), []),
        (body(f"{SEARCH} for j in 0 .. k[i] sequential {{ c[0] = add(c[0], j) }}"), [8]),
        (body(f"{SEARCH} for j in 0 .. k[i] sequential {{ c[0] = add(c[0], k[mod(j, n)]) }}"), [8, 8, 8, 8]),
        (body(f"{SEARCH} alloc g: f64 global [2] free g"), []),
        (body(f"for m in 0 .. 1 sequential {{ {SEARCH} }}"), []),
        (HALVED.replace("parallel", "sequential"), [8]),
        (HALVED.replace("parallel", "sequential").replace("out[i] =", "out[mod(i, 2)] ="), []),
        (SUMMED.format(sum="s[0] = add~(s[0], v[0])"), [8, 8, 8]),
        (SUMMED.format(sum="s[0] = max~(s[0], v[0])"), [8, 8, 4, 2, 1]),
        (SUMMED.format(sum="s[0] = add~(s[0], v[0]) out[i] = s[0]"), []),
        (SUMMED.format(sum="s[0] = add(s[0], v[0])"), []),
        (HALVED.replace("0 .. n", "0 .. 12"), [8]),
        (HALVED.replace("0 .. n", "0 .. 3"), [2]),
        (HALVED.replace("0 .. n", "0 .. 1"), []),
    ],
)
def test_which_loops_run_in_lanes(text: str, found: list[int]) -> None:
    assert widths(scheduled(text, vector_bits=512)) == found
    assert widths(scheduled(text)) == []


def test_a_loop_of_few_iterations() -> None:
    for count in (1, 3, 4, 5, 12):
        agree(HALVED.replace("0 .. n", f"0 .. {count}").replace("[n]", f"[{count}]"), 512, np.ones(12), 12)


# ---------------------------------------------------------------------------- kernels
def kernel(text: str, before: str = "") -> str:
    """A launch of 5 blocks of 12 threads."""
    return f"""kernel k(x: f64 buffer, p: i64 buffer, out: f64 buffer, total: f64 buffer, n: i64)
    {AT} {{
      {before}
      let i: i64 = add(mul(ix, bx), tx)
      {text}
    }}
    fn main(x: f64 buffer, p: i64 buffer, n: i64) {{
      alloc out: f64 global [60] alloc total: f64 global [4] fill total [4] = 0.0 fill out [60] = 0.0
      launch k [5, 1, 1] [12, 1, 1] [0] (x, p, out, total, n)
      return out as f64 [60], total as f64 [4]
    }}"""


COUNT = "for j in 0 .. 3 sequential {"
KERNELS = {
    "a loop": (kernel(f"{COUNT} out[i] = add(out[i], x[mod(add(i, j), 60)]) }}"), 8),
    "sums of threads": (
        kernel(f"{COUNT} atomic add total[mod(p[i], 4)] = x[i] atomic add total[0] = 1.0 }}"),
        8,
    ),
    "an old value": (
        kernel(f"{COUNT} atomic add total[0] = 1.0 -> old: f64 out[i] = mul(old, 0.0) }}"),
        None,
    ),
    "memory of a size that the launch knows": (
        kernel(f"alloc a: f64 local [n] {COUNT} a[j] = x[i] }} out[i] = add(a[0], a[2])"),
        8,
    ),
    "loops as long as data says": (
        kernel("for j in 0 .. p[i] sequential { out[i] = add(out[i], 1.0) }"),
        None,
    ),
    "loops as long as counted": (
        kernel(f"""alloc c: i64 local [1] c[0] = 0 {COUNT} if gt(x[i], 0.0) {{ c[0] = add(c[0], 1) }} }}
        for j in 0 .. c[0] sequential {{ out[i] = add(out[i], x[j]) }}"""),
        8,
    ),
    "no loop": (kernel("out[i] = mul(x[i], 2.0)"), 16),
    "guards": (kernel(f"if lt(i, 47) {{ {COUNT} out[i] = add(out[i], x[i]) }} }}"), 8),
    "halves": (
        kernel(
            f"{COUNT} s[tx] = mul(x[i], to_f64(j)) barrier out[i] = add(out[i], s[sub(11, tx)]) barrier }}",
            "alloc s: f64 shared [12]",
        ),
        16,
    ),
}


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name: str, bits: int) -> None:
    text, width = KERNELS[name]
    args = RNG.standard_normal(60), RNG.integers(0, 9, 60), 3
    agree(text, bits, *args)
    if bits == 512:
        assert set(widths(scheduled(text, vector_bits=bits))) == (set() if width is None else {width})


def test_only_lanes_meet_where_one_worker_adds() -> None:
    text, _ = KERNELS["sums of threads"]
    sums = [stmt for stmt in statements(scheduled(text, vector_bits=512).body) if isinstance(stmt, Atomic)]
    assert len(sums) == 2 and all(stmt.is_alone for stmt in sums)


# ---------------------------------------------------------------------------- users' programs
def newton(a: float) -> float:
    v = 1.0
    while True:
        w = 0.5 * (v + a / v)
        if abs(w - v) < 1e-14 * w:
            return w
        v = w


def below(v: float, table: np.ndarray) -> float:
    low, high = 0, table.shape[0] - 1
    while high - low > 1:
        middle = (low + high) // 2
        if table[middle] > v:
            high = middle
        else:
            low = middle
    return table[low] * v


def roots(x: np.ndarray, table: np.ndarray) -> np.ndarray:
    return np.array([newton(v) for v in x])


def found(x: np.ndarray, table: np.ndarray) -> np.ndarray:
    return np.array([below(v, table) for v in x])


@pytest.mark.parametrize("function", [roots, found])
@pytest.mark.parametrize("length", [1, 5, 8, 21])
def test_values_and_derivatives(function: Callable[..., np.ndarray], length: int) -> None:
    x, table = RNG.uniform(0.5, 9.0, length), np.sort(RNG.uniform(0.0, 10.0, 50))
    expected = function(x, table)
    for lanes in (1, 2, 8):
        one = ad.jit(function, config=ad.Config(lanes=lanes, small_dimension=0))
        np.testing.assert_allclose(one(x, table), expected, rtol=1e-12)
        slopes = ad.jvp(one, (x, table), (np.ones(length), 0.0 * table))[1]
        step = 1e-6
        np.testing.assert_allclose(
            slopes, (function(x + step, table) - function(x - step, table)) / (2 * step), rtol=1e-6
        )


def test_a_check_names_an_index_that_is_outside() -> None:
    def beyond(x: np.ndarray, table: np.ndarray) -> np.ndarray:
        return np.array([table[int(newton(v))] for v in x])

    x = np.full(20, 4.0)
    x[13] = 10_000.0
    with pytest.raises(IndexError, match="index 100 is out of range"):
        ad.jit(beyond, config=ad.Config(small_dimension=0))(x, np.arange(50.0))
