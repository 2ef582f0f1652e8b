"""Forward mode: a function to the function of its tangents (SC22 §III; Elliott 2018).

A tangent stands beside every value that depends on an active parameter, y_tan = Σ ∂f/∂x · x_tan; a yield
gets a second one for the tangents. Several directions at once are a trailing dimension of every tangent:
the partials are computed once, and only the products run over the directions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import assert_never

from anadrome.ad.activity import varied_variables
from anadrome.ad.arrays import element, move_first_axis
from anadrome.ad.canonical import canonical
from anadrome.ad.custom import floats, forward_custom, hold_closed
from anadrome.ad.isolated import forward_lone, is_lone
from anadrome.ad.launch import forward_launch, renamed
from anadrome.ad.library.table import forward_library
from anadrome.ad.partials import chain_product, partials_of
from anadrome.ad.reverse import vjp
from anadrome.array_ir.build import Builder
from anadrome.array_ir.dead import remove_dead
from anadrome.array_ir.launch import written_places
from anadrome.array_ir.nodes import (
    Accumulate,
    AddTo,
    Apply,
    ArrayType,
    Atom,
    Body,
    Carry,
    Check,
    Collective,
    Custom,
    Expr,
    Full,
    Function,
    If,
    Index,
    Launch,
    Let,
    Library,
    Literal,
    Loop,
    ParFor,
    Part,
    Print,
    Reduce,
    Reshape,
    Scan,
    Scatter,
    Size,
    Stack,
    SumType,
    Type,
    Update,
    Var,
    WithSum,
)
from anadrome.array_ir.rewrite import Renaming
from anadrome.errors import Span

_Combine = Callable[[Builder, Sequence[Atom]], Atom]
_Way = Callable[[Atom], Atom]
"""a tangent -> the direction of it that is at hand"""


def jvp(fn: Function, active: Sequence[bool], directions: Size | None = None) -> Function:
    """The Jacobian-vector product of `fn` with respect to its active parameters.

    Parameters of the result: those of `fn`, then a tangent of each active one. Results: those of `fn`, then a
    tangent of each float result. With `directions`, every tangent has that many directions in one more,
    trailing dimension. Free variables of an open function are constants.
    Raises `NotDifferentiable` with the line where a construct has no rule.
    """
    source = canonical(fn, active)
    wanted = [param for param, is_active in zip(source.params, active, strict=True) if is_active]
    builder = Builder()
    sweep = _Forward(varied_variables(source.body, wanted), Renaming({}), {}, directions)
    builder.bind(*sweep.renaming.all_bound(source.sizes))
    params = sweep.renaming.all_bound(source.params)
    builder.bind(*params)
    if isinstance(directions, Var):
        builder.bind(directions)
    tangents = tuple(sweep.fresh(var) for var in wanted)
    builder.bind(*tangents)
    sweep.statements(builder, source.body)
    results = sweep.renaming.atoms(source.body.results)
    result_tangents = tuple(
        sweep.tangent_or_zero(builder, atom) for atom in source.body.results if atom.type.dtype.is_float
    )
    body = builder.body((*results, *result_tangents))
    return remove_dead(Function(f"{fn.name}_jvp", (*params, *tangents), body))


@dataclass(frozen=True, slots=True)
class _Forward:
    """One forward sweep: the copy of the program so far and the tangents of its variables."""

    varied: set[Var]
    renaming: Renaming
    tangents: dict[Var, Atom]
    directions: Size | None

    # ------------------------------------------------------------------ tangents
    def fresh(self, var: Var) -> Var:
        """A new variable for the tangent of `var`."""
        tangent = Var(f"{var.name}_tan", self.type(var.type))
        self.tangents[var] = tangent
        return tangent

    def type(self, primal: Type) -> Type:
        """The type of a tangent: the primal's, with the directions as one more dimension."""
        new = self.renaming.type(primal)
        if self.directions is None:
            return new
        return type(new)(new.dtype, (*new.shape, self.directions))

    def tangent(self, atom: Atom) -> Atom | None:
        """The tangent of an atom of the original program; None where it is zero."""
        return self.tangents.get(atom) if isinstance(atom, Var) else None

    def tangent_or_zero(self, builder: Builder, atom: Atom) -> Atom:
        """The tangent, zeros where it is zero."""
        tangent = self.tangent(atom)
        return builder.zeros(self.type(atom.type)) if tangent is None else tangent

    def array_tangent(self, builder: Builder, var: Var) -> Var:
        """The tangent of an array."""
        tangent = self.tangent_or_zero(builder, var)
        assert isinstance(tangent, Var)
        return tangent

    def is_varied(self, atom: Atom) -> bool:
        """Whether an atom of the original program has a tangent."""
        return isinstance(atom, Var) and atom in self.varied

    # ------------------------------------------------------------------ statements
    def statements(self, builder: Builder, body: Body) -> None:
        """Append the statements of a body with their tangents."""
        for let in body.lets:
            builder.span = let.span
            self.statement(builder, let)

    def statement(self, builder: Builder, let: Let) -> None:
        """Append one statement with its tangents."""
        expr = let.expr
        if not any(target in self.varied for target in let.targets):
            builder.emit(self.renaming.let(let))
            return
        match expr:
            case ParFor() if is_lone(let, expr, self.varied):
                self.lone(builder, let, expr)
            case ParFor():
                self.parfor(builder, let, expr)
            case Loop():
                self.loop(builder, let, expr)
            case If():
                self.branch(builder, let, expr)
            case WithSum():
                self.with_sum(builder, let, expr)
            case Custom():
                self.custom(builder, let, expr)
            case Library():
                self.library(builder, let, expr)
            case Launch():
                self.launch(builder, let, expr)
            case _:
                builder.emit(self.renaming.let(let))
                (target,) = let.targets
                self.tangents[target] = self.simple(builder, target, expr, let.span)

    def simple(self, builder: Builder, target: Var, expr: Expr, span: Span | None) -> Atom:
        """The tangent of a statement without bodies."""
        renaming = self.renaming
        match expr:
            case Apply():
                return self.apply(builder, target, expr, span)
            case Index(array=array, indices=indices):
                return builder.index(self.array_tangent(builder, array), renaming.atoms(indices))
            case Update(array, indices, value, bounds):
                base, row = self.array_tangent(builder, array), self.tangent_or_zero(builder, value)
                return builder.update(base, renaming.atoms(indices), row, bounds)
            case Full(shape=shape, value=value, is_room=is_room):
                tangent = self.tangent_or_zero(builder, value)
                if is_room:
                    return builder.let_one(Full(renaming.atoms(shape), tangent, is_room=True))
                return builder.build(renaming.atoms(shape), lambda inner, at: tangent)
            case Literal(elements=elements):
                return builder.literal([self.tangent_or_zero(builder, part) for part in elements])
            case Reshape(array=array):
                shape = self.type(target.type).shape
                return builder.reshape(self.array_tangent(builder, array), shape)
            case AddTo(token, indices, value, bounds):
                sums, row = self.tangents[token], self.tangent_or_zero(builder, value)
                assert isinstance(sums, Var)
                return builder.add_to(sums, renaming.atoms(indices), row, bounds)
            case Check() | Print() | ParFor() | Loop() | If() | WithSum() | Custom() | Library():
                raise AssertionError("handled as a statement")
            case Launch() | Collective():
                raise AssertionError("a launch is a statement, and threads stand in kernels alone")
            case _:
                assert_never(expr)

    def apply(self, builder: Builder, target: Var, expr: Apply, span: Span | None) -> Atom:
        """y_tan = Σ ∂f/∂x · x_tan, with the partials of the table."""
        prim = expr.prim
        args = self.renaming.atoms(expr.args)
        if prim.converts_to is not None:
            wide = prim.converts_to
            return self.spread(builder, self.tangents_of(expr.args), lambda b, t: b.convert(t[0], wide))
        if prim.name == "select":
            return self.select(builder, expr, args)
        is_varied = [arg in self.tangents for arg in expr.args]
        partials = partials_of(builder, prim, args, self.renaming.atom(target), is_varied, span)
        pairs = [
            (partial, self.tangents[arg])
            for arg, partial in zip(expr.args, partials, strict=True)
            if partial is not None and isinstance(arg, Var) and arg in self.tangents
        ]

        def total(inner: Builder, tangents: Sequence[Atom]) -> Atom:
            terms = [
                # of a side that is not taken the partial that was found before is 0
                chain_product(inner, prim, partial, t, True)
                if prim.name == "linked"
                else chain_product(inner, prim, t, partial)
                for (partial, _), t in zip(pairs, tangents, strict=True)
            ]
            return inner.chain("add", terms)

        if not pairs:
            return builder.zeros(self.type(target.type))
        return self.spread(builder, [tangent for _, tangent in pairs], total)

    def tangents_of(self, atoms: Sequence[Atom]) -> list[Atom]:
        """The tangents of the atoms that have one."""
        return [tangent for atom in atoms if (tangent := self.tangent(atom)) is not None]

    def spread(self, builder: Builder, tangents: Sequence[Atom], combine: _Combine) -> Atom:
        """`combine` on scalar tangents, for each direction."""
        shape = () if self.directions is None else (self.directions,)
        return builder.build(
            shape, lambda inner, at: combine(inner, [element(inner, tangent, at) for tangent in tangents])
        )

    def select(self, builder: Builder, expr: Apply, args: tuple[Atom, ...]) -> Atom:
        """The tangent of the side that is chosen."""
        sides = [self.tangent_or_zero(builder, arg) for arg in expr.args[1:]]
        return self.spread(builder, sides, lambda inner, pair: inner.select(args[0], pair[0], pair[1]))

    def library(self, builder: Builder, let: Let, expr: Library) -> None:
        """A library call with its own rule, direction by direction."""
        builder.emit(self.renaming.let(let))
        call = Library(expr.operation, self.renaming.atoms(expr.args), expr.attributes)
        results = self.renaming.atoms(let.targets)
        known = [self.tangent(arg) for arg in expr.args]

        def push(inner: Builder, way: _Way) -> Sequence[Atom]:
            tangents = [None if tangent is None else way(tangent) for tangent in known]
            return forward_library(inner, call, results, tangents)

        tangents = every_direction(builder, push, self.directions)
        self.tangents.update(zip(let.targets, tangents, strict=True))

    def launch(self, builder: Builder, let: Let, expr: Launch) -> None:
        """A launch: of a kernel that does both with one direction; else of the kernel itself, and of that of
        the tangents direction by direction."""
        is_whole = self.directions is None
        if not is_whole:
            builder.emit(self.renaming.let(let))
        call = renamed(expr, self.renaming.atoms)
        known = [self.tangent(arg) for arg in expr.args]
        places = written_places(expr.kernel, len(expr.args))
        varied = {
            place: target for place, target in zip(places, let.targets, strict=True) if target in self.varied
        }

        def push(inner: Builder, way: _Way) -> Sequence[Atom]:
            tangents = [None if tangent is None else way(tangent) for tangent in known]
            primal, moved = forward_launch(inner, call, tangents, tuple(varied), is_whole=is_whole)
            if is_whole:
                self.renaming.mapping.update(
                    {target: primal[place] for place, target in zip(places, let.targets, strict=True)}
                )
            return moved

        tangents = every_direction(builder, push, self.directions)
        self.tangents.update(zip(varied.values(), tangents, strict=True))

    def custom(self, builder: Builder, let: Let, expr: Custom) -> None:
        """What the rule of a primal says; without a rule the primal itself, whose values are used at once."""
        if not expr.has_rule:
            self.statements(builder, expr.primal)
            for target, result in zip(let.targets, expr.primal.results, strict=True):
                self.renaming.mapping[target] = self.renaming.atom(result)
                if target in self.varied:
                    self.tangents[target] = self.tangent_or_zero(builder, result)
            return
        hold_closed(let, expr, self.varied)
        results, push = forward_custom(builder, self.renaming, expr, vjp, let.span)
        self.renaming.mapping.update(zip(let.targets, results, strict=True))
        given = [self.tangent_or_zero(builder, arg) for arg in expr.args]
        targets = [let.targets[position] for position in floats(let.targets)]
        tangents = every_direction(
            builder, lambda inner, way: push(inner, [way(tangent) for tangent in given]), self.directions
        )
        self.tangents.update(zip(targets, tangents, strict=True))

    # ------------------------------------------------------------------ constructs with bodies
    def body(self, builder: Builder, body: Body, keep: Sequence[bool]) -> tuple[Atom, ...]:
        """Append a nested body; its results, then the tangents of those that are kept."""
        self.statements(builder, body)
        tangents = [
            self.tangent_or_zero(builder, atom) for atom, k in zip(body.results, keep, strict=True) if k
        ]
        return (*self.renaming.atoms(body.results), *tangents)

    def assign(self, let: Let, keep: Sequence[bool], results: Sequence[Var]) -> None:
        """Name the results of a construct and the tangents behind them."""
        count = len(let.targets)
        self.renaming.mapping.update(zip(let.targets, results[:count], strict=True))
        kept = [target for target, k in zip(let.targets, keep, strict=True) if k]
        self.tangents.update(zip(kept, results[count:], strict=True))

    def branch(self, builder: Builder, let: Let, expr: If) -> None:
        """The same branch with the tangents of its results."""
        keep = [target in self.varied for target in let.targets]
        results = builder.branch(
            self.renaming.atom(expr.condition),
            lambda inner: self.body(inner, expr.then, keep),
            lambda inner: self.body(inner, expr.other, keep),
        )
        self.assign(let, keep, results)

    def loop(self, builder: Builder, let: Let, expr: Loop) -> None:
        """The loop with the tangents of its carried values carried as well."""
        renaming = self.renaming
        keep = [carried in self.varied for carried in expr.carried]
        tangent_init = [self.start(builder, atom) for atom, k in zip(expr.init, keep, strict=True) if k]
        init = (*renaming.atoms(expr.init), *tangent_init)
        trip = None if expr.trip is None else renaming.atom(expr.trip)
        carried = renaming.all_bound(expr.carried)
        tangents = tuple(self.fresh(var) for var, k in zip(expr.carried, keep, strict=True) if k)
        condition, inner = None, builder.child()
        if expr.condition is not None:
            test = builder.child()
            test.bind(*carried, *tangents)
            condition = test.body(test.inline(expr.condition, renaming.mapping))
        index = None if expr.index is None else renaming.fresh(expr.index)
        inner.bind(*carried, *tangents, *(() if index is None else (index,)))
        results = self.body(inner, expr.body, keep)
        body = inner.body(results)
        new = Loop((*carried, *tangents), init, body, index, trip, condition, expr.checkpoint)
        self.assign(let, keep, builder.let(new))

    def start(self, builder: Builder, atom: Atom) -> Atom:
        """The tangent with which a carried value starts; an accumulator's is open already."""
        if isinstance(atom.type, SumType):
            assert isinstance(atom, Var)
            return self.tangents[atom]
        return self.tangent_or_zero(builder, atom)

    def with_sum(self, builder: Builder, let: Let, expr: WithSum) -> None:
        """Accumulators with an accumulator of tangents beside each that varies."""
        renaming = self.renaming
        count = len(expr.tokens)
        keep = [target in self.varied for target in let.targets]
        starts = [self.array_tangent(builder, var) for var, k in zip(expr.init, keep, strict=False) if k]
        sums = tuple(renaming.variable(var) for var in expr.init)
        tokens = renaming.all_bound(expr.tokens)
        tangents = tuple(self.fresh(token) for token, k in zip(expr.tokens, keep, strict=False) if k)
        inner = builder.child()
        inner.bind(*tokens, *tangents)
        results = self.body(inner, expr.body, keep)
        total = len(expr.body.results)
        ordered = (*results[:count], *results[total : total + len(tangents)], *results[count:total])
        ordered += results[total + len(tangents) :]
        new = builder.let(WithSum((*sums, *starts), (*tokens, *tangents), inner.body(ordered)))
        shift = len(tangents)
        primals = (*new[:count], *new[count + shift : total + shift])
        self.assign(let, keep, (*primals, *new[count : count + shift], *new[total + shift :]))

    def parfor(self, builder: Builder, let: Let, expr: ParFor) -> None:
        """The parfor with a second yield for the tangents of each that varies."""
        extent = self.renaming.atom(expr.extent)
        index = self.renaming.fresh(expr.index)
        inner = builder.child()
        inner.bind(index)
        self.statements(inner, expr.body)
        parts = [self.renaming.part(part) for part in expr.parts]
        varied = [part for part, where in expr.slices() if let.targets[where.start] in self.varied]
        parts += [self.tangent_part(builder, inner, part) for part in varied]
        results = builder.let(ParFor.of(index, extent, inner.lets, parts))
        self.assign(let, [target in self.varied for target in let.targets], results)

    def lone(self, builder: Builder, let: Let, expr: ParFor) -> None:
        """A yield that stands alone: its own rule, direction by direction."""
        push = forward_lone(builder, self.renaming, let, expr, self.varied, jvp, self.directions is None)

        def one(inner: Builder, way: _Way) -> Sequence[Atom]:
            return push.tangents(inner, lambda var: way(self.tangents[var]) if var in self.tangents else None)

        tangents = every_direction(builder, one, self.directions)
        self.tangents.update(zip(push.targets, tangents, strict=True))

    def tangent_part(self, builder: Builder, inner: Builder, part: Part) -> Part:
        """The yield of the tangents: every rule that is left after `canonical` is linear."""
        match part.item:
            case Stack():
                return Stack.of(self.tangent_or_zero(inner, part.value))
            case Reduce(operator="add"):
                return Reduce.of("add", (self.tangent_or_zero(inner, part.value),))
            case Scan(operator="add", exclusive=exclusive):
                return Scan.of("add", (self.tangent_or_zero(inner, part.value),), exclusive)
            case Accumulate(operator="add", init=init, bounds=bounds):
                base, row = self.array_tangent(builder, init), self.tangent_or_zero(inner, part.value)
                return Accumulate.of("add", base, self.renaming.atoms(part.at), row, bounds)
            case Carry(source=source):
                assert isinstance(part.value, Var)
                start, end = self.tangents[source], self.tangents[part.value]
                assert isinstance(start, Var)
                return Carry.of(start, end)
            case Reduce() | Scan() | Accumulate() | Scatter():
                raise AssertionError("rewritten before the forward sweep, or standing alone")
            case _:
                assert_never(part.item)


def every_direction(
    builder: Builder, push: Callable[[Builder, _Way], Sequence[Atom]], directions: Size | None
) -> list[Atom]:
    """The tangents of the results; several directions are the trailing dimension of every tangent."""
    if directions is None:
        return list(push(builder, lambda tangent: tangent))

    def one(inner: Builder, index: Var) -> list[Part]:
        return [Stack.of(result) for result in push(inner, lambda t: _direction(inner, t, index))]

    stacked = builder.parfor(directions, one)
    return [move_first_axis(builder, array, len(array.type.shape) - 1) for array in stacked]


def _direction(builder: Builder, tangent: Atom, direction: Var) -> Atom:
    """One direction of the tangent of an array."""
    assert isinstance(tangent.type, ArrayType)
    shape = tangent.type.shape[:-1]
    return builder.build(shape, lambda inner, at: element(inner, tangent, (*at, direction)))
