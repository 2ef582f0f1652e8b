"""Yields that stand alone, in a parfor that reads the operands of each iteration from arrays.

Before:
    y, s = parfor i < n { v = …; yield reduce mul v; yield reduce add v }
After:
    vs, s = parfor i < n { v = …; yield stack v; yield reduce add v }
    y = parfor i < n { v = vs[i]; yield reduce mul v }

The rules of such yields (`fold`, `scatter`) see arrays in, arrays out. An operand that is an array's element
at i already is not stacked again; a place that is affine in i is computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anadrome.ad.folds.extrema import accumulated_extremum, reduced_extremum, scanned_extremum
from anadrome.ad.interchange import by_columns
from anadrome.ad.sweep.sequential import sequential_accumulate, sequential_reduce, sequential_scan
from anadrome.array_ir.affine import Affine
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import (
    Accumulate,
    Atom,
    Index,
    Part,
    Reduce,
    Scan,
    Scatter,
    Size,
    Stack,
    Var,
    Yield,
    i64,
)
from anadrome.prims.node import replace


@dataclass(frozen=True, slots=True, eq=False)
class Progression:
    """An index that is affine in the iteration, or the same in each: factor·i + offset."""

    factor: int
    offset: Atom

    def at(self, builder: Builder, index: Atom) -> Atom:
        """Its value in an iteration."""
        return builder.add(builder.mul(index, i64(self.factor)), self.offset)


@dataclass(frozen=True, slots=True, eq=False)
class Lone:
    """A yield whose operands are given by a source each; `item` says the rest of it."""

    item: Yield
    extent: Size
    sources: tuple[Var | Progression, ...]

    @property
    def arrays(self) -> list[Var]:
        """The sources that are arrays: of a reduction or scan all of them."""
        return [source for source in self.sources if isinstance(source, Var)]

    @property
    def values(self) -> Var:
        """The array of a histogram's or scatter's values."""
        source = self.sources[-1]
        assert isinstance(source, Var)
        return source

    def read(self, builder: Builder, index: Atom) -> list[Atom]:
        """The operands of an iteration."""
        return [
            builder.index(source, (index,)) if isinstance(source, Var) else source.at(builder, index)
            for source in self.sources
        ]

    def places(self, builder: Builder, index: Atom) -> tuple[Atom, ...]:
        """The indices of an iteration of a histogram or scatter."""
        return tuple(replace(self, sources=self.sources[:-1]).read(builder, index))

    def emit(self, builder: Builder) -> tuple[Var, ...]:
        """The yield, alone in its parfor."""
        return builder.parfor(
            self.extent, lambda inner, index: [Part(self.item, tuple(self.read(inner, index)))]
        )


@dataclass(frozen=True, slots=True, eq=False)
class Pending:
    """A yield that will stand alone; sources that are None are operands still to be stacked."""

    part: Part
    extent: Size
    sources: tuple[Var | Progression | None, ...]

    @property
    def stacks(self) -> list[Part]:
        """What the parfor yields in its place."""
        operands = zip(self.part.takes, self.sources, strict=True)
        return [Stack.of(operand) for operand, source in operands if source is None]

    def filled(self, arrays: Sequence[Var]) -> Lone:
        """The yield, with the arrays that its operands were stacked into."""
        stacked = iter(arrays)
        sources = tuple(next(stacked) if source is None else source for source in self.sources)
        return Lone(self.part.item, self.extent, sources)


def standing_alone(builder: Builder, inner: Builder, part: Part, index: Var, extent: Size) -> Pending:
    """A yield of the parfor over `index` whose body is being built in `inner`."""
    places = part.item.rank if isinstance(part.item, Accumulate | Scatter) else 0
    sources: list[Var | Progression | None] = []
    for position, operand in enumerate(part.takes):
        source: Var | Progression | None = _array(inner, operand, index, extent)
        if source is None and position < places:
            source = _progression(builder, inner, operand, index)
        sources.append(source)
    return Pending(part, extent, tuple(sources))


def _array(inner: Builder, operand: Atom, index: Var, extent: Size) -> Var | None:
    """The array around the parfor of which the operand is the row of each iteration."""
    let = next((let for let in inner.lets if operand in let.targets), None)
    if let is None or not isinstance(let.expr, Index) or let.expr.indices != (index,):
        return None
    array = let.expr.array
    return array if array.type.shape[0] == extent and not inner.owns(array) else None


def _progression(builder: Builder, inner: Builder, operand: Atom, index: Var) -> Progression | None:
    form: Affine = inner.affine(operand)
    if any(inner.owns(var) for var, _ in form.terms if var is not index):
        return None
    return Progression(form.coefficient(index), builder.emit_affine(form.without(index)))


# ---------------------------------------------------------------------------- forms
def combined_rows(builder: Builder, found: Lone) -> tuple[Var, ...]:
    """A reduction or scan without a rule: read where it was won, by columns, or as a sequential loop."""
    item, arrays, extent = found.item, found.arrays, found.extent
    assert isinstance(item, Reduce | Scan)
    operator = item.operator
    if operator == "mul":
        return (by_columns(builder, arrays, (1,), lambda b, parts: _again(b, found, parts)),)
    if isinstance(operator, str):
        if isinstance(item, Reduce):
            return (reduced_extremum(builder, operator, arrays[0], extent),)
        return (scanned_extremum(builder, operator, arrays[0], extent, item.exclusive),)
    if isinstance(item, Reduce):
        return sequential_reduce(builder, operator, extent, arrays)
    return sequential_scan(builder, operator, extent, arrays, item.exclusive)


def _again(builder: Builder, found: Lone, parts: Sequence[Var]) -> Atom:
    """The scalar form of a reduction or scan, on one column."""
    (result,) = replace(found, sources=tuple(parts)).emit(builder)
    return result


def combined_bins(builder: Builder, found: Lone, is_in_loop: bool, has_rule: bool) -> Var:
    """A histogram other than a sum; in a sequential loop one write after the other, and so by a lambda that
    has no rule.

    There the bins are often carried along, many more than an iteration touches; a pass over all of them in
    each would cost more than the program does, and single writes can be undone (`states`).
    """
    item = found.item
    assert isinstance(item, Accumulate)
    if has_rule and not is_in_loop:
        return _bins(builder, found)
    places = [
        source if isinstance(source, Var) else builder.stack(found.extent, source.at)
        for source in found.sources[:-1]
    ]
    stacked = [*places, found.values]
    return sequential_accumulate(builder, item.operator, item.init, found.extent, stacked, item.bounds)


def _bins(builder: Builder, found: Lone) -> Var:
    item, values = found.item, found.values
    assert isinstance(item, Accumulate)
    match item.operator:
        case ("min" | "max") as operator:
            return accumulated_extremum(
                builder, operator, item.init, found.places, values, found.extent, item.bounds
            )
        case _ if len(values.type.shape) == 1:
            (result,) = found.emit(builder)
            return result
        case _:
            leading = (item.rank, 1)
            return by_columns(
                builder, (item.init, values), leading, lambda b, parts: _column(b, found, parts)
            )


def _column(builder: Builder, found: Lone, parts: Sequence[Var]) -> Atom:
    item = found.item
    assert isinstance(item, Accumulate)
    init, values = parts
    own = replace(item, init=init)
    (result,) = Lone(own, found.extent, (*found.sources[:-1], values)).emit(builder)
    return result
