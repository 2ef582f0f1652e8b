"""The suite's comparison of outputs: same structure, and numbers close in the suite's measure.

    |a - b| / max(1, |a| + |b|) ≤ 1e-4

One thing is stricter here: a number that is not finite never passes. (A comparison `difference > tolerance`
lets it through.) `hello` alone is compared with `numpy.isclose`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

TOLERANCE = 1e-4


def mismatches(expected: Any, actual: Any, tolerance: float = TOLERANCE, path: str = "output") -> list[str]:
    """Where and how an output differs from the expected one; empty if it is valid."""
    return list(_differences(expected, actual, tolerance, path))


def difference(a: float, b: float) -> float:
    """The suite's measure: relative for large numbers, absolute for small ones."""
    return abs(a - b) / max(1.0, abs(a) + abs(b))


def _differences(expected: Any, actual: Any, tolerance: float, path: str) -> Iterator[str]:
    if isinstance(expected, dict):
        yield from _dict_differences(expected, actual, tolerance, path)
    elif isinstance(expected, list):
        yield from _list_differences(expected, actual, tolerance, path)
    elif not isinstance(actual, int | float) or isinstance(actual, bool):
        yield f"{path}: expected a number, got {type(actual).__name__}"
    elif isinstance(expected, int) and isinstance(actual, int):
        if expected != actual:
            yield f"{path}: {expected} != {actual}"
    elif not math.isfinite(actual) or not difference(expected, actual) <= tolerance:
        yield f"{path}: {expected} != {actual}"


def _dict_differences(expected: dict[str, Any], actual: Any, tolerance: float, path: str) -> Iterator[str]:
    if not isinstance(actual, dict):
        yield f"{path}: expected an object, got {type(actual).__name__}"
        return
    for key in sorted(expected.keys() | actual.keys()):
        if key not in expected:
            yield f"{path}.{key}: not expected"
        elif key not in actual:
            yield f"{path}.{key}: missing"
        else:
            yield from _differences(expected[key], actual[key], tolerance, f"{path}.{key}")


def _list_differences(expected: list[Any], actual: Any, tolerance: float, path: str) -> Iterator[str]:
    if not isinstance(actual, list):
        yield f"{path}: expected an array, got {type(actual).__name__}"
    elif len(expected) != len(actual):
        yield f"{path}: expected {len(expected)} elements, got {len(actual)}"
    else:
        for i, (left, right) in enumerate(zip(expected, actual, strict=True)):
            yield from _differences(left, right, tolerance, f"{path}[{i}]")
