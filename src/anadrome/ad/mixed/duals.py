"""Dual numbers in scalar code: every partial beside its value, in one pass (Revels et al. 2018, §2.2).

For a body that maps scalars x_1 … x_k to scalars, with control flow that depends on them,

    y_tan[j] = Σ_a ∂f/∂a · a_tan[j]        x_i_tan[j] = [i = j]

Each direction j is a scalar of its own, and only where it can be other than zero: a value that x_j does not
reach has no tangent in direction j, so k inputs used one after the other do not cost k times as much.

The statements keep their variables, and tangents stand between them; a loop carries, and a branch gives,
the tangents of what it carried and gave.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anadrome.ad.activity import varied_variables
from anadrome.ad.partials import chain_product, partials_of
from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import Apply, Atom, Body, Const, If, Let, Loop, Var
from anadrome.prims.node import replace


@dataclass(frozen=True, slots=True, eq=False)
class Duals:
    """One sweep over one body: which variables each input reaches, and the tangents so far.

    `inputs` are the scalars x_1 … x_k, `reached` for each what depends on it.
    """

    inputs: tuple[Var, ...]
    reached: tuple[frozenset[Var], ...]
    tangents: dict[tuple[Var, int], Atom]

    @staticmethod
    def of(body: Body, inputs: Sequence[Var]) -> Duals:
        """The sweep over `body` with respect to scalars read in it."""
        reached = tuple(frozenset(varied_variables(body, (var,))) for var in inputs)
        ones = {(var, j): number(1.0, var.type.dtype) for j, var in enumerate(inputs)}
        return Duals(tuple(inputs), reached, dict(ones))

    def directions(self, atom: Atom) -> list[int]:
        """The directions in which an atom has a tangent."""
        if isinstance(atom, Const):
            return []
        return [j for j, reached in enumerate(self.reached) if atom in reached]

    def tangent(self, atom: Atom, direction: int) -> Atom:
        """The tangent of an atom in a direction, zero where it has none."""
        found = self.tangents.get((atom, direction)) if isinstance(atom, Var) else None
        return number(0.0, atom.type.dtype) if found is None else found

    # ------------------------------------------------------------------ statements
    def statements(self, builder: Builder, body: Body) -> None:
        """Append the statements of a body, and their tangents."""
        for let in body.lets:
            builder.span = let.span
            self.statement(builder, let)

    def statement(self, builder: Builder, let: Let) -> None:
        """Append one statement and the tangents of its results."""
        if not any(self.directions(target) for target in let.targets if target not in self.inputs):
            builder.emit(let)
            return
        match let.expr:
            case Apply() as expr:
                builder.emit(let)
                self.apply(builder, let, expr)
            case If() as expr:
                self.branch(builder, let, expr)
            case Loop() as expr:
                self.loop(builder, let, expr)
            case _:
                raise AssertionError("not scalar code")

    def apply(self, builder: Builder, let: Let, expr: Apply) -> None:
        """y_tan[j] = Σ ∂f/∂a · a_tan[j], with the partials of the table."""
        (target,) = let.targets
        prim = expr.prim
        if prim.converts_to is not None or prim.name == "select":
            self.choice(builder, target, expr)
            return
        is_varied = [bool(self.directions(arg)) for arg in expr.args]
        partials = partials_of(builder, prim, expr.args, target, is_varied, let.span)
        for j in self.directions(target):
            terms = [
                chain_product(builder, prim, self.tangents[arg, j], partial)
                for arg, partial in zip(expr.args, partials, strict=True)
                if partial is not None and isinstance(arg, Var) and (arg, j) in self.tangents
            ]
            zero = number(0.0, target.type.dtype)
            self.tangents[target, j] = builder.chain("add", terms) if terms else zero

    def choice(self, builder: Builder, target: Var, expr: Apply) -> None:
        """The tangent of a conversion is converted, that of a `select` is the chosen side's."""
        wide = expr.prim.converts_to
        for j in self.directions(target):
            if wide is not None:
                self.tangents[target, j] = builder.convert(self.tangent(expr.args[0], j), wide)
            else:
                condition, *sides = expr.args
                self.tangents[target, j] = builder.select(
                    condition, *(self.tangent(side, j) for side in sides)
                )

    # ------------------------------------------------------------------ control flow
    def branch(self, builder: Builder, let: Let, expr: If) -> None:
        """The branch also gives the tangents of its results, zeros on a side that does not depend."""
        wanted = [(where, j) for where, var in enumerate(let.targets) for j in self.directions(var)]
        sides = []
        for body in (expr.then, expr.other):
            inner = builder.child()
            self.statements(inner, body)
            tangents = [self.tangent(body.results[where], j) for where, j in wanted]
            sides.append(inner.body((*body.results, *tangents)))
        targets = tuple(self.fresh(let.targets[where], j) for where, j in wanted)
        builder.emit(Let((*let.targets, *targets), If(expr.condition, sides[0], sides[1]), let.span))

    def loop(self, builder: Builder, let: Let, expr: Loop) -> None:
        """The loop also carries the tangents of what it carries."""
        wanted = [(where, j) for where, var in enumerate(expr.carried) for j in self.directions(var)]
        start = tuple(self.tangent(expr.init[where], j) for where, j in wanted)
        carried = tuple(self.fresh(expr.carried[where], j) for where, j in wanted)
        inner = builder.child()
        inner.bind(*expr.carried, *carried, *(() if expr.index is None else (expr.index,)))
        self.statements(inner, expr.body)
        after = tuple(self.tangent(expr.body.results[where], j) for where, j in wanted)
        targets = tuple(self.fresh(let.targets[where], j) for where, j in wanted)
        new = replace(
            expr,
            carried=(*expr.carried, *carried),
            init=(*expr.init, *start),
            body=inner.body((*expr.body.results, *after)),
        )
        builder.emit(Let((*let.targets, *targets), new, let.span))

    def fresh(self, var: Var, direction: int) -> Var:
        """A new variable for the tangent of `var` in a direction."""
        tangent = Var(f"{var.name}_tan", var.type)
        self.tangents[var, direction] = tangent
        return tangent
