"""Loops whose iterations wait for nobody: which become parfors, and that all compute what Python does."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import anadrome as ad
from anadrome.config import Config
from tests.test_python_programs import loaded

RNG = np.random.default_rng(5)
CONFIG = Config(verify=True, small_dimension=0, unroll_limit=0)
"""Sizes stay names, and loops loops."""


def program(*lines: str, result: str = "out") -> Callable[..., Any]:
    """A function of a matrix, a vector and a number of steps, which fills `out` and `row`."""
    body = ["n, m = a.shape", "out, row = np.zeros((n, m)), b.copy()", *lines, f"return {result}"]
    return loaded("\n".join(["def program(a, b, steps):", *(f"    {line}" for line in body), ""]))


def arguments(n: int = 5, m: int = 4, steps: int = 3) -> tuple[np.ndarray, np.ndarray, int]:
    return RNG.uniform(0.1, 1.0, (n, m)), RNG.uniform(0.1, 1.0, m), steps


def agree(function: Callable[..., Any], *args: Any) -> None:
    """Values are Python's; the gradient is the slope of them, and the same in both modes."""
    expected = function(*copy.deepcopy(args))
    np.testing.assert_allclose(ad.jit(function, config=CONFIG)(*args), expected, rtol=1e-12)
    weights = RNG.normal(size=np.shape(expected))

    def loss(a: np.ndarray, b: np.ndarray, steps: int) -> float:
        return np.sum(function(a, b, steps) * weights)

    slopes = ad.jit(ad.grad(loss, argnums=(0, 1)), config=CONFIG)(*args)
    along = [RNG.normal(size=np.shape(arg)) for arg in args[:2]]
    moved = [
        function(*(arg + step * part for arg, part in zip(args[:2], along, strict=True)), args[2])
        for step in (1e-6, -1e-6)
    ]
    slope = np.sum((moved[0] - moved[1]) * weights) / 2e-6
    found = sum(np.sum(one * part) for one, part in zip(slopes, along, strict=True))
    np.testing.assert_allclose(found, slope, rtol=1e-6, atol=1e-7)


def loops_left(function: Callable[..., Any]) -> int:
    """How many sequential loops are left of a program after the pass."""
    return ad.show(ad.jit(function, config=CONFIG), *arguments(), stage="parallel-loops").count(" = loop ")


PARALLEL = {
    "rows": ("for i in range(n):", "    out[i] = a[i] * b"),
    "elements": (
        "for i in range(n):",
        "    for j in range(m):",
        "        out[i, j] = np.sin(a[i, j]) * b[j]",
    ),
    "in place": ("for j in range(m):", "    row[j] = np.exp(-row[j]) * row[j]"),
    "rows in place": (
        "for i in range(n):",
        "    for j in range(m):",
        "        a[i, j] = a[i, j] * a[i, j] + b[j]",
    ),
    "two arrays": ("for j in range(m):", "    out[0, j] = b[j] * 2.0", "    row[j] = out[0, j] + row[j]"),
    "places that are counted": ("k = 0", "for j in range(m):", "    row[k] = b[j] + k", "    k += 1"),
    "what does not change": ("c = b * 2.0", "for j in range(m):", "    row[j] = c[j] + c[0]"),
}
"""Bodies of which no sequential loop is left."""

IN_ORDER = {
    "rows in an order of their own": (
        "for i in range(n):",
        "    k = (2 * i) % n",
        "    for j in range(m):",
        "        out[k, j] = a[i, j] + out[k, j]",
    ),
    "a sum inside": (
        "for i in range(n):",
        "    s = 0.0",
        "    for j in range(m):",
        "        s = s * 0.5 + a[i, j]",
        "    out[i] = s * b",
    ),
    "until it is enough": (
        "for j in range(m):",
        "    v = b[j]",
        "    while v > 0.2:",
        "        v = v * v * 0.9",
        "    row[j] = v",
    ),
    "steps of all": (
        "for _ in range(steps):",
        "    for j in range(m):",
        "        row[j] = np.sin(row[j]) + b[j]",
    ),
}
"""Bodies of which one is left, whose iterations wait for each other."""

APART = {
    "a row that may not be there": ("for j in range(m):", "    out[2, j] = a[1, j] * b[j]"),
    "on either side of a branch": (
        "for j in range(m):",
        "    if b[j] > 0.5:",
        "        row[j] = b[j] ** 2",
        "    else:",
        "        row[j] = 1.0",
    ),
    "the element before": ("for j in range(1, m):", "    row[j] = row[j - 1] * 0.5 + b[j]"),
    "the element behind": ("for j in range(m):", "    row[j] = row[(j + 1) % m] * 0.5 + b[j]"),
    "another row": (
        "for i in range(1, n):",
        "    for j in range(m):",
        "        out[i, j] = out[i - 1, j] * 0.5 + a[i, j]",
    ),
    "a sum of all": ("s = 0.0", "for j in range(m):", "    s = s + b[j] * s + 0.1", "    row[j] = s"),
    "a part of the rows": ("for j in range(m - 1):", "    row[j + 1] = b[j] * 2.0"),
    "where data say": ("for j in range(m):", "    row[int(b[j] * m) % m] = b[j]"),
    "the whole of it": ("for j in range(m):", "    row[j] = np.sum(row) * 0.1 + b[j]"),
    "what became of it": ("for j in range(m):", "    row[j] = b[j] * 2.0", "    out[0, j] = np.sum(row)"),
    "the last one": ("k = 0", "for j in range(m):", "    row[j] = b[j] + k", "    k = k * 2 + j"),
    "the diagonal": (
        "square = np.outer(b, b)",
        "for j in range(m):",
        "    square[j, j] = b[j]",
        "row = square @ b",
    ),
    "two numbers of a row": (
        "for i in range(n):",
        "    out[i, 0] = b[0] * a[i, 1]",
        "    out[i, 1] = a[i, 0]",
    ),
}
"""Bodies that keep a loop, or are no loop for another reason."""


