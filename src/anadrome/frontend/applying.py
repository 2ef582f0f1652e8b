"""Operators and comparisons on any values: of Python on static ones, of the user's classes, of arrays."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, KeysView, Sequence
from typing import Any

import numpy as np

from anadrome.array_ir.nodes import FALSE, TRUE
from anadrome.errors.frontend import (
    RUN_TEXT,
    StaticCallFailed,
    UnsupportedSyntax,
    UnsupportedType,
)
from anadrome.frontend.arrays import as_array, atom, describe, unboxed, undecided
from anadrome.frontend.complex_numbers import operators as complex_operators
from anadrome.frontend.complex_numbers.operators import meets_complex
from anadrome.frontend.complex_numbers.parts import complex_of, has_complex, is_complex_array
from anadrome.frontend.context import Context
from anadrome.frontend.growing import growing_list, plain_list, repeated
from anadrome.frontend.iterables import Iterated
from anadrome.frontend.iterators import unrolled
from anadrome.frontend.keyed import hashable
from anadrome.frontend.list_methods import ListMethod, holds_objects, is_among
from anadrome.frontend.lists import new_list
from anadrome.frontend.natively import refuse_environment
from anadrome.frontend.operators import apply_prim, binary, compare, truth
from anadrome.frontend.overloads import (
    holds_own,
    is_equal_to_itself,
    own_binary,
    own_comparison,
    own_contains,
    own_method,
)
from anadrome.frontend.own import is_native
from anadrome.frontend.run_time_lists import GrowingList
from anadrome.frontend.structures import RowList, has_staged, may_be_number
from anadrome.frontend.texts import STATES, WAYS, added, percent
from anadrome.frontend.values import (
    Array,
    Complex,
    Maybe,
    RunText,
    Scalar,
    TextChoice,
    Value,
    is_choice,
    is_numpy_array,
    is_staged,
)

_STATIC_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.MatMult: operator.matmul,
}


STATIC_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}


_STATIC_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}


_LIST_HELP = "make it an array first: `np.array([...])`"


RAISING = (ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
"""Operators that raise on some of Python's numbers."""


def operate(context: Context, kind: type[ast.operator], left: Value, right: Value) -> Value:
    """`left kind right`; operators of static values are Python's own, save those of the user's classes."""
    refuse_maybe(context, left, right)
    found = own_binary(context, kind, left, right)
    if found is not NotImplemented:
        return found
    are_lists = all(is_list(side) or isinstance(side, GrowingList | RowList) for side in (left, right))
    if kind is ast.Add and are_lists and not (isinstance(left, list) and isinstance(right, list)):
        return _joined(context, left, right)
    for side in (left, right):
        if isinstance(side, RowList | Iterated):
            help = "append to a list in a loop, or make arrays of its numbers"
            raise UnsupportedType("an operand", describe(side), context.span, help)
    if kind is ast.Mod and isinstance(left, str) and has_staged(right):
        return percent(context, left, right)
    if isinstance(left, RunText) or isinstance(right, RunText):
        if kind is not ast.Add:
            raise UnsupportedType("an operand", RUN_TEXT, context.span, WAYS)
        return added(context, left, right)
    for side, other in ((left, right), (right, left)):
        if isinstance(side, str) and kind is ast.Add and is_staged(other):
            help = 'write numbers into a text: `f"a{x}"`'
            raise UnsupportedType("what is added to a text", describe(other), context.span, help)
    if kind is ast.Mult:
        for items, times in ((left, right), (right, left)):
            if isinstance(items, list) and isinstance(times, Scalar) and times.dtype.is_integer:
                return repeated(context, items, times)
    left, right = (unboxed(context, plain_list(context, side)) for side in (left, right))
    is_complex_operation = meets_complex(left, right)
    if is_complex_operation or is_staged(left) or is_staged(right):
        has_array = any(isinstance(side, Array | Complex) and side.shape for side in (left, right))
        is_complex_operation |= has_array and any(
            isinstance(side, list | tuple) and has_complex(side) for side in (left, right)
        )
        if kind is ast.Add and is_list(left) and is_list(right):
            return _joined(context, left, right)
        left, right = (
            _as_operand(context, kind, one, other) for one, other in ((left, right), (right, left))
        )
        is_numpys = kind is not ast.Mult and any(
            isinstance(side, Scalar | Complex) and not side.is_weak for side in (left, right)
        )
        for side in (left, right):
            if isinstance(side, list | tuple) and not has_array and not is_numpys:
                raise UnsupportedType(
                    "an operand", describe(side), context.span, "make it an array: `np.array(...)`"
                )
        if kind is ast.MatMult:
            return context.call(np.matmul, left, right)
        if kind in RAISING and not has_array:
            context.may_raise("an operation", ArithmeticError)
        if is_complex_operation:
            return complex_operators.binary(context, kind, left, right)
        return binary(context, kind, left, right)
    context.surroundings.whole(left)
    context.surroundings.whole(right)
    try:
        result = _STATIC_BINARY[kind](left, right)
    except Exception as error:
        raise StaticCallFailed("this operation", error, context.span) from error
    if type(result) is np.ndarray and is_native(type(left)) and is_native(type(right)):
        context.surroundings.made(result)
    return remember(context, result)


