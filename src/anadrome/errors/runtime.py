"""Errors of a running program: found by a compiled check, raised with the user's line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Self

from numpy.linalg import LinAlgError

from anadrome.errors.base import AnadromeError, Diagnostic, Span


def in_thread(message: str, count: int) -> str:
    """The words of a check in a kernel, whose own values are `count`: six more values follow them, the index
    of the block (x, y, z) and that of the thread in it.

    >>> in_thread("index {0} is out of bounds", 1).format(9, 2, 0, 0, 31, 0, 0)
    'index 9 is out of bounds, in block (2, 0, 0), thread (31, 0, 0)'
    """
    places = [f"{{{number}}}" for number in range(count, count + 6)]
    return f"{message}, in block ({', '.join(places[:3])}), thread ({', '.join(places[3:])})"


INDEX_MESSAGE = "index {0} is out of range for a dimension of size {1}"
"""What an index outside of its dimension says."""


class RuntimeCheckError(AnadromeError):
    """The base class of the errors that a compiled program reports."""

    label = ""
    help = ""

    def __init__(
        self, message: str, span: Span | None = None, label: str = "", notes: tuple[str, ...] = ()
    ) -> None:
        words = label or (self.label if span else "")
        super().__init__(Diagnostic(f"error: {message}", span, label=words, notes=notes, help=self.help))

    def at(self, span: Span | None, label: str = "") -> Self:
        """Let the error point at a place, with the label of its class."""
        return super().at(span, label or self.label)

    @classmethod
    def of(cls, message: str, values: Sequence[object], span: Span | None) -> Self:
        """The error of a failed check: its words have a place for each value."""
        return cls(message.format(*values), span)


class IndexOutOfBounds(RuntimeCheckError, IndexError):
    """An index is outside its dimension."""

    label = "this index"
    help = "a dimension of size n has the indices 0 to n - 1, and -n to -1 from its end"

    help_of_nothing = (
        "an array of size 0 has no elements; dynamic shared memory has those that the launch gives bytes "
        "for, `k[blocks, threads, stream, bytes](…)`"
    )
    as_written: str | None = None

    @classmethod
    def of(cls, message: str, values: Sequence[object], span: Span | None) -> Self:
        """The error, with its words for a user of Python: there a negative index counts from the end, and it
        has been counted by the time it is checked."""
        error = super().of(message, values, span)
        match values:
            case (int(index), int(size), *place) if index < 0:
                error.as_written = message.format(index - size, size, *place)
            case (_, 0, _, *_):  # in a kernel
                error.diagnostic = replace(error.diagnostic, help=cls.help_of_nothing)
            case _:
                pass
        return error

    def at(self, span: Span | None, label: str = "") -> Self:
        """Let the error point at a place, and tell a negative index as the program has it."""
        if self.as_written is not None:
            self.diagnostic = replace(self.diagnostic, message=f"error: {self.as_written}")
        return super().at(span, label)


IN_LOOP = "changes its size inside the loop"
"""What the message of a size says that differs from one iteration to the next."""
ON_TWO_WAYS = "on the two ways of this `if`"
"""The same where two ways of a branch leave arrays or lists of two sizes."""


class SizeMismatch(RuntimeCheckError, ValueError):
    """Two sizes that must be equal and are not, or a negative size."""

    label = "found at run time"
    help = "check the sizes and shapes that lead here, for example by running the function in plain Python"

    help_of_one = (
        "a dimension of which only the run knows that its size is 1 is not stretched: if NumPy would stretch "
        "it here, take its element and make the dimension anew, `D[:, k][:, None]`, else check the sizes"
    )

    help_of_loop = "check the sizes, or give it before the loop the size that it has after it: `[0.0] * n`"

    @classmethod
    def of(cls, message: str, values: Sequence[object], span: Span | None) -> Self:
        """The error; plain Python would stretch a dimension of size 1."""
        error = super().of(message, values, span)
        sizes = [value for value in values if isinstance(value, Integral)]
        if IN_LOOP in message:
            error.diagnostic = replace(error.diagnostic, help=cls.help_of_loop)
        elif len(sizes) == 2 and 1 in sizes:
            error.diagnostic = replace(error.diagnostic, help=cls.help_of_one)
        return error


class MaskMismatch(SizeMismatch, IndexError):
    """A boolean mask whose size is not that of the array it selects from."""


class AssertionFailed(RuntimeCheckError, AssertionError):
    """An `assert` of the program does not hold."""

    label = "this does not hold"


class RaisedError(RuntimeCheckError):
    """A `raise` of the program was reached. It is also an instance of the builtin class that was raised."""

    label = "raised here"
    raised: BaseException | None = None
    """What was raised, where that happened while compiling."""

    @classmethod
    def of(cls, message: str, values: Sequence[object], span: Span | None) -> RaisedError:
        """The error of the class whose name begins the message, `ValueError: …`."""
        raised = RAISED.get(message.partition(":")[0], cls)
        return raised(message.format(*values), span)


class RaisedValueError(RaisedError, ValueError):
    """`raise ValueError` was reached."""


class RaisedTypeError(RaisedError, TypeError):
    """`raise TypeError` was reached."""


class RaisedIndexError(RaisedError, IndexError):
    """`raise IndexError` was reached."""


class RaisedKeyError(RaisedError, KeyError):
    """`raise KeyError` was reached."""


class RaisedRuntimeError(RaisedError, RuntimeError):
    """`raise RuntimeError` was reached."""


class RaisedNotImplementedError(RaisedError, NotImplementedError):
    """`raise NotImplementedError` was reached."""


class RaisedArithmeticError(RaisedError, ArithmeticError):
    """`raise ArithmeticError` was reached."""


class RaisedZeroDivisionError(RaisedError, ZeroDivisionError):
    """`raise ZeroDivisionError` was reached."""


class RaisedOverflowError(RaisedError, OverflowError):
    """`raise OverflowError` was reached."""


class RaisedFloatingPointError(RaisedError, FloatingPointError):
    """`raise FloatingPointError` was reached."""


class RaisedAssertionError(RaisedError, AssertionError):
    """`raise AssertionError` was reached."""


RAISED: dict[str, type[RaisedError]] = {
    "ValueError": RaisedValueError,
    "TypeError": RaisedTypeError,
    "IndexError": RaisedIndexError,
    "KeyError": RaisedKeyError,
    "RuntimeError": RaisedRuntimeError,
    "NotImplementedError": RaisedNotImplementedError,
    "ArithmeticError": RaisedArithmeticError,
    "ZeroDivisionError": RaisedZeroDivisionError,
    "OverflowError": RaisedOverflowError,
    "FloatingPointError": RaisedFloatingPointError,
    "AssertionError": RaisedAssertionError,
}
"""The name of a raised builtin class -> the class that a caller sees; others are a plain `RaisedError`."""


class EmptyReduction(RuntimeCheckError, ValueError):
    """A reduction without an identity (min, max, argmin) of an empty array."""

    label = "this is empty"
    help = "check that the array is not empty, or handle the empty case"


class NegativePower(RuntimeCheckError, ValueError):
    """An integer is raised to a negative power that only the run knows."""

    label = "this power"
    help = "make the base a float: `x.astype(np.float64)` or `float(x)`"


class SingularMatrix(RuntimeCheckError, ArithmeticError, LinAlgError):
    """A linear system without a unique solution, or a factorisation that does not exist."""

    label = "found at run time"
    help = (
        "check the matrix: it must be invertible, for `cholesky` positive definite; for `ad.root` it is the "
        "Jacobian of the function. A multiple of the identity added to a matrix regularises it"
    )


class NotDecomposed(RuntimeCheckError, ArithmeticError, LinAlgError):
    """A matrix whose eigenvalues or singular values were not found."""

    label = "found at run time"
    help = "check the matrix for NaNs, infinities, and numbers of very different sizes"


class NotConverged(RuntimeCheckError, ArithmeticError):
    """An iteration that has not found its fixed point or root."""

    label = "found at run time"
    help = (
        "check that there is a solution; start closer, raise `max_iterations`, or raise `tolerance`. "
        "`fixed_point` converges where the function is a contraction"
    )


class OutOfMemory(RuntimeCheckError, MemoryError):
    """A program that needs more memory than there is."""

    label = "in the call of this function"
    help = "use smaller arrays, or compute the result in parts, one after the other"


class BudgetExceeded(RuntimeCheckError, MemoryError):
    """A loop's checkpoint policy does not fit into the bytes it may keep; found while compiling where all
    sizes are constants."""

    label = "the budget of this loop"
    help = 'raise `memory=` to what is needed, or ask for fewer snapshots with `checkpoint="log"`'


class NonFinite(RuntimeCheckError, FloatingPointError):
    """A NaN or an infinity arose in a program that is watched for it."""

    label = "it arose here"
    help = "keep the operands inside the domain of the operation, in branches that are not taken as well"


class BarrierDivergence(RuntimeCheckError, RuntimeError):
    """A barrier that some threads of a block reach and others do not."""

    label = "threads of one block part here"
    help = (
        "let all threads of a block reach each barrier: move it out of the branch or loop, or make the "
        "condition the same for all of them"
    )


class LaunchSize(RuntimeCheckError, ValueError):
    """A grid or block with too few or too many threads, or too much shared memory."""

    label = "this launch"
    help = (
        "a block has 1 to 1024 threads, at most 64 of them in z; a grid has at least one block, at most "
        "2147483647 in x and 65535 in y and z. Shared memory beyond 48 KB is declared: "
        "`@ad.kernel(shared_limit=…)`"
    )


class ContestedWrite(RuntimeCheckError, RuntimeError):
    """Every thread of a launch, or of a block, writes one element."""

    label = "every thread writes this element"
    help = "let one thread write it, `if ad.grid(1) == 0:`, or combine what they bring, `ad.atomic.add`"


class RoomUsedUp(RuntimeCheckError, MemoryError):
    """A list or array that grows in a loop has more rows than there was room for. The call runs once more,
    with more room; whoever runs a program otherwise sees this error."""

    label = "this list or array"
    number = 0
    """Which of the program's draws says how much room there is."""

    @classmethod
    def of(cls, message: str, values: Sequence[object], span: Span | None) -> Self:
        """The error, whose message ends with the number of the draw."""
        error = super().of(message, values, span)
        error.number = int(message.rpartition(" ")[2])
        return error


FAILURES: dict[str, type[RuntimeCheckError]] = {
    "index": IndexOutOfBounds,
    "size": SizeMismatch,
    "mask": MaskMismatch,
    "assert": AssertionFailed,
    "raise": RaisedError,
    "empty": EmptyReduction,
    "power": NegativePower,
    "singular": SingularMatrix,
    "decomposition": NotDecomposed,
    "convergence": NotConverged,
    "memory": OutOfMemory,
    "nonfinite": NonFinite,
    "budget": BudgetExceeded,
    "divergence": BarrierDivergence,
    "contested": ContestedWrite,
    "launch": LaunchSize,
    "room": RoomUsedUp,
}
"""Check.error and Failure.error -> the class that is raised."""
