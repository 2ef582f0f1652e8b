"""Text in, text out: what leaves a loop and what does not."""

from __future__ import annotations

from typing import Any

import pytest
from documented import example
from hypothesis import given
from oracle import becomes, same

from anadrome.array_ir.check import check
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import Function
from anadrome.config import Config
from anadrome.passes.hoist import hoist
from anadrome.passes.hoist_sums import hoist_sums
from tests.printing import quoted
from tests.programs import programs

STAYS = {
    "a branch": "r = if c { w = exp z; return w } else { return z }",
    "a read that only the loop makes right": "r = parfor i < n { v = y[0]; yield reduce add v }",
    "a checked read": "r = parfor i < n { v = y[k]?; yield reduce add v }",
    "an array to be changed": "r = parfor i < n { a = full [3] 0.0; b = update a[0] z; v = b[1]; "
    "yield reduce add v }",
}


@pytest.mark.parametrize("rule", STAYS)
def test_stays(rule: str) -> None:
    text = f"fn f(y: f64[n], z: f64, k: i64, c: bool) -> f64 {{\n{STAYS[rule]}\n return r\n}}"
    becomes(hoist, text, text)


def test_leaves_a_loop_that_surely_runs() -> None:
    head = "fn f(y: f64[n], k: i64) -> f64 {\n"
    before = "r = parfor i < 3 { v = y[k]?; yield reduce add v }\n return r\n}"
    after = "v = y[k]?\n r = parfor i < 3 { yield reduce add v }\n return r\n}"
    becomes(hoist, head + before, head + after)


def test_stops_at_the_loop_it_depends_on() -> None:
    head = "fn f(y: f64[n], m: i64) -> f64 {\n"
    before = (
        "r = parfor i < n {\n"
        " s = loop (t = 0.0) for j < m { v = y[i]; w = exp v; u = add t w; return u }\n"
        " yield reduce add s\n}\n return r\n}"
    )
    after = (
        "r = parfor i < n {\n v = y[i]\n w = exp v\n"
        " s = loop (t = 0.0) for j < m { u = add t w; return u }\n"
        " yield reduce add s\n}\n return r\n}"
    )
    becomes(hoist, head + before, head + after)


def test_scalars_stay_before_differentiation() -> None:
    text = (
        "fn f(y: f64[n], z: f64) -> f64 {\n"
        "r = parfor i < n { v = mul z z; u = y[i]; w = mul u v; yield reduce add w }\n return r\n}"
    )
    becomes(hoist_sums, text, text)


SUM = "s = parfor j < n { v = y[j]; yield reduce add v }"
SUM_LEAVES = {
    "a mean": (
        f"r = loop (t = z) for i < k {{ {SUM}; l = to_f64 n; q = div s l; u = mul t q; return u }}",
        f"{SUM}\n l = to_f64 n\n q = div s l\n r = loop (t = z) for i < k {{ u = mul t q; return u }}",
    ),
    "a logarithm of a sum": (
        "r = loop (t = z) for i < k { s = parfor j < n { v = y[j]; w = exp v; yield reduce add w }\n"
        " l = log s; u = sub t l\n return u }",
        "s = parfor j < n { v = y[j]; w = exp v; yield reduce add w }\n l = log s\n"
        " r = loop (t = z) for i < k { u = sub t l; return u }",
    ),
    "what a checkpoint reads": (
        f"r = loop (t = z) for i < k {{ {SUM}; u = custom () {{ b = mul t s; return b }}; return u }}",
        f"{SUM}\n r = loop (t = z) for i < k {{ u = custom () {{ b = mul t s; return b }}; return u }}",
    ),
}


@pytest.mark.parametrize("rule", SUM_LEAVES)
def test_sums_leave(rule: str) -> None:
    before, after = SUM_LEAVES[rule]
    head = "fn f(y: f64[n], z: f64, k: i64) -> f64 {\n"
    becomes(hoist_sums, f"{head}{before}\n return r\n}}", f"{head}{after}\n return r\n}}")


