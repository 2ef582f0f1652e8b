"""Where the statements of a kernel stand, which loops are around them, and which reads may be done again.

A read may be done again after the kernel's forward part if nothing overwrites the element once it is read:
no write to its buffer stands behind it, and none stands in a loop around it. What other threads write is
written by the same statements; between that write and this read there is a barrier, or the kernel races.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Buffer,
    Compute,
    Const,
    Expr,
    For,
    If,
    Kernel,
    Let,
    Load,
    Space,
    Stmt,
    Var,
    While,
)
from anadrome.kernel_ir.walk import bodies, bound, changes, statements, subexpressions

Loop = For | While


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where a statement stands: how many come before it, the statements around it, the loops among these."""

    order: int
    around: tuple[Stmt, ...]
    branch: int = 0
    """Which body of the innermost statement around it: `then` or `other`, `prelude` or `body`."""

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The loops around, outermost first."""
        return tuple(stmt for stmt in self.around if isinstance(stmt, For | While))


@dataclass(slots=True)
class Places:
    """The places of all statements of a kernel; what binds each variable; who writes each buffer."""

    kernel: Kernel
    of: dict[Stmt, Place] = field(default_factory=dict)
    binders: dict[Var, Stmt] = field(default_factory=dict)
    homes: dict[Buffer, Stmt] = field(default_factory=dict)
    writers: dict[Buffer, list[Stmt]] = field(default_factory=dict)
    _changed: dict[Loop, frozenset[Var]] = field(default_factory=dict)
    _uniform: set[Var] = field(default_factory=set)

    @staticmethod
    def find(kernel: Kernel) -> Places:
        """Look through a kernel in normal form."""
        places = Places(kernel)
        where = kernel.geometry
        places._uniform |= {*where.grid, *where.block, where.shared}
        places._uniform |= {param for param in kernel.params if isinstance(param, Var)}
        places._body(kernel.body, (), 0)
        for stmt in kernel.body:
            if isinstance(stmt, Let) and places._is_uniform_expr(stmt.value):
                places._uniform.add(stmt.var)
        return places

    def _body(self, body: Iterable[Stmt], around: tuple[Stmt, ...], branch: int) -> None:
        for stmt in body:
            self.of[stmt] = Place(len(self.of), around, branch)
            var = bound(stmt)
            if var is not None:
                self.binders[var] = stmt
            match stmt:
                case Alloc(buffer=buffer):
                    self.homes[buffer] = stmt
                case _:
                    for buffer in changes(stmt):
                        self.writers.setdefault(buffer, []).append(stmt)
            for number, inner in enumerate(bodies(stmt)):
                self._body(inner, (*around, stmt), number)

    # ------------------------------------------------------------------ variables
    def place(self, var: Var) -> Place | None:
        """Where a variable is bound; None for parameters and the geometry."""
        stmt = self.binders.get(var)
        return None if stmt is None else self.of[stmt]

    def frames(self, var: Var) -> tuple[Loop, ...]:
        """The loops around a variable, without the innermost ones that do not change it: all their runs give
        it the same value."""
        place = self.place(var)
        loops = () if place is None else place.loops
        while loops and var not in self._changed_by(loops[-1]):
            loops = loops[:-1]
        return loops

    def _changed_by(self, loop: Loop) -> frozenset[Var]:
        """The variables bound in a loop that may differ between its runs."""
        if loop not in self._changed:
            inside = list(statements((loop,)))
            touched = {buffer for stmt in inside for buffer in changes(stmt)}
            touched |= {stmt.buffer for stmt in inside if isinstance(stmt, Alloc)}
            changed: set[Var] = set()
            for stmt in inside:
                var = bound(stmt)
                if var is not None and not (
                    isinstance(stmt, Let) and _is_fixed(stmt.value, changed, touched)
                ):
                    changed.add(var)
            self._changed[loop] = frozenset(changed)
        return self._changed[loop]

    def scope(self, var: Var) -> tuple[Stmt, int] | None:
        """The body that binds a variable: a statement and which of its bodies; None for the kernel's."""
        return self.scope_of(self.binders[var])

    def scope_of(self, stmt: Stmt) -> tuple[Stmt, int] | None:
        """The body that a statement stands in."""
        place = self.of[stmt]
        return (place.around[-1], place.branch) if place.around else None

    def are_in_other_branches(self, one: Stmt, two: Stmt) -> bool:
        """Whether a run of the thread that reaches one statement does not reach the other."""
        pairs = zip(self._way(one), self._way(two), strict=False)
        return any(isinstance(a, If) and a is b and this != that for (a, this), (b, that) in pairs)

    def _way(self, stmt: Stmt) -> list[tuple[Stmt, int]]:
        """The statements around a statement, each with the body that leads to it."""
        around = self.of[stmt].around
        return [
            (outer, self.of[inner].branch) for outer, inner in zip(around, (*around, stmt)[1:], strict=True)
        ]

    def is_at_top(self, var: Var) -> bool:
        """Whether a variable is bound outside of all loops and branches."""
        place = self.place(var)
        return place is None or (not place.around and not isinstance(self.binders[var], For))

    def is_index(self, var: Var) -> bool:
        """Whether a variable is the index of a loop."""
        return isinstance(self.binders.get(var), For)

    def is_uniform(self, expr: Expr) -> bool:
        """Whether a number is known, and the same for all threads, before any loop."""
        return isinstance(expr, Const) or (isinstance(expr, Var) and expr in self._uniform)

    def _is_uniform_expr(self, expr: Expr) -> bool:
        match expr:
            case Compute(args=args):
                return all(map(self._is_uniform_expr, args))
            case Load(buffer=buffer, indices=indices):
                is_given = buffer not in self.homes and buffer not in self.writers
                return is_given and all(map(self._is_uniform_expr, indices))
            case _:
                return self.is_uniform(expr)

    # ------------------------------------------------------------------ reads
    def is_recomputable(self, var: Var) -> bool:
        """Whether a variable can be computed again from the operands of its statement."""
        stmt = self.binders.get(var)
        match stmt:
            case Let(value=Compute()):
                return True
            case Let(value=Load(buffer=buffer)):
                return self.is_there(buffer) and not self.is_overwritten(stmt, buffer)
            case _:
                return False

    def is_there(self, buffer: Buffer) -> bool:
        """Whether a buffer exists when the forward part is done."""
        home = self.homes.get(buffer)
        return home is None or not self.of[home].around

    def is_overwritten(self, read: Stmt, buffer: Buffer) -> bool:
        """Whether a write to the buffer may run after a statement that reads it."""
        place = self.of[read]
        for write in self.writers.get(buffer, ()):
            other = self.of[write]
            if other.order > place.order or not set(other.loops).isdisjoint(place.loops):
                return True
        return False

    def reason(self, var: Var) -> str:
        """Why a variable cannot be computed again."""
        stmt = self.binders[var]
        match stmt:
            case Let(value=Load(buffer=buffer)) if buffer.space is Space.LOCAL and buffer.rank == 1:
                return f"`{buffer.name}` changes in a loop"
            case Let(value=Load(buffer=buffer)):
                return f"`{buffer.name}` is overwritten"
            case Atomic():
                return "the old value of an atomic operation"
            case _:
                return "a value that threads exchange"


def _is_fixed(value: Expr, changed: set[Var], touched: set[Buffer]) -> bool:
    """Whether an expression follows from nothing that is changed."""
    parts = list(subexpressions(value))
    return all(
        part not in changed
        if isinstance(part, Var)
        else not isinstance(part, Load) or part.buffer not in touched
        for part in parts
    )
