"""What one process measures: `python -m bench.worker NAME cold|warm|c`, an answer in JSON on standard output.

`cold` starts without object cache and calls the objective and the derivative once. `warm` does the same in
a new process, with the cache that `cold` has left, and then measures times and memory. Imports are not
counted. `c` times them beside C.
"""

from __future__ import annotations

import functools
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import anadrome as ad
from bench.c_objective import against_c
from bench.cases import CASES, LARGER, Case
from bench.clock import duration, paired, peak_growth


def first_call(call: Callable[[], object]) -> float:
    """How long a call takes, in seconds."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def case_of(name: str) -> Case:
    """The program of a name."""
    return next(case for case in (*CASES, *LARGER) if case.name == name)


def measure(name: str, is_warm: bool) -> dict[str, Any]:
    """First calls, and in a warm process times and memory, of one program."""
    case = case_of(name)
    objective, derivative = case.functions()
    arguments = case.arguments()
    found: dict[str, Any] = {
        "first_derivative": first_call(lambda: derivative(*arguments)),
        "first_objective": first_call(lambda: objective(*arguments)),
    }
    if is_warm:
        times = paired(lambda: objective(*arguments), lambda: derivative(*arguments))
        found |= {"objective": times.first, "derivative": times.second, "ratio": times.ratio}
        for name, call in (("objective_bytes", objective), ("derivative_bytes", derivative)):
            ad.release_memory()  # what is kept of earlier calls would be taken again, and not be seen
            found[name] = peak_growth(functools.partial(call, *arguments))
    return found


def overhead() -> dict[str, Any]:
    """The time of a call whose work is nothing: one and two numbers, and an array."""

    @ad.jit
    def one(x: float) -> float:
        return x * x

    @ad.jit
    def two(x: float, y: float) -> float:
        return x * y

    slope = ad.grad(one)
    calls = {
        "one number": lambda: one(2.0),
        "two numbers": lambda: two(2.0, 3.0),
        "gradient by one number": lambda: slope(2.0),
    }
    found = {}
    for name, call in calls.items():
        call()
        found[name] = min(duration(call, 20_000) for _ in range(5))
    return found


def c_comparison(name: str) -> dict[str, Any]:
    """A program beside the loops of its objective in C: seconds of these, and ours over them."""
    objective, derivative = against_c(case_of(name))
    return {"c": objective.first, "objective": objective.ratio, "derivative": derivative.ratio}


def main() -> None:
    """Answer one question."""
    name, mode = sys.argv[1:]
    if name == "overhead":
        answer = overhead()
    elif mode == "c":
        answer = c_comparison(name)
    else:
        answer = measure(name, mode == "warm")
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
