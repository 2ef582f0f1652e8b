"""`if`: nested, in loops, in comprehensions, one-sided, with early returns, on numbers and flags."""

# ruff: noqa: B905 (programs are written as their users write them)

from __future__ import annotations

import math

import numpy as np

import anadrome as ad
from anadrome.errors.frontend import BranchesDiffer, Undefined
from tests.corpus.draw import N, flags, given, indices, normal, positive, whole
from tests.corpus.harness import Program, Refused


def two_sides(x, y):
    if x > y:
        z = x * y
    else:
        z = math.sin(y)
    return z * x


def one_side_only(x, y):
    if x > 0.0:
        y = y * x
    return y * y


def nested_ifs(x, y):
    if x > 0.0:
        if y > 0.0:
            z = x * y
        else:
            z = x - y
    elif y > 0.0:
        z = y / (x * x + 1.0)
    else:
        z = math.exp(x + y)
    return z


def chain_of_elifs(x):
    if x < -1.0:
        return x**2
    elif x < 0.0:
        return math.cos(x)
    elif x < 0.5:
        return 3.0 * x
    return 1.0 / x


def chain_at_many(x):
    return sum(chain_of_elifs(v) for v in x)


def branch_in_a_loop(x):
    total = 1.0
    for v in x:
        if v > 0.0:
            total = total * (1.0 + 0.1 * v)
        else:
            total = total + v * v
    return total


def nested_branch_in_nested_loop(a):
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if i > j:
                if a[i, j] > 0.0:
                    total += a[i, j] ** 2
                else:
                    total -= a[i, j] * total * 0.1
            elif i == j:
                total *= 1.01
    return total


def expression_in_a_comprehension(x):
    return (
        sum(v * v if v > 0.0 else -0.1 * v for v in x) + np.prod([1.0 if v > 0.0 else 0.9 for v in x]) * x[0]
    )


def branch_in_array_comprehension(x, y):
    def one(u, v):
        if u > v:
            return u * v
        return math.exp(u) - v

    return np.array([one(u, v) for u, v in zip(x, y)])


def branch_on_an_integer(x, kinds):
    total = 0.0
    for v, kind in zip(x, kinds):
        if kind == 0:
            total += v
        elif kind == 1:
            total += v**2
        else:
            total *= 0.5
    return total


def branch_on_a_flag(x, keep):
    total = 1.0
    for i in range(len(x)):
        if keep[i]:
            total = math.sin(total * x[i])
    return total


def branches_with_loops_inside(x, n):
    if np.sum(x) > 0.0:
        y = 1.0
        for v in x:
            y = y * 0.5 + v
    else:
        y = 0.0
        for i in range(n):
            y += x[i % len(x)] ** 2
    return y * y


def branch_of_whole_arrays(x, y):
    if x[0] > y[0]:
        z = x * y
    else:
        z = np.cumsum(y)
    return np.sum(z**2)


