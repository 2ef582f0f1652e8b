"""The values of a search for a sparsity pattern: every iteration of every parfor at once.

*Lanes* are the iterations that run a body: one for the function, `extent` for each lane around a parfor, a
part of the lanes around for a branch. A scalar has one value and one set of inputs for each lane; an array a
place in a *store* of elements, so that reading one in an inner body, or a row of it, copies nothing. Lanes
may differ in the shapes of their arrays. A value that is not known is None; so are sets that are all empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from anadrome.sparsity.sets import Ints, Sets, grouped, pick, spans, union

Data = npt.NDArray[Any]

PENDING = 1 << 22
"""Contributions are joined when there are more than so many."""

OUTSIDE = -(1 << 40)
"""Where the elements of a row begin that is outside its array: every one of them is outside."""


@dataclass(slots=True, eq=False)
class Lanes:
    """The iterations that run a body; `up` names for each the lane around it."""

    count: int
    around: Lanes | None = None
    up: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    lifted: dict[object, Source] = field(default_factory=dict)
    routes: dict[Lanes, Ints | None] = field(default_factory=dict)

    def is_within(self, outer: Lanes) -> bool:
        """Whether these lanes are those, or lie in them."""
        return self is outer or (self.around is not None and self.around.is_within(outer))

    def route(self, outer: Lanes) -> Ints | None:
        """For each lane, the lane of `outer` it belongs to; None where these are the lanes themselves."""
        if outer is self:
            return None
        if outer not in self.routes:
            assert self.around is not None, "a variable is read outside the lanes it is bound in"
            beyond = self.around.route(outer)
            self.routes[outer] = self.up if beyond is None else beyond[self.up]
        return self.routes[outer]


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """For each lane the set of one element of `sets`: that of its row, or none for the row -1."""

    sets: Sets
    rows: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """A scalar in lanes. What it depends on is the union of its sources, which is not computed before it is
    stored: a body of a hundred operations on three reads costs three unions."""

    lanes: Lanes
    value: Data | None = None
    sources: frozenset[Source] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """Elements: how many, their values, and what each depends on."""

    count: int
    data: Data | None = None
    sets: Sets | None = None


@dataclass(slots=True, eq=False)
class Pending:
    """Contributions to the elements of a store that are collected and joined later: those of an accumulator,
    or what a loop writes into an array it carries. `root` is the array as it was opened."""

    root: Block | None = None
    parts: list[tuple[Ints, Sets]] = field(default_factory=list)
    rows: int = 0

    def add(self, addresses: Ints, sets: Sets | None) -> None:
        """Let the elements at these addresses (-1: nowhere) depend on these sets as well."""
        if sets is None or not sets.nnz:
            return
        self.parts.append((addresses, sets))
        if len(addresses) + self.rows > PENDING and self.root is not None:
            count = self.root.store.count
            whole = union([grouped(one, at, count) for at, one in self.parts])
            self.parts, self.rows = [(np.arange(count), whole)], 0
        else:
            self.rows += len(addresses)

    def joined(self, store: Store) -> Store:
        """The store with all contributions in its sets; values are not known any more."""
        found = [] if store.sets is None else [store.sets]
        found += [grouped(sets, addresses, store.count) for addresses, sets in self.parts]
        self.parts = []
        return Store(store.count, None, union(found) if found else None)


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """An array in lanes: where in the store the lane's elements begin, and its shape in each lane."""

    lanes: Lanes
    offset: Ints
    shape: tuple[Ints, ...]
    store: Store
    pending: Pending | None = None

    def sizes(self, first: int = 0) -> Ints:
        """The number of elements of each lane, in the dimensions from `first` on."""
        total = np.ones(self.lanes.count, np.int64)
        for size in self.shape[first:]:
            total = total * size
        return total


Value = Scalar | Block


# ---------------------------------------------------------------------------- moving between lanes
def lift(value: Value, lanes: Lanes) -> Value:
    """A value of lanes around as one of these lanes."""
    if isinstance(value, Scalar):
        return lift_scalar(value, lanes)
    return lift_block(value, lanes)


def lift_scalar(value: Scalar, lanes: Lanes) -> Scalar:
    """The same for a scalar. One source becomes one source, however often it is read."""
    route = lanes.route(value.lanes)
    if route is None:
        return value
    sources = []
    for source in value.sources:
        if source not in lanes.lifted:
            lanes.lifted[source] = Source(source.sets, source.rows[route])
        sources.append(lanes.lifted[source])
    return Scalar(lanes, None if value.value is None else value.value[route], frozenset(sources))


def lift_block(value: Block, lanes: Lanes) -> Block:
    """The same for an array: its elements stay where they are."""
    route = lanes.route(value.lanes)
    if route is None:
        return value
    shape = tuple(size[route] for size in value.shape)
    return Block(lanes, value.offset[route], shape, value.store, value.pending)


