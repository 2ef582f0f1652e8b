"""Storing items, `base[index] = value`, and in-place operators, `old op= value`, by what the base is."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np

from anadrome.dtypes import BOOL
from anadrome.errors.base import indefinite
from anadrome.errors.frontend import (
    ComplexRefused,
    ReadOnly,
    StaticCallFailed,
    StaticRequired,
    UnsupportedType,
)
from anadrome.frontend.applying import operate
from anadrome.frontend.arrays import as_array, describe, promote
from anadrome.frontend.complex_numbers.parts import has_complex, is_complex
from anadrome.frontend.complex_numbers.storing import put_complex
from anadrome.frontend.context import Context
from anadrome.frontend.growing import plain_list
from anadrome.frontend.heap import contents, part_key
from anadrome.frontend.indexing import selectors
from anadrome.frontend.list_methods import ListMethod, grow
from anadrome.frontend.lists import set_item
from anadrome.frontend.looking_up import put_at
from anadrome.frontend.overloads import BINARY, own_method
from anadrome.frontend.run_time_lists import GrowingList, inside, refuse_counted
from anadrome.frontend.structures import RowList, has_staged
from anadrome.frontend.values import (
    Array,
    Complex,
    Fixed,
    Key,
    Scalar,
    Value,
    is_numpy_array,
    is_staged,
    python_name,
)
from anadrome.frontend.views import refuse_write
from anadrome.frontend.writing import becomes_item, exchange_items, put

INTO_REAL = "store `z.real` or `abs(z)`, or make the array with `dtype=complex`"


def store_item(context: Context, base: Value, index: Value, value: Value) -> None:
    """`base[index] = value`"""
    method = own_method(context, base, "__setitem__")
    if method is not None:
        context.call(method, base, index, value)
        return
    check_list_index(context, base, index)
    if isinstance(base, GrowingList):
        set_item(context, base, index, value)
        return
    if isinstance(base, RowList):
        help = "make it a list of its own, `list(x)`, where it is made"
        error = UnsupportedType("what is written by index", describe(base), context.span, help)
        grow(context, base, error)
    if isinstance(base, Complex) and isinstance(base.real, Array):
        put_complex(context, base, index, value)
        return
    if isinstance(base, Array):
        if is_complex(value) or has_complex(value):
            raise ComplexRefused("a real array", describe(value), context.span, INTO_REAL)
        if base.list_depth and isinstance(index, slice) and (isinstance(value, Scalar) or np.isscalar(value)):
            raise StaticCallFailed("this assignment", TypeError("can only assign an iterable"), context.span)
        put(context, base, index, plain_list(context, value))
        if isinstance(value, GrowingList) and base.list_depth:
            becomes_item(context, base.cell, value)
        return
    if isinstance(base, np.ndarray):
        put(context, _without_elements(context, base), index, value)
        return
    if is_staged(base) or isinstance(base, Complex) or not hasattr(base, "__setitem__"):
        raise UnsupportedType("what is written by index", describe(base), context.span, "write into an array")
    if type(base) is dict and has_staged(index):
        put_at(context, base, index, value)
        return
    if has_staged(index):
        help = "make it an array with np.array"
        context.grows(
            base, StaticRequired(f"the index of {indefinite(type(base).__name__)}", context.span, help)
        )
    if isinstance(base, dict) and context.identities.is_chosen(index):
        raise StaticRequired("the key of a dict", context.span, "use it where it is chosen, on each way")
    key = part_key(base, index)
    if part_of(context, base, key) is value:
        return
    context.change(base, indefinite(type(base).__name__), key)
    try:
        base[index] = value
    except Exception as error:
        raise StaticCallFailed("this assignment", error, context.span) from error


def check_list_index(context: Context, base: Value, index: Value) -> None:
    """Refuse what is no place in a list: an array has more of them than a list, also where a list is one."""
    is_list = (
        type(base) in (list, tuple)
        or isinstance(base, GrowingList)
        or (isinstance(base, Array) and base.list_depth > 0)
    )
    has_axes = isinstance(index, list | GrowingList) or bool(getattr(index, "shape", ()))
    if is_list and (index is None or index is Ellipsis or isinstance(index, tuple) or has_axes):
        kind = "tuple" if isinstance(base, tuple) else "list"
        error = TypeError(f"{kind} indices must be integers or slices, not {python_name(index)}")
        raise StaticCallFailed("this index", error, context.span)


def swap_items(context: Context, base: Value, first: Value, second: Value) -> bool:
    """`base[first], base[second] = base[second], base[first]` of a list of run-time length whose items are
    arrays or lists; False for anything else, where nothing was done."""
    if isinstance(base, GrowingList):
        refuse_counted(context, base)
        columns = base.columns
        if not columns or any(len(column.shape) < 2 for column in columns):
            return False
        places = [Fixed(inside(context, base, index), True) for index in (first, second)]
    elif isinstance(base, Array) and base.list_depth and base.view is None and len(base.shape) > 1:
        columns = (base,)
        found = [selectors(context, base.shape, index)[0] for index in (first, second)]
        places = [place for place in found if isinstance(place, Fixed)]
    else:
        return False
    if len(places) < 2:
        return False
    for column in columns:
        exchange_items(context, column, *places)
    return True


def part_of(context: Context, base: Value, key: Key) -> Value:
    """What an object that the program made holds at a part; of any other object nothing is known."""
    return contents(base).get(key, NOT_THERE) if context.is_made(base) else NOT_THERE


NOT_THERE = object()


def in_place(context: Context, kind: type[ast.operator], old: Value, value: Value) -> Value:
    """`old op= value`, as the type of `old` defines it."""
    method = own_method(context, old, f"__i{BINARY[kind]}__")
    if method is not None:
        found = context.call(method, old, value)
        if found is not NotImplemented:
            return found
    whole = old.real if isinstance(old, Complex) else old
    if isinstance(whole, Array) and not whole.list_depth:
        if kind is ast.MatMult and (not _rank(old) or _rank(value) < 2):
            help = "make a new array instead, `x = x @ a`"
            raise UnsupportedType("the right side of `@=`", describe(value), context.span, help)
        new = operate(context, kind, old, value)
        check_cast(context, old, new)
        store_item(context, old, Ellipsis, new)
        return old
    if isinstance(old, GrowingList) and kind is ast.Add:
        context.call(ListMethod("extend", old), value)
        return old
    if isinstance(old, np.ndarray):
        in_place(context, kind, _without_elements(context, old), value)
        return old
    is_computed = isinstance(old, list) and kind is ast.Add and _is_numpys(value)
    if isinstance(old, list | deque | dict | set | bytearray) and not is_computed:
        return _container_in_place(context, kind, old, value)
    return operate(context, kind, old, value)


def _without_elements(context: Context, array: np.ndarray) -> Array:
    """A known array, into which nothing can be written because it has no elements."""
    if array.size:
        refuse_write(context, array)
    if not array.flags.writeable:
        raise ReadOnly(context.span)
    found = as_array(context, array)
    assert isinstance(found, Array)
    return found


def _rank(value: Value) -> int:
    return len(value.shape) if isinstance(value, Array | Complex | np.ndarray) else 0


def _is_numpys(value: Value) -> bool:
    """Whether NumPy adds this to a list: it is an array, or a number of NumPy's."""
    is_strong = isinstance(value, Scalar) and not value.is_weak
    return is_numpy_array(value) or is_strong or isinstance(value, np.ndarray | np.generic)


