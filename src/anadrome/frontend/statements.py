"""Statements: one function for each kind of node, in a literal table; blocks with run-time exits."""

from __future__ import annotations

import ast
import contextlib
import inspect
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from anadrome.array_ir.build import UNNAMED, give_name
from anadrome.array_ir.nodes import FALSE, TRUE, Atom, Check, Var, i64
from anadrome.errors.base import counted, indefinite
from anadrome.errors.frontend import (
    RUN_TEXT,
    FrontendError,
    StaticCallFailed,
    UnsuitableSize,
    UnsupportedSyntax,
)
from anadrome.errors.runtime import AssertionFailed, RaisedError
from anadrome.frontend import pools
from anadrome.frontend.arrays import atom, describe
from anadrome.frontend.calls import staged_function
from anadrome.frontend.classes import make_class
from anadrome.frontend.context import Context
from anadrome.frontend.control import run_for, run_while
from anadrome.frontend.evaluate import attribute, condition, mangled, subscript
from anadrome.frontend.heap import is_same_object, is_view_of
from anadrome.frontend.imports import run_import
from anadrome.frontend.iterators import unrolled
from anadrome.frontend.list_methods import delete, grow
from anadrome.frontend.merge import branch
from anadrome.frontend.nonlocals import owner
from anadrome.frontend.operators import truth
from anadrome.frontend.overloads import own_method
from anadrome.frontend.own import is_inlined
from anadrome.frontend.run_time_lists import GrowingList
from anadrome.frontend.storing import NOT_THERE, in_place, part_of, store_item, swap_items
from anadrome.frontend.structures import RowList, has_staged, reference_of
from anadrome.frontend.trying import run_try
from anadrome.frontend.values import (
    BREAK,
    CONTINUE,
    FALLS_THROUGH,
    NEXT,
    RETURN,
    WHOLE,
    Array,
    Cell,
    Complex,
    Exit,
    Frame,
    Missing,
    RunText,
    Scalar,
    ScopeKind,
    TextChoice,
    TextField,
    Value,
    after_no_break,
    is_staged,
)

NOWHERE = Exit(RETURN, frozenset())
"""How a block ends that raises: nothing after it is reached."""


def run_block(context: Context, frame: Frame, body: Sequence[ast.stmt]) -> Exit:
    """Evaluate statements in order; where an exit is decided at run time the rest is conditional."""
    for position, statement in enumerate(body):
        rest = body[position + 1 :]
        context.at(frame, statement)
        frame.block = context.scope
        if isinstance(statement, ast.If):
            exit_, is_rest_done = _run_if(context, frame, statement, rest)
            if is_rest_done:
                return exit_
        else:
            handler = STATEMENTS.get(type(statement))
            if handler is None:
                raise UnsupportedSyntax(_what(statement), context.span, _HELP.get(type(statement), ""))
            exit_ = handler(context, frame, statement) or FALLS_THROUGH
        if exit_.kinds == {NEXT}:
            continue
        if NEXT not in exit_.kinds or not rest:
            return exit_
        return _guarded(context, frame, exit_, rest)
    return FALLS_THROUGH


def _what(node: ast.stmt) -> str:
    return f"`{_WORDS.get(type(node), type(node).__name__.lower())}`"


_WORDS: dict[type[ast.stmt], str] = {
    ast.AsyncFor: "async for",
    ast.AsyncWith: "async with",
    ast.AsyncFunctionDef: "async def",
    ast.TryStar: "try",
}


_HELP: dict[type[ast.stmt], str] = {
    ast.Match: "take patterns without `*rest`, mappings and positions of classes, or write it with `if`",
}


def _guarded(context: Context, frame: Frame, exit_: Exit, rest: Sequence[ast.stmt]) -> Exit:
    """The rest of a block where a statement before it may have left the block at run time."""
    assert not isinstance(exit_.code, int)
    goes_on = context.builder.apply("eq", exit_.code, i64(NEXT))
    left = exit_.kinds - {NEXT}
    code: int | Atom = next(iter(left)) if len(left) == 1 else exit_.code

    def remaining() -> Exit:
        frame.names = after_no_break(frame.names)
        return run_block(context, frame, rest)

    return branch(
        context,
        frame,
        goes_on,
        remaining,
        lambda: Exit(code, left, exit_.value),
        _live(frame, rest[-1], exit_.kinds),
    )


