"""Expressions: one function for each kind of node, in a literal table."""

from __future__ import annotations

import ast
import builtins
import difflib
import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from anadrome.array_ir.nodes import FALSE, TRUE, Atom
from anadrome.errors.base import indefinite
from anadrome.errors.frontend import (
    RUN_TEXT,
    NoAttribute,
    StaticCallFailed,
    StaticRequired,
    UnsupportedCall,
    UnsupportedSyntax,
    UnsupportedType,
)
from anadrome.frontend.applying import STATIC_UNARY, compare_two, operate, own_result, refuse_maybe
from anadrome.frontend.arrays import as_array, describe, unboxed, weakness
from anadrome.frontend.calls import BoundMethod, staged_function
from anadrome.frontend.complex_numbers import operators as complex_operators
from anadrome.frontend.complex_numbers.forms import COMPLEX_ATTRIBUTES, COMPLEX_METHODS
from anadrome.frontend.complex_numbers.parts import complex_of, is_complex_array
from anadrome.frontend.comprehension import evaluate_list
from anadrome.frontend.context import Context
from anadrome.frontend.displays import dict_display, items_of, list_display, mapping_behind, set_display
from anadrome.frontend.drawing import refuse_state
from anadrome.frontend.generator_expressions import generator
from anadrome.frontend.growing import as_value, get_item, growing_list
from anadrome.frontend.indexing import take, take_complex
from anadrome.frontend.iterables import Iterated, part_of, take_row
from anadrome.frontend.keyed import evaluate_dict, evaluate_set
from anadrome.frontend.library import ATTRIBUTES, CALLS, METHODS
from anadrome.frontend.list_methods import ListMethod, list_attribute, run_time_list
from anadrome.frontend.lists import new_list
from anadrome.frontend.liveness import assigned_names
from anadrome.frontend.looking_up import item_at
from anadrome.frontend.merge import branch, tried
from anadrome.frontend.natively import refuse_environment
from anadrome.frontend.operators import apply_prim, as_number, negate, truth
from anadrome.frontend.overloads import own_method, own_truth, own_unary
from anadrome.frontend.own import is_inlined
from anadrome.frontend.run_time_lists import GrowingList
from anadrome.frontend.storing import check_list_index
from anadrome.frontend.structures import RowList, has_staged, reference_of
from anadrome.frontend.texts import WAYS, joined, written
from anadrome.frontend.values import (
    RETURN,
    Array,
    Complex,
    Exit,
    Frame,
    Maybe,
    Missing,
    RunText,
    Scalar,
    Value,
    common_weak,
    is_numpy_array,
    is_staged,
)
from anadrome.printing import How

RETURNED = frozenset({RETURN})


def evaluate(context: Context, frame: Frame, node: ast.expr) -> Value:
    """The value of an expression, static or staged."""
    context.at(frame, node)
    handler = EXPRESSIONS.get(type(node))
    if handler is None:
        raise UnsupportedSyntax(_WORDS.get(type(node), f"`{ast.unparse(node)[:40]}`"), context.span)
    found = handler(context, frame, node)
    reference = reference_of(found)
    return found if reference is None else context.evaluators.looked_at(context, found, reference)


_WORDS: dict[type[ast.expr], str] = {
    ast.Await: "`await`",
    ast.Yield: "`yield`",
    ast.YieldFrom: "`yield from`",
    ast.Starred: "`*` here",
}


# ---------------------------------------------------------------------------- names and attributes
def _name(context: Context, frame: Frame, node: ast.Name) -> Value:
    value = lookup(context, frame, node.id)
    if isinstance(value, Missing):
        raise value.error(node.id, context.span)
    return value


