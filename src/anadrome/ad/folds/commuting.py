"""Whether an operator commutes, from its body.

l ⊕ r and r ⊕ l are compared as expressions: sums and products are bags of terms and factors, a difference is
a sum with a negated term, and the operands of any commutative operation have no order. So

    l + r + l·r,    l + r - l·r,    (l_0·r_1 + l_1·r_0, l_1·r_1),    m + log(exp(l - m) + exp(r - m))

commute (m = max(l, r)), up to the rounding that associativity allows as well. What is not found to commute is
taken not to: the answer yes is certain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from anadrome.array_ir.nodes import Apply, Atom, Const, Lambda, Var


def is_commutative(operator: Lambda) -> bool:
    """Whether l ⊕ r = r ⊕ l for all values."""
    expressions = _Expressions()
    left = [expressions.number(("left", position)) for position in range(len(operator.left))]
    right = [expressions.number(("right", position)) for position in range(len(operator.right))]
    one = expressions.results(operator, (*left, *right))
    return one is not None and one == expressions.results(operator, (*right, *left))


class _Expressions:
    """A number for each expression, the same for equal ones; sums and products with their parts."""

    def __init__(self) -> None:
        self.numbers: dict[Hashable, int] = {}
        self.bags: dict[int, tuple[str, Counter[int]]] = {}

    def number(self, key: Hashable) -> int:
        """The number of an expression with this operation and operands."""
        return self.numbers.setdefault(key, len(self.numbers))

    def bag(self, name: str, parts: Counter[int]) -> int:
        """The number of a sum or product of these parts, each as often as it is counted."""
        found = self.number((name, frozenset(parts.items())))
        self.bags[found] = name, parts
        return found

    def results(self, operator: Lambda, operands: Sequence[int]) -> list[int] | None:
        """The operator's results on these operands; None for a body of more than scalar operations."""
        known = dict(zip((*operator.left, *operator.right), operands, strict=True))
        for let in operator.body.lets:
            if not isinstance(let.expr, Apply):
                return None
            known[let.targets[0]] = self.apply(let.expr, [self.atom(arg, known) for arg in let.expr.args])
        return [self.atom(atom, known) for atom in operator.body.results]

    def atom(self, atom: Atom, known: dict[Var, int]) -> int:
        """The number of an operand; a variable bound around the operator is itself."""
        if isinstance(atom, Const):
            return self.number(("constant", atom.key))
        return known[atom] if atom in known else self.number(("outside", atom))

    def apply(self, expr: Apply, args: Sequence[int]) -> int:
        """The number of a scalar operation on these operands."""
        name, facts = expr.prim.name, expr.prim.facts
        if name == "sub":
            return self.bag("add", self.parts("add", args[0]) + self.negated(args[1]))
        if name == "neg":
            return self.bag("add", self.negated(args[0]))
        if "commutative" not in facts:
            return self.number((name, *args))
        if "associative" not in facts:
            return self.number((name, frozenset(Counter(args).items())))
        return self.bag(name, self.parts(name, args[0]) + self.parts(name, args[1]))

    def parts(self, name: str, number: int) -> Counter[int]:
        """The parts of a sum or product of this name; another expression is its only part."""
        found = self.bags.get(number)
        return found[1] if found is not None and found[0] == name else Counter((number,))

    def negated(self, number: int) -> Counter[int]:
        """The terms of -x."""
        return Counter({self.number(("minus", part)): n for part, n in self.parts("add", number).items()})
