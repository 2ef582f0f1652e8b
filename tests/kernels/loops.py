"""Kernels with loops: counted, ragged, `while`, nested, left early, and over the whole grid."""

from __future__ import annotations

import math

import numpy as np

import anadrome as ad
from tests.corpus.draw import ascending, normal, positive
from tests.kernels.case import Case, given, integers, launch, zeros


@ad.kernel
def horner(c, x, y):
    i = ad.grid(1)
    if i < len(x):
        total = 0.0
        for k in range(len(c)):
            total = total * x[i] + c[len(c) - 1 - k]
        y[i] = total


@ad.kernel
def sparse_product(values, columns, starts, x, y):
    row = ad.grid(1)
    if row < len(y):
        total = 0.0
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        y[row] = total


@ad.kernel
def triangular(a, x, y):
    i = ad.grid(1)
    if i < len(y):
        total = x[i]
        for j in range(i + 1):
            total = total * 0.5 + a[i, j] * math.sin(x[j])
        y[i] = total


@ad.kernel
def newton_root(x, y):
    i = ad.grid(1)
    if i < len(x):
        root = x[i]
        while abs(root * root - x[i]) > 1e-13 * x[i]:
            root = 0.5 * (root + x[i] / root)
        y[i] = root


@ad.kernel
def collatz_product(start, x, y):
    i = ad.grid(1)
    if i < len(start):
        n, found = start[i], 1.0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
                found = found * x[i]
            else:
                n = 3 * n + 1
                found = found + x[i]
        y[i] = found


@ad.kernel
def sum_until(x, limit, y):
    i = ad.grid(1)
    if i < x.shape[0]:
        total = 0.0
        for j in range(x.shape[1]):
            total += x[i, j] * x[i, j]
            if total > limit:
                break
            total *= 1.1
        y[i] = total


@ad.kernel
def skipping(x, y):
    i = ad.grid(1)
    if i < x.shape[0]:
        found = 1.0
        for j in range(x.shape[1]):
            if x[i, j] < 0.0:
                continue
            found *= 1.0 + x[i, j]
            if j % 3 == 1:
                continue
            found += 0.1
        y[i] = found


@ad.kernel
def matrix_vector(a, x, y):
    i = ad.grid(1)
    if i < a.shape[0]:
        for j in range(a.shape[1]):
            y[i] += a[i, j] * x[j]


@ad.kernel
def logistic(rate, steps, x):
    i = ad.grid(1)
    if i < len(x):
        v = x[i]
        for _ in range(steps):
            v = rate * v * (1.0 - v)
        x[i] = v


@ad.kernel
def logistic_in_memory(rate, steps, x):
    i = ad.grid(1)
    if i < len(x):
        for _ in range(steps):
            x[i] = rate * x[i] * (1.0 - x[i])


@ad.kernel
def first_above(x, limit, y):
    i = ad.grid(1)
    if i >= x.shape[0]:
        return
    for j in range(x.shape[1]):
        if x[i, j] > limit:
            y[i] = x[i, j] * x[i, j]
            return
    y[i] = -1.0


@ad.kernel
def recurrence_in_rows(c, x):
    i = ad.grid(1)
    if i < x.shape[0]:
        for j in range(1, x.shape[1]):
            x[i, j] += c * x[i, j - 1] * x[i, j]


@ad.kernel
def grid_stride(x, y):
    for i in range(ad.grid(1), len(x), ad.gridsize(1)):
        y[i] = math.sin(x[i]) * x[i]


@ad.kernel
def grid_stride_in_two(x, y):
    i, j = ad.grid(2)
    n, m = ad.gridsize(2)
    for a in range(i, x.shape[0], n):
        for b in range(j, x.shape[1], m):
            y[a, b] = x[a, b] ** 2 + x[0, b]


NODES = (0.1, 0.4, 0.7)


@ad.kernel
def unrolled(x, y):
    i = ad.grid(1)
    if i < len(x):
        total = 0.0
        for number, node in enumerate(NODES):
            total += (x[i] - node) ** (number + 1)
        y[i] = total


@ad.kernel
def escapes(real, imag, steps, y):
    i = ad.grid(1)
    if i < len(real):
        a, b, count = 0.0, 0.0, 0
        while a * a + b * b < 4.0 and count < steps:
            a, b = a * a - b * b + real[i], 2.0 * a * b + imag[i]
            count += 1
        y[i] = a * a + b * b


@ad.kernel
def pendulum(step, angle, speed):
    i = ad.grid(1)
    if i < len(angle):
        a, v = angle[i], speed[i]
        for _ in range(5):
            v_half = v - 0.5 * step * math.sin(a)
            a = a + step * v_half
            v = v_half - 0.5 * step * math.sin(a)
        angle[i], speed[i] = a, v


