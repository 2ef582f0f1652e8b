"""The interpreter against NumPy: every node and yield, exact dtypes, errors, and the work it counts."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from anadrome.array_ir.check import check
from anadrome.array_ir.interp import run
from anadrome.array_ir.interp_work import Work
from anadrome.array_ir.nodes import Body, Function, Let
from anadrome.array_ir.operators import identity
from anadrome.array_ir.text import parse
from anadrome.dtypes import BOOL, F32, F64, I8, U8
from anadrome.errors import Span
from anadrome.errors.ir import IRError
from anadrome.errors.runtime import AssertionFailed, IndexOutOfBounds, SingularMatrix, SizeMismatch

RANDOM = np.random.default_rng(7)


def results(text: str, *args: object) -> tuple:
    fn = parse(text)
    check(fn)
    return run(fn, args).results


def work(text: str, *args: object) -> Work:
    return run(parse(text), args).work


def test_logsumexp() -> None:
    x = RANDOM.normal(size=9)
    text = """fn f(x: f64[n]) -> f64 {
      m = parfor i < n { v = x[i]; yield reduce max v }
      s = parfor i < n { v = x[i]; d = sub v m; e = exp d; yield reduce add e }
      l = log s
      r = add m l
      return r
    }"""
    np.testing.assert_allclose(results(text, x)[0], np.log(np.sum(np.exp(x))), rtol=1e-14)


def test_arrays() -> None:
    x = RANDOM.normal(size=(3, 4))
    text = """fn f(x: f64[n, m], k: i64) -> f64[n, m], f64[2, m], f64[m, n], i64[n, 2], f64[m, n] {
      r = x[k]
      u = update x[0] r
      v = update u[k, 1] 7.0
      l = literal [r, r]
      t = reshape x [m, n]
      z = full [n, 2] 5
      w = parfor j < m { c = parfor i < n { e = x[i, j]; yield stack e }; yield stack c }
      return v, l, t, z, w
    }"""
    v, stacked, reshaped, z, transposed = results(text, x, 2)
    expected = x.copy()
    expected[0] = x[2]
    expected[2, 1] = 7.0
    np.testing.assert_array_equal(v, expected)
    np.testing.assert_array_equal(stacked, x[[2, 2]])
    np.testing.assert_array_equal(reshaped, x.reshape(4, 3))
    np.testing.assert_array_equal(transposed, x.T)
    assert z.dtype == np.int64 and z.shape == (3, 2)


def test_an_update_is_not_seen_through_aliases() -> None:
    x = np.arange(3.0)
    text = """fn f(x: f64[n]) -> f64[n], f64[n], f64[1, n], f64[n], f64, f64[n] {
      a = full [n] 1.0
      m = reshape a [1, n]
      b = update a[0] 2.0
      c = update b[1] 3.0
      y = x[0]
      d = update x[0] 9.0
      w = loop (q = c) for i < n { q1 = update q[i] 5.0; return q1 }
      return c, b, m, d, y, w
    }"""
    c, b, m, d, y, w = results(text, x)
    np.testing.assert_array_equal(m, [[1, 1, 1]])
    np.testing.assert_array_equal(b, [2, 1, 1])
    np.testing.assert_array_equal(c, [2, 3, 1])
    np.testing.assert_array_equal(w, [5, 5, 5])
    np.testing.assert_array_equal(d, [9, 1, 2])
    np.testing.assert_array_equal(x, [0, 1, 2])
    assert y == 0.0


def test_rows_of_an_updated_array_keep_their_values() -> None:
    text = """fn f(n: i64) -> f64[3], f64[2, 3] {
      a = full [2, 3] 1.0
      r = a[0]
      b = update a[0, 0] 2.0
      return r, b
    }"""
    row, b = results(text, 1)
    np.testing.assert_array_equal(row, [1, 1, 1])
    assert b[0, 0] == 2.0


@pytest.mark.parametrize(
    "operator, reduced, scanned",
    [
        ("add", np.add, np.cumsum),
        ("mul", np.multiply, np.cumprod),
        ("min", np.minimum, np.minimum.accumulate),
        ("max", np.maximum, np.maximum.accumulate),
    ],
)
@pytest.mark.parametrize("dtype", ["f64", "f32", "i64", "u8"])
def test_named_operators(operator: str, reduced, scanned, dtype: str) -> None:
    numpy_dtype = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "u8": np.uint8}[dtype]
    x = (RANDOM.uniform(1, 5, 6) * 10).astype(numpy_dtype)
    p = np.array([0, 1, 0, 2, 2, 5])
    text = f"""fn f(x: {dtype}[n], p: i64[n], h: {dtype}[3]) -> {dtype}, {dtype}[n], {dtype}[n], {dtype}[3] {{
      a, b, c, d = parfor i < n {{
        v = x[i]
        j = p[i]
        yield reduce {operator} v
        yield scan {operator} v
        yield scan exclusive {operator} v
        yield accumulate {operator} h[j]~ v
      }}
      return a, b, c, d
    }}"""
    h = np.array([3, 30, 4]).astype(numpy_dtype)
    a, b, c, d = results(text, x, p, h)
    expected = h.copy()
    reduced.at(expected, p[:5], x[:5])
    unit = identity(operator, {"f64": F64, "f32": F32, "u8": U8}.get(dtype, F64)).value
    np.testing.assert_allclose(a, reduced.reduce(x, dtype=numpy_dtype), rtol=1e-6)
    whole = scanned(x) if operator in ("min", "max") else scanned(x, dtype=numpy_dtype)
    np.testing.assert_allclose(b, whole, rtol=1e-6)
    np.testing.assert_allclose(c[1:], whole[:-1], rtol=1e-6)
    np.testing.assert_allclose(d, expected, rtol=1e-6)
    assert all(result.dtype == numpy_dtype for result in (a, b, c, d))
    if dtype != "i64":
        assert c[0] == unit


def test_logic_and_nothing() -> None:
    text = """fn f(x: f64[n]) -> bool, bool, f64, f64, f64[n], f64[2] {
      z = full [2] 0.0
      a, b, c, d, e, g = parfor i < n {
        v = x[i]
        p = gt v 0.0
        r = full [2] v
        yield reduce and p
        yield reduce or p
        yield reduce min v
        yield reduce mul v
        yield stack v
        yield reduce add r
      }
      return a, b, c, d, e, g
    }"""
    assert [result.tolist() for result in results(text, np.empty(0))] == [
        True, False, np.inf, 1.0, [], [0.0, 0.0],
    ]  # fmt: skip
    a, b, c, d, _, g = results(text, np.array([1.0, -2.0]))
    assert (a, b, c, d) == (False, True, -2.0, -2.0)
    np.testing.assert_array_equal(g, [-1, -1])


def test_identities() -> None:
    assert identity("max", I8).value == -128
    assert identity("min", I8).value == 127
    assert identity("max", U8).value == 0
    assert identity("min", U8).value == 255
    assert identity("mul", F32).value == 1.0
    assert identity("and", BOOL).value is True


def test_lambdas() -> None:
    x = np.array([3.0, 1.0, 2.0, 1.0])
    text = """fn f(x: f64[n]) -> f64, i64, f64[n], f64[n], f64[2] {
      h = full [2] 1.0
      least, where, a, b, c = parfor i < n {
        v = x[i]
        j = mod i 2
        yield reduce lambda v i by (l, p) (r, q) from (inf, -1) {
          c = le l r
          m = select c l r
          w = select c p q
          return m, w
        }
        yield scan lambda 0.5 v by (a0, b0) (a1, b1) from (1.0, 0.0) {
          s = mul a0 a1
          t = mul b0 a1
          u = add t b1
          return s, u
        }
        yield accumulate lambda h[j] v by (l1) (r1) from (0.0) { e = sub l1 r1; return e }
      }
      return least, where, a, b, c
    }"""
    least, where, a, b, c = results(text, x)
    assert (least, where) == (1.0, 1)
    np.testing.assert_allclose(a, 0.5 ** np.arange(1, 5))
    np.testing.assert_allclose(b, [3.0, 2.5, 3.25, 2.625])
    np.testing.assert_allclose(c, [1 - 3 - 2, 1 - 1 - 1])


def test_scatter_last_wins_and_ignores_outside() -> None:
    text = """fn f(x: f64[n], p: i64[n], z: f64[3]) -> f64[3] {
      y = parfor i < n { v = x[i]; j = p[i]; yield scatter z[j]~ v }
      return y
    }"""
    z = np.zeros(3)
    (y,) = results(text, np.arange(1.0, 6.0), np.array([0, 2, 0, -1, 3]), z)
    np.testing.assert_array_equal(y, [3, 0, 2])
    np.testing.assert_array_equal(z, 0)


def test_loops_and_branches() -> None:
    text = """fn f(x: f64, n: i64) -> f64, i64, f64 {
      s, k = loop (t = x, j = 0) while { c = lt t 100.0; return c } do {
        u = mul t 2.0
        l = add j 1
        return u, l
      }
      w = loop (a = 1.0) for i < n {
        odd = mod i 2
        is_odd = eq odd 1
        b = if is_odd { c = mul a 3.0; return c } else { d = add a 1.0; return d }
        return b
      }
      return s, k, w
    }"""
    assert results(text, 3.0, 4) == (192.0, 6, (((1 + 1) * 3) + 1) * 3)
    assert results(text, 100.0, 0) == (100.0, 0, 1.0)


def test_sums() -> None:
    text = """fn f(x: f64[n, m], p: i64[n], z: f64[n], s: f64) -> f64[n], f64, i64 {
      a, b, k = with_sum (t = z, q = z) {
        u, w = parfor i < n {
          j = p[i]
          inner = parfor l < m {
            v = x[i, l]
            c = gt v 0.0
            e = if c { g = add_to t[j]? v; return g } else { return t }
            yield carry t e
          }
          r = loop (q1 = q) for l < m { v = x[i, l]; q2 = add_to q1[i] v; return q2 }
          yield carry t inner
          yield carry q r
        }
        return u, w, 5
      }
      b0 = parfor i < n { v = b[i]; yield reduce add v }
      return a, b0, k
    }"""
    x, p, z = RANDOM.normal(size=(4, 3)), np.array([1, 1, 0, 3]), np.ones(4)
    a, b, k = results(text, x, p, z, 0.0)
    expected = np.ones(4)
    np.add.at(expected, p, np.maximum(x, 0).sum(1))
    np.testing.assert_allclose(a, expected)
    np.testing.assert_allclose(b, x.sum() + 4)
    assert k == 5
    np.testing.assert_array_equal(z, 1)


def test_scalar_and_row_sums() -> None:
    text = """fn f(x: f64[n, m], z: f64, r: f64[m]) -> f64, f64[m] {
      a, b = with_sum (t = z, q = r) {
        u, w = parfor i < n {
          t1 = add_to t[] 2.0
          row = x[i]
          q1 = add_to q[] row
          yield carry t t1
          yield carry q q1
        }
        return u, w
      }
      return a, b
    }"""
    x = RANDOM.normal(size=(3, 2))
    a, b = results(text, x, 1.0, np.ones(2))
    assert a == 7.0 and isinstance(a, np.float64)
    np.testing.assert_allclose(b, 1 + x.sum(0))


def test_dtypes_stay_and_integers_wrap() -> None:
    text = """fn f(a: f32, b: u8, c: i64) -> f32, u8, i64 {
      x = mul a 0.1:f32
      y = add b 250:u8
      z = mul c 4611686018427387904
      return x, y, z
    }"""
    x, y, z = results(text, np.float32(3), np.uint8(10), np.int64(4))
    assert x.dtype == np.float32 and x == np.float32(3) * np.float32(0.1)
    assert (y, z) == (4, 0) and y.dtype == np.uint8


def test_library() -> None:
    a, b = RANDOM.normal(size=(3, 3)) + 3 * np.eye(3), RANDOM.normal(size=(3, 2))
    text = """fn f(a: f64[n, n], b: f64[n, m], p: f64[n, n], v: f64[k]) {
      c = call matmul(b, a, transpose_left=true, transpose_right=true)
      d = call solve(a, b, transpose=true)
      e = call triangular_solve(a, b, lower=true, transpose=true)
      f = call inv(a)
      g = call det(a)
      h = call cholesky(p)
      w = call cholesky_adjoint(h, a)
      o = call argsort(v)
      return c, d, e, f, g, h, w, o
    }"""
    v = np.array([2.0, 1.0, 2.0, 1.0])
    c, d, e, f, g, h, w, order = results(text, a, b, a @ a.T, v)
    np.testing.assert_allclose(c, b.T @ a.T)
    np.testing.assert_allclose(d, np.linalg.solve(a.T, b))
    np.testing.assert_allclose(e, scipy.linalg.solve_triangular(np.tril(a).T, b))
    np.testing.assert_allclose(f @ a, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(g, np.linalg.det(a))
    np.testing.assert_allclose(h, np.linalg.cholesky(a @ a.T))
    half = np.tril(np.ones((3, 3))) - np.eye(3) / 2
    p, inverse = half * (h.T @ np.tril(a)), np.linalg.inv(h)
    np.testing.assert_allclose(w, half * (inverse.T @ (p + p.T) @ inverse), atol=1e-12)
    np.testing.assert_array_equal(order, [1, 3, 0, 2])
    with pytest.raises(SingularMatrix, match="inv"):
        results("fn f(a: f64[n, n]) { b = call inv(a) }", np.zeros((2, 2)))


@pytest.mark.parametrize("n", [1, 2, 5, 6])
def test_fourier_transforms_are_sums(n: int) -> None:
    text = """fn f(x: f64[r, n], y: f64[r, n], half: f64[m], whole: f64[n]) {
      a, b = call fourier(x, y, backward=false)
      c, d = call fourier(x, y, backward=true)
      e, g = call fourier_of_real(x, half)
      h = call fourier_to_real(e, g, whole)
      return a, b, c, d, e, g, h
    }"""
    x, y = RANDOM.normal(size=(2, 3, n))
    waves = np.exp(2j * np.pi * np.outer(np.arange(n), np.arange(n)) / n)
    a, b, c, d, e, g, h = results(text, x, y, np.zeros(n // 2 + 1), np.zeros(n))
    np.testing.assert_allclose(a + 1j * b, (x + 1j * y) @ waves.conj(), atol=1e-12)
    np.testing.assert_allclose(c + 1j * d, (x + 1j * y) @ waves, atol=1e-12)
    np.testing.assert_allclose(e + 1j * g, (x @ waves.conj())[:, : n // 2 + 1], atol=1e-12)
    np.testing.assert_allclose(h, n * x, atol=1e-12)


def test_fourier_transforms_of_nothing() -> None:
    text = """fn f(x: f64[r, n], half: f64[m], none: f64[n]) {
      a, b = call fourier(x, x, backward=false)
      c, d = call fourier_of_real(x, half)
      e = call fourier_to_real(c, d, none)
      return a, b, c, d, e
    }"""
    for shape in ((0, 4), (2, 0), (0, 0)):
        found = results(text, np.zeros(shape), np.zeros(shape[1] // 2 + 1), np.zeros(shape[1]))
        assert [part.shape for part in found[:2]] == [shape, shape]
        assert [part.tolist() for part in found[2:4]] == [[[0.0] * (shape[1] // 2 + 1)] * shape[0]] * 2
        assert found[4].shape == shape


# ---------------------------------------------------------------------------- errors
def test_checks_raise_with_their_place() -> None:
    fn = parse("""fn f(x: f64[n], k: i64) -> f64 {
      c = lt k 3
      check c assert "k is {0} of {1}" k n
      v = x[k]?
      return v
    }""")
    span = Span("fit.py", 3, 4, 8)
    fn = Function(
        "f", fn.params, Body(tuple(Let(t.targets, t.expr, span) for t in fn.body.lets), fn.body.results)
    )
    with pytest.raises(AssertionFailed, match="k is 5 of 2") as failed:
        run(fn, [np.zeros(2), 5])
    assert failed.value.span == span
    with pytest.raises(IndexOutOfBounds, match="index 2 is out of bounds for axis 0 with size 2") as outside:
        run(fn, [np.zeros(2), 2])
    assert outside.value.span == span
    with pytest.raises(IndexError):
        run(fn, [np.zeros(2), -1])


@pytest.mark.parametrize(
    "text, args",
    [
        ("fn f(x: f64[n], k: i64) { v = x[k] }", [np.zeros(2), 2]),
        ("fn f(x: f64[n], k: i64) { v = update x[k] 1.0 }", [np.zeros(2), -1]),
        ("fn f(x: f64[n], k: i64) { v = full [k] 1.0 }", [np.zeros(2), -1]),
        ("fn f(x: f64[n], k: i64) { v = parfor i < k { yield stack i } }", [np.zeros(2), -1]),
        ("fn f(x: f64[n], k: i64) { v = reshape x [k] }", [np.zeros(2), 3]),
        ("fn f(x: f64[n], k: i64) { }", [np.zeros(2, np.float32), 3]),
        ("fn f(x: f64[n], k: i64) { }", [np.zeros((2, 2)), 3]),
        ("fn f(x: f64[n], k: i64) { }", [np.zeros(2)]),
    ],
)
def test_broken_promises(text: str, args: list) -> None:
    with pytest.raises(IRError):
        run(parse(text), args)


def test_sizes_agree() -> None:
    with pytest.raises(SizeMismatch, match="axis 0 of y has size 3, expected 2"):
        results("fn f(x: f64[n], y: f64[n]) { }", np.zeros(2), np.zeros(3))
    with pytest.raises(SizeMismatch):
        results("fn f(n: i64, x: f64[n]) { }", 3, np.zeros(2))
    with pytest.raises(SizeMismatch):
        results("fn f(x: f64[3]) { }", np.zeros(2))


# ---------------------------------------------------------------------------- work
def test_work_of_a_map() -> None:
    done = work(
        "fn f(x: f64[n]) -> f64[n] { y = parfor i < n { v = x[i]; w = exp v; yield stack w }; return y }",
        np.ones(10),
    )
    assert (done.operations, done.reads, done.writes, done.iterations) == (100, 10, 10, 10)
    assert done.applied["exp"] == 10
    assert done.bytes == 160


@pytest.mark.parametrize(
    "body",
    [
        "y = loop (a = x) for i < n { v = a[i]; w = sin v; b = update a[i] w; return b }",
        """y = loop (a = x) for i < n {
             v = a[i]
             c = gt v 2.0
             b = if c { d = update a[i] 1.0; return d } else { return a }
             return b
           }""",
        """y, k = loop (a = x, j = 0) while { c = lt j n; return c } do {
             b = update a[j] 0.0
             e = update b[0] 1.0
             l = add j 1
             return e, l
           }""",
        """y = loop (a = x) for i < n {
             b = with_sum (t = a) { u = add_to t[i] 1.0; return u }
             return b
           }""",
        """y = loop (a = x) for i < n {
             b = parfor j < 1 { yield accumulate add a[i] 1.0 }
             return b
           }""",
    ],
)
def test_updates_in_a_loop_are_linear(body: str) -> None:
    text = f"fn f(x: f64[n]) -> f64[n] {{ {body}; return y }}"
    small, large = (work(text, np.arange(float(n))).total / n for n in (50, 500))
    assert large == pytest.approx(small, rel=0.05)


def test_an_array_that_is_still_needed_is_copied() -> None:
    text = "fn f(n: i64) -> f64[n], f64[n] { a = full [n] 0.0; b = update a[0] 1.0; return a, b }"
    assert work(text, 100).writes == 201
    text = "fn f(n: i64) -> f64[n] { a = full [n] 0.0; b = update a[0] 1.0; return b }"
    assert work(text, 100).writes == 101


def test_rows_and_nests_are_not_copied() -> None:
    text = """fn f(x: f64[n, m]) -> f64[n, m] {
      y = parfor i < n { r = x[i]; z = parfor j < m { v = r[j]; yield stack v }; yield stack z }
      return y
    }"""
    done = work(text, np.ones((5, 7)))
    assert (done.reads, done.writes) == (35, 35)
    text = "fn f(x: f64[n, m]) -> f64[n, m] { y = parfor i < n { r = x[i]; yield stack r }; return y }"
    done = work(text, np.ones((5, 7)))
    assert (done.reads, done.writes) == (35, 35)
