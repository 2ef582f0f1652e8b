"""Arguments that are given away: which leaves of a call they are, and what becomes of their arrays.

The memory of a donated array may be written by the call and be that of a result. It is taken where nobody
else can see it: the array is no view, may be written, and overlaps with no other argument; else the call
works on a copy. In either case the array is closed: it cannot be written any more, and is no argument of a
later call. What it holds is undefined.
"""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anadrome.api.pytree import Structure, leaf_paths
from anadrome.errors.api import DonatedArray
from anadrome.targets.cpu_call import is_for_itself

CLOSED: dict[int, weakref.ref[np.ndarray]] = {}
"""The arrays that were given away and are still there, by identity. NumPy has no array that cannot be read,
so that this is how a second use is found. Several threads may change it: each change is one operation."""


@dataclass(frozen=True, slots=True)
class Donated:
    """A donated leaf of a call, and where it stands among the native arguments."""

    leaf: int
    place: int


def donated_leaves(structure: Structure, places: Collection[int], names: Collection[str]) -> list[int]:
    """The leaves of the arguments at these places, and of those given by these names."""
    positional, keyword = structure.parts  # type: ignore[union-attr]
    parts = [(place in places, part) for place, part in enumerate(positional.parts)]  # type: ignore[union-attr]
    parts += [(name in names, part) for name, part in zip(keyword.names, keyword.parts, strict=True)]  # type: ignore[union-attr]
    found: list[int] = []
    start = 0
    for is_donated, part in parts:
        stop = start + len(leaf_paths(part))
        found += range(start, stop) if is_donated else ()
        start = stop
    return found


def refuse_closed(name: str, leaves: Iterable[object], names: Sequence[str]) -> None:
    """Raise where a leaf of a call is an array that was given away."""
    for place, leaf in enumerate(leaves):
        found = CLOSED.get(id(leaf))
        if found is not None and found() is leaf:
            raise DonatedArray(name, names[place] if place < len(names) else "")


def give_away(
    name: str,
    leaves: Sequence[Any],
    values: list[Any],
    donated: Sequence[Donated],
    taken: Collection[int],
    names: Sequence[str],
) -> None:
    """Close the donated arrays of a call, and put copies of those among the native arguments that the program
    takes and others can see."""
    arrays = {id(leaves[one.leaf]): (leaves[one.leaf], names[one.leaf]) for one in donated}
    for array, label in arrays.values():
        _close(name, array, label)
    for one in donated:
        value = values[one.place]
        is_copied = value is not leaves[one.leaf]
        if (
            one.place in taken
            and not is_copied
            and not (is_for_itself(value) and _is_apart(one.place, values))
        ):
            values[one.place] = value.copy()
    for array, _ in arrays.values():
        array.flags.writeable = False


def _close(name: str, array: np.ndarray, label: str) -> None:
    """Remember that an array was given away; of several threads that do so, one may."""
    key = id(array)
    mark = weakref.ref(array, lambda _: CLOSED.pop(key, None))
    if CLOSED.setdefault(key, mark) is not mark:
        raise DonatedArray(name, label)


def _is_apart(place: int, values: Sequence[Any]) -> bool:
    """Whether an array among the native arguments shares no memory with another."""
    array = values[place]
    return not any(
        isinstance(other, np.ndarray) and number != place and np.may_share_memory(array, other)
        for number, other in enumerate(values)
    )
