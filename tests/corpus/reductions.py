"""Reductions: sums, products with zeros, extrema with ties, arg-extrema, variances, logsumexp, any, all."""

# ruff: noqa: B905 (programs are written as their users write them)

from __future__ import annotations

import math

import numpy as np
import scipy.special

import anadrome as ad
from anadrome.errors.runtime import EmptyReduction
from tests.corpus.draw import N, given, normal, positive, with_values
from tests.corpus.harness import Program, Refused


def sum_of_squares(x):
    return sum(v * v for v in x)


def sum_along_axes(a):
    return np.sum(np.sum(a, axis=0) ** 2) + np.sum(a.sum(axis=1, keepdims=True) * a)


def product(x):
    return np.prod(x)


def product_by_loop(x):
    p = 1.0
    for v in x:
        p = p * v
    return p


def product_of_differences(x):
    return math.prod(v - 0.5 for v in x)


def products_of_rows(a):
    return np.prod(a, axis=1)


def products_of_columns(a):
    return np.sum(np.prod(a, axis=0) ** 2)


def largest(x):
    return np.max(x) ** 2


def smallest_and_largest(x):
    return min(x) * max(x) + np.ptp(x)


def extrema_of_rows(a):
    return np.sum(np.max(a, axis=1) * np.min(a, axis=1))


def extrema_of_columns(a):
    return np.max(a, axis=0) ** 2


def arg_extrema(x, y):
    return y[np.argmax(x)] * x[np.argmin(y)] + np.sum(y)


def nearest_by_loop(x, point):
    best, at = np.inf, 0
    for i in range(len(x)):
        distance = abs(x[i] - point)
        if distance < best:
            best, at = distance, i
    return best**2 + x[at]


def arg_extremum_of_tuples(x, y):
    return max(zip(x, y), key=lambda pair: pair[0])[1]


def mean_and_variance(x):
    return np.var(x) / (1.0 + np.mean(x) ** 2) + np.std(x)


def welford(x):
    count, mean, spread = 0, 0.0, 0.0
    for v in x:
        count += 1
        delta = v - mean
        mean += delta / count
        spread += delta * (v - mean)
    return spread / count + mean


def variances_of_columns(a):
    return np.var(a, axis=0, ddof=1)


def logsumexp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def logsumexp_by_library(a):
    return scipy.special.logsumexp(a, axis=1)


def logsumexp_streaming(x):
    m, s = -np.inf, 0.0
    for v in x:
        new = max(m, v)
        s = s * np.exp(m - new) + np.exp(v - new)
        m = new
    return m + np.log(s)


def norms(x):
    return np.linalg.norm(x) + np.sum(np.abs(x)) * np.max(np.abs(x)) + math.hypot(*x[:3])


def guarded_by_any_and_all(x):
    scale = 2.0 if np.any(x > 1.0) else 3.0
    return np.sum(x**2) * scale + (x[0] if np.all(x > -9.0) else x[1])


def counted(x):
    return np.sum(x) / max(1, np.count_nonzero(x > 0.0)) + sum(1 for v in x if v < 0.0) * x[0]


def dot_products(x, y):
    return np.dot(x, y) * (x @ x) + np.vdot(y, y) + np.inner(x, y)


def nested_reductions(a):
    return max(sum(v * v for v in row) for row in a) + min(math.prod(row) for row in a)


def matrix_of_sums(a, b):
    return np.array(
        [
            [sum(abs(a[i, k] - b[j, k]) for k in range(a.shape[1])) for j in range(len(b))]
            for i in range(len(a))
        ]
    )


def sum_of_nothing(x):
    return np.sum(x[len(x) :]) + sum(v for v in x if v > 1e9) + np.prod(x[:0]) * x[0] + np.sum(x)


def extrema_by_generators(x):
    return max(v for v in x) * min(abs(v) for v in x if v > -9.0)


def geometric_mean(x):
    return np.prod(x) ** (1.0 / len(x))


