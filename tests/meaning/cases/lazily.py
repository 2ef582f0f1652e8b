"""Generators and iterators that read what a loop over them changes: items are read when asked for."""

from __future__ import annotations

import functools
import itertools


def filtered(x, n):
    a = list(x)
    s = 0.0
    for v in (a[i] for i in range(n) if a[i] > 1.5):
        a[n - 1] = 0.5
        s += v
    return s


def filtered_array(x, n):
    a = x.copy()
    s = 0.0
    for v in (a[i] for i in range(n) if a[i] > 1.5):
        a[n - 1] += v
        s += v
    return s


def two_clauses(x, n):
    a = x.copy()
    s = 0.0
    for v in (a[i] * a[j] for i in range(n) for j in range(i)):
        a[n - 1] = 0.5 * v
        s += v
    return s


def name_rebound(x, n):
    k = 1.0
    s = 0.0
    for v in (u * k for u in x if u > 1.5):
        k = k + 1.0
        s += v
    return s


def accumulated(x, n):
    a = x.copy()
    s = 0.0
    for v in itertools.accumulate(a):
        a[n - 1] = 0.25
        s += v
    return s


def accumulated_by_a_function(x, n):
    a = x.copy()
    s = 0.0
    for v in itertools.accumulate(a, lambda p, q: p * 0.5 + q):
        a[n - 1] = 0.25
        s += v
    return s


def chained(x, n):
    a = x.copy()
    b = 2 * x
    s = 0.0
    for v in itertools.chain(a, b):
        b[n - 1] = v
        s += v
    return s


def pairs(x, n):
    a = x.copy()
    s = 0.0
    for i, (u, v) in enumerate(itertools.pairwise(a)):
        a[i + 1] = 0.25
        s += u * v
    return s


def products(x, n):
    a = x.copy()
    s = 0.0
    for u, v in itertools.product(a, a):
        a[n - 1] = 0.25
        s += u * v
    return s


def mapped_rows(x, n):
    a = x.copy()
    s = 0.0
    for v in map(lambda p, q: p * q, a, x):
        a[n - 1] = 0.25
        s += v
    return s


def mapped_rows_by_a_function(x, n):
    a = x.copy()
    s = 0.0
    for v in map(lambda p, q: p * a[n - 1], a, x):
        a[n - 1] = 0.25
        s += v
    return s


def next_of_what_changes(x, n):
    box = [0.0]

    def put(v):
        box[0] += v
        return v

    g = (put(v) for v in x if v > 1.5)
    a = next(g)
    return a + 10 * box[0]


def next_of_a_map_that_changes(x, n):
    box = [0.0]

    def put(v):
        box[0] += v
        return v

    g = (put(v) for v in x)
    a = next(g)
    return a + 10 * box[0]


def filtered_in_zip(x, n):
    a = x.copy()
    s = 0.0
    for u, v in zip((w for w in a if w > 1.5), x):
        a[n - 1] = 0.5
        s += u * v
    return s


def filtered_in_enumerate(x, n):
    a = x.copy()
    s = 0.0
    for i, u in enumerate(w for w in a if w > 1.5):
        a[n - 1] = 0.5
        s += u * i
    return s


def mapped(x, n):
    a = x.copy()
    s = 0.0
    for u in map(lambda i: a[i], range(n)):
        a[n - 1] = 0.5 * u
        s += u
    return s


def changed_before_the_loop(x, n):
    a = x.copy()
    s = 0.0
    g = (w for w in a if w > 1.5)
    a[n - 1] = 0.1
    for u in g:
        s += u
    return s


def changed_before_the_sum(x, n):
    a = x.copy()
    g = (w * a[0] for w in a if w > 1.5)
    a[0] = 7.0
    return sum(g)


def zip_made_before(x, n):
    a = x.copy()
    s = 0.0
    z = zip(a, x)
    a[0] = 7.0
    for u, v in z:
        s += u * v
    return s


def accumulate_made_before(x, n):
    a = x.copy()
    s = 0.0
    z = itertools.accumulate(a)
    a[n - 1] = 7.0
    for u in z:
        s += u
    return s


def chain_made_before(x, n):
    a = x.copy()
    s = 0.0
    z = itertools.chain(a, x)
    a[0] = 7.0
    for u in z:
        s += u
    return s


def sum_of_a_chain_made_before(x, n):
    a = x.copy()
    z = itertools.chain(a, x)
    a[0] = 7.0
    return sum(z)


def pairwise_made_before(x, n):
    a = x.copy()
    s = 0.0
    z = itertools.pairwise(a)
    a[0] = 7.0
    for u, v in z:
        s += u * v
    return s


def product_made_before(x, n):
    a = x.copy()
    s = 0.0
    z = itertools.product(a, x)
    a[0] = 7.0
    for u, v in z:
        s += u * v
    return s


