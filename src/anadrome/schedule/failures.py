"""The failures of a host program with those of the kernels that were put into it, which tell the block and
the thread as well."""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.errors import Span
from anadrome.errors.runtime import in_thread
from anadrome.kernel_ir.nodes import Failure, Kernel

DIVERGENCE = "this barrier is not reached by all threads of a block alike"


class Failures:
    """Grows from the failures of the host program."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        self._failures = list(failures)
        self._codes: dict[tuple[Failure | Span | None, int], int] = {}

    def all(self) -> tuple[Failure, ...]:
        """Those there are by now."""
        return tuple(self._failures)

    def of_kernel(self, kernel: Kernel, code: int, count: int) -> int:
        """The code of a failure of a kernel, whose check has so many values of its own."""
        failure = kernel.failures[code]
        return self._code((failure, count), failure.error, failure.message, count, failure.span)

    def divergence(self, span: Span | None) -> int:
        """The code of the failure that threads reach a barrier and others do not."""
        return self._code((span, -1), "divergence", DIVERGENCE, 0, span)

    def _code(
        self, key: tuple[Failure | Span | None, int], error: str, message: str, count: int, span: Span | None
    ) -> int:
        found = self._codes.get(key)
        if found is None:
            found = self._codes[key] = len(self._failures)
            self._failures.append(Failure(error, in_thread(message, count), span))
        return found
