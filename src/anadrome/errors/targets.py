"""Errors of the targets: what this machine cannot do, and the warning of what it does without."""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.errors.base import AnadromeError, Diagnostic, render


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


class UntrustedCache(UserWarning):
    """Another user could have written to the folder in which compiled code is kept, so it is not used.

    Programs run, and are compiled again in each process.
    """

    def __init__(self, words: str, remedy: str) -> None:
        super().__init__(
            render(
                Diagnostic(
                    f"compiled code is not kept on disk: {words}",
                    help=f"`{remedy}`; or set `cache_dir` (ANADROME_CACHE_DIR) to a folder of your own; "
                    "or `cache=False` (ANADROME_CACHE=0)",
                )
            )
        )
