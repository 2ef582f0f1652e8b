"""Distributions of vectors: `scipy.stats.multivariate_normal` and `dirichlet`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Const, Size, i64
from anadrome.dtypes import F64
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.arrays import as_array, unboxed
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.indexing import take as taken
from anadrome.frontend.library.common import require, static_flag
from anadrome.frontend.library.distributions import made
from anadrome.frontend.library.reductions import fold_all
from anadrome.frontend.operators import is_one
from anadrome.frontend.sizes import agree, size_value
from anadrome.frontend.tables import Key, Late
from anadrome.frontend.values import Array, Staged, Value

_METHODS = ("logpdf", "pdf")


def _after(context: Context, method: str, logarithm: Value) -> Value:
    """The logarithm of a density, or the density; of one point a number."""
    found = unboxed(context, context.call(np.squeeze, logarithm))
    return found if method == "logpdf" else context.call(np.exp, found)


# ---------------------------------------------------------------------------- the normal distribution
def _normal(method: str) -> StagedCall:
    """multivariate_normal: -½·(k·log 2π + log det Σ + ‖L⁻¹(x - μ)‖²) with Σ = L·Lᵀ

    SciPy takes the eigenvalues of Σ, of which it reads the same triangle.
    """
    name = f"scipy.stats.multivariate_normal.{method}"

    def staged(
        context: Context,
        kind: Value,
        x: Value,
        mean: Value = None,
        cov: Value = 1,
        allow_singular: Value = False,
    ) -> Value:
        if static_flag(context, name, "allow_singular", allow_singular):
            reason, help = "`allow_singular=True`", "the covariance must be positive definite"
            raise UnsupportedArgument(name, reason, context.span, help)
        call = context.call
        size, centre, matrix = _parameters(context, name, mean, cov)
        step = as_array(context, call(np.subtract, _points(context, x, size), centre))
        outer = tuple(size_value(context, one) for one in step.shape[:-1])
        rows = call(np.reshape, step, (-1, size_value(context, size)))
        factor = call(np.linalg.cholesky, matrix)
        scaled = call(scipy.linalg.solve_triangular, factor, call(np.transpose, rows), lower=True)
        distance = call(np.sum, call(np.multiply, scaled, scaled), axis=0)
        determinant = call(np.sum, call(np.log, call(np.diagonal, factor)))
        front = call(np.multiply, size_value(context, size), 0.5 * math.log(2.0 * math.pi))
        total = call(np.add, call(np.multiply, 0.5, distance), call(np.add, determinant, front))
        return _after(context, method, call(np.reshape, call(np.negative, total), outer))

    return staged


def _parameters(context: Context, name: str, mean: Value, cov: Value) -> tuple[Size, Value, Value]:
    """The dimension, the mean as a vector, the covariance as a matrix."""
    call = context.call
    spread = as_array(context, 1.0 if cov is None else cov, F64)
    centre = None if mean is None else as_array(context, mean, F64)
    if len(spread.shape) > 2 or (centre is not None and len(centre.shape) > 1):
        raise UnsupportedArgument(name, "a mean that is no vector, or a stack of matrices", context.span)
    if centre is None:
        size: Size = spread.shape[0] if len(spread.shape) == 2 else i64(1)
    else:
        size = centre.shape[0] if centre.shape else i64(1)
    has_size = context.builder.apply("gt", size, i64(0))
    require(context, has_size, "raise", f"ValueError: {name}: there are no dimensions")
    count = size_value(context, size)
    middle: Value = call(np.zeros, count) if centre is None else call(np.reshape, centre, (count,))
    if is_one(size):
        return size, middle, call(np.reshape, spread, (1, 1))
    if not spread.shape:
        return size, middle, call(np.multiply, spread, call(np.eye, count))
    for extent in spread.shape:
        agree(context, extent, size, name)
    return size, middle, spread if len(spread.shape) == 2 else call(np.diag, spread)


def _points(context: Context, x: Value, size: Size) -> Value:
    """The points as rows."""
    own = as_array(context, x, F64)
    match len(own.shape):
        case 0:
            return context.call(np.reshape, own, (1,))
        case 1:
            return context.call(np.expand_dims, own, 1 if is_one(size) else 0)
        case _:
            return own


def _frozen_normal(method: str) -> StagedCall:
    """multivariate_normal(mean, cov), made outside of the program"""

    def staged(context: Context, owner: Any, x: Value) -> Value:
        mean, cov = context.attribute_of(owner, "mean"), context.attribute_of(owner, "cov")
        normals = scipy.stats.multivariate_normal
        return context.call(getattr(type(normals), method), normals, x, mean, cov)

    return staged


def normal(context: Context, kind: Value, mean: Value = None, cov: Value = 1) -> Value:
    """scipy.stats.multivariate_normal(mean, cov)"""
    return made(context, kind, _METHODS, (mean, cov), {})


# ---------------------------------------------------------------------------- the Dirichlet distribution
def _dirichlet(method: str) -> StagedCall:
    """dirichlet: Σ (α_k - 1)·log x_k - Σ log Γ(α_k) + log Γ(Σ α_k); what SciPy refuses is refused"""
    name = f"scipy.stats.dirichlet.{method}"

    def staged(context: Context, kind: Value, x: Value, alpha: Value) -> Value:
        call = context.call
        shape, points = as_array(context, alpha, F64), as_array(context, x, F64)
        if len(shape.shape) != 1 or not points.shape:
            raise UnsupportedArgument(
                name, "`alpha` is a vector, and `x` has a row for each of it", context.span
            )
        points = _completed(context, points, shape)
        agree(context, points.shape[0], shape.shape[0], name)
        columns = call(np.transpose, points)
        _require_simplex(context, name, as_array(context, columns), shape)
        powers = call(scipy.special.xlogy, call(np.subtract, shape, 1.0), columns)
        total = call(np.sum, powers, axis=-1)
        beta = call(np.sum, call(scipy.special.gammaln, shape))
        beta = call(np.subtract, beta, call(scipy.special.gammaln, call(np.sum, shape)))
        return _after(context, method, call(np.subtract, call(np.transpose, total), beta))

    return staged


def _completed(context: Context, points: Staged, shape: Staged) -> Staged:
    """The points with their last row, 1 less the others, where it is left out."""
    rows, wanted = points.shape[0], shape.shape[0]
    is_short = isinstance(rows, Const) and isinstance(wanted, Const) and int(rows.value) + 1 == wanted.value
    if not is_short:
        return points
    last = context.call(np.subtract, 1.0, context.call(np.sum, points, axis=0))
    assert isinstance(points, Array)
    row = context.call(np.expand_dims, as_array(context, last), 0)
    whole = context.call(np.concatenate, [taken(context, points, slice(None)), row], axis=0)
    return as_array(context, whole)


def _require_simplex(context: Context, name: str, columns: Staged, shape: Staged) -> None:
    """Check what SciPy checks: α > 0, 0 ≤ x ≤ 1, no zero beside α < 1, every sum 1 to 10⁻⁹."""

    def holds(value: Callable[..., Atom], operands: tuple[Staged, ...], words: str) -> None:
        found = fold_all(context, "and", operands, value, name)
        require(context, found, "raise", f"ValueError: {name}: {words}")

    def is_positive(builder: Builder, one: tuple[Atom, ...]) -> Atom:
        return builder.apply("gt", one[0], builder.constant(0.0, one[0]))

    def is_inside(builder: Builder, one: tuple[Atom, ...]) -> Atom:
        zero, whole = builder.constant(0.0, one[0]), builder.constant(1.0, one[0])
        return builder.apply("and", builder.apply("ge", one[0], zero), builder.apply("le", one[0], whole))

    def has_density(builder: Builder, one: tuple[Atom, ...]) -> Atom:
        x, power = one
        is_some = builder.apply("ne", x, builder.constant(0.0, x))
        return builder.apply("or", is_some, builder.apply("ge", power, builder.constant(1.0, power)))

    def is_whole(builder: Builder, one: tuple[Atom, ...]) -> Atom:
        rest = builder.apply("abs", builder.sub(one[0], builder.constant(1.0, one[0])))
        return builder.apply("le", rest, builder.constant(1e-9, rest))

    holds(is_positive, (shape,), "every parameter must be greater than 0")
    holds(is_inside, (columns,), "each entry of `x` must be between 0 and 1")
    holds(
        has_density,
        (columns, shape),
        "an entry of `x` must be greater than 0 where its `alpha` is less than 1",
    )
    sums = as_array(context, context.call(np.sum, columns, axis=-1))
    holds(is_whole, (sums,), "the entries of `x` must sum to 1")


def _frozen_dirichlet(method: str) -> StagedCall:
    """dirichlet(alpha), made outside of the program"""

    def staged(context: Context, owner: Any, x: Value) -> Value:
        alpha = context.attribute_of(owner, "alpha")
        kind = scipy.stats.dirichlet
        return context.call(getattr(type(kind), method), kind, x, alpha)

    return staged


def frozen_dirichlet(context: Context, kind: Value, alpha: Value) -> Value:
    """scipy.stats.dirichlet(alpha)"""
    return made(context, kind, _METHODS, (alpha,), {})


def _calls() -> dict[Key, StagedCall]:
    """The methods as SciPy's classes hold them, with parameters given and without."""
    normals, dirichlets = scipy.stats.multivariate_normal, scipy.stats.dirichlet
    classes: tuple[tuple[type, Callable[[str], StagedCall]], ...] = (
        (type(normals), _normal),
        (type(normals([0.0])), _frozen_normal),
        (type(dirichlets), _dirichlet),
        (type(dirichlets([1.0, 1.0])), _frozen_dirichlet),
    )
    return {
        **{getattr(kind, method): form(method) for kind, form in classes for method in _METHODS},
        type(normals).__call__: normal,
        type(dirichlets).__call__: frozen_dirichlet,
    }


CALLS = Late("scipy.stats", _calls)
