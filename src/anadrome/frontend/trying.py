"""`try`: what Python raises while compiling is handled then; what may be raised at run time is not.

A compiled program ends where one of its checks fails. So a `try` is compiled where nothing that its handlers
name can be raised by the run: `except KeyError` around a dict whose keys are known, `except ImportError`
around an import, `except LinAlgError` around what solves nothing. Else it is refused by the name of the
handler. `finally` runs after every way through the body.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Check, Let, Library
from anadrome.array_ir.walk import all_lets, bodies, has_effect
from anadrome.errors.base import Span
from anadrome.errors.frontend import StaticCallFailed, StaticIndexError, UnsupportedSyntax
from anadrome.errors.runtime import RaisedError
from anadrome.frontend.context import Context
from anadrome.frontend.liveness import assigned_names, reads
from anadrome.frontend.values import NEXT, Exit, Frame

Kinds = tuple[type[BaseException], ...]
Block = Callable[[Sequence[ast.stmt]], Exit]

RAISED_BY_CHECKS: dict[str, Kinds] = {
    "index": (IndexError,),
    "size": (ValueError,),
    "mask": (IndexError,),
    "assert": (AssertionError,),
    "empty": (ValueError,),
    "singular": (np.linalg.LinAlgError,),
    "convergence": (np.linalg.LinAlgError, RuntimeError),
    "memory": (MemoryError,),
    "nonfinite": (),
    "budget": (),
    "power": (ValueError,),
    "decomposition": (np.linalg.LinAlgError,),
    "room": (),
}
"""The kind of a run-time check -> what Python raises where it fails; `raise` says it itself."""


def run_try(context: Context, frame: Frame, node: ast.Try) -> Exit:
    """`try: body` with `except`, `else` and `finally`"""

    def block(body: Sequence[ast.stmt]) -> Exit:
        return context.evaluators.block(context, frame, body)

    exit_ = _handled(context, frame, node, block) if node.handlers else block([*node.body, *node.orelse])
    if not node.finalbody:
        return exit_
    if not isinstance(exit_.code, int) and assigned_names(node.body) & _read(node.finalbody):
        context.at(frame, node.finalbody[0])
        raise UnsupportedSyntax(
            "a `finally` that uses what a `try` assigns, which may be left before its end,",
            context.span,
            "leave the `try` at its end alone: put `return`, `break` and `continue` behind it",
        )
    last = block(node.finalbody)
    if last.kinds != {NEXT}:
        context.at(frame, node.finalbody[0])
        raise UnsupportedSyntax("a `finally` that returns, breaks or continues", context.span)
    return exit_


def _read(body: Sequence[ast.stmt]) -> frozenset[str]:
    return frozenset(name for statement in body for name in reads(statement))


def _handled(context: Context, frame: Frame, node: ast.Try, block: Block) -> Exit:
    kinds = [_kinds(context, frame, handler) for handler in node.handlers]
    scope, before = context.scope, len(context.hazards)
    marks = [(one.builder, len(one.builder.lets)) for one in context.scopes()]
    context.trying.append((scope, tuple(one for kind in kinds for one in kind)))
    try:
        exit_ = block(node.body)
    except (StaticCallFailed, StaticIndexError, RaisedError) as error:
        raised = IndexError(str(error)) if isinstance(error, StaticIndexError) else error.raised
        found = [one for one, kind in zip(node.handlers, kinds, strict=True) if isinstance(raised, kind)]
        if not found or raised is None or context.scope is not scope:
            raise
        _refuse_hazards(context, frame, node, kinds, marks, before)
        return _handle(context, frame, found[0], error, raised, block)
    finally:
        context.trying.pop()
    _refuse_hazards(context, frame, node, kinds, marks, before)
    if exit_.kinds == {NEXT}:
        return block(node.orelse)
    if NEXT in exit_.kinds and node.orelse:
        context.at(frame, node.orelse[0])
        raise UnsupportedSyntax("an `else` of a `try` that may be left before its end", context.span)
    return exit_


def _kinds(context: Context, frame: Frame, handler: ast.ExceptHandler) -> Kinds:
    """The exceptions that a handler names."""
    if handler.type is None:
        return (BaseException,)
    value: Any = context.evaluate(frame, handler.type)
    given: Sequence[Any] = value if isinstance(value, tuple) else (value,)
    if not all(isinstance(one, type) and issubclass(one, BaseException) for one in given):
        context.at(frame, handler.type)
        raise UnsupportedSyntax("an `except` of what is no class of exceptions", context.span)
    return tuple(given)


def _handle(
    context: Context,
    frame: Frame,
    handler: ast.ExceptHandler,
    error: Exception,
    raised: BaseException,
    block: Block,
) -> Exit:
    """The body of a handler, for an exception that was raised while compiling."""
    if handler.name is not None:
        frame.names[handler.name] = raised
    context.handled.append(error)
    try:
        return block(handler.body)
    finally:
        context.handled.pop()
        if handler.name is not None:
            frame.names.pop(handler.name, None)


# ---------------------------------------------------------------------------- what the run may raise
def _refuse_hazards(
    context: Context,
    frame: Frame,
    node: ast.Try,
    kinds: Sequence[Kinds],
    marks: Sequence[tuple[Builder, int]],
    before: int,
) -> None:
    """Refuse a handler of what the body may raise while the program runs."""
    hazards: list[tuple[Kinds, str, Span | None]] = list(context.hazards[before:])
    for builder, mark in marks:
        for let in (inner for own in builder.lets[mark:] for inner in _with_inner(own)):
            match let.expr:
                case Check(error="raise", message=message):
                    hazards.append((_named(message), "a `raise`", let.span))
                case Check(error=error):
                    hazards.append((RAISED_BY_CHECKS[error], "what is checked", let.span))
                case Library():
                    hazards.append(((np.linalg.LinAlgError, ValueError), "this call", let.span))
                case expr if has_effect(expr):
                    hazards.append(((IndexError,), "an index", let.span))
                case _:
                    pass
    for handler, kind in zip(node.handlers, kinds, strict=True):
        for raised, what, span in hazards:
            if any(issubclass(one, kind) or issubclass(two, one) for one in raised for two in kind):
                name = "except" if handler.type is None else f"except {ast.unparse(handler.type)}"
                where = f" ({span})" if span is not None else ""
                context.at(frame, handler)
                raise UnsupportedSyntax(
                    f"`{name}` around {what}{where} that may fail while the program runs",
                    context.span,
                    "test with `if` whether it can be done, or handle the error around the call of the "
                    "compiled function",
                )


def _with_inner(let: Let) -> Iterator[Let]:
    yield let
    for _, body in bodies(let.expr):
        yield from all_lets(body)


def _named(message: str) -> Kinds:
    """The class that a `raise` names; any exception where its name is the program's own."""
    found = getattr(builtins, message.partition(":")[0], None)
    return (found,) if isinstance(found, type) and issubclass(found, BaseException) else (BaseException,)
