"""Which columns, or rows, of a sparse matrix may share one direction: greedy colourings of its pattern.

*Columns* that meet in no row share a colour (a distance-2 colouring of one side of the bipartite graph):
with the columns of a colour added up into one direction, each element stands alone in its row (Curtis, Powell
and Reid 1974; Coleman and Moré 1983).

A *symmetric* matrix needs fewer: a star colouring of its graph, where neighbours differ and every path of
four vertices has three colours at least. Then each element h_ij stands alone in row i of the colour of j, or
in row j of the colour of i (Coleman and Moré 1984; Gebremedhin, Manne and Pothen 2005, §6).

Vertices are coloured in turn, those with many neighbours first, each with the smallest colour it may have.
The loops are plain Python that this package compiles.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np

from anadrome.api.call import Compiled, Options, kept, plain_call
from anadrome.api.sparse.colouring_loops import columns_greedily, stars_greedily
from anadrome.config import from_environment
from anadrome.prims.node import replace
from anadrome.sparsity.sets import Ints, Sets


def _compiled(loop: Callable[..., Ints]) -> Compiled:
    """A loop compiled as one program for patterns of every size, when it is first needed."""

    def make() -> Compiled:
        config = replace(from_environment(os.environ), small_dimension=0)
        return Compiled("jit", loop, plain_call, Options(config))

    return kept(loop, ("colouring",), make)


def colour_columns(pattern: Sets) -> Ints:
    """The colours of the columns of a pattern, from 0.

    >>> from scipy.sparse import csr_array
    >>> colour_columns(csr_array(np.array([[1, 1, 0], [0, 1, 1]], bool))).tolist()
    [1, 0, 1]
    """
    by_column = pattern.tocsc()
    degrees = np.diff(by_column.indptr)
    found: Ints = _compiled(columns_greedily)(
        _wide(by_column.indptr),
        _wide(by_column.indices),
        _wide(pattern.indptr),
        _wide(pattern.indices),
        np.argsort(-degrees, kind="stable"),
    )
    return found


def colour_symmetric(pattern: Sets) -> Ints:
    """The colours of the rows and columns of a symmetric pattern, from 0.

    >>> from scipy.sparse import csr_array
    >>> arrow = np.eye(4, dtype=bool)
    >>> arrow[0, :] = arrow[:, 0] = True
    >>> colour_symmetric(csr_array(arrow)).tolist()
    [0, 1, 1, 1]
    """
    graph = pattern.tocoo()
    rows, columns = graph.coords
    apart = rows != columns
    order = np.lexsort((columns[apart], rows[apart]))
    degrees = np.bincount(rows[apart], minlength=pattern.shape[0])
    found: Ints = _compiled(stars_greedily)(
        np.concatenate(([0], np.cumsum(degrees))),
        _wide(columns[apart][order]),
        np.argsort(-degrees, kind="stable"),
    )
    return found


def _wide(values: np.ndarray) -> Ints:
    return values.astype(np.int64)
