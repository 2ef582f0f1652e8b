"""What a run of the interpreter counts, and what it gives; the model of cost stands in `array_ir.interp`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Work:
    """What a run did: weighted scalar operations, elements moved, iterations; applications by name."""

    operations: int = 0
    reads: int = 0
    writes: int = 0
    iterations: int = 0
    bytes: int = 0
    """Size of the elements read and written."""
    applied: Counter[str] = field(default_factory=Counter)
    """Operations by name, not weighted; those of named monoids among them."""

    @property
    def total(self) -> int:
        """All of it in one number."""
        return self.operations + self.reads + self.writes + self.iterations

    def read(self, value: Any) -> None:
        """Count a read of every element."""
        self.reads += value.size
        self.bytes += value.nbytes

    def write(self, value: Any) -> None:
        """Count a write of every element."""
        self.writes += value.size
        self.bytes += value.nbytes

    def apply(self, name: str, cost: int, times: int = 1) -> None:
        """Count scalar operations."""
        self.operations += cost * times
        self.applied[name] += times


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave, and what it took."""

    results: tuple[Any, ...]
    work: Work
