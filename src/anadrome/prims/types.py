"""Type rules: which scalar types a row takes and what it gives."""

from __future__ import annotations

from collections.abc import Iterable

from anadrome.dtypes import ALL, BOOL, DType
from anadrome.prims.record import TypeRule

BOOLS = frozenset({BOOL})
INTEGERS = frozenset(dtype for dtype in ALL if dtype.is_integer)
FLOATS = frozenset(dtype for dtype in ALL if dtype.is_float)
NUMBERS = INTEGERS | FLOATS
ANY = frozenset(ALL)


def same(admitted: Iterable[DType]) -> TypeRule:
    """Arguments of one admitted type give that type."""
    table = frozenset(admitted)

    def rule(args: tuple[DType, ...]) -> DType | None:
        first = args[0]
        return first if first in table and all(arg is first for arg in args) else None

    return rule


def predicate(admitted: Iterable[DType]) -> TypeRule:
    """Arguments of one admitted type give a bool."""
    agree = same(admitted)

    def rule(args: tuple[DType, ...]) -> DType | None:
        return None if agree(args) is None else BOOL

    return rule


def choice(args: tuple[DType, ...]) -> DType | None:
    """A bool and two values of one type give that type."""
    condition, then, other = args
    return then if condition is BOOL and then is other else None


def convert(target: DType) -> TypeRule:
    """One argument of any type gives the target type."""

    def rule(args: tuple[DType, ...]) -> DType | None:
        return target

    return rule
