"""Reading `x[…]`: integers, slices, ellipsis, new axes, index arrays; and what part of a base a view is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import FALSE, TRUE, Atom, Bounds, Check, Const, Size, Var, i64
from anadrome.dtypes import BOOL, I64
from anadrome.errors.frontend import (
    MalformedIndex,
    StaticIndexError,
    StaticRequired,
    TooManyIndices,
    UnsupportedType,
)
from anadrome.errors.runtime import INDEX_MESSAGE
from anadrome.frontend.arrays import as_array, atom, describe, unboxed
from anadrome.frontend.context import Context
from anadrome.frontend.masks import coordinates
from anadrome.frontend.operators import broadcast_shapes, element
from anadrome.frontend.sizes import (
    agree,
    canonical,
    clamp_size,
    give_most,
    is_at_most,
    is_below,
    is_nonnegative,
    least_size,
    multiply_sizes,
    show_shape,
)
from anadrome.frontend.values import Array, Cell, Complex, Fixed, Item, Range, Scalar, ScopeKind, Value, View
from anadrome.frontend.views import (
    At,
    copy_that_may_share,
    joined,
    place_of,
    range_index,
    sliced_layout,
)
from anadrome.prims.node import replace


@dataclass(frozen=True, slots=True, eq=False)
class NewAxis:
    """`None` in an index: a dimension of size 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Gather:
    """An index array: one index for each element of its shape. `is_proved`: all are known to be inside."""

    indices: Var
    is_proved: bool = False


Selector = Item | NewAxis | Gather


# ---------------------------------------------------------------------------- from Python to selectors
def selectors(context: Context, shape: tuple[Size, ...], index: Value) -> list[Selector]:
    """What an index expression takes of each dimension, ellipsis expanded and missing dimensions whole."""
    parts = list(index) if isinstance(index, tuple) else [index]
    consumed = sum(_consumed(context, part) for part in parts if part is not None and part is not Ellipsis)
    if consumed > len(shape):
        raise TooManyIndices(consumed, len(shape), context.span)
    missing = len(shape) - consumed
    ellipses = sum(part is Ellipsis for part in parts)
    if ellipses > 1:
        help = "leave out all but one: it stands for all dimensions that the others do not name"
        raise MalformedIndex(f"{ellipses} ellipses", context.span, help)
    if not ellipses:
        parts.append(Ellipsis)
    found: list[Selector] = []
    axis = 0
    for part in parts:
        if part is None:
            found.append(NewAxis())
        elif part is Ellipsis:
            found += [whole(size) for size in shape[axis : axis + missing]]
            axis += missing
        elif is_mask(part):
            rank = _consumed(context, part)
            found += masked(context, shape[axis : axis + rank], part)
            axis += rank
        else:
            found.append(selector(context, shape[axis], part))
            axis += 1
    return _checked_beside_nothing(context, shape, found)


def _checked_beside_nothing(
    context: Context, shape: tuple[Size, ...], found: list[Selector]
) -> list[Selector]:
    """Indices are checked where an element is read or written. Beside a slice that may take nothing they are
    checked here, since then no element is; integers beside index arrays too, while NumPy checks no arrays
    that are broadcast away."""
    doubtful = [item for place, item in enumerate(found) if _may_take_nothing(context, found[place:], item)]
    if not doubtful:
        return found
    has_slice = any(isinstance(item, Range) for item in doubtful)
    sizes, checked = iter(shape), list[Selector]()
    for item in found:
        size = i64(1) if isinstance(item, NewAxis) else next(sizes)
        is_open = isinstance(item, Fixed | Gather) and not item.is_proved
        is_checked = is_open and (has_slice or isinstance(item, Fixed))
        checked.append(_checked(context, item, size) if is_checked else item)  # type: ignore[arg-type]
    return checked


