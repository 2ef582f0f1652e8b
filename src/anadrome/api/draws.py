"""The random draws of a call: made by NumPy or Python itself, before the program runs, in its order."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from anadrome.array_ir.nodes import Apply, Atom, Const, Size, Var
from anadrome.errors import Span
from anadrome.errors.runtime import RaisedError
from anadrome.frontend.drawing import Draw, Held, Passed, Seeded, Source
from anadrome.frontend.values import Scope

Integer = Callable[[Sequence[Any]], int]
"""An integer of a call, from the leaves of its arguments."""

FILLS = frozenset({"random", "standard_normal", "standard_exponential"})
"""Methods of NumPy's generators that give the same numbers in one call as in many."""


@dataclass(frozen=True, slots=True, eq=False)
class One:
    """A draw as it is made: `arguments` and `named` may hold `_Known` integers."""

    place: int
    source: Source
    method: str
    arguments: tuple[object, ...]
    named: Mapping[str, object]
    span: Span | None
    is_fill: bool


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """Draws that are made again in each iteration."""

    trip: Integer
    items: tuple[One | Loop, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """An integer that is computed for each call."""

    integer: Integer


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """All draws of a program, in its order, and what each of its hidden parameters holds."""

    items: tuple[One | Loop, ...]
    shapes: tuple[tuple[Integer, ...], ...]
    dtypes: tuple[np.dtype[Any], ...]
    spans: tuple[Span | None, ...]

    def make(self, leaves: Sequence[Any], is_kept: bool = False) -> list[Any]:
        """The arrays and numbers of a call with these leaves. With `is_kept` generators stay as they are."""
        found = [
            _empty(tuple(max(size(leaves), 0) for size in shape), dtype, span)
            for shape, dtype, span in zip(self.shapes, self.dtypes, self.spans, strict=True)
        ]
        _Drawing(leaves, found, is_kept).run(self.items, ())
        return [array if array.shape else array[()] for array in found]


def _empty(shape: tuple[int, ...], dtype: np.dtype[Any], span: Span | None) -> np.ndarray:
    try:
        return np.empty(shape, dtype)
    except (MemoryError, ValueError) as error:
        raise _raised(error, span) from None


def _raised(error: Exception, span: Span | None) -> RaisedError:
    """What NumPy or Python raised, as the program raises it."""
    words = f"{type(error).__name__}: {error}".replace("{", "{{").replace("}", "}}")
    return RaisedError.of(words, [], span)


class _Drawing:
    """One run of the draws of a call; `sources` are the generators, made or copied when first drawn from."""

    def __init__(self, leaves: Sequence[Any], found: list[Any], is_kept: bool) -> None:
        self.leaves, self.found, self.is_kept = leaves, found, is_kept
        self.sources: dict[int, Any] = {}

    def run(self, items: Sequence[One | Loop], at: tuple[int, ...]) -> None:
        """Make these draws, at this iteration of the loops around them."""
        for item in items:
            if isinstance(item, One):
                self._one(item, at)
                continue
            trip = item.trip(self.leaves)
            first = item.items[0]
            if len(item.items) == 1 and isinstance(first, One) and first.is_fill and trip:
                self._block(first, at)
                continue
            for index in range(trip):
                self.run(item.items, (*at, index))

    def _one(self, item: One, at: tuple[int, ...]) -> None:
        drawn = self._call(item, {name: self._given(value) for name, value in item.named.items()})
        target = self.found[item.place]
        assert np.shape(drawn) == target.shape[len(at) :], "a draw has the shape that was staged"
        target[at] = drawn

    def _block(self, item: One, at: tuple[int, ...]) -> None:
        """All iterations of the innermost loop at once."""
        named = {name: self._given(value) for name, value in item.named.items()}
        target = self.found[item.place]
        target[at] = self._call(item, {**named, "size": target.shape[len(at) :]})

    def _call(self, item: One, named: Mapping[str, object]) -> Any:
        """What the method gives; what it raises is raised where the program calls it."""
        try:
            method = getattr(self._generator(item.source), item.method)
            return method(*[self._given(value) for value in item.arguments], **named)
        except Exception as error:
            raise _raised(error, item.span) from None

    def _given(self, value: object) -> object:
        if isinstance(value, _Known):
            return value.integer(self.leaves)
        if isinstance(value, tuple):
            return tuple(self._given(part) for part in value)
        return value

    def _generator(self, source: Source) -> Any:
        """The generator of a source; where they are to stay as they are, one copy of each."""
        key = id(source)
        match source:
            case Seeded(make=make, arguments=arguments):
                if key not in self.sources:
                    self.sources[key] = make(*[self._given(one) for one in arguments])
                return self.sources[key]
            case Passed(leaf=leaf):
                found = self.leaves[leaf]
            case Held(generator=found):
                pass
        if not self.is_kept:
            return found
        return self.sources.setdefault(id(found), copy.deepcopy(found))


def draws_of(
    draws: Sequence[Draw], integers: Mapping[Var, Integer], definitions: Mapping[Var, Apply]
) -> Draws:
    """How the draws of a program are made, given the integers that come with a call."""

    def integer(atom: Atom) -> Integer:
        if isinstance(atom, Const):
            value = int(atom.value)
            return lambda leaves: value
        if atom in integers:
            return integers[atom]
        found = definitions[atom]
        parts = [integer(one) for one in found.args]
        operation = found.prim.numpy
        return lambda leaves: int(operation(*[np.int64(part(leaves)) for part in parts]))

    def given(value: object) -> object:
        if isinstance(value, Var):
            return _Known(integer(value))
        if isinstance(value, tuple):
            return tuple(given(part) for part in value)
        return value

    seeded: dict[int, Seeded] = {}

    def one(place: int, draw: Draw) -> One:
        source = draw.source
        if isinstance(source, Seeded):
            known = Seeded(source.make, tuple(given(part) for part in source.arguments))
            source = seeded.setdefault(id(draw.source), known)
        arguments = tuple(given(part) for part in draw.arguments)
        named = {name: given(part) for name, part in draw.named.items()}
        return One(
            place, source, draw.method, arguments, named, draw.span, draw.is_numpy and draw.method in FILLS
        )

    def level(numbered: Sequence[tuple[int, Draw]], depth: int) -> tuple[One | Loop, ...]:
        """Draws that follow one another in the same loop are made in it together."""
        found: list[One | Loop] = []

        def loop_of(pair: tuple[int, Draw]) -> Scope | int:
            place, draw = pair
            return draw.loops[depth][0] if len(draw.loops) > depth else place

        for key, group in groupby(numbered, loop_of):
            inner = list(group)
            if isinstance(key, int):
                found.append(one(*inner[0]))
            else:
                found.append(Loop(integer(inner[0][1].loops[depth][1]), level(inner, depth + 1)))
        return tuple(found)

    def shape(draw: Draw) -> tuple[Size, ...]:
        return (*(trip for _, trip in draw.loops), *draw.shape)

    return Draws(
        level(list(enumerate(draws)), 0),
        tuple(tuple(integer(size) for size in shape(draw)) for draw in draws),
        tuple(draw.var.type.dtype.numpy for draw in draws),
        tuple(draw.span for draw in draws),
    )
