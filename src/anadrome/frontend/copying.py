"""The compiled forms of `copy.copy` and `deepcopy`, and of `dataclasses.replace`, `asdict` and `astuple`."""

from __future__ import annotations

import copy
import dataclasses
from collections import deque
from collections.abc import Callable
from enum import Enum
from numbers import Number
from types import BuiltinFunctionType, FunctionType, ModuleType, NoneType
from typing import Any

import numpy as np

from anadrome.errors.frontend import UnsupportedType
from anadrome.frontend import natively
from anadrome.frontend.arrays import describe
from anadrome.frontend.carried import list_depth
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.functions import StagedFunction
from anadrome.frontend.growing import is_list
from anadrome.frontend.heap import attributes, refill
from anadrome.frontend.lists import joins_pool, new_list
from anadrome.frontend.overloads import own_method
from anadrome.frontend.own import is_own
from anadrome.frontend.run_time_lists import GrowingList
from anadrome.frontend.structures import has_staged, is_dataclass_instance
from anadrome.frontend.values import Array, Complex, RunText, Scalar, Value, is_numpy_array

_Made = dict[int, tuple[Value, Value]]
"""Each object with its copy, by its identity."""

UNCHANGEABLE = (
    *(Scalar, Complex, RunText, Number, np.generic, str, bytes, NoneType, range, Enum),
    *(type, FunctionType, BuiltinFunctionType, ModuleType, StagedFunction),
)
"""What is its own copy."""


def replaced(context: Context, obj: Value, /, **changes: Value) -> Value:
    """dataclasses.replace: a new object, made from the fields of an old one and those that differ."""
    if not is_dataclass_instance(obj):
        raise UnsupportedType(
            "what `dataclasses.replace` copies", describe(obj), context.span, "use a dataclass"
        )
    context.surroundings.fields(obj)
    given: dict[str, Value] = {}
    for field in dataclasses.fields(obj):  # type: ignore[arg-type]
        if field.init:
            given[field.name] = getattr(obj, field.name)
    return context.call(type(obj), **(given | changes))


def as_dict(context: Context, obj: Value, /) -> Value:
    """dataclasses.asdict"""
    return _taken_apart(context, "asdict", obj, lambda fields: context.call(dict, list(fields.items())))


def as_tuple(context: Context, obj: Value, /) -> Value:
    """dataclasses.astuple"""
    return _taken_apart(context, "astuple", obj, lambda fields: tuple(fields.values()))


def _taken_apart(context: Context, name: str, obj: Value, make: Callable[[dict[str, Value]], Value]) -> Value:
    """What is made of the fields of a dataclass and of those in it. Lists, dicts and arrays are copied."""

    def apart(value: Any) -> Value:
        if is_dataclass_instance(value):
            context.surroundings.fields(value)
            return make(
                {field.name: apart(getattr(value, field.name)) for field in dataclasses.fields(value)}
            )
        if type(value) is list:
            return new_list(context, [apart(item) for item in value])
        if type(value) is tuple or hasattr(value, "_fields"):
            items: list[Any] = [apart(item) for item in value]
            return tuple(items) if type(value) is tuple else type(value)(*items)
        if type(value) is dict:
            return context.call(dict, [(key, apart(item)) for key, item in value.items()])
        if isinstance(value, GrowingList):
            return context.call(list, value)
        if is_numpy_array(value) or isinstance(value, np.ndarray):
            return context.call(np.copy, value)
        if not isinstance(value, UNCHANGEABLE):
            help = "use dataclasses, lists, tuples, dicts, arrays and numbers"
            raise UnsupportedType(f"what `{name}` copies", describe(value), context.span, help)
        return value

    if not is_dataclass_instance(obj):
        raise UnsupportedType(f"the argument of `{name}`", describe(obj), context.span, "use a dataclass")
    return apart(obj)


