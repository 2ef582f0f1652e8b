"""The loops of a program: a way to run each, and the rewrites that carry them out.

`choose` finds a way for one loop: the first that it can take and that pays, else its iterations run in order,
and the loops inside are asked. What a rewrite makes may have loops that are asked again. The
choices are the plan that `report` puts into words; another chooser may be given, so that tests take every
way at small sizes.

A program's own loops whose iterations may run together run in lanes whatever is inside where there is a loop
that LLVM does not unroll, and none that goes along an array, since that one runs in lanes itself. It cannot
where each iteration needs the one before; lanes read such arrays where neighbours are side by side, or there
is enough else to do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import assert_never

from anadrome.dtypes import I64
from anadrome.kernel_ir.affine import Bindings, bindings_of, steps_of
from anadrome.kernel_ir.nodes import (
    Alloc,
    Binding,
    Compute,
    For,
    Function,
    Space,
    Stmt,
    Store,
    Var,
    While,
)
from anadrome.kernel_ir.walk import (
    bodies,
    expressions,
    runs_in_lanes,
    statements,
    stays_loop,
    with_bodies,
)
from anadrome.kernel_ir.work import value_operations
from anadrome.prims.node import replace
from anadrome.schedule.align import Aligned, aligned, aligned_of
from anadrome.schedule.apart import InOrder, Sum, whatever_is_inside
from anadrome.schedule.innermost import ALONE, GATHERED, Strips, innermost_loop, strips_of
from anadrome.schedule.jam import SideBySide, jammed, pairs, side_by_side
from anadrome.schedule.lanes import Lanes, is_ragged, lanes_of, strips_with_short_ends, touches_data
from anadrome.schedule.outer import MOST, SHORT_VECTORS, is_short, outer_loop
from anadrome.schedule.parts import Parts, parted, parts_of
from anadrome.schedule.running import Groups, groups_of, running_sums
from anadrome.schedule.search import Search, by_blocks, search_of
from anadrome.schedule.sums import closed, opened, private, with_sums
from anadrome.schedule.unroll import together


@dataclass(frozen=True, slots=True)
class Given:
    """The loop says itself what runs its iterations: threads, or the lanes of a vector."""


@dataclass(frozen=True, slots=True)
class Whole:
    """So many iterations of the loop run in lanes, whatever is inside, the last of them under a mask; each
    lane has a sum of its own for what all of them add to."""

    loop: For
    width: int
    sums: tuple[Sum, ...] = ()


@dataclass(frozen=True, slots=True)
class Outer:
    """Strips of iterations run in lanes, whatever loops are inside, with memory for each lane; of one lane
    none do."""

    lanes: int


Way = Given | Whole | Outer | SideBySide | Aligned | Strips | Search | Groups | Parts | InOrder
"""How the iterations of a loop run."""
Chooser = Callable[[For, Bindings, int], Way]
"""(loop, bindings of the program, bits of a vector) -> the way it takes."""


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """A loop and its way; `inner` are those of the loops that stand in it afterwards."""

    loop: For | While
    way: Way
    inner: tuple[Choice, ...]


# ---------------------------------------------------------------------------- a way for one loop
def choose(loop: For, bindings: Bindings, vector_bits: int) -> Way:
    """The way that a loop takes."""
    match loop.binding:
        case Binding.THREADS | Binding.LANES:
            return Given()
        case Binding.OUTER:
            lanes = lanes_of(list(statements(loop.body)), vector_bits)
            is_one = lanes > 1 and is_short(loop)
            return Whole(loop, min(lanes * SHORT_VECTORS, MOST)) if is_one else Outer(lanes)
        case Binding.PARALLEL | Binding.SEQUENTIAL:
            found = _whole(loop, bindings, vector_bits) or _side_by_side(loop, bindings, vector_bits)
            return found or _without_loops(loop, bindings, vector_bits)
        case _:
            assert_never(loop.binding)


def _without_loops(
    loop: For, bindings: Bindings, vector_bits: int
) -> Aligned | Strips | Search | Groups | Parts | InOrder:
    """The way of a loop without loops inside, as far as there are none."""
    way = strips_of(loop, bindings, vector_bits)
    match way:
        case InOrder():
            return parts_of(loop, bindings, vector_bits, way) or groups_of(loop, bindings) or way
        case Strips(loop=written, added=added, sums=sums):
            may_move = added and written is loop
            moved = aligned_of(loop, added, sums, bindings) if may_move else None
            return moved or search_of(loop, way, bindings) or way


def _whole(loop: For, bindings: Bindings, vector_bits: int) -> Whole | None:
    inside = list(statements(loop.body))
    width = lanes_of(inside, vector_bits)
    if not all(map(runs_in_lanes, inside)) or not _pays(loop, inside, width):
        return None
    if loop.binding is Binding.PARALLEL:
        return Whole(loop, width)
    if width == 1:
        return None
    loop, found = together(loop, lambda one: whatever_is_inside(one, bindings))
    return None if isinstance(found, InOrder) or found.added else Whole(loop, width, found.sums)


def _side_by_side(loop: For, bindings: Bindings, vector_bits: int) -> SideBySide | None:
    return side_by_side(loop, bindings) or pairs(loop, bindings) if vector_bits >= ALONE else None


def _in_whole_strips(loop: For, width: int, sums: Sequence[Sum]) -> tuple[Stmt, ...]:
    lanes, own = Lanes(width, Var("lane", I64)), [private(one, width) for one in sums]
    body = with_sums(loop.body, own, lanes.own)
    whole = replace(loop, body=body, binding=Binding.SEQUENTIAL if own else Binding.PARALLEL)
    shortest = width // SHORT_VECTORS if loop.binding is Binding.OUTER else width
    before = tuple(stmt for one in own for stmt in opened(one))
    after = tuple(stmt for one in own for stmt in closed(one))
    return (*before, *strips_with_short_ends(whole, lanes, shortest), *after)


def _pays(loop: For, inside: Sequence[Stmt], width: int) -> bool:
    if not any(map(stays_loop, inside)) or is_ragged(inside):
        return False
    loops = [stmt for stmt in inside if isinstance(stmt, For)]
    along = [one for one in loops if any(map(touches_data, statements(one.body)))]
    if not along:
        return True
    steps = [step for buffer, step in steps_of(loop.body, loop.index) if buffer.space is not Space.LOCAL]
    alone = sum(step not in (-1, 0, 1) for step in steps) * 2 * GATHERED
    work = sum(value_operations(expr) for stmt in inside for expr in expressions(stmt))
    return all(map(_is_recurrence, along)) and (not alone or work / width + alone < work)


def _is_recurrence(loop: For) -> bool:
    """Whether iterations need what the one before has left, other than a sum that may be reordered."""
    inside = list(statements(loop.body))
    own = {stmt.buffer for stmt in inside if isinstance(stmt, Alloc)}
    return any(
        isinstance(stmt, Store)
        and stmt.buffer.space is Space.LOCAL
        and stmt.buffer not in own
        and not (isinstance(stmt.value, Compute) and stmt.value.is_reassociable)
        for stmt in inside
    )


# ---------------------------------------------------------------------------- all loops
def scheduled_loops(
    fn: Function, vector_bits: int, chooser: Chooser = choose
) -> tuple[Function, tuple[Choice, ...]]:
    """The host program with its loops as they are to run, and the choices; the same one if none changes."""
    walk = _Walk(bindings_of(fn.body, fn.sizes), vector_bits, chooser)
    body, choices = walk.body(fn.body)
    return (fn if body is fn.body else replace(fn, body=body)), choices


Chosen = tuple[tuple[Stmt, ...], tuple[Choice, ...]]
"""What statements become, and the choices for the loops in them."""


@dataclass(frozen=True, slots=True)
class _Walk:
    """A walk over the host program."""

    bindings: Bindings
    vector_bits: int
    chooser: Chooser
    is_block: bool = False
    """Whether it is in a block of a loop, which is not gone through by blocks again."""

    def body(self, stmts: tuple[Stmt, ...]) -> Chosen:
        """Statements in order; the same tuple where nothing changes."""
        found: list[Stmt] = []
        choices: list[Choice] = []
        for stmt in stmts:
            made, chosen = self._statement(stmt)
            found += made
            choices += chosen
        is_same = len(found) == len(stmts) and all(one is two for one, two in zip(found, stmts, strict=True))
        return (stmts if is_same else tuple(found)), tuple(choices)

    def _statement(self, stmt: Stmt) -> Chosen:
        match stmt:
            case For():
                way = self.chooser(stmt, self.bindings, self.vector_bits)
                if self.is_block and isinstance(way, Parts):
                    way = groups_of(stmt, self.bindings) or way.why
                elif self.is_block and isinstance(way, Search):
                    way = way.inside
                made, inner = self._carried_out(stmt, way)
                return made, (Choice(stmt, way, inner),)
            case While():
                made, inner = self._inside(stmt)
                return made, (Choice(stmt, InOrder("it ends by what it computes"), inner),)
            case _:
                return self._inside(stmt)

    def _carried_out(self, loop: For, way: Way) -> Chosen:
        match way:
            case Whole(width=1):
                return (loop,), ()
            case Whole(loop=whole, width=width, sums=sums):
                return _in_whole_strips(whole, width, sums), ()
            case Outer(lanes=lanes):
                return self.body(outer_loop(loop, lanes))
            case SideBySide():
                return self.body(jammed(loop, way))
            case Aligned():
                parts = aligned(loop, way)
                main, choices = self.body((parts.main,))
                return (parts.with_main(main),), choices
            case Strips():
                return innermost_loop(way), ()
            case Parts():
                return replace(self, is_block=True).body(parted(loop, way))
            case Search():
                return replace(self, is_block=True).body((by_blocks(loop, way),))
            case Groups():
                return running_sums(loop, way), ()
            case Given() if loop.binding is Binding.LANES:
                return (loop,), ()
            case Given() | InOrder():
                return self._inside(loop)
            case _:
                assert_never(way)

    def _inside(self, stmt: Stmt) -> Chosen:
        own = bodies(stmt)
        inner = [self.body(body) for body in own]
        choices = tuple(choice for _, chosen in inner for choice in chosen)
        if all(one is two for (one, _), two in zip(inner, own, strict=True)):
            return (stmt,), choices
        return (with_bodies(stmt, [body for body, _ in inner]),), choices
