"""How many snapshots of a loop a policy keeps, and between which iterations it runs forward again.

With s snapshots, of which the first stands at the start, and no iteration run forward more than t times,

    β(s, t) = (s + t)! / (s! t!)

iterations at most can be reversed (Griewank & Walther 2000, Algorithm 799, prop. 1), and n iterations with
the least t that β(s, t) ≥ n allows take t·n - β(s + 1, t - 1) forward runs in all (ibid., prop. 1).

The next snapshot is set after m of l iterations, which leaves l - m to s - 1 snapshots; it is a best one if

    β(s, t - 2) ≤ m ≤ β(s, t - 1)   and   β(s - 1, t - 1) ≤ l - m ≤ β(s - 1, t)

and so is m = min(β(s, t - 1), l - β(s - 1, t - 1)). `ad.checkpoint` says the same in the array IR; here it is
Python, for sizes that are known.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

from anadrome.array_ir.checkpoint import Checkpoint

PLACE_BYTES = 8
"""Beside the carried values a snapshot holds the number of its iteration."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """What a policy comes to: `slots` states are kept, `repeats` iterations are run once more in all."""

    slots: int
    repeats: int


def schedule(hint: Checkpoint, trip: int, state_bytes: int) -> Schedule:
    """The schedule of a loop of `trip` iterations whose snapshot takes `state_bytes`."""
    slots = slots_kept(hint, trip, state_bytes)
    return Schedule(slots, repeats(trip, slots))


def slots_kept(hint: Checkpoint, trip: int, state_bytes: int) -> int:
    """How many states are kept: the snapshots, and the one that is being reversed."""
    most = max(trip, 1)
    match hint.policy:
        case "all":
            return most
        case "sqrt":
            slots = snapshots_for(trip, 2) + 1
        case "repeats":
            slots = snapshots_for(trip, hint.repeats) + 1
        case "log":
            slots = max(trip - 1, 0).bit_length() + 1
        case "budget":
            assert hint.memory is not None
            slots = hint.memory // state_bytes
    return max(min(slots, most), min(2, most))


def snapshots_for(trip: int, times: int) -> int:
    """The least s with β(s, times) ≥ trip."""
    count, reach = 1, times + 1
    while reach < trip:
        count += 1
        reach = reach * (count + times) // count
    return count


def distance(length: int, free: int) -> int:
    """After how many of `length` iterations the next snapshot is set, the last one being where it ends."""
    if free < 2:
        return length - 1
    times, before, reach = 1, 1, free + 1
    while reach < length:
        times, before = times + 1, reach
        reach = reach * (free + times) // times
    return min(before, length - before * free // (free + times - 1))


def repeats(trip: int, slots: int) -> int:
    """How many iterations run once more: between snapshots, and each once to be reversed."""
    if trip <= 1:
        return max(trip, 0)
    snapshots, times = slots - 1, 1
    while comb(snapshots + times, snapshots) < trip:
        times += 1
    forward = times * trip - comb(snapshots + times, snapshots + 1)
    return forward - (trip - 1) + trip
