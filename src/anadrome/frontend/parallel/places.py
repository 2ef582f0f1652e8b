"""`reduce_by_index`, `scatter` and the segment reductions: values combined or put at computed places.

reduce_by_index(init, ⊕, at, v):   parfor i < n { yield accumulate ⊕ init at at[i] v[i] }
scatter(init, at, v):              parfor i < n { yield scatter init at at[i] v[i] }
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import (
    TRUE,
    Accumulate,
    ArrayType,
    Atom,
    Bounds,
    Const,
    Lambda,
    Part,
    Scatter,
    Size,
    Var,
    i64,
)
from anadrome.dtypes import BOOL, DType
from anadrome.errors.parallel import CastRefused, IdentityMissing, UnsuitableBounds, UnsuitableValues
from anadrome.frontend.arrays import as_array, atom, describe
from anadrome.frontend.context import Context
from anadrome.frontend.generator_expressions import made_list
from anadrome.frontend.library.common import shape_argument
from anadrome.frontend.library.order import wrapped
from anadrome.frontend.operators import element
from anadrome.frontend.parallel.items import Rebuild, Row, is_array, is_leaf, matching, words
from anadrome.frontend.parallel.operators import (
    check_inverse,
    identity_atoms,
    lambda_of,
    named,
    named_for,
    neutral_of,
)
from anadrome.frontend.sizes import agree, multiply_sizes, retype, show_shape
from anadrome.frontend.structures import flatten
from anadrome.frontend.values import Array, Scalar, Value

BOUNDS = {"error": Bounds.CHECKED, "ignore": Bounds.IGNORED}
"""What `bounds=` may be."""


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Where values go: one vector of indices for each dimension, the shape they were given in, and what is
    done with a place outside."""

    name: str
    indices: tuple[Var, ...]
    shape: tuple[Size, ...]
    extent: Size
    bounds: Bounds

    def at(
        self, context: Context, builder: Builder, index: Atom, array: ArrayType
    ) -> tuple[tuple[Atom, ...], Bounds]:
        """The place of an iteration; negative indices count from the end."""
        found = [
            wrapped(context, builder, builder.index(one, (index,)), size)
            for one, size in zip(self.indices, array.shape, strict=False)
        ]
        is_proved = all(bounds is Bounds.PROVED for _, bounds in found)
        return tuple(one for one, _ in found), Bounds.PROVED if is_proved else self.bounds


def start_words(name: str) -> str:
    """What the function takes as `init`: without an operator a size would leave open what to fill it with."""
    if name.startswith("ad.segment"):
        return "an integer"
    return "an array" if name == "ad.scatter" else "an array, or the size of one"


def start_argument(name: str) -> str:
    """What the function calls its argument of the array to begin with."""
    return "count" if name.startswith("ad.segment") else "init"


def index_argument(name: str) -> str:
    """What the function calls its argument of indices."""
    if name.startswith("ad.segment"):
        return "segment_ids"
    return "indices" if name.startswith("np.") else "at"


def _places(context: Context, name: str, at: Value, bounds: Value) -> Places:
    if not isinstance(bounds, str) or bounds not in BOUNDS:
        raise UnsuitableBounds(name, repr(bounds) if isinstance(bounds, str) else describe(bounds))
    given = [_array(context, one) for one in (at if isinstance(at, tuple) else (at,))]
    for one in given:
        if not isinstance(one, Array) or not one.dtype.is_integer:
            raise UnsuitableValues(
                name, index_argument(name), "an array of integers, or a tuple of them", describe(one)
            )
    arrays = [context.read(one) for one in given if isinstance(one, Array)]
    if not arrays:
        raise UnsuitableValues(
            name, index_argument(name), "an array of integers, or a tuple of them", "an empty tuple"
        )
    shape = arrays[0].type.shape
    for other in arrays[1:]:
        if len(other.type.shape) != len(shape):
            raise UnsuitableValues(
                name, "at", f"index arrays of shape {show_shape(shape)}", show_shape(other.type.shape)
            )
        for left, right in zip(shape, other.type.shape, strict=True):
            agree(context, left, right, name)
    extent = multiply_sizes(context, shape)
    flat = tuple(_flattened(context, one, len(shape), extent) for one in arrays)
    return Places(name, flat, shape, extent, BOUNDS[bounds])


