"""Arrays and lists that change their size from iteration to iteration, or with the way of a branch."""

from __future__ import annotations

import numpy as np


def shrinks_by_one(x, n):
    v = x * 1.0
    for i in range(n - 1):
        v = 0.5 * (v[:-1] + v[1:])
    return v


def shrinks_in_a_while(x, n):
    v = x * 1.0
    while len(v) > 1:
        v = 0.5 * (v[:-1] + v[1:])
    return v


def shrinks_while_its_items_say(x, n):
    v = x * 1.0
    while v[-1] > 2.0:
        v = v[:-1] * 1.01
    return v


def shrinks_to_nothing_and_on(x, n):
    v = x * 1.0
    for i in range(n + 3):
        v = v[1:]
    return v, len(v)


def shrinks_until_break(x, n):
    v = x * 1.0
    while True:
        v = v[:-1] + v[1:]
        if len(v) == 1:
            break
    return v


def shrinks_unless_it_is_short(x, n):
    v = x * 1.0
    for i in range(n):
        if len(v) < 3:
            continue
        v = v[1:] * 0.5
    return v


def grows_by_append(x, n):
    v = np.zeros(1)
    for i in range(n):
        v = np.append(v, x[i] * v[-1] + 1.0)
    return v


def grows_from_nothing(x, n):
    v = np.array([])
    for i in range(n):
        v = np.append(v, x[i] + np.sum(v))
    return v


def grows_by_rows(x, n):
    v, row = x * 1.0, x[:2]
    for i in range(n):
        v = np.concatenate([v, row * v[0]])
    return v


def grows_by_what_an_iteration_says(x, n):
    v = x[:1]
    for i in range(n):
        v = np.concatenate([v, x[: i % 3] * v[-1] / n])
    return v


def grows_by_vstack(x, n):
    m = np.zeros((0, 2))
    for i in range(n):
        m = np.vstack([m, [x[i], np.sum(m)]])
    return m


def grows_by_columns(x, n):
    m = x[:, None]
    for i in range(n):
        m = np.hstack([m, m[:, -1:] + 1.0])
    return m


def grows_in_whole_numbers(x, n):
    v = np.arange(2)
    for i in range(n):
        v = np.append(v, v[-1] + v[-2] - i)
    return v


def grows_and_shrinks(x, n):
    v = x * 1.0
    for i in range(n):
        v = np.append(v[2:], [v[0], v[1] * 0.5, 1.0])
    return v


def grows_in_nested_loops(x, n):
    v = x[:1]
    for i in range(n):
        for j in range(2):
            v = np.append(v, v[-1] + x[i] * j)
    return v


