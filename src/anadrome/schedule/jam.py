"""Sums of a loop of constant extent side by side: the loop over their terms stands outside, and once.

Each iteration of the outer loop makes a sum over as many terms as the run says, such as the distance of a
point from one of five centres. Terms that all of the sums have are read once then, the loop ends once, and
several sums go on while one waits for its last addition. What an iteration does with its sum comes after all
of them, in order. A loop around such a one goes by pairs, with the sums of two iterations side by side: what
both read, the centres, is read once for two points.
(Unroll and jam: Allen and Kennedy, Optimizing Compilers for Modern Architectures, 2001.)

Before:
    fn main(n: i64, x: f64 buffer, c: f64 buffer) {
      alloc least: f64 local [1]
      least[0] = inf
      for j in 0 .. 2 sequential {
        alloc s: f64 local [1]
        s[0] = 0.0
        for q in 0 .. n sequential {
          let d: f64 = sub(x[q], c[add(mul(j, n), q)])
          s[0] = add~(s[0], mul(d, d))
        }
        least[0] = min~(least[0], s[0])
      }
      let r: f64 = least[0]
      return r as f64
    }
After:
    fn main(n: i64, x: f64 buffer, c: f64 buffer) {
      alloc least: f64 local [1]
      least[0] = inf
      alloc s: f64 local [1]
      s[0] = 0.0
      alloc s_1: f64 local [1]
      s_1[0] = 0.0
      for q in 0 .. n sequential {
        let d: f64 = sub(x[q], c[add(mul(0, n), q)])
        s[0] = add~(s[0], mul(d, d))
        let d_1: f64 = sub(x[q], c[add(mul(1, n), q)])
        s_1[0] = add~(s_1[0], mul(d_1, d_1))
      }
      least[0] = min~(least[0], s[0])
      least[0] = min~(least[0], s_1[0])
      let r: f64 = least[0]
      return r as f64
    }

"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from anadrome.dtypes import I64
from anadrome.kernel_ir.affine import Bindings
from anadrome.kernel_ir.arithmetic import ZERO, add, compute, divide, multiply, subtract
from anadrome.kernel_ir.nodes import (
    Alloc,
    Binding,
    Buffer,
    Expr,
    For,
    If,
    Let,
    Load,
    Space,
    Stmt,
    Store,
    Var,
    i64,
)
from anadrome.kernel_ir.walk import expressions, free_names, statements, subexpressions, trip_count
from anadrome.prims.node import replace
from anadrome.schedule.apart import Iterations, iterations_of
from anadrome.schedule.names import Names

MOST = 8
"""Sums side by side."""
PAIR = 2
"""Iterations whose sums go side by side where the run says how many there are."""
MOST_STATEMENTS = 64
"""Statements of the loop over the terms, of all sums together."""


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The sums of so many iterations run side by side: what an iteration does before its loop over terms,
    that loop, and what it does afterwards. `is_all`: the loop has no more iterations."""

    count: int
    before: tuple[Stmt, ...]
    inner: For
    after: tuple[Stmt, ...]
    is_all: bool = True


def side_by_side(loop: For, bindings: Bindings) -> SideBySide | None:
    """How the sums of a loop go side by side; None where it has none, or they are not apart from the rest."""
    extent = trip_count(loop)
    if (
        loop.binding not in (Binding.SEQUENTIAL, Binding.PARALLEL)
        or extent is None
        or not 2 <= extent <= MOST
    ):
        return None
    way = _parts(loop, extent, bindings)
    return None if way is None or extent * len(way.inner.body) > MOST_STATEMENTS else way


def pairs(loop: For, bindings: Bindings) -> SideBySide | None:
    """How a loop of run-time length goes by pairs whose sums go side by side, as those of a loop inside do;
    None where no loop inside has such sums, or theirs are not apart from the rest."""
    if loop.binding not in (Binding.SEQUENTIAL, Binding.PARALLEL) or trip_count(loop) is not None:
        return None
    body: list[Stmt] = []
    for stmt in loop.body:
        way = side_by_side(stmt, bindings) if isinstance(stmt, For) else None
        body += (stmt,) if way is None else jammed(stmt, way)  # type: ignore[arg-type]
    if len(body) == len(loop.body):
        return None
    way = _parts(replace(loop, body=tuple(body)), PAIR, bindings)
    return None if way is None or PAIR * len(way.inner.body) > MOST_STATEMENTS else replace(way, is_all=False)


