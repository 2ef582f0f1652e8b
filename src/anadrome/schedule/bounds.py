"""Conditions on the index of a loop over threads as bounds of the loop.

A number that is the index plus something that does not change in the loop is below, above or at another one
that does not change: this bounds the loop. Other conditions either concern the loop as a whole, or are left.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from anadrome.dtypes import BOOL, I64
from anadrome.kernel_ir.arithmetic import ONE, ZERO, add, compute, greatest, known, least, multiply, subtract
from anadrome.kernel_ir.nodes import Compute, Const, Expr, For, Let, Load, Stmt, Var, Workers, i64
from anadrome.kernel_ir.walk import subexpressions
from anadrome.schedule.plan import dtype_of

FAR = 1 << 62
"""Numbers are held between -FAR and FAR before places, which are smaller, are subtracted from them."""
SMALL = 1 << 31
"""Constants up to here are places."""

MOST = 64
"""Operations of an expression that is computed before the loop as well."""

_TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq"}
"""Comparison -> the same with its arguments exchanged."""


def conjuncts(condition: Expr, values: dict[Var, Expr]) -> list[Expr]:
    """What all must hold; variables that are conjunctions are opened."""
    match condition:
        case Compute(prim=prim, args=(left, right)) if prim.name == "and":
            return [*conjuncts(left, values), *conjuncts(right, values)]
        case Var() if condition in values and _is_conjunction(values[condition]):
            return conjuncts(values[condition], values)
        case _:
            return [condition]


def _is_conjunction(expr: Expr) -> bool:
    return isinstance(expr, Compute) and (expr.prim.name == "and" or expr.prim.name in _TURNED)


def all_of(conditions: Sequence[Expr]) -> Expr:
    """Whether all of several conditions hold."""
    total: Expr = Const(True, BOOL)
    for condition in conditions:
        total = condition if isinstance(total, Const) else compute("and", total, condition)
    return total


@dataclass(slots=True)
class Bounds:
    """The bounds of one loop, and the conditions that do not become bounds."""

    index: Var
    values: dict[Var, Expr]
    """What is bound in the loop before the branch."""
    places: Collection[Var]
    """Variables that hold extents of the launch, or indices of blocks and threads: sums of them and the index
    do not leave i64."""
    lo: Expr
    hi: Expr
    is_checked: bool = False
    """Whether the conditions hold a number between sizes of memory, so that a sum that leaves i64 fails
    them."""
    sizes: dict[Var, int] = field(default_factory=dict)
    """How large the values are with all that they are computed from."""
    before: list[Stmt] = field(default_factory=list)
    around: list[Expr] = field(default_factory=list)
    inside: list[Expr] = field(default_factory=list)

    @staticmethod
    def of(loop: For, lets: Sequence[Stmt], places: Collection[Var], *, is_checked: bool = False) -> Bounds:
        """The bounds of a loop, with what is bound in it."""
        values = {stmt.var: stmt.value for stmt in lets if isinstance(stmt, Let)}
        bounds = Bounds(loop.index, values, places, loop.lo, loop.hi, is_checked)
        for var, value in values.items():
            bounds.sizes[var] = bounds._size(value)
        return bounds

    def _size(self, expr: Expr) -> int:
        """The operations of an expression, as often as they are written."""
        parts = (self.sizes.get(part, 1) if isinstance(part, Var) else 1 for part in subexpressions(expr))
        return min(sum(parts), MOST + 1)

    def take_all(self, condition: Expr) -> None:
        """Take all that a condition asks."""
        if self._size(condition) > MOST:
            self.inside.append(condition)
            return
        for part in conjuncts(condition, self.values):
            self.take(part)

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
        if name == "ge" and self._is_below(number, place):
            return True
        bound = subtract(self._held(number), place)
        if name in ("lt", "le", "eq"):
            self.hi = least(self.hi, bound if name == "lt" else add(bound, ONE))
        if name in ("gt", "ge", "eq"):
            self.lo = greatest(self.lo, add(bound, ONE) if name == "gt" else bound)
        return True

    def place(self, expr: Expr) -> Expr | None:
        """What is added to the index in a number that is the index plus a place; None for other numbers."""
        if not self._is_shifted(expr):
            return None
        place = self.at(expr, ZERO)
        if place is None or self._is_place(expr):
            return place
        return self._held(place) if self.is_checked else None

    def _is_shifted(self, expr: Expr) -> bool:
        """Whether a number is the index plus something that does not change in the loop."""
        match expr:
            case Var():
                return expr is self.index or (expr in self.values and self._is_shifted(self.values[expr]))
            case Compute(prim=prim, args=(left, right)) if prim.name in ("add", "sub"):
                if self.outside(right) is not None:
                    return self._is_shifted(left)
                return prim.name == "add" and self.outside(left) is not None and self._is_shifted(right)
            case _:
                return False

    def _is_place(self, expr: Expr) -> bool:
        """Whether a number is computed from extents of the launch and from where a thread is: sums, and
        products of two, which do not leave i64."""
        match expr:
            case Var() if expr in self.values:
                return self._is_place(self.values[expr])
            case Var():
                return expr is self.index or expr in self.places
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
        return self.at(expr, None)

    def at(self, expr: Expr, index: Expr | None) -> Expr | None:
        """An expression as it is before the loop, for one value of the index; None where it is too large."""
        if self._size(expr) > MOST:
            return None
        match expr:
            case Var() if expr is self.index:
                return index
            case Var() if expr in self.values:
                return self.at(self.values[expr], index)
            case Var() | Const() | Workers():
                return expr
            case Load():
                return None
            case Compute(prim=prim, args=args):
                parts = [self.at(arg, index) for arg in args]
                found = [part for part in parts if part is not None]
                if len(found) < len(parts):
                    return None
                return _folded(prim.name, found) or Compute(prim, tuple(found), expr.is_reassociable)

    def _is_below(self, number: Expr, place: Expr) -> bool:
        """Whether every index of the loop, and a place that is not negative, is at least a number."""
        least_index, least_number = known(self.lo), known(number)
        if least_index is None or least_number is None or not self._is_natural(place):
            return False
        return least_number <= least_index

    def _is_natural(self, expr: Expr) -> bool:
        """Whether a place is a sum or product of extents and of indices of blocks and threads."""
        match expr:
            case Var():
                return expr in self.places
            case Const():
                return (known(expr) or 0) >= 0
            case Compute(prim=prim, args=args):
                return prim.name in ("add", "mul") and all(map(self._is_natural, args))
            case _:
                return False

    def _held(self, number: Expr) -> Expr:
        """The number between -FAR and FAR."""
        held = least(greatest(number, i64(-FAR)), i64(FAR))
        if isinstance(held, Const):
            return held
        var = Var("held", I64)
        self.before.append(Let(var, held))
        return var


def _folded(name: str, args: Sequence[Expr]) -> Expr | None:
    """A sum or product of whole numbers, where a constant makes it simpler."""
    if dtype_of(args[0]) is not I64:
        return None
    match name:
        case "add":
            return add(*args)
        case "sub":
            return subtract(*args)
        case "mul":
            return multiply(*args)
        case _:
            return None
