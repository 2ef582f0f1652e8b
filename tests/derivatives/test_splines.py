"""Derivatives of splines and of `np.interp` by knots, values and places, to second order; what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline, CubicSpline

import anadrome as ad
from anadrome.errors.frontend import NoAttribute, UnsuitableSize, UnsupportedArgument
from anadrome.errors.runtime import RaisedError, SizeMismatch
from tests.derivatives.agreement import agree
from tests.frontend.library.spline_cases import drawn
from tests.frontend.library.staging import compiled

RANDOM = np.random.default_rng(15)
PLACES = np.array([-0.4, 0.33, 1.9, 4.4])
ENDS = ["not-a-knot", "natural", "clamped", ((2, 0.1), (1, 0.4))]


@pytest.mark.parametrize("count", [5, 20])
@pytest.mark.parametrize("ends", ENDS, ids=str)
def test_cubic_splines(count: int, ends: Any) -> None:
    x, y = drawn(count)
    agree(
        lambda x, y, q: (CubicSpline(x, y, bc_type=ends)(q), CubicSpline(x, y, bc_type=ends)(q, 1)),
        x,
        y,
        PLACES,
        order=2 if count == 5 and ends == "not-a-knot" else 1,
    )


@pytest.mark.parametrize("count", [2, 3])
def test_splines_of_few_points(count: int) -> None:
    x, y = drawn(count)
    agree(lambda x, y, q: CubicSpline(x, y)(q), x, y, PLACES, order=2)


def test_closed_curves() -> None:
    x, y = drawn(6)
    agree(
        lambda x, y, q: CubicSpline(x, np.append(y, y[0]), bc_type="periodic")(q), x, y[:-1], PLACES, order=2
    )


def test_rows_derivatives_and_integrals() -> None:
    x, z = drawn(5)[0], RANDOM.normal(size=(2, 5))
    agree(lambda x, z: CubicSpline(x, z, axis=1)(0.7), x, z)
    agree(
        lambda x, z, a: (
            CubicSpline(x, z[0]).integrate(a, 2.0 * a),
            CubicSpline(x, z[1]).derivative(2)(a),
            CubicSpline(x, z[1]).antiderivative()(a),
        ),
        x,
        z,
        1.3,
    )
    agree(lambda x, y, s: CubicHermiteSpline(x, y, s)(PLACES), x, z[0], z[1], order=2)


def test_splines_made_outside() -> None:
    spline = CubicSpline(*drawn(7))
    agree(lambda q: spline(q) * spline(q, 1), PLACES, order=2)
    agree(lambda a: spline.integrate(0.2, a), 1.7, order=2)
    slope = ad.grad(lambda q: spline(q))
    assert slope(1.1) == pytest.approx(float(spline(1.1, 1)), rel=1e-14)


def test_a_place_at_a_knot_has_the_slope_on_its_right() -> None:
    line = CubicHermiteSpline([0.0, 1.0, 2.0], [0.0, 1.0, 3.0], [1.0, 2.0, 2.0])
    assert ad.grad(lambda q: line(q, 2))(1.0) == float(line(1.0, 3))


def test_outside_of_the_knots_there_may_be_nothing() -> None:
    x, y = drawn(5)
    value, slope = ad.value_and_grad(lambda q: np.nansum(CubicSpline(x, y, extrapolate=False)(q)))(
        PLACES - 2.0
    )
    inside = (PLACES - 2.0 >= x[0]) & (PLACES - 2.0 <= x[-1])
    np.testing.assert_array_equal(slope != 0.0, inside)
    assert value == pytest.approx(float(np.nansum(CubicSpline(x, y, extrapolate=False)(PLACES - 2.0))))


@pytest.mark.parametrize("count", [6, 20])
def test_linear_interpolation(count: int) -> None:
    xp, fp = drawn(count)
    agree(lambda x, xp, fp: np.interp(x, xp, fp), PLACES, xp, fp, order=2)
    agree(lambda x, xp, fp, p: np.interp(x, xp, fp, period=p), 3.0 * PLACES, xp, fp, 6.3, order=2)
    agree(lambda x, fp, low: np.interp(x, xp, fp, left=low, right=low**2), PLACES, fp, 0.7)


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda x, y: CubicSpline(x, y, bc_type="free")(0.5), UnsupportedArgument, "bc_type='free'"),
    (
        lambda x, y: CubicSpline(x, y, bc_type=((3, 0.0), "natural"))(0.5),
        UnsupportedArgument,
        "another order",
    ),
    (lambda x, y: CubicSpline(x, y, bc_type=3)(0.5), UnsupportedArgument, "a condition for each end"),
    (lambda x, y: CubicSpline(x[:1], y[:1])(0.5), UnsuitableSize, "1 points"),
    (lambda x, y: CubicSpline(x, y)(0.5, nu=-1), UnsupportedArgument, "`nu=-1`"),
    (lambda x, y: CubicSpline(x, y)(0.5, der=1), UnsupportedArgument, "`der=1`"),
    (lambda x, y: CubicSpline(x, y).roots(), NoAttribute, "roots"),
    (lambda x, y: CubicSpline(x, y, axis=1)(0.5), UnsupportedArgument, "axis 1"),
    (
        lambda x, y: CubicSpline(x, y, extrapolate="periodic").integrate(0.0, 1.0),
        UnsupportedArgument,
        "periodic",
    ),
    (lambda x, y: CubicSpline(x[:, None], y)(0.5), UnsupportedArgument, "vector of knots"),
]


@pytest.mark.parametrize(("function", "error", "words"), REFUSED)
def test_refusals_name_the_reason(function: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        ad.jit(function)(*drawn(5))


INVALID: list[tuple[Any, str]] = [
    (lambda x, y: (x[::-1].copy(), y), "strictly increasing"),
    (lambda x, y: (x, y * np.inf), "finite"),
    (lambda x, y: (x * np.nan, y), "finite"),
]


@pytest.mark.parametrize(("spoil", "words"), INVALID)
def test_what_scipy_refuses_is_refused_when_it_runs(spoil: Any, words: str) -> None:
    given = spoil(*drawn(5))
    with pytest.raises(ValueError):
        CubicSpline(*given)
    with pytest.raises(RaisedError, match=words):
        ad.jit(lambda x, y: CubicSpline(x, y)(0.5))(*given)
    with pytest.raises(RaisedError, match="must be equal"):
        ad.jit(lambda x, y: CubicSpline(x, y, bc_type="periodic")(0.5))(*drawn(5))
    with pytest.raises(RaisedError, match="period must not be zero"):
        ad.jit(lambda x, p: np.interp(x, x, x, period=p))(PLACES, 0.0)


def test_too_few_points_of_a_number_that_the_run_knows() -> None:
    """Three points have another formula: where they are not known while compiling they are refused."""
    program = lambda x, y: CubicSpline(x, y)(0.5)
    with pytest.raises(SizeMismatch, match="3 points, and 4 are needed"):
        compiled(program, list(drawn(3)))
    given = drawn(3)
    np.testing.assert_allclose(compiled(program, given, is_symbolic=False), program(*given), rtol=1e-12)
