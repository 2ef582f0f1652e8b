"""What two loops have in common if they can be joined, of one look at each: `join` tries those alone.

Two carried values that `join` makes one start the same, and with each such pair as one variable their results
are the same. So they are also the same after one iteration, and after two, of loops whose carried values are
told apart by that alone. The kind of a statement says what it computes from, so far as two iterations tell:
statements that are found to be the same are of one kind, those of one kind may turn out not to be the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from anadrome.array_ir.dead import STRUCTURED
from anadrome.array_ir.nodes import Apply, Atom, Body, Const, Let, Loop, ParFor, Var
from anadrome.array_ir.walk import all_lets, operands

Starts = Mapping[Var, Hashable]
"""Arrays that are made full of a number, and a key that those of one number and shape share."""

ITERATIONS = 2

NOTHING: Mapping[Var, Atom] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Outline:
    """A loop, as far as it must agree with another to be joined with it; of a parfor `carried` is empty.

    `carried`: the kind of each value that it carries, how often it runs included; two loops need one in
    common.
    `statements`: how many there are of each kind; `total`: how many in all.
    """

    carried: tuple[Hashable, ...]
    statements: Mapping[Hashable, int]
    total: int

    def may_join(self, second: Outline) -> bool:
        """Whether half of the statements of one loop may be found in the other."""
        return not set(self.carried).isdisjoint(second.carried) and self.may_share(second)

    def may_share(self, second: Outline) -> bool:
        """The same, whatever the loops carry."""
        mine, other = self.statements, second.statements
        found = sum([other[kind] for kind in mine.keys() & other.keys()])
        return 2 * found >= min(self.total, second.total)


def outline_of_parfor(parfor: ParFor, around: Mapping[Var, Atom]) -> Outline:
    """The outline of a parfor. `around`: what stands for values that are bound around it."""
    statements = _statements(parfor.body, {**_outer(around), parfor.index: "index"})
    return Outline((), statements, statements.total())


def outline(loop: Loop, starts: Starts, around: Mapping[Var, Atom] = NOTHING) -> Outline:
    """The outline of a loop. `around`: what stands for values that are bound around it."""
    inits = [around.get(atom, atom) if isinstance(atom, Var) else atom for atom in loop.init]
    begin = [starts.get(atom, atom) if isinstance(atom, Var) else atom.key for atom in inits]
    kinds: dict[Atom, Hashable] = {}
    statements: Counter[Hashable] = Counter()
    carried: Sequence[Hashable] = begin
    outer = _outer(around)
    for _ in range(ITERATIONS):
        kinds = {**outer, **dict(zip(loop.carried, carried, strict=True))}
        if loop.index is not None:
            kinds[loop.index] = "index"
        statements = _statements(loop.body, kinds)
        results = _kinds(loop.body.results, kinds)
        carried = [hash(pair) for pair in zip(begin, results, strict=True)]
    runs: tuple[Hashable, ...] = ("for", *_kinds(() if loop.trip is None else (loop.trip,), outer))
    if loop.condition is not None:
        _statements(loop.condition, kinds)
        runs = ("while", *_kinds(loop.condition.results, kinds))
    types = [(var.type.dtype, len(var.type.shape)) for var in loop.carried]
    kept = tuple(hash((runs, *each)) for each in zip(types, carried, strict=True))
    return Outline(kept, statements, statements.total())


def _outer(around: Mapping[Var, Atom]) -> dict[Atom, Hashable]:
    return dict(zip(around, _kinds(around.values(), {}), strict=True))


def _statements(body: Body, kinds: dict[Atom, Hashable]) -> Counter[Hashable]:
    """How many statements there are of each kind, nests being told apart by their class alone. What they bind
    is added to `kinds`."""
    found: Counter[Hashable] = Counter()
    for let in body.lets:
        kind: Hashable = type(let.expr).__name__
        if not isinstance(let.expr, STRUCTURED):
            name = let.expr.prim.name if isinstance(let.expr, Apply) else ""
            kind = hash((kind, name, frozenset(_kinds(operands(let.expr), kinds))))
        for target in let.targets:
            kinds[target] = kind
        found[kind] += size((let,))
    return found


def _kinds(atoms: Iterable[Atom], kinds: Mapping[Atom, Hashable]) -> list[Hashable]:
    return [atom.key if isinstance(atom, Const) else kinds.get(atom, atom) for atom in atoms]


def size(lets: Sequence[Let]) -> int:
    """How many statements there are, those of nests included."""
    return sum(1 for let in lets for _ in all_lets(Body((let,))))
