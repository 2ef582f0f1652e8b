"""The text of a program by the name of its file; a program that came by `-c` or standard input included."""

from __future__ import annotations

import io
import linecache
import os
import stat
import sys
import tokenize
from collections.abc import Sequence
from typing import Any

COMMAND, STANDARD_INPUT = "<string>", "<stdin>"
"""What Python calls the file of `python -c`, and that of a program on standard input. Code that is made by
`exec` and typed at a prompt may bear these names too."""

OPTIONS_WITH_VALUE = "WX"
"""Options of the interpreter, of one letter, whose value is the rest of the word or the next word."""


def lines_of(file: str, namespace: dict[str, Any] | None = None) -> tuple[str, ...]:
    """The lines of a file, as Python's own tracebacks find them where they do; none where nobody has them.

    `namespace` are the globals of the code, whose loader may know the text.
    """
    lines = linecache.getlines(file, namespace)
    if not lines and file == COMMAND:
        lines = (command(sys.orig_argv) or "").splitlines(keepends=True)
    if not lines and file == STANDARD_INPUT:
        lines = standard_input().splitlines(keepends=True)
    return tuple(lines)


def line_of(file: str, number: int) -> str:
    """One line of a file, counted from 1, without its end; empty where there is none."""
    lines = lines_of(file)
    return lines[number - 1].rstrip("\r\n") if 1 <= number <= len(lines) else ""


def command(words: Sequence[str]) -> str | None:
    """The program of `python … -c PROGRAM …`, from the words that Python was started with.

    >>> command(["python", "-I", "-X", "dev", "-c", "print(1)", "-c"])
    'print(1)'
    >>> command(["python", "-m", "runner", "-c", "print(1)"]) is None
    True
    """
    rest = iter(words[1:])
    for word in rest:
        if word == "--check-hash-based-pycs":
            next(rest, None)
        elif not word.startswith("-") or word == "-":
            return None
        elif not word.startswith("--"):
            for place, letter in enumerate(word[1:], start=2):
                if letter == "c":
                    return word[place:] or next(rest, None)
                if letter == "m":
                    return None
                if letter in OPTIONS_WITH_VALUE:
                    if not word[place:]:
                        next(rest, None)
                    break
    return None


def standard_input() -> str:
    """The text of a file that is standard input; empty where that is a pipe or a terminal, which is read
    once. Its position stays where it is."""
    try:
        state = os.fstat(0)
        if not stat.S_ISREG(state.st_mode):
            return ""
        with io.BytesIO(os.pread(0, state.st_size, 0)) as data:
            return _decoded(data)
    except (OSError, SyntaxError, UnicodeDecodeError):
        return ""


def _decoded(data: io.BytesIO) -> str:
    encoding, _ = tokenize.detect_encoding(data.readline)
    data.seek(0)
    return io.TextIOWrapper(data, encoding).read()
