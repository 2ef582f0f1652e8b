"""The compiled forms of `dataclasses.replace`, `asdict` and `astuple`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from enum import Enum
from numbers import Number
from types import BuiltinFunctionType, FunctionType, ModuleType, NoneType
from typing import Any

import numpy as np

from anadrome.errors.frontend import UnsupportedType
from anadrome.frontend.arrays import describe
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.functions import StagedFunction
from anadrome.frontend.growing import new_list
from anadrome.frontend.run_time_lists import GrowingList
from anadrome.frontend.structures import is_dataclass_instance
from anadrome.frontend.values import Complex, RunText, Scalar, Value, is_numpy_array

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


CALLS: dict[Callable[..., object], StagedCall] = {
    dataclasses.replace: replaced,
    dataclasses.asdict: as_dict,
    dataclasses.astuple: as_tuple,
}
