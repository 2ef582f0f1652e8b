"""Loops and branches on run-time values, as users write them."""

# ruff: noqa: RUF021 (programs are written as their users write them)

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.derivatives.agreement import agree

RANDOM = np.random.default_rng(1)
SHORT, LONG = RANDOM.normal(size=5), RANDOM.normal(size=21)
POSITIVE = np.abs(LONG) + 0.3
MATRIX, TALL = RANDOM.normal(size=(4, 3)), RANDOM.normal(size=(18, 3))


def break_at_threshold(x, limit):
    total = 0.0
    for value in x:
        if total > limit:
            break
        total += value * value
    return total * x[0]


def search_with_else(x, wanted):
    found = 0.0
    for i in range(len(x)):
        if x[i] > wanted:
            found = x[i] ** 3
            break
    else:
        found = x.sum() * 2.0
    return found


def while_with_else(x):
    steps = 0
    while x < 50.0:
        x = x * x + 0.5
        steps += 1
        if steps > 12:
            break
    else:
        x = np.log(x)
    return x * steps


def skip_negative(x):
    product = 1.0
    for value in x:
        if value < 0.0:
            continue
        product *= 1.0 + value
    return product


def early_return_in_loop(x, limit):
    total = 0.0
    for i in range(len(x)):
        total = total + np.exp(x[i]) * i
        if total > limit:
            return total * x[i]
    return -total


def early_return_in_nested_loop(a, limit):
    total = 1.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total = total + a[i, j] ** 2 * total
            if total > limit:
                return total * a[i, 0]
    return total


def break_of_inner_loop(a):
    total = 0.0
    for row in a:
        part = 1.0
        for value in row:
            if value > 1.0:
                break
            part = part * (value + 2.0)
        total += part * row[0]
    return total


def continue_in_both_loops(a):
    total = 0.0
    for i in range(a.shape[0]):
        if a[i, 0] < -0.5:
            continue
        for j in range(i, a.shape[1]):
            if j == 1:
                continue
            total += np.sin(a[i, j]) * total + a[i, j]
    return total


def triangle_of_pairs(x):
    energy = 0.0
    n = len(x)
    for i in range(n):
        for j in range(i + 1, n):
            distance = math.sqrt((x[i] - x[j]) ** 2 + 0.1)
            energy += 1.0 / distance
    return energy


def backwards_and_strided(x):
    a = 0.0
    for i in range(len(x) - 1, -1, -1):
        a = 0.7 * a + x[i]
    b = 0.0
    for i in range(1, len(x), 3):
        b = b * x[i] + 1.0
    return a * b


def fibonacci_swap(x, n):
    a, b = x, 1.0
    for _ in range(n):
        a, b = b, a + b * x
    return a * b


def rotate_three_names(x, y, z, n):
    for _ in range(n):
        x, y, z = y, z * 0.5, x + y
    return x - y * z


def collatz_like(x, n):
    while n != 1:
        if n % 2 == 0:
            n = n // 2
            x = x * 0.5 + np.sin(x)
        else:
            n = 3 * n + 1
            x = x * 1.5
    return x


def newton_with_tolerance(a, b):
    x = a
    previous = 0.0
    while abs(x - previous) > 1e-12:
        previous = x
        x = x - (x**3 - a * x - b) / (3.0 * x**2 - a)
    return x


def bisection(target):
    low, high = 0.0, 3.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        if middle**3 + middle < 2.0:
            low = middle
        else:
            high = middle
    return low * target**2


def horner(coefficients, x):
    value = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        value = value * x + coefficient
    return value


def nested_while(x, n):
    i = 0
    total = 0.0
    while i < n:
        j = 0
        power = 1.0
        while j <= i:
            power *= x
            j += 1
        total += power / j
        i += 1
    return total


def two_values_of_a_loop_kept(x):
    best, second = -np.inf, -np.inf
    for value in x:
        if value > best:
            best, second = value, best
        elif value > second:
            second = value
    return best**2 * second


def piecewise(x):
    if x < 0.0:
        y = x**2
    elif x < 1.0:
        y = np.sin(x)
    elif x < 2.0:
        y = 3.0 * x
    else:
        y = 1.0 / x
    return y


def piecewise_at_many(x):
    return sum(piecewise(value) for value in x) + piecewise(x[0])


def conditional_expressions(x):
    total = 0.0
    for value in x:
        total += (value if value > 0.0 else 0.1 * value) * (2.0 if total < 1.0 else value)
    return total


def branch_assigning_one_side(x):
    scale = 1.0
    if x[0] > 0.0:
        scale = x[0]
    if x[1] > 0.0 and scale > 0.5 or x[2] < -1.0:
        scale = scale * x[1]
    if not scale > 10.0:
        scale += x[2]
    return scale * scale


def branch_guarding_a_singularity(x):
    total = 0.0
    for value in x:
        if value > 0.0:
            total += np.log(value)
        else:
            total += value
    return total


def runge_kutta(y, rate, steps):
    def slope(state):
        return np.array([state[1], -rate * state[0] - 0.1 * state[1] ** 3])

    h = 0.05
    for _ in range(steps):
        k1 = slope(y)
        k2 = slope(y + 0.5 * h * k1)
        k3 = slope(y + 0.5 * h * k2)
        k4 = slope(y + h * k3)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return y


