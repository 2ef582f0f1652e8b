"""Conditions on places that bound loops over threads."""

from __future__ import annotations

import numpy as np
import pytest
from launching import AT, config, results, scheduled

from anadrome.kernel_ir.nodes import If, Store
from anadrome.kernel_ir.walk import statements
from anadrome.targets.cpu import compile_cpu


def guarded(condition: str, before: str = "", block: str = "[6, 5, 1]") -> str:
    """Threads of a grid in the plane write where a condition holds."""
    return f"""
kernel k(n: i64, m: i64, x: i64 buffer [360], y: i64 buffer [360])
{AT} {{
  let i: i64 = add(mul(ix, bx), tx)
  let j: i64 = add(ty, mul(by, iy))
  let at_1: i64 = add(mul(j, 18), i)
  {before}
  if {condition} {{
    y[at_1] = add(x[at_1], 1)
  }}
}}
fn main(n: i64, m: i64, x: i64 buffer) {{
  alloc y: i64 global [360]
  fill y [360] = -9
  launch k [3, 4, 1] {block} [0] (n, m, x, y)
  return y as i64 [20, 18]
}}
"""


BOUNDS = {
    "lt(i, n)": lambda i, j, n, m: i < n,
    "le(i, n)": lambda i, j, n, m: i <= n,
    "gt(i, n)": lambda i, j, n, m: i > n,
    "ge(i, n)": lambda i, j, n, m: i >= n,
    "eq(i, n)": lambda i, j, n, m: i == n,
    "lt(n, i)": lambda i, j, n, m: n < i,
    "ge(n, i)": lambda i, j, n, m: n >= i,
    "lt(add(2, i), n)": lambda i, j, n, m: i + 2 < n,
    "lt(sub(i, 3), n)": lambda i, j, n, m: i - 3 < n,
    "and(lt(i, n), lt(j, m))": lambda i, j, n, m: (i < n) & (j < m),
    "and(and(ge(i, 2), lt(j, m)), and(lt(i, n), ge(j, 1)))": (
        lambda i, j, n, m: (i >= 2) & (j < m) & (i < n) & (j >= 1)
    ),
    "eq(tx, 0)": lambda i, j, n, m: i % 6 == 0,
    "and(eq(tx, 0), eq(ty, 0))": lambda i, j, n, m: (i % 6 == 0) & (j % 5 == 0),
    "eq(ix, 1)": lambda i, j, n, m: i // 6 == 1,
    "lt(tx, add(ix, 1))": lambda i, j, n, m: i % 6 <= i // 6,
    "lt(i, mul(m, 2))": lambda i, j, n, m: i < 2 * m,
}
"""Condition -> the same on arrays. Nothing of it is asked in the innermost loop."""

OTHERS = {
    "ne(i, n)": lambda i, j, n, m: i != n,
    "lt(i, j)": lambda i, j, n, m: i < j,
    "lt(mul(2, i), n)": lambda i, j, n, m: 2 * i < n,
    "or(lt(i, n), lt(j, m))": lambda i, j, n, m: (i < n) | (j < m),
    "lt(sub(n, i), m)": lambda i, j, n, m: n - i < m,
    "and(lt(i, n), eq(x[at_1], 0))": lambda i, j, n, m: (i < n) & False,
    "lt(bitand(i, 3), 2)": lambda i, j, n, m: i % 4 < 2,
}


@pytest.mark.parametrize("condition", [*BOUNDS, *OTHERS])
def test_conditions(condition: str) -> None:
    y, x = np.indices((20, 18))
    values = np.arange(1, 361).reshape(20, 18)
    holds = (BOUNDS | OTHERS)[condition]
    for n, m in [(11, 13), (-5, 30), (7, 7)]:
        (found,) = results(guarded(condition), n, m, values)
        np.testing.assert_array_equal(found, np.where(holds(x, y, n, m), values + 1, -9))


