"""Parfors whose iterations read of an array only what no other iteration writes: they may work in place.

    b = parfor j < m { v = a[i, j]; w = a[k, j]; u = sub v w; yield scatter a[i, j] u }        (k ≠ i)

Iteration j reads its own place, before it writes there, and a row that nobody writes. A place is the
iteration's own if no two iterations write one place; it is written by nobody if some index surely differs.

An index that is checked and then clamped into the array, as derivatives have it, counts as the index it was:
where the two differ the check has failed, and no result is seen.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Iterator

from anadrome.array_ir.affine import Affine, affine, from_the_last
from anadrome.array_ir.nodes import (
    Apply,
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
    Scatter,
    Size,
    Stack,
    SumType,
    Var,
    WithSum,
)
from anadrome.array_ir.walk import all_lets, bodies, bound_in, free_variables, operands

Reads = dict[Var, list[tuple[Atom, ...] | None]]
"""array or accumulator -> the indices of each read of an element of it; None for any other use."""


class Knowledge:
    """What is known of the integers of a function: how they are computed, and which are not negative."""

    def __init__(self, fn: Function) -> None:
        self.definitions: dict[Var, Expr] = {}
        self.natural: set[Var] = set(fn.sizes)
        self.extents: dict[Var, Size] = {}
        self._depths: dict[Var, int] = {}
        self._reads: dict[ParFor, Reads] = {}
        self._outside: dict[ParFor, set[Atom]] = {}
        conditions: list[Atom] = []
        for let in all_lets(fn.body):
            match let.expr:
                case Apply():
                    self.definitions[let.targets[0]] = let.expr
                case (
                    ParFor(index=index, extent=extent)
                    | Loop(index=Var() as index, trip=Var() | Const() as extent)
                ):
                    self.natural.add(index)
                    self.extents[index] = extent
                    self._depths[index] = len(self._depths)
                case Check(condition=condition, error="index"):
                    conditions.append(condition)
                case _:
                    pass
        self.conditions = frozenset(conditions)
        self.checked = set(self._compared(conditions))

    def _compared(self, conditions: list[Atom]) -> Iterator[Atom]:
        """What conditions compare with bounds: `i < n`, `0 <= i and i < n`."""
        while conditions:
            condition = conditions.pop()
            expr = self.definitions.get(condition) if isinstance(condition, Var) else None
            if isinstance(expr, Apply) and expr.prim.name == "and":
                conditions.extend(expr.args)
            elif isinstance(expr, Apply) and expr.prim.name in ("lt", "ge"):
                yield expr.args[0]

    def place(self, index: Atom) -> Affine:
        """An index, before it was clamped if it was checked."""
        inner: Atom = index
        while isinstance(inner, Var) and inner not in self.checked:
            match self.definitions.get(inner):
                case Apply(prim=prim, args=(clamped, _)) if prim.name in ("min", "max"):
                    inner = clamped
                case Apply(prim=prim, args=(inside, clamped, _)) if (
                    prim.name == "select" and inside in self.conditions
                ):
                    inner = clamped
                case _:
                    return affine(index, self.definitions)
        return affine(inner, self.definitions)

    def is_in_place(self, expr: ParFor, array: Var) -> bool:
        """Whether a parfor may write to an array, by its one scatter into it, while its body reads it."""
        parts = [part for part in expr.parts if isinstance(part.item, Scatter) and part.item.init is array]
        if len(parts) != 1 or operands(expr).count(array) != 1:
            return False
        places = [self.place(index) for index in parts[0].at]
        inside = {expr.index, *bound_in(expr.body)}
        (_, body), *operators = bodies(expr)
        reads = self.reads(expr).get(array, [])
        is_yielded = array in body.results
        if is_yielded or None in reads or any(array in free_variables(found) for _, found in operators):
            return False
        taken = [[self.place(index) for index in read] for read in reads if read is not None]
        others = [read for read in taken if not self.is_elsewhere(read, places, inside)]
        if not others:
            return True
        # A row would be written while the iteration still reads of it.
        is_element = len(places) == len(array.type.shape)
        return (
            is_element and all(read == places for read in others) and are_distinct(expr.index, places, inside)
        )

    def reads(self, expr: ParFor) -> Reads:
        """What the body of a parfor reads of each array, found once for all of them."""
        found = self._reads.get(expr)
        if found is None:
            found = self._reads[expr] = {}
            _collect(expr.body, found)
        return found

    def _around(self, expr: ParFor) -> set[Atom]:
        """What a parfor reads beside what its iterations do: its operands, and what its operators read."""
        found = self._outside.get(expr)
        if found is None:
            _, *operators = bodies(expr)
            found = self._outside[expr] = {*operands(expr)}
            found.update(var for _, body in operators for var in free_variables(body))
        return found

    def reads_own(self, expr: ParFor, value: Atom, array: Var, *, backwards: bool = False) -> bool:
        """Whether a parfor that stacks a value, or keeps its prefixes, reads of an array only the element
        that lies where it puts one, so that it may put its elements where the array is; `backwards` the first
        iteration puts the last.

            y = parfor i < n { row = parfor j < m { v = x[i, j]; w = exp v; yield stack w }; yield stack row }
        """
        nest, indices, element = expr, [expr.index], value
        parfors = [expr]
        while element.type.shape:
            found = next((let for let in nest.body.lets if element in let.targets), None)
            if found is None or not isinstance(found.expr, ParFor):
                return False
            nest = found.expr
            part = nest.part_of(found.targets.index(element))
            if not isinstance(part.item, Stack):
                return False
            element = part.value
            indices.append(nest.index)
            parfors.append(nest)
        if any(array in self._around(one) for one in parfors):
            return False
        reads = self.reads(expr).get(array, ())
        if backwards:
            own = from_the_last(expr.index, expr.extent, self.definitions)
            return all(read is not None and list(map(self.place, read)) == [own] for read in reads)
        return all(
            read is not None and len(read) == len(indices) and all(map(operator.is_, read, indices))
            for read in reads
        )

    def is_at_least(self, one: Atom, other: Atom) -> bool:
        """Whether a number is surely not less than another."""
        distance = affine(one, self.definitions).plus(affine(other, self.definitions), -1)
        grows = all(coefficient > 0 and var in self.natural for var, coefficient in distance.terms)
        return grows and distance.constant >= 0

    def is_elsewhere(self, read: list[Affine], places: list[Affine], inside: Collection[Var]) -> bool:
        """Whether some index of a read is surely not that of any write, whichever iterations make the two."""
        return any(
            self._is_above(one, other, inside) or self._is_above(other, one, inside)
            for one, other in zip(read, places, strict=False)
        )

    def _is_above(self, high: Affine, low: Affine, inside: Collection[Var]) -> bool:
        """Whether the least value of one index is surely above the greatest one of another."""
        least, greatest = self._least(high, inside), self._least(low.times(-1), inside)
        distance = None if least is None or greatest is None else least.plus(greatest)
        while distance is not None and (falling := [var for var, factor in distance.terms if factor < 0]):
            distance = self._least(distance, [max(falling, key=self._depth)])
        return (
            distance is not None
            and distance.constant > 0
            and all(var in self.natural for var, _ in distance.terms)
        )

    def _least(self, form: Affine, inside: Collection[Var]) -> Affine | None:
        """What a form is at least, in variables other than these: 0 ≤ index ≤ extent - 1. Inner loops come
        first, since their extents may be what outer ones go through."""
        while found := [term for term in form.terms if term[0] in inside]:
            var, factor = max(found, key=lambda term: self._depth(term[0]))
            form = form.without(var)
            if factor < 0 and var in self.extents:
                form = form.plus(self._extent(var), factor).plus(Affine((), 1), -factor)
            elif factor < 0 or var not in self.natural:
                return None
        return form

    def _depth(self, var: Var) -> int:
        """A number that is larger for an inner loop than for those around it."""
        return self._depths.get(var, -1)

    def _extent(self, index: Var) -> Affine:
        """How often a loop runs that does run: max(n, 0) is n then."""
        extent = self.extents[index]
        match self.definitions.get(extent) if isinstance(extent, Var) else None:
            case Apply(prim=prim, args=(size, Const(value=0))) if prim.name == "max":
                return affine(size, self.definitions)
            case _:
                return affine(extent, self.definitions)


def closed_to_readers(let: Let, parfor: ParFor) -> set[Var]:
    """The arrays that a parfor writes at places that may be those of other iterations, or adds to."""
    made = {target: inner.expr for inner in parfor.body.lets for target in inner.targets}
    found = set(let.expr.init if isinstance(let.expr, WithSum) else ())
    for part in parfor.parts:
        places = [affine(atom, made) for atom in part.at]
        if isinstance(part.item, Scatter) and not are_distinct(parfor.index, places, made):
            found.add(part.item.init)
    return found


def cleared(parfor: ParFor) -> set[Var]:
    """The arrays that a parfor sets to a constant. What adds to other arrays beside it could not be asked for
    each element any more (`schedule.align`)."""
    return {
        part.item.init
        for part in parfor.parts
        if isinstance(part.item, Scatter) and isinstance(part.value, Const)
    }


def are_distinct(index: Var, places: list[Affine], inside: Collection[Var]) -> bool:
    """Whether no two iterations write one place: some index grows or falls with the iteration."""
    return any(
        place.coefficient(index) and all(var is index or var not in inside for var, _ in place.terms)
        for place in places
    )


def _collect(body: Body, found: Reads) -> None:
    """Add what a body reads of each array."""
    for let in body.lets:
        match let.expr:
            case Index(array=array, indices=indices):
                read = indices if len(indices) == len(array.type.shape) else None
                found.setdefault(array, []).append(read)
            case expr:
                _use(operands(expr), found)
                for _, inner in bodies(expr):
                    _collect(inner, found)
    _use(body.results, found)


def _use(atoms: Iterable[Atom], found: Reads) -> None:
    for atom in atoms:
        if isinstance(atom, Var) and (atom.type.shape or isinstance(atom.type, SumType)):
            found.setdefault(atom, []).append(None)
