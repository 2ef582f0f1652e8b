"""A function of an eval: from its JSON input to arguments, the timed computation, and back to JSON."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Function:
    """What an adapter says of one function; only `compute` is timed."""

    prepare: Callable[[Any], tuple[Any, ...]]
    compute: Callable[..., Any]
    present: Callable[[Any], Any]


def run(function: Function, data: Any) -> tuple[Any, list[dict[str, Any]]]:
    """The output, and a timing for each run.

    The first call, which may compile, is timed as "prepare". Then the function runs at least `min_runs` times
    and until these runs have taken `min_seconds`; each is an entry "evaluate".
    """
    arguments = function.prepare(data)
    limits = data if isinstance(data, dict) else {}
    min_runs, min_seconds = limits.get("min_runs", 1), limits.get("min_seconds", 0.0)
    result, first = _timed(function.compute, arguments)
    durations: list[int] = []
    while len(durations) < max(min_runs, 1) or sum(durations) < min_seconds * 1e9:
        result, duration = _timed(function.compute, arguments)
        durations.append(duration)
    timings = [{"name": "prepare", "nanoseconds": first}]
    timings += [{"name": "evaluate", "nanoseconds": duration} for duration in durations]
    return function.present(result), timings


def _timed(compute: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, int]:
    start = time.perf_counter_ns()
    result = compute(*arguments)
    return result, time.perf_counter_ns() - start
