"""Calling: tables of compiled forms, Python functions evaluated inline, plain Python run while compiling."""

from __future__ import annotations

import ast
import functools
import inspect
import math
import operator
import types
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Number
from types import BuiltinFunctionType, FunctionType, MethodType, NoneType
from typing import Any, ClassVar, TypeGuard

import numpy as np

from anadrome.array_ir.nodes import i64
from anadrome.dtypes import BOOL
from anadrome.errors.base import counted
from anadrome.errors.frontend import (
    RUN_TEXT,
    CallMismatch,
    RecursionTooDeep,
    StaticCallFailed,
    UnsupportedArgument,
    UnsupportedCall,
    UnsupportedSyntax,
)
from anadrome.frontend import natively
from anadrome.frontend.applying import refuse_maybe
from anadrome.frontend.arrays import as_array, atom, boxed, describe, unboxed, undecided
from anadrome.frontend.builtin_calls import BUILTINS, DATA_MODEL
from anadrome.frontend.classes import construct, is_inlined_class
from anadrome.frontend.complex_numbers.forms import COMPLEX_CALLS, complex_call, complex_method
from anadrome.frontend.complex_numbers.parts import complex_of, is_complex_array
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.draw_methods import form_of, is_random
from anadrome.frontend.functions import FunctionText, StagedFunction
from anadrome.frontend.growing import plain_list
from anadrome.frontend.iterables import Iterated
from anadrome.frontend.iterators import GeneratorCall, Iterator, LazyGenerator, unrolled
from anadrome.frontend.library import CALLS, METHODS
from anadrome.frontend.library.python_program import PROGRAMS
from anadrome.frontend.library.sparse import FORMS
from anadrome.frontend.list_methods import COMPARING_METHODS
from anadrome.frontend.liveness import INNER, analyse, assigned_names, captured_names, kinds, own_nodes
from anadrome.frontend.natively import refuse_outside, without_passing
from anadrome.frontend.nonlocals import declared, declared_inside
from anadrome.frontend.overloads import holds_own, own_asked, special_method
from anadrome.frontend.own import is_inlined, is_own
from anadrome.frontend.parallel.ufuncs import UFUNC_METHODS
from anadrome.frontend.run_time_lists import GrowingList
from anadrome.frontend.sharing import aliases
from anadrome.frontend.source import FunctionNode, Source
from anadrome.frontend.structures import RowList, children, flatten, has_staged, has_text, maybe
from anadrome.frontend.substitutes import instead_of
from anadrome.frontend.texts import WAYS, is_stream_method, method_of_string, write
from anadrome.frontend.values import (
    BY_ROWS,
    NEXT,
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
    is_numpy_array,
    is_staged,
    python_name,
)
from anadrome.frontend.views import laid_out_like
from anadrome.prims.node import replace

RAISING_CALLS = (int, round, divmod, pow)
"""Builtins that raise on some of Python's numbers."""

ASKING = (min, max, sum, sorted, any, all, math.prod)
"""Builtins that ask methods of the user's objects that they are given."""

CALL_LIMIT = 60
"""Inline calls may be nested this deep."""


@dataclass(frozen=True, slots=True, eq=False)
class BoundMethod:
    """A method of an array, looked up and not yet called."""

    python_name: ClassVar[str] = "method"
    name: str
    owner: Scalar | Array | Complex


