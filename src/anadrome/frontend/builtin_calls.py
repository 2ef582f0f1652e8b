"""The compiled forms of Python's builtins, in a literal table."""

from __future__ import annotations

import ast
import copy
import functools
import math
import operator
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from anadrome.dtypes import BOOL, F64, I64
from anadrome.errors.frontend import (
    ComplexRefused,
    NoAttribute,
    StaticCallFailed,
    StaticRequired,
    UnsupportedArgument,
    UnsupportedCall,
    UnsupportedType,
)
from anadrome.frontend import copying, itertools_calls
from anadrome.frontend.applying import is_list, operate
from anadrome.frontend.arrays import as_array, atom, describe, promote_one, type_of
from anadrome.frontend.complex_numbers.parts import numpy_type
from anadrome.frontend.comprehension import list_of
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.generator_expressions import made_list
from anadrome.frontend.growing import plain_list
from anadrome.frontend.iterables import Iterated, Unrolled, staged_range, unroll
from anadrome.frontend.iterator_calls import enumerated, mapped, turned, zipped
from anadrome.frontend.iterators import (
    ADVANCE,
    GeneratorCall,
    LazyGenerator,
    iterator_of,
    known_items,
    made_iterator,
    next_of,
    source_of,
    unrolled,
    whole_of,
)
from anadrome.frontend.iterators import Iterator as FrontIterator
from anadrome.frontend.keyed import hashable
from anadrome.frontend.library import python_program
from anadrome.frontend.list_methods import run_time_list
from anadrome.frontend.lists import new_list, pooled
from anadrome.frontend.operators import apply_prim, as_number, compare_name, power, truth
from anadrome.frontend.overloads import holds_own, own_method, own_truth, special_method
from anadrome.frontend.reductions import ALL, ANY, GREATEST, LEAST, PRODUCT, SUM, Monoid, reduce_values
from anadrome.frontend.run_time_lists import GrowingList
from anadrome.frontend.sizes import size_value
from anadrome.frontend.sorting_keys import is_compared, key_width, known_order, tuple_width, with_a_row
from anadrome.frontend.sparse_matrices import example
from anadrome.frontend.sparse_program import Sparse
from anadrome.frontend.structures import RowList, has_staged
from anadrome.frontend.texts import print_values, written
from anadrome.frontend.values import Array, Complex, RunText, Scalar, Value, Weak, is_numpy_array, is_staged


def _reduction(monoid: Monoid) -> StagedCall:
    def staged(context: Context, values: Value) -> Value:
        return reduce_values(context, monoid, values)

    return staged


def _sum(context: Context, values: Value, start: Value = 0) -> Value:
    if holds_own((start, values)):
        return context.call(functools.reduce, operator.add, values, start)
    if is_list(start) or _holds_lists(values):
        return _chained(context, values, start)
    total = reduce_values(context, SUM, values, start=start)
    return context.call(np.positive, total) if is_numpy_array(total) else total  # 0 + x is no x


def _holds_lists(values: Value) -> bool:
    """Whether the items of a list are lists."""
    if isinstance(values, Array | Complex):
        return values.list_depth > 1
    return isinstance(values, list | tuple) and any(map(is_list, values))


def _chained(context: Context, values: Value, start: Value) -> Value:
    """`sum` of lists, which are put behind one another."""
    if not is_list(start):
        error = TypeError("unsupported operand type(s) for +: 'int' and 'list'")
        raise StaticCallFailed("`sum`", error, context.span)
    if not isinstance(values, list | tuple):
        help = "write `[v for row in rows for v in row]`"
        raise UnsupportedArgument("sum", "lists of a run-time number are not supported", context.span, help)
    for value in values:
        start = operate(context, ast.Add, start, value)
    return start


def _product(context: Context, values: Value, *, start: Value = 1) -> Value:
    if holds_own((start, values)):
        return context.call(functools.reduce, operator.mul, values, start)
    return reduce_values(context, PRODUCT, values, start=start)


