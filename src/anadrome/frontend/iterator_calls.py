"""The compiled forms of `zip`, `enumerate`, `reversed` and `map`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from anadrome.array_ir.nodes import i64
from anadrome.errors.frontend import StaticCallFailed, StaticRequired
from anadrome.errors.objects import LeftIterator
from anadrome.frontend.arrays import as_array, describe
from anadrome.frontend.complex_numbers.parts import complex_of
from anadrome.frontend.context import Context
from anadrome.frontend.growing import growing_list, iterated
from anadrome.frontend.iterables import (
    ItemAt,
    Iterated,
    integer,
    rows,
)
from anadrome.frontend.iterators import (
    Iterator,
    LazyGenerator,
    Pulled,
    first_of,
    known_items,
    leave,
    made_iterator,
    source_of,
)
from anadrome.frontend.sizes import agree, least_size
from anadrome.frontend.values import Array, Scalar, Value


def zipped(context: Context, parts: Sequence[Value], is_strict: bool = False) -> Iterator:
    """zip: over run-time sequences one of the least extent, else their items side by side."""
    sides = [source_of(context, part) for part in parts]
    moved = [part for part in parts if isinstance(part, Iterator) and part.sequence is not None]
    if len(set(map(id, moved))) < len(moved):
        raise LeftIterator("an iterator", context.span, context.span)
    sequences = _sequences(context, parts, sides)
    if not sequences:
        return made_iterator(context, None, _side_by_side(context, sides, is_strict), parts)
    extent = sequences[0].extent
    for other in sequences[1:]:
        if is_strict:
            extent = agree(context, extent, other.extent, "zip")
        else:
            extent = least_size(context, extent, other.extent)
    hint = next((part.checkpoint for part in sequences if part.checkpoint is not None), None)
    whole = Iterated(
        extent,
        lambda inner, index: tuple(part.item(inner, index) for part in sequences),
        checkpoint=hint,
        lazy=lambda inner, index: tuple((part.lazy or part.item)(inner, index) for part in sequences),
    )
    if all(other.extent == extent for other in sequences):
        return made_iterator(context, whole, parts=parts)
    leave(context, *parts)  # how many items of one are left, only the run knows
    return made_iterator(context, whole)


def _sequences(
    context: Context, parts: Sequence[Value], sides: Sequence[Iterated | Pulled]
) -> list[Iterated] | None:
    """The run-time sequences that all parts are, or None where one is known now."""
    if any(isinstance(side, Iterated) and side.static_extent is None for side in sides):
        sides = [_beside_runtime(context, part, side) for part, side in zip(parts, sides, strict=True)]
    found = [side for side in sides if isinstance(side, Iterated)]
    return found if len(found) == len(sides) else None


def _beside_runtime(context: Context, part: Value, found: Iterated | Pulled) -> Iterated | Pulled:
    """A list or array beside a sequence of run-time extent is one as well, staged anew if it may change."""
    if isinstance(part, list) and part and id(part) in context.records:
        context.grows(part, StaticRequired("the length of what stands beside this list", context.span))
    if isinstance(part, list | tuple) and part:
        return iterated(context, growing_list(context, part))
    if not isinstance(part, np.ndarray):
        return found
    if part.dtype.kind == "c" and part.ndim:
        return source_of(context, complex_of(context, part))
    array = as_array(context, part)
    return rows(array) if isinstance(array, Array) else found


def _side_by_side(context: Context, sides: Sequence[Iterated | Pulled], is_strict: bool) -> Pulled:
    """`zip` of items that are known now: it ends with the first side that ends."""
    columns = [iter(known_items(context, side)) for side in sides]
    while columns:
        row: list[Value] = []
        for column in columns:
            found = first_of(context, column)
            if not found:
                if is_strict and (row or any(first_of(context, other) for other in columns[1:])):
                    error = ValueError("the arguments have different lengths")
                    raise StaticCallFailed("`zip`", error, context.span)
                return
            row.append(found[0])
        yield tuple(row)


def enumerated(context: Context, part: Value, start: Value = 0) -> Iterator:
    """enumerate"""
    items = source_of(context, part)
    if not isinstance(items, Iterated):
        known = enumerate(items, start) if isinstance(start, int) else ()
        return made_iterator(context, None, known, (part,))
    sequence, first = items, integer(context, start)

    def numbered(item: ItemAt) -> ItemAt:
        return lambda inner, at: (Scalar(inner.builder.size("add", first, at), is_weak=True), item(inner, at))

    whole = replace(sequence.through(sequence.extent, numbered), is_numbers=False)
    return made_iterator(context, whole, parts=(part,))


def turned(context: Context, part: Value) -> Iterator:
    """reversed"""
    if isinstance(part, Iterator | LazyGenerator | set | frozenset):
        raise StaticCallFailed("`reversed`", TypeError(f"{describe(part)} has no order"), context.span)
    items = source_of(context, part)
    if not isinstance(items, Iterated):
        known = _backwards(part, len(part)) if isinstance(part, list) else list(items)[::-1]
        return made_iterator(context, None, known)
    last = context.builder.size("sub", items.extent, i64(1))
    whole = Iterated(
        items.extent,
        lambda inner, index: items.item(inner, inner.builder.size("sub", last, index)),
        items.is_numbers,
        items.checkpoint,
    )
    return made_iterator(context, whole)


def _backwards(items: list[Value], length: int) -> Pulled:
    """The items of a list that had this length, from the last on, as it is when each is asked for."""
    for position in range(length - 1, -1, -1):
        if position < len(items):
            yield items[position]


def mapped(context: Context, function: Value, parts: Sequence[Value]) -> Iterator:
    """map: the function is called when an item is asked for."""
    rows_ = zipped(context, parts)
    whole = rows_.sequence
    if whole is None:
        return made_iterator(
            context, None, (context.call(function, *_row(item)) for item in rows_.pulled(context)), (rows_,)
        )
    return made_iterator(
        context,
        Iterated(whole.extent, lambda inner, index: inner.call(function, *_row(whole.item(inner, index)))),
        parts=(rows_,),
    )


def _row(item: Any) -> tuple[Value, ...]:
    return item  # type: ignore[no-any-return]
