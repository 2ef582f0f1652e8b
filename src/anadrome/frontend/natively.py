"""Plain Python run while compiling, on values that are known now, and what it changes.

What plain Python may do to a list, dict, set or object is not remembered from its name: what the objects that
it is handed hold is compared before and after. A change is put back, announced to the scopes around it, which
may have to carry it or refuse it, and done.
"""

from __future__ import annotations

import datetime
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import BuiltinFunctionType, MethodDescriptorType, ModuleType
from typing import Any

import numpy as np

from anadrome.errors.frontend import StaticCallFailed, StaticRequired, UnsupportedCall
from anadrome.frontend.context import Context
from anadrome.frontend.drawing import GENERATORS, STATES
from anadrome.frontend.functions import CalledByPythonError
from anadrome.frontend.generator_expressions import made_list
from anadrome.frontend.heap import contents, is_container, refill
from anadrome.frontend.iterators import unrolled
from anadrome.frontend.list_methods import COMPARING_METHODS
from anadrome.frontend.lists import new_list
from anadrome.frontend.looking_up import item_or
from anadrome.frontend.portable import native_name
from anadrome.frontend.structures import children, flatten, has_staged
from anadrome.frontend.substitutes import instead_of
from anadrome.frontend.values import Array, Key, Value, is_staged
from anadrome.frontend.views import looked_through, refuse_write

READING_METHODS = frozenset({"items", "keys", "values", "get", "copy", "count", "index", "most_common"})
"""Methods of containers that change nothing: their container is not looked at, however long it is."""

TAKING_ITEMS = frozenset({"extend", "extendleft", "update", "fromkeys", "join"})
"""Methods of containers that go over their argument."""

_ASKING = (id, hash, set, frozenset, dict, dict.fromkeys)
_COMPARING = frozenset({"remove", "index", "count"})
"""Functions, and methods of containers, that ask objects which ones they are."""

OUTSIDE_MODULES = ("time", "posix", "nt", "secrets", "_socket", "pathlib", "io", "_io", "subprocess", "uuid")
OUTSIDE_CALLS = (
    *(input, open, os.getenv, np.load, np.loadtxt, np.genfromtxt, np.fromfile),
    *(datetime.datetime.now, datetime.datetime.today, datetime.datetime.utcnow, datetime.date.today),
)
"""What asks the world outside the program: its answer would be that of the day of compiling."""


_PURE_MODULES = frozenset(
    ["math", "cmath", "operator", "_operator", "itertools", "functools", "numpy", "scipy", "anadrome"]
)
"""Packages whose functions give the same for the same arguments, in every process of this version."""

_IMPURE = re.compile(
    r"numpy\.random.*|scipy\.(io|datasets)\..*"
    r"|.*\.(memmap|open_memmap|datetime64|timedelta64|load\w*|save\w*|from(file|regex)|genfromtxt|\w*err\w*"
    r"|\w*printoptions)"
)
"""The functions of those packages that ask files, clocks and settings."""

_PURE_BUILTINS = frozenset(
    [
        *("abs", "all", "any", "bin", "bool", "bytes", "callable", "chr", "complex", "dict", "divmod"),
        *("enumerate", "filter", "float", "getattr", "hasattr", "hex", "int"),
        *("iter", "len", "list", "map", "max", "min", "next", "oct", "ord", "pow", "range", "reversed"),
        *("round", "slice", "sorted", "sum", "tuple", "type", "zip"),
    ]
)

_PLAIN = (str, bytes, int, float, complex, range, slice, list, tuple, dict, deque, np.ndarray)
"""Types whose methods give the same for the same object and arguments."""


def _is_pure(function: Any, args: Sequence[Value]) -> bool:
    """Whether a call gives the same in every process."""
    if (function is isinstance or function is issubclass) and len(args) == 2:
        kinds = args[1] if isinstance(args[1], tuple) else (args[1],)
        return all(type(kind) is type for kind in kinds)  # any class may be registered with an abstract one
    owner = function.__self__ if isinstance(function, BuiltinFunctionType) else None
    if owner is not None and not isinstance(owner, ModuleType):
        return type(owner) in _PLAIN and function.__name__ not in ("tofile", "dump")
    home, name = native_name(function) or ("", "")
    if home == "builtins":
        return name in _PURE_BUILTINS
    is_known = home.partition(".")[0] in _PURE_MODULES
    return is_known and not _IMPURE.fullmatch(f"{home}.{name}")