@ad.kernel
def bisection(nodes, values, x, y):
    i = ad.grid(1)
    if i < len(x):
        lo, hi = 0, len(nodes) - 1
        while True:
            if hi - lo <= 1:
                break
            middle = (lo + hi) // 2
            if nodes[middle] <= x[i]:
                lo = middle
            else:
                hi = middle
        t = (x[i] - nodes[lo]) / (nodes[lo + 1] - nodes[lo])
        y[i] = values[lo] * (1.0 - t) + values[lo + 1] * t


@ad.kernel
def ragged_inside_ragged(counts, x, y):
    i = ad.grid(1)
    if i < len(counts):
        v = x[i]
        for j in range(counts[i]):
            k = j
            while k > 0:
                v = v + 0.1 * math.cos(v)
                k = k // 2
            v = v * (1.0 + 0.01 * j)
        y[i] = v


@ad.kernel
def backwards(x, y):
    i = ad.grid(1)
    if i < x.shape[0]:
        v = 0.0
        for j in range(x.shape[1] - 1, -1, -2):
            v = math.tanh(v + x[i, j])
        y[i] = v


def _sparse(values, columns, starts, x, y):
    terms = values * x[columns]
    return np.array([np.sum(terms[starts[i] : starts[i + 1]]) for i in range(len(y))])


def _triangular(a, x, y):
    def row(i):
        total = x[i]
        for j in range(i + 1):
            total = total * 0.5 + a[i, j] * np.sin(x[j])
        return total

    return np.array([row(i) for i in range(len(y))])


def _collatz(start, x, y):
    def one(n, v):
        found = 1.0
        while n != 1:
            if n % 2 == 0:
                n, found = n // 2, found * v
            else:
                n, found = 3 * n + 1, found + v
        return found

    return np.array([one(start[i], x[i]) for i in range(len(start))])


def _until(x, limit, y):
    def row(values):
        total = 0.0
        for v in values:
            total += v * v
            if total > limit:
                break
            total *= 1.1
        return total

    return np.array([row(values) for values in x])


def _skipping(x, y):
    def row(values):
        found = 1.0
        for j in range(len(values)):
            if values[j] >= 0.0:
                found = found * (1.0 + values[j]) + (0.1 if j % 3 != 1 else 0.0)
        return found

    return np.array([row(values) for values in x])


def _logistic(rate, steps, x):
    for _ in range(steps):
        x = rate * x * (1.0 - x)
    return x


def _first_above(x, limit, y):
    def row(values):
        for v in values:
            if v > limit:
                return v * v
        return -1.0

    return np.array([row(values) for values in x])


def _recurrence(c, x):
    found = np.copy(x)
    for j in range(1, x.shape[1]):
        found[:, j] += c * found[:, j - 1] * found[:, j]
    return found


def _escapes(real, imag, steps, y):
    def one(x, z):
        a, b, count = 0.0, 0.0, 0
        while a * a + b * b < 4.0 and count < steps:
            a, b = a * a - b * b + x, 2.0 * a * b + z
            count += 1
        return a * a + b * b

    return np.array([one(x, z) for x, z in zip(real, imag, strict=True)])


def _pendulum(step, a, v):
    for _ in range(5):
        v_half = v - 0.5 * step * np.sin(a)
        a = a + step * v_half
        v = v_half - 0.5 * step * np.sin(a)
    return a, v


def _ragged(counts, x, y):
    def one(n, v):
        for j in range(n):
            k = j
            while k > 0:
                v = v + 0.1 * np.cos(v)
                k = k // 2
            v = v * (1.0 + 0.01 * j)
        return v

    return np.array([one(n, v) for n, v in zip(counts, x, strict=True)])


def _backwards(x, y):
    v = np.zeros(x.shape[0])
    for j in range(x.shape[1] - 1, -1, -2):
        v = np.tanh(v + x[:, j])
    return v


@ad.kernel
def overwritten_after_a_loop(x, w, counts, y):
    i = ad.grid(1)
    if i < x.shape[0]:
        total = 0.0
        for _ in range(3):
            part = 0.0
            for j in range(counts[i]):
                square = x[i] * x[i]
                part += square * w[j] * square
            x[i] = part + 0.1
            total += part
        y[i] = total


def _overwritten_after_a_loop(x, w, counts, y):
    x, y = np.copy(x), np.zeros(len(x))
    for i in range(len(x)):
        for _ in range(3):
            part = np.sum(x[i] ** 4 * w[: counts[i]])
            x[i] = part + 0.1
            y[i] += part
    return x, y


