"""Decompositions of matrices: determinants with their sign, QR, eigenvalues, singular values.

Results of several parts are NumPy's named tuples, taken apart by position or by name. Every function takes
stacks of matrices as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import Atom, Library, Size, Stack, Var
from anadrome.dtypes import F64
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.arrays import as_array
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library.common import array_var, static_flag
from anadrome.frontend.library.linear import square_matrix
from anadrome.frontend.sizes import is_same_size
from anadrome.frontend.values import Staged, Value

_ONE = np.eye(1)
_SLOGDET, _QR = type(np.linalg.slogdet(_ONE)), type(np.linalg.qr(_ONE))
EIGH, SVD = type(np.linalg.eigh(_ONE)), type(np.linalg.svd(_ONE))
_Parts = Callable[..., Sequence[Atom]]
"""(builder, a matrix of each stack, …) -> the parts of its decomposition."""


def each(context: Context, stacks: Sequence[Var], parts: _Parts) -> list[Staged]:
    """The parts for every matrix of a stack, or for one of each of several, each a stack of its own."""
    batch = stacks[0].type.shape[:-2]

    def level(builder: Builder, indices: tuple[Var, ...]) -> Sequence[Atom]:
        if len(indices) == len(batch):
            return parts(builder, *(builder.index(stack, indices) for stack in stacks))
        extent = batch[len(indices)]
        return builder.parfor(
            extent, lambda inner, index: [Stack.of(part) for part in level(inner, (*indices, index))]
        )

    return [context.wrap(part) for part in level(context.builder, ())]


def named(kind: Callable[..., Value], parts: Sequence[Value]) -> Value:
    """The parts as NumPy's named tuple."""
    return kind(*parts)


def float_matrix(context: Context, name: str, value: Value) -> Var:
    """A float operand of at least two dimensions."""
    dtype = as_array(context, value).dtype
    var = array_var(context, name, value, dtype if dtype.is_float else F64)
    if len(var.type.shape) < 2:
        raise UnsupportedArgument(name, "a vector where a matrix is expected", context.span)
    return var


def short_side(context: Context, var: Var) -> Size:
    rows, columns = var.type.shape[-2:]
    return columns if is_same_size(context, rows, columns) else context.builder.size("min", rows, columns)


# ---------------------------------------------------------------------------- determinant
def slogdet(context: Context, a: Value) -> Value:
    """np.linalg.slogdet: the sign of the determinant and the logarithm of its magnitude."""
    var = square_matrix(context, "np.linalg.slogdet", a)
    found = each(context, (var,), lambda builder, matrix: builder.let(Library("slogdet", (matrix,))))
    return named(_SLOGDET, found)


# ---------------------------------------------------------------------------- QR
def qr(context: Context, a: Value, mode: Value = "reduced") -> Value:
    """np.linalg.qr: `reduced` gives Q and R, `r` gives R alone."""
    name = "np.linalg.qr"
    if mode not in ("reduced", "r"):
        raise UnsupportedArgument(name, f"`mode={mode!r}`", context.span, "take `reduced` or `r`")
    var = float_matrix(context, name, a)
    short, is_tall = short_side(context, var), _is_tall(context, var)

    def parts(builder: Builder, matrix: Var) -> Sequence[Atom]:
        q, r = builder.let(Library("qr", (matrix if is_tall else _columns(builder, matrix, short),)))
        return q, r if is_tall else _beyond(builder, matrix, q, r)

    found = each(context, (var,), parts)
    return found[1] if mode == "r" else named(_QR, found)


def _is_tall(context: Context, var: Var) -> bool:
    """Whether a matrix is known to have no more columns than rows."""
    return is_same_size(context, short_side(context, var), var.type.shape[-1])


def _columns(builder: Builder, matrix: Var, count: Size) -> Var:
    """The first columns of a matrix."""
    return builder.array((matrix.type.shape[0], count), lambda inner, at: inner.index(matrix, at))


