"""The state of a search for a sparsity pattern: what is known of the variables so far, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from anadrome.array_ir.nodes import ArrayType, Atom, Body, Const, ParFor, Size, SumType, Type, Var
from anadrome.array_ir.walk import bodies
from anadrome.errors.sparse import PatternSize
from anadrome.sparsity.flow import Relevance
from anadrome.sparsity.sets import Ints, Sets, nothing, stacked, union
from anadrome.sparsity.values import (
    Block,
    Data,
    Lanes,
    Scalar,
    Source,
    Store,
    Value,
    collected,
    contiguous,
    either,
    lift,
    lift_block,
    lift_scalar,
)

SOURCES_KEPT = 24
"""A scalar with more sources than this is joined into one."""

ELEMENTS = 1 << 22
"""About so many lanes, or elements of carried arrays, are made at once."""


@dataclass(slots=True, eq=False)
class State:
    """The values of variables, and what is asked of them.

    `inputs` is the number of seeds' elements. `run` evaluates a body in lanes. A variable that is not there
    is of no concern: nothing depends on its value, and it depends on nothing.
    """

    relevance: Relevance
    inputs: int
    run: Callable[[State, Body, Lanes], None]
    values: dict[Var, Value] = field(default_factory=dict)

    # ------------------------------------------------------------------ reading
    def is_reached(self, var: Var) -> bool:
        """Whether dependence may flow into a variable."""
        return var in self.relevance.reached

    def is_needed(self, var: Var) -> bool:
        """Whether the value of a variable is worth computing."""
        return var in self.relevance.needed

    def scalar(self, atom: Atom, lanes: Lanes) -> Scalar:
        """A scalar in these lanes."""
        if isinstance(atom, Const):
            return Scalar(lanes, np.full(lanes.count, atom.value, atom.dtype.numpy))
        found = self.values.get(atom)
        if found is None:
            return Scalar(lanes)
        assert isinstance(found, Scalar)
        return lift_scalar(found, lanes)

    def known(self, atom: Atom, lanes: Lanes) -> Data | None:
        """The values of a scalar, or None."""
        return self.scalar(atom, lanes).value

    def size(self, atom: Size, lanes: Lanes) -> Ints:
        """A size or trip count in each lane; raises `PatternSize` where it is not known."""
        found = self.known(atom, lanes)
        if found is None:
            raise PatternSize
        return found

    def shape(self, type_: Type, lanes: Lanes) -> tuple[Ints, ...]:
        """The shape of a variable in each lane."""
        return tuple(self.size(size, lanes) for size in type_.shape)

    def block(self, atom: Atom, lanes: Lanes) -> Block:
        """An array, or a scalar as an array without dimensions."""
        found = self.values.get(atom) if isinstance(atom, Var) else None
        if isinstance(found, Block):
            return lift_block(found, lanes)
        if isinstance(atom.type, ArrayType) and atom.type.is_scalar:
            scalar = self.scalar(atom, lanes)
            store = Store(lanes.count, scalar.value, collected(scalar.sources))
            return Block(lanes, np.arange(lanes.count), (), store)
        return self.blank(self.shape(atom.type, lanes), lanes)

    def blank(self, shape: tuple[Ints, ...], lanes: Lanes) -> Block:
        """An array that depends on nothing and whose elements are not known."""
        ends = np.cumsum(Block(lanes, np.zeros(lanes.count, np.int64), shape, Store(0)).sizes())
        starts = np.concatenate(([0], ends))
        return Block(lanes, starts[:-1], shape, Store(int(starts[-1])))

    def value(self, atom: Atom, lanes: Lanes) -> Value:
        """A scalar or an array, as its type says."""
        found = self.values.get(atom) if isinstance(atom, Var) else None
        if found is not None:
            return lift(found, lanes)
        is_scalar = isinstance(atom.type, ArrayType) and atom.type.is_scalar
        return self.scalar(atom, lanes) if is_scalar else self.block(atom, lanes)

    # ------------------------------------------------------------------ writing
    def bind(self, var: Var, value: Value) -> None:
        """Let a variable have a value; where it is an array without dimensions, that of its element."""
        if isinstance(value, Block) and isinstance(var.type, ArrayType) and var.type.is_scalar:
            store = value.store
            rows = value.offset
            known = None if store.data is None else store.data[rows]
            sources = () if store.sets is None else (Source(store.sets, rows),)
            value = Scalar(value.lanes, known, frozenset(sources))
        if isinstance(value, Scalar):
            if len(value.sources) > SOURCES_KEPT:
                sets = collected(value.sources)
                value = Scalar(
                    value.lanes, value.value, frozenset([Source(sets, np.arange(value.lanes.count))])
                )
            if isinstance(var.type, SumType):
                raise AssertionError("an accumulator is an array in lanes")
        self.values[var] = value

    def sets(self, store: Store) -> Sets:
        """The sets of a store's elements, empty ones where nothing is said of them."""
        return nothing(store.count, self.inputs) if store.sets is None else store.sets


