"""Adjoints of products, exact where factors are zero, at every order (the case of Bruun et al. 2023, §3.2).

With y = Π v_j, the adjoint of a factor is the product of the others, v_i_adj = y_adj·Π_{j≠i} v_j:

  y normal:   y / v_i, which holds around the point, so that it may be differentiated again
  else:       L_i·R_i, the factors before i and those after it (a scan, and a loop back, which is cheaper
              than a second scan: products that are not normal are few)

The published rule counts zeros and picks formulas that hold at the point only: its second derivatives are
lost there. Products that leave the range of normal numbers go the second way as well, and lose no digits.
A histogram of products takes the second way for all bins when one of them needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from anadrome.ad.arrays import flipped, where_inside
from anadrome.ad.sweep.sequential import combine, neutral
from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import Atom, Bounds, Operator, Scan, Size, Var

Places = Callable[[Builder, Atom], tuple[Atom, ...]]
"""(builder, i) -> the bin of iteration i"""


def is_normal(builder: Builder, value: Atom) -> Atom:
    """Whether a number is neither zero nor subnormal, infinite or NaN."""
    dtype = value.type.dtype
    size = builder.apply("abs", value)
    limits = np.finfo(dtype.numpy_name)
    least, most = number(float(limits.tiny), dtype), number(float(limits.max), dtype)
    return builder.apply("and", builder.apply("ge", size, least), builder.apply("le", size, most))


def reverse_product(builder: Builder, factors: Var, product: Atom, y_adj: Atom, extent: Size) -> Var:
    """The adjoint of each factor."""

    def divided(branch: Builder) -> tuple[Atom, ...]:
        def part(inner: Builder, index: Var) -> Atom:
            return inner.mul(y_adj, inner.div(product, inner.index(factors, (index,))))

        return (branch.stack(extent, part),)

    def composed(branch: Builder) -> tuple[Atom, ...]:
        (before,) = branch.parfor(
            extent, lambda inner, i: [Scan.of("mul", (inner.index(factors, (i,)),), exclusive=True)]
        )

        def step(inner: Builder, index: Var, carried: tuple[Var, ...]) -> Sequence[Atom]:
            after, found = carried
            last = flipped(inner, extent, index)
            part = inner.mul(after, inner.index(before, (last,)))
            return inner.mul(after, inner.index(factors, (last,))), inner.update(found, (last,), part)

        nothing = branch.full((extent,), branch.constant(0.0, y_adj))
        return (branch.loop(extent, (y_adj, nothing), step)[1],)

    (adjoint,) = builder.branch(is_normal(builder, product), divided, composed)
    return adjoint


def other_factors(
    builder: Builder, init: Var, product: Var, at: Places, factors: Var, extent: Size, bounds: Bounds
) -> tuple[Var, Var]:
    """For y_b = init_b·Π_{i: k_i = b} v_i: what multiplies v_i in y_{k_i}, and what multiplies init_b in y_b.

    An iteration outside all bins has 0; what its factor is, is not looked at.
    """
    shape, nothing = product.type.shape, number(0.0, product.type.dtype)

    def divided(branch: Builder) -> tuple[Atom, ...]:
        def part(inner: Builder, index: Var) -> Atom:
            places = at(inner, index)

            def others(own: Builder) -> Atom:
                return own.div(own.index(product, places), own.index(factors, (index,)))

            return where_inside(inner, places, product, bounds, others, lambda _: nothing)

        def start(inner: Builder, place: Sequence[Var]) -> Atom:
            return inner.div(inner.index(product, place), inner.index(init, place))

        return branch.stack(extent, part), branch.build(shape, start)

    def composed(branch: Builder) -> tuple[Atom, ...]:
        ones = branch.full(shape, number(1.0, factors.type.dtype))
        assert isinstance(ones, Var)
        before, products = bin_prefixes(branch, ones, "mul", at, factors, extent, bounds, is_forward=True)
        after, _ = bin_prefixes(branch, ones, "mul", at, factors, extent, bounds, is_forward=False)

        def part(inner: Builder, index: Var) -> Atom:
            others = inner.mul(inner.index(before, (index,)), inner.index(after, (index,)))
            places = at(inner, index)
            start = where_inside(
                inner, places, init, bounds, lambda own: own.index(init, places), lambda _: nothing
            )
            return inner.mul(start, others)

        return branch.stack(extent, part), products

    normal = _every(builder, product)
    others, starts = builder.branch(normal, divided, composed)
    return others, starts


def _every(builder: Builder, array: Var) -> Atom:
    """Whether every element is normal."""

    def level(inner: Builder, indices: tuple[Var, ...]) -> Atom:
        if len(indices) == len(array.type.shape):
            return is_normal(inner, inner.index(array, indices))
        return inner.reduce("and", array.type.shape[len(indices)], lambda b, i: level(b, (*indices, i)))

    return level(builder, ())


def bin_prefixes(
    builder: Builder,
    start: Var,
    operator: Operator,
    at: Places,
    values: Var,
    extent: Size,
    bounds: Bounds,
    is_forward: bool,
) -> tuple[Var, Var]:
    """What stands in its bin before each iteration (or, going backward, what comes after it combined), and
    the bins in the end; the identity where an ignored place is outside. A sequential loop."""
    (nothing,) = neutral(builder, operator, (values,))
    found = builder.full((extent,), nothing)

    def step(inner: Builder, index: Var, carried: tuple[Var, ...]) -> Sequence[Atom]:
        bins, found = carried
        here = index if is_forward else flipped(inner, extent, index)
        places = at(inner, here)
        so_far = where_inside(
            inner, places, bins, bounds, lambda own: own.index(bins, places), lambda _: nothing
        )
        value = inner.index(values, (here,))
        sides = ((so_far,), (value,)) if is_forward else ((value,), (so_far,))
        (following,) = combine(inner, operator, *sides)
        return inner.update(bins, places, following, bounds), inner.update(found, (here,), so_far)

    bins, found = builder.loop(extent, (start, found), step)
    return found, bins