def lookup(context: Context, frame: Frame, name: str) -> Value:
    """What a name stands for: in this call, the functions around it, its module, or among the builtins."""
    scope: Frame | None = frame
    while scope is not None:
        if name in scope.names and (scope is frame or not scope.is_class):
            context.reading.notice_name(scope, name)
            return context.seen(scope.names[name])
        if name in scope.local_names and not scope.is_class:
            return Missing("no value has been assigned yet")
        if name in scope.closure:
            try:
                return context.found_in_cell(scope.closure[name])
            except ValueError:
                return Missing("the enclosing function has not assigned it yet")
        if scope.outer is None:
            break
        scope = scope.outer
    assert scope is not None
    if name in scope.globals:
        return context.found_in(scope.globals, name)
    context.surroundings.no_item(scope.globals, name)
    known = [own for own, value in frame.names.items() if not isinstance(value, Missing)]
    return getattr(builtins, name, Missing("", _spelling(name, {*known, *scope.globals})))


def _spelling(name: str, known: Iterable[str]) -> str:
    """What a name that nobody has defined may be meant to be."""
    near = difflib.get_close_matches(name, known, 1)
    return f"did you mean `{near[0]}`?" if near else f"define or import `{name}` before it is used"


def _attribute(context: Context, frame: Frame, node: ast.Attribute) -> Value:
    base = context.evaluate(frame, node.value)
    context.at(frame, node)
    return attribute(context, base, mangled(frame, node.attr))


def mangled(frame: Frame, name: str) -> str:
    """The name of an attribute as Python knows it: in a class C `__x` is `_C__x`."""
    if not name.startswith("__") or name.endswith("__"):
        return name
    scope: Frame | None = frame
    while scope is not None:
        around = scope.name.rpartition(".")[0].rpartition(".")[2]
        if around not in ("", "<locals>"):
            return f"_{around.lstrip('_')}{name}"
        scope = scope.outer
    return name


def attribute(context: Context, base: Value, name: str) -> Value:
    """`base.name`"""
    refuse_maybe(context, base)
    if isinstance(base, RunText):
        raise UnsupportedCall(f".{name}", context.span, f"this is {RUN_TEXT}", WAYS)
    if isinstance(base, GrowingList):
        return ListMethod(name, base)
    if isinstance(base, RowList):
        return list_attribute(context, base, name)
    if is_staged(base):
        assert isinstance(base, Scalar | Array)
        if isinstance(base, Array) and base.list_depth:
            return list_attribute(context, base, name)
        if name in ATTRIBUTES:
            return ATTRIBUTES[name](context, base)
        if name in METHODS:
            return BoundMethod(name, base)
        raise NoAttribute(describe(base), name, (*ATTRIBUTES, *METHODS), context.span)
    if isinstance(base, Complex):
        return _complex_attribute(context, base, name)
    refuse_state(context, base, name)
    if name == "__dict__" and reference_of(base) is not None:
        reason = "the list that holds this object has its attributes"
        raise UnsupportedCall(f".{name}", context.span, reason, "name each attribute")
    getter = _found_from(base, name)
    if isinstance(getter, property) and is_inlined(getter.fget):
        context.surroundings.attribute(type(base), name, getter)
        owner: Any = base
        return context.call(getter.fget, owner.__self__ if isinstance(base, super) else owner)
    try:
        return context.attribute_of(base, name)
    except AttributeError:
        owner = getattr(base, "__name__", None)
        words = f"`{owner}`" if owner else describe(base)
        help = "check the spelling, or give it this attribute before it is read"
        raise NoAttribute(words, name, dir(base), context.span, help) from None


def _complex_attribute(context: Context, base: Complex, name: str) -> Value:
    if base.list_depth:
        raise NoAttribute("a list made by a comprehension", name, (), context.span)
    if name in COMPLEX_ATTRIBUTES:
        return COMPLEX_ATTRIBUTES[name](context, base)
    if name in COMPLEX_METHODS:
        return BoundMethod(name, base)
    raise NoAttribute(describe(base), name, (*COMPLEX_ATTRIBUTES, *COMPLEX_METHODS), context.span)


