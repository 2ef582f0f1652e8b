"""A program as bytes: equal in every process for programs that are equal to the last source place.

The bytes are those of `pickle`, which goes through every field of every node, so that nothing that a later
stage may ask is left out. What names a row of a table stands for the row; what would be written by its name
alone and may mean something else elsewhere (a user's function or class) has no bytes.
"""

from __future__ import annotations

import io
import pickle
from types import BuiltinFunctionType, FunctionType
from typing import Any

from anadrome.array_ir.nodes import Function, Let
from anadrome.dtypes import DType
from anadrome.prims.record import Prim
from anadrome.prims.table import PRIMS

_KNOWN = ("anadrome", "builtins", "copyreg", "numpy")
"""Packages whose names mean the same wherever their versions are the same."""


class _Unknown(Exception):
    """Something whose name does not say what it is."""


class _Writer(pickle.Pickler):
    """Writes each object by its parts."""

    def reducer_override(self, value: Any) -> Any:
        """How an object is written; `pickle` asks for all but numbers, texts and containers."""
        match value:
            case Let(targets=targets, expr=expr, span=span):
                return Let, (targets, expr, span)
            case Prim(name=name):
                if PRIMS.get(name) is not value:
                    raise _Unknown
                return str, (name,)
            case DType(name=name):
                return str, (name,)
            case type() | FunctionType() | BuiltinFunctionType():
                if str(value.__module__).partition(".")[0] not in _KNOWN:
                    raise _Unknown
            case _:
                pass
        return NotImplemented


def bytes_of(fn: Function) -> bytes | None:
    """The bytes of a program; None where a part of it can only be named."""
    written = io.BytesIO()
    try:
        _Writer(written, pickle.HIGHEST_PROTOCOL).dump(fn)
    except (_Unknown, pickle.PicklingError, AttributeError, TypeError, RecursionError):  # as pickle says it
        return None
    return written.getvalue()
