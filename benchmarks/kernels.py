"""Measure RSBench, XSBench and LBM as kernels and as array programs: times, and the ratios between them.

    python benchmarks/kernels.py                    all three, one thread
    python benchmarks/kernels.py lbm --rounds 25    one of them, with more rounds
    python benchmarks/kernels.py --json             the numbers as JSON

Value and gradient of both versions are timed in turn, forwards and backwards; ratios are medians of the
ratios within a round. A gradient is `value_and_grad`, the value included; compilation is not counted in.
`--small` takes sizes that say nothing, for a look at whether all runs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / folder) for folder in ("benchmarks", "examples/kernels", "src")]
os.environ.setdefault("ANADROME_THREADS", "1")

import lbm  # noqa: E402 (the path is set above)
import numpy as np  # noqa: E402
import rsbench  # noqa: E402
import xsbench  # noqa: E402
from bench.agreement import assert_agree  # noqa: E402
from bench.clock import times_in_turn  # noqa: E402
from bench.comparison import Found, medians, run  # noqa: E402


@dataclass(frozen=True)
class Case:
    """One program: its size in words, and its arguments, in full and for a look."""

    program: Any
    size: str
    arguments: Callable[[], tuple[Any, ...]]
    few: Callable[[], tuple[Any, ...]]


CASES = {
    "rsbench": Case(
        rsbench,
        "20,000 look-ups, small problem",
        lambda: (*rsbench.problem(), 20_000),
        lambda: (*rsbench.problem(30, 10), 20),
    ),
    "xsbench": Case(
        xsbench,
        "100,000 look-ups, 2,000 points",
        lambda: (*xsbench.problem(2_000), 100_000),
        lambda: (*xsbench.problem(20), 20),
    ),
    "lbm": Case(
        lbm,
        "40 × 40 × 40 cells, 10 steps, float32",
        lambda: (*lbm.problem(40, 40, 40, np.float32), 10),
        lambda: (*lbm.problem(6, 5, 6, np.float32), 2),
    ),
}
RATIOS = {
    "kernel / array, value": ("kernel", "array"),
    "kernel / array, gradient": ("kernel gradient", "array gradient"),
    "gradient / value, kernel": ("kernel gradient", "kernel"),
    "gradient / value, array": ("array gradient", "array"),
}


def main() -> None:
    """Measure what was asked for, and print it."""
    run("Measure kernels beside array programs.", CASES, measured, show)


def measured(case: Case, rounds: int, is_small: bool) -> Found:
    """Median seconds of each version, and medians of the ratios of one round."""
    program, arguments = case.program, (case.few if is_small else case.arguments)()
    versions = {
        "kernel": program.loss,
        "array": program.array_loss,
        "kernel gradient": program.value_and_gradient,
        "array gradient": program.array_value_and_gradient,
    }
    calls = {name: lambda version=version: version(*arguments) for name, version in versions.items()}
    assert_agree(calls["kernel"](), calls["array"]())
    assert_agree(calls["kernel gradient"](), calls["array gradient"]())
    return medians(times_in_turn(calls, rounds), RATIOS)


def show(name: str, case: Case, found: Found) -> None:
    """One program, in words."""
    print(f"{name}: {case.size}")
    for words, seconds in found["seconds"].items():
        print(f"  {words:<26}{1e3 * seconds:9.1f} ms")
    for words, ratio in found["ratios"].items():
        print(f"  {words:<26}{ratio:9.2f}")


if __name__ == "__main__":
    main()
