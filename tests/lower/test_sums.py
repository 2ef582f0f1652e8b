"""Sums each of whose elements gets one contribution are written once; others are filled and added to."""

from __future__ import annotations

import numpy as np
import pytest

from anadrome.config import Config
from anadrome.kernel_ir import text as kernel_text
from tests.lower.oracle import agree, lowered

ONE = Config(threads=1)
X = np.array([3.0, -1.0, 4.0, 1.0, -5.0])

SWEEP = """fn f(x: f64[n], w: f64[m], k: i64) -> f64[n], f64 {{
  z = full [n] {start}
  e = sub n 1
  s, r = with_sum (t = z) {{
    c, u = loop (b = 1.0, o = t) for i < {trip} {{
      v = x[i]
      d = mul b 0.5
      g = add d v
      {body}
      return g, {token}
    }}
    return u, c
  }}
  return s, r
}}"""


def program(body, token="q", start="0.0", trip="n"):
    """A loop that carries a number and contributes to a sum."""
    return SWEEP.format(body=body, token=token, start=start, trip=trip)


ONCE = {
    "in order": "q = add_to o[i] g",
    "backwards": "j = sub e i\nq = add_to o[j] g",
}

OFTEN = {
    "one element": program("q = add_to o[0] g"),
    "two contributions": program("p = add_to o[i] g\nq = add_to p[i] v"),
    "a shorter loop": program("q = add_to o[i] g", trip="3"),
    "in a branch": program("h = gt v 0.0\nq = if h { p = add_to o[i] g; return p } else { return o }"),
    "where data say": program("h = ge v 0.0\nj = select h i 0\nq = add_to o[j] g"),
    "a multiple": program("j = mul i 0\nq = add_to o[j] g"),
    "what the loop computes": program("l = mul i -1\nj = add i l\nq = add_to o[j] g"),
    "outside ignored": program("j = add i 1\nq = add_to o[j]~ g"),
    "a sum that starts elsewhere": program("q = add_to o[i] g", start="2.0"),
}


def text_of(source):
    return kernel_text.show(lowered(source, ONE))


@pytest.mark.parametrize("body", ONCE.values(), ids=ONCE)
def test_a_sum_with_one_contribution_for_each_element_is_written(body):
    text = text_of(program(body))
    assert "fill" not in text and "add~" not in text
    agree(program(body), X, X, 2, config=ONE)
    agree(program(body), np.zeros(0), X, 2, config=ONE)


@pytest.mark.parametrize("source", OFTEN.values(), ids=OFTEN)
def test_another_sum_is_filled_and_added_to(source):
    assert "add~" in text_of(source)
    agree(source, X, X, 2, config=ONE)


def test_a_sum_inside_the_loop_of_another():
    """The inner sum is finished before the outer one has its contribution of the iteration."""
    source = """fn f(x: f64[n], w: f64[m], k: i64) -> f64[n] {
      z = full [n] 0.0
      s = with_sum (t = z) {
        c, u = loop (b = 1.0, o = t) for i < n {
          y = full [m] 0.0
          h = with_sum (e = y) {
            d, g = loop (a = b, l = e) for j < m {
              v = w[j]
              p = mul a v
              q = add_to l[j] p
              return p, q
            }
            return g
          }
          r = parfor j1 < m { v1 = h[j1]; yield reduce add v1 }
          b1 = mul b 0.5
          o1 = add_to o[i] r
          return b1, o1
        }
        return u
      }
      return s
    }"""
    assert "fill" not in text_of(source)
    agree(source, X, X[:3], 2, config=ONE)
