"""The places where a mask holds: how many there are is known at run time only.

keep_i = mask[i],  place_i = Σ_{j<i} keep_j,  kept = scatter of i at place_i where keep_i
"""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Bounds, Part, Reduce, Scan, Scatter, Var, i64
from anadrome.dtypes import I64
from anadrome.frontend.context import Context
from anadrome.frontend.sizes import multiply_sizes


def kept_places(context: Context, keep: Var) -> Var:
    """The rising indices of the true elements of a vector of bools."""
    builder, extent = context.builder, keep.type.shape[0]

    def count(inner: Builder, index: Var) -> Sequence[Part]:
        one = inner.convert(inner.index(keep, (index,)), I64)
        return Scan.of("add", (one,), exclusive=True), Reduce.of("add", (one,))

    places, total = builder.parfor(extent, count)
    context.nonnegative.add(total)
    context.most[total] = (builder.affine(extent),)
    start = builder.full((total,), i64(0))
    assert isinstance(start, Var)
    init = start

    def put(inner: Builder, index: Var) -> Sequence[Part]:
        at = inner.select(inner.index(keep, (index,)), inner.index(places, (index,)), total)
        return (Scatter.of(init, (at,), index, Bounds.IGNORED),)

    return builder.parfor(extent, put)[0]


def coordinates(context: Context, mask: Var) -> tuple[Var, ...]:
    """For each dimension of a mask the indices of its true elements, in row-major order: `np.nonzero`."""
    shape = mask.type.shape
    if len(shape) == 1:
        return (kept_places(context, mask),)
    builder = context.builder
    flat = kept_places(context, builder.reshape(mask, (multiply_sizes(context, shape),)))
    found: list[Var] = []
    for axis, size in enumerate(shape):
        below = multiply_sizes(context, shape[axis + 1 :])

        def along(
            inner: Builder, index: Var, below: Atom = below, size: Atom = size, axis: int = axis
        ) -> Atom:
            place = inner.apply("floordiv", inner.index(flat, (index,)), below)
            return inner.apply("mod", place, size) if axis else place

        found.append(builder.stack(flat.type.shape[0], along))
    return tuple(found)