def _array(context: Context, value: Value) -> Value:
    value = made_list(context, value)
    if isinstance(value, range):
        value = np.arange(value.start, value.stop, value.step)
    return as_array(context, value) if is_leaf(value) or isinstance(value, list) else value


def _flattened(context: Context, var: Var, rank: int, extent: Size) -> Var:
    """The first `rank` dimensions as one."""
    return var if rank == 1 else context.builder.reshape(var, (extent, *var.type.shape[rank:]))


# ---------------------------------------------------------------------------- values
@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """One array that values go into: what it starts as, and the value of each iteration."""

    init: Var
    values: Atom
    dtype: DType

    @property
    def row(self) -> ArrayType:
        """The type of one value: that of the array's rows."""
        return ArrayType(self.dtype, self.init.type.shape[len(self.init.type.shape) - self.row_rank :])

    @property
    def row_rank(self) -> int:
        """How many dimensions one value has."""
        return max(0, len(self.values.type.shape) - 1)

    def value(self, context: Context, builder: Builder, index: Atom) -> Atom:
        """The value of an iteration, under the type of a row."""
        found = self.values
        if isinstance(found, Var) and found.type.shape:
            found = builder.index(found, (index,))
        if not found.type.shape:
            return builder.convert(found, self.dtype)
        assert isinstance(found, Var)
        row, source = self.row, found
        if found.type.dtype is not self.dtype:
            return builder.build(
                row.shape, lambda inner, at: inner.convert(inner.index(source, at), self.dtype)
            )
        return found if found.type == row else builder.reshape(found, row.shape)


def _target(context: Context, places: Places, init: Value, values: Value) -> Target:
    """An array and the values that go into it, whose shapes must fit."""
    name = places.name
    start = as_array(context, init)
    if not isinstance(start, Array) or len(start.shape) < len(places.indices):
        expected = f"an array of at least {len(places.indices)} dimension(s)"
        raise UnsuitableValues(name, "init", expected, describe(start))
    base = context.read(start)
    found = _values(context, places, values)
    dtype = found.type.dtype
    fits = np.can_cast(dtype.numpy, start.dtype.numpy, "same_kind")
    if not fits or (dtype is BOOL) != (start.dtype is BOOL):
        raise CastRefused(name, dtype.numpy_name, start.dtype.numpy_name)
    rest = base.type.shape[len(places.indices) :]
    own = found.type.shape[1:]
    if not found.type.shape and rest:
        found = context.builder.full((places.extent, *rest), found)
    elif len(own) != len(rest):
        expected = f"an array of shape {show_shape((*places.shape, *rest))}"
        raise UnsuitableValues(name, "values", expected, describe(_array(context, values)))
    for left, right in zip(own, rest, strict=False):
        agree(context, left, right, name)
    return Target(base, found, start.dtype)


def _values(context: Context, places: Places, values: Value) -> Atom:
    """The values one after the other, or the number that all of them are."""
    found = atom(context, as_array(context, _array(context, values)))
    if not found.type.shape:
        return found
    assert isinstance(found, Var)
    rank = len(places.shape)
    if len(found.type.shape) < rank:
        raise UnsuitableValues(
            places.name, "values", f"as many as places, {show_shape(places.shape)}", describe(values)
        )
    for left, right in zip(places.shape, found.type.shape, strict=False):
        agree(context, left, right, places.name)
    flat = _flattened(context, found, rank, places.extent)
    return (
        flat
        if flat.type.shape[0] is places.extent
        else retype(
            context, flat, ArrayType(flat.type.dtype, (places.extent, *flat.type.shape[1:])), places.name
        )
    )


