"""Sums of a loop of constant extent side by side: the loop over their terms stands outside, and once.

Each iteration of the outer loop makes a sum over as many terms as the run says, such as the distance of a
point from one of five centres. Terms that all of the sums have are read once then, the loop ends once, and
several sums go on while one waits for its last addition. What an iteration does with its sum comes after all
of them, in order. (Unroll and jam: Allen and Kennedy, Optimizing Compilers for Modern Architectures, 2001.)

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
from dataclasses import dataclass, replace

from anadrome.dtypes import I64
from anadrome.kernel_ir.affine import Bindings
from anadrome.kernel_ir.nodes import (
    Alloc,
    Binding,
    Buffer,
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
from anadrome.schedule.apart import Iterations, iterations_of
from anadrome.schedule.names import Names

MOST = 8
"""Sums side by side."""
MOST_STATEMENTS = 48
"""Statements of the loop over the terms, of all sums together."""


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The sums of so many iterations run side by side: what an iteration does before its loop over terms,
    that loop, and what it does afterwards."""

    count: int
    before: tuple[Stmt, ...]
    inner: For
    after: tuple[Stmt, ...]


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


def jammed(loop: For, way: SideBySide) -> tuple[Stmt, ...]:
    """The loop with its sums side by side."""
    parts, index = way, Var(way.inner.index.name, I64)
    first = int(loop.lo.value)  # type: ignore[union-attr]
    before: list[Stmt] = []
    terms: list[Stmt] = []
    after: list[Stmt] = []
    for number in range(first, first + way.count):
        names = Names.around((loop,))
        names.vars[loop.index] = i64(number)
        before += names.copies(parts.before)
        names.vars[parts.inner.index] = index
        terms += names.copies(parts.inner.body)
        after += names.copies(parts.after)
    return (*before, replace(parts.inner, index=index, body=tuple(terms)), *after)


def _parts(loop: For, extent: int, bindings: Bindings) -> SideBySide | None:
    """The parts of an iteration, where all that it does before the end of its sums is to make them."""
    loops = [position for position, stmt in enumerate(loop.body) if isinstance(stmt, For)]
    if len(loops) != 1:
        return None
    inner = loop.body[loops[0]]
    assert isinstance(inner, For)
    parts = SideBySide(extent, loop.body[: loops[0]], inner, loop.body[loops[0] + 1 :])
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
    if not all(isinstance(stmt, Let | Store | If) for stmt in statements(parts.after)):
        return None
    written = _written(parts.after) - own
    read = _read((*parts.before, inner))
    is_seen = any(view.base in written or view.buffer in written for view in bindings.views.values())
    return parts if written.isdisjoint(read) and not is_seen else None


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
