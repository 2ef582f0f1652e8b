"""The language of kernels: each kernel against NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest

import anadrome as ad
from tests.kernels.launching import after, of_program

RANDOM = np.random.default_rng(7)


@ad.kernel
def axpy(a, x, y):
    i = ad.grid(1)
    if i < len(y):
        y[i] += a * x[i]


def test_axpy():
    x, y = RANDOM.normal(size=50), RANDOM.normal(size=50)
    (found,) = after(axpy, (2, 32), 3.0, x, y)
    np.testing.assert_array_equal(found, y + 3.0 * x)


@ad.kernel
def by_hand(x, y):
    i = ad.blockIdx.x * ad.blockDim.x + ad.threadIdx.x
    if i >= y.shape[0]:
        return
    y[i] = 2.0 * x[i] + ad.gridDim.x


def test_early_return():
    x = RANDOM.normal(size=50)
    (found,) = after(by_hand, (2, 32), x, np.zeros(50))
    np.testing.assert_array_equal(found, 2.0 * x + 2)


@ad.kernel
def strided(x, y):
    for i in range(ad.grid(1), len(x), ad.gridsize(1)):
        y[i] = math.sin(x[i])


def test_grid_stride_loops():
    x = RANDOM.normal(size=100)
    (found,) = after(strided, (2, 8), x, np.zeros(100))
    np.testing.assert_allclose(found, np.sin(x), rtol=1e-15)


@ad.kernel
def transpose(x, y):
    i, j = ad.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        y[j, i] = x[i, j]


def test_two_dimensions():
    x = RANDOM.normal(size=(9, 13))
    (found,) = after(transpose, ((2, 2), (8, 8)), x, np.zeros((13, 9)))
    np.testing.assert_array_equal(found, x.T)


@ad.kernel
def in_three(x):
    i, j, k = ad.grid(3)
    n, m, p = ad.gridsize(3)
    if i < x.shape[0] and j < x.shape[1] and k < x.shape[2]:
        x[i, j, k] = (i * m + j) * p + k + n * 0


def test_three_dimensions():
    (found,) = after(in_three, ((2, 2, 2), (2, 3, 4)), np.zeros((4, 6, 8)))
    np.testing.assert_array_equal(found.ravel(), np.arange(4 * 6 * 8))


@ad.kernel
def collatz(start, steps):
    i = ad.grid(1)
    if i < len(start):
        n, count = start[i], 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            count += 1
        steps[i] = count


def test_while():
    start = np.arange(1, 20)
    (found,) = after(collatz, (1, 32), start, np.zeros(19, np.int64))

    def steps(n):
        return 0 if n == 1 else 1 + steps(n // 2 if n % 2 == 0 else 3 * n + 1)

    np.testing.assert_array_equal(found, [steps(int(n)) for n in start])


@ad.kernel
def first_above(x, limit, found):
    row = ad.grid(1)
    if row >= x.shape[0]:
        return
    place = -1
    for j in range(x.shape[1]):
        if x[row, j] < 0:
            continue
        if x[row, j] > limit:
            place = j
            break
    found[row] = place


def test_break_and_continue():
    x = RANDOM.normal(size=(10, 20))
    (found,) = after(first_above, (1, 16), x, 1.0, np.zeros(10, np.int64))
    expected = [next((j for j in range(20) if row[j] > 1.0), -1) for row in x]
    np.testing.assert_array_equal(found, expected)


def clamp(value, lo, hi):
    return min(max(value, lo), hi)


def both(value):
    return value + 1.0, value * 2.0


@ad.kernel
def with_functions(x, y):
    i = ad.grid(1)
    if i < len(x):
        plus, twice = both(x[i])
        y[i] = clamp(plus, 0.0, 1.0) + twice


def test_device_functions_and_tuples():
    x = RANDOM.normal(size=20)
    (found,) = after(with_functions, (1, 32), x, np.zeros(20))
    np.testing.assert_array_equal(found, np.clip(x + 1.0, 0.0, 1.0) + x * 2.0)


@ad.kernel
def polynomial(x, y):
    i = ad.grid(1)
    powers = ad.local.array(5, np.float64)
    if i < len(x):
        powers[0] = 1.0
        for k in range(1, 5):
            powers[k] = powers[k - 1] * x[i]
        total = 0.0
        for k in range(5):
            total += powers[k] * (k + 1)
        y[i] = total


def test_local_arrays():
    x = RANDOM.normal(size=20)
    (found,) = after(polynomial, (1, 32), x, np.zeros(20))
    np.testing.assert_allclose(found, np.polyval([5, 4, 3, 2, 1], x), rtol=1e-13)


TILE = 8


@ad.kernel
def tiled_product(a, b, c):
    sa = ad.shared.array((TILE, TILE), np.float64)
    sb = ad.shared.array(shape=(TILE, TILE), dtype=np.float64)
    ty, tx = ad.threadIdx.y, ad.threadIdx.x
    i, j = ad.blockIdx.y * TILE + ty, ad.blockIdx.x * TILE + tx
    total = 0.0
    for k in range((a.shape[1] + TILE - 1) // TILE):
        sa[ty, tx] = a[i, k * TILE + tx] if i < a.shape[0] and k * TILE + tx < a.shape[1] else 0.0
        sb[ty, tx] = b[k * TILE + ty, j] if j < b.shape[1] and k * TILE + ty < b.shape[0] else 0.0
        ad.syncthreads()
        for p in range(TILE):
            total += sa[ty, p] * sb[p, tx]
        ad.syncthreads()
    if i < c.shape[0] and j < c.shape[1]:
        c[i, j] = total


def test_shared_tiles():
    a, b = RANDOM.normal(size=(12, 20)), RANDOM.normal(size=(20, 9))
    (found,) = after(tiled_product, ((2, 2), (TILE, TILE)), a, b, np.zeros((12, 9)))
    np.testing.assert_allclose(found, a @ b, rtol=1e-13)


@ad.kernel
def block_sums(x, sums):
    part = ad.shared.array(0, np.float64)
    t, i = ad.threadIdx.x, ad.grid(1)
    part[t] = x[i] if i < len(x) else 0.0
    ad.syncthreads()
    step = ad.blockDim.x // 2
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        ad.syncthreads()
        step //= 2
    if t == 0:
        sums[ad.blockIdx.x] = part[0]


def test_dynamic_shared_memory():
    x = RANDOM.normal(size=60)
    (found,) = after(block_sums, (4, 16, None, 16 * 8), x, np.zeros(4))
    np.testing.assert_allclose(found, np.append(x, np.zeros(4)).reshape(4, 16).sum(1), rtol=1e-13)


@ad.kernel
def histogram(values, bins, order):
    i = ad.grid(1)
    if i < len(values):
        order[i] = ad.atomic.add(bins, values[i], 1)


def test_atomics_with_old_values():
    values = RANDOM.integers(0, 5, size=40)
    bins, order = after(histogram, (2, 32), values, np.zeros(5, np.int64), np.zeros(40, np.int64))
    np.testing.assert_array_equal(bins, np.bincount(values, minlength=5))
    for value in range(5):
        assert sorted(order[values == value]) == list(range(bins[value]))


@ad.kernel
def every_atomic(x, out):
    i = ad.grid(1)
    if i < len(x):
        ad.atomic.add(out, 0, x[i])
        ad.atomic.sub(out, 1, x[i])
        ad.atomic.min(out, 2, x[i])
        ad.atomic.max(out, 3, x[i])
        ad.atomic.and_(out, 4, x[i])
        ad.atomic.or_(out, -2, x[i])
        ad.atomic.xor(out, (6,), x[i])


def test_every_atomic_operation():
    x = RANDOM.integers(0, 1000, size=20)
    (found,) = after(every_atomic, (2, 16), x, np.array([0, 0, 999999, -1, -1, 0, 0]))
    expected = [x.sum(), -x.sum(), x.min(), x.max()]
    expected += [f.reduce(x) for f in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)]
    np.testing.assert_array_equal(found, expected)


@ad.kernel
def exchanges(out, seen):
    i = ad.grid(1)
    seen[i] = ad.atomic.exch(out, 0, i)
    ad.atomic.cas(out, 1, 7, 8)
    seen[i + 4] = ad.atomic.compare_and_swap(out, -5, 3)


def test_exchange_and_compare():
    out, seen = after(exchanges, (1, 4), np.array([-1, 7]), np.zeros(8, np.int64))
    assert sorted([*seen[:4], out[0]]) == [-1, 0, 1, 2, 3]
    assert out[1] == 8
    assert all(-1 <= one < 4 for one in seen[4:])


@ad.kernel
def warp_sums(x, sums):
    i, value = ad.grid(1), 0.0
    if i < len(x):
        value = x[i]
    for step in (16, 8, 4, 2, 1):
        value += ad.shfl_down_sync(0xFFFFFFFF, value, step)
    if ad.laneid == 0:
        sums[i // ad.warpsize] = value


def test_shuffles():
    x = RANDOM.normal(size=60)
    (found,) = after(warp_sums, (1, 64), x, np.zeros(2))
    np.testing.assert_allclose(found, [x[:32].sum(), x[32:].sum()], rtol=1e-13)


@ad.kernel
def votes(x, out):
    t = ad.threadIdx.x
    holds = x[t] > 0
    ballot = ad.ballot_sync(0xFFFFFFFF, holds)
    some, every = ad.any_sync(0xFFFFFFFF, holds), ad.all_sync(0xFFFFFFFF, holds)
    lower = ad.shfl_up_sync(0xFFFFFFFF, t, 1)
    other = ad.shfl_xor_sync(0xFFFFFFFF, t, 1)
    first = ad.shfl_sync(0xFFFFFFFF, x[t], 3)
    ad.syncwarp()
    out[t, 0], out[t, 1], out[t, 2] = ballot, int(some), int(every)
    out[t, 3], out[t, 4], out[t, 5] = lower, other, int(first * 1000)


def test_votes():
    x = RANDOM.normal(size=32)
    (found,) = after(votes, (1, 32), x, np.zeros((32, 6), np.int64))
    holds = x > 0
    np.testing.assert_array_equal(found[:, 0], sum(1 << k for k in range(32) if holds[k]))
    np.testing.assert_array_equal(found[:, 1:3], [[holds.any(), holds.all()]] * 32)
    np.testing.assert_array_equal(found[:, 3], [0, *range(31)])
    np.testing.assert_array_equal(found[:, 4], np.arange(32) ^ 1)
    np.testing.assert_array_equal(found[:, 5], int(x[3] * 1000))


@ad.kernel
def counted(x, out):
    t = ad.threadIdx.x
    count = ad.syncthreads_count(x[t] > 0)
    every, some = ad.syncthreads_and(x[t] > 0), ad.syncthreads_or(x[t] > 0)
    if t == 0:
        out[0], out[1], out[2] = count, int(every), int(some)
    ad.threadfence()


def test_barriers_with_predicates():
    x = RANDOM.normal(size=48)
    (found,) = after(counted, (1, 48), x, np.zeros(3, np.int64))
    np.testing.assert_array_equal(found, [(x > 0).sum(), (x > 0).all(), (x > 0).any()])


@ad.kernel
def rows(x, y):
    i = ad.grid(1)
    if i < x.shape[0]:
        row = x[i]
        total = 0.0
        for k in range(len(row)):
            total += row[k]
        y[i] = total
        row[0] = total


def test_rows_are_views():
    x = RANDOM.normal(size=(6, 4))
    found, sums = after(rows, (1, 8), x, np.zeros(6))
    np.testing.assert_allclose(sums, x.sum(1), rtol=1e-13)
    np.testing.assert_array_equal(found[:, 0], sums)
    np.testing.assert_array_equal(found[:, 1:], x[:, 1:])


@ad.kernel
def shifts(pair, out):
    (x, y), scale = pair["points"], pair["scale"]
    i = ad.grid(1)
    if i < len(x):
        out[i] = (x[i] + y[i]) * scale


def test_containers_as_arguments():
    x, y = RANDOM.normal(size=10), RANDOM.normal(size=10)
    (found,) = after(shifts, (1, 16), {"points": (x, y), "scale": 2.0}, np.zeros(10))
    np.testing.assert_array_equal(found, (x + y) * 2.0)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64, np.uint8, np.bool_])
def test_number_types(dtype):
    x = RANDOM.integers(0, 2, size=10).astype(dtype)
    (found,) = after(copy, (1, 16), x, np.zeros(10, dtype))
    np.testing.assert_array_equal(found, x)
    assert found.dtype == dtype


@ad.kernel
def copy(x, y):
    i = ad.grid(1)
    if i < len(x):
        y[i] = x[i]


@ad.kernel
def rotated(z, w):
    i = ad.grid(1)
    if i < len(z):
        w[i] = z[i] * 1j


def test_complex_numbers():
    z = RANDOM.normal(size=5) + 1j * RANDOM.normal(size=5)
    real, imag = after(rotated, (1, 8), z, np.zeros(5, np.complex128))
    np.testing.assert_array_equal(real + 1j * imag, z * 1j)


WEIGHTS = RANDOM.normal(size=2000)
SCALE = 2.5


@ad.kernel
def weighted(y):
    i = ad.grid(1)
    if i < len(y):
        y[i] = WEIGHTS[i] * SCALE


def test_globals():
    (found,) = after(weighted, (1, 16), np.zeros(10))
    np.testing.assert_array_equal(found, WEIGHTS[:10] * SCALE)


@ad.kernel
def filled(x, out):
    tile = ad.shared.array(16, np.float64)
    if ad.threadIdx.x == 0:
        tile[:] = 1.0
        tile[2:4] = 5.0
    ad.syncthreads()
    if ad.threadIdx.x < 16:
        out[ad.threadIdx.x] = tile[ad.threadIdx.x] + x[0]


def test_whole_arrays_and_slices_are_written_in_place():
    (found,) = after(filled, (1, 32), np.ones(1), np.zeros(16))
    np.testing.assert_array_equal(found, 2.0 + 4.0 * ((np.arange(16) >= 2) & (np.arange(16) < 4)))


# ---------------------------------------------------------------------------- inside compiled functions
def sum_of_axpy(x):
    y = np.ones(len(x))
    axpy[2, 32](3.0, x, y)
    return np.sum(y)


def test_launches_inside_compiled_functions():
    x = RANDOM.normal(size=50)
    (found,) = of_program(sum_of_axpy, x)
    np.testing.assert_allclose(found, np.sum(1.0 + 3.0 * x), rtol=1e-13)


def chained(x):
    y = x * 2.0
    blocks = (len(x) + 31) // 32
    for _ in range(3):
        axpy[blocks, 32](1.0, x, y)
    z = np.zeros((2, len(x)))
    axpy[blocks, 32](1.0, y, z[1])
    return y, z


def test_launches_in_loops_and_into_views():
    x = RANDOM.normal(size=50)
    y, z = of_program(chained, x)
    np.testing.assert_allclose(y, x * 5.0, rtol=1e-13)
    np.testing.assert_array_equal(z, [np.zeros(50), y])


def branching(x, flag):
    y = np.zeros(len(x))
    before = y
    if flag > 0:
        axpy[2, 32](1.0, x, y)
    return y, before


@pytest.mark.parametrize("flag", [1, -1])
def test_launches_in_branches_reach_other_names(flag):
    x = RANDOM.normal(size=50)
    y, before = of_program(branching, x, flag)
    np.testing.assert_array_equal(y, x if flag > 0 else 0 * x)
    np.testing.assert_array_equal(before, y)


def ping_pong(x):
    both = np.zeros((2, len(x)))
    both[0] = x
    axpy[2, 32](2.0, both[0], both[1])
    return both


def test_parts_of_one_array_that_do_not_overlap():
    x = RANDOM.normal(size=50)
    (found,) = of_program(ping_pong, x)
    np.testing.assert_array_equal(found, [x, 2.0 * x])


@ad.kernel
def reading(x):
    v = x[ad.grid(1)]
    ad.syncthreads_count(v > 0)


@ad.kernel
def unguarded(x, y):
    i = ad.grid(1)
    y[i] = x[i]


@pytest.mark.parametrize("launched", [lambda x: reading[1, 8](x), lambda x: unguarded[1, 8](x, x.copy())])
def test_launches_that_may_fail_stay_although_nobody_reads_their_results(launched):
    def program(x):
        launched(x)
        return np.sum(x)

    with pytest.raises(IndexError):
        ad.jit(program)(np.ones(3))


@ad.kernel
def added_to_both(x, y, z):
    i = ad.grid(1)
    if i < len(x):
        y[i] += x[i]
        z[i] -= x[i]


def copies_of_one(x):
    y, z = x.copy(), x.copy()
    added_to_both[1, 8](x, y, z)
    return np.sum(y * x) + np.sum(z)


def test_an_array_and_copies_of_it_which_are_written():
    x = RANDOM.normal(size=5)
    (found,) = of_program(copies_of_one, x)
    np.testing.assert_allclose(found, 2.0 * np.sum(x**2), rtol=1e-13)
    np.testing.assert_allclose(ad.grad(copies_of_one)(x), 4.0 * x, rtol=1e-13)
