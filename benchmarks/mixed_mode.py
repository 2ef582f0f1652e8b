"""Mixed mode beside plain reverse mode: time and memory of the gradient of elementwise programs.

    python benchmarks/mixed_mode.py              every program
    python benchmarks/mixed_mode.py --threads 2

* `hm_lstm`: the cell of a hierarchical multiscale LSTM (Revels et al. 2018, §3.2), N by N, with control flow
  that each element takes on its own; z and z_below are 0 or 1 at random, or alike in runs of 32 ("uniform").
* `arity k`: the product of tanh(|x_j - ½| + ½ …) of k arguments (§3.4.1), a million elements.
* `sines k`, `powers k`, `shares k`: twelve steps of x ← mean_j of sin(x·p_j), e^(-x·p_j) or p_j/(x + p_j)
  with k parameters: where dual numbers stop to pay. The last two have poles, where products are guarded.
* `newton`: the root of a cubic by Newton's iteration, whose number of steps each element finds for itself.

Each way is a compiled gradient of its own: `reverse` enters the body in the return sweep; `store` and
`recompute` take dual numbers, with the value or in the return sweep. Times are medians of calls made in turn,
of processor time where one thread runs, ratios the medians of neighbours; `auto` marks what the cost rule
picks, with its time over that of the fastest way. Memory that is freed is kept, so that page faults have no
part in the times.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / folder) for folder in ("benchmarks", "examples", "src")]

from bench.clock import in_turn, keep_freed_memory, peak_growth  # noqa: E402 (the path is set above)
from bench.programs import cell_update  # noqa: E402

import anadrome as ad  # noqa: E402

WAYS = ("reverse", "store", "recompute")
COLUMNS = ("program", "way", "milliseconds", "of reverse", "memory MB", "auto")


@dataclass(frozen=True)
class Case:
    """A program, the arguments it is measured with, and which of them are differentiated."""

    name: str
    function: Callable[..., Any]
    args: tuple[np.ndarray, ...]
    argnums: tuple[int, ...]


# ---------------------------------------------------------------------------- programs
def hm_lstm(c: Any, f: Any, i: Any, g: Any, z: Any, z_below: Any, weight: Any) -> Any:
    """⟨weight, the next cell states⟩; z and z_below hold for a column."""
    rows = range(len(c))
    columns = range(len(z))
    return sum(
        weight[r, k] * cell_update(c[r, k], f[r, k], i[r, k], g[r, k], z[k], z_below[k])
        for r in rows
        for k in columns
    )


def arity(count: int) -> Callable[..., Any]:
    """⟨weight, Π_k tanh(x_k > ½ ? x_k : -x_k)⟩ of `count` arguments."""

    def product(weight: Any, *xs: Any) -> Any:
        def one(n: Any) -> Any:
            result = 1.0
            for x in xs:
                result = result * np.tanh(x[n] if x[n] > 0.5 else -x[n])
            return result

        return sum(weight[n] * one(n) for n in range(len(weight)))

    return product


def root(a: Any, b: Any) -> Any:
    """The positive x with x³ + a·x = b, by Newton's iteration."""
    x = b
    while abs(x * x * x + a * x - b) > 1e-10 * b:
        x = x - (x * x * x + a * x - b) / (3.0 * x * x + a)
    return x


def newton(a: Any, b: Any, weight: Any) -> Any:
    """⟨weight, roots⟩"""
    return sum(weight[n] * root(a[n], b[n]) for n in range(len(a)))


def sine(x: Any, p: Any) -> Any:
    """sin(x·p)"""
    return np.sin(x * p)


def power(x: Any, p: Any) -> Any:
    """e^(-x·p)"""
    return np.exp(-x * p)


def share(x: Any, p: Any) -> Any:
    """p / (x + p)"""
    return p / (x + p)


