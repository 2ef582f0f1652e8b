"""Going over programs: operands, nested bodies, free variables, effects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, assert_never

from anadrome.array_ir.nodes import (
    AddTo,
    Apply,
    ArrayType,
    Atom,
    Body,
    Bounds,
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
    Let,
    Library,
    Literal,
    Loop,
    ParFor,
    Print,
    Reshape,
    Type,
    Update,
    Var,
    WithSum,
    Yield,
)
from anadrome.prims.node import replace


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


def fields_of(item: Yield) -> tuple[Any, ...]:
    """What a yield says, field after field: walks that treat all kinds alike go over it."""
    return tuple([getattr(item, name) for name in item.__match_args__])


def with_fields(item: Yield, fields: Iterable[Any]) -> Yield:
    """A yield of the same kind that says this."""
    kind: Callable[..., Yield] = type(item)
    return kind(*fields)


def outer_operands(item: Yield) -> tuple[Atom, ...]:
    """What a yield reads around its parfor."""
    found: list[Atom] = []
    for value in fields_of(item):
        match value:
            case Var():
                found.append(value)
            case Lambda(identity=identity):
                found.extend(identity)
            case _:
                pass
    return tuple(found)


def operator_of(item: Yield) -> Lambda | None:
    """The operator of a yield where it is a lambda."""
    return next((value for value in fields_of(item) if isinstance(value, Lambda)), None)


def bodies(expr: Expr) -> tuple[tuple[tuple[Var, ...], Body], ...]:
    """The bodies nested in an expression, each with the variables bound on entering it."""
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
            return (((index,), body), *(inner for item in yields for inner in _lambda_bodies(item)))
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


def _lambda_bodies(item: Yield) -> tuple[tuple[tuple[Var, ...], Body], ...]:
    operator = operator_of(item)
    if operator is None:
        return ()
    sides = (*operator.left, *operator.right)
    inverse = () if operator.inverse is None else ((sides, operator.inverse),)
    return ((sides, operator.body), *inverse)


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


def same_atom(left: Atom, right: Atom) -> bool:
    """Whether two atoms are one variable, or constants that nothing tells apart."""
    if isinstance(left, Const) and isinstance(right, Const):
        return left.key == right.key
    return left is right


def all_lets(body: Body) -> Iterator[Let]:
    """Every statement of a body and of the bodies nested in it, outermost first."""
    for let in body.lets:
        yield let
        for _, inner in bodies(let.expr):
            yield from all_lets(inner)


def bound_in(body: Body) -> Iterator[Var]:
    """Every variable that is bound in a body, at any depth."""
    for let in all_lets(body):
        yield from let.targets
        for binders, _ in bodies(let.expr):
            yield from binders


def holds(body: Body, *kinds: type[Expr]) -> bool:
    """Whether a body holds an expression of one of these classes, itself or in a body of its own."""
    return any(isinstance(let.expr, kinds) for let in all_lets(body))


# ---------------------------------------------------------------------------- rebuilding
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
        case Full(shape=shape, value=value, is_room=is_room):
            return Full(many(shape), change(value), is_room)
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


def map_bodies(expr: Expr, change: Callable[[Body], Body], *, operators: bool = False) -> Expr:
    """An expression with the bodies that run in it changed, and on demand those of operators of yields;
    itself where none is."""
    match expr:
        case ParFor(body=body, yields=yields):
            new = change(body)
            items = tuple([map_operator(item, change) for item in yields]) if operators else yields
            is_same = new is body and all(one is other for one, other in zip(items, yields, strict=True))
            return expr if is_same else replace(expr, body=new, yields=items)
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


def map_operator(item: Yield, change: Callable[[Body], Body]) -> Yield:
    """A yield with the bodies of its lambda changed; itself where none is."""
    operator = operator_of(item)
    new = None if operator is None else operator.changed(change)
    if new is operator:
        return item
    return with_fields(item, [new if value is operator else value for value in fields_of(item)])


# ---------------------------------------------------------------------------- effects
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
        case ParFor(yields=yields) if any(is_checked(item) for item in yields):
            return True
        case Custom(primal=primal):
            return any(has_effect(let.expr) for let in primal.lets)
        case _:
            return any(has_effect(let.expr) for _, body in bodies(expr) for let in body.lets)


def prints(expr: Expr) -> bool:
    """Whether an expression prints, itself or in a body."""
    inner = (let.expr for _, body in bodies(expr) for let in all_lets(body))
    return isinstance(expr, Print) or any(isinstance(found, Print) for found in inner)


def is_checked(item: Yield) -> bool:
    """Whether a yield holds a run-time check of its place."""
    return Bounds.CHECKED in fields_of(item)
