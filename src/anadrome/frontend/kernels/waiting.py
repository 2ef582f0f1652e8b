"""Loops of a thread that end only when another thread writes: nothing promises that it ever does."""

from __future__ import annotations

from anadrome.array_ir.nodes import Atom, Body, Collective, Index, Let, Loop, Var
from anadrome.array_ir.walk import all_lets, bodies, let_variables
from anadrome.errors.kernels_launch import WaitsForOthers


def refuse_waiting(body: Body) -> None:
    """Refuse a loop whose condition follows from elements of memory alone that the loop does not change.

    What the condition depends on is followed through the body of the loop. A loop that counts, or changes
    what it reads, goes on by itself.
    """
    for let in all_lets(body):
        if isinstance(let.expr, Loop) and let.expr.condition is not None and _waits(let.expr):
            raise WaitsForOthers(let.span)


def _waits(loop: Loop) -> bool:
    assert loop.condition is not None
    defined = {
        target: let
        for part in (loop.condition, loop.body)
        for let in all_lets(part)
        for target in let.targets
    }
    following = dict(zip(loop.carried, loop.body.results, strict=True))
    pending: list[Atom] = list(loop.condition.results)
    seen: set[Var] = set()
    reads = False
    while pending:
        atom = pending.pop()
        if not isinstance(atom, Var) or atom in seen:
            continue
        seen.add(atom)
        let = defined.get(atom)
        if atom in following:
            after = following[atom]
            if atom.type.shape and not _is_unchanged(atom, after, defined):
                return False
            if not atom.type.shape:
                if _depends(after, atom, defined):
                    return False
                pending.append(after)
        elif let is not None:
            reads = reads or isinstance(let.expr, Index)
            if isinstance(let.expr, Collective) and let.expr.operation.startswith("atomic"):
                return False
            pending += _operands(let)
    return reads


def _operands(let: Let) -> list[Atom]:
    """What a statement's results follow from, the results of its bodies included."""
    inner = [atom for _, body in bodies(let.expr) for atom in body.results]
    return [*let_variables(let), *inner]


def _is_unchanged(before: Var, after: Atom, defined: dict[Var, Let]) -> bool:
    """Whether an array comes through an iteration as it was, or as others may have changed it."""
    while isinstance(after, Var) and after is not before:
        let = defined.get(after)
        if let is None or not isinstance(let.expr, Collective) or let.expr.operation.startswith("atomic"):
            return False
        behind = let.targets.index(after) - (len(let.targets) - len(let.expr.arrays))
        after = let.expr.arrays[behind]
    return True


def _depends(atom: Atom, on: Var, defined: dict[Var, Let]) -> bool:
    """Whether what a scalar is after an iteration follows from what it was before."""
    if atom is on:
        return False  # it stays as it is
    pending, seen = [atom], set[Var]()
    while pending:
        found = pending.pop()
        if found is on:
            return True
        if isinstance(found, Var) and found not in seen:
            seen.add(found)
            let = defined.get(found)
            if let is not None:
                pending += _operands(let)
    return False
