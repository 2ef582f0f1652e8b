"""The interpreter of the kernel IR: the oracle of every target, and the judge of races.

Buffers are flat NumPy arrays. An element outside its buffer, a use of freed memory, or a conflict between
two iterations of one parallel loop raises `IRError` that names the statement. Two iterations conflict where
one writes an element of a GLOBAL buffer from outside the loop and another reads or writes it; atomic
operations conflict with everything but atomic operations. Launches are run by `interp_kernel`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

import numpy as np

from anadrome.dtypes import I64
from anadrome.errors.runtime import FAILURES
from anadrome.kernel_ir.interp_kernel import Schedule, launch
from anadrome.kernel_ir.interp_machine import Failed, Machine, Place, Special, Storage
from anadrome.kernel_ir.interp_routines import run_routine
from anadrome.kernel_ir.nodes import (
    Barrier,
    Binding,
    Buffer,
    Call,
    Check,
    Expr,
    Fence,
    For,
    Free,
    Function,
    Kernel,
    Launch,
    Print,
    Shown,
    Space,
    Stmt,
    Swap,
    Triple,
    View,
    Warp,
)
from anadrome.kernel_ir.routines import ROUTINES
from anadrome.printing import Message


@dataclass(slots=True)
class _Parallel:
    """One parallel loop being run: who touched which element of what was there before."""

    serial: int
    iteration: int = 0
    touched: dict[tuple[int, int], tuple[int, str]] = field(default_factory=dict)
    own: set[int] = field(default_factory=set)
    """Identities of the allocations made inside the current iteration."""


def run(
    fn: Function, args: Sequence[object], workers: int = 3, seed: int | None = None, judge: bool = True
) -> list[Any]:
    """The outputs of a function on arrays and scalars, in the order of its parameters.

    Array arguments of any shape are read in row-major order; array results have the shape their output
    says. A check that fails raises its class of `errors.runtime` at once.

    Blocks and threads of launches run in order; with a `seed`, in a random order that the seed determines,
    several blocks at a time. `judge` says whether data races, reads of memory that no thread wrote and reads
    of lanes that take no part are found: they raise the classes of `errors.kernels`.
    """
    host = _Host(fn, workers, Schedule(seed), judge)
    for param, value in zip(fn.params, args, strict=True):
        if isinstance(param, Buffer):
            flat = np.array(value, dtype=param.dtype.numpy).reshape(-1)
            host.places[param] = Place(Storage(flat, Space.GLOBAL))
        else:
            host.vars[param] = param.dtype.numpy.type(value)
    try:
        with np.errstate(all="ignore"):
            host.body(fn.body)
            return host.outputs()
    except Failed as failed:
        raise failed.error from None


def run_kernel(
    kernel: Kernel,
    grid: Triple[int],
    block: Triple[int],
    shared: int,
    args: Sequence[object],
    seed: int | None = None,
    judge: bool = True,
) -> list[Any]:
    """The arrays that one launch of a kernel was given, as they are after it; those given stay as they are.

    `args` are arrays and scalars in the order of the parameters. The rest is as for `run`.
    """
    arrays: list[Any] = []
    bound: list[Any] = []
    for param, value in zip(kernel.params, args, strict=True):
        if isinstance(param, Buffer):
            arrays.append(np.array(value, dtype=param.dtype.numpy, order="C"))
            bound.append(Place(Storage(arrays[-1].reshape(-1), Space.GLOBAL)))
        else:
            bound.append(param.dtype.numpy.type(value))
    try:
        with np.errstate(all="ignore"):
            launch(kernel, grid, block, shared, bound, Schedule(seed), judge)
    except Failed as failed:
        raise failed.error from None
    return arrays


class _Host(Machine):
    """The state of one run of a host program."""

    fn: Function

    def __init__(self, fn: Function, workers: int, schedule: Schedule, judge: bool) -> None:
        super().__init__(fn)
        self.workers = workers
        self.schedule = schedule
        self.judge = judge
        self.parallel: list[_Parallel] = []
        self.alive: list[Storage] = []

    def outputs(self) -> list[Any]:
        """The results, arrays in their shapes."""
        results: list[Any] = []
        for output in self.fn.outputs:
            if not isinstance(output.value, Buffer):
                results.append(self.expr(output.value))
                continue
            shape = tuple(int(self.expr(size)) for size in output.shape)
            place = self.place(output.value)
            count = int(np.prod(shape, dtype=np.int64))
            if place.start + count > len(place.storage.elements):
                raise self.fail(f"a result of {shape} is larger than its buffer", output.value)
            results.append(place.storage.elements[place.start : place.start + count].reshape(shape).copy())
        return results

    # ------------------------------------------------------------------ memory
    def watch(self, storage: Storage, start: int, count: int, buffer: Buffer, access: str) -> None:
        """Find conflicts between iterations of the loops around."""
        if storage.space is Space.GLOBAL:
            for index in range(start, start + count):
                self._touch(storage, index, buffer, access)

    def _touch(self, storage: Storage, index: int, buffer: Buffer, access: str) -> None:
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

    def alloc(self, buffer: Buffer, size: int) -> Storage:
        """New storage for a buffer, which belongs to the iterations around."""
        storage = super().alloc(buffer, size)
        self.alive.append(storage)
        for loop in self.parallel:
            loop.own.add(id(storage))
        return storage

    # ------------------------------------------------------------------ statements
    def special(self, stmt: Special) -> None:
        """What only host programs do."""
        match stmt:
            case Free(buffer=buffer):
                self.place(buffer).storage.is_freed = True
            case View(buffer=buffer, base=base, offset=offset):
                place = self.place(base)
                self.places[buffer] = Place(place.storage, place.start + self.integer(offset))
            case Swap(first=first, second=second):
                self.places[first], self.places[second] = self.place(second), self.place(first)
            case Print(code=code, values=values):
                shown = [self._shown(value, stmt) for value in values]
                Message.decoded(self.fn.messages[code]).write(shown)
            case Call():
                self._call(stmt)
            case Launch():
                self._launch(stmt)
            case Barrier() | Warp() | Fence():
                raise self.fail("what threads of a block do together stands in a kernel", stmt)
            case _:
                assert_never(stmt)

    def loop(self, stmt: For) -> None:
        """A counted loop; where it is parallel, conflicts of its iterations are found."""
        if stmt.binding is Binding.SEQUENTIAL:
            super().loop(stmt)
            return
        lo, hi = self.integer(stmt.lo), self.integer(stmt.hi)
        loop = _Parallel(len(self.parallel))
        self.parallel.append(loop)
        self.is_watched = True
        for index in range(lo, hi):
            loop.iteration = index
            loop.own.clear()
            self.vars[stmt.index] = np.int64(index)
            self.body(stmt.body)
        self.parallel.pop()
        self.is_watched = bool(self.parallel)

    def check_failed(self, stmt: Check) -> Failed:
        """The error of a check that does not hold."""
        failure = self.fn.failures[stmt.code]
        values = [self.expr(value).item() for value in stmt.values]
        return Failed(FAILURES[failure.error].of(failure.message, values, failure.span))

    def _launch(self, stmt: Launch) -> None:
        given = [self.place(arg) if isinstance(arg, Buffer) else self.expr(arg) for arg in stmt.args]
        gx, gy, gz = (self.integer(extent) for extent in stmt.grid)
        bx, by, bz = (self.integer(extent) for extent in stmt.block)
        shared = self.integer(stmt.shared)
        launch(stmt.kernel, (gx, gy, gz), (bx, by, bz), shared, given, self.schedule, self.judge)

    def _shown(self, value: Expr | Shown, stmt: Stmt) -> Any:
        if not isinstance(value, Shown):
            return self.expr(value)
        shape = [self.integer(size) for size in value.shape]
        count = int(np.prod(shape, dtype=np.int64))
        elements, at = self.at(value.buffer, 0, count, stmt, "read")
        return elements[at : at + count].reshape(shape)

    def _call(self, stmt: Call) -> None:
        row = ROUTINES[stmt.routine]
        given: list[Any] = []
        for argument, value in zip(row.arguments, stmt.args, strict=True):
            if isinstance(value, Buffer):
                place = self.place(value)
                given.append(place.storage.elements[place.start :])
            else:
                scalar = self.expr(value)
                given.append(bool(scalar) if argument.dtype is not I64 else int(scalar))
        run_routine(row, given)
