"""The compiled forms of Python's builtins, in a literal table."""

from __future__ import annotations

import ast
import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from anadrome.dtypes import F64, I64
from anadrome.errors.frontend import (
    ComplexRefused,
    StaticCallFailed,
    UnsupportedArgument,
    UnsupportedCall,
    UnsupportedType,
)
from anadrome.frontend.arrays import atom, describe, promote
from anadrome.frontend.complex_numbers.operators import binary as complex_binary
from anadrome.frontend.complex_numbers.operators import meets_complex
from anadrome.frontend.complex_numbers.parts import numpy_type
from anadrome.frontend.comprehension import LazyGenerator, evaluate_list, list_of
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.iterables import (
    Iterated,
    RowList,
    Unrolled,
    enumerated,
    iterate,
    staged_range,
    turned,
    unroll,
    unrolled,
    zipped,
)
from anadrome.frontend.operators import apply_prim, compare_name, power, truth
from anadrome.frontend.overloads import own_truth
from anadrome.frontend.reductions import ALL, ANY, GREATEST, LEAST, PRODUCT, SUM, Monoid, reduce_values
from anadrome.frontend.sizes import size_value
from anadrome.frontend.structures import is_dataclass_instance
from anadrome.frontend.substitutes import SUBSTITUTES
from anadrome.frontend.values import Array, Complex, Scalar, Value, is_staged


def _reduction(monoid: Monoid) -> StagedCall:
    def staged(context: Context, values: Value) -> Value:
        return reduce_values(context, monoid, values)

    return staged


def _sum(context: Context, values: Value, start: Value = 0) -> Value:
    total = reduce_values(context, SUM, values)
    if isinstance(start, int) and start == 0:
        return total
    if meets_complex(start, total):
        return complex_binary(context, ast.Add, start, total)
    if not is_staged(total) and not is_staged(start):
        return total + start  # type: ignore[operator]
    return apply_prim(context, "add", start, total)


def _product(context: Context, values: Value, *, start: Value = 1) -> Value:
    product = reduce_values(context, PRODUCT, values)
    if isinstance(start, int) and start == 1:
        return product
    if meets_complex(start, product):
        return complex_binary(context, ast.Mult, start, product)
    return apply_prim(context, "mul", start, product)


_KEY_HELP = "with an array use `x[np.argmax(keys)]` or `x[np.argmin(keys)]`, `keys = [key(v) for v in x]`"


