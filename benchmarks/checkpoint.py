"""Checkpoint policies: memory and time of the gradient of a long recurrence, and what `ad.explain` predicts.

    python benchmarks/checkpoint.py              10⁶ steps of a state of 1,000 numbers
    python benchmarks/checkpoint.py --steps 10000 --size 1000

The recurrence is a logistic map, uⱼ ← uⱼ + a·(uⱼ - uⱼ²); the gradient is that of Σ uⱼ² by the first state and
by a. `predicted` and `counted` are the most bytes of arrays held at once, as `ad.explain` predicts them from
the sizes and as compiled code counts them; `grown` is the growth of the process's peak during a call. `again`
is how many iterations run once more, as a multiple of the steps. A policy that would take more than `--limit`
bytes is predicted only.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "src")]

from bench.clock import peak_growth  # noqa: E402 (the path is set above)

import anadrome as ad  # noqa: E402

POLICIES: tuple[dict[str, Any], ...] = (
    {"checkpoint": 1},
    {"checkpoint": "sqrt"},
    {"checkpoint": 3},
    {"checkpoint": "log"},
    {"memory": "1MB"},
    {"memory": "64MB"},
)
COLUMNS = ("policy", "states", "predicted MB", "counted MB", "grown MB", "again", "seconds", "of forward")


def recurrence(policy: dict[str, Any]) -> Callable[..., Any]:
    """The sum of squares of a state after some steps."""

    def program(u: Any, a: float, steps: int) -> Any:
        for _ in ad.range(steps, **policy):
            u = u + a * (u - u * u)
        return np.sum(u * u)

    return program


def seconds(call: Callable[[], object]) -> float:
    """How long a call takes: the shorter of two."""
    times = []
    for _ in range(2):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def measured(policy: dict[str, Any], args: tuple[Any, ...], forward: float, limit: int) -> tuple[str, ...]:
    """The row of one policy."""
    gradient = ad.grad(recurrence(policy), argnums=(0, 1))
    name = ", ".join(f"{key}={value!r}" for key, value in policy.items())
    found = ad.explain(gradient, *args)
    (sweep,) = found.sweeps
    assert sweep.repeats is not None and sweep.trip is not None
    known = (name, f"{sweep.states:,}", f"{found.predicted / 1e6:.3f}")
    again = f"{sweep.repeats / max(sweep.trip, 1):.2f}"
    if found.predicted > limit:
        return (*known, "-", "-", again, "-", "-")
    counted = ad.explain(gradient, *args, measure=True).measured
    gradient(args[0], args[1], 1)  # compiled and warm
    grown = peak_growth(lambda: gradient(*args))
    spent = seconds(lambda: gradient(*args))
    sizes = (f"{(counted or 0) / 1e6:.3f}", "-" if grown is None else f"{grown / 1e6:.1f}")
    return (*known, *sizes, again, f"{spent:.2f}", f"{spent / forward:.1f}")


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--steps", type=int, default=10**6)
    options.add_argument("--size", type=int, default=1000)
    options.add_argument("--limit", type=float, default=1e9, help="bytes above which nothing is run")
    given = options.parse_args()
    args = (np.linspace(0.1, 0.9, given.size), 1e-6, given.steps)
    plain = ad.jit(recurrence({}))
    plain(args[0], args[1], 1)
    forward = seconds(lambda: plain(*args))
    print(f"{given.steps:,} steps of {given.size:,} numbers; the program itself takes {forward:.2f} s")
    rows = [COLUMNS] + [measured(policy, args, forward, int(given.limit)) for policy in POLICIES]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  ".join([row[0].ljust(widths[0]), *cells]))


if __name__ == "__main__":
    main()
