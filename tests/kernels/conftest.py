"""Makes the programs in `examples/kernels/` importable, and says what the random kernels had."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from anadrome.schedule import workers

FOLDER = str(Path(__file__).resolve().parents[2] / "examples" / "kernels")

if FOLDER not in sys.path:
    sys.path.insert(0, FOLDER)


@pytest.fixture
def several_workers_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Launches with little work are given to several workers too."""
    monkeypatch.setattr(workers, "LEAST_WORK", -(1 << 40))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Add up what the tests have counted, in whichever process they ran."""
    counts: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, found in getattr(report, "user_properties", ()):
                if name == "kernels" and report.when == "call":
                    counts.update(found)
    if counts:
        shown = ", ".join(f"{name} {count}" for name, count in counts.most_common())
        terminalreporter.write_line(f"random kernels: {shown}")
