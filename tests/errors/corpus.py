"""The corpus of bad programs: how one is run, and what is kept of its error.

A program file defines `program` and `ARGUMENTS`, and `TRANSFORM` where it is not `ad.jit`; or `call`, which
does everything itself. What is kept is the class of the error, the builtin class it is an instance of, and
its text, in which a path is only the file's name.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path

import anadrome as ad

PROGRAMS = Path(__file__).parent / "programs"
EXPECTED = Path(__file__).parent / "expected"
NAMES = tuple(sorted(path.stem for path in PROGRAMS.glob("*.py")))


def load(name: str) -> Callable[[], object]:
    """The bad call of a program file."""
    place = PROGRAMS / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"bad_{name}", place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if hasattr(module, "call"):
        return module.call
    transform = getattr(module, "TRANSFORM", ad.jit)
    return lambda: transform(module.program)(*module.ARGUMENTS)


def error_of(name: str) -> ad.AnadromeError:
    """The error a program ends in; any other exception is a bug and goes through."""
    frames = os.environ.pop("ANADROME_TRACEBACK", "short")
    try:
        result = load(name)()
    except ad.AnadromeError as error:
        return error
    finally:
        os.environ["ANADROME_TRACEBACK"] = frames
    raise AssertionError(f"{name} gives {result!r} and no error")


def builtin_of(error: BaseException) -> str:
    """The builtin exception class that an error is an instance of."""
    return next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")


def text_of(error: ad.AnadromeError) -> str:
    """What is compared with the expected file."""
    words = str(error).replace(f"{PROGRAMS}/", "")
    return f"{type(error).__name__} ({builtin_of(error)})\n\n{words}\n"
