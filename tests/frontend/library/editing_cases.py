"""Cases of blocks, uneven parts, elements left out and put in, repeats; polynomials; functions on rows."""

from __future__ import annotations

import math

import numpy as np

from tests.frontend.library.staging import Case, case

RANDOM = np.random.default_rng(17)
X, M, SHORT = RANDOM.normal(size=20), RANDOM.normal(size=(20, 3)), RANDOM.normal(size=5)
N, PLACES = np.arange(20) % 3, np.array([0, 3, -1, 3])
P = RANDOM.normal(size=18)
ODD = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5, -2.5, -3.0])


def blocks(x, m):
    return (
        np.block([x, 2.0, x[:2]]),
        np.block([[m[:3], m[:3]], [m[3:6], np.ones((3, 3))]]),
        np.block([[1.0, x[0]], [x[1], 2]]),
        np.block(x),
        np.block([[x], [x]]),
        np.block([[[m]], [[m]]]),
    )


def by_index(x, m):
    r, c = np.r_.__getitem__, np.c_.__getitem__
    return (
        *(r((x, 1.0, x[:2])), r((0.0, slice(0, 3), x[0])), r((m, m)), r((slice(0, 1, 5j), x)), r(x)),
        *(c((x, x)), c((m, x)), c(x)),
    )


def grids(x, m):
    n, k = m.shape
    rows, columns = np.mgrid[0:n, 1 : k + 1]
    i, j, h = np.ogrid[0 : len(x), 2:7:2, 0:1:4j]
    return (
        *(rows * m, columns * m, np.mgrid[0:n] * m[:, 0], np.ogrid[1:n:2] * 2.0, np.mgrid[0:2, 0:1:3j]),
        *(i * x[0] + j * h, i.shape, np.r_[0 : len(x)] * x, np.c_[0:n, m]),
    )


def left_out(x, m):
    return (
        np.delete(x, 2),
        np.delete(x, -1),
        np.delete(x, [0, 3, -1, 0]),
        np.delete(x, slice(1, 4)),
        np.delete(x, slice(None, None, -2)),
        np.delete(x, x > 0),
        np.delete(m, 1, axis=0),
        np.delete(m, [0, 2], axis=1),
        np.delete(m, 1),
    )


def put_in(x, m):
    return (
        np.insert(x, 1, 5.0),
        np.insert(x, -1, [5.0, 6.0]),
        np.insert(x, len(x), 1),
        np.insert(x, [1, 3], [7.0, 8.0]),
        np.insert(x, [2, 0, 2], [7.0, 8.0, 9.0]),
        np.insert(x, slice(0, 4, 2), -1.0),
        np.insert(m, 1, 0.0, axis=0),
        np.insert(m, 1, m[:, 0], axis=1),
        np.insert(m, [1], m[:, :1], axis=1),
        np.insert(m, [0, 2], [1.0, 2.0, 3.0], axis=0),
        np.insert(m, 3, 5.0),
    )


def at_run_time(x, k, at):
    return (
        np.delete(x, k),
        np.delete(x, at),
        np.insert(x, k, 9.0),
        np.insert(x, at, 7.0),
        np.insert(x, at, at * 1.5),
    )


def meshes(m, at):
    return (
        m[np.ix_(at, [0, 2])],
        m[np.ix_(m[:, 0] > 0, [True, False, True])],
        *np.ix_(at, [0, 1]),
    )


def bounded(v, low):
    return v if v > low else low * 1.0


BOUNDED = np.vectorize(bounded)
TYPED = np.vectorize(lambda v: 1 if v > 0 else 2.5, otypes=[float])
BOTH = np.vectorize(lambda a, b: (a + b, a * b))
POWER = np.vectorize(lambda v, n: v**n, excluded=["n"])


