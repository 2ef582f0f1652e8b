"""A sparse matrix from few products with it: which directions, and where each element is found in them.

With S the 0-1 matrix whose column c adds up the columns (R: the rows) of colour c:

    forward:    B = J S,      J_ij = B[i, colour of column j]
    reverse:    C = Rᵀ J,     J_ij = C[colour of row i, j]
    both:       B and C,      J_ij from B where j is the only column of its colour in row i, else from C
    symmetric:  B = H S,      H_ij = B[i, colour of j] where j is the only one of its colour in row i,
                              else B[j, colour of i]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy

from anadrome.api.sparse.colouring import colour_columns, colour_symmetric
from anadrome.sparsity.sets import Ints, Sets

Mode = Literal["forward", "reverse", "both", "symmetric"]
MODES = ("auto", "forward", "reverse", "both")

REVERSE_COST = 2
"""A reverse sweep is taken to cost as much as this many forward directions."""

MANY = 32
"""Where one side takes more directions than this, "auto" looks for a split between both."""

SPLIT_WORK = 1 << 24
"""The largest sum of squared degrees for which it looks, where it is not promising."""


@dataclass(frozen=True, slots=True, eq=False)
class Compression:
    """A pattern, the colours of its columns and rows, and where its elements are found.

    A column of colour c ≥ 0 is in forward direction c, a row of colour c in reverse direction c; -1 is in
    none. With B and C above, element e of the pattern, in row-major order, is number `places[e]` of the
    elements of B followed by those of C.
    """

    pattern: Sets
    mode: Mode
    columns: Ints
    rows: Ints
    places: Ints

    @property
    def forward(self) -> int:
        """The number of forward directions."""
        return int(self.columns.max(initial=-1)) + 1

    @property
    def reverse(self) -> int:
        """The number of reverse directions."""
        return int(self.rows.max(initial=-1)) + 1

    @property
    def cost(self) -> int:
        """What the directions cost, in forward directions."""
        return self.forward + REVERSE_COST * self.reverse

    def forward_seeds(self, first: int, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """The forward directions in one argument, whose elements are the columns from `first` on; the last
        dimension counts them."""
        count = int(np.prod(shape, dtype=np.int64))
        return _one_hot(self.columns[first : first + count], self.forward, dtype).reshape(
            (*shape, self.forward)
        )

    def reverse_seeds(self, first: int, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """The reverse directions in one result, whose elements are the rows from `first` on; the first
        dimension counts them."""
        count = int(np.prod(shape, dtype=np.int64))
        found = _one_hot(self.rows[first : first + count], self.reverse, dtype).T
        return np.ascontiguousarray(found).reshape((self.reverse, *shape))

    def matrix(self, products: npt.NDArray[Any]) -> scipy.sparse.csr_array:
        """The matrix of the elements of B and C, which shares no memory with the pattern."""
        members, starts = self.pattern.indices.copy(), self.pattern.indptr.copy()
        return scipy.sparse.csr_array((products[self.places], members, starts), shape=self.pattern.shape)


def _one_hot(colours: Ints, count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    found = np.zeros((len(colours), count), dtype)
    chosen = np.flatnonzero(colours >= 0)
    found[chosen, colours[chosen]] = 1.0
    return found


def compressed(pattern: Sets, mode: str, is_symmetric: bool) -> Compression:
    """The directions for a pattern: as `mode` says, or for "auto" the cheapest."""
    if not pattern.nnz:
        rows, columns = (np.full(count, -1) for count in pattern.shape)
        return Compression(pattern, "forward", columns, rows, np.zeros(0, np.int64))
    if is_symmetric:
        whole = (pattern + pattern.T).tocsr()
        whole.sort_indices()
        return _symmetric(whole)
    match mode:
        case "forward":
            return _forward(pattern)
        case "reverse":
            return _reverse(pattern)
        case "both":
            return _both(pattern)
        case _:
            return _cheapest(pattern)


def _cheapest(pattern: Sets) -> Compression:
    """Forward or reverse, whichever costs less; what cannot be better is not coloured. Both, where either
    alone takes many."""
    degrees = [np.diff(pattern.indptr), np.diff(pattern.tocsc().indptr)]
    least = int(degrees[0].max()), REVERSE_COST * int(degrees[1].max())
    makes = (_forward, _reverse) if least[0] <= least[1] else (_reverse, _forward)
    best = makes[0](pattern)
    if best.cost > max(least):
        best = min(best, makes[1](pattern), key=lambda one: one.cost)
    work = sum(int((degree.astype(np.int64) ** 2).sum()) for degree in degrees)
    hoped = min(_split_cost(degrees[0], REVERSE_COST, 1), _split_cost(degrees[1], 1, REVERSE_COST))
    if best.cost > MANY and (work <= SPLIT_WORK or 2 * hoped < best.cost):
        best = min(best, _both(pattern), key=lambda one: one.cost)
    return best


def _split_cost(degrees: Ints, alone: int, together: int) -> int:
    """The least that a split may cost: k lines, those with most elements, have directions of their own at
    `alone` each, and the others share directions of the other kind at `together` each, at least as many as
    the next line has elements; over all k."""
    falling = np.sort(degrees)[::-1].astype(np.int64)
    return int(np.min(alone * np.arange(len(falling)) + together * falling))


def _row_of(pattern: Sets) -> Ints:
    """The row of every element."""
    return np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))


def _forward(pattern: Sets) -> Compression:
    rows, columns = pattern.shape
    is_dense = 2 * int(np.diff(pattern.indptr).max()) > columns
    colours = np.arange(columns) if is_dense else colour_columns(pattern)
    places = _row_of(pattern) * (int(colours.max()) + 1) + colours[pattern.indices]
    return Compression(pattern, "forward", colours, np.full(rows, -1), places)


def _reverse(pattern: Sets) -> Compression:
    across = pattern.T.tocsr()
    across.sort_indices()
    rows, columns = pattern.shape
    is_dense = 2 * int(np.diff(across.indptr).max()) > rows
    colours = np.arange(rows) if is_dense else colour_columns(across)
    places = colours[_row_of(pattern)] * columns + pattern.indices
    return Compression(pattern, "reverse", np.full(columns, -1), colours, places)


def _symmetric(pattern: Sets) -> Compression:
    count = pattern.shape[0]
    colours = np.arange(count) if 4 * pattern.nnz > count * count else colour_symmetric(pattern)
    rows, columns = _row_of(pattern), pattern.indices.astype(np.int64)
    directions = int(colours.max()) + 1
    mine, other = rows * directions + colours[columns], columns * directions + colours[rows]
    places = np.where(_is_single(mine), mine, other)
    return Compression(pattern, "symmetric", colours, np.full(count, -1), places)


def _is_single(keys: Ints) -> npt.NDArray[np.bool_]:
    """Whether a key occurs once."""
    _, which, members = np.unique(keys, return_inverse=True, return_counts=True)
    return members[which] == 1  # type: ignore[no-any-return]


def _both(pattern: Sets) -> Compression:
    """Directions of both kinds: a star colouring of the graph whose edges are the elements, its vertices the
    rows and the columns; then only those colours that are needed, the most wanted first (Coleman and Verma
    1998; Gebremedhin, Manne and Pothen 2005, §7)."""
    rows, columns = pattern.shape
    graph = scipy.sparse.csr_array(
        scipy.sparse.block_array([[None, pattern], [pattern.T, None]], format="csr")
    )
    colours = colour_symmetric(graph)
    row_of, column_of = _row_of(pattern), pattern.indices.astype(np.int64)
    by_column, by_row = colours[rows:][column_of], colours[:rows][row_of]
    count = int(colours.max()) + 1
    in_forward = _is_single(row_of * count + by_column)
    in_reverse = _is_single(column_of * count + by_row)
    chosen = np.zeros(2 * count, bool)
    chosen[by_column[~in_reverse]] = True
    chosen[count + by_row[~in_forward]] = True
    while True:
        open_ = ~(in_forward & chosen[by_column]) & ~(in_reverse & chosen[count + by_row])
        if not open_.any():
            break
        wanted = np.bincount(by_column[open_], minlength=2 * count) * REVERSE_COST
        wanted += np.bincount(count + by_row[open_], minlength=2 * count)
        chosen[int(wanted.argmax())] = True
    numbers = np.where(chosen, 0, -1)
    numbers[:count][chosen[:count]] = np.arange(int(chosen[:count].sum()))
    numbers[count:][chosen[count:]] = np.arange(int(chosen[count:].sum()))
    column_colours, row_colours = numbers[:count][colours[rows:]], numbers[count:][colours[:rows]]
    directions = int(chosen[:count].sum())
    from_columns = row_of * directions + column_colours[column_of]
    from_rows = rows * directions + row_colours[row_of] * columns + column_of
    places = np.where(in_forward & chosen[by_column], from_columns, from_rows)
    return Compression(pattern, "both", column_colours, row_colours, places)
