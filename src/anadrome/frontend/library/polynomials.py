"""Polynomials by their coefficients, the highest first: `np.polyval` and its kin."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Const, Var, i64
from anadrome.dtypes import F64, I64
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.arrays import as_array, atom, describe, promote
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.indexing import take as taken
from anadrome.frontend.library.common import array_var, require, static_flag, static_int
from anadrome.frontend.library.creation import new_of
from anadrome.frontend.library.polynomial_program import divided, multiplied
from anadrome.frontend.library.reductions import require_elements
from anadrome.frontend.operators import element, is_one
from anadrome.frontend.sizes import agree, size_value
from anadrome.frontend.values import Array, Staged, Value
from anadrome.frontend.writing import put

UNROLLED = 16
"""Polynomials of so many coefficients are written out."""


def _coefficients(context: Context, name: str, p: Value) -> Array:
    """Coefficients, of which there is one where they are a number."""
    return _vector(context, name, context.call(np.atleast_1d, p))


def _vector(context: Context, name: str, p: Value) -> Array:
    found = context.wrap(array_var(context, name, p))
    if not isinstance(found, Array) or len(found.shape) != 1:
        raise UnsupportedArgument(name, "coefficients that are no vector", context.span)
    return found


def value_at(context: Context, p: Value, x: Value) -> Value:
    """np.polyval by Horner's rule: 0·x + p₀, then ·x + p₁, …"""
    name = "np.polyval"
    parts, places = array_var(context, name, _vector(context, name, p)), as_array(context, x)
    dtype, _ = promote(context, (context.wrap(parts), places), name)
    wanted, count = atom(context, places), parts.type.shape[0]

    def place(builder: Builder, at: tuple[Var, ...]) -> Atom:
        value = builder.convert(element(builder, wanted, wanted.type.shape, at), dtype)

        def step(inner: Builder, total: Atom, index: Atom) -> Atom:
            one = inner.convert(inner.index(parts, (index,)), dtype)
            return inner.add(inner.mul(total, value), one)

        start = builder.constant(0, value)
        if isinstance(count, Const) and int(count.value) <= UNROLLED:
            total: Atom = start
            for k in range(int(count.value)):
                total = step(builder, total, Const(k, count.dtype))
            return total
        return builder.loop(count, (start,), lambda inner, index, carried: (step(inner, carried[0], index),))[
            0
        ]

    found = context.builder.build(wanted.type.shape, place)
    return new_of(context, found) if isinstance(x, Array) and not places.shape else context.wrap(found)


def derivative(context: Context, p: Value, m: Value = 1) -> Value:
    """np.polyder: the coefficients of the derivative of a known order"""
    name = "np.polyder"
    order, parts = static_int(context, name, "m", m), _vector(context, name, p)
    if order < 0:
        raise UnsupportedArgument(name, "a negative order", context.span, "integrate with np.polyint")
    if not order and isinstance(p, Array):
        return p
    for _ in range(order):
        count = size_value(context, parts.shape[0])
        powers = context.call(np.arange, context.call(np.subtract, count, 1), 0, -1)
        found = context.call(np.multiply, taken(context, parts, slice(None, -1)), powers)
        assert isinstance(found, Array)
        parts = found
    return parts


def antiderivative(context: Context, p: Value, m: Value = 1, k: Value = None) -> Value:
    """np.polyint: the coefficients of the integral of a known order, with constants of integration"""
    name, call = "np.polyint", context.call
    order, found = static_int(context, name, "m", m), _vector(context, name, p)
    if order < 0:
        raise UnsupportedArgument(name, "a negative order", context.span, "differentiate with np.polyder")
    if not order and isinstance(p, Array):
        return p
    for constant in _constants(context, order, k):
        powers = call(np.arange, size_value(context, found.shape[0]), 0, -1)
        joined = call(np.append, call(np.divide, found, powers), constant)
        assert isinstance(joined, Array)
        found = joined
    return found


def _constants(context: Context, order: int, k: Value) -> list[Value]:
    """A constant of integration for each integral: zeros, one for all, or one each."""
    if k is None:
        return [0.0] * order
    given = as_array(context, context.call(np.atleast_1d, k))
    if len(given.shape) != 1:
        raise UnsupportedArgument("np.polyint", "constants that are no vector", context.span)
    if is_one(given.shape[0]):
        return [context.call(np.take, given, 0)] * order
    agree(context, given.shape[0], i64(order), "np.polyint: the constants of integration")
    return [context.call(np.take, given, place) for place in range(order)]


