"""Reverse mode of kernels: each thread forward, keeping what it must, then backward (Enzyme on GPUs, SC21).

With x̄ the shadow of a buffer x and v̄ the adjoint of a variable v, backwards through the statements,

    let v = f(a, …)        ā += ∂f/∂a · v̄
    let v = x[i]           x̄[i] += v̄, atomic unless the element is the thread's own
    x[i] = v               v̄ += x̄[i]; x̄[i] = 0, unless nothing reads it again
    atomic add x[i] = v    v̄ += x̄[i]
    atomic max x[i] = v    if the thread won: v̄ += x̄[i]; x̄[i] = 0 (`winners`)
    barrier                barrier
    r = shuffle v          what the lanes that got v bring back (`warps`)
    if, for, while         the same branch; the iterations from the last to the first

Shadows of the launch's arrays begin as the adjoints of what the launch made of them, and end as those of what
it was given. Shadows of shared and local memory begin as zeros.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from anadrome.ad.kernels.activity import Activity
from anadrome.ad.kernels.emitter import Atom, Emitter, atom_of, atoms_of, zero
from anadrome.ad.kernels.forward import product
from anadrome.ad.kernels.normal import Normal
from anadrome.ad.kernels.places import Places
from anadrome.ad.kernels.sweeps import Primal
from anadrome.ad.kernels.warps import reverse_shuffle
from anadrome.ad.kernels.winners import Prize
from anadrome.ad.partials import partials_of
from anadrome.dtypes import I64
from anadrome.errors import Span
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Barrier,
    Buffer,
    Check,
    Compute,
    Expr,
    Fence,
    For,
    If,
    Let,
    Load,
    Space,
    Stmt,
    Store,
    Var,
    Warp,
    While,
    i64,
)
from anadrome.kernel_ir.walk import bodies, bound, buffers, free_names, statements

ZERO = (i64(0),)


@dataclass(slots=True)
class Reverse:
    """One return sweep being written.

    `shadows` are those of the launch's buffers, `totals` the adjoints of its scalars, summed over threads.
    The elements of `own` shadows belong to one thread each; those of `kept` ones are read once, and nobody
    asks for them afterwards. Adjoints of variables are sums in the block in
    which they are made (`sums`), and cells while a statement with blocks inside adds to them.
    """

    normal: Normal
    places: Places
    active: Activity
    emitter: Emitter
    primal: Primal
    shadows: dict[Buffer, Buffer]
    totals: Mapping[Var, Buffer]
    own: frozenset[Buffer]
    kept: frozenset[Buffer]
    is_masked: bool
    prizes: Mapping[Stmt, Prize]
    sums: list[dict[Var, Atom]] = field(default_factory=lambda: [{}])
    cells: dict[Var, Buffer] = field(default_factory=dict)

    def sweep(self) -> None:
        """The whole return sweep."""
        self.block(self.normal.kernel.body, None)
        for var, total in self.totals.items():
            adjoint = self.sums[-1].pop(var, None)
            if adjoint is not None:
                self.emitter.emit(Atomic("add", total, ZERO, adjoint))

    # ------------------------------------------------------------------ adjoints
    def add(self, target: Expr | None, value: Atom) -> None:
        """target_adj += value"""
        if not isinstance(target, Var) or target not in self.active:
            return
        sums = self.sums[-1]
        sums[target] = self.emitter.add(sums[target], value) if target in sums else value

    @contextmanager
    def nested(self, stmt: Stmt) -> Iterator[None]:
        """Around the return sweep of a statement with blocks inside: cells for what it adds to."""
        used = [var for inner in bodies(stmt) for var in free_names(inner).vars if var in self.active]
        opened = [var for var in dict.fromkeys(used) if var not in self.cells]
        for var in opened:
            start = self.sums[-1].pop(var, None) or zero(var.dtype)
            self.cells[var] = self.emitter.cell(f"{var.name}_adj", var.dtype, start)
        yield
        for var in opened:
            self.sums[-1][var] = self.emitter.cell_value(self.cells.pop(var))

    def _flush(self) -> None:
        """At the end of a block: add what belongs to variables of blocks around it to their cells."""
        for var, value in self.sums[-1].items():
            cell = self.cells[var]
            self.emitter.store(cell, ZERO, self.emitter.add(self.emitter.cell_value(cell), value))

    # ------------------------------------------------------------------ blocks
    def block(
        self, body: tuple[Stmt, ...], scope: tuple[Stmt, int] | None, index: Atom | None = None
    ) -> None:
        """The return sweep of a body, in the open block."""
        self.primal.enter(scope, index)
        for stmt in body:
            if isinstance(stmt, Alloc) and stmt.buffer in self.active and stmt.buffer not in self.shadows:
                self._open_shadow(stmt)
        for stmt in reversed(body):
            self.emitter.span = getattr(stmt, "span", None)
            self.statement(stmt)

    def _inside(self, stmt: Stmt, number: int, index: Atom | None = None) -> tuple[Stmt, ...]:
        with self.emitter.open() as block:
            self.sums.append({})
            self.block(bodies(stmt)[number], (stmt, number), index)
            self._flush()
            self.sums.pop()
        return tuple(block.stmts)

    def _open_shadow(self, stmt: Alloc) -> None:
        """A shadow of a thread's own memory, zero."""
        buffer = stmt.buffer
        layout = self.primal.values(atoms_of(buffer.shape)), self.primal.values(atoms_of(buffer.strides))
        shadow = self.shadows[buffer] = Buffer(f"{buffer.name}_adj", buffer.dtype, buffer.space, *layout)
        size = self.primal.value(atom_of(stmt.size))
        self.emitter.emit(Alloc(shadow, size))
        self.emitter.fill(shadow, size, zero(buffer.dtype))

    # ------------------------------------------------------------------ statements
    def statement(self, stmt: Stmt) -> None:
        """The return sweep of a statement."""
        match stmt:
            case Let(var=var, value=value):
                adjoint = self.sums[-1].pop(var, None)
                if adjoint is not None:
                    self._let(var, value, adjoint, stmt.span)
            case Store(buffer=buffer, indices=indices, value=value) if buffer in self.shadows:
                at = self.primal.values(atoms_of(indices))
                adjoint = self.emitter.load(self.shadows[buffer], at)
                if buffer not in self.kept:
                    self.emitter.store(self.shadows[buffer], at, zero(buffer.dtype))
                self.add(value, adjoint)
            case Atomic() if stmt in self.prizes or stmt.buffer in self.shadows:
                self._atomic(stmt)
            case Warp():
                self._warp(stmt)
            case Barrier():
                self.emitter.emit(Barrier(span=stmt.span))
            case If() | For() | While() if self._matters(stmt):
                with self.nested(stmt):
                    self._control(stmt)
            case If() | For() | While() | Store() | Atomic() | Alloc() | Check() | Fence():
                pass
            case _:
                raise AssertionError(f"{type(stmt).__name__} in a kernel in normal form")

    def _matters(self, stmt: Stmt) -> bool:
        """Whether the return sweep has something to do inside a statement."""
        return any(
            isinstance(inner, Barrier | Warp)
            or any(one in self.active for one in (bound(inner), *buffers(inner)))
            for inner in statements((stmt,))
        )

    def _control(self, stmt: If | For | While) -> None:
        emitter, value = self.emitter, self.primal.value
        match stmt:
            case If(condition=condition):
                test = value(atom_of(condition))
                then = self._inside(stmt, 0)
                emitter.emit(If(test, then, self._inside(stmt, 1)))
            case For(lo=lo, hi=hi):
                first, end = value(atom_of(lo)), value(atom_of(hi))
                last = emitter.sub(emitter.add(first, end), i64(1))
                self._loop(stmt, 0, first, end, last)
            case While():
                trip = value(self.normal.trips[stmt])
                self._loop(stmt, 1, i64(0), trip, emitter.sub(trip, i64(1)))

    def _loop(self, stmt: For | While, number: int, first: Atom, end: Atom, last: Atom) -> None:
        """for k in first .. end: the iteration last - k"""
        k = Var("k", I64)
        with self.emitter.open() as block:
            index = self.emitter.sub(last, k)
            inner = self._inside(stmt, number, index)
        self.emitter.emit(For(k, first, end, (*block.stmts, *inner)))

    def _let(self, var: Var, value: Expr, adjoint: Atom, span: Span | None) -> None:
        match value:
            case Load(buffer=buffer, indices=indices) if buffer in self.shadows:
                self._add_to(buffer, self.primal.values(atoms_of(indices)), adjoint)
            case Compute(prim=prim, args=args) if prim.converts_to is not None:
                (arg,) = atoms_of(args)
                self.add(arg, self.emitter.apply(f"to_{arg.dtype.name}", adjoint))
            case Compute(prim=prim, args=args) if prim.name == "select":
                condition = self.primal.value(atom_of(args[0]))
                nothing = zero(var.dtype)
                self.add(args[1], self.emitter.select(condition, adjoint, nothing))
                self.add(args[2], self.emitter.select(condition, nothing, adjoint))
            case Compute():
                self._partials(var, value, adjoint, span)
            case _:
                pass

    def _partials(self, var: Var, value: Compute, adjoint: Atom, span: Span | None) -> None:
        """Each argument's adjoint += its partial times the adjoint of the result."""
        prim, args = value.prim, atoms_of(value.args)
        is_active = [arg in self.active for arg in args]
        values, out = self.primal.values(args), self.primal.value(var)
        partials = partials_of(self.emitter, prim, values, out, is_active, span)
        for arg, partial in zip(args, partials, strict=True):
            if partial is not None and arg in self.active:
                self.add(arg, product(self.emitter, prim, adjoint, partial, self.is_masked))

    # ------------------------------------------------------------------ memory
    def _add_to(self, buffer: Buffer, at: Sequence[Atom], value: Atom) -> None:
        """shadow[at] += value"""
        shadow = self.shadows[buffer]
        if buffer.space is Space.LOCAL or buffer in self.own:
            self.emitter.store(shadow, at, self.emitter.add(self.emitter.load(shadow, at), value))
        else:
            self.emitter.emit(Atomic("add", shadow, tuple(at), value, span=self.emitter.span))

    def _atomic(self, stmt: Atomic) -> None:
        emitter, at = self.emitter, self.primal.values(atoms_of(stmt.indices))
        if stmt.operation == "add":
            self.add(stmt.value, emitter.load(self.shadows[stmt.buffer], at))
            return
        prize = self.prizes[stmt]
        has_won = emitter.apply("eq", emitter.load(prize.winners, at), self.primal.value(prize.key))
        for buffer, value in prize.puts:
            if buffer not in self.shadows:
                continue
            shadow, nothing = self.shadows[buffer], zero(buffer.dtype)
            won = emitter.cell("won", buffer.dtype, nothing)
            with emitter.open() as block:
                emitter.store(won, ZERO, emitter.load(shadow, at))
                emitter.store(shadow, at, nothing)
            emitter.emit(If(has_won, tuple(block.stmts)))
            self.add(value, emitter.cell_value(won))

    def _warp(self, stmt: Warp) -> None:
        if stmt.operation == "sync":
            self.emitter.emit(Warp("sync", self.primal.value(atom_of(stmt.mask)), span=stmt.span))
        if stmt.result is None or stmt.result not in self.active:
            return
        mask, lane = self.primal.values((atom_of(stmt.mask), atom_of(stmt.lane)))
        adjoint = self.sums[-1].pop(stmt.result, None) or zero(stmt.result.dtype)
        where = self.normal.kernel.geometry
        self.add(stmt.value, reverse_shuffle(self.emitter, where, stmt.operation, mask, lane, adjoint))
