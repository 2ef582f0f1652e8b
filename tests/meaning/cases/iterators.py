"""An iterator is an object with a place: it goes on where it was left, whoever holds it."""

from __future__ import annotations

import itertools
import os

import numpy as np


def generator_twice(x, n):
    g = (v * 2.0 for v in x)
    return sum(g), sum(g)


def generator_of_list_twice(x, n):
    g = (v * 2.0 for v in [1.0, 2.0, x[0]])
    return sum(g), sum(g)


def generator_of_range_twice(x, n):
    g = (x[i] for i in range(n))
    one = list(g)
    two = list(g)
    return np.array(one), len(two)


def zip_twice(x, n):
    z = zip(x, 2.0 * x)
    one = sum(a * b for a, b in z)
    two = sum(a * b for a, b in z)
    return one, two


def map_twice(x, n):
    m = map(lambda v: v + 1.0, x)
    return sum(m), sum(m)


def enumerate_twice(x, n):
    e = enumerate(x)
    one = sum(i * v for i, v in e)
    two = sum(i * v for i, v in e)
    return one, two


def reversed_twice(x, n):
    r = reversed([1.0, 2.0, x[0]])
    return list(r), len(list(r))


def reversed_array_twice(x, n):
    r = reversed(x)
    one = sum(r)
    two = sum(r)
    return one, two


def loop_twice(x, n):
    total = 0.0
    g = (v for v in x)
    for v in g:
        total += v
    for v in g:
        total += 100.0 * v
    return total


def zip_loop_twice(x, n):
    total = 0.0
    z = zip([1.0, 2.0, 3.0], x)
    for a, b in z:
        total += a * b
    for a, b in z:
        total += 100.0
    return total


def resumed_after_break(x, n):
    it = iter([1.0, 2.0, 3.0, 4.0])
    total = 0.0
    for v in it:
        total += v
        if v > 1.5:
            break
    for v in it:
        total += 100.0 * v
    return total + x[0]


def generator_resumed_after_break(x, n):
    g = (v for v in x)
    total = 0.0
    for v in g:
        total += v
        if v > 1.5:
            break
    for v in g:
        total += 100.0 * v
    return total


def enumerate_resumed_after_break(x, n):
    e = enumerate(x)
    for i, v in e:
        if i == 1:
            break
    rest = 0.0
    for i, v in e:
        rest += i * v
    return rest


def two_names(x, n):
    g = (v for v in x)
    h = g
    one = sum(g)
    two = sum(h)
    return one, two


def next_once(x, n):
    it = iter([1.0, 2.0, x[0]])
    a = next(it)
    b = next(it)
    return a, b, list(it)[0]


def next_then_loop(x, n):
    it = iter(x)
    total = 10.0 * next(it)
    for v in it:
        total += v
    return total


def next_with_default(x, n):
    it = iter([x[0]])
    return next(it, -1.0), next(it, -1.0), next(it, -1.0)


def next_past_the_end(x, n):
    it = iter([x[0]])
    next(it)
    return next(it)


def zip_with_itself(x, n):
    it = iter([1.0, 2.0, 3.0, 4.0])
    total = 0.0
    for a, b in zip(it, it):
        total += a * b
    return total * x[0]


def counter(x, n):
    c = itertools.count()
    a = next(c)
    b = next(c)
    return a, b, x[0]


def counter_in_loop(x, n):
    c = itertools.count()
    total = 0.0
    for v in x:
        total += next(c) * v
    return total


def counter_around_lambda(x, n):
    c = itertools.count(5)
    f = lambda: next(c)
    return x[0] + f(), x[0] + f()


def in_a_function(x, n):
    def total(it):
        s = 0.0
        for v in it:
            s += v
        return s

    g = (v * 3.0 for v in x)
    return total(g), total(g)


def taken_by_a_function(x, n):
    def head(it):
        return next(it)

    it = iter([5.0, 6.0, 7.0])
    return head(it), head(it), head(it) + x[0]


def as_attribute(x, n):
    holder = {"it": (v for v in x)}
    return sum(holder["it"]), sum(holder["it"])


def late_source(x, n):
    a = x.copy()
    g = (v for v in a)
    a[0] = 100.0
    return sum(g)


def late_name(x, n):
    k = 1.0
    g = (v * k for v in x)
    k = 10.0
    return sum(g)


def early_first_iterable(x, n):
    a = x.copy()
    g = (v for v in a)
    a = np.zeros(n)
    return sum(g), a


def late_map(x, n):
    a = x.copy()
    m = map(lambda v: v * 2.0, a)
    a *= 10.0
    return sum(m)


def map_calls_when_asked(x, n):
    seen = [0.0]

    def f(v):
        seen[0] += v
        return v

    m = map(f, [1.0, 2.0, 3.0])
    before = seen[0]
    total = sum(m)
    return before, total, seen[0], x[0]


