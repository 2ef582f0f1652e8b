"""Lists of rows: `list(y)`, `[r for r in y]`, `[y[i] for i in …]` hold views of `y`."""

from __future__ import annotations

import numpy as np


def matrix(x):
    return np.outer(x, np.array([1.0, 2.0, 3.0]))


def list_then_row_written(x, n):
    y = matrix(x)
    rows = list(y)
    rows[0] += 10.0
    return y, rows[0]


def list_then_array_written(x, n):
    y = matrix(x)
    rows = list(y)
    y[0] *= 5.0
    return rows[0], rows[-1]


def list_then_whole_array_written(x, n):
    y = matrix(x)
    rows = list(y)
    y += 1.0
    return rows[0], rows[1]


def comprehension_then_row_written(x, n):
    y = matrix(x)
    rows = [r for r in y]
    rows[1][0] = 50.0
    return y


def comprehension_then_array_written(x, n):
    y = matrix(x)
    rows = [r for r in y]
    y[1, 0] = 50.0
    return rows[1]


def indexed_then_row_written(x, n):
    y = matrix(x)
    rows = [y[i] for i in range(n)]
    rows[0] *= 3.0
    return y


def indexed_then_array_written(x, n):
    y = matrix(x)
    rows = [y[i] for i in range(n)]
    y[0] = 0.5
    return rows[0]


def indexed_in_reverse(x, n):
    y = matrix(x)
    rows = [y[n - 1 - i] for i in range(n)]
    rows[0][1] = 50.0
    return y, rows[0]


def columns(x, n):
    y = matrix(x)
    cols = [y[:, j] for j in range(3)]
    cols[1] += 10.0
    return y


def slices(x, n):
    a = x.copy()
    tails = [a[i:] for i in range(2)]
    tails[1] += 10.0
    return a, tails[0]


def copies_of_rows(x, n):
    y = matrix(x)
    rows = [r.copy() for r in y]
    rows[0] += 10.0
    y[1] = 0.0
    return y, rows[0], rows[1]


def new_rows(x, n):
    y = matrix(x)
    rows = [r * 2.0 for r in y]
    rows[0] += 10.0
    return y, rows[0]


def loop_over_rows(x, n):
    y = matrix(x)
    rows = list(y)
    for r in rows:
        r += 1.0
    return y


def loop_over_rows_by_index(x, n):
    y = matrix(x)
    rows = list(y)
    for i in range(n):
        rows[i] += float(i)
    return y


def row_replaced(x, n):
    y = matrix(x)
    rows = list(y)
    rows[0] = np.zeros(3)
    rows[0] += 1.0
    return y, rows[0]


def rows_sorted_by_hand(x, n):
    y = matrix(x)
    rows = list(y)
    rows[0], rows[1] = rows[1], rows[0]
    rows[0] += 100.0
    return y


def tuple_of_rows(x, n):
    y = matrix(x[:3])
    p, *rest = y
    p += 10.0
    return y


def unpacked_rows(x, n):
    y = matrix(x[:2])
    p, q = y
    p += 10.0
    q *= 2.0
    return y


def rows_of_zeros(x, n):
    rows = [np.zeros(3) for i in range(n)]
    rows[0] += x[0]
    rows[1][2] = 5.0
    return rows


def one_row_many_times(x, n):
    rows = [np.zeros(3)] * 3
    rows[0] += x[0]
    return rows


def one_row_n_times(x, n):
    rows = [np.zeros(3)] * n
    rows[0] += x[0]
    return rows[1]


def same_row_in_comprehension(x, n):
    r = np.zeros(3)
    rows = [r for i in range(n)]
    rows[0] += x[0]
    return rows[1], r


def appended_rows(x, n):
    y = matrix(x)
    rows = []
    for i in range(n):
        rows.append(y[i])
    y[0] = 50.0
    return rows[0], rows[-1]


def appended_rows_are_written(x, n):
    y = matrix(x)
    rows = []
    for r in y:
        rows.append(r)
    rows[0] += 10.0
    return y


