"""The routines a `Call` may name, which follow from the rows of `library.table`: what each takes, and gives.

A routine takes the arguments that are read, the results, `status` where there may be no result, the sizes,
and the attributes of its operation as flags. Conventions, for whoever emits a call:

* Matrices are dense and row-major: element (i, j) of an r × c matrix stands at offset i·c + j of its buffer.
* A `transpose` flag means that the buffer holds the transpose of the operand, or that the system is Aᵀ·X = B;
  the sizes given are always those of the mathematical operation, after transposing.
* Buffers of one call do not overlap; `in` buffers are left as they are, `out` buffers need no initial value.
* A vector right-hand side is a matrix of one column. Sizes may be zero. `batch` is the product of all leading
  dimensions.
* `status` is an i64 buffer of one element: 0 where the result exists. Elsewhere it is 1 + the row (counted
  from 0) of the zero pivot, of the zero on the diagonal, or of the leading minor that is not positive; of an
  iteration that does not converge any other number. The contents of the results then mean nothing. A `Check`
  on it follows the call.
* With `accumulate`, the last flag of some, the result is added to what is there; without it the old contents
  are not read.
* Where scratch memory runs out the call ends in the failure "memory"; no check is needed.

One row per operation and type: `routine("solve", F64)` is the name `solve_f64`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from anadrome.dtypes import BOOL, I64, DType
from anadrome.library.record import LibraryOperation
from anadrome.library.table import LIBRARY

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

    operation: LibraryOperation
    dtype: DType
    arguments: tuple[Argument, ...]

    @property
    def name(self) -> str:
        """What `Call.routine` says."""
        return routine(self.operation.routine_name, self.dtype)


def routine(operation: str, dtype: DType) -> str:
    """The name of a routine on elements of a type."""
    return f"{operation}_{dtype.name}"


def _arguments(row: LibraryOperation, dtype: DType) -> Iterator[Argument]:
    for operand in row.read(row.arguments):
        yield Argument(operand.name, "in", operand.dtype or dtype)
    for operand in row.results:
        yield Argument(operand.name, "inout" if row.is_adding else "out", operand.dtype or dtype)
    if not row.is_total:
        yield Argument("status", "out", I64)
    for size in row.sizes:
        yield Argument(size, "value", I64)
    for flag in (*row.attributes, *(("accumulate",) if row.is_adding else ())):
        yield Argument(flag, "value", BOOL)


ROUTINES: dict[str, Routine] = {
    routine(row.routine_name, dtype): Routine(row, dtype, tuple(_arguments(row, dtype)))
    for row in LIBRARY.values()
    for dtype in row.types
}
"""`Call.routine` -> row."""