def zip_stops_early(x, n):
    it = iter([1.0, 2.0, 3.0, 4.0])
    total = 0.0
    for a, b in zip([10.0, 20.0], it):
        total += a * b
    return total, next(it), x[0]


def zip_eats_one_more(x, n):
    it = iter([1.0, 2.0, 3.0, 4.0])
    total = 0.0
    for a, b in zip(it, [10.0, 20.0]):
        total += a * b
    return total, next(it), x[0]


def list_in_the_middle(x, n):
    it = iter([1.0, 2.0, 3.0])
    a = next(it)
    rest = list(it)
    return a, rest, len(list(it)), x[0]


def any_stops(x, n):
    it = iter([1.0, 5.0, 2.0, 7.0])
    found = any(v > 4.0 for v in it)
    return found, list(it), x[0]


def in_operator_stops(x, n):
    it = iter([1.0, 2.0, 3.0])
    found = 2.0 in it
    return found, list(it), x[0]


def environment(x, n):
    """The world outside is asked once, while compiling: refused."""
    return x[0] + float(os.environ.get("ANADROME_NO_SUCH_NAME", "1.0"))


def range_twice(x, n):
    r = range(n)
    one = sum(x[i] for i in r)
    two = sum(x[i] for i in r)
    return one, two


def dict_items_twice(x, n):
    d = {"a": x[0], "b": 2.0}
    items = d.items()
    return sum(v for k, v in items), sum(v for k, v in items)


def exhausted_in_a_loop(x, n):
    it = (v for v in x)
    total = 0.0
    for i in range(n):
        total += sum(it)
    return total


def list_in_a_branch(x, n):
    it = (v for v in x)
    first = 0.0
    if x[0] > 100.0:
        first = sum(it)
    return first, sum(it)


def next_in_a_branch(x, n):
    it = iter([1.0, 2.0, x[0]])
    first = 0.0
    if x[0] > 100.0:
        first = next(it)
    return first, next(it)


def next_in_a_loop(x, n):
    it = iter([1.0, 2.0, 3.0])
    total = 0.0
    for i in range(2):
        total += next(it)
    return total + next(it) + x[0]


def zip_in_a_loop(x, n):
    it = iter([1.0, 2.0, 3.0, 4.0])
    total = 0.0
    for i in range(2):
        for a, b in zip([x[0]], it):
            total += a * b
    return total


def generator_spent_in_a_branch(x, n):
    it = (2.0 * v for v in x)
    total = 0.0
    if x[0] > 2.0:
        total = sum(it)
    return total, sum(it)


def generator_spent_where_a_loop_goes_on(x, n):
    it = (1.0 for i in range(n))
    total = 0.0
    for k in range(n):
        if x[k] > 2.0:
            continue
        total += sum(it)
    return total, list(it)


def generator_begun_in_a_branch(x, n):
    it = (i * v for i, v in enumerate(x))
    first = 9.0
    if x[0] > 0.5:
        first = next(it, 9.0)
    return first, list(it)


def reversed_before_the_list_grows(x, n):
    items = [x[0], 2.0]
    it = reversed(items)
    items += [3.0]
    return list(it)


def an_item_that_the_loop_does_not_read(x, n):
    a, b = x * 1.0, x * 2.0
    total = 0.0
    for u, v in zip(a, b):
        for _ in range(2):
            b, a = a, np.maximum(b, v) * 0.5
            b[1:] += b[:-1]
        u = v
        total += u
    return total, a, b


def an_item_read_after_the_loop(x, n):
    a, total = x * 1.0, 0.0
    for v in a:
        if total > 3.0:
            break
        total += 1.0
        v = total
    return v, total


def an_item_read_by_a_function(x, n):
    total = 0.0
    for i, v in enumerate(x):
        total += (lambda: v)() * i
    return total


def items_with_effects_of_an_enumeration(x, n):
    out, y = [0.0], x * 2.0

    def put(v):
        out[0] += v
        return v

    return sum(put(v * k) for k, v in enumerate(y)), out[0]


def the_largest_of_items_with_effects(x, n):
    out, y = np.zeros(2), x * 2.0

    def put(v):
        out[0] += v
        return out[0]

    return max(put(u * v) for u, v in zip(x, y)), out


def what_is_left_of_an_iterator_with_effects(x, n):
    out, y = np.zeros(2), iter(x * 2.0)

    def put(v):
        out[1] += v
        return out[1]

    first = next(y)
    return first, sum(put(v) * w for v in y for w in x[:2]), list(y), out


def any_of_items_with_effects(x, n):
    out = np.zeros(2)

    def put(v):
        out[0] += v
        return out[0] > 2.0

    return any(put(v) for v in reversed(x)), out


def a_loop_left_over_an_enumeration_of_an_iterator(x, n):
    items, found = iter(x), 0.0
    for k, v in enumerate(items):
        if v > 2.5:
            found = v * k
            break
    return found, sum(items)


