"""Random loops that update elements and rows of arrays in place: values are Python's, both modes agree, and
no iteration copies an array: what a program touches of memory does not grow with arrays times iterations."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import anadrome as ad
from anadrome.compile import PIPELINE
from anadrome.kernel_ir.interp import run
from anadrome.kernel_ir.interp_machine import Machine
from tests.lower.oracle import kernel_arguments
from tests.test_python_programs import loaded

STATEMENTS = (
    "F[i, 0] += w[k]",
    "F[i, 1] -= 2.0 * w[k] * F[i, 0]",
    "F[j, 0] = 0.5 * F[j, 0] + w[k]",
    "F[i] += np.array([w[k], w[k] ** 2])",
    "F[j] -= w[k] * np.array([1.0, -0.5])",
    "F[i] = 0.5 * F[i] + w[k]",
    "F[i], F[j] = 0.9 * F[j], 0.8 * F[i]",
    "G[i] += w[k] * w[k]",
    "G[j] -= w[k] * G[i]",
    "G[i] = np.sin(G[j])",
    "G[i], G[j] = G[j], G[i]",
    "G[(i + 1) % len(G)] *= 0.5",
    "s += F[j, 1] * G[i]",
    "t = F[i] * G[j]",
    "F[i, 1] = t[0] - 0.3 * t[1]",
    "u = G[i]",
    "G[j] = 0.5 * G[j] + 0.25 * u",
    "s += u * t[1]",
    "H[i] = 0.5 * np.sin(H[j]) + 0.4 * H[i]",
    "H[i] *= 0.9 * H[j, 0]",
    "H[i, 1:] -= 0.2 * H[j, 1:] * w[k]",
    "H[[i, j]] = H[[j, i]]",
    "r = H[i].copy()",
    "H[j] = 0.3 * r - 0.2 * H[i]",
    "H[i] = r",
    "ys.append(F[i] * w[k])",
    "t = 0.5 * ys[-1]",
)
ALWAYS = ("G, K = K, G", "K[j] = 0.5 * G[i] + 0.3 * K[i]")
"""Arrays that change their names: under a condition each of them may be copied."""
CONDITIONS = ("if w[k] > 0.1:", "if G[i] > F[j, 0]:", "if i != j:", "if k % 3 == 0:")
LOOPS = (
    ("for k in range(len(w)):", "i, j = one[k], two[k]"),
    ("for i in range(6):", "for k in range(len(w) // 6):", "j = one[k]"),
    ("for i in range(8):", "for j in range(i + 1, 8):", "k = 3 * i + j"),
    ("for i in range(8):", "for j in range(i):", "k = 3 * i + j"),
    ("k = -1", "while k < len(w) - 1:", "k += 1", "i, j = two[k], one[k]"),
    ("for k in range(len(w)):", "i, j = two[k], one[k]", "if w[k] > 1.9: break"),
    ("for k in range(len(w)):", "i, j = two[k], one[k]", "if w[k] < -0.5: continue"),
)
ITERATIONS = 72
MOST_PASSES = 120
"""Times that all arrays, of ten numbers to each element of `G`, may be touched beside what iterations do; a
copy of `G` in each iteration would add twice as many as there are iterations, one of `H` five times that."""


@st.composite
def sources(draw: st.DrawFn) -> str:
    """The text of a program of two arrays, a table of numbers, and two of places."""
    lines, depth = [], 0
    for line in draw(st.sampled_from(LOOPS)):
        lines.append("    " * depth + line)
        depth += line.endswith(":")
    for _ in range(draw(st.integers(1, 4))):
        condition = draw(st.sampled_from(("", *CONDITIONS)))
        choice = st.sampled_from(STATEMENTS if condition else (*STATEMENTS, *ALWAYS))
        block = draw(st.lists(choice, min_size=1, max_size=3))
        if condition:
            lines.append("    " * depth + condition)
        lines += ["    " * (depth + bool(condition)) + line for line in block]
        if condition and draw(st.booleans()):
            lines.append("    " * depth + "else:")
            lines.append("    " * (depth + 1) + draw(st.sampled_from(STATEMENTS)))
    return text(lines)


def text(lines: Sequence[str]) -> str:
    """The program with these statements."""
    body = "\n".join(f"    {line}" for line in lines)
    return (
        "def program(F, G, w, one, two):\n"
        "    F, G, s, t, u = F.copy(), G.copy(), 0.0, np.zeros(2), 0.0\n"
        "    K, H, r, ys = 0.5 * G, 0.2 * np.outer(G, np.arange(1.0, 6.0)), np.ones(5), [np.ones(2)]\n"
        f"{body}\n"
        "    total = np.sum(np.array(ys) ** 2) + np.sum(K * G) + np.sum(np.sin(H))\n"
        "    return total + np.sum(F * F) + np.sum(np.cos(G)) + s\n"
    )


def arguments(seed: int, size: int) -> tuple[Any, ...]:
    random = np.random.default_rng(seed)
    F, G, w = (0.7 * random.normal(size=shape) for shape in ((size, 2), size, ITERATIONS))
    return F, G, w, random.integers(0, 8, ITERATIONS), random.integers(0, 8, ITERATIONS)


def touched(function: Any, args: tuple[Any, ...]) -> int:
    """How many elements the lowered program reads and writes."""
    counted = 0

    def at(machine: Machine, buffer: Any, offset: int, count: int, stmt: Any, access: str) -> Any:
        nonlocal counted
        counted += max(count, 0)
        return plain(machine, buffer, offset, count, stmt, access)

    plain, stages = Machine.at, dict[str, Any]()
    compiled = ad.jit(function, config=ad.Config(threads=1, small_dimension=3))
    compiled.make(compiled.signature(args, {}), stages.__setitem__)
    given = kernel_arguments(stages[PIPELINE[-1][0]], args)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Machine, "at", at)
        run(stages["kernel"], given, judge=False)
    return counted


def check(source: str, seed: int) -> None:
    program, args = loaded(source), arguments(seed, 12)
    expected = program(*copy.deepcopy(args))
    *floats, one, two = args
    tangents = [np.cos(np.arange(arg.size, dtype=float)).reshape(arg.shape) for arg in floats]
    config = ad.Config(threads=1, cache=False)
    gradient = ad.grad(program, argnums=(0, 1, 2))

    def along(floats: Any, tangents: Any, one: Any, two: Any) -> Any:
        return ad.jvp(lambda *point: program(*point, one, two), floats, tangents)

    assert math.isclose(ad.jit(program, config=config)(*args), expected, rel_tol=1e-9, abs_tol=1e-11)
    _, slope = ad.jit(along, config=config)(tuple(floats), tuple(tangents), one, two)
    adjoints = ad.jit(gradient, config=config)(*args)
    total = sum(float(np.sum(one * other)) for one, other in zip(adjoints, tangents, strict=True))
    assert math.isclose(total, slope, rel_tol=1e-7, abs_tol=1e-8)

    small, large = 24, 96
    for function in (program, gradient):
        passes = [touched(function, arguments(seed, size)) for size in (small, large)]
        assert (passes[1] - passes[0]) / (large - small) <= MOST_PASSES


KNOWN = {
    "two elements under a branch": (
        "for k in range(len(w)):",
        "    i = one[k]",
        "    if w[k] > 0.1:",
        "        F[i, 0] += w[k]",
        "        F[i, 1] += 2.0 * w[k]",
    ),
    "a row under a branch": (
        "for k in range(len(w)):",
        "    if w[k] > 0.1:",
        "        F[one[k]] += np.array([w[k], w[k] ** 2])",
    ),
    "two branches on one condition": (
        "for k in range(len(w)):",
        "    if w[k] > 0.1:",
        "        F[one[k], 0] += w[k]",
        "    else:",
        "        F[one[k], 1] -= 2.0 * w[k] * F[one[k], 0]",
        "    if w[k] > 0.1:",
        "        F[one[k], 0] += w[k]",
    ),
    "two branches on one condition, and what one has written read between them": (
        "for k in range(len(w)):",
        "    if w[k] > 0.1:",
        "        F[one[k], 0] += w[k]",
        "    else:",
        "        F[one[k], 1] -= 2.0 * w[k] * F[one[k], 0]",
        "    if G[one[k]] > F[two[k], 0]:",
        "        F[one[k], 0] += w[k]",
        "    if w[k] > 0.1:",
        "        F[one[k]] += np.array([w[k], w[k] ** 2])",
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_loops_that_copied_arrays(name: str) -> None:
    check(text(KNOWN[name]), 0)


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(source=sources(), seed=st.integers(0, 99))
def test_loops_that_update_arrays(source: str, seed: int) -> None:
    note(source)
    check(source, seed)


@pytest.mark.fuzz
@given(source=sources(), seed=st.integers(0, 9999))
def test_many_of_them(source: str, seed: int) -> None:
    note(source)
    check(source, seed)