def _may_take_nothing(context: Context, rest: Sequence[Selector], item: Selector) -> bool:
    """Whether a selector may take no element; whole dimensions behind all others are not asked."""
    if isinstance(item, Gather):
        sizes = item.indices.type.shape
    elif isinstance(item, Range) and not all(isinstance(one, Range) and one.is_whole for one in rest):
        sizes = (item.extent,)
    else:
        return False
    return not all(is_at_most(context, i64(1), size) for size in sizes)


def _checked(context: Context, item: Fixed | Gather, size: Size) -> Fixed | Gather:
    """An index, or the least and the greatest of an array of them, checked before anything is read."""
    builder = context.builder
    if isinstance(item, Fixed):
        make_sure_inside(builder, item.atom, size)
        return replace(item, is_proved=True)
    flat = builder.reshape(item.indices, (multiply_sizes(context, item.indices.type.shape),))
    for extreme in ("min", "max"):
        index = builder.reduce(extreme, flat.type.shape[0], lambda inner, at: inner.index(flat, (at,)))
        is_some = builder.apply("gt", flat.type.shape[0], i64(0))
        make_sure_inside(builder, builder.select(is_some, index, i64(0)), size, is_some)
    return replace(item, is_proved=True)


def make_sure_inside(builder: Builder, index: Atom, size: Size, is_asked: Atom = TRUE) -> None:
    """Check an index of a dimension, where it is asked for."""
    inside = builder.apply("and", builder.apply("ge", index, i64(0)), builder.apply("lt", index, size))
    holds = inside if is_asked == TRUE else builder.apply("or", builder.apply("not", is_asked), inside)
    builder.let(Check(holds, "index", INDEX_MESSAGE, (index, size)))


def is_mask(part: Value) -> bool:
    """Whether a part of an index is an array of bools."""
    return (isinstance(part, Array) and part.dtype is BOOL) or (
        isinstance(part, np.ndarray) and part.dtype.kind == "b" and part.ndim > 0
    )


def _consumed(context: Context, part: Value) -> int:
    """How many dimensions a part of an index takes: a mask as many as it has."""
    found = as_array(context, part) if is_mask(part) else None
    return 1 if found is None else len(found.shape)


def masked(context: Context, shape: tuple[Size, ...], part: Value) -> list[Selector]:
    """A mask of the dimensions `shape`: the places where it holds, one index array for each dimension."""
    mask = as_array(context, part)
    assert isinstance(mask, Array)
    words = (show_shape(mask.shape), show_shape(shape))
    for left, right in zip(mask.shape, shape, strict=True):
        agree(context, left, right, "mask", words, check="mask")
    return [Gather(one, is_proved=True) for one in coordinates(context, context.read(mask))]


def selector(context: Context, size: Size, part: Value) -> Selector:
    """What one part of an index takes of its dimension."""
    part = unboxed(context, part)
    match part:
        case slice():
            return sliced(context, size, part)
        case bool() | np.bool_():
            raise UnsupportedType(
                "an index", "a bool", context.span, "use an integer, or a mask: an array of bools"
            )
        case int() | np.integer():
            return static_index(context, size, int(part))
        case Scalar():
            if not part.dtype.is_integer:
                raise UnsupportedType("an index", describe(part), context.span, "use an integer: `int(i)`")
            return staged_index(context, size, context.builder.convert(part.atom, I64))
        case Array() | list() | np.ndarray():
            return gather(context, size, part)
        case _ if isinstance(part, range) or getattr(part, "is_numbers", False):
            return gather(context, size, context.call(np.array, context.call(list, part), np.int64))
        case _:
            raise UnsupportedType(
                "an index", describe(part), context.span, "use an integer, a slice or an array"
            )


def whole(size: Size) -> Range:
    """The whole dimension."""
    return Range(i64(0), i64(1), size, is_whole=True)


def static_index(context: Context, size: Size, index: int) -> Fixed:
    """An index known now; a negative one counts from the end."""
    known = canonical(context, size)
    if isinstance(known, Const):
        extent = int(known.value)
        if not -extent <= index < extent:
            return _outside(context, index, extent)
        return Fixed(i64(index % extent), True)
    found: Atom = i64(index) if index >= 0 else context.builder.size("add", size, i64(index))
    is_proved = is_nonnegative(context, found) and is_below(context, found, size)
    return Fixed(found, is_proved)


