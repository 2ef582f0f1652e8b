"""The interpreter of the kernel IR: the oracle of every target, and the judge of races.

Buffers are flat NumPy arrays. An element outside its buffer, a use of freed memory, or a conflict between
two iterations of one parallel loop raises `IRError` that names the statement. Two iterations conflict where
one writes an element of a GLOBAL buffer from outside the loop and another reads or writes it; atomic
operations conflict with everything but atomic operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

import numpy as np

from anadrome.dtypes import I64
from anadrome.errors.ir import IRError
from anadrome.errors.runtime import FAILURES, OutOfMemory
from anadrome.kernel_ir.interp_routines import run_routine
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Barrier,
    Binding,
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
    Launch,
    Let,
    Load,
    Print,
    Shown,
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
from anadrome.kernel_ir.routines import ROUTINES
from anadrome.printing import Message

_ATOMICS = {"add": np.add, "min": np.minimum, "max": np.maximum}
_LARGEST = 1 << 28
"""Elements of one buffer; more is taken for memory that the machine does not have."""


@dataclass(slots=True)
class _Storage:
    """The elements of one allocation."""

    elements: Any
    space: Space
    is_freed: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a buffer is: an allocation and where in it the buffer begins."""

    storage: _Storage
    start: int = 0


@dataclass(slots=True)
class _Parallel:
    """One parallel loop being run: who touched which element of what was there before."""

    serial: int
    iteration: int = 0
    touched: dict[tuple[int, int], tuple[int, str]] = field(default_factory=dict)
    own: set[int] = field(default_factory=set)
    """Identities of the allocations made inside the current iteration."""


