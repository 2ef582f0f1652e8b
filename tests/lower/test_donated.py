"""Arguments that are given away: where results lie, what is allocated, and values that stay the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from anadrome.array_ir.text import parse
from anadrome.config import Config
from anadrome.kernel_ir.nodes import Free
from anadrome.kernel_ir.walk import swapped_buffers
from anadrome.lower.function import lower
from tests.lower.oracle import agree_donated, allocations, statements_of

ONE = Config(threads=1)
N = 100
X, Y = np.linspace(-1.0, 1.0, N), np.cos(np.arange(1.0 * N))
A = np.sin(np.arange(20.0 * 30)).reshape(20, 30)

MAP = "y = parfor i < n { v = x[i]; w = exp v; yield stack w }; return y }"
ROWS = "y = parfor i < n { row = parfor j < m { v = x[i, j]; w = exp v; yield stack w }; yield stack row }"

PROGRAMS: dict[str, tuple[str, tuple[Any, ...], int]] = {
    "a map": (f"fn f(x: f64[n]) -> f64[n] {{ {MAP}", (X,), 0),
    "a map whose argument is read before": (
        "fn f(x: f64[n]) -> f64, f64[n] { s = parfor i < n { v = x[i]; yield reduce add v }; "
        "y = parfor i < n { v = x[i]; w = exp v; yield stack w }; return s, y }",
        (X,),
        0,
    ),
    "a map whose argument is read after": (
        f"fn f(x: f64[n]) -> f64, f64[n] {{ {MAP}".replace(
            "return y",
            "s = parfor i < n { v = x[i]; w = y[i]; u = mul v w; yield reduce add u }; return s, y",
        ),
        (X,),
        1,
    ),
    "a map of two": (
        "fn f(x: f64[n], y: f64[n]) -> f64[n], f64[n] { a, b = parfor i < n { v = x[i]; w = y[i]; "
        "u = add v w; d = sub v w; yield stack u; yield stack d }; return a, b }",
        (X, Y),
        0,
    ),
    "two maps of one": (
        "fn f(x: f64[n]) -> f64[n], f64[n] { a, b = parfor i < n { v = x[i]; u = exp v; w = sin v; "
        "yield stack u; yield stack w }; return a, b }",
        (X,),
        1,
    ),
    "an array between": (
        "fn f(x: f64[n]) -> f64[n] { m = sub n 1; a = parfor i < n { v = x[i]; w = exp v; yield stack w }; "
        "b = parfor i < n { j = sub m i; v = a[j]; yield stack v }; return b }",
        (X,),
        1,
    ),
    "the reverse": (
        "fn f(x: f64[n]) -> f64[n] { m = sub n 1; y = parfor i < n { j = sub m i; v = x[j]; "
        "yield stack v }; return y }",
        (X,),
        1,
    ),
    "a map over rows": (f"fn f(x: f64[n, m]) -> f64[n, m] {{ {ROWS}; return y }}", (A,), 0),
    "rows that their sums divide": (
        "fn f(x: f64[n, m]) -> f64[n, m] { y = parfor i < n { s = parfor k < m { v = x[i, k]; "
        "yield reduce add v }; row = parfor j < m { v = x[i, j]; w = div v s; yield stack w }; "
        "yield stack row }; return y }",
        (A,),
        1,
    ),
    "rows of a row before": (
        "fn f(x: f64[n, m]) -> f64[n, m] { y = parfor i < n { k = max i 1; h = sub k 1; "
        "row = parfor j < m { v = x[h, j]; yield stack v }; yield stack row }; return y }",
        (A,),
        1,
    ),
    "an update": ("fn f(x: f64[n]) -> f64[n] { y = update x[3] 7.0; return y }", (X,), 0),
    "an update of what is read after": (
        "fn f(x: f64[n]) -> f64, f64[n] { y = update x[3] 7.0; v = x[3]; return v, y }",
        (X,),
        1,
    ),
    "the argument and an update of it": (
        "fn f(x: f64[n]) -> f64[n], f64[n] { y = update x[3] 7.0; return x, y }",
        (X,),
        1,
    ),
    "the argument twice": ("fn f(x: f64[n]) -> f64[n], f64[n] { y = update x[3] 7.0; return y, y }", (X,), 1),
    "two that change places": ("fn f(x: f64[n], y: f64[n]) -> f64[n], f64[n] { return y, x }", (X, Y), 0),
    "a histogram": (
        "fn f(x: f64[n], y: f64[n]) -> f64[n] { z = parfor i < n { v = y[i]; j = sub n 1; g = sub j i; "
        "yield accumulate add x[g] v }; return z }",
        (X, Y),
        0,
    ),
    "two buffers in turn": (
        "fn f(x: f64[n], k: i64) -> f64[n] { m = sub n 1; y = loop (c = x) for t < k { "
        "d = parfor i < n { j = sub m i; v = c[j]; w = mul v 0.5; yield stack w }; return d }; return y }",
        (X, 3),
        1,
    ),
    "two buffers in turn while it lasts": (
        "fn f(x: f64[n]) -> f64[n] { m = sub n 1; y = loop (c = x) while { v = c[0]; w = abs v; "
        "p = gt w 0.1; return p } do { d = parfor i < n { j = sub m i; v = c[j]; w = mul v 0.5; "
        "yield stack w }; return d }; return y }",
        (X,),
        1,
    ),
    "a reshape": (
        "fn f(x: f64[20, 30]) -> f64[600] { y = reshape x [600]; z = update y[3] 7.0; return z }",
        (A,),
        0,
    ),
    "a row": ("fn f(x: f64[n, m]) -> f64[m] { y = x[0]; return y }", (A,), 0),
    "another row": ("fn f(x: f64[n, m]) -> f64[m] { y = x[3]; return y }", (A,), 1),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_allocated(name: str) -> None:
    text, args, count = PROGRAMS[name]
    fn = parse(text)
    agree_donated(fn, *args)
    kernel = lower(fn, ONE, range(len(fn.params)))
    assert allocations(kernel) == count
    assert not any(stmt.buffer in kernel.params for stmt in statements_of(kernel, Free))


def test_who_is_not_needed_is_only_read() -> None:
    fn = parse(
        "fn f(x: f64[n], y: f64[n]) -> f64 { s = parfor i < n { v = x[i]; yield reduce add v }; return s }"
    )
    assert lower(fn, ONE, (0, 1)).donated == ()
    assert lower(parse(PROGRAMS["an update"][0]), ONE).donated == ()


# ---------------------------------------------------------------------------- generated
class Writer:
    """The text of a random program over arrays of one size: maps, reverses, updates, stencils in place, loops
    that carry several arrays, branches. Values stay as large as they are, and products are exact, so that no
    order of operations and no fused one is another result."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.draw = draw
        self.count = 0

    def name(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def one(self, names: list[str]) -> str:
        return self.draw(st.sampled_from(names))

    def statements(self, arrays: list[str], size: int, depth: int) -> Iterator[str]:
        """Statements, whose results are added to the arrays."""
        for _ in range(size):
            yield self.statement(arrays, depth)

    def statement(self, arrays: list[str], depth: int) -> str:
        kinds = ["map", "two", "reverse", "update", "stencil", "row"] + ["loop", "branch", "loop"] * (
            depth > 0
        )
        x, y = self.one(arrays), self.one(arrays)
        target, i, u, v, w = map(self.name, "aiuvw")
        match self.draw(st.sampled_from(kinds)):
            case "map":
                body = (
                    f"{v} = {x}[{i}]; {u} = {y}[{i}]; {w} = sub {v} {u}; {u}h = mul {w} 0.5; yield stack {u}h"
                )
                text = f"{target} = parfor {i} < n {{ {body} }}"
            case "two":
                body = f"{v} = {x}[{i}]; {w} = {y}[{i}]; {u} = min {v} {w}; {u}h = max {v} {w}; "
                text = f"{target}, {target}h = parfor {i} < n {{ {body}yield stack {u}; yield stack {u}h }}"
                arrays.append(f"{target}h")
            case "reverse":
                body = f"{u} = sub last {i}; {v} = {x}[{u}]; yield stack {v}"
                text = f"{target} = parfor {i} < n {{ {body} }}"
            case "update":
                place = self.draw(st.integers(0, 9))
                text = f"{v} = {y}[{place}]; {target} = update {x}[{9 - place}] {v}"
            case "stencil":
                body = f"{u} = add {i} 1; {v} = {x}[{i}]; {w} = {y}[{u}]; "
                body += f"{w}h = mul {w} 0.5; {v}h = mul {v} 0.5; "
                body += f"{w}s = add {v}h {w}h; yield scatter {x}[{u}] {w}s"
                text = f"{target} = parfor {i} < last {{ {body} }}"
            case "row":
                body = f"{w} = {y}[{i}]; {u} = min {v} {w}; yield stack {u}"
                text = f"{v} = {x}[4]; {target} = parfor {i} < n {{ {body} }}"
            case "loop":
                return self.loop(arrays, depth)
            case _:
                sides = [self.body(arrays, [], 2, depth - 1, 1) for _ in range(2)]
                choice = f"{v} = {x}[1]; {w} = gt {v} 0.0"
                text = f"{choice}; {target} = if {w} {{ {sides[0]} }} else {{ {sides[1]} }}"
        arrays.append(target)
        return text

    def body(self, arrays: list[str], own: list[str], size: int, depth: int, results: int) -> str:
        inner = [*arrays, *own, *own]
        texts = list(self.statements(inner, self.draw(st.integers(0, size)), depth))
        recent = inner[len(arrays) :] or arrays
        given = ", ".join(self.one(recent) for _ in range(results))
        return "; ".join([*texts, f"return {given}"])

    def loop(self, arrays: list[str], depth: int) -> str:
        count = self.draw(st.integers(1, 3))
        carried = [self.name("c") for _ in range(count)]
        starts = ", ".join(f"{one} = {self.one(arrays)}" for one in carried)
        targets = [self.name("l") for _ in range(count)]
        body = self.body(arrays, carried, 3, depth - 1, count)
        trip = self.draw(st.sampled_from(["k", "3", "2", "1", "0"]))
        arrays += targets
        return f"{', '.join(targets)} = loop ({starts}) for {self.name('t')} < {trip} {{ {body} }}"


@st.composite
def texts(draw: Callable[[st.SearchStrategy[Any]], Any]) -> str:
    """The text of a program of three arrays and a count."""
    writer = Writer(draw)
    arrays = ["x", "y", "z"]
    body = "; ".join(["last = sub n 1", *writer.statements(arrays, draw(st.integers(1, 6)), 2)])
    given = [writer.one(arrays) for _ in range(draw(st.integers(1, 4)))]
    types = ", ".join(["f64[n]"] * len(given))
    return f"fn f(x: f64[n], y: f64[n], z: f64[n], k: i64) -> {types} {{ {body}; return {', '.join(given)} }}"


def holds(text: str, trip: int) -> None:
    """A generated program gives the same bits with and without its arguments."""
    note(text)
    random = np.random.default_rng(len(text))
    agree_donated(text, *(random.uniform(-1.0, 1.0, N) for _ in range(3)), trip, config=ONE, is_exact=True)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=texts(), trip=st.integers(0, 4))
def test_generated_programs(text: str, trip: int) -> None:
    holds(text, trip)


@pytest.mark.fuzz
@settings(max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=texts(), trip=st.integers(0, 4))
def test_many_generated_programs(text: str, trip: int) -> None:
    holds(text, trip)


def test_generated_programs_exchange_what_they_are_given() -> None:
    swapped: list[str] = []

    @settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(text=texts())
    def collect(text: str) -> None:
        kernel = lower(parse(text), ONE, range(4))
        swapped.extend([text] * bool(swapped_buffers(kernel) & set(kernel.donated)))

    collect()
    assert len(swapped) > 3
