"""Strings that hold run-time values: f-strings, `str`, `repr`, `format`, `%` and `print`.

Such a string is known in its parts. It can be put together with others, printed, and be the message of an
error; nothing in the program can look into it, since it is made outside compiled code (`printing`). What a
value is there, a number of Python's own or of NumPy's, is what the front end says of it.
"""

from __future__ import annotations

import dataclasses
import re
import string
import sys
from collections.abc import Callable, Mapping, Sequence
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from anadrome import printing
from anadrome.array_ir.nodes import Atom, Print
from anadrome.dtypes import BOOL
from anadrome.errors.frontend import (
    PrintsInParallel,
    StaticCallFailed,
    StaticRequired,
    UnsupportedArgument,
    UnsupportedCall,
    UnsupportedType,
)
from anadrome.frontend.arrays import atom, describe, undecided
from anadrome.frontend.complex_numbers.parts import numpy_type
from anadrome.frontend.context import Context
from anadrome.frontend.iterables import Iterated
from anadrome.frontend.iterators import unrolled
from anadrome.frontend.overloads import own_method
from anadrome.frontend.own import is_own
from anadrome.frontend.run_time_lists import GrowingList
from anadrome.frontend.structures import RowList, children, has_staged, is_dataclass_instance
from anadrome.frontend.values import (
    Array,
    Complex,
    Maybe,
    Missing,
    RunText,
    Scalar,
    ScopeKind,
    Staged,
    TextChoice,
    TextField,
    Value,
    is_staged,
)
from anadrome.printing import How, Stream


# ---------------------------------------------------------------------------- putting together
def joined(parts: Sequence[str | RunText], separator: str | RunText = "") -> str | RunText:
    """Strings, one after the other."""
    found: list[str | TextField | TextChoice] = []
    for position, part in enumerate(parts):
        for one in (separator, part) if position else (part,):
            found += [one] if isinstance(one, str) else one.parts
    if all(isinstance(one, str) for one in found):
        return "".join(one for one in found if isinstance(one, str))
    return RunText(tuple(found))


_PYTHON: dict[How, Callable[[Any], str]] = {"str": str, "repr": repr, "ascii": ascii}


def written(context: Context, value: Value, how: How = "str", spec: str | RunText = "") -> str | RunText:
    """What `str`, `repr`, `ascii` or `format` make of a value; of the first three formatted by `spec`."""
    if isinstance(value, RunText):
        return value if how in ("str", "format") and spec == "" else RunText((TextField(how, value, spec),))
    if isinstance(value, Missing):
        raise value.error("a value in a string", context.span)
    if isinstance(value, Maybe):
        raise undecided(value, context.span, "a value in a string")
    own = _by_own_method(context, value, how, spec)
    if own is not None:
        return own
    if isinstance(value, Scalar | Array | Complex):
        return RunText((_field(context, value, how, spec),))
    if not _is_made_at_run(context, value):
        return _known(context, value, how, spec)
    text = _container(context, value, how)
    if spec == "":
        return text
    if how == "format":  # the containers of Python have no formats
        error = TypeError(f"unsupported format string passed to {type(value).__name__}.__format__")
        raise StaticCallFailed("this format", error, context.span, "format its parts, or write it by `!r`")
    return written(context, text, "format", spec)


def _is_made_at_run(context: Context, value: Value) -> bool:
    """Whether run-time values are in a value, or may be: in objects of the user's classes that the program
    makes, these too are asked for their text in the program."""
    if has_staged(value) or (context.is_made(value) and is_own(type(value))):
        return True
    return any(_is_made_at_run(context, part) for part in children(value) or ())


def _known(context: Context, value: Value, how: How, spec: str | RunText) -> str | RunText:
    _refuse_unfinished(context, value)
    context.surroundings.whole(value)
    try:
        shown = value if how == "format" else _PYTHON[how](value)
        if isinstance(spec, str):
            return format(shown, spec)
    except Exception as error:
        raise StaticCallFailed("this format", error, context.span) from error
    raise StaticRequired("the format of a value that is known while compiling", context.span)


def _refuse_unfinished(context: Context, value: Value) -> None:
    """Refuse what the front end has of lists, iterators and functions that the run will make."""
    if type(value).__module__.startswith("anadrome.frontend"):
        if isinstance(value, GrowingList | RowList | Iterated):
            raise UnsupportedType("a value in a string", "a list of run-time length", context.span, AS_ARRAY)
        raise _refused(context, value, "print the numbers it gives")
    for part in children(value) or ():
        _refuse_unfinished(context, part)