# ---------------------------------------------------------------------------- subscripts
def _subscript(context: Context, frame: Frame, node: ast.Subscript) -> Value:
    base = context.evaluate(frame, node.value)
    index = context.evaluate(frame, node.slice)
    context.at(frame, node)
    found = subscript(context, base, index)
    is_part = isinstance(index, slice) and isinstance(base, Array | RowList | GrowingList)
    return run_time_list(context, found) if is_part else found


def subscript(context: Context, base: Value, index: Value) -> Value:
    """`base[index]`"""
    refuse_maybe(context, base, index)
    if not is_numpy_array(base) and not isinstance(base, np.ndarray) and weakness(index):
        index = as_number(context, "[]", index)
    if isinstance(base, RunText):
        raise UnsupportedType("what is indexed", RUN_TEXT, context.span, WAYS)
    check_list_index(context, base, index)
    if isinstance(base, Array):
        return take(context, base, index)
    if isinstance(base, Complex) and base.shape:
        return take_complex(context, base, index)
    if isinstance(base, GrowingList):
        if isinstance(index, slice):
            return subscript(context, as_value(context, base), index)
        return get_item(context, base, index)
    if isinstance(base, RowList):
        return take_row(context, base, index)
    if isinstance(base, Iterated):
        return part_of(context, base, index)
    method = own_method(context, base, "__getitem__")
    if method is not None:
        return context.call(method, base, index)
    as_item = getattr(type(base), "__anadrome_item__", None)
    if as_item is not None:
        found: Value = as_item(base, context, index)
        return found
    if isinstance(base, Scalar | Complex):
        raise UnsupportedType(
            "the base of an index", describe(base), context.span, "use an array, a list or a tuple"
        )
    if has_staged(index):
        if is_complex_array(base):
            return take_complex(context, complex_of(context, base), index)
        if isinstance(base, np.ndarray):
            found = as_array(context, base)
            assert isinstance(found, Array)
            return take(context, found, index)
        if isinstance(base, list) and base and isinstance(index, slice):
            return subscript(context, as_value(context, growing_list(context, base)), index)
        if isinstance(base, list | tuple) and base and not isinstance(index, slice):
            return _item_at_run_time(context, base, index)
        if type(base) is dict:
            return item_at(context, base, index)
        getter = inspect.getattr_static(type(base), "__getitem__", None)
        if getter in CALLS:
            return context.call(getter, base, index)
        raise StaticRequired(
            f"the index of {indefinite(type(base).__name__)}",
            context.span,
            "use a list and an index that are known when the function is compiled"
            if isinstance(base, str)
            else "loop over the container itself, or make it an array with `np.array(...)`",
        )
    refuse_environment(context, base)
    if isinstance(base, dict) and context.identities.is_chosen(index):
        raise StaticRequired("the key of a dict", context.span, "use it where it is chosen, on each way")
    context.surroundings.items_of(base)
    for part in (index.start, index.stop, index.step) if isinstance(index, slice) else (index,):
        context.surroundings.items_of(part)
    try:
        item: Any = base[index]  # type: ignore[index]
    except Exception as error:
        raise StaticCallFailed("this index", error, context.span) from error
    is_copy = isinstance(base, list) and isinstance(index, slice)
    return new_list(context, item) if is_copy else context.seen(item)


def _item_at_run_time(context: Context, base: list[Value] | tuple[Value, ...], index: Value) -> Value:
    """`base[index]` of a list or tuple whose items are known now, by an index that is not.

    Where the item is a list that is written into, the program is staged once more with the whole as one that
    is written at run time (`writing.put`).
    """
    made, record = growing_list(context, base), context.records.get(id(base))
    if record is not None:
        context.list_sites.update({column.cell: record.site for column in made.columns})
    return get_item(context, made, index)


def _slice(context: Context, frame: Frame, node: ast.Slice) -> Value:
    parts = (node.lower, node.upper, node.step)
    return slice(*(None if part is None else context.evaluate(frame, part) for part in parts))


# ---------------------------------------------------------------------------- operators


