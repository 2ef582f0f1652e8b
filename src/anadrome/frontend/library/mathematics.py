"""The functions of `math`: they take numbers, and give Python numbers, which adapt their type (NEP 50)."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom
from anadrome.dtypes import BOOL, F64, I64
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.arrays import as_array, atom, type_of
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library.common import INFINITY
from anadrome.frontend.library.reductions import fold_all
from anadrome.frontend.operators import noted
from anadrome.frontend.sizes import agree
from anadrome.frontend.values import Array, Scalar, Staged, Value


def number(context: Context, name: str, value: Value) -> Atom:
    """An operand of a `math` function as a float64; an array is refused, as Python does."""
    if isinstance(value, Array | np.ndarray | list | tuple):
        raise UnsupportedArgument(
            f"math.{name}", "an array where a number is expected", context.span, _instead(name)
        )
    return atom(context, value, F64)


_ELSEWHERE = {
    "erf": "scipy.special.erf",
    "erfc": "scipy.special.erfc",
    "lgamma": "scipy.special.gammaln",
    "gamma": "scipy.special.gamma",
}


def _instead(name: str) -> str:
    other = _ELSEWHERE.get(name) or (f"np.{name}" if hasattr(np, name) else "")
    return f"use `{other}`, which works elementwise" if other else ""


def row(python_name: str, prim: str, count: int = 1) -> StagedCall:
    """A function of `math` that is a row of the primitive table."""

    def staged(context: Context, *values: Value) -> Value:
        if len(values) != count:
            raise UnsupportedArgument(
                f"math.{python_name}", f"{len(values)} arguments, not {count}", context.span
            )
        found = [number(context, python_name, value) for value in values]
        result = weak(context.builder.apply(prim, *found))
        return noted(context, result, found, prim == "sqrt") if prim in ("abs", "sqrt") else result

    return staged


def weak(found: Atom) -> Scalar:
    """A Python number."""
    return Scalar(found, is_weak=found.type.dtype in (BOOL, I64, F64))


def whole(python_name: str, prim: str) -> StagedCall:
    """math.floor, ceil, trunc: a Python integer."""

    def staged(context: Context, x: Value) -> Value:
        if not isinstance(x, Array | np.ndarray | list | tuple) and not type_of(context, x)[0].is_float:
            return weak(atom(context, x, I64))
        found = context.builder.apply(prim, number(context, python_name, x))
        return weak(context.builder.convert(found, I64))

    return staged


def scaled(python_name: str, factor: float) -> StagedCall:
    """math.radians, math.degrees"""

    def staged(context: Context, x: Value) -> Value:
        found = number(context, python_name, x)
        return weak(context.builder.mul(found, context.builder.constant(factor, found)))

    return staged


def logarithm(context: Context, x: Value, base: Value = math.e) -> Value:
    """math.log(x) or math.log(x, base) = log x / log base"""
    builder = context.builder
    if base is not math.e and isinstance(x, Array | np.ndarray | list | tuple):
        help = "use `np.log(x) / np.log(base)`, which works elementwise"
        raise UnsupportedArgument("math.log", "an array where a number is expected", context.span, help)
    found = builder.apply("log", number(context, "log", x))
    if base is math.e:
        return weak(found)
    return weak(builder.div(found, builder.apply("log", number(context, "log", base))))


def distance_from_origin(context: Context, *values: Value) -> Value:
    """math.hypot of any number of coordinates"""
    builder = context.builder
    found = [number(context, "hypot", value) for value in values]
    match found:
        case []:
            return weak(builder.constant(0.0, number(context, "hypot", 0.0)))
        case [_]:
            return noted(context, weak(builder.apply("abs", *found)), found)
        case _:
            return noted(context, weak(_length(builder, found)), found)


def _length(builder: Builder, values: Sequence[Atom]) -> Atom:
    """√Σx_i² = hypot(… hypot(m, x), x …) with the largest m first, which is 0 at the origin alone.

    Each of these is then smooth, at any size; the hypot of two zeros has no derivative.
    """
    largest, *others = values
    rest = []
    for x in others:
        is_larger = builder.apply("gt", builder.apply("abs", x), builder.apply("abs", largest))
        rest.append(builder.select(is_larger, largest, x))
        largest = builder.select(is_larger, x, largest)
    return functools.reduce(partial(builder.apply, "hypot"), rest, largest)


SCALES = ((2.0**480, 2.0**-600), (2.0**-450, 2.0**600))
"""From where on squares overflow, and below which they lose digits; and what to multiply by before."""


def distance(context: Context, p: Value, q: Value) -> Value:
    """math.dist: √Σ(p - q)², of differences times a power of two where their squares leave the range of a
    float64. A distance that is infinite in one coordinate is infinite, whatever the others are. Of equal
    points the derivative is 0, as in `math.hypot`.
    """
    left, right = as_array(context, p), as_array(context, q)
    if len(left.shape) != 1 or len(right.shape) != 1:
        raise UnsupportedArgument("math.dist", "points are sequences of numbers", context.span)
    agree(context, left.shape[0], right.shape[0], "math.dist")
    builder = context.builder

    def difference(inner: Builder, scalars: Sequence[Atom]) -> Atom:
        return inner.sub(inner.convert(scalars[0], F64), inner.convert(scalars[1], F64))

    def size(inner: Builder, scalars: Sequence[Atom]) -> Atom:
        step = difference(inner, scalars)
        is_missing = inner.apply("isnan", step)
        return inner.select(is_missing, inner.constant(0.0, step), inner.apply("abs", step))

    largest = fold_all(context, "max", (left, right), size, "math.dist")
    (high, shrink), (low, stretch) = SCALES
    zero, one, infinity = (builder.constant(value, largest) for value in (0.0, 1.0, INFINITY))

    def chosen(large: float, small: float) -> Atom:
        is_small = builder.apply("lt", largest, builder.constant(low, largest))
        inside = builder.select(is_small, builder.constant(small, largest), one)
        is_large = builder.apply("gt", largest, builder.constant(high, largest))
        return builder.select(is_large, builder.constant(large, largest), inside)

    scale, back = chosen(shrink, stretch), chosen(1.0 / shrink, 1.0 / stretch)

    def square(inner: Builder, scalars: Sequence[Atom]) -> Atom:
        step = inner.mul(difference(inner, scalars), scale)
        return inner.mul(step, step)

    total = fold_all(context, "add", (left, right), square, "math.dist")
    is_same = builder.apply("eq", total, zero)
    root = builder.mul(builder.apply("sqrt", builder.select(is_same, one, total)), back)
    is_infinite = builder.apply("eq", largest, infinity)
    return weak(builder.select(is_same, zero, builder.select(is_infinite, infinity, root)))


def exact_sum(context: Context, seq: Value) -> Value:
    """math.fsum: a float64 sum; its rounding is that of a plain sum"""
    found = _sequence(context, "fsum", seq)
    return weak(
        fold_all(context, "add", (found,), lambda builder, one: builder.convert(one[0], F64), "math.fsum")
    )


def _sequence(context: Context, name: str, values: Value) -> Staged:
    found = as_array(context, values)
    if len(found.shape) != 1:
        raise UnsupportedArgument(
            f"math.{name}", "a sequence of numbers is expected", context.span, _instead(name)
        )
    return found


def near(context: Context, a: Value, b: Value, *, rel_tol: Value = 1e-09, abs_tol: Value = 0.0) -> Value:
    """math.isclose: |a - b| ≤ max(rel_tol·max(|a|, |b|), abs_tol), or a = b (two infinities)"""
    builder = context.builder
    x, y, relative, absolute = (number(context, "isclose", value) for value in (a, b, rel_tol, abs_tol))
    largest = builder.apply("max", builder.apply("abs", x), builder.apply("abs", y))
    limit = builder.apply("max", builder.mul(relative, largest), absolute)
    is_near = builder.apply("le", builder.apply("abs", builder.sub(x, y)), limit)
    is_finite = builder.apply("lt", largest, builder.constant(INFINITY, largest))
    return weak(builder.apply("or", builder.apply("and", is_near, is_finite), builder.apply("eq", x, y)))


def parts_of_number(context: Context, x: Value) -> Value:
    """math.modf: what is behind the point, and what is in front of it"""
    found = Scalar(number(context, "modf", x))
    return tuple(weak(atom(context, part)) for part in context.call(np.modf, found))  # type: ignore[attr-defined]


CALLS: dict[Callable[..., object], StagedCall] = {
    **{
        getattr(math, name): row(name, prim)
        for name, prim in (
            ("sqrt", "sqrt"),
            ("cbrt", "cbrt"),
            ("exp", "exp"),
            ("expm1", "expm1"),
            ("exp2", "exp2"),
            ("log1p", "log1p"),
            ("log2", "log2"),
            ("log10", "log10"),
            ("sin", "sin"),
            ("cos", "cos"),
            ("tan", "tan"),
            ("asin", "asin"),
            ("acos", "acos"),
            ("atan", "atan"),
            ("sinh", "sinh"),
            ("cosh", "cosh"),
            ("tanh", "tanh"),
            ("asinh", "asinh"),
            ("acosh", "acosh"),
            ("atanh", "atanh"),
            ("erf", "erf"),
            ("erfc", "erfc"),
            ("lgamma", "lgamma"),
            ("gamma", "gamma"),
            ("fabs", "abs"),
            ("isnan", "isnan"),
            ("isinf", "isinf"),
            ("isfinite", "isfinite"),
        )
    },
    math.atan2: row("atan2", "atan2", 2),
    math.pow: row("pow", "pow", 2),
    math.fmod: row("fmod", "fmod", 2),
    math.copysign: row("copysign", "copysign", 2),
    math.floor: whole("floor", "floor"),
    math.ceil: whole("ceil", "ceil"),
    math.trunc: whole("trunc", "trunc"),
    math.radians: scaled("radians", math.pi / 180.0),
    math.degrees: scaled("degrees", 180.0 / math.pi),
    math.log: logarithm,
    math.hypot: distance_from_origin,
    math.dist: distance,
    math.fsum: exact_sum,
    math.isclose: near,
    math.modf: parts_of_number,
}
