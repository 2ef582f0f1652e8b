"""Where arrays live: built in their destination, overwritten only when dead, never allocated in a loop."""

from __future__ import annotations

import numpy as np
import pytest

from anadrome.config import Config
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir.walk import statements as statements_in
from tests.lower.oracle import agree, loop_allocations, lowered, statements_of

ONE_THREAD = Config(threads=1)
X = np.array([3.0, -1.0, 4.0, 1.0, -5.0])
A = np.arange(12.0).reshape(4, 3) - 5.0

SCANNED = "e = sub n 1; a = parfor i < n { v = x[i]; yield scan add v };"
BACK = "b = parfor j < n { k = sub e j; v = a[k]; yield stack v }"
CHANGED = "w = mul v 2.0; yield stack w"
BACK_AGAIN = BACK.replace("b = ", "c = ")
MADE = "a = parfor i < n { v = x[i]; w = add v 1.0; yield stack w };"
AGAIN = "e = sub n 1; c = parfor j < n { k = sub e j; v = a[k]; w = add v v; yield scan add w };"
TURNED = "b = parfor h < n { k = sub e h; v = c[k]; yield stack v }"
FORWARDS = "c = parfor j < n { k = sub e j; v = a[j]; w = add v v; yield scan add w };"
IN_PLACE = {
    "update in a loop": (
        "fn f(x: f64[n], k: i64) -> f64[n] { "
        "y = loop (c = x) for i < k { v = c[i]; w = mul v 2.0; d = update c[i] w; return d }; return y }",
        (X, 3),
        1,
    ),
    "update in a branch of a loop": (
        "fn f(x: f64[n], k: i64) -> f64[n] { y = loop (c = x) for i < k { v = c[i]; p = gt v 0.0; "
        "e = if p { w = mul v 2.0; d = update c[i] w; return d } else { return c }; return e }; return y }",
        (X, 4),
        1,
    ),
    "loop in a loop": (
        "fn f(x: f64[n], k: i64) -> f64[n] { y = loop (c = x) for t < k { "
        "e = loop (b = c) for i < n { v = b[i]; w = mul v 1.5; d = update b[i] w; return d }; return e }; "
        "return y }",
        (X, 3),
        1,
    ),
    "a row built where it is put": (
        "fn f(x: f64[n, m], k: i64) -> f64[n, m] { y = loop (c = x) for i < k { g = to_f64 i; "
        "row = parfor j < m { v = to_f64 j; w = mul g v; yield stack w }; d = update c[i] row; "
        "return d }; return y }",
        (A, 3),
        1,
    ),
    "a row read before it is replaced": (
        "fn f(x: f64[n, m], k: i64) -> f64[n, m] { y = loop (c = x) for i < k { row = c[i]; "
        "z = full [m] 0.0; d = update c[i] z; j = sub n 1; e = update d[j] row; return e }; return y }",
        (A, 3),
        2,
    ),
    "a row taken out of a sum's adjoint": (
        "fn f(x: f64[n, m], k: i64) -> f64[n, m], f64[n, m] { z = full [n, m] 0.0; "
        "s, y = with_sum (t = z) { q, r = loop (c = x, u = t) for i < k { row = c[i]; o = full [m] 0.0; "
        "d = update c[i] o; j = sub n 1; w = add_to u[j] row; return d, w }; return r, q }; return s, y }",
        (A, 3),
        3,
    ),
    "through a sum that a loop inside adds to": (
        "fn f(x: f64[n], k: i64) -> f64[n], f64[n] { z = full [n] 0.0; "
        "y, g = loop (c = x, h = z) for t < k { "
        "s, b = with_sum (u = h) { w, d = loop (q = u, e = c) for i < n { v = e[i]; p = mul v 1.5; "
        "f = update e[i] p; o = add_to q[i] v; return o, f }; return w, d }; return b, s }; return y, g }",
        (X, 3),
        2,
    ),
    "a histogram carried by a loop": (
        "fn f(x: f64[n], k: i64) -> f64[n] { y = loop (c = x) for t < k { "
        "h = parfor i < n { v = to_f64 i; j = sub n 1; g = sub j i; yield accumulate add c[g] v }; "
        "return h }; return y }",
        (X, 3),
        1,
    ),
    "updates in a row": (
        "fn f(x: f64[n]) -> f64[n] { a = parfor i < n { v = x[i]; w = add v 1.0; yield stack w }; "
        "b = update a[0] 7.0; c = update b[1] 8.0; return c }",
        (X,),
        1,
    ),
    "stack of rows of a loop": (
        "fn f(x: f64[n], k: i64) -> f64[n, n] { y = parfor r < n { z = full [n] 0.0; "
        "l = loop (c = z) for i < n { v = x[i]; d = update c[i] v; return d }; yield stack l }; return y }",
        (X, 3),
        1,
    ),
    "a map of what nobody reads after it": (
        f"fn f(x: f64[n]) -> f64[n] {{ {MADE} b = parfor j < n {{ v = a[j]; q = x[j]; w = mul v q; "
        "yield stack w }; return b }",
        (X,),
        1,
    ),
    "two maps of two arrays": (
        f"fn f(x: f64[n]) -> f64[n], f64[n] {{ {MADE} b = parfor i < n {{ v = a[i]; w = mul v v; "
        "yield stack w }; c, d = parfor j < n { v = a[j]; u = b[j]; w = mul v u; q = sub v u; yield stack w; "
        "yield stack q }; return c, d }",
        (X,),
        2,
    ),
    "a second result finds no more room": (
        f"fn f(x: f64[n]) -> f64[n], f64[n] {{ {MADE} b, c = parfor j < n {{ v = a[j]; w = mul v 3.0; "
        "u = mul v 5.0; yield stack w; yield stack u }; return b, c }",
        (X,),
        2,
    ),
    "an element that is read in a loop inside": (
        f"fn f(x: f64[n]) -> f64[n] {{ {MADE} b = parfor j < n {{ s = parfor k < n {{ v = a[j]; q = x[k]; "
        "w = mul v q; yield reduce add w }; yield stack s }; return b }",
        (X,),
        1,
    ),
    "a map of another element": (
        f"fn f(x: f64[n]) -> f64[n] {{ {MADE} b = parfor j < n {{ v = a[j]; k = sub n 1; l = sub k j; "
        "u = a[l]; w = mul v u; yield stack w }; return b }",
        (X,),
        2,
    ),
    "a map of what is read after it": (
        f"fn f(x: f64[n]) -> f64[n], f64 {{ {MADE} b = parfor j < n {{ v = a[j]; w = mul v 3.0; "
        "yield stack w }; s = a[0]; return b, s }",
        (X,),
        2,
    ),
    "a map in a loop of an array outside": (
        f"fn f(x: f64[n], k: i64) -> f64 {{ {MADE} s = loop (t = 0.0) for h < k {{ "
        "b = parfor j < n { v = a[j]; w = mul v 3.0; yield stack w }; q = b[0]; e = b[1]; r = mul q e; "
        "u = add t r; return u }; return s }",
        (X, 3),
        2,
    ),
    "a map of a row of an array": (
        "fn f(x: f64[n, m]) -> f64[m] { a = parfor i < n { r = x[i]; yield stack r }; "
        "q = a[1]; b = parfor j < m { v = q[j]; w = mul v 3.0; yield stack w }; return b }",
        (A,),
        2,
    ),
    "a scan that is read backwards": (
        f"fn f(x: f64[n]) -> f64[n] {{ {SCANNED} {BACK}; return b }}",
        (X,),
        1,
    ),
    "a scan without its own element, read backwards": (
        f"fn f(x: f64[n]) -> f64[n] {{ {SCANNED.replace('scan', 'scan exclusive')} {BACK}; return b }}",
        (X,),
        1,
    ),
    "a scan that is read backwards and once more": (
        f"fn f(x: f64[n]) -> f64[n], f64 {{ {SCANNED} {BACK}; s = a[1]; return b, s }}",
        (X,),
        2,
    ),
    "a scan that is read backwards twice": (
        f"fn f(x: f64[n]) -> f64[n], f64[n] {{ {SCANNED} {BACK}; {BACK_AGAIN}; return b, c }}",
        (X,),
        3,
    ),
    "a scan that is a result and read backwards": (
        f"fn f(x: f64[n]) -> f64[n], f64[n] {{ {SCANNED} {BACK}; return a, b }}",
        (X,),
        2,
    ),
    "a scan that is read forwards": (
        f"fn f(x: f64[n]) -> f64[n] {{ {SCANNED} {BACK.replace('sub e j', 'add j 0')}; return b }}",
        (X,),
        2,
    ),
    "a scan of which less is read backwards": (
        f"fn f(x: f64[n]) -> f64[m] {{ m = sub n 1; {SCANNED} {BACK.replace('j < n', 'j < m')}; return b }}",
        (X,),
        2,
    ),
    "a scan that is changed and read backwards": (
        f"fn f(x: f64[n]) -> f64[n] {{ {SCANNED} {BACK.replace('yield stack v', CHANGED)}; return b }}",
        (X,),
        2,
    ),
    "a scan backwards of an array that nobody reads any more": (
        f"fn f(x: f64[n]) -> f64[n] {{ {MADE} {AGAIN} {TURNED}; return b }}",
        (X,),
        1,
    ),
    "a scan backwards of an array that is a result": (
        f"fn f(x: f64[n]) -> f64[n], f64[n] {{ {MADE} {AGAIN} {TURNED}; return a, b }}",
        (X,),
        2,
    ),
    "a scan backwards of an array that is also read forwards": (
        f"fn f(x: f64[n]) -> f64[n] {{ {MADE} {AGAIN.replace('w = add v v', 'u = a[j]; w = add u v')} "
        f"{TURNED}; return b }}",
        (X,),
        2,
    ),
    "a scan of an array that nobody reads any more": (
        f"fn f(x: f64[n]) -> f64[n] {{ {SCANNED} {FORWARDS} return c }}",
        (X,),
        1,
    ),
    "a scan of an array that is read backwards": (
        f"fn f(x: f64[n]) -> f64[n] {{ {SCANNED} {FORWARDS.replace('a[j]', 'a[k]')} return c }}",
        (X,),
        2,
    ),
    "a scan by a lambda that reads the array": (
        f"fn f(x: f64[n]) -> f64[n] {{ {SCANNED} c = parfor j < n {{ v = a[j]; "
        "yield scan lambda v by (p) (q) from (0.0) { o = a[0]; s = add p q; r = mul s o; return r } }; "
        "return c }",
        (X,),
        2,
    ),
    "a map of numbers into others": (
        f"fn f(x: f64[n]) -> f32[n] {{ {MADE} b = parfor j < n {{ v = a[j]; w = to_f32 v; yield stack w }}; "
        "return b }",
        (X,),
        2,
    ),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place(name):
    text, args, allocations = IN_PLACE[name]
    agree(text, *args)
    kernel = lowered(text, ONE_THREAD)
    heap = [
        one for one in statements_of(kernel, kernel_ir.Alloc) if one.buffer.space is kernel_ir.Space.GLOBAL
    ]
    assert len(heap) == allocations
    assert loop_allocations(kernel) == []


ALIASING = {
    "a version from before a sum, read behind it": (
        "fn f(x: f64[n], k: i64) -> f64[n], f64[n], f64 { z = full [n] 0.0; "
        "y, g, r = loop (c = x, h = z, a = 0.0) for t < k { "
        "s, b = with_sum (u = h) { w, d = loop (q = u, e = c) for i < n { v = e[i]; p = mul v 1.5; "
        "f = update e[i] p; o = add_to q[i] v; return o, f }; return w, d }; "
        "l = c[1]; a1 = add a l; return b, s, a1 }; return y, g, r }",
        (X, 3),
    ),
    "a version from before a loop in a sum, read behind that loop": (
        "fn f(x: f64[n], k: i64) -> f64[n], f64[n] { z = full [n] 0.0; "
        "y, g = loop (c = x, h = z) for t < k { "
        "s, b = with_sum (u = h) { w, d = loop (q = u, e = c) for i < n { v = e[i]; p = mul v 1.5; "
        "f = update e[i] p; o = add_to q[i] v; return o, f }; l = c[1]; j = add_to w[0] l; return j, d }; "
        "return b, s }; return y, g }",
        (X, 3),
    ),
    "the old version is read later": (
        "fn f(x: f64[n]) -> f64[n], f64 { a = parfor i < n { v = x[i]; w = add v 1.0; yield stack w }; "
        "b = update a[0] 7.0; s = a[0]; return b, s }",
        (X,),
    ),
    "a row that is a view is read later": (
        "fn f(x: f64[n, m]) -> f64[n, m], f64[m] { a = parfor i < n { r = x[i]; yield stack r }; "
        "v = a[1]; z = a[0]; b = update a[1] z; return b, v }",
        (A,),
    ),
    "a reshaped view is read later": (
        "fn f(x: f64[n, 3]) -> f64[n, 3], f64[m] { a = parfor i < n { r = x[i]; yield stack r }; "
        "m = mul n 3; "
        "v = reshape a [m]; b = update a[1, 1] 9.0; return b, v }",
        (A,),
    ),
    "a parameter": ("fn f(x: f64[n]) -> f64[n] { b = update x[0] 7.0; return b }", (X,)),
    "a parameter is a result": ("fn f(x: f64[n]) -> f64[n], f64[n] { return x, x }", (X,)),
    "one array twice": (
        "fn f(x: f64[n]) -> f64[n], f64[n] { a = parfor i < n { v = x[i]; yield stack v }; return a, a }",
        (X,),
    ),
    "a row is a result": (
        "fn f(x: f64[n, m]) -> f64[m], f64[n, m] { a = parfor i < n { r = x[i]; yield stack r }; "
        "v = a[0]; return v, a }",
        (A,),
    ),
    "two carried arrays change places": (
        "fn f(x: f64[n], y: f64[n], k: i64) -> f64[n], f64[n] { "
        "a, b = loop (c = x, d = y) for t < k { return d, c }; return a, b }",
        (X, X * 2, 3),
    ),
    "three carried arrays rotate, one is updated": (
        "fn f(x: f64[n], k: i64) -> f64[n], f64[n], f64[n] { p = full [n] 1.0; q = full [n] 2.0; "
        "a, b, e = loop (c = x, d = p, g = q) for t < k { u = update c[0] 9.0; return d, g, u }; "
        "return a, b, e }",
        (X, 4),
    ),
    "one array is the next state of two, in either order": (
        "fn f(x: f64[n], k: i64) -> f64[n], f64[n], f64[n], f64[n], f64 { "
        "p = full [n] 2.0; q = full [n] 3.0; "
        "a, b, g, h, s = loop (c = x, d = p, e = q, o = x, t = 0.0) for i < k { v = d[i]; w = mul v 3.0; "
        "u = update c[i] w; y = update e[i] v; j = o[0]; z = add t j; return u, u, y, y, z }; "
        "return a, b, g, h, s }",
        (X, 4),
    ),
    "the old state is kept beside the new": (
        "fn f(x: f64[n], k: i64) -> f64[n], f64[n] { a, b = loop (c = x, d = x) for t < k { "
        "w = c[t]; v = mul w 3.0; u = update c[t] v; return u, c }; return a, b }",
        (X, 4),
    ),
    "a loop reads all of the array that it fills": (
        "fn f(x: f64[n]) -> f64, f64[n] { z = full [n] 1.0; s, y = loop (t = 0.0, c = z) for i < n { "
        "v = x[i]; d = update c[i] v; w = parfor j < n { e = d[j]; yield reduce add e }; u = add t w; "
        "return u, d }; return s, y }",
        (X,),
    ),
    "a loop keeps the array that it fills twice": (
        "fn f(x: f64[n]) -> f64[n], f64[n] { z = full [n] 1.0; y, w = loop (c = z, p = z) for i < n { "
        "v = x[i]; d = update c[i] v; return d, d }; return y, w }",
        (X,),
    ),
    "a loop starts from an array that its body reads": (
        "fn f(x: f64[n], k: i64) -> f64[n] { s = parfor i < n { v = x[i]; w = mul v 2.0; yield stack w }; "
        "y = loop (c = s) for i < k { v = s[0]; o = c[i]; w = add v o; d = update c[0] w; return d }; "
        "return y }",
        (X, 3),
    ),
    "a sum starts from an array that its body reads": (
        "fn f(x: f64[n]) -> f64[n] { s = parfor i < n { v = x[i]; w = mul v 2.0; yield stack w }; "
        "y = with_sum (t = s) { u = parfor i < n { v = s[0]; a = add_to t[0] v; yield carry t a }; "
        "return u }; return y }",
        (X,),
    ),
    "a loop invariant is a result": (
        "fn f(x: f64[n], k: i64) -> f64[n] { z = full [n] 0.0; y = loop (c = z) for i < k { return x }; "
        "return y }",
        (X, 2),
    ),
    "no iteration": (
        "fn f(x: f64[n], k: i64) -> f64[n] { y = loop (c = x) for i < k { d = parfor j < n { v = c[j]; "
        "w = exp v; "
        "yield stack w }; return d }; return y }",
        (X, 0),
    ),
    "both results of a branch from one array": (
        "fn f(x: f64[n], p: bool) -> f64[n], f64[n] { a = parfor i < n { v = x[i]; yield stack v }; "
        "b, c = if p { d = update a[0] 9.0; return d, a } else { return a, a }; return b, c }",
        (X, True),
    ),
    "a branch exchanges two arrays": (
        "fn f(x: f64[n], p: bool) -> f64[n], f64[n] { a = parfor i < n { v = x[i]; yield stack v }; "
        "e = parfor i < n { v = x[i]; w = neg v; yield stack w }; "
        "b, c = if p { return e, a } else { return a, e }; return b, c }",
        (X, True),
    ),
    "the elements of a literal are read later": (
        "fn f(x: f64[n]) -> f64[2, n], f64[n] { a = parfor i < n { v = x[i]; yield stack v }; "
        "b = parfor i < n { v = x[i]; w = neg v; yield stack w }; c = literal [a, b]; "
        "d = update c[0, 0] 7.0; "
        "return d, a }",
        (X,),
    ),
    "a row is put into another row of the same array": (
        "fn f(x: f64[n, m]) -> f64[n, m] { a = parfor i < n { r = x[i]; yield stack r }; v = a[2]; "
        "b = update a[0] v; return b }",
        (A,),
    ),
    "a while loop with two arrays": (
        "fn f(x: f64[n]) -> f64[n], f64[n] { a, b, k = loop (c = x, d = x, t = 0) while { p = lt t 5; "
        "return p } "
        "do { u = add t 1; e = parfor i < n { v = c[i]; w = d[i]; s = sub v w; q = add s 1.0; "
        "yield stack q }; "
        "return d, e, u }; return a, b }",
        (X,),
    ),
    "an update of a view of a carried array": (
        "fn f(x: f64[n, m], k: i64) -> f64[n, m] { y = loop (c = x) for i < k { r = c[i]; "
        "q = update r[0] 100.0; "
        "d = update c[0] q; return d }; return y }",
        (A, 3),
    ),
}


@pytest.mark.parametrize("name", ALIASING)
def test_aliasing(name):
    text, args = ALIASING[name]
    agree(text, *args)
    agree(text, *args, config=ONE_THREAD)
    assert loop_allocations(lowered(text, ONE_THREAD)) == []


def test_a_fresh_state_is_exchanged_not_copied():
    text = (
        "fn f(x: f64[n], k: i64) -> f64[n] { y = loop (c = x) for t < k { "
        "d = parfor i < n { v = c[i]; w = mul v 0.5; yield stack w }; return d }; return y }"
    )
    agree(text, X, 5)
    kernel = lowered(text, ONE_THREAD)
    assert len(statements_of(kernel, kernel_ir.Swap)) == 1
    assert len(statements_of(kernel, kernel_ir.Alloc)) == 2


EXCHANGED = {
    "two arrays": (
        "fn f(x: f64[n], k: i64) -> f64[n], f64[n] { z = full [n] 0.0; m = sub n 1; "
        "p, q = loop (a = x, b = z) for t < k { c = parfor j < m { u = a[j]; i = add j 1; v = mul u 2.0; "
        "yield scatter b[i] v }; return c, a }; return p, q }",
        2,
        1,
    ),
    "three arrays": (
        "fn f(x: f64[n], k: i64) -> f64[n], f64[n], f64[n] { z = full [n] 0.0; y = full [n] 1.0; "
        "p, q, r = loop (a = x, b = z, c = y) for t < k { u = a[1]; d = update b[0] u; return d, c, a }; "
        "return p, q, r }",
        3,
        2,
    ),
    "a new array and the two before it": (
        "fn f(x: f64[n], k: i64) -> f64[n], f64[n] { z = full [n] 0.5; "
        "p, q = loop (a = x, b = z) for t < k { c = parfor j < n { u = a[j]; v = b[j]; w = sub u v; "
        "yield stack w }; return c, a }; return p, q }",
        3,
        2,
    ),
    "in a while": (
        "fn f(x: f64[n], k: i64) -> f64[n], f64[n] { z = full [n] 0.0; "
        "p, q, s = loop (a = x, b = z, t = 0) while { h = lt t k; return h } do { u = a[0]; v = add u 1.0; "
        "d = update b[1] v; w = add t 1; return d, a, w }; return p, q }",
        2,
        1,
    ),
}
"""Loops that pass arrays from one carried variable to another; how many buffers and exchanges there are."""


@pytest.mark.parametrize("name", EXCHANGED)
def test_arrays_passed_on_are_not_copied(name):
    text, buffers, exchanges = EXCHANGED[name]
    for times in (0, 1, 2, 5):
        agree(text, X, times)
        agree(text, X, times, config=ONE_THREAD)
    kernel = lowered(text, ONE_THREAD)
    heap = [
        one for one in statements_of(kernel, kernel_ir.Alloc) if one.buffer.space is kernel_ir.Space.GLOBAL
    ]
    assert len(heap) == buffers
    assert len(statements_of(kernel, kernel_ir.Swap)) == exchanges
    assert loop_allocations(kernel) == []
    assert copies_in_loops(text, X, 5)[0] == 0


KEPT_APART = {
    "one array for both": "return c, c",
    "a version that is read later": "v = b[0]; e = update c[1] v; return e, a",
}


@pytest.mark.parametrize("name", KEPT_APART)
def test_arrays_that_cannot_be_passed_on_are_copied(name):
    text = (
        "fn f(x: f64[n], k: i64) -> f64[n], f64[n] { z = full [n] 0.0; "
        "p, q = loop (a = x, b = z) for t < k { u = a[0]; c = update b[1] u; "
        f"{KEPT_APART[name]} }}; return p, q }}"
    )
    for times in (0, 1, 2, 5):
        agree(text, X, times)


STENCIL = (
    "b = parfor j < m { k1 = add j 1; k2 = add j 2; u = c[j]; v = c[k2]; w = sub v u; yield scatter c[k1] w }"
)
"""Each inner element of c from both neighbours."""


def copies_in_loops(text: str, *args: object) -> tuple[int, int]:
    """How many loops inside of loops copy an array, and how many exchanges of buffers there are."""
    agree(text, *args)
    kernel = lowered(text, ONE_THREAD)
    inside = [inner for loop in statements_of(kernel, kernel_ir.For) for inner in statements_in(loop.body)]
    copies = [one for one in inside if isinstance(one, kernel_ir.For) and one.index.name.startswith("k")]
    return len(copies), len(statements_of(kernel, kernel_ir.Swap))


def test_an_update_that_reads_the_old_state_copies_it_once():
    text = (
        "fn f(x: f64[n], k: i64) -> f64[n] { m = sub n 2; y = loop (c = x) for t < k { "
        f"{STENCIL}; return b }}; return y }}"
    )
    assert copies_in_loops(text, X, 5) == (1, 1)


def test_what_is_kept_of_the_old_state_copies_it_once():
    text = (
        "fn f(x: f64[n], k: i64) -> f64[n], f64 { y, z = loop (c = x, s = 0.0) for t < k { "
        "d = update c[t] 7.0; e = update d[0] s; v = c[t]; return e, v }; return y, z }"
    )
    assert copies_in_loops(text, X, 4) == (1, 1)


def test_a_branch_that_reads_the_old_state_leaves_the_other_in_place():
    text = (
        "fn f(x: f64[n], k: i64) -> f64[n] { m = sub n 2; y = loop (c = x) for t < k { p = eq t 2; "
        f"e = if p {{ {STENCIL}; return b }} else {{ d = update c[t] 7.0; return d }}; "
        "return e }; return y }"
    )
    copies, exchanges = copies_in_loops(text, X, 5)
    assert copies <= 2 and exchanges == 0


def test_a_sum_of_rows_needs_no_row():
    text = (
        "fn f(a: f64[n, m], y: f64[n]) -> f64[m] { z = parfor i < n { u = y[i]; "
        "row = parfor j < m { v = a[i, j]; w = mul u v; yield stack w }; yield reduce add row }; return z }"
    )
    agree(text, A, A[:, 0])
    assert len(statements_of(lowered(text, ONE_THREAD), kernel_ir.Alloc)) == 1


def test_small_arrays_are_local():
    text = (
        "fn f(x: f64[3], k: i64) -> f64[3] { y = loop (c = x) for t < k { "
        "d = parfor i < 3 { v = c[i]; w = mul v 0.5; yield stack w }; return d }; return y }"
    )
    agree(text, X[:3], 5)
    heap = [one.buffer for one in statements_of(lowered(text, ONE_THREAD), kernel_ir.Alloc)]
    assert sum(buffer.space is kernel_ir.Space.GLOBAL for buffer in heap) == 1


def test_ragged_scratch_is_freed_by_the_iteration():
    text = (
        "fn f(x: f64[n]) -> f64[n] { y = parfor i < n { a = parfor j < i { v = x[j]; w = exp v; "
        "yield stack w }; "
        "b = update a[0]~ 2.0; s = parfor j < i { v = b[j]; yield reduce add v }; yield stack s }; return y }"
    )
    agree(text, X)


def test_hundreds_of_versions_of_an_array_lie_in_one_place():
    """The row of versions is gone through without recursion, from either end."""
    updates = (f"v{k} = a{k}[{k}]; w{k} = mul v{k} 2.0; a{k + 1} = update a{k}[{k}] w{k}" for k in range(600))
    made = "a0 = parfor i < 700 { u = x[i]; v = add u 1.0; yield stack v }"
    text = f"fn f(x: f64[700]) -> f64[700] {{ {made}; {'; '.join(updates)}; return a600 }}"
    allocated = statements_of(lowered(text, ONE_THREAD), kernel_ir.Alloc)
    assert len(allocated) == 1


def test_a_room_is_not_filled():
    text = (
        "fn f(x: f64[n], most: i64) -> f64[n], i64 { r = {kind} [most, n] 0.0; "
        "z, k, m = loop (c = x, t = 0, l = r) "
        "while { p = c[0]; q = lt p 100.0; w = lt t most; b = and q w; return b } "
        "do { u = add t 1; m = update l[t] c; d = parfor i < n { v = c[i]; w = mul v 2.0; yield stack w }; "
        "return d, u, m }; y = m[2]; return y, k }"
    )
    room, full = (text.replace("{kind}", kind) for kind in ("unfilled", "full"))
    agree(room, X, 40)
    agree(full, X, 40)
    kernels = [lowered(one, ONE_THREAD) for one in (room, full)]
    zeros = [
        sum(isinstance(store.value, kernel_ir.Const) for store in statements_of(kernel, kernel_ir.Store))
        for kernel in kernels
    ]
    assert zeros[0] == zeros[1] - 1
