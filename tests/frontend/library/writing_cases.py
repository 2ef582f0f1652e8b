"""Cases of results that are written into arrays: `out=`, `where=`, functions that write in place."""

from __future__ import annotations

import operator

import numpy as np

from tests.frontend.library.staging import Case, case

RANDOM = np.random.default_rng(16)
X, Y, M = RANDOM.normal(size=20), RANDOM.normal(size=20), RANDOM.normal(size=(20, 3))
N = np.arange(20)


def universal(x, y, m):
    o = np.zeros(20)
    first = np.add(x, y, out=o)
    np.multiply(o, 2.0, o)
    np.exp(o, out=(o,))
    divided = np.divide(x, y, out=np.zeros(20), where=y > 0)
    masked = m.copy()
    np.add(masked, x[:, None], out=masked, where=masked > 0)
    wide = np.zeros((4, 20))
    np.subtract(x, 1, out=wide)
    part = np.zeros(30)
    np.sqrt(np.abs(x), out=part[5:25])
    turned = m.copy()
    np.negative(turned, out=turned[::-1])
    narrow = np.zeros(20, np.float32)
    np.add(x, 1, out=narrow)
    whole = np.zeros(20, int)
    np.multiply(x, 9, out=whole, casting="unsafe")
    product = np.empty((3, 3))
    np.matmul(m.T, m, out=product)
    return first is o, o, divided, masked, wide, part, turned, narrow, whole, product


def reductions(x, m):
    sums, prefixes, product, joined = np.empty(3), np.zeros(20), np.zeros((3, 3)), np.zeros((40, 3))
    found = np.sum(m, axis=0, out=sums)
    np.cumsum(x, out=prefixes)
    np.dot(m.T, m, out=product)
    np.concatenate([m, m], out=joined)
    clipped = m.copy()
    clipped.clip(-0.5, 0.5, out=clipped)
    places = np.zeros(3, int)
    m.argmax(axis=0, out=places)
    means = np.zeros((20, 1))
    np.mean(m, axis=1, keepdims=True, out=means)
    return found is sums, sums, prefixes, product, joined, clipped, places, means


def writing(x, m, n):
    zeros = np.zeros((20, 3))
    np.copyto(zeros, m)
    np.copyto(zeros, 0, where=m < 0)
    counts = n.copy()
    np.copyto(counts, 7, where=n > 9)
    filled, matrix = x.copy(), m.copy()
    filled.fill(3)
    matrix[1:3].fill(x[0])
    ordered, columns = x.copy(), m.copy()
    ordered.sort()
    columns.sort(axis=0)
    columns[3:9].sort()
    masked = x.copy()
    np.putmask(masked, x > 0, -x)
    np.putmask(masked, n > 15, 1.5)
    return zeros, counts, filled, matrix, ordered, columns, masked


def diagonals(m, x):
    square, tall, cube, values = np.ones((3, 3)), m.copy(), np.zeros((2, 2, 2)), np.zeros((3, 3))
    np.fill_diagonal(square, 7.0)
    np.fill_diagonal(tall, x[:3])
    np.fill_diagonal(cube, x[0])
    np.fill_diagonal(values.T[::-1], [1, 2, 3])
    placed = m.copy()
    np.put_along_axis(placed, np.argmax(m, axis=1)[:, None], 0.0, axis=1)
    np.put_along_axis(placed, np.array([[1], [2]])[:, [0, 0, 0]], m[:2], axis=0)
    return square, tall, cube, values, placed


def complex_writing(x):
    z = x + 1j * x[::-1]
    o = np.zeros(20, complex)
    np.multiply(z, z, out=o)
    np.copyto(o, 1.0, where=x > 0)
    np.add(o, x, out=o)
    filled = z.copy()
    filled.fill(2j)
    sums = np.zeros(1, complex)
    np.sum(z, keepdims=True, out=sums)
    np.cos(x, out=z.imag)
    counted = np.sum(z, initial=1.0, where=x > 0), np.mean(z, where=x > 0)
    return o, filled, sums, z, counted, np.diff(z, prepend=1.0, append=z[:2])


def partitions(x, m):
    part = x.copy()
    part.partition(3)
    return (
        np.partition(x, 4)[4],
        np.sort(np.argpartition(x, 4)[:4]),
        np.partition(m, (0, 2), axis=1)[:, 2],
        np.partition(m, -1, axis=None)[-1],
        part[3],
    )


def in_place(x):
    a = x.copy()
    b = operator.iadd(a, 2.0)
    operator.imul(a, x)
    c = operator.isub(x[0], 1.0)
    operator.itruediv(a[3:], 2.0)
    return a, b, b is a, c


CASES: list[Case] = [
    case((np.add, np.divide, np.exp), universal, X, Y, M),
    case((np.sum, np.cumsum, np.clip), reductions, X, M),
    case((np.copyto, np.putmask, "fill", "sort"), writing, X, M, N),
    case((np.fill_diagonal, np.put_along_axis), diagonals, M, X),
    case(np.copyto, complex_writing, X),
    case((np.partition, np.argpartition, "partition"), partitions, X, M),
    case(
        (operator.iadd, operator.imul, operator.isub, operator.itruediv),
        in_place,
        X,
    ),
    case(np.add, lambda x: np.add(x, 1, out=x * 0), np.zeros(0)),
]