def a_loop_left_over_pairs_with_an_iterator(x, n):
    items, found = iter(x), False
    for a, b in zip(items, x * 0.5 + 1.0):
        if a > b:
            found = True
            break
    return found, list(items)


def a_loop_left_over_a_generator_of_an_iterator(x, n):
    items, found = iter(x), 0.0
    for v in (2.0 * w for w in items):
        if v > 5.0:
            found = v
            break
    return found, sum(items)


def given_to_another_and_read_itself(x, n):
    items = iter(x)
    pairs = enumerate(items)
    return sum(items), sum(v for _, v in pairs)


def taken_in_turn_with_another(x, n):
    items = iter(x)
    pairs = enumerate(items)
    first = next(pairs)[1]
    return first, next(items), sum(items)


def pairs_of_one_iterator(x, n):
    items = iter(x)
    return sum(a * b for a, b in zip(items, items))


def any_leaves_the_rest(x, n):
    items = iter(x)
    return any(v > 2.5 for v in items), sum(items)


def any_of_what_an_enumeration_takes(x, n):
    items = iter([x[0], x[1], x[2]])
    return any(v > x[1] - 0.5 for _, v in enumerate(items)), sum(items)


def all_of_a_generator_function(x, n):
    def doubled():
        for v in x:
            yield 2.0 * v

    items = doubled()
    return all(v < 5.0 for v in items), sum(items)


def taken_a_few_in_each_iteration(x, n):
    items, total = iter(x), 0.0
    for i in range(n):
        for a, b in zip(items, x * 0.5):
            total += a * b
            if a > 1.0 + i:
                break
    return total


def shorter_company_in_each_iteration(x, n):
    items, total = iter(x), 0.0
    for i in range(n):
        total += sum(a * b for a, b in zip(items, x[:2])) * (i + 1)
    return total


def any_in_each_iteration(x, n):
    items, total = iter(x), 0.0
    for i in range(n):
        if any(v > i for v in items):
            total += 1.0
    return total


def what_shorter_company_leaves(x, n):
    items = iter(x)
    return sum(a * b for a, b in zip(items, x[: n - 1])), sum(items)


def a_filtering_generator_takes_some(x, n):
    items = iter(x)
    some = (v for v in items if v > 1.5)
    return next(some), sum(items)


def a_loop_left_over_a_filtering_generator(x, n):
    items, found = iter(x), 0.0
    for v in (w for w in items if w > 0.5):
        if v > 2.0:
            found = v
            break
    return found, sum(items)


def sums_so_far_take_some(x, n):
    items = iter(x)
    sums = itertools.accumulate(items)
    return next(sums), next(items), sum(items)


def gone_over_by_another_to_its_end(x, n):
    items, total = iter(x), 0.0
    for k, v in enumerate(map(np.sin, items)):
        total += v * k
    return total, list(items)


RIGHT = (
    *(reversed_before_the_list_grows,),
    *(generator_twice, generator_of_list_twice, generator_of_range_twice, zip_twice, map_twice),
    *(enumerate_twice, reversed_twice, reversed_array_twice, loop_twice, zip_loop_twice),
    *(resumed_after_break, two_names, in_a_function, as_attribute, late_source, late_name),
    *(early_first_iterable, late_map, range_twice, dict_items_twice, next_once, next_with_default),
    *(counter, taken_by_a_function, zip_with_itself, list_in_the_middle),
    *(an_item_that_the_loop_does_not_read, an_item_read_after_the_loop, an_item_read_by_a_function),
    *(items_with_effects_of_an_enumeration, the_largest_of_items_with_effects),
    *(what_is_left_of_an_iterator_with_effects, gone_over_by_another_to_its_end),
)
EITHER = (
    *(generator_resumed_after_break, enumerate_resumed_after_break, next_then_loop, next_past_the_end),
    *(counter_in_loop, counter_around_lambda, map_calls_when_asked, zip_stops_early, zip_eats_one_more),
    *(any_stops, in_operator_stops, environment, exhausted_in_a_loop, list_in_a_branch, next_in_a_branch),
    *(next_in_a_loop, zip_in_a_loop, generator_spent_in_a_branch, generator_spent_where_a_loop_goes_on),
    *(generator_begun_in_a_branch, any_of_items_with_effects, pairs_of_one_iterator, any_leaves_the_rest),
    *(a_loop_left_over_an_enumeration_of_an_iterator, a_loop_left_over_pairs_with_an_iterator),
    *(a_loop_left_over_a_generator_of_an_iterator, given_to_another_and_read_itself),
    *(taken_a_few_in_each_iteration, shorter_company_in_each_iteration, any_in_each_iteration),
    *(what_shorter_company_leaves, a_filtering_generator_takes_some, sums_so_far_take_some),
    a_loop_left_over_a_filtering_generator,
    *(taken_in_turn_with_another, any_of_what_an_enumeration_takes, all_of_a_generator_function),
)
