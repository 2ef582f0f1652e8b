"""The loops of NumPy's Fourier transforms, made known to LLVM by name (decision 14).

NumPy has no C interface to its transforms, but the ufuncs that it computes them with have one: the structure
`PyUFuncObject` of `numpy/ufuncobject.h`, which holds the loop of each type and its data. What is read there
is compared with what Python says of the ufunc; where anything differs, the transform is not made known, and
a program that needs it is refused.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import re
from collections.abc import Iterator, Mapping

import llvmlite.binding as llvm
import numpy as np

from anadrome.dtypes import F32, F64, DType
from anadrome.targets.llvm_fourier import LOOP_PREFIX, LOOPS

_MODULE = "numpy.fft._pocketfft_umath"
_SIGNATURE = re.compile(r"\((\w)\),\(\)->\((?!\1)\w\)")
_REAL, _COMPLEX = {F32: "f", F64: "d"}, {F32: "F", F64: "D"}
_HEAD = object.__basicsize__
"""The bytes in front of the fields of an object."""


class _Fields(ctypes.Structure):
    """The fields of `PyUFuncObject` up to the last that is read."""

    _fields_ = (
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
    )


Record = ctypes.Array[ctypes.c_void_p]
"""The address of a loop and that of its data."""


@functools.cache
def add_transforms() -> Mapping[str, Record]:
    """Make the loops known; once, for compiled code reads the records."""
    records = dict(_records())
    for symbol, record in records.items():
        llvm.add_symbol(symbol, ctypes.addressof(record))
    return records


def _records() -> Iterator[tuple[str, Record]]:
    try:
        module = importlib.import_module(_MODULE)
    except ImportError:
        return
    for name in LOOPS:
        ufunc = getattr(module, name, None)
        for dtype in (F32, F64):
            record = _record(ufunc, _types(name, dtype)) if isinstance(ufunc, np.ufunc) else None
            if record is not None:
                yield f"{LOOP_PREFIX}{name}_{dtype.name}", record


def _types(name: str, dtype: DType) -> str:
    """The types of a loop as NumPy spells them: what is transformed, the factor, and the result."""
    real, imaginary = _REAL[dtype], _COMPLEX[dtype]
    taken = real if name.startswith("rfft") else imaginary
    return f"{taken}{real}->{real if name == 'irfft' else imaginary}"


def _record(ufunc: np.ufunc, types: str) -> Record | None:
    """The loop of a ufunc for these types; None where the structure is not as expected."""
    if types not in ufunc.types or not _SIGNATURE.fullmatch(ufunc.signature or ""):
        return None
    fields = _Fields.from_address(id(ufunc) + _HEAD)
    said = (ufunc.nin, ufunc.nout, ufunc.nargs, ufunc.ntypes)
    if said != (2, 1, 3, len(ufunc.types)) or said != (fields.nin, fields.nout, fields.nargs, fields.ntypes):
        return None
    position = ufunc.types.index(types)
    if not fields.functions or not fields.functions[position]:
        return None
    data = fields.data[position] if fields.data else None
    return (ctypes.c_void_p * 2)(fields.functions[position], data)
