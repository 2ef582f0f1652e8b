"""Comparing what Python gave with what we gave: structure, dtypes and values."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def difference(expected: Any, got: Any, place: str = "result") -> str:
    """The first difference between two results, or nothing.

    A list of numbers or of arrays of one shape may come back as an array, and an array of what an empty list
    would have held is of that type: both are documented of results.
    """
    if isinstance(expected, list) and isinstance(got, np.ndarray):
        stacked = _stacked(expected, got)
        is_weak = isinstance(stacked, np.ndarray) and are_widened(expected, got)
        return _array_difference(stacked.astype(got.dtype) if is_weak else stacked, got, place)
    expected_parts, got_parts = parts(expected), parts(got)
    if expected_parts is None and got_parts is None:
        return _leaf_difference(expected, got, place)
    if expected_parts is None or got_parts is None or type(expected).__name__ != type(got).__name__:
        return f"{place} is {describe(got)}, not {describe(expected)}"
    if list(expected_parts) != list(got_parts):
        return f"{place} has the parts {list(got_parts)}, not {list(expected_parts)}"
    found = (difference(part, got_parts[name], f"{place}[{name!r}]") for name, part in expected_parts.items())
    return next(filter(None, found), "")


def _stacked(expected: list[Any], got: np.ndarray) -> Any:
    try:
        return np.array(expected, dtype=None if expected else got.dtype).reshape(
            got.shape if not expected else np.shape(expected)
        )
    except ValueError:
        return expected


def parts(value: Any) -> dict[object, Any] | None:
    """The parts of a container by their names; None for a leaf."""
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    if isinstance(value, dict):
        return dict(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: getattr(value, one.name) for one in fields(value)}
    return None


NUMBERS = bool | int | float | complex | np.generic


def _leaf_difference(expected: Any, got: Any, place: str) -> str:
    if isinstance(expected, np.ndarray | NUMBERS) and isinstance(got, np.ndarray | NUMBERS):
        return _array_difference(expected, got, place)
    if type(expected) is type(got) and bool(expected == got):
        return ""
    return f"{place} is {describe(got)}, not {describe(expected)}"


def _array_difference(expected: Any, got: Any, place: str) -> str:
    if isinstance(expected, list):
        return f"{place} is {describe(got)}, not {describe(expected)}"
    one, two = np.asarray(expected), np.asarray(got)
    if not one.size and not two.size and one.shape == (0,) == two.shape[:1]:
        return ""  # np.array([])
    if one.shape != two.shape:
        return f"{place} has the shape {two.shape}, not {one.shape}"
    is_of_nothing = not one.size and one.dtype == np.float64  # as np.array([]) is
    is_of_nothing |= not one.shape and one.dtype == np.int64 and not one and not two  # as sum([]) is
    if one.dtype != two.dtype and not is_of_nothing and not is_widened(expected, two):
        return f"{place} is of {two.dtype}, not {one.dtype}"
    rtol = 1e-4 if one.dtype in (np.float32, np.complex64) else 1e-9
    with np.errstate(all="ignore"):
        is_same = np.all(np.isclose(two, one, rtol=rtol, atol=1e-9, equal_nan=True) | _is_lost(one, two))
    return "" if is_same else f"{place} is {two.tolist()}, not {one.tolist()}"


def _is_lost(one: np.ndarray, two: np.ndarray) -> Any:
    """Complex numbers that are not finite: which infinities and NaN they have depends on the C library."""
    if one.dtype.kind != "c":
        return False
    return ~np.isfinite(one) & ~np.isfinite(two)


def is_widened(expected: object, got: np.ndarray) -> bool:
    """A Python number may be held as a wider one where another way through the program makes it one."""
    return got.dtype.name in WIDER.get(type(expected), ())


def are_widened(expected: list[Any], got: np.ndarray) -> bool:
    """Whether a list, of lists perhaps, has Python's numbers alone, which the array may hold."""
    return bool(expected) and all(
        are_widened(one, got) if isinstance(one, list) else is_widened(one, got) for one in expected
    )


WIDER: dict[type, tuple[str, ...]] = {
    bool: ("int64", "float64", "complex128"),
    int: ("float64", "complex128"),
    float: ("complex128",),
}
"""Python's numbers, which adapt their type anyway -> the types that may hold them. NumPy's keep theirs."""


def describe(value: object) -> str:
    """A value, for people."""
    return f"{type(value).__name__} {value!r}"
