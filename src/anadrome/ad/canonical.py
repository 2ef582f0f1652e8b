"""Rewriting a program into the constructs that have a rule of their own, without changing its values.

* A checked index becomes a `Check` and an index clamped into the dimension, so that everything derived
  from it stays inside memory; an index into a row becomes one index into the array behind it.
* `m = reduce min v`: the value is taken from the iteration that won (the smallest on ties, a NaN wins),
      w = min { i : v_i = m or v_i is NaN },   y = v_w
  so its derivative is one sparse term (SC22 §IV; Bruun et al. 2023, §3.2).
* Other reductions, scans, accumulations and scatters become sequential loops over the stacked values;
  `ad.loop` differentiates them exactly, in memory linear in the values.

Only yields that carry derivatives are touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from anadrome.ad.activity import varied_variables
from anadrome.ad.arrays import element
from anadrome.ad.repeat import repeated
from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import (
    TRUE,
    Accumulate,
    AddTo,
    Apply,
    Atom,
    Body,
    Bounds,
    Carry,
    Check,
    Const,
    Expr,
    Full,
    Function,
    If,
    Index,
    Let,
    Library,
    Literal,
    Loop,
    Operator,
    ParFor,
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
    yield_slices,
)
from anadrome.array_ir.operators import identity
from anadrome.array_ir.walk import Renaming, inner_operands


def canonical(fn: Function, active: Sequence[bool]) -> Function:
    """The function in the constructs that have derivative rules; sizes and parameters are fresh."""
    params = [param for param, is_active in zip(fn.params, active, strict=True) if is_active]
    rewriter = _Rewriter(varied_variables(fn.body, params))
    builder = Builder()
    renaming = rewriter.renaming
    builder.bind(*renaming.fresh_all(fn.sizes))
    new_params = renaming.fresh_all(fn.params)
    builder.bind(*new_params)
    results = rewriter.statements(builder, fn.body)
    return Function(fn.name, new_params, builder.body(results))


class _Rewriter:
    """One rewriting of one function: the renaming so far, and which rows are parts of which arrays."""

    def __init__(self, varied: set[Var]) -> None:
        self.varied = varied
        self.renaming = Renaming({})
        self.rows: dict[Var, Index] = {}

    def statements(self, builder: Builder, body: Body) -> tuple[Atom, ...]:
        """Append the rewritten statements of a body; its results in the copy."""
        for let in body.lets:
            builder.span = let.span
            self.statement(builder, let)
        return self.renaming.atoms(body.results)

    def statement(self, builder: Builder, let: Let) -> None:
        """Append one rewritten statement."""
        if isinstance(let.expr, ParFor):
            self.parfor(builder, let, let.expr)
            return
        expr = self.expression(builder, let.expr)
        builder.emit(Let(self.renaming.fresh_all(let.targets), expr, let.span))
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
                new_tokens = renaming.fresh_all(tokens)
                return WithSum(sums, new_tokens, self.nested(builder, body, new_tokens))
            case Apply() | Full() | Literal() | Reshape() | Check() | Library():
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
        carried = renaming.fresh_all(expr.carried)
        condition = None if expr.condition is None else self.nested(builder, expr.condition, carried)
        index = None if expr.index is None else renaming.fresh(expr.index)
        bound = carried if index is None else (*carried, index)
        return Loop(carried, init, self.nested(builder, expr.body, bound), index, trip, condition)

    def inside(
        self, builder: Builder, base: Var, indices: tuple[Atom, ...], bounds: Bounds
    ) -> tuple[Atom, ...]:
        """Indices that are inside the array: checked ones are checked here and clamped."""
        if bounds is not Bounds.CHECKED:
            return indices
        return tuple(
            _clamped(builder, index, size) for index, size in zip(indices, base.type.shape, strict=False)
        )

    # ------------------------------------------------------------------ parfors
    def parfor(self, builder: Builder, let: Let, expr: ParFor) -> None:
        """A parfor in the copy; a hard yield becomes stacked values and what combines them afterwards."""
        renaming = self.renaming
        extent = renaming.atom(expr.extent)
        index = renaming.fresh(expr.index)
        inner = builder.child()
        inner.bind(index)
        self.statements(inner, expr.body)
        hard = [
            not has_rule(item) and any(target in self.varied for target in let.targets[where])
            for item, where in yield_slices(expr.yields)
        ]
        yields: list[Yield] = []
        for item, is_hard in zip(expr.yields, hard, strict=True):
            new = self.easy(inner, renaming.item(item))
            yields += [Stack(atom) for atom in inner_operands(new)] if is_hard else [new]
        results = iter(builder.let(ParFor(index, extent, inner.body(), tuple(yields))))
        for (item, where), is_hard in zip(yield_slices(expr.yields), hard, strict=True):
            targets = let.targets[where]
            if is_hard:
                new = renaming.item(item)
                stacked = [next(results) for _ in inner_operands(new)]
                finals = self.combined(builder, expr, item, new, extent, stacked)
            else:
                finals = [next(results) for _ in targets]
            renaming.mapping.update(zip(targets, finals, strict=True))

    def easy(self, inner: Builder, item: Yield) -> Yield:
        """A yield with its checked places made safe."""
        match item:
            case Accumulate(operator, init, at, value, bounds):
                places = self.inside(inner, init, at, bounds)
                return Accumulate(operator, init, places, value, _unchecked(bounds))
            case Scatter(init=init, at=at, value=value, bounds=bounds):
                return Scatter(init, self.inside(inner, init, at, bounds), value, _unchecked(bounds))
            case _:
                return item

    def combined(
        self,
        builder: Builder,
        old: ParFor,
        old_item: Yield,
        item: Yield,
        extent: Size,
        stacked: Sequence[Var],
    ) -> Sequence[Atom]:
        """The results of a hard yield from its stacked operands."""
        match item:
            case Reduce(operator=("min" | "max") as operator) if len(stacked[0].type.shape) == 1:
                assert isinstance(old_item, Reduce)
                return (self.winner(builder, old, old_item.values[0], operator, extent, stacked[0]),)
            case Reduce(operator=operator):
                return _reduce(builder, operator, extent, stacked)
            case Scan(operator=operator, exclusive=exclusive):
                return _scan(builder, operator, extent, stacked, exclusive)
            case Accumulate(operator=operator, init=init, bounds=bounds):
                return (_accumulate(builder, operator, init, extent, stacked, bounds),)
            case Scatter(init=init, bounds=bounds):
                return (_scatter(builder, init, extent, stacked, bounds),)
            case Stack() | Carry():
                raise AssertionError("stacks and carries have rules")
            case _:
                assert_never(item)

    def winner(
        self, builder: Builder, old: ParFor, old_value: Atom, operator: str, extent: Size, values: Var
    ) -> Atom:
        """The value of the first iteration that reaches the extremum, computed by that iteration again."""

        def primal(inner: Builder, index: Var) -> Atom:
            return inner.apply("stop_gradient", inner.index(values, (index,)))

        best = builder.reduce(operator, extent, primal)

        def candidate(inner: Builder, index: Var) -> Atom:
            value = inner.index(values, (index,))
            wins = inner.apply("or", inner.apply("eq", value, best), inner.apply("isnan", value))
            return inner.select(wins, index, extent)

        first = builder.reduce("min", extent, candidate)

        def again(inner: Builder) -> tuple[Atom, ...]:
            self.renaming.mapping[old.index] = first
            return self.statements(inner, repeated(old.body, (old_value,)))

        empty = identity(operator, values.type.dtype)
        (result,) = builder.branch(builder.apply("lt", first, extent), again, lambda inner: (empty,))
        return result


def has_rule(item: Yield) -> bool:
    """Whether a yield is differentiated as it stands."""
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
    message = "index {0} is out of range for a dimension of size {1}"
    builder.let(Check(inside, "index", message, (index, size)))
    return builder.apply("max", builder.apply("min", index, builder.size("sub", size, i64(1))), i64(0))


# ---------------------------------------------------------------------------- sequential forms
def _combine(
    builder: Builder, operator: Operator, left: Sequence[Atom], right: Sequence[Atom]
) -> tuple[Atom, ...]:
    """left ⊕ right; a named operator works elementwise on arrays."""
    if isinstance(operator, str):
        first, second = left[0], right[0]
        return (
            builder.build(
                first.type.shape,
                lambda inner, at: inner.apply(
                    operator, element(inner, first, at), element(inner, second, at)
                ),
            ),
        )
    sides = dict(zip((*operator.left, *operator.right), (*left, *right), strict=True))
    return builder.inline(operator.body, sides)


def _identity(builder: Builder, operator: Operator, stacked: Sequence[Var]) -> list[Atom]:
    if not isinstance(operator, str):
        return list(operator.identity)
    row = stacked[0].type
    return [builder.full(row.shape[1:], identity(operator, row.dtype))]


def _rows(builder: Builder, arrays: Sequence[Var], index: Var) -> list[Atom]:
    return [builder.index(array, (index,)) for array in arrays]


def _reduce(builder: Builder, operator: Operator, extent: Size, stacked: Sequence[Var]) -> tuple[Var, ...]:
    return builder.loop(
        extent,
        _identity(builder, operator, stacked),
        lambda inner, index, carried: _combine(inner, operator, carried, _rows(inner, stacked, index)),
    )


def _scan(
    builder: Builder, operator: Operator, extent: Size, stacked: Sequence[Var], exclusive: bool
) -> tuple[Var, ...]:
    count = len(stacked)
    start = _identity(builder, operator, stacked)
    outputs = [builder.full(array.type.shape, number(0, array.type.dtype)) for array in stacked]

    def step(inner: Builder, index: Var, carried: tuple[Var, ...]) -> Sequence[Atom]:
        before, arrays = carried[:count], carried[count:]
        after = _combine(inner, operator, before, _rows(inner, stacked, index))
        written = before if exclusive else after
        return (
            *after,
            *(inner.update(array, (index,), row) for array, row in zip(arrays, written, strict=True)),
        )

    return builder.loop(extent, [*start, *outputs], step)[count:]


def _accumulate(
    builder: Builder, operator: Operator, init: Var, extent: Size, stacked: Sequence[Var], bounds: Bounds
) -> Var:
    *places, values = stacked

    def step(inner: Builder, index: Var, carried: tuple[Var, ...]) -> Sequence[Atom]:
        (array,) = carried
        at = _rows(inner, places, index)

        def write(branch: Builder) -> tuple[Atom, ...]:
            value = branch.index(values, (index,))
            (row,) = _combine(branch, operator, (branch.index(array, at),), (value,))
            return (branch.update(array, at, row),)

        if bounds is Bounds.PROVED:
            return write(inner)
        return inner.branch(is_inside(inner, at, array), write, lambda _: (array,))

    (result,) = builder.loop(extent, (init,), step)
    return result


def _scatter(builder: Builder, init: Var, extent: Size, stacked: Sequence[Var], bounds: Bounds) -> Var:
    *places, values = stacked

    def step(inner: Builder, index: Var, carried: tuple[Var, ...]) -> Sequence[Atom]:
        at = _rows(inner, places, index)
        return (inner.update(carried[0], at, inner.index(values, (index,)), bounds),)

    (result,) = builder.loop(extent, (init,), step)
    return result


def is_inside(builder: Builder, at: Sequence[Atom], array: Var) -> Atom:
    """Whether every index is inside its dimension."""
    inside: Atom = TRUE
    for index, size in zip(at, array.type.shape, strict=False):
        low, high = builder.apply("ge", index, i64(0)), builder.apply("lt", index, size)
        both = builder.apply("and", low, high)
        inside = both if inside is TRUE else builder.apply("and", inside, both)
    return inside
