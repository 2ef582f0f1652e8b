"""Where the text of a program is found: `-c`, standard input, prompts; and that it is the right text."""

from __future__ import annotations

import ast
import copy
import importlib
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import pytest

import anadrome as ad
from anadrome.errors.frontend import SourceUnavailable
from anadrome.errors.source_text import command
from anadrome.frontend.source import SourceCache, from_source

SOURCES = str(Path(ad.__file__).parents[1])

PROGRAM = """\
import anadrome as ad
def cube(x):
    return x * x * x
f = lambda x: x * x; g = lambda x: x + x
print(ad.grad(cube)(2.0), ad.grad(f)(3.0), ad.grad(g)(3.0))
exec("f = lambda x: x * 5", globals())
try:
    ad.grad(f)(2.0)
except TypeError as error:
    print(error)
ad.grad(lambda x: x.twice)(2.0)
"""

PRINTED = """\
12.0 6.0 2.0
error: the source of `<lambda>` is not available
its text went to `exec` or `eval`
help: write the function in a file and import it
"""

EXCERPT = """\
   |
11 | ad.grad(lambda x: x.twice)(2.0)
   |                   ^^^^^^^ here
"""


def environment() -> dict[str, str]:
    own = {name: text for name, text in os.environ.items() if not name.startswith("ANADROME_")}
    return {**own, "PYTHONPATH": SOURCES, "ANADROME_CACHE": "0", "TERM": "dumb", "PYTHON_BASIC_REPL": "1"}


def run(words: Sequence[str], **options: object) -> subprocess.CompletedProcess[str]:
    """Python with these words behind it."""
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, env=environment(), timeout=120, **options
    )


# ---------------------------------------------------------------------------- without a file
@pytest.mark.parametrize(
    "words",
    [
        ["-c", PROGRAM],
        [f"-c{PROGRAM}"],
        ["-X", "dev", "-Wignore", "-uc", PROGRAM, "-c", "other"],
    ],
    ids=["apart", "joined", "behind options"],
)
def test_a_program_of_the_command_line(words: list[str]) -> None:
    found = run(words)
    assert found.stdout == PRINTED
    assert "(<string>:11:19)\n" + EXCERPT in found.stderr


@pytest.mark.parametrize("words", [[], ["-"], ["-u", "-", "argument"]], ids=["nothing", "dash", "options"])
def test_a_program_on_standard_input(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "program").write_text(PROGRAM, encoding="utf-8")
    with (tmp_path / "program").open() as file:
        found = run(words, stdin=file)
    assert found.stdout == PRINTED
    assert "(<stdin>:11:19)\n" + EXCERPT in found.stderr


def test_standard_input_stays_where_it_is(tmp_path: Path) -> None:
    lines = [
        "# -*- coding: latin-1 -*-",
        "import os, anadrome as ad",
        "at = os.lseek(0, 0, os.SEEK_CUR)",
        "s = 'ä'; print(ad.jit(lambda x: x * len('ä'))(2.0), os.lseek(0, 0, os.SEEK_CUR) == at)",
    ]
    (tmp_path / "program").write_bytes("\r\n".join(lines).encode("latin-1"))
    with (tmp_path / "program").open() as file:
        found = run([], stdin=file)
    assert found.stdout == "2.0 True\n", found.stderr


def test_a_program_through_a_pipe_says_what_to_do() -> None:
    found = run([], input=PROGRAM)
    assert not found.stdout
    assert found.stderr.endswith(
        "the source of `cube` is not available\n"
        "the program came through a pipe, and Python keeps no text of it\n"
        "help: write the program to a file and run that: `python program.py`, or `python < program.py`\n"
    )


def test_a_function_of_the_command_line_that_exec_made_like_one_that_is_there() -> None:
    """Both have the file `<string>`, the name `f` and the first line 1."""
    lines = [
        "def f(x): return x * 3",
        "exec('def f(x): return x * 2')",
        "import anadrome as ad",
        "ad.jit(f)(1.0)",
    ]
    found = run(["-c", "\n".join(lines)])
    assert not found.stdout and "its text went to `exec` or `eval`" in found.stderr


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["python", "-c", "p"], "p"),
        (["python", "-Ic", "p"], "p"),
        (["python", "-W", "error", "-Xdev", "-cp"], "p"),
        (["python", "--check-hash-based-pycs", "never", "-c", "p", "-c", "q"], "p"),
        (["python", "program.py", "-c", "p"], None),
        (["python", "-m", "module", "-c", "p"], None),
        (["python", "-Im", "module", "-c", "p"], None),
        (["python", "-", "-c", "p"], None),
        (["python", "-c"], None),
        (["python"], None),
        ([], None),
    ],
)
def test_the_words_python_was_started_with(words: list[str], text: str | None) -> None:
    assert command(words) == text


# ---------------------------------------------------------------------------- prompts
def typed(words: Sequence[str], lines: Sequence[str], prompts: Sequence[bytes]) -> str:
    """What an interactive Python shows on a terminal, where each line is typed when it asks for one."""
    child, terminal = pty.fork()
    if child == 0:
        os.execve(sys.executable, [sys.executable, *words], environment())
    shown = b""
    try:
        for line in [*lines, "exit()"]:
            shown += read_until(terminal, prompts)
            os.write(terminal, line.encode() + b"\n")
        shown += read_until(terminal, ())
    finally:
        os.close(terminal)
        os.waitpid(child, 0)
    return shown.decode(errors="replace").replace("\r", "")


