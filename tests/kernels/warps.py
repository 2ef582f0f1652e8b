"""Kernels whose lanes work together: shuffles of every kind, votes, partial warps, and divergent ones."""

from __future__ import annotations

import math

import numpy as np

import anadrome as ad
from tests.corpus.draw import normal
from tests.kernels.case import Case, integers, launch, zeros

FULL = 0xFFFFFFFF


@ad.kernel
def warp_sums(x, y):
    i, value = ad.grid(1), 0.0
    if i < len(x):
        value = x[i] * x[i]
    for step in (16, 8, 4, 2, 1):
        value += ad.shfl_down_sync(FULL, value, step)
    if ad.laneid == 0:
        y[i // ad.warpsize] = math.sqrt(value)


@ad.kernel
def butterflies(x, y):
    i = ad.grid(1)
    value = x[i]
    step = 16
    while step > 0:
        value += 0.5 * ad.shfl_xor_sync(FULL, value, step) * x[i]
        step //= 2
    y[i] = value


@ad.kernel
def warp_scan(x, y):
    i, lane = ad.grid(1), ad.laneid
    value = x[i]
    step = 1
    while step < 32:
        below = ad.shfl_up_sync(FULL, value, step)
        if lane >= step:
            value += below
        step *= 2
    y[i] = value * value


@ad.kernel
def broadcast_lane(x, y):
    i = ad.grid(1)
    y[i] = ad.shfl_sync(FULL, x[i] * x[i], 3) * x[i]


@ad.kernel
def partial_warp(x, y):
    i = ad.grid(1)
    right = ad.shfl_down_sync(FULL, x[i], 1)
    left = ad.shfl_up_sync(FULL, x[i], 2)
    y[i] = x[i] * right + left * left


@ad.kernel
def half_of_the_warp(x, y):
    t = ad.threadIdx.x
    if t < 16:
        y[t] = x[t] * ad.shfl_xor_sync(0xFFFF, x[t], 1)
    else:
        y[t] = math.sin(x[t]) + ad.shfl_down_sync(0xFFFF0000, x[t], 4)


@ad.kernel
def voting(x, y):
    i = ad.grid(1)
    holds = x[i] > 0.0
    ballot = ad.ballot_sync(FULL, holds)
    value = x[i] * x[i] if (ballot >> ((ad.laneid + 1) % 32)) & 1 else -x[i]
    if ad.any_sync(FULL, x[i] > 2.2):
        value *= 2.0
    if ad.all_sync(FULL, x[i] < 5.0):
        value *= x[i]
    y[i] = value


@ad.kernel
def gathered_lanes(x, at, y):
    i = ad.grid(1)
    y[i] = ad.shfl_sync(FULL, math.sin(x[i]), at[i]) * x[i]


@ad.kernel
def block_sum_by_warps(x, y):
    sums = ad.shared.array(2, np.float64)
    t, i = ad.threadIdx.x, ad.grid(1)
    value = x[i] ** 3 if i < len(x) else 0.0
    for step in (16, 8, 4, 2, 1):
        value += ad.shfl_down_sync(FULL, value, step)
    if ad.laneid == 0:
        sums[t // 32] = value
    ad.syncthreads()
    if t == 0:
        y[ad.blockIdx.x] = sums[0] * sums[1]


@ad.kernel
def in_a_loop_of_lanes(x, y):
    i = ad.grid(1)
    total = 0.0
    for k in range(5):
        total += ad.shfl_sync(FULL, x[i] * (k + 1), (ad.laneid + k) % 32) * math.cos(total)
    y[i] = total


@ad.kernel
def in_two_dimensions(x, y):
    i, j = ad.threadIdx.y, ad.threadIdx.x
    value = x[i, j]
    value += ad.shfl_xor_sync(FULL, value, 1)
    value *= ad.shfl_xor_sync(FULL, value, 8)
    y[i, j] = value


@ad.kernel
def synchronised(x, y):
    part = ad.shared.array(32, np.float64)
    t = ad.threadIdx.x
    part[t] = x[t]
    ad.syncwarp()
    other = part[31 - t]
    ad.syncwarp()
    part[t] = other * x[t]
    ad.syncwarp()
    y[t] = part[(t + 1) % 32]


@ad.kernel
def of_integers(k, x, y):
    t = ad.threadIdx.x
    place = ad.shfl_xor_sync(FULL, k[t], 2) % 4
    y[t] = x[place] * ad.shfl_up_sync(FULL, x[t], 1)


def _sums(x, y):
    return np.sqrt(np.array([np.sum(x[:32] ** 2), np.sum(x[32:] ** 2)]))


def _lanes(x, sources):
    return np.array([x[32 * (i // 32) + sources[i]] for i in range(len(x))])


def _butterflies(x, y):
    value, lanes = x, np.arange(len(x)) % 32
    for step in (16, 8, 4, 2, 1):
        value = value + 0.5 * _lanes(value, lanes ^ step) * x
    return value


def _partial(x, y):
    n = len(x)
    right = np.array([x[min(i + 1, n - 1)] for i in range(n)])
    left = np.array([x[i - 2] if i >= 2 else x[i] for i in range(n)])
    return x * right + left * left


def _half(x, y):
    low = [x[i] * x[i ^ 1] for i in range(16)]
    high = [np.sin(x[i]) + (x[i + 4] if i + 4 < 32 else x[i]) for i in range(16, 32)]
    return np.array(low + high)


def _voting(x, y):
    value = np.where(np.roll(x > 0.0, -1), x * x, -x)
    value = value * 2.0 if np.any(x > 2.2) else value
    return value * x if np.all(x < 5.0) else value


def _loop(x, y):
    lanes, total = np.arange(len(x)) % 32, np.zeros(len(x))
    for k in range(5):
        total = total + _lanes(x * (k + 1), (lanes + k) % 32) * np.cos(total)
    return total


def _two(x, y):
    lanes, value = np.arange(32), x.reshape(-1)
    value = value + value[lanes ^ 1]
    return (value * value[lanes ^ 8]).reshape(x.shape)


def _of_integers(k, x, y):
    places = k[np.arange(32) ^ 2] % 4
    return x[places] * np.concatenate([x[:1], x[:-1]])


CASES: tuple[Case, ...] = (
    launch(warp_sums, (1, 64), [normal(60), zeros(2)], _sums),
    launch(butterflies, (1, 64), [normal(64), zeros(64)], _butterflies),
    launch(
        warp_scan,
        (2, 32),
        [normal(64), zeros(64)],
        lambda x, y: (np.cumsum(x.reshape(2, 32), axis=1) ** 2).reshape(-1),
    ),
    launch(
        broadcast_lane,
        (1, 64),
        [normal(64), zeros(64)],
        lambda x, y: (x.reshape(2, 32)[:, 3:4] ** 2 * x.reshape(2, 32)).reshape(-1),
    ),
    launch(partial_warp, (1, 20), [normal(20), zeros(20)], _partial),
    launch(half_of_the_warp, (1, 32), [normal(32), zeros(32)], _half),
    launch(voting, (1, 32), [normal(32), zeros(32)], _voting),
    launch(
        gathered_lanes,
        (1, 64),
        [normal(64), integers(64, high=32), zeros(64)],
        lambda x, at, y: _lanes(np.sin(x), at) * x,
    ),
    launch(
        block_sum_by_warps,
        (2, 64),
        [normal(100), zeros(2)],
        lambda x, y: np.array(
            [np.sum(x[:32] ** 3) * np.sum(x[32:64] ** 3), np.sum(x[64:96] ** 3) * np.sum(x[96:] ** 3)]
        ),
    ),
    launch(in_a_loop_of_lanes, (1, 32), [normal(32), zeros(32)], _loop),
    launch(in_two_dimensions, (1, (8, 4)), [normal(4, 8), zeros(4, 8)], _two),
    launch(
        synchronised,
        (1, 32),
        [normal(32), zeros(32)],
        lambda x, y: np.roll(x[::-1] * x, -1),
    ),
    launch(of_integers, (1, 32), [integers(32), normal(32), zeros(32)], _of_integers),
)
