"""Rows of comparison, logic, classification and choice.

`bracket c v` is Iverson's [c]·v: v where c holds, else a zero that stays zero whatever it is multiplied by.
The seeds of Jacobians are brackets, so that what a direction does not reach need not be computed (Bernstein
et al. 2020, §5).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from anadrome.dtypes import BOOL, DType
from anadrome.prims import facts
from anadrome.prims.record import Algebra, Prim
from anadrome.prims.types import ANY, BOOLS, FLOATS, choice, predicate, same

Args = tuple[Any, ...]


def choose(condition: Any, then: Any, other: Any) -> Any:
    """`np.where` that gives a scalar for scalars."""
    return np.where(condition, then, other)[()]


def _select(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """∂ = (none, [c], [not c])"""
    condition = args[0]
    zero, one = algebra.constant(0.0, out), algebra.constant(1.0, out)
    return None, algebra.select(condition, one, zero), algebra.select(condition, zero, one)


def _bracket(algebra: Algebra[Any], args: Args, out: Any) -> Args:
    """∂ = (none, [c])"""
    return None, algebra.apply("bracket", args[0], algebra.constant(1.0, out))


def _expand_bracket(algebra: Algebra[Any], args: Args) -> Any:
    return algebra.select(args[0], args[1], algebra.constant(0.0, args[1]))


def _guarded(args: tuple[DType, ...]) -> DType | None:
    """A bool and a float give that float type."""
    return args[1] if args[0] is BOOL and args[1].is_float else None


def _expand_isnan(algebra: Algebra[Any], args: Args) -> Any:
    """x ≠ x"""
    return algebra.apply("ne", args[0], args[0])


def _expand_isinf(algebra: Algebra[Any], args: Args) -> Any:
    """|x| = ∞"""
    return algebra.apply("eq", algebra.apply("abs", args[0]), algebra.constant(math.inf, args[0]))


def _expand_isfinite(algebra: Algebra[Any], args: Args) -> Any:
    """|x| < ∞, which is false of NaN"""
    return algebra.apply("lt", algebra.apply("abs", args[0]), algebra.constant(math.inf, args[0]))


def _compare(name: str, symbol: str, numpy: Any, words: frozenset[str] = facts.COMPARISON) -> Prim:
    return Prim(name, 2, predicate(ANY), numpy, zero_derivative=True, facts=words, symbol=symbol)


ROWS = (
    _compare("eq", "==", np.equal, facts.SYMMETRIC_COMPARISON),
    _compare("ne", "!=", np.not_equal, facts.SYMMETRIC_COMPARISON),
    _compare("lt", "<", np.less),
    _compare("le", "<=", np.less_equal),
    _compare("gt", ">", np.greater),
    _compare("ge", ">=", np.greater_equal),
    Prim("and", 2, same(BOOLS), np.logical_and, zero_derivative=True, facts=facts.LATTICE, symbol="and"),
    Prim("or", 2, same(BOOLS), np.logical_or, zero_derivative=True, facts=facts.LATTICE, symbol="or"),
    Prim("not", 1, same(BOOLS), np.logical_not, zero_derivative=True, facts=facts.INVOLUTION, symbol="not"),
    Prim("xor", 2, same(BOOLS), np.logical_xor, zero_derivative=True, facts=facts.SEMIGROUP, symbol="^"),
    Prim("select", 3, choice, choose, _select, symbol="np.where"),
    Prim(
        "bracket",
        2,
        _guarded,
        lambda condition, value: choose(condition, value, np.zeros_like(value)),
        _bracket,
        expansion=_expand_bracket,
    ),
    Prim(
        "isnan",
        1,
        predicate(FLOATS),
        np.isnan,
        zero_derivative=True,
        expansion=_expand_isnan,
        symbol="np.isnan",
    ),
    Prim(
        "isinf",
        1,
        predicate(FLOATS),
        np.isinf,
        zero_derivative=True,
        expansion=_expand_isinf,
        symbol="np.isinf",
    ),
    Prim(
        "isfinite",
        1,
        predicate(FLOATS),
        np.isfinite,
        zero_derivative=True,
        expansion=_expand_isfinite,
        symbol="np.isfinite",
    ),
)
