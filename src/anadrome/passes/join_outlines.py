"""What two loops have in common if they can be joined, of one walk over each: `join` tries those alone.

Two carried values that `join` makes one start the same, and with each such pair as one variable their results
are the same. So they are also the same after one iteration, and after two, of loops whose carried values are
told apart by that alone. The *kind* of a value says what it is computed from, so far as two iterations tell:
values that are found to be the same are of one kind, those of one kind may turn out not to be the same. The
kind of a nest's result says what it is made of, whatever else the nest makes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence

from anadrome.array_ir.dead import STRUCTURED
from anadrome.array_ir.nodes import (
    Apply,
    Atom,
    Body,
    Const,
    If,
    Lambda,
    Let,
    Library,
    Loop,
    ParFor,
    Part,
    Var,
)
from anadrome.array_ir.walk import all_lets, bodies, fields_of, operands

Starts = Mapping[Var, Hashable]
"""Arrays that are made full of a number, and a key that those of one number and shape share."""

ITERATIONS = 2
"""How many iterations of the outer loop tell values apart; of loops in it one does."""


class Outline:
    """A loop, as far as it must agree with another to be joined with it, and every nest inside.

    `starts`: what arrays are full of where they are.
    """

    def __init__(self, let: Let, starts: Starts) -> None:
        self.kinds: dict[Atom, Hashable] = {array: hash(key) for array, key in starts.items()}
        self.statements: dict[Let, Hashable] = {}
        self._carried: dict[Let, tuple[Hashable, ...]] = {}
        self._counts: dict[Let, Counter[Hashable]] = {}
        assert isinstance(let.expr, Loop)
        self._loop(let, let.expr, ITERATIONS)

    def carried(self, loop: Let) -> tuple[Hashable, ...]:
        """The kind of each value that a loop carries, how often it runs included."""
        return self._carried[loop]

    def results(self, let: Let) -> Hashable:
        """What another statement has too if it computes the same."""
        kinds = self.kinds
        return (self.statements[let], *[kinds[target] for target in let.targets])

    def counts(self, nest: Let) -> Counter[Hashable]:
        """How many statements there are of each kind in a nest, those of nests in it included."""
        found = self._counts.get(nest)
        if found is None:
            found = self._counts[nest] = Counter()
            for _, body in bodies(nest.expr):
                for let in body.lets:
                    found[self.statements[let]] += 1
                    if isinstance(let.expr, STRUCTURED):
                        found.update(self.counts(let))
        return found

    # ------------------------------------------------------------------ the walk
    def _body(self, body: Body) -> list[Hashable]:
        """The kinds of what a body results in."""
        for let in body.lets:
            self._let(let)
        return self._of(body.results)

    def _let(self, let: Let) -> None:
        expr = let.expr
        kind: Hashable = type(expr).__name__
        results: Sequence[Hashable] | None = None
        match expr:
            case ParFor():
                results = self._parfor(expr)
            case Loop():
                results = self._loop(let, expr, 1)
            case If(condition=condition, then=then, other=other):
                sides = zip(self._body(then), self._body(other), strict=True)
                choice = self._of((condition,))
                results = [hash(("If", *choice, *pair)) for pair in sides]
            case Apply(prim=prim, args=args):
                kinds = self._of(args)
                taken = frozenset(kinds) if "commutative" in prim.facts else tuple(kinds)
                kind = hash((prim.name, taken))
            case Library(operation=operation, args=args):
                kind = hash((operation, *self._of(args)))
            case _:
                for binders, body in bodies(expr):
                    self.kinds.update(dict.fromkeys(binders, "binder"))
                    self._body(body)
                if not isinstance(expr, STRUCTURED):
                    kind = hash((kind, *self._of(operands(expr))))
        self.statements[let] = kind
        if len(let.targets) == 1:
            self.kinds[let.targets[0]] = kind if results is None else results[0]
        else:
            for position, target in enumerate(let.targets):
                self.kinds[target] = hash((kind, position)) if results is None else results[position]

    def _parfor(self, parfor: ParFor) -> list[Hashable]:
        extent = self._of((parfor.extent,))
        self.kinds[parfor.index] = hash(("index", *extent))
        self._body(parfor.body)
        found: list[Hashable] = []
        for part, where in parfor.slices():
            kind = (*extent, *self._part(part))
            found += [hash((*kind, offset)) for offset in range(where.stop - where.start)]
        return found

    def _part(self, part: Part) -> list[Hashable]:
        found: list[Hashable] = [type(part.item).__name__, *self._of(part.takes)]
        for value in fields_of(part.item):
            match value:
                case Var():
                    found.append(self.kinds.get(value, value))
                case Lambda():
                    sides = (*value.left, *value.right)
                    self.kinds.update({side: ("side", place) for place, side in enumerate(sides)})
                    found += [*self._of(value.identity), *self._body(value.body)]
                    if value.inverse is not None:
                        found += self._body(value.inverse)
                case _:
                    found.append(value)
        return found

    def _loop(self, let: Let, loop: Loop, iterations: int) -> list[Hashable]:
        begin = self._of(loop.init)
        kinds: Sequence[Hashable] = begin
        if loop.index is not None:
            self.kinds[loop.index] = "index"
        runs: list[Hashable] = ["for", *self._of(() if loop.trip is None else (loop.trip,))]
        for _ in range(iterations):
            self.kinds.update(zip(loop.carried, kinds, strict=True))
            if loop.condition is not None:
                runs = ["while", *self._body(loop.condition)]
            kinds = [hash(pair) for pair in zip(begin, self._body(loop.body), strict=True)]
        types = [(var.type.dtype, len(var.type.shape)) for var in loop.carried]
        found: list[Hashable] = [hash((*runs, *each)) for each in zip(types, kinds, strict=True)]
        self._carried[let] = tuple(found)
        return found

    def _of(self, atoms: Iterable[Atom]) -> list[Hashable]:
        kinds = self.kinds
        return [atom.key if isinstance(atom, Const) else kinds.get(atom, atom) for atom in atoms]


def may_join(first: tuple[Let, Outline], second: tuple[Let, Outline]) -> bool:
    """Whether two loops carry values of one kind, and half of the statements of one may be in the other."""
    carried = first[1].carried(first[0])
    return not set(carried).isdisjoint(second[1].carried(second[0])) and may_share(first, second)


def may_share(first: tuple[Let, Outline], second: tuple[Let, Outline]) -> bool:
    """Whether half of the statements of one nest may be found in the other."""
    mine, other = first[1].counts(first[0]), second[1].counts(second[0])
    found = sum([other[kind] for kind in mine.keys() & other.keys()])
    return 2 * found >= min(mine.total(), other.total())


def size(lets: Sequence[Let]) -> int:
    """How many statements there are, those of nests included."""
    return sum(1 for let in lets for _ in all_lets(Body((let,))))
