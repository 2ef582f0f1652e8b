"""Bins: `np.digitize`, `np.histogram`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Accumulate, Atom, Bounds, Const, Part, Size, Var, i64
from anadrome.dtypes import BOOL, F64, I64, DType
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.arrays import as_array, atom, convert
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library.common import array_var, require, static_flag
from anadrome.frontend.library.creation import linspace
from anadrome.frontend.library.order import searchsorted
from anadrome.frontend.library.shape import raveled
from anadrome.frontend.sizes import agree
from anadrome.frontend.values import Scalar, Value


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
    down = atom(context, searchsorted(context, context.wrap(turned), x, "right" if is_right else "left"))
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
    edges = _even_edges(context, values, bins, range) if is_counted else _given_edges(context, bins)
    count = context.builder.size("sub", edges.type.shape[0], i64(1))
    result = context.wrap(_filled(context, values, edges, count, weight))
    if density is not None and static_flag(context, name, "density", density):
        widths = context.call(np.diff, context.wrap(edges))
        total = context.call(np.sum, result)
        result = context.call(np.divide, context.call(np.divide, result, widths), total)  # type: ignore[assignment]
    return result, context.wrap(edges)


def _given_edges(context: Context, bins: Value) -> Var:
    edges = array_var(context, "np.histogram", bins)
    if len(edges.type.shape) != 1:
        raise UnsupportedArgument("np.histogram", "a vector of edges is expected", context.span)
    enough = context.builder.apply("ge", edges.type.shape[0], i64(1))
    require(context, enough, "raise", "ValueError: np.histogram: no edges")
    message = "ValueError: np.histogram: the edges rise"
    require(context, _monotonic(context.builder, edges, "le"), "raise", message)
    return edges


def _even_edges(context: Context, values: Var, bins: Value, range_: Value) -> Var:
    """bins + 1 places from the least value to the greatest; half to either side of a single value."""
    name, builder = "np.histogram", context.builder
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


def _filled(context: Context, values: Var, edges: Var, count: Size, weight: Var | None) -> Var:
    """Σ [edges_k <= x < edges_{k+1}] w, with x = the last edge in the last bin"""
    builder = context.builder
    dtype: DType = I64 if weight is None else weight.type.dtype
    operation = "or" if dtype is BOOL else "add"
    after = atom(context, searchsorted(context, context.wrap(edges), context.wrap(values), "right"))
    assert isinstance(after, Var)
    start = builder.full((count,), builder.constant(0, Const(0, dtype)))
    assert isinstance(start, Var)
    common, limits = convert(context, values, F64), convert(context, edges, F64)
    assert isinstance(common, Var) and isinstance(limits, Var)

    def body(inner: Builder, index: Var) -> tuple[Part]:
        is_last = inner.apply("eq", inner.index(common, (index,)), inner.index(limits, (count,)))
        place = inner.apply("sub", inner.index(after, (index,)), i64(1))
        final = inner.apply("sub", count, i64(1))
        at = inner.select(is_last, final, place)
        value: Atom = i64(1) if weight is None else inner.index(weight, (index,))
        return (Accumulate.of(operation, start, (at,), value, Bounds.IGNORED),)

    return builder.parfor(values.type.shape[0], body)[0]


CALLS: dict[Callable[..., object], StagedCall] = {
    np.digitize: digitize,
    np.histogram: histogram,
}
