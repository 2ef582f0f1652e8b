"""Statements that add to neighbouring elements, moved so that each iteration adds to an element of its own.

The adjoint of a stencil adds to elements that the next iterations add to as well: each addition waits for the
one before, in memory. Where such elements are a constant number of iterations apart, an iteration takes the
terms for one element from the iterations that have them, which costs computing them again, and what it adds
to nobody else does. The first and the last few iterations, whose terms are for elements of both, are written
out. (Alignment and replication: Allen and Kennedy, Optimizing Compilers for Modern Architectures, 2001.)

Before:
    fn main(n: i64, x: f64 buffer) {
      alloc y: f64 global [add(n, 1)]
      fill y [add(n, 1)] = 0.0
      for i in 0 .. n sequential {
        let v: f64 = mul(x[i], 0.5)
        y[i] = add~(y[i], v)
        y[add(i, 1)] = sub~(y[add(i, 1)], v)
      }
      return y as f64 [add(n, 1)]
    }
After:
    fn main(n: i64, x: f64 buffer) {
      alloc y: f64 global [add(n, 1)]
      fill y [add(n, 1)] = 0.0
      if ge(n, 1) {
        let v: f64 = mul(x[0], 0.5)
        y[0] = add~(y[0], v)
        for i in 1 .. n sequential {
          let v_1: f64 = mul(x[i], 0.5)
          let v_2: f64 = mul(x[sub(i, 1)], 0.5)
          y[i] = add~(add~(y[i], v_1), neg(v_2))
        }
        let v_3: f64 = mul(x[sub(n, 1)], 0.5)
        y[add(sub(n, 1), 1)] = sub~(y[add(sub(n, 1), 1)], v_3)
      } else {
        for i_1 in 0 .. n sequential {
          let v_4: f64 = mul(x[i_1], 0.5)
          y[i_1] = add~(y[i_1], v_4)
          y[add(i_1, 1)] = sub~(y[add(i_1, 1)], v_4)
        }
      }
      return y as f64 [add(n, 1)]
    }

"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from anadrome.dtypes import I64
from anadrome.kernel_ir.affine import Bindings
from anadrome.kernel_ir.arithmetic import add, compute, subtract
from anadrome.kernel_ir.nodes import (
    Binding,
    Buffer,
    Compute,
    Expr,
    For,
    If,
    Let,
    Load,
    Stmt,
    Store,
    Var,
    i64,
)
from anadrome.kernel_ir.walk import expressions, subexpressions
from anadrome.kernel_ir.work import value_operations
from anadrome.prims.node import replace
from anadrome.prims.polynomials import Polynomial
from anadrome.prims.table import PRIMS
from anadrome.schedule.apart import Added, Sum
from anadrome.schedule.names import Names, copied

FARTHEST = 4
"""Iterations that terms are moved by at most."""
MOST = 24
"""Statements of an iteration up to which the first and last iterations are written out."""
REPEATED = 2
"""How many times as many operations an iteration may take afterwards."""


@dataclass(frozen=True, slots=True, eq=False)
class Moved:
    """A statement that runs so many iterations later; those of the same `leader` add to one element then."""

    stmt: Store
    by: int
    leader: Store
    term: Expr | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Aligned:
    """Statements run moved by up to `farthest` iterations."""

    moved: tuple[Moved, ...]
    farthest: int


def aligned_of(loop: For, added: Sequence[Added], sums: Sequence[Sum], bindings: Bindings) -> Aligned | None:
    """How the statements of a loop are moved; None where none is, or something reads what is written, or has
    a sum in it."""
    summed = {bindings.root(one.buffer) for one in sums}
    if any(bindings.root(one.stmt.buffer) in summed for one in added):
        return None
    if loop.binding is not Binding.SEQUENTIAL or len(loop.body) > MOST:
        return None
    if not all(isinstance(stmt, Let | Store) for stmt in loop.body):
        return None
    moved = tuple(_moved(loop, added, bindings))
    farthest = max((one.by for one in moved), default=0)
    if not 0 < farthest <= FARTHEST or _reads_written(loop, added, bindings):
        return None
    way = Aligned(moved, farthest)
    before = sum(map(_operations, loop.body))
    return way if sum(map(_operations, _iteration(loop, way, loop.index))) <= REPEATED * before else None


def _moved(loop: For, added: Sequence[Added], bindings: Bindings) -> Iterator[Moved]:
    """The stores of an iteration: those that go along the same way a whole number of iterations apart are
    led by the one that is behind the others."""
    groups: dict[tuple[Buffer, Polynomial], list[Added]] = {}
    for one in added:
        rest = one.place.varying
        groups.setdefault((bindings.root(one.stmt.buffer), rest), []).append(one)
    by_stmt: dict[Store, Moved] = {}
    for (_, rest), members in groups.items():
        step = rest.factor(loop.index)
        assert step is not None and step.constant
        stride = step.constant
        first = min(members, key=lambda one: one.place.added * stride)
        for one in members:
            by, left = divmod(one.place.added - first.place.added, stride)
            moved = Moved(one.stmt, by, first.stmt, one.term)
            by_stmt[one.stmt] = Moved(one.stmt, 0, one.stmt, one.term) if left else moved
    for stmt in loop.body:
        if isinstance(stmt, Store):
            yield by_stmt.get(stmt) or Moved(stmt, 0, stmt)


def _reads_written(loop: For, added: Sequence[Added], bindings: Bindings) -> bool:
    """Whether a name or a term is computed from what iterations write."""
    written = {bindings.root(stmt.buffer) for stmt in loop.body if isinstance(stmt, Store)}
    own = {name for one in added for name in one.names}
    exprs = [stmt.value for stmt in loop.body if isinstance(stmt, Let) and stmt.var not in own]
    parts = (part for expr in (*exprs, *(one.term for one in added)) for part in subexpressions(expr))
    return any(isinstance(part, Load) and bindings.root(part.buffer) in written for part in parts)


def _operations(stmt: Stmt) -> int:
    return sum(map(value_operations, expressions(stmt)))


def _needed(body: Sequence[Stmt], exprs: Iterable[Expr]) -> list[Let]:
    """The names that expressions are computed from, in order."""
    used = {part for expr in exprs for part in subexpressions(expr) if isinstance(part, Var)}
    found: list[Let] = []
    for stmt in reversed(body):
        if isinstance(stmt, Let) and stmt.var in used:
            found.append(stmt)
            used |= {part for part in subexpressions(stmt.value) if isinstance(part, Var)}
    return found[::-1]


# ---------------------------------------------------------------------------- the rewrite
@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """What a loop becomes: where it is long enough, its first statements, a loop and its last ones; else the
    loop as it was, of which nothing more is to be made."""

    is_long: Expr
    head: tuple[Stmt, ...]
    main: For
    tail: tuple[Stmt, ...]
    short: tuple[Stmt, ...]

    def with_main(self, main: tuple[Stmt, ...]) -> If:
        """The whole, where the loop has become these statements."""
        return If(self.is_long, (*self.head, *main, *self.tail), self.short)


def aligned(loop: For, way: Aligned) -> Parts:
    """The loop with its statements moved."""
    length = i64(way.farthest)
    first, last = add(loop.lo, length), subtract(loop.hi, length)
    index = Var(loop.index.name, I64)
    head: list[Stmt] = []
    tail: list[Stmt] = []
    for number in range(way.farthest):
        here = [one.stmt for one in way.moved if number < way.farthest - one.by]
        head += _some(loop, here, add(loop.lo, i64(number)))
        there = [one.stmt for one in way.moved if number >= way.farthest - one.by]
        tail += _some(loop, there, add(last, i64(number)))
    main = replace(loop, index=index, lo=first, body=tuple(_iteration(loop, way, index)))
    is_long = compute("ge", subtract(loop.hi, loop.lo), length)
    return Parts(is_long, tuple(head), main, tuple(tail), copied((loop,)))


def _some(loop: For, stmts: Sequence[Store], index: Expr) -> tuple[Stmt, ...]:
    """Some of the statements of an iteration."""
    names = Names.around((loop,))
    names.vars[loop.index] = index
    needed = _needed(loop.body, [expr for stmt in stmts for expr in expressions(stmt)])
    kept = {*needed, *stmts}
    return names.copies(tuple(stmt for stmt in loop.body if stmt in kept))


def _iteration(loop: For, way: Aligned, index: Var) -> Iterator[Stmt]:
    """The statements of an iteration, each term from the iteration that has it."""
    made: dict[int, Names] = {}
    for by in sorted({one.by for one in way.moved}):
        here = [one for one in way.moved if one.by == by]
        exprs = [expr for one in here for expr in _asked(one)]
        names = made[by] = Names.around((loop,))
        names.vars[loop.index] = subtract(index, i64(by))
        yield from names.copies(_needed(loop.body, exprs))
    for one in way.moved:
        if one.leader is not one.stmt:
            continue
        followers = [other for other in way.moved if other.leader is one.stmt]
        if one.term is None:
            yield from made[0].copies((one.stmt,))
            continue
        buffer, indices = made[0].element(one.stmt.buffer, one.stmt.indices)
        total: Expr = Load(buffer, indices)
        for other in followers:
            assert other.term is not None
            term = made[other.by].expr(other.term)
            total = Compute(PRIMS["add"], (total, term), is_reassociable=True)
        yield Store(buffer, indices, total, one.stmt.span)


def _asked(one: Moved) -> tuple[Expr, ...]:
    """What is computed for a statement: of one that follows only its term."""
    if one.term is None:
        return expressions(one.stmt)
    return (one.term,) if one.leader is not one.stmt else (one.term, *one.stmt.indices)
