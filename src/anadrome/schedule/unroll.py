"""Short loops that add to numbers of a loop around them, written out.

The gradient by five parameters is five sums over the points, and the loop over points holds one over
parameters. As five statements they are sums as any others: each lane has them for itself.

Before:
    fn main(n: i64, x: f64 buffer, c: f64 buffer) {
      alloc s: f64 global [3]
      fill s [3] = 0.0
      for i in 0 .. n sequential {
        let v: f64 = c[i]
        for k in 0 .. 3 parallel {
          s[k] = add~(s[k], mul(v, x[add(mul(i, 3), k)]))
        }
      }
      return s as f64 [3]
    }
After:
    fn main(n: i64, x: f64 buffer, c: f64 buffer) {
      alloc s: f64 global [3]
      fill s [3] = 0.0
      for i in 0 .. n sequential {
        let v: f64 = c[i]
        s[0] = add~(s[0], mul(v, x[mul(i, 3)]))
        s[1] = add~(s[1], mul(v, x[add(mul(i, 3), 1)]))
        s[2] = add~(s[2], mul(v, x[add(mul(i, 3), 2)]))
      }
      return s as f64 [3]
    }

"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from anadrome.dtypes import I64
from anadrome.kernel_ir.arithmetic import add, known, multiply, subtract
from anadrome.kernel_ir.nodes import (
    Alloc,
    Binding,
    Buffer,
    Compute,
    Const,
    Expr,
    For,
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
    UNROLLED,
    bodies,
    free_names,
    offset_of,
    statements,
    subexpressions,
    trip_count,
    with_bodies,
)
from anadrome.prims.node import replace
from anadrome.schedule.apart import InOrder, Iterations
from anadrome.schedule.names import COPIED, Names

MOST_STATEMENTS = 128
"""Statements up to which short loops are written out."""
FOLDED: dict[str, Callable[[Expr, Expr], Expr]] = {"add": add, "sub": subtract, "mul": multiply}


def together(
    loop: For, iterations: Callable[[For], Iterations | InOrder]
) -> tuple[For, Iterations | InOrder]:
    """A loop whose iterations may run together, and what they do: short ones in it are written out if that is
    what it takes. If it takes more, the loop as it is, and why."""
    found = iterations(loop)
    written = unrolled(loop) if isinstance(found, InOrder) else loop
    other = found if written is loop else iterations(written)
    return (loop, found) if isinstance(other, InOrder) else (written, other)


def straight(loop: For) -> For:
    """The loop with all short ones in it written out, and what elements of small arrays of its own are, one
    after the other, as numbers with names; itself where that leaves a loop or an array, or is long."""
    inside = [stmt for stmt in statements(loop.body) if isinstance(stmt, For | While)]
    short = {stmt for stmt in inside if isinstance(stmt, For) and is_short(stmt)}
    if not short or len(short) < len(inside) or not _may_be_written_out(loop, short):
        return loop
    named = _Named(tuple(_written_out(loop.body, short))).stmts
    return loop if named is None else replace(loop, body=named)


def unrolled(loop: For) -> For:
    """The loop with short ones in it written out whose elements are written in each of its own iterations;
    itself where there are none, or they are long."""
    own = {stmt.buffer for stmt in statements(loop.body) if isinstance(stmt, Alloc)}
    inside = (stmt for stmt in statements(loop.body) if isinstance(stmt, For))
    short = {inner.index: inner for inner in inside if is_short(inner)}
    stores = [stmt for stmt in statements(loop.body) if isinstance(stmt, Store) and stmt.buffer not in own]
    read = {part for stmt in stores for index in stmt.indices for part in subexpressions(index)}
    wanted = {inner for index, inner in short.items() if index in read}
    if not wanted or not _may_be_written_out(loop, wanted):
        return loop
    return replace(loop, body=tuple(_written_out(loop.body, wanted)))


def is_short(loop: For) -> bool:
    """Whether a loop of one thread has few iterations, by constants."""
    is_own = loop.binding in (Binding.SEQUENTIAL, Binding.PARALLEL)
    return is_own and 0 < (trip_count(loop) or 0) <= UNROLLED


def _may_be_written_out(loop: For, wanted: set[For]) -> bool:
    """Whether the loops in a loop can be written out, and that is not long."""
    inside = statements(stmt for one in wanted for stmt in one.body)
    return all(isinstance(stmt, COPIED) for stmt in inside) and _length(loop.body, wanted) <= MOST_STATEMENTS


def _length(stmts: Sequence[Stmt], wanted: set[For]) -> int:
    """How many statements there are with these loops written out."""
    total = 0
    for stmt in stmts:
        length = sum(_length(body, wanted) for body in bodies(stmt))
        is_gone = isinstance(stmt, For) and stmt in wanted
        total += (trip_count(stmt) or 0) * length if is_gone else 1 + length  # type: ignore[arg-type]
    return total


def _written_out(stmts: Sequence[Stmt], wanted: set[For]) -> Iterator[Stmt]:
    """Statements with what these loops do in their places, the inner ones first."""
    for stmt in stmts:
        inner = [tuple(_written_out(body, wanted)) for body in bodies(stmt)]
        if not isinstance(stmt, For) or stmt not in wanted:
            yield with_bodies(stmt, inner) if inner else stmt
            continue
        first, count = int(stmt.lo.value), trip_count(stmt)  # type: ignore[union-attr]
        for number in range(first, first + (count or 0)):
            names = _Numbers.around(inner[0])
            names.vars[stmt.index] = i64(number)
            yield from names.copies(inner[0])


class _Numbers(Names):
    """Names some of which stand for numbers, of which sums and products are numbers."""

    def expr(self, expr: Expr) -> Expr:
        """An expression of the loop as one of an iteration."""
        made = super().expr(expr)
        match made:
            case Compute(prim=prim, args=(left, right)) if prim.name in FOLDED:
                constants = [arg.dtype for arg in (left, right) if isinstance(arg, Const)]
                return FOLDED[prim.name](left, right) if constants and set(constants) == {I64} else made
            case _:
                return made


class _Named:
    """Statements in the place of those that set elements of arrays made here: what one is at a time has a
    name. `stmts`: None where a place is no constant, or an element is set under a condition or not at all."""

    def __init__(self, stmts: Sequence[Stmt]) -> None:
        self.own = {stmt.buffer for stmt in statements(stmts) if isinstance(stmt, Alloc)}
        self.now: dict[tuple[Buffer, int], Var] = {}
        self.is_left = False
        made = tuple(new for stmt in stmts for new in self.statement(stmt))
        self.stmts = None if self.is_left else made

    def statement(self, stmt: Stmt) -> Iterator[Stmt]:
        """A statement with the names of elements, and what gives an element its next one."""
        match stmt:
            case Alloc(buffer=Buffer(space=Space.LOCAL)):
                pass
            case Store(buffer=buffer, indices=indices, value=value) if buffer in self.own:
                place = known(offset_of(buffer, indices))
                if place is None:
                    self.is_left = True
                else:
                    new = Let(Var(buffer.name, buffer.dtype), self.expr(value), stmt.span)
                    self.now[buffer, place] = new.var
                    yield new
            case Store(indices=indices, value=value) if stmt.buffer not in self.own:
                yield replace(stmt, indices=tuple(map(self.expr, indices)), value=self.expr(value))
            case Let(value=value):
                yield replace(stmt, value=self.expr(value))
            case If(condition=condition, then=then, other=other):
                before = dict(self.now)
                ways = [tuple(new for one in way for new in self.statement(one)) for way in (then, other)]
                self.is_left |= self.now != before
                yield If(self.expr(condition), ways[0], ways[1])
            case _:
                self.is_left |= bool(bodies(stmt)) or not self.own.isdisjoint(free_names((stmt,)).buffers)
                yield stmt

    def expr(self, expr: Expr) -> Expr:
        """An expression with the names of elements."""
        match expr:
            case Load(buffer=buffer, indices=indices) if buffer in self.own:
                place = known(offset_of(buffer, indices))
                found = None if place is None else self.now.get((buffer, place))
                self.is_left |= found is None
                return expr if found is None else found
            case Load(buffer=buffer, indices=indices):
                return Load(buffer, tuple(map(self.expr, indices)))
            case Compute(args=args):
                return replace(expr, args=tuple(map(self.expr, args)))
            case _:
                return expr
