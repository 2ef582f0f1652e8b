"""Rewriting a program into the constructs that have a rule of their own, without changing its values.

* A checked index becomes a `Check` and an index clamped into the dimension, so that everything derived
  from it stays inside memory; an index into a row becomes one index into the array behind it, unless that has
  been overwritten: whoever read it later would have the loop around store the whole of it.
* Extrema, of all iterations, of prefixes or of bins, become reads at the iteration that won (`extrema`).
* Products and operators of the user's own, scatters and histograms of products stand alone afterwards, in a
  parfor that reads its values from arrays; their rules work on those arrays (`fold`, `scatter`).
* Elementwise operators on rows become the same on columns (`interchange`).
* What is left (an operator on arrays, or one that reads varied arrays around it; scans whose Jacobian has
  large blocks; histograms by a lambda without an inverse) becomes a sequential loop over the stacked values
  (`sequential`).

Only yields that carry derivatives are touched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from anadrome.ad.activity import varied_variables
from anadrome.ad.folds.extrema import first_winner, read_at_winner
from anadrome.ad.folds.fold import has_fold_rule
from anadrome.ad.folds.inverse import has_inverse_rule
from anadrome.ad.folds.isolated import Lone, Pending, combined_bins, combined_rows, standing_alone
from anadrome.ad.sweep.repeat import repeated
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import (
    Accumulate,
    AddTo,
    Apply,
    Atom,
    Body,
    Bounds,
    Carry,
    Check,
    Collective,
    Const,
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
    Update,
    Var,
    WithSum,
    Yield,
    i64,
)
from anadrome.array_ir.operators import identity
from anadrome.array_ir.overwriting import overwriting
from anadrome.array_ir.rewrite import Renaming, silent, with_body
from anadrome.array_ir.walk import has_effect
from anadrome.errors.runtime import INDEX_MESSAGE


def canonical(fn: Function, active: Sequence[bool]) -> Function:
    """The function in the constructs that have derivative rules; sizes and parameters are fresh.

    It prints nothing: what a function prints is printed where it is called, and not by its derivatives.
    """
    fn = with_body(fn, silent(fn.body))
    params = [param for param, is_active in zip(fn.params, active, strict=True) if is_active]
    rewriter = _Rewriter(varied_variables(fn.body, params), overwriting(fn.body))
    builder = Builder()
    renaming = rewriter.renaming
    builder.bind(*renaming.all_bound(fn.sizes))
    new_params = renaming.all_bound(fn.params)
    builder.bind(*new_params)
    results = rewriter.statements(builder, fn.body)
    return Function(fn.name, new_params, builder.body(results))


class _Rewriter:
    """One rewriting of one function: the renaming so far, and which rows are parts of which arrays."""

    def __init__(self, varied: set[Var], ended: Mapping[Let, Sequence[Var]]) -> None:
        self.varied = varied
        self.ended = ended
        self.renaming = Renaming({})
        self.rows: dict[Var, Index] = {}
        self.held: dict[tuple[Atom, Size], Atom] = {}
        """A checked index and its size -> what it is held to."""
        self.loops = 0
        """How many sequential loops are around the statement."""

    def statements(self, builder: Builder, body: Body) -> tuple[Atom, ...]:
        """Append the rewritten statements of a body; its results in the copy."""
        for let in body.lets:
            builder.span = let.span
            self.statement(builder, let)
            if ended := {self.renaming.variable(var) for var in self.ended.get(let, ())}:
                self.rows = {row: read for row, read in self.rows.items() if read.array not in ended}
        return self.renaming.atoms(body.results)

    def statement(self, builder: Builder, let: Let) -> None:
        """Append one rewritten statement."""
        if isinstance(let.expr, ParFor):
            self.parfor(builder, let, let.expr)
            return
        expr = self.expression(builder, let.expr)
        builder.emit(Let(self.renaming.all_bound(let.targets), expr, let.span))
        if isinstance(expr, Index) and expr.indices:
            self.rows[self.renaming.variable(let.targets[0])] = expr

    def expression(self, builder: Builder, expr: Expr) -> Expr:
        """An expression in the copy; what it needs first is appended."""
        renaming = self.renaming
        match expr:
            case Index(array=array, indices=indices, bounds=bounds):
                base = renaming.variable(array)
                places = self.inside(builder, base, renaming.atoms(indices), bounds)
                outer = self.rows.get(base)
                if outer is not None:
                    return Index(outer.array, (*outer.indices, *places))
                return Index(base, places)
            case Update(array, indices, value, bounds):
                base = renaming.variable(array)
                places = self.inside(builder, base, renaming.atoms(indices), bounds)
                return Update(base, places, renaming.atom(value), _unchecked(bounds))
            case AddTo(token, indices, value, bounds):
                base = renaming.variable(token)
                places = self.inside(builder, base, renaming.atoms(indices), bounds)
                return AddTo(base, places, renaming.atom(value), _unchecked(bounds))
            case Loop():
                return self.loop(builder, expr)
            case If(condition=condition, then=then, other=other):
                return If(renaming.atom(condition), self.nested(builder, then), self.nested(builder, other))
            case WithSum(init=init, tokens=tokens, body=body):
                sums = tuple(renaming.variable(var) for var in init)
                new_tokens = renaming.all_bound(tokens)
                return WithSum(sums, new_tokens, self.nested(builder, body, new_tokens))
            case Custom(primal=primal) if not expr.has_rule:
                return Custom((), (), self.nested(builder, primal))
            case Apply() | Full() | Literal() | Reshape() | Check() | Print() | Custom() | Library():
                return renaming.expr(expr)
            case Launch() | Collective():
                return renaming.expr(expr)
            case ParFor():
                raise AssertionError("parfors are rewritten as statements")
            case _:
                assert_never(expr)

    def nested(self, builder: Builder, body: Body, bound: Sequence[Var] = ()) -> Body:
        """A nested body in the copy."""
        inner = builder.child()
        inner.bind(*bound)
        results = self.statements(inner, body)
        return inner.body(results)

    def loop(self, builder: Builder, expr: Loop) -> Loop:
        """A sequential loop in the copy."""
        renaming = self.renaming
        init = renaming.atoms(expr.init)
        trip = None if expr.trip is None else renaming.atom(expr.trip)
        carried = renaming.all_bound(expr.carried)
        condition = None if expr.condition is None else self.nested(builder, expr.condition, carried)
        index = None if expr.index is None else renaming.fresh(expr.index)
        bound = carried if index is None else (*carried, index)
        self.loops += 1
        body = self.nested(builder, expr.body, bound)
        self.loops -= 1
        return Loop(carried, init, body, index, trip, condition, expr.checkpoint)

    def inside(
        self, builder: Builder, base: Var, indices: tuple[Atom, ...], bounds: Bounds
    ) -> tuple[Atom, ...]:
        """Indices that are inside the array: checked ones are checked here and clamped."""
        if bounds is not Bounds.CHECKED:
            return indices
        return tuple(
            self.clamped(builder, index, size) for index, size in zip(indices, base.type.shape, strict=False)
        )

    def clamped(self, builder: Builder, index: Atom, size: Size) -> Atom:
        """A checked index held inside; one that was checked here or around is what it was held to then."""
        key = index, size
        known = self.held.get(key)
        if not isinstance(known, Var) or not builder.sees(known):
            known = self.held[key] = _clamped(builder, index, size)
        return known

    # ------------------------------------------------------------------ parfors
    def parfor(self, builder: Builder, let: Let, expr: ParFor) -> None:
        """A parfor in the copy; a hard yield becomes stacked values and what combines them afterwards."""
        renaming = self.renaming
        extent = renaming.atom(expr.extent)
        index = renaming.fresh(expr.index)
        inner = builder.child()
        inner.bind(index)
        self.statements(inner, expr.body)
        parts: list[Part] = []
        slices = list(expr.slices())
        hard: list[Pending | None] = []
        for part, where in slices:
            new = self.easy(inner, renaming.part(part))
            if has_rule(part.item) or not any(target in self.varied for target in let.targets[where]):
                hard.append(None)
                parts.append(new)
            else:
                pending = standing_alone(builder, inner, new, index, extent)
                hard.append(pending)
                parts += pending.stacks
        new_expr = ParFor.of(index, extent, inner.lets, parts)
        results = builder.let(new_expr) if parts or has_effect(new_expr) else ()
        remaining = iter(results)
        for (part, where), waiting in zip(slices, hard, strict=True):
            targets = let.targets[where]
            if waiting is None:
                finals: Sequence[Atom] = [next(remaining) for _ in targets]
            else:
                stacked = [next(remaining) for _ in waiting.stacks]
                finals = self.combined(builder, expr, part, waiting.filled(stacked))
            renaming.mapping.update(zip(targets, finals, strict=True))

    def easy(self, inner: Builder, part: Part) -> Part:
        """A yield with its checked places made safe."""
        match part.item:
            case Accumulate(operator=operator, init=init, bounds=bounds):
                places = self.inside(inner, init, part.at, bounds)
                return Accumulate.of(operator, init, places, part.value, _unchecked(bounds))
            case Scatter(init=init, bounds=bounds):
                places = self.inside(inner, init, part.at, bounds)
                return Scatter.of(init, places, part.value, _unchecked(bounds))
            case _:
                return part

    def combined(self, builder: Builder, old: ParFor, old_part: Part, lone: Lone) -> Sequence[Atom]:
        """The results of a hard yield from its operands as arrays."""
        value = old_part.value
        match old_part.item:
            case Reduce(operator=("min" | "max") as operator) if not value.type.shape:
                return (self.winner(builder, old, value, operator, lone.extent, lone.arrays[0]),)
            case Reduce() | Scan() if has_fold_rule(old_part, self.varied):
                return lone.emit(builder)
            case Reduce() | Scan():
                return combined_rows(builder, lone)
            case Accumulate(operator=operator) as old_item:
                is_ruled = isinstance(operator, str) or has_inverse_rule(old_item, value, self.varied)
                return (combined_bins(builder, lone, self.loops > 0, is_ruled),)
            case Scatter():
                return lone.emit(builder)
            case Stack() | Carry():
                raise AssertionError("stacks and carries have rules")
            case _:
                assert_never(old_part.item)

    def winner(
        self, builder: Builder, old: ParFor, old_value: Atom, operator: str, extent: Size, values: Var
    ) -> Atom:
        """The extremum, tied to the first iteration that reaches it, which computes its value again."""
        best, first = first_winner(builder, operator, values, extent)

        def again(inner: Builder) -> tuple[Atom, ...]:
            self.renaming.mapping[old.index] = first
            return self.statements(inner, repeated(old.body, (old_value,)))

        empty = identity(operator, values.type.dtype)
        (result,) = builder.branch(builder.apply("lt", first, extent), again, lambda inner: (empty,))
        return read_at_winner(builder, best, result)


def has_rule(item: Yield) -> bool:
    """Whether a yield is differentiated as it stands, whatever surrounds it."""
    match item:
        case Stack() | Carry():
            return True
        case Reduce(operator=operator) | Scan(operator=operator) | Accumulate(operator=operator):
            return operator == "add"
        case Scatter():
            return False
        case _:
            assert_never(item)


def _unchecked(bounds: Bounds) -> Bounds:
    return Bounds.PROVED if bounds is Bounds.CHECKED else bounds


def _clamped(builder: Builder, index: Atom, size: Size) -> Atom:
    if isinstance(index, Const) and isinstance(size, Const) and 0 <= index.value < size.value:
        return index
    inside = builder.apply("and", builder.apply("ge", index, i64(0)), builder.apply("lt", index, size))
    builder.let(Check(inside, "index", INDEX_MESSAGE, (index, size)))
    return builder.apply("select", inside, index, i64(0))
