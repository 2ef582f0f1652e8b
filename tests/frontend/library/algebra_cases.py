"""Cases of contractions and linear algebra."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from tests.frontend.library.staging import Case, case

RANDOM = np.random.default_rng(9)


def drawn(*shape: int) -> Any:
    """Numbers of a shape."""
    return RANDOM.normal(size=shape)


A, B = drawn(4, 3), drawn(3, 5)
U, V, W = drawn(3), drawn(3), drawn(4)
SQUARE = drawn(3, 3) + 3 * np.eye(3)
POSITIVE = SQUARE @ SQUARE.T
BATCH = drawn(2, 4, 3)
WHOLE = RANDOM.integers(-4, 4, (4, 3))
LARGE = drawn(18, 20)


def einsum(subscripts: str) -> Callable[..., Any]:
    """np.einsum of these subscripts, as a program of its own."""
    return lambda *operands: np.einsum(subscripts, *operands)


CASES: list[Case] = [
    *(
        case((np.vecdot, np.linalg.vecdot), lambda x, y: (np.vecdot(x, y), np.linalg.vecdot(x, y)), *pair)
        for pair in ((A, U), (BATCH, A), (A.astype(np.float32), U), (WHOLE, U), (U, V), (WHOLE > 0, A > 0))
    ),
    case(np.vecdot, lambda x, y: (np.vecdot(x, y, axis=0), np.vecdot(x, x, axis=-2)), A, drawn(4, 1)),
    *(case(np.matvec, lambda x, y: np.matvec(x, y), *pair) for pair in ((A, U), (BATCH, U), (WHOLE, A))),
    *(case(np.vecmat, lambda x, y: np.vecmat(x, y), *pair) for pair in ((W, A), (W, BATCH), (A, B))),
    case(
        (np.linalg.outer, np.linalg.matmul, np.linalg.tensordot),
        lambda x, y: (np.linalg.outer(x, x), np.linalg.matmul(y, x), np.linalg.tensordot(y, x, axes=1)),
        *(U, A),
    ),
    case(
        np.linalg.cross,
        lambda x, y: (np.linalg.cross(x, y), np.linalg.cross(x.T, y[:, None], axis=0)),
        *(A, U),
    ),
    *(
        case(
            (np.linalg.diagonal, np.linalg.trace),
            lambda x, k=k: (np.linalg.diagonal(x, offset=k), np.linalg.trace(x, offset=k)),
            operand,
        )
        for operand, k in ((BATCH, 0), (BATCH, -1), (WHOLE.astype(np.int8), 1))
    ),
    case(np.diagflat, lambda x: (np.diagflat(x), np.diagflat(x[0, 0], -2), np.diagflat(x[0], 1)), WHOLE),
    *(
        case(
            (
                np.vecdot,
                np.matvec,
                np.vecmat,
                np.linalg.vecdot,
                np.linalg.outer,
                np.linalg.cross,
                np.rollaxis,
            ),
            lambda x, y: (
                *(np.vecdot(x * 1j, y - 2j * x), np.vecdot(x, x + 1j * y, axis=0), np.matvec(x + 1j, y[0])),
                *(np.vecmat(x[:, 0] - 1j, y), np.linalg.vecdot(x, y * 1j), np.linalg.outer(x[0] + 1j, y[1])),
                *(np.linalg.cross(x + 1j, y), np.rollaxis(x + 1j * y, 1), np.matrix_transpose(x * 1j) @ y),
                *(np.linalg.matmul(x.T + 1j, y), np.linalg.tensordot(x * 1j, y, axes=2), np.diagflat(x * 1j)),
                *(np.resize(x * 1j + y, (3, 7)), np.linalg.matrix_norm(x + 1j * y, ord=1)),
                *(np.linalg.matrix_rank(x + 1j * y), np.linalg.trace(x + 1j * y), np.iscomplex(x * 1j)),
            ),
            *pair,
        )
        for pair in ((drawn(4, 3), drawn(4, 3)), (WHOLE, A))
    ),
    case(
        np.linalg.tensorsolve,
        lambda x, y: (np.linalg.tensorsolve(x, y), np.linalg.tensorsolve(np.moveaxis(x, 2, 0), y, axes=(0,))),
        *(drawn(2, 3, 6), drawn(2, 3)),
    ),
    case(
        np.linalg.tensorinv,
        lambda x: (np.linalg.tensorinv(x), np.linalg.tensorinv(x[0, :2, :2], 1)),
        drawn(2, 3, 6),
    ),
    *(
        case(
            np.linalg.vector_norm,
            lambda x, order=order: (
                np.linalg.vector_norm(x, ord=order),
                np.linalg.vector_norm(x, axis=(0, -1), ord=order, keepdims=True),
                np.linalg.vector_norm(x[0, 0, 0], ord=order),
            ),
            BATCH,
        )
        for order in (2, 1, 0, 3.5, np.inf, -np.inf)
    ),
    *(
        case(
            np.linalg.matrix_norm,
            lambda x, order=order: (
                np.linalg.matrix_norm(x, ord=order, keepdims=True),
                np.linalg.norm(x[0], order),
            ),
            operand,
        )
        for order in ("fro", "nuc", 1, 2, -np.inf)
        for operand in (BATCH, np.stack([WHOLE, WHOLE + 1]).astype(np.int8))
    ),
    *(
        case(
            np.linalg.matrix_rank,
            lambda x: (
                np.linalg.matrix_rank(x),
                np.linalg.matrix_rank(x, 2.0),
                np.linalg.matrix_rank(np.stack([x, x * 0.0]), rtol=np.array([0.9, 0.1])),
                np.linalg.matrix_rank(x[0] * 0),
                np.linalg.matrix_rank(x[0, 0]),
            ),
            operand,
        )
        for operand in (np.outer(W, U), A.astype(np.float32), WHOLE)
    ),
    *(
        case(np.matmul, lambda x, y: x @ y, *pair)
        for pair in ((A, B), (A, U), (W, A), (U, V), (BATCH, B), (A, drawn(6, 3, 2)))
    ),
    *(
        case(np.matmul, lambda x, y: np.matmul(x, y), *pair)
        for pair in ((BATCH, drawn(2, 3, 2)), (BATCH, U), (W, BATCH))
    ),
    *(
        case(np.matmul, lambda x, y: x @ y, *pair)
        for pair in ((LARGE, LARGE.T), (WHOLE, WHOLE.T.astype(np.int32)))
    ),
    case(np.matmul, lambda x, y: x @ y, np.zeros((1, 2, 18, 20)), drawn(3, 1, 20, 17)),
    case(np.matmul, lambda x, y: x @ y, A.astype(np.float32), B),
    case(np.matmul, lambda x, y: x @ y, A > 0, B > 0),
    case(np.matmul, lambda x, y: x @ y, np.zeros((3, 0)), np.zeros((0, 2))),
    *(
        case(np.dot, lambda x, y: np.dot(x, y), *pair)
        for pair in ((A, B), (A, U), (W, A), (U, V), (BATCH, B), (BATCH, drawn(2, 3, 5)))
    ),
    case(np.dot, lambda x, y: np.dot(x, y), 2.5, A),
    case("dot", lambda x, y: x.dot(y), A, B),
    *(case(np.inner, lambda x, y: np.inner(x, y), *pair) for pair in ((U, V), (A, U), (A, drawn(5, 3)))),
    *(case(np.outer, lambda x, y: np.outer(x, y), *pair) for pair in ((U, W), (A, B))),
    *(case(np.vdot, lambda x, y: np.vdot(x, y), *pair) for pair in ((U, V), (A, drawn(4, 3)))),
    case(np.tensordot, lambda x, y: np.tensordot(x, y), A, drawn(4, 3, 2)),
    case(np.tensordot, lambda x, y: (np.tensordot(x, y, 1), np.tensordot(x, y, 0)), A, B),
    case(np.tensordot, lambda x, y: np.tensordot(x, y, axes=([1, 0], [0, 1])), A, drawn(3, 4, 2)),
    case(np.tensordot, lambda x, y: np.tensordot(x, y, axes=(1, 0)), A, B),
    *(
        case(np.einsum, einsum(s), A, B)
        for s in ("ij,jk->ik", "ij,jk", "ij,jk->ki", "ij,jk->", "ij,jk->j", "ij,jk->ijk", "ab,bc->ba")
    ),
    *(
        case(np.einsum, einsum(s), LARGE, LARGE)
        for s in ("ij,ik->jk", "ij,kj->ik", "ij,kj->ki", "ij,ik->kj", "ij,ij->i", "ij,ij->")
    ),
    *(case(np.einsum, einsum(s), SQUARE) for s in ("ii", "ii->i", "ij->ji", "ij->", "ij->j", "ba")),
    *(
        case(np.einsum, einsum(s), BATCH, drawn(2, 3, 2))
        for s in ("...ij,...jk->...ik", "bij,bjk->bik", "bij,bjk->b", "...ij,...jk")
    ),
    case(np.einsum, einsum("i,ij,j->"), W, A, U),
    case(np.einsum, einsum("i,i,i->i"), U, V, U),
    case(np.einsum, einsum("ij,j->i"), WHOLE.astype(np.int32), U.astype(np.int32)),
    case(np.einsum, einsum("...,i->...i"), A, U),
    *(
        case(np.linalg.norm, lambda x: np.linalg.norm(x), x)
        for x in (U, A, BATCH, WHOLE, U.astype(np.float32))
    ),
    *(
        case(np.linalg.norm, lambda x, o=o: np.linalg.norm(x, o), U)
        for o in (1, 2, 3, 0, np.inf, -np.inf, 2.5)
    ),
    *(
        case(np.linalg.norm, lambda x, o=o: np.linalg.norm(x, ord=o), A)
        for o in ("fro", 1, -1, np.inf, -np.inf)
    ),
    case(
        np.linalg.norm, lambda x: (np.linalg.norm(x, axis=1), np.linalg.norm(x, 1, axis=0, keepdims=True)), A
    ),
    case(np.linalg.norm, lambda x: (np.linalg.norm(x, axis=(1, 2)), np.linalg.norm(x, keepdims=True)), BATCH),
    case(np.linalg.norm, lambda x: np.linalg.norm(x, 1, keepdims=True), A),
    *(
        case(np.linalg.solve, lambda x, y: np.linalg.solve(x, y), *pair)
        for pair in ((SQUARE, U), (SQUARE, B))
    ),
    case(
        np.linalg.solve, lambda x, y: np.linalg.solve(x, y), SQUARE.astype(np.float32), U.astype(np.float32)
    ),
    case(np.linalg.solve, lambda x, y: np.linalg.solve(x, y), np.stack([SQUARE, POSITIVE]), np.stack([B, B])),
    *(
        case(f, lambda x, f=f: f(x), x)
        for f in (np.linalg.inv, np.linalg.det, np.linalg.cholesky)
        for x in (POSITIVE, np.stack([POSITIVE, POSITIVE + np.eye(3)]))
    ),
    *(
        case(f, lambda x, f=f: tuple(f(x)), x)
        for f in (np.linalg.slogdet, np.linalg.qr, np.linalg.eigh)
        for x in (POSITIVE, np.stack([POSITIVE, POSITIVE + np.eye(3)]), POSITIVE.astype(np.float32))
    ),
    case(np.linalg.qr, lambda x: (np.linalg.qr(x, mode="r"), np.linalg.qr(x.T).Q), A),
    *(
        case(np.linalg.pinv, lambda x: (np.linalg.pinv(x), np.linalg.pinv(x.T, rtol=None)), x)
        for x in (A, SQUARE, np.ones((4, 3)), np.zeros((2, 3)), A.astype(np.float32))
    ),
    *(
        case(
            np.linalg.norm,
            lambda x, o=o: (
                np.linalg.norm(x[1], o),
                np.linalg.norm(x, o, axis=(2, 0)),
                np.linalg.norm(x, o, axis=(0, -2), keepdims=True),
            ),
            BATCH,
        )
        for o in ("fro", "f", "nuc", 2, -2, 1, -1, np.inf, -np.inf)
    ),
    *(
        case(np.linalg.cond, lambda x, p=p: np.linalg.cond(x, p), x)
        for p in (None, 2, -2, "fro", 1, -1, np.inf, -np.inf)
        for x in (
            *(SQUARE, POSITIVE.astype(np.float32), np.zeros((3, 3)), np.diag([1.0, 0.0, 2.0])),
            np.stack([SQUARE, np.diag([1.0, 0.0, 2.0])]),
        )
    ),
    case(np.linalg.cond, lambda x: np.linalg.cond(x), A),
    *(
        case(
            np.linalg.multi_dot,
            lambda *parts: np.linalg.multi_dot(parts),
            *(drawn(*shape) for shape in shapes),
        )
        for shapes in (
            ((3, 4), (4, 5)),
            ((3, 4), (4, 5), (5, 2)),
            ((9, 4), (4, 12), (12, 2)),
            ((4,), (4, 5), (5, 2)),
            ((3, 4), (4, 5), (5,)),
            ((4,), (4, 5), (5,)),
            ((4,), (4,)),
            ((8, 3), (3, 10), (10, 5), (5, 2), (2, 7)),
        )
    ),
    case(np.linalg.multi_dot, lambda x: np.linalg.multi_dot([x, x.T, x]), WHOLE),
    case(
        np.linalg.lstsq,
        lambda x, y, r: (*np.linalg.lstsq(x, y, r), *np.linalg.lstsq(x, y, -r), np.linalg.pinv(x, r)),
        *(A, W, 0.5),
    ),
    *(
        case(np.linalg.lstsq, lambda x, y, r=r: np.linalg.lstsq(x, y, r), x, y)
        for x, y, r in (
            (A, W, None),
            (A, drawn(4, 2), None),
            (A.T, drawn(3, 2), None),
            (SQUARE, U, -1),
            (drawn(18, 16), drawn(18, 2), 0.2),
            (np.ones((5, 3)), drawn(5, 2), None),
            (np.zeros((2, 3)), drawn(2), None),
            (np.zeros((4, 3)), drawn(4), None),
            (A.astype(np.float32), W.astype(np.float32), None),
            (WHOLE, W, None),
            (drawn(5, 3), np.zeros((5, 0)), None),
        )
    ),
    *(
        case(scipy.linalg.expm, lambda x: scipy.linalg.expm(x), x)
        for x in (
            *(SQUARE, 0.01 * A[:3], 4.0 * SQUARE, np.zeros((3, 3)), np.array([[1, 2], [0, -1]])),
            *(np.stack([SQUARE, -POSITIVE]), np.array([[1.0, 1e6], [0.0, -1.0]]), np.zeros((0, 0))),
            *(np.array([[-3.5]]), SQUARE.astype(np.float32), drawn(18, 18)),
        )
    ),
    *(
        case(scipy.linalg.cholesky, lambda x, lo=lo: scipy.linalg.cholesky(x, lower=lo), x)
        for lo in (True, False)
        for x in (POSITIVE, (np.tril if lo else np.triu)(POSITIVE), POSITIVE.astype(np.float32))
    ),
    *(
        case(np.linalg.cholesky, lambda x, up=up: np.linalg.cholesky(x, upper=up), x)
        for up in (True, False)
        for x in (
            POSITIVE,
            (np.triu if up else np.tril)(POSITIVE),
            np.stack([POSITIVE, POSITIVE + np.eye(3)]),
        )
    ),
    case(np.linalg.pinv, lambda x: np.linalg.pinv(x, 0.9), SQUARE),
    case(np.linalg.pinv, lambda x: np.linalg.pinv(x), np.stack([SQUARE, np.ones((3, 3))])),
    *(
        case(
            (np.linalg.eigh, np.linalg.eigvalsh),
            lambda x, u=u: (*np.linalg.eigh(x, u), np.linalg.eigvalsh(x, UPLO=u)),
            x,
        )
        for u in ("L", "U", "l", "u")
        for x in (SQUARE, np.stack([SQUARE, SQUARE.T]), drawn(9, 9))
    ),
    case(np.linalg.eigvalsh, lambda x: np.linalg.eigvalsh(x), SQUARE),
    case(np.linalg.svd, lambda x: tuple(np.linalg.svd(x, full_matrices=False)), A),
    case(np.linalg.svd, lambda x: (np.linalg.svd(x).S, np.linalg.svd(x.T @ x, compute_uv=False)), SQUARE),
    case(np.linalg.svdvals, lambda x: np.linalg.svdvals(x), A),
    case(np.linalg.det, lambda x: np.linalg.det(x), np.array([[2, 1], [0, 3]])),
    *(case(np.trace, lambda x, k=k: np.trace(x, k), A) for k in (0, 1, -2, 7)),
    case((np.trace, "trace"), lambda x: (x.trace(), np.trace(x > 0)), A),
    *(case(np.diag, lambda x, k=k: np.diag(x, k), x) for k in (0, 1, -2) for x in (U, A, SQUARE)),
    case(
        (np.diagonal, "diagonal"), lambda x: (np.diagonal(x), x.diagonal(1), np.diagonal(x, 0, 1, 2)), BATCH
    ),
    *(case(f, lambda x, f=f, k=k: f(x, k), A) for f in (np.tril, np.triu) for k in (0, 1, -1)),
    case(np.tril, lambda x: np.tril(x), np.full((3, 3), np.nan)),
    case(
        (np.eye, np.identity),
        lambda x: (np.eye(len(x)), np.eye(len(x), 7, k=1), np.identity(x.shape[1], dtype=int)),
        A,
    ),
    case(np.cross, lambda x, y: np.cross(x, y), np.ones((5, 3)), RANDOM.normal(size=(5, 3))),
    case(np.cross, lambda x, y: np.cross(x[:3], y[:3]), drawn(4), drawn(4)),
    *(
        case(np.linalg.matrix_power, lambda x, n=n: np.linalg.matrix_power(x, n), x)
        for n in (-3, -1, 0, 1, 2, 7)
        for x in (POSITIVE, np.stack([POSITIVE, POSITIVE + np.eye(3)]))
    ),
    case(np.linalg.matrix_power, lambda x: np.linalg.matrix_power(x, 5), np.array([[2, 1], [0, 3]])),
    *(
        case(
            scipy.linalg.solve_triangular,
            lambda x, y, t=t, lo=lo, u=u: scipy.linalg.solve_triangular(x, y, t, lo, unit_diagonal=u),
            SQUARE,
            right,
        )
        for t in (0, "T")
        for lo in (True, False)
        for u in (True, False)
        for right in (U, B)
    ),
    case(
        scipy.linalg.solve_triangular,
        lambda x, y: scipy.linalg.solve_triangular(x, y, check_finite=False),
        SQUARE.astype(np.float32),
        U.astype(np.float32),
    ),
    *(
        case(
            (scipy.linalg.cho_factor, scipy.linalg.cho_solve),
            lambda x, y, lo=lo: (
                scipy.linalg.cho_factor(x, lower=lo)[0],
                scipy.linalg.cho_solve(scipy.linalg.cho_factor(x, lo), y),
            ),
            POSITIVE,
            right,
        )
        for lo in (True, False)
        for right in (U, B)
    ),
    case(np.kron, lambda x, y: np.kron(x, y), A, B),
    case(np.kron, lambda x, y: np.kron(x, y), U, W),
    case(
        np.kron,
        lambda x, y: (np.kron(x, y), np.kron(y, x), np.kron(x, y[0, 0]), np.kron(x[0], y[0, 0])),
        U,
        B,
    ),
    case(
        np.linalg.solve,
        lambda x, y: np.linalg.solve(x, y),
        SQUARE.astype(np.float32),
        np.array([3, 1, 2], np.uint8),
    ),
]
