"""What all compiled forms share: refusing arguments by name, axes, static numbers, operands as variables."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Check, Const, Size, Var, i64
from anadrome.dtypes import DType
from anadrome.errors.base import counted
from anadrome.errors.frontend import (
    CallMismatch,
    StaticRequired,
    UnsuitableSize,
    UnsupportedArgument,
    indices_of,
)
from anadrome.frontend.arrays import as_array, atom, describe, variable_of
from anadrome.frontend.context import Context, StagedCall, dtype_of
from anadrome.frontend.operators import is_one
from anadrome.frontend.sizes import as_size, clamp_size, show_shape
from anadrome.frontend.structures import has_staged
from anadrome.frontend.values import BY_ROWS, Array, Layout, Scalar, Staged, Value, is_staged
from anadrome.frontend.views import (
    At,
    at_reshaped,
    copy_that_may_share,
    is_contiguous,
    permuted_layout,
    view_of,
)

_NEUTRAL: Mapping[str, tuple[object, ...]] = {
    "out": (None,),
    "where": (True,),
    "order": ("C", "K", "A", None),
    "casting": ("same_kind", "unsafe"),
    "subok": (True, False),
    "copy": (True,),
    "like": (None,),
    "device": (None, "cpu"),
    "optimize": (True, False, "greedy", "optimal"),
    "kind": ("quicksort", "mergesort", "heapsort", "stable", None),
    "stable": (None, True, False),
    "dtype": (None,),
    "hermitian": (False,),
    "overwrite_a": (False,),
    "overwrite_b": (False,),
    "check_finite": (True, False),
}
"""Arguments that no compiled form takes, with the values that ask for what it does anyway."""


# ---------------------------------------------------------------------------- arguments
@dataclass(frozen=True, slots=True)
class _Parameters:
    """What a compiled form takes beside the context."""

    ordered: tuple[str, ...]
    admitted: frozenset[str]
    required: tuple[str, ...]
    takes_any: bool
    takes_any_name: bool


def _parameters_of(form: StagedCall) -> _Parameters:
    parameters = list(inspect.signature(form).parameters.values())[1:]
    kinds = {one.kind for one in parameters}
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    named = [one for one in parameters if one.kind not in variadic]
    return _Parameters(
        tuple(one.name for one in named if one.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD),
        frozenset(one.name for one in named),
        tuple(one.name for one in named if one.default is inspect.Parameter.empty),
        inspect.Parameter.VAR_POSITIONAL in kinds,
        inspect.Parameter.VAR_KEYWORD in kinds,
    )


def checked(name: str, form: StagedCall) -> StagedCall:
    """The form, with every argument it does not take refused by its name before it is called."""
    taken = functools.cache(functools.partial(_parameters_of, form))  # of most forms nobody asks

    def staged(context: Context, *args: Value, **kwargs: Value) -> Value:
        takes = taken()
        known: dict[str, Value] = {}
        for keyword, value in kwargs.items():
            if keyword in takes.admitted or takes.takes_any_name:
                known[keyword] = value
            elif not is_neutral(keyword, value):
                raise UnsupportedArgument(
                    name, f"the argument `{keyword}={_shown(value)}` is not supported", context.span
                )
        if len(args) > len(takes.ordered) and not takes.takes_any:
            raise UnsupportedArgument(
                name, f"{len(args)} arguments, of which {len(takes.ordered)} are supported", context.span
            )
        given = set(takes.ordered[: len(args)])
        twice = given.intersection(known)
        if twice:
            raise CallMismatch(name, f"the argument `{twice.pop()}` is given twice", context.span)
        for one in takes.required:
            if one not in given and one not in known:
                raise CallMismatch(name, f"the argument `{one}` is missing", context.span)
        return form(context, *args, **known)

    return staged


def is_neutral(keyword: str, value: Value) -> bool:
    """Whether an argument asks for nothing but what every compiled form does."""
    is_known = not has_staged(value)
    return is_known and any(value is one or value == one for one in _NEUTRAL.get(keyword, ()))


def _shown(value: Value) -> str:
    return describe(value) if has_staged(value) else repr(value)


def refused(name: str, reason: str, help: str = "") -> StagedCall:
    """A form that refuses every call: what it would mean has no place in a compiled program."""

    def staged(context: Context, *args: Value, **kwargs: Value) -> Value:
        raise UnsupportedArgument(name, reason, context.span, help)

    return staged


def static_int(context: Context, name: str, argument: str, value: Value) -> int:
    """An argument that must be an integer known now."""
    if is_staged(value):
        raise StaticRequired(f"the argument `{argument}` of `{name}`", context.span)
    try:
        return int(value.__index__())  # type: ignore[attr-defined]
    except AttributeError:
        raise UnsupportedArgument(
            name, f"`{argument}` is {describe(value)}, not an integer", context.span
        ) from None


def static_flag(context: Context, name: str, argument: str, value: Value) -> bool:
    """An argument that must be true or false now."""
    if is_staged(value):
        raise StaticRequired(f"the argument `{argument}` of `{name}`", context.span)
    return bool(value)


def axis_of(context: Context, name: str, axis: Value, rank: int) -> int:
    """An axis argument as a number from 0 to rank - 1."""
    number = static_int(context, name, "axis", axis)
    if not -rank <= number < rank:
        help = f"its axes are {indices_of(rank)}" if rank else "a number has no axes"
        what = f"axis {number} of an array of {counted(rank, 'dimension')}"
        raise UnsupportedArgument(name, what, context.span, help)
    return number % rank


def axes_of(context: Context, name: str, axis: Value, rank: int) -> tuple[int, ...]:
    """An axis argument (None, one, several) as rising numbers from 0 to rank - 1."""
    if axis is None:
        return tuple(range(rank))
    several = axis if isinstance(axis, tuple | list) else (axis,)
    found = [axis_of(context, name, one, rank) for one in several]
    if len(set(found)) != len(found):
        raise UnsupportedArgument(name, f"axis {axis} names one axis twice", context.span)
    return tuple(sorted(found))


def optional_dtype(context: Context, dtype: Value) -> DType | None:
    """A dtype argument, None where it is left to the function."""
    return None if dtype is None else dtype_of(dtype, context.span)


def shape_argument(context: Context, name: str, shape: Value) -> tuple[Size, ...]:
    """A shape argument: one size or several, none of them negative."""
    parts = shape if isinstance(shape, tuple | list) else (shape,)
    sizes = tuple(as_size(context, part, "a shape") for part in parts)
    for size in sizes:
        if isinstance(size, Const) and int(size.value) < 0:
            help = "a size counts elements: give 0 or more"
            raise UnsuitableSize(name, f"a negative size in {show_shape(sizes)}", context.span, help)
        if clamp_size(context, size) is not size:
            condition = context.builder.apply("ge", size, i64(0))
            require(context, condition, "size", f"{name}: the size {{0}} is negative", (size,))
            if isinstance(size, Var):
                context.nonnegative.add(size)
    return sizes


# ---------------------------------------------------------------------------- operands
def array_var(context: Context, name: str, value: Value, dtype: DType | None = None) -> Var:
    """An operand that must have at least one dimension, as the variable that holds it."""
    found = atom(context, as_array(context, value, dtype))
    if not found.type.shape:
        raise UnsupportedArgument(name, "a number where an array is expected", context.span)
    assert isinstance(found, Var)
    return found


def plain(context: Context, value: Value) -> Staged:
    """What `np.asarray` makes of a value: an array stays itself, a comprehension's list is copied."""
    found = as_array(context, value)
    if isinstance(found, Array) and found.list_depth:
        return context.wrap(context.read(found))
    return found


