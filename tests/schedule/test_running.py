"""Running sums by groups: which loops, and that they compute the same at every length."""

from __future__ import annotations

import numpy as np
import pytest
from launching import config, prepared, scheduled
from test_innermost import LENGTHS, agree, arguments, program

from anadrome.kernel_ir.nodes import For
from anadrome.kernel_ir.walk import statements
from anadrome.targets.cpu import compile_cpu

GROUPED = {
    "a prefix sum": "s[0] = add~(s[0], x[i]) let v: f64 = s[0] out[i] = v",
    "read before": "let v: f64 = s[0] out[i] = v s[0] = add~(x[i], s[0])",
    "read before and after": "let v: f64 = s[0] s[0] = add~(s[0], x[i]) out[i] = mul(v, s[0])",
    "of what was written": "out[i] = mul(out[i], s[0]) s[0] = add~(s[0], mul(out[i], 0.1))",
    "of itself": "let v: f64 = s[0] s[0] = add~(s[0], mul(v, 0.01)) out[i] = s[0]",
    "in place": "s[0] = add~(s[0], out[i]) out[i] = s[0]",
    "what the one before has left": "s[0] = add~(s[0], mul(out[i], 0.3)) out[add(i, 1)] = s[0]",
    "with a count": "s[0] = add~(s[0], x[i]) c[0] = add(c[0], 1) out[i] = s[0]",
}
LEFT = {
    "a sum in its order": "s[0] = add(s[0], x[i]) out[i] = s[0]",
    "added to twice": "s[0] = add~(s[0], x[i]) s[0] = add~(s[0], 0.5) out[i] = s[0]",
    "two things done to it": "s[0] = add~(s[0], x[i]) out[i] = s[0] s[0] = mul(s[0], 0.5)",
    "a branch": "if gt(x[i], 0.7) { s[0] = add~(s[0], x[i]) } out[i] = s[0]",
    "a product": "s[0] = mul~(s[0], x[i]) out[i] = s[0]",
    "a whole number": "c[0] = add~(c[0], 2) out[i] = to_f64(c[0])",
}


def is_grouped(text: str) -> bool:
    loops = [stmt for stmt in statements(scheduled(text, vector_bits=512).body) if isinstance(stmt, For)]
    return any(loop.index.name == "group" for loop in loops)


@pytest.mark.parametrize("name", GROUPED)
def test_every_length(name: str) -> None:
    text = program(GROUPED[name])
    assert is_grouped(text)
    for length in (*LENGTHS, 2, 4, 5, 6):
        agree(text, 512, *arguments(length))


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_as_it_is(name: str) -> None:
    text = program(LEFT[name])
    assert not is_grouped(text)
    for length in (1, 9, 67):
        agree(text, 512, *arguments(length))


@pytest.mark.parametrize(
    "bounds", ["2 .. n", "3 .. sub(n, 2)", "n .. 0", "n .. 1", "sub(n, n) .. n", "0 .. 9"]
)
def test_bounds(bounds: str) -> None:
    for length in (9, 40, 67):
        agree(program(GROUPED["a prefix sum"], bounds), 512, *arguments(length))


def test_two_sums_of_which_one_is_read() -> None:
    body = "s[0] = add~(s[0], x[i]) out[i] = s[0] t[0] = add~(t[0], mul(s[0], s[0]))"
    text = f"""fn f(x: f64 buffer, n: i64) {{
      alloc out: f64 global [max(n, 1)]
      alloc s: f64 local [1]
      s[0] = 0.0
      alloc t: f64 local [1]
      t[0] = 1.0
      for i in 0 .. n sequential {{ {body} }}
      return out as f64 [n], s[0] as f64, t[0] as f64
    }}"""
    assert is_grouped(text)
    for length in LENGTHS:
        agree(text, 512, np.linspace(0.0, 1.0, max(length, 1)), length)


def test_sums_of_what_is_no_number_and_of_nothing() -> None:
    text = program(GROUPED["a prefix sum"])
    for value in (np.nan, np.inf, -np.inf):
        x, k, n = arguments(33)
        x[17] = value
        agree(text, 512, x, k, n)
    fn = scheduled(text, vector_bits=512)
    found = compile_cpu(fn, config(1))(prepared(fn, (np.full(2, -0.0), np.zeros(1, int), 0)))
    assert np.signbit(found[1])
