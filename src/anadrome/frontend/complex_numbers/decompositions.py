"""Eigenvalues of any matrix, and the decompositions of complex matrices.

The eigenvalues of a real matrix are complex numbers here, also where NumPy's are not: whether all of them are
real only the run knows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import ArrayType, Library, Var
from anadrome.frontend.complex_numbers.parts import complex_of, from_parts, is_complex
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library.common import array_var
from anadrome.frontend.library.decompositions import (
    EIGH,
    SVD,
    asks_vectors,
    each,
    float_matrix,
    named,
    reads_lower,
    short_side,
)
from anadrome.frontend.library.linear import square_matrix
from anadrome.frontend.sizes import retype
from anadrome.frontend.values import Staged, Value

_EIG = type(np.linalg.eig(np.eye(1)))
_Operand = Callable[[Context, str, Value], Var]


def _parts(context: Context, name: str, value: Value, of: _Operand) -> tuple[Var, Var]:
    """The parts of a matrix, the real one as `of` wants it."""
    matrix = complex_of(context, value)
    real = of(context, name, matrix.real)
    type_ = ArrayType(real.type.dtype, real.type.shape)
    return real, retype(context, array_var(context, name, matrix.imag), type_, name)


# ---------------------------------------------------------------------------- eigenvalues
def _eigenvalues(context: Context, name: str, a: Value) -> tuple[Value, Value]:
    """The eigenvalues, and the eigenvectors as columns."""
    if is_complex(a):
        parts: tuple[Var, ...] = _parts(context, name, a, square_matrix)
    else:
        parts = (square_matrix(context, name, a),)
    operation = "eig" if len(parts) == 1 else "complex_eig"
    found = each(context, parts, lambda builder, *own: builder.let(Library(operation, own)))
    return from_parts(context, *found[:2]), from_parts(context, *found[2:])


def eig(context: Context, a: Value) -> Value:
    """np.linalg.eig: of any matrix; the results are complex."""
    return named(_EIG, _eigenvalues(context, "np.linalg.eig", a))


def eigvals(context: Context, a: Value) -> Value:
    """np.linalg.eigvals: as complex numbers, in the order of np.linalg.eig."""
    return _eigenvalues(context, "np.linalg.eigvals", a)[0]


# ---------------------------------------------------------------------------- Hermitian matrices
def _hermitian(context: Context, name: str, a: Value, uplo: Value) -> list[Staged]:
    """The eigenvalues, and the parts of the eigenvectors, of a matrix of which one triangle is read."""
    parts, is_lower = _parts(context, name, a, square_matrix), reads_lower(context, name, uplo)
    return each(context, parts, lambda builder, *own: builder.let(Library("complex_eigh", own, (is_lower,))))


def eigh(context: Context, a: Value, UPLO: Value = "L") -> Value:  # noqa: N803
    """np.linalg.eigh of a Hermitian matrix"""
    values, real, imag = _hermitian(context, "np.linalg.eigh", a, UPLO)
    return named(EIGH, (values, from_parts(context, real, imag)))


def eigvalsh(context: Context, a: Value, UPLO: Value = "L") -> Value:  # noqa: N803
    """np.linalg.eigvalsh of a Hermitian matrix"""
    return _hermitian(context, "np.linalg.eigvalsh", a, UPLO)[0]


# ---------------------------------------------------------------------------- singular values
def _singular(context: Context, name: str, a: Value) -> tuple[list[Staged], Var]:
    """The parts of U, the singular values and the parts of Vᴴ, reduced; the real part of the matrix."""
    parts = _parts(context, name, a, float_matrix)
    short, dtype = short_side(context, parts[0]), parts[0].type.dtype

    def factors(builder: Builder, *own: Var) -> tuple[Var, ...]:
        return builder.let(Library("complex_svd", (*own, builder.full((short,), number(0.0, dtype)))))

    return each(context, parts, factors), parts[0]


def svd(
    context: Context,
    a: Value,
    full_matrices: Value = True,
    compute_uv: Value = True,
    hermitian: Value = False,
) -> Value:
    """np.linalg.svd of a complex matrix, reduced, or its singular values alone"""
    found, matrix = _singular(context, "np.linalg.svd", a)
    if not asks_vectors(context, matrix, full_matrices, compute_uv, hermitian):
        return found[2]
    return named(SVD, (from_parts(context, *found[:2]), found[2], from_parts(context, *found[3:])))


def svdvals(context: Context, x: Value) -> Value:
    """np.linalg.svdvals of a complex matrix"""
    return _singular(context, "np.linalg.svdvals", x)[0][2]


CALLS: dict[Callable[..., Any], StagedCall] = {np.linalg.eig: eig, np.linalg.eigvals: eigvals}
"""For real matrices as well."""

COMPLEX_CALLS: dict[Callable[..., Any], StagedCall] = {
    np.linalg.eigh: eigh,
    np.linalg.eigvalsh: eigvalsh,
    np.linalg.svd: svd,
    **({np.linalg.svdvals: svdvals} if hasattr(np.linalg, "svdvals") else {}),
}