def element_at(builder: Builder, operand: Atom, indices: Sequence[Atom]) -> Atom:
    """operand[indices], where the operand may be a number and there is then no index."""
    if not indices:
        return operand
    assert isinstance(operand, Var)
    return builder.index(operand, tuple(indices))


def own_shape(context: Context, name: str, value: Value) -> tuple[Size, ...]:
    """The shape of an array, for functions that ask it itself: NumPy makes none of a list."""
    if isinstance(value, list | tuple):
        reason = f"{describe(value)} where an array is expected"
        raise UnsupportedArgument(name, reason, context.span, "make an array of it: `np.array(…)`")
    return as_array(context, value).shape


def as_strong(value: Value) -> Value:
    """The value as NumPy gives it: a scalar result is a NumPy scalar, which keeps its type (NEP 50)."""
    return Scalar(value.atom, is_weak=False) if isinstance(value, Scalar) and value.is_weak else value


def built(builder: Builder, shape: Sequence[Size], place: Callable[[Builder, tuple[Var, ...]], Atom]) -> Var:
    """The array with `place(inner, indices)` everywhere; the shape is not ()."""
    return builder.array(shape, place)


def permuted(builder: Builder, var: Var, order: Sequence[int]) -> Var:
    """The array whose axis k is the axis order[k] of `var`."""
    if list(order) == list(range(len(order))):
        return var
    at = at_permuted(order)
    return built(
        builder,
        [var.type.shape[axis] for axis in order],
        lambda inner, indices: inner.index(var, at(inner, indices)),
    )


