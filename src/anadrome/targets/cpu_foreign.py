"""Foreign code that compiled programs call: where it is on this machine, made known to LLVM by name.

Object code holds names, never addresses, so that it can be kept on disk and used by another process.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import llvmlite.binding as llvm

from anadrome.prims.table import PRIMS
from anadrome.targets import llvm_complex, llvm_decompositions, llvm_linalg
from anadrome.targets.llvm_text import SPECIAL_PREFIX
from anadrome.targets.llvm_wrapper import FOREIGN_PREFIX, LETTERS
from anadrome.targets.record import VectorFunction

FORK_JOIN = "anadrome.fork_join"
"""How compiled code spells the function that runs another one on a team of threads."""

_OPENMP = re.compile(r"/lib(?:gomp|iomp5|omp)\b[^/\s]*\.so[^/\s]*$")
_OPENMP_NAMES = ("libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so")

_VECTOR_ISAS = (("avx512f", "e", 512), ("avx2", "d", 256), ("sse4.1", "b", 128), ("neon", "n", 128))
"""(processor feature, letter of the vector ABI, bits)"""

_UNARY = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt", "erf", "erfc"),
    *("sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
)
_BINARY = ("pow", "atan2", "hypot")


# ---------------------------------------------------------------------------- linear algebra
@functools.cache
def _add_linear_algebra() -> None:
    """Make BLAS and LAPACK of SciPy known, as `FOREIGN_PREFIX` + name."""
    tables = {library: _exported(f"scipy.linalg.cython_{library}") for library in ("blas", "lapack")}
    real = (*llvm_linalg.FORTRAN, *llvm_decompositions.FORTRAN, *llvm_complex.FORTRAN)
    for functions, letters in zip((real, llvm_complex.COMPLEX_FORTRAN), LETTERS, strict=True):
        for (library, function), letter in itertools.product(functions, letters):
            name = letter + function
            llvm.add_symbol(FOREIGN_PREFIX + name, _capsule_address(tables[library][name]))


def _exported(module: str) -> Mapping[str, object]:
    """What a module of SciPy's offers to C."""
    found: Mapping[str, object] = importlib.import_module(module).__pyx_capi__
    return found


def _capsule_address(capsule: object) -> int:
    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    return int(pointer_of(capsule, _signature(capsule)))


def _signature(capsule: object) -> bytes:
    """What Cython says of an exported function: its C type."""
    name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
    return bytes(name_of(capsule))


# ---------------------------------------------------------------------------- special functions
_FUSED = ("", "__pyx_fuse_0", "__pyx_fuse_1")
"""What stands in front of the name of a function that SciPy has for one type, or for several."""


@functools.cache
def _add_special_functions() -> None:
    """Make the functions of `scipy.special.cython_special` known that rows of the table name, as
    `SPECIAL_PREFIX` + name: those on doubles, where Cython says that they are of this type. They take no
    interpreter lock, and keep nothing between calls."""
    exported = _exported("scipy.special.cython_special")
    for row in PRIMS.values():
        if not row.special:
            continue
        wanted = f"double ({'double, ' * row.arity}int __pyx_skip_dispatch)".encode()
        for prefix in _FUSED:
            capsule = exported.get(prefix + row.special)
            if capsule is not None and _signature(capsule) == wanted:
                llvm.add_symbol(SPECIAL_PREFIX + row.special, _capsule_address(capsule))


_LATE = {FOREIGN_PREFIX: _add_linear_algebra, SPECIAL_PREFIX: _add_special_functions}


def add_for(symbols: Iterable[str]) -> None:
    """Make the functions of SciPy known that some of these symbols name; SciPy imports their packages when
    the first program calls one of them."""
    for prefix, add in _LATE.items():
        if any(symbol.startswith(prefix) for symbol in symbols):
            add()


# ---------------------------------------------------------------------------- threads
def add_fork_join() -> str:
    """Make the OpenMP runtime's fork and join known; its symbol, or "" where this machine has no runtime.

    A runtime that is loaded already (by another library) is preferred, so that the process has one team. One
    that is loaded here waits asleep: on a busy machine a team that spins keeps its own late members from
    running, and a join takes milliseconds.
    """
    for path in (*_loaded_runtimes(), *_OPENMP_NAMES):
        try:
            with _waiting_asleep():
                function = ctypes.CDLL(path).GOMP_parallel
        except (OSError, AttributeError):
            continue
        address = ctypes.cast(function, ctypes.c_void_p).value
        if address is not None:
            llvm.add_symbol(FORK_JOIN, address)
            return FORK_JOIN
    return ""


@contextmanager
def _waiting_asleep() -> Iterator[None]:
    """Let a runtime that reads its settings now find that threads wait asleep, if the user says nothing."""
    if "OMP_WAIT_POLICY" in os.environ or "GOMP_SPINCOUNT" in os.environ:
        yield
        return
    os.environ["OMP_WAIT_POLICY"] = "passive"
    try:
        yield
    finally:
        del os.environ["OMP_WAIT_POLICY"]


def _loaded_runtimes() -> Iterator[str]:
    try:
        maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    paths = dict.fromkeys(line.rpartition(" ")[2] for line in maps.splitlines())
    yield from (path for path in paths if _OPENMP.search(path))


# ---------------------------------------------------------------------------- vector functions
def vector_functions(features: Mapping[str, bool]) -> dict[str, tuple[VectorFunction, ...]]:
    """The vector versions of C functions that the C library has for this processor, widest first.

    The vector ABI spells a version `_ZGV`, a letter for the instruction set, `N` (no mask), the lanes, a `v`
    for each argument, `_` and the scalar function's name. Results are within 4 ulp.
    """
    try:
        library = ctypes.CDLL("libmvec.so.1")
        llvm.load_library_permanently("libmvec.so.1")
    except (OSError, RuntimeError):
        return {}
    isas = [(letter, bits) for feature, letter, bits in _VECTOR_ISAS if features.get(feature)]
    found: dict[str, tuple[VectorFunction, ...]] = {}
    for names, parameters in ((_UNARY, "v"), (_BINARY, "vv")):
        for name in names:
            for suffix, width in (("", 64), ("f", 32)):
                versions = tuple(
                    VectorFunction(f"_ZGV{letter}N{bits // width}{parameters}_{name}{suffix}", bits // width)
                    for letter, bits in isas
                )
                present = tuple(version for version in versions if hasattr(library, version.symbol))
                if present:
                    found[name + suffix] = present
    return found
