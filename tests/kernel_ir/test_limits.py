"""What whole numbers are at least and at most: known where it should be, and never wrong."""

from __future__ import annotations

import numpy as np
import pytest

from anadrome.config import MOST_THREADS
from anadrome.kernel_ir.affine import bindings_of
from anadrome.kernel_ir.interp import run
from anadrome.kernel_ir.limits import Limits
from anadrome.kernel_ir.nodes import For, Let
from anadrome.kernel_ir.text import parse
from anadrome.kernel_ir.walk import statements

PROGRAM = """fn f(p: i64 buffer, n: i64, m: i64) {{
  alloc low: i64 local [1]
  alloc high: i64 local [1]
  low[0] = 9223372036854775807
  high[0] = -9223372036854775807
  let most: i64 = select(lt(n, 100), 32, 1)
  let count: i64 = min(sub(m, n), most)
  let read: i64 = p[0]
  for i in 2 .. 9 sequential {{
    for j in i .. min(add(i, 4), 11) sequential {{
      let e: i64 = {expr}
      low[0] = min(low[0], e)
      high[0] = max(high[0], e)
    }}
  }}
  return low[0] as i64, high[0] as i64
}}"""


def limits_in(expr):
    """The limits of an expression of the program, and the program."""
    fn = parse(PROGRAM.format(expr=expr))
    lets = {stmt.var.name: stmt.var for stmt in statements(fn.body) if isinstance(stmt, Let)}
    return Limits(bindings_of(fn.body)).of(lets["e"]), fn


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("7", (7, 7)),
        ("i", (2, 8)),
        ("j", (2, 10)),
        ("add(i, j)", (4, 18)),
        ("sub(i, j)", (-8, 6)),
        ("mul(sub(i, 5), j)", (-30, 30)),
        ("count", (None, 32)),
        ("max(count, 1)", (1, 32)),
        ("min(n, 5)", (None, 5)),
        ("max(n, 5)", (5, None)),
        ("add(min(n, 5), 1)", (None, None)),  # the least number, less one, is the largest
        ("truncdiv(count, 8)", (None, 4)),
        ("floordiv(sub(i, 5), 2)", (-2, 1)),
        ("truncdiv(sub(i, 5), 2)", (-1, 1)),
        ("truncdiv(i, n)", (None, None)),
        ("mul(i, 9223372036854775807)", (None, None)),
        ("n", (None, None)),
        ("workers", (1, MOST_THREADS)),
        ("max(min(workers, n), 1)", (1, MOST_THREADS)),
        ("read", (None, None)),
        ("p[i]", (None, None)),
        ("mod(i, 3)", (None, None)),
    ],
)
def test_what_is_known(expr, expected):
    assert limits_in(expr)[0] == expected


def _drawn(rng, depth):
    if depth == 0:
        names = ["i", "j", "n", "m", "count", "most", "read", "p[1]"]
        numbers = [0, 1, -1, 3, -7, 32, 1 << 40, 1 << 62, -(1 << 62)]
        return str(rng.choice(names)) if rng.random() < 0.6 else str(numbers[rng.integers(len(numbers))])
    parts = [_drawn(rng, depth - 1 - int(rng.integers(depth))) for _ in range(2)]
    name = str(rng.choice(["add", "sub", "mul", "min", "max", "floordiv", "truncdiv", "select"]))
    if name == "select":
        return f"select(lt(i, {rng.integers(10)}), {parts[0]}, {parts[1]})"
    if name in ("floordiv", "truncdiv"):
        return f"{name}({parts[0]}, {rng.integers(1, 9)})"
    return f"{name}({parts[0]}, {parts[1]})"


@pytest.mark.parametrize("seed", range(150))
def test_what_a_program_computes_is_within(seed):
    """Of drawn expressions, whose numbers wrap around now and then."""
    rng = np.random.default_rng(seed)
    (least, most), fn = limits_in(_drawn(rng, 4))
    for n, m in ((3, 40), (200, -5), (-(1 << 63), 7), (0, (1 << 63) - 1)):
        low, high = run(fn, [rng.integers(-(1 << 62), 1 << 62, 16), n, m])
        assert least is None or least <= low
        assert most is None or high <= most


@pytest.mark.parametrize(
    ("bounds", "most"),
    [
        ("0 .. add(i, 1)", 9),
        ("0 .. count", 32),
        ("i .. 5", 3),
        ("0 .. truncdiv(count, 8)", 4),
        ("n .. min(m, add(n, 5))", 5),
        ("0 .. n", None),
        ("count .. 40", None),
    ],
)
def test_the_most_iterations_of_a_loop(bounds, most):
    text = PROGRAM.format(expr="i").replace(
        "low[0] = min", f"for k in {bounds} sequential {{ }} low[0] = min"
    )
    fn = parse(text)
    (loop,) = (stmt for stmt in statements(fn.body) if isinstance(stmt, For) and stmt.index.name == "k")
    assert Limits(bindings_of(fn.body)).trips(loop) == most
