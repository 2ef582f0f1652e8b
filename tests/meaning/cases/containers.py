"""Containers that change while they are gone over, and while others hold them."""

from __future__ import annotations

import numpy as np


def list_that_grows(x, n):
    items = [x[0]]
    for v in items:
        if len(items) < 5:
            items.append(v + 1.0)
    return items


def list_that_grows_by_extend(x, n):
    items = [x[0], 2.0]
    count = 0
    for v in items:
        count += 1
        if len(items) < 6:
            items += [v]
    return items, count


def list_that_shrinks(x, n):
    items = [1.0, 2.0, 3.0, x[0]]
    total = 0.0
    for v in items:
        total += v
        items.pop()
    return total, items


def list_that_loses_its_head(x, n):
    items = [1.0, 2.0, 3.0, x[0]]
    seen = []
    for v in items:
        seen.append(v)
        items.pop(0)
    return seen, items


def list_that_is_assigned_to(x, n):
    items = [x[0], 2.0, 3.0]
    total = 0.0
    for v in items:
        items[2] += v
        total += v
    return total, items


def next_item_is_changed(x, n):
    items = [x[0], x[1], 3.0]
    out = []
    for i, v in enumerate(items):
        if i < 2:
            items[i + 1] += v
        out.append(v)
    return out, items


def list_cleared_inside(x, n):
    items = [x[0], 2.0, 3.0]
    total = 0.0
    for v in items:
        total += v
        items.clear()
    return total, len(items)


def list_rebound_inside(x, n):
    items = [x[0], 2.0, 3.0]
    total = 0.0
    for v in items:
        total += v
        items = [100.0]
    return total, items


def array_written_ahead(x, n):
    a = x.copy()
    for i, v in enumerate(a[:-1]):
        a[i + 1] += 0.5 * v
    return a


def array_written_ahead_by_range(x, n):
    a = x.copy()
    for i in range(n - 1):
        a[i + 1] += 0.5 * a[i]
    return a


def array_gone_over_and_written(x, n):
    a = x.copy()
    total = 0.0
    for v in a:
        total += v
        a[-1] += 1.0
    return total, a


def array_gone_over_by_zip(x, n):
    a = x.copy()
    total = 0.0
    for v, w in zip(a, x):
        total += v * w
        a += 1.0
    return total, a


def array_gone_over_in_reverse(x, n):
    a = x.copy()
    total = 0.0
    for v in reversed(a):
        total += v
        a *= 2.0
    return total, a


def array_rebound_inside(x, n):
    a = x.copy()
    total = 0.0
    for v in a:
        total += v
        a = a + 1.0
    return total, a


def rows_written_ahead(x, n):
    m = np.outer(x, np.array([1.0, 2.0]))
    for i, r in enumerate(m[:-1]):
        m[i + 1] += r
    return m


def rows_kept_and_written(x, n):
    m = np.outer(x, np.array([1.0, 2.0]))
    first = m[0]
    for r in m:
        r += first
    return m


def dict_items(x, n):
    d = {"a": x.copy(), "b": 2.0 * x}
    for k, v in d.items():
        v *= 2.0
    return d["a"], d["b"]


def dict_items_rebound(x, n):
    d = {"a": x.copy(), "b": 2.0 * x}
    a = d["a"]
    for k, v in d.items():
        d[k] = v + 1.0
    return a, d["a"], d["b"]


def dict_numbers(x, n):
    d = {"a": x[0], "b": 2.0}
    for k in d:
        d[k] += 1.0
    for k, v in d.items():
        v += 100.0
    return d["a"], d["b"]


def dict_view_is_live(x, n):
    d = {"a": x[0]}
    items = d.items()
    d["b"] = 5.0
    return sum(v for k, v in items), len(items)


def dict_values_are_live(x, n):
    d = {"a": x[0], "b": 1.0}
    values = d.values()
    d["a"] = 10.0
    return sum(values)


def dict_that_grows(x, n):
    """Python raises."""
    d = {"a": x[0]}
    for k in d:
        d[k + "a"] = 1.0
    return len(d)


def comprehension_whose_callee_writes(x, n):
    a = x.copy()

    def f(i):
        a[i] += a[i - 1]
        return a[i]

    return [f(i) for i in range(n)], a


def comprehension_over_what_it_writes(x, n):
    a = x.copy()

    def f(v):
        a[-1] += v
        return v

    return np.array([f(v) for v in a]), a


def sum_whose_callee_writes(x, n):
    a = x.copy()

    def f(i):
        a[0] += 1.0
        return a[0] * x[i]

    return sum(f(i) for i in range(n)), a


def comprehension_appends(x, n):
    log = []

    def f(v):
        log.append(v)
        return v * 2.0

    made = [f(v) for v in [1.0, 2.0, x[0]]]
    return made, log


