"""Tables as lists of lists: types of their numbers, and rows that are one list."""

from __future__ import annotations


def integers_then_a_float(x, n):
    q = [[0] * n for _ in range(n)]
    q[0][1] = x[1] / 2.0
    return q[0][1], q[1][0]


def integers_of_size_five(x, n):
    q = [[0] * 5 for _ in range(5)]
    q[2][1] = x[1] / 2.0
    return q


def integers_of_size_nine(x, n):
    q = [[0] * 9 for _ in range(9)]
    for i in range(9):
        q[i][1] = x[1] / 2.0 + i
    return q


def integers_of_the_size_of_an_argument(x, n):
    q = [[0] * len(x) for _ in range(len(x))]
    q[1][1] = x[1] / 2.0
    return q[1][1], q[0][0]


def integers_then_floats_in_loops(x, n):
    q = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            q[i][j] = x[i] / 2.0 + j
    return q[0][1], q[1][0], q[-1][-1]


def small_integers_then_a_float(x, n):
    q = [[0] * 3 for _ in range(3)]
    q[1][1] = x[0] / 2.0
    return q


def integers_in_a_row(x, n):
    q = [0] * n
    q[1] = x[1] / 4.0
    return q[1], q[0]


def integers_of_comprehension(x, n):
    q = [0 for _ in range(n)]
    q[1] = x[1] / 4.0
    return q[1], q[0]


def integers_added_to(x, n):
    q = [[0] * n for _ in range(n)]
    q[0][0] += 0.5
    q[1][1] -= 0.25
    return q[0][0], q[1][1], q[0][1]


def integers_stay_integers(x, n):
    q = [[0] * n for _ in range(n)]
    q[0][0] += 3
    return q[0][0] // 2, q[1][1]


def floats(x, n):
    q = [[0.0] * n for _ in range(n)]
    q[0][1] = x[1]
    q[1][0] = 2.0
    return q


def shared_rows(x, n):
    q = [[0.0] * 3] * 3
    q[0][1] = x[0]
    return q


def shared_rows_of_run_time_length(x, n):
    q = [[0.0] * 3] * n
    q[0][1] = x[0]
    return q[1], q[0]


def shared_rows_long(x, n):
    q = [[0.0] * n] * 3
    q[0][1] = x[0]
    return q[1], q[2]


def row_assigned(x, n):
    q = [[0.0] * 3 for _ in range(3)]
    q[1] = q[0]
    q[0][0] = x[0]
    return q


def row_assigned_at_run_time_length(x, n):
    q = [[0.0] * 3 for _ in range(n)]
    q[1] = q[0]
    q[0][0] = x[0]
    return q[0], q[1]


def row_named(x, n):
    q = [[0.0] * 3 for _ in range(n)]
    r = q[0]
    r[0] = x[0]
    q[0][1] = 5.0
    return q[0], r


def row_replaced(x, n):
    q = [[0.0] * 3 for _ in range(3)]
    r = q[0]
    q[0] = [1.0, 2.0, x[0]]
    r[0] = 9.0
    return q, r


def rows_swapped(x, n):
    q = [[0.0] * 3, [1.0] * 3, [x[0]] * 3]
    q[0], q[2] = q[2], q[0]
    q[0][1] = 7.0
    return q


def rows_of_one_list_in_two_tables(x, n):
    r = [x[0], 2.0]
    p, q = [r, r], [r]
    p[0][1] = 7.0
    q[0].append(8.0)
    return p, q


def table_copied_by_slice(x, n):
    q = [[0.0] * 3 for _ in range(3)]
    p = q[:]
    p[0][0] = x[0]
    p[1] = [5.0]
    return q, p


def table_copied_row_by_row(x, n):
    q = [[0.0] * 3 for _ in range(n)]
    p = [r[:] for r in q]
    p[0][0] = x[0]
    return q[0], p[0]


def table_by_comprehension_of_same_row(x, n):
    r = [0.0, 0.0]
    q = [r for _ in range(3)]
    q[0][0] = x[0]
    return q, r


def table_filled_by_loops(x, n):
    q = [[0.0] * n for _ in range(n)]
    for i in range(1, n):
        for j in range(1, n):
            q[i][j] = q[i - 1][j - 1] + x[i]
    return q[-1][-1], q[1]


def rows_of_different_lengths(x, n):
    q = [[x[0]], [x[0], 2.0]]
    q[0].append(3.0)
    q[1].append(4.0)
    return q


def row_gone_over(x, n):
    q = [[1.0, 2.0], [3.0, x[0]]]
    for r in q:
        r[0] *= 10.0
        r.append(5.0)
    return q


def table_of_integers_divided(x, n):
    q = [[1] * 3 for _ in range(n)]
    for i in range(n):
        q[i][0] /= 2
    return q[0][0], q[-1][0]


RIGHT = (
    *(integers_of_size_five, integers_of_size_nine, integers_of_the_size_of_an_argument),
    *(integers_then_a_float, integers_then_floats_in_loops, small_integers_then_a_float, integers_in_a_row),
    *(
        integers_of_comprehension,
        integers_added_to,
        integers_stay_integers,
        floats,
        shared_rows,
        row_assigned,
    ),
    *(row_named, row_replaced, rows_swapped, rows_of_one_list_in_two_tables, table_copied_by_slice),
    *(table_copied_row_by_row, table_by_comprehension_of_same_row, table_filled_by_loops),
    *(rows_of_different_lengths, row_gone_over),
)
EITHER = (
    *(shared_rows_of_run_time_length, shared_rows_long, row_assigned_at_run_time_length),
    table_of_integers_divided,
)
