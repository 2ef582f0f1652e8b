"""Tables of compiled forms by the callables that programs name.

A package of SciPy takes up to half a second to import, and a program that has not imported it names none
of its functions. So their rows are *late*: they are made when a callable is looked up and the package is
imported by then. Who goes through all rows of a table imports the packages.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

Row = TypeVar("Row")
Key = Callable[..., Any]


class Late(Mapping[Key, Row]):
    """The rows for the functions of a package."""

    def __init__(self, package: str, make: Callable[[], Mapping[Key, Row]]) -> None:
        self.package = package
        self._make = make
        self._rows: Mapping[Key, Row] | None = None

    @property
    def is_there(self) -> bool:
        """Whether a program may name one of the functions."""
        return self.package in sys.modules

    def rows(self) -> Mapping[Key, Row]:
        """The rows; the package is imported, or another thread has finished importing it."""
        if self._rows is None:
            importlib.import_module(self.package)
            self._rows = self._make()
        return self._rows

    def __getitem__(self, function: Key) -> Row:
        if not self.is_there:
            raise KeyError(function)
        return self.rows()[function]

    def __iter__(self) -> Iterator[Key]:
        return iter(self.rows())

    def __len__(self) -> int:
        return len(self.rows())


class Table(Mapping[Key, Row]):
    """The rows of several families, of which a later one overrides an earlier one; `wrapped` makes a row of
    what a family has.

    >>> table = Table([{abs: 1}, Late("math", lambda: {__import__("math").sqrt: 2})])
    >>> table[abs], len(table)
    (1, 2)
    """

    def __init__(
        self, families: Iterable[Mapping[Key, Row]], wrapped: Callable[[Key, Row], Row] | None = None
    ) -> None:
        self.families: tuple[Mapping[Key, Row], ...] = tuple(
            part
            for family in families
            for part in (family.families if isinstance(family, Table) else (family,))
        )
        self._wrapped = wrapped
        self._found: dict[Key, Row] = {}
        self._late: tuple[Late[Row], ...] = ()
        for family in self.families:
            if isinstance(family, Late):
                self._late += (family,)
            else:
                self._take(family)

    def mapped(self, make: Callable[[Iterable[Key]], Mapping[Key, Row]]) -> Iterator[Mapping[Key, Row]]:
        """Other families, each made of the callables of one of these."""
        for family in self.families:
            if isinstance(family, Late):
                yield Late(family.package, functools.partial(make, family))
            else:
                yield make(family)

    def __getitem__(self, function: Key) -> Row:
        if function not in self._found and any(family.is_there for family in self._late):
            self._learn([family for family in self._late if family.is_there])
        return self._found[function]

    def __iter__(self) -> Iterator[Key]:
        self._learn(self._late)
        return iter(self._found)

    def __len__(self) -> int:
        self._learn(self._late)
        return len(self._found)

    def _learn(self, families: Iterable[Late[Row]]) -> None:
        taken = tuple(families)
        for family in taken:
            self._take(family.rows())
        self._late = tuple(family for family in self._late if all(family is not one for one in taken))

    def _take(self, rows: Mapping[Key, Row]) -> None:
        made = self._wrapped
        self._found.update(
            rows if made is None else {function: made(function, row) for function, row in rows.items()}
        )
