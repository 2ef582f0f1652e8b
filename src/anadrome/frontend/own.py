"""Which functions, classes and modules are the user's own, and which belong to Python and its libraries."""

from __future__ import annotations

import functools
import sys
import sysconfig
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import TypeGuard

from anadrome.frontend.functions import StagedFunction

LIBRARIES = frozenset({"numpy", "scipy", "anadrome"})
"""Functions of these packages, as of those that come with Python, run as they are where all arguments are
static."""

_PYTHONS_FOLDERS = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))

PROGRAM_MODULES = frozenset(
    {
        "anadrome.api.sparse.colouring_loops",
        "anadrome.frontend.library.ordered_program",
        "anadrome.frontend.library.polynomial_program",
        "anadrome.frontend.library.python_program",
        "anadrome.frontend.library.spline_program",
        "anadrome.frontend.sparse_program",
        "anadrome.tools.mixture",
    }
)
"""Modules of these packages that hold programs to be compiled, like a user's."""

CALLED_MODULES = frozenset(
    {"functools", *(name for name in PROGRAM_MODULES if name.startswith("anadrome.frontend."))}
)
"""Those whose programs stand for functions that a user calls: their errors name the line of the call."""


def is_library(module: str) -> bool:
    """Whether a module belongs to Python or to a package that runs as it is: a file of the user's that bears
    the name of one of Python's (`signal.py`, `statistics.py`) does not."""
    package = module.partition(".")[0]
    if package not in sys.stdlib_module_names:
        return package in LIBRARIES
    file = getattr(sys.modules.get(package), "__file__", None)
    return not isinstance(file, str) or _comes_with_python(file)


@functools.cache
def _comes_with_python(file: str) -> bool:
    """Whether a file lies in Python's own library; not in packages that are installed into it."""
    path = Path(file)
    if "site-packages" in path.parts or "dist-packages" in path.parts:
        return False
    return any(map(path.is_relative_to, _PYTHONS_FOLDERS)) or any(
        part.endswith(".zip") for part in path.parts
    )


def is_own(found: FunctionType | StagedFunction | type | ModuleType) -> bool:
    """Whether a function, class or module is the user's."""
    name = found.__name__ if isinstance(found, ModuleType) else found.__module__
    module = name or ""
    if not is_library(module) or module in PROGRAM_MODULES:
        return True
    code = getattr(found, "__code__", None)
    if module == "functools":  # what `total_ordering` makes a method of a class of the user's
        return isinstance(code, CodeType) and "_from_" in code.co_name
    # an example in a docstring bears the name of the module it stands in
    return isinstance(code, CodeType) and code.co_filename.startswith("<doctest ")


def is_inlined(found: object) -> TypeGuard[FunctionType]:
    """Whether a value is a function of the user's, whose text is evaluated where it is called."""
    return isinstance(found, FunctionType | StagedFunction) and is_own(found)


def is_native(found: FunctionType | type | ModuleType) -> bool:
    """Whether a function, class or module belongs to Python, NumPy, SciPy or this package."""
    return not is_own(found)
