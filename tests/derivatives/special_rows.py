"""The special functions whose derivatives are tried, by the kind of their arguments."""

from __future__ import annotations

import scipy.special as special
from scipy.interpolate import CubicHermiteSpline, CubicSpline, PPoly

from anadrome.frontend.library import CALLS

UNIT = [
    *(special.erfcx, special.erfi, special.dawsn, special.erfinv, special.erfcinv, special.ndtr),
    *(special.log_ndtr, special.ndtri, special.gamma, special.loggamma, special.digamma, special.logit),
    *(special.log_expit, special.entr, special.j0, special.j1, special.y0, special.y1, special.i0),
    *(special.i1, special.i0e, special.i1e, special.k0, special.k1, special.k0e, special.k1e),
    *(lambda x: special.polygamma(0, x), lambda x: special.polygamma(1, x)),
]
"""Of one argument in (0, 1)."""
PAIRS = [
    *(special.beta, special.betaln, special.xlogy, special.xlog1py, special.rel_entr, special.kl_div),
    special.huber,
]
"""Of two positive arguments."""
INCOMPLETE = [special.gammainc, special.gammaincc]
OF_AN_ORDER = [special.jv, special.yv, special.iv, special.ive, special.kv, special.kve]
OF_PARAMETERS = [special.betainc, special.betaincc]
"""With arguments by which there is no derivative."""

SPLINES = {CubicSpline, CubicHermiteSpline, PPoly.__call__, PPoly.integrate}
DISTRIBUTIONS = {one for one in CALLS if str(getattr(one, "__module__", "")).startswith("scipy.stats")}
"""Methods of distributions: `test_distributions` goes through their table."""

KEYS = {*UNIT, *PAIRS, *INCOMPLETE, *OF_AN_ORDER, *OF_PARAMETERS, special.polygamma, *SPLINES, *DISTRIBUTIONS}
