"""Results that are written into an array: `out=` and `where=`, and what writes in place, as `np.copyto`.

What is computed is computed first and written then, so that an operand may be the array that is written or
share its memory, as in NumPy.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Size, Var, i64
from anadrome.dtypes import BOOL
from anadrome.errors.frontend import ComplexRefused, ShapeMismatch, UnsupportedArgument
from anadrome.frontend.arrays import as_array, atom, describe
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library.common import (
    array_var,
    axis_of,
    built,
    refused,
    require,
    static_flag,
    table_name,
)
from anadrome.frontend.library.order import require_kth, sort
from anadrome.frontend.sizes import agree, show_shape, size_value
from anadrome.frontend.values import Array, Complex, Scalar, Value
from anadrome.frontend.views import refuse_write
from anadrome.frontend.writing import put

Target = Array | Complex
Write = Callable[[Context, str, Target, Value, Value, Value], None]
"""(context, name, array, value, mask, casting) -> None: `write`, or that of complex arrays"""

REDUCED = frozenset(
    {
        *(np.sum, np.prod, np.mean, np.std, np.var, np.min, np.max, np.amin, np.amax, np.ptp, np.any, np.all),
        *(np.argmin, np.argmax, np.cumsum, np.cumprod, np.clip, np.round, np.around, np.take, np.compress),
        *(np.dot, np.concatenate, np.stack, np.einsum, np.outer, np.trace, np.median, np.quantile),
        *(np.percentile, np.nansum, np.nanprod, np.nanmean, np.nanmin, np.nanmax, np.fix),
    }
)
"""Functions that take `out=` besides the universal ones: an array of just the result's shape."""
METHODS_INTO = frozenset(
    {
        *("sum", "prod", "mean", "std", "var", "min", "max", "any", "all", "argmin", "argmax", "cumsum"),
        *("cumprod", "clip", "round", "take", "dot", "trace"),
    }
)
"""Methods that do."""


# ---------------------------------------------------------------------------- writing
def write(
    context: Context,
    name: str,
    target: Target,
    value: Value,
    mask: Value = True,
    casting: Value = "same_kind",
) -> None:
    """The value into an array, broadcast to it; where there is a mask, at the places where it holds."""
    assert isinstance(target, Array)
    require_cast(context, name, as_array(context, value).dtype.numpy, target.dtype.numpy, casting)
    if mask is not True:
        holds = mask_of(context, name, mask)
        value = context.call(np.where, holds, as_array(context, value, target.dtype), target)
    put(context, target, Ellipsis, value)


def mask_of(context: Context, name: str, mask: Value) -> Value:
    """What `where=` is: booleans."""
    holds = as_array(context, mask)
    if holds.dtype is not BOOL:
        raise UnsupportedArgument(name, f"`where` is {describe(mask)}", context.span, "give it booleans")
    return holds


def require_cast(
    context: Context, name: str, own: np.dtype[Any], held: np.dtype[Any], casting: Value
) -> None:
    """Refuse what NumPy's rule of casting does, as floats into integers."""
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        help = "take 'same_kind' or 'unsafe'"
        raise UnsupportedArgument(name, f"`casting={casting!r}`", context.span, help)
    if not np.can_cast(own, held, casting=casting):
        reason = f"values of type {own} for an array of type {held}"
        help = f"make the array with `dtype={own}`, or ask for it: `casting='unsafe'`"
        raise UnsupportedArgument(name, reason, context.span, help)


def target_of(context: Context, name: str, given: Value) -> Target | None:
    """The array that is asked to hold the result."""
    if isinstance(given, tuple) and len(given) == 1:
        (given,) = given
    if given is None:
        return None
    is_number = isinstance(given, Complex) and not given.shape
    if isinstance(given, Array | Complex) and not given.list_depth and not is_number:
        return given
    if isinstance(given, np.ndarray):
        refuse_write(context, given)
    raise UnsupportedArgument(name, f"`out` is {describe(given)}", context.span, "give it an array")


def _target(context: Context, name: str, given: Value) -> Target:
    """The array that is written."""
    found = target_of(context, name, given)
    if found is None:
        raise UnsupportedArgument(name, "None is not written into", context.span, "give it an array")
    return found


def _real_target(context: Context, name: str, given: Value) -> Array:
    found = _target(context, name, given)
    if isinstance(found, Complex):
        raise ComplexRefused(f"`{name}`", describe(given), context.span)
    return found


