"""What whole numbers are at least and at most, wherever a program computes them.

A number has limits if those that it is computed from have them and the operation does not wrap around within
them. What is read from memory has none. Workers are as many as a setting may ask for at most.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

from anadrome.config import MOST_THREADS
from anadrome.dtypes import I64
from anadrome.kernel_ir.affine import Bindings
from anadrome.kernel_ir.nodes import Compute, Const, Expr, For, Var, Workers
from anadrome.kernel_ir.walk import is_same

Range = tuple[int | None, int | None]
"""The least and the greatest value; None where it is not known."""

UNKNOWN: Range = (None, None)
_LARGEST = (1 << 63) - 1


@dataclass(slots=True)
class Limits:
    """The limits of the numbers of a program."""

    bindings: Bindings = field(default_factory=Bindings)
    _found: dict[Var, Range] = field(default_factory=dict)

    def of(self, expr: Expr) -> Range:
        """What an expression is at least and at most."""
        match expr:
            case Const(value=value, dtype=dtype) if dtype is I64:
                return int(value), int(value)
            case Var():
                if expr not in self._found:
                    self._found[expr] = UNKNOWN
                    self._found[expr] = self._number(expr)
                return self._found[expr]
            case Compute(prim=prim, args=args):
                return self._operation(prim.name, args)
            case Workers():
                return 1, MOST_THREADS
            case _:
                return UNKNOWN

    def trips(self, loop: For) -> int | None:
        """The most iterations of a loop, if they are known."""
        (least, _), (_, most) = self.of(loop.lo), self.of(loop.hi)
        counts = [] if least is None or most is None else [max(most - least, 0)]
        for hi in _alternatives(loop.hi):
            match hi:  # up to min(…, lo + n)
                case Compute(prim=prim, args=(start, Const(value=count))) if prim.name == "add":
                    if is_same(start, loop.lo):
                        counts.append(max(int(count), 0))
                case _:
                    pass
        return min(counts, default=None)

    def is_team(self, expr: Expr) -> bool:
        """Whether a number is that of the workers, or of those among them that have something to do."""
        match expr:
            case Workers():
                return True
            case Var():
                value = self.bindings.numbers.get(expr)
                return value is not None and self.is_team(value)
            case Compute(prim=prim, args=args) if prim.name in ("min", "max", "select"):
                return any(map(self.is_team, args)) and self.of(expr)[1] is not None
            case _:
                return False

    def _number(self, var: Var) -> Range:
        value, loop = self.bindings.numbers.get(var), self.bindings.loops.get(var)
        if value is not None and var.dtype is I64:
            return self.of(value)
        if loop is None:
            return UNKNOWN
        (least, _), (_, end) = self.of(loop.lo), self.of(loop.hi)
        return least, None if end is None else end - 1

    def _operation(self, name: str, args: tuple[Expr, ...]) -> Range:
        match name, args:
            case "min" | "max", (left, right):
                return _extremum(name, self.of(left), self.of(right))
            case "select", (_, then, other):
                (least, most), (low, high) = self.of(then), self.of(other)
                return _least(least, low), _most(most, high)
            case "add" | "sub" | "mul" | "floordiv" | "truncdiv", (left, right):
                return _arithmetic(name, self.of(left), self.of(right))
            case _:
                return UNKNOWN


def _alternatives(expr: Expr) -> tuple[Expr, ...]:
    match expr:
        case Compute(prim=prim, args=args) if prim.name == "min":
            return args
        case _:
            return (expr,)


def _least(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else min(left, right)


def _most(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else max(left, right)


def _extremum(name: str, left: Range, right: Range) -> Range:
    """Of a minimum one is enough for what it is at most; both, for what it is at least."""
    lows, highs = (left[0], right[0]), (left[1], right[1])
    if name == "min":
        return _least(*lows), min((high for high in highs if high is not None), default=None)
    return max((low for low in lows if low is not None), default=None), _most(*highs)


def _arithmetic(name: str, left: Range, right: Range) -> Range:
    """From the corners; a quotient is that of a whole number above 0."""
    (least, most), (low, high) = left, right
    if name in ("floordiv", "truncdiv"):
        return _quotient(name, left, low) if low is not None and low == high and low > 0 else UNKNOWN
    if least is None or most is None or low is None or high is None:
        return UNKNOWN
    match name:
        case "add":
            found = [least + low, most + high]
        case "sub":
            found = [least - high, most - low]
        case _:
            found = [one * other for one, other in product((least, most), (low, high))]
    return (min(found), max(found)) if min(found) >= -_LARGEST and max(found) <= _LARGEST else UNKNOWN


def _quotient(name: str, left: Range, divisor: int) -> Range:
    def divided(number: int | None) -> int | None:
        if number is None:
            return None
        is_rounded_up = name == "truncdiv" and number < 0
        return -(-number // divisor) if is_rounded_up else number // divisor

    return divided(left[0]), divided(left[1])
