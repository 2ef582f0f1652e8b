"""Elements chosen: by a condition, and one by one as Python's numbers and lists.

How many hold a condition is known at run time only: their places are found by a scan (`frontend.masks`),
everything else is a gather.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Bounds, Const, Var, i64
from anadrome.dtypes import BOOL, F64, I64
from anadrome.errors.base import counted
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.arrays import as_array, atom, promote
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.indexing import take as taken
from anadrome.frontend.indexing import take_inside
from anadrome.frontend.library.common import array_var, axis_of, static_flag
from anadrome.frontend.library.elementwise import converted, nonzero_mask
from anadrome.frontend.library.order import sort, wrapped
from anadrome.frontend.library.python_program import listed
from anadrome.frontend.library.shape import moveaxis, raveled
from anadrome.frontend.masks import coordinates, kept_places
from anadrome.frontend.sizes import agree, as_size, is_same_size
from anadrome.frontend.values import Array, Staged, Value


def nonzero(context: Context, a: Value) -> Value:
    """np.nonzero: for each axis the indices of the elements that are not zero"""
    mask = nonzero_mask(context, a, "np.nonzero")
    return tuple(context.wrap(one) for one in coordinates(context, mask))


def flat_nonzero(context: Context, a: Value) -> Value:
    """np.flatnonzero: the places of the elements that are not zero in row-major order"""
    mask = nonzero_mask(context, raveled(context, as_array(context, a)), "np.flatnonzero")
    return context.wrap(kept_places(context, mask))


def places_of(context: Context, a: Value) -> Value:
    """np.argwhere: one row of indices for each element that is not zero"""
    found = coordinates(context, nonzero_mask(context, a, "np.argwhere"))

    def row(builder: Builder, index: Var) -> Atom:
        return builder.literal([builder.index(one, (index,)) for one in found])

    return context.wrap(context.builder.stack(found[0].type.shape[0], row))


def compress(context: Context, condition: Value, a: Value, axis: Value = None) -> Value:
    """np.compress: the slices along an axis where the condition holds"""
    name = "np.compress"
    mask = nonzero_mask(context, condition, name)
    own = raveled(context, as_array(context, a)) if axis is None else as_array(context, a)
    if len(mask.type.shape) != 1 or not isinstance(own, Array):
        raise UnsupportedArgument(name, "a vector of bools and an array are expected", context.span)
    along = 0 if axis is None else axis_of(context, name, axis, len(own.shape))
    front = moveaxis(context, own, along, 0) if along else own
    assert isinstance(front, Array)
    result = _where_it_holds(context, front, mask)
    return moveaxis(context, result, 0, along) if along else result


def extract(context: Context, condition: Value, arr: Value) -> Value:
    """np.extract: the elements where the condition holds, in row-major order"""
    name = "np.extract"
    mask = nonzero_mask(context, raveled(context, as_array(context, condition)), name)
    values = raveled(context, as_array(context, arr))
    assert isinstance(values, Array)
    return _where_it_holds(context, values, mask)


def _where_it_holds(context: Context, array: Array, mask: Var) -> Value:
    """The items where a vector of bools holds, which may be shorter; a place outside is an error."""
    is_mask = is_same_size(context, mask.type.shape[0], array.shape[0])
    return taken(context, array, context.wrap(mask if is_mask else kept_places(context, mask)))


_OF_UNIQUE = {
    "return_index": "np.argmax(x.ravel()[:, None] == values, axis=0)",
    "return_inverse": "np.searchsorted(values, x.ravel())",
    "return_counts": "np.sum(x.ravel()[:, None] == values, axis=0)",
}
"""An argument of np.unique that is not supported -> what gives the same."""


def unique(
    context: Context,
    ar: Value,
    return_index: Value = False,
    return_inverse: Value = False,
    return_counts: Value = False,
    axis: Value = None,
    *,
    equal_nan: Value = True,
) -> Value:
    """np.unique: the values in order, each once; NaN once as well"""
    name = "np.unique"
    asked = {"return_index": return_index, "return_inverse": return_inverse, "return_counts": return_counts}
    for argument, value in asked.items():
        if static_flag(context, name, argument, value):
            help = f"with `values = np.unique(x)` write `{_OF_UNIQUE[argument]}`"
            raise UnsupportedArgument(name, f"`{argument}` is not supported", context.span, help)
    if axis is not None:
        raise UnsupportedArgument(
            name,
            "`axis` is not supported",
            context.span,
            "call `np.unique` outside the compiled function and pass the result",
        )
    if not static_flag(context, name, "equal_nan", equal_nan):
        raise UnsupportedArgument(name, "`equal_nan=False` is not supported", context.span)
    rows = array_var(context, name, sort(context, raveled(context, as_array(context, ar))))

    def is_new(builder: Builder, index: Var) -> Atom:
        before = builder.index(rows, (builder.apply("max", builder.apply("sub", index, i64(1)), i64(0)),))
        own = builder.index(rows, (index,))
        differs = builder.apply("ne", own, before)
        if rows.type.dtype.is_float:
            both = builder.apply("and", builder.apply("isnan", own), builder.apply("isnan", before))
            differs = builder.apply("and", differs, builder.apply("not", both))
        return builder.apply("or", builder.apply("eq", index, i64(0)), differs)

    mask = context.builder.stack(rows.type.shape[0], is_new)
    values = context.wrap(rows)
    assert isinstance(values, Array)
    return taken(context, values, context.wrap(mask))


# ---------------------------------------------------------------------------- one of several
def select(context: Context, condlist: Value, choicelist: Value, default: Value = 0) -> Value:
    """np.select: of the choices the first whose condition holds"""
    name = "np.select"
    conditions = list(condlist) if isinstance(condlist, list | tuple) else []
    choices = list(choicelist) if isinstance(choicelist, list | tuple) else []
    if len(conditions) != len(choices) or not conditions:
        raise UnsupportedArgument(name, "two lists of one length are expected", context.span)
    dtype, _ = promote(context, (*choices, default), name)  # of all at once, not two by two
    *choices, result = (converted(context, one, dtype) for one in (*choices, default))
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        if as_array(context, condition).dtype is not BOOL:
            raise UnsupportedArgument(name, "a condition that is no bool", context.span)
        result = context.call(np.where, condition, choice, result)
    return result


def piecewise(context: Context, x: Value, condlist: Value, funclist: Value) -> Value:
    """np.piecewise: of the functions that whose condition holds last; 0, or a further function, elsewhere.

    Every function is evaluated everywhere, and the values that are not wanted are dropped.
    """
    name = "np.piecewise"
    own = as_array(context, x)
    conditions = list(condlist) if isinstance(condlist, list | tuple) else [condlist]
    if not isinstance(funclist, list | tuple) or len(funclist) not in (len(conditions), len(conditions) + 1):
        raise UnsupportedArgument(name, "a function for each condition is expected", context.span)
    functions = list(funclist)
    otherwise: Value = functions.pop() if len(functions) > len(conditions) else 0
    result = _piece(context, otherwise, own)
    for condition, function in zip(conditions, functions, strict=True):
        result = context.call(np.where, condition, _piece(context, function, own), result)
    return as_array(context, result, own.dtype)


def _piece(context: Context, function: Value, x: Value) -> Value:
    return context.call(function, x) if callable(function) else function


# ---------------------------------------------------------------------------- as Python's numbers and lists
def item(context: Context, array: Staged, *args: Value) -> Value:
    """x.item(): the only element as a Python number; x.item(i, j): the element there."""
    var = atom(context, array)
    rank = len(var.type.shape)
    if not rank and not args:
        return _python_number(context, var)
    if args and len(args) != rank:
        reason = f"{counted(len(args), 'index', 'indices')} into {counted(rank, 'dimension')}"
        raise UnsupportedArgument("item", reason, context.span)
    assert isinstance(var, Var)
    if not args:
        for size in var.type.shape:
            agree(context, size, i64(1), "item() of an array of more than one element")
        return _python_number(context, context.builder.index(var, (i64(0),) * rank))
    indices = [
        wrapped(context, context.builder, as_size(context, one), size)
        for one, size in zip(args, var.type.shape, strict=True)
    ]
    bounds = Bounds.PROVED if all(kind is Bounds.PROVED for _, kind in indices) else Bounds.CHECKED
    return _python_number(context, context.builder.index(var, [one for one, _ in indices], bounds))


def _python_number(context: Context, found: Atom) -> Value:
    dtype = found.type.dtype
    target = F64 if dtype.is_float else dtype if dtype is BOOL else I64
    return context.wrap(context.builder.convert(found, target), is_weak=True)


def to_list(context: Context, array: Staged) -> Value:
    """x.tolist(): the elements as Python numbers, in lists of lists; of no dimensions a number."""
    if not isinstance(array, Array) or not array.shape:
        return _python_number(context, atom(context, array))
    if len(array.shape) == 1:
        kind = float if array.dtype.is_float else bool if array.dtype is BOOL else int
        return context.call(listed, kind, array)
    size = array.shape[0]
    if not isinstance(size, Const) or int(size.value) > context.config.static_repeats:
        reason, help = "a list of lists, of which there are many or unknown many", "use the array itself"
        raise UnsupportedArgument("tolist", reason, context.span, help)
    rows: list[Value] = []
    for k in range(int(size.value)):
        row = take_inside(context, array, i64(k))
        assert isinstance(row, Array)
        rows.append(to_list(context, row))
    context.made(rows)
    return rows


CALLS: dict[Callable[..., object], StagedCall] = {
    np.nonzero: nonzero,
    np.flatnonzero: flat_nonzero,
    np.argwhere: places_of,
    np.compress: compress,
    np.extract: extract,
    np.unique: unique,
    np.select: select,
    np.piecewise: piecewise,
}

METHODS: dict[str, StagedCall] = {"nonzero": nonzero, "item": item, "tolist": to_list}
