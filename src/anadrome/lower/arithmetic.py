"""Scalar expressions of the kernel IR, folded where constants allow it: sizes, offsets, conditions."""

from __future__ import annotations

import math
from collections.abc import Iterable

from anadrome.dtypes import BOOL, DType
from anadrome.kernel_ir.nodes import Compute, Const, Expr, i64
from anadrome.prims.table import PRIMS

ZERO = i64(0)
ONE = i64(1)


def is_constant(expr: Expr, value: int) -> bool:
    """Whether an integer expression is this very number."""
    return isinstance(expr, Const) and expr.value == value


def add(left: Expr, right: Expr) -> Expr:
    """left + right on i64"""
    if isinstance(left, Const) and isinstance(right, Const):
        return i64(int(left.value) + int(right.value))
    if is_constant(left, 0):
        return right
    return left if is_constant(right, 0) else Compute(PRIMS["add"], (left, right))


def multiply(left: Expr, right: Expr) -> Expr:
    """left · right on i64"""
    if isinstance(left, Const) and isinstance(right, Const):
        return i64(int(left.value) * int(right.value))
    if is_constant(left, 0) or is_constant(right, 0):
        return ZERO
    if is_constant(left, 1):
        return right
    return left if is_constant(right, 1) else Compute(PRIMS["mul"], (left, right))


def product(factors: Iterable[Expr]) -> Expr:
    """Π factors; 1 for none."""
    total: Expr = ONE
    for factor in factors:
        total = multiply(total, factor)
    return total


def at_least_one(expr: Expr) -> Expr:
    """max(expr, 1) on i64"""
    return i64(max(1, int(expr.value))) if isinstance(expr, Const) else compute("max", expr, ONE)


def compute(name: str, *args: Expr) -> Expr:
    """The operation of this name in the table."""
    return Compute(PRIMS[name], args)


def number(value: float, dtype: DType) -> Const:
    """A constant of a scalar type."""
    if dtype.is_float:
        return Const(float(value), dtype)
    return Const(bool(value) if dtype is BOOL else int(value), dtype)


def identity(operator: str, dtype: DType) -> Const:
    """The neutral element of a named monoid on a scalar type."""
    match operator:
        case "add":
            return number(0, dtype)
        case "mul":
            return number(1, dtype)
        case "and":
            return Const(True, BOOL)
        case "or":
            return Const(False, BOOL)
        case "min" | "max":
            return _extreme(dtype, is_lowest=operator == "max")
        case _:
            raise KeyError(operator)


def _extreme(dtype: DType, *, is_lowest: bool) -> Const:
    if dtype.is_float:
        return Const(-math.inf if is_lowest else math.inf, dtype)
    if dtype.kind == "uint":
        return Const(0 if is_lowest else 2**dtype.bits - 1, dtype)
    half = 2 ** (dtype.bits - 1)
    return Const(-half if is_lowest else half - 1, dtype)


