"""An array whose pieces are made one after the other: concatenations, ends that are treated apart.

Before:
    y = parfor i < m {
      c = lt i n
      v = if c { u = a[i]; return u } else { j = sub i n; w = b[j]; return w }
      yield stack v
    }
After:
    y[0 .. n] = parfor i < n { u = a[i]; yield stack u }
    y[n .. m] = parfor n ≤ i < m { j = sub i n; w = b[j]; yield stack w }

So no iteration asks which piece it is of. A piece that only reads an array that nobody reads after it is
where that array is built (`destinations`), and nothing is left to do for it. Short loops of constant length
are left to LLVM, which unrolls them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from anadrome.array_ir import nodes as array_ir
from anadrome.array_ir.affine import affine
from anadrome.array_ir.nodes import (
    FALSE,
    TRUE,
    Apply,
    Atom,
    Body,
    Const,
    If,
    Index,
    Let,
    ParFor,
    Stack,
    Var,
)
from anadrome.array_ir.own_reads import Knowledge
from anadrome.array_ir.rewrite import Renaming
from anadrome.array_ir.walk import all_lets, has_effect
from anadrome.prims.costs import SHORT

MOST = 8
"""Pieces that are told apart; the last of them is the rest."""
LONGEST = 100
"""Statements of a loop that is written once for each piece."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """What iterations do from `start` on, up to where the next piece starts."""

    start: Atom
    body: Body
    yields: tuple[array_ir.Yield, ...]

    def copied(self, index: Var, knowledge: Knowledge) -> Var | None:
        """The array whose element or row i - start the iteration i gives, where it does nothing else."""
        if len(self.yields) != 1 or not isinstance(self.yields[0], Stack):
            return None
        (value,) = self.body.results
        found = _copied(self.body, value, (index,))
        if found is None:
            return None
        array, first = found
        distance = affine(index, {}).plus(affine(first, {**knowledge.definitions, **_made(self.body)}), -1)
        return array if distance == affine(self.start, knowledge.definitions) else None


def pieces(expr: ParFor) -> tuple[Piece, ...]:
    """The pieces of what a parfor makes; none where it is one."""
    is_short = isinstance(expr.extent, Const) and int(expr.extent.value) <= SHORT
    are_stacks = all(isinstance(item, Stack) for item in expr.yields)
    if is_short or expr.in_lanes or not are_stacks or not _is_plain(expr.body):
        return ()
    found = tuple(_pieces(expr.index, expr.body, expr.yields, array_ir.i64(0), MOST))
    return found if len(found) > 1 else ()


def ends(found: tuple[Piece, ...], extent: Atom) -> tuple[Atom, ...]:
    """Where the pieces end."""
    return (*(piece.start for piece in found[1:]), extent) if found else ()


def are_in_order(found: tuple[Piece, ...], extent: Atom, knowledge: Knowledge) -> bool:
    """Whether each piece surely ends where or behind where it starts, the last one at the extent."""
    return all(
        knowledge.is_at_least(end, piece.start) for piece, end in zip(found, ends(found, extent), strict=True)
    )


def _is_plain(body: Body) -> bool:
    lets = list(all_lets(body))
    return len(lets) <= LONGEST and not any(has_effect(let.expr) for let in lets)


def _pieces(
    index: Var, body: Body, yields: tuple[array_ir.Yield, ...], start: Atom, most: int
) -> Iterator[Piece]:
    condition = _condition(index, body) if most > 1 else None
    if condition is None:
        yield Piece(start, body, yields)
        return
    asked, border = condition
    before, behind = (_Decided(asked, truth) for truth in (TRUE, FALSE))
    yield Piece(start, before.body(body), tuple(map(before.item, yields)))
    yield from _pieces(index, behind.body(body), tuple(map(behind.item, yields)), border, most - 1)


def _condition(index: Var, body: Body) -> tuple[Var, Atom] | None:
    """A condition `index < border` that decides a branch, the border bound outside; and the border."""
    bound = {target for let in body.lets for target in let.targets}
    asked = {let.expr.condition for let in all_lets(body) if isinstance(let.expr, If)}
    for let in body.lets:
        match let.expr:
            case Apply(prim=prim, args=(left, border)) if prim.name == "lt" and left is index:
                if border not in bound and let.targets[0] in asked:
                    return let.targets[0], border
            case _:
                pass
    return None


class _Decided(Renaming):
    """A copy of a body in which a condition is decided: of its branches, one side stands in their place."""

    def __init__(self, condition: Var, truth: Const) -> None:
        super().__init__({condition: truth})
        self.condition = condition

    def body(self, body: Body) -> Body:
        """The body in the copy."""
        return Body(tuple(self.lets(body)), self.atoms(body.results))

    def lets(self, body: Body) -> Iterator[Let]:
        """Its statements."""
        for let in body.lets:
            if let.targets == (self.condition,):
                continue
            if isinstance(let.expr, If) and let.expr.condition is self.condition:
                side = let.expr.then if self.mapping[self.condition] == TRUE else let.expr.other
                yield from self.lets(side)
                self.mapping.update(zip(let.targets, self.atoms(side.results), strict=True))
            else:
                yield self.let(let)


def _copied(body: Body, value: Atom, indices: tuple[Var, ...]) -> tuple[Var, Atom] | None:
    """The array of which a nest gives the element at the indices of its loops, and the first of those."""
    made = _made(body)
    match made.get(value) if isinstance(value, Var) else None:
        case Index(array=array, indices=(first, *rest)) if tuple(rest) == indices[1:] and array not in made:
            whole = len(array.type.shape) - len(indices) == len(value.type.shape)
            return (array, first) if whole else None
        case ParFor(index=index, extent=extent, body=inner, yields=(Stack(),), in_lanes=False):
            found = _copied(inner, inner.results[0], (*indices, index))
            is_whole = found is not None and found[0].type.shape[len(indices)] == extent
            return found if is_whole else None
        case _:
            return None


def _made(body: Body) -> dict[Var, array_ir.Expr]:
    return {target: let.expr for let in body.lets for target in let.targets}
