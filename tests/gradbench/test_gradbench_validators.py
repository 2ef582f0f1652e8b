"""The suite's comparison, and that what is not a number never passes it."""

from __future__ import annotations

import math
from typing import Any

import pytest
from gradbench_validators import difference, mismatches


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (1.0, 1.0 + 1e-4),
        (1e6, 1e6 + 100.0),
        (0.0, 9e-5),
        (3, 3.0),
        ([1.0, [2.0]], [1.0, [2]]),
        ({"a": [1, 2], "b": 0.5}, {"b": 0.5, "a": [1, 2]}),
    ],
)
def test_accepts(expected: Any, actual: Any) -> None:
    assert mismatches(expected, actual) == []


@pytest.mark.parametrize(
    ("expected", "actual", "where"),
    [
        (1.0, 1.001, "output"),
        (0.0, 2e-4, "output"),
        (3, 4, "output"),
        (1.0, math.nan, "output"),
        (1.0, math.inf, "output"),
        (math.nan, math.nan, "output"),
        (math.inf, math.inf, "output"),
        (1.0, None, "output"),
        (1.0, "1.0", "output"),
        (1.0, [1.0], "output"),
        ([1.0, 2.0], [1.0], "output"),
        ([1.0, 2.0], [1.0, 3.0], "output[1]"),
        ([1.0], {"0": 1.0}, "output"),
        ({"a": 1.0}, {}, "output.a"),
        ({}, {"a": 1.0}, "output.a"),
        ({"a": [0.0, 1.0]}, {"a": [0.0, math.nan]}, "output.a[1]"),
    ],
)
def test_refuses(expected: Any, actual: Any, where: str) -> None:
    (words,) = mismatches(expected, actual)
    assert words.startswith(f"{where}: ")


def test_measure_is_relative_for_large_numbers_and_absolute_for_small_ones() -> None:
    assert difference(1e8, 1e8 + 2.0) == pytest.approx(1e-8)
    assert difference(0.1, 0.3) == pytest.approx(0.2)
