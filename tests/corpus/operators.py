"""Parallel operations with operators of one's own, masks, and NumPy's accumulations."""

from __future__ import annotations

import math

import numpy as np

import anadrome as ad
from anadrome.errors.runtime import IndexOutOfBounds
from tests.corpus.draw import N, given, indices, normal, positive, whole, with_values
from tests.corpus.harness import Program, Refused


def compose(f, g):
    """The linear function x -> f[0] x + f[1], then g."""
    return f[0] * g[0], f[1] * g[0] + g[1]


def join_statistics(a, b):
    """Count, mean and spread of two samples together (Chan, Golub & LeVeque 1979)."""
    n, m = a[0] + b[0], np.maximum(a[0] + b[0], 1.0)
    delta = b[1] - a[1]
    return n, a[1] + delta * b[0] / m, a[2] + b[2] + delta**2 * a[0] * b[0] / m


def log_add(a, b):
    """(m, s) stands for s·eᵐ."""
    m = np.maximum(a[0], b[0])
    return m, a[1] * np.exp(a[0] - m) + b[1] * np.exp(b[0] - m)


def reduce_by_name(x):
    return ad.reduce("mul", x) + ad.reduce("max", x) * ad.reduce("add", x)


def reduce_with_a_lambda(x):
    return ad.reduce(lambda a, b: a + b + a * b, x * 0.5, identity=0.0)


def reduce_linear_functions(a, b):
    slope, start = ad.reduce(compose, (a, b), identity=(1.0, 0.0))
    return slope * 2.0 + start


def reduce_statistics(x):
    _, mean, spread = ad.reduce(
        join_statistics, (np.ones(len(x)), x, np.zeros(len(x))), identity=(0.0, 0.0, 0.0)
    )
    return mean**2 + spread


def reduce_to_the_place_of_the_least(x, y):
    def less(a, b):
        takes_b = b[0] < a[0]
        return np.where(takes_b, b[0], a[0]), np.where(takes_b, b[1], a[1])

    least, at = ad.reduce(less, (x, np.arange(len(x))), identity=(np.inf, 0))
    return least**2 * y[at] + np.sum(y)


def reduce_streaming_logsumexp(x):
    m, s = ad.reduce(log_add, (x, np.ones(len(x))), identity=(-np.inf, 0.0))
    return m + np.log(s)


def reduce_with_an_inverse(x):
    return ad.reduce(lambda a, b: a * b, x, identity=1.0, inverse=lambda r, v: r / v)


def complex_product_with_an_inverse(r, phi):
    def times(a, b):
        return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]

    def over(a, b):
        size = b[0] * b[0] + b[1] * b[1]
        return (a[0] * b[0] + a[1] * b[1]) / size, (a[1] * b[0] - a[0] * b[1]) / size

    real, imaginary = ad.reduce(times, (r * np.cos(phi), r * np.sin(phi)), identity=(1.0, 0.0), inverse=over)
    return real * imaginary + imaginary


def histogram_with_an_inverse(h, x, p):
    found = ad.reduce_by_index(
        h,
        lambda a, b: a + b - a * b,
        p,
        x,
        identity=0.0,
        bounds="ignore",
        inverse=lambda r, v: (r - v) / (1.0 - v),
    )
    return np.sum(found**2)


def scan_linear_recurrence(a, b):
    slope, start = ad.scan(compose, (a, b), identity=(1.0, 0.0))
    return start * slope


def scan_exclusive_products(x):
    return ad.scan("mul", x, exclusive=True) * x


def scan_of_maxima(x):
    return ad.scan("max", x) ** 2


def scan_with_a_lambda(x):
    return ad.scan(lambda a, b: a + b + 0.5 * a * b, x, identity=0.0)


def running_logsumexp(x):
    m, s = ad.scan(log_add, (x, np.ones(len(x))), identity=(-np.inf, 0.0))
    return m + np.log(s)


def bins_of_sums_and_maxima(x, keys, bins):
    sums = ad.reduce_by_index(bins, "add", keys, x**2)
    tops = ad.reduce_by_index(np.zeros(bins), "max", keys, x)
    return np.sum(sums * tops)


def bins_of_products(x, keys, bins):
    return ad.reduce_by_index(bins, "mul", keys, x)


def bins_with_a_lambda(x, keys, bins):
    return ad.reduce_by_index(np.zeros(bins), lambda a, b: a + b + a * b * 0.3, keys, x, identity=0.0)


def bins_that_ignore_what_is_outside(x, keys, bins):
    return ad.reduce_by_index(bins, "add", keys * 2, x**2, bounds="ignore")


def products_that_ignore_zeros_outside(h, x):
    keys = np.arange(len(x))
    return ad.reduce_by_index(h, "mul", keys, x * (keys < len(h)), bounds="ignore")


