"""Errors of the front end: what a Python program says that Anadrome refuses, and what to write instead."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import replace
from typing import Self

from anadrome.errors.base import AnadromeError, Diagnostic, Span, counted


class FrontendError(AnadromeError):
    """The base class of what the front end refuses: message, label at the caret, help."""

    def __init__(
        self, message: str, span: Span | None, label: str = "", help: str = "", since: int | None = None
    ) -> None:
        super().__init__(Diagnostic(f"error: {message}", span, label=label, help=help, since=since))

    def of_what_prints(self) -> Self:
        """The same of a program that prints: others run again with more room for a list or array."""
        note = "a call that finds too little room runs again, and this program would print again"
        self.diagnostic = replace(self.diagnostic, notes=(note,))
        return self


class SourceUnavailable(FrontendError, TypeError):
    """A Python function whose text cannot be found or read."""

    def __init__(self, name: str, reason: str, span: Span | None, help: str) -> None:
        super().__init__(f"the source of `{name}` is not available", span, label=reason, help=help)


class UnsupportedSyntax(FrontendError, NotImplementedError):
    """A statement or expression the front end does not evaluate."""

    def __init__(self, what: str, span: Span | None, help: str = "") -> None:
        super().__init__(
            f"{what} is not supported in a compiled function",
            span,
            label="here",
            help=help or "move it out of the compiled function, or write it another way",
        )


class UnsupportedCall(FrontendError, TypeError):
    """A call of something that is neither in the tables nor has Python source."""

    def __init__(self, name: str, span: Span | None, reason: str = "", help: str = "") -> None:
        super().__init__(
            f"cannot compile the call of {name if ' ' in name else f'`{name}`'}",
            span,
            label=reason or "it is called with an array or number known only at run time",
            help=help or "use a NumPy or `math` function that Anadrome compiles, or a Python function",
        )


class UnsupportedArgument(FrontendError, TypeError):
    """A known function, called with an argument that its compiled form does not support."""

    def __init__(self, function: str, reason: str, span: Span | None, help: str = "") -> None:
        super().__init__(
            f"`{function}` cannot be compiled with these arguments",
            span,
            label=reason,
            help=help or "change this argument, or compute the result with other functions",
        )


class UnsupportedType(FrontendError, TypeError):
    """A value whose type a compiled program does not support here."""

    def __init__(self, what: str, got: str, span: Span | None, help: str = "") -> None:
        super().__init__(
            f"{what} cannot be {got}",
            span,
            label=f"this is {got}",
            help=help or SUPPORTED,
        )


SUPPORTED = (
    "use a number or an array; supported types are bool, int8 to int64, uint8 to uint64, float32, float64, "
    "complex64 and complex128"
)


class ComplexRefused(FrontendError, TypeError):
    """An operation that complex numbers do not have, or that has no compiled form for them."""

    def __init__(self, what: str, got: str, span: Span | None, help: str = "") -> None:
        super().__init__(
            f"{what} does not support complex numbers in a compiled function",
            span,
            label=f"this is {got}",
            help=help or "compute the result from the real arrays `z.real` and `z.imag`",
        )


class NumberTooLarge(FrontendError, OverflowError):
    """A number of the program's text that does not fit into the scalar type it is used with."""

    def __init__(self, value: object, dtype: str, span: Span | None) -> None:
        super().__init__(
            f"{value} does not fit into {dtype}",
            span,
            label=f"{value} as {dtype}",
            help=f"write it as a float: `float({value})`"
            if dtype.endswith("64")
            else "convert the array to a larger type first: `x.astype(np.int64)`",
        )


class NoAttribute(FrontendError, AttributeError):
    """An attribute or method that a value does not have, or has no compiled form of."""

    def __init__(
        self, owner: str, name: str, known: Iterable[str], span: Span | None, help: str = ""
    ) -> None:
        near = difflib.get_close_matches(name, known, 1)
        similar = f"did you mean `.{near[0]}`?" if near else help or "use a NumPy function instead"
        by_indices = "read `a.ravel()`, and write by indices: `a[i, j] = v`"
        help = by_indices if name == "flat" else similar
        super().__init__(f"{owner} has no `.{name}`", span, label="here", help=help)


