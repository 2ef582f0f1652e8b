"""Loops in order, whose dear operations wait for no other iteration: those run ahead in lanes, by blocks.

A loop that adds up in its order, or keeps the largest so far, cannot run in lanes. Most of its work often
can: exponentials of elements, which need nothing that an earlier iteration has left. A block of iterations
is then gone through twice: once for what needs no other iteration, which lanes compute and keep for the
block, and once in order for the rest. What is cheap and needed in both parts is computed in both. So the
order of additions is Python's, and memory is that of a block.

Nothing is computed ahead that might fail: what stands behind a check reads no memory ahead of it, and whole
numbers are divided by constants alone.

Before:
    fn main(n: i64, x: f64 buffer) {
      alloc s: f64 local [1]
      s[0] = 0.0
      for i in 0 .. n sequential {
        let v: f64 = x[i]
        let w: f64 = exp(v)
        let u: f64 = s[0]
        s[0] = add(u, mul(v, w))
      }
      return s[0] as f64
    }
After:
    fn main(n: i64, x: f64 buffer) {
      alloc s: f64 local [1]
      s[0] = 0.0
      alloc w: f64 local [128]
      for block in 0 .. truncdiv(add(n, 127), 128) sequential {
        let first: i64 = mul(block, 128)
        let until: i64 = min(n, add(first, 128))
        let strips: i64 = truncdiv(sub(until, first), 32)
        for strip in 0 .. strips parallel {
          for lane in 0 .. 32 lanes {
            let i: i64 = add(add(first, mul(strip, 32)), lane)
            let v: f64 = x[i]
            let w_1: f64 = exp(v)
            w[sub(i, first)] = w_1
          }
        }
        for strip_1 in 0 .. min(truncdiv(add(sub(until, add(first, mul(strips, 32))), 7), 8), 4) parallel {
          for lane_1 in 0 .. 8 lanes {
            let i_1: i64 = add(add(add(first, mul(strips, 32)), mul(strip_1, 8)), lane_1)
            if lt(i_1, until) {
              let v_1: f64 = x[i_1]
              let w_2: f64 = exp(v_1)
              w[sub(i_1, first)] = w_2
            }
          }
        }
        for i_2 in first .. until sequential {
          let v_2: f64 = x[i_2]
          let w_3: f64 = w[sub(i_2, first)]
          let u: f64 = s[0]
          s[0] = add(u, mul(v_2, w_3))
        }
      }
      return s[0] as f64
    }

"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from anadrome.dtypes import I64
from anadrome.kernel_ir.affine import Bindings
from anadrome.kernel_ir.arithmetic import ZERO, add, divide, least, multiply, subtract
from anadrome.kernel_ir.limits import Limits
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Binding,
    Buffer,
    Check,
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
    i64,
)
from anadrome.kernel_ir.walk import bodies, changes, expressions, statements, subexpressions, with_bodies
from anadrome.kernel_ir.work import value_operations
from anadrome.prims.costs import EXPENSIVE
from anadrome.prims.node import replace
from anadrome.schedule.apart import InOrder
from anadrome.schedule.innermost import Strips, strips_of
from anadrome.schedule.names import copied
from anadrome.schedule.unroll import straight

BLOCK = 128
"""Iterations of a block: enough for the strips of lanes, and few enough for the first cache."""
DEAR = EXPENSIVE
"""The cost of an operation that is worth a pass over the block."""
SHARE = 6
"""Dear operations run ahead where they are one of so many at least, by their costs."""
MOST_KEPT = 8
"""Numbers of an iteration that may be kept for a block."""
DIVISIONS = ("floordiv", "mod", "truncdiv")
"""What may fail, of whole numbers."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A block of iterations computes `kept` by the statements `ahead`; `why` the rest runs in order."""

    kept: tuple[Var, ...]
    ahead: tuple[Stmt, ...]
    rest: tuple[Stmt, ...]
    why: InOrder