def result_of(lines: tuple[str, ...]) -> str:
    """Everything that such a body may have written."""
    return "np.concatenate((np.ravel(out), row, np.ravel(a)))"


def made(lines: tuple[str, ...]) -> Callable[..., Any]:
    copied = ("a = a.copy()", *lines) if any("a[i, j] =" in line for line in lines) else lines
    return program(*copied, result=result_of(lines))


@pytest.mark.parametrize("name", PARALLEL)
def test_loops_whose_iterations_wait_for_nobody(name: str) -> None:
    function = made(PARALLEL[name])
    assert loops_left(function) == 0
    for n, m in ((5, 4), (3, 1), (9, 17)):
        agree(function, *arguments(n, m))


@pytest.mark.parametrize("name", IN_ORDER)
def test_loops_inside_and_around_stay(name: str) -> None:
    function = made(IN_ORDER[name])
    assert loops_left(function) == 1
    for n, m in ((5, 4), (3, 1), (9, 17)):
        agree(function, *arguments(n, m))


@pytest.mark.parametrize("name", APART)
def test_loops_whose_iterations_wait_stay(name: str) -> None:
    function = made(APART[name])
    for n, m in ((5, 4), (3, 2), (9, 17)):
        agree(function, *arguments(n, m))
    assert loops_left(function) >= 1


@pytest.mark.parametrize("shape", [(5, 0), (0, 4), (0, 0), (1, 1)])
def test_no_iteration(shape: tuple[int, int]) -> None:
    for lines in (*PARALLEL.values(), *APART.values()):
        function, args = made(lines), arguments(*shape)
        try:
            expected = function(*copy.deepcopy(args))
        except IndexError:
            with pytest.raises(IndexError):
                ad.jit(function, config=CONFIG)(*args)
        else:
            np.testing.assert_allclose(ad.jit(function, config=CONFIG)(*args), expected, rtol=1e-12)


def test_an_index_outside_is_an_error() -> None:
    function = program("for j in range(m):", "    out[steps, j] = b[j]")
    with pytest.raises(IndexError):
        ad.jit(function, config=CONFIG)(*arguments(5, 4, 7))
    np.testing.assert_array_equal(
        ad.jit(function, config=CONFIG)(*(args := arguments(5, 4, 4))), function(*args)
    )


# ---------------------------------------------------------------------------- random ones
READS = (
    "square[j, j]",
    "square[i, j]",
    "b[j]",
    "row[j]",
    "a[i, j]",
    "out[i, j]",
    "row[(j + 1) % m]",
    "out[0, j]",
    "out[i, 0]",
    "a[j % n, i % m]",
    "v",
    "s",
)
PUTS = (
    "out[i, j]",
    "out[j % n, j % n]",
    "square[j, j]",
    "square[i, j]",
    "row[j]",
    "out[i, (j + 1) % m]",
    "out[j % n, j]",
    "row[i % m]",
    "a[i, j]",
)
OPERATIONS = ("{} + 0.3 * {}", "np.sin({}) * {}", "0.5 * {} - {}", "max({}, {})")


@st.composite
def bodies(draw: Callable[..., Any]) -> tuple[str, ...]:
    """Two loops, in which elements of three arrays are put, from what is read at like or other places."""

    def value() -> str:
        read = st.sampled_from(READS)
        return draw(st.sampled_from(OPERATIONS)).format(draw(read), draw(read))

    def puts(most: int) -> list[str]:
        found = []
        for _ in range(draw(st.integers(0, most))):
            line = f"{draw(st.sampled_from((*PUTS, 'v', 's')))} = {value()}"
            found += [f"if {value()} > 0.4:", f"    {line}"] if draw(st.booleans()) and not found else [line]
        return found

    lines = ["a, square = a.copy(), np.outer(b, b)", "s = 0.1", "i, j, v = 0, 0, 0.2"]
    lines += ["for t in range(steps):"] if draw(st.booleans()) else ["if steps > 0:"]
    inner = [*puts(2), "for j in range(m):", *(f"    {line}" for line in (*puts(3), "pass")), *puts(1)]
    lines += ["    for i in range(n):", *(f"        {line}" for line in inner)]
    return (*lines, "row[0] += s + v")


def check(lines: tuple[str, ...]) -> None:
    note("\n".join(lines))
    function = program(*lines, result="np.concatenate((np.ravel(out), row, np.ravel(a), np.ravel(square)))")
    agree(function, *arguments(4, 4, 2))


SETTINGS = {"deadline": None, "suppress_health_check": list(HealthCheck)}


@settings(max_examples=8, **SETTINGS)
@given(lines=bodies())
def test_random_loops(lines: tuple[str, ...]) -> None:
    check(lines)


@pytest.mark.fuzz
@settings(max_examples=1000, **SETTINGS)
@given(lines=bodies())
def test_many_random_loops(lines: tuple[str, ...]) -> None:
    check(lines)
