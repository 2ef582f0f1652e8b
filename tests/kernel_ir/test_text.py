"""The text of the kernel IR: what is printed is parsed to the same."""

import math

import pytest

from anadrome.dtypes import BOOL, F32, F64, I8, I64, U64
from anadrome.errors import Span
from anadrome.errors.ir import IRSyntaxError
from anadrome.kernel_ir.check import check
from anadrome.kernel_ir.nodes import Compute, Const, Failure, Function, Let, Output, Var
from anadrome.kernel_ir.text import parse, show
from anadrome.prims.table import PRIMS

EVERYTHING = """\
fn everything(x: f64 buffer, n: i64, flag: bool) {
  alloc a: f64 global [n]
  alloc b: f64 global [n]
  alloc k: i64 local [1]
  copy a [n] = x
  fill b [n] = 0.0
  k[0] = 0
  while {
    let c: bool = lt(k[0], 3)
  } test c {
    for i in 0 .. n parallel {
      b[i] = add~(a[i], mul(-0.5, x[i]))
    }
    swap a, b
    k[0] = add(k[0], 1)
  }
  for t in 0 .. workers threads {
    view part = b [truncdiv(mul(t, n), workers)]
    view rows [n, 2] by [1, n] = b [0]
    check 0: ge(t, 0), t, 1.5:f32
    atomic add k[0] = 1
  }
  print 0:
  for j in 0 .. n sequential {
    print 1: x[j], shown a [n, 1]
  }
  if flag {
    free b
  } else {
    call argsort_f64(a, k, 1)
  }
  return a as f64 [n, 1], k[0] as i64
}
failure index "row {0}, \\"quoted\\"" at "user file.py" 3 4 9
message "[\\"stdout\\",false,[\\"{}\\\\n\\"]]"
message "[\\"stderr\\",true,[[\\"format\\",{\\"real\\":0},[\\".3f\\"]],[\\"str\\",{\\"real\\":1},[]]]]"
"""


def test_text_round_trips():
    assert show(parse(EVERYTHING)) == EVERYTHING


KERNEL = """\
kernel axpy(n: i64, a: f64, x: f64 buffer [n], y: f64 buffer [n, 4] by [8, 2])
at gx gy gz, bx bw bz, ix iy iz, tx ty tz, bytes {
  alloc s: f64 shared [4, 5] [20]
  alloc d: i64 shared [truncdiv(bytes, 8)]
  let i: i64 = add(mul(ix, bx), tx)
  if lt(i, n) {
    y[i, 0] = add(y[i, 1], mul(a, x[i]))
    atomic add y[i, 2] = 2.0 -> o: f64
    atomic compare y[i, 2] = 2.0 if o
    atomic add y[i, 3] = 2.0
    if true {
    }
  }
  barrier
  barrier: count lt(i, n) -> c: i64
  warp sync 255
  warp up 4294967295, a, 1 -> w: f64
  warp any 1, true -> b: bool
  fence
}
failure index "bad"
fn main(m: i64, u: f64 buffer) {
  alloc v: f64 global [m]
  launch axpy [4, 1, 1] [128, 1, 1] [0] (m, 2.0, u, v)
  return v as f64 [m]
}
"""


def test_the_text_of_kernels_round_trips():
    assert show(parse(KERNEL)) == KERNEL


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (1, I64, "1"),
        (-3, I8, "-3:i8"),
        (2**64 - 1, U64, "18446744073709551615:u64"),
        (True, BOOL, "true"),
        (1e-300, F64, "1e-300"),
        (-0.0, F64, "-0.0"),
        (math.inf, F64, "inf"),
        (-math.inf, F32, "-inf:f32"),
        (math.nan, F64, "nan"),
        (0.1, F32, "0.1:f32"),
    ],
)
def test_constants_round_trip(value, dtype, text):
    fn = Function(
        "f", (), (Let(Var("v", dtype), Const(value, dtype)),), (Output(i := Const(value, dtype), dtype),)
    )
    shown = show(fn)
    assert f"= {text}\n" in shown
    assert f"return {text} as {dtype.name}" in shown
    assert show(parse(shown)) == shown
    assert i.dtype is dtype


def test_names_that_are_taken_get_numbers():
    first, second, word = Var("v", F64), Var("v", F64), Var("add", F64)
    total = Compute(PRIMS["add"], (Compute(PRIMS["add"], (first, second)), word))
    fn = Function("f", (first, second, word), (), (Output(total, F64),))
    shown = show(fn)
    assert "fn f(v: f64, v_1: f64, add_1: f64)" in shown
    assert show(parse(shown)) == shown
    check(parse(shown))


def test_failures_keep_their_words_and_place():
    failure = Failure("assert", 'a "b"\n{0} ü', Span("dir/ü.py", 7, 0, 3))
    (parsed,) = parse(show(Function("f", (), (), (), (failure,)))).failures
    assert (parsed.error, parsed.message, parsed.span) == (failure.error, failure.message, failure.span)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("fn f() {\n  let v: f99 = 1.0\n}", 2),
        ("fn f() {\n  x[0] = 1.0\n}", 2),
        ("fn f() {\n\n  let v: f64 = frobnicate(1.0)\n}", 3),
        ("fn f() {\n  return 1.0 as f64\n} extra", 3),
        ("fn f() {\n  let v: f64 = ?\n}", 2),
        ("fn f() {", 1),
    ],
)
def test_what_is_no_program_names_its_line(text, line):
    with pytest.raises(IRSyntaxError, match=f"line {line} "):
        parse(text)
