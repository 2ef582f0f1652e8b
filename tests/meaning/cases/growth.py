"""Lists that grow in a `while` which reads their last items."""

from __future__ import annotations

import numpy as np


class History:
    def __init__(self, start):
        self.values = [start]

    def step(self):
        self.values.append(self.values[-1] * 1.2)


def ends_itself(x, n):
    t = [x[1]]
    while t[-1] < 500.0:
        t.append(t[-1] * 1.5)
    return t[-1] + len(t)


def newton(x, n):
    xs = [x[1] + 1.0]
    while abs(xs[-1] ** 2 - x[1]) > 1e-10:
        xs.append(0.5 * (xs[-1] + x[1] / xs[-1]))
    return xs[-1], sum(xs), len(xs)


def two_from_the_end(x, n):
    t = [x[0], x[1]]
    while t[-1] < 500.0:
        t.append(t[-1] * 0.7 + t[-2])
    return t[-1] + t[2] * len(t)


def whole_numbers_become_floats(x, n):
    t = [1, 1]
    while t[-1] < 50:
        t.append(t[-1] + t[-2] * x[0])
    return t[-1] + len(t)


def empty_at_first(x, n):
    t, v = [], x[0]
    while True:
        v = v * 1.3
        t.append(v)
        if len(t) >= 2 and t[-1] - t[-2] > 5.0:
            break
    return t[-1] * len(t) + t[0]


def adaptive_steps(x, n):
    ts, ys, h, steps = [0.0], [x[0]], 0.1, 0
    while ts[-1] < 2.0:
        t, y = ts[-1], ys[-1]
        h = min(h, 2.0 - t)
        first = -y * y
        second = -((y + h * first) ** 2)
        error = abs(0.5 * h * (second - first))
        if error < 1e-3:
            ts.append(t + h)
            ys.append(y + 0.5 * h * (first + second))
        h = 0.9 * h * min(2.0, max(0.3, (1e-3 / (error + 1e-12)) ** 0.5))
        steps += 1
    return ys[-1] + sum(ys) * 0.1, len(ts), steps


def rows_that_are_arrays(x, n):
    ys = [x[:3] * 1.0]
    while np.sum(ys[-1]) < 500.0:
        ys.append(ys[-1] * 1.5 + x[2])
    return np.sum(ys[-1] * ys[1]) + len(ys)


def pairs(x, n):
    p = [(0.0, x[0])]
    while p[-1][0] < 1.0:
        p.append((p[-1][0] + 0.3, p[-1][1] * 1.1))
    return p[-1][1] * len(p)


def by_its_length(x, n):
    t = [x[0]]
    while t[len(t) - 1] < 50.0:
        t.append(t[len(t) - 1] * 1.5)
    return t[-1]


def in_nested_loops(x, n):
    t = [x[0]]
    for v in x:
        while t[-1] < v:
            t.append(t[-1] + 0.37)
        t.append(t[-1] * 0.5)
    return t[-1] * len(t) + sum(t)


def in_a_method(x, n):
    history = History(x[0])
    while history.values[-1] < 10.0:
        history.step()
    return sum(history.values)


def after_other_growth(x, n):
    t = [v * 2.0 for v in x if v < 3.5]
    for i in range(n):
        t.append(x[i])
    while t[-1] < 500.0:
        t.append(t[-1] + t[-3])
    return t[-1] + len(t)


def not_as_many_items(x, n):
    t = [x[0]]
    while len(t) < 5 and t[-2] < 100.0:
        t.append(t[-1] + t[-2])
    return t[-1]


def a_stack(x, n):
    stack, total = [x[2]], 0.0
    while stack:
        v = stack.pop()
        total += v
        if v > 0.5:
            stack.append(0.5 * v)
            stack.append(0.25 * v)
    return total


def reads_its_first_item(x, n):
    t = [x[0]]
    while t[-1] < 50.0:
        t.append(t[-1] + t[0])
    return t[-1]


RIGHT = [
    ends_itself,
    newton,
    two_from_the_end,
    whole_numbers_become_floats,
    empty_at_first,
    adaptive_steps,
    rows_that_are_arrays,
    pairs,
    by_its_length,
    in_nested_loops,
    in_a_method,
    after_other_growth,
]
EITHER = [not_as_many_items, a_stack, reads_its_first_item]