PASSED_BY = (ScopeKind.BRANCH, ScopeKind.LOOP, ScopeKind.CONDITION, ScopeKind.PARFOR)
"""The bodies that a run may never reach."""


def _outside(context: Context, index: int, extent: int) -> Fixed:
    """An index that is out of range: an error now where the run is certain to reach it, or where the error is
    handled; else when the run reaches it."""
    is_handled = any(scope is context.scope for scope, _ in context.trying)
    if is_handled or not any(scope.kind in PASSED_BY for scope in context.scopes()):
        raise StaticIndexError(index, extent, context.span)
    context.builder.let(Check(FALSE, "index", INDEX_MESSAGE, (i64(index), i64(extent))))
    return Fixed(i64(0), extent > 0)


def staged_index(context: Context, size: Size, index: Atom) -> Fixed:
    """An index known at run time: i, or i + size where i is negative, unless i is known not to be."""
    builder = context.builder
    if isinstance(index, Const):
        return static_index(context, size, int(index.value))
    if is_nonnegative(context, index):
        return Fixed(index, is_below(context, index, size))
    wrapped = builder.apply("add", index, size)
    return Fixed(builder.select(builder.apply("lt", index, i64(0)), wrapped, index), False)


def gather(context: Context, size: Size, part: Value) -> Gather:
    """An index array as int64, negative indices counted from the end."""
    found = as_array(context, part)
    if found.dtype is BOOL:
        raise UnsupportedType(
            "an index", describe(found), context.span, "make the mask an array: np.array(mask)"
        )
    if not found.dtype.is_integer:
        raise UnsupportedType("an index array", describe(found), context.span, "use an array of integers")
    var = atom(context, found)
    assert isinstance(var, Var)

    def place(inner: Builder, indices: tuple[Var, ...]) -> Atom:
        index = inner.convert(inner.index(var, indices), I64)
        return inner.select(inner.apply("lt", index, i64(0)), inner.apply("add", index, size), index)

    return Gather(context.builder.array(var.type.shape, place))


# ---------------------------------------------------------------------------- slices
def sliced(context: Context, size: Size, part: slice) -> Range:
    """The elements a slice takes: `x[:c]` has min(c, n), `x[c:]` and `x[:-c]` have max(n - c, 0)."""
    step = 1 if part.step is None else part.step
    if not isinstance(step, int | np.integer) or isinstance(step, bool):
        raise StaticRequired("the step of a slice", context.span)
    if step == 0:
        help = "`x[::2]` takes every second element, `x[::-1]` all of them from the end"
        raise MalformedIndex("a slice with a step of 0", context.span, help)
    known = canonical(context, size)
    if isinstance(known, Const) and all(
        bound is None or isinstance(bound, int) for bound in (part.start, part.stop)
    ):
        taken = range(*slice(part.start, part.stop, int(step)).indices(int(known.value)))
        if taken == range(int(known.value)):
            return whole(size)
        return Range(i64(taken.start), i64(taken.step), i64(len(taken)))
    if part.start is None and part.stop is None and step == 1:
        return whole(size)
    special = _from_one_end(context, known, part, int(step))
    taken_now = special if special is not None else _general_slice(context, known, part, int(step))
    _remember_width(context, part, taken_now)
    return taken_now


def _remember_width(context: Context, part: slice, taken: Range) -> None:
    """A slice takes at most what its text says: one element of `x[k:k + 1]` and `x[:1]`, if any."""
    bounds = [_as_atom(context, 0 if bound is None else bound) for bound in (part.start, part.stop)]
    forms = [context.builder.affine(bound) for bound in bounds if bound is not None]
    is_last = part.stop is None and isinstance(part.start, int) and part.start < 0
    if len(forms) < 2 or taken.step != i64(1) or (part.stop is None and not is_last):
        return
    width = forms[1].plus(forms[0], -1)
    if not width.terms and width.constant >= 0:
        give_most(context, taken.extent, width)


