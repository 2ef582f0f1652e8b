"""Arrays updated in place: recurrences, tables, factorisations, swaps, ring buffers, views, aliases."""

from __future__ import annotations

import math

import numpy as np

import anadrome as ad
from anadrome.errors.frontend import WritesArgument
from tests.corpus.draw import N, definite, dominant, given, normal, positive, whole
from tests.corpus.harness import Program, Refused


def trajectory(x, n):
    u = np.zeros(n)
    u[0] = x
    for i in range(1, n):
        u[i] = math.sin(u[i - 1]) * 1.3 + 0.1 * i
    return np.sum(u**2)


def trajectory_with_two_steps_back(x):
    n = len(x)
    u = np.zeros(n)
    u[0] = x[0]
    u[1] = x[1]
    for i in range(2, n):
        u[i] = u[i - 1] * u[i - 2] + x[i]
    return u


def sums_while_an_array_is_filled(x):
    y, total = np.ones(len(x)), 0.0
    for i in range(len(x)):
        y[i] = x[i]
        total += np.sum(y * y)
    return total


def table_of_states(x):
    n = len(x)
    y, q = np.ones(n), np.zeros((n, n))
    for i in range(n):
        y[i] = x[i] * x[0]
        q[i] = y
    return q


def squares_in_place(x):
    y = x.copy()
    for i in range(len(y)):
        y[i] = y[i] * y[i]
    return np.sum(y * x)


def all_pairs_in_place(x):
    y = x.copy()
    n = len(y)
    for i in range(n):
        for j in range(n):
            y[i] += 0.1 * math.sin(y[j])
    return np.sum(y)


