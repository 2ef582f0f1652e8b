"""What a kernel says beside Python: where its thread is, memory of a block, atomic operations, barriers, and
what the threads of a warp do together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from anadrome.array_ir.nodes import ArrayType, Atom, Bounds, Collective, Var, i64
from anadrome.dtypes import BOOL, I64, DType, from_numpy
from anadrome.errors.frontend import UnsupportedType
from anadrome.errors.kernels_launch import KernelCopy, KernelMemory, KernelRefused, UnsuitableAtomic
from anadrome.frontend.arrays import as_array, atom, describe, type_of, unboxed
from anadrome.frontend.context import Context
from anadrome.frontend.indexing import compose, selectors
from anadrome.frontend.kernels.thread import Thread, thread_of
from anadrome.frontend.operators import truth
from anadrome.frontend.structures import is_number
from anadrome.frontend.values import Array, Cell, Fixed, Range, Scalar, ScopeKind, Value, is_staged
from anadrome.frontend.writing import check_inside
from anadrome.kernel_ir.nodes import WARP

FULL_MASK = 0xFFFFFFFF
"""All lanes of a warp."""


class Triple(NamedTuple):
    """Three numbers, one for each direction."""

    x: Value
    y: Value
    z: Value


# ---------------------------------------------------------------------------- where a thread is
def directions(context: Context, name: str) -> Triple:
    """`threadIdx` and its kin."""
    return Triple(*(Scalar(var) for var in thread_of(context, name).triple(name)))


def lane(context: Context) -> Value:
    """The number of the thread in its warp: that in its block, x running fastest, modulo 32."""
    thread, builder = thread_of(context, "laneid"), context.builder
    (bx, by, _), (tx, ty, tz) = thread.triple("blockDim"), thread.triple("threadIdx")
    row = builder.apply("add", builder.apply("mul", tz, by), ty)
    number = builder.apply("add", builder.apply("mul", row, bx), tx)
    return Scalar(_nonnegative(context, builder.apply("mod", number, i64(WARP))))


def grid(context: Context, ndim: Value) -> Value:
    """The thread's place in the whole grid, in so many directions."""
    thread, builder = thread_of(context, "grid"), context.builder
    triples = [thread.triple(name) for name in ("blockIdx", "blockDim", "threadIdx")]
    places = [
        _nonnegative(context, builder.apply("add", builder.apply("mul", block, size), own))
        for block, size, own in zip(*triples, strict=True)
    ]
    return _leading(context, "grid", places, ndim)


def gridsize(context: Context, ndim: Value) -> Value:
    """How many threads the whole grid has, in so many directions."""
    thread, builder = thread_of(context, "gridsize"), context.builder
    pairs = zip(thread.triple("gridDim"), thread.triple("blockDim"), strict=True)
    sizes = [_nonnegative(context, builder.apply("mul", blocks, size)) for blocks, size in pairs]
    return _leading(context, "gridsize", sizes, ndim)


def _leading(context: Context, name: str, atoms: Sequence[Atom], ndim: Value) -> Value:
    """The first one as a number, or the first two or three as a tuple."""
    if isinstance(ndim, bool) or not isinstance(ndim, int) or not 1 <= ndim <= 3:
        help = f"write `ad.{name}(1)`, `ad.{name}(2)` or `ad.{name}(3)`"
        raise UnsupportedType(f"the argument of `ad.{name}`", describe(ndim), context.span, help)
    found = tuple(Scalar(one) for one in atoms[:ndim])
    return found[0] if ndim == 1 else found


def _nonnegative(context: Context, atom: Atom) -> Atom:
    if isinstance(atom, Var):
        context.nonnegative.add(atom)
    return atom


# ---------------------------------------------------------------------------- memory
def shared_array(context: Context, shape: Value, dtype: Value) -> Value:
    """Memory of the block, which nobody has written yet."""
    thread = thread_of(context, "shared.array")
    _refuse_parallel(context, "shared.array")
    kind, sizes = _memory(context, "shared.array", shape, dtype)
    if sizes == (0,):
        return _dynamic(context, thread, kind)
    type_ = ArrayType(kind, tuple(i64(size) for size in sizes))
    return _made(context, thread, Collective("shared", memory=type_))


