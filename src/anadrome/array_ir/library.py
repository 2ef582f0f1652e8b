"""The rows of `Library`: operations whose body is a call into BLAS, LAPACK or our runtime.

A row says how many arguments it takes and how result types follow from theirs. Derivative rules stand in
`ad.library`, lowering in `lower.library`, meaning on NumPy in `array_ir.interp_library`.

`cholesky_adjoint` takes a lower triangular factor L of A and the adjoint of L, and gives the adjoint of A; of
both only the lower triangle is read, of A the lower triangle is what has an adjoint.

A result whose size does not follow from the arguments is as long as an argument named `room`, whose elements
are not read. The Fourier transforms go along the last dimension, are not scaled, and take and give the real
and the imaginary part apart; with θ = 2π·jk/n:

    fourier:          y_k = Σ_j (real_j + i·imag_j)·e^(∓iθ), `backward` with e^(+iθ)
    fourier_of_real:  y_k = Σ_j values_j·e^(-iθ) for k = 0 … ⌊n/2⌋, which is as long as `room`
    fourier_to_real:  y_j = Σ_k c_k·e^(+iθ) for j = 0 … n - 1 with n that of `room`, where c_k is
                      real_k + i·imag_k for k ≤ ⌊n/2⌋, the conjugate of c_(n-k) beyond, and the imaginary
                      parts of c_0 and (n even) c_(n/2) count as zero
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anadrome.array_ir.nodes import ArrayType
from anadrome.dtypes import I64

ResultRule = Callable[[tuple[ArrayType, ...], tuple[bool | int, ...]], tuple[ArrayType, ...] | str]
"""(argument types, attributes) -> result types, or the rule that is broken, in words."""


@dataclass(frozen=True, slots=True, eq=False)
class LibraryOperation:
    """One row: a name, the number of arguments, the names of its attributes, and the type rule."""

    name: str
    arity: int
    attributes: tuple[str, ...]
    results: ResultRule
    count: int = 1
    """How many results there are."""


def _matmul(args: tuple[ArrayType, ...], attributes: tuple[bool | int, ...]) -> tuple[ArrayType, ...] | str:
    left, right = args
    if left.rank != 2 or right.rank != 2:
        return "matmul takes two matrices"
    rows, inner = left.shape[::-1] if attributes[0] else left.shape
    inner_right, columns = right.shape[::-1] if attributes[1] else right.shape
    if inner != inner_right:
        return f"the inner sizes of matmul differ: {inner} and {inner_right}"
    return (ArrayType(left.dtype, (rows, columns)),)


def _square(args: tuple[ArrayType, ...], attributes: tuple[bool | int, ...]) -> tuple[ArrayType, ...] | str:
    (matrix,) = args[:1]
    if matrix.rank != 2 or matrix.shape[0] != matrix.shape[1]:
        return "expects a square matrix"
    return (matrix,)


def _pair_of_squares(
    args: tuple[ArrayType, ...], attributes: tuple[bool | int, ...]
) -> tuple[ArrayType, ...] | str:
    checked = _square(args, attributes)
    if isinstance(checked, str):
        return checked
    return checked if args[0] == args[1] else "expects two square matrices of one size"


def _determinant(
    args: tuple[ArrayType, ...], attributes: tuple[bool | int, ...]
) -> tuple[ArrayType, ...] | str:
    checked = _square(args, attributes)
    return checked if isinstance(checked, str) else (ArrayType(args[0].dtype),)


def _solve(args: tuple[ArrayType, ...], attributes: tuple[bool | int, ...]) -> tuple[ArrayType, ...] | str:
    checked = _square(args, attributes)
    if isinstance(checked, str):
        return checked
    matrix, right = args
    if right.rank != 2 or right.shape[0] != matrix.shape[0]:
        return "the right-hand side of solve is a matrix with as many rows as the system"
    return (right,)


def _slogdet(args: tuple[ArrayType, ...], attributes: tuple[bool | int, ...]) -> tuple[ArrayType, ...] | str:
    checked = _square(args, attributes)
    return checked if isinstance(checked, str) else (ArrayType(args[0].dtype), ArrayType(args[0].dtype))


def _qr(args: tuple[ArrayType, ...], attributes: tuple[bool | int, ...]) -> tuple[ArrayType, ...] | str:
    (matrix,) = args
    if matrix.rank != 2:
        return "qr takes a matrix"
    return matrix, ArrayType(matrix.dtype, (matrix.shape[1], matrix.shape[1]))


def _eigh(args: tuple[ArrayType, ...], attributes: tuple[bool | int, ...]) -> tuple[ArrayType, ...] | str:
    checked = _square(args, attributes)
    return checked if isinstance(checked, str) else (args[0].row(), args[0])


def _svd(args: tuple[ArrayType, ...], attributes: tuple[bool | int, ...]) -> tuple[ArrayType, ...] | str:
    matrix, room = args
    if matrix.rank != 2 or room.rank != 1:
        return "svd takes a matrix and a vector as long as its shorter side"
    rows, columns = matrix.shape
    (short,) = room.shape
    return ArrayType(matrix.dtype, (rows, short)), room, ArrayType(matrix.dtype, (short, columns))


def _fourier(args: tuple[ArrayType, ...], attributes: tuple[bool | int, ...]) -> tuple[ArrayType, ...] | str:
    real, imag = args
    if not real.rank or real != imag or not real.dtype.is_float:
        return "fourier takes the real and the imaginary part of an array of floats"
    return real, imag


def _fourier_of_real(
    args: tuple[ArrayType, ...], attributes: tuple[bool | int, ...]
) -> tuple[ArrayType, ...] | str:
    values, room = args
    if not values.rank or room.rank != 1 or not values.dtype.is_float:
        return "fourier_of_real takes an array of floats, and a vector as long as half a spectrum"
    half = ArrayType(values.dtype, (*values.shape[:-1], *room.shape))
    return half, half


def _fourier_to_real(
    args: tuple[ArrayType, ...], attributes: tuple[bool | int, ...]
) -> tuple[ArrayType, ...] | str:
    real, imag, room = args
    if not real.rank or real != imag or room.rank != 1 or not real.dtype.is_float:
        return "fourier_to_real takes two parts of half a spectrum, and a vector as long as the result"
    return (ArrayType(real.dtype, (*real.shape[:-1], *room.shape)),)


def _argsort(args: tuple[ArrayType, ...], attributes: tuple[bool | int, ...]) -> tuple[ArrayType, ...] | str:
    (values,) = args
    return (ArrayType(I64, values.shape),) if values.rank == 1 else "argsort takes a vector"


LIBRARY = {
    row.name: row
    for row in (
        LibraryOperation("matmul", 2, ("transpose_left", "transpose_right"), _matmul),
        LibraryOperation("solve", 2, ("transpose",), _solve),
        LibraryOperation("triangular_solve", 2, ("lower", "transpose"), _solve),
        LibraryOperation("inv", 1, (), _square),
        LibraryOperation("det", 1, (), _determinant),
        LibraryOperation("cholesky", 1, (), _square),
        LibraryOperation("cholesky_adjoint", 2, (), _pair_of_squares),
        LibraryOperation("slogdet", 1, (), _slogdet, 2),
        LibraryOperation("qr", 1, (), _qr, 2),
        LibraryOperation("eigh", 1, (), _eigh, 2),
        LibraryOperation("svd", 2, (), _svd, 3),
        LibraryOperation("fourier", 2, ("backward",), _fourier, 2),
        LibraryOperation("fourier_of_real", 2, (), _fourier_of_real, 2),
        LibraryOperation("fourier_to_real", 3, (), _fourier_to_real),
        LibraryOperation("argsort", 1, (), _argsort),
    )
}