def _sizes(init: Value) -> bool:
    """Whether `init` is the size, or the shape, of the result rather than an array."""
    parts = init if isinstance(init, tuple) and init else (init,)
    return all(
        (isinstance(part, int | np.integer) and not isinstance(part, bool))
        or (isinstance(part, Scalar) and part.dtype.is_integer)
        for part in parts
    )


# ---------------------------------------------------------------------------- reduce_by_index
def reduce_by_index_items(
    context: Context,
    init: Value,
    operator: Value,
    at: Value,
    values: Value,
    identity: Value = None,
    bounds: Value = "error",
    inverse: Value = None,
) -> Value:
    """`ad.reduce_by_index` in a program."""
    return by_index(context, "ad.reduce_by_index", init, operator, at, values, identity, bounds, inverse)


def by_index(
    context: Context,
    name: str,
    init: Value,
    operator: Value,
    at: Value,
    values: Value,
    identity: Value,
    bounds: Value,
    inverse: Value = None,
) -> Value:
    """The reduction of the values of each place, under the name the user called."""
    is_named = named(name, operator) is not None
    check_inverse(name, inverse)
    places = _places(context, name, at, bounds)
    starts = _starts(context, places, init, operator, values, identity)
    targets, rebuild = _targets(context, places, starts, values)
    operation = named_for(name, operator, [one.dtype for one in targets], starts)
    if operation is not None:
        results = _swept(context, places, targets, lambda *parts: Accumulate.of(operation, *parts))
        return rebuild(iter([context.wrap(one) for one in results]))
    assert not is_named
    row = _row(context, places, targets, rebuild)
    function = lambda_of(context, name, operator, row, identity, inverse)
    if len(targets) == 1:
        results = _swept(context, places, targets, lambda *parts: Accumulate.of(function, *parts))
    else:
        results = _looped(context, places, targets, function)
    return rebuild(iter([context.wrap(one) for one in results]))


def _starts(
    context: Context, places: Places, init: Value, operator: Value, values: Value, identity: Value
) -> Value:
    """The array to begin with: where only its size is given, one full of the operator's identity."""
    if not _sizes(init):
        return init
    shape = shape_argument(context, places.name, init)
    if len(shape) != len(places.indices):
        expected = f"{len(places.indices)} size(s), one for each index array"
        raise UnsuitableValues(places.name, "init", expected, show_shape(shape))
    leaves, rebuild = flatten(values, is_leaf) if not isinstance(values, list) else ([values], next)
    flat = [_values(context, places, leaf) for leaf in leaves]
    rows = [ArrayType(one.type.dtype, one.type.shape[1:]) for one in flat]
    operation = named_for(places.name, operator, [one.dtype for one in rows], values)
    if operation is not None:
        elements = [neutral_of(context.builder, operation, row) for row in rows]
    elif identity is None:
        raise IdentityMissing(places.name)
    else:
        zeros = tuple(context.builder.zeros(row) for row in rows)
        pattern = rebuild(iter([context.wrap(zero) for zero in zeros]))
        elements = list(
            identity_atoms(context, places.name, Row(pattern, zeros, (False,) * len(rows), rebuild), identity)
        )
    filled = [
        context.wrap(
            context.builder.build(
                (*shape, *row.shape),
                lambda inner, at, one=one: element(inner, one, one.type.shape, at[len(shape) :]),  # type: ignore[misc]
            )
            if not isinstance(one, Const)
            else context.builder.full((*shape, *row.shape), one)
        )
        for one, row in zip(elements, rows, strict=True)
    ]
    return rebuild(iter(filled))


def _targets(context: Context, places: Places, init: Value, values: Value) -> tuple[list[Target], Rebuild]:
    """The arrays of `init` with the values that go into each."""
    values = made_list(context, values)
    if isinstance(values, list):
        values = _array(context, values)
    leaves, rebuild = flatten(init, is_leaf)
    parts = matching(init, values)
    if not leaves or parts is None:
        raise UnsuitableValues(
            places.name, "values", f"a container like `init`, {words(init)}", words(values)
        )
    if not all(is_array(leaf) for leaf in leaves):
        raise UnsuitableValues(
            places.name, start_argument(places.name), start_words(places.name), words(init)
        )
    targets = [_target(context, places, *pair) for pair in zip(leaves, parts, strict=True)]
    return targets, rebuild


