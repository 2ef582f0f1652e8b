"""Short loops written out: as the docstring says, and only where that makes sums."""

from __future__ import annotations

from dataclasses import replace

import pytest

from anadrome.kernel_ir.check import check
from anadrome.kernel_ir.nodes import Alloc, Binding, For
from anadrome.kernel_ir.text import parse, show
from anadrome.kernel_ir.walk import statements
from anadrome.schedule import unroll
from anadrome.schedule.unroll import MOST_STATEMENTS, straight, unrolled
from tests.passes.documented import example


def first_loop(text: str) -> For:
    return next(stmt for stmt in statements(parse(text).body) if isinstance(stmt, For))


def test_docstring() -> None:
    assert unroll.__doc__ is not None
    before, after = map(parse, example(unroll.__doc__))
    body = [unrolled(stmt) if isinstance(stmt, For) else stmt for stmt in before.body]
    made = replace(before, body=tuple(body))
    check(made)
    assert show(made) == show(after)


@pytest.mark.parametrize(
    "inner",
    [
        "alloc v: f64 local [3] for k in 0 .. 3 parallel { v[k] = x[k] }",
        "for k in 0 .. 3 parallel { s[i] = add~(s[i], x[k]) }",
        "for k in 0 .. 17 parallel { s[k] = add~(s[k], x[i]) }",
        "for k in 0 .. n parallel { s[k] = add~(s[k], x[i]) }",
        "for k in 0 .. 3 sequential { s[k] = add~(s[k], x[i]) print 0: k }",
        "for k in 0 .. 16 parallel { for h in 0 .. 16 parallel { s[add(k, h)] = x[i] } }",
        "for k in 0 .. 16 parallel { " + "s[k] = add~(s[k], x[i]) " * (MOST_STATEMENTS // 16 + 1) + "}",
    ],
)
def test_what_stays_a_loop(inner: str) -> None:
    loop = first_loop(
        f"fn main(n: i64, x: f64 buffer, s: f64 buffer) {{ for i in 0 .. n sequential {{ {inner} }} return }}"
    )
    assert unrolled(loop) is loop


@pytest.mark.parametrize(("shape", "place"), [("", "add(mul(k, 2), 1)"), ("[3, 2] ", "k, 1")])
def test_elements_of_small_arrays_are_numbers_with_names(shape: str, place: str) -> None:
    loop = first_loop(f"""fn main(n: i64, x: f64 buffer, s: f64 buffer) {{
      for i in 0 .. n sequential {{
        alloc v: f64 local {shape}[6]
        for k in 0 .. 3 sequential {{ v[{place}] = x[add(i, k)] }}
        for k in 0 .. 3 sequential {{ s[i] = add(s[i], v[{place}]) }}
      }}
      return
    }}""")
    written = straight(loop)
    assert len(written.body) == 6
    assert not any(isinstance(stmt, Alloc | For) for stmt in statements(written.body))


def test_only_the_loops_whose_elements_these_are_are_written_out() -> None:
    loop = first_loop("""fn main(n: i64, x: f64 buffer, s: f64 buffer) {
      for i in 0 .. n sequential {
        for j in 0 .. 2 sequential { for k in 1 .. 4 sequential { s[k] = add~(s[k], x[add(i, j)]) } }
      }
      return
    }""")
    (inner,) = [stmt for stmt in statements(unrolled(loop).body) if isinstance(stmt, For)]
    assert inner.index.name == "j" and len(inner.body) == 3 and inner.binding is Binding.SEQUENTIAL
