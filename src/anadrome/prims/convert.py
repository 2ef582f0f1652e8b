"""Rows that convert between scalar types: `to_bool`, `to_i8` … `to_u64`, `to_f32`, `to_f64`.

To an integer a float is truncated towards zero; what NaN, infinities and numbers outside the integer's
range become is not specified, but it is some number and no trap. To bool: whether it is not zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anadrome.dtypes import ALL, DType
from anadrome.prims.record import Algebra, Prim
from anadrome.prims.types import convert


def _converted(algebra: Algebra[Any], args: tuple[Any, ...], out: Any) -> tuple[Any, ...]:
    """∂ = 1: the tangent is converted to the result's type, the cotangent to the argument's"""
    return (algebra.constant(1.0, out),)


def _row(target: DType) -> Prim:
    numpy_dtype = target.numpy

    def meaning(value: Any) -> Any:
        return np.asarray(value).astype(numpy_dtype)[()]

    return Prim(
        f"to_{target.name}",
        1,
        convert(target),
        meaning,
        _converted if target.is_float else None,
        zero_derivative=not target.is_float,
        converts_to=target,
        symbol=f"np.{target.numpy_name}",
    )


ROWS = tuple(_row(dtype) for dtype in ALL)
