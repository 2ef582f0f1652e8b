"""Results as JSON: numbers and arrays of numbers, all of them finite.

JSON has no spelling of infinity and not-a-number, and the suite's comparison takes a difference that is not a
number for a small one. So a result that is not finite is an error here, never an output.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class NotFiniteError(ValueError):
    """A result holds an infinity or a not-a-number."""

    def __init__(self, array: np.ndarray) -> None:
        place = tuple(int(index) for index in np.argwhere(~np.isfinite(array))[0])
        where = f" at {list(place)} of {list(array.shape)}" if place else ""
        super().__init__(f"the result is {array[place]}{where}, not a finite number")


def floats(data: Any) -> np.ndarray:
    """Numbers from JSON as an array of float64."""
    return np.array(data, dtype=np.float64)


def number(result: Any) -> float:
    """A finite scalar for JSON; an array of one element counts as a scalar."""
    return float(finite(result).item())


def numbers(result: Any) -> Any:
    """A finite array for JSON, as lists of its rows."""
    return finite(result).tolist()


def finite(result: Any) -> np.ndarray:
    """The result as an array of float64, which must be finite."""
    array = np.asarray(result, dtype=np.float64)
    if not np.all(np.isfinite(array)):
        raise NotFiniteError(array)
    return array
