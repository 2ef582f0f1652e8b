"""Where an error of a call points: at the parameter it names, or at the name of the function."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from types import FunctionType, MethodType
from typing import TypeVar

from anadrome.errors import AnadromeError, Span
from anadrome.errors.frontend import SourceUnavailable
from anadrome.frontend.source import SourceCache

Error = TypeVar("Error", bound=AnadromeError)


def placed(error: Error, function: object) -> Error:
    """The error, pointing into the definition of the function if it pointed nowhere."""
    if error.span is not None:
        return error.at(None)
    argument = re.match(r"\w*", str(getattr(error, "argument", "")))
    return error.at(place_of(function, argument.group() if argument else ""))


def place_of(function: object, argument: str = "") -> Span | None:
    """The parameter of this name in a function's text, else the function's name there; None without text."""
    plain = _plain_function(function)
    if plain is None:
        return None
    try:
        source, node = SourceCache().find(plain)
    except SourceUnavailable:
        return None
    parameters = node.args
    others = [arg for arg in (parameters.vararg, parameters.kwarg) if arg is not None]
    for arg in (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs, *others):
        if arg.arg == argument:
            return source.span(arg)
    if isinstance(node, ast.Lambda):
        return source.span(node)
    text = source.lines[node.lineno - 1]
    begin = text.find(node.name, node.col_offset + len("def "))
    return Span(source.file, node.lineno, begin, begin + len(node.name)) if begin >= 0 else None


def _plain_function(function: object) -> FunctionType | None:
    """The Python function inside partials, methods, decorators and objects that can be called."""
    for _ in range(100):
        match function:
            case FunctionType() if not hasattr(function, "__wrapped__"):
                return function
            case MethodType():
                function = function.__func__
            case functools.partial():
                function = function.func
            case _ if hasattr(function, "__wrapped__"):
                function = function.__wrapped__
            case _:
                found = inspect.getattr_static(type(function), "__call__", None)
                return found if isinstance(found, FunctionType) else None
    return None
