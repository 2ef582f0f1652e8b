"""Programs of one vector for functions that write, edit, go over things or count; with the tables' keys."""

from __future__ import annotations

import functools
import itertools
import math
import operator
import statistics

import numpy as np

from tests.derivatives.selection_rows import Row


def into(x):
    out = np.zeros_like(x)
    np.multiply(x, x, out=out)
    np.sin(out, out=out[::-1], where=x > 0.0)
    return out, np.cumsum(x, out=np.zeros(len(x)))


def copied(x):
    y, z = x * 2.0, np.outer(x, x)
    np.copyto(y, x**2, where=x > 0.0)
    np.putmask(y, y > 1.0, -(x**3))
    np.fill_diagonal(z, x[:3])
    np.put_along_axis(z, np.argmax(z, axis=1, keepdims=True), x[:, None] ** 2, axis=1)
    return y, z


def methods(x):
    y, z = x**2, x * 1.0
    y.sort()
    z.partition(1)
    z[2:].fill(x[0] ** 2)
    return y * y, z[1], z[2:]


def by_name(x):
    y = x * 1.0
    operator.imul(operator.iadd(y, x), x)
    operator.setitem(y, 0, x[1] ** 2)
    return operator.truediv(y, operator.add(operator.pow(x, 2), 1.0)), operator.itemgetter(1)(y)


def gone_over(x):
    smooth = list(itertools.accumulate(x, lambda a, b: 0.5 * a + b * b))
    pairs = sum(a * b * b for a, b in itertools.pairwise(x))
    products = sum(a * b**2 for a, b in itertools.product(x, x[:3]))
    chained = functools.reduce(lambda a, b: 0.3 * a + b * b, itertools.chain(x, x[:2]), 1.0)
    return np.array(smooth), pairs, products, chained, sum(itertools.islice(x, 1, None, 2)) ** 2


def averages(x):
    y = x**2 + 0.5
    return (
        *(statistics.mean(x), statistics.fmean(x, y), statistics.median(x) ** 2, statistics.median_low(x)),
        *(
            statistics.median_high(x) ** 2,
            statistics.variance(x),
            statistics.stdev(y),
            statistics.pvariance(x),
        ),
        *(statistics.pstdev(y, 0.1), statistics.geometric_mean(y), statistics.harmonic_mean(y)),
    )


def counted(x):
    n = len(x) % 4
    whole = (
        math.factorial(n + 2) * math.comb(n + 3, 2) + math.perm(n + 2, 2) + math.gcd(n, 6) + math.lcm(n, 4)
    )
    return x**2 * whole * math.isqrt(n + 5)


def number_functions(x):
    return math.gamma(x[0] ** 2 + 0.5), math.modf(x[1] * 2.3)[0] ** 2


def holed(x):
    return np.where(x > 0.3, np.nan, x)


