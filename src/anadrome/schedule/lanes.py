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

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from anadrome.dtypes import BOOL, I64
from anadrome.kernel_ir.affine import steps_of
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Binding,
    Buffer,
    Compute,
    Expr,
    Fence,
    For,
    Function,
    If,
    Let,
    Load,
    Space,
    Stmt,
    Store,
    Var,
    View,
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
    stays_loop,
    subexpressions,
    with_bodies,
)
from anadrome.schedule.arithmetic import ZERO, add, compute, divide, known, multiply, subtract
from anadrome.schedule.innermost import ALONE as MOST_ALONE
from anadrome.schedule.innermost import innermost_loop, plan_of
from anadrome.schedule.jam import jammed
from anadrome.schedule.outer import MOST, SHORT_VECTORS, is_short, outer_loop
from anadrome.schedule.running import running_sums


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
    if not has_loops or not all(_can(stmt, indivisible) for stmt in inside) or _is_ragged(inside):
        return 1
    return _lanes(inside, vector_bits)


def _lanes(inside: Sequence[Stmt], vector_bits: int) -> int:
    """As many lanes as a vector has elements of the widest floats of statements."""
    types = [buffer.dtype for stmt in inside for buffer in buffers(stmt)]
    types += [stmt.var.dtype for stmt in inside if isinstance(stmt, Let)]
    lanes = min(vector_bits // max((dtype.bits for dtype in types if dtype.is_float), default=64), WIDTHS[-1])
    return 1 << max(lanes, 1).bit_length() - 1


def _is_ragged(inside: Sequence[Stmt]) -> bool:
    """Whether a loop runs as often as data says: all lanes would wait for the longest one, and gather
    meanwhile. Measured on the look-ups of XSBench and RSBench, whose gradients gain nothing."""
    read: set[Var] = set()

    def is_read(expr: Expr) -> bool:
        return any(_is_datum(part) or part in read for part in subexpressions(expr))

    for stmt in inside:
        if isinstance(stmt, Let) and is_read(stmt.value):
            read.add(stmt.var)
        if isinstance(stmt, For) and (is_read(stmt.lo) or is_read(stmt.hi)):
            return True
    return False


def _is_datum(expr: Expr) -> bool:
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


def strips(loop: For, lanes: Lanes) -> tuple[Stmt, ...]:
    """The loop as strips of lanes, of at most as many as it has iterations."""
    extent, width = known(subtract(loop.hi, loop.lo)), lanes.width
    if extent is not None:
        width = min(width, 1 << max(extent, 1).bit_length() - 1)
    if width == 1:
        return (replace(loop, body=(Let(lanes.own, ZERO), *loop.body)),)
    strip = Var("strip", I64)
    is_whole = extent is not None and extent % width == 0
    is_single = extent == width
    first = loop.lo if is_single else add(loop.lo, multiply(strip, i64(width)))
    place = Let(loop.index, add(first, lanes.own))
    body = loop.body if is_whole else (If(compute("lt", loop.index, loop.hi), loop.body),)
    vector = For(lanes.own, ZERO, i64(width), (place, *body), Binding.LANES)
    if is_single:
        return (vector,)
    count = divide(add(subtract(loop.hi, loop.lo), i64(width - 1)), i64(width))
    return (For(strip, ZERO, count, (vector,)),)


# ---------------------------------------------------------------------------- parallel loops of programs
def loops_in_lanes(fn: Function, vector_bits: int) -> Function:
    """The host program with its parallel loops in lanes, where that pays: in which there is a loop that LLVM
    does not unroll, and none that goes along an array, since that one runs in lanes itself (`innermost`). It
    cannot where each iteration needs the one before; lanes read their arrays where neighbours are side by
    side."""
    views = {stmt.buffer: stmt for stmt in statements(fn.body) if isinstance(stmt, View)}
    body = _bodies_in_lanes(fn.body, views, vector_bits)
    return fn if body is fn.body else replace(fn, body=body)


def _bodies_in_lanes(
    stmts: tuple[Stmt, ...], views: Mapping[Buffer, View], vector_bits: int
) -> tuple[Stmt, ...]:
    """Statements in order; the same tuple where nothing changes."""
    found: list[Stmt] = []
    for stmt in stmts:
        found += _statement_in_lanes(stmt, views, vector_bits)
    is_same = len(found) == len(stmts) and all(one is two for one, two in zip(found, stmts, strict=True))
    return stmts if is_same else tuple(found)


def _statement_in_lanes(stmt: Stmt, views: Mapping[Buffer, View], vector_bits: int) -> tuple[Stmt, ...]:
    match stmt:
        case For(binding=Binding.PARALLEL | Binding.SEQUENTIAL as binding):
            inside = list(statements(stmt.body))
            if binding is Binding.PARALLEL and all(map(runs_in_lanes, inside)) and _pays(stmt, inside):
                width = _lanes(inside, vector_bits)
                return strips(stmt, Lanes(width, Var("lane", I64))) if width > 1 else (stmt,)
            side_by_side = jammed(stmt, views) if vector_bits >= MOST_ALONE else None
            if side_by_side is not None:
                return _bodies_in_lanes(side_by_side, views, vector_bits)
            plan = plan_of(stmt, views, vector_bits)
            if plan is not None:
                return innermost_loop(stmt, plan)
            grouped = running_sums(stmt, views)
            if grouped is not None:
                return grouped
        case For(binding=Binding.OUTER):
            lanes = _lanes(list(statements(stmt.body)), vector_bits)
            if lanes > 1 and is_short(stmt):
                width = min(lanes * SHORT_VECTORS, MOST)
                return strips(replace(stmt, binding=Binding.PARALLEL), Lanes(width, Var("lane", I64)))
            return _bodies_in_lanes(outer_loop(stmt, lanes), views, vector_bits)
        case For(binding=Binding.LANES):
            return (stmt,)
        case _:
            pass
    own = bodies(stmt)
    inner = [_bodies_in_lanes(body, views, vector_bits) for body in own]
    if all(one is two for one, two in zip(inner, own, strict=True)):
        return (stmt,)
    return (with_bodies(stmt, inner),)


def _pays(loop: For, inside: Sequence[Stmt]) -> bool:
    if not any(map(stays_loop, inside)) or _is_ragged(inside):
        return False
    loops = [stmt for stmt in inside if isinstance(stmt, For)]
    along = [one for one in loops if any(map(_touches_data, statements(one.body)))]
    if not along:
        return True
    steps = (step for buffer, step in steps_of(loop.body, loop.index) if buffer.space is not Space.LOCAL)
    return all(map(_is_recurrence, along)) and all(step in (-1, 0, 1) for step in steps)


def _is_recurrence(loop: For) -> bool:
    """Whether iterations need what the one before has left, other than a sum that may be reordered."""
    inside = list(statements(loop.body))
    own = {stmt.buffer for stmt in inside if isinstance(stmt, Alloc)}
    return any(
        isinstance(stmt, Store)
        and stmt.buffer.space is Space.LOCAL
        and stmt.buffer not in own
        and not (isinstance(stmt.value, Compute) and stmt.value.is_reassociable)
        for stmt in inside
    )


def _touches_data(stmt: Stmt) -> bool:
    is_write = any(buffer.space is not Space.LOCAL for buffer in buffers(stmt))
    return is_write or any(_is_datum(part) for expr in expressions(stmt) for part in subexpressions(expr))
