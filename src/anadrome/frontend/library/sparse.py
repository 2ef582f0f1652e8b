"""Functions of `scipy.sparse`: making matrices, and solving systems. Methods are in `sparse_program`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import scipy

from anadrome.array_ir.nodes import ArrayType, Library, Size, Var, i64
from anadrome.dtypes import F64, I64
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.errors.sparse import SparseOperation
from anadrome.frontend.arrays import describe, promote
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library.common import array_var, plain, require, shape_argument, static_flag
from anadrome.frontend.operators import is_one, truth
from anadrome.frontend.sizes import agree, as_size, retype, show_shape, size_value
from anadrome.frontend.sparse_matrices import COO_OF, KINDS, is_sparse
from anadrome.frontend.sparse_program import Coo, Csr, Sparse, are_inside, hold_rows, refuse
from anadrome.frontend.tables import Key, Late, Table
from anadrome.frontend.values import Array, Scope, Value


def _refuse(context: Context, matrix: Any, what: Any, reason: Any, help: Any) -> Value:
    """What a method of a matrix refuses."""
    raise SparseOperation(what, type(matrix).__name__, context.span, reason, help)


def _hold_rows(context: Context, places: Value, rows: Value, columns: Value) -> Value:
    """The sizes of `A @ x`."""
    words = "`@`: the sparse matrix has {1} columns, and the other side {0} rows"
    agree(context, as_size(context, rows), as_size(context, columns), "@", words=words)
    return None


def _method(context: Context, matrix: Value, name: str, *args: Value) -> Any:
    return context.call(context.evaluators.attribute(context, matrix, name), *args)


# ---------------------------------------------------------------------------- making
_MAKE_HELP = "make it of `(data, (row, col))` or of `(data, indices, indptr)`, with `shape=(m, n)`"


def _maker(kind: type[Sparse]) -> StagedCall:
    name = f"scipy.sparse.{kind.__name__}"

    def make(context: Context, arg1: Value, shape: Value = None, copy: Value = False) -> Value:
        if isinstance(arg1, Sparse):
            found = _method(context, arg1, f"to{kind.format}")
            found = _method(context, found, "copy") if static_flag(context, name, "copy", copy) else found
            return context.call(kind, found.data, found._first, found._second, found._rows, found._columns)
        if isinstance(arg1, Array) and len(arg1.shape) == 2:
            help = "make it outside the function, or of its entries: `(data, (row, col))` with `shape=(m, n)`"
            raise UnsupportedArgument(
                name, "a dense matrix, whose zeros only the run knows", context.span, help
            )
        if not isinstance(arg1, tuple | list) or len(arg1) not in (2, 3):
            raise UnsupportedArgument(name, f"it is made of {describe(arg1)}", context.span, _MAKE_HELP)
        if shape is None:
            raise UnsupportedArgument(name, "no `shape`", context.span, "give it: `shape=(m, n)`")
        sizes = shape_argument(context, name, shape)
        if len(sizes) != 2:
            raise UnsupportedArgument(name, f"the shape {show_shape(sizes)}", context.span, _MAKE_HELP)
        return _of_parts(context, name, kind, arg1, sizes, static_flag(context, name, "copy", copy))

    return make


def _of_parts(
    context: Context, name: str, kind: type[Sparse], arg1: Any, sizes: tuple[Size, ...], is_copy: bool
) -> Value:
    """A matrix of (data, indices, indptr), or of (data, (row, col)).

    It shares its values with `data`, as in SciPy, unless they are sorted.
    """
    shape = [size_value(context, size) for size in sizes]
    is_compressed = len(arg1) == 3 and not issubclass(kind, Coo)
    if not is_compressed and (len(arg1) == 3 or not isinstance(arg1[1], tuple | list) or len(arg1[1]) != 2):
        raise UnsupportedArgument(name, "these parts", context.span, _MAKE_HELP)
    given = arg1 if is_compressed else (arg1[0], *arg1[1])
    data, first, second = (context.wrap(array_var(context, name, part)) for part in given)
    if any(len(part.shape) != 1 for part in (data, first, second)):
        raise UnsupportedArgument(name, "an array of more than one dimension", context.span, _MAKE_HELP)
    own = plain(context, given[0])
    if isinstance(own, Array) and not is_copy:
        data = own
    agree(context, data.shape[0], first.shape[0], name)
    if is_compressed:
        major = sizes[0] if issubclass(kind, Csr) else sizes[1]
        agree(context, second.shape[0], context.builder.size("add", major, i64(1)), name)
        return context.call(kind, data, first, second, *shape)
    agree(context, data.shape[0], second.shape[0], name)
    inside = truth(context, context.call(are_inside, first, second, *shape))
    require(context, inside, "size", f"`{name}`: an entry is outside of the shape ({{0}}, {{1}})", sizes)
    return _method(context, context.call(COO_OF[kind], data, first, second, *shape), f"to{kind.format}")


# ---------------------------------------------------------------------------- systems
class Factors:
    """What `splu` and `factorized` give in a program: the matrix as it was then.

    The runtime keeps its factors for the next right-hand side.
    """

    def __init__(self, context: Context, name: str, matrix: Value) -> None:
        if not isinstance(matrix, Sparse):
            help = "make it a sparse matrix, or use `np.linalg.solve`"
            raise UnsupportedArgument(name, f"the matrix is {describe(matrix)}", context.span, help)
        dtype, _ = promote(context, (matrix.data,), name)
        entries: Any = context.call(type(matrix)._entries, matrix)
        self.data = array_var(context, name, matrix.data, dtype if dtype.is_float else F64)
        shape = self.data.type.shape
        self.rows, self.columns = (
            retype(context, array_var(context, name, places, I64), ArrayType(I64, shape), name)
            for places in entries
        )
        m, n = (as_size(context, size) for size in context.evaluators.attribute(context, matrix, "shape"))  # type: ignore[attr-defined]
        words = f"`{name}`: the matrix must be square, and its shape is ({{0}}, {{1}})"
        self.size = agree(context, m, n, name, words=words)
        self.name = name
        self._scope: Scope = context.scope

    def __anadrome_stage__(
        self, context: Context, args: tuple[Value, ...], kwargs: Mapping[str, Value]
    ) -> Value:
        return self.solve(context, *args, **kwargs)

    def solve(self, context: Context, rhs: Value, trans: Value = "N") -> Value:
        """The solution for one right-hand side, or for each column of a matrix of them."""
        if self._scope not in context.scopes():
            help = "factor the matrix in the body where it is solved with"
            raise UnsupportedArgument(
                self.name, "its factors are of another branch or loop", context.span, help
            )
        if trans not in ("N", "T", "H"):
            raise UnsupportedArgument(self.name, f"`trans={trans!r}`", context.span, "take 'N' or 'T'")
        if isinstance(rhs, Sparse):
            help = "use `b.toarray()`"
            raise UnsupportedArgument(self.name, "a sparse right-hand side", context.span, help)
        dtype, _ = promote(context, (context.wrap(self.data), rhs), self.name)
        right = array_var(context, self.name, rhs, dtype)
        if len(right.type.shape) > 2:
            raise UnsupportedArgument(self.name, f"a right-hand side {describe(rhs)}", context.span)
        agree(context, right.type.shape[0], self.size, self.name)
        data = array_var(context, self.name, context.wrap(self.data), dtype)
        places = (self.rows, self.columns) if trans == "N" else (self.columns, self.rows)
        return context.wrap(self._solved(context, data, places, right))

    def _solved(self, context: Context, data: Var, places: tuple[Var, Var], right: Var) -> Var:
        builder, shape = context.builder, right.type.shape
        matrix = right if len(shape) == 2 else builder.reshape(right, (shape[0], i64(1)))
        found = builder.let_one(Library("sparse_solve", (data, *places, matrix)))
        return found if len(shape) == 2 else builder.reshape(found, shape)


class FactoredMethod:
    """The method `solve` of factors, looked up and not yet called."""

    def __init__(self, owner: Factors) -> None:
        self.owner = owner

    def __anadrome_stage__(
        self, context: Context, args: tuple[Value, ...], kwargs: Mapping[str, Value]
    ) -> Value:
        return self.owner.solve(context, *args, **kwargs)


_ORDERINGS = (None, "NATURAL", "MMD_ATA", "MMD_AT_PLUS_A", "COLAMD")
"""What `permc_spec` may be: all give the same solution; the program uses SciPy's own choice."""


