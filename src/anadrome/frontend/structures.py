"""Static containers that hold staged values: going into them, and putting them together again."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, ItemsView, Iterator, ValuesView
from typing import Any

import numpy as np

from anadrome.frontend.values import Value, is_staged

Rebuild = Callable[[Iterator[Value]], Value]
"""Takes as many leaves as were found and gives the container again."""


def is_number(value: Value) -> bool:
    """Whether a value is a static number."""
    return isinstance(value, bool | int | float | np.generic)


def is_dataclass_instance(value: Value) -> bool:
    """Whether a value is an instance of a dataclass."""
    return dataclasses.is_dataclass(value) and not isinstance(value, type) and not is_staged(value)


def children(value: Value) -> list[Value] | None:
    """The parts of a container in order, or None for anything else."""
    if is_staged(value) or isinstance(value, str | bytes | int | float):
        return None
    if isinstance(value, tuple | list):
        return list(value)
    if isinstance(value, dict):
        return list(value.values())
    if is_dataclass_instance(value) and type(value).__module__.partition(".")[0] != "anadrome":
        return [getattr(value, field.name) for field in dataclasses.fields(value)]  # type: ignore[arg-type]
    return None


def with_children(value: Any, parts: list[Value]) -> Value:
    """A container like `value` with other parts."""
    if isinstance(value, list):
        return parts
    if isinstance(value, tuple):
        return value._make(parts) if hasattr(value, "_make") else tuple(parts)
    if isinstance(value, dict):
        return dict(zip(value, parts, strict=True))
    new = object.__new__(type(value))
    for field, part in zip(dataclasses.fields(value), parts, strict=True):
        object.__setattr__(new, field.name, part)
    return new


def is_alike(left: Value, right: Value) -> bool:
    """Whether two containers have the same type, length and keys."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right)
    one, two = children(left), children(right)
    return one is not None and two is not None and len(one) == len(two)


def has_staged(value: Value) -> bool:
    """Whether a value is staged or a container with a staged value somewhere in it."""
    if is_staged(value):
        return True
    parts = list(value) if isinstance(value, ValuesView | ItemsView) else children(value)
    return parts is not None and any(has_staged(part) for part in parts)


def flatten(value: Value, is_leaf: Callable[[Value], bool]) -> tuple[list[Value], Rebuild]:
    """The leaves of a nested container and how to put others in their place; other values stay."""
    if is_leaf(value):
        return [value], next
    parts = children(value)
    if parts is None:
        return [], lambda _: value
    leaves: list[Value] = []
    rebuilds: list[Rebuild] = []
    for part in parts:
        found, rebuild = flatten(part, is_leaf)
        leaves += found
        rebuilds.append(rebuild)
    if not leaves:
        return [], lambda _: value
    return leaves, lambda new: with_children(value, [rebuild(new) for rebuild in rebuilds])


def is_same_structure(before: Value, after: Value) -> bool:
    """Whether two values have leaves in the same places and equal static parts."""
    is_leaf = [is_staged(value) or is_number(value) for value in (before, after)]
    if any(is_leaf):
        return all(is_leaf)
    if children(before) is None or children(after) is None:
        return before is after or (type(before) is type(after) and bool(before == after))
    if not is_alike(before, after):
        return False
    mine, theirs = children(before) or [], children(after) or []
    return all(is_same_structure(one, two) for one, two in zip(mine, theirs, strict=True))
