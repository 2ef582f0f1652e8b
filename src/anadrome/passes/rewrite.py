"""What the passes share: replacing atoms in a program that keeps its variables.

A pass walks a program once and writes it again. Variables stay themselves unless a size in their type was
replaced; then a new variable takes their place. `Substitution` remembers what stands for what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import assert_never

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
    If,
    Index,
    JvpRule,
    Lambda,
    Launch,
    Let,
    Library,
    Literal,
    Loop,
    Operator,
    ParFor,
    Print,
    Reduce,
    Reshape,
    Scan,
    Scatter,
    Stack,
    SumType,
    Type,
    Update,
    Var,
    VjpRule,
    WithSum,
    Yield,
)
from anadrome.array_ir.walk import inner_operands, map_operands

BodyChange = Callable[[Body], Body]


class Substitution:
    """Atoms that stand for variables, looked through to the end when they are entered."""

    def __init__(self) -> None:
        self.mapping: dict[Var, Atom] = {}

    def replace(self, var: Var, atom: Atom) -> None:
        """Let `atom`, which is already rewritten, stand for `var` from here on."""
        self.mapping[var] = atom

    def atom(self, atom: Atom) -> Atom:
        """What stands for an atom."""
        return self.mapping.get(atom, atom) if isinstance(atom, Var) else atom

    def atoms(self, atoms: Iterable[Atom]) -> tuple[Atom, ...]:
        """What stands for several."""
        get = self.mapping.get
        return tuple([get(atom, atom) if isinstance(atom, Var) else atom for atom in atoms])

    def variable(self, var: Var) -> Var:
        """What stands for an array or an accumulator, which no constant can."""
        found = self.mapping.get(var, var)
        assert isinstance(found, Var), f"{var} is an array and was replaced by a constant"
        return found

    def variables(self, variables: Iterable[Var]) -> tuple[Var, ...]:
        """What stands for several arrays."""
        return tuple(self.variable(var) for var in variables)

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
        return tuple([self.bound(var) if var.type.shape else var for var in variables])

    # ------------------------------------------------------------------ whole pieces
    def let(self, let: Let) -> Let:
        """A statement with everything replaced, nested bodies included."""
        expr = self.expr(let.expr, self.body)
        return Let(self.all_bound(let.targets), expr, let.span)

    def body(self, body: Body) -> Body:
        """A body with everything replaced."""
        lets = tuple(self.let(let) for let in body.lets)
        return Body(lets, self.atoms(body.results))

    def expr(self, expr: Expr, change: BodyChange) -> Expr:
        """An expression with its operands replaced; `change` makes its bodies, and replaces in them."""
        match expr:
            case ParFor(index=index, extent=extent, body=body, yields=yields):
                outer = self.atom(extent)
                new = change(body)
                items = tuple(self.item(item, change) for item in yields)
                return ParFor(index, outer, new, items, expr.in_lanes)
            case Loop(carried, init, body, index, trip, condition, checkpoint):
                start = self.atoms(init)
                count = None if trip is None else self.atom(trip)
                bound = self.all_bound(carried)
                test = None if condition is None else change(condition)
                return Loop(bound, start, change(body), index, count, test, checkpoint)
            case If(condition=condition, then=then, other=other):
                return If(self.atom(condition), change(then), change(other))
            case WithSum(init=init, tokens=tokens, body=body):
                return WithSum(self.variables(init), self.all_bound(tokens), change(body))
            case Custom():
                return self.custom(expr, change)
            case Apply(prim=prim, args=args):
                return Apply(prim, self.atoms(args))
            case Index(array=array, indices=indices, bounds=bounds):
                return Index(self.variable(array), self.atoms(indices), bounds)
            case Update() | Full() | Literal() | Reshape() | AddTo() | Check() | Print() | Library():
                return map_operands(expr, self.atom)
            case Launch() | Collective():
                return map_operands(expr, self.atom)
            case _:
                assert_never(expr)

    def custom(self, expr: Custom, change: BodyChange) -> Custom:
        """A primal and its rules with everything replaced."""
        args, params, primal = self.atoms(expr.args), self.all_bound(expr.params), change(expr.primal)
        jvp, vjp = expr.jvp, expr.vjp
        if jvp is not None:
            jvp = JvpRule(self.all_bound(jvp.params), self.all_bound(jvp.tangents), change(jvp.body))
        if vjp is not None:
            inputs, forward = self.all_bound(vjp.params), change(vjp.forward)
            residuals, cotangents = self.all_bound(vjp.residuals), self.all_bound(vjp.cotangents)
            vjp = VjpRule(inputs, forward, residuals, cotangents, change(vjp.backward))
        return Custom(args, params, primal, jvp, vjp)

    def item(self, item: Yield, change: BodyChange) -> Yield:
        """A yield with everything replaced; the bodies of lambdas are changed by `change`."""
        match item:
            case Stack(value=value):
                return Stack(self.atom(value))
            case Reduce(operator=operator, values=values):
                return Reduce(self.operator(operator, change), self.atoms(values))
            case Scan(operator=operator, values=values, exclusive=exclusive):
                return Scan(self.operator(operator, change), self.atoms(values), exclusive)
            case Accumulate(operator, init, at, value, bounds):
                changed = self.operator(operator, change)
                return Accumulate(changed, self.variable(init), self.atoms(at), self.atom(value), bounds)
            case Scatter(init=init, at=at, value=value, bounds=bounds):
                return Scatter(self.variable(init), self.atoms(at), self.atom(value), bounds)
            case Carry(source=source, token=token):
                return Carry(self.variable(source), self.variable(token))
            case _:
                assert_never(item)

    def operator(self, operator: Operator, change: BodyChange) -> Operator:
        """A monoid with everything replaced."""
        if isinstance(operator, str):
            return operator
        identity = self.atoms(operator.identity)
        left, right = self.all_bound(operator.left), self.all_bound(operator.right)
        body = change(operator.body)
        inverse = None if operator.inverse is None else change(operator.inverse)
        return Lambda(left, right, body, identity, inverse)


def with_bodies(expr: Expr, change: BodyChange) -> Expr:
    """An expression with its bodies changed.

    What the yields of a parfor read of an iteration stands among the results of its body for the change, as
    `walk.bodies` shows it: it is needed at the end, and the yields read what has taken its place.
    """
    known = Substitution()
    if not isinstance(expr, ParFor):
        return known.expr(expr, change)
    taken = tuple(atom for item in expr.yields for atom in inner_operands(item))
    new = change(Body(expr.body.lets, taken))
    for before, after in zip(taken, new.results, strict=True):
        if isinstance(before, Var) and after is not before:
            known.replace(before, after)
    yields = tuple(known.item(item, change) for item in expr.yields)
    return ParFor(expr.index, expr.extent, Body(new.lets), yields, expr.in_lanes)
