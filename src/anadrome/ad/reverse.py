"""Reverse mode: a function to the function of its adjoints, without a tape (SC22 §III).

A body's adjoint is its forward statements, then the return sweep in reverse order. Entering a nested body,
its forward statements are emitted again; in perfect nests they are dead and disappear. With y = f(x),

    x_adj ← x_adj + (∂f/∂x)ᵀ·y_adj

for every statement, and adjoints kept as sums of bracketed terms (`adjoints`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import assert_never

from anadrome.ad.activity import varied_variables
from anadrome.ad.adjoints import Term
from anadrome.ad.affine_reads import non_affine_arrays
from anadrome.ad.arrays import element, read_inside, sum_elements
from anadrome.ad.branch import reverse_if
from anadrome.ad.canonical import canonical
from anadrome.ad.custom import reverse_custom, run_custom
from anadrome.ad.isolated import is_lone, reverse_lone
from anadrome.ad.launch import reverse_launch
from anadrome.ad.library.table import reverse_library
from anadrome.ad.mixed.rewrite import mixed
from anadrome.ad.parfor import reverse_parfor
from anadrome.ad.partials import chain_product, partials_of
from anadrome.ad.sweep.loop import forward_loop, reverse_loop
from anadrome.ad.sweep.mutated import passed_on
from anadrome.ad.sweep.repeat import repeated
from anadrome.ad.sweep.residuals import inner_variables, keeping, residual, sweeps_of
from anadrome.ad.sweep.scope import Residuals, Scope, Sweeps
from anadrome.ad.sweep.undo import passed_back, step_back
from anadrome.ad.untaken import masked_variables
from anadrome.array_ir.build import Builder
from anadrome.array_ir.dead import remove_dead
from anadrome.array_ir.nodes import (
    AddTo,
    Apply,
    ArrayType,
    Atom,
    Body,
    Bounds,
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
    Print,
    Reshape,
    SumType,
    Update,
    Var,
    WithSum,
    i64,
)
from anadrome.array_ir.rewrite import Renaming
from anadrome.array_ir.walk import all_lets
from anadrome.config import Mixed as Mode
from anadrome.dtypes import I64
from anadrome.prims.record import Prim


def vjp(
    fn: Function, active: Sequence[bool], mode: Mode = "auto", notes: list[object] | None = None
) -> Function:
    """The vector-Jacobian product of `fn` with respect to its active parameters.

    Parameters of the result: those of `fn`, then a cotangent for each float result of `fn`. Results: those
    of `fn`, then the adjoint of each active parameter. Free variables of an open function are constants.
    `mode` says how scalar bodies are differentiated (`mixed`); what was chosen is added to `notes`.
    Raises `NotDifferentiable` with the line where a construct has no rule.
    """
    settled = mixed(canonical(fn, active), active, mode)
    if notes is not None:
        notes.extend(settled.choices)
    source = remove_dead(settled.function)
    wanted = [param for param, is_active in zip(source.params, active, strict=True) if is_active]
    builder = Builder()
    renaming = Renaming({})
    builder.bind(*renaming.all_bound(source.sizes))
    params = renaming.all_bound(source.params)
    builder.bind(*params)
    definitions = {let.targets[0]: let.expr for let in all_lets(source.body) if isinstance(let.expr, Apply)}
    varied = varied_variables(source.body, wanted) - settled.settled
    scope = Scope(builder, renaming, varied, definitions, masked_variables(source.body))
    scope.notes = scope.notes if notes is None else notes
    residuals = _forward(scope, source.body, False, {})
    results = renaming.atoms(source.body.results)
    known = {*renaming.atoms(source.sizes), *params}
    cotangents: list[Var] = []
    for result, value in zip(source.body.results, results, strict=True):
        if value.type.dtype.is_float:
            cotangent, seed = _cotangent(builder, value, known)
            cotangents.append(cotangent)
            scope.contribute_whole(result, seed)
    _backward(scope, source.body, residuals)
    adjoints = tuple(scope.take_or_zero(param) for param in wanted)
    body = builder.body((*results, *adjoints))
    reversed_ = remove_dead(Function(f"{fn.name}_vjp", (*params, *cotangents), body))
    scope.notes.extend(dict.fromkeys(sweeps_of(scope.kept, reversed_.body)))
    return reversed_


def _cotangent(builder: Builder, value: Atom, known: set[Atom]) -> tuple[Var, Atom]:
    """The parameter for the cotangent of a result, and the adjoint it is in the program.

    A size that the program computes is the caller's to bring: the parameter has a size of its own there,
    checked to be the computed one.
    """
    shape = value.type.shape
    given = tuple(
        Var("size", ArrayType(I64)) if isinstance(size, Var) and size not in known else size for size in shape
    )
    cotangent = Var("y_adj", ArrayType(value.type.dtype, given))
    builder.bind(cotangent)
    if given == shape:
        return cotangent, cotangent
    for size, actual in zip(shape, given, strict=True):
        if actual is not size and isinstance(actual, Var):
            builder.bind(actual)
            message = "a cotangent has size {1} where the result has {0}"
            builder.let(Check(builder.apply("eq", size, actual), "size", message, (size, actual)))
    return cotangent, builder.reshape(cotangent, shape)


# ---------------------------------------------------------------------------- the two sweeps
def _forward(scope: Scope, body: Body, is_repeated: bool, kept: Residuals) -> Residuals:
    """Emit the statements of a body; what carries derivatives keeps what its return sweep may need."""
    residuals: Residuals = dict(kept)
    mapping = scope.renaming.mapping
    varied = {
        target for let in body.lets if not scope.varied.isdisjoint(let.targets) for target in let.targets
    }
    for original, let in _to_run(body, is_repeated):
        scope.builder.span = let.span
        # A repeated loop has lost its accumulators, which may have been all that was varied in it.
        is_varied = any(target in varied for target in original.targets)
        if isinstance(let.expr, Loop) and is_varied:
            residuals.update(forward_loop(scope, original, let, is_repeated))
        elif isinstance(let.expr, Custom) and is_varied:
            residuals.update(run_custom(scope, let, let.expr))
        elif isinstance(let.expr, ParFor) and is_varied and is_repeated:
            is_known = any(var in kept for var in inner_variables(let.expr.body))
            keeper, found = (let, {}) if is_known else keeping(let)
            scope.builder.emit(scope.renaming.let(keeper))
            kept_here = {var: scope.renaming.variable(array) for var, array in found.items()}
            residuals.update(kept_here)
            why = "reading it is less work than computing it"
            words = [(residual(var, "kept", why, var, let.span), array) for var, array in kept_here.items()]
            scope.kept.append((let.span, words))
        else:
            scope.builder.emit(scope.renaming.let(let))
        mapping.update({target: kept[target] for target in let.targets if target in kept})
    return residuals


def _backward(scope: Scope, body: Body, residuals: Residuals) -> None:
    """The return sweep over the statements of a body."""
    for let in reversed(body.lets):
        scope.builder.span = let.span
        is_needed = _has_seed(scope, let) and any(target in scope.varied for target in let.targets)
        if scope.trail is not None:
            residuals.update(step_back(scope, let, is_needed, _SWEEPS))
        if is_needed:
            _with_accumulators(scope, let, residuals)


def _to_run(body: Body, is_repeated: bool) -> Iterator[tuple[Let, Let]]:
    """The statements of a run of a body: as the program has them, and as they run."""
    if not is_repeated:
        yield from ((let, let) for let in body.lets)
        return
    again = {target: let for let in repeated(body).lets for target in let.targets}
    for original in body.lets:
        found = next((again[target] for target in original.targets if target in again), None)
        if found is not None:
            yield original, found


_SWEEPS = Sweeps(_forward, _backward)


def _with_accumulators(scope: Scope, let: Let, residuals: Residuals) -> None:
    """Reverse one statement, with accumulators open on the arrays it reads at places that are not affine."""
    non_affine = non_affine_arrays(let, scope.varied, scope.definitions, scope.is_whole)
    # The adjoint of an array that a branch passes on is that of the result, changed in place.
    passed = passed_on(let, scope.adjoints)
    opened = [var for var in non_affine if var not in scope.tokens and var not in passed]
    if not opened:
        _statement(scope, let, residuals)
        return
    start = [scope.take_or_zero(var) for var in opened]
    leaving: list[tuple[Var, Term]] = []
    changed: list[Var] = []
    states = passed_back(scope, let)

    def body(builder: Builder, tokens: tuple[Var, ...]) -> Sequence[Atom]:
        inner = scope.nested(builder, {**scope.tokens, **dict(zip(opened, tokens, strict=True))})
        inner.trail = scope.trail
        for target in let.targets:
            if target in scope.adjoints:
                inner.adjoints[target] = scope.adjoints.pop(target)
        _statement(inner, let, residuals)
        values: list[Atom] = []
        for var, terms in inner.adjoints.items():
            leaving.extend((var, term) for term in terms)
            values.extend(term.value for term in terms)
        changed.extend(var for var, token in scope.tokens.items() if inner.tokens[var] is not token)
        further = [inner.tokens[var] for var in changed] + [inner.renaming.variable(var) for var in states]
        return [inner.tokens[var] for var in opened] + values + further

    starts = [value for value in start if isinstance(value, Var)]
    results = scope.builder.with_sum(starts, body)
    count = len(opened)
    for var, result in zip(opened, results, strict=False):
        scope.contribute_whole(var, result)
    for (var, term), value in zip(leaving, results[count:], strict=False):
        scope.contribute(var, Term(term.at, value, term.is_guarded))
    further = results[count + len(leaving) :]
    scope.tokens.update(zip(changed, further, strict=False))
    scope.renaming.mapping.update(zip(states, further[len(changed) :], strict=True))


def _has_seed(scope: Scope, let: Let) -> bool:
    return any(target in scope.adjoints or target in scope.token_adjoints for target in let.targets)


# ---------------------------------------------------------------------------- one statement
def _statement(scope: Scope, let: Let, residuals: Residuals) -> None:
    expr = let.expr
    match expr:
        case Apply():
            _apply(scope, let, expr)
        case Index(array=array, indices=indices):
            _index(scope, let.targets[0], array, scope.renaming.atoms(indices))
        case AddTo(token=token, indices=indices, value=value, bounds=bounds):
            _add_to(scope, let, token, indices, value, bounds)
        case ParFor() if is_lone(let, expr, scope.varied):
            reverse_lone(scope, let, expr, vjp)
        case ParFor():
            reverse_parfor(scope, let, expr, residuals, _SWEEPS)
        case Loop():
            reverse_loop(scope, let, expr, residuals, _SWEEPS)
        case If():
            reverse_if(scope, let, expr, _SWEEPS)
        case WithSum():
            _with_sum(scope, let, expr)
        case Custom():
            reverse_custom(scope, let, expr, residuals, _SWEEPS, vjp)
        case Update() | Full() | Literal() | Reshape() | Library():
            adjoints = [scope.take(target) for target in let.targets]
            if any(adjoint is not None for adjoint in adjoints):
                _whole(scope, let, expr, adjoints)
        case Check() | Print():
            pass
        case Launch():
            reverse_launch(scope, let, expr)
        case Collective():
            raise AssertionError("threads stand in kernels alone")
        case _:
            assert_never(expr)


def _apply(scope: Scope, let: Let, expr: Apply) -> None:
    """x_adj ← x_adj + ∂f/∂x · y_adj, with the partials of the table."""
    (target,) = let.targets
    builder = scope.builder
    y_adj = scope.take(target)
    if y_adj is None:
        return
    prim = expr.prim
    if prim.converts_to is not None:
        (arg,) = expr.args
        scope.contribute_whole(arg, builder.convert(y_adj, arg.type.dtype))
        return
    if prim.name == "select":
        condition, then, other = expr.args
        zero, test = builder.constant(0.0, y_adj), scope.new(condition)
        _part(scope, then, lambda: builder.select(test, y_adj, zero))
        _part(scope, other, lambda: builder.select(test, zero, y_adj))
        return
    args = scope.renaming.atoms(expr.args)
    is_varied = [arg in scope.varied for arg in expr.args]
    partials = partials_of(builder, prim, args, scope.new(target), is_varied, let.span)
    for arg, partial in zip(expr.args, partials, strict=True):
        if partial is not None:
            _part(scope, arg, _product(builder, prim, y_adj, partial, target in scope.masked))


def _product(
    builder: Builder, prim: Prim, change: Atom, partial: Atom, is_masked: bool
) -> Callable[[], Atom]:
    return lambda: chain_product(builder, prim, change, partial, is_masked)


def _element_of(builder: Builder, array: Atom, position: int) -> Callable[[], Atom]:
    return lambda: element(builder, array, (i64(position),))


def _part(scope: Scope, arg: Atom, value: Callable[[], Atom]) -> None:
    if isinstance(arg, Var) and arg in scope.varied:
        scope.contribute_whole(arg, value())


def _index(scope: Scope, target: Var, array: Var, places: tuple[Atom, ...]) -> None:
    """y = x[at]: the terms of y_adj, with `at` before their own brackets."""
    terms = scope.adjoints.pop(target, [])
    if array in scope.tokens and not all(term.at[: len(term.fixed)] == term.fixed for term in terms):
        scope.adjoints[target] = terms
        value = scope.take_or_zero(target)
        terms = [Term((None,) * len(value.type.shape), value)]
    for term in terms:
        scope.contribute(array, Term((*places, *term.at), term.value, term.is_guarded))


def _add_to(scope: Scope, let: Let, token: Var, at: tuple[Atom, ...], value: Atom, bounds: Bounds) -> None:
    """s' = s + [at]·v: v_adj = s_adj[at], and s_adj is the same before and after."""
    sum_adj = scope.token_adjoints.get(let.targets[0])
    if sum_adj is None:
        return
    scope.token_adjoints[token] = sum_adj
    if isinstance(value, Var) and value in scope.varied:
        places = scope.renaming.atoms(at)
        scope.contribute_whole(value, read_inside(scope.builder, sum_adj, places, bounds))


