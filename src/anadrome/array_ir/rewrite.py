"""Writing programs again with atoms in the place of variables: `Substitution`, and copies: `Renaming`.

A pass walks a program once and writes it again. Variables stay themselves unless a size in their type was
replaced; then a new variable takes their place. In a copy each variable that is bound is a new one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from anadrome.array_ir.nodes import (
    ArrayType,
    Atom,
    Body,
    Custom,
    Expr,
    Function,
    If,
    Lambda,
    Let,
    Loop,
    Operator,
    ParFor,
    Part,
    Print,
    SumType,
    Type,
    Var,
    WithSum,
    Yield,
)
from anadrome.array_ir.walk import fields_of, map_bodies, map_operands, operands

BodyChange = Callable[[Body], Body]
Node = TypeVar("Node")


def remade(node: Node, *fields: Any) -> Node:
    """The node with these as its first fields; itself where it has them already, so that who made a program
    again sees whether it is another one."""
    known: Any = node
    names: tuple[str, ...] = known.__match_args__
    for name, new in zip(names, fields, strict=False):
        old = getattr(node, name)
        if new is not old and not (isinstance(new, tuple | list) and _are_same(new, old)):
            break
    else:
        return node
    given = [tuple(one) if isinstance(one, list) else one for one in fields]
    return type(node)(*given, *[getattr(node, name) for name in names[len(fields) :]])


def _are_same(new: Sequence[object], old: Sequence[object]) -> bool:
    return len(new) == len(old) and all(map(operator.is_, new, old))


def silent(body: Body) -> Body:
    """A body without what it prints; itself where it prints nothing."""
    lets = [let for let in body.lets if not isinstance(let.expr, Print)]
    return remade(body, [remade(let, let.targets, map_bodies(let.expr, silent)) for let in lets])


class Substitution:
    """Atoms that stand for variables, which keep their names where they are bound."""

    def __init__(self, mapping: Mapping[Var, Atom] | None = None) -> None:
        self.mapping: dict[Var, Atom] = dict(mapping or {})

    def replace(self, var: Var, atom: Atom) -> None:
        """Let `atom`, which is already rewritten, stand for `var` from here on."""
        self.mapping[var] = atom

    def atom(self, atom: Atom) -> Atom:
        """What stands for an atom."""
        return self.mapping.get(atom, atom) if isinstance(atom, Var) else atom

    def atoms(self, atoms: Iterable[Atom]) -> tuple[Atom, ...]:
        """What stands for several."""
        mapping = self.mapping
        return tuple([mapping.get(atom, atom) if isinstance(atom, Var) else atom for atom in atoms])

    def variable(self, var: Var) -> Var:
        """What stands for an array or an accumulator, which no constant can."""
        found = self.mapping.get(var, var)
        assert isinstance(found, Var), f"{var} is an array and was replaced by a constant"
        return found

    def variables(self, variables: Iterable[Var]) -> tuple[Var, ...]:
        """What stands for several arrays."""
        return tuple([self.variable(var) for var in variables])

    def type(self, type_: Type) -> Type:
        """The type with its sizes replaced."""
        if not type_.shape:
            return type_
        mapping = self.mapping
        if not any(isinstance(size, Var) and size in mapping for size in type_.shape):
            return type_
        shape = self.atoms(type_.shape)
        return ArrayType(type_.dtype, shape) if isinstance(type_, ArrayType) else SumType(type_.dtype, shape)

    def bound(self, var: Var) -> Var:
        """The variable bound in the new program: itself unless a size in its type was replaced."""
        type_ = self.type(var.type)
        if type_ is var.type:
            return var
        new = Var(var.name, type_)
        self.mapping[var] = new
        return new

    def all_bound(self, variables: tuple[Var, ...]) -> tuple[Var, ...]:
        """The variables bound in the new program for several."""
        for var in variables:
            if var.type.shape:
                return tuple([self.bound(var) for var in variables])
        return variables

    # ------------------------------------------------------------------ whole pieces
    def let(self, let: Let) -> Let:
        """A statement with everything replaced, nested bodies included."""
        expr, targets = self.expr(let.expr), self.all_bound(let.targets)
        is_same = expr is let.expr and (targets is let.targets or _are_same(targets, let.targets))
        return let if is_same else Let(targets, expr, let.span)

    def body(self, body: Body) -> Body:
        """A body with everything replaced."""
        return remade(body, [self.let(let) for let in body.lets], self.atoms(body.results))

    def expr(self, expr: Expr, change: BodyChange | None = None) -> Expr:
        """An expression with its operands replaced; `change` makes its bodies, and replaces in them."""
        change = change or self.body
        match expr:
            case ParFor(index=index, extent=extent, body=body, yields=yields):
                outer = self.atom(extent)
                (counter,) = self.all_bound((index,))
                new = change(body)
                items = [self.item(item, change) for item in yields]
                return remade(expr, counter, outer, new, items)
            case Loop(carried, init, body, index, trip, condition):
                start = self.atoms(init)
                count = None if trip is None else self.atom(trip)
                bound = self.all_bound(carried)
                test = None if condition is None else change(condition)
                own = None if index is None else self.all_bound((index,))[0]
                return remade(expr, bound, start, change(body), own, count, test)
            case If(condition=condition, then=then, other=other):
                return remade(expr, self.atom(condition), change(then), change(other))
            case WithSum(init=init, tokens=tokens, body=body):
                return remade(expr, self.variables(init), self.all_bound(tokens), change(body))
            case Custom():
                return self.custom(expr, change)
            case _:
                return map_operands(expr, self.atom) if self.reaches(expr) else expr

    def reaches(self, expr: Expr) -> bool:
        """Whether an expression without bodies becomes another one."""
        mapping = self.mapping
        return any(atom in mapping for atom in operands(expr) if isinstance(atom, Var))

    def custom(self, expr: Custom, change: BodyChange) -> Custom:
        """A primal and its rules with everything replaced."""
        args, params, primal = self.atoms(expr.args), self.all_bound(expr.params), change(expr.primal)
        jvp, vjp = expr.jvp, expr.vjp
        if jvp is not None:
            jvp = remade(jvp, self.all_bound(jvp.params), self.all_bound(jvp.tangents), change(jvp.body))
        if vjp is not None:
            inputs, forward = self.all_bound(vjp.params), change(vjp.forward)
            residuals, cotangents = self.all_bound(vjp.residuals), self.all_bound(vjp.cotangents)
            vjp = remade(vjp, inputs, forward, residuals, cotangents, change(vjp.backward))
        return remade(expr, args, params, primal, jvp, vjp)

    def item(self, item: Yield, change: BodyChange | None = None) -> Yield:
        """A yield with what it reads around the parfor replaced; `change` makes the bodies of lambdas."""
        change = change or self.body
        new: list[object] = []
        for value in fields_of(item):
            match value:
                case Var():
                    new.append(self.variable(value))
                case Lambda():
                    new.append(self.operator(value, change))
                case _:
                    new.append(value)
        return remade(item, *new)

    def part(self, part: Part) -> Part:
        """A yield and what it takes with everything replaced."""
        return Part(self.item(part.item), self.atoms(part.takes))

    def operator(self, operator: Operator, change: BodyChange | None = None) -> Operator:
        """A monoid with everything replaced."""
        if isinstance(operator, str):
            return operator
        change = change or self.body
        identity = self.atoms(operator.identity)
        left, right = self.all_bound(operator.left), self.all_bound(operator.right)
        body = change(operator.body)
        inverse = None if operator.inverse is None else change(operator.inverse)
        return remade(operator, left, right, body, identity, inverse)


class Renaming(Substitution):
    """A copy of a program: every variable that it binds is fresh there, and so is every expression."""

    def reaches(self, expr: Expr) -> bool:
        """Whether an expression without bodies becomes another one: what prints twice is two."""
        return True

    def fresh(self, var: Var) -> Var:
        """A new variable that stands for `var` from here on."""
        new = Var(var.name, self.type(var.type))
        self.mapping[var] = new
        return new

    def all_bound(self, variables: tuple[Var, ...]) -> tuple[Var, ...]:
        """New variables for several."""
        return tuple([self.fresh(var) for var in variables])


def bind_residuals(forward: Body, count: int, bind: Callable[[int, Type], Var]) -> tuple[Var, ...]:
    """Variables, made by `bind(position, type)`, for what a forward rule results in behind `count` results.

    A size that the rule computes is the residual that it is, which stands before those it is a size of.
    """
    own = {target for let in forward.lets for target in let.targets}
    renaming = Renaming({})
    found: list[Var] = []
    for position, atom in enumerate(forward.results[count:]):
        found.append(bind(position, renaming.type(atom.type)))
        if atom in own and isinstance(atom, Var):
            renaming.replace(atom, found[-1])
    return tuple(found)


def copy_function(fn: Function) -> Function:
    """The function with every variable fresh, sizes included."""
    renaming = Renaming({})
    renaming.all_bound(fn.sizes)
    return Function(fn.name, renaming.all_bound(fn.params), renaming.body(fn.body))


def with_body(fn: Function, body: Body) -> Function:
    """The function with another body; itself where that is its own."""
    return remade(fn, fn.name, fn.params, body)
