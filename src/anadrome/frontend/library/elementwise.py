"""NumPy's universal functions: one row of the primitive table at every place.

The scalar types of the loop are those that NumPy itself resolves (NEP 50), so promotion cannot differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import FALSE, TRUE, Atom, Var
from anadrome.dtypes import ALL, BOOL, F64, DType
from anadrome.errors.base import counted
from anadrome.errors.frontend import CallMismatch, PromotionError, UnsupportedArgument
from anadrome.frontend.arrays import as_array, atom, boxed, convert, describe, promote, type_of
from anadrome.frontend.context import Context, StagedCall, dtype_of
from anadrome.frontend.library.common import array_var, as_strong, static_flag, static_int, table_name
from anadrome.frontend.masks import coordinates
from anadrome.frontend.operators import map_elements, noted, power, square_of_magnitude
from anadrome.frontend.values import Array, Scalar, Value
from anadrome.frontend.views import laid_out_like
from anadrome.prims.table import PRIMS

ScalarRule = Callable[[Builder, tuple[Atom, ...]], Atom]
"""(builder, scalars of the loop's type) -> scalar."""

_ON_BOOLS = {
    "add": "or",
    "mul": "and",
    "max": "or",
    "min": "and",
    "bitand": "and",
    "bitor": "or",
    "bitxor": "xor",
    "bitnot": "not",
}
_ITSELF = frozenset({"abs", "floor", "ceil", "trunc"})
"""Operations that leave a value of a type they have no row for (integers, bools) as it is."""
_CLASSES = {"isnan": FALSE, "isinf": FALSE, "isfinite": TRUE}
"""What integers and bools are classified as."""


# ---------------------------------------------------------------------------- types and loops
def loop_types(context: Context, ufunc: np.ufunc, values: Sequence[Value]) -> tuple[DType, ...]:
    """The types NumPy converts the operands of a universal function to."""
    examples: list[Any] = []
    for value in values:
        dtype, is_weak = type_of(context, value)
        examples.append((float if dtype.is_float else int) if is_weak else dtype.numpy)
    try:
        found = ufunc.resolve_dtypes((*examples, *([None] * ufunc.nout)))
        if found[0].hasobject:  # a comparison of Python's integers
            found = (np.dtype(np.int64),) * ufunc.nin
    except TypeError:
        names = ", ".join(type_of(context, value)[0].numpy_name for value in values)
        raise PromotionError(table_name(ufunc), names, context.span) from None
    return tuple(dtype_of(one, context.span) for one in found[: ufunc.nin])


def over_elements(
    context: Context,
    values: Sequence[Value],
    types: Sequence[DType],
    rule: ScalarRule,
    what: str,
    is_magnitude: bool = False,
    is_root: bool = False,
) -> Value:
    """The rule at every place of the operands, each converted to its type, broadcast together."""
    atoms = [
        atom(context, value, None if isinstance(value, Array) else dtype)
        for value, dtype in zip(values, types, strict=True)
    ]

    def scalar(builder: Builder, scalars: tuple[Atom, ...]) -> Atom:
        return rule(
            builder, tuple(builder.convert(one, dtype) for one, dtype in zip(scalars, types, strict=True))
        )

    found = laid_out_like(context, map_elements(context, atoms, scalar, what), values, is_elementwise=True)
    return noted(context, found, atoms, is_root) if is_magnitude or is_root else found


def universal(ufunc: np.ufunc, name: str) -> StagedCall:
    """A universal function that is a row of the primitive table."""
    what = table_name(ufunc)

    def staged(context: Context, *values: Value) -> Value:
        _count(context, what, values, ufunc.nin)
        types = loop_types(context, ufunc, values)
        first = types[0]
        if any(one is not first for one in types):
            raise PromotionError(what, ", ".join(one.numpy_name for one in types), context.span)
        row = _ON_BOOLS.get(name, name) if first is BOOL else name
        if PRIMS[row].types((first,) * ufunc.nin) is None:
            return over_elements(context, values, types, _without_row(context, row, first, what), what)
        return over_elements(
            context,
            values,
            types,
            lambda builder, scalars: builder.apply(row, *scalars),
            what,
            is_magnitude=name in ("abs", "hypot"),
            is_root=name == "sqrt",
        )

    return staged


def _count(context: Context, what: str, values: Sequence[Value], count: int) -> None:
    if len(values) != count:
        raise CallMismatch(what, f"takes {counted(count, 'argument')}, got {len(values)}", context.span)


def _without_row(context: Context, name: str, dtype: DType, what: str) -> ScalarRule:
    if name in _CLASSES:
        return lambda builder, scalars: _CLASSES[name]
    if name in _ITSELF:
        return lambda builder, scalars: scalars[0]
    raise PromotionError(what, dtype.numpy_name, context.span)


def composed(ufunc: np.ufunc, rule: ScalarRule) -> StagedCall:
    """A universal function written with several rows; its loop is on floats. Integers are never NaN, so that
    the larger and the smaller of two are what `maximum` and `minimum` find."""
    what = table_name(ufunc)

    def staged(context: Context, *values: Value) -> Value:
        _count(context, what, values, ufunc.nin)
        types = loop_types(context, ufunc, values)
        if ufunc in _WITHOUT_NAN and not types[0].is_float:
            return context.call(_WITHOUT_NAN[ufunc], *values)
        if any(not one.is_float for one in types):
            raise PromotionError(what, types[0].numpy_name, context.span)
        return over_elements(context, values, types, rule, what)

    return staged


def logical(ufunc: np.ufunc, name: str) -> StagedCall:
    """np.logical_and and its kin: operands of any type count as whether they are not 0."""
    what = table_name(ufunc)

    def staged(context: Context, *values: Value) -> Value:
        _count(context, what, values, ufunc.nin)
        return over_elements(
            context, values, (BOOL,) * ufunc.nin, lambda builder, scalars: builder.apply(name, *scalars), what
        )

    return staged


# ---------------------------------------------------------------------------- rules of several rows
def _scaled(factor: float) -> ScalarRule:
    return lambda builder, scalars: builder.mul(scalars[0], builder.constant(factor, scalars[0]))


def _reciprocal(builder: Builder, scalars: tuple[Atom, ...]) -> Atom:
    return builder.div(builder.constant(1.0, scalars[0]), scalars[0])


def _without_nan(name: str) -> ScalarRule:
    """fmax, fmin: of a number and a NaN the number."""

    def rule(builder: Builder, scalars: tuple[Atom, ...]) -> Atom:
        left, right = scalars
        both = builder.apply(name, left, right)
        inner = builder.select(builder.apply("isnan", left), right, both)
        return builder.select(builder.apply("isnan", right), left, inner)

    return rule


def _heaviside(builder: Builder, scalars: tuple[Atom, ...]) -> Atom:
    """0 below 0, h at 0, 1 above; NaN of NaN"""
    x, half = scalars
    zero, one = builder.constant(0.0, x), builder.constant(1.0, x)
    at_zero = builder.select(builder.apply("eq", x, zero), half, x)
    above = builder.select(builder.apply("gt", x, zero), one, at_zero)
    return builder.select(builder.apply("lt", x, zero), zero, above)


def _log_of_sum(base: float) -> ScalarRule:
    """log_b(b^x + b^y) = hi + log_b(1 + b^(lo - hi)), hi the larger operand, the first of equal ones.

    hi and lo are chosen by one comparison, so that at a tie each operand has half of the derivative.
    Two equal infinities have no difference: the result is hi.
    """

    def rule(builder: Builder, scalars: tuple[Atom, ...]) -> Atom:
        x, y = scalars
        is_first = builder.apply("ge", x, y)
        high, low = builder.select(is_first, x, y), builder.select(is_first, y, x)
        power_of = builder.apply("exp2" if base == 2.0 else "exp", builder.sub(low, high))
        term = builder.apply("log1p", power_of)
        if base == 2.0:
            term = builder.mul(term, builder.constant(1.0 / math.log(2.0), term))
        is_infinite = builder.apply("and", builder.apply("isinf", high), builder.apply("eq", low, high))
        return builder.select(is_infinite, high, builder.add(high, term))

    return rule


# ---------------------------------------------------------------------------- other functions
def nonzero_mask(context: Context, a: Value, name: str = "np.where") -> Var:
    """The elements of an array that are not zero."""
    mask = convert(context, array_var(context, name, a), BOOL)
    assert isinstance(mask, Var)
    return mask


def where(context: Context, condition: Value, *choices: Value) -> Value:
    """np.where with three arguments; with one, `np.nonzero`."""
    if not choices:
        return tuple(context.wrap(one) for one in coordinates(context, nonzero_mask(context, condition)))
    if len(choices) != 2:
        raise UnsupportedArgument(
            "np.where", "two arguments", context.span, "give all three, or the condition"
        )
    dtype, _ = promote(context, choices, "np.where")
    return over_elements(
        context,
        (condition, *choices),
        (BOOL, dtype, dtype),
        lambda builder, scalars: builder.select(*scalars),
        "np.where",
    )


def clip(
    context: Context, a: Value, a_min: Value = None, a_max: Value = None, min: Value = None, max: Value = None
) -> Value:
    """np.clip: max with the lower bound, then min with the upper; None leaves a side open."""
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    bounds = [("max", low), ("min", high)]
    values = [a, *(bound for _, bound in bounds if bound is not None)]
    names = [name for name, bound in bounds if bound is not None]
    dtype, _ = promote(context, values, "np.clip")
    if dtype is BOOL:
        raise PromotionError("np.clip", "bool", context.span)

    def rule(builder: Builder, scalars: tuple[Atom, ...]) -> Atom:
        result = scalars[0]
        for name, bound in zip(names, scalars[1:], strict=True):
            result = builder.apply(name, result, bound)
        return result

    return over_elements(context, values, (dtype,) * len(values), rule, "np.clip")


def rounded(context: Context, a: Value, decimals: Value = 0) -> Value:
    """np.round: to even; other decimals by scaling, as NumPy does; integers stay as they are."""
    places = static_int(context, "np.round", "decimals", decimals)
    dtype, _ = type_of(context, a)
    if not dtype.is_float and places >= 0 and dtype is not BOOL:
        return over_elements(context, (a,), (dtype,), lambda builder, scalars: scalars[0], "np.round")
    if not dtype.is_float:
        raise PromotionError("np.round", dtype.numpy_name, context.span)
    before, after = ("mul", "div") if places > 0 else ("div", "mul")

    def rule(builder: Builder, scalars: tuple[Atom, ...]) -> Atom:
        (x,) = scalars
        if places == 0:
            return builder.apply("round", x)
        scale = builder.constant(10.0 ** abs(places), x)
        return builder.apply(after, builder.apply("round", builder.apply(before, x, scale)), scale)

    return over_elements(context, (a,), (dtype,), rule, "np.round")


def is_close(
    context: Context,
    a: Value,
    b: Value,
    rtol: Value = 1e-05,
    atol: Value = 1e-08,
    equal_nan: Value = False,
) -> Value:
    """np.isclose: |a - b| ≤ atol + rtol·|b| with b finite, or a = b, or both are NaN and count as equal."""
    are_equal = static_flag(context, "np.isclose", "equal_nan", equal_nan)

    def rule(builder: Builder, scalars: tuple[Atom, ...]) -> Atom:
        x, y, relative, absolute = scalars
        distance = builder.apply("abs", builder.sub(x, y))
        limit = builder.add(absolute, builder.mul(relative, builder.apply("abs", y)))
        near = builder.apply("and", builder.apply("le", distance, limit), builder.apply("isfinite", y))
        near = builder.apply("or", near, builder.apply("eq", x, y))
        if not are_equal:
            return near
        return builder.apply(
            "or", near, builder.apply("and", *(builder.apply("isnan", one) for one in (x, y)))
        )

    return over_elements(context, (a, b, rtol, atol), (F64,) * 4, rule, "np.isclose")


def raised(context: Context, x1: Value, x2: Value) -> Value:
    """np.power"""
    return as_strong(power(context, x1, x2))


def conversion(dtype: DType) -> StagedCall:
    """np.float64(x) and its kin: every element as another type; an array of that type is itself."""

    def staged(context: Context, x: Value = 0) -> Value:
        is_same = isinstance(x, Array) and x.dtype is dtype and not x.list_depth
        return x if is_same else converted(context, x, dtype)

    return staged


def converted(context: Context, x: Value, dtype: DType) -> Value:
    """A new array (or number) of another scalar type."""
    own, _ = type_of(context, x)
    return over_elements(
        context, (x,), (own,), lambda builder, scalars: builder.convert(scalars[0], dtype), "astype"
    )


def conjugate(context: Context, x: Value) -> Value:
    """np.conjugate of real numbers: a new array of the same elements, of int8 for bools"""
    (target,) = loop_types(context, np.conjugate, (x,))
    return converted(context, x, target)


def itself(context: Context, x: Value) -> Value:
    """np.positive: a new array of the same elements"""
    own, _ = type_of(context, x)
    if own is BOOL:
        raise PromotionError("np.positive", own.numpy_name, context.span)
    return over_elements(context, (x,), (own,), lambda builder, scalars: scalars[0], "np.positive")


# ---------------------------------------------------------------------------- the table
_ROWS: dict[np.ufunc, str] = {
    np.add: "add",
    np.subtract: "sub",
    np.multiply: "mul",
    np.divide: "div",
    np.floor_divide: "floordiv",
    np.remainder: "mod",
    np.fmod: "fmod",
    np.negative: "neg",
    np.absolute: "abs",
    np.fabs: "abs",
    np.sign: "sign",
    np.minimum: "min",
    np.maximum: "max",
    np.hypot: "hypot",
    np.copysign: "copysign",
    np.float_power: "pow",
    np.sqrt: "sqrt",
    np.cbrt: "cbrt",
    np.exp: "exp",
    np.expm1: "expm1",
    np.exp2: "exp2",
    np.log: "log",
    np.log1p: "log1p",
    np.log2: "log2",
    np.log10: "log10",
    np.sin: "sin",
    np.cos: "cos",
    np.tan: "tan",
    np.arcsin: "asin",
    np.arccos: "acos",
    np.arctan: "atan",
    np.arctan2: "atan2",
    np.sinh: "sinh",
    np.cosh: "cosh",
    np.tanh: "tanh",
    np.arcsinh: "asinh",
    np.arccosh: "acosh",
    np.arctanh: "atanh",
    np.floor: "floor",
    np.ceil: "ceil",
    np.rint: "round",
    np.trunc: "trunc",
    np.isnan: "isnan",
    np.isinf: "isinf",
    np.isfinite: "isfinite",
    np.equal: "eq",
    np.not_equal: "ne",
    np.less: "lt",
    np.less_equal: "le",
    np.greater: "gt",
    np.greater_equal: "ge",
    np.bitwise_and: "bitand",
    np.bitwise_or: "bitor",
    np.bitwise_xor: "bitxor",
    np.invert: "bitnot",
    np.left_shift: "shl",
    np.right_shift: "shr",
}

_COMPOSED: dict[np.ufunc, ScalarRule] = {
    np.reciprocal: _reciprocal,
    np.fmax: _without_nan("max"),
    np.fmin: _without_nan("min"),
    np.heaviside: _heaviside,
    np.logaddexp: _log_of_sum(math.e),
    np.logaddexp2: _log_of_sum(2.0),
    np.deg2rad: _scaled(math.pi / 180.0),
    np.radians: _scaled(math.pi / 180.0),
    np.rad2deg: _scaled(180.0 / math.pi),
    np.degrees: _scaled(180.0 / math.pi),
}

_WITHOUT_NAN: dict[np.ufunc, np.ufunc] = {np.fmax: np.maximum, np.fmin: np.minimum}

_LOGICAL: dict[np.ufunc, str] = {
    np.logical_and: "and",
    np.logical_or: "or",
    np.logical_xor: "xor",
    np.logical_not: "not",
}


def _square(context: Context, x: Value) -> Value:
    """np.square"""
    square = square_of_magnitude(context, x)
    if square is not None:
        return as_strong(square)
    types = loop_types(context, np.square, (x,))
    return over_elements(
        context, (x,), types, lambda builder, scalars: builder.mul(scalars[0], scalars[0]), "np.square"
    )


def astype(context: Context, array: Value, dtype: Value, *, copy: Value = True) -> Value:
    """x.astype(dtype): a new array, or with `copy=False` the array itself where it has the type"""
    target = dtype_of(dtype, context.span)
    if (
        not static_flag(context, "astype", "copy", copy)
        and isinstance(array, Array)
        and array.dtype is target
    ):
        return array
    found = converted(context, array, target)
    return boxed(context, found.atom) if isinstance(array, Array) and isinstance(found, Scalar) else found


def astype_of_array(context: Context, x: Value, dtype: Value, *, copy: Value = True) -> Value:
    """np.astype: x.astype(dtype) of an array, which numbers and lists are not"""
    if not isinstance(x, Array | np.ndarray):
        raise UnsupportedArgument("np.astype", describe(x), context.span, "give an array: `np.asarray(…)`")
    return astype(context, as_array(context, x), dtype, copy=copy)


CALLS: dict[Callable[..., object], StagedCall] = {
    **{ufunc: universal(ufunc, name) for ufunc, name in _ROWS.items()},
    **{ufunc: composed(ufunc, rule) for ufunc, rule in _COMPOSED.items()},
    **{ufunc: logical(ufunc, name) for ufunc, name in _LOGICAL.items()},
    **{dtype.numpy.type: conversion(dtype) for dtype in ALL},
    np.square: _square,
    np.power: raised,
    np.positive: itself,
    np.conjugate: conjugate,
    np.real: lambda context, val: val,
    np.where: where,
    np.clip: clip,
    np.round: rounded,
    np.around: rounded,
    np.fix: universal(np.trunc, "trunc"),
    np.isclose: is_close,
    np.astype: astype_of_array,
}


METHODS: dict[str, StagedCall] = {
    "astype": astype,
    "clip": clip,
    "round": rounded,
    "conj": lambda context, array: Scalar(array.atom, array.is_weak) if isinstance(array, Scalar) else array,
    "conjugate": lambda context, array: array,
}