def _live(frame: Frame, last: ast.stmt, kinds: frozenset[int]) -> frozenset[str]:
    """Names that may be read after a branch."""
    around = frame.loop_live[-1] if frame.loop_live else frozenset()
    return frame.live.get(last, frozenset()) | (around if kinds != {NEXT} else frozenset())


# ---------------------------------------------------------------------------- if
def _run_if(context: Context, frame: Frame, node: ast.If, rest: Sequence[ast.stmt]) -> tuple[Exit, bool]:
    """The exit of an `if`, and whether the statements after it were evaluated as part of it: where one way
    always leaves the block, they belong to the other way."""
    test = condition(context, frame, node.test)
    context.at(frame, node.test)
    if not is_staged(test):
        return run_block(context, frame, node.body if _static_truth(context, test) else node.orelse), False
    holds = truth(context, test)
    if holds in (TRUE, FALSE):
        return run_block(context, frame, node.body if holds == TRUE else node.orelse), False
    if not node.orelse and len(node.body) == 1 and isinstance(node.body[0], ast.Raise):
        _emit_raise(context, frame, node.body[0], context.builder.apply("not", holds))
        return FALLS_THROUGH, False
    then, other, is_rest_done = list(node.body), list(node.orelse), False
    if rest and always_leaves(node.body):
        other, is_rest_done = [*other, *rest], True
    elif rest and always_leaves(node.orelse):
        then, is_rest_done = [*then, *rest], True
    live = _live(frame, rest[-1] if is_rest_done else node, _possible(node, rest if is_rest_done else ()))
    exit_ = branch(
        context,
        frame,
        holds,
        lambda: run_block(context, frame, then),
        lambda: run_block(context, frame, other),
        live,
    )
    return exit_, is_rest_done


def _static_truth(context: Context, value: Value) -> bool:
    context.surroundings.truth_of(value)
    try:
        return bool(value)
    except Exception as error:
        raise StaticCallFailed("this condition", error, context.span) from error


def _possible(node: ast.If, rest: Sequence[ast.stmt]) -> frozenset[int]:
    leaves = any(
        isinstance(inner, ast.Break | ast.Continue) for part in (node, *rest) for inner in ast.walk(part)
    )
    return frozenset({NEXT, BREAK}) if leaves else frozenset({NEXT})


def always_leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether every way through these statements ends in return, break, continue or raise."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.If):
        return always_leaves(last.body) and always_leaves(last.orelse)
    return isinstance(last, ast.Return | ast.Break | ast.Continue | ast.Raise)


# ---------------------------------------------------------------------------- assignment
def assign(context: Context, frame: Frame, target: ast.expr, value: Value) -> None:
    """Bind a target: a name, an element or slice, an attribute, or a nest of these."""
    match target:
        case ast.Name(id=name):
            own = owner(context, frame, name)
            own.names[name] = value
            _call(context, value, name)
            own.assigned[name] = frame.source.span(target)
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            _unpack(context, frame, targets, value)
        case ast.Subscript():
            base = context.evaluate(frame, target.value)
            index = context.evaluate(frame, target.slice)
            context.at(frame, target)
            store_item(context, base, index, value)
        case ast.Attribute(attr=name):
            base = context.evaluate(frame, target.value)
            context.at(frame, target)
            store_attribute(context, base, mangled(frame, name), value)
        case _:
            raise UnsupportedSyntax("this target of an assignment", frame.source.span(target))


def _call(context: Context, value: Value, name: str) -> None:
    """Let what the last statement has computed be called by the name that the program gives it; what was
    there before, such as an argument `a`, has a name of its own."""
    made = context.builder.lets[-1].targets if context.builder.lets else ()
    match value:
        case Scalar(atom=Var() as var) | Array(cell=Cell(var=var), view=None):
            if var in made and var.name in UNNAMED:
                give_name(var, name)
        case _:
            pass


