"""Gradients are cheap: work(gradient) / work(program), as the interpreter counts it, does not grow."""

from __future__ import annotations

import numpy as np
import pytest

from anadrome.ad.reverse import vjp
from anadrome.array_ir.interp import run
from anadrome.array_ir.text import parse

LIMIT = 6.0

PROGRAMS = {
    "element_read_in_a_loop": """fn f(x: f64[n]) -> f64 {
      y = loop (s = 0.0) for i < n { v = x[i]; a = mul v v; b = sin a; c = add s b; return c }
      return y
    }""",
    "element_read_twice_in_a_parfor": """fn f(x: f64[n]) -> f64 {
      m = sub n 1
      s = parfor i < m { j = add i 1; v = x[i]; w = x[j]; p = mul v w; e = exp p; yield reduce add e }
      return s
    }""",
    "reversed_gather": """fn f(x: f64[n]) -> f64 {
      s = parfor i < n { j = mul i i; k = mod j n; v = x[k]; w = sin v; yield reduce add w }
      return s
    }""",
    "in_place_square": """fn f(x: f64[n]) -> f64 {
      y = loop (a = x) for i < n { v = a[i]; w = mul v v; b = update a[i] w; return b }
      s = parfor i < n { v = y[i]; yield reduce add v }
      return s
    }""",
    "neighbours_in_place": """fn f(x: f64[n]) -> f64 {
      m = sub n 1
      y = loop (a = x) for i < m {
        j = add i 1
        v = a[i]
        w = a[j]
        p = mul v w
        b = update a[j] p
        q = b[0]
        c = update b[0] q
        return c
      }
      s = parfor i < n { v = y[i]; yield reduce add v }
      return s
    }""",
    "matrix_vector": """fn f(x: f64[n]) -> f64 {
      s = parfor i < n {
        r = parfor j < n { v = x[j]; w = x[i]; p = mul v w; q = sin p; yield reduce add q }
        yield reduce add r
      }
      return s
    }""",
    "maximum": """fn f(x: f64[n]) -> f64 {
      s = parfor i < n { v = x[i]; w = sin v; yield reduce max w }
      return s
    }""",
}


def ratio(name: str, size: int) -> float:
    fn = parse(PROGRAMS[name])
    x = np.linspace(0.1, 1.3, size)
    gradient = vjp(fn, (True,))
    return run(gradient, [x, np.float64(1.0)]).work.total / run(fn, [x]).work.total


@pytest.mark.parametrize("name", PROGRAMS)
def test_ratio_is_bounded(name: str) -> None:
    ratios = [ratio(name, size) for size in (16, 32, 64)]
    assert max(ratios) <= LIMIT and ratios[-1] <= ratios[0] * 1.05, ratios
