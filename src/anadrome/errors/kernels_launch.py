"""Errors of kernels and their launches: what a kernel may not do, and what it may not be given."""

from __future__ import annotations

from anadrome.errors.api import CallError
from anadrome.errors.base import Span
from anadrome.errors.frontend import FrontendError

SHARED_BYTES = 48 * 1024
"""The shared memory of a block that needs no declaration."""


class KernelOnly(CallError):
    """A name that means something inside of kernels alone."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"`ad.{name}` is used outside of a kernel",
            help="use it in a function under `@ad.kernel`, which runs once for each thread of a launch",
            label="no thread runs here",
        )


class LaunchNeeded(CallError, TypeError):
    """A kernel that is called without saying how many threads run it."""

    def __init__(self, kernel: str) -> None:
        super().__init__(
            f"`{kernel}` is a kernel, and is called without a launch configuration",
            help=f"say how many blocks of how many threads run it: `{kernel}[blocks, threads](…)`",
            label="called as a function",
        )


class UnsuitableLaunch(CallError, TypeError):
    """A launch configuration that is none."""

    def __init__(self, kernel: str, got: str) -> None:
        super().__init__(
            f"`{kernel}[…]`: {got}",
            help=f"write `{kernel}[blocks, threads]`, `{kernel}[blocks, threads, stream]` or "
            f"`{kernel}[blocks, threads, stream, shared_bytes]`; blocks and threads are integers or tuples "
            "of one to three integers",
            label="not a launch configuration",
        )


class SharedTooLarge(CallError, ValueError):
    """More shared memory than a block has."""

    def __init__(self, kernel: str, needed: int, limit: int) -> None:
        super().__init__(
            f"`{kernel}` needs {needed} bytes of shared memory for each block, and has {limit}",
            help="use smaller shared arrays, or declare that the device has more: "
            f"`@ad.kernel(shared_limit={needed})`",
            label=f"{needed} bytes of shared memory",
        )


class SameArrayTwice(CallError, ValueError):
    """An array that a kernel writes, given as two arguments."""

    def __init__(self, kernel: str, written: str, other: str) -> None:
        super().__init__(
            f"`{kernel}` writes `{written}`, which shares memory with `{other}`: the same array is given "
            "twice where one is written",
            help="pass it once, or pass a copy: `x.copy()`",
            label=f"`{written}` and `{other}` overlap",
        )


class UnsuitableOutput(CallError, ValueError):
    """An array that a kernel writes, which cannot be written in place."""

    def __init__(self, kernel: str, name: str, reason: str) -> None:
        super().__init__(
            f"`{kernel}` writes `{name}`, which is {reason}",
            help="pass a writable NumPy array whose elements follow one another by rows: "
            "`np.ascontiguousarray(x)`, and copy the result back",
            label=f"`{name}` is {reason}",
        )


class KernelReturns(FrontendError, TypeError):
    """A kernel that returns a value."""

    def __init__(self, kernel: str, got: str, span: Span | None) -> None:
        super().__init__(
            f"the kernel `{kernel}` returns {got}",
            span,
            label="nobody takes what a thread returns",
            help="write the result into an array that is an argument of the kernel: `out[i] = value`",
        )


class KernelCopy(FrontendError, NotImplementedError):
    """Memory that threads share, which a thread would have to copy or exchange."""

    def __init__(self, name: str, span: Span | None) -> None:
        super().__init__(
            f"`{name}` is memory that other threads see, and cannot be copied or exchanged here",
            span,
            label="two arrays would have to be one, or one array two",
            help="read and write its elements; choose between two arrays by an index, `both[which, i]`, "
            "instead of by a name",
        )


class KernelRefused(FrontendError, NotImplementedError):
    """What a thread of a kernel cannot do."""

    def __init__(self, what: str, span: Span | None, help: str) -> None:
        super().__init__(f"{what} is not supported in a kernel", span, label="here", help=help)


class KernelArray(FrontendError, NotImplementedError):
    """An array whose size is not known when the kernel is compiled, made by a thread."""

    def __init__(self, span: Span | None) -> None:
        super().__init__(
            "a thread of a kernel makes an array whose size is not a constant, or is large",
            span,
            label="this array",
            help="compute one element at a time, in a loop; or make an array of constant size with "
            "`ad.local.array`",
        )


class KernelMemory(FrontendError, TypeError):
    """A shared or local array of a shape or type that is not a constant."""

    def __init__(self, function: str, reason: str, span: Span | None) -> None:
        super().__init__(
            f"`ad.{function}`: {reason}",
            span,
            label="this array",
            help="its shape is an integer or a tuple of integers known when the kernel is compiled, such as "
            "globals; its type a NumPy type such as `np.float64`",
        )


class UnsuitableAtomic(FrontendError, TypeError):
    """An atomic operation on what has none."""

    def __init__(self, function: str, reason: str, span: Span | None) -> None:
        super().__init__(
            f"`ad.atomic.{function}`: {reason}",
            span,
            label="this operation",
            help="atomic operations take an array of the launch or a shared array, and an index for each of "
            "its dimensions; bitwise ones take integers",
        )


class WaitsForOthers(FrontendError, NotImplementedError):
    """A loop that ends only when another thread writes."""

    def __init__(self, span: Span | None) -> None:
        super().__init__(
            "this loop waits for what another thread writes",
            span,
            label="nothing that the loop does changes its condition",
            help="no order of the threads is promised but by barriers, so it may wait for ever: wait with "
            "`ad.syncthreads()` in a block, and split the work of several blocks into two launches",
        )
