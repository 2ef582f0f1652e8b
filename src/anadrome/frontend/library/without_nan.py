"""Functions that leave NaN out: sums, extrema, spreads, places."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anadrome.dtypes import F64
from anadrome.frontend.arrays import as_array, atom
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library.common import require
from anadrome.frontend.values import Value


def without_nan(reduction: Callable[..., object], instead: float) -> StagedCall:
    """np.nansum and its kin: NaN counts as `instead`"""

    def staged(
        context: Context,
        a: Value,
        axis: Value = None,
        dtype: Value = None,
        *,
        keepdims: Value = False,
        initial: Value = None,
        where: Value = True,
    ) -> Value:
        kept, given = _filled(context, a, instead), {} if dtype is None else {"dtype": dtype}
        return context.call(
            reduction, kept, axis=axis, keepdims=keepdims, initial=initial, where=where, **given
        )

    return staged


def _filled(context: Context, a: Value, instead: float) -> Value:
    found = as_array(context, a)
    return (
        context.call(np.where, context.call(np.isnan, found), instead, found)
        if found.dtype.is_float
        else found
    )


def nan_mean(context: Context, a: Value, axis: Value = None, *, keepdims: Value = False) -> Value:
    """np.nanmean: the sum of what is no NaN over how many there are"""
    call, found = context.call, as_array(context, a)
    if not found.dtype.is_float:
        return call(np.mean, found, axis=axis, keepdims=keepdims)
    total = call(np.sum, _filled(context, found, 0.0), axis=axis, keepdims=keepdims)
    known = call(np.sum, call(np.logical_not, call(np.isnan, found)), axis=axis, keepdims=keepdims)
    return call(np.divide, total, as_array(context, known, found.dtype))


def nan_extremum(reduction: Callable[..., object], instead: float) -> StagedCall:
    """np.nanmin, np.nanmax: of what is no NaN; NaN where there is nothing else"""

    def staged(context: Context, a: Value, axis: Value = None, *, keepdims: Value = False) -> Value:
        call = context.call
        best = call(reduction, _filled(context, a, instead), axis=axis, keepdims=keepdims)
        if not as_array(context, a).dtype.is_float:
            return best
        missing = call(np.all, call(np.isnan, a), axis=axis, keepdims=keepdims)
        return call(np.where, missing, np.nan, best)

    return staged


def nan_to_num(
    context: Context, x: Value, *, nan: Value = 0.0, posinf: Value = None, neginf: Value = None
) -> Value:
    """np.nan_to_num: NaN as a number, the infinities as the greatest and least float"""
    call, found = context.call, as_array(context, x)
    if not found.dtype.is_float:
        return found
    largest = float(np.finfo(np.float64 if found.dtype is F64 else np.float32).max)
    high = largest if posinf is None else posinf
    low = -largest if neginf is None else neginf
    instead, high, low = (as_array(context, one, found.dtype) for one in (nan, high, low))
    finite = call(np.where, call(np.isnan, found), instead, found)
    finite = call(np.where, call(np.equal, found, np.inf), high, finite)
    return call(np.where, call(np.equal, found, -np.inf), low, finite)


def nan_spread(is_root: bool) -> StagedCall:
    """np.nanvar, np.nanstd: of what is no NaN"""

    def staged(
        context: Context, a: Value, axis: Value = None, *, ddof: Value = 0, keepdims: Value = False
    ) -> Value:
        call, found = context.call, as_array(context, a)
        function = np.std if is_root else np.var
        if not found.dtype.is_float:
            return call(function, found, axis=axis, ddof=ddof, keepdims=keepdims)
        known = call(np.logical_not, call(np.isnan, found))
        kept = _filled(context, found, 0.0)
        return call(function, kept, axis=axis, ddof=ddof, keepdims=keepdims, where=known)

    return staged


def nan_position(reduction: Callable[..., object], instead: float) -> StagedCall:
    """np.nanargmin, np.nanargmax: of what is no NaN, of which there must be something"""

    def staged(context: Context, a: Value, axis: Value = None, *, keepdims: Value = False) -> Value:
        call, found = context.call, as_array(context, a)
        place = call(reduction, _filled(context, found, instead), axis=axis, keepdims=keepdims)
        if found.dtype.is_float:
            missing = call(np.any, call(np.all, call(np.isnan, found), axis=axis))
            is_known = atom(context, call(np.logical_not, missing))
            require(context, is_known, "raise", "ValueError: All-NaN slice encountered")
        return place

    return staged


CALLS: dict[Callable[..., object], StagedCall] = {
    np.nansum: without_nan(np.sum, 0.0),
    np.nanprod: without_nan(np.prod, 1.0),
    np.nanmean: nan_mean,
    np.nanmin: nan_extremum(np.min, np.inf),
    np.nanmax: nan_extremum(np.max, -np.inf),
    np.nanvar: nan_spread(is_root=False),
    np.nanstd: nan_spread(is_root=True),
    np.nancumsum: lambda context, a, axis=None: context.call(np.cumsum, _filled(context, a, 0.0), axis=axis),
    np.nancumprod: lambda context, a, axis=None: context.call(
        np.cumprod, _filled(context, a, 1.0), axis=axis
    ),
    np.nan_to_num: nan_to_num,
    np.nanargmin: nan_position(np.argmin, np.inf),
    np.nanargmax: nan_position(np.argmax, -np.inf),
}
