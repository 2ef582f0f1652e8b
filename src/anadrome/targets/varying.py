"""What differs between the lanes of a vector, and what is the same in all of them.

A number is *varying* if it is computed from the lane's number, or from what a lane alone has read or
written. An array of the lane's own is varying once a lane may have written to it alone: a varying value, at a
varying place, or where other lanes do not go. Everything else is *uniform*: it is computed once, and a
condition of it stays a branch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from anadrome.errors.ir import IRError
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Barrier,
    Buffer,
    Call,
    Check,
    Compute,
    Const,
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
    Stmt,
    Store,
    Swap,
    Var,
    View,
    Warp,
    While,
    Workers,
)
from anadrome.kernel_ir.walk import offset_of


@dataclass(slots=True)
class Varying:
    """The numbers that vary, and the arrays of lanes whose elements do."""

    numbers: set[Var] = field(default_factory=set)
    arrays: set[Buffer] = field(default_factory=set)
    bases: dict[Buffer, Buffer] = field(default_factory=dict)
    """view -> the buffer it looks into"""
    own: set[Buffer] = field(default_factory=set)
    """Arrays that each lane has for itself."""
    moved: set[Buffer] = field(default_factory=set)
    """Views that begin elsewhere in each lane."""

    def root(self, buffer: Buffer) -> Buffer:
        """The buffer that a view looks into in the end."""
        while buffer in self.bases:
            buffer = self.bases[buffer]
        return buffer

    def is_varying(self, expr: Expr) -> bool:
        """Whether an expression has another value in each lane."""
        match expr:
            case Var():
                return expr in self.numbers
            case Const() | Workers():
                return False
            case Compute(args=args):
                return any(map(self.is_varying, args))
            case Load(buffer=buffer, indices=indices):
                is_own = self.root(buffer) in self.arrays
                return is_own or buffer in self.moved or self.is_varying(offset_of(buffer, indices))
            case _:
                assert_never(expr)


def varying_in(loop: For) -> Varying:
    """What varies in the body of a loop that runs in lanes."""
    found = Varying()
    found.numbers.add(loop.index)
    size = -1
    while size != (size := len(found.numbers) + len(found.arrays) + len(found.moved)):
        _body(found, loop.body, is_alone=False)
    return found


def _body(found: Varying, body: Iterable[Stmt], *, is_alone: bool) -> None:
    """Take statements into account; `is_alone`: not all lanes that are here need to go on."""
    for stmt in body:
        _statement(found, stmt, is_alone)


def _statement(found: Varying, stmt: Stmt, is_alone: bool) -> None:
    match stmt:
        case Let(var=var, value=value):
            if found.is_varying(value):
                found.numbers.add(var)
        case Alloc(buffer=buffer):
            found.own.add(buffer)
        case View(buffer=buffer, base=base, offset=offset):
            found.bases[buffer] = base
            if base in found.moved or found.is_varying(offset):
                found.moved.add(buffer)
        case Store(buffer=buffer, indices=indices, value=value):
            _written(found, buffer, is_alone or any(map(found.is_varying, (*indices, value))))
        case Atomic(buffer=buffer, old=old):
            _written(found, buffer, True)
            if old is not None:
                found.numbers.add(old)
        case Fill(buffer=buffer, size=size, value=value):
            _written(found, buffer, is_alone or any(map(found.is_varying, (size, value))))
        case Copy(target=target, source=source, size=size):
            is_own = source in found.moved or found.root(source) in found.arrays
            _written(found, target, is_alone or is_own or found.is_varying(size))
        case If(condition=condition, then=then, other=other):
            parts = is_alone or found.is_varying(condition)
            _body(found, then, is_alone=parts)
            _body(found, other, is_alone=parts)
        case For(index=index, lo=lo, hi=hi, body=body):
            if found.is_varying(lo):
                found.numbers.add(index)
            parts = is_alone or found.is_varying(lo) or found.is_varying(hi)
            _body(found, body, is_alone=parts)
        case While(prelude=prelude, condition=condition, body=body):
            parts = is_alone or found.is_varying(condition)
            _body(found, prelude, is_alone=parts)
            _body(found, body, is_alone=parts)
        case Check():
            pass
        case Free() | Swap() | Print() | Call() | Barrier() | Warp() | Fence() | Launch():
            raise IRError(f"{type(stmt).__name__} in lanes")
        case _:
            assert_never(stmt)


def _written(found: Varying, buffer: Buffer, varies: bool) -> None:
    root = found.root(buffer)
    if root in found.own and (varies or buffer in found.moved):
        found.arrays.add(root)