def own_result(context: Context, result: Value, *operands: Value) -> Value:
    """What an operator gives of static operands: an array stays one that is known, unless it is written."""
    if type(result) is np.ndarray and all(is_native(type(one)) for one in operands):
        if context.span in context.grown:
            context.surroundings.made(result)
            return remember(context, result)
        context.made(result)
    return result


def is_list(value: Value) -> bool:
    """Whether a value is a list, be its length known at run time only."""
    return isinstance(value, list) or (isinstance(value, Array | Complex) and bool(value.list_depth))


def _joined(context: Context, left: Value, right: Value) -> Value:
    """`left + right` of two lists, one of run-time length: a new one."""
    made = growing_list(context, ())
    for one in (left, right):
        context.call(ListMethod("extend", made), one)
    return made


def _as_operand(context: Context, kind: type[ast.operator], value: Value, other: Value) -> Value:
    """A list of run-time length beside what NumPy computes with: an array of its items."""
    if not isinstance(value, Array | Complex) or not value.list_depth:
        return value
    is_number = isinstance(other, Scalar | Complex) and not other.is_weak and kind is not ast.Mult
    if not is_numpy_array(other) and not is_number:
        raise UnsupportedType("an operand", "a list made by a comprehension", context.span, _LIST_HELP)
    return context.call(np.array, value)


def remember(context: Context, value: Value) -> Value:
    """A container made here may be changed here; NumPy arrays made here belong to the program."""
    if isinstance(value, list):
        return new_list(context, value)
    if isinstance(value, dict | set):
        context.made(value)
    if is_complex_array(value):
        return complex_of(context, value)
    if isinstance(value, np.ndarray):
        return as_array(context, value)
    return value


_EQUAL_OR_SAME = (int, float, complex, str, bytes, range, tuple)


def compare_two(context: Context, kind: type[ast.cmpop], left: Value, right: Value) -> Value:
    """`left kind right`; comparisons of static values are Python's own."""
    refuse_environment(context, right)
    if kind in _AGAINST_NONE and (left is None or right is None):
        other = right if left is None else left
        if isinstance(other, Maybe) and other.other is not None:
            return not _AGAINST_NONE[kind]
        if isinstance(other, Maybe):
            is_there = other.is_there.atom
            holds = is_there if _AGAINST_NONE[kind] else context.builder.apply("not", is_there)
            return Scalar(holds, is_weak=True)
    refuse_maybe(context, left, right)
    if kind in (ast.Is, ast.IsNot):
        return _identical(context, left, right, kind is ast.Is)
    found = own_comparison(context, kind, left, right)
    if found is not NotImplemented:
        return found
    if kind in (ast.In, ast.NotIn) and holds_objects(right):
        among = atom(context, is_among(context, right, left))
        holds = among if kind is ast.In else context.builder.apply("not", among)
        return Scalar(holds, is_weak=True)
    if kind in (ast.Eq, ast.NotEq) and all(map(is_equal_to_itself, (left, right))):
        return compare_two(context, ast.Is if kind is ast.Eq else ast.IsNot, left, right)
    left, right = (unboxed(context, plain_list(context, side)) for side in (left, right))
    if kind in (ast.In, ast.NotIn) and isinstance(right, Iterated):
        right = context.call(list, right)
    if _is_of_lists(kind, left, right):
        if left is None or right is None:
            return kind is ast.NotEq
        raise UnsupportedSyntax(
            "a comparison of lists or ranges that hold run-time values", context.span, "compare their items"
        )
    if kind in (ast.In, ast.NotIn) and isinstance(right, _HASHED):
        found = _in_hashed(context, kind, left, right)
        if found is not NotImplemented:
            return found
    if kind in (ast.In, ast.NotIn) and (
        own_method(context, right, "__contains__") is not None
        or any(is_staged(one) or isinstance(one, Complex) for one in (left, right))
    ):
        return _member(context, kind, left, right)
    if is_staged(left) or is_staged(right) or meets_complex(left, right):
        if kind in (ast.Eq, ast.NotEq) and (left is None or right is None):
            return _against_none(context, right if left is None else left, kind is ast.NotEq)
        return _compared(context, kind, left, right)
    if isinstance(left, RunText) or isinstance(right, RunText):
        if kind in (ast.In, ast.NotIn) and isinstance(right, list | tuple):
            return _member(context, kind, left, right)
        return _compared_texts(context, kind, left, right)
    is_run_time = has_staged(left) or has_staged(right)
    if is_run_time or holds_own(left) or holds_own(right):
        if kind in (ast.In, ast.NotIn) and isinstance(right, list | tuple):
            return _member(context, kind, left, right)
        if type(left) is type(right) and type(left) in (list, tuple):
            return _item_by_item(context, kind, left, right)  # type: ignore[arg-type]
        if type(left) is type(right) is dict and kind in (ast.Eq, ast.NotEq):
            if left.keys() != right.keys():
                return kind is ast.NotEq
            return _item_by_item(context, kind, [*left.values()], [right[key] for key in left])
    is_key = kind in (ast.In, ast.NotIn) and context.identities.is_chosen(left)
    if is_run_time or is_key:
        raise UnsupportedSyntax("a comparison of containers that hold run-time values", context.span)
    context.surroundings.whole(left)
    context.surroundings.whole(right)
    try:
        result = _STATIC_COMPARE[kind](left, right)
    except Exception as error:
        raise StaticCallFailed("this comparison", error, context.span) from error
    return own_result(context, result, left, right)


