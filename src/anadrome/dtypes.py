"""The scalar types: their names in text, NumPy and LLVM, and how they promote (NEP 50)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

Kind = Literal["bool", "int", "uint", "float"]


@dataclass(frozen=True, slots=True)
class DType:
    """A scalar type. There is one instance of each; compare them with `is` or `==` alike."""

    name: str
    kind: Kind
    bits: int
    numpy_name: str
    llvm: str

    def __repr__(self) -> str:
        return self.name

    @property
    def numpy(self) -> np.dtype[np.generic]:
        """The NumPy dtype of an array of this type."""
        return np.dtype(self.numpy_name)

    @property
    def bytes(self) -> int:
        """Storage of one element: a bool takes one byte, as in NumPy."""
        return max(1, self.bits // 8)

    @property
    def is_float(self) -> bool:
        """Whether values of this type carry derivatives."""
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        """Whether this is a signed or unsigned integer type."""
        return self.kind in ("int", "uint")


BOOL = DType("bool", "bool", 1, "bool", "i1")
I8 = DType("i8", "int", 8, "int8", "i8")
I16 = DType("i16", "int", 16, "int16", "i16")
I32 = DType("i32", "int", 32, "int32", "i32")
I64 = DType("i64", "int", 64, "int64", "i64")
U8 = DType("u8", "uint", 8, "uint8", "i8")
U16 = DType("u16", "uint", 16, "uint16", "i16")
U32 = DType("u32", "uint", 32, "uint32", "i32")
U64 = DType("u64", "uint", 64, "uint64", "i64")
F32 = DType("f32", "float", 32, "float32", "float")
F64 = DType("f64", "float", 64, "float64", "double")

ALL = (BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64)
BY_NAME = {dtype.name: dtype for dtype in ALL}
_BY_NUMPY = {dtype.numpy: dtype for dtype in ALL}


def from_numpy(numpy_dtype: object) -> DType | None:
    """The scalar type of a NumPy dtype, or None where Anadrome has none (complex, object, strings)."""
    return _BY_NUMPY.get(np.dtype(numpy_dtype).newbyteorder("="))  # type: ignore[call-overload]


def promote(left: DType, right: DType) -> DType | None:
    """The type NumPy gives an operation on two arrays of these types.

    >>> promote(I32, F32)
    f64
    """
    return from_numpy(np.promote_types(left.numpy, right.numpy))