def _dynamic(context: Context, thread: Thread, kind: DType) -> Value:
    """The dynamic part of the shared memory, as elements of one type."""
    if thread.has_dynamic:
        reason = "a block has one dynamic part, and it has an array already"
        raise KernelMemory("shared.array", reason, context.span)
    thread.has_dynamic = True
    builder = context.builder
    bytes_ = thread.where["shared_bytes"]
    memory = ArrayType(kind, (builder.size("floordiv", bytes_, i64(kind.bytes)),))
    return _made(context, thread, Collective("shared", args=(bytes_,), memory=memory))


def _made(context: Context, thread: Thread, expr: Collective) -> Value:
    cell = Cell(context.builder.let_one(expr, "shared"), context.scope)
    thread.cells.append(cell)
    return Array(cell)


def local_array(context: Context, shape: Value, dtype: Value) -> Value:
    """An array of the thread's own, zeros at first."""
    thread_of(context, "local.array")
    kind, sizes = _memory(context, "local.array", shape, dtype)
    return context.call(np.zeros, sizes, kind.numpy.type)


def _memory(context: Context, name: str, shape: Value, dtype: Value) -> tuple[DType, tuple[int, ...]]:
    """The type and shape of memory, which are known while compiling."""
    sizes = shape if isinstance(shape, tuple | list) else (shape,)
    numbers: list[int] = []
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, int | np.integer):
            raise KernelMemory(name, f"its shape is {describe(size)}", context.span)
        numbers.append(int(size))
    is_dynamic = name == "shared.array" and numbers == [0]
    if not numbers or (min(numbers) < 1 and not is_dynamic):
        raise KernelMemory(name, f"its shape is {tuple(numbers)}", context.span)
    try:
        kind = None if dtype is None or is_staged(dtype) else from_numpy(dtype)
    except TypeError:
        kind = None
    if kind is None:
        raise KernelMemory(name, f"its type is {describe(dtype)}", context.span)
    return kind, tuple(numbers)


# ---------------------------------------------------------------------------- atomic operations
ATOMICS = {
    "add": "add",
    "sub": "sub",
    "min": "min",
    "max": "max",
    "and_": "and",
    "or_": "or",
    "xor": "xor",
    "exch": "exchange",
    "cas": "compare",
}
"""The name of an atomic operation -> that of the kernel IR's."""


def atomic(context: Context, name: str, array: Value, index: Value, *values: Value) -> Value:
    """Combine a value into an element; the element before. `values` are what "compare" expects, and the
    value."""
    thread = thread_of(context, f"atomic.{name}")
    _refuse_parallel(context, f"atomic.{name}")
    if not isinstance(array, Array) or not thread.holds(array.cell):
        own = "an array of the thread's own" if isinstance(array, Array) else describe(array)
        raise UnsuitableAtomic(name, f"it is called on {own}", context.span)
    kind = array.dtype
    if kind is BOOL or (kind.is_float and name in ("and_", "or_", "xor")):
        raise UnsuitableAtomic(name, f"there is none on {kind.numpy_name}", context.span)
    items = _element(context, name, array, index)
    numbers = [_fitting(context, name, kind, value) for value in values]
    *expected, value = numbers
    bounds = Bounds.PROVED if all(item.is_proved for item in items) else Bounds.CHECKED
    places = tuple(item.atom for item in items)
    base = context.read(Array(array.cell))
    args = (*places, value, *expected)
    old, new = context.builder.let(Collective(f"atomic {ATOMICS[name]}", (base,), args, bounds), "old")
    context.write(array.cell, new)
    return Scalar(old)


def _fitting(context: Context, name: str, kind: DType, value: Value) -> Atom:
    """A number as the type of the element it goes into."""
    value = unboxed(context, value)
    if not isinstance(value, Scalar) and not is_number(value):
        raise UnsuitableAtomic(name, f"its value is {describe(value)}", context.span)
    if kind.is_integer and type_of(context, value)[0].is_float:
        raise UnsuitableAtomic(name, f"{describe(value)} into an array of {kind.numpy_name}", context.span)
    return atom(context, value, kind)


