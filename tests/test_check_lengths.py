"""The length check names what is too long, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.check_lengths import FILE_LIMIT, FUNCTION_LIMIT, main


def function(lines: int) -> str:
    """A function of that many lines."""
    return "def f():\n" + "    pass\n" * (lines - 1)


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_names_what_is_too_long(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "tests/test_long.py", "\n" * (FILE_LIMIT + 1))
    write(tmp_path, "src/package/room.py", "\n" + function(FUNCTION_LIMIT + 1))
    assert main(tmp_path) == 1
    assert capsys.readouterr().out.splitlines() == [
        "tests/test_long.py: 601 lines, the limit is 600",
        "src/package/room.py:2: `f` has 81 lines, the limit is 80",
    ]


def test_accepts_the_limits_and_long_test_functions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "benchmarks/run.py", "\n" * FILE_LIMIT)
    write(tmp_path, "src/package/room.py", function(FUNCTION_LIMIT))
    write(tmp_path, "tests/test_room.py", function(FUNCTION_LIMIT + 1))
    assert main(tmp_path) == 0
    assert capsys.readouterr().out == ""
