"""Innermost loops in lanes: which may, and that they compute the same at every length and width."""

from __future__ import annotations

import numpy as np
import pytest
from launching import config, prepared, scheduled

from anadrome.errors.runtime import IndexOutOfBounds
from anadrome.kernel_ir.interp import run
from anadrome.kernel_ir.limits import Limits
from anadrome.kernel_ir.nodes import Binding, For, Let
from anadrome.kernel_ir.text import parse
from anadrome.kernel_ir.walk import statements
from anadrome.targets.cpu import compile_cpu

RNG = np.random.default_rng(3)
BITS = [64, 128, 256, 512]
LENGTHS = [0, 1, 3, 7, 8, 9, 31, 33, 67]


def program(body: str, bounds: str = "0 .. n", binding: str = "sequential", types: str = "f64") -> str:
    """A loop over an array of n elements, of which twice as many are there, and a sum."""
    return f"""fn f(x: {types} buffer, k: i64 buffer, n: i64) {{
      alloc out: {types} global [max(mul(2, n), 1)]
      for q in 0 .. mul(2, n) parallel {{ out[q] = x[q] }}
      alloc s: {types} local [1]
      s[0] = x[0]
      alloc c: i64 local [1]
      c[0] = 7
      let n_1: i64 = sub(n, 1)
      for i in {bounds} {binding} {{ {body} }}
      return out as {types} [mul(2, n)], s[0] as {types}, c[0] as i64
    }}
    failure index "index {{0}} is outside of {{1}}" at "user.py" 4 2 9"""


TOGETHER = {
    "a map": "out[i] = mul(exp(x[i]), 2.0)",
    "in place": "out[i] = add(mul(out[i], 0.5), x[i])",
    "backwards": "out[sub(sub(n, 1), i)] = x[sub(sub(mul(2, n), 1), i)]",
    "every second": "out[i] = add(x[mul(2, i)], x[add(mul(i, 2), 1)])",
    "two halves": "out[i] = add(out[i], 1.0) out[add(n, i)] = add(out[add(n, i)], x[i])",
    "a sum": "s[0] = add~(s[0], mul(x[i], x[add(i, n)]))",
    "a difference": "s[0] = sub~(s[0], x[i])",
    "a product": "s[0] = mul~(s[0], x[i])",
    "the least": "s[0] = min~(s[0], x[i])",
    "the greatest": "s[0] = max~(x[i], s[0])",
    "some of them": "if gt(x[i], 0.5) { s[0] = add~(s[0], x[i]) c[0] = add(c[0], 1) }",
    "counted by a name": "let old: i64 = c[0] let new: i64 = add(old, k[i]) c[0] = new",
    "several sums": "s[0] = add~(s[0], x[i]) s[0] = add~(s[0], 2.0) c[0] = min(c[0], k[i])",
    "a branch": "if lt(x[i], 0.5) { out[i] = sqrt(x[i]) } else { out[i] = exp(x[i]) }",
    "a branch of a few operations": """alloc v: f64 local [1]
        if lt(x[i], 0.5) { v[0] = mul(x[i], 3.0) } else { v[0] = -1.0 } out[i] = v[0]""",
    "a read at a place of data": "out[i] = mul(exp(x[k[i]]), mul(x[i], x[i]))",
    "a small loop inside": "for j in 0 .. 3 sequential { s[0] = add~(s[0], mul(x[i], to_f64(j))) }",
    "the sums of a short loop": "for j in 0 .. 2 parallel { out[j] = add~(out[j], mul(x[i], to_f64(j))) }",
    "the extremes of a short loop, one in another": """for j in 0 .. 2 parallel { for h in 1 .. 2 parallel {
        let v: f64 = mul(exp(x[i]), to_f64(j)) out[sub(add(mul(j, h), h), 1)] =
        max~(out[sub(add(mul(j, h), h), 1)], v) s[0] = add~(s[0], v) } }""",
    "a sum at a place of its own": "out[n_1] = add~(out[n_1], exp(x[i]))",
    "a sum beside what goes along": "out[i] = add~(out[i], x[i]) out[n_1] = add~(out[n_1], exp(x[i]))",
    "sums beside what goes along, and meets": """out[i] = add~(out[i], x[i]) out[0] = add~(out[0], exp(x[i]))
        out[add(i, 1)] = sub~(out[add(i, 1)], x[i]) out[n_1] = sub~(out[n_1], x[add(i, n)])""",
    "a view": "view w = out [n] w[i] = mul(x[i], 2.0)",
}
"""Bodies whose iterations may run together."""