def _unpack(context: Context, frame: Frame, targets: Sequence[ast.expr], value: Value) -> None:
    context.at(frame, targets[0])
    parts = unrolled(context, value)
    starred = [position for position, target in enumerate(targets) if isinstance(target, ast.Starred)]
    if starred:
        first = starred[0]
        last = len(parts) - (len(targets) - first - 1)
        middle = parts[first:last]
        context.made(middle)
        parts = [*parts[:first], middle, *parts[last:]]
    if len(parts) != len(targets):
        names = ", ".join(ast.unparse(target) for target in targets)
        reason = f"{counted(len(parts), 'value')} for {counted(len(targets), 'name')}"
        raise UnsuitableSize(
            f"{names} = ...", reason, context.span, "write as many names as there are values"
        )
    for target, part in zip(targets, parts, strict=True):
        assign(context, frame, target.value if isinstance(target, ast.Starred) else target, part)


def store_attribute(context: Context, base: Value, name: str, value: Value) -> None:
    """`base.name = value`"""
    if isinstance(base, Complex) and base.shape and name in ("real", "imag"):
        store_item(context, getattr(base, name), Ellipsis, value)
        return
    setter = inspect.getattr_static(type(base), name, None)
    if isinstance(setter, property) and is_inlined(setter.fset):
        context.call(setter.fset, base, value)
        return
    method = own_method(context, base, "__setattr__")
    if method is not None:
        context.call(method, base, name, value)
        return
    old, reference = part_of(context, base, name), reference_of(base)
    if old is value:
        return
    if reference is None:
        context.change(base, f"an object, by `.{name} =`,", WHOLE if old is NOT_THERE else name)
    try:
        setattr(base, name, value)
    except Exception as error:
        raise StaticCallFailed("this assignment", error, context.span) from error
    if reference is not None:
        pools.store(context, base, name, value)


def _assignment(context: Context, frame: Frame, node: ast.Assign) -> None:
    if _is_swap(node) and _swapped(context, frame, *node.targets[0].elts):  # type: ignore[attr-defined]
        return
    value = context.evaluate(frame, node.value)
    for target in node.targets:
        assign(context, frame, target, value)


def _is_swap(node: ast.Assign) -> bool:
    """Whether a statement is `a[i], a[j] = a[j], a[i]`, of expressions that do nothing but read."""
    match node:
        case ast.Assign(
            targets=[ast.Tuple(elts=[ast.Subscript() as one, ast.Subscript() as two])],
            value=ast.Tuple(elts=[ast.Subscript() as left, ast.Subscript() as right]),
        ):
            texts = [ast.unparse(part) for part in (one, two, right, left)]
            inner = [
                part for item in (one, two) for side in (item.value, item.slice) for part in ast.walk(side)
            ]
            is_plain = all(isinstance(part, _READING) for part in inner)
            return is_plain and texts[:2] == texts[2:] and ast.unparse(one.value) == ast.unparse(two.value)
        case _:
            return False


_READING = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context)


def _swapped(context: Context, frame: Frame, one: ast.Subscript, two: ast.Subscript) -> bool:
    base = context.evaluate(frame, one.value)
    first, second = context.evaluate(frame, one.slice), context.evaluate(frame, two.slice)
    context.at(frame, one)
    return swap_items(context, base, first, second)


def _annotated(context: Context, frame: Frame, node: ast.AnnAssign) -> None:
    if node.value is not None:
        assign(context, frame, node.target, context.evaluate(frame, node.value))


def _augmented(context: Context, frame: Frame, node: ast.AugAssign) -> None:
    """`target op= value`: read the target, evaluate the value, operate in place, store; each part once."""
    target = node.target
    match target:
        case ast.Name(id=name):
            old = context.evaluate(frame, ast.copy_location(ast.Name(name, ast.Load()), target))
            new = _operated(context, frame, node, old)
            if not is_same_object(new, old):
                assign(context, frame, target, new)
        case ast.Attribute(attr=name):
            base = context.evaluate(frame, target.value)
            context.at(frame, target)
            name = mangled(frame, name)
            old = attribute(context, base, name)
            new = _operated(context, frame, node, old)
            if not is_same_object(new, old) or not context.is_made(base):
                store_attribute(context, base, name, new)
        case ast.Subscript():
            base = context.evaluate(frame, target.value)
            index = context.evaluate(frame, target.slice)
            context.at(frame, target)
            old = subscript(context, base, index)
            new = _operated(context, frame, node, old)
            is_row = isinstance(base, GrowingList) and isinstance(new, Array | Complex)
            is_written = is_same_object(new, old) and (
                is_row or (isinstance(base, Array | Complex) and is_view_of(new, base))
            )
            if not is_written:
                store_item(context, base, index, new)
        case _:
            raise UnsupportedSyntax("this target of an assignment", frame.source.span(target))


