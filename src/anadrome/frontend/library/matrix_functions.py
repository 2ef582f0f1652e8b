"""Powers, products of many matrices, and the exponential of a matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy

from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import ArrayType, Atom, Const, Library, Var, i64
from anadrome.dtypes import F64, I64
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.arrays import as_array, promote
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library.common import array_var, built, static_int
from anadrome.frontend.library.contraction import matmul
from anadrome.frontend.library.linear import MATRIX_HELP, of_matrices, square_matrix
from anadrome.frontend.sizes import retype
from anadrome.frontend.tables import Late, Table
from anadrome.frontend.values import Value


# ---------------------------------------------------------------------------- powers
def matrix_power(context: Context, a: Value, n: Value) -> Value:
    """np.linalg.matrix_power: A·A·…·A by squaring, of the inverse where the exponent is negative"""
    name = "np.linalg.matrix_power"
    times = static_int(context, name, "n", n)
    own = as_array(context, a)
    if len(own.shape) < 2:
        raise UnsupportedArgument(name, "a vector where a matrix is expected", context.span, MATRIX_HELP)
    if times == 1:
        square_matrix(context, name, a, own.dtype)
        return own
    if times < 0:
        a, times = of_matrices("np.linalg.inv", "inv")(context, a), -times
    base: Value = a
    var = square_matrix(context, name, base, as_array(context, base).dtype)
    base = context.wrap(var)
    if times == 0:
        shape, one = var.type.shape, number(1, var.type.dtype)
        zero = number(0, var.type.dtype)

        def unit(builder: Builder, indices: tuple[Var, ...]) -> Atom:
            return builder.select(builder.apply("eq", *indices[-2:]), one, zero)

        return context.wrap(built(context.builder, shape, unit))
    result: Value = None
    while times:
        if times & 1:
            result = base if result is None else matmul(context, result, base)
        times >>= 1
        base = matmul(context, base, base) if times else base
    return result


# ---------------------------------------------------------------------------- products
_MULTI_DOT = "np.linalg.multi_dot"
MOST_UNKNOWN = 5
"""So many matrices may have sizes that only the run knows: every order is in the program."""


@dataclass(frozen=True, slots=True, eq=False)
class _Chain:
    """Matrices to be multiplied, and where products are cut: (first, last) -> the last on the left."""

    matrices: Sequence[Var]
    cuts: dict[tuple[int, int], Atom]

    def product(self, builder: Builder, first: int, last: int) -> Var:
        """The product of the matrices from `first` to `last`."""
        if first == last:
            return self.matrices[first]
        return self._cut_at(builder, first, last, list(range(first, last)))

    def _cut_at(self, builder: Builder, first: int, last: int, places: list[int]) -> Var:
        """The product, cut behind one of these."""
        cut, place = self.cuts[first, last], places[0]

        def here(inner: Builder) -> tuple[Var]:
            parts = self.product(inner, first, place), self.product(inner, place + 1, last)
            return (inner.let_one(Library("matmul", parts, (False, False))),)

        if isinstance(cut, Const):
            place = int(cut.value)
        if isinstance(cut, Const) or len(places) == 1:
            return here(builder)[0]
        is_here = builder.apply("eq", cut, i64(place))
        others = places[1:]
        return builder.branch(is_here, here, lambda inner: (self._cut_at(inner, first, last, others),))[0]


def multi_dot(context: Context, arrays: Value) -> Value:
    """np.linalg.multi_dot: a product of matrices in the order that takes the fewest multiplications"""
    if not isinstance(arrays, list | tuple):
        raise UnsupportedArgument(_MULTI_DOT, "anything but a list or tuple of arrays", context.span)
    if len(arrays) < 2:
        raise UnsupportedArgument(_MULTI_DOT, "fewer than two arrays", context.span)
    dtype, _ = promote(context, arrays, _MULTI_DOT)
    factors = [array_var(context, _MULTI_DOT, one, dtype) for one in arrays]
    ranks = [len(one.type.shape) for one in factors]
    if any(rank > 2 for rank in ranks) or 1 in ranks[1:-1]:
        reason = "anything but matrices between the first array and the last"
        raise UnsupportedArgument(_MULTI_DOT, reason, context.span)
    if not dtype.is_float:
        result: Value = context.wrap(factors[0])
        for factor in factors[1:]:
            result = matmul(context, result, context.wrap(factor))
        return result
    builder, is_row, is_column = context.builder, ranks[0] == 1, ranks[-1] == 1
    if is_row:
        factors[0] = builder.reshape(factors[0], (i64(1), factors[0].type.shape[0]))
    if is_column:
        factors[-1] = builder.reshape(factors[-1], (factors[-1].type.shape[0], i64(1)))
    matrices = factors[:1]
    for right in factors[1:]:
        own = ArrayType(dtype, (matrices[-1].type.shape[1], right.type.shape[1]))
        matrices.append(retype(context, right, own, _MULTI_DOT))
    found = _Chain(matrices, _cuts(context, matrices)).product(builder, 0, len(matrices) - 1)
    shape = found.type.shape
    if is_row and is_column:
        return context.wrap(builder.index(found, (i64(0), i64(0))))
    return context.wrap(
        builder.reshape(found, shape[1:] if is_row else shape[:1]) if is_row or is_column else found
    )


def _cuts(context: Context, matrices: Sequence[Var]) -> dict[tuple[int, int], Atom]:
    """Where the product of matrices i to j is cut, so that multiplications are fewest:

    cost(i, j) = min over i ≤ k < j of cost(i, k) + cost(k + 1, j) + rows_i·columns_k·columns_j
    (Cormen et al., Introduction to Algorithms, §15.2)
    """
    builder, count = context.builder, len(matrices)
    sizes = [matrices[0].type.shape[0], *(one.type.shape[1] for one in matrices)]
    lengths = [builder.convert(size, F64) for size in sizes]
    costs: dict[tuple[int, int], Atom] = {(i, i): number(0.0, F64) for i in range(count)}
    cuts: dict[tuple[int, int], Atom] = {}
    for first, last in ((i, i + span) for span in range(1, count) for i in range(count - span)):
        for k in range(first, last):
            product = builder.mul(builder.mul(lengths[first], lengths[k + 1]), lengths[last + 1])
            cost = builder.add(builder.add(costs[first, k], costs[k + 1, last]), product)
            if k == first:
                costs[first, last], cuts[first, last] = cost, i64(k)
                continue
            is_less = builder.apply("lt", cost, costs[first, last])
            costs[first, last] = builder.select(is_less, cost, costs[first, last])
            cuts[first, last] = builder.select(is_less, i64(k), cuts[first, last])
    if count > MOST_UNKNOWN and not all(isinstance(cut, Const) for cut in cuts.values()):
        help = "multiply some of them with `@`, in an order of your own"
        reason = f"more than {MOST_UNKNOWN} matrices of sizes that only the run knows"
        raise UnsupportedArgument(_MULTI_DOT, reason, context.span, help)
    return cuts


# ---------------------------------------------------------------------------- exponential
_PADE = tuple(
    math.factorial(26 - k)
    * math.factorial(13)
    / (math.factorial(26) * math.factorial(k) * math.factorial(13 - k))
    for k in range(14)
)
"""The coefficients of the numerator p of the approximation e^x ≈ p(x) / p(-x) of degree 13."""
_RADIUS = 4.25
"""Up to this size of a matrix the approximation is right to the last place."""
_REMAINDER = math.log2(math.comb(26, 13)) + math.log2(math.factorial(27))
"""-log₂ of the coefficient of the first power, the 27th, in which it differs."""
_MOST_SQUARINGS = 1100.0


def expm(context: Context, A: Value) -> Value:  # noqa: N803
    """scipy.linalg.expm: e^A, by a Padé approximation of A / 2^s, squared s times

    (Al-Mohy and Higham 2009, "A new scaling and squaring algorithm for the matrix exponential"). The integer
    s has no derivative.
    """
    var = square_matrix(context, "scipy.linalg.expm", A)

    def place(builder: Builder, indices: tuple[Var, ...]) -> Atom:
        matrix = builder.index(var, indices)
        assert isinstance(matrix, Var)
        return exponential(builder, matrix)

    return context.wrap(context.builder.build(var.type.shape[:-2], place))


def exponential(builder: Builder, matrix: Var) -> Var:
    """e^A = (p(-B)⁻¹·p(B))^(2^s), B = A / 2^s"""
    square = _product(builder, matrix, matrix)
    fourth = _product(builder, square, square)
    sixth = _product(builder, fourth, square)
    times = _squarings(builder, matrix, fourth, sixth)
    one = number(1.0, matrix.type.dtype)
    (half,) = builder.loop(times, (one,), lambda b, _, f: (b.mul(f[0], b.constant(0.5, one)),))
    quarter = builder.mul(half, half)
    factors = (
        half,
        quarter,
        builder.mul(quarter, quarter),
        builder.mul(builder.mul(quarter, quarter), quarter),
    )
    powers = [
        built(builder, power.type.shape, partial(_scaled, power, factor))
        for power, factor in zip((matrix, square, fourth, sixth), factors, strict=True)
    ]
    start = _approximation(builder, *powers)
    (result,) = builder.loop(times, (start,), lambda b, _, state: (_product(b, state[0], state[0]),))
    return result


def _scaled(matrix: Var, factor: Atom, builder: Builder, at: tuple[Var, ...]) -> Atom:
    return builder.mul(factor, builder.index(matrix, at))


def _product(builder: Builder, left: Atom, right: Atom) -> Var:
    return builder.let_one(Library("matmul", (left, right), (False, False)))


def _approximation(builder: Builder, b1: Var, b2: Var, b4: Var, b6: Var) -> Var:
    """p(-B)⁻¹·p(B), with the odd part u of p and the even part v by the powers of B"""

    def combined(first: int, high: Var | None = None) -> Var:
        """Σ c_k·B^(k - first) for k = first + 2, + 4, + 6, and with `high`, which is added, for k = first."""

        def entry(inner: Builder, at: tuple[Var, ...]) -> Atom:
            def term(power: Var, k: int) -> Atom:
                value = inner.index(power, at)
                return inner.mul(inner.constant(_PADE[k], value), value)

            total = inner.add(inner.add(term(b2, first + 2), term(b4, first + 4)), term(b6, first + 6))
            if high is not None:
                total = inner.add(total, inner.index(high, at))
                own = inner.constant(_PADE[first], total)
                is_diagonal = inner.apply("eq", *at)
                total = inner.add(total, inner.select(is_diagonal, own, inner.constant(0.0, total)))
            return total

        return built(builder, b1.type.shape, entry)

    odd = _product(builder, b1, combined(1, _product(builder, b6, combined(7))))
    even = combined(0, _product(builder, b6, combined(6)))

    def side(name: str) -> Var:
        def entry(inner: Builder, at: tuple[Var, ...]) -> Atom:
            return inner.apply(name, inner.index(even, at), inner.index(odd, at))

        return built(builder, b1.type.shape, entry)

    return builder.let_one(Library("solve", (side("sub"), side("add")), (False,)))


def _squarings(builder: Builder, matrix: Var, fourth: Var, sixth: Var) -> Atom:
    """s such that the approximation of e^B is right, and so is what is computed of it:

    max(‖A⁴‖^(1/4), ‖A⁶‖^(1/6)) ≤ 2^s·r,  c·‖|B|^27‖ ≤ ‖B‖·u, in the norm of the largest sum of a column
    """
    precision = math.log2(float(np.finfo(matrix.type.dtype.numpy_name).eps) / 2)

    def logarithm(power: Var, exponent: int) -> Atom:
        value = builder.apply("log2", _largest_sum(builder, power))
        return builder.mul(value, builder.constant(1.0 / exponent, value))

    size = builder.apply("max", logarithm(fourth, 4), logarithm(sixth, 6))
    first = _whole(builder, builder.sub(size, builder.constant(math.log2(_RADIUS), size)))
    grown = builder.sub(_logarithm_of_power(builder, matrix, 27), logarithm(matrix, 1))
    halved = builder.mul(builder.convert(first, size.type.dtype), builder.constant(26.0, size))
    rest = builder.sub(builder.sub(grown, halved), builder.constant(_REMAINDER + precision, size))
    second = _whole(builder, builder.mul(rest, builder.constant(1.0 / 26.0, rest)))
    return builder.add(first, second)


def _magnitude(builder: Builder, matrix: Var, at: tuple[Atom, ...]) -> Atom:
    return builder.apply("abs", builder.apply("stop_gradient", builder.index(matrix, at)))


def _largest_sum(builder: Builder, matrix: Var) -> Atom:
    """The largest sum of magnitudes of a column; it has no derivative."""
    rows, columns = matrix.type.shape

    def column(inner: Builder, j: Var) -> Atom:
        return inner.reduce("add", rows, lambda b, i: _magnitude(b, matrix, (i, j)))

    return builder.reduce("max", columns, column)


def _logarithm_of_power(builder: Builder, matrix: Var, exponent: int) -> Atom:
    """log₂ of the largest sum of a column of |A|^exponent, by row vectors that are divided by the largest."""
    n, zero = matrix.type.shape[0], number(0.0, matrix.type.dtype)
    ones = builder.full((n,), number(1.0, matrix.type.dtype))

    def step(inner: Builder, _: Var, state: tuple[Var, ...]) -> tuple[Atom, ...]:
        vector, total = state

        def sum_of(b: Builder, j: Var) -> Atom:
            def term(deeper: Builder, i: Var) -> Atom:
                return deeper.mul(deeper.index(vector, (i,)), _magnitude(deeper, matrix, (i, j)))

            return b.reduce("add", n, term)

        sums = inner.stack(n, sum_of)
        most = inner.reduce("max", n, lambda b, j: b.index(sums, (j,)))
        divisor = inner.select(inner.apply("gt", most, zero), most, inner.constant(1.0, most))
        rows = inner.stack(n, lambda b, j: b.div(b.index(sums, (j,)), divisor))
        return rows, inner.add(total, inner.apply("log2", most))

    return builder.loop(i64(exponent), (ones, zero), step)[1]


def _whole(builder: Builder, value: Atom) -> Atom:
    """The next integer above, of what is positive."""
    most = builder.apply("min", builder.apply("ceil", value), builder.constant(_MOST_SQUARINGS, value))
    is_some = builder.apply("gt", value, builder.constant(0.0, value))
    return builder.convert(builder.select(is_some, most, builder.constant(0.0, value)), I64)


CALLS: Table[StagedCall] = Table(
    (
        {np.linalg.matrix_power: matrix_power, np.linalg.multi_dot: multi_dot},
        Late("scipy.linalg", lambda: {scipy.linalg.expm: expm}),
    )
)
