"""Elements and rows: proved indices as they are, checked ones clamped, ignored ones guarded; writing there.

A checked index outside its dimension is remembered as a failure and read as 0. Every buffer has room for at
least one row of each dimension, so index 0 is inside even where the dimension is empty.
"""

from __future__ import annotations

from anadrome.array_ir import nodes as array_ir
from anadrome.array_ir.nodes import INDEX_MESSAGE, Bounds
from anadrome.dtypes import BOOL, I64
from anadrome.errors import Span
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir.nodes import Expr
from anadrome.lower.arithmetic import ZERO, compute
from anadrome.lower.emit import fold
from anadrome.lower.lowering import Located, Lowering
from anadrome.lower.values import Delivered, Destination, Filled, Place, Value

DROPPABLE_CHECKS = ("index", "size", "assert")
"""The errors that `checks=False` leaves out; the others are part of what a program means."""


def locate(
    low: Lowering, array: Place, indices: tuple[array_ir.Atom, ...], bounds: Bounds, span: Span | None
) -> Located:
    """The element or row of an array at these indices."""
    found = _locate(low, array, indices, bounds, span)
    return Located(bound(low, found.place), found.guard) if found.place.shape else found


def bound(low: Lowering, place: Place) -> Place:
    """The place with its offset in a variable, for a row that is read or written many times."""
    return Place(place.storage, low.emit.let("row", I64, place.offset), place.shape)


def _locate(
    low: Lowering, array: Place, indices: tuple[array_ir.Atom, ...], bounds: Bounds, span: Span | None
) -> Located:
    values = low.scalars(indices)
    if bounds is Bounds.PROVED or (bounds is Bounds.CHECKED and not low.config.checks):
        return Located(array.row(values))
    inside = [_inside(index, size) for index, size in zip(values, array.shape, strict=False)]
    if bounds is Bounds.CHECKED:
        checked = tuple(
            _checked(low, index, size, condition, span)
            for index, size, condition in zip(values, array.shape, inside, strict=False)
        )
        return Located(array.row(checked))
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
        for index, size in zip(low.scalars(indices), shape, strict=False):
            _checked(low, index, size, _inside(index, size), span)


def check(low: Lowering, expr: array_ir.Check, span: Span | None) -> None:
    """A check of the program."""
    if low.config.checks or expr.error not in DROPPABLE_CHECKS:
        code = low.failure(expr.error, expr.message, span)
        low.emit.emit(kernel_ir.Check(low.scalar(expr.condition), code, low.scalars(expr.values)))
        low.emit.mark_check()


def _inside(index: Expr, size: Expr) -> Expr:
    """0 ≤ index < size"""
    return compute("and", compute("ge", index, ZERO), compute("lt", index, size))


def _checked(low: Lowering, index: Expr, size: Expr, condition: Expr, span: Span | None) -> Expr:
    match index, size:
        case kernel_ir.Const(value=number), kernel_ir.Const(value=limit) if 0 <= number < limit:
            return index
        case _:
            pass
    is_inside = low.emit.let("inside", BOOL, condition)
    low.emit.emit(kernel_ir.Check(is_inside, low.failure("index", INDEX_MESSAGE, span), (index, size)))
    low.emit.mark_check()
    return low.emit.let("index", I64, compute("select", is_inside, index, ZERO))


def write(low: Lowering, located: Located, value: Value) -> None:
    """Put a scalar or row into its place, where the place is inside."""
    if located.guard is not None:
        with low.emit.open("branch") as block:
            write(low, Located(located.place), value)
        low.emit.emit(kernel_ir.If(located.guard, tuple(block.stmts)))
        return
    place = located.place
    if isinstance(value, Place | Filled | Delivered):
        low.deliver(value, Destination(place))
    else:
        low.emit.emit(kernel_ir.Store(place.buffer, place.offset, value))


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
    if isinstance(value, Place | Filled):
        low.deliver(value, Destination(place, operator))
    else:
        old = kernel_ir.Load(place.buffer, place.offset)
        low.emit.emit(kernel_ir.Store(place.buffer, place.offset, fold(operator, old, value)))
