"""How scalars stand in the 8-byte slots that Python and compiled code share."""

from __future__ import annotations

from anadrome.dtypes import DType


def value_code(dtype: DType) -> str:
    """The letter of `struct` for a scalar in its slot: an i64, a u64 or a double."""
    match dtype.kind:
        case "float":
            return "d"
        case "bool":
            return "?7x"
        case "int":
            return "q"
        case "uint":
            return "Q"
