"""Counted loops as LLVM: what it is told about them."""

import re

import numpy as np

from tests.targets.oracle import agree, compiled
from tests.targets.test_emitter import body_of


def test_llvm_looks_for_other_counters_of_innermost_loops_alone():
    """Of a loop around others it would try out for each address inside what else to count in."""
    text = """fn f(x: f64 buffer, n: i64) {
      alloc s: f64 local [1]
      s[0] = 0.0
      for i in 0 .. n sequential { for j in 0 .. n sequential { s[0] = add(mul(s[0], 0.5), x[mul(i, j)]) } }
      for k in 0 .. 700 sequential { s[0] = mul(s[0], 0.5) }
      return s[0] as f64
    }"""
    written = body_of(text)
    opaque = re.findall(r"(%\w+) = call i64 @llvm.expect.i64\(i64 (%\w+), i64 0\)", written)
    assert len(opaque) == 1
    (index,) = re.findall(rf"(%\w+) = phi i64 \[.*\[{opaque[0][0]}, ", written)
    assert f"mul i64 {index}, " in written
    for n in (0, 1, 3):
        agree(text, np.arange(10.0), n)


def test_llvm_unrolls_only_loops_that_constants_count():
    text = compiled("""fn f(x: f64 buffer, n: i64) {
      alloc s: f64 local [1]
      s[0] = 0.0
      for i in 0 .. n sequential { s[0] = add(mul(s[0], 0.5), x[i]) }
      for k in 0 .. 700 sequential { s[0] = mul(s[0], 0.5) }
      return s[0] as f64
    }""").llvm_text
    told = {number: what for number, what in re.findall(r'(!\d+) = !\{!"llvm.loop.unroll.([a-z.]+)"\}', text)}
    loops = [told[of] for of in re.findall(r"distinct !\{!\d+, (!\d+)\}", text)]
    strips, iterations, counted = "disable", "disable", "runtime.disable"
    assert sorted(loops) == [strips, iterations, counted]
