"""Histograms and segment reductions: sums, products and extrema by key, empty bins, several bins a step."""

from __future__ import annotations

import numpy as np

import anadrome as ad
from anadrome.errors.runtime import IndexOutOfBounds
from tests.corpus.draw import N, flags, given, indices, normal, positive, whole, with_values
from tests.corpus.harness import Program, Refused


def histogram_by_loop(x, keys, bins):
    h = np.zeros(bins)
    for i in range(len(x)):
        h[keys[i]] += x[i] ** 2
    return np.sum(h**2)


def histogram_into_given(h, x, keys):
    h = h.copy()
    for i in range(len(x)):
        h[keys[i]] += np.sin(x[i])
    return h


def weighted_counts(x, keys, bins):
    return np.sum(np.bincount(keys, weights=x**2, minlength=bins)[:4] ** 2)


def products_by_key(x, keys, bins):
    p = np.ones(bins)
    for i in range(len(x)):
        p[keys[i]] *= x[i]
    return np.sum(np.sin(p))


def maxima_by_key(x, keys, bins):
    m = np.full(bins, -9.0)
    for i in range(len(x)):
        m[keys[i]] = max(m[keys[i]], x[i])
    return np.sum(m**2)


def minima_by_key_into_given(m, x, keys):
    m = m.copy()
    for i in range(len(x)):
        m[keys[i]] = min(m[keys[i]], x[i])
    return m


def means_by_key(x, keys, bins):
    total, count = np.zeros(bins), np.zeros(bins)
    for i in range(len(x)):
        total[keys[i]] += x[i]
        count[keys[i]] += 1.0
    return np.sum((total / np.maximum(count, 1.0)) ** 2)


def histogram_by_comprehension(x, keys, bins):
    return sum(sum(x[i] for i in range(len(x)) if keys[i] == b) ** 2 for b in range(bins))


def two_dimensional_histogram(x, rows, columns, bins):
    h = np.zeros((bins, 3))
    for i in range(len(x)):
        h[rows[i], columns[i]] += x[i]
    return np.sum(h[:, 0] * h[:, 1] * h[:, 2]) + np.sum(h**2)


def vectors_by_key(a, keys, bins):
    sums = np.zeros((bins, 3))
    for i in range(len(a)):
        sums[keys[i]] += a[i] ** 2
    return np.sum(np.sqrt(sums + 0.1))


def linear_binning(x, bins):
    h = np.zeros(bins)
    for v in x:
        at = int(v)
        part = v - at
        h[at] += 1.0 - part
        h[at + 1] += part
    return np.sum(h**2)


def histogram_of_kept_only(x, keys, keep, bins):
    h = np.zeros(bins)
    for i in range(len(x)):
        if keep[i]:
            h[keys[i]] += x[i] ** 3
    return np.sum(np.exp(0.1 * h))


def histogram_then_gather(x, keys, bins):
    h = np.zeros(bins)
    for i in range(len(x)):
        h[keys[i]] += np.exp(x[i])
    return sum(np.log(h[keys[i]]) - x[i] for i in range(len(x)))


def accumulate_in_nested_loops(a, keys, bins):
    h = np.zeros(bins)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            h[(keys[i] + j) % bins] += a[i, j] * a[i, 0]
    return np.sum(h**2)


def ring_of_sums(x, bins):
    h = np.zeros(bins)
    for i in range(len(x)):
        h[i % bins] += x[i] * x[i]
        h[(i + 1) % bins] -= x[i]
    return np.sum(h**3)


def segment_sums_by_starts(x, starts):
    total = 0.0
    for s in range(len(starts) - 1):
        part = 0.0
        for i in range(starts[s], starts[s + 1]):
            part += x[i]
        total += part**2
    return total


def segments_by_comprehension(x, starts):
    return sum(sum(x[i] for i in range(starts[s], starts[s + 1])) ** 2 for s in range(len(starts) - 1))


def sparse_matrix_vector(values, columns, starts, x):
    y = [
        sum(values[k] * x[columns[k]] for k in range(starts[r], starts[r + 1]))
        for r in range(len(starts) - 1)
    ]
    return sum(v * v for v in y)


