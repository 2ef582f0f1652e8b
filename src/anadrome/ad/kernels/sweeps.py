"""The two sweeps of a derived kernel as far as primal values go: what the forward one keeps, and how the
return sweep has it again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from anadrome.ad.kernels.emitter import Atom, Emitter, atom_of, zero
from anadrome.ad.kernels.places import Loop, Places
from anadrome.ad.kernels.rebuilt import is_static
from anadrome.ad.kernels.residuals import Plan, is_packed, runs
from anadrome.dtypes import I64, U8
from anadrome.kernel_ir.nodes import (
    Alloc,
    Barrier,
    Buffer,
    Compute,
    For,
    If,
    Let,
    Load,
    Space,
    Stmt,
    Store,
    Var,
    While,
    i64,
)
from anadrome.kernel_ir.walk import bodies, bound, changes, expressions, statements, subexpressions
from anadrome.prims.node import replace


@dataclass(slots=True)
class Primal:
    """The names of primal values in the return sweep, and what the sweeps need to have them.

    Without a `plan` it only gives names: those that are used in the end are what the sweep needs.
    """

    places: Places
    emitter: Emitter
    plan: Plan | None = None
    names: dict[Var, Atom] = field(default_factory=dict)
    rooms: Mapping[Loop, Var] = field(default_factory=dict)
    """How many runs a counted loop may have in one thread: parameters of the kernel."""
    entries: dict[Var, Buffer] = field(default_factory=dict)
    again: dict[Buffer, Buffer] = field(default_factory=dict)
    counts: dict[Loop, Buffer] = field(default_factory=dict)
    numbers: dict[Loop, Atom] = field(default_factory=dict)
    trips: dict[Loop, Atom] = field(default_factory=dict)

    # ------------------------------------------------------------------ names
    def value(self, atom: Atom) -> Atom:
        """A primal value as the return sweep knows it."""
        if not isinstance(atom, Var) or self.places.is_at_top(atom):
            return atom
        found = self.names.get(atom)
        if found is None:
            found = self.names[atom] = Var(atom.name, atom.dtype)
        return found

    def values(self, atoms: Iterable[Atom]) -> tuple[Atom, ...]:
        """Several of them."""
        return tuple(self.value(atom) for atom in atoms)

    # ------------------------------------------------------------------ the forward sweep
    def __post_init__(self) -> None:
        for loop in self.plan.counted if self.plan else ():
            self.counts[loop] = self.emitter.cell("runs", I64, i64(0))

    def forward(self, stmt: Stmt) -> None:
        """Emit the forward sweep of a statement of the kernel itself."""
        self._prepare(stmt)
        self._forward(stmt)
        if isinstance(stmt, Alloc) and self.plan is not None and stmt.buffer in self.plan.rebuilt:
            self._open_again(stmt)

    def _prepare(self, stmt: Stmt) -> None:
        """Before a statement of the kernel: the entries of what is kept inside it."""
        for inner in statements((stmt,)):
            var = bound(inner)
            if var is None or not self._is_kept(var):
                continue
            loops = self.places.frames(var)
            size: Atom = i64(1)
            counted = runs(self.places, var)
            start = loops.index(counted[0]) + 1 if counted else 0
            for loop in loops[start:]:
                size = self.emitter.mul(size, self._trip(loop))
            if counted:
                size = self.emitter.mul(self.rooms[counted[0]], size)
            name = f"{var.name}_kept"
            if is_packed(self.places, var):
                buffer = self.entries[var] = Buffer(name, U8, Space.LOCAL)
                size = self.emitter.apply("shr", self.emitter.add(size, i64(7)), i64(3))
                self.emitter.emit(Alloc(buffer, size))
                self.emitter.fill(buffer, size, zero(U8))
                continue
            buffer = self.entries[var] = Buffer(name, var.dtype, Space.LOCAL)
            self.emitter.emit(Alloc(buffer, size))

    def _is_kept(self, var: Var) -> bool:
        return self.plan is not None and var in self.plan.kept

    def _trip(self, loop: Loop) -> Atom:
        if loop not in self.trips:
            assert isinstance(loop, For)
            extent = self.emitter.sub(atom_of(loop.hi), atom_of(loop.lo))
            self.trips[loop] = self.emitter.apply("max", extent, i64(0))
        return self.trips[loop]

    def _forward(self, stmt: Stmt) -> None:
        emitter = self.emitter
        match stmt:
            case If(condition=condition, then=then, other=other):
                emitter.emit(If(condition, self._inner(then), self._inner(other)))
            case For(index=index, body=body):
                emitter.emit(replace(stmt, body=self._inner(body, stmt, index)))
            case While(prelude=prelude, condition=condition, body=body):
                emitter.emit(While(prelude, condition, self._inner(body, stmt)))
            case _:
                emitter.emit(stmt)
                if isinstance(stmt, Let) and isinstance(stmt.value, Compute):
                    emitter.remember(stmt.var, stmt.value)
        var = bound(stmt)
        if var is not None and self._is_kept(var):
            self._keep(var)

    def _inner(
        self, body: tuple[Stmt, ...], loop: Loop | None = None, index: Var | None = None
    ) -> tuple[Stmt, ...]:
        with self.emitter.open() as block:
            if loop is not None:
                self._enter(loop, index, is_return=False)
            for stmt in body:
                self._forward(stmt)
        return tuple(block.stmts)

    # ------------------------------------------------------------------ frames
    def _enter(self, loop: Loop, index: Atom | None, *, is_return: bool) -> None:
        """At the start of a run of a loop's body: the number of the run."""
        emitter, zero = self.emitter, (i64(0),)
        if loop in self.counts:
            count: Atom = emitter.cell_value(self.counts[loop])
            number = emitter.sub(count, i64(1)) if is_return else count
            emitter.store(self.counts[loop], zero, number if is_return else emitter.add(count, i64(1)))
            self.numbers[loop] = number
        elif loop in self.trips:
            assert isinstance(loop, For) and index is not None
            number = emitter.sub(index, atom_of(loop.lo))
            around = self.places.of[loop].loops
            if around and (around[-1] in self.trips or around[-1] in self.counts):
                number = emitter.add(emitter.mul(self.numbers[around[-1]], self.trips[loop]), number)
            self.numbers[loop] = number

    def _frame(self, var: Var) -> Atom:
        loops = self.places.frames(var)
        return self.numbers[loops[-1]] if loops else i64(0)

    def _keep(self, var: Var) -> None:
        """Store a value that was computed just now."""
        emitter, buffer, frame = self.emitter, self.entries[var], self._frame(var)
        if not is_packed(self.places, var):
            emitter.store(buffer, (frame,), var)
            return
        at, bit = self._bit(frame)
        byte = emitter.load(buffer, (at,))
        others = emitter.apply("bitand", byte, emitter.apply("bitnot", bit))
        emitter.store(buffer, (at,), emitter.select(var, emitter.apply("bitor", byte, bit), others))

    def _kept(self, var: Var) -> Atom:
        """A value that was stored."""
        emitter, buffer, frame = self.emitter, self.entries[var], self._frame(var)
        if not is_packed(self.places, var):
            return emitter.load(buffer, (frame,), var.name)
        at, bit = self._bit(frame)
        return emitter.apply("ne", emitter.apply("bitand", emitter.load(buffer, (at,)), bit), zero(U8))

    def _bit(self, frame: Atom) -> tuple[Atom, Atom]:
        """The byte of an entry, and the bit in it."""
        apply = self.emitter.apply
        bit = apply("shl", i64(1), apply("bitand", frame, i64(7)))
        return apply("shr", frame, i64(3)), apply("to_u8", bit)

    # ------------------------------------------------------------------ the return sweep
    def enter(self, scope: tuple[Stmt, int] | None, index: Atom | None = None) -> None:
        """At the start of the return sweep of a body: the number of its run, and the values bound in it."""
        if scope is not None:
            stmt = scope[0]
            if isinstance(stmt, For | While):
                self._enter(stmt, index, is_return=True)
            if isinstance(stmt, For) and index is not None:
                self.names[stmt.index] = index
        if self.plan is None:
            return
        of = self.places.of
        steps: list[tuple[int, Var | Stmt]] = [
            (of[self.places.binders[var]].order, var) for var in self.plan.scopes.get(scope, ())
        ]
        built = [one for one in self.plan.rebuilt.values() if one.scope == scope]
        writing = {self._outermost(store, one.scope[0]) for one in built for store in one.stores}
        homes = [self.places.homes[one.buffer] for one in built if one.is_fresh]
        steps += [(of[stmt].order, stmt) for stmt in (*writing, *homes)]
        shared = {one.buffer for one in built if one.buffer.space is Space.SHARED}
        must_meet = False
        for _, step in sorted(steps, key=lambda pair: pair[0]):
            stmt = self.places.binders[step] if isinstance(step, Var) else step
            if must_meet and not shared.isdisjoint(_read(stmt)):
                self.emitter.emit(Barrier())
                must_meet = False
            if isinstance(step, Var):
                self._bind(step)
                continue
            self._rebuild(step)
            must_meet |= not shared.isdisjoint(_changed(step))
        if must_meet:
            self.emitter.emit(Barrier())

    def _bind(self, var: Var) -> None:
        """Have a value again in the open block."""
        if self._is_kept(var):
            self.names[var] = self._kept(var)
        else:
            self.names[var] = self._again(var)

    def _open_again(self, stmt: Alloc) -> None:
        """Memory to be written anew."""
        buffer, values = stmt.buffer, self.values
        layout = values(map(atom_of, buffer.shape)), values(map(atom_of, buffer.strides))
        again = Buffer(f"{buffer.name}_again", buffer.dtype, buffer.space, *layout)
        self.again[buffer] = again
        self.emitter.emit(Alloc(again, self.value(atom_of(stmt.size))))

    def _outermost(self, stmt: Stmt, outer: Stmt) -> Stmt:
        """The statement of a body that a statement stands in."""
        around = (*self.places.of[stmt].around, stmt)
        return around[around.index(outer) + 1]

    def _rebuild(self, stmt: Stmt) -> None:
        """Write memory anew: what a statement in the body, or inside it, writes there."""
        emitter = self.emitter
        assert self.plan is not None
        match stmt:
            case Alloc(buffer=buffer) if buffer in self.plan.rebuilt:
                self._open_again(stmt)
            case Store(buffer=buffer, indices=indices, value=value) if buffer in self.again:
                at = self.values(map(atom_of, indices))
                emitter.store(self.again[buffer], at, self.value(atom_of(value)))
            case If() | For() if not self._writes_again(stmt):
                pass
            case If(condition=condition, then=then, other=other):
                test = self.value(atom_of(condition))
                emitter.emit(If(test, self._rebuilt_body(then), self._rebuilt_body(other)))
            case For(index=index, lo=lo, hi=hi, body=body):
                new = self.names[index] = Var(index.name, I64)
                inner = self._rebuilt_body(body, stmt)
                emitter.emit(For(new, self.value(atom_of(lo)), self.value(atom_of(hi)), inner))
            case Let(var=var) if any(var in bound_ for bound_ in self.plan.scopes.values()):
                self._bind(var)
            case _:
                pass

    def _writes_again(self, stmt: If | For) -> bool:
        """Whether a branch or loop writes memory anew here: what a loop of unknown length writes, its own
        runs write anew. (Such a loop may count its runs, and these are none.)"""
        assert self.plan is not None
        if isinstance(stmt, For) and not is_static(self.places, stmt):
            return False
        return any(
            self._writes_again(inner)
            if isinstance(inner, If | For)
            else isinstance(inner, Alloc | Store) and inner.buffer in self.plan.rebuilt
            for body in bodies(stmt)
            for inner in body
        )

    def _rebuilt_body(self, body: tuple[Stmt, ...], loop: For | None = None) -> tuple[Stmt, ...]:
        with self.emitter.open() as block:
            if loop is not None:
                self._enter(loop, self.names[loop.index], is_return=False)
            for stmt in body:
                self._rebuild(stmt)
        return tuple(block.stmts)

    def _again(self, var: Var) -> Atom:
        stmt = self.places.binders[var]
        assert isinstance(stmt, Let)
        match stmt.value:
            case Compute(prim=prim, args=args, is_reassociable=is_reassociable):
                values = self.values(map(atom_of, args))
                return self.emitter.compute(prim, values, var.name, is_reassociable)
            case Load(buffer=buffer, indices=indices):
                source = buffer if self.places.is_recomputable(var) else self.again[buffer]
                return self.emitter.load(source, self.values(map(atom_of, indices)), var.name)
            case _:
                raise AssertionError("only operations and loads are done again")


def _read(stmt: Stmt) -> set[Buffer]:
    """The buffers that a statement, or one inside it, reads."""
    exprs = (expr for inner in statements((stmt,)) for expr in expressions(inner))
    return {part.buffer for expr in exprs for part in subexpressions(expr) if isinstance(part, Load)}


def _changed(stmt: Stmt) -> set[Buffer]:
    """The buffers that a statement, or one inside it, writes."""
    return {buffer for inner in statements((stmt,)) for buffer in changes(inner)}
