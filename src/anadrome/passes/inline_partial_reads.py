"""Compute the elements of an array where they are read, before differentiation, if only a part of it is read.

The optimised program never makes the whole of such an array (`producers`), but the adjoint of a part is an
array as large as the whole, and what was read of it at one place is added to at one. So every cheap array of
which a row, a diagonal or a slice is read goes into its readers first; with it what it is made of, and what
is made of its rows. What is read whole stays as it is: its adjoint is no larger than what is read. Arrays
whose sizes are constants stay too.

Before:
    fn f(x: f64[n], y: f64[m]) -> f64 {
      a = parfor i < n {
        u = x[i]
        r = parfor j < m { v = y[j]; w = mul u v; yield stack w }
        yield stack r
      }
      s = parfor j < m { w = a[0, j]; yield reduce add w }
      return s
    }
After:
    fn f(x: f64[n], y: f64[m]) -> f64 {
      s = parfor j < m { u = x[0]; v = y[j]; w = mul u v; yield reduce add w }
      return s
    }
"""

from __future__ import annotations

from anadrome.array_ir.nodes import Function
from anadrome.config import Config
from anadrome.passes.simplify import simplify
from anadrome.passes.vertical_fusion import Census, inlined


def inline_partial_reads(fn: Function, config: Config) -> Function:
    """The function with every cheap array of which a part is read computed where it is read."""
    while True:
        census = Census()
        census.body(fn.body, 0)
        wanted = census.parts()
        new = inlined(fn, census.reads, wanted) if wanted else fn
        if new is fn:
            return fn
        fn = simplify(new, config)  # rows of what is left are elements of it now
