"""Operators that the user's own classes define: their methods are evaluated inline, as any other call.

Run by Python itself, such a method would meet run-time values it can do nothing with.
"""

from __future__ import annotations

import ast
import dataclasses
import operator
from collections.abc import Callable, Mapping
from enum import Enum
from types import BuiltinFunctionType, FunctionType
from typing import Any

from anadrome.array_ir.nodes import Size
from anadrome.errors.frontend import RUN_TEXT, StaticCallFailed, UnsupportedType
from anadrome.frontend.arrays import unboxed, undecided
from anadrome.frontend.classes import is_local
from anadrome.frontend.complex_numbers.operators import truth as complex_truth
from anadrome.frontend.context import Context
from anadrome.frontend.heap import Stateful, contents, is_container
from anadrome.frontend.iterables import Iterated
from anadrome.frontend.operators import apply_prim, truth
from anadrome.frontend.own import is_inlined, is_own
from anadrome.frontend.run_time_lists import GrowingList
from anadrome.frontend.sizes import size_value
from anadrome.frontend.structures import RowList, reference_of
from anadrome.frontend.values import (
    Array,
    Complex,
    Maybe,
    Missing,
    RunText,
    Scalar,
    Value,
    is_staged,
)

BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.MatMult: "matmul",
}
"""`+` is `__add__`, `__radd__` and `__iadd__`: the middle of the name."""

UNARY: Mapping[type[ast.unaryop], str] = {
    ast.USub: "__neg__",
    ast.UAdd: "__pos__",
    ast.Invert: "__invert__",
}

COMPARISONS: Mapping[type[ast.cmpop], tuple[Callable[[Any, Any], Any], type[ast.cmpop], str]] = {
    ast.Lt: (operator.lt, ast.Gt, "<"),
    ast.Gt: (operator.gt, ast.Lt, ">"),
    ast.LtE: (operator.le, ast.GtE, "<="),
    ast.GtE: (operator.ge, ast.LtE, ">="),
    ast.Eq: (operator.eq, ast.Eq, "=="),
    ast.NotEq: (operator.ne, ast.NotEq, "!="),
}
"""A comparison -> its function, the comparison that the other side is asked for, and its sign."""


ASKED: Mapping[object, tuple[str, ...]] = {
    bool: ("__bool__", "__len__"),
    len: ("__len__",),
    abs: ("__abs__",),
    float: ("__float__", "__index__"),
    int: ("__int__", "__index__"),
}
"""A builtin -> the special methods of its argument that it asks, the first that is there."""


def own_method(context: Context, value: Value, name: str) -> FunctionType | None:
    """A special method that the user's class of a value defines; from here on it counts whether it does, and
    which one it is."""
    context.surroundings.special(value, name)
    return special_method(value, name)


def special_method(value: Value, name: str) -> FunctionType | None:
    """A special method that the user's class of a value defines, for who only asks what a value is."""
    method = getattr(type(value), name, None)
    return method if is_inlined(method) else None


def own_binary(context: Context, kind: type[ast.operator], left: Value, right: Value) -> Value:
    """`left kind right` by a method of either side, a subclass first; else `NotImplemented`."""
    name = BINARY[kind]
    sides = [(left, right, f"__{name}__")]
    is_array = isinstance(left, Array | Complex) and left.shape
    if type(left) is not type(right) and not (is_array and not is_before_arrays(right)):
        sides.insert(0 if isinstance(right, type(left)) else 1, (right, left, f"__r{name}__"))
    for owner, other, method_name in sides:
        method = own_method(context, owner, method_name)
        if method is not None:
            result = context.call(method, owner, other)
            if result is not NotImplemented:
                return result
    return NotImplemented


def holds_own(value: Value) -> bool:
    """Whether a value is an object of a class of the user's that holds run-time values, or a list, tuple or
    dict with one in it: Python must not ask its methods."""
    if isinstance(value, list | tuple | dict):
        return any(map(holds_own, value.values() if isinstance(value, dict) else value))
    if not _is_own_object(value):
        return False
    return is_local(type(value)) or _reaches_run_time(value, set())


def _is_own_object(value: Value) -> bool:
    kind = type(value)
    return kind.__module__ != "builtins" and not isinstance(value, type | Enum) and is_own(kind)


def is_equal_to_itself(value: Value) -> bool:
    """Whether a value is an object of a class of the user's without `__eq__`: nothing else is equal to it."""
    return _is_own_object(value) and type(value).__eq__ is object.__eq__


def _reaches_run_time(value: Value, seen: set[int]) -> bool:
    """Whether a run-time value is in an object, or in what it holds."""
    if id(value) in seen:
        return False
    seen.add(id(value))
    if is_staged(value) or isinstance(value, Stateful | Complex | Maybe | RunText):
        return True
    if reference_of(value) is not None:
        return True
    if not is_container(value) and not isinstance(value, tuple) and not _is_own_object(value):
        return False
    parts = value if isinstance(value, tuple) else contents(value).values()
    return any(_reaches_run_time(part, seen) for part in parts)


