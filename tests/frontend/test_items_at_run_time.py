"""Lists and tuples whose items are known, read and exchanged at places that only the run knows."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors.runtime import IndexOutOfBounds
from tests.frontend.oracle import agree

rng = np.random.default_rng(3)
SQUARES = [0.4 * rng.normal(size=(6, 6)) for _ in range(8)]
LAYERS = [(one, one[0]) for one in SQUARES]
NAMED = [{"w": one, "b": one[1]} for one in SQUARES]
X = rng.normal(size=(3, 6))
V = rng.normal(size=4)
VECTORS = [V * k for k in range(1, 7)]


def network(squares, x):
    for k in range(len(squares)):
        x = np.tanh(x @ squares[k])
    return np.sum(x)


def network_of_pairs(layers, x):
    for k in range(len(layers)):
        weight, bias = layers[k]
        x = np.tanh(x @ weight + bias)
    return np.sum(x)


def network_of_dicts(layers, x):
    k = 0
    while k < len(layers):
        x = np.tanh(x @ layers[k]["w"] + layers[k]["b"])
        k += 1
    return np.sum(x)


def in_another_order(vectors, x):
    total = 0.0
    for k in range(len(vectors)):
        total += np.sum(vectors[(k * 5) % len(vectors)]) * vectors[k][0] * x
    return total


def exchanged(vectors, x):
    own = list(vectors)
    for k in range(len(own)):
        own[k] = own[k] * x
    return np.sum(own[0]) + np.sum(own[3] * vectors[3])


def exchanged_and_read_by_its_name(x):
    first = 2.0 * x
    own = [first, x * 3.0, x * 4.0, x * 5.0, x * 6.0]
    for k in range(5):
        own[k] = own[k] * 2.0
    return np.sum(first) + np.sum(own[0])


def one_array_several_times(x):
    own = [x, x, x * 2.0, x]
    total = 0.0
    for k in range(4):
        total += own[k][1] * k
    return total


def written_between(x):
    own = [x * 1.0, x * 2.0, x * 3.0, x * 4.0, x * 5.0]
    second = own[1]
    total = 0.0
    for k in range(5):
        total += own[k][0] * k
    second[0] = 100.0
    for k in range(5):
        total += own[k][0] * k
    return total


def written_at_run_time(x):
    own = [x * 1.0, x * 2.0, x * 3.0, x * 4.0, x * 5.0]
    for k in range(5):
        own[k][0] = 1.0 * k
    return own[0][0] + own[4][0] + own[2][1]


def of_mixed_numbers(x, n):
    return x * [1.5, 2, np.float32(0.5)][n]


def pair_at(x, n):
    number, array = ((1, x), (2, x * 2.0), (3, x + 1.0))[n]
    return number * array


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (network, (SQUARES, X)),
        (network_of_pairs, (LAYERS, X)),
        (network_of_dicts, (NAMED, X)),
        (in_another_order, (VECTORS, 2.0)),
        (exchanged, (VECTORS, 2.0)),
        (exchanged_and_read_by_its_name, (V,)),
        (one_array_several_times, (V,)),
        (written_between, (V,)),
        (written_at_run_time, (V,)),
        (of_mixed_numbers, (2.0, 1)),
        *((pair_at, (V, n)) for n in (0, 2, -1, -3)),
    ],
)
def test_is_right(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    agree(function, *args)
    expected = function(*copy.deepcopy(args))
    np.testing.assert_allclose(ad.jit(function)(*args), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (network_of_pairs, (LAYERS, X)),
        (network_of_dicts, (NAMED, X)),
        (in_another_order, (VECTORS, 2.0)),
        (exchanged, (VECTORS, 2.0)),
    ],
)
def test_derivatives_by_the_items(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    ad.check_grads(function, args)


def test_an_index_outside() -> None:
    with pytest.raises(IndexOutOfBounds):
        ad.jit(pair_at)(V, 3)


def test_arguments_stay_as_they_are() -> None:
    def f(vectors):
        for k in range(len(vectors)):
            vectors[k][0] = 5.0
        return vectors[0][0]

    with pytest.raises(ad.AnadromeError, match="cannot write into an array that it did not make"):
        ad.jit(f)(VECTORS)


def test_items_of_other_shapes() -> None:
    def f(arrays, n):
        return np.sum(arrays[n])

    with pytest.raises(ad.AnadromeError):
        ad.jit(f)([np.ones(3), np.ones(4)], 1)


def test_many_items_are_put_together_once() -> None:
    def f(vectors, x):
        for k in range(len(vectors)):
            x = x * vectors[k]
        return np.sum(x)

    text = ad.show(f, [V] * 40, V)
    assert text.count("literal") == 1
    assert "update" not in text
