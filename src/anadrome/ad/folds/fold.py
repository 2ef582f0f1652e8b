"""Parallel rules of reductions and scans by products and lambdas (Bruun et al. 2023: IFL23).

`canonical` leaves each of these yields alone in a parfor that reads its values v_i from arrays. With P_i the
prefix before iteration i, S_i = P_i ⊕ v_i, and r_i the adjoint of S_i through everything after it:

  any:               v_i_adj = r_i·∂(P_i ⊕ v_i)/∂v_i, and so for what ⊕ reads of its surroundings, summed
  reduce ⊕:          r_i = J_{i+1}ᵀ·…·J_{n-1}ᵀ·y_adj  where the blocks of J are small, else
                     r_i = y_adj·∂(S_i ⊕ R_i)/∂S_i,  R_i the values after i combined            (§3.1)
  scan ⊕:            r_i = y_i_adj + J_{i+1}ᵀ·r_{i+1},  J_i = ∂(P_i ⊕ v_i)/∂P_i                  (§3.4)
  exclusive scan ⊕:  r_i = u_{i+1},  u_i = y_i_adj + J_iᵀ·u_{i+1}
  reduce mul:        v_i_adj = y_adj·Π_{j≠i} v_j                                                (`products`)

The recurrences are scans (`recurrence`), one for each block of J. Forward mode runs the dual operator
(`monoids`): y and y_tan are one reduction or scan of pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from anadrome.ad.arrays import element, flipped
from anadrome.ad.folds.commuting import is_commutative
from anadrome.ad.folds.folded import Fold, Seeds
from anadrome.ad.folds.inverse import reverse_inverted
from anadrome.ad.folds.monoids import (
    Derivative,
    Jacobian,
    Lookup,
    as_lambda,
    blocks,
    captured,
    dual,
    flipped_operator,
    has_small_blocks,
    jacobian,
    moving_components,
    pullback,
)
from anadrome.ad.folds.products import reverse_product
from anadrome.ad.folds.recurrence import closure, linear_scan
from anadrome.ad.sweep.scope import Scope
from anadrome.array_ir.build import Builder, as_var, number
from anadrome.array_ir.nodes import (
    Atom,
    Index,
    Lambda,
    Let,
    ParFor,
    Part,
    Reduce,
    Scan,
    Var,
)
from anadrome.array_ir.rewrite import Renaming
from anadrome.dtypes import DType
from anadrome.prims.node import replace


# ---------------------------------------------------------------------------- which there are
def has_fold_rule(part: Part, varied: set[Var]) -> bool:
    """Whether a reduction or scan that carries derivatives has a parallel rule; `varied` may not be renamed.

    Values are scalars, the identity is constant, and an operator reads varied scalars around it, no arrays.
    """
    item, values = part.item, part.takes
    assert isinstance(item, Reduce | Scan)
    if any(value.type.shape for value in values):
        return False
    match item.operator:
        case Lambda() as operator:
            is_open = any(var.type.shape for var in captured(operator, varied))
            if is_open or any(atom in varied for atom in operator.identity):
                return False
            moving = moving_components(
                operator, [value in varied for value in values], captured(operator, varied)
            )
            return isinstance(item, Reduce) or has_small_blocks(operator, moving)
        case name:
            return name == "mul"


def arrays_of(expr: ParFor) -> list[Var]:
    """The arrays that the values of a parfor's fold are read from."""
    sources = {let.targets[0]: let.expr.array for let in expr.body.lets if isinstance(let.expr, Index)}
    return [sources[value] for value in expr.body.results if isinstance(value, Var)]


