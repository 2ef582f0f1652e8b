"""What the distributions of `scipy.stats` are: densities, cumulative probabilities and quantiles as formulas.

Formulas are of the standard distribution, at (x - loc)/scale, inside its support. They are those of SciPy, so
that values agree to rounding; a density that SciPy asks another library for is exp of its logarithm here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from anadrome.frontend.library.incomplete_gamma import incomplete_gamma
from anadrome.frontend.library.terms import Term, row

Formula = Callable[..., Term]
"""(x, *shapes) -> term"""


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """One family of distributions.

    `upper` may be a function of the shapes, `inner` is a point of the support; `is_valid` says which shapes
    there are. The ends of an open support have no density. `functions` holds what is there besides the
    logarithm of the density, by SciPy's names.
    """

    shapes: tuple[str, ...]
    log_density: Formula
    functions: Mapping[str, Formula] = field(default_factory=dict)
    lower: float = -math.inf
    upper: float | Formula = math.inf
    inner: float = 0.5
    is_valid: Formula | None = None
    is_open: bool = False
    is_discrete: bool = False

    def formula(self, method: str) -> Formula | None:
        """The formula of a method, made of another one where SciPy does so; None where there is none."""
        own = self.functions.get(method)
        if own is not None:
            return own
        match method:
            case "logpdf" | "logpmf":
                return self.log_density
            case "pdf" | "pmf":
                return _after(exp, self.log_density)
            case "sf" if "cdf" in self.functions:
                return _after(lambda value: 1.0 - value, self.functions["cdf"])
            case "logcdf" | "logsf":
                return self._logarithm(method.removeprefix("log"))
            case "isf" if "ppf" in self.functions:
                quantile = self.functions["ppf"]
                return lambda q, *shapes: quantile(1.0 - q, *shapes)
            case _:
                return None

    def _logarithm(self, method: str) -> Formula | None:
        """log P, or of a continuous distribution log(1 - Q) of the rest Q where that is small"""
        other = self.functions.get("sf" if method == "cdf" else "cdf")
        own = self.functions.get(method)
        if own is None:
            return None if other is None else _after(lambda rest: log1p(-rest), other)
        if other is None or self.is_discrete:
            return _after(log, own)
        return lambda *args: _log_of(own(*args), other(*args))

    def methods(self) -> tuple[str, ...]:
        """The methods there are."""
        return tuple(method for method in METHODS[self.is_discrete] if self.formula(method) is not None)


METHODS = (
    ("logpdf", "pdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"),
    ("logpmf", "pmf", "cdf", "logcdf", "sf", "logsf"),
)
"""Methods of continuous distributions, and of discrete ones."""


def _log_of(probability: Term, rest: Term) -> Term:
    return (rest < 0.5).select(log1p(-rest), log(probability))


def _after(function: Callable[[Term], Term], formula: Formula) -> Formula:
    return lambda *args: function(formula(*args))


# ---------------------------------------------------------------------------- functions of terms
exp, expm1, log, log1p, sqrt, absolute = (
    row(name) for name in ("exp", "expm1", "log", "log1p", "sqrt", "abs")
)
sin, tan, arctan, arctan2, floor = (row(name) for name in ("sin", "tan", "atan", "atan2", "floor"))
whole = row("whole")
xlogy, xlog1py, lgamma, betaln = (row(name) for name in ("xlogy", "xlog1py", "lgamma", "betaln"))
ndtr, log_ndtr, ndtri, erf = (row(name) for name in ("ndtr", "log_ndtr", "ndtri", "erf"))
expit, log_expit, logit, i0e = (row(name) for name in ("sigmoid", "log_expit", "logit", "i0e"))
betainc, betaincc = (row(name) for name in ("betainc", "betaincc"))


def _linked(name: str) -> Formula:
    rule = incomplete_gamma(name)
    return lambda a, x: Term(a.builder, rule(a.builder, (a.atom, x.atom)))


gammainc, gammaincc = _linked("gammainc"), _linked("gammaincc")


# ---------------------------------------------------------------------------- longer formulas
_LOG_ROOT_TAU = math.log(math.sqrt(2.0 * math.pi))
_ROOT_TAU = math.sqrt(2.0 * math.pi)
_LOG_PI = math.log(math.pi)
_ALMOST_NOTHING = 1e-18
"""What is no digit of a sum with 1."""


def _normal(x: Term) -> Term:
    return -(x * x) / 2.0 - _LOG_ROOT_TAU


def _student(x: Term, df: Term) -> Term:
    """-log B(df/2, ½) - ½ log df - (df+1)/2·log(1 + x²/df), the normal density where df is ∞

    For a = df/2 ≥ 20 the first two terms are -½ log 2π + log Γ(a + ½) - log Γ(a) - ½ log a, and all but the
    first of these are -1/8a + 1/192a³ - 1/640a⁵ + 17/14336a⁷ within 3·10⁻¹⁵ (DLMF 5.11.8): logarithms of
    large Γ would lose digits.
    """
    is_normal = df.is_equal(math.inf)
    inner = is_normal.select(1.0, df)
    is_large = inner >= 40.0
    few, inverse = is_large.select(1.0, inner), 2.0 / is_large.select(inner, 40.0)
    square = inverse * inverse
    series = ((17.0 / 14336.0 * square - 1.0 / 640.0) * square + 1.0 / 192.0) * square - 0.125
    front = is_large.select(
        series * inverse - _LOG_ROOT_TAU, -betaln(0.5 * few, few.constant(0.5)) - 0.5 * log(few)
    )
    return is_normal.select(_normal(x), front - (inner + 1.0) / 2.0 * log1p(x * x / inner))


def _student_cumulative(x: Term, df: Term) -> Term:
    """I(df/2, ½; df/(df+x²))/2 below 0, where it is exact, and 1 less that above. Where x² < df, and
    df/(df+x²) may be almost 1, it is the complement; next to 0, where that has the slope of a root, ½ and x
    times the density."""
    is_normal = df.is_equal(math.inf)
    inner, half, square = is_normal.select(1.0, df), df.constant(0.5), x * x
    is_line, is_near = square < _ALMOST_NOTHING * inner / (inner + 1.0), square < inner
    near, far = is_line.select(inner, is_near.select(square, inner)), is_near.select(inner, square)
    tail = 0.5 * is_near.select(
        betaincc(half, 0.5 * inner, near / (inner + near)), betainc(0.5 * inner, half, inner / (inner + far))
    )
    line = 0.5 + x * exp(_student(df.constant(0.0), df))
    return is_normal.select(ndtr(x), is_line.select(line, (x > 0.0).select(1.0 - tail, tail)))


def _cauchy(x: Term) -> Term:
    """-log π - log(1 + x²), for large x without its square"""
    size = absolute(x)
    is_small = size < 1.0
    near, far = is_small.select(size, 0.0), is_small.select(1.0, size)
    large = 2.0 * log(far) + log1p((1.0 / far) * (1.0 / far))
    return -_LOG_PI - is_small.select(log1p(near * near), large)


def _tangent_of_part(q: Term) -> Term:
    """tan(½πq) for 0 ≤ q ≤ 1, ∞ at 1"""
    is_small = q < 0.5
    near, far = is_small.select(q, 0.5), is_small.select(0.5, 1.0 - q)
    return is_small.select(tan(0.5 * math.pi * near), 1.0 / tan(0.5 * math.pi * far))


def _cauchy_quantile(q: Term) -> Term:
    """tan(π(q - ½)); beyond ¼ and ¾ by the distance from the end, ∓∞ there"""
    is_low = q < 0.5
    distance = is_low.select(q, 1.0 - q)
    is_far = distance < 0.25
    near, far = is_far.select(0.5, q), is_far.select(distance, 0.25)
    tail = 1.0 / tan(math.pi * far)
    return is_far.select(is_low.select(-tail, tail), tan(math.pi * (near - 0.5)))


def _laplace_cumulative(x: Term) -> Term:
    """½eˣ below 0, 1 - ½e⁻ˣ above"""
    is_above = x > 0.0
    half = 0.5 * exp(is_above.select(-x, x))
    return is_above.select(1.0 - half, half)


def _laplace_quantile(q: Term) -> Term:
    return (q > 0.5).select(-log(2.0 * (1.0 - q)), log(2.0 * q))


def _log_normal(x: Term, s: Term) -> Term:
    """-log² x/(2s²) - log(s·x·√2π)"""
    logarithm = log(x)
    return -(logarithm * logarithm) / (2.0 * s * s) - log(s * x * _ROOT_TAU)


def _von_mises(x: Term, kappa: Term) -> Term:
    """κ·(cos x - 1) - log 2π - log(e^(-κ)·I₀(κ)), with cos x - 1 = -2·sin²(x/2)"""
    sine = sin(0.5 * x)
    return kappa * (-2.0 * sine * sine) - math.log(2.0 * math.pi) - log(i0e(kappa))


def _binomial(k: Term, n: Term, p: Term) -> Term:
    n = whole(n)
    ways = lgamma(n + 1.0) - (lgamma(k + 1.0) + lgamma(n - k + 1.0))
    return ways + xlogy(k, p) + xlog1py(n - k, -p)


def _negative_binomial(k: Term, n: Term, p: Term) -> Term:
    ways = lgamma(n + k) - lgamma(k + 1.0) - lgamma(n)
    return ways + n * log(p) + xlog1py(k, -p)


def _is_probability(p: Term) -> Term:
    return (p >= 0.0) & (p <= 1.0)


# ---------------------------------------------------------------------------- the table
DISTRIBUTIONS: dict[str, Distribution] = {
    "norm": Distribution(
        (),
        _normal,
        {
            "pdf": lambda x: exp(-(x * x) / 2.0) / _ROOT_TAU,
            "cdf": ndtr,
            "logcdf": log_ndtr,
            "sf": lambda x: ndtr(-x),
            "logsf": lambda x: log_ndtr(-x),
            "ppf": ndtri,
            "isf": lambda q: -ndtri(q),
        },
    ),
    "expon": Distribution(
        (),
        lambda x: -x,
        {
            "cdf": lambda x: -expm1(-x),
            "sf": lambda x: exp(-x),
            "logsf": lambda x: -x,
            "ppf": lambda q: -log1p(-q),
            "isf": lambda q: -log(q),
        },
        lower=0.0,
    ),
    "gamma": Distribution(
        ("a",),
        lambda x, a: xlogy(a - 1.0, x) - x - lgamma(a),
        {"cdf": lambda x, a: gammainc(a, x), "sf": lambda x, a: gammaincc(a, x)},
        lower=0.0,
    ),
    "beta": Distribution(
        ("a", "b"),
        lambda x, a, b: xlog1py(b - 1.0, -x) + xlogy(a - 1.0, x) - betaln(a, b),
        {"cdf": lambda x, a, b: betainc(a, b, x), "sf": lambda x, a, b: betaincc(a, b, x)},
        lower=0.0,
        upper=1.0,
    ),
    "t": Distribution(
        ("df",), _student, {"cdf": _student_cumulative, "sf": lambda x, df: _student_cumulative(-x, df)}
    ),
    "cauchy": Distribution(
        (),
        _cauchy,
        {
            "pdf": lambda x: 1.0 / math.pi / (1.0 + x * x),
            "cdf": lambda x: arctan2(x.constant(1.0), -x) / math.pi,
            "sf": lambda x: arctan2(x.constant(1.0), x) / math.pi,
            "ppf": _cauchy_quantile,
            "isf": lambda q: -_cauchy_quantile(q),
        },
    ),
    "laplace": Distribution(
        (),
        lambda x: math.log(0.5) - absolute(x),
        {
            "cdf": _laplace_cumulative,
            "sf": lambda x: _laplace_cumulative(-x),
            "ppf": _laplace_quantile,
            "isf": lambda q: -_laplace_quantile(q),
        },
    ),
    "lognorm": Distribution(
        ("s",),
        _log_normal,
        {
            "cdf": lambda x, s: ndtr(log(x) / s),
            "logcdf": lambda x, s: log_ndtr(log(x) / s),
            "sf": lambda x, s: ndtr(-(log(x) / s)),
            "logsf": lambda x, s: log_ndtr(-(log(x) / s)),
            "ppf": lambda q, s: exp(s * ndtri(q)),
            "isf": lambda q, s: exp(-(s * ndtri(q))),
        },
        lower=0.0,
        is_open=True,
    ),
    "uniform": Distribution(
        (), lambda x: x.constant(0.0), {"cdf": lambda x: x, "ppf": lambda q: q}, lower=0.0, upper=1.0
    ),
    "logistic": Distribution(
        (),
        lambda x: -absolute(x) - 2.0 * log1p(exp(-absolute(x))),
        {
            "cdf": expit,
            "logcdf": log_expit,
            "sf": lambda x: expit(-x),
            "logsf": lambda x: log_expit(-x),
            "ppf": logit,
            "isf": lambda q: -logit(q),
        },
    ),
    "halfnorm": Distribution(
        (),
        lambda x: 0.5 * math.log(2.0 / math.pi) - x * x / 2.0,
        {
            "cdf": lambda x: erf(x / math.sqrt(2.0)),
            "sf": lambda x: 2.0 * ndtr(-x),
            "ppf": lambda q: ndtri((1.0 + q) / 2.0),
            "isf": lambda q: -ndtri(q / 2.0),
        },
        lower=0.0,
    ),
    "halfcauchy": Distribution(
        (),
        lambda x: math.log(2.0 / math.pi) - log1p(x * x),
        {
            "cdf": lambda x: 2.0 / math.pi * arctan(x),
            "sf": lambda x: 2.0 / math.pi * arctan2(x.constant(1.0), x),
            "ppf": _tangent_of_part,
            "isf": lambda q: 1.0 / _tangent_of_part(q),
        },
        lower=0.0,
    ),
    "chi2": Distribution(
        ("df",),
        lambda x, df: xlogy(df / 2.0 - 1.0, x) - x / 2.0 - lgamma(df / 2.0) - math.log(2.0) * df / 2.0,
        {
            "cdf": lambda x, df: gammainc(df / 2.0, x / 2.0),
            "sf": lambda x, df: gammaincc(df / 2.0, x / 2.0),
        },
        lower=0.0,
    ),
    "invgamma": Distribution(
        ("a",),
        lambda x, a: -(a + 1.0) * log(x) - lgamma(a) - 1.0 / x,
        {"cdf": lambda x, a: gammaincc(a, 1.0 / x), "sf": lambda x, a: gammainc(a, 1.0 / x)},
        lower=0.0,
        is_open=True,
    ),
    "weibull_min": Distribution(
        ("c",),
        lambda x, c: log(c) + xlogy(c - 1.0, x) - x**c,
        {
            "cdf": lambda x, c: -expm1(-(x**c)),
            "sf": lambda x, c: exp(-(x**c)),
            "logsf": lambda x, c: -(x**c),
            "ppf": lambda q, c: (-log1p(-q)) ** (1.0 / c),
            "isf": lambda q, c: (-log(q)) ** (1.0 / c),
        },
        lower=0.0,
    ),
    "pareto": Distribution(
        ("b",),
        lambda x, b: log(b) - (b + 1.0) * log(x),
        {
            "cdf": lambda x, b: 1.0 - x ** (-b),
            "sf": lambda x, b: x ** (-b),
            "ppf": lambda q, b: (1.0 - q) ** (-1.0 / b),
            "isf": lambda q, b: q ** (-1.0 / b),
        },
        lower=1.0,
        inner=2.0,
    ),
    "rayleigh": Distribution(
        (),
        lambda x: log(x) - 0.5 * x * x,
        {
            "cdf": lambda x: -expm1(-0.5 * (x * x)),
            "sf": lambda x: exp(-0.5 * (x * x)),
            "logsf": lambda x: -0.5 * (x * x),
            "ppf": lambda q: sqrt(-2.0 * log1p(-q)),
            "isf": lambda q: sqrt(-2.0 * log(q)),
        },
        lower=0.0,
        is_open=True,
    ),
    "gumbel_r": Distribution(
        (),
        lambda x: -x - exp(-x),
        {
            "cdf": lambda x: exp(-exp(-x)),
            "logcdf": lambda x: -exp(-x),
            "sf": lambda x: -expm1(-exp(-x)),
            "ppf": lambda q: -log(-log(q)),
            "isf": lambda q: -log(-log1p(-q)),
        },
    ),
    "gumbel_l": Distribution(
        (),
        lambda x: x - exp(x),
        {
            "cdf": lambda x: -expm1(-exp(x)),
            "sf": lambda x: exp(-exp(x)),
            "logsf": lambda x: -exp(x),
            "ppf": lambda q: log(-log1p(-q)),
            "isf": lambda q: log(-log(q)),
        },
    ),
    "vonmises": Distribution(("kappa",), _von_mises, is_valid=lambda kappa: kappa >= 0.0),
    "poisson": Distribution(
        ("mu",),
        lambda k, mu: xlogy(k, mu) - lgamma(k + 1.0) - mu,
        {
            "cdf": lambda k, mu: gammaincc(floor(k) + 1.0, mu),
            "sf": lambda k, mu: gammainc(floor(k) + 1.0, mu),
        },
        lower=0.0,
        inner=1.0,
        is_valid=lambda mu: mu >= 0.0,
        is_discrete=True,
    ),
    "binom": Distribution(
        ("n", "p"),
        _binomial,
        lower=0.0,
        upper=lambda n, p: n,
        inner=0.0,
        is_valid=lambda n, p: (n >= 0.0) & n.is_equal(floor(n)) & _is_probability(p),
        is_discrete=True,
    ),
    "bernoulli": Distribution(
        ("p",),
        lambda k, p: xlogy(k, p) + xlog1py(1.0 - k, -p),
        lower=0.0,
        upper=1.0,
        inner=1.0,
        is_valid=_is_probability,
        is_discrete=True,
    ),
    "geom": Distribution(
        ("p",),
        lambda k, p: xlog1py(k - 1.0, -p) + log(p),
        {
            "pmf": lambda k, p: (1.0 - p) ** (k - 1.0) * p,
            "cdf": lambda k, p: -expm1(log1p(-p) * floor(k)),
            "logsf": lambda k, p: floor(k) * log1p(-p),
            "sf": lambda k, p: exp(floor(k) * log1p(-p)),
        },
        lower=1.0,
        inner=1.0,
        is_valid=lambda p: (p > 0.0) & (p <= 1.0),
        is_discrete=True,
    ),
    "nbinom": Distribution(
        ("n", "p"),
        _negative_binomial,
        lower=0.0,
        inner=1.0,
        is_valid=lambda n, p: (n > 0.0) & (p > 0.0) & (p <= 1.0),
        is_discrete=True,
    ),
}
"""The name of a distribution in `scipy.stats` -> what it is."""
