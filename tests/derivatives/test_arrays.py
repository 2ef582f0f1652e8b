"""Arrays written in place, aliased, sliced, gathered, broadcast, sorted and accumulated."""

# ruff: noqa: B905 (programs are written as their users write them)

from __future__ import annotations

import numpy as np
import pytest

from tests.derivatives.agreement import agree

RANDOM = np.random.default_rng(2)
SHORT, LONG, OTHER = RANDOM.normal(size=6), RANDOM.normal(size=20), RANDOM.normal(size=20)
MATRIX, TALL, SQUARE = RANDOM.normal(size=(4, 3)), RANDOM.normal(size=(18, 3)), RANDOM.normal(size=(17, 17))
WEIGHTS, DATA = RANDOM.normal(size=20), RANDOM.normal(size=(100, 3))
PLACES = np.array([0, 3, 3, 5, 0, 1, 3])


# ---------------------------------------------------------------------------- written in place
def prefix_in_place(x):
    y = x.copy()
    for i in range(1, len(y)):
        y[i] = y[i] + 0.9 * y[i - 1] ** 2
    return y


def augmented_elements(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] += x[i] ** 2
        y[i // 2] *= 1.5
        y[-1 - i] -= x[i] * y[0]
    return y


def augmented_rows(a):
    b = a.copy()
    for i in range(1, a.shape[0]):
        b[i] += b[i - 1] * 0.5
        b[i, 0] *= a[i, 1]
    return b * a


def slices_in_place(x):
    y = x * 2.0
    y[1:-1] = y[2:] * x[:-2]
    y[::2] += x[::2] ** 2
    y[-3:] = 0.5
    return y * x


def column_in_place(a):
    b = np.zeros_like(a)
    b[:, 0] = a[:, 1] * a[:, 2]
    b[:, 1] += a[:, 0]
    b[1:, 2] = b[:-1, 0]
    return np.sum(b**2) + np.sum(b * a)


def augmented_name_is_an_alias(x):
    y = x.copy()
    z = y
    z += 1.0
    z *= x
    return y * z


def view_written_through(x):
    y = x.copy()
    head = y[:3]
    head[1] = head[0] * head[2]
    head *= 2.0
    return y * x


def written_in_a_called_function(x):
    def double(array, i):
        array[i] = array[i] * 2.0 + array[i - 1]

    y = x.copy()
    for i in range(1, len(x)):
        double(y, i)
    return y @ x


def swapped_arrays(x):
    old, new = x.copy(), np.zeros(len(x))
    for _ in range(5):
        for i in range(len(x)):
            new[i] = np.tanh(old[i] + old[i - 1])
        old, new = new, old
    return old * x


def swapped_elements(x):
    y = x.copy()
    n = len(y)
    for i in range(n // 2):
        y[i], y[n - 1 - i] = y[n - 1 - i], y[i]
    return y * x * np.arange(n)


def insertion_sort(x):
    y = x.copy()
    for i in range(1, len(y)):
        value = y[i]
        j = i
        while j > 0 and y[j - 1] > value:
            y[j] = y[j - 1]
            j -= 1
        y[j] = value
    return y * np.arange(len(y))


def histogram_by_hand(x, places):
    bins = np.zeros(7)
    for i in range(len(places)):
        bins[places[i]] += x[i] ** 2
    return bins**2


def conditional_writes(x):
    y = x.copy()
    for i in range(len(x)):
        if y[i] < 0.0:
            y[i] = -2.0 * y[i]
        elif i > 0:
            y[i] = y[i] * y[i - 1]
    return y


def masked_assignment(x):
    y = x.copy()
    y[x < 0.0] = 0.0
    y[y > 1.0] = 1.0
    return y * x + np.where(y > 0.5, y, x**2)


def dynamic_programming(a):
    n, m = a.shape
    cost = np.zeros((n + 1, m + 1))
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost[i, j] = a[i - 1, j - 1] ** 2 + min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])
    return cost[n, m]


def gaussian_elimination(a, b):
    m, y = a.copy() + 5.0 * np.eye(len(a)), b.copy()
    n = len(y)
    for k in range(n):
        for i in range(k + 1, n):
            factor = m[i, k] / m[k, k]
            m[i, k:] -= factor * m[k, k:]
            y[i] -= factor * y[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - m[i] @ x) / m[i, i]
    return x


def overwritten_with_constants(x):
    y = x * x
    for i in range(0, len(y), 2):
        y[i] = 1.0
    return y.sum() * x[0]


def sieve_of_updates(x, k):
    y = np.ones(len(x))
    y[k] = x[k] * 3.0
    y[k] = y[k] * x[0]
    y[k + 1] = y[k] + y[k - 1]
    return y * x


# ---------------------------------------------------------------------------- read and gathered
def repeated_places(x, places):
    return x[places] ** 2 * np.arange(1.0, 8.0)


def rows_at_places(a, places):
    return np.sum(a[places] ** 2, axis=1)


