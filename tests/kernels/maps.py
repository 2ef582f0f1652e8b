"""Kernels of one element for each thread: maps, in place, indirect, of every number type."""

from __future__ import annotations

import math

import numpy as np

import anadrome as ad
from tests.corpus.draw import flags, normal, permutation, positive
from tests.kernels.case import Case, given, integers, launch, single, zeros


@ad.kernel
def axpy(a, x, y):
    i = ad.grid(1)
    if i < len(y):
        y[i] += a * x[i]


@ad.kernel
def squares(x, y):
    i = ad.blockIdx.x * ad.blockDim.x + ad.threadIdx.x
    if i >= y.shape[0]:
        return
    y[i] = x[i] * x[i]


@ad.kernel
def sine_in_place(x):
    i = ad.grid(1)
    if i < len(x):
        x[i] = math.sin(x[i])


@ad.kernel
def overwritten_twice(y, x):
    i = ad.grid(1)
    if i < len(x):
        x[i] = x[i] * y[i]
        x[i] = x[i] * x[i] + y[i]
        x[i] = math.exp(0.1 * x[i])


@ad.kernel
def elementary(x, y):
    i = ad.grid(1)
    if i < len(x):
        v = x[i]
        y[i] = math.exp(-v) * math.log(v) + math.sqrt(v) * math.tanh(v) + math.atan2(v, 2.0) / math.cosh(v)


@ad.kernel
def of_numpy(x, y, z):
    i = ad.grid(1)
    if i < len(x):
        a, b = x[i], y[i]
        z[i] = np.hypot(a, b) + np.log1p(b * b) * np.expm1(0.2 * a) + np.arctan(a) - np.cos(b) ** 3


@ad.kernel
def in_single(x, y):
    i = ad.grid(1)
    if i < len(x):
        y[i] = x[i] * x[i] + np.float32(0.5) * math.sin(x[i])


@ad.kernel
def of_mixed_precision(x, y, z):
    i = ad.grid(1)
    if i < len(x):
        z[i] = x[i] * y[i] + x[i]


@ad.kernel
def with_integers(x, k, y):
    i = ad.grid(1)
    if i < len(x):
        n = k[i] % 4 + i // 3
        y[i] = x[i] ** 2 * n + (k[i] << 1) - float(n & 3)


@ad.kernel
def masked(x, mask, y):
    i = ad.grid(1)
    if i < len(x) and mask[i]:
        y[i] = x[i] * 3.0


@ad.kernel
def gathered(x, at, y):
    i = ad.grid(1)
    if i < len(at):
        y[i] = x[at[i]] * x[at[i]] + x[at[-1 - i]]


@ad.kernel
def permuted(x, at, y):
    i = ad.grid(1)
    if i < len(at):
        y[at[i]] = x[i] * math.cos(x[i])


@ad.kernel
def powers(x, p, y):
    i = ad.grid(1)
    if i < len(x):
        y[i] = x[i] ** p[i] + pow(x[i], 2.5) + x[i] ** 3 + 2.0 ** p[i]


@ad.kernel
def by_branches(x, y):
    i = ad.grid(1)
    if i < len(x):
        v = x[i]
        if v > 1.0:
            y[i] = v * v
        elif v > 0.0 and i % 2 == 0:
            y[i] = math.sin(v)
        elif v <= 0.0 or i == 3:
            w = v * 2.0
            y[i] = w * math.exp(w)
        else:
            y[i] -= v


@ad.kernel
def ternaries(x, y):
    i = ad.grid(1)
    if i < len(x):
        root = math.sqrt(x[i]) if x[i] > 0.0 else -x[i]
        y[i] = root if not i % 3 == 1 else (root * root if i > 2 else 0.5)


@ad.kernel
def clamped(x, lo, hi, y):
    i = ad.grid(1)
    if i < len(x):
        y[i] = min(max(x[i], lo), hi) * abs(x[i]) + max(x[i], 0.3, lo)


@ad.kernel
def of_a_dict(parts, y):
    (a, b), scale = parts["pair"], parts["scale"]
    i = ad.grid(1)
    if i < len(a):
        y[i] = (a[i] * b[i] + b[i]) * scale


@ad.kernel
def of_an_uint8_image(image, gain, y):
    i, j = ad.grid(2)
    if i < image.shape[0] and j < image.shape[1]:
        y[i, j] = gain * image[i, j] / 255.0 + gain * gain


@ad.kernel
def of_bools(a, b, y):
    i = ad.grid(1)
    if i < len(a):
        y[i] = (a[i] and not b[i]) or (b[i] and not a[i])


@ad.kernel
def two_results(x, y, z):
    i = ad.grid(1)
    if i < len(x):
        s, c = math.sin(x[i]), math.cos(x[i])
        y[i], z[i] = s * c, s + c


@ad.kernel
def row_of_each(x, y):
    i = ad.grid(1)
    if i < x.shape[0]:
        row = x[i]
        y[i] = row[0] * row[1] + row[-1]
        row[0] = y[i] * row[1]


@ad.kernel
def swapped_ends(x):
    i = ad.grid(1)
    j = len(x) - 1 - i
    if i < j:
        x[i], x[j] = x[j] * x[j], x[i] * 2.0


