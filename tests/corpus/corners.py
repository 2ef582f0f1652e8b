"""Corners: sizes zero and one, constants, shared and unused values, concatenation, rotation, consumed arrays.

The list of cases follows the published test list of Futhark's differentiation, written anew.
"""

# ruff: noqa: B905 (programs are written as their users write them)

from __future__ import annotations

import math

import numpy as np

import anadrome as ad
from anadrome.errors.api import NothingToDifferentiate
from anadrome.errors.frontend import StaticIndexError
from tests.corpus.draw import N, given, indices, normal, positive, whole, with_values
from tests.corpus.harness import Program, Refused


def empty_array(x):
    return np.sum(x**2) + np.prod(x) * 3.0


def one_element(x):
    return np.prod(x) + np.max(x) * np.sum(np.cumsum(x)) + np.mean(x) + np.sort(x)[0]


def loop_over_nothing(x):
    total = 1.0
    for v in x:
        total = total * v
    y = np.zeros(3)
    for i in range(len(x)):
        y[i] = x[i]
    return total + np.sum(y)


def constant_array_result(x):
    return np.full(3, 2.5), x * 0.0 + 1.0


def result_is_the_argument(x):
    return x


def result_twice(x):
    y = x * x
    return y, y


def array_literal(x, y):
    return np.array([x, y, x * y]) * np.array([y, 1.0, x])


def array_literal_read_at_run_time(x, y, i):
    return np.array([x, y, x * y])[i] ** 2


def concatenation(x, y):
    z = np.concatenate([x, y, x * y])
    return np.sum(z * z[::-1])


def rotation(x, k):
    return np.sum(np.roll(x, k) * x**2)


def replication(x):
    return np.sum(np.full(5, x) ** 2) + np.sum(np.ones((2, 3)) * x)


def counting_is_flat(x):
    n = len(x)
    return np.sum(np.arange(n) * x) + np.sum(np.arange(n) ** 2) * 0.5


def update_of_one_element(x, v, i):
    y = x.copy()
    y[i] = v * x[i]
    return np.sum(y * x)


def update_of_a_slice(x, v):
    y = x.copy()
    y[1:3] = v
    return np.sum(y**2 * x)


def update_twice_in_one_place(x, v):
    y = x.copy()
    y[1] = v
    y[1] = y[1] * x[1]
    y[1] = y[1] * y[1]
    return np.sum(y)


def update_in_a_map(a):
    def one(row):
        row = row.copy()
        row[0] = row[1] * row[2]
        return np.sum(row**2)

    return sum(one(row) for row in a)


def map_over_free_variables(x, s, t):
    return sum(v * s + t[0] * t[1] for v in x)


def map_that_reads_all_of_an_array(x, y):
    return np.array([sum(y) * v + y[0] for v in x])


def map_of_pairs(x, y):
    pairs = [(a * b, a + b) for a, b in zip(x, y)]
    return sum(p * q for p, q in pairs)


def nested_map_with_a_reduction(a, x):
    return np.array([max(v * w for v, w in zip(row, x)) for row in a])


def not_a_number_is_compared(x):
    return sum(v if not math.isnan(v) else 0.0 for v in x)


def infinity_in_a_branch_not_taken(x):
    return sum(1.0 / v if v != 0.0 else 2.0 * v for v in x)


def reduction_of_pairs(x, y):
    a, b = 1.0, 0.0
    for u, v in zip(x, y):
        a, b = a * u, a * v + b
    return a + b


def reduction_without_commuting(a):
    p = np.eye(3)
    for m in a:
        p = m @ p
    return p[0, 1] + p[2, 2]


def histogram_with_an_empty_bin(x, keys):
    h = np.zeros(6)
    m = np.full(6, -np.inf)
    for i in range(len(x)):
        h[keys[i]] += x[i] ** 2
        m[keys[i]] = max(m[keys[i]], x[i])
    total = np.sum(h**2)
    for b in range(6):
        if m[b] > -1e9:
            total += m[b] ** 2
    return total


def loop_whose_result_is_not_used(x, n):
    y = x
    for _ in range(n):
        y = y * y
    return x * 3.0


def loop_invariant_argument(x, y, n):
    for _ in range(n):
        y = y * x
    return y


def loop_that_keeps_its_value(x, n):
    y = x * x
    for _ in range(n):
        y = y
    return y * x


def loop_with_an_integer_array(x, p, n):
    for _ in range(n):
        p = p[p]
    return np.sum(x[p] ** 2)


def loop_in_a_loop_with_both_carried(x, n):
    a, b = x, 1.0
    for i in range(n):
        for j in range(i):
            a, b = a * 0.9 + b * 0.1, b + a * 0.05
        b = b * 0.5
    return a * b


