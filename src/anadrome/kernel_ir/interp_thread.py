"""One thread of a block: a machine that stops where it waits for others, and what it may not touch."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, assert_never

import numpy as np

from anadrome.errors.kernels import DataRace, UninitialisedRead
from anadrome.errors.runtime import FAILURES, in_thread
from anadrome.kernel_ir.interp_machine import Failed, Machine, Place, Special, Storage
from anadrome.kernel_ir.interp_races import VERBS, Judge, Stand
from anadrome.kernel_ir.interp_warps import ALL_LANES, Brought
from anadrome.kernel_ir.nodes import (
    Atomic,
    Barrier,
    Buffer,
    Call,
    Check,
    Fence,
    For,
    Free,
    If,
    Kernel,
    Launch,
    Load,
    Print,
    Space,
    Stmt,
    Swap,
    Var,
    View,
    Warp,
    While,
)
from anadrome.kernel_ir.walk import bodies, buffers, expressions, subexpressions


def stepped(body: Iterable[Stmt], is_random: bool) -> Iterator[Stmt]:
    """The statements at or in which a thread may stop; in a random order also those that touch memory which
    others see."""
    for stmt in body:
        inside = [inner for part in bodies(stmt) for inner in stepped(part, is_random)]
        yield from inside
        if inside or isinstance(stmt, Barrier | Warp) or (is_random and _is_seen(stmt)):
            yield stmt


def _is_seen(stmt: Stmt) -> bool:
    """Whether a statement itself touches memory that other threads see."""
    touched = [*buffers(stmt)]
    for expr in expressions(stmt):
        touched += [part.buffer for part in subexpressions(expr) if isinstance(part, Load)]
    return any(buffer.space is not Space.LOCAL for buffer in touched)


class Thread(Machine):
    """One thread of a block."""

    fn: Kernel

    def __init__(
        self,
        kernel: Kernel,
        stepped: frozenset[Stmt],
        judge: Judge | None,
        stand: Stand,
        names: tuple[dict[Var, Any], dict[Buffer, Place], dict[Buffer, Place]],
    ) -> None:
        """`names` has its scalars, its buffers, and the shared buffers of the block, which it adds to."""
        super().__init__(kernel)
        self.judge = judge
        self.stand = stand
        self.is_watched = judge is not None
        self.vars, self.places, self._shared = names
        self.waits: Barrier | Warp | None = None
        self.is_finished = False
        self.path: list[int] = []
        """Where it is in the program: a number for each body and each iteration around, compared in order."""
        self.brought: Any = None
        self.run = self._steps(kernel.body)
        self._stepped = stepped
        self._now: Stmt | None = None
        self._found: Sequence[int] = ()

    @property
    def where(self) -> str:
        """The place of an error in the program."""
        return f"in kernel {self.fn.name}, block {self.stand.block}, thread {self.stand.thread}"

    def check_failed(self, stmt: Check) -> Failed:
        """The error of a check that does not hold."""
        failure = self.fn.failures[stmt.code]
        values = [self.expr(value).item() for value in stmt.values]
        words = in_thread(failure.message, len(values))
        values += [*self.stand.block, *self.stand.thread]
        return Failed(FAILURES[failure.error].of(words, values, failure.span))

    # ------------------------------------------------------------------ statements
    def statement(self, stmt: Stmt) -> None:
        """One statement in which nobody waits."""
        self._now = stmt
        super().statement(stmt)

    def special(self, stmt: Special) -> None:
        """What only kernels do; barriers and warp operations are in `_steps`."""
        match stmt:
            case Fence():
                pass
            case Free() | View() | Swap() | Print() | Call() | Launch() | Barrier() | Warp():
                raise self.fail("what a host program does stands in a kernel", stmt)
            case _:
                assert_never(stmt)

    def _steps(self, body: Iterable[Stmt]) -> Iterator[Barrier | Warp | None]:
        """Run a body; stop at each statement at which the thread waits, and (None) where others may run."""
        for at, stmt in enumerate(body):
            if stmt not in self._stepped:
                self.statement(stmt)
                continue
            self._now = stmt
            self.path.append(at)
            match stmt:
                case If(condition=condition, then=then, other=other):
                    holds = bool(self.expr(condition))
                    yield from self._inside(then if holds else other, int(not holds))
                case For(index=index, lo=lo, hi=hi, body=inner):
                    for count, value in enumerate(range(self.integer(lo), self.integer(hi))):
                        self.vars[index] = np.int64(value)
                        yield from self._inside(inner, count)
                case While(prelude=prelude, condition=condition, body=inner):
                    for count in itertools.count(0, 2):
                        yield from self._inside(prelude, count)
                        if not self.expr(condition):
                            break
                        yield from self._inside(inner, count + 1)
                case Barrier(predicate=predicate):
                    self.brought = predicate is not None and bool(self.expr(predicate))
                    yield stmt
                case Warp():
                    self.brought = self._bring(stmt)
                    yield stmt
                case _:
                    yield None
                    self.statement(stmt)
            self.path.pop()

    def _inside(self, body: Iterable[Stmt], number: int) -> Iterator[Barrier | Warp | None]:
        self.path.append(number)
        yield from self._steps(body)
        self.path.pop()

    def _bring(self, stmt: Warp) -> Brought:
        value = None if stmt.value is None else self.expr(stmt.value)
        lane = 0 if stmt.lane is None else self.integer(stmt.lane)
        return Brought(self.integer(stmt.mask) & ALL_LANES, value, lane)

    # ------------------------------------------------------------------ memory
    def alloc(self, buffer: Buffer, size: int) -> Storage:
        """The block's storage of a shared buffer, or storage of the thread."""
        if buffer.space is Space.SHARED and buffer in self._shared:
            place = self.places[buffer] = self._shared[buffer]
            if len(place.storage.elements) != size:
                raise self.fail(f"threads of one block have another size of the shared {buffer}", buffer)
            return place.storage
        storage = super().alloc(buffer, size)
        if self.is_watched:
            storage.written = bytearray(size)
        if buffer.space is Space.SHARED:
            self._shared[buffer] = self.places[buffer]
        return storage

    def offset_at(self, buffer: Buffer, found: Sequence[int]) -> int:
        """Where an element is; each index is looked at where somebody judges."""
        if self.is_watched:
            self._found = found
            for index, size in zip(found, buffer.shape, strict=False):
                if not 0 <= index < self.integer(size):
                    raise self.fail(f"an access of {buffer}{list(found)}, outside of a dimension", buffer)
        return super().offset_at(buffer, found)

    def watch(self, storage: Storage, start: int, count: int, buffer: Buffer, access: str) -> None:
        """Find reads of what nothing has written, and data races."""
        assert self.judge is not None
        span = getattr(self._now, "span", None)
        if storage.space is not Space.LOCAL:
            for index in range(start, start + count):
                race = self.judge.touch(storage, index, self.stand, access, span)
                if race is not None:
                    raise Failed(DataRace(self.fn.name, self._element(buffer, index, count), *race))
        if storage.written is not None:
            self._initialised(storage, start, count, buffer, access)

    def _initialised(self, storage: Storage, start: int, count: int, buffer: Buffer, access: str) -> None:
        assert storage.written is not None
        now = self._now
        is_put = isinstance(now, Atomic) and now.operation == "exchange" and now.old is None
        if access == "read" or (access == "atomic" and not is_put):
            at = storage.written.find(0, start, start + count)
            if at >= 0:
                read = self.stand.access(VERBS[access], getattr(now, "span", None))
                element = self._element(buffer, at, count)
                raise Failed(UninitialisedRead(self.fn.name, element, storage.space.value, read))
        if access != "read":
            storage.written[start : start + count] = b"\1" * count

    def _element(self, buffer: Buffer, index: int, count: int) -> str:
        found = self._found if count == 1 else (index - self.places[buffer].start,)
        return f"{buffer.name}[{', '.join(map(str, found))}]"
