"""Reading arrays: indices, slices, strides, negative ones, views, integer arrays."""

from __future__ import annotations

import numpy as np

import anadrome as ad
from anadrome.errors.frontend import StaticIndexError, TooManyIndices
from anadrome.errors.runtime import IndexOutOfBounds
from tests.corpus.draw import N, indices, normal, permutation, whole
from tests.corpus.harness import Program, Refused


def first_and_last(x):
    return x[0] * x[-1] + x[-2] ** 2 + np.sum(x)


def slices(x):
    return np.sum(x[1:-1] * x[2:] * x[:-2]) + np.sum(x[:3] ** 2)


def strided(x):
    return np.sum(x[::2] ** 2) + np.sum(np.sin(x[1::3])) + np.sum(x[::-1] * x)


def backwards_with_steps(x):
    return np.sum(x[::-2] ** 3) + np.sum(x[-1:0:-1] * x[:-1])


def rows_columns_and_blocks(a):
    return np.sum(a[1] * a[:, 2][:3]) + np.sum(a[1:, :-1] * a[:-1, 1:]) + a[0, -1]


def new_axes(x):
    return np.sum((x[:, None] - x[None, :]) ** 2)


def ellipsis_of_three_dimensions(a):
    return np.sum(a[..., 0] * a[:, 1, ...][:, :1] + a[0, ..., 1])


def transposed_reads(a, x):
    return np.sum(np.sin(a.T[1] * x)) + a.T[2, 3]


def view_of_a_view(a):
    b = a[1:].T
    c = b[:, ::-1]
    return np.sum(c[0] * c[1]) + c[2, -1]


def runtime_index(x, i):
    return x[i] * x[i - 1] + np.sum(x**2)


def negative_runtime_index(x, i):
    return x[-i] ** 2 * x[i] + np.sum(x)


def fancy_with_duplicates(x, p):
    return np.sum(x[p] ** 2 * np.arange(len(p)))


def fancy_pairs(a, p, q):
    return np.sum(np.exp(a[p, q]) * a[p[::-1], q])


def fancy_rows(a, p):
    return np.sum(a[p] ** 2)


def fancy_constant(x):
    return np.sum(x[np.array([0, 2, 2, -1])] ** 3) + np.sum(x[[1, 0]] * x[:2]) + np.sum(x)


def permutation_and_inverse(x, p):
    y = x[p]
    return np.sum(y * np.arange(len(x))) + np.sum(y[np.argsort(p)] ** 2)


def take_and_take_along(a, p):
    return np.sum(np.take(a, p, axis=0) ** 2) + np.sum(
        np.take_along_axis(a, np.argsort(a, axis=1), axis=1) * np.arange(a.shape[1])
    )


def diagonal_and_trace(a):
    return np.sum(np.diag(a) ** 2) + np.trace(a @ a) + np.sum(np.diagonal(a, 1))