def pairs_at_places(a, places):
    return a[places, places[::-1]] * a[places, 0]


def gathered_in_a_loop(x, places):
    total = 1.0
    for p in places:
        total = total * (1.0 + 0.1 * x[p])
        total = total + x[p - 1]
    return total


def negative_and_stepped(x):
    return x[-1] * x[-2:] + x[::-1][:2] * x[1::3][:2]


def outer_differences(x, y):
    return np.sum(np.exp(-((x[:, None] - y[None, :]) ** 2)), axis=1)


def broadcast_into_a_sum(a, v):
    return np.sum((a - v) ** 2 * v[0], axis=0) + (a.T * a[:, 0]).sum() * v


def masked_sum(x):
    return np.sum(x[:-1] * (x[1:] > x[:-1])) + np.sum(np.where(x > 0.0, x**3, np.exp(x)))


def weighted_by_globals(x):
    return np.where(WEIGHTS > 0.0, x * WEIGHTS, x**2).sum() + sum(w * v**2 for w, v in zip(WEIGHTS, x))


def global_data_rows(p):
    return sum((row @ p - 1.0) ** 2 for row in DATA)


def global_data_loop(p):
    total = 0.0
    for row in DATA:
        total += np.tanh(row @ p)
    return total / len(DATA)


# ---------------------------------------------------------------------------- order and extremes
def nearest_center(x, centers):
    total = 0.0
    for value in x:
        k = np.argmin((centers - value) ** 2)
        total += (centers[k] - value) ** 2
    return total


def largest_row(a):
    k = np.argmax(np.sum(a**2, axis=1))
    return a[k] * a[k - 1]


def median(x):
    ordered = np.sort(x)
    middle = len(x) // 2
    return ordered[middle] if len(x) % 2 == 1 else 0.5 * (ordered[middle - 1] + ordered[middle])


def trimmed_mean(x):
    ordered = np.sort(x)
    cut = len(x) // 4
    kept = ordered[cut : len(x) - cut]
    return np.sum(kept**2) / len(kept)


def ranked_by_another(x, y):
    return x[np.argsort(y)] * np.arange(len(x)) + np.sort(x)[::-1] * y


def quantile_by_interpolation(x):
    ordered = np.sort(x)
    place = 0.3 * (len(x) - 1)
    low = int(np.floor(place))
    return ordered[low] + (place - low) * (ordered[low + 1] - ordered[low])


def smooth_and_hard_extremes(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m))) - np.min(x) * np.ptp(x)


def rowwise_extremes(a):
    return a.max(axis=1) * a.min(axis=1) + a.max() - a.argmax() * a[0, 0]


def builtin_extremes(x, y):
    return max(x[0], y, x[1] * 2.0) + min(x) * max(abs(v) for v in x)


# ---------------------------------------------------------------------------- prefixes and products
def discounted_sums(x):
    return np.cumsum(x * 0.9 ** np.arange(len(x))) ** 2


def survival(x):
    alive = np.cumprod(1.0 - 1.0 / (1.0 + np.exp(-x)))
    return np.sum(alive) - alive[-1]


def products_with_a_zero(x):
    y = x - x[2]
    return np.prod(y) + np.prod(y[:2]) + np.prod(x)


def cumulative_by_axis(a):
    return np.cumsum(np.cumprod(a, axis=1), axis=0) * a


def running_extremes(x):
    out = np.zeros(len(x))
    best = -1e9
    for i in range(len(x)):
        best = max(best, x[i])
        out[i] = best - x[i]
    return out * out


def convolution(x, kernel):
    n, k = len(x), len(kernel)
    return np.array([sum(kernel[j] * x[i + j] for j in range(k)) for i in range(n - k + 1)])


def finite_volume(u):
    flux = 0.5 * (u[:-1] ** 2 + u[1:] ** 2) - np.abs(u[1:] + u[:-1]) * (u[1:] - u[:-1])
    v = u.copy()
    v[1:-1] -= 0.1 * (flux[1:] - flux[:-1])
    return np.sum(v**2)


def standardised(a):
    return ((a - a.mean(axis=0)) / np.sqrt(a.var(axis=0) + 1e-3)) ** 3


# ---------------------------------------------------------------------------- slices that have names
def slices_with_names(x, n):
    total, y = 0.0, x.copy()
    for i in range(n):
        two, rest, third = slice(2 * i, 2 * i + 2), slice(i), slice(i, None, 3)
        y[two] *= x[i] + np.sum(x[rest]) - np.sum(y[third] ** 2)
        total += np.sum(y[two]) ** 2 * (two.stop - two.start)
    return total


def blocks_with_names(x, n):
    H = np.zeros((len(x), len(x)))
    for i in range(n):
        k = slice(2 * i, 2 * i + 2)
        H[k, k] += np.outer(x[k], x[k])
        H[np.s_[i : i + 3, ::2]] *= x[i]
        H[np.index_exp[2 * i : 2 * i + 2]] += x
    return H