def dynamic_time_warping(x, y):
    n, m = len(x), len(y)
    d = np.full((n + 1, m + 1), 1e9)
    d[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            d[i, j] = cost + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
    return d[n, m]


def soft_dynamic_time_warping(x, y):
    n, m = len(x), len(y)
    d = np.full((n + 1, m + 1), 30.0)
    d[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            a, b, c = d[i - 1, j], d[i, j - 1], d[i - 1, j - 1]
            low = min(a, b, c)
            soft = low - math.log(math.exp(low - a) + math.exp(low - b) + math.exp(low - c))
            d[i, j] = (x[i - 1] - y[j - 1]) ** 2 + soft
    return d[n, m]


def cholesky_by_hand(a):
    n = len(a)
    l = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= l[i, k] * l[j, k]
            if i == j:
                l[i, j] = math.sqrt(s)
            else:
                l[i, j] = s / l[j, j]
    return np.sum(l**3)


def lu_in_place(a):
    b = a.copy()
    n = len(b)
    for k in range(n):
        for i in range(k + 1, n):
            b[i, k] /= b[k, k]
            for j in range(k + 1, n):
                b[i, j] -= b[i, k] * b[k, j]
    return np.sum(np.log(np.abs(np.diag(b))))


def elimination_by_rows(a, b):
    a, b = a.copy(), b.copy()
    n = len(b)
    for k in range(n):
        for i in range(k + 1, n):
            m = a[i, k] / a[k, k]
            a[i, k:] -= m * a[k, k:]
            b[i] -= m * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        s = b[i]
        for j in range(i + 1, n):
            s -= a[i, j] * x[j]
        x[i] = s / a[i, i]
    return np.sum(x**2)


def forward_substitution(l, b):
    x = np.zeros(len(b))
    for i in range(len(b)):
        s = b[i]
        for j in range(i):
            s -= l[i, j] * x[j]
        x[i] = s / l[i, i]
    return x


def tridiagonal_solve(lower, diagonal, upper, b):
    n = len(b)
    c, d = np.zeros(n), np.zeros(n)
    c[0] = upper[0] / diagonal[0]
    d[0] = b[0] / diagonal[0]
    for i in range(1, n):
        m = diagonal[i] - lower[i] * c[i - 1]
        c[i] = upper[i] / m
        d[i] = (b[i] - lower[i] * d[i - 1]) / m
    x = np.zeros(n)
    x[n - 1] = d[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return np.sum(x**2)


def edit_distance(x, y, gap):
    d = np.zeros((len(x) + 1, len(y) + 1))
    for i in range(len(x) + 1):
        d[i, 0] = i * gap
    for j in range(len(y) + 1):
        d[0, j] = j * gap
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            change = d[i - 1, j - 1] + abs(x[i - 1] - y[j - 1])
            d[i, j] = min(d[i - 1, j] + gap, d[i, j - 1] + gap, change)
    return d[len(x), len(y)] ** 2


def floyd_warshall(w):
    d = w.copy()
    n = len(d)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])
    return np.sum(d)


def longest_path_in_a_grid(a):
    best = np.zeros(a.shape)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            left = best[i, j - 1] if j > 0 else 0.0
            above = best[i - 1, j] if i > 0 else 0.0
            best[i, j] = a[i, j] ** 2 + max(left, above)
    return best[-1, -1]


def prefix_table(a):
    n, m = a.shape
    s = np.zeros((n + 1, m + 1))
    for i in range(n):
        for j in range(m):
            s[i + 1, j + 1] = a[i, j] + s[i, j + 1] + s[i + 1, j] - s[i, j]
    return np.sum(s[1:, 1:] ** 2)


def ring_buffer(x, n):
    ring = np.zeros(4)
    total = 0.0
    for i in range(len(x)):
        ring[i % 4] = x[i]
        total += ring[0] * ring[1] + ring[2] * ring[3]
    return total


def delay_line(x, size, feedback):
    line = np.zeros(size)
    total = 0.0
    for i in range(len(x)):
        at = i % size
        out = line[at]
        line[at] = x[i] + feedback * out
        total += out**2 * (i + 1)
    return total + np.sum(line)


def conditional_writes(x):
    y = x.copy()
    for i in range(1, len(y)):
        if y[i] > y[i - 1]:
            y[i] = 0.5 * (y[i] + y[i - 1])
    return np.sum(y**2)


def reversal_by_swaps(x):
    y = x.copy()
    i, j = 0, len(y) - 1
    while i < j:
        y[i], y[j] = y[j], y[i]
        i += 1
        j -= 1
    return np.sum(y * x * np.arange(len(x)))


def written_through_a_view(x):
    y = x.copy()
    middle = y[1:-1]
    middle[0] = x[0] * x[1]
    middle *= 2.0
    return np.sum(y**2)


def row_view_in_a_loop(a):
    b = a.copy()
    for i in range(1, len(b)):
        row = b[i]
        row += 0.5 * b[i - 1]
        row[0] = row[1] * row[2]
    return np.sum(b**2)


def alias_sees_the_write(x):
    y = x.copy()
    z = y
    for i in range(len(y)):
        z[i] = y[i] ** 2
    return np.sum(y * z)


def copy_does_not_see_the_write(x):
    y = x.copy()
    z = y.copy()
    y[0] = z[1] * z[2]
    return np.sum(y * z)


def overwritten_many_times(x, n):
    y = np.zeros(3)
    for i in range(n):
        y[i % 3] = math.tanh(y[(i + 1) % 3] + x[i % len(x)])
    return np.sum(y)


def two_arrays_take_turns(u, n):
    u = u.copy()
    v = np.zeros(len(u))
    for _ in range(n):
        for i in range(1, len(u) - 1):
            v[i] = 0.25 * u[i - 1] + 0.5 * u[i] + 0.25 * u[i + 1]
        u, v = v, u
    return np.sum(u**2)


def gauss_seidel(a, b, sweeps):
    x = np.zeros(len(b))
    for _ in range(sweeps):
        for i in range(len(b)):
            s = b[i]
            for j in range(len(b)):
                if j != i:
                    s -= a[i, j] * x[j]
            x[i] = s / a[i, i]
    return np.sum(x**2)


def pascal_triangle(x, n):
    c = np.zeros(n + 1)
    c[0] = 1.0
    for i in range(1, n + 1):
        for j in range(i, 0, -1):
            c[j] = x * c[j] + c[j - 1]
    return np.sum(c[: n + 1] ** 2) / (n + 1)


def knapsack(values, sizes, capacity):
    best = np.zeros(capacity + 1)
    for k in range(len(values)):
        for room in range(capacity, sizes[k] - 1, -1):
            best[room] = max(best[room], best[room - sizes[k]] + values[k])
    return best[capacity]


def sieve_of_products(x, n):
    y = np.ones(n)
    for i in range(2, n):
        for j in range(i, n, i):
            y[j] = y[j] * (1.0 + 0.1 * x[i])
    return np.sum(y)


def divided_differences(points, values):
    c = values.copy()
    n = len(c)
    for level in range(1, n):
        for i in range(n - 1, level - 1, -1):
            c[i] = (c[i] - c[i - 1]) / (points[i] - points[i - level])
    return np.sum(c**2)


def element_accumulated_in_nested_loops(a, x):
    y = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            y[i] += a[i, j] * x[j]
        y[i] = math.tanh(y[i])
    return y


def matrix_product_into_a_table(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return np.sum(c**2)


def rows_rebuilt(a, n):
    b = a.copy()
    for t in range(n):
        b[t % len(b)] = np.tanh(b[(t + 1) % len(b)] * 0.5 + b[t % len(b)])
    return np.sum(b**2)


def stops_when_full(x, limit):
    y = np.zeros(len(x))
    k = 0
    for v in x:
        if np.sum(y) > limit:
            break
        if v > 0.0:
            y[k] = v * v
            k += 1
    return np.sum(y**2) + np.sum(x)


def stack_of_what_is_left(x):
    left, total = [x], 0.0
    while left:
        value = left.pop()
        total += value
        if value > 1.0:
            left.append(0.5 * value)
            left.append(0.25 * value)
    return total


def queue_that_is_read_in_order(x, n):
    queue, place, total = [x[0]], 0, 0.0
    while place < len(queue):
        value = queue[place]
        total += np.sin(value) * x[place % len(x)]
        place += 1
        if len(queue) < n:
            queue.append(value + 0.5 * x[(2 * place) % len(x)])
            queue.append(value * 0.5)
    return total + queue[len(queue) // 2]


PROGRAMS = (
    Program(trajectory, (normal(), whole(N))),
    Program(trajectory_with_two_steps_back, (normal(N),)),
    Program(sums_while_an_array_is_filled, (normal(N),)),
    Program(table_of_states, (normal(N),)),
    Program(squares_in_place, (normal(N),)),
    Program(all_pairs_in_place, (normal(N),), sizes=(4, 8, 16)),
    Program(dynamic_time_warping, (normal(N), normal(N)), sizes=(4, 8, 16)),
    Program(soft_dynamic_time_warping, (normal(N), normal(N)), sizes=(4, 8, 16)),
    Program(cholesky_by_hand, (definite(N),), sizes=(4, 8, 16)),
    Program(lu_in_place, (dominant(N),), sizes=(4, 8, 16)),
    Program(elimination_by_rows, (dominant(N), normal(N)), sizes=(4, 8, 16)),
    Program(forward_substitution, (dominant(N), normal(N)), sizes=(4, 8, 16)),
    Program(
        tridiagonal_solve,
        (normal(N, scale=0.3), positive(N, low=2.0, high=3.0), normal(N, scale=0.3), normal(N)),
    ),
    Program(edit_distance, (normal(N), normal(N), given(0.6)), sizes=(4, 8, 16)),
    Program(floyd_warshall, (positive(N, N),), sizes=(4, 8, 12)),
    Program(longest_path_in_a_grid, (normal(N, N),), sizes=(4, 8, 16)),
    Program(prefix_table, (normal(N, N),), sizes=(4, 8, 16)),
    Program(ring_buffer, (normal(2 * N), whole(N))),
    Program(delay_line, (normal(3 * N), whole(N), given(0.5))),
    Program(conditional_writes, (normal(N),)),
    Program(reversal_by_swaps, (normal(N),)),
    Program(written_through_a_view, (normal(N),)),
    Program(row_view_in_a_loop, (normal(N, 3),)),
    Program(alias_sees_the_write, (normal(N),)),
    Program(copy_does_not_see_the_write, (normal(N),)),
    Program(overwritten_many_times, (normal(N), whole(3 * N))),
    Program(two_arrays_take_turns, (normal(N), given(4))),
    Program(gauss_seidel, (dominant(N), normal(N), given(3)), sizes=(4, 8, 16)),
    Program(pascal_triangle, (given(0.8), whole(N)), sizes=(4, 8, 16)),
    Program(
        knapsack,
        (positive(N), lambda random, size: random.integers(1, 4, size), whole(2 * N)),
        sizes=(4, 8, 16),
    ),
    Program(sieve_of_products, (normal(N), whole(N)), sizes=(8, 16, 32)),
    Program(
        divided_differences,
        (lambda random, size: np.arange(size) + random.uniform(0.0, 0.3, size), normal(N)),
        sizes=(4, 8, 16),
    ),
    Program(element_accumulated_in_nested_loops, (normal(N, N), normal(N)), sizes=(4, 8, 16)),
    Program(matrix_product_into_a_table, (normal(N, N), normal(N, N)), sizes=(4, 8, 16)),
    Program(rows_rebuilt, (normal(N, 3), whole(2 * N))),
    Program(stops_when_full, (normal(N), given(1.0))),
    Program(stack_of_what_is_left, (given(5.5),)),
    Program(queue_that_is_read_in_order, (normal(N), whole(3 * N))),
)


def _writes_argument(a):
    for i in range(1, len(a)):
        a[i] += a[i - 1]
    return np.sum(a)


REFUSED = (Refused("writes_an_argument", lambda: ad.grad(_writes_argument)(np.ones(20)), WritesArgument),)