def append_to_an_alias(x, n):
    a = [x[0]]
    b = a
    b.append(2.0)
    a.append(3.0)
    return a, b


def append_through_attribute(x, n):
    d = {"log": [x[0]]}
    log = d["log"]
    d["log"].append(2.0)
    log.append(3.0)
    return d["log"], len(log)


def append_of_an_array_that_changes(x, n):
    a = x.copy()
    h = []
    h.append(a)
    a += 1.0
    h.append(a)
    a *= 2.0
    return h[0], h[1]


def append_in_loop_of_an_array_that_changes(x, n):
    a = x.copy()
    h = []
    for i in range(3):
        h.append(a)
        a += 1.0
    return h[0], h[2]


def append_in_run_time_loop_of_an_array_that_changes(x, n):
    a = x.copy()
    h = []
    for i in range(n):
        h.append(a)
        a += 1.0
    return h[0], h[-1]


def append_of_copies_in_run_time_loop(x, n):
    a = x.copy()
    h = []
    for i in range(n):
        h.append(a.copy())
        a += 1.0
    return np.array(h), h[0]


def appended_number_does_not_change(x, n):
    a = x.copy()
    h = []
    for i in range(n):
        h.append(a[0])
        a += 1.0
    return np.array(h)


def default_list_is_kept(x, n):
    def f(v, store=[]):
        store.append(v)
        return len(store)

    f(x[0])
    return f(x[1])


def extended_by_itself(x, n):
    a = [x[0], 2.0]
    a.extend(a)
    a += a
    return a


def slice_assignment(x, n):
    a = [1.0, 2.0, 3.0, x[0]]
    b = a
    a[1:3] = [7.0]
    return a, len(b)


def repeated_list_of_lists(x, n):
    a = [x[0]]
    q = [a] * 3
    a.append(2.0)
    q[0].append(3.0)
    return q[2], len(a)


def copy_is_shallow(x, n):
    a = [x.copy(), 2.0 * x]
    b = a[:]
    b[0] += 1.0
    b[1] = np.zeros(n)
    return a[0], a[1], b[1]


def copied_dict_is_shallow(x, n):
    d = {"w": x.copy(), "s": 1.0}
    e = dict(d)
    e["w"][0] = 9.0
    e["s"] = 2.0
    return d["w"], d["s"], e["s"]


def set_of_numbers(x, n):
    s = {1, 2, 3}
    t = s
    s.add(4)
    return len(t), x[0]


def swap(x, n):
    a, b = x.copy(), 2.0 * x
    a, b = b, a
    a[0] = 100.0
    return a, b


def swap_elements(x, n):
    a = x.copy()
    a[0], a[1] = a[1], a[0]
    return a


def swap_rows(x, n):
    m = np.outer(x, np.array([1.0, 2.0]))
    m[0], m[1] = m[1], m[0]
    return m


def rotation(x, n):
    old, new = x.copy(), np.zeros(n)
    for k in range(3):
        new[1:] = old[:-1] + 1.0
        new[0] = old[-1]
        old, new = new, old
    return old, new


def rotation_in_run_time_loop(x, n):
    old, new = x.copy(), np.zeros(n)
    for k in range(n):
        new[:] = old + 1.0
        new[0] = old[-1]
        old, new = new, old
    return old, new


def rotation_of_three(x, n):
    a, b, c = x.copy(), 2.0 * x, 3.0 * x
    for k in range(n):
        a, b, c = b, c, a
        a[0] += 1.0
    return a, b, c


RIGHT = (
    *(list_that_grows, list_that_grows_by_extend, list_that_shrinks, list_that_loses_its_head),
    *(list_that_is_assigned_to, next_item_is_changed, list_cleared_inside, list_rebound_inside),
    *(array_written_ahead, array_written_ahead_by_range, array_gone_over_and_written),
    *(array_gone_over_by_zip, array_gone_over_in_reverse, array_rebound_inside, rows_written_ahead),
    *(rows_kept_and_written, dict_items, dict_items_rebound, dict_numbers, dict_view_is_live),
    *(dict_values_are_live, comprehension_whose_callee_writes, comprehension_over_what_it_writes),
    *(sum_whose_callee_writes, comprehension_appends, append_to_an_alias, append_through_attribute),
    *(append_of_an_array_that_changes, append_in_loop_of_an_array_that_changes),
    *(append_of_copies_in_run_time_loop, appended_number_does_not_change, default_list_is_kept),
    *(extended_by_itself, repeated_list_of_lists, copy_is_shallow, copied_dict_is_shallow, swap),
    *(swap_elements, swap_rows, rotation, rotation_in_run_time_loop),
)
EITHER = (
    *(dict_that_grows, append_in_run_time_loop_of_an_array_that_changes, slice_assignment, set_of_numbers),
    rotation_of_three,
)