def coordinate_matrix_vector(values, rows, columns, x, count):
    y = np.zeros(count)
    for k in range(len(values)):
        y[rows[k]] += values[k] * x[columns[k]]
    return np.tanh(y)


def graph_convolution(features, sources, targets):
    sums = np.zeros(features.shape)
    for e in range(len(sources)):
        sums[targets[e]] += features[sources[e]]
    return np.sum(np.tanh(sums) * features)


def starts(random, size):
    """Places where segments start, some of them empty, for 2 · size elements."""
    inner = np.sort(random.integers(0, 2 * size, size - 1))
    return np.concatenate([[0], inner, [2 * size]])


def between(low, high, length):
    return lambda random, size: random.uniform(low, high(size), length.at(size))


PROGRAMS = (
    Program(histogram_by_loop, (normal(2 * N), indices(2 * N, below=N), whole(N))),
    Program(histogram_into_given, (normal(N), normal(2 * N), indices(2 * N, below=N))),
    Program(weighted_counts, (normal(2 * N), indices(2 * N, below=N), whole(N))),
    Program(products_by_key, (positive(2 * N), indices(2 * N, below=N), whole(N))),
    Program(
        products_by_key,
        (
            with_values(positive(2 * N), {1: 0.0, 4: 0.0, 5: 0.0}),
            given(np.array([0, 1, 1, 2, 2, 2, 0, 3, 3, 4])),
            whole(N),
        ),
        name="products_by_key_with_zeros",
        sizes=(5,),
    ),
    Program(maxima_by_key, (normal(2 * N), indices(2 * N, below=N), whole(N))),
    Program(minima_by_key_into_given, (normal(N), normal(2 * N), indices(2 * N, below=N))),
    Program(
        maxima_by_key,
        (given(np.array([1.0, 1.0, 0.5, 2.0, 2.0])), given(np.array([0, 0, 0, 2, 2])), given(4)),
        name="maxima_by_key_with_ties",
        sizes=(5,),
        kink="two elements of a bin are its largest: the first one counts",
        slopes=lambda x, keys, bins: np.array([2.0, 0.0, 0.0, 4.0, 0.0]),
    ),
    Program(means_by_key, (normal(2 * N), indices(2 * N, below=N), whole(N))),
    Program(histogram_by_comprehension, (normal(2 * N), indices(2 * N, below=N), whole(N)), sizes=(4, 8, 16)),
    Program(
        two_dimensional_histogram,
        (normal(4 * N), indices(4 * N, below=N), indices(4 * N, below=3), whole(N)),
    ),
    Program(vectors_by_key, (normal(2 * N, 3), indices(2 * N, below=N), whole(N))),
    Program(linear_binning, (between(0.0, lambda size: size - 1.001, 2 * N), whole(N))),
    Program(histogram_of_kept_only, (normal(2 * N), indices(2 * N, below=N), flags(2 * N), whole(N))),
    Program(histogram_then_gather, (normal(2 * N), indices(2 * N, below=N), whole(N))),
    Program(accumulate_in_nested_loops, (normal(N, 4), indices(N, below=N), whole(N))),
    Program(ring_of_sums, (normal(3 * N), whole(N))),
    Program(segment_sums_by_starts, (normal(2 * N), starts)),
    Program(segments_by_comprehension, (normal(2 * N), starts)),
    Program(sparse_matrix_vector, (normal(2 * N), indices(2 * N, below=N), starts, normal(N))),
    Program(
        coordinate_matrix_vector,
        (normal(2 * N), indices(2 * N, below=N), indices(2 * N, below=N), normal(N), whole(N)),
    ),
    Program(graph_convolution, (normal(N, 3), indices(2 * N, below=N), indices(2 * N, below=N))),
)

REFUSED = (
    Refused(
        "key_outside",
        lambda: ad.grad(histogram_by_loop)(np.ones(20), np.full(20, 7), 7),
        IndexOutOfBounds,
    ),
    Refused(
        "key_below",
        lambda: ad.grad(histogram_by_loop)(np.ones(20), np.full(20, -8), 7),
        IndexOutOfBounds,
    ),
)
