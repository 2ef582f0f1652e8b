"""Sums side by side: which loops, and that they compute the same at every length."""

from __future__ import annotations

import numpy as np
import pytest
from launching import scheduled
from test_innermost import LENGTHS, agree

from anadrome.kernel_ir.nodes import For, Stmt
from anadrome.kernel_ir.walk import bodies, statements

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
    "a sum in its order": ("s[0] = add(s[0], x[q])", JAMMED["the first of the least"]),
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


POINTS = {
    "the least is added up": ("", "total[0] = add(total[0], least[0])"),
    "the nearest centre gets the point": (
        "",
        "for q1 in 0 .. n sequential { let at: i64 = add(mul(place[0], n), q1)"
        " near[at] = add(near[at], x[add(mul(i, n), q1)]) }",
    ),
    "in its place, and from the one before": (
        "",
        "out[i] = add(least[0], mul(0.5, total[0])) total[0] = out[i]",
    ),
    "in a branch, with an array of its own": (
        "alloc row: f64 local [3] row[0] = to_f64(i) row[1] = row[0]",
        "if lt(least[0], row[1]) { alloc two: f64 local [2] for e in 0 .. 2 sequential { two[e] = least[0] }"
        " out[i] = add(two[0], two[1]) } else { out[i] = to_f64(place[0]) }",
    ),
}
APART = {
    "what the sums read is written": ("", "y[mul(mod(i, 5), n)] = least[0]"),
    "what comes before the sums reads what is written": (
        "let last: f64 = total[0] least[0] = add(1000.0, last)",
        "total[0] = least[0]",
    ),
    "a check between the points": ("", "total[0] = least[0] check 0: lt(least[0], 1e9), i"),
}


def points(before: str, after: str) -> str:
    """For each of m points the nearest of five centres, and something with it."""
    return f"""fn f(x: f64 buffer, c: f64 buffer, n: i64, m: i64) {{
      alloc y: f64 global [max(mul(5, n), 1)]
      for e1 in 0 .. mul(5, n) sequential {{ y[e1] = c[e1] }}
      alloc near: f64 global [max(mul(5, n), 1)]
      fill near [max(mul(5, n), 1)] = 0.0
      alloc out: f64 global [max(m, 1)]
      fill out [max(m, 1)] = 0.0
      alloc total: f64 local [1]
      total[0] = 0.0
      for i in 0 .. m sequential {{
        alloc least: f64 local [1]
        least[0] = 1000.0
        alloc place: i64 local [1]
        place[0] = 0
        {before}
        for j in 0 .. 5 sequential {{
          alloc s: f64 local [1]
          s[0] = 0.0
          for q in 0 .. n sequential {{
            let d: f64 = sub(x[add(mul(i, n), q)], y[add(mul(j, n), q)])
            s[0] = add~(s[0], mul(d, d))
          }}
          if lt(s[0], least[0]) {{ least[0] = s[0] place[0] = j }}
        }}
        {after}
      }}
      return total[0] as f64, near as f64 [mul(5, n)], out as f64 [m], y as f64 [mul(5, n)]
    }}
    failure assert "{{0}}"
    """


def pair_loops(text: str) -> int:
    """Loops that go by pairs."""
    fn = scheduled(text, vector_bits=512)
    return sum(isinstance(stmt, For) and stmt.index.name == "pair" for stmt in statements(fn.body))


@pytest.mark.parametrize("bits", [128, 512])
@pytest.mark.parametrize("name", [*POINTS, *APART])
def test_points_by_pairs(name: str, bits: int) -> None:
    text = points(*(POINTS | APART)[name])
    assert pair_loops(text) == (name in POINTS)
    random = np.random.default_rng(7)
    for count in (0, 1, 2, 3, 6, 9):
        for n in (0, 1, 7, 8, 19):
            x, c = (random.normal(size=max(k * n, 1)) for k in (count, 5))
            agree(text, bits, x, c, n, count)
