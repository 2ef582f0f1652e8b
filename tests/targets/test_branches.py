"""Which functions LLVM may vectorise with masks, and machine code that it got wrong where it did."""

from __future__ import annotations

import numpy as np
import pytest

from anadrome.kernel_ir.text import parse
from anadrome.targets.branches import masks_are_safe
from anadrome.targets.cpu_machine import optimised_text, this_machine
from anadrome.targets.llvm_text import WITHOUT_MASKS
from tests.targets.oracle import agree, compiled


def loop(body: str, bounds: str = "0 .. n", around: str = "") -> str:
    """A loop over i that writes `out`."""
    return f"""fn f(x: f64 buffer, n: i64) {{
      alloc out: f64 global [n]
      {around}
      for i in {bounds} parallel {{
        {body}
      }}
      return out as f64 [n]
    }}"""


ON_DATA = "out[i] = 0.0\n if gt(x[i], 2.0) { out[i] = x[i] }"
ON_PLACES = "out[i] = 0.0\n let v: i64 = add(i, -1)\n if ge(v, 0) { out[i] = x[v] }"
TAKEN = """alloc v: f64 local [1] v[0] = 1.0
if gt(x[i], 0.0) { let t: f64 = out[i] out[i] = 0.0 v[0] = t }
out[i] = add(out[i], v[0])"""


def inner(bounds: str) -> str:
    """A loop beside a branch that takes away what it overwrites."""
    return f"out[i] = 1.0 {TAKEN} for j in {bounds} sequential {{ out[i] = add(out[i], 1.0) }}"


NO_BRANCH = "let v: bool = ge(i, 3)\n out[i] = select(v, x[i], 0.0)"


@pytest.mark.parametrize(
    ("text", "is_safe"),
    [
        (loop("out[i] = x[i]"), True),
        (loop(ON_DATA), True),
        (loop(NO_BRANCH), True),
        (loop(ON_PLACES), False),
        (loop(f"{NO_BRANCH}\n{ON_DATA}"), False),
        (loop("out[i] = 0.0\n if lt(i, n) { out[i] = x[i] }"), True),
        (loop("let w: i64 = add(n, -1)\n out[i] = 0.0\n if lt(i, w) { out[i] = x[i] }"), True),
        (loop("let w: i64 = add(2, 3)\n out[i] = 0.0\n if lt(i, w) { out[i] = x[i] }"), False),
        (loop("out[i] = 0.0\n if eq(i, n) { out[i] = x[i] }"), False),
        (loop("out[i] = 0.0\n if lt(to_f64(i), x[0]) { out[i] = x[i] }"), False),
        (loop("out[i] = 0.0\n if and(lt(i, n), gt(x[i], 2.0)) { out[i] = x[i] }"), True),
        (loop("out[i] = 0.0\n if and(lt(i, 5), gt(x[i], 2.0)) { out[i] = x[i] }"), False),
        (loop("out[i] = 0.0\n if gt(to_f64(i), 2.5) { out[i] = x[i] }"), False),
        (loop("for j in 0 .. i sequential { out[i] = x[j] }"), False),
        (loop("for j in 0 .. min(8, sub(n, i)) sequential { out[i] = x[j] }"), True),
        (loop(ON_DATA, "0 .. n", "for t in 0 .. 2 threads { }"), True),
        (loop("out[i] = 1.0\n if gt(x[i], 0.0) { out[i] = add(out[i], x[i]) }"), True),
        (loop(f"out[i] = 1.0\n {TAKEN}"), False),
        (loop(f"out[i] = 1.0\n view w = out [0]\n {TAKEN.replace('out', 'w')}"), False),
        (loop(f"out[i] = 1.0\n {TAKEN.replace('t: f64 = out', 't: f64 = x')}"), True),
        (loop(inner("0 .. 4")), False),
        (loop(inner("0 .. 40")), True),
        (loop(inner("0 .. n")), True),
        (loop(inner("0 .. add(n, 1)")), True),
        (loop(inner("0 .. min(n, 8)")), False),
        (loop(f"let m: i64 = bitand(n, 3) {inner('0 .. m')}"), False),
    ],
)
def test_what_is_safe(text: str, is_safe: bool) -> None:
    assert masks_are_safe(parse(text)) is is_safe
    assert (WITHOUT_MASKS not in compiled(text).llvm_text) is is_safe


def test_branches_on_data_become_masks() -> None:
    text = optimised_text(compiled(loop(ON_DATA)).llvm_text, this_machine())
    assert "x double>" in text


def rows(n: int) -> str:
    """Sums of what stands in the row after and the row before, where there are such."""
    copied = "\n".join(f"a[{k}] = held[add(row, {k})]" for k in range(n + 1))
    before = "\n".join(f"b[{k}] = held[add(first, {k})]" for k in range(n + 1))
    zeros = {name: "\n".join(f"{name}[{k}] = 0.0" for k in range(n + 1)) for name in "ab"}
    return f"""fn f(x: f64 buffer) {{
      alloc held: f64 local [{n * (n + 1)}]
      for k in 0 .. {n * (n + 1)} sequential {{
        held[k] = x[k]
      }}
      alloc out: f64 global [{n * (n + 1)}]
      for i in 0 .. {n} sequential {{
        let at: i64 = mul(i, {n + 1})
        let is_before: bool = lt(i, {n - 1})
        alloc a: f64 local [{n + 1}]
        if is_before {{
          let row: i64 = mul(add(1, i), {n + 1})
          {copied}
        }} else {{
          {zeros["a"]}
        }}
        let v: i64 = add(i, -1)
        alloc one: f64 local [1]
        alloc b: f64 local [{n + 1}]
        if ge(v, 0) {{
          let w: f64 = mul(x[i], x[v])
          let first: i64 = mul(v, {n + 1})
          {before}
          one[0] = w
        }} else {{
          {zeros["b"]}
          one[0] = 0.0
        }}
        for j in 0 .. {n + 1} parallel {{
          out[add(at, j)] = mul(add(a[j], b[j]), add(one[0], x[i]))
        }}
      }}
      return out as f64 [{n * (n + 1)}]
    }}"""


@pytest.mark.parametrize("n", range(2, 14))
def test_rows_under_conditions_on_the_index(n: int) -> None:
    """Guarded rows of the kind that went wrong in `tests/derivatives/test_neighbours.py`."""
    agree(rows(n), np.arange(1.0, n * (n + 1) + 1))


def test_what_a_branch_takes_away_is_read_before() -> None:
    """LLVM 22 put the load behind the store."""
    text = """fn f(x: f64 buffer, b: f64 buffer, n: i64) {
      alloc a: f64 global [n]
      alloc out: f64 global [n]
      for k in 0 .. n parallel { a[k] = b[k] }
      for i in 0 .. n parallel {
        alloc v: f64 local [1] v[0] = 1.0
        if gt(x[i], 0.0) { let t: f64 = a[i] a[i] = 0.0 v[0] = t }
        out[i] = v[0]
      }
      return out as f64 [n], a as f64 [n]
    }"""
    rng = np.random.default_rng(0)
    agree(text, rng.standard_normal(100), rng.standard_normal(100), 100)
