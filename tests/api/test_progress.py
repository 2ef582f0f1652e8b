"""The line on the terminal that says what a long compilation is doing."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import anadrome as ad
from anadrome import compile as stages
from anadrome.api import progress

SOURCES = str(Path(ad.__file__).parents[1])

PROGRAM = """
import sys, threading
import numpy as np
import anadrome as ad
from anadrome.api import progress

wait = threading.Event().wait
progress.PATIENCE, progress.INTERVAL = {patience}, {interval}

def cost(x):
    wait({seconds})
    return np.sum(np.sin(x) * x)

print(ad.grad(cost)(np.zeros(3)).tolist(), threading.enumerate() == [threading.main_thread()])
"""

FAILING = PROGRAM.replace("x) * x)", "x) @ y)").replace("print(", "print(sys.stderr.flush(), ")


def run(program: str, columns: int = 80, **settings: str) -> tuple[str, str]:
    """What a program writes to standard output, and what to a terminal that is its standard error."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    own = {name: text for name, text in os.environ.items() if not name.startswith("ANADROME_")}
    environment = {**own, "PYTHONPATH": SOURCES, "ANADROME_CACHE": "0", "TERM": "xterm", **settings}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=theirs, text=True, env=environment
    ) as process:
        os.close(theirs)
        shown = b""
        while part := _read(ours):
            shown += part
        printed = process.stdout.read() if process.stdout else ""
    os.close(ours)
    return printed, shown.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other side is closed
        return b""


def test_a_long_compilation_says_what_it_does_and_leaves_nothing() -> None:
    printed, shown = run(PROGRAM.format(patience=2.0, interval=0.5, seconds=2.8))
    assert printed == "[0.0, 0.0, 0.0] True\n"
    assert re.match(r"(\rcompiling grad\(cost\): front end, [23] s\x1b\[K){1,3}", shown)
    assert re.fullmatch(r"(\rcompiling grad\(cost\): [\w -]+, \d s\x1b\[K)+\r\x1b\[K", shown)


def test_the_stages_are_named() -> None:
    longer = PROGRAM.replace("np.sin(x) * x", " + ".join(f"np.sin(x * x[{i % 3}])" for i in range(150)))
    shown = run(longer.format(patience=0.0, interval=0.002, seconds=0.01))[1]
    stages = set(re.findall(r": ([\w -]+), \d s\x1b", shown))
    assert {"front end", "LLVM"} <= stages
    assert stages & {
        f"pass {name}" for name in ("simplify", "fuse", "iverson", "join", "scalarize", "restrict-domains")
    }


def test_a_short_compilation_says_nothing() -> None:
    assert run(PROGRAM.format(patience=60.0, interval=0.5, seconds=0.1))[1] == ""


def test_it_can_be_turned_off() -> None:
    assert run(PROGRAM.format(patience=0.0, interval=0.1, seconds=0.3), ANADROME_PROGRESS="0")[1] == ""
    assert run(PROGRAM.format(patience=0.0, interval=0.1, seconds=0.3), TERM="dumb")[1] == ""


def test_the_line_is_not_longer_than_the_terminal_is_wide() -> None:
    shown = run(PROGRAM.format(patience=0.0, interval=0.1, seconds=0.3), columns=20)[1]
    assert "\rcompiling grad(cost\x1b[K" in shown
    assert max(len(line) for line in shown.replace("\x1b[K", "").split("\r")) == 19


def test_an_error_stands_on_a_line_of_its_own() -> None:
    shown = run(FAILING.format(patience=0.0, interval=0.1, seconds=0.3))[1]
    assert "\r\x1b[KTraceback (most recent call last):\n" in shown
    assert "compiling" not in shown.partition("Traceback")[2]


def test_nothing_where_there_is_no_terminal() -> None:
    program = PROGRAM.format(patience=0.0, interval=0.01, seconds=0.3)
    environment = {**os.environ, "PYTHONPATH": SOURCES, "ANADROME_CACHE": "0"}
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert found.stdout == "[0.0, 0.0, 0.0] True\n" and not found.stderr
    closed = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.stderr.close()\n{program}"], capture_output=True, text=True
    )
    assert closed.stdout == found.stdout


def test_streams_that_are_no_terminals() -> None:
    assert not progress.is_terminal(None)
    assert not progress.is_terminal(object())  # type: ignore[arg-type]
    assert not progress.is_terminal(io.StringIO())


def test_a_stage_is_read_off_the_stack() -> None:
    assert progress.stage_of(sys._getframe()) == ""
    assert progress.stage_of(None) == ""
    code = compile("def run(f): return f()", "x", "exec")
    for module, stage in (
        ("anadrome.frontend.loops", "front end"),
        ("anadrome.ad.reverse", "differentiation"),
        ("anadrome.passes.hoist_sums", "pass hoist-sums"),
        ("anadrome.targets.llvm_emit", "LLVM"),
        ("anadrome.api.derivatives.gradients", "differentiation"),
    ):
        names: dict[str, object] = {"__name__": module}
        exec(code, names)
        assert names["run"](lambda: progress.stage_of(sys._getframe())) == stage  # type: ignore[operator]


def test_a_stage_that_is_on_no_stack_is_that_of_the_step() -> None:
    assert all(hasattr(stages, function) for function in progress.STEPS)
    assert all("name" in function.__code__.co_varnames for function in (stages.prepare, stages.optimise))
    for function, stage in (("optimise", "pass fuse-2"), ("lower_function", "lowering")):
        names: dict[str, object] = {"__name__": "anadrome.compile"}
        exec(compile(f"def {function}(f, name): return f()", "x", "exec"), names)
        found = names[function](lambda: progress.stage_of(sys._getframe()), "fuse-2")  # type: ignore[operator]
        assert found == stage
