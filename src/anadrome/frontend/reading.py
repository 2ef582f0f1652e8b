"""What was read of what may change, where something is evaluated before Python evaluates it.

An iterator asks for its items one by one, and each reads what there is at that time. Items that are evaluated
all at once, when the iterator is made, are the same as long as what they read is as it was then.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from anadrome.frontend.heap import state_of
from anadrome.frontend.values import Cell, Frame, Holder, State, Value


@dataclass(slots=True, eq=False)
class Watch:
    """The arrays, objects and names that were read, and what they held at the end of the evaluation."""

    holders: dict[Holder, State | None] = field(default_factory=dict)
    names: dict[tuple[int, str], tuple[Frame, Value]] = field(default_factory=dict)

    def close(self) -> None:
        """Keep what everything holds now."""
        self.holders = {holder: state_of(holder) for holder in self.holders}
        self.names = {key: (frame, frame.names.get(key[1])) for key, (frame, _) in self.names.items()}

    def is_as_it_was(self) -> bool:
        """Whether all that was read holds what it held then."""
        return all(_is_same(state, state_of(holder)) for holder, state in self.holders.items()) and all(
            frame.names.get(name) is value for (_, name), (frame, value) in self.names.items()
        )


def _is_same(one: State | None, two: State) -> bool:
    if not isinstance(one, dict) or not isinstance(two, dict):
        return one is two
    return list(one) == list(two) and all(one[key] is two[key] for key in one)


class Reading:
    """The watches that are open."""

    def __init__(self) -> None:
        self.watches: list[Watch] = []

    def notice(self, holder: Holder) -> None:
        """Say that an array or object is read."""
        for watch in self.watches:
            watch.holders[holder] = None

    def notice_name(self, frame: Frame, name: str) -> None:
        """Say that a name of a call is read."""
        for watch in self.watches:
            watch.names[id(frame), name] = (frame, None)

    @contextmanager
    def watched(self) -> Iterator[Watch]:
        """Remember what is read meanwhile."""
        watch = Watch()
        self.watches.append(watch)
        try:
            yield watch
        finally:
            self.watches.remove(watch)
        watch.close()


def cell_watch(cell: Cell) -> Watch:
    """Remember what an array holds now."""
    watch = Watch({cell: None})
    watch.close()
    return watch
