"""Classes: objects that calls of them make."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from anadrome.errors.frontend import CallMismatch, UnsupportedCall
from anadrome.frontend.context import Context
from anadrome.frontend.values import Value


def construct(context: Context, cls: Any, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """Make an object: a dataclass or namedtuple of the arguments, or of a class with a Python `__init__`."""
    if issubclass(cls, np.generic) and len(args) == 1:
        scalar = np.dtype(cls)
        return context.call(np.asarray, args[0], dtype=scalar)
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return cls(*args, **kwargs)
    if issubclass(cls, BaseException):
        return cls(*args, **kwargs)
    if cls is functools.partial:
        whole: Any = functools.partial
        return whole(*args, **kwargs)
    if cls.__new__ is not object.__new__:
        raise UnsupportedCall(cls.__name__, context.span)
    new = object.__new__(cls)
    context.made(new)
    if _has_fields(cls):
        _fill_dataclass(context, cls, new, args, kwargs)
        return new
    init = cls.__init__
    if not isinstance(init, FunctionType):
        raise UnsupportedCall(cls.__name__, context.span)
    context.surroundings.attribute(cls, "__init__", init)
    context.call(init, new, *args, **kwargs)
    return new


def _has_fields(cls: type) -> bool:
    """Whether a class is a dataclass whose `__init__` is the generated one."""
    init = vars(cls).get("__init__")
    if init is None or not dataclasses.is_dataclass(cls):
        return False
    return bool(init.__code__.co_filename == "<string>")


def _fill_dataclass(
    context: Context, cls: type, new: object, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> None:
    try:
        bound = inspect.signature(cls).bind(*args, **kwargs)
    except TypeError as error:
        raise CallMismatch(cls.__name__, str(error), context.span) from None
    for field in dataclasses.fields(cls):
        if field.name in bound.arguments:
            value = bound.arguments[field.name]
        elif field.default_factory is not dataclasses.MISSING:
            value = context.call(field.default_factory)
        else:
            value = field.default
        object.__setattr__(new, field.name, value)
    after = getattr(cls, "__post_init__", None)
    if after is not None:
        context.call(after, new)
