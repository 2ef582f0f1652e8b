"""Integer expressions as affine forms c + Σ aᵢ·xᵢ: when two sizes are one, how an index depends on a loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from anadrome.array_ir.nodes import Apply, Atom, Const, Expr, Var


@dataclass(frozen=True, slots=True, eq=False)
class Affine:
    """constant + Σ coefficient·variable; no coefficient is zero.

    Terms stand in the order in which they were met, so that what is computed from them is the same in every
    process; two forms are equal whatever that order is.
    """

    terms: tuple[tuple[Var, int], ...]
    constant: int

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Affine):
            return NotImplemented
        return self.constant == other.constant and self.slope == other.slope

    def __hash__(self) -> int:
        return hash((self.slope, self.constant))

    @property
    def slope(self) -> frozenset[tuple[Var, int]]:
        """The form but for its constant, to compare with that of another."""
        return frozenset(self.terms)

    def coefficient(self, var: Var) -> int:
        """The factor of a variable, 0 where it does not occur."""
        return dict(self.terms).get(var, 0)

    def without(self, var: Var) -> Affine:
        """The form with the term of `var` left out."""
        return Affine(tuple(term for term in self.terms if term[0] is not var), self.constant)

    def plus(self, other: Affine, factor: int = 1) -> Affine:
        """self + factor·other"""
        coefficients = dict(self.terms)
        for var, coefficient in other.terms:
            coefficients[var] = coefficients.get(var, 0) + factor * coefficient
        terms = tuple((var, coefficient) for var, coefficient in coefficients.items() if coefficient)
        return Affine(terms, self.constant + factor * other.constant)

    def times(self, factor: int) -> Affine:
        """factor·self"""
        return Affine((), 0).plus(self, factor)

    @property
    def atom(self) -> Var | int | None:
        """The variable or number this form is, if it is one."""
        if not self.terms:
            return self.constant
        if self.constant == 0 and len(self.terms) == 1 and self.terms[0][1] == 1:
            return self.terms[0][0]
        return None


def affine(atom: Atom, definitions: Mapping[Var, Expr]) -> Affine:
    """The affine form of an integer atom, looking through the definitions that are known.

    An operation that is not affine (a product of variables, a division) is a variable of its own.
    """
    if isinstance(atom, Const):
        return Affine((), int(atom.value))
    definition = definitions.get(atom)
    form = affine_apply(definition, definitions) if isinstance(definition, Apply) else None
    return form if form is not None else Affine(((atom, 1),), 0)


def affine_apply(definition: Apply, definitions: Mapping[Var, Expr]) -> Affine | None:
    """The affine form of an integer operation, or None where it has none."""
    name = definition.prim.name
    if name in ("add", "sub"):
        left, right = (affine(arg, definitions) for arg in definition.args)
        return left.plus(right, 1 if name == "add" else -1)
    if name == "neg":
        return affine(definition.args[0], definitions).times(-1)
    if name == "mul":
        left, right = (affine(arg, definitions) for arg in definition.args)
        if not left.terms:
            return right.times(left.constant)
        if not right.terms:
            return left.times(right.constant)
    return None


def goes_over(place: Atom, index: Var, trip: Atom, extent: Atom, definitions: Mapping[Var, Expr]) -> bool:
    """Whether the places that a loop's iterations name are those of all rows of an array, from the first on
    or from the last."""
    own, count, rows = affine(index, {}), affine(trip, definitions), affine(place, definitions)
    return count == affine(extent, definitions) and rows in (own, from_the_last(index, trip, definitions))


def from_the_last(index: Var, trip: Atom, definitions: Mapping[Var, Expr]) -> Affine:
    """The row of an iteration where the first one has the last row: trip - 1 - index."""
    count = affine(trip, definitions)
    return Affine(count.terms, count.constant - 1).plus(affine(index, {}), -1)
