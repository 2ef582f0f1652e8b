"""Discrete Fourier transforms: those of `numpy.fft`, and the functions of `scipy.fft` with the same names.

    fft:    y_k = c·Σ_j x_j·e^(-2πi·jk/n)      ifft:   x_j = c'·Σ_k y_k·e^(+2πi·jk/n)
    rfft:   fft of real values, k ≤ n/2        irfft:  ifft of such a half, to real values

with c = 1 and c' = 1/n, or as `norm` says. The transforms of several dimensions are done one after the other.
Results are complex64 where the argument is float32 or complex64, computed in single precision as SciPy does
(NumPy computes some of them in double precision and rounds), complex128 otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import ArrayType, Atom, Const, Library, Size, Var, i64
from anadrome.dtypes import F32, F64
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.arrays import as_array, atom, describe
from anadrome.frontend.complex_numbers.parts import from_parts, split
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library.common import (
    array_var,
    axes_of,
    axis_of,
    built,
    permuted,
    require,
)
from anadrome.frontend.library.shape import roll
from anadrome.frontend.sizes import as_size, clamp_size, is_at_most, is_same_size, retype, size_value
from anadrome.frontend.tables import Late, Table
from anadrome.frontend.values import Staged, Value

NORMS = {None: "backward", "backward": "backward", "ortho": "ortho", "forward": "forward"}
OPPOSITE = {"backward": "forward", "ortho": "ortho", "forward": "backward"}
"""The norm of a transform as one of the other direction."""


@dataclass(frozen=True, slots=True)
class Spectrum:
    """What is transformed: its parts, the dimension in question last; a real array has no imaginary part."""

    real: Var
    imag: Var | None

    @property
    def size(self) -> Size:
        """How long the last dimension is."""
        return self.real.type.shape[-1]

    def mapped(self, function: Callable[[Var], Var]) -> Spectrum:
        """The same with another array for each part."""
        return Spectrum(function(self.real), None if self.imag is None else function(self.imag))


Step = Callable[[Context, str, Spectrum, Value], tuple[Spectrum, Size]]
"""(context, name, spectrum, points) -> its transform, not scaled, and how many points it is of."""


# ---------------------------------------------------------------------------- arguments and results
def argument_of(context: Context, name: str, value: Value) -> Spectrum:
    """An argument as parts of one float type."""
    real, imag = split(context, value)
    target = F32 if as_array(context, real).dtype is F32 else F64
    first = array_var(context, name, real, target)
    if imag is None:
        return Spectrum(first, None)
    second = array_var(context, name, imag, target)
    return Spectrum(first, retype(context, second, ArrayType(target, first.type.shape), name))


def result_of(context: Context, spectrum: Spectrum) -> Value:
    """The result as a value of the program."""
    real = context.wrap(spectrum.real)
    return real if spectrum.imag is None else from_parts(context, real, context.wrap(spectrum.imag))


def axis_last(context: Context, spectrum: Spectrum, axis: int) -> Spectrum:
    rank = len(spectrum.real.type.shape)
    order = [*(other for other in range(rank) if other != axis), axis]
    return spectrum.mapped(lambda var: permuted(context.builder, var, order))


def axis_back(context: Context, spectrum: Spectrum, axis: int) -> Spectrum:
    rank = len(spectrum.real.type.shape)
    order = [*range(axis), rank - 1, *range(axis, rank - 1)]
    return spectrum.mapped(lambda var: permuted(context.builder, var, order))


def points_of(context: Context, name: str, points: Value, otherwise: Size) -> Size:
    """How many points a transform is of: at least one."""
    size = otherwise if points is None else as_size(context, points, "the number of points")
    refusal = "a transform needs at least one point"
    if isinstance(size, Const):
        if int(size.value) < 1:
            raise UnsupportedArgument(name, f"{size.value} points: {refusal}", context.span)
        return size
    is_some = context.builder.apply("ge", size, i64(1))
    require(context, is_some, "size", f"{name}: {{0}} points, and {refusal}", (size,))
    clamp_size(context, size)
    context.nonnegative.add(size)
    return size


def fitted(context: Context, spectrum: Spectrum, points: Size) -> Spectrum:
    """The last dimension cut to so many points, or filled up with zeros."""
    own = spectrum.size
    if is_same_size(context, own, points):
        return spectrum
    is_shorter = is_at_most(context, points, own)

    def fit(var: Var) -> Var:
        zero = number(0.0, var.type.dtype)

        def place(inner: Builder, at: tuple[Var, ...]) -> Atom:
            if is_shorter:
                return inner.index(var, at)
            is_inside = inner.apply("lt", at[-1], own)
            return inner.branch(is_inside, lambda b: (b.index(var, at),), lambda _: (zero,))[0]

        return built(context.builder, (*var.type.shape[:-1], points), place)

    return spectrum.mapped(fit)


# ---------------------------------------------------------------------------- one dimension
def room_for(context: Context, like: Var, size: Size) -> Var:
    """A vector that says how long a result is."""
    room = context.builder.full((size,), number(0.0, like.type.dtype))
    assert isinstance(room, Var)
    return room


def half_of(context: Context, points: Size) -> Size:
    """⌊n/2⌋ + 1"""
    builder = context.builder
    half = builder.size("add", builder.size("floordiv", points, i64(2)), i64(1))
    if isinstance(half, Var):
        context.nonnegative.add(half)
    return half


def _half_of_real(context: Context, name: str, found: Spectrum, points: Value) -> tuple[Spectrum, Size]:
    """The first half of the forward transform of real values."""
    if found.imag is not None:
        raise UnsupportedArgument(
            name, "complex values where real ones are expected", context.span, "take `np.fft.fft`"
        )
    n = points_of(context, name, points, found.size)
    return half_spectrum(context, found, n), n


def half_spectrum(context: Context, found: Spectrum, n: Size) -> Spectrum:
    values = fitted(context, found, n).real
    room = room_for(context, values, half_of(context, n))
    return Spectrum(*context.builder.let(Library("fourier_of_real", (values, room))))


def _real_of_half(context: Context, name: str, found: Spectrum, points: Value) -> tuple[Spectrum, Size]:
    """The backward transform, to real values, of half a spectrum; of 2(m - 1) points if none are given."""
    builder = context.builder
    double = builder.size("mul", i64(2), builder.size("sub", found.size, i64(1)))
    n = points_of(context, name, points, double)
    half = fitted(context, _with_imag(context, found), half_of(context, n))
    assert half.imag is not None
    result = builder.let_one(
        Library("fourier_to_real", (half.real, half.imag, room_for(context, half.real, n)))
    )
    return Spectrum(result, None), n


def _with_imag(context: Context, found: Spectrum) -> Spectrum:
    if found.imag is not None:
        return found
    zeros = context.builder.zeros(found.real.type)
    assert isinstance(zeros, Var)
    return Spectrum(found.real, zeros)


def _complex(is_backward: bool) -> Step:
    """The transform of complex values; that of real ones is its first half and the conjugate of that."""

    def step(context: Context, name: str, found: Spectrum, points: Value) -> tuple[Spectrum, Size]:
        n = points_of(context, name, points, found.size)
        if found.imag is None:
            return _whole(context, half_spectrum(context, found, n), n, is_backward), n
        cut = fitted(context, found, n)
        assert cut.imag is not None
        call = Library("fourier", (cut.real, cut.imag), (is_backward,))
        return Spectrum(*context.builder.let(call)), n

    return step


def _whole(context: Context, half: Spectrum, n: Size, is_conjugate: bool) -> Spectrum:
    """y_k for all k of the first half: y_(n-k) is the conjugate of y_k; or the conjugate of all that."""
    shape = (*half.real.type.shape[:-1], n)

    def part(var: Var, is_odd: bool) -> Var:
        def place(inner: Builder, at: tuple[Var, ...]) -> Atom:
            is_first = inner.apply("lt", at[-1], half.size)
            index = inner.select(is_first, at[-1], inner.apply("sub", n, at[-1]))
            value = inner.index(var, (*at[:-1], index))
            if not is_odd:
                return value
            kept, turned = (value, inner.neg(value))[:: -1 if is_conjugate else 1]
            return inner.select(is_first, kept, turned)

        return built(context.builder, shape, place)

    assert half.imag is not None
    return Spectrum(part(half.real, False), part(half.imag, True))


def _conjugated(context: Context, found: Spectrum) -> Spectrum:
    if found.imag is None:
        return found
    imag = found.imag

    def place(inner: Builder, at: tuple[Var, ...]) -> Atom:
        return inner.neg(inner.index(imag, at))

    return Spectrum(found.real, built(context.builder, imag.type.shape, place))


def _scaled(context: Context, found: Spectrum, norm: str, n: Size, is_backward: bool) -> Spectrum:
    """The transform times what its norm asks for: nothing, 1/n or 1/√n."""
    kind = OPPOSITE[norm] if is_backward else norm
    if kind == "backward":
        return found
    builder, dtype = context.builder, found.real.type.dtype
    points = builder.convert(n, dtype)
    root = builder.apply("sqrt", points) if kind == "ortho" else points
    factor = builder.div(number(1.0, dtype), root)

    def scale(var: Var) -> Var:
        return built(builder, var.type.shape, lambda inner, at: inner.mul(inner.index(var, at), factor))

    return found.mapped(scale)


def norm_of(context: Context, name: str, norm: Value) -> str:
    if not isinstance(norm, str | None) or norm not in NORMS:
        shown = repr(norm) if isinstance(norm, str) else describe(norm)
        raise UnsupportedArgument(
            name, f"`norm={shown}`", context.span, "take `backward`, `ortho` or `forward`"
        )
    return NORMS[norm]


@dataclass(frozen=True, slots=True)
class Transform:
    """A transform of one dimension: its step, its direction as `norm` counts, conjugates before and after."""

    step: Step
    is_backward: bool
    before: bool = False
    after: bool = False

    def run(
        self, context: Context, name: str, found: Spectrum, points: Value, axis: int, norm: str
    ) -> Spectrum:
        """Transform along an axis."""
        moved = axis_last(context, found, axis)
        if self.before:
            moved = _conjugated(context, moved)
        result, n = self.step(context, name, moved, points)
        if self.after:
            result = _conjugated(context, result)
        scaled = _scaled(context, result, norm, n, self.is_backward)
        return axis_back(context, scaled, axis)


FORWARD = Transform(_complex(False), is_backward=False)
BACKWARD = Transform(_complex(True), is_backward=True)
OF_REAL = Transform(_half_of_real, is_backward=False)
TO_REAL = Transform(_real_of_half, is_backward=True)
HERMITIAN = Transform(_real_of_half, is_backward=False, before=True)
"""hfft: the forward transform of a spectrum whose second half is the conjugate of the first: real values."""
TO_HERMITIAN = Transform(_half_of_real, is_backward=True, after=True)


def one_dimension(name: str, transform: Transform) -> StagedCall:
    """np.fft.fft and its kind"""

    def run(context: Context, value: Value, n: Value, axis: Value, norm: Value) -> Value:
        found = argument_of(context, name, value)
        place = axis_of(context, name, axis, len(found.real.type.shape))
        return result_of(context, transform.run(context, name, found, n, place, norm_of(context, name, norm)))

    if name.startswith("np."):

        def of_numpy(
            context: Context, a: Value, n: Value = None, axis: Value = -1, norm: Value = None
        ) -> Value:
            return run(context, a, n, axis, norm)

        return of_numpy

    def of_scipy(
        context: Context,
        x: Value,
        n: Value = None,
        axis: Value = -1,
        norm: Value = None,
        overwrite_x: Value = False,
        workers: Value = None,
    ) -> Value:
        return run(context, x, n, axis, norm)

    return of_scipy


# ---------------------------------------------------------------------------- several dimensions
@dataclass(frozen=True, slots=True)
class Transforms:
    """A transform of several dimensions: that of the last axis, that of the others, and which comes last."""

    last: Transform
    others: Transform
    is_last_behind: bool = False


COMPLEX_FORWARD = Transforms(FORWARD, FORWARD)
COMPLEX_BACKWARD = Transforms(BACKWARD, BACKWARD)
REAL_FORWARD = Transforms(OF_REAL, FORWARD)
REAL_BACKWARD = Transforms(TO_REAL, BACKWARD, is_last_behind=True)


def several_dimensions(name: str, transforms: Transforms, default: tuple[int, ...] | None) -> StagedCall:
    """np.fft.fftn and its kind, and those of two dimensions"""

    def run(context: Context, value: Value, s: Value, axes: Value, norm: Value) -> Value:
        found = argument_of(context, name, value)
        sizes, places = _dimensions(context, name, found, s, axes)
        kind = norm_of(context, name, norm)
        *others, last = zip(places, sizes, strict=True)
        steps = [(transforms.last, last), *((transforms.others, one) for one in reversed(others))]
        for transform, (axis, points) in reversed(steps) if transforms.is_last_behind else steps:
            found = transform.run(context, name, found, points, axis, kind)
        return result_of(context, found)

    if name.startswith("np."):

        def of_numpy(
            context: Context, a: Value, s: Value = None, axes: Value = default, norm: Value = None
        ) -> Value:
            return run(context, a, s, axes, norm)

        return of_numpy

    def of_scipy(
        context: Context,
        x: Value,
        s: Value = None,
        axes: Value = default,
        norm: Value = None,
        overwrite_x: Value = False,
        workers: Value = None,
    ) -> Value:
        return run(context, x, s, axes, norm)

    return of_scipy


def _dimensions(
    context: Context, name: str, found: Spectrum, s: Value, axes: Value
) -> tuple[list[Value], list[int]]:
    """How many points each axis is transformed to, None for as many as it has, and the axes."""
    rank = len(found.real.type.shape)
    if axes is None:
        count = rank if s is None else len(_listed(context, name, "s", s))
        places: Sequence[Value] = range(rank - count, rank)
    else:
        places = _listed(context, name, "axes", axes)
    numbers = [axis_of(context, name, place, rank) for place in places]
    sizes = [None] * len(numbers) if s is None else _listed(context, name, "s", s)
    if not numbers or len(set(numbers)) != len(numbers):
        raise UnsupportedArgument(name, f"`axes={tuple(numbers)}`: one or more, each once", context.span)
    if len(sizes) != len(numbers):
        raise UnsupportedArgument(name, f"{len(sizes)} sizes `s` for {len(numbers)} axes", context.span)
    return [None if isinstance(size, int) and size == -1 else size for size in sizes], numbers


def _listed(context: Context, name: str, argument: str, value: Value) -> Sequence[Value]:
    if isinstance(value, tuple | list):
        return value
    raise UnsupportedArgument(name, f"`{argument}` is {describe(value)}, no tuple", context.span)


# ---------------------------------------------------------------------------- frequencies and shifts
def frequencies(name: str, is_half: bool) -> StagedCall:
    """np.fft.fftfreq, np.fft.rfftfreq: k/(n·d) for k = 0, 1, …, the upper half as k - n"""

    def staged(context: Context, n: Value, d: Value = 1.0) -> Value:
        builder = context.builder
        points = points_of(context, name, n, i64(0))
        spacing = _number(context, name, d)
        step = builder.div(number(1.0, F64), builder.mul(builder.convert(points, F64), spacing))
        middle = builder.size("floordiv", builder.size("add", points, i64(1)), i64(2))

        def place(inner: Builder, index: Var) -> Atom:
            is_low = inner.apply("lt", index, middle)
            k = index if is_half else inner.select(is_low, index, inner.apply("sub", index, points))
            return inner.mul(inner.convert(k, F64), step)

        return context.wrap(builder.stack(half_of(context, points) if is_half else points, place))

    return staged


def _number(context: Context, name: str, value: Value) -> Atom:
    found = as_array(context, value)
    if found.shape:
        raise UnsupportedArgument(name, "an array where a number is expected", context.span)
    return atom(context, found, F64)


def shifted(name: str, sign: int) -> StagedCall:
    """np.fft.fftshift, ifftshift: ⌊n/2⌋ places on, or back, along every axis or those named"""

    def staged(context: Context, x: Value, axes: Value = None) -> Value:
        real, imag = split(context, x)
        parts: list[Staged] = []
        for part in (real, imag):
            if part is not None:
                var = array_var(context, name, part)
                places = axes_of(context, name, axes, len(var.type.shape))
                parts.append(_shifted(context, var, places, sign))
        return parts[0] if imag is None else from_parts(context, *parts)

    return staged


def _shifted(context: Context, var: Var, axes: Sequence[int], sign: int) -> Staged:
    builder = context.builder
    halves = [builder.size("floordiv", var.type.shape[axis], i64(2)) for axis in axes]
    steps = [size_value(context, builder.size("mul", half, i64(sign))) for half in halves]
    return as_array(context, roll(context, context.wrap(var), steps, tuple(axes)))


_ONE: dict[str, Transform] = {
    "fft": FORWARD,
    "ifft": BACKWARD,
    "rfft": OF_REAL,
    "irfft": TO_REAL,
    "hfft": HERMITIAN,
    "ihfft": TO_HERMITIAN,
}
_SEVERAL: dict[str, Transforms] = {
    "fft": COMPLEX_FORWARD,
    "ifft": COMPLEX_BACKWARD,
    "rfft": REAL_FORWARD,
    "irfft": REAL_BACKWARD,
}


def _forms(module: object, prefix: str) -> dict[Callable[..., object], StagedCall]:
    forms = {name: one_dimension(prefix + name, transform) for name, transform in _ONE.items()}
    for name, transforms in _SEVERAL.items():
        forms[f"{name}2"] = several_dimensions(f"{prefix}{name}2", transforms, (-2, -1))
        forms[f"{name}n"] = several_dimensions(f"{prefix}{name}n", transforms, None)
    forms["fftfreq"] = frequencies(f"{prefix}fftfreq", is_half=False)
    forms["rfftfreq"] = frequencies(f"{prefix}rfftfreq", is_half=True)
    forms["fftshift"] = shifted(f"{prefix}fftshift", 1)
    forms["ifftshift"] = shifted(f"{prefix}ifftshift", -1)
    return {getattr(module, name): form for name, form in forms.items()}


CALLS: Table[StagedCall] = Table(
    (_forms(np.fft, "np.fft."), Late("scipy.fft", lambda: _forms(scipy.fft, "scipy.fft.")))
)
