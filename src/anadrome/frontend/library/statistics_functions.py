"""The functions of Python's `statistics` on sequences of run-time floats.

Python adds exactly and rounds once; here sums are those of floats, as NumPy's. Whole numbers are refused
where Python gives an integer or a float by their values.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

import numpy as np

from anadrome.array_ir.nodes import i64
from anadrome.dtypes import F64
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.arrays import as_array, atom, type_of
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library.common import require
from anadrome.frontend.values import Scalar, Staged, Value


def _numbers(context: Context, name: str, data: Value, least: int = 1, is_float: bool = True) -> Staged:
    """The data as a vector, of which there must be so many."""
    found = as_array(context, data)
    if len(found.shape) != 1:
        raise UnsupportedArgument(name, "a sequence of numbers is expected", context.span)
    if is_float and not found.dtype.is_float:
        help = "convert them, `[float(v) for v in data]`, or use `statistics.fmean`"
        raise UnsupportedArgument(name, "whole numbers, of which the result may be one", context.span, help)
    words = (
        f"ValueError: {name}: {least} numbers are needed" if least > 1 else f"ValueError: {name}: no numbers"
    )
    is_enough = context.builder.apply("ge", found.shape[0], i64(least))
    require(context, is_enough, "raise", words)
    return found


def _number(context: Context, data: Value, found: Value) -> Value:
    """A result as Python has it: of Python's floats one of them, of NumPy's one of those."""
    is_python = isinstance(data, list | tuple) and all(type_of(context, one)[1] for one in data)
    return Scalar(atom(context, found), is_weak=is_python)


def reduced(name: str, function: Callable[..., object], least: int = 1, **given: Value) -> StagedCall:
    """A function that NumPy has as well."""
    full = f"statistics.{name}"

    def staged(context: Context, data: Value) -> Value:
        found = _numbers(context, full, data, least)
        return _number(context, data, context.call(function, found, **given))

    return staged


def fast_mean(context: Context, data: Value, weights: Value = None) -> Value:
    """statistics.fmean: a float, of weighted numbers Σ w·x / Σ w"""
    found = as_array(context, _numbers(context, "statistics.fmean", data, is_float=False), F64)
    if weights is None:
        return Scalar(atom(context, context.call(np.mean, found)), is_weak=True)
    shares = as_array(context, weights, F64)
    return Scalar(atom(context, context.call(np.average, found, weights=shares)), is_weak=True)


def median_of(name: str, is_high: bool) -> StagedCall:
    """statistics.median_low, median_high: an element, of an even number the smaller or larger middle one"""
    full = f"statistics.{name}"

    def staged(context: Context, data: Value) -> Value:
        call, found = context.call, _numbers(context, full, data, is_float=False)
        builder, size = context.builder, found.shape[0]
        place = builder.size("floordiv", size if is_high else builder.size("sub", size, i64(1)), i64(2))
        return _number(context, data, call(np.take, call(np.sort, found), Scalar(place, is_weak=True)))

    return staged


def spread_about(name: str, is_root: bool, ddof: int) -> StagedCall:
    """statistics.variance, pvariance, and their roots: about the mean, or about a number that is given"""
    full = f"statistics.{name}"

    def staged(context: Context, data: Value, mean: Value = None) -> Value:
        call, found = context.call, _numbers(context, full, data, ddof + 1)
        if mean is None:
            return _number(context, data, call(np.std if is_root else np.var, found, ddof=ddof))
        total = call(np.sum, call(np.square, call(np.subtract, found, mean)))
        degrees = context.builder.convert(context.builder.size("sub", found.shape[0], i64(ddof)), F64)
        variance = call(np.divide, total, Scalar(degrees, is_weak=True))
        return _number(context, data, call(np.sqrt, variance) if is_root else variance)

    return staged


def _about(name: str, argument: str, is_root: bool, ddof: int) -> StagedCall:
    """The form with the name that Python has for the mean."""
    form = spread_about(name, is_root, ddof)
    if argument == "mu":
        return lambda context, data, mu=None: form(context, data, mu)
    return lambda context, data, xbar=None: form(context, data, xbar)


def geometric_mean(context: Context, data: Value) -> Value:
    """statistics.geometric_mean: exp of the mean logarithm, a float"""
    name = "statistics.geometric_mean"
    found = as_array(context, _numbers(context, name, data, is_float=False), F64)
    is_positive = atom(context, context.call(np.all, context.call(np.greater, found, 0)))
    require(context, is_positive, "raise", f"ValueError: {name}: a number is not positive")
    mean = context.call(np.mean, context.call(np.log, found))
    return Scalar(atom(context, context.call(np.exp, mean)), is_weak=True)


def harmonic_mean(context: Context, data: Value, weights: Value = None) -> Value:
    """statistics.harmonic_mean: Σ w / Σ (w/x)"""
    name, call, builder = "statistics.harmonic_mean", context.call, context.builder
    found = _numbers(context, name, data)
    is_negative = atom(context, call(np.any, call(np.less, found, 0)))
    require(context, builder.apply("not", is_negative), "raise", f"ValueError: {name}: a number is negative")
    shares = call(np.ones_like, found) if weights is None else as_array(context, weights, F64)
    return _number(
        context, data, call(np.divide, call(np.sum, shares), call(np.sum, call(np.divide, shares, found)))
    )


CALLS: dict[Callable[..., object], StagedCall] = {
    statistics.mean: reduced("mean", np.mean),
    statistics.fmean: fast_mean,
    statistics.median: reduced("median", np.median),
    statistics.median_low: median_of("median_low", is_high=False),
    statistics.median_high: median_of("median_high", is_high=True),
    statistics.variance: _about("variance", "xbar", is_root=False, ddof=1),
    statistics.stdev: _about("stdev", "xbar", is_root=True, ddof=1),
    statistics.pvariance: _about("pvariance", "mu", is_root=False, ddof=0),
    statistics.pstdev: _about("pstdev", "mu", is_root=True, ddof=0),
    statistics.geometric_mean: geometric_mean,
    statistics.harmonic_mean: harmonic_mean,
}
