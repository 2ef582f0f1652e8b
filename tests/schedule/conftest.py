"""Helpers of this folder are imported by name."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from anadrome.schedule import workers

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def several_workers_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs with little work are given to several workers too."""
    monkeypatch.setattr(workers, "LEAST_WORK", -(1 << 40))
