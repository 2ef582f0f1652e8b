"""Random loops that write blocks of run-time size, read where they are written, beside it and across: values
are NumPy's, gradients agree with differences."""

from __future__ import annotations

import random

import numpy as np
import pytest

import anadrome as ad
from tests.test_python_programs import loaded

SIZE = 17
"""Above what is a constant of the program."""
LARGEST = 500.0
"""Above that a program has run away, and differences say nothing."""

STARTS = ("k", "k+1", "k-1", "1", "0", "i", "i+1", "2", "-1", "-2", "n-k", "j")
LINES = ("k", "i", "0", "-1", "n-1-k", "j")
LOOPS = (
    ("for k in range(n - 1):",),
    ("for k in range(1, n):",),
    ("for k in range(n - 2, -1, -1):",),
    ("k = 0", "while k < n - 1:", "    k += 1"),
)
KNOWN = (
    "{x}[1:, :] += 0.1 * {y}[:-1, :]",
    "{x}[:-1, 1:] -= 0.1 * {y}[1:, :-1]",
    "{x}[k+1:, k+1:] = {x}[k+1:, k+1:].T",
    "{x}[k:, :] = {x}[k:, :][::-1]",
    "{x}[-1:0:-1, k:k] += 0.1",
    "{x}[1:-1, 1:-1] += 0.1 * ({y}[2:, 1:-1] + {y}[1:-1, :-2])",
    "{x}[k+1:, k+1:] -= 0.1 * np.outer({x}[k+1:, k], {x}[k, k+1:])",
    "{x}[:k, k:] -= 0.1 * np.outer({x}[:k, k], {x}[k, k:])",
)
READ = (
    "{y}[{a}, {b}]",
    "np.outer({y}[{a}, {p}], {y}[{q}, {b}])",
    "np.outer({y}[{a}, {p}], {x}[{q}, {b}])",
    "{y}[{a}, {b}][::-1]",
    "{y}[{a}, {b}][:, ::-1]",
    "{y}[{q}, {b}]",
    "{y}[{a}, {p}][:, None]",
    "w[{b}]",
    "{y}[{q}, {p}]",
    "w[{a}] @ {y}[{a}, {b}]",
    "np.sin({y}[{a}, {b}])",
    "{y}[{a}, {b}] * {x}[{a}, {p}][:, None]",
)
WRITE = (
    "{x}[{a}, {b}] += 0.2 * {e}",
    "{x}[{a}, {b}] -= 0.1 * {e}",
    "{x}[{a}, {b}] *= 0.8 + 0.1 * {e}",
    "{x}[{a}, {b}] = 0.4 * {x}[{a}, {b}] + 0.3 * {e}",
    "{x}[{a}, {p}] = 0.5 * {x}[{a}, {q}] + 0.1",
)


def part(source: random.Random) -> str:
    """A slice of an axis."""
    first, last = source.choice(STARTS), source.choice(STARTS)
    step = source.choice(("-1", "2", "-2"))
    forms = [":", f"{first}:", f"{first}:", f":{last}", f"{first}:{last}", "::-1", f"{first}:{last}:{step}"]
    return source.choice(forms)


def statement(source: random.Random) -> str:
    names = {"x": source.choice("AAB"), "y": source.choice("AAB"), "a": part(source), "b": part(source)}
    names |= {"p": source.choice(LINES), "q": source.choice(LINES)}
    if source.random() < 0.2:
        return source.choice(KNOWN).format(**names)
    read = source.choice(READ).format(**names)
    return source.choice(WRITE).format(e=read, **names)


def text_of(seed: int) -> str:
    """A function of two matrices, a vector, and two numbers that bound some of the blocks."""
    source = random.Random(seed)
    loop = source.choice(LOOPS)
    body: list[str] = []
    for _ in range(source.randint(1, 3)):
        written = statement(source)
        around = source.choice(("", "", "", "", "if w[k] > 0.1:", "for j in range(2):", "C = A"))
        if around == "C = A":
            body += [around, written, "s += C[k, 0]"]
        else:
            body += [around, f"    {written}"] if around else [written]
    lines = ["A, B, n, s = P.copy(), Q.copy(), P.shape[0], 0.0", *loop, *(f"    {line}" for line in body)]
    lines.append("return s + np.sum(A * A) + 0.5 * np.sum(np.sin(B)) + np.sum(A[:, 0])")
    return "\n".join(["def program(P, Q, w, i, j):", *(f"    {line}" for line in lines)]) + "\n"


def compare(seed: int) -> None:
    """One program with NumPy and with differences; nothing is said of one that Python refuses."""
    f = loaded(text_of(seed))
    source = np.random.default_rng(seed)
    floats = [source.uniform(-1, 1, (SIZE, SIZE)), source.uniform(-1, 1, (SIZE, SIZE))]
    floats.append(source.uniform(-1, 1, SIZE))
    bounds = [int(source.integers(0, SIZE)) for _ in range(2)]
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            wanted = f(*floats, *bounds)
    except (ValueError, IndexError):
        return
    if not abs(wanted) < LARGEST:
        return
    assert np.isclose(ad.jit(f)(*floats, *bounds), wanted, rtol=1e-8), text_of(seed)
    direction = [source.normal(size=one.shape) for one in floats]
    step = 1e-6
    above, below = (
        f(*(one + sign * step * d for one, d in zip(floats, direction, strict=True)), *bounds)
        for sign in (1, -1)
    )
    expected = (above - below) / (2 * step)
    if not abs(expected) < LARGEST:
        return
    gradient = ad.grad(f, (0, 1, 2))(*floats, *bounds)
    along = sum(float(np.sum(one * d)) for one, d in zip(gradient, direction, strict=True))
    assert abs(along - expected) <= 1e-5 * max(1.0, abs(expected)), text_of(seed)


@pytest.mark.parametrize("seed", range(30))
def test_blocks_are_written_as_numpy_writes_them(seed: int) -> None:
    compare(seed)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(1000, 1400))
def test_many_blocks(seed: int) -> None:
    compare(seed)
