"""Vectors as sets: unions, intersections and differences of their values, in order and each once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Var, i64
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.arrays import as_array
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.indexing import take as taken
from anadrome.frontend.library.common import array_var, static_flag
from anadrome.frontend.values import Array, Value


def _values(context: Context, name: str, ar: Value, assume_unique: Value) -> Value:
    """The values, each once; as they stand where they are said to be different."""
    is_unique = static_flag(context, name, "assume_unique", assume_unique)
    return context.call(np.ravel if is_unique else np.unique, as_array(context, ar))


def union(context: Context, ar1: Value, ar2: Value) -> Value:
    """np.union1d: the values of either"""
    return context.call(np.unique, context.call(np.concatenate, [ar1, ar2], axis=None))


def _in_order(context: Context, parts: list[Value]) -> Array:
    """The values of several vectors, sorted."""
    found = context.call(np.sort, context.call(np.concatenate, parts))
    assert isinstance(found, Array)
    return found


def intersection(
    context: Context, ar1: Value, ar2: Value, assume_unique: Value = False, return_indices: Value = False
) -> Value:
    """np.intersect1d: the values of both, which stand twice among those of each"""
    name = "np.intersect1d"
    if static_flag(context, name, "return_indices", return_indices):
        raise UnsupportedArgument(name, "`return_indices` is not supported", context.span)
    every = _in_order(context, [_values(context, name, one, assume_unique) for one in (ar1, ar2)])
    first, second = taken(context, every, slice(None, -1)), taken(context, every, slice(1, None))
    return context.call(np.compress, context.call(np.equal, first, second), first)


def difference(context: Context, ar1: Value, ar2: Value, assume_unique: Value = False) -> Value:
    """np.setdiff1d: the values of the first that are none of the second"""
    values = _values(context, "np.setdiff1d", ar1, assume_unique)
    is_other = context.call(np.logical_not, context.call(np.isin, values, as_array(context, ar2)))
    return context.call(np.compress, is_other, values)


def either(context: Context, ar1: Value, ar2: Value, assume_unique: Value = False) -> Value:
    """np.setxor1d: the values of one alone, which differ from both neighbours among those of each"""
    name = "np.setxor1d"
    every = _in_order(context, [_values(context, name, one, assume_unique) for one in (ar1, ar2)])
    var = array_var(context, name, every)
    last = context.builder.size("sub", var.type.shape[0], i64(1))

    def is_alone(builder: Builder, index: Var) -> Atom:
        before = builder.apply("max", builder.apply("sub", index, i64(1)), i64(0))
        after = builder.apply("min", builder.apply("add", index, i64(1)), last)
        own = builder.index(var, (index,))
        sides = [
            builder.apply(
                "or", builder.apply("eq", at, index), builder.apply("ne", own, builder.index(var, (at,)))
            )
            for at in (before, after)
        ]
        return builder.apply("and", *sides)

    mask = context.builder.stack(var.type.shape[0], is_alone)
    return taken(context, every, context.wrap(mask))


CALLS: dict[Callable[..., object], StagedCall] = {
    np.union1d: union,
    np.intersect1d: intersection,
    np.setdiff1d: difference,
    np.setxor1d: either,
}
