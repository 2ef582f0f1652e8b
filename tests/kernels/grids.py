"""Kernels on grids of two and three dimensions, with device functions and arrays of their own."""

from __future__ import annotations

import math

import numpy as np

import anadrome as ad
from tests.corpus.draw import normal, positive
from tests.kernels.case import Case, given, launch, zeros


@ad.kernel
def transposed(x, y):
    i, j = ad.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        y[j, i] = x[i, j] * x[i, j]


@ad.kernel
def laplacian(x, y):
    i, j, k = ad.grid(3)
    if 0 < i < x.shape[0] - 1 and 0 < j < x.shape[1] - 1 and 0 < k < x.shape[2] - 1:
        around = x[i - 1, j, k] + x[i + 1, j, k] + x[i, j - 1, k] + x[i, j + 1, k]
        y[i, j, k] = (around + x[i, j, k - 1] + x[i, j, k + 1] - 6.0 * x[i, j, k]) * x[i, j, k]


@ad.kernel
def convolution(x, weights, y):
    i, j = ad.grid(2)
    if i >= x.shape[0] or j >= x.shape[1]:
        return
    total = 0.0
    for a in range(-1, 2):
        for b in range(-1, 2):
            if 0 <= i + a < x.shape[0] and 0 <= j + b < x.shape[1]:
                total += weights[a + 1, b + 1] * x[i + a, j + b]
    y[i, j] = math.tanh(total)


@ad.kernel
def outer(x, z, y):
    i, j = ad.blockIdx.y * ad.blockDim.y + ad.threadIdx.y, ad.blockIdx.x * ad.blockDim.x + ad.threadIdx.x
    if i < len(x) and j < len(z):
        y[i, j] = x[i] * z[j] + y[i, j] * x[i]


@ad.kernel
def in_blocks_of_three(x):
    i, j, k = ad.grid(3)
    n, m, p = ad.gridsize(3)
    if i < x.shape[0] and j < x.shape[1] and k < x.shape[2]:
        x[i, j, k] = x[i, j, k] ** 2 * ((i * m + j) * p + k + n)


@ad.kernel
def gemm(alpha, a, b, beta, c):
    i, j = ad.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        c[i, j] = alpha * total + beta * c[i, j]


@ad.kernel
def distances(x, y):
    i, j = ad.grid(2)
    if i < x.shape[0] and j < x.shape[0] and i != j:
        total = 0.0
        for k in range(x.shape[1]):
            d = x[i, k] - x[j, k]
            total += d * d
        y[i, j] = math.sqrt(total)


@ad.kernel
def batched_solve(a, b, x):
    n = ad.grid(1)
    if n < a.shape[0]:
        m = ad.local.array((3, 4), np.float64)
        for i in range(3):
            for j in range(3):
                m[i, j] = a[n, i, j]
            m[i, 3] = b[n, i]
        for k in range(3):
            for i in range(k + 1, 3):
                f = m[i, k] / m[k, k]
                for j in range(k, 4):
                    m[i, j] -= f * m[k, j]
        for i in range(2, -1, -1):
            value = m[i, 3]
            for j in range(i + 1, 3):
                value -= m[i, j] * x[n, j]
            x[n, i] = value / m[i, i]


# ---------------------------------------------------------------------------- device functions
def sigmoid(v):
    return 1.0 / (1.0 + math.exp(-v))


def gate(v, w):
    return sigmoid(v) * math.tanh(w)


def both(v):
    return v + 1.0, v * sigmoid(v)


@ad.kernel
def with_device_functions(x, y):
    i = ad.grid(1)
    if i < len(x):
        more, swish = both(x[i])
        y[i] = gate(more, swish) + sigmoid(gate(x[i], 0.5))


def raised(power, scale):
    @ad.kernel
    def raised_to(x, y):
        i = ad.grid(1)
        if i < len(x):
            y[i] = scale * x[i] ** power

    return raised_to