def _beyond(builder: Builder, matrix: Var, q: Var, r: Var) -> Atom:
    """R of all columns: that of the first ones, and Qᵀ·A behind them, where Q is square or nothing is."""
    rest = builder.let_one(Library("matmul", (q, matrix), (True, False)))
    short = r.type.shape[0]

    def entry(inner: Builder, at: tuple[Var, ...]) -> Atom:
        is_inside = inner.apply("lt", at[1], short)
        return inner.branch(is_inside, lambda b: (b.index(r, at),), lambda b: (b.index(rest, at),))[0]

    return builder.build((short, matrix.type.shape[1]), entry)


# ---------------------------------------------------------------------------- eigenvalues
def _symmetric(context: Context, name: str, a: Value, uplo: Value) -> tuple[Value, ...]:
    """Eigenvalues and eigenvectors of a symmetric matrix of which one triangle is read."""
    var, is_lower = square_matrix(context, name, a), reads_lower(context, name, uplo)
    return tuple(
        each(context, (var,), lambda builder, matrix: builder.let(Library("eigh", (matrix,), (is_lower,))))
    )


def reads_lower(context: Context, name: str, uplo: Value) -> bool:
    """Which triangle is read."""
    if not isinstance(uplo, str) or uplo.upper() not in ("L", "U"):
        raise UnsupportedArgument(name, f"`UPLO={uplo!r}`", context.span, "take `L` or `U`")
    return uplo.upper() == "L"


def eigh(context: Context, a: Value, UPLO: Value = "L") -> Value:  # noqa: N803
    """np.linalg.eigh: the eigenvalues, ascending, and the eigenvectors as columns."""
    return named(EIGH, _symmetric(context, "np.linalg.eigh", a, UPLO))


def eigvalsh(context: Context, a: Value, UPLO: Value = "L") -> Value:  # noqa: N803
    """np.linalg.eigvalsh: the eigenvalues of a symmetric matrix, ascending."""
    return _symmetric(context, "np.linalg.eigvalsh", a, UPLO)[0]


# ---------------------------------------------------------------------------- singular values
def _singular(context: Context, var: Var) -> list[Staged]:
    """U, the singular values and Vᵀ, reduced."""
    short = short_side(context, var)
    dtype = var.type.dtype

    def parts(builder: Builder, matrix: Var) -> Sequence[Atom]:
        room = builder.full((short,), number(0.0, dtype))
        return builder.let(Library("svd", (matrix, room)))

    return each(context, (var,), parts)


def svd(
    context: Context,
    a: Value,
    full_matrices: Value = True,
    compute_uv: Value = True,
    hermitian: Value = False,
) -> Value:
    """np.linalg.svd with `full_matrices=False`, or the singular values alone."""
    name = "np.linalg.svd"
    var = float_matrix(context, name, a)
    if not asks_vectors(context, var, full_matrices, compute_uv, hermitian):
        return _singular(context, var)[1]
    return named(SVD, _singular(context, var))


def asks_vectors(
    context: Context, var: Var, full_matrices: Value, compute_uv: Value, hermitian: Value
) -> bool:
    """Whether a call of np.linalg.svd asks for more than singular values, the reduced factors."""
    name = "np.linalg.svd"
    if static_flag(context, name, "hermitian", hermitian):
        raise UnsupportedArgument(
            name, "`hermitian=True`", context.span, "leave it out: the result is the same"
        )
    if not static_flag(context, name, "compute_uv", compute_uv):
        return False
    is_square = is_same_size(context, *var.type.shape[-2:])
    if static_flag(context, name, "full_matrices", full_matrices) and not is_square:
        raise UnsupportedArgument(
            name,
            "full factors of a matrix that is not square",
            context.span,
            "pass `full_matrices=False`: the columns beyond the rank have no derivative",
        )
    return True


def svdvals(context: Context, x: Value) -> Value:
    """np.linalg.svdvals: the singular values, descending."""
    return _singular(context, float_matrix(context, "np.linalg.svdvals", x))[1]


CALLS: dict[Callable[..., object], StagedCall] = {
    np.linalg.slogdet: slogdet,
    np.linalg.qr: qr,
    np.linalg.eigh: eigh,
    np.linalg.eigvalsh: eigvalsh,
    np.linalg.svd: svd,
    **({np.linalg.svdvals: svdvals} if hasattr(np.linalg, "svdvals") else {}),
}
