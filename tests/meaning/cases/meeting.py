"""Lists of two kinds or lengths that meet where two ways do."""

from __future__ import annotations

import numpy as np


def known_and_of_the_run(x, n):
    kept = [1.0]
    if x[0] > 5.0:
        kept = [v * 2.0 for v in x]
    return sum(kept) + len(kept)


def of_the_run_and_known(x, n):
    if x[0] < 5.0:
        kept = [v * 2.0 for v in x]
    else:
        kept = [1.0, x[1]]
    return sum(kept) * kept[0] + len(kept)


def one_that_grew(x, n):
    large = []
    for v in x:
        if v > 2.0:
            large.append(v)
    if len(large) > 1:
        chosen = large
    else:
        chosen = [1.0, 2.0]
    return sum(chosen) + len(chosen) * chosen[-1]


def empty_on_one_way(x, n):
    kept = []
    if x[0] > 5.0:
        kept = [x[0]]
    return sum(kept) * 1.0 + len(kept)


def empty_and_of_the_run(x, n):
    kept = []
    if x[0] > 0.5:
        kept = [v for v in x if v > 1.5]
    total = 0.0
    for v in kept:
        total += v * v
    return total, len(kept)


def lists_that_are_returned(x, n):
    def choose(v):
        if v > 1.5:
            return [v, v * v]
        return [u for u in x if u > v]

    return sum(choose(x[0])), sum(choose(x[1])), len(choose(x[2]))


def in_an_expression(x, n):
    kept = [x[0]] if x[1] > 5.0 else [v + 1.0 for v in x]
    return sum(kept), len(kept), max(kept)


def of_tuples(x, n):
    pairs = [(x[0], 1.0)]
    if x[1] > 1.5:
        pairs = [(v, 2.0 * v) for v in x]
    return sum(a * b for a, b in pairs), len(pairs)


def in_a_loop(x, n):
    total = 0.0
    for v in x:
        parts = [v, 2.0 * v, 1.0] if v < 3.0 else [v]
        total += sum(parts) * len(parts)
    return total


def changed_on_the_way(x, n):
    kept = [x[0], x[1]]
    if x[2] > 1.0:
        kept[0] = 7.0
        kept = [*kept, 5.0]
    return sum(kept), kept[0], len(kept)


def arrays_of_one_shape(x, n):
    rows = [x]
    if x[0] > 0.5:
        rows = [x * v for v in x]
    return sum(np.sum(row) for row in rows), len(rows)


def floats_and_whole_numbers(x, n):
    kept = [1, 2]
    if x[0] > 5.0:
        kept = [v for v in x]
    return sum(kept) / 2 + len(kept)


def another_name_sees_no_change(x, n):
    mine = [1.0, 2.0]
    chosen = mine
    if x[0] > 5.0:
        chosen = [v for v in x]
    mine[0] = 9.0
    return sum(chosen) + mine[0]


def written_where_it_was_chosen(x, n):
    mine = [1.0, 2.0]
    chosen = mine
    if x[0] > 5.0:
        chosen = [v for v in x]
    chosen[0] = 9.0
    return sum(chosen) + mine[0]


def appended_afterwards(x, n):
    kept = [1.0]
    if x[0] > 5.0:
        kept = [v for v in x]
    kept.append(3.0)
    return sum(kept) + len(kept)


def copied_and_appended(x, n):
    kept = [1.0]
    if x[0] > 0.5:
        kept = [v for v in x]
    kept = list(kept)
    kept.append(3.0)
    return sum(kept) + len(kept)


def of_different_rows(x, n):
    kept = [(1.0, 2.0)]
    if x[0] > 0.5:
        kept = [v for v in x]
    return len(kept)


def changed_where_nobody_reads_the_choice(x, n):
    mine = [1.0, 2.0]
    chosen = mine
    if x[0] > 5.0:
        chosen = [(v, v) for v in x]
    mine[0] = 9.0
    chosen = None
    return sum(mine) + (0.0 if chosen is None else 1.0)


RIGHT = [
    changed_where_nobody_reads_the_choice,
    known_and_of_the_run,
    of_the_run_and_known,
    one_that_grew,
    empty_on_one_way,
    empty_and_of_the_run,
    lists_that_are_returned,
    in_an_expression,
    of_tuples,
    in_a_loop,
    changed_on_the_way,
    arrays_of_one_shape,
]
EITHER = [
    floats_and_whole_numbers,
    another_name_sees_no_change,
    written_where_it_was_chosen,
    appended_afterwards,
    copied_and_appended,
    of_different_rows,
]
