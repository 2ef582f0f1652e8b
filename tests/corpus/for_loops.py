"""`for`: nests of one to four, no iteration, triangles, break, continue, early return, else, tuples."""

# ruff: noqa: B905 (programs are written as their users write them)

from __future__ import annotations

import math

import numpy as np

import anadrome as ad
from tests.corpus.draw import N, given, indices, normal, positive, whole
from tests.corpus.harness import Program, Refused


def power_by_loop(x, n):
    y = 1.0
    for _ in range(n):
        y = y * x
    return y


def nest_of_two(a):
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total = total * 0.9 + a[i, j] ** 2
    return total


def nest_of_three(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            total += math.sin(s)
    return total


def nest_of_four(a):
    n = a.shape[0]
    total = 0.0
    for i in range(n):
        for j in range(i):
            for k in range(j):
                for m in range(2):
                    total += a[i, m] * a[j, m] * a[k, m] * 0.1 + total * 0.01
    return total


def product_by_loops(a, b):
    n, m = a.shape
    out = np.zeros((n, b.shape[1]))
    for i in range(n):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(m):
                s += a[i, k] * b[k, j]
            out[i, j] = math.tanh(s)
    return out


def elements_replaced_one_by_one(x, y):
    x = x.copy()
    for i in range(len(x)):
        v = x[i]
        while v * v > 0.3:
            v = 0.7 * v * y[i] if y[i] < 1.0 else 0.5 * v
        x[i] = v * x[i]
    return x


def steps_of_two_arrays(x, steps):
    n = len(x)
    now, after = x.copy(), np.zeros(n)
    for _ in range(steps):
        for i in range(n):
            after[i] = math.sin(now[i]) + 0.1 * now[(i + 1) % n]
        for i in range(n):
            now[i] = 0.9 * after[i] * x[i]
    return now


def a_history_of_rows(x, steps):
    n = len(x)
    rows = np.zeros((steps, n))
    state = x.copy()
    for t in range(steps):
        for j in range(n):
            state[j] = state[j] * 0.9 + 0.1 * t
        for j in range(n):
            rows[t, j] = state[j] ** 2 * x[n - 1 - j]
    return rows


def rows_that_are_filled_and_read_by_one_index(x, y, places):
    total = 0.0
    for i in range(len(places)):
        row = np.zeros(len(x)) + y[i]
        for j in range(len(y)):
            row[i] += x[places[i]] if x[places[i]] < 0.5 else y[j]
        total += row[places[i]] * x[places[i]]
    return total


def no_iteration(x, n):
    y = x
    for i in range(n):
        y = y * y + i
    return y * x


def no_iteration_of_an_inner_loop(x):
    total = 0.0
    for i in range(len(x)):
        p = x[i]
        for j in range(i - 2):
            p = p * x[j]
        total += p
    return total


def triangle(a):
    total = 0.0
    for i in range(len(a)):
        for j in range(i + 1):
            total += a[i, j] * a[j, i]
    return total


def strict_upper_triangle_with_recurrence(a):
    s = 1.0
    for i in range(len(a)):
        for j in range(i + 1, len(a)):
            s = s * 0.5 + math.cos(a[i, j] * s)
    return s


def downwards_by_two(x):
    s = 0.0
    for i in range(len(x) - 1, -1, -2):
        s = s * x[i] + 1.0
    return s


def bounds_from_data(x, lows, highs):
    total = 0.0
    for k in range(len(lows)):
        p = 1.0
        for i in range(lows[k], highs[k]):
            p = p * (1.0 + 0.1 * x[i])
        total += p
    return total


def break_on_data(x, limit):
    total = 0.0
    last = 0.0
    for v in x:
        if total > limit:
            break
        total += v * v
        last = v
    return total * last


def break_out_of_the_inner_one(a):
    total = 0.0
    for row in a:
        s = 1.0
        for v in row:
            if s > 2.0:
                break
            s += v * v
        total += s * s
    return total


def break_out_of_both(a, limit):
    total = 0.0
    stop = False
    for row in a:
        for v in row:
            total += v * v
            if total > limit:
                stop = True
                break
        if stop:
            break
    return total * total


def continue_on_data(x):
    total = 1.0
    for i, v in enumerate(x):
        if v < 0.0:
            continue
        if i % 3 == 2:
            continue
        total = total * (1.0 + 0.2 * v)
    return total


def early_return(x, limit):
    total = 0.0
    for i in range(len(x)):
        total += math.exp(x[i])
        if total > limit:
            return total * x[i]
    return -total


def early_return_of_an_inner_loop(a, limit):
    total = 1.0
    for i in range(len(a)):
        for j in range(i + 1):
            total = total + a[i, j] ** 2 * 0.5
            if total > limit:
                return total * a[i, 0] * i
    return total


def early_return_inside_a_callee(a):
    def first_above(row):
        for v in row:
            if v > 0.5:
                return v * v
        return row[0]

    return sum(first_above(row) for row in a)


def for_else(x, wanted):
    found = 0.0
    for v in x:
        if v > wanted:
            found = v**3
            break
    else:
        found = 0.5 * x[0]
    return found


def rotating_tuple(x, n):
    a, b, c = x
    for k in range(n):
        a, b, c = b, c * 0.5 + a, a * b + k
    return a * b - c


def carried_vector(a, x, n):
    for _ in range(n):
        x = np.tanh(a @ x)
    return x


def carried_vectors_swapped(x, y, n):
    for _ in range(n):
        x, y = y, 0.5 * x + np.sin(y)
    return np.sum(x * y)


def carried_integer_state(x):
    state, total = 0, 0.0
    for v in x:
        if v > 0.0:
            state = (state + 1) % 3
        total = total * 0.8 + v * state
    return total


def value_of_the_last_iteration(x):
    for i in range(len(x)):
        y = x[i] ** 2 * i
    return y * x[0]


def loop_variable_reused(x):
    total = 0.0
    for i in range(len(x)):
        i = i // 2
        total += x[i] ** 2
    return total


def two_loops_one_after_the_other(x):
    s = 0.0
    for v in x:
        s = s * 0.5 + v
    t = s
    for v in reversed(x):
        t = t * v + s
    return t


def loop_over_rows_and_names(a, b):
    total = 0.0
    for (p, q, r), w in zip(a, b):
        total += p * q * w + r**2
    return total


def harmonic_sum_of_ranges(x):
    return sum(x[i] / (1 + sum(1 for j in range(i))) for i in range(len(x)))


def logistic_map(r, x, n):
    for _ in range(n):
        x = r * x * (1.0 - x)
    return x


def horner_by_loop(c, x):
    y = c[len(c) - 1]
    for i in range(len(c) - 2, -1, -1):
        y = y * x + c[i]
    return y


def accumulates_only(x, n):
    total = 0.0
    for i in range(n):
        total += x**2
    return total


def unrolled_over_a_list(x):
    total = 0.0
    for weight, power in [(0.5, 1), (2.0, 2), (-1.0, 3)]:
        total += weight * np.sum(x**power)
    return total


def a_tuple_becomes_a_number(x):
    state = (0.0, 1.0)
    for v in x:
        state = v
    return state**2


def unrolled_by_request(x):
    y = x[0]
    for i in ad.unroll(range(3)):
        y = y * x[i] + i
    return y + np.sum(x)


def descent_that_prints(x, n):
    y = x
    for step in range(n):
        slope = np.cos(y) + 0.1 * y
        y = y - 0.3 * slope
        if step % 8 == 0:
            print(f"{step} {y:.3f}", slope)
    print("end", y)
    return y * x


PROGRAMS = (
    Program(power_by_loop, (positive(), whole(N))),
    Program(nest_of_two, (normal(N, N),)),
    Program(nest_of_three, (normal(N, N), normal(N, N)), sizes=(4, 8, 16)),
    Program(nest_of_four, (normal(N, 2),), sizes=(4, 8, 16)),
    Program(product_by_loops, (normal(N, N), normal(N, N)), sizes=(4, 8, 16)),
    Program(elements_replaced_one_by_one, (positive(N), positive(N))),
    Program(steps_of_two_arrays, (normal(N), given(3))),
    Program(a_history_of_rows, (normal(N), given(4))),
    Program(rows_that_are_filled_and_read_by_one_index, (normal(N), normal(N), indices(N, N))),
    Program(no_iteration, (normal(), given(0)), sizes=(1,)),
    Program(no_iteration, (normal(), whole(N)), name="some_iterations", seed=3),
    Program(no_iteration_of_an_inner_loop, (positive(N),), sizes=(4, 8, 16)),
    Program(triangle, (normal(N, N),), sizes=(4, 8, 16)),
    Program(strict_upper_triangle_with_recurrence, (normal(N, N),), sizes=(4, 8, 16)),
    Program(downwards_by_two, (normal(N),)),
    Program(
        bounds_from_data, (normal(2 * N), indices(N, below=N), indices(N, below=2 * N)), sizes=(4, 8, 16)
    ),
    Program(break_on_data, (normal(N), given(2.0)), sizes=(64, 128, 256)),
    Program(break_on_data, (normal(N), given(1e9)), name="break_that_never_comes"),
    Program(break_out_of_the_inner_one, (normal(N, 4),)),
    Program(break_out_of_both, (normal(N, 4), given(3.0))),
    Program(continue_on_data, (normal(N),)),
    Program(early_return, (normal(N), given(4.0)), sizes=(64, 128, 256)),
    Program(early_return, (normal(N), given(1e9)), name="early_return_that_never_comes"),
    Program(early_return_of_an_inner_loop, (normal(N, N), lambda random, size: 0.15 * size**2)),
    Program(early_return_inside_a_callee, (normal(N, 4),)),
    Program(for_else, (normal(N), given(0.1))),
    Program(for_else, (normal(N), given(99.0)), name="for_else_to_its_end"),
    Program(rotating_tuple, (normal(3), whole(N))),
    Program(carried_vector, (normal(N, N), normal(N), given(4)), sizes=(4, 8, 16)),
    Program(carried_vectors_swapped, (normal(N), normal(N), given(5))),
    Program(carried_integer_state, (normal(N),)),
    Program(value_of_the_last_iteration, (normal(N),)),
    Program(loop_variable_reused, (normal(N),)),
    Program(two_loops_one_after_the_other, (normal(N),)),
    Program(loop_over_rows_and_names, (normal(N, 3), normal(N))),
    Program(harmonic_sum_of_ranges, (normal(N),), sizes=(4, 8, 16)),
    Program(logistic_map, (given(3.3), given(0.4), whole(N))),
    Program(horner_by_loop, (normal(N), given(0.7))),
    Program(accumulates_only, (normal(), whole(N))),
    Program(unrolled_over_a_list, (normal(N),)),
    Program(unrolled_by_request, (normal(N),)),
    Program(a_tuple_becomes_a_number, (normal(N),)),
    Program(descent_that_prints, (normal(), whole(N))),
)


REFUSED = (
    Refused(
        "range_of_a_float",
        lambda: ad.grad(lambda x: power_by_loop(x, x))(3.0),
        TypeError,
    ),
)
