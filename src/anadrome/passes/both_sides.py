"""What both sides of a branch compute is computed before it, in nests that run in lanes.

Lanes of a vector take both sides of a branch, one after the other, under masks. An exponential that stands in
both would be computed twice for all of them; before the branch it is computed once, and with it what both
make of it. That costs something where a third side does without, and so it is done for what is expensive,
and in parfors that have no loop inside.

Before:
    fn f(x: f64[n], c: bool[n]) -> f64[n] {
      a = parfor i < n {
        v = x[i]
        d = c[i]
        b = if d {
          e = exp v
          return e
        } else {
          e1 = exp v
          w = add e1 1.0
          return w
        }
        yield stack b
      }
      return a
    }
After:
    fn f(x: f64[n], c: bool[n]) -> f64[n] {
      a = parfor i < n {
        v = x[i]
        d = c[i]
        e = exp v
        b = if d {
          return e
        } else {
          w = add e 1.0
          return w
        }
        yield stack b
      }
      return a
    }
"""

from __future__ import annotations

from anadrome.array_ir.nodes import Apply, Body, Function, If, Index, Let, ParFor, Var
from anadrome.array_ir.rewrite import Substitution, remade, with_body
from anadrome.array_ir.walk import all_lets
from anadrome.config import Config
from anadrome.passes.value_numbering import Numbering
from anadrome.prims.costs import EXPENSIVE


def both_sides(fn: Function, config: Config) -> Function:
    """The function with such work before its branches; itself where there is none."""
    if not any(isinstance(let.expr, If) for let in all_lets(fn.body)):
        return fn
    return with_body(fn, _Before().body(fn.body))


class _Numbers(Numbering):
    """The numbers of the operations of both sides, and an operation that makes each, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.made: dict[int, tuple[Var, Apply]] = {}

    def side(self, body: Body) -> set[int]:
        """The operations of a side, those of sides in it included."""
        found: set[int] = set()
        for let in body.lets:
            match let.expr:
                case Apply() as expr:
                    number = self.define(let.targets[0], expr)
                    self.made.setdefault(number, (let.targets[0], expr))
                    found.add(number)
                case If(then=then, other=other):
                    found |= self.side(then) | self.side(other)
                case _:
                    pass
        return found

    def operands(self, number: int) -> list[int]:
        """The operations that an operation is of."""
        _, expr = self.made[number]
        return [self.numbers[arg] for arg in expr.args if isinstance(arg, Var) and arg in self.numbers]

    def needed(self, numbers: set[int]) -> list[int]:
        """The operations that make these, each behind what it is of."""
        found: dict[int, None] = {}

        def visit(number: int) -> None:
            if number not in found:
                for operand in self.operands(number):
                    visit(operand)
                found[number] = None

        for number in self.made:
            if number in numbers:
                visit(number)
        return list(found)


class _Before(Substitution):
    """One walk over the program."""

    def __init__(self) -> None:
        super().__init__()
        self.in_lanes = False

    def body(self, body: Body) -> Body:
        """A body with what the branches in it share before them."""
        lets: list[Let] = []
        for let in body.lets:
            if isinstance(let.expr, If) and self.in_lanes:
                lets += self.shared(let.expr)
            expr = let.expr
            if isinstance(expr, Apply) and self.mapping.get(let.targets[0]) is not None:
                continue
            if isinstance(expr, ParFor):
                around, self.in_lanes = self.in_lanes, _is_plain(expr.body)
                lets.append(self.let(let))
                self.in_lanes = around
            else:
                lets.append(self.let(let))
        return remade(body, lets, self.atoms(body.results))

    def shared(self, branch: If) -> list[Let]:
        """What both sides compute that is expensive, and what it is of; from here on it stands for theirs."""
        numbers = _Numbers()
        both = numbers.side(branch.then) & numbers.side(branch.other)
        wanted: set[int] = set()
        for number, (_, made) in numbers.made.items():
            is_worth_it = made.prim.cost >= EXPENSIVE or not wanted.isdisjoint(numbers.operands(number))
            if number in both and is_worth_it:
                wanted.add(number)
        same: dict[int, list[Var]] = {}
        for target, number in numbers.numbers.items():
            same.setdefault(number, []).append(target)
        lets: list[Let] = []
        for number in numbers.needed(wanted):
            target, made = numbers.made[number]
            new = Var(target.name, target.type)
            lets.append(Let((new,), Apply(made.prim, self.atoms(made.args))))
            for one in same[number]:
                self.replace(one, new)
        return lets


def _is_plain(body: Body) -> bool:
    """Whether a body has nothing but scalar operations, reads of elements, and branches on them."""
    return all(
        isinstance(let.expr, Apply | If) or (isinstance(let.expr, Index) and not let.targets[0].type.shape)
        for let in all_lets(body)
    )
