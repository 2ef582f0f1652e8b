"""Which loops of a program are the same but for names and places in the source.

    for i in 0 .. n { y[i] = sin(x[i]) }    and    for j in 0 .. m { z[j] = sin(y[j]) }

are alike: n and m, x and y, y and z go together, and i and j. A program in the style of NumPy, or one that is
written out for each of its layers, has many of these.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from anadrome.dtypes import DType
from anadrome.kernel_ir.nodes import (
    Alloc,
    Binding,
    Buffer,
    Check,
    Const,
    For,
    If,
    Space,
    Stmt,
    Var,
    View,
)
from anadrome.kernel_ir.walk import statements
from anadrome.kernel_ir.work import Works
from anadrome.prims.record import Prim


@dataclass(slots=True)
class Likeness:
    """What statements are, with names numbered in the order in which they appear.

    `checks`: the checks among them, each once, in that order; what fails is told apart only by its number.
    """

    parts: list[Hashable] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    _numbers: dict[Any, int] = field(default_factory=dict)

    @staticmethod
    def of(*what: Any) -> Likeness:
        """What is compared of statements, expressions and names in a row."""
        likeness = Likeness()
        likeness._add(what)
        return likeness

    @property
    def key(self) -> tuple[Hashable, ...]:
        """Equal for what is alike."""
        return tuple(self.parts)

    def _add(self, part: Any) -> None:
        put = self.parts.append
        match part:
            case tuple():
                put(len(part))
                for item in part:
                    self._add(item)
            case Var(dtype=dtype):
                put((self._number(part), dtype.name))
            case Buffer(dtype=dtype, space=space):
                is_new = part not in self._numbers
                put((self._number(part), dtype.name, space))
                if is_new:
                    self._add(part.strides or part.shape[1:])
            case Const(value=value, dtype=dtype):
                put((repr(value), dtype.name))  # -0.0 equals 0.0, and a NaN nothing
            case Check(condition=condition, values=values):
                if part not in self._numbers:
                    self.checks.append(part)
                put((Check, self._number(part)))
                self._add((condition, values))
            case Prim():
                put(id(part))  # nothing else says what a function of a user is
            case DType(name=name):
                put(name)
            case str() | int() | None | Binding() | Space():
                put(part)
            case _:
                put(type(part).__name__)
                if isinstance(part, Alloc | View):  # whose first dimension says nothing of an element
                    self._add(part.buffer.shape)
                for name in part.__match_args__:
                    if name != "span":
                        self._add(getattr(part, name))

    def _number(self, named: Any) -> int:
        return self._numbers.setdefault(named, len(self._numbers))


def repeated(body: Iterable[Stmt], works: Works) -> dict[For, Likeness]:
    """The outermost loops of a program that are like another one of them, save in the bounds of loops over
    workers, which do not belong to what a worker does. Only loops of as much work are compared."""
    by_work: dict[Hashable, list[For]] = {}
    for loop in _outermost(body):
        by_work.setdefault((loop.binding, len(loop.body), works.of(loop.body)), []).append(loop)
    by_key: dict[Hashable, list[tuple[For, Likeness]]] = {}
    for loops in by_work.values():
        for loop in loops if len(loops) > 1 else ():
            likeness = likeness_of(loop)
            by_key.setdefault(likeness.key, []).append((loop, likeness))
    return dict(pair for pairs in by_key.values() if len(pairs) > 1 for pair in pairs)


_LONG, _LARGE = 600, 20
"""Statements of a long program, and of loops that are functions of their own in it: to give numbers
registers, LLVM takes more than twice as long for twice as much in one function."""


def apart(body: Iterable[Stmt], works: Works) -> dict[For, Likeness | None]:
    """The outermost loops that are functions of their own: those that are like another one, with their
    likeness, and of a long program the large ones."""
    sizes = {loop: sum(1 for _ in statements((loop,))) for loop in _outermost(body)}
    large = [loop for loop, size in sizes.items() if size >= _LARGE]
    long = large if len(large) > 1 and sum(sizes.values()) >= _LONG else ()
    return {**dict.fromkeys(long), **repeated(body, works)}


def likeness_of(loop: For) -> Likeness:
    """What is compared of a loop, or of the body alone where workers run it."""
    if loop.binding is Binding.THREADS:
        return Likeness.of(loop.index, loop.body)
    return Likeness.of(loop)


def _outermost(body: Iterable[Stmt]) -> Iterator[For]:
    for stmt in body:
        match stmt:
            case For():
                yield stmt
            case If(then=then, other=other):
                yield from _outermost((*then, *other))
            case _:
                pass
