"""Derivatives of Fourier transforms, which are linear in all that they read.

A complex number is a pair of reals here, so an adjoint pairs with it as
⟨(a, b), (u, v)⟩ = Σ a·u + b·v = Re Σ conj(a + ib)·(u + iv), and the transpose of a map under this pairing is
its conjugate transpose: of F_jk = e^(-2πi·jk/n) the transform of the other sign.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anadrome.ad.arrays import element, zeros_like
from anadrome.ad.library.record import Call, Lazy, ReverseRule, Vars
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Library, Var, i64


def _fourier_reverse(b: Builder, call: Call, adjoints: Vars) -> tuple[Lazy, ...]:
    """y = F·x: x_adj = Fᴴ·y_adj"""
    (is_backward,) = call.attributes
    return _known(b.let(Library("fourier", tuple(_filled(b, call, adjoints)), (not is_backward,))))


def _of_real_reverse(b: Builder, call: Call, adjoints: Vars) -> tuple[Lazy, ...]:
    """y = half of F·x, x real. With w = 1 at k = 0 and k = n/2, else ½, for k = 0 … ⌊n/2⌋:

    x_j = Σ_{k ≤ n/2} Re(conj(y_adj_k)·e^(-iθ)), and to_real(c)_j counts every k but those two twice, so
    x_adj = to_real(w·y_adj)
    """
    values, _ = call.args
    length = b.full((values.type.shape[-1],), b.constant(0.0, values))
    halves = [_weighted(b, array, length, 0.5) for array in _filled(b, call, adjoints)]
    return _known(b.let(Library("fourier_to_real", (*halves, length))))


def _to_real_reverse(b: Builder, call: Call, adjoints: Vars) -> tuple[Lazy, ...]:
    """x = to_real(c): c_adj = of_real(x_adj) / w"""
    part, _, room = call.args
    half = b.full((part.type.shape[-1],), b.constant(0.0, part))
    spectrum = b.let(Library("fourier_of_real", (*_filled(b, call, adjoints), half)))
    return _known([_weighted(b, array, room, 2.0) for array in spectrum])


def _filled(b: Builder, call: Call, adjoints: Vars) -> list[Atom]:
    """The adjoints, zeros where there is none."""
    return [
        zeros_like(b, result) if adjoint is None else adjoint
        for result, adjoint in zip(call.results, adjoints, strict=True)
    ]


def _known(found: Sequence[Var]) -> tuple[Lazy, ...]:
    return tuple(lambda array=array: array for array in found)


def _weighted(builder: Builder, spectrum: Atom, values: Atom, weight: float) -> Var:
    """Half a spectrum, times a weight where its element stands for two: not at 0, nor at n/2."""
    n = values.type.shape[0]

    def place(inner: Builder, at: tuple[Var, ...]) -> Atom:
        value = element(inner, spectrum, at)
        is_first = inner.apply("eq", at[-1], i64(0))
        is_middle = inner.apply("eq", inner.apply("mul", at[-1], i64(2)), n)
        is_alone = inner.apply("or", is_first, is_middle)
        return inner.select(is_alone, value, inner.mul(value, inner.constant(weight, value)))

    return builder.array(spectrum.type.shape, place)


REVERSE: Mapping[str, ReverseRule] = {
    "fourier": _fourier_reverse,
    "fourier_of_real": _of_real_reverse,
    "fourier_to_real": _to_real_reverse,
}
