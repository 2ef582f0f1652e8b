"""BLAS, LAPACK and sorting as routines: row-major, every flag, singular and empty cases."""

import numpy as np
import pytest
import scipy.linalg

from anadrome.dtypes import ALL
from tests.targets.oracle import agree, compiled

RNG = np.random.default_rng(11)
TYPES = ("f64", "f32")
SIZES = [(3, 4, 5), (1, 4, 5), (3, 1, 5), (1, 1, 5), (3, 4, 0), (0, 2, 2), (1, 3, 0), (30, 17, 40)]


def word(flag):
    return "true" if flag else "false"


def rtol(dtype):
    return 1e-11 if dtype == "f64" else 2e-3


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("transpose_left", [False, True])
@pytest.mark.parametrize("transpose_right", [False, True])
def test_gemm(dtype, accumulate, transpose_left, transpose_right):
    text = f"""fn f(a: {dtype} buffer, b: {dtype} buffer, c: {dtype} buffer, n: i64, m: i64, k: i64) {{
      alloc o: {dtype} global [mul(n, m)]
      copy o [mul(n, m)] = c
      call gemm_{dtype}(a, b, o, n, m, k, {word(transpose_left)}, {word(transpose_right)}, {word(accumulate)})
      return o as {dtype} [n, m]
    }}"""
    run = compiled(text)
    kind = np.dtype("float64" if dtype == "f64" else "float32")
    for n, m, k in SIZES:
        left, right, start = (RNG.random(shape).astype(kind) for shape in ((n, k), (k, m), (n, m)))
        stored_left = np.ascontiguousarray(left.T) if transpose_left else left
        stored_right = np.ascontiguousarray(right.T) if transpose_right else right
        (got,) = run([stored_left, stored_right, start, n, m, k])
        expected = left @ right + (start if accumulate else 0)
        np.testing.assert_allclose(got, expected, rtol=rtol(dtype), atol=1e-6 if dtype == "f32" else 0)
    agree(text, left.ravel(), right.ravel(), start.ravel(), 2, 3, 4, rtol=rtol(dtype))


def system(dtype, call, flags):
    square = "mul(n, n)" if call in ("inv", "cholesky") else "mul(n, m)"
    shape = "n, n" if call in ("inv", "cholesky") else "n, m"
    sizes = "n" if call in ("inv", "cholesky") else "n, m"
    right = "" if call in ("inv", "cholesky") else "b, "
    listed = "".join(f", {word(flag)}" for flag in flags)
    return f"""fn f(a: {dtype} buffer, b: {dtype} buffer, n: i64, m: i64) {{
      alloc o: {dtype} global [{square}]
      alloc status: i64 global [1]
      call {call}_{dtype}(a, {right}o, status, {sizes}{listed})
      return o as {dtype} [{shape}], status[0] as i64
    }}"""


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("transpose", [False, True])
def test_solve(dtype, transpose):
    run = compiled(system(dtype, "solve", [transpose]))
    kind = np.dtype("float64" if dtype == "f64" else "float32")
    for n, m in [(5, 3), (1, 1), (0, 2), (6, 1), (40, 40), (3, 0)]:
        matrix, right = RNG.random((n, n)).astype(kind), RNG.random((n, m)).astype(kind)
        got, status = run([matrix, right, n, m])
        assert status == 0
        system_matrix = matrix.T if transpose else matrix
        np.testing.assert_allclose(system_matrix @ got, right, atol=1e-10 if dtype == "f64" else 2e-3)
    assert run([np.ones((4, 4), kind), np.ones((4, 2), kind), 4, 2])[1] == 2


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("lower", [False, True])
def test_triangular_solve(dtype, transpose, lower):
    text = system(dtype, "triangular_solve", [lower, transpose])
    run = compiled(text)
    kind = np.dtype("float64" if dtype == "f64" else "float32")
    for n, m in [(5, 3), (1, 1), (0, 2), (6, 1), (20, 7)]:
        matrix = (RNG.random((n, n)) + 3 * np.eye(n)).astype(kind)
        right = RNG.random((n, m)).astype(kind)
        got, status = run([matrix, right, n, m])
        assert status == 0
        if n:
            expected = scipy.linalg.solve_triangular(matrix, right, lower=lower, trans=int(transpose))
            np.testing.assert_allclose(
                got, expected, rtol=rtol(dtype), atol=1e-5 if dtype == "f32" else 1e-12
            )
    agree(text, matrix.ravel()[:16], right.ravel()[:12], 4, 3, rtol=rtol(dtype))
    matrix[3, 3] = matrix[7, 7] = 0
    assert run([matrix, right, 20, 7])[1] == 4


