"""Measure programs that branch on data with their iterations in lanes, and one after the other.

    python benchmarks/lanes.py                       all of them, one thread
    python benchmarks/lanes.py newton --rounds 25    one of them, with more rounds
    python benchmarks/lanes.py --json                the numbers as JSON

Each program is compiled twice, for the machine's vectors and with `Config(lanes=1)`, and so is its gradient
by x; the versions are timed in turn, and ratios are medians of the ratios within a round. Compilation is not
counted in. `--small` takes sizes that say nothing, for a look at whether all runs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / folder) for folder in ("benchmarks", "src")]
os.environ.setdefault("ANADROME_THREADS", "1")

import numpy as np  # noqa: E402 (the path is set above)
from bench.agreement import assert_agree  # noqa: E402
from bench.clock import times_in_turn  # noqa: E402
from bench.comparison import Found, medians, run  # noqa: E402

import anadrome as ad  # noqa: E402

BLOCK = 128


# ---------------------------------------------------------------------------- what one iteration does
def root(a: float) -> float:
    """√a by Newton's iteration, until it is exact."""
    v = 1.0
    while True:
        w = 0.5 * (v + a / v)
        if abs(w - v) < 1e-14 * w:
            return w
        v = w


def below(v: float, table: np.ndarray) -> float:
    """The last number of an ordered table that is not above v: a binary search."""
    low, high = 0, table.shape[0] - 1
    while high - low > 1:
        middle = (low + high) // 2
        if table[middle] > v:
            high = middle
        else:
            low = middle
    return table[low]


def rounds_of(a: float) -> float:
    """How long a point of the plane stays near 0 under z² + c, 200 rounds at most."""
    c, d = a * 0.02 - 1.5, a * 0.01
    x = y = 0.0
    k = 0
    while k < 200 and x * x + y * y < 4.0:
        x, y = x * x - y * y + c, 2 * x * y + d
        k += 1
    return k + 0.0 * a


def depth(a: float) -> float:
    """How far a ray goes to a dented ball: steps of the distance to it."""
    dx, dy, dz = np.sin(a), 0.3, np.cos(a)
    t = 0.0
    for _ in range(64):
        x, y, z = dx * t, dy * t - 0.2, dz * t - 3.0
        near = np.sqrt(x * x + y * y + z * z) - 1.0 + 0.1 * np.sin(5 * x) * np.sin(5 * y)
        if near < 1e-4:
            break
        t += near
        if t > 20.0:
            break
    return t


def anomaly(mean: float, eccentricity: float) -> float:
    """Where a planet is, by Kepler's equation."""
    angle = mean
    for _ in range(50):
        step = (angle - eccentricity * np.sin(angle) - mean) / (1.0 - eccentricity * np.cos(angle))
        angle -= step
        if abs(step) < 1e-12:
            break
    return angle


def swung(x: float, stiffness: float, damping: float) -> float:
    """Where an oscillator is after a hundred steps."""
    v = 0.0
    for _ in range(100):
        v += 0.01 * (-stiffness * x - damping * v)
        x += 0.01 * v
    return x


def energy_in_order(x: np.ndarray, table: np.ndarray) -> float:
    """What oscillators hold, added up in order."""
    total = 0.0
    for i in range(len(x)):
        total += swung(x[i], table[0], 0.01 * table[1]) ** 2
    return total


# ---------------------------------------------------------------------------- as kernels
@ad.kernel
def roots(x, table, y):
    i = ad.grid(1)
    y[i] = root(x[i])


@ad.kernel
def places(x, table, y):
    i = ad.grid(1)
    y[i] = below(x[i], table)


@ad.kernel
def counts(x, table, y):
    i = ad.grid(1)
    y[i] = rounds_of(x[i])


@ad.kernel
def depths(x, table, y):
    i = ad.grid(1)
    y[i] = depth(x[i])


@ad.kernel
def polynomials(x, table, y):
    i = ad.grid(1)
    total = 0.0
    for k in range(50):
        total = total * x[i] * 0.01 + table[k]
    y[i] = total


def launched(kernel: Any) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """A program of one launch."""

    def program(x: np.ndarray, table: np.ndarray) -> np.ndarray:
        y = np.zeros(x.shape[0])
        kernel[x.shape[0] // BLOCK, BLOCK](x, table, y)
        return y

    return program


# ---------------------------------------------------------------------------- programs
@dataclass(frozen=True)
class Case:
    """A program of x and a table, and how long the table is."""

    program: Callable[[np.ndarray, np.ndarray], np.ndarray]
    table: int = 2_000
    has_gradient: bool = True


CASES = {
    "newton": Case(lambda x, table: np.array([root(v) for v in x])),
    "newton, kernel": Case(launched(roots)),
    "search": Case(lambda x, table: np.array([below(v, table) for v in x]), has_gradient=False),
    "search, kernel": Case(launched(places), has_gradient=False),
    "search in 2^20, kernel": Case(launched(places), 1 << 20, has_gradient=False),
    "escape": Case(lambda x, table: np.array([rounds_of(v) for v in x]), has_gradient=False),
    "escape, kernel": Case(launched(counts), has_gradient=False),
    "march": Case(lambda x, table: np.array([depth(v) for v in x])),
    "march, kernel": Case(launched(depths)),
    "orbits": Case(lambda x, table: np.array([anomaly(v, 0.5) for v in x])),
    "oscillators, in order": Case(energy_in_order),
    "oscillators, their mean": Case(lambda x, table: np.mean(np.array([swung(v, 2.0, 0.3) for v in x]))),
    "polynomial, kernel": Case(launched(polynomials)),
}
COUNT = 1 << 15


def measured(case: Case, rounds: int, is_small: bool) -> Found:
    """Median seconds of each version, and medians of the ratios of one round."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0.1, 100.0, BLOCK if is_small else COUNT)
    table = np.sort(rng.uniform(0.0, 100.0, case.table))
    programs: dict[str, Callable[..., Any]] = {"value": case.program}
    if case.has_gradient:
        programs["gradient"] = ad.grad(lambda x, table: np.sum(case.program(x, table)))
    calls: dict[str, Callable[[], Any]] = {}
    ratios = {}
    for words, program in programs.items():
        for lanes, how in ((0, "in lanes"), (1, "one by one")):
            compiled = ad.jit(program, config=ad.Config(lanes=lanes, threads=1))
            calls[f"{words} {how}"] = lambda compiled=compiled: compiled(x, table)
        assert_agree(calls[f"{words} in lanes"](), calls[f"{words} one by one"]())
        ratios[f"one by one / in lanes, {words}"] = (f"{words} one by one", f"{words} in lanes")
    return medians(times_in_turn(calls, rounds), ratios)


def show(name: str, case: Case, found: Found) -> None:
    """One program, in words."""
    print(name)
    for words, seconds in found["seconds"].items():
        print(f"  {words:<34}{1e3 * seconds:9.2f} ms")
    for words, ratio in found["ratios"].items():
        print(f"  {words:<34}{ratio:9.2f}")


if __name__ == "__main__":
    run("Measure loops in lanes.", CASES, measured, show)
