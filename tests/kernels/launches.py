"""Functions that launch several kernels: one after another, in loops and branches, into parts of arrays."""

from __future__ import annotations

import math

import numpy as np

import anadrome as ad
from tests.corpus.draw import normal
from tests.kernels.case import Case, given, program


@ad.kernel
def axpy(a, x, y):
    i = ad.grid(1)
    if i < len(y):
        y[i] += a * x[i]


@ad.kernel
def squared(x, y):
    i = ad.grid(1)
    if i < len(x):
        y[i] = x[i] * x[i]


@ad.kernel
def relaxed(x, y):
    i = ad.grid(1)
    if 0 < i < len(x) - 1:
        y[i] = 0.25 * (x[i - 1] + 2.0 * x[i] + x[i + 1]) + 0.1 * x[i] * x[i]


@ad.kernel
def dense(w, x, b, y):
    i = ad.grid(1)
    if i < len(y):
        total = b[i]
        for j in range(len(x)):
            total += w[i, j] * x[j]
        y[i] = math.tanh(total)


@ad.kernel
def block_sums(x, y):
    part = ad.shared.array(8, np.float64)
    t, i = ad.threadIdx.x, ad.grid(1)
    part[t] = x[i] if i < len(x) else 0.0
    ad.syncthreads()
    for step in (4, 2, 1):
        if t < step:
            part[t] += part[t + step]
        ad.syncthreads()
    if t == 0:
        y[ad.blockIdx.x] = part[0]


@ad.kernel
def scaled(factor, x):
    i = ad.grid(1)
    if i < len(x):
        x[i] *= factor


def one_into_the_other(x):
    y, z = np.zeros(len(x)), np.ones(len(x))
    squared[2, 8](x, y)
    axpy[2, 8](3.0, y, z)
    squared[2, 8](z, y)
    return y, z


def jacobi(x, steps):
    a, b = np.copy(x), np.copy(x)
    for _ in range(steps):
        relaxed[2, 8](a, b)
        relaxed[2, 8](b, a)
    return a


def power_steps(x, steps):
    y = np.copy(x)
    for _ in range(steps):
        axpy[2, 8](0.5, x, y)
        squared[2, 8](np.copy(y), y)
        scaled[2, 8](1.0 / np.sqrt(np.sum(y * y)), y)
    return y


def two_layers(w, v, x, b):
    hidden, out = np.zeros(len(b)), np.zeros(len(x))
    dense[1, 8](w, x, b, hidden)
    dense[1, 8](v, hidden, x, out)
    return np.sum(out * out)


def reduced_twice(x):
    n = (len(x) + 7) // 8
    parts, total = np.zeros(n), np.zeros(1)
    block_sums[n, 8](x * x, parts)
    block_sums[1, 8](parts, total)
    return np.log(total[0])


def in_branches(x, flag):
    y = np.ones(len(x))
    if flag > 0.0:
        axpy[2, 8](flag, x, y)
    else:
        squared[2, 8](x, y)
    return y * x


def into_rows(x):
    z = np.zeros((4, len(x)))
    for k in range(4):
        axpy[2, 8](k + 1.0, x * x, z[k])
    squared[2, 8](z[1], z[0])
    return z


def with_scalars_of_arrays(x):
    y = np.copy(x)
    axpy[2, 8](np.sum(x * x), x, y)
    scaled[2, 8](y[0], y)
    return y


def until_small(x, limit):
    y, steps = np.copy(x), 0
    while np.sum(y * y) > limit:
        scaled[2, 8](0.8, y)
        axpy[2, 8](0.05, x, y)
        steps += 1
    return y * steps


def _one(x):
    z = 1.0 + 3.0 * x * x
    return z * z, z


def _jacobi(x, steps):
    for _ in range(2 * steps):
        inner = 0.25 * (x[:-2] + 2.0 * x[1:-1] + x[2:]) + 0.1 * x[1:-1] ** 2
        x = np.concatenate([x[:1], inner, x[-1:]])
    return x


def _power(x, steps):
    y = x
    for _ in range(steps):
        y = (y + 0.5 * x) ** 2
        y = y / np.sqrt(np.sum(y * y))
    return y


def _layers(w, v, x, b):
    out = np.tanh(v @ np.tanh(w @ x + b) + x)
    return np.sum(out * out)


def _rows(x):
    rows = [(k + 1.0) * x * x for k in range(4)]
    return np.stack([rows[1] ** 2, *rows[1:]])


def _scalars(x):
    y = x + np.sum(x * x) * x
    return y * y[0]


def _until(x, limit):
    y, steps = x, 0
    while np.sum(y * y) > limit:
        y, steps = y * 0.8 + 0.05 * x, steps + 1
    return y * steps


def _branches(x, flag):
    return (1.0 + flag * x if flag > 0.0 else x * x) * x


CASES: tuple[Case, ...] = (
    program(one_into_the_other, [normal(13)], _one),
    program(jacobi, [normal(13), given(3)], _jacobi),
    program(power_steps, [normal(13), given(3)], _power),
    program(two_layers, [normal(6, 5), normal(5, 6), normal(5), normal(6)], _layers),
    program(reduced_twice, [normal(30)], lambda x: np.log(np.sum(x * x))),
    program(in_branches, [normal(13), given(1.5)], _branches),
    program(into_rows, [normal(13)], _rows),
    program(with_scalars_of_arrays, [normal(13)], _scalars),
    program(until_small, [normal(13), given(0.9)], _until),
)
