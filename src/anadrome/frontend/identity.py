"""Which objects of Python's own are one, where branches and loops decide what has a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anadrome.array_ir.nodes import Atom, Const, Var
from anadrome.errors.base import Span
from anadrome.errors.frontend import UnsupportedSyntax
from anadrome.frontend.heap import is_same_object, itself, members
from anadrome.frontend.structures import Inside, RowList, children, kind_of_reference, reference_of
from anadrome.frontend.values import Array, Cell, Complex, Fixed, Record, Scope, Value

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


@dataclass(slots=True)
class _Row:
    """An object read from a list of run-time length, which may be any that was put there. `rows` is the list
    where no two of its items are one object, or share one, `index` the place there, and `path` how the object
    is reached from the item."""

    value: object
    rows: RowList | None
    index: Atom | None
    path: tuple[int, ...] = ()


class Identities:
    """What objects that branches and loops have made stand for."""

    def __init__(self, records: Mapping[int, Record]) -> None:
        self._records = records
        self._chosen: dict[int, _Chosen] = {}
        self._rows: dict[int, _Row] = {}
        self._asked: list[tuple[_Pair, Scope, Span | None]] = []

    def stands_for(self, value: Value, sources: Sequence[Value], decided: object) -> None:
        """An object stands for one of several."""
        self._chosen[id(_object(value))] = _Chosen(_object(value), sources, decided)

    def carries(self, value: Value, sources: Sequence[Value], decided: object, inside: Inside) -> None:
        """What a loop carries or leaves stands for one of several, with the containers and arrays in it."""
        parts = inside(value)
        if parts is not None or isinstance(value, Array):
            self.stands_for(value, sources, decided)
        each = [inside(source) or () for source in sources]
        for position, part in enumerate(parts or ()):
            self.carries(part, [of[position] for of in each if position < len(of)], decided, inside)

    def ends(self, value: Value, end: Value, inside: Inside) -> None:
        """What an iteration puts in the places of what a loop carries."""
        if id(_object(value)) in self._chosen:
            self._chosen[id(_object(value))].end = (end,)
        for part, last in zip(inside(value) or (), inside(end) or (), strict=False):
            self.ends(part, last, inside)

    def is_row(self, value: Value, rows: RowList | None = None, index: Atom | None = None) -> None:
        """An object was read from a list of run-time length."""
        if reference_of(value) is not None:
            return
        is_apart = rows is not None and rows.is_apart
        self._is_row(_Row(value, rows if is_apart else None, index))

    def _is_row(self, row: _Row) -> None:
        """Say where an object was read, and all in it."""
        parts = members(row.value, id(row.value) in self._records)
        if parts is not None:  # several rows may hold one tuple
            self._rows[id(row.value)] = replace(row, rows=None) if isinstance(row.value, tuple) else row
        for number, part in enumerate(parts or ()):
            self._is_row(replace(row, value=part, path=(*row.path, number)))

    def _place_of(self, value: Value, scope: Scope) -> _Row | None:
        """Where an object was read of a list that holds it for itself, if that is known here."""
        row = self._rows.get(id(value))
        is_known = row is not None and row.rows is not None and row.index is not None
        return row if is_known and row is not None and _is_seen(row.index, scope) else None

    def is_chosen(self, value: Value) -> bool:
        """Whether only the run knows which object a value is, or one that it holds."""
        record = self._records.get(id(value))
        is_merged = record is not None and record.is_merged
        return is_merged or any(map(self.is_chosen, children(value) or ()))

    def ask(self, left: Value, right: Value, scope: Scope, span: Span | None) -> bool | tuple[Atom, Atom]:
        """Whether two values are one object, or two numbers that are equal where they are. What else only the
        run knows is refused, at once or when the loop ends that carries them."""
        mine, other = reference_of(left), reference_of(right)
        if mine is not None or other is not None:
            is_alike = kind_of_reference(left) == kind_of_reference(right)
            if is_alike and mine is not None and not scope.is_inside(mine.pool.home):
                raise _unknown(span)
            return is_alike and mine is not None and other is not None and (mine.place, other.place)
        is_one = is_same_object(left, right)
        if not is_one and _are_items(left, right):
            return _places_of(left, right, span)
        one, two = self._place_of(left, scope), self._place_of(right, scope)
        if not is_one and one is not None and two is not None and one.rows is two.rows:
            assert one.index is not None and two.index is not None
            if one.path == two.path:
                return one.index, two.index
        if not is_one and self._may_be_one(left, right):
            raise _unknown(span)
        if not is_one and self._waits(left, right):
            self._asked.append(((left, right), scope, span))
        return is_one

    def closed(self, scope: Scope) -> None:
        """A loop's body has been staged: look again at what was asked in it."""
        for (left, right), asked, span in self._asked:
            if asked.is_inside(scope) and self._may_be_one(left, right):
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
            pair = waiting.pop()
            one, two = map(_object, pair)
            if _are_items(*pair) or one is two or self._may_be_row(one, two) or self._may_be_row(two, one):
                return True
            if (id(one), id(two)) not in supposed:
                supposed.add((id(one), id(two)))
                waiting += self._reasons(one, two)
        return False

    def _may_be_row(self, row: object, other: object) -> bool:
        """Whether an object may be one that was put into the list from which another one was read."""
        if id(row) not in self._rows or type(row) is not type(other):
            return False
        if isinstance(row, tuple):
            return True
        record = self._records.get(id(other))
        return record is None or record.items > 0 or record.is_merged

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
            return value.home.is_inside(loop)
        record = self._records.get(id(value))
        return record is not None and record.owner is value and record.home.is_inside(loop)


def _are_items(left: Value, right: Value) -> bool:
    """Whether two arrays are items of one list, which may be the same."""
    if not isinstance(left, Array) or not isinstance(right, Array):
        return False
    one, two = itself(left).view, itself(right).view
    return left.cell is right.cell and one is not None and two is not None and one.is_item and two.is_item


def _places_of(left: Value, right: Value, span: Span | None) -> bool | tuple[Atom, Atom]:
    """Where in a list two items stand that are arrays, if that tells them apart."""
    assert isinstance(left, Array) and isinstance(right, Array)
    one, two = itself(left).view, itself(right).view
    assert one is not None and two is not None
    is_old = min(one.born, two.born) < left.cell.exchanges
    if is_old or left.cell.has_twins or one.place is None or two.place is None:
        raise _unknown(span)
    places = [[item.atom for item in view if isinstance(item, Fixed)] for view in (one.place, two.place)]
    differ = [pair for pair in zip(*places, strict=False) if pair[0] != pair[1]]
    if len(places[0]) != len(places[1]) or not differ:
        return len(places[0]) == len(places[1])
    if len(differ) > 1:
        raise _unknown(span)
    return differ[0]


def _object(value: Value) -> object:
    """What has the identity of a value: of a whole array that is its storage, which has many names."""
    if not isinstance(value, Array):
        return value
    array = itself(value)
    return array.cell if array.view is None else array.view


def _is_seen(place: Atom | None, scope: Scope) -> bool:
    """Whether a number is known in a scope."""
    around: Scope | None = scope
    while around is not None and not (isinstance(place, Var) and around.builder.binds(place)):
        around = around.parent
    return around is not None or isinstance(place, Const)


def _is_outside(loop: Scope | None, other: Scope | None) -> bool:
    """Whether a loop is around another one, or something that no loop carries was chosen in it."""
    return loop is not None and (other is None or other.is_inside(loop))


def _unknown(span: Span | None) -> UnsupportedSyntax:
    return UnsupportedSyntax("`is` of values of which only the run knows whether they are one", span)
