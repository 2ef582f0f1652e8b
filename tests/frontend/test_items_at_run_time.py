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
    return x * [1.5, 2, x][n]


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


# ---------------------------------------------------------------------------- rows that are written
def table_of_zeros(x, k):
    table = [[0.0] * 3 for _ in range(3)]
    table[k][1] = x
    return table[k][1] + table[0][0]


def table_of_values(x, k):
    table = [[x, 2.0], [3.0, x]]
    row = table[k]
    row[0] += 9.0
    return table[k][0] * table[0][1] + table[0][0]


def copied_rows(rows, k):
    own = [list(row) for row in rows]
    own[k][0] = 7.0
    return own[k][0] + own[0][1] + rows[1][0]


def swapped_in_rows(x, k):
    table = [[x, 3.0] for _ in range(6)]
    for i in range(6):
        table[i][0], table[i][1] = table[i][1], table[i][0]
    return table[k][0]


def rows_of_arrays(x, k):
    table = [[x * 1.0, x * 2.0], [x * 3.0, x * 4.0]]
    table[k][0] = np.full(2, 7.0)
    return table[k][0] + table[0][1]


ROWS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


@pytest.mark.parametrize("k", [0, 1, -1])
@pytest.mark.parametrize(
    ("function", "first"),
    [
        (table_of_zeros, 1.5),
        (table_of_values, 1.5),
        (copied_rows, ROWS),
        (swapped_in_rows, 1.5),
        (rows_of_arrays, np.ones(2)),
    ],
)
def test_rows_that_are_written(function: Callable[..., Any], first: Any, k: int) -> None:
    np.testing.assert_allclose(ad.jit(function)(first, k), function(copy.deepcopy(first), k))


def callers_row(rows, k):
    rows[k][0] += 7.0
    return rows[k][0]


def in_a_shallow_copy(rows, k):
    own = list(rows)
    own[k][0] = 7.0
    return own[k][0]


def in_a_loop(rows, k):
    for i in range(k + 2):
        rows[i][0] = 7.0
    return rows[1][0]


def by_another_name(rows, k):
    row = rows[k]
    row[:] = [7.0, 8.0]
    return rows[k][0]


def around_it(rows, k):
    ROWS[k][0] = 9.0
    return ROWS[k][0] + rows[0][0]


@pytest.mark.parametrize("function", [callers_row, in_a_shallow_copy, in_a_loop, by_another_name, around_it])
def test_rows_of_the_caller_cannot_be_written(function: Callable[..., Any]) -> None:
    with pytest.raises(ad.AnadromeError, match="cannot write into an array that it did not make"):
        ad.jit(function)(copy.deepcopy(ROWS), 1)


# ---------------------------------------------------------------------------- items of several forms
CAPTURED = [(np.full(3, 1.0 * k), 2.0) for k in range(5)]


def captured_arrays(x, k):
    array, number = CAPTURED[k]
    return np.sum(array * x) * number


def test_captured_arrays_in_items() -> None:
    for k in (0, 3, -1):
        np.testing.assert_allclose(ad.jit(captured_arrays)(2.0, k), captured_arrays(2.0, k))


def makes_functions(x, k):
    def times(factor):
        return lambda y: y * factor

    function, number = [(times(j), x) for j in range(6)][k]
    return function(number)


def appends_texts(x, k):
    found = []
    for v in x:
        if v > k:
            found.append(("big", v))
        else:
            found.append(("small", v))
    return sum(v if name == "big" else -v for name, v in found)


