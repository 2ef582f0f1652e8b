"""What a parallel operation goes over: a run-time sequence, whatever it was given as.

* an array: its rows along an axis;
* a container of arrays (a tuple, dict, dataclass): the containers of their rows, as `zip` would make them;
* anything a comprehension goes over (a range, `zip`, `map`, a generator, a list): its items.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import ArrayType, Atom, ParFor, Part, Size, Var, i64
from anadrome.dtypes import I64
from anadrome.errors.parallel import UnsuitableValues
from anadrome.frontend.arrays import as_array, atom, describe, weakness
from anadrome.frontend.context import Context
from anadrome.frontend.generator_expressions import made_list
from anadrome.frontend.indexing import take_inside
from anadrome.frontend.iterables import Iterated, Unrolled
from anadrome.frontend.iterators import iterate
from anadrome.frontend.library.common import axis_of, permuted
from anadrome.frontend.sizes import agree, give_range
from anadrome.frontend.structures import children, flatten, is_alike, is_number
from anadrome.frontend.values import Array, Complex, Scalar, Value, Weak, common_weak, is_staged

Rebuild = Callable[[Iterator[Value]], Value]


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """A run-time sequence: how many items, and the item at an index that is known to be inside."""

    extent: Size
    item: Callable[[Context, Atom], Value]


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One item taken apart: its leaves as atoms, whether each is a Python number, how to put it together."""

    value: Value
    atoms: tuple[Atom, ...]
    weak: tuple[Weak, ...]
    rebuild: Rebuild

    @property
    def types(self) -> tuple[ArrayType, ...]:
        """The types of the leaves."""
        return tuple(one.type for one in self.atoms)  # type: ignore[misc]  # an item is no accumulator


def is_leaf(value: Value) -> bool:
    """Whether a value is a number or an array."""
    return is_staged(value) or is_number(value) or isinstance(value, np.ndarray)


def is_array(value: Value) -> bool:
    """Whether a value is an array of at least one dimension."""
    return isinstance(value, Array) or (isinstance(value, np.ndarray) and value.ndim > 0)


# ---------------------------------------------------------------------------- sequences
def items_of(context: Context, name: str, xs: Value, axis: Value = 0) -> Items:
    """The sequence that an argument stands for."""
    xs = made_list(context, xs)
    if isinstance(xs, Unrolled):
        xs = xs.iterable
    if is_leaf(xs):
        return _rows(context, name, xs, axis)
    leaves, rebuild = flatten(xs, is_leaf)
    if not isinstance(xs, list) and leaves and all(is_array(leaf) for leaf in leaves):
        columns = [_rows(context, name, leaf, axis) for leaf in leaves]
        extent = columns[0].extent
        for column in columns[1:]:
            extent = agree(context, extent, column.extent, name)
        return Items(extent, lambda inner, at: rebuild(iter([one.item(inner, at) for one in columns])))
    found = iterate(context, xs)
    if isinstance(found, Iterated):
        return Items(found.extent, found.item)
    return _listed(context, name, found)


def _rows(context: Context, name: str, xs: Value, axis: Value) -> Items:
    array = as_array(context, xs)
    if not isinstance(array, Array):
        raise UnsuitableValues(name, "xs", "an array or an iterable", describe(xs))
    along = axis_of(context, name, axis, len(array.shape))
    if along:
        order = [along, *(one for one in range(len(array.shape)) if one != along)]
        wrapped = context.wrap(permuted(context.builder, context.read(array), order))
        assert isinstance(wrapped, Array)
        array = wrapped
    rows = array
    return Items(rows.shape[0], lambda inner, index: take_inside(inner, rows, index))


