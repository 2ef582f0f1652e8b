"""Derivatives of Fourier transforms: library calls that are linear in all that they read.

The tangent of a transform is the transform of the tangents. A complex number is a pair of reals here, so an
adjoint pairs with it as ⟨(a, b), (u, v)⟩ = Σ a·u + b·v = Re Σ conj(a + ib)·(u + iv), and the transpose of a
map under this pairing is its conjugate transpose: of F_jk = e^(-2πi·jk/n) the transform of the other sign.
"""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.ad.arrays import element, zeros_like
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Library, Var, i64

TRANSFORMS = frozenset({"fourier", "fourier_of_real", "fourier_to_real"})
"""The operations that these rules are for."""


def parts_of(call: Library) -> tuple[Atom, ...]:
    """The arguments that are transformed: all but one that only says how long the result is."""
    return call.args if call.operation == "fourier" else call.args[:-1]


def forward_fourier(builder: Builder, call: Library, tangents: Sequence[Atom]) -> tuple[Var, ...]:
    """y_tan = F·x_tan; `call` is in the new program, `tangents` are those of `parts_of(call)`."""
    rest = call.args[len(tangents) :]
    return builder.let(Library(call.operation, (*tangents, *rest), call.attributes))


def reverse_fourier(
    builder: Builder, call: Library, results: Sequence[Atom], adjoints: Sequence[Atom | None]
) -> tuple[Var, ...]:
    """The adjoints of `parts_of(call)`. With w = 1 at k = 0 and k = n/2, else ½, for k = 0 … ⌊n/2⌋:

    y = F·x:              x_adj = Fᴴ·y_adj
    y = half of F·x, x real:  x_j = Σ_{k ≤ n/2} Re(conj(y_adj_k)·e^(-iθ)), and to_real(c)_j counts every
                          k but those two twice: x_adj = to_real(w·y_adj)
    x = to_real(c):       c_adj = of_real(x_adj) / w
    """
    given = [
        zeros_like(builder, result) if adjoint is None else adjoint
        for result, adjoint in zip(results, adjoints, strict=True)
    ]
    if call.operation == "fourier":
        return builder.let(Library("fourier", tuple(given), (not call.attributes[0],)))
    (part, *_), room = parts_of(call), call.args[-1]
    assert isinstance(part, Var) and isinstance(room, Var)
    if call.operation == "fourier_of_real":
        length = builder.full((part.type.shape[-1],), builder.constant(0.0, part))
        halves = [_weighted(builder, array, length, 0.5) for array in given]
        return builder.let(Library("fourier_to_real", (*halves, length)))
    half = builder.full((part.type.shape[-1],), builder.constant(0.0, part))
    spectrum = builder.let(Library("fourier_of_real", (given[0], half)))
    return tuple(_weighted(builder, array, room, 2.0) for array in spectrum)


def _weighted(builder: Builder, spectrum: Atom, values: Atom, weight: float) -> Var:
    """Half a spectrum, times a weight where its element stands for two: not at 0, nor at n/2."""
    n = values.type.shape[0]

    def place(inner: Builder, at: tuple[Var, ...]) -> Atom:
        value = element(inner, spectrum, at)
        is_first = inner.apply("eq", at[-1], i64(0))
        is_middle = inner.apply("eq", inner.apply("mul", at[-1], i64(2)), n)
        is_alone = inner.apply("or", is_first, is_middle)
        return inner.select(is_alone, value, inner.mul(value, inner.constant(weight, value)))

    result = builder.build(spectrum.type.shape, place)
    assert isinstance(result, Var)
    return result
