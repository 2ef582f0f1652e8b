"""Generator functions, and objects whose `__iter__` is one: gone over in loops, or all at once."""

from __future__ import annotations

import numpy as np

WEIGHTS = np.linspace(1.0, 2.0, 100)


def squares(y):
    for v in y:
        yield v * v


def evens(n):
    k = 0
    while True:
        if k >= n:
            return
        yield k
        k += 2


def halves(a):
    while True:
        yield a
        a = a * 0.5


def weighted(y, factor=2.0):
    for i in range(len(y)):
        w = y[i] * WEIGHTS[i] * factor
        yield i, w
        w = 0.0


def tree(depth, a):
    if depth > 0:
        yield from tree(depth - 1, a * 0.5)
        yield a + depth
        yield from tree(depth - 1, a * 1.5)


class Pairs:
    def __init__(self, values):
        self.values = values

    def __iter__(self):
        for i in range(len(self.values) - 1):
            yield self.values[i], self.values[i + 1]


def in_a_loop(x, n):
    total = 0.0
    for v in squares(x):
        total += v
    return total


def left_by_break(x, n):
    total = 0.0
    for k in evens(n):
        if x[k] > 4.2:
            break
        total += x[k]
    else:
        total = -1.0
    return total


def goes_on_and_comes_to_its_end(x, n):
    total = 0.0
    for k in evens(n):
        if x[k] > 500.0:
            break
        if k == 2:
            continue
        total += x[k] * 2
    else:
        total -= 1.0
    return total


def left_by_return(x, n):
    for i, w in weighted(x):
        if w > 4.0:
            return w * i
    return 0.0


def without_an_end(x, n):
    total = 0.0
    for v in halves(x[0]):
        total += v
        if v < 1e-3:
            break
    return total


def calls_itself(x, n):
    total = 0.0
    for v in tree(3, x[0]):
        total = total * 0.9 + v
    return total


def in_lists_and_sums(x, n):
    values = list(squares(x))
    return values[2] * len(values) + sum(squares(x)) + max(squares(x[:3])) + np.array(list(squares(x))).sum()


def in_comprehensions(x, n):
    return [v * 2 for v in squares(x)], sum(v * 2 for v in squares(x)), [w for i, w in weighted(x)][2]


def gone_over_twice(x, n):
    values, total = squares(x), 0.0
    for v in values:
        total += v
    for v in values:
        total += 100 * v
    return total


def one_in_another(x, n):
    total = 0.0
    for a in squares(x[:3]):
        for b in squares(x):
            total += a * b
    return total


def two_of_a_kind_in_one_another(x, n):
    total = 0.0
    for i, a in weighted(x[:3]):
        for j, b in weighted(x, x[1]):
            total += a * b * (i - j)
    return total


def reads_a_name_that_changes(x, n):
    k = 2.0

    def scaled():
        for v in x:
            yield v * k

    total = 0.0
    for w in scaled():
        k = k + 0.1
        total += w
    return total, k


def reads_what_the_loop_writes(x, n):
    y = x * 1.0

    def items():
        for i in range(len(y) - 1):
            yield y[i]

    for v in items():
        y[2] += v * 0.1
    return y


def with_names_like_those_of_the_loop(x, n):
    a, k = 5.0, 7.0
    for v in halves(x[0]):
        a += v
        if a > 5.9 + x[0]:
            break
    for k in evens(n):
        a += k
    return a, k


def an_object(x, n):
    total = 0.0
    for a, b in Pairs(x):
        total += a * b
    return total + sum(a - b * 0.5 for a, b in Pairs(x))


def parts_of_an_array(x, n):
    def parts(a, size):
        for i in range(0, len(a), size):
            yield a[i : i + size]

    y, total = x * 1.0, 0.0
    for part in parts(y, 2):
        part *= 2.0
        total += part.sum() ** 2
    return total, y


def yields_in_several_places(x, n):
    def around(a):
        yield a[0]
        for v in a[1:]:
            if v > 2:
                yield v
            else:
                yield -v
        yield 10.0

    total = 0.0
    for _ in range(2):
        for v in around(x):
            total = 0.5 * total + v
    return total


def next_of_one(x, n):
    values = squares(x)
    return next(values) + next(values)


def sends(x, n):
    def running():
        total = 0.0
        while total < 100.0:
            v = yield total
            total += v

    values = running()
    next(values)
    return values.send(x[0])


def goes_on_after_a_break(x, n):
    values, total = squares(x), 0.0
    for v in values:
        total += v
        if v > 3.0:
            break
    for v in values:
        total += 100 * v
    return total


def yields_from_another_beside_names_like_items(x, n):
    item_0, item_1, item_2 = 9.0, 11.0, 5.0

    def doubled(y):
        yield from squares(y)

    total = 0.0
    for v in doubled(x):
        total += v
    return total, item_0, item_1, item_2


def filtered(x, n):
    return [v for v in squares(x) if v > 4], sum(v for v in squares(x) if v > 4)


def filtered_in_a_loop(x, n):
    total = 0.0
    for v in squares(x):
        total += len([1.0 for w in squares(x) if w < v])
    return total


def reads_what_its_user_changes(x, n):
    k = 1.0

    def grow():
        nonlocal k
        k = k * 2

    def scaled():
        for i in range(3):
            yield x[i] * k

    def used(items):
        total = 0.0
        for v in items:
            total += v
            grow()
        return total

    return used(scaled())


def spent_in_a_branch(x, n):
    items = squares(x)
    total = 0.0
    if x[0] > 2.0:
        for v in items:
            total += v
    return total, sum(items)


RIGHT = (
    filtered_in_a_loop,
    filtered,
    yields_from_another_beside_names_like_items,
    *(in_a_loop, left_by_break, goes_on_and_comes_to_its_end, left_by_return, without_an_end, calls_itself),
    *(in_lists_and_sums, in_comprehensions, gone_over_twice, one_in_another, two_of_a_kind_in_one_another),
    *(reads_a_name_that_changes, reads_what_the_loop_writes, with_names_like_those_of_the_loop, an_object),
    *(parts_of_an_array, yields_in_several_places),
)
EITHER = (spent_in_a_branch, reads_what_its_user_changes, next_of_one, sends, goes_on_after_a_break)
