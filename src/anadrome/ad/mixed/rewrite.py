"""Mixed mode: inside reverse mode, a scalar body is differentiated forward (Revels et al., arXiv 1810.08297).

The body of a parfor that maps scalars x_1 … x_k to a scalar v has a diagonal Jacobian: all of it is the k
partials p_j = ∂v/∂x_j of each iteration. Dual numbers give them in one pass over the body, whatever loops and
branches are inside, and nothing of the body is stored for a return sweep. What is left for reverse mode is

    y = linked(v, x_j, p_j)        y is v,  ∂y/∂x_j = p_j,  ∂y/∂v = 0

so this is a rewriting of the program before the sweep. Derivatives of the derivative go through the p_j,
which are ordinary values.

Before:
    y = parfor i < n { a = x[i]; v = loop …a…; yield stack v }
After, partials computed where the return sweep needs them ("recompute"):
    y = parfor i < n { a = x[i]; v, p = loop …a…; s = stop_gradient v; t = linked s a p; yield stack t }
After, partials computed with the value and kept ("store"):
    vs, ps = parfor i < n { a = x[i]; v, p = loop …a…; yield stack v; yield stack p }
    y = parfor i < n { a = x[i]; v = vs[i]; p = ps[i]; …; t = linked s a p; yield stack t }
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anadrome.ad.activity import varied_variables
from anadrome.ad.mixed.choice import Choice, Kernel, choose, kernel_of
from anadrome.ad.mixed.duals import Duals
from anadrome.ad.sweep.repeat import repeated
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import (
    ArrayType,
    Atom,
    Body,
    Function,
    Index,
    Let,
    ParFor,
    Part,
    Stack,
    Var,
)
from anadrome.array_ir.rewrite import Renaming, remade, with_body
from anadrome.array_ir.walk import bound_in, free_variables, map_bodies
from anadrome.config import Mixed as Mode
from anadrome.dtypes import I64

_Second = Callable[[Builder, Var, Renaming], None]
"""(builder, index, renaming) -> nothing: fills the second half of a parfor cut in two."""


@dataclass(frozen=True, slots=True, eq=False)
class Mixed:
    """A program with its scalar bodies differentiated: the program, and what reverse mode shall not enter.

    `settled` are the variables whose derivatives are in the partials: they count as constants of this sweep.
    """

    function: Function
    settled: frozenset[Var]
    choices: tuple[Choice, ...]


def mixed(fn: Function, active: Sequence[bool], mode: Mode) -> Mixed:
    """Differentiate scalar bodies of a canonical program forward, where the cost rule or `mode` says so."""
    wanted = [param for param, is_active in zip(fn.params, active, strict=True) if is_active]
    rewriter = _Rewriter(varied_variables(fn.body, wanted), mode, set(), [])
    body = rewriter.body(fn.body)
    choices = tuple(rewriter.choices)
    if all(choice.mode == "reverse" for choice in choices):
        return Mixed(fn, frozenset(), choices)
    return Mixed(with_body(fn, body), frozenset(rewriter.settled), choices)


@dataclass(frozen=True, slots=True, eq=False)
class _Split:
    """A parfor in two: the first keeps values and partials as arrays, the second links them to the inputs."""

    first: Let
    stored: tuple[Var, ...]
    second: Let


@dataclass(frozen=True, slots=True, eq=False)
class _Rewriter:
    """One rewriting: what varies, what the user asked for, and what has been found."""

    varied: set[Var]
    mode: Mode
    settled: set[Var]
    choices: list[Choice]

    def body(self, body: Body) -> Body:
        """A body with the parfors in it rewritten."""
        lets: list[Let] = []
        for let in body.lets:
            lets += self.statement(let)
        return remade(body, lets, body.results)

    def statement(self, let: Let) -> list[Let]:
        """What stands in the place of one statement."""
        if self.varied.isdisjoint(let.targets):
            return [let]
        if isinstance(let.expr, ParFor):
            kernel = kernel_of(let.expr, self.varied)
            if kernel is None:
                split = self.nest(let, let.expr)
                if split is not None:
                    return [split.first, split.second]
            else:
                choice = choose(kernel, let, self.mode)
                self.choices.append(choice)
                if choice.mode == "store":
                    split = self.split(let, let.expr, kernel)
                    return [split.first, split.second]
                return [self.linked(let, let.expr, kernel)] if choice.mode == "recompute" else [let]
        return [Let(let.targets, map_bodies(let.expr, self.body), let.span)]

    # ------------------------------------------------------------------ recomputed partials
    def duals(self, expr: ParFor, kernel: Kernel) -> tuple[Builder, Duals]:
        """The body of a kernel with the partials of its values."""
        builder = Builder()
        duals = Duals.of(Body(expr.body.lets, kernel.values), kernel.inputs)
        duals.statements(builder, expr.body)
        known = {*kernel.inputs, expr.index}
        self.settled.update(var for var in bound_in(builder.body()) if var not in known)
        return builder, duals

    def linked(self, let: Let, expr: ParFor, kernel: Kernel) -> Let:
        """The parfor with its values linked to its inputs."""
        builder, duals = self.duals(expr, kernel)
        renaming = Renaming({})
        for value in kernel.values:
            partials = {j: duals.tangent(value, j) for j in duals.directions(value)}
            renaming.mapping[value] = _link(builder, value, kernel.inputs, partials)
        parts = map(renaming.part, expr.parts)
        return Let(let.targets, ParFor.of(expr.index, expr.extent, builder.lets, parts), let.span)

    # ------------------------------------------------------------------ stored partials
    def split(self, let: Let, expr: ParFor, kernel: Kernel) -> _Split:
        """The parfor in two, with values and partials between them."""
        builder, duals = self.duals(expr, kernel)
        kept: list[Atom] = list(kernel.values)
        places: dict[tuple[Var, int], int] = {}
        for value in kernel.values:
            for j in duals.directions(value):
                places[value, j] = len(kept)
                kept.append(duals.tangent(value, j))
        stored = tuple(Var("kept", ArrayType(atom.type.dtype, (expr.extent,))) for atom in kept)

        def second(inner: Builder, index: Var, renaming: Renaming) -> None:
            rows = [inner.index(array, (index,)) for array in stored]
            inputs = tuple(renaming.variable(var) for var in kernel.inputs)
            for position, value in enumerate(kernel.values):
                partials = {j: rows[places[value, j]] for j in duals.directions(value)}
                renaming.mapping[value] = _link(inner, rows[position], inputs, partials)

        return self.halves(let, expr, builder.body(), kept, stored, kernel.inputs, second)

    def nest(self, let: Let, expr: ParFor) -> _Split | None:
        """A parfor around just one kernel whose partials are kept, in two; None where it is not one."""
        varied = [
            inner
            for inner in expr.body.lets
            if not self.varied.isdisjoint(inner.targets) and not isinstance(inner.expr, Index)
        ]
        if len(varied) != 1 or not isinstance(varied[0].expr, ParFor):
            return None
        inner_let, inner_expr = varied[0], varied[0].expr
        local = {expr.index, *(target for other in expr.body.lets for target in other.targets)}
        if inner_expr.extent in local:
            return None
        kernel = kernel_of(inner_expr, self.varied)
        if kernel is None:
            inner = self.nest(inner_let, inner_expr)
        else:
            choice = choose(kernel, inner_let, self.mode)
            if choice.mode != "store":
                return None
            self.choices.append(choice)
            inner = self.split(inner_let, inner_expr, kernel)
        if inner is None:
            return None
        return self.around(let, expr, inner_let, inner)

    def around(self, let: Let, expr: ParFor, inner_let: Let, inner: _Split) -> _Split:
        """The halves of a nest from the halves of what is in it."""
        lets = tuple(inner.first if other is inner_let else other for other in expr.body.lets)
        stored = tuple(
            Var("kept", ArrayType(v.type.dtype, (expr.extent, *v.type.shape))) for v in inner.stored
        )
        self.settled.update(inner.stored)
        needed = tuple(
            var
            for var in free_variables(Body((inner.second,)))
            if var not in inner.stored and var not in inner.second.targets
        )

        def second(builder: Builder, index: Var, renaming: Renaming) -> None:
            rows = (builder.index(array, (index,)) for array in stored)
            renaming.mapping.update(zip(inner.stored, rows, strict=True))
            builder.emit(renaming.let(inner.second))

        return self.halves(let, expr, Body(lets), inner.stored, stored, needed, second)

    def halves(
        self,
        let: Let,
        expr: ParFor,
        first: Body,
        kept: Sequence[Atom],
        stored: tuple[Var, ...],
        needed: Sequence[Var],
        second: _Second,
    ) -> _Split:
        """Two parfors: one keeps `kept` as `stored`, the other computes `needed` again and `second` fills it.

        What varies is yielded by the second, the rest by the first.
        """
        early: list[tuple[Part, slice]] = []
        late: list[tuple[Part, slice]] = []
        for part, where in expr.slices():
            is_late = any(target in self.varied for target in let.targets[where])
            (late if is_late else early).append((part, where))
        first_parts = (*(part for part, _ in early), *(Stack.of(atom) for atom in kept))
        first_targets = (*(t for _, where in early for t in let.targets[where]), *stored)
        self.settled.update(stored)
        builder, renaming, index = Builder(), Renaming({}), Var(expr.index.name, ArrayType(I64))
        builder.bind(index)
        renaming.mapping[expr.index] = index
        bound = {target for other in expr.body.lets for target in other.targets}
        places = [atom for part, _ in late for atom in part.takes if atom not in self.varied]
        again = repeated(expr.body, [atom for atom in (*needed, *places) if atom in bound])
        builder.span = let.span
        for other in again.lets:
            builder.emit(renaming.let(other))
        second(builder, index, renaming)
        second_parts = [renaming.part(part) for part, _ in late]
        second_targets = tuple(t for _, where in late for t in let.targets[where])
        return _Split(
            Let(first_targets, ParFor.of(expr.index, expr.extent, first.lets, first_parts), let.span),
            stored,
            Let(second_targets, ParFor.of(index, expr.extent, builder.lets, second_parts), let.span),
        )


def _link(builder: Builder, value: Atom, inputs: Sequence[Var], partials: dict[int, Atom]) -> Atom:
    """The value with its partials attached."""
    result = builder.apply("stop_gradient", value)
    for j, partial in partials.items():
        result = builder.apply("linked", result, inputs[j], partial)
    return result