_METHODS: dict[How, tuple[str, ...]] = {
    "str": ("__str__", "__repr__"),
    "repr": ("__repr__",),
    "ascii": ("__repr__",),
    "format": ("__format__", "__str__", "__repr__"),
}
"""The special methods that are asked, the first that the user's class defines."""


def _by_own_method(context: Context, value: Value, how: How, spec: str | RunText) -> str | RunText | None:
    if is_staged(value) or not _is_made_at_run(context, value):
        return None
    for name in _METHODS[how]:
        method = own_method(context, value, name)
        if method is None or _is_generated(method):
            continue
        if name == "__format__":
            return _as_text(context, context.call(method, value, spec), name)
        found = _as_text(context, context.call(method, value), name)
        return found if spec == "" and how != "ascii" else written(context, found, "format", spec)
    return None


def _is_generated(method: FunctionType) -> bool:
    """Whether `dataclasses` has written a `__repr__`."""
    written_by: Any = getattr(method, "__wrapped__", method)
    return isinstance(written_by, FunctionType) and written_by.__code__.co_filename == "<string>"


def _as_text(context: Context, value: Value, what: str) -> str | RunText:
    if not isinstance(value, str | RunText):
        raise UnsupportedType(f"what `{what}` returns", describe(value), context.span, "return a string")
    return value


# ---------------------------------------------------------------------------- containers
def _container(context: Context, value: Value, how: How) -> str | RunText:
    """The `repr` of a container that holds run-time values, as Python's own."""
    inner: How = "ascii" if how == "ascii" else "repr"

    def shown(part: Value) -> str | RunText:
        return written(context, part, inner)

    match value:
        case list() if type(value) is list:
            return joined(["[", joined(list(map(shown, value)), ", "), "]"])
        case tuple() if hasattr(value, "_fields"):
            pairs = [joined([f"{name}=", shown(getattr(value, name))]) for name in value._fields]
            return joined([f"{type(value).__name__}(", joined(pairs, ", "), ")"])
        case tuple() if type(value) is tuple:
            return joined(["(", joined(list(map(shown, value)), ", "), ",)" if len(value) == 1 else ")"])
        case dict() if type(value) is dict:
            pairs = [joined([shown(key), ": ", shown(part)]) for key, part in value.items()]
            return joined(["{", joined(pairs, ", "), "}"])
        case _ if is_dataclass_instance(value) and type(value).__repr__ is not object.__repr__:
            context.surroundings.fields(value)
            fields: Any = dataclasses.fields(value)  # type: ignore[arg-type]
            pairs = [joined([f"{one.name}=", shown(getattr(value, one.name))]) for one in fields if one.repr]
            return joined([f"{type(value).__qualname__}(", joined(pairs, ", "), ")"])
        case _:
            raise _refused(context, value, "print what it holds")


def _refused(context: Context, value: Value, help: str) -> UnsupportedType:
    return UnsupportedType("a value in a string", describe(value), context.span, help)


# ---------------------------------------------------------------------------- run-time values
def _field(context: Context, value: Staged | Complex, how: How, spec: str | RunText) -> TextField:
    """A number or array in a string, as it is now; the format is tried on a value of its type."""
    if not isinstance(value, Scalar) and value.list_depth:
        raise UnsupportedType("a value in a string", "a list of run-time length", context.span, AS_ARRAY)
    is_bool = isinstance(value, Scalar) and value.dtype is BOOL and value.is_weak is None
    is_boxed = isinstance(value, Array) and not value.shape
    if how in ("repr", "ascii") and (is_bool or is_boxed):
        help = "only the run knows whether Python has it as a `bool` or NumPy's own; print it by `str`"
        raise UnsupportedArgument("repr", f"{describe(value)} is not supported", context.span, help)
    if isinstance(spec, str):
        try:
            printing.Text((printing.Field(how, printing.Operand(0), printing.Text((spec,))),)).of(
                [_example(value)]
            )
        except Exception as error:
            help = f"use a format that {describe(value)} has: Python would fail here at every run"
            raise StaticCallFailed("this format", error, context.span, help) from error
    return TextField(how, _now(context, value), spec)


def _example(value: Staged | Complex) -> object:
    match value:
        case Scalar(is_weak=True):
            return 0.0 if value.dtype.is_float else False if value.dtype is BOOL else 0
        case Scalar():
            return value.dtype.numpy.type(0)
        case Array(shape=()):
            return value.dtype.numpy.type(0)
        case Array():
            return np.zeros((0,) * len(value.shape), value.dtype.numpy)
        case Complex(shape=shape) if shape:
            return np.zeros((0,) * len(shape), numpy_type(value.dtype))
        case Complex():
            return 0j if value.is_weak else numpy_type(value.dtype).type(0)


