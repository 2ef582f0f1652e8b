"""What the reverse sweep knows in one body: the copy of the program so far, adjoints, open accumulators."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from anadrome.ad.adjoints import Term, dense_term, materialise
from anadrome.ad.sweep.mutated import BodyPlan, LoopPlan
from anadrome.ad.sweep.residuals import Kept
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import ArrayType, Atom, Body, Expr, Loop, Size, SumType, Var
from anadrome.array_ir.rewrite import Renaming
from anadrome.errors.base import Span


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """How the iterations of a loop are taken together.

    `trip`, `length` and `count` are variables of the program that is differentiated for the number of
    iterations, of those in a block, and of blocks. `reserved` are the bytes of the log of a block beyond its
    first iteration, in the new program.
    """

    trip: Var
    length: Var
    count: Var
    reserved: Size


@dataclass(frozen=True, slots=True, eq=False)
class Snapshots:
    """What the forward run of a loop with a checkpoint policy leaves for its return sweep.

    A stack with room for `slots` states: `stores` hold one each at places 0 to `top`, and `places` the
    iterations at whose entry they were taken. The loop makes `trip` iterations; where `blocks` says how
    they are taken together, these are blocks.
    """

    trip: Size
    top: Atom
    places: Var
    stores: tuple[Var, ...]
    blocks: Blocks | None

    @property
    def slots(self) -> Size:
        """How many states there is room for."""
        return self.places.type.shape[0]


@dataclass(frozen=True, slots=True, eq=False)
class Trail:
    """The way back of the states that pass through a body: its plan, the logs, and the place in them that
    belongs to the execution being reversed."""

    plan: BodyPlan
    logs: Mapping[Var, Atom]
    place: Atom

    def read(self, builder: Builder, key: Var) -> Atom:
        """What a log of this body holds of the execution."""
        log = self.logs[key]
        assert isinstance(log, Var)
        return builder.index(log, (self.place,))


@dataclass(slots=True, eq=False)
class Scope:
    """One body of the program being differentiated, as its adjoint is written.

    Keys of every table are variables of the original program; values belong to the new one.
    `renaming`, `token_adjoints`, `snapshots`, `plans` and `kept` are shared by all scopes, `adjoints`,
    `tokens` and `trail` (of the states that pass through it) are this body's own.
    """

    builder: Builder
    renaming: Renaming
    varied: set[Var]
    definitions: Mapping[Var, Expr]
    masked: Collection[Var] = ()
    token_adjoints: dict[Var, Atom] = field(default_factory=dict)
    adjoints: dict[Var, list[Term]] = field(default_factory=dict)
    tokens: dict[Var, Var] = field(default_factory=dict)
    snapshots: dict[Var, Snapshots] = field(default_factory=dict)
    plans: dict[Loop, LoopPlan] = field(default_factory=dict)
    trail: Trail | None = None
    is_in_loop: bool = False
    is_in_parfor: bool = False
    kept: list[tuple[Span | None, Sequence[Kept]]] = field(default_factory=list)
    """What forward runs of loops keep, in words."""
    notes: list[object] = field(default_factory=list)
    """What rules have to say of the program, for `explain`."""

    def nested(self, builder: Builder, tokens: Mapping[Var, Var]) -> Scope:
        """The scope of a body nested here, with accumulators open around it."""
        return Scope(
            builder,
            self.renaming,
            self.varied,
            self.definitions,
            self.masked,
            self.token_adjoints,
            tokens=dict(tokens),
            snapshots=self.snapshots,
            plans=self.plans,
            is_in_loop=self.is_in_loop,
            is_in_parfor=self.is_in_parfor,
            kept=self.kept,
            notes=self.notes,
        )

    def contribute(self, atom: Atom, term: Term) -> None:
        """Add a term to the adjoint of an atom of the original program, if it carries one."""
        if not isinstance(atom, Var) or atom not in self.varied:
            return
        if atom in self.tokens:
            fixed = term.fixed
            assert term.at[: len(fixed)] == fixed, "accumulators take leading indices"
            self.tokens[atom] = self.builder.add_to(self.tokens[atom], fixed, term.value, term.bounds)
            return
        self.adjoints.setdefault(atom, []).append(term)

    def contribute_whole(self, atom: Atom, value: Atom) -> None:
        """Add a value of the atom's own type to its adjoint."""
        self.contribute(atom, dense_term(value))

    def is_whole(self, var: Var) -> bool:
        """Whether the adjoint of an array is one array already, in a loop that takes it from iteration to
        iteration."""
        return self.is_in_loop and any(term.is_dense for term in self.adjoints.get(var, ()))

    def take(self, var: Var) -> Atom | None:
        """The adjoint of a variable as one array, which is not asked for again; None where it is zero."""
        terms = self.adjoints.pop(var, None)
        if not terms:
            return None
        return materialise(self.builder, self.type_of(var), terms)

    def take_or_zero(self, var: Var) -> Atom:
        """The adjoint as one array, zeros where there is none."""
        adjoint = self.take(var)
        return self.builder.zeros(self.type_of(var)) if adjoint is None else adjoint

    def type_of(self, var: Var) -> ArrayType:
        """The array type of a variable in the new program (of an accumulator: the type of its sum)."""
        type_ = self.renaming.type(var.type)
        return type_.array if isinstance(type_, SumType) else type_

    def new(self, atom: Atom) -> Atom:
        """The atom in the new program."""
        return self.renaming.atom(atom)

    def new_size(self, size: Size) -> Size:
        """A size in the new program."""
        return self.renaming.atom(size)


Residuals = dict[Var, Atom]
"""What a forward sweep saved: carried variable -> array of its values; result of a loop -> its trip count;
variable inside a parfor -> array of its values."""


@dataclass(frozen=True, slots=True)
class Sweeps:
    """The two halves of the reverse mode of a body, for the rules of the constructs that hold bodies."""

    forward: Callable[[Scope, Body, bool, Residuals], Residuals]
    """(scope, body, is_repeated, kept) -> residuals: emit the statements; a repeated body leaves out checks.
    What an earlier run kept of it is read instead of computed."""
    backward: Callable[[Scope, Body, Residuals], None]
    """(scope, body, residuals): the return sweep, from the adjoints that stand in the scope."""
