"""Measure programs beside hand-written C: the objective, and the gradient beside a hand-derived one.

    python benchmarks/native.py                           all programs, one thread
    python benchmarks/native.py histogram --rounds 25     some of them, with more rounds
    python benchmarks/native.py --json                    the numbers as JSON

The C of `benchmarks/c/` is compiled on the spot by `cc -O3 -march=native -ffast-math`, and its values and
gradients are compared with ours before anything is timed. All four are timed in turn, forwards and backwards;
times are medians, ratios medians of the ratios within a round. A gradient gives the value too. Ours allocates
what it gives, C writes into the same memory each time. `--small` takes sizes that say nothing, for a look at
whether all runs.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / folder) for folder in ("benchmarks", "examples", "src")]
os.environ.setdefault("ANADROME_THREADS", "1")

from bench.clock import times_in_turn  # noqa: E402 (the path is set above)
from bench.comparison import Found, assert_agree, medians, run  # noqa: E402
from bench.native_cases import CASES, Case  # noqa: E402

RATIOS = {
    "objective / C": ("objective", "C objective"),
    "gradient / C": ("gradient", "C gradient"),
}


def main() -> None:
    """Measure what was asked for, and print it."""
    run("Measure programs beside hand-written C.", CASES, measured, show)


def measured(case: Case, rounds: int, is_small: bool) -> Found:
    """Median seconds of each version, and ratios, after the versions were compared."""
    arguments = case.arguments(is_small)
    ours, native = case.ours(*arguments), case.native(*arguments)
    assert_agree(ours.objective(), native.objective())
    assert_agree(ours.gradient(), native.gradient())
    calls = {
        "C objective": native.objective,
        "C gradient": native.gradient,
        "objective": ours.objective,
        "gradient": ours.gradient,
    }
    return medians(times_in_turn(calls, rounds), RATIOS)


def show(name: str, case: Case, found: Found) -> None:
    """One line of the table."""
    seconds, ratios = found["seconds"], found["ratios"]
    print(
        f"{name:<17}{case.size:<23}"
        f"C {1e3 * seconds['C objective']:7.2f} ms, gradient {1e3 * seconds['C gradient']:7.2f} ms   "
        f"ours / C {ratios['objective / C']:5.2f}, gradient {ratios['gradient / C']:5.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