# ---------------------------------------------------------------------------- reverse mode
def reverse_fold(scope: Scope, let: Let, expr: ParFor, reverse: Derivative) -> None:
    """The adjoint of a reduction or scan that stands alone, from the adjoints of its results."""
    (item,) = expr.yields
    seeds = [scope.take(target) for target in let.targets]
    if all(seed is None for seed in seeds):
        return
    assert isinstance(item, Reduce | Scan)
    old_arrays = arrays_of(expr)
    arrays = [scope.renaming.variable(array) for array in old_arrays]
    extent = scope.new_size(expr.extent)
    results = [scope.renaming.variable(target) for target in let.targets]
    if isinstance(item, Reduce) and item.operator == "mul":
        adjoint = reverse_product(scope.builder, arrays[0], results[0], _seed_of(seeds), extent)
        scope.contribute_whole(old_arrays[0], adjoint)
        return
    old_extra = captured(item.operator, scope.varied)
    extra = [scope.renaming.variable(var) for var in old_extra]
    operator = as_lambda(scope.renaming.operator(item.operator), [value.type for value in expr.body.results])
    fold = Fold(scope, scope.builder, operator, old_arrays, arrays, old_extra, extra, extent, reverse)
    if isinstance(item, Reduce):
        fold.contribute(_reverse_reduce(fold, results, seeds))
    elif item.operator == "mul" and not item.exclusive:
        fold.contribute(_reverse_scan(fold, item, seeds, fold.exclusive_prefixes(), True))
    else:
        fold.contribute(_reverse_scan(fold, item, seeds, results, item.exclusive))


def _seed_of(seeds: Seeds) -> Atom:
    (seed,) = seeds
    assert seed is not None
    return seed


def _reverse_reduce(fold: Fold, totals: Sequence[Var], seeds: Seeds) -> tuple[Var, ...]:
    """By the operator's inverse where it has one, and where that fails by scans."""
    if fold.operator.inverse is None or fold.extra or not is_commutative(fold.operator):
        return _reverse_by_scans(fold, seeds)
    return reverse_inverted(
        fold, totals, seeds, lambda branch: _reverse_by_scans(replace(fold, builder=branch), seeds)
    )


def _reverse_by_scans(fold: Fold, seeds: Seeds) -> tuple[Var, ...]:
    """r_i by products of Jacobians where these are small, else by combining what comes after i."""
    if has_small_blocks(fold.operator, fold.moving):
        return _reverse_by_jacobians(fold, seeds)
    return _reverse_from_both_sides(fold, seeds)


def _reverse_by_jacobians(fold: Fold, seeds: Seeds) -> tuple[Var, ...]:
    """r_i = J_{i+1}ᵀ·…·J_{n-1}ᵀ·y_adj, one scan of products for each block that a seed reaches."""
    builder, extent, operator = fold.builder, fold.extent, fold.operator
    before = fold.exclusive_prefixes()
    reached = [
        block for block in blocks(operator, fold.moving) if any(seeds[place] is not None for place in block)
    ]
    chains = [_Chain.of(fold, block) for block in reached]

    def steps(inner: Builder, index: Var) -> list[Part]:
        place = flipped(inner, extent, index)
        prefix = [inner.index(array, (place,)) for array in before]
        operands = (*prefix, *fold.values(inner, place), *fold.extra)
        return [chain.product(inner, operands) for chain in chains]

    results = iter(builder.parfor(extent, steps))
    products = [{entry: next(results) for entry in chain.pattern} for chain in chains]

    def adjoint(
        inner: Builder, index: Var, before: Sequence[Atom], values: Sequence[Atom]
    ) -> Mapping[int, Atom]:
        found = fold.nothing()
        last = flipped(inner, extent, index)
        for chain, entries in zip(chains, products, strict=True):
            parts: dict[int, Atom] = {}
            for (row, column), array in entries.items():
                seed = seeds[chain.block[column]]
                if seed is not None:
                    term, place = inner.mul(inner.index(array, (last,)), seed), chain.block[row]
                    parts[place] = inner.add(parts[place], term) if place in parts else term
            found.update(parts)
        return found

    return fold.adjoints(fold.before(before, True), adjoint)


