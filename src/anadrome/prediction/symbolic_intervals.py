"""Numbers of which something is known before a program runs: their value, or bounds and how they are made.

A `Count` is a number that only the run knows: how often a filter keeps an element, how many iterations a
`while` takes. What is computed of counts is an `Operation`, with the bounds of interval arithmetic. So the
size of a buffer is a number, or an expression in counts that can be read, with its least and largest value.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np

from anadrome.dtypes import BOOL, DType
from anadrome.prims.record import Prim
from anadrome.prims.table import PRIMS

Number = bool | int | float
Bounds = tuple[Number, Number]

UNBOUNDED = 1 << 40
"""A bound that is no bound: more elements than any array has."""
LONGEST = 40
"""An expression of more operations is a count of its own."""


@dataclass(frozen=True, slots=True, eq=False)
class Count:
    """A number that only the run knows, between `lo` and `hi`; `what` are words for it."""

    lo: Number
    hi: Number
    what: str


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """What a scalar operation makes of numbers that are not all known; `length` is that of the expression."""

    prim: Prim
    args: tuple[Value, ...]
    lo: Number
    hi: Number
    length: int


Open = Count | Operation
Value = Number | Open


def bounds(value: Value) -> Bounds:
    """The least and the largest that a number may be."""
    return (value.lo, value.hi) if isinstance(value, Count | Operation) else (value, value)


def known(value: Value) -> Number | None:
    """The number, where it is known."""
    return None if isinstance(value, Count | Operation) else value


def anything(dtype: DType, what: str) -> Count:
    """A number of a type, of which nothing else is known."""
    if dtype is BOOL:
        return Count(False, True, what)
    if dtype.is_float:
        return Count(-np.inf, np.inf, what)
    return Count(-UNBOUNDED, UNBOUNDED, what)


# ---------------------------------------------------------------------------- operations
def call(name: str, *args: Value) -> Value:
    """An operation by its name."""
    return apply(PRIMS[name], args)


def apply(prim: Prim, args: tuple[Value, ...]) -> Value:
    """What an operation makes of numbers."""
    if prim.name == "select":
        choice = known(args[0])
        if choice is not None:
            return args[1] if choice else args[2]
    numbers = [arg for arg in args if not isinstance(arg, Count | Operation)]
    if len(numbers) == len(args):
        return _evaluate(prim, numbers)
    pairs = tuple(map(bounds, args))
    if any(isinstance(bound, float) for pair in pairs for bound in pair):
        return _of_floats(prim)
    rule = BOUNDS.get(prim.name)
    if rule is None:
        return Count(-UNBOUNDED, UNBOUNDED, "a number that the data decide")
    lo, hi = rule(*pairs)
    if lo == hi:
        return lo
    for place, arg in enumerate(args):
        if NEUTRAL.get((prim.name, place)) == known(arg) is not None:
            return args[1 - place]
        if prim.name in ("min", "max") and (lo, hi) == pairs[place] and _is_chosen(prim.name, pairs, place):
            return arg
    length = 1 + sum(arg.length for arg in args if isinstance(arg, Operation))
    if length > LONGEST:
        return Count(lo, hi, "a number that the data decide")
    return Operation(prim, args, lo, hi, length)


def _is_chosen(name: str, pairs: tuple[Bounds, ...], place: int) -> bool:
    """Whether an argument is the extremum whatever the numbers are."""
    mine, other = pairs[place], pairs[1 - place]
    return mine[1] <= other[0] if name == "min" else mine[0] >= other[1]


def _evaluate(prim: Prim, numbers: list[Number]) -> Number:
    quick = QUICK.get(prim.name)
    if quick is not None and all(isinstance(number, int) for number in numbers):
        return quick(*numbers)
    with np.errstate(all="ignore"):
        found: Number = np.asarray(prim.numpy(*map(np.asarray, numbers))).item()
    return found


def _of_floats(prim: Prim) -> Count:
    """Nothing is known of what is computed from floats, which may be NaN."""
    if prim.name in PREDICATES:
        return Count(False, True, "1 where a condition on the data holds, else 0")
    if prim.name.startswith("to_i") or prim.name.startswith("to_u"):
        return Count(-UNBOUNDED, UNBOUNDED, "a number that the data decide")
    return Count(-np.inf, np.inf, "a number that the data decide")


PREDICATES = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite", "signbit"})
NEUTRAL: dict[tuple[str, int], int] = {
    ("add", 0): 0,
    ("add", 1): 0,
    ("sub", 1): 0,
    ("mul", 0): 1,
    ("mul", 1): 1,
}
"""(operation, place) to the argument there that leaves the other one as it is."""

QUICK: dict[str, Callable[..., Number]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "min": min,
    "max": max,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def _sum(x: Bounds, y: Bounds) -> Bounds:
    return x[0] + y[0], x[1] + y[1]


def _difference(x: Bounds, y: Bounds) -> Bounds:
    return x[0] - y[1], x[1] - y[0]


def _product(x: Bounds, y: Bounds) -> Bounds:
    corners = [a * b for a in x for b in y]
    return min(corners), max(corners)


def _choice(condition: Bounds, x: Bounds, y: Bounds) -> Bounds:
    return min(x[0], y[0]), max(x[1], y[1])


def _quotient(rounded: Callable[[Any, Any], int]) -> _Rule:
    def rule(x: Bounds, y: Bounds) -> Bounds:
        if y[0] <= 0:
            largest = max(abs(x[0]), abs(x[1]))
            return -largest, largest
        corners = [rounded(a, b) for a in x for b in y]
        return min(corners), max(corners)

    return rule


def _comparison(never: Callable[[Bounds, Bounds], bool], always: Callable[[Bounds, Bounds], bool]) -> _Rule:
    def rule(x: Bounds, y: Bounds) -> Bounds:
        return always(x, y), not never(x, y)

    return rule


_Rule = Callable[..., Bounds]

BOUNDS: dict[str, _Rule] = {
    "add": _sum,
    "sub": _difference,
    "mul": _product,
    "min": lambda x, y: (min(x[0], y[0]), min(x[1], y[1])),
    "max": lambda x, y: (max(x[0], y[0]), max(x[1], y[1])),
    "neg": lambda x: (-x[1], -x[0]),
    "truncdiv": _quotient(lambda a, b: int(abs(a) // b) * (1 if a >= 0 else -1)),
    "floordiv": _quotient(lambda a, b: int(a // b)),
    "select": _choice,
    "and": lambda x, y: (bool(x[0] and y[0]), bool(x[1] and y[1])),
    "or": lambda x, y: (bool(x[0] or y[0]), bool(x[1] or y[1])),
    "not": lambda x: (not x[1], not x[0]),
    "to_i64": lambda x: (int(x[0]), int(x[1])),
    "lt": _comparison(lambda x, y: x[0] >= y[1], lambda x, y: x[1] < y[0]),
    "le": _comparison(lambda x, y: x[0] > y[1], lambda x, y: x[1] <= y[0]),
    "gt": _comparison(lambda x, y: x[1] <= y[0], lambda x, y: x[0] > y[1]),
    "ge": _comparison(lambda x, y: x[1] < y[0], lambda x, y: x[0] >= y[1]),
    "eq": _comparison(lambda x, y: x[1] < y[0] or y[1] < x[0], lambda x, y: x[0] == x[1] == y[0] == y[1]),
    "ne": _comparison(lambda x, y: x[0] == x[1] == y[0] == y[1], lambda x, y: x[1] < y[0] or y[1] < x[0]),
}
"""Of whole numbers and bools; the bounds of the result from those of the arguments."""


# ---------------------------------------------------------------------------- growth
def growth(value: Value, start: Count) -> Bounds | None:
    """The bounds of value - start, or None where they are not known."""
    if value is start:
        return 0, 0
    match value:
        case Operation(prim=prim, args=(left, right)) if prim.name in ("add", "sub"):
            found = growth(left, start)
            if found is not None and start not in counts(right):
                return BOUNDS[prim.name](found, bounds(right))
            if prim.name == "add" and start not in counts(left):
                found = growth(right, start)
                return None if found is None else _sum(found, bounds(left))
            return None
        case Operation(prim=prim, args=args) if prim.name == "select":
            return _joined(growth(args[1], start), growth(args[2], start))
        case _:
            return None


def _joined(one: Bounds | None, other: Bounds | None) -> Bounds | None:
    return None if one is None or other is None else (min(one[0], other[0]), max(one[1], other[1]))


def counts(value: Value) -> Iterator[Count]:
    """The counts that a number is made of."""
    match value:
        case Count():
            yield value
        case Operation(args=args):
            for arg in args:
                yield from counts(arg)
        case _:
            pass


# ---------------------------------------------------------------------------- words
SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "truncdiv": "//", "floordiv": "//", "eq": "==", "ne": "!="}
COMPARED = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "and": "and", "or": "or"}


def formula(value: Value, names: dict[Count, str]) -> str:
    """A number as an expression of Python; counts without a name get k1, k2, …"""
    match value:
        case Count():
            return names.setdefault(value, f"k{len(names) + 1}")
        case Operation(prim=prim, args=args):
            symbol = SYMBOLS.get(prim.name) or COMPARED.get(prim.name)
            parts = [formula(arg, names) for arg in args]
            if symbol is not None and len(parts) == 2:
                return _infix(symbol, parts, args)
            if prim.name == "select":
                return f"({parts[1]} if {parts[0]} else {parts[2]})"
            if prim.name == "to_i64":
                return f"int({parts[0]})"
            name = {"neg": "-", "not": "not "}.get(prim.name, prim.name)
            return f"{name}({', '.join(parts)})"
        case bool() | int() | float():
            return str(value)
        case _:
            assert_never(value)


def _infix(symbol: str, parts: list[str], args: tuple[Value, ...]) -> str:
    """Brackets around sums inside anything but sums."""
    level = {"*": 2, "//": 2, "+": 1, "-": 1}
    written = []
    for place, (part, arg) in enumerate(zip(parts, args, strict=True)):
        inner = SYMBOLS.get(arg.prim.name, "and") if isinstance(arg, Operation) else "*"
        is_tight = level.get(inner, 0) >= level.get(symbol, 0) and not (place == 1 and symbol in ("-", "//"))
        is_call = isinstance(arg, Operation) and arg.prim.name in ("min", "max", "select", "to_i64")
        written.append(part if not isinstance(arg, Operation) or is_call or is_tight else f"({part})")
    if symbol == "*" and isinstance(known(args[1]), int):
        written.reverse()
    return f"{written[0]} {symbol} {written[1]}"
