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
from anadrome.ad.monoids import (
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
from anadrome.ad.products import reverse_product
from anadrome.ad.recurrence import closure, linear_scan
from anadrome.ad.scope import Scope
from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import (
    Atom,
    Index,
    Lambda,
    Let,
    ParFor,
    Reduce,
    Scan,
    Size,
    Stack,
    Var,
    Yield,
    i64,
)
from anadrome.array_ir.walk import Renaming
from anadrome.dtypes import DType


# ---------------------------------------------------------------------------- which there are
def has_fold_rule(item: Reduce | Scan, varied: set[Var]) -> bool:
    """Whether a reduction or scan that carries derivatives has a parallel rule; `varied` may not be renamed.

    Values are scalars, the identity is constant, and an operator reads varied scalars around it, no arrays.
    """
    if any(value.type.shape for value in item.values):
        return False
    match item.operator:
        case Lambda() as operator:
            is_open = any(var.type.shape for var in captured(operator, varied))
            if is_open or any(atom in varied for atom in operator.identity):
                return False
            moving = moving_components(
                operator, [value in varied for value in item.values], captured(operator, varied)
            )
            return isinstance(item, Reduce) or has_small_blocks(operator, moving)
        case name:
            return name == "mul"


def arrays_of(expr: ParFor) -> list[Var]:
    """The arrays that the values of a parfor's fold are read from."""
    (item,) = expr.yields
    assert isinstance(item, Reduce | Scan)
    sources = {let.targets[0]: let.expr.array for let in expr.body.lets if isinstance(let.expr, Index)}
    return [sources[value] for value in item.values if isinstance(value, Var)]


# ---------------------------------------------------------------------------- reverse mode
Adjoint = Callable[[Builder, Var, Sequence[Atom], Sequence[Atom]], Mapping[int, Atom]]
"""(builder, i, P_i, v_i) -> r_i, the adjoint of S_i, by component."""


@dataclass(frozen=True, slots=True, eq=False)
class _Fold:
    """A reduction or scan in the new program, with what its rule reads; `arrays` and `extra` are both old
    and new, position by position."""

    scope: Scope
    operator: Lambda
    old_arrays: Sequence[Var]
    arrays: Sequence[Var]
    old_extra: Sequence[Var]
    extra: Sequence[Var]
    extent: Size
    reverse: Derivative

    @property
    def moving(self) -> tuple[int, ...]:
        """The components that vary."""
        is_varied = [array in self.scope.varied for array in self.old_arrays]
        return moving_components(self.operator, is_varied, self.extra)

    def nothing(self) -> dict[int, Atom]:
        """A zero adjoint of each moving component."""
        return {place: number(0.0, self.operator.left[place].type.dtype) for place in self.moving}

    def values(self, builder: Builder, index: Atom) -> list[Atom]:
        """The values of an iteration."""
        return [builder.index(array, (index,)) for array in self.arrays]

    def exclusive_prefixes(self) -> tuple[Var, ...]:
        """P_i of every iteration, scanned anew."""

        def scan(inner: Builder, index: Var) -> list[Yield]:
            return [Scan(as_lambda(self.operator, ()), tuple(self.values(inner, index)), exclusive=True)]

        return self.scope.builder.parfor(self.extent, scan)

    def before(self, builder: Builder, prefixes: Sequence[Var], index: Var, is_exclusive: bool) -> list[Atom]:
        """P_i, from the results of an exclusive or an inclusive scan."""
        if is_exclusive:
            return [builder.index(array, (index,)) for array in prefixes]
        is_first = builder.apply("eq", index, i64(0))
        last = builder.apply("max", builder.sub(index, i64(1)), i64(0))
        return [
            builder.select(is_first, neutral, builder.index(array, (last,)))
            for array, neutral in zip(prefixes, self.operator.identity, strict=True)
        ]

    def contribute(self, prefixes: Sequence[Var], is_exclusive: bool, adjoint: Adjoint) -> None:
        """v_adj and the adjoints of captured variables, with r_i given by `adjoint(builder, i, P_i, v_i)`."""
        varied = self.scope.varied
        active = [array in varied and array.type.dtype.is_float for array in self.old_arrays]
        moving = self.moving
        flags = ([False] * len(self.arrays)) + active + [True] * len(self.extra)
        rule = pullback(self.operator, self.extra, flags, moving, self.reverse)

        def body(inner: Builder, index: Var) -> list[Yield]:
            values = self.values(inner, index)
            before = self.before(inner, prefixes, index, is_exclusive)
            cotangents = adjoint(inner, index, before, values)
            operands = (*before, *values, *self.extra)
            found = rule.pull(inner, operands, [cotangents[place] for place in moving])
            count = sum(active)
            return [
                *(Stack(value) for value in found[:count]),
                *(Reduce("add", (value,)) for value in found[count:]),
            ]

        results = self.scope.builder.parfor(self.extent, body)
        targets = [array for array, is_active in zip(self.old_arrays, active, strict=True) if is_active]
        for var, result in zip((*targets, *self.old_extra), results, strict=True):
            self.scope.contribute_whole(var, result)


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
    operator = as_lambda(scope.renaming.operator(item.operator), [value.type for value in item.values])
    fold = _Fold(scope, operator, old_arrays, arrays, old_extra, extra, extent, reverse)
    if isinstance(item, Reduce):
        _reverse_reduce(fold, seeds)
    elif item.operator == "mul" and not item.exclusive:
        _reverse_scan(fold, item, seeds, fold.exclusive_prefixes(), True)
    else:
        _reverse_scan(fold, item, seeds, results, item.exclusive)


def _seed_of(seeds: Sequence[Atom | None]) -> Atom:
    (seed,) = seeds
    assert seed is not None
    return seed


def _reverse_reduce(fold: _Fold, seeds: Sequence[Atom | None]) -> None:
    """r_i by products of Jacobians where these are small, else by combining what comes after i."""
    if has_small_blocks(fold.operator, fold.moving):
        _reverse_by_jacobians(fold, seeds)
    else:
        _reverse_from_both_sides(fold, seeds)


def _reverse_by_jacobians(fold: _Fold, seeds: Sequence[Atom | None]) -> None:
    """r_i = J_{i+1}ᵀ·…·J_{n-1}ᵀ·y_adj, one scan of products for each block that a seed reaches."""
    builder, extent, operator = fold.scope.builder, fold.extent, fold.operator
    before = fold.exclusive_prefixes()
    reached = [
        block for block in blocks(operator, fold.moving) if any(seeds[place] is not None for place in block)
    ]
    chains = [_Chain.of(fold, block) for block in reached]

    def steps(inner: Builder, index: Var) -> list[Yield]:
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

    fold.contribute(before, True, adjoint)


def _reverse_from_both_sides(fold: _Fold, seeds: Sequence[Atom | None]) -> None:
    """Prefixes from both sides, then r_i = y_adj·∂(S_i ⊕ R_i)/∂S_i."""
    builder, extent, operator = fold.scope.builder, fold.extent, fold.operator
    count = len(operator.left)

    def scans(inner: Builder, index: Var) -> list[Yield]:
        left = tuple(fold.values(inner, index))
        right = tuple(fold.values(inner, flipped(inner, extent, index)))
        return [
            Scan(as_lambda(operator, ()), left),
            Scan(flipped_operator(operator), right, exclusive=True),
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

    fold.contribute(prefixes, False, adjoint)


def _reverse_scan(
    fold: _Fold, item: Scan, seeds: Sequence[Atom | None], prefixes: Sequence[Var], are_before: bool
) -> None:
    """r_i by one linear recurrence for each block of the Jacobian that a seed reaches; the prefixes are those
    before each iteration, or those after it."""
    builder, extent, operator = fold.scope.builder, fold.extent, fold.operator
    reached = [
        block for block in blocks(operator, fold.moving) if any(seeds[place] is not None for place in block)
    ]
    chains = [chain for block in reached if (chain := _Chain.of(fold, block)).rule.rows or item.exclusive]

    def seed(inner: Builder, place: int, index: Atom) -> Atom | None:
        array = seeds[place]
        return None if array is None else inner.index(_variable(array), (index,))

    def steps(inner: Builder, index: Var) -> list[Yield]:
        place = flipped(inner, extent, index)
        assert isinstance(place, Var)
        operands = (*fold.before(inner, prefixes, place, are_before), *fold.values(inner, place))
        yields: list[Yield] = []
        for chain in chains:
            here = [seed(inner, component, place) for component in chain.block]
            yields.append(chain.step(inner, (*operands, *fold.extra), here, item.exclusive))
        return yields

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

    fold.contribute(prefixes, are_before, adjoint)


@dataclass(frozen=True, slots=True, eq=False)
class _Chain:
    """The linear recurrence of one block: A_i = J_iᵀ, whose products have entries in `pattern`."""

    block: list[int]
    rule: Jacobian
    pattern: list[tuple[int, int]]
    dtype: DType

    @staticmethod
    def of(fold: _Fold, block: list[int]) -> _Chain:
        """The recurrence of a block of the fold's operator."""
        rule = jacobian(fold.operator, fold.extra, block, fold.reverse)
        entries = [(block.index(part), block.index(place)) for place, part in rule.entries]
        return _Chain(block, rule, closure(entries, len(block)), fold.operator.left[block[0]].type.dtype)

    def matrix(self, builder: Builder, operands: Sequence[Atom]) -> dict[tuple[int, int], Atom]:
        """The entries of A at these operands."""
        values, block = self.rule.evaluate(builder, operands), self.block
        return {(block.index(part), block.index(place)): value for (place, part), value in values.items()}

    def product(self, builder: Builder, operands: Sequence[Atom]) -> Scan:
        """M ← A·M"""
        return linear_scan(self.pattern, self.matrix(builder, operands), (), self.dtype)

    def step(
        self, builder: Builder, operands: Sequence[Atom], seeds: Sequence[Atom | None], is_exclusive: bool
    ) -> Scan:
        """u ← A·u + s where results are prefixes before each iteration, w ← A·(w + s) where after."""
        block = self.block
        matrix = self.matrix(builder, operands)
        if is_exclusive:
            vector = list(seeds)
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


def _variable(atom: Atom) -> Var:
    assert isinstance(atom, Var)
    return atom


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
    operator = as_lambda(renaming.operator(item.operator), [value.type for value in item.values])
    old_extra = captured(item.operator, varied)
    moving = moving_components(operator, [a in varied for a in old_arrays], renaming.atoms(tuple(old_extra)))
    extent = renaming.atom(expr.extent)
    if not is_single:
        builder.emit(renaming.let(let))

    def tangents(inner: Builder, tangent: Lookup) -> Sequence[Atom]:
        extra = {renaming.variable(var): _or_zero(tangent(var), var) for var in old_extra}
        pair = dual(operator, moving, extra, forward)
        changes = [tangent(old_arrays[place]) for place in moving]

        def body(deeper: Builder, index: Var) -> list[Yield]:
            values = [deeper.index(array, (index,)) for array in arrays]
            moved = [
                number(0.0, values[place].type.dtype) if change is None else element(deeper, change, (index,))
                for place, change in zip(moving, changes, strict=True)
            ]
            operands = (*values, *moved)
            if isinstance(item, Reduce):
                return [Reduce(pair, operands)]
            return [Scan(pair, operands, item.exclusive)]

        results = inner.parfor(extent, body)
        if is_single:
            renaming.mapping.update(zip(let.targets, results, strict=False))
        return results[len(let.targets) :]

    return tuple(let.targets[place] for place in moving), tangents


def _or_zero(tangent: Atom | None, var: Var) -> Atom:
    return number(0.0, var.type.dtype) if tangent is None else tangent
