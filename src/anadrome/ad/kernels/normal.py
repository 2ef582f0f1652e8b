"""Kernels in normal form: what derivatives are taken of.

    y[add(i, 1)] = mul(x[i], 2.0)      becomes      let v: f64 = x[i]
                                                    let w: f64 = mul(v, 2.0)
                                                    let j: i64 = add(i, 1)
                                                    y[j] = w

* Each operation and each load is bound to a variable; all other operands are variables and constants.
* The same pure operation is done once in a scope, and the same element loaded once until something may have
  written it; what the thread itself has stored need not be loaded.
* Directions in which a launch has one thread alone are constants.
* What a launch has checked before holds, and is not checked again: the program ends there if it fails.
* A `While` counts its iterations, so that a sweep can go back over them; its prelude only computes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from anadrome.ad.kernels.emitter import Atom, Emitter, key_of, number
from anadrome.dtypes import BOOL, I64
from anadrome.errors.ir import IRError
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Barrier,
    Buffer,
    Check,
    Compute,
    Const,
    Copy,
    Expr,
    Fence,
    Fill,
    For,
    Geometry,
    If,
    Kernel,
    Let,
    Load,
    Space,
    Stmt,
    Store,
    Triple,
    Var,
    Warp,
    While,
    i64,
)
from anadrome.kernel_ir.walk import bound, changes, free_names, statements

_Element = tuple[Buffer, tuple[object, ...]]
"""A buffer and the keys of its indices."""
TRUE = number(True, BOOL)


@dataclass(frozen=True, slots=True, eq=False)
class Normal:
    """A kernel in normal form; for each `While` the variable, bound after it, of how often it ran; what is 0
    of the indices of its geometry."""

    kernel: Kernel
    trips: Mapping[While, Var]
    alone: frozenset[Var] = frozenset()


def normal(kernel: Kernel, ones: frozenset[Var] = frozenset(), *, is_checked: bool = False) -> Normal:
    """The kernel in normal form, with names of its own. `ones` are extents of its geometry that are 1. Where
    it `is_checked`, a launch has found before that its checks hold."""
    return _Normaliser(kernel, ones, is_checked).run()


@dataclass
class Copier:
    """A copy of statements under new names."""

    emitter: Emitter = field(default_factory=Emitter)
    names: dict[Var, Atom] = field(default_factory=dict)
    buffers: dict[Buffer, Buffer] = field(default_factory=dict)

    def fresh(self, var: Var) -> Var:
        """A new variable in the place of one."""
        new = Var(var.name, var.dtype)
        self.names[var] = new
        return new

    def fresh_or_none(self, var: Var | None) -> Var | None:
        """A new variable in the place of a result, if there is one."""
        return None if var is None else self.fresh(var)

    def buffer(self, buffer: Buffer) -> Buffer:
        """A new buffer in the place of one, of the same dimensions."""
        shape = tuple(self.atom(size) for size in buffer.shape)
        strides = tuple(self.atom(step) for step in buffer.strides)
        new = self.buffers[buffer] = Buffer(buffer.name, buffer.dtype, buffer.space, shape, strides)
        return new

    def atoms(self, exprs: Iterable[Expr]) -> tuple[Atom, ...]:
        """The values of expressions."""
        return tuple(self.atom(expr) for expr in exprs)

    def load(self, buffer: Buffer, indices: tuple[Atom, ...], name: str) -> Atom:
        """The value of an element."""
        return self.emitter.load(buffer, indices, name)

    def atom(self, expr: Expr, name: str = "") -> Atom:
        """The value of an expression, a variable or constant."""
        match expr:
            case Var():
                return self.names[expr]
            case Const():
                return expr
            case Compute(prim=prim, args=args, is_reassociable=is_reassociable):
                return self.emitter.compute(prim, self.atoms(args), name, is_reassociable)
            case Load(buffer=buffer, indices=indices):
                return self.load(self.buffers[buffer], self.atoms(indices), name)
            case _:
                raise IRError(f"{type(expr).__name__} in a kernel")


def fresh_geometry(copier: Copier, geometry: Geometry) -> Geometry:
    """New variables for those of a geometry."""

    def triple(variables: Triple[Var]) -> Triple[Var]:
        x, y, z = variables
        return copier.fresh(x), copier.fresh(y), copier.fresh(z)

    return Geometry(
        triple(geometry.grid),
        triple(geometry.block),
        triple(geometry.block_index),
        triple(geometry.thread_index),
        copier.fresh(geometry.shared),
    )


def copied_params(copier: Copier, params: Iterable[Var | Buffer]) -> tuple[Var | Buffer, ...]:
    """New parameters for those of a kernel."""
    return tuple(copier.fresh(param) if isinstance(param, Var) else copier.buffer(param) for param in params)


class _Normaliser(Copier):
    """The walk over one kernel."""

    def __init__(self, kernel: Kernel, ones: frozenset[Var], is_checked: bool) -> None:
        super().__init__()
        self.kernel = kernel
        self.ones = ones
        self.is_checked = is_checked
        self.trips: dict[While, Var] = {}
        self.elements: dict[_Element, Atom] = {}
        self.held: frozenset[Atom] = frozenset()

    def run(self) -> Normal:
        """The whole kernel."""
        old = self.kernel
        geometry = fresh_geometry(self, old.geometry)
        indices = (*old.geometry.block_index, *old.geometry.thread_index)
        alone: set[Var] = set()
        new = (*geometry.block_index, *geometry.thread_index)
        extents = (*old.geometry.grid, *old.geometry.block)
        for extent, index, zero in zip(extents, indices, new, strict=True):
            if extent in self.ones:
                alone.add(zero)
                self.names[extent], self.names[index] = i64(1), i64(0)
        params = copied_params(self, old.params)
        self.body(old.body)
        failures = () if self.is_checked else old.failures
        kernel = Kernel(old.name, params, geometry, self.emitter.stmts, failures)
        return Normal(kernel, self.trips, frozenset(alone))

    def body(self, body: Iterable[Stmt]) -> None:
        """Statements in order."""
        for stmt in body:
            self.statement(stmt)

    def inner(self, body: Iterable[Stmt]) -> tuple[Stmt, ...]:
        """Statements in a scope of their own."""
        before, held = dict(self.elements), self.held
        with self.emitter.open() as block:
            self.body(body)
        self.elements, self.held = before, held
        return tuple(block.stmts)

    def atom(self, expr: Expr, name: str = "") -> Atom:
        """The value of an expression; a condition that was checked holds."""
        found = super().atom(expr, name)
        return TRUE if found in self.held else found

    # ------------------------------------------------------------------ what elements are known to be
    def forget(self, *buffers: Buffer) -> None:
        """The elements of these buffers are not known any more."""
        self.elements = {key: value for key, value in self.elements.items() if key[0] not in buffers}

    def forget_written(self, stmt: Stmt) -> None:
        """What a statement with others inside may write is not known any more."""
        for inner in statements((stmt,)):
            self.forget(*(self.buffers[one] for one in changes(inner) if one in self.buffers))
            if isinstance(inner, Barrier | Warp | Fence):
                self.forget_shared()

    def forget_shared(self) -> None:
        """Other threads may have written what they see."""
        self.elements = {key: value for key, value in self.elements.items() if key[0].space is Space.LOCAL}

    def load(self, buffer: Buffer, indices: tuple[Atom, ...], name: str) -> Atom:
        """The value of an element, which may be known."""
        key = (buffer, tuple(map(key_of, indices)))
        if key not in self.elements:
            self.elements[key] = self.emitter.load(buffer, indices, name)
        return self.elements[key]

    def statement(self, stmt: Stmt) -> None:
        """One statement."""
        emitter = self.emitter
        match stmt:
            case Let(var=var, value=value, span=span):
                emitter.span = span
                self.names[var] = self.atom(value, var.name)
            case Alloc(buffer=buffer, size=size, span=span):
                count = self.atom(size)
                emitter.emit(Alloc(self.buffer(buffer), count, span))
            case Store(buffer=buffer, indices=indices, value=value, span=span):
                emitter.span = span
                self.store(self.buffers[buffer], self.atoms(indices), self.atom(value))
            case Atomic():
                self.atomic(stmt)
            case If(condition=condition, then=then, other=other):
                test = self.atom(condition)
                emitter.emit(If(test, self.inner(then), self.inner(other)))
                self.forget_written(stmt)
            case For(index=index, lo=lo, hi=hi, body=body, binding=binding):
                first, end = self.atom(lo), self.atom(hi)
                new = self.fresh(index)
                self.forget_written(stmt)
                emitter.emit(For(new, first, end, self.inner(body), binding))
            case While():
                self.loop(stmt)
            case Check(condition=condition) if self.is_checked:
                self.held |= {self.atom(condition)}
            case Check(condition=condition, code=code, values=values):
                emitter.emit(Check(self.atom(condition), code, self.atoms(values)))
            case Barrier(operation=operation, predicate=predicate, result=result, span=span):
                asked = None if predicate is None else self.atom(predicate)
                self.forget_shared()
                emitter.emit(Barrier(operation, asked, self.fresh_or_none(result), span))
            case Warp():
                self.warp(stmt)
            case Fill(buffer=buffer, size=size, value=value):
                target = self.buffers[buffer]
                self.emitter.fill(target, self.atom(size), self.atom(value))
                self.forget(target)
            case Copy(target=buffer, source=source, size=size):
                self.copy(self.buffers[buffer], self.buffers[source], self.atom(size))
            case Fence():
                self.forget_shared()
                emitter.emit(stmt)
            case _:
                raise IRError(f"{type(stmt).__name__} in a kernel that is differentiated")

    def store(self, buffer: Buffer, indices: tuple[Atom, ...], value: Atom) -> None:
        """Put a value into an element, which is known from then on."""
        self.forget(buffer)
        self.elements[buffer, tuple(map(key_of, indices))] = value
        self.emitter.store(buffer, indices, value)

    def copy(self, target: Buffer, source: Buffer, size: Atom) -> None:
        """Copy elements between buffers of the same dimensions."""
        if target.rank != source.rank:
            raise IRError("a copy between buffers of other dimensions")
        self.emitter.each(target, size, lambda at: self.emitter.load(source, at))
        self.forget(target)

    def atomic(self, stmt: Atomic) -> None:
        """An atomic operation; a difference is a sum."""
        emitter = self.emitter
        emitter.span = stmt.span
        buffer, indices = self.buffers[stmt.buffer], self.atoms(stmt.indices)
        value = self.atom(stmt.value)
        expected = None if stmt.expected is None else self.atom(stmt.expected)
        operation = stmt.operation
        if operation == "sub" and value.dtype.is_float:
            operation, value = "add", emitter.neg(value)
        old = self.fresh_or_none(stmt.old)
        beside = tuple((self.buffers[more], self.atom(put)) for more, put in stmt.beside)
        self.forget(buffer, *(more for more, _ in beside))
        emitter.emit(Atomic(operation, buffer, indices, value, old, expected, stmt.span, beside))

    def warp(self, stmt: Warp) -> None:
        """An operation of a warp."""
        value: Atom | None = None if stmt.value is None else self.atom(stmt.value)
        lane: Atom | None = None if stmt.lane is None else self.atom(stmt.lane)
        mask = self.atom(stmt.mask)
        result = self.fresh_or_none(stmt.result)
        self.forget_shared()
        self.emitter.emit(Warp(stmt.operation, mask, value, lane, result, stmt.span))

    def loop(self, stmt: While) -> None:
        """A loop that counts how often it runs. What its body reads of its prelude it computes again; a
        prelude that does more than compute stands in the body, which goes on while the condition held."""
        emitter = self.emitter
        computes = all(
            isinstance(inner, Let | Alloc | Store | If | For | Check) for inner in statements(stmt.prelude)
        )
        count = emitter.cell("count", I64, i64(0))
        goes_on = None if computes else emitter.cell("goes_on", BOOL, TRUE)
        self.forget_written(stmt)
        before, held = self.elements, self.held
        with emitter.open() as prelude:
            self.elements = dict(before)
            if goes_on is None:
                self.body(stmt.prelude)
                test = self.atom(stmt.condition)
            else:
                test = emitter.cell_value(goes_on)
        bound_before = {bound(inner) for inner in statements(stmt.prelude)}
        with emitter.open() as body:
            self.elements, self.held = dict(before), held
            if goes_on is not None:
                self.body(stmt.prelude)
                holds = self.atom(stmt.condition)
                then = self.inner(stmt.body)
                emitter.store(goes_on, (i64(0),), holds)
                emitter.emit(If(holds, then, ()))
            else:
                if not bound_before.isdisjoint(free_names(stmt.body).vars):
                    self.body(stmt.prelude)
                self.body(stmt.body)
            emitter.store(count, (i64(0),), emitter.add(emitter.cell_value(count), i64(1)))
        loop = While(tuple(prelude.stmts), test, tuple(body.stmts))
        emitter.emit(loop)
        self.elements, self.held = before, held
        self.trips[loop] = emitter.cell_value(count)
