"""The interpreter of launches: blocks of threads in lock step, and the judge of what they do together.

A thread stops where it waits for others, at barriers and warp operations, and in a random order also before
each statement that touches memory which others see. Threads meet at one barrier, or in one warp operation,
where they are at the same place of the program: the same statement in the same iterations of the loops
around. Of the lanes of a warp that wait, those that are least far go on first.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anadrome.errors.ir import IRError
from anadrome.errors.kernels import InactiveLane, Index, UninitialisedRead, divergence
from anadrome.kernel_ir.interp_machine import Failed, Place
from anadrome.kernel_ir.interp_races import Judge, Stand
from anadrome.kernel_ir.interp_thread import Thread, stepped
from anadrome.kernel_ir.interp_warps import Brought, fault, results
from anadrome.kernel_ir.nodes import WARP, Barrier, Buffer, Kernel, Triple, Var, Warp
from anadrome.kernel_ir.walk import statements

_RESIDENT = 4
"""So many blocks run at a time in a random order."""


class Schedule:
    """The order of blocks and threads: by their numbers, or random as a seed determines it."""

    def __init__(self, seed: int | None) -> None:
        self.is_random = seed is not None
        self._random = np.random.default_rng(seed)
        self._numbers = self._drawn()

    def _drawn(self) -> Iterator[float]:
        while True:
            yield from self._random.random(1024).tolist()

    def order(self, count: int) -> Sequence[int]:
        """The numbers below `count`."""
        return self._random.permutation(count).tolist() if self.is_random else range(count)

    def below(self, count: int) -> int:
        """Which of so many comes next."""
        return int(next(self._numbers) * count) if self.is_random else 0

    def goes_on(self) -> bool:
        """Whether the thread that ran runs on."""
        return next(self._numbers) < 0.7


def launch(
    kernel: Kernel,
    grid: Triple[int],
    block: Triple[int],
    shared: int,
    given: Sequence[Any],
    schedule: Schedule,
    judge: bool,
) -> None:
    """Run a kernel for every thread of a grid, on places of buffers and on scalars in the order of its
    parameters."""
    if min(*grid, *block) < 1 or shared < 0:
        raise IRError(
            f"a launch of {grid} blocks of {block} threads with {shared} bytes", f"of {kernel.name}"
        )
    running = _Grid(kernel, grid, block, shared, given, schedule, judge)
    waiting = iter(schedule.order(grid[0] * grid[1] * grid[2]))
    resident: list[_Block] = []
    while True:
        room = (_RESIDENT if schedule.is_random else 1) - len(resident)
        resident += [_Block(running, number) for number in itertools.islice(waiting, room)]
        if not resident:
            return
        at = schedule.below(len(resident))
        if resident[at].is_finished_after_a_turn():
            resident.pop(at)


class _Grid:
    """One launch: what all threads have in common."""

    def __init__(
        self,
        kernel: Kernel,
        grid: Triple[int],
        block: Triple[int],
        shared: int,
        given: Sequence[Any],
        schedule: Schedule,
        judge: bool,
    ) -> None:
        self.kernel = kernel
        self.extents = grid
        self.block = block
        self.schedule = schedule
        warps = [stmt for stmt in statements(kernel.body) if isinstance(stmt, Warp)]
        has_syncs = any(stmt.operation == "sync" for stmt in warps)
        self.judge = Judge(has_syncs) if judge else None
        self.vars: dict[Var, Any] = {kernel.geometry.shared: np.int64(shared)}
        self.vars |= _triple(kernel.geometry.grid, grid) | _triple(kernel.geometry.block, block)
        self.places: dict[Buffer, Place] = {}
        for param, value in zip(kernel.params, given, strict=True):
            if isinstance(param, Buffer):
                self.places[param] = value
            else:
                self.vars[param] = value
        self.stepped = frozenset(stepped(kernel.body, schedule.is_random))


def _triple(vars_: Triple[Var], values: Triple[int]) -> dict[Var, Any]:
    return {var: np.int64(value) for var, value in zip(vars_, values, strict=True)}


def _position(number: int, extents: Triple[int]) -> Index:
    """The index that has a number, x fastest."""
    x, y, _ = extents
    return number % x, number // x % y, number // (x * y)


@dataclass(slots=True)
class _Warp:
    """Threads of one warp, and how many of them do not wait."""

    threads: list[Thread]
    running: int = field(init=False)

    def __post_init__(self) -> None:
        self.running = len(self.threads)


class _Block:
    """One block: its threads, those of them that can go on, its shared memory."""

    def __init__(self, grid: _Grid, number: int) -> None:
        self.grid = grid
        self.number = number
        self.index = _position(number, grid.extents)
        self.shared: dict[Buffer, Place] = {}
        self.vars = grid.vars | _triple(grid.kernel.geometry.block_index, self.index)
        count = grid.block[0] * grid.block[1] * grid.block[2]
        self.threads = [self._thread(linear) for linear in range(count)]
        self.warps = [_Warp(self.threads[first : first + WARP]) for first in range(0, count, WARP)]
        self.ready = list(self.threads)
        self.unwritten: Failed | None = None
        """The first read of what nothing had written. A thread that writes it in the same stretch between
        barriers races with it, and that is the better error: the other threads run on until they wait."""

    def _thread(self, linear: int) -> Thread:
        grid, index = self.grid, _position(linear, self.grid.block)
        stand = Stand(self.index, index, self.number, linear // WARP, linear % WARP)
        if grid.judge is not None:
            grid.judge.begin(stand)
        own = self.vars | _triple(grid.kernel.geometry.thread_index, index)
        return Thread(grid.kernel, grid.stepped, grid.judge, stand, (own, dict(grid.places), self.shared))

    def is_finished_after_a_turn(self) -> bool:
        """Let one thread run until it waits, or for a while; whether all threads have finished then."""
        schedule = self.grid.schedule
        thread = self.ready.pop(schedule.below(len(self.ready)))
        try:
            while (stop := next(thread.run)) is None and schedule.goes_on():
                pass
            thread.waits = stop
        except StopIteration:
            thread.is_finished = True
        except Failed as failed:
            if not isinstance(failed.error, UninitialisedRead):
                raise
            self.unwritten = self.unwritten or failed
            thread.is_finished = True
        if thread.waits is None and not thread.is_finished:
            self.ready.append(thread)
            return False
        warp = self.warps[thread.stand.warp]
        warp.running -= 1
        if not warp.running:
            self._release_warp(warp)
        return not self.ready and self._is_finished_at_barrier()

    # ------------------------------------------------------------------ warps
    def _release_warp(self, warp: _Warp) -> None:
        """Let the lanes that are least far do their warp operation, if any waits in one."""
        waiting = [thread for thread in warp.threads if isinstance(thread.waits, Warp)]
        if not waiting or self.unwritten is not None:
            return
        path = min(thread.path for thread in waiting)
        group = [thread for thread in waiting if thread.path == path]
        masks: dict[int, list[Thread]] = {}
        for thread in group:
            masks.setdefault(thread.brought.mask, []).append(thread)
        for mask, threads in masks.items():
            self._together(mask, threads, len(warp.threads))
        for thread in group:
            thread.waits = None
        self.ready += group
        warp.running = len(group)

    def _together(self, mask: int, threads: list[Thread], size: int) -> None:
        stmt = threads[0].waits
        assert isinstance(stmt, Warp)
        brought = {thread.stand.lane: thread.brought for thread in threads}
        given = results(stmt, mask, brought, size)
        for thread in threads:
            if self.grid.judge is not None:
                self._judge_lane(stmt, mask, thread, brought, size)
            if stmt.result is not None:
                thread.vars[stmt.result] = given[thread.stand.lane]
        if stmt.operation == "sync" and self.grid.judge is not None:
            self.grid.judge.sync([thread.stand for thread in threads])

    def _judge_lane(
        self, stmt: Warp, mask: int, thread: Thread, brought: dict[int, Brought], size: int
    ) -> None:
        wrong = fault(stmt, mask, thread.stand.lane, brought, size)
        if wrong is not None:
            access = thread.stand.access("executes", stmt.span)
            raise Failed(InactiveLane(self.grid.kernel.name, wrong, access))

    # ------------------------------------------------------------------ barriers
    def _is_finished_at_barrier(self) -> bool:
        """Let all threads pass the barrier at which they wait; whether they have finished instead."""
        if self.unwritten is not None:
            raise self.unwritten
        finished = [thread for thread in self.threads if thread.is_finished]
        if len(finished) == len(self.threads):
            if self.grid.judge is not None:
                self.grid.judge.forget([place.storage for place in self.shared.values()])
            return True
        path = self.threads[0].path
        if finished or any(thread.path != path for thread in self.threads):
            raise Failed(self._diverged(finished))
        stmt = self.threads[0].waits
        assert isinstance(stmt, Barrier)
        count = sum(thread.brought for thread in self.threads)
        result: Any = np.int64(count)
        if stmt.operation in ("and", "or"):
            result = np.bool_(count == len(self.threads) if stmt.operation == "and" else count)
        for thread in self.threads:
            if stmt.result is not None:
                thread.vars[stmt.result] = result
            thread.waits = None
            thread.stand.epoch += 1
        for warp in self.warps:
            warp.running = len(warp.threads)
        self.ready = list(self.threads)
        return False

    def _diverged(self, finished: list[Thread]) -> Exception:
        groups: dict[tuple[int, ...], list[Thread]] = {}
        for thread in self.threads:
            if not thread.is_finished:
                groups.setdefault(tuple(thread.path), []).append(thread)
        named = [
            (getattr(group[0].waits, "span", None), [thread.stand.thread for thread in group])
            for _, group in sorted(groups.items())
        ]
        return divergence(
            self.grid.kernel.name, self.index, named, [thread.stand.thread for thread in finished]
        )