def orbit(term: Callable[[Any, Any], Any], count: int) -> Callable[..., Any]:
    """⟨weight, x_12⟩ with x_0 = Σ p and x ← Σ_k term(x, p_k) / K, of `count` arguments p_k."""

    def total(weight: Any, *ps: Any) -> Any:
        def one(n: Any) -> Any:
            x = sum(p[n] for p in ps)
            for _ in range(12):
                x = sum(term(x, p[n]) for p in ps) / count
            return x

        return sum(weight[n] * one(n) for n in range(len(weight)))

    return total


def cases(size: int, count: int) -> list[Case]:
    """Every program with its arguments."""
    random = np.random.default_rng(0)
    gates = tuple(random.uniform(size=(size, size)) for _ in range(4))
    weight = random.normal(size=(size, size))
    found = []
    for kind, run in (("random", 1), ("uniform", 32)):
        controls = tuple(
            np.repeat(random.integers(0, 2, -(-size // run)), run)[:size] * 1.0 for _ in range(2)
        )
        found.append(Case(f"hm_lstm {kind}", hm_lstm, (*gates, *controls, weight), (0, 1, 2, 3)))
    weights = random.normal(size=count)
    for k in range(1, 11):
        xs = tuple(random.uniform(size=count) for _ in range(k))
        found.append(Case(f"arity {k}", arity(k), (weights, *xs), tuple(range(1, k + 1))))
    for name, term in (("sines", sine), ("powers", power), ("shares", share)):
        for k in (1, 2, 4, 8, 16):
            xs = tuple(random.uniform(size=count) for _ in range(k))
            found.append(Case(f"{name} {k}", orbit(term, k), (weights, *xs), tuple(range(1, k + 1))))
    a, b = random.uniform(0.5, 2.0, count), random.uniform(1.0, 9.0, count)
    found.append(Case("newton", newton, (a, b, weights), (0, 1)))
    return found


# ---------------------------------------------------------------------------- measuring
def gradient(case: Case, way: str, threads: int) -> Callable[[], Any]:
    """A call of the compiled gradient in one way."""
    config = ad.Config(mixed=way, threads=threads)  # type: ignore[arg-type]
    compiled = ad.grad(ad.jit(case.function, config=config), argnums=case.argnums)
    compiled(*case.args)
    return lambda: compiled(*case.args)


def measure(case: Case, threads: int) -> None:
    """Print one line for each way, and check that all agree."""
    calls = {way: gradient(case, way, threads) for way in WAYS}
    expected = calls["reverse"]()
    chosen = picked(case)
    for call in calls.values():
        for got, wanted in zip(call(), expected, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-11, atol=1e-13)
    times = in_turn(calls, "reverse", time.thread_time if threads == 1 else time.perf_counter)
    fastest = min(time.ratio for time in times.values())
    for way, call in calls.items():
        memory = peak_growth(call)
        size = "?" if memory is None else f"{memory / 1e6:.1f}"
        mark = f"< {times[way].ratio / fastest:.2f}" if way == chosen else ""
        cells = (case.name, way, f"{1e3 * times[way].second:.2f}", f"{times[way].ratio:.2f}", size, mark)
        print(row(cells), flush=True)


def picked(case: Case) -> str:
    """What the cost rule picks for the body of the program."""
    gradient_of = ad.grad(ad.jit(case.function, config=ad.Config(mixed="auto")), argnums=case.argnums)
    (way,) = {body.mode for body in ad.explain(gradient_of, *case.args).bodies}
    return way


def row(cells: tuple[str, ...]) -> str:
    """One line of the table."""
    return f"{cells[0]:<16}" + "".join(f"{cell:>14}" for cell in cells[1:])


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description="Mixed mode beside reverse mode.")
    parser.add_argument("--threads", type=int, default=1, help="workers of a parallel loop")
    parser.add_argument("--size", type=int, default=1024, help="N of the N by N cell")
    parser.add_argument("--count", type=int, default=1_000_000, help="elements of the other programs")
    parser.add_argument("--only", default="", help="programs whose name begins so")
    options = parser.parse_args()
    keep_freed_memory()
    print(row(COLUMNS))
    for case in cases(options.size, options.count):
        if case.name.startswith(options.only):
            measure(case, options.threads)


if __name__ == "__main__":
    main()
