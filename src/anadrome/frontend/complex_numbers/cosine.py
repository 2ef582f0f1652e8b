"""Discrete cosine and sine transforms of `scipy.fft`, types 2 and 3, by Fourier transforms of 2n real points.

With φ_k = π·k/2n, V the transform of x and its mirror image, Z that of (x_k·e^(iφ_k)) back to real values:

    dct, type 2:  y_k = 2·Σ_j x_j·cos(φ_k·(2j + 1)) = Re(e^(-iφ_k)·V_k)
    dct, type 3:  y_j = x_0 + 2·Σ_{k > 0} x_k·cos(φ_k·(2j + 1)) = Z_j
    dst, type 2:  y_k is element n - 1 - k of the dct of (-1)^j·x_j
    dst, type 3:  y_j is (-1)^j times element j of the dct of x backwards

Each is the inverse of the other type, save for the factor 2n.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import scipy

from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import Atom, Library, Size, Var, i64
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.complex_numbers.fourier import (
    OPPOSITE,
    Spectrum,
    argument_of,
    axis_back,
    axis_last,
    fitted,
    norm_of,
    points_of,
    result_of,
    room_for,
)
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library.common import axis_of, built, static_flag, static_int
from anadrome.frontend.tables import Key, Late
from anadrome.frontend.values import Value

Element = Callable[[Builder, Var, Atom], Atom]
"""(builder, index along the last dimension, element) -> what stands there instead"""


# ---------------------------------------------------------------------------- elements by their place
def _changed(builder: Builder, var: Var, change: Element) -> Var:
    """The array with every element changed according to its place."""
    return built(builder, var.type.shape, lambda inner, at: change(inner, at[-1], inner.index(var, at)))


def _backwards(builder: Builder, var: Var) -> Var:
    last = builder.size("sub", var.type.shape[-1], i64(1))

    def place(inner: Builder, at: tuple[Var, ...]) -> Atom:
        return inner.index(var, (*at[:-1], inner.apply("sub", last, at[-1])))

    return built(builder, var.type.shape, place)


def _alternating(builder: Builder, var: Var) -> Var:
    """(-1)^j·x_j"""

    def change(inner: Builder, index: Var, value: Atom) -> Atom:
        is_even = inner.apply("eq", inner.apply("mod", index, i64(2)), i64(0))
        return inner.select(is_even, value, inner.neg(value))

    return _changed(builder, var, change)


def _weighted(builder: Builder, var: Var, place: Size, factor: float) -> Var:
    """One element along the last dimension times a factor."""

    def change(inner: Builder, index: Var, value: Atom) -> Atom:
        scaled = inner.mul(value, inner.constant(factor, value))
        return inner.select(inner.apply("eq", index, place), scaled, value)

    return _changed(builder, var, change)


def _turn(builder: Builder, index: Var, n: Size, like: Atom) -> tuple[Atom, Atom]:
    """cos φ and sin φ of the index"""
    dtype = like.type.dtype
    step = builder.div(builder.constant(math.pi / 2, like), builder.convert(n, dtype))
    angle = builder.mul(builder.convert(index, dtype), step)
    return builder.apply("cos", angle), builder.apply("sin", angle)


# ---------------------------------------------------------------------------- the two types
def _second(context: Context, var: Var, n: Size) -> Var:
    """Type 2"""
    builder = context.builder
    double = builder.size("mul", n, i64(2))
    last = builder.size("sub", double, i64(1))

    def mirrored(inner: Builder, at: tuple[Var, ...]) -> Atom:
        is_first = inner.apply("lt", at[-1], n)
        index = inner.select(is_first, at[-1], inner.apply("sub", last, at[-1]))
        return inner.index(var, (*at[:-1], index))

    both = built(builder, (*var.type.shape[:-1], double), mirrored)
    room = room_for(context, var, builder.size("add", n, i64(1)))
    real, imag = builder.let(Library("fourier_of_real", (both, room)))

    def place(inner: Builder, at: tuple[Var, ...]) -> Atom:
        found = inner.index(real, at)
        cosine, sine = _turn(inner, at[-1], n, found)
        return inner.add(inner.mul(found, cosine), inner.mul(inner.index(imag, at), sine))

    return built(builder, var.type.shape, place)


def _third(context: Context, var: Var, n: Size) -> Var:
    """Type 3"""
    builder = context.builder
    half = (*var.type.shape[:-1], builder.size("add", n, i64(1)))
    zero = number(0.0, var.type.dtype)

    def part(which: int) -> Var:
        def place(inner: Builder, at: tuple[Var, ...]) -> Atom:
            def turned(branch: Builder) -> tuple[Atom, ...]:
                value = branch.index(var, at)
                return (branch.mul(value, _turn(branch, at[-1], n, value)[which]),)

            return inner.branch(inner.apply("lt", at[-1], n), turned, lambda _: (zero,))[0]

        return built(builder, half, place)

    room = room_for(context, var, builder.size("mul", n, i64(2)))
    found = builder.let_one(Library("fourier_to_real", (part(0), part(1), room)))
    return built(builder, var.type.shape, lambda inner, at: inner.index(found, at))


def _transformed(context: Context, var: Var, kind: int, is_sine: bool, is_orthogonal: bool) -> Var:
    """A transform along the last dimension, not scaled."""
    builder, n = context.builder, var.type.shape[-1]
    edge = builder.size("sub", n, i64(1)) if is_sine else i64(0)
    if kind == 2:
        found = _second(context, _alternating(builder, var) if is_sine else var, n)
        found = _backwards(builder, found) if is_sine else found
        return _weighted(builder, found, edge, math.sqrt(0.5)) if is_orthogonal else found
    given = _weighted(builder, var, edge, math.sqrt(2.0)) if is_orthogonal else var
    found = _third(context, _backwards(builder, given) if is_sine else given, n)
    return _alternating(builder, found) if is_sine else found


def transform(name: str, is_sine: bool, is_inverse: bool) -> StagedCall:
    """scipy.fft.dct, idct, dst, idst of type 2 or 3"""

    def staged(
        context: Context,
        x: Value,
        type: Value = 2,
        n: Value = None,
        axis: Value = -1,
        norm: Value = None,
        overwrite_x: Value = False,
        workers: Value = None,
        orthogonalize: Value = None,
    ) -> Value:
        found = argument_of(context, name, x)
        if found.imag is not None:
            raise UnsupportedArgument(name, "complex values", context.span, "transform either part")
        kind = static_int(context, name, "type", type)
        if kind not in (2, 3):
            raise UnsupportedArgument(name, f"`type={kind}`", context.span, "types 2 and 3 are known")
        scale = norm_of(context, name, norm)
        is_orthogonal = (
            scale == "ortho"
            if orthogonalize is None
            else static_flag(context, name, "orthogonalize", orthogonalize)
        )
        place = axis_of(context, name, axis, len(found.real.type.shape))
        moved = axis_last(context, found, place)
        points = points_of(context, name, n, moved.size)
        var = fitted(context, moved, points).real
        done = _transformed(context, var, 5 - kind if is_inverse else kind, is_sine, is_orthogonal)
        result = _scaled(context, done, OPPOSITE[scale] if is_inverse else scale, points)
        return result_of(context, axis_back(context, Spectrum(result, None), place))

    return staged


def _scaled(context: Context, var: Var, norm: str, n: Size) -> Var:
    """Nothing, 1/2n or 1/√2n"""
    if norm == "backward":
        return var
    builder, dtype = context.builder, var.type.dtype
    double = builder.mul(number(2.0, dtype), builder.convert(n, dtype))
    root = builder.apply("sqrt", double) if norm == "ortho" else double
    factor = builder.div(number(1.0, dtype), root)
    return _changed(builder, var, lambda inner, _, value: inner.mul(value, factor))


def _calls() -> dict[Key, StagedCall]:
    return {
        scipy.fft.dct: transform("scipy.fft.dct", is_sine=False, is_inverse=False),
        scipy.fft.idct: transform("scipy.fft.idct", is_sine=False, is_inverse=True),
        scipy.fft.dst: transform("scipy.fft.dst", is_sine=True, is_inverse=False),
        scipy.fft.idst: transform("scipy.fft.idst", is_sine=True, is_inverse=True),
    }


CALLS = Late("scipy.fft", _calls)
