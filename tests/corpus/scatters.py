"""Gather and scatter: writes by an index array with duplicates, rows, permutations, only some places."""

from __future__ import annotations

import numpy as np

import anadrome as ad
from anadrome.errors.frontend import WritesArgument
from anadrome.errors.runtime import IndexOutOfBounds
from tests.corpus.draw import N, flags, indices, normal, permutation, whole
from tests.corpus.harness import Program, Refused


def scatter_last_one_wins(h, x, p):
    h = h.copy()
    for i in range(len(p)):
        h[p[i]] = x[i] ** 2
    return h


def scatter_by_array(h, x, p):
    h = h.copy()
    h[p] = np.sin(x)
    return np.sum(h**2)


def scatter_a_scalar(h, s, p):
    h = h.copy()
    h[p] = s * s
    return np.sum(h * h)


def scatter_rows(a, rows, p):
    a = a.copy()
    a[p] = rows * rows
    return np.sum(a**2)


def scatter_of_what_it_overwrites(x, p):
    y = x.copy()
    for i in range(len(p)):
        y[p[i]] = np.sin(y[p[i]]) + x[i]
    return y


def permute_and_multiply(x, p):
    y = np.empty(len(x))
    for i in range(len(x)):
        y[p[i]] = x[i] * (i + 1)
    return np.sum(y * x)


def inverse_permutation(x, p):
    y = np.zeros(len(x))
    y[p] = x
    return np.sum(y * np.arange(len(x)) ** 2) + np.sum(y[p] ** 3)


def gather_then_scatter(x, p, q):
    y = np.zeros(len(x))
    for i in range(len(p)):
        y[q[i]] = x[p[i]] ** 2
    return np.sum(y * x)


def scatter_chosen_only(x, keep):
    y = x.copy()
    for i in range(len(x)):
        if keep[i]:
            y[i] = x[i] ** 3
    return y


def scatter_forwards_in_itself(x):
    y = x.copy()
    for i in range(len(x) - 1):
        y[i + 1] = y[i] * y[i + 1]
    return np.sum(y)


def write_a_slice(x, y):
    z = x.copy()
    z[1:-1] = y[1:-1] ** 2
    z[::2] *= 3.0
    return np.sum(z * x)


def write_a_row_and_a_column(a, x):
    b = a.copy()
    b[1] = x**2
    b[:, 2] = a[:, 0] * a[:, 1]
    b[0, -1] = x[0]
    return np.sum(b**2)


def write_a_block(a):
    b = np.zeros(a.shape)
    b[1:, 1:] = a[:-1, :-1] ** 2
    b[0] += a[0]
    return np.sum(b * a)


def fancy_add_without_duplicates(h, x, p):
    h = h.copy()
    h[p] += x
    return np.sum(h**2)


def swapped_elements(x, i, j):
    y = x.copy()
    y[i], y[j] = y[j], y[i]
    return np.sum(y * x * np.arange(len(x)))


def rotated_in_place(x):
    y = x.copy()
    first = y[0]
    for i in range(len(y) - 1):
        y[i] = y[i + 1]
    y[len(y) - 1] = first
    return np.sum(y * x)


def embedding_lookup(table, words):
    return np.sum(np.tanh(np.mean(table[words], axis=0)))


def bilinear_sampling(image, points):
    def sample(x, y):
        i, j = int(np.floor(x)), int(np.floor(y))
        s, t = x - i, y - j
        return (
            (1.0 - s) * (1.0 - t) * image[i, j]
            + s * (1.0 - t) * image[i + 1, j]
            + (1.0 - s) * t * image[i, j + 1]
            + s * t * image[i + 1, j + 1]
        )

    return sum(sample(point[0], point[1]) ** 2 for point in points)


def particles_to_grid(positions, masses, cells):
    grid = np.zeros(cells)
    for k in range(len(positions)):
        i = int(positions[k])
        w = positions[k] - i
        grid[i] += masses[k] * (1.0 - w) ** 2
        grid[i + 1] += masses[k] * w
    return np.sum(grid**2)


def table_interpolation(table, x):
    return np.sum(np.interp(x, np.linspace(0.0, 1.0, len(table)), table) ** 2)


def inside(count, columns, top):
    return lambda random, size: random.uniform(0.05, top(size), (count.at(size), *columns))


PROGRAMS = (
    Program(scatter_last_one_wins, (normal(N), normal(2 * N), indices(2 * N, below=N))),
    Program(scatter_by_array, (normal(N), normal(2 * N), indices(2 * N, below=N))),
    Program(scatter_a_scalar, (normal(N), normal(), indices(N, below=N))),
    Program(scatter_rows, (normal(N, 3), normal(N, 3), indices(N, below=N))),
    Program(scatter_of_what_it_overwrites, (normal(N), indices(N, below=N))),
    Program(permute_and_multiply, (normal(N), permutation(N))),
    Program(inverse_permutation, (normal(N), permutation(N))),
    Program(gather_then_scatter, (normal(N), indices(N, below=N), indices(N, below=N))),
    Program(scatter_chosen_only, (normal(N), flags(N))),
    Program(scatter_forwards_in_itself, (normal(N),)),
    Program(write_a_slice, (normal(N), normal(N))),
    Program(write_a_row_and_a_column, (normal(N, 4), normal(4))),
    Program(write_a_block, (normal(N, 4),)),
    Program(fancy_add_without_duplicates, (normal(N), normal(N), permutation(N))),
    Program(swapped_elements, (normal(N), whole(1), whole(3))),
    Program(rotated_in_place, (normal(N),)),
    Program(embedding_lookup, (normal(N, 3), indices(N, below=N))),
    Program(bilinear_sampling, (normal(4, 4), inside(2 * N, (2,), lambda size: 2.95))),
    Program(particles_to_grid, (inside(2 * N, (), lambda size: size - 1.001), normal(2 * N), whole(N))),
    Program(table_interpolation, (normal(N), inside(2 * N, (), lambda size: 0.99)), sizes=(8, 16, 32)),
)

REFUSED = (
    Refused(
        "write_outside",
        lambda: ad.grad(scatter_by_array)(np.ones(20), np.ones(20), np.full(20, 20)),
        IndexOutOfBounds,
    ),
    Refused("write_into_an_argument", lambda: ad.grad(_writes)(np.ones(20)), WritesArgument),
)


def _writes(x):
    x[0] = 2.0 * x[1]
    return np.sum(x)