def _extreme(monoid: Monoid, better: str) -> StagedCall:
    """min and max: of the items of one argument, or of several arguments; the first of equals is kept."""

    def staged(context: Context, *values: Value, **kwargs: Value) -> Value:
        key = kwargs.pop("key", None)
        items = values[0] if len(values) == 1 else list(values)
        is_known = not kwargs or (kwargs.keys() == {"default"} and isinstance(items, list | tuple))
        if is_known and key is None and holds_own(with_a_row(context, items)):
            return context.call(python_program.first_of, items, items, monoid.name, _BETTER[better])
        if not kwargs and (key is not None or tuple_width(context, items)):
            items = context.call(list, items)
            keys = items if key is None else context.call(python_program.keys_of, items, key)
            known = known_order(context, monoid.name, keys, is_reversed=better == "gt")
            if known:
                return context.call(operator.getitem, items, known[0])
            if is_compared(items, keys):
                return context.call(python_program.first_of, items, keys, monoid.name, _BETTER[better])
            is_of_tuples = key_width(context, monoid.name, keys) > 0
            return context.call(_BY_KEYS[better][is_of_tuples], items, keys)
        default = (kwargs.pop("default"),) if "default" in kwargs and len(values) == 1 else ()
        if kwargs:
            raise UnsupportedArgument(
                monoid.name,
                f"`{next(iter(kwargs))}=` is not supported",
                context.span,
            )
        if len(values) == 1:
            return reduce_values(context, monoid, values[0], default)
        best = values[0]
        for value in values[1:]:
            if isinstance(best, Array) or isinstance(value, Array):
                raise UnsupportedType(
                    f"an argument of `{monoid.name}`",
                    describe(value),
                    context.span,
                    f"use `np.{monoid.name}imum(x, y)`, which works elementwise",
                )
            is_better = compare_name(context, better, value, best)
            best = choose(context, is_better, value, best)
        return best

    return staged


_BETTER = {"lt": operator.lt, "gt": operator.gt}

_BY_KEYS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "lt": (python_program.least_by, python_program.least_by_tuples),
    "gt": (python_program.greatest_by, python_program.greatest_by_tuples),
}
"""What is better -> the program for keys that are numbers, and for tuples."""


def choose(context: Context, condition: Value, then: Value, other: Value) -> Value:
    """One of two numbers."""
    if not is_staged(condition):
        return then if condition else other
    return apply_select(context, condition, then, other)


def apply_select(context: Context, condition: Value, then: Value, other: Value) -> Scalar:
    """select on scalars promoted to one type."""
    both = apply_types(context, then, other)
    found = context.builder.select(truth(context, condition), both[0], both[1])
    return Scalar(found, both[2])


def apply_types(context: Context, then: Value, other: Value) -> tuple[Any, Any, Weak]:
    """Two scalars under their common type."""
    dtype, is_weak = promote_one(context, (then, other), "select")
    context.widenings += len({type_of(context, value)[0].is_float for value in (then, other)}) > 1
    return atom(context, then, dtype), atom(context, other, dtype), is_weak


def _length(context: Context, value: Value) -> Value:
    match value:
        case Array():
            return size_value(context, value.shape[0])
        case Complex() if value.shape:
            return size_value(context, value.shape[0])
        case GrowingList():
            return value.length
        case RowList(extent=extent) | Iterated(extent=extent):
            return size_value(context, extent)
        case list() | tuple() | dict() | set() | str() | range():
            return len(value)
        case _:
            raise UnsupportedType(
                "the argument of `len`",
                describe(value),
                context.span,
                "use an array, a list or another sequence",
            )


def _absolute(context: Context, value: Value) -> Value:
    return apply_prim(context, "abs", value)


def _float(context: Context, value: Value = 0.0) -> Value:
    return Scalar(_number(context, value, "float", F64), is_weak=True)


def _int(context: Context, value: Value = 0) -> Value:
    return Scalar(_number(context, value, "int", I64), is_weak=True)


def _bool(context: Context, value: Value = False) -> Value:
    asked = own_truth(context, value)
    return Scalar(truth(context, asked), is_weak=True) if is_staged(asked) else bool(asked)


def _number(context: Context, value: Value, name: str, dtype: Any) -> Any:
    if isinstance(value, Complex):
        raise ComplexRefused(f"`{name}`", describe(value), context.span, "use `z.real` or `abs(z)`")
    if not isinstance(value, Scalar):
        raise UnsupportedType(
            f"the argument of `{name}`",
            describe(value),
            context.span,
            f"`x.astype(np.{dtype.numpy_name})` converts every element of an array",
        )
    return context.builder.convert(value.atom, dtype)


