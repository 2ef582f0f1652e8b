"""Kernels whose threads write the same elements: histograms, slots, extrema, locks without waiting."""

from __future__ import annotations

import math

import numpy as np

import anadrome as ad
from tests.corpus.draw import flags, normal
from tests.kernels.case import Case, given, integers, launch, zeros

BINS = 4


@ad.kernel
def weighted_histogram(at, w, bins):
    i = ad.grid(1)
    if i < len(at):
        ad.atomic.add(bins, at[i], w[i] * w[i])


@ad.kernel
def subtracted(at, w, bins):
    i = ad.grid(1)
    if i < len(at):
        ad.atomic.sub(bins, at[i], math.sin(w[i]))


@ad.kernel
def scattered_in_two(rows, columns, x, y):
    i = ad.grid(1)
    if i < len(x):
        ad.atomic.add(y, (rows[i], columns[i]), x[i] * y.shape[0])
        ad.atomic.add(y, (columns[i], rows[i]), x[i] ** 2)


@ad.kernel
def loss(x, target, total):
    i = ad.grid(1)
    if i < len(x):
        d = x[i] - target[i]
        ad.atomic.add(total, 0, d * d)


@ad.kernel
def dot_product(x, z, total):
    part = 0.0
    for i in range(ad.grid(1), len(x), ad.gridsize(1)):
        part += x[i] * z[i]
    ad.atomic.add(total, 0, part)


@ad.kernel
def messages(sources, targets, w, x, y):
    for edge in range(ad.grid(1), len(sources), ad.gridsize(1)):
        ad.atomic.add(y, targets[edge], math.tanh(w[edge] * x[sources[edge]]))


@ad.kernel
def histogram_with_shared_bins(at, w, bins):
    part = ad.shared.array(BINS, np.float64)
    t, i = ad.threadIdx.x, ad.grid(1)
    if t < BINS:
        part[t] = 0.0
    ad.syncthreads()
    if i < len(at):
        ad.atomic.add(part, at[i], w[i])
    ad.syncthreads()
    if t < BINS:
        ad.atomic.add(bins, t, part[t] * part[t])


@ad.kernel
def counts_in_shared(at, counts):
    part = ad.shared.array(BINS, np.int64)
    t, i = ad.threadIdx.x, ad.grid(1)
    if t < BINS:
        part[t] = 0
    ad.syncthreads()
    if i < len(at):
        ad.atomic.add(part, at[i], 1)
    ad.syncthreads()
    if t < BINS:
        ad.atomic.add(counts, t, part[t])


@ad.kernel
def compacted(x, keep, count, y):
    i = ad.grid(1)
    if i < len(x) and keep[i]:
        slot = ad.atomic.add(count, 0, 1)
        y[slot] = x[i] * x[i]


@ad.kernel
def extrema_of_integers(k, out):
    i = ad.grid(1)
    if i < len(k):
        ad.atomic.min(out, 0, k[i])
        ad.atomic.max(out, 1, k[i])
        ad.atomic.and_(out, 2, k[i])
        ad.atomic.or_(out, 3, k[i])
        ad.atomic.xor(out, 4, k[i])


@ad.kernel
def largest_by_cas(k, out):
    i = ad.grid(1)
    if i < len(k):
        old = ad.atomic.max(out, 1, -1)
        while k[i] > old:
            seen = ad.atomic.cas(out, 0, old, k[i])
            if seen == old:
                break
            old = seen


@ad.kernel
def exchanged(out, seen):
    i = ad.grid(1)
    seen[i] = ad.atomic.exch(out, 0, i)


@ad.kernel
def largest(x, out):
    i = ad.grid(1)
    if i < len(x):
        ad.atomic.max(out, 0, x[i] * x[i])


@ad.kernel
def smallest_of_each_block(x, y):
    least = ad.shared.array(1, np.float64)
    t, i = ad.threadIdx.x, ad.grid(1)
    if t == 0:
        least[0] = 1e9
    ad.syncthreads()
    if i < len(x):
        ad.atomic.min(least, 0, x[i] * x[i])
    ad.syncthreads()
    if t == 0:
        y[ad.blockIdx.x] = math.sqrt(least[0])


@ad.kernel
def weights_by_extremum(k, w, best, total):
    i = ad.grid(1)
    if i < len(k):
        ad.atomic.max(best, 0, k[i])
        ad.atomic.add(total, k[i] % 2, w[i] * (k[i] + 1))


@ad.kernel
def in_single_precision(at, w, bins):
    i = ad.grid(1)
    if i < len(at):
        ad.atomic.add(bins, at[i], w[i] * w[i])


@ad.kernel
def added_and_kept(x, at, y, z):
    i = ad.grid(1)
    if i < len(x):
        x[i] = x[i] * 2.0
        ad.atomic.add(y, at[i], x[i])
        x[i] = x[i] * x[i]
        ad.atomic.add(y, at[i], x[i])
        z[i] = x[i]


@ad.kernel
def floats_exchanged(x, y):
    i = ad.grid(1)
    if i == 0:
        y[1] = ad.atomic.exch(y, 0, x[0])


@ad.kernel
def running_total(x, total, y):
    i = ad.grid(1)
    if i < len(x):
        y[i] = ad.atomic.add(total, 0, x[i])


def _histogram(at, w, bins):
    return np.array([bins[k] + np.sum(np.where(at == k, w * w, 0.0)) for k in range(len(bins))])


def _subtracted(at, w, bins):
    return np.array([bins[k] - np.sum(np.where(at == k, np.sin(w), 0.0)) for k in range(len(bins))])


