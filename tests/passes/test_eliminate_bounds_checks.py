"""Which checks are proved, and which are not."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from oracle import becomes

from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.check import check
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import ArrayType, Atom, Bounds, Function, Part, Reduce, Var, i64
from anadrome.array_ir.text import parse, show
from anadrome.config import Config
from anadrome.dtypes import F64, I64
from anadrome.passes.eliminate_bounds_checks import eliminate_bounds_checks
from tests.printing import quoted

PROVED = {
    "own loop": "s = parfor i < n { v = x[i]?; yield reduce add v }",
    "own loop, first element": "s = parfor i < n { v = x[0]?; yield reduce add v }",
    "reversed": "e = sub n 1\n s = parfor i < n { k = sub e i; v = x[k]?; yield reduce add v }",
    "neighbour": "e = sub n 1\n s = parfor i < e { k = add i 1; v = x[k]?; yield reduce add v }",
    "inner loop": "s = parfor i < n { t = parfor j < i { v = x[j]?; yield reduce add v }; "
    "yield reduce add t }",
    "guard": "c = ge k 0\n d = lt k n\n e = and c d\n s = if e { v = x[k]?; return v } else { return 0.0 }",
    "check": 'c = eq n m\n check c size "sizes"\n s = parfor i < n { v = y[i]?; yield reduce add v }',
    "remainder": "s = parfor i < n { k = mod i n; v = x[k]?; yield reduce add v }",
    "quotient": "s = parfor i < n { k = floordiv i 2; v = x[k]?; yield reduce add v }",
    "flat": (
        "l = mul n m\n a = parfor i < l { yield stack 1.0 }\n"
        "s = parfor i < n { b = mul i m; t = parfor j < m { k = add b j; v = a[k]?; yield reduce add v }\n"
        " yield reduce add t }"
    ),
    "counter": (
        "c, s = loop (i = 0, t = 0.0) while { c = lt i n; return c } do {"
        " v = x[i]?; w = add t v; j = add i 1; return j, w }"
    ),
    "least": "e = min n m\n s = parfor i < e { v = x[i]?; w = y[i]?; u = mul v w; yield reduce add u }",
}

NOT_PROVED = {
    "data": "s = x[k]?",
    "other size, in a branch": (
        "s = parfor i < n { c = lt k i; v = if c { u = y[i]?; return u } else { return 0.0 }\n"
        " yield reduce add v }"
    ),
    "other size, after an assertion": (
        's = parfor i < n { u = x[i]; c = gt u 0.0\n check c assert "no"\n v = y[i]?\n yield reduce add v }'
    ),
    "check inside a loop": (
        's = parfor i < n { c = lt k n; d = ge k 0\n check c assert "no"\n check d assert "no"\n v = x[k]?\n'
        " yield reduce add v }"
    ),
    "no element": "s = x[0]?",
    "carried from iteration to iteration": (
        "j, s = loop (c = k, t = 0.0) for i < n { v = y[c]?; w = add t v; e = sub c i; return e, w }"
    ),
}

LIFTED = {
    "other size": (
        "s = parfor i < n { v = y[i]?; yield reduce add v }",
        'c = le n m\n check c index "{words}" m m',
    ),
    "other size, in a loop": (
        "s = loop (t = 0.0) for i < n { v = y[i]?; w = add t v; return w }",
        'c = le n m\n check c index "{words}" m m',
    ),
    "too far": (
        "s = parfor i < n { k = add i 1; v = x[k]?; yield reduce add v }",
        'a = le 2 n\n b = le n 0\n c = or b a\n check c index "{words}" 1 n\n d = le n 0\n e = or d false\n'
        ' check e index "{words}" n n',
    ),
    "below": (
        "s = parfor i < n { j = sub i 1; v = x[j]?; yield reduce add v }",
        'b = le n 0\n c = or b false\n check c index "{words}" -1 n',
    ),
    "triangle": (
        "s = parfor i < n { e = add i 1; t = parfor j < e { v = y[j]?; yield reduce add v }\n"
        " yield reduce add t }",
        'c = le n m\n check c index "{words}" m m',
    ),
    "what changes with no loop": (
        "s = parfor i < n { v = y[k]?; yield reduce add v }",
        'b = le 0 k\n d = le n 0\n c = or d b\n check c index "{words}" k m\n'
        ' g = add k 1\n b = le g m\n d = le n 0\n c = or d b\n check c index "{words}" k m',
    ),
}
WORDS = "index {0} is out of range for a dimension of size {1}"

HEAD = "fn f(x: f64[n], y: f64[m], k: i64) -> f64 {\n"


BISECTION = (
    "e = sub n 1\n"
    " l, h = loop (low = 0, high = e) while {{ d = sub high low; c = gt d {least}; return c }} do {{\n"
    " t = add low high; q = floordiv t 2; v = x[q]?; p = gt v {limit}\n"
    " a = select p low {next}; b = select p {last} high; return a, b }}\n s = to_f64 l"
)
PROVED["a search by halves"] = BISECTION.format(least=1, limit=0.5, next="q", last="q")
NOT_PROVED["a search that goes on where nothing is left"] = BISECTION.format(
    least=-5, limit=0.5, next="q", last="q"
)
NOT_PROVED["a search that steps too far"] = BISECTION.format(least=1, limit=0.5, next="q", last="t")


@pytest.mark.parametrize("rule", PROVED)
def test_proved(rule: str) -> None:
    text = f"{HEAD}{PROVED[rule]}\n return s\n}}"
    becomes(eliminate_bounds_checks, text, text.replace("]?", "]"))


@pytest.mark.parametrize("rule", NOT_PROVED)
def test_not_proved(rule: str) -> None:
    text = f"{HEAD}{NOT_PROVED[rule]}\n return s\n}}"
    becomes(eliminate_bounds_checks, text, text)


def test_negative_indices() -> None:
    head = "fn f(x: f64[n]) -> f64 {\n s = parfor i < n {\n"
    before = (
        "k = sub i n\n c = lt k 0\n d = add k n\n e = select c d k\n v = x[e]?\n"
        " yield reduce add v }\n return s\n}"
    )
    after = "k = sub i n\n d = add k n\n v = x[d]\n yield reduce add v }\n return s\n}"
    becomes(eliminate_bounds_checks, head + before, head + after)


def test_clamps() -> None:
    head = "fn f(x: f64[n]) -> f64 {\n h = sub n 1\n s = parfor i < n {\n"
    before = "a = min i h\n b = max a 0\n v = x[b]\n yield reduce add v }\n return s\n}"
    after = "v = x[i]\n yield reduce add v }\n return s\n}"
    becomes(eliminate_bounds_checks, head + before, head + after)


@pytest.mark.parametrize("rule", LIFTED)
def test_lifted(rule: str) -> None:
    body, checks = LIFTED[rule]
    before = f"{HEAD}{body}\n return s\n}}"
    after = f"{HEAD}{checks.replace('{words}', WORDS)}\n {body.replace(']?', ']')}\n return s\n}}"
    becomes(eliminate_bounds_checks, before, after)


def test_a_lifted_check_names_nothing_that_the_loop_computes() -> None:
    """The loop is looked ahead of for its carried integer; its minimum, then, is found to be its index."""
    count = "l = add n -1; p = lt 6 l; g = select p 6 l; h = max g 0"
    clamps = (("b = min i n; e = sub n b", "?"), ("e = sub n i", ""))
    before, after = (
        f"{HEAD}{count}; j, s = loop (c = 0, t = 0.0) for i < h {{ {clamp}; a = full [e] 1.0; "
        f"v = a[0]{mark}; d = add c e; w = add t v; return d, w }}\n return s\n}}"
        for clamp, mark in clamps
    )
    becomes(eliminate_bounds_checks, before, after)


def test_what_holds_after_a_loop_is_known_behind_it() -> None:
    search = (
        BISECTION.format(least=1, limit=0.5, next="q", last="q")
        .replace("]?", "]")
        .removesuffix("\n s = to_f64 l")
    )
    before = f"{HEAD}{search}\n r = lt l 0\n s = select r 1.0 2.0\n return s\n}}"
    becomes(eliminate_bounds_checks, before, f"{HEAD}{search}\n return 2.0\n}}")


def test_a_check_in_a_loop_that_prints_is_not_lifted() -> None:
    body = f"print {quoted('x')}; v = x[i]?; t = add s v; return t"
    text = f"fn f(x: f64[n], m: i64) -> f64 {{\nr = loop (s = 0.0) for i < m {{ {body} }}\nreturn r\n}}"
    becomes(eliminate_bounds_checks, text, text)


def test_lifted_check_is_known_where_its_loops_run() -> None:
    inner = "t = parfor j < k { u = y[i]?; v = x[j]?; w = mul u v; yield reduce add w }"
    loops = f"parfor i < n {{ {inner}\n yield reduce add t }}"
    made = eliminate_bounds_checks(
        parse(f"{HEAD}r = {loops}\n s = {loops}\n q = add r s\n return q\n}}"), Config()
    )
    assert "?" not in show(made) and show(made).count("check") == 2, show(made)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 7])
@pytest.mark.parametrize("count", [0, 1, 4])
@pytest.mark.parametrize(
    "body",
    [
        "e = add i 1; t = parfor j < e { v = y[j]?; yield reduce add v }",
        "e = add i 1; t = y[e]?",
        "e = add i 2; t = y[e]?",
    ],
)
def test_lifted_check_fails_as_the_loop_did(size: int, count: int, body: str) -> None:
    fn = parse(f"{HEAD}s = parfor i < n {{ {body}\n yield reduce add t }}\n return s\n}}")
    args = [np.ones(count), np.ones(size), np.int64(0)]
    outcomes = []
    for program in (fn, eliminate_bounds_checks(fn, Config())):
        try:
            outcomes.append(run(program, args).results)
        except IndexError as error:
            outcomes.append(tuple(re.findall(r"\d+", str(error).splitlines()[0])[:1]))
    assert outcomes[0] == outcomes[1]


# ---------------------------------------------------------------------------- reads drawn at random
INTEGER = ArrayType(I64)


@st.composite
def reading_nests(draw: Any) -> tuple[Function, list[Any]]:
    """A nest of loops that reads at checked affine places, many of them outside."""
    n, m = Var("n", INTEGER), Var("m", INTEGER)
    params = (Var("x", ArrayType(F64, (n,))), Var("y", ArrayType(F64, (m,))), Var("k", INTEGER))
    builder = Builder()
    builder.bind(n, m, *params)

    def affine(inner: Builder, indices: tuple[Var, ...]) -> Atom:
        total: Atom = draw(st.sampled_from((i64(0), i64(0), i64(1), i64(-1), params[2])))
        for index in draw(st.lists(st.sampled_from(indices), max_size=2, unique=True)) if indices else ():
            total = inner.apply(draw(st.sampled_from(("add", "add", "sub"))), total, index)
        return total

    def extent(inner: Builder, indices: tuple[Var, ...]) -> Atom:
        found: Atom = draw(st.sampled_from((n, m, i64(3))))
        if indices and draw(st.booleans()):
            bound = inner.apply("add", indices[-1], i64(draw(st.integers(0, 2))))
            found = inner.apply("min", found, bound)
            if draw(st.booleans()):
                low = inner.apply("max", inner.apply("sub", indices[-1], i64(1)), i64(0))
                found = inner.apply("max", inner.apply("sub", found, low), i64(0))
        return found

    def level(inner: Builder, indices: tuple[Var, ...], depth: int) -> Atom:
        total: Atom = number(1.0, F64)
        for array in draw(st.lists(st.sampled_from(params[:2]), max_size=2)):
            total = inner.apply("mul", total, inner.index(array, (affine(inner, indices),), Bounds.CHECKED))
        if depth:
            size = extent(inner, indices)

            def body(deeper: Builder, index: Var) -> list[Part]:
                return [Reduce.of("add", (level(deeper, (*indices, index), depth - 1),))]

            total = inner.apply("add", total, inner.parfor(size, body)[0])
        return total

    first, second = (level(builder, (), draw(st.integers(1, 3))) for _ in range(2))
    fn = Function("f", params, builder.body((first, second)))
    note(show(fn))
    sizes = draw(st.integers(0, 5)), draw(st.integers(0, 5))
    return fn, [*(np.arange(1.0, size + 1) for size in sizes), np.int64(draw(st.integers(-1, 3)))]


def outcome(fn: Function, args: list[Any]) -> Any:
    try:
        return run(fn, args).results
    except IndexError:
        return "an index is outside"


def fails_alike(fn: Function, args: list[Any]) -> None:
    made = eliminate_bounds_checks(fn, Config())
    check(made)
    assert outcome(made, args) == outcome(fn, args), show(made)


@given(st.data())
def test_reads_fail_alike(data: st.DataObject) -> None:
    fails_alike(*data.draw(reading_nests()))


@pytest.mark.fuzz
@settings(max_examples=1500)
@given(st.data())
def test_many_reads_fail_alike(data: st.DataObject) -> None:
    fails_alike(*data.draw(reading_nests()))
