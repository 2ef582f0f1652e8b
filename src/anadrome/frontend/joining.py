"""Two ways of a run-time branch while they are made one: the slots so far, and the containers merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from anadrome.array_ir.nodes import Atom, Var
from anadrome.errors.frontend import UnsupportedType
from anadrome.frontend.arrays import describe
from anadrome.frontend.context import Context
from anadrome.frontend.heap import Stateful
from anadrome.frontend.structures import children
from anadrome.frontend.values import Array, RunText, Scalar, TextChoice, TextField, Value
from anadrome.frontend.ways import Slot, Way

Join = Callable[[Iterator[Value]], Value]


@dataclass(slots=True, eq=False)
class Joining:
    """What two ways are being made one: the slots of the branch so far, and the containers merged of two."""

    context: Context
    condition: Atom
    first: Way
    second: Way
    slots: list[Slot] = field(default_factory=list)
    pairs: list[tuple[Value, Value, Value]] = field(default_factory=list)
    around: list[tuple[Value, Value]] = field(default_factory=list)
    may_differ: bool = False
    """Whether what is joined may have two lengths."""

    @contextmanager
    def of_any_lengths(self) -> Iterator[None]:
        """Join lists, which may have two lengths."""
        before, self.may_differ = self.may_differ, True
        try:
            yield
        finally:
            self.may_differ = before

    @contextmanager
    def entered(self, one: Value, two: Value) -> Iterator[None]:
        """Go into two containers; refuses those that hold themselves."""
        if any(mine is one and theirs is two for mine, theirs in self.around):
            raise UnsupportedType(
                "what a run-time `if` chooses", "an object that holds itself", self.context.span
            )
        self.around.append((one, two))
        try:
            yield
        finally:
            self.around.pop()

    def refuse_iterators(self, pair: tuple[Value, Value]) -> None:
        """Refuse to choose between iterators, which read what they go over when they are asked."""
        for value in pair:
            if isinstance(value, Stateful) and not value.is_rebuilt:
                help = "make a list of it on each way: `list(…)`"
                raise UnsupportedType(
                    "what a run-time `if` chooses", describe(value), self.context.span, help
                )

    def settle(self) -> None:
        """Say what the merged containers are: new ones where each way made its own, which nothing else is."""
        seen = Counter(
            id(part) for one, two, _ in self.pairs for part in {id(one): one, id(two): two}.values()
        )
        for one, two, merged in self.pairs:
            if (
                self._is_made_inside(one)
                and self._is_made_inside(two)
                and seen[id(one)] == seen[id(two)] == 1
            ):
                self.context.made(merged)
            else:
                self.context.merged(merged, (one, two))

    @property
    def is_expression(self) -> bool:
        """Whether the ways are parts of an expression, of which one gives its value."""
        return self.first.is_over and self.second.is_over

    def is_over_alone(self, is_first: bool) -> bool:
        """Whether nothing comes after one of the ways, and something after the other."""
        own, other = (self.first, self.second) if is_first else (self.second, self.first)
        return own.is_over and not other.is_over

    def is_bound_inside(self, value: Value) -> bool:
        """Whether a value, or a part of it, exists on one of the ways only."""
        match value:
            case Scalar(atom=Var() as var):
                return self.first.scope.builder.binds(var) or self.second.scope.builder.binds(var)
            case Array(cell=cell):
                return cell.home is self.first.scope or cell.home is self.second.scope
            case RunText(parts=parts):
                return any(map(self.is_bound_inside, parts))
            case TextField(value=inner, spec=spec):
                return self.is_bound_inside(inner) or self.is_bound_inside(spec)
            case TextChoice(selector=selector, options=options):
                return self.is_bound_inside(selector) or any(map(self.is_bound_inside, options))
            case _:
                if children(value) is None:
                    return self._is_made_inside(value)
                return any(self.is_bound_inside(part) for part in children(value) or ())

    def _is_made_inside(self, value: Value) -> bool:
        record = self.context.records.get(id(value))
        ways = (self.first.scope, self.second.scope)
        return record is not None and not record.is_merged and record.home in ways
