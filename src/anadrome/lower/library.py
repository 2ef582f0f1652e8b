"""`Library`: calls of routines, and small matrix products as plain loops."""

from __future__ import annotations

from anadrome.array_ir import nodes as array_ir
from anadrome.dtypes import BOOL, I64
from anadrome.errors import Span
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir.nodes import Buffer, Expr, Space
from anadrome.kernel_ir.routines import routine
from anadrome.lower.arithmetic import ONE, ZERO, compute, is_constant, multiply, product
from anadrome.lower.emit import fold
from anadrome.lower.lowering import Lowering, is_scalar
from anadrome.lower.values import Delivered, Place

SMALL_PRODUCT = 512
"""Matrix products of at most this many multiplications, known at compile time, are loops."""
SINGULAR = "the matrix is singular"
NOT_POSITIVE = "the matrix is not positive definite"
NOT_CONVERGED = "the iteration for its eigenvalues or singular values did not converge"
DECOMPOSITIONS = frozenset({"slogdet", "qr", "eigh", "svd"})
"""The operations with several results."""
TRANSFORMS = frozenset({"fourier", "fourier_of_real", "fourier_to_real"})
"""The operations along the last dimension."""


def lower_library(low: Lowering, let: array_ir.Let, expr: array_ir.Library) -> None:
    """Emit the call and bind its results."""
    if expr.operation in TRANSFORMS:
        _transform(low, let, expr)
        return
    target = let.targets[0]
    args = [low.place(arg) for arg in expr.args if isinstance(arg, array_ir.Var)]
    flags = tuple(kernel_ir.Const(bool(flag), BOOL) for flag in expr.attributes)
    if expr.operation == "matmul":
        _matmul(low, target, args, bool(expr.attributes[0]), bool(expr.attributes[1]))
        return
    if expr.operation in DECOMPOSITIONS:
        _decomposition(low, let, expr.operation, args)
        return
    place = low.destination(target)
    name = routine(expr.operation, args[0].dtype)
    inputs = [buffer_of(low, arg) for arg in args]
    output = buffer_of(low, place)
    size = args[0].shape[0]
    match expr.operation:
        case "solve" | "triangular_solve":
            columns = args[1].shape[1]
            _checked(low, let.span, name, (*inputs, output), (size, columns, *flags), SINGULAR)
        case "inv":
            _checked(low, let.span, name, (*inputs, output), (size,), SINGULAR)
        case "cholesky":
            _checked(low, let.span, name, (*inputs, output), (size,), NOT_POSITIVE)
        case "det":
            low.emit.call(name, (*inputs, output, size))
            low.bind(target, low.emit.load(target.name, place.buffer, place.offset))
            return
        case "argsort" | "cholesky_adjoint":
            low.emit.call(name, (*inputs, output, size))
        case _:
            raise KeyError(expr.operation)
    low.bind(target, place)


def _decomposition(low: Lowering, let: array_ir.Let, operation: str, args: list[Place]) -> None:
    """The operations with several results."""
    places = [
        low.allocate(target) if is_scalar(target) else low.destination(target) for target in let.targets
    ]
    name = routine(operation, args[0].dtype)
    buffers = (buffer_of(low, args[0]), *(buffer_of(low, place) for place in places))
    rows, columns = args[0].shape
    match operation:
        case "slogdet":
            low.emit.call(name, (*buffers, rows))
        case "qr":
            low.emit.call(name, (*buffers, rows, columns))
        case "eigh":
            _checked(low, let.span, name, buffers, (rows,), NOT_CONVERGED)
        case "svd":
            _checked(low, let.span, name, buffers, (rows, columns, args[1].shape[0]), NOT_CONVERGED)
        case _:
            raise KeyError(operation)
    for target, place in zip(let.targets, places, strict=True):
        if is_scalar(target):
            low.bind(target, low.emit.load(target.name, place.buffer, place.offset))
        else:
            low.bind(target, place)


def _transform(low: Lowering, let: array_ir.Let, expr: array_ir.Library) -> None:
    """The transforms of every row; of `room` only the size counts."""
    arrays = [arg for arg in expr.args if isinstance(arg, array_ir.Var)]
    parts = arrays if expr.operation == "fourier" else arrays[:-1]
    buffers = [buffer_of(low, low.place(part)) for part in parts]
    places = [low.destination(target) for target in let.targets]
    buffers += [buffer_of(low, place) for place in places]
    *batch, first = low.scalars(parts[0].type.shape)
    (last,) = low.scalars(arrays[-1].type.shape[-1:])
    sizes: tuple[Expr, ...]
    match expr.operation:
        case "fourier":
            sizes = (first, kernel_ir.Const(bool(expr.attributes[0]), BOOL))
        case "fourier_of_real":
            sizes = (first, last)
        case _:
            sizes = (last, first)
    dtype = parts[0].type.dtype
    low.emit.call(routine(expr.operation, dtype), (*buffers, product(batch), *sizes))
    for target, place in zip(let.targets, places, strict=True):
        low.bind(target, place)


def _checked(
    low: Lowering,
    span: Span | None,
    name: str,
    buffers: tuple[Buffer, ...],
    values: tuple[Expr, ...],
    message: str,
) -> None:
    """A routine that may find that there is no result."""
    status = Buffer("status", I64, Space.LOCAL)
    low.emit.emit(kernel_ir.Alloc(status, ONE))
    low.emit.call(name, (*buffers, status, *values))
    exists = compute("eq", kernel_ir.Load(status, ZERO), ZERO)
    low.emit.emit(kernel_ir.Check(exists, low.failure("singular", message, span)))
    low.emit.mark_check()


def buffer_of(low: Lowering, place: Place) -> Buffer:
    """A buffer that begins where a place begins."""
    if is_constant(place.offset, 0):
        return place.buffer
    view = Buffer(place.buffer.name, place.dtype, place.buffer.space)
    low.emit.emit(kernel_ir.View(view, place.buffer, place.offset))
    return view


def _matmul(
    low: Lowering, target: array_ir.Var, args: list[Place], is_left_turned: bool, is_right_turned: bool
) -> None:
    """out = op(left)·op(right), added to the place where the product is a contribution."""
    left, right = args
    rows, inner = left.shape[::-1] if is_left_turned else left.shape
    columns = right.shape[0] if is_right_turned else right.shape[1]
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
            routine("gemm", place.dtype),
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
        factor = low.emit.load("l", left.buffer, left.element((k, i) if turned[0] else (i, k)))
        with low.emit.loop("j", ZERO, columns, is_map=True) as j:
            other = kernel_ir.Load(right.buffer, right.element((j, k) if turned[1] else (k, j)))
            offset = place.element((i, j))
            old = kernel_ir.Load(place.buffer, offset)
            term = compute("mul", factor, other)
            low.emit.emit(kernel_ir.Store(place.buffer, offset, fold("add", old, term)))
