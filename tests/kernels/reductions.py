"""Kernels whose block computes one thing together: reductions, scans, sorting networks, softmax."""

from __future__ import annotations

import math

import numpy as np

import anadrome as ad
from tests.corpus.draw import normal
from tests.kernels.case import Case, launch, zeros

THREADS = 8


@ad.kernel
def block_norms(x, y):
    part = ad.shared.array(THREADS, np.float64)
    t, i = ad.threadIdx.x, ad.grid(1)
    part[t] = x[i] * x[i] if i < len(x) else 0.0
    ad.syncthreads()
    step = ad.blockDim.x // 2
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        ad.syncthreads()
        step //= 2
    if t == 0:
        y[ad.blockIdx.x] = math.sqrt(part[0])


@ad.kernel
def block_products(x, y):
    part = ad.shared.array(THREADS, np.float64)
    t, i = ad.threadIdx.x, ad.grid(1)
    part[t] = x[i] if i < len(x) else 1.0
    ad.syncthreads()
    for step in (4, 2, 1):
        if t < step:
            part[t] *= part[t + step]
        ad.syncthreads()
    if t == 0:
        y[ad.blockIdx.x] = part[0]


@ad.kernel
def scanned(x, y):
    both = ad.shared.array((2, THREADS), np.float64)
    t, i, now = ad.threadIdx.x, ad.grid(1), 0
    both[0, t] = x[i] if i < len(x) else 0.0
    ad.syncthreads()
    step = 1
    while step < THREADS:
        value = both[now, t]
        if t >= step:
            value = value + both[now, t - step] * 0.5
        both[1 - now, t] = value
        ad.syncthreads()
        now, step = 1 - now, step * 2
    if i < len(y):
        y[i] = both[now, t]


@ad.kernel
def work_efficient_scan(x, y):
    part = ad.shared.array(THREADS, np.float64)
    t, i = ad.threadIdx.x, ad.grid(1)
    part[t] = x[i] * x[i]
    ad.syncthreads()
    step = 1
    while step < THREADS:
        at = (t + 1) * 2 * step - 1
        if at < THREADS:
            part[at] += part[at - step]
        ad.syncthreads()
        step *= 2
    if t == 0:
        part[THREADS - 1] = 0.0
    ad.syncthreads()
    while step > 1:
        step //= 2
        at = (t + 1) * 2 * step - 1
        if at < THREADS:
            left = part[at - step]
            part[at - step] = part[at]
            part[at] += left
        ad.syncthreads()
    y[i] = part[t]


@ad.kernel
def bitonic_sort(x):
    part = ad.shared.array(THREADS, np.float64)
    t = ad.threadIdx.x
    part[t] = x[ad.blockIdx.x * THREADS + t]
    ad.syncthreads()
    size = 2
    while size <= THREADS:
        stride = size // 2
        while stride > 0:
            other = t ^ stride
            if other > t:
                ascending = (t & size) == 0
                if (part[t] > part[other]) == ascending:
                    part[t], part[other] = part[other], part[t]
            ad.syncthreads()
            stride //= 2
        size *= 2
    x[ad.blockIdx.x * THREADS + t] = part[t] * (t + 1)


@ad.kernel
def dynamic_sums(x, y):
    part = ad.shared.array(0, np.float64)
    t, i = ad.threadIdx.x, ad.grid(1)
    part[t] = math.exp(x[i]) if i < len(x) else 0.0
    ad.syncthreads()
    if t == 0:
        total = 0.0
        for k in range(ad.blockDim.x):
            total += part[k]
        y[ad.blockIdx.x] = math.log(total)


@ad.kernel
def with_predicates(x, y):
    t = ad.threadIdx.x
    v = x[ad.blockIdx.x, t]
    count = ad.syncthreads_count(v > 0.0)
    if ad.syncthreads_or(v > 1.5):
        v = v * 2.0
    if ad.syncthreads_and(v < 3.0):
        v = v * v
    y[ad.blockIdx.x, t] = v * count


@ad.kernel
def softmax(x):
    part = ad.shared.array(THREADS, np.float64)
    t, row = ad.threadIdx.x, ad.blockIdx.x
    part[t] = x[row, t]
    ad.syncthreads()
    step = THREADS // 2
    while step > 0:
        if t < step:
            part[t] = max(part[t], part[t + step])
        ad.syncthreads()
        step //= 2
    largest = part[0]
    ad.syncthreads()
    value = math.exp(x[row, t] - largest)
    part[t] = value
    ad.syncthreads()
    step = THREADS // 2
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        ad.syncthreads()
        step //= 2
    x[row, t] = value / part[0]


def _scanned(x, y):
    found = []
    for start in range(0, len(x), THREADS):
        part, step = x[start : start + THREADS], 1
        while step < THREADS:
            shifted = [part[k] + (0.5 * part[k - step] if k >= step else 0.0) for k in range(len(part))]
            part, step = np.array(shifted), step * 2
        found += list(part)
    return np.array(found)


def _padded(x, whole):
    return np.concatenate([x, np.full((-len(x)) % THREADS, whole)]).reshape(-1, THREADS)


def _exclusive(x, y):
    parts = (x * x).reshape(-1, THREADS)
    return (np.cumsum(parts, axis=1) - parts).reshape(-1)


def _sorted(x):
    return (np.sort(x.reshape(-1, THREADS), axis=1) * np.arange(1.0, THREADS + 1)).reshape(-1)


def _predicates(x, y):
    counts = np.sum(x > 0.0, axis=1)
    v = np.where(np.any(x > 1.5, axis=1)[:, None], x * 2.0, x)
    v = np.where(np.all(v < 3.0, axis=1)[:, None], v * v, v)
    return v * counts[:, None]


def _softmax(x):
    e = np.exp(x - np.max(x, axis=1)[:, None])
    return e / np.sum(e, axis=1)[:, None]


CASES: tuple[Case, ...] = (
    launch(
        block_norms,
        (2, THREADS),
        [normal(13), zeros(2)],
        lambda x, y: np.sqrt(np.sum(_padded(x, 0.0) ** 2, axis=1)),
    ),
    launch(
        block_products,
        (2, THREADS),
        [normal(13), zeros(2)],
        lambda x, y: np.prod(_padded(x, 1.0), axis=1),
    ),
    launch(scanned, (2, THREADS), [normal(13), zeros(13)], _scanned, is_program=False),
    launch(work_efficient_scan, (2, THREADS), [normal(16), zeros(16)], _exclusive),
    launch(bitonic_sort, (2, THREADS), [normal(16)], _sorted),
    launch(
        dynamic_sums,
        (2, THREADS, 0, 8 * THREADS),
        [normal(13), zeros(2)],
        lambda x, y: np.log(np.array([np.sum(np.exp(x[:8])), np.sum(np.exp(x[8:]))])),
    ),
    launch(with_predicates, (3, 6), [normal(3, 6), zeros(3, 6)], _predicates),
    launch(softmax, (3, THREADS), [normal(3, THREADS)], _softmax),
)