def _single(x):
    return x * x + np.float32(0.5) * np.sin(x)


def _integers(x, k, y):
    n = k % 4 + np.arange(len(x)) // 3
    return x**2 * n + (k << 1) - (n & 3)


def _permuted(x, at, y):
    found = np.copy(y)
    found[at] = x * np.cos(x)
    return found


def _branches(x, y):
    def one(i, v, old):
        if v > 1.0:
            return v * v
        if v > 0.0 and i % 2 == 0:
            return np.sin(v)
        if v <= 0.0 or i == 3:
            return 2.0 * v * np.exp(2.0 * v)
        return old - v

    return np.array([one(i, x[i], y[i]) for i in range(len(x))])


def _ternaries(x, y):
    def one(i, v):
        root = np.sqrt(v) if v > 0.0 else -v
        return root if i % 3 != 1 else (root * root if i > 2 else 0.5)

    return np.array([one(i, x[i]) for i in range(len(x))])


def _row_of_each(x, y):
    sums = x[:, 0] * x[:, 1] + x[:, -1]
    return np.stack([sums * x[:, 1], x[:, 1], x[:, 2]], axis=1), sums


def _swapped(x):
    half = len(x) // 2
    ends, middle = x[::-1], x[half : len(x) - half]
    return np.concatenate([ends[:half] ** 2, middle, ends[len(x) - half :] * 2.0])


def _twice(y, x):
    first = x * y
    return np.exp(0.1 * (first * first + y))


CASES: tuple[Case, ...] = (
    launch(axpy, (2, 8), [normal(), normal(13), normal(13)], lambda a, x, y: y + a * x),
    launch(squares, (2, 8), [normal(13), normal(13)], lambda x, y: x * x),
    launch(sine_in_place, (3, 4), [normal(11)], np.sin),
    launch(overwritten_twice, (2, 8), [normal(13), normal(13)], _twice),
    launch(
        elementary,
        (1, 16),
        [positive(13), zeros(13)],
        lambda v, y: np.exp(-v) * np.log(v) + np.sqrt(v) * np.tanh(v) + np.arctan2(v, 2.0) / np.cosh(v),
    ),
    launch(
        of_numpy,
        (1, 16),
        [normal(9), normal(9), zeros(9)],
        lambda a, b, z: np.hypot(a, b) + np.log1p(b * b) * np.expm1(0.2 * a) + np.arctan(a) - np.cos(b) ** 3,
    ),
    launch(in_single, (1, 16), [single(normal(9)), single(zeros(9))], lambda x, y: _single(x)),
    launch(
        of_mixed_precision,
        (1, 16),
        [single(normal(9)), normal(9), zeros(9)],
        lambda x, y, z: x * y + x,
        rtol=2e-3,
    ),
    launch(with_integers, (1, 16), [normal(9), integers(9), zeros(9)], _integers),
    launch(masked, (1, 16), [normal(9), flags(9), normal(9)], lambda x, mask, y: np.where(mask, x * 3.0, y)),
    launch(
        gathered,
        (2, 8),
        [normal(5), integers(12, high=5), zeros(12)],
        lambda x, at, y: x[at] * x[at] + x[at[::-1]],
    ),
    launch(permuted, (2, 8), [normal(9), permutation(9), zeros(9)], _permuted),
    launch(
        powers,
        (1, 8),
        [positive(7), normal(7), zeros(7)],
        lambda x, p, y: x**p + x**2.5 + x**3 + 2.0**p,
    ),
    launch(by_branches, (2, 8), [normal(14, scale=1.5), normal(14)], _branches),
    launch(ternaries, (2, 8), [normal(14), zeros(14)], _ternaries),
    launch(
        clamped,
        (2, 8),
        [normal(12), given(-0.45), given(0.85), zeros(12)],
        lambda x, lo, hi, y: (
            np.minimum(np.maximum(x, lo), hi) * np.abs(x) + np.maximum(np.maximum(x, 0.3), lo)
        ),
    ),
    launch(
        of_a_dict,
        (1, 8),
        [
            lambda random, _: {"pair": (random.normal(size=6), random.normal(size=6)), "scale": 1.5},
            zeros(6),
        ],
        lambda parts, y: (parts["pair"][0] * parts["pair"][1] + parts["pair"][1]) * parts["scale"],
    ),
    launch(
        of_an_uint8_image,
        ((1, 2), (4, 4)),
        [integers(4, 5, high=255, dtype=np.uint8), normal(), zeros(4, 5)],
        lambda image, gain, y: gain * image / 255.0 + gain * gain,
    ),
    launch(
        of_bools,
        (1, 16),
        [flags(9), flags(9), zeros(9, dtype=np.bool_)],
        lambda a, b, y: a ^ b,
        is_program=False,
    ),
    launch(
        two_results,
        (1, 16),
        [normal(9), zeros(9), zeros(9)],
        lambda x, y, z: (np.sin(x) * np.cos(x), np.sin(x) + np.cos(x)),
        writes=(1, 2),
    ),
    launch(row_of_each, (1, 8), [normal(6, 3), zeros(6)], _row_of_each, writes=(0, 1)),
    launch(swapped_ends, (1, 8), [normal(9)], _swapped),
)
