"""Kernels in which other systems have given wrong gradients, each written anew, with what is right."""

from __future__ import annotations

import math

import numpy as np

import anadrome as ad
from tests.corpus.draw import normal, positive
from tests.kernels.case import Case, given, integers, launch, zeros


# ---------------------------------------------------------------------------- Warp: overwritten inputs
@ad.kernel
def copied_then_overwritten(x, y):
    """Warp: an array that is read, then overwritten, then needed again by the adjoint."""
    i = ad.grid(1)
    if i < len(x):
        y[i] = x[i] * x[i]
        x[i] = 3.0
        y[i] = y[i] * x[i]


@ad.kernel
def reused_in_place(x):
    """Warp: in-place reuse, so that the adjoint of the first line needs what the second one overwrote."""
    i = ad.grid(1)
    if i < len(x):
        x[i] = math.exp(x[i])
        x[i] = x[i] * x[i]
        x[i] = 1.0 / (1.0 + x[i])


@ad.kernel
def augmented(x, y):
    """Warp: `+=` and `*=` on an element whose value other partials need."""
    i = ad.grid(1)
    if i < len(x):
        y[i] += x[i] * y[i]
        y[i] *= y[i]
        y[i] -= x[i] * y[i]


@ad.kernel
def overwritten_by_another_thread(x):
    """Warp: an input that another thread of the block overwrites behind a barrier."""
    t = ad.threadIdx.x
    mine, next_one = x[t], x[(t + 1) % 4]
    ad.syncthreads()
    x[t] = mine * next_one
    ad.syncthreads()
    after = x[(t + 3) % 4]
    ad.syncthreads()
    x[t] = x[t] * after


# ---------------------------------------------------------------------------- Warp: loops in kernels
@ad.kernel
def product_of_a_dynamic_loop(x, n, y):
    """Warp: a product accumulated in a loop whose length is known at run time only."""
    i = ad.grid(1)
    if i < x.shape[0]:
        product = 1.0
        for j in range(n):
            product *= x[i, j]
        y[i] = product


@ad.kernel
def dynamic_loop_with_state(x, n, y):
    """Warp: a variable that a dynamic loop overwrites in a way that is not linear."""
    i = ad.grid(1)
    if i < len(x):
        v = x[i]
        for j in range(n):
            v = math.sin(v) * v + 0.1 * j
        y[i] = v


@ad.kernel
def continued(x, skip, y):
    """Warp: `continue` in a dynamic loop; what stands behind it contributes nothing then."""
    i = ad.grid(1)
    if i < x.shape[0]:
        total = 1.0
        for j in range(x.shape[1]):
            total = total * 0.5
            if skip[i, j] == 0:
                continue
            total = total + x[i, j] * total
        y[i] = total


@ad.kernel
def trips_of_data(counts, x, y):
    """Warp: each thread's trip count is an element of an array, some are zero."""
    i = ad.grid(1)
    if i < len(x):
        v = x[i]
        for _ in range(counts[i]):
            v = v * v * 0.5 + x[i]
        y[i] = v


@ad.kernel
def memory_in_a_dynamic_loop(x, n, y):
    """Warp: an element of an array, not a variable, that a dynamic loop overwrites."""
    i = ad.grid(1)
    if i < len(x):
        for _ in range(n):
            y[i] = y[i] * y[i] + x[i]


# ---------------------------------------------------------------------------- Taichi: serial loops
@ad.kernel
def while_with_products(x, limit, y):
    """Taichi: `while` has had no derivative; its trip count depends on the data."""
    i = ad.grid(1)
    if i < len(x):
        v, steps = x[i], 0
        while v < limit:
            v = v * 1.7 + 0.1 * v * v
            steps += 1
        y[i] = v * steps


@ad.kernel
def branches_in_loops(x, kinds, y):
    """Taichi: branches inside a serial loop, each overwriting the same variable."""
    i = ad.grid(1)
    if i < len(x):
        v = x[i]
        for j in range(5):
            if kinds[j] == 0:
                v = v * v
            elif kinds[j] == 1:
                v = math.cos(v)
                if j > 2:
                    v = v - x[i]
            else:
                v = v * x[i]
        y[i] = v


@ad.kernel
def around_a_loop(x, y):
    """Taichi: statements before, between and behind loops of one kernel, all on one variable."""
    i = ad.grid(1)
    if i < x.shape[0]:
        v = x[i, 0] * x[i, 0]
        for j in range(x.shape[1]):
            v += x[i, j] * v
        v = math.tanh(v)
        for j in range(x.shape[1]):
            w = v * x[i, j]
            for k in range(j):
                w = w * x[i, k] + v
            v = 0.5 * v + w
        y[i] = v * v


@ad.kernel
def changed_loop_variable(x, y):
    """Taichi: the variable of a loop is assigned inside; the next iteration begins as if it was not."""
    i = ad.grid(1)
    if i < x.shape[0]:
        total = 0.0
        for j in range(3):
            total += x[i, j] * total + x[i, j]
            j = 2 * j
            total += x[i, j % 3] * j
        y[i] = total


