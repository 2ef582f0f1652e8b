"""Running sums by groups of iterations, which wait for the sum before them once.

A loop that adds to a number and reads it in every iteration, such as a prefix sum, waits for each addition in
turn. Where the additions may be reordered, the iterations of a group add among themselves, and what they read
is the sum before the group and their own. Sums that nobody reads meanwhile go along. Their order changes as
that of sums in lanes does, and nothing else: iterations stay in order. What is written here is the order
that is computed: LLVM, if it may choose one, has each term wait for the one before again.

Before:
    fn main(n: i64, x: f64 buffer) {
      alloc y: f64 global [n]
      alloc s: f64 local [1]
      s[0] = 0.0
      for i in 0 .. n sequential {
        s[0] = add~(s[0], x[i])
        let v: f64 = s[0]
        y[i] = v
      }
      return y as f64 [n]
    }
After:
    fn main(n: i64, x: f64 buffer) {
      alloc y: f64 global [n]
      alloc s: f64 local [1]
      s[0] = 0.0
      let groups: i64 = truncdiv(n, 4)
      for group in 0 .. groups sequential {
        let s_1: f64 = s[0]
        let i: i64 = mul(group, 4)
        let s_2: f64 = x[i]
        let v: f64 = add(s_1, s_2)
        y[i] = v
        let i_1: i64 = add(mul(group, 4), 1)
        let s_3: f64 = add(s_2, x[i_1])
        let v_1: f64 = add(s_1, s_3)
        y[i_1] = v_1
        let i_2: i64 = add(mul(group, 4), 2)
        let s_4: f64 = add(s_3, x[i_2])
        let v_2: f64 = add(s_1, s_4)
        y[i_2] = v_2
        let i_3: i64 = add(mul(group, 4), 3)
        let s_5: f64 = add(s_4, x[i_3])
        let v_3: f64 = add(s_1, s_5)
        y[i_3] = v_3
        s[0] = add(s_1, s_5)
      }
      for i_4 in mul(groups, 4) .. n sequential {
        s[0] = add~(s[0], x[i_4])
        let v_4: f64 = s[0]
        y[i_4] = v_4
      }
      return y as f64 [n]
    }

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anadrome.dtypes import I64
from anadrome.kernel_ir.affine import Bindings
from anadrome.kernel_ir.arithmetic import ZERO, add, divide, known, multiply, subtract
from anadrome.kernel_ir.nodes import (
    Binding,
    Buffer,
    Compute,
    Const,
    Expr,
    For,
    Let,
    Load,
    Space,
    Stmt,
    Store,
    Var,
    i64,
)
from anadrome.kernel_ir.walk import expressions, subexpressions
from anadrome.prims.node import replace
from anadrome.prims.table import PRIMS
from anadrome.schedule.names import copied

GROUP = 4
"""Iterations of a group: an addition takes as many cycles, or fewer."""
MOST = 24
"""Statements of an iteration up to which it stands there so often."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Iterations run in groups, which wait for these sums once."""

    sums: tuple[RunningSum, ...]


def groups_of(loop: For, bindings: Bindings) -> Groups | None:
    """How a loop goes by groups; None where it has no running sum, or more than statements in order."""
    if loop.binding is not Binding.SEQUENTIAL or len(loop.body) > MOST:
        return None
    if not all(isinstance(stmt, Let | Store) for stmt in loop.body):
        return None
    extent = known(subtract(loop.hi, loop.lo))
    seen = {view.base for view in bindings.views.values()}
    sums = tuple(one for one in _sums(loop.body) if one.buffer not in seen)
    is_short = extent is not None and extent < 2 * GROUP
    return None if is_short or not any(one.is_read for one in sums) else Groups(sums)


def running_sums(loop: For, way: Groups) -> tuple[Stmt, ...]:
    """The loop by groups."""
    groups = Var("groups", I64)
    group = Var("group", I64)
    first = add(loop.lo, multiply(group, i64(GROUP)))
    body = _Group(way.sums)
    for offset in range(GROUP):
        place = Let(loop.index, add(first, i64(offset)))
        body.iteration(copied((place, *loop.body)))
    end = add(loop.lo, multiply(groups, i64(GROUP)))
    return (
        Let(groups, divide(subtract(loop.hi, loop.lo), i64(GROUP))),
        For(group, ZERO, groups, body.all()),
        *copied((replace(loop, lo=end),)),
    )