def _with_sum(scope: Scope, let: Let, expr: WithSum) -> None:
    """y = init + Σ contributions: init_adj = y_adj, and the accumulator's adjoint is y_adj."""
    count = len(expr.tokens)
    for target, result, init in zip(let.targets, expr.body.results, expr.init, strict=False):
        y_adj = scope.take(target)
        if y_adj is not None:
            assert isinstance(result, Var)
            scope.token_adjoints[result] = y_adj
            scope.contribute_whole(init, y_adj)
    for target, result in zip(let.targets[count:], expr.body.results[count:], strict=True):
        if isinstance(target.type, SumType):
            sum_adj = scope.token_adjoints.get(target)
            if sum_adj is not None and isinstance(result, Var):
                scope.token_adjoints[result] = sum_adj
            continue
        y_adj = scope.take(target)
        if y_adj is not None:
            scope.contribute_whole(result, y_adj)
    residuals = _forward(scope, expr.body, True, {})
    _backward(scope, expr.body, residuals)


def _whole(scope: Scope, let: Let, expr: Expr, adjoints: Sequence[Atom | None]) -> None:
    """Statements whose adjoints are taken as whole arrays."""
    builder = scope.builder
    match expr, adjoints[0]:
        case Update(array=array, indices=indices, value=value, bounds=bounds), Var() as y_adj:
            _update(scope, y_adj, array, indices, value, bounds)
        case Full(value=value), y_adj if y_adj is not None:
            scope.contribute_whole(value, sum_elements(builder, y_adj))
        case Literal(elements=elements), y_adj if y_adj is not None:
            for position, part in enumerate(elements):
                _part(scope, part, _element_of(builder, y_adj, position))
        case Reshape(array=array), Var() as y_adj:
            scope.contribute_whole(array, builder.reshape(y_adj, scope.type_of(array).shape))
        case Library(), _:
            _library(scope, let, expr, adjoints)
        case _:
            raise AssertionError(f"{type(expr).__name__} has its own rule")


def _update(
    scope: Scope, y_adj: Var, array: Var, indices: tuple[Atom, ...], value: Atom, bounds: Bounds
) -> None:
    """y = x with v at `at`: v_adj = y_adj[at]; x_adj = y_adj with zero at `at`."""
    builder = scope.builder
    places = scope.renaming.atoms(indices)
    _part(scope, value, lambda: read_inside(builder, y_adj, places, bounds))
    if array in scope.varied:
        row = y_adj.type.row(len(places)) if isinstance(y_adj.type, ArrayType) else None
        assert row is not None
        scope.contribute_whole(array, builder.update(y_adj, places, builder.zeros(row), bounds))


def _library(scope: Scope, let: Let, expr: Library, adjoints: Sequence[Atom | None]) -> None:
    call = Library(expr.operation, scope.renaming.atoms(expr.args), expr.attributes)
    results = scope.renaming.atoms(let.targets)
    for position, value in reverse_library(scope.builder, call, results, adjoints):
        _part(scope, expr.args[position], value)