def _round(context: Context, value: Value, digits: Value = None) -> Value:
    if digits is not None:
        return _round_to(context, value, digits)
    if isinstance(value, Complex):
        raise ComplexRefused("`round`", describe(value), context.span, "use `np.round(z)`")
    value = as_number(context, "round", value)
    if not isinstance(value, Scalar):
        raise UnsupportedType(
            "the argument of `round`", describe(value), context.span, "`np.round(x)` rounds every element"
        )
    if value.dtype.is_integer:
        return Scalar(value.atom, is_weak=True)
    rounded = apply_prim(context, "round", value)
    return Scalar(atom(context, rounded, I64), is_weak=True)


MOST_DIGITS = 22
"""10^22 is the largest power of ten that is a float64."""


def _round_to(context: Context, value: Value, digits: Value) -> Value:
    """`round(x, digits)`: a NumPy number is rounded as np.round does, a Python float by its exact value."""
    value = as_number(context, "round", value)
    if not isinstance(digits, int) or not isinstance(value, Scalar):
        reason = "a number that is rounded to digits known while compiling is expected"
        raise UnsupportedArgument("round", reason, context.span, "use `np.round(x, digits)`")
    if not value.is_weak:
        return context.call(np.round, value, digits)
    if value.dtype.is_integer and digits >= 0:
        return value
    if not 0 <= digits <= MOST_DIGITS or value.dtype.is_integer:
        reason = f"{digits} digits of a Python number: there may be 0 to {MOST_DIGITS}"
        raise UnsupportedArgument("round", reason, context.span, "use `np.round(x, digits)`")
    scale = 10.0**digits
    split = 134217729.0 * scale
    upper = split - (split - scale)
    return context.call(python_program.rounded, value, scale, upper, scale - upper)


def _power(context: Context, base: Value, exponent: Value, modulus: Value = None) -> Value:
    if modulus is not None:
        raise UnsupportedArgument("pow", "a modulus is not supported", context.span)
    return power(context, base, exponent)


def _divmod(context: Context, left: Value, right: Value) -> Value:
    return apply_prim(context, "floordiv", left, right), apply_prim(context, "mod", left, right)


def _list(context: Context, value: Value = ()) -> Value:
    if isinstance(value, LazyGenerator):
        return made_list(context, value)
    sequence = whole_of(context, value)
    if isinstance(sequence, Iterated) and sequence.static_extent is None:
        return run_time_list(context, pooled(context, list_of(context, sequence)))
    return new_list(context, list(known_items(context, sequence)))


def _deque(context: Context, items: Value = (), maxlen: Value = None) -> Value:
    if is_staged(maxlen):
        raise StaticRequired("the argument `maxlen` of `deque`", context.span)
    made: Any = deque(unrolled(context, items), maxlen=maxlen)  # type: ignore[call-overload]
    context.made(made)
    return made


def _tuple(context: Context, value: Value = ()) -> Value:
    span, items = context.span, whole_of(context, value)
    context.span = span  # not where a generator ends
    return tuple(known_items(context, items))


def _dict(context: Context, items: Value = (), /, **named: Value) -> Value:
    """`dict(pairs)`, `dict(mapping)`, `dict(name=…)`: the keys are known now."""
    result: dict[Any, Value] = dict(items) if isinstance(items, Mapping) else {}
    pairs = [] if isinstance(items, Mapping) else unrolled(context, items)
    for pair in pairs:
        both = unrolled(context, pair)
        if len(both) != 2:
            error = ValueError(f"an item of {len(both)} parts, where a key and a value are expected")
            raise StaticCallFailed("`dict`", error, context.span)
        result[hashable(context, both[0], "the key of a dict")] = both[1]
    result.update(named)
    context.made(result)
    return result


def _from_keys(context: Context, keys: Value, value: Value = None, /) -> Value:
    """dict.fromkeys"""
    return _dict(context, [(key, value) for key in unrolled(context, keys)])


def _set(context: Context, items: Value = ()) -> Value:
    result = {hashable(context, item, "an item of a set") for item in unrolled(context, items)}
    context.made(result)
    return result


