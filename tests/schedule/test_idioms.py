"""Which loops are one statement that clears or copies an array, and which are not."""

from __future__ import annotations

import numpy as np
import pytest
from launching import config, prepared, scheduled

from anadrome.kernel_ir.interp import run
from anadrome.kernel_ir.nodes import Copy, Fill
from anadrome.kernel_ir.text import parse
from anadrome.kernel_ir.walk import statements
from anadrome.schedule.idioms import with_idioms
from anadrome.targets.cpu import compile_cpu

PROGRAM = """fn f(x: f64 buffer, k: i64 buffer, n: i64) {{
  alloc y: f64 global [add(n, 1)]
  alloc s: f64 local [4]
  fill y [add(n, 1)] = 3.0
  view w = y [1]
  view z [2, n] = y [0]
  {loop}
  return y as f64 [n]
}}"""
FILLS = {
    "a zero": "for i in 0 .. n parallel { y[i] = 0.0 }",
    "a zero in order": "for i in 0 .. n sequential { y[i] = 0.0 }",
    "part of an array": "for i in 0 .. sub(n, 1) parallel { y[i] = 0.0 }",
    "through a view": "for i in 0 .. n parallel { w[i] = 0.0 }",
    "a row": "for i in 0 .. n parallel { z[0, i] = 0.0 }",
    "another row": "for i in 0 .. 1 parallel { z[sub(n, n), i] = 0.0 }",
    "from one element on": "for i in 0 .. n parallel { y[add(1, i)] = 0.0 }",
    "for each worker": "for t in 0 .. 1 threads { for i in 0 .. n parallel { y[add(t, i)] = 0.0 } }",
    "in a branch": "if gt(n, 2) { for i in 0 .. n parallel { y[i] = 0.0 } }",
}
COPIES = {
    "an argument": "for i in 0 .. n parallel { y[i] = x[i] }",
    "from another place": "for i in 0 .. n parallel { y[i] = x[add(1, i)] }",
    "to another place": "for i in 0 .. n parallel { y[add(1, i)] = x[i] }",
    "to a view": "for i in 0 .. n parallel { w[i] = x[i] }",
    "to a row": "for i in 0 .. n parallel { z[0, i] = x[i] }",
}
LOOPS = {
    "the negative zero": "for i in 0 .. n parallel { y[i] = -0.0 }",
    "another number": "for i in 0 .. n parallel { y[i] = 1.0 }",
    "from one on": "for i in 1 .. n parallel { y[i] = 0.0 }",
    "another place": "for i in 0 .. n parallel { y[add(i, 1)] = 0.0 }",
    "from the place after": "for i in 0 .. sub(n, 1) parallel { y[i] = x[add(i, 1)] }",
    "a column": "for i in 0 .. 1 parallel { z[i, 0] = 0.0 }",
    "every second": "for i in 0 .. 1 parallel { y[add(i, i)] = 0.0 }",
    "from where data say": "for i in 0 .. 1 parallel { y[add(k[0], i)] = 0.0 }",
    "the array itself, moved": "for i in 0 .. n sequential { w[i] = y[i] }",
    "something computed": "for i in 0 .. n parallel { y[i] = mul(x[i], 2.0) }",
    "a gather": "for i in 0 .. n parallel { y[i] = x[k[i]] }",
    "two stores": "for i in 0 .. n sequential { y[i] = 0.0 w[i] = 0.0 }",
    "one element": "for i in 0 .. n sequential { y[0] = 0.0 }",
    "an array in registers": "for i in 0 .. 4 parallel { s[i] = 0.0 }",
    "inside of a loop": "for t in 0 .. 2 sequential { for i in 0 .. n parallel { y[i] = 0.0 } }",
    "of threads": "for i in 0 .. n threads { y[i] = 0.0 }",
}


@pytest.mark.parametrize("name", [*FILLS, *COPIES, *LOOPS])
def test_what_is_one_statement(name: str) -> None:
    text = PROGRAM.format(loop={**FILLS, **COPIES, **LOOPS}[name])
    before = parse(text)
    after = with_idioms(before)
    kinds = {Fill: sum(isinstance(stmt, Fill) for stmt in statements(after.body)) - 1}
    kinds[Copy] = sum(isinstance(stmt, Copy) for stmt in statements(after.body))
    assert kinds == {Fill: int(name in FILLS), Copy: int(name in COPIES)}
    assert (after is before) == (name in LOOPS)
    for n in (0, 1, 5, 40):
        given = (RNG.standard_normal(n + 1), RNG.permutation(n + 1), n)
        (expected,) = run(before, prepared(before, given))
        (found,) = compile_cpu(scheduled(text, vector_bits=512), config(1))(prepared(before, given))
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


RNG = np.random.default_rng(5)
