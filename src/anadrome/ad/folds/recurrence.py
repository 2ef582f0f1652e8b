"""Linear recurrences as scans: what the adjoint of a scan runs through (IFL23, §3.4; Blelloch 1990).

Going from the last iteration to the first, with square matrices A_i and vectors b_i,

    w_i = A_i·w_{i+1} + b_i,      w_n = 0

Each step is a linear function; two in a row compose to one, which is associative:

    (A, b) then (A', b')  =  (A'·A, A'·b + b'),      identity (I, 0)

so all w_i are one scan. Entries outside the pattern of A are zero in every product and are not carried. A
scan of this kind differentiates into scans of this kind, whose matrices are no larger.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import starmap

from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import SCALARS, Atom, Lambda, Part, Scan, Var
from anadrome.dtypes import DType

Entry = tuple[int, int]


def closure(entries: Iterable[Entry], size: int) -> list[Entry]:
    """The entries that any product of matrices of this pattern, or of none, may have."""
    found = {*entries, *((place, place) for place in range(size))}
    while True:
        more = {(row, column) for row, middle in found for other, column in found if middle == other}
        if more <= found:
            return sorted(found)
        found |= more


def linear_scan(
    pattern: Sequence[Entry], matrix: Mapping[Entry, Atom], vector: Sequence[Atom], dtype: DType
) -> Part:
    """The yield of w before each step (exclusive): its results are the matrices' entries, then w.

    The parfor runs from the last iteration to the first; `pattern` is closed (`closure`).
    """
    zero = number(0.0, dtype)
    values = (*(matrix.get(entry, zero) for entry in pattern), *vector)
    return Scan.of(_composition(pattern, len(vector), dtype), values, exclusive=True)


def _composition(pattern: Sequence[Entry], size: int, dtype: DType) -> Lambda:
    """First `left`, then `right`, as one linear function."""
    builder = Builder()
    left, right = _Linear(pattern, size, dtype, "l"), _Linear(pattern, size, dtype, "r")
    builder.bind(*left.variables, *right.variables)
    products = [
        _sum(builder, [(right.matrix[row, k], left.matrix[k, column]) for k in _shared(pattern, row, column)])
        for row, column in pattern
    ]
    vectors = []
    for row in range(size):
        terms = [(right.matrix[row, k], left.vector[k]) for k in range(size) if (row, k) in right.matrix]
        vectors.append(builder.add(_sum(builder, terms), right.vector[row]))
    one, zero = number(1.0, dtype), number(0.0, dtype)
    start = (*(one if row == column else zero for row, column in pattern), *([zero] * size))
    return Lambda(left.variables, right.variables, builder.body((*products, *vectors)), start)


def _shared(pattern: Sequence[Entry], row: int, column: int) -> list[int]:
    known = set(pattern)
    return [k for r, k in pattern if r == row and (k, column) in known]


def _sum(builder: Builder, terms: Sequence[tuple[Atom, Atom]]) -> Atom:
    return builder.chain("add", starmap(builder.mul, terms))


class _Linear:
    """The variables of one operand: a matrix by its entries, and a vector."""

    def __init__(self, pattern: Sequence[Entry], size: int, dtype: DType, name: str) -> None:
        type_ = SCALARS[dtype.name]
        self.matrix = {entry: Var(f"{name}{entry[0]}{entry[1]}", type_) for entry in pattern}
        self.vector = [Var(f"{name}{row}", type_) for row in range(size)]
        self.variables = (*self.matrix.values(), *self.vector)
