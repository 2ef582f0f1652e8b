"""`Library`: calls of routines, and small matrix products as plain loops."""

from __future__ import annotations

from anadrome.array_ir import nodes as array_ir
from anadrome.dtypes import BOOL, I64
from anadrome.errors import Span
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir.arithmetic import ONE, ZERO, compute, known, multiply, product
from anadrome.kernel_ir.nodes import Buffer, Expr, Space
from anadrome.kernel_ir.routines import routine
from anadrome.library.record import BATCH, LibraryOperation
from anadrome.library.table import LIBRARY
from anadrome.lower.lowering import Lowering, is_scalar
from anadrome.lower.values import Delivered, Place

SMALL_PRODUCT = 512
"""Matrix products of at most this many multiplications, known at compile time, are loops."""


def lower_library(low: Lowering, let: array_ir.Let, expr: array_ir.Library) -> None:
    """Emit the call and bind its results."""
    row = LIBRARY[expr.operation]
    if row.plain == "product":
        _matmul(low, let.targets[0], row, expr)
        return
    arrays = [arg for arg in row.read(expr.args) if isinstance(arg, array_ir.Var)]
    args = [low.place(arg) for arg in arrays]
    places = [
        low.allocate(target) if is_scalar(target) else low.destination(target) for target in let.targets
    ]
    buffers = tuple(buffer_of(low, place) for place in (*args, *places))
    values = (*_sizes(low, row, expr), *(kernel_ir.Const(bool(flag), BOOL) for flag in expr.attributes))
    name = routine(row.routine_name, arrays[0].type.dtype)
    if row.is_total:
        low.emit.call(name, (*buffers, *values))
    else:
        _checked(low, let.span, name, buffers, values, row)
    for target, place in zip(let.targets, places, strict=True):
        if is_scalar(target):
            low.bind(target, low.emit.element(target.name, place))
        else:
            low.bind(target, place)


def _sizes(low: Lowering, row: LibraryOperation, expr: array_ir.Library) -> tuple[Expr, ...]:
    """The sizes of a call, in the order of its routine."""
    shapes = [arg.type.shape for arg in expr.args]
    sizes = {name: low.scalar(size) for name, size in row.measured(shapes, expr.attributes).items()}
    sizes[BATCH] = product(low.scalars(row.batch(shapes)))
    return tuple(sizes[name] for name in row.sizes)


def _checked(
    low: Lowering,
    span: Span | None,
    name: str,
    buffers: tuple[Buffer, ...],
    values: tuple[Expr, ...],
    row: LibraryOperation,
) -> None:
    """A routine that may find that there is no result."""
    status = Buffer("status", I64, Space.LOCAL)
    low.emit.emit(kernel_ir.Alloc(status, ONE))
    low.emit.call(name, (*buffers, status, *values))
    exists = compute("eq", kernel_ir.Load(status, (ZERO,)), ZERO)
    low.emit.emit(kernel_ir.Check(exists, low.failure(row.error, row.failure, span)))


def buffer_of(low: Lowering, place: Place) -> Buffer:
    """A buffer that begins where a place begins."""
    if known(place.start) == 0:
        return place.buffer
    view = Buffer(place.buffer.name, place.dtype, place.buffer.space)
    low.emit.emit(kernel_ir.View(view, place.buffer, place.start))
    return view


def _matmul(low: Lowering, target: array_ir.Var, row: LibraryOperation, expr: array_ir.Library) -> None:
    """out = op(left)·op(right), added to the place where the product is a contribution."""
    left, right = (low.place(arg) for arg in expr.args if isinstance(arg, array_ir.Var))
    is_left_turned, is_right_turned = (bool(flag) for flag in expr.attributes)
    rows, columns, inner = _sizes(low, row, expr)
    found = low.offer(target)
    is_added = found is not None and found.operator == "add"
    is_usable = found is not None and (found.operator is None or is_added)
    place = found.place if found is not None and is_usable else low.allocate(target)
    work = multiply(multiply(rows, inner), columns)
    is_float = place.dtype.is_float
    if not is_float or (isinstance(work, kernel_ir.Const) and int(work.value) <= SMALL_PRODUCT):
        if not is_added:
            low.emit.fill(place, kernel_ir.Const(0.0 if is_float else 0, place.dtype))
        _product_loops(low, place, left, right, (rows, inner, columns), (is_left_turned, is_right_turned))
    else:
        flags = (is_left_turned, is_right_turned, is_added)
        low.emit.call(
            routine(row.routine_name, place.dtype),
            (
                *(buffer_of(low, operand) for operand in (left, right, place)),
                *(rows, columns, inner),
                *(kernel_ir.Const(flag, BOOL) for flag in flags),
            ),
        )
    low.bind(target, Delivered() if is_added else place)


def _product_loops(
    low: Lowering,
    place: Place,
    left: Place,
    right: Place,
    sizes: tuple[Expr, Expr, Expr],
    turned: tuple[bool, bool],
) -> None:
    """out[i, j] += left[i, k]·right[k, j], j innermost"""
    rows, inner, columns = sizes
    with low.emit.loop("i", ZERO, rows) as i, low.emit.loop("k", ZERO, inner) as k:
        factor = low.emit.element("l", left.row((k, i) if turned[0] else (i, k)))
        with low.emit.loop("j", ZERO, columns, is_map=True) as j:
            other = right.row((j, k) if turned[1] else (k, j))
            added = place.row((i, j))
            term = compute("mul", factor, kernel_ir.Load(right.buffer, other.at()))
            old = kernel_ir.Load(place.buffer, added.at())
            total = low.emit.fold("add", place.dtype, old, term)
            low.emit.emit(kernel_ir.Store(place.buffer, added.at(), total))
