"""A piece with warp operations as loops over the lanes of each warp, split at these.

Branches and loops around a warp operation may diverge: what a lane's condition comes to is kept for each
lane, and every part runs under it; a loop goes on while any lane does. What lives from one part to the next
has an element for each lane.

Before:
    kernel rotate(x: f64 buffer, y: f64 buffer)
    at gx gy gz, bx by bz, ix iy iz, tx ty tz, bytes {
      warp shuffle 4294967295, x[tx], bitand(add(tx, 1), 31) -> v: f64
      y[tx] = v
    }
    fn main(x: f64 buffer) {
      alloc y: f64 global [64]
      launch rotate [1, 1, 1] [64, 1, 1] [0] (x, y)
      return y as f64 [64]
    }
After:
    fn main(x: f64 buffer) {
      alloc y: f64 global [64]
      alloc value: f64 local [32]
      alloc v: f64 local [32]
      for block in 0 .. 1 sequential {
        for w in 0 .. 2 sequential {
          let first: i64 = mul(w, 32)
          for lane in 0 .. 32 parallel {
            let thread: i64 = add(first, lane)
            let value_1: f64 = x[thread]
            value[lane] = value_1
          }
          for lane_1 in 0 .. 32 parallel {
            let thread_1: i64 = add(first, lane_1)
            let lane_2: i64 = bitand(add(thread_1, 1), 31)
            let other: i64 = max(min(lane_2, 31), 0)
            let v_1: f64 = select(eq(other, lane_2), value[other], value[lane_1])
            v[lane_1] = v_1
          }
          for lane_3 in 0 .. 32 parallel {
            let thread_2: i64 = add(first, lane_3)
            let v_2: f64 = v[lane_3]
            y[thread_2] = v_2
          }
        }
      }
      return y as f64 [64]
    }

"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import assert_never

from anadrome.dtypes import BOOL, I64
from anadrome.kernel_ir.arithmetic import (
    ONE,
    ZERO,
    add,
    compute,
    divide,
    known,
    least,
    multiply,
    subtract,
)
from anadrome.kernel_ir.nodes import (
    WARP,
    Alloc,
    Buffer,
    Const,
    Copy,
    Expr,
    For,
    If,
    Load,
    Space,
    Stmt,
    Store,
    Var,
    Warp,
    While,
    i64,
)
from anadrome.schedule.names import Names
from anadrome.schedule.pieces import Written, write
from anadrome.schedule.plan import Branch, Item, Loop, Meeting, Once, Piece, Repeat, dtype_of
from anadrome.schedule.site import Site

Build = Callable[[Names], Written]
"""What one lane does, by the names that hold for it."""
EVERY_LANE = (1 << WARP) - 1


class Warps:
    """Writes what the warps of one block do in one piece."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.first: Expr = ZERO
        self.lanes: Expr = i64(WARP)
        self.active: Buffer | None = None
        """Which lanes run; None for all there are."""

    def piece(self, piece: Piece, names: Names, body: list[Stmt]) -> None:
        """A loop over the warps."""
        assert piece.inner is not None
        warp, inner, stmts = Var("w", I64), names.inner(), list[Stmt]()
        self.first = self.site.let(Var("first", I64), multiply(warp, i64(WARP)), stmts)
        self.lanes = self._lanes(stmts)
        self.items(piece.inner, inner, stmts)
        count = divide(add(self.site.threads, i64(WARP - 1)), i64(WARP))
        body.append(For(warp, ZERO, count, tuple(stmts)))

    def _lanes(self, body: list[Stmt]) -> Expr:
        """The lanes of a warp: the last one of a block may be partial."""
        threads = known(self.site.threads)
        if threads is not None and threads % WARP == 0:
            return i64(WARP)
        left = subtract(self.site.threads, self.first)
        return self.site.let(Var("lanes", I64), least(i64(WARP), left), body)

    def items(self, items: Iterable[Item], names: Names, body: list[Stmt]) -> None:
        """Parts in order."""
        for item in items:
            match item:
                case Piece():
                    self._each(partial(write, self.site, item.stmts), names, body)
                case Meeting():
                    self._operation(item, names, body)
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

    # ------------------------------------------------------------------ lanes
    def _each(self, build: Build, names: Names, body: list[Stmt], *, all_lanes: bool = False) -> None:
        """A loop over the lanes that run, or over all there are."""
        inner, lane = names.inner(), Var("lane", I64)
        inner.vars[self.site.lane] = lane
        inner.later[self.site.own] = lambda _, __: add(self.first, lane)
        self._places(inner)
        written = build(inner)
        if not written.body:
            return
        stmts = tuple(written.body)
        if self.active is not None and not all_lanes:
            stmts = (If(Load(self.active, (lane,)), stmts),)
        body.append(For(lane, ZERO, self.lanes, stmts, written.binding))

    def _places(self, names: Names) -> None:
        """Where the thread of a lane is, computed when it is asked for."""
        site = self.site
        width, height, depth = site.block

        def own(inner: Names, body: list[Stmt]) -> Expr:
            return site.value(site.own, inner, body)

        def row(inner: Names, body: list[Stmt]) -> Expr:
            return site.let(Var("row", I64), divide(own(inner, body), width), body)

        def layer(inner: Names, body: list[Stmt]) -> Expr:
            return divide(own(inner, body), multiply(width, height))

        def column(inner: Names, body: list[Stmt]) -> Expr:
            return subtract(own(inner, body), multiply(row(inner, body), width))

        def height_of(inner: Names, body: list[Stmt]) -> Expr:
            above = multiply(layer(inner, body), height)
            return subtract(row(inner, body), above)

        is_line = known(height) == 1 and known(depth) == 1
        ways = (own, lambda _, __: ZERO, lambda _, __: ZERO) if is_line else (column, height_of, layer)
        for var, way in zip(site.plan.kernel.geometry.thread_index, ways, strict=True):
            names.later[var] = way

    def _flags(
        self, name: str, asked: Callable[[Names, list[Stmt]], Expr], names: Names, body: list[Stmt]
    ) -> Buffer:
        """Which of the lanes that run go on: for each lane whether a condition holds."""
        flags = self.site.of_lanes(Buffer(name, BOOL))

        def store(inner: Names) -> Written:
            found = Written()
            lane = inner.vars[self.site.lane]
            holds = asked(inner, found.body)
            if self.active is not None:
                holds = compute("and", Load(self.active, (lane,)), holds)
            found.body.append(Store(flags, (lane,), holds))
            return found

        self._each(store, names, body, all_lanes=True)
        return flags

    def _reduced(
        self,
        name: str,
        operation: str,
        value: Callable[[Names, list[Stmt]], Expr],
        names: Names,
        body: list[Stmt],
    ) -> Expr:
        """The combination of what the lanes that run bring, from 0 on."""
        cell = Buffer(name, I64, Space.LOCAL)
        body += [Alloc(cell, ONE), Store(cell, (ZERO,), ZERO)]

        def combine(inner: Names) -> Written:
            found = Written(is_sequential=True)
            new = compute(operation, Load(cell, (ZERO,)), value(inner, found.body))
            found.body.append(Store(cell, (ZERO,), new))
            return found

        self._each(combine, names, body)
        return self.site.let(Var(name, I64), Load(cell, (ZERO,)), body)

    def _goes_on(self, names: Names, body: list[Stmt]) -> Expr:
        """Whether any lane runs."""
        return compute("gt", self._reduced("running", "max", lambda _, __: ONE, names, body), ZERO)

    # ------------------------------------------------------------------ operations
    def _operation(self, item: Meeting, names: Names, body: list[Stmt]) -> None:
        stmt = item.stmt
        assert isinstance(stmt, Warp)
        if stmt.result is None or not self.site.is_kept(stmt.result) or item.value is None:
            return
        if stmt.operation in ("ballot", "any", "all"):
            self._vote(item, stmt, stmt.result, item.value, names, body)
        else:
            self._shuffle(item, stmt, stmt.result, item.value, names, body)

    def _vote(
        self, item: Meeting, stmt: Warp, result: Var, asked: Expr, names: Names, body: list[Stmt]
    ) -> None:
        """The lanes that vote yes, or for `all` those that vote no, as bits."""

        def bit(inner: Names, stmts: list[Stmt]) -> Expr:
            holds = self.site.value(asked, inner, stmts)
            own = compute("shl", ONE, inner.vars[self.site.lane])
            return compute("select", holds, *((ZERO, own) if stmt.operation == "all" else (own, ZERO)))

        bits = self._reduced("votes", "bitor", bit, names, body)

        def answer(inner: Names) -> Written:
            found = Written()
            mask = self._mask(item, inner, found.body)
            counted = bits if known(mask) == EVERY_LANE else compute("bitand", bits, mask)
            answers = {
                "ballot": counted,
                "any": compute("ne", counted, ZERO),
                "all": compute("eq", counted, ZERO),
            }
            self.site.keep(result, answers[stmt.operation], inner, found.body)
            return found

        self._each(answer, names, body)

    def _mask(self, item: Meeting, names: Names, body: list[Stmt]) -> Expr:
        assert item.mask is not None
        return self.site.value(item.mask, names, body)

    def _shuffle(
        self, item: Meeting, stmt: Warp, result: Var, brought: Expr, names: Names, body: list[Stmt]
    ) -> None:
        """Each lane takes what another one holds, or keeps its own where there is no such lane."""
        site = self.site
        holder, is_of_block = self._held(brought, names, body)

        def take(inner: Names) -> Written:
            found = Written()
            stmts, lane = found.body, inner.vars[site.lane]
            assert item.lane is not None
            given = site.value(item.lane, inner, stmts)
            mask = self._mask(item, inner, stmts)
            sources = {
                "shuffle": given,
                "up": compute("sub", lane, given),
                "down": compute("add", lane, given),
                "xor": compute("bitxor", lane, given),
            }
            source = site.let(Var("source", I64), sources[stmt.operation], stmts)
            last = subtract(self.lanes, ONE)
            at = site.let(Var("other", I64), compute("max", compute("min", source, last), ZERO), stmts)
            takes: Expr = compute("eq", at, source)
            if known(mask) != EVERY_LANE:
                named = compute("bitand", compute("shr", mask, at), ONE)
                takes = compute("and", takes, compute("ne", named, ZERO))
            if self.active is not None:
                takes = compute("and", takes, Load(self.active, (at,)))
            own = Load(holder, (self._index(lane, is_of_block),))
            other = Load(holder, (self._index(at, is_of_block),))
            taken = site.let(result, compute("select", takes, other, own), stmts)
            site.keep(result, taken, inner, stmts)
            return found

        self._each(take, names, body)

    def _index(self, lane: Expr, is_of_block: bool) -> Expr:
        return add(self.first, lane) if is_of_block else lane

    def _held(self, value: Expr, names: Names, body: list[Stmt]) -> tuple[Buffer, bool]:
        """What holds a value for each lane, and whether for each thread of the block."""
        site = self.site
        if isinstance(value, Var) and site.is_kept(value):
            holder, index = site.holder(value)
            return holder, index is site.own
        name = value.name if isinstance(value, Var) else "value"
        held = site.of_lanes(Buffer(name, dtype_of(value)))

        def store(inner: Names) -> Written:
            found = Written()
            given = site.value(value, inner, found.body)
            found.body.append(Store(held, (inner.vars[site.lane],), given))
            return found

        self._each(store, names, body)
        return held, False

    # ------------------------------------------------------------------ control
    def _is_uniform(self, expr: Expr) -> bool:
        return isinstance(expr, Const) or expr in self.site.plan.uniform

    def _under(self, active: Buffer | None, items: list[Item], names: Names) -> tuple[Stmt, ...]:
        """Parts that only some lanes run."""
        outer, self.active = self.active, active
        body: list[Stmt] = []
        self.items(items, names.inner(), body)
        self.active = outer
        return tuple(body)

    def _branch(self, item: Branch, names: Names, body: list[Stmt]) -> None:
        condition, site = item.condition, self.site
        if self._is_uniform(condition):
            asked = site.value(condition, names, body)
            then = self._under(self.active, item.then, names)
            body.append(If(asked, then, self._under(self.active, item.other, names)))
            return
        then_active = self._flags("goes", partial(site.value, condition), names, body)
        other_active = self._flags(
            "stays", lambda inner, stmts: compute("not", site.value(condition, inner, stmts)), names, body
        )
        body += self._under(then_active, item.then, names)
        body += self._under(other_active, item.other, names)

    def _loop(self, item: Loop, names: Names, body: list[Stmt]) -> None:
        site, index = self.site, item.stmt.index
        if self._is_uniform(item.lo) and self._is_uniform(item.hi):
            inner, made = names.inner(), Var(index.name, I64)
            lo, hi = site.value(item.lo, names, body), site.value(item.hi, names, body)
            inner.vars[index] = made
            body.append(For(made, lo, hi, self._under(self.active, item.body, inner)))
            return
        counter = site.holder(index)[0] if site.is_kept(index) else site.of_lanes(Buffer(index.name, I64))

        def start(inner: Names) -> Written:
            found = Written()
            lo = site.value(item.lo, inner, found.body)
            found.body.append(Store(counter, (inner.vars[site.lane],), lo))
            return found

        def step(inner: Names) -> Written:
            at = (inner.vars[site.lane],)
            return Written([Store(counter, at, compute("add", Load(counter, at), ONE))])

        def asked(inner: Names, stmts: list[Stmt]) -> Expr:
            hi = site.value(item.hi, inner, stmts)
            return compute("lt", Load(counter, (inner.vars[site.lane],)), hi)

        self._each(start, names, body)
        prelude: list[Stmt] = []
        active = self._flags("goes", asked, names, prelude)
        outer, self.active = self.active, active
        goes_on = self._goes_on(names, prelude)
        stmts = list(self._under(active, item.body, names))
        self._each(step, names, stmts)
        self.active = outer
        body.append(While(tuple(prelude), goes_on, tuple(stmts)))

    def _repeat(self, item: Repeat, names: Names, body: list[Stmt]) -> None:
        site, inner = self.site, names.inner()
        active = self._flags("goes", lambda _, __: Const(True, BOOL), inner, body)
        outer, self.active = self.active, active
        prelude: list[Stmt] = []
        self.items(item.prelude, inner, prelude)
        still = self._flags("still", partial(site.value, item.condition), inner, prelude)
        prelude.append(Copy(active, still, i64(WARP)))
        goes_on = self._goes_on(inner, prelude)
        stmts = self._under(active, item.body, inner)
        self.active = outer
        body.append(While(tuple(prelude), goes_on, stmts))
