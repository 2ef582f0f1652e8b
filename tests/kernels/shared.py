"""Kernels with memory of a block and barriers: tiles, halos, steps in time, exchanges."""

from __future__ import annotations

import math

import numpy as np

import anadrome as ad
from tests.corpus.draw import normal
from tests.kernels.case import Case, given, launch, zeros

TILE = 4
THREADS = 8


@ad.kernel
def tiled_product(a, b, c):
    sa = ad.shared.array((TILE, TILE), np.float64)
    sb = ad.shared.array((TILE, TILE), np.float64)
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


@ad.kernel
def tiled_transpose(x, y):
    tile = ad.shared.array((TILE, TILE + 1), np.float64)
    i, j = ad.blockIdx.y * TILE + ad.threadIdx.y, ad.blockIdx.x * TILE + ad.threadIdx.x
    if i < x.shape[0] and j < x.shape[1]:
        tile[ad.threadIdx.y, ad.threadIdx.x] = math.sin(x[i, j])
    ad.syncthreads()
    k, m = ad.blockIdx.x * TILE + ad.threadIdx.y, ad.blockIdx.y * TILE + ad.threadIdx.x
    if k < y.shape[0] and m < y.shape[1]:
        y[k, m] = tile[ad.threadIdx.x, ad.threadIdx.y]


@ad.kernel
def stencil_with_halo(x, w, y):
    tile = ad.shared.array(THREADS + 2, np.float64)
    t, i = ad.threadIdx.x, ad.grid(1)
    tile[t + 1] = x[i] if i < len(x) else 0.0
    if t == 0:
        tile[0] = x[i - 1] if i > 0 else 0.0
    if t == THREADS - 1:
        tile[THREADS + 1] = x[i + 1] if i + 1 < len(x) else 0.0
    ad.syncthreads()
    if i < len(x):
        y[i] = w[0] * tile[t] + w[1] * tile[t + 1] * tile[t + 1] + w[2] * tile[t + 2]


@ad.kernel
def heat_steps(steps, rate, x):
    tile = ad.shared.array(THREADS, np.float64)
    t = ad.threadIdx.x
    i = ad.blockIdx.x * THREADS + t
    tile[t] = x[i]
    ad.syncthreads()
    for _ in range(steps):
        left = tile[t - 1] if t > 0 else tile[t]
        right = tile[t + 1] if t < THREADS - 1 else tile[t]
        change = rate * (left - 2.0 * tile[t] + right) * tile[t]
        ad.syncthreads()
        tile[t] += change
        ad.syncthreads()
    x[i] = tile[t]


@ad.kernel
def reversed_blocks(x, y):
    part = ad.shared.array(0, np.float64)
    t, n = ad.threadIdx.x, ad.blockDim.x
    part[t] = x[ad.blockIdx.x * n + t]
    ad.syncthreads()
    y[ad.blockIdx.x * n + t] = part[n - 1 - t] * part[t]


@ad.kernel
def broadcast_by_one(x, y):
    one = ad.shared.array(1, np.float64)
    i = ad.grid(1)
    if ad.threadIdx.x == 2:
        one[0] = x[i] * x[i]
    ad.syncthreads()
    y[i] = one[0] * x[i]


@ad.kernel
def forces(x, m, y):
    tile = ad.shared.array((THREADS, 2), np.float64)
    t, i = ad.threadIdx.x, ad.grid(1)
    total = 0.0
    for start in range(0, len(x), THREADS):
        if start + t < len(x):
            tile[t, 0], tile[t, 1] = x[start + t], m[start + t]
        ad.syncthreads()
        if i < len(x):
            for k in range(min(THREADS, len(x) - start)):
                d = tile[k, 0] - x[i]
                total += tile[k, 1] * d / (d * d + 0.1) ** 1.5
        ad.syncthreads()
    if i < len(x):
        y[i] = total


@ad.kernel
def blurred(x, y):
    tile = ad.shared.array((TILE + 2, TILE + 2), np.float64)
    ty, tx = ad.threadIdx.y, ad.threadIdx.x
    top, left = ad.blockIdx.y * TILE, ad.blockIdx.x * TILE
    for a in range(ty, TILE + 2, TILE):
        for b in range(tx, TILE + 2, TILE):
            i = min(max(top + a - 1, 0), x.shape[0] - 1)
            j = min(max(left + b - 1, 0), x.shape[1] - 1)
            tile[a, b] = x[i, j]
    ad.syncthreads()
    i, j = top + ty, left + tx
    if i < x.shape[0] and j < x.shape[1]:
        total = 0.0
        for a in range(3):
            for b in range(3):
                total += tile[ty + a, tx + b] * (1 + a * b)
        y[i, j] = total * tile[ty + 1, tx + 1]


@ad.kernel
def exchanged_through_memory(x, y):
    t = ad.threadIdx.x
    base = ad.blockIdx.x * THREADS
    y[base + t] = x[base + t] * x[base + t]
    ad.syncthreads()
    neighbour = y[base + (t + 1) % THREADS]
    ad.syncthreads()
    y[base + t] = y[base + t] * neighbour


