"""Arithmetic of complex matrices, for the rules of library calls: a pair of real ones, the parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anadrome.ad.arrays import element
from anadrome.ad.library.matrices import negated, product, solved, total
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Part, Size, Stack, Var

Pair = tuple[Var, Var]
Number = tuple[Atom, Atom]


# ---------------------------------------------------------------------------- numbers
def times(b: Builder, z: Number, w: Number) -> Number:
    """z·w"""
    (x, y), (u, v) = z, w
    return b.sub(b.mul(x, u), b.mul(y, v)), b.add(b.mul(x, v), b.mul(y, u))


def conj_times(b: Builder, z: Number, w: Number) -> Number:
    """conj(z)·w"""
    (x, y), (u, v) = z, w
    return b.add(b.mul(x, u), b.mul(y, v)), b.sub(b.mul(x, v), b.mul(y, u))


def square_of_size(b: Builder, z: Number) -> Atom:
    """|z|²"""
    return b.add(b.mul(z[0], z[0]), b.mul(z[1], z[1]))


def at(b: Builder, pair: Pair, indices: Sequence[Atom]) -> Number:
    """An element."""
    return element(b, pair[0], indices), element(b, pair[1], indices)


# ---------------------------------------------------------------------------- matrices
def pair_entries(b: Builder, shape: Sequence[Size], entry: Callable[[Builder, Var, Var], Number]) -> Pair:
    """The matrix of this shape with `entry(inner, i, j)` everywhere."""

    def row(inner: Builder, i: Var) -> list[Part]:
        parts = inner.parfor(shape[1], lambda deeper, j: [Stack.of(part) for part in entry(deeper, i, j)])
        return [Stack.of(part) for part in parts]

    real, imag = b.parfor(shape[0], row)
    return real, imag


def pair_vector(b: Builder, size: Size, entry: Callable[[Builder, Var], Number]) -> Pair:
    """The vector of this size with `entry(inner, i)` everywhere."""
    real, imag = b.parfor(size, lambda inner, i: [Stack.of(part) for part in entry(inner, i)])
    return real, imag


def adjoint_of(b: Builder, matrix: Pair) -> Pair:
    """The conjugate transpose."""

    def entry(inner: Builder, i: Var, j: Var) -> Number:
        real, imag = at(inner, matrix, (j, i))
        return real, inner.neg(imag)

    return pair_entries(b, matrix[0].type.shape[::-1], entry)


def pair_product(
    b: Builder, left: Pair, right: Pair, adjoint_left: bool = False, adjoint_right: bool = False
) -> Pair:
    """left·right, either of them as its conjugate transpose."""

    def of(one: Var, other: Var) -> Var:
        return product(b, one, other, adjoint_left, adjoint_right)

    (x, y), (u, v) = left, right
    squares, cross, turned = of(y, v), of(x, v), of(y, u)
    if adjoint_left is adjoint_right:
        squares = negated(b, squares)
    real = total(b, [of(x, u), squares])
    return real, total(
        b, [negated(b, cross) if adjoint_right else cross, negated(b, turned) if adjoint_left else turned]
    )


def pair_sum(b: Builder, left: Pair, right: Pair) -> Pair:
    """left + right"""
    return total(b, [left[0], right[0]]), total(b, [left[1], right[1]])


def pair_difference(b: Builder, left: Pair, right: Pair) -> Pair:
    """left - right"""
    return total(b, [left[0], negated(b, right[0])]), total(b, [left[1], negated(b, right[1])])


def pair_solved(b: Builder, matrix: Pair, right: Pair, is_adjoint: bool) -> Pair:
    """matrix⁻¹·right, or of its conjugate transpose, by the real system of twice the size or its transpose:

    [[X, -Y], [Y, X]]·[U, V] = [P, Q]
    """
    n, columns = right[0].type.shape
    double = b.size("add", n, n)

    def block(inner: Builder, place: tuple[Var, ...]) -> Atom:
        (row, is_top), (column, is_left) = (_half_of(inner, index, n) for index in place)
        real, imag = at(inner, matrix, (row, column))
        beside = inner.select(is_top, inner.neg(imag), imag)
        return inner.select(inner.apply("eq", is_top, is_left), real, beside)

    def stacked(inner: Builder, place: tuple[Var, ...]) -> Atom:
        row, is_top = _half_of(inner, place[0], n)
        real, imag = at(inner, right, (row, place[1]))
        return inner.select(is_top, real, imag)

    system, both = b.array((double, double), block), b.array((double, columns), stacked)
    found = solved(b, system, both, is_adjoint)

    def parts(inner: Builder, i: Var, j: Var) -> Number:
        return inner.index(found, (i, j)), inner.index(found, (inner.apply("add", i, n), j))

    return pair_entries(b, (n, columns), parts)


def _half_of(b: Builder, index: Var, n: Size) -> Number:
    """The index in its half, and whether that is the first."""
    is_first = b.apply("lt", index, n)
    return b.select(is_first, index, b.apply("sub", index, n)), is_first