@pytest.mark.parametrize("dtype", TYPES)
def test_inverse_cholesky_and_determinant(dtype):
    kind = np.dtype("float64" if dtype == "f64" else "float32")
    matrix = (RNG.random((7, 7)) + 2 * np.eye(7)).astype(kind)
    positive = matrix @ matrix.T + np.eye(7, dtype=kind)
    got, status = compiled(system(dtype, "inv", []))([matrix, matrix, 7, 7])
    assert status == 0
    np.testing.assert_allclose(
        got, np.linalg.inv(matrix), rtol=rtol(dtype), atol=1e-5 if dtype == "f32" else 1e-12
    )
    cholesky = compiled(system(dtype, "cholesky", []))
    got, status = cholesky([np.tril(positive), matrix, 7, 7])
    assert status == 0
    np.testing.assert_allclose(got, np.linalg.cholesky(positive), rtol=rtol(dtype))
    positive[4, 4] = -1
    assert cholesky([positive, matrix, 7, 7])[1] == 5
    text = f"""fn f(a: {dtype} buffer, n: i64) {{
      alloc o: {dtype} local [1]
      call det_{dtype}(a, o, n)
      return o[0] as {dtype}
    }}"""
    agree(text, matrix.ravel(), 7, rtol=rtol(dtype))
    agree(text, np.ones(9), 3)
    agree(text, [], 0)
    agree(text, [0.0, 1.0, 1.0, 0.0], 2)


def cholesky_adjoint(dtype):
    return f"""fn f(l: {dtype} buffer, w: {dtype} buffer, n: i64) {{
      alloc o: {dtype} global [mul(n, n)]
      call cholesky_adjoint_{dtype}(l, w, o, n)
      return o as {dtype} [n, n]
    }}"""


def halved(matrix):
    """Φ(M): the lower triangle with the diagonal halved."""
    return np.tril(matrix) - np.diag(np.diag(matrix)) / 2


@pytest.mark.parametrize("dtype", TYPES)
def test_cholesky_adjoint(dtype):
    """Φ(L⁻ᵀ·(P + Pᵀ)·L⁻¹) with P = Φ(Lᵀ·W), at sizes around those of blocks; of L and W the upper triangle is
    not read."""
    run = compiled(cholesky_adjoint(dtype))
    kind = np.dtype("float64" if dtype == "f64" else "float32")
    for n in (0, 1, 2, 7, 31, 32, 33, 63, 64, 65, 97, 130):
        factor = np.tril(RNG.normal(size=(n, n)) / np.sqrt(n + 1)) + 2 * np.eye(n)
        weights = np.tril(RNG.normal(size=(n, n)))
        rubbish = np.triu(np.full((n, n), np.nan), 1)
        (got,) = run([(factor + rubbish).astype(kind), (weights + rubbish).astype(kind), n])
        p, inverse = halved(factor.T @ weights), np.linalg.inv(factor)
        expected = halved(inverse.T @ (p + p.T) @ inverse)
        atol = (1e-5 if dtype == "f32" else 1e-13) * np.max(np.abs(expected), initial=0.0)
        np.testing.assert_allclose(got, expected, rtol=rtol(dtype), atol=atol)
        assert not np.triu(got, 1).any()
    agree(cholesky_adjoint("f64"), factor.ravel()[:9], weights.ravel()[:9], 3, rtol=1e-11)
    weights[40, 20] = np.nan
    (spoilt,) = run([factor.astype(kind), weights.astype(kind), n])
    assert np.isnan(spoilt[40, 20]) and np.isfinite(spoilt[41:]).all()


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_argsort_is_stable_and_puts_nan_last(dtype):
    run = compiled(
        f"""fn f(x: {dtype} buffer, n: i64) {{
          alloc o: i64 global [n]
          call argsort_{dtype}(x, o, n)
          return o as i64 [n]
        }}"""
    )
    for n in (0, 1, 2, 3, 15, 16, 17, 31, 33, 64, 100, 1000, 4097):
        values = (RNG.integers(0, 50, n) - (25 if dtype.kind in ("int", "float") else 0)).astype(dtype.numpy)
        if dtype.is_float:
            values[RNG.random(n) < 0.1] = np.nan
            values[RNG.random(n) < 0.1] = -np.inf
            values[RNG.random(n) < 0.1] = -0.0
        (got,) = run([values, n])
        assert np.array_equal(got, np.argsort(values, kind="stable")), n


def test_the_interpreter_means_the_same():
    text = system("f64", "solve", [True])
    agree(text, RNG.random(16), RNG.random(8), 4, 2, rtol=1e-9)
    agree(system("f64", "inv", []), RNG.random(16), [0.0], 4, 1, rtol=1e-9)
    positive = np.eye(3) * 2 + 0.1
    agree(system("f64", "cholesky", []), positive.ravel(), [0.0], 3, 1)
