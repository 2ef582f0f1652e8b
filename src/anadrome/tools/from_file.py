"""Functions and arguments named on the command line: `fit.py:cost`, `f64[100,3]`."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from anadrome.dtypes import BY_NAME
from anadrome.errors.tools import ArgumentTextError, TargetError

_TYPE = re.compile(r"(?P<dtype>\w+)(?:\[(?P<shape>[\d\s,]*)\])?")


def load_function(target: str) -> Callable[..., Any]:
    """The function of FILE:FUNCTION (or FILE:Class.method); the file is imported, with its folder on the
    path."""
    file, colon, name = target.rpartition(":")
    if not colon or not name:
        raise TargetError(target, "no function is named")
    path = Path(file)
    if not path.is_file():
        raise TargetError(target, f"there is no file {file}")
    found: Any = _module(path.resolve())
    for part in name.split("."):
        found = getattr(found, part, None)
        if found is None:
            raise TargetError(target, f"{file} has no `{name}`")
    if not callable(found):
        raise TargetError(target, f"`{name}` is a {type(found).__name__}")
    return found  # type: ignore[no-any-return]


def _module(path: Path) -> Any:
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def parse_argument(text: str) -> Any:
    """An argument of a type (ones of it: the values do not matter to the program), or a Python literal.

    >>> parse_argument("f64[2]").tolist()
    [1.0, 1.0]
    >>> parse_argument("2.5")
    2.5
    """
    match = _TYPE.fullmatch(text.strip())
    if match is not None and match["dtype"] in BY_NAME:
        dtype = BY_NAME[match["dtype"]].numpy
        if match["shape"] is None:
            return dtype.type(1)
        return np.ones(tuple(int(size) for size in match["shape"].split(",") if size.strip()), dtype)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        raise ArgumentTextError(text) from None
