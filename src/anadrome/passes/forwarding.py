"""Reads answered without the array that is read, where it is known how the array was made.

Full(s, v)[i] = v          Literal(a, b)[1] = b          A[i][j] = A[i, j]
Update(A, k, v)[k] = v     Update(A, 0, v)[1] = A[1]     Reshape(A, (n, m))[i, j] = A[i·m + j] of a vector A
(parfor i { stack A[c, i] }) = A[c]                      (parfor i { parfor j { stack A[i, j] } }) = A
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field

from anadrome.array_ir.nodes import (
    Atom,
    Bounds,
    Const,
    Expr,
    Full,
    Index,
    Literal,
    ParFor,
    Reshape,
    Size,
    Update,
    Var,
    i64,
)
from anadrome.passes.algebra import Context

Definitions = Mapping[Var, Expr]
Place = tuple[bool | int | float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """Versions of an array, each made of the one before by an update at constant indices.

    `start` is what the first update changes; `writers` are the versions that put something at a place.
    """

    start: Var
    rank: int
    versions: list[Var] = field(default_factory=list)
    writers: dict[Place, list[int]] = field(default_factory=dict)

    def holder(self, number: int, place: Place) -> Var:
        """The last version up to this one that put something at a place, else what the row starts from."""
        writers = self.writers.get(place, [])
        count = bisect_right(writers, number)
        return self.versions[writers[count - 1]] if count else self.start


class Versions:
    """The rows of versions seen so far: a read looks up who wrote its element, and goes through no row."""

    def __init__(self) -> None:
        self._rows: dict[Var, tuple[Row, int]] = {}

    def enter(self, target: Var, expr: Update) -> None:
        """Add what an update makes."""
        place = _constants(expr.indices)
        if place is None:
            return
        row, _ = self._rows.get(expr.array, (None, 0))
        if row is None or row.versions[-1] is not expr.array or row.rank != len(place):
            row = Row(expr.array, len(place))
        self._rows[target] = row, len(row.versions)
        row.writers.setdefault(place, []).append(len(row.versions))
        row.versions.append(target)

    def holder(self, expr: Index) -> Var:
        """The version that holds what an element or row of an array is: the array, where nothing is known."""
        row, number = self._rows.get(expr.array, (None, 0))
        place = None if row is None else _constants(expr.indices[: row.rank])
        if row is None or place is None or len(place) < row.rank:
            return expr.array
        return row.holder(number, place)


def _constants(indices: tuple[Atom, ...]) -> Place | None:
    values = tuple(index.value for index in indices if isinstance(index, Const))
    return values if len(values) == len(indices) else None


def forward_index(
    expr: Index, definitions: Definitions, versions: Versions, context: Context
) -> Index | Atom:
    """The read as a read of the array that holds the element in the first place, or the element itself."""
    while True:
        holder = versions.holder(expr)
        if holder is not expr.array:
            expr = Index(holder, expr.indices, expr.bounds)
        found = _step(expr, definitions, context)
        if found is None:
            return expr
        if not isinstance(found, Index):
            return found
        expr = found


def _step(expr: Index, definitions: Definitions, context: Context) -> Index | Atom | None:
    if not expr.indices:
        return expr.array
    match definitions.get(expr.array):
        case Index(array=array, indices=indices, bounds=bounds):
            is_proved = bounds is Bounds.PROVED and expr.bounds is Bounds.PROVED
            return Index(array, indices + expr.indices, Bounds.PROVED if is_proved else Bounds.CHECKED)
        case Full(shape=shape, value=value) if len(shape) == len(expr.indices):
            return value if expr.bounds is Bounds.PROVED or _all_inside(expr.indices, shape) else None
        case Literal(elements=elements):
            return _element(expr, elements)
        case Update(array=array, indices=indices, value=value):
            return _updated(expr, array, indices, value, definitions)
        case Reshape(array=array):
            return _reshaped(expr, array, context)
        case _:
            return None


def _all_inside(indices: tuple[Atom, ...], shape: tuple[Size, ...]) -> bool:
    return all(_is_inside(index, size) for index, size in zip(indices, shape, strict=True))


def _is_inside(index: Atom, size: Size) -> bool:
    return isinstance(index, Const) and isinstance(size, Const) and 0 <= index.value < size.value


def _element(expr: Index, elements: tuple[Atom, ...]) -> Index | Atom | None:
    first, rest = expr.indices[0], expr.indices[1:]
    if not isinstance(first, Const) or not 0 <= first.value < len(elements):
        return None
    element = elements[int(first.value)]
    if not rest:
        return element
    return Index(element, rest, expr.bounds) if isinstance(element, Var) else None


def _updated(
    expr: Index, array: Var, indices: tuple[Atom, ...], value: Atom, definitions: Definitions
) -> Index | Atom | None:
    count = len(indices)
    pairs = list(zip(expr.indices, indices, strict=False))
    if any(isinstance(a, Const) and isinstance(b, Const) and a.value != b.value for a, b in pairs):
        return Index(array, expr.indices, expr.bounds)
    update = definitions[expr.array]
    if (
        expr.bounds is not Bounds.PROVED
        or not isinstance(update, Update)
        or update.bounds is not Bounds.PROVED
    ):
        return None
    if len(expr.indices) < count or any(a != b for a, b in pairs):
        return None
    rest = expr.indices[count:]
    if not rest:
        return value
    return Index(value, rest, expr.bounds) if isinstance(value, Var) else None


def _reshaped(expr: Index, array: Var, context: Context) -> Index | None:
    """Of a vector, or of an array that differs in dimensions of size 1 alone."""
    if expr.bounds is not Bounds.PROVED:
        return None
    shape, base = expr.array.type.shape, array.type.shape
    if len(expr.indices) != len(shape):
        return None
    if len(base) == 1:
        offset = expr.indices[0]
        for size, index in zip(shape[1:], expr.indices[1:], strict=True):
            offset = context.apply("add", context.apply("mul", offset, size), index)
        return Index(array, (offset,))
    real = [index for size, index in zip(shape, expr.indices, strict=True) if not _is_one(size)]
    if [size for size in shape if not _is_one(size)] != [size for size in base if not _is_one(size)]:
        return None
    remaining = iter(real)
    return Index(array, tuple(i64(0) if _is_one(size) else next(remaining) for size in base))


def _is_one(size: Size) -> bool:
    return isinstance(size, Const) and size.value == 1


def row_of_stack(expr: ParFor, value: Atom, definitions: Definitions) -> Index | Var | None:
    """The array that stacking `value` builds again, or the read that gives it."""
    read = definitions.get(value) if isinstance(value, Var) else None
    if not isinstance(read, Index) or read.bounds is not Bounds.PROVED or not read.indices:
        return None
    *before, last = read.indices
    size = read.array.type.shape[len(before)]
    if last is not expr.index or size != expr.extent:
        return None
    inside = {expr.index, *(target for let in expr.body.lets for target in let.targets)}
    if read.array in inside or any(index in inside for index in before if isinstance(index, Var)):
        return None
    return Index(read.array, tuple(before)) if before else read.array
