"""Kernels in which it matters who writes first: elements written again, barriers that count, windows."""

from __future__ import annotations

import math

import numpy as np

import anadrome as ad
from tests.corpus.draw import normal
from tests.kernels.case import Case, given, integers, launch, zeros


@ad.kernel
def window(x, n, y):
    i = ad.grid(1)
    if i < len(y):
        total = 0.0
        for k in range(n):
            total += x[i + k] * x[i + k]
        y[i] = total


@ad.kernel
def moving_store(x, n, y):
    t = ad.threadIdx.x
    for k in range(n):
        y[t + k] = x[t] * (k + 1) + x[k]
        ad.syncthreads()


@ad.kernel
def windows_atomic(x, n, y):
    t = ad.threadIdx.x
    for k in range(n):
        ad.atomic.add(y, t + k, x[t] * x[t + k])


@ad.kernel
def strided_twice(x, y):
    t = ad.threadIdx.x
    for j in range(t, len(x), ad.blockDim.x):
        y[ad.blockIdx.x, j] = x[j] * x[j]


@ad.kernel
def rows_shared(x, y):
    i, j = ad.threadIdx.x, ad.threadIdx.y
    s = ad.shared.array(4, np.float64)
    if j == 0:
        s[i] = x[i] * x[i]
    ad.syncthreads()
    y[i, j] = s[i] * x[i] * (j + 1)


@ad.kernel
def carried(x, n, y):
    s = ad.shared.array(8, np.float64)
    t = ad.threadIdx.x
    s[t] = x[t]
    ad.syncthreads()
    k = 0
    while k < n:
        old = s[(t + k) % 8]
        mine = s[t]
        ad.syncthreads()
        s[t] = math.sin(old) * mine + x[t]
        ad.syncthreads()
        k += 1
    y[t] = s[t] * s[7 - t]


@ad.kernel
def two_locals(x, y):
    i = ad.grid(1)
    a = ad.local.array(3, np.float64)
    b = ad.local.array(3, np.float64)
    if i < len(x):
        for k in range(3):
            a[k] = x[i] * (k + 1)
        for r in range(4):
            for k in range(3):
                b[k] = a[k] * a[(k + 1) % 3]
            for k in range(3):
                a[k] = math.tanh(b[k] + a[k])
        y[i] = a[0] * b[1] + a[2]


@ad.kernel
def global_row_scratch(x, w):
    i = ad.grid(1)
    if i < x.shape[0]:
        for r in range(3):
            for k in range(x.shape[1]):
                w[i, k] = x[i, k] * w[i, (k + 1) % x.shape[1]]
            x[i, 0] = x[i, 0] * w[i, 1]


@ad.kernel
def uniform_branch_barrier(x, flag, y):
    s = ad.shared.array(8, np.float64)
    t = ad.threadIdx.x
    v = x[ad.blockIdx.x, t]
    if flag[ad.blockIdx.x] > 0:
        s[t] = v * v
        ad.syncthreads()
        v = s[7 - t] * v
    else:
        s[t] = math.sin(v)
        ad.syncthreads()
        v = s[(t + 1) % 8] + v
    y[ad.blockIdx.x, t] = v * v


@ad.kernel
def counting_barrier(x, c, y):
    s = ad.shared.array(8, np.float64)
    t = ad.threadIdx.x
    s[t] = x[t] * x[t]
    n = ad.syncthreads_count(x[t] > 0.0)
    c[t] = n
    y[t] = s[7 - t] * s[t]


@ad.kernel
def and_barrier(x, y):
    s = ad.shared.array(8, np.float64)
    t = ad.threadIdx.x
    s[t] = x[t] * x[t]
    ad.syncthreads_and(x[t] > 0.0)
    v = s[7 - t] * s[t]
    ad.syncthreads_or(x[t] > 0.0)
    s[t] = v * x[t]
    ad.syncthreads_count(True)
    y[t] = s[(t + 3) % 8] * v


@ad.kernel
def last_writer_wins(x, y):
    t = ad.threadIdx.x
    y[t] = x[t] * x[t]
    ad.syncthreads()
    y[7 - t] = x[t] * 3.0


@ad.kernel
def write_then_add(x, y):
    t = ad.threadIdx.x
    y[t] = x[t] * x[t]
    ad.syncthreads()
    ad.atomic.add(y, 7 - t, x[t] * 3.0)


@ad.kernel
def written_in_a_branch_first(x, y):
    i = ad.grid(1)
    v = x[i]
    if i % 3 == 1:
        y[i] = math.tanh(v)
        v = v * v
    y[i] = v * y[i] if i % 2 == 0 else v


@ad.kernel
def branch_then_top(x, y):
    i = ad.grid(1)
    if i % 3 == 1:
        y[i] = math.tanh(x[i])
    y[i] = math.sin(x[i])


