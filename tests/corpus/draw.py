"""How a program's arguments are drawn: each of these gives a function of (generator, size).

`N` stands for the size: `normal(N, 3)` is a matrix of N rows, `indices(2 * N, below=N)` twice as many places.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Make = Callable[[np.random.Generator, int], Any]


@dataclass(frozen=True, slots=True)
class Affine:
    """factor · size + offset."""

    factor: int = 1
    offset: int = 0

    def __mul__(self, factor: int) -> Affine:
        return Affine(self.factor * factor, self.offset * factor)

    __rmul__ = __mul__

    def __add__(self, offset: int) -> Affine:
        return Affine(self.factor, self.offset + offset)

    def __sub__(self, offset: int) -> Affine:
        return self + -offset

    def at(self, size: int) -> int:
        """The number at this size."""
        return self.factor * size + self.offset


Dimension = int | Affine
N = Affine()


def dimension(value: Dimension, size: int) -> int:
    """A dimension at this size."""
    return value.at(size) if isinstance(value, Affine) else value


def _shape(dimensions: tuple[Dimension, ...], size: int) -> tuple[int, ...]:
    return tuple(dimension(value, size) for value in dimensions)


def normal(*dimensions: Dimension, scale: float = 1.0) -> Make:
    """Normally distributed floats, both signs; without dimensions a Python float."""

    def make(random: np.random.Generator, size: int) -> Any:
        drawn = scale * random.normal(size=_shape(dimensions, size))
        return drawn if dimensions else float(drawn)

    return make


def complex_normal(*dimensions: Dimension, scale: float = 1.0) -> Make:
    """Complex numbers with normally distributed parts; without dimensions a Python complex."""

    def make(random: np.random.Generator, size: int) -> Any:
        shape = _shape(dimensions, size)
        drawn = scale * (random.normal(size=shape) + 1j * random.normal(size=shape))
        return drawn if dimensions else complex(drawn)

    return make


def positive(*dimensions: Dimension, low: float = 0.4, high: float = 1.6) -> Make:
    """Floats between two bounds; without dimensions a Python float."""

    def make(random: np.random.Generator, size: int) -> Any:
        drawn = random.uniform(low, high, size=_shape(dimensions, size))
        return drawn if dimensions else float(drawn)

    return make


def ascending(length: Dimension) -> Make:
    """Floats that grow, a random step apart."""
    return lambda random, size: np.cumsum(random.uniform(0.2, 1.0, dimension(length, size)))


def definite(order: Dimension) -> Make:
    """A symmetric matrix with eigenvalues well above zero."""

    def make(random: np.random.Generator, size: int) -> Any:
        order_now = dimension(order, size)
        factor = random.normal(size=(order_now, order_now)) / np.sqrt(order_now)
        return factor @ factor.T + 1.5 * np.eye(order_now)

    return make


def dominant(order: Dimension) -> Make:
    """A square matrix whose diagonal outweighs its rows."""

    def make(random: np.random.Generator, size: int) -> Any:
        order_now = dimension(order, size)
        return random.normal(size=(order_now, order_now)) / order_now + 2.0 * np.eye(order_now)

    return make


def indices(length: Dimension, below: Dimension) -> Make:
    """Places among `below`, with duplicates."""
    return lambda random, size: random.integers(0, dimension(below, size), dimension(length, size))


def permutation(length: Dimension) -> Make:
    """Every place once."""
    return lambda random, size: random.permutation(dimension(length, size))


def whole(value: Dimension) -> Make:
    """A Python integer."""
    return lambda random, size: dimension(value, size)


def flags(length: Dimension) -> Make:
    """Booleans, the first of them true."""

    def make(random: np.random.Generator, size: int) -> Any:
        drawn = random.integers(0, 2, dimension(length, size)).astype(bool)
        drawn[:1] = True
        return drawn

    return make


def given(value: Any) -> Make:
    """The same at every size."""
    return lambda random, size: value


def with_values(make: Make, values: dict[int, float]) -> Make:
    """The drawn array with these elements set."""

    def changed(random: np.random.Generator, size: int) -> Any:
        drawn = make(random, size)
        for place, value in values.items():
            drawn.flat[place] = value
        return drawn

    return changed


def several(kind: Callable[..., Any], *makes: Make) -> Make:
    """A container of drawn values: `kind` is called with them."""
    return lambda random, size: kind(*(make(random, size) for make in makes))
