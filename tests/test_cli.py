"""The command `anadrome`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from anadrome.cli import main
from anadrome.errors.tools import ArgumentTextError, TargetError
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


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors are shown as users see them."""
    monkeypatch.delenv("ANADROME_TRACEBACK", raising=False)


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
        ("{program}:np.pi", "`np.pi` is of type float, not a function"),
        (":cost", "there is no file named"),
        (".:cost", "there is no file ."),
        ("{program}:", "no function is named"),
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
    assert parse_argument("f64[]").shape == () and parse_argument("f64[0]").shape == (0,)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("f65", "neither a type nor a literal"),
        ("", "neither a type nor a literal"),
        ("np.ones(3)", "neither a type nor a literal"),
        ("9**9**9", "neither a type nor a literal"),
        ("[" * 100_000, "(100000 characters)`: it is neither a type nor a literal"),
        ("-" * 100_000 + "1", "(100001 characters)`: it is neither a type nor a literal"),
        ("9" * 5000, "(5000 characters)`: it is neither a type nor a literal"),
        ("f64[3", "neither a type nor a literal"),
        ("f64[-3]", "`-3` is no size"),
        ("f64[n]", "`n` is no size"),
        ("f64[1.5]", "`1.5` is no size"),
        ("f64[3,,4]", "`` is no size"),
        ("f64[3,]", "`` is no size"),
        (f"f64[{'9' * 5000}]", "is no size"),
        ("f64[100000000000000000000000]", "an array cannot have so many elements"),
        ("f64[10000000000,10000000000]", "an array cannot have so many elements"),
        (f"f64[{','.join('1' * 65)}]", "an array has at most 64 dimensions"),
    ],
    ids=lambda text: text[:20],
)
def test_arguments_that_are_none(text: str, reason: str) -> None:
    with pytest.raises(ArgumentTextError) as caught:
        parse_argument(text)
    assert reason in str(caught.value) and len(str(caught.value)) < 300


def test_the_size_of_an_argument_takes_no_memory(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    argument = parse_argument("f64[1000000,1000000]")
    assert argument.shape == (10**6, 10**6) and argument.strides == (0, 0)
    assert main(["show", f"{program}:cost", "--args", "f64[1000000000000]", "2.5"]) == 0
    assert "fn cost(x: f64[n], scale: f64) -> f64" in capsys.readouterr().out
    assert main(["explain", f"{program}:cost", "--args", "f64[1000000000000]", "2.5"]) == 1
    assert capsys.readouterr().err.startswith("error: not enough memory: Unable to allocate 7.28 TiB")


def test_what_is_wrong_with_a_call_points_at_the_function(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", f"{program}:cost", "--arg", "f64[3]"]) == 1
    shown = capsys.readouterr().err
    assert "program_of_test_cli.py:5:5)" in shown and "^^^^ no value for `scale`" in shown
    assert main(["explain", f"{program}:cost", "--args", "{1, 2}", "2.0"]) == 1
    assert "^ got a set" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("def f(x):\n    return y\nf(1)\n", ["line 3, in <module>", "line 2, in f", "NameError: name 'y'"]),
        ("def f(x:\n", ["line 1", "SyntaxError: "]),
        ("import sys\nsys.exit(3)\n", ["line 2, in <module>", "SystemExit: 3"]),
        ("import nothing_of_this_name\n", ["line 1, in <module>", "ModuleNotFoundError: "]),
    ],
)
def test_a_program_that_fails_shows_its_own_frames(
    text: str, shown: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "failing.py").write_text(text, encoding="utf-8")
    assert main(["show", f"{tmp_path}/failing.py:f", "--arg", "f64"]) == 1
    words = capsys.readouterr().err
    assert words.startswith(f"error: {tmp_path}/failing.py cannot be imported\n")
    assert "importlib" not in words and "from_file.py" not in words
    for part in shown:
        assert part in words


def test_all_frames_where_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANADROME_TRACEBACK", "full")
    with pytest.raises(TargetError):
        main(["show", "nothing.py:f"])


