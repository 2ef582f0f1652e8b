"""`stop_gradient`: a value as it is, whose derivative is taken to be zero."""

from __future__ import annotations

from anadrome.api import pytree
from anadrome.api.opened import like, staged_leaf
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Var
from anadrome.frontend.arrays import atom
from anadrome.frontend.context import Context
from anadrome.frontend.values import Value


def stop_values(context: Context, value: Value) -> Value:
    """Every number and array of a value behind a barrier."""
    return pytree.map_leaves(lambda leaf: stop_leaf(context, leaf), value)


def stop_leaf(context: Context, leaf: Value) -> Value:
    """One number or array behind a barrier; what carries no derivative stays as it is."""
    staged = staged_leaf(context, leaf)
    if staged is None or not staged.dtype.is_float:
        return leaf
    source = atom(context, staged)

    def place(inner: Builder, indices: tuple[Var, ...]) -> Atom:
        element = inner.index(source, indices) if isinstance(source, Var) else source
        return inner.apply("stop_gradient", element)

    return like(context, context.builder.build(source.type.shape, place), staged)
