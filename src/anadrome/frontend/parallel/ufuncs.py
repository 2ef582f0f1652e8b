"""The methods of NumPy's universal functions: `np.add.at`, `np.maximum.accumulate`, `np.multiply.outer`, …"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Var, i64
from anadrome.dtypes import BOOL, I64, DType
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.arrays import as_array, describe
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.indexing import make_sure_inside
from anadrome.frontend.iterables import Iterated
from anadrome.frontend.library import CALLS as LIBRARY
from anadrome.frontend.library.common import array_var, axis_of, built, checked, table_name
from anadrome.frontend.library.elementwise import loop_types
from anadrome.frontend.library.prefixes import scanned
from anadrome.frontend.library.reductions import sum_type
from anadrome.frontend.library.shape import broadcast_to, expand_dims
from anadrome.frontend.parallel.folds import reduce_items, scan_items
from anadrome.frontend.parallel.items import items_of
from anadrome.frontend.parallel.places import by_index
from anadrome.frontend.sizes import size_value
from anadrome.frontend.tables import Table
from anadrome.frontend.values import Array, Scalar, Value
from anadrome.frontend.writing import put

REDUCTIONS: Mapping[np.ufunc, Callable[..., object]] = {
    np.add: np.sum,
    np.multiply: np.prod,
    np.minimum: np.min,
    np.maximum: np.max,
    np.logical_and: np.all,
    np.logical_or: np.any,
}
PREFIXES: Mapping[np.ufunc, Callable[..., object]] = {np.add: np.cumsum, np.multiply: np.cumprod}
NAMED: Mapping[np.ufunc, str] = {
    np.add: "add",
    np.subtract: "add",
    np.multiply: "mul",
    np.minimum: "min",
    np.maximum: "max",
    np.logical_and: "and",
    np.logical_or: "or",
}
_SIGNS: Mapping[np.ufunc, str] = {np.add: "+=", np.subtract: "-=", np.multiply: "*="}
FOLDED = (np.logaddexp, np.logaddexp2, np.hypot, np.bitwise_and, np.bitwise_or, np.bitwise_xor)
"""Associative functions with an identity that are reduced by a lambda."""


def _reduce(ufunc: np.ufunc) -> StagedCall:
    """np.f.reduce: along the first axis, if no other is named"""
    if ufunc in REDUCTIONS:
        function = REDUCTIONS[ufunc]

        def staged(
            context: Context, array: Value, axis: Value = 0, dtype: Value = None, *, keepdims: Value = False
        ) -> Value:
            kwargs = {} if dtype is None else {"dtype": dtype}
            return context.call(function, array, axis=axis, keepdims=keepdims, **kwargs)

        return staged

    def folded(context: Context, array: Value, axis: Value = 0) -> Value:
        own = _operands(context, ufunc, array, "reduce")
        items = _from_magnitude(context, "np.hypot.reduce", own, axis) if ufunc is np.hypot else own
        return reduce_items(context, ufunc, items, _neutral(ufunc, own.dtype), axis)

    return folded


def _from_magnitude(context: Context, name: str, array: Value, axis: Value) -> Iterated:
    """The items with |x_0| for x_0: the 0 of hypot is neutral among lengths alone, hypot(0, x) = |x|."""
    items = items_of(context, name, as_array(context, array), axis)

    def item(inner: Context, index: Atom) -> Value:
        found = items.item(inner, index)
        is_first = inner.wrap(inner.builder.apply("eq", index, i64(0)))
        return inner.call(np.where, is_first, inner.call(np.abs, found), found)

    return Iterated(items.extent, item)


def _operands(context: Context, ufunc: np.ufunc, array: Value, method: str) -> Array:
    """The array as the type in which the function works on two of its elements."""
    found = as_array(context, array)
    if not isinstance(found, Array):
        name = f"np.{ufunc.__name__}.{method}"
        raise UnsupportedArgument(name, "a number where an array is expected", context.span)
    made = as_array(context, found, loop_types(context, ufunc, (found, found))[0])
    assert isinstance(made, Array)
    return made


def _neutral(ufunc: np.ufunc, dtype: DType) -> Value:
    """What changes nothing, of a type: of `&` all bits, which are -1 or the greatest number."""
    if ufunc is np.bitwise_and:
        return np.invert(dtype.numpy.type(0))
    return dtype.numpy.type(ufunc.identity)


def _accumulate(ufunc: np.ufunc) -> StagedCall:
    """np.f.accumulate: along the first axis, if no other is named"""
    name = f"np.{ufunc.__name__}.accumulate"
    if ufunc in PREFIXES:
        function = PREFIXES[ufunc]

        def staged(context: Context, array: Value, axis: Value = 0, dtype: Value = None) -> Value:
            array_var(context, name, array)
            return context.call(function, array, axis=axis, **({} if dtype is None else {"dtype": dtype}))

        return staged
    if ufunc in NAMED:

        def named(context: Context, array: Value, axis: Value = 0) -> Value:
            found = context.wrap(array_var(context, name, array))
            assert isinstance(found, Array)
            operator, dtype = NAMED[ufunc], found.dtype
            if operator in ("and", "or"):
                dtype = BOOL
            elif dtype is BOOL:
                operator = "and" if operator == "min" else "or"
            along = axis_of(context, name, axis, len(found.shape))
            return context.wrap(scanned(context.builder, context.read(found), along, operator, dtype))

        return named

    def folded(context: Context, array: Value, axis: Value = 0) -> Value:
        items = _operands(context, ufunc, array, "accumulate")
        if ufunc is np.hypot:
            return _lengths(context, items, axis)
        return scan_items(context, ufunc, items, _neutral(ufunc, items.dtype), False, axis)

    return folded


def _lengths(context: Context, array: Array, axis: Value) -> Value:
    """np.hypot.accumulate: a scan, and in front of it the first element as it is, with its sign."""
    name = "np.hypot.accumulate"
    items, neutral = _from_magnitude(context, name, array, axis), _neutral(np.hypot, array.dtype)
    prefixes = array_var(context, name, scan_items(context, np.hypot, items, neutral, False, axis))
    elements = array_var(context, name, array)
    along = axis_of(context, name, axis, len(elements.type.shape))

    def place(builder: Builder, at: tuple[Var, ...]) -> Atom:
        is_first = builder.apply("eq", at[along], i64(0))
        return builder.select(is_first, builder.index(elements, at), builder.index(prefixes, at))

    return context.wrap(context.builder.build(elements.type.shape, place))


def _outer(ufunc: np.ufunc) -> StagedCall:
    """np.f.outer: the function of every pair of elements"""

    def staged(context: Context, A: Value, B: Value) -> Value:  # noqa: N803 - NumPy's names
        left, right = as_array(context, A), as_array(context, B)
        wide: Value = left
        for _ in right.shape:
            wide = expand_dims(context, wide, -1)
        return context.call(ufunc, wide, right)

    return staged


def _reduceat(ufunc: np.ufunc) -> StagedCall:
    """np.f.reduceat: of the items from each index to the next; of one item where that is not greater"""
    name = f"np.{ufunc.__name__}.reduceat"

    def staged(context: Context, array: Value, indices: Value, axis: Value = 0) -> Value:
        call, found, places = context.call, as_array(context, array), as_array(context, indices)
        along = axis_of(context, name, axis, len(found.shape))
        if len(places.shape) != 1 or not places.dtype.is_integer:
            help = "give a vector of whole numbers"
            raise UnsupportedArgument(name, f"{describe(indices)} as indices", context.span, help)
        front = array_var(context, name, call(np.moveaxis, found, along, 0))
        size, starts = front.type.shape[0], array_var(context, name, as_array(context, places, I64))
        last = context.builder.size("sub", starts.type.shape[0], i64(1))
        operator, dtype = NAMED[ufunc], front.type.dtype
        if operator in ("and", "or"):
            dtype = BOOL
        elif operator in ("add", "mul"):
            dtype = sum_type(dtype)
        elif dtype is BOOL:
            operator = "and" if operator == "min" else "or"

        def place(builder: Builder, at: tuple[Var, ...]) -> Atom:
            start = builder.index(starts, (at[0],))
            make_sure_inside(builder, start, size)
            following = builder.apply("min", builder.apply("add", at[0], i64(1)), last)
            stop = builder.select(builder.apply("eq", at[0], last), size, builder.index(starts, (following,)))
            count = builder.apply("max", builder.apply("sub", stop, start), i64(1))

            def item(inner: Builder, index: Var) -> Atom:
                one = inner.index(front, (inner.apply("add", start, index), *at[1:]))
                return inner.convert(one, dtype)

            return builder.reduce(operator, count, item)

        result = built(context.builder, (starts.type.shape[0], *front.type.shape[1:]), place)
        return call(np.moveaxis, context.wrap(result), 0, along)

    return staged


def _at(ufunc: np.ufunc) -> StagedCall:
    """np.f.at: a[i] = f(a[i], b_i) for every index, those that stand there twice included"""
    name, operator = f"np.{ufunc.__name__}.at", NAMED[ufunc]

    def staged(context: Context, a: Value, indices: Value, b: Value) -> Value:
        if not isinstance(a, Array) or a.list_depth:
            target = "a list" if isinstance(a, Array) else describe(a)
            raise UnsupportedArgument(name, f"{target} is not written into", context.span)
        value = context.call(np.negative, b) if ufunc is np.subtract else b
        given = indices if isinstance(indices, tuple) else (indices,)
        at = _places(context, ufunc, given)
        shape = (*at[0].shape, *a.shape[len(at) :])
        found = as_array(context, value)
        if found.shape and len(found.shape) <= len(shape):
            value = broadcast_to(context, found, tuple(size_value(context, size) for size in shape))
        result = by_index(context, name, a, operator, at, value, None, "error")
        put(context, a, Ellipsis, result)
        return None

    return staged


def _places(context: Context, ufunc: np.ufunc, given: tuple[Value, ...]) -> tuple[Array, ...]:
    """Arrays of integers, broadcast to one another as indices are."""
    found = [as_array(context, one) if _may_be_place(one) else one for one in given]
    places = [one for one in found if isinstance(one, Array | Scalar) and one.dtype.is_integer]
    arrays = [one for one in places if isinstance(one, Array)]
    if not arrays or len(places) < len(found):
        # what names a place once needs no such method; arrays of integers may name it twice
        plain = f"x[...] {_SIGNS[ufunc]} v" if ufunc in _SIGNS else f"x[...] = np.{ufunc.__name__}(x[...], v)"
        advice = "write a loop over the places" if arrays else f"write `{plain}`"
        reason = "an index that is no array of integers"
        raise UnsupportedArgument(f"np.{ufunc.__name__}.at", reason, context.span, advice)
    if len(arrays) < len(found) or any(one.shape != arrays[0].shape for one in arrays):
        together = context.call(np.broadcast_arrays, *places)
        assert isinstance(together, list | tuple)
        arrays = [one for one in together if isinstance(one, Array)]
    return tuple(arrays)


def _may_be_place(part: Value) -> bool:
    is_number = isinstance(part, int | np.integer) and not isinstance(part, bool)
    return is_number or isinstance(part, list | np.ndarray | Array | Scalar)


_NAMED_METHODS: dict[Callable[..., object], StagedCall] = {
    **{one.reduce: checked(f"np.{one.__name__}.reduce", _reduce(one)) for one in (*REDUCTIONS, *FOLDED)},
    **{
        one.accumulate: checked(f"np.{one.__name__}.accumulate", _accumulate(one))
        for one in (*REDUCTIONS, *FOLDED)
    },
    **{one.reduceat: checked(f"np.{one.__name__}.reduceat", _reduceat(one)) for one in REDUCTIONS},
    **{one.at: checked(f"np.{one.__name__}.at", _at(one)) for one in NAMED},
}


def _outers(functions: Iterable[Callable[..., object]]) -> dict[Callable[..., object], StagedCall]:
    return {
        one.outer: checked(f"{table_name(one)}.outer", _outer(one))
        for one in functions
        if isinstance(one, np.ufunc) and one.nin == 2 and one.signature is None
    }


UFUNC_METHODS: Table[StagedCall] = Table((_NAMED_METHODS, *LIBRARY.mapped(_outers)))
"""A bound method of a universal function -> its compiled form."""
