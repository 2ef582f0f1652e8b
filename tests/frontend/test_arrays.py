"""Arrays: indexing, slices, views, in-place writes, aliases, promotion, broadcasting."""

from __future__ import annotations

import numpy as np
import pytest

from anadrome.errors.runtime import IndexOutOfBounds, SizeMismatch
from tests.frontend.oracle import agree, compiled

rng = np.random.default_rng(2)
VECTOR = rng.normal(size=9)
OTHER = rng.normal(size=9)
MATRIX = rng.normal(size=(6, 5))
CUBE = rng.normal(size=(5, 6, 7))
INDEX = np.array([3, -1, 0, 3, 5])
TABLE_OF_TWO = np.array([VECTOR[1], 3.0])


def elements(x):
    return x[0], x[-1], x[3] + x[-2]


def slices(x):
    return x[1:], x[:-1], x[2:-2], x[:3], x[-3:], x[::2], x[::-1], x[1:7:3], x[7:2:-2], x[:]


def slices_of_runtime_bounds(x, a, b):
    return x[a:b], x[a:], x[:b], x[-a:], x[a:-1]


def matrix_slices(a):
    return a[1:, :-1], a[0], a[:, 0], a[-1, 1:], a[..., 2], a[1:3][:, 1], a[:, None, 0], a[None]


def cube_slices(c):
    return c[0, 1], c[..., 0], c[:, 1:3, ::2], c[1, ..., -1], c[2][1:, 3]


def gathers(x, a, index):
    return x[index], a[index], a[index, 0], a[:, np.array([0, 2])], a[index, np.array([0, 1, 2, 3, 4])]


def gather_with_list(x):
    return x[[0, 2, -1]]


def split_parts_add_up(x):
    y = np.zeros_like(x)
    z = np.concatenate((x[:2], x[2:]))
    return z + y, y + z


def neighbours(x):
    return x[1:] - x[:-1]


def write_elements(x):
    y = x.copy()
    y[0] = 5.0
    y[-1] = y[0] + 1
    y[1] += y[2]
    y[2] *= 3
    return y


def write_slices(a):
    b = a.copy()
    b[0] = 1.0
    b[1:3] = b[3:5] * 2
    b[:, 0] = 7.0
    b[2:4, 1:3] = 9.0
    b[-1, 2:] = b[0, 2:] + 1
    b[:, -1] += b[:, 0]
    return b


def write_strided(x):
    y = x.copy()
    y[::2] = 0.5
    y[7:2:-2] = y[0:3]
    return y


def write_broadcast(a, x):
    b = a.copy()
    b[1:4] = x
    b[:, 1:3] = b[:, 0:1]
    b[...] = b + 1
    return b


def write_through_view(a):
    b = a.copy()
    row = b[2]
    row[0] = 100.0
    part = b[1:4]
    part[0, 1] = 50.0
    part[1:, 2] = 25.0
    b[3][4] = 12.0
    row += 1.0
    return b, row, part


def alias(x):
    y = x.copy()
    z = y
    z[0] = 9.0
    w = y[1:]
    y[1] = 4.0
    t = y.reshape(3, 3)
    u = t.T
    y[2] = 8.0
    return y, z, w, t, u


def fancy_write(x, index):
    y = x.copy()
    y[index] = 1.5
    y[index] += 1.0
    y[np.array([0, 0, 1])] = np.array([1.0, 2.0, 3.0])
    return y


def mask_write(x):
    y = x.copy()
    y[y > 0] = 0.0
    return y


def write_in_loop(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] ** 2
        if i > 0:
            y[i] += y[i - 1]
    return y


def square_twice_in_place(x):
    y = x.copy()
    for i in range(len(y)):
        y[i] = y[i] ** 2
    for i in range(len(y)):
        y[i] = y[i] ** 2
    return y


def overwritten_and_read_again(x):
    y = x.copy()
    s = y[0]
    y[0] = y[1] * 2
    y = y + s
    y[1] = y[0]
    return y, x


def fill(y, i, value):
    y[i] = value


