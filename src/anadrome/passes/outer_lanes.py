"""Parfors that run in lanes of vectors whatever loops are inside.

Lanes of the innermost loop add up the parts of a sum for every short row, and arrays are read again for every
iteration of the outermost loop. In lanes of the outermost one no lane waits for
another, what all of them read is read once for all, and a row that each of them reads again and again is
copied before, so that those of neighbouring lanes lie side by side: `schedule.outer` gives each lane memory
of its own.

That is done where it is sure to pay: two loops of unknown length or more inside one another, in which lanes
go through the same places; what they read or write elsewhere has a loop beside it. Where the innermost
loops add to something outside, a part of the iterations goes into lanes (`blocks`).

Before:
    fn f(x: f64[n, d], a: f64[k, d, d]) -> f64 {
      r = parfor i < n {
        s = parfor c < k {
          t = parfor p < d {
            u = parfor q < d {
              v = x[i, q]
              w = a[c, p, q]
              m = mul v w
              yield reduce add m
            }
            z = mul u u
            yield reduce add z
          }
          e = exp t
          yield reduce add e
        }
        yield reduce add s
      }
      return r
    }
After:
    fn f(x: f64[n, d], a: f64[k, d, d]) -> f64 {
      r = parfor i < n lanes {
        row = parfor j < d {
          v = x[i, j]
          yield stack v
        }
        s = parfor c < k {
          t = parfor p < d {
            u = parfor q < d {
              v1 = row[q]
              w = a[c, p, q]
              m = mul v1 w
              yield reduce add m
            }
            z = mul u u
            yield reduce add z
          }
          e = exp t
          yield reduce add e
        }
        yield reduce add s
      }
      return r
    }
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from anadrome.array_ir.nodes import (
    AddTo,
    Apply,
    ArrayType,
    Atom,
    Body,
    Bounds,
    Carry,
    Const,
    Full,
    Function,
    If,
    Index,
    Let,
    Literal,
    Loop,
    ParFor,
    Part,
    Reduce,
    Reshape,
    Stack,
    Var,
    WithSum,
)
from anadrome.array_ir.rewrite import Substitution, remade, with_body
from anadrome.array_ir.walk import expression_variables, map_bodies
from anadrome.config import Config
from anadrome.dtypes import I64
from anadrome.passes.blocks import blocks, split
from anadrome.prims.node import replace

LEAST_LOOPS = 2
"""So many loops stand inside one another where lanes around them pay."""
UNROLLED = 16
"""A loop of at most this constant extent LLVM unrolls, and the one around counts as the innermost."""
READ_AGAIN = 2
"""In so many loops more than those over its elements a row is read before it is worth a copy."""


def outer_lanes(fn: Function, config: Config) -> Function:
    """The function with the outermost parfors of such nests in lanes; itself where there is none."""
    if config.lanes == 1 or not config.reordered:
        return fn
    return with_body(fn, _body(fn.body))


def _body(body: Body) -> Body:
    """A body of the host program, loops and branches included, and no parfor's."""
    lets: list[Let] = []
    for let in body.lets:
        expr = let.expr
        match expr:
            case ParFor():
                lets += _in_lanes(let, expr)
            case Loop() | If() | WithSum():
                new = map_bodies(expr, _body)
                lets.append(let if new is expr else Let(let.targets, new, let.span))
            case _:
                lets.append(let)
    return remade(body, lets, body.results)


def _in_lanes(let: Let, expr: ParFor) -> tuple[Let, ...]:
    """A statement with its parfor in lanes, or blocks of it in lanes, or as it is."""
    if _depth(expr.body) < LEAST_LOOPS:
        return (let,)
    rest, sums = split(expr)
    judge = _Judge({rest.index}, _depth(rest.body))
    if judge.depth < LEAST_LOOPS or not all(map(_is_total, rest.parts)) or not judge.accepts(rest.body):
        return (let,)
    if sums:
        return blocks(let, expr, lambda lanes: _staged(lanes, rest.index, judge.rows))
    return (Let(let.targets, _staged(replace(expr, in_lanes=True), rest.index, judge.rows), let.span),)


def _is_total(part: Part) -> bool:
    """Whether lanes can give what a parfor makes of its iterations: numbers side by side, or sums."""
    match part.item:
        case Stack():
            return not part.value.type.shape
        case Reduce(operator=operator):
            return operator == "add"
        case Carry():
            return True
        case _:
            return False


def _stays(extent: Atom) -> bool:
    return not isinstance(extent, Const) or int(extent.value) > UNROLLED


def _depth(body: Body) -> int:
    """How many loops that stay loops stand inside one another."""
    deepest = 0
    for let in body.lets:
        match let.expr:
            case ParFor(extent=extent, body=inner):
                deepest = max(deepest, _stays(extent) + _depth(inner))
            case If(then=then, other=other):
                deepest = max(deepest, _depth(then), _depth(other))
            case WithSum(body=inner):
                deepest = max(deepest, _depth(inner))
            case _:
                pass
    return deepest


