"""Why something is staged once more, with what its first staging has shown."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from anadrome.array_ir.nodes import Size
from anadrome.dtypes import DType
from anadrome.errors import Span
from anadrome.errors.frontend import FrontendError, StaticRequired, UnsupportedSyntax
from anadrome.frontend.values import Cell, Part, Place, Scope, Value

COUNTED = sys.maxsize
"""The room of a list whose rows were counted: any number of calls may append to it."""
TRIED = COUNTED - 1
"""The room of a list of whose rows nothing is known: the same, and the call runs again if there are more."""
TO_TRY = -1
"""Stands for the place among the draws of room that is still to be one of them."""
TRIES_ROOMS = "tries rooms"
"""What is learned of a program where lists or arrays grow by what nobody can count (`drawing.tried_room`)."""


@dataclass(slots=True, eq=False)
class Objects:
    """How far a loop goes into the instances that it exchanges: not into objects that are `kept`, the same
    ones in every iteration; also into `captured` ones of the program's surroundings, in whose place it puts
    its own. Both by identity."""

    kept: dict[int, Value] = field(default_factory=dict)
    captured: dict[int, Value] = field(default_factory=dict)

    def keeps(self, value: Value) -> bool:
        """Whether a value is one object in every iteration."""
        return id(value) in self.kept


class RestartLoop(Exception):
    """A loop's body changed outer objects that are not carried yet: stage the loop again, carrying them."""

    def __init__(self, scope: Scope, parts: Iterable[Part]) -> None:
        super().__init__()
        self.scope = scope
        self.parts = tuple(parts)


class RestartByReference(Exception):
    """A loop's body changed an object that it carries as a value: stage the loop with the object itself.
    `instead` is the error to raise where that has been tried."""

    def __init__(self, scope: Scope, place: Place, instead: FrontendError) -> None:
        super().__init__()
        self.scope = scope
        self.place = place
        self.instead = instead


class RestartExchanged(Exception):
    """An iteration puts another object in a place, with other numbers and arrays in it: stage the loop with
    these carried."""

    def __init__(self, scope: Scope, place: Place, objects: Objects) -> None:
        super().__init__()
        self.scope = scope
        self.place = place
        self.objects = objects


class RestartTexts(Exception):
    """An iteration puts another string in a place, one of some that are known: stage the loop with the number
    of that which is there carried."""

    def __init__(self, scope: Scope, place: Place, options: Sequence[str]) -> None:
        super().__init__()
        self.scope = scope
        self.place = place
        self.options = options


class RestartAsValue(Exception):
    """An iteration gives a place another array than it had: stage the loop with it carried as a value."""

    def __init__(self, scope: Scope, place: Place) -> None:
        super().__init__()
        self.scope = scope
        self.place = place


class RestartListed(Exception):
    """A loop's body exchanges a list for one of another length: stage the loop with the list as an array."""

    def __init__(self, scope: Scope, place: Place) -> None:
        super().__init__()
        self.scope = scope
        self.place = place


class RestartStrided(Exception):
    """A carried array has another layout in memory after an iteration: stage the loop with one unknown."""

    def __init__(self, scope: Scope, place: Place) -> None:
        super().__init__()
        self.scope = scope
        self.place = place


class RestartTwins(Exception):
    """Two items of a list may be one array after an iteration: stage the loop with a list of which that is
    known. A place of None is an array that is changed in place, whose cell says so."""

    def __init__(self, scope: Scope, place: Place | None) -> None:
        super().__init__()
        self.scope = scope
        self.place = place


class RestartOptional(Exception):
    """What a loop carries is None in some iterations: stage the loop with whether it is there, and a
    placeholder where it is not."""

    def __init__(self, scope: Scope, place: Place, placeholder: object, objects: Objects | None) -> None:
        super().__init__()
        self.scope = scope
        self.place = place
        self.placeholder = placeholder
        self.objects = objects


class RestartGrown(Exception):
    """A loop or branch appends to a list that has no room for it: make room, and stage it once more. `bound`
    are the rows that it appends at most; None where that is tried. Where an item is exchanged for one of a
    wider type, the arrays are to be wider and no longer (`is_longer`)."""

    def __init__(
        self, scope: Scope, owner: object, row: object, bound: Size | None, *, is_longer: bool = True
    ) -> None:
        super().__init__()
        self.scope = scope
        self.owner = owner
        self.row = row
        self.bound = bound
        self.is_longer = is_longer

    def room(self, before: int) -> int:
        """The room of the list from now on, in calls of `append` that are not asked again."""
        if self.bound is None:
            return TRIED
        return before + 1 if self.is_longer and before < TRIED else before


