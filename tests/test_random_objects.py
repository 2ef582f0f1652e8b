"""Random programs that change lists, dicts and instances, bind their names to others, and share them, on ways
and in loops that the run decides: values are Python's, and both modes agree. What is refused has an error."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors.frontend import FrontendError
from anadrome.errors.runtime import SizeMismatch
from tests.test_python_programs import loaded

CONFIG = ad.Config(threads=1, cache=False)
VALUES = (
    *("x[0]", "x[1]", "t", "1.5", "p[0]", "p[1]", "q[0]", "q[1] - t", "d['a']", "d['b'] + x[2]", "o.a"),
    *("2.0 * p[0]", "L[0]", "L[-1]", "len(L) * 1.0", "max(p)", "sum(L)"),
)
OF_HOLDERS = ("w.a", "w.b[0]", "o.b[1]", "R[0].a", "R[-1].b[0]", "sum(h.a for h in R)", "len(R) * 1.0")
CONDITIONS = ("t > 0.5", "x[0] < p[0]", "q[1] > 1.0", "d['a'] < 2.0", "o.a > t", "len(L) > 2", "p is q")
WHICH_HOLDER = ("o is w", "w is not o", "R[0] is o", "R[-1].a > 1.0", "w.b is o.b", "o == w")
LOOPS = ("for v in x:", "for v in x[:2]:", "for v in (1.0, t):", "for v in p:")
STATEMENTS = (
    *(
        "p[0] = {}",
        "p[1] = {}",
        "p = [{}, {}]",
        "q[0] += {}",
        "q = p",
        "p, q = q, p",
        "p[0], p[1] = p[1], p[0]",
    ),
    *("d['a'] = {}", "d['b'] += {}", "d = {{'a': {}, 'b': {}}}", "o.a = {}", "o = Holder({})", "o.a *= {}"),
    *("L.append({})", "L = [{}]", "M = L", "L = L + [{}]"),
)
WITH_HOLDERS = (
    *("o.a = {}", "o = Holder({}, o.b)", "o.a *= {}", "w = o", "o, w = w, o", "w = Holder({}, [{}, o.a])"),
    *("w.a = {}", "w = copy.copy(o)", "w = copy.deepcopy(o)", "o.b[0] = {}", "w.b = [o.a, {}]", "o.b = w.b"),
    *("R.append(o)", "R.append(Holder({}, [{}, w.a]))", "R.append(copy.copy(w))", "o = R[0]", "w = R[-1]"),
    *("R = [Holder(v, [{}, v]) for v in x]", "R = [Holder(h.b[0], h.b) for h in R]", "R[0].a = {}"),
    *("R = [h if h.a > {} else w for h in R]", "S = R", "p[0] = {}"),
)
SEEDS = 60
BATCH = 10


def block(draw: random.Random, depth: int, is_in_loop: bool, are_holders: bool) -> Iterator[str]:
    """Some statements, one after the other."""
    values = (*VALUES, *OF_HOLDERS) if are_holders else VALUES
    values = (*values, "v") if is_in_loop else values
    for _ in range(draw.randint(1, 3)):
        kind = draw.random()
        if depth < 3 and kind < 0.2:
            yield f"if {draw.choice((*CONDITIONS, *WHICH_HOLDER) if are_holders else CONDITIONS)}:"
            yield from (f"    {line}" for line in block(draw, depth + 1, is_in_loop, are_holders))
            if draw.random() < 0.8:
                yield "else:"
                yield from (f"    {line}" for line in block(draw, depth + 1, is_in_loop, are_holders))
        elif depth < 2 and kind < 0.3:
            yield draw.choice(LOOPS)
            yield from (f"    {line}" for line in block(draw, depth + 1, True, are_holders))
        else:
            statement = draw.choice(WITH_HOLDERS if are_holders else STATEMENTS)
            yield statement.format(*(draw.choice(values) for _ in range(2)))


def source_of(seed: int, are_holders: bool = False) -> str:
    """The text of a program; of more objects of its own class where `are_holders`."""
    draw = random.Random(seed)
    lines = ["p, d, o, L = [x[0], x[1]], {'a': t, 'b': x[2]}, Holder(x[0]), [x[1]]", "q, M = p, L"]
    if are_holders:
        lines.append("w, o.b, R = Holder(t, [x[0], t]), [x[1], x[2]], [Holder(v, [v, t]) for v in x]")
        lines.append("S = R")
    lines += [line for _ in range(2) for line in block(draw, 0, False, are_holders)]
    total = "p[0] + 2 * p[1] + 3 * q[0] + 5 * q[1] + 7 * d['a'] + 11 * d['b'] + 13 * o.a"
    if are_holders:
        total += " + 23 * w.a + 29 * sum(w.b) + 31 * o.b[0] + 37 * sum(h.a * h.b[1] for h in R) + 41 * len(S)"
    lines.append(f"return {total} + 17 * sum(L) + 19 * sum(M) + len(L)")
    body = "\n".join(f"    {line}" for line in lines)
    held = "class Holder:\n    def __init__(self, a, b=None):\n        self.a = a\n        self.b = b\n\n\n"
    return f"import copy\n\n\n{held}def program(x, t):\n{body}\n"


def is_right(seed: int, are_holders: bool = False) -> bool:
    """Whether a program is compiled; it then gives what Python gives."""
    program = loaded(source_of(seed, are_holders))
    x = np.array([0.3, 1.2, 2.1, 0.7]) if seed % 2 else np.linspace(0.2, 2.0, 19)
    compiled, gradient = ad.jit(program, config=CONFIG), ad.jit(ad.grad(program, (0, 1)), config=CONFIG)
    for t in (0.0, 1.0):
        expected = program(x, t)
        if not abs(expected) < 1e9:
            continue
        try:
            found = compiled(x, t)
        except (FrontendError, SizeMismatch):  # lists of two lengths may be told apart by the run alone
            return False
        assert math.isclose(found, expected, rel_tol=1e-10, abs_tol=1e-10)
        _, slope = ad.jvp(program, (x, t), (np.cos(x), 0.5))
        by_x, by_t = gradient(x, t)
        assert math.isclose(np.sum(by_x * np.cos(x)) + 0.5 * by_t, slope, rel_tol=1e-8, abs_tol=1e-8)
    return True


@pytest.mark.parametrize("start", range(0, SEEDS, BATCH))
def test_values_and_derivatives(start: int) -> None:
    found = [is_right(seed) for seed in range(start, start + BATCH)]
    assert sum(found) >= BATCH // 3


@pytest.mark.fuzz
@pytest.mark.parametrize("start", range(1_000, 5_000, 100))
def test_many(start: int) -> None:
    found: list[Any] = [is_right(seed) for seed in range(start, start + 100)]
    assert sum(found) >= 40


@pytest.mark.parametrize("start", range(0, SEEDS, BATCH))
def test_objects_of_a_class_of_its_own(start: int) -> None:
    found = [is_right(seed, are_holders=True) for seed in range(start, start + BATCH)]
    assert any(found)


@pytest.mark.fuzz
@pytest.mark.parametrize("start", range(1_000, 5_000, 100))
def test_many_objects_of_a_class_of_its_own(start: int) -> None:
    found: list[Any] = [is_right(seed, are_holders=True) for seed in range(start, start + 100)]
    assert sum(found) >= 15
