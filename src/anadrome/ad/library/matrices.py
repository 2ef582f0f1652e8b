"""Arithmetic of matrices, for the rules of library calls: products by BLAS, the rest as parfors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anadrome.ad.arrays import add_arrays, element, transpose
from anadrome.array_ir.build import Builder, as_var
from anadrome.array_ir.nodes import Atom, Library, Size, Var


def entries(builder: Builder, shape: Sequence[Size], entry: Callable[[Builder, Var, Var], Atom]) -> Var:
    """The matrix of this shape with `entry(inner, i, j)` everywhere."""
    return builder.array(shape, lambda inner, at: entry(inner, at[0], at[1]))


def product(
    builder: Builder, left: Var, right: Var, transpose_left: bool = False, transpose_right: bool = False
) -> Var:
    return builder.let_one(Library("matmul", (left, right), (transpose_left, transpose_right)))


def solved(builder: Builder, matrix: Var, right: Var, transposed: bool) -> Var:
    """op(matrix)⁻¹·right"""
    return builder.let_one(Library("solve", (matrix, right), (transposed,)))


def scaled(builder: Builder, matrix: Var, factor: Atom) -> Var:
    """factor·matrix"""
    return builder.array(matrix.type.shape, lambda inner, at: inner.mul(element(inner, matrix, at), factor))


def negated(builder: Builder, matrix: Var) -> Var:
    """-matrix"""
    return builder.array(matrix.type.shape, lambda inner, at: inner.neg(element(inner, matrix, at)))


def total(builder: Builder, terms: Sequence[Var]) -> Var:
    """The sum of some arrays."""
    result = terms[0]
    for term in terms[1:]:
        result = as_var(add_arrays(builder, result, term))
    return result


def both_halves(builder: Builder, matrix: Var) -> Var:
    """M + Mᵀ"""
    return as_var(add_arrays(builder, matrix, transpose(builder, matrix)))


def half(builder: Builder, matrix: Var, lower: bool = True) -> Var:
    """Φ(M): the lower or upper triangle with the diagonal halved."""

    def entry(inner: Builder, at: tuple[Var, ...]) -> Atom:
        value = element(inner, matrix, at)
        zero, middle = inner.constant(0.0, value), inner.mul(inner.constant(0.5, value), value)
        beside = inner.apply("gt" if lower else "lt", at[0], at[1])
        return inner.select(beside, value, inner.select(inner.apply("eq", at[0], at[1]), middle, zero))

    return builder.array(matrix.type.shape, entry)


def triangle(builder: Builder, matrix: Var, lower: bool) -> Var:
    """The lower or upper triangle, diagonal included, zeros elsewhere."""

    def entry(inner: Builder, at: tuple[Var, ...]) -> Atom:
        value = element(inner, matrix, at)
        return inner.select(inner.apply("ge" if lower else "le", *at), value, inner.constant(0.0, value))

    return builder.array(matrix.type.shape, entry)
