"""`while`: without a bound, nested, with break and else, ended by data."""

from __future__ import annotations

import math

import numpy as np

import anadrome as ad
from anadrome.errors.frontend import AmbiguousTruth, ChangesType
from tests.corpus.draw import N, given, normal, positive, whole
from tests.corpus.harness import Program, Refused


def newton_square_root(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def newton_of_many(a):
    total = 0.0
    for v in a:
        x = 1.0
        while abs(x * x - v) > 1e-10:
            x = 0.5 * (x + v / x)
        total += x
    return total


def doubling_until_large(x, limit):
    steps = 0
    while x < limit:
        x = x * 2.0 + 0.1
        steps += 1
    return x * steps


def never_entered(x):
    y = x
    while y > 1e9:
        y = y * 0.5
    return y * x


def count_by_while(x):
    i, total = 0, 0.0
    while i < len(x):
        total = total * 0.9 + x[i] ** 2
        i += 1
    return total


def two_pointers(x):
    i, j = 0, len(x) - 1
    total = 0.0
    while i < j:
        total += x[i] * x[j]
        if x[i] < x[j]:
            i += 1
        else:
            j -= 1
    return total


def nested_whiles(x, n):
    total, i = 0.0, 0
    while i < n:
        power, j = 1.0, 0
        while j <= i:
            power *= x
            j += 1
        total += power
        i += 1
    return total


def inner_one_ended_by_data(x):
    total = 0.0
    i = 0
    while i < len(x):
        v = abs(x[i]) + 0.1
        while v < 2.0:
            v = v * v + 0.5
        total += v
        i += 1
    return total


def while_in_for_in_while(x, n):
    k = 0
    while k < n:
        for i in range(3):
            y = x
            while y > 0.7:
                y = 0.6 * y
            x = x + 0.3 * y * (i + 1)
        k += 1
    return x


def while_true_with_break(x):
    n = 0
    while True:
        x = math.cos(x) * 0.9
        n += 1
        if n > 5 or abs(x) < 0.01:
            break
    return x


def while_with_continue(x):
    i, total = 0, 0.0
    while i < len(x):
        i += 1
        if x[i - 1] < 0.0:
            continue
        total += x[i - 1] ** 3
    return total


def while_else(x, limit):
    n = 0
    while x < limit:
        x = x * 1.7
        n += 1
        if n > 8:
            break
    else:
        x = x * x
    return x


def return_from_a_while(x):
    i = 0
    while i < len(x):
        if x[i] > 0.9:
            return x[i] ** 2 * i
        i += 1
    return x[0]


def condition_on_two(x, y):
    while x > 0.1 and y < 3.0:
        x, y = x * 0.8, y * 1.1 + 0.1 * x
    return x * y


def euclid_like(x, m, n):
    while n != 0:
        m, n = n, m % n
        x = x * 1.1 + m
    return x


def bisection_of_a_cubic(c):
    low, high = 0.0, 4.0
    while high - low > 1e-3:
        middle = 0.5 * (low + high)
        if middle**3 < 5.0:
            low = middle
        else:
            high = middle
    return c * low * c


def series_until_small(x):
    term, total, k = 1.0, 1.0, 0
    while abs(term) > 1e-12:
        k += 1
        term *= -x * x / (2 * k * (2 * k - 1))
        total += term
    return total


def vector_until_converged(a, b):
    x = np.zeros(len(b))
    change = 1.0
    while change > 1e-3:
        new = b - a @ x
        change = np.max(np.abs(new - x))
        x = new
    return np.sum(x**2)


def gradient_descent_inside(target):
    x = 0.0
    step = 1.0
    while abs(step) > 1e-13:
        step = 0.4 * (x - math.sin(target) + 0.1 * x**3)
        x = x - step
    return x


def adaptive_euler(y, end):
    t, h = 0.0, 0.1
    while t < end:
        h = min(h, end - t)
        slope = math.cos(t) - y
        y = y + h * slope
        t = t + h
        h = h * (1.2 if abs(slope) < 0.5 else 0.9)
    return y


def escape_time(x, y):
    p, q, n = 0.0, 0.0, 0
    while p * p + q * q < 4.0 and n < 12:
        p, q = p * p - q * q + x, 2.0 * p * q + y
        n += 1
    return p * q + n


def arithmetic_geometric_mean(x, y):
    while abs(x - y) > 1e-13:
        x, y = 0.5 * (x + y), math.sqrt(x * y)
    return x


PROGRAMS = (
    Program(newton_square_root, (given(2.3),), sizes=(1,)),
    Program(newton_of_many, (positive(N),)),
    Program(doubling_until_large, (positive(), given(20.0)), sizes=(1,)),
    Program(never_entered, (normal(),), sizes=(1,)),
    Program(count_by_while, (normal(N),)),
    Program(two_pointers, (normal(N),)),
    Program(nested_whiles, (given(0.9), whole(N)), sizes=(4, 8, 16)),
    Program(inner_one_ended_by_data, (normal(N),)),
    Program(while_in_for_in_while, (given(0.9), given(3)), sizes=(1,)),
    Program(while_true_with_break, (given(0.8),), sizes=(1,)),
    Program(while_with_continue, (normal(N),)),
    Program(while_else, (given(0.3), given(4.0)), sizes=(1,)),
    Program(while_else, (given(0.3), given(1e9)), name="while_left_by_break", sizes=(1,)),
    Program(return_from_a_while, (normal(N, scale=0.4),)),
    Program(condition_on_two, (given(1.3), given(0.4)), sizes=(1,)),
    Program(euclid_like, (normal(), given(89), given(55)), sizes=(1,)),
    Program(bisection_of_a_cubic, (normal(),), sizes=(1,)),
    Program(series_until_small, (given(1.3),), sizes=(1,), rtol=1e-5),
    Program(
        vector_until_converged,
        (normal(N, N, scale=0.05), normal(N)),
        sizes=(4, 8, 16),
        rtol=1e-5,
    ),
    Program(gradient_descent_inside, (given(0.8),), sizes=(1,), rtol=1e-5),
    Program(adaptive_euler, (given(0.2), given(1.07)), sizes=(1,)),
    Program(escape_time, (given(-0.4), given(0.5)), sizes=(1,)),
    Program(arithmetic_geometric_mean, (given(1.0), given(2.3)), sizes=(1,)),
)


def _array_condition(x):
    while x < 3.0:
        x = x * 2.0
    return np.sum(x)


def _changes_type(x):
    while x < 3.0:
        x = np.array([x, x])
    return x


REFUSED = (
    Refused("condition_on_an_array", lambda: ad.grad(_array_condition)(np.ones(20)), AmbiguousTruth),
    Refused("number_becomes_an_array", lambda: ad.jit(_changes_type)(1.0), ChangesType),
)