def slices_of_branches_and_loops(x, n):
    k, total = slice(0, n), 0.0
    if x[0] > 0:
        k = slice(1, n + 1)
    for i in range(n):
        total += np.sum(x[k] ** 2) * i
        k = slice(k.start + 1, k.stop + 1)
    return total


def slices_in_lists(x, n):
    parts = []
    for i in range(n):
        parts.append(slice(i, i + 2))
    numbers = [slice(2 * i, 2 * i + 2) for i in range(n)]
    return sum(np.sum(x[one]) ** 2 for one in numbers) + x[parts[n // 2]] @ x[parts[0]]


def slices_of_known_lists(x, n):
    factors = [1.0, x[0], 3.0, x[1], 5.0]
    return sum(factors[:n]) * x[2] + sum(factors[slice(1, n)])


def ranges_as_indices(x, n):
    A = np.outer(x, x)
    A[range(len(x)), range(len(x))] = 0.0
    A[range(1, n), 0] += 2 * x[range(n - 1)]
    A[range(n - 1, 0, -1), range(n - 1)] *= 3
    return np.sum(A**2) + np.sum(x[range(n, n)]) + np.sum(x[range(3)] * x[range(-1, -4, -1)])


CASES = [
    (ranges_as_indices, LONG, 9),
    (ranges_as_indices, SHORT, 4),
    (slices_with_names, LONG, 5),
    (slices_with_names, SHORT, 3),
    (blocks_with_names, LONG, 5),
    (blocks_with_names, SHORT, 3),
    (slices_of_branches_and_loops, LONG, 5),
    (slices_of_branches_and_loops, -LONG, 5),
    (slices_in_lists, LONG, 5),
    (slices_of_known_lists, LONG, 3),
    (prefix_in_place, SHORT),
    (prefix_in_place, LONG * 0.3),
    (augmented_elements, LONG * 0.5),
    (augmented_rows, TALL),
    (augmented_rows, MATRIX),
    (slices_in_place, LONG),
    (slices_in_place, SHORT),
    (column_in_place, TALL),
    (augmented_name_is_an_alias, LONG),
    (view_written_through, SHORT),
    (view_written_through, LONG),
    (written_in_a_called_function, LONG),
    (swapped_arrays, LONG),
    (swapped_arrays, SHORT),
    (swapped_elements, LONG),
    (insertion_sort, LONG),
    (histogram_by_hand, LONG, PLACES),
    (conditional_writes, LONG),
    (masked_assignment, LONG),
    (dynamic_programming, TALL),
    (dynamic_programming, MATRIX),
    (gaussian_elimination, SQUARE, LONG[:17]),
    (gaussian_elimination, SQUARE[:4, :4], LONG[:4]),
    (overwritten_with_constants, LONG),
    (sieve_of_updates, LONG, 4),
    (repeated_places, LONG, PLACES),
    (repeated_places, SHORT, PLACES),
    (rows_at_places, TALL, PLACES),
    (pairs_at_places, SQUARE, PLACES),
    (gathered_in_a_loop, LONG, PLACES),
    (gathered_in_a_loop, SHORT, PLACES),
    (negative_and_stepped, LONG),
    (outer_differences, LONG, OTHER[:17]),
    (outer_differences, LONG, SHORT),
    (broadcast_into_a_sum, TALL, SHORT[:3]),
    (masked_sum, LONG),
    (weighted_by_globals, LONG),
    (global_data_rows, SHORT[:3]),
    (global_data_loop, SHORT[:3]),
    (nearest_center, LONG, SHORT),
    (nearest_center, LONG, OTHER),
    (largest_row, TALL),
    (median, LONG),
    (median, LONG[:19]),
    (median, SHORT),
    (trimmed_mean, LONG),
    (ranked_by_another, LONG, OTHER),
    (quantile_by_interpolation, LONG),
    (smooth_and_hard_extremes, LONG),
    (rowwise_extremes, TALL),
    (builtin_extremes, LONG, 0.3),
    (discounted_sums, LONG),
    (survival, LONG),
    (products_with_a_zero, SHORT),
    (products_with_a_zero, LONG),
    (cumulative_by_axis, TALL),
    (running_extremes, LONG),
    (convolution, LONG, SHORT),
    (convolution, np.append(LONG, OTHER), LONG),
    (finite_volume, LONG),
    (standardised, TALL),
]
TWICE = [
    (prefix_in_place, LONG * 0.3),
    (slices_in_place, LONG),
    (swapped_arrays, SHORT),
    (conditional_writes, LONG),
    (dynamic_programming, MATRIX),
    (repeated_places, LONG, PLACES),
    (nearest_center, LONG, SHORT),
    (trimmed_mean, LONG),
    (histogram_by_hand, LONG, PLACES),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_first_order(case):
    function, *args = case
    agree(function, *args)


@pytest.mark.parametrize("case", TWICE, ids=lambda case: case[0].__name__)
def test_second_order(case):
    function, *args = case
    agree(function, *args, order=2)