def breadth(state: State, body: Body, lanes: Lanes) -> int:
    """About how many iterations of parfors a body runs at once for each lane, as far as their extents are
    known before it runs."""
    widest = 1
    for let in body.lets:
        if not state.relevance.is_live(let):
            continue
        inside = max([1, *(breadth(state, inner, lanes) for _, inner in bodies(let.expr))])
        if isinstance(let.expr, ParFor):
            inside *= max(1, _known_extent(state, let.expr.extent, lanes))
        widest = max(widest, inside)
    return widest


def _known_extent(state: State, extent: Size, lanes: Lanes) -> int:
    if isinstance(extent, Const):
        return int(extent.value)
    found = state.values.get(extent)
    if not isinstance(found, Scalar) or found.value is None or not lanes.is_within(found.lanes):
        return 1
    return int(found.value.max(initial=0))


# ---------------------------------------------------------------------------- two values made one
def chosen(state: State, condition: Data | None, then: Value, other: Value, lanes: Lanes) -> Value:
    """`then` in the lanes where the condition holds, else `other`; both where it is not known."""
    if isinstance(then, Scalar) and isinstance(other, Scalar):
        return _chosen_scalar(condition, then, other)
    assert isinstance(then, Block) and isinstance(other, Block)
    if then.pending is not None and then.pending is other.pending:
        return then
    if condition is None:
        return joined(then, other)
    offset = np.where(condition, then.offset, other.offset + then.store.count)
    shape = tuple(
        np.where(condition, left, right) for left, right in zip(then.shape, other.shape, strict=True)
    )
    return Block(lanes, offset, shape, concatenated(state, (then.store, other.store)))


def _chosen_scalar(condition: Data | None, then: Scalar, other: Scalar) -> Scalar:
    if condition is None:
        return Scalar(then.lanes, None, then.sources | other.sources)
    value = None
    if then.value is not None and other.value is not None:
        value = np.where(condition, then.value, other.value)
    return Scalar(then.lanes, value, either(condition, then, other))


def joined(left: Block, right: Block) -> Block:
    """An array whose elements depend on what those of either depend on."""
    first, second = contiguous(left), contiguous(right)
    sets = [store.sets for store in (first.store, second.store) if store.sets is not None]
    if first.store.count != second.store.count:
        raise PatternSize
    return Block(
        first.lanes, first.offset, first.shape, Store(first.store.count, None, union(sets) if sets else None)
    )


def concatenated(state: State, stores: Sequence[Store]) -> Store:
    """The elements of several stores, one store after the other."""
    data = None
    known = [store.data for store in stores if store.data is not None]
    if len(known) == len(stores):
        data = np.concatenate(known)
    sets = None
    if any(store.sets is not None for store in stores):
        sets = stacked([state.sets(store) for store in stores])
    return Store(sum(store.count for store in stores), data, sets)
