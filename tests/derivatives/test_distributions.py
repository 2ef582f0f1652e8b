"""Derivatives of densities and probabilities by the place, the shapes, loc and scale, to second order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.stats as stats
from scipy.stats import dirichlet, multivariate_normal

import anadrome as ad
from anadrome.errors.ad import NotDifferentiable
from anadrome.errors.frontend import CallMismatch, NoAttribute, UnsupportedArgument, UnsupportedCall
from anadrome.errors.runtime import RaisedError
from anadrome.frontend.library.densities import DISTRIBUTIONS
from tests.derivatives.agreement import agree
from tests.frontend.library.distribution_cases import SHAPES

RANDOM = np.random.default_rng(21)

INSIDE = {"beta": 0.4, "uniform": 0.4, "pareto": 1.6}
"""A place inside the support, where 0.7 is not one."""
CONTINUOUS = [name for name, own in DISTRIBUTIONS.items() if not own.is_discrete]
DISCRETE = [name for name, own in DISTRIBUTIONS.items() if own.is_discrete]
WITHOUT = {"beta": ("cdf", "logcdf", "sf", "logsf"), "t": ("cdf", "logcdf", "sf", "logsf")}
"""Methods whose derivatives by the shapes are refused."""

LONG = ("chi2", "invgamma")
"""Distributions that `gamma` stands for where second derivatives are long programs."""


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_distributions(name: str) -> None:
    own, kind, shapes = DISTRIBUTIONS[name], getattr(stats, name), SHAPES.get(name, ())
    methods = [one for one in own.methods() if one not in WITHOUT.get(name, ())]
    places = [one for one in methods if one not in ("ppf", "isf")]
    quantiles = [one for one in methods if one in ("ppf", "isf")]
    place = np.array([1.0, 1.1]) * (0.2 + 1.3 * INSIDE.get(name, 0.7))

    def program(x, scale, *shapes):
        found = [getattr(kind, method)(x, *shapes, 0.2, scale) for method in places]
        return found + [getattr(kind, method)(0.3 * scale, *shapes, scale=scale) for method in quantiles]

    agree(program, place, 1.3, *shapes, order=1 if name in LONG else 2)


@pytest.mark.parametrize("name", list(WITHOUT))
def test_cumulative_probabilities_by_the_place(name: str) -> None:
    kind, shapes = getattr(stats, name), SHAPES[name]
    place = np.array([0.31, 0.45])
    agree(lambda x, scale: [getattr(kind, one)(x, *shapes, 0.1, scale) for one in WITHOUT[name]], place, 1.3)
    with pytest.raises(NotDifferentiable, match=r"betaincc?` by its argument"):
        ad.grad(lambda a: kind.cdf(0.3, a, *shapes[1:]))(2.0)


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_distributions(name: str) -> None:
    own, kind, shapes = DISTRIBUTIONS[name], getattr(stats, name), SHAPES[name]
    k, fixed = np.array([1, 2, 3]), shapes[:1] if name == "binom" else ()
    k = np.array([0, 1, 1]) if name == "bernoulli" else k
    agree(
        lambda *varied: [getattr(kind, method)(k, *fixed, *varied) for method in own.methods()],
        *shapes[len(fixed) :],
        order=2,
    )
    with pytest.raises(NotDifferentiable, match="whole numbers"):
        ad.grad(lambda k: kind.pmf(k, *shapes))(1.0)


def test_the_number_of_trials_has_no_derivative() -> None:
    with pytest.raises(NotDifferentiable, match="whole numbers"):
        ad.grad(lambda n: stats.binom.logpmf(2, n, 0.3))(5.0)


def test_outside_of_the_support_and_with_invalid_shapes() -> None:
    """A density that does not depend on its arguments has the derivative 0, whatever its formula says."""
    slopes = ad.jit(ad.grad(lambda x, a, s: stats.gamma.logpdf(x, a, scale=s), argnums=(0, 1, 2)))
    assert slopes(-1.0, 2.0, 1.5) == (0.0, 0.0, 0.0)
    assert all(math.isfinite(one) for one in slopes(1.0, 2.0, 1.5))
    total = ad.grad(lambda x: np.sum(np.where(x > 0, stats.gamma.logpdf(x, 2.0), 0.0)))
    np.testing.assert_allclose(total(np.array([-1.0, 0.5, 2.0])), [0.0, 1.0, -0.5])


@pytest.mark.parametrize("x", [-40.0, -1e5])
def test_the_far_tail_of_the_normal_distribution(x: float) -> None:
    slope = ad.grad(lambda x: stats.norm.logcdf(x))(x)
    assert slope == pytest.approx(-x - 1.0 / x + 2.0 / x**3, rel=1e-7)
    assert ad.grad(lambda x: stats.norm.logsf(x))(-x) == -slope
    assert ad.grad(ad.grad(lambda x: stats.norm.logcdf(x)))(x) == pytest.approx(-1.0, abs=1e-3)


@pytest.mark.parametrize("df", [0.7, 1.0, 3.0, 39.0, 40.0, 1e3, 1e8, 1e100])
@pytest.mark.parametrize("x", [0.0, 1e-200, 1e-12, -1e-9, 1e-3, 0.7, -1.3, 8.0, -40.0])
def test_the_slope_of_student_cumulative_probabilities_is_their_density(x: float, df: float) -> None:
    density = stats.t.pdf(x, df)
    assert ad.grad(lambda x: stats.t.cdf(x, df))(x) == pytest.approx(density, rel=1e-9, abs=1e-300)
    assert ad.grad(lambda x: stats.t.sf(x, df))(x) == pytest.approx(-density, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("x", [0.0, -0.0, 1e-300, 2.0, -3.0])
def test_the_slope_of_laplace_cumulative_probabilities_is_their_density(x: float) -> None:
    density = stats.laplace.pdf(x)
    assert ad.grad(lambda x: stats.laplace.cdf(x))(x) == pytest.approx(density)
    assert ad.grad(lambda x: stats.laplace.logsf(x))(x) == pytest.approx(-density / stats.laplace.sf(x))


@pytest.mark.parametrize("dimension", [3, 18])
def test_vectors(dimension: int) -> None:
    a = RANDOM.normal(size=(dimension, dimension)) / dimension**0.5
    points, centre = RANDOM.normal(size=(4, dimension)), RANDOM.normal(size=dimension)
    agree(
        lambda x, m, a: multivariate_normal.logpdf(x, m, a @ a.T + np.eye(dimension)),
        points,
        centre,
        a,
        order=2 if dimension == 3 else 1,
    )
    agree(lambda x, m, s: multivariate_normal(m, s**2).pdf(x[0]), points[:, :1], centre[:1], 1.3, order=2)
    agree(lambda x, s: multivariate_normal.logpdf(x, np.zeros(dimension), np.abs(s[0]) + 0.1), points, a)


def test_shares() -> None:
    alpha = np.array([1.2, 2.5, 2.0])
    share = RANDOM.dirichlet(alpha, 4).T.copy()
    agree(lambda x, a: (dirichlet.logpdf(x, a), dirichlet.pdf(x[:, 0], a)), share[:2], alpha, order=2)
    agree(lambda a: dirichlet(a).logpdf(share), alpha, order=2)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda x, a: (x + 0.1, a), "sum to 1"),
        (lambda x, a: (-x, a), "between 0 and 1"),
        (lambda x, a: (x, -a), "greater than 0"),
        (lambda x, a: (np.array([0.0, 0.5, 0.5]), a), "less than 1"),
    ],
)
def test_what_scipy_refuses_of_shares_is_refused_when_it_runs(spoil: Any, words: str) -> None:
    alpha, share = np.array([0.8, 2.5, 2.0]), np.array([0.2, 0.3, 0.5])
    given = spoil(share, alpha)
    with pytest.raises(ValueError):
        dirichlet.logpdf(*given)
    with pytest.raises(RaisedError, match=words):
        ad.jit(lambda x, a: dirichlet.logpdf(x, a))(*given)


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda x: stats.norm.logpdf(x, scal=2.0), CallMismatch, "no parameter is named `scal`"),
    (lambda x: stats.norm.logpdf(x, 0.0, loc=1.0), CallMismatch, "`loc` is given twice"),
    (lambda x: stats.norm.logpdf(x, 0.0, 1.0, 2.0), CallMismatch, "3 parameters, and there are 2"),
    (lambda x: stats.norm.logpdf(loc=x), CallMismatch, "`x` is missing"),
    (lambda x: stats.gamma(scale=x), CallMismatch, "`a` is missing"),
    (lambda x: stats.gamma.ppf(x, 2.0), UnsupportedCall, "compiled forms are there for `logpdf`, `pdf`"),
    (lambda x: stats.skewnorm.pdf(x, 1.0), UnsupportedCall, "this distribution has no compiled form"),
    (lambda x: stats.norm.mean(x), UnsupportedCall, "scipy.stats.norm.mean"),
    (lambda x: stats.norm(x).rvs(), NoAttribute, r"`scipy.stats.norm\(…\)` has no `.rvs`"),
    (lambda x: multivariate_normal.pdf(x, allow_singular=True), UnsupportedArgument, "positive definite"),
    (lambda x: multivariate_normal(x).cdf(x), NoAttribute, r"`scipy.stats.multivariate_normal\(…\)`"),
]


@pytest.mark.parametrize(("function", "error", "words"), REFUSED)
def test_refusals_name_the_reason(function: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        ad.grad(function)(0.3)