def at_permuted(order: Sequence[int]) -> At:
    """Where an element of an array with its axes in another order is."""

    def at(builder: Builder, indices: tuple[Atom, ...]) -> list[Atom]:
        source: list[Atom] = [i64(0)] * len(order)
        for index, axis in zip(indices, order, strict=True):
            source[axis] = index
        return source

    return at


def permuted_view(context: Context, found: Staged, order: Sequence[int]) -> Staged:
    """The view of an array with its axes in another order; in its own order a view as well."""
    if not isinstance(found, Array):
        return found
    shape = [found.shape[axis] for axis in order]
    return view_of(context, found, shape, at_permuted(order), permuted_layout(context, found, order))


def reshaped_view(context: Context, found: Array, sizes: Sequence[Size], is_ravel: bool = False) -> Array:
    """The elements under another shape: a view where NumPy gives one, else a copy.

    NumPy looks into arrays that are contiguous, and copies others for `ravel`. `reshape` of others is a view
    where only sizes of 1 come or go; for the rest only the run knows.
    """
    at = at_reshaped(context, found.shape, sizes)

    def read(builder: Builder, var: Var) -> Var:
        if not sizes or not var.type.shape:
            only = element_at(builder, var, [i64(0)] * len(var.type.shape))
            return variable_of(context, builder.full(tuple(sizes), only))
        return builder.reshape(var, sizes)

    wide, wanted = ([size for size in shape if not is_one(size)] for shape in (found.shape, sizes))
    contiguous = is_contiguous(found)
    if contiguous or (wide == wanted and not is_ravel):
        layout = BY_ROWS if contiguous else Layout(contiguous)
        return view_of(context, found, sizes, at, layout, read=read)
    copy = read(context.builder, context.read(found))
    if contiguous is False and is_ravel:
        wrapped = context.wrap(copy)
        assert isinstance(wrapped, Array)
        return wrapped
    return copy_that_may_share(context, found, copy)


def smooth_root(builder: Builder, total: Atom) -> Atom:
    """√s of a sum of squares s; its derivative ds / 2√s is 0 where all summands are 0."""
    length = builder.apply("sqrt", total)
    zero = builder.constant(0.0, length)
    slope = builder.apply("div", builder.constant(0.5, length), length)
    slope = builder.select(builder.apply("eq", length, zero), zero, slope)
    return builder.apply("linked", builder.apply("stop_gradient", length), total, slope)


def require(
    context: Context, condition: Atom, error: str, message: str, values: tuple[Atom, ...] = ()
) -> None:
    """A run-time check, left out where the condition is known to hold."""
    from_constant = getattr(condition, "value", None)
    if from_constant is not True:
        context.builder.let(Check(condition, error, message, values))


def table_name(function: object) -> str:
    """What a user calls a function of the tables."""
    if isinstance(function, np.ufunc) and getattr(np, function.__name__, None) is not function:
        return f"scipy.special.{function.__name__}"
    home = getattr(function, "__module__", None) or "numpy"
    module = ".".join(part for part in home.split(".") if not part.startswith("_")) or home.lstrip("_")
    return f"{module.replace('numpy', 'np', 1)}.{getattr(function, '__name__', function)}"


INFINITY = math.inf
