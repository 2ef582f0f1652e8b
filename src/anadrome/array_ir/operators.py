"""The named monoids: their identities (what they do is the primitive of the same name)."""

from __future__ import annotations

from anadrome.array_ir.nodes import Const
from anadrome.dtypes import DType


def identity(operator: str, dtype: DType) -> Const:
    """What combining nothing gives: 0, 1, the far end of the type's range, true, or false.

    >>> from anadrome.dtypes import F64
    >>> identity("min", F64).value
    inf
    """
    match operator:
        case "add":
            return _number(0, dtype)
        case "mul":
            return _number(1, dtype)
        case "min":
            return Const(float("inf") if dtype.is_float else _greatest(dtype), dtype)
        case "max":
            return Const(float("-inf") if dtype.is_float else _least(dtype), dtype)
        case "and":
            return Const(True, dtype)
        case "or":
            return Const(False, dtype)
        case _:
            raise KeyError(f"no operator is named {operator}")


def _number(value: int, dtype: DType) -> Const:
    return Const(float(value) if dtype.is_float else value, dtype)


def _greatest(dtype: DType) -> int:
    return int(2 ** (dtype.bits - (dtype.kind == "int"))) - 1


def _least(dtype: DType) -> int:
    return -int(2 ** (dtype.bits - 1)) if dtype.kind == "int" else 0
