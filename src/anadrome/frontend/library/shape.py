"""The same elements under another shape or in another order of axes: views, where NumPy gives views."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import Atom, Const, Size, Var, i64
from anadrome.dtypes import I64
from anadrome.errors.base import counted
from anadrome.errors.frontend import ShapeMismatch, UnsuitableSize, UnsupportedArgument
from anadrome.frontend.arrays import as_array, atom, boxed, describe
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.indexing import take
from anadrome.frontend.library.common import (
    array_var,
    axes_of,
    axis_of,
    built,
    own_shape,
    permuted_view,
    plain,
    require,
    reshaped_view,
    shape_argument,
    static_int,
)
from anadrome.frontend.operators import broadcast_shapes, is_one
from anadrome.frontend.sizes import agree, as_size, is_same_size, multiply_sizes, show_shape, size_value
from anadrome.frontend.structures import has_staged
from anadrome.frontend.values import Array, Staged, Value
from anadrome.frontend.views import is_contiguous, is_several, view_of


# ---------------------------------------------------------------------------- reshape
def target_shape(context: Context, source: tuple[Size, ...], shape: Value) -> tuple[Size, ...]:
    """A shape argument for the elements of `source`, with -1 filled in and the counts made sure of."""
    parts = list(shape) if isinstance(shape, tuple | list) else [shape]
    unknown = [
        position for position, part in enumerate(parts) if isinstance(part, int | np.integer) and part == -1
    ]
    if len(unknown) > 1:
        raise UnsupportedArgument("np.reshape", "two unknown sizes (-1)", context.span)
    sizes = [
        i64(1) if position in unknown else as_size(context, part, "a shape")
        for position, part in enumerate(parts)
    ]
    if any(isinstance(size, Const) and int(size.value) < 0 for size in sizes):
        help = "one size may be -1, and is then what the number of elements leaves; the others are 0 or more"
        raise UnsuitableSize(
            "np.reshape", f"a negative size in {show_shape(tuple(sizes))}", context.span, help
        )
    if unknown:
        sizes[unknown[0]] = _quotient(context, source, sizes)
    count, wanted = multiply_sizes(context, source), multiply_sizes(context, tuple(sizes))
    agree(context, count, wanted, "np.reshape", (show_shape(source), show_shape(tuple(sizes))))
    return tuple(_known(context, size, source) for size in sizes)


def _known(context: Context, size: Size, source: tuple[Size, ...]) -> Size:
    """The size's name in the source, where it is one of its sizes."""
    return next((one for one in source if is_same_size(context, one, size)), size)


def _quotient(context: Context, source: tuple[Size, ...], known: Sequence[Size]) -> Size:
    """count / Π known, with the sizes both have in common left out, so that (n, m) over m is n itself."""
    left, right = list(source), []
    for size in known:
        twin = next((one for one in left if is_same_size(context, one, size)), None)
        if twin is None:
            right.append(size)
        else:
            left.remove(twin)
    count, divisor = multiply_sizes(context, tuple(left)), multiply_sizes(context, tuple(right))
    if isinstance(divisor, Const):
        return _divided(context, count, int(divisor.value), source, known)
    return context.builder.size("floordiv", count, context.builder.size("max", divisor, i64(1)))