class _Failed(Exception):
    """A check does not hold: the class of errors.runtime that the call raises."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def run(fn: Function, args: Sequence[object], workers: int = 3) -> list[Any]:
    """The outputs of a function on arrays and scalars, in the order of its parameters.

    Array arguments of any shape are read in row-major order; array results have the shape their output
    says. A check that fails raises its class of `errors.runtime` at once.
    """
    machine = _Machine(fn, workers)
    for param, value in zip(fn.params, args, strict=True):
        if isinstance(param, Buffer):
            flat = np.array(value, dtype=param.dtype.numpy).reshape(-1)
            machine.places[param] = _Place(_Storage(flat, Space.GLOBAL))
        else:
            machine.vars[param] = param.dtype.numpy.type(value)
    try:
        with np.errstate(all="ignore"):
            machine.body(fn.body)
            return machine.outputs()
    except _Failed as failed:
        raise failed.error from None


class _Machine:
    """The state of one run."""

    def __init__(self, fn: Function, workers: int) -> None:
        self.fn = fn
        self.workers = workers
        self.vars: dict[Var, Any] = {}
        self.places: dict[Buffer, _Place] = {}
        self.parallel: list[_Parallel] = []
        self.alive: list[_Storage] = []

    def fail(self, rule: str, stmt: Stmt | Buffer) -> IRError:
        """The error that names a statement."""
        what = stmt.name if isinstance(stmt, Buffer) else type(stmt).__name__
        return IRError(rule, f"at {what} in kernel function {self.fn.name}")

    def outputs(self) -> list[Any]:
        """The results, arrays in their shapes."""
        results: list[Any] = []
        for output in self.fn.outputs:
            if not isinstance(output.value, Buffer):
                results.append(self.expr(output.value))
                continue
            shape = tuple(int(self.expr(size)) for size in output.shape)
            place = self._place(output.value)
            count = int(np.prod(shape, dtype=np.int64))
            if place.start + count > len(place.storage.elements):
                raise self.fail(f"a result of {shape} is larger than its buffer", output.value)
            results.append(place.storage.elements[place.start : place.start + count].reshape(shape).copy())
        return results

    # ------------------------------------------------------------------ memory
    def _place(self, buffer: Buffer) -> _Place:
        place = self.places.get(buffer)
        if place is None:
            raise self.fail(f"the buffer {buffer} has no storage", buffer)
        if place.storage.is_freed:
            raise self.fail(f"the buffer {buffer} is used after it was freed", buffer)
        return place

    def _at(
        self, buffer: Buffer, offset: int, count: int, stmt: Stmt | Buffer, access: str
    ) -> tuple[Any, int]:
        """The array and index of `count` elements, after looking if they exist and who else has them."""
        place = self._place(buffer)
        elements = place.storage.elements
        start = place.start + offset
        if count > 0 and (offset < 0 or start + count > len(elements)):
            size, stop = len(elements) - place.start, offset + count
            raise self.fail(f"{access} of {buffer}[{offset}:{stop}], which has {size} elements", stmt)
        if self.parallel and place.storage.space is Space.GLOBAL:
            for index in range(start, start + count):
                self._touch(place.storage, index, buffer, access)
        return elements, start

    def _touch(self, storage: _Storage, index: int, buffer: Buffer, access: str) -> None:
        for loop in self.parallel:
            if id(storage) in loop.own:
                continue
            key = (id(storage), index)
            before = loop.touched.get(key)
            if before is not None and before[0] != loop.iteration and "write" in (before[1], access):
                raise self.fail(
                    f"iterations {before[0]} and {loop.iteration} of a parallel loop both touch "
                    f"{buffer}[{index}] ({before[1]} and {access})",
                    buffer,
                )
            if before is not None and before[0] != loop.iteration and before[1] != access:
                raise self.fail(f"atomic and plain accesses of {buffer}[{index}] in a parallel loop", buffer)
            if before is None or before[1] == "read" or access == "write":
                loop.touched[key] = (loop.iteration, access)

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
                elements, at = self._at(buffer, self._offset(buffer, indices), 1, stmt, "write")
                elements[at] = self.expr(value)
            case Atomic(operation=operation, buffer=buffer, indices=indices, value=value):
                elements, at = self._at(buffer, self._offset(buffer, indices), 1, stmt, "atomic")
                elements[at] = _ATOMICS[operation](elements[at], self.expr(value))
            case If(condition=condition, then=then, other=other):
                self.body(then if self.expr(condition) else other)
            case For():
                self._for(stmt)
            case While(prelude=prelude, condition=condition, body=body):
                self.body(prelude)
                while self.expr(condition):
                    self.body(body)
                    self.body(prelude)
            case Check(condition=condition):
                if not self.expr(condition):
                    self._check_failed(stmt)
            case Barrier() | Warp() | Fence():
                raise self.fail("what threads of a block do together stands in a kernel", stmt)
            case Launch():
                raise self.fail("launches are not interpreted yet", stmt)
            case Print(code=code, values=values):
                shown = [self._shown(value, stmt) for value in values]
                Message.decoded(self.fn.messages[code]).write(shown)
            case Call():
                self._call(stmt)
            case Alloc() | Free() | View() | Swap() | Fill() | Copy():
                self._memory(stmt)
            case _:
                assert_never(stmt)

    def _memory(self, stmt: Alloc | Free | View | Swap | Fill | Copy) -> None:
        match stmt:
            case Alloc(buffer=buffer, size=size):
                self._alloc(buffer, self.integer(size))
            case Free(buffer=buffer):
                self._place(buffer).storage.is_freed = True
            case View(buffer=buffer, base=base, offset=offset):
                place = self._place(base)
                self.places[buffer] = _Place(place.storage, place.start + self.integer(offset))
            case Swap(first=first, second=second):
                self.places[first], self.places[second] = self._place(second), self._place(first)
            case Fill(buffer=buffer, size=size, value=value):
                count = max(0, self.integer(size))
                elements, at = self._at(buffer, 0, count, stmt, "write")
                elements[at : at + count] = self.expr(value)
            case Copy(target=target, source=source, size=size):
                count = max(0, self.integer(size))
                read, from_ = self._at(source, 0, count, stmt, "read")
                written, to = self._at(target, 0, count, stmt, "write")
                written[to : to + count] = read[from_ : from_ + count].copy()

    def _alloc(self, buffer: Buffer, size: int) -> None:
        if not 0 <= size <= _LARGEST:
            raise _Failed(OutOfMemory(f"{self.fn.name} needs memory for {size} elements"))
        storage = _Storage(_garbage(size, buffer), buffer.space)
        self.places[buffer] = _Place(storage)
        self.alive.append(storage)
        for loop in self.parallel:
            loop.own.add(id(storage))

    def _for(self, stmt: For) -> None:
        lo, hi = self.integer(stmt.lo), self.integer(stmt.hi)
        if stmt.binding is Binding.SEQUENTIAL:
            for index in range(lo, hi):
                self.vars[stmt.index] = np.int64(index)
                self.body(stmt.body)
            return
        loop = _Parallel(len(self.parallel))
        self.parallel.append(loop)
        for index in range(lo, hi):
            loop.iteration = index
            loop.own.clear()
            self.vars[stmt.index] = np.int64(index)
            self.body(stmt.body)
        self.parallel.pop()

    def _check_failed(self, stmt: Check) -> None:
        failure = self.fn.failures[stmt.code]
        values = [self.expr(value).item() for value in stmt.values]
        raise _Failed(FAILURES[failure.error].of(failure.message, values, failure.span))

    def _shown(self, value: Expr | Shown, stmt: Stmt) -> Any:
        if not isinstance(value, Shown):
            return self.expr(value)
        shape = [self.integer(size) for size in value.shape]
        count = int(np.prod(shape, dtype=np.int64))
        elements, at = self._at(value.buffer, 0, count, stmt, "read")
        return elements[at : at + count].reshape(shape)

    def _call(self, stmt: Call) -> None:
        row = ROUTINES[stmt.routine]
        given: list[Any] = []
        for argument, value in zip(row.arguments, stmt.args, strict=True):
            if isinstance(value, Buffer):
                place = self._place(value)
                given.append(place.storage.elements[place.start :])
            else:
                scalar = self.expr(value)
                given.append(bool(scalar) if argument.dtype is not I64 else int(scalar))
        run_routine(row, given)

    # ------------------------------------------------------------------ expressions
    def integer(self, expr: Expr) -> int:
        """The value of an i64 expression."""
        return int(self.expr(expr))

    def _offset(self, buffer: Buffer, indices: Sequence[Expr]) -> int:
        """Where an element is, counted from the first one of its buffer."""
        found = [self.integer(index) for index in indices]
        if buffer.strides:
            return sum(one * self.integer(step) for one, step in zip(found, buffer.strides, strict=True))
        total = found[0]
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
                elements, at = self._at(buffer, self._offset(buffer, indices), 1, buffer, "read")
                return elements[at]
            case Workers():
                return np.int64(self.workers)
            case _:
                assert_never(expr)


def _garbage(size: int, buffer: Buffer) -> Any:
    """Uninitialised memory that shows: NaN, or a number nobody would write."""
    if buffer.dtype.is_float:
        return np.full(size, np.nan, dtype=buffer.dtype.numpy)
    return np.full(size, 1 if buffer.dtype.bits == 1 else 85, dtype=buffer.dtype.numpy)