def adaptive_steps(y, end):
    t, h = 0.0, 0.1
    while t < end:
        if t + h > end:
            h = end - t
        y = y + h * np.cos(y) * (1.0 + t)
        t = t + h
        if y < 1.0:
            h = h * 1.3
    return y * h


def explicit_heat(u, alpha, steps):
    for _ in range(steps):
        inner = u[1:-1] + alpha * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u = np.concatenate([u[:1], inner, u[-1:]])
    return np.sum(u**2)


def recurrent_cell(w, u, x):
    h = np.zeros(3)
    total = 0.0
    for row in x:
        h = np.tanh(w @ h + u * row)
        total += h @ h
    return total


def exponential_average_list(x, decay):
    means = [x[0]]
    for i in range(1, 6):
        means.append(decay * means[-1] + (1.0 - decay) * x[i])
    return sum(mean**2 for mean in means)


def loop_of_no_iteration(x, n):
    y = x
    for i in range(n):
        y = y * y * (i + 1)
    return y + x


def dependent_trip_counts(x, counts):
    total = 0.0
    for i in range(len(counts)):
        part = x[i]
        for _ in range(counts[i]):
            part = part * part + 0.1
        total += part
    return total


def loop_variable_after_the_loop(x):
    i = 0
    value = 0.0
    for i in range(len(x)):
        value = value * 0.5 + x[i] * i
    return value * i * x[i]


def assert_then_divide(x, y):
    assert y != 0.0, "a divisor"
    if x > 1e6:
        raise ValueError("too large")
    return x / y


def count_and_mean_above(x, limit):
    count, total = 0, 0.0
    for value in x:
        if value > limit:
            count += 1
            total += value**2
    return total / max(count, 1)


def golden_while_true(x):
    while True:
        x = 0.5 * (x + 3.0 / x)
        if abs(x * x - 3.0) < 1e-3:
            break
    return x


def gamma_series(x):
    term = 1.0
    total = 1.0
    k = 1
    while abs(term) > 1e-14:
        term = term * x / k
        total = total + term
        k = k + 1
    return total


def chained_comparisons(x):
    return sum(value**2 if -0.5 < value <= 1.0 else abs(value) for value in x)


def integer_state_machine(x):
    state = 0
    total = 0.0
    for value in x:
        if state == 0:
            total += value
            state = 1 if value > 0.0 else 2
        elif state == 1:
            total *= 1.0 + 0.1 * value
            state = 2
        else:
            total -= value**2
            state = 0
    return total


CASES = [
    (break_at_threshold, LONG, 3.0),
    (break_at_threshold, SHORT, 30.0),
    (search_with_else, LONG, 0.9),
    (search_with_else, LONG, 90.0),
    (while_with_else, 1.1),
    (while_with_else, 0.1),
    (skip_negative, LONG),
    (early_return_in_loop, LONG, 10.0),
    (early_return_in_loop, LONG, 1e9),
    (early_return_in_nested_loop, TALL, 20.0),
    (early_return_in_nested_loop, MATRIX, 1e9),
    (break_of_inner_loop, TALL),
    (continue_in_both_loops, TALL),
    (continue_in_both_loops, MATRIX),
    (triangle_of_pairs, LONG),
    (triangle_of_pairs, SHORT),
    (backwards_and_strided, LONG),
    (fibonacci_swap, 0.7, 6),
    (rotate_three_names, 0.3, 0.5, 0.9, 7),
    (collatz_like, 0.3, 6),
    (newton_with_tolerance, 2.0, 3.0),
    (bisection, 1.5),
    (horner, SHORT, 0.7),
    (horner, LONG, 0.7),
    (nested_while, 0.8, 6),
    (two_values_of_a_loop_kept, LONG),
    (piecewise_at_many, LONG),
    (piecewise_at_many, np.array([-1.0, 0.5, 1.5, 3.0])),
    (conditional_expressions, LONG),
    (branch_assigning_one_side, SHORT),
    (branch_assigning_one_side, -SHORT),
    (branch_guarding_a_singularity, LONG),
    (runge_kutta, np.array([1.0, 0.0]), 2.0, 12),
    (adaptive_steps, 0.2, 1.05),
    (explicit_heat, LONG, 0.2, 5),
    (recurrent_cell, RANDOM.normal(size=(3, 3)), RANDOM.normal(size=3), LONG),
    (exponential_average_list, LONG, 0.8),
    (loop_of_no_iteration, 1.3, 0),
    (loop_of_no_iteration, 1.3, 3),
    (dependent_trip_counts, SHORT, np.array([0, 3, 1, 2, 0])),
    (loop_variable_after_the_loop, LONG),
    (assert_then_divide, 2.0, 3.0),
    (count_and_mean_above, LONG, 0.2),
    (count_and_mean_above, LONG, 20.0),
    (golden_while_true, 1.0),
    (gamma_series, 1.7),
    (chained_comparisons, LONG),
    (integer_state_machine, LONG),
]
TWICE = [
    (early_return_in_loop, LONG, 10.0),
    (triangle_of_pairs, SHORT),
    (newton_with_tolerance, 2.0, 3.0),
    (break_of_inner_loop, MATRIX),
    (conditional_expressions, LONG),
    (gamma_series, 1.7),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_first_order(case):
    function, *args = case
    agree(function, *args)


@pytest.mark.parametrize("case", TWICE, ids=lambda case: case[0].__name__)
def test_second_order(case):
    function, *args = case
    agree(function, *args, order=2)