def own_comparison(context: Context, kind: type[ast.cmpop], left: Value, right: Value) -> Value:
    """`left kind right` by a method of either side, a subclass first; else `NotImplemented`.

    Where a side has a method and neither has an answer, equal is what is one object, and there is no order.
    """
    if kind not in COMPARISONS or not (_compares(left) or _compares(right)):
        return NotImplemented
    _, reflected, sign = COMPARISONS[kind]
    is_array = isinstance(left, Array | Complex) and left.shape
    sides = [(left, right, kind)]
    if not is_array or is_before_arrays(right):
        is_first = type(left) is not type(right) and isinstance(right, type(left))
        sides.insert(0 if is_first else 1, (right, left, reflected))
    methods = [own_method(context, owner, name) for owner, _, asked in sides for name in _asked_names(asked)]
    if not any(methods):
        return NotImplemented
    for owner, other, asked in sides:
        found = _answer(context, asked, owner, other)
        if found is not NotImplemented:
            return found
    if is_array:
        return NotImplemented
    if kind in (ast.Eq, ast.NotEq):
        return context.call(operator.is_ if kind is ast.Eq else operator.is_not, left, right)
    names = " and ".join(f"'{type(side).__name__}'" for side in (left, right))
    error = TypeError(f"'{sign}' not supported between instances of {names}")
    raise StaticCallFailed("this comparison", error, context.span)


def _compares(value: Value) -> bool:
    """Whether a value may have a method of the user's that compares it."""
    return not is_staged(value) and not isinstance(value, list | dict | str | Enum) and is_own(type(value))


def _asked_names(kind: type[ast.cmpop]) -> tuple[str, ...]:
    name = f"__{COMPARISONS[kind][0].__name__}__"
    return (name, "__eq__") if kind is ast.NotEq else (name,)


def _answer(context: Context, kind: type[ast.cmpop], owner: Value, other: Value) -> Value:
    """What the method of one side says of it and the other one. `!=` is the opposite of `==` where the class
    does not say what it is."""
    function = COMPARISONS[kind][0]
    method = own_method(context, owner, _asked_names(kind)[0])
    if method is None and kind is ast.NotEq and type(owner).__ne__ is object.__ne__:
        found = _answer(context, ast.Eq, owner, other)
        return found if found is NotImplemented else context.call(operator.not_, found)
    if method is None:
        return NotImplemented
    code = getattr(method, "__code__", None)
    if not dataclasses.is_dataclass(owner) or code is None or code.co_filename != "<string>":
        return context.call(method, owner, other)
    if type(owner) is not type(other):
        return NotImplemented
    fields = [field.name for field in dataclasses.fields(owner) if field.compare]
    for one in (owner, other):
        context.surroundings.fields(one)
    return context.call(function, *(tuple(getattr(one, name) for name in fields) for one in (owner, other)))


def is_before_arrays(value: Value) -> bool:
    """Whether NumPy leaves an operation of an array and this object to the object, instead of going into the
    elements of the array."""
    kind: Any = type(value)
    if hasattr(kind, "__array_ufunc__"):
        return kind.__array_ufunc__ is None
    priority = getattr(kind, "__array_priority__", 0.0)
    return isinstance(priority, int | float) and priority > 0.0


def own_unary(context: Context, kind: type[ast.unaryop], value: Value) -> Value:
    """`-value` and its like by the user's method; `NotImplemented` where there is none."""
    method = own_method(context, value, UNARY[kind])
    return NotImplemented if method is None else context.call(method, value)


def own_contains(context: Context, container: Value, item: Value) -> Value:
    """`item in container` by the user's method; `NotImplemented` where there is none."""
    method = own_method(context, container, "__contains__")
    return NotImplemented if method is None else context.call(method, container, item)


def own_truth(context: Context, value: Value) -> Value:
    """What is asked instead where the truth of a value is: what `__bool__`, else `__len__`, of the user's
    class gives; any other value is asked itself."""
    if isinstance(value, Missing):
        raise value.error("this value", context.span)
    if isinstance(value, Complex) and not value.list_depth:
        return complex_truth(context, value)
    if isinstance(value, RunText):
        raise UnsupportedType("a condition", RUN_TEXT, context.span, "ask for the numbers in it")
    if isinstance(value, Maybe):
        return _truth_where_there(context, value)
    value = unboxed(context, value)
    match value:
        case GrowingList(length=length):
            return length if isinstance(length, int) else apply_prim(context, "gt", length, 0)
        case RowList(extent=extent) | Iterated(extent=extent):
            return _is_not_empty(context, extent)
        case Array(list_depth=depth) | Complex(list_depth=depth) if depth:
            return _is_not_empty(context, value.shape[0])
        case _:
            pass
    method = own_asked(context, bool, value)
    return value if method is None else context.call(method, value)


def _is_not_empty(context: Context, extent: Size) -> Value:
    """The truth of a list or a range of so many items."""
    count = size_value(context, extent)
    return count > 0 if isinstance(count, int) else apply_prim(context, "gt", count, 0)


def _truth_where_there(context: Context, value: Maybe) -> Value:
    """Whether a value that may be None is there, and true."""
    if value.other is not None or own_asked(context, bool, value.value) is not None:
        raise undecided(value, context.span)
    inner = own_truth(context, value.value)
    if is_staged(inner):
        is_true = truth(context, inner)
        return Scalar(context.builder.apply("and", value.is_there.atom, is_true))
    context.surroundings.truth_of(inner)
    return value.is_there if inner else False


def own_asked(context: Context, function: Value, value: Value) -> FunctionType | None:
    """The method of the user's class that a builtin asks: `len(x)` is `x.__len__()`."""
    if not isinstance(function, type | BuiltinFunctionType) or is_staged(value) or isinstance(value, type):
        return None
    for name in ASKED.get(function, ()):
        method = own_method(context, value, name)
        if method is not None or hasattr(type(value), name):
            return method
    return None
