"""A line on the terminal that says what a long compilation is doing, and is erased when it is done.

The compiler reports nothing: another thread looks, after two seconds and then twice a second, which of its
packages the compiling thread is in. So the line costs nothing where there is none, and no stage is too long
to be seen.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TextIO

from anadrome import compile
from anadrome.config import Config

PATIENCE = 2.0
"""After how many seconds the line appears."""

INTERVAL = 0.5
"""How many seconds lie between two looks."""

STAGES: Mapping[str, str] = {
    "anadrome.frontend.": "front end",
    "anadrome.ad.": "differentiation",
    "anadrome.passes.": "pass",
    "anadrome.lower.": "lowering",
    "anadrome.schedule.": "scheduling",
    "anadrome.targets.": "LLVM",
    "anadrome.api.derivatives.": "differentiation",
    "anadrome.sparsity.pattern": "sparsity pattern",
    "anadrome.api.sparse.colouring": "colouring",
}
"""How the modules of each stage begin -> what the line calls it; a pass has the name of its module too."""
STEPS: Mapping[str, str] = {
    "prepare": "pass",
    "optimise": "pass",
    "lower_function": "lowering",
    "compile_function": "scheduling",
}
"""Functions of `compile` -> the stage that they run. Where mypyc has compiled that, it is on no stack."""


class Line:
    """A line that is drawn again in place, on a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def show(self, words: str) -> None:
        """Draw the line, as much of it as the terminal is wide."""
        try:
            width = os.get_terminal_size(self._stream.fileno()).columns or 80
        except (OSError, ValueError):
            width = 80
        self._write(words[: width - 1])

    def erase(self) -> None:
        """Leave nothing of the line."""
        self._write("")

    def _write(self, words: str) -> None:
        self._stream.write(f"\r{words}\x1b[K")
        self._stream.flush()


def is_terminal(stream: TextIO | None) -> bool:
    """Whether lines can be drawn again on a stream."""
    try:
        return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
    except (AttributeError, ValueError):  # it is closed, or stands in for a stream
        return False


@contextmanager
def announced(what: str, config: Config) -> Iterator[None]:
    """A `with` block that says what it is doing where it takes long, and somebody sees it."""
    stream = sys.stderr
    if not config.progress or not is_terminal(stream):
        yield
        return
    done = threading.Event()
    words = (what, threading.get_ident(), stream, done)
    watcher = threading.Thread(target=_watch, args=words, name="anadrome progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _watch(what: str, thread: int, stream: TextIO, done: threading.Event) -> None:
    """Draw the line from time to time, until it is done."""
    began = time.monotonic()
    if done.wait(PATIENCE):
        return
    line, stage = Line(stream), "front end"
    with suppress(OSError, ValueError):  # the terminal has gone: nobody looks
        while True:
            stage = stage_of(sys._current_frames().get(thread)) or stage
            line.show(f"compiling {what}: {stage}, {time.monotonic() - began:.0f} s")
            if done.wait(INTERVAL):
                break
        line.erase()


def stage_of(frame: FrameType | None) -> str:
    """What the compiler is doing, by the stack of its thread: the stage entered last, if it is in one."""
    stack = []
    while frame is not None:
        stack.append(frame)
        frame = frame.f_back
    current, words = "", ""
    for frame in reversed(stack):
        module, function = str(frame.f_globals.get("__name__", "")), frame.f_code.co_name
        if module == compile.__name__ and function in STEPS:
            current, words = module, STEPS[function]
            if words == "pass":
                words = f"pass {frame.f_locals.get('name', '')}"
        for begin, stage in STAGES.items():
            if module.startswith(begin) and begin != current:
                current, words = begin, stage
                if stage == "pass":
                    words = f"pass {module.removeprefix(begin).replace('_', '-')}"
    return words
