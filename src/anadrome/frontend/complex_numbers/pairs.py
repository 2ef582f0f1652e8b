"""The product of complex numbers as an operator of reductions and scans."""

from __future__ import annotations

from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import ArrayType, Lambda, Var
from anadrome.dtypes import DType
from anadrome.frontend.complex_numbers import formulas


def pair_product(builder: Builder, dtype: DType) -> Lambda:
    """(x, y)·(u, v) with the identity (1, 0)"""
    left = (Var("x", ArrayType(dtype)), Var("y", ArrayType(dtype)))
    right = (Var("u", ArrayType(dtype)), Var("v", ArrayType(dtype)))
    inner = builder.child()
    inner.bind(*left, *right)
    body = inner.body(formulas.multiply(inner, left, right))
    return Lambda(left, right, body, (number(1.0, dtype), number(0.0, dtype)))
