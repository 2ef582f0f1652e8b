"""Programs that another process has left are found before anything is staged, and only where they are right.

A program is a module of cases that read from another module, `setting`, in every way that there is. Each
process runs all cases: the first compiles; one like it finds; one where `setting` says something else must
compute what plain Python computes there, which is what every process compares with.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.api.remembered_program import CASES, DRIVER, SETTING

FIRST: dict[str, Any] = {
    "value": 2.0,
    "text": "up",
    "count": 3,
    "flag": False,
    "dtype": "float64",
    "chosen": "sin",
    "other": "m",
    "override": "pass",
    "odd": "Slotted()",
    "nowhere": "scaled",
}
"""What `setting` says at first."""

OTHERS: dict[str, dict[str, Any]] = {
    "numbers": {"value": 3.0, "count": 4},
    "texts": {"text": "down", "dtype": "float32", "chosen": "cos"},
    "objects": {
        "odd": 'type("Odd", (), {"extra": 9.0})()',
        "override": "def run(self, x): return x - 1.0",
        "nowhere": "calling",
    },
    "flag": {"flag": True},
    "sizes": {"other": "n"},
}
"""What it says later."""

STAGED_IN_EACH_PROCESS = {
    *("set_order", "own_set_order", "listed_set", "joined_set", "member", "hashed", "keys_apart"),
    *("arguments_of_process", "imported_inside", "hidden", "connected", "own_computed", "own_cached"),
    *("whole", "real", "word", "place", "record", "complexes", "equal_floats"),
}
"""Cases that read what is not said to another process."""


LENGTHS = itertools.count(1)
"""Each process is given another argument."""


def run(folder: Path, said: dict[str, Any], seed: int) -> dict[str, tuple[int, str]]:
    """How many programs a process that runs all cases stages, and what it gets wrong, by case."""
    (folder / "setting.py").write_text(SETTING.format(**said), encoding="utf-8")
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "ANADROME_VERIFY": "0"}
    environment["ANADROME_CACHE_DIR"] = str(folder / "cache")
    words = [sys.executable, "-B", str(folder / "driver.py"), "x" * next(LENGTHS)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, tuple[int, str]] = json.loads(done.stdout)
    return found


def wrong(found: dict[str, tuple[int, str]]) -> dict[str, str]:
    return {name: words for name, (_, words) in found.items() if words}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program, which a first process has run."""
    folder = tmp_path_factory.mktemp("program")
    (folder / "cases.py").write_text(textwrap.dedent(CASES), encoding="utf-8")
    (folder / "driver.py").write_text(textwrap.dedent(DRIVER), encoding="utf-8")
    assert wrong(run(folder, FIRST, 1)) == {}
    return folder


def test_a_process_like_the_first_stages_nothing(folder: Path) -> None:
    found = run(folder, FIRST, 2)
    assert wrong(found) == {}
    assert {name for name, (count, _) in found.items() if count} == STAGED_IN_EACH_PROCESS


@pytest.mark.parametrize("name", OTHERS)
def test_where_something_else_stands_python_says_what_is_right(folder: Path, name: str) -> None:
    found = run(folder, {**FIRST, **OTHERS[name]}, 3)
    refused = wrong(found)
    if name == "sizes":  # both dimensions are `n` there, and the array is not square
        assert "AnnotationMismatch" in refused.pop("annotated")
    assert refused == {}
    assert not found["steady"][0]
    again = run(folder, FIRST, 4)
    assert wrong(again) == {}
    assert {name for name, (count, _) in again.items() if count} == STAGED_IN_EACH_PROCESS