class StaticRequired(FrontendError, TypeError):
    """A value known only at run time, where one is needed while compiling."""

    def __init__(self, what: str, span: Span | None, help: str = "") -> None:
        super().__init__(
            f"{what} must be known when the function is compiled",
            span,
            label="this value is known only at run time",
            help=help or "use a constant, or declare the argument static: `ad.jit(f, static_argnums=...)`",
        )


def _public(kind: type[BaseException]) -> type[BaseException]:
    """An exception's class, or that of Python's which a class of ours is one of."""
    return next(one for one in kind.__mro__ if not one.__module__.startswith("anadrome"))


class StaticCallFailed(FrontendError):
    """Plain Python code that ran while compiling and raised an exception. The error is an instance of the
    builtin class that was raised as well, by the table `STATIC_FAILURES`."""

    def __new__(cls, name: str, error: BaseException, span: Span | None, help: str = "") -> StaticCallFailed:
        """An error of the subclass for what was raised."""
        for raised in type(error).__mro__:
            found = STATIC_FAILURES.get(raised)
            if found is not None:
                return super().__new__(found, name, error, span, help)
        return super().__new__(cls, name, error, span, help)

    def __init__(self, name: str, error: BaseException, span: Span | None, help: str = "") -> None:
        super().__init__(
            f"{name} failed while compiling",
            span,
            label=f"{_public(type(error)).__name__}: {str(error).partition(chr(10))[0]}",
            help=help
            or getattr(error, "help", "")
            or "Python ran this while compiling, because it does not depend on run-time values; fix it as "
            "in plain Python",
        )
        self.raised = error


class StaticTypeError(StaticCallFailed, TypeError):
    """Plain Python code that raised a `TypeError` while compiling."""


class StaticValueError(StaticCallFailed, ValueError):
    """Plain Python code that raised a `ValueError` while compiling."""


class StaticKeyError(StaticCallFailed, KeyError):
    """Plain Python code that raised a `KeyError` while compiling."""


class StaticSequenceError(StaticCallFailed, IndexError):
    """Plain Python code that raised an `IndexError` while compiling."""


class StaticAttributeError(StaticCallFailed, AttributeError):
    """Plain Python code that raised an `AttributeError` while compiling."""


class StaticNameError(StaticCallFailed, NameError):
    """Plain Python code that raised a `NameError` while compiling."""


class StaticZeroDivisionError(StaticCallFailed, ZeroDivisionError):
    """Plain Python code that raised a `ZeroDivisionError` while compiling."""


class StaticOverflowError(StaticCallFailed, OverflowError):
    """Plain Python code that raised an `OverflowError` while compiling."""


class StaticMemoryError(StaticCallFailed, MemoryError):
    """Plain Python code that raised a `MemoryError` while compiling."""


class StaticRuntimeError(StaticCallFailed, RuntimeError):
    """Plain Python code that raised any other exception while compiling."""


STATIC_FAILURES: dict[type, type[StaticCallFailed]] = {
    TypeError: StaticTypeError,
    ValueError: StaticValueError,
    KeyError: StaticKeyError,
    IndexError: StaticSequenceError,
    AttributeError: StaticAttributeError,
    NameError: StaticNameError,
    ZeroDivisionError: StaticZeroDivisionError,
    OverflowError: StaticOverflowError,
    MemoryError: StaticMemoryError,
    Exception: StaticRuntimeError,
}
"""A builtin class -> the class of the error when plain Python code raises it while compiling."""


def quoted(what: str) -> str:
    """What failed, in words or as code: an operator stands in back quotes."""
    return what if what[:1].isalpha() or what.startswith("`") else f"`{what}`"


