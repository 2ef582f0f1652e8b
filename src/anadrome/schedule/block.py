"""A block of threads as loops over them, split where they meet at a barrier.

What lives across a barrier has an element for each thread; a whole number that is computed from parameters
and from where the thread is, is computed again.

Before:
    kernel reverse(x: f64 buffer, y: f64 buffer)
    at gx gy gz, bx by bz, ix iy iz, tx ty tz, bytes {
      alloc s: f64 shared [64]
      let i: i64 = add(mul(ix, 64), tx)
      let v: f64 = x[i]
      s[tx] = v
      barrier
      y[i] = sub(s[sub(63, tx)], v)
    }
    fn main(n: i64, x: f64 buffer) {
      alloc y: f64 global [mul(n, 64)]
      launch reverse [n, 1, 1] [64, 1, 1] [0] (x, y)
      return y as f64 [mul(n, 64)]
    }
After:
    fn main(n: i64, x: f64 buffer) {
      alloc y: f64 global [mul(n, 64)]
      alloc s: f64 global [64]
      alloc v: f64 global [64]
      for block in 0 .. n sequential {
        for tx in 0 .. 64 parallel {
          let i: i64 = add(mul(block, 64), tx)
          let v_1: f64 = x[i]
          v[tx] = v_1
          s[tx] = v_1
        }
        for tx_1 in 0 .. 64 parallel {
          let i_1: i64 = add(mul(block, 64), tx_1)
          let v_2: f64 = v[tx_1]
          y[i_1] = sub(s[sub(63, tx_1)], v_2)
        }
      }
      free s
      free v
      return y as f64 [mul(n, 64)]
    }

"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import assert_never

from anadrome.dtypes import BOOL, I64
from anadrome.kernel_ir.arithmetic import ONE, ZERO, add, compute, divide, known, multiply, subtract
from anadrome.kernel_ir.nodes import (
    Alloc,
    Barrier,
    Binding,
    Buffer,
    Check,
    Compute,
    Const,
    Expr,
    For,
    If,
    Load,
    Space,
    Stmt,
    Store,
    Var,
    While,
    i64,
)
from anadrome.kernel_ir.walk import statements
from anadrome.schedule.bounds import all_of
from anadrome.schedule.checks import hoist_checks
from anadrome.schedule.lanes import ALONE, Lanes, in_lanes, width_of
from anadrome.schedule.names import Names
from anadrome.schedule.narrow import narrow
from anadrome.schedule.pieces import Written, write
from anadrome.schedule.plan import Branch, Item, Loop, Meeting, Once, Piece, Repeat
from anadrome.schedule.site import Site
from anadrome.schedule.warps import Warps

Build = Callable[[Names], Written]
"""What one thread does, by the names that hold for it."""


class Block:
    """Writes what the threads of one block do."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def items(self, items: Iterable[Item], names: Names, body: list[Stmt]) -> None:
        """Parts in order."""
        for item in items:
            match item:
                case Piece(inner=None):
                    self._piece(item.stmts, names, body)
                case Piece():
                    Warps(self.site).piece(item, names, body)
                case Meeting():
                    self._barrier(item, names, body)
                case Once(stmt=stmt):
                    self.site.once(stmt, names, body)
                case Branch():
                    self._branch(item, names, body)
                case Loop():
                    self._loop(item, names, body)
                case Repeat():
                    self._repeat(item, names, body)
                case _:
                    assert_never(item)

    # ------------------------------------------------------------------ threads
    def _piece(self, stmts: Sequence[Stmt], names: Names, body: list[Stmt]) -> None:
        """What each thread does by itself, where that pays side by side in lanes."""
        site, width = self.site, 1
        if known(site.threads) != 1:
            width = width_of(stmts, site.indivisible, site.vector_bits)
        lanes = Lanes(width, Var("lane", I64))
        self._each(partial(write, site, stmts, lanes=lanes), names, body, lanes)

    def _each(self, build: Build, names: Names, body: list[Stmt], lanes: Lanes = ALONE) -> None:
        """Loops over the threads, x innermost; none over a direction of one thread."""
        site, inner = self.site, names.inner()
        indices: list[Var | None] = []
        places: list[Expr] = []
        for var, extent in zip(site.plan.kernel.geometry.thread_index, site.block, strict=True):
            index = None if known(extent) == 1 else Var(var.name, I64)
            indices.append(index)
            places.append(ZERO if index is None else index)
            inner.vars[var] = places[-1]
        x, y, z = places
        width, height, _ = site.block
        inner.later[site.own] = lambda _, __: add(multiply(add(multiply(z, height), y), width), x)
        written = build(inner)
        stmts = written.body
        binding = Binding.SEQUENTIAL if written.is_sequential else Binding.PARALLEL
        if not stmts:
            return
        geometry = site.plan.kernel.geometry.variables
        known_here = (inner.vars.get(var) for var in geometry)
        where = {place for place in known_here if isinstance(place, Var)}
        for index, extent in zip(indices, site.block, strict=True):
            if index is not None:
                narrowed = narrow(For(index, ZERO, extent, tuple(stmts), binding), where)
                stmts = [*narrowed.before, *hoist_checks(narrowed.loop, where)]
                stmts = [made for stmt in stmts for made in in_lanes(stmt, index, lanes)]
                if narrowed.around:
                    stmts = [If(all_of(narrowed.around), tuple(stmts))]
                binding, lanes = Binding.SEQUENTIAL, ALONE
        body += stmts

    def _place_of(self, thread: Expr) -> tuple[Expr, Expr, Expr]:
        """Where the thread of a number is in its block."""
        width, height, depth = self.site.block
        if known(height) == 1 and known(depth) == 1:
            return thread, ZERO, ZERO
        row, layer = divide(thread, width), divide(thread, multiply(width, height))
        return (
            subtract(thread, multiply(row, width)),
            subtract(row, multiply(layer, height)),
            layer,
        )

    def _first(self, names: Names) -> Names:
        """The names of the first thread."""
        first = names.inner()
        first.vars.update(dict.fromkeys(self.site.plan.kernel.geometry.thread_index, ZERO))
        first.vars[self.site.own] = ZERO
        return first

    # ------------------------------------------------------------------ meetings
    def _barrier(self, item: Meeting, names: Names, body: list[Stmt]) -> None:
        """With a predicate: count the threads for which it holds."""
        stmt, value = item.stmt, item.value
        if stmt.result is None or value is None:
            return
        cell = _cell("count", ZERO, body)

        def count(inner: Names) -> Written:
            found = Written(is_sequential=True)
            holds = self.site.value(value, inner, found.body)
            one = compute("select", holds, ONE, ZERO)
            total = Compute(compute("add", one, one).prim, (Load(cell, (ZERO,)), one), is_reassociable=True)
            found.body.append(Store(cell, (ZERO,), total))
            return found

        self._each(count, names, body)
        counted = Load(cell, (ZERO,))
        results: dict[str, Expr] = {
            "count": counted,
            "and": compute("eq", counted, self.site.threads),
            "or": compute("gt", counted, ZERO),
        }
        names.vars[stmt.result] = self.site.let(stmt.result, results[stmt.operation], body)

    def _common(self, expr: Expr, barrier: Barrier, names: Names, body: list[Stmt]) -> Expr:
        """A value that must be the same for all threads: that of the first one, checked against the
        others."""
        site = self.site
        if isinstance(expr, Const) or expr in site.plan.uniform or known(site.threads) == 1:
            uniform = names if isinstance(expr, Const) or expr in site.plan.uniform else self._first(names)
            return site.value(expr, uniform, body)
        first = site.value(expr, self._first(names), body)
        cell = _cell("parted", site.threads, body)

        def compare(inner: Names) -> Written:
            found = Written(is_sequential=True)
            own = site.value(expr, inner, found.body)
            number = site.value(site.own, inner, found.body)
            parts = compute("xor", own, first) if _is_bool(expr) else compute("ne", own, first)
            candidate = compute("select", parts, number, site.threads)
            found.body.append(Store(cell, (ZERO,), compute("min", Load(cell, (ZERO,)), candidate)))
            return found

        self._each(compare, names, body)
        parted = site.let(Var("parted", I64), Load(cell, (ZERO,)), body)
        block = names.exprs(site.plan.kernel.geometry.block_index)
        values = (*block, *self._place_of(parted))
        body.append(Check(compute("eq", parted, site.threads), site.divergence(barrier), values))
        return first

    # ------------------------------------------------------------------ control
    def _branch(self, item: Branch, names: Names, body: list[Stmt]) -> None:
        condition = self._common(item.condition, _barrier_in(item.stmt), names, body)
        then: list[Stmt] = []
        other: list[Stmt] = []
        self.items(item.then, names.inner(), then)
        self.items(item.other, names.inner(), other)
        body.append(If(condition, tuple(then), tuple(other)))

    def _loop(self, item: Loop, names: Names, body: list[Stmt]) -> None:
        barrier = _barrier_in(item.stmt)
        lo = self._common(item.lo, barrier, names, body)
        hi = self._common(item.hi, barrier, names, body)
        inner, stmts = names.inner(), list[Stmt]()
        index = Var(item.stmt.index.name, I64)
        inner.vars[item.stmt.index] = index
        self.items(item.body, inner, stmts)
        body.append(For(index, lo, hi, tuple(stmts)))

    def _repeat(self, item: Repeat, names: Names, body: list[Stmt]) -> None:
        inner, prelude, stmts = names.inner(), list[Stmt](), list[Stmt]()
        self.items(item.prelude, inner, prelude)
        condition = self._common(item.condition, _barrier_in(item.stmt), inner, prelude)
        self.items(item.body, inner, stmts)
        body.append(While(tuple(prelude), condition, tuple(stmts)))


def _is_bool(expr: Expr) -> bool:
    """Whether a variable is a condition."""
    return isinstance(expr, Var) and expr.dtype is BOOL


def _barrier_in(stmt: Stmt) -> Barrier:
    """The first barrier inside a branch or loop."""
    return next(inner for inner in statements((stmt,)) if isinstance(inner, Barrier))


def _cell(name: str, start: Expr, body: list[Stmt]) -> Buffer:
    """A mutable whole number."""
    cell = Buffer(name, I64, Space.LOCAL)
    body += [Alloc(cell, i64(1)), Store(cell, (ZERO,), start)]
    return cell
