"""Arrays of which only the run knows which one they are: what they may share memory with, and what a write
to one does to the others.

After `if c: a = b`, `a` is one of two arrays. The branch makes an array of its own for it, a *version*, whose
`Choice` says which array it is where `c` holds, and where it does not. A write to any of them is passed on:

    version written:   b = if c { version } else { b }
    b written:         version = if c { b } else { version }

and so on from those, along paths on which no condition both holds and does not hold. Where it is not known
which array is which (after a loop, or where the layout in memory decides), a write makes the others
unreadable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from anadrome.array_ir.nodes import ArrayType, Atom, If, Var
from anadrome.array_ir.walk import free_variables
from anadrome.errors.frontend import WritesThroughView
from anadrome.frontend.context import Context
from anadrome.frontend.sizes import retype
from anadrome.frontend.values import Array, Cell, Choice, Scope, ScopeKind, Value, View, link
from anadrome.frontend.writing import put


# ---------------------------------------------------------------------------- what may be one array
def aliases(values: Iterable[Value], is_inside: Callable[[Cell], bool] | None = None) -> tuple[Cell, ...]:
    """The cells that a value merged from these may share memory with, save those inside."""
    found: dict[Cell, None] = {}
    for value in values:
        if isinstance(value, Array):
            cells = (value.cell, *value.cell.partners)
            found.update({cell: None for cell in cells if is_inside is None or not is_inside(cell)})
    return tuple(found)


def may_share(one: Value, two: Value) -> bool:
    """Whether two arrays may share memory."""
    if not isinstance(one, Array) or not isinstance(two, Array):
        return False
    return one.cell is two.cell or one.cell in two.cell.partners


@dataclass(slots=True, eq=False)
class Turn:
    """An array that a loop carries, or makes: its cell in the body, and the arrays before the loop and at the
    end of an iteration."""

    cell: Cell | None
    start: Value
    end: Value
    result: Value = None


class Turns:
    """Which arrays may be one after some iterations of a loop: those that are so before it, or at the end
    of an iteration that began with arrays that may be one.

    `together` holds the pairs that may be one at the end of some iteration, `outer` the arrays of outside
    that each may be then.
    """

    def __init__(self, turns: Sequence[Turn], is_outer: Callable[[Cell], bool]) -> None:
        self.turns, self._is_outer = turns, is_outer
        self._positions = {turn.cell: place for place, turn in enumerate(turns) if turn.cell is not None}
        self.started = {
            (one, two) for one, two in self._pairs() if may_share(turns[one].start, turns[two].start)
        }
        self._starts = [{cell for cell in aliases((turn.start,)) if is_outer(cell)} for turn in turns]
        roots = [self._roots(turn.end) for turn in turns]
        self._from = [{self._positions[cell] for cell in cells if cell in self._positions} for cells in roots]
        self._ends = [
            {near for cell in cells if is_outer(cell) for near in (cell, *cell.partners) if is_outer(near)}
            for cells in roots
        ]
        self.together: set[tuple[int, int]] = set()
        self.outer = [set(cells) for cells in self._ends]
        while self._turn():
            pass

    def _roots(self, end: Value) -> set[Cell]:
        """The carried arrays, and those of outside, that one may be when it ends an iteration."""
        found: set[Cell] = set()
        left = [end.cell] if isinstance(end, Array) else []
        seen: set[Cell] = set()
        while left:
            cell = left.pop()
            if cell in seen:
                continue
            seen.add(cell)
            if self._is_outer(cell) or cell in self._positions:
                found.add(cell)
                continue
            choice = cell.choice
            if choice is None:
                left += cell.partners
                continue
            left += [option.cell for option in (choice.one, choice.two) if option is not None]
            left += choice.others
        return found

    def _pairs(self) -> Iterator[tuple[int, int]]:
        return ((one, two) for two in range(len(self.turns)) for one in range(two))

    def _turn(self) -> bool:
        """One more iteration; whether it has brought any more together."""
        outer = [
            own | {cell for source in sources for cell in self._before(source)}
            for own, sources in zip(self._ends, self._from, strict=True)
        ]
        together = {pair for pair in self._pairs() if self._meet(*pair)}
        is_more = together != self.together or outer != self.outer
        self.together, self.outer = together, outer
        return is_more

    def _before(self, position: int) -> set[Cell]:
        """The arrays of outside that a carried one may be when an iteration begins."""
        return self._starts[position] | self.outer[position]

    def _meet(self, one: int, two: int) -> bool:
        if may_share(self.turns[one].end, self.turns[two].end):
            return True
        for mine in self._from[one]:
            if self._later(mine) & self._ends[two]:
                return True
            for theirs in self._from[two]:
                pair = (min(mine, theirs), max(mine, theirs))
                if pair in self.together and pair not in self.started:
                    return True
        return any(self._later(theirs) & self._ends[one] for theirs in self._from[two])

    def _later(self, position: int) -> set[Cell]:
        return self.outer[position] - self._starts[position]

    def link(self, context: Context, ran: Atom | None, runs: bool) -> None:
        """Say of what the loop leaves what it may share memory with; `runs`: it has an iteration in any case.

        What every iteration makes, or what is the same array after each, is a version of it and of the array
        before the loop, if it is known (`ran`) whether there was an iteration.
        """
        versions = [None if ran is None else self._version(place, runs) for place in range(len(self.turns))]
        told = [version for version in versions if version is not None]
        if ran is not None:
            link_versions(context, ran, told, lambda cell: not self._is_outer(cell))
        results = [turn.result for turn in self.turns]
        for place, result in enumerate(results):
            if isinstance(result, Array) and versions[place] is None:
                link(result.cell, self.outer[place] if runs else self._before(place))
        for one, two in self.together if runs else self.together | self.started:
            left, right = results[one], results[two]
            is_told = versions[one] is not None and versions[two] is not None
            if isinstance(left, Array) and isinstance(right, Array) and not is_told:
                link(left.cell, (right.cell,))

    def _version(self, place: int, runs: bool) -> Version | None:
        """What the loop leaves, where that is known: what it is after an iteration, and without one."""
        turn = self.turns[place]
        result, start, end = turn.result, turn.start, turn.end
        if not isinstance(result, Array) or not isinstance(end, Array):
            return None
        if not isinstance(start, Array):
            start = end
        is_kept = all(one.dtype is result.dtype and not one.list_depth for one in (start, end))
        if end.cell in self._positions and end.view is None:
            end = self._steady(self._positions[end.cell])
        elif not self._is_outer(end.cell) and (self._from[place] or self._ends[place]):
            end = None
        if end is None or not is_kept or (turn.start is None and not runs):
            return None
        return Version(result, (end, end if runs else start), is_exact=True)

    def _steady(self, place: int) -> Array | None:
        """The array before the loop, if it is the same one after every iteration."""
        turn = self.turns[place]
        is_same = isinstance(turn.end, Array) and turn.end.cell is turn.cell and turn.end.view is None
        return turn.start if is_same and isinstance(turn.start, Array) else None


def refuse_shared_writes(context: Context, loop: Scope, turns: Turns) -> None:
    """In the next iteration a name holds what it ends with now. Two that end with one array, or one that ends
    with an array from outside, are only carried apart if nothing writes them."""
    cells = [turn.cell for turn in turns.turns if turn.cell is not None]
    for cell, roots in zip(cells, turns.outer, strict=True):
        for root in roots:
            if root not in cell.partners:
                _meets_outer(context, loop, cell, root)
    for pair in turns.together - turns.started:
        changes = [max(cells[place].last_written, cells[place].last_forgotten) for place in pair]
        if max(changes) > loop.tick:
            raise _shared_write(context)


def _meets_outer(context: Context, loop: Scope, cell: Cell, root: Cell) -> None:
    """From the next iteration on `cell` may be the array `root` of outside."""
    if root.last_written > loop.tick or (cell.last_written > loop.tick and root.last_read > loop.tick):
        raise _shared_write(context)
    if cell.last_written > loop.tick:
        root.poisoned = context.span
        context.poisonings.append(root)


def _shared_write(context: Context) -> WritesThroughView:
    reason = "two names hold one array after an iteration, and one of them is written in the loop"
    return WritesThroughView(reason, context.span)


# ---------------------------------------------------------------------------- choices of branches
@dataclass(slots=True, eq=False)
class Version:
    """An array that a branch leaves, and the arrays that it stands for, one for each way.

    `is_exact`: it holds what these hold, of their type. `options` are those of them that can be named after
    the branch.
    """

    array: Array
    ways: tuple[Value, Value]
    is_exact: bool
    options: list[Array | None] = field(default_factory=list)


def link_versions(
    context: Context, condition: Atom, versions: Sequence[Version], is_inside: Callable[[Cell], bool]
) -> None:
    """Say of the arrays that a branch leaves which ones they are, where that is known, and else what they may
    share memory with; `is_inside`: of what was made on one of the ways."""
    made: tuple[dict[Cell, Array], dict[Cell, Array]] = ({}, {})
    for one in versions:
        for value, first in zip(one.ways, made, strict=True):
            one.options.append(_option(context, one, value, is_inside, first))
        if any(option is not None for option in one.options):
            own = [value for value, option in zip(one.ways, one.options, strict=True) if option is None]
            one.array.cell.choice = Choice(condition, one.options[0], one.options[1], aliases(own, is_inside))
    found = [_shared(one, is_inside) for one in versions]
    for one, cells in zip(versions, found, strict=True):
        for cell, is_exact in cells.items():
            link(one.array.cell, (cell,), is_exact)
        for option in one.options:
            if option is not None:
                option.cell.versions.append(one.array.cell)
    for position, one in enumerate(versions):
        for other in versions[:position]:
            told = [_is_told(one, other, way) for way in (0, 1) if may_share(one.ways[way], other.ways[way])]
            if told:
                link(one.array.cell, (other.array.cell,), all(told))


def _option(
    context: Context,
    version: Version,
    value: Value,
    is_inside: Callable[[Cell], bool],
    first: dict[Cell, Array],
) -> Array | None:
    """The array that a version is on one way, if it can be named after the branch. One that was made on the
    way is named by the first version that stands for it."""
    if not isinstance(value, Array) or not version.is_exact:
        return None
    if is_inside(value.cell):
        if value.view is not None or value.cell in first:
            return first.get(value.cell) if value.view is None else None
        first[value.cell] = version.array
        return None
    return value if value.view is None or _is_seen(context, value.cell, value.view) else None


def _is_seen(context: Context, cell: Cell, view: View) -> bool:
    """Whether a view depends on nothing that was bound on a way of the branch."""
    with context.nested(ScopeKind.BRANCH) as scope:
        var = view.read(cell.var)
        body = scope.builder.body((var,))
    scopes = list(context.scopes())
    return all(any(scope.builder.binds(free) for scope in scopes) for free in free_variables(body))


def _shared(version: Version, is_inside: Callable[[Cell], bool]) -> dict[Cell, bool]:
    """The arrays from before the branch that a version may share memory with, and whether it is known how."""
    found: dict[Cell, bool] = {}
    for value, option in zip(version.ways, version.options, strict=True):
        is_named = option is not None and isinstance(value, Array) and option.cell is value.cell
        own = option.cell.partners if is_named and option is not None else {}
        for cell in aliases((value,), is_inside):
            is_exact = is_named and (own.get(cell, False) or (option is not None and cell is option.cell))
            found[cell] = found.get(cell, True) and is_exact
    return found


def _is_told(one: Version, other: Version, way: int) -> bool:
    """Whether it is known how two versions share memory on a way."""
    mine, theirs = one.options[way], other.options[way]
    if mine is None or theirs is None:
        found, version = (mine, other) if theirs is None else (theirs, one)
        return found is not None and found.cell is version.array.cell
    return mine.cell is theirs.cell or mine.cell.partners.get(theirs.cell, False)


# ---------------------------------------------------------------------------- what a write does to others
MOST_PASSED = 64
"""To so many other arrays a write is passed on; what is beyond is not known any more."""


class _Unknown(Exception):
    """An array that a write would have to be passed through is not known any more."""


def spread(context: Context, cell: Cell) -> bool:
    """Pass a write on to all that may be the same array by choices; False where one of them is not known."""
    try:
        _spread(context, cell, (cell,), {}, [])
    except _Unknown:
        return False
    return True


def _spread(
    context: Context, cell: Cell, path: tuple[Cell, ...], known: dict[Atom, bool], passed: list[Cell]
) -> None:
    for choice, holds, version, option in _edges(context, cell):
        target = option.cell if version is cell else version
        if target in path or known.get(choice.condition, holds) is not holds:
            continue
        passed.append(target)
        if target.poisoned is not None or len(passed) > MOST_PASSED:
            raise _Unknown
        assert isinstance(target.var.type, ArrayType)
        with context.nested(ScopeKind.BRANCH) as scope:
            made = _written(context, option, cell) if version is cell else context.read(option)
            body = scope.builder.body((retype(context, made, target.var.type, "if"),))
        kept = context.builder.child().body((target.var,))
        ways = (body, kept) if holds else (kept, body)
        context.hold(target, context.builder.let_one(If(choice.condition, *ways)))
        _spread(context, target, (*path, target), {**known, choice.condition: holds}, passed)


def _edges(context: Context, cell: Cell) -> Iterator[tuple[Choice, bool, Cell, Array]]:
    """The choices seen from here in which an array stands: as the version, or as an option."""
    scopes = list(context.scopes())
    for version in (cell, *cell.versions):
        choice = version.choice
        if choice is None or not any(version.home is scope for scope in scopes):
            continue
        for holds, option in ((True, choice.one), (False, choice.two)):
            if option is not None and (version is cell or option.cell is cell):
                yield choice, holds, version, option


def _written(context: Context, option: Array, source: Cell) -> Var:
    """The storage of an option in which the elements are those of `source`."""
    held = Cell(option.cell.var, context.scope)
    put(context, Array(held, option.view), Ellipsis, Array(Cell(source.var, context.scope)))
    return held.var
