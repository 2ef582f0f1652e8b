"""Borders and windows: `np.pad`, `np.convolve`, `np.correlate`, `np.rot90`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Size, Var, i64
from anadrome.dtypes import BOOL
from anadrome.errors.frontend import PromotionError, UnsupportedArgument
from anadrome.frontend.arrays import as_array, atom, describe, promote
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library.common import array_var, axis_of, built, static_int
from anadrome.frontend.library.reductions import require_elements
from anadrome.frontend.values import UNKNOWN_LAYOUT, Array, Value, is_staged
from anadrome.frontend.views import layout_of, view_of


# ---------------------------------------------------------------------------- pad
def pad(context: Context, array: Value, pad_width: Value, mode: Value = "constant", **kwargs: Value) -> Value:
    """np.pad with a constant, the edge, or the array again: mirrored (reflect, symmetric) or as it is"""
    name = "np.pad"
    if not isinstance(mode, str) or mode not in (*SOURCES, "constant", "edge"):
        known = "constant, edge, reflect, symmetric and wrap"
        raise UnsupportedArgument(name, f"mode={mode!r}", context.span, f"the modes are {known}")
    admitted = {"constant": "constant_values", "reflect": "reflect_type", "symmetric": "reflect_type"}.get(
        mode
    )
    for key, value in kwargs.items():
        if key != admitted or (key == "reflect_type" and value != "even"):
            shown = describe(value) if is_staged(value) else repr(value)
            raise UnsupportedArgument(name, f"`{key}={shown}` with mode={mode!r}", context.span)
    var = array_var(context, name, array)
    rank = len(var.type.shape)
    widths = _pairs(context, name, "pad_width", pad_width, rank)
    sides = [tuple(static_int(context, name, "pad_width", one) for one in pair) for pair in widths]
    if any(side < 0 for pair in sides for side in pair):
        raise UnsupportedArgument(name, "a negative pad_width", context.span)
    fill = _pairs(context, name, "constant_values", kwargs.get("constant_values", 0), rank)
    constants = [tuple(atom(context, one, var.type.dtype) for one in pair) for pair in fill]
    for axis, (before, after) in enumerate(sides):
        if before or after:
            var = _padded(context, var, axis, (before, after), mode, constants[axis])
    return context.wrap(var)


def _pairs(context: Context, name: str, argument: str, value: Value, rank: int) -> list[tuple[Value, Value]]:
    """(before, after) for each axis from a number, a pair, or a list of pairs, as NumPy broadcasts them."""
    given: Any = value.tolist() if isinstance(value, np.ndarray) else value
    rows: list[Any] = list(given) if isinstance(given, tuple | list) else [given]
    are_pairs = all(isinstance(one, tuple | list) for one in rows)
    pairs = [tuple(one) for one in rows] if are_pairs else [tuple(rows)]
    pairs = [one * 2 if len(one) == 1 else one for one in pairs]
    if any(len(pair) != 2 for pair in pairs) or len(pairs) not in (1, rank):
        expected = f"a number, a pair, or a pair for each of {rank} dimension(s)"
        raise UnsupportedArgument(name, f"`{argument}` is not {expected}", context.span)
    return pairs * rank if len(pairs) == 1 else pairs


def _reflected(builder: Builder, place: Atom, size: Size) -> Atom:
    """… 2 1 | 0 1 2 | 1 0 …: period 2(n - 1), and everything is element 0 where n = 1"""
    last = builder.size("sub", size, i64(1))
    period = builder.size("max", builder.size("mul", i64(2), last), i64(1))
    within = builder.apply("mod", place, period)
    return builder.apply("min", within, builder.apply("sub", builder.size("mul", i64(2), last), within))


def _mirrored(builder: Builder, place: Atom, size: Size) -> Atom:
    """… 1 0 | 0 1 2 | 2 1 …: period 2n"""
    period = builder.size("mul", i64(2), size)
    within = builder.apply("mod", place, period)
    back = builder.apply("sub", builder.size("sub", period, i64(1)), within)
    return builder.apply("min", within, back)


def _wrapped(builder: Builder, place: Atom, size: Size) -> Atom:
    return builder.apply("mod", place, size)


SOURCES: dict[str, Callable[[Builder, Atom, Size], Atom]] = {
    "reflect": _reflected,
    "symmetric": _mirrored,
    "wrap": _wrapped,
}
"""mode -> the element that stands at a place before, in or behind the array."""


def _padded(
    context: Context, var: Var, axis: int, sides: tuple[int, int], mode: str, constants: tuple[Atom, ...]
) -> Var:
    """One axis with `sides` more elements in front and behind."""
    shape, size, builder = list(var.type.shape), var.type.shape[axis], context.builder
    before, after = sides
    shape[axis] = builder.size("add", size, i64(before + after))
    if mode != "constant":
        require_elements(context, f"np.pad with mode={mode!r}", (size,), ())

    def place(inner: Builder, indices: tuple[Var, ...]) -> Atom:
        at: list[Atom] = list(indices)
        own = inner.apply("sub", indices[axis], i64(before))
        if mode == "constant":
            return _constant(inner, var, at, axis, own, constants)
        if mode == "edge":
            at[axis] = inner.apply("min", inner.apply("max", own, i64(0)), inner.size("sub", size, i64(1)))
        else:
            at[axis] = SOURCES[mode](inner, own, size)
        return inner.index(var, at)

    return built(builder, shape, place)


def _constant(
    builder: Builder, var: Var, at: list[Atom], axis: int, own: Atom, constants: tuple[Atom, ...]
) -> Atom:
    at[axis] = own
    is_before = builder.apply("lt", own, i64(0))
    is_behind = builder.apply("ge", own, var.type.shape[axis])
    return builder.branch(
        builder.apply("or", is_before, is_behind),
        lambda inner: (inner.select(is_before, constants[0], constants[1]),),
        lambda inner: (inner.index(var, at),),
    )[0]


# ---------------------------------------------------------------------------- windows
def convolve(context: Context, a: Value, v: Value, mode: Value = "full") -> Value:
    """np.convolve: y_k = Σ_j a_j v_{k-j}; a number is a vector of one element"""
    a, v = (context.call(np.atleast_1d, one) for one in (a, v))
    return _sliding(context, "np.convolve", a, v, mode, is_turned=True)


def correlate(context: Context, a: Value, v: Value, mode: Value = "valid") -> Value:
    """np.correlate: y_k = Σ_j a_{j+k} v_j, from k = 1 - len(v) on"""
    return _sliding(context, "np.correlate", a, v, mode, is_turned=False)


def _sliding(context: Context, name: str, a: Value, v: Value, mode: Value, is_turned: bool) -> Value:
    """Σ over the overlap of a with v, which is turned round for a convolution.

    The full result has n + m - 1 elements, element k the sum over max(0, k - m + 1) <= j <= min(n - 1, k).
    """
    if mode not in ("full", "same", "valid"):
        raise UnsupportedArgument(name, f"mode={mode!r}", context.span)
    dtype, _ = promote(context, (as_array(context, a), as_array(context, v)), name)
    if dtype is BOOL:
        raise PromotionError(name, "bool", context.span)
    left, right = array_var(context, name, a), array_var(context, name, v)
    if len(left.type.shape) != 1 or len(right.type.shape) != 1:
        raise UnsupportedArgument(name, "vectors are expected", context.span)
    builder, n, m = context.builder, left.type.shape[0], right.type.shape[0]
    require_elements(context, name, (n, m), ())
    first, extent = _window(builder, n, m, str(mode), is_turned)

    def element(inner: Builder, index: Var) -> Atom:
        k = inner.apply("add", index, first)
        low = inner.apply("max", inner.apply("sub", k, inner.size("sub", m, i64(1))), i64(0))
        high = inner.apply("min", k, inner.size("sub", n, i64(1)))
        count = inner.apply("add", inner.apply("sub", high, low), i64(1))
        assert isinstance(count, Var)

        def term(deeper: Builder, step: Var) -> Atom:
            j = deeper.apply("add", low, step)
            other = deeper.apply("sub", k, j)
            if not is_turned:
                other = deeper.apply("sub", deeper.size("sub", m, i64(1)), other)
            one, two = deeper.index(left, (j,)), deeper.index(right, (other,))
            return deeper.mul(deeper.convert(one, dtype), deeper.convert(two, dtype))

        return inner.reduce("add", count, term)

    return context.wrap(builder.stack(extent, element))


def _window(builder: Builder, n: Size, m: Size, mode: str, is_turned: bool) -> tuple[Atom, Size]:
    """The first element of the full result that the mode keeps, and how many. With s the shorter length,
    "same" begins at ⌊(s - 1) / 2⌋; a correlation whose second vector is the longer one, at ⌊s / 2⌋."""
    long, short = builder.size("max", n, m), builder.size("min", n, m)
    less = builder.size("sub", short, i64(1))
    if mode == "full":
        return i64(0), builder.size("max", builder.size("add", long, less), i64(0))
    if mode == "valid":
        return less, builder.size("max", builder.size("sub", long, less), i64(0))
    half = builder.apply("floordiv", less, i64(2))
    if not is_turned:
        other = builder.apply("floordiv", short, i64(2))
        half = builder.select(builder.apply("lt", n, m), other, half)
    return half, long


# ---------------------------------------------------------------------------- turns
def quarter_turns(context: Context, m: Value, k: Value = 1, axes: Value = (0, 1)) -> Value:
    """np.rot90: k quarter turns from the first of two axes to the second, as a view"""
    found = as_array(context, m)
    rank = len(found.shape)
    if not isinstance(found, Array) or not isinstance(axes, tuple | list) or len(axes) != 2:
        raise UnsupportedArgument("np.rot90", "a matrix and two axes are expected", context.span)
    one, two = (axis_of(context, "np.rot90", axis, rank) for axis in axes)
    if one == two:
        raise UnsupportedArgument("np.rot90", "one axis twice", context.span)
    turns = static_int(context, "np.rot90", "k", k) % 4

    source, shape = found.shape, list(found.shape)
    if turns % 2:
        shape[one], shape[two] = shape[two], shape[one]

    def at(builder: Builder, indices: tuple[Atom, ...]) -> list[Atom]:
        places = list(indices)
        if turns % 2:
            places[one], places[two] = places[two], places[one]
        for axis in {1: [two], 2: [one, two], 3: [one]}.get(turns, []):
            last = builder.size("sub", source[axis], i64(1))
            places[axis] = builder.apply("sub", last, places[axis])
        return places

    return view_of(context, found, shape, at, UNKNOWN_LAYOUT if turns else layout_of(found))


CALLS: dict[Callable[..., object], StagedCall] = {
    np.pad: pad,
    np.convolve: convolve,
    np.correlate: correlate,
    np.rot90: quarter_turns,
}
