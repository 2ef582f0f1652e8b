"""Classes: objects that calls of them make, and classes that a program defines inside itself.

The body of a class is evaluated while compiling, in names of its own; its methods are functions of the
program and see the names of the function around the class. Python makes the class itself: bases, metaclasses
and decorators such as `dataclass` do what they do there.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import types
from collections.abc import Mapping, MutableMapping, Sequence
from enum import Enum
from types import CellType, FunctionType
from typing import Any

import numpy as np

from anadrome.errors.frontend import (
    CallMismatch,
    FrontendError,
    StaticCallFailed,
    StaticRequired,
    UnsupportedCall,
    UnsupportedSyntax,
)
from anadrome.frontend.context import Context
from anadrome.frontend.functions import StagedFunction
from anadrome.frontend.lists import joins_pool
from anadrome.frontend.liveness import analyse_block, assigned_names
from anadrome.frontend.own import is_inlined, is_own
from anadrome.frontend.structures import has_staged
from anadrome.frontend.values import Frame, Value
from anadrome.prims.node import replace


def construct(context: Context, cls: Any, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """Make an object: a dataclass or namedtuple of the arguments, or of a class with a Python `__init__`."""
    if issubclass(cls, np.generic) and len(args) == 1:
        scalar = np.dtype(cls)
        return context.call(np.asarray, args[0], dtype=scalar)
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return cls(*args, **kwargs)
    if issubclass(cls, BaseException):
        return cls(*args, **kwargs)
    if cls is functools.partial:
        whole: Any = functools.partial
        return whole(*args, **kwargs)
    if cls.__new__ is not object.__new__:
        raise UnsupportedCall(cls.__name__, context.span)
    new = object.__new__(cls)
    context.made(new)
    _initialise(context, new, args, kwargs)
    joins_pool(context, new)
    return new


def _initialise(context: Context, new: Any, args: Sequence[Value], kwargs: Mapping[str, Value]) -> None:
    """What `__init__` does to an object that was made."""
    cls = type(new)
    if _has_fields(cls):
        _fill_dataclass(context, cls, new, args, kwargs)
        return
    init = cls.__init__
    if init is object.__init__ and not args and not kwargs:
        return
    if not isinstance(init, FunctionType | StagedFunction):
        raise UnsupportedCall(cls.__name__, context.span)
    context.surroundings.attribute(cls, "__init__", init)
    context.call(init, new, *args, **kwargs)


def _has_fields(cls: type) -> bool:
    """Whether a class is a dataclass whose `__init__` is the generated one."""
    init = cls.__init__  # type: ignore[misc]
    is_generated = isinstance(init, FunctionType) and init.__code__.co_filename == "<string>"
    return is_generated and dataclasses.is_dataclass(cls)


def _fill_dataclass(
    context: Context, cls: type, new: object, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> None:
    try:
        bound = inspect.signature(cls).bind(*args, **kwargs)
    except TypeError as error:
        raise CallMismatch(cls.__name__, str(error), context.span) from None
    for field in dataclasses.fields(cls):
        if field.name in bound.arguments:
            value = bound.arguments[field.name]
        elif field.default_factory is not dataclasses.MISSING:
            value = context.call(field.default_factory)
        else:
            value = field.default
        object.__setattr__(new, field.name, value)
    after = getattr(cls, "__post_init__", None)
    if after is not None:
        context.call(after, new)


def is_inlined_class(cls: type) -> bool:
    """Whether calls of a class are evaluated even where every argument is static."""
    if issubclass(cls, BaseException) or not is_own(cls):
        return False
    if isinstance(vars(cls).get("__init__"), FunctionType):
        return True
    return any(is_local(one) for one in cls.__mro__) and not issubclass(cls, tuple | Enum)


LOCAL = "__anadrome_local__"
"""The attribute that marks a class which a program has defined inside itself."""


def is_local(cls: type) -> bool:
    """Whether a program has defined this class inside itself."""
    return LOCAL in vars(cls)


# ---------------------------------------------------------------------------- class statements
def make_class(context: Context, frame: Frame, node: ast.ClassDef) -> Value:
    """The class that a `class` statement makes."""
    decorators = [context.evaluate(frame, one) for one in node.decorator_list]
    bases: Any = tuple(context.evaluate(frame, base) for base in node.bases)
    keywords = {str(one.arg): context.evaluate(frame, one.value) for one in node.keywords}
    context.at(frame, node)
    if any(is_own(one) for one in (*bases, keywords.get("metaclass")) if _runs_code(one)):
        raise UnsupportedSyntax(
            "a class whose base or metaclass runs code of its own when it is made",
            context.span,
            "define the class outside",
        )
    names = _evaluated_body(context, frame, node)
    context.at(frame, node)
    try:
        made = types.new_class(
            node.name, types.resolve_bases(bases), keywords, lambda space: _fill(space, names)
        )
    except Exception as error:
        raise StaticCallFailed(f"`class {node.name}`", error, context.span) from error
    context.surroundings.made(made)
    _bind_methods(made)
    for decorator in reversed(decorators):
        made = _decorated(context, decorator, made)
    return made


def _runs_code(base: Any) -> bool:
    """Whether making a subclass of this runs Python code of the user's."""
    if not isinstance(base, type):
        return False
    hooks = ("__init_subclass__", "__prepare__") if not issubclass(base, type) else ("__new__", "__init__")
    own = [inspect.getattr_static(base, name, None) for name in hooks]
    functions = [getattr(one, "__func__", one) for one in own]
    is_run = any(isinstance(one, FunctionType | StagedFunction) and is_own(one) for one in functions)
    return is_run or (not issubclass(base, type) and type(base) is not type and _runs_code(type(base)))


