"""The parallel rules, every yield with every operator: modes, differences, second order, corners, work."""

from __future__ import annotations

import numpy as np
import pytest

from anadrome.ad.forward import jvp
from anadrome.ad.reverse import vjp
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import Loop, i64
from anadrome.array_ir.text import parse
from anadrome.array_ir.walk import all_lets
from anadrome.compile import optimise
from anadrome.config import Config
from tests.ad.oracles import assert_derivatives, is_float

RNG = np.random.default_rng(11)


def vector(n: int = 6) -> np.ndarray:
    return RNG.uniform(0.4, 1.6, n)


def matrix(n: int = 5, m: int = 3) -> np.ndarray:
    return RNG.uniform(0.4, 1.6, (n, m))


def places(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


REDUCE_MUL = """fn f(x: f64[n]) -> f64 {
  y = parfor i < n { v = x[i]; yield reduce mul v }
  return y
}"""

SQUARES_MUL = """fn f(x: f64[n], w: f64) -> f64 {
  y = parfor i < n { v = x[i]; s = mul v v; t = add s w; yield reduce mul t }
  z = sin y
  return z
}"""

REDUCE_ROWS = """fn f(a: f64[n, m]) -> f64[m], f64[m] {
  y, z = parfor i < n {
    r = a[i]
    q = parfor j < m { v = r[j]; s = sin v; yield stack s }
    yield reduce mul q
    yield reduce max q
  }
  return y, z
}"""

SCAN_ROWS = """fn f(a: f64[n, m]) -> f64[n, m], f64[n, m] {
  y, z = parfor i < n {
    r = a[i]
    q = parfor j < m { v = r[j]; s = sin v; yield stack s }
    yield scan mul q
    yield scan exclusive min q
  }
  w = parfor i < n {
    r = parfor j < m { v = z[i, j]; e = min v 9.0; s = exp e; yield stack s }
    yield stack r
  }
  return y, w
}"""

SCAN_MUL = """fn f(x: f64[n]) -> f64[n] {
  y = parfor i < n { v = x[i]; yield scan mul v }
  return y
}"""

SCAN_MUL_EXCLUSIVE = SCAN_MUL.replace("scan mul", "scan exclusive mul")

SCAN_EXTREMA = """fn f(x: f64[n]) -> f64[n], f64[n] {
  y, z = parfor i < n { v = x[i]; w = sin v; yield scan max w; yield scan exclusive min w }
  u = parfor i < n { v = z[i]; e = min v 9.0; s = exp e; yield stack s }
  return y, u
}"""

BINS = """fn f(x: f64[n], h: f64[m], p: i64[n]) -> f64[m] {
  y = parfor i < n { v = x[i]; w = mul v v; k = p[i]; yield accumulate OP h[k]~ w }
  return y
}"""

BIN_ROWS = """fn f(a: f64[n, c], h: f64[m, c], p: i64[n]) -> f64[m, c] {
  y = parfor i < n { r = a[i]; k = p[i]; yield accumulate OP h[k] r }
  return y
}"""

SCATTER = """fn f(x: f64[n], h: f64[m], p: i64[n]) -> f64[m] {
  y = parfor i < n { v = x[i]; w = mul v v; k = p[i]; yield scatter h[k]~ w }
  z = parfor b < m { v = y[b]; e = sin v; yield stack e }
  return z
}"""

SCATTER_ROWS = """fn f(a: f64[n, c], h: f64[m, c], p: i64[n]) -> f64[m, c] {
  y = parfor i < n { r = a[i]; k = p[i]; yield scatter h[k] r }
  return y
}"""

SCATTER_STRIDED = """fn f(x: f64[n], h: f64[m]) -> f64[m] {
  y = parfor i < n { v = x[i]; j = mul i 2; k = add j 1; yield scatter h[k] v }
  z = parfor b < m { v = y[b]; e = sin v; yield stack e }
  return z
}"""

RECURRENCE = """fn f(a: f64[n], b: f64[n]) -> f64[n] {
  p, y = parfor i < n {
    u = a[i]
    v = b[i]
    yield scan lambda u v by (a1, b1) (a2, b2) from (1.0, 0.0) {
      q = mul a1 a2
      t = mul b1 a2
      s = add t b2
      return q, s
    }
  }
  return y
}"""

RECURRENCE_BOTH = RECURRENCE.replace("-> f64[n]", "-> f64[n], f64[n]").replace("return y", "return p, y")

MATRICES = """fn f(a: f64[n], b: f64[n], c: f64[n], d: f64[n]) -> f64[n], f64[n] {
  p, q, r, s = parfor i < n {
    v0 = a[i]
    v1 = b[i]
    v2 = c[i]
    v3 = d[i]
    yield scan OPERATOR lambda v0 v1 v2 v3 by (l0, l1, l2, l3) (r0, r1, r2, r3) from (1.0, 0.0, 0.0, 1.0) {
      x0 = mul r0 l0
      y0 = mul r1 l2
      z0 = add x0 y0
      x1 = mul r0 l1
      y1 = mul r1 l3
      z1 = add x1 y1
      x2 = mul r2 l0
      y2 = mul r3 l2
      z2 = add x2 y2
      x3 = mul r2 l1
      y3 = mul r3 l3
      z3 = add x3 y3
      return z0, z1, z2, z3
    }
  }
  return q, s
}"""

LOGSUMEXP = """fn f(x: f64[n]) -> f64 {
  m, s = parfor i < n {
    v = x[i]
    yield reduce lambda v 1.0 by (m1, s1) (m2, s2) from (-inf, 0.0) {
      m = max m1 m2
      d1 = sub m1 m
      e1 = exp d1
      t1 = mul s1 e1
      d2 = sub m2 m
      e2 = exp d2
      t2 = mul s2 e2
      s = add t1 t2
      return m, s
    }
  }
  l = log s
  y = add m l
  return y
}"""

ARGMIN = """fn f(x: f64[n]) -> f64, i64 {
  y, k = parfor i < n {
    v = x[i]
    w = mul v v
    yield reduce lambda w i by (v1, i1) (v2, i2) from (inf, -1) {
      c = le v1 v2
      v = select c v1 v2
      i = select c i1 i2
      return v, i
    }
  }
  return y, k
}"""

VARIANCE = """fn f(x: f64[n]) -> f64, f64 {
  c, mean, ssd = parfor i < n {
    v = x[i]
    yield reduce lambda 1.0 v 0.0 by (n1, a1, s1) (n2, a2, s2) from (0.0, 0.0, 0.0) {
      n = add n1 n2
      d = sub a2 a1
      q = div n2 n
      t = mul d q
      a = add a1 t
      dd = mul d d
      u = mul n1 q
      w = mul dd u
      s0 = add s1 s2
      s = add s0 w
      return n, a, s
    }
  }
  r = div ssd c
  return mean, r
}"""

CAPTURED = """fn f(x: f64[n], w: f64) -> f64, f64[n] {
  y, z = parfor i < n {
    v = x[i]
    yield reduce lambda v by (l) (r) from (0.0) {
      p = mul l r
      q = mul w p
      s = add l r
      t = add s q
      return t
    }
    yield scan lambda v by (l) (r) from (0.0) {
      p = mul l r
      q = mul w p
      s = add l r
      t = add s q
      return t
    }
  }
  return y, z
}"""
"""l + r + w·l·r, which is associative for every w."""

SEGMENTED = """fn f(x: f64[n], s: bool[n]) -> f64[n] {
  g, y = parfor i < n {
    v = x[i]
    b = s[i]
    yield scan lambda b v by (f1, v1) (f2, v2) from (false, 1.0) {
      f = or f1 f2
      p = mul v1 v2
      v = select f2 v2 p
      return f, v
    }
  }
  return y
}"""

BRANCHING = """fn f(x: f64[n]) -> f64[n] {
  y = parfor i < n {
    v = x[i]
    yield scan exclusive lambda v by (l) (r) from (-inf) {
      c = gt l r
      m = if c {
        d = sub r l
        e = exp d
        u = add 1.0 e
        g = log u
        t = add l g
        return t
      } else {
        d = sub l r
        e = exp d
        u = add 1.0 e
        g = log u
        t = add r g
        return t
      }
      return m
    }
  }
  z = parfor i < n { v = y[i]; w = exp v; yield stack w }
  return z
}"""

WIDE = """fn f(x: f64[n], w: f64[n]) -> f64, f64, f64[n] {
  a, b, c, d, e = parfor i < n {
    u = x[i]
    v = w[i]
    uu = mul u u
    uv = mul u v
    vv = mul v v
    yield KIND lambda u v uu uv vv by (l0, l1, l2, l3, l4) (r0, r1, r2, r3, r4) from (Z, Z, Z, Z, Z) {
      s0 = add l0 r0
      s1 = add l1 r1
      p2 = mul l0 r0
      q2 = add l2 r2
      s2 = add p2 q2
      p3 = mul l0 r1
      q3 = mul l1 r0
      o3 = add p3 q3
      t3 = add l3 r3
      s3 = add o3 t3
      p4 = mul l1 r1
      q4 = add l4 r4
      s4 = add p4 q4
      return s0, s1, s2, s3, s4
    }
  }
  RESULTS
}""".replace("Z", "0.0")
"""Sums and sums of products of pairs: a block of five components."""

WIDE_REDUCE = WIDE.replace("KIND", "reduce").replace(", f64[n] {", " {").replace("RESULTS", "return c, d")
WIDE_SCAN = (
    WIDE.replace("KIND", "scan")
    .replace("-> f64, f64, f64[n]", "-> f64[n], f64[n]")
    .replace("RESULTS", "return d, e")
)

IN_BRANCH = """fn f(x: f64[n], c: bool) -> f64 {
  y = if c {
    p = parfor i < n { v = x[i]; w = mul v v; yield reduce mul w }
    return p
  } else {
    q = parfor i < n { v = x[i]; yield scan mul v }
    s = parfor i < n { v = q[i]; yield reduce max v }
    return s
  }
  z = sin y
  return z
}"""

IN_PARFOR = """fn f(a: f64[n, m], p: i64[m]) -> f64[n], f64[n] {
  y, z = parfor i < n {
    w = a[i, 0]
    one = full [3] 1.0
    h = parfor j < m { v = a[i, j]; k = p[j]; yield accumulate mul one[k] v }
    e = parfor b < 3 { v = h[b]; t = mul v v; yield reduce mul t }
    r = parfor j < m {
      v = a[i, j]
      yield reduce lambda v by (l) (r) from (0.0) {
        u = mul l r
        q = mul w u
        s = add l r
        t = add s q
        return t
      }
    }
    yield stack e
    yield stack r
  }
  return y, z
}"""

IN_LOOP = """fn f(x: f64[n], h: f64[m], p: i64[n]) -> f64[m] {
  y = loop (a = h) for t < 3 {
    u = x[t]
    b = parfor i < n { v = x[i]; k = p[i]; g = a[k]; s = mul g u; w = add v s; yield scatter a[k] w }
    c = parfor i < n { v = x[i]; k = p[i]; yield accumulate max b[k] v }
    q = parfor i < n { v = x[i]; yield scan mul v }
    d = parfor i < n { v = q[i]; k = p[i]; yield accumulate mul c[k] v }
    return d
  }
  return y
}"""

CASES: dict[str, tuple[str, list[object]]] = {
    "product": (REDUCE_MUL, [vector()]),
    "product_one_zero": (REDUCE_MUL, [np.array([1.5, 0.0, 2.0, -0.7])]),
    "product_two_zeros": (REDUCE_MUL, [np.array([1.5, 0.0, 2.0, 0.0])]),
    "product_three_zeros": (REDUCE_MUL, [np.array([0.0, 0.0, 2.0, 0.0])]),
    "product_of_one": (REDUCE_MUL, [np.array([0.0])]),
    "product_of_none": (REDUCE_MUL, [np.zeros(0)]),
    "product_of_expressions": (SQUARES_MUL, [vector(4), np.float64(0.3)]),
    "rows": (REDUCE_ROWS, [matrix()]),
    "scanned_rows": (SCAN_ROWS, [matrix(4, 2)]),
    "scanned_products": (SCAN_MUL, [vector(5)]),
    "scanned_products_zeros": (SCAN_MUL, [np.array([1.5, 0.0, 2.0, 0.0, 0.3])]),
    "exclusive_products": (SCAN_MUL_EXCLUSIVE, [np.array([1.5, 0.5, 2.0, 0.7])]),
    "exclusive_products_zeros": (SCAN_MUL_EXCLUSIVE, [np.array([0.0, 1.5, 0.0, 0.3])]),
    "exclusive_product_of_one": (SCAN_MUL_EXCLUSIVE, [np.array([1.5])]),
    "scanned_extrema": (SCAN_EXTREMA, [vector(7)]),
    "scanned_none": (SCAN_EXTREMA, [np.zeros(0)]),
    "bins_mul": (BINS.replace("OP", "mul"), [vector(6), vector(4), places(2, 0, 2, -1, 7, 0)]),
    "bins_mul_zeros": (
        BINS.replace("OP", "mul"),
        [np.array([0.0, 1.2, 0.5, 0.3, 0.0, 0.6]), np.array([1.1, 0.9, 0.0]), places(0, 0, 1, 1, 9, 2)],
    ),
    "bins_max": (BINS.replace("OP", "max"), [vector(6), vector(4), places(2, 0, 2, -1, 7, 0)]),
    "bins_min": (BINS.replace("OP", "min"), [vector(6), vector(4), places(2, 0, 2, -1, 7, 0)]),
    "bins_of_none": (BINS.replace("OP", "min"), [np.zeros(0), vector(4), places()]),
    "bin_rows_mul": (BIN_ROWS.replace("OP", "mul"), [matrix(5, 2), matrix(3, 2), places(2, 0, 2, 2, 0)]),
    "bin_rows_max": (BIN_ROWS.replace("OP", "max"), [matrix(5, 2), matrix(3, 2), places(2, 0, 2, 2, 0)]),
    "scatter": (SCATTER, [vector(6), vector(4), places(2, 0, 2, -1, 7, 0)]),
    "scatter_sparse": (SCATTER, [vector(3), vector(40), places(31, 7, 31)]),
    "scatter_none": (SCATTER, [np.zeros(0), vector(4), places()]),
    "scatter_rows": (SCATTER_ROWS, [matrix(5, 2), matrix(4, 2), places(2, 0, 2, 3, 0)]),
    "scatter_strided": (SCATTER_STRIDED, [vector(3), vector(7)]),
    "recurrence": (RECURRENCE, [vector(5), vector(5)]),
    "recurrence_zeros": (RECURRENCE, [np.array([0.0, 0.5, 0.0, 1.2]), vector(4)]),
    "recurrence_both": (RECURRENCE_BOTH, [vector(4), vector(4)]),
    "recurrence_exclusive": (RECURRENCE_BOTH.replace("scan", "scan exclusive"), [vector(4), vector(4)]),
    "matrices": (MATRICES.replace("OPERATOR ", ""), [vector(3), vector(3), vector(3), vector(3)]),
    "logsumexp": (LOGSUMEXP, [vector(5)]),
    "argmin": (ARGMIN, [vector(5)]),
    "variance": (VARIANCE, [vector(5)]),
    "captured": (CAPTURED, [vector(4), np.float64(0.3)]),
    "segmented": (
        SEGMENTED,
        [np.array([0.5, 0.0, 2.0, 0.7, 0.0]), np.array([True, False, False, True, False])],
    ),
    "branching": (BRANCHING, [vector(4)]),
    "wide_reduce": (WIDE_REDUCE, [vector(3), vector(3)]),
    "wide_scan": (WIDE_SCAN, [vector(3), vector(3)]),
    "product_in_branch": (IN_BRANCH, [np.array([0.0, 0.7, 0.4]), np.bool_(True)]),
    "scan_in_branch": (IN_BRANCH, [np.array([0.9, 1.7, 1.4]), np.bool_(False)]),
    "in_parfor": (IN_PARFOR, [matrix(2, 4), places(0, 2, 0, 0)]),
    "in_parfor_zeros": (
        IN_PARFOR,
        [np.array([[0.5, 0.0, 0.3, 0.0], [0.9, 1.1, 0.8, 0.4]]), places(0, 2, 0, 0)],
    ),
    "in_loop": (IN_LOOP, [vector(4), vector(3), places(2, 0, 2, 1)]),
    "one_value": (CAPTURED, [vector(1), np.float64(0.3)]),
    "no_value": (CAPTURED, [np.zeros(0), np.float64(0.3)]),
}


@pytest.mark.parametrize("name", CASES)
def test_derivatives_agree(name: str) -> None:
    text, args = CASES[name]
    assert_derivatives(parse(text), args, order=2, tolerance=2e-6)


def test_third_order_of_a_scan() -> None:
    assert_derivatives(parse(SCAN_MUL), [np.array([1.5, 0.0, 0.4])], order=3, tolerance=1e-5)


# ---------------------------------------------------------------------------- corners that differences miss
def gradient(text: str, *args: object, seed: np.ndarray | None = None) -> list[np.ndarray]:
    """The adjoints of every float argument, for cotangents of one."""
    fn = parse(text)
    results = [value for value in run(fn, args).results if is_float(value)]
    seeds = [np.ones_like(value) if np.ndim(value) else np.float64(1.0) for value in results]
    active = tuple(is_float(arg) for arg in args)
    pulled = run(vjp(fn, active), [*args, *([seed] if seed is not None else seeds)]).results
    return [np.asarray(value) for value in pulled[-sum(active) :]]


def test_second_derivative_of_a_product_at_its_zero() -> None:
    """∂²(x·y·z)/∂x∂y = z, also where x = 0: the formula that picks its case at the point would lose it."""
    fn = vjp(vjp(parse(REDUCE_MUL), (True,)), (True, False))
    x = np.array([0.0, 2.0, 3.0])
    seeds = [np.float64(0.0), np.array([0.0, 1.0, 0.0])]
    hessian_row = run(fn, [x, np.float64(1.0), *seeds]).results[-1]
    np.testing.assert_allclose(hessian_row, [3.0, 0.0, 0.0])


def test_product_that_underflows() -> None:
    (x_adj,) = gradient(REDUCE_MUL, np.array([1e-200, 1e-200, 2.0]))
    np.testing.assert_allclose(x_adj, [2e-200, 2e-200, 0.0])


def test_smallest_iteration_wins_on_ties() -> None:
    x = np.array([1.0, 2.0, 2.0, 1.0])
    (x_adj,) = gradient(SCAN_MUL.replace("mul", "max"), x)
    np.testing.assert_array_equal(x_adj, [1.0, 3.0, 0.0, 0.0])
    text = BINS.replace("OP", "max").replace("accumulate max h[k]~ w", "accumulate max h[k]~ v")
    x_adj, h_adj = gradient(text, x, np.array([0.0, 2.0]), places(0, 0, 0, 1))
    np.testing.assert_array_equal(x_adj, [0.0, 1.0, 0.0, 0.0])
    np.testing.assert_array_equal(h_adj, [0.0, 1.0])


def test_initial_value_wins_a_tie() -> None:
    text = BINS.replace("OP", "min").replace("accumulate min h[k]~ w", "accumulate min h[k]~ v")
    x_adj, h_adj = gradient(text, np.array([2.0, 2.0]), np.array([2.0, 5.0]), places(0, 0))
    np.testing.assert_array_equal(x_adj, [0.0, 0.0])
    np.testing.assert_array_equal(h_adj, [1.0, 1.0])


def test_nan_wins() -> None:
    (x_adj,) = gradient(SCAN_MUL.replace("mul", "max"), np.array([1.0, np.nan, 3.0, np.nan]))
    np.testing.assert_array_equal(x_adj, [1.0, 3.0, 0.0, 0.0])


def test_last_writer_has_the_gradient() -> None:
    text = SCATTER_ROWS
    a, h = np.ones((4, 1)), np.ones((3, 1))
    a_adj, h_adj = gradient(text, a, h, places(2, 0, 2, 0), seed=np.array([[1.0], [2.0], [3.0]]))
    np.testing.assert_array_equal(a_adj[:, 0], [0.0, 0.0, 3.0, 1.0])
    np.testing.assert_array_equal(h_adj[:, 0], [0.0, 2.0, 0.0])


def test_only_a_captured_variable_varies() -> None:
    fn = parse(CAPTURED)
    x, w = vector(4), np.float64(0.3)
    seeds = [np.float64(0.7), vector(4)]
    w_adj = run(vjp(fn, (False, True)), [x, w, *seeds]).results[-1]
    pushed = run(jvp(fn, (False, True)), [x, w, np.float64(1.0)]).results[2:]
    np.testing.assert_allclose(w_adj, seeds[0] * pushed[0] + seeds[1] @ pushed[1])


@pytest.mark.parametrize(
    "name", ["product_one_zero", "scanned_products", "bins_mul", "recurrence_both", "captured"]
)
def test_directions_are_single_ones_side_by_side(name: str) -> None:
    text, args = CASES[name]
    fn = parse(text)
    active = tuple(is_float(arg) for arg in args)
    own = np.random.default_rng(2)
    tangents = [own.standard_normal((*np.shape(arg), 2)) for arg in args if is_float(arg)]
    together = run(jvp(fn, active, directions=i64(2)), [*args, *tangents]).results
    for k in range(2):
        single = [np.float64(t[k]) if t.ndim == 1 else np.ascontiguousarray(t[..., k]) for t in tangents]
        alone = run(jvp(fn, active), [*args, *single]).results
        for several, one in zip(together, alone, strict=True):
            np.testing.assert_allclose(several[..., k] if np.ndim(several) > np.ndim(one) else several, one)


@pytest.mark.parametrize("operator", ["and", "or"])
def test_logic_needs_no_rule(operator: str) -> None:
    text = f"""fn f(x: f64[n]) -> f64 {{
      c, s = parfor i < n {{ v = x[i]; b = gt v 0.5; yield reduce {operator} b; yield reduce add v }}
      z = select c s 0.0
      return z
    }}"""
    assert_derivatives(parse(text), [np.array([0.7, 0.9])], order=2)


# ---------------------------------------------------------------------------- parallel, and cheap
PARALLEL = [
    "segmented",
    "scanned_rows",
    "scanned_products",
    "exclusive_products",
    "scanned_extrema",
    "bins_max",
    "bins_min",
    "bin_rows_max",
    "scatter_strided",
    "recurrence",
    "recurrence_both",
    "matrices",
    "logsumexp",
    "argmin",
    "variance",
    "captured",
]


@pytest.mark.parametrize("name", PARALLEL)
def test_no_sequential_loop(name: str) -> None:
    text, args = CASES[name]
    fn = parse(text)
    active = tuple(is_float(arg) for arg in args)
    first = vjp(fn, active)
    outputs = sum(is_float(value) for value in run(fn, args).results)
    for derived in (first, jvp(fn, active), vjp(first, (*active, *([True] * outputs)))):
        assert not any(isinstance(let.expr, Loop) for let in all_lets(derived.body))


def sized(name: str, n: int) -> list[object]:
    """Arguments of a program for n iterations."""
    own = np.random.default_rng(5)
    bins, index = own.uniform(0.6, 1.4, n // 2), own.integers(0, n // 2, n)
    match name:
        case "segmented":
            return [own.uniform(0.6, 1.4, n), own.uniform(0.0, 1.0, n) < 0.3]
        case "captured":
            return [own.uniform(0.6, 1.4, n), np.float64(0.1)]
        case "rows" | "scanned_rows":
            return [own.uniform(0.6, 1.4, (n, 3))]
        case "bin_rows_max" | "bin_rows_mul":
            return [own.uniform(0.6, 1.4, (n, 3)), own.uniform(0.6, 1.4, (n // 2, 3)), index]
        case "bins_mul" | "bins_max" | "bins_min" | "scatter":
            return [own.uniform(0.6, 1.4, n), bins, index]
        case "scatter_sparse":
            return [own.uniform(0.6, 1.4, n), own.uniform(0.6, 1.4, 20 * n), own.integers(0, 20 * n, n)]
        case "scatter_strided":
            return [own.uniform(0.6, 1.4, n), own.uniform(0.6, 1.4, 2 * n + 1)]
        case _:
            return [own.uniform(0.6, 1.4, n) for _ in CASES[name][1]]


LIMITS = {"bin_rows_mul": 7.5, "scanned_rows": 7.5}
"""Ratios of optimised programs above six: single multiplications, read and written column by column."""


@pytest.mark.parametrize(
    "name", [*PARALLEL, "product", "rows", "bins_mul", "bin_rows_mul", "scatter", "scatter_sparse"]
)
def test_work_is_bounded(name: str) -> None:
    fn = parse(CASES[name][0])
    ratios = []
    for n in (16, 32, 64):
        args = sized(name, n)
        active = tuple(is_float(arg) for arg in args)
        outcome = run(optimise(fn, Config()), args)
        seeds = [np.ones_like(v) if np.ndim(v) else np.float64(1.0) for v in outcome.results if is_float(v)]
        gradient_work = run(optimise(vjp(fn, active), Config()), [*args, *seeds]).work.total
        ratios.append(gradient_work / outcome.work.total)
    assert max(ratios) <= LIMITS.get(name, 6.0) and ratios[-1] <= ratios[0] * 1.05, ratios