def test_doctor_and_cache(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANADROME_CACHE_DIR", str(tmp_path))
    assert main(["doctor"]) == 0
    words = capsys.readouterr().out
    for what in ("numpy", "stages", "llvm", "processor", "threads", "vector math", "cache"):
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


@pytest.mark.parametrize(
    ("points", "reason"),
    [
        ("0 0 1 1 nan 1 2 2 3 0", "coordinate 0 of point 2 is nan"),
        ("0 0 1 1 2 -inf 2 2 3 0", "coordinate 1 of point 2 is -inf"),
        ("0 0 1 1 2 1e200 2 2 3 0", "coordinate 1 of point 2 is 1e+200"),
        ("1 2 " * 5, "all 5 points are equal"),
        ("0 0 1 0 2 0 3 0 4 0", "coordinate 1 is the same in all points"),
        ("0 0 1 1 " * 3, "2 different points for 3 components"),
        ("1 2 2 3", "2 points for 3 components"),
        ("1 2", "1 point for 3 components"),
    ],
)
def test_points_no_mixture_is_fitted_to(
    points: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "gmm.txt"
    count = len(points.split()) // 2
    path.write_text(f"2 3 {count}\n{'0 ' * (3 + 6 + 9)}\n{points}\n1 0\n", encoding="utf-8")
    assert main(["demo", "--data", str(path), "--steps", "2", "--out", str(tmp_path)]) == 1
    assert f"error: cannot fit a mixture to gmm.txt: {reason}\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty, and should begin with three positive integers"),
        (b"D K N", "it begins with `D K N`"),
        (b"2 2", "it begins with `2 2`"),
        (b"2 2.5 5 1 2 3", "it begins with `2 2.5 5`"),
        (b"2 -2 5 1 2 3", "it begins with `2 -2 5`"),
        (b"inf 2 5", "it begins with `inf 2 5`"),
        (b"2,2,5\n1,2\n", "it begins with `2,2,5 1,2`"),
        (b"2 2 50\n1 2 3", "D = 2, K = 2 and N = 50 make 117 numbers, and it holds 6"),
        (b"1 1 2\n0 0 0\n1 2 x\n1 0", "D = 1, K = 1 and N = 2 make 10 numbers, and it holds 11"),
        (b"1 1 2\n0 0 0\n1 x\n1 0", "could not convert string to float: 'x'"),
        (bytes(range(256)), "it is no text in UTF-8"),
    ],
)
def test_files_that_hold_no_points(
    content: bytes, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "gmm.txt"
    path.write_bytes(content)
    assert main(["demo", "--data", str(path)]) == 1
    assert f"error: cannot read {path} as an ADBench GMM file: {reason}" in capsys.readouterr().err


def test_files_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path, reason in ((tmp_path, "Is a directory"), (tmp_path / "x", "No such file or directory")):
        assert main(["demo", "--data", str(path)]) == 1
        assert f"error: cannot read {path} as an ADBench GMM file: {reason}\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (("--points", "0"), "argument --points: must be at least 1, and is 0"),
        (("--points", "many"), "argument --points: invalid integer value: 'many'"),
        (("--components", "-1"), "argument --components: must be at least 1, and is -1"),
        (("--steps", "0"), "argument --steps: must be at least 1, and is 0"),
        (("--seed", "-1"), "argument --seed: must be at least 0, and is -1"),
        (("--rate", "nan"), "argument --rate: must be a positive number up to 100, and is nan"),
        (("--rate", "-0.5"), "argument --rate: must be a positive number up to 100, and is -0.5"),
    ],
)
def test_options_that_cannot_be(
    option: tuple[str, str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["demo", *option])
    assert words in capsys.readouterr().err


def test_generated_points_that_are_too_few_or_too_many(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--points", "3", "--components", "9"]) == 1
    assert "3 points for 9 components" in capsys.readouterr().err
    assert main(["demo", "--points", str(10**15)]) == 1
    assert capsys.readouterr().err.startswith("error: not enough memory: ")


def test_a_picture_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    (tmp_path / "file").write_text("")
    command = ["demo", "--points", "50", "--components", "2", "--steps", "2"]
    assert main([*command, "--out", f"{tmp_path}/file/out"]) == 1
    assert f"error: cannot write {tmp_path}/file/out/gmm_fit.png: Not a directory" in capsys.readouterr().err


def test_as_a_module() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "anadrome", "--help"], capture_output=True, text=True, check=True
    )
    assert "demo" in found.stdout and "show" in found.stdout