def parts_of(loop: For, bindings: Bindings, vector_bits: int, why: InOrder) -> Parts | None:
    """How a loop that runs in order is parted; None where nothing dear can run ahead in lanes."""
    most = Limits(bindings).trips(loop)
    if loop.binding is not Binding.SEQUENTIAL or (most is not None and most < BLOCK):
        return None
    if not any(_is_dear(part) for expr in _values(loop.body) for part in subexpressions(expr)):
        return None
    loop = straight(loop)
    if not all(isinstance(stmt, Let | Store | Atomic | If | Check | Alloc) for stmt in statements(loop.body)):
        return None
    parting = _Parting(loop, bindings)
    if not parting.kept or len(parting.kept) > MOST_KEPT:
        return None
    ahead = parting.ahead(loop.body)
    parts = [part for expr in _values(ahead) for part in subexpressions(expr) if _is_dear(part)]
    work = sum(value_operations(expr) for expr in _values(loop.body))
    if SHARE * sum(part.prim.cost for part in parts if isinstance(part, Compute)) < work:
        return None
    alone = replace(loop, body=ahead, binding=Binding.PARALLEL)
    if not isinstance(strips_of(alone, bindings, vector_bits), Strips):
        return None
    return Parts(tuple(parting.kept), ahead, parting.rest(loop.body), why)


def parted(loop: For, way: Parts) -> tuple[Stmt, ...]:
    """The loop by blocks, each in two parts."""
    block, first, until = Var("block", I64), Var("first", I64), Var("until", I64)
    before, (lo, hi) = _known_once(loop.lo, loop.hi)
    kept = {var: Buffer(var.name, var.dtype, Space.LOCAL) for var in way.kept}
    at = (subtract(loop.index, first),)

    def with_stores(stmt: Stmt) -> Iterator[Stmt]:
        yield stmt
        if isinstance(stmt, Let) and stmt.var in kept:
            yield Store(kept[stmt.var], at, stmt.var)

    def without_kept(stmt: Stmt) -> Iterator[Stmt]:
        if not isinstance(stmt, Let) or stmt.var not in kept:
            yield stmt

    # what a branch needs is read in front of it, so that a branch of few operations need be none
    reads = [[Let(var, Load(kept[var], at)) for var in _bound(stmt) if var in kept] for stmt in way.rest]
    left = [(*read, *_each((stmt,), without_kept)) for read, stmt in zip(reads, way.rest, strict=True)]
    ahead = replace(loop, lo=first, hi=until, body=_each(way.ahead, with_stores), binding=Binding.PARALLEL)
    rest = replace(loop, lo=first, hi=until, body=tuple(stmt for group in left for stmt in group))
    start = add(lo, multiply(block, i64(BLOCK)))
    inside = (Let(first, start), Let(until, least(hi, add(first, i64(BLOCK)))), ahead, *copied((rest,)))
    count = divide(add(subtract(hi, lo), i64(BLOCK - 1)), i64(BLOCK))
    room = (Alloc(buffer, i64(BLOCK)) for buffer in kept.values())
    return (*before, *room, For(block, ZERO, count, inside, Binding.SEQUENTIAL, loop.span))


def _each(stmts: Iterable[Stmt], change: Callable[[Stmt], Iterator[Stmt]]) -> tuple[Stmt, ...]:
    """Statements changed one by one, those inside of branches first."""
    found: list[Stmt] = []
    for stmt in stmts:
        inner = [_each(body, change) for body in bodies(stmt)]
        found += change(with_bodies(stmt, inner) if inner else stmt)
    return tuple(found)


def _values(stmts: Iterable[Stmt]) -> Iterator[Expr]:
    """All expressions of statements."""
    return (expr for stmt in statements(stmts) for expr in expressions(stmt))


def _is_dear(part: Expr) -> bool:
    return isinstance(part, Compute) and part.prim.cost >= DEAR


def _known_once(*bounds: Expr) -> tuple[tuple[Stmt, ...], list[Expr]]:
    """The bounds of a loop as what its iterations do not change, and the statements before it for that."""
    lets = {bound: Let(Var("end", I64), bound) for bound in bounds if any(map(_reads, subexpressions(bound)))}
    return tuple(lets.values()), [lets[bound].var if bound in lets else bound for bound in bounds]


def _reads(part: Expr) -> bool:
    return isinstance(part, Load)


def _operations(expr: Expr) -> Iterator[Expr]:
    """The parts of an expression, without those that say where an element is."""
    yield expr
    for part in expr.args if isinstance(expr, Compute) else ():
        yield from _operations(part)


def _bound(stmt: Stmt) -> Iterator[Var]:
    """The variables bound in a statement and the branches in it."""
    return (one.var for one in statements((stmt,)) if isinstance(one, Let))