class RestartWindow(Exception):
    """A loop that counts what it appends to a list reads one of its last items: count once more, with these
    carried beside the list."""

    def __init__(self, scope: Scope, owner: object, back: int) -> None:
        super().__init__()
        self.scope = scope
        self.owner = owner
        self.back = back


class RestartSteady(Exception):
    """A carried number grows by the same in every iteration, or does not after all: stage the loop so."""

    def __init__(self, scope: Scope, place: Place, step: int | None) -> None:
        super().__init__()
        self.scope = scope
        self.place = place
        self.step = step


class RunTimeFilter(Exception):
    """Which of some items known now a list has is known at run time only."""

    def __init__(self, instead: StaticRequired) -> None:
        super().__init__()
        self.instead = instead


class NotParallel(UnsupportedSyntax):
    """Where an item of several `for`s stands depends on the items before: they are made one after another."""

    def __init__(self, span: Span | None) -> None:
        what = "a list comprehension of several `for`s whose items are not known to be as many in each"
        super().__init__(what, span, "write the loops out, and append to a list in them")
        self.instead = self


@dataclass(frozen=True, slots=True)
class Room:
    """The rows of a buffer, and by how many its length grows in every iteration, where that is known. So many
    rows and those that are `tried`, a draw by its place, where nothing says how many; TO_TRY, where it is to
    be one."""

    size: Size
    step: int | None = None
    tried: int | None = None


class RestartResized(Exception):
    """A loop carries arrays that change their size: stage it with these rooms (None: not known yet).
    `fixed` are those that keep it, as the run checks."""

    def __init__(
        self,
        scope: Scope,
        rooms: Mapping[tuple[Place, int, int], Room | None],
        fixed: Collection[tuple[Place, int, int]] = (),
    ) -> None:
        super().__init__()
        self.scope = scope
        self.rooms = rooms
        self.fixed = fixed


class Counted(Exception):
    """A loop has counted what it appends to lists: make room, and stage it once more to store it."""

    def __init__(self, scope: Scope | None) -> None:
        super().__init__()
        self.scope = scope


class RestartWidened(Exception):
    """A loop's body put a value of another type into a list: stage the loop with a list of that type."""

    def __init__(self, scope: Scope, cell: Cell, dtype: DType) -> None:
        super().__init__()
        self.scope = scope
        self.cell = cell
        self.dtype = dtype


@dataclass(frozen=True, slots=True)
class OnePool:
    """The name of a class whose objects are in one pool, as names or lists have those of several."""

    name: str


class Restage(Exception):
    """A list turned out to have a length that only the run knows, or instances of a class to be changed while
    lists hold them: stage the whole program with that known.

    `site`: where the list is made, or the name of the class
    """

    def __init__(self, site: Span | str, error: FrontendError) -> None:
        super().__init__()
        self.site = site
        self.error = error


class RetypeLoop(Exception):
    """A carried Python number turned out to need another type: stage the loop once more with it.

    `is_weak`: it stays a Python number. `instead` is the error to raise where that fails. A type of None is
    that of a complex number.
    """

    def __init__(
        self,
        scope: Scope,
        key: tuple[Place, int],
        dtype: DType | None,
        is_weak: bool = False,
        instead: FrontendError | None = None,
    ) -> None:
        super().__init__()
        self.scope = scope
        self.key = key
        self.dtype = dtype
        self.is_weak = is_weak
        self.instead = instead


Restart = (
    RestartLoop
    | RestartByReference
    | RestartExchanged
    | RestartTexts
    | RestartAsValue
    | RestartListed
    | RestartStrided
    | RestartTwins
    | RestartOptional
    | RestartGrown
    | RestartWindow
    | RestartWidened
    | RestartSteady
    | RestartResized
    | Counted
    | RetypeLoop
)
"""Why a loop is staged once more."""

RESTARTS = (
    *(RestartLoop, RestartByReference, RestartExchanged, RestartAsValue, RestartListed, RestartGrown),
    *(RestartSteady, RestartResized, RestartStrided, RestartTwins, RestartOptional, RestartWindow),
    *(RestartWidened, RetypeLoop, RestartTexts, Counted),
)
"""The classes of these."""
