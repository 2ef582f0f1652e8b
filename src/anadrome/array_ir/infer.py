"""The type rules: what each expression results in. The builder asks them, the verifier insists on them."""

from __future__ import annotations

from typing import assert_never

from anadrome.array_ir.launch import collective_types, launch_types
from anadrome.array_ir.library import library_types
from anadrome.array_ir.nodes import (
    NAMED_OPERATORS,
    SCALARS,
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
    Library,
    Literal,
    Loop,
    Operator,
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
    VjpRule,
    WithSum,
    i64,
)
from anadrome.array_ir.rewrite import bind_residuals
from anadrome.dtypes import BOOL, I64
from anadrome.errors.ir import IRError
from anadrome.library.table import LIBRARY


def result_types(expr: Expr) -> tuple[Type, ...]:
    """The types of an expression's results; raises `IRError` where it breaks a rule."""
    match expr:
        case Apply(prim=prim, args=args):
            _hold(len(args) == prim.arity, f"{prim.name} takes {prim.arity} arguments, got {len(args)}")
            dtype = prim.types(tuple(_scalar(arg, prim.name).dtype for arg in args))
            if dtype is None:
                got = ", ".join(str(arg.type.dtype) for arg in args)
                raise IRError(f"{prim.name} is not defined on ({got})")
            return (SCALARS[dtype.name],)
        case Index(array=array, indices=indices):
            return (_row(_array(array, "an indexed value"), indices),)
        case Update(array=array, indices=indices, value=value):
            base = _array(array, "an updated value")
            _hold(value.type == _row(base, indices), f"the value put into {array} does not fit its place")
            return (base,)
        case Full(shape=shape, value=value):
            _sizes(shape)
            return (ArrayType(_scalar(value, "full").dtype, shape),)
        case Literal(elements=elements):
            _hold(bool(elements), "a literal has at least one element")
            first = _array(elements[0], "an element")
            _hold(
                all(element.type == first for element in elements), "the elements of a literal differ in type"
            )
            return (ArrayType(first.dtype, (i64(len(elements)), *first.shape)),)
        case Reshape(array=array, shape=shape):
            _sizes(shape)
            return (ArrayType(_array(array, "a reshaped value").dtype, shape),)
        case ParFor(extent=extent, body=body):
            _sizes((extent,))
            parts = expr.parts
            taken = sum(len(part.takes) for part in parts)
            _hold(taken == len(body.results), f"the yields take {taken} results of {len(body.results)}")
            return tuple(type_ for part in parts for type_ in yield_types(part, extent))
        case Loop():
            return _loop(expr)
        case If(condition=condition, then=then, other=other):
            _hold(condition.type == ArrayType(BOOL), "the condition of an if is a bool")
            types = _types(then)
            _hold(types == _types(other), "the branches of an if result in different types")
            return types
        case WithSum():
            return _with_sum(expr)
        case AddTo(token=token, indices=indices, value=value):
            sum_type = token.type
            _hold(isinstance(sum_type, SumType), f"{token} is not an accumulator")
            row = _row(ArrayType(sum_type.dtype, sum_type.shape), indices)
            _hold(value.type == row, f"the contribution to {token} does not fit its place")
            return (sum_type,)
        case Check(condition=condition):
            _hold(condition.type == ArrayType(BOOL), "the condition of a check is a bool")
            return ()
        case Print():
            return ()
        case Custom():
            return _custom(expr)
        case Library(operation=operation, args=args, attributes=attributes):
            return _library(operation, args, attributes)
        case Launch():
            return launch_types(expr)
        case Collective():
            return collective_types(expr)
        case _:
            assert_never(expr)


def yield_types(part: Part, extent: Size) -> tuple[Type, ...]:
    """The types of the results a yield makes under a parfor of this extent."""
    match part.item:
        case Stack():
            return (_stacked(part.value, extent),)
        case Reduce(operator=operator):
            _operator(operator, part.takes)
            return tuple(_array(value, "a reduced value") for value in part.takes)
        case Scan(operator=operator):
            _operator(operator, part.takes)
            return tuple(_stacked(value, extent) for value in part.takes)
        case Accumulate(operator=operator, init=init):
            base = _array(init, "an accumulated value")
            fits = part.value.type == _row(base, part.at)
            _hold(fits, f"the value accumulated into {init} does not fit its place")
            _operator(operator, (part.value,))
            return (base,)
        case Scatter(init=init):
            base = _array(init, "a scattered value")
            fits = part.value.type == _row(base, part.at)
            _hold(fits, f"the value scattered into {init} does not fit its place")
            return (base,)
        case Carry(source=source):
            _hold(
                isinstance(source.type, SumType) and source.type == part.value.type,
                "a carry passes on one accumulator",
            )
            return (source.type,)
        case _:
            assert_never(part.item)


def _hold(condition: bool, rule: str) -> None:
    if not condition:
        raise IRError(rule)


def _array(atom: Atom, what: str) -> ArrayType:
    if isinstance(atom.type, ArrayType):
        return atom.type
    raise IRError(f"{what} is an array, not an accumulator")


def _scalar(atom: Atom, what: str) -> ArrayType:
    type_ = _array(atom, f"an operand of {what}")
    _hold(type_.is_scalar, f"{what} works on scalars, got {atom} of rank {type_.rank}")
    return type_


def _row(base: ArrayType, indices: tuple[Atom, ...]) -> ArrayType:
    _hold(len(indices) <= base.rank, f"{len(indices)} indices into rank {base.rank}")
    _sizes(indices)
    return base.row(len(indices))