def stacked_rows_are_copied(x, n):
    y = matrix(x)
    z = np.array(list(y))
    z[0] = 50.0
    y[1] = 70.0
    return y[0], z[1]


def list_of_numbers_is_no_view(x, n):
    a = x.copy()
    items = list(a)
    a[0] = 50.0
    items[1] = 70.0
    return items[0], a[1]


def numbers_in_comprehension(x, n):
    a = x.copy()
    items = [v for v in a]
    a[0] = 50.0
    return items[0]


def rows_through_a_callee(x, n):
    def parts(m):
        return [m[i] for i in range(n)]

    y = matrix(x)
    rows = parts(y)
    rows[0] += 10.0
    return y


def rows_in_an_object(x, n):
    y = matrix(x)
    d = {"rows": list(y)}
    d["rows"][0] += 10.0
    y[1] *= 2.0
    return y, d["rows"][1]


def one_array_in_every_row(x, n):
    m = x.copy()
    rows = [m for i in range(n)]
    rows[1] += 1.0
    return m, rows[0]


def one_array_in_every_row_of_a_list_that_grows(x, n):
    m = x.copy()
    rows = [m for i in range(n)]
    rows.append(x * 2)
    rows[1] += 1.0
    return m, rows[0]


def one_array_appended_again_and_again(x, n):
    m = x.copy()
    rows = []
    for i in range(n):
        rows.append(m)
    rows[1] += 1.0
    return rows[0]


def a_row_appended_once_more(x, n):
    rows = [x * i for i in range(n)]
    rows.append(rows[0])
    rows[0] += 1.0
    return rows[-1]


def a_row_held_while_its_list_grows(x, n):
    rows = [x * i for i in range(n)]
    row = rows[0]
    rows.append(x)
    row += 1.0
    return rows[0]


def a_copy_of_a_list_holds_the_same_rows(x, n):
    rows = []
    for i in range(n):
        rows.append(x * i)
    others = rows.copy()
    others[0] += 1.0
    return rows[0]


def array_written_after_its_list_has_grown(x, n):
    m = x.copy()
    rows = [m for i in range(n)]
    rows.append(x * 2)
    m += 1.0
    return rows[0]


def rows_of_their_own_are_written(x, n):
    rows = []
    for i in range(n):
        row = np.zeros(3)
        rows.append(row)
    rows[1] += 1.0
    for i in range(n):
        rows[i] += x[i]
    return rows[0] + rows[1], sum(row[0] for row in rows)


def lists_of_views_appended(x, n):
    a = x * 1.0
    found = []
    for _ in range(n):
        parts = np.split(a, 1)
        found.append(parts)
        a[...] = 7
    return found[0], found[-1]


def lists_of_slices_appended(x, n):
    a = matrix(x)
    found = []
    for _ in range(n):
        found.append([a[1:], a[:-1]])
        a *= -1
    return found[0], found[-1]


RIGHT = (
    *(rows_of_their_own_are_written,),
    *(list_then_row_written, list_then_array_written, list_then_whole_array_written),
    *(comprehension_then_row_written, comprehension_then_array_written, indexed_then_row_written),
    *(indexed_then_array_written, columns, slices, copies_of_rows, new_rows, loop_over_rows),
    *(loop_over_rows_by_index, unpacked_rows, tuple_of_rows, rows_of_zeros, one_row_many_times),
    *(stacked_rows_are_copied, list_of_numbers_is_no_view, numbers_in_comprehension, rows_through_a_callee),
    *(rows_in_an_object,),
)
EITHER = (
    *(
        one_array_in_every_row,
        one_array_in_every_row_of_a_list_that_grows,
        one_array_appended_again_and_again,
        a_row_appended_once_more,
        a_row_held_while_its_list_grows,
        a_copy_of_a_list_holds_the_same_rows,
        array_written_after_its_list_has_grown,
    ),
    *(indexed_in_reverse, row_replaced, rows_sorted_by_hand, one_row_n_times, same_row_in_comprehension),
    *(appended_rows, appended_rows_are_written, lists_of_views_appended, lists_of_slices_appended),
)
