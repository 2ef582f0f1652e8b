"""Writing into complex arrays, `z[…] = w` and `out=z`: the same places of both parts."""

from __future__ import annotations

import numpy as np

from anadrome.errors.frontend import ComplexRefused
from anadrome.frontend.arrays import as_array, atom, describe
from anadrome.frontend.complex_numbers.parts import complex_of, has_complex, numpy_type, split
from anadrome.frontend.context import Context
from anadrome.frontend.library import in_place
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


def write_complex(
    context: Context,
    name: str,
    target: Array | Complex,
    value: Value,
    mask: Value = True,
    casting: Value = "same_kind",
) -> None:
    """The value into an array, one of which is complex; with a mask, at the places where it holds."""
    if isinstance(target, Array):
        if has_complex(value):
            help = "give it a complex array"
            raise ComplexRefused(f"`out` of {name}", describe(value), context.span, help)
        in_place.write(context, name, target, value, mask, casting)
        return
    is_real = not has_complex(value)
    own = as_array(context, value).dtype.numpy if is_real else numpy_type(complex_of(context, value).dtype)
    in_place.require_cast(context, name, own, numpy_type(target.dtype), casting)
    if mask is not True:
        value = context.call(np.where, in_place.mask_of(context, name, mask), value, target)
    put_complex(context, target, Ellipsis, value)