def shrinks_in_nested_loops(x, n):
    v, total = x * 1.0, 0.0
    for i in range(2):
        for j in range(len(v) // 3):
            v = v[1:] + v[:-1]
        total += v[0]
    return v, total


def filtered(x, n):
    v = x * 1.0
    for i in range(n):
        v = v[v > i]
    return v, len(v)


def filtered_by_comprehension(x, n):
    v = [a for a in x]
    for i in range(n):
        v = [a * 1.5 for a in v if a > 1.2 * i]
    return v


def neighbours(x, n):
    v = [a * 2.0 for a in x]
    for i in range(n - 1):
        v = [a * b / n for a, b in zip(v, v[1:])]  # noqa: RUF007
    return v


def neighbours_in_a_while(x, n):
    v = list(x)
    while len(v) > 1:
        v = [a + b for a, b in zip(v, v[1:])]  # noqa: RUF007
    return v[0]


def list_made_by_append_in_each_iteration(x, n):
    v = [a for a in x]
    while len(v) > 1:
        new = []
        for i in range(len(v) - 1):
            new.append(v[i] + v[i + 1])
        v = new
    return v[0]


def halves(x, n):
    v = x * 1.0
    while len(v) > 1:
        if len(v) % 2:
            v = np.append(v, 0.5)
        v = v[::2] + v[1::2]
    return v


def halves_that_keep_the_rest(x, n):
    v = x * 1.0
    while len(v) > 1:
        m = len(v) // 2
        v = np.concatenate([v[:m] + v[m : 2 * m], v[2 * m :]])
    return v


def on_one_way(x, n):
    v = x * 1.0
    for i in range(n - 1):
        if v[0] < 3.0:
            v = v[1:] * 0.9
    return v


def on_both_ways(x, n):
    v = x * 1.0
    for i in range(n - 1):
        if v[0] < 3.0:
            v = v[1:]
        else:
            v = np.append(v, v[0] - 4.0)
    return v


def filtered_on_one_way(x, n):
    v = x * 1.0
    for i in range(n):
        if np.sum(v) > n:
            v = v[v > 0.5 * i]
    return v


def without_a_loop(x, n):
    y = x[1:] if x[0] > 5.0 else np.append(x, 7.0)
    return y, len(y)


def rows_without_a_loop(x, n):
    m = x[:, None] * x
    if x[0] > 0.0:
        m = m[1:, 1:]
    return m


def eliminated(x, n):
    a, found = np.diag(x) + 0.1, 1.0
    while len(a) > 0:
        found = found * a[0, 0]
        a = a[1:, 1:] - np.outer(a[1:, 0], a[0, 1:]) / a[0, 0]
    return np.log(found)


def pascal(x, n):
    row = np.ones(1)
    for i in range(n % 20):
        row = np.concatenate([[1.0], row[1:] + row[:-1], [1.0]])
    return row


def tree_of_prices(x, n):
    v = np.maximum(3.0 - x, 0.0)
    for i in range(n - 1, 0, -1):
        v = np.maximum(3.0 - x[:i], 0.9 * (0.4 * v[1:] + 0.6 * v[:-1]))
    return v


def complex_numbers(x, n):
    v = x * (0.6 + 0.8j) / n
    for i in range(n - 1):
        v = v[1:] - v[:-1] ** 2
    return v


def written_in_each_iteration(x, n):
    v = x * 1.0
    for i in range(n - 1):
        v = v[1:]
        v[0] += v[-1]
        v *= 0.5
    return v


def names_that_follow_one_another(x, n):
    v, before = x * 1.0, x * 1.0
    for i in range(n - 1):
        before, v = v, v[1:] - v[:-1]
    return before, v


def names_that_change_places(x, n):
    v, w = x * 1.0, x * 2.0
    for i in range(n - 2):
        v, w = w[1:], v[1:] + i
    return v, w


def attribute_of_an_object(x, n):
    d = {"v": x * 1.0, "total": 0.0}
    while len(d["v"]) > 1:
        d["total"] += d["v"][0]
        d["v"] = d["v"][1:]
    return d


def changed_in_a_callee(x, n):
    def drop(v):
        return v[1:] * 0.5

    v = x * 1.0
    for i in range(n - 2):
        v = drop(v)
    return v


def base_of_a_view_written(x, n):
    v = x * 1.0
    w = v
    for i in range(n - 1):
        w = w[1:]
    v[-1] = 9.0
    return w, v


def view_written_in_the_loop(x, n):
    v = x * 1.0
    w = v
    for i in range(n - 1):
        w = w[1:]
        w[0] = i
    return w, v


def whole_becomes_float(x, n):
    v = np.arange(n)
    for i in range(n - 1):
        v = v[1:] * 0.5
    return v


def vector_becomes_table(x, n):
    v = x * 1.0
    for i in range(n):
        v = v[:, None]
    return v


def doubles(x, n):
    v = x * 1.0
    for i in range(n % 4):
        v = np.concatenate([v, v])
    return v


def grows_in_a_while(x, n):
    v, last = x * 1.0, 1.0
    while last > 0.01:
        last = last * 0.5
        v = np.append(v, last)
    return v


def parts_put_together_again(x, n):
    """How long the parts are only the run knows, how long the whole is may be a small constant."""
    found = 0.0
    for i in range(len(x)):
        found += np.sum(x * np.concatenate((x[i:], x[:i])) ** 2 + np.append(x[i:], x[:i]))
        found += np.sum(np.sin(np.hstack((x[i:], x[:i]))) * np.r_[x[i:], x[:i]])
    return found


def rows_put_together_again(x, n):
    m, found = np.outer(x, np.sqrt(x)), 0.0
    for i in range(min(len(x), 5)):
        found += np.sum(m * np.vstack((m[i:], m[:i])) + m**2 * np.column_stack((m[:, i:], m[:, :i])))
    return found


def blocks_put_together_again(x, n):
    m, found = np.outer(x, np.sqrt(x)), 0.0
    for i in range(min(len(x), 5)):
        found += np.sum(m**2 * np.block([[m[i:, i:], m[i:, :i]], [m[:i, i:], m[:i, :i]]]))
    return found


def all_but_one(x, n):
    found = 0.0
    for i in range(len(x)):
        found += np.sum(np.concatenate((x[:i], x[i + 1 :]))) ** 2 * x[i]
    return found


def two_in_the_middle(x, n):
    found = 0.0
    for i in range(len(x) - 1):
        found += np.sum(np.concatenate((x[:i], [x[i + 1], x[i]], x[i + 2 :])) * x**2)
    return found


JOINED = (
    *(parts_put_together_again, rows_put_together_again, blocks_put_together_again),
    *(all_but_one, two_in_the_middle),
)
RIGHT = (
    *JOINED,
    *(shrinks_by_one, shrinks_in_a_while, shrinks_while_its_items_say, shrinks_to_nothing_and_on),
    *(shrinks_until_break, shrinks_unless_it_is_short, grows_by_append, grows_from_nothing, grows_by_rows),
    *(grows_by_what_an_iteration_says, grows_by_vstack, grows_by_columns, grows_in_whole_numbers),
    *(grows_and_shrinks, grows_in_nested_loops, shrinks_in_nested_loops, filtered),
    *(filtered_by_comprehension, neighbours, neighbours_in_a_while, list_made_by_append_in_each_iteration),
    *(halves, halves_that_keep_the_rest, on_one_way, on_both_ways, filtered_on_one_way, without_a_loop),
    *(rows_without_a_loop, eliminated, pascal, tree_of_prices, complex_numbers, written_in_each_iteration),
    *(names_that_follow_one_another, names_that_change_places, attribute_of_an_object, changed_in_a_callee),
)
EITHER = (
    *(base_of_a_view_written, view_written_in_the_loop, whole_becomes_float, vector_becomes_table, doubles),
    grows_in_a_while,
)
