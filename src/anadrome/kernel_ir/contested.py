"""Writes that are races as soon as a launch has several threads: every thread of a block writes one element.

A write is one where its indices, and the conditions of the branches and the bounds of the loops around it,
are the same for all threads of a block. Whether a block has several threads the launch says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from anadrome.kernel_ir.nodes import (
    Alloc,
    Barrier,
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
    Store,
    Var,
)
from anadrome.kernel_ir.walk import changes, expressions, statements, subexpressions


@dataclass(frozen=True, slots=True)
class Contested:
    """A write of every thread of a block; `by_grid`: of every thread of the grid, to one element."""

    store: Store
    by_grid: bool


def contested_writes(kernel: Kernel) -> Iterator[Contested]:
    """The writes of a kernel that several threads make to one element."""
    yield from _Walk(kernel).found(kernel.body)


def unwritten_reads(kernel: Kernel) -> Iterator[tuple[Stmt, Buffer]]:
    """The statements that read shared memory which the kernel does not write anywhere."""
    shared = {
        stmt.buffer for stmt in kernel.body if isinstance(stmt, Alloc) and stmt.buffer.space is Space.SHARED
    }
    written = {buffer for stmt in statements(kernel.body) for buffer in changes(stmt)}
    for stmt in statements(kernel.body):
        parts = (part for expr in expressions(stmt) for part in subexpressions(expr))
        for part in parts:
            if isinstance(part, Load) and part.buffer in shared - written:
                yield stmt, part.buffer


@dataclass(slots=True)
class _Walk:
    """The variables that are the same in all threads of a block, and of the grid."""

    kernel: Kernel
    in_block: set[Var] = field(default_factory=set)
    in_grid: set[Var] = field(default_factory=set)
    written: set[Buffer] = field(default_factory=set)

    def __post_init__(self) -> None:
        where = self.kernel.geometry
        params = {param for param in self.kernel.params if isinstance(param, Var)}
        self.in_grid = {*params, *where.grid, *where.block, where.shared}
        self.in_block = {*self.in_grid, *where.block_index}
        self.written = {buffer for stmt in statements(self.kernel.body) for buffer in changes(stmt)}

    def found(self, body: Iterable[Stmt], by_grid: bool = True) -> Iterator[Contested]:
        """The contested writes of statements that all threads of a block run; `by_grid`: of the grid."""
        for stmt in body:
            match stmt:
                case Let(var=var, value=value):
                    self.bind(var, (value,))
                case Barrier(result=Var() as result):
                    self.in_block.add(result)
                case Store(buffer=buffer, indices=indices) if buffer.space is not Space.LOCAL:
                    if self.are_same(indices, self.in_block):
                        is_global = buffer.space is Space.GLOBAL
                        yield Contested(stmt, by_grid and is_global and self.are_same(indices, self.in_grid))
                case If(condition=condition, then=then, other=other):
                    if self.are_same((condition,), self.in_block):
                        inside = by_grid and self.are_same((condition,), self.in_grid)
                        yield from self.found(then, inside)
                        yield from self.found(other, inside)
                case For(index=index, lo=lo, hi=hi, body=inner):
                    if self.are_same((lo, hi), self.in_block):
                        self.bind(index, (lo, hi))
                        yield from self.found(inner, by_grid and index in self.in_grid)
                case _:
                    pass

    def bind(self, var: Var, sources: tuple[Expr, ...]) -> None:
        """A variable follows from these expressions."""
        for same in (self.in_block, self.in_grid):
            if self.are_same(sources, same):
                same.add(var)

    def are_same(self, exprs: Iterable[Expr], same: set[Var]) -> bool:
        """Whether expressions have one value in all threads, of the block or of the grid."""
        return all(self.is_same(expr, same) for expr in exprs)

    def is_same(self, expr: Expr, same: set[Var]) -> bool:
        """Whether an expression has."""
        match expr:
            case Const():
                return True
            case Var():
                return expr in same
            case Compute(args=args):
                return self.are_same(args, same)
            case Load(buffer=buffer, indices=indices):
                is_given = buffer.space is Space.GLOBAL and buffer not in self.written
                return is_given and self.are_same(indices, same)
            case _:
                return False
