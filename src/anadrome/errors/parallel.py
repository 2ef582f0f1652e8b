"""Errors of the parallel operations: an operator, an identity or a place that does not fit.

Plain Python and the compiled form raise the same ones; in a compiled function they name the line.
"""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.errors.api import CallError
from anadrome.errors.base import Span, indefinite
from anadrome.errors.frontend import FrontendError


class UnknownOperator(CallError):
    """An operator that is neither a known name nor a function."""

    def __init__(self, function: str, got: str, known: Sequence[str]) -> None:
        names = ", ".join(repr(name) for name in known)
        super().__init__(
            f"`{function}`: there is no operator {got}",
            help=f"use one of {names}, or a function of two values together with its identity",
            label=f"got {got}",
        )


class OperatorUndefined(CallError):
    """A named operator on a scalar type it is not defined on."""

    def __init__(self, function: str, operator: str, dtype: str) -> None:
        other = (
            "convert the bools, for example with `.astype(np.int64)`, or use 'and' or 'or'"
            if dtype == "bool"
            else "pass a function and an identity: `lambda a, b: a * b` and `1 + 0j`"
            if dtype.startswith("complex") and operator == "mul"
            else "complex numbers have no order: reduce `abs(z)`, `z.real` or `z.imag`"
            if dtype.startswith("complex") and operator in ("min", "max")
            else "compare first: 'and' and 'or' work on bools"
            if operator in ("and", "or")
            else "convert the values to numbers first, for example with `.astype(np.float64)`"
        )
        super().__init__(
            f"`{function}`: the operator {operator!r} is not defined on {dtype}",
            help=other,
            label=f"{operator!r} of {dtype}",
        )


class IdentityMissing(CallError):
    """A function as operator without its identity."""

    def __init__(self, function: str) -> None:
        super().__init__(
            f"`{function}` with a function as operator needs `identity`",
            help="give the neutral value, which changes no other: `identity=0.0` for a sum, `1.0` for a "
            "product",
            label="no identity",
        )


class IdentityDiffers(CallError):
    """An identity of another type or shape than the values."""

    def __init__(self, function: str, got: str, expected: str) -> None:
        super().__init__(
            f"`{function}`: the identity is {got}, but the values are {expected}",
            help="the identity must have the type, the structure and the shape of one value",
            label=f"{got} for values of {expected}",
        )


class OperatorDiffers(CallError):
    """An operator, or its inverse, that returns another type or shape than its operands have."""

    def __init__(self, function: str, got: str, expected: str, role: str = "operator") -> None:
        super().__init__(
            f"`{function}`: the {role} returns {got} for two values of {expected}",
            help=f"{indefinite(role)} must combine two values into one of the same type and shape; "
            "convert the values before",
            label=f"returns {got}, not {expected}",
        )


class UnsuitableBounds(CallError, ValueError):
    """A `bounds` argument with a value that it cannot have."""

    def __init__(self, function: str, got: str) -> None:
        super().__init__(
            f"`{function}`: `bounds` must be 'error' or 'ignore', got {got}",
            help="'error' raises an IndexError for an index outside, 'ignore' leaves such values out",
            label=f"got {got}",
        )


class UnsuitableValues(CallError):
    """An argument of a parallel operation with a type, shape or structure that it cannot have."""

    def __init__(self, function: str, argument: str, expected: str, got: str) -> None:
        super().__init__(
            f"`{function}`: `{argument}` must be {expected}, got {got}",
            help="convert the indices: `x.astype(np.int64)`"
            if "integer" in expected and "float" in got
            else f"`help({function})` says what each argument may be",
            label=f"got {got}",
        )


class CastRefused(CallError):
    """Values that would lose their kind in the array they are stored in."""

    def __init__(self, function: str, values: str, target: str) -> None:
        super().__init__(
            f"`{function}`: values of type {values} cannot be stored in an array of {target}",
            help="convert the values or the array first, for example with `.astype(np.float64)`",
            label=f"{values} into {target}",
        )


class DrawsInParallel(FrontendError, TypeError):
    """Random numbers drawn in what runs in any order."""

    def __init__(self, name: str, span: Span | None) -> None:
        super().__init__(
            f"`{name}` is called where the program has no order",
            span,
            label="these calls run in any order, and numbers are drawn in the order of the program",
            help="draw in a `for` loop, or before: `z = rng.standard_normal(n)`",
        )
