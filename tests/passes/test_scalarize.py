"""Text in, text out: unrolling and small arrays."""

from __future__ import annotations

import pytest
from oracle import becomes

from anadrome.array_ir.text import parse, show
from anadrome.config import Config
from anadrome.passes.scalarize import scalarize

RULES = {
    "carried vector": (
        "a, b = loop (v = x, s = z) for i < n { p = v[0]; q = v[1]; t = mul p s; "
        "w = literal [q, t]; return w, t }\n"
        "r = a[1]",
        "v = x[0]\n w = x[1]\n"
        "a, b, c = loop (p = v, q = w, s = z) for i < n { t = mul p s; return q, t, t }\n r = b",
    ),
    "vector out of a branch": (
        "c = lt z 0.0\n a = if c { l = literal [z, 1.0]; return l } else { l = literal [2.0, z]; "
        "return l }\n r = a[0]",
        "c = lt z 0.0\n a = if c { return z } else { return 2.0 }\n r = a",
    ),
    "sum of vectors": (
        "a = parfor i < n { v = y[i]; l = literal [v, z]; yield reduce add l }\n r = a[0]",
        "a = parfor i < n { v = y[i]; yield reduce add v }\n r = a",
    ),
    "update": ("a = literal [z, z]\n b = update a[1] 2.0\n r = b[1]", "r = 2.0"),
    "short loop": (
        "r = loop (s = z) for i < 2 { v = x[i]; t = add s v; return t }",
        "v = x[0]\n t = add z v\n w = x[1]\n r = add t w",
    ),
    "scan": (
        "a = parfor i < 2 { v = x[i]; yield scan add v }\n r = a[1]",
        "v = x[0]\n w = x[1]\n r = add v w",
    ),
    "product": (
        "a = literal [x, x]\n b = call matmul(a, a, transpose_left=false, transpose_right=true)\n"
        " r = b[0, 1]",
        "v = x[0]\n w = x[1]\n v2 = x[0]\n w2 = x[1]\n p = mul v v2\n q = mul w w2\n r = add p q",
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_rule(rule: str) -> None:
    before, after = RULES[rule]
    head = "fn f(x: f64[2], y: f64[n], z: f64) -> f64 {\n"
    *lets, last = after.split("\n")
    name, _, value = last.strip().partition(" = ")
    is_copy = " " not in value
    text = "\n".join([*lets, f"return {value}"]) if is_copy else f"{after}\nreturn {name}"
    becomes(scalarize, f"{head}{before}\n return r\n}}", f"{head}{text}\n}}")


def test_long_loops_stay() -> None:
    text = "fn f(x: f64[9]) -> f64 {\n r = parfor i < 9 { v = x[i]; yield reduce add v }\n return r\n}"
    becomes(scalarize, text, text)


def test_loops_that_add_to_a_sum_are_written_out_in_long_programs_too(monkeypatch) -> None:
    monkeypatch.setattr("anadrome.passes.scalarize.MOST_GROWTH", 0)
    text = """fn f(x: f64[3], z: f64[3]) -> f64[3], f64[3] {
      y = with_sum (s = z) {
        t = parfor i < 3 { v = x[i]; w = add_to s[i] v; yield carry s w }
        return t
      }
      u = parfor i < 3 { v = x[i]; w = exp v; yield stack w }
      return y, u
    }"""
    made = show(scalarize(parse(text), Config()))
    assert made.count("parfor") == 1 and made.count("add_to") == 3
