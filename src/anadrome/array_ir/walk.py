"""Going over programs: operands, nested bodies, free variables, renaming copies, dead code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
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
    Function,
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


# ---------------------------------------------------------------------------- reading
def operands(expr: Expr) -> tuple[Atom, ...]:
    """The atoms an expression reads itself, in order; nested bodies and yields are not entered."""
    match expr:
        case Apply(args=args) | Library(args=args) | Custom(args=args):
            return args
        case Index(array=array, indices=indices):
            return (array, *indices)
        case Update(array=array, indices=indices, value=value):
            return (array, *indices, value)
        case Full(shape=shape, value=value):
            return (*shape, value)
        case Literal(elements=elements):
            return elements
        case Reshape(array=array, shape=shape):
            return (array, *shape)
        case ParFor(extent=extent, yields=yields):
            return (extent, *(atom for item in yields for atom in outer_operands(item)))
        case Loop(init=init, trip=trip):
            return init if trip is None else (*init, trip)
        case If(condition=condition):
            return (condition,)
        case WithSum(init=init):
            return init
        case AddTo(token=token, indices=indices, value=value):
            return (token, *indices, value)
        case Check(condition=condition, values=values):
            return (condition, *values)
        case Print(values=values):
            return values
        case Launch(grid=grid, block=block, shared=shared, args=args):
            return (*grid, *block, shared, *args)
        case Collective(arrays=arrays, args=args, memory=memory):
            return (*arrays, *args, *(() if memory is None else memory.shape))
        case _:
            assert_never(expr)


def outer_operands(item: Yield) -> tuple[Atom, ...]:
    """What a yield reads around its parfor."""
    match item:
        case Accumulate(init=init) | Scatter(init=init):
            return (init,)
        case Carry(source=source):
            return (source,)
        case Stack() | Reduce() | Scan():
            return ()
        case _:
            assert_never(item)


def inner_operands(item: Yield) -> tuple[Atom, ...]:
    """What a yield reads of each iteration."""
    match item:
        case Stack(value=value):
            return (value,)
        case Reduce(values=values) | Scan(values=values):
            return values
        case Accumulate(at=at, value=value) | Scatter(at=at, value=value):
            return (*at, value)
        case Carry(token=token):
            return (token,)
        case _:
            assert_never(item)


def bodies(expr: Expr) -> tuple[tuple[tuple[Var, ...], Body], ...]:
    """The bodies nested in an expression, each with the variables bound on entering it.

    The per-iteration operands of a parfor's yields appear as results of the body given here.
    """
    match expr:
        case (
            Apply()
            | Index()
            | Update()
            | Full()
            | Literal()
            | Reshape()
            | AddTo()
            | Check()
            | Print()
            | Library()
            | Launch()
            | Collective()
        ):
            return ()
        case ParFor(index=index, body=body, yields=yields):
            taken = tuple(atom for item in yields for atom in inner_operands(item))
            found: tuple[tuple[tuple[Var, ...], Body], ...] = (((index,), Body(body.lets, taken)),)
            return found + tuple(body for item in yields for body in _lambda_bodies(item))
        case Loop(carried=carried, body=body, index=index, condition=condition):
            inner = (carried if index is None else (*carried, index), body)
            return (inner,) if condition is None else ((carried, condition), inner)
        case If(then=then, other=other):
            return (((), then), ((), other))
        case WithSum(tokens=tokens, body=body):
            return ((tokens, body),)
        case Custom(params=params, primal=primal):
            return ((params, primal), *_rule_bodies(expr))
        case _:
            assert_never(expr)


def _rule_bodies(expr: Custom) -> tuple[tuple[tuple[Var, ...], Body], ...]:
    found: tuple[tuple[tuple[Var, ...], Body], ...] = ()
    if expr.jvp is not None:
        found += (((*expr.jvp.params, *expr.jvp.tangents), expr.jvp.body),)
    if expr.vjp is not None:
        backward = (*expr.vjp.residuals, *expr.vjp.cotangents), expr.vjp.backward
        found += ((expr.vjp.params, expr.vjp.forward), backward)
    return found


def _lambda(item: Yield) -> Lambda | None:
    match item:
        case Reduce(operator=Lambda() as operator) | Scan(operator=Lambda() as operator):
            return operator
        case Accumulate(operator=Lambda() as operator):
            return operator
        case _:
            return None


def _lambda_bodies(item: Yield) -> tuple[tuple[tuple[Var, ...], Body], ...]:
    operator = _lambda(item)
    if operator is None:
        return ()
    sides = (*operator.left, *operator.right)
    body = Body(operator.body.lets, (*operator.body.results, *operator.identity))
    return ((sides, body),) if operator.inverse is None else ((sides, body), (sides, operator.inverse))


def type_sizes(type_: Type) -> Iterator[Var]:
    """The size variables a type mentions."""
    return (size for size in type_.shape if isinstance(size, Var))


def free_variables(body: Body) -> dict[Var, None]:
    """Variables read in a body (types included) and bound around it, in order of first use."""
    free: dict[Var, None] = {}
    _collect(body, (), free)
    return free


def expression_variables(expr: Expr) -> dict[Var, None]:
    """Variables an expression reads, its nested bodies included, that it does not bind itself."""
    free = {atom: None for atom in operands(expr) if isinstance(atom, Var)}
    for binders, body in bodies(expr):
        _collect(body, binders, free)
    return free


def let_variables(let: Let) -> Mapping[Var, None]:
    """Variables a statement reads, the sizes in its targets' types included. Each statement is asked for them
    once: those around it ask again and again."""
    if let.memo is None:
        free = expression_variables(let.expr)
        for target in let.targets:
            free.update(dict.fromkeys(type_sizes(target.type)))
        object.__setattr__(let, "memo", free)
        return free
    return let.memo


def _collect(body: Body, binders: Iterable[Var], free: dict[Var, None]) -> None:
    bound = set(binders)
    inner: dict[Var, None] = {}
    for binder in binders:
        inner.update(dict.fromkeys(type_sizes(binder.type)))
    for let in body.lets:
        inner.update(let_variables(let))
        bound.update(let.targets)
    inner.update({atom: None for atom in body.results if isinstance(atom, Var)})
    free.update({var: None for var in inner if var not in bound})


def all_lets(body: Body) -> Iterator[Let]:
    """Every statement of a body and of the bodies nested in it, outermost first."""
    for let in body.lets:
        yield let
        for _, inner in bodies(let.expr):
            yield from all_lets(inner)


def holds(body: Body, *kinds: type[Expr]) -> bool:
    """Whether a body holds an expression of one of these classes, itself or in a body of its own."""
    return any(isinstance(let.expr, kinds) for let in all_lets(body))


# ---------------------------------------------------------------------------- rebuilding
class Renaming:
    """A copy of a program with every bound variable fresh and free variables replaced by `mapping`."""

    def __init__(self, mapping: Mapping[Var, Atom]) -> None:
        self.mapping: dict[Var, Atom] = dict(mapping)

    def atom(self, atom: Atom) -> Atom:
        """The atom in the copy."""
        return self.mapping.get(atom, atom) if isinstance(atom, Var) else atom

    def variable(self, var: Var) -> Var:
        """A variable where the grammar wants one (an array): it may not be replaced by a constant."""
        found = self.atom(var)
        assert isinstance(found, Var), f"{var} is an array and was replaced by a constant"
        return found

    def atoms(self, atoms: tuple[Atom, ...]) -> tuple[Atom, ...]:
        """Several atoms in the copy."""
        get = self.mapping.get
        return tuple([get(atom, atom) if isinstance(atom, Var) else atom for atom in atoms])

    def type(self, type_: Type) -> Type:
        """The type with its sizes renamed."""
        if not type_.shape or not any(size in self.mapping for size in type_.shape if isinstance(size, Var)):
            return type_
        shape = self.atoms(type_.shape)
        return ArrayType(type_.dtype, shape) if isinstance(type_, ArrayType) else SumType(type_.dtype, shape)

    def fresh(self, var: Var) -> Var:
        """A new variable that stands for `var` from here on."""
        new = Var(var.name, self.type(var.type))
        self.mapping[var] = new
        return new

    def fresh_all(self, variables: tuple[Var, ...]) -> tuple[Var, ...]:
        """New variables for several."""
        return tuple([self.fresh(var) for var in variables])

    def let(self, let: Let) -> Let:
        """A statement in the copy."""
        expr = self.expr(let.expr)
        return Let(self.fresh_all(let.targets), expr, let.span)

    def body(self, body: Body) -> Body:
        """A body in the copy."""
        lets = tuple([self.let(let) for let in body.lets])
        return Body(lets, self.atoms(body.results))

    def expr(self, expr: Expr) -> Expr:
        """An expression in the copy, nested bodies included."""
        match expr:
            case ParFor(index=index, extent=extent, body=body, yields=yields):
                outer = self.atom(extent)
                new_index = self.fresh(index)
                new_body = self.body(body)
                items = tuple(self.item(item) for item in yields)
                return ParFor(new_index, outer, new_body, items, expr.in_lanes)
            case Loop(carried, init, body, index, trip, condition, checkpoint):
                new_init = self.atoms(init)
                new_trip = None if trip is None else self.atom(trip)
                new_carried = self.fresh_all(carried)
                new_condition = None if condition is None else self.body(condition)
                counter = None if index is None else self.fresh(index)
                new_body = self.body(body)
                return Loop(new_carried, new_init, new_body, counter, new_trip, new_condition, checkpoint)
            case If(condition=condition, then=then, other=other):
                return If(self.atom(condition), self.body(then), self.body(other))
            case WithSum(init=init, tokens=tokens, body=body):
                new_sums = tuple(self.variable(var) for var in init)
                return WithSum(new_sums, self.fresh_all(tokens), self.body(body))
            case Custom():
                return self.custom(expr)
            case _:
                return map_operands(expr, self.atom)

    def custom(self, expr: Custom) -> Custom:
        """A primal with its rules in the copy."""
        args = self.atoms(expr.args)
        params = self.fresh_all(expr.params)
        primal = self.body(expr.primal)
        jvp, vjp = expr.jvp, expr.vjp
        if jvp is not None:
            jvp = JvpRule(self.fresh_all(jvp.params), self.fresh_all(jvp.tangents), self.body(jvp.body))
        if vjp is not None:
            inputs, forward = self.fresh_all(vjp.params), self.body(vjp.forward)
            residuals, cotangents = self.fresh_all(vjp.residuals), self.fresh_all(vjp.cotangents)
            vjp = VjpRule(inputs, forward, residuals, cotangents, self.body(vjp.backward))
        return Custom(args, params, primal, jvp, vjp)

    def item(self, item: Yield) -> Yield:
        """A yield in the copy."""
        match item:
            case Stack(value=value):
                return Stack(self.atom(value))
            case Reduce(operator=operator, values=values):
                return Reduce(self.operator(operator), self.atoms(values))
            case Scan(operator=operator, values=values, exclusive=exclusive):
                return Scan(self.operator(operator), self.atoms(values), exclusive)
            case Accumulate(operator, init, at, value, bounds):
                new_operator = self.operator(operator)
                return Accumulate(new_operator, self.variable(init), self.atoms(at), self.atom(value), bounds)
            case Scatter(init=init, at=at, value=value, bounds=bounds):
                return Scatter(self.variable(init), self.atoms(at), self.atom(value), bounds)
            case Carry(source=source, token=token):
                return Carry(self.variable(source), self.variable(token))
            case _:
                assert_never(item)

    def operator(self, operator: Operator) -> Operator:
        """A monoid in the copy."""
        if isinstance(operator, str):
            return operator
        identity = self.atoms(operator.identity)
        left, right = self.fresh_all(operator.left), self.fresh_all(operator.right)
        body = self.body(operator.body)
        inverse = None if operator.inverse is None else self.body(operator.inverse)
        return Lambda(left, right, body, identity, inverse)


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
            renaming.mapping[atom] = found[-1]
    return tuple(found)


def map_operands(expr: Expr, change: Callable[[Atom], Atom]) -> Expr:
    """An expression without nested bodies, with every operand changed."""

    def array(var: Var) -> Var:
        found = change(var)
        assert isinstance(found, Var), f"{var} is an array and was replaced by a constant"
        return found

    def many(atoms: tuple[Atom, ...]) -> tuple[Atom, ...]:
        return tuple([change(atom) for atom in atoms])

    match expr:
        case Apply(prim=prim, args=args):
            return Apply(prim, many(args))
        case Index(array=base, indices=indices, bounds=bounds):
            return Index(array(base), many(indices), bounds)
        case Update(base, indices, value, bounds):
            return Update(array(base), many(indices), change(value), bounds)
        case Full(shape=shape, value=value):
            return Full(many(shape), change(value))
        case Literal(elements=elements):
            return Literal(many(elements))
        case Reshape(array=base, shape=shape):
            return Reshape(array(base), many(shape))
        case AddTo(token, indices, value, bounds):
            return AddTo(array(token), many(indices), change(value), bounds)
        case Check(condition, error, message, values):
            return Check(change(condition), error, message, many(values))
        case Print(message=message, values=values):
            return Print(message, many(values))
        case Library(operation=operation, args=args, attributes=attributes):
            return Library(operation, many(args), attributes)
        case Launch(kernel, grid, block, shared, args):
            extents = many((*grid, *block))
            return Launch(kernel, _triple(extents[:3]), _triple(extents[3:]), change(shared), many(args))
        case Collective(operation, arrays, args, bounds, memory):
            if memory is not None:
                memory = ArrayType(memory.dtype, many(memory.shape))
            return Collective(operation, tuple(map(array, arrays)), many(args), bounds, memory)
        case ParFor() | Loop() | If() | WithSum():
            raise TypeError(f"{type(expr).__name__} holds bodies; rename it instead")
        case Custom():
            raise TypeError("a custom primal holds bodies; rename it instead")
        case _:
            assert_never(expr)


def _triple(atoms: tuple[Atom, ...]) -> tuple[Atom, Atom, Atom]:
    x, y, z = atoms
    return x, y, z


def map_bodies(expr: Expr, change: Callable[[Body], Body]) -> Expr:
    """An expression with the bodies that run in it changed, not operators of yields; itself where none is."""
    match expr:
        case ParFor(body=body):
            new = change(body)
            return expr if new is body else replace(expr, body=new)
        case Loop(body=body, condition=condition):
            new, test = change(body), None if condition is None else change(condition)
            return expr if new is body and test is condition else replace(expr, body=new, condition=test)
        case If(condition=choice, then=then, other=other):
            sides = change(then), change(other)
            return expr if sides[0] is then and sides[1] is other else If(choice, *sides)
        case WithSum(init=init, tokens=tokens, body=body):
            new = change(body)
            return expr if new is body else WithSum(init, tokens, new)
        case Custom(primal=primal, vjp=vjp):
            new, rule = change(primal), vjp
            if vjp is not None:
                forward = change(vjp.forward)
                rule = vjp if forward is vjp.forward else replace(vjp, forward=forward)
            return expr if new is primal and rule is vjp else replace(expr, primal=new, vjp=rule)
        case (
            Apply()
            | Index()
            | Update()
            | Full()
            | Literal()
            | Reshape()
            | AddTo()
            | Check()
            | Print()
            | Library()
            | Launch()
            | Collective()
        ):
            return expr
        case _:
            assert_never(expr)


def copy_function(fn: Function) -> Function:
    """The function with every variable fresh, sizes included."""
    renaming = Renaming({})
    renaming.fresh_all(fn.sizes)
    return Function(fn.name, renaming.fresh_all(fn.params), renaming.body(fn.body))


# ---------------------------------------------------------------------------- dead code
def has_effect(expr: Expr) -> bool:
    """Whether an expression must stay although nobody reads its results: it holds a run-time check, prints or
    reads at a checked index. A loop that may run forever need not stay."""
    match expr:
        case Check() | Print():
            return True
        case Launch(kernel=kernel):
            return bool(kernel.failures)
        case Collective(operation=operation):
            return operation != "shared"
        case Index(bounds=bounds) | Update(bounds=bounds) | AddTo(bounds=bounds):
            return bounds.value == "checked"
        case ParFor(yields=yields) if any(_is_checked(item) for item in yields):
            return True
        case Custom(primal=primal):
            return any(has_effect(let.expr) for let in primal.lets)
        case _:
            return any(has_effect(let.expr) for _, body in bodies(expr) for let in body.lets)


def prints(expr: Expr) -> bool:
    """Whether an expression prints, itself or in a body."""
    inner = (let.expr for _, body in bodies(expr) for let in all_lets(body))
    return isinstance(expr, Print) or any(isinstance(found, Print) for found in inner)


def silent(body: Body) -> Body:
    """A body without what it prints; itself where it prints nothing."""
    lets = tuple(_silent(let) for let in body.lets if not isinstance(let.expr, Print))
    if len(lets) == len(body.lets) and all(new is old for new, old in zip(lets, body.lets, strict=True)):
        return body
    return Body(lets, body.results)


def _silent(let: Let) -> Let:
    expr = map_bodies(let.expr, silent)
    return let if expr is let.expr else Let(let.targets, expr, let.span)


def _is_checked(item: Yield) -> bool:
    match item:
        case Accumulate(bounds=bounds) | Scatter(bounds=bounds):
            return bounds.value == "checked"
        case _:
            return False