def _operated(context: Context, frame: Frame, node: ast.AugAssign, old: Value) -> Value:
    """What `old op= value` gives: `old` itself where it changes in place, else a new value."""
    value = context.evaluate(frame, node.value)
    context.at(frame, node)
    return in_place(context, type(node.op), old, value)


# ---------------------------------------------------------------------------- the other statements
def _expression(context: Context, frame: Frame, node: ast.Expr) -> None:
    if not isinstance(node.value, ast.Constant):
        context.evaluate(frame, node.value)


def _global(context: Context, frame: Frame, node: ast.Global) -> None:
    """`global x` of a name that is only read says nothing new."""
    bound = [name for name in node.names if name in frame.local_names]
    if bound:
        raise UnsupportedSyntax(f"binding the `global` name `{bound[0]}`", context.span, "return the value")


def _return(context: Context, frame: Frame, node: ast.Return) -> Exit:
    value = None if node.value is None else context.evaluate(frame, node.value)
    if isinstance(node.value, ast.Tuple) and isinstance(value, tuple) and len(value) == len(node.value.elts):
        for part, one in zip(node.value.elts, value, strict=True):
            if isinstance(one, Array) and one.cell.poisoned is not None:
                context.at(frame, part)  # it cannot be read: what reads the result says so here
                break
    return Exit(RETURN, frozenset({RETURN}), value)


def _function(context: Context, frame: Frame, node: ast.FunctionDef) -> None:
    value: Value = staged_function(context, frame, node)
    for decorator in reversed(node.decorator_list):
        value = context.call(context.evaluate(frame, decorator), value)
    owner(context, frame, node.name).names[node.name] = value


def _class(context: Context, frame: Frame, node: ast.ClassDef) -> None:
    owner(context, frame, node.name).names[node.name] = make_class(context, frame, node)


def _delete(context: Context, frame: Frame, node: ast.Delete) -> None:
    for target in node.targets:
        match target:
            case ast.Name(id=name):
                owner(context, frame, name).names[name] = Missing("deleted")
            case ast.Subscript():
                base = context.evaluate(frame, target.value)
                index = context.evaluate(frame, target.slice)
                context.at(frame, target)
                if isinstance(base, GrowingList):
                    delete(context, base, index)
                    continue
                error = UnsupportedSyntax("`del` of an element of this", context.span)
                if isinstance(base, RowList) or (isinstance(base, Array) and base.list_depth):
                    grow(context, base, error)
                if isinstance(base, list) and has_staged(index):
                    context.grows(base, error)
                if not isinstance(base, list | deque | dict) or has_staged(index):
                    raise error
                context.change(base, f"{indefinite(type(base).__name__)}, by `del`,")
                try:
                    base.__delitem__(index)  # type: ignore[arg-type]
                except Exception as error:
                    raise StaticCallFailed("`del`", error, context.span) from error
            case _:
                raise UnsupportedSyntax("`del` of this", context.span)


SETTINGS = (np.errstate, warnings.catch_warnings, contextlib.nullcontext)
"""Context managers that change no value: how plain Python warns."""


def _with(context: Context, frame: Frame, node: ast.With) -> Exit:
    """`with np.errstate(…)`: compiled code does not warn, so the block is all there is."""
    for item in node.items:
        value = context.evaluate(frame, item.context_expr)
        context.at(frame, item.context_expr)
        if not isinstance(value, SETTINGS) or item.optional_vars is not None:
            help = "compute without it, or enter it around the call of the compiled function"
            raise UnsupportedSyntax("a `with` of this object", context.span, help)
    return context.evaluators.block(context, frame, node.body)


