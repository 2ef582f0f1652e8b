"""The cheapest values to keep: a minimum cut between what cannot be computed again and what is needed.

    capacity of a value = its bytes, sixteen times more for each loop around it

Values are nodes that are split in two; what uses a value hangs behind it without a limit. Cutting a value
means keeping it, and everything behind it is computed again from it (cf. Enzyme, SC21, §4.3).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping

import numpy as np
import scipy

from anadrome.kernel_ir.nodes import Var

LOOP_FACTOR = 16
"""How much dearer a value is to keep in one more loop."""
DEEPEST = 5
"""Loops further inside count no more."""
UNLIMITED = 2**31 - 1
"""A capacity that nothing reaches."""


def kept_values(
    needed: Iterable[Var],
    operands: Callable[[Var], Iterable[Var]],
    is_recomputable: Callable[[Var], bool],
    depth: Callable[[Var], int],
) -> set[Var]:
    """The values to keep, so that all needed ones can be computed. `operands` are those of a value that are
    not there anyway."""
    wanted = tuple(dict.fromkeys(needed))
    edges: dict[Var, tuple[Var, ...]] = {}
    pending = list(wanted)
    while pending:
        var = pending.pop()
        if var not in edges:
            edges[var] = tuple(operands(var)) if is_recomputable(var) else ()
            pending.extend(edges[var])
    roots = [var for var in edges if not is_recomputable(var)]
    if not roots:
        return set()
    order = {var: number for number, var in enumerate(edges)}
    return _cut(edges, order, roots, wanted, depth)


def _cut(
    edges: Mapping[Var, tuple[Var, ...]],
    order: Mapping[Var, int],
    roots: Iterable[Var],
    wanted: Iterable[Var],
    depth: Callable[[Var], int],
) -> set[Var]:
    """Node 2k is where value k is entered, 2k + 1 where it is left; then the source and the sink."""
    count = len(order)
    source, sink = 2 * count, 2 * count + 1
    found: dict[tuple[int, int], int] = {}
    for var, number in order.items():
        found[2 * number, 2 * number + 1] = var.dtype.bytes * LOOP_FACTOR ** min(depth(var), DEEPEST)
        for operand in edges[var]:
            found[2 * order[operand] + 1, 2 * number] = UNLIMITED
    found |= {(source, 2 * order[var]): UNLIMITED for var in roots}
    found |= {(2 * order[var] + 1, sink): UNLIMITED for var in wanted}
    rows, columns = np.array(list(found)).T
    capacities = np.array(list(found.values()), dtype=np.int32)
    size = 2 * count + 2
    graphs = importlib.import_module("scipy.sparse.csgraph")
    graph = scipy.sparse.csr_array((capacities, (rows, columns)), shape=(size, size))
    flow = graphs.maximum_flow(graph, source, sink).flow
    rest = scipy.sparse.csr_array(graph - flow)
    rest.eliminate_zeros()
    reached = set(graphs.breadth_first_order(rest, source, return_predecessors=False).tolist())
    return {var for var, number in order.items() if 2 * number in reached and 2 * number + 1 not in reached}
