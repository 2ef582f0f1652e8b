"""What the return sweep of a loop may keep of it: a hint that the loop carries through all stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What the reverse sweep of a loop may keep of the values it carries; it changes no result.

    `all`: those of every iteration. `sqrt`, `log`: about √(2n), or ⌈log₂ n⌉ + 1, of n iterations.
    `repeats`: as few as let no iteration run more than `repeats` times again. `budget`: as many as `memory`
    bytes hold; with another policy `memory` is a limit that it must keep to.
    """

    policy: OneOf["all", "sqrt", "log", "repeats", "budget"]
    repeats: int = 0
    memory: int | None = None
    is_swept: bool = False
    """The loop is itself the return sweep of one with this policy. Differentiated again it follows the policy
    but not the budget: its states hold all snapshots."""
    in_blocks: bool = False
    """The iterations of that sweep are blocks of iterations (`ad.sweep.blocks`)."""

    @staticmethod
    def of(policy: str | int | None, memory: int | None) -> Checkpoint | None:
        """The hint for a policy as it is written (`all`, `sqrt`, `log` or a number) and a budget in bytes;
        None without either. Raises `ValueError` for another policy."""
        match policy:
            case None:
                return None if memory is None else Checkpoint("budget", 0, memory)
            case "all" | "sqrt" | "log":
                return Checkpoint(policy, 0, memory)
            case _ if not isinstance(policy, bool) and str(policy).isdecimal() and int(policy) > 0:
                return Checkpoint("repeats", int(policy), memory)
            case _:
                raise ValueError(f"no checkpoint policy {policy!r}")
