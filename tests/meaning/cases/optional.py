"""Values that are None on some ways through a program, which only the run decides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


def first_above(values, limit):
    for v in values:
        if v > limit:
            return v


def largest_of(values, least):
    best = None
    for v in values:
        if v > least and (best is None or v > best):
            best = v
    return best


class Tracker:
    def __init__(self):
        self.best = None
        self.count = 0

    def see(self, v):
        if self.best is None or v < self.best:
            self.best = v * v
            self.count += 1


@dataclass
class State:
    value: float
    last: float | None = None


def on_one_way_of_a_branch(x, n):
    r = x[0] * 2 if x[1] > 2.5 else None
    if r is not None:
        return r
    return x[2]


def given_a_value_afterwards(x, n):
    if x[0] > 1.0:
        r = x[2] * 3
    else:
        r = None
    if r is None:
        r = x[1]
    return r * 2


def in_an_elif(x, n):
    r = None
    if x[0] > 1.5:
        r = x[1]
    elif x[0] > 0.5:
        r = x[2]
    if r is None or r < 0.0:
        return 0.0
    return r * r


def what_a_function_gives_on_some_ways(x, n):
    found, nothing = first_above(x, 1.6), first_above(x, 99.0)
    if nothing is None:
        nothing = 5.0
    return nothing if found is None else nothing * found


def of_a_function_that_keeps_the_best(x, n):
    total = 0.0
    for limit in (0.0, 2.5, 1000.0):
        best = largest_of(x, limit)
        total += limit if best is None else best
    return total


def before_a_loop_that_may_not_assign(x, n):
    best = None
    for v in x:
        if v > 3.5 and (best is None or v * (9 - v) > best):
            best = v * (9 - v)
    if best is None:
        return -1.0
    return best * 2


def before_a_loop_that_may_not_run(x, n):
    best = None
    for i in range(n - 3):
        if best is None or x[i] > best:
            best = x[i]
    if best is not None:
        return best
    return 0.5


def previous_value(x, n):
    prev, total = None, 0.0
    for i in range(n):
        if prev is not None:
            total += (x[i] - prev) ** 2 * x[i]
        prev = x[i]
    return total


def set_back_to_none(x, n):
    prev, total = None, 0.0
    for v in x:
        if prev is not None and v > 2.5:
            total += v * prev
            prev = None
        else:
            prev = v
    return total


def becomes_none_in_a_loop(x, n):
    r = x[0]
    for i in range(n):
        if x[i] > 3.5:
            r = None
        elif x[i] > 2.5:
            r = x[i]
    return x[1] if r is None else r


def truth_of_it(x, n):
    best = None
    for v in x:
        if v > 2.5 and not best:
            best = v
    return best * 3 if best else 0.0


def attribute(x, n):
    tracker = Tracker()
    for v in x:
        if v > 2.5:
            tracker.see(v)
    if tracker.best is None:
        return 0.0
    return tracker.best * tracker.count


def field_of_a_dataclass(x, n):
    state = State(0.0)
    for i in range(n):
        if state.last is not None:
            state.value += state.last * x[i]
        state.last = x[i] if x[i] < 4.5 else None
    return state.value if state.last is None else state.value + state.last


def item_of_a_dict(x, n):
    table = {"a": None}
    for v in x:
        if v > 3.5:
            table["a"] = v * 2
    if table["a"] is None:
        return 0.0
    return table["a"]


def an_array(x, n):
    r = None
    for v in x:
        if v > 3.5:
            r = x * v
    if r is None:
        r = x
    return np.sum(r * r)


def a_pair(x, n):
    best = None
    for i, v in enumerate(x):
        if v > 2.5 and (best is None or v * (8 - v) > best[1]):
            best = (i, v * (8 - v))
    if best is None:
        return 0, 0.0
    i, w = best
    return i, w


def a_while_that_asks(x, n):
    last, v, steps = None, x[1], 0
    while last is None or abs(v - last) > 1e-9:
        last = v
        v = 0.5 * (v + 2.0 / v)
        steps += 1
    return v, steps


def after_an_assertion(x, n):
    r = None
    for v in x:
        if v > 1.5:
            r = v
    assert r is not None
    return r * 2


def after_a_raise(x, n):
    r = largest_of(x, 0.5)
    if r is None:
        raise ValueError("nothing")
    return r * 2


def as_an_argument(x, n):
    def scaled(v, scale=None):
        if scale is None:
            scale = 2.0
        return v * scale

    total = 0.0
    for v in x:
        total += scaled(v, v if v > 2.5 else None)
    return total


def found_by_an_inner_loop(x, n):
    total = 0.0
    for v in x:
        hit = None
        for w in x:
            if w > v:
                hit = w
                break
        if hit is not None:
            total += hit * v
    return total


def counts_of_whole_numbers(x, n):
    last = None
    for i in range(n):
        if x[i] > 3.5:
            last = i
    return -1 if last is None else last


def compared_with_equals(x, n):
    r = None if x[0] > 5.0 else x[1]
    if r != None:  # noqa: E711
        return r
    return 0.0


def two_that_go_together(x, n):
    best, place = None, None
    for i in range(n):
        if best is None or x[i] > best:
            best, place = x[i], i
    if best is not None:
        return best * place
    return 0.0


def returned(x, n):
    return None if x[0] > 5.0 else x[1]


def falls_off_its_end(x, n):
    if n > 4:
        return x[1]


def returned_in_a_container(x, n):
    found = None
    for v in x:
        if v > 3.5:
            found = v
            break
    return {"found": found, "none": None if n > 2 else n}, [found, x[0]]


def a_truth_or_a_number(x, n):
    y = bool(x[0] > 3.0)
    if n > 4:
        y = 7
    return y, (n > 3 and n)


def a_comparison_that_is_added_to(x, n):
    y = np.any(x > 2.0)
    if n > 4:
        y += 3
    elif n > 3:
        y = np.False_
    return y


def one_of_several_types(x, n):
    y = np.int64(4)
    if n > 4:
        y = 2.5
    if n > 60:
        y = np.int64(1)
    return y


def one_of_two_types_is_used(x, n):
    y = bool(x[0] > 3.0)
    if n > 4:
        y = 7
    return y + 1, y is None, x[y]


def one_of_two_types_in_a_loop(x, n):
    y = True
    for v in x:
        if v > 2.0:
            y = 3
    return y


def used_without_a_test(x, n):
    r = None
    for v in x:
        if v > 1.5:
            r = v
    return r * 2


def objects_of_another_kind(x, n):
    chain = None
    for v in x:
        chain = (v, chain)
    return chain[0]


RIGHT = [
    on_one_way_of_a_branch,
    given_a_value_afterwards,
    in_an_elif,
    what_a_function_gives_on_some_ways,
    of_a_function_that_keeps_the_best,
    before_a_loop_that_may_not_assign,
    before_a_loop_that_may_not_run,
    previous_value,
    set_back_to_none,
    becomes_none_in_a_loop,
    truth_of_it,
    attribute,
    field_of_a_dataclass,
    item_of_a_dict,
    an_array,
    a_pair,
    a_while_that_asks,
    after_an_assertion,
    after_a_raise,
    as_an_argument,
    found_by_an_inner_loop,
    counts_of_whole_numbers,
    compared_with_equals,
    returned,
    falls_off_its_end,
    returned_in_a_container,
    a_truth_or_a_number,
    a_comparison_that_is_added_to,
    one_of_several_types,
]
EITHER = [
    *(two_that_go_together, used_without_a_test, objects_of_another_kind),
    *(one_of_two_types_is_used, one_of_two_types_in_a_loop),
]