@ad.kernel
def overwritten_or_looped(x, k, c, w, y):
    i = ad.grid(1)
    if i >= len(x):
        return
    state = c * w[1]
    if ad.threadIdx.x > 2:
        x[i] = x[i] * x[i]
    else:
        for _ in range(k[i]):
            state = math.sin(x[i])
    y[i] = state * x[i]


def _window(x, n, y):
    return np.array([np.sum(x[i : i + n] ** 2) for i in range(len(y))])


def _moving(x, n, y):
    found = np.copy(y)
    for k in range(n):
        for t in range(4):
            found[t + k] = x[t] * (k + 1) + x[k]
    return found


def _windows(x, n, y):
    found = np.copy(y)
    for k in range(n):
        for t in range(8):
            found[t + k] += x[t] * x[t + k]
    return found


def _carried(x, n, y):
    part = x
    for k in range(n):
        part = np.sin(np.roll(part, -k)) * part + x
    return part * part[::-1]


def _locals(x, y):
    a = np.stack([x, 2 * x, 3 * x])
    for _ in range(4):
        b = a * np.roll(a, -1, axis=0)
        a = np.tanh(b + a)
    return a[0] * b[1] + a[2]


def _scratch(x, w):
    x, w = np.copy(x), np.copy(w)
    for _ in range(3):
        for k in range(x.shape[1]):
            w[:, k] = x[:, k] * w[:, (k + 1) % x.shape[1]]
        x[:, 0] = x[:, 0] * w[:, 1]
    return x, w


def _by_blocks(x, flag, y):
    one, two = x[:, ::-1] ** 2 * x, np.sin(np.roll(x, -1, axis=1)) + x
    return np.where((flag > 0)[:, None], one, two) ** 2


def _looped(x, k, c, w, y):
    is_squared = np.arange(len(x)) % 4 > 2
    state = np.where(is_squared | (k == 0), c * w[1], np.sin(x))
    new = np.where(is_squared, x * x, x)
    return new, state * new


def _in_a_branch(x, y):
    i = np.arange(len(x))
    v, old = np.where(i % 3 == 1, x * x, x), np.where(i % 3 == 1, np.tanh(x), y)
    return np.where(i % 2 == 0, v * old, v)


def _and(x, y):
    v = x**2 * x[::-1] ** 2
    return np.roll(v * x, -3) * v


CASES: tuple[Case, ...] = (
    launch(window, (2, 4), [normal(12), given(4), zeros(8)], _window, is_program=False),
    launch(window, (1, 8), [normal(12), given(4), zeros(8)], _window, is_program=False, name="one_window"),
    launch(moving_store, (1, 4), [normal(4), given(3), normal(8)], _moving, is_program=False),
    launch(windows_atomic, (1, 8), [normal(12), given(4), normal(12)], _windows, is_program=False),
    launch(strided_twice, (2, 4), [normal(11), zeros(2, 11)], lambda x, y: np.stack([x * x, x * x])),
    launch(
        rows_shared, (1, (4, 2)), [normal(4), zeros(4, 2)], lambda x, y: np.stack([x**3, 2 * x**3], axis=1)
    ),
    launch(carried, (1, 8), [normal(8), given(3), zeros(8)], _carried),
    launch(two_locals, (1, 8), [normal(6), zeros(6)], _locals),
    launch(global_row_scratch, (1, 4), [normal(3, 4), normal(3, 4)], _scratch, writes=(0, 1)),
    launch(uniform_branch_barrier, (2, 8), [normal(2, 8), given(np.array([1, 0])), zeros(2, 8)], _by_blocks),
    launch(
        counting_barrier,
        (1, 8),
        [normal(8), zeros(8, dtype=np.int64), zeros(8)],
        lambda x, c, y: (np.full(8, np.sum(x > 0)), x**2 * x[::-1] ** 2),
        writes=(1, 2),
        is_program=False,
    ),
    launch(and_barrier, (1, 8), [normal(8), zeros(8)], _and),
    launch(
        overwritten_or_looped,
        (3, 4),
        [normal(11), integers(11, high=5), given(0.7), normal(3), zeros(11)],
        _looped,
        writes=(0, 4),
    ),
    launch(written_in_a_branch_first, (2, 4), [normal(8), normal(8)], _in_a_branch),
    launch(branch_then_top, (2, 4), [normal(8), normal(8)], lambda x, y: np.sin(x)),
    launch(last_writer_wins, (1, 8), [normal(8), zeros(8)], lambda x, y: 3.0 * x[::-1]),
    launch(write_then_add, (1, 8), [normal(8), zeros(8)], lambda x, y: x * x + 3.0 * x[::-1]),
)