def _identical(context: Context, left: Value, right: Value, is_wanted: bool) -> Value:
    """`left is right`"""
    kinds = {type(left), type(right)}
    if left is not right and RunText in kinds and kinds <= {str, RunText}:
        raise UnsupportedType("an operand of `is`", RUN_TEXT, context.span, "compare with `==`")
    are_lists = all(isinstance(one, list | GrowingList | RowList | Array) for one in (left, right))
    if left is not right and are_lists and (_stands_for_lists(left) or _stands_for_lists(right)):
        raise UnsupportedSyntax("`is` of a list that is one of several", context.span, "compare with `==`")
    try:
        is_one = context.identities.ask(left, right, context.scope, context.span)
    except UnsupportedSyntax as error:
        context.pool_items(left, error)
        context.pool_items(right, error)
        raise
    if type(left) is type(right) and type(left) in _EQUAL_OR_SAME:
        context.surroundings.stays_here(
            "which equal numbers and texts are the same object is Python's choice"
        )
    if isinstance(is_one, bool):
        return is_one is is_wanted
    return Scalar(context.builder.apply("eq" if is_wanted else "ne", *is_one), is_weak=True)


def _stands_for_lists(value: Value) -> bool:
    """Whether an array or rows are what one of several lists holds, of which only the run knows which."""
    columns = value.columns if isinstance(value, RowList) else (value,)
    return any(isinstance(one, Array) and one.list_depth and one.cell.selves for one in columns)


_HASHED = (dict, KeysView, set, frozenset)


def _in_hashed(context: Context, kind: type[ast.cmpop], left: Value, right: Any) -> Value:
    """`left in right` of the keys of a dict or the items of a set."""
    if isinstance(right, dict | KeysView) and not has_staged(left):
        context.surroundings.whole(right)
        return (hashable(context, left, "a key") in right) is (kind is ast.In)
    if not isinstance(left, RunText) and not (isinstance(left, Scalar) and not left.shape):
        return NotImplemented
    context.surroundings.whole(right)
    is_text = isinstance(left, RunText)
    keys = [key for key in right if (isinstance(key, str) if is_text else may_be_number(key))]
    return _member(context, kind, left, keys) if keys else kind is ast.NotIn


def _compared_texts(context: Context, kind: type[ast.cmpop], left: Value, right: Value) -> Value:
    """`kind == "a"`: whether that is the string which branches have chosen of several."""
    text, other = (left, right) if isinstance(left, RunText) else (right, left)
    choice = text.parts[0] if isinstance(text, RunText) and len(text.parts) == 1 else None
    is_open = isinstance(other, RunText) and not (len(other.parts) == 1 and is_choice(other))
    if not isinstance(choice, TextChoice) or is_open or kind not in (ast.Eq, ast.NotEq):
        is_chosen = any(isinstance(one, RunText) and is_choice(one) for one in (text, other))
        raise UnsupportedType("an operand", RUN_TEXT, context.span, STATES if is_chosen else WAYS)
    found: Value = False
    for number, option in enumerate(choice.options):
        same = compare_two(context, ast.Eq, option, other)
        taken = compare_two(context, ast.Eq, choice.selector, number)
        found = apply_prim(context, "or", found, apply_prim(context, "and", same, taken))
    return apply_prim(context, "not", found) if kind is ast.NotEq else found


