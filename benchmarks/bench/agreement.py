"""Checks before anything is timed: results agree, and a derivative is the slope of its objective."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Arguments = tuple[Any, ...]
Check = Callable[[Callable[..., Any], Callable[..., Any], Arguments], None]
"""Of an objective, which is C's where there is one, our derivative, and arguments of both."""


def assert_agree(one: Any, other: Any, tolerance: float = 1e-9) -> None:
    """Two results are the same up to rounding, which is measured against the greatest number of an array."""
    found, expected = list(_leaves(one)), list(_leaves(other))
    assert len(found) == len(expected), f"{len(found)} results and {len(expected)}"
    for mine, theirs in zip(found, expected, strict=True):
        assert mine.shape == theirs.shape, f"{mine.shape} and {theirs.shape}"
        share = 1e-3 if np.float32 in (mine.dtype, theirs.dtype) else tolerance
        np.testing.assert_allclose(mine, theirs, rtol=0.0, atol=share * np.max(np.abs(theirs)))


def inner_product(gradient: Any, directions: list[np.ndarray]) -> float:
    """A gradient times a direction."""
    return sum(
        float(np.sum(part * direction)) for part, direction in zip(_leaves(gradient), directions, strict=True)
    )


def is_slope(
    *by: int,
    product: Callable[[Any, list[np.ndarray]], Any] = inner_product,
    step: float = 1e-6,
    tolerance: float = 1e-5,
) -> Check:
    """A check that the derivative times a random direction, `product`, is the difference quotient of the
    objective along it; the direction goes through the arguments at the places `by`."""

    def check(objective: Callable[..., Any], derivative: Callable[..., Any], arguments: Arguments) -> None:
        random = np.random.default_rng(1)
        directions = [random.normal(size=np.shape(arguments[place])) for place in by]
        after, before = (
            _row(objective(*_moved(arguments, by, directions, sign * step))) for sign in (1.0, -1.0)
        )
        expected, found = (after - before) / (2.0 * step), _row(product(derivative(*arguments), directions))
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * np.max(np.abs(expected)))

    return check


def _moved(arguments: Arguments, by: tuple[int, ...], directions: list[np.ndarray], step: float) -> Arguments:
    moved = list(arguments)
    for place, direction in zip(by, directions, strict=True):
        moved[place] = arguments[place] + step * direction
    return tuple(moved)


def _row(result: Any) -> np.ndarray:
    """All numbers of a result, one after the other."""
    return np.concatenate([np.ravel(part) for part in _leaves(result)])


def _leaves(result: Any) -> Iterator[np.ndarray]:
    if isinstance(result, tuple | list):
        for part in result:
            yield from _leaves(part)
    else:
        yield np.asarray(result)
