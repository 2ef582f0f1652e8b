"""Where an error is (`Span`), what it says (`Diagnostic`), and how it is shown (`render`)."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from anadrome.errors.codes import CODES
from anadrome.errors.source_text import line_of


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of one source line: `line` counts from 1, columns count characters from 0."""

    file: str
    line: int
    column: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column + 1}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """The words of one error: what happened, where, why, and what to do about it.

    `since` is the line the excerpt begins at, where lines above the span help to see why.
    """

    message: str
    span: Span | None = None
    label: str = ""
    notes: tuple[str, ...] = ()
    help: str = ""
    since: int | None = None


def indefinite(noun: str) -> str:
    """A noun with its article.

    >>> indefinite("list"), indefinite("int")
    ('a list', 'an int')
    """
    return f"{'an' if noun[:1] in 'aeiouAEIOU' else 'a'} {noun}"


def counted(number: int, one: str, several: str = "") -> str:
    """A number of things.

    >>> counted(1, "dimension"), counted(2, "index", "indices")
    ('1 dimension', '2 indices')
    """
    return f"{number} {one if number == 1 else several or one + 's'}"


LONGEST_EXCERPT = 8
"""An excerpt that would have more lines begins at the span."""


class AnadromeError(Exception):
    """The base of every error Anadrome raises on purpose.

    A subclass builds its own `Diagnostic` from its fields in `__init__`, so that the words of an error
    stand in one place. `str(error)` is the rendered diagnostic, caret included.

    >>> import anadrome as ad
    >>> try:
    ...     ad.jit(lambda x: x[7])(5.0)
    ... except ad.AnadromeError as error:
    ...     print(error.code, error.diagnostic.message)
    A106 error: the base of an index cannot be float64
    """

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic)
        self.diagnostic = diagnostic

    @property
    def code(self) -> str:
        """The code of this kind of error, under which the catalogue in the documentation has it."""
        return next((CODES[kind.__name__] for kind in type(self).__mro__ if kind.__name__ in CODES), "A000")

    @property
    def span(self) -> Span | None:
        """The source place the error points at, if it has one."""
        return self.diagnostic.span

    def at(self, span: Span | None, label: str = "") -> Self:
        """Let the error point at a place, unless it points at one already."""
        if self.diagnostic.span is None and span is not None:
            self.diagnostic = replace(self.diagnostic, span=span, label=self.diagnostic.label or label)
        return self

    def __str__(self) -> str:
        return render(self.diagnostic)


def warn_user(warning: Warning) -> None:
    """Warn at the line that called into Anadrome."""
    package = str(Path(__file__).parents[1])
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        frame, level = frame.f_back, level + 1
    warnings.warn(warning, stacklevel=level)


def render(diagnostic: Diagnostic) -> str:
    """The diagnostic as text: message, source line with a caret, notes and help.

    >>> print(render(Diagnostic("no such thing", help="try another")))
    no such thing
    help: try another
    """
    span = diagnostic.span
    lines = [diagnostic.message if span is None else f"{diagnostic.message} ({span})"]
    if span is not None:
        lines += _source_excerpt(span, diagnostic.label, diagnostic.since)
    elif diagnostic.label:
        lines.append(diagnostic.label)
    lines += [f"note: {note}" for note in diagnostic.notes]
    if diagnostic.help:
        lines.append(f"help: {diagnostic.help}")
    return "\n".join(lines)


def _source_excerpt(span: Span, label: str, since: int | None) -> list[str]:
    source = line_of(span.file, span.line)
    if not source:
        return [f"   = {label}"] if label else []
    first = span.line
    if since is not None and 0 <= span.line - since < LONGEST_EXCERPT:
        first = since
    number = str(span.line)
    margin = " " * len(number)
    width = max(1, min(span.end_column, len(source)) - span.column)
    caret = " " * span.column + "^" * width + (f" {label}" if label else "")
    shown = [
        f"{line:>{len(number)}} | {line_of(span.file, line)}".rstrip() for line in range(first, span.line)
    ]
    end = [f"{margin} |"] if shown else []
    return [f"{margin} |", *shown, f"{number} | {source}", f"{margin} | {caret}", *end]