def _listed(context: Context, name: str, items: Sequence[Value]) -> Items:
    """Items known while compiling: their leaves side by side in arrays."""
    if not items:
        raise UnsuitableValues(
            name, "xs", "an array, whose type is known, or at least one item", "an empty list"
        )
    first = items[0]
    columns: list[list[Value]] = []
    for item in items:
        leaves = matching(first, item)
        if leaves is None or not leaves:
            raise UnsuitableValues(name, "xs", f"items like the first, {words(first)}", words(item))
        columns = columns or [[] for _ in leaves]
        for column, leaf in zip(columns, leaves, strict=True):
            column.append(leaf)
    weak = [functools.reduce(common_weak, map(weakness, column)) for column in columns]
    arrays = [as_array(context, column) for column in columns]
    rebuild = flatten(first, is_leaf)[1]

    def item_at(inner: Context, index: Atom) -> Value:
        parts = [take_inside(inner, one, index) for one in arrays if isinstance(one, Array)]
        return rebuild(iter([_with_weak(part, one) for part, one in zip(parts, weak, strict=True)]))

    return Items(i64(len(items)), item_at)


def _with_weak(value: Value, is_weak: Weak) -> Value:
    return Scalar(value.atom, is_weak) if isinstance(value, Scalar) else value


# ---------------------------------------------------------------------------- structure
def matching(pattern: Value, value: Value) -> list[Value] | None:
    """The leaves of a value where the pattern has its leaves; None where the two are built differently."""
    if isinstance(pattern, Complex) and isinstance(value, int | float | complex | np.generic):
        return [value.real, value.imag]
    if is_leaf(pattern) or is_leaf(value):
        return [value] if is_leaf(pattern) and is_leaf(value) else None
    mine, theirs = children(pattern), children(value)
    if mine is None or theirs is None or not is_alike(pattern, value):
        return [] if pattern is value else None
    found: list[Value] = []
    for one, two in zip(mine, theirs, strict=True):
        leaves = matching(one, two)
        if leaves is None:
            return None
        found += leaves
    return found


def words(value: Value) -> str:
    """What a value or a container is, for people: `(float64, int64)`."""
    parts = None if is_leaf(value) or isinstance(value, Complex) else children(value)
    if parts is None:
        return describe(value)
    if isinstance(value, tuple | list):
        return f"({', '.join(words(part) for part in parts)}{',' if len(parts) == 1 else ''})"
    return f"{type(value).__name__}({', '.join(words(part) for part in parts)})"


def row_of(context: Context, name: str, value: Value) -> Row:
    """An item, or what a function made of one, taken apart."""
    value = made_list(context, value)
    leaves, rebuild = flatten(value, is_leaf)
    if not leaves:
        raise UnsuitableValues(name, "xs", "items of numbers and arrays", words(value))
    atoms = tuple(atom(context, leaf) for leaf in leaves)
    return Row(value, atoms, tuple(map(weakness, leaves)), rebuild)


# ---------------------------------------------------------------------------- one parfor
@dataclass(slots=True, eq=False)
class Sweep:
    """A parfor over items that is being filled: `inner` is its body."""

    inner: Builder
    index: Var
    items: Items

    def close(self, context: Context, yields: Sequence[Part]) -> tuple[Var, ...]:
        """The parfor with these yields, in the program."""
        return context.builder.let(ParFor.of(self.index, self.items.extent, self.inner.lets, yields))


def sweep(context: Context, items: Items) -> Sweep:
    """Begin a parfor over the items."""
    inner, index = context.builder.child(), Var("i", ArrayType(I64))
    inner.bind(index)
    return Sweep(inner, index, items)


def swept_row(context: Context, name: str, found: Sweep, change: Callable[[Value], Value]) -> Row:
    """What `change` makes of the item of an iteration, in the parfor's body."""
    with context.filling(found.inner):
        give_range(context, found.index, i64(0), found.items.extent)
        row = row_of(context, name, change(found.items.item(context, found.index)))
    for type_ in row.types:
        if any(found.inner.binds(size) for size in type_.shape if isinstance(size, Var)):
            raise UnsuitableValues(
                name, "xs", "rows of one length", "rows whose length differs from item to item"
            )
    return row
