"""A piece as the body of a loop over threads: its statements with new names, what it reads of other pieces,
and what others read of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from anadrome.dtypes import I64
from anadrome.errors.ir import IRError
from anadrome.kernel_ir.arithmetic import ZERO, known, multiply
from anadrome.kernel_ir.check import LOCAL_BYTES
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Barrier,
    Binding,
    Buffer,
    Call,
    Check,
    Copy,
    Expr,
    Fence,
    Fill,
    For,
    Free,
    If,
    Launch,
    Let,
    Load,
    Print,
    Space,
    Stmt,
    Store,
    Swap,
    Var,
    View,
    Warp,
    While,
    i64,
)
from anadrome.kernel_ir.walk import bound, changes, free_names, statements
from anadrome.schedule.atomics import plain
from anadrome.schedule.lanes import ALONE, Lanes
from anadrome.schedule.names import Names, Place
from anadrome.schedule.site import Site


@dataclass(slots=True)
class Written:
    """What one thread does in a piece, and whether threads must do so one after the other: where there are
    loops, or they meet at one element. So they must where a check is left."""

    body: list[Stmt] = field(default_factory=list)
    is_sequential: bool = False

    @property
    def binding(self) -> Binding:
        """What runs the threads, by what is left of checks."""
        has_checks = any(isinstance(stmt, Check) for stmt in statements(self.body))
        return Binding.SEQUENTIAL if self.is_sequential or has_checks else Binding.PARALLEL


def write(site: Site, stmts: Iterable[Stmt], names: Names, lanes: Lanes = ALONE) -> Written:
    """What one thread does in a piece. Nothing, where nobody sees it."""
    plan = site.plan
    found = Written()
    rest = [stmt for stmt in stmts if not (isinstance(stmt, Let) and stmt.var in plan.formulas)]
    if not any(_matters(site, stmt) for stmt in rest):
        return found
    used = free_names(rest)
    for var in used.vars:
        site.need(var, names, found.body)
    if any(isinstance(stmt, Check) for stmt in statements(rest)):
        where = plan.kernel.geometry
        for var in (*where.block_index, *where.thread_index):
            site.need(var, names, found.body)
    for stmt in statements(rest):
        if isinstance(stmt, Alloc) and site.is_kept(stmt.buffer):
            site.spread(stmt)
            site.have(stmt.buffer, names, found.body)
    for buffer in used.buffers:
        site.have(buffer, names, found.body)
    _Writer(site, names, found, lanes).body(rest, found.body)
    return found


def _matters(site: Site, stmt: Stmt) -> bool:
    """Whether another piece, or anybody after the launch, sees what a statement does."""
    for inner in statements((stmt,)):
        match inner:
            case Store() | Atomic() | Fill() | Copy():
                if any(buffer.space is not Space.LOCAL or site.is_kept(buffer) for buffer in changes(inner)):
                    return True
            case Check():
                return True
            case Alloc(buffer=buffer) if site.is_kept(buffer):
                return True
            case _:
                var = bound(inner)
                if var is not None and site.is_kept(var):
                    return True
    return False


class _Writer:
    """Copies the statements of one thread."""

    def __init__(self, site: Site, names: Names, found: Written, lanes: Lanes) -> None:
        self.site = site
        self.names = names
        self.found = found
        self.lanes = lanes

    def body(self, stmts: Iterable[Stmt], body: list[Stmt]) -> tuple[Stmt, ...]:
        """Append copies of statements."""
        for stmt in stmts:
            self._statement(stmt, body)
        return tuple(body)

    def _statement(self, stmt: Stmt, body: list[Stmt]) -> None:
        names = self.names
        match stmt:
            case Let(var=var, value=value, span=span):
                made = Var(var.name, var.dtype)
                body.append(Let(made, names.expr(value), span))
                self._bind(var, made, body)
            case Alloc():
                self._alloc(stmt, body)
            case Store(buffer=buffer, indices=indices, value=value, span=span):
                body.append(Store(*names.element(buffer, indices), names.expr(value), span))
            case Atomic():
                self._atomic(stmt, body)
            case Fill() | Copy():
                self._many(stmt, body)
            case If(condition=condition, then=then, other=other):
                asked = names.expr(condition)
                body.append(If(asked, self.body(then, []), self.body(other, [])))
            case For(index=index, lo=lo, hi=hi, body=inner, binding=binding):
                made = Var(index.name, I64)
                first, last = names.expr(lo), names.expr(hi)
                names.vars[index] = made
                body.append(For(made, first, last, self.body(inner, []), binding))
                self.found.is_sequential = True
            case While(prelude=prelude, condition=condition, body=inner):
                before = self.body(prelude, [])
                body.append(While(before, names.expr(condition), self.body(inner, [])))
                self.found.is_sequential = True
            case Check(condition=condition, code=code, values=values):
                where = self.site.plan.kernel.geometry
                shown = names.exprs((*values, *where.block_index, *where.thread_index))
                body.append(Check(names.expr(condition), self.site.code(code, len(values)), shown))
            case Fence():
                pass
            case Barrier() | Warp() | Free() | View() | Swap() | Call() | Print() | Launch():
                raise IRError(f"{type(stmt).__name__} in a piece of a kernel")
            case _:
                assert_never(stmt)

    def _bind(self, var: Var, made: Var, body: list[Stmt]) -> None:
        self.names.vars[var] = made
        self.site.keep(var, made, self.names, body)

    def _alloc(self, stmt: Alloc, body: list[Stmt]) -> None:
        """Storage of the thread: its part of what all threads have, or on the stack, or, where the size is
        not constant, on the heap, taken by one thread after the other or with an element for each lane."""
        buffer = stmt.buffer
        if self.site.is_kept(buffer):
            return
        made, width = self.names.layout(buffer), self.lanes.width
        count = known(stmt.size)
        if count is not None and count * buffer.dtype.bytes * width <= LOCAL_BYTES:
            body.append(Alloc(made, stmt.size, stmt.span))
            self.names.buffers[buffer] = Place(made)
            return
        self.found.is_sequential = True
        size = self.site.outside(stmt.size, f"the size of {buffer}")
        if width == 1:
            self.names.buffers[buffer] = Place(self.site.of_worker(made, size))
            return
        each = Buffer(buffer.name, buffer.dtype, shape=(size, i64(width)))
        whole = self.site.of_worker(each, multiply(size, i64(width)))
        self.names.buffers[buffer] = Place(whole, self.lanes.own)

    def _atomic(self, stmt: Atomic, body: list[Stmt]) -> None:
        names = self.names
        buffer, indices = names.element(stmt.buffer, stmt.indices)
        value = names.expr(stmt.value)
        expected = None if stmt.expected is None else names.expr(stmt.expected)
        self.found.is_sequential = True
        if stmt.buffer in self.site.indivisible:
            body.append(Atomic(stmt.operation, buffer, indices, value, span=stmt.span))
            return
        if self.lanes.width > 1:
            body.append(Atomic(stmt.operation, buffer, indices, value, span=stmt.span, is_alone=True))
            return
        beside = [(*names.element(more, stmt.indices), names.expr(put)) for more, put in stmt.beside]
        done, old = plain(stmt, buffer, indices, value, expected, beside)
        body += done
        if stmt.old is not None:
            self._bind(stmt.old, old, body)

    def _many(self, stmt: Fill | Copy, body: list[Stmt]) -> None:
        """Elements from the start of a buffer on, one by one where they do not lie side by side."""
        names = self.names
        size = names.expr(stmt.size)
        self.found.is_sequential = True
        target = names.buffers[stmt.buffer if isinstance(stmt, Fill) else stmt.target]
        source = target if isinstance(stmt, Fill) else names.buffers[stmt.source]
        if target.own is None and source.own is None:
            if isinstance(stmt, Fill):
                body.append(Fill(target.buffer, size, names.expr(stmt.value)))
            else:
                body.append(Copy(target.buffer, source.buffer, size))
            return
        index = Var("k", I64)
        to = _at(target, index, body)
        value = names.expr(stmt.value) if isinstance(stmt, Fill) else Load(*_at(source, index, body))
        body.append(For(index, ZERO, size, (Store(*to, value),)))


def _at(place: Place, index: Expr, body: list[Stmt]) -> tuple[Buffer, tuple[Expr, ...]]:
    """The element at a number counted from the start of a buffer."""
    if place.own is not None:
        return place.buffer, (index, place.own)
    run = Buffer(place.buffer.name, place.buffer.dtype, place.buffer.space)
    body.append(View(run, place.buffer, ZERO))
    return run, (index,)