def index_arithmetic_in_a_loop(x):
    n = len(x)
    total = 0.0
    for i in range(n):
        total += x[(3 * i + 1) % n] * x[n - 1 - i] * x[i // 2]
    return total


def reversed_by_loop(x):
    total = 0.0
    for i in range(len(x)):
        total = 0.5 * total + x[-1 - i]
    return total


def gather_of_gather(x, p, q):
    return sum(np.sin(x[p[q[i]]]) * x[q[i]] for i in range(len(q)))


def windows(x):
    return sum(np.prod(x[i : i + 3]) for i in range(len(x) - 2))


def concatenate_and_split(x, y):
    z = np.concatenate([x, y[::-1], x[:2]])
    half = len(x)
    return np.sum(z[:half] * z[half : 2 * half]) + z[-1] * z[half]


def stack_roll_and_flip(x):
    table = np.stack([x, np.roll(x, 1), np.flip(x)])
    return np.sum(table[0] * table[1] * table[2]) + np.sum(table[:, 0])


def tile_and_repeat(x):
    return np.sum(np.tile(x, 2) * np.repeat(x, 2)) + np.sum(np.outer(x, x)[0])


def rows_of_products(x):
    a = np.outer(x, x)
    return np.sum(a[0]) + np.sum(np.exp(np.outer(x, x))[1] ** 2) + np.sum(np.outer(x, x).T[2])


def row_of_a_product_in_a_loop(x):
    a, s = np.outer(x, x), 0.0
    for i in range(len(x)):
        s += a[0, i] * s + a[i, 1]
    return s


def diagonal_of_a_product(x):
    a = np.outer(x, x)
    return sum(a[i, i] for i in range(len(x)))


def elements_at_data_of_a_product(x, keys):
    a, s = np.outer(x, x), 0.0
    for i in range(len(keys)):
        s += a[keys[i], i] * 0.5
    return s


def slices_of_products(x):
    a = np.outer(x, x)
    return np.sum((a[:2] @ x) ** 2) + np.sum(np.outer(x, x)[1:3, 1:] ** 2)


def rows_of_rows(x):
    stacked = np.stack([x * v for v in x])
    nested = np.array([[x[i] * x[j] for j in range(len(x))] for i in range(len(x))])
    return np.sum(stacked[0] ** 2) + nested[1, 2] + np.linalg.norm(nested[0])


def rows_of_grids(x):
    a, b = np.meshgrid(x, x)
    tiled = np.tile(x, (len(x), 1))
    return np.sum(a[0] * b[0]) + np.sum(tiled[1] ** 3) + np.sum(np.broadcast_to(x, (len(x), len(x)))[0] ** 2)


def row_of_a_product_of_three(x):
    a = x[:, None, None] * x[None, :, None] * x[None, None, :]
    return np.sum(a[0, 0]) + np.sum(a[1, :, 0])


def row_of_what_is_read_whole(x):
    a = np.outer(x, x)
    return np.sum(a[0]) + np.sum(a * a)


def row_under_a_branch(x):
    a = np.outer(x, x)
    return np.sum(a[0]) if x[0] > 0 else np.sum(np.where(a > 0, a, 0.0)[1] ** 2)


def reshape_and_ravel(a):
    flat = a.reshape(-1)
    return np.sum(flat[1:] * flat[:-1]) + np.sum(a.ravel() ** 2)


def band_by_indices(a):
    n = len(a)
    return sum(a[i, i] * a[i, i + 1] * a[i + 1, i] for i in range(n - 1)) + a[n - 1, n - 1]


def lower_and_upper(a):
    return np.sum(np.tril(a) ** 2) + np.sum(np.triu(a, 1) ** 3)


PROGRAMS = (
    Program(first_and_last, (normal(N),)),
    Program(slices, (normal(N),)),
    Program(strided, (normal(N),)),
    Program(backwards_with_steps, (normal(N),)),
    Program(rows_columns_and_blocks, (normal(N, 3),), seed=2),
    Program(new_axes, (normal(N),)),
    Program(ellipsis_of_three_dimensions, (normal(N, 3, 4),)),
    Program(transposed_reads, (normal(4, N), normal(4))),
    Program(view_of_a_view, (normal(N, 4),)),
    Program(runtime_index, (normal(N), whole(2))),
    Program(negative_runtime_index, (normal(N), whole(2))),
    Program(fancy_with_duplicates, (normal(N), indices(2 * N, below=N))),
    Program(fancy_pairs, (normal(N, 4), indices(N, below=N), indices(N, below=4))),
    Program(fancy_rows, (normal(N, 3), indices(2 * N, below=N))),
    Program(fancy_constant, (normal(N),)),
    Program(permutation_and_inverse, (normal(N), permutation(N))),
    Program(take_and_take_along, (normal(N, 4), indices(N, below=N))),
    Program(diagonal_and_trace, (normal(N, N),), sizes=(4, 8, 16)),
    Program(index_arithmetic_in_a_loop, (normal(N),)),
    Program(reversed_by_loop, (normal(N),)),
    Program(gather_of_gather, (normal(N), indices(N, below=N), indices(N, below=N))),
    Program(windows, (normal(N),)),
    Program(concatenate_and_split, (normal(N), normal(N))),
    Program(stack_roll_and_flip, (normal(N),)),
    Program(tile_and_repeat, (normal(N),)),
    Program(rows_of_products, (normal(N),)),
    Program(row_of_a_product_in_a_loop, (normal(N, scale=0.5),)),
    Program(diagonal_of_a_product, (normal(N),)),
    Program(elements_at_data_of_a_product, (normal(N), indices(N, below=N))),
    Program(slices_of_products, (normal(N),)),
    Program(rows_of_rows, (normal(N),)),
    Program(rows_of_grids, (normal(N),)),
    Program(row_of_a_product_of_three, (normal(N),)),
    Program(row_of_what_is_read_whole, (normal(N),)),
    Program(row_under_a_branch, (normal(N),)),
    Program(reshape_and_ravel, (normal(N, 4),)),
    Program(band_by_indices, (normal(N, N),)),
    Program(lower_and_upper, (normal(N, N),), sizes=(4, 8, 16)),
)

REFUSED = (
    Refused("outside", lambda: ad.grad(lambda x, i: x[i] ** 2)(np.ones(20), 20), IndexOutOfBounds),
    Refused("outside_known", lambda: ad.jit(lambda x: x[7])(np.ones(5)), StaticIndexError),
    Refused("too_many", lambda: ad.jit(lambda x: x[0, 0])(np.ones(20)), TooManyIndices),
    Refused(
        "outside_by_array",
        lambda: ad.grad(lambda x, p: np.sum(x[p]))(np.ones(20), np.array([1, 99])),
        IndexOutOfBounds,
    ),
)
