"""Foreign code that compiled programs call: where it is on this machine, made known to LLVM by name.

Object code holds names, never addresses, so that it can be kept on disk and used by another process.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

import llvmlite.binding as llvm
from scipy.linalg import cython_blas, cython_lapack

from anadrome.targets.llvm_linalg import FORTRAN
from anadrome.targets.llvm_wrapper import FOREIGN_PREFIX


def add_linear_algebra() -> None:
    """Make BLAS and LAPACK of SciPy known, as `FOREIGN_PREFIX` + name."""
    tables: Mapping[str, Mapping[str, object]] = {
        "blas": cython_blas.__pyx_capi__,
        "lapack": cython_lapack.__pyx_capi__,
    }
    for library, function in FORTRAN:
        for letter in "sd":
            name = letter + function
            llvm.add_symbol(FOREIGN_PREFIX + name, _capsule_address(tables[library][name]))


def _capsule_address(capsule: object) -> int:
    api = ctypes.pythonapi
    name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", api)
    )
    return int(pointer_of(capsule, name_of(capsule)))
