"""What is known where a kernel is put: values that are recomputed or kept, and the memory of a worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from anadrome.dtypes import I64
from anadrome.errors.ir import IRError
from anadrome.kernel_ir.arithmetic import multiply
from anadrome.kernel_ir.nodes import (
    WARP,
    Alloc,
    Barrier,
    Buffer,
    Const,
    Expr,
    Let,
    Load,
    Space,
    Stmt,
    Store,
    Triple,
    Var,
    i64,
)
from anadrome.kernel_ir.walk import free_names
from anadrome.schedule.names import Names, Place
from anadrome.schedule.plan import Plan

Code = Callable[[int, int], int]
"""(code of a check in the kernel, how many values it has) -> code in the host program."""


@dataclass(slots=True)
class Site:
    """One place where a kernel is put: what is known of the launch, and the memory that a worker needs."""

    plan: Plan
    names: Names
    """What is known outside of the loop over blocks."""
    block: Triple[Expr]
    threads: Expr
    """How many a block has."""
    code: Code
    divergence: Callable[[Barrier], int]
    """The code of the failure that some threads reach a barrier and others do not."""
    vector_bits: int = 0
    """How long the machine's vectors are; 0 for no lanes."""
    indivisible: frozenset[Buffer] = frozenset()
    """Buffers of the kernel whose atomic operations other workers can meet."""
    memory: list[Stmt] = field(default_factory=list)
    """What each worker does before its blocks: it allocates."""
    own: Var = field(default_factory=lambda: Var("thread", I64))
    """The number of a thread in its block, x running fastest."""
    lane: Var = field(default_factory=lambda: Var("lane", I64))
    """The number of a thread in its warp."""
    elements: dict[Var | Buffer, Buffer] = field(default_factory=dict)
    """What holds the elements of what is kept."""

    def of_worker(self, buffer: Buffer, size: Expr) -> Buffer:
        """Have each worker allocate a buffer on the heap."""
        made = Buffer(buffer.name, buffer.dtype, Space.GLOBAL, buffer.shape, buffer.strides)
        self.memory.append(Alloc(made, size))
        return made

    def of_lanes(self, buffer: Buffer) -> Buffer:
        """Have each worker hold a number for each lane of a warp."""
        made = Buffer(buffer.name, buffer.dtype, Space.LOCAL)
        self.memory.append(Alloc(made, i64(WARP)))
        return made

    def outside(self, expr: Expr, what: str) -> Expr:
        """An expression that is the same for all threads of all blocks, before a worker begins."""
        names = self.names.inner()
        for var in free_names((Let(Var("size", I64), expr),)).vars:
            self.need(var, names, self.memory)
        try:
            return names.expr(expr)
        except IRError:
            raise IRError(f"{what} is not the same for all threads of a launch") from None

    def is_kept(self, name: Var | Buffer) -> bool:
        """Whether something has an element for each thread of a block or of a warp."""
        return name in self.plan.kept or name in self.plan.kept_in_warps

    # ------------------------------------------------------------------ variables
    def need(self, var: Var, names: Names, body: list[Stmt]) -> None:
        """Have a variable known: computed again, or read where it is kept."""
        if var in names.vars:
            return
        if var in names.later:
            names.vars[var] = self.let(var, names.later[var](names, body), body)
            return
        formula = self.plan.formulas.get(var)
        if formula is not None:
            for part in free_names((Let(var, formula),)).vars:
                self.need(part, names, body)
            names.vars[var] = self.let(var, names.expr(formula), body)
        elif self.is_kept(var):
            names.vars[var] = self.let(var, self.element(var, names, body), body)

    def let(self, var: Var, value: Expr, body: list[Stmt]) -> Expr:
        """An expression bound to a new variable named as another one, unless it has a name."""
        if isinstance(value, Var | Const):
            return value
        made = Var(var.name, var.dtype)
        body.append(Let(made, value))
        return made

    def value(self, expr: Expr, names: Names, body: list[Stmt]) -> Expr:
        """A variable or constant of the kernel, where `body` is."""
        if isinstance(expr, Var):
            self.need(expr, names, body)
        return names.expr(expr)

    def element(self, var: Var, names: Names, body: list[Stmt]) -> Load:
        """The element of a kept variable for the thread whose piece `body` is."""
        holder, index = self.holder(var)
        self.need(index, names, body)
        return Load(holder, (names.vars[index],))

    def keep(self, var: Var, value: Expr, names: Names, body: list[Stmt]) -> None:
        """Keep the value of a variable for other pieces, if one needs it."""
        if self.is_kept(var):
            holder, index = self.holder(var)
            self.need(index, names, body)
            body.append(Store(holder, (names.vars[index],), value))

    def holder(self, var: Var) -> tuple[Buffer, Var]:
        """What holds the elements of a kept variable, and the variable that is their index."""
        is_of_block = var in self.plan.kept
        if var not in self.elements:
            held = Buffer(var.name, var.dtype)
            self.elements[var] = self.of_worker(held, self.threads) if is_of_block else self.of_lanes(held)
        return self.elements[var], self.own if is_of_block else self.lane

    def once(self, stmt: Let | Alloc | Store, names: Names, body: list[Stmt]) -> None:
        """What is done once for all threads that run together."""
        for var in free_names((stmt,)).vars:
            self.need(var, names, body)
        match stmt:
            case Let(var=var, value=value):
                names.vars[var] = self.let(var, names.expr(value), body)
            case Alloc(buffer=buffer, size=size):
                made = names.layout(buffer)
                body.append(Alloc(made, size, stmt.span))
                names.buffers[buffer] = Place(made)
            case Store(buffer=buffer, indices=indices, value=value):
                body.append(Store(*names.element(buffer, indices), names.expr(value), stmt.span))

    # ------------------------------------------------------------------ buffers
    def have(self, buffer: Buffer, names: Names, body: list[Stmt]) -> None:
        """Have a buffer known that a piece uses and another one allocates."""
        if not self.is_kept(buffer):
            return
        index = self.own if buffer in self.plan.kept else self.lane
        self.need(index, names, body)
        names.buffers[buffer] = Place(self.elements[buffer], names.vars[index])

    def spread(self, stmt: Alloc) -> None:
        """Have each worker allocate the elements of a thread's own buffer for all threads."""
        if stmt.buffer in self.elements:
            return
        count = self.threads if stmt.buffer in self.plan.kept else i64(WARP)
        size = self.outside(stmt.size, f"the size of {stmt.buffer}")
        buffer = Buffer(stmt.buffer.name, stmt.buffer.dtype, shape=(size, count))
        self.elements[stmt.buffer] = self.of_worker(buffer, multiply(size, count))
