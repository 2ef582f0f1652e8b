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

CONFIG = ad.Config(threads=1, cache=False, verify=True)
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
VALUES_OF_ITEMS = (
    *(
        "x[0]",
        "t",
        "1.5",
        "o.a",
        "w.b",
        "R[0].a",
        "R[-1].b",
        "sum(h.a for h in R)",
        "len(S) * 1.0",
        "K['k'].a",
    ),
    *("max(h.b for h in R)", "2.0 * R[1].a", "R[int(t * 3) % len(R)].b"),
)
OF_ITEMS = (
    "t > 0.5",
    "o.a > t",
    "R[0].a < R[-1].b",
    "o is w",
    "R[0] is o",
    "K['k'] is not R[1]",
    "len(S) > 2",
)
CHANGES_OF_ITEMS = (
    *("o.a = {}", "w.b += {}", "o, w = w, o", "o = R[0]", "w = R[int(t * 5) % len(R)]", "R[0].a = {}"),
    *(
        "R[-1].b += {}",
        "R[int(t * 7) % len(R)].a -= {}",
        "for h in R: h.a += 0.1 * {}",
        "K['k'] = o",
        "K['k'].b = {}",
    ),
    *("for h in R[1:]: h.b = h.a + {}", "o = max(R, key=lambda h: h.a)", "w = min(R, key=lambda h: h.b)"),
    *(
        "S = [h for h in R if h.a > {}]",
        "for h in S: h.a *= 0.5",
        "R = sorted(R, key=lambda h: h.b)",
        "R = R[::-1]",
    ),
    *(
        "R.append(Holder({}, {}))",
        "R = [Holder(h.a, {}) for h in R]",
        "S = R",
        "R = R + S",
        "S = R[1:]",
        "w = copy.copy(o)",
    ),
    *(
        "for h, g in zip(R, R[1:]): h.a, g.b = g.b, h.a",
        "for h, v in [(h, h.a) for h in R]: h.b = v",
        "o.change(t)",
    ),
    *(
        "for h in R: h.change({})",
        "for h in R: h.other(R[0])",
        "R[1].other(o)",
        "o = Holder({}, {})",
        "o = w.change(0.5)",
    ),
    *("for k in range(len(R)): R[k].a += R[k - 1].b", "R[0], R[1] = R[1], R[0]", "R[-1] = Holder({}, {})"),
    *(
        "R.append(o)",
        "R.append(w)",
        "R = [o, w] + R",
        "R.insert(1, Holder({}, {}))",
        "w = w if t > 0.5 else o",
    ),
    *("R = [h if h.a > {} else w for h in R]", "for h in R:\n    if h.a > {}: o = h\n    else: o.b += 0.1"),
)
"""Of objects that lists hold and that are changed there."""
KINDS = {
    "containers": (VALUES, CONDITIONS, STATEMENTS, LOOPS),
    "holders": ((*VALUES, *OF_HOLDERS), (*CONDITIONS, *WHICH_HOLDER), WITH_HOLDERS, LOOPS),
    "items": (VALUES_OF_ITEMS, OF_ITEMS, CHANGES_OF_ITEMS, LOOPS[:3]),
}
SEEDS = 60
BATCH = 10


def block(draw: random.Random, depth: int, is_in_loop: bool, kind: str) -> Iterator[str]:
    """Some statements, one after the other."""
    values, conditions, statements, loops = KINDS[kind]
    values = (*values, "v") if is_in_loop else values
    for _ in range(draw.randint(1, 3)):
        which = draw.random()
        if depth < 3 and which < 0.2:
            yield f"if {draw.choice(conditions)}:"
            yield from (f"    {line}" for line in block(draw, depth + 1, is_in_loop, kind))
            if draw.random() < 0.8:
                yield "else:"
                yield from (f"    {line}" for line in block(draw, depth + 1, is_in_loop, kind))
        elif depth < 2 and which < 0.3:
            yield draw.choice(loops)
            yield from (f"    {line}" for line in block(draw, depth + 1, True, kind))
        else:
            statement = draw.choice(statements)
            yield from statement.format(*(draw.choice(values) for _ in range(2))).split("\n")


def source_of(seed: int, kind: str = "containers") -> str:
    """The text of a program of a kind."""
    draw = random.Random(seed)
    lines = ["p, d, o, L = [x[0], x[1]], {'a': t, 'b': x[2]}, Holder(x[0]), [x[1]]", "q, M = p, L"]
    if kind == "holders":
        lines.append("w, o.b, R = Holder(t, [x[0], t]), [x[1], x[2]], [Holder(v, [v, t]) for v in x]")
        lines.append("S = R")
    if kind == "items":
        lines = ["R = [Holder(v, v * t) for v in x]", "S, o, w, K = R, R[0], R[2], {'k': R[1]}"]
    lines += [line for _ in range(2) for line in block(draw, 0, False, kind)]
    total = "p[0] + 2 * p[1] + 3 * q[0] + 5 * q[1] + 7 * d['a'] + 11 * d['b'] + 13 * o.a + 17 * sum(L)"
    total += " + 19 * sum(M) + len(L)"
    if kind == "holders":
        total += " + 23 * w.a + 29 * sum(w.b) + 31 * o.b[0] + 37 * sum(h.a * h.b[1] for h in R) + 41 * len(S)"
    if kind == "items":
        total = "sum(h.a + 2 * h.b for h in R) + 3 * sum(h.a - h.b for h in S) + 5 * o.a + 7 * w.b"
        total += " + 11 * K['k'].a + sum(k * h.a for k, h in enumerate(R))"
    body = "\n".join(f"    {line}" for line in [*lines, f"return {total}"])
    return f"import copy\n\n\n{HOLDER}\n\ndef program(x, t):\n{body}\n"


HOLDER = """class Holder:
    def __init__(self, a, b=None):
        self.a = a
        self.b = b

    def change(self, by):
        self.a, self.b = self.a + by, self.b * 0.5
        return self

    def other(self, one):
        self.a += 0.1 * one.b
        one.b -= 0.1 * self.a
"""


def is_right(seed: int, kind: str = "containers") -> bool:
    """Whether a program is compiled; it then gives what Python gives."""
    return is_text_right(source_of(seed, kind), is_short=bool(seed % 2))


def is_text_right(source: str, is_short: bool) -> bool:
    """Whether a program of that text is compiled; it then gives what Python gives."""
    program = loaded(source)
    x = np.array([0.3, 1.2, 2.1, 0.7]) if is_short else np.linspace(0.2, 2.0, 19)
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
    found = [is_right(seed, "holders") for seed in range(start, start + BATCH)]
    assert any(found)


@pytest.mark.fuzz
@pytest.mark.parametrize("start", range(1_000, 5_000, 100))
def test_many_objects_of_a_class_of_its_own(start: int) -> None:
    found: list[Any] = [is_right(seed, "holders") for seed in range(start, start + 100)]
    assert sum(found) >= 15


@pytest.mark.parametrize("start", range(0, SEEDS, BATCH))
def test_objects_that_are_changed_in_lists(start: int) -> None:
    found = [is_right(seed, "items") for seed in range(start, start + BATCH)]
    assert any(found)


@pytest.mark.fuzz
@pytest.mark.parametrize("start", range(1_000, 5_000, 100))
def test_many_objects_that_are_changed_in_lists(start: int) -> None:
    found: list[Any] = [is_right(seed, "items") for seed in range(start, start + 100)]
    assert sum(found) >= 15
