"""Integers that loops move on: places in packed and flat arrays, steps of two, counts of a `while`."""

from __future__ import annotations

import numpy as np

from tests.corpus.draw import N, given, normal, positive
from tests.corpus.harness import Program


def packed_triangle(lower, x):
    y = np.zeros(len(x))
    k = 0
    for i in range(len(x)):
        for j in range(i + 1):
            y[i] += lower[k] * x[j]
            k += 1
    return np.sum(y * y)


def packed_rows(entries, x):
    n = len(x)
    k = len(entries) - 1
    total = 0.0
    for i in range(n):
        for j in range(i, n):
            total += entries[k] * x[i] * x[j]
            k -= 1
            if k < 0:
                k = len(entries) - 1
    return total + k


def flat(a):
    out = np.zeros(a.size)
    k = 0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[k] = a[i, j] ** 2 * np.sin(a[i, j])
            k += 1
    return np.sum(out * out) + k


def flat_backwards(a):
    out = np.zeros(a.size)
    k = a.size
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            k -= 1
            out[k] = a[i, j] * (k + 1)
    return np.sum(out * out[::-1])


def in_steps(x):
    k = 0
    total = 0.0
    for _ in range(len(x) // 3):
        total += x[k] * x[k + 1] * np.exp(-(x[k + 2] ** 2))
        k += 3
    return total + k


def distances_of_pairs(x):
    n = len(x)
    found = np.zeros(n * (n - 1) // 2)
    k = 0
    for i in range(n):
        for j in range(i + 1, n):
            found[k] = np.sqrt((x[i] - x[j]) ** 2 + 0.01)
            k += 1
    return np.sum(1.0 / found) + k


def weights_of_growing_steps(x, scale):
    k, gap = 0, 1
    total = 0.0
    while k < len(x):
        total += scale * x[k] ** 2 * gap
        k += gap
        gap += 1
    return total


def until_enough(x, weight):
    k = 0
    total = 0.0
    while k < len(x) and total < 3.0:
        total += weight * x[k] ** 2 * (k + 1)
        k += 1
    return total * k


def every_other_until_enough(x, weight):
    k, pairs = len(x) - 1, 0
    total = 0.0
    while k > 0 and total < 3.0:
        total = total * np.cos(x[k]) + weight * x[k - 1] * pairs
        k -= 2
        pairs += 1
    return total + pairs


def rows_of_blocks(a, weights):
    first = 0
    total = 0.0
    for i in range(len(weights)):
        for j in range(2):
            total += weights[i] * np.sum(a[first + j] ** 2)
        first += 2
    return total


def as_many_as_there_are(x, steps):
    k = 0
    for i in range(-2, len(x) - 3):
        for _ in range(i):
            k += 2
        steps = steps * np.cos(x[i + 2]) + k * x[i + 2]
    return steps


def steps_of_an_argument(x, step):
    k, total = 1, 0.0
    for i in range(len(x)):
        total += x[k % len(x)] * x[i]
        k += step
    return total * k


PROGRAMS = (
    Program(packed_triangle, (normal(21), normal(6))),
    Program(packed_rows, (normal(N), normal(N))),
    Program(flat, (normal(6, N),)),
    Program(flat_backwards, (normal(6, N),)),
    Program(in_steps, (normal(N),)),
    Program(distances_of_pairs, (normal(N),)),
    Program(weights_of_growing_steps, (normal(N), positive())),
    Program(until_enough, (normal(N), positive()), sizes=(64, 128, 256)),
    Program(every_other_until_enough, (normal(N), positive())),
    Program(rows_of_blocks, (normal(10, 4), normal(5))),
    Program(as_many_as_there_are, (normal(N), positive())),
    Program(steps_of_an_argument, (normal(N), given(3))),
)

REFUSED = ()