EDITING: list[Row] = [
    ((), into),
    ((np.copyto, np.putmask, np.fill_diagonal, np.put_along_axis), copied),
    (("fill", "sort", "partition"), methods),
    ((), by_name),
    ((), gone_over),
    (
        tuple(
            getattr(statistics, name)
            for name in (
                *("mean", "fmean", "median", "median_low", "median_high", "variance", "stdev", "pvariance"),
                *("pstdev", "geometric_mean", "harmonic_mean"),
            )
        ),
        averages,
    ),
    ((math.factorial, math.comb, math.perm, math.gcd, math.lcm, math.isqrt), counted),
    ((math.gamma, math.modf), number_functions),
    (np.nanvar, lambda x: (np.nanvar(holed(x)), np.nanvar(np.outer(x, x), axis=0, ddof=1))),
    (np.nanstd, lambda x: (np.nanstd(holed(x)), np.nanstd(np.outer(x, x), axis=1))),
    ((np.nancumsum, np.nancumprod), lambda x: (np.nancumsum(holed(x)) ** 2, np.nancumprod(holed(x)))),
    (
        (np.sum, np.mean, np.var),
        lambda x: (np.sum(x**2, where=x > 0), np.var(x, where=x > -1), np.mean(x**3)),
    ),
    (
        (np.array_equal, np.signbit),
        lambda x: x**2 * (1 + np.array_equal(x, x)) * np.where(np.signbit(x), 2, 1),
    ),
    ((np.divmod, np.modf), lambda x: (np.divmod(x, 0.7)[1] ** 2, np.modf(2.3 * x)[0] ** 2)),
    (np.tri, lambda x: np.tri(len(x)) @ x**2),
    (np.logspace, lambda x: np.logspace(x[0], 1.0, 4, base=2.0) * np.logspace(0.0, x[1], 4)),
    (
        (np.partition, np.argpartition),
        lambda x: (np.partition(x, 2)[2] ** 2, x[np.argpartition(x, 1)[1]] ** 3),
    ),
    (np.block, lambda x: np.block([[np.outer(x, x), x[:, None] ** 2], [x**3, 1.0]])),
    (np.ix_, lambda x: np.outer(x, x)[np.ix_([0, 2], [1, 1])]),
    (type(np.mgrid).__getitem__, lambda x: np.mgrid[0 : len(x), 0:3][0] * x[:3] * x[0]),
    (type(np.s_).__getitem__, lambda x: x[np.s_[1:]] * x[np.index_exp[:-1]]),
    (type(np.r_).__getitem__, lambda x: (np.r_[x**2, 1.0, x[:2]], np.c_[x, x**3])),
    (np.array_split, lambda x: tuple(part**2 for part in np.array_split(x, 3))),
    (
        np.delete,
        lambda x: (
            np.delete(x, 1) ** 2,
            np.sum(np.delete(x, [0, -1]) ** 3),
            np.sum(np.delete(x, x > 0) ** 2),
        ),
    ),
    (np.insert, lambda x: (np.insert(x, 1, x[:2] ** 2), np.insert(x**2, [0, 2], x[:2]))),
    (np.repeat, lambda x: np.prod(np.repeat(x**2 + 1.0, np.arange(len(x)) % 3))),
    (np.diff, lambda x: np.diff(x**2, prepend=x[0], append=x[:2])),
    (np.polyval, lambda x: (np.polyval(x[:4], x), np.polyval([1.0, 2.0, 3.0], x))),
    (np.polyder, lambda x: (np.polyder(x**2), np.polyder(x, 2))),
    (np.polyint, lambda x: np.polyint(x**2, 2, k=x[:2])),
    ((np.polyadd, np.polysub), lambda x: (np.polyadd(x**2, x[:3]), np.polysub(x[:2], x**2))),
    (np.polymul, lambda x: np.cumsum(np.polymul(x, x[:3]) ** 2)[-1]),
    ((np.vectorize, np.vectorize.__call__), lambda x: np.vectorize(lambda v: v**2 if v > 0 else -v)(x)),
    (np.apply_along_axis, lambda x: np.apply_along_axis(lambda r: r / (1.0 + r @ r), 1, np.outer(x, x))),
    (
        (np.cumulative_sum, np.cumulative_prod),
        lambda x: (
            np.cumulative_sum(x**2, include_initial=True),
            np.cumulative_prod(np.outer(x, x[:2]), axis=0),
        ),
    ),
    (
        (np.vecdot, np.linalg.vecdot, np.matvec, np.vecmat),
        lambda x: (
            *(np.vecdot(np.outer(x, x), x), np.linalg.vecdot(np.outer(x, x[:2]), x[:, None], axis=0)),
            *(np.matvec(np.outer(x[:3], x), x**2), np.vecmat(x, np.outer(x, x[:2]))),
        ),
    ),
    (
        (np.linalg.outer, np.linalg.matmul, np.linalg.tensordot, np.linalg.cross),
        lambda x: (
            *(np.linalg.outer(x, x[:2]), np.linalg.matmul(x, np.outer(x, x[:3]))),
            *(np.linalg.tensordot(np.outer(x, x), x, axes=1), np.linalg.cross(x[:3], np.sin(x[1:4]))),
        ),
    ),
    (
        (np.linalg.diagonal, np.linalg.trace, np.diagflat),
        lambda x: (
            *(np.linalg.diagonal(np.outer(x, x[:4]), offset=1), np.linalg.trace(np.outer(x, x))),
            np.diagflat(x**2, 1),
        ),
    ),
    (
        (np.linalg.tensorsolve, np.linalg.tensorinv),
        lambda x: (
            np.linalg.tensorsolve(
                np.outer(x[:4], x[:4]).reshape(2, 2, 4) + np.eye(4).reshape(2, 2, 4) * 9, x[:4].reshape(2, 2)
            ),
            np.linalg.tensorinv(np.outer(x[:4], x[:4]).reshape(2, 2, 4) + np.eye(4).reshape(2, 2, 4) * 9),
        ),
    ),
    (
        (np.linalg.vector_norm, np.linalg.matrix_norm),
        lambda x: (
            np.linalg.vector_norm(np.outer(x, x[:2]), ord=3),
            np.linalg.matrix_norm(np.outer(x, x**2)),
        ),
    ),
    (
        (np.rollaxis, np.matrix_transpose, np.linalg.matrix_transpose),
        lambda x: (
            np.rollaxis(np.outer(x, x**2), 1) * x,
            np.matrix_transpose(np.outer(x, x**2)) @ np.linalg.matrix_transpose(np.outer(x, x)),
        ),
    ),
    (
        (np.asfortranarray, np.astype),
        lambda x: np.asfortranarray(np.outer(x, x)).T @ x + np.astype(x**2, np.float64),
    ),
    (np.resize, lambda x: np.resize(x**2, (2, 9))),
    (np.fromfunction, lambda x: np.fromfunction(lambda i, j: x[0] * i + x[1] ** j, (2, 3))),
    (np.geomspace, lambda x: np.geomspace(x[0] ** 2 + 1.0, x[1] ** 2 + 3.0, 5)),
    (np.choose, lambda x: np.choose(np.arange(len(x)) % 2, [x**2, x[0]])),
    (
        np.nanmedian,
        lambda x: (
            np.nanmedian(holed(x)) ** 2,
            np.nanmedian(np.outer(x, x), axis=(0, 1)),
            np.median(x**2, (0,)),
        ),
    ),
    (
        (np.nanquantile, np.nanpercentile),
        lambda x: (
            np.nanquantile(holed(x), [0.2, 0.7], method="hazen"),
            np.nanpercentile(np.outer(x, x), 30, axis=0),
        ),
    ),
    (
        (np.quantile, np.percentile),
        lambda x: tuple(
            np.quantile(x**2, [0.15, 0.6], method=method)
            for method in ("lower", "higher", "nearest", "midpoint", "weibull", "averaged_inverted_cdf")
        ),
    ),
    (np.unwrap, lambda x: np.unwrap(9.0 * x) ** 2),
    (
        (np.add.reduceat, np.multiply.reduceat, np.maximum.reduceat),
        lambda x: (
            *(np.add.reduceat(x**2, [0, 2, 1]), np.multiply.reduceat(np.outer(x, x[:2]), [1, 3])),
            *(
                np.maximum.reduceat(x**2, [3, 0]),
                np.minimum.reduceat(np.outer(x, x), np.array([1, 2]), axis=1),
            ),
        ),
    ),
    (np.unstack, lambda x: np.unstack(np.stack([x, x**2]))),
    (
        (np.union1d, np.intersect1d, np.setdiff1d, np.setxor1d),
        lambda x: (
            np.sum(np.union1d(x, x[:2]) ** 2) + np.sum(np.intersect1d(x, x[1:]) ** 2),
            np.sum(np.setdiff1d(x, x[:2]) ** 3) + np.sum(np.setxor1d(x[1:], x[:3]) ** 2),
        ),
    ),
    (
        (np.poly, np.polydiv),
        lambda x: (
            np.poly(x[:4] ** 2),
            np.polydiv(x, x[:3] ** 2 + 1.0)[0],
            np.sum(np.polydiv(x, x[:3])[1] ** 2),
        ),
    ),
    (
        np.polyfit,
        lambda x: (
            np.polyfit(np.arange(len(x)) + 0.1 * x, np.sin(x), 2, w=x**2 + 1.0),
            *np.polyfit(np.arange(len(x)) + 0.1 * x, x**3, 1, cov=True),
        ),
    ),
    (
        np.histogram2d,
        lambda x: np.histogram2d(
            np.sin(np.arange(len(x))), np.arange(len(x)), (2, 3), weights=x**2, density=True
        ),
    ),
    ("tolist", lambda x: sum(v * v * k for k, v in enumerate(x.tolist()))),
]
