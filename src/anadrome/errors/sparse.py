"""Errors of sparse derivatives: what has no pattern, or none that could be stored; and of sparse matrices in
transforms."""

from __future__ import annotations

from anadrome.errors.api import CallError
from anadrome.errors.base import AnadromeError, Diagnostic, Span
from anadrome.errors.frontend import FrontendError


class PatternError(AnadromeError, ValueError):
    """The base class of errors in the search for a sparsity pattern."""


class PatternSize(PatternError):
    """A size that is known only from the values that are differentiated: the pattern changes with them."""

    def __init__(self) -> None:
        super().__init__(
            Diagnostic(
                "error: a sparse derivative needs sizes that do not depend on the differentiated values",
                label="this size depends on them",
                help="make the size an argument of its own, or use the dense derivative, `jacfwd`, "
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
                notes=("an index or a branch that depends on the differentiated values may go anywhere",),
                help="use products with the derivative instead: `jvp`, `vjp` or `hvp`",
            )
        )


class PatternKernel(PatternError, NotImplementedError):
    """A kernel, which may write any element of its arrays from any other one."""

    def __init__(self, span: Span | None) -> None:
        super().__init__(
            Diagnostic(
                "error: the pattern of a sparse derivative is not found through a kernel",
                span,
                label="this kernel may let every element depend on every other one",
                help="use the dense derivative, or write the kernel as array loops",
            )
        )


class SparseInside(CallError):
    """A sparse derivative inside a compiled function, which has no sparse matrices."""

    def __init__(self, transform: str) -> None:
        super().__init__(
            f"`{transform}(…, sparse=True)` cannot be called inside a compiled function: its result is a "
            "SciPy matrix, whose pattern is found before anything is compiled",
            help="call it outside; inside, use the dense derivative, or products with `jvp` and `vjp`",
        )


class SparseAuxiliary(CallError, ValueError):
    """A sparse derivative with `has_aux`."""

    def __init__(self, transform: str) -> None:
        super().__init__(
            f"`{transform}(…, sparse=True)` does not support `has_aux`",
            help="return only what is differentiated, and compute the rest in a separate call",
        )


class SparseOutput(CallError):
    """A sparse derivative of a function that returns no floats."""

    def __init__(self, transform: str, got: str) -> None:
        super().__init__(
            f"`{transform}(…, sparse=True)` requires a function that returns a float, an array of floats, or "
            f"a container of these; this one returns {got}",
            help="return floats, `x.astype(np.float64)` for an array; do not return what is not "
            "differentiated",
            label=f"returns {got}",
        )


class SparseTransformed(CallError):
    """A sparse matrix where a transform has no form of it: as what a Jacobian is taken by, or mapped over."""

    def __init__(self, transform: str, what: str, help: str) -> None:
        super().__init__(f"`{transform}` cannot {what} a sparse matrix", help=help, label="a sparse matrix")


class SparseOperation(FrontendError, TypeError):
    """An operation on a sparse matrix that has no compiled form."""

    def __init__(self, what: str, kind: str, span: Span | None, reason: str, help: str) -> None:
        super().__init__(f"{what} cannot be compiled", span, label=reason or f"this is a {kind}", help=help)
