"""Errors of the targets: what this machine cannot do."""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.errors.base import AnadromeError, Diagnostic


class MissingFunction(AnadromeError):
    """Compiled code calls C functions that the libraries of this machine do not have."""

    def __init__(self, name: str, symbols: Sequence[str]) -> None:
        listed = ", ".join(f"`{symbol}`" for symbol in symbols)
        super().__init__(
            Diagnostic(
                f"{name} needs {listed}, which the C library of this machine does not have",
                help="a newer C library has them; `anadrome doctor` lists what was found",
            )
        )
