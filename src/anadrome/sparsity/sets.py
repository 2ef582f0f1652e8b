"""Sets of inputs for many elements at once: boolean matrices in compressed rows, one row for each element.

A row says which inputs an element may depend on. All operations are unions, of rows picked, grouped or
prefixed; each is a handful of calls into SciPy's compiled code, whatever the number of elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from anadrome.errors.sparse import PatternTooLarge

Ints = npt.NDArray[np.int64]
Sets = Any
"""A `csr_array` of bools: (elements, inputs)."""

LARGEST = 1 << 27
"""The most members that the sets of one array may have in all."""


def sets_of(starts: Ints, columns: Ints, inputs: int) -> Sets:
    """The sets whose members stand in `columns`, those of element e from `starts[e]` to `starts[e + 1]`."""
    return scipy.sparse.csr_array(
        (np.ones(len(columns), bool), columns, starts), shape=(len(starts) - 1, inputs)
    )


def nothing(count: int, inputs: int) -> Sets:
    """Empty sets.

    >>> nothing(2, 3).shape
    (2, 3)
    """
    return scipy.sparse.csr_array((count, inputs), dtype=bool)


def singletons(first: int, count: int, inputs: int) -> Sets:
    """{first}, {first + 1}, … : what an input depends on.

    >>> singletons(1, 2, 3).indices.tolist()
    [1, 2]
    """
    return sets_of(np.arange(count + 1), np.arange(first, first + count), inputs)


def pick(sets: Sets, rows: Ints) -> Sets:
    """The sets of these elements; a row outside, such as -1, picks the empty set.

    >>> pick(singletons(0, 2, 2), np.array([1, -1])).sum(axis=1).tolist()
    [1, 0]
    """
    count = sets.shape[0]
    if len(rows) == count and (count == 0 or (rows[0] == 0 and np.array_equal(rows, np.arange(count)))):
        return sets
    inside = (rows >= 0) & (rows < count)
    sizes = np.append(np.diff(sets.indptr), 0)
    places = np.where(inside, rows, count)
    members = int(sizes[places].sum())
    if members > LARGEST:
        raise PatternTooLarge(members, LARGEST)
    if inside.all():
        return sets[rows]
    starts = np.append(sets.indptr, sets.indptr[-1])
    padded = scipy.sparse.csr_array((sets.data, sets.indices, starts), shape=(count + 1, sets.shape[1]))
    return padded[places]


def union(parts: Sequence[Sets]) -> Sets:
    """Element by element, the union of one set from each part.

    >>> union([singletons(0, 2, 3), singletons(1, 2, 3)]).indices.tolist()
    [0, 1, 1, 2]
    """
    found = list(parts)
    while len(found) > 1:
        pairs = [left + right for left, right in zip(found[::2], found[1::2], strict=False)]
        found = pairs + (found[-1:] if len(found) % 2 else [])
    return found[0]


def grouped(sets: Sets, groups: Ints, count: int) -> Sets:
    """For each of `count` groups the union of the sets that belong to it; a group of -1 belongs to none.

    >>> grouped(singletons(0, 3, 3), np.array([0, 0, 1]), 2).indptr.tolist()
    [0, 2, 3]
    """
    order = np.argsort(groups, kind="stable")
    order = order[np.searchsorted(groups[order], 0) :]
    members = np.bincount(groups[order], minlength=count)
    starts = np.concatenate(([0], np.cumsum(members)))
    if len(order) and members.max() <= 1:
        rows = np.full(count, -1)
        rows[groups[order]] = order
        return pick(sets, rows)
    chosen = sets_of(starts, order, sets.shape[0])
    found = chosen @ sets
    found.sort_indices()
    return found


def stacked(parts: Sequence[Sets]) -> Sets:
    """The elements of all parts, one part after the other."""
    return parts[0] if len(parts) == 1 else scipy.sparse.vstack(parts, format="csr")


def prefixes(sets: Sets, previous: Ints) -> Sets:
    """For each element the union of its set and those of all before it.

    `previous` names the element before each, -1 for a first one. By doubling:
    S₀ = S, S_{k+1}[e] = S_k[e] ∪ S_k[p_k(e)], p_{k+1} = p_k ∘ p_k.

    >>> prefixes(singletons(0, 3, 3), np.array([-1, 0, 1])).sum(axis=1).tolist()
    [1, 2, 3]
    """
    pointers = previous
    while (pointers >= 0).any():
        sets = sets + pick(sets, pointers)
        pointers = np.where(pointers >= 0, pointers[pointers], -1)
    return sets


def spans(counts: Ints) -> tuple[Ints, Ints, Ints]:
    """Where each of several runs starts, and for each member of all runs, its run and its place in it.

    >>> [part.tolist() for part in spans(np.array([2, 0, 1]))]
    [[0, 2, 2], [0, 0, 2], [0, 1, 0]]
    """
    ends = np.cumsum(counts)
    starts = ends - counts
    total = int(ends[-1]) if len(ends) else 0
    runs = np.repeat(np.arange(len(counts)), counts)
    return starts, runs, np.arange(total) - starts[runs]
