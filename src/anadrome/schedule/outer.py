"""Loops in lanes whatever loops are inside: strips of vectors, and the rest one by one.

Lanes of an outer loop go through the loops inside together. What they read at the same place is one number
for all of them, what each has for itself lies side by side: memory that an iteration allocates becomes an
array with a last dimension of lanes. A strip has several vectors of lanes, so that one number read serves
all of them, and sums that wait for their last addition are several. The iterations that fill no strip, all
of them where there are few, run one after the other, as all do where the machine has no vectors; what
iterations add up needs no care then.

Before:
    fn main(n: i64, m: i64, a: f64 buffer, b: f64 buffer) {
      alloc s: f64 local [1]
      s[0] = 0.0
      for i in 0 .. n outer {
        alloc row: f64 global [m]
        for j in 0 .. 4 sequential {
          row[j] = mul(a[i], b[j])
        }
        combine add s[0] = row[0]
        free row
      }
      let r: f64 = s[0]
      return r as f64
    }
After:
    fn main(n: i64, m: i64, a: f64 buffer, b: f64 buffer) {
      alloc s: f64 local [1]
      s[0] = 0.0
      let fits: bool = le(m, 65536)
      let strips: i64 = select(fits, truncdiv(n, 32), 0)
      alloc row: f64 global [m, 32] [select(gt(strips, 0), mul(m, 32), 1)]
      for strip in 0 .. strips sequential {
        for lane in 0 .. 32 lanes {
          let i: i64 = add(mul(strip, 32), lane)
          for j in 0 .. 4 sequential {
            row[j, lane] = mul(a[i], b[j])
          }
          combine add s[0] = row[0, lane]
        }
      }
      free row
      alloc row_1: f64 global [m]
      for i_1 in mul(strips, 32) .. n sequential {
        for j_1 in 0 .. 4 sequential {
          row_1[j_1] = mul(a[i_1], b[j_1])
        }
        s[0] = add~(s[0], row_1[0])
      }
      free row_1
      let r: f64 = s[0]
      return r as f64
    }

"""

from __future__ import annotations

from collections.abc import Iterable

from anadrome.dtypes import BOOL, I64
from anadrome.kernel_ir.arithmetic import ONE, ZERO, add, compute, divide, known, multiply, subtract
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Binding,
    Buffer,
    Check,
    Compute,
    Expr,
    For,
    Free,
    If,
    Let,
    Load,
    Space,
    Stmt,
    Store,
    Var,
    While,
    i64,
)
from anadrome.kernel_ir.walk import (
    bodies,
    bound,
    free_names,
    runs_in_lanes,
    statements,
    with_bodies,
)
from anadrome.prims.node import replace
from anadrome.prims.table import PRIMS
from anadrome.schedule.names import Names, Place

VECTORS = 4
"""Vectors of lanes in a strip: with four, a sum of products has four chains of additions, as many as a unit
that takes four cycles for one needs, and a number that all lanes read is read a quarter as often."""

MOST = 32
"""The most lanes of a strip: as many iterations as a block of a parfor has."""
MEMORY = 1 << 21
"""The most elements that all lanes of a strip have for themselves; where they need more, iterations run one
after the other, in the memory of one."""
STACK = 1 << 16
"""The most elements that all lanes of a strip have on the stack."""
SHORT_VECTORS = 2
"""The same where an iteration has one loop inside: such loops are often short, and their ends are masked."""


def is_short(loop: For) -> bool:
    """Whether an iteration has a single loop inside and no memory on the heap, and lanes can run it."""
    inside = list(statements(loop.body))
    nested = any(isinstance(inner, For | While) for stmt in inside for body in bodies(stmt) for inner in body)
    return _go_in_lanes(inside) and not nested