APART = {
    "what the one before has left": "out[add(i, 1)] = mul(out[i], 0.5)",
    "the same through a view": "view w = out [1] w[i] = mul(out[i], 0.5)",
    "a sum in its order": "s[0] = add(s[0], x[i])",
    "a sum that is read": "s[0] = add~(s[0], x[i]) out[i] = s[0]",
    "a sum beside what is put along": "out[i] = x[i] out[0] = add~(out[0], x[i])",
    "a sum beside what is read along": "out[n_1] = add~(out[n_1], mul(out[i], x[i]))",
    "a product beside what is added along": "out[i] = add~(out[i], x[i]) out[0] = mul~(out[0], x[i])",
    "sums of two kinds": "out[0] = add~(out[0], x[i]) out[n_1] = max~(out[n_1], x[i])",
    "two things done to a number": "s[0] = add~(s[0], x[i]) s[0] = mul~(s[0], 0.5)",
    "sums of a short loop that are read": """for j in 0 .. 2 parallel { out[j] = add~(out[j], x[i]) }
        s[0] = add~(s[0], out[1])""",
    "sums of a loop that is not short": "for j in 0 .. 17 sequential { out[mod(j, 2)] = add~(out[0], x[i]) }",
    "the last one wins": "s[0] = x[i]",
    "places of data": "out[k[i]] = x[i]",
    "a place that is known inside alone": "let p: i64 = min(n, 0) out[p] = add~(out[p], x[i])",
    "steps that may be none": "let m: i64 = mul(n, i) out[mod(m, n)] = x[i]",
    "neighbours of a pair": "out[mul(2, i)] = x[i] s[0] = add~(s[0], out[sub(mul(2, i), 2)])",
}
"""Bodies whose iterations may not."""


def widths(text: str, bits: int) -> list[int]:
    """How many lanes the loops over i have: all but the first, which copies."""
    fn = scheduled(text, vector_bits=bits)
    loops = [stmt for stmt in statements(fn.body) if isinstance(stmt, For)]
    found = [loop for loop in loops if loop.binding is Binding.LANES]
    named = [loop for loop in found if isinstance(loop.body[0], Let) and loop.body[0].var.name == "i"]
    return [int(loop.hi.value) for loop in named]


def agree(text: str, bits: int, *args: object, rtol: float = 1e-12) -> None:
    """The program in lanes computes what the interpreter makes of the program as it was."""
    written, fn = parse(text), scheduled(text, vector_bits=bits)
    expected = run(written, prepared(written, args))
    for found in (run(fn, prepared(fn, args)), compile_cpu(fn, config(1))(prepared(fn, args))):
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=1e-14)


def arguments(length: int, dtype: type = np.float64) -> tuple[np.ndarray, np.ndarray, int]:
    """Numbers, places among them, and how many."""
    x = RNG.uniform(0.1, 1.9, 2 * max(length, 1)).astype(dtype)
    return x, RNG.integers(0, 2 * max(length, 1), max(length, 1)), length


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("name", TOGETHER)
def test_every_length_at_every_width(name: str, bits: int) -> None:
    text = program(TOGETHER[name])
    for length in LENGTHS:
        agree(text, bits, *arguments(length))
    assert bool(widths(text, bits)) is (bits > 64)


@pytest.mark.parametrize("name", APART)
def test_what_does_not_run_together(name: str) -> None:
    text = program(APART[name], "1 .. n")
    assert widths(text, 512) == []
    for length in (1, 9, 67):
        x, k, n = arguments(length)
        agree(text, 512, x, k % (2 * n), n)


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("extent", [1, 7, 8, 9, 14, 16, 17, 31, 40, 64, 100])
@pytest.mark.parametrize("name", ["a map", "in place", "a sum", "a branch", "two halves"])
def test_constant_extents(name: str, extent: int, bits: int) -> None:
    body = TOGETHER[name].replace("add(n, i)", f"add({extent}, i)")
    agree(program(body, f"0 .. {extent}"), bits, *arguments(extent))


@pytest.mark.parametrize("bounds", ["2 .. n", "3 .. sub(n, 2)", "n .. 0", "sub(n, n) .. n"])
def test_bounds(bounds: str) -> None:
    for name in ("a map", "a sum", "in place"):
        for length in (5, 40, 67):
            agree(program(TOGETHER[name], bounds), 512, *arguments(length))