def make(a):
    return (v * 2 for v in a if v > 1.5)


def returned_generator(x, n):
    a = x.copy()
    s = 0.0
    g = make(a)
    a[n - 1] = 9.0
    for v in g:
        s += v
    return s


def loop_over_a_returned_generator(x, n):
    a = x.copy()
    s = 0.0
    for v in make(a):
        a[n - 1] = 0.3
        s += v
    return s


def next_default(x, n):
    return next((v for v in x if v > 2.5), -1.0)


def next_default_none(x, n):
    return next((v for v in x if v > 1e5), -1.0)


def part_of_a_filtered_one(x, n):
    a = x.copy()
    s = 0.0
    for v in itertools.islice((w for w in a if w > 1.5), 2):
        a[2] = 50.0
        s += v
    return s


def reduced_with_a_change(x, n):
    box = [0.0]

    def f(p, q):
        box[0] += 1.0
        return p + q * box[0]

    return functools.reduce(f, (v for v in x if v > 1.5))


def all_items_at_once(x, n):
    box = [0.0]

    def f(q):
        box[0] += 1.0
        return q * box[0]

    return sum(list(f(v) for v in x if v > 1.5)) + box[0]


def known_items_filtered(x, n):
    s = 0.0
    for v in (x[i] * 2 for i in (0, 1, 2) if x[i] > 1.5):
        s += v
    return s


def attribute_that_the_filter_reads(x, n):
    class S:
        pass

    o = S()
    o.k = 1.0
    s = 0.0
    for v in (w * o.k for w in x if w > 1.5):
        o.k += 1.0
        s += v
    return s


def attribute_that_accumulate_reads(x, n):
    class S:
        pass

    o = S()
    o.k = 1.0
    s = 0.0
    for v in itertools.accumulate(x, lambda p, q: p + q * o.k):
        o.k += 1.0
        s += v
    return s


def left_early(x, n):
    a = x.copy()
    s = 0.0
    for v in (w for w in a if w > 1.5):
        if v > 3.5:
            break
        a[n - 1] = 1.0
        s += v
    else:
        s += 100.0
    return s


def goes_on_early(x, n):
    a = x.copy()
    s = 0.0
    for v in (w for w in a if w > 1.5):
        if v > 2.5:
            continue
        a[n - 1] = 1.0
        s += v
    return s


def asked_in_its_loop(x, n):
    g, total = (v for v in x if v > 1.5), 0.0
    for v in g:
        total += v * next(g, 10.0)
    return total


def asked_by_another_name(x, n):
    g, total = (v for v in x if v > 1.5), 0.0
    h = g
    for v in g:
        total += v * sum(h)
    return total


def goes_on_after_a_break(x, n):
    g, total = (v for v in x if v > 1.5), 0.0

    def same():
        return g

    for v in same():
        total += v
        if v > 2.5:
            break
    return total, sum(g)


def gone_over_twice(x, n):
    g, total = (v for v in x if v > 1.5), 0.0
    for v in g:
        total += v
    for v in g:
        total += 100.0 * v
    return total + sum(g)


def one_of_two(x, n):
    def chosen(is_large):
        if is_large:
            return (v for v in x if v > 1.5)
        return (v for v in x if v < 2.5)

    return sum(chosen(x[0] > 0.5))


def one_of_two_iterators(x, n):
    it = iter(x)
    other = it if x[0] > 0.5 else iter(2.0 * x)
    return next(other) + sum(it)


def named_where_it_was_made(x, n):
    def doubled(k):
        large = x * k
        return (v for v in large if v > 3.0)

    return sum(doubled(2.0)) * sum(doubled(3.0))


RIGHT = [
    named_where_it_was_made,
    gone_over_twice,
    filtered,
    filtered_array,
    two_clauses,
    name_rebound,
    products,
    mapped_rows,
    mapped_rows_by_a_function,
    next_of_a_map_that_changes,
    mapped,
    changed_before_the_loop,
    changed_before_the_sum,
    zip_made_before,
    product_made_before,
    returned_generator,
    loop_over_a_returned_generator,
    next_default,
    next_default_none,
    reduced_with_a_change,
    all_items_at_once,
    known_items_filtered,
    attribute_that_the_filter_reads,
    left_early,
    goes_on_early,
]
EITHER = [
    one_of_two,
    one_of_two_iterators,
    asked_in_its_loop,
    asked_by_another_name,
    goes_on_after_a_break,
    accumulated,
    accumulated_by_a_function,
    chained,
    pairs,
    next_of_what_changes,
    filtered_in_zip,
    filtered_in_enumerate,
    accumulate_made_before,
    chain_made_before,
    sum_of_a_chain_made_before,
    pairwise_made_before,
    part_of_a_filtered_one,
    attribute_that_accumulate_reads,
]
