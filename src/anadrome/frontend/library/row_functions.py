"""Functions of the user's own at every place or on every row: `np.vectorize`, `np.apply_along_axis`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Part, Stack, Var
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.arrays import as_array, atom, describe
from anadrome.frontend.context import Context, StagedCall, dtype_of
from anadrome.frontend.indexing import take_inside
from anadrome.frontend.library.common import axis_of, permuted, permuted_view
from anadrome.frontend.library.creation import new_of
from anadrome.frontend.library.reductions import require_elements
from anadrome.frontend.operators import broadcast_shapes, element
from anadrome.frontend.sizes import multiply_sizes
from anadrome.frontend.values import Array, Scalar, Value
from anadrome.frontend.views import unraveled


class Vectorized:
    """np.vectorize of a function of the program."""

    def __init__(self, pyfunc: Value, otypes: Value, excluded: Value) -> None:
        self.pyfunc, self.otypes, self.excluded = pyfunc, otypes, excluded

    def __anadrome_stage__(
        self, context: Context, args: tuple[Value, ...], kwargs: Mapping[str, Value]
    ) -> Value:
        return at_every_place(context, self, *args, **kwargs)


def vectorized(
    context: Context,
    pyfunc: Value,
    otypes: Value = None,
    doc: Value = None,
    excluded: Value = None,
    cache: Value = False,
    signature: Value = None,
) -> Value:
    """np.vectorize(f)"""
    if signature is not None:
        raise UnsupportedArgument("np.vectorize", "`signature`", context.span, "use `ad.vmap`")
    names = [] if otypes is None else [np.dtype(one).char for one in otypes]  # type: ignore[attr-defined]
    made = Vectorized(pyfunc, "".join(names), frozenset(excluded or ()))  # type: ignore[call-overload]
    context.made(made)
    return made


def at_every_place(context: Context, owner: Any, *args: Value, **kwargs: Value) -> Value:
    """The function on the elements of its arguments, broadcast together; results have the type of the first,
    which must be that of all, or those that `otypes` names."""
    name = "np.vectorize"
    function, excluded = context.attribute_of(owner, "pyfunc"), set(owner.excluded)
    named = [key for key in kwargs if key not in excluded]
    if named:
        reason = f"the argument `{named[0]}` by name"
        raise UnsupportedArgument(name, reason, context.span, "give it by position, or exclude it")
    if getattr(owner, "signature", None) is not None:
        raise UnsupportedArgument(name, "`signature`", context.span, "use `ad.vmap`")
    places = [place for place in range(len(args)) if place not in excluded]
    atoms = [atom(context, as_array(context, args[place])) for place in places]
    if not atoms:
        raise UnsupportedArgument(name, "a call without arguments to go over", context.span)
    shape = broadcast_shapes(context, [one.type.shape for one in atoms], name)
    types = owner.otypes or ""

    def results(builder: Builder, indices: tuple[Atom, ...]) -> list[Value]:
        given = list(args)
        for place, one in zip(places, atoms, strict=True):
            given[place] = Scalar(element(builder, one, shape, indices))
        before = context.widenings
        answer = context.call(function, *given, **kwargs)
        if context.widenings != before and not types:
            reason = "a function that gives whole numbers for some elements and floats for others"
            help = "NumPy takes the type of the first: say which, `otypes=[float]`"
            raise UnsupportedArgument(name, reason, context.span, help)
        return list(answer) if isinstance(answer, tuple) else [answer]

    if not shape:
        found = results(context.builder, ())
        numbers = [new_of(context, _typed(context, name, one, k, types)) for k, one in enumerate(found)]
        return tuple(numbers) if len(numbers) > 1 or len(types) > 1 else numbers[0]
    if not types:
        require_elements(context, name, shape, ())
    counted: list[int] = []

    def body(inner: Builder, index: Var) -> list[Part]:
        with context.filling(inner):
            found = results(inner, unraveled(context, inner, index, shape))
            counted.append(len(found))
            return [Stack.of(_typed(context, name, one, k, types)) for k, one in enumerate(found)]

    flat = context.builder.parfor(multiply_sizes(context, shape), body)
    arrays = [context.wrap(context.builder.reshape(one, shape)) for one in flat]
    return tuple(arrays) if counted[0] > 1 or len(types) > 1 else arrays[0]


def _typed(context: Context, name: str, value: Value, position: int, types: str) -> Atom:
    """A result of the function under the type it is stored with."""
    found = as_array(context, value)
    if found.shape:
        help = "give it one number for each place, or use `ad.vmap`"
        raise UnsupportedArgument(name, f"a function that gives {describe(value)}", context.span, help)
    if position >= len(types) and types:
        raise UnsupportedArgument(name, f"{len(types)} `otypes` and more results", context.span)
    own = atom(context, found)
    return context.builder.convert(own, dtype_of(np.dtype(types[position]), context.span)) if types else own


# ---------------------------------------------------------------------------- rows
def along_axis(
    context: Context, func1d: Value, axis: Value, arr: Value, *args: Value, **kwargs: Value
) -> Value:
    """np.apply_along_axis: the function on every vector along an axis; what it gives stands in its place"""
    name = "np.apply_along_axis"
    array = as_array(context, arr)
    if not isinstance(array, Array):
        raise UnsupportedArgument(name, "a number where an array is expected", context.span)
    rank = len(array.shape)
    along = axis_of(context, name, axis, rank)
    rows = permuted_view(context, array, [*(one for one in range(rank) if one != along), along])
    assert isinstance(rows, Array)
    outer = rows.shape[:-1]
    require_elements(context, name, outer, ())
    ranks: list[int] = []

    def row(inner: Builder, indices: tuple[Var, ...]) -> Atom:
        with context.filling(inner):
            own = rows
            for index in indices:
                part = take_inside(context, own, index)
                assert isinstance(part, Array)
                own = part
            found = atom(context, as_array(context, context.call(func1d, own, *args, **kwargs)))
            ranks.append(len(found.type.shape))
            if isinstance(found, Var) and found.type.shape:
                return inner.build(found.type.shape, lambda deeper, at: deeper.index(found, at))
            return found

    result = context.builder.build(outer, row) if outer else row(context.builder, ())
    if not isinstance(result, Var) or not result.type.shape:
        return new_of(context, result)
    own = ranks[0]
    count = len(outer)
    order = [*range(along), *range(count, count + own), *range(along, count)]
    return context.wrap(permuted(context.builder, result, order))


CALLS: dict[Callable[..., object], StagedCall] = {
    np.vectorize: vectorized,
    np.vectorize.__call__: at_every_place,
    np.apply_along_axis: along_axis,
}
