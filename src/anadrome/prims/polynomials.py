"""Whole numbers as polynomials Σ coefficient · product of variables: sizes, places in memory, bounds, amounts
of work. The one arithmetic of these that passes, schedules and reports share.

A variable is anything that can be hashed: a variable of either language, or an operation that is no sum or
product and what it is of.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeAlias

Monomial: TypeAlias = tuple[Any, ...]
"""The variables of a product in one order, each as often as its power says."""

ONE: Monomial = ()


class Polynomial:
    """Σ coefficient · product; no coefficient is zero.

    Variables may be operations on polynomials, which stand in others many times: so the hash is kept.
    """

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms = terms
        self._hash: int | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def __repr__(self) -> str:
        return f"Polynomial({dict(self.terms)})"

    def plus(self, other: Polynomial | int, factor: int = 1) -> Polynomial:
        """self + factor · other"""
        total = dict(self.terms)
        added = {ONE: other} if isinstance(other, int) else other.terms
        for monomial, coefficient in added.items():
            value = total.get(monomial, 0) + factor * coefficient
            if value:
                total[monomial] = value
            else:
                total.pop(monomial, None)
        return Polynomial(total)

    def times(self, other: Polynomial | int) -> Polynomial:
        """self · other"""
        if isinstance(other, int):
            if other == 1:
                return self
            return Polynomial({monomial: other * c for monomial, c in self.terms.items()} if other else {})
        total: dict[Monomial, int] = {}
        for left, first in self.terms.items():
            for right, second in other.terms.items():
                both = _product(left, right)
                total[both] = total.get(both, 0) + first * second
        return Polynomial({monomial: c for monomial, c in total.items() if c})

    @property
    def added(self) -> int:
        """The term without a variable."""
        return self.terms.get(ONE, 0)

    @property
    def constant(self) -> int | None:
        """The number that this is, if it is one."""
        return self.added if not self.terms or (len(self.terms) == 1 and ONE in self.terms) else None

    @property
    def varying(self) -> Polynomial:
        """The terms with variables."""
        return Polynomial({monomial: c for monomial, c in self.terms.items() if monomial != ONE})

    @property
    def degree(self) -> int:
        """The most factors of a product."""
        return max(map(len, self.terms), default=0)

    def variables(self) -> Iterator[Any]:
        """The variables, each as often as it occurs."""
        for monomial in self.terms:
            yield from monomial

    def has(self, variables: Collection[Any]) -> bool:
        """Whether any of the variables occurs."""
        return any(var in variables for monomial in self.terms for var in monomial)

    def factor(self, var: Any) -> Polynomial | None:
        """What a variable is multiplied by; None where it occurs in another way."""
        found: dict[Monomial, int] = {}
        for monomial, coefficient in self.terms.items():
            if var in monomial:
                rest = divided(monomial, var)
                if var in rest:
                    return None
                found[rest] = coefficient
        return Polynomial(found)

    def without(self, var: Any) -> Polynomial:
        """The terms in which a variable does not occur."""
        return Polynomial({monomial: c for monomial, c in self.terms.items() if var not in monomial})

    def at(self, var: Any, value: Polynomial) -> Polynomial:
        """Another polynomial in the place of a variable."""
        total = self.without(var)
        for monomial, coefficient in self.terms.items():
            if var in monomial:
                term = Polynomial({tuple(other for other in monomial if other != var): coefficient})
                for _ in range(monomial.count(var)):
                    term = term.times(value)
                total = total.plus(term)
        return total


def number(value: int) -> Polynomial:
    """A constant."""
    return Polynomial({ONE: value} if value else {})


def variable(var: Any) -> Polynomial:
    """A variable."""
    return Polynomial({(var,): 1})


def divided(monomial: Monomial, var: Any) -> Monomial:
    """A product with a variable taken out once."""
    position = monomial.index(var)
    return monomial[:position] + monomial[position + 1 :]


def _product(left: Monomial, right: Monomial) -> Monomial:
    return tuple(sorted(left + right, key=_order)) if left and right else left or right


def _order(var: Any) -> tuple[str, int]:
    return getattr(var, "name", ""), hash(var)
