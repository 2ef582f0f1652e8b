"""Items of dicts by keys that only the run knows: strings that branches have chosen, and whole numbers."""

from __future__ import annotations

import numpy as np

RATES = {"low": 0.5, "middle": 1.5, "high": 2.5}


def level(v):
    if v < 2.0:
        return "low"
    return "middle" if v < 4.0 else "high"


def rate_of_a_level(x, n):
    total = 0.0
    for v in x:
        total += RATES[level(v)] * v
    return total


def sums_of_each_level(x, n):
    sums = {"low": 0.0, "middle": 0.0, "high": 0.0}
    for v in x:
        sums[level(v)] += v
    return sums["low"], sums["middle"], sums["high"]


def counts_of_each_level(x, n):
    counts = {"low": 0, "middle": 0, "high": 0}
    for v in x:
        counts[level(v)] = counts[level(v)] + 1
    return counts["low"] + 10 * counts["middle"] + 100 * counts["high"]


def a_default(x, n):
    rates = {"low": x[1]}
    return rates.get(level(x[0]), -1.0), rates.get(level(x[2]), -7.0)


def nothing_there(x, n):
    found = {"low": x[1]}.get(level(x[2]))
    return -1.0 if found is None else found


def whole_numbers(x, n):
    table, total = {1: x[0], 2: x[1], 3: x[2]}, 0.0
    for v in x:
        total += table[int(v) % 3 + 1] * v
    return total


def whole_numbers_that_are_put(x, n):
    table = {0: 0.0, 1: 0.0}
    for v in x:
        table[int(v) % 2] = table[int(v) % 2] * 0.5 + v
    return table[0] + 10.0 * table[1]


def is_it_there(x, n):
    table, total = {1: 2.0, 5: 7.0}, 0.0
    for v in x:
        if int(v) in table:
            total += table[int(v)]
        if level(v) not in RATES or level(v) in {"high"}:
            total += 100.0
    return total


def tuples_as_keys(x, n):
    table = {("low", 0): 2.0, ("low", 1): 3.0, ("middle", 0): 5.0, ("high", 0): 11.0}
    total = 0.0
    for v in x:
        total += table.get((level(v), int(v) % 2), -1.0)
    return total


def arrays_by_a_key(x, n):
    parts = {"low": x, "middle": 2.0 * x, "high": np.ones(n)}
    total = 0.0
    for v in x:
        total += np.sum(parts[level(v)])
    return total


def functions_of_items(x, n):
    table = {"low": [x[0], 1.0], "middle": [x[1], 2.0], "high": [x[2], 3.0]}
    total = 0.0
    for v in x:
        a, b = table[level(v)]
        total += a * b
    return total


def key_of_another_kind(x, n):
    table = {"low": 1.0, 1: 2.0}
    return table.get(level(x[0]), 5.0), table.get(int(x[0]), 5.0), table.get(int(x[1]), 5.0)


def keys_of_numpy_and_complex_ones(x, n):
    table = {np.int64(1): 2.0, np.float64(3.0): 5.0, 2 + 0j: 7.0, True: 11.0, None: 13.0, (1, 2): 17.0}
    total = 0.0
    for v in x:
        total += table.get(int(v), 0.1) + table.get(v, 0.2)
    return total, int(x[0]) in {np.int64(1), None, "low", (1, 2)}, x[0] in {1 + 0j, (1, 2)}


def truths_as_keys(x, n):
    table = {False: x[1], True: x[2]}
    return table[x[0] > 0.5], {0: 3.0, 1: 4.0}.get(x[0] > 5.0)


def nothing_is_a_key(x, n):
    return {1.0: 2.0, 2.5: 3.0}.get(x[0] * np.nan, 9.0)


def popped(x, n):
    rates = {"low": x[1], "middle": 1.0}
    return rates.pop(level(x[0]), -7.0) + len(rates)


def default_that_is_set(x, n):
    rates = {"low": x[1]}
    return rates.setdefault(level(x[2]), -7.0) + len(rates)


def added_to_a_set(x, n):
    seen = {"low"}
    seen.add(level(x[0]))
    return float(len(seen))


def updated_by_pairs(x, n):
    rates = {"low": x[1], "middle": 1.0}
    rates.update([(level(x[0]), 5.0)])
    return rates["low"]


def a_key_that_is_new(x, n):
    rates = {"low": x[1]}
    rates[level(x[2])] = 2.0
    return float(len(rates))


def a_number_that_is_new(x, n):
    counts = {}
    for v in x:
        counts[int(v) % 3] = counts.get(int(v) % 3, 0) + 1
    return float(counts[0])


RIGHT = [
    rate_of_a_level,
    sums_of_each_level,
    counts_of_each_level,
    a_default,
    nothing_there,
    whole_numbers,
    whole_numbers_that_are_put,
    is_it_there,
    tuples_as_keys,
    arrays_by_a_key,
    functions_of_items,
    key_of_another_kind,
    keys_of_numpy_and_complex_ones,
    truths_as_keys,
    nothing_is_a_key,
]
EITHER = [
    popped,
    default_that_is_set,
    added_to_a_set,
    updated_by_pairs,
    a_key_that_is_new,
    a_number_that_is_new,
]
