"""Which functions, classes and modules are the user's own, and which belong to Python and its libraries."""

from __future__ import annotations

import sys
from types import CodeType, FunctionType, ModuleType
from typing import TypeGuard

from anadrome.frontend.functions import StagedFunction

NATIVE_MODULES = frozenset({*sys.stdlib_module_names, "numpy", "scipy", "anadrome"})
"""Functions of these packages run as they are where all arguments are static."""

PROGRAM_MODULES = frozenset(
    {
        "anadrome.api.sparse.colouring_loops",
        "anadrome.frontend.library.python_program",
        "anadrome.frontend.library.spline_program",
        "anadrome.frontend.sparse_program",
        "anadrome.tools.mixture",
    }
)
"""Modules of these packages that hold programs to be compiled, like a user's."""

CALLED_MODULES = frozenset({name for name in PROGRAM_MODULES if name.startswith("anadrome.frontend.")})
"""Those whose programs stand for functions that a user calls: their errors name the line of the call."""


def is_own(found: FunctionType | StagedFunction | type | ModuleType) -> bool:
    """Whether a function, class or module is the user's."""
    name = found.__name__ if isinstance(found, ModuleType) else found.__module__
    module = name or ""
    if module.partition(".")[0] not in NATIVE_MODULES or module in PROGRAM_MODULES:
        return True
    # an example in a docstring bears the name of the module it stands in
    code = getattr(found, "__code__", None)
    return isinstance(code, CodeType) and code.co_filename.startswith("<doctest ")


def is_inlined(found: object) -> TypeGuard[FunctionType]:
    """Whether a value is a function of the user's, whose text is evaluated where it is called."""
    return isinstance(found, FunctionType | StagedFunction) and is_own(found)


def is_native(found: FunctionType | type | ModuleType) -> bool:
    """Whether a function, class or module belongs to Python, NumPy, SciPy or this package."""
    return not is_own(found)
