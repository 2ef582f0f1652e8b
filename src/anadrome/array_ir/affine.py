"""Integer expressions as affine forms c + Σ aᵢ·xᵢ: when two sizes are one, how an index depends on a loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from anadrome.array_ir.nodes import Apply, Atom, Const, Expr, Var


@dataclass(frozen=True, slots=True)
class Affine:
    """constant + Σ coefficient·variable; no coefficient is zero, terms are ordered by their variables."""

    terms: tuple[tuple[Var, int], ...]
    constant: int

    def coefficient(self, var: Var) -> int:
        """The factor of a variable, 0 where it does not occur."""
        return dict(self.terms).get(var, 0)

    def without(self, var: Var) -> Affine:
        """The form with the term of `var` left out."""
        return Affine(tuple(term for term in self.terms if term[0] is not var), self.constant)

    @property
    def atom(self) -> Var | int | None:
        """The variable or number this form is, if it is one."""
        if not self.terms:
            return self.constant
        if self.constant == 0 and len(self.terms) == 1 and self.terms[0][1] == 1:
            return self.terms[0][0]
        return None


def _combine(left: Affine, right: Affine, factor: int) -> Affine:
    coefficients = dict(left.terms)
    for var, coefficient in right.terms:
        coefficients[var] = coefficients.get(var, 0) + factor * coefficient
    terms = tuple(sorted(((v, c) for v, c in coefficients.items() if c), key=lambda term: id(term[0])))
    return Affine(terms, left.constant + factor * right.constant)


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
        return _combine(left, right, 1 if name == "add" else -1)
    if name == "neg":
        return _combine(Affine((), 0), affine(definition.args[0], definitions), -1)
    if name == "mul":
        left, right = (affine(arg, definitions) for arg in definition.args)
        if not left.terms:
            return _combine(Affine((), 0), right, left.constant)
        if not right.terms:
            return _combine(Affine((), 0), left, right.constant)
    return None