def _binary(context: Context, frame: Frame, node: ast.BinOp) -> Value:
    left = context.evaluate(frame, node.left)
    right = context.evaluate(frame, node.right)
    context.at(frame, node)
    return operate(context, type(node.op), left, right)


def _unary(context: Context, frame: Frame, node: ast.UnaryOp) -> Value:
    is_not = isinstance(node.op, ast.Not)
    value = condition(context, frame, node.operand) if is_not else context.evaluate(frame, node.operand)
    context.at(frame, node)
    if is_not:
        if not is_staged(value):
            context.surroundings.truth_of(value)
            return not value
        return Scalar(context.builder.apply("not", truth(context, value)), is_weak=True)
    refuse_maybe(context, value)
    value = unboxed(context, value)
    overloaded = own_unary(context, type(node.op), value)
    if overloaded is not NotImplemented:
        return overloaded
    if is_staged(value):
        if isinstance(node.op, ast.USub):
            return negate(context, value)
        if isinstance(node.op, ast.Invert):
            return apply_prim(context, "bitnot", value)
        if isinstance(value, Array):
            return context.call(np.positive, value)
        return as_number(context, "+", value)
    if isinstance(value, Complex):
        if isinstance(node.op, ast.Invert):
            raise complex_operators.refused(context, ast.Invert, value)
        if isinstance(node.op, ast.UAdd):
            return context.call(np.positive, value) if value.shape else value
        return complex_operators.negate(context, value)
    context.surroundings.whole(value)
    try:
        result = STATIC_UNARY[type(node.op)](value)
    except Exception as error:
        raise StaticCallFailed("this operation", error, context.span) from error
    return own_result(context, result, value)


def _boolean(context: Context, frame: Frame, node: ast.BoolOp) -> Value:
    return _short_circuit(context, frame, isinstance(node.op, ast.And), node.values)


def condition(context: Context, frame: Frame, node: ast.expr) -> Value:
    """What is asked where only the truth of an expression counts; objects of the user are asked inline."""
    if isinstance(node, ast.BoolOp):
        return _short_circuit(context, frame, isinstance(node.op, ast.And), node.values, is_test=True)
    return own_truth(context, context.evaluate(frame, node))


def _short_circuit(
    context: Context, frame: Frame, is_and: bool, parts: Sequence[ast.expr], is_test: bool = False
) -> Value:
    """`a and b` is b where a holds, else a; b is only evaluated where it decides. Before an `or`, `c and a`
    is None where c does not hold: what it is there does not count."""
    first = (
        condition(context, frame, parts[0]) if is_test else context.evaluate(frame, _before_or(is_and, parts))
    )
    if len(parts) == 1:
        return first
    asked = first if is_test else own_truth(context, first)
    if not is_staged(asked):
        context.surroundings.truth_of(asked)
        goes_on = bool(asked) == is_and
        return _short_circuit(context, frame, is_and, parts[1:], is_test) if goes_on else first
    holds = truth(context, asked)
    known: list[bool] = []

    def rest() -> Exit:
        found = _short_circuit(context, frame, is_and, parts[1:], is_test)
        if is_test and not is_staged(found):
            known.append(bool(found))
        return Exit(RETURN, RETURNED, _asked(context, found) if is_test else found)

    def same() -> Exit:
        is_optional = isinstance(first, Maybe) and first.other is None
        found = first.value if isinstance(first, Maybe) and is_optional and not is_and else first
        return Exit(RETURN, RETURNED, Scalar(holds) if is_test else found)

    value = _one_of(context, frame, holds, (rest, same) if is_and else (same, rest), parts[1:])
    decided = [one for one in known if one is not is_and]  # `c and len(x) > 1` of a short x: False
    return decided[0] if decided else value


def _asked(context: Context, value: Value) -> Value:
    """The truth of what `condition` gives, as a bool."""
    if is_staged(value):
        return Scalar(truth(context, value))
    context.surroundings.truth_of(value)
    return bool(value)


