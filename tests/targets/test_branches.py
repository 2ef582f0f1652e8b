"""Programs that LLVM's vectoriser got wrong where it turned branches into masks (decision 18): it is off."""

from __future__ import annotations

import numpy as np
import pytest

from tests.targets.oracle import agree


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