def _check_ordering(context: Context, name: str, ordering: Value) -> None:
    if ordering not in _ORDERINGS:
        raise UnsupportedArgument(name, f"`permc_spec={ordering!r}`", context.span, "leave it out")


def spsolve(
    context: Context,
    A: Value,  # noqa: N803
    b: Value,
    permc_spec: Value = None,
    use_umfpack: Value = True,
) -> Value:
    """scipy.sparse.linalg.spsolve: a vector for a vector, and for a matrix of one column."""
    name = "scipy.sparse.linalg.spsolve"
    _check_ordering(context, name, permc_spec)
    found: Any = Factors(context, name, A).solve(context, b)
    if len(found.shape) == 2 and is_one(found.shape[1]):
        return context.wrap(context.builder.reshape(context.read(found), found.shape[:1]))
    return found


def factorized(context: Context, A: Value) -> Value:  # noqa: N803
    """scipy.sparse.linalg.factorized: a function of right-hand sides"""
    found = Factors(context, "scipy.sparse.linalg.factorized", A)
    context.made(found)
    return found


def splu(context: Context, A: Value, permc_spec: Value = None) -> Value:  # noqa: N803
    """scipy.sparse.linalg.splu: an object whose `solve` takes right-hand sides"""
    name = "scipy.sparse.linalg.splu"
    _check_ordering(context, name, permc_spec)
    found = Factored(Factors(context, name, A))
    context.made(found)
    return found


class Factored:
    """What `splu` gives: it has `solve` and nothing else."""

    def __init__(self, factors: Factors) -> None:
        self.solve = FactoredMethod(factors)


FORMS: dict[Callable[..., object], StagedCall] = {refuse: _refuse, hold_rows: _hold_rows}
"""Compiled forms of what only methods of matrices call."""


def _matrices() -> dict[Key, StagedCall]:
    return {
        **{outside: _maker(kind) for outside, kind in KINDS.items()},
        scipy.sparse.issparse: lambda context, x: isinstance(x, Sparse) or is_sparse(x),
    }


def _solvers() -> dict[Key, StagedCall]:
    return {
        scipy.sparse.linalg.spsolve: spsolve,
        scipy.sparse.linalg.factorized: factorized,
        scipy.sparse.linalg.splu: splu,
    }


CALLS: Table[StagedCall] = Table((Late("scipy.sparse", _matrices), Late("scipy.sparse.linalg", _solvers)))