def _before_or(is_and: bool, parts: Sequence[ast.expr]) -> ast.expr:
    """The first of parts: `a if c else None` in place of `c and a` where an `or` follows."""
    match parts:
        case [ast.BoolOp(op=ast.And(), values=[*tests, chosen]) as both, _, *_] if not is_and:
            test = tests[0] if len(tests) == 1 else ast.copy_location(ast.BoolOp(ast.And(), tests), both)
            return ast.copy_location(
                ast.IfExp(test, chosen, ast.copy_location(ast.Constant(None), both)), both
            )
        case _:
            return parts[0]


def _one_of(
    context: Context,
    frame: Frame,
    holds: Atom,
    ways: tuple[Callable[[], Exit], Callable[[], Exit]],
    parts: Sequence[ast.expr],
) -> Value:
    """The value of one of two expressions; refused where they have no common type. A name that one of the
    parts binds is bound where it is known that this part was evaluated."""
    span = context.span
    value = branch(context, frame, holds, *ways, live=assigned_names(parts)).value
    if isinstance(value, Missing):
        raise value.error("this expression", span)
    return value


def _compare(context: Context, frame: Frame, node: ast.Compare) -> Value:
    """A chain `a < b < c` is `a < b and b < c`."""
    return _chain(context, frame, node, 0, context.evaluate(frame, node.left))


def _chain(context: Context, frame: Frame, node: ast.Compare, first: int, left: Value) -> Value:
    """The comparisons of a chain from one on. All are made, save where a later operand binds a name, or
    changes something."""
    result: Value = True
    for position in range(first, len(node.ops)):
        kind, operand = node.ops[position], node.comparators[position]
        if is_staged(result) and (
            assigned_names(node.comparators[position:]) or _changes(context, frame, operand)
        ):
            rest = partial(_chain, context, frame, node, position, left)
            ways = (lambda: Exit(RETURN, RETURNED, rest()), lambda: Exit(RETURN, RETURNED, False))  # noqa: B023
            return _one_of(context, frame, truth(context, result), ways, node.comparators[position:])
        prints = context.prints
        is_asked = isinstance(kind, ast.In | ast.NotIn) and _is_constant_set(operand)
        right = frozenset(ast.literal_eval(operand)) if is_asked else context.evaluate(frame, operand)
        context.at(frame, node)
        if context.prints > prints and is_staged(result):
            help = "write `and` between the comparisons"
            raise UnsupportedSyntax("a chain of comparisons that prints", context.span, help)
        found = compare_two(context, type(kind), left, right)
        if result is True:
            result = found
        elif is_staged(found) or is_staged(result):
            is_weak = common_weak(weakness(result), weakness(found))
            parts = [Scalar(truth(context, part)) if is_staged(part) else part for part in (result, found)]
            result = Scalar(truth(context, apply_prim(context, "and", *parts)), is_weak)
        else:
            result = result and found
        if not is_staged(result) and not isinstance(result, np.ndarray) and not result:
            return result
        left = right
    return result


def _changes(context: Context, frame: Frame, node: ast.expr) -> bool:
    """Whether the evaluation of an expression changes objects that there were before, or draws numbers."""
    if not any(isinstance(inner, ast.Call) for inner in ast.walk(node)):
        return False
    prints, span = context.prints, context.span
    _, _, is_changing = tried(context, lambda: context.evaluate(frame, node))
    context.prints, context.span = prints, span
    return is_changing


def _conditional(context: Context, frame: Frame, node: ast.IfExp) -> Value:
    test = condition(context, frame, node.test)
    context.at(frame, node)
    if not is_staged(test):
        context.surroundings.truth_of(test)
        return context.evaluate(frame, node.body if test else node.orelse)
    holds = truth(context, test)
    if holds in (TRUE, FALSE):
        return context.evaluate(frame, node.body if holds == TRUE else node.orelse)
    parts = (node.body, node.orelse)
    then, other = (lambda part=part: Exit(RETURN, RETURNED, context.evaluate(frame, part)) for part in parts)
    return _one_of(context, frame, holds, (then, other), parts)


