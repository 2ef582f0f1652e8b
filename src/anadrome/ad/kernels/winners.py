"""Who wins an atomic minimum or maximum: the thread whose value the element has in the end.

    atomic max b[i] = v        let key: i64 = (thread in the grid)·2²⁴ + (how many came before in the thread)
                               atomic max b[i] = v with winners[i] = key

Winners begin as -1, which is what was there before. The smallest key of those that bring the extremum stays:
the lowest thread wins, and in it the first operation. In the return sweep the winner gets the whole adjoint
of the element.

The elements of shared memory must therefore not be written after the operations, nor read before them; those
of the launch must not be touched in any other way. Their winners are known when all blocks have finished, so
a launch of the kernel before finds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from anadrome.ad.kernels.activity import Activity
from anadrome.ad.kernels.emitter import Emitter, atom_of
from anadrome.ad.kernels.normal import Normal
from anadrome.ad.kernels.places import Places
from anadrome.ad.kernels.warps import thread_number
from anadrome.dtypes import I64
from anadrome.errors.ad import NotDifferentiable
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Buffer,
    Expr,
    For,
    Geometry,
    If,
    Kernel,
    Load,
    Space,
    Stmt,
    Var,
    While,
    i64,
)
from anadrome.kernel_ir.walk import bodies, changes, expressions, statements, subexpressions, with_bodies
from anadrome.prims.node import replace

TURNS = 1 << 24
"""A thread has fewer such operations than this."""


@dataclass(frozen=True, slots=True, eq=False)
class Prize:
    """An operation that threads compete in: who won, its own key, and what the winner has put where."""

    winners: Buffer
    key: Var
    puts: tuple[tuple[Buffer, Expr], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Contest:
    """A kernel whose minima and maxima say who wins them.

    `finding` does so for all of them, `known` for those of shared memory, since those of the launch's arrays
    are known by then: both are the same kernel but for that. `prizes` are those of each such operation of
    `known`; `given` are the winners that come in, by the array that they are for.
    """

    finding: Normal
    known: Normal
    prizes: Mapping[Stmt, Prize]
    given: Mapping[Buffer, Buffer]


def contested(kernel: Kernel, active: Activity) -> tuple[Buffer, ...]:
    """The buffers of which a minimum or maximum has derivatives that go to winners: its own, or those of what
    it puts beside."""
    found = (
        stmt.buffer
        for stmt in statements(kernel.body)
        if isinstance(stmt, Atomic)
        and stmt.operation in ("min", "max")
        and any(buffer in active for buffer in changes(stmt))
    )
    return tuple(dict.fromkeys(found))


def keyless(kernel: Kernel, buffers: Iterable[Buffer]) -> tuple[Buffer, ...]:
    """Those of the buffers whose minima and maxima say to nobody yet who wins: a kernel that forward mode has
    made, or one that finds winners, does."""
    keyed = {stmt.buffer for stmt in statements(kernel.body) if isinstance(stmt, Atomic) and stmt.beside}
    return tuple(buffer for buffer in buffers if buffer not in keyed)


def refuse_reuse(places: Places, buffers: Iterable[Buffer]) -> None:
    """Refuse elements whose winner at the end of the kernel is not the one that their readers saw."""
    for buffer in buffers:
        stmts = list(statements(places.kernel.body))
        races = [stmt for stmt in stmts if isinstance(stmt, Atomic) and stmt.buffer is buffer]
        others = [
            (stmt, buffer in changes(stmt))
            for stmt in stmts
            if stmt not in races and (buffer in changes(stmt) or _reads(stmt, buffer))
        ]
        is_one = len({race.operation for race in races}) == 1
        for race in races:
            if is_one and all(_is_apart(places, race, stmt, is_write) for stmt, is_write in others):
                continue
            raise NotDifferentiable(
                f"the atomic `{race.operation}` of an element that is read before it or written after it",
                race.span,
                "use an element for one such operation of all threads: write it before, behind a barrier "
                "or in another launch, and read it after",
            )


def _is_apart(places: Places, race: Atomic, other: Stmt, is_write: bool) -> bool:
    if race.buffer.space is Space.GLOBAL:
        return False
    here, there = places.of[race], places.of[other]
    in_order = there.order < here.order if is_write else there.order > here.order
    return in_order and set(here.loops).isdisjoint(there.loops)


def _reads(stmt: Stmt, buffer: Buffer) -> bool:
    parts = (part for expr in expressions(stmt) for part in subexpressions(expr))
    return any(isinstance(part, Load) and part.buffer is buffer for part in parts)


def contest(normal: Normal, buffers: Sequence[Buffer]) -> Contest:
    """The kernel with keys beside the minima and maxima of these buffers."""
    if not buffers:
        return Contest(normal, normal, {}, {})
    writer = _Writer(normal.kernel.geometry, {})
    given: dict[Buffer, Buffer] = {}
    for buffer in buffers:
        winners = replace(buffer, name=f"{buffer.name}_winners", dtype=I64)
        writer.winners[buffer] = winners
        if buffer.space is Space.GLOBAL:
            given[buffer] = winners
    writer.open()
    writer.body(normal.kernel.body)
    body = writer.emitter.stmts
    old = normal.kernel
    kernel = Kernel(old.name, (*old.params, *given.values()), old.geometry, body, old.failures)
    finding = replace(normal, kernel=kernel, trips=writer.trips(normal))
    changed: dict[Stmt, Stmt] = {}
    without = _without(body, set(given), changed)
    known = replace(
        finding,
        kernel=replace(kernel, body=without),
        trips={changed[loop]: trip for loop, trip in finding.trips.items()},  # type: ignore[misc]
    )
    prizes = {changed[stmt]: prize for stmt, prize in writer.prizes.items()}
    return Contest(finding, known, prizes, given)


@dataclass(slots=True)
class _Writer:
    """A copy of a kernel with keys: under the same names, for it takes the place of the first one."""

    where: Geometry
    winners: dict[Buffer, Buffer]
    emitter: Emitter = field(default_factory=Emitter)
    prizes: dict[Stmt, Prize] = field(default_factory=dict)
    loops: dict[Stmt, Stmt] = field(default_factory=dict)
    turn: Buffer = field(default_factory=lambda: Buffer("turn", I64, Space.LOCAL))

    def open(self) -> None:
        """The thread's first key, and its count of operations."""
        self.emitter.emit(Alloc(self.turn, i64(1)))
        thread, threads = thread_number(self.emitter, self.where)
        blocks = replace(self.where, thread_index=self.where.block_index, block=self.where.grid)
        block, _ = thread_number(self.emitter, blocks)
        number = self.emitter.add(thread, self.emitter.mul(block, threads))
        self.emitter.store(self.turn, (i64(0),), self.emitter.mul(number, i64(TURNS)))

    def trips(self, normal: Normal) -> dict[While, Var]:
        """The trip counts of the copied loops."""
        return {self.loops[loop]: trip for loop, trip in normal.trips.items()}  # type: ignore[misc]

    def inner(self, body: Iterable[Stmt]) -> tuple[Stmt, ...]:
        """Statements in a scope of their own."""
        with self.emitter.open() as block:
            self.body(body)
        return tuple(block.stmts)

    def body(self, body: Iterable[Stmt]) -> None:
        """Statements in order."""
        for stmt in body:
            match stmt:
                case If() | For():
                    self.emitter.emit(with_bodies(stmt, [self.inner(inner) for inner in bodies(stmt)]))
                case While(body=inner):
                    new = self.loops[stmt] = replace(stmt, body=self.inner(inner))
                    self.emitter.emit(new)
                case Atomic(buffer=buffer) if buffer in self.winners:
                    self.atomic(stmt)
                case _:
                    self.emitter.emit(stmt)
                    if isinstance(stmt, Alloc) and stmt.buffer in self.winners:
                        self.shared(stmt)

    def shared(self, stmt: Alloc) -> None:
        """Winners of shared memory: nobody, as all threads of the block write; a barrier follows that of the
        program before the first operation."""
        winners, size = self.winners[stmt.buffer], atom_of(stmt.size)
        self.emitter.emit(Alloc(winners, size))
        thread, threads = thread_number(self.emitter, self.where)
        self.emitter.fill(winners, size, i64(-1), thread, threads)

    def atomic(self, stmt: Atomic) -> None:
        """An operation with its key; one that has a key of its own keeps it."""
        winners = self.winners[stmt.buffer]
        if stmt.beside:
            own, given = stmt.beside[0]
            assert isinstance(given, Var)
            key, winners = given, own if own.space is Space.SHARED else winners
        else:
            key = self.emitter.cell_value(self.turn)
            self.emitter.store(self.turn, (i64(0),), self.emitter.add(key, i64(1)))
        new = replace(stmt, beside=((winners, key), *stmt.beside[1:]))
        self.emitter.emit(new)
        self.prizes[new] = Prize(winners, key, ((stmt.buffer, stmt.value), *stmt.beside[1:]))


def _without(body: tuple[Stmt, ...], given: set[Buffer], changed: dict[Stmt, Stmt]) -> tuple[Stmt, ...]:
    """The statements without the keys of arrays of the launch; what each has become."""
    found: list[Stmt] = []
    for stmt in body:
        new: Stmt
        match stmt:
            case While(body=inner):
                new = replace(stmt, body=_without(inner, given, changed))
            case Atomic(buffer=buffer) if buffer in given:
                new = replace(stmt, beside=stmt.beside[1:])
            case _:
                new = with_bodies(stmt, [_without(inner, given, changed) for inner in bodies(stmt)])
        changed[stmt] = new
        found.append(new)
    return tuple(found)
