"""Scalar expressions of the kernel IR, folded where constants allow it: sizes, offsets, conditions."""

from __future__ import annotations

from collections.abc import Iterable

from anadrome.array_ir.operators import identity
from anadrome.dtypes import DType
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


def at_least(least: int, expr: Expr) -> Expr:
    """max(expr, least) on i64"""
    return i64(max(least, int(expr.value))) if isinstance(expr, Const) else compute("max", expr, i64(least))


def compute(name: str, *args: Expr) -> Expr:
    """The operation of this name in the table."""
    return Compute(PRIMS[name], args)


def neutral(operator: str, dtype: DType) -> Const:
    """The neutral element of a named monoid on a scalar type."""
    return Const(identity(operator, dtype).value, dtype)
