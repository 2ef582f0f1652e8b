"""The text of code that stands in no file of its own: from `python -c`, from standard input, or typed at a
prompt.

Python calls the files of such code `<string>` and `<stdin>`, and the file of what `exec` makes as well. So a
text is believed only where compiling it gives this very code again.
"""

from __future__ import annotations
import __future__

import linecache
import sys
import warnings
from collections.abc import Sequence
from types import CodeType

from anadrome.errors.source_text import COMMAND, STANDARD_INPUT, lines_of

CONSOLE = "<console>"
"""The file of what is typed into `code.interact`, and into the consoles made of it."""

UNFILED = (COMMAND, STANDARD_INPUT, CONSOLE)

MOST_LINES = 2000
"""How many lines of a prompt's history are looked through, the latest first."""

MOST_LINES_AFTER = 20
"""How many lines of a statement may follow those of the code that is looked for."""


def text_of(code: CodeType) -> tuple[str, tuple[str, ...]] | None:
    """The name and the lines of the text of code whose file is one of `UNFILED`; None where Python keeps
    none."""
    lines = lines_of(code.co_filename)
    if is_made_by(lines, code):
        return code.co_filename, lines
    return None if code.co_filename == COMMAND else _typed(code)


def is_made_by(lines: Sequence[str], code: CodeType) -> bool:
    """Whether compiling a text makes this code."""
    flags = code.co_flags & __future__.annotations.compiler_flag
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python has warned of this text before
        try:
            whole = compile("".join(lines), code.co_filename, "exec", flags, dont_inherit=True)
        except (SyntaxError, ValueError):
            return False
    pending = [whole]
    while pending:
        found = pending.pop()
        if found == code:
            return True
        pending += [inner for inner in found.co_consts if isinstance(inner, CodeType)]
    return False


def why_none(file: str) -> tuple[str, str]:
    """Why there is no text of code of such a file, and what to do."""
    if not file.startswith("<"):
        return f"there is no text of {file}", "keep the file with its source beside what was made of it"
    if file == COMMAND:
        return "its text went to `exec` or `eval`", "write the function in a file and import it"
    if file == STANDARD_INPUT and not hasattr(sys, "ps1"):
        return (
            "the program came through a pipe, and Python keeps no text of it",
            "write the program to a file and run that: `python program.py`, or `python < program.py`",
        )
    return (
        "Python keeps no text of what is typed at this prompt",
        "write the function in a file and import it, or use IPython, or Python 3.13 or newer",
    )


def _typed(code: CodeType) -> tuple[str, tuple[str, ...]] | None:
    """The statement among what was typed at the prompt that makes the code.

    The prompt of Python 3.12 and older keeps lines for its arrow keys alone: those that are not empty, and
    not as the line before. The text is put where newer prompts put theirs, so that tracebacks show it too.
    """
    readline = sys.modules.get("readline")
    if readline is None:
        return None
    count = readline.get_current_history_length()
    typed = [readline.get_history_item(place) for place in range(max(1, count - MOST_LINES), count + 1)]
    above = code.co_firstlineno - 1
    least = max(line for _, _, line in code.co_lines() if line is not None)
    mark = "lambda" if code.co_name == "<lambda>" else code.co_name
    for first in range(len(typed) - least, -1, -1):
        if not any(mark in line for line in typed[first + above : first + least]):
            continue
        for size in range(least, min(least + MOST_LINES_AFTER, len(typed) - first) + 1):
            lines = tuple(f"{line}\n" for line in typed[first : first + size])
            if is_made_by(lines, code):
                name = f"{code.co_filename}-{first}"
                linecache.cache[name] = (len(lines), None, list(lines), name)
                return name, lines
    return None