class _Parting:
    """Which of a loop's variables wait for no other iteration (`free`), which of them take a dear operation,
    and which the rest needs: dear ones are `kept`, cheap ones computed `again`."""

    def __init__(self, loop: For, bindings: Bindings) -> None:
        self.bindings = bindings
        self.changed = {bindings.root(buffer) for stmt in statements(loop.body) for buffer in changes(stmt)}
        self.values = {stmt.var: stmt.value for stmt in statements(loop.body) if isinstance(stmt, Let)}
        self.conditions: dict[Var, tuple[Expr, ...]] = {}
        """Of each variable, those of the branches around it."""
        self.free: set[Var] = set()
        self.dear: set[Var] = set()
        self.kept: dict[Var, None] = {}
        self.again: set[Var] = set()
        self.needed: set[Var] = set()
        """What runs ahead: what is kept, and what that needs."""
        self.may_read = True
        self.learn(loop.body, ())
        self.need_for_rest(loop.body)
        for var in self.kept:
            self.need_ahead(var)

    # ------------------------------------------------------------------ what waits for nobody
    def learn(self, stmts: Iterable[Stmt], conditions: tuple[Expr, ...]) -> None:
        """Find the free variables among those that statements bind."""
        for stmt in stmts:
            match stmt:
                case Let(var=var, value=value):
                    self.conditions[var] = conditions
                    if all(map(self.is_free, (*conditions, value))):
                        self.free.add(var)
                        if any(map(self.is_dear, _operations(value))):
                            self.dear.add(var)
                case If(condition=condition):
                    for body in bodies(stmt):
                        self.learn(body, (*conditions, condition))
                case Check():
                    self.may_read = False
                case _:
                    pass

    def is_free(self, expr: Expr) -> bool:
        """Whether an expression needs nothing of another iteration, and cannot fail."""
        for part in subexpressions(expr):
            match part:
                case Var():
                    if part in self.values and part not in self.free:
                        return False
                case Load(buffer=buffer):
                    if not self.may_read or self.bindings.root(buffer) in self.changed:
                        return False
                case Compute(prim=prim, args=(_, divisor)) if prim.name in DIVISIONS:
                    if not isinstance(divisor, Const) or not divisor.value:
                        return False
                case _:
                    pass
        return True

    def is_dear(self, part: Expr) -> bool:
        """Whether a part of an expression is a dear operation, or the result of one."""
        return part in self.dear or _is_dear(part)

    # ------------------------------------------------------------------ what is needed where
    def stays(self, stmt: Stmt) -> bool:
        """Whether there is something in a statement that waits for another iteration."""
        if isinstance(stmt, If):
            return any(self.stays(one) for body in bodies(stmt) for one in body)
        return not (isinstance(stmt, Let) and stmt.var in self.free)

    def need_for_rest(self, stmts: Iterable[Stmt]) -> None:
        """Find what the statements that stay need."""
        for stmt in filter(self.stays, stmts):
            for expr in expressions(stmt):
                self.need(expr)
            for body in bodies(stmt):
                self.need_for_rest(body)

    def need(self, expr: Expr) -> None:
        """Have the rest know what is in an expression."""
        for part in subexpressions(expr):
            if isinstance(part, Var) and part in self.dear:
                self.kept[part] = None
            elif isinstance(part, Var) and part in self.free and part not in self.again:
                self.again.add(part)
                self.need(self.values[part])

    def need_ahead(self, var: Var) -> None:
        """Have a value run ahead, with all that it needs."""
        if var in self.free and var not in self.needed:
            self.needed.add(var)
            for expr in (self.values[var], *self.conditions[var]):
                for part in subexpressions(expr):
                    if isinstance(part, Var):
                        self.need_ahead(part)

    # ------------------------------------------------------------------ the two parts
    def ahead(self, stmts: Iterable[Stmt]) -> tuple[Stmt, ...]:
        """The statements that run ahead."""
        return _each(stmts, lambda stmt: self._if_any(stmt, self.needed))

    def rest(self, stmts: Iterable[Stmt]) -> tuple[Stmt, ...]:
        """The statements that stay, with those that are computed again and those that are kept."""
        return _each(stmts, lambda stmt: self._if_any(stmt, self.again.union(self.kept), is_rest=True))

    def _if_any(self, stmt: Stmt, wanted: set[Var], *, is_rest: bool = False) -> Iterator[Stmt]:
        match stmt:
            case If(then=then, other=other):
                is_wanted = bool(then or other)
            case Let(var=var):
                is_wanted = var in wanted or (is_rest and var not in self.free)
            case _:
                is_wanted = is_rest
        if is_wanted:
            yield stmt