@pytest.mark.parametrize("x", [[0.5, 1.5, 2.5], [0.1, 0.2], [3.0, 4.0, 5.0]])
def test_words_that_branches_chose_are_compared(x: list[float]) -> None:
    found, signs = ad.value_and_grad(appends_texts)(np.array(x), 1)
    assert found == appends_texts(x, 1)
    np.testing.assert_array_equal(signs, np.where(np.array(x) > 1, 1.0, -1.0))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x, k: [("a", x[0]), ("b", x[1])][k][1], "of another form"),
        (
            lambda x, k: sorted([("a", x[0]), ("b", x[1])], key=lambda pair: pair[1])[0][0] == "b",
            "of another form",
        ),
        (lambda x, k: [(x[0], (x[1], x[2])), ((x[0], x[1]), x[2])][k], "of another form"),
        (lambda x, k: [{"u": x[0], "v": x[1]}, {"v": x[0], "u": x[1]}][k]["v"], "of another form"),
        (lambda x, k: [(x[0], x[1]), x[0] * 1j][k], "of another form"),
        (lambda x, k: [(np.sin, x[0]), (np.cos, x[1])][k][1], "of another form"),
        (lambda x, k: [np.arange(3), np.ones(3)][k][0], "int64 in one item"),
        (lambda x, k: [np.float32(0.1), 2.0][k] * 3.0, "float32 in one item"),
        (makes_functions, "a function, set, deque or iterator that the program makes"),
    ],
)
def test_items_that_differ_in_more_than_numbers_are_refused(function: Callable[..., Any], words: str) -> None:
    with pytest.raises(ad.AnadromeError, match=words):
        ad.jit(function)(np.array([0.5, 1.5, 2.5]), 1)


def is_number(value):
    return 1.0 if isinstance(value, int | float) and not isinstance(value, np.ndarray) else 2.0


def is_truth(value):
    return 1.0 if isinstance(value, bool) else 2.0


def is_truth_on_one_way(x, a):
    return is_truth(x[0] > 1 if a > 0 else a > 1)


def test_whose_bool_it_is() -> None:
    assert ad.jit(is_number)(3) == ad.jit(is_number)(3.0) == 1.0
    assert ad.jit(is_truth)(True) == ad.jit(lambda a: is_truth(a > 1))(2.0) == 1.0
    assert ad.jit(is_truth)(np.True_) == ad.jit(lambda x: is_truth(x[0] > 1))(np.ones(3)) == 2.0
    with pytest.raises(ad.AnadromeError, match="Python's own or NumPy's"):
        ad.jit(is_truth_on_one_way)(np.ones(3), 2.0)
    assert ad.jit(is_truth, static_argnums=0)(True) == 1.0


def oscillators(places, speeds, steps):
    p, v = [q.copy() for q in places], [q.copy() for q in speeds]
    for _ in range(steps):
        for i in range(len(p)):
            v[i] -= 0.1 * p[i]
        for i in range(len(p)):
            p[i] += 0.1 * v[i]
    return sum(np.sum(q * q * (k + 1)) for k, q in enumerate(p))


def attracted(places, steps):
    p = [q.copy() for q in places]
    v = [np.zeros(len(q)) for q in p]
    for _ in range(steps):
        for i in range(len(p)):
            for j in range(len(p)):
                if i != j:
                    d = p[j] - p[i]
                    v[i] += 0.01 * d / (d @ d + 0.1)
        for i in range(len(p)):
            p[i] += v[i]
    return sum(q @ q for q in v)


@pytest.mark.parametrize("count", [2, 3, 5, 6])
@pytest.mark.parametrize("steps", [0, 1, 7])
def test_arrays_of_a_list_are_written_in_place_by_short_loops_in_a_loop(count, steps):
    places, speeds = [rng.normal(size=3) for _ in range(count)], [rng.normal(size=3) for _ in range(count)]
    agree(oscillators, places, speeds, steps)
    agree(attracted, places, steps)


def test_derivatives_of_arrays_of_a_list_that_short_loops_write():
    places, speeds = [rng.normal(size=3) for _ in range(5)], [rng.normal(size=3) for _ in range(5)]
    slopes = ad.grad(oscillators)(places, speeds, 4)
    for which in range(5):
        shifted = [q.copy() for q in places]
        shifted[which][1] += 1e-6
        difference = oscillators(shifted, speeds, 4) - oscillators(places, speeds, 4)
        np.testing.assert_allclose(slopes[which][1], difference / 1e-6, rtol=1e-4)