# ---------------------------------------------------------------------------- containers, functions, strings
def _is_constant_set(node: ast.expr) -> bool:
    """Whether an expression is a set of constants: who only asks whether something is in it does not see the
    order of its items, which each process has for itself."""
    return isinstance(node, ast.Set) and all(isinstance(item, ast.Constant) for item in node.elts)


def _lambda(context: Context, frame: Frame, node: ast.Lambda) -> Value:
    return staged_function(context, frame, node)


def _call(context: Context, frame: Frame, node: ast.Call) -> Value:
    function = context.evaluate(frame, node.func)
    args = items_of(context, frame, node.args)
    kwargs: dict[str, Value] = {}
    for keyword in node.keywords:
        found = context.evaluate(frame, keyword.value)
        if keyword.arg is None:
            context.at(frame, keyword.value)
            kwargs.update(mapping_behind(context, found))
        else:
            kwargs[keyword.arg] = found
    context.at(frame, node)
    if function is super:
        return _super(context, frame, args)
    return context.evaluators.call(context, function, args, kwargs)


def _super(context: Context, frame: Frame, args: Sequence[Value]) -> Value:
    """`super()` is `super(C, self)`: the class the method stands in, and the method's first argument."""
    if not args and "__class__" in frame.closure and frame.names:
        args = (frame.closure["__class__"].cell_contents, next(iter(frame.names.values())))
    if len(args) != 2:
        help = "name both: `super(Class, self)`"
        raise UnsupportedCall("super", context.span, "no method of a class is around this call", help)
    try:
        return super(*args)
    except TypeError as error:
        raise StaticCallFailed("`super`", error, context.span) from error


def _found_from(base: Value, name: str) -> object:
    """What the class of a value says of an attribute; behind `super()` the classes after its own."""
    if not isinstance(base, super):
        return inspect.getattr_static(type(base), name, None)
    proxy: Any = base
    classes = proxy.__self_class__.__mro__
    later = classes[classes.index(proxy.__thisclass__) + 1 :]
    return next((vars(one)[name] for one in later if name in vars(one)), None)


def _walrus(context: Context, frame: Frame, node: ast.NamedExpr) -> Value:
    value = context.evaluate(frame, node.value)
    if node.target.id not in frame.local_names:
        help = "write a statement with an assignment"
        raise UnsupportedSyntax("`:=` of a `nonlocal` name", context.span, help)
    frame.names[node.target.id] = value
    return value


_CONVERSIONS: dict[int, How] = {-1: "format", 115: "str", 114: "repr", 97: "ascii"}


def _string(context: Context, frame: Frame, node: ast.JoinedStr) -> Value:
    parts: list[str | RunText] = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            value = context.evaluate(frame, part.value)
            spec = "" if part.format_spec is None else context.evaluate(frame, part.format_spec)
            assert isinstance(spec, str | RunText)
            context.at(frame, part.value)
            parts.append(written(context, value, _CONVERSIONS[part.conversion], spec))
        else:
            parts.append(str(context.evaluate(frame, part)))
    return joined(parts)


EXPRESSIONS: dict[type[ast.expr], Callable[[Context, Frame, Any], Value]] = {
    ast.Constant: lambda context, frame, node: node.value,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.Call: _call,
    ast.Lambda: _lambda,
    ast.NamedExpr: _walrus,
    ast.JoinedStr: _string,
    ast.Tuple: lambda context, frame, node: tuple(items_of(context, frame, node.elts)),
    ast.List: list_display,
    ast.Set: set_display,
    ast.Dict: dict_display,
    ast.ListComp: lambda context, frame, node: evaluate_list(context, frame, node),
    ast.DictComp: lambda context, frame, node: evaluate_dict(context, frame, node),
    ast.SetComp: lambda context, frame, node: evaluate_set(context, frame, node),
    ast.GeneratorExp: generator,
}
