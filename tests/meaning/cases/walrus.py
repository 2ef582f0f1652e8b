"""`:=` in parts of expressions that may not be evaluated, in conditions of loops, and in comprehensions."""

from __future__ import annotations

import numpy as np


def in_a_later_part_of_and(x, n):
    if x[0] > 0.0 and (y := x[1] * 2) > 0.0:
        return y * x[2]
    return x[0]


def in_several_parts(x, n):
    total = 0.0
    for v in x:
        if v > 1.0 and (w := v * v) > 5.0 and (u := w - 1.5) < 40.0:
            total += w * u
    return total


def in_a_later_part_of_or(x, n):
    total = 0.0
    for v in x:
        if v > 7.0 or (w := v * v) > 30.0:
            total += v
        else:
            total += w
    return total


def after_not(x, n):
    total = 0.0
    for v in x:
        if not (v > 1.0 and (w := v * v) > 5.0):
            total += v
        else:
            total += w
    return total


def in_a_conditional_expression(x, n):
    total, w = 0.0, 1.0
    for v in x:
        total += (w := v * v) if v > 3.0 else v
        total += w
    return total


def in_a_chain_of_comparisons(x, n):
    total, b = 0.0, 2.0
    for v in x:
        if 2.5 < v < (b := v * v):
            total += b
        total += b
    return total


def kept_from_an_iteration_before(x, n):
    y, total = 0.5, 0.0
    for v in x:
        is_taken = v > 2.0 and (y := v) > 2.5
        total += y * v + is_taken
    return total, y


def a_condition_with_a_name(x, n):
    total = 0.0
    for v in x:
        is_large = v > 2.0 and (w := v * v) > 5.0
        if is_large and v < 50.0:
            total += w
    return total


def in_the_condition_of_a_while(x, n):
    v, steps = x[1], 0
    while abs((w := 0.5 * (v + x[2] / v)) - v) > 1e-12:
        v = w
        steps += 1
    return v, w, steps


def condition_that_binds_the_same_name(x, n):
    v = 1.0
    while (v := v * x[1]) < 100.0:
        pass
    return v


def while_with_else(x, n):
    v, k = 1.0, 0
    while (v := v * x[1]) < 100.0:
        k += 1
        if k > n:
            break
    else:
        v = v * 3.0
    return v


def while_with_continue(x, n):
    k, total = 0, 0.0
    while (k := k + 1) < n:
        if x[k] > 4.0:
            continue
        total += x[k]
    return total, k


def in_a_filter(x, n):
    return sum([y * v for v in x if (y := v * v) > 5.0])


def in_a_part_of_a_filter(x, n):
    return sum(y * v for v in x if v > 1.0 and (y := v * v) > 5.0)


def in_several_filters(x, n):
    return sum(y * z for v in x if (y := v * v) > 5.0 if (z := y + 1.0) > 11.0)


def in_an_item(x, n):
    return np.sum([(y := v * v) + y**2 for v in x])


def in_any(x, n):
    return any((y := v) > 2.0 and y < 2.5 for v in x), all((y := v * 2) > 1.0 for v in x)


def a_running_total(x, n):
    total = 0.0
    return [total := total + v for v in x]


def read_after_a_comprehension(x, n):
    y = 1.0
    found = [y := v for v in x]
    return y + len(found)


def read_where_it_may_not_be_bound(x, n):
    if x[0] > 5.0 and (y := x[1]) > 0.0:
        pass
    if x[0] < 5.0:
        y = 2.0
    return y


RIGHT = [
    in_a_later_part_of_and,
    in_several_parts,
    in_a_later_part_of_or,
    after_not,
    in_a_conditional_expression,
    in_a_chain_of_comparisons,
    kept_from_an_iteration_before,
    a_condition_with_a_name,
    in_the_condition_of_a_while,
    condition_that_binds_the_same_name,
    while_with_else,
    while_with_continue,
    in_a_filter,
    in_a_part_of_a_filter,
    in_several_filters,
    in_an_item,
    in_any,
]
EITHER = [a_running_total, read_after_a_comprehension, read_where_it_may_not_be_bound]