@ad.kernel
def many_readers(x, y):
    part = ad.shared.array(THREADS, np.float64)
    t = ad.threadIdx.x
    part[t] = x[ad.blockIdx.x, t]
    ad.syncthreads()
    total = 0.0
    for k in range(THREADS):
        total += part[k] * part[(k + t) % THREADS]
    ad.syncthreads()
    part[t] = total
    ad.syncthreads()
    y[ad.blockIdx.x, t] = part[THREADS - 1 - t] * part[0]


@ad.kernel
def tile_before_choice(steps, x, y):
    """In each run a tile is shared, and then a branch decides what a thread does."""
    part = ad.shared.array(THREADS, np.float64)
    i, t = ad.grid(1), ad.threadIdx.x
    total, state = 0.0, x[i]
    for k in range(steps):
        part[t] = np.sin(x[i]) * (k + 1)
        ad.syncthreads()
        total = 0.5 * total + part[(t + 1) % THREADS] * state
        ad.syncthreads()
        slope = np.tanh(x[i]) if x[i] > 0.0 else 0.75 / (1.0 + state * state)
        state = np.sin(slope) + 0.5 * state
    y[i] = total + state


def _halo(x, w, y):
    wide = np.concatenate([np.zeros(1), x, np.zeros(1)])
    return w[0] * wide[:-2] + w[1] * wide[1:-1] ** 2 + w[2] * wide[2:]


def _heat(steps, rate, x):
    parts = x.reshape(-1, THREADS)
    for _ in range(steps):
        left = np.concatenate([parts[:, :1], parts[:, :-1]], axis=1)
        right = np.concatenate([parts[:, 1:], parts[:, -1:]], axis=1)
        parts = parts + rate * (left - 2.0 * parts + right) * parts
    return parts.reshape(-1)


def _forces(x, m, y):
    d = x[None, :] - x[:, None]
    return np.sum(m * d / (d * d + 0.1) ** 1.5, axis=1)


def _blurred(x, y):
    n, m = x.shape
    rows = [min(max(i - 1, 0), n - 1) for i in range(n + 2)]
    columns = [min(max(j - 1, 0), m - 1) for j in range(m + 2)]
    wide = np.array([[x[i, j] for j in columns] for i in rows])
    total = sum((1 + a * b) * wide[a : a + n, b : b + m] for a in range(3) for b in range(3))
    return total * x


def _exchanged(x, y):
    parts = (x * x).reshape(-1, THREADS)
    return (parts * np.roll(parts, -1, axis=1)).reshape(-1)


def _tile_before_choice(steps, x, y):
    parts = x.reshape(-1, THREADS)
    total, state = np.zeros(parts.shape), parts
    for k in range(steps):
        total = 0.5 * total + np.roll(np.sin(parts) * (k + 1), -1, axis=1) * state
        slope = np.where(parts > 0.0, np.tanh(parts), 0.75 / (1.0 + state * state))
        state = np.sin(slope) + 0.5 * state
    return (total + state).reshape(-1)


def _many(x, y):
    totals = np.stack([np.sum(x * np.roll(x, -t, axis=1), axis=1) for t in range(THREADS)], axis=1)
    return totals[:, ::-1] * totals[:, :1]


CASES: tuple[Case, ...] = (
    launch(
        tiled_product,
        ((2, 2), (TILE, TILE)),
        [normal(7, 6), normal(6, 5), zeros(7, 5)],
        lambda a, b, c: a @ b,
    ),
    launch(tiled_transpose, ((2, 2), (TILE, TILE)), [normal(7, 6), zeros(6, 7)], lambda x, y: np.sin(x).T),
    launch(stencil_with_halo, (2, THREADS), [normal(13), normal(3), zeros(13)], _halo),
    launch(heat_steps, (2, THREADS), [given(3), given(0.2), normal(16)], _heat),
    launch(
        reversed_blocks,
        (2, 5, None, 40),
        [normal(10), zeros(10)],
        lambda x, y: (x.reshape(2, 5)[:, ::-1] * x.reshape(2, 5)).reshape(-1),
    ),
    launch(
        broadcast_by_one,
        (3, 4),
        [normal(12), zeros(12)],
        lambda x, y: (x.reshape(3, 4) * x.reshape(3, 4)[:, 2:3] ** 2).reshape(-1),
    ),
    launch(forces, (2, THREADS), [normal(11), normal(11), zeros(11)], _forces),
    launch(blurred, ((2, 2), (TILE, TILE)), [normal(6, 7), zeros(6, 7)], _blurred),
    launch(exchanged_through_memory, (2, THREADS), [normal(16), zeros(16)], _exchanged),
    launch(tile_before_choice, (2, THREADS), [given(3), normal(16), zeros(16)], _tile_before_choice),
    launch(many_readers, (2, THREADS), [normal(2, THREADS), zeros(2, THREADS)], _many),
)