@ad.kernel
def accessed_after_write(x, y):
    """Taichi: an element of a global field is read, written and read again in one kernel."""
    i = ad.grid(1)
    if i < len(x):
        before = y[i]
        y[i] = before * x[i]
        between = y[i]
        y[i] = between * before + y[i] * x[i]


# ---------------------------------------------------------------------------- Enzyme: GPU kernels
@ad.kernel
def shadow_of_each_block(x, y):
    """Enzyme: shadows of shared memory are zero in every block, whatever the block before left there."""
    part = ad.shared.array(4, np.float64)
    t = ad.threadIdx.x
    if t < 2:
        part[t] = x[ad.blockIdx.x, t]
    ad.syncthreads()
    if t >= 2:
        part[t] = part[t - 2] * x[ad.blockIdx.x, t]
    ad.syncthreads()
    y[ad.blockIdx.x, t] = part[3 - t] * part[t]


@ad.kernel
def shared_written_again(x, y):
    """Enzyme: one tile holds other values after each barrier, and the adjoint needs all of them."""
    tile = ad.shared.array(4, np.float64)
    t = ad.threadIdx.x
    total = 0.0
    for j in range(x.shape[0]):
        tile[t] = x[j, t] * x[j, t]
        ad.syncthreads()
        total += tile[(t + 1) % 4] * tile[(t + 2) % 4] * total + tile[t]
        ad.syncthreads()
    y[t] = total


@ad.kernel
def cache_of_a_nested_loop(counts, x, y):
    """Enzyme: values of an inner loop of unknown length inside an outer one of unknown length."""
    i = ad.grid(1)
    if i < len(x):
        v = x[i]
        for j in range(counts[i]):
            k = counts[j]
            while k > 0:
                v = math.sin(v) + 0.1 * v * v
                k -= 1
        y[i] = v


@ad.kernel
def local_memory_of_a_loop(x, y):
    """Enzyme: memory of a thread that each iteration makes anew; its shadow begins as zeros each time."""
    i = ad.grid(1)
    if i < x.shape[0]:
        total = 0.0
        for j in range(x.shape[1] - 1):
            pair = ad.local.array(2, np.float64)
            if j % 2 == 0:
                pair[0] = x[i, j] * total
            pair[1] += x[i, j + 1] + pair[0]
            total += pair[0] * pair[1] + pair[1]
        y[i] = total


@ad.kernel
def divergent_before_a_barrier(x, y):
    """Enzyme: threads that took other branches meet at a barrier, and read what the others wrote."""
    tile = ad.shared.array(4, np.float64)
    t = ad.threadIdx.x
    if t % 2 == 0:
        tile[t] = x[t] * x[t]
    else:
        v = x[t]
        for _ in range(t):
            v = v * 0.5 + x[t - 1]
        tile[t] = v
    ad.syncthreads()
    y[t] = tile[t ^ 1] * tile[t]


@ad.kernel
def early_return_behind_the_barrier(x, n, y):
    """Enzyme: a return that is taken by some threads only, after the last barrier."""
    tile = ad.shared.array(4, np.float64)
    t, i = ad.threadIdx.x, ad.grid(1)
    tile[t] = x[i] * x[i] if i < n else 1.0
    ad.syncthreads()
    if i >= n:
        return
    value = tile[(t + 1) % 4]
    if value > 1.0:
        y[i] = value * x[i]
        return
    y[i] = value * value


@ad.kernel
def many_add_into_shared(x, at, y):
    """Enzyme: adjoints of what many threads read of shared memory are added, none is lost."""
    tile = ad.shared.array(2, np.float64)
    t = ad.threadIdx.x
    if t < 2:
        tile[t] = 0.0
    ad.syncthreads()
    ad.atomic.add(tile, at[t], x[t] * x[t])
    ad.syncthreads()
    y[t] = tile[0] * x[t] + tile[1] * tile[0]


# ---------------------------------------------------------------------------- what is right
def _reused(x):
    return 1.0 / (1.0 + np.exp(x) ** 2)


def _augmented(x, y):
    y = (y + x * y) ** 2
    return y - x * y


def _by_another(x):
    first = x * np.roll(x, -1)
    return first * np.roll(first, 1)


def _states(x, n, y):
    v = x
    for j in range(n):
        v = np.sin(v) * v + 0.1 * j
    return v


def _continued(x, skip, y):
    total = np.ones(len(x))
    for j in range(x.shape[1]):
        total = total * 0.5
        total = np.where(skip[:, j] == 0, total, total + x[:, j] * total)
    return total


def _trips(counts, x, y):
    def one(n, x):
        v = x
        for _ in range(n):
            v = v * v * 0.5 + x
        return v

    return np.array([one(n, v) for n, v in zip(counts, x, strict=True)])


def _memory(x, n, y):
    for _ in range(n):
        y = y * y + x
    return y


def _while(x, limit, y):
    def one(v):
        steps = 0
        while v < limit:
            v, steps = v * 1.7 + 0.1 * v * v, steps + 1
        return v * steps

    return np.array([one(v) for v in x])