def _sizes(atoms: tuple[Atom, ...]) -> None:
    for atom in atoms:
        _hold(atom.type == ArrayType(I64), f"the size or index {atom} is not an i64")


def _stacked(value: Atom, extent: Size) -> ArrayType:
    row = _array(value, "a stacked value")
    return ArrayType(row.dtype, (extent, *row.shape))


def _types(body: Body) -> tuple[Type, ...]:
    return tuple(atom.type for atom in body.results)


def _operator(operator: Operator, values: tuple[Atom, ...]) -> None:
    if isinstance(operator, str):
        _hold(operator in NAMED_OPERATORS, f"no operator is named {operator}")
        _hold(len(values) == 1, f"{operator} takes one operand")
        is_logic = operator in ("and", "or")
        _hold(
            is_logic == (values[0].type.dtype is BOOL), f"{operator} does not work on {values[0].type.dtype}"
        )
        return
    _lambda(operator, values)


def _lambda(operator: Lambda, values: tuple[Atom, ...]) -> None:
    types = tuple(value.type for value in values)
    for side in (operator.left, operator.right):
        _hold(tuple(var.type for var in side) == types, "the operator's operands differ from the values")
    _hold(_types(operator.body) == types, "the operator's results differ from its operands")
    if operator.inverse is not None:
        _hold(_types(operator.inverse) == types, "the inverse's results differ from the operands")
    _hold(tuple(atom.type for atom in operator.identity) == types, "the identity differs from the operands")


def _loop(expr: Loop) -> tuple[Type, ...]:
    types = tuple(var.type for var in expr.carried)
    _hold(tuple(atom.type for atom in expr.init) == types, "the carried values start with other types")
    _hold(_types(expr.body) == types, "the carried values end an iteration with other types")
    _hold(
        (expr.condition is None) == (expr.trip is not None), "a loop has either a trip count or a condition"
    )
    _hold((expr.index is None) == (expr.trip is None), "a loop has an index exactly when it has a trip count")
    if expr.trip is not None:
        _sizes((expr.trip,))
    if expr.condition is not None:
        _hold(_types(expr.condition) == (ArrayType(BOOL),), "the condition of a loop is one bool")
    return types


def _with_sum(expr: WithSum) -> tuple[Type, ...]:
    count = len(expr.tokens)
    _hold(len(expr.init) == count, "every accumulator has its initial value")
    for start, token in zip(expr.init, expr.tokens, strict=True):
        base = _array(start, "the initial value of an accumulator")
        _hold(
            token.type == SumType(base.dtype, base.shape), f"the accumulator {token} differs from its start"
        )
    results = _types(expr.body)
    _hold(
        results[:count] == tuple(token.type for token in expr.tokens), "the body ends with its accumulators"
    )
    return tuple(_array(start, "an initial value") for start in expr.init) + results[count:]


def _custom(expr: Custom) -> tuple[Type, ...]:
    types = tuple(arg.type for arg in expr.args)
    _hold(all(type_.dtype.is_float for type_ in types), "the arguments of a custom primal are floats")
    _hold(not types or expr.has_rule, "a primal without a rule has no arguments")
    _hold(bool(expr.primal.results), "a custom primal has a result")
    _bound(expr.params, types, "the parameters of the primal")
    results = tuple(_array(atom, "a result of a custom primal") for atom in expr.primal.results)
    if expr.jvp is not None:
        _jvp_rule(expr.jvp, types, results)
    if expr.vjp is not None:
        _vjp_rule(expr.vjp, types, results)
    return results


def _jvp_rule(rule: JvpRule, types: tuple[Type, ...], results: tuple[ArrayType, ...]) -> None:
    _bound(rule.params, types, "the parameters of the forward-mode rule")
    _bound(rule.tangents, types, "the tangents of the arguments")
    tangents = tuple(type_ for type_ in results if type_.dtype.is_float)
    _hold(_types(rule.body) == results + tangents, "the forward-mode rule gives results and their tangents")


def _vjp_rule(rule: VjpRule, types: tuple[Type, ...], results: tuple[ArrayType, ...]) -> None:
    _bound(rule.params, types, "the parameters of the forward rule")
    _hold(_types(rule.forward)[: len(results)] == results, "the forward rule gives the results of the primal")
    cotangents = tuple(type_ for type_ in results if type_.dtype.is_float)
    _bound(rule.cotangents, cotangents, "the cotangents of the results")
    _hold(_types(rule.backward) == types, "the backward rule gives a cotangent of each argument")
    extra = len(rule.forward.results) - len(results)
    _hold(len(rule.residuals) == extra, "the backward rule takes what the forward rule keeps")

    def residual(position: int, type_: Type) -> Var:
        _hold(rule.residuals[position].type == type_, "a residual differs from what was kept")
        return rule.residuals[position]

    bind_residuals(rule.forward, len(results), residual)


def _bound(variables: tuple[Var, ...], types: tuple[Type, ...], what: str) -> None:
    _hold(tuple(var.type for var in variables) == types, f"{what} differ in type from what they stand for")


def _library(operation: str, args: tuple[Atom, ...], attributes: tuple[bool | int, ...]) -> tuple[Type, ...]:
    row = LIBRARY.get(operation)
    if row is None:
        raise IRError(f"no library operation is named {operation}")
    _hold(len(args) == len(row.arguments), f"{operation} takes {len(row.arguments)} arguments")
    _hold(len(attributes) == len(row.attributes), f"{operation} takes the attributes {row.attributes}")
    results = library_types(row, [_array(arg, operation) for arg in args], attributes)
    if isinstance(results, str):
        raise IRError(f"{operation}: {results}")
    return results
