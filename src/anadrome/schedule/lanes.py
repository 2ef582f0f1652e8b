"""Threads of a block side by side in the lanes of vectors.

A piece in which there are loops runs in strips of as many threads as
a vector has lanes (`targets.llvm_lanes`); the last strip may have fewer. Threads of a piece do not wait for
one another, and what they add up may come in any order. An array of a thread that has no constant size holds
an element for each lane.

Before:
    kernel halve(x: f64 buffer, y: f64 buffer, total: f64 buffer)
    at gx gy gz, bx by bz, ix iy iz, tx ty tz, bytes {
      let i: i64 = add(mul(ix, bx), tx)
      alloc v: f64 local [1]
      v[0] = x[i]
      while {
      } test gt(v[0], 1.0) {
        v[0] = mul(v[0], 0.5)
      }
      y[i] = v[0]
      atomic add total[0] = v[0]
    }
    fn main(x: f64 buffer) {
      alloc y: f64 global [24]
      alloc total: f64 global [1]
      fill total [1] = 0.0
      launch halve [2, 1, 1] [12, 1, 1] [0] (x, y, total)
      return y as f64 [24], total as f64 [1]
    }
After:
    fn main(x: f64 buffer) {
      alloc y: f64 global [24]
      alloc total: f64 global [1]
      fill total [1] = 0.0
      for block in 0 .. 2 sequential {
        for strip in 0 .. 2 sequential {
          for lane in 0 .. 8 lanes {
            let tx: i64 = add(mul(strip, 8), lane)
            if lt(tx, 12) {
              let i: i64 = add(mul(block, 12), tx)
              alloc v: f64 local [1]
              v[0] = x[i]
              while {
              } test gt(v[0], 1.0) {
                v[0] = mul(v[0], 0.5)
              }
              y[i] = v[0]
              combine add total[0] = v[0]
            }
          }
        }
      }
      return y as f64 [24], total as f64 [1]
    }

"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from anadrome.dtypes import BOOL, I64
from anadrome.kernel_ir.arithmetic import ZERO, add, compute, divide, known, multiply, subtract
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Binding,
    Buffer,
    Expr,
    Fence,
    For,
    If,
    Let,
    Load,
    Space,
    Stmt,
    Var,
    While,
    i64,
)
from anadrome.kernel_ir.walk import (
    SUMS,
    WIDTHS,
    bodies,
    buffers,
    expressions,
    runs_in_lanes,
    statements,
    subexpressions,
)
from anadrome.prims.node import replace
from anadrome.schedule.names import copied


@dataclass(frozen=True, slots=True)
class Lanes:
    """How many lanes run the threads of a piece, and the variable that is a lane's number."""

    width: int
    own: Var


ALONE = Lanes(1, Var("lane", I64))
"""One thread after the other."""


def width_of(stmts: Sequence[Stmt], indivisible: Collection[Buffer], vector_bits: int) -> int:
    """How many lanes run what a thread does: as many as a vector has elements of its widest floats. 1 where
    lanes cannot, or there are no loops: those pieces are `innermost`'s. `indivisible`: where other workers
    may do atomic operations as well."""
    inside = list(statements(stmts))
    has_loops = any(isinstance(stmt, For | While) for stmt in inside)
    if not has_loops or not all(_can(stmt, indivisible) for stmt in inside) or is_ragged(inside):
        return 1
    return lanes_of(inside, vector_bits)