def _reverse_from_both_sides(fold: Fold, seeds: Seeds) -> tuple[Var, ...]:
    """Prefixes from both sides, then r_i = y_adj·∂(S_i ⊕ R_i)/∂S_i."""
    builder, extent, operator = fold.builder, fold.extent, fold.operator
    count = len(operator.left)

    def scans(inner: Builder, index: Var) -> list[Part]:
        left = tuple(fold.values(inner, index))
        right = tuple(fold.values(inner, flipped(inner, extent, index)))
        return [
            Scan.of(as_lambda(operator, ()), left),
            Scan.of(flipped_operator(operator), right, exclusive=True),
        ]

    results = builder.parfor(extent, scans)
    prefixes, suffixes = results[:count], results[count:]
    moving = fold.moving
    flags = [place in moving for place in range(count)] + [False] * (count + len(fold.extra))
    seeded = [place for place in moving if seeds[place] is not None]
    rule = pullback(operator, fold.extra, flags, seeded, fold.reverse)
    cotangents = [seed for place in seeded if (seed := seeds[place]) is not None]

    def adjoint(
        inner: Builder, index: Var, before: Sequence[Atom], values: Sequence[Atom]
    ) -> Mapping[int, Atom]:
        here = [inner.index(array, (index,)) for array in prefixes]
        after = [inner.index(array, (flipped(inner, extent, index),)) for array in suffixes]
        found = rule.pull(inner, (*here, *after, *fold.extra), cotangents)
        return dict(zip(moving, found, strict=True))

    return fold.adjoints(fold.before(prefixes, False), adjoint)


def _reverse_scan(
    fold: Fold, item: Scan, seeds: Seeds, prefixes: Sequence[Var], are_before: bool
) -> tuple[Var, ...]:
    """r_i by one linear recurrence for each block of the Jacobian that a seed reaches; the prefixes are those
    before each iteration, or those after it."""
    builder, extent, operator = fold.builder, fold.extent, fold.operator
    reached = [
        block for block in blocks(operator, fold.moving) if any(seeds[place] is not None for place in block)
    ]
    chains = [chain for block in reached if (chain := _Chain.of(fold, block)).rule.rows or item.exclusive]
    before = fold.before(prefixes, are_before)

    def seed(inner: Builder, place: int, index: Atom) -> Atom | None:
        array = seeds[place]
        return None if array is None else inner.index(as_var(array), (index,))

    def steps(inner: Builder, index: Var) -> list[Part]:
        place = flipped(inner, extent, index)
        assert isinstance(place, Var)
        operands = (*before(inner, place), *fold.values(inner, place))
        parts: list[Part] = []
        for chain in chains:
            here = [seed(inner, component, place) for component in chain.block]
            parts.append(chain.step(inner, (*operands, *fold.extra), here, item.exclusive))
        return parts

    results = iter(builder.parfor(extent, steps) if chains else ())
    later: dict[int, Var] = {}
    for chain in chains:
        found = [next(results) for _ in range(len(chain.pattern) + len(chain.block))]
        later.update(zip(chain.block, found[len(chain.pattern) :], strict=True))

    def adjoint(
        inner: Builder, index: Var, before: Sequence[Atom], values: Sequence[Atom]
    ) -> Mapping[int, Atom]:
        found = fold.nothing()
        for component in fold.moving:
            own = None if item.exclusive else seed(inner, component, index)
            if own is not None:
                found[component] = own
            if component in later:
                after = inner.index(later[component], (flipped(inner, extent, index),))
                found[component] = after if own is None else inner.add(own, after)
        return found

    return fold.adjoints(before, adjoint)


