"""Several rows of a nest that adds sums over a block, in lanes along the row: what rows share is read once.

A row of such a nest (`blocks`) sums, in every lane, products of a number of the row with what all rows have.
Several rows at once are a register tile: each number that they share is read once, and one sum goes on while
others wait for their last addition. Rows may be of different lengths, as those of a triangle are; a row adds
where it has an element. The rows that fill no tile follow one by one.

Before:
    fn f(w: f64[d, n], x: f64[n, d], start: f64[d, d]) -> f64[d, d] {
      r = with_sum (total = start) {
        t = parfor p < d {
          size = add p 1
          t1 = parfor q < size lanes {
            s = parfor l < n {
              v = w[p, l]
              u = x[l, q]
              m = mul v u
              yield reduce add m
            }
            b = add_to total[p, q] s
            yield carry total b
          }
          yield carry total t1
        }
        return t
      }
      return r
    }
After:
    fn f(w: f64[d, n], x: f64[n, d], start: f64[d, d]) -> f64[d, d] {
      r = with_sum (total = start) {
        tiles = floordiv d 4
        t = parfor tile < tiles {
          first = mul tile 4
          p = add first 1
          p1 = add first 2
          p2 = add first 3
          size = add first 1
          size1 = add p 1
          size2 = add p1 1
          size3 = add p2 1
          most = max size size1
          most1 = max most size2
          most2 = max most1 size3
          t1 = parfor q < most2 lanes {
            s, s1, s2, s3 = parfor l < n {
              v = w[first, l]
              v1 = w[p, l]
              v2 = w[p1, l]
              v3 = w[p2, l]
              u = x[l, q]
              m = mul v u
              m1 = mul v1 u
              m2 = mul v2 u
              m3 = mul v3 u
              yield reduce add m
              yield reduce add m1
              yield reduce add m2
              yield reduce add m3
            }
            has = lt q size
            b = if has {
              b1 = add_to total[first, q] s
              return b1
            } else {
              return total
            }
            has1 = lt q size1
            b2 = if has1 {
              b3 = add_to b[p, q] s1
              return b3
            } else {
              return b
            }
            has2 = lt q size2
            b4 = if has2 {
              b5 = add_to b2[p1, q] s2
              return b5
            } else {
              return b2
            }
            has3 = lt q size3
            b6 = if has3 {
              b7 = add_to b4[p2, q] s3
              return b7
            } else {
              return b4
            }
            yield carry total b6
          }
          yield carry total t1
        }
        done = mul tiles 4
        left = sub d done
        t2 = parfor p3 < left {
          p4 = add done p3
          size4 = add p4 1
          t3 = parfor q1 < size4 lanes {
            s4 = parfor l1 < n {
              v4 = w[p4, l1]
              u1 = x[l1, q1]
              m4 = mul v4 u1
              yield reduce add m4
            }
            b8 = add_to t[p4, q1] s4
            yield carry t b8
          }
          yield carry t t3
        }
        return t2
      }
      return r
    }
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from anadrome.array_ir.build import as_var
from anadrome.array_ir.nodes import (
    Apply,
    ArrayType,
    Atom,
    Body,
    Carry,
    Const,
    Function,
    If,
    Index,
    Let,
    ParFor,
    Part,
    Reduce,
    SumType,
    Var,
)
from anadrome.array_ir.rewrite import Renaming, remade, with_body
from anadrome.array_ir.walk import expression_variables, map_bodies
from anadrome.config import Config
from anadrome.dtypes import BOOL, I64
from anadrome.prims.table import PRIMS

ROWS = 4
"""Rows of a tile, whose length the run says."""
MOST = 6
"""The most rows of a tile: with two vectors of lanes each has twelve sums in registers."""


def tiles(fn: Function, config: Config) -> Function:
    """The function with such nests in tiles; itself where there is none."""
    return with_body(fn, _body(fn.body))


def _body(body: Body) -> Body:
    lets: list[Let] = []
    for let in body.lets:
        expr = map_bodies(let.expr, _body)
        new = let if expr is let.expr else Let(let.targets, expr, let.span)
        rows = _rows(new, expr) if isinstance(expr, ParFor) else None
        lets += (new,) if rows is None else rows.tiled()
    return remade(body, lets, body.results)


def _rows(let: Let, loop: ParFor) -> _Rows | None:
    """The parts of a nest; None where it is none, or rows share nothing, or need what others do not have."""
    lane_loop = loop.body.lets[-1].expr if loop.body.lets else None
    if not isinstance(lane_loop, ParFor) or not lane_loop.in_lanes:
        return None
    if not all(isinstance(item, Carry) for item in (*loop.yields, *lane_loop.yields)):
        return None
    own = _Own({loop.index})
    before = loop.body.lets[:-1]
    if any(isinstance(target.type, SumType) for one in before for target in one.targets):
        return None
    own.add(before)
    inside = lane_loop.body.lets
    sums = [position for position, one in enumerate(inside) if isinstance(one.expr, ParFor)]
    if len(sums) != 1:
        return None
    (position,) = sums
    own_ahead = own.add(inside[:position])
    summing = inside[position].expr
    assert isinstance(summing, ParFor)
    along = _Own({lane_loop.index})
    along.add(inside[:position])
    along.add(summing.body.lets)
    own_terms = own.add(summing.body.lets)
    own.add((inside[position],))
    ahead = {target for one in own_ahead for target in one.targets}
    if not all(isinstance(one.expr, Apply | Index) for one in summing.body.lets):
        return None
    for one in summing.body.lets:
        read = expression_variables(one.expr)
        if not ahead.isdisjoint(read) or (
            isinstance(one.expr, Index) and one in own_terms and not along.names.isdisjoint(read)
        ):
            return None
    if len(own_terms) == len(summing.body.lets):
        return None
    return _Rows(let, loop, lane_loop, position, own.names)


class _Own:
    """The names of what differs between rows (or lanes)."""

    def __init__(self, names: set[Var]) -> None:
        self.names = names

    def add(self, lets: Iterable[Let]) -> list[Let]:
        """Those of the statements that differ."""
        return [let for let in lets if self._differs(let)]

    def _differs(self, let: Let) -> bool:
        if isinstance(let.expr, ParFor):
            self.add(let.expr.body.lets)
        if self.names.isdisjoint(expression_variables(let.expr)):
            return False
        self.names.update(let.targets)
        return True


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """A nest: the loop over rows, in it the loop in lanes, in it at a position the loop that sums; and the
    names of what differs between rows."""

    let: Let
    loop: ParFor
    lanes: ParFor
    position: int
    own: set[Var]

    def tiled(self) -> tuple[Let, ...]:
        """The nest in tiles, and the rest."""
        extent, count = self.loop.extent, self._count()
        lets: list[Let] = []
        tiles = _whole(lets, "tiles", "floordiv", extent, _number(count))
        targets = tuple(Var(target.name, target.type) for target in self.let.targets)
        is_even = isinstance(extent, Const) and int(extent.value) % count == 0
        main = Let(self.let.targets if is_even else targets, self._main(tiles, count), self.let.span)
        lets.append(main)
        if is_even:
            return tuple(lets)
        done = _whole(lets, "done", "mul", tiles, _number(count))
        left = _whole(lets, "left", "sub", extent, done)
        index = Var(self.loop.index.name, self.loop.index.type)
        sources = [item.source for item in self.loop.yields if isinstance(item, Carry)]
        copy = Renaming({self.loop.index: index, **dict(zip(sources, targets, strict=True))})
        place = Let((index,), Apply(PRIMS["add"], (done, own := _index(self.loop.index.name))))
        body = (place, *map(copy.let, self.loop.body.lets))
        rest = ParFor.of(own, left, body, map(copy.part, self.loop.parts))
        lets.append(Let(self.let.targets, rest, self.let.span))
        return tuple(lets)

    def _count(self) -> int:
        """Rows of a tile: so many that none is left, if there are such."""
        extent = self.loop.extent
        if not isinstance(extent, Const):
            return ROWS
        fitting = (count for count in range(MOST, 1, -1) if int(extent.value) % count == 0)
        return next(fitting, ROWS)

    def _main(self, tiles: Atom, count: int) -> ParFor:
        """The loop over tiles."""
        tile, lets = _index("tile"), list[Let]()
        first = _whole(lets, "first", "mul", tile, _number(count))
        rows = [first]
        rows += [
            _whole(lets, self.loop.index.name, "add", first, _number(number)) for number in range(1, count)
        ]
        shared, copies = Renaming({}), [Renaming({self.loop.index: row}) for row in rows]
        *before, last = self.loop.body.lets
        for let in before:
            lets += self._statement(let, shared, copies)
        lanes = self._lanes(lets, shared, copies)
        made = tuple(Var(target.name, target.type) for target in last.targets)
        lets.append(Let(made, lanes, last.span))
        back = Renaming(dict(zip(last.targets, made, strict=True)))
        return ParFor.of(tile, tiles, lets, map(back.part, self.loop.parts))

    def _statement(self, let: Let, shared: Renaming, copies: Sequence[Renaming]) -> Iterator[Let]:
        """A statement of all rows: once, where they share it."""
        if not self._differs(let):
            made = shared.let(let)
            for copy in copies:
                copy.mapping.update(zip(let.targets, made.targets, strict=True))
            yield made
        elif isinstance(let.expr, ParFor) and self._is_alike(let.expr):
            yield self._together(let, let.expr, shared, copies)
        else:
            yield from (copy.let(let) for copy in copies)

    def _is_alike(self, loop: ParFor) -> bool:
        """Whether a loop gives sums, and is as long for all rows. Those that give arrays write to one place
        each, and are faster one after the other."""
        return loop.extent not in self.own and all(isinstance(item, Reduce) for item in loop.yields)

    def _differs(self, let: Let) -> bool:
        return not self.own.isdisjoint(let.targets)

    def _lanes(self, before: list[Let], shared: Renaming, copies: list[Renaming]) -> ParFor:
        """The loop in lanes, over as many as the longest row has."""
        extents = [copy.atom(self.lanes.extent) for copy in copies]
        most = extents[0]
        if self.lanes.extent in self.own:
            for extent in extents[1:]:
                most = _whole(before, "most", "max", most, extent)
        index, lets = _index(self.lanes.index.name), list[Let]()
        for copy in (shared, *copies):
            copy.mapping[self.lanes.index] = index
        inside = self.lanes.body.lets
        for let in inside[: self.position]:
            if not self._differs(let):
                lets += self._statement(let, shared, copies)
        lets += self._statement(inside[self.position], shared, copies)
        sources = tuple(item.source for item in self.lanes.yields if isinstance(item, Carry))
        now = sources
        for copy, extent in zip(copies, extents, strict=True):
            now = self._row(lets, copy, index, extent, dict(zip(sources, now, strict=True)))
        parts = [Carry.of(source, token) for source, token in zip(sources, now, strict=True)]
        return ParFor.of(index, most, lets, parts, in_lanes=True)

    def _together(self, let: Let, loop: ParFor, shared: Renaming, copies: Sequence[Renaming]) -> Let:
        """What a loop gives for each row, in one loop."""
        index, lets = _index(loop.index.name), list[Let]()
        for copy in (shared, *copies):
            copy.mapping[loop.index] = index
        for one in loop.body.lets:
            lets += self._statement(one, shared, copies)
        targets: list[Var] = []
        parts: list[Part] = []
        for copy in copies:
            parts += map(copy.part, loop.parts)
            targets += [copy.fresh(target) for target in let.targets]
        return Let(tuple(targets), ParFor.of(index, loop.extent, lets, parts), let.span)

    def _row(
        self, lets: list[Let], copy: Renaming, index: Var, extent: Atom, now: dict[Var, Var]
    ) -> tuple[Var, ...]:
        """What one row adds where it has an element; the accumulators afterwards."""
        copy.mapping.update(now)
        inside = self.lanes.body.lets
        ahead = [let for let in inside[: self.position] if self._differs(let)]
        made = [copy.let(let) for let in (*ahead, *inside[self.position + 1 :])]
        results = copy.variables(
            as_var(part.value) for part in self.lanes.parts if isinstance(part.item, Carry)
        )
        if self.lanes.extent not in self.own:
            lets += made
            return results
        has = Var("has", ArrayType(BOOL))
        lets.append(Let((has,), Apply(PRIMS["lt"], (index, extent))))
        after = tuple(Var(token.name, token.type) for token in results)
        branch = If(has, Body(tuple(made), results), Body((), tuple(now.values())))
        lets.append(Let(after, branch, self.let.span))
        return after


def _whole(lets: list[Let], name: str, prim: str, *args: Atom) -> Atom:
    """A whole number, computed by a statement, or known."""
    match prim, args:
        case "floordiv", (Const(value=left), Const(value=right)):
            return _number(int(left) // int(right))
        case _:
            made = _index(name)
            lets.append(Let((made,), Apply(PRIMS[prim], args)))
            return made


def _index(name: str) -> Var:
    return Var(name, ArrayType(I64))


def _number(value: int) -> Const:
    return Const(value, I64)
