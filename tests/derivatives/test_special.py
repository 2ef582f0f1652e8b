"""Derivatives of special functions: both modes, differences, second order, ends of intervals, refusals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.special as special

import anadrome as ad
from anadrome.errors.ad import NotDifferentiable
from tests.derivatives.agreement import agree
from tests.derivatives.special_rows import OF_AN_ORDER, PAIRS, UNIT

RANDOM = np.random.default_rng(12)


@pytest.mark.parametrize("part", range(4))
def test_functions_of_one_argument(part: int) -> None:
    functions = UNIT[part::4]
    agree(lambda x: [f(x) for f in functions], RANDOM.uniform(0.2, 0.8, 3), order=2)


@pytest.mark.parametrize("part", range(3))
def test_functions_of_two_arguments(part: int) -> None:
    functions = PAIRS[part::3]
    x, y = RANDOM.uniform(0.3, 2.0, 3), RANDOM.uniform(0.3, 2.0, 3)
    agree(lambda x, y: [f(x, y) for f in functions], x, y, order=2)
    agree(lambda x, y: [f(x, y) for f in (*functions, special.gammaincc)], x, 1.234)


def test_functions_of_an_order() -> None:
    agree(lambda x: [f(v, x) for f in OF_AN_ORDER for v in (0, 1.5)], RANDOM.uniform(0.5, 3.0, 3), order=2)


def test_incomplete_gamma_by_its_shape_in_every_range() -> None:
    a = np.array([0.4, 0.4, 7.0, 7.0, 120.0, 120.0, 120.0])
    x = np.array([0.3, 2.5, 4.0, 8.5, 118.0, 60.0, 230.0])
    agree(lambda a, x: special.gammainc(a, x), a, x, order=2)


BY_SHAPE = [
    (1e-6, 2.0, -0.04890066348057927),
    (30.0, 20.0, -0.010205257324989506),
    (30.0, 31.5, -0.0687316156262897),
    (99.9, 101.0, -0.03949104615221555),
    (1e4, 10050.0, -0.00351336826252345),
    (1e8, 1e8, -3.9894228073388464e-05),
]
"""(a, x, ∂P/∂a)"""


def test_incomplete_gamma_by_its_shape_has_its_digits() -> None:
    slope = ad.jit(ad.grad(special.gammainc))
    for a, x, expected in BY_SHAPE:
        assert slope(a, x) == pytest.approx(expected, rel=1e-13, abs=0)


def test_incomplete_gamma_by_its_shape_at_the_ends() -> None:
    slope = ad.jit(ad.grad(lambda a, x: special.gammainc(a, x)))
    assert slope(2.0, 0.0) == 0.0
    assert slope(2.0, math.inf) == 0.0
    assert slope(0.0, 2.0) == pytest.approx(-special.exp1(2.0), rel=1e-14)
    assert math.isnan(slope(2.0, -1.0))
    assert math.isnan(slope(math.nan, 1.0))
    assert slope(2.0, 3.0) == -ad.grad(lambda a: special.gammaincc(a, 3.0))(2.0)


def test_single_precision_by_the_shape() -> None:
    a, x = np.float32(2.5), np.float32(1.5)
    found = ad.grad(lambda a, x: special.gammainc(a, x), argnums=(0, 1))(a, x)
    exact = ad.grad(lambda a, x: special.gammainc(a, x), argnums=(0, 1))(2.5, 1.5)
    assert all(one.dtype == np.float32 for one in found)
    np.testing.assert_allclose(found, exact, rtol=1e-6)


@pytest.mark.parametrize("x", [-1e8, -1e4, -50.0, -12.0, -1.0, 0.0, 3.0])
def test_the_normal_tail_to_second_order(x: float) -> None:
    """With h = φ/Φ, (log Φ)'' = -h·(x + h), which is -1 + O(1/x²) in the far tail"""
    second = ad.jit(ad.grad(ad.grad(special.log_ndtr)))(x)
    if x < -1e3:
        assert second == pytest.approx(-1.0 + 1.0 / x**2, abs=1e-13)
    else:
        h = math.sqrt(2 / math.pi) / special.erfcx(-x / math.sqrt(2))
        assert second == pytest.approx(-h * (x + h), rel=1e-9)


def test_incomplete_beta_by_its_place() -> None:
    agree(
        lambda x: [special.betainc(1.5, 2.5, x), special.betaincc(1.5, 2.5, x)],
        np.array([0.1, 0.5, 0.9]),
        order=2,
    )


@pytest.mark.parametrize("size", [3, 20])
def test_logsumexp_with_weights(size: int) -> None:
    a, b = RANDOM.normal(size=(2, size)), RANDOM.uniform(0.5, 2.0, (2, size))
    b[0, 1] = 0.0
    agree(lambda a, b: (special.logsumexp(a, b=b), special.logsumexp(a, axis=0, b=b[1])), a, b, order=2)
    agree(lambda a, b: special.logsumexp(a, b=-b, axis=1, return_sign=True), a, b, order=2)


def test_logsumexp_by_a_weight_of_zero() -> None:
    """∂/∂b log Σ b·eᵃ = eᵃ/Σ, also where b is 0; of an infinite a with that weight it is 0"""
    slope = ad.grad(lambda b, a: special.logsumexp(a, b=b))
    np.testing.assert_allclose(
        slope(np.array([0.0, 2.0]), np.array([1.0, 0.5])), np.exp([1.0, 0.5]) / (2.0 * np.exp(0.5))
    )
    np.testing.assert_allclose(slope(np.array([0.0, 2.0]), np.array([np.inf, 0.5])), [0.0, 0.5])


REFUSED: list[tuple[Any, str, str]] = [
    *((lambda v, f=f: f(v, 2.0), f.__name__, "v") for f in OF_AN_ORDER),
    (lambda v: special.betainc(v, 2.0, 0.5), "betainc", "a"),
    (lambda v: special.betainc(2.0, v, 0.5), "betainc", "b"),
    (lambda v: special.betaincc(2.0, v, 0.5), "betaincc", "b"),
]


@pytest.mark.parametrize("transform", [ad.grad, ad.jacfwd])
@pytest.mark.parametrize(("function", "name", "argument"), REFUSED)
def test_no_derivative_is_a_refusal_and_never_zero(
    transform: Any, function: Any, name: str, argument: str
) -> None:
    with pytest.raises(NotDifferentiable, match=f"scipy.special.{name}` by its argument `{argument}`"):
        transform(function)(0.7)


def test_no_derivative_is_refused_in_mixed_mode() -> None:
    def program(v: Any) -> Any:
        total = 0.0
        for one in v:
            y = one
            while y < 5.0:
                y = y * 1.5
            total += special.jv(y, 2.0)
        return total

    with pytest.raises(NotDifferentiable, match="by its argument `v`"):
        ad.jit(ad.grad(program), config=ad.Config(mixed="recompute"))(np.ones(20))


def test_an_order_that_is_not_differentiated_is_no_matter() -> None:
    agree(lambda x: special.jv(np.round(x[0]), x), np.array([1.2, 2.2]))
    stopped = ad.grad(lambda x: special.jv(ad.stop_gradient(x), x))(1.0)
    assert stopped == ad.grad(lambda x: special.jv(1.0, x))(1.0)


ENDS = [
    (special.entr, 0.0, math.inf),
    (lambda x: special.xlogy(x, x), 0.0, -math.inf),
    (lambda x: special.xlogy(0.0, x), 0.0, 0.0),
    (special.ndtri, 1.0, math.inf),
    (special.logit, 0.0, math.inf),
    (special.gamma, 0.0, -math.inf),
    (special.i0e, 0.0, 0.0),
    (lambda x: special.gammainc(1.0, x), 0.0, 1.0),
    (special.ndtr, -math.inf, 0.0),
    (special.log_ndtr, -math.inf, math.inf),
]


@pytest.mark.parametrize(("function", "x", "slope"), ENDS)
def test_ends_of_intervals_in_both_modes(function: Any, x: float, slope: float) -> None:
    assert ad.grad(function)(x) == slope
    assert ad.jvp(function, (x,), (1.0,))[1] == slope
