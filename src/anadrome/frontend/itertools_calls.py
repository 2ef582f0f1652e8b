"""The compiled forms of `itertools` and of `functools.reduce`.

Items that are known now are taken each when it is asked for, as Python does. Over run-time sequences the
result is one as well: its items are found by their index.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from anadrome.array_ir.nodes import Atom, Size, i64
from anadrome.dtypes import BOOL
from anadrome.errors.frontend import StaticCallFailed, StaticRequired, UnsupportedArgument, UnsupportedCall
from anadrome.frontend.arrays import as_array
from anadrome.frontend.comprehension import list_of, short_items
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.generator_expressions import at_once, unless_changed
from anadrome.frontend.growing import growing_list, iterated, plain_list
from anadrome.frontend.iterables import Iterated, integer, rows, size_of
from anadrome.frontend.iterators import Iterator as FrontIterator
from anadrome.frontend.iterators import (
    LazyGenerator,
    Pulled,
    begun,
    first_of,
    iterate,
    known_items,
    leave,
    made_iterator,
    source_of,
)
from anadrome.frontend.library.common import require
from anadrome.frontend.library.python_program import accumulated, accumulated_from, reduced, starred
from anadrome.frontend.reading import cell_watch
from anadrome.frontend.sizes import clamp_size, least_size, multiply_sizes
from anadrome.frontend.structures import has_staged
from anadrome.frontend.values import Array, Cell, Value
from anadrome.frontend.views import unraveled


# ---------------------------------------------------------------------------- one value of all
def reduce(context: Context, function: Value, iterable: Value, /, *initial: Value) -> Value:
    """functools.reduce"""
    if len(initial) > 1:
        raise UnsupportedArgument("functools.reduce", "more than one first value", context.span)
    items = short_items(context, iterable)
    if isinstance(items, Iterated):
        first, rest = (
            _first_and_rest(context, "functools.reduce", items) if not initial else (initial[0], items)
        )
        return context.call(reduced, function, rest, first)
    pulled = iter(items)
    found = initial or first_of(context, pulled)
    if not found:
        error = TypeError("reduce() of empty iterable with no initial value")
        raise StaticCallFailed("`reduce`", error, context.span)
    total = found[0]
    for item in pulled:
        total = context.call(function, total, item)
    return total


def _first_and_rest(context: Context, name: str, items: Iterated) -> tuple[Value, Iterated]:
    builder = context.builder
    words = f"TypeError: {name} of nothing, without a first value"
    require(context, builder.apply("gt", items.extent, i64(0)), "raise", words)
    return items.item(context, i64(0)), _part(context, items, i64(1), items.extent)


def _part(context: Context, items: Iterated, start: Size, stop: Size, step: int = 1) -> Iterated:
    """The items from a place on, that is inside, up to another."""
    builder = context.builder
    extent = clamp_size(context, builder.size("sub", stop, start))
    if step > 1:
        extent = builder.size("floordiv", builder.size("add", extent, i64(step - 1)), i64(step))

    def item(inner: Context, index: Atom) -> Value:
        offset = inner.builder.size("mul", i64(step), index)
        return items.item(inner, inner.builder.size("add", start, offset))

    return Iterated(extent, item, items.is_numbers)


def accumulate(context: Context, iterable: Value, func: Value = None, *, initial: Value = None) -> Value:
    """itertools.accumulate; sums and products of run-time numbers are scans"""
    function = operator.add if func is None else func
    items = short_items(context, iterable)
    if not isinstance(items, Iterated):
        call = functools.partial(context.call, function)
        return made_iterator(context, None, itertools.accumulate(items, call, initial=initial))
    leave(context, iterable)
    return made_iterator(context, at_once(context, lambda: _accumulated(context, items, function, initial)))


def _accumulated(context: Context, items: Iterated, function: Value, initial: Value) -> Value:
    """All that is accumulated, as a list or an array."""
    scan = next((scan for one, scan in _SCANS if function is one), None)
    if initial is not None and scan is None:
        return context.call(accumulated_from, initial, function, items)
    numbers = _numbers(context, "accumulate", items)
    if scan is not None and numbers.dtype is not BOOL:
        parts: list[Value] = [numbers] if initial is None else [[initial], numbers]
        return context.call(scan, context.call(np.concatenate, parts))
    if initial is not None:
        return context.call(accumulated_from, initial, function, items)
    return context.call(accumulated, function, context.call(list, numbers))


_SCANS = ((operator.add, np.cumsum), (operator.mul, np.cumprod))


# ---------------------------------------------------------------------------- parts
def islice(context: Context, iterable: Value, /, *bounds: Value) -> Value:
    """itertools.islice: an iterator is left behind what was asked for"""
    name = "itertools.islice"
    start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    start, step = 0 if start is None else start, 1 if step is None else step
    for word, value in (("start", start), ("step", step)):
        if not isinstance(value, int):
            raise StaticRequired(f"the argument `{word}` of `islice`", context.span)
        if value < (word == "step"):
            raise UnsupportedArgument(name, f"`{word}={value}`", context.span, "slice a list: `items[a:b:c]`")
    assert isinstance(start, int) and isinstance(step, int)
    owner = begun(context, iterable) if isinstance(iterable, LazyGenerator) else iterable
    whole = (
        owner.rest(context)
        if isinstance(owner, FrontIterator) and owner.sequence
        else source_of(context, owner)
    )
    if not isinstance(whole, Iterated):
        if stop is not None and not isinstance(stop, int):
            raise StaticRequired("the argument `stop` of `islice`", context.span)
        return made_iterator(context, None, itertools.islice(whole, start, stop, step))
    end = whole.extent if stop is None else least_size(context, integer(context, stop), whole.extent)
    if isinstance(owner, FrontIterator):
        taken = least_size(context, context.builder.size("max", end, i64(start)), whole.extent)
        owner.advance(context, context.call(operator.add, owner.position, size_of(taken)))
    return made_iterator(context, _part(context, whole, i64(start), end, step))


def pairwise(context: Context, iterable: Value, /) -> Value:
    """itertools.pairwise"""
    items = source_of(context, iterable)
    if not isinstance(items, Iterated):
        return made_iterator(context, None, itertools.pairwise(items))
    sequence = items
    if isinstance(iterable, Array):
        left = unless_changed(sequence, cell_watch(iterable.cell))
    else:
        left = at_once(context, lambda: list_of(context, sequence))
    right = _part(context, left, i64(1), left.extent)

    def pair(inner: Context, index: Atom) -> Value:
        return left.item(inner, index), right.item(inner, index)

    return made_iterator(context, Iterated(right.extent, pair), parts=(iterable,))


# ---------------------------------------------------------------------------- several iterables
def chain(context: Context, *iterables: Value) -> Value:
    """itertools.chain; run-time sequences of numbers are joined to one"""
    sides = [source_of(context, one) for one in iterables]
    if all(_is_short(context, side) for side in sides):
        return made_iterator(context, None, _chained(context, sides))

    def joined() -> Value:
        columns = [_column(context, side) for side in sides]
        return context.call(np.concatenate, [column for column in columns if column is not None])

    return made_iterator(context, at_once(context, joined), parts=iterables)


def chain_of(context: Context, iterable: Value, /) -> Value:
    """itertools.chain.from_iterable of iterables whose number is known"""
    items = source_of(context, iterable)
    if isinstance(items, Iterated) and not _is_short(context, items):
        help = "write it with two loops, or as a comprehension with two `for`s"
        raise UnsupportedCall("chain.from_iterable", context.span, "over a run-time sequence", help)
    return chain(context, *known_items(context, items))


def _is_short(context: Context, side: Iterated | Pulled) -> bool:
    """Whether items are known now and not many."""
    if not isinstance(side, Iterated):
        return True
    return side.static_extent is not None and side.static_extent <= context.config.static_repeats


def _chained(context: Context, sides: Sequence[Iterated | Pulled]) -> Pulled:
    for side in sides:
        yield from known_items(context, side)


def _column(context: Context, side: Iterated | Pulled) -> Value:
    """The numbers of one side as an array, or None where there are none."""
    if isinstance(side, Iterated):
        return _numbers(context, "chain", side)
    items = list(side)
    return _vector(context, "chain", as_array(context, items)) if items else None


def _numbers(context: Context, name: str, items: Iterated) -> Array:
    """The numbers of a run-time sequence as an array."""
    return _vector(context, name, plain_list(context, list_of(context, items)))


def _vector(context: Context, name: str, found: Value) -> Array:
    if isinstance(found, Array) and len(found.shape) == 1:
        return found
    reason = "over items that are no numbers, of which only the run knows how many there are"
    raise UnsupportedCall(name, context.span, reason, "go over them with `for`")


def product(context: Context, *iterables: Value, repeat: Value = 1) -> Value:
    """itertools.product"""
    if not isinstance(repeat, int):
        raise StaticRequired("the argument `repeat` of `product`", context.span)
    sides = [source_of(context, one) for one in iterables]
    known = [list(known_items(context, side)) if _is_short(context, side) else None for side in sides]
    lists = [items for items in known if items is not None] * repeat
    if (
        all(items is not None for items in known)
        and math.prod(map(len, lists)) <= context.config.static_repeats
    ):
        return made_iterator(context, None, itertools.product(*lists))
    pools = [
        _pool(context, one, side)
        if isinstance(side, Iterated)
        else iterated(context, growing_list(context, items or ()))
        for one, side, items in zip(iterables, sides, known, strict=True)
    ] * repeat
    extents = [pool.extent for pool in pools]

    def item(inner: Context, index: Atom) -> Value:
        places = unraveled(inner, inner.builder, index, extents)
        return tuple(pool.item(inner, place) for pool, place in zip(pools, places, strict=True))

    return made_iterator(context, Iterated(multiply_sizes(context, tuple(extents)), item))


def _pool(context: Context, iterable: Value, items: Iterated) -> Iterated:
    """The items of a run-time sequence as they are now: `product` takes them all when it is made."""
    if items.is_numbers or (isinstance(iterable, Array) and len(iterable.shape) > 1):
        return items
    if isinstance(iterable, Array):
        return rows(Array(Cell(context.read(iterable), context.scope)))
    found = iterate(context, list_of(context, items))
    assert isinstance(found, Iterated)
    return found


def chosen(kind: Callable[..., Iterable[Value]]) -> StagedCall:
    """itertools.combinations and its like, of items whose number is known"""

    def staged(context: Context, iterable: Value, /, r: Value = None) -> Value:
        items = list(known_items(context, _few(context, kind.__name__, iterable)))
        if (kind is not itertools.permutations and r is None) or has_staged(r):
            raise StaticRequired(f"the argument `r` of `{kind.__name__}`", context.span)
        return made_iterator(context, None, kind(items, r))

    return staged


def _few(context: Context, name: str, iterable: Value) -> Iterated | Pulled:
    """The items of an iterable, whose number is known."""
    items = source_of(context, iterable)
    if _is_short(context, items):
        return items
    help = "go over indices, `for i in range(len(x)): for j in range(i): ...`"
    raise UnsupportedCall(
        name, context.span, "over a sequence that is long, or as long as the run says", help
    )


def zip_longest(context: Context, *iterables: Value, fillvalue: Value = None) -> Value:
    """itertools.zip_longest of iterables whose lengths are known"""
    sides = [known_items(context, _few(context, "zip_longest", one)) for one in iterables]
    return made_iterator(context, None, itertools.zip_longest(*sides, fillvalue=fillvalue))


def places(context: Context, *shape: Value) -> Value:
    """np.ndindex"""
    sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    return product(context, *(context.call(range, size) for size in sizes))


def places_and_items(context: Context, x: Value, /) -> Value:
    """np.ndenumerate"""
    array = context.call(np.asarray, x)
    shape = context.call(getattr, array, "shape")
    return context.call(zip, places(context, shape), context.call(np.ravel, array))


def starmap(context: Context, function: Value, iterable: Value, /) -> Value:
    """itertools.starmap"""
    return context.call(starred, function, iterable)


CALLS: dict[Callable[..., object], StagedCall] = {
    functools.reduce: reduce,
    itertools.accumulate: accumulate,
    itertools.chain: chain,
    itertools.chain.from_iterable: chain_of,
    itertools.combinations: chosen(itertools.combinations),
    itertools.combinations_with_replacement: chosen(itertools.combinations_with_replacement),
    itertools.islice: islice,
    itertools.pairwise: pairwise,
    itertools.permutations: chosen(itertools.permutations),
    itertools.product: product,
    itertools.starmap: starmap,
    itertools.zip_longest: zip_longest,
}

PLACES: dict[Callable[..., object], StagedCall] = {np.ndenumerate: places_and_items, np.ndindex: places}
"""What goes over all places of an array."""
