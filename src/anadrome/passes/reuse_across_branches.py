"""What a branch computes that an earlier one on the same condition has computed is a result of that one.

A return sweep takes each branch of its forward run again, and a loop over the directions of a Jacobian takes
it again for each. Functions, square roots and quotients of the first are handed on in registers; on its other
side, where nobody reads them, they are zero.

Before:
    fn f(x: f64, c: bool) -> f64, f64 {
      a = if c {
        e = sin x
        return e
      } else {
        return x
      }
      b = if c {
        h = sin x
        g = mul h a
        return g
      } else {
        return 1.0
      }
      return a, b
    }
After:
    fn f(x: f64, c: bool) -> f64, f64 {
      a, k = if c {
        e = sin x
        return e, e
      } else {
        return x, 0.0
      }
      b = if c {
        g = mul k a
        return g
      } else {
        return 1.0
      }
      return a, b
    }
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from anadrome.array_ir.nodes import Apply, Atom, Body, Const, Function, If, Index, Let, Var
from anadrome.array_ir.rewrite import Substitution, remade, with_body
from anadrome.array_ir.walk import all_lets
from anadrome.config import Config
from anadrome.passes.value_numbering import Numbering
from anadrome.prims.costs import EXPENSIVE

SLOW = ("div", "sqrt")
"""Operations of one instruction that take as long as many."""


def reuse_across_branches(fn: Function, config: Config) -> Function:
    """The function with such values handed on; itself where there are none."""
    branches = Counter(let.expr.condition for let in all_lets(fn.body) if isinstance(let.expr, If))
    if not any(count > 1 for count in branches.values()):
        return fn
    return with_body(fn, _Branches().body(fn.body))


@dataclass(slots=True, eq=False)
class _Made:
    """A value of a branch: the statements among which the branch stands, where, and on which side."""

    lets: list[Let]
    position: int
    is_then: bool
    var: Var
    given: Var | None = None
    """The result that it is, once it was asked for."""

    def result(self) -> Var:
        """The result of the branch that the value is."""
        if self.given is not None:
            return self.given
        let = self.lets[self.position]
        assert isinstance(let.expr, If)
        then, other = let.expr.then, let.expr.other
        zero = Const(0.0, self.var.type.dtype)
        values: tuple[Atom, Atom] = (self.var, zero) if self.is_then else (zero, self.var)
        sides = [
            Body(side.lets, (*side.results, value)) for side, value in zip((then, other), values, strict=True)
        ]
        self.given = Var(self.var.name, self.var.type)
        self.lets[self.position] = Let((*let.targets, self.given), If(let.expr.condition, *sides), let.span)
        return self.given


class _Branches(Substitution):
    """One walk over the program: the branches that have been taken wherever it stands."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = Numbering()
        self.made: dict[tuple[Atom, bool, int], _Made] = {}
        self.taken: list[tuple[Atom, bool]] = []
        """The conditions and sides that the walk stands in."""

    def body(self, body: Body) -> Body:
        """A body; what its own branches make is forgotten behind it."""
        around, self.made = self.made, dict(self.made)
        lets: list[Let] = []
        for let in body.lets:
            if isinstance(let.expr, If):
                self.branch(let, let.expr, lets)
            else:
                lets.append(self.let(let))
                self.number(lets[-1])
        self.made = around
        return remade(body, lets, self.atoms(body.results))

    def branch(self, let: Let, expr: If, lets: list[Let]) -> None:
        """A branch, without what earlier ones on its condition have made; what it makes is known after it."""
        condition = self.atom(expr.condition)
        own: list[tuple[int, bool, Var]] = []
        sides: list[Body] = []
        for side, is_then in ((expr.then, True), (expr.other, False)):
            around, self.made = self.made, dict(self.made)
            self.taken.append((condition, is_then))
            kept: list[Let] = []
            for inner in side.lets:
                if isinstance(inner.expr, If):
                    self.branch(inner, inner.expr, kept)
                    continue
                new = self.let(inner)
                number = self.number(new)
                if number is not None and _is_worth_it(new):
                    known = self.known(number)
                    if known is not None:
                        self.replace(inner.targets[0], known.result())
                        continue
                    own.append((number, is_then, new.targets[0]))
                kept.append(new)
            self.made = around
            self.taken.pop()
            sides.append(remade(side, kept, self.atoms(side.results)))
        lets.append(remade(let, self.all_bound(let.targets), remade(expr, condition, *sides)))
        for number, is_then, var in own:
            self.made[condition, is_then, number] = _Made(lets, len(lets) - 1, is_then, var)

    def number(self, let: Let) -> int | None:
        """The number of what a statement computes of scalars alone."""
        match let.expr:
            case Apply() as expr:
                return self.numbers.define(let.targets[0], expr)
            case Index() as expr if not let.targets[0].type.shape:
                return self.numbers.define(let.targets[0], expr)
            case _:
                return None

    def known(self, number: int) -> _Made | None:
        """A value of a branch that was surely taken where the walk stands."""
        found = (self.made.get((condition, is_then, number)) for condition, is_then in self.taken)
        return next((made for made in found if made is not None), None)


def _is_worth_it(let: Let) -> bool:
    if not isinstance(let.expr, Apply) or not let.targets[0].type.dtype.is_float:
        return False
    return let.expr.prim.cost >= EXPENSIVE or let.expr.prim.name in SLOW
