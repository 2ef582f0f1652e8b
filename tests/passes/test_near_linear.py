"""Each stage of a compilation takes near linear work: families of programs at three sizes, steps counted.

A step is a call, a line or a return of Python while a stage runs, so that loops are counted as well as calls,
and no clock is asked. What C does at once (the union of two sets, the copy of a dictionary, a search in a
list) is part of one step, however long it takes.

Of counts c at the sizes n, 2n and 4n the growth is (c₄ - c₂) / (c₂ - c₁), in which what does not depend on
the size drops out: 2 for linear work, 4 for quadratic.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from anadrome.ad.reverse import vjp
from anadrome.array_ir.nodes import Function
from anadrome.array_ir.text import parse
from anadrome.compile import PIPELINE, PREPARATION
from anadrome.config import Config
from anadrome.dtypes import F64, I64
from anadrome.frontend.stage import ArgumentSpec, stage
from anadrome.lower.function import lower
from anadrome.schedule.cpu import schedule_cpu

SIZES = (12, 24, 48)
WARM = 6
"""A first run, whose steps are not counted, fills the caches of tables."""
LIMIT = 2.25
"""The growth that counts as near linear: n·log n has up to 2.4, where nothing else is done."""

CONFIG = Config(threads=1)
VECTOR_BITS = 256
LEAST = 1000
"""Vectors are at least so long: constant places in them need no check."""

ARGUMENTS = {
    "x": ArgumentSpec(F64),
    "a": ArgumentSpec(F64, ("n",)),
    "m": ArgumentSpec(F64, ("n", "n")),
    "p": ArgumentSpec(I64, ("n",)),
}


@dataclass(frozen=True, slots=True)
class Family:
    """Programs of n pieces: `piece` is repeated, its {k} the number of the piece, its {c} a factor.

    The pieces stand in the function, or in the loop `around`; `definition` is repeated in front of it.
    """

    arguments: str
    piece: str
    before: str = ""
    after: str = "return np.sum(a)"
    around: str = ""
    definition: str = ""
    start: str = ""
    """What is repeated in front of all pieces."""
    further: str = ""
    """What is repeated behind them."""
    sizes: tuple[int, int, int] = SIZES

    def text(self, size: int) -> str:
        """The source of the program of this size."""
        pieces = _repeated(self.piece, size)
        inner = [self.around, *("    " + line for line in pieces)] if self.around else pieces
        around = [*self.before.splitlines(), *_repeated(self.start, size)]
        body = [*around, *inner, *_repeated(self.further, size), self.after]
        lines = (f"    {line}" for line in body)
        return "\n".join([*_repeated(self.definition, size), f"def program({self.arguments}):", *lines, ""])

    def program(self, size: int) -> Callable[..., Any]:
        """The function, with its text where the front end looks for it."""
        text, name = self.text(size), f"<family of {self.piece!r}, {size}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        space: dict[str, Any] = {"np": np}
        exec(compile(text, name, "exec"), space)
        return space["program"]  # type: ignore[no-any-return]


def _repeated(text: str, count: int) -> list[str]:
    pieces = (text.replace("{k}", str(k)).replace("{c}", f"{1 + k / 10:.1f}") for k in range(count))
    return [line for piece in pieces for line in piece.splitlines()]


ALONG = "for i in range(len(a)):"
FAMILIES = {
    "scalar statements": Family("x", "x = np.sin(x) * {c} + x", after="return x"),
    "vector statements": Family("a", "a = np.sin(a) * {c} + a[::-1] * 0.5"),
    "vector statements of one index": Family("a", "a = np.sin(a) * {c} + a"),
    "choices": Family("a", "a = np.where(a > {c}, np.sin(a), a * 2.0)"),
    "sums on the way": Family("a", "a = a / np.sum(a * a) + {c}"),
    "slices": Family("a", "s = s + np.sum(a[{k}:] * a[: len(a) - {k}])", "s = 0.0", "return s"),
    "concatenations": Family(
        "a", "b = np.concatenate((b, a[:3] * {c}))", "b = a", "return np.sum(b * b)", sizes=(20, 40, 80)
    ),
    "rows of a list": Family(
        "a",
        "rows.append(np.sin(a) * {c})",
        "rows = []",
        "return np.sum(np.stack(rows) ** 2)",
        sizes=(40, 80, 160),
    ),
    "arrays used later": Family(
        "a",
        "b{k} = np.cumsum(np.sin(a * {c}))",
        further="s = s + np.sum(b{k} * b{k}[::-1])",
        before="s = 0.0",
        after="return s",
    ),
    "gathers": Family("a, p", "a = a[p] * {c} + np.sin(a)"),
    "elements": Family("a, p", "s = s + np.sin(a[p[{k}]])", "s = 0.0", "return s"),
    "layers": Family("m, a", "a = layer(m, a)", before="layer = lambda m, a: np.tanh(m @ a)"),
    "functions": Family("a", "a = f{k}(a)", definition="def f{k}(a):\n    return np.sin(a) * {c}"),
    "systems of equations": Family("m, a", "a = np.linalg.solve(m, a)"),
    "comprehensions": Family("a", "s = s + sum([np.sin(v * {c}) for v in a])", "s = 0.0", "return s"),
    "branches": Family(
        "a", "if a[{k}] > 0.0:\n    s = s + np.sin(a[{k}])\nelse:\n    s = s * a[{k}]", "s = 0.0", "return s"
    ),
    "checks": Family("a", "assert s < {c}\ns = s * 0.9 + a[0]", "s = 0.0", "return s"),
    "loops": Family("a", f"{ALONG}\n    s = np.sin(s) * {{c}} + a[i]", "s = 0.0", "return s"),
    "loops while": Family("a", "while s < {k} + 10.0:\n    s = s * 1.5 + a[0]", "s = 1.0", "return s"),
    "a long loop": Family("a", "s = np.sin(s) * {c} + a[i]", "s = 0.0", "return s", ALONG),
    "branches in a loop": Family(
        "a", "if a[i] > {c}:\n    s = s + np.sin(a[i])", "s = 0.0", "return s", ALONG
    ),
    "elements in a loop": Family("a, p", "s = s + np.sin(a[p[i]]) * {c}", "s = 0.0", "return s", ALONG),
    "carried values": Family(
        "a",
        "t{k} = np.sin(t{k}) + a[i]",
        "u = 0.0",
        "return u",
        ALONG,
        start="t{k} = {c}",
        further="u = u + t{k}",
    ),
    "updates": Family("a", "a[{k}] = np.sin(a[{k}]) * {c}", "a = a.copy()"),
    "updates of rows": Family(
        "m", "m[{k} + 1] = np.tanh(m[{k}]) * {c}", "m = m.copy()", "return np.sum(m)", sizes=(24, 48, 96)
    ),
    "updates in a loop": Family(
        "a", "a[i + {k}] = np.sin(a[i]) * {c}", "a = a.copy()", around="for i in range(len(a) - 100):"
    ),
    "arrays written in a loop": Family(
        "a",
        "t{k}[i] = np.sin(t{k}[i]) * a[i]",
        "u = 0.0",
        "return u",
        ALONG,
        start="t{k} = a * {c}",
        further="u = u + np.sum(t{k})",
    ),
    "arrays changed by a loop": Family(
        "a",
        "t{k}[:] = 0.9 * t{k} + {c} * np.sin(t{k} * a[i])",
        "u = 0.0",
        "return u",
        ALONG,
        start="t{k} = a * {c}",
        further="u = u + np.sum(t{k})",
        sizes=(6, 12, 24),
    ),
}


def stages(family: Family, size: int) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """What makes the gradient of a program of a family, each stage from the result of the one before."""
    function = family.program(size)
    specs = [ARGUMENTS[name] for name in family.arguments.split(", ")]
    active = [spec.dtype is F64 for spec in specs]
    yield "front end", lambda _: stage(function, specs, {}, CONFIG, least_size=LEAST).function
    yield from ((f"{name}, before", lambda fn, run=run: run(fn, CONFIG)) for name, run in PREPARATION)
    yield "differentiation", lambda fn: vjp(fn, active)
    yield from ((name, lambda fn, run=run: run(fn, CONFIG)) for name, run in PIPELINE)
    yield "lower", lambda fn: lower(fn, CONFIG)
    yield "schedule", lambda fn: schedule_cpu(fn, CONFIG, VECTOR_BITS)


def steps(run: Callable[[Any], Any], given: Any) -> tuple[int, Any]:
    """How many steps a function takes, and its result."""
    count = 0

    def step(*_: object) -> Any:
        nonlocal count
        count += 1
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        result = run(given)
    finally:
        sys.settrace(before)
    return count, result


def growths(family: Family) -> dict[str, float]:
    """The growth of each stage."""
    counts: dict[str, list[int]] = {}
    for size in (WARM, *family.sizes):
        made: Any = None
        for name, run in stages(family, size):
            count, made = steps(run, made)
            counts.setdefault(name, []).append(count)
    return {name: growth(*found[1:]) for name, found in counts.items()}


def growth(small: int, middle: int, large: int) -> float:
    """The growth of counts at the sizes n, 2n and 4n."""
    return (large - middle) / max(1, middle - small)


KNOWN = {
    ("concatenations", "front end"): (
        2.5,
        "the length is a sum of n terms, put together anew for each array",
    ),
    ("concatenations", "lower"): (
        3.0,
        "array k is built in a part of array k + 1, and who names any is looked up",
    ),
    ("elements", "eliminate-bounds-checks"): (
        2.6,
        "each check is weighed against all that is known of the places of the others",
    ),
}
"""What grows faster, the most that it may grow, and why. What is near linear does not stand here."""


@pytest.mark.interpreted
@pytest.mark.parametrize("name", FAMILIES)
def test_stages_are_near_linear(name: str) -> None:
    found = {stage: value for stage, value in growths(FAMILIES[name]).items() if value > LIMIT}
    known = {stage: most for (family, stage), (most, _) in KNOWN.items() if family == name}
    assert found.keys() == known.keys(), found
    assert all(found[stage] <= most for stage, most in known.items()), found


def each_statement_for_itself(fn: Function) -> int:
    """What no pass shall do: go over the body for each statement."""
    return sum(let.targets == other.targets for let in fn.body.lets for other in fn.body.lets)


def test_a_walk_for_each_statement_is_found() -> None:
    counts = []
    for size in SIZES:
        lets = "; ".join(f"y{k} = sin x" for k in range(size))
        counts.append(
            steps(each_statement_for_itself, parse(f"fn f(x: f64) -> f64 {{ {lets}; return y0 }}"))[0]
        )
    assert growth(*counts) > 3.5


def test_work_for_each_statement_is_near_linear() -> None:
    assert growth(*(steps(lambda size: [None for _ in range(size)], size)[0] for size in SIZES)) == 2.0
