"""Loops in order, whose dear operations wait for no other iteration: those run in lanes, by blocks.

A loop that adds up in its order, or keeps the largest so far, cannot run in lanes. Most of its work often
can: exponentials of elements, which need nothing that an earlier iteration has left. A block of iterations
is then gone through twice: once for what needs no other iteration, which lanes compute and keep for the
block, and once in order for the rest. What is cheap and needed in both parts is computed in both. So the
order of additions is Python's, and memory is that of a block.

Where a dear operation is of what runs in order, a state that goes on, but nothing that the state needs waits
for it, the body is cut in two first: the state goes through the block, and is kept; the other half needs of
it what is kept alone, and runs in lanes, or is parted as above.

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

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
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
from anadrome.kernel_ir.walk import (
    bodies,
    buffers,
    changes,
    expressions,
    statements,
    subexpressions,
    with_bodies,
)
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
LONGEST_CUT = 200
"""Statements of an iteration up to which it is asked where to cut it, which takes as many steps squared."""
DIVISIONS = ("floordiv", "mod", "truncdiv")
"""What may fail, of whole numbers."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A block of iterations, from `first` to `until`, goes through these loops one after the other, and keeps
    numbers in `rooms` between them: `kept` are computed ahead in lanes, `passed_on` by what runs in order for
    what comes behind it. `why` the rest runs in order."""

    kept: tuple[Var, ...]
    passed_on: tuple[Var, ...]
    rooms: tuple[Buffer, ...]
    first: Var
    until: Var
    steps: tuple[For, ...]
    why: InOrder


def parts_of(loop: For, bindings: Bindings, vector_bits: int, why: InOrder) -> Parts | None:
    """How a loop that runs in order is parted; None where nothing dear can run in lanes."""
    most = Limits(bindings).trips(loop)
    if loop.binding is not Binding.SEQUENTIAL or (most is not None and most < BLOCK):
        return None
    if not any(_is_dear(part) for part in _parts(loop.body)):
        return None
    loop = straight(loop)
    if not all(isinstance(stmt, Let | Store | Atomic | If | Check | Alloc) for stmt in statements(loop.body)):
        return None
    may_cut = len(loop.body) <= LONGEST_CUT
    for halves in (Cut(loop, bindings).halves() if may_cut else (), (loop.body,)):
        found = _Parted(loop, bindings, vector_bits, why).by(halves) if halves else None
        if found is not None:
            return found
    return None


def parted(loop: For, way: Parts) -> tuple[Stmt, ...]:
    """The loop by blocks, each in its parts."""
    block = Var("block", I64)
    before, (lo, hi) = _known_once(loop.lo, loop.hi)
    start = add(lo, multiply(block, i64(BLOCK)))
    steps = tuple(step if number == 0 else copied((step,))[0] for number, step in enumerate(way.steps))
    inside = (Let(way.first, start), Let(way.until, least(hi, add(way.first, i64(BLOCK)))), *steps)
    count = divide(add(subtract(hi, lo), i64(BLOCK - 1)), i64(BLOCK))
    room = (Alloc(buffer, i64(BLOCK)) for buffer in way.rooms)
    return (*before, *room, For(block, ZERO, count, inside, Binding.SEQUENTIAL, loop.span))


class _Parted:
    """The loops that go over a block of iterations."""

    def __init__(self, loop: For, bindings: Bindings, vector_bits: int, why: InOrder) -> None:
        self.bindings = bindings
        self.vector_bits = vector_bits
        self.why = why
        self.work = sum(value_operations(expr) for expr in _values(loop.body))
        self.first, self.until = Var("first", I64), Var("until", I64)
        self.loop = replace(loop, lo=self.first, hi=self.until)
        self.at = (subtract(loop.index, self.first),)
        self.rooms: dict[Var, Buffer] = {}
        self.kept: list[Var] = []
        self.steps: list[For] = []
        self.in_lanes: list[Stmt] = []

    def by(self, halves: Sequence[tuple[Stmt, ...]]) -> Parts | None:
        """The parts of a block, where what runs behind another half gains by it, and all is worth it."""
        own = [dict.fromkeys(one.var for one in half if isinstance(one, Let)) for half in halves]
        passed_on: list[Var] = []
        if len(halves) > 1:
            passed_on = [var for var in own[0] if var in set(_named(halves[1])) and var not in own[1]]
            self._make_room(passed_on)
        for number, half in enumerate(halves):
            body = self._put(half, passed_on) if number == 0 else (*self._read(passed_on), *half)
            has_gained = self._half(replace(self.loop, body=body))
            if number and not has_gained:
                return None
        dear = sum(
            part.prim.cost for part in _parts(self.in_lanes) if isinstance(part, Compute) and _is_dear(part)
        )
        if len(self.rooms) > MOST_KEPT or SHARE * dear < self.work:
            return None
        rooms = tuple(self.rooms.values())
        return Parts(
            tuple(self.kept), tuple(passed_on), rooms, self.first, self.until, tuple(self.steps), self.why
        )

    def _half(self, half: For) -> bool:
        """Add the loops of a half, whether or not some of it runs in lanes; which says so."""
        if isinstance(strips_of(half, self.bindings, self.vector_bits), Strips):
            self.steps.append(half)
            self.in_lanes += half.body
            return True
        parting = _Parting(half, self.bindings)
        ahead = replace(half, body=parting.ahead(half.body), binding=Binding.PARALLEL)
        is_in_lanes = isinstance(strips_of(ahead, self.bindings, self.vector_bits), Strips)
        if not parting.kept or not is_in_lanes:
            self.steps.append(half)
            return False
        self.in_lanes += ahead.body
        self.kept += parting.kept
        self._make_room(parting.kept)
        self.steps.append(replace(ahead, body=self._put(ahead.body, parting.kept)))
        self.steps.append(replace(half, body=self._rest(parting.rest(half.body), parting.kept)))
        return True

    def _make_room(self, kept: Iterable[Var]) -> None:
        for var in kept:
            self.rooms.setdefault(var, Buffer(var.name, var.dtype, Space.LOCAL))

    def _put(self, stmts: Iterable[Stmt], kept: Collection[Var]) -> tuple[Stmt, ...]:
        """Statements that keep what they compute."""

        def with_store(stmt: Stmt) -> Iterator[Stmt]:
            yield stmt
            if isinstance(stmt, Let) and stmt.var in kept:
                yield Store(self.rooms[stmt.var], self.at, stmt.var)

        return _each(stmts, with_store)

    def _read(self, kept: Iterable[Var]) -> tuple[Stmt, ...]:
        """What has been kept, once more."""
        return tuple(Let(var, Load(self.rooms[var], self.at)) for var in kept)

    def _rest(self, stmts: Iterable[Stmt], kept: Collection[Var]) -> tuple[Stmt, ...]:
        """Statements that read what is kept. What a branch needs is read in front of it, so that a branch of
        few operations need be none."""

        def without_kept(stmt: Stmt) -> Iterator[Stmt]:
            if not isinstance(stmt, Let) or stmt.var not in kept:
                yield stmt

        found: list[Stmt] = []
        for stmt in stmts:
            found += self._read(var for var in _bound(stmt) if var in kept)
            found += _each((stmt,), without_kept)
        return tuple(found)


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


def _parts(stmts: Iterable[Stmt]) -> Iterator[Expr]:
    """All parts of them."""
    return (part for expr in _values(stmts) for part in subexpressions(expr))


def _named(stmts: Iterable[Stmt]) -> Iterator[Var]:
    """The variables that statements read."""
    return (part for part in _parts(stmts) if isinstance(part, Var))


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


class Cut:
    """Where a loop's body is cut in two, so that dear operations on what runs in order come behind it.

    The second half is what a dear operation waits for, of what does not wait for that operation in turn. What
    reads or changes one buffer that changes stays together. Checks are in the first half: they are passed
    before the second one begins. (Loop distribution: Allen and Kennedy, as in `schedule.fuse`.)
    """

    def __init__(self, loop: For, bindings: Bindings) -> None:
        self.stmts = loop.body
        self.changed = {bindings.root(buffer) for stmt in statements(loop.body) for buffer in changes(stmt)}
        makers = {var: stmt for stmt in loop.body for var in _bound(stmt)}
        tied: dict[Buffer, list[Stmt]] = {}
        self.touched: dict[Stmt, set[Buffer]] = {}
        for stmt in loop.body:
            loads = {part.buffer for part in _parts((stmt,)) if isinstance(part, Load)}
            named = {one for inner in statements((stmt,)) for one in buffers(inner)}
            self.touched[stmt] = {bindings.root(one) for one in loads | named} & self.changed
            for root in self.touched[stmt]:
                tied.setdefault(root, []).append(stmt)
        self.needs = {
            stmt: {makers[var] for var in _named((stmt,)) if var in makers}.union(
                *(tied[root] for root in self.touched[stmt])
            )
            for stmt in loop.body
        }
        self.reached = {stmt: self._reach((stmt,)) for stmt in loop.body}
        self.waiting = {stmt for stmt in loop.body if self.touched[stmt]}
        self.checks = [
            stmt for stmt in loop.body if any(isinstance(inner, Check) for inner in statements((stmt,)))
        ]

    def halves(self) -> tuple[tuple[Stmt, ...], ...]:
        """The two halves; none where no dear operation waits for anything, or all are waited for."""
        behind = {stmt for stmt in self.stmts if self._may_wait(stmt)}
        second = {stmt for stmt in self.stmts if stmt in behind or not behind.isdisjoint(self.reached[stmt])}
        second -= self._reach(self.checks) | set(self.checks)
        first = [stmt for stmt in self.stmts if stmt not in second]
        if not second or any(not second.isdisjoint(self.needs[stmt]) for stmt in first):
            return ()
        for stmt in reversed(self.stmts):  # what is cheap and waits for nothing is computed once more
            is_wanted = any(stmt in self.needs[other] for other in second)
            if is_wanted and self._is_free(stmt) and not any(map(_is_dear, _parts((stmt,)))):
                second.add(stmt)
        return tuple(first), tuple(stmt for stmt in self.stmts if stmt in second)

    def _may_wait(self, stmt: Stmt) -> bool:
        """Whether there is a dear operation in a statement that waits for another iteration, and is not
        waited for: by nothing but, of a branch, what the branch changes."""
        if self._is_free(stmt) or not any(map(_is_dear, _parts((stmt,)))):
            return False
        reached = self.reached[stmt]
        alike = {other for other in reached if stmt in self.reached[other]}
        is_alone = not alike or not isinstance(stmt, Let)
        return is_alone and not self.waiting.isdisjoint(reached - alike)

    def _is_free(self, stmt: Stmt) -> bool:
        """Whether a statement waits for no other iteration."""
        return stmt not in self.waiting and self.waiting.isdisjoint(self.reached[stmt])

    def _reach(self, stmts: Iterable[Stmt]) -> set[Stmt]:
        """What statements need, and what that needs."""
        found: set[Stmt] = set()
        left = list(stmts)
        while left:
            for other in self.needs[left.pop()] - found:
                found.add(other)
                left.append(other)
        return found
