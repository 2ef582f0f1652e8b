"""Loops that look for something: which ones, where they end, and that they find the same."""

from __future__ import annotations

import numpy as np
import pytest
from launching import config, scheduled
from test_innermost import agree, arguments, program

from anadrome.kernel_ir.affine import bindings_of
from anadrome.kernel_ir.check import check
from anadrome.kernel_ir.interp import run
from anadrome.kernel_ir.nodes import For
from anadrome.kernel_ir.text import parse, show
from anadrome.kernel_ir.walk import statements
from anadrome.prims.node import replace
from anadrome.schedule import search
from anadrome.schedule.innermost import Strips, strips_of
from anadrome.schedule.search import BLOCK, by_blocks, search_of
from anadrome.targets.cpu import compile_cpu
from tests.passes.documented import example

HIT = "let p: bool = gt(x[i], 0.9)"
PLACES = {
    "the index or the end": f"{HIT} let v: i64 = select(p, i, n) c[0] = min~(c[0], v)",
    "the end or the index": f"{HIT} let v: i64 = select(p, n, i) c[0] = min~(c[0], v)",
    "a number above all": f"{HIT} let v: i64 = select(p, i, 9223372036854775807) c[0] = min~(c[0], v)",
    "a number below the end": f"{HIT} let v: i64 = select(p, i, 6) c[0] = min~(c[0], v)",
    "a number below all": f"{HIT} let v: i64 = select(p, i, -3) c[0] = min~(c[0], v)",
    "the other way round": f"{HIT} let v: i64 = select(p, i, n) c[0] = min~(v, c[0])",
}
"""Bodies that look for a place."""
LEFT = {
    "the last place": f"{HIT} let v: i64 = select(p, i, -1) c[0] = max~(c[0], v)",
    "another number": f"{HIT} let q: i64 = mul(i, 2) let v: i64 = select(p, q, n) c[0] = min~(c[0], v)",
    "two numbers of which none is the index": f"{HIT} let v: i64 = select(p, n, 3) c[0] = min~(c[0], v)",
    "what changes from one to the next": f"{HIT} let v: i64 = select(p, i, k[i]) c[0] = min~(c[0], v)",
    "the least number": "let v: f64 = x[i] s[0] = min~(s[0], v)",
    "something beside it": f"{HIT} let v: i64 = select(p, i, n) c[0] = min~(c[0], v) out[i] = x[i]",
    "two at once": f"""{HIT} let v: i64 = select(p, i, n) c[0] = min~(c[0], v)
        s[0] = add~(s[0], x[i])""",
    "with a check": f"{HIT} check 0: true, i, n let v: i64 = select(p, i, n) c[0] = min~(c[0], v)",
}
"""Bodies that do not, or do something else beside."""


def is_search(text: str) -> bool:
    loops = [stmt for stmt in statements(scheduled(text, vector_bits=512).body) if isinstance(stmt, For)]
    return any(loop.index.name == "block" for loop in loops)


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("place", [None, 0, 1, 2, 3, 5, 6, 7, 30, 99])
def test_the_first_place(name: str, place: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "BLOCK", 3)
    text = program(PLACES[name]).replace("c[0] = 7", "c[0] = 9223372036854775807")
    assert is_search(text)
    x, k, _ = arguments(100)
    x = np.minimum(x, 0.5)
    if place is not None:
        x[[place, min(place + 20, 99)]] = 1.0
    for length in (0, 1, 2, 3, 4, 7, 100):
        agree(text, 512, x, k, length)


@pytest.mark.parametrize("start", [-5, 0, 3, 7, 40])
@pytest.mark.parametrize("bounds", ["2 .. n", "3 .. sub(n, 2)", "sub(n, n) .. n", "0 .. 90"])
def test_bounds_and_what_was_found_before(bounds: str, start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "BLOCK", 5)
    x, k, n = arguments(100)
    for name in PLACES:
        text = program(PLACES[name], bounds).replace("c[0] = 7", f"c[0] = {start}")
        assert is_search(text)
        for first in (0, 2, 9, 33, 80):
            agree(text, 512, np.where(np.arange(200) < first, 0.0, x), k, n)


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_as_it_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "BLOCK", 3)
    text = program(LEFT[name])
    assert not is_search(text)
    agree(text, 512, *arguments(67))


def test_bounds_that_are_read_from_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "BLOCK", 3)
    for bounds in ("c[0] .. n", "0 .. c[0]"):
        text = program(PLACES["a number above all"], bounds)
        assert not is_search(text)
        agree(text, 512, *arguments(67))


@pytest.mark.parametrize("operator", ["or", "and"])
@pytest.mark.parametrize("start", ["true", "false"])
def test_whether_anything_is(operator: str, start: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "BLOCK", 3)
    text = f"""fn f(x: f64 buffer, n: i64) {{
      alloc a: bool local [1]
      a[0] = {start}
      for i in 0 .. n sequential {{ let p: bool = gt(x[i], 0.5) a[0] = {operator}~(a[0], p) }}
      return a[0] as bool
    }}"""
    assert is_search(text)
    for length in (0, 1, 2, 3, 4, 9, 10):
        for ones in ((), (0,), (4,), (8, 9), range(10)):
            x = np.zeros(10)
            x[list(ones)] = 1.0
            agree(text, 512, x, length)


def test_nothing_is_read_behind_the_block_of_the_place() -> None:
    """A number that is none there would be found, were it looked at."""
    text = """fn f(x: f64 buffer, n: i64) {
      alloc a: bool local [1]
      a[0] = false
      for i in 0 .. n sequential { let p: bool = gt(x[i], 0.5) a[0] = or~(a[0], p) }
      return a[0] as bool
    }"""
    fn = scheduled(text, vector_bits=512)
    x = np.zeros(3 * BLOCK)
    x[BLOCK + 1] = 1.0
    short = x[: 2 * BLOCK]  # the third block is outside of this array: the interpreter would say so
    assert run(fn, [short, 3 * BLOCK]) == run(parse(text), [x, 3 * BLOCK])
    (found,) = compile_cpu(fn, config(1))([x, 3 * BLOCK])
    assert found


def test_few_iterations_are_not_parted() -> None:
    assert not is_search(program(PLACES["a number above all"], f"0 .. {BLOCK}"))
    assert is_search(program(PLACES["a number above all"], f"0 .. {BLOCK + 1}"))


def test_docstring() -> None:
    docstring = search.__doc__
    assert docstring is not None
    before, after = map(parse, example(docstring))
    check(before)
    bindings = bindings_of(before.body, before.sizes)
    (loop,) = (stmt for stmt in before.body if isinstance(stmt, For))
    inside = strips_of(loop, bindings, 256)
    assert isinstance(inside, Strips)
    way = search_of(loop, inside, bindings)
    assert way is not None
    made = replace(before, body=tuple(by_blocks(one, way) if one is loop else one for one in before.body))
    check(made)
    assert show(made) == show(after)
