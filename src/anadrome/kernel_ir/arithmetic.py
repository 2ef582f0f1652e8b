"""Scalar expressions, folded where constants allow it: extents, places, conditions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from anadrome.dtypes import DType
from anadrome.kernel_ir.nodes import Compute, Const, Expr, i64
from anadrome.prims.monoids import identity_of
from anadrome.prims.table import PRIMS

ZERO = i64(0)
ONE = i64(1)


def compute(name: str, *args: Expr) -> Compute:
    """The operation of this name in the table."""
    return Compute(PRIMS[name], args)


def known(expr: Expr) -> int | None:
    """The number that an integer expression is, if it is a constant."""
    return int(expr.value) if isinstance(expr, Const) else None


def add(left: Expr, right: Expr) -> Expr:
    """left + right on i64"""
    first, second = known(left), known(right)
    if first is not None and second is not None:
        return i64(first + second)
    if first == 0:
        return right
    return left if second == 0 else compute("add", left, right)


def subtract(left: Expr, right: Expr) -> Expr:
    """left - right on i64"""
    first, second = known(left), known(right)
    if first is not None and second is not None:
        return i64(first - second)
    return left if second == 0 else compute("sub", left, right)


def multiply(left: Expr, right: Expr) -> Expr:
    """left · right on i64"""
    first, second = known(left), known(right)
    if first is not None and second is not None:
        return i64(first * second)
    if 0 in (first, second):
        return ZERO
    if first == 1:
        return right
    return left if second == 1 else compute("mul", left, right)


def row_number(indices: Sequence[Expr], shape: Sequence[Expr]) -> Expr:
    """Which row, or element, these indices are of an array of this shape, in row-major order:
    (i_0·n_1 + i_1)·n_2 + …; 0 without indices."""
    total = indices[0] if indices else ZERO
    for index, size in zip(indices[1:], shape[1:], strict=False):
        total = add(multiply(total, size), index)
    return total


def divide(left: Expr, right: Expr) -> Expr:
    """⌊left / right⌋ on i64 that are not negative"""
    first, second = known(left), known(right)
    if first is not None and second:
        return i64(first // second)
    return left if second == 1 else compute("truncdiv", left, right)


def least(left: Expr, right: Expr) -> Expr:
    """min(left, right) on i64"""
    first, second = known(left), known(right)
    if first is not None and second is not None:
        return i64(min(first, second))
    return compute("min", left, right)


def greatest(left: Expr, right: Expr) -> Expr:
    """max(left, right) on i64"""
    first, second = known(left), known(right)
    if first is not None and second is not None:
        return i64(max(first, second))
    return compute("max", left, right)


def at_least(least: int, expr: Expr) -> Expr:
    """max(expr, least) on i64"""
    return greatest(expr, i64(least))


def product(factors: Iterable[Expr]) -> Expr:
    """Π factors; 1 for none."""
    total: Expr = ONE
    for factor in factors:
        total = multiply(total, factor)
    return total


def neutral(operator: str, dtype: DType) -> Const:
    """The neutral element of a named monoid on a scalar type."""
    return Const(identity_of(operator, dtype), dtype)