@pytest.mark.parametrize("condition", BOUNDS)
def test_bounds_are_not_asked_in_loops(condition: str) -> None:
    branches = [stmt for stmt in statements(scheduled(guarded(condition)).body) if isinstance(stmt, If)]
    assert not any(isinstance(stmt, Store) for branch in branches for stmt in branch.then)


@pytest.mark.parametrize("n", [2**63 - 1, -(2**63), 2**62, -(2**62) - 1])
def test_numbers_at_the_ends_of_i64(n: int) -> None:
    for condition in ("lt(i, n)", "ge(i, n)", "le(sub(i, 3), n)", "eq(i, n)"):
        _, x = np.indices((20, 18))
        (found,) = results(guarded(condition), n, 0, np.arange(360))
        holds = {"lt": x < n, "ge": x >= n, "le": x - 3 <= n, "eq": x == n}[condition[:2]]
        np.testing.assert_array_equal(found, np.where(holds, np.arange(360).reshape(20, 18) + 1, -9))


def test_variables_that_hold_conditions() -> None:
    before = "let a: bool = lt(i, n)\n let b: bool = and(a, lt(j, m))"
    y, x = np.indices((20, 18))
    (found,) = results(guarded("b", before), 11, 13, np.arange(360))
    np.testing.assert_array_equal(found >= 0, (x < 11) & (y < 13))
    branches = [stmt for stmt in statements(scheduled(guarded("b", before)).body) if isinstance(stmt, If)]
    assert not branches


@pytest.mark.parametrize("threads", ["128", "threads"])
def test_threads_become_lanes_without_masks(threads: str) -> None:
    text = f"""
kernel axpy(n: i64, a: f64, x: f64 buffer [n], y: f64 buffer [n])
{AT} {{
  let i: i64 = add(mul(ix, bx), tx)
  if lt(i, n) {{
    y[i] = add(mul(a, x[i]), y[i])
  }}
}}
fn main(n: i64, threads: i64, blocks: i64, x: f64 buffer) {{
  alloc y: f64 global [n]
  fill y [n] = 1.0
  launch axpy [blocks, 1, 1] [{threads}, 1, 1] [0] (n, 2.5, x, y)
  return y as f64 [n]
}}
"""
    code = compile_cpu(scheduled(text, vector_bits=256), config(1)).llvm_text
    assert "load <4 x double>" in code and "masked" not in code


def test_numbers_that_are_computed_in_many_steps() -> None:
    """Each step takes the one before twice, so that written out they would be 2^40 operations."""

    def steps(name: str) -> str:
        shown = (f"bitxor({name}{k - 1}, shl({name}{k - 1}, {k % 5}))" for k in range(1, 41))
        return "\n".join(f"let {name}{k}: i64 = {step}" for k, step in enumerate(shown, 1))

    before = f"let h0: i64 = add(i, 1)\n{steps('h')}\nlet g0: i64 = m\n{steps('g')}"
    (found,) = results(guarded("and(gt(h40, 100), gt(g40, 5))", before), 0, 3, np.arange(360))
    h, g = np.indices((20, 18))[1] + 1, np.full((20, 18), 3)
    for k in range(1, 41):
        h, g = h ^ (h << (k % 5)), g ^ (g << (k % 5))
    np.testing.assert_array_equal(found >= 0, (h > 100) & (g > 5))


def test_numbers_that_are_multiplied_by_themselves() -> None:
    """Written out they would be products of 2^40 factors."""

    def steps(name: str) -> str:
        return "\n".join(f"let {name}{k}: i64 = mul({name}{k - 1}, {name}{k - 1})" for k in range(1, 41))

    before = f"let h0: i64 = add(i, 1)\n{steps('h')}\nlet g0: i64 = m\n{steps('g')}"
    (found,) = results(guarded("and(gt(h40, 0), gt(g40, 5))", before), 0, 3, np.arange(360))
    h, g = np.indices((20, 18))[1] + 1, np.full((20, 18), 3)
    for _ in range(40):
        h, g = h * h, g * g
    np.testing.assert_array_equal(found >= 0, (h > 0) & (g > 5))
