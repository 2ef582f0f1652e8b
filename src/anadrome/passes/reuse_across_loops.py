"""What a loop does again of what an earlier one over the same extent has done, it takes from that.

*Checks.* One that depends on data stays in its loop. Where a loop of the function itself has ended, it has
held in every iteration, so it holds of the same number in each iteration of a later one: return sweeps read
again by the indices of the forward run.

*Functions.* The exponentials that a sum adds up are those that its gradient scales. The first loop stacks
them, where a result of the second may lie in their place, so that no more memory is needed.

Two numbers are the same where the same operations make them of elements that arrays from outside have at the
index of the loop (`value_numbering`). This is the last pass: no other one moves a read that relies on a check
before it.

Before:
    fn f(x: f64[n], bins: i64[n], t: f64[m]) -> f64, f64[n], f64[n] {
      s = parfor i < n {
        e = x[i]
        p = exp e
        yield reduce add p
      }
      a = parfor j < n {
        k = bins[j]
        c = lt k m
        check c index "index {0} is out of range for a dimension of size {1}" k m
        l = select c k 0
        v = t[l]
        yield stack v
      }
      b, d = parfor h < n {
        q = bins[h]
        r = lt q m
        u = select r q 0
        w = t[u]
        z = x[h]
        o = exp z
        y = mul o s
        yield stack w
        yield stack y
      }
      g = parfor f < n {
        v1 = a[f]
        v2 = b[f]
        v3 = add v1 v2
        yield stack v3
      }
      return s, g, d
    }
After:
    fn f(x: f64[n], bins: i64[n], t: f64[m]) -> f64, f64[n], f64[n] {
      s, p1 = parfor i < n {
        e = x[i]
        p = exp e
        yield reduce add p
        yield stack p
      }
      a = parfor j < n {
        k = bins[j]
        c = lt k m
        check c index "index {0} is out of range for a dimension of size {1}" k m
        l = select c k 0
        v = t[l]
        yield stack v
      }
      b, d = parfor h < n {
        q = bins[h]
        w = t[q]
        o = p1[h]
        y = mul o s
        yield stack w
        yield stack y
      }
      g = parfor f < n {
        v1 = a[f]
        v2 = b[f]
        v3 = add v1 v2
        yield stack v3
      }
      return s, g, d
    }
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from anadrome.array_ir.dead import remove_dead
from anadrome.array_ir.nodes import (
    TRUE,
    Apply,
    ArrayType,
    Atom,
    Body,
    Check,
    Const,
    Expr,
    Function,
    Index,
    Let,
    Loop,
    ParFor,
    Stack,
    Var,
    WithSum,
)
from anadrome.array_ir.rewrite import Substitution, remade, with_body
from anadrome.array_ir.walk import bodies, map_bodies
from anadrome.config import Config
from anadrome.dtypes import DType
from anadrome.passes.value_numbering import Numbering
from anadrome.prims.costs import EXPENSIVE


def reuse_across_loops(fn: Function, config: Config) -> Function:
    """The function with what is done again taken from the first loop; itself where there is nothing."""
    if not _is_worth_it(fn.body):
        return fn
    return remove_dead(with_body(fn, _compared(fn.body, {*fn.sizes, *fn.params}, is_function=True)))


def _compared(body: Body, outside: set[Var], *, is_function: bool) -> Body:
    """A body whose loops are compared, then those in them."""
    if _has_two_of_an_extent(body):
        level = _Level(outside, is_function=is_function)
        for let in body.lets:
            level.statement(let)
        body = remade(body, level.lets, level.atoms(body.results))
    outside.update(target for let in body.lets for target in let.targets)
    return remade(body, [_inner(let, outside, is_function) for let in body.lets], body.results)


def _inner(let: Let, outside: set[Var], is_function: bool) -> Let:
    """A statement with the bodies in it compared by themselves."""
    inner = bodies(let.expr)
    outside.update(var for binders, _ in inner for var in binders)
    if not any(map(_is_worth_it, (body for _, body in inner))):
        return let
    is_function = is_function and isinstance(let.expr, WithSum)
    new = map_bodies(let.expr, lambda body: _compared(body, outside, is_function=is_function), operators=True)
    return remade(let, let.targets, new)


def _is_worth_it(body: Body) -> bool:
    """Whether some loops in a body may do the same."""
    inner = (found for let in body.lets for _, found in bodies(let.expr))
    return _has_two_of_an_extent(body) or any(map(_is_worth_it, inner))


def _has_two_of_an_extent(body: Body) -> bool:
    extents = [extent for let in body.lets if (extent := _extent(let.expr)) is not None]
    return len(set(extents)) < len(extents)


class _Numbers(Numbering):
    """The numbers met in the loops of one body, and the index that each value depends on."""

    def __init__(self, outside: set[Var]) -> None:
        super().__init__()
        self.outside = outside
        self.index_of: dict[Var, Var] = {}

    def enter(self, index: Var, extent: Atom) -> None:
        """A loop runs over an extent."""
        if isinstance(extent, Const) or extent in self.outside or extent in self.numbers:
            number = self.numbers.get(extent, extent) if isinstance(extent, Var) else extent.key
            self.numbers[index] = self.id(("index", number))
            self.index_of[index] = index

    def at(self, atom: Atom, index: Var | None) -> int | None:
        """The number of what depends on an index alone; None where it does not."""
        if index is None or not isinstance(atom, Var) or self.index_of.get(atom) is not index:
            return None
        return self.numbers[atom]

    def made(self, target: Var, expr: Expr) -> tuple[int, Var] | None:
        """The number of what a statement computes, and the index that it depends on; None where it depends on
        something else as well."""
        match expr:
            case Apply(args=args):
                pass
            case Index(array=array, indices=args) if array in self.outside and not target.type.shape:
                pass
            case _:
                return None
        inside = [arg for arg in args if isinstance(arg, Var) and arg not in self.outside]
        indices = {self.index_of.get(arg) for arg in inside}
        index = indices.pop() if len(indices) == 1 else None
        if index is None:
            return None
        self.index_of[target] = index
        return self.define(target, expr), index


@dataclass(slots=True, eq=False)
class _Value:
    """An expensive value of a loop that has ended: the position of its statement, and the variable there."""

    position: int
    var: Var


class _Level(Substitution):
    """One walk over a body whose loops are compared, and all that is in them."""

    def __init__(self, outside: set[Var], *, is_function: bool) -> None:
        super().__init__()
        self.numbers = _Numbers(outside)
        self.is_function = is_function
        self.lets: list[Let] = []
        self.held: set[int] = set()
        """Numbers of conditions that have held in every iteration of a loop that has ended."""
        self.values: dict[int, _Value] = {}
        self.loop: ParFor | Loop | None = None
        """The loop whose own statements are written."""
        self.checks: list[int] = []
        self.made: dict[int, Var] = {}
        self.room: Counter[DType] = Counter()
        """Results of the loop in whose place an array may lie."""

    def statement(self, let: Let) -> None:
        """A statement of the body itself."""
        match let.expr:
            case ParFor() | Loop():
                self.lets.append(remade(let, self.all_bound(let.targets), self.compared(let.expr)))
            case _:
                self.lets.append(self.let(let))
        self.numbers.outside.update(self.lets[-1].targets)

    def compared(self, expr: ParFor | Loop) -> ParFor | Loop:
        """A loop without what was done before, of which later ones know what it does."""
        extent = _extent(expr)
        if extent is not None and expr.index is not None:
            self.numbers.enter(expr.index, self.atom(extent))
        self.checks, self.made, self.room = [], {}, Counter()
        if isinstance(expr, ParFor) and not expr.in_lanes:
            taken = [part.value.type for part in expr.parts if isinstance(part.item, Stack)]
            self.room.update(kind.dtype for kind in taken if not kind.shape)
        self.loop = expr
        new = self.expr(expr, self.body)
        assert isinstance(new, ParFor | Loop)
        if extent is not None and self.is_function:
            self.held.update(self.checks)
        if isinstance(expr, ParFor) and not expr.in_lanes:
            for number, var in self.made.items():
                self.values.setdefault(number, _Value(len(self.lets), var))
        return new

    def body(self, body: Body) -> Body:
        """The body of the loop itself, or one in it."""
        own, self.loop = self.loop, None
        lets = [new for let in body.lets if (new := self.inside(let, own)) is not None]
        return remade(body, lets, self.atoms(body.results))

    def inside(self, let: Let, own: ParFor | Loop | None) -> Let | None:
        """A statement of a loop, of its own body or of one in it; None where nothing is left of it."""
        match let.expr:
            case Apply(prim=prim, args=args):
                return self.apply(let, Apply(prim, self.atoms(args)), own)
            case Check(condition=condition):
                asked = self.atom(condition)
                if asked == TRUE:
                    return None
                number = None if own is None else self.numbers.at(asked, own.index)
                if number is not None:
                    self.checks.append(number)
            case _:
                pass
        new = self.let(let)
        if isinstance(new.expr, Index):
            self.numbers.made(new.targets[0], new.expr)
        return new

    def apply(self, let: Let, expr: Apply, own: ParFor | Loop | None) -> Let | None:
        """A scalar operation, where it is neither known to hold nor there already."""
        (target,) = let.targets
        known = _decided(expr)
        if known is not None:
            self.replace(target, known)
            return None
        number, index = self.numbers.made(target, expr) or (None, None)
        if number in self.held:
            self.replace(target, TRUE)
            return None
        if number is None or not isinstance(own, ParFor) or index is not own.index:
            return Let(let.targets, expr, let.span)
        if expr.prim.cost < EXPENSIVE:
            return Let(let.targets, expr, let.span)
        dtype, value = target.type.dtype, self.values.get(number)
        if value is None or not self.room[dtype]:
            self.made[number] = target
            return Let(let.targets, expr, let.span)
        self.room[dtype] -= 1
        return Let(let.targets, Index(self.keep(number, value, own.extent), (own.index,)), let.span)

    def keep(self, number: int, value: _Value, extent: Atom) -> Var:
        """The array of a value, which its loop gives from here on; it is asked for once."""
        del self.values[number]
        array = Var(value.var.name, ArrayType(value.var.type.dtype, (self.atom(extent),)))
        let = self.lets[value.position]
        assert isinstance(let.expr, ParFor)
        made = let.expr.yielding((*let.expr.parts, Stack.of(value.var)))
        self.lets[value.position] = Let((*let.targets, array), made, let.span)
        self.numbers.outside.add(array)
        return array


def _extent(expr: Expr) -> Atom | None:
    """How often a loop runs, where it runs to its end."""
    match expr:
        case ParFor(extent=extent):
            return extent
        case Loop(trip=trip, condition=None):
            return trip
        case _:
            return None


def _decided(expr: Apply) -> Atom | None:
    """The result of a choice or conjunction with what is known to hold."""
    match expr.prim.name, expr.args:
        case "select", (condition, then, _) if condition == TRUE:
            return then
        case "and", (left, right) if TRUE in (left, right):
            return right if left == TRUE else left
        case _:
            return None
