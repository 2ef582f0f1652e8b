"""Forward mode of kernels: a tangent beside each value, a tangent buffer beside each buffer.

    let v = f(a, …)        v_tan = Σ ∂f/∂a · a_tan
    let v = x[i]           v_tan = x_tan[i]
    x[i] = v               x_tan[i] = v_tan
    atomic add x[i] = v    atomic add x_tan[i] = v_tan
    atomic max x[i] = v    atomic max x[i] = v with x_tan[i] = v_tan (`winners`)
    r = shuffle v          r_tan = shuffle v_tan

Branches, loops and barriers are those of the kernel.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import starmap

from anadrome.ad.kernels.activity import Activity
from anadrome.ad.kernels.emitter import Atom, Emitter, atom_of, atoms_of, is_number, zero
from anadrome.ad.partials import chain_product, partials_of
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Buffer,
    Compute,
    Expr,
    For,
    If,
    Let,
    Load,
    Stmt,
    Store,
    Var,
    Warp,
    While,
)
from anadrome.kernel_ir.walk import bodies, with_bodies
from anadrome.prims.node import replace
from anadrome.prims.record import Prim


@dataclass(slots=True)
class Forward:
    """One forward sweep being written: the tangents of variables and buffers of the kernel."""

    active: Activity
    emitter: Emitter
    shadows: dict[Buffer, Buffer]
    tangents: dict[Var, Atom] = field(default_factory=dict)

    def tangent(self, expr: Expr) -> Atom | None:
        """The tangent of an operand; None where it is zero."""
        return self.tangents.get(expr) if isinstance(expr, Var) else None

    def tangent_or_zero(self, expr: Expr) -> Atom:
        """The tangent of an operand, as a number."""
        atom = atom_of(expr)
        return self.tangent(atom) or zero(atom.dtype)

    def body(self, body: Iterable[Stmt]) -> None:
        """Statements in order."""
        for stmt in body:
            self.emitter.span = getattr(stmt, "span", None)
            self.statement(stmt)

    def inner(self, body: Iterable[Stmt]) -> tuple[Stmt, ...]:
        """Statements in a scope of their own."""
        with self.emitter.open() as block:
            self.body(body)
        return tuple(block.stmts)

    def statement(self, stmt: Stmt) -> None:
        """A statement and that of its tangents."""
        emitter = self.emitter
        match stmt:
            case If() | For() | While():
                emitter.emit(with_bodies(stmt, [self.inner(body) for body in bodies(stmt)]))
            case Let(var=var, value=value):
                emitter.emit(stmt)
                if var in self.active:
                    self._let(var, value)
            case Atomic(operation="min" | "max", buffer=buffer, beside=beside) if beside:
                pairs = ((buffer, stmt.value), *beside)
                tangents = tuple(
                    (self.shadows[one], self.tangent_or_zero(value))
                    for one, value in pairs
                    if one in self.shadows
                )
                emitter.emit(replace(stmt, beside=(*beside, *tangents)))
            case _:
                emitter.emit(stmt)
                self._effect(stmt)

    def _effect(self, stmt: Stmt) -> None:
        """What a statement without blocks does to tangents."""
        emitter = self.emitter
        match stmt:
            case Alloc(buffer=buffer, size=size) if buffer in self.active:
                shadow = self.shadows[buffer] = replace(buffer, name=f"{buffer.name}_tan")
                emitter.emit(Alloc(shadow, size))
            case Store(buffer=buffer, indices=indices, value=value) if buffer in self.shadows:
                emitter.store(self.shadows[buffer], atoms_of(indices), self.tangent_or_zero(value))
            case Atomic(operation="add", buffer=buffer, value=value) if buffer in self.shadows:
                tangent = self.tangent(value)
                if tangent is not None:
                    emitter.emit(Atomic("add", self.shadows[buffer], stmt.indices, tangent, span=stmt.span))
            case Warp(value=value, result=result) if result in self.active and value is not None:
                assert result is not None
                tangent = Var(f"{result.name}_tan", result.dtype)
                emitter.emit(replace(stmt, value=self.tangent_or_zero(value), result=tangent))
                self.tangents[result] = tangent
            case _:
                pass

    def _let(self, var: Var, value: Expr) -> None:
        match value:
            case Load(buffer=buffer, indices=indices) if buffer in self.shadows:
                self.tangents[var] = self.emitter.load(self.shadows[buffer], atoms_of(indices))
            case Compute(prim=prim, args=(arg,)) if prim.converts_to is not None:
                tangent = self.tangent(arg)
                if tangent is not None:
                    self.tangents[var] = self.emitter.apply(f"to_{var.dtype.name}", tangent)
            case Compute():
                self._chain(var, value)
            case _:
                pass

    def _chain(self, var: Var, value: Compute) -> None:
        """Σ ∂f/∂a · a_tan"""
        prim, args, emitter = value.prim, atoms_of(value.args), self.emitter
        tangents = [self.tangent(arg) for arg in args]
        if all(tangent is None for tangent in tangents):
            return
        if prim.name == "select":
            parts = self.tangent_or_zero(args[1]), self.tangent_or_zero(args[2])
            self.tangents[var] = emitter.select(args[0], *parts)
            return
        is_varied = [tangent is not None for tangent in tangents]
        partials = partials_of(emitter, prim, args, var, is_varied, emitter.span)
        pairs = [
            (tangent, partial)
            for tangent, partial in zip(tangents, partials, strict=True)
            if tangent is not None and partial is not None
        ]
        if pairs:
            terms = starmap(functools.partial(product, emitter, prim), pairs)
            self.tangents[var] = emitter.chain("add", terms)


def product(emitter: Emitter, prim: Prim, change: Atom, partial: Atom, is_masked: bool = False) -> Atom:
    """A chain product, which for a partial of -1 is a sign alone."""
    if is_number(partial, -1.0):
        return emitter.neg(change)
    return chain_product(emitter, prim, change, partial, is_masked)