def everywhere(x, m):
    return (
        BOUNDED(x, 0.1),
        BOUNDED(m, np.array([0.0, 1.0, 0.5])),
        BOUNDED(x[0], 0.3),
        np.vectorize(bounded)(x, -x),
        np.vectorize(math.sqrt)(abs(x)),
        TYPED(x),
        TYPED(x[:0]),
        *BOTH(x, 2),
        POWER(x, n=2),
        np.vectorize(lambda v: v > 0)(m),
        np.vectorize(lambda v: 2 * v)(m.astype(np.float32)),
    )


def on_rows(m):
    return (
        np.apply_along_axis(np.sum, 0, m),
        np.apply_along_axis(lambda r: r / np.sum(r), 1, m),
        np.apply_along_axis(lambda r, k: np.array([r[0], r[-1] * k]), 0, m, 3.0),
        np.apply_along_axis(np.sort, 0, m),
        np.apply_along_axis(lambda r: np.outer(r, r), 1, m),
        np.apply_along_axis(np.mean, 0, m[:, 0]),
        np.apply_along_axis(lambda r: r, 1, m),
    )


def polynomials(p, x):
    return (
        np.polyval(p, x),
        np.polyval([1, 2, 3], x),
        np.polyval(p[:3], 3),
        np.polyval(p, x[0]),
        np.polyval(x, p[:4]),
        np.polyval([1, 2], 3),
        np.polyval(p[:0], x),
        np.polyder(p),
        np.polyder(p[:4], 2),
        np.polyint(p),
        np.polyint(p[:3], 2, k=[1.0, 2.0]),
        np.polyadd(p, x[:4]),
        np.polysub(x[:3], p),
        np.polymul(p[:3], x[:4]),
    )


def roots_and_divisions(p, v):
    return (
        *(np.poly(p[:4]), np.poly(v), np.poly([v[0], 2])),
        *(np.polydiv(p, v), np.polydiv(v, p), np.polydiv(np.polymul(p[:3], v), v), np.polydiv(v, 2)),
        np.polydiv([1.0, 2.0, 3.0], v[:1]),
    )


def fits(x, y, w):
    both = np.stack([y, w], axis=1)
    return (
        *(
            np.polyfit(x, y, 3),
            np.polyfit(x, y, 0),
            np.polyfit(x, both, 2, w=w),
            np.polyfit([1, 2, 3], y[:3], 1),
        ),
        *(np.polyfit(x, y, 2, full=True), np.polyfit(x, both, 1, rcond=1e-3, full=True)[:4]),
        *(np.polyfit(x, y, 2, w=w, cov=True), np.polyfit(x, both, 1, cov=True)),
        *(np.polyfit(x, y, 1, cov="unscaled"), np.polyfit(x, both, 1, cov="unscaled")),
        *(np.polyfit(x * 0.0 + 1.0, y, 1), np.polyfit(x[:2], y[:2], 2)),
    )


def equality(x, m):
    other = np.concatenate([m[:1] * np.nan, m[1:]])
    return (
        np.array_equal(x, x),
        np.array_equal(x, x + 1),
        np.array_equal(x, N),
        np.array_equal(other, other),
        np.array_equal(other, other, equal_nan=True),
        np.array_equal(x[1:], x),
        np.array_equal(x, m),
        np.array_equal(x, x[:3]),
        np.array_equal(x[0], x[0]),
        np.array_equal(x[:0], x[:0]),
    )


def lists(x, n):
    a, b = x.tolist(), n.tolist()
    c = x[:3].tolist()
    c.append(2.0)
    rows = x[:4].reshape(2, 2).tolist()
    rows[0][1] = 5.0
    return (
        *(a[3] + b[2], len(a), a[-1], np.array(a), max(b), c[3] + c[0], np.array(rows), x[0].tolist()),
        *(x[:3].astype(np.float32) * x[0].tolist(), x.astype(np.float32) * a[0]),
    )


