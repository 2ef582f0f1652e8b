"""Elements and rows: proved indices as they are, checked ones clamped, ignored ones guarded; writing there.

A check that fails is remembered, and its loop goes on: element 0 is then read, or the row at 0, or what a
constant index names there, for which every buffer has room, an empty one too.
"""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.array_ir import nodes as array_ir
from anadrome.array_ir.nodes import Bounds
from anadrome.dtypes import BOOL, I64
from anadrome.errors import Span
from anadrome.errors.runtime import INDEX_MESSAGE
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir.arithmetic import ZERO, compute
from anadrome.kernel_ir.nodes import Expr
from anadrome.lower.lowering import Located, Lowering
from anadrome.lower.values import ROOM, Delivered, Destination, Place, Splat, Value

DROPPABLE_CHECKS = ("index", "size", "mask", "assert")
"""The errors that `checks=False` leaves out; the others are part of what a program means."""


def locate(
    low: Lowering, array: Place, indices: tuple[array_ir.Atom, ...], bounds: Bounds, span: Span | None
) -> Located:
    """The element or row of an array at these indices."""
    found = _locate(low, array, indices, bounds, span)
    return Located(bound(low, found.place), found.guard) if found.place.shape else found


def bound(low: Lowering, place: Place) -> Place:
    """The place with its offset in a variable, for a row that is read or written many times."""
    offset = low.emit.let("row", I64, place.offset)
    prefix = tuple(low.emit.let("row", I64, index) for index in place.prefix)
    return Place(place.storage, offset, place.shape, prefix)


def _locate(
    low: Lowering, array: Place, indices: tuple[array_ir.Atom, ...], bounds: Bounds, span: Span | None
) -> Located:
    values = low.scalars(indices)
    if bounds is Bounds.PROVED or (bounds is Bounds.CHECKED and not low.config.checks):
        return Located(array.row(values))
    inside = [_inside(index, size) for index, size in zip(values, array.shape, strict=False)]
    if bounds is Bounds.CHECKED:
        return Located(array.row(_checked(low, values, array.shape, inside, span)))
    guard: Expr | None = None
    for condition in inside:
        guard = condition if guard is None else compute("and", guard, condition)
    return Located(array.row(values), None if guard is None else low.emit.let("inside", BOOL, guard))


def check_filled(
    low: Lowering,
    shape: tuple[Expr, ...],
    indices: tuple[array_ir.Atom, ...],
    bounds: Bounds,
    span: Span | None,
) -> None:
    """Check indices into an array that is not in memory."""
    if bounds is Bounds.CHECKED and low.config.checks:
        values = low.scalars(indices)
        _checked(
            low,
            values,
            shape,
            [_inside(index, size) for index, size in zip(values, shape, strict=False)],
            span,
        )


def check(low: Lowering, expr: array_ir.Check, span: Span | None) -> None:
    """A check of the program."""
    if low.config.checks or expr.error not in DROPPABLE_CHECKS:
        code = low.failure(expr.error, expr.message, span)
        low.emit.emit(kernel_ir.Check(low.scalar(expr.condition), code, low.scalars(expr.values)))


def _inside(index: Expr, size: Expr) -> Expr:
    """0 ≤ index < size"""
    return compute("and", compute("ge", index, ZERO), compute("lt", index, size))


def _checked(
    low: Lowering,
    indices: Sequence[Expr],
    shape: Sequence[Expr],
    conditions: Sequence[Expr],
    span: Span | None,
) -> tuple[Expr, ...]:
    """The indices where each is inside its dimension, else zeros."""
    flags: list[Expr] = []
    for index, size, condition in zip(indices, shape, conditions, strict=False):
        if not _is_sure(index, size):
            flags.append(low.emit.let("inside", BOOL, condition))
            low.emit.emit(
                kernel_ir.Check(flags[-1], low.failure("index", INDEX_MESSAGE, span), (index, size))
            )
    if not flags:
        return tuple(indices)
    are_inside = flags[0]
    for flag in flags[1:]:
        are_inside = compute("and", are_inside, flag)
    if len(flags) > 1:
        are_inside = low.emit.let("inside", BOOL, are_inside)
    return tuple(
        index
        if _is_sure(index, size)
        else low.emit.let("index", I64, compute("select", are_inside, index, ZERO))
        for index, size in zip(indices, shape, strict=False)
    )


def _is_sure(index: Expr, size: Expr) -> bool:
    """Whether both are constants, and the index is inside, and where an empty buffer has room."""
    match index, size:
        case kernel_ir.Const(value=number), kernel_ir.Const(value=limit):
            return 0 <= number < limit <= ROOM
        case _:
            return False


def write(low: Lowering, located: Located, value: Value) -> None:
    """Put a scalar or row into its place, where the place is inside."""
    if located.guard is not None:
        with low.emit.open("branch") as block:
            write(low, Located(located.place), value)
        low.emit.emit(kernel_ir.If(located.guard, tuple(block.stmts)))
        return
    place = located.place
    if isinstance(value, Place | Splat | Delivered):
        low.deliver(value, Destination(place))
    else:
        low.emit.emit(kernel_ir.Store(place.buffer, place.at(), value))


def combine(low: Lowering, located: Located, value: Value, operator: str) -> None:
    """Combine a scalar or row into its place, where the place is inside."""
    if isinstance(value, Delivered):
        return
    if located.guard is not None:
        with low.emit.open("branch") as block:
            combine(low, Located(located.place), value, operator)
        low.emit.emit(kernel_ir.If(located.guard, tuple(block.stmts)))
        return
    place = located.place
    if isinstance(value, Place | Splat):
        low.deliver(value, Destination(place, operator))
    else:
        low.emit.combine_element(operator, place.buffer, place.at(), value)
