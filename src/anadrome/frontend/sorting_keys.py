"""The keys of `sorted`, `min` and `max`: numbers, tuples of numbers, or values known while compiling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from anadrome.array_ir.nodes import FALSE
from anadrome.errors.frontend import StaticCallFailed, UnsupportedType
from anadrome.frontend.context import Context
from anadrome.frontend.growing import plain_list
from anadrome.frontend.overloads import holds_own
from anadrome.frontend.structures import RowList, has_staged, is_dataclass_instance
from anadrome.frontend.values import Array, Scalar, Value


def tuple_width(context: Context, items: Value) -> int:
    """How many numbers each item of a list has, where these are tuples of run-time numbers; else 0."""
    items = plain_list(context, items)
    if isinstance(items, RowList):
        ranks = {len(column.shape) for column in items.columns}
        rows: Sequence[Any] = [row_like(items)] if ranks == {1} else []
    else:
        rows = items if isinstance(items, list | tuple) and has_staged(items) else []
    are_flat = all(isinstance(row, tuple) and all(map(_is_number, row)) for row in rows)
    widths = {len(row) for row in rows} if are_flat else set()
    return widths.pop() if len(widths) == 1 else 0


def row_like(items: RowList) -> Any:
    """An item like those of a list: of the same containers, with any numbers in them."""
    return items.rebuild(iter([Scalar(FALSE)] * len(items.columns)))


def with_a_row(context: Context, items: Value) -> Value:
    """A list of run-time length as one of an item like its own."""
    items = plain_list(context, items)
    return [row_like(items)] if isinstance(items, RowList) else items


def is_compared(items: Value, keys: Value) -> bool:
    """Whether the order of a few items is found by comparisons of one with the other: where they are objects
    that are no parts of an array, or have keys that compare themselves."""
    is_plain = isinstance(items, list | tuple) and any(
        holds_own(item) and not is_dataclass_instance(item) for item in items
    )
    return is_plain or holds_own(keys)


def _is_number(value: Value) -> bool:
    return isinstance(value, Scalar | int | float | np.number | np.bool_)


def known_order(context: Context, name: str, keys: Value, is_reversed: bool) -> list[int]:
    """The places of keys in their order, equal ones as they stand, where all are known while compiling."""
    if not isinstance(keys, list | tuple) or has_staged(keys) or holds_own(keys):
        return []
    try:
        return sorted(range(len(keys)), key=lambda place: keys[place], reverse=is_reversed)
    except Exception as error:
        raise StaticCallFailed(f"`{name}`", error, context.span) from error


def key_width(context: Context, name: str, keys: Value) -> int:
    """How many numbers each key has where keys are tuples, 0 where they are numbers; others are refused."""
    width, found = tuple_width(context, keys), plain_list(context, keys)
    is_vector = isinstance(found, Array) and len(found.shape) == 1
    are_numbers = isinstance(found, list | tuple) and all(
        _is_number(one) or (isinstance(one, Array) and not one.shape) for one in found
    )
    if not width and not is_vector and not are_numbers:
        help = "give a number, or a tuple of numbers, as many for each item"
        raise UnsupportedType(
            f"a key of `{name}`", "anything but a number or a tuple of numbers", context.span, help
        )
    return width
