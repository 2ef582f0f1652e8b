"""Functions that change what their caller sees and return early."""

from __future__ import annotations

import numpy as np


class Sum:
    def __init__(self):
        self.total = 0.0
        self.count = 0
        self.parts = [0.0, 0.0]
        self.seen = {"low": 0.0, "high": 0.0}

    def add(self, v):
        if v < 2.0:
            return
        self.total += v
        self.count += 1

    def add_or_tell(self, v):
        if v > 3.0:
            self.parts[0] += v
            return self.parts[0]
        self.parts[1] -= v
        return self.parts[1] * 0.5

    def sort_in(self, v):
        self.count += 1
        if v < 2.5:
            self.seen["low"] += v
            return True
        self.seen["high"] += v
        if v > 4.5:
            return False
        self.seen["low"] -= 1.0
        return True


def method_returns_first(x, n):
    s = Sum()
    s.add(x[0])
    s.add(x[1])
    s.add(x[2])
    return s.total, s.count


def method_returns_first_in_a_loop(x, n):
    s = Sum()
    for v in x:
        s.add(v)
    return s.total, s.count


def parts_changed_on_both_ways(x, n):
    s = Sum()
    told = 0.0
    for v in x:
        told += s.add_or_tell(v)
    return told, s.parts[0], s.parts[1]


def dict_of_an_object(x, n):
    s = Sum()
    told = 0
    for i in range(n):
        if s.sort_in(x[i]):
            told += 1
    return told, s.count, s.seen["low"], s.seen["high"]


def list_of_the_caller(x, n):
    totals = [0.0, 0.0, 0.0]

    def put(v):
        if v < 1.5:
            totals[0] += v
            return
        if v < 3.5:
            totals[1] += v
            return
        totals[2] += v

    for v in x:
        put(v)
    return totals[0], totals[1], totals[2]


def list_that_grows_before_a_return(x, n):
    kept = []

    def keep(v):
        if v < 2.0:
            return 0
        kept.append(v)
        return 1

    told = keep(x[0]) + keep(x[1]) + keep(x[2])
    return told, len(kept), sum(kept)


def list_that_grows_after_a_return_in_a_loop(x, n):
    kept = []

    def keep(v):
        if v > 3.0:
            kept.append(v)
            return
        kept.append(-v)
        kept.append(0.5 * v)

    for v in x:
        keep(v)
    return sum(kept), len(kept)


def array_of_the_caller(x, n):
    out = np.zeros(n)

    def put(i):
        if x[i] > 3.0:
            out[i] = x[i]
            return
        out[0] += x[i]

    for i in range(n):
        put(i)
    return out


def returns_out_of_a_loop(x, n):
    s = Sum()

    def first_above(limit):
        for v in x:
            s.total += v
            if v > limit:
                return v
        s.count += 1
        return -1.0

    one, two = first_above(2.5), first_above(1e9)
    return one, two, s.total, s.count


def returns_before_the_name_is_bound(x, n):
    s = Sum()

    def go(v):
        if v > 2.0:
            s.total = v
            return 1.0
        extra = v * 3.0
        s.total = extra
        return extra

    return go(x[0]) + go(x[2]) * s.total


def nested_calls_return_early(x, n):
    s = Sum()

    def inner(v):
        if v < 2.0:
            return False
        s.total += v
        return True

    def outer(v):
        if not inner(v):
            s.count -= 1
            return
        if v > 4.0:
            return
        s.count += 10

    for v in x:
        outer(v)
    return s.total, s.count


def attribute_made_on_one_way(x, n):
    s = Sum()

    def go(v):
        if v > 2.0:
            s.extra = v
            return
        s.extra = 2.0 * v
        s.total += 1.0

    go(x[0])
    first = s.extra
    go(x[2])
    return first, s.extra, s.total


def raises_nothing_where_it_returned(x, n):
    values = {"a": x[0], "b": x[1]}

    def swap(flag):
        if flag:
            return
        values["a"], values["b"] = values["b"], values["a"]

    swap(x[0] > 0.0)
    kept = values["a"]
    swap(x[0] < 0.0)
    return kept, values["a"], values["b"]


RIGHT = [
    method_returns_first,
    method_returns_first_in_a_loop,
    parts_changed_on_both_ways,
    dict_of_an_object,
    list_of_the_caller,
    list_that_grows_after_a_return_in_a_loop,
    array_of_the_caller,
    returns_out_of_a_loop,
    returns_before_the_name_is_bound,
    nested_calls_return_early,
    attribute_made_on_one_way,
    raises_nothing_where_it_returned,
]
EITHER = [list_that_grows_before_a_return]