def product(context: Context, a1: Value, a2: Value) -> Value:
    """np.polymul: the convolution of the coefficients without the zeros in front"""
    name = "np.polymul"
    return context.call(np.convolve, *(_trimmed(context, name, one) for one in (a1, a2)))


def _trimmed(context: Context, name: str, p: Value) -> Value:
    """The coefficients from the first one on that is not zero; a zero where there is none."""
    call, own = context.call, _coefficients(context, name, p)
    parts = call(np.concatenate, [call(np.zeros, 1, own.dtype.numpy), own])  # there is one, at least
    assert isinstance(parts, Array)
    last = size_value(context, own.shape[0])
    is_last = call(np.equal, call(np.arange, call(np.add, last, 1)), last)
    first = call(np.argmax, call(np.logical_or, call(np.not_equal, parts, 0), is_last))
    return taken(context, parts, slice(first, None))


def sum_of_two(name: str, function: np.ufunc) -> StagedCall:
    """np.polyadd, np.polysub: the shorter one has zeros in front"""

    def staged(context: Context, a1: Value, a2: Value) -> Value:
        left, right = _coefficients(context, name, a1), _coefficients(context, name, a2)
        call, builder = context.call, context.builder
        size = builder.size("max", left.shape[0], right.shape[0])
        wide = [
            call(np.concatenate, [call(np.zeros, size_value(context, gap), one.dtype.numpy), one])
            for one in (left, right)
            for gap in (builder.size("sub", size, one.shape[0]),)
        ]
        return call(function, *wide)

    return staged


def of_roots(context: Context, seq_of_zeros: Value) -> Value:
    """np.poly: the coefficients of the product of x - r over all roots r of a vector"""
    name, call = "np.poly", context.call
    if not as_array(context, seq_of_zeros).shape:
        raise UnsupportedArgument(name, "a number where roots are expected", context.span)
    roots = _coefficients(context, name, seq_of_zeros)
    dtype = roots.dtype if roots.dtype.is_float else F64
    if isinstance(roots.shape[0], Const) and not roots.shape[0].value:
        return 1.0
    require_elements(context, name, roots.shape, ())
    start = call(np.zeros, call(np.add, size_value(context, roots.shape[0]), 1), dtype.numpy)
    assert isinstance(start, Array)
    put(context, start, 0, 1.0)
    return call(multiplied, start, as_array(context, roots, dtype))


def quotient_and_rest(context: Context, u: Value, v: Value) -> Value:
    """np.polydiv: u = q v + r by long division; r without the leading coefficients that are nearly zero"""
    name, call, builder = "np.polydiv", context.call, context.builder
    parts = [as_array(context, call(np.add, _coefficients(context, name, one), 0.0)) for one in (u, v)]
    for part in parts:
        require_elements(context, name, part.shape, ())
    dtype, _ = promote(context, parts, name)
    sizes = [part.shape[0] for part in parts]
    steps = builder.size("max", builder.size("add", builder.size("sub", *sizes), i64(1)), i64(0))
    quotient = call(np.zeros, size_value(context, builder.size("max", steps, i64(1))), dtype.numpy)
    rest = call(np.copy, as_array(context, parts[0], dtype))
    given = (quotient, rest, parts[1], size_value(context, steps))
    parted = call(divided, *given)
    assert isinstance(parted, tuple)
    return parted[0], _without_small(context, parted[1])


SMALL = 1e-8
"""What `np.allclose` takes for zero."""


def _without_small(context: Context, parts: Value) -> Value:
    """The coefficients from the first one on that is not nearly zero; the last one where there is none."""
    call, found = context.call, as_array(context, parts)
    assert isinstance(found, Array)
    last = call(np.subtract, size_value(context, found.shape[0]), 1)
    is_last = call(np.equal, call(np.arange, size_value(context, found.shape[0])), last)
    is_small = call(np.less_equal, call(np.absolute, found), SMALL)
    first = call(np.argmax, call(np.logical_or, call(np.logical_not, is_small), is_last))
    return taken(context, found, slice(first, None))