def _element(context: Context, name: str, array: Array, index: Value) -> list[Fixed]:
    """The indices of one element in the memory that an array looks into."""
    found = selectors(context, array.shape, index)
    fixed = [item for item in found if isinstance(item, Fixed)]
    if len(fixed) != len(found) or len(found) != len(array.shape):
        raise UnsuitableAtomic(name, "its index names no single element", context.span)
    if array.view is None:
        return fixed
    place = array.view.place
    if place is None:
        raise UnsuitableAtomic(name, "it is called on an array under another shape", context.span)
    check_inside(context, array, fixed)
    inner = [Fixed(item.atom, True) for item in fixed]
    items = [item for item in compose(context, place, inner) if isinstance(item, Fixed)]
    assert not any(isinstance(item, Range) for item in items)
    return items


# ---------------------------------------------------------------------------- together
def barrier(context: Context, name: str, operation: str = "", predicate: Value = None) -> Value:
    """Wait for all threads of the block; all memory may be another afterwards."""
    args = () if not operation else (_predicate(context, predicate),)
    return _together(context, name, f"barrier {operation}".strip(), args, is_seen=True)


def fence(context: Context) -> Value:
    """What was written before is seen before what is written after."""
    return _together(context, "threadfence", "fence", (), is_seen=True)


def warp_sync(context: Context, mask: Value) -> Value:
    """Wait for the threads of the warp."""
    return _together(context, "syncwarp", "warp sync", (_integer(context, "mask", mask),), is_seen=True)


def vote(context: Context, name: str, operation: str, mask: Value, predicate: Value) -> Value:
    """What the predicates of the warp's threads come to."""
    args = (_integer(context, "mask", mask), _predicate(context, predicate))
    return _together(context, name, f"warp {operation}", args)


def shuffle(context: Context, name: str, operation: str, mask: Value, value: Value, lane: Value) -> Value:
    """The value that another thread of the warp brings."""
    value = unboxed(context, value)
    if not isinstance(value, Scalar) and not is_number(value):
        raise UnsupportedType(f"the value of `ad.{name}`", describe(value), context.span, "use a number")
    numbers = (_integer(context, "mask", mask), atom(context, value), _integer(context, "lane", lane))
    return _together(context, name, f"warp {operation}", numbers)


def _together(
    context: Context, name: str, operation: str, args: tuple[Atom, ...], is_seen: bool = False
) -> Value:
    """An operation of several threads. `is_seen`: what others have written is seen after it."""
    thread = thread_of(context, name)
    _refuse_parallel(context, name)
    scopes = list(context.scopes())
    cells = [cell for cell in thread.cells if is_seen and cell.home in scopes]
    for cell in cells:
        if cell.poisoned is not None:
            raise KernelCopy(cell.var.name, cell.poisoned)
    arrays = tuple(context.read(Array(cell)) for cell in cells)
    results = context.builder.let(Collective(operation, arrays, args))
    for cell, var in zip(cells, results[len(results) - len(cells) :], strict=True):
        context.write(cell, var)
    return Scalar(results[0]) if len(results) > len(cells) else None


def _predicate(context: Context, value: Value) -> Atom:
    value = unboxed(context, value)
    if is_number(value):
        return atom(context, bool(value))
    if not isinstance(value, Scalar):
        raise UnsupportedType("a predicate", describe(value), context.span, "use a comparison of numbers")
    return truth(context, value)


def _integer(context: Context, what: str, value: Value) -> Atom:
    found = as_array(context, unboxed(context, value))
    if not isinstance(found, Scalar) or not found.dtype.is_integer:
        raise UnsupportedType(f"the {what}", describe(value), context.span, "use an integer")
    return atom(context, found, I64)


def _refuse_parallel(context: Context, name: str) -> None:
    """Threads do nothing together where a thread itself has no order, or may not go on."""
    for scope in context.scopes():
        if scope.kind is ScopeKind.KERNEL:
            return
        if scope.kind is ScopeKind.PARFOR:
            help = "write a `for` loop"
            raise KernelRefused(f"`ad.{name}` in a comprehension", context.span, help)
        if scope.kind is ScopeKind.CONDITION:
            help = "write `while True:`, with an `if` and a `break`"
            raise KernelRefused(f"`ad.{name}` in the condition of a loop", context.span, help)
