"""Nests and reads leave the loops that make them again and again, before differentiation.

What a loop computes again in every iteration is of no use, but its adjoint would add to all that it read in
every iteration, which nothing after differentiation moves. So parfors and loops leave, and scalar operations
on what they make; other scalar operations stay where the program has them. An element that a sequential loop
reads in each iteration is read in front of it: its adjoint is a number then, and the array's gets one term.

Where the loop that s = Σ_j u_j·u_j has left does not run at all, s has an adjoint of zero. But 0·u_j is not 0
where u_j is infinite, and a derivative must not be NaN for the sake of a sum that the program never made. So
what leaves a loop that may not run reads the floats around it through a gate, `select(0 < k, u_j, 0)`: then
the adjoint of u_j is that of the side not taken, which is 0 whatever it would have been multiplied by. No
gate is needed where zero stays zero anyway (`_is_quiet`): in sums, and through operations with a pole, whose
products are guarded (`ad.partials.chain_product`). What cannot be read through a gate (rows, start values of
loops, a `while` that may not run) stays in its loop.

Before:
    fn f(u: f64[n], x: f64[m]) -> f64[m] {
      y = parfor i < m { s = parfor j < n { v = u[j]; yield reduce add v }; w = x[i]; q = div w s
        yield stack q }
      return y
    }
After:
    fn f(u: f64[n], x: f64[m]) -> f64[m] {
      s = parfor j < n { v = u[j]; yield reduce add v }
      y = parfor i < m { w = x[i]; q = div w s; yield stack q }
      return y
    }
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from anadrome.array_ir.nodes import (
    Apply,
    ArrayType,
    Atom,
    Body,
    Const,
    Custom,
    Expr,
    Full,
    Function,
    If,
    Index,
    Let,
    Literal,
    Loop,
    ParFor,
    Reduce,
    Reshape,
    Scan,
    Size,
    Stack,
    Var,
    Yield,
    i64,
)
from anadrome.array_ir.rewrite import Substitution, remade
from anadrome.array_ir.walk import bodies, expression_variables, operands
from anadrome.config import Config
from anadrome.dtypes import BOOL
from anadrome.passes.hoist import Hoister, Scope, hoisted
from anadrome.prims.record import Prim
from anadrome.prims.table import PRIMS

LINEAR = frozenset({"add", "sub", "neg", "select", "min", "max", "stop_gradient"})
"""Operations whose partials are finite numbers, or that choose."""


def hoist_sums(fn: Function, config: Config) -> Function:
    """The function with invariant parfors and loops, and what is made of them alone, as far out as may be.

    Before:
        fn f(u: f64[n], k: i64) -> f64 {
          y = loop (t = 1.0) for i < k {
            s = parfor j < n { v = u[j]; w = mul v v; yield reduce add w }
            q = mul t s
            return q
          }
          return y
        }
    After:
        fn f(u: f64[n], k: i64) -> f64 {
          runs = gt k 0
          s = parfor j < n { r = u[j]; v = select runs r 0.0; w = mul v v; yield reduce add w }
          y = loop (t = 1.0) for i < k { q = mul t s; return q }
          return y
        }
    """
    return hoisted(fn, _SumHoister())


@dataclass(slots=True, eq=False)
class _Gates:
    """What has been written into one body: conditions, scalars read through them, and what needs none."""

    conditions: dict[frozenset[Size], Var] = field(default_factory=dict)
    scalars: dict[tuple[Var, Atom], Var] = field(default_factory=dict)
    inside: dict[Atom, Var] = field(default_factory=dict)
    """What was made behind a condition: its adjoint goes through the gates of what it was made of."""


class _SumHoister(Hoister):
    """Only nests and reads of elements leave, and scalar operations on what they make."""

    def __init__(self) -> None:
        super().__init__()
        self.made: set[Atom] = set()
        """What nests make and elements are, and what is made of that."""
        self.gates: dict[Scope, _Gates] = {}

    def stays(self, let: Let) -> bool:
        """Whether a statement keeps its body."""
        match let.expr:
            case ParFor() | Loop():
                self.made.update(let.targets)
                return super().stays(let)
            case Apply(args=args) if not self.made.isdisjoint(args):
                self.made.update(let.targets)
                return False
            case Apply(args=args):
                return any(_is_inexact(arg) for arg in args)
            case Index(array=array, indices=indices) if len(indices) == len(array.type.shape):
                self.made.update(let.targets)
                return not _is_inexact(let.targets[0])
            case _:
                return True

    def left(self, let: Let, start: int, level: int) -> tuple[int, Let]:
        """As far out as gates can be had for, and with them; a read in front of the outermost sequential
        loop."""
        if isinstance(let.expr, Index):
            loops = (scope.level for scope in self.scopes[level + 1 : start + 1] if scope.is_in_order)
            return next(loops, start + 1) - 1, let
        if _is_quiet(let.expr):
            return level, let
        can_be_gated = _reads_elements_only(let.expr)
        for between in range(level, start):
            extents = self.unsure(between, start)
            if extents is None or (extents and not can_be_gated):
                continue
            if all(not isinstance(extent, Var) or self.levels[extent] <= between for extent in extents):
                return between, self.gated(let, between, extents) if extents else let
        return start, let

    def unsure(self, level: int, start: int) -> tuple[Size, ...] | None:
        """The extents of the loops between two levels that may not run, each once, from outside in; None
        where one is not a number."""
        crossed = [scope for scope in self.scopes[level + 1 : start + 1] if not scope.surely_runs]
        extents = tuple(dict.fromkeys(scope.extent for scope in crossed if scope.extent is not None))
        return None if any(scope.extent is None for scope in crossed) else extents

    def gated(self, let: Let, level: int, extents: tuple[Size, ...]) -> Let:
        """The statement, reading the floats around it through a gate that is open where the loops run."""
        scope = self.scopes[level]
        gates = self.gates.setdefault(scope, _Gates())
        condition = self.condition(scope, gates, extents)
        substitution = Substitution()
        arrays: set[Var] = set()
        for var in expression_variables(let.expr):
            if not _is_inexact(var) or gates.inside.get(var) is condition:
                continue
            if var.type.shape:
                arrays.add(var)
                continue
            if (condition, var) not in gates.scalars:
                new = self.bind(scope, var, Apply(PRIMS["select"], (condition, var, _zero(var))))
                gates.scalars[condition, var] = new
            substitution.replace(var, gates.scalars[condition, var])
        gates.inside.update(dict.fromkeys(let.targets, condition))

        def change(body: Body) -> Body:
            lets = [gate for inner in body.lets for gate in elements(inner)]
            return remade(body, lets, substitution.atoms(body.results))

        def elements(inner: Let) -> tuple[Let, ...]:
            if isinstance(inner.expr, Index) and inner.expr.array in arrays:
                (target,) = inner.targets
                read = Var(target.name, target.type)
                gate = Apply(PRIMS["select"], (condition, read, _zero(target)))
                return Let((read,), inner.expr, inner.span), Let((target,), gate, inner.span)
            return (Let(inner.targets, substitution.expr(inner.expr, change), inner.span),)

        return Let(let.targets, substitution.expr(let.expr, change), let.span)

    def condition(self, scope: Scope, gates: _Gates, extents: tuple[Size, ...]) -> Var:
        """Whether all loops of these extents run, in a body."""
        found = gates.conditions.get(frozenset(extents))
        if found is None:
            runs = [self.bind(scope, TRUTH, Apply(PRIMS["gt"], (extent, i64(0)))) for extent in extents]
            found = runs[0]
            for other in runs[1:]:
                found = self.bind(scope, TRUTH, Apply(PRIMS["and"], (found, other)))
            gates.conditions[frozenset(extents)] = found
        return found

    def bind(self, scope: Scope, like: Var, expr: Expr) -> Var:
        """A variable of a type in a body."""
        var = Var(like.name, like.type)
        self.levels[var] = scope.level
        scope.lets.append(Let((var,), expr))
        return var


TRUTH = Var("runs", ArrayType(BOOL))
"""The name and type of conditions."""


def _zero(like: Var) -> Const:
    return Const(0.0, like.type.dtype)


def _is_inexact(atom: Atom) -> bool:
    dtype = atom.type.dtype
    return not dtype.is_integer and dtype is not BOOL


# ---------------------------------------------------------------------------- what keeps a zero
def _is_quiet(expr: Expr) -> bool:
    """Whether an adjoint of zero adds zeros to what the expression reads, whatever that is."""
    match expr:
        case Apply(prim=prim, args=args):
            return not any(map(_is_inexact, args)) or _keeps_zero(prim, args)
        case Index() | Full() | Literal() | Reshape():
            return True
        case ParFor(yields=yields):
            return all(map(_is_linear, yields)) and _are_quiet(expr)
        case Loop(condition=None) | If():
            return _are_quiet(expr)
        case _:
            return False


def _are_quiet(expr: Expr) -> bool:
    return all(_is_quiet(let.expr) for _, body in bodies(expr) for let in body.lets)


def _keeps_zero(prim: Prim, args: tuple[Atom, ...]) -> bool:
    """Partials are finite numbers, or their products with zero are guarded."""
    if prim.name in LINEAR or "pole" in prim.facts or prim.zero_derivative or prim.converts_to is not None:
        return True
    return prim.name == "mul" and any(map(_is_finite, args))


def _is_finite(atom: Atom) -> bool:
    return isinstance(atom, Const) and math.isfinite(atom.value)


def _is_linear(item: Yield) -> bool:
    match item:
        case Stack():
            return True
        case Reduce(operator=operator):
            return operator in ("add", "min", "max")
        case Scan(operator=operator):
            return operator == "add"
        case _:
            return False


# ---------------------------------------------------------------------------- what can be read through a gate
def _reads_elements_only(expr: Expr) -> bool:
    """Whether each float that an expression reads of the world is a scalar, alone or of an array."""
    arrays = {var for var in expression_variables(expr) if _is_inexact(var) and var.type.shape}
    return not isinstance(expr, Custom) and arrays.isdisjoint(operands(expr)) and _reads_in(expr, arrays)


def _reads_in(expr: Expr, arrays: set[Var]) -> bool:
    for _, body in bodies(expr):
        if not arrays.isdisjoint(body.results):
            return False
        for let in body.lets:
            read = isinstance(let.expr, Index) and not let.targets[0].type.shape
            if isinstance(let.expr, Custom) or (not read and not arrays.isdisjoint(operands(let.expr))):
                return False
            if not _reads_in(let.expr, arrays):
                return False
    return True