# ---------------------------------------------------------------------------- out= and where=
def into(function: Callable[..., object], form: StagedCall, write: Write = write) -> StagedCall:
    """The form with `out=`, and of a universal function `where=`; other forms as they are."""
    if isinstance(function, np.ufunc) and function.nout == 1:
        return _universal(function, form, write)
    if function not in REDUCED:
        return form
    return _reduced(table_name(function), _parameters(function), form, write)


def method_into(name: str, form: StagedCall, write: Write = write) -> StagedCall:
    """The form of a method with `out=`, where it takes that."""
    if name not in METHODS_INTO:
        return form
    return _reduced(f".{name}", _parameters(getattr(np, name)), form, write)


def _universal(ufunc: np.ufunc, form: StagedCall, write: Write) -> StagedCall:
    name = table_name(ufunc)

    def staged(context: Context, *args: Value, **kwargs: Value) -> Value:
        given = kwargs.pop("out", None)
        if given is None and len(args) == ufunc.nin + 1:
            *args, given = args  # type: ignore[assignment]
        mask = kwargs.pop("where", True)
        target = target_of(context, name, given)
        if target is None:
            if mask is not True:
                raise UnsupportedArgument(name, "`where` without `out`", context.span, _WHERE_HELP)
            return form(context, *args, **kwargs)
        casting = kwargs.pop("casting", "same_kind")
        write(context, name, target, form(context, *args, **kwargs), mask, casting)
        return target

    return staged


_WHERE_HELP = "what is left out would be undefined: give `out=`, or use `np.where(mask, value, other)`"


def _parameters(function: Callable[..., object]) -> list[str]:
    """The parameters that may be given by their place."""
    named = inspect.signature(function).parameters.values()
    return [one.name for one in named if one.kind is not one.KEYWORD_ONLY]


def _reduced(name: str, parameters: Sequence[str], form: StagedCall, write: Write) -> StagedCall:
    """With `out=`, by its name or in its place among the parameters."""
    place = parameters.index("out") if "out" in parameters else 0

    def staged(context: Context, *args: Value, **kwargs: Value) -> Value:
        if len(args) > place > 0:
            kwargs |= dict(zip(parameters[place:], args[place:], strict=False))
            args = args[:place]
        target = target_of(context, name, kwargs.pop("out", None))
        result = form(context, *args, **kwargs)
        if target is None:
            return result
        own = _shape_of(context, result)
        words = (show_shape(target.shape), show_shape(own))
        if len(own) != len(target.shape):
            raise ShapeMismatch(f"`out` of {name}", *words, context.span)
        for left, right in zip(target.shape, own, strict=True):
            agree(context, left, right, name, words)
        write(context, name, target, result, True, "same_kind")
        return target

    return staged


def _shape_of(context: Context, value: Value) -> tuple[Size, ...]:
    match value:
        case Complex():
            return value.shape
        case complex():
            return ()
        case _:
            return as_array(context, value).shape


# ---------------------------------------------------------------------------- by a mask
def copying(write: Write = write) -> StagedCall:
    """np.copyto"""

    def staged(
        context: Context, dst: Value, src: Value, casting: Value = "same_kind", where: Value = True
    ) -> Value:
        target = _target(context, "np.copyto", dst)
        if isinstance(src, int | float) and not isinstance(src, bool):  # it takes the array's type
            is_whole = isinstance(src, int) and target.dtype is not BOOL
            fits = is_whole or isinstance(target, Complex) or target.dtype.is_float
            casting = "unsafe" if fits else casting
        write(context, "np.copyto", target, src, where, casting)
        return None

    return staged


def filling(write: Write = write) -> StagedCall:
    """x.fill(value): one number everywhere; a number of NumPy's stays what it is"""

    def staged(context: Context, array: Value, value: Value) -> Value:
        number = array.real if isinstance(array, Complex) else array
        if isinstance(number, Scalar) and not number.is_weak:
            return None
        target = array if isinstance(array, Complex) else _target(context, "fill", array)
        if _shape_of(context, value):
            help = "write `x[...] = values`"
            raise UnsupportedArgument("fill", "an array where a number is expected", context.span, help)
        write(context, "fill", target, value, True, "unsafe")
        return None

    return staged


