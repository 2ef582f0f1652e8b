"""Scalars of a body under construction with Python's operators, for formulas of many operations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """A scalar, and the builder that appends what is done with it. Numbers beside it take its type."""

    builder: Builder
    atom: Atom

    def constant(self, value: float) -> Term:
        """A number of the same type."""
        return Term(self.builder, self.builder.constant(value, self.atom))

    def _with(self, name: str, other: Term | float, is_turned: bool = False) -> Term:
        right = other if isinstance(other, Term) else self.constant(other)
        pair = (right.atom, self.atom) if is_turned else (self.atom, right.atom)
        return Term(self.builder, self.builder.apply(name, *pair))

    def __add__(self, other: Term | float) -> Term:
        return self._with("add", other)

    def __radd__(self, other: float) -> Term:
        return self._with("add", other, is_turned=True)

    def __sub__(self, other: Term | float) -> Term:
        return self._with("sub", other)

    def __rsub__(self, other: float) -> Term:
        return self._with("sub", other, is_turned=True)

    def __mul__(self, other: Term | float) -> Term:
        return self._with("mul", other)

    def __rmul__(self, other: float) -> Term:
        return self._with("mul", other, is_turned=True)

    def __truediv__(self, other: Term | float) -> Term:
        return self._with("div", other)

    def __rtruediv__(self, other: float) -> Term:
        return self._with("div", other, is_turned=True)

    def __pow__(self, other: Term | float) -> Term:
        return self._with("pow", other)

    def __neg__(self) -> Term:
        return Term(self.builder, self.builder.apply("neg", self.atom))

    def __lt__(self, other: Term | float) -> Term:
        return self._with("lt", other)

    def __le__(self, other: Term | float) -> Term:
        return self._with("le", other)

    def __gt__(self, other: Term | float) -> Term:
        return self._with("gt", other)

    def __ge__(self, other: Term | float) -> Term:
        return self._with("ge", other)

    def __and__(self, other: Term) -> Term:
        return self._with("and", other)

    def is_equal(self, other: Term | float) -> Term:
        """Whether two numbers are equal."""
        return self._with("eq", other)

    def select(self, then: Term | float, other: Term | float) -> Term:
        """Of a bool: `then` where it holds, else `other`; one of them is a term."""
        like = then if isinstance(then, Term) else other
        assert isinstance(like, Term)
        first, second = (one if isinstance(one, Term) else like.constant(one) for one in (then, other))
        return Term(self.builder, self.builder.select(self.atom, first.atom, second.atom))


def row(name: str) -> Callable[..., Term]:
    """A row of the primitive table as a function of terms."""

    def applied(*terms: Term) -> Term:
        builder = terms[0].builder
        return Term(builder, builder.apply(name, *(term.atom for term in terms)))

    return applied
