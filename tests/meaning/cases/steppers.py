"""Iterator classes: `__next__` and `StopIteration`, in loops and wherever items are taken."""

from __future__ import annotations

import numpy as np


class Count:
    def __init__(self, n, step=1.0):
        self.n, self.k, self.step = n, 0, step

    def __iter__(self):
        return self

    def __next__(self):
        if self.k >= self.n:
            raise StopIteration
        self.k += 1
        return self.k * self.step


class Halving:
    def __init__(self, v, least):
        self.v, self.least = v, least

    def __iter__(self):
        return self

    def __next__(self):
        if self.v < self.least:
            raise StopIteration("small enough")
        v = self.v
        self.v = v * 0.5
        return v


class Squares:
    def __init__(self, items):
        self.items = iter(items)

    def __iter__(self):
        return self

    def __next__(self):
        v = next(self.items)
        return v * v


class Same(Squares):
    def __next__(self):
        return next(self.items)


class Restarting:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        self.k = 0
        return self

    def __next__(self):
        if self.k < self.n:
            self.k += 1
            return self.k * 1.0
        else:
            raise StopIteration


class Through:
    """Its iterator is another object."""

    def __init__(self, v):
        self.v = v

    def __iter__(self):
        return Halving(self.v, 0.1)


class Calling:
    def __init__(self, v):
        self.v = v

    def __iter__(self):
        return self

    def stop_if_small(self):
        if self.v < 0.1:
            raise StopIteration

    def __next__(self):
        self.stop_if_small()
        self.v *= 0.5
        return self.v


def known_length(x, n):
    total = 0.0
    for v in Count(5):
        total += v * x[0]
    return total


def length_of_the_run(x, n):
    total = 0.0
    for v in Count(n, x[1]):
        total += v * x[0]
    return total


def ended_by_a_value(x, n):
    total = 0.0
    for v in Halving(x[2] * 10, 0.01):
        total += v * v
    return total


def goes_on_after_a_break(x, n):
    items, total = Halving(x[2] * 10, 0.01), 0.0
    for v in items:
        if v < 1.0:
            break
        total += v
    for v in items:
        total += 3 * v
    else:
        total += 1.0
    return total


def continued(x, n):
    total = 0.0
    for v in Count(n):
        if v == 2.0:
            continue
        total += v * x[0]
    else:
        total -= 0.5
    return total


def in_a_comprehension(x, n):
    return np.sum([v * 2 for v in Halving(x[2], 0.01)]) + len(list(Halving(x[1], 0.1)))


def summed(x, n):
    return sum(Halving(x[2], 0.01)) + sum(v * v for v in Count(4)) * x[0]


def enumerated(x, n):
    total = 0.0
    for k, v in enumerate(Halving(x[2], 0.01), 1):
        total += k * v
    return total


def zipped_behind(x, n):
    total = 0.0
    for a, b in zip(x, Halving(x[2], 0.001)):
        total += a * b
    return total


def zipped_in_front(x, n):
    total = 0.0
    for a, b in zip(Halving(x[2], 0.001), x):
        total += a * b
    return total


def three_zipped(x, n):
    total = 0.0
    for a, b, c in zip(Count(4), Halving(x[2], 0.001), x):
        total += a * b * c
    return total


def over_another_iterator(x, n):
    total = 0.0
    for v in Squares(x):
        total += v
    for v in Same(x[:3]):
        total += v
    return total


def over_another_class(x, n):
    total = 0.0
    for v in Squares(Same(Halving(x[2], 0.01))):
        total += v
    return total


def one_by_one(x, n):
    items = Count(3)
    a, b = next(items), next(items)
    c, d = next(items, 10.0), next(items, x[1])
    return a * x[0] + b + c + d


def one_by_one_until_the_run_ends_it(x, n):
    items = Halving(x[2], 1.0)
    a, b, c, d = next(items, 0.0), next(items, 0.0), next(items, 7.0), next(items, 9.0)
    return a + b * 2 + c * 3 + d * 4


def starts_again(x, n):
    items, total = Restarting(4), 0.0
    for a in items:
        total += a * x[0]
    for a in items:
        total += a * x[1]
    return total


def in_a_loop(x, n):
    total = 0.0
    for v in x:
        for w in Halving(v, 0.5):
            total += w * v
    return total


def another_object(x, n):
    total = 0.0
    for v in Through(x[2]):
        total += v * v
    return total


def a_local_class_over_an_array(x, n):
    class Steps:
        def __init__(self):
            self.i = -1

        def __iter__(self):
            return self

        def __next__(self):
            self.i += 1
            if self.i == len(x):
                raise StopIteration
            return x[self.i]

    return sum(v * v for v in Steps())


def pairs(x, n):
    class Steps:
        def __init__(self):
            self.i, self.t = 0, x[0]

        def __iter__(self):
            return self

        def __next__(self):
            if self.t > 500.0:
                raise StopIteration
            self.i += 1
            self.t *= 1.3
            return self.i, self.t

    total = 0.0
    for i, t in Steps():
        total += i * t
    return total


def nothing_left(x, n):
    items, total = Halving(x[2], 0.1), 0.0
    for v in items:
        total += v
    for v in items:
        total += 100.0 * v
    return total


def stopped_by_a_function_it_calls(x, n):
    total = 0.0
    for v in Calling(x[2]):
        total += v
    return total


def over_a_list(x, n):
    return sum(Squares([x[0], x[1]]))


RIGHT = [
    known_length,
    length_of_the_run,
    ended_by_a_value,
    goes_on_after_a_break,
    continued,
    in_a_comprehension,
    summed,
    enumerated,
    zipped_behind,
    zipped_in_front,
    three_zipped,
    over_another_iterator,
    over_another_class,
    one_by_one,
    one_by_one_until_the_run_ends_it,
    starts_again,
    in_a_loop,
    another_object,
    a_local_class_over_an_array,
    pairs,
    nothing_left,
]
EITHER = [stopped_by_a_function_it_calls, over_a_list]
