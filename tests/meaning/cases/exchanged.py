"""Items of lists of arrays and of lists that are exchanged: which of them is one object with another."""

from __future__ import annotations

import numpy as np


def arrays(n):
    return [np.ones(3) * i for i in range(n)]


def table(n):
    return [[0.0] * n for _ in range(n)]


def a_new_list_is_an_item(x, n):
    q = table(n)
    q[1] = [1.0] * n
    q[1][0] = x[1]
    return q


def a_new_short_list_is_an_item(x, n):
    q = [[0.0] * 3 for _ in range(n)]
    q[1] = [x[0], x[1], 1.0]
    q[1][0] = 5.0
    return q


def a_row_for_each_iteration(x, n):
    q, last = table(n), [1.0] * n
    for i in range(n):
        row = [0.0] * n
        for j in range(1, n):
            row[j] = last[j - 1] * x[0] + 1
        q[i] = row
        last = row
    return q


def copies_of_a_list_that_changes(x, n):
    q, row = table(n), [1.0] * n
    for i in range(n):
        row[i] = x[1]
        q[i] = row[:]
    q[0][0] = 4.0
    return q, row


def the_row_before_one_is_added_to(x, n):
    rows = arrays(n)
    for i in range(1, n):
        rows[i] = rows[i - 1] + x[i]
    return rows


def two_rows_swapped(x, n):
    rows = arrays(n)
    rows[0], rows[-1] = rows[-1], rows[0]
    rows[0] += x[:1]
    return rows


def two_lists_swapped(x, n):
    q = [[x[i] + j for j in range(n)] for i in range(n)]
    q[0], q[1] = q[1], q[0]
    q[0][1] = 7.0
    return q


def rows_swapped_of_a_list_that_grows(x, n):
    rows = []
    for i in range(n):
        rows.append(x[:2] * i)
    rows[0], rows[1] = rows[1], rows[0]
    rows[1] += 1.0
    return rows


def elimination_with_pivots(x, n):
    m = [[1.0 / (1.0 + abs(x[i] - 1.5 * x[j])) for j in range(n)] for i in range(n)]
    y = [v for v in x]
    for k in range(0, n, 8):
        p = k
        for i in range(k + 1, n):
            if abs(m[i][k]) > abs(m[p][k]):
                p = i
        m[k], m[p] = m[p], m[k]
        y[k], y[p] = y[p], y[k]
        for i in range(k + 1, n):
            f = m[i][k] / m[k][k]
            for j in range(k, n):
                m[i][j] -= f * m[k][j]
            y[i] -= f * y[k]
    return y


def a_row_of_a_list_that_another_row_was_written_beside(x, n):
    o = np.stack([x * 1.0, x * 2.0])
    a = o[1]
    rows = [np.atleast_2d(a) for _ in range(n)]
    o[0] = 7.0
    return o, rows[-1]


def a_row_of_a_list_that_was_written(x, n):
    o = np.stack([x * 1.0, x * 2.0])
    a = o[1]
    rows = [np.atleast_2d(a) for _ in range(n)]
    o[1] = 7.0
    return o, rows[-1]


def the_same_row_of_one_list_and_another(x, n):
    o = np.stack([x * 1.0, x * 2.0])
    rows = [np.atleast_2d(o[1]) for _ in range(n)]
    rows[0] = np.atleast_2d(o[0])
    o[0] = 7.0
    return o, rows[0]


def an_array_that_changes_becomes_an_item(x, n):
    rows, r = arrays(n), np.ones(3)
    rows[0] = r
    r += x[0]
    return rows


def an_item_that_was_an_array_changes(x, n):
    rows, r = arrays(n), np.ones(3)
    rows[0] = r
    rows[0] += x[0]
    return rows, r


def an_item_becomes_another_one(x, n):
    rows = arrays(n)
    rows[1] = rows[0]
    rows[0] += x[0]
    return rows


def an_item_becomes_another_one_in_a_loop(x, n):
    rows = arrays(n)
    for i in range(1, n):
        rows[i] = rows[i - 1]
    rows[0][0] = 7.0
    return rows


def an_item_becomes_another_one_after_it_was_written(x, n):
    rows = arrays(n)
    for _ in range(n):
        rows[1][0] += x[1]
        rows[1] = rows[0]
    return rows


def one_array_becomes_every_item(x, n):
    rows, r = arrays(n), np.ones(3)
    for i in range(n):
        rows[i] = r
    rows[1][0] = 7.0
    return rows


def items_change_after_they_were_put_there(x, n):
    rows = arrays(n)
    for i in range(n):
        r = np.ones(3)
        rows[i] = r
        r[1] = i
    return rows


def a_list_changes_after_it_became_an_item(x, n):
    q, r = [[0.0] * 3 for _ in range(n)], [x[0], x[1], 1.0]
    q[1] = r
    r[0] = 5.0
    return q


def a_list_changes_as_an_item(x, n):
    q, r = [[0.0] * 3 for _ in range(n)], [x[0], x[1], 1.0]
    q[1] = r
    q[1][0] = 5.0
    return q, r


def a_long_list_changes_as_an_item(x, n):
    q, r = table(n), [1.0] * n
    q[1] = r
    q[1][0] = x[1]
    return q, r


def a_list_is_two_items(x, n):
    q, r = [[0.0] * 3 for _ in range(n)], [x[0], x[1], 1.0]
    q[0] = r
    q[1] = r
    q[1][0] = 5.0
    return q