class ShapeMismatch(FrontendError, ValueError):
    """Shapes that do not match, known while compiling."""

    def __init__(self, what: str, left: str, right: str, span: Span | None) -> None:
        kind = "shapes" if "(" in left + right else "sizes"
        super().__init__(
            f"{quoted(what)}: the {kind} {left} and {right} do not match",
            span,
            label=f"{left} and {right}",
            help="compare the shapes from the last dimension backwards; `x[:, None]` adds a dimension, `x.T` "
            "transposes a matrix",
        )


class UnsuitableSize(FrontendError, ValueError):
    """A negative size, or too few elements for what is asked, known while compiling."""

    def __init__(self, function: str, reason: str, span: Span | None, help: str) -> None:
        super().__init__(f"`{function}`: {reason}", span, label=reason, help=help)


def indices_of(size: int) -> str:
    """The indices of a dimension: `0 to 2, and -3 to -1 from its end`."""
    return f"0 to {size - 1}, and {-size} to -1 from its end" if size > 1 else "0 and -1" if size else "none"


class StaticIndexError(FrontendError, IndexError):
    """An index outside its dimension, known while compiling."""

    def __init__(self, index: int, size: int, span: Span | None) -> None:
        super().__init__(
            f"index {index} is out of range for a dimension of size {size}",
            span,
            label="this index",
            help=f"a dimension of size {size} has the indices {indices_of(size)}",
        )


class TooManyIndices(FrontendError, IndexError):
    """More indices than dimensions."""

    def __init__(self, indices: int, rank: int, span: Span | None) -> None:
        super().__init__(
            f"{indices} indices into an array of {counted(rank, 'dimension')}",
            span,
            label="too many indices",
            help=f"give at most {counted(rank, 'index', 'indices')}",
        )


class MalformedIndex(FrontendError, IndexError, ValueError):
    """An index that NumPy refuses too: a slice with a step of 0, or more than one ellipsis."""

    def __init__(self, what: str, span: Span | None, help: str) -> None:
        super().__init__(f"an index cannot have {what}", span, label=what, help=help)


class PromotionError(FrontendError, TypeError):
    """Scalar types an operation is not defined on."""

    def __init__(self, operation: str, types: str, span: Span | None, help: str = "") -> None:
        super().__init__(
            f"`{operation}` is not defined on {types}",
            span,
            label=types,
            help=help or _conversion(operation, types),
        )


BITWISE = ("&", "|", "^", "~", "<<", ">>")


def _conversion(operation: str, types: str) -> str:
    """What to convert so that an operation is defined."""
    if operation in BITWISE or "bitwise" in operation or "shift" in operation:
        return "bits are those of integers and bools: convert floats, `x.astype(np.int64)` or `int(x)`"
    if operation in ("**", "np.power"):
        return "make the base a float: `x.astype(np.float64)` or `float(x)`"
    if "bool" in types:
        return "convert the bools: `x.astype(np.int64)` or `int(x)`; or use `^`, `&` and `|`"
    return "convert the operands to floats: `x.astype(np.float64)` or `float(x)`"


class AmbiguousTruth(FrontendError, ValueError):
    """An array where one bool is needed: the condition of an `if` or `while`, an operand of `and`."""

    def __init__(self, got: str, span: Span | None, help: str = "") -> None:
        super().__init__(
            "a condition must be a single bool",
            span,
            label=f"this is {got}",
            help=help
            or "reduce the array with `np.any(...)` or `np.all(...)`; to choose element by element use "
            "`np.where`, with `&` and `|` for `and` and `or`",
        )


RUN_TEXT = "a string of run-time values"
"""What messages call a string that only the run knows."""


class ChangesType(FrontendError, TypeError):
    """A name that has one type before a run-time loop and another after an iteration."""

    def __init__(
        self,
        name: str,
        before: str,
        after: str,
        span: Span | None,
        help: str = "",
        since: int | None = None,
    ) -> None:
        super().__init__(
            f"`{name}` changes its type inside the loop",
            span,
            label=f"{before} before the loop, {after} after one iteration",
            help=help or f"give `{name}` a value of the same type and shape before the loop",
            since=since,
        )