def read_until(terminal: int, prompts: Sequence[bytes], seconds: float = 60.0) -> bytes:
    """What a terminal shows until it shows one of these prompts, or, for none, until its process ends."""
    shown, until = b"", time.monotonic() + seconds
    while shown.rpartition(b"\n")[2] not in prompts:
        assert time.monotonic() < until, shown
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                part = os.read(terminal, 65536)
            except OSError:  # the process has ended
                part = b""
            if not part:
                assert not prompts, shown
                return shown
            shown += part
    return shown


TYPED = (
    "from __future__ import annotations",
    "import anadrome as ad",
    "def cube(x: float):",
    "    y = x * x",
    "    return x * y",
    "",
    "ad.grad(cube)(2.0)",
    "f = lambda x: x * x; g = lambda x: x + x",
    "ad.grad(f)(3.0), ad.grad(g)(3.0)",
    "def cube(x: float): return 7 * x",
    "",
    "ad.grad(cube)(2.0)",
    "exec('def cube(x: float): return 7 * x * x')",
    "ad.grad(cube)(2.0)",
    "ad.grad(lambda x: x.twice)(2.0)",
)


def test_the_prompt() -> None:
    pytest.importorskip("readline", reason="Python was built without readline, so its prompt keeps no text")
    shown = typed(["-q"], TYPED, (b">>> ", b"... "))
    assert "\n12.0\n" in shown and "\n(6.0, 2.0)\n" in shown and "\n7.0\n" in shown
    assert "\n28.0\n" not in shown and "the source of `cube` is not available" in shown
    assert "\n1 | ad.grad(lambda x: x.twice)(2.0)\n  |                   ^^^^^^^ here\n" in shown


def test_ipython() -> None:
    pytest.importorskip("IPython", reason="IPython is not installed")
    cells = ["\n".join(TYPED[:9]), "print(ad.grad(cube)(2.0), ad.grad(g)(3.0))", TYPED[-1]]
    program = (
        "from IPython.core.interactiveshell import InteractiveShell\nshell = InteractiveShell()\n"
        f"for cell in {cells!r}:\n    shell.run_cell(cell, store_history=True)\n"
    )
    found = run(["-c", program])
    assert "12.0 2.0" in found.stdout
    assert "\n1 | ad.grad(lambda x: x.twice)(2.0)\n  |                   ^^^^^^^ here\n" in found.stdout


# ---------------------------------------------------------------------------- files that change
@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    (tmp_path / "changing_module.py").write_text("def f(x):\n    return x * 2.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield importlib.import_module("changing_module")
    del sys.modules["changing_module"]


def test_a_file_that_has_changed(module: ModuleType) -> None:
    """What runs is what was imported: a newer text of the same shape is no text of it."""
    path = Path(module.__file__ or "")
    assert ad.jit(module.f)(1.0) == 2.0
    for text in ("def f(x):\n    return x * 3.0\n", "\n\ndef f(x):\n    return x * 2.0\n", "def f(x:\n"):
        path.write_text(text)
        with pytest.raises(SourceUnavailable, match=r"its file (has changed|does not parse)"):
            ad.jit(module.f)(1.0)


def test_a_module_that_is_reloaded(module: ModuleType) -> None:
    assert ad.jit(module.f)(1.0) == 2.0
    Path(module.__file__ or "").write_text("# now three\n\ndef f(x):\n    return x * 3.0  # times\n")
    importlib.reload(module)
    assert ad.jit(module.f)(1.0) == 3.0


def test_a_file_that_is_gone(module: ModuleType) -> None:
    Path(module.__file__ or "").unlink()
    with pytest.raises(SourceUnavailable, match=f"there is no text of {module.__file__}"):
        ad.jit(module.f)(1.0)


def test_lambdas_of_one_line_whose_code_has_no_places(tmp_path: Path) -> None:
    """Python 3.12 gives the code of a constant no places, and `-X no_debug_ranges` none at all."""
    program = tmp_path / "program.py"
    program.write_text(
        "import anadrome as ad\n"
        "two, three, twice, thrice = lambda: 2.0, lambda: 3.0, lambda x: x * 2.0, lambda x: x * 3.0\n"
        "print(ad.grad(lambda x: two() * twice(x) + three() * thrice(x))(1.0))\n"
        "whole, real, truth, zero, below = lambda: 1, lambda: 1.0, lambda: True, lambda: 0.0, lambda: -0.0\n"
        "double, triple = (lambda x, a=2.0: x * a), (lambda x, a=3.0: x * a)\n"
        "for f in (whole, real, truth, zero, below):\n"
        "    print(repr(ad.jit(f)()))\n"
        "print(ad.grad(double)(1.0), ad.grad(triple)(1.0))\n"
    )
    done = run(["-X", "no_debug_ranges", str(program)])
    assert done.stdout.split() == ["13.0", "1", "1.0", "True", "0.0", "-0.0", "2.0", "3.0"], done.stderr


def test_the_copy_of_a_node_stands_in_the_same_file() -> None:
    """A file is not copied with each of the statements that the front end copies."""
    source, node = SourceCache().find(environment)
    assert isinstance(node, ast.FunctionDef)
    made = copy.deepcopy(from_source(node.body[0], source))
    assert made is not node.body[0]
    assert made.anadrome_source is source
