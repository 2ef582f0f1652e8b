"""The routines a `Call` may name: what each takes, and what it does.

Conventions, for whoever emits a call:

* Matrices are dense and row-major: element (i, j) of an r × c matrix stands at offset i·c + j of its buffer.
* A `transpose` flag means that the buffer holds the transpose of the operand, or that the system is Aᵀ·X = B;
  the sizes given are always those of the mathematical operation, after transposing.
* Buffers of one call do not overlap; `in` buffers are left as they are, `out` buffers need no initial value.
* A vector right-hand side is a matrix of one column. Sizes may be zero.
* `status` is an i64 buffer of one element: 0 where the result exists; else 1 + the row (counted from 0) of
  the zero pivot, of the zero on the diagonal, or of the leading minor that is not positive. The contents of
  `out` then mean nothing. A `Check` on it follows the call.
* Where scratch memory runs out the call ends in the failure "memory"; no check is needed.

One row per operation and type: `routine("solve", F64)` is the name `solve_f64`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from anadrome.dtypes import ALL, BOOL, F32, F64, I64, DType

Role = Literal["in", "out", "inout", "value"]


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: a buffer that is read, written or both, or a scalar value."""

    name: str
    role: Role
    dtype: DType

    @property
    def is_buffer(self) -> bool:
        """Whether the argument is a buffer."""
        return self.role != "value"


@dataclass(frozen=True, slots=True, eq=False)
class Routine:
    """One row: the operation, the type of its elements, its arguments in order."""

    operation: str
    dtype: DType
    arguments: tuple[Argument, ...]

    @property
    def name(self) -> str:
        """What `Call.routine` says."""
        return routine(self.operation, self.dtype)


def routine(operation: str, dtype: DType) -> str:
    """The name of an operation on elements of a type."""
    return f"{operation}_{dtype.name}"


def _row(operation: str, dtype: DType, words: str) -> Routine:
    """`words` lists `name:role` with the roles in, out, inout, size (i64), flag (bool) and status."""
    arguments: list[Argument] = []
    for word in words.split():
        name, role = word.split(":")
        match role:
            case "in" | "out" | "inout":
                arguments.append(Argument(name, role, dtype))
            case "size":
                arguments.append(Argument(name, "value", I64))
            case "flag":
                arguments.append(Argument(name, "value", BOOL))
            case "order" | "status":
                arguments.append(Argument(name, "out", I64))
            case _:
                raise ValueError(role)
    return Routine(operation, dtype, tuple(arguments))


_GEMM = (
    "left:in right:in out:inout rows:size columns:size inner:size "
    "transpose_left:flag transpose_right:flag accumulate:flag"
)
"""out (rows × columns) = op(left) (rows × inner) · op(right) (inner × columns), plus out where `accumulate`.

Without `accumulate` the old contents of `out` are not read."""

_SOLVE = "matrix:in right:in out:out status:status n:size m:size transpose:flag"
"""out (n × m) = op(matrix)⁻¹ · right, with matrix n × n."""

_TRIANGULAR_SOLVE = "matrix:in right:in out:out status:status n:size m:size lower:flag transpose:flag"
"""The same where only the lower (or upper) triangle of `matrix` as stored counts; the rest is not read."""

_INV = "matrix:in out:out status:status n:size"
_DET = "matrix:in out:out n:size"
"""`out` is one element; a singular matrix has determinant 0."""

_CHOLESKY = "matrix:in out:out status:status n:size"
"""matrix = out · outᵀ, out lower triangular with zeros above; only the lower triangle of `matrix` is read."""

_CHOLESKY_ADJOINT = "factor:in adjoint:in out:out n:size"
"""The adjoint of `matrix` from `factor` = its Cholesky factor and the adjoint of that; of both only the lower
triangle is read, and `out` is lower triangular with zeros above."""

_SLOGDET = "matrix:in sign:out logarithm:out n:size"
"""det = sign · e^logarithm, one element each; 0 and -∞ for a singular matrix."""

_QR = "matrix:in q:out r:out m:size n:size"
"""matrix (m × n, m ≥ n) = q (m × n) · r (n × n), the columns of q orthonormal and r upper triangular."""

_EIGH = "matrix:in values:out vectors:out status:status n:size"
"""matrix · vectors = vectors · diag(values), ascending; only the lower triangle of `matrix` counts.

`status` is not 0 where the iteration did not converge."""

_SVD = "matrix:in u:out s:out vt:out status:status m:size n:size k:size"
"""matrix (m × n) = u (m × k) · diag(s) · vt (k × n) for k = min(m, n), s descending; `status` as for eigh."""

_FOURIER = "real:in imag:in out_real:out out_imag:out rows:size n:size backward:flag"
"""out (rows × n) = Σ_j in_j·e^(∓2πi·jk/n) along each row, the sign + where `backward`; not scaled."""

_FOURIER_OF_REAL = "values:in out_real:out out_imag:out rows:size n:size half:size"
"""The first half = ⌊n/2⌋ + 1 elements of the forward transform of each row; zeros for n = 0."""

_FOURIER_TO_REAL = "real:in imag:in out:out rows:size n:size half:size"
"""The backward transform (rows × n) of which `real` and `imag` (rows × half) are the first half."""

_ARGSORT = "values:in out:order n:size"
"""out[k] = position of the k-th smallest value; stable; NaNs come last, in their order."""

ROUTINES: dict[str, Routine] = {
    row.name: row
    for row in (
        *(
            _row(operation, dtype, words)
            for dtype in (F32, F64)
            for operation, words in (
                ("gemm", _GEMM),
                ("solve", _SOLVE),
                ("triangular_solve", _TRIANGULAR_SOLVE),
                ("inv", _INV),
                ("det", _DET),
                ("cholesky", _CHOLESKY),
                ("cholesky_adjoint", _CHOLESKY_ADJOINT),
                ("slogdet", _SLOGDET),
                ("qr", _QR),
                ("eigh", _EIGH),
                ("svd", _SVD),
                ("fourier", _FOURIER),
                ("fourier_of_real", _FOURIER_OF_REAL),
                ("fourier_to_real", _FOURIER_TO_REAL),
            )
        ),
        *(_row("argsort", dtype, _ARGSORT) for dtype in ALL),
    )
}
"""`Call.routine` -> row."""
