"""What the interpreters of host programs and of threads share: memory, expressions, statements."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np

from anadrome.dtypes import DType
from anadrome.errors.ir import IRError
from anadrome.errors.runtime import OutOfMemory
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
    Function,
    If,
    Kernel,
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
    Workers,
)

_ATOMICS: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "min": np.fmin,
    "max": np.fmax,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "exchange": lambda old, value: value,
}
"""What each operation but "compare" makes of an element and a value."""

_LARGEST = 1 << 28
"""Elements of one buffer; more is taken for memory that the machine does not have."""

Special = Free | View | Swap | Print | Call | Launch | Barrier | Warp | Fence
"""Statements that stand either in host programs or in kernels."""


@dataclass(slots=True, eq=False)
class Storage:
    """The elements of one allocation, and which of them were written where somebody watches that."""

    elements: Any
    space: Space
    is_freed: bool = False
    written: bytearray | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a buffer is: an allocation and where in it the buffer begins."""

    storage: Storage
    start: int = 0


class Failed(Exception):
    """The program ends in an error of the user: the instance that the call raises."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


class Machine(abc.ABC):
    """The state of one run of a host program, or of one thread of a kernel."""

    workers = 1
    is_watched = False
    """Whether `watch` is told of every access."""

    def __init__(self, fn: Function | Kernel) -> None:
        self.fn = fn
        self.vars: dict[Var, Any] = {}
        self.places: dict[Buffer, Place] = {}

    @property
    def where(self) -> str:
        """The place of an error in the program."""
        return f"in kernel function {self.fn.name}"

    def fail(self, rule: str, stmt: Stmt | Buffer) -> IRError:
        """The error that names a statement."""
        what = stmt.name if isinstance(stmt, Buffer) else type(stmt).__name__
        return IRError(rule, f"at {what} {self.where}")

    @abc.abstractmethod
    def special(self, stmt: Special) -> None:
        """A statement that stands either in host programs or in kernels."""

    @abc.abstractmethod
    def watch(self, storage: Storage, start: int, count: int, buffer: Buffer, access: str) -> None:
        """Judge an access, a "read", "write" or "atomic", of `count` elements."""

    @abc.abstractmethod
    def check_failed(self, stmt: Check) -> Failed:
        """What ends the program where a check does not hold."""

    # ------------------------------------------------------------------ memory
    def place(self, buffer: Buffer) -> Place:
        """Where a buffer is now."""
        place = self.places.get(buffer)
        if place is None:
            raise self.fail(f"the buffer {buffer} has no storage", buffer)
        if place.storage.is_freed:
            raise self.fail(f"the buffer {buffer} is used after it was freed", buffer)
        return place

    def at(
        self, buffer: Buffer, offset: int, count: int, stmt: Stmt | Buffer, access: str
    ) -> tuple[Any, int]:
        """The array and index of `count` elements, after looking if they exist and who else has them."""
        place = self.place(buffer)
        elements = place.storage.elements
        start = place.start + offset
        if count > 0 and (offset < 0 or start + count > len(elements)):
            size, stop = len(elements) - place.start, offset + count
            raise self.fail(f"{access} of {buffer}[{offset}:{stop}], which has {size} elements", stmt)
        if self.is_watched:
            self.watch(place.storage, start, count, buffer, access)
        return elements, start

    def alloc(self, buffer: Buffer, size: int) -> Storage:
        """New storage for a buffer."""
        if not 0 <= size <= _LARGEST:
            raise Failed(OutOfMemory(f"{self.fn.name} needs memory for {size} elements"))
        storage = Storage(garbage(size, buffer.dtype), buffer.space)
        self.places[buffer] = Place(storage)
        return storage

    # ------------------------------------------------------------------ statements
    def body(self, body: Iterable[Stmt]) -> None:
        """Statements in order."""
        for stmt in body:
            self.statement(stmt)

    def statement(self, stmt: Stmt) -> None:
        """One statement."""
        match stmt:
            case Let(var=var, value=value):
                self.vars[var] = self.expr(value)
            case Store(buffer=buffer, indices=indices, value=value):
                stored = self.expr(value)
                elements, at = self.at(buffer, self.offset(buffer, indices), 1, stmt, "write")
                elements[at] = stored
            case Atomic():
                self._atomic(stmt)
            case If(condition=condition, then=then, other=other):
                self.body(then if self.expr(condition) else other)
            case For():
                self.loop(stmt)
            case While(prelude=prelude, condition=condition, body=body):
                self.body(prelude)
                while self.expr(condition):
                    self.body(body)
                    self.body(prelude)
            case Check(condition=condition):
                if not self.expr(condition):
                    raise self.check_failed(stmt)
            case Alloc(buffer=buffer, size=size):
                self.alloc(buffer, self.integer(size))
            case Fill(buffer=buffer, size=size, value=value):
                count = max(0, self.integer(size))
                elements, at = self.at(buffer, 0, count, stmt, "write")
                elements[at : at + count] = self.expr(value)
            case Copy(target=target, source=source, size=size):
                count = max(0, self.integer(size))
                read, from_ = self.at(source, 0, count, stmt, "read")
                written, to = self.at(target, 0, count, stmt, "write")
                written[to : to + count] = read[from_ : from_ + count].copy()
            case Free() | View() | Swap() | Print() | Call() | Launch() | Barrier() | Warp() | Fence():
                self.special(stmt)
            case _:
                assert_never(stmt)

    def loop(self, stmt: For) -> None:
        """A counted loop, one iteration after the other."""
        for index in range(self.integer(stmt.lo), self.integer(stmt.hi)):
            self.vars[stmt.index] = np.int64(index)
            self.body(stmt.body)

    def _atomic(self, stmt: Atomic) -> None:
        value = self.expr(stmt.value)
        expected = None if stmt.expected is None else self.expr(stmt.expected)
        elements, at = self.at(stmt.buffer, self.offset(stmt.buffer, stmt.indices), 1, stmt, "atomic")
        old = elements[at]
        if stmt.beside:
            self._put_beside(stmt, old, value)
        if stmt.operation != "compare":
            elements[at] = _ATOMICS[stmt.operation](old, value)
        elif old == expected:
            elements[at] = value
        if stmt.old is not None:
            self.vars[stmt.old] = old

    def _put_beside(self, stmt: Atomic, old: Any, value: Any) -> None:
        """Where the value of a min or max takes the place of the element, put what stands beside it."""
        puts = [self.expr(put) for _, put in stmt.beside]
        places = [
            self.at(buffer, self.offset(buffer, stmt.indices), 1, stmt, "atomic") for buffer, _ in stmt.beside
        ]
        (keys, at), *_ = places
        is_nearer = value < old if stmt.operation == "min" else value > old
        if is_nearer or (np.isnan(old) and not np.isnan(value)) or (value == old and puts[0] < keys[at]):
            for (elements, place), put in zip(places, puts, strict=True):
                elements[place] = put

    # ------------------------------------------------------------------ expressions
    def integer(self, expr: Expr) -> int:
        """The value of an i64 expression."""
        return int(self.expr(expr))

    def offset(self, buffer: Buffer, indices: Sequence[Expr]) -> int:
        """Where an element is, counted from the first one of its buffer."""
        return self.offset_at(buffer, [self.integer(index) for index in indices])

    def offset_at(self, buffer: Buffer, found: Sequence[int]) -> int:
        """Where the element at these indices is, counted from the first one of its buffer."""
        if buffer.strides:
            return sum(one * self.integer(step) for one, step in zip(found, buffer.strides, strict=True))
        total = found[0]
        if len(found) > 1:
            for index, size in zip(found[1:], buffer.shape[1:], strict=True):
                total = total * self.integer(size) + index
        return total

    def expr(self, expr: Expr) -> Any:
        """The value of an expression, a NumPy scalar."""
        match expr:
            case Var():
                return self.vars[expr]
            case Const(value=value, dtype=dtype):
                return dtype.numpy.type(value)
            case Compute(prim=prim, args=args):
                values = [self.expr(arg) for arg in args]
                return prim.numpy(*values)
            case Load(buffer=buffer, indices=indices):
                elements, at = self.at(buffer, self.offset(buffer, indices), 1, buffer, "read")
                return elements[at]
            case Workers():
                return np.int64(self.workers)
            case _:
                assert_never(expr)


def garbage(shape: int | Sequence[int], dtype: DType) -> Any:
    """Uninitialised memory that shows: NaN, or a number nobody would write."""
    if dtype.is_float:
        return np.full(shape, np.nan, dtype=dtype.numpy)
    return np.full(shape, 1 if dtype.bits == 1 else 85, dtype=dtype.numpy)
