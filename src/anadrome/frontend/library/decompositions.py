"""Decompositions of matrices: determinants with their sign, QR, eigenvalues, singular values, pseudo-inverse.

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
from anadrome.frontend.structures import is_number
from anadrome.frontend.values import Value

_ONE = np.eye(1)
_SLOGDET, _QR = type(np.linalg.slogdet(_ONE)), type(np.linalg.qr(_ONE))
_EIGH, _SVD = type(np.linalg.eigh(_ONE)), type(np.linalg.svd(_ONE))
_Parts = Callable[[Builder, Var], Sequence[Atom]]
"""(builder, matrix) -> the parts of its decomposition."""


def _each(context: Context, stack: Var, parts: _Parts) -> list[Value]:
    """The parts for every matrix of a stack, each a stack of its own."""
    batch = stack.type.shape[:-2]

    def level(builder: Builder, indices: tuple[Var, ...]) -> Sequence[Atom]:
        if len(indices) == len(batch):
            matrix = builder.index(stack, indices)
            assert isinstance(matrix, Var)
            return parts(builder, matrix)
        extent = batch[len(indices)]
        return builder.parfor(
            extent, lambda inner, index: [Stack(part) for part in level(inner, (*indices, index))]
        )

    return [context.wrap(part) for part in level(context.builder, ())]


def _named(kind: Callable[..., Value], parts: Sequence[Value]) -> Value:
    """The parts as NumPy's named tuple."""
    return kind(*parts)


def _matrix(context: Context, name: str, value: Value) -> Var:
    """A float operand of at least two dimensions."""
    dtype = as_array(context, value).dtype
    var = array_var(context, name, value, dtype if dtype.is_float else F64)
    if len(var.type.shape) < 2:
        raise UnsupportedArgument(name, "a vector where a matrix is expected", context.span)
    return var


def _short_side(context: Context, var: Var) -> Size:
    rows, columns = var.type.shape[-2:]
    return columns if is_same_size(context, rows, columns) else context.builder.size("min", rows, columns)


# ---------------------------------------------------------------------------- determinant
def slogdet(context: Context, a: Value) -> Value:
    """np.linalg.slogdet: the sign of the determinant and the logarithm of its magnitude."""
    var = square_matrix(context, "np.linalg.slogdet", a)
    found = _each(context, var, lambda builder, matrix: builder.let(Library("slogdet", (matrix,))))
    return _named(_SLOGDET, found)


# ---------------------------------------------------------------------------- QR
def qr(context: Context, a: Value, mode: Value = "reduced") -> Value:
    """np.linalg.qr: `reduced` gives Q and R, `r` gives R alone."""
    name = "np.linalg.qr"
    if mode not in ("reduced", "r"):
        raise UnsupportedArgument(name, f"`mode={mode!r}`", context.span, "take `reduced` or `r`")
    var = _matrix(context, name, a)
    short, is_tall = _short_side(context, var), _is_tall(context, var)

    def parts(builder: Builder, matrix: Var) -> Sequence[Atom]:
        q, r = builder.let(Library("qr", (matrix if is_tall else _columns(builder, matrix, short),)))
        return q, r if is_tall else _beyond(builder, matrix, q, r)

    found = _each(context, var, parts)
    return found[1] if mode == "r" else _named(_QR, found)


def _is_tall(context: Context, var: Var) -> bool:
    """Whether a matrix is known to have no more columns than rows."""
    return is_same_size(context, _short_side(context, var), var.type.shape[-1])


def _columns(builder: Builder, matrix: Var, count: Size) -> Var:
    """The first columns of a matrix."""
    result = builder.build((matrix.type.shape[0], count), lambda inner, at: inner.index(matrix, at))
    assert isinstance(result, Var)
    return result


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
    if not isinstance(uplo, str) or uplo.upper() not in ("L", "U"):
        raise UnsupportedArgument(name, f"`UPLO={uplo!r}`", context.span, "take `L` or `U`")
    var, is_lower = square_matrix(context, name, a), uplo.upper() == "L"
    return tuple(
        _each(context, var, lambda builder, matrix: builder.let(Library("eigh", (matrix,), (is_lower,))))
    )


def eigh(context: Context, a: Value, UPLO: Value = "L") -> Value:  # noqa: N803
    """np.linalg.eigh: the eigenvalues, ascending, and the eigenvectors as columns."""
    return _named(_EIGH, _symmetric(context, "np.linalg.eigh", a, UPLO))


def eigvalsh(context: Context, a: Value, UPLO: Value = "L") -> Value:  # noqa: N803
    """np.linalg.eigvalsh: the eigenvalues of a symmetric matrix, ascending."""
    return _symmetric(context, "np.linalg.eigvalsh", a, UPLO)[0]


# ---------------------------------------------------------------------------- singular values
def _singular(context: Context, var: Var) -> list[Value]:
    """U, the singular values and Vᵀ, reduced."""
    short = _short_side(context, var)
    dtype = var.type.dtype

    def parts(builder: Builder, matrix: Var) -> Sequence[Atom]:
        room = builder.full((short,), number(0.0, dtype))
        return builder.let(Library("svd", (matrix, room)))

    return _each(context, var, parts)


def svd(
    context: Context,
    a: Value,
    full_matrices: Value = True,
    compute_uv: Value = True,
    hermitian: Value = False,
) -> Value:
    """np.linalg.svd with `full_matrices=False`, or the singular values alone."""
    name = "np.linalg.svd"
    if static_flag(context, name, "hermitian", hermitian):
        raise UnsupportedArgument(
            name, "`hermitian=True`", context.span, "leave it out: the result is the same"
        )
    var = _matrix(context, name, a)
    if not static_flag(context, name, "compute_uv", compute_uv):
        return _singular(context, var)[1]
    is_square = is_same_size(context, *var.type.shape[-2:])
    if static_flag(context, name, "full_matrices", full_matrices) and not is_square:
        raise UnsupportedArgument(
            name,
            "full factors of a matrix that is not square",
            context.span,
            "pass `full_matrices=False`: the columns beyond the rank have no derivative",
        )
    return _named(_SVD, _singular(context, var))