def makes_arrays(function: Any) -> bool:
    """Whether the arrays that a callable gives are new, or views of what it is given."""
    home, _ = native_name(function) or ("", "")
    return home.partition(".")[0] == "numpy" and not isinstance(function, MethodDescriptorType)


def is_outside(value: object) -> bool:
    """Whether a value is the environment of the process, which another run may find changed."""
    return value is os.environ or getattr(value, "__wrapped__", None) is os.environ


def refuse_environment(context: Context, value: object) -> None:
    """Refuse to look into the environment of the process, once, while compiling."""
    if is_outside(value):
        refuse_outside(context, os.getenv, "os.environ", (), {})


def refuse_outside(
    context: Context, function: Any, name: str, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> None:
    """Refuse what asks the world outside the program, or draws random numbers, once, while compiling."""
    owner = getattr(function, "__self__", None)
    is_environment = any(is_outside(one) for one in (owner, args[0] if args else None))
    if (
        function in OUTSIDE_CALLS
        or getattr(function, "__module__", None) in OUTSIDE_MODULES
        or is_environment
    ):
        raise UnsupportedCall(
            name,
            context.span,
            "it would be asked once, while compiling",
            "call it outside and pass the result as an argument",
        )
    is_drawn = any(isinstance(one, (*GENERATORS, *STATES)) for one in (owner, *args, *kwargs.values()))
    if is_drawn or name == "rvs":
        raise UnsupportedCall(
            name,
            context.span,
            "it would be drawn once, while compiling",
            "draw with the methods of `rng = np.random.default_rng(seed)`, or outside",
        )


CALLED_BACK = (
    "it is not compiled, and cannot call a function of the program; write what it does in Python, with NumPy"
)


def run(
    context: Context,
    function: Callable[..., object],
    name: str,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
) -> Value:
    """The result of a callable of plain Python; what it changes is followed, or refused."""
    owner = getattr(function, "__self__", None)
    is_reading = isinstance(function, BuiltinFunctionType) and function.__name__ in READING_METHODS
    given = (*args, *kwargs.values())
    is_asking = isinstance(owner, set | frozenset | dict) or (
        isinstance(function, type | BuiltinFunctionType) and function in _ASKING
    )
    if (is_asking or getattr(function, "__name__", "") in _COMPARING) and any(
        map(context.identities.is_chosen, given)
    ):
        what = f"which object `{name}` is given"
        raise StaticRequired(what, context.span, "use it where it is chosen: on each way, in each iteration")
    objects = list(_reached((*given, *(() if is_reading else (owner,)))))
    before = [contents(one) for one in objects]
    arrays = [
        one for one in (*given, owner) if isinstance(one, np.ndarray) and one.flags.writeable and one.size
    ]
    try:
        with _read_only(arrays):
            result = function(*args, **kwargs)
    except Exception as error:
        if arrays and isinstance(error, ValueError) and "read-only" in str(error):
            refuse_write(context, *arrays)
        help = ""
        if isinstance(error, CalledByPythonError):
            help = instead_of(function, args)[1] or CALLED_BACK
        raise StaticCallFailed(f"`{name}`", error, context.span, help) from error
    follow(context, objects, before, name)
    if not _is_pure(function, args):
        context.surroundings.stays_here(f"Python has run `{name}`")
    if isinstance(result, (*GENERATORS, *STATES)) and not any(result is one for one in given):
        reason = "the generator would be made once, while compiling"
        help = (
            "make it with `np.random.default_rng(seed)` or `random.Random(seed)`, or pass it as an argument"
        )
        raise UnsupportedCall(name, context.span, reason, help)
    if is_container(result) and not any(result is one for one in _reached((*given, owner))):
        if type(result) is list:
            return new_list(context, result)
        context.made(result)
    return result


@contextmanager
def _read_only(arrays: Sequence[np.ndarray]) -> Iterator[None]:
    """NumPy refuses to write into these arrays, which outlive the call."""
    for array in arrays:
        array.flags.writeable = False
    try:
        yield
    finally:
        for array in sorted(arrays, key=lambda one: len(looked_through(one))):  # a view behind its base
            array.flags.writeable = True


def follow(context: Context, objects: Sequence[Any], before: Sequence[dict[Key, Value]], name: str) -> None:
    """Announce what was changed of these objects, which held `before`."""
    changed = [(one, old, contents(one)) for one, old in zip(objects, before, strict=True)]
    changed = [(one, old, new) for one, old, new in changed if not _is_same(old, new)]
    for one, old, _ in changed:
        refill(one, old)
    for one, _, new in changed:
        context.change(one, f"a {type(one).__name__}, by `{name}`,")
        refill(one, new)


def _is_same(old: Mapping[Key, Value], new: Mapping[Key, Value]) -> bool:
    if len(old) != len(new) or list(old) != list(new):
        return False
    pairs = zip(old.values(), new.values(), strict=True)
    return all(
        one is two or (isinstance(one, set | bytearray) and isinstance(two, set | bytearray) and one == two)
        for one, two in pairs
    )


def _reached(values: Iterable[Value]) -> Iterable[Any]:
    """The containers among these values and in them, each once."""
    pending, seen = list(values), set[int]()
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if is_container(value):
            yield value
        parts = list(value) if isinstance(value, deque) else children(value)
        pending += parts or ()


OPEN_KEY = 'compare it with each key: `if k == "a": …`'


OPEN_PLACE = "make the list in the function, of numbers or of like items"


def _has_open_key(owner: object, name: str, args: Sequence[Value]) -> bool:
    """Whether a method of a dict or set is given a key that only the run knows."""
    if name in ("update", "fromkeys"):
        keys = [list(arg) if isinstance(arg, dict) else arg for arg in args[:1]]
        pairs = [unpaired for arg in keys for unpaired in (arg if isinstance(arg, list | tuple) else ())]
        is_of_pairs = isinstance(owner, dict) and name == "update"
        return any(
            has_staged(pair[0] if is_of_pairs and isinstance(pair, list | tuple) else pair) for pair in pairs
        )
    return has_staged(list(args[:1] if isinstance(owner, dict) else args))


def run_on_container(
    context: Context, function: BuiltinFunctionType, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Value:
    """A method of a container on run-time values: it may move them, and must not look into them."""
    name, owner = function.__name__, function.__self__
    if type(owner) is dict and name == "get" and 1 <= len(args) <= 2 and has_staged(args[0]):
        return item_or(context, owner, *args)
    if isinstance(owner, dict | set | frozenset) and _has_open_key(owner, name, args):
        raise StaticRequired(f"the key that `.{name}` is given", context.span, OPEN_KEY)
    if isinstance(owner, list) and name in ("insert", "pop") and has_staged(list(args[:1])):
        context.grows(owner, StaticRequired(f"the place that `.{name}` changes", context.span, OPEN_PLACE))
    if name in COMPARING_METHODS and isinstance(function.__self__, list):
        return COMPARING_METHODS[name](context, function.__self__, *args, **kwargs)
    if name in ("count", "index", "remove", "sort"):
        raise UnsupportedCall(f".{name}", context.span, "it compares values that are known at run time only")
    plain = [made_list(context, arg) for arg in args]
    if name in TAKING_ITEMS:
        try:
            plain = [arg if isinstance(arg, dict) else unrolled(context, arg) for arg in plain]
        except StaticRequired as error:
            context.grows(function.__self__, error)
    return run(context, function, f".{name}", plain, kwargs)


def without_passing(context: Context, value: Any) -> Any:
    """A tree whose only staged leaves are arrays around the program, with these arrays as they are now, so
    that plain Python can read them; None where anything else is staged."""
    leaves, rebuild = flatten(value, is_staged)
    passed = {one.value.cell: one for one in context.captured.values()}
    plain: list[Value] = []
    for leaf in leaves:
        found = passed.get(leaf.cell) if isinstance(leaf, Array) and leaf.view is None else None
        if found is None:
            return None
        context.surroundings.array(found.place, found.fetch, found.example)
        plain.append(found.example)
    return rebuild(iter(plain))
