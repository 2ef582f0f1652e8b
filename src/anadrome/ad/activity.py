"""Which variables carry derivatives: the floats that depend on an active input (forward data flow).

Everything else (integers, sizes, conditions, inactive inputs and what follows from them) has neither a
tangent nor an adjoint.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from anadrome.array_ir.launch import written_places
from anadrome.array_ir.nodes import (
    AddTo,
    Apply,
    Atom,
    Body,
    Check,
    Collective,
    Custom,
    Expr,
    Full,
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
    Update,
    Var,
    WithSum,
)
from anadrome.array_ir.walk import free_variables, operator_of, outer_operands
from anadrome.library.table import LIBRARY


def varied_variables(body: Body, active: Iterable[Var]) -> set[Var]:
    """Every float variable bound in the body or among `active` that depends on an active one."""
    varied = {var for var in active if var.type.dtype.is_float}
    _body(body, varied)
    return varied


def _body(body: Body, varied: set[Var]) -> None:
    for let in body.lets:
        _let(let, varied)


def _let(let: Let, varied: set[Var]) -> None:
    for target, is_varied in zip(let.targets, _results(let.expr, varied), strict=True):
        if is_varied and target.type.dtype.is_float:
            varied.add(target)


def _any(atoms: Iterable[Atom], varied: set[Var]) -> bool:
    return any(atom in varied for atom in atoms if isinstance(atom, Var))


def _results(expr: Expr, varied: set[Var]) -> list[bool]:
    match expr:
        case Apply(prim=prim, args=args):
            return [not prim.zero_derivative and _any(args, varied)]
        case Index(array=array):
            return [array in varied]
        case Update(array=array, value=value):
            return [_any((array, value), varied)]
        case Full(value=value):
            return [_any((value,), varied)]
        case Literal(elements=elements):
            return [_any(elements, varied)]
        case Reshape(array=array):
            return [array in varied]
        case AddTo(token=token, value=value):
            return [_any((token, value), varied)]
        case Library(operation=operation, args=args):
            row = LIBRARY[operation]
            return [_any(row.read(args), varied)] * len(row.results)
        case Check() | Print():
            return []
        case Launch(args=args):
            is_varied = _any(args, varied)
            places = written_places(expr.kernel, len(args))
            return [is_varied and args[place].type.dtype.is_float for place in places]
        case Collective():
            raise AssertionError("threads stand in kernels alone")
        case Custom():
            return _custom(expr, varied)
        case If(then=then, other=other):
            _body(then, varied)
            _body(other, varied)
            pairs = zip(then.results, other.results, strict=True)
            return [_any(pair, varied) for pair in pairs]
        case ParFor():
            return _parfor(expr, varied)
        case Loop():
            return _loop(expr, varied)
        case WithSum():
            return _with_sum(expr, varied)
        case _:
            assert_never(expr)


def _custom(expr: Custom, varied: set[Var]) -> list[bool]:
    """A rule may give every result a derivative, also where the primal has none."""
    if expr.has_rule:
        is_varied = _any((*expr.args, *free_variables(expr.primal)), varied)
        return [is_varied] * len(expr.primal.results)
    _body(expr.primal, varied)
    return [_any((atom,), varied) for atom in expr.primal.results]


def _parfor(expr: ParFor, varied: set[Var]) -> list[bool]:
    _body(expr.body, varied)
    results: list[bool] = []
    for part, where in expr.slices():
        is_varied = _any((*outer_operands(part.item), *part.takes), varied)
        operator = operator_of(part.item)
        if operator is not None:  # which may read what varies around it
            _body(operator.body, varied)
            is_varied = is_varied or _any(operator.body.results, varied)
        results += [is_varied] * (where.stop - where.start)
    return results


def _loop(expr: Loop, varied: set[Var]) -> list[bool]:
    carried_varied = [_any((atom,), varied) for atom in expr.init]
    while True:
        varied.update(
            var for var, is_varied in zip(expr.carried, carried_varied, strict=True)
            if is_varied and var.type.dtype.is_float
        )  # fmt: skip
        _body(expr.body, varied)
        after = [
            before or _any((result,), varied)
            for before, result in zip(carried_varied, expr.body.results, strict=True)
        ]
        if after == carried_varied:
            return after
        carried_varied = after


def _with_sum(expr: WithSum, varied: set[Var]) -> list[bool]:
    """An accumulator varies from its opening on when anything that varies is added to it."""
    varied.update(token for start, token in zip(expr.init, expr.tokens, strict=True) if start in varied)
    _body(expr.body, varied)
    results = [_any((atom,), varied) for atom in expr.body.results]
    late = [token for token, is_varied in zip(expr.tokens, results, strict=False) if is_varied]
    if any(token not in varied for token in late):
        varied.update(late)
        _body(expr.body, varied)
        results = [_any((atom,), varied) for atom in expr.body.results]
    return results
