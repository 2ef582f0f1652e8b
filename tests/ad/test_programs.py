"""Every construct of the array IR, differentiated: forward, reverse, central differences, second order."""

from __future__ import annotations

import numpy as np
import pytest

from anadrome.array_ir.text import parse
from tests.ad.oracles import assert_derivatives

RNG = np.random.default_rng(3)


def vector(n: int = 5) -> np.ndarray:
    return RNG.uniform(0.3, 1.7, n)


def matrix(n: int = 4, m: int = 3) -> np.ndarray:
    return RNG.uniform(0.3, 1.7, (n, m))


def well_conditioned(n: int = 4) -> np.ndarray:
    m = RNG.standard_normal((n, n))
    return m @ m.T + n * np.eye(n)


INDEX = np.array([2, 0, 2, 1, 4], dtype=np.int64)

REAL_TRANSFORMS = """fn f(x: f64[r, n], half: f64[m], whole: f64[n]) -> f64[r, n], f64[r, m] {
  a, b = call fourier_of_real(x, half)
  c = parfor i < r {
    d = parfor j < m { u = a[i, j]; v = b[i, j]; w = mul u v; yield stack w }
    yield stack d
  }
  y = call fourier_to_real(c, a, whole)
  return y, c
}"""

PROGRAMS: dict[str, tuple[str, list[object]]] = {
    "logsumexp": (
        """fn f(x: f64[n]) -> f64 {
          m = parfor i < n { v = x[i]; yield reduce max v }
          s = parfor i < n { v = x[i]; d = sub v m; e = exp d; yield reduce add e }
          l = log s
          r = add m l
          return r
        }""",
        [vector()],
    ),
    "matrix_vector_nest": (
        """fn f(a: f64[n, m], x: f64[m]) -> f64[n] {
          y = parfor i < n {
            s = parfor j < m { p = a[i, j]; q = x[j]; r = mul p q; t = sin r; yield reduce add t }
            e = exp s
            yield stack e
          }
          return y
        }""",
        [matrix(), vector(3)],
    ),
    "transposed_read": (
        """fn f(a: f64[n, m]) -> f64[m, n] {
          y = parfor j < m {
            r = parfor i < n { v = a[i, j]; w = mul v v; yield stack w }
            yield stack r
          }
          return y
        }""",
        [matrix()],
    ),
    "stencil": (
        """fn f(x: f64[n]) -> f64[k] {
          k = sub n 2
          y = parfor i < k {
            i1 = add i 1
            i2 = add i 2
            a = x[i]
            b = x[i1]
            c = x[i2]
            p = mul a b
            q = mul p c
            yield stack q
          }
          return y
        }""",
        [vector(6)],
    ),
    "strided_read": (
        """fn f(x: f64[n]) -> f64 {
          s = parfor i < 3 { k = mul i 2; v = x[k]; w = mul v v; yield reduce add w }
          return s
        }""",
        [vector(6)],
    ),
    "gather": (
        """fn f(x: f64[n], p: i64[m]) -> f64 {
          s = parfor i < m { k = p[i]; v = x[k]?; w = mul v v; yield reduce add w }
          return s
        }""",
        [vector(), INDEX],
    ),
    "product_with_zero": (
        """fn f(x: f64[n]) -> f64 {
          s = parfor i < n { v = x[i]; yield reduce mul v }
          return s
        }""",
        [np.array([1.5, 0.0, 2.0])],
    ),
    "cumulative_sum": (
        """fn f(x: f64[n]) -> f64[n], f64[n] {
          y, z = parfor i < n { v = x[i]; w = mul v v; yield scan add w; yield scan exclusive add w }
          return y, z
        }""",
        [vector()],
    ),
    "cumulative_product_and_max": (
        """fn f(x: f64[n]) -> f64[n], f64[n] {
          y, z = parfor i < n { v = x[i]; yield scan mul v; yield scan max v }
          return y, z
        }""",
        [vector()],
    ),
    "histogram": (
        """fn f(x: f64[n], h: f64[m], p: i64[n]) -> f64[m] {
          y = parfor i < n { v = x[i]; w = mul v v; k = p[i]; yield accumulate add h[k] w }
          z = parfor i < m { v = y[i]; e = sin v; yield stack e }
          return z
        }""",
        [vector(), vector(), INDEX],
    ),
    "histogram_of_products_and_maxima": (
        """fn f(x: f64[n], h: f64[m], p: i64[n]) -> f64[m], f64[m] {
          y, z = parfor i < n {
            v = x[i]
            k = p[i]
            yield accumulate mul h[k] v
            yield accumulate max h[k] v
          }
          return y, z
        }""",
        [vector(), vector(), INDEX],
    ),
    "scatter_last_wins": (
        """fn f(x: f64[n], h: f64[m], p: i64[n]) -> f64[m] {
          y = parfor i < n { v = x[i]; w = mul v v; k = p[i]; yield scatter h[k] w }
          return y
        }""",
        [vector(), vector(), INDEX],
    ),
    "loop_recurrence": (
        """fn f(r: f64, x: f64, n: i64) -> f64 {
          y = loop (v = x) for i < n { a = mul r v; b = sub 1.0 v; c = mul a b; return c }
          return y
        }""",
        [np.float64(3.2), np.float64(0.3), np.int64(6)],
    ),
    "loop_reads_array": (
        """fn f(x: f64[n], w: f64) -> f64 {
          y = loop (s = 0.0) for i < n { v = x[i]; a = mul s v; b = sin a; c = add b w; return c }
          return y
        }""",
        [vector(), np.float64(0.4)],
    ),
    "loop_updates_in_place": (
        """fn f(x: f64[n]) -> f64[n] {
          y = loop (a = x) for i < n {
            v = a[i]
            w = a[0]
            p = mul v w
            q = sin p
            b = update a[i] q
            return b
          }
          return y
        }""",
        [vector()],
    ),
    "while_newton": (
        """fn f(a: f64) -> f64 {
          y = loop (x = a) while {
            s = mul x x
            d = sub s a
            e = abs d
            c = gt e 1e-13
            return c
          } do {
            q = div a x
            t = add x q
            h = mul 0.5 t
            return h
          }
          return y
        }""",
        [np.float64(2.0)],
    ),
    "branch_in_parfor": (
        """fn f(x: f64[n], y: f64[n]) -> f64 {
          s = parfor i < n {
            v = x[i]
            c = gt v 1.0
            r = if c { w = y[i]; p = mul v w; return p } else { q = sin v; return q }
            yield reduce add r
          }
          return s
        }""",
        [vector(), vector()],
    ),
    "branch_on_whole_arrays": (
        """fn f(x: f64[n], c: bool) -> f64[n] {
          y = if c {
            z = parfor i < n { v = x[i]; w = mul v v; yield stack w }
            return z
          } else {
            return x
          }
          return y
        }""",
        [vector(), np.bool_(True)],
    ),
    "loop_in_parfor": (
        """fn f(x: f64[n], w: f64[m], k: i64) -> f64[n] {
          y = parfor i < n {
            v = x[i]
            r = loop (s = v) for j < k { a = w[j]; b = mul s a; c = sin b; return c }
            yield stack r
          }
          return y
        }""",
        [vector(), vector(3), np.int64(3)],
    ),
    "parfor_in_loop": (
        """fn f(u: f64[n], a: f64[n, n]) -> f64[n] {
          y = loop (v = u) for t < 3 {
            w = parfor i < n {
              s = parfor j < n { p = a[i, j]; q = v[j]; r = mul p q; yield reduce add r }
              e = sin s
              yield stack e
            }
            return w
          }
          return y
        }""",
        [vector(4), matrix(4, 4)],
    ),
    "nested_loops": (
        """fn f(x: f64[n]) -> f64 {
          y = loop (s = 1.0) for i < n {
            t = loop (u = s) for j < i { v = x[j]; w = mul u v; z = sin w; return z }
            a = x[i]
            b = mul t a
            return b
          }
          return y
        }""",
        [vector()],
    ),
    "rows": (
        """fn f(a: f64[n, m], k: i64) -> f64 {
          r = a[k]
          s = parfor j < m { v = r[j]; w = mul v v; yield reduce add w }
          return s
        }""",
        [matrix(), np.int64(2)],
    ),
    "literal_full_reshape": (
        """fn f(x: f64, y: f64, n: i64) -> f64 {
          a = literal [x, y, x]
          b = full [n, 3] y
          m = mul n 3
          c = reshape b [m]
          s = parfor i < 3 { v = a[i]; w = c[i]; p = mul v w; yield reduce add p }
          return s
        }""",
        [np.float64(1.2), np.float64(0.7), np.int64(4)],
    ),
    "reduce_rows": (
        """fn f(a: f64[n, m]) -> f64[m] {
          s = parfor i < n {
            r = parfor j < m { v = a[i, j]; w = mul v v; yield stack w }
            yield reduce add r
          }
          return s
        }""",
        [matrix()],
    ),
    "maximum_of_rows": (
        """fn f(a: f64[n, m]) -> f64[m] {
          s = parfor i < n { r = a[i]; yield reduce max r }
          return s
        }""",
        [matrix()],
    ),
    "matmul": (
        """fn f(a: f64[n, m], b: f64[m, k]) -> f64[n, k] {
          c = call matmul(a, b, transpose_left=false, transpose_right=false)
          return c
        }""",
        [matrix(4, 3), matrix(3, 2)],
    ),
    "solve_and_determinant": (
        """fn f(a: f64[n, n], b: f64[n, k]) -> f64[n, k], f64 {
          c = call solve(a, b, transpose=false)
          d = call det(a)
          return c, d
        }""",
        [well_conditioned(), matrix(4, 2)],
    ),
    "cholesky_and_its_adjoint": (
        """fn f(a: f64[n, n], w: f64[n, n]) -> f64[n, n], f64[n, n] {
          c = call cholesky(a)
          d = call cholesky_adjoint(c, w)
          return c, d
        }""",
        [well_conditioned() @ well_conditioned().T, matrix(4, 4)],
    ),
    "adjoint_of_any_factor": (
        """fn f(l: f64[n, n], w: f64[n, n]) -> f64[n, n] {
          d = call cholesky_adjoint(l, w)
          return d
        }""",
        [well_conditioned(), matrix(4, 4)],
    ),
    "fourier": (
        """fn f(x: f64[n, m], y: f64[n, m]) -> f64[n, m], f64[n] {
          a, b = call fourier(x, y, backward=false)
          c = parfor i < n {
            r = a[i]; t = b[i]
            p, q = call fourier(r, t, backward=true)
            s = parfor j < m { u = p[j]; v = t[j]; w = mul u v; yield reduce add w }
            yield stack s
          }
          d = parfor i < n { e = parfor j < m { u = a[i, j]; w = mul u u; yield stack w }; yield stack e }
          return d, c
        }""",
        [matrix(3, 5), matrix(3, 5)],
    ),
    "fourier_of_real_even": (REAL_TRANSFORMS, [matrix(3, 6), np.zeros(4), np.zeros(6)]),
    "fourier_of_real_odd": (REAL_TRANSFORMS, [matrix(3, 5), np.zeros(3), np.zeros(5)]),
    "fourier_of_real_short": (REAL_TRANSFORMS, [matrix(2, 1), np.zeros(1), np.zeros(1)]),
    "fourier_of_real_two": (REAL_TRANSFORMS, [matrix(2, 2), np.zeros(2), np.zeros(2)]),
    "accumulators": (
        """fn f(x: f64[n], p: i64[n], h: f64[m]) -> f64[m] {
          y = with_sum (s = h) {
            t = parfor i < n { v = x[i]; w = mul v v; k = p[i]; u = add_to s[k] w; yield carry s u }
            return t
          }
          return y
        }""",
        [vector(), INDEX, vector()],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_agree(name: str) -> None:
    text, args = PROGRAMS[name]
    assert_derivatives(parse(text), args, order=2)