def _extreme(monoid: Monoid, better: str) -> StagedCall:
    """min and max: of the items of one argument, or of several arguments; the first of equals is kept."""

    def staged(context: Context, *values: Value, **kwargs: Value) -> Value:
        default = (kwargs.pop("default"),) if "default" in kwargs and len(values) == 1 else ()
        if kwargs:
            raise UnsupportedArgument(
                monoid.name,
                f"`{next(iter(kwargs))}=` is not supported",
                context.span,
                _KEY_HELP if "key" in kwargs else "",
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


def apply_types(context: Context, then: Value, other: Value) -> tuple[Any, Any, bool]:
    """Two scalars under their common type."""
    dtype, is_weak = promote(context, (then, other), "select")
    return atom(context, then, dtype), atom(context, other, dtype), is_weak


def _length(context: Context, value: Value) -> Value:
    match value:
        case Array():
            return size_value(context, value.shape[0])
        case Complex() if value.shape:
            return size_value(context, value.shape[0])
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
    return Scalar(truth(context, asked)) if is_staged(asked) else bool(asked)


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
        raise UnsupportedArgument(
            "round", "a number of digits is not supported", context.span, "use `np.round(x, digits)`"
        )
    if isinstance(value, Complex):
        raise ComplexRefused("`round`", describe(value), context.span, "use `np.round(z)`")
    if not isinstance(value, Scalar):
        raise UnsupportedType(
            "the argument of `round`", describe(value), context.span, "`np.round(x)` rounds every element"
        )
    if value.dtype.is_integer:
        return value
    rounded = apply_prim(context, "round", value)
    return Scalar(atom(context, rounded, I64), is_weak=True)


def _power(context: Context, base: Value, exponent: Value, modulus: Value = None) -> Value:
    if modulus is not None:
        raise UnsupportedArgument("pow", "a modulus is not supported", context.span)
    return power(context, base, exponent)


def _divmod(context: Context, left: Value, right: Value) -> Value:
    return apply_prim(context, "floordiv", left, right), apply_prim(context, "mod", left, right)


def _items(context: Context, value: Value) -> list[Value]:
    if isinstance(value, LazyGenerator):
        value = evaluate_list(context, value.frame, value.node)
    return unrolled(context, value)


def _list(context: Context, value: Value = ()) -> Value:
    if isinstance(value, LazyGenerator):
        return evaluate_list(context, value.frame, value.node)
    sequence = iterate(context, value)
    if isinstance(sequence, Iterated) and sequence.static_extent is None:
        return list_of(context, sequence)
    items = _items(context, value)
    context.made(items)
    return items


def _tuple(context: Context, value: Value = ()) -> Value:
    return tuple(_items(context, value))


def _zip(context: Context, *parts: Value, strict: Value = False) -> Value:
    lists = [evaluate_list(context, p.frame, p.node) if isinstance(p, LazyGenerator) else p for p in parts]
    return zipped(context, lists, bool(strict))


def _map(context: Context, function: Value, *parts: Value) -> Value:
    items = zipped(context, parts)
    if isinstance(items, list):
        return [context.call(function, *item) for item in items]  # type: ignore[misc]
    sequence = items
    return Iterated(sequence.extent, lambda inner, index: inner.call(function, *sequence.item(inner, index)))  # type: ignore[misc]


def _isinstance(context: Context, value: Value, kinds: Value) -> Value:
    try:
        return isinstance(_example(value), kinds)  # type: ignore[arg-type]
    except TypeError as error:
        raise StaticCallFailed("`isinstance`", error, context.span) from error


def _type(context: Context, value: Value) -> Value:
    return type(_example(value))


def _example(value: Value) -> object:
    """A Python value of the type that the program would hold here."""
    match value:
        case Array(list_depth=depth) if depth:
            return []
        case Array():
            return np.zeros((0,) * len(value.shape), value.dtype.numpy)
        case Scalar(is_weak=True):
            return 0.0 if value.dtype.is_float else 0
        case Scalar():
            return value.dtype.numpy.type(0)
        case Complex(list_depth=depth) if depth:
            return []
        case Complex(shape=shape) if shape:
            return np.zeros((0,) * len(shape), numpy_type(value.dtype))
        case Complex():
            return 0j if value.is_weak else numpy_type(value.dtype).type(0)
        case Iterated():
            return range(0)
        case _:
            return value


def _hasattr(context: Context, value: Value, name: Value) -> Value:
    return hasattr(_example(value), str(name))


def _refused(name: str, reason: str) -> StagedCall:
    def staged(context: Context, *args: Value, **kwargs: Value) -> Value:
        raise UnsupportedCall(name, context.span, reason, SUBSTITUTES.get(name, ""))

    return staged


def _replaced(context: Context, obj: Value, /, **changes: Value) -> Value:
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
    zip: _zip,
    enumerate: lambda context, values, start=0: enumerated(context, values, start),
    reversed: lambda context, values: turned(context, values),
    map: _map,
    float: _float,
    int: _int,
    bool: _bool,
    round: _round,
    pow: _power,
    divmod: _divmod,
    list: _list,
    tuple: _tuple,
    isinstance: _isinstance,
    type: _type,
    hasattr: _hasattr,
    print: _refused("print", "its output would be written once, while compiling"),
    sorted: _refused("sorted", "its order is known only at run time"),
    unroll: lambda context, iterable: Unrolled(iterable),
    dataclasses.replace: _replaced,
    iter: _refused("iter", "the state of an iterator is not followed"),
    next: _refused("next", "the state of an iterator is not followed"),
}
"""A builtin -> its compiled form, used where an argument is staged."""