def write_in_one_branch(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 0.0:
            y[i] = x[i] ** 2
        elif i > 0:
            y[i - 1] = x[i]
    return np.sum(y * x)


def several_names_from_a_branch(x, y):
    if x > y:
        low, high, order = y, x, 1.0
    else:
        low, high, order = x, y, -1.0
    return (high - low) * order * low


def boolean_operators(x, y, z):
    total = 0.0
    if x > 0.0 and (y > 0.0 or z < 0.0):
        total += x * y
    if not (x > 1.0 or y > 1.0):
        total += z * z
    if x > 0.0 > -1.0 < y + 3.0:
        total += x
    return total


def guard_before_a_pole(x):
    total = 0.0
    for v in x:
        if v > 0.0:
            total += math.log(v) + math.sqrt(v)
    return total + np.sum(x)


def guard_before_an_index(x):
    total = 0.0
    for i in range(len(x)):
        left = x[i - 1] if i > 0 else 0.0
        right = x[i + 1] if i + 1 < len(x) else 0.0
        total += (left - right) ** 2 * x[i]
    return total


def clamp_by_if(x, low, high):
    def clamp(v):
        if v < low:
            return low
        if v > high:
            return high
        return v

    return sum(clamp(v) ** 2 for v in x)


def branch_that_depends_on_the_carried(x):
    s = 0.0
    for v in x:
        s = s + v if s < 0.5 else s * 0.3 + v * v
    return s


def relu_network_by_if(w, v, x):
    total = 0.0
    for i in range(len(v)):
        s = 0.0
        for j in range(len(x)):
            s += w[i, j] * x[j]
        if s > 0.0:
            total += v[i] * s
    return total


def short_circuit(x):
    i = 0
    while i < len(x) and x[i] < 0.8:
        i += 1
    return x[i - 1] * i if i > 0 else x[0] ** 2


def select_by_any(a):
    total = 0.0
    for row in a:
        if any(v > 1.0 for v in row):
            total += max(row)
        elif all(v < 0.5 for v in row):
            total += min(row) ** 2
        else:
            total += sum(row)
    return total


def matched_on_a_count(x):
    count = 0
    for value in x:
        if value > 0.0:
            count += 1
    match count % 4:
        case 0:
            return np.sum(x**2)
        case 1 | 2:
            return np.sum(np.sin(x))
        case k if k * len(x) > 20:
            return np.sum(x) * k
        case _:
            return x[0] * x[1]


def bound_by_break_or_by_else(x, bound):
    total = 0.0
    for value in x:
        total += value * value
        if total > bound:
            found, last = total * value, math.sin(value)
            break
    else:
        found, last = total, x[0]
    return found * last


def matched_in_a_loop(x, kinds):
    total = 0.0
    for kind, value in zip(kinds, x):
        match kind, value > 0.0:
            case 0, _:
                total += value**2
            case (1, is_positive) if is_positive:
                total -= math.sin(value)
            case (k, True):
                total += k * value
            case _:
                total *= 0.9
    return total


PROGRAMS = (
    Program(matched_on_a_count, (normal(N),), sizes=(16, 32)),
    Program(bound_by_break_or_by_else, (normal(N), given(1.5)), sizes=(64, 128, 256)),  # of few elements read
    Program(bound_by_break_or_by_else, (normal(N), given(1e9)), name="bound_by_else"),
    Program(matched_in_a_loop, (normal(N), indices(N, below=3))),
    Program(two_sides, (given(0.7), given(0.3)), sizes=(1,)),
    Program(two_sides, (given(0.2), given(0.3)), name="two_sides_the_other", sizes=(1,)),
    Program(one_side_only, (given(0.7), given(0.3)), sizes=(1,)),
    Program(one_side_only, (given(-0.7), given(0.3)), name="one_side_only_not_taken", sizes=(1,)),
    Program(nested_ifs, (given(-0.7), given(0.3)), sizes=(1,)),
    Program(chain_at_many, (normal(N),)),
    Program(branch_in_a_loop, (normal(N),)),
    Program(nested_branch_in_nested_loop, (normal(N, N),), sizes=(4, 8, 16)),
    Program(expression_in_a_comprehension, (normal(N),)),
    Program(branch_in_array_comprehension, (normal(N), normal(N))),
    Program(branch_on_an_integer, (normal(N), indices(N, below=3))),
    Program(branch_on_a_flag, (normal(N), flags(N))),
    Program(branches_with_loops_inside, (normal(N), whole(N))),
    Program(branches_with_loops_inside, (positive(N), whole(N)), name="branches_with_loops_inside_the_other"),
    Program(branch_of_whole_arrays, (normal(N), normal(N))),
    Program(branch_of_whole_arrays, (normal(N), normal(N)), name="branch_of_whole_arrays_the_other", seed=6),
    Program(write_in_one_branch, (normal(N),)),
    Program(several_names_from_a_branch, (normal(), normal()), sizes=(1,)),
    Program(boolean_operators, (given(0.4), given(-0.2), given(-0.9)), sizes=(1,)),
    Program(guard_before_a_pole, (normal(N),)),
    Program(guard_before_an_index, (normal(N),)),
    Program(clamp_by_if, (normal(N), given(-0.4), given(0.7))),
    Program(branch_that_depends_on_the_carried, (normal(N),)),
    Program(relu_network_by_if, (normal(N, N), normal(N), normal(N)), sizes=(4, 8, 16)),
    Program(short_circuit, (normal(N, scale=0.35),)),
    Program(select_by_any, (normal(N, 4),)),
)


def _different_shapes(x):
    if x[0] > 0.0:
        y = x
    else:
        y = x[0]
    return np.sum(y)


def _defined_on_one_side(x):
    if x > 0.0:
        y = x * x
    return y


REFUSED = (
    Refused("shapes_differ", lambda: ad.grad(_different_shapes)(np.ones(20)), BranchesDiffer),
    Refused("defined_on_one_side", lambda: ad.grad(_defined_on_one_side)(1.0), Undefined),
)