def test_single_precision_has_twice_the_lanes() -> None:
    body = TOGETHER["a map"].replace("2.0", "x[0]")
    text = program(body, types="f32")
    assert widths(text, 512)[0] == 2 * widths(program(body), 512)[0]
    agree(text, 512, *arguments(67, np.float32), rtol=1e-6)


@pytest.mark.parametrize(("step", "lanes"), [(1, 32), (4, 32), (5, 8), (8, 8)])
def test_a_strip_that_reads_far_apart_is_one_vector(step: int, lanes: int) -> None:
    """Each lane reads by itself, which is as many instructions as lanes."""
    text = program(f"out[i] = mul(x[mul({step}, i)], 2.0)")
    assert widths(text, 512)[0] == lanes
    for length in LENGTHS:
        x, k, n = arguments(length)
        agree(text, 512, np.resize(x, max(step, 2) * max(length, 1)), k, n)


def test_rows_of_a_constant_length_in_local_arrays() -> None:
    """Vectors go over the end of an array that lies on the stack, where it has room."""
    text = """fn f(x: f64 buffer, n: i64) {
      alloc a: f64 local [14]
      alloc out: f64 global [14]
      for k in 0 .. 14 parallel { a[k] = 0.0 }
      for i in 0 .. n sequential {
        for j in 0 .. 14 sequential { a[j] = add(mul(a[j], 0.5), x[add(mul(i, 14), j)]) }
      }
      for k1 in 0 .. 14 parallel { out[k1] = a[k1] }
      return out as f64 [14]
    }"""
    for bits in BITS:
        agree(text, bits, RNG.standard_normal(5 * 14), 5)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_stays_where_it_is(value: float) -> None:
    for name in (
        "a map",
        "some of them",
        "the least",
        "the greatest",
        "a sum",
        "a branch of a few operations",
    ):
        x, k, n = arguments(67)
        x[[3, 66, 70]] = value
        agree(program(TOGETHER[name]), 512, x, k, n)


def test_a_sum_of_nothing_stays_as_it_is() -> None:
    x = np.full(2, -0.0)
    fn = scheduled(program(TOGETHER["a sum"]), vector_bits=512)
    found = compile_cpu(fn, config(1))(prepared(fn, (x, np.zeros(1, int), 0)))
    assert np.signbit(found[1])


@pytest.mark.parametrize("bad", [-1, 67, 2**62])
@pytest.mark.parametrize("at", [0, 40, 66])
def test_a_check_names_an_index_that_is_outside(at: int, bad: int) -> None:
    text = program("""let p: i64 = k[i] let inside: bool = and(ge(p, 0), lt(p, n))
      check 0: inside, p, n
      let q: i64 = select(inside, p, 0) out[i] = mul(exp(x[q]), x[i])""")
    x, k, n = arguments(67)
    fn = scheduled(text, vector_bits=512)
    compiled = compile_cpu(fn, config(1))
    k %= n
    agree(text, 512, x, k, n)
    k[at] = bad
    with pytest.raises(IndexOutOfBounds, match=f"index {bad} is outside of 67"):
        compiled(prepared(fn, (x, k, n)))


def test_what_fills_no_strip_is_no_loop_where_it_is_one_vector() -> None:
    heavy = "out[i] = " + "exp(" * 3 + "x[i]" + ")" * 3
    for length in LENGTHS:
        agree(program(heavy), 512, *arguments(length))
    assert _rests(program(heavy)) == [0]
    assert _rests(program("out[i] = mul(x[i], 2.0)")) == [4]


def _rests(text: str) -> list[int]:
    """How many vectors may be left of the loops over i; none where one is, which is no loop."""
    fn = scheduled(text, vector_bits=512)
    inside = list(statements(fn.body))
    loops = [stmt for stmt in inside if isinstance(stmt, For) and stmt.index.name.startswith("strip")]
    whole = [loop for loop in loops if Limits().trips(loop) is None]
    rests = [Limits().trips(loop) for loop in loops if Limits().trips(loop) is not None]
    return [rest for rest in rests if rest] or [0] * len(whole)


@pytest.mark.parametrize("bits", BITS)
def test_loops_of_few_iterations_are_not_in_lanes(bits: int) -> None:
    text = program(TOGETHER["a map"], "0 .. min(n, 3)")
    assert widths(text, bits) == []
    for length in LENGTHS:
        agree(text, bits, *arguments(length))


