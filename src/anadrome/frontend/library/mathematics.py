"""The functions of `math`: they take numbers, and give Python numbers, which adapt their type (NEP 50)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom
from anadrome.dtypes import F64, I64
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.arrays import as_array, atom, type_of
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library.common import INFINITY
from anadrome.frontend.library.reductions import fold_all
from anadrome.frontend.values import Array, Scalar, Staged, Value


def number(context: Context, name: str, value: Value) -> Atom:
    """An operand of a `math` function as a float64; an array is refused, as Python does."""
    if isinstance(value, Array | np.ndarray | list | tuple):
        raise UnsupportedArgument(
            f"math.{name}", "an array where a number is expected", context.span, _instead(name)
        )
    return atom(context, value, F64)


def _instead(name: str) -> str:
    return f"use `np.{name}`, which works elementwise" if hasattr(np, name) else ""


def row(python_name: str, prim: str, count: int = 1) -> StagedCall:
    """A function of `math` that is a row of the primitive table."""

    def staged(context: Context, *values: Value) -> Value:
        if len(values) != count:
            raise UnsupportedArgument(
                f"math.{python_name}", f"{len(values)} arguments, not {count}", context.span
            )
        return weak(context.builder.apply(prim, *(number(context, python_name, value) for value in values)))

    return staged


def weak(found: Atom) -> Scalar:
    """A Python number."""
    return Scalar(found, is_weak=found.type.dtype in (I64, F64))


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
    found = builder.apply("log", number(context, "log", x))
    if base is math.e:
        return weak(found)
    return weak(builder.div(found, builder.apply("log", number(context, "log", base))))


def distance_from_origin(context: Context, *values: Value) -> Value:
    """math.hypot of any number of coordinates"""
    builder = context.builder
    total: Atom = builder.constant(0.0, number(context, "hypot", 0.0))
    for position, value in enumerate(values):
        found = number(context, "hypot", value)
        total = builder.apply("abs", found) if position == 0 else builder.apply("hypot", total, found)
    return weak(total)


def distance(context: Context, p: Value, q: Value) -> Value:
    """math.dist: √Σ(p - q)²"""
    left, right = as_array(context, p), as_array(context, q)
    if len(left.shape) != 1 or len(right.shape) != 1:
        raise UnsupportedArgument("math.dist", "points are sequences of numbers", context.span)

    def square(builder: Builder, scalars: Sequence[Atom]) -> Atom:
        step = builder.sub(builder.convert(scalars[0], F64), builder.convert(scalars[1], F64))
        return builder.mul(step, step)

    return weak(context.builder.apply("sqrt", fold_all(context, "add", (left, right), square, "math.dist")))


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
    return Scalar(builder.apply("or", builder.apply("and", is_near, is_finite), builder.apply("eq", x, y)))


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
}
