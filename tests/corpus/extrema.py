"""Extrema of computed values: whoever wins is found among sums of products, which round in many ways.

A winner that is looked for by computing the values once more is missed where they round differently, and its
gradient lost; so these programs run on enough values for that to happen.
"""

# ruff: noqa: B905 (programs are written as their users write them)

from __future__ import annotations

import math

import numpy as np

import anadrome as ad
from anadrome.errors.frontend import StaticValueError
from tests.corpus.draw import N, indices, normal, whole
from tests.corpus.harness import Program, Refused


def nearest_by_arrays(x, y):
    distances = np.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=2)
    return np.sum(np.min(distances, axis=1))


def farthest_by_arrays(x, y):
    distances = np.sqrt(np.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=2))
    return np.sum(np.max(distances, axis=0) ** 2)


def nearest_by_comprehension(x, y):
    return sum(min(sum((p - q) ** 2 for p, q in zip(a, b)) for b in y) for a in x)


def nearest_by_loops(x, y):
    total = 0.0
    for a in x:
        best = math.inf
        for b in y:
            best = min(best, (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2)
        total += best
    return total


def nearest_by_argmin(x, y):
    total = 0.0
    for a in x:
        j = np.argmin([np.sum((a - b) ** 2) for b in y])
        total += np.sum(np.abs(a - y[j]) ** 3)
    return total


def closest_pair(x):
    n = len(x)
    return min(np.sum((x[i] - x[j]) ** 2) for i in range(n) for j in range(i))


def two_nearest(x, y):
    total = 0.0
    for a in x:
        first, second = math.inf, math.inf
        for b in y:
            d = (a - b) @ (a - b)
            if d < first:
                first, second = d, first
            elif d < second:
                second = d
        total += first / second
    return total


def greatest_dot_product(a, x):
    return np.max(a @ x) * np.min(a @ x)


def greatest_polynomial(x):
    return np.max(x * x * x - 0.7 * x * x + 0.1 * x) + max(v * v * 0.3 + v * 1.7 for v in x)


def running_maximum_of_sums(a, x):
    values = np.array([sum(a[i, k] * x[k] for k in range(3)) for i in range(len(a))])
    return np.sum(np.maximum.accumulate(values))


def running_maximum_by_loop(a, x):
    top = -math.inf
    total = 0.0
    for row in a:
        top = max(top, row[0] * x[0] + row[1] * x[1] + row[2] * x[2])
        total += top
    return total


def maxima_by_key_of_sums(a, x, keys, bins):
    tops = np.full(bins, -50.0)
    for i in range(len(a)):
        value = a[i, 0] * x[0] + a[i, 1] * x[1] + a[i, 2] * x[2]
        tops[keys[i]] = max(tops[keys[i]], value)
    return np.sum(tops**2)


def segment_minima_of_sums(a, x, keys, bins):
    lows = ad.segment_min(np.sum(a * x, axis=1), keys, bins)
    return np.sum(lows[keys])


def sorted_sums(a, x):
    return np.sum(np.sort(np.sum(a * x, axis=1)) * np.arange(len(a)))


def median_of_sums(a, x):
    return np.median(np.array([row[0] * x[0] + row[1] * x[1] + row[2] * x[2] for row in a]))


def largest_row_norm(a):
    return max(sum(v * v for v in row) for row in a) + max(math.hypot(row[0], row[1]) for row in a)


def range_of_a_wave(x, w):
    y = np.sin(x * w + 0.3) * x + w * x * x
    return np.ptp(y)


def hausdorff_distance(x, y):
    there = max(min(np.sum((a - b) ** 2) for b in y) for a in x)
    back = max(min(np.sum((a - b) ** 2) for a in x) for b in y)
    return max(there, back)


def supporting_function(points, directions):
    return sum(max(p @ d for p in points) for d in directions)


def piecewise_maximum_of_planes(slopes, offsets, x):
    return sum(max(s @ v + o for s, o in zip(slopes, offsets)) ** 2 for v in x)


def chosen_by_equality_with_the_maximum(a, x):
    values = a @ x
    return np.sum(np.where(values == np.max(values), values**2, 0.0))


SIZES = (8, 16, 32)
SQUARES = (4, 8, 16)


def greatest_or_nothing(x, y):
    best = max((v * w for v, w in zip(x, y) if v > 9.0), default=0.5)
    return best * sum(max((v * w for w in y if w < v), default=v) for v in x)


def clipped_from_below_by_a_start(x):
    return np.sum(np.max(x, axis=1, initial=0.2) ** 2) + np.min(x, initial=-0.1)


PROGRAMS = (
    Program(greatest_or_nothing, (normal(N), normal(N)), at=10, sizes=SQUARES),
    Program(clipped_from_below_by_a_start, (normal(N, 3),), at=20, sizes=SIZES),
    Program(nearest_by_arrays, (normal(N, 3), normal(N, 3)), at=20, sizes=SQUARES),
    Program(farthest_by_arrays, (normal(N, 3), normal(N, 3)), at=20, sizes=SQUARES),
    Program(nearest_by_comprehension, (normal(N, 3), normal(N, 3)), at=10, sizes=SQUARES),
    Program(nearest_by_loops, (normal(N, 3), normal(N, 3)), at=10, sizes=SQUARES),
    Program(nearest_by_argmin, (normal(N, 3), normal(N, 3)), at=10, sizes=SQUARES),
    Program(closest_pair, (normal(N, 3),), at=10, sizes=SQUARES),
    Program(two_nearest, (normal(N, 3), normal(N, 3)), at=10, sizes=SQUARES, seed=1),
    Program(greatest_dot_product, (normal(N, 3), normal(3)), at=20, sizes=SIZES),
    Program(greatest_polynomial, (normal(N),), at=20, sizes=SIZES),
    Program(running_maximum_of_sums, (normal(N, 3), normal(3)), at=20, sizes=SIZES),
    Program(running_maximum_by_loop, (normal(N, 3), normal(3)), at=20, sizes=SIZES),
    Program(
        maxima_by_key_of_sums,
        (normal(2 * N, 3), normal(3), indices(2 * N, below=N), whole(N)),
        at=20,
        sizes=SIZES,
    ),
    Program(
        segment_minima_of_sums,
        (normal(2 * N, 3), normal(3), indices(2 * N, below=N), whole(N)),
        at=20,
        sizes=SIZES,
    ),
    Program(sorted_sums, (normal(N, 3), normal(3)), at=20, sizes=SIZES),
    Program(median_of_sums, (normal(N, 3), normal(3)), at=21, sizes=SIZES),
    Program(largest_row_norm, (normal(N, 3),), at=20, sizes=SIZES),
    Program(range_of_a_wave, (normal(N), normal()), at=20, sizes=SIZES),
    Program(hausdorff_distance, (normal(N, 3), normal(N, 3)), at=10, sizes=SQUARES),
    Program(supporting_function, (normal(N, 3), normal(N, 3)), at=10, sizes=SQUARES),
    Program(piecewise_maximum_of_planes, (normal(N, 3), normal(N), normal(N, 3)), at=10, sizes=SQUARES),
    Program(chosen_by_equality_with_the_maximum, (normal(N, 3), normal(3)), at=20, sizes=SIZES),
)

REFUSED = (
    Refused(
        "nearest_of_nothing",
        lambda: ad.grad(lambda x, y: sum(min((v - w) ** 2 for w in y) for v in x))(np.ones(20), np.zeros(0)),
        StaticValueError,
    ),
)
