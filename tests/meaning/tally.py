"""Counting judgements: of all programs, by reason of refusal, and by axis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.meaning.judge import Judgement, Refused


@dataclass(slots=True)
class Tally:
    """Counts of verdicts: of all programs, by reason of refusal, and by axis."""

    verdicts: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    by_axis: dict[tuple[str, str], dict[str, int]] = field(default_factory=dict)

    def add(self, judgement: Judgement) -> None:
        """Count one judgement."""
        _count(self.verdicts, judgement.verdict)
        if judgement.verdict == "refused" and isinstance(judgement.ours, Refused):
            _count(self.reasons, f"{judgement.ours.code} {judgement.ours.reason}")
        for axis in judgement.program.axes:
            _count(self.by_axis.setdefault(axis, {}), judgement.verdict)

    def lines(self) -> Iterator[str]:
        """The report."""
        total = sum(self.verdicts.values())
        yield f"{total} programs"
        for verdict in VERDICTS:
            count = self.verdicts.get(verdict, 0)
            yield f"  {verdict:8} {count:6} {100 * count / max(total, 1):6.2f} %"
        yield "refused by reason"
        for reason, count in sorted(self.reasons.items(), key=lambda item: -item[1]):
            yield f"  {reason:28} {count:6}"
        yield f"by axis: {' '.join(VERDICTS)}"
        for (axis, value), counts in sorted(self.by_axis.items()):
            numbers = " ".join(f"{counts.get(verdict, 0):6}" for verdict in VERDICTS)
            yield f"  {axis:12} {value:36} {numbers}"


VERDICTS = ("right", "refused", "raises", "wrong", "crash")


def _count(counts: dict[Any, int], key: object) -> None:
    counts[key] = counts.get(key, 0) + 1