def a_list_is_every_item(x, n):
    q, r = [[0.0] * 3 for _ in range(n)], [x[0], x[1], 1.0]
    for i in range(n):
        q[i] = r
    q[1][0] = 5.0
    return q


def lists_of_one_array_are_exchanged(x, n):
    rows, others = [x[:3] for _ in range(n)], [np.zeros(3) for _ in range(n)]
    for _ in range(n):
        rows, others = others, rows
    rows[0] = rows[0] + 1.0
    return rows, others


def lists_of_one_array_are_exchanged_and_written(x, n):
    v = x[:2] * 1.0
    rows, others = [v for _ in range(n)], [np.zeros(2) for _ in range(n)]
    for _ in range(n + 1):
        rows, others = others, rows
    rows[0] += 1.0
    return rows, others


def one_array_in_one_of_two_lists(x, n):
    v = x[:2] * 1.0
    rows = [v for _ in range(n)] if x[0] > 0.0 else [np.zeros(2) for _ in range(n)]
    rows[0] += 1.0
    return rows


def part_of_a_list_of_one_array(x, n):
    v = x[:2] * 1.0
    rows = [v for _ in range(n)]
    part = rows[1:]
    part[0] += 1.0
    return part


def a_name_of_a_row_that_is_swapped(x, n):
    rows = arrays(n)
    r = rows[0]
    rows[0], rows[1] = rows[1], rows[0]
    r += x[0]
    return rows


def rows_made_one_in_a_branch(x, n):
    q = [[0] * 3 for _ in range(n)]
    if x[0] > 5.0:
        q[1] = q[0]
    return q


def rows_made_one_in_a_branch_and_written(x, n):
    q = [[0.0] * 3 for _ in range(n)]
    if x[0] < 5.0:
        q[1] = q[0]
    q[0][0] = 1.0
    return q


def a_list_read_in_a_loop_that_writes_it_as_an_item(x, n):
    q, r, total = [[0.0] * 3 for _ in range(n)], [x[0], x[1], 1.0], 0.0
    q[0] = r
    for i in range(n):
        total += r[0]
        q[0][0] = i * 1.0
    return total


def an_item_read_in_a_loop_that_writes_the_list(x, n):
    q, r, total = [[0.0] * 3 for _ in range(n)], [x[0], x[1], 1.0], 0.0
    q[0] = r
    for i in range(n):
        total += q[0][0]
        r[0] = i * 1.0
    return total


def several_items_are_arrays_that_change(x, n):
    rows, r, t = arrays(n), np.ones(3), np.zeros(3)
    rows[0:2] = [r, t]
    r += x[0]
    return rows


def several_items_that_were_arrays_change(x, n):
    rows, r, t = arrays(n), np.ones(3), np.zeros(3)
    rows[0:2] = [r, t]
    rows[0] += x[0]
    return rows, r


def a_list_changes_as_an_item_of_a_list_that_has_grown(x, n):
    q, r = [], [x[0], x[1], 1.0]
    q.append(r)
    for i in range(n):
        q.append([x[i], 1.0, 2.0])
    q[0][0] = 7.0
    return r


def an_item_of_a_list_that_has_grown_changes(x, n):
    q, r, total = [], [x[0], x[1], 1.0], 0.0
    q.append(r)
    for i in range(n):
        q.append([x[i], 1.0, 2.0])
    for i in range(n):
        total += q[0][0]
        r[0] = i * 1.0
    return total


def rows_of_an_array_are_copies_of_lists(x, n):
    a, row = np.zeros((n, n)), [1.0] * n
    a[0] = row
    row.append(x[0])
    a[0, 0] += 1.0
    return a, row[-1], row[0]


def items_of_a_new_list_are_written_in_a_loop(x, n):
    q = [[0.0] * 3 for _ in range(n)]
    q[1] = [x[0], x[1], 1.0]
    for i in range(n):
        q[i][0] = 5.0
    return q


RIGHT = (
    *(a_new_list_is_an_item, a_new_short_list_is_an_item, a_row_for_each_iteration),
    *(copies_of_a_list_that_changes, the_row_before_one_is_added_to, two_rows_swapped, two_lists_swapped),
    *(rows_swapped_of_a_list_that_grows, elimination_with_pivots, rows_made_one_in_a_branch),
    a_row_of_a_list_that_another_row_was_written_beside,
    *(rows_of_an_array_are_copies_of_lists, items_of_a_new_list_are_written_in_a_loop),
)
EITHER = (
    *(a_list_read_in_a_loop_that_writes_it_as_an_item, an_item_read_in_a_loop_that_writes_the_list),
    *(several_items_are_arrays_that_change, several_items_that_were_arrays_change),
    a_list_changes_as_an_item_of_a_list_that_has_grown,
    an_item_of_a_list_that_has_grown_changes,
    *(a_row_of_a_list_that_was_written, the_same_row_of_one_list_and_another),
    *(an_array_that_changes_becomes_an_item, an_item_that_was_an_array_changes, an_item_becomes_another_one),
    *(an_item_becomes_another_one_in_a_loop, an_item_becomes_another_one_after_it_was_written),
    *(one_array_becomes_every_item, items_change_after_they_were_put_there),
    *(a_list_changes_after_it_became_an_item, a_list_changes_as_an_item, a_long_list_changes_as_an_item),
    *(a_list_is_two_items, a_list_is_every_item, lists_of_one_array_are_exchanged),
    *(lists_of_one_array_are_exchanged_and_written, one_array_in_one_of_two_lists),
    *(part_of_a_list_of_one_array, a_name_of_a_row_that_is_swapped, rows_made_one_in_a_branch_and_written),
)
