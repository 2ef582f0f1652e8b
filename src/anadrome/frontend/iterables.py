"""What a `for` goes over: static items, or a run-time sequence with an extent and an item for each index."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from anadrome.array_ir.nodes import Atom, Check, Checkpoint, Const, Size, Var, i64
from anadrome.dtypes import I64
from anadrome.errors.frontend import StaticCallFailed, StaticRequired, UnsupportedType
from anadrome.errors.tracebacks import door
from anadrome.frontend.arrays import as_array, describe
from anadrome.frontend.complex_numbers.parts import complex_of
from anadrome.frontend.context import Context
from anadrome.frontend.indexing import take_inside
from anadrome.frontend.sizes import agree, clamp_size, is_nonnegative, least_size
from anadrome.frontend.values import Array, Complex, Frame, Scalar, Value, is_staged

STATIC_REPEATS = 64
"""A `for` over a range known while compiling that needs its index then, or changes a list, is repeated if it
is not longer. A longer NumPy array is a run-time sequence from the first."""


_ITERABLE_HELP = "loop over an array, a list or `range(n)`"


@dataclass(frozen=True, slots=True, eq=False)
class Iterated:
    """A run-time sequence: its extent, and the item at an index that is known to be inside.

    `checkpoint` is what a loop over it asks of its reverse sweep.
    """

    extent: Size
    item: Callable[[Context, Atom], Value]
    is_numbers: bool = False
    checkpoint: Checkpoint | None = None

    @property
    def static_extent(self) -> int | None:
        """The extent where it is known now."""
        return int(self.extent.value) if isinstance(self.extent, Const) else None


@dataclass(slots=True, eq=False)
class LazyGenerator:
    """A generator expression that nothing has asked for items yet."""

    node: ast.GeneratorExp
    frame: Frame


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


@dataclass(frozen=True, slots=True, eq=False)
class RowList:
    """A run-time list of tuples (or other containers): one array for each leaf of a row."""

    extent: Size
    columns: tuple[Array, ...]
    rebuild: Callable[..., Value]

    def item(self, context: Context, index: Atom) -> Value:
        """The row at an index."""
        return self.rebuild(iter([take_inside(context, column, index) for column in self.columns]))


def staged_range(context: Context, *bounds: Value) -> Iterated:
    """`range` with run-time bounds."""
    start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    builder = context.builder
    first, last = _integer(context, start), _integer(context, stop)
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


def _integer(context: Context, value: Value) -> Atom:
    if isinstance(value, Scalar) and value.dtype.is_integer:
        return context.builder.convert(value.atom, I64)
    if isinstance(value, int):
        return i64(value)
    raise UnsupportedType("the bound of a range", describe(value), context.span, "use an integer: `int(n)`")


def zipped(context: Context, parts: Sequence[Value], is_strict: bool = False) -> Iterated | list[Value]:
    """zip: static items where a part is static, else a sequence of the least extent."""
    items = [iterate(context, part) for part in parts]
    if any(isinstance(part, Iterated) and part.static_extent is None for part in items):
        items = [_beside_runtime(context, part, found) for part, found in zip(parts, items, strict=True)]
    if any(isinstance(part, list) for part in items):
        columns = [part if isinstance(part, list) else _unrolled(context, part) for part in items]
        return list(_static_zip(context, columns, is_strict))
    sequences = [part for part in items if isinstance(part, Iterated)]
    extent = sequences[0].extent
    for other in sequences[1:]:
        if is_strict:
            extent = agree(context, extent, other.extent, "zip")
        else:
            extent = least_size(context, extent, other.extent)
    wish = next((part.checkpoint for part in sequences if part.checkpoint is not None), None)
    return Iterated(
        extent, lambda inner, index: tuple(part.item(inner, index) for part in sequences), checkpoint=wish
    )


def _beside_runtime(context: Context, part: Value, found: Iterated | list[Value]) -> Iterated | list[Value]:
    """A NumPy array beside a sequence whose extent is known at run time is such a sequence as well."""
    if not isinstance(part, np.ndarray):
        return found
    if part.dtype.kind == "c" and part.ndim:
        return iterate(context, complex_of(context, part))
    array = as_array(context, part)
    return rows(array) if isinstance(array, Array) else found


def _static_zip(context: Context, columns: list[list[Value]], is_strict: bool) -> list[tuple[Value, ...]]:
    try:
        return list(zip(*columns, strict=is_strict))
    except ValueError as error:
        raise StaticCallFailed("`zip`", error, context.span) from error


def enumerated(context: Context, part: Value, start: Value = 0) -> Iterated | list[Value]:
    """enumerate"""
    items = iterate(context, part)
    if isinstance(items, list) and isinstance(start, int):
        return [(start + position, item) for position, item in enumerate(items)]
    sequence = items if isinstance(items, Iterated) else None
    if sequence is None:
        raise StaticRequired("the start of enumerate", context.span)
    first = _integer(context, start)

    def item(inner: Context, index: Atom) -> Value:
        return Scalar(inner.builder.size("add", first, index), is_weak=True), sequence.item(inner, index)

    return Iterated(sequence.extent, item, checkpoint=sequence.checkpoint)


def turned(context: Context, part: Value) -> Iterated | list[Value]:
    """reversed"""
    items = iterate(context, part)
    if isinstance(items, list):
        return items[::-1]
    last = context.builder.size("sub", items.extent, i64(1))
    return Iterated(
        items.extent,
        lambda inner, index: items.item(inner, inner.builder.size("sub", last, index)),
        items.is_numbers,
        items.checkpoint,
    )


def iterate(context: Context, value: Value) -> Iterated | list[Value]:
    """What a `for` over a value goes over. Static ranges are run-time sequences of a known extent."""
    match value:
        case Iterated():
            return value
        case RowList(extent=extent):
            return Iterated(extent, value.item)
        case range():
            return staged_range(context, value.start, value.stop, value.step)
        case Array():
            return rows(value)
        case Complex() if value.shape:
            return Iterated(value.shape[0], lambda inner, index: _complex_row(inner, value, index))
        case Complex():
            raise UnsupportedType("the iterable of a loop", describe(value), context.span, _ITERABLE_HELP)
        case np.ndarray() if value.dtype.kind == "c" and value.ndim and len(value) > STATIC_REPEATS:
            return iterate(context, complex_of(context, value))
        case np.ndarray() if value.ndim and len(value) > STATIC_REPEATS:
            array = as_array(context, value)
            assert isinstance(array, Array)
            return rows(array)
        case Scalar():
            raise UnsupportedType("the iterable of a loop", describe(value), context.span, _ITERABLE_HELP)
        case Unrolled(iterable=inner):
            return unrolled(context, inner)
        case _:
            context.surroundings.items_of(value)
            try:
                items: list[Value] = list(value)  # type: ignore[call-overload]
            except TypeError:
                raise UnsupportedType(
                    "the iterable of a loop", describe(value), context.span, _ITERABLE_HELP
                ) from None
            return items


def _complex_row(context: Context, value: Complex, index: Atom) -> Complex:
    parts = (
        take_inside(context, part, index) for part in (value.real, value.imag) if isinstance(part, Array)
    )
    return Complex(*parts)


def rows(array: Array) -> Iterated:
    """The rows (or elements) of an array."""
    return Iterated(array.shape[0], lambda inner, index: take_inside(inner, array, index))


def unrolled(context: Context, value: Value) -> list[Value]:
    """The items of something whose extent is known now; those of a generator are all asked for at once."""
    if isinstance(value, LazyGenerator):
        as_list = ast.copy_location(ast.ListComp(value.node.elt, value.node.generators), value.node)
        value = context.evaluate(value.frame, as_list)
    items = iterate(context, value)
    return items if isinstance(items, list) else _unrolled(context, items)


def _unrolled(context: Context, items: Iterated) -> list[Value]:
    extent = items.static_extent
    if extent is None:
        help = "loop over it with a plain `for`, or take its parts by index: `x[0]`, `x[1:]`"
        raise StaticRequired("the length of what is unrolled", context.span, help)
    return [_plain(items.item(context, i64(position))) for position in range(extent)]


def _plain(item: Value) -> Value:
    """A weak constant as the Python number it is."""
    if isinstance(item, Scalar) and item.is_weak and isinstance(item.atom, Const):
        return item.atom.value
    if isinstance(item, tuple):
        return tuple(_plain(part) for part in item)
    return item


def has_run(context: Context, items: Iterated) -> bool:
    """Whether the sequence is known not to be empty."""
    extent = items.static_extent
    if extent is not None:
        return extent > 0
    return is_nonnegative(context, context.builder.size("sub", items.extent, i64(1)))


def is_runtime_iterable(value: Value) -> bool:
    """Whether a value is a run-time sequence."""
    return is_staged(value) or isinstance(value, Iterated)
