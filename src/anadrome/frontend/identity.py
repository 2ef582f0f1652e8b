"""Which objects of Python's own are one, where branches and loops decide what has a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anadrome.errors.base import Span
from anadrome.errors.frontend import UnsupportedSyntax
from anadrome.frontend.heap import is_same_object, itself
from anadrome.frontend.structures import children
from anadrome.frontend.values import Array, Cell, Complex, Record, Scope, Value

_Pair = tuple[Any, Any]


@dataclass(slots=True)
class _Chosen:
    """An object that stands for one of the `sources`; for what a loop carries also for the `end`, which an
    iteration puts in its place, and which is known when the loop's body has been staged.

    `decided`: what decides which, for several at once: the loop's scope, two ways that meet, the way out of a
    loop. Each of these then stands for its own in that order.
    """

    value: object
    sources: Sequence[Value]
    decided: object
    end: Sequence[Value] = ()

    @property
    def loop(self) -> Scope | None:
        """The loop that carries it."""
        return self.decided if isinstance(self.decided, Scope) else None


class Identities:
    """What objects that branches and loops have made stand for."""

    def __init__(self, records: Mapping[int, Record]) -> None:
        self._records = records
        self._chosen: dict[int, _Chosen] = {}
        self._asked: list[tuple[_Pair, Scope, Span | None]] = []

    def stands_for(self, value: Value, sources: Sequence[Value], decided: object) -> None:
        """An object stands for one of several."""
        self._chosen[id(_object(value))] = _Chosen(_object(value), sources, decided)

    def carries(self, value: Value, sources: Sequence[Value], decided: object) -> None:
        """What a loop carries or leaves stands for one of several, with the containers and arrays in it."""
        parts = children(value)
        if parts is not None or isinstance(value, Array):
            self.stands_for(value, sources, decided)
        each = [children(source) or () for source in sources]
        for position, part in enumerate(parts or ()):
            self.carries(part, [of[position] for of in each if position < len(of)], decided)

    def ends(self, value: Value, end: Value) -> None:
        """What an iteration puts in the places of what a loop carries."""
        if id(_object(value)) in self._chosen:
            self._chosen[id(_object(value))].end = (end,)
        for part, last in zip(children(value) or (), children(end) or (), strict=False):
            self.ends(part, last)

    def ask(self, left: Value, right: Value, scope: Scope, span: Span | None) -> bool:
        """Whether two values are one object. What only the run knows is refused, at once or when the loop
        ends that carries them."""
        is_one = is_same_object(left, right)
        if not is_one and self._may_be_one(left, right):
            raise _unknown(span)
        if not is_one and self._waits(left, right):
            self._asked.append(((left, right), scope, span))
        return is_one

    def closed(self, scope: Scope) -> None:
        """A loop's body has been staged: look again at what was asked in it."""
        for (left, right), asked, span in self._asked:
            if _is_inside(asked, scope) and self._may_be_one(left, right):
                raise _unknown(span)

    def _may_be_one(self, left: Value, right: Value) -> bool:
        """Whether a branch or an iteration may have given one object both names.

        That two objects are never one is shown by induction: it is supposed of all pairs met on the way, and
        must hold of what they begin as and of what an iteration puts in their places.
        """
        if isinstance(left, Complex) and isinstance(right, Complex):
            return self._may_be_one(left.real, right.real)
        if isinstance(left, Array) and isinstance(right, Array):
            first, second = itself(left).cell, itself(right).cell
            if second in first.partners or first in second.partners:
                return True
        supposed, waiting = set[tuple[int, int]](), [(left, right)]
        while waiting:
            one, two = map(_object, waiting.pop())
            if one is two:
                return True
            if (id(one), id(two)) not in supposed:
                supposed.add((id(one), id(two)))
                waiting += self._reasons(one, two)
        return False

    def _waits(self, left: Value, right: Value) -> bool:
        """Whether a loop decides what two values are that is still being staged."""
        found, waiting = set[int](), [left, right]
        while waiting:
            one = self._chosen.get(id(_object(waiting.pop())))
            if one is not None and id(one.value) not in found:
                if one.loop is not None and not one.end:
                    return True
                found.add(id(one.value))
                waiting += [*one.sources, *one.end]
        return False

    def _reasons(self, left: object, right: object) -> list[_Pair]:
        """Pairs of which one must be one object where these are."""
        one, two = self._chosen.get(id(left)), self._chosen.get(id(right))
        if one is not None and two is not None and one.decided is two.decided:
            return [*zip(one.sources, two.sources, strict=True), *zip(one.end, two.end, strict=True)]
        if one is None or (two is not None and _is_outside(one.loop, two.loop)):
            one, two, left, right = two, one, right, left
        if one is None:
            return []
        if one.loop is not None and two is None and self._is_made_in(right, one.loop):
            return []  # an iteration before cannot hold what this one makes
        return [(source, right) for source in (*one.sources, *one.end)]

    def _is_made_in(self, value: object, loop: Scope) -> bool:
        if isinstance(value, Cell):
            return _is_inside(value.home, loop)
        record = self._records.get(id(value))
        return record is not None and record.owner is value and _is_inside(record.home, loop)


def _object(value: Value) -> object:
    """What has the identity of a value: of a whole array that is its storage, which has many names."""
    if not isinstance(value, Array):
        return value
    array = itself(value)
    return array.cell if array.view is None else array.view


def _is_outside(loop: Scope | None, other: Scope | None) -> bool:
    """Whether a loop is around another one, or something that no loop carries was chosen in it."""
    return loop is not None and (other is None or _is_inside(other, loop))


def _is_inside(scope: Scope | None, outer: Scope) -> bool:
    while scope is not None and scope is not outer:
        scope = scope.loop or scope.parent
    return scope is outer


def _unknown(span: Span | None) -> UnsupportedSyntax:
    return UnsupportedSyntax("`is` of values of which only the run knows whether they are one", span)