def collecting(block: Block, store: Store) -> Block:
    """The array with these elements, to which contributions are collected from here on."""
    pending = Pending()
    pending.root = Block(block.lanes, block.offset, block.shape, store, pending)
    return pending.root


def either(condition: Data, then: Scalar, other: Scalar) -> frozenset[Source]:
    """The sources of `then` in the lanes where the condition holds, those of `other` in the others."""
    both = then.sources & other.sources
    kept = [masked(source, condition) for source in then.sources - both]
    kept += [masked(source, ~condition) for source in other.sources - both]
    return both | frozenset(kept)


def masked(source: Source, keep: npt.NDArray[np.bool_]) -> Source:
    """The source in some lanes, nothing in the others."""
    return Source(source.sets, np.where(keep, source.rows, -1))


def collected(sources: frozenset[Source]) -> Sets | None:
    """The union of sources: one set for each lane."""
    return union([pick(source.sets, source.rows) for source in sources]) if sources else None


def gathered(store: Store, rows: Ints) -> Store:
    """A store of these elements; those outside are zero and depend on nothing."""
    data = None
    if store.data is not None:
        inside = (rows >= 0) & (rows < store.count)
        data = np.zeros(len(rows), store.data.dtype)
        data[inside] = store.data[rows[inside]]
    return Store(len(rows), data, None if store.sets is None else pick(store.sets, rows))


def contiguous(block: Block) -> Block:
    """The array with a store of its own, lane after lane in row-major order."""
    starts, runs, places = spans(block.sizes())
    rows = block.offset[runs] + places
    is_whole = block.store.count == len(rows) and np.array_equal(rows, np.arange(len(rows)))
    store = block.store if is_whole else gathered(block.store, rows)
    return Block(block.lanes, starts, block.shape, store)


# ---------------------------------------------------------------------------- places
@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Where indices point: for each group of lanes, the addresses that may be meant.

    `group` names the group of each lane. Candidate k is the first element of a row of `row` elements at
    `address[k]`, and belongs to group `owner[k]`. `inside` says which lanes point into the array.
    """

    group: Ints
    owner: Ints
    address: Ints
    row: Ints
    inside: npt.NDArray[np.bool_]
    is_exact: bool


def places(block: Block, indices: Sequence[Ints | None]) -> Places:
    """The places of indices of which some are not known: those may be any.

    Lanes that look into the same array at the same known indices share a group, so that an unknown index
    costs as many candidates as there are arrays, not as there are lanes.
    """
    count = block.lanes.count
    strides = [block.sizes(axis + 1) for axis in range(len(indices))]
    start = block.offset.copy()
    inside = np.ones(count, bool)
    for index, size, stride in zip(indices, block.shape, strides, strict=False):
        if index is not None:
            inside &= (index >= 0) & (index < size)
            start += np.clip(index, 0, np.maximum(size - 1, 0)) * stride
    row = block.sizes(len(indices))
    free = [axis for axis, index in enumerate(indices) if index is None]
    lanes = np.arange(count)
    if not free:
        return Places(lanes, lanes, start, row, inside, True)
    keys = np.stack([start, row, inside, *(block.shape[axis] for axis in free)])
    if count and (keys == keys[:, :1]).all():
        first, group = np.zeros(1, np.int64), np.zeros(count, np.int64)
    else:
        _, first, group = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    owner, address = np.arange(len(first)), start[first]
    for axis in free:
        extent = np.where(inside[first], block.shape[axis][first], 0)
        _, runs, at = spans(extent[owner])
        owner, address = owner[runs], address[runs] + at * strides[axis][first][owner[runs]]
    return Places(group.reshape(-1), owner, address, row[first], inside, False)


def read(block: Block, at: Places, depth: int) -> Block:
    """The rows at places, `depth` indices deep; where several are possible, their union."""
    shape = block.shape[depth:]
    if at.is_exact:
        return Block(block.lanes, np.where(at.inside, at.address, OUTSIDE), shape, block.store)
    starts, _, _ = spans(at.row)
    _, runs, within = spans(at.row[at.owner])
    total = int(at.row.sum())
    sets = None
    if block.store.sets is not None:
        chosen = pick(block.store.sets, at.address[runs] + within)
        sets = grouped(chosen, starts[at.owner[runs]] + within, total)
    return Block(block.lanes, starts[at.group], shape, Store(total, None, sets))


def contribution(at: Places, value: Store) -> tuple[Ints, Sets | None]:
    """The addresses a value is put to, and the sets that come there. `value` holds for each lane its row."""
    if value.sets is None:
        return np.zeros(0, np.int64), None
    if at.is_exact:
        _, runs, within = spans(at.row)
        return np.where(at.inside[runs], at.address[runs] + within, -1), value.sets
    starts, _, _ = spans(at.row)
    _, lane, within = spans(at.row[at.group])
    sets = grouped(value.sets, starts[at.group[lane]] + within, int(at.row.sum()))
    _, runs, within = spans(at.row[at.owner])
    return at.address[runs] + within, pick(sets, starts[at.owner[runs]] + within)