def jammed(loop: For, way: SideBySide) -> tuple[Stmt, ...]:
    """The loop with its sums side by side."""
    if way.is_all:
        first = int(loop.lo.value)  # type: ignore[union-attr]
        return _side_by_side(loop, way, [i64(number) for number in range(first, first + way.count)])
    whole, pair, last = Var("pairs", I64), Var("pair", I64), Var(loop.index.name, I64)
    start = add(loop.lo, multiply(pair, i64(PAIR)))
    both = tuple(Var(loop.index.name, I64) for _ in range(PAIR))
    places = tuple(Let(index, add(start, i64(number))) for number, index in enumerate(both))
    names = Names.around((loop,))
    names.vars[loop.index] = last
    end = add(loop.lo, multiply(whole, i64(PAIR)))
    return (
        Let(whole, divide(subtract(loop.hi, loop.lo), i64(PAIR))),
        For(pair, ZERO, whole, (*places, *_side_by_side(loop, way, both)), Binding.SEQUENTIAL, loop.span),
        If(compute("lt", end, loop.hi), (Let(last, end), *names.copies(loop.body))),
    )


def _side_by_side(loop: For, way: SideBySide, indices: Sequence[Expr]) -> tuple[Stmt, ...]:
    """The iterations of these indices."""
    parts, index = way, Var(way.inner.index.name, I64)
    before: list[Stmt] = []
    terms: list[Stmt] = []
    after: list[Stmt] = []
    for number in indices:
        names = Names.around((loop, *parts.before, parts.inner, *parts.after))
        names.vars[loop.index] = number
        before += names.copies(parts.before)
        names.vars[parts.inner.index] = index
        terms += names.copies(parts.inner.body)
        after += names.copies(parts.after)
    return (*before, replace(parts.inner, index=index, body=tuple(terms)), *after)


def _parts(loop: For, extent: int, bindings: Bindings) -> SideBySide | None:
    """The parts of an iteration, where all that it does before the end of its sums is to make them."""
    position = next((position for position, stmt in enumerate(loop.body) if isinstance(stmt, For)), None)
    if position is None:
        return None
    inner = loop.body[position]
    assert isinstance(inner, For)
    parts = SideBySide(extent, loop.body[:position], inner, loop.body[position + 1 :])
    own = {stmt.buffer for stmt in parts.before if isinstance(stmt, Alloc)}
    found = iterations_of(inner, bindings) if trip_count(inner) is None else None
    if not isinstance(found, Iterations) or not found.sums or inner.binding is not Binding.SEQUENTIAL:
        return None
    if not all(isinstance(stmt, Let | Store) for stmt in inner.body) or any(
        one.is_write for one in found.reached
    ):
        return None
    bounds = free_names((replace(inner, body=()),))
    bound = {loop.index, *(stmt.var for stmt in parts.before if isinstance(stmt, Let))}
    is_simple = all(_is_own(stmt, own) for stmt in parts.before)
    if not is_simple or not bound.isdisjoint(bounds.vars) or not own.isdisjoint(bounds.buffers):
        return None
    if not all(map(_may_follow, statements(parts.after))):
        return None
    written = _written(parts.after) - own
    read = _read((*parts.before, inner))
    is_seen = any(view.base in written or view.buffer in written for view in bindings.views.values())
    return parts if written.isdisjoint(read) and not is_seen else None


def _may_follow(stmt: Stmt) -> bool:
    """Whether a statement behind the sums writes nothing but what its stores say."""
    match stmt:
        case Let() | Store() | If() | For():
            return True
        case Alloc(buffer=buffer):
            return buffer.space is Space.LOCAL
        case _:
            return False


def _is_own(stmt: Stmt, own: Iterable[Buffer]) -> bool:
    """Whether a statement makes or writes memory of the iteration alone."""
    match stmt:
        case Alloc(buffer=buffer):
            return buffer.space is Space.LOCAL
        case Store(buffer=buffer):
            return buffer in own
        case Let():
            return True
        case _:
            return False


def _written(stmts: Sequence[Stmt]) -> set[Buffer]:
    return {stmt.buffer for stmt in statements(stmts) if isinstance(stmt, Store)}


def _read(stmts: Sequence[Stmt]) -> set[Buffer]:
    exprs = (
        part for stmt in statements(stmts) for expr in expressions(stmt) for part in subexpressions(expr)
    )
    return {part.buffer for part in exprs if isinstance(part, Load)}
