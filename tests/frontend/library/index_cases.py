"""Cases of indices, of choices by an index, and of what is asked of whole arrays."""

from __future__ import annotations

import numpy as np

from tests.frontend.library.staging import Case, case

RANDOM = np.random.default_rng(23)
X, LINE = RANDOM.normal(size=(4, 3)), RANDOM.normal(size=5)
F, WHOLE = X.astype(np.float32), RANDOM.integers(-4, 4, (4, 3))
ODD = np.array([np.inf, -np.inf, np.nan, 0.0, 2.0])
PLACES, TABLE = np.array([0, 5, 11, 7]), np.array([[1, 2], [3, 0]], np.uint8)
STEPS = np.array([-1, 2, 5])

INDICES: list[Case] = [
    *(
        case(
            (np.tril_indices, np.triu_indices),
            lambda x, k=k, m=m: (*np.tril_indices(len(x), k, m), *np.triu_indices(len(x), k, m)),
            LINE,
        )
        for k, m in ((0, None), (1, 2), (-2, 8), (9, 3))
    ),
    case(
        (np.tril_indices_from, np.triu_indices_from),
        lambda x: (*np.tril_indices_from(x), *np.triu_indices_from(x, 1), *np.triu_indices_from(x.T, k=-1)),
        X,
    ),
    case(
        (np.diag_indices, np.diag_indices_from),
        lambda x: (*np.diag_indices(len(x), 3), *np.diag_indices(len(x)), *np.diag_indices_from(x)),
        X[:3],
    ),
    case(np.indices, lambda x: (np.indices(x.shape), np.indices((len(x),), float), np.indices((2, 0, 3))), X),
    case(
        np.fromfunction,
        lambda x: (
            np.fromfunction(lambda i, j: x[0] * i + j * x[1], (3, len(x))),
            np.fromfunction(lambda i, scale: x[i] * scale, (len(x),), dtype=int, scale=x[0]),
        ),
        LINE,
    ),
    case(
        np.unravel_index,
        lambda i: (
            *np.unravel_index(i, (3, 4)),
            *np.unravel_index(i, (2, 3, 2), order="F"),
            *np.unravel_index(i[0], 12),
        ),
        PLACES,
    ),
    case(np.unravel_index, lambda i: np.unravel_index(i, (2, 2)), TABLE),
    *(
        case(
            np.ravel_multi_index,
            lambda i, mode=mode: (
                np.ravel_multi_index((i, 2), (6, 4), mode),
                np.ravel_multi_index([i, i[:, None]], (3, 2), mode=mode, order="F"),
            ),
            STEPS,
        )
        for mode in ("wrap", "clip", ("clip", "wrap"))
    ),
    case(np.ravel_multi_index, lambda i: np.ravel_multi_index(i, (4, 4)), TABLE),
    *(
        case(
            np.choose,
            lambda i, x, mode=mode: (
                np.choose(i, [x, x[0], 1.0], mode=mode),
                np.choose(i[0], (x, 2), mode=mode),
            ),
            *(STEPS, F),
        )
        for mode in ("wrap", "clip")
    ),
    case(
        np.choose,
        lambda i, x: (
            np.choose(i[:, 0][:, None], np.stack([x[0], x[1], x[2], x[3]])),
            np.choose(i, [x[0, :2], np.arange(2)] * 2),
        ),
        TABLE,
        X,
    ),
    case(
        np.lexsort,
        lambda a, b: (
            *(np.lexsort((a, b)), np.lexsort([b, a, b])),
            np.lexsort((np.stack([a, b]), np.stack([b, a])), 0),
        ),
        *(np.array([2.0, np.nan, 1.0, 2.0, 0.0]), np.array([1, 0, 1, 1, 0], np.int8)),
    ),
    case(
        np.unstack,
        lambda x: (*np.unstack(np.stack([x, x * 2])), *np.unstack(np.stack([x, x], 2), axis=-1)),
        X,
    ),
]

SETS: list[Case] = [
    *(
        case(
            (np.union1d, np.intersect1d, np.setdiff1d, np.setxor1d),
            lambda x, y: (
                *(np.union1d(x, y), np.intersect1d(x, y), np.setdiff1d(x, y), np.setxor1d(x, y)),
                *(np.setdiff1d(x, y, assume_unique=True), np.union1d([x, x], [1, 2])),
                *(np.intersect1d(np.unique(x), np.unique(y), True), np.setxor1d(x[:0], y[:0])),
            ),
            *pair,
        )
        for pair in (
            (np.array([3.0, 1.0, 2.0, 1.0, np.nan]), np.array([1.0, 2.0, 2.0, np.nan])),
            (np.array([3, 1, 1], np.int8), np.array([9, 1])),
            (LINE.astype(np.float32), LINE[:2]),
            (np.array([True, False]), np.array([True, True])),
        )
    ),
]

ASKED: list[Case] = [
    *(
        case(
            (np.isposinf, np.isneginf, np.isreal, np.iscomplex),
            lambda x: (np.isposinf(x), np.isneginf(x), np.isreal(x), np.iscomplex(x), np.isneginf(x[0])),
            operand,
        )
        for operand in (ODD, ODD.astype(np.float32), WHOLE, WHOLE > 0)
    ),
    *(
        case(np.array_equiv, lambda x, y: np.array_equiv(x, y), *pair)
        for pair in (
            *((X, X), (X, X[0]), (np.ones((4, 1)), np.ones((1, 4))), (np.ones((4, 3)), np.ones(3, int))),
            *((np.ones((4, 3)), np.ones(4)), (np.zeros((0, 3)), X[0]), (2.0, np.full((2, 2), 2))),
        )
    ),
    case(
        np.result_type,
        lambda x, n: (np.ones(2, np.result_type(x, n)), np.ones(2, np.result_type(x, 1.0, np.int8))),
        *(F, 3),
    ),
    *(
        case(
            np.geomspace,
            lambda a, b: (
                np.geomspace(a, b, 5),
                np.geomspace(a, b, 4, endpoint=False),
                np.geomspace(b, a, 1),
            ),
            *ends,
        )
        for ends in ((1.0, 1000.0), (-2.0, -0.5), (np.float32(3.0), 8))
    ),
    case(np.geomspace, lambda a, n: (np.geomspace(1, a, n), np.geomspace(a, 2, 3, dtype=np.float32)), 9.0, 4),
    case(np.not_equal, lambda n: (np.not_equal(n, 0), np.less(n, n), np.equal(n, 3)), 3),
]

CASES = [*INDICES, *SETS, *ASKED]
