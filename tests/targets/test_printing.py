"""Compiled code that prints: in order, while it runs, from threads and children, and when writing fails."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from anadrome.config import Config
from anadrome.errors.runtime import IndexOutOfBounds
from anadrome.kernel_ir.interp import run
from anadrome.kernel_ir.text import parse
from anadrome.targets.cpu import Statistics, compile_cpu
from tests.printing import quoted
from tests.targets.oracle import compiled

LOOP = f"""fn f(x: f64 buffer, n: i64, limit: i64) {{
  alloc a: f64 global [n]
  copy a [n] = x
  for i in 0 .. n sequential {{
    for j in 0 .. n sequential {{
      check 0: lt(i, limit), i, n
      a[j] = add(a[j], 1.0)
    }}
    print 0: i, a[0], shown a [n]
  }}
  return a as f64 [n]
}}
failure index "{{0}} of {{1}}"
message {quoted("{} {} {}|")}
"""


def text_of(call: object, *args: object) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        call(*args)  # type: ignore[operator]
    return out.getvalue()


def test_values_of_every_type() -> None:
    kinds = ("bool", "i8", "i32", "i64", "u8", "u64", "f32", "f64")
    given = (True, -3, 7, -(2**62), 200, 2**64 - 1, np.float32(0.1), -0.0)
    params = ", ".join(f"v{place}: {kind}, a{place}: {kind} buffer" for place, kind in enumerate(kinds))
    values = ", ".join(f"v{place}, shown a{place} [2, 1]" for place in range(len(kinds)))
    text = f"fn f({params}) {{ print 0: {values} return }} message {quoted('{} ' * 16, 'repr')}"
    names = {"i": "int", "u": "uint", "f": "float"}
    args = []
    for kind, value in zip(kinds, given, strict=True):
        dtype = np.dtype(kind if kind == "bool" else names[kind[0]] + kind[1:])
        args += [dtype.type(value), np.array([[value], [value]], dtype)]
    expected = "".join(f"{arg!r} " for arg in args)
    assert text_of(compiled(text), args) == text_of(run, parse(text), args) == expected


def test_a_failed_check_ends_the_text() -> None:
    program = compiled(LOOP)
    args = [np.zeros(3), 3, 2]
    out = io.StringIO()
    with contextlib.redirect_stdout(out), pytest.raises(IndexOutOfBounds, match="2 of 3"):
        program(args)
    assert out.getvalue() == "0 1.0 [1. 1. 1.]|1 2.0 [2. 2. 2.]|"
    assert text_of(program, [np.zeros(1), 1, 2]) == "0 1.0 [1.]|"


class Stopping(io.StringIO):
    """A stream that fails after some texts."""

    def __init__(self, count: int, error: BaseException) -> None:
        super().__init__()
        self.left, self.error = count, error

    def write(self, text: str) -> int:
        if self.left == 0:
            raise self.error
        self.left -= 1
        return super().write(text)


@pytest.mark.parametrize("error", [BrokenPipeError(), KeyboardInterrupt(), RuntimeError("full")], ids=repr)
def test_what_writing_raises_ends_the_call_at_once(error: BaseException) -> None:
    program = compiled(LOOP)
    stream = Stopping(2, error)
    with contextlib.redirect_stdout(stream), pytest.raises(type(error)) as caught:
        program([np.zeros(1000), 1000, 1000])
    assert caught.value is error
    assert stream.getvalue().startswith("0 1.0 [")
    assert text_of(program, [np.zeros(1), 1, 2]) == "0 1.0 [1.]|"


def test_without_a_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert len(compiled(LOOP)([np.zeros(2), 2, 2])) == 1


def test_threads_print_their_own_values() -> None:
    program = compiled(LOOP)
    lines: list[str] = []

    class Collecting(io.StringIO):
        def write(self, text: str) -> int:
            lines.append(text)
            return len(text)

    threads = [
        threading.Thread(target=program, args=([np.full(50, 1000.0 * number), 50, 50],))
        for number in range(8)
    ]
    with contextlib.redirect_stdout(Collecting()):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for number in range(8):
        own = [line for line in lines if 1000.0 * number < float(line.split()[1]) <= 1000.0 * number + 50]
        assert [int(line.split()[0]) for line in own] == list(range(50))


def test_a_child_prints() -> None:
    program = compiled(LOOP)
    assert text_of(program, [np.zeros(1), 1, 1]) == "0 1.0 [1.]|"
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        sys.stdout = os.fdopen(writing, "w")
        program([np.ones(1), 1, 1])
        sys.stdout.flush()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        assert pipe.read() == "0 2.0 [2.]|"
    assert os.waitpid(child, 0)[1] == 0


def test_object_code_from_the_disk_prints(tmp_path: Path) -> None:
    config = Config(cache_dir=str(tmp_path))
    first = compile_cpu(parse(LOOP), config)
    del first
    statistics = Statistics()
    second = compile_cpu(parse(LOOP), config, statistics)
    assert statistics.cache_hits == 1
    assert text_of(second, [np.zeros(1), 1, 1]) == "0 1.0 [1.]|"