def _scattered(rows, columns, x, y):
    found = np.copy(y)
    for i, j, v in zip(rows, columns, x, strict=True):
        found[i, j] += v * len(y)
        found[j, i] += v * v
    return found


def _messages(sources, targets, w, x, y):
    sent = np.tanh(w * x[sources])
    return np.array([y[k] + np.sum(np.where(targets == k, sent, 0.0)) for k in range(len(y))])


def _shared_bins(at, w, bins):
    found = np.copy(bins)
    for start in range(0, len(at), 8):
        here, weights = at[start : start + 8], w[start : start + 8]
        found = found + np.array([np.sum(np.where(here == k, weights, 0.0)) ** 2 for k in range(BINS)])
    return found


def _compacted(x, keep, count, y):
    found, chosen = np.copy(y), x[keep] ** 2
    found[: len(chosen)] = chosen
    return count + np.sum(keep), found


def _extrema(k, out):
    found = [f.reduce(k, initial=one) for f, one in zip((np.minimum, np.maximum), out, strict=False)]
    rest = (np.bitwise_and, np.bitwise_or, np.bitwise_xor)
    return np.array(found + [f(f.reduce(k), one) for f, one in zip(rest, out[2:], strict=True)])


def _weights(k, w, best, total):
    sums = [np.sum(np.where(k % 2 == p, w * (k + 1), 0.0)) for p in range(2)]
    return np.array([np.max(k, initial=best[0])]), total + np.array(sums)


def _kept(x, at, y, z):
    double = 2.0 * x
    parts = double + double * double
    sums = np.array([y[k] + np.sum(np.where(at == k, parts, 0.0)) for k in range(len(y))])
    return double * double, sums, double * double


CASES: tuple[Case, ...] = (
    launch(weighted_histogram, (2, 8), [integers(13, high=BINS), normal(13), normal(BINS)], _histogram),
    launch(subtracted, (2, 8), [integers(13, high=BINS), normal(13), normal(BINS)], _subtracted),
    launch(
        scattered_in_two,
        (2, 8),
        [integers(13, high=3), integers(13, high=3), normal(13), normal(3, 3)],
        _scattered,
    ),
    launch(
        loss,
        (2, 8),
        [normal(13), normal(13), zeros(1)],
        lambda x, target, total: total + np.sum((x - target) ** 2),
    ),
    launch(
        dot_product, (2, 4), [normal(19), normal(19), zeros(1)], lambda x, z, total: total + np.sum(x * z)
    ),
    launch(
        messages,
        (2, 4),
        [integers(11, high=5), integers(11, high=6), normal(11), normal(5), normal(6)],
        _messages,
    ),
    launch(
        histogram_with_shared_bins,
        (2, 8),
        [integers(13, high=BINS), normal(13), normal(BINS)],
        _shared_bins,
    ),
    launch(
        counts_in_shared,
        (2, 8),
        [integers(13, high=BINS), zeros(BINS, dtype=np.int64)],
        lambda at, counts: counts + np.bincount(at, minlength=BINS),
        is_program=False,
    ),
    launch(
        compacted,
        (2, 8),
        [normal(13), flags(13), zeros(1, dtype=np.int64), normal(13)],
        _compacted,
        writes=(2, 3),
        is_ordered=True,
        is_program=False,
    ),
    launch(
        extrema_of_integers,
        (2, 8),
        [integers(13, high=1000), given(np.array([999, 0, -1, 0, 0]))],
        _extrema,
        is_program=False,
    ),
    launch(
        largest_by_cas,
        (2, 8),
        [integers(13, high=1000), given(np.array([-1, -1]))],
        lambda k, out: np.array([np.max(k), -1]),
        is_program=False,
    ),
    launch(
        exchanged,
        (1, 4),
        [given(np.array([-1])), zeros(4, dtype=np.int64)],
        lambda out, seen: (np.array([3]), np.array([-1, 0, 1, 2])),
        writes=(0, 1),
        is_ordered=True,
        is_program=False,
    ),
    launch(
        largest,
        (2, 8),
        [normal(13), zeros(1)],
        lambda x, out: np.maximum(out, np.max(x * x)),
    ),
    launch(
        smallest_of_each_block,
        (2, 8),
        [normal(13), zeros(2)],
        lambda x, y: np.array([np.min(np.abs(x[:8])), np.min(np.abs(x[8:]))]),
    ),
    launch(
        weights_by_extremum,
        (2, 8),
        [integers(13, high=50), normal(13), zeros(1, dtype=np.int64), normal(2)],
        _weights,
        writes=(2, 3),
        is_program=False,
    ),
    launch(
        in_single_precision,
        (2, 8),
        [
            integers(13, high=BINS),
            lambda random, _: random.normal(size=13).astype(np.float32),
            zeros(BINS, dtype=np.float32),
        ],
        lambda at, w, bins: bins + np.array([np.sum(w[at == k] ** 2, dtype=np.float32) for k in range(BINS)]),
        is_program=False,
    ),
    launch(
        added_and_kept,
        (2, 8),
        [normal(13), integers(13, high=3), normal(3), zeros(13)],
        _kept,
        writes=(0, 2, 3),
    ),
    launch(
        floats_exchanged,
        (1, 4),
        [normal(3), normal(2)],
        lambda x, y: np.array([x[0], y[0]]),
        refused="atomic",
    ),
    launch(
        running_total,
        (1, 8),
        [normal(5), zeros(1), zeros(5)],
        lambda x, total, y: (total + np.sum(x), np.cumsum(x) - x),
        writes=(1, 2),
        is_ordered=True,
        is_program=False,
        refused="atomic",
    ),
)
