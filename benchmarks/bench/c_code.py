"""Functions of `benchmarks/c/`, compiled by the machine's own C compiler for its own processor."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).resolve().parents[1] / "c"
FLAGS = ("-O3", "-march=native", "-ffast-math", "-fPIC")
SCALAR_FLAGS = ("-fno-tree-vectorize",)


class NoCompilerError(RuntimeError):
    """There is no C compiler on this machine."""


def compiler() -> str:
    """The path of the C compiler."""
    found = shutil.which("cc")
    if found is None:
        raise NoCompilerError("`cc` is not on the path")
    return found


@cache
def library(name: str, real: str = "double", is_scalar: bool = False) -> ctypes.CDLL:
    """The functions of one file, where `REAL` is the type `double` or `float`; of scalars if asked for, the
    same loops without vectors."""
    flags = (*FLAGS, *(SCALAR_FLAGS if is_scalar else ()), f"-DREAL={real}")
    with tempfile.TemporaryDirectory() as folder:
        code, path = Path(folder) / f"{name}.o", Path(folder) / f"{name}.so"
        source = str(FOLDER / f"{name}.c")
        subprocess.run([compiler(), *flags, "-c", source, "-o", str(code)], check=True)
        # linked without -ffast-math, with which loading the library turns off denormals for the process
        subprocess.run([compiler(), "-shared", str(code), "-o", str(path), "-lm"], check=True)
        return ctypes.CDLL(str(path))


def bound(
    function: Any, inputs: tuple[Any, ...], results: tuple[np.ndarray, ...] = (), has_value: bool = True
) -> Callable[[], Any]:
    """A call of a C function, which gives the double that it returns, if it has one, and then `results`.

    Arrays are passed as pointers, whole numbers as `long`, others as `double`; the results come last.
    """
    function.restype = ctypes.c_double if has_value else None
    held = [*inputs, *results]
    passed = [_passed(value) for value in held]

    def call() -> Any:
        assert held  # the arrays live as long as the function
        value = function(*passed)
        return (value, *results) if has_value else results

    return call


def _passed(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        assert value.flags.c_contiguous
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_double(value) if isinstance(value, float) else ctypes.c_long(value)
