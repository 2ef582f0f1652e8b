"""Scans: cumulative sums, products and maxima, linear recurrences, exclusive and reversed prefixes."""

from __future__ import annotations

import itertools

import numpy as np

import anadrome as ad
from anadrome.errors.frontend import WritesArgument
from tests.corpus.draw import N, given, indices, normal, positive, with_values
from tests.corpus.harness import Program, Refused


def cumulative_sum(x):
    return np.sin(np.cumsum(x**2))


def exclusive_sum(x):
    before = np.cumsum(x) - x
    return np.sum(before * x)


def suffix_sums(x):
    return np.cumsum(x[::-1])[::-1] ** 2


def cumulative_sum_along_axes(a):
    return np.sum(np.cumsum(a, axis=0) * np.cumsum(a, axis=1) ** 2)


def cumulative_product(x):
    return np.cumprod(x)


def cumulative_product_of_rows(a):
    return np.sum(np.cumprod(a, axis=1) ** 2)


def running_maximum(x):
    top = x[0]
    total = 0.0
    for v in x:
        top = max(top, v)
        total += top * v
    return total


def running_minimum_stored(x):
    low = np.zeros(len(x))
    low[0] = x[0]
    for i in range(1, len(x)):
        low[i] = min(low[i - 1], x[i])
    return np.sum(low**2)


def linear_recurrence(a, b):
    s = 0.0
    total = 0.0
    for i in range(len(a)):
        s = a[i] * s + b[i]
        total += s * s
    return total


def linear_recurrence_stored(a, b):
    s = np.zeros(len(a) + 1)
    for i in range(len(a)):
        s[i + 1] = a[i] * s[i] + b[i]
    return s


def second_order_recurrence(x, p, q):
    one, two = 0.0, 1.0
    for v in x:
        one, two = two, p * two + q * one + v
    return one * two


def exponential_smoothing(x, rate):
    level = x[0]
    errors = 0.0
    for i in range(1, len(x)):
        errors += (x[i] - level) ** 2
        level = rate * x[i] + (1.0 - rate) * level
    return errors


def matrix_products_two_by_two(a):
    p = np.eye(2)
    for m in a:
        p = p @ m
    return p


def continued_fraction(x):
    value = x[-1]
    for i in range(len(x) - 2, -1, -1):
        value = x[i] + 1.0 / value
    return value


def composed_affine_maps(scale, shift):
    a, b = 1.0, 0.0
    for i in range(len(scale)):
        a, b = scale[i] * a, scale[i] * b + shift[i]
    return a * 2.0 + b


def segmented_sum(x, starts):
    s = 0.0
    total = 0.0
    for i in range(len(x)):
        if starts[i] == 0:
            s = 0.0
        s += x[i]
        total += s**2
    return total


def balance_of_prefixes(x):
    prefix = np.cumsum(x)
    return max(prefix[j] - prefix[i] for i in range(len(x)) for j in range(i, len(x)))


def largest_subarray_sum(x):
    best = here = x[0]
    for v in x[1:]:
        here = max(v, here + v)
        best = max(best, here)
    return best


def accumulate_of_itertools(x):
    return sum(v**2 for v in itertools.accumulate([x[0], x[1], x[2]])) + np.sum(x)


def differences_undo_sums(x):
    return np.sum(np.diff(np.cumsum(x)) ** 2) + np.sum(np.diff(x) ** 3)


def scan_of_scan(x):
    return np.cumsum(np.cumsum(x) * x)


def discounted_returns(rewards, discount):
    value = 0.0
    baseline = 0.0
    for i in range(len(rewards) - 1, -1, -1):
        value = rewards[i] + discount * value
        baseline += value * value
    return baseline


def random_walk_with_barrier(x):
    place = 0.0
    total = 0.0
    for step in x:
        place = place + step
        if abs(place) > 1.5:
            place = 0.5 * place
        total += place**2
    return total


PROGRAMS = (
    Program(cumulative_sum, (normal(N),)),
    Program(exclusive_sum, (normal(N),)),
    Program(suffix_sums, (normal(N),)),
    Program(cumulative_sum_along_axes, (normal(N, 4),)),
    Program(cumulative_product, (positive(N),)),
    Program(cumulative_product, (with_values(positive(N), {2: 0.0}),), name="cumulative_product_with_a_zero"),
    Program(
        cumulative_product,
        (with_values(positive(N), {1: 0.0, 3: 0.0}),),
        name="cumulative_product_with_two_zeros",
    ),
    Program(cumulative_product_of_rows, (positive(N, 4),)),
    Program(running_maximum, (normal(N),)),
    Program(
        running_maximum,
        (given(np.array([1.0, 1.0, 3.0, 3.0])),),
        name="running_maximum_with_ties",
        sizes=(4,),
        kink="a later element equals the largest so far: the earlier one counts",
        slopes=lambda x: np.array([3.0, 1.0, 9.0, 3.0]),
    ),
    Program(running_minimum_stored, (normal(N),)),
    Program(linear_recurrence, (normal(N), normal(N))),
    Program(linear_recurrence_stored, (normal(N), normal(N))),
    Program(second_order_recurrence, (normal(N), given(0.6), given(-0.4))),
    Program(exponential_smoothing, (normal(N), given(0.3))),
    Program(matrix_products_two_by_two, (normal(N, 2, 2),)),
    Program(continued_fraction, (positive(N),)),
    Program(composed_affine_maps, (normal(N), normal(N))),
    Program(segmented_sum, (normal(N), indices(N, below=3))),
    Program(balance_of_prefixes, (normal(N),)),
    Program(largest_subarray_sum, (normal(N),)),
    Program(differences_undo_sums, (normal(N),)),
    Program(scan_of_scan, (normal(N),)),
    Program(discounted_returns, (normal(N), given(0.9))),
    Program(random_walk_with_barrier, (normal(N),)),
)

REFUSED = (
    Refused(
        "sums_into_the_argument",
        lambda: ad.grad(lambda x: np.sum(np.cumsum(x, out=x)))(np.ones(20)),
        WritesArgument,
    ),
)
