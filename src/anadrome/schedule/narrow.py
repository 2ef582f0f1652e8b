"""Run a loop over threads where a condition on the thread's place holds, instead of asking in every
iteration.

A piece that ends in a branch without `else` asks, in conjunctions, whether the thread's place (times one, and
plus what the launch says) is below, above or at some number. Such conditions bound the loop; those that do
not concern the loop's index stand around it; the others stay. Threads of a piece do not wait for one another,
so none misses those that do nothing.

Before:
    kernel axpy(n: i64, a: f64, x: f64 buffer [n], y: f64 buffer [n])
    at gx gy gz, bx by bz, ix iy iz, tx ty tz, bytes {
      let i: i64 = add(mul(ix, bx), tx)
      if lt(i, n) {
        y[i] = add(y[i], mul(a, x[i]))
      }
    }
    fn main(n: i64, blocks: i64, x: f64 buffer) {
      alloc y: f64 global [n]
      launch axpy [blocks, 1, 1] [128, 1, 1] [0] (n, 2.0, x, y)
      return y as f64 [n]
    }
After:
    fn main(n: i64, blocks: i64, x: f64 buffer) {
      alloc y: f64 global [n]
      view x_1 [n] = x [0]
      view y_1 [n] = y [0]
      for block in 0 .. blocks sequential {
        let held: i64 = min(max(n, -4611686018427387904), 4611686018427387904)
        for tx in 0 .. min(128, sub(held, mul(block, 128))) parallel {
          let i: i64 = add(mul(block, 128), tx)
          y_1[i] = add(y_1[i], mul(2.0, x_1[i]))
        }
      }
      return y as f64 [n]
    }

"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from anadrome.kernel_ir.nodes import Expr, For, If, Let, Stmt, Var
from anadrome.schedule.bounds import Bounds, all_of


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A loop over those iterations in which something is done, what is computed before it, and what must hold
    for any to be."""

    loop: For
    before: tuple[Stmt, ...] = ()
    around: tuple[Expr, ...] = ()


def narrow(loop: For, places: Collection[Var]) -> Narrowed:
    """The loop over those iterations in which something is done. `places` are variables that hold extents of
    the launch, or indices of blocks and threads."""
    if not loop.body:
        return Narrowed(loop)
    *lets, last = loop.body
    if not isinstance(last, If) or last.other or not all(isinstance(stmt, Let) for stmt in lets):
        return Narrowed(loop)
    bounds = Bounds.of(loop, lets, places)
    bounds.take_all(last.condition)
    inner = last.then if not bounds.inside else (If(all_of(bounds.inside), last.then),)
    body = (*lets, *inner)
    narrowed = For(loop.index, bounds.lo, bounds.hi, body, loop.binding)
    return Narrowed(narrowed, tuple(bounds.before), tuple(bounds.around))
