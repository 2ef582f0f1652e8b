"""Cases of the distributions of `scipy.stats`: every method, inside the support, at its ends and outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.stats as stats
from scipy.stats import dirichlet, multivariate_normal, rv_continuous, rv_discrete

from anadrome.frontend.library.densities import DISTRIBUTIONS
from tests.frontend.library.staging import Case, case

RANDOM = np.random.default_rng(12)

SHAPES: dict[str, tuple[float, ...]] = {
    "gamma": (2.5,),
    "beta": (1.5, 2.5),
    "t": (4.5,),
    "lognorm": (0.7,),
    "chi2": (3.0,),
    "invgamma": (2.5,),
    "weibull_min": (1.7,),
    "pareto": (2.5,),
    "vonmises": (1.3,),
    "poisson": (2.5,),
    "binom": (7.0, 0.3),
    "bernoulli": (0.3,),
    "geom": (0.3,),
    "nbinom": (3.5, 0.4),
}
"""Shapes that a distribution has."""
PLACES = np.array(
    [-np.inf, -3.0, -1.0, 0.0, 0.3, 0.5, 1.0, 1.7, 2.0, 3.0, 5.0, 6.0, 7.0, 8.0, np.inf, np.nan]
)
SHARES = np.array([-0.1, 0.0, 1e-9, 0.2, 0.5, 0.7, 1.0, 1.2, np.nan])
SINGLE = np.array([0.25, 0.5, 0.75], np.float32)


LARGE = (1e3, 1e6, 1e10, 1e17)
"""Degrees of freedom; df/(df + x²) is 1 less something small."""


def method_cases(name: str, method: str) -> list[Case]:
    """One method: with and without loc and scale, by name and position; parameters that there are not."""
    own, shapes = DISTRIBUTIONS[name], SHAPES.get(name, ())
    function = getattr(getattr(stats, name), method)
    base = rv_discrete if own.is_discrete else rv_continuous
    keys = getattr(base, method)
    x = SHARES if method in ("ppf", "isf") else PLACES
    rest = (1.0,) if own.is_discrete else (0.5, 2.0)
    named: dict[str, Any] = {"loc": 1.0} if own.is_discrete else {"scale": np.array([[2.0], [-1.0], [0.0]])}

    def standard(x, *given):
        return function(x, *given)

    first, second = (*own.shapes, "", "")[:2]
    by_name = (
        lambda x: function(x, **named),
        lambda x, one: function(x, **{first: one}, **named),
        lambda x, one, two: function(x, **{second: two, first: one}, **named),
    )[len(shapes)]

    def invalid(x, *shapes):
        return function(x, *(-shape for shape in shapes))

    return [
        case(keys, standard, x, *shapes),
        case(keys, standard, x, *shapes, *rest),
        case(keys, by_name, x, *shapes),
        *([] if method in ("ppf", "isf") else [case(keys, standard, SINGLE, *shapes)]),
        case(keys, standard, 0.5, *shapes),
        case(keys, standard, np.arange(1, 4), *shapes),
        *([case(keys, invalid, x[np.isfinite(x)], *shapes)] if shapes else []),
    ]


NORMAL, POISSON = stats.norm(1.0, scale=2.0), stats.poisson(2.5, loc=1)
MATRIX = RANDOM.normal(size=(3, 3))
SPREAD, CENTRE = MATRIX @ MATRIX.T + np.eye(3), RANDOM.normal(size=3)
POINTS = RANDOM.normal(size=(5, 3))
VECTOR = multivariate_normal(CENTRE, SPREAD)
ALPHA = np.array([1.2, 0.8, 2.0])
SIMPLEX = RANDOM.dirichlet(ALPHA, 4).T.copy()
SHARE = dirichlet(ALPHA)

FROZEN: list[Case] = [
    case(
        tuple(getattr(type(NORMAL), m) for m in ("logpdf", "pdf", "cdf", "logcdf", "sf", "logsf")),
        lambda x: (
            NORMAL.logpdf(x),
            NORMAL.pdf(x),
            NORMAL.cdf(x),
            NORMAL.logcdf(x),
            NORMAL.sf(x),
            NORMAL.logsf(x),
        ),
        PLACES,
    ),
    case(
        (type(NORMAL).ppf, type(NORMAL).isf),
        lambda q: (NORMAL.ppf(q), NORMAL.isf(q=q)),
        SHARES,
    ),
    case(
        tuple(getattr(type(POISSON), m) for m in ("logpmf", "pmf", "cdf", "logcdf", "sf", "logsf")),
        lambda k: (POISSON.logpmf(k), POISSON.pmf(k), POISSON.cdf(k), POISSON.sf(k), POISSON.logsf(k)),
        PLACES[1:-2],
    ),
    case(
        rv_continuous.__call__,
        lambda x, s: (
            stats.norm(0.3, s).logpdf(x),
            stats.gamma(2.0, scale=s).cdf(x),
            stats.norm(scale=s).ppf(0.3),
        ),
        PLACES,
        1.7,
    ),
    case(rv_discrete.pmf, lambda k, n, p: stats.binom.pmf(k, n, p), np.arange(9), 7, 0.3),
    case(rv_discrete.logpmf, lambda k, p: stats.bernoulli(p).logpmf(k), np.array([0, 1, 1, 2]), 0.3),
    case(rv_continuous.logpdf, lambda x, df: stats.t.logpdf(x, df), PLACES, np.inf),
    case(rv_continuous.logpdf, lambda x, df: stats.t.logpdf(x, df), PLACES, 1e7),
    case(rv_continuous.pdf, lambda x, a: stats.gamma.pdf(x, a), PLACES, 1.0),
    case(rv_continuous.pdf, lambda x, a: stats.beta.pdf(x, a, 0.5), PLACES, 1.0),
]

VECTORS: list[Case] = [
    case(
        type(multivariate_normal).logpdf,
        lambda x, m, s: (
            multivariate_normal.logpdf(x, m, s),
            multivariate_normal.logpdf(x[0], mean=m),
            multivariate_normal.logpdf(x, cov=s),
            multivariate_normal.logpdf(x, m, s[0, 0]),
            multivariate_normal.logpdf(x, m, np.diag(s)),
            multivariate_normal.logpdf(x[:, None], m, s),
        ),
        POINTS,
        CENTRE,
        SPREAD,
    ),
    case(
        (type(multivariate_normal).pdf, type(multivariate_normal).__call__),
        lambda x, m, s: (
            multivariate_normal.pdf(x, m, s),
            multivariate_normal(m, s).pdf(x),
            multivariate_normal(m, s).logpdf(x[0]),
        ),
        POINTS,
        CENTRE,
        SPREAD,
    ),
    case(
        type(multivariate_normal).logpdf,
        lambda x, m, s: (
            multivariate_normal.logpdf(x[0], m[0], s[0, 0]),
            multivariate_normal.logpdf(x[0, 0]),
            multivariate_normal.logpdf(x[:, 0], cov=2.0),
        ),
        POINTS,
        CENTRE,
        SPREAD,
    ),
    case((type(VECTOR).logpdf, type(VECTOR).pdf), lambda x: (VECTOR.logpdf(x), VECTOR.pdf(x[0])), POINTS),
    case(
        (type(dirichlet).logpdf, type(dirichlet).pdf, type(dirichlet).__call__),
        lambda x, a: (dirichlet.logpdf(x, a), dirichlet.pdf(x[:, 0], a), dirichlet(a).logpdf(x)),
        SIMPLEX,
        ALPHA,
    ),
    case((type(SHARE).logpdf, type(SHARE).pdf), lambda x: (SHARE.logpdf(x), SHARE.pdf(x)), SIMPLEX),
]

CASES: list[Case] = [
    *(
        one
        for name, own in DISTRIBUTIONS.items()
        for method in own.methods()
        for one in method_cases(name, method)
    ),
    *FROZEN,
    *VECTORS,
    *(
        case(
            (rv_continuous.cdf, rv_continuous.sf),
            lambda x, df=df: (stats.t.cdf(x, df), stats.t.sf(x, df)),
            np.array([-3.0, -1e-3, 0.0, 1.3, 40.0]),
        )
        for df in LARGE
    ),
    case(
        rv_continuous.sf,
        lambda x: (stats.beta.sf(x, 0.02, 0.8), stats.beta.sf(x, 2.0, 1e12)),
        np.array([0.0, 1e-300, 1e-17, 1e-12, 0.5, 1.0]),
    ),
]
SHORT = case(type(dirichlet).logpdf, lambda x, a: dirichlet.logpdf(x[:2], a), SIMPLEX, ALPHA)
"""Whether a component is left out must be known when the function is compiled."""
