"""The programs of one compiled function: those used last, up to a bound."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress

from anadrome.api.program import Program
from anadrome.api.signature import Signature

KEPT_STATES = 8
"""Programs kept for one signature, each for another state of what the function reads around it."""


class ProgramStore:
    """Programs by the signature of their calls, at most `limit` of them (one is always kept).

    `plain` is the short way to programs, by a key that is quickly found, and `exact` the shortest, by the
    very shapes of a call; whoever calls reads and writes them, and says in `used` which programs were reached
    so. A program that goes takes its machine code with it, once no call runs it any more. Reading is safe
    from several threads, `put` belongs into a lock.
    """

    def __init__(self, limit: int) -> None:
        self.plain: dict[object, Program] = {}
        self.exact: dict[object, Program] = {}
        self.used: set[Program] = set()
        self._limit = max(limit, 1)
        self._programs: OrderedDict[Signature, tuple[Program, ...]] = OrderedDict()

    def __len__(self) -> int:
        return sum(len(programs) for programs in list(self._programs.values()))

    def of(self, signature: Signature) -> tuple[Program, ...]:
        """The programs of a signature, the newest first."""
        found = self._programs.get(signature, ())
        if found:
            with suppress(KeyError):  # another thread has just removed them
                self._programs.move_to_end(signature)
        return found

    def has_types_of(self, apart: Signature) -> bool:
        """Whether there is a program for these types, whichever lengths are equal in it."""
        return any(signature.apart() == apart for signature in list(self._programs))

    def put(self, signature: Signature, program: Program) -> None:
        """Keep a program. Where there are too many, those go that no call has asked for the longest time."""
        states = min(KEPT_STATES, self._limit)
        self._programs[signature] = (program, *self._programs.get(signature, ()))[:states]
        self._programs.move_to_end(signature)
        if len(self) > self._limit:
            self._spare_plain()
            while len(self) > self._limit:
                self._programs.popitem(last=False)

    def _spare_plain(self) -> None:
        """Count programs that were reached the short way since this was done last as used now; and have them
        found the long way once, which keeps their order."""
        newest = next(reversed(self._programs))
        for signature, programs in list(self._programs.items()):
            if self.used.intersection(programs):
                self._programs.move_to_end(signature)
        self._programs.move_to_end(newest)
        self.plain.clear()
        self.exact.clear()
        self.used.clear()