# ---------------------------------------------------------------------------- the dispatch
def call(context: Context, function: Value, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """Call any callable of the program on values."""
    refuse_maybe(context, function)
    stage = getattr(type(function), "__anadrome_stage__", None)
    if stage is not None:
        for value in (*args, *kwargs.values()):
            context.surroundings.fields(value)
        return stage(function, context, tuple(args), dict(kwargs))
    match function:
        case StagedFunction():
            return _call_staged_function(context, function, args, kwargs)
        case BoundMethod(name=name, owner=owner):
            form = complex_method(name, owner, args, kwargs) or METHODS[name]
            return _numpys(run_row(context, form, f".{name}", (owner, *args), kwargs))
        case functools.partial():
            context.surroundings.see((function.args, function.keywords))
            return call(context, function.func, (*function.args, *args), {**function.keywords, **kwargs})
        case operator.itemgetter() | operator.attrgetter() | operator.methodcaller() if len(args) == 1:
            return _got(context, function, args[0])
        case _ if is_random(function):
            return run_row(context, form_of(context, function), name_of(function), args, kwargs)
        case MethodType() if isinstance(function.__self__, tuple) and function.__name__ == "_replace":
            return function(*args, **kwargs)
        case MethodType() if isinstance(function.__self__, tuple) and function.__name__ == "_asdict":
            return context.call(dict, function())
        case MethodType():
            return call(context, function.__func__, (function.__self__, *args), kwargs)
        case _:
            pass
    if not callable(function):
        reason = f"this is {describe(function)}"
        raise UnsupportedCall("a value that is not a function", context.span, reason, "call a function")
    asked = own_asked(context, function, args[0]) if len(args) == 1 and not kwargs else None
    if asked is not None:
        found = context.call(asked, args[0])
        return found if function in (abs, len) else call(context, function, (found,), {})
    text = _program_of(function)
    if text is not None and any(_is_runtime(one) or holds_own(one) for one in (*args, *kwargs.values())):
        return call_function(context, text, args, kwargs)
    if not _takes_lists(function):
        args = [_as_list(context, arg) for arg in args]
        kwargs = {name: _as_list(context, arg) for name, arg in kwargs.items()}
    if any(function is one for one in RAISING_CALLS) or getattr(function, "__module__", None) in (
        "math",
        "cmath",
        "statistics",
    ):
        context.may_raise(f"`{name_of(function)}`", ValueError, ArithmeticError)
    row = _row(context, function, args, kwargs)
    given, is_asking = (*args, *kwargs.values()), any(function is one for one in ASKING)
    is_staged_call = any(
        _is_runtime(value) or (is_asking and holds_own(value)) for value in given
    ) or _is_data_model(function)
    if is_staged_call and row is not None:
        found = run_row(context, row, name_of(function), args, kwargs)
        return _numpys(found) if _is_of_numpy(function) else found
    if _compares_items(function):
        return natively.run_on_container(context, function, args, kwargs)
    if is_stream_method(function):
        return write(context, function, args, kwargs)
    if not is_staged_call and not _is_inlined(function):
        return _call_static(context, function, row, args, kwargs)
    return _call_python(context, function, args, kwargs)


def _is_of_numpy(function: Value) -> bool:
    """Whether what a function gives is NumPy's where nothing else is said."""
    module = "numpy" if isinstance(function, np.ufunc) else getattr(function, "__module__", None)
    return str(module).partition(".")[0] in ("numpy", "scipy")


def _numpys(found: Value) -> Value:
    """A bool of which it is not said whose it is as NumPy's."""
    is_open = isinstance(found, Scalar) and found.dtype is BOOL and found.is_weak is None
    return replace(found, is_weak=False) if is_open else found  # type: ignore[type-var]


def _compares_items(function: Value) -> TypeGuard[BuiltinFunctionType]:
    """Whether a method of a list compares items that are known at run time only."""
    if not isinstance(function, BuiltinFunctionType) or function.__name__ not in COMPARING_METHODS:
        return False
    owner = function.__self__
    return isinstance(owner, list) and (has_staged(owner) or holds_own(owner))


def _program_of(function: Value) -> FunctionType | None:
    """The text that is compiled in place of a function of Python's."""
    found = PROGRAMS.get(function) if isinstance(function, BuiltinFunctionType | FunctionType) else None
    return found if isinstance(found, FunctionType) else None


def _got(context: Context, function: Any, owner: Value) -> Value:
    """What `operator.itemgetter`, `attrgetter` and `methodcaller` find in an object."""
    made, given = function.__reduce__()
    if isinstance(function, operator.methodcaller):
        named = made.keywords if isinstance(made, functools.partial) else {}
        name, *rest = (*made.args, *given) if isinstance(made, functools.partial) else given
        return context.call(context.call(getattr, owner, name), *rest, **named)
    if isinstance(function, operator.itemgetter):
        found = [context.call(operator.getitem, owner, key) for key in given]
    else:
        found = [
            functools.reduce(functools.partial(context.call, getattr), name.split("."), owner)
            for name in given
        ]
    return found[0] if len(found) == 1 else tuple(found)


def _row(
    context: Context, function: Value, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> StagedCall | None:
    """The compiled form of a callable of the tables, for these arguments."""
    try:
        if any(function in table for table in (CALLS, UFUNC_METHODS, COMPLEX_CALLS)):
            form = complex_call(function, args, kwargs)  # type: ignore[arg-type]
            if form is not None:
                return form
        for table in (context.calls, BUILTINS, CALLS, UFUNC_METHODS, FORMS):
            if function in table:
                return table[function]  # type: ignore[index]
    except TypeError:
        return None
    return None


UNCHANGEABLE = (Scalar, Complex, Number, np.generic, str, NoneType)


def _remembered(
    context: Context, name: str, function: Value, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Value:
    """A call of a cached function, which is evaluated each time: right where nobody sees that it is."""
    if isinstance(function, StagedFunction):
        reason = "what an inner function reads may change, and what it has remembered does not"
        raise UnsupportedCall(name, context.span, reason, "leave the cache out")
    for arg in (*args, *kwargs.values()):
        if is_numpy_array(arg) or isinstance(arg, list | dict | set | GrowingList | np.ndarray):
            error = TypeError(f"unhashable type: '{python_name(arg)}'")
            raise StaticCallFailed(f"the call of `{name}`", error, context.span)
    found = call(context, function, args, kwargs)
    parts = found if isinstance(found, tuple) else (found,)
    if any(getattr(part, "shape", ()) or not isinstance(part, UNCHANGEABLE) for part in parts):
        reason = "what it gives can be changed, and is one object in each call"
        help = "return a number or a tuple of numbers, or leave the cache out"
        raise UnsupportedCall(name, context.span, reason, help)
    return found


def _is_runtime(value: Value) -> bool:
    if isinstance(
        value, LazyGenerator | Iterator | Iterated | GrowingList | RowList | StagedFunction | BoundMethod
    ):
        return True
    if has_staged(value) or special_method(value, "__iter__") is not None:
        return True
    parts = children(value)
    return parts is not None and any(_is_runtime(part) for part in parts)


def _as_list(context: Context, value: Value) -> Value:
    """A list of run-time length, or a deque of run-time values, as the values that it holds now."""
    if isinstance(value, deque) and has_staged(list(value)):
        return list(value)
    return plain_list(context, value)


def _takes_lists(function: Value) -> bool:
    """Whether a function looks at a list of run-time length itself, and not at the values it holds now."""
    return _is_inlined(function) or _is_data_model(function) or function in (len, isinstance, type)


def _is_data_model(function: Value) -> bool:
    return isinstance(function, type | FunctionType | BuiltinFunctionType) and function in DATA_MODEL


def _is_inlined(function: Value) -> bool:
    """Whether a callable is the user's own: its calls are evaluated even where every argument is static."""
    if isinstance(function, type):
        return is_inlined_class(function)
    if isinstance(function, FunctionType):
        return is_own(function)
    if isinstance(function, functools._lru_cache_wrapper) and isinstance(
        function.__wrapped__, StagedFunction
    ):
        return True
    return is_inlined(inspect.getattr_static(type(function), "__call__", None))


def name_of(function: Value) -> str:
    """How a user would call a callable."""
    return str(getattr(function, "__name__", type(function).__name__))


def run_row(
    context: Context, row: StagedCall, name: str, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Value:
    """Call a compiled form; arguments its signature does not have are refused in the user's words."""
    refuse_maybe(context, *args, *kwargs.values())
    if name.lstrip(".") not in LOOKING:
        args = [unboxed(context, arg) for arg in args]
        kwargs = {key: arg if key == "out" else unboxed(context, arg) for key, arg in kwargs.items()}
    if name not in TAKING_TEXT and any(isinstance(arg, RunText) for arg in (*args, *kwargs.values())):
        raise UnsupportedArgument(name, f"{RUN_TEXT} is not supported", context.span, WAYS)
    try:
        inspect.signature(row).bind(context, *args, **kwargs)
    except TypeError as error:
        raise CallMismatch(name, str(error), context.span) from None
    found = row(context, *args, **kwargs)
    return found if name in IN_ORDER else _laid_out(context, found, (*args, *kwargs.values()))


def _laid_out(context: Context, found: Value, given: Sequence[Value]) -> Value:
    """A new array is laid out in memory as those that it is computed from, if nothing else is said of it."""
    part = found.real if isinstance(found, Complex) else found
    if isinstance(part, Array) and part.view is None and part.cell.layout is BY_ROWS:
        sources = [one for value in given for one in flatten(value, is_staged)[0]]
        if not any(part.cell is cell for cell in aliases(sources)):
            laid_out_like(context, part, sources)
    return found


TAKING_TEXT = frozenset({"print", "str", "repr", "ascii", "format", "isinstance", "type", "setattr"})
"""Functions that may be given a string of run-time values."""

IN_ORDER = frozenset({".copy", "flatten", ".flatten", "ascontiguousarray", "dot", "matmul", "outer"})
"""Functions that lay out what they make in row-major order, whatever the layout of their arguments."""

LOOKING = frozenset(
    [
        *(
            "array",
            "asarray",
            "asanyarray",
            "ascontiguousarray",
            "asfortranarray",
            "astype",
            "copy",
            "copyto",
            "fill",
        ),
        *("atleast_1d", "atleast_2d", "atleast_3d", "expand_dims", "ravel", "reshape", "squeeze"),
        *("putmask", "transpose", "conj", "conjugate", "imag", "real", "isinstance", "type", "round"),
    ]
)
"""Functions that look at an array of no dimensions itself, and not at the number that it holds now."""


# ---------------------------------------------------------------------------- plain Python
def _call_static(
    context: Context,
    function: Value,
    row: StagedCall | None,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
) -> Value:
    """Run a callable while compiling; a NumPy array it makes belongs to the program."""
    if not callable(function):
        raise UnsupportedCall(repr(function), context.span, "it is not callable")
    refuse_outside(context, function, name_of(function), args, kwargs)
    context.surroundings.read_by(function, (*args, *kwargs.values()))
    result = context.sparse_or_same(natively.run(context, function, name_of(function), args, kwargs))
    given = (*args, *kwargs.values(), getattr(function, "__self__", None))
    if isinstance(result, np.ndarray) and any(_shares_memory(result, one) for one in given):
        return result  # a view of what outlives the call, or that itself
    if isinstance(result, np.ndarray) and natively.makes_arrays(function):
        context.surroundings.made(result)
    if isinstance(result, np.ndarray) and not result.ndim and not is_complex_array(result):
        return boxed(context, atom(context, result[()]))
    if isinstance(result, np.ndarray):
        if row is not None and result.ndim and result.size > 16:
            return run_row(context, row, name_of(function), args, kwargs)
        if is_complex_array(result):
            return complex_of(context, result)
        return as_array(context, result)
    return result


def _shares_memory(result: np.ndarray, given: Value) -> bool:
    if isinstance(given, np.ndarray):
        return bool(np.may_share_memory(result, given))
    return isinstance(given, list | tuple | dict) and any(
        _shares_memory(result, one) for one in children(given) or ()
    )


def _call_python(
    context: Context, function: Value, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Value:
    """A call that is not in the tables: inline where there is source."""
    if isinstance(function, FunctionType) and _is_inlined(function):
        return call_function(context, function, args, kwargs)
    if isinstance(function, type):
        return construct(context, function, args, kwargs)
    if isinstance(function, BuiltinFunctionType) and isinstance(function.__self__, str):
        return method_of_string(context, function, args, kwargs)
    if isinstance(function, BuiltinFunctionType) and isinstance(
        function.__self__, list | dict | tuple | set | deque
    ):
        return natively.run_on_container(context, function, args, kwargs)
    wrapped = getattr(function, "__wrapped__", None)
    if isinstance(function, functools._lru_cache_wrapper) and is_inlined(wrapped):
        return _remembered(context, name_of(function), wrapped, args, kwargs)
    if is_inlined(wrapped):
        return call(context, wrapped, args, kwargs)
    method = inspect.getattr_static(type(function), "__call__", None)
    if isinstance(method, FunctionType | StagedFunction):
        context.surroundings.attribute(type(function), "__call__", method)
        context.surroundings.class_of(function)
        return call(context, method, (function, *args), kwargs)
    taken = [
        unrolled(context, arg) if isinstance(arg, Iterator | LazyGenerator) else plain_list(context, arg)
        for arg in args
    ]
    plain = None if has_text((args, kwargs)) else without_passing(context, (taken, dict(kwargs)))
    if plain is None:
        name, help = instead_of(function, args)
        if name.startswith("np."):
            help = help or "write it with other functions of NumPy, or as a loop"
        raise UnsupportedCall(name, context.span, help=help)
    return _call_static(context, function, None, *plain)


# ---------------------------------------------------------------------------- inline calls
def call_function(
    context: Context,
    function: FunctionType,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    text: FunctionText | None = None,
) -> Value:
    """Evaluate a Python function's text on values, or another text in its place."""
    text = text or function_text(context, function)
    context.surroundings.function(function)
    names = bind_arguments(
        context,
        function.__qualname__,
        text.node.args,
        (args, kwargs),
        function.__defaults__ or (),
        function.__kwdefaults__ or {},
    )
    closure = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    frame = _frame(function.__qualname__, text, names, function.__globals__, closure, None)
    return _run(context, frame, text)


def _call_staged_function(
    context: Context, function: StagedFunction, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Value:
    text = function.text
    names = bind_arguments(
        context, function.__name__, text.node.args, (args, kwargs), function.defaults, function.kw_defaults
    )
    outer = function.frame
    frame = _frame(function.__qualname__, text, names, outer.globals, function.closure, outer)
    return _run(context, frame, text)


def _frame(
    name: str,
    text: FunctionText,
    names: dict[str, Value],
    globals_: dict[str, Value],
    closure: dict[str, types.CellType],
    outer: Frame | None,
) -> Frame:
    return Frame(
        name,
        text.source,
        names,
        text.local_names,
        globals_,
        closure,
        outer,
        text.liveness.after,
        text.liveness.head,
        text.nonlocals,
        text.shared,
    )


def _run(context: Context, frame: Frame, text: FunctionText) -> Value:
    if len(context.call_names) >= CALL_LIMIT:
        raise RecursionTooDeep(frame.name, CALL_LIMIT, context.span)
    span, node = context.span, text.node
    context.call_names.append(frame.name)
    try:
        if isinstance(node, ast.Lambda):
            return context.evaluate(frame, node.body)
        if isinstance(node, ast.FunctionDef) and text.yields:
            made = GeneratorCall(node, frame)
            context.made(made)
            return made
        return _result(context, frame, context.evaluators.block(context, frame, node.body))
    finally:
        context.call_names.pop()
        context.span = span


def _result(context: Context, frame: Frame, exit_: Exit) -> Value:
    if exit_.kinds <= {RETURN}:
        if isinstance(exit_.value, Missing):
            raise exit_.value.error(f"the result of {frame.name}", context.span)
        return exit_.value
    if exit_.kinds == {NEXT} or exit_.value is None:
        return None
    assert not isinstance(exit_.code, int)
    is_there = context.builder.apply("eq", exit_.code, i64(RETURN))  # falling off the end gives None
    if not isinstance(exit_.value, Maybe):
        return maybe(Scalar(is_there), exit_.value)
    if exit_.value.other is not None:
        raise undecided(exit_.value, context.span, f"the result of {frame.name}")
    both = context.builder.apply("and", is_there, exit_.value.is_there.atom)
    return maybe(Scalar(both), exit_.value.value)


def function_text(context: Context, function: FunctionType) -> FunctionText:
    """The text of a Python function, analysed once in a staging run."""
    code = function.__code__
    found: FunctionText | None = context.texts.get(code)
    if found is None:
        source, node = context.sources.find(function, context.span)
        found = context.texts[code] = analysed(context, source, node)
    return found


def staged_function(context: Context, frame: Frame, node: ast.FunctionDef | ast.Lambda) -> StagedFunction:
    """The function object a `def` or lambda of the program makes."""
    if node not in context.texts:
        context.texts[node] = analysed(context, frame.source, node)
    defaults = [context.evaluate(frame, default) for default in node.args.defaults]
    kw_defaults = {
        arg.arg: context.evaluate(frame, default)
        for arg, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        if default is not None
    }
    return StagedFunction(context.texts[node], frame, defaults, kw_defaults)


def analysed(context: Context, source: Source, node: FunctionNode) -> FunctionText:
    """What is known of a function from its text."""
    body: list[ast.stmt] = [ast.Expr(node.body)] if isinstance(node, ast.Lambda) else node.body
    if isinstance(node, ast.AsyncFunctionDef):
        raise UnsupportedSyntax("an `async` function", source.span(node), "define it with `def`")
    found = kinds(body)
    own = own_nodes(body) if found & {ast.Await, ast.Yield, ast.YieldFrom} else []
    for inner in sorted(own, key=lambda part: getattr(part, "lineno", 0)):
        if isinstance(inner, ast.Await):
            raise UnsupportedSyntax("`await`", source.span(inner), "return an array or a tuple")
    yields = any(isinstance(inner, ast.Yield | ast.YieldFrom) for inner in own)
    inside = [] if found.isdisjoint(INNER) else body
    arguments = node.args
    names = {arg.arg for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    names |= {arg.arg for arg in (arguments.vararg, arguments.kwarg) if arg is not None}
    bound = frozenset(names) | assigned_names(body)
    outer = declared(body) if ast.Nonlocal in found else frozenset()
    shared = declared_inside(inside) & (bound - outer)
    liveness = analyse(body, captured_names(inside) | outer)
    return FunctionText(source, node, liveness, bound - outer, outer, shared, yields)


def bind_arguments(
    context: Context,
    name: str,
    parameters: ast.arguments,
    given: tuple[Sequence[Value], Mapping[str, Value]],
    defaults: Sequence[Value],
    kw_defaults: Mapping[str, Value],
) -> dict[str, Value]:
    """The names a call binds, by Python's rules."""
    args, kwargs = list(given[0]), dict(given[1])
    positional = [arg.arg for arg in (*parameters.posonlyargs, *parameters.args)]
    names: dict[str, Value] = dict(zip(positional, args, strict=False))
    extra = args[len(positional) :]
    if parameters.vararg is not None:
        names[parameters.vararg.arg] = tuple(extra)
    elif extra:
        raise CallMismatch(
            name,
            f"{counted(len(args), 'argument')} for {counted(len(positional), 'parameter')}",
            context.span,
        )
    allowed = {arg.arg for arg in (*parameters.args, *parameters.kwonlyargs)}
    for key in [key for key in kwargs if key in allowed]:
        if key in names:
            raise CallMismatch(name, f"two values for `{key}`", context.span)
        names[key] = kwargs.pop(key)
    if parameters.kwarg is not None:
        context.made(kwargs)
        names[parameters.kwarg.arg] = kwargs
    elif kwargs:
        raise CallMismatch(name, f"no parameter is named `{next(iter(kwargs))}`", context.span)
    for key, default in zip(positional[len(positional) - len(defaults) :], defaults, strict=True):
        names.setdefault(key, default)
    for key, default in kw_defaults.items():
        names.setdefault(key, default)
    missing = [key for key in (*positional, *(arg.arg for arg in parameters.kwonlyargs)) if key not in names]
    if missing:
        raise CallMismatch(name, f"no value for `{missing[0]}`", context.span)
    return names