def _branches(x, kinds, y):
    v = x
    for j in range(5):
        if kinds[j] == 0:
            v = v * v
        elif kinds[j] == 1:
            v = np.cos(v) - x * (1.0 if j > 2 else 0.0)
        else:
            v = v * x
    return v


def _around(x, y):
    v = x[:, 0] ** 2
    for j in range(x.shape[1]):
        v = v + x[:, j] * v
    v = np.tanh(v)
    for j in range(x.shape[1]):
        w = v * x[:, j]
        for k in range(j):
            w = w * x[:, k] + v
        v = 0.5 * v + w
    return v * v


def _changed(x, y):
    total = np.zeros(len(x))
    for j in range(3):
        total = total + x[:, j] * total + x[:, j]
        total = total + x[:, 2 * j % 3] * (2 * j)
    return total


def _accessed(x, y):
    between = y * x
    return between * y + between * x


def _shadow(x, y):
    parts = np.concatenate([x[:, :2], x[:, :2] * x[:, 2:]], axis=1)
    return parts[:, ::-1] * parts


def _again(x, y):
    total = np.zeros(4)
    for j in range(len(x)):
        tile = x[j] ** 2
        total = total + np.roll(tile, -1) * np.roll(tile, -2) * total + tile
    return total


def _nested(counts, x, y):
    def one(n, v):
        for j in range(n):
            for _ in range(counts[j]):
                v = np.sin(v) + 0.1 * v * v
        return v

    return np.array([one(n, v) for n, v in zip(counts, x, strict=True)])


def _local(x, y):
    total = np.zeros(len(x))
    for j in range(x.shape[1] - 1):
        first = x[:, j] * total if j % 2 == 0 else np.zeros(len(x))
        second = x[:, j + 1] + first
        total = total + first * second + second
    return total


def _divergent(x, y):
    odd = [x[1] * 0.5 + x[0], ((x[3] * 0.5 + x[2]) * 0.5 + x[2]) * 0.5 + x[2]]
    pairs = [x[0] ** 2 * odd[0], x[2] ** 2 * odd[1]]
    return np.array([pairs[0], pairs[0], pairs[1], pairs[1]])


def _early(x, n, y):
    wide = np.concatenate([x * x, np.ones(len(y) - n)]).reshape(-1, 4)
    value = np.roll(wide, -1, axis=1).reshape(-1)[:n]
    found = np.where(value > 1.0, value * x, value * value)
    return np.concatenate([found, y[n:]])


def _many(x, at, y):
    sums = [np.sum(np.where(at == k, x * x, 0.0)) for k in range(2)]
    return sums[0] * x + sums[1] * sums[0]


COUNTS = np.array([0, 2, 1, 3, 0, 2])

CASES: tuple[Case, ...] = (
    launch(
        copied_then_overwritten,
        (1, 8),
        [normal(6), zeros(6)],
        lambda x, y: (np.full(6, 3.0), 3.0 * x * x),
        writes=(0, 1),
    ),
    launch(reused_in_place, (1, 8), [normal(6)], _reused),
    launch(augmented, (1, 8), [normal(6), normal(6)], _augmented),
    launch(overwritten_by_another_thread, (1, 4), [normal(4)], _by_another),
    launch(
        product_of_a_dynamic_loop,
        (1, 8),
        [normal(6, 4), given(4), zeros(6)],
        lambda x, n, y: np.prod(x[:, :n], axis=1),
    ),
    launch(dynamic_loop_with_state, (1, 8), [normal(6), given(5), zeros(6)], _states),
    launch(continued, (1, 8), [normal(6, 5), integers(6, 5, high=2), zeros(6)], _continued),
    launch(trips_of_data, (2, 4), [given(COUNTS), positive(6, high=0.8), zeros(6)], _trips),
    launch(memory_in_a_dynamic_loop, (1, 8), [positive(6, high=0.5), given(3), positive(6)], _memory),
    launch(while_with_products, (1, 8), [positive(6), given(5.0), zeros(6)], _while),
    launch(branches_in_loops, (1, 8), [normal(6), given(np.array([0, 2, 1, 1, 0])), zeros(6)], _branches),
    launch(around_a_loop, (1, 8), [normal(6, 4, scale=0.6), zeros(6)], _around),
    launch(changed_loop_variable, (1, 8), [normal(6, 3), zeros(6)], _changed),
    launch(accessed_after_write, (1, 8), [normal(6), normal(6)], _accessed),
    launch(shadow_of_each_block, (3, 4), [normal(3, 4), zeros(3, 4)], _shadow),
    launch(shared_written_again, (1, 4), [normal(3, 4), zeros(4)], _again),
    launch(cache_of_a_nested_loop, (1, 8), [given(COUNTS), normal(6), zeros(6)], _nested),
    launch(local_memory_of_a_loop, (1, 4), [normal(3, 6), zeros(3)], _local),
    launch(divergent_before_a_barrier, (1, 4), [normal(4), zeros(4)], _divergent),
    launch(
        early_return_behind_the_barrier,
        (2, 4),
        [normal(7), given(7), normal(8)],
        _early,
        is_program=False,
    ),
    launch(many_add_into_shared, (1, 8), [normal(8), integers(8, high=2), zeros(8)], _many),
)
