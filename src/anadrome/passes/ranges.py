"""Proving that an integer expression is not negative, from inequalities between variables.

Expressions are polynomials in integer variables. A fact is a polynomial known to be ≥ 0. To prove e ≥ 0, a
variable of e is eliminated by a fact f in which it has a coefficient of the same sign,

    e = c·v + …,  f = a·v + … ≥ 0,  a·c > 0:     |a|·e - |c|·f ≥ 0  ⇒  e ≥ 0  (> -|a| will do, e is whole),

until a constant is left. A polynomial all of whose terms hold a variable that is ≥ 0 is divided by it. A
variable defined by min, max or select is replaced by either side, each under its condition. The search is
bounded in depth and number of steps, so the answer is "proved" or "not known".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from math import gcd

from anadrome.array_ir.nodes import Apply, ArrayType, Atom, Const, Expr, Type, Var
from anadrome.dtypes import I64
from anadrome.prims.polynomials import Monomial, Polynomial, divided, number, variable

MOST_STEPS = 60
DEPTHS = (2, 4, 6)
"""Short proofs are looked for first."""
MOST_TERMS, MOST_FACTORS = 12, 16


class Ranges:
    """Facts that hold where the walk stands, and proofs from them.

    `state` numbers what is known: a search that failed is remembered with it in `failed`, and whether more
    depth might have helped, so that it is not made twice.
    """

    def __init__(self) -> None:
        self.definitions: dict[Var, Apply] = {}
        self.forms: dict[Var, Polynomial] = {}
        self.facts: dict[Var, list[Polynomial]] = {}
        self.trail: list[Var] = []
        self.sizes: set[Var] = set()
        self.steps = 0
        self.is_cut_short = False
        self.states = count(1)
        self.state = 0
        self.failed: dict[object, bool] = {}

    # ------------------------------------------------------------------ learning
    @contextmanager
    def scope(self) -> Iterator[None]:
        """Facts learnt inside are forgotten outside."""
        mark, state = len(self.trail), self.state
        yield
        self.state = state
        while len(self.trail) > mark:
            self.facts[self.trail.pop()].pop()

    def define(self, target: Var, expr: Expr) -> None:
        """An integer or bool operation whose result is looked through.

        Where the walk has meanwhile put other atoms in the place of what it reads, its form is made again:
        that of before names variables that are bound no more.
        """
        if isinstance(expr, Apply) and target.type.dtype.name in ("i64", "bool"):
            if self.definitions.get(target) is not expr:
                self.forms.pop(target, None)
            self.definitions[target] = expr
            self.learn_definition(target, expr)

    def learn_definition(self, target: Var, expr: Apply) -> None:
        """What holds of a quotient, a remainder, an extremum or a magnitude."""
        if target.type.dtype is not I64:
            return
        name, args = expr.prim.name, expr.args
        own = self.form(target)
        if name == "mod" and self.is_positive(args[1]):
            self.learn(own)
            self.learn(self.form(args[1]).plus(own, -1).plus(-1))
        elif name == "floordiv" and isinstance(args[1], Const) and args[1].value > 0:
            divisor = int(args[1].value)
            rest = self.form(args[0]).plus(own, -divisor)
            self.learn(rest)
            self.learn(number(divisor - 1).plus(rest, -1))
            if self.proves(self.form(args[0])):
                self.learn(own)
        elif name == "abs":
            self.learn(own)
        elif name == "to_i64" and args[0].type.dtype.kind in ("bool", "uint"):
            self.learn(own)
            if args[0].type.dtype.kind == "bool":
                self.learn(number(1).plus(own, -1))

    def learn_sizes(self, types: Iterable[Type]) -> None:
        """The sizes of an array are not negative."""
        for type_ in types:
            for size in type_.shape:
                if isinstance(size, Var) and size not in self.sizes:
                    self.sizes.add(size)
                    self.facts.setdefault(size, []).insert(0, variable(size))
                    self.failed.clear()

    def learn(self, poly: Polynomial) -> None:
        """`poly` ≥ 0 holds in this scope."""
        self.state = next(self.states)
        for var in dict.fromkeys(poly.variables()):
            self.facts.setdefault(var, []).append(poly)
            self.trail.append(var)

    def learn_below(self, index: Var, extent: Atom) -> None:
        """0 ≤ index < extent"""
        self.learn(variable(index))
        self.learn(self.form(extent).plus(variable(index), -1).plus(-1))

    def learn_condition(self, atom: Atom, holds: bool) -> None:
        """A condition that is known to hold, or not to."""
        definition = self.definitions.get(atom) if isinstance(atom, Var) else None
        if definition is None:
            return
        name, args = definition.prim.name, definition.args
        if name == "not":
            self.learn_condition(args[0], not holds)
        elif name == ("and" if holds else "or"):
            for arg in args:
                self.learn_condition(arg, holds)
        else:
            for poly in self.differences(name, args, holds):
                self.learn(poly)

    def differences(self, name: str, args: tuple[Atom, ...], holds: bool) -> list[Polynomial]:
        """The polynomials that are ≥ 0 exactly when a comparison of integers holds (or does not)."""
        if len(args) != 2 or args[0].type != ArrayType(I64):
            return []
        name = (
            name
            if holds
            else {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}.get(name, "")
        )
        left, right = self.form(args[0]), self.form(args[1])
        less, more = right.plus(left, -1), left.plus(right, -1)
        match name:
            case "lt":
                return [less.plus(-1)]
            case "le":
                return [less]
            case "gt":
                return [more.plus(-1)]
            case "ge":
                return [more]
            case "eq":
                return [less, more]
            case _:
                return []

    # ------------------------------------------------------------------ proving
    def form(self, atom: Atom) -> Polynomial:
        """The polynomial an integer atom is."""
        if isinstance(atom, Const):
            return number(int(atom.value))
        found = self.forms.get(atom)
        if found is None:
            found = self.forms[atom] = self._form(atom)
        return found

    def _form(self, atom: Var) -> Polynomial:
        definition = self.definitions.get(atom)
        if definition is not None:
            name = definition.prim.name
            if name in ("add", "sub"):
                left, right = (self.form(arg) for arg in definition.args)
                return left.plus(right, 1 if name == "add" else -1)
            if name == "neg":
                return self.form(definition.args[0]).times(-1)
            if name == "mul":
                left, right = (self.form(arg) for arg in definition.args)
                product = left.times(right)
                if len(product.terms) <= MOST_TERMS and product.degree <= MOST_FACTORS:
                    return product
        return variable(atom)

    def is_inside(self, index: Atom, size: Atom) -> bool:
        """Whether 0 ≤ index < size is proved."""
        form = self.form(index)
        return self.proves(self.form(size).plus(form, -1).plus(-1)) and self.proves(form)

    def is_positive(self, atom: Atom) -> bool:
        """Whether atom ≥ 1 is proved."""
        return self.proves(self.form(atom).plus(-1))

    def decides(self, atom: Atom) -> bool | None:
        """Whether a condition is proved to hold, or not to; None where neither."""
        if isinstance(atom, Const):
            return bool(atom.value)
        definition = self.definitions.get(atom)
        if definition is None:
            return None
        name, args = definition.prim.name, definition.args
        if name == "not":
            inner = self.decides(args[0])
            return None if inner is None else not inner
        if name in ("and", "or"):
            sides = [self.decides(arg) for arg in args]
            zero = name == "or"
            return zero if zero in sides else (None if None in sides else not zero)
        return self.compares(name, args)

    def compares(self, name: str, args: tuple[Atom, ...]) -> bool | None:
        """Whether a comparison is proved to hold, or not to."""
        for holds in (True, False):
            wanted = self.differences(name, args, holds)
            if wanted and all(self.proves(poly) for poly in wanted):
                return holds
        return None

    def difference(self, left: Atom, right: Atom) -> Polynomial:
        """left - right"""
        return self.form(left).plus(self.form(right), -1)

    def proves(self, poly: Polynomial) -> bool:
        """Whether `poly` ≥ 0 follows from the facts."""
        for depth in DEPTHS:
            self.steps = 0
            self.is_cut_short = False
            if self.search(poly, depth, 1):
                return True
            if not self.is_cut_short:  # a longer search would go the same ways
                return False
        return False

    def search(self, poly: Polynomial, depth: int, scale: int) -> bool:
        """Whether `poly`, which is scale times what is to be proved, is at least 1 - scale."""
        constant = poly.constant
        if constant is not None:
            return constant > -scale
        self.steps += 1
        if depth == 0:
            self.is_cut_short = True
            return False
        if self.steps > MOST_STEPS or len(poly.terms) > MOST_TERMS:
            return False
        key = (self.state, depth, scale, poly)
        known = self.failed.get(key)
        if known is not None:
            self.is_cut_short = self.is_cut_short or known
            return False
        before, self.is_cut_short = self.is_cut_short, False
        found = self.search_ways(poly, depth, scale)
        if not found and self.steps <= MOST_STEPS:
            self.failed[key] = self.is_cut_short
        self.is_cut_short = self.is_cut_short or before
        return found

    def search_ways(self, poly: Polynomial, depth: int, scale: int) -> bool:
        """The search, by division, cases and elimination."""
        if (scale == 1 and self.search_divided(poly, depth)) or self.search_cases(poly, depth, scale):
            return True
        for monomial, coefficient in poly.terms.items():
            for fact in reversed(self.facts.get(monomial[0], ()) if monomial else ()):
                own = fact.terms.get(monomial, 0)
                if own * coefficient > 0:
                    common = gcd(own, coefficient)
                    factor = abs(own) // common
                    rest = poly.times(factor).plus(fact, -abs(coefficient) // common)
                    is_short = len(rest.terms) <= len(poly.terms) + 1
                    if is_short and self.search(rest, depth - 1, scale * factor):
                        return True
            if len(monomial) > 1 and self.search_product(poly, monomial, coefficient, depth, scale):
                return True
        return False

    def search_divided(self, poly: Polynomial, depth: int) -> bool:
        """v·p ≥ 0 where v ≥ 0 is known and p ≥ 0 is proved."""
        common = set.intersection(*(set(monomial) for monomial in poly.terms))
        for var in common:
            rest = Polynomial({divided(monomial, var): c for monomial, c in poly.terms.items()})
            if var in self.sizes and self.search(rest, depth - 1, 1):
                return True
        return False

    def search_product(
        self, poly: Polynomial, monomial: Monomial, coefficient: int, depth: int, scale: int
    ) -> bool:
        """Facts on one factor of a product, times the other factor where that is a size."""
        for var in dict.fromkeys(monomial):
            rest = divided(monomial, var)
            if not all(other in self.sizes for other in rest):
                continue
            for fact in reversed(self.facts.get(var, ())):
                own = fact.terms.get((var,), 0)
                if own * coefficient > 0:
                    scaled = fact.times(Polynomial({rest: 1}))
                    left = poly.times(abs(own)).plus(scaled, -abs(coefficient))
                    if len(left.terms) <= len(poly.terms) and self.search(left, depth - 1, scale * abs(own)):
                        return True
        return False

    def search_cases(self, poly: Polynomial, depth: int, scale: int) -> bool:
        """Either side of a min, max or select, under what it then known."""
        for monomial in poly.terms:
            definition = self.definitions.get(monomial[0]) if len(monomial) == 1 else None
            if definition is None or definition.prim.name not in ("min", "max", "select"):
                continue
            var = monomial[0]
            if definition.prim.name == "select":
                condition, *sides = definition.args
                if condition.type.dtype.name != "bool":
                    continue
                return all(
                    self.search_side(poly, var, side, condition, holds, depth, scale)
                    for side, holds in zip(sides, (True, False), strict=True)
                )
            left, right = definition.args
            sign = 1 if definition.prim.name == "max" else -1
            first = self.difference(left, right).times(sign)
            sides_facts = ((left, first), (right, first.times(-1)))
            return all(
                self.search_extremum(poly, var, side, fact, depth, scale) for side, fact in sides_facts
            )
        return False

    def search_side(
        self, poly: Polynomial, var: Var, side: Atom, condition: Atom, holds: bool, depth: int, scale: int
    ) -> bool:
        """One side of a select."""
        with self.scope():
            self.learn_condition(condition, holds)
            return self.search(poly.at(var, self.form(side)), depth - 1, scale)

    def search_extremum(
        self, poly: Polynomial, var: Var, side: Atom, fact: Polynomial, depth: int, scale: int
    ) -> bool:
        """One side of a min or max."""
        with self.scope():
            self.learn(fact)
            return self.search(poly.at(var, self.form(side)), depth - 1, scale)
