"""The machine in words, and what a core of it can do at most, measured by `benchmarks/c/limits.c`."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from bench.c_code import NoCompilerError, bound, compiler, library
from bench.clock import Clock, duration

MEMORY, CACHE = 1 << 24, 1 << 14
"""Numbers of each array of a triad that goes through memory, and of one that stays in the second cache."""


def words() -> list[str]:
    """Processor, system and versions."""
    cores = f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}"
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "llvmlite"))
    system = f"{platform.system()} {platform.release().split('-')[0]}"
    return [
        f"{_processor()}, {cores}; {system}, Python {platform.python_version()}, {packages}; {_compiler()}"
    ]


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _compiler() -> str:
    try:
        command = [compiler(), "--version"]
    except NoCompilerError as error:
        return f"no C compiler ({error}): columns of C stay empty"
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[0]


def limits(is_small: bool) -> dict[str, float]:
    """Rates by their names with units: of a core in processor time, and of two beside one as time goes by."""
    code, size = library("limits"), 1 << 10 if is_small else MEMORY
    share = 100 if is_small else 1
    rounds = 20_000_000 // share
    chains = [bound(code.multiply_add, (rounds, 0.999, 1e-6)) for _ in range(2)]
    (operations,) = chains[0]()
    streams = [_triad(code, size, 2) for _ in range(2)]
    x, passes, repeats = np.linspace(-0.5, 0.5, CACHE), 2_000 // share, 500 // share
    cached = _triad(code, CACHE, passes)
    exponentials = bound(code.exponentials, (len(x), repeats, x), (np.empty_like(x),), has_value=False)
    return {
        "fused operations, GFLOP/s": operations / seconds(chains[:1], time.process_time) / 1e9,
        "triad from memory, GB/s": 2 * 24 * size / seconds(streams[:1], time.process_time) / 1e9,
        "triad from the second cache, GB/s": passes * 24 * CACHE / seconds([cached], time.process_time) / 1e9,
        "exponentials, G/s": repeats * len(x) / seconds([exponentials], time.process_time) / 1e9,
        "two threads over one, operations": 2 * seconds(chains[:1]) / seconds(chains),
        "two threads over one, memory": 2 * seconds(streams[:1]) / seconds(streams),
    }


def _triad(code: Any, size: int, rounds: int) -> Callable[[], Any]:
    inputs = (np.ones(size), np.ones(size))
    return bound(code.triad, (size, rounds, 0.5, *inputs), (np.zeros(size),), has_value=False)


def seconds(calls: list[Callable[[], Any]], clock: Clock = time.perf_counter) -> float:
    """How long calls of C take side by side, each on a thread of its own; the least of seven times."""
    with ThreadPoolExecutor(len(calls)) as threads:
        side_by_side = lambda: list(threads.map(lambda call: call(), calls))
        return min(duration(side_by_side, clock=clock) for _ in range(7))
