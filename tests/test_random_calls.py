"""Random programs of methods and inner functions that change what their callers see and return early: values
are what Python gives, and both modes agree. What is refused has an error."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from tests.test_random_objects import is_text_right

METHODS = ("one", "two", "three")
TARGETS = ("self.a", "self.b", "self.parts[0]", "self.parts[1]", "self.d['k']")
FREE = ("box[0]", "box[1]", "table['u']", "out[0]", "out[1]")
VALUES = ("v", "t", "1.5", "v * t", "x[1]", "0.5 * v")
SEEDS = 20
BATCH = 10


def body(draw: random.Random, depth: int, targets: tuple[str, ...], calls: tuple[str, ...]) -> Iterator[str]:
    """Statements of a function that may return before its end."""
    values = (*VALUES, *targets)
    for _ in range(draw.randint(1, 3)):
        which = draw.random()
        if depth < 3 and which < 0.35:
            yield f"if {draw.choice(values)} {draw.choice('<>')} {draw.choice(values)}:"
            yield from (f"    {line}" for line in body(draw, depth + 1, targets, calls))
            if draw.random() < 0.5:
                yield f"    return {draw.choice(values)}"
            if draw.random() < 0.4:
                yield "else:"
                yield from (f"    {line}" for line in body(draw, depth + 1, targets, calls))
        elif depth < 2 and which < 0.45:
            yield draw.choice(("for v in x[:3]:", "for v in (1.0, t):", "for v in x:"))
            yield from (f"    {line}" for line in body(draw, depth + 1, targets, calls))
        elif calls and which < 0.6:
            yield f"{draw.choice(targets)} = {draw.choice(calls)}({draw.choice(values)})"
        else:
            yield f"{draw.choice(targets)} {draw.choice(('=', '=', '+='))} 0.5 * {draw.choice(values)}"


def indented(lines: Iterator[str], by: int) -> str:
    return "\n".join(" " * by + line for line in lines)


def source_of(seed: int) -> str:
    draw = random.Random(seed)
    lines = [
        "import numpy as np\n\n",
        "class Part:",
        "    def __init__(self, a):",
        "        self.a, self.b, self.parts, self.d = a, 1.0, [a, 2.0], {'k': a}\n",
    ]
    for at, name in enumerate(METHODS):
        calls = tuple(f"self.{earlier}" for earlier in METHODS[:at])
        lines += [f"    def {name}(self, v, x=(0.7, 1.9, 0.2), t=0.9):"]
        lines += [indented(body(draw, 0, TARGETS, calls), 8), f"        return {draw.choice(VALUES)}\n"]
    lines += [
        "",
        "def program(x, t):",
        "    p, q = Part(x[0]), Part(t)",
        "    box, table = [x[1], t], {'u': x[2]}",
    ]
    lines += ["    out = np.zeros(2)"]
    for at, name in enumerate(("inner", "outer")):
        calls = ("p.one", "q.three", "inner")[: 2 + at]
        lines += [f"    def {name}(v):", indented(body(draw, 0, (*FREE, "p.a", "q.parts[1]"), calls), 8)]
        lines += [f"        return {draw.choice(VALUES)}"]
    lines += ["    total = 0.0", "    for v in x:"]
    calls = ("p.one", "p.two", "q.two", "q.three", "inner", "outer")
    for _ in range(draw.randint(2, 4)):
        lines.append(
            f"        total += 0.1 * {draw.choice(calls)}({draw.choice(('v', 't', 'v - t', 'total'))})"
        )
    lines += ["    total += outer(t)"]
    total = "total + p.a + 2 * p.b + 3 * p.parts[0] + 5 * p.parts[1] + 7 * p.d['k'] + 11 * q.a + 13 * q.b"
    total += " + 17 * q.parts[0] + 19 * q.parts[1] + 23 * q.d['k'] + 29 * box[0] + 31 * box[1]"
    return "\n".join([*lines, f"    return {total} + 37 * table['u'] + 41 * out[0] + 43 * out[1]\n"])


@pytest.mark.parametrize("start", range(0, SEEDS, BATCH))
def test_values_and_derivatives(start: int) -> None:
    found = [is_text_right(source_of(seed), is_short=bool(seed % 2)) for seed in range(start, start + BATCH)]
    assert sum(found) >= BATCH // 3


@pytest.mark.fuzz
@pytest.mark.parametrize("start", range(1_000, 5_000, 100))
def test_many(start: int) -> None:
    found: list[Any] = [
        is_text_right(source_of(seed), is_short=bool(seed % 2)) for seed in range(start, start + 100)
    ]
    assert sum(found) >= 40
