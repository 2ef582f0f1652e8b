"""Yields as sequential loops: what stands in for a parallel rule where there is none.

`ad.sweep.loop` differentiates them exactly, at zeros and for any operator, in memory linear in the values.
"""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.ad.arrays import element, where_inside
from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import Atom, Bounds, Operator, Size, Var
from anadrome.array_ir.operators import identity


def combine(
    builder: Builder, operator: Operator, left: Sequence[Atom], right: Sequence[Atom]
) -> tuple[Atom, ...]:
    """left ⊕ right; a named operator works elementwise on arrays."""
    if isinstance(operator, str):
        first, second = left[0], right[0]
        return (
            builder.build(
                first.type.shape,
                lambda inner, at: inner.apply(
                    operator, element(inner, first, at), element(inner, second, at)
                ),
            ),
        )
    sides = dict(zip((*operator.left, *operator.right), (*left, *right), strict=True))
    return builder.inline(operator.body, sides)


def neutral(builder: Builder, operator: Operator, stacked: Sequence[Var]) -> list[Atom]:
    """What combining nothing gives, for the rows of these arrays."""
    if not isinstance(operator, str):
        return list(operator.identity)
    row = stacked[0].type
    return [builder.full(row.shape[1:], identity(operator, row.dtype))]


def rows(builder: Builder, arrays: Sequence[Var], index: Var) -> list[Atom]:
    """The rows of one iteration."""
    return [builder.index(array, (index,)) for array in arrays]


def sequential_reduce(
    builder: Builder, operator: Operator, extent: Size, stacked: Sequence[Var]
) -> tuple[Var, ...]:
    """reduce ⊕"""
    return builder.loop(
        extent,
        neutral(builder, operator, stacked),
        lambda inner, index, carried: combine(inner, operator, carried, rows(inner, stacked, index)),
    )


def sequential_scan(
    builder: Builder, operator: Operator, extent: Size, stacked: Sequence[Var], exclusive: bool
) -> tuple[Var, ...]:
    """scan ⊕: every prefix is written into its row."""
    count = len(stacked)
    start = neutral(builder, operator, stacked)
    outputs = [builder.full(array.type.shape, number(0, array.type.dtype)) for array in stacked]

    def step(inner: Builder, index: Var, carried: tuple[Var, ...]) -> Sequence[Atom]:
        before, arrays = carried[:count], carried[count:]
        after = combine(inner, operator, before, rows(inner, stacked, index))
        written = before if exclusive else after
        return (
            *after,
            *(inner.update(array, (index,), row) for array, row in zip(arrays, written, strict=True)),
        )

    return builder.loop(extent, [*start, *outputs], step)[count:]


def sequential_accumulate(
    builder: Builder, operator: Operator, init: Var, extent: Size, stacked: Sequence[Var], bounds: Bounds
) -> Var:
    """accumulate ⊕: the places' arrays, then the values'."""
    *places, values = stacked

    def step(inner: Builder, index: Var, carried: tuple[Var, ...]) -> Sequence[Atom]:
        (array,) = carried
        at = rows(inner, places, index)

        def write(branch: Builder) -> Atom:
            value = branch.index(values, (index,))
            (row,) = combine(branch, operator, (branch.index(array, at),), (value,))
            return branch.update(array, at, row)

        return (where_inside(inner, at, array, bounds, write, lambda _: array),)

    (result,) = builder.loop(extent, (init,), step)
    return result