def mapping(function):
    @ad.kernel
    def mapped(x, y):
        i = ad.grid(1)
        if i < len(x):
            y[i] = function(x[i]) + function(2.0)

    return mapped


def norm(x, i, limit):
    total = 0.0
    for k in range(x.shape[1]):
        if x[i, k] > limit:
            return total + limit
        total += x[i, k] * x[i, k]
    return math.sqrt(total)


@ad.kernel
def with_loops_in_functions(x, limit, y):
    i = ad.grid(1)
    if i < x.shape[0]:
        y[i] = norm(x, i, limit) * norm(x, x.shape[0] - 1 - i, 2.0 * limit)


def add_into(y, i, value):
    y[i] += value
    y[i] *= value


@ad.kernel
def writing_functions(x, y):
    i = ad.grid(1)
    if i < len(x):
        add_into(y, i, x[i])
        add_into(y, i, math.sin(x[i]))


# ---------------------------------------------------------------------------- arrays of a thread
@ad.kernel
def powers_in_memory(x, y):
    i = ad.grid(1)
    found = ad.local.array(5, np.float64)
    if i < len(x):
        found[0] = 1.0
        for k in range(1, 5):
            found[k] = found[k - 1] * x[i]
        total = 0.0
        for k in range(5):
            total += found[k] * (k + 1)
        y[i] = total


@ad.kernel
def sorted_rows(x):
    i = ad.grid(1)
    if i < x.shape[0]:
        row = ad.local.array(5, np.float64)
        for k in range(5):
            row[k] = x[i, k]
        for k in range(1, 5):
            value, at = row[k], k
            while at > 0 and row[at - 1] > value:
                row[at] = row[at - 1]
                at -= 1
            row[at] = value
        for k in range(5):
            x[i, k] = row[k] * (k + 1)


@ad.kernel
def counted_locally(x, y):
    i = ad.grid(1)
    if i < x.shape[0]:
        bins = ad.local.array(3, np.float64)
        counts = ad.local.array(3, np.int64)
        for k in range(x.shape[1]):
            place = 0 if x[i, k] < -0.4 else 1 if x[i, k] < 0.4 else 2
            bins[place] += x[i, k]
            counts[place] += 1
        for place in range(3):
            y[i, place] = bins[place] * bins[place] / (1 + counts[place])


@ad.kernel
def rotated_thrice(angle, points):
    i = ad.grid(1)
    if i < points.shape[0]:
        m = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
        for _ in range(3):
            x = m[0, 0] * points[i, 0] + m[0, 1] * points[i, 1]
            y = m[1, 0] * points[i, 0] + m[1, 1] * points[i, 1]
            points[i, 0], points[i, 1] = x, 1.1 * y


def _laplacian(x, y):
    inner = x[1:-1, 1:-1, 1:-1]
    around = x[:-2, 1:-1, 1:-1] + x[2:, 1:-1, 1:-1] + x[1:-1, :-2, 1:-1] + x[1:-1, 2:, 1:-1]
    found = np.copy(y)
    found[1:-1, 1:-1, 1:-1] = (around + x[1:-1, 1:-1, :-2] + x[1:-1, 1:-1, 2:] - 6.0 * inner) * inner
    return found


def _convolution(x, weights, y):
    n, m = x.shape
    wide = np.zeros((n + 2, m + 2))
    wide[1:-1, 1:-1] = x
    return np.tanh(sum(weights[a, b] * wide[a : a + n, b : b + m] for a in range(3) for b in range(3)))


def _blocks(x):
    return x**2 * (np.arange(24.0).reshape(2, 3, 4) + 2)


def _distances(x, y):
    n = x.shape[0]
    return np.array(
        [[np.sqrt(np.sum((x[i] - x[j]) ** 2)) if i != j else y[i, j] for j in range(n)] for i in range(n)]
    )


def _solve(a, b, x):
    return np.stack([np.linalg.solve(one, right) for one, right in zip(a, b, strict=True)])


