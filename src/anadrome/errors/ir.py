"""Errors of the two intermediate representations: a malformed program is a bug of the pass that made it."""

from __future__ import annotations

from anadrome.errors.base import AnadromeError, Diagnostic, Span


class IRError(AnadromeError):
    """A program of the array IR or the kernel IR breaks a rule of its verifier."""

    def __init__(self, rule: str, where: str = "", span: Span | None = None) -> None:
        super().__init__(Diagnostic(f"malformed program: {rule}", span, label=where))
        self.rule = rule


class IRSyntaxError(AnadromeError):
    """The text of a program could not be parsed."""

    def __init__(self, expected: str, got: str, line: int) -> None:
        super().__init__(Diagnostic(f"line {line} of the program text: expected {expected}, got {got!r}"))
