"""A reduction or scan that is differentiated, as its rules see it: arrays in, and what they read of it.

`fold` and `inverse` hold the rules; with P_i the prefix before iteration i and S_i = P_i ⊕ v_i each of them
says how r_i, the adjoint of S_i, is found, and what is the same in all of them stands here:

    v_i_adj = r_i·∂(P_i ⊕ v_i)/∂v_i,    and so for what ⊕ reads of its surroundings, summed
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from anadrome.ad.folds.monoids import Derivative, as_lambda, moving_components, pullback
from anadrome.ad.sweep.scope import Scope
from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import Atom, Lambda, Part, Reduce, Scan, Size, Stack, Var, i64

Seeds = Sequence[Atom | None]
"""The adjoint of each result, None where it is zero."""

Adjoint = Callable[[Builder, Var, Sequence[Atom], Sequence[Atom]], Mapping[int, Atom]]
"""(builder, i, P_i, v_i) -> r_i, the adjoint of S_i, by component."""

Before = Callable[[Builder, Var], Sequence[Atom]]
"""(builder, i) -> P_i"""


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """A reduction or scan in the new program, with what its rule reads; `arrays` and `extra` are both old
    and new, position by position. Its rule fills `builder`, that of the scope or of a branch in it."""

    scope: Scope
    builder: Builder
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

        def scan(inner: Builder, index: Var) -> list[Part]:
            return [Scan.of(as_lambda(self.operator, ()), tuple(self.values(inner, index)), exclusive=True)]

        return self.builder.parfor(self.extent, scan)

    def before(self, prefixes: Sequence[Var], is_exclusive: bool) -> Before:
        """P_i, from the results of an exclusive or an inclusive scan."""

        def read(builder: Builder, index: Var) -> list[Atom]:
            if is_exclusive:
                return [builder.index(array, (index,)) for array in prefixes]
            is_first = builder.apply("eq", index, i64(0))
            last = builder.apply("max", builder.sub(index, i64(1)), i64(0))
            return [
                builder.select(is_first, neutral, builder.index(array, (last,)))
                for array, neutral in zip(prefixes, self.operator.identity, strict=True)
            ]

        return read

    @property
    def active(self) -> list[bool]:
        """Which arrays get an adjoint."""
        return [array in self.scope.varied and array.type.dtype.is_float for array in self.old_arrays]

    def adjoints(self, before: Before, adjoint: Adjoint) -> tuple[Var, ...]:
        """v_adj of the active arrays and the adjoints of captured variables, from P_i and r_i."""
        active, moving = self.active, self.moving
        flags = ([False] * len(self.arrays)) + active + [True] * len(self.extra)
        rule = pullback(self.operator, self.extra, flags, moving, self.reverse)

        def body(inner: Builder, index: Var) -> list[Part]:
            values, prefix = self.values(inner, index), before(inner, index)
            cotangents = adjoint(inner, index, prefix, values)
            operands = (*prefix, *values, *self.extra)
            found = rule.pull(inner, operands, [cotangents[place] for place in moving])
            count = sum(active)
            return [
                *(Stack.of(value) for value in found[:count]),
                *(Reduce.of("add", (value,)) for value in found[count:]),
            ]

        return self.builder.parfor(self.extent, body)

    def contribute(self, adjoints: Sequence[Var]) -> None:
        """Add what `adjoints` gave to the adjoints of the arrays and captured variables."""
        pairs = zip(self.old_arrays, self.active, strict=True)
        targets = [array for array, is_active in pairs if is_active]
        for var, result in zip((*targets, *self.old_extra), adjoints, strict=True):
            self.scope.contribute_whole(var, result)
