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


def items_in_other_places(x, n):
    kept = [2.0 * x[i % 3] for i in range(n)]
    first, second = kept.pop(0), kept.pop(1)
    kept.insert(1, 7.0)
    kept.insert(-1, 8.0)
    kept.insert(100, x[0])
    del kept[2]
    kept.insert(-100, 9.0)
    total = sum(v * (k + 1) for k, v in enumerate(kept))
    return first, second, total, kept.pop(-2), len(kept)


def a_line_of_delays(x, n):
    line, total = [0.0, 0.0, x[0]], 0.0
    for i in range(n):
        line.append(x[i % 3] * i)
        total += line.pop(0) * x[0] + sum(line)
    return total


def sorted_as_they_come(x, n):
    kept = []
    for i in range(n):
        v, k = np.sin(x[0] * i), 0
        for other in kept:
            if other < v:
                k += 1
        kept.insert(k, v)
    return sum(v * (k + 1) for k, v in enumerate(kept))


def removed_by_their_value(x, n):
    kept = [i % 4 for i in range(n)]
    kept.append(2)
    kept.remove(2)
    return sum(kept) * x[0] + kept.index(0)


def rows_in_other_places(x, n):
    rows, pairs = [x[:2] * i for i in range(n)], [(x[0] * i, i) for i in range(n)]
    first, pair = rows.pop(0), pairs.pop(1)
    rows.insert(1, np.array([5.0, 6.0]))
    pairs.insert(0, (1.0, 2))
    del rows[-1]
    return first, pair, sum(row[0] * (k + 1) for k, row in enumerate(rows)), sum(a * b for a, b in pairs)


def taken_from_the_front(x, n):
    waiting, total = [x[0] * i for i in range(n)], 0.0
    while len(waiting) > 1:
        a, b = waiting.pop(0), waiting.pop(0)
        total += a * b
        waiting.append(a + b)
    return total, waiting[0]


def outside_of_the_list(x, n):
    kept = [x[0] * i for i in range(n)]
    kept.append(1.0)
    return kept.pop(n + 5)


def a_float_among_whole_numbers(x, n):
    t = [1, 2]
    for k in range(n):
        t[0] = x[0] + 0.5
        t.append(k)
    return sum(t) + len(t), t[-1] + 0.5, t[2] + 0.5


def a_float_in_some_iterations(x, n):
    t = [1, 2]
    for k in range(n):
        if k > 2:
            t[1] = x[k] + 0.5
        t.append(k)
        t.append(k + 1)
    return sum(t) + len(t), t[-1] + 0.5


def a_float_on_one_way(x, n):
    t = [1, 2]
    if x[0] > -1e9:
        t[0] = x[1] + 0.5
        t.append(n)
        t.append(n + 1)
    return sum(t) + len(t), t[-1] + 0.5


def a_float_where_items_are_counted(x, n):
    t, k = [1, 2], 0
    while k * k < 9 * n:
        t[0] = x[0] + 0.5
        t.append(k)
        k += 1
    return sum(t) + len(t), t[-1] + 0.5


def a_float_where_room_is_tried(x, n):
    t, k = [1, 2], 0
    while t[-1] * t[-2] < 9 * n + 3000:
        t[1] = x[0] + 0.5
        t.append(k + 2)
        k += 1
    return sum(t) + len(t), t[-1] + 0.5


RIGHT = [
    a_float_among_whole_numbers,
    a_float_in_some_iterations,
    a_float_on_one_way,
    a_float_where_items_are_counted,
    a_float_where_room_is_tried,
    a_stack,
    reads_its_first_item,
    taken_from_the_front,
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
    *(items_in_other_places, a_line_of_delays, sorted_as_they_come, removed_by_their_value),
    rows_in_other_places,
]
EITHER = [not_as_many_items, outside_of_the_list]
