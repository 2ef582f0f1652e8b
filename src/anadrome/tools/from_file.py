"""Functions and arguments named on the command line: `fit.py:cost`, `f64[100,3]`."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
import traceback
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import numpy as np

from anadrome.dtypes import BY_NAME
from anadrome.errors.tools import ArgumentTextError, ProgramFailed, TargetError
from anadrome.errors.tracebacks import end_at_call

_TYPE = re.compile(r"(?P<dtype>\w+)(?:\[(?P<shape>.*)\])?")

LARGEST = 2**63 - 1
"""The most bytes an array may have."""

MOST_DIMENSIONS = 64
"""The most dimensions of a NumPy array."""


def load_function(target: str) -> Callable[..., Any]:
    """The function of FILE:FUNCTION (or FILE:Class.method); the file is imported, with its folder on the
    path."""
    file, colon, name = target.rpartition(":")
    if not colon or not name:
        raise TargetError(target, "no function is named")
    path = Path(file)
    if not path.is_file():
        raise TargetError(target, f"there is no file {file or 'named'}")
    found: Any = _module(path.resolve(), file)
    for part in name.split("."):
        found = getattr(found, part, None)
        if found is None:
            raise TargetError(target, f"{file} has no `{name}`")
    if not callable(found):
        raise TargetError(target, f"`{name}` is of type {type(found).__name__}, not a function")
    return found  # type: ignore[no-any-return]


def _module(path: Path, shown: str) -> Any:
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_loader(path.stem, SourceFileLoader(path.stem, str(path)))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        end_at_call(error)
        failure = "".join(traceback.format_exception(error)).rstrip()
        raise ProgramFailed(shown, failure) from error
    return module


def parse_argument(text: str) -> Any:
    """An argument of a type (ones of it: the values do not matter to the program), or a Python literal.

    All elements of an array are one number in memory, so its size does not matter.

    >>> parse_argument("f64[2]").tolist()
    [1.0, 1.0]
    >>> parse_argument("2.5")
    2.5
    """
    match = _TYPE.fullmatch(text.strip())
    if match is not None and match["dtype"] in BY_NAME:
        dtype = BY_NAME[match["dtype"]].numpy
        one = dtype.type(1)
        return one if match["shape"] is None else np.broadcast_to(one, _shape(text, match["shape"], dtype))
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise ArgumentTextError(text, "it is neither a type nor a literal") from None


def _shape(text: str, sizes: str, dtype: np.dtype[Any]) -> tuple[int, ...]:
    """The sizes between the brackets of an array type."""
    found: list[int] = []
    for size in sizes.split(",") if sizes.strip() else []:
        if not re.fullmatch(r"\s*\d{1,30}\s*", size):
            raise ArgumentTextError(text, f"`{size.strip()[:30]}` is no size, an integer from 0 on")
        found.append(int(size))
    elements = 1
    for count in found:
        elements *= max(count, 1)
    if elements * dtype.itemsize > LARGEST:
        raise ArgumentTextError(text, "an array cannot have so many elements")
    if len(found) > MOST_DIMENSIONS:
        raise ArgumentTextError(text, f"an array has at most {MOST_DIMENSIONS} dimensions")
    return tuple(found)
