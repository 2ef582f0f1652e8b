"""Loops in lanes: what the interpreter computes one iteration after the other, at every width."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from anadrome.dtypes import ALL, BOOL, F64
from anadrome.errors.ir import IRError
from anadrome.kernel_ir.check import check
from anadrome.kernel_ir.text import parse
from anadrome.targets import cpu
from anadrome.targets.cpu_machine import optimised_text, this_machine
from anadrome.targets.llvm_text import literal
from tests.targets.oracle import agree, compiled

RNG = np.random.default_rng(5)
N = 64
X = RNG.uniform(-2.0, 2.0, N)
K = RNG.integers(0, N, N)
WIDTHS = [1, 2, 4, 8, 16, 32]

BODIES = {
    "rows": "out[i] = add(mul(x[i], 2.0), x[sub(63, i)])",
    "one element for all": "out[i] = add(x[3], x[i])",
    "rows that overlap": "out[i] = add(x[i], x[min(add(i, 1), 63)])",
    "steps of two": "out[i] = x[mod(mul(i, 2), 64)]",
    "steps that wrap around": "out[i] = x[bitand(shr(mul(i, 4611686018427387904), 60), 63)]",
    "gather": "out[i] = x[k[i]]",
    "scatter": "out[sub(63, i)] = x[i]",
    "a branch": "out[i] = 1.0 if gt(x[i], 0.0) { out[i] = sqrt(x[i]) } else { out[i] = neg(x[i]) }",
    "branches in branches": """
        out[i] = 0.0
        if lt(x[i], 1.0) {
          if lt(x[i], 0.0) { out[i] = 7.0 if lt(x[i], -1.0) { out[i] = 8.0 } } else { out[i] = 9.0 }
        }
    """,
    "a branch that no lane takes": "out[i] = x[i] if gt(x[i], 5.0) { out[i] = x[add(i, 1000000000)] }",
    "a branch that is the same for all": "if gt(x[7], 0.0) { out[i] = x[i] } else { out[i] = 2.0 }",
    "a branch that one lane takes": "out[i] = 0.0 if eq(i, 5) { total[0] = x[i] }",
    "numbers of a branch": """
        let v: f64 = mul(x[i], 3.0) out[i] = v
        if gt(v, 1.0) { let w: f64 = exp(v) out[i] = w }
    """,
    "a loop of one length": """
        alloc s: f64 local [1] s[0] = 0.0
        for j in 0 .. 5 sequential { s[0] = add~(s[0], x[mod(add(i, j), 64)]) }
        out[i] = s[0]
    """,
    "a ragged loop": """
        alloc s: f64 local [1] s[0] = 0.0
        for j in 0 .. k[i] sequential { s[0] = add(s[0], x[j]) }
        out[i] = s[0]
    """,
    "a ragged loop from ragged starts": """
        alloc s: f64 local [1] s[0] = 0.0
        for j in k[i] .. k[sub(63, i)] sequential { s[0] = add(mul(s[0], 0.5), x[j]) }
        out[i] = s[0]
    """,
    "neighbouring pieces": """
        alloc s: f64 local [1] s[0] = 0.0
        for j in mul(i, 2) .. add(mul(i, 2), 2) sequential { s[0] = add(s[0], x[mod(j, 64)]) }
        out[i] = s[0]
    """,
    "bounds far apart": """
        alloc s: f64 local [1] s[0] = 1.0
        let first: i64 = select(gt(x[i], 0.0), 9223372036854775807, -9223372036854775807)
        for j in first .. -9223372036854775800 sequential { s[0] = add(s[0], 1.0) }
        out[i] = s[0]
    """,
    "newton": """
        alloc v: f64 local [1] let a: f64 = add(abs(x[i]), 0.01) v[0] = 1.0
        while { let next: f64 = div(add(v[0], div(a, v[0])), 2.0) let off: f64 = abs(sub(next, v[0])) }
        test gt(off, 1e-14) { v[0] = next }
        out[i] = v[0]
    """,
    "a loop that all leave together": """
        alloc c: i64 local [1] alloc s: f64 local [1] c[0] = 0 s[0] = x[i]
        while { let more: bool = lt(c[0], 6) } test more { s[0] = add(s[0], x[c[0]]) c[0] = add(c[0], 1) }
        out[i] = s[0]
    """,
    "binary search": """
        alloc a: i64 local [2] a[0] = 0 a[1] = 64
        while { let apart: i64 = sub(a[1], a[0]) } test gt(apart, 1) {
          let m: i64 = truncdiv(add(a[0], a[1]), 2)
          if le(to_f64(m), mul(add(x[i], 2.0), 16.0)) { a[0] = m } else { a[1] = m }
        }
        out[i] = to_f64(a[0])
    """,
    "loops in loops in branches": """
        alloc s: f64 local [1] s[0] = 0.0
        if gt(x[i], -1.0) {
          for j in 0 .. mod(k[i], 7) sequential {
            alloc t: f64 local [1] t[0] = 1.0
            while { } test lt(t[0], add(x[j], 2.0)) { t[0] = mul(t[0], 1.5) }
            if gt(t[0], 2.0) { s[0] = add(s[0], t[0]) }
          }
        }
        out[i] = s[0]
    """,
    "an array of each lane": """
        alloc a: f64 local [8] fill a [8] = x[i]
        for j in 0 .. 8 sequential { a[mod(add(j, i), 8)] = add(a[j], to_f64(j)) }
        alloc b: f64 local [8] copy b [8] = a
        out[i] = add(b[mod(k[i], 8)], b[2])
    """,
    "part of an array of each lane": """
        alloc a: f64 local [16] fill a [16] = 1.0
        view v = a [mod(k[i], 8)] v[3] = x[i] view w = a [4] w[0] = 5.0
        alloc b: f64 local [4] fill b [4] = 0.0 copy b [mod(i, 4)] = v
        out[i] = add(add(a[4], v[0]), mul(b[1], a[mod(i, 16)]))
    """,
    "an array that is the same for all": """
        alloc a: f64 local [4]
        for j in 0 .. 4 sequential { a[j] = to_f64(mul(j, j)) }
        out[i] = add(a[2], a[mod(i, 4)])
    """,
    "a row of a matrix": "view r = x [mul(mod(i, 8), 8)] out[i] = add(r[0], r[7])",
    "flags": """
        alloc f: bool local [2] f[0] = gt(x[i], 0.0) f[1] = lt(x[i], 1.0)
        if and(f[0], f[1]) { f[0] = false } out[i] = select(or(f[0], not(f[1])), 3.0, x[i])
    """,
    "whole numbers": """
        let a: i64 = add(mul(k[i], 3), -17) let b: i64 = sub(mod(k[i], 5), 2)
        out[i] = to_f64(add(truncdiv(a, b), add(shl(a, b), shr(a, 1))))
        if lt(a, b) { out[i] = to_f64(pow(b, 3)) }
    """,
    "functions": """
        let a: f64 = abs(x[i])
        out[i] = add(add(sin(x[i]), pow(a, 0.7)), add(pow(x[i], 3.0), add(tanh(x[i]), log(a))))
    """,
    "functions of SciPy": "out[i] = add(lgamma(add(abs(x[i]), 0.1)), digamma(add(abs(x[i]), 0.5)))",
    "NaN and infinities": """
        let v: f64 = div(x[i], sub(to_f64(i), 4.0)) out[i] = v
        if gt(div(1.0, sub(to_f64(i), 9.0)), 0.0) { out[i] = sqrt(v) }
    """,
    "functions with vectors of their own": "out[i] = add(erfinv(mul(x[i], 0.4)), j0(x[i]))",
    "sums that meet": "out[i] = 0.0 atomic add total[mod(k[i], 4)] = to_f64(k[i])",
    "sums of lanes that are alone": """
        out[i] = 0.0 combine add total[mod(k[i], 4)] = to_f64(k[i]) combine add total[0] = x[i]
        if gt(x[i], 0.5) { combine sub total[mod(k[i], 3)] = x[i] combine add total[2] = 1.0 }
    """,
    "sums that meet or not": """
        let p: i64 = mul(mod(k[i], 13), 4)
        for j in 0 .. 4 sequential { combine add total[add(p, j)] = mul(x[i], to_f64(add(j, 1))) }
        if gt(x[i], 0.0) { combine add total[add(p, 1)] = 1.0 combine sub total[add(p, 3)] = 2.0 }
        combine add total[i] = 3.0 out[i] = x[i]
    """,
    "sums of some lanes": "out[i] = 0.0 if gt(x[i], 0.0) { atomic add total[0] = 2.0 }",
}


def program(body: str, width: int) -> str:
    """A program whose lanes run the body, a strip of `width` after the other."""
    return f"""fn f(x: f64 buffer, k: i64 buffer) {{
      alloc out: f64 global [64] alloc total: f64 global [64] fill total [64] = 0.0
      for strip in 0 .. {N // width} sequential {{
        for lane in 0 .. {width} lanes {{
          let i: i64 = add(mul(strip, {width}), lane)
          {body}
        }}
      }}
      return out as f64 [64], total as f64 [64]
    }}"""


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", BODIES)
def test_lanes_compute_what_iterations_compute(name: str, width: int) -> None:
    agree(program(BODIES[name], width), X, K)


@pytest.mark.parametrize("gathers_fast", [False, True])
@pytest.mark.parametrize("step", [0, 1, -1, 2, -3, 9, -17])
@pytest.mark.parametrize("width", WIDTHS)
def test_steps_that_only_the_run_knows(width: int, step: int, gathers_fast: bool, monkeypatch) -> None:
    """Elements some run-time number apart: read, in a branch too, through a view, with the number's place in
    the sum on either side; stored; added to, where lanes may meet at one element."""
    monkeypatch.setattr(
        cpu, "target_for", lambda _: replace(this_machine().target, gathers_fast=gathers_fast)
    )
    text = f"""fn f(x: f64 buffer, y: i16 buffer, b: bool buffer, step: i64, first: i64, n: i64) {{
      alloc out: f64 global [64] alloc sums: f64 global [n] alloc put: f64 global [n]
      fill sums [n] = 0.0 fill put [n] = 0.0
      for strip in 0 .. {N // width} sequential {{
        for lane in 0 .. {width} lanes {{
          let i: i64 = add(mul(strip, {width}), lane)
          let place: i64 = add(first, mul(i, step))
          let other: i64 = sub(add(mul(step, sub(i, 5)), mul(i, 3)), mul(sub(i, 1), 3))
          let v: f64 = add(x[place], to_f64(y[add(first, add(other, mul(step, 5)))]))
          out[i] = v
          if b[place] {{
            view w = x [1]
            out[i] = sub(w[sub(place, 1)], to_f64(other))
            combine add sums[place] = 2.0
          }}
          combine add sums[place] = v
          put[add(i, mul(i, abs(step)))] = v
        }}
      }}
      return out as f64 [64], sums as f64 [n], put as f64 [n]
    }}"""
    n, first = 64 * (abs(step) + 1), 63 * max(-step, 0) + 1
    x, y, b = RNG.normal(size=n), RNG.integers(-9, 9, n).astype(np.int16), RNG.integers(0, 2, n) == 1
    agree(text, x, y, b, step, first, n)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_all_types(dtype) -> None:
    body = """
      alloc a: T local [3] a[0] = x[i] a[1] = y[i] a[2] = x[y_place]
      out[i] = a[mod(i, 3)]
      if ne(x[i], y[i]) { out[i] = select(ne(a[2], a[1]), x[i], a[1]) let z: T = out[sub(63, sub(63, i))] }
    """
    text = f"""fn f(x: T buffer, y: T buffer) {{
      alloc out: T global [64]
      let y_place: i64 = 5
      for strip in 0 .. 8 sequential {{
        for lane in 0 .. 8 lanes {{ let i: i64 = add(mul(strip, 8), lane) {body} }}
      }}
      return out as T [64]
    }}""".replace(" T ", f" {dtype.name} ").replace(": T", f": {dtype.name}")
    values = RNG.integers(0, 2 if dtype is BOOL else 9, (2, N))
    agree(text, *values)


def test_conversions_in_lanes() -> None:
    for name in ("i8", "u16", "i32", "u64", "f32", "bool"):
        text = f"""fn f(x: f64 buffer) {{
          alloc out: {name} global [16]
          for lane in 0 .. 16 lanes {{ out[lane] = to_{name}(x[lane]) }}
          return out as {name} [16]
        }}"""
        agree(text, np.arange(16.0))


def test_the_first_lane_that_fails_says_so() -> None:
    """Lanes that are not here ask nothing."""
    text = """fn f(x: f64 buffer, n: i64) {
      alloc out: f64 global [8]
      for lane in 0 .. 8 lanes {
        out[lane] = 0.0
        if gt(x[lane], 0.0) { check 0: lt(x[lane], 1.0), x[lane], lane out[lane] = x[min(n, 7)] }
      }
      return out as f64 [8]
    }
    failure assert "{0} in lane {1}"
    """
    agree(text, np.array([-5.0, 0.5, -7.0, 0.25, -1.0, 0.5, 0.1, 0.2]), 3)
    with pytest.raises(AssertionError, match=r"2\.0 in lane 3"):
        compiled(text)([np.array([-5.0, 0.5, -7.0, 2.0, -1.0, 3.0, 0.1, 0.2]), 3])


@pytest.mark.parametrize("width", [2, 4])
def test_a_product_that_wraps_around_may_meet_another(width: int) -> None:
    """4 · (1 + 2^62) is 4 · 1: numbers that differ name one element."""
    far = np.array([1, 1 + (1 << 62), 1 - (1 << 62), 1 - (1 << 63)])[np.arange(N) % 4]
    (_, total) = agree(program("combine add total[mul(k[i], 4)] = 1.0 out[i] = 0.0", width), X, far)
    assert total[4] == N


def test_places_are_taken_for_what_they_are() -> None:
    """Rows are vectors of memory, one element for all is a scalar, and only the rest is gathered."""
    text = program("out[i] = add(mul(x[i], x[5]), x[sub(63, sub(62, i))])", 8)
    found = compiled(text).llvm_text
    assert "gather" not in found and "scatter" not in found and "load <8 x double>" in found
    assert "gather" in compiled(program("out[i] = x[k[i]]", 8)).llvm_text
    assert "load <8 x double>" in optimised_text(found, this_machine())


@pytest.mark.parametrize(("function", "number"), [("log", 0.5), ("atanh", 0.5), ("acosh", 1.5)])
def test_functions_of_some_lanes_get_numbers_for_the_others(function: str, number: float) -> None:
    """A vector function computes what is none, as the logarithm of a negative number, lane by lane."""
    text = program(f"out[i] = 0.0 if gt(x[i], 1.0) {{ let w: f64 = {function}(x[i]) out[i] = w }}", 8)
    with np.errstate(invalid="ignore"):
        agree(text, X, K)
    spelled = f"<8 x double> splat (double {literal(number, F64)})"
    assert re.search(
        rf"select <8 x i1> %\S+, <8 x double> %\S+, {re.escape(spelled)}", compiled(text).llvm_text
    )


def test_what_is_the_same_in_all_lanes_is_computed_once() -> None:
    found = compiled(program("out[i] = x[i] if gt(exp(x[3]), 2.0) { out[i] = add(x[i], 1.0) }", 8)).llvm_text
    assert "call contract double @exp(double" in found and "masked" not in found


@pytest.mark.parametrize(
    ("loop", "words"),
    [
        ("for lane in 0 .. n lanes { }", "extent is not constant"),
        ("for lane in 1 .. 8 lanes { }", "iterations from 0 on"),
        ("for lane in 0 .. 12 lanes { }", "iterations from 0 on"),
        ("for lane in 0 .. 8 lanes { alloc g: f64 global [8] }", "Alloc in a loop in lanes"),
        ("for lane in 0 .. 8 lanes { alloc g: f64 local [n] }", "Alloc in a loop in lanes"),
        ("for lane in 0 .. 8 lanes { for m in 0 .. 4 lanes { } }", "For in a loop in lanes"),
        ("for lane in 0 .. 8 lanes { if true { for m in 0 .. 4 threads { } } }", "For in a loop in lanes"),
    ],
)
def test_what_is_no_loop_in_lanes(loop: str, words: str) -> None:
    with pytest.raises(IRError, match=words):
        check(parse(f"fn f(n: i64) {{ {loop} return n as i64 }}"))


@pytest.mark.parametrize("n", [0, 3, 8, 9])
def test_a_guard_that_no_lane_passes(n):
    """What is under it is not done, also where it is the same for all lanes, and nothing is read."""
    agree(
        """fn f(p: i64 buffer, n: i64) {
          alloc out: f64 global [16]
          for k in 0 .. 16 parallel { out[k] = 0.0 }
          for lane in 0 .. 8 lanes {
            let i: i64 = add(8, lane)
            if lt(i, n) { out[0] = 5.0 combine add out[p[lane]] = 1.0 }
          }
          return out as f64 [16]
        }""",
        np.array([3, 3, 5, 1, 3, 2, 4, 6]),
        n,
    )


def test_conditions_that_are_known_in_each_lane_are_constants() -> None:
    """A number that differs between the lanes in one iteration may be the same in all of them in the next."""
    body = """
          for j in 0 .. 3 sequential {
            let i: i64 = add(mul(j, 8), lane)
            let c: bool = ge(i, 4)
            if c { out[i] = x[i] } else { out[i] = neg(x[i]) }
            if lt(i, 18) { out[i] = mul(out[i], 2.0) }
            out[i] = add(out[i], select(eq(i, 9), 100.0, 0.0))
          }"""
    text = f"""fn f(x: f64 buffer) {{
      alloc out: f64 global [24]
      for lane in 0 .. 8 lanes {{ {body} }}
      return out as f64 [24]
    }}"""
    agree(text, np.arange(1.0, 25.0))
    assert not re.search(r"icmp \w+ <8 x i64>", compiled(text).llvm_text)


@pytest.mark.parametrize("change", [0, 1, -1])
@pytest.mark.parametrize("strips", [0, 1, 3])
def test_long_loops_inside_lanes_look_between_strips(strips: int, change: int) -> None:
    """The iterations that run before the program looks are those that the text says."""
    terms = "".join(f"s[0] = add(mul(s[0], 0.99), exp(mul(x[i], {k}.0)))\n" for k in range(1, 5))
    text = f"""fn f(x: f64 buffer, n: i64) {{
      alloc out: f64 global [8]
      for lane in 0 .. 8 lanes {{
        alloc s: f64 local [1]
        s[0] = to_f64(lane)
        for i in 0 .. n sequential {{ {terms} }}
        out[lane] = s[0]
      }}
      return out as f64 [8]
    }}"""
    found = re.search(r"umin\.i64\(i64 [^,]*, i64 (\d+)\)", compiled(text).llvm_text)
    assert found is not None
    size = max(strips * int(found[1]) + change, 0)
    agree(text, np.linspace(-1.0, 1.0, max(size, 1)), size, rtol=1e-10)