def _now(context: Context, value: Staged | Complex) -> Staged | Complex:
    """The value as it is now, whatever is written into its array later."""
    match value:
        case Complex(real=real, imag=imag):
            parts = (_now(context, real), _now(context, imag))
            return Complex(*parts)  # type: ignore[arg-type]
        case Array():
            return context.wrap(context.read(value))
        case _:
            return value


# ---------------------------------------------------------------------------- the operators of strings
_PERCENT = re.compile(
    r"%(?:\((?P<key>[^)]*)\))?(?P<flags>[#0\- +]*)(?P<width>\*|\d+)?(?P<precision>\.(?:\*|\d*))?"
    r"[hlL]?(?P<kind>[diouxXeEfFgGcrsa%])"
)
_KINDS: dict[str, How] = {"s": "str", "r": "repr", "a": "ascii"}


def percent(context: Context, text: str, values: Value) -> str | RunText:
    """`text % values`"""
    given = list(values) if isinstance(values, tuple) else [values]
    count, end = 0, 0
    parts: list[str | RunText] = []
    for match in _PERCENT.finditer(text):
        parts.append(text[end : match.start()])
        end = match.end()
        if match["kind"] == "%":
            parts.append("%")
            continue
        if "*" in (match["width"] or "") + (match["precision"] or ""):
            help = "write an f-string: `f'{x:{width}.{digits}f}'`"
            raise UnsupportedArgument("%", "`*` in a format is not supported", context.span, help)
        if match["key"] is not None and isinstance(values, Mapping):
            value = values[match["key"]]
        elif count < len(given):
            value, count = given[count], count + 1
        else:
            error = TypeError("not enough arguments for format string")
            raise StaticCallFailed("this operation", error, context.span)
        spec = f"%{match['flags']}{match['width'] or ''}{match['precision'] or ''}{match['kind']}"
        parts.append(_one_percent(context, spec, match["kind"], value))
    if count < len(given) and not isinstance(values, Mapping):
        error = TypeError("not all arguments converted during string formatting")
        raise StaticCallFailed("this operation", error, context.span)
    return joined([*parts, text[end:]])


def _one_percent(context: Context, spec: str, kind: str, value: Value) -> str | RunText:
    if kind in _KINDS:
        text = written(context, value, _KINDS[kind])
        width = f"{spec[:-1]}s"
        if isinstance(text, str):
            return width % text
        return text if width == "%s" else RunText((TextField("percent", text, width),))
    if isinstance(value, Scalar):
        return RunText((_field(context, value, "percent", spec),))
    if has_staged(value):
        raise _refused(context, value, f"`{spec}` writes one number")
    try:
        context.surroundings.whole(value)
        return spec % (value,)
    except Exception as error:
        raise StaticCallFailed("this operation", error, context.span) from error


def formatted(
    context: Context, text: str, args: Sequence[Value], named: Mapping[str, Value]
) -> str | RunText:
    """`text.format(*args, **named)`"""
    parts: list[str | RunText] = []
    count = 0
    for literal, name, spec, conversion in string.Formatter().parse(text):
        parts.append(literal)
        if name is None:
            continue
        if name == "":
            name, count = str(count), count + 1
        try:
            value = args[int(name)] if name.isdigit() else named[name]
        except (IndexError, KeyError) as error:
            if "." in name or "[" in name:
                help = "write an f-string"
                raise UnsupportedArgument(
                    "format", f"`{name}` is not supported", context.span, help
                ) from None
            raise StaticCallFailed("`.format`", error, context.span) from error
        if "{" in (spec or ""):
            help = "write an f-string: `f'{x:{width}}'`"
            raise UnsupportedArgument("format", "a field in a format", context.span, help)
        how = _CONVERSIONS[conversion or ""]
        parts.append(written(context, value, how, spec or ""))
    return joined(parts)


_CONVERSIONS: dict[str, How] = {"": "format", "s": "str", "r": "repr", "a": "ascii"}


def added(context: Context, left: Value, right: Value) -> str | RunText:
    """`left + right` of strings"""
    for side in (left, right):
        if not isinstance(side, str | RunText):
            error = TypeError(f"can only add a string to a string, not {describe(side)}")
            raise StaticCallFailed("this operation", error, context.span)
    return joined([left, right])  # type: ignore[list-item]


def method_of_string(
    context: Context, method: BuiltinFunctionType, args: Sequence[Value], named: Mapping[str, Value]
) -> Value:
    """A method of a string known now, on run-time values."""
    text = method.__self__
    assert isinstance(text, str)
    if method.__name__ == "format":
        return formatted(context, text, args, named)
    if method.__name__ == "join" and len(args) == 1:
        return joined(
            [_as_text(context, part, "an item of `join`") for part in unrolled(context, args[0])], text
        )
    raise UnsupportedCall(f".{method.__name__}", context.span, help=WAYS)


