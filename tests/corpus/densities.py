"""Likelihoods written with SciPy's distributions and special functions."""

# ruff: noqa: B905 (programs are written as their users write them)

from __future__ import annotations

import numpy as np
import scipy.special as special
import scipy.stats as stats
from scipy.special import expit, gammaln, log_ndtr, logsumexp, ndtr
from scipy.stats import multivariate_normal, norm

import anadrome as ad
from anadrome.errors.ad import NotDifferentiable
from anadrome.errors.frontend import UnsupportedCall
from tests.corpus.draw import N, definite, flags, normal, positive
from tests.corpus.harness import Program, Refused

STANDARD = norm(0.5, 2.0)


def linear_regression_with_priors(features, seen, weights, log_scale):
    residuals = seen - features @ weights
    likelihood = norm.logpdf(residuals, 0.0, np.exp(log_scale)).sum()
    return likelihood + norm.logpdf(weights, scale=2.0).sum() + stats.halfnorm.logpdf(np.exp(log_scale))


def logistic_regression(features, seen, weights):
    chance = expit(features @ weights)
    return stats.bernoulli.logpmf(seen, chance).sum() + STANDARD.logpdf(weights).sum()


def poisson_regression(features, weights):
    rates = np.exp(0.3 * features @ weights)
    return np.sum(stats.poisson.logpmf(np.arange(len(rates)) % 4, rates))


def robust_regression(features, seen, weights, freedom):
    return np.sum(stats.t.logpdf(seen - features @ weights, df=1.0 + freedom, scale=0.7))


def censored_lifetimes(times, is_censored, shape, scale):
    total = 0.0
    for t, censored in zip(times, is_censored):
        if censored:
            total += stats.gamma.logsf(t, shape, scale=scale)
        else:
            total += stats.gamma.logpdf(t, shape, scale=scale)
    return total


def probit_by_loop(features, weights):
    total = 0.0
    for row in features:
        z = row @ weights
        total += log_ndtr(z) - 0.1 * log_ndtr(-z)
    return total


def mixture_of_normals(points, weights, means, log_scales):
    parts = norm.logpdf(points[:, None], means, np.exp(log_scales))
    return np.sum(logsumexp(parts, axis=1, b=special.softmax(weights)))


def mixture_of_vectors(points, weights, means, spread):
    parts = [np.log(w) + multivariate_normal.logpdf(points, m, spread) for w, m in zip(weights, means)]
    return np.sum(logsumexp(np.stack(parts), axis=0) - logsumexp(np.log(weights)))


def black_scholes_call(spots, strike, rate, volatility, years):
    spread = volatility * np.sqrt(years)
    above = (np.log(spots / strike) + (rate + 0.5 * volatility**2) * years) / spread
    return np.sum(spots * norm.cdf(above) - strike * np.exp(-rate * years) * ndtr(above - spread))


def expected_improvement(means, scales, best):
    z = (means - best) / scales
    return np.sum((means - best) * norm.cdf(z) + scales * norm.pdf(z))


def beta_binomial(counts, a, b):
    n = 12.0
    ways = gammaln(n + 1.0) - gammaln(counts + 1.0) - gammaln(n - counts + 1.0)
    return np.sum(ways + special.betaln(counts + a, n - counts + b) - special.betaln(a, b))


def matern_kernel(places, length):
    distance = np.abs(places[:, None] - places[None, :]) + 0.1
    scaled = np.sqrt(5.0) * distance / length
    return np.sum(2.0**-1.5 / special.gamma(2.5) * scaled**2.5 * special.kv(2.5, scaled))


def directions(angles, centre, concentration):
    return np.sum(stats.vonmises.logpdf(angles, concentration, loc=centre)) + np.log(
        special.i0e(concentration)
    )


def ordered_categories(scores, cuts):
    total = 0.0
    for s in scores:
        low, high = norm.cdf(cuts[0] - s), norm.cdf(cuts[1] - s)
        total += np.log(low) + np.log(high - low) + norm.logsf(cuts[1] - s)
    return total


def entropy_of_softmax(scores):
    return np.sum(special.entr(special.softmax(scores, axis=1))) + np.sum(special.xlogy(scores**2, 2.0))


PROGRAMS = (
    Program(linear_regression_with_priors, (normal(N, 3), normal(N), normal(3), normal())),
    Program(logistic_regression, (normal(N, 3), flags(N), normal(3))),
    Program(poisson_regression, (normal(N, 3), normal(3))),
    Program(robust_regression, (normal(N, 3), normal(N), normal(3), positive())),
    Program(censored_lifetimes, (positive(N), flags(N), positive(), positive()), at=4),
    Program(probit_by_loop, (normal(N, 3), normal(3))),
    Program(mixture_of_normals, (normal(N), normal(3), normal(3), normal(3, scale=0.3))),
    Program(mixture_of_vectors, (normal(N, 2), positive(3), normal(3, 2), definite(2))),
    Program(black_scholes_call, (positive(N), positive(), positive(), positive(), positive())),
    Program(expected_improvement, (normal(N), positive(N), normal())),
    Program(beta_binomial, (positive(N), positive(), positive())),
    Program(matern_kernel, (normal(N), positive()), sizes=(4, 8, 16), at=4),
    Program(directions, (normal(N), normal(), positive())),
    Program(ordered_categories, (normal(N), lambda random, size: np.array([-0.4, 0.7]))),
    Program(entropy_of_softmax, (normal(N, 4),)),
)

REFUSED = (
    Refused("quantile_of_gamma", lambda: ad.grad(lambda q: stats.gamma.ppf(q, 2.0))(0.3), UnsupportedCall),
    Refused(
        "order_of_a_bessel_function",
        lambda: ad.grad(lambda v: special.kv(v, 1.0))(0.3),
        NotDifferentiable,
        "`v`",
    ),
)