def _evaluated_body(context: Context, frame: Frame, node: ast.ClassDef) -> dict[str, Value]:
    """The names that the body of a class binds."""
    qualified = f"{frame.name}.<locals>.{node.name}"
    start: dict[str, Value] = {
        "__module__": frame.globals.get("__name__"),
        "__qualname__": qualified,
        "__annotations__": {},
        LOCAL: True,
    }
    body = replace(
        frame, names=start, local_names=assigned_names(node.body), closure={}, outer=frame, is_class=True
    )
    body.live, body.live_head = frame.live, frame.live_head
    found = analyse_block(node.body, assigned_names(node.body))
    frame.live.update(found.after)
    frame.live_head.update(found.head)
    for statement in node.body:
        context.at(body, statement)
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            start["__annotations__"][statement.target.id] = _annotation(context, body, statement.annotation)  # type: ignore[index]
        if isinstance(statement, ast.FunctionDef) and statement.decorator_list:
            body.names[statement.name] = _method(context, body, statement)
        else:
            context.evaluators.block(context, body, [statement])
    for name, value in body.names.items():
        if has_staged(value):
            context.at(frame, node)
            help = "set it in `__init__`, or read the name of the function in the methods"
            raise StaticRequired(f"the attribute `{name}` of a class", context.span, help)
    return {**body.names, LOCAL: True}


def _annotation(context: Context, frame: Frame, node: ast.expr) -> Value:
    """An annotation as Python has it, or as text where it says what is there for a type checker alone."""
    span = context.span
    try:
        return context.evaluate(frame, node)
    except FrontendError:
        return ast.unparse(node)
    finally:
        context.span = span


def _method(context: Context, frame: Frame, node: ast.FunctionDef) -> Value:
    """A method with decorators: Python's own make descriptors of it."""
    decorators = [context.evaluate(frame, one) for one in node.decorator_list]
    bare = ast.copy_location(ast.FunctionDef(node.name, node.args, node.body, [], node.returns), node)
    context.evaluators.block(context, frame, [bare])
    value = frame.names[node.name]
    for decorator in reversed(decorators):
        value = _decorated(context, decorator, value)
    return value


def _decorated(context: Context, decorator: Any, value: Value) -> Any:
    """`decorator(value)`: one of Python's own runs while compiling."""
    if is_inlined(decorator) or not callable(decorator):
        return context.call(decorator, value)
    try:
        return decorator(value)
    except Exception as error:
        raise StaticCallFailed("this decorator", error, context.span) from error


def _fill(space: MutableMapping[str, Any], names: Mapping[str, Value]) -> None:
    for name, value in names.items():
        space[name] = value


def _bind_methods(cls: type) -> None:
    """Methods know their class, which `super()` and private names need."""
    for value in vars(cls).values():
        parts = [getattr(value, name, None) for name in ("fget", "fset", "fdel", "__func__")]
        for method in (value, *parts):
            if isinstance(method, StagedFunction):
                method.closure = {"__class__": CellType(cls)}
                method.__qualname__ = f"{cls.__qualname__}.{method.__name__}"
