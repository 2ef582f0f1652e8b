"""Run-time sequences: their extent, and an item for each index."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anadrome.array_ir.checkpoint import Checkpoint
from anadrome.array_ir.nodes import Atom, Check, Const, Size, Var, i64
from anadrome.dtypes import I64
from anadrome.errors.frontend import UnsupportedType
from anadrome.errors.runtime import INDEX_MESSAGE
from anadrome.errors.tracebacks import door
from anadrome.frontend.arrays import describe, unboxed
from anadrome.frontend.context import Context
from anadrome.frontend.indexing import selector, take, take_inside
from anadrome.frontend.sizes import clamp_size, is_nonnegative
from anadrome.frontend.structures import Reference, RowList, pool_of, referring
from anadrome.frontend.values import Array, Complex, Fixed, Missing, Range, Scalar, Value
from anadrome.prims.node import replace

_ITERABLE_HELP = "loop over an array, a list or `range(n)`"


ItemAt = Callable[[Context, Atom], Value]
"""What gives the item of a sequence at an index that is known to be inside."""


@dataclass(frozen=True, slots=True, eq=False)
class Iterated:
    """A run-time sequence: its extent, and the item at an index that is known to be inside.

    `checkpoint` is what a loop over it asks of its reverse sweep. `lazy` gives the item with the rows of
    arrays in it as `Unread`, for a loop that does not read all of them.
    """

    extent: Size
    item: ItemAt
    is_numbers: bool = False
    checkpoint: Checkpoint | None = None
    lazy: ItemAt | None = None
    python_name: ClassVar[str] = "range"

    @property
    def static_extent(self) -> int | None:
        """The extent where it is known now."""
        return int(self.extent.value) if isinstance(self.extent, Const) else None

    def through(self, extent: Size, change: Callable[[ItemAt], ItemAt]) -> Iterated:
        """A sequence of this extent whose items are made of those of this one."""
        return replace(self, extent=extent, item=change(self.item), lazy=self.lazy and change(self.lazy))


@dataclass(frozen=True, slots=True, eq=False)
class Unread:
    """A row of an array that was not read yet."""

    array: Array
    index: Atom


def read_for(context: Context, target: ast.expr, value: Value, unused: frozenset[str]) -> Value:
    """A lazy item as a loop binds it: rows that only names take that nothing reads are left unread."""
    match value:
        case Unread(array=array, index=index):
            if isinstance(target, ast.Name) and target.id in unused:
                return Missing("the loop does not read it")
            return take_inside(context, array, index)
        case tuple():
            parts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
            if len(parts) != len(value) or any(isinstance(part, ast.Starred) for part in parts):
                parts = [target] * len(value) if isinstance(target, ast.Name) else [_WHOLE] * len(value)
            return tuple(read_for(context, part, one, unused) for part, one in zip(parts, value, strict=True))
        case _:
            return value


_WHOLE = ast.Constant(None)
"""A target that reads all of what it is given."""


@dataclass(frozen=True, slots=True, eq=False)
class Unrolled:
    """What `unroll` gives: an iterable whose loop is repeated while compiling."""

    iterable: object

    @door
    def __iter__(self) -> object:
        return iter(self.iterable)  # type: ignore[call-overload]


def unroll(iterable: Iterable[object]) -> Iterable[object]:
    """Ask for a loop over `iterable` to be repeated while compiling; the extent must be known then.

    >>> import anadrome as ad
    >>> [k for k in ad.unroll(range(3))]
    [0, 1, 2]
    """
    return Unrolled(iterable)  # type: ignore[return-value]


def row_item(context: Context, rows: RowList, index: Atom) -> Value:
    """The row at an index."""
    pool, places = pool_of(rows.example), rows.columns[0]
    is_whole = pool is not None and pool.places is not None and places.cell is pool.places.cell
    if pool is not None and is_whole and places.view is None and places.cell.var is pool.iota:
        return referring(rows.example, Reference(pool, index, is_proved=True))
    made = rows.rebuild(iter([take_inside(context, column, index) for column in rows.columns]))
    context.identities.is_row(made, rows, index)
    return made


def take_row(context: Context, rows: RowList, index: Value) -> Value:
    """`rows[index]`, of one row or a slice"""
    index = unboxed(context, index)
    if isinstance(index, slice):
        parts = [take(context, column, index) for column in rows.columns]
        columns = tuple(part for part in parts if isinstance(part, Array))
        assert len(columns) == len(parts), "a slice of an array is an array"
        return replace(rows, columns=columns)
    if not isinstance(index, int | np.integer | Scalar):
        raise UnsupportedType(
            "the index of a list", describe(index), context.span, "use an integer or a slice"
        )
    made = rows.rebuild(iter([take(context, column, index) for column in rows.columns]))
    place = index.atom if isinstance(index, Scalar) else i64(int(index))
    if rows.is_apart and is_nonnegative(context, place):
        context.identities.is_row(made, rows, place)
    return made


def staged_range(context: Context, *bounds: Value) -> Iterated:
    """`range` with run-time bounds."""
    start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    builder = context.builder
    first, last = integer(context, start), integer(context, stop)
    if isinstance(step, Scalar) and step.dtype.is_integer:
        return _range_of_any_step(context, first, last, builder.convert(step.atom, I64))
    if not isinstance(step, int) or step == 0:
        raise UnsupportedType("the step of a range", describe(step), context.span, "use an integer: `int(n)`")
    span = builder.size("sub", last, first) if step > 0 else builder.size("sub", first, last)
    extent = clamp_size(context, span)
    if abs(step) > 1:
        extent = builder.size("floordiv", builder.size("add", extent, i64(abs(step) - 1)), i64(abs(step)))

    def item(inner: Context, index: Atom) -> Value:
        if isinstance(index, Var) and isinstance(extent, Var):
            _remember(inner, index, span, abs(step))
        offset = inner.builder.size("mul", i64(step), index)
        return Scalar(inner.builder.size("add", first, offset), is_weak=True)

    return Iterated(extent, item, is_numbers=True)


def _range_of_any_step(context: Context, first: Atom, last: Atom, step: Atom) -> Iterated:
    """A range whose step is known at run time: ⌈(stop - start) / step⌉ numbers, or none."""
    builder = context.builder
    not_zero = builder.apply("ne", step, i64(0))
    builder.let(Check(not_zero, "raise", "ValueError: the step of a range is zero"))
    divisor = builder.select(not_zero, step, i64(1))
    negative = builder.apply("floordiv", builder.apply("sub", first, last), divisor)
    extent = builder.apply("max", builder.apply("sub", i64(0), negative), i64(0))

    def item(inner: Context, index: Atom) -> Value:
        offset = inner.builder.apply("mul", step, index)
        return Scalar(inner.builder.apply("add", first, offset), is_weak=True)

    return Iterated(extent, item, is_numbers=True)


def _remember(context: Context, index: Var, span: Size, step: int) -> None:
    """0 <= index < span where the step is 1: more is known than from the clamped extent."""
    if step == 1:
        context.ranges[index] = (context.builder.affine(i64(0)), context.builder.affine(span))


def rows(array: Array) -> Iterated:
    """The rows (or elements) of an array."""
    return Iterated(
        array.shape[0],
        lambda inner, index: take_inside(inner, array, index),
        lazy=lambda _, index: Unread(array, index),
    )


def part_of(context: Context, items: Iterated, index: Value) -> Value:
    """`items[index]` of a range: a number, or for a slice a range."""
    match selector(context, items.extent, index):
        case Fixed(atom=at, is_proved=is_proved):
            return items.item(context, at if is_proved else _checked(context, at, items.extent))
        case Range(start=start, step=step, extent=extent):

            def through(item: ItemAt) -> ItemAt:
                def at_step(inner: Context, place: Atom) -> Value:
                    builder = inner.builder
                    return item(inner, builder.size("add", start, builder.size("mul", step, place)))

                return at_step

            return items.through(extent, through)
        case _:
            raise UnsupportedType("the index of a range", describe(index), context.span, "use an integer")


def _checked(context: Context, at: Atom, extent: Size) -> Atom:
    """An index of a range as a number of its own, of which the range may say where it is: what else is read
    at the index is checked for itself."""
    builder = context.builder
    is_inside = builder.apply("and", builder.apply("ge", at, i64(0)), builder.apply("lt", at, extent))
    builder.let(Check(is_inside, "index", INDEX_MESSAGE, (at, extent)))
    return builder.select(is_inside, at, i64(0))


def plain_number(item: Value) -> Value:
    """A weak constant as the Python number it is."""
    if isinstance(item, Scalar) and item.is_weak and isinstance(item.atom, Const):
        return item.atom.value
    if type(item) is tuple:
        return tuple(plain_number(part) for part in item)
    return item


def has_run(context: Context, items: Iterated) -> bool:
    """Whether the sequence is known not to be empty."""
    extent = items.static_extent
    if extent is not None:
        return extent > 0
    return is_nonnegative(context, context.builder.size("sub", items.extent, i64(1)))


def integer(context: Context, value: Value) -> Atom:
    """An integer of the program, which bounds a range."""
    if isinstance(value, Scalar) and value.dtype.is_integer:
        return context.builder.convert(value.atom, I64)
    if isinstance(value, int):
        return i64(value)
    raise UnsupportedType("the bound of a range", describe(value), context.span, "use an integer: `int(n)`")


def complex_row(context: Context, value: Complex, index: Atom) -> Complex:
    """The row of a complex array at an index that is known to be inside."""
    parts = (
        take_inside(context, part, index) for part in (value.real, value.imag) if isinstance(part, Array)
    )
    return Complex(*parts)


def size_of(extent: Size) -> Value:
    """An extent as the program sees it."""
    return int(extent.value) if isinstance(extent, Const) else Scalar(extent, is_weak=True)
