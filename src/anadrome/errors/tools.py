"""Errors of the tools and the command line: files and options that cannot be used."""

from __future__ import annotations

from anadrome.errors.base import AnadromeError, Diagnostic


class DataFileError(AnadromeError, ValueError):
    """A data file that is not what it should be."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(Diagnostic(f"cannot read {path} as an ADBench GMM file: {reason}"))


class TargetError(AnadromeError, ValueError):
    """A function named on the command line that cannot be found."""

    def __init__(self, target: str, reason: str) -> None:
        super().__init__(
            Diagnostic(
                f"cannot take `{target}`: {reason}", help="name it as FILE:FUNCTION, for example fit.py:cost"
            )
        )


class ArgumentTextError(AnadromeError, ValueError):
    """An argument on the command line that is neither a type nor a number."""

    def __init__(self, text: str) -> None:
        super().__init__(
            Diagnostic(
                f"cannot take the argument `{text}`",
                help="write a scalar type (f64), an array type (f64[100,3]) or a Python literal (2.5)",
            )
        )