@dataclass(slots=True, eq=False)
class _Judge:
    """Whether lanes go through a body together: the variables that differ between them, and the arrays of
    which each reads a row of its own again and again."""

    varying: set[Var]
    depth: int
    rows: dict[Var, None] = field(default_factory=dict)
    inside: set[Var] = field(default_factory=set)
    index: Var = field(init=False)

    def __post_init__(self) -> None:
        (self.index,) = self.varying

    def accepts(self, body: Body, level: int = 0, around: int = 0) -> bool:
        """Whether every statement can run in lanes and is worth it there: inside of `level` loops that stay
        loops, and of `around` in all."""
        return all(self._accepts(let, level, around) for let in body.lets)

    def _accepts(self, let: Let, level: int, around: int) -> bool:
        self.inside.update(let.targets)
        if any(self._varies(var) for var in expression_variables(let.expr)):
            self.varying.update(let.targets)
        expr = let.expr
        match expr:
            case Apply() | Full() | Literal() | Reshape():
                return True
            case Index(array=array, indices=indices, bounds=bounds):
                return bounds is Bounds.PROVED and self._reads(array, indices, level, around)
            case ParFor(index=index, extent=extent, body=body, yields=yields):
                if self._varies(extent) or not all(_can(item) for item in yields):
                    return False
                self.inside.add(index)
                return self.accepts(body, level + _stays(extent), around + 1)
            case If(condition=condition, then=then, other=other):
                if self._varies(condition) and level >= self.depth:
                    return False
                return self.accepts(then, level, around) and self.accepts(other, level, around)
            case WithSum(tokens=tokens, body=body):
                self.inside.update(tokens)
                self.varying.update(tokens)
                return self.accepts(body, level, around)
            case AddTo(token=token, indices=indices):
                is_apart = any(map(self._varies, indices)) or token not in self.inside
                return level < self.depth - (token not in self.inside) or not is_apart
            case _:
                return False

    def _varies(self, atom: Atom) -> bool:
        return isinstance(atom, Var) and atom in self.varying

    def _reads(self, array: Var, indices: tuple[Atom, ...], level: int, around: int) -> bool:
        """Whether a read is of one place for all lanes, or of each lane's own memory, or of a row that is
        worth a copy, or has loops beside it."""
        if not any(map(self._varies, indices)):
            return True
        is_row = indices[0] is self.index and not any(map(self._varies, indices[1:]))
        is_whole = len(indices) == len(array.type.shape)
        if not is_whole and array not in self.inside:
            return False
        if (
            is_row
            and len(indices) > 1
            and array not in self.inside
            and around - len(indices[1:]) >= READ_AGAIN
        ):
            self.rows[array] = None
            return True
        return level < self.depth


def _can(item: object) -> bool:
    match item:
        case Stack() | Carry():
            return True
        case Reduce(operator=operator):
            return isinstance(operator, str)
        case _:
            return False


def _staged(expr: ParFor, index: Var, rows: Iterable[Var]) -> ParFor:
    """The parfor with copies of the rows, at the index that is a lane's own, that its lanes read again and
    again."""
    before: list[Let] = []
    copies: dict[Var, Var] = {}
    for array in rows:
        let = _row(array, (index,))
        before.append(let)
        (copies[array],) = let.targets
    first = next((k + 1 for k, let in enumerate(expr.body.lets) if index in let.targets), 0)
    reading = _Reading(index, copies)
    lets = expr.body.lets
    rest = tuple(reading.let(let) for let in lets[first:])
    return replace(expr, body=Body((*lets[:first], *before, *rest), expr.body.results))


def _row(array: Var, indices: tuple[Atom, ...]) -> Let:
    """row = parfor j < … { v = array[i, j]; yield stack v }"""
    shape = array.type.shape[len(indices) :]
    row = Var("row", ArrayType(array.type.dtype, shape))
    at = Var("j", ArrayType(I64))
    if len(shape) > 1:
        inner = _row(array, (*indices, at))
    else:
        value = Var("v", ArrayType(array.type.dtype))
        inner = Let((value,), Index(array, (*indices, at)))
    return Let((row,), ParFor.of(at, shape[0], [inner], [Stack.of(inner.targets[0])]))


class _Reading(Substitution):
    """Reads of rows that were copied, as reads of the copies."""

    def __init__(self, index: Var, copies: dict[Var, Var]) -> None:
        super().__init__()
        self.index = index
        self.copies = copies

    def let(self, let: Let) -> Let:
        """A statement with such reads in it."""
        match let.expr:
            case Index(array=array, indices=(first, *rest)) if first is self.index and array in self.copies:
                if len(rest) == len(array.type.shape) - 1:
                    return Let(let.targets, Index(self.copies[array], tuple(rest)), let.span)
            case _:
                pass
        return super().let(let)