AS_ARRAY = "write the array of its items: `np.array(x)`"
WAYS = "a string of run-time values can be printed, added to, and be the message of an error"
STATES = "use whole numbers for what is a name of one of several states: `IDLE, ON = 0, 1`"


# ---------------------------------------------------------------------------- printing
def print_values(
    context: Context,
    *values: Value,
    sep: Value = " ",
    end: Value = "\n",
    file: Value = None,
    flush: Value = False,
) -> None:
    """`print(*values)`: once for each time that the program comes by, and in its order."""
    if file is not None and file is not sys.stdout and file is not sys.stderr:
        help = "print to `sys.stdout` or `sys.stderr`"
        raise UnsupportedArgument("print", "another `file` is not supported", context.span, help)
    if has_staged(flush):
        raise StaticRequired("the argument `flush` of `print`", context.span)
    between = _as_text(context, " " if sep is None else sep, "sep")
    last = _as_text(context, "\n" if end is None else end, "end")
    text = joined([joined([written(context, value) for value in values], between), last])
    say(context, text, "stderr" if file is not None and file is sys.stderr else "stdout", bool(flush))


_STREAMS: tuple[Stream, ...] = ("stdout", "stderr")


def is_stream_method(function: Value) -> bool:
    """Whether a callable is a method of standard output or standard error that writes."""
    owner = getattr(function, "__self__", None)
    is_writing = getattr(function, "__name__", "") in ("write", "writelines", "flush")
    return is_writing and owner is not None and (owner is sys.stdout or owner is sys.stderr)


def write(context: Context, function: Any, args: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """`sys.stdout.write(text)` and `flush()`"""
    stream = _STREAMS[function.__self__ is sys.stderr]
    match function.__name__, args:
        case "flush", []:
            say(context, "", stream, True)
            return None
        case "write", [str() | RunText() as text] if not named:
            say(context, text, stream)
            return len(text) if isinstance(text, str) else None
        case _:
            help = "write one string, or use `print`"
            raise UnsupportedCall(f".{function.__name__}", context.span, help=help)


def say(context: Context, text: str | RunText, stream: Stream = "stdout", is_flushed: bool = False) -> None:
    """Put a text into the program, to be written when it comes by."""
    if context.is_silent or any(scope.is_counting for scope in context.scopes()):
        return
    _refuse_parallel(context)
    context.prints += 1
    values: list[Atom] = []
    message = printing.Message(_encoded(context, text, values), stream, is_flushed)
    context.builder.let(Print(message.encoded(), tuple(values)))


def _refuse_parallel(context: Context) -> None:
    if context.unprintable:
        raise UnsupportedCall("print", context.span, context.unprintable, "print outside of it")
    for scope in context.scopes():
        if scope.kind is ScopeKind.PARFOR:
            raise PrintsInParallel(context.span)
        if scope.kind is ScopeKind.CONDITION:
            reason = "the condition of a run-time loop does not print"
            help = "write `while True:` with the condition in an `if …: break`"
            raise UnsupportedCall("print", context.span, reason, help)


def _encoded(context: Context, text: str | RunText, values: list[Atom]) -> printing.Text:
    """A text as a message holds it; its run-time values are appended."""
    parts: list[str | printing.Field | printing.Choice] = []
    for part in (text,) if isinstance(text, str) else text.parts:
        if isinstance(part, str):
            if part and parts and isinstance(parts[-1], str):
                parts[-1] += part
            elif part:
                parts.append(part)
            continue
        if isinstance(part, TextChoice):
            selector = _operand(context, part.selector, values)
            options = tuple(_encoded(context, option, values) for option in part.options)
            parts.append(printing.Choice(selector, options))
            continue
        operand = (
            _encoded(context, part.value, values)
            if isinstance(part.value, RunText)
            else _operand(context, part.value, values)
        )
        parts.append(printing.Field(part.how, operand, _encoded(context, part.spec, values)))
    return printing.Text(tuple(parts))


def _operand(context: Context, value: Staged | Complex, values: list[Atom]) -> printing.Operand:
    def place(found: Staged) -> int:
        values.append(atom(context, found))
        return len(values) - 1

    if isinstance(value, Complex):
        return printing.Operand(place(value.real), place(value.imag), value.is_weak)
    return printing.Operand(place(value), None, isinstance(value, Scalar) and bool(value.is_weak))