def _divided(
    context: Context, count: Size, divisor: int, source: tuple[Size, ...], known: Sequence[Size]
) -> Size:
    if divisor == 1:
        return count
    if divisor == 0:
        raise ShapeMismatch("np.reshape", show_shape(source), show_shape(tuple(known)), context.span)
    form = context.builder.affine(count)
    if form.constant % divisor == 0 and all(coefficient % divisor == 0 for _, coefficient in form.terms):
        terms = tuple((var, coefficient // divisor) for var, coefficient in form.terms)
        return context.builder.emit_affine(type(form)(terms, form.constant // divisor))
    return context.builder.size("floordiv", count, i64(divisor))


def is_by_columns(context: Context, name: str, found: Staged, order: Value) -> bool:
    """Whether the elements are taken in the order of columns; "K" and "A" ask for that of the memory."""
    if (
        order in ("A", "K")
        and len(found.shape) > 1
        and not (isinstance(found, Array) and is_contiguous(found))
    ):
        reason = f"order={order!r} of an array whose layout in memory is not by rows, or not known"
        raise UnsupportedArgument(name, reason, context.span, 'write `order="C"` or `order="F"`')
    if order not in ("A", "C", "F", "K", None):
        raise UnsupportedArgument(name, f"order={order!r}", context.span)
    return order == "F"


def reshaped(context: Context, a: Value, shape: Value, order: Value = "C") -> Value:
    """np.reshape, by rows or by columns: a view."""
    found = plain(context, a)
    sizes = target_shape(context, found.shape, shape)
    if is_by_columns(context, "np.reshape", found, order):
        return transposed(
            context, _as_shape(context, plain(context, transposed(context, found)), sizes[::-1])
        )
    return _as_shape(context, found, sizes)


def reshape_method(context: Context, array: Staged, *shape: Value, order: Value = "C") -> Value:
    """x.reshape(shape) or x.reshape(n, m)"""
    return reshaped(context, array, shape[0] if len(shape) == 1 else shape, order)


def raveled(context: Context, a: Value, order: Value = "C") -> Value:
    """np.ravel: the elements by rows or by columns, a view"""
    found = plain(context, a)
    if is_by_columns(context, "np.ravel", found, order):
        found = plain(context, transposed(context, found))
    size = multiply_sizes(context, found.shape)
    if isinstance(found, Array) and len(found.shape) == 1 and is_contiguous(found):
        return found if found.view is None else reshaped_view(context, found, (size,), is_ravel=True)
    return _as_shape(context, found, (size,), is_ravel=True)


def flatten(context: Context, array: Staged, order: Value = "C") -> Value:
    """x.flatten(): a copy"""
    found = raveled(context, array, order)
    assert isinstance(found, Array)
    return context.wrap(context.read(found))


# ---------------------------------------------------------------------------- axes
def transposed(context: Context, a: Value, axes: Value = None) -> Value:
    """np.transpose: the axes in reverse, or in the given order; a view"""
    found = plain(context, a)
    rank = len(found.shape)
    if axes is None:
        return _permute(context, found, range(rank)[::-1])
    order = [
        axis_of(context, "np.transpose", axis, rank)
        for axis in (axes if isinstance(axes, tuple | list) else [axes])
    ]
    if sorted(order) != list(range(rank)):
        raise UnsupportedArgument(
            "np.transpose", f"the axes {axes} of an array of {counted(rank, 'dimension')}", context.span
        )
    return _permute(context, found, order)


def _permute(context: Context, found: Staged, order: Sequence[int]) -> Value:
    return permuted_view(context, found, order)


def transpose_method(context: Context, array: Staged, *axes: Value) -> Value:
    """x.transpose(), x.transpose(1, 0), x.transpose((1, 0))"""
    if not axes or (len(axes) == 1 and axes[0] is None):
        return transposed(context, array)
    return transposed(
        context, array, axes[0] if len(axes) == 1 and isinstance(axes[0], tuple | list) else axes
    )


def swapaxes(context: Context, a: Value, axis1: Value, axis2: Value) -> Value:
    """np.swapaxes: a view"""
    found = plain(context, a)
    order = list(range(len(found.shape)))
    one, two = (axis_of(context, "np.swapaxes", axis, len(order)) for axis in (axis1, axis2))
    order[one], order[two] = order[two], order[one]
    return _permute(context, found, order)


def moveaxis(context: Context, a: Value, source: Value, destination: Value) -> Value:
    """np.moveaxis: a view"""
    found = plain(context, a)
    rank = len(found.shape)
    sides = [
        [
            axis_of(context, "np.moveaxis", axis, rank)
            for axis in (side if isinstance(side, tuple | list) else [side])
        ]
        for side in (source, destination)
    ]
    if len(sides[0]) != len(sides[1]) or any(len(set(side)) != len(side) for side in sides):
        raise UnsupportedArgument(
            "np.moveaxis", "as many different axes to as from are expected", context.span
        )
    order = [axis for axis in range(rank) if axis not in sides[0]]
    for target, origin in sorted(zip(sides[1], sides[0], strict=True)):
        order.insert(target, origin)
    return _permute(context, found, order)


def rolled_axis(context: Context, a: Value, axis: Value, start: Value = 0) -> Value:
    """np.rollaxis: a view with the axis in front of what was the axis `start`"""
    name = "np.rollaxis"
    rank, found = len(own_shape(context, name, a)), plain(context, a)
    along, before = axis_of(context, name, axis, rank), static_int(context, name, "start", start)
    if not -rank <= before <= rank:
        reason = f"start={before} of an array of {counted(rank, 'dimension')}"
        raise UnsupportedArgument(name, reason, context.span)
    target = before + rank if before < 0 else before
    order = [one for one in range(rank) if one != along]
    order.insert(target - 1 if along < target else target, along)
    return _permute(context, found, order)


def turned_matrix(name: str) -> StagedCall:
    """np.matrix_transpose: the last two axes swapped; a view"""

    def staged(context: Context, x: Value) -> Value:
        rank = len(as_array(context, x).shape)
        if rank < 2:
            raise UnsupportedArgument(name, f"an array of {counted(rank, 'dimension')}", context.span)
        return swapaxes(context, x, -1, -2)

    return staged


def expand_dims(context: Context, a: Value, axis: Value) -> Value:
    """np.expand_dims: a view with axes of size 1"""
    found = plain(context, a)
    several = axis if isinstance(axis, tuple | list) else (axis,)
    rank = len(found.shape) + len(several)
    new = axes_of(context, "np.expand_dims", several, rank)
    old = iter(found.shape)
    return _as_shape(context, found, tuple(i64(1) if one in new else next(old) for one in range(rank)))


def squeeze(context: Context, a: Value, axis: Value = None) -> Value:
    """np.squeeze: a view without the axes whose size is known to be 1"""
    found = plain(context, a)
    if axis is None:
        dropped = tuple(one for one, size in enumerate(found.shape) if is_one(size))
        for size in found.shape:
            _make_sure_of_several(context, size)
    else:
        dropped = axes_of(context, "np.squeeze", axis, len(found.shape))
        for one in dropped:
            agree(context, found.shape[one], i64(1), "np.squeeze")
    if not dropped and isinstance(found, Array):
        return found
    return _as_shape(
        context, found, tuple(size for one, size in enumerate(found.shape) if one not in dropped)
    )


def _make_sure_of_several(context: Context, size: Size) -> None:
    """A size that only the run knows is not 1: the rank of what `np.squeeze` gives would be another."""
    if not isinstance(size, Const) and not is_several(context, size):
        words = "np.squeeze: an axis whose size only the run knows has size 1: give `axis` to drop it"
        require(context, context.builder.apply("ne", size, i64(1)), "raise", f"ValueError: {words}")


def _as_shape(context: Context, found: Staged, sizes: tuple[Size, ...], is_ravel: bool = False) -> Value:
    if not isinstance(found, Array):
        only = atom(context, found)
        return context.wrap(context.builder.full(sizes, only)) if sizes else boxed(context, only)
    return reshaped_view(context, found, sizes, is_ravel)


def at_least(name: str, rank: int) -> StagedCall:
    """np.atleast_1d, np.atleast_2d, np.atleast_3d of one array"""

    def staged(context: Context, ary: Value) -> Value:
        found = plain(context, ary)
        missing = rank - len(found.shape)
        if missing <= 0:
            return found
        if rank == 3:
            padded = {0: (i64(1),) * 3, 1: (i64(1), *found.shape, i64(1)), 2: (*found.shape, i64(1))}
            return _as_shape(context, found, padded[len(found.shape)])
        return _as_shape(context, found, (*(i64(1),) * missing, *found.shape))

    return staged


# ---------------------------------------------------------------------------- elements at other places
def broadcast_to(context: Context, array: Value, shape: Value) -> Value:
    """np.broadcast_to: a view, which NumPy makes read-only"""
    sizes = shape_argument(context, "np.broadcast_to", shape)
    found = as_array(context, array)
    if len(found.shape) > len(sizes):
        raise ShapeMismatch("np.broadcast_to", show_shape(found.shape), show_shape(sizes), context.span)
    for own, wanted in zip(found.shape[::-1], sizes[::-1], strict=False):
        if not is_one(own):
            agree(context, own, wanted, "np.broadcast_to", (show_shape(found.shape), show_shape(sizes)))
    return _stretched(context, found, sizes, is_writable=False)


def _stretched(context: Context, found: Staged, shape: tuple[Size, ...], is_writable: bool) -> Value:
    """The elements of an array or number under the shape it is broadcast to."""
    if not isinstance(found, Array):
        return context.wrap(context.builder.full(shape, atom(context, found)))
    own, skipped = found.shape, len(shape) - len(found.shape)

    def at(builder: Builder, indices: tuple[Atom, ...]) -> list[Atom]:
        return [
            i64(0) if is_one(size) and not is_one(shape[skipped + axis]) else indices[skipped + axis]
            for axis, size in enumerate(own)
        ]

    return view_of(context, found, shape, at, is_writable=is_writable)


def sliding_windows(
    context: Context,
    x: Value,
    window_shape: Value,
    axis: Value = None,
    *,
    subok: Value = False,
    writeable: Value = False,
) -> Value:
    """np.lib.stride_tricks.sliding_window_view: windows along axes, side by side; a view, which NumPy makes
    read-only"""
    name = "sliding_window_view"
    found = plain(context, x)
    if writeable is not False:
        reason = "windows that are written into: elements stand in several of them"
        raise UnsupportedArgument(name, reason, context.span, "write into the array itself")
    widths, rank = shape_argument(context, name, window_shape), len(found.shape)
    several = axis if isinstance(axis, tuple | list) else (axis,)
    axes = [*range(rank)] if axis is None else [axis_of(context, name, one, rank) for one in several]
    if len(axes) != len(widths):
        reason = f"{counted(len(widths), 'width')} where {len(axes)} are expected"
        raise UnsupportedArgument(name, reason, context.span, "give one width for each axis")
    if not isinstance(found, Array):
        return found
    places = list(found.shape)
    for one, width in zip(axes, widths, strict=True):
        places[one] = _windows(context, name, places[one], width)

    def at(builder: Builder, indices: tuple[Atom, ...]) -> list[Atom]:
        elements = list(indices[:rank])
        for one, within in zip(axes, indices[rank:], strict=True):
            elements[one] = builder.apply("add", elements[one], within)
        return elements

    return view_of(context, found, (*places, *widths), at, is_writable=False)


def _windows(context: Context, name: str, size: Size, width: Size) -> Size:
    """How many windows of a width there are along a size."""
    builder = context.builder
    holds = builder.apply("ge", size, width)
    if isinstance(holds, Const) and not holds.value:
        reason = f"a window of {width} along a size of {size}"
        raise UnsuitableSize(name, reason, context.span, "a window is no longer than the axis")
    require(context, holds, "size", f"{name}: a window of {{0}} along a size of {{1}}", (width, size))
    found = builder.size("sub", size, builder.size("sub", width, i64(1)))
    if isinstance(found, Var):
        context.nonnegative.add(found)
    return found


def broadcast_arrays(context: Context, *args: Value) -> Value:
    """np.broadcast_arrays: views, which NumPy warns against writing into"""
    parts = [as_array(context, value) for value in args]
    shape = broadcast_shapes(context, [one.shape for one in parts], "np.broadcast_arrays")
    return tuple(_stretched(context, one, shape, is_writable=False) for one in parts)


def common_shape(context: Context, *args: Value) -> Value:
    """np.broadcast_shapes: the shape that several are broadcast to"""
    name = "np.broadcast_shapes"
    shapes = [shape_argument(context, name, one) for one in args]
    return tuple(size_value(context, size) for size in broadcast_shapes(context, shapes, name))


def flip(context: Context, m: Value, axis: Value = None) -> Value:
    """np.flip: the elements of the axes in reverse order; a view"""
    found = plain(context, m)
    axes = axes_of(context, "np.flip", axis, len(found.shape))

    if not isinstance(found, Array):
        return found
    shape = found.shape

    def at(builder: Builder, indices: tuple[Atom, ...]) -> list[Atom]:
        places = list(indices)
        for one in axes:
            last = builder.apply("sub", shape[one], i64(1))
            places[one] = builder.apply("sub", last, indices[one])
        return places

    return view_of(context, found, shape, at)


def flip_axis(name: str, axis: int) -> StagedCall:
    """np.flipud, np.fliplr"""

    def staged(context: Context, m: Value) -> Value:
        if len(as_array(context, m).shape) <= axis:
            raise UnsupportedArgument(name, "too few dimensions", context.span)
        return flip(context, m, axis)

    return staged


def roll(context: Context, a: Value, shift: Value, axis: Value = None) -> Value:
    """np.roll: y[i] = x[(i - shift) mod n], along one axis or over all elements"""
    found = plain(context, a)
    if not found.shape and axis is None:
        return found
    if axis is None:
        flat = array_var(context, "np.roll", raveled(context, found))
        return _as_shape(context, context.wrap(_rolled(context, flat, shift, 0)), found.shape)
    if isinstance(axis, tuple | list):
        shifts = shift if isinstance(shift, tuple | list) else [shift] * len(axis)
        var = array_var(context, "np.roll", found)
        for one, step in zip(axis, shifts, strict=True):
            var = _rolled(context, var, step, axis_of(context, "np.roll", one, len(found.shape)))
        return context.wrap(var)
    var = array_var(context, "np.roll", found)
    return context.wrap(_rolled(context, var, shift, axis_of(context, "np.roll", axis, len(found.shape))))


def _rolled(context: Context, var: Var, shift: Value, axis: int) -> Var:
    """With s = shift mod n: the first s elements come from n - s + i, the others from i - s."""
    builder = context.builder
    size = var.type.shape[axis]
    divisor = builder.apply("max", size, i64(1))
    start = builder.apply("mod", as_size(context, shift, "a shift"), divisor)

    def place(inner: Builder, indices: tuple[Var, ...]) -> Atom:
        index = indices[axis]
        back = inner.apply("sub", index, start)
        at: list[Atom] = list(indices)
        at[axis] = inner.select(inner.apply("lt", index, start), inner.apply("add", back, size), back)
        return inner.index(var, at)

    return built(builder, var.type.shape, place)


def repeat(context: Context, a: Value, repeats: Value, axis: Value = None) -> Value:
    """np.repeat by one number: y[i] = x[i // r]"""
    found = plain(context, a)
    if axis is None:
        found = plain(context, raveled(context, found))
    var = array_var(context, "np.repeat", found)
    along = 0 if axis is None else axis_of(context, "np.repeat", axis, len(found.shape))
    if isinstance(repeats, tuple | list | np.ndarray | Array):
        return _repeated_each(context, found, repeats, along)
    (count,) = shape_argument(context, "np.repeat", (repeats,))
    shape = list(var.type.shape)

    def place(inner: Builder, indices: tuple[Var, ...]) -> Atom:
        outer, rest = indices[: along + 1], indices[along + 2 :]
        return inner.index(var, (*outer, *rest))

    wide = built(context.builder, [*shape[: along + 1], count, *shape[along + 1 :]], place)
    shape[along] = context.builder.size("mul", shape[along], count)
    return context.wrap(context.builder.reshape(wide, shape))


_REPEATS = "give a vector of whole numbers that fit int64, as `w.astype(int)`"


def _repeated_each(context: Context, found: Staged, repeats: Value, axis: int) -> Value:
    """Every element as often as its count says: element k of the result is that whose counts sum to more"""
    name, call, size = "np.repeat", context.call, found.shape[axis]
    counts = as_array(context, repeats)
    if not np.can_cast(counts.dtype.numpy, np.int64) or len(counts.shape) > 1:
        raise UnsupportedArgument(name, f"repeats that are {describe(counts)}", context.span, _REPEATS)
    counts = as_array(context, counts, I64)
    if not counts.shape or is_one(counts.shape[0]):
        return repeat(context, found, call(np.sum, counts), axis)
    agree(context, counts.shape[0], size, name)
    if not has_staged(repeats):
        known = np.asarray(repeats)
        if np.any(known < 0):
            raise UnsuitableSize(name, "a negative number of repeats", context.span, "give 0 or more")
        return call(np.take, found, np.repeat(np.arange(len(known)), known), axis=axis)
    least = call(np.min, counts, initial=0)
    is_positive = context.builder.apply("ge", atom(context, least), i64(0))
    require(context, is_positive, "size", f"{name}: a number of repeats is negative")
    sums = call(np.cumsum, counts)
    places = call(np.arange, call(np.sum, counts))
    return call(np.take, found, call(np.searchsorted, sums, places, side="right"), axis=axis)


def tile(
    context: Context,
    A: Value,  # noqa: N803
    reps: Value,
) -> Value:
    """np.tile: the array put side by side along every axis"""
    counts = list(shape_argument(context, "np.tile", reps))
    found = plain(context, A)
    rank = max(len(counts), len(found.shape))
    counts = [*(i64(1),) * (rank - len(counts)), *counts]
    if not rank:
        return found
    base = array_var(
        context, "np.tile", _as_shape(context, found, (*(i64(1),) * (rank - len(found.shape)), *found.shape))
    )
    builder, source = context.builder, base
    wide: list[Size] = [size for pair in zip(counts, base.type.shape, strict=True) for size in pair]
    spread = built(builder, wide, lambda inner, indices: inner.index(source, indices[1::2]))
    return context.wrap(
        builder.reshape(
            spread, [builder.size("mul", *pair) for pair in zip(counts, base.type.shape, strict=True)]
        )
    )


def resized(context: Context, a: Value, new_shape: Value) -> Value:
    """np.resize: the elements in row-major order, over again where they end; zeros where there are none"""
    flat = array_var(context, "np.resize", raveled(context, as_array(context, a)))
    sizes = shape_argument(context, "np.resize", new_shape)
    size = flat.type.shape[0]
    zero = number(0, flat.type.dtype)

    def place(inner: Builder, index: Var) -> Atom:
        is_some, divisor = inner.apply("gt", size, i64(0)), inner.apply("max", size, i64(1))
        at = inner.apply("mod", index, divisor)
        return inner.branch(is_some, lambda deeper: (deeper.index(flat, (at,)),), lambda deeper: (zero,))[0]

    found = context.builder.stack(multiply_sizes(context, sizes), place)
    if not sizes:
        return boxed(context, context.builder.index(found, (i64(0),)))
    return context.wrap(context.builder.reshape(found, sizes))


def unstacked(context: Context, x: Value, *, axis: Value = 0) -> Value:
    """np.unstack: the parts along an axis of known size; views"""
    name = "np.unstack"
    found = plain(context, x)
    along = axis_of(context, name, axis, len(found.shape))
    front = moveaxis(context, found, along, 0)
    assert isinstance(front, Array)
    size = front.shape[0]
    if not isinstance(size, Const):
        raise UnsupportedArgument(name, "an axis whose size only the run knows", context.span)
    return tuple(take(context, front, k) for k in range(int(size.value)))


CALLS: dict[Callable[..., object], StagedCall] = {
    np.reshape: reshaped,
    np.ravel: raveled,
    np.transpose: transposed,
    np.swapaxes: swapaxes,
    np.moveaxis: moveaxis,
    np.rollaxis: rolled_axis,
    np.matrix_transpose: turned_matrix("np.matrix_transpose"),
    np.linalg.matrix_transpose: turned_matrix("np.linalg.matrix_transpose"),
    np.expand_dims: expand_dims,
    np.squeeze: squeeze,
    np.atleast_1d: at_least("np.atleast_1d", 1),
    np.atleast_2d: at_least("np.atleast_2d", 2),
    np.atleast_3d: at_least("np.atleast_3d", 3),
    np.broadcast_to: broadcast_to,
    np.broadcast_arrays: broadcast_arrays,
    np.broadcast_shapes: common_shape,
    np.lib.stride_tricks.sliding_window_view: sliding_windows,
    np.flip: flip,
    np.flipud: flip_axis("np.flipud", 0),
    np.fliplr: flip_axis("np.fliplr", 1),
    np.roll: roll,
    np.repeat: repeat,
    np.tile: tile,
    np.unstack: unstacked,
    np.resize: resized,
}

METHODS: dict[str, StagedCall] = {
    "reshape": reshape_method,
    "ravel": raveled,
    "flatten": flatten,
    "transpose": transpose_method,
    "swapaxes": swapaxes,
    "squeeze": squeeze,
    "repeat": repeat,
}
