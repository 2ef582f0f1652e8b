"""`stop_gradient`: a value as it is, whose derivative is taken to be zero."""

from __future__ import annotations

from anadrome.api import pytree
from anadrome.api.closures import like, staged_leaf
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Var
from anadrome.frontend.arrays import atom
from anadrome.frontend.context import Context
from anadrome.frontend.values import Array, Value
from anadrome.frontend.views import layout_of, view_of
from anadrome.prims.node import replace


def stop_values(context: Context, value: Value) -> Value:
    """Every number and array of a value behind a barrier."""
    return pytree.map_leaves(lambda leaf: stop_leaf(context, leaf), value)


def stop_leaf(context: Context, leaf: Value) -> Value:
    """One number or array behind a barrier; what carries no derivative stays as it is.

    To plain Python an array behind the barrier is the array itself, so it is a view of it.
    """
    staged = staged_leaf(context, leaf)
    if staged is None or not staged.dtype.is_float:
        return leaf
    if not isinstance(staged, Array):
        return like(context, context.builder.apply("stop_gradient", atom(context, staged)), staged)
    found = view_of(context, staged, staged.shape, lambda _, at: list(at), layout_of(staged), read=_stopped)
    assert found.view is not None
    return Array(found.cell, replace(found.view, stands_for=staged), found.list_depth)


def _stopped(builder: Builder, source: Var) -> Var:
    """The array with a barrier at every element."""
    return builder.array(
        source.type.shape, lambda inner, at: inner.apply("stop_gradient", inner.index(source, at))
    )
