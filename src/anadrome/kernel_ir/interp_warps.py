"""What the threads of a warp do together, given what each brings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from anadrome.kernel_ir.nodes import WARP, Warp

ALL_LANES = (1 << WARP) - 1

_SOURCES: dict[str, Callable[[int, int], int]] = {
    "shuffle": lambda own, lane: lane,
    "up": lambda own, lane: own - lane,
    "down": lambda own, lane: own + lane,
    "xor": lambda own, lane: own ^ lane,
}
"""Whose value a lane takes, from its own number and the operand."""


class Brought(NamedTuple):
    """What one lane brings to a warp operation."""

    mask: int
    value: Any
    lane: int


def results(stmt: Warp, mask: int, brought: dict[int, Brought], size: int) -> dict[int, Any]:
    """What each lane gets: of those that pass this mask, in a warp of `size` threads."""
    if stmt.operation == "sync":
        return {}
    if stmt.operation in _SOURCES:
        return {lane: _taken(stmt, lane, one, brought, size) for lane, one in brought.items()}
    votes = {lane: bool(one.value) for lane, one in brought.items() if mask >> lane & 1}
    result: Any
    match stmt.operation:
        case "ballot":
            result = np.int64(sum(1 << lane for lane, holds in votes.items() if holds))
        case "any":
            result = np.bool_(any(votes.values()))
        case _:
            result = np.bool_(all(votes.values()))
    return dict.fromkeys(brought, result)


def _taken(stmt: Warp, lane: int, one: Brought, brought: dict[int, Brought], size: int) -> Any:
    source = _SOURCES[stmt.operation](lane, one.lane)
    return brought[source].value if 0 <= source < size and source in brought else one.value


def fault(stmt: Warp, mask: int, lane: int, brought: dict[int, Brought], size: int) -> str | None:
    """What is wrong with the part of one lane: its mask does not name it, or it takes the value of a lane
    that its mask does not name or that does not take part."""
    shown = f"0x{mask:08x}"
    if not mask >> lane & 1:
        return f"the mask {shown} does not name lane {lane}, which executes it"
    if stmt.operation not in _SOURCES:
        return None
    source = _SOURCES[stmt.operation](lane, brought[lane].lane)
    if not 0 <= source < size or (source in brought and mask >> source & 1):
        return None
    if not mask >> source & 1:
        return f"lane {lane} takes the value of lane {source}, which the mask {shown} does not name"
    return f"lane {lane} takes the value of lane {source}, which does not take part"
