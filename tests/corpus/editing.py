"""Arrays put together and taken apart at places, polynomials, functions at every place or row."""

from __future__ import annotations

import itertools

import numpy as np

import anadrome as ad
from anadrome.errors.frontend import UnsupportedArgument
from tests.corpus.draw import N, indices, normal, positive
from tests.corpus.harness import Program, Refused


def blocks(a, x):
    whole = np.block([[a, 2.0 * a], [np.ones((2, 6))]])
    row = np.r_[x, 1.0, x[:2] ** 2]
    columns = np.c_[x, x**2]
    return np.sum(whole**2) + np.sum(row * np.arange(len(row))) + np.sum(columns[:, 0] * columns[:, 1])


def left_out(x, places):
    return np.sum(np.delete(x, places) ** 2) + np.sum(np.delete(x, 1) * 3.0) + np.sum(np.delete(x, x > 0.5))


def put_in(x, y, places):
    one = np.insert(x, 2, y[:3])
    several = np.insert(x, places, y[: len(places)])
    return np.sum(one**2) + np.sum(several * np.arange(len(several))) / len(several)


def repeated(x, counts):
    return np.sum(np.repeat(x, counts) ** 2) + np.sum(np.repeat(x[:3], [2, 0, 1]) ** 3)


def uneven_parts(x):
    parts = np.array_split(x, 3)
    return sum(np.prod(part) * (k + 1) for k, part in enumerate(parts))


def chosen_by_mesh(a, places):
    return np.sum(a[np.ix_(places, [0, 2])] ** 2)


def polynomial(p, x):
    slope, integral = np.polyder(p), np.polyint(p, 2, k=[1.0, 2.0])
    product = np.polymul(p[:3], np.polyadd(p[:2], x[:4]))
    return (
        np.sum(np.polyval(p, x) * np.polyval(slope, x))
        + np.sum(np.polyval(integral, x[:3]))
        + np.sum(product)
    )


def bounded(v, low):
    return v**2 if v > low else np.exp(v) * low


def at_every_place(x):
    return np.sum(np.vectorize(bounded)(x, 0.3)) + np.sum(np.vectorize(lambda v, w: v * w)(x, x[:, None]))


def on_every_row(a):
    shares = np.apply_along_axis(lambda r: r / np.sum(r), 1, a)
    return np.sum(shares**2) + np.sum(np.apply_along_axis(np.median, 0, a))


def differences(x):
    longer = np.diff(x, prepend=0.0, append=x[:2])
    return np.sum(longer**2) + np.sum(np.modf(x * 2.3)[0] ** 2) + np.sum(np.divmod(x, 0.7)[1] ** 2)


def without_nan(x):
    holed = np.where(x > 1.0, np.nan, x)
    return np.nanvar(holed) + np.nanstd(holed) + np.sum(np.nancumsum(holed) ** 2) / len(x)


def partitioned(x):
    return np.partition(x, 2)[2] ** 2 + np.sum(x[np.argpartition(x, 3)[:4]] ** 3)


def as_lists(x):
    values = x.tolist()
    values.append(2.0)
    return sum(v * w for v, w in itertools.pairwise(values))


PROGRAMS = (
    Program(blocks, (normal(N, 3), normal(N))),
    Program(left_out, (normal(N), indices(2, below=N))),
    Program(put_in, (normal(N), normal(N), indices(3, below=N))),
    Program(repeated, (normal(N), indices(N, below=4))),
    Program(uneven_parts, (positive(N),)),
    Program(chosen_by_mesh, (normal(N, 3), indices(2, below=N))),
    Program(polynomial, (normal(5), normal(N)), sizes=(64, 128, 256)),
    Program(at_every_place, (normal(N),), sizes=(4, 8, 16)),
    Program(on_every_row, (positive(N, 4),)),
    Program(differences, (normal(N),)),
    Program(without_nan, (normal(N),)),
    Program(partitioned, (normal(N),)),
    Program(as_lists, (normal(N),)),
)

REFUSED = (
    Refused(
        "results of two types",
        lambda: ad.grad(lambda x: np.sum(np.vectorize(lambda v: max(0, v))(x)))(np.ones(20)),
        UnsupportedArgument,
    ),
)
