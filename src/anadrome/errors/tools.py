"""Errors of the tools and the command line: files and options that cannot be used."""

from __future__ import annotations

from anadrome.errors.base import AnadromeError, Diagnostic


class DataFileError(AnadromeError, ValueError):
    """A data file that cannot be read, or does not have the expected format."""

    def __init__(self, path: str, reason: str, help: str = "") -> None:
        super().__init__(
            Diagnostic(
                f"error: cannot read {path} as an ADBench GMM file: {reason}",
                help=help
                or "such a file holds `D K N`, then K logits, K means of D numbers, K factors of "
                "D (D + 1) / 2 numbers, N points of D numbers, and two numbers more",
            )
        )


class UnsuitablePoints(AnadromeError, ValueError):
    """Points that no Gaussian mixture can be fitted to."""

    def __init__(self, name: str, reason: str, largest: float) -> None:
        super().__init__(
            Diagnostic(
                f"error: cannot fit a mixture to {name}: {reason}",
                help=f"give points of numbers up to {largest:g} that differ in every coordinate, at least as "
                "many different ones as there are components",
            )
        )


class TargetError(AnadromeError, ValueError):
    """A function named on the command line that cannot be found."""

    def __init__(self, target: str, reason: str) -> None:
        super().__init__(
            Diagnostic(
                f"error: cannot use `{shortened(target)}`: {reason}",
                help="name it as FILE:FUNCTION, for example fit.py:cost",
            )
        )


class ProgramFailed(AnadromeError, ImportError):
    """A file named on the command line that fails when Python runs it."""

    def __init__(self, path: str, failure: str) -> None:
        super().__init__(
            Diagnostic(
                f"error: {path} cannot be imported\n{failure}",
                help=f"the file is run to find the function: it must run by itself, as in `python {path}`",
            )
        )


class ArgumentTextError(AnadromeError, ValueError):
    """An argument on the command line that is neither a type nor a number."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(
            Diagnostic(
                f"error: cannot use the argument `{shortened(text)}`: {reason}",
                help="write a scalar type (f64), an array type (f64[100,3]) or a Python literal (2.5)",
            )
        )


class OutputError(AnadromeError, OSError):
    """A file that a command cannot write."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            Diagnostic(f"error: cannot write {path}: {reason}", help="name another folder with `--out`")
        )


def shortened(text: str) -> str:
    """A text of the user's, as much of it as an error shows."""
    return text if len(text) <= 80 else f"{text[:60]}… ({len(text)} characters)"
