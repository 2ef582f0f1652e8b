"""Annotations of arguments: `x: ad.f64["n", 3]` says scalar type and dimensions, and is checked."""

from __future__ import annotations

from dataclasses import dataclass

from anadrome.array_ir.nodes import ArrayType, Const, Size, Var, i64
from anadrome.dtypes import BOOL, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, DType
from anadrome.errors.base import counted
from anadrome.errors.frontend import AnnotationMismatch, MalformedAnnotation
from anadrome.errors.tracebacks import door


@dataclass(frozen=True, slots=True)
class Annotation:
    """The type of an argument: a scalar type, and in brackets the dimensions of an array.

    Dimensions of one name are equal, numbers are compile-time constants. What an argument is said to be is
    checked at each call.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> @ad.jit
    ... def moved(points: ad.f64["n", 3], by: ad.f64[3]):
    ...     return points + by
    >>> moved(np.zeros((2, 3)), np.ones(3))
    array([[1., 1., 1.],
           [1., 1., 1.]])
    """

    dtype: DType
    dimensions: tuple[int | str, ...] = ()

    @door
    def __getitem__(self, dimensions: int | str | tuple[int | str, ...]) -> Annotation:
        given = dimensions if isinstance(dimensions, tuple) else (dimensions,)
        for size in given:
            is_size = isinstance(size, int) and not isinstance(size, bool) and size >= 0
            if not is_size and not (isinstance(size, str) and size.isidentifier()):
                raise MalformedAnnotation(self.dtype.name, repr(size))
        return Annotation(self.dtype, given)

    def __repr__(self) -> str:
        if not self.dimensions:
            return self.dtype.name
        return f"{self.dtype.name}[{', '.join(str(size) for size in self.dimensions)}]"


bool_ = Annotation(BOOL)
i8, i16, i32, i64_, u8, u16, u32, u64 = (Annotation(d) for d in (I8, I16, I32, I64, U8, U16, U32, U64))
f32, f64 = Annotation(F32), Annotation(F64)


def bind_annotation(
    name: str, annotation: Annotation, dtype: DType, shape: tuple[Size, ...], sizes: dict[object, Size]
) -> tuple[Size, ...]:
    """The shape of an argument under its annotation; raises `AnnotationMismatch` where they contradict.

    A dimension annotated by a number is that constant: whoever calls the program holds the argument to it.
    """
    if dtype is not annotation.dtype or len(shape) != len(annotation.dimensions):
        got = f"{dtype.name} of {counted(len(shape), 'dimension')}"
        raise AnnotationMismatch(name, repr(annotation), got)
    found: list[Size] = []
    for wanted, size in zip(annotation.dimensions, shape, strict=True):
        if isinstance(wanted, int):
            if isinstance(size, Const) and size.value != wanted:
                raise AnnotationMismatch(name, repr(annotation), f"a dimension of size {size.value}")
            found.append(i64(wanted))
            continue
        known = sizes.setdefault(wanted, size if isinstance(size, Const) else Var(wanted, ArrayType(I64)))
        if isinstance(size, Const) and isinstance(known, Const) and known.value != size.value:
            raise AnnotationMismatch(name, repr(annotation), f"{size.value} where {wanted} is {known.value}")
        found.append(known)
    return tuple(found)
