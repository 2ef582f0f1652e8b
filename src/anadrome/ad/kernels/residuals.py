"""The residual plan of a kernel: which primal values its return sweep needs, and how it gets each.

    top level     values outside of loops and branches are simply there: both sweeps are one kernel
    recomputed    from operands that are there, where the return sweep enters the scope of the value
    kept          stored by the forward sweep; which ones a minimum cut decides (`cut`)

A kept value has one entry for each run of its scope, at the number of the run: the combined index of the
loops around it where their trip counts are known before the first of them and the same for all threads, else
a count that the forward sweep raises and the return sweep lowers again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from anadrome.ad.kernels.cut import kept_values
from anadrome.ad.kernels.normal import Normal
from anadrome.ad.kernels.places import Loop, Places
from anadrome.kernel_ir.nodes import Compute, For, Let, Load, Stmt, Var


@dataclass(frozen=True, slots=True)
class Residual:
    """How one value is had again: `kept` or `recomputed`, why, and the bytes of one entry."""

    name: str
    how: str
    reason: str
    bytes: int
    depth: int


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The values that the return sweep binds anew, scope by scope in the order of the forward sweep; which of
    them are kept; the loops whose runs are counted, in the order of the forward sweep."""

    scopes: Mapping[tuple[Stmt, int] | None, tuple[Var, ...]] = field(default_factory=dict)
    kept: frozenset[Var] = frozenset()
    counted: tuple[Loop, ...] = ()
    residuals: tuple[Residual, ...] = ()


def operands(places: Places, var: Var) -> list[Var]:
    """The operands of a value that must be had again where it is recomputed."""
    stmt = places.binders[var]
    assert isinstance(stmt, Let)
    match stmt.value:
        case Compute(args=args) | Load(indices=args):
            found = [arg for arg in args if isinstance(arg, Var)]
        case _:
            found = []
    return [arg for arg in found if not (places.is_at_top(arg) or places.is_index(arg))]


def plan(normal: Normal, places: Places, needed: Iterable[Var]) -> Plan:
    """What is kept and what is recomputed of the values that the return sweep reads."""
    wanted = [var for var in needed if not (places.is_at_top(var) or places.is_index(var))]

    def depth(var: Var) -> int:
        place = places.place(var)
        return 0 if place is None else len(place.loops)

    def inner(var: Var) -> list[Var]:
        return operands(places, var)

    kept = kept_values(wanted, inner, places.is_recomputable, depth)
    bound: set[Var] = set()
    pending = list(wanted)
    while pending:
        var = pending.pop()
        if var not in bound:
            bound.add(var)
            pending.extend(() if var in kept else inner(var))
    in_order = sorted(bound, key=lambda var: places.of[places.binders[var]].order)
    counted = tuple(dict.fromkeys(loop for var in in_order if var in kept for loop in runs(places, var)))
    scopes: dict[tuple[Stmt, int] | None, list[Var]] = {}
    for var in in_order:
        scopes.setdefault(places.scope(var), []).append(var)
    residuals = tuple(_residual(places, var, var in kept, depth(var)) for var in in_order)
    return Plan({key: tuple(vars_) for key, vars_ in scopes.items()}, frozenset(kept), counted, residuals)


def is_static(places: Places, loop: Loop) -> bool:
    """Whether the trip count of a loop is known before any loop, and the same for all threads."""
    return isinstance(loop, For) and places.is_uniform(loop.lo) and places.is_uniform(loop.hi)


def runs(places: Places, var: Var) -> tuple[Loop, ...]:
    """The loops around a kept value of which a run must be counted: the innermost one whose trip count is not
    known."""
    place = places.place(var)
    loops = () if place is None else place.loops
    dynamic = [loop for loop in loops if not is_static(places, loop)]
    return (dynamic[-1],) if dynamic else ()


def _residual(places: Places, var: Var, is_kept: bool, depth: int) -> Residual:
    if is_kept:
        reason = "" if places.is_recomputable(var) else places.reason(var)
        why = reason or "fewer bytes than what it is computed from"
        return Residual(var.name, "kept", why, var.dtype.bytes, depth)
    return Residual(var.name, "recomputed", "nothing overwrites its operands", 0, depth)
