"""Writing `z[…] = w` into a complex array: the same places of both parts."""

from __future__ import annotations

from anadrome.frontend.arrays import atom
from anadrome.frontend.complex_numbers.parts import split
from anadrome.frontend.context import Context
from anadrome.frontend.values import Array, Complex, Scalar, Value
from anadrome.frontend.writing import put


def put_complex(context: Context, array: Complex, index: Value, value: Value) -> None:
    """`array[index] = value`; a real value has an imaginary part of zeros. Both parts are read before either
    is written."""
    real, imag = split(context, value)
    parts: list[Value] = []
    for part in (real, 0.0 if imag is None else imag):
        found = atom(context, part)
        parts.append(context.wrap(found) if found.type.shape else Scalar(found))
    for own, part in zip((array.real, array.imag), parts, strict=True):
        assert isinstance(own, Array)
        put(context, own, index, part)
