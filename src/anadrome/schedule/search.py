"""Loops that look for the first of something, which end where they have found it.

The first place of a condition is the least of the indices where it holds: no iteration behind one that is
found can be less. Whether a condition holds anywhere or everywhere is known from the first iteration
that decides it. Such loops go over blocks, in lanes as other loops do, and ask before each block whether it
is still open what they are to find: if it is not, the block does nothing. Derivatives of extremes look so for
the element that won.

A loop with checks in it runs to its end, since one of them may fail behind the place.

Before:
    fn main(n: i64, x: f64 buffer, c: f64) {
      alloc least: i64 local [1]
      least[0] = 9223372036854775807
      for i in 0 .. n sequential {
        let place: i64 = select(eq(x[i], c), i, n)
        least[0] = min~(least[0], place)
      }
      return least[0] as i64
    }
After:
    fn main(n: i64, x: f64 buffer, c: f64) {
      alloc least: i64 local [1]
      least[0] = 9223372036854775807
      for block in 0 .. truncdiv(add(n, 4095), 4096) sequential {
        let found: i64 = least[0]
        let first: i64 = mul(block, 4096)
        if gt(found, first) {
          for i in first .. min(n, add(first, 4096)) sequential {
            let place: i64 = select(eq(x[i], c), i, n)
            least[0] = min~(least[0], place)
          }
        }
      }
      return least[0] as i64
    }

"""

from __future__ import annotations

from dataclasses import dataclass

from anadrome.dtypes import BOOL, I64
from anadrome.kernel_ir.affine import Bindings
from anadrome.kernel_ir.arithmetic import ZERO, add, compute, divide, least, multiply, subtract
from anadrome.kernel_ir.limits import Limits
from anadrome.kernel_ir.nodes import (
    Binding,
    Buffer,
    Compute,
    Expr,
    For,
    If,
    Let,
    Load,
    Space,
    Store,
    Var,
    i64,
)
from anadrome.kernel_ir.walk import expressions, is_same, subexpressions
from anadrome.prims.node import replace
from anadrome.schedule.innermost import Strips

BLOCK = 4096
"""Iterations of a block: enough that asking costs little beside it."""


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """Blocks of iterations run in this way while it is open what they look for: `so_far` is what has been
    found, which a block may replace by something below `bound` and no index of its own; of a truth, by its
    opposite, if it is `undecided`."""

    inside: Strips
    so_far: Load
    undecided: bool | None = None
    bound: Expr | None = None


def search_of(loop: For, inside: Strips, bindings: Bindings) -> Search | None:
    """What a loop looks for; None for another loop, and for one that is no longer than a block."""
    most = Limits(bindings).trips(loop)
    return None if most is not None and most <= BLOCK else _search(loop, inside)


def by_blocks(loop: For, way: Search) -> For:
    """The loop by blocks, of which those behind the place that is found do nothing."""
    block, first = Var("block", I64), Var("first", I64)
    found = Var("found", way.so_far.buffer.dtype)
    if way.bound is not None:
        is_open: Expr = compute(
            "gt", found, first if is_same(way.bound, loop.hi) else least(first, way.bound)
        )
    else:
        is_open = found if way.undecided else compute("not", found)
    inside = replace(loop, lo=first, hi=least(loop.hi, add(first, i64(BLOCK))))
    start = add(loop.lo, multiply(block, i64(BLOCK)))
    count = divide(add(subtract(loop.hi, loop.lo), i64(BLOCK - 1)), i64(BLOCK))
    body = (Let(found, way.so_far), Let(first, start), If(is_open, (inside,)))
    return For(block, ZERO, count, body, Binding.SEQUENTIAL, loop.span)


def _search(loop: For, inside: Strips) -> Search | None:
    """What a loop of any length looks for; None for another loop."""
    if loop.binding is not Binding.SEQUENTIAL or not all(isinstance(one, Let | Store) for one in loop.body):
        return None
    if any(isinstance(part, Load) for bound in (loop.lo, loop.hi) for part in subexpressions(bound)):
        return None  # which the loop may change
    stores = [stmt for stmt in loop.body if isinstance(stmt, Store)]
    match stores:
        case [Store(buffer=buffer, indices=indices, value=Compute(prim=prim, args=(left, right)))]:
            so_far = Load(buffer, indices)
        case _:
            return None
    exprs = [expr for stmt in loop.body for expr in expressions(stmt)]
    reads = [part for expr in exprs for part in subexpressions(expr) if _reads(part, buffer)]
    is_number = buffer.space is Space.LOCAL and len(indices) == 1 and is_same(indices[0], ZERO)
    if not is_number or len(reads) != 1 or reads[0] not in (left, right):
        return None
    new = right if reads[0] is left else left
    values = {stmt.var: stmt.value for stmt in loop.body if isinstance(stmt, Let)}
    match prim.name, values.get(new) if isinstance(new, Var) else None:
        case "or" | "and", _ if buffer.dtype is BOOL:
            return Search(inside, so_far, undecided=prim.name == "and")
        case "min", Compute(prim=choice, args=(_, one, other)) if choice.name == "select":
            bound = other if one is loop.index else one
            inner = {*values, loop.index}
            is_bound = loop.index in (one, other) and not any(
                isinstance(part, Load) or part in inner for part in subexpressions(bound)
            )
            return Search(inside, so_far, bound=bound) if is_bound else None
        case _:
            return None


def _reads(part: Expr, buffer: Buffer) -> bool:
    return isinstance(part, Load) and part.buffer is buffer