def svdvals(context: Context, x: Value) -> Value:
    """np.linalg.svdvals: the singular values, descending."""
    return _singular(context, _matrix(context, "np.linalg.svdvals", x))[1]


# ---------------------------------------------------------------------------- pseudo-inverse
def pinv(context: Context, a: Value, rcond: Value = None, *, rtol: Value = np._NoValue) -> Value:
    """np.linalg.pinv: of full rank R⁻¹·Qᵀ (of a wide matrix by its transpose), which is smooth, else V·S⁺·Uᵀ

    Singular values decide the rank, and have no derivative; only a matrix whose rank is not full is
    differentiated through them: along matrices of that rank, since across ranks the function jumps.
    """
    name = "np.linalg.pinv"
    var = _matrix(context, name, a)
    share = _cut(context, name, var, rcond, rtol)
    short, shape = _short_side(context, var), var.type.shape[-2:]
    is_tall, is_wide = (is_same_size(context, short, size) for size in reversed(shape))

    def place(builder: Builder, indices: tuple[Var, ...]) -> Atom:
        matrix = builder.index(var, indices)
        assert isinstance(matrix, Var)

        def tall(inner: Builder) -> tuple[Atom, ...]:
            return (_of_full_columns(inner, matrix),)

        def wide(inner: Builder) -> tuple[Atom, ...]:
            return (_transposed(inner, _of_full_columns(inner, _transposed(inner, matrix))),)

        def of_full_rank(inner: Builder) -> tuple[Atom, ...]:
            if is_tall or is_wide:
                return tall(inner) if is_tall else wide(inner)
            return inner.branch(inner.apply("ge", *shape), tall, wide)

        _, values, _ = builder.let(Library("svd", (matrix, _room(builder, matrix, short))))
        cutoff = _cutoff(builder, values, share)
        is_full = builder.reduce(
            "and", short, lambda inner, k: inner.apply("gt", inner.index(values, (k,)), cutoff)
        )
        return builder.branch(
            is_full, of_full_rank, lambda inner: (_of_less_rank(inner, matrix, short, share),)
        )[0]

    return context.wrap(context.builder.build(var.type.shape[:-2], place))


def _cut(context: Context, name: str, var: Var, rcond: Value, rtol: Value) -> Atom:
    """The share of the largest singular value up to which others count as zero."""
    if rcond is not None and rtol is not np._NoValue:
        raise UnsupportedArgument(name, "both `rcond` and `rtol`", context.span, "give `rtol`")
    given = rcond if rcond is not None else rtol
    dtype = var.type.dtype
    if given is np._NoValue:
        return number(1e-15, dtype)
    if given is None:
        longer = context.builder.size("max", *var.type.shape[-2:])
        precision = number(float(np.finfo(dtype.numpy_name).eps), dtype)
        return context.builder.mul(context.builder.convert(longer, dtype), precision)
    if not is_number(given):
        raise UnsupportedArgument(name, "a cut-off that is no known number", context.span)
    return number(float(given), dtype)  # type: ignore[arg-type]


def _room(builder: Builder, matrix: Var, short: Size) -> Atom:
    return builder.full((short,), number(0.0, matrix.type.dtype))


def _cutoff(builder: Builder, values: Var, share: Atom) -> Atom:
    largest = builder.reduce("max", values.type.shape[0], lambda inner, k: inner.index(values, (k,)))
    return builder.mul(share, largest)


def _transposed(builder: Builder, matrix: Var) -> Var:
    result = builder.build(matrix.type.shape[::-1], lambda inner, at: inner.index(matrix, at[::-1]))
    assert isinstance(result, Var)
    return result


def _of_full_columns(builder: Builder, matrix: Var) -> Var:
    """R⁻¹·Qᵀ"""
    q, r = builder.let(Library("qr", (matrix,)))
    return builder.let_one(Library("triangular_solve", (r, _transposed(builder, q)), (False, False)))


def _of_less_rank(builder: Builder, matrix: Var, short: Size, share: Atom) -> Var:
    """V·S⁺·Uᵀ"""
    u, values, vt = builder.let(Library("svd", (matrix, _room(builder, matrix, short))))
    cutoff, one = _cutoff(builder, values, share), number(1.0, matrix.type.dtype)

    def scaled(inner: Builder, at: tuple[Var, ...]) -> Atom:
        value, nothing = inner.index(values, at[:1]), number(0.0, matrix.type.dtype)
        return inner.branch(
            inner.apply("gt", value, cutoff),
            lambda branch: (branch.mul(branch.div(one, value), branch.index(vt, at)),),
            lambda branch: (nothing,),
        )[0]

    rows = builder.build(vt.type.shape, scaled)
    assert isinstance(rows, Var)
    return builder.let_one(Library("matmul", (rows, u), (True, True)))


CALLS: dict[Callable[..., object], StagedCall] = {
    np.linalg.pinv: pinv,
    np.linalg.slogdet: slogdet,
    np.linalg.qr: qr,
    np.linalg.eigh: eigh,
    np.linalg.eigvalsh: eigvalsh,
    np.linalg.svd: svd,
    **({np.linalg.svdvals: svdvals} if hasattr(np.linalg, "svdvals") else {}),
}
