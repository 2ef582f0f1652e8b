"""Every node and yield, on one thread and on several, against the interpreter of the array IR."""

from __future__ import annotations

import numpy as np
import pytest

import anadrome as ad
from anadrome.array_ir.text import parse
from anadrome.config import Config
from anadrome.errors.runtime import AssertionFailed, IndexOutOfBounds, RaisedError, SingularMatrix
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.lower import schedule
from anadrome.targets.cpu import compile_cpu
from tests.lower.oracle import agree, kernel_arguments, lowered, statements_of

X = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0, 2.0])
P = np.array([0, 2, 1, 2, 6, 0, 2])
A = np.random.default_rng(5).normal(size=(6, 5))
B = np.random.default_rng(6).normal(size=(3, 5, 4))
S = A.T @ A + np.eye(5)
NAN = np.array([1.0, np.nan, 3.0])

PROGRAMS = {
    "reduce add": (
        "fn f(x: f64[n]) -> f64 { s = parfor i < n { v = x[i]; yield reduce add v }; return s }",
        X,
    ),
    "reduce mul": (
        "fn f(x: f64[n]) -> f64 { s = parfor i < n { v = x[i]; yield reduce mul v }; return s }",
        X,
    ),
    "reduce min": (
        "fn f(x: f64[n]) -> f64 { s = parfor i < n { v = x[i]; yield reduce min v }; return s }",
        X,
    ),
    "reduce max of NaN": (
        "fn f(x: f64[n]) -> f64 { s = parfor i < n { v = x[i]; yield reduce max v }; return s }",
        NAN,
    ),
    "reduce max of nothing": (
        "fn f(x: f64[n]) -> f64 { s = parfor i < 0 { v = x[i]; yield reduce max v }; return s }",
        X,
    ),
    "reduce and, or": (
        "fn f(x: f64[n]) -> bool, bool { a, b = parfor i < n { v = x[i]; p = gt v 0.0; q = gt v 100.0; "
        "yield reduce and p; yield reduce or q }; return a, b }",
        X,
    ),
    "reduce of integers": (
        "fn f(x: i64[n]) -> i64, i64 { a, b = parfor i < n { v = x[i]; yield reduce max v; "
        "yield reduce mul v }; "
        "return a, b }",
        P,
    ),
    "reduce max of rows": (
        "fn f(a: f64[n, m]) -> f64[m] { s = parfor i < n { v = a[i]; yield reduce max v }; return s }",
        A,
    ),
    "argmax": (
        "fn f(x: f64[n]) -> f64, i64 { a, b = parfor i < n { v = x[i]; "
        "yield reduce lambda v i by (l, j) (r, k) "
        "from (-inf, -1) { p = ge l r; u = select p l r; w = select p j k; return u, w } }; return a, b }",
        X,
    ),
    "reduce of rows by a lambda": (
        "fn f(a: f64[n, m]) -> f64[m] { z = full [m] 0.0; s = parfor i < n { v = a[i]; yield reduce lambda v "
        "by (l) (r) from (z) { u = parfor j < m { p = l[j]; q = r[j]; w = add p q; yield stack w }; "
        "return u } }; return s }",
        A,
    ),
    "scan": (
        "fn f(x: f64[n]) -> f64[n], f64[n] { a, b = parfor i < n { v = x[i]; yield scan add v; "
        "yield scan exclusive mul v }; return a, b }",
        X,
    ),
    "scan of rows": (
        "fn f(a: f64[n, m]) -> f64[n, m] { s = parfor i < n { v = a[i]; yield scan add v }; return s }",
        A,
    ),
    "scan by a lambda": (
        "fn f(x: f64[n]) -> f64[n], f64[n] { a, b = parfor i < n { v = x[i]; yield scan lambda v 0.5 "
        "by (l, m) (r, k) from (0.0, 1.0) { p = mul k l; q = add p r; c = mul m k; return q, c } }; "
        "return a, b }",
        X,
    ),
    "accumulate": (
        "fn f(x: f64[n], p: i64[n]) -> f64[n] { h = parfor i < n { j = p[i]; v = x[i]; "
        "yield accumulate add x[j] v }; "
        "return h }",
        X,
        P,
    ),
    "accumulate rows, max": (
        "fn f(a: f64[n, m], p: i64[k]) -> f64[n, m] { h = parfor i < 6 { j = p[i]; g = min j 5; "
        "r = parfor t < m "
        "{ v = a[i, t]; w = mul v 2.0; yield stack w }; yield accumulate max a[g] r }; return h }",
        A,
        P,
    ),
    "accumulate by a lambda": (
        "fn f(x: f64[n], p: i64[n]) -> f64[n] { h = parfor i < n { j = p[i]; v = x[i]; "
        "yield accumulate lambda x[j] v "
        "by (l) (r) from (1.0) { u = mul l r; return u } }; return h }",
        X,
        P,
    ),
    "scatter": (
        "fn f(x: f64[n], p: i64[n]) -> f64[n] { h = parfor i < n { j = p[i]; v = x[i]; w = mul v 10.0; "
        "yield scatter x[j] w }; return h }",
        X,
        P,
    ),
    "scatter rows, ignored outside": (
        "fn f(a: f64[n, m]) -> f64[n, m] { h = parfor i < n { j = add i 3; r = parfor t < m { v = a[i, t]; "
        "yield stack v }; yield scatter a[j]~ r }; return h }",
        A,
    ),
    "accumulate, ignored outside": (
        "fn f(x: f64[n]) -> f64[n] { h = parfor i < n { j = sub i 2; v = x[i]; "
        "yield accumulate add x[j]~ v }; return h }",
        X,
    ),
    "with_sum of rows": (
        "fn f(a: f64[n, m]) -> f64[n, m] { z = full [n, m] 0.0; s = with_sum (t = z) { u = parfor i < n { "
        "r = parfor j < m { v = a[i, j]; w = exp v; yield stack w }; j = sub n 1; k = sub j i; "
        "b = add_to t[k]? r; c = add_to b[0, 1] 3.0; yield carry t c }; return u }; return s }",
        A,
    ),
    "with_sum through a loop and a branch": (
        "fn f(x: f64[n], k: i64) -> f64[n], f64 { z = full [n] 1.0; s, y = with_sum (t = z) { "
        "u, q = loop (w = t, p = 0.0) for i < k { v = x[i]; c = gt v 0.0; e = if c { g = add_to w[i] v; "
        "return g } "
        "else { return w }; r = add p v; return e, r }; return u, q }; return s, y }",
        X,
        5,
    ),
    "with_sum of a scalar": (
        "fn f(x: f64[n], y: f64) -> f64 { s = with_sum (t = y) { u = parfor i < n { v = x[i]; "
        "a = add_to t[] v; "
        "yield carry t a }; return u }; return s }",
        X,
        2.0,
    ),
    "nested sums": (
        "fn f(a: f64[n, m]) -> f64[m] { s = parfor i < n { z = full [m] 0.0; r = with_sum (t = z) { "
        "u = parfor j < m { v = a[i, j]; b = add_to t[0] v; c = add_to b[j] v; yield carry t c }; "
        "return u }; "
        "yield reduce add r }; return s }",
        A,
    ),
    "a contribution that is a branch": (
        "fn f(a: f64[n, m]) -> f64[m] { s = parfor i < n { v = a[i, 0]; p = gt v 0.0; r = if p { "
        "q = a[i]; return q } "
        "else { z = full [m] 0.0; return z }; yield reduce add r }; return s }",
        A,
    ),
    "literals of rows": (
        "fn f(x: f64[n]) -> f64[3, n] { a = parfor i < n { v = x[i]; w = exp v; yield stack w }; "
        "z = full [n] 2.0; "
        "l = literal [a, x, z]; return l }",
        X,
    ),
    "reshapes": (
        "fn f(a: f64[6, 5]) -> f64[5, 6], f64, f64[1, 1] { b = reshape a [5, 6]; v = a[0, 0]; "
        "s = literal [v]; "
        "r = reshape s [1, 1]; t = r[0, 0]; return b, t, r }",
        A,
    ),
    "matrix products": (
        "fn f(a: f64[n, m]) -> f64[n, n], f64[m, m] { "
        "b = call matmul(a, a, transpose_left=0, transpose_right=1); "
        "c = call matmul(a, a, transpose_left=1, transpose_right=0); return b, c }",
        A,
    ),
    "sum of matrix products": (
        "fn f(a: f64[k, n, m], b: f64[m, n]) -> f64[n, n] { s = parfor i < k { r = a[i]; "
        "c = call matmul(r, b, transpose_left=0, transpose_right=0); yield reduce add c }; return s }",
        A.reshape(3, 2, 5),
        A[:5, :2],
    ),
    "small matrix products": (
        "fn f(a: f64[3, 2]) -> f64[2, 2] { c = call matmul(a, a, transpose_left=1, transpose_right=0); "
        "return c }",
        A[:3, :2],
    ),
    "linear systems": (
        "fn f(a: f64[n, n], b: f64[n, m]) -> f64[n, m], f64[n, n], f64, f64[n, n], f64[n, n] { "
        "x = call solve(a, b, transpose=0); y = call inv(a); d = call det(a); l = call cholesky(a); "
        "w = call cholesky_adjoint(l, a); return x, y, d, l, w }",
        S,
        A[:5, :2],
    ),
    "sums of columns": (
        "fn f(a: f64[n, m]) -> f64[m] { s = parfor j < m { "
        "r = parfor i < n { v = a[i, j]; yield reduce add v }; yield stack r }; return s }",
        A,
    ),
    "means of scaled columns": (
        "fn f(a: f64[n, m], y: f64[m]) -> f64[m], f64[m] { c = to_f64 n; s, t = parfor j < m { k = y[j]; "
        "r = parfor i < n { v = a[i, j]; w = mul v k; yield reduce add w }; q = div r c; z = mul q k; "
        "yield stack q; yield stack z }; return s, t }",
        A,
        X[:5],
    ),
    "a product of matrices in loops": (
        "fn f(a: f64[n, m], b: f64[m, k]) -> f64[n, k] { s = parfor i < n { row = parfor j < k { "
        "r = parfor t < m { u = a[i, t]; v = b[t, j]; w = mul u v; yield reduce add w }; yield stack r }; "
        "yield stack row }; return s }",
        A,
        A.T.copy(),
    ),
    "sums of sums of columns": (
        "fn f(a: f64[n, m, k], w: f64[n], u: f64[k]) -> f64[k] { s = parfor j < k { c = u[j]; "
        "r = parfor i < n { b = w[i]; t = parfor p < m { v = a[i, p, j]; x = mul v b; y = mul x c; "
        "yield reduce add y }; yield reduce add t }; q = add r c; yield stack q }; return s }",
        B,
        X[:3],
        X[:4],
    ),
    "maxima of maxima of maxima of columns": (
        "fn f(a: f64[n, m, k, h]) -> f64[h] { s = parfor j < h { r = parfor i < n { t = parfor p < m { "
        "z = parfor q < k { v = a[i, p, q, j]; yield reduce max v }; yield reduce max z }; "
        "yield reduce max t }; yield stack r }; return s }",
        np.stack([B, -B, B + 1.0], axis=1),
    ),
    "maxima of sums of columns": (
        "fn f(a: f64[n, m, k]) -> f64[k] { s = parfor j < k { r = parfor i < n { t = parfor p < m { "
        "v = a[i, p, j]; yield reduce add v }; yield reduce max t }; yield stack r }; return s }",
        B,
    ),
    "sums of powers of sums of columns": (
        "fn f(a: f64[n, m, k]) -> f64[k] { s = parfor j < k { r = parfor i < n { t = parfor p < m { "
        "v = a[i, p, j]; yield reduce add v }; w = mul t t; yield reduce add w }; yield stack r }; "
        "return s }",
        B,
    ),
    "sums of as many as a table says": (
        "fn f(a: f64[n, m, k], c: i64[n]) -> f64[k] { s = parfor j < k { r = parfor i < n { e = c[i]; "
        "t = parfor p < e { v = a[i, p, j]; yield reduce add v }; yield reduce add t }; yield stack r }; "
        "return s }",
        B,
        np.array([2, 0, 5]),
    ),
    "transforms": (
        "fn f(a: f64[n, m], h: f64[k], w: f64[m]) -> f64[n, m], f64[n, k], f64[n, m], f64[n, m] { "
        "b, c = call fourier_of_real(a, h); d = call fourier_to_real(c, b, w); "
        "e, f = parfor i < n { r = a[i]; s = d[i]; p, q = call fourier(r, s, backward=0); "
        "t, u = call fourier(q, p, backward=1); yield stack p; yield stack u }; "
        "return d, b, e, f }",
        A,
        np.zeros(A.shape[1] // 2 + 1),
        np.zeros(A.shape[1]),
    ),
    "argsort": ("fn f(x: f64[n]) -> i64[n] { p = call argsort(x); return p }", X),
    "float32": (
        "fn f(x: f32[n]) -> f32[n], f32 { y, s = parfor i < n { v = x[i]; w = mul v v; yield stack w; "
        "yield reduce add w }; return y, s }",
        X.astype(np.float32),
    ),
    "newton": (
        "fn f(a: f64) -> f64, i64 { y, k = loop (x = 1.0, t = 0) while { s = mul x x; d = sub s a; "
        "e = abs d; "
        "p = gt e 1.0e-9; return p } do { q = div a x; r = add q x; h = mul r 0.5; u = add t 1; "
        "return h, u }; "
        "return y, k }",
        2.0,
    ),
    "nothing": (
        "fn f(x: f64[n]) -> f64[n] { y = parfor i < n { v = x[i]; yield stack v }; return y }",
        X[:0],
    ),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees(name, threads, monkeypatch):
    monkeypatch.setattr(schedule, "LEAST_WORK", -(10**9))
    text, *args = PROGRAMS[name]
    agree(text, *args, config=Config(threads=threads))


def test_strided_sums_run_along_rows():
    """The innermost loops write neighbours: one over columns each."""
    for name in (
        "sums of columns",
        "means of scaled columns",
        "a product of matrices in loops",
        "sums of sums of columns",
        "maxima of maxima of maxima of columns",
    ):
        loops = statements_of(lowered(PROGRAMS[name][0], Config(threads=1)), kernel_ir.For)
        innermost = [loop.index.name for loop in loops if not statements_of(loop, kernel_ir.For)]
        assert not {"i", "p", "q"} & set(innermost), name


def test_rows_without_elements_take_no_loop():
    """Neither of constant size nor of an unknown number of rows: 2⁴⁰ of them take no time."""
    text = (
        "fn f(x: f64[n]) -> f64[n, 0] { a = parfor i < n { v = x[i]; w = mul v 2.0; "
        "r = parfor j < 0 { u = mul w v; yield stack u }; yield stack r }; return a }"
    )
    assert not statements_of(lowered(text, Config(threads=2)), kernel_ir.For)
    agree(text, X)


def test_threads_are_used_and_decided_at_run_time():
    text = PROGRAMS["reduce add"][0]
    loops = statements_of(lowered(text, Config(threads=2)), kernel_ir.For)
    assert kernel_ir.Binding.THREADS in {loop.binding for loop in loops}
    agree(text, np.random.default_rng(0).normal(size=200_000), interpret=False)


GATHER = "fn f(x: f64[n], j: i64) -> f64 { v = x[j]?; return v }"
ROW = (
    "fn f(a: f64[n, m], j: i64) -> f64 { r = a[j]?; "
    "s = parfor i < m { v = r[i]; yield reduce add v }; return s }"
)


@pytest.mark.parametrize("text", [GATHER, ROW])
@pytest.mark.parametrize("index", [-1, 6, 10**12])
def test_an_index_outside_is_an_error(text, index):
    array = A if text is ROW else A[:, 0].copy()
    with pytest.raises(IndexOutOfBounds, match=f"index {index} is out of range for a dimension of size 6"):
        agree_fails(text, array, index)


@pytest.mark.parametrize("text", [GATHER, ROW])
def test_an_index_into_nothing_is_an_error(text):
    with pytest.raises(IndexOutOfBounds, match="size 0"):
        agree_fails(text, A[:0] if text is ROW else X[:0], 0)


def agree_fails(text, *args):
    """Run the compiled program on arguments that it refuses."""
    config = Config(threads=1)
    compile_cpu(lowered(text, config), config)(kernel_arguments(parse(text), args))


def test_checks():
    text = (
        'fn f(x: f64) -> f64 { p = gt x 0.0; check p assert "x is {0}" x; '
        'q = lt x 9.0; check q raise "big"; return x }'
    )
    assert agree(text, 2.0) == [2.0]
    with pytest.raises(AssertionFailed, match=r"x is -1\.0"):
        agree_fails(text, -1.0)
    with pytest.raises(RaisedError, match="big"):
        agree_fails(text, 10.0)
    kernel = lowered(text, Config(checks=False))
    assert len(statements_of(kernel, kernel_ir.Check)) == 1


def test_without_checks_an_index_is_taken_as_proved():
    assert not statements_of(lowered(GATHER, Config(checks=False)), kernel_ir.Check)


def test_a_singular_system_is_an_error():
    text = "fn f(a: f64[n, n]) -> f64[n, n] { b = call inv(a); return b }"
    with pytest.raises(SingularMatrix):
        agree_fails(text, np.ones((3, 3)))


@pytest.mark.parametrize(("threads", "copies"), [(1, 1), (2, 3), (16, 17), (32, 29), (400, 29)])
def test_as_many_threads_work_as_pay_for_their_copies(threads, copies):
    """6·10⁶ operations pay for 28 copies of 5·10⁴ numbers; more threads are no reason for one alone."""

    def sums(places, values):
        found = np.zeros(50_000)
        np.add.at(found, places, values)
        return found

    rng = np.random.default_rng(0)
    places, values = rng.integers(0, 50_000, 1_000_000), rng.normal(size=1_000_000)
    compiled = ad.jit(sums, config=Config(threads=threads))
    assert ad.explain(compiled, places, values).predicted == copies * 400_000
    np.testing.assert_allclose(compiled(places, values), sums(places, values), rtol=0, atol=1e-11)
