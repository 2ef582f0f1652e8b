"""The objective of GMM in C, compiled by the machine's own compiler for its own processor, beside ours."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench.cases import CASES
from bench.clock import Paired, paired

SOURCE = Path(__file__).resolve().parents[1] / "gmm.c"
FLAGS = ("-O3", "-march=native", "-shared", "-fPIC")


class NoCompilerError(RuntimeError):
    """There is no C compiler on this machine."""


def against_c() -> Paired:
    """The C objective first, ours second, on the same numbers, after their values were compared."""
    case = next(case for case in CASES if case.name == "gmm")
    ours, _ = case.functions()
    arguments = case.arguments()
    theirs = c_objective(arguments)
    expected, found = theirs(), float(ours(*arguments))
    if not np.isclose(found, expected, rtol=1e-10, atol=0.0):
        raise AssertionError(f"C gives {expected!r}, anadrome {found!r}")
    return paired(theirs, lambda: ours(*arguments))


def c_objective(arguments: tuple[Any, ...]) -> Callable[[], float]:
    """The compiled C function, with its arguments and scratch in place."""
    alpha, mu, q, lower, x, gamma, m = arguments
    components, dimension = mu.shape
    function = _library().gmm_log_posterior
    function.restype = ctypes.c_double
    scratch = (components * dimension**2, components, components, dimension)
    held = [np.ascontiguousarray(array) for array in (alpha, mu, q, lower, x)]
    held += [np.empty(size) for size in scratch]
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in held]
    sizes = [ctypes.c_long(size) for size in (dimension, components, len(x))]
    numbers = [ctypes.c_double(gamma), ctypes.c_long(m)]

    def call() -> float:
        assert held  # the arrays live as long as the function
        return float(function(*sizes, *pointers[:5], *numbers, *pointers[5:]))

    return call


def _library() -> ctypes.CDLL:
    compiler = shutil.which("cc")
    if compiler is None:
        raise NoCompilerError("`cc` is not on the path")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gmm.so"
        subprocess.run([compiler, *FLAGS, str(SOURCE), "-o", str(path), "-lm"], check=True)
        return ctypes.CDLL(str(path))
