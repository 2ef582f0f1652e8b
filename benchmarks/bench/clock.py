"""Times as medians of paired runs, and memory as the growth of the process's peak."""

from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

Call = Callable[[], object]
Clock = Callable[[], float]


@dataclass(frozen=True)
class Paired:
    """Two calls timed in turn: the median time of each, in seconds, and the median of second over first."""

    first: float
    second: float
    ratio: float


def paired(first: Call, second: Call, seconds: float = 1.0, least: int = 7) -> Paired:
    """Time two calls alternately, so that what disturbs the machine disturbs both."""
    repeats = (repeats_for(first), repeats_for(second))
    firsts: list[float] = []
    seconds_: list[float] = []
    end = time.perf_counter() + seconds
    while len(firsts) < least or time.perf_counter() < end:
        firsts.append(duration(first, repeats[0]))
        seconds_.append(duration(second, repeats[1]))
    ratios = [after / before for before, after in zip(firsts, seconds_, strict=True)]
    return Paired(statistics.median(firsts), statistics.median(seconds_), statistics.median(ratios))


def in_turn(calls: Mapping[str, Call], base: str, clock: Clock, rounds: int = 25) -> dict[str, Paired]:
    """Time several calls of one kind in turn, forwards and backwards, each beside the one called `base`."""
    times = times_in_turn(calls, rounds, clock, repeats_for(calls[base], 4e-3))
    median = statistics.median
    return {
        name: Paired(
            median(times[base]),
            median(found),
            median(after / before for before, after in zip(times[base], found, strict=True)),
        )
        for name, found in times.items()
    }


def times_in_turn(
    calls: Mapping[str, Call],
    rounds: int,
    clock: Clock = time.perf_counter,
    repeats: int | Mapping[str, int] = 1,
) -> dict[str, list[float]]:
    """The time of each call in each round, in seconds: every other round goes through them backwards.

    `repeats` is how often a call is made in a row, of all calls or of each.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    counts = {name: repeats if isinstance(repeats, int) else repeats[name] for name in calls}
    for turn in range(rounds):
        for name in list(calls)[:: 1 if turn % 2 else -1]:
            times[name].append(duration(calls[name], counts[name], clock))
    return times


def duration(call: Call, repeats: int = 1, clock: Clock = time.perf_counter) -> float:
    """The time of one call, in seconds, as the mean over some in a row."""
    start = clock()
    for _ in range(repeats):
        call()
    return (clock() - start) / repeats


def repeats_for(call: Call, seconds: float = 2e-3) -> int:
    """How many calls in a row take long enough to be timed."""
    once = min(duration(call) for _ in range(3))
    return max(1, min(10_000, int(seconds / max(once, 1e-7))))


def keep_freed_memory() -> None:
    """Have the C library keep what is freed, so that no call is charged for the pages it gets afresh.

    Otherwise an array from some 100 kB on is given back to the system and faulted in again by every call, or
    is not, as the order of the frees before it has it: chance, and as dear as a whole pass of arithmetic.
    """
    change = getattr(ctypes.CDLL(None), "mallopt", None)
    if change is not None:
        for parameter in (M_TRIM_THRESHOLD, M_MMAP_THRESHOLD):
            change(parameter, 1 << 30)


M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Parameters of glibc's `mallopt`."""


def peak_growth(call: Call) -> int | None:
    """How many bytes above its present size the process grows during a call; None where it cannot be told."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)  # what earlier calls have freed goes back to the system, so that it is counted again
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak starts again from here
    except OSError:
        return None
    before = _status("VmRSS")
    call()
    return max(0, _status("VmHWM") - before)


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    return 0
