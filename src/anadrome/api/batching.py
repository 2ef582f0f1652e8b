"""`vmap` as a rule of staging: a function of one row becomes a parallel loop over rows.

The function is staged as it stands inside the loop, so its branches and loops stay what they are for each
row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anadrome.api import pytree
from anadrome.api.closures import Result, leaf_result, like_leaf, staged_leaf
from anadrome.api.patterns import RETURN_VALUES, refuse_sparse
from anadrome.api.pytree import Structure
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import ArrayType, Atom, Part, Size, Stack, Var
from anadrome.errors.api import AxisMismatch, SizeUnknown
from anadrome.errors.sparse import SparseTransformed
from anadrome.frontend.arrays import atom, describe
from anadrome.frontend.context import Context
from anadrome.frontend.sizes import agree
from anadrome.frontend.values import ScopeKind, Value

NOT_MAPPED = "give the same matrix to every row: `in_axes=(None, 0)` where it is the first of two arguments"

Axes = object
"""An axis, None for "as it is", or a container of these in the form of the arguments or results."""


def map_rows(
    context: Context,
    function: object,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    in_axes: Axes,
    out_axes: Axes,
) -> Value:
    """`function` on every row of the arguments, the results stacked."""
    leaves, structure = pytree.flatten(tuple(args))
    axes = prefix_axes("in_axes", tuple(in_axes) if isinstance(in_axes, list) else in_axes, structure)
    for axis, is_place in zip(axes, pytree.pattern_places(structure), strict=True):
        if is_place and axis is not None:
            raise SparseTransformed("vmap", "map over the rows of", NOT_MAPPED)
    mapped: dict[int, tuple[Var, int]] = {}
    extent: Size | None = None
    for position, (leaf, axis) in enumerate(zip(leaves, axes, strict=True)):
        if axis is None:
            continue
        array, place = _mapped_array(context, leaf, axis)
        mapped[position] = (array, place)
        size = array.type.shape[place]
        extent = size if extent is None else agree(context, extent, size, "the rows of `vmap`")
    if extent is None:
        raise AxisMismatch("at least one argument must have an axis that is mapped over")
    results: list[Result] = []
    outcome: list[Structure] = []

    def body(inner: Builder, index: Var) -> list[Part]:
        with context.filling(inner, ScopeKind.PARFOR), context.unprinted("`vmap` runs rows in any order"):
            rows = list(leaves)
            for position, (array, place) in mapped.items():
                rows[position] = context.wrap(_row(inner, array, place, index))
            value = context.call(function, *pytree.unflatten(structure, rows), **kwargs)
            found, result_structure = pytree.flatten(value)
            atoms: list[Atom] = []
            results.extend(leaf_result(context, leaf, atoms) for leaf in found)
            refuse_sparse("vmap", "stack results that hold", result_structure, RETURN_VALUES)
            outcome.append(result_structure)
        if any(inner.owns(size) for one in atoms for size in one.type.shape):
            raise SizeUnknown("vmap")
        return [Stack.of(one) for one in atoms]

    stacked = context.builder.parfor(extent, body)
    out = prefix_axes("out_axes", out_axes, outcome[0])
    found = [_result(context, leaf, axis, stacked) for leaf, axis in zip(results, out, strict=True)]
    return pytree.unflatten(outcome[0], found)


def _mapped_array(context: Context, leaf: Value, axis: int) -> tuple[Var, int]:
    staged = staged_leaf(context, leaf)
    rank = 0 if staged is None else len(staged.shape)
    if staged is None or not -rank <= axis < rank:
        raise AxisMismatch(f"an argument of type {describe(leaf)} has no axis {axis}")
    found = atom(context, staged)
    assert isinstance(found, Var)
    return found, axis % rank


def _row(builder: Builder, array: Var, axis: int, index: Var) -> Atom:
    """The part of an array at `index` of an axis."""
    if axis == 0:
        return builder.index(array, (index,))
    rest = (*array.type.shape[:axis], *array.type.shape[axis + 1 :])
    return builder.build(rest, lambda inner, at: inner.index(array, (*at[:axis], index, *at[axis:])))


def _result(context: Context, leaf: Result, axis: int | None, stacked: Sequence[Var]) -> Value:
    if leaf.position is None:
        return leaf.static
    if axis is None:
        raise AxisMismatch("a result that differs from row to row needs an axis in `out_axes`")
    array = stacked[leaf.position]
    rank = len(array.type.shape)
    if not -rank <= axis < rank:
        raise AxisMismatch(f"a result of {rank - 1} dimensions for each row has no place for an axis {axis}")
    return like_leaf(context, _axis_moved(context.builder, array, axis % rank), False, 0)


def _axis_moved(builder: Builder, array: Var, axis: int) -> Atom:
    """The array with its first axis at another place."""
    if axis == 0:
        return array
    assert isinstance(array.type, ArrayType)
    shape = array.type.shape
    moved = (*shape[1 : axis + 1], shape[0], *shape[axis + 1 :])
    return builder.build(moved, lambda inner, at: inner.index(array, (at[axis], *at[:axis], *at[axis + 1 :])))


def prefix_axes(what: str, axes: Axes, structure: Structure) -> list[int | None]:
    """The axis of every leaf, where one axis may stand for a whole container."""
    if axes is None or (isinstance(axes, int) and not isinstance(axes, bool)):
        return [axes] * len(pytree.leaf_paths(structure))
    found = pytree.parts_of(axes)
    parts = () if found is None else found[1]
    if found is None or not isinstance(structure, pytree.Node) or len(parts) != len(structure.parts):
        raise AxisMismatch(
            f"{what}={axes!r} does not match arguments or results of the structure "
            f"{pytree.describe(structure)}"
        )
    return [
        axis
        for part, inner in zip(parts, structure.parts, strict=True)
        for axis in prefix_axes(what, part, inner)
    ]
