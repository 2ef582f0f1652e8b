"""Comprehensions and generators: filters, several clauses, zip, enumerate, loops inside, inside loops."""

# ruff: noqa: B905, RUF007 (programs are written as their users write them)

from __future__ import annotations

import math

import numpy as np

import anadrome as ad
from anadrome.errors.frontend import StaticRequired
from anadrome.errors.runtime import SizeMismatch
from tests.corpus.draw import N, ascending, given, normal, positive, whole
from tests.corpus.harness import Program, Refused


def list_to_array(x):
    return np.array([math.sin(v) * v for v in x])


def filtered_sum(x):
    return sum(v**2 for v in x if v > 0.0)


def two_clauses_with_a_filter(x):
    n = len(x)
    return sum(x[i] * x[j] for i in range(n) for j in range(n) if i < j)


def triangular_by_inner_range(a, x):
    return np.array([sum(a[i, j] * x[j] for j in range(i + 1)) for i in range(len(x))])


def triangular_by_filter(a, x):
    n = len(x)
    return sum(sum(a[i, j] * x[j] for j in range(n) if j <= i) ** 2 for i in range(n))


def banded_by_filter(a, x):
    n = len(x)
    return sum(a[i, j] * x[i] * x[j] for i in range(n) for j in range(n) if abs(i - j) <= 1)


def even_ones_only(x):
    return sum(x[i] ** 2 for i in range(len(x)) if i % 2 == 0) + sum(x[i] for i in range(len(x)))


def zip_of_three(x, y, z):
    return sum(a * b - c for a, b, c in zip(x, y, z)) * max(a for a in x)


def enumerate_from_one(x):
    return sum(v / k for k, v in enumerate(x, 1)) + sum(math.exp(-k) * v**2 for k, v in enumerate(x))


def neighbours_by_zip(x):
    return sum((b - a) ** 2 for a, b in zip(x[:-1], x[1:])) + sum(a * b for a, b in zip(x, x[2:]))


def matrix_by_nested_lists(x, y):
    table = np.array([[math.exp(-((a - b) ** 2)) for b in y] for a in x])
    return np.sum(table) + table[0, 1]


def matrix_product_by_comprehension(a, b):
    n, m, k = a.shape[0], b.shape[1], a.shape[1]
    return np.array([[sum(a[i, p] * b[p, j] for p in range(k)) for j in range(m)] for i in range(n)])


def three_levels(x):
    n = len(x)
    return sum(max(sum(x[i] * x[j] * x[k] for k in range(n)) for j in range(n)) for i in range(n))


def loop_inside(x, steps):
    def logistic(v):
        for _ in range(steps):
            v = 3.1 * v * (1.0 - v)
        return v

    return np.array([logistic(v) for v in x])


def while_inside(x):
    def halvings(v):
        total = 0.0
        while abs(v) > 0.05:
            v = v * 0.5
            total += v * v
        return total

    return sum(halvings(v) for v in x)


def branch_and_loop_inside(a):
    def row_value(row):
        s = 0.0
        for v in row:
            if v < -0.8:
                return s * 0.5
            s = s + v if v > 0.0 else s * (1.0 + v)
        return s

    return np.array([row_value(row) for row in a])


def recurrence_inside(a):
    def last(row):
        u = np.zeros(4)
        u[0] = row[0]
        for i in range(1, 4):
            u[i] = math.tanh(u[i - 1] + row[i])
        return u[3] * u[1]

    return sum(last(row) for row in a)


def inside_a_loop(x, n):
    s = 1.0
    for k in range(n):
        s = s * 0.3 + sum(math.sin(s * v) for v in x) / (k + 1)
    return s


def array_rebuilt_in_a_loop(x, n):
    for _ in range(n):
        x = np.array([0.5 * (x[i] + x[(i + 1) % len(x)]) for i in range(len(x))])
    return x * x


def filter_inside_a_loop(x, limits):
    total = 0.0
    for limit in limits:
        total += total * 0.1 + sum(v * v for v in x if v > limit)
    return total


def comprehension_while_comprehension(x):
    n = 0
    while sum(v * v for v in x) > 1.0:
        x = np.array([v * 0.7 for v in x])
        n += 1
    return sum(v**3 for v in x) * n


