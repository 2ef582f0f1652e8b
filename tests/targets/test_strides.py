"""The distance between what neighbouring iterations read, as the emitter sees it."""

from __future__ import annotations

import pytest

from anadrome.kernel_ir.nodes import For
from anadrome.kernel_ir.strides import UNKNOWN, widest_stride
from anadrome.kernel_ir.text import parse

OFFSETS = {
    "i": 1,
    "add(i, 3)": 1,
    "mul(i, 100)": 100,
    "mul(sub(7, i), 8)": 8,
    "mul(i, n)": UNKNOWN,
    "min(mul(i, 10), 99)": 10,
    "n": 0,
}
PROGRAM = """fn f(x: f64 buffer, n: i64) {{
  alloc out: f64 global [n]
  for i in 0 .. n sequential {{
    let v: f64 = x[{offset}]
    out[0] = v
  }}
  return out as f64 [n]
}}"""


@pytest.mark.parametrize("offset", OFFSETS)
def test_stride_of_an_offset(offset: str) -> None:
    fn = parse(PROGRAM.format(offset=offset))
    (loop,) = (stmt for stmt in fn.body if isinstance(stmt, For))
    assert widest_stride(loop.body, loop.index) == OFFSETS[offset]