@dataclass(frozen=True, slots=True)
class RunningSum:
    """A number in local memory that each iteration adds to once."""

    buffer: Buffer
    indices: tuple[Expr, ...]
    is_read: bool


def _sums(body: Sequence[Stmt]) -> list[RunningSum]:
    """The numbers that the statements of an iteration add to, and do nothing else to but read them."""
    found: list[RunningSum] = []
    for stmt in body:
        if not isinstance(stmt, Store) or _added(stmt) is None:
            continue
        others = [one for one in body if isinstance(one, Store) and one.buffer is stmt.buffer]
        reads = [
            part
            for one in body
            for expr in expressions(one)
            for part in subexpressions(expr)
            if isinstance(part, Load) and part.buffer is stmt.buffer
        ]
        if len(others) == 1 and all(_is_at(one, stmt) for one in reads):
            found.append(RunningSum(stmt.buffer, stmt.indices, len(reads) > 1))
    return found


def _added(stmt: Store) -> Expr | None:
    """What a statement adds to a number in local memory, in any order; None where it does something else."""
    value = stmt.value
    if stmt.buffer.space is not Space.LOCAL or not stmt.buffer.dtype.is_float:
        return None
    if not isinstance(value, Compute) or value.prim.name != "add" or not value.is_reassociable:
        return None
    if not all(isinstance(index, Const) for index in stmt.indices):
        return None
    left, right = value.args
    if isinstance(left, Load) and _is_at(left, stmt):
        return right
    return left if isinstance(right, Load) and _is_at(right, stmt) else None


def _is_at(read: Load, stmt: Store) -> bool:
    return read.buffer is stmt.buffer and list(map(known, read.indices)) == list(map(known, stmt.indices))


class _Group:
    """The statements of a group of iterations: what each sum was before it, and what was added since."""

    def __init__(self, sums: Sequence[RunningSum]) -> None:
        self.sums = {one.buffer: one for one in sums}
        self.before = {one.buffer: Var(one.buffer.name, one.buffer.dtype) for one in sums}
        self.added: dict[Buffer, Var] = {}
        self.stmts: list[Stmt] = [
            Let(var, Load(buffer, self.sums[buffer].indices)) for buffer, var in self.before.items()
        ]

    def iteration(self, stmts: Sequence[Stmt]) -> None:
        """The statements of one more iteration."""
        for stmt in stmts:
            match stmt:
                case Store(buffer=buffer) if buffer in self.sums:
                    own = _added(stmt)
                    assert own is not None
                    more, old = self.expr(own), self.added.get(buffer)
                    var = self.added[buffer] = Var(buffer.name, buffer.dtype)
                    self.stmts.append(Let(var, more if old is None else _sum(old, more), stmt.span))
                case Let() | Store():
                    self.stmts.append(replace(stmt, value=self.expr(stmt.value)))
                case _:
                    raise AssertionError("an iteration is statements in order")

    def all(self) -> tuple[Stmt, ...]:
        """The statements of the group, and what it leaves in the sums."""
        left = [Store(buffer, one.indices, self._now(buffer)) for buffer, one in self.sums.items()]
        return (*self.stmts, *left)

    def expr(self, expr: Expr) -> Expr:
        """An expression that reads the sums as they are now."""
        match expr:
            case Load(buffer=buffer) if buffer in self.sums:
                return self._now(buffer)
            case Load(buffer=buffer, indices=indices):
                return Load(buffer, tuple(map(self.expr, indices)))
            case Compute(prim=prim, args=args, is_reassociable=is_reassociable):
                return Compute(prim, tuple(map(self.expr, args)), is_reassociable)
            case _:
                return expr

    def _now(self, buffer: Buffer) -> Expr:
        added = self.added.get(buffer)
        return self.before[buffer] if added is None else _sum(self.before[buffer], added)


def _sum(left: Expr, right: Expr) -> Expr:
    return Compute(PRIMS["add"], (left, right))