def lanes_of(inside: Sequence[Stmt], vector_bits: int) -> int:
    """As many lanes as a vector has elements of the widest floats of statements."""
    types = [buffer.dtype for stmt in inside for buffer in buffers(stmt)]
    types += [stmt.var.dtype for stmt in inside if isinstance(stmt, Let)]
    lanes = min(vector_bits // max((dtype.bits for dtype in types if dtype.is_float), default=64), WIDTHS[-1])
    return 1 << max(lanes, 1).bit_length() - 1


def is_ragged(inside: Sequence[Stmt]) -> bool:
    """Whether a loop that goes through memory runs as often as data says: all lanes would wait for the
    longest one, and gather meanwhile. Measured on the look-ups of XSBench and RSBench, whose gradients gain
    nothing."""
    read: set[Var] = set()

    def is_read(expr: Expr) -> bool:
        return any(is_datum(part) or part in read for part in subexpressions(expr))

    for stmt in inside:
        if isinstance(stmt, Let) and is_read(stmt.value):
            read.add(stmt.var)
        is_bound = isinstance(stmt, For) and (is_read(stmt.lo) or is_read(stmt.hi))
        if is_bound and any(map(touches_data, statements(bodies(stmt)[0]))):
            return True
    return False


def touches_data(stmt: Stmt) -> bool:
    """Whether a statement reads or writes what others may have written, or may read."""
    is_write = any(buffer.space is not Space.LOCAL for buffer in buffers(stmt))
    return is_write or any(is_datum(part) for expr in expressions(stmt) for part in subexpressions(expr))


def is_datum(expr: Expr) -> bool:
    """Whether an expression reads an element that others may have written."""
    return isinstance(expr, Load) and expr.buffer.space is not Space.LOCAL


def _can(stmt: Stmt, indivisible: Collection[Buffer]) -> bool:
    """Whether what a thread of a kernel does can be done by lanes."""
    match stmt:
        case Fence():
            return True
        case Alloc(buffer=buffer):
            return buffer.space is Space.LOCAL
        case Atomic(buffer=buffer, operation=operation):
            is_sum = operation in SUMS and buffer.dtype is not BOOL
            return runs_in_lanes(stmt) and (is_sum or buffer in indivisible)
        case _:
            return runs_in_lanes(stmt)


def in_lanes(stmt: Stmt, index: Var, lanes: Lanes) -> tuple[Stmt, ...]:
    """A statement with strips in the place of the loop over this index, which stands in no other loop."""
    match stmt:
        case For() if stmt.index is index and lanes.width > 1:
            return strips(stmt, lanes)
        case If(condition=condition, then=then, other=other):
            ways = [
                tuple(made for one in way for made in in_lanes(one, index, lanes)) for way in (then, other)
            ]
            return (If(condition, ways[0], ways[1]),)
        case _:
            return (stmt,)


def strips_with_short_ends(loop: For, lanes: Lanes, shortest: int) -> tuple[Stmt, ...]:
    """The loop as whole strips of lanes, and the rest as strips of fewer."""
    if lanes.width <= shortest:
        return strips(loop, lanes)
    extent = subtract(loop.hi, loop.lo)
    whole = multiply(divide(extent, i64(lanes.width)), i64(lanes.width))
    count = known(whole)
    found: tuple[Stmt, ...] = ()
    end = add(loop.lo, whole)
    if count != 0:
        found = strips(replace(loop, hi=end), lanes, is_whole=True)
    if count is None or count != known(extent):
        rest = copied((replace(loop, lo=end),)) if found else (replace(loop, lo=end),)
        found += strips(rest[0], Lanes(shortest, Var("lane", I64)))  # type: ignore[arg-type]
    return found


def strips(loop: For, lanes: Lanes, is_whole: bool = False) -> tuple[Stmt, ...]:
    """The loop as strips of lanes, of at most as many as it has iterations; `is_whole`: it fills them."""
    extent, width = known(subtract(loop.hi, loop.lo)), lanes.width
    if extent is not None:
        width = min(width, 1 << max(extent, 1).bit_length() - 1)
    if width == 1:
        return (replace(loop, body=(Let(lanes.own, ZERO), *loop.body)),)
    strip = Var("strip", I64)
    is_whole = is_whole or (extent is not None and extent % width == 0)
    is_single = extent == width
    first = loop.lo if is_single else add(loop.lo, multiply(strip, i64(width)))
    place = Let(loop.index, add(first, lanes.own))
    body = loop.body if is_whole else (If(compute("lt", loop.index, loop.hi), loop.body),)
    vector = For(lanes.own, ZERO, i64(width), (place, *body), Binding.LANES)
    if is_single:
        return (vector,)
    count = divide(add(subtract(loop.hi, loop.lo), i64(width - 1)), i64(width))
    return (For(strip, ZERO, count, (vector,)),)
