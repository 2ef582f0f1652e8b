"""The residual plan of a kernel: which primal values its return sweep needs, and how it gets each.

    top level     values outside of loops and branches are simply there: both sweeps are one kernel
    recomputed    from operands that are there, where the return sweep enters the scope of the value
    rebuilt       with the memory that it is an element of, which a body writes anew in each run (`rebuilt`)
    kept          stored by the forward sweep; which ones a minimum cut decides (`cut`)

A kept value has one entry for each run of its scope, at the number of the run: the combined index of the
loops around it where their trip counts are known before the first of them and the same for all threads, else
a count that the forward sweep raises and the return sweep lowers again. Innermost loops that do not change
the value share an entry. Entries of a bool are bits, eight in a byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from anadrome.ad.kernels.cut import kept_values
from anadrome.ad.kernels.places import Loop, Places
from anadrome.ad.kernels.rebuilt import Rebuilt, find_rebuilt, is_rebuilt, is_static
from anadrome.dtypes import BOOL
from anadrome.errors import Span
from anadrome.kernel_ir.nodes import Buffer, Compute, Const, Expr, For, Let, Load, Stmt, Var, While


@dataclass(frozen=True, slots=True)
class Residual:
    """How one value is had again: `kept`, `recomputed` or `rebuilt`, and why.

    A kept value takes `bits` for each of its `entries`, one for each run of the loops around it: None where
    only a launch knows how many. `span` is the source place that computes it.
    """

    name: str
    how: str
    reason: str
    bits: int = 0
    entries: int | None = 1
    span: Span | None = None

    @property
    def bytes_per_thread(self) -> int | None:
        """What one thread keeps of it; None where only a launch knows."""
        return None if self.entries is None else -(-self.bits * self.entries // 8)


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The values that the return sweep binds anew, scope by scope in the order of the forward sweep; which of
    them are kept; the loops whose runs are counted, in the order of the forward sweep; the memory that loops
    write anew."""

    scopes: Mapping[tuple[Stmt, int] | None, tuple[Var, ...]] = field(default_factory=dict)
    kept: frozenset[Var] = frozenset()
    counted: tuple[Loop, ...] = ()
    rebuilt: Mapping[Buffer, Rebuilt] = field(default_factory=dict)
    residuals: tuple[Residual, ...] = ()


@dataclass(frozen=True, slots=True)
class _Sources:
    """What values are recomputed from."""

    places: Places
    buffers: Mapping[Buffer, Rebuilt]

    def rebuilt(self, var: Var) -> Rebuilt | None:
        """The memory that a value is read of, if it must be written anew for it."""
        stmt = self.places.binders.get(var)
        if not isinstance(stmt, Let) or not isinstance(stmt.value, Load) or self.places.is_recomputable(var):
            return None
        found = self.buffers.get(stmt.value.buffer)
        return found if found is not None and is_rebuilt(self.places, found, stmt) else None

    def is_recomputable(self, var: Var) -> bool:
        """Whether a value can be had again from its operands."""
        return self.places.is_recomputable(var) or self.rebuilt(var) is not None

    def operands(self, var: Var) -> list[Var]:
        """The operands of a value that must be had again where it is recomputed."""
        stmt = self.places.binders[var]
        assert isinstance(stmt, Let)
        found: list[Expr] = []
        if isinstance(stmt.value, Compute):
            found += stmt.value.args
        elif isinstance(stmt.value, Load):
            found += stmt.value.indices
            memory = self.rebuilt(var)
            found += () if memory is None else memory.values(self.places)
        names = [one for one in found if isinstance(one, Var)]
        return [one for one in names if not (self.places.is_at_top(one) or self.places.is_index(one))]


def plan(places: Places, needed: Iterable[Var]) -> Plan:
    """What is kept and what is recomputed of the values that the return sweep reads."""
    wanted = [var for var in needed if not (places.is_at_top(var) or places.is_index(var))]

    sources = _Sources(places, find_rebuilt(places))
    kept = kept_values(wanted, sources.operands, sources.is_recomputable, lambda var: len(places.frames(var)))
    bound: set[Var] = set()
    rebuilt: dict[Buffer, Rebuilt] = {}
    pending = list(wanted)
    while pending:
        var = pending.pop()
        if var in bound:
            continue
        bound.add(var)
        if var not in kept:
            pending.extend(sources.operands(var))
            memory = sources.rebuilt(var)
            if memory is not None:
                rebuilt[memory.buffer] = memory
    in_order = sorted(bound, key=lambda var: places.of[places.binders[var]].order)
    counted = tuple(dict.fromkeys(loop for var in in_order if var in kept for loop in runs(places, var)))
    scopes: dict[tuple[Stmt, int] | None, list[Var]] = {}
    for var in in_order:
        scopes.setdefault(places.scope(var), []).append(var)
    residuals = tuple(_residual(sources, var, var in kept) for var in in_order)
    bodies = {key: tuple(vars_) for key, vars_ in scopes.items()}
    return Plan(bodies, frozenset(kept), counted, rebuilt, residuals)


def runs(places: Places, var: Var) -> tuple[Loop, ...]:
    """The loops around a kept value of which a run must be counted: the innermost one whose trip count is not
    known."""
    dynamic = [loop for loop in places.frames(var) if not is_static(places, loop)]
    return (dynamic[-1],) if dynamic else ()


def is_packed(places: Places, var: Var) -> bool:
    """Whether the entries of a kept value are bits: those of a bool that has several."""
    return var.dtype is BOOL and bool(places.frames(var))


def _residual(sources: _Sources, var: Var, is_kept: bool) -> Residual:
    memory, stmt = sources.rebuilt(var), sources.places.binders[var]
    span = getattr(stmt, "span", None)
    if is_kept:
        reason = "" if sources.is_recomputable(var) else sources.places.reason(var)
        why = reason or "fewer bytes than what it is computed from"
        entries: int | None = 1
        for loop in sources.places.frames(var):
            trip = _trip_count(loop)
            entries = None if entries is None or trip is None else entries * trip
        bits = 1 if is_packed(sources.places, var) else 8 * var.dtype.bytes
        return Residual(var.name, "kept", why, bits, entries, span)
    if memory is not None:
        reason = (
            "each run of a loop writes" if isinstance(memory.scope[0], For | While) else "a branch writes"
        )
        return Residual(var.name, "rebuilt", f"{reason} `{memory.buffer.name}`", span=span)
    return Residual(var.name, "recomputed", "nothing overwrites its operands", span=span)


def _trip_count(loop: Loop) -> int | None:
    """How often a loop runs, if that is a constant."""
    match loop:
        case For(lo=Const(value=lo), hi=Const(value=hi)):
            return max(int(hi) - int(lo), 0)
        case _:
            return None
