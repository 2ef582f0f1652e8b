"""SciPy's special functions: universal functions that are a row of the table, or a few."""

from __future__ import annotations

import math

import numpy as np
import scipy

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom
from anadrome.dtypes import F64
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.arrays import atom, type_of
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library.common import static_int
from anadrome.frontend.library.creation import new_of
from anadrome.frontend.library.elementwise import ScalarRule, composed, over_elements, universal
from anadrome.frontend.library.incomplete_gamma import incomplete_gamma
from anadrome.frontend.tables import Key, Late
from anadrome.frontend.values import Value


# ---------------------------------------------------------------------------- rules of several rows
def _loggamma(builder: Builder, scalars: tuple[Atom, ...]) -> Atom:
    """log Γ(x) of a real x, which is NaN where x < 0"""
    (x,) = scalars
    is_negative = builder.apply("lt", x, builder.constant(0.0, x))
    return builder.select(is_negative, builder.constant(math.nan, x), builder.apply("lgamma", x))


def _huber(builder: Builder, scalars: tuple[Atom, ...]) -> Atom:
    """r²/2 where |r| ≤ δ, else δ·(|r| - δ/2); ∞ where δ < 0"""
    delta, r = scalars
    zero, half = builder.constant(0.0, r), builder.constant(0.5, r)
    size = builder.apply("abs", r)
    square = builder.mul(half, builder.mul(r, r))
    line = builder.mul(delta, builder.sub(size, builder.mul(half, delta)))
    inside = builder.select(builder.apply("le", size, delta), square, line)
    return builder.select(builder.apply("lt", delta, zero), builder.constant(math.inf, r), inside)


_SPECIAL = (
    *("erf", "erfc", "erfcx", "erfi", "dawsn", "erfinv", "erfcinv", "ndtr", "log_ndtr", "ndtri"),
    *("gamma", "digamma", "beta", "betaln", "betainc", "betaincc"),
    *("j0", "j1", "jv", "y0", "y1", "yv", "i0", "i1", "iv", "i0e", "i1e", "ive"),
    *("k0", "k1", "kv", "k0e", "k1e", "kve"),
    *("log_expit", "logit", "xlogy", "xlog1py", "entr", "rel_entr", "kl_div"),
    *("cbrt", "exp2", "expm1", "log1p"),
)
"""Universal functions of SciPy that have the name of their row."""


def rows() -> dict[np.ufunc, str]:
    """Universal functions that are a row of the table -> its name."""
    return {
        **{getattr(scipy.special, name): name for name in _SPECIAL},
        scipy.special.gammaln: "lgamma",
        scipy.special.expit: "sigmoid",
    }


def composed_rules() -> dict[np.ufunc, ScalarRule]:
    """Universal functions of several rows."""
    return {
        scipy.special.gammainc: incomplete_gamma("gammainc"),
        scipy.special.gammaincc: incomplete_gamma("gammaincc"),
        scipy.special.loggamma: _loggamma,
        scipy.special.huber: _huber,
    }


# ---------------------------------------------------------------------------- other functions
_POLYGAMMA = ("digamma", "trigamma")


def polygamma(context: Context, n: Value, x: Value) -> Value:
    """scipy.special.polygamma of a known order 0 or 1; higher ones are derivatives of these."""
    name = "scipy.special.polygamma"
    order = static_int(context, name, "n", n)
    if order not in range(len(_POLYGAMMA)):
        help = "differentiate `scipy.special.polygamma(1, x)`"
        raise UnsupportedArgument(name, f"the order {order}; 0 and 1 are supported", context.span, help)
    dtype, _ = type_of(context, x)
    within = dtype if dtype.is_float and order == 0 else F64
    row = _POLYGAMMA[order]

    def rule(builder: Builder, scalars: tuple[Atom, ...]) -> Atom:
        return builder.convert(builder.apply(row, builder.convert(scalars[0], within)), F64)

    return new_of(context, atom(context, over_elements(context, (x,), (dtype,), rule, name)))


def _calls() -> dict[Key, StagedCall]:
    return {
        **{ufunc: universal(ufunc, name) for ufunc, name in rows().items()},
        **{ufunc: composed(ufunc, rule) for ufunc, rule in composed_rules().items()},
        scipy.special.polygamma: polygamma,
    }


CALLS = Late("scipy.special", _calls)