def _device(x, y):
    def one(v):
        return 1.0 / (1.0 + np.exp(-v))

    swish = x * one(x)
    return one(x + 1.0) * np.tanh(swish) + one(one(x) * np.tanh(0.5))


def _norms(x, limit, y):
    def one(row, bound):
        total = 0.0
        for v in row:
            if v > bound:
                return total + bound
            total += v * v
        return np.sqrt(total)

    n = len(x)
    return np.array([one(x[i], limit) * one(x[n - 1 - i], 2.0 * limit) for i in range(n)])


def _counted(x, y):
    places = [x < -0.4, (x >= -0.4) & (x < 0.4), x >= 0.4]
    return np.stack(
        [np.sum(np.where(one, x, 0.0), axis=1) ** 2 / (1 + np.sum(one, axis=1)) for one in places], axis=1
    )


def _rotated(angle, points):
    x, y = points[:, 0], points[:, 1]
    for _ in range(3):
        x, y = np.cos(angle) * x - np.sin(angle) * y, 1.1 * (np.sin(angle) * x + np.cos(angle) * y)
    return np.stack([x, y], axis=1)


def _dominant(random, _):
    return random.normal(size=(4, 3, 3)) + 5.0 * np.eye(3)


CASES: tuple[Case, ...] = (
    launch(transposed, ((2, 2), (3, 4)), [normal(5, 7), zeros(7, 5)], lambda x, y: (x * x).T),
    launch(laplacian, ((2, 2, 1), (2, 2, 4)), [normal(4, 4, 4), zeros(4, 4, 4)], _laplacian),
    launch(convolution, ((2, 2), (3, 3)), [normal(5, 6), normal(3, 3), zeros(5, 6)], _convolution),
    launch(
        outer,
        ((2, 3), (3, 2)),
        [normal(5), normal(6), normal(5, 6)],
        lambda x, z, y: x[:, None] * z + y * x[:, None],
    ),
    launch(in_blocks_of_three, ((1, 3, 2), (2, 1, 2)), [normal(2, 3, 4)], _blocks),
    launch(
        gemm,
        ((2, 2), (3, 3)),
        [normal(), normal(5, 4), normal(4, 6), normal(), normal(5, 6)],
        lambda alpha, a, b, beta, c: alpha * (a @ b) + beta * c,
    ),
    launch(distances, ((2, 2), (3, 3)), [normal(5, 3), normal(5, 5)], _distances),
    launch(batched_solve, (1, 4), [_dominant, normal(4, 3), zeros(4, 3)], _solve),
    launch(with_device_functions, (1, 8), [normal(6), zeros(6)], _device),
    launch(raised(3, 0.5), (1, 8), [normal(6), zeros(6)], lambda x, y: 0.5 * x**3),
    launch(
        raised(0.5, 2.0),
        (1, 8),
        [positive(6), zeros(6)],
        lambda x, y: 2.0 * np.sqrt(x),
        name="raised_to_half",
    ),
    launch(
        mapping(sigmoid),
        (1, 8),
        [normal(6), zeros(6)],
        lambda x, y: 1.0 / (1.0 + np.exp(-x)) + 1.0 / (1.0 + np.exp(-2.0)),
    ),
    launch(with_loops_in_functions, (1, 8), [normal(6, 5), given(0.9), zeros(6)], _norms),
    launch(
        writing_functions,
        (1, 8),
        [normal(6), normal(6)],
        lambda x, y: ((y + x) * x + np.sin(x)) * np.sin(x),
    ),
    launch(
        powers_in_memory, (1, 8), [normal(6), zeros(6)], lambda x, y: sum((k + 1) * x**k for k in range(5))
    ),
    launch(sorted_rows, (1, 4), [normal(3, 5)], lambda x: np.sort(x, axis=1) * np.arange(1.0, 6.0)),
    launch(counted_locally, (1, 4), [normal(3, 7), zeros(3, 3)], _counted),
    launch(rotated_thrice, (1, 8), [normal(), normal(6, 2)], _rotated),
)