class ChangesSize(FrontendError, ValueError):
    """An array that gets larger in a run-time loop, by what or as often as nothing says before the loop."""

    def __init__(
        self, name: str, span: Span | None, since: int | None = None, is_counted: bool = False
    ) -> None:
        unrolled = "repeat a loop over a range known while compiling, `for i in ad.unroll(range(8))`; or "
        super().__init__(
            f"`{name}` changes its size inside the loop",
            span,
            label="how large it can get is not known before the loop",
            help=(unrolled if is_counted else "")
            + "use a `for` over a range that is known before the loop, and add as many elements in each "
            "iteration; or keep an array of the largest size (copy an argument first), write into its first "
            f"m elements, `{name}[:m] = ...`, and change m in the loop",
            since=since,
        )


class ChangesStructure(FrontendError, TypeError):
    """A container or object that a run-time loop would have to carry with other parts in every iteration."""

    def __init__(self, what: str, before: str, after: str, span: Span | None) -> None:
        super().__init__(
            f"{what} is another thing after an iteration of a run-time loop than before it",
            span,
            label=f"{before} before the loop, {after} after one iteration",
            help="give every attribute, key and item a value of its later type and shape before the loop, "
            "and add or remove none inside",
        )


class UnknownRoom(FrontendError, ValueError):
    """A list that grows in a loop of which nothing says beforehand how often it can run."""

    def __init__(
        self, span: Span | None, scope: object = None, is_read: bool = False, is_taken: bool = False
    ) -> None:
        self.scope = scope
        super().__init__(
            "a list grows in a loop by a number of items that is not known before the loop",
            span,
            label="its items are counted before they are stored, and one is read here"
            if is_read
            else "how often is this reached, and how large is an item?",
            help="keep an array that is large enough and how much of it is used: `stack = np.zeros(64)`, "
            "`stack[depth] = v; depth += 1` and `depth -= 1; v = stack[depth]`"
            if is_taken
            else "read the last ones alone, `items[-1]`, or keep what is read in a name as well, "
            "`first = …; items.append(first)`"
            if is_read
            else "write into an array that is large enough and count, or use a `for` over a range that is "
            "known before the outermost loop",
        )


class BranchesDiffer(FrontendError, TypeError):
    """A name or result that has different types in the two branches of a run-time `if`."""

    def __init__(self, name: str, then: str, other: str, span: Span | None) -> None:
        self.ways = (then, other)
        words = name if " " in name or name.startswith("`") else f"`{name}`"
        super().__init__(
            f"{words} differs between the branches of a run-time `if`",
            span,
            label=f"{then} if the condition holds, {other} otherwise",
            help="use it inside of the branches"
            if RUN_TEXT in self.ways
            else "use the same type and shape in both branches",
        )


class MayBeNone(FrontendError, TypeError):
    """A value that is None on some of the ways that lead to where it is used, which only the run decides."""

    def __init__(self, span: Span | None, what: str = "this value", help: str = "") -> None:
        super().__init__(
            f"{what} may be None here",
            span,
            label="only the run knows whether it is None",
            help=help
            or "use it where it has been tested, `if v is not None: ...`, or start with a number that says "
            "so, `np.nan` or `np.inf`",
        )


class Undefined(FrontendError, NameError):
    """A name without a value, or with a value on some paths only."""

    def __init__(self, name: str, span: Span | None, reason: str = "", help: str = "") -> None:
        super().__init__(
            f"{name if ' ' in name else f'`{name}`'} is not defined here",
            span,
            label=reason or "no such name",
            help=help or f"assign `{name}` on every path that leads here",
        )


class WritesArgument(FrontendError, ValueError):
    """An in-place write into an array that the compiled function did not make."""

    def __init__(self, span: Span | None) -> None:
        super().__init__(
            "a compiled function cannot write into an array that it did not make",
            span,
            label="this array is an argument, or was made outside",
            help="write into a copy under another name, `y = x.copy()`, and return it",
        )


CALLER = "a compiled function that did not make it"
"""Where an object is changed that outlives the call."""


