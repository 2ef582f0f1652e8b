"""Random loops with loops in each iteration: values are Python's, and both modes agree, in lanes or not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import anadrome as ad
from tests.test_python_programs import loaded

LENGTHS = (0, 1, 7, 8, 9, 20)
STEPS = (
    "x = 0.5 * x + 0.3 * np.sin(u)",
    "x = x - 0.1 * (x - c[i] * d[i])",
    "x = x * p[0] + 0.1 * d[i]",
    "x, y = 0.9 * y + 0.02 * p[1], 0.5 * x + 0.1 * c[i]",
    "x = x + 0.05 * rows[i, k % 3]",
    "x = 0.7 * x + 0.1 * rows[k % 4 % len(rows), 1]",
    "y = y + 0.1 * x * x",
    "if x > 0.4: x = x * 0.5 - 0.1 * u",
    "if x < 0.0: x = p[2] - x",
    "for j in range(k % 3): y = 0.5 * y + 0.1 * x * d[i]",
    "while abs(y) > 1.0: y = y * 0.5",
    "if k > 5 and x > p[0]: break",
    "if k % 4 == 1: continue",
    "z = z + x",
)
LOOPS = (
    "for k in range(19):",
    "for k in range(m):",
    "for k in range(counts[i]):",
    "while abs(x) > 0.2 and k < 20:\n            k += 1",
    "while True:\n            k += 1\n            if k > counts[i] or x > 2.0: break",
)
ENDS = (
    "total += x * y",
    "out[i] = x + 0.5 * y",
    "highest = max(highest, x)",
    "total = 0.8 * total + x",
    "bins[counts[i] % 3] += y",
)


@st.composite
def sources(draw: st.DrawFn) -> str:
    """The text of a program of elements, rows, parameters, counts and a number of steps."""
    loops = draw(st.lists(st.sampled_from(LOOPS), min_size=1, max_size=2))
    ends = draw(st.lists(st.sampled_from(ENDS), min_size=1, max_size=3, unique=True))
    start = draw(st.sampled_from(("u", "1.0", "d[i]")))
    lines = ["u = c[i]", f"x, y = {start}, 0.3"]
    for loop in loops:
        steps = draw(st.lists(st.sampled_from(STEPS), min_size=1, max_size=5))
        lines += [f"k = {draw(st.sampled_from((0, 1)))}", loop, *(f"    {step}" for step in steps)]
    body = "\n".join(f"        {line}" for line in (*lines, *ends))
    return (
        "def program(c, d, rows, p, counts, m):\n"
        "    total, highest, z = 0.0, -3.0, 0.0\n"
        "    out, bins = np.zeros(len(c)), np.zeros(3)\n"
        f"    for i in range(len(c)):\n{body}\n"
        "    return np.sum(out * out) + total + 0.3 * highest + np.sum(bins * bins) + z\n"
    )


def arguments(seed: int, length: int) -> tuple[Any, ...]:
    random = np.random.default_rng(seed)
    c, d, rows, p = (random.normal(size=shape) for shape in (length, length, (length, 3), 3))
    return c, d, rows, 0.5 * np.tanh(p), random.integers(0, 9, length), int(random.integers(0, 25))


def check(source: str, seed: int, length: int) -> None:
    note(source)
    program, args = loaded(source), arguments(seed, length)
    expected = program(*args)
    *floats, counts, m = args
    tangents = [np.cos(np.arange(arg.size, dtype=float)).reshape(arg.shape) for arg in floats]

    def along(floats: Any, tangents: Any, counts: Any, m: Any) -> Any:
        return ad.jvp(lambda *point: program(*point, counts, m), floats, tangents)

    for config in (ad.Config(threads=1, cache=False), ad.Config(threads=1, cache=False, lanes=1)):
        assert math.isclose(ad.jit(program, config=config)(*args), expected, rel_tol=1e-9, abs_tol=1e-11)
        gradient = ad.jit(ad.grad(program, argnums=(0, 1, 2, 3)), config=config)(*args)
        _, slope = ad.jit(along, config=config)(tuple(floats), tuple(tangents), counts, m)
        total = sum(float(np.sum(one * other)) for one, other in zip(gradient, tangents, strict=True))
        assert math.isclose(total, slope, rel_tol=1e-7, abs_tol=1e-8)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(source=sources(), seed=st.integers(0, 99), length=st.sampled_from(LENGTHS))
def test_iterations_with_loops_of_their_own(source: str, seed: int, length: int) -> None:
    check(source, seed, length)


@pytest.mark.fuzz
@given(source=sources(), seed=st.integers(0, 9999), length=st.sampled_from(LENGTHS))
def test_many_of_them(source: str, seed: int, length: int) -> None:
    check(source, seed, length)