def write_in_called_function(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        fill(y, i, x[i] * 2)
    return y


def write_rows_in_loop(a):
    b = np.zeros_like(a)
    for i in range(a.shape[0]):
        row = b[i]
        for j in range(a.shape[1]):
            row[j] = a[i, j] * (i + j)
        row += 1
    return b


def write_in_branch(x, flag):
    y = x.copy()
    if flag > 0:
        y[0] = 10.0
    else:
        y[1] = 20.0
        y[2] = 30.0
    return y


def accumulate_in_place(a):
    total = np.zeros(a.shape[1])
    for row in a:
        total += row * 2
    return total


def rebound_array(x, n):
    y = np.zeros_like(x)
    for i in range(n):
        y = y + x * i
        y[0] = i
    return y


def sieve(n):
    composite = np.zeros(n, dtype=bool)
    count = 0
    for i in range(2, n):
        if not composite[i]:
            count += 1
            for j in range(i * i, n, i):
                composite[j] = True
    return count, composite


def promotions(single, integer, flags):
    return (
        single * 2.0,
        single + 1,
        single * single[0],
        integer * 2,
        integer / 2,
        integer * 1.5,
        integer // 3,
        integer % 3,
        integer**2,
        single + integer,
        flags + 1,
        flags & flags,
        ~flags,
        -integer,
        single**2,
        single**-1,
        abs(single) ** 1.5,
        integer > 1,
        flags * 2.0,
    )


def single_accumulator(x):
    total = 0.0
    for v in x:
        total = total + v * v
    return total


def single_index(x):
    s = x[0]
    for i in range(len(x)):
        s = s + i * x[i]
    return s


def broadcasting(a, x, c):
    return a + x, a * a[:, 0:1], x[None, :] * a[:, 0][:, None], c - a[0, 0], 2 - x, c + x[0]


def comparisons(x, y):
    return x < y, (x < 0) | (y > 0), x == y, x != y, (x > 0) & ~(y > 0)


def compared_with_none(a, x):
    return a == None, None != a[0], a * 1j != None, x == None, x != None, [v for v in x] != None  # noqa: E711


def members(a, x):
    found = [3.0 in x, x[0] in a, 99.0 in a, 99.0 not in a, x[1] in (None, x[1]), x[1] not in TABLE_OF_TWO]
    return found, x[0] in [v for v in x], 1j in x * 1j


def shapes(a):
    n, m = a.shape
    return n * m, a.size, len(a), a.ndim, len(a[0]), a.shape[-1] - 1, a.itemsize, a[0].nbytes, a[0, 0].nbytes


@pytest.mark.parametrize("small", [2, 16])
@pytest.mark.parametrize(
    ("function", "args"),
    [
        (elements, (VECTOR,)),
        (slices, (VECTOR,)),
        (slices, (VECTOR[:2],)),
        (slices_of_runtime_bounds, (VECTOR, 2, 5)),
        (slices_of_runtime_bounds, (VECTOR, 5, 20)),
        (matrix_slices, (MATRIX,)),
        (cube_slices, (CUBE,)),
        (gathers, (VECTOR, MATRIX, INDEX)),
        (gather_with_list, (VECTOR,)),
        (split_parts_add_up, (VECTOR,)),
        (neighbours, (VECTOR,)),
        (write_elements, (VECTOR,)),
        (write_slices, (MATRIX,)),
        (write_strided, (VECTOR,)),
        (write_broadcast, (MATRIX, MATRIX[0].copy())),
        (write_through_view, (MATRIX,)),
        (alias, (VECTOR,)),
        (fancy_write, (VECTOR, INDEX)),
        (mask_write, (VECTOR,)),
        (write_in_loop, (VECTOR,)),
        (square_twice_in_place, (VECTOR,)),
        (overwritten_and_read_again, (VECTOR,)),
        (write_in_called_function, (VECTOR,)),
        (write_rows_in_loop, (MATRIX,)),
        (write_in_branch, (VECTOR, 1.0)),
        (write_in_branch, (VECTOR, -1.0)),
        (accumulate_in_place, (MATRIX,)),
        (rebound_array, (VECTOR, 4)),
        (sieve, (50,)),
        (promotions, (VECTOR.astype(np.float32), np.arange(9), VECTOR > 0)),
        (promotions, (VECTOR.astype(np.float32), np.arange(9, dtype=np.int32), VECTOR > 0)),
        (single_accumulator, (VECTOR.astype(np.float32),)),
        (single_index, (VECTOR.astype(np.float32),)),
        (broadcasting, (MATRIX, MATRIX[0].copy(), np.float64(2.5))),
        (comparisons, (VECTOR, OTHER)),
        (compared_with_none, (MATRIX, VECTOR)),
        (members, (MATRIX, VECTOR)),
        (shapes, (MATRIX,)),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_agrees_with_numpy(function, args, small):
    agree(function, *args, small=small)


def written_in_branch_and_bound(x, flag):
    y = x.copy()
    z = x * 2
    if flag > 0:
        y[0] = 10.0
        z = y
    return z, y


def written_in_branch_and_returned(x, flag):
    y = x.copy()
    if flag > 0:
        y[0] = 10.0
        return y
    y[1] = 3.0
    return y * 2


def written_before_rebound(x, n):
    y = x.copy()
    for i in range(n):
        y[0] = i
        y = y + 1
    y[2] = 0.0
    return y


def buffers_swapped(x, n):
    a, b = x.copy(), np.zeros_like(x)
    for _ in range(n):
        for i in range(1, len(x) - 1):
            b[i] = 0.5 * a[i] + 0.25 * (a[i - 1] + a[i + 1])
        a, b = b, a
    return a, b


def rows_written_through_the_loop_variable(a):
    b = a.copy()
    for i, row in enumerate(b):
        row[i % 5] = 100.0
    return b


def last_row(a):
    b = a.copy()
    row = b[0]
    for i in range(len(b)):
        row = b[i] * 2
    row[0] = 7.0
    return b, row


@pytest.mark.parametrize("flag", [1.0, -1.0])
@pytest.mark.parametrize("function", [written_in_branch_and_bound, written_in_branch_and_returned])
def test_writes_in_branches(function, flag):
    agree(function, VECTOR, flag)


@pytest.mark.parametrize("count", [0, 1, 3])
@pytest.mark.parametrize("function", [written_before_rebound, buffers_swapped])
def test_writes_in_loops(function, count):
    agree(function, VECTOR, count)


@pytest.mark.parametrize("function", [rows_written_through_the_loop_variable, last_row])
def test_rows(function):
    agree(function, MATRIX)


PLACES, WEIGHTS = np.array([3, 1, 2]), np.array([1.0, 2.0, 3.0])


def operators_on_known_arrays(x):
    less, same, turned, large, equal = -PLACES, +WEIGHTS, ~PLACES, PLACES > 1, WEIGHTS == 2.0
    less *= 2
    same[0] = 9.0
    turned[1:][0] = 7
    large[0], equal[2] = False, True
    rest = -(PLACES[1:])
    rest += 1
    return less * x, same, turned, large, equal, rest, WEIGHTS


def written_in_a_loop(x):
    for k in range(len(x)):
        minus = -WEIGHTS
        minus[k] = 7.0
        x = x + minus
    return x


def written_by_functions(x):
    minus, doubled, ordered = -WEIGHTS, +WEIGHTS, -WEIGHTS
    np.putmask(minus, PLACES > 1, 5.0)
    np.exp(x, out=doubled)
    ordered.sort()
    return minus, doubled, ordered


def known_until_it_is_written(x):
    if np.any(PLACES > 2):
        x = x[:2]
    return x, x * np.floor_divide(PLACES[::-1], PLACES)[: len(x)]


@pytest.mark.parametrize(
    "function",
    [operators_on_known_arrays, written_in_a_loop, written_by_functions, known_until_it_is_written],
)
def test_results_of_operators_on_known_arrays_belong_to_the_program(function) -> None:
    agree(function, np.array([0.5, 1.5, 2.5]))


def put_into_nothing(a, k, m):
    b = a.copy()
    b[k, 5:2] = 5.0
    return b


def put_into_no_columns(a, k, m):
    b = a.copy()
    b[k, m:m] = 5.0
    return b


def added_to_no_rows(a, k, m):
    b = a.copy()
    b[m:m, k] += 1.0
    return b


@pytest.mark.parametrize(
    "function",
    [
        lambda a, k, m: a[k, :0].sum(),
        lambda a, k, m: a[k, m:m].sum(),
        lambda a, k, m: a[m:m, k].sum(),
        lambda a, k, m: a[:0][:, k].sum(),
        lambda a, k, m: a[np.array([0, k]), m:m].sum(),
        lambda a, k, m: a[np.zeros(m - 2, int), k].sum(),
        put_into_nothing,
        put_into_no_columns,
        added_to_no_rows,
    ],
)
def test_an_index_beside_an_empty_slice_is_checked(function) -> None:
    matrix = np.ones((6, 6))
    for k in (5, -6):
        agree(function, matrix, k, 2)
    for k in (9, -9):
        with pytest.raises(IndexError):
            function(matrix.copy(), k, 2)
        with pytest.raises(IndexOutOfBounds):
            compiled(function, matrix, k, 2)


def shortest_paths(weights):
    paths = weights.copy()
    for k in range(len(paths)):
        paths = np.minimum(paths, paths[:, k : k + 1] + paths[k : k + 1])
    return paths


def eliminated(a):
    a = a.copy()
    for k in range(len(a) - 1):
        a[k + 1 :] = a[k + 1 :] - a[k + 1 :, k : k + 1] / a[k, k] * a[k : k + 1]
    return a


def row_and_column(a, k):
    return a[:, k : k + 1] * a[k : k + 1], np.where(a[:, k : k + 1] > 0.5, a, a[k : k + 1]), a[:, :1] - a[-1:]


@pytest.mark.parametrize("size", [1, 3, 7, 12])
def test_a_slice_of_one_element_stretches(size: int) -> None:
    matrix = np.random.default_rng(size).uniform(0.1, 1.0, (size, size)) + size * np.eye(size)
    agree(shortest_paths, matrix)
    agree(eliminated, matrix)
    agree(row_and_column, matrix, size - 1)
    agree(lambda a, i, j: a[i : i + 1] + a[j : j + 1], matrix, 0, size - 1)


def test_a_slice_that_takes_nothing_does_not_stretch() -> None:
    with pytest.raises(ValueError):
        row_and_column(np.ones((7, 7)), 7)
    with pytest.raises(SizeMismatch):
        compiled(row_and_column, np.ones((7, 7)), 7)
    agree(lambda a, k: a[k : k + 1] + a[7:], np.ones(7), 9)


# ---------------------------------------------------------------------------- arrays of no dimensions
def masked_in_one_element(x, t):
    o = np.array(x[0] * 1.0)
    y = o[None]
    y[y > t] = 0.0
    return o * 2.0, y


def one_element_several_times(x, t):
    o = np.array(x[0] * 1.0)
    y = o[None]
    y[np.array([0, 0, 0])] = x[:3] * t
    return o * 2.0, y


def slices_of_one_element(x, t):
    o, k = np.array(x[0] * 1.0), int(t)
    y = o[None]
    y[:k] = x[2]
    y[k : k + 1] = x[3]
    return o * 2.0, y


def mask_behind_an_axis(x, t):
    o = np.array(x[0] * 1.0)
    y = o.reshape(1, 1)
    y[0, y[0] > t] = x[3]
    return o * 2.0, y


@pytest.mark.parametrize(
    "function", [masked_in_one_element, one_element_several_times, slices_of_one_element, mask_behind_an_axis]
)
@pytest.mark.parametrize("t", [-10.0, 0.25, 1.0, 1.5, 10.0])
def test_views_of_an_array_of_no_dimensions_are_written(function, t):
    agree(function, np.abs(VECTOR), t)