def _from_one_end(context: Context, size: Size, part: slice, step: int) -> Range | None:
    """Slices with constant distances from the ends of a dimension whose size is not known."""
    start = 0 if part.start is None else part.start
    stop = part.stop
    if step != 1 or not isinstance(start, int) or not (stop is None or isinstance(stop, int)):
        return None
    builder = context.builder
    if start >= 0 and (stop is None or stop < 0):
        cut = start - (stop or 0)
        kept = clamp_size(context, builder.size("sub", size, i64(cut)))
        _remember_parts(context, size, cut, kept)
        return Range(i64(start), i64(1), kept)
    if start == 0 and stop is not None:
        return Range(i64(0), i64(1), least_size(context, size, i64(stop)))
    if start < 0 and stop is None:
        begin = clamp_size(context, builder.size("sub", size, i64(-start)))
        return Range(begin, i64(1), least_size(context, size, i64(-start)))
    if 0 <= start <= (stop or 0) and is_nonnegative(context, builder.size("sub", size, i64(stop or 0))):
        return Range(i64(start), i64(1), i64((stop or 0) - start))
    return None


def _remember_parts(context: Context, size: Size, cut: int, kept: Size) -> None:
    context.complements[frozenset((least_size(context, size, i64(cut)), kept))] = size
    if isinstance(kept, Var):
        context.nonnegative.add(kept)


def _general_slice(context: Context, size: Size, part: slice, step: int) -> Range:
    builder = context.builder
    lower, upper = (i64(0), size) if step > 0 else (i64(-1), builder.size("sub", size, i64(1)))
    start = _bound(context, size, part.start, lower if step > 0 else upper, lower, upper)
    stop = _bound(context, size, part.stop, upper if step > 0 else lower, lower, upper)
    span = builder.size("sub", stop, start) if step > 0 else builder.size("sub", start, stop)
    extent = clamp_size(context, span)
    if abs(step) > 1:
        extent = builder.size("floordiv", builder.size("add", extent, i64(abs(step) - 1)), i64(abs(step)))
    return Range(start, i64(step), extent)


def _as_atom(context: Context, value: Value) -> Atom | None:
    """A bound as an int64, None where it is no integer."""
    if isinstance(value, Scalar) and value.dtype.is_integer:
        return context.builder.convert(value.atom, I64)
    return i64(int(value)) if isinstance(value, int | np.integer) else None


def _bound(context: Context, size: Size, value: Value, default: Atom, lower: Atom, upper: Atom) -> Atom:
    builder = context.builder
    if value is None:
        return default
    found = _as_atom(context, value)
    if found is None:
        raise UnsupportedType(
            "the bound of a slice", describe(value), context.span, "use an integer: `int(i)`"
        )
    if isinstance(found, Const) and int(found.value) < 0:
        return builder.size("max", builder.size("add", size, found), lower)
    if not is_nonnegative(context, found):
        is_negative = builder.apply("lt", found, i64(0))
        found = builder.select(is_negative, builder.apply("add", found, size), found)
        found = builder.size("max", found, lower)
    return found if is_at_most(context, found, upper) else builder.size("min", found, upper)


# ---------------------------------------------------------------------------- reading
def take(context: Context, array: Array, index: Value) -> Scalar | Array:
    """`array[index]`: a scalar, a view where NumPy makes a view, else a new array."""
    return _taken(context, array, index, selectors(context, array.shape, index))


def take_complex(context: Context, array: Complex, index: Value) -> Complex:
    """`array[index]` of a complex array: the same elements of both parts."""
    found = selectors(context, array.shape, index)
    parts = (
        _taken(context, part, index, found) for part in (array.real, array.imag) if isinstance(part, Array)
    )
    return Complex(*parts)