def copied(context: Context, x: Value, /) -> Value:
    """copy.copy: an object like another one that holds the same."""
    method = own_method(context, x, "__copy__")
    if method is not None:
        return context.call(method, x)
    if type(x) in (list, dict, set) or is_list(x):
        return context.call(type(x) if isinstance(x, dict | set) else list, x)
    return x if isinstance(x, tuple) else _made_like(context, copy.copy, x, lambda part: part, {})


def deep_copied(context: Context, x: Value, /) -> Value:
    """copy.deepcopy: an object like another one that holds copies of what that holds, each made once."""
    made: _Made = {}

    def deep(value: Value) -> Value:
        if id(value) not in made:
            method = own_method(context, value, "__deepcopy__")
            made[id(value)] = value, parts(value) if method is None else context.call(method, value, {})
        return made[id(value)][1]

    def parts(value: Value) -> Value:
        if type(value) is list:
            return new_list(context, [deep(item) for item in value])
        if type(value) is dict:
            return context.call(dict, [(key, deep(item)) for key, item in value.items()])
        if isinstance(value, tuple):
            items: list[Any] = [deep(item) for item in value]
            is_same = all(one is two for one, two in zip(items, value, strict=True))
            return value if is_same else tuple(items) if type(value) is tuple else type(value)(*items)
        if type(value) is set or (is_list(value) and _holds_numbers(value)):
            return context.call(set if isinstance(value, set) else list, value)
        return _made_like(context, copy.deepcopy, value, deep, made)

    return deep(x)


def _made_like(
    context: Context, copying: Callable[[Any], Any], value: Any, part: Callable[[Value], Value], made: _Made
) -> Value:
    """A copy of an array, a deque or an instance of a class of the user's; numbers, texts and functions are
    their own. `part` gives what the copy holds in place of an attribute."""
    is_array = isinstance(value, np.ndarray | Array) or (isinstance(value, Complex) and bool(value.shape))
    if is_array and not list_depth(value):
        return context.call(np.copy, value)
    if isinstance(value, UNCHANGEABLE) and not is_array:
        return value
    if type(value) is deque:
        return context.call(deque, [part(item) for item in value], value.maxlen)
    kind = type(value)
    is_made = context.is_made(value) or is_dataclass_instance(value)
    if not is_made and not has_staged(value) and not is_own(kind):
        return natively.run(context, copying, copying.__name__, [value], {})
    if not _is_plain(kind):
        help = "copy its parts, and make a new object of them"
        raise UnsupportedType(f"what `copy.{copying.__name__}` copies", describe(value), context.span, help)
    names = attributes(value)
    held = [getattr(value, one) if is_made else context.attribute_of(value, one) for one in names]
    context.surroundings.fields(value)
    new = object.__new__(kind)
    made[id(value)] = value, new
    context.made(new)
    refill(new, {one: part(context.seen(now)) for one, now in zip(names, held, strict=True)})
    joins_pool(context, new)
    return new


def _holds_numbers(value: Value) -> bool:
    """Whether the items of a list of the run are numbers, or tuples of numbers."""
    columns = value.columns if isinstance(value, GrowingList) else (value,)
    return all(isinstance(column, Array) and len(column.shape) == 1 for column in columns)


def _is_plain(kind: type) -> bool:
    """Whether an object of a class is its attributes, and nothing says how it is copied."""
    is_python = all(one is object or one.__flags__ & _MADE_BY_A_STATEMENT for one in kind.__mro__)
    return is_python and all(getattr(kind, one, None) is getattr(object, one, None) for one in _SPECIAL)


_SPECIAL = ("__reduce_ex__", "__reduce__", "__getstate__", "__setstate__", "__new__")
"""Methods by which a class says itself how its objects are copied."""

_MADE_BY_A_STATEMENT = 1 << 9
"""The flag of a class that is none of Python's own, in `__flags__`."""

CALLS: dict[Callable[..., object], StagedCall] = {
    copy.copy: copied,
    copy.deepcopy: deep_copied,
    dataclasses.replace: replaced,
    dataclasses.asdict: as_dict,
    dataclasses.astuple: as_tuple,
}
