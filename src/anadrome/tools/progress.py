"""A progress bar: redrawn in place on a terminal, a line for each tenth elsewhere."""

from __future__ import annotations

import time
from typing import TextIO

from anadrome.api.progress import Line, is_terminal


class Progress:
    """Shows how far a run of a known number of steps is."""

    def __init__(self, stream: TextIO, steps: int, width: int = 32) -> None:
        self._stream = stream
        self._steps = max(1, steps)
        self._width = width
        self._line = Line(stream) if is_terminal(stream) else None
        self._drawn = 0.0
        self._tenth = -1

    def show(self, step: int, words: str) -> None:
        """Draw the bar at a step; on a terminal at most twenty times a second."""
        share = step / self._steps
        now = time.monotonic()
        if self._line is not None:
            if now - self._drawn < 0.05 and step < self._steps:
                return
            self._drawn = now
        elif int(10 * share) == self._tenth:
            return
        self._tenth = int(10 * share)
        filled = round(self._width * share)
        bar = "#" * filled + "-" * (self._width - filled)
        drawn = f"[{bar}] {share:4.0%}  step {step}/{self._steps}  {words}"
        if self._line is not None:
            self._line.show(drawn)
        else:
            print(drawn, file=self._stream, flush=True)

    def finish(self) -> None:
        """End the line."""
        if self._line is not None:
            print(file=self._stream, flush=True)
