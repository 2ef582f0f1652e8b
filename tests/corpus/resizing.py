"""Arrays and lists that grow and shrink in run-time loops: by one, by a mask, by halves, on one way only."""

from __future__ import annotations

import numpy as np

from tests.corpus.draw import N, given, normal, positive
from tests.corpus.harness import Program


def averages(x):
    values = x * 1.0
    for i in range(len(x) - 1):
        values = 0.5 * (values[:-1] + values[1:]) ** 2
    return values[0]


def averages_by_while(x):
    values = np.sin(x)
    while len(values) > 1:
        values = np.sin(values[:-1] * values[1:])
    return values[0]


def averages_until_break(x):
    values = x * 1.0
    while True:
        values = np.tanh(values[:-1] + values[1:])
        if len(values) == 1:
            break
    return values[0]


def recurrence_by_append(x):
    values = np.zeros(1)
    for i in range(len(x)):
        values = np.append(values, 0.5 * x[i] * values[-1] + 1)
    return values


def rows_by_concatenate(x):
    values, row = x * 1.0, x[:2]
    for i in range(len(x) // 2):
        values = np.concatenate([values, row * values[0]])
    return np.sum(values * np.arange(len(values)))


def rows_by_vstack(x):
    rows = np.zeros((0, 3))
    for v in x:
        rows = np.vstack([rows, np.sin(v) * np.ones((1, 3)) + np.sum(rows)])
    return rows


def columns_by_hstack(x):
    table = x[:3, None] * 1.0
    for i in range(len(x)):
        table = np.hstack([table, np.sin(table[:, -1:]) * 2.0])
    return np.sum(np.cos(table))


def positive_part(x, n):
    values = x * 1.0
    for i in range(n):
        values = values[values > 0.1 * i] ** 1.5
    return np.sum(values)


def tails_to_nothing(x):
    values, total = x * 1.0, 0.0
    for i in range(len(x) + 2):
        total += np.sum(values) ** 2
        values = values[1:]
    return total


def products_of_neighbours(x):
    values = [np.sin(v) for v in x]
    for i in range(len(x) - 1):
        values = [np.cos(a * b) for a, b in zip(values, values[1:])]  # noqa: B905, RUF007
    return values[0]


def products_of_neighbours_by_while(x):
    values = [np.sin(v) for v in x]
    while len(values) > 1:
        values = [np.cos(a * b) for a, b in zip(values, values[1:])]  # noqa: B905, RUF007
    return values[0]


def sum_by_halves(x):
    values = x * 1.0
    while len(values) > 1:
        if len(values) % 2:
            values = np.append(values, 0.5)
        values = np.sin(values[::2] + values[1::2])
    return values[0]


def fold_in_half(x):
    values = x * 1.0
    while len(values) > 1:
        m = len(values) // 2
        values = np.concatenate([values[:m] * values[m : 2 * m], values[2 * m :]])
    return values[0]


def american_put(x, strike):
    prices = x * 1.0
    values = np.maximum(strike - prices, 0.0)
    for i in range(len(x) - 1):
        prices = prices[:-1] * 1.01
        values = np.maximum(strike - prices, 0.99 * (0.6 * values[:-1] + 0.4 * values[1:]))
    return values[0]


def american_put_of_a_spot(spot, strike, x):
    steps = len(x)
    up = 1.1
    values = np.maximum(strike - spot * up ** np.arange(-steps, steps + 1, 2.0), 0.0)
    for i in range(steps - 1, -1, -1):
        prices = spot * up ** np.arange(-i, i + 1, 2.0)
        values = np.maximum(strike - prices, 0.99 * (0.6 * values[:-1] + 0.4 * values[1:]))
    return values[0]


def shortened_on_one_way(x):
    values = x * 1.0
    for i in range(len(x) - 1):
        if values[0] > 0.0:
            values = np.sin(values[1:]) * 1.1
        else:
            values = values * 0.9
    return np.sum(values)


def filtered_on_one_way(x):
    values = x * 1.0
    for i in range(len(x)):
        if np.sum(values) > 0.2:
            values = np.sin(values[values > 0.02 * i])
    return np.sum(values**2)


def two_sizes_by_a_branch(x):
    y = x[1:] if x[0] > 0.0 else np.append(x, x[0] ** 2)
    return np.sum(y * y)


def nested_shrinking(x):
    total, values = 0.0, x * 1.0
    for i in range(2):
        for j in range(len(values) // 3):
            values = np.sin(values[1:] + values[:-1])
        total += np.sum(values) ** 2
    return total


def nested_growing(x):
    values = x[:1] * 1.0
    for v in x:
        for j in range(3):
            values = np.append(values, np.sin(v + values[-1]))
    return values


def divided_differences(x, y):
    found, table = y[0], y * 1.0
    for k in range(1, len(x)):
        table = (table[1:] - table[:-1]) / (x[k:] - x[: len(x) - k])
        found = found + table[0] * 0.5**k
    return found


def polynomial_of_roots(x):
    coefficients = np.array([1.0])
    for root in x:
        coefficients = np.convolve(coefficients, np.array([1.0, -1.0]) * root)
    return np.sum(coefficients * np.cos(np.arange(len(coefficients))))


def determinant_by_elimination(a):
    found = 1.0
    while len(a) > 0:
        found = found * a[0, 0]
        a = a[1:, 1:] - np.outer(a[1:, 0], a[0, 1:]) / a[0, 0]
    return found


def complex_neighbours(x):
    values = x * (0.6 + 0.8j)
    for i in range(len(x) - 1):
        values = values[1:] * 0.5 + values[:-1] ** 2
    return np.real(values[0]) + np.imag(values[0])


def field_that_shrinks(x):
    state = {"left": x * 1.0, "sum": 0.0}
    while len(state["left"]) > 1:
        state["sum"] += np.sin(state["left"][0])
        state["left"] = state["left"][1:] * state["left"][0]
    return state["sum"]


def dominant(random, size):
    return random.normal(size=(size, size)) + 2.0 * size * np.eye(size)


def apart(random, size):
    return np.arange(size) + random.uniform(0.1, 0.6, size)


def doubled_now_and_then(x):
    for i in range(len(x)):
        if i % 5 == 2:
            x = np.concatenate([x, 0.3 * x * x[i]])
    return np.sum(x * np.arange(len(x)))


def appended_until_small(x):
    values, last = x * 1.0, x[0]
    while last > 1e-3:
        last = last * 0.5
        values = np.append(values, last * values[-1])
    return np.sum(values**2)


def refined_where_it_is_steep(x):
    """Points of a line, halved until a curve rises by little between two of them."""
    points = np.linspace(0.0, 1.0, 5)
    while np.max(np.abs(np.diff(np.sin(3.0 * x[0] * points)))) > 0.02:
        points = np.sort(np.concatenate([points, 0.5 * (points[1:] + points[:-1])]))
    return np.sum(np.sin(3.0 * x[0] * points)) / len(points) * x[1]


PROGRAMS = (
    Program(averages, (positive(N),)),
    Program(averages_by_while, (normal(N),)),
    Program(averages_until_break, (normal(N),)),
    Program(recurrence_by_append, (normal(N),)),
    Program(rows_by_concatenate, (normal(N),)),
    Program(rows_by_vstack, (normal(N),), sizes=(4, 8, 16)),
    Program(columns_by_hstack, (normal(N),)),
    Program(positive_part, (positive(N), given(4))),
    Program(tails_to_nothing, (normal(N),)),
    Program(products_of_neighbours, (normal(N),)),
    Program(products_of_neighbours_by_while, (normal(N),)),
    Program(sum_by_halves, (normal(N),)),
    Program(fold_in_half, (positive(N),)),
    Program(american_put, (positive(N), given(1.0))),
    Program(american_put_of_a_spot, (given(0.93), given(1.0), normal(N)), argnums=(0, 1)),
    Program(shortened_on_one_way, (normal(N),)),
    Program(filtered_on_one_way, (positive(N),)),
    Program(two_sizes_by_a_branch, (normal(N),)),
    Program(nested_shrinking, (normal(N),)),
    Program(nested_growing, (normal(N),)),
    Program(divided_differences, (apart, normal(N))),
    Program(polynomial_of_roots, (normal(N),)),
    Program(determinant_by_elimination, (dominant,), sizes=(4, 8, 16)),
    Program(complex_neighbours, (normal(N),)),
    Program(field_that_shrinks, (positive(N),)),
    Program(doubled_now_and_then, (normal(N),), sizes=(4, 8, 16)),
    Program(appended_until_small, (positive(N),)),
    Program(refined_where_it_is_steep, (positive(N),)),
)

REFUSED = ()
