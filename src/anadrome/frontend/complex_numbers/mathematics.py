"""The functions of `cmath`: of one number, with Python numbers as their results."""

from __future__ import annotations

import cmath
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.arrays import describe
from anadrome.frontend.complex_numbers import formulas, operators
from anadrome.frontend.complex_numbers.formulas import RealRule, Rule
from anadrome.frontend.complex_numbers.making import as_python
from anadrome.frontend.complex_numbers.parts import complex_of
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.values import Complex, Value


def polar(context: Context, z: Value) -> Value:
    """cmath.polar"""
    return operators.over_real(context, z, formulas.absolute, "cmath.polar"), phase(context, z)


def phase(context: Context, z: Value) -> Value:
    """cmath.phase"""
    return operators.over_real(context, z, formulas.angle, "cmath.phase")


def rectangular(context: Context, r: Value, phi: Value) -> Value:
    """cmath.rect"""
    turn = operators.over_pairs(context, (operators.multiply(context, 1j, phi),), formulas.exp, "cmath.rect")
    return as_python(context, operators.multiply(context, r, turn))


def of_number(name: str, rule: Rule) -> StagedCall:
    """A function of `cmath`: of one number, with a Python complex as its result"""

    def staged(context: Context, z: Value) -> Value:
        return as_python(context, operators.over_pairs(context, (_number(context, name, z),), rule, name))

    return staged


def ask_number(name: str, rule: RealRule) -> StagedCall:
    """A question of `cmath`"""

    def staged(context: Context, z: Value) -> Value:
        return operators.over_real(context, _number(context, name, z), rule, name)

    return staged


def _number(context: Context, name: str, value: Value) -> Complex:
    found = complex_of(context, value)
    if found.shape:
        raise UnsupportedArgument(name, f"{describe(value)}, which is no number", context.span, "use NumPy's")
    return found


def logarithm(context: Context, z: Value, base: Value = None) -> Value:
    """cmath.log"""
    found = of_number("cmath.log", formulas.log)(context, z)
    if base is None:
        return found
    return as_python(context, operators.divide(context, found, logarithm(context, base)))


def _built(name: str, function: Callable[..., object]) -> StagedCall:
    rule = formulas.UNARY[function]  # type: ignore[index]
    return of_number(f"cmath.{name}", rule)


_MATHEMATICS: Mapping[Callable[..., object], Callable[..., object]] = {
    cmath.exp: np.exp,
    cmath.sqrt: np.sqrt,
    cmath.log10: np.log10,
    cmath.sin: np.sin,
    cmath.cos: np.cos,
    cmath.tan: np.tan,
    cmath.asin: np.arcsin,
    cmath.acos: np.arccos,
    cmath.atan: np.arctan,
    cmath.sinh: np.sinh,
    cmath.cosh: np.cosh,
    cmath.tanh: np.tanh,
    cmath.asinh: np.arcsinh,
    cmath.acosh: np.arccosh,
    cmath.atanh: np.arctanh,
}
"""Functions of `cmath` -> NumPy's functions of the same formula."""


CALLS: dict[Callable[..., Any], StagedCall] = {
    **{name: _built(name.__name__, ufunc) for name, ufunc in _MATHEMATICS.items()},
    cmath.log: logarithm,
    cmath.phase: phase,
    cmath.polar: polar,
    cmath.rect: rectangular,
    cmath.isnan: ask_number("cmath.isnan", formulas.either("isnan")),
    cmath.isinf: ask_number("cmath.isinf", formulas.either("isinf")),
    cmath.isfinite: ask_number("cmath.isfinite", formulas.is_finite),
}
"""A function of `cmath` -> its compiled form."""
