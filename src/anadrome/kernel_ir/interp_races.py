"""The judge of data races in one launch: who touched which element, and what is ordered before what.

Accesses of two threads are ordered where a barrier of their block stands between them, or a chain of
`Warp` "sync" in which their lanes took part; threads of different blocks never are. What is kept of an
element is enough to find a race with any access that comes later, if there is one: its last plain write, and
those reads and atomic operations since then of which a later access cannot be ordered after all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from anadrome.errors.base import Span
from anadrome.errors.kernels import Access, Index
from anadrome.kernel_ir.interp_machine import Storage
from anadrome.kernel_ir.nodes import WARP

VERBS = {"read": "reads", "write": "writes", "atomic": "atomically updates"}


@dataclass(slots=True, eq=False)
class Stand:
    """Where a thread is in the grid, and how far: barriers passed, and what of its warp is before it.

    `clock[k]` counts the warp synchronisations of lane k that are before what the thread does now, its own
    one ahead; empty where the kernel has none.
    """

    block: Index
    thread: Index
    serial: int
    """The number of the block."""
    warp: int
    lane: int
    epoch: int = 0
    clock: list[int] = field(default_factory=list)

    def access(self, verb: str, span: Span | None) -> Access:
        """What the thread does, as an error tells it."""
        return Access(verb, self.block, self.thread, span)


class _Touch(NamedTuple):
    stand: Stand
    epoch: int
    tick: int
    access: str
    span: Span | None

    def is_before(self, stand: Stand) -> bool:
        """Whether what a thread does now is ordered after this."""
        own = self.stand
        if own is stand:
            return True
        if own.serial != stand.serial:
            return False
        if self.epoch < stand.epoch:
            return True
        return bool(stand.clock) and own.warp == stand.warp and self.tick <= stand.clock[own.lane]


@dataclass(slots=True)
class _Cell:
    """What was done to one element: the last plain write, and what came after it."""

    write: _Touch | None = None
    reads: list[_Touch] = field(default_factory=list)
    atomics: list[_Touch] = field(default_factory=list)


class Judge:
    """Accesses of one launch. `has_syncs`: the kernel has warp synchronisations, so threads have clocks."""

    def __init__(self, has_syncs: bool) -> None:
        self.has_syncs = has_syncs
        self._cells: dict[Storage, dict[int, _Cell]] = {}

    def begin(self, stand: Stand) -> None:
        """A thread begins."""
        if self.has_syncs:
            stand.clock = [int(lane == stand.lane) for lane in range(WARP)]

    def forget(self, storages: Iterable[Storage]) -> None:
        """The shared memory of a block that has finished is of nobody any more."""
        for storage in storages:
            self._cells.pop(storage, None)

    def sync(self, stands: list[Stand]) -> None:
        """Lanes of one warp that wait for one another."""
        joined = [max(ticks) for ticks in zip(*(stand.clock for stand in stands), strict=True)]
        for stand in stands:
            stand.clock = list(joined)
            stand.clock[stand.lane] += 1

    def touch(
        self, storage: Storage, index: int, stand: Stand, access: str, span: Span | None
    ) -> tuple[Access, Access] | None:
        """Remember an access. The earlier one and this one, where they race."""
        cells = self._cells.setdefault(storage, {})
        cell = cells.get(index)
        if cell is None:
            cell = cells[index] = _Cell()
        tick = stand.clock[stand.lane] if stand.clock else 0
        now = _Touch(stand, stand.epoch, tick, access, span)
        against = [cell.write] if cell.write is not None else []
        match access:
            case "read":
                against += cell.atomics
                kept = cell.reads
            case "atomic":
                against += cell.reads
                kept = cell.atomics
            case _:
                against += cell.reads + cell.atomics
                kept = []
        for before in against:
            if not before.is_before(stand):
                first = before.stand.access(VERBS[before.access], before.span)
                return first, stand.access(VERBS[access], span)
        if access == "write":
            cell.write, cell.reads, cell.atomics = now, [], []
        else:
            self._keep(kept, now)
        return None

    def _keep(self, kept: list[_Touch], now: _Touch) -> None:
        """Add an access to those of its kind, as far as it can matter.

        Two accesses of different blocks are enough: every later access is unordered with one of them. So are
        two of different threads since the last barrier of their block (of different warps, where warps
        synchronise): until the next barrier every access is unordered with one of them. Accesses before that
        barrier, and earlier ones of the same thread, are ordered before what is kept.
        """
        if not kept:
            kept.append(now)
            return
        first, last = kept[0].stand, kept[-1].stand
        if first.serial != last.serial:
            return
        if first.serial != now.stand.serial:
            kept[1:] = [now]
        elif kept[0].epoch < now.epoch:
            kept[:] = [now]
        else:
            for place, before in enumerate(kept):
                if before.stand is now.stand:
                    kept[place] = now
                    return
            if len(kept) < 2 or (self.has_syncs and first.warp == last.warp):
                kept.append(now)