def outer_loop(loop: For, lanes: int) -> tuple[Stmt, ...]:
    """What an OUTER loop becomes, with so many lanes in a vector; 1: none."""
    owned = [stmt for stmt in loop.body if isinstance(stmt, Alloc) and stmt.buffer.space is Space.GLOBAL]
    kept = {stmt.buffer for stmt in owned}
    body = tuple(stmt for stmt in loop.body if not (isinstance(stmt, Alloc | Free) and stmt.buffer in kept))
    inside = list(statements(body))
    inner = {var for stmt in inside if (var := bound(stmt)) is not None} | {loop.index}
    if any(not inner.isdisjoint(free_names((stmt,)).vars) for stmt in owned):
        return (replace(loop, body=tuple(map(_alone, loop.body)), binding=Binding.SEQUENTIAL),)
    frees = tuple(Free(stmt.buffer) for stmt in owned)
    if lanes == 1 or not _go_in_lanes(inside):
        rest = replace(loop, body=tuple(map(_alone, body)), binding=Binding.SEQUENTIAL)
        return (*owned, rest, *frees)
    width = min(lanes * VECTORS, MOST)
    whole = divide(subtract(loop.hi, loop.lo), i64(width))
    before: list[Stmt] = []
    if owned:
        fits = _fits(owned, width, before)
        whole = compute("select", fits, whole, ZERO)
        strips = Var("strips", I64)
        before.append(Let(strips, whole))
        whole = strips
    end = add(loop.lo, multiply(whole, i64(width)))
    rest = replace(loop, lo=end, body=tuple(map(_alone, body)), binding=Binding.SEQUENTIAL)
    return (*before, *_strips(loop, body, owned, width, whole), *owned, rest, *frees)


def _fits(owned: list[Alloc], width: int, before: list[Stmt]) -> Expr:
    """Whether the memory of all lanes is no more than `MEMORY`."""
    total: Expr = ZERO
    for stmt in owned:
        total = add(total, stmt.size)
    fits = Var("fits", BOOL)
    before.append(Let(fits, compute("le", total, i64(MEMORY // width))))
    return fits


def _go_in_lanes(inside: Iterable[Stmt]) -> bool:
    """Whether lanes can run these statements, with their own arrays on the stack."""
    stmts = list(inside)
    own = [known(stmt.size) or 0 for stmt in stmts if isinstance(stmt, Alloc)]
    return all(map(_can, stmts)) and sum(own) * MOST <= STACK


def _can(stmt: Stmt) -> bool:
    """Whether lanes can run a statement, and it can be copied."""
    return runs_in_lanes(stmt) and isinstance(stmt, Let | Store | Atomic | If | For | While | Alloc | Check)


def _strips(
    loop: For, body: tuple[Stmt, ...], owned: list[Alloc], width: int, whole: Expr
) -> tuple[Stmt, ...]:
    """The iterations that fill whole strips."""
    strip, lane, index = (Var(name, I64) for name in ("strip", "lane", loop.index.name))
    names = Names.around((loop,))
    names.vars[loop.index] = index
    memory: list[Alloc] = []
    for stmt in owned:
        one = stmt.buffer
        spread = Buffer(one.name, one.dtype, Space.GLOBAL, (stmt.size, i64(width)))
        names.buffers[one] = Place(spread, lane)
        size = compute("select", compute("gt", whole, ZERO), multiply(stmt.size, i64(width)), ONE)
        memory.append(Alloc(spread, size, stmt.span))
    place = Let(index, add(loop.lo, add(multiply(strip, i64(width)), lane)))
    vector = For(lane, ZERO, i64(width), (place, *names.copies(body)), Binding.LANES)
    return (*memory, For(strip, ZERO, whole, (vector,)), *(Free(stmt.buffer) for stmt in memory))


def _alone(stmt: Stmt) -> Stmt:
    """A statement of iterations that run one after the other: what they add up is stored."""
    if isinstance(stmt, Atomic) and stmt.is_alone:
        return _stored(stmt)
    own = bodies(stmt)
    return with_bodies(stmt, [tuple(map(_alone, body)) for body in own]) if own else stmt


def _stored(stmt: Atomic) -> Store:
    value = Compute(
        PRIMS[stmt.operation], (Load(stmt.buffer, stmt.indices), stmt.value), is_reassociable=True
    )
    return Store(stmt.buffer, stmt.indices, value, stmt.span)
