"""Errors of sparse derivatives: what has no pattern, or none that could be stored."""

from __future__ import annotations

from anadrome.errors.api import CallError
from anadrome.errors.base import AnadromeError, Diagnostic


class PatternError(AnadromeError, ValueError):
    """The base of what is wrong with a search for a sparsity pattern."""


class PatternSize(PatternError):
    """A size that is known only from the values that are differentiated: the pattern changes with them."""

    def __init__(self) -> None:
        super().__init__(
            Diagnostic(
                "error: a sparse derivative needs sizes that do not depend on the values it is taken by",
                label="this size depends on them",
                help="make the size an argument of its own, or take the dense derivative with `jacfwd`, "
                "`jacrev` or `hessian`",
            )
        )


class PatternTooLarge(PatternError):
    """A pattern with more elements than are worth storing: the derivative is not sparse."""

    def __init__(self, members: int, limit: int) -> None:
        super().__init__(
            Diagnostic(
                f"error: the derivative is not sparse: a pattern of {members} elements, more than {limit}",
                label="everything here may depend on everything",
                notes=("an index or a branch that depends on the differentiated values may take any way",),
                help="take products with the derivative instead: `jvp`, `vjp` or `hvp`",
            )
        )


class SparseInside(CallError):
    """A sparse derivative inside a compiled function, which has no sparse matrices."""

    def __init__(self, transform: str) -> None:
        super().__init__(
            f"`{transform}(…, sparse=True)` cannot be called inside a compiled function: its result is a "
            "SciPy matrix, whose pattern is found before anything is compiled",
            help="call it outside; inside, take the dense derivative, or products with `jvp` and `vjp`",
        )


class SparseAuxiliary(CallError, ValueError):
    """A sparse derivative that is to pass on an auxiliary result."""

    def __init__(self, transform: str) -> None:
        super().__init__(
            f"`{transform}(…, sparse=True)` takes no `has_aux`",
            help="return what is differentiated alone, and compute the rest in a call of its own",
        )


class SparseOutput(CallError):
    """A function whose result has nothing to differentiate."""

    def __init__(self, transform: str, got: str) -> None:
        super().__init__(
            f"`{transform}(…, sparse=True)` takes a function whose result is a float, an array of floats, or "
            f"a container of these, and this one gives {got}",
            help="return floats: `x.astype(np.float64)` for an array; leave out what is not differentiated",
            label=f"gives {got}",
        )