def put_mask(context: Context, a: Value, mask: Value, values: Value) -> Value:
    """np.putmask of values of the array's shape, or of one number"""
    name = "np.putmask"
    target, own = _real_target(context, name, a), as_array(context, values)
    if own.shape and len(own.shape) != len(target.shape):
        raise UnsupportedArgument(name, "values of another shape, which NumPy repeats", context.span)
    if isinstance(values, np.ndarray) or (isinstance(values, Array) and not values.list_depth):
        require_cast(context, name, own.dtype.numpy, target.dtype.numpy, "safe")
    holds = as_array(context, mask)
    if len(holds.shape) != len(target.shape):
        raise UnsupportedArgument(name, "a mask of another shape", context.span)
    for one in (own, holds):
        for left, right in zip(target.shape, one.shape, strict=False):
            agree(context, left, right, name)
    holds = holds if holds.dtype is BOOL else as_array(context, context.call(np.not_equal, holds, 0))
    write(context, name, target, own, holds, "unsafe")
    return None


def sort_in_place(context: Context, array: Value, axis: Value = -1) -> Value:
    """x.sort()"""
    target = _real_target(context, ".sort", array)
    along = axis_of(context, "sort", axis, len(target.shape))
    write(context, "sort", target, sort(context, target, along))
    return None


def partition_in_place(context: Context, array: Value, kth: Value, axis: Value = -1) -> Value:
    """x.partition(kth): sorted, which is one of the orders it may leave"""
    target = _real_target(context, ".partition", array)
    along = axis_of(context, "partition", axis, len(target.shape))
    require_kth(context, "partition", kth, target.shape[along])
    write(context, "partition", target, sort(context, target, along))
    return None


# ---------------------------------------------------------------------------- at places
def fill_diagonal(context: Context, a: Value, val: Value, wrap: Value = False) -> Value:
    """np.fill_diagonal: of a matrix, or where all indices of an array of equal dimensions are the same"""
    name = "np.fill_diagonal"
    target, value = _real_target(context, name, a), as_array(context, val)
    rank = len(target.shape)
    if rank < 2 or static_flag(context, name, "wrap", wrap):
        raise UnsupportedArgument(name, "a vector, or `wrap=True`", context.span, "write by index arrays")
    for size in target.shape[1:] if rank > 2 else ():
        agree(context, size, target.shape[0], name)
    if len(value.shape) > 1:
        raise UnsupportedArgument(name, "values that are no vector", context.span, "ravel them")
    if value.shape:
        has_values = context.builder.apply("gt", value.shape[0], i64(0))
        require(context, has_values, "raise", f"ValueError: {name}: there are no values")
    base, held = context.read(target), atom(context, value, target.dtype)

    def place(inner: Builder, at: tuple[Var, ...]) -> Atom:
        is_on: Atom = inner.apply("eq", at[0], at[1])
        for other in at[2:]:
            is_on = inner.apply("and", is_on, inner.apply("eq", at[0], other))
        if not value.shape:
            return inner.select(is_on, held, inner.index(base, at))
        assert isinstance(held, Var)
        turn = inner.apply("mod", at[0], value.shape[0])  # values are gone over again and again
        return inner.select(is_on, inner.index(held, (turn,)), inner.index(base, at))

    put(context, target, Ellipsis, context.wrap(built(context.builder, target.shape, place)))
    return None


def put_along_axis(context: Context, arr: Value, indices: Value, values: Value, axis: Value) -> Value:
    """np.put_along_axis: x[.., indices[.., i, ..], ..] = values[.., i, ..]"""
    name = "np.put_along_axis"
    target, at = _real_target(context, name, arr), array_var(context, name, indices)
    rank = len(target.shape)
    along = axis_of(context, name, axis, rank)
    if not at.type.dtype.is_integer or len(at.type.shape) != rank:
        raise UnsupportedArgument(name, "indices are whole numbers, with as many dimensions", context.span)
    places: list[Value] = []
    for one, size in enumerate(target.shape):
        if one == along:
            places.append(context.wrap(at))
            continue
        agree(context, at.type.shape[one], size, name)
        steps = context.call(np.arange, size_value(context, size))
        places.append(context.call(np.reshape, steps, (-1, *(1,) * (rank - 1 - one))))
    put(context, target, tuple(places), values)
    return None


CALLS: dict[Callable[..., object], StagedCall] = {
    np.copyto: copying(),
    np.putmask: put_mask,
    np.fill_diagonal: fill_diagonal,
    np.put_along_axis: put_along_axis,
}

METHODS: dict[str, StagedCall] = {
    "fill": filling(),
    "sort": sort_in_place,
    "partition": partition_in_place,
    "put": refused("put", "a method that writes in place", "write `x[i] = value`"),
    "resize": refused("resize", "a method that writes in place", "use np.reshape or np.concatenate"),
}
