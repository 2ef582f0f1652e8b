"""Bins: `np.digitize`, `np.histogram`, `np.histogram2d`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Accumulate, Atom, Bounds, Const, Part, Size, Var, i64
from anadrome.dtypes import BOOL, F64, I64, DType
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.arrays import as_array, atom, convert, promote
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library.common import array_var, require, static_flag
from anadrome.frontend.library.creation import linspace
from anadrome.frontend.library.order import searchsorted
from anadrome.frontend.library.shape import raveled
from anadrome.frontend.sizes import agree
from anadrome.frontend.values import Array, Scalar, Staged, Value


def digitize(context: Context, x: Value, bins: Value, right: Value = False) -> Value:
    """np.digitize: how many edges of rising bins come before x; of falling ones, n less those turned round"""
    name = "np.digitize"
    edges = array_var(context, name, bins)
    if len(edges.type.shape) != 1:
        raise UnsupportedArgument(name, "a vector of bins is expected", context.span)
    is_right = static_flag(context, name, "right", right)
    builder, size = context.builder, edges.type.shape[0]
    rises, falls = (_monotonic(builder, edges, operation) for operation in ("le", "ge"))
    message = "ValueError: np.digitize: the bins rise or fall throughout"
    require(context, builder.apply("or", rises, falls), "raise", message)
    side = "left" if is_right else "right"
    turned = builder.stack(
        size,
        lambda inner, i: inner.index(edges, (inner.apply("sub", inner.size("sub", size, i64(1)), i),)),
    )
    up = atom(context, searchsorted(context, context.wrap(edges), x, side))
    down = atom(context, searchsorted(context, context.wrap(turned), x, side))
    shape = up.type.shape

    def place(inner: Builder, at: tuple[Var, ...]) -> Atom:
        one, two = (inner.index(v, at) if isinstance(v, Var) and shape else v for v in (up, down))
        return inner.select(rises, one, inner.apply("sub", size, two))

    return context.wrap(builder.build(shape, place))


def _monotonic(builder: Builder, edges: Var, operation: str) -> Atom:
    less = builder.size("max", builder.size("sub", edges.type.shape[0], i64(1)), i64(0))

    def holds(inner: Builder, index: Var) -> Atom:
        later = inner.index(edges, (inner.apply("add", index, i64(1)),))
        return inner.apply(operation, inner.index(edges, (index,)), later)

    return builder.reduce("and", less, holds)


def histogram(
    context: Context,
    a: Value,
    bins: Value = 10,
    range: Value = None,
    density: Value = None,
    weights: Value = None,
) -> Value:
    """np.histogram: how many elements, or what weight, each half-open bin holds; the last one is closed"""
    name = "np.histogram"
    values = array_var(context, name, raveled(context, as_array(context, a)))
    if values.type.dtype is BOOL:
        raise UnsupportedArgument(name, "an array of bools", context.span)
    weight = None
    if weights is not None:
        weight = array_var(context, name, raveled(context, as_array(context, weights)))
        agree(context, values.type.shape[0], weight.type.shape[0], name)
    if isinstance(bins, str):
        raise UnsupportedArgument(name, f"bins={bins!r}", context.span, "give their number or their edges")
    is_counted = isinstance(bins, int | np.integer | Scalar)
    if not is_counted and weight is not None and weight.type.dtype is BOOL:
        reason = "weights that are bools beside edges, which NumPy refuses too"
        raise UnsupportedArgument(name, reason, context.span, "give the weights as floats")
    edges = (
        _even_edges(context, name, values, bins, range) if is_counted else _given_edges(context, name, bins)
    )
    count = context.builder.size("sub", edges.type.shape[0], i64(1))
    dtype = I64 if weight is None else weight.type.dtype
    result = context.wrap(_filled(context, [(values, edges, count)], weight, dtype))
    if density is not None and static_flag(context, name, "density", density):
        widths = context.call(np.diff, context.wrap(edges))
        total = context.call(np.sum, result)
        result = context.call(np.divide, context.call(np.divide, result, widths), total)  # type: ignore[assignment]
    return result, context.wrap(edges)


def histogram_of_pairs(
    context: Context,
    x: Value,
    y: Value,
    bins: Value = 10,
    range: Value = None,
    density: Value = None,
    weights: Value = None,
) -> Value:
    """np.histogram2d: how many pairs, or what weight, each product of two bins holds, as float64"""
    name = "np.histogram2d"
    parts = [array_var(context, name, as_array(context, one)) for one in (x, y)]
    if any(len(one.type.shape) != 1 for one in parts):
        raise UnsupportedArgument(name, "anything but vectors of places", context.span)
    agree(context, parts[0].type.shape[0], parts[1].type.shape[0], name)
    common, _ = promote(context, [context.wrap(one) for one in parts], name)
    if common is BOOL:
        raise UnsupportedArgument(name, "arrays of bools", context.span)
    weight = None if weights is None else array_var(context, name, weights, F64)
    if weight is not None:
        agree(context, parts[0].type.shape[0], weight.type.shape[0], name)
    pair = list(bins) if isinstance(bins, tuple | list) and len(bins) == 2 else [bins, bins]
    if isinstance(bins, Array | np.ndarray):
        _require_edges(context, name, as_array(context, bins))
    ranges = [None, None] if range is None else list(range) if isinstance(range, tuple | list) else []
    if len(ranges) != 2:
        raise UnsupportedArgument(name, "`range` is not a pair of pairs", context.span)
    sides: list[tuple[Var, Var, Size]] = []
    for part, own, limits in zip(parts, pair, ranges, strict=True):
        values = convert(context, part, common)
        assert isinstance(values, Var)
        is_counted = isinstance(own, int | np.integer | Scalar)
        edges = (
            _even_edges(context, name, values, own, limits)
            if is_counted
            else _given_edges(context, name, own)
        )
        sides.append((values, edges, context.builder.size("sub", edges.type.shape[0], i64(1))))
    found: Value = context.wrap(_filled(context, sides, weight, F64))
    borders = [context.wrap(edges) for _, edges, _ in sides]
    if density is not None and static_flag(context, name, "density", density):
        total = context.call(np.sum, found)
        tall = context.call(np.expand_dims, context.call(np.diff, borders[0]), 1)
        found = context.call(
            np.divide, context.call(np.divide, found, tall), context.call(np.diff, borders[1])
        )
        found = context.call(np.divide, found, total)
    return found, *borders


def _require_edges(context: Context, name: str, bins: Staged) -> None:
    """An array of two elements is not one of edges: they are the bins of either side."""
    size = bins.shape[0] if bins.shape else i64(1)
    if size == i64(2):
        help = "give the numbers of bins as a tuple, and edges for both sides as `[edges, edges]`"
        raise UnsupportedArgument(name, "an array of two elements as `bins`", context.span, help)
    words = f"ValueError: {name}: an array of two elements as `bins`: give `[edges, edges]`"
    require(context, context.builder.apply("ne", size, i64(2)), "raise", words)


def _given_edges(context: Context, name: str, bins: Value) -> Var:
    edges = array_var(context, name, bins)
    if len(edges.type.shape) != 1:
        raise UnsupportedArgument(name, "a vector of edges is expected", context.span)
    enough = context.builder.apply("ge", edges.type.shape[0], i64(1))
    require(context, enough, "raise", f"ValueError: {name}: no edges")
    message = f"ValueError: {name}: the edges rise"
    require(context, _monotonic(context.builder, edges, "le"), "raise", message)
    return edges


def _even_edges(context: Context, name: str, values: Var, bins: Value, range_: Value) -> Var:
    """bins + 1 places from the least value to the greatest; half to either side of a single value."""
    builder = context.builder
    number = bins if isinstance(bins, Scalar) else int(bins)  # type: ignore[call-overload]
    if isinstance(number, int) and number < 1:
        raise UnsupportedArgument(name, f"{number} bins", context.span)
    if isinstance(number, Scalar):
        some = builder.apply("ge", builder.convert(number.atom, I64), i64(1))
        require(context, some, "raise", f"ValueError: {name}: there is at least one bin")
    dtype = values.type.dtype if values.type.dtype.is_float else F64
    if range_ is None:
        low, high = _extremes(builder, values, dtype)
    elif isinstance(range_, tuple | list) and len(range_) == 2:
        low, high = (atom(context, one, dtype) for one in range_)
        ordered = builder.apply("le", low, high)
        require(context, ordered, "raise", f"ValueError: {name}: the range ends before it begins")
    else:
        raise UnsupportedArgument(name, "`range` is not a pair of numbers", context.span)
    is_finite = builder.apply("and", *(builder.apply("isfinite", one) for one in (low, high)))
    require(context, is_finite, "raise", f"ValueError: {name}: the range is not finite")
    is_point = builder.apply("eq", low, high)
    half = builder.constant(0.5, low)
    low = builder.select(is_point, builder.sub(low, half), low)
    high = builder.select(is_point, builder.add(high, half), high)
    more = context.call(np.add, number, 1) if isinstance(number, Scalar) else number + 1
    edges = atom(context, linspace(context, Scalar(low), Scalar(high), more))
    assert isinstance(edges, Var)
    return edges


def _extremes(builder: Builder, values: Var, dtype: DType) -> tuple[Atom, Atom]:
    """The least and the greatest value; 0 and 1 of nothing."""
    size = values.type.shape[0]
    is_empty = builder.apply("eq", size, i64(0))
    found = []
    for operation, otherwise in (("min", 0.0), ("max", 1.0)):
        best = builder.reduce(
            operation, size, lambda inner, i: inner.convert(inner.index(values, (i,)), dtype)
        )
        found.append(builder.select(is_empty, builder.constant(otherwise, best), best))
    return found[0], found[1]


def _filled(
    context: Context, sides: Sequence[tuple[Var, Var, Size]], weight: Var | None, dtype: DType
) -> Var:
    """Σ [edges_k <= x < edges_{k+1}] w, with x = the last edge in the last bin

    A side is the values, the edges and the number of bins of a dimension.
    """
    builder = context.builder
    operation = "or" if dtype is BOOL else "add"
    start = builder.full([count for _, _, count in sides], builder.constant(0, Const(0, dtype)))
    assert isinstance(start, Var)
    places = [_place_of(context, *side) for side in sides]

    def body(inner: Builder, index: Var) -> tuple[Part]:
        value: Atom = inner.constant(1, Const(0, dtype)) if weight is None else inner.index(weight, (index,))
        at = tuple(place(inner, index) for place in places)
        return (Accumulate.of(operation, start, at, value, Bounds.IGNORED),)

    return builder.parfor(sides[0][0].type.shape[0], body)[0]


def _place_of(context: Context, values: Var, edges: Var, count: Size) -> Callable[[Builder, Var], Atom]:
    """The bin of the value at an index; one that there is not, where it is in none."""
    after = atom(context, searchsorted(context, context.wrap(edges), context.wrap(values), "right"))
    common, limits = convert(context, values, F64), convert(context, edges, F64)
    assert isinstance(after, Var) and isinstance(common, Var) and isinstance(limits, Var)

    def place(inner: Builder, index: Var) -> Atom:
        is_last = inner.apply("eq", inner.index(common, (index,)), inner.index(limits, (count,)))
        own = inner.apply("sub", inner.index(after, (index,)), i64(1))
        return inner.select(is_last, inner.apply("sub", count, i64(1)), own)

    return place


CALLS: dict[Callable[..., object], StagedCall] = {
    np.digitize: digitize,
    np.histogram: histogram,
    np.histogram2d: histogram_of_pairs,
}
