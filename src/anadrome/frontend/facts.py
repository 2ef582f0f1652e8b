"""What conditions are known to be where a statement stands: those that lead there, and what follows.

On the way of `if a and b: …` both a and b hold; so a name that is bound where b is evaluated is bound, and a
value that is None where a does not hold is there. A condition that a branch chooses is remembered with the
two that it is chosen from.
"""

from __future__ import annotations

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import FALSE, TRUE, Apply, Atom, Const
from anadrome.frontend.values import Scope

Choice = tuple[Atom, Atom, Atom]
"""A condition, what is chosen where it holds, and what is chosen where it does not."""

DEPTH = 12
"""What follows from a condition is looked for this deep."""


class Facts:
    """What is known of the conditions of a program. Values do not change: a fact holds in its whole scope."""

    def __init__(self) -> None:
        self._choices: dict[Atom, Choice] = {}

    def chosen(self, result: Atom, choice: Choice) -> None:
        """A bool that a branch chooses."""
        self._choices[result] = choice

    def assume(self, scope: Scope, atom: Atom, holds: bool, depth: int = 0) -> None:
        """In this scope a condition is known, and with it what follows from it."""
        if isinstance(atom, Const) or depth > DEPTH:
            return
        scope.facts[atom] = holds
        for part, value in self._implied(scope.builder, atom, holds):
            self.assume(scope, part, value, depth + 1)

    def knows(self, scope: Scope, atom: Atom, depth: int = 0) -> bool | None:
        """Whether a condition holds here, where that is known."""
        if isinstance(atom, Const):
            return bool(atom.value)
        around: Scope | None = scope
        while around is not None:
            if atom in around.facts:
                return around.facts[atom]
            around = around.parent
        return None if depth > DEPTH else self._known(scope, atom, depth + 1)

    def _known(self, scope: Scope, atom: Atom, depth: int) -> bool | None:
        found, operation = self._choice(scope.builder, atom), scope.builder.definition(atom)
        if found is not None:
            test = self.knows(scope, found[0], depth)
            sides = [self.knows(scope, side, depth) for side in found[1:]]
            return (sides[0] if sides[0] is sides[1] else None) if test is None else sides[not test]
        name, args = _operation(operation)
        parts = [self.knows(scope, part, depth) for part in args]
        match name:
            case "not":
                return None if parts[0] is None else not parts[0]
            case "and" | "or":
                decides = name == "or"
                return decides if decides in parts else None if None in parts else not decides
            case _:
                return None

    def _implied(self, builder: Builder, atom: Atom, holds: bool) -> list[tuple[Atom, bool]]:
        """What follows at once from a condition."""
        choice, (name, args) = self._choice(builder, atom), _operation(builder.definition(atom))
        if choice is not None:
            test, then, other = choice
            impossible = FALSE if holds else TRUE
            if other == impossible or (other is test and holds):
                return [(test, True), (then, holds)]
            if then == impossible or (then is test and not holds):
                return [(test, False), (other, holds)]
            return []
        if name == "not":
            return [(args[0], not holds)]
        return [(part, holds) for part in args] if name == ("and" if holds else "or") else []

    def _choice(self, builder: Builder, atom: Atom) -> Choice | None:
        found = builder.definition(atom)
        if found is not None and found.prim.name == "select":
            test, then, other = found.args
            return test, then, other
        return self._choices.get(atom)


def _operation(found: Apply | None) -> tuple[str, tuple[Atom, ...]]:
    is_logic = found is not None and found.prim.name in ("not", "and", "or")
    return (found.prim.name, found.args) if found is not None and is_logic else ("", ())
