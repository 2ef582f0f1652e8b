"""Sparse derivatives: how many directions, how long each step takes, and that the values are the dense ones.

    python benchmarks/sparse.py                 all cases
    python benchmarks/sparse.py rosenbrock ba   some of them

Each case is run at a small size, where it is compared with the dense derivative, and at a large one.
*pattern* is the search in the program with the colouring and the staging before it; *again* the same with
everything staged; *first* the first derivative, which compiles; *derivative* the median of the next five.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import block_array, csr_array

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / folder) for folder in ("examples", "src")]

import ba  # noqa: E402 (the path is set above)
import ht  # noqa: E402
from adbench_data import ba_input, hand_input  # noqa: E402

import anadrome as ad  # noqa: E402

COLUMNS = (
    "case",
    "rows",
    "columns",
    "elements",
    "directions",
    "mode",
    "pattern",
    "again",
    "first",
    "derivative",
)


@dataclass(frozen=True)
class Case:
    """A derivative with arguments of a small and a large size, and the dense one it must equal."""

    name: str
    sparse: Any
    small: Callable[[], tuple[Any, ...]]
    large: Callable[[], tuple[Any, ...]]
    dense: Callable[..., np.ndarray]


def rosenbrock(x: np.ndarray) -> float:
    """The chained Rosenbrock function."""
    return sum(100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2 for i in range(len(x) - 1))


def arrow(x: np.ndarray) -> float:
    """A function whose Hessian is an arrow: one variable meets all others."""
    return np.sum(x[1:] ** 3) + x[0] * np.sum(np.sin(x[1:]))


def scene(cameras: int, points: int, observations: int) -> tuple[Any, ...]:
    """A scene of bundle adjustment in which no camera or point is like another."""
    source = np.random.default_rng(0)
    seen = np.stack(
        (source.integers(0, cameras, observations), source.integers(0, points, observations)), axis=1
    )
    return (
        0.1 * source.normal(size=(cameras, 11)),
        source.normal(size=(points, 3)) + np.array([0.0, 0.0, 8.0]),
        source.uniform(size=observations),
        source.normal(size=(observations, 2)),
        seen,
    )


def hand(number: int) -> tuple[Any, ...]:
    """A hand with points on its triangles."""
    data = hand_input(number, "complicated")
    rest = (ht.hand_model(data["data"]["model"]), data["data"]["correspondences"], data["data"]["points"])
    theta = data["theta"] + 0.1 * np.random.default_rng(0).normal(size=26)
    return theta, data["us"], *rest


def dense_ba(*args: Any) -> np.ndarray:
    """The Jacobian of both errors by forward mode."""
    by = ad.jacfwd(ba.residuals, argnums=(0, 1, 2))(*args)
    sizes = (2 * len(args[2]), len(args[2]))
    return np.block([[part.reshape(size, -1) for part in row] for row, size in zip(by, sizes, strict=True)])


def dense_hand(*args: Any) -> np.ndarray:
    """The Jacobian by θ and u by forward mode."""
    by = ad.jacfwd(ht.residuals, argnums=(0, 1))(*args)
    return np.block([part.reshape(3 * len(args[4]), -1) for part in by])


CASES = (
    Case(
        "rosenbrock",
        ad.hessian(rosenbrock, sparse=True),
        lambda: (np.random.default_rng(0).normal(size=50),),
        lambda: (np.random.default_rng(0).normal(size=100_000),),
        ad.hessian(rosenbrock),
    ),
    Case(
        "arrow",
        ad.hessian(arrow, sparse=True),
        lambda: (np.random.default_rng(0).normal(size=50),),
        lambda: (np.random.default_rng(0).normal(size=10_000),),
        ad.hessian(arrow),
    ),
    Case(
        "ba",
        ad.jacobian(ba.residuals, argnums=(0, 1, 2), sparse=True),
        lambda: scene(5, 20, 40),
        lambda: ba.replicate(ba_input(1)),
        dense_ba,
    ),
    Case(
        "hand",
        ad.jacobian(ht.residuals, argnums=(0, 1), sparse=True),
        lambda: hand(1),
        lambda: hand(8),
        dense_hand,
    ),
)


def whole(found: Any) -> csr_array:
    """One matrix of the blocks of a sparse derivative."""
    if not isinstance(found, tuple):
        return found
    rows = found if isinstance(found[0], tuple) else (found,)
    return csr_array(block_array(rows, format="csr"))


def measured(case: Case, args: tuple[Any, ...]) -> tuple[str, ...]:
    """One line of the table."""
    start = time.perf_counter()
    case.sparse.sparsity(*args)
    middle = time.perf_counter()
    case.sparse.forget()
    again = time.perf_counter()
    found = case.sparse.sparsity(*args)
    compiled = time.perf_counter()
    case.sparse(*args)
    times = [time.perf_counter()]
    for _ in range(5):
        case.sparse(*args)
        times.append(time.perf_counter())
    steady = statistics.median(after - before for before, after in itertools.pairwise(times))
    rows, columns = found.shape
    numbers = (rows, columns, found.nonzeros, found.directions)
    seconds = (middle - start, compiled - again, times[0] - compiled, steady)
    return (case.name, *map(str, numbers), found.mode, *(f"{1e3 * one:.1f} ms" for one in seconds))


def main() -> None:
    """Measure what was asked for, and print it."""
    parser = argparse.ArgumentParser(description="Measure sparse derivatives.")
    parser.add_argument("cases", nargs="*", help=f"some of {', '.join(case.name for case in CASES)}")
    names = parser.parse_args().cases
    print("  ".join(f"{column:>10}" for column in COLUMNS))
    for case in CASES:
        if names and case.name not in names:
            continue
        small = case.small()
        for args in (small, case.large()):
            print("  ".join(f"{field:>10}" for field in measured(case, args)), flush=True)
        difference = np.abs(whole(case.sparse(*small)).toarray() - case.dense(*small)).max()
        print(f"{case.name:>10}  largest difference from the dense derivative: {difference:.1e}")


if __name__ == "__main__":
    main()
