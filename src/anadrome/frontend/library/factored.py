"""Systems whose matrix is factored already: SciPy's triangular ones, and those behind `cho_factor`.

Matrices are single ones, not stacks. A factor is a matrix of which one triangle counts, with
the flag that says which; `cho_factor` leaves in the other triangle what the matrix has there, as SciPy does.
"""

from __future__ import annotations

import scipy

from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import Atom, Library, Var, i64
from anadrome.dtypes import F64
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.arrays import promote
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library.common import array_var, built, static_flag
from anadrome.frontend.library.linear import square_matrix, triangular_factor
from anadrome.frontend.sizes import agree, show_shape
from anadrome.frontend.tables import Key, Late
from anadrome.frontend.values import Value

_TRANSPOSED = {0: False, 1: True, 2: True, "N": False, "T": True, "C": True}
"""What `trans` may be, and whether the system is that of the transpose; numbers are real here."""


def _system(context: Context, name: str, a: Value, b: Value) -> tuple[Var, Var, bool]:
    """The matrix, the right-hand sides as columns, and whether there is one, a vector."""
    dtype, _ = promote(context, (a, b), name)
    target = dtype if dtype.is_float else F64
    matrix, right = square_matrix(context, name, a, target), array_var(context, name, b, target)
    shape = right.type.shape
    if len(matrix.type.shape) != 2 or len(shape) > 2:
        raise UnsupportedArgument(name, "a stack of matrices", context.span, "go over it in a loop")
    size = matrix.type.shape[0]
    agree(context, shape[0], size, name, (show_shape(matrix.type.shape), show_shape(shape)))
    is_vector = len(shape) == 1
    return matrix, context.builder.reshape(right, (size, i64(1) if is_vector else shape[1])), is_vector


def _solved(context: Context, solution: Var, is_vector: bool) -> Value:
    """The solution under the shape of the right-hand side."""
    if is_vector:
        solution = context.builder.reshape(solution, solution.type.shape[:1])
    return context.wrap(solution)


def _triangular(builder: Builder, factor: Var, right: Var, is_lower: bool, is_transposed: bool) -> Var:
    return builder.let_one(Library("triangular_solve", (factor, right), (is_lower, is_transposed)))


def solve_triangular(
    context: Context,
    a: Value,
    b: Value,
    trans: Value = 0,
    lower: Value = False,
    unit_diagonal: Value = False,
) -> Value:
    """scipy.linalg.solve_triangular: the other triangle is not read, nor, as asked, is the diagonal."""
    name = "scipy.linalg.solve_triangular"
    if not isinstance(trans, int | str) or trans not in _TRANSPOSED:
        raise UnsupportedArgument(name, f"`trans={trans!r}`", context.span, "take 0, 1, 2, 'N', 'T' or 'C'")
    is_lower = static_flag(context, name, "lower", lower)
    factor, right, is_vector = _system(context, name, a, b)
    if static_flag(context, name, "unit_diagonal", unit_diagonal):
        one, full = number(1.0, factor.type.dtype), factor

        def entry(builder: Builder, at: tuple[Var, ...]) -> Atom:
            return builder.select(builder.apply("eq", *at), one, builder.index(full, at))

        factor = built(context.builder, factor.type.shape, entry)
    solution = _triangular(context.builder, factor, right, is_lower, _TRANSPOSED[trans])
    return _solved(context, solution, is_vector)


def cholesky(context: Context, a: Value, lower: Value = False) -> Value:
    """scipy.linalg.cholesky: Lᵀ of A = L·Lᵀ, or L; of A that triangle is read"""
    name = "scipy.linalg.cholesky"
    return triangular_factor(context, name, a, static_flag(context, name, "lower", lower))


def cho_factor(context: Context, a: Value, lower: Value = False) -> Value:
    """scipy.linalg.cho_factor: L of A = L·Lᵀ or its transpose, and which it is; one triangle of A is read"""
    name = "scipy.linalg.cho_factor"
    is_lower = static_flag(context, name, "lower", lower)
    matrix = square_matrix(context, name, a)
    if len(matrix.type.shape) != 2:
        raise UnsupportedArgument(name, "a stack of matrices", context.span, "go over it in a loop")
    builder, shape = context.builder, matrix.type.shape

    def turned(inner: Builder, at: tuple[Var, ...]) -> Atom:
        return inner.index(matrix, at[::-1])

    own = matrix if is_lower else built(builder, shape, turned)
    factor = builder.let_one(Library("cholesky", (own,)))

    def entry(inner: Builder, at: tuple[Var, ...]) -> Atom:
        is_of_factor = inner.apply("ge" if is_lower else "le", *at)
        place = at if is_lower else at[::-1]
        return inner.select(is_of_factor, inner.index(factor, place), inner.index(matrix, at))

    return context.wrap(built(builder, shape, entry)), is_lower


def cho_solve(context: Context, c_and_lower: Value, b: Value) -> Value:
    """scipy.linalg.cho_solve: two triangular systems, L·z = b and Lᵀ·x = z"""
    name = "scipy.linalg.cho_solve"
    if not isinstance(c_and_lower, tuple | list) or len(c_and_lower) != 2:
        raise UnsupportedArgument(
            name, "a factor that is no pair", context.span, "give what cho_factor returns: (factor, lower)"
        )
    is_lower = static_flag(context, name, "lower", c_and_lower[1])
    factor, right, is_vector = _system(context, name, c_and_lower[0], b)
    half = _triangular(context.builder, factor, right, is_lower, not is_lower)
    return _solved(context, _triangular(context.builder, factor, half, is_lower, is_lower), is_vector)


def _calls() -> dict[Key, StagedCall]:
    return {
        scipy.linalg.solve_triangular: solve_triangular,
        scipy.linalg.cholesky: cholesky,
        scipy.linalg.cho_factor: cho_factor,
        scipy.linalg.cho_solve: cho_solve,
    }


CALLS = Late("scipy.linalg", _calls)
