"""How SciPy's functions are called: special functions, distributions, splines; the kinds are of `recipes`."""

from __future__ import annotations

PLACES = "(np.arange(len({a})), np.arange(len({a})))"
SHAPE = "shape=(len({a}), len({a}))"
DIAGONAL = f"({{a}} * 2.0, {PLACES}), {SHAPE}"
REGULAR = f"(1.0 + np.abs({{a}}), {PLACES}), {SHAPE}"
"""The arguments that make diagonal matrices."""

CALLS: dict[str, tuple[str, ...]] = {
    # -------------------------------------------------------------------- special functions
    **{
        f"special.{name}": ("v m z", f"special.{name}({{a}})")
        for name in (
            *("erfcx", "erfi", "dawsn", "ndtr", "log_ndtr", "gamma", "loggamma", "j0", "j1", "y0", "y1"),
            *("i0", "i1", "i0e", "i1e", "k0", "k1", "k0e", "k1e", "log_expit", "entr"),
        )
    },
    **{
        f"special.{name}": ("u", f"special.{name}({{a}})") for name in ("erfinv", "erfcinv", "ndtri", "logit")
    },
    **{
        f"special.{name}": ("v m", f"special.{name}({{a}}, {{a}})", f"special.{name}({{a}}, 2)")
        for name in (
            *("beta", "betaln", "xlogy", "xlog1py", "rel_entr", "kl_div", "gammainc", "gammaincc", "huber"),
            *("jv", "yv", "iv", "ive", "kv", "kve"),
        )
    },
    **{
        f"special.{name}.outer": ("v", f"special.{name}.outer({{a}}, {{a}})")
        for name in (
            *("beta", "betaln", "xlogy", "xlog1py", "rel_entr", "kl_div", "gammainc", "gammaincc", "huber"),
            *("jv", "yv", "iv", "ive", "kv", "kve"),
        )
    },
    **{
        f"special.{name}": ("u", f"special.{name}(2.0, 3.0, {{a}})", f"special.{name}({{a}}, {{a}}, {{a}})")
        for name in ("betainc", "betaincc")
    },
    "special.polygamma": ("v", "special.polygamma(1, {a})"),
    "special.logsumexp": ("v m", "special.logsumexp({a}, b={a})", "special.logsumexp({a}, axis=0, b=2.0)"),
    # -------------------------------------------------------------------- sparse matrices
    **{
        f"sparse.{name}": (
            "v",
            f"sparse.{name}({DIAGONAL}) @ np.arange(float(len({{a}})))",
            *(f"sparse.{name}({DIAGONAL}).T.data", f"sparse.{name}({DIAGONAL}).toarray()"),
            f"2.0 * {{a}} @ sparse.{name}({DIAGONAL})",
        )
        for name in ("csr_array", "csc_array", "coo_array", "csr_matrix", "csc_matrix", "coo_matrix")
    },
    "sparse.linalg.spsolve": ("v", f"sparse.linalg.spsolve(sparse.csr_array({REGULAR}), {{a}})"),
    "sparse.linalg.splu": ("v", f"sparse.linalg.splu(sparse.csc_array({REGULAR})).solve({{a}}, 'T')"),
    "sparse.linalg.factorized": ("v", f"sparse.linalg.factorized(sparse.csc_array({REGULAR}))({{a}})"),
    "sparse.issparse": ("v", "float(sparse.issparse({a}))"),
    # -------------------------------------------------------------------- distributions
    **{
        f"stats.rv_continuous.{name}": (
            "v m z",
            *(f"stats.norm.{name}({{a}}, 0.5, 2.0)", f"stats.gumbel_l.{name}({{a}})"),
        )
        for name in ("logpdf", "pdf", "cdf", "logcdf", "sf", "logsf")
    },
    **{
        f"stats.rv_continuous.{name}": (
            "u",
            *(f"stats.norm.{name}({{a}})", f"stats.expon.{name}({{a}}, scale={{a}})"),
        )
        for name in ("ppf", "isf")
    },
    **{
        f"stats.rv_discrete.{name}": ("i v", f"stats.poisson.{name}({{a}}, 2.5)")
        for name in ("logpmf", "pmf", "cdf", "logcdf", "sf", "logsf")
    },
    **{
        f"type(stats.norm()).{name}": (
            "v",
            *(f"stats.norm(0.5).{name}({{a}})", f"stats.norm({{a}}).{name}(1.0)"),
        )
        for name in ("logpdf", "pdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
    },
    **{
        f"type(stats.poisson(1.0)).{name}": ("i", f"stats.poisson(2.5).{name}({{a}})")
        for name in ("logpmf", "pmf")
    },
    "stats.rv_continuous.__call__": ("v", "stats.norm({a}).pdf({a})", "stats.gamma(a={a}).logpdf(2.0)"),
    **{
        f"type({kind}).{name}": ("v", *(call.replace("METHOD", name) for call in calls))
        for name in ("logpdf", "pdf")
        for kind, calls in {
            "stats.multivariate_normal": (
                "stats.multivariate_normal.METHOD({a})",
                "stats.multivariate_normal.METHOD({a}, {a}, np.eye(len({a})))",
            ),
            "stats.dirichlet": ("stats.dirichlet.METHOD({a} / np.sum({a}), {a})",),
            "stats.multivariate_normal([0.0])": ("stats.multivariate_normal(2.0, 3.0).METHOD({a})",),
            "stats.dirichlet([1.0, 1.0])": (
                "stats.dirichlet(np.array([1.0, 2.0])).METHOD(np.array([0.3, 0.7]))",
            ),
        }.items()
    },
    "type(stats.multivariate_normal).__call__": ("v", "stats.multivariate_normal({a}[0]).pdf({a})"),
    "type(stats.dirichlet).__call__": ("v", "stats.dirichlet({a}).logpdf({a} / np.sum({a}))"),
    # -------------------------------------------------------------------- splines
    "interpolate.CubicSpline": (
        "v",
        *("interpolate.CubicSpline(np.arange(5.0), np.sin(np.arange(5.0)))({a})",),
        *("interpolate.CubicSpline(np.arange(float(len({a}))), {a}, bc_type='natural')(1.5)",),
        "interpolate.CubicSpline(np.arange(float(len({a}))), {a}).derivative()({a})",
    ),
    "interpolate.CubicHermiteSpline": (
        "v",
        "interpolate.CubicHermiteSpline(np.arange(float(len({a}))), {a}, {a})({a})",
    ),
    "interpolate.PPoly.__call__": (
        "v m",
        "interpolate.CubicSpline([0.0, 1.0, 2.0], [1.0, 3.0, 2.0])({a}, 1)",
    ),
    "interpolate.PPoly.integrate": (
        "v",
        "interpolate.CubicSpline([0.0, 1.0, 2.0], [1.0, 3.0, 2.0]).integrate({a}[0], 0.5)",
    ),
}  # fmt: skip
"""Name -> the kinds, then calls."""