def _sorted(context: Context, values: Value, *, key: Value = None, reverse: Value = False) -> Value:
    """`sorted(numbers)`: a new list"""
    if is_staged(reverse):
        raise StaticRequired("the argument `reverse` of `sorted`", context.span)
    values = values if isinstance(values, Array) else _list(context, values)
    if key is None and holds_own(with_a_row(context, values)):
        return _sorted_by_comparing(context, values, values, bool(reverse))
    if key is not None or tuple_width(context, values):
        keys = values if key is None else context.call(python_program.keys_of, values, key)
        known = known_order(context, "sorted", keys, is_reversed=bool(reverse))
        if known:
            return new_list(context, [context.call(operator.getitem, values, place) for place in known])
        if is_compared(values, keys):
            return _sorted_by_comparing(context, values, keys, bool(reverse))
        width = key_width(context, "sorted", keys)
        if width:
            return context.call(python_program.sorted_by_tuples, values, keys, width, bool(reverse))
        return context.call(python_program.sorted_by, values, keys, bool(reverse))
    items = values if isinstance(values, Array) else as_array(context, plain_list(context, values))
    if not isinstance(items, Array) or len(items.shape) != 1:
        raise UnsupportedType("the argument of `sorted`", describe(values), context.span, "sort numbers")
    ordered = context.call(np.sort, items)
    ordered = context.call(np.flip, ordered) if reverse else ordered
    assert isinstance(ordered, Array)
    var = context.wrap(context.read(ordered))
    assert isinstance(var, Array)
    return run_time_list(context, Array(var.cell, None, 1))


def _sorted_by_comparing(context: Context, values: Value, keys: Value, is_reversed: bool) -> Value:
    """`sorted` by comparisons of one item with the other: a few, whose number is known."""
    if not isinstance(values, list) or len(values) > MOST_COMPARED:
        reason = f"objects that compare themselves: a list of known length is sorted, up to {MOST_COMPARED}"
        help = "make them dataclasses, and sort by a number: `sorted(items, key=lambda item: item.value)`"
        raise UnsupportedArgument("sorted", reason, context.span, help)
    return context.call(python_program.sorted_by_comparing, values, keys, is_reversed)


MOST_COMPARED = 32
"""So many objects are sorted with 496 comparisons."""


def _filter(context: Context, function: Value, items: Value) -> Value:
    """`filter`: over items that are known now, by tests that are."""
    source = source_of(context, items)
    if isinstance(source, Iterated) and source.static_extent is None:
        raise UnsupportedCall("filter", context.span, help="write `[x for x in items if test(x)]`")

    def kept() -> Iterator[Value]:
        for item in known_items(context, source):
            test = own_truth(context, item if function is None else context.call(function, item))
            if is_staged(test):
                raise StaticRequired(
                    "what a filter asks", context.span, "write `[x for x in items if test(x)]`"
                )
            if test:
                yield item

    return made_iterator(context, None, kept(), (items,))


def _enumerate(context: Context, iterable: Value, start: Value = 0) -> Value:
    if _gives_one_by_one(iterable):
        return context.call(python_program.enumerated, iterable, start)
    return enumerated(context, iterable, start)


def _gives_one_by_one(value: Value) -> bool:
    """Whether the items of a value come from a text of the user's, one after the other."""
    return isinstance(value, GeneratorCall) or special_method(value, "__iter__") is not None


def _zip(context: Context, *parts: Value, strict: bool = False) -> Value:
    if any(map(_gives_one_by_one, parts)) and len(parts) > 1 and not strict:
        first, *others = parts
        rest = [
            other if own_method(context, other, "__next__") else _iter(context, other) for other in others
        ]
        return context.call(python_program.zipped_after, ADVANCE, first, *rest)
    return zipped(context, parts, bool(strict))


def _iter(context: Context, value: Value) -> Value:
    method = own_method(context, value, "__iter__")
    found = value if method is None else context.call(method, value)
    return found if own_method(context, found, "__next__") is not None else iterator_of(context, found)


def _next(context: Context, value: Value, *default: Value) -> Value:
    method = own_method(context, value, "__next__")
    is_asked = method is not None
    if method is None and default and isinstance(value, FrontIterator | LazyGenerator):
        value = iterator_of(context, value)
        is_asked = is_staged(value.position) or (
            value.sequence is not None and value.sequence.static_extent is None
        )
    if is_asked and default:
        return context.call(python_program.next_or, ADVANCE, value, default[0])
    if method is not None:
        return context.call(method, value)
    return next_of(context, value, default)


def _getattr(context: Context, owner: Value, name: Value, *default: Value) -> Value:
    if not isinstance(name, str):
        raise StaticRequired("the name of an attribute", context.span)
    try:
        return context.evaluators.attribute(context, owner, name)
    except NoAttribute:
        if default:
            context.surroundings.read_by(getattr, (owner, name))
            return default[0]
        raise


