"""Errors of a running program: found by a compiled check, raised with the user's line."""

from __future__ import annotations

from anadrome.errors.base import AnadromeError, Diagnostic, Span


class RuntimeCheckError(AnadromeError):
    """The base of the errors that a compiled program reports."""

    help = ""

    def __init__(self, message: str, span: Span | None = None, label: str = "") -> None:
        super().__init__(Diagnostic(message, span, label=label, help=self.help))


class IndexOutOfBounds(RuntimeCheckError, IndexError):
    """An index is outside its dimension."""


class SizeMismatch(RuntimeCheckError, ValueError):
    """Two sizes that must agree do not."""


class AssertionFailed(RuntimeCheckError, AssertionError):
    """An `assert` of the program does not hold."""


class RaisedError(RuntimeCheckError, ValueError):
    """A `raise` of the program was reached."""


class EmptyReduction(RuntimeCheckError, ValueError):
    """A reduction without identity (min, max, argmin) over nothing."""


class SingularMatrix(RuntimeCheckError, ArithmeticError):
    """A linear system or factorisation that does not exist."""


class OutOfMemory(RuntimeCheckError, MemoryError):
    """The program asked for more memory than there is."""


FAILURES: dict[str, type[RuntimeCheckError]] = {
    "index": IndexOutOfBounds,
    "size": SizeMismatch,
    "assert": AssertionFailed,
    "raise": RaisedError,
    "empty": EmptyReduction,
    "singular": SingularMatrix,
    "memory": OutOfMemory,
}
"""Check.error and Failure.error -> the class that is raised."""
