"""`filter` and `map`: the items that are kept, and a function of every item.

filter(p, x):   keep = parfor i < n { yield stack p(x[i]) }; then a gather at the places where it holds
map(f, x):      parfor i < n { yield stack f(x[i]) }
"""

from __future__ import annotations

from collections.abc import Callable

from anadrome.array_ir.nodes import Stack, Var, i64
from anadrome.dtypes import BOOL
from anadrome.errors.parallel import UnsuitableValues
from anadrome.frontend.arrays import as_array, describe
from anadrome.frontend.context import Context
from anadrome.frontend.generator_expressions import made_list
from anadrome.frontend.masks import kept_places
from anadrome.frontend.operators import truth
from anadrome.frontend.overloads import own_truth
from anadrome.frontend.parallel.items import Items, items_of, sweep, swept_row
from anadrome.frontend.sizes import agree, give_range
from anadrome.frontend.values import Array, Value, is_staged


def filter_items(context: Context, predicate: Value, xs: Value) -> Value:
    """`ad.filter` in a program."""
    name = "ad.filter"
    items = items_of(context, name, xs)
    keep = (
        _tested(context, name, predicate, items)
        if callable(predicate) and not isinstance(predicate, Array)
        else _mask(context, name, predicate, items)
    )
    places = kept_places(context, keep)
    kept = Items(
        places.type.shape[0], lambda inner, at: items.item(inner, inner.builder.index(places, (at,)))
    )
    return _stacked(context, name, kept, lambda item: item)


def _mask(context: Context, name: str, mask: Value, items: Items) -> Var:
    mask = made_list(context, mask)
    found = as_array(context, mask)
    if not isinstance(found, Array) or found.dtype is not BOOL or len(found.shape) != 1:
        raise UnsuitableValues(name, "predicate", "a function or a vector of bools", describe(found))
    agree(context, found.shape[0], items.extent, name)
    return context.read(found)


def _tested(context: Context, name: str, predicate: Value, items: Items) -> Var:
    found = sweep(context, items)
    with context.filling(found.inner):
        give_range(context, found.index, i64(0), items.extent)
        value = own_truth(context, context.call(predicate, items.item(context, found.index)))
        keep = truth(context, value) if is_staged(value) else context.constant(bool(value), BOOL)
    return found.close(context, [Stack.of(keep)])[0]


def map_items(context: Context, function: Value, *xs: Value) -> Value:
    """`ad.map` in a program."""
    name = "ad.map"
    if not xs:
        raise UnsuitableValues(name, "xs", "at least one sequence", "nothing")
    parts = [items_of(context, name, one) for one in xs]
    extent = parts[0].extent
    for part in parts[1:]:
        extent = agree(context, extent, part.extent, name)
    items = Items(extent, lambda inner, at: tuple(part.item(inner, at) for part in parts))
    return _stacked(context, name, items, lambda item: context.call(function, *item))


def _stacked(context: Context, name: str, items: Items, change: Callable[..., Value]) -> Value:
    """What `change` makes of every item, leaf by leaf in arrays."""
    found = sweep(context, items)
    row = swept_row(context, name, found, change)
    results = found.close(context, [Stack.of(one) for one in row.atoms])
    return row.rebuild(iter([context.wrap(one) for one in results]))