def take_inside(context: Context, array: Array, index: Atom) -> Scalar | Array:
    """The row or element at an index that is known to be inside."""
    found: list[Selector] = [Fixed(index, True), *(whole(size) for size in array.shape[1:])]
    return _taken(context, array, None, found)


def take_items(context: Context, array: Array, items: Sequence[Item]) -> Array:
    """The view of an array that these items take, of which some are ranges."""
    taken = _taken(context, array, None, list(items))
    assert isinstance(taken, Array)
    return taken


def _taken(context: Context, array: Array, index: Value, found: list[Selector]) -> Scalar | Array:
    depth = max(0, array.list_depth - 1) if not isinstance(index, slice | tuple) else array.list_depth
    var = context.read(array)
    result = read(context, var, found)
    is_kept = not result.type.shape and _has_ellipsis(index)
    if not result.type.shape and not is_kept:
        return Scalar(result, None if array.list_depth else False)
    assert isinstance(result, Var)
    if any(isinstance(item, Gather) for item in found):
        return context.wrap(result)
    if isinstance(index, slice) and array.list_depth:
        cell = Cell(result, context.scope)
        if len(array.shape) > 1:  # the rows are those of the list
            cell = copy_that_may_share(context, array, result).cell
            cell.holds_items_of((array.cell,))
        return Array(cell, None, array.list_depth)
    place = _place(context, array, found)
    at = None if place is not None else joined(place_of(array), at_selectors(found))
    is_one = isinstance(found[0], Fixed) and not isinstance(index, tuple) if found else False
    view = View(
        array.cell.var,
        result,
        _reader(context, array, found, place),
        place,
        at,
        array.view is None or array.view.is_writable,
        sliced_layout(context, array, found),
        array.cell.exchanges,
        is_item=bool(array.list_depth) and is_one,
    )
    return Array(array.cell, view, depth)


def _has_ellipsis(index: Value) -> bool:
    """Whether an index names `...`, so that what it takes is an array even of no dimensions."""
    return any(part is Ellipsis for part in (index if isinstance(index, tuple) else (index,)))


def at_selectors(found: Sequence[Selector]) -> At:
    """Where an element of what selectors without index arrays take is."""

    def at(builder: Builder, indices: tuple[Atom, ...]) -> list[Atom]:
        own, places = iter(indices), list[Atom]()
        for item in found:
            match item:
                case Fixed(atom=atom):
                    places.append(atom)
                case Range():
                    places.append(range_index(builder, item, next(own)))
                case NewAxis():
                    next(own)
                case Gather():
                    raise AssertionError("index arrays make a new array")
        return places

    return at


def _place(context: Context, array: Array, found: Sequence[Selector]) -> tuple[Item, ...] | None:
    items = [item for item in found if isinstance(item, Fixed | Range)]
    if len(items) != len(found):
        return None
    if array.view is None:
        return tuple(items)
    return None if array.view.place is None else compose(context, array.view.place, items)


def _reader(
    context: Context, array: Array, found: Sequence[Selector], place: tuple[Item, ...] | None
) -> Callable[[Var], Var]:
    view = array.view

    def again(base: Var) -> Var:
        result = (
            read(context, base, place)
            if place is not None
            else read(context, view.read(base) if view else base, found)
        )
        assert isinstance(result, Var)
        return result

    return again


def compose(context: Context, outer: Sequence[Item], inner: Sequence[Item]) -> tuple[Item, ...]:
    """What a view of a view takes of the base: start + step·i in every dimension the outer view kept."""
    builder, rest = context.builder, list(inner)
    result: list[Item] = []
    for item in outer:
        if isinstance(item, Fixed):
            result.append(item)
            continue
        taken = rest.pop(0)
        if isinstance(taken, Fixed):
            if not item.is_whole and not taken.is_proved:  # outside of the view may be inside of the base
                make_sure_inside(builder, taken.atom, item.extent)
            offset = builder.size("mul", item.step, taken.atom)
            result.append(Fixed(builder.size("add", item.start, offset), taken.is_proved))
        elif item.is_whole:
            result.append(taken)
        elif taken.is_whole:
            result.append(item)
        else:
            start = builder.size("add", item.start, builder.size("mul", item.step, taken.start))
            result.append(Range(start, builder.size("mul", item.step, taken.step), taken.extent))
    return tuple(result)


