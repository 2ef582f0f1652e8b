"""Loops that go along a running value, run together with the loop that computes it.

A prefix sum is an array that the next loop mostly reads element by element, to reduce it or to compute from
it. What each iteration leaves in the running value the other loop can have at once: the array is read no
more, and where nobody else reads it, it is not written either. (Loop fusion and array contraction: Allen and
Kennedy, Optimizing Compilers for Modern Architectures, 2001.) Loops of which neither waits for the iteration
before are one already (`passes.fuse`).

Statements between the two run first. None of them may touch what the first loop does.

Before:
    fn main(n: i64, x: f64 buffer) {
      alloc y: f64 global [n]
      alloc s: f64 local [1]
      s[0] = 0.0
      for i in 0 .. n sequential {
        let w: f64 = x[i]
        s[0] = add(s[0], w)
        let v: f64 = s[0]
        y[i] = v
      }
      alloc t: f64 local [1]
      t[0] = 0.0
      for j in 0 .. n sequential {
        let u: f64 = y[j]
        t[0] = add~(t[0], mul(u, u))
      }
      free y
      return t[0] as f64
    }
After:
    fn main(n: i64, x: f64 buffer) {
      alloc s: f64 local [1]
      s[0] = 0.0
      alloc t: f64 local [1]
      t[0] = 0.0
      for i in 0 .. n sequential {
        let w: f64 = x[i]
        s[0] = add(s[0], w)
        let v: f64 = s[0]
        t[0] = add~(t[0], mul(v, v))
      }
      return t[0] as f64
    }

"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from anadrome.kernel_ir.affine import Bindings, bindings_of
from anadrome.kernel_ir.nodes import (
    Alloc,
    Binding,
    Buffer,
    Compute,
    For,
    Free,
    Function,
    If,
    Let,
    Load,
    Space,
    Stmt,
    Store,
    Var,
    While,
)
from anadrome.kernel_ir.walk import (
    bodies,
    buffers,
    changes,
    expressions,
    is_same,
    statements,
    subexpressions,
    with_bodies,
)
from anadrome.kernel_ir.work import value_operations
from anadrome.prims.costs import EXPENSIVE
from anadrome.prims.node import replace
from anadrome.schedule.names import Names
from anadrome.schedule.running import MOST

FEW = 16
"""Operations of an iteration up to which a loop gains more by what it need not read than by lanes."""


def fused(fn: Function) -> Function:
    """The host program with loops along a running value in the loops that compute it; the same one if it has
    none."""
    fusion = _Fusion(bindings_of(fn.body))
    body = fusion.body(fn.body)
    if body is fn.body:
        return fn
    needed = {output.value for output in fn.outputs} | set(fn.params) | set(_used(body))
    return replace(fn, body=_without(body, fusion.forwarded - needed))


@dataclass(frozen=True, slots=True)
class _Touched:
    """The buffers, not views of them, that statements read and those that they change or free."""

    read: frozenset[Buffer]
    changed: frozenset[Buffer]

    @classmethod
    def by(cls, stmts: Iterable[Stmt], bindings: Bindings) -> _Touched:
        """What statements touch, with those inside of them."""
        inside = list(statements(stmts))
        changed = {one for stmt in inside for one in (*changes(stmt), *_freed(stmt))}
        named = {one for stmt in inside for one in buffers(stmt) if not isinstance(stmt, Store)}
        read = {part.buffer for part in _loads(inside)} | named
        return cls(frozenset(map(bindings.root, read)), frozenset(map(bindings.root, changed)))

    def is_apart(self, other: _Touched) -> bool:
        """Whether neither changes what the other one touches."""
        return self.changed.isdisjoint(other.read | other.changed) and self.read.isdisjoint(other.changed)


@dataclass(frozen=True, slots=True)
class _Running:
    """A loop that computes a running value, and the arrays that it puts the value of each iteration into."""

    loop: For
    touched: _Touched
    put: dict[Buffer, Store]


class _Fusion:
    """A walk over the host program."""

    def __init__(self, bindings: Bindings) -> None:
        self.bindings = bindings
        self.forwarded: set[Buffer] = set()
        """Arrays of which a loop has the elements from the one that computes them."""

    def body(self, stmts: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """Statements in order; the same tuple where nothing changes."""
        found = [self._inside(stmt) for stmt in stmts]
        position = 0
        while position < len(found):
            first = self._running(found[position])
            reader = None if first is None else self._reader(first, found, position)
            if first is None or reader is None:
                position += 1
                continue
            second = found[reader]
            assert isinstance(second, For)
            found[reader] = self._one(first, second)
            del found[position]
        is_left = len(found) == len(stmts) and all(one is two for one, two in zip(found, stmts, strict=True))
        return stmts if is_left else tuple(found)

    def _inside(self, stmt: Stmt) -> Stmt:
        if not isinstance(stmt, For | If | While):
            return stmt
        own = bodies(stmt)
        inner = [self.body(body) for body in own]
        return (
            stmt if all(one is two for one, two in zip(inner, own, strict=True)) else with_bodies(stmt, inner)
        )

    # ------------------------------------------------------------------ which loops
    def _running(self, stmt: Stmt) -> _Running | None:
        """A loop whose iterations go on with what the one before has left in local memory."""
        if not isinstance(stmt, For) or stmt.binding is not Binding.SEQUENTIAL or not _is_straight(stmt):
            return None
        touched = _Touched.by(stmt.body, self.bindings)
        if not any(one.space is Space.LOCAL and one in touched.read for one in touched.changed):
            return None
        stores = [one for one in stmt.body if isinstance(one, Store)]
        put = {
            one.buffer: one
            for one in stores
            if one.indices == (stmt.index,)
            and isinstance(one.value, Var)
            and one.buffer not in self.bindings.views
            and sum(self.bindings.root(other.buffer) is one.buffer for other in stores) == 1
        }
        return _Running(stmt, touched, put) if put else None

    def _reader(self, first: _Running, stmts: Sequence[Stmt], position: int) -> int | None:
        """The place of the loop that goes along, behind statements that touch nothing that the first does."""
        for place in range(position + 1, len(stmts)):
            stmt = stmts[place]
            if isinstance(stmt, For) and self._goes_along(first, stmt):
                return place
            if not first.touched.is_apart(_Touched.by((stmt,), self.bindings)):
                return None
        return None

    def _goes_along(self, first: _Running, loop: For) -> bool:
        """Whether a loop reads the running values one by one, and nothing else that the first one changes."""
        is_alike = is_same(loop.lo, first.loop.lo) and is_same(loop.hi, first.loop.hi)
        in_order = loop.binding in (Binding.PARALLEL, Binding.SEQUENTIAL)
        if not is_alike or not in_order or not _is_straight(loop) or not self._is_cheap(first.loop, loop):
            return False
        touched = _Touched.by(loop.body, self.bindings)
        taken = touched.read & first.touched.changed
        if not taken or not taken <= first.put.keys() or touched.changed & first.touched.changed:
            return False
        reads = [part for part in _loads(loop.body) if self.bindings.root(part.buffer) in taken]
        own = [stmt.value for stmt in loop.body if isinstance(stmt, Let) and stmt.value in reads]
        if len(own) < len(reads) or not all(_is_own(one, loop) and one.buffer in first.put for one in reads):
            return False
        return all(self._is_in_place(buffer, first, loop) for buffer in touched.changed & first.touched.read)

    def _is_in_place(self, buffer: Buffer, first: _Running, second: For) -> bool:
        """Whether the first loop reads of an array only the element that the second one writes there."""
        loops = (first.loop, second)
        stores = [stmt for stmt in second.body if isinstance(stmt, Store)]
        writes = [stmt for stmt in stores if self.bindings.root(stmt.buffer) is buffer]
        reads = [
            (part, loop)
            for loop in loops
            for part in _loads(loop.body)
            if self.bindings.root(part.buffer) is buffer
        ]
        is_own = all(one.buffer is buffer and one.indices == (second.index,) for one in writes)
        return is_own and all(part.buffer is buffer and _is_own(part, loop) for part, loop in reads)

    def _is_cheap(self, first: For, second: For) -> bool:
        """Whether the second loop needs no lanes."""
        exprs = [expr for stmt in second.body for expr in expressions(stmt)]
        parts = [part for expr in exprs for part in subexpressions(expr) if isinstance(part, Compute)]
        is_dear = any(part.prim.cost >= EXPENSIVE for part in parts)
        is_long = len(first.body) + len(second.body) > MOST or sum(map(value_operations, exprs)) > FEW
        return not is_dear and not is_long

    # ------------------------------------------------------------------ the rewrite
    def _one(self, first: _Running, second: For) -> For:
        """The two loops as one."""
        names = Names.around((second,))
        names.vars[second.index] = first.loop.index
        left: list[Stmt] = []
        for stmt in second.body:
            value = stmt.value if isinstance(stmt, Let) else None
            if isinstance(stmt, Let) and isinstance(value, Load) and value.buffer in first.put:
                self.forwarded.add(value.buffer)
                names.vars[stmt.var] = first.put[value.buffer].value
            else:
                left.append(stmt)
        return replace(first.loop, body=(*first.loop.body, *names.copies(tuple(left))))


def _is_straight(loop: For) -> bool:
    return all(isinstance(stmt, Let | Store) for stmt in loop.body)


def _is_own(part: Load, loop: For) -> bool:
    return part.indices == (loop.index,)


def _freed(stmt: Stmt) -> tuple[Buffer, ...]:
    return (stmt.buffer,) if isinstance(stmt, Free) else ()


def _loads(stmts: Iterable[Stmt]) -> list[Load]:
    """The reads of statements, without those inside of them."""
    exprs = (expr for stmt in stmts for expr in expressions(stmt))
    return [part for expr in exprs for part in subexpressions(expr) if isinstance(part, Load)]


def _used(stmts: Iterable[Stmt]) -> Iterator[Buffer]:
    """The buffers of which statements need the elements, or where they are."""
    for stmt in statements(stmts):
        yield from (part.buffer for part in _loads((stmt,)))
        if not isinstance(stmt, Alloc | Free | Store):
            yield from buffers(stmt)


def _without(stmts: tuple[Stmt, ...], arrays: Collection[Buffer]) -> tuple[Stmt, ...]:
    """Statements without arrays that nobody needs."""
    left = (stmt for stmt in stmts if not isinstance(stmt, Alloc | Free | Store) or stmt.buffer not in arrays)
    return tuple(
        with_bodies(stmt, [_without(body, arrays) for body in bodies(stmt)]) if bodies(stmt) else stmt
        for stmt in left
    )
