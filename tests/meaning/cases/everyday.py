"""What programs do every day: keys, digits, methods of lists, powers, names that begin as None or 0."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

Point = namedtuple("Point", "x y")
SCALE = 3.0


def sorted_by_a_key(x, n):
    y = np.sin(x)
    return sorted(y, key=lambda v: -v), sorted(y, key=abs, reverse=True)


def equal_keys_keep_their_order(x, n):
    y = np.floor(x / 2.0)
    order = sorted(range(n), key=lambda k: y[k])
    turned = sorted(range(n), key=lambda k: y[k], reverse=True)
    return [x[k] for k in order], [x[k] for k in turned]


def least_and_greatest_by_a_key(x, n):
    pairs = [(v, v * v) for v in x]
    return min(x, key=lambda v: (v - 2.2) ** 2), max(pairs, key=lambda p: -p[1])[0], max(1.0, x[0], key=abs)


def rounded_to_digits(x, n):
    return round(x[0] / 3.0, 2), round(float(x[1]) / 3.0, 3), round(n, 2), round(float(x[1]), 1)


def sorts_a_list_in_place(x, n):
    values = [np.sin(v) for v in x]
    other = values
    values.sort()
    values.sort(reverse=True)
    return other, values[0]


def turns_a_list_around(x, n):
    values = [v * 2.0 for v in x]
    values.reverse()
    return values


def a_comprehension_grows(x, n):
    values = [v * 2.0 for v in x]
    other = values
    values.append(1.0)
    values += [x[0], x[1]]
    return other, len(values), values.pop()


def counts_and_finds(x, n):
    values = [int(v) % 3 for v in x]
    return values.count(1), values.index(2), values.count(7)


def adds_lists(x, n):
    return [v for v in x] + [1.0, 2.0] + [v * v for v in x]


def remembers_by_membership(x, n):
    known = {}

    def f(k):
        if k in known:
            return known[k]
        known[k] = x[k] if k < 2 else f(k - 1) * 0.5 + f(k - 2)
        return known[k]

    return f(6), 3 in known, 9 not in known


def is_one_of(x, n):
    total = 0.0
    for i in range(n):
        if i in (1, 3, n - 1):
            total += x[i]
    return total, x[0] in [x[1], x[0]]


def replaces_in_a_tuple(x, n):
    p = Point(x[0], x[1])
    q = p._replace(x=x[2])
    return p.x, q.x, q.y


def alternating_signs(x, n):
    total = 0.0
    for k in range(n):
        total += (-1) ** k * x[k]
    return total


def powers_of_two(x, n):
    total = 0.0
    for k in range(n % 50):
        total += x[k] * 2**k + 0**k + 1**k
    return total


def reads_a_global(x, n):
    global SCALE
    return SCALE * x[0]


def best_of_all(x, n):
    best = None
    at = None
    for i, v in enumerate(np.sin(x)):
        if best is None or v > best:
            best, at = v, i
    return best, at


def sums_arrays_from_zero(x, n):
    total = 0
    for k in range(len(x)):
        total = total + x * k
    return total


def breaks_in_the_first_iteration(x, n):
    found = None
    for v in x:
        found = v * 2.0
        if v > 0.5:
            break
    else:
        found = -1.0
    return found


def goes_on_in_the_first_iteration(x, n):
    last = None
    for k in range(len(x)):
        if k == 0:
            last = x[0]
            continue
        last = last * 0.5 + x[k]
    return last


def a_loop_that_may_not_run(x, n):
    last = None
    for k in range(n - 3):
        last = x[k]
    return 0.0 if last is None else last


def enumerates_a_generator(x, n):
    def parts(a, size):
        for i in range(0, len(a), size):
            yield a[i : i + size]

    total = 0.0
    for k, part in enumerate(parts(x, 2), 1):
        total += part.sum() * k
    return total


def chosen_by_and_and_or(x, n):
    last = x[n - 1]
    one = (last > 2.5 and x[0]) or 2.0
    other = (last > 1e3 and x[0]) or (last > 2.5 and x[0] > 0.0 and x[0] - 1.0) or x[1]
    return one, other


def tests_of_numbers(x, n):
    count = int(x[n - 1]) - 1
    some = 1.0 if count and x[0] - 1.0 else 2.0
    none = not ((x[1] > 5.0 and x[0]) or x[1])
    while count and x[0] and count > 1:
        count -= 1
    return some, none, count


def fills_with_an_array(x, n):
    y = np.full_like(x, x)
    z = np.full((2, n), x)
    y += 5.0
    z[0] *= y
    return x, y, z


def fills_like_a_transpose(x, n):
    m = np.outer(x, np.array([1.0, 2.0]))
    y = np.full_like(m.T, m.T)
    rows = y.T.ravel()
    rows[0] = 7.0
    return y, rows, np.full_like(m.T, 2.0).ravel()


def adds_at_places_of_a_list(x, n):
    y = sorted(x)
    np.add.at(y, np.array([0]), 1)
    return y


def chooses_texts_or_functions(x, n):
    size = len((x[1] > 5.0 and "long") or "a")
    return size, ((x[1] > 5.0 and np.sin) or np.cos)(x)


RIGHT = (
    *(chosen_by_and_and_or, tests_of_numbers, fills_with_an_array, fills_like_a_transpose),
    *(sorted_by_a_key, equal_keys_keep_their_order, least_and_greatest_by_a_key, rounded_to_digits),
    *(sorts_a_list_in_place, turns_a_list_around, a_comprehension_grows, counts_and_finds, adds_lists),
    *(is_one_of, replaces_in_a_tuple, alternating_signs, powers_of_two, reads_a_global),
    *(best_of_all, sums_arrays_from_zero, goes_on_in_the_first_iteration),
    enumerates_a_generator,
)
EITHER = (
    *(breaks_in_the_first_iteration, a_loop_that_may_not_run, remembers_by_membership),
    *(adds_at_places_of_a_list, chooses_texts_or_functions),
)