# ---------------------------------------------------------------------------- fits
def fitted(
    context: Context,
    x: Value,
    y: Value,
    deg: Value,
    rcond: Value = None,
    full: Value = False,
    w: Value = None,
    cov: Value = False,
) -> Value:
    """np.polyfit: c of least Σ (w (y - Σ c x^k))², by least squares on columns of length 1"""
    name, call = "np.polyfit", context.call
    order = static_int(context, name, "deg", deg) + 1
    if order < 1:
        raise UnsupportedArgument(name, f"the degree {order - 1}", context.span, "give 0 or more")
    places = _of_rank(context, name, "x", x, (1,))
    right: Staged = _of_rank(context, name, "y", y, (1, 2))
    size = places.shape[0]
    agree(context, size, right.shape[0], name)
    require_elements(context, name, (size,), ())
    columns = call(np.vander, places, order)
    if w is not None:
        weights = _of_rank(context, name, "w", w, (1,))
        agree(context, size, weights.shape[0], name)
        tall = call(np.expand_dims, weights, 1)
        columns = as_array(context, call(np.multiply, columns, tall), places.dtype)
        weighted = call(np.multiply, right, weights if len(right.shape) == 1 else tall)
        right = as_array(context, weighted, right.dtype)
    scale = call(np.sqrt, call(np.sum, call(np.multiply, columns, columns), axis=0))
    columns = call(np.divide, columns, scale)
    least = np.finfo(np.float64 if places.dtype is F64 else np.float32).eps
    share = call(np.multiply, size_value(context, size), least) if rcond is None else rcond
    solved = call(np.linalg.lstsq, columns, right, share)
    assert isinstance(solved, tuple)
    solution, others = solved[0], solved[1:]
    found = call(np.transpose, call(np.divide, call(np.transpose, solution), scale))
    if static_flag(context, name, "full", full):
        return found, *others, share
    if cov is False:
        return found
    spread = call(np.linalg.inv, call(np.matmul, call(np.transpose, columns), columns))
    spread = call(np.divide, spread, call(np.outer, scale, scale))
    if cov == "unscaled":
        return found, call(np.expand_dims, spread, 2) if len(right.shape) == 2 else spread
    left = call(np.subtract, right, call(np.matmul, columns, solution))
    return found, _covariance(context, name, spread, left, as_array(context, others[1]), order)


def _of_rank(context: Context, name: str, argument: str, value: Value, ranks: tuple[int, ...]) -> Array:
    """An argument as floats, which has to have one of these numbers of dimensions."""
    found = as_array(context, context.call(np.add, as_array(context, value), 0.0))
    if not isinstance(found, Array) or len(found.shape) not in ranks:
        raise UnsupportedArgument(name, f"`{argument}` is {describe(value)}", context.span)
    return found


def _covariance(context: Context, name: str, spread: Value, left: Value, rank: Staged, order: int) -> Value:
    """V Σ r² / (m - n) of the residuals r, for each column of them"""
    call, builder, size = context.call, context.builder, as_array(context, left).shape[0]
    is_full = builder.apply("eq", builder.convert(atom(context, rank), I64), i64(order))
    require(
        context, is_full, "raise", f"ValueError: {name}: the powers are dependent, and have no covariance"
    )
    has_more = builder.apply("gt", size, i64(order))
    require(context, has_more, "raise", f"ValueError: {name}: more data than {order} are expected for `cov`")
    freedom = call(np.subtract, size_value(context, size), order)
    factor = call(np.divide, call(np.sum, call(np.multiply, left, left), axis=0), freedom)
    if as_array(context, factor).shape:
        return call(np.multiply, call(np.expand_dims, spread, 2), factor)
    return call(np.multiply, spread, factor)


CALLS: dict[Callable[..., object], StagedCall] = {
    np.polyval: value_at,
    np.polyder: derivative,
    np.polyint: antiderivative,
    np.polyadd: sum_of_two("np.polyadd", np.add),
    np.polysub: sum_of_two("np.polysub", np.subtract),
    np.polymul: product,
    np.poly: of_roots,
    np.polydiv: quotient_and_rest,
    np.polyfit: fitted,
}