def while_in_a_map_in_a_loop(x, n):
    def halve(v):
        while v > 1.0:
            v = v * 0.5
        return v

    for _ in range(n):
        x = np.array([halve(v * v + 0.7) for v in x])
    return np.sum(x)


def same_array_in_both_arguments(x):
    def f(a, b):
        return np.sum(a * b[::-1])

    return f(x, x) + f(x, x * x)


def huge_and_tiny(x):
    return np.sum(x * 1e150 * (x * 1e-150)) + np.sum(1e-200 * x) * 1e200


def integers_carried_beside_floats(x):
    count, last, total = 0, -1, 0.0
    for i in range(len(x)):
        if x[i] > 0.0:
            count += 1
            last = i
            total += x[i] * count
    return total + (x[last] if last >= 0 else 0.0)


def flags_carried(x):
    seen = False
    total = 0.0
    for v in x:
        if seen:
            total += v * v
        seen = seen or v > 0.0
    return total


def integer_division_of_indices(x):
    n = len(x)
    return sum(x[i // 2] * x[(i * 7) % n] * x[-(i % 3) - 1] for i in range(n))


def absolute_value_at_zero(x):
    return np.sum(np.abs(x) * x) + np.sum(x**2)


PROGRAMS = (
    Program(empty_array, (given(np.zeros(0)),), sizes=(1,)),
    Program(one_element, (given(np.array([0.7])),), sizes=(1,)),
    Program(loop_over_nothing, (given(np.zeros(0)),), sizes=(1,)),
    Program(constant_array_result, (normal(N),)),
    Program(result_is_the_argument, (normal(N),)),
    Program(result_twice, (normal(N),)),
    Program(array_literal, (normal(), normal()), sizes=(1,)),
    Program(array_literal_read_at_run_time, (normal(), normal(), given(2)), sizes=(1,)),
    Program(concatenation, (normal(N), normal(N))),
    Program(rotation, (normal(N), given(3))),
    Program(replication, (normal(),), sizes=(1,)),
    Program(counting_is_flat, (normal(N),)),
    Program(update_of_one_element, (normal(N), normal(), given(2))),
    Program(update_of_a_slice, (normal(N), normal(2))),
    Program(update_twice_in_one_place, (normal(N), normal())),
    Program(update_in_a_map, (normal(N, 4),)),
    Program(map_over_free_variables, (normal(N), normal(), normal(2))),
    Program(map_that_reads_all_of_an_array, (normal(N), normal(4))),
    Program(map_of_pairs, (normal(N), normal(N))),
    Program(nested_map_with_a_reduction, (normal(N, 4), normal(4))),
    Program(not_a_number_is_compared, (normal(N),)),
    Program(infinity_in_a_branch_not_taken, (normal(N),)),
    Program(
        infinity_in_a_branch_not_taken,
        (given(np.array([1.0, 0.0, 2.0])),),
        name="infinity_in_the_branch_not_taken",
        sizes=(3,),
        kink="at zero the function has a pole beside it; the branch taken has slope 2",
        slopes=lambda x: np.array([-1.0, 2.0, -0.25]),
    ),
    Program(reduction_of_pairs, (normal(N), normal(N))),
    Program(reduction_without_commuting, (normal(N, 3, 3, scale=0.6),)),
    Program(histogram_with_an_empty_bin, (normal(2 * N), indices(2 * N, below=5))),
    Program(loop_whose_result_is_not_used, (normal(), whole(N))),
    Program(loop_invariant_argument, (positive(), normal(), whole(N))),
    Program(loop_that_keeps_its_value, (normal(), whole(N))),
    Program(loop_with_an_integer_array, (normal(N), indices(N, below=N), given(3))),
    Program(loop_in_a_loop_with_both_carried, (normal(), whole(N)), sizes=(4, 8, 16)),
    Program(while_in_a_map_in_a_loop, (positive(N, low=0.5, high=2.0), given(3))),
    Program(same_array_in_both_arguments, (normal(N),)),
    Program(huge_and_tiny, (normal(N),)),
    Program(integers_carried_beside_floats, (normal(N),)),
    Program(flags_carried, (normal(N),)),
    Program(integer_division_of_indices, (normal(N),)),
    Program(
        absolute_value_at_zero,
        (with_values(normal(N), {2: 0.0}),),
        kink="the second derivative of |x| x jumps at zero",
        slopes=lambda x: 2.0 * np.abs(x) + 2.0 * x,
    ),
)

REFUSED = (
    Refused("element_of_an_empty_array", lambda: ad.grad(lambda x: x[0])(np.zeros(0)), StaticIndexError),
    Refused(
        "nothing_to_differentiate", lambda: ad.grad(lambda p: 1.0)({}), NothingToDifferentiate, spanless=True
    ),
)
