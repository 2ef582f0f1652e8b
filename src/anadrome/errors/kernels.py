"""Errors that the judge of kernels finds: threads that do not work together as they must."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anadrome.errors.base import Span, counted
from anadrome.errors.runtime import BarrierDivergence, RuntimeCheckError
from anadrome.errors.source_text import line_of

Index = tuple[int, int, int]
"""The index of a block or of a thread in its block: x, y, z."""

LISTED = 3
"""So many threads of a group are named, the others counted."""


@dataclass(frozen=True, slots=True)
class Access:
    """What one thread does to one element: `verb` is "reads", "writes" or "atomically updates"."""

    verb: str
    block: Index
    thread: Index
    span: Span | None


class DataRace(RuntimeCheckError, RuntimeError):
    """Two threads access one element in no order, at least one of them writes it, and not both atomically."""

    def __init__(self, kernel: str, element: str, first: Access, second: Access) -> None:
        is_one_block = first.block == second.block
        self.first, self.second = first, second
        self.help = _RACE_IN_BLOCK if is_one_block else _RACE_OF_BLOCKS
        place = "the same block" if is_one_block else f"block {first.block}"
        super().__init__(
            f"two threads of the kernel `{kernel}` access `{element}` in no order: a data race",
            second.span,
            f"thread {second.thread} of block {second.block} {second.verb} it",
            (f"thread {first.thread} of {place} {first.verb} it{_place(first.span)}",),
        )


_RACE_IN_BLOCK = (
    "put a barrier (`syncthreads`) between the two accesses, let each thread have elements of its own, or "
    "make both accesses atomic"
)
_RACE_OF_BLOCKS = (
    "blocks of one launch run in any order: let each block have elements of its own, make both accesses "
    "atomic, or divide the kernel into two launches"
)


class UninitialisedRead(RuntimeCheckError, RuntimeError):
    """An element of shared or local memory that is read before anything was written there."""

    def __init__(self, kernel: str, element: str, space: str, access: Access) -> None:
        self.access = access
        self.help = "write the element before it is read, on every way that leads there"
        if space == "shared":
            self.help += "; its memory begins anew in each block"
        super().__init__(
            f"the kernel `{kernel}` reads `{element}` of {space} memory, which nothing has written",
            access.span,
            f"read by thread {access.thread} of block {access.block}",
        )


class InactiveLane(RuntimeCheckError, RuntimeError):
    """A warp operation with a lane that takes no part in it."""

    help = (
        "let all lanes that the mask names reach the operation: move it out of the branch or loop, or pass "
        "the mask of the lanes that are there"
    )

    def __init__(self, kernel: str, reason: str, access: Access) -> None:
        super().__init__(
            f"in a warp operation of the kernel `{kernel}`, {reason}",
            access.span,
            f"executed by thread {access.thread} of block {access.block}",
        )


def divergence(
    kernel: str,
    block: Index,
    groups: Sequence[tuple[Span | None, Sequence[Index]]],
    finished: Sequence[Index],
) -> BarrierDivergence:
    """The error of threads of one block that do not meet: groups that wait at a barrier each, and threads
    that have finished."""
    span, threads = groups[0]
    notes = []
    for place, group in groups[1:]:
        is_same = place is not None and place == span
        where = "in another iteration of a loop around it" if is_same else f"at a barrier{_place(place)}"
        notes.append(f"{_listed(group)} {where}")
    if finished:
        notes.append(f"{_listed(finished, finished=True)}")
    return BarrierDivergence(
        f"threads of block {block} of the kernel `{kernel}` wait at a barrier that others do not reach",
        span,
        f"{_listed(threads)} here" if span is not None else _listed(threads),
        tuple(notes),
    )


def _listed(threads: Sequence[Index], finished: bool = False) -> str:
    """Who waits, or has finished."""
    more = len(threads) - LISTED
    names = ", ".join(map(str, threads[:LISTED])) + (f" and {counted(more, 'other')}" if more > 0 else "")
    if len(threads) == 1:
        return f"thread {names} {'has finished' if finished else 'waits'}"
    return f"threads {names} {'have finished' if finished else 'wait'}"


def _place(span: Span | None) -> str:
    """Where something is, with its line of the program."""
    if span is None:
        return ""
    line = line_of(span.file, span.line).strip()
    return f" at {span}" + (f", `{line}`" if line else "")