LOOP = "s = loop (t = 1.0) for j < m {{ {0}; return u }}"
SEARCH = "s = loop (t = 1.0) while {{ {0}; c = lt t v; return c }} do {{ {1}; return u }}"
READ_LEAVES = {
    "a loop": (LOOP.format("v = y[i]; u = mul t v"), "v = y[i]", LOOP.format("u = mul t v")),
    "a function of it": (
        LOOP.format("v = y[i]; w = exp v; u = mul t w"),
        "v = y[i]; w = exp v",
        LOOP.format("u = mul t w"),
    ),
    "what is made of two, in a loop that runs": (
        LOOP.format("v = y[i]; w = x[j]; p = mul v v; q = mul p v; u = mul q w").replace("< m", "< 8"),
        "v = y[i]; p = mul v v; q = mul p v",
        LOOP.format("w = x[j]; u = mul q w").replace("< m", "< 8"),
    ),
    "a product, in a loop that may not run": (
        LOOP.format("v = y[i]; p = mul v v; u = mul t p"),
        "v = y[i]; c = gt m 0; g = select c v 0.0; p = mul g g",
        LOOP.format("u = mul t p"),
    ),
    "a search": (
        SEARCH.format("v = y[i]", "w = y[i]; u = add t w"),
        "v = y[i]; w = y[i]",
        "s = loop (t = 1.0) while { c = lt t v; return c } do { u = add t w; return u }",
    ),
    "loops in a loop": (
        LOOP.format("r = loop (a = t) for k < m { v = y[i]; b = mul a v; return b }; u = add t r"),
        "v = y[i]",
        LOOP.format("r = loop (a = t) for k < m { b = mul a v; return b }; u = add t r"),
    ),
}


@pytest.mark.parametrize("rule", READ_LEAVES)
def test_an_element_is_read_in_front_of_a_loop(rule: str) -> None:
    before, read, after = READ_LEAVES[rule]
    head = "fn f(y: f64[n], x: f64[l], m: i64) -> f64[n] {\n"
    text = "r = parfor i < n {{ {0}; yield stack s }}\n return r\n}}"
    becomes(hoist_sums, head + text.format(before), head + text.format(f"{read}; {after}"))


OWN = "v = x[j]; u = mul t v"
READ_STAYS = {
    "in a parfor": "s = parfor j < 8 { v = y[i]; w = exp v; yield reduce add w }",
    "an element of each iteration": f"q = to_f64 i; {LOOP.format(OWN).replace('1.0', 'q')}",
    "a whole number": LOOP.format("v = k[i]; w = to_f64 v; u = mul t w"),
    "a row": LOOP.format("a = z[i]; v = a[0]; u = mul t v"),
    "in a branch": LOOP.format("c = gt t 2.0; u = if c { v = y[i]; return v } else { return t }"),
    "what may be outside": LOOP.format("v = y[0]; w = exp v; u = mul t w"),
}


@pytest.mark.parametrize("rule", READ_STAYS)
def test_an_element_is_read_where_it_was(rule: str) -> None:
    head = "fn f(y: f64[n], x: f64[m], k: i64[n], z: f64[n, 2]) -> f64[n] {\n"
    text = f"{head}r = parfor i < n {{ {READ_STAYS[rule]}; yield stack s }}\n return r\n}}"
    becomes(hoist_sums, text, text)


@pytest.mark.interpreted
def test_sums_docstring() -> None:
    assert hoist_sums.__doc__ is not None
    becomes(hoist_sums, *example(hoist_sums.__doc__))


@given(case=programs(statements=6, depth=3))
def test_sums_keep_the_program(case: tuple[Function, list[Any]]) -> None:
    fn, args = case
    made = hoist_sums(fn, Config())
    check(made)
    same(run(fn, args).results, run(made, args).results)


SAY = f"print {quoted('x')}"


def test_a_loop_that_prints_stays() -> None:
    text = f"fn f(n: i64) -> () {{\nloop () for i < 3 {{ loop () for j < n {{ {SAY} }} }}\n}}"
    becomes(hoist, text, text)


def test_a_check_stays_behind_what_is_printed() -> None:
    text = f"fn f(y: f64[n], k: i64) -> () {{\nloop () for i < 3 {{ {SAY}; v = y[k]? }}\n}}"
    becomes(hoist, text, text)
