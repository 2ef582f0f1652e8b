"""Which variable is needed for the last time where, so that a run may overwrite an array nobody sees again.

Two things make an update in place right: no later statement reads the variable (known before the run), and
no other value shares the memory (seen during the run, by counting references).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anadrome.array_ir.nodes import ArrayType, Atom, Body, Expr, Index, Let, ParFor, Update, Var
from anadrome.array_ir.own_reads import Knowledge
from anadrome.array_ir.walk import bodies, free_variables, let_variables, operands
from anadrome.dtypes import I64

Environment = dict[Var, Any]
"""Variable in scope -> its value: a NumPy scalar or array."""


@dataclass(frozen=True, slots=True)
class LastUses:
    """What may be dropped as a body runs: after each statement; after its results are taken.

    `movable` are, for each statement, those arrays among its operands that it may overwrite itself: needed
    for the last time, given to it once, and not read by the bodies nested in it (but as `own_reads` allows).
    `copied` are the rows that outlive an update of the array they are read from, and are therefore read into
    memory of their own.
    """

    after: tuple[tuple[Var, ...], ...]
    movable: tuple[tuple[Var, ...], ...]
    at_end: tuple[Var, ...]
    copied: frozenset[Var]


def last_uses(body: Body, owned: Sequence[Var], results: Sequence[Atom], knowledge: Knowledge) -> LastUses:
    """The last uses of what a body binds and of the variables `owned` that nobody needs after it."""
    mine = {*owned, *(target for let in body.lets for target in let.targets)}
    seen = {atom for atom in results if isinstance(atom, Var)}
    at_end = tuple(var for var in seen if var in mine)
    after: list[tuple[Var, ...]] = []
    movable: list[tuple[Var, ...]] = []
    for let in reversed(body.lets):
        dying = _dying(let, mine, seen)
        seen.update(dying)
        after.append(dying)
        movable.append(_movable(let.expr, dying, knowledge) if dying else ())
    after.reverse()
    movable.reverse()
    return LastUses(tuple(after), tuple(movable), at_end, _copied_rows(body, after, movable))


def _copied_rows(
    body: Body, after: Sequence[tuple[Var, ...]], movable: Sequence[tuple[Var, ...]]
) -> frozenset[Var]:
    last = {var: position for position, dying in enumerate(after) for var in dying}
    updated = {
        let.expr.array: position
        for position, let in enumerate(body.lets)
        if isinstance(let.expr, Update) and let.expr.array in movable[position]
    }
    rows: set[Var] = set()
    for let in body.lets:
        if isinstance(let.expr, Index) and let.targets[0].type.shape and let.expr.array in updated:
            end = updated[let.expr.array]
            rows.update(row for row in let.targets if last.get(row, len(body.lets)) > end)
    return frozenset(rows)


def _dying(let: Let, mine: set[Var], seen: set[Var]) -> tuple[Var, ...]:
    used = (*let_variables(let), *let.targets)
    return tuple(var for var in used if var in mine and var not in seen)


def _movable(expr: Expr, dying: tuple[Var, ...], knowledge: Knowledge) -> tuple[Var, ...]:
    given = operands(expr)
    inside = {var for _, body in bodies(expr) for var in free_variables(body)}

    def is_movable(var: Var) -> bool:
        if not var.type.shape or given.count(var) != 1:
            return False
        return var not in inside or (isinstance(expr, ParFor) and knowledge.is_in_place(expr, var))

    return tuple(var for var in dying if is_movable(var))


def take(env: Environment, var: Var) -> tuple[Any, bool]:
    """Take a value out of the environment; whether it is an array that nothing else shares."""
    value, references = _take(env, var)
    is_array = isinstance(value, np.ndarray) and value.base is None and value.flags.writeable
    return value, is_array and references == _UNSHARED


def _take(env: Environment, var: Var) -> tuple[Any, int]:
    value = env.pop(var)
    return value, sys.getrefcount(value)


_PROBE = Var("probe", ArrayType(I64))
_UNSHARED = _take({_PROBE: np.empty(1)}, _PROBE)[1]
"""How many references `_take` counts where nothing else holds the array."""
