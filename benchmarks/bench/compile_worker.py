"""What one process measures of one program: `python -m bench.compile_worker NAME [CACHE]`, in JSON.

The processor time of a first call, without object cache, less that of a second one. What a process does once,
to start LLVM and the runtime of compiled programs, another program has done before. A timer of the
processor's time asks which room of Anadrome is at work; what LLVM takes, whose code no timer can interrupt,
is counted where it returns. With a folder of programs, the seconds that the first call waits for its own.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
import time
from types import FrameType
from typing import Any

PERIOD = 0.002
"""Seconds of processor time between two questions."""

ROOMS = {
    "frontend": "front end",
    "api": "front end",
    "errors": "front end",
    "ad": "AD",
    "passes": "passes",
    "lower": "schedule",
    "kernel_ir": "schedule",
    "schedule": "schedule",
    "targets": "code",
}
"""Which part of the table a room belongs to; a room that all use belongs to its caller."""


def part_of(frame: FrameType | None) -> str:
    """The part of the table that a frame belongs to."""
    while frame is not None:
        path = frame.f_code.co_filename
        if "/llvmlite/binding/" in path:
            return "LLVM"
        _, inside, rest = path.rpartition("/src/anadrome/")
        if inside and (part := ROOMS.get(rest.split("/")[0])):
            return part
        frame = frame.f_back
    return "other"


class Parts:
    """The processor time of each part, as samples find it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.last = time.process_time()

    def sample(self, _: int, frame: FrameType | None) -> None:
        """Count what has passed since the last sample to the part that is at work."""
        now = time.process_time()
        part = part_of(frame)
        self.seconds[part] = self.seconds.get(part, 0.0) + now - self.last
        self.last = now

    def __enter__(self) -> Parts:
        signal.signal(signal.SIGPROF, self.sample)
        signal.setitimer(signal.ITIMER_PROF, PERIOD, PERIOD)
        self.last = time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def measure(name: str) -> dict[str, Any]:
    """The seconds of the first call of a program, their parts, and the memory of the process."""
    if name == "import":
        import llvmlite.binding  # noqa: F401, PLC0415
        import numpy  # noqa: F401, PLC0415 (what is not counted comes first)
        import scipy  # noqa: F401, PLC0415

        start = time.process_time()
        import anadrome  # noqa: F401, PLC0415

        return {"seconds": time.process_time() - start, "parts": {}, "memory": peak()}
    from bench.compile_programs import LONG, PROGRAMS  # noqa: PLC0415 (imports are measured here)

    call = {**PROGRAMS, **LONG}[name]()
    start_llvm()
    start = time.process_time()
    with Parts() as parts:
        call()
    first = time.process_time() - start
    start = time.process_time()
    call()
    return {"seconds": first - (time.process_time() - start), "parts": parts.seconds, "memory": peak()}


def start_llvm() -> None:
    """Compile and run a loop that sums an array, and one that makes an array."""
    import numpy as np  # noqa: PLC0415

    import anadrome as ad  # noqa: PLC0415

    ad.jit(lambda x: np.sum(x * x))(np.ones(3))
    ad.jit(lambda x: x * x)(np.ones(100))


def peak() -> float:
    """The most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def measure_kept(name: str) -> dict[str, Any]:
    """How long the first call of a process waits, by the clock on the wall, with what is on disk."""
    from bench.compile_programs import LONG, PROGRAMS  # noqa: PLC0415 (the cache is named before)

    call = {**PROGRAMS, **LONG}[name]()
    start = time.perf_counter()
    call()
    first = time.perf_counter() - start
    start = time.perf_counter()
    call()
    return {"seconds": first - (time.perf_counter() - start), "parts": {}, "memory": peak()}


if __name__ == "__main__":
    if len(sys.argv) > 2:
        os.environ["ANADROME_CACHE_DIR"] = sys.argv[2]
        print(json.dumps(measure_kept(sys.argv[1])))
    else:
        with tempfile.TemporaryDirectory() as cache:
            os.environ["ANADROME_CACHE_DIR"] = cache
            print(json.dumps(measure(sys.argv[1])))
