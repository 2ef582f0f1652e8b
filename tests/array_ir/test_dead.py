"""Dead code, text in and text out."""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections import Counter

import pytest

from anadrome.array_ir import dead
from anadrome.array_ir.build import Builder
from anadrome.array_ir.check import check
from anadrome.array_ir.dead import live_body, remove_dead
from anadrome.array_ir.nodes import Apply, ArrayType, Body, Function, Var
from anadrome.array_ir.text import parse, show, show_body
from anadrome.dtypes import F64
from anadrome.prims.table import PRIMS

CASES = {
    "statement": (
        "fn f(x: f64) -> f64 { a = sin x; b = cos a; c = exp a; return c }",
        "fn f(x: f64) -> f64 { a = sin x; c = exp a; return c }",
    ),
    "yield": (
        """fn f(x: f64[n]) -> f64 {
          a, b = parfor i < n { v = x[i]; w = exp v; u = sin v; yield stack w; yield reduce add u }
          return b
        }""",
        """fn f(x: f64[n]) -> f64 {
          b = parfor i < n { v = x[i]; u = sin v; yield reduce add u }
          return b
        }""",
    ),
    "checks and checked indices stay, unread targets go": (
        """fn f(x: f64[n], p: i64[n]) -> f64 {
          a, b = parfor i < n { j = p[i]; v = x[j]?; w = exp v; yield stack v; yield stack w }
          h = parfor i < n { v = x[i]; j = p[i]; yield accumulate add x[j]? v }
          d = x[0]?
          r = if true { c = lt d 1.0; check c assert "no"; return d } else { return 2.0 }
          return 1.0
        }""",
        """fn f(x: f64[n], p: i64[n]) -> f64 {
          parfor i < n { j = p[i]; v = x[j]? }
          h = parfor i < n { v = x[i]; j = p[i]; yield accumulate add x[j]? v }
          d = x[0]?
          if true { c = lt d 1.0; check c assert "no" } else { }
          return 1.0
        }""",
    ),
    "carried value that only it needs": (
        """fn f(x: f64, n: i64) -> f64 {
          a, b, c = loop (s = x, t = 0.0, u = 1.0) for i < n {
            s1 = sin s
            t1 = add t u
            u1 = mul u 2.0
            return s1, t1, u1
          }
          return a
        }""",
        """fn f(x: f64, n: i64) -> f64 {
          a = loop (s = x) for i < n { s1 = sin s; return s1 }
          return a
        }""",
    ),
    "carried value that another needs": (
        """fn f(x: f64, n: i64) -> f64 {
          a, b, c = loop (s = x, t = 0.0, u = 1.0) for i < n {
            s1 = mul s t
            t1 = add t u
            u1 = mul u 2.0
            return s1, t1, u1
          }
          return a
        }""",
        None,
    ),
    "condition": (
        """fn f(x: f64) -> f64 {
          a, b, c = loop (s = x, k = 0, t = 1.0) while { g = lt k 3; return g } do {
            s1 = sin s
            k1 = add k 1
            t1 = mul t s
            return s1, k1, t1
          }
          return a
        }""",
        """fn f(x: f64) -> f64 {
          a, b = loop (s = x, k = 0) while { g = lt k 3; return g } do {
            s1 = sin s
            k1 = add k 1
            return s1, k1
          }
          return a
        }""",
    ),
    "endless loop": (
        "fn f(x: f64) -> f64 { a = loop (s = x) while { return true } do { return s }; return x }",
        "fn f(x: f64) -> f64 { return x }",
    ),
    "branch": (
        """fn f(x: f64, p: bool) -> f64 {
          a, b = if p { u = sin x; v = cos x; return u, v } else { w = exp x; return w, x }
          return b
        }""",
        """fn f(x: f64, p: bool) -> f64 {
          b = if p { v = cos x; return v } else { return x }
          return b
        }""",
    ),
    "sum": (
        """fn f(x: f64[n], y: f64[n]) -> f64[n], f64 {
          a, b, c = with_sum (s = x, t = y) {
            u, w = parfor i < n {
              v = x[i]
              e = sin v
              s1 = add_to s[i] v
              t1 = if true { t2 = add_to t[i] e; return t2 } else { return t }
              yield carry s s1
              yield carry t t1
            }
            k = loop (q = w) for j < n { q1 = add_to q[j] 1.0; return q1 }
            d = x[0]
            return u, k, d
          }
          return a, c
        }""",
        """fn f(x: f64[n], y: f64[n]) -> f64[n], f64 {
          a, c = with_sum (s = x) {
            u = parfor i < n { v = x[i]; s1 = add_to s[i] v; yield carry s s1 }
            d = x[0]
            return u, d
          }
          return a, c
        }""",
    ),
    "checked contribution": (
        """fn f(x: f64[n]) -> f64 {
          a = with_sum (s = x) {
            u = parfor i < n { s1 = add_to s[i]? 1.0; s2 = add_to s1[0] 1.0; yield carry s s2 }
            return u
          }
          return 1.0
        }""",
        None,
    ),
    "operator": (
        """fn f(x: f64[n]) -> f64 {
          a = parfor i < n {
            v = x[i]
            yield reduce lambda v by (l) (r) from (0.0) { e = sin l; t = add l r; return t }
          }
          return a
        }""",
        """fn f(x: f64[n]) -> f64 {
          a = parfor i < n {
            v = x[i]
            yield reduce lambda v by (l) (r) from (0.0) { t = add l r; return t }
          }
          return a
        }""",
    ),
    "sizes of types": (
        """fn f(x: f64[n]) -> f64[m] {
          m = add n 1
          k = add n 2
          a = full [m] 0.0
          b = full [k] 0.0
          return a
        }""",
        """fn f(x: f64[n]) -> f64[m] {
          m = add n 1
          a = full [m] 0.0
          return a
        }""",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    before, after = CASES[name]
    fn = parse(before)
    check(fn)
    lean = remove_dead(fn)
    check(lean)
    if after is None:
        assert lean is fn
    else:
        assert show(lean) == show(parse(after))
        assert remove_dead(lean) is lean


def test_docstring() -> None:
    _, rest = inspect.getdoc(dead).split("Before:\n")
    before, after = rest.split("After:\n")
    frame = "fn f(x: f64[n]) {{\n{}\n}}"
    lean = remove_dead(parse(frame.format(textwrap.dedent(before))))
    assert show(lean) == show(parse(frame.format(textwrap.dedent(after))))


def test_live_body_keeps_what_is_wanted() -> None:
    body = parse("fn f(x: f64) { a = sin x; b = cos x; c = exp x }").body
    assert show_body(live_body(body)) == "\n"
    assert show_body(live_body(body, [body.lets[1].targets[0]])) == "b = cos x\n"
    whole = Body(body.lets, tuple(let.targets[0] for let in body.lets))
    assert live_body(whole) is whole


@pytest.mark.interpreted
def test_long_bodies_take_linear_work() -> None:
    def calls(size: int) -> int:
        builder = Builder()
        x = Var("x", ArrayType(F64))
        value = x
        for _ in range(size):
            value = builder.let_one(Apply(PRIMS["sin"], (value,)))
            builder.let_one(Apply(PRIMS["cos"], (value,)))
        fn = Function("f", (x,), builder.body((value,)))
        events: Counter[str] = Counter()
        before = sys.getprofile()
        sys.setprofile(lambda frame, event, arg: events.update([event]))
        try:
            lean = remove_dead(fn)
        finally:
            sys.setprofile(before)
        assert len(lean.body.lets) == size
        return events["call"] + events["c_call"]

    assert calls(4000) - calls(2000) <= 2.01 * (calls(2000) - calls(1000))
