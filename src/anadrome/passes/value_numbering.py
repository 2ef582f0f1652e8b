"""When two expressions are one (value numbering, Cocke & Schwartz 1970): a key that equal expressions share,
nested bodies included, and numbers for values that are known while a program is walked through.

Variables bound outside stand for themselves, variables bound inside for their number in order of binding, so
that two nests that were written apart have one key. Commutative operations do not tell their arguments'
order.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import assert_never

from anadrome.array_ir.nodes import (
    AddTo,
    Apply,
    Atom,
    Body,
    Check,
    Collective,
    Const,
    Custom,
    Expr,
    Full,
    If,
    Index,
    Lambda,
    Launch,
    Library,
    Literal,
    Loop,
    ParFor,
    Print,
    Reshape,
    Update,
    Var,
    WithSum,
    Yield,
)
from anadrome.array_ir.walk import fields_of

Numbers = dict[Var, int]


class Numbering:
    """Numbers of the values of scalar operations: equal ones have one, whoever has computed them."""

    def __init__(self) -> None:
        self.numbers: Numbers = {}
        self._ids: dict[Hashable, int] = {}

    def define(self, target: Var, expr: Apply | Index) -> int:
        """The number of what a statement computes of scalars alone."""
        number = self.numbers[target] = self.id(_expr(expr, self.numbers))
        return number

    def id(self, of: Hashable) -> int:
        """The number of something that is not told by an expression."""
        return self._ids.setdefault(of, len(self._ids))


def expression_key(expr: Expr) -> Hashable:
    """A key that another expression has exactly when it computes the same from the same variables.

    The bounds of an index are left out: where an equal index dominates, it has been proved or checked.
    """
    return _expr(expr, {})


def _atom(atom: Atom, inner: Numbers) -> Hashable:
    if isinstance(atom, Const):
        return atom.key
    return inner.get(atom, atom)


def _atoms(atoms: Iterable[Atom], inner: Numbers) -> Hashable:
    return tuple([_atom(atom, inner) for atom in atoms])


def _number(variables: Iterable[Var], inner: Numbers) -> None:
    for var in variables:
        inner[var] = len(inner)


def _body(body: Body, inner: Numbers, results: Iterable[Atom]) -> Hashable:
    lets: list[Hashable] = []
    for let in body.lets:
        lets.append(_expr(let.expr, inner))
        _number(let.targets, inner)
    return (tuple(lets), _atoms(results, inner))


def _expr(expr: Expr, inner: Numbers) -> Hashable:
    match expr:
        case Apply(prim=prim, args=args):
            if "commutative" in prim.facts:
                return (prim.name, frozenset([_atom(arg, inner) for arg in args]))
            return (prim.name, _atoms(args, inner))
        case Index(array=array, indices=indices):
            return ("Index", _atom(array, inner), _atoms(indices, inner))
        case Update(array=array, indices=indices, value=value, bounds=bounds):
            return ("Update", _atom(array, inner), _atoms(indices, inner), _atom(value, inner), bounds)
        case Full(shape=shape, value=value, is_room=is_room):
            return ("Full", _atoms(shape, inner), _atom(value, inner), is_room)
        case Literal(elements=elements):
            return ("Literal", _atoms(elements, inner))
        case Reshape(array=array, shape=shape):
            return ("Reshape", _atom(array, inner), _atoms(shape, inner))
        case AddTo(token=token, indices=indices, value=value, bounds=bounds):
            return ("AddTo", _atom(token, inner), _atoms(indices, inner), _atom(value, inner), bounds)
        case Check(condition=condition):
            return ("Check", _atom(condition, inner))
        case Print():
            return ("Print", expr)  # two are two
        case Launch() | Collective():
            return (expr,)  # two are two
        case Library(operation=operation, args=args, attributes=attributes):
            return ("Library", operation, _atoms(args, inner), attributes)
        case ParFor(index=index, extent=extent, body=body, yields=yields):
            outer = _atom(extent, inner)
            _number((index,), inner)
            items = tuple([_item(item, inner) for item in yields])
            return ("ParFor", outer, _body(body, inner, body.results), items)
        case Loop(carried, init, body, index, trip, condition, checkpoint):
            begin = (_atoms(init, inner), None if trip is None else _atom(trip, inner))
            _number(carried, inner)
            test = None if condition is None else _body(condition, inner, condition.results)
            _number(() if index is None else (index,), inner)
            return ("Loop", begin, test, _body(body, inner, body.results), checkpoint)
        case If(condition=condition, then=then, other=other):
            first = _body(then, inner, then.results)
            return ("If", _atom(condition, inner), first, _body(other, inner, other.results))
        case Custom():
            return ("Custom", expr)  # two calls are two: each is replaced by what its rules say
        case WithSum(init=init, tokens=tokens, body=body):
            start = _atoms(init, inner)
            _number(tokens, inner)
            return ("WithSum", start, _body(body, inner, body.results))
        case _:
            assert_never(expr)


def _item(item: Yield, inner: Numbers) -> Hashable:
    found: list[Hashable] = [type(item).__name__]
    for value in fields_of(item):
        match value:
            case Var():
                found.append(_atom(value, inner))
            case Lambda():
                found.append(_operator(value, inner))
            case _:
                found.append(value)
    return tuple(found)


def _operator(operator: Lambda, inner: Numbers) -> Hashable:
    identity = _atoms(operator.identity, inner)
    _number((*operator.left, *operator.right), inner)
    inverse = operator.inverse
    taken = None if inverse is None else _body(inverse, inner, inverse.results)
    return (identity, _body(operator.body, inner, operator.body.results), taken)
