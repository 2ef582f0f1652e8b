"""Sorting, filtering and searching."""

from __future__ import annotations

import numpy as np

import anadrome as ad
from anadrome.errors.frontend import UnsupportedCall
from tests.corpus.draw import N, ascending, normal, permutation
from tests.corpus.harness import Program, Refused


def sorted_and_weighted(x):
    return np.sum(np.sort(x) * np.arange(len(x)))


def sorted_list(x):
    ranked = sorted(x)
    return sum(v * k for k, v in enumerate(ranked)) + ranked[0] ** 2


def order_of_another(x, y):
    return np.sum(y[np.argsort(x)] * np.arange(len(x)) ** 2) + np.sum(x**2)


def sorted_rows(a):
    return np.sum(np.sort(a, axis=1)[:, 0] * np.sort(a, axis=0)[0, 1]) + np.sum(a**2)


def ranks_are_flat(x):
    ranks = np.argsort(np.argsort(x))
    return np.sum(x * ranks)


def median_by_sorting(x):
    y = np.sort(x)
    n = len(x)
    return 0.5 * (y[(n - 1) // 2] + y[n // 2]) * np.sum(x)


def trimmed_mean(x):
    return np.mean(np.sort(x)[1:-1]) ** 2


def wasserstein_distance(x, y):
    return np.mean(np.abs(np.sort(x) - np.sort(y)))


def top_three(x):
    return np.prod(np.sort(x)[-3:]) + np.sum(x)


def positive_ones(x):
    kept = [v for v in x if v > 0.0]
    return sum(v**3 for v in kept) / len(kept)


def filtered_twice(x):
    small = [v * v for v in x if v < 1.0]
    return sum(w for w in small if w > 0.1) + small[0]


def filtered_indices(x, y):
    places = [i for i in range(len(x)) if x[i] > 0.0]
    return sum(y[i] * x[i] for i in places) + np.sum(y)


def filtered_array_recurrence(x):
    kept = np.array([v for v in x if abs(v) > 0.3])
    s = 0.0
    for v in kept:
        s = 0.5 * s + v * v
    return s + np.sum(kept)


def bubble_sort(x):
    y = x.copy()
    n = len(y)
    for i in range(n):
        for j in range(n - 1 - i):
            if y[j] > y[j + 1]:
                y[j], y[j + 1] = y[j + 1], y[j]
    return np.sum(y * np.arange(n))


def insertion_sort(x):
    y = x.copy()
    for i in range(1, len(y)):
        value = y[i]
        j = i - 1
        while j >= 0 and y[j] > value:
            y[j + 1] = y[j]
            j -= 1
        y[j + 1] = value
    return np.sum(y**2 * np.arange(len(y)))


def selection_of_the_smallest(x):
    y = x.copy()
    for i in range(3):
        best = i
        for j in range(i + 1, len(y)):
            if y[j] < y[best]:
                best = j
        y[i], y[best] = y[best], y[i]
    return y[0] * y[1] * y[2] + np.sum(x)


def piecewise_linear_by_search(knots, values, x):
    total = 0.0
    for v in x:
        k = np.searchsorted(knots, v) - 1
        k = min(max(k, 0), len(knots) - 2)
        w = (v - knots[k]) / (knots[k + 1] - knots[k])
        total += (1.0 - w) * values[k] + w * values[k + 1] ** 2
    return total


def bisection_in_a_table(table, x):
    low, high = 0, len(table) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if table[middle] <= x:
            low = middle
        else:
            high = middle
    return (x - table[low]) / (table[high] - table[low]) + low


def merge_of_two(x, y):
    i = j = k = 0
    total = 0.0
    while i < len(x) and j < len(y):
        if x[i] < y[j]:
            total += x[i] * k
            i += 1
        else:
            total += y[j] ** 2 * k
            j += 1
        k += 1
    return total


def rank_loss(x, p):
    return sum(np.log1p(np.exp(-(x[p[i]] - x[p[i + 1]]))) for i in range(len(p) - 1))


def concordance(x, y):
    n = len(x)
    return sum(
        np.tanh(x[i] - x[j]) for i in range(n) for j in range(i) if (x[i] - x[j]) * (y[i] - y[j]) > 0.0
    ) + np.sum(y)


PROGRAMS = (
    Program(sorted_and_weighted, (normal(N),)),
    Program(sorted_list, (normal(N),)),
    Program(order_of_another, (normal(N), normal(N))),
    Program(sorted_rows, (normal(N, 4),)),
    Program(ranks_are_flat, (normal(N),)),
    Program(median_by_sorting, (normal(N),)),
    Program(median_by_sorting, (normal(N),), name="median_of_an_even_count", at=6),
    Program(trimmed_mean, (normal(N),)),
    Program(wasserstein_distance, (normal(N), normal(N))),
    Program(top_three, (normal(N),)),
    Program(positive_ones, (normal(N),)),
    Program(filtered_twice, (normal(N),)),
    Program(filtered_indices, (normal(N), normal(N))),
    Program(filtered_array_recurrence, (normal(N),)),
    Program(bubble_sort, (normal(N),), sizes=(4, 8, 16)),
    Program(insertion_sort, (normal(N),), sizes=(4, 8, 16)),
    Program(selection_of_the_smallest, (normal(N),)),
    Program(piecewise_linear_by_search, (ascending(N), normal(N), normal(N))),
    Program(bisection_in_a_table, (ascending(N), lambda random, size: 1.37), sizes=(64, 128, 256)),
    Program(merge_of_two, (ascending(N), ascending(N + 1))),
    Program(rank_loss, (normal(N), permutation(N))),
    Program(concordance, (normal(N), normal(N)), sizes=(4, 8, 16)),
)

REFUSED = (
    Refused(
        "sort_complex", lambda: ad.grad(lambda x: np.sort_complex(x).real[2])(np.ones(20)), UnsupportedCall
    ),
)