def scatter_that_ignores_what_is_outside(h, x, keys):
    return np.sum(ad.scatter(h, keys * 2, x**2, bounds="ignore") * h)


def segments(x, keys, bins):
    products = ad.segment_prod(x, keys, bins)
    return ad.segment_sum(x, keys, bins) * products + np.sum(ad.segment_max(x, keys, bins)[keys] ** 2)


def filter_by_a_predicate(x):
    kept = ad.filter(lambda v: v > 0.0, x)
    return np.sum(kept**2) * len(kept)


def mask_reads(x, y):
    chosen = x[y > 0.0]
    return np.sum(chosen**3) + np.mean(x[x > -9.0])


def mask_writes(x, y):
    z = x.copy()
    z[x > 0.5] = 0.5
    z[y > 0.0] *= 2.0
    return z * y


def map_of_pairs(x, y):
    products, sums = ad.map(lambda a, b: (a * b, math.sin(a + b)), x, y)
    return np.sum(products * sums)


def sorted_by_library(x, y):
    return np.sum(ad.sort(x) * np.arange(len(x))) + np.sum(y[ad.argsort(x)] * x)


def numpy_accumulations(x):
    return np.sum(np.maximum.accumulate(x) * np.add.accumulate(x)) + np.multiply.reduce(x)


def add_at_repeated_places(h, x, p):
    h = h.copy()
    np.add.at(h, p, x**2)
    return np.sum(h**3)


def quantiles_and_median(x):
    return np.median(x) * np.quantile(x, 0.3) + np.sum(x)


def padded_convolution(x, kernel):
    return np.convolve(np.pad(x, 1), kernel)


def reduction_under_a_loop(a, b, n):
    s = 0.0
    for k in range(n):
        slope, start = ad.reduce(compose, (a * (1.0 + 0.1 * s), b), identity=(1.0, 0.0))
        s = math.tanh(slope + start) + 0.1 * k
    return s


PROGRAMS = (
    Program(reduce_by_name, (positive(N),)),
    Program(reduce_with_a_lambda, (normal(N),)),
    Program(reduce_linear_functions, (normal(N), normal(N))),
    Program(reduce_statistics, (normal(N),)),
    Program(reduce_to_the_place_of_the_least, (normal(N), normal(N))),
    Program(reduce_streaming_logsumexp, (normal(N),)),
    Program(reduce_with_an_inverse, (positive(N),)),
    Program(complex_product_with_an_inverse, (positive(N, low=0.8, high=1.2), normal(N))),
    Program(
        histogram_with_an_inverse,
        (positive(N, low=0.1, high=0.6), positive(3 * N, low=0.1, high=0.6), indices(3 * N, below=N)),
    ),
    Program(scan_linear_recurrence, (normal(N), normal(N))),
    Program(scan_exclusive_products, (with_values(positive(N), {1: 0.0, 3: 0.0}),)),
    Program(scan_of_maxima, (normal(N),)),
    Program(scan_with_a_lambda, (normal(N, scale=0.4),)),
    Program(running_logsumexp, (normal(N),)),
    Program(bins_of_sums_and_maxima, (positive(2 * N), indices(2 * N, below=N), whole(N))),
    Program(bins_of_products, (with_values(positive(2 * N), {1: 0.0}), indices(2 * N, below=N), whole(N))),
    Program(bins_with_a_lambda, (normal(2 * N), indices(2 * N, below=N), whole(N))),
    Program(bins_that_ignore_what_is_outside, (normal(2 * N), indices(2 * N, below=N), whole(N))),
    Program(products_that_ignore_zeros_outside, (positive(N), positive(2 * N))),
    Program(scatter_that_ignores_what_is_outside, (normal(N), normal(2 * N), indices(2 * N, below=N))),
    Program(segments, (positive(2 * N), indices(2 * N, below=N), whole(N))),
    Program(filter_by_a_predicate, (normal(N),)),
    Program(mask_reads, (normal(N), normal(N))),
    Program(mask_writes, (normal(N), normal(N))),
    Program(map_of_pairs, (normal(N), normal(N))),
    Program(sorted_by_library, (normal(N), normal(N))),
    Program(numpy_accumulations, (positive(N),)),
    Program(add_at_repeated_places, (normal(N), normal(2 * N), indices(2 * N, below=N))),
    Program(quantiles_and_median, (normal(N),)),
    Program(padded_convolution, (normal(N), normal(3))),
    Program(reduction_under_a_loop, (positive(N), normal(N), given(3))),
)

REFUSED = (
    Refused(
        "place_outside",
        lambda: ad.grad(lambda x, p: np.sum(ad.segment_sum(x, p, 3)))(np.ones(20), np.full(20, 3)),
        IndexOutOfBounds,
    ),
)