def _assert(context: Context, frame: Frame, node: ast.Assert) -> Exit:
    test = condition(context, frame, node.test)
    holds = truth(context, test) if is_staged(test) else (TRUE if _static_truth(context, test) else FALSE)
    if holds == TRUE:
        return FALLS_THROUGH
    message, values = (
        ("the assertion does not hold", ()) if node.msg is None else _message(context, frame, node.msg)
    )
    context.at(frame, node.test)
    if holds == FALSE and context.scope.kind is ScopeKind.FUNCTION:
        raise AssertionFailed(_static_words(message, values), context.span)
    context.builder.let(Check(holds, "assert", message, tuple(values)))
    context.facts.assume(context.scope, holds, True)
    return FALLS_THROUGH


def _raise(context: Context, frame: Frame, node: ast.Raise) -> Exit:
    if node.exc is None and context.handled:
        raise context.handled[-1]
    scope, kinds = context.trying[-1] if context.trying else (None, ())
    raised: Any = context.evaluate(frame, node.exc) if scope is context.scope and node.exc else None
    raised = raised() if isinstance(raised, type) and issubclass(raised, BaseException) else raised
    if isinstance(raised, kinds):
        error = RaisedError.of(type(raised).__name__, (), context.span)
        error.raised = raised
        raise error
    _emit_raise(context, frame, node, FALSE)
    return NOWHERE


def _emit_raise(context: Context, frame: Frame, node: ast.Raise, holds: Atom) -> None:
    """`raise E("message")` as a run-time check; where it is certain while compiling, an error now."""
    name, message, values = "", "", ()
    if isinstance(node.exc, ast.Call):
        name = ast.unparse(node.exc.func)
        if node.exc.args:
            message, values = _message(context, frame, node.exc.args[0])  # type: ignore[assignment]
    elif node.exc is not None:
        name = ast.unparse(node.exc)
    words = f"{name}: {message}" if message else name or "raise"
    if name == "StopIteration":
        context.refuse_stop("`raise StopIteration`")
    context.at(frame, node)
    if holds == FALSE and context.scope.kind is ScopeKind.FUNCTION:
        raise RaisedError.of(words, ["(a run-time value)"] * len(values), context.span)
    context.builder.let(Check(holds, "raise", words, tuple(values)))
    context.facts.assume(context.scope, holds, True)


def _message(context: Context, frame: Frame, node: ast.expr) -> tuple[str, Sequence[Atom]]:
    """The words of an error; run-time numbers in a string become placeholders."""
    values: list[Atom] = []
    try:
        found = context.evaluate(frame, node)
    except FrontendError:
        return _escaped(ast.unparse(node)), values
    if isinstance(found, RunText):
        return "".join(_worded(context, part, values) for part in found.parts), values
    return _escaped(describe(found) if has_staged(found) else str(found)), values


def _worded(context: Context, part: str | TextField | TextChoice, values: list[Atom]) -> str:
    """A part of a message; of an array its type."""
    if isinstance(part, str):
        return _escaped(part)
    if isinstance(part, TextChoice):
        return _escaped(RUN_TEXT)
    if isinstance(part.value, Scalar) and isinstance(part.spec, str) and part.how != "percent":
        values.append(atom(context, part.value))
        return f"{{{len(values) - 1}{f':{part.spec}' if part.spec else ''}}}"
    return _escaped(describe(part.value))


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _static_words(message: str, values: Sequence[Atom]) -> str:
    """The words of a check that fails while compiling, when run-time numbers have no value yet."""
    return message.format(*("(a run-time value)" for _ in values))


STATEMENTS: dict[type[ast.stmt], Callable[[Context, Frame, Any], Exit | None]] = {
    ast.Assign: _assignment,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Expr: _expression,
    ast.For: lambda context, frame, node: run_for(context, frame, node, assign),
    ast.While: run_while,
    ast.Return: _return,
    ast.Break: lambda context, frame, node: Exit(BREAK, frozenset({BREAK})),
    ast.Continue: lambda context, frame, node: Exit(CONTINUE, frozenset({CONTINUE})),
    ast.Pass: lambda context, frame, node: None,
    ast.Nonlocal: lambda context, frame, node: None,
    ast.Global: _global,
    ast.FunctionDef: _function,
    ast.ClassDef: _class,
    ast.Delete: _delete,
    ast.Import: run_import,
    ast.ImportFrom: run_import,
    ast.With: _with,
    ast.Try: run_try,
    ast.Assert: _assert,
    ast.Raise: _raise,
}