_IN_PLACE: Mapping[tuple[type, type[ast.operator]], str] = {
    (list, ast.Add): "extend",
    (deque, ast.Add): "extend",
    (dict, ast.BitOr): "update",
    (set, ast.BitOr): "update",
    (set, ast.BitAnd): "intersection_update",
    (set, ast.Sub): "difference_update",
    (set, ast.BitXor): "symmetric_difference_update",
}
"""The method that an operator on a container is."""


def _container_in_place(context: Context, kind: type[ast.operator], old: Any, value: Value) -> Value:
    name = next(
        (name for (type_, op), name in _IN_PLACE.items() if op is kind and isinstance(old, type_)), None
    )
    if name is not None:
        if isinstance(old, dict | set) and not isinstance(
            value, dict if isinstance(old, dict) else set | frozenset
        ):
            error = TypeError(f"unsupported operand types: {describe(old)} and {describe(value)}")
            raise StaticCallFailed("this operation", error, context.span)
        context.call(getattr(old, name), value)
        return old
    if kind is ast.Mult and isinstance(old, list) and isinstance(value, int):
        context.change(old, "a list, by `*=`,")
        old *= value
        return old
    return operate(context, kind, old, value)


def check_cast(context: Context, base: Value, new: Value) -> None:
    """An in-place operation keeps the array's type; NumPy refuses one that would lose the kind."""
    if isinstance(base, Array) and isinstance(new, Complex):
        raise ComplexRefused("a real array", describe(new), context.span, INTO_REAL)
    if not isinstance(base, Array) or not is_staged(new):
        return
    own, other = base.dtype, promote(context, (new,), "+=")[0]
    if not np.can_cast(other.numpy, own.numpy, "same_kind") and not (
        isinstance(new, Scalar) and new.is_weak and own is not BOOL
    ):
        raise UnsupportedType(
            f"the result of an in-place operation on a {own.numpy_name} array",
            describe(new),
            context.span,
            "make a new array instead, `x = x + v` for `x += v`, or convert the array first",
        )