class WritesThroughView(FrontendError, ValueError):
    """A write through a view that cannot be followed to its base, or an alias made in a loop or branch."""

    def __init__(self, reason: str, span: Span | None, help: str = "") -> None:
        super().__init__(
            "cannot follow this write to the array it changes",
            span,
            label=reason,
            help=help
            or "write into the original array by its own name; where the original need not change, write "
            "into a copy under another name, `z = y.copy()`",
        )


class ReadOnly(FrontendError, ValueError):
    """A write through a view that NumPy makes read-only."""

    def __init__(self, span: Span | None) -> None:
        super().__init__(
            "the destination of this assignment is read-only",
            span,
            label="NumPy does not let this view be written",
            help="copy it first, `y = y.copy()`, or write into the array that it looks into",
        )


class EscapingMutation(FrontendError, TypeError):
    """An object of this class that belongs to the caller, or whose change cannot be followed."""

    def __init__(self, what: str, where: str, span: Span | None, owner: type = object) -> None:
        is_outside = where == CALLER
        copy = f"`{owner.__name__}(x)`" if owner in (list, dict, set) else "`copy.copy(x)`"
        outside = f"copy it first ({copy}), change the copy and return it"
        if issubclass(owner, type) or owner.__module__ == "types" or owner is bytearray:
            outside = "return the new value, and store it where the compiled function is called"
        super().__init__(
            f"{what} is changed inside {where or 'a compiled function that did not make it'}",
            span,
            label="it belongs to the caller" if is_outside else "it would be changed once, while compiling",
            help=f"what outlives the call is read-only: {outside}"
            if is_outside
            else "change it in a `for` or `while` statement, or return the values and store them outside",
        )


class PrintsInParallel(FrontendError, TypeError):
    """A `print` in what runs in any order."""

    def __init__(self, span: Span | None) -> None:
        super().__init__(
            "`print` is called where the program has no order",
            span,
            label="these calls run in any order, and several at the same time",
            help="print in a `for` loop, or print what is returned",
        )


class RecursionTooDeep(FrontendError, RecursionError):
    """Inline calls nested beyond the limit."""

    def __init__(self, name: str, limit: int, span: Span | None) -> None:
        super().__init__(
            f"calls of `{name}` are nested more than {limit} deep",
            span,
            label="this call again",
            help="a recursion is unrolled: a condition known when the function is compiled must end it, at "
            "most "
            f"{limit} deep; write it as a loop, or declare the integer it counts static (`static_argnums`)",
        )


class AnnotationMismatch(FrontendError, TypeError):
    """An argument that does not match its annotation."""

    def __init__(self, name: str, expected: str, got: str, span: Span | None = None) -> None:
        super().__init__(
            f"argument `{name}`: expected {expected}, got {got}",
            span,
            label=f"got {got}",
            help="pass an argument that matches the annotation, or change the annotation",
        )
        self.argument = name


class MalformedAnnotation(FrontendError, TypeError):
    """An annotation with a dimension that is neither a name nor a size."""

    def __init__(self, dtype: str, got: str) -> None:
        super().__init__(
            f"a dimension of the annotation `{dtype}[…]` cannot be {got}",
            None,
            help=f'give each dimension a name or a size that is not negative: `ad.{dtype}["n", 3]`',
        )


class CallMismatch(FrontendError, TypeError):
    """Arguments that do not match a function's parameters."""

    def __init__(self, name: str, reason: str, span: Span | None) -> None:
        super().__init__(
            f"cannot call `{name}`",
            span,
            label=reason,
            help=f"call `{name}` with the arguments of its definition",
        )


class CheckpointPolicy(FrontendError, ValueError):
    """`ad.range` got a policy or a budget that does not exist."""

    def __init__(self, what: str, got: str, span: Span | None) -> None:
        super().__init__(
            f"{what} of `ad.range` cannot be {got}",
            span,
            label="what the reverse sweep of this loop may keep",
            help='`checkpoint=` must be "all", "sqrt", "log" or a number of repetitions of at least 1; '
            '`memory=` must be a number of bytes or a text such as "64MB"; both must be known when the '
            "function is compiled",
        )
