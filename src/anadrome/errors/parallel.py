"""Errors of the parallel operations: an operator, an identity or a place that does not fit.

Plain Python and the compiled form raise the same ones; in a compiled function they name the line.
"""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.errors.api import CallError
from anadrome.errors.base import indefinite


class UnknownOperator(CallError):
    """An operator that is neither the name of one nor a function."""

    def __init__(self, function: str, got: str, known: Sequence[str]) -> None:
        names = ", ".join(repr(name) for name in known)
        super().__init__(
            f"`{function}` does not know the operator {got}",
            help=f"give one of {names}, or a function of two values together with its identity",
            label=f"got {got}",
        )


class OperatorUndefined(CallError):
    """A named operator on a scalar type it is not defined on."""

    def __init__(self, function: str, operator: str, dtype: str) -> None:
        other = (
            "convert the bools, for example with `.astype(np.int64)`, or take 'and' or 'or'"
            if dtype == "bool"
            else "pass a function and an identity: `lambda a, b: a * b` and `1 + 0j`"
            if dtype.startswith("complex")
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
            help="give the value that leaves every other as it is: `identity=0.0` for a sum, `1.0` for "
            "a product",
            label="no identity",
        )


class IdentityDiffers(CallError):
    """An identity of another type or shape than the values."""

    def __init__(self, function: str, got: str, expected: str) -> None:
        super().__init__(
            f"`{function}`: the identity is {got}, and the values are {expected}",
            help="the identity has the type and the shape of one value; convert the one or the other",
            label=f"{got} for values of {expected}",
        )


class OperatorDiffers(CallError):
    """An operator, or its inverse, whose result is of another type or shape than its operands."""

    def __init__(self, function: str, got: str, expected: str, role: str = "operator") -> None:
        super().__init__(
            f"`{function}`: the {role} makes {got} of two values of {expected}",
            help=f"{indefinite(role)} combines two values into one of the same type and shape; "
            "convert the values before they go in",
            label=f"gives {got}, not {expected}",
        )


class UnsuitableBounds(CallError, ValueError):
    """A `bounds` argument that names no way to treat places outside."""

    def __init__(self, function: str, got: str) -> None:
        super().__init__(
            f"`{function}`: `bounds` is 'error' or 'ignore', not {got}",
            help="'error' raises an IndexError for a place outside, 'ignore' leaves such values out",
            label=f"got {got}",
        )


class UnsuitableValues(CallError):
    """An argument of a parallel operation that is not what it goes over or puts in place."""

    def __init__(self, function: str, argument: str, expected: str, got: str) -> None:
        super().__init__(
            f"`{function}`: `{argument}` is {got}, and {expected} is expected",
            help="see docs/parallel.md for what each operation takes",
            label=f"got {got}",
        )


class CastRefused(CallError):
    """Values that would lose their kind in the array they are put into."""

    def __init__(self, function: str, values: str, target: str) -> None:
        super().__init__(
            f"`{function}`: values of {values} do not go into an array of {target}",
            help="convert the values or the array first, for example with `.astype(np.float64)`",
            label=f"{values} into {target}",
        )
