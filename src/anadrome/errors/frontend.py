"""Errors of the front end: what a Python program says that Anadrome refuses, and what to write instead."""

from __future__ import annotations

from anadrome.errors.base import AnadromeError, Diagnostic, Span


class FrontendError(AnadromeError):
    """The base of every refusal of the front end: message, label at the caret, help."""

    def __init__(
        self, message: str, span: Span | None, label: str = "", help: str = "", notes: tuple[str, ...] = ()
    ) -> None:
        super().__init__(Diagnostic(f"error: {message}", span, label=label, notes=notes, help=help))


class SourceUnavailable(FrontendError):
    """A Python function whose text cannot be found or read."""

    def __init__(self, name: str, reason: str, span: Span | None = None) -> None:
        super().__init__(
            f"the source of `{name}` is not available",
            span,
            label=reason,
            help="define it in a file or a notebook cell; builtins and extension functions have no source",
        )


class UnsupportedSyntax(FrontendError):
    """A statement or expression the front end does not evaluate."""

    def __init__(self, what: str, span: Span | None, help: str = "") -> None:
        super().__init__(f"{what} is not supported in a compiled function", span, label="here", help=help)


class UnsupportedCall(FrontendError):
    """A call of something that is neither in the tables nor has Python source."""

    def __init__(self, name: str, span: Span | None, reason: str = "", help: str = "") -> None:
        super().__init__(
            f"cannot compile the call of `{name}`",
            span,
            label=reason or "an array or number of the compiled program goes into it",
            help=help or "use NumPy or `math` functions Anadrome knows, or a Python function with source",
        )


class UnsupportedArgument(FrontendError, TypeError):
    """A known function, called with an argument its compiled form does not take."""

    def __init__(self, function: str, reason: str, span: Span | None, help: str = "") -> None:
        super().__init__(
            f"`{function}` cannot be compiled with these arguments", span, label=reason, help=help
        )


class UnsupportedType(FrontendError, TypeError):
    """A value whose type has no place in a compiled program."""

    def __init__(self, what: str, got: str, span: Span | None, help: str = "") -> None:
        super().__init__(f"{what} cannot be {got}", span, label=got, help=help)


class StaticRequired(FrontendError, TypeError):
    """A value known at run time only, where one is needed while compiling."""

    def __init__(self, what: str, span: Span | None, help: str = "") -> None:
        super().__init__(
            f"{what} must be known when the function is compiled",
            span,
            label="this value is known at run time only",
            help=help,
        )


class StaticCallFailed(FrontendError, TypeError):
    """Plain Python code that ran while compiling and raised."""

    def __init__(self, name: str, error: BaseException, span: Span | None) -> None:
        super().__init__(f"{name} failed while compiling", span, label=f"{type(error).__name__}: {error}")


class ShapeMismatch(FrontendError, ValueError):
    """Shapes that do not go together, known while compiling."""

    def __init__(self, what: str, left: str, right: str, span: Span | None) -> None:
        super().__init__(
            f"{what}: the shapes {left} and {right} do not fit", span, label=f"{left} and {right}"
        )


class StaticIndexError(FrontendError, IndexError):
    """An index outside its dimension, known while compiling."""

    def __init__(self, index: int, size: int, span: Span | None) -> None:
        super().__init__(f"index {index} is out of bounds for a dimension of size {size}", span, label="here")


class TooManyIndices(FrontendError, IndexError):
    """More indices than dimensions."""

    def __init__(self, indices: int, rank: int, span: Span | None) -> None:
        super().__init__(
            f"{indices} indices into an array of {rank} dimensions", span, label="too many indices"
        )


class PromotionError(FrontendError, TypeError):
    """Scalar types an operation is not defined on."""

    def __init__(self, operation: str, types: str, span: Span | None) -> None:
        super().__init__(f"`{operation}` is not defined on {types}", span, label=types)


class ChangesType(FrontendError, TypeError):
    """A name that has one type before a run-time loop and another after an iteration."""

    def __init__(self, name: str, before: str, after: str, span: Span | None, help: str = "") -> None:
        super().__init__(
            f"`{name}` changes its type inside the loop",
            span,
            label=f"{before} before the loop, {after} after one iteration",
            help=help,
        )


class BranchesDiffer(FrontendError, TypeError):
    """A name or result that has different types in the two branches of a run-time `if`."""

    def __init__(self, name: str, then: str, other: str, span: Span | None) -> None:
        super().__init__(
            f"{name} differs between the branches of a run-time `if`",
            span,
            label=f"{then} if the condition holds, {other} otherwise",
            help="give it the same type and shape in both branches",
        )


class Undefined(FrontendError, NameError):
    """A name without a value, or with a value on some paths only."""

    def __init__(self, name: str, span: Span | None, reason: str = "not defined", help: str = "") -> None:
        super().__init__(f"`{name}` is not defined here", span, label=reason, help=help)


class WritesArgument(FrontendError, ValueError):
    """An in-place write into an array that belongs to the caller."""

    def __init__(self, span: Span | None) -> None:
        super().__init__(
            "a compiled function cannot write into its argument",
            span,
            label="this array may belong to the caller",
            help="copy it first: `x = x.copy()`",
        )


class WritesThroughView(FrontendError, ValueError):
    """A write through a view that cannot be followed to its base, or an alias made in a loop or branch."""

    def __init__(self, reason: str, span: Span | None) -> None:
        super().__init__(
            "cannot follow this write to the array it changes",
            span,
            label=reason,
            help="copy the array first, `y = y.copy()`, or write into the original by its own name",
        )


class EscapingMutation(FrontendError):
    """A Python object made outside a run-time loop, branch or comprehension and changed inside it."""

    def __init__(self, what: str, where: str, span: Span | None) -> None:
        super().__init__(
            f"{what} is changed inside {where}",
            span,
            label="it would be changed once, while compiling",
            help="use an array and write its elements, or assign to a name",
        )


class RecursionTooDeep(FrontendError, RecursionError):
    """Inline calls nested beyond the limit."""

    def __init__(self, name: str, limit: int, span: Span | None) -> None:
        super().__init__(
            f"calls of `{name}` are nested more than {limit} deep",
            span,
            label="recursion must end by a condition that is known when the function is compiled",
        )


class AnnotationMismatch(FrontendError, TypeError):
    """An argument that is not what its annotation says."""

    def __init__(self, name: str, expected: str, got: str, span: Span | None = None) -> None:
        super().__init__(f"argument `{name}`: expected {expected}, got {got}", span, label=f"got {got}")


class CallMismatch(FrontendError, TypeError):
    """Arguments that do not fit a function's parameters."""

    def __init__(self, name: str, reason: str, span: Span | None) -> None:
        super().__init__(f"cannot call `{name}`", span, label=reason)