@dataclass(frozen=True, slots=True, eq=False)
class _Chain:
    """The linear recurrence of one block: A_i = J_iᵀ, whose products have entries in `pattern`."""

    block: list[int]
    rule: Jacobian
    pattern: list[tuple[int, int]]
    dtype: DType

    @staticmethod
    def of(fold: Fold, block: list[int]) -> _Chain:
        """The recurrence of a block of the fold's operator."""
        rule = jacobian(fold.operator, fold.extra, block, fold.reverse)
        entries = [(block.index(part), block.index(place)) for place, part in rule.entries]
        return _Chain(block, rule, closure(entries, len(block)), fold.operator.left[block[0]].type.dtype)

    def matrix(self, builder: Builder, operands: Sequence[Atom]) -> dict[tuple[int, int], Atom]:
        """The entries of A at these operands."""
        values, block = self.rule.evaluate(builder, operands), self.block
        return {(block.index(part), block.index(place)): value for (place, part), value in values.items()}

    def product(self, builder: Builder, operands: Sequence[Atom]) -> Part:
        """M ← A·M"""
        return linear_scan(self.pattern, self.matrix(builder, operands), (), self.dtype)

    def step(
        self, builder: Builder, operands: Sequence[Atom], seeds: Sequence[Atom | None], is_exclusive: bool
    ) -> Part:
        """u ← A·u + s where results are prefixes before each iteration, w ← A·(w + s) where after."""
        block = self.block
        matrix = self.matrix(builder, operands)
        if is_exclusive:
            vector: list[Atom | None] = list(seeds)
        else:
            vector = [None] * len(block)
            for (row, column), value in matrix.items():
                own = seeds[column]
                if own is not None:
                    term, known = builder.mul(value, own), vector[row]
                    vector[row] = term if known is None else builder.add(known, term)
        zero = number(0.0, self.dtype)
        return linear_scan(
            self.pattern, matrix, [zero if part is None else part for part in vector], self.dtype
        )


# ---------------------------------------------------------------------------- forward mode
def forward_fold(
    builder: Builder,
    renaming: Renaming,
    let: Let,
    expr: ParFor,
    varied: set[Var],
    forward: Derivative,
    is_single: bool,
) -> tuple[tuple[Var, ...], Callable[[Builder, Lookup], Sequence[Atom]]]:
    """The results that have a tangent, and what computes those tangents, by the dual operator.

    Where there is a single direction the results themselves come from the dual operator too; else they are
    emitted here, before the directions.
    """
    (item,) = expr.yields
    assert isinstance(item, Reduce | Scan)
    old_arrays = arrays_of(expr)
    arrays = [renaming.variable(array) for array in old_arrays]
    operator = as_lambda(renaming.operator(item.operator), [value.type for value in expr.body.results])
    old_extra = captured(item.operator, varied)
    moving = moving_components(operator, [a in varied for a in old_arrays], renaming.atoms(tuple(old_extra)))
    extent = renaming.atom(expr.extent)
    if not is_single:
        builder.emit(renaming.let(let))

    def tangents(inner: Builder, tangent: Lookup) -> Sequence[Atom]:
        extra = {renaming.variable(var): _or_zero(tangent(var), var) for var in old_extra}
        pair = dual(operator, moving, extra, forward)
        changes = [tangent(old_arrays[place]) for place in moving]

        def body(deeper: Builder, index: Var) -> list[Part]:
            values = [deeper.index(array, (index,)) for array in arrays]
            moved = [
                number(0.0, values[place].type.dtype) if change is None else element(deeper, change, (index,))
                for place, change in zip(moving, changes, strict=True)
            ]
            operands = (*values, *moved)
            if isinstance(item, Reduce):
                return [Reduce.of(pair, operands)]
            return [Scan.of(pair, operands, item.exclusive)]

        results = inner.parfor(extent, body)
        if is_single:
            renaming.mapping.update(zip(let.targets, results, strict=False))
        return results[len(let.targets) :]

    return tuple(let.targets[place] for place in moving), tangents


def _or_zero(tangent: Atom | None, var: Var) -> Atom:
    return number(0.0, var.type.dtype) if tangent is None else tangent
