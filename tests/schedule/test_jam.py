"""Sums side by side: which loops, and that they compute the same at every length."""

from __future__ import annotations

import numpy as np
import pytest
from launching import scheduled
from test_innermost import LENGTHS, agree

from anadrome.kernel_ir.nodes import For, Stmt
from anadrome.kernel_ir.walk import bodies

SUM = "s[0] = add~(s[0], mul(x[q], y[add(mul(j, n), q)]))"
JAMMED = {
    "the least": "least[0] = min~(least[0], s[0])",
    "the first of the least": "if lt(s[0], least[0]) { least[0] = s[0] place[0] = j }",
    "each in its place": "out[j] = s[0]",
    "each after the one before": "out[j] = add(s[0], mul(0.5, least[0])) least[0] = out[j]",
    "nothing": "",
}
LEFT = {
    "what a sum reads is written": ("s[0] = add~(s[0], mul(x[q], out[j]))", "out[add(j, 1)] = s[0]"),
    "a sum that begins with the one before": (f"{SUM} s[0] = add~(s[0], least[0])", "least[0] = s[0]"),
    "terms that are written": (f"{SUM} z[q] = s[0]", "least[0] = min~(least[0], s[0])"),
    "a sum in its order": ("s[0] = add(s[0], x[q])", "least[0] = min~(least[0], s[0])"),
}


def program(terms: str, after: str, last: str = "n", extent: str = "5") -> str:
    return f"""fn f(x: f64 buffer, y: f64 buffer, n: i64) {{
      alloc out: f64 global [9]
      for k in 0 .. 9 parallel {{ out[k] = 0.25 }}
      alloc z: f64 global [max(n, 1)]
      for k1 in 0 .. n parallel {{ z[k1] = 0.0 }}
      alloc least: f64 local [1]
      least[0] = 1000.0
      alloc place: i64 local [1]
      place[0] = -1
      for j in 0 .. {extent} sequential {{
        alloc s: f64 local [1]
        s[0] = 0.5
        for q in 0 .. {last} sequential {{ {terms} }}
        {after}
      }}
      return out as f64 [9], z as f64 [n], least[0] as f64, place[0] as i64
    }}"""


def is_jammed(text: str) -> bool:
    """Whether no loop is left in the loop over j."""

    def indices(stmts: tuple[Stmt, ...]) -> list[str]:
        own = [stmt.index.name for stmt in stmts if isinstance(stmt, For)]
        return own + [name for stmt in stmts for body in bodies(stmt) for name in indices(body)]

    return "j" not in indices(scheduled(text, vector_bits=512).body)


def numbers(length: int) -> tuple[np.ndarray, np.ndarray, int]:
    random = np.random.default_rng(length)
    return random.normal(size=max(length, 1)), random.normal(size=max(8 * length, 1)), length


@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize("name", JAMMED)
def test_every_length_at_every_width(name: str, bits: int) -> None:
    text = program(SUM, JAMMED[name])
    assert is_jammed(text)
    for length in LENGTHS:
        agree(text, bits, *numbers(length))


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_as_it_is(name: str) -> None:
    text = program(*LEFT[name])
    assert not is_jammed(text)
    for length in (1, 9, 33):
        agree(text, 512, *numbers(length))


def test_terms_whose_number_each_sum_has_for_itself() -> None:
    text = program(SUM, JAMMED["the least"], last="max(sub(n, j), 0)")
    assert not is_jammed(text)
    agree(text, 512, *numbers(33))


@pytest.mark.parametrize("extent", ["2", "8"])
def test_as_many_as_there_may_be(extent: str) -> None:
    text = program(SUM, JAMMED["the first of the least"], extent=extent)
    assert is_jammed(text)
    for length in LENGTHS:
        agree(text, 512, *numbers(length))


@pytest.mark.parametrize("extent", ["1", "9"])
def test_one_and_many_are_left(extent: str) -> None:
    text = program("s[0] = add~(s[0], mul(x[q], to_f64(j)))", JAMMED["the least"], extent=extent)
    assert not is_jammed(text) or extent == "1"
    agree(text, 512, *numbers(33))


def test_infinities_and_what_is_no_number() -> None:
    text = program(SUM, JAMMED["the first of the least"])
    for value in (np.nan, np.inf, -np.inf):
        x, y, n = numbers(33)
        y[40] = value
        agree(text, 512, x, y, n)
