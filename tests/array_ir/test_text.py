"""Text: every node prints and parses back, defaults of constants, names, and what a wrong text is told."""

from __future__ import annotations

import pytest

from anadrome.array_ir.build import Builder
from anadrome.array_ir.check import check
from anadrome.array_ir.nodes import Apply, ArrayType, Const, Function, Stack, Var
from anadrome.array_ir.text import parse, show, show_body, show_constant
from anadrome.dtypes import BOOL, F32, F64, I64, U8
from anadrome.errors.ir import IRError, IRSyntaxError
from anadrome.prims.table import PRIMS

EXAMPLES = {
    "apply": """
fn f(x: f64, k: i64) -> f64 {
  a = add x 1.0
  b = to_f64 k
  c = mul a b
  return c
}
""",
    "index": """
fn f(x: f64[n, 3], k: i64) -> f64, f64[3] {
  r = x[k]?
  e = r[2]
  return e, r
}
""",
    "update": """
fn f(x: f64[n], k: i64) -> f64[n] {
  a = update x[k]? -inf
  b = update a[k]~ nan
  c = update b[0] 1e-05
  return c
}
""",
    "full, literal, reshape": """
fn f(n: i64, x: f64[n, 4]) -> f64[n, 2], f32[2], f64[4, n] {
  a = full [n, 2] 0.5
  b = literal [1.0:f32, -0.0:f32]
  c = reshape x [4, n]
  return a, b, c
}
""",
    "yields": """
fn f(x: f64[n], p: i64[n], h: f64[m]) -> f64[n], f64, f64[n], f64[n], f64[m], f64[m] {
  a, b, c, d, e, g = parfor i < n {
    v = x[i]
    j = p[i]
    yield stack v
    yield reduce max v
    yield scan add v
    yield scan exclusive mul v
    yield accumulate add h[j]? v
    yield scatter h[j]~ v
  }
  return a, b, c, d, e, g
}
""",
    "lambda": """
fn f(x: f64[n]) -> f64, i64, f64[n] {
  least, where, prefix = parfor i < n {
    v = x[i]
    yield reduce lambda v i by (a, p) (b, q) from (inf, -1) {
      is_less = lt b a
      r = select is_less b a
      s = select is_less q p
      return r, s
    }
    yield scan exclusive lambda v by (a1) (b1) from (0.0) {
      t = add a1 b1
      return t
    }
  }
  return least, where, prefix
}
""",
    "for": """
fn f(n: i64) -> f64, i64 {
  s, k = loop (t = 0.0, j = 1) for i < n {
    u = add t 1.5
    return u, i
  }
  return s, k
}
""",
    "while": """
fn f(x: f64) -> f64 {
  s = loop (t = x) while {
    again = lt t 100.0
    return again
  } do {
    u = mul t 2.0
    return u
  }
  return s
}
""",
    "nothing carried": """
fn f(n: i64) -> () {
  loop () for i < n {
    c = lt i 10
    check c assert "i is {0}, a \\"large\\" number\\n" i
  }
}
""",
    "print": """
fn f(x: f64[n], c: bool) -> () {
  print "[\\"stdout\\",false,[\\"start\\\\n\\"]]"
  loop () for i < n {
    v = x[i]
    if c {
      print "[\\"stderr\\",true,[[\\"repr\\",{\\"real\\":0,\\"imag\\":1,\\"is_python\\":true},[]]]]" v 1.5
    } else {
    }
  }
}
""",
    "if": """
fn f(x: f64, c: bool) -> f64 {
  r = if c {
    s = sin x
    return s
  } else {
    return 0.0
  }
  return r
}
""",
    "sums": """
fn f(x: f64[n], p: i64[n], z: f64[m]) -> f64[m], i64 {
  s, k = with_sum (t = z) {
    u = parfor i < n {
      v = x[i]
      j = p[i]
      w = add_to t[j]? v
      yield carry t w
    }
    return u, 3
  }
  return s, k
}
""",
    "library": """
fn f(a: f64[n, m], b: f64[n, n], v: f64[n]) -> f64[m, m], f64, i64[n] {
  c = call matmul(a, a, transpose_left=true, transpose_right=false)
  d = call det(b)
  e = call argsort(v)
  return c, d, e
}
""",
    "transforms": """
fn f(x: f32[r, n], y: f32[r, n], half: f32[m]) -> f32[r, n], f32[r, n], f32[r, n] {
  a, b = call fourier(x, y, backward=true)
  c, d = call fourier_of_real(a, half)
  whole = x[0]
  e = call fourier_to_real(c, d, whole)
  return a, b, e
}
""",
    "sizes of the body": """
fn f(x: f64[n]) -> f64[size] {
  size = add n 1
  y = full [size] 0.0
  return y
}
""",
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_round_trip(name: str) -> None:
    text = EXAMPLES[name].lstrip()
    fn = parse(text)
    check(fn)
    assert show(fn) == text
    assert show(parse(show(fn))) == text


def test_one_line_form_and_reused_names() -> None:
    fn = parse("""fn f(x: f64[n]) -> f64 {  # the sum, twice
      a = parfor i < n { v = x[i]; yield reduce add v }
      b = parfor i < n { v = x[i]; yield reduce add v }; c = add a b
      return c
    }""")
    text = show(fn)
    assert "v1 = x[i1]" in text
    assert show(parse(text)) == text


def test_names_are_unique_and_no_words_of_the_grammar() -> None:
    builder = Builder()
    variables = [Var(name, ArrayType(F64)) for name in ("full", "x.y", "2", "é", "x0", "x0", "add")]
    total = variables[0]
    for var in variables:
        total = builder.let_one(Apply(PRIMS["add"], (total, var)), "v")
    text = show(Function("my function", tuple(variables), builder.body((total,))))
    assert text.startswith(
        "fn my_function(full1: f64, x_y: f64, _2: f64, _: f64, x0: f64, x0_1: f64, add: f64)"
    )
    assert show(parse(text)) == text


@pytest.mark.parametrize(
    "constant, text",
    [
        (Const(1.0, F64), "1.0"),
        (Const(1e300, F64), "1e+300"),
        (Const(3, I64), "3"),
        (Const(3, U8), "3:u8"),
        (Const(0.5, F32), "0.5:f32"),
        (Const(float("-inf"), F32), "-inf:f32"),
        (Const(float("nan"), F64), "nan"),
        (Const(False, BOOL), "false"),
        (Const(-0.0, F64), "-0.0"),
    ],
)
def test_constants(constant: Const, text: str) -> None:
    assert show_constant(constant) == text
    value = parse(f"fn f() {{ return {text} }}").body.results[0]
    assert isinstance(value, Const)
    assert value.key == constant.key


def test_show_body_names_what_is_free() -> None:
    builder, n = Builder(), Var("n", ArrayType(I64))
    builder.parfor(n, lambda inner, index: [Stack.of(index)])
    assert show_body(builder.body()) == "a = parfor i < n {\n  yield stack i\n}\n"


@pytest.mark.parametrize(
    "text, words",
    [
        ("fn f(x: f64) { return y }", "a variable in scope, got 'y'"),
        ("fn f(x: f64) { y = frob x }", "an operation, got 'frob'"),
        ("fn f(x: f46) { }", "a type, got 'f46'"),
        ("fn f(x: f64) {\n  y = sin x\n  z = heap x\n}", "line 3"),
        ("fn f(x: f64) { y = sin x", "end of text"),
        ("fn f(x: f64[n]) { y = x[0 }", "expected `]`"),
        ("fn f(x: f64) { a, b = sin x }", "expected 1 targets, got '2 targets'"),
        ("fn f(x: f64) { full = sin x }", "a name that is not a word"),
        ("fn f(x: f64) -> f32 { return x }", "the stated result types"),
        ("fn f(x: f64) -> f64[k] { return x }", "sizes of the results"),
        ("fn f(x: f64[n]) { y = parfor i < n { yield heap i } }", "a kind of yield, got 'heap'"),
        ("fn f(x: f64[n]) { y = parfor i < n { yield reduce plus i } }", "an operator, got 'plus'"),
        ("fn f(x: f64[n]) { y = parfor i < n { v = x[i] }; return v }", "expected 0 targets"),
        ("fn f() { c = call frob(1.0) }", "a library operation"),
        ("fn f(x: f64[n, n]) { c = call matmul(x, x) }", "the attributes"),
        ("fn f() { return 1.5:i64 }", "a constant and its type"),
        ("fn f() { return 1 2 }", "the end of the statement"),
        ("fn f() { $ }", "got '$'"),
        ("fn f() { return 1; a = add 1 2 }", "after the results"),
        ("fn f() { } x", "end of text, got 'x'"),
    ],
)
def test_errors_say_what_was_expected(text: str, words: str) -> None:
    with pytest.raises(IRSyntaxError) as error:
        parse(text)
    assert words in str(error.value)


def test_a_broken_type_rule_is_an_ir_error() -> None:
    with pytest.raises(IRError, match="add is not defined"):
        parse("fn f(x: f64) { y = add x 1 }")