def _isinstance(context: Context, value: Value, kinds: Value) -> Value:
    try:
        found = {isinstance(example, kinds) for example in _examples(value)}  # type: ignore[arg-type]
    except TypeError as error:
        raise StaticCallFailed("`isinstance`", error, context.span) from error
    return _only(context, "isinstance", found)


def _type(context: Context, value: Value) -> Value:
    return _only(context, "type", {type(example) for example in _examples(value)})


def _only(context: Context, name: str, found: set[Any]) -> Value:
    """What is the same whether a truth value is Python's or NumPy's, where it is not known which it is."""
    if len(found) > 1:
        reason = "this is a bool that may be Python's own or NumPy's, and only the run knows which it is"
        help = "ask before the function is called, or declare the argument static: `static_argnums`"
        raise UnsupportedCall(name, context.span, reason, help)
    return found.pop()


def _examples(value: Value) -> tuple[object, ...]:
    """Python values of the types that the program may hold here."""
    is_open = isinstance(value, Scalar) and value.dtype is BOOL and value.is_weak is None
    return (False, np.False_) if is_open else (_example(value),)


def _example(value: Value) -> object:
    """A Python value of the type that the program would hold here."""
    match value:
        case Array(list_depth=depth) if depth:
            return []
        case Array():
            return np.zeros((0,) * len(value.shape), value.dtype.numpy)
        case Scalar(is_weak=True):
            return 0.0 if value.dtype.is_float else False if value.dtype is BOOL else 0
        case Scalar():
            return value.dtype.numpy.type(0)
        case Complex(list_depth=depth) if depth:
            return []
        case Complex(shape=shape) if shape:
            return np.zeros((0,) * len(shape), numpy_type(value.dtype))
        case Complex():
            return 0j if value.is_weak else numpy_type(value.dtype).type(0)
        case GrowingList() | RowList():
            return []
        case RunText():
            return ""
        case Sparse():
            return example(type(value))
        case Iterated():
            return range(0)
        case FrontIterator() | LazyGenerator():
            return iter(())
        case _:
            return value


def _hasattr(context: Context, value: Value, name: Value) -> Value:
    return hasattr(_example(value), str(name))


def _str(context: Context, value: Value = "", *decoding: Value) -> Value:
    if not decoding:
        return written(context, value)
    if has_staged((value, decoding)):
        raise UnsupportedArgument("str", "an encoding of run-time values is not supported", context.span)
    return str(value, *decoding)


BUILTINS: dict[Callable[..., Any], StagedCall] = {
    len: _length,
    abs: _absolute,
    sum: _sum,
    min: _extreme(LEAST, "lt"),
    max: _extreme(GREATEST, "gt"),
    any: _reduction(ANY),
    all: _reduction(ALL),
    math.prod: _product,
    range: staged_range,
    slice: lambda context, *bounds: slice(*bounds),
    zip: _zip,
    enumerate: _enumerate,
    reversed: turned,
    map: lambda context, function, *parts: mapped(context, function, parts),
    filter: _filter,
    iter: _iter,
    next: _next,
    float: _float,
    int: _int,
    bool: _bool,
    round: _round,
    pow: _power,
    divmod: _divmod,
    list: _list,
    tuple: _tuple,
    dict: _dict,
    set: _set,
    deque: _deque,
    frozenset: lambda context, items=(): frozenset(unrolled(context, items)),
    getattr: _getattr,
    isinstance: _isinstance,
    type: _type,
    hasattr: _hasattr,
    print: print_values,
    str: _str,
    repr: lambda context, value: written(context, value, "repr"),
    ascii: lambda context, value: written(context, value, "ascii"),
    format: lambda context, value, spec="": written(context, value, "format", spec),
    sorted: _sorted,
    unroll: lambda context, iterable: Unrolled(iterable),
    dict.fromkeys: _from_keys,
    **copying.CALLS,
    **itertools_calls.CALLS,
    **itertools_calls.PLACES,
}
"""A builtin -> its compiled form, used where an argument is staged."""

DATA_MODEL = frozenset(
    {
        print,
        str,
        repr,
        ascii,
        format,
        zip,
        enumerate,
        reversed,
        map,
        filter,
        iter,
        next,
        getattr,
        setattr,
        delattr,
        copy.copy,
        copy.deepcopy,
        *itertools_calls.CALLS,
        *itertools_calls.PLACES,
    }
)
"""Builtins that print, or read, make or change objects of the program: their compiled form is always used."""
