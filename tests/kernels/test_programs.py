"""Kernels as people write them, against NumPy."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

import anadrome as ad
from tests.kernels.launching import after

RANDOM = np.random.default_rng(9)


@ad.kernel
def inclusive_scan(x, y):
    """Shuffles in a warp, then the sums of the warps in shared memory."""
    sums = ad.shared.array(32, np.float64)
    t = ad.threadIdx.x
    lane, warp = ad.laneid, t // ad.warpsize
    value = x[t]
    step = 1
    while step < 32:
        below = ad.shfl_up_sync(0xFFFFFFFF, value, step)
        if lane >= step:
            value += below
        step *= 2
    if lane == 31:
        sums[warp] = value
    ad.syncthreads()
    before = 0.0
    for k in range(warp):
        before += sums[k]
    y[t] = before + value


def test_scan():
    x = RANDOM.normal(size=128)
    (found,) = after(inclusive_scan, (1, 128), x, np.zeros(128))
    np.testing.assert_allclose(found, np.cumsum(x), rtol=1e-12)


@ad.kernel
def bitonic(x):
    part = ad.shared.array(64, np.int64)
    t = ad.threadIdx.x
    part[t] = x[t]
    ad.syncthreads()
    k = 2
    while k <= 64:
        j = k // 2
        while j > 0:
            other = t ^ j
            if other > t:
                is_up = (t & k) == 0
                if (part[t] > part[other]) == is_up:
                    part[t], part[other] = part[other], part[t]
            ad.syncthreads()
            j //= 2
        k *= 2
    x[t] = part[t]


def test_bitonic_sort():
    x = RANDOM.integers(0, 1000, size=64)
    (found,) = after(bitonic, (1, 64), x)
    np.testing.assert_array_equal(found, np.sort(x))


BLOCK, HALO = 16, 2


@ad.kernel
def stencil(x, weights, y):
    part = ad.shared.array(BLOCK + 2 * HALO, np.float64)
    t, i, n = ad.threadIdx.x, ad.grid(1), len(x)
    for k in range(t, BLOCK + 2 * HALO, BLOCK):
        place = ad.blockIdx.x * BLOCK + k - HALO
        part[k] = x[place] if 0 <= place < n else 0.0
    ad.syncthreads()
    if i >= n:
        return
    total = 0.0
    for k in range(-HALO, HALO + 1):
        total += weights[k + HALO] * part[t + HALO + k]
    y[i] = total


def test_stencil_with_halo():
    x, weights = RANDOM.normal(size=50), RANDOM.normal(size=5)
    (found,) = after(stencil, (4, BLOCK), x, weights, np.zeros(50))
    np.testing.assert_allclose(found, np.convolve(x, weights[::-1], "same"), rtol=1e-12, atol=1e-14)


@ad.kernel
def forces(positions, out):
    tile = ad.shared.array((8, 3), np.float64)
    t, i, n = ad.threadIdx.x, ad.grid(1), len(positions)
    own, total = ad.local.array(3, np.float64), ad.local.array(3, np.float64)
    if i < n:
        own[:] = positions[i]
    for start in range(0, n, 8):
        if start + t < n:
            tile[t] = positions[start + t]
        ad.syncthreads()
        for j in range(min(8, n - start)):
            distance = 1e-3
            for axis in range(3):
                distance += (tile[j, axis] - own[axis]) ** 2
            for axis in range(3):
                total[axis] += (tile[j, axis] - own[axis]) / (distance * math.sqrt(distance))
        ad.syncthreads()
    if i < n:
        out[i] = total


def test_bodies_by_tiles():
    x = RANDOM.normal(size=(20, 3))
    (found,) = after(forces, (3, 8), x, np.zeros((20, 3)))
    difference = x[None] - x[:, None]
    distance = (difference**2).sum(-1) + 1e-3
    np.testing.assert_allclose(found, (difference / distance[..., None] ** 1.5).sum(1), rtol=1e-10)


@ad.kernel
def softmax(x, y):
    """A row for each block."""
    part = ad.shared.array(16, np.float64)
    row, t, n = ad.blockIdx.x, ad.threadIdx.x, x.shape[1]
    largest = -math.inf
    for j in range(t, n, ad.blockDim.x):
        largest = max(largest, x[row, j])
    part[t] = largest
    ad.syncthreads()
    step = 8
    while step > 0:
        if t < step:
            part[t] = max(part[t], part[t + step])
        ad.syncthreads()
        step //= 2
    largest = part[0]
    ad.syncthreads()
    total = 0.0
    for j in range(t, n, ad.blockDim.x):
        total += math.exp(x[row, j] - largest)
    part[t] = total
    ad.syncthreads()
    for shift in (8, 4, 2, 1):
        if t < shift:
            part[t] += part[t + shift]
        ad.syncthreads()
    for j in range(t, n, ad.blockDim.x):
        y[row, j] = math.exp(x[row, j] - largest) / part[0]


def test_softmax():
    x = RANDOM.normal(size=(5, 40))
    (found,) = after(softmax, (5, 16), x, np.zeros((5, 40)))
    expected = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(found, expected / expected.sum(1, keepdims=True), rtol=1e-12)


def escapes(c, limit):
    z = 0j
    for k in range(limit):
        z = z * z + c
        if abs(z) > 2.0:
            return k
    return limit


@ad.kernel
def mandelbrot(lo, hi, counts):
    j, i = ad.grid(2)
    height, width = counts.shape
    if i >= height or j >= width:
        return
    x = lo + (hi - lo) * j / width
    y = lo + (hi - lo) * i / height
    counts[i, j] = escapes(complex(x, y), 30)


def test_mandelbrot():
    (found,) = after(mandelbrot, ((3, 2), (8, 8)), -2.0, 1.5, np.zeros((12, 20), np.int64))
    for i in range(12):
        for j in range(20):
            assert found[i, j] == escapes(complex(-2.0 + 3.5 * j / 20, -2.0 + 3.5 * i / 12), 30)


@ad.kernel
def march(origins, directions, distances):
    """Sphere tracing of the unit sphere and of the floor y = -1."""
    i = ad.grid(1)
    if i >= len(origins):
        return
    travelled = 0.0
    for _ in range(200):
        x = origins[i, 0] + travelled * directions[i, 0]
        y = origins[i, 1] + travelled * directions[i, 1]
        z = origins[i, 2] + travelled * directions[i, 2]
        free = min(math.sqrt(x * x + y * y + z * z) - 1.0, y + 1.0)
        if free < 1e-9:
            break
        travelled += free
        if travelled > 100.0:
            travelled = math.inf
            break
    distances[i] = travelled


def test_ray_marcher():
    origins = np.tile([0.0, 0.0, -3.0], (3, 1))
    directions = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [0.0, 1.0, 0.0]])
    (found,) = after(march, (1, 4), origins, directions, np.zeros(3))
    np.testing.assert_allclose(found, [2.0, 1.0, np.inf], atol=1e-8)


@dataclass(frozen=True)
class Grid:
    spacing: float
    values: np.ndarray


@ad.kernel
def gradient(grid, out):
    i = ad.grid(1)
    n = len(grid.values)
    if i < n:
        before, behind = max(i - 1, 0), min(i + 1, n - 1)
        out[i] = (grid.values[behind] - grid.values[before]) / ((behind - before) * grid.spacing)


def test_dataclasses_as_arguments():
    values = RANDOM.normal(size=30)
    (found,) = after(gradient, (1, 32), Grid(0.1, values), np.zeros(30))
    np.testing.assert_allclose(found, np.gradient(values, 0.1), rtol=1e-12)


@ad.kernel
def block_histogram(values, bins):
    own = ad.shared.array(8, np.int32)
    t = ad.threadIdx.x
    if t < 8:
        own[t] = 0
    ad.syncthreads()
    for i in range(ad.grid(1), len(values), ad.gridsize(1)):
        ad.atomic.add(own, values[i], 1)
    ad.syncthreads()
    if t < 8:
        ad.atomic.add(bins, t, own[t])


def test_histogram_with_shared_bins():
    values = RANDOM.integers(0, 8, size=200)
    (found,) = after(block_histogram, (3, 16), values, np.zeros(8, np.int64))
    np.testing.assert_array_equal(found, np.bincount(values, minlength=8))


@ad.kernel
def grid_sum(x, total):
    value = 0.0
    for i in range(ad.grid(1), len(x), ad.gridsize(1)):
        value += x[i]
    for k in range(5):
        value += ad.shfl_xor_sync(0xFFFFFFFF, value, 1 << k)
    if ad.threadIdx.x % 32 == 0:
        ad.atomic.add(total, 0, value)


def test_grid_reduction():
    x = RANDOM.normal(size=500)
    (found,) = after(grid_sum, (3, 64), x, np.zeros(1))
    np.testing.assert_allclose(found, [x.sum()], rtol=1e-11)


@ad.kernel
def sieve(is_prime):
    i = ad.grid(1) + 2
    if i >= len(is_prime):
        return
    for k in range(2, i):
        if k * k > i:
            break
        if i % k == 0:
            is_prime[i] = False
            break
    else:
        is_prime[i] = i < 4


def test_loops_with_else():
    (found,) = after(sieve, (1, 64), np.ones(60, np.bool_))
    primes = [all(n % k for k in range(2, n)) for n in range(2, 60)]
    np.testing.assert_array_equal(found[2:], primes)


@ad.kernel
def mixed(x, k, out):
    i = ad.grid(1)
    if i < len(x):
        single = x[i] * 2  # float32 times a Python number
        whole = int(single) & 7 | k
        out[i] = single + np.float32(whole) if -1 < single <= 3 and whole != 5 else -abs(single) // 1


def test_number_types_mix_as_in_numpy():
    x = RANDOM.normal(size=40).astype(np.float32) * 2
    (found,) = after(mixed, (2, 32), x, 2, np.zeros(40, np.float32))

    def one(value):
        single = value * np.float32(2)
        whole = int(single) & 7 | 2
        return single + np.float32(whole) if -1 < single <= 3 and whole != 5 else -abs(single) // 1

    np.testing.assert_array_equal(found, [one(value) for value in x])
    assert found.dtype == np.float32


@ad.kernel
def levenshtein(a, b, out):
    """A table of two rows for each thread."""
    pair = ad.grid(1)
    if pair >= len(out):
        return
    rows = ad.local.array((2, 9), np.int64)
    for j in range(9):
        rows[0, j] = j
    for i in range(1, 9):
        now, before = i % 2, (i - 1) % 2
        rows[now, 0] = i
        for j in range(1, 9):
            cost = 0 if a[pair, i - 1] == b[pair, j - 1] else 1
            rows[now, j] = min(rows[before, j] + 1, rows[now, j - 1] + 1, rows[before, j - 1] + cost)
    out[pair] = rows[0, -1]


def test_tables_of_a_thread():
    a, b = RANDOM.integers(0, 3, size=(6, 8)), RANDOM.integers(0, 3, size=(6, 8))
    (found,) = after(levenshtein, (1, 8), a, b, np.zeros(6, np.int64))

    def distance(one, two):
        row = list(range(len(two) + 1))
        for i, left in enumerate(one, 1):
            last, row[0] = row[0], i
            for j, right in enumerate(two, 1):
                last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (left != right))
        return row[-1]

    np.testing.assert_array_equal(found, [distance(x, y) for x, y in zip(a, b, strict=True)])


@pytest.mark.parametrize("shape", [(3, 4, 5), (2, 2, 2)])
def test_reshaped_arguments(shape):
    @ad.kernel
    def kernel(x, y):
        i = ad.grid(1)
        flat, turned = x.reshape(-1), y.ravel()
        if i < len(flat):
            turned[i] = flat[i] * 2.0

    x = RANDOM.normal(size=shape)
    (found,) = after(kernel, (1, 64), x, np.zeros(shape))
    np.testing.assert_array_equal(found, 2.0 * x)


def test_transposed_views_are_written_where_they_lie():
    @ad.kernel
    def kernel(x):
        i, j = ad.grid(2)
        turned = x.T
        if i < turned.shape[0] and j < turned.shape[1]:
            turned[i, j] = 10 * i + j

    (found,) = after(kernel, (1, (8, 8)), np.zeros((3, 5)))
    np.testing.assert_array_equal(found, np.add.outer(np.arange(3), 10 * np.arange(5)))