def _row(context: Context, places: Places, targets: Sequence[Target], rebuild: Rebuild) -> Row:
    """What the operator combines: one value for each array."""
    rank = len(places.indices)
    types = [ArrayType(one.dtype, one.init.type.shape[rank:]) for one in targets]
    zeros = tuple(context.builder.zeros(type_) for type_ in types)
    value = rebuild(iter([context.wrap(zero) for zero in zeros]))
    return Row(value, zeros, (False,) * len(zeros), rebuild)


def _swept(
    context: Context,
    places: Places,
    targets: Sequence[Target],
    make: Callable[[Var, tuple[Atom, ...], Atom, Bounds], Part],
) -> tuple[Var, ...]:
    """One parfor with a yield for each array."""

    def body(inner: Builder, index: Var) -> list[Part]:
        parts: list[Part] = []
        for one in targets:
            at, bounds = places.at(context, inner, index, _type(one.init))
            parts.append(make(one.init, at, one.value(context, inner, index), bounds))
        return parts

    return context.builder.parfor(places.extent, body)


def _type(var: Var) -> ArrayType:
    assert isinstance(var.type, ArrayType)
    return var.type


def _looped(context: Context, places: Places, targets: Sequence[Target], operator: Lambda) -> tuple[Var, ...]:
    """Several arrays by one operator: the values one after the other, each read, combined and written."""

    def step(inner: Builder, index: Var, carried: tuple[Var, ...]) -> Sequence[Atom]:
        at, bounds = places.at(context, inner, index, _type(targets[0].init))
        rows = [one.value(context, inner, index) for one in targets]
        known = Bounds.PROVED if bounds is Bounds.IGNORED else bounds

        def write(deeper: Builder) -> list[Atom]:
            old = [deeper.index(array, at, known) for array in carried]
            sides = dict(zip((*operator.left, *operator.right), (*old, *rows), strict=True))
            new = deeper.inline(operator.body, sides)
            return [deeper.update(array, at, one, known) for array, one in zip(carried, new, strict=True)]

        if bounds is not Bounds.IGNORED:
            return write(inner)
        inside: Atom = TRUE
        for place, size in zip(at, targets[0].init.type.shape, strict=False):
            above = inner.apply("ge", place, i64(0))
            both = inner.apply("and", above, inner.apply("lt", place, size))
            inside = both if inside is TRUE else inner.apply("and", inside, both)
        return inner.branch(inside, write, lambda _: carried)

    first = targets[0].init.type.shape[: len(places.indices)]
    for one in targets[1:]:
        for left, right in zip(first, one.init.type.shape, strict=False):
            agree(context, left, right, places.name)
    return context.builder.loop(places.extent, [one.init for one in targets], step)


# ---------------------------------------------------------------------------- the others
def scatter_items(context: Context, init: Value, at: Value, values: Value, bounds: Value = "error") -> Value:
    """`ad.scatter` in a program."""
    places = _places(context, "ad.scatter", at, bounds)
    targets, rebuild = _targets(context, places, init, values)
    results = _swept(context, places, targets, Scatter.of)
    return rebuild(iter([context.wrap(one) for one in results]))


def segments(name: str, operator: str) -> Callable[..., Value]:
    """`ad.segment_sum` and its kin in a program: a reduction by index into `count` places."""

    def staged(
        context: Context, values: Value, segment_ids: Value, count: Value, bounds: Value = "error"
    ) -> Value:
        if not _sizes(count) or isinstance(count, tuple):
            raise UnsuitableValues(name, "count", "an integer", words(count))
        return by_index(context, name, count, operator, segment_ids, values, None, bounds)

    return staged
