"""Sparse matrices in what transforms take and give: their tangents and cotangents have the same pattern.

A derivative by a sparse matrix is one by its stored values. Two arrays of these go together where they belong
to the same places, which is checked when the program runs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anadrome.api import pytree
from anadrome.api.closures import staged_leaf
from anadrome.api.pytree import Structure
from anadrome.array_ir.nodes import Check
from anadrome.errors.sparse import SparseTransformed
from anadrome.frontend.context import Context
from anadrome.frontend.operators import apply_prim, truth
from anadrome.frontend.sizes import agree
from anadrome.frontend.values import Array, Value


def agree_patterns(
    context: Context, what: str, structure: Structure, primals: Sequence[Value], others: Sequence[Value]
) -> None:
    """Hold the sparse matrices among tangents or cotangents to the patterns of the primals.

    Both are the leaves of this structure.
    """
    words = f"{what}: a sparse matrix has its values at other places than the one it belongs to"
    for is_place, primal, other in zip(pytree.pattern_places(structure), primals, others, strict=True):
        if not is_place or primal is other:
            continue
        one, two = staged_leaf(context, primal), staged_leaf(context, other)
        assert one is not None and two is not None
        if isinstance(one, Array) and isinstance(two, Array):
            if one.cell.var is two.cell.var:
                continue
            agree(context, one.shape[0], two.shape[0], what)
        same = context.call(np.all, apply_prim(context, "eq", one, two))
        context.builder.let(Check(truth(context, same), "size", words))


def refuse_sparse(transform: str, what: str, structure: Structure, help: str) -> None:
    """Refuse a structure with a sparse matrix in it, of which the transform has no form."""
    if pytree.has_sparse(structure):
        raise SparseTransformed(transform, what, help)


BY_VALUES = (
    "take the stored values as an argument, and make the matrix of them inside: "
    "`csr_array((data, indices, indptr), shape=shape)`"
)
RETURN_VALUES = "return its values: `A.data`, or `A.toarray()`"
