"""The named monoids: their neutral elements (what they do is the primitive of the same name)."""

from __future__ import annotations

from anadrome.dtypes import DType


def identity_of(operator: str, dtype: DType) -> bool | int | float:
    """What combining nothing gives: 0, 1, the far end of the type's range, true, or false.

    >>> from anadrome.dtypes import F64
    >>> identity_of("min", F64)
    inf
    """
    match operator:
        case "add":
            return _number(0, dtype)
        case "mul":
            return _number(1, dtype)
        case "min":
            return float("inf") if dtype.is_float else _greatest(dtype)
        case "max":
            return float("-inf") if dtype.is_float else _least(dtype)
        case "and":
            return True
        case "or":
            return False
        case _:
            raise KeyError(f"no operator is named {operator}")


def _number(value: int, dtype: DType) -> int | float:
    return float(value) if dtype.is_float else value


def _greatest(dtype: DType) -> int:
    return int(2 ** (dtype.bits - (dtype.kind == "int"))) - 1


def _least(dtype: DType) -> int:
    return -int(2 ** (dtype.bits - 1)) if dtype.kind == "int" else 0
