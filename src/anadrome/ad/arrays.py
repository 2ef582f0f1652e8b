"""Arithmetic on whole arrays, written as parfors: what tangents and adjoints of arrays are combined with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import TRUE, ArrayType, Atom, Bounds, Size, Var, i64


def element(builder: Builder, array: Atom, indices: Sequence[Atom]) -> Atom:
    """`array[indices]`, the scalar itself where there are no indices."""
    if not indices:
        return array
    assert isinstance(array, Var)
    return builder.index(array, indices)


def add_arrays(builder: Builder, left: Atom, right: Atom) -> Atom:
    """left + right, elementwise; scalars are arrays of shape ()."""
    return builder.build(
        left.type.shape,
        lambda inner, at: inner.add(element(inner, left, at), element(inner, right, at)),
    )


def sum_elements(builder: Builder, array: Atom) -> Atom:
    """The sum of every element."""
    if not array.type.shape:
        return array

    def level(inner: Builder, indices: tuple[Var, ...]) -> Atom:
        if len(indices) == len(array.type.shape):
            return element(inner, array, indices)
        return inner.reduce("add", array.type.shape[len(indices)], lambda b, i: level(b, (*indices, i)))

    return level(builder, ())


def move_first_axis(builder: Builder, array: Var, position: int) -> Var:
    """The array with axis 0 moved to `position` (the axes in between shift left)."""
    shape = array.type.shape
    moved = (*shape[1 : position + 1], shape[0], *shape[position + 1 :])
    return builder.array(
        moved,
        lambda inner, at: element(inner, array, (at[position], *at[:position], *at[position + 1 :])),
    )


def transpose(builder: Builder, matrix: Atom) -> Var:
    """The transpose of a matrix."""
    rows, columns = matrix.type.shape
    return builder.array((columns, rows), lambda inner, at: element(inner, matrix, (at[1], at[0])))


def reverse(builder: Builder, array: Var) -> Var:
    """The array with its first axis in opposite order."""
    extent = array.type.shape[0]
    return builder.stack(extent, lambda inner, i: inner.index(array, (flipped(inner, extent, i),)))


def flipped(builder: Builder, extent: Size, index: Atom) -> Atom:
    """extent - 1 - index"""
    last = builder.size("sub", extent, i64(1))
    return builder.sub(last, index)


def zeros_like(builder: Builder, atom: Atom) -> Atom:
    """Zeros of an atom's type."""
    assert isinstance(atom.type, ArrayType)
    return builder.zeros(atom.type)


def is_inside(builder: Builder, at: Sequence[Atom], array: Var) -> Atom:
    """Whether every index is inside its dimension."""
    each = map(partial(_is_within, builder), at, array.type.shape)
    return builder.chain("and", each) if at else TRUE


def _is_within(builder: Builder, index: Atom, size: Size) -> Atom:
    return builder.apply("and", builder.apply("ge", index, i64(0)), builder.apply("lt", index, size))


def where_inside(
    builder: Builder,
    at: Sequence[Atom],
    array: Var,
    bounds: Bounds,
    then: Callable[[Builder], Atom],
    other: Callable[[Builder], Atom],
) -> Atom:
    """What `then` gives, and what `other` gives where an ignored place is outside the array."""
    if bounds is not Bounds.IGNORED:
        return then(builder)
    (value,) = builder.branch(
        is_inside(builder, at, array), lambda branch: (then(branch),), lambda branch: (other(branch),)
    )
    return value


def read_inside(builder: Builder, array: Atom, at: Sequence[Atom], bounds: Bounds) -> Atom:
    """`array[at]`, zeros where an ignored place is outside; the array itself where there are no indices."""
    if not at:
        return array
    assert isinstance(array, Var)
    zero, row = builder.constant(0.0, array), array.type.shape[len(at) :]
    return where_inside(
        builder,
        at,
        array,
        bounds,
        lambda branch: branch.index(array, at),
        lambda branch: branch.full(row, zero),
    )
