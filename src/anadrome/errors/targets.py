"""Errors of the targets: what this machine cannot do."""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.errors.base import AnadromeError, Diagnostic


class MissingTransforms(AnadromeError):
    """Compiled code calls Fourier transforms that the NumPy at hand does not have in the known form."""

    def __init__(self, name: str, transforms: Sequence[str], version: str) -> None:
        listed = ", ".join(f"`{transform}`" for transform in transforms)
        super().__init__(
            Diagnostic(
                f"error: {name} needs the Fourier transforms {listed} of NumPy 2.0 to 2.4 (the loops of "
                f"`numpy.fft._pocketfft_umath`); NumPy {version} does not have them",
                help="install NumPy 2.0 to 2.4, or transform outside the compiled function",
            )
        )


class MissingFunction(AnadromeError):
    """Compiled code calls C functions that the libraries of this machine do not have."""

    def __init__(self, name: str, symbols: Sequence[str]) -> None:
        listed = ", ".join(f"`{symbol}`" for symbol in symbols)
        super().__init__(
            Diagnostic(
                f"error: {name} needs {listed}, which the C library of this machine does not have",
                help="use a newer C library; `anadrome doctor` lists what was found",
            )
        )