@pytest.mark.parametrize("bits", BITS)
def test_loops_of_at_most_two_vectors_are_one_strip_where_there_are_masks(bits: int) -> None:
    """A triangle: its rows have no more elements than there are rows, which only the loop around says."""
    text = """fn f(x: f64 buffer) {
      alloc out: f64 global [13]
      for r in 0 .. 13 sequential {
        let size: i64 = add(r, 1)
        alloc s: f64 local [1]
        s[0] = 0.0
        for i in 0 .. size sequential { s[0] = add~(s[0], mul(x[add(mul(r, 13), i)], x[i])) }
        out[r] = s[0]
      }
      return out as f64 [13]
    }"""
    agree(text, bits, RNG.standard_normal(13 * 13))
    fn = scheduled(text, vector_bits=bits)
    strips = [
        stmt for stmt in statements(fn.body) if isinstance(stmt, For) and stmt.index.name.startswith("strip")
    ]
    assert len(strips) == (0 if bits in (64, 512) else 1)
    if bits == 512:
        assert widths(text, bits) == [16]


@pytest.mark.parametrize("bits", BITS)
def test_loops_over_workers_are_not_in_lanes(bits: int) -> None:
    """Each worker's sum is added to that of all, and there are few."""
    text = """fn f(x: f64 buffer, n: i64) {
      let count: i64 = select(gt(n, 3), max(min(workers, n), 1), 1)
      alloc parts: f64 global [mul(count, 8)]
      for t in 0 .. count threads {
        let lo: i64 = truncdiv(mul(t, n), count)
        let hi: i64 = truncdiv(mul(add(t, 1), n), count)
        alloc own: f64 local [1]
        own[0] = 0.0
        for e in lo .. hi sequential { own[0] = add~(own[0], x[e]) }
        parts[mul(t, 8)] = own[0]
      }
      alloc s: f64 local [1]
      s[0] = 0.0
      for i in 0 .. count sequential { s[0] = add~(s[0], parts[mul(i, 8)]) }
      free parts
      return s[0] as f64
    }"""
    assert widths(text, bits) == []
    assert widths(text.replace("for i in 0 .. count", "for i in 0 .. mul(8, count)"), 512) != []
    for n in (1, 9):
        agree(text, bits, RNG.standard_normal(9), n)


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("operator", ["add", "mul", "max"])
def test_a_place_to_which_no_iteration_adds_may_be_outside(operator: str, bits: int) -> None:
    text = f"""fn f(x: f64 buffer, n: i64, k: i64) {{
      alloc out: f64 global [4]
      fill out [4] = 2.0
      for t in 0 .. 3 sequential {{
        for i in 0 .. mul(t, n) sequential {{
          if gt(k, i) {{ out[sub(min(k, t), 1)] = {operator}~(out[sub(min(k, t), 1)], exp(x[i])) }}
        }}
      }}
      return out as f64 [4]
    }}"""
    for length, count in ((0, 0), (0, 3), (9, 0), (9, 1), (40, 3), (40, 60)):
        agree(text, bits, RNG.standard_normal(2 * length), length, count)


ROWS = """fn f(n: size, m: size, x: f64 buffer) {{
  alloc out: f64 global [max(mul(n, m), 1)]
  for q in 0 .. mul(n, m) parallel {{ out[q] = x[q] }}
  for k in 0 .. sub(min(n, m), 1) sequential {{
    let l: i64 = sub(sub(m, k), 1)
    for h in 0 .. {rows} sequential {{
      for i in 0 .. l sequential {{
        let p: i64 = add(mul({row}, m), add(add(k, 1), i))
        out[p] = sub(out[p], mul(0.1, out[add(mul({read}, m), add(add(k, {start}), i))]))
      }}
    }}
  }}
  return out as f64 [mul(n, m)]
}}"""
BLOCKS = {
    "rows below": ("sub(sub(n, k), 1)", "add(add(k, 1), h)", "k", "1", True),
    "rows above": ("k", "h", "k", "1", True),
    "rows from the last one": ("sub(sub(n, k), 1)", "sub(sub(n, h), 1)", "k", "1", True),
    "perhaps the same row": ("sub(sub(n, k), 1)", "add(k, h)", "k", "1", False),
    "its own row": ("k", "h", "h", "0", False),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_rows_of_a_block_do_not_meet(name: str) -> None:
    rows, row, read, start, is_apart = BLOCKS[name]
    text = ROWS.format(rows=rows, row=row, read=read, start=start)
    assert widths(text, 256) == ([4] if is_apart else [])
    for n, m in ((5, 9), (9, 9), (1, 3), (0, 0)):
        agree(text, 256, n, m, RNG.uniform(-1, 1, n * m))
