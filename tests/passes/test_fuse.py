"""Text in, text out: one rule of `fuse` at a time."""

from __future__ import annotations

import pytest
from oracle import becomes

from anadrome.passes.fuse import fuse
from tests.printing import quoted

SCAN = "e = sub n 1\n t = parfor i < n { v = y[i]; yield scan add v }\n"
FORWARDS = "r = parfor i < n { v = t[i]; w = mul v v; yield reduce add w }"
RULES = {
    "transpose": (
        "t = parfor j < m { r = parfor i < n { v = x[i, j]; yield stack v }; yield stack r }\n"
        "s = parfor j < m { r = parfor i < n { v = t[j, i]; w = exp v; yield reduce add w }; "
        "yield reduce add r }",
        "s = parfor j < m { r = parfor i < n { v = x[i, j]; w = exp v; yield reduce add w }; "
        "yield reduce add r }",
    ),
    "gather of a cheap array": (
        "t = parfor i < n { v = y[i]; w = mul v 2.0; yield stack w }\n"
        "s = parfor j < m { k = p[j]; v = t[k]; w = exp v; yield reduce add w }",
        "s = parfor j < m { k = p[j]; v = y[k]; u = mul v 2.0; w = exp u; yield reduce add w }",
    ),
    "siblings": (
        "t = parfor i < n { v = y[i]; w = exp v; yield reduce add w }\n"
        "u = parfor i < n { v = y[i]; w = sin v; yield reduce add w }\n s = mul t u",
        "t, u = parfor i < n { v = y[i]; w = exp v; w2 = sin v; yield reduce add w; yield reduce add w2 }\n"
        "s = mul t u",
    ),
    "an accumulator opened on what another one made": (
        "o = full [m] 0.0\n"
        "a, b = with_sum (t = o) { c, d = parfor i < m { k = p[i]; v = y[k]; w = exp v; e = add_to t[k] v; "
        "yield carry t e; yield stack w }; return c, d }\n"
        "f = with_sum (u = a) { g = parfor i < m { k = p[i]; v = b[i]; e = add_to u[k] v; yield carry u e }; "
        "return g }\n"
        "s = f[0]",
        "o = full [m] 0.0\n"
        "f = with_sum (t = o) { g = parfor i < m { k = p[i]; v = y[k]; w = exp v; e = add_to t[k] v; "
        "h = add_to e[k] w; yield carry t h }; return g }\n"
        "s = f[0]",
    ),
    "a sum that is read is not gone on with": (
        "o = full [m] 0.0\n"
        "a = with_sum (t = o) { c = parfor i < m { k = p[i]; v = y[k]; e = add_to t[k] v; yield carry t e }; "
        "return c }\n"
        "f = with_sum (u = a) { g = parfor i < m { k = p[i]; v = a[k]; e = add_to u[k] v; yield carry u e }; "
        "return g }\n"
        "s = f[0]",
        None,
    ),
    "a sum that a yield reads is not gone on with": (
        "r, q = parfor h < n { o = full [m] 0.0; "
        "a = with_sum (t = o) { c = parfor i < m { k = p[i]; v = x[h, i]; e = add_to t[k] v; "
        "yield carry t e }; return c }; "
        "f = with_sum (u = a) { g = parfor i < m { k = p[i]; v = x[h, i]; w = exp v; e = add_to u[k] w; "
        "yield carry u e }; return g }; "
        "d = parfor i < m { v = f[i]; w = sin v; yield reduce add w }; "
        "yield stack a; yield reduce add d }\n"
        "b = r[0, 0]\n"
        "s = mul q b",
        None,
    ),
    "no merging along a path": (
        "t = parfor i < n { v = y[i]; yield reduce max v }\n"
        "s = parfor i < n { v = y[i]; d = sub v t; w = exp d; yield reduce add w }",
        "t = parfor i < n { v = y[i]; yield reduce max v }\n"
        "s = parfor i < n { v = y[i]; d = sub v t; w = exp d; yield reduce add w }",
    ),
    "expensive and read often": (
        "t = parfor i < n { v = y[i]; w = exp v; yield stack w }\n"
        "s = parfor j < m { r = parfor i < n { v = t[i]; u = x[i, j]; q = mul u v; "
        "yield reduce add q }; yield reduce add r }",
        None,
    ),
    "cheap and read often": (
        "t = parfor i < n { v = y[i]; w = mul v 2.0; u = add w 1.0; yield stack u }\n"
        "s = parfor j < m { r = parfor i < n { v = t[i]; u = x[i, j]; q = mul u v; "
        "yield reduce add q }; yield reduce add r }",
        "s = parfor j < m { r = parfor i < n { a = y[i]; b = mul a 2.0; v = add b 1.0; u = x[i, j]; "
        "q = mul u v; yield reduce add q }; yield reduce add r }",
    ),
    "cheap of two arrays and read often": (
        "t = parfor i < n { v = y[i]; w = x[i, 0]; u = add v w; q = mul u 2.0; yield stack q }\n"
        "s = parfor j < m { r = parfor i < n { v = t[i]; u = x[i, j]; q = mul u v; "
        "yield reduce add q }; yield reduce add r }",
        None,
    ),
    "prefixes read one by one and backwards": (
        f"{SCAN}{FORWARDS}\n"
        "u = parfor i < n { k = sub e i; v = t[k]; w = sin v; yield scan add w }\n g = u[0]\n s = mul r g",
        None,
    ),
    "prefixes read one by one, twice": (
        f"{SCAN}{FORWARDS}\n"
        "u = parfor i < n { v = t[i]; w = sin v; yield scan add w }\n g = u[0]\n s = mul r g",
        f"{SCAN.partition('1')[2]}r, u = parfor i < n {{ v = t[i]; w = mul v v; q = sin v; "
        "yield reduce add w; yield scan add q }\n g = u[0]\n s = mul r g",
    ),
    "what is no scan, read one by one and backwards": (
        f"{SCAN.replace('scan add', 'scatter y [i] ')}{FORWARDS}\n"
        "u = parfor i < n { k = sub e i; v = t[k]; w = sin v; yield scan add w }\n g = u[0]\n s = mul r g",
        f"{SCAN.replace('scan add', 'scatter y [i] ')}r, u = parfor i < n {{ v = t[i]; w = mul v v; "
        "k = sub e i; o = t[k]; q = sin o; yield reduce add w; yield scan add q }\n g = u[0]\n s = mul r g",
    ),
    "branches on one condition": (
        "c = lt z 0.0\n"
        "a = if c { q = exp z; return q } else { return z }\n"
        "s = if c { w = mul a 2.0; return w } else { return a }",
        "c = lt z 0.0\n s = if c { q = exp z; w = mul q 2.0; return w } else { return z }",
    ),
    "into an accumulator": (
        "t = parfor i < n { v = y[i]; w = exp v; yield reduce add w }\n"
        "o = full [m] 0.0\n"
        "b = with_sum (a = o) {\n"
        "  c = parfor i < n { k = p[i]; v = y[i]; d = add_to a[k] v; yield carry a d }\n  return c\n }\n"
        "u = b[0]\n s = add t u",
        "o = full [m] 0.0\n"
        "b, t = with_sum (a = o) {\n"
        "  t, c = parfor i < n {\n   v = y[i]\n   w = exp v\n   k = p[i]\n   d = add_to a[k] v\n"
        "   yield reduce add w\n   yield carry a d\n  }\n  return c, t\n }\n"
        "u = b[0]\n s = add t u",
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_rule(rule: str) -> None:
    before, after = RULES[rule]
    head = "fn f(x: f64[n, m], y: f64[n], p: i64[m], z: f64) -> f64 {\n"
    if rule == "into an accumulator":
        head = head.replace("p: i64[m]", "p: i64[n]")
    becomes(fuse, f"{head}{before}\n return s\n}}", f"{head}{after or before}\n return s\n}}")


def test_a_check_is_not_lost() -> None:
    text = """
    fn f(y: f64[n], p: i64[n]) -> f64 {
      t = parfor i < n { k = p[i]; v = y[k]?; yield stack v }
      s = t[0]
      return s
    }
    """
    becomes(fuse, text, text)


SAY = f"print {quoted('x')}"


def test_what_is_printed_keeps_its_order() -> None:
    """Branches on one condition, and checks, stay on their side of what is printed."""
    branches = f"if c {{ {SAY} }} else {{ }}"
    text = f"fn f(c: bool) -> () {{\n{branches}\n{SAY}\n{branches}\n}}"
    becomes(fuse, text, text)
    gather = "parfor i < n { k = p[i]; v = y[k]?; yield reduce add v }"
    text = (
        f"fn f(y: f64[n], p: i64[n]) -> f64 {{\na = {gather}\n{SAY}\nb = {gather}\nc = add a b\nreturn c\n}}"
    )
    becomes(fuse, text, text)


def test_branches_that_print_become_one() -> None:
    branches = f"if c {{ {SAY} }} else {{ }}"
    becomes(
        fuse,
        f"fn f(c: bool) -> () {{\n{branches}\n{branches}\n}}",
        f"fn f(c: bool) -> () {{\nif c {{ {SAY}; {SAY} }} else {{ }}\n}}",
    )


def test_an_accumulator_goes_through_merged_branches_once() -> None:
    becomes(
        fuse,
        """fn f(h: f64[n], x: f64, c: bool) -> f64[n] {
          y = with_sum (s = h) {
            t = if c { return s } else { a = add_to s[0] x; return a }
            u = if c { b = add_to t[1] x; return b } else { d = add_to t[2] x; return d }
            return u
          }
          return y
        }""",
        """fn f(h: f64[n], x: f64, c: bool) -> f64[n] {
          y = with_sum (s = h) {
            u = if c { b = add_to s[1] x; return b } else { a = add_to s[0] x; d = add_to a[2] x; return d }
            return u
          }
          return y
        }""",
    )


def test_what_is_compared_is_computed_once() -> None:
    """Computed again it might round differently, and nothing would equal the minimum."""
    text = """fn f(y: f64[n]) -> i64 {
      d = parfor i < n { v = y[i]; w = mul v v; u = add w v; yield stack u }
      m = parfor i < n { v = d[i]; yield reduce min v }
      k = parfor i < n { v = d[i]; e = eq v m; j = select e i n; yield reduce min j }
      return k
    }"""
    merged = """fn f(y: f64[n]) -> i64 {
      d, m = parfor i < n { v = y[i]; w = mul v v; u = add w v; yield stack u; yield reduce min u }
      k = parfor i < n { v = d[i]; e = eq v m; j = select e i n; yield reduce min j }
      return k
    }"""
    becomes(fuse, text, merged)


def test_what_reads_an_array_anyway_is_fused_with_what_changes_a_copy() -> None:
    text = """fn f(y: f64[n], m: i64, k: i64) -> f64[n] {
      r = loop (b = y) for h < m {
        w = parfor i < k { j = add i 1; v = b[j]; yield stack v }
        c = parfor i < k { v = w[i]; u = b[i]; q = add u v; yield scatter b[i] q }
        return c
      }
      return r
    }"""
    fused = """fn f(y: f64[n], m: i64, k: i64) -> f64[n] {
      r = loop (b = y) for h < m {
        c = parfor i < k { j = add i 1; v = b[j]; u = b[i]; q = add u v; yield scatter b[i] q }
        return c
      }
      return r
    }"""
    becomes(fuse, text, fused)
