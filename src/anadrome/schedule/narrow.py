"""Run a loop over threads where a condition on the thread's place holds, instead of asking in every
iteration.

A piece that ends in a branch without `else` asks, in conjunctions, whether the thread's place (times one, and
plus what the launch says) is below, above or at some number. Such conditions bound the loop; those that do
not concern the loop's index stand around it; the others stay. Threads of a piece do not wait for one another,
so none misses those that do nothing.

Before:
    kernel axpy(n: i64, a: f64, x: f64 buffer [n], y: f64 buffer [n])
    at gx gy gz, bx by bz, ix iy iz, tx ty tz, bytes {
      let i: i64 = add(mul(ix, bx), tx)
      if lt(i, n) {
        y[i] = add(y[i], mul(a, x[i]))
      }
    }
    fn main(n: i64, blocks: i64, x: f64 buffer) {
      alloc y: f64 global [n]
      launch axpy [blocks, 1, 1] [128, 1, 1] [0] (n, 2.0, x, y)
      return y as f64 [n]
    }
After:
    fn main(n: i64, blocks: i64, x: f64 buffer) {
      alloc y: f64 global [n]
      view x_1 [n] = x [0]
      view y_1 [n] = y [0]
      for block in 0 .. blocks sequential {
        let held: i64 = min(max(n, -4611686018427387904), 4611686018427387904)
        for tx in 0 .. min(128, sub(held, mul(block, 128))) lanes {
          let i: i64 = add(mul(block, 128), tx)
          y_1[i] = add(y_1[i], mul(2.0, x_1[i]))
        }
      }
      return y as f64 [n]
    }

"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from anadrome.dtypes import I64
from anadrome.kernel_ir.nodes import Compute, Const, Expr, For, If, Let, Load, Stmt, Var, Workers, i64
from anadrome.schedule.arithmetic import ONE, ZERO, add, compute, greatest, known, least, subtract

FAR = 1 << 62
"""Numbers are held between -FAR and FAR before places, which are smaller, are subtracted from them."""
SMALL = 1 << 31
"""Constants up to here are places."""

_TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq"}
"""Comparison -> the same with its arguments exchanged."""


def narrow(loop: For, places: Collection[Var]) -> list[Stmt]:
    """The loop over those iterations in which something is done. `places` are variables that hold extents of
    the launch, or indices of blocks and threads."""
    if not loop.body:
        return [loop]
    *lets, last = loop.body
    if not isinstance(last, If) or last.other or not all(isinstance(stmt, Let) for stmt in lets):
        return [loop]
    values = {stmt.var: stmt.value for stmt in lets if isinstance(stmt, Let)}
    search = _Search(loop.index, values, places, loop.lo, loop.hi)
    for part in _conjuncts(last.condition, values):
        search.take(part)
    if not search.around and (search.lo, search.hi) == (loop.lo, loop.hi):
        return [loop]
    inner = last.then if not search.inside else (If(_all(search.inside), last.then),)
    narrowed = For(loop.index, search.lo, search.hi, (*lets, *inner), loop.binding)
    found = (*search.before, narrowed)
    return [If(_all(search.around), found)] if search.around else [*found]


def _conjuncts(condition: Expr, values: dict[Var, Expr]) -> list[Expr]:
    """What all must hold; variables that are conjunctions are opened."""
    match condition:
        case Compute(prim=prim, args=(left, right)) if prim.name == "and":
            return [*_conjuncts(left, values), *_conjuncts(right, values)]
        case Var() if condition in values and _is_conjunction(values[condition]):
            return _conjuncts(values[condition], values)
        case _:
            return [condition]


def _is_conjunction(expr: Expr) -> bool:
    return isinstance(expr, Compute) and (expr.prim.name == "and" or expr.prim.name in _TURNED)


def _all(conditions: Sequence[Expr]) -> Expr:
    total = conditions[0]
    for condition in conditions[1:]:
        total = compute("and", total, condition)
    return total


@dataclass(slots=True)
class _Search:
    """The bounds of one loop, and the conditions that do not become bounds."""

    index: Var
    values: dict[Var, Expr]
    """What is bound in the loop before the branch."""
    places: Collection[Var]
    lo: Expr
    hi: Expr
    before: list[Stmt] = field(default_factory=list)
    around: list[Expr] = field(default_factory=list)
    inside: list[Expr] = field(default_factory=list)

    def take(self, condition: Expr) -> None:
        """Let one condition bound the loop, or stand around it, or stay inside."""
        if self._bounds(condition):
            return
        outside = self.outside(condition)
        if outside is None:
            self.inside.append(condition)
        else:
            self.around.append(outside)

    def _bounds(self, condition: Expr) -> bool:
        """Whether the condition is a comparison that bounds the loop: index + place ∘ number."""
        if isinstance(condition, Var) and condition in self.values:
            condition = self.values[condition]
        if not isinstance(condition, Compute) or condition.prim.name not in _TURNED:
            return False
        name, (left, right) = condition.prim.name, condition.args
        place, number = self.place(left), self.outside(right)
        if place is None or number is None:
            name, place, number = _TURNED[name], self.place(right), self.outside(left)
        if place is None or number is None:
            return False
        bound = subtract(self._held(number), place)
        if name in ("lt", "le", "eq"):
            self.hi = least(self.hi, bound if name == "lt" else add(bound, ONE))
        if name in ("gt", "ge", "eq"):
            self.lo = greatest(self.lo, add(bound, ONE) if name == "gt" else bound)
        return True

    def place(self, expr: Expr) -> Expr | None:
        """What is added to the index in a number that is the index plus a place; None for other numbers."""
        match expr:
            case Var() if expr is self.index:
                return ZERO
            case Var() if expr in self.values:
                return self.place(self.values[expr])
            case Compute(prim=prim, args=(left, right)) if prim.name in ("add", "sub"):
                first = self.place(left)
                if first is not None and self._is_place(right):
                    other = self.outside(right)
                    assert other is not None
                    return add(first, other) if prim.name == "add" else subtract(first, other)
                second = self.place(right) if prim.name == "add" else None
                if second is not None and self._is_place(left):
                    other = self.outside(left)
                    assert other is not None
                    return add(other, second)
                return None
            case _:
                return None

    def _is_place(self, expr: Expr) -> bool:
        """Whether a number is computed from extents of the launch and from where a thread is, without the
        index: sums and products of two, which do not leave i64."""
        match expr:
            case Var() if expr in self.values:
                return self._is_place(self.values[expr])
            case Var():
                return expr in self.places and expr is not self.index
            case Const():
                number = known(expr)
                return number is not None and abs(number) <= SMALL
            case Compute(prim=prim, args=(left, right)) if prim.name in ("add", "sub"):
                return self._is_place(left) and self._is_place(right)
            case Compute(prim=prim, args=(Var() | Const() as left, Var() | Const() as right)):
                return prim.name == "mul" and self._is_place(left) and self._is_place(right)
            case _:
                return False

    def outside(self, expr: Expr) -> Expr | None:
        """An expression as it is before the loop; None where it depends on the index, or is read from
        memory."""
        match expr:
            case Var() if expr is self.index:
                return None
            case Var() if expr in self.values:
                return self.outside(self.values[expr])
            case Var() | Const() | Workers():
                return expr
            case Load():
                return None
            case Compute(prim=prim, args=args):
                parts = [self.outside(arg) for arg in args]
                found = [part for part in parts if part is not None]
                if len(found) < len(parts):
                    return None
                return Compute(prim, tuple(found), expr.is_reassociable)

    def _held(self, number: Expr) -> Expr:
        """The number between -FAR and FAR."""
        held = least(greatest(number, i64(-FAR)), i64(FAR))
        if isinstance(held, Const):
            return held
        var = Var("held", I64)
        self.before.append(Let(var, held))
        return var
