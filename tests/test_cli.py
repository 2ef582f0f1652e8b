"""The command `anadrome`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from anadrome.cli import main
from anadrome.targets.cache import ObjectCache, key_of
from anadrome.tools.from_file import parse_argument

PROGRAM = """
import anadrome as ad
import numpy as np

def cost(x, scale):
    return np.sum(x * x) * scale

def settle(u, steps):
    for _ in ad.range(steps, checkpoint="log"):
        u = u - 0.1 * u * u
    return np.sum(u)

class Holder:
    @staticmethod
    def twice(x):
        return 2.0 * x
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "program_of_test_cli.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return str(path)


def test_show(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", f"{program}:cost", "--arg", "f64[100]", "--arg", "2.5"]) == 0
    assert "fn cost(x: f64[n], scale: f64) -> f64" in capsys.readouterr().out
    assert (
        main(["show", f"{program}:cost", "--args", "f64[100]", "f32", "--grad", "--argnums", "0", "1"]) == 0
    )
    assert "f64[n]" in capsys.readouterr().out
    assert main(["show", f"{program}:Holder.twice", "--arg", "f64", "--stage", "kernel"]) == 0
    assert "mul(x, 2.0)" in capsys.readouterr().out.replace("mul(2.0, x)", "mul(x, 2.0)")
    assert main(["show", f"{program}:cost", "--args", "f64[100]", "f64", "--after", "fuse", "--diff"]) == 0
    assert "--- before fuse" in capsys.readouterr().out


def test_explain(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["explain", f"{program}:settle", "--args", "f64[1000]", "1024", "--grad", "--measure"]
    assert main(asked) == 0
    found = capsys.readouterr().out
    assert found.startswith("settle: at most ")
    predicted, measured = found.splitlines()[:2]
    assert predicted.split("at most ")[1].split(" at")[0] == measured.split(": ")[1]
    assert "11 states in 88.1 kB, 1,024 iterations" in found
    assert main(["explain", f"{program}:missing"]) == 1
    assert "has no `missing`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("nothing.py:f", "there is no file nothing.py"),
        ("cost", "no function is named"),
        ("{program}:missing", "has no `missing`"),
        ("{program}:np.pi", "`np.pi` is a float"),
    ],
)
def test_what_cannot_be_shown(
    target: str, words: str, program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", target.format(program=program)]) == 1
    assert words in capsys.readouterr().err


def test_arguments_as_text() -> None:
    assert parse_argument("f64[2, 3]").shape == (2, 3)
    assert parse_argument("i32").dtype == "int32"
    assert parse_argument("bool[4]").tolist() == [True] * 4
    assert parse_argument("(1, 2.5)") == (1, 2.5)
    with pytest.raises(ValueError, match="cannot take the argument `f65`"):
        parse_argument("f65")


def test_doctor_and_cache(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANADROME_CACHE_DIR", str(tmp_path))
    assert main(["doctor"]) == 0
    words = capsys.readouterr().out
    for what in ("numpy", "llvm", "processor", "threads", "vector math", "cache"):
        assert what in words
    (tmp_path / "thesis.object").write_text("mine")
    ObjectCache(tmp_path, 256).write(key_of("code"), bytes(1 << 20))
    assert main(["cache"]) == 0
    assert f"{tmp_path}, 1.0 of 256 MiB" in capsys.readouterr().out
    assert main(["cache", "--clear"]) == 0
    assert "removed 1.0 MiB" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.object"]
    tmp_path.chmod(0o777)
    for command in (["doctor"], ["cache"], ["cache", "--clear"]):
        assert main(command) == 0
        words = capsys.readouterr().out
        assert f"other users may write to {tmp_path} (drwxrwxrwx); `chmod go-w {tmp_path}` mends it" in words


def test_demo(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    command = ["demo", "--points", "200", "--components", "3", "--steps", "30", "--out", str(tmp_path)]
    assert main(command) == 0
    words = capsys.readouterr().out
    for what in ("compile", "objective", "gradient", "ratio", "check", "100%", "picture"):
        assert what in words
    assert "no picture" in words or (tmp_path / "gmm_fit.png").stat().st_size > 10_000


def test_demo_on_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "gmm.txt"
    rows = [
        "2 2 5",
        "0",
        "0",
        "0 0",
        "1 1",
        "1 1 0",
        "1 1 0",
        "0 0",
        "0.1 0.2",
        "1 1",
        "1.1 0.9",
        "0.8 1.2",
        "1 0",
    ]
    path.write_text("\n".join(rows), encoding="utf-8")
    assert main(["demo", "--data", str(path), "--steps", "5", "--out", str(tmp_path)]) == 0
    assert "5 points in 2 dimensions, 2 components" in capsys.readouterr().out
    path.write_text("2 2 50\n1 2 3", encoding="utf-8")
    assert main(["demo", "--data", str(path)]) == 1
    assert "50 points of 2 coordinates do not fit" in capsys.readouterr().err


def test_as_a_module() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "anadrome", "--help"], capture_output=True, text=True, check=True
    )
    assert "demo" in found.stdout and "show" in found.stdout
