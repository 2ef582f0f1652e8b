"""Rows of the logistic function and its inverse, and of products with a logarithm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anadrome.prims import facts
from anadrome.prims.record import Algebra, Expansion, Partials, Prim
from anadrome.prims.series import of_scipy
from anadrome.prims.types import FLOATS, same

Args = tuple[Any, ...]


def _zero(algebra: Algebra[Any], x: Any) -> Any:
    return algebra.constant(0.0, x)


def _one(algebra: Algebra[Any], x: Any) -> Any:
    return algebra.constant(1.0, x)


# ---------------------------------------------------------------------------- logistic function
def _sigmoid(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """out·σ(-x), where 1 - out would have lost the digits of σ(-x) for large x"""
    return (algebra.mul(out, algebra.apply("sigmoid", algebra.neg(args[0]))),)


def _expand_sigmoid(algebra: Algebra[Any], args: Args) -> Any:
    """With e = exp(-|x|), which is that of σ(-x) in the derivative as well: 1/(1 + e), e/(1 + e) for x < 0"""
    (x,) = args
    one = _one(algebra, x)
    small = algebra.apply("exp", algebra.neg(algebra.apply("abs", x)))
    is_negative = algebra.apply("lt", x, _zero(algebra, x))
    return algebra.div(algebra.select(is_negative, small, one), algebra.add(one, small))


def _log_expit(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """σ(-x)"""
    return (algebra.apply("sigmoid", algebra.neg(args[0])),)


def _expand_log_expit(algebra: Algebra[Any], args: Args) -> Any:
    """min(x, 0) - log(1 + exp(-|x|))"""
    (x,) = args
    small = algebra.apply("exp", algebra.neg(algebra.apply("abs", x)))
    return algebra.sub(algebra.apply("min", x, _zero(algebra, x)), algebra.apply("log1p", small))


def _logit(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """1 / (p·(1 - p))"""
    (p,) = args
    return (algebra.div(_one(algebra, p), algebra.mul(p, algebra.sub(_one(algebra, p), p))),)


def _expand_logit(algebra: Algebra[Any], args: Args) -> Any:
    """log(p/(1 - p)); between 0.3 and 0.65, with s = 2p - 1, log(1 + s) - log(1 - s), exact near ½"""
    (p,) = args
    one = _one(algebra, p)
    is_outside = algebra.apply(
        "or",
        algebra.apply("lt", p, algebra.constant(0.3, p)),
        algebra.apply("gt", p, algebra.constant(0.65, p)),
    )
    outside = algebra.apply("log", algebra.div(p, algebra.sub(one, p)))
    twice = algebra.mul(algebra.constant(2.0, p), algebra.sub(p, algebra.constant(0.5, p)))
    inside = algebra.sub(algebra.apply("log1p", twice), algebra.apply("log1p", algebra.neg(twice)))
    return algebra.select(is_outside, outside, inside)


# ---------------------------------------------------------------------------- products with a logarithm
def _without(algebra: Algebra[Any], x: Any, y: Any, product: Any) -> Any:
    """The product of x and a function of y; 0 where x is 0 and y is a number."""
    is_zero = algebra.apply("eq", x, _zero(algebra, x))
    is_number = algebra.apply("not", algebra.apply("isnan", y))
    return algebra.select(algebra.apply("and", is_zero, is_number), _zero(algebra, x), product)


def _xlogy(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """(log y, x/y), where the second is 0 for x = 0, as the function is 0 there for every y"""
    x, y = args
    return algebra.apply("log", y), _without(algebra, x, y, algebra.div(x, y))


def _expand_xlogy(algebra: Algebra[Any], args: Args) -> Any:
    x, y = args
    return _without(algebra, x, y, algebra.mul(x, algebra.apply("log", y)))


def _xlog1py(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """(log(1 + y), x/(1 + y)), where the second is 0 for x = 0"""
    x, y = args
    ratio = algebra.div(x, algebra.add(_one(algebra, y), y))
    return algebra.apply("log1p", y), _without(algebra, x, y, ratio)


def _expand_xlog1py(algebra: Algebra[Any], args: Args) -> Any:
    x, y = args
    return _without(algebra, x, y, algebra.mul(x, algebra.apply("log1p", y)))


def _entr(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """-log x - 1, which is ∞ at 0"""
    (x,) = args
    return (algebra.sub(algebra.neg(algebra.apply("log", x)), _one(algebra, x)),)


def _expand_entr(algebra: Algebra[Any], args: Args) -> Any:
    """-x·log x, 0 at 0, -∞ below"""
    (x,) = args
    zero = _zero(algebra, x)
    product = algebra.neg(algebra.mul(x, algebra.apply("log", x)))
    inside = algebra.select(algebra.apply("eq", x, zero), zero, product)
    return algebra.select(algebra.apply("lt", x, zero), algebra.constant(float("-inf"), x), inside)


def _log_ratio(algebra: Algebra[Any], x: Any, y: Any) -> Any:
    """log(x/y); by two logarithms where the ratio leaves the range of floats, and ∞ where y is 0"""
    ratio = algebra.div(x, y)
    is_normal = algebra.apply(
        "and",
        algebra.apply("gt", ratio, algebra.constant(1e-30, x)),
        algebra.apply("lt", ratio, algebra.constant(1e30, x)),
    )
    difference = algebra.sub(algebra.apply("log", x), algebra.apply("log", y))
    found = algebra.select(is_normal, algebra.apply("log", ratio), difference)
    is_zero = algebra.apply("eq", y, _zero(algebra, y))
    return algebra.select(is_zero, algebra.constant(float("inf"), y), found)


def _rel_entr(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """(log(x/y) + 1, -x/y), where the second is 0 for x = 0"""
    x, y = args
    by_first = algebra.add(_log_ratio(algebra, x, y), _one(algebra, x))
    return by_first, algebra.neg(_without(algebra, x, y, algebra.div(x, y)))


def _kl_div(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """(log(x/y), 1 - x/y), where the second is 1 for x = 0"""
    x, y = args
    ratio = _without(algebra, x, y, algebra.div(x, y))
    return _log_ratio(algebra, x, y), algebra.sub(_one(algebra, x), ratio)


# ---------------------------------------------------------------------------- rows
def _row(
    name: str, partials: Partials, arity: int = 1, expansion: Expansion | None = None, **rest: Any
) -> Prim:
    numpy: Callable[..., Any] = of_scipy("expit" if name == "sigmoid" else name)
    return Prim(
        name,
        arity,
        same(FLOATS),
        numpy,
        partials,
        expansion=expansion,
        special="" if expansion is not None else name,
        cost=10,
        symbol=f"scipy.special.{numpy.__name__}",
        **rest,
    )


_POSITIVE = ((0.05, 8.0),)

ROWS = (
    _row("sigmoid", _sigmoid, expansion=_expand_sigmoid),
    _row("log_expit", _log_expit, expansion=_expand_log_expit),
    _row("logit", _logit, expansion=_expand_logit, sample=((0.02, 0.98),), facts=facts.POLE),
    _row("xlogy", _xlogy, 2, _expand_xlogy, sample=_POSITIVE, facts=facts.POLE),
    _row("xlog1py", _xlog1py, 2, _expand_xlog1py, sample=((-3.0, 3.0), (-0.9, 8.0)), facts=facts.POLE),
    _row("entr", _entr, expansion=_expand_entr, sample=_POSITIVE, facts=facts.POLE),
    _row("rel_entr", _rel_entr, 2, sample=_POSITIVE, facts=facts.POLE),
    _row("kl_div", _kl_div, 2, sample=_POSITIVE, facts=facts.POLE),
)
