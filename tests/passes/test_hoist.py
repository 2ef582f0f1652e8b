"""Text in, text out: what leaves a loop and what does not."""

from __future__ import annotations

import pytest
from oracle import becomes

from anadrome.passes.hoist import hoist

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
