"""Functions of NumPy and Python that write into arrays, give views or hold an iterator."""

from __future__ import annotations

import functools
import itertools
import operator

import numpy as np
import scipy.special


# ---------------------------------------------------------------------------- written into
def out_is_seen_through_every_name(x, n):
    o = np.zeros(n)
    held = {"o": o}
    r = np.add(x, 1.0, out=o)
    r[0] = 7.0
    return o, held["o"], r is o


def out_is_a_view(x, n):
    o = np.zeros((n, 2))
    np.multiply(x, 2.0, out=o[:, 1])
    np.multiply(x, 3.0, out=o.T[0])
    return o


def out_overlaps_its_operand(x, n):
    y = x.copy()
    np.add(y[1:], y[:-1], out=y[1:])
    np.subtract(y, 1.0, out=y[::-1])
    return y


def out_in_a_loop(x, n):
    y, step = x.copy(), np.zeros(n)
    for k in range(n):
        np.multiply(y, 0.5, out=step)
        np.add(y, step, out=y, where=step > k)
    return y, step


def out_under_a_branch(x, n):
    y = x.copy()
    z = y
    if x[0] > 0:
        np.exp(-y, out=y)
    else:
        y.fill(2.0)
    return z


def out_of_a_reduction(x, n):
    total = np.zeros(2)
    np.sum(x, keepdims=True, out=total[1:])
    np.cumsum(x, 0, None, x_copy := x.copy())
    return total, x_copy


def copied_onto_itself(x, n):
    y = x.copy()
    np.copyto(y[1:], y[:-1])
    np.copyto(y[::-1], y, where=y > 2.0)
    return y


def sorted_through_a_view(x, n):
    y = -x
    part = y[1:]
    part.sort()
    y[::-1].sort()
    return y, part


def filled_through_a_view(x, n):
    y = x.copy()
    z = y[1:]
    z.fill(np.sum(y))
    return y, z


def diagonal_is_written(x, n):
    m = np.outer(x, x)
    t = m.T
    np.fill_diagonal(t, [1.0, 2.0])
    return m


def writes_by_name(x, n):
    y = x.copy()
    z = operator.iadd(y, 1.0)
    operator.setitem(z, 0, 5.0)
    operator.imul(y[1:], 2.0)
    rows = [1.0]
    same = operator.iadd(rows, [x[0]])
    rows.append(3.0)
    return y, z is y, same, same is rows


# ---------------------------------------------------------------------------- views and copies
def parts_are_views(x, n):
    y = x.copy()
    first, second = np.array_split(y, 2)
    first[0] = 9.0
    y[-1] = 8.0
    return y, first, second


def edited_arrays_are_copies(x, n):
    y = x.copy()
    copies = np.block(y), np.r_[y], np.delete(y, []), np.insert(y, 0, 1.0), np.repeat(y, [1])
    y[0] = 9.0
    return y, copies


def first_polynomial_is_itself(x, n):
    p = x.copy()
    q = np.polyder(p, 0)
    q[0] = 7.0
    return p, q is p


def list_of_numbers_is_a_copy(x, n):
    y = x.copy()
    items = y.tolist()
    items[0] = 9.0
    y[1] = 8.0
    items.append(1.0)
    return y, items


def returned_list_is_itself(x, n):
    items = _collected(x)
    other = items
    items.append(1.0)
    other[0] = 5.0
    return other, len(items)


def _collected(x):
    found = []
    for v in x:
        found.append(2.0 * v)
    return found


# ---------------------------------------------------------------------------- iterators
def slice_leaves_the_rest(x, n):
    items = iter(x)
    head = list(itertools.islice(items, 2))
    return head, sum(items), sum(items)


def slice_of_a_generator(x, n):
    items = (v * v for v in x)
    head = sum(itertools.islice(items, 1, 3))
    return head, sum(items)


def slice_of_a_list_as_it_grows(x, n):
    items = [1.0, 2.0]
    piece = itertools.islice(items, 3)
    items.append(x[0])
    return list(piece), list(piece)


def chain_once(x, n):
    items = itertools.chain([0.5], x, x[:1])
    return next(items), sum(items), sum(items)


def chain_takes_its_iterators(x, n):
    items = iter(x)
    joined = itertools.chain(items, [1.0])
    return sum(joined), sum(items)


def pairs_once(x, n):
    pairs = itertools.pairwise(x)
    return sum(b - a * a for a, b in pairs), sum(a for a, _ in pairs)


def product_once(x, n):
    pairs = itertools.product(x[:3], (1.0, 2.0))
    return sum(a * b for a, b in pairs), sum(a for a, _ in pairs)


def accumulated_once(x, n):
    sums = itertools.accumulate(x, lambda a, b: 0.5 * a + b)
    return sum(sums), sum(sums)


def accumulated_whole_numbers(x, n):
    return list(itertools.accumulate(range(n), operator.add, initial=2))


def reduced_arrays(x, n):
    rows = np.outer(x, np.array([1.0, 2.0]))
    total = functools.reduce(np.add, rows)
    total[0] = 7.0
    return rows, total


def reduced_to_an_item(x, n):
    arrays = [x.copy(), x * 2.0]
    last = functools.reduce(lambda a, b: b, arrays)
    last[0] = 7.0
    return arrays


# ---------------------------------------------------------------------------- either
def row_function_writes(x, n):
    m = np.outer(x, np.array([1.0, 2.0]))
    sums = np.apply_along_axis(_centred, 0, m)
    return m, sums


def _centred(row):
    row -= np.mean(row)
    return np.sum(row * row)


def type_of_the_first(x, n):
    return np.vectorize(lambda v: v if v > 2.0 else 0)(x)


def log_of_a_sum_of_nothing(x, n):
    return scipy.special.logsumexp(np.outer(x[:0], x))


RIGHT = (
    *(out_is_seen_through_every_name, out_is_a_view, out_overlaps_its_operand, out_in_a_loop),
    *(out_under_a_branch, out_of_a_reduction, copied_onto_itself, sorted_through_a_view),
    *(filled_through_a_view, diagonal_is_written, writes_by_name, parts_are_views, edited_arrays_are_copies),
    *(first_polynomial_is_itself, list_of_numbers_is_a_copy, returned_list_is_itself, slice_leaves_the_rest),
    *(slice_of_a_generator, slice_of_a_list_as_it_grows, chain_once, chain_takes_its_iterators, pairs_once),
    *(product_once, accumulated_once, accumulated_whole_numbers, reduced_arrays, reduced_to_an_item),
)

EITHER = (row_function_writes, type_of_the_first, log_of_a_sum_of_nothing)
