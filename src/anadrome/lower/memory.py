"""Who still reads what: the analysis that lets arrays be overwritten in place.

The program is lowered in the order it runs, so liveness is a question asked at one point: the stack of open
bodies (`Frame`), each with the position of the statement being lowered. A variable is live there if

* an open body, from the one that binds the variable inwards, reads it at a later statement, or
* an open body inside the one that binds it may run again (a loop, a parfor) and reads it anywhere.

An array may be overwritten (`is_consumable`) if the call owns its storage, nothing that runs from now on
reads it or anything else in its tree of storages, and the statement that overwrites it reads it in no other
way: neither as another operand nor inside its bodies (save what `array_ir.own_reads` allows).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from anadrome.array_ir import nodes as array_ir
from anadrome.array_ir.overwriting import written
from anadrome.array_ir.own_reads import Knowledge
from anadrome.array_ir.walk import bodies, operands
from anadrome.lower.values import Storage


@dataclass(frozen=True, slots=True, eq=False)
class BodyFacts:
    """Of one body: at which statements each variable is read, in order (the results count as the statement
    after the last), and which statement defines a variable."""

    lets: tuple[array_ir.Let, ...]
    uses: dict[array_ir.Var, list[int]]
    definitions: dict[array_ir.Var, array_ir.Let]


class Facts:
    """The facts of every body of a function, found once each."""

    def __init__(self) -> None:
        self._facts: dict[array_ir.Body, BodyFacts] = {}
        self._nested: dict[array_ir.Let, frozenset[array_ir.Var]] = {}

    def body(self, body: array_ir.Body) -> BodyFacts:
        """The facts of a body."""
        found = self._facts.get(body)
        if found is None:
            found = self._facts[body] = self._find(body)
        return found

    def nested(self, let: array_ir.Let) -> frozenset[array_ir.Var]:
        """The variables that the bodies inside a statement read of what is bound around it."""
        found = self._nested.get(let)
        if found is None:
            inner: set[array_ir.Var] = set()
            for binders, body in bodies(let.expr):
                facts = self.body(body)
                inner.update(facts.uses.keys() - facts.definitions.keys() - set(binders))
            found = self._nested[let] = frozenset(inner)
        return found

    def _find(self, body: array_ir.Body) -> BodyFacts:
        uses: dict[array_ir.Var, list[int]] = {}
        definitions: dict[array_ir.Var, array_ir.Let] = {}
        for position, let in enumerate(body.lets):
            read = {atom for atom in operands(let.expr) if isinstance(atom, array_ir.Var)}
            for var in read | self.nested(let):
                uses.setdefault(var, []).append(position)
            definitions.update(dict.fromkeys(let.targets, let))
        for atom in body.results:
            if isinstance(atom, array_ir.Var):
                uses.setdefault(atom, []).append(len(body.lets))
        return BodyFacts(body.lets, uses, definitions)


@dataclass(slots=True, eq=False)
class Frame:
    """An open body and the statement of it that is being lowered."""

    facts: BodyFacts
    is_repeating: bool
    position: int = 0


@dataclass(slots=True, eq=False)
class Liveness:
    """The stack of open bodies and the questions asked of it."""

    knowledge: Knowledge
    facts: Facts = field(default_factory=Facts)
    frames: list[Frame] = field(default_factory=list)
    _levels: dict[array_ir.Var, int] = field(default_factory=dict)

    @contextmanager
    def enter(self, body: array_ir.Body, *, is_repeating: bool) -> Iterator[Frame]:
        """A body opened inside the present ones."""
        self.frames.append(Frame(self.facts.body(body), is_repeating))
        try:
            yield self.frames[-1]
        finally:
            self.frames.pop()

    def bind(self, var: array_ir.Var) -> None:
        """A variable bound in the innermost open body."""
        self._levels[var] = len(self.frames) - 1

    def is_live(self, var: array_ir.Var, *, here: bool = False) -> bool:
        """Whether a variable is read after the present statement; `here`: or by it."""
        level = self._levels.get(var, 0)
        innermost = len(self.frames) - 1
        for depth in range(level, innermost + 1):
            frame = self.frames[depth]
            used = frame.facts.uses.get(var)
            if not used:
                continue
            if used[-1] > frame.position or (depth > level and frame.is_repeating):
                return True
            if here and depth == innermost and used[-1] == frame.position:
                return True
        return False

    def is_over(self, var: array_ir.Var) -> bool:
        """Whether neither the present statement, with its bodies, nor a later one reads a variable."""
        level = self._levels.get(var, 0)
        for depth in range(level, len(self.frames)):
            frame = self.frames[depth]
            used = frame.facts.uses.get(var)
            if used and (used[-1] >= frame.position or (depth > level and frame.is_repeating)):
                return False
        return True

    def is_free(
        self,
        storage: Storage,
        consumed: tuple[array_ir.Var, ...] = (),
        ignored: array_ir.Var | None = None,
    ) -> bool:
        """Whether nobody reads a region from the present statement on; the variables that the statement
        takes over, from the next one on; the ignored one may."""
        return not any(
            self.is_live(name, here=name not in consumed) for name in storage.names() if name is not ignored
        )

    def is_consumable(self, var: array_ir.Var, storage: Storage, let: array_ir.Let) -> bool:
        """Whether a statement that has an array as an operand may overwrite its storage."""
        return (
            storage.is_owned
            and self.is_sole_operand(var, let)
            and not self.is_live(var)
            and self.is_free(storage, (var,))
        )

    def is_in_the_way(self, row: array_ir.Var, array: array_ir.Var) -> bool:
        """Whether a row about to be read is needed by the statement that makes another version of its array
        and reads the array last, or behind it. Left where it lies, it would have that statement copy all of
        the array."""
        facts = self.frames[-1].facts
        last = facts.uses[array][-1]
        if last == len(facts.lets) or last > facts.uses.get(row, (0,))[-1]:
            return False
        let = facts.lets[last]
        return array in written(let.expr) and self.is_sole_operand(array, let)

    def is_sole_operand(self, var: array_ir.Var, let: array_ir.Let) -> bool:
        """Whether a statement reads a variable as one operand, and nowhere else where it would see its own
        writes."""
        if operands(let.expr).count(var) != 1:
            return False
        if var not in self.facts.nested(let):
            return True
        return isinstance(let.expr, array_ir.ParFor) and self.knowledge.is_in_place(let.expr, var)