def _item_by_item(
    context: Context, kind: type[ast.cmpop], left: Sequence[Value], right: Sequence[Value]
) -> Value:
    """A comparison of two tuples or lists: their first items that are not equal decide, else their lengths.

    (a, b) < (c, d)      a < c if a != c else b < d
    """
    if kind in (ast.Eq, ast.NotEq) and len(left) != len(right):
        return kind is ast.NotEq
    found: Value = _STATIC_COMPARE[kind](len(left), len(right))
    for one, two in reversed(list(zip(left, right, strict=False))):
        is_same = one is two or (isinstance(one, Scalar) and isinstance(two, Scalar) and one.atom is two.atom)
        same = True if is_same else compare_two(context, ast.Eq, one, two)
        if not is_staged(same):
            found = found if same else _decided(context, kind, one, two)
            continue
        here = _decided(context, kind, one, two)
        found = Scalar(
            context.builder.select(truth(context, same), truth(context, found), truth(context, here)),
            is_weak=True,
        )
    return found


def _decided(context: Context, kind: type[ast.cmpop], one: Value, two: Value) -> Value:
    """What two items that are not equal say of the lists that they stand in."""
    return kind is ast.NotEq if kind in (ast.Eq, ast.NotEq) else compare_two(context, kind, one, two)


def _is_of_lists(kind: type[ast.cmpop], left: Value, right: Value) -> bool:
    """Whether a comparison is Python's of lists or ranges, of which one has a run-time number of items."""
    kinds = (list, GrowingList, RowList, Iterated, range)
    one, two = (isinstance(side, kinds) or is_list(side) for side in (left, right))
    is_run_time = any(
        isinstance(side, GrowingList | RowList | Iterated) or (is_list(side) and not isinstance(side, list))
        for side in (left, right)
    )
    if kind in (ast.In, ast.NotIn):
        return isinstance(right, RowList | Iterated)
    is_of_none = kind in _AGAINST_NONE and (left is None or right is None)
    return is_run_time and ((one and two) or is_of_none)


_AGAINST_NONE: dict[type[ast.cmpop], bool] = {
    ast.Is: False,
    ast.Eq: False,
    ast.IsNot: True,
    ast.NotEq: True,
}
"""How a value is compared with None -> whether it holds where the value is there."""


def refuse_maybe(context: Context, *values: Value) -> None:
    """Refuse values of which only the run knows what they are where they are used."""
    for value in values:
        if isinstance(value, Maybe):
            raise undecided(value, context.span)


def _against_none(context: Context, value: Value, differs: bool) -> Value:
    """`value == None`: NumPy asks every element, which is no None; one object is none either."""
    if is_numpy_array(value):
        return context.wrap(context.builder.full(value.shape, TRUE if differs else FALSE))
    return differs


def _compared(context: Context, kind: type[ast.cmpop], left: Value, right: Value) -> Value:
    if meets_complex(left, right):
        return complex_operators.compare(context, kind, left, right)
    return compare(context, kind, left, right)


def _member(context: Context, kind: type[ast.cmpop], left: Value, right: Value) -> Value:
    """`x in (a, b)`: any of the comparisons, each of which is one bool; in an array any of its elements."""
    found = own_contains(context, right, left)
    is_row = isinstance(right, Array | Complex) and len(right.shape) == 1 and not getattr(left, "shape", ())
    if found is NotImplemented and (is_row or is_numpy_array(right) or isinstance(right, np.ndarray)):
        found = context.call(bool, context.call(np.any, _compared(context, ast.Eq, left, right)))
    elif found is NotImplemented:
        found = _is_among(context, left, unrolled(context, right))
    if not is_staged(found):
        return bool(found) is (kind is ast.In)
    return apply_prim(context, "not", found) if kind is ast.NotIn else found


def _is_among(context: Context, value: Value, items: Iterable[Value]) -> Value:
    """Whether one of these items is a value, or equal to it."""
    found: Value = False
    for item in items:
        same = True if item is value else compare_two(context, ast.Eq, value, item)
        if same is True:
            return True
        if same is not False:
            same = Scalar(truth(context, same), is_weak=True)
            found = apply_prim(context, "or", found, same)
    return found