def read(context: Context, var: Var, found: Sequence[Selector]) -> Atom:
    """The elements that selectors take: one index, or a nest of stacks over the dimensions that remain."""
    taken = list(found)
    while taken and isinstance(taken[-1], Range) and taken[-1].is_whole:
        taken.pop()
    fixed = [item for item in taken if isinstance(item, Fixed)]
    if len(fixed) == len(taken):
        bounds = Bounds.PROVED if all(item.is_proved for item in fixed) else Bounds.CHECKED
        return context.builder.index(var, [item.atom for item in fixed], bounds)
    if any(isinstance(item, Gather) for item in taken):
        return _read_gathered(context, var, taken)
    bounds = Bounds.PROVED if all(item.is_proved for item in fixed) else Bounds.CHECKED
    shape = tuple(
        i64(1) if isinstance(item, NewAxis) else item.extent
        for item in taken
        if not isinstance(item, Fixed | Gather)
    )

    def place(inner: Builder, indices: tuple[Var, ...]) -> Atom:
        own = iter(indices)
        atoms: list[Atom] = []
        for item in taken:
            if isinstance(item, Fixed):
                atoms.append(item.atom)
            elif isinstance(item, Range):
                atoms.append(range_index(inner, item, next(own)))
            else:
                next(own)
        return inner.index(var, atoms, bounds)

    return context.builder.build(shape, place)


@dataclass(frozen=True, slots=True, eq=False)
class Gathering:
    """What selectors with index arrays take: the shape of the result, and the place of each element of it."""

    shape: tuple[Size, ...]
    at: Callable[[Builder, tuple[Atom, ...]], list[Atom]]
    bounds: Bounds


def gathering(context: Context, taken: Sequence[Selector]) -> Gathering:
    """Index arrays are broadcast together (integers with them); their dimensions stand where the first array
    stood, or in front if a slice separates them."""
    positions = [p for p, item in enumerate(taken) if isinstance(item, Gather | Fixed)]
    arrays = [item.indices for item in taken if isinstance(item, Gather)]
    joint = broadcast_shapes(context, [array.type.shape for array in arrays], "index arrays")
    is_adjacent = positions == list(range(positions[0], positions[-1] + 1))
    front = (
        sum(1 for item in taken[: positions[0]] if isinstance(item, Range | NewAxis)) if is_adjacent else 0
    )
    others = [
        i64(1) if isinstance(item, NewAxis) else item.extent
        for item in taken
        if isinstance(item, Range | NewAxis)
    ]
    is_proved = all(item.is_proved for item in taken if isinstance(item, Fixed | Gather))

    def at(inner: Builder, indices: tuple[Atom, ...]) -> list[Atom]:
        own = iter((*indices[:front], *indices[front + len(joint) :]))
        together = indices[front : front + len(joint)]
        atoms: list[Atom] = []
        for item in taken:
            if isinstance(item, Fixed):
                atoms.append(item.atom)
            elif isinstance(item, Gather):
                atoms.append(element(inner, item.indices, joint, together))
            elif isinstance(item, Range):
                atoms.append(range_index(inner, item, next(own)))
            else:
                next(own)
        return atoms

    bounds = Bounds.PROVED if is_proved else Bounds.CHECKED
    return Gathering((*others[:front], *joint, *others[front:]), at, bounds)


def _read_gathered(context: Context, var: Var, taken: Sequence[Selector]) -> Atom:
    found = gathering(context, taken)
    return context.builder.build(
        found.shape, lambda inner, indices: inner.index(var, found.at(inner, indices), found.bounds)
    )