def softmax_attention_row(q, k, v):
    scores = [np.dot(q, row) for row in k]
    m = max(scores)
    weights = [np.exp(s - m) for s in scores]
    return sum(w * row for w, row in zip(weights, v)) / sum(weights)


def ties(*values):
    return given(np.array(values))


PROGRAMS = (
    Program(sum_of_squares, (normal(N),)),
    Program(sum_along_axes, (normal(N, 4),)),
    Program(product, (positive(N),)),
    Program(product, (with_values(positive(N), {2: 0.0}),), name="product_with_a_zero"),
    Program(product, (with_values(positive(N), {1: 0.0, 3: 0.0}),), name="product_with_two_zeros"),
    Program(product, (with_values(positive(N), {0: 0.0, 1: 0.0, 3: 0.0}),), name="product_with_three_zeros"),
    Program(product_by_loop, (positive(N),)),
    Program(product_by_loop, (with_values(positive(N), {2: 0.0}),), name="product_by_loop_with_a_zero"),
    Program(product_of_differences, (with_values(positive(N), {0: 0.5, 2: 0.5}),)),
    Program(products_of_rows, (with_values(positive(N, 4), {1: 0.0, 6: 0.0, 7: 0.0}),)),
    Program(products_of_columns, (with_values(positive(N, 4), {1: 0.0, 6: 0.0, 9: 0.0}),)),
    Program(largest, (normal(N),)),
    Program(
        largest,
        (ties(0.5, 2.0, 1.0, 2.0, 2.0),),
        name="largest_of_ties",
        sizes=(5,),
        kink="three elements are the largest: the first one counts",
        slopes=lambda x: np.array([0.0, 4.0, 0.0, 0.0, 0.0]),
    ),
    Program(smallest_and_largest, (normal(N),)),
    Program(extrema_of_rows, (normal(N, 4),)),
    Program(extrema_of_columns, (normal(N, 3),)),
    Program(
        extrema_of_rows,
        (ties([1.0, 2.0, 2.0], [3.0, 3.0, 3.0]),),
        name="extrema_of_rows_with_ties",
        sizes=(2,),
        kink="several elements of a row are its extremum: the first one counts",
        slopes=lambda a: np.array([[2.0, 1.0, 0.0], [6.0, 0.0, 0.0]]),
    ),
    Program(arg_extrema, (normal(N), normal(N))),
    Program(nearest_by_loop, (normal(N), normal())),
    Program(mean_and_variance, (normal(N),)),
    Program(welford, (normal(N),)),
    Program(variances_of_columns, (normal(N, 3),)),
    Program(logsumexp, (normal(N),)),
    Program(logsumexp, (normal(N, scale=300.0),), name="logsumexp_of_large_numbers", rtol=1e-5),
    Program(logsumexp_by_library, (normal(N, 4),)),
    Program(logsumexp_streaming, (normal(N),)),
    Program(norms, (normal(N),)),
    Program(guarded_by_any_and_all, (normal(N),)),
    Program(counted, (normal(N),)),
    Program(dot_products, (normal(N), normal(N))),
    Program(nested_reductions, (normal(N, 4),)),
    Program(matrix_of_sums, (normal(N, 4), normal(N, 4)), sizes=(4, 8, 16)),
    Program(sum_of_nothing, (normal(N),)),
    Program(extrema_by_generators, (normal(N),)),
    Program(geometric_mean, (positive(N),)),
    Program(softmax_attention_row, (normal(4), normal(N, 4), normal(N, 4))),
)

REFUSED = (
    Refused(
        "largest_of_nothing", lambda: ad.grad(lambda x: np.max(x[len(x) :]))(np.ones(20)), EmptyReduction
    ),
    Refused(
        "smallest_of_a_filter_that_keeps_nothing",
        lambda: ad.grad(lambda x: min(v for v in x if v > 9.0))(np.ones(20)),
        EmptyReduction,
    ),
)
