"""Text in, text out: one rule of `simplify` at a time."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import becomes, same

from anadrome.array_ir.check import check
from anadrome.array_ir.interp import run
from anadrome.array_ir.text import parse, show
from anadrome.config import Config
from anadrome.passes.simplify import simplify

SCALAR = {
    "x + -0.0": ("a = add x -0.0", "x"),
    "-0.0 + x": ("a = add -0.0 x", "x"),
    "x - 0.0": ("a = sub x 0.0", "x"),
    "1·x": ("a = mul 1.0 x", "x"),
    "x / 1": ("a = div x 1.0", "x"),
    "--x": ("b = neg x\n a = neg b", "x"),
    "| |x| |": ("b = abs x\n a = abs b", ("b = abs x", "b")),
    "|-x|": ("b = neg x\n a = abs b", ("b = abs x", "b")),
    "x·(-1)": ("a = mul x -1.0", ("b = neg x", "b")),
    "x / 4": ("a = div x 4.0", ("b = mul x 0.25", "b")),
    "x²": ("a = pow x 2.0", ("b = mul x x", "b")),
    "x¹": ("a = pow x 1.0", "x"),
    "x⁰": ("a = pow x 0.0", "1.0"),
    "x + (-y)": ("b = neg y\n a = add x b", ("b = sub x y", "b")),
    "(-x)·(-y)": ("b = neg x\n c = neg y\n a = mul b c", ("b = mul x y", "b")),
    "|x|·|x|": ("b = abs x\n a = mul b b", ("b = mul x x", "b")),
    "|x|⁴": ("b = abs x\n a = pow b 4.0", ("b = pow x 4.0", "b")),
    "|x|³": ("b = abs x\n a = pow b 3.0", ("b = abs x\n a = pow b 3.0", "a")),
    "min x x": ("a = min x x", "x"),
    "constants": ("b = add 1.0 2.0\n a = mul b 2.0", "6.0"),
    "select p x x": ("p = lt x y\n a = select p x x", "x"),
    "select ¬p": ("p = lt x y\n q = not p\n a = select q x y", ("p = lt x y\n a = select p y x", "a")),
    "repeated": ("b = add x y\n c = add y x\n a = mul b c", ("b = add x y\n a = mul b b", "a")),
}

KEPT = (
    "a = mul x 0.0",
    "a = add x 0.0",
    "a = sub 0.0 x",
    "a = pow x 0.5",
    "a = sub x x",
    "a = div x 3.0",
    "a = floordiv x -1.0",
)


@pytest.mark.parametrize("rule", SCALAR)
def test_scalar_rule(rule: str) -> None:
    before, after = SCALAR[rule]
    lets, result = ("", after) if isinstance(after, str) else after
    head = "fn f(x: f64, y: f64) -> f64 {\n"
    becomes(simplify, f"{head}{before}\n return a\n}}", f"{head}{lets}\n return {result}\n}}")


@pytest.mark.parametrize("statement", KEPT)
def test_what_is_not_exact_stays(statement: str) -> None:
    text = f"fn f(x: f64, y: f64) -> f64 {{\n{statement}\n return a\n}}"
    becomes(simplify, text, text)


SPECIAL = (0.0, -0.0, 1.0, -1.0, 2.5, float("inf"), float("-inf"), float("nan"), 5e-324, 1e308)


@given(st.sampled_from(sorted(SCALAR)), st.sampled_from(SPECIAL), st.sampled_from(SPECIAL))
def test_scalar_rules_are_exact(rule: str, x: float, y: float) -> None:
    fn = parse(f"fn f(x: f64, y: f64) -> f64 {{\n{SCALAR[rule][0]}\n return a\n}}")
    before, after = (run(g, [x, y]).results for g in (fn, simplify(fn, Config())))
    same(before, after)
    assert np.isnan(before[0]) or np.signbit(before[0]) == np.signbit(after[0])


INTEGER = {
    "0·i": ("a = mul i 0", "0"),
    "i - i": ("a = sub i i", "0"),
    "(i + 1) - 1": ("b = add i 1\n a = sub b 1", "i"),
    "(i - k) + k": ("b = sub i k\n a = add b k", "i"),
    "(i + k) - i": ("b = add i k\n a = sub b i", "k"),
    "i mod 1": ("a = mod i 1", "0"),
    "i // -1": ("a = floordiv i -1", ("b = neg i", "b")),
    "(i - k) // -1": ("b = sub i k\n a = floordiv b -1", ("b = sub k i", "b")),
}


@pytest.mark.parametrize("rule", INTEGER)
def test_integer_rule(rule: str) -> None:
    before, after = INTEGER[rule]
    lets, result = ("", after) if isinstance(after, str) else after
    head = "fn f(i: i64, k: i64) -> i64 {\n"
    becomes(simplify, f"{head}{before}\n return a\n}}", f"{head}{lets}\n return {result}\n}}")


ARRAYS = {
    "full": ("a = full [n] 2.0\n r = a[k]", "return 2.0"),
    "literal": ("a = literal [y, 3.0]\n r = a[0]", "return y"),
    "row of row": ("b = x[k]\n r = b[k]", "r = x[k, k]\n return r"),
    "update, read there": ("b = x[k]\n a = update b[k] y\n r = a[k]", "return y"),
    "update, read elsewhere": ("b = x[k]\n a = update b[0] y\n r = a[1]", "r = x[k, 1]\n return r"),
    "copy nest": (
        "a = parfor i < n { b = parfor j < m { v = x[i, j]; yield stack v }; yield stack b }\n r = a[k, k]",
        "r = x[k, k]\n return r",
    ),
    "constant stack": ("a = parfor i < n { yield stack 1.5 }\n r = a[k]", "return 1.5"),
    "true branch": ("r = if true { a = sin y; return a } else { return y }", "r = sin y\n return r"),
    "agreeing branches": ("p = lt y 0.0\n r = if p { return y } else { return y }", "return y"),
    "known condition": (
        "p = lt y 0.0\n r = if p { q = if p { return 1.0 } else { return y }; return q } else { return 2.0 }",
        "p = lt y 0.0\n r = if p { return 1.0 } else { return 2.0 }\n return r",
    ),
    "loop of none": ("r = loop (s = y) for i < 0 { t = sin s; return t }", "return y"),
    "loop of one": ("r = loop (s = y) for i < 1 { t = sin s; return t }", "t = sin y\n return t"),
    "fixed carried value": (
        "q, r = loop (c = y, s = y) for i < n { t = mul s c; return c, t }",
        "r = loop (s = y) for i < n { t = mul s y; return t }\n return r",
    ),
    "equal nests": (
        "a = parfor i < n { v = x[i, 0]; yield reduce add v }\n"
        "b = parfor j < n { u = x[j, 0]; yield reduce add u }\n r = mul a b",
        "a = parfor i < n { v = x[i, 0]; yield reduce add v }\n r = mul a a\n return r",
    ),
    "repeated check": (
        'p = lt y 0.0\n check p assert "no"\n check p assert "no"\n r = sin y',
        'p = lt y 0.0\n check p assert "no"\n r = sin y\n return r',
    ),
}


@pytest.mark.parametrize("rule", ARRAYS)
def test_array_rule(rule: str) -> None:
    before, after = ARRAYS[rule]
    head = "fn f(x: f64[n, m], y: f64, k: i64) -> f64 {\n"
    becomes(simplify, f"{head}{before}\n return r\n}}", f"{head}{after}\n}}")


def test_an_operator_does_not_read_the_iteration() -> None:
    text = """
    fn f(x: f64[n]) -> f64 {
      s = parfor i < n {
        v = x[i]
        c = add 1.0 2.0
        w = mul v c
        yield reduce lambda w by (a) (b) from (0.0) { c = add 1.0 2.0; d = mul a 1.0; e = add d b; return e }
      }
      return s
    }
    """
    fn = parse(text)
    x = np.linspace(0, 1, 5)
    same(run(fn, [x]).results, run(simplify(fn, Config()), [x]).results)


def test_an_accumulator_that_both_branches_pass_on_stays_theirs():
    fn = parse(
        """fn f(h: f64[n], x: f64, c: bool) -> f64[n], f64 {
          y, z = with_sum (s = h) {
            t, v = if c { w = sin x; return s, w } else { u = cos x; return s, u }
            return t, v
          }
          return y, z
        }"""
    )
    check(simplify(fn, Config()))


def test_repeated_yields_whose_size_is_another_one() -> None:
    text = """fn f(x: f64[n]) -> f64[m] {
      s = sub n 1
      m = sub s 1
      a, b = parfor i < m { v = x[i]; w = exp v; yield stack w; yield stack w }
      return b
    }"""
    made = simplify(parse(text), Config())
    check(made)
    same(run(made, [np.arange(5.0)]).results, [np.exp(np.arange(3.0))])


def test_sum_of_nothing_is_its_body() -> None:
    becomes(
        simplify,
        "fn f(x: f64) -> f64 {\n a = with_sum () { b = exp x; return b }\n return a\n}",
        "fn f(x: f64) -> f64 {\n b = exp x\n return b\n}",
    )


@pytest.mark.parametrize(
    ("choice", "result"),
    [("select p q p", "and p q"), ("select p p q", "or p q"), ("select p q false", "and p q")],
)
def test_choice_between_truths(choice: str, result: str) -> None:
    text = "fn f(x: f64, y: f64) -> bool {{\n p = lt x y\n q = lt x 0.0\n a = {}\n return a\n}}"
    becomes(simplify, text.format(choice), text.format(result))


ADDITIONS = {
    "one after the other": ("t = add_to s[i] u; w = add_to t[i] v", "p = add u v; w = add_to s[i] p"),
    "one to another element between": (
        "t = add_to s[i] u; q = add_to t[j] u; w = add_to q[i] v",
        "q = add_to s[j] u; p = add u v; w = add_to q[i] p",
    ),
    "two and two": (
        "t = add_to s[i] u; q = add_to t[j] u; r = add_to q[i] v; w = add_to r[j] v",
        "p = add u v; q = add_to s[i] p; w = add_to q[j] p",
    ),
    "to other elements": ("t = add_to s[i] u; w = add_to t[j] v", "t = add_to s[i] u; w = add_to t[j] v"),
    "checked and not": ("t = add_to s[i]? u; w = add_to t[i] v", "t = add_to s[i]? u; w = add_to t[i] v"),
}


@pytest.mark.parametrize("rule", ADDITIONS)
def test_additions_to_one_element_become_one(rule: str) -> None:
    def text(body: str) -> str:
        return (
            "fn f(x: f64[n], i: i64, j: i64, u: f64, v: f64) -> f64[n] {\n"
            f" y = with_sum (s = x) {{ {body}; return w }}\n return y\n}}"
        )

    before, after = ADDITIONS[rule]
    becomes(simplify, text(before), text(after))
    args = (np.arange(4.0), np.int64(1), np.int64(3), 0.25, 4.0)
    assert np.array_equal(run(parse(text(before)), args).results[0], run(parse(text(after)), args).results[0])


def test_additions_of_a_loop_do_not_take_one_away_that_stands_before_it() -> None:
    text = """fn f(x: f64[n], i: i64, u: f64, v: f64) -> f64[n] {
      y = with_sum (s = x) {
        t = add_to s[i] u
        w = parfor k < n {
          z = add_to t[i] v
          yield carry t z
        }
        return w
      }
      return y
    }"""
    becomes(simplify, text, text)
    (result,) = run(simplify(parse(text), Config()), (np.arange(4.0), np.int64(1), 0.25, 4.0)).results
    assert np.array_equal(result, [0.0, 17.25, 2.0, 3.0])


def test_an_element_that_is_put_back_where_it_was() -> None:
    becomes(
        simplify,
        "fn f(x: f64[n], k: i64) -> f64[n] {\n j = sub n k\n l = sub j 1\n m = add k 1\n p = sub n m\n"
        " v = x[l]\n a = update x[p] v\n return a\n}",
        "fn f(x: f64[n], k: i64) -> f64[n] {\n return x\n}",
    )


def test_a_read_behind_an_update_in_a_branch_stays_a_read_of_what_that_made() -> None:
    text = """fn f(x: f64[n, 2], c: bool, i: i64) -> f64[n, 2] {
      z = parfor j < n { r = x[j]; yield stack r }
      a = update z[0, 0] 1.0
      y = if c {
        b = update a[i, 0] 2.0
        v = b[i, 1]
        w = mul v 3.0
        d = update b[i, 1] w
        return d
      } else {
        v = a[i, 1]
        d = update a[i, 0] v
        return d
      }
      return y
    }"""
    made = show(simplify(parse(text), Config()))
    (updated,) = re.findall(r"(\w+) = update \w+\[i, 0\] 2.0", made)
    assert f" = {updated}[i, 1]" in made


COUNTED = {
    "a counter": (
        "c, r = loop (k = 0, s = y) for i < n { v = x[k, 0]; t = mul s v; d = add k 1; return d, t }",
        "r = loop (s = y) for i < n { v = x[i, 0]; t = mul s v; return t }\n return n, r",
    ),
    "steps of three, downwards": (
        "c, r = loop (k = p, s = y) for i < n { v = to_f64 k; t = mul s v; d = sub k 3; return d, t }",
        "m = mul -3 n\n c = add m p\n"
        " r = loop (s = y) for i < n { m = mul -3 i; k = add m p; v = to_f64 k; t = mul s v; return t }\n"
        " return c, r",
    ),
    "steps of an argument": (
        "c, r = loop (k = 0, s = y) for i < n { v = to_f64 k; t = mul s v; d = add k p; return d, t }",
        "c = mul p n\n r = loop (s = y) for i < n { k = mul p i; v = to_f64 k; t = mul s v; return t }\n"
        " return c, r",
    ),
    "as often as may be never": (
        "c, r = loop (k = 0, s = y) for i < p { v = x[k, 0]; t = mul s v; d = add k 1; return d, t }",
        "c = max p 0\n r = loop (s = y) for i < p { v = x[i, 0]; t = mul s v; return t }\n return c, r",
    ),
    "growing steps": (
        "c, r = loop (k = 0, s = y) for i < n { v = to_f64 k; t = mul s v; d = add k i; return d, t }",
        "h = floordiv n 2\n a = sub n h\n b = mul a 2\n e = add b -1\n c = mul h e\n"
        "r = loop (s = y) for i < n {\n"
        "  h = floordiv i 2; a = sub i h; b = mul a 2; e = add b -1; k = mul h e\n"
        "  v = to_f64 k; t = mul s v; return t }\n return c, r",
    ),
    "a counter of a loop inside": (
        "c, r = loop (k = 0, s = y) for i < n {\n"
        "  d, t = loop (l = k, u = s) for j < m {\n"
        "    v = x[i, j]; w = to_f64 l; q = mul w v; e = add l 1; return e, q }\n"
        "  return d, t }",
        "c = mul m n\n r = loop (s = y) for i < n {\n  k = mul m i\n"
        "  t = loop (u = s) for j < m { l = add j k; v = x[i, j]; w = to_f64 l; q = mul w v; return q }\n"
        "  return t }\n return c, r",
    ),
    "a `while`": (
        "c, r = loop (k = 0, s = y) while { b = lt k n; return b } do {\n"
        "  v = x[k, 0]; t = mul s v; d = add k 1; return d, t }",
    ),
    "steps that change": (
        "c, r = loop (k = 0, s = y) for i < n {\n"
        "  v = x[i, 0]; t = mul s v; l = to_i64 t; d = add k l; return d, t }",
    ),
    "doubled": ("c, r = loop (k = 1, s = y) for i < n { d = add k k; t = mul s y; return d, t }",),
}


@pytest.mark.parametrize("rule", COUNTED)
def test_integers_that_follow_from_the_iteration(rule: str) -> None:
    before, *after = COUNTED[rule]
    head = "fn f(x: f64[n, m], y: f64, p: i64) -> i64, f64 {\n"
    whole = f"{head}{before}\n return c, r\n}}"
    becomes(simplify, whole, f"{head}{after[0]}\n}}" if after else whole)
    for p in (-3, 0, 4):
        args = (np.linspace(0.5, 2.0, 15).reshape(5, 3), 1.5, np.int64(p))
        same(run(parse(whole), args).results, run(simplify(parse(whole), Config()), args).results)


ADDED = st.sampled_from(["1", "-2", "p", "q", "i", "j", "l", "k", "trip", "4611686018427387904"])


@given(
    st.lists(st.tuples(st.sampled_from(["add", "sub"]), ADDED), min_size=1, max_size=4),
    st.lists(st.tuples(st.sampled_from(["add", "sub"]), ADDED), min_size=1, max_size=3),
    st.sampled_from(["p", "i", "t2", "q"]),
    st.integers(-2, 6),
    st.integers(-2, 3),
)
def test_random_counters_are_what_they_were(
    inner: list[tuple[str, str]], outer: list[tuple[str, str]], trip: str, p: int, q: int
) -> None:
    """k and l are moved on in a loop in a loop; a number takes in what they were in each iteration."""

    def moved(name: str, steps: list[tuple[str, str]], known: dict[str, str], tag: str) -> str:
        lines, now = "", name
        for place, (operation, added) in enumerate(steps):
            made = f"{name}{tag}{place}"
            lines += f"  {made} = {operation} {now} {known.get(added, added)}\n"
            now = made
        return lines + f"  {name}{tag} = add {now} 0\n"

    text = (
        "fn f(p: i64, q: i64) -> i64, i64, i64 {\n"
        " kf, lf, sf = loop (k = 1, l = q, s = 3) for i < q {\n"
        "  t1 = sub p i\n  t2 = add t1 1\n"
        f"  kn, sn = loop (k2 = k, s2 = s) for j < {trip} {{\n"
        f"{moved('k2', inner, {'k': 'k2', 'trip': trip}, 'x')}"
        "   s3 = mul s2 31\n   s4 = add s3 k2\n   return k2x, s4 }\n"
        f"{moved('l', outer, {'j': '2', 'trip': 'kn'}, 'y')}"
        "  s5 = mul sn 17\n  s6 = add s5 l\n  s7 = add s6 kn\n  return kn, ly, s7 }\n"
        " return kf, lf, sf\n}"
    )
    made = simplify(simplify(parse(text), Config()), Config())
    check(made)
    args = (np.int64(p), np.int64(q))
    with np.errstate(over="ignore"):
        same(run(parse(text), args).results, run(made, args).results)