CASES: list[Case] = [
    *(
        case((np.poly, np.polydiv), roots_and_divisions, P, divisor)
        for divisor in (P[:2] + 3.0, np.array([2, 0, 1], np.int8), P[5:8].astype(np.float32))
    ),
    *(
        case(np.polyfit, fits, places, RANDOM.normal(size=9), RANDOM.uniform(0.5, 2.0, 9))
        for places in (np.linspace(-1.0, 2.0, 9), np.arange(9))
    ),
    case(np.block, blocks, X, M),
    case(type(np.s_).__getitem__, lambda x: (x[np.s_[1:]], x[np.index_exp[len(x) - 2 :]]), np.arange(5.0)),
    case(type(np.r_).__getitem__, by_index, X, M),
    case(type(np.mgrid).__getitem__, grids, X, M),
    case(
        np.array_split,
        lambda x, m: [*np.array_split(x, 3), *np.array_split(m, 7), *np.array_split(m, 2, 1)],
        X,
        M,
    ),
    case(np.array_split, lambda x: [*np.array_split(x, [2, 5]), *np.array_split(x[:2], 4)], X),
    *(case(np.delete, left_out, x, M) for x in (X, SHORT)),
    *(case(np.insert, put_in, x, M) for x in (X, SHORT)),
    *(case((np.delete, np.insert), at_run_time, x, 3, PLACES) for x in (X, SHORT)),
    case(np.insert, lambda x: (np.insert(x, 0, 1.0), np.insert(x, 0, x)), np.zeros(0)),
    case(np.delete, lambda x: np.delete(x, []), SHORT),
    case(np.ix_, meshes, M, np.array([1, 1, 4])),
    case(
        (np.repeat, "repeat"),
        lambda x, m, n: (
            *(
                np.repeat(x, n),
                np.repeat(x[:3], [1, 0, 2]),
                np.repeat([1, 2], 3),
                np.repeat([x[0], x[1]], [2, 1]),
            ),
            *(
                np.repeat(x, [2]),
                np.repeat(m, n, axis=0),
                np.repeat(m, [1, 0, 2], axis=1),
                m.repeat([1, 0, 2], 1),
            ),
        ),
        X,
        M,
        N,
    ),
    case((np.vectorize, np.vectorize.__call__), everywhere, X, M),
    case(np.vectorize, lambda n: (np.vectorize(lambda k: k * 2)(n), np.vectorize(lambda k: k / 2)(n)), N),
    case(np.apply_along_axis, on_rows, M),
    case(
        (np.polyval, np.polyder, np.polyint, np.polyadd, np.polysub, np.polymul),
        polynomials,
        P,
        X,
    ),
    case(np.array_equal, equality, X, M),
    case(
        np.diff,
        lambda x, m: (
            *(
                np.diff(x, prepend=0),
                np.diff(x, append=x[:2], prepend=[1.0, 2.0]),
                np.diff(m, n=2, append=5.0),
            ),
            *(np.diff(m, axis=0, prepend=m[:1]), np.diff(x, n=0, prepend=1)),
        ),
        X,
        M,
    ),
    case(
        (np.nanstd, np.nanvar, np.nancumsum, np.nancumprod),
        lambda m: (
            *(np.nanstd(m), np.nanvar(m, axis=0, ddof=1), np.nancumsum(m), np.nancumprod(m, axis=0)),
            *(np.nanstd(m, axis=1, keepdims=True), np.nanvar(m > 0), np.nancumsum(m > 0, axis=1)),
        ),
        np.where(M > 1.0, np.nan, M),
    ),
    case(
        (np.divmod, np.modf, np.signbit),
        lambda x, n, odd: (
            *(*np.divmod(x, 0.3), *np.divmod(n - 5, 3), *np.modf(odd), *np.modf(n)),
            *(np.signbit(odd), np.signbit(n - 2)),
        ),
        X,
        N,
        ODD,
    ),
    case(
        (np.tri, np.logspace),
        lambda x: (
            *(np.tri(4) * x[0], np.tri(len(x), 5, 1, int), np.logspace(x[0], 2, 7)),
            np.logspace(0, x[1], 5, base=2.0, endpoint=False),
        ),
        X,
    ),
    case("tolist", lists, X, N),
]
