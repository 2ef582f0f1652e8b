"""Yields of rows by elementwise operators, column by column (the interchange of IFL23, §3.2).

reduce ⊕ over rows of C columns is C reductions of scalars, and so for scans and accumulations:

    y = parfor i < n { r = x[i]; yield reduce mul r }
    y = parfor c < C { c_x = parfor i < n { v = x[i, c]; yield stack v }
                       s = parfor i < n { v = c_x[i]; yield reduce mul v }; yield stack s }
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anadrome.ad.arrays import element, move_first_axis
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Size, Var, i64

Column = Callable[[Builder, Sequence[Var]], Atom]
"""(builder, a column of each array) -> the result of the scalar yield."""


def by_columns(builder: Builder, arrays: Sequence[Var], leading: Sequence[int], scalar: Column) -> Var:
    """`scalar` on each column of the arrays; `leading` dimensions of each belong to the column.

    The result of a column has its dimensions before those of the rows.
    """
    row = arrays[0].type.shape[leading[0] :]
    width: Size = i64(1)
    for size in row:
        width = builder.size("mul", width, size)
    flat = [_flat(builder, array, count, width) for array, count in zip(arrays, leading, strict=True)]

    def one(inner: Builder, column: Var) -> Atom:
        parts = []
        for array, count in zip(flat, leading, strict=True):
            shape = array.type.shape[:count]
            part = inner.array(shape, lambda deeper, at, array=array: element(deeper, array, (*at, column)))  # type: ignore[misc]
            parts.append(part)
        return scalar(inner, parts)

    stacked = builder.stack(width, one)
    own = stacked.type.shape[1:]
    result = move_first_axis(builder, stacked, len(own)) if own else stacked
    return result if len(row) == 1 else builder.reshape(result, (*own, *row))


def _flat(builder: Builder, array: Var, count: int, width: Size) -> Var:
    shape = array.type.shape
    return array if len(shape) == count + 1 else builder.reshape(array, (*shape[:count], width))