@ad.kernel
def choices_in_ragged_loops(x, w, counts, y):
    i = ad.grid(1)
    if i < x.shape[0]:
        v = x[i]
        for _ in range(2):
            for j in range(counts[i]):
                if v * v > w[j]:
                    v = v * 0.5 + w[j]
                else:
                    v = v + 0.5
        y[i] = v


def _choices_in_ragged_loops(x, w, counts, y):
    def one(v, n):
        for _ in range(2):
            for j in range(n):
                v = v * 0.5 + w[j] if v * v > w[j] else v + 0.5
        return v

    return np.array([one(v, n) for v, n in zip(x, counts, strict=True)])


@ad.kernel
def loop_in_a_condition(x, y):
    i = ad.grid(1)
    if i >= x.shape[0]:
        return
    v = x[i]
    while _below_one(v) * v < 10.0:
        v = v * 1.5 * _below_one(v)
        if v > 200.0:
            break
        v = v * v
    y[i] = v


def _below_one(v):
    while v > 1.0:
        v = v / 2.0
    return v


def _loop_in_a_condition(x, y):
    def one(v):
        while _below_one(v) * v < 10.0:
            v = v * 1.5 * _below_one(v)
            if v > 200.0:
                break
            v = v * v
        return v

    return np.array([one(v) for v in x])


STARTS = np.array([0, 2, 2, 5, 9])

CASES: tuple[Case, ...] = (
    launch(
        horner, (1, 8), [normal(5), normal(6), zeros(6)], lambda c, x, y: sum(c[k] * x**k for k in range(5))
    ),
    launch(
        sparse_product,
        (1, 8),
        [normal(9), integers(9, high=6), given(STARTS), normal(6), zeros(4)],
        _sparse,
    ),
    launch(triangular, (1, 8), [normal(6, 6), normal(6), zeros(6)], _triangular),
    launch(newton_root, (1, 8), [positive(7, high=9.0), zeros(7)], lambda x, y: np.sqrt(x), rtol=1e-5),
    launch(collatz_product, (2, 4), [given(np.arange(1, 8)), positive(7), zeros(7)], _collatz),
    launch(sum_until, (1, 8), [normal(6, 9), given(3.0), zeros(6)], _until),
    launch(skipping, (1, 8), [normal(6, 7), zeros(6)], _skipping),
    launch(matrix_vector, (1, 8), [normal(6, 4), normal(4), normal(6)], lambda a, x, y: y + a @ x),
    launch(logistic, (2, 4), [given(3.3), given(6), positive(7, high=0.9)], _logistic),
    launch(logistic_in_memory, (2, 4), [given(3.3), given(6), positive(7, high=0.9)], _logistic),
    launch(first_above, (2, 4), [normal(7, 5), given(0.8), zeros(7)], _first_above),
    launch(recurrence_in_rows, (1, 4), [given(0.3), normal(4, 6)], _recurrence),
    launch(grid_stride, (2, 4), [normal(19), zeros(19)], lambda x, y: np.sin(x) * x),
    launch(
        grid_stride_in_two,
        ((2, 1), (2, 2)),
        [normal(6, 5), zeros(6, 5)],
        lambda x, y: x**2 + x[0],
    ),
    launch(
        unrolled,
        (1, 8),
        [normal(6), zeros(6)],
        lambda x, y: (x - 0.1) + (x - 0.4) ** 2 + (x - 0.7) ** 3,
    ),
    launch(
        escapes, (1, 8), [normal(6, scale=0.6), normal(6, scale=0.6), given(7), zeros(6)], _escapes, rtol=1e-5
    ),
    launch(pendulum, (1, 8), [given(0.2), normal(6), normal(6)], _pendulum, writes=(1, 2)),
    launch(
        bisection,
        (1, 8),
        [ascending(9), normal(9), given(np.array([0.9, 1.7, 2.5, 3.1, 3.9])), zeros(5)],
        lambda nodes, values, x, y: np.interp(x, nodes, values),
        is_program=False,
    ),
    launch(ragged_inside_ragged, (1, 8), [integers(6, high=6), normal(6), zeros(6)], _ragged),
    launch(backwards, (1, 8), [normal(6, 7), zeros(6)], _backwards),
    launch(
        overwritten_after_a_loop,
        (1, 8),
        [normal(6), normal(5), integers(6, high=6), zeros(6)],
        _overwritten_after_a_loop,
        writes=(0, 3),
    ),
    launch(
        choices_in_ragged_loops,
        (1, 8),
        [normal(6), normal(19), integers(6, high=20), zeros(6)],
        _choices_in_ragged_loops,
    ),
    launch(
        loop_in_a_condition,
        (1, 8),
        [given(np.array([1.5, 1.8, 2.3, 2.6])), zeros(4)],
        _loop_in_a_condition,
        rtol=1e-6,
    ),
)
