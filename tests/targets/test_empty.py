"""Arrays without elements, however large their other dimensions are: no memory is asked for, none is read."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import anadrome as ad

HUGE = 2**40
NONE = np.zeros((0, HUGE))
SOME = np.zeros(40, np.int64)

DERIVATIVES: dict[str, Callable[[], object]] = {
    "value": lambda: ad.jit(lambda x: np.sin(x) * 2.0)(NONE),
    "sum": lambda: ad.grad(lambda x: np.sum(x))(NONE),
    "nonlinear": lambda: ad.grad(lambda x: np.sum(np.sin(x) * x))(NONE),
    "single": lambda: ad.grad(lambda x: np.sum(x * x))(np.zeros((0, HUGE), np.float32)),
    "jvp": lambda: ad.jvp(lambda x: np.sin(x), (NONE,), (NONE,))[1],
    "vjp": lambda: ad.vjp(lambda x: np.sin(x), NONE)[1](NONE)[0],
    "hvp": lambda: ad.hvp(lambda x: np.sum(x**3), (NONE,), (NONE,)),
    "in place": lambda: ad.grad(lambda x: np.sum(doubled(x)))(NONE),
    "made inside": lambda: ad.jit(lambda n: np.zeros((0, n)))(HUGE),
}


def doubled(x):
    y = x.copy()
    y *= 2.0
    return y


@pytest.mark.parametrize("name", DERIVATIVES)
def test_nothing_takes_no_memory(name: str) -> None:
    assert np.shape(DERIVATIVES[name]()) == (0, HUGE)


def test_what_numpy_cannot_count_is_an_error() -> None:
    with pytest.raises(
        MemoryError, match=r"an array of shape \(1099511627776, 1099511627776, 0\), and NumPy"
    ):
        ad.jit(lambda n: (np.zeros(3), np.zeros((n, n, 0)), np.zeros(4)))(HUGE)
    with pytest.raises(MemoryError, match="more elements than can be counted"):
        ad.jit(lambda n: np.zeros((n, n)))(HUGE)
    with pytest.raises(MemoryError, match="1099511627776 elements of 8 bytes"):
        ad.jit(lambda x: np.sum(x, axis=0))(NONE)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, i, j: np.sin(x[i, j]),
        lambda x, i, j: [x[a, b] * 2.0 for a, b in zip(i, j, strict=True)],
        lambda x, i, j: sum(x[a, b] for a, b in zip(i, j, strict=True)),
        lambda x, i, j: [np.sum(x[a]) for a in i],
        lambda x, i, j: [x[a, b + 5] * x[a, b - 5] for a, b in zip(i, j, strict=True)],
        lambda x, i, j: [x[a, -1] for a in i],
    ],
)
def test_places_in_nothing(function: Callable[..., object]) -> None:
    """The element that is read until the check is looked at is not a huge row away from the array."""
    last = np.full(40, HUGE - 1)
    for call in (ad.jit(function), ad.grad(lambda x, i, j: np.sum(np.asarray(function(x, i, j))))):
        with pytest.raises(IndexError, match="index 0 is out of range for a dimension of size 0"):
            call(NONE, SOME, last)


def test_places_in_nothing_made_inside() -> None:
    def picks(n, i, j):
        x = np.zeros((0, n)) + 1.0
        return [x[a, b] * 2.0 for a, b in zip(i, j, strict=True)]

    with pytest.raises(IndexError, match="index 0 is out of range for a dimension of size 0"):
        ad.jit(picks)(HUGE, SOME, np.full(40, HUGE - 1))


def test_places_in_rows_of_constant_sizes() -> None:
    for row in ((16,), (16, 16), (100,), (16, 16, 16)):
        x = np.zeros((0, *row))
        with pytest.raises(IndexError, match="index 0 is out of range"):
            ad.jit(lambda x, i: [np.sum(x[a]) for a in i], config=ad.Config(small_dimension=100))(x, SOME)
        with pytest.raises(IndexError, match="index 0 is out of range"):
            ad.jit(lambda x, i: [x[a].ravel()[-1] for a in i])(x, SOME)
