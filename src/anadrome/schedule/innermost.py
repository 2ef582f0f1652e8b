"""Innermost loops in lanes: strips of vectors, and the rest under a mask or one by one.

A loop without loops inside, but such as LLVM unrolls, runs in lanes where its iterations may run together
(`apart`) and that is less work. What they only add to gets a sum for each lane; these are put together in
the end. Elements that go along a buffer, and that other iterations add to as well, all lanes add to
one statement after the other. A strip has several vectors, so that several sums wait for their last addition.
Iterations that fill no strip run in vectors under a mask, or one after the other: where the machine has no
masks, or what they write is read again soon, for a read waits until what a mask has written is in the cache;
elementary functions one by one would take longer than that.

Before:
    fn main(n: i64, a: f64 buffer, b: f64 buffer) {
      alloc s: f64 local [1]
      s[0] = 0.0
      for i in 0 .. n sequential {
        s[0] = add~(s[0], mul(a[i], b[i]))
      }
      let r: f64 = s[0]
      return r as f64
    }
After:
    fn main(n: i64, a: f64 buffer, b: f64 buffer) {
      alloc s: f64 local [1]
      s[0] = 0.0
      alloc s_1: f64 local [16] [16]
      for lane in 0 .. 16 lanes {
        s_1[lane] = -0.0
      }
      let strips: i64 = truncdiv(n, 16)
      for strip in 0 .. strips sequential {
        for lane_1 in 0 .. 16 lanes {
          let i: i64 = add(mul(strip, 16), lane_1)
          s_1[lane_1] = add~(s_1[lane_1], mul(a[i], b[i]))
        }
      }
      for lane_2 in 0 .. 16 lanes {
        combine add s[0] = s_1[lane_2]
      }
      for i_1 in mul(strips, 16) .. min(n, add(mul(strips, 16), 15)) sequential {
        s[0] = add~(s[0], mul(a[i_1], b[i_1]))
      }
      let r: f64 = s[0]
      return r as f64
    }

"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from anadrome.dtypes import I64, DType
from anadrome.kernel_ir.affine import Bindings
from anadrome.kernel_ir.arithmetic import ZERO, add, compute, divide, known, least, multiply, subtract
from anadrome.kernel_ir.limits import Limits
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Binding,
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
from anadrome.kernel_ir.walk import (
    WIDTHS,
    bodies,
    expressions,
    statements,
    subexpressions,
    trip_count,
    with_bodies,
)
from anadrome.kernel_ir.work import value_operations
from anadrome.prims.costs import EXPENSIVE
from anadrome.prims.node import replace
from anadrome.schedule.apart import Added, InOrder, Iterations, Reach, Sum, iterations_of
from anadrome.schedule.names import copied
from anadrome.schedule.sums import Private, closed, opened, private, vector_of, with_sums
from anadrome.schedule.unroll import together

ALONE = 64
"""Bits of vectors that are none: iterations run one after the other."""
MASKED = 512
"""Bits of vectors from which on machines read and write under masks of lanes."""
STRIDED = 4
"""Elements apart up to which neighbours are read together and shuffled."""
GATHERED = 2
"""Operations that reading an element into a lane by itself costs beside reading it; writing, twice that."""
OPERATIONS = ((12, 4), (28, 2))
"""Operations of an iteration up to which a strip has so many vectors."""
REGISTERS = 16
"""The most vectors of sums."""
ADDED_VECTORS = 4
"""Vectors of a strip whose iterations add to elements of one another: what a vector has written is read when
it has come to the cache, and the others go on meanwhile."""

PARTLY = 2
"""Vectors up to which one strip under a mask is all of a loop whose extent only the run knows."""
LEAST = 8
"""Iterations below which a loop of constant extent is left to LLVM, which unrolls it."""


@dataclass(frozen=True, slots=True)
class Strips:
    """Iterations run in strips: lanes of a vector, vectors of a strip, and sums that lanes have for
    themselves. `loop`: the loop, with short ones in it written out where that makes sums of what they add."""

    loop: For
    lanes: int
    vectors: int
    sums: tuple[Sum, ...]
    is_masked: bool
    is_single: bool
    """Whether one strip is enough."""
    added: tuple[Added, ...] = ()
    """What all add to elements that go along, one statement after the other."""


def strips_of(loop: For, bindings: Bindings, vector_bits: int) -> Strips | InOrder:
    """How an innermost loop runs in lanes, if it does."""
    extent = trip_count(loop)
    if vector_bits <= ALONE:
        return InOrder("there are no vectors")
    if extent is not None and extent < LEAST:
        return InOrder(f"{extent} iterations are unrolled")
    limits = Limits(bindings)
    most = limits.trips(loop)
    if most is not None and most < LEAST:
        return InOrder(f"there are at most {most} iterations")
    if limits.is_team(loop.hi):
        return InOrder("there is one iteration for each worker")
    loop, found = together(loop, lambda one: iterations_of(one, bindings))
    if isinstance(found, InOrder):
        return found
    lanes = _lanes(loop, vector_bits)
    if lanes == 1:
        return InOrder("a vector holds one of its numbers")
    if not _pays(loop, found, lanes):
        return InOrder("what it reads and writes is far apart, and there is little else to do")
    comes_back = extent is None and _comes_back(found)
    is_masked = vector_bits >= MASKED and not (comes_back and _dearest(loop) < EXPENSIVE)
    work = _operations(loop)
    vectors = next((count for most, count in OPERATIONS if work <= most), 1)
    steps = [one.step(loop.index) for one in found.reached]
    if None in steps or (most is None and any(map(_is_far, steps))):
        vectors = 1  # lanes that read or write one by one take longer than what waits for them
    if found.added:
        vectors = ADDED_VECTORS
    while vectors > 1 and (vectors * len(found.sums) > REGISTERS or (comes_back and not found.added)):
        vectors //= 2
    vectors = min(vectors, WIDTHS[-1] // lanes)
    if most is not None:
        fitting = 1 << (most - 1 if is_masked else most // 2).bit_length()  # no fewer, or no more
        lanes = min(lanes, fitting)
        vectors = min(vectors, max(fitting // lanes, 1))
    is_single = most is not None and most <= lanes * vectors and (extent is not None or vectors <= PARTLY)
    return Strips(loop, lanes, vectors, found.sums, is_masked, is_single, found.added)


def _comes_back(found: Iterations) -> bool:
    """Whether elements are read and written, so that what is written may be read soon after."""
    written = {one.root for one in found.reached if one.is_write}
    return any(one.root in written for one in found.reached if not one.is_write)


def _lanes(loop: For, vector_bits: int) -> int:
    """As many lanes as a vector has elements of the widest type that is in memory or computed."""
    types: set[DType] = set()
    for stmt in statements(loop.body):
        if isinstance(stmt, Let) and stmt.var.dtype.is_float:
            types.add(stmt.var.dtype)
        if isinstance(stmt, Alloc | Store):
            types.add(stmt.buffer.dtype)
        for expr in expressions(stmt):
            types |= {part.buffer.dtype for part in subexpressions(expr) if isinstance(part, Load)}
    widest = max((8 * dtype.bytes for dtype in types), default=64)
    return 1 << max(min(vector_bits // widest, WIDTHS[-1]), 1).bit_length() - 1


def _operations(loop: For) -> int:
    """Operations of an iteration, without those that say where elements are."""
    return sum(value_operations(expr) for stmt in statements(loop.body) for expr in expressions(stmt))


def _dearest(loop: For) -> int:
    """The cost of the dearest operation of an iteration."""
    parts = (
        part for stmt in statements(loop.body) for expr in expressions(stmt) for part in subexpressions(expr)
    )
    return max((part.prim.cost for part in parts if isinstance(part, Compute)), default=0)


def _pays(loop: For, found: Iterations, lanes: int) -> bool:
    """Whether lanes are less work: they share operations, and what is far apart each reads by itself."""
    work = sum(2 if one.is_write else 1 for one in found.reached) + _operations(loop)
    alone = sum(_apart(one, loop.index) for one in found.reached) * GATHERED
    return work / lanes + alone < work


def _apart(one: Reach, index: Var) -> int:
    """How often more than a read one of an element counts that lanes do not find side by side."""
    step = one.step(index)
    if not _is_far(step) and (step in (-1, 0, 1) or not one.is_write):
        return 0
    return 2 if one.is_write else 1


def _is_far(step: int | None) -> bool:
    """Whether elements are too far apart to be read together and shuffled."""
    return step is None or abs(step) > STRIDED


# ---------------------------------------------------------------------------- the rewrite
def innermost_loop(way: Strips) -> tuple[Stmt, ...]:
    """The loop as strips of lanes."""
    loop, width = way.loop, way.lanes * way.vectors
    privates = [private(one, width) for one in way.sums]
    before = [stmt for one in privates for stmt in opened(one)]
    after = [stmt for one in privates for stmt in closed(one)]
    whole = divide(subtract(loop.hi, loop.lo), i64(width))
    if way.is_masked and way.is_single:
        return (*before, *_strips(loop, width, loop.lo, privates, way.added, is_masked=True, most=1), *after)
    strips = whole
    if known(whole) is None:
        strips = Var("strips", I64)
        before.append(Let(strips, whole))
    end = add(loop.lo, multiply(strips, i64(width)))
    main = _strips(loop, width, loop.lo, privates, way.added, count=strips)
    if way.is_masked:
        rest = _strips(loop, way.lanes, end, privates, way.added, is_masked=True, most=way.vectors)
        return (*before, *main, *copied(rest), *after)
    hi = loop.hi if known(loop.hi) is not None else least(loop.hi, add(end, i64(width - 1)))
    return (*before, *main, *after, *copied((replace(loop, lo=end, hi=hi, binding=Binding.SEQUENTIAL),)))


def _strips(
    loop: For,
    width: int,
    first: Expr,
    privates: Sequence[Private],
    added: Sequence[Added],
    *,
    count: Expr | None = None,
    is_masked: bool = False,
    most: int = 0,
) -> tuple[Stmt, ...]:
    """Strips of lanes from an iteration on: so many, or under a mask as many as there are iterations, and
    at most `most`."""
    strip, lane = Var("strip", I64), Var("lane", I64)
    place = Let(loop.index, add(add(first, multiply(strip, i64(width))), lane))
    body = with_sums(_combined(loop.body, added), privates, lane)
    if is_masked and known(subtract(loop.hi, first)) != width:
        body = (If(compute("lt", loop.index, loop.hi), body),)
    if count is None:
        count = divide(add(subtract(loop.hi, first), i64(width - 1)), i64(width))
    binding = Binding.SEQUENTIAL if privates or added else Binding.PARALLEL
    vector = vector_of(lane, width, (place, *body))
    if known(count) == 0:
        return ()
    if known(count) == 1:
        return (Let(strip, ZERO), vector)
    if known(count) is None and most == 1:
        return (If(compute("lt", first, loop.hi), (Let(strip, ZERO), vector)),)
    if known(count) is None and most:
        count = least(count, i64(most))
    return (For(strip, ZERO, count, (vector,), binding),)


def _combined(stmts: tuple[Stmt, ...], added: Sequence[Added]) -> tuple[Stmt, ...]:
    """Statements that say of what they add that lanes meet there."""
    by_stmt = {one.stmt: one for one in added}
    names = {name for one in added for name in one.names}

    def statement(stmt: Stmt) -> Iterator[Stmt]:
        match stmt:
            case Store(buffer=buffer, indices=indices, span=span) if stmt in by_stmt:
                yield Atomic("add", buffer, indices, by_stmt[stmt].term, span=span, is_alone=True)
            case Let(var=var) if var in names:
                pass
            case _:
                inner = [tuple(made for one in body for made in statement(one)) for body in bodies(stmt)]
                yield with_bodies(stmt, inner) if inner else stmt

    return tuple(made for one in stmts for made in statement(one)) if added else stmts