def pairs_at_a_distance(x, y):
    return sum(
        1.0 / math.sqrt((p - q) ** 2 + 0.1) for i, p in enumerate(x) for j, q in enumerate(y) if i != j
    )


def captured_and_shadowed(x, v):
    parts = [v * w for w in x]
    v = v * 2.0
    return sum(part * v for part in parts)


def generator_used_by_max(x, y):
    return max(abs(a - b) for a, b in zip(x, y)) + min(a * b for a in x for b in y)


def filtered_to_array(x):
    kept = np.array([v * v for v in x if v > -0.3])
    return np.sum(np.cumsum(kept))


def ragged_rows(x, starts):
    rows = [sum(x[k] ** 2 for k in range(starts[i], starts[i + 1])) for i in range(len(starts) - 1)]
    return sum(math.sqrt(r + 0.1) for r in rows)


def polynomial_by_powers(coefficients, x):
    return sum(c * x**k for k, c in enumerate(coefficients))


def dictionary_of_columns(a):
    columns = {"x": a[:, 0], "y": a[:, 1]}
    return sum(np.dot(one, other) for one in columns.values() for other in columns.values())


def kernel_regression(points, values, at, width):
    weights = [math.exp(-(((p - at) / width) ** 2)) for p in points]
    return sum(w * v for w, v in zip(weights, values)) / sum(weights)


def starts(random, size):
    """Where rows start, in 2 · size elements; some rows are empty."""
    return np.concatenate([[0], np.sort(random.integers(0, 2 * size, size - 1)), [2 * size]])


QUADRATIC = (4, 8, 16)
PROGRAMS = (
    Program(list_to_array, (normal(N),)),
    Program(filtered_sum, (normal(N),)),
    Program(two_clauses_with_a_filter, (normal(N),), sizes=QUADRATIC),
    Program(triangular_by_inner_range, (normal(N, N), normal(N)), sizes=QUADRATIC),
    Program(triangular_by_filter, (normal(N, N), normal(N)), sizes=QUADRATIC),
    Program(banded_by_filter, (normal(N, N), normal(N)), sizes=(16, 32, 64)),
    Program(even_ones_only, (normal(N),)),
    Program(zip_of_three, (normal(N), normal(N), normal(N))),
    Program(enumerate_from_one, (normal(N),)),
    Program(neighbours_by_zip, (normal(N),)),
    Program(matrix_by_nested_lists, (normal(N), normal(N)), sizes=QUADRATIC),
    Program(matrix_product_by_comprehension, (normal(N, N), normal(N, N)), sizes=QUADRATIC),
    Program(three_levels, (positive(N),), sizes=(4, 8, 12)),
    Program(loop_inside, (positive(N, low=0.1, high=0.9), whole(5))),
    Program(while_inside, (normal(N),)),
    Program(branch_and_loop_inside, (normal(N, 4),)),
    Program(recurrence_inside, (normal(N, 4),)),
    Program(inside_a_loop, (normal(N), given(5))),
    Program(array_rebuilt_in_a_loop, (normal(N), given(4))),
    Program(filter_inside_a_loop, (normal(N), normal(4))),
    Program(comprehension_while_comprehension, (normal(N),)),
    Program(pairs_at_a_distance, (normal(N), normal(N)), sizes=QUADRATIC),
    Program(captured_and_shadowed, (normal(N), normal())),
    Program(generator_used_by_max, (normal(N), normal(N)), sizes=QUADRATIC),
    Program(filtered_to_array, (normal(N),)),
    Program(ragged_rows, (normal(2 * N), starts)),
    Program(polynomial_by_powers, (normal(N), given(0.8))),
    Program(dictionary_of_columns, (normal(N, 2),)),
    Program(kernel_regression, (ascending(N), normal(N), given(1.3), given(0.9))),
)


def _dictionary(x):
    return {k: v for k, v in enumerate(x)}[0]


REFUSED = (
    Refused("dictionary_of_unknown_length", lambda: ad.jit(_dictionary)(np.ones(20)), StaticRequired),
    Refused(
        "strict_zip_of_different_lengths",
        lambda: ad.grad(lambda x, y: sum(a * b for a, b in zip(x, y, strict=True)))(np.ones(20), np.ones(21)),
        SizeMismatch,
    ),
)
