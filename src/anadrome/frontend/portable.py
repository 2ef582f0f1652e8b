"""What staging has read around a program, in words that another process understands.

Staging reads globals, closures, attributes and containers; `captured.Surroundings` records the objects. Here
they are walked from the function that is compiled, and named by the order in which they are reached. The walk
makes a *digest* of all that was read: of numbers and strings their values, of functions and classes the text
of their files and the place in it, of what belongs to Python and its libraries the name. Another process that
walks along the same names and comes to the same digest would stage the same program.

What is not understood here is `Unportable`, and its program is staged in every process.
"""

from __future__ import annotations

import builtins
import dataclasses
import enum
import functools
import hashlib
import importlib
import inspect
import linecache
import os
import struct
import sys
from collections import OrderedDict, deque, namedtuple
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from anadrome.errors.base import indefinite
from anadrome.errors.source_text import lines_of
from anadrome.frontend.annotations import Annotation
from anadrome.frontend.captured import Readings, Surroundings, place_of
from anadrome.frontend.guards import Guards, Placed
from anadrome.frontend.own import is_library, is_native, is_own
from anadrome.frontend.source import STARTED
from anadrome.frontend.unfiled import UNFILED

_NOTHING = Readings()

_CONTAINERS = (list, dict, OrderedDict, deque)
_METACLASSES = (type, enum.EnumMeta)
_PARTS_OF_CLASSES = (bool, int, float, str, FunctionType, property, staticmethod, classmethod)
_HOMES_OF_MARKS = ("dataclasses", "numpy", "scipy")
"""Packages with objects that are what they are by their names, such as `np.s_` and `scipy.stats.norm`."""

OfModules = tuple[tuple[str, tuple[str, ...]], ...]


class Unportable(Exception):
    """A program depends on what only this process knows, or what is not understood."""


@dataclass(frozen=True, slots=True)
class Trail:
    """The names to be read of each object of a walk, in the order in which they are reached; and those of
    modules of Python's and its libraries."""

    readings: tuple[Readings, ...] = ()
    of_modules: OfModules = ()


def trail_of(record: Surroundings, roots: Sequence[object]) -> tuple[Trail, str, Walk]:
    """The trail along which a record was read from these roots, its digest, and the walk itself.

    Raises `Unportable` where a part of it cannot be said to another process.
    """
    if record.local is not None:
        raise Unportable(record.local)
    try:
        found = record.readings()
    except KeyError as error:
        raise Unportable("an array was read at a place without a name") from error
    walk = Walk(lambda _, value: found.get(id(value), _NOTHING))
    digest = walk.run(roots, record.of_modules())
    holders = record.holders()
    for key in found:
        if key not in walk.numbers and not _is_ours(holders.get(key)):
            held = holders.get(key)
            kind = "an array" if held is None else indefinite(type(held).__name__)
            raise Unportable(f"{kind} was read that no name of the function leads to")
    return Trail(tuple(walk.readings), record.of_modules()), digest, walk


def followed(trail: Trail, roots: Sequence[object]) -> tuple[str, Walk]:
    """The digest of what stands along a trail in this process, and the walk itself.

    Raises `Unportable` where it cannot be followed to its end.
    """
    count = len(trail.readings)
    walk = Walk(lambda number, _: trail.readings[number] if number < count else _NOTHING)
    return walk.run(roots, trail.of_modules), walk


def guards_of(walk: Walk, limit: int) -> Guards:
    """What staging would have left to look at before each call, had it read what this walk has read."""
    record = Surroundings(limit)
    passed: dict[int, Placed] = {}
    for value, readings in zip(walk.objects, walk.readings, strict=True):
        record.read_again(value, readings)
        for name, number in readings.arrays:
            place, fetch = place_of(value, name)
            array: Any = fetch()
            if number < 0:
                record.array(place, fetch, array)
            else:
                passed[number] = (place, fetch, array)
    return record.finish([passed[number] for number in sorted(passed)])


def resolved(function: object, annotation: object) -> object:
    """An annotation as an object: under `from __future__ import annotations` it is text of its module."""
    if not isinstance(annotation, str):
        return annotation
    names = getattr(inspect.unwrap(function), "__globals__", {}) if callable(function) else {}
    try:
        return eval(annotation, dict(names))
    except Exception:  # an annotation may name what exists only for a type checker
        return None


def _is_ours(holder: object) -> bool:
    """Whether an object belongs to Anadrome, Python or its libraries, of which nothing has to be said."""
    if isinstance(holder, dict):
        return str(holder.get("__name__")).partition(".")[0] == "anadrome"
    if isinstance(holder, FunctionType):
        return holder.__module__.partition(".")[0] == "anadrome" and "<locals>" not in holder.__qualname__
    return isinstance(holder, type | ModuleType) and is_native(holder)


class Walk:
    """One walk: `objects` in the order in which they were reached, and what is read of each."""

    def __init__(self, readings_of: Callable[[int, object], Readings]) -> None:
        self.numbers: dict[int, int] = {}
        self.objects: list[object] = []
        self.readings: list[Readings] = []
        self._memory: dict[int, tuple[int, np.ndarray]] = {}
        self._readings_of = readings_of
        self._digest = hashlib.sha256()

    def run(self, roots: Sequence[object], of_modules: OfModules) -> str:
        """The digest of all that is reached from the roots."""
        try:
            for root in roots:
                self.value(root)
            for name, names in of_modules:
                module = importlib.import_module(name)
                self.say("module", name)
                for one in names:
                    self.say("name", one)
                    self._of_module(module, one)
            while len(self.readings) < len(self.objects):
                self._go_on(self.objects[len(self.readings)])
        except Unportable:
            raise
        except Exception as error:  # other things stand along the trail than where it was left
            raise Unportable(f"what was read is not there: {error}") from error
        return self._digest.hexdigest()

    def say(self, *words: object) -> None:
        """Add words and numbers to the digest."""
        data = repr(words).encode()
        self._digest.update(len(data).to_bytes(8, "little"))
        self._digest.update(data)

    # ------------------------------------------------------------------ values
    def value(self, value: Any) -> None:
        """Add a value: what cannot change as it is, any other as an object, whose parts follow later."""
        kind = type(value)
        if kind in (int, bool, str, bytes, type(None), type(Ellipsis), range):
            self.say(kind.__name__, value)
        elif kind is float:
            self.say("float", struct.pack("<d", value))
        elif kind is complex:
            self.say("complex", struct.pack("<dd", value.real, value.imag))
        elif issubclass(kind, np.generic) and is_native(kind) and not value.dtype.hasobject:
            self.say("number", kind.__name__, repr(value.dtype), value.dtype.str, value.tobytes())
        elif issubclass(kind, np.dtype):
            self.say("dtype", value.str, repr(value))
        elif (name := native_name(value)) is not None:
            self.say("native", *name)
        elif id(value) in self.numbers:
            self.say("object", self.numbers[id(value)])
        else:
            self.numbers[id(value)] = len(self.objects)
            self.objects.append(value)
            self.say("new")

    def _of_module(self, module: ModuleType, name: str) -> None:
        """What a module of Python's or its libraries has under a name."""
        value: Any = getattr(module, name)
        if isinstance(value, ModuleType) or module.__name__.partition(".")[0] == "anadrome":
            self.say("its own", type(value).__qualname__, getattr(value, "__name__", ""))
            is_replaced = isinstance(value, FunctionType | ModuleType) and not is_native(value)
            if is_replaced:
                raise Unportable("a library was changed")
        else:
            self.value(value)

    # ------------------------------------------------------------------ objects
    def _go_on(self, value: Any) -> None:
        """Describe the next object, and what is read of it."""
        number = len(self.readings)
        readings = self._readings_of(number, value)
        self.readings.append(readings)
        self.say(repr(readings))
        _refuse_tricks(type(value))
        self._describe(value, readings)
        is_of_kind = (
            (readings.items or readings.absent, dict),
            (readings.is_function, FunctionType),
            (readings.is_cell, CellType),
            (readings.has_elements, np.ndarray),
        )
        if any(is_read and type(value) is not kind for is_read, kind in is_of_kind):
            raise Unportable("another kind of object stands there")
        for name in readings.items:
            self.say("item", name)
            self.value(value[name])
        for name in readings.absent:
            if name in value:
                raise Unportable("a name is there that was not")
            self.say("absent", name)
            self.value(getattr(builtins, name, None))
        for name in readings.attributes:
            self.say("attribute", name)
            self.value(_attribute(value, name))
        for name in readings.missing:
            if _static(value, name) is not _ABSENT or _static(type(value), "__getattr__") is not _ABSENT:
                raise Unportable("an attribute is there that was not")
            self.say("missing", name)
        if readings.is_cell:
            self.value(value.cell_contents)
        if readings.has_contents:
            self._contents(value)
        if readings.has_elements:
            self._array(value, is_passed=False)
        for name, passed in readings.arrays:
            self.say("array", name)
            is_computable = not isinstance(value, dict | CellType | np.ndarray)
            array = _attribute(value, name) if is_computable else place_of(value, name)[1]()
            self._array(array, passed >= 0)

    def _contents(self, value: Any) -> None:
        if type(value) not in _CONTAINERS:
            raise Unportable(f"the program looks into a {type(value).__name__}")
        self.say("contents", len(value))
        for item in value.items() if isinstance(value, dict) else value:
            self.value(item)

    def _array(self, array: Any, is_passed: bool) -> None:
        """An array: its type and shape, which other arrays have its memory, and its elements, if they are in
        the program."""
        if type(array) is not np.ndarray or array.dtype.hasobject:
            raise Unportable("what stands there is no plain array")
        owner = array
        while type(owner.base) is np.ndarray:
            owner = owner.base
        if owner.base is not None:
            raise Unportable("an array has its memory from something else")
        numbers = [self._memory.setdefault(id(one), (len(self._memory), one))[0] for one in (array, owner)]
        self.say(repr(array.dtype), array.dtype.str, array.shape, numbers)
        if not is_passed:
            start = array.ctypes.data - owner.ctypes.data
            self.say(start, array.strides, array.flags.writeable, array.tobytes())

    def _describe(self, value: Any, readings: Readings) -> None:
        """What an object is, apart from what is read of it."""
        parts = getattr(type(value), "__anadrome_parts__", None)
        match value:
            case FunctionType():
                self._function(value)
            case MethodType():
                self._parts("method", value.__func__, value.__self__)
            case functools.partial() if type(value) is functools.partial:
                self._parts("partial", value.func, value.args, value.keywords)
            case property() if type(value) is property:
                self._parts("property", value.fget)
            case staticmethod() | classmethod() if is_native(type(value)):
                self._parts(type(value).__name__, value.__func__)
            case ModuleType():
                self.say("module", value.__name__)
            case CellType():
                self.say("cell")
            case type():
                self._class(value)
            case tuple():
                self.say("tuple", len(value))
                if type(value) is not tuple:
                    self.value(type(value))
                self._parts("items", *value)
            case slice():
                self._parts("slice", value.start, value.stop, value.step)
            case _ if type(value) in _CONTAINERS:
                self.say(type(value).__name__)
            case np.ndarray() if readings.has_elements or readings.arrays:
                self.say("array")
            case enum.Enum():
                self.say("member", value._name_)
                self._parts("value", value._value_, type(value))
                for base, read in _READERS.items():
                    if isinstance(value, base):
                        self.value(read(value))
            case _ if parts is not None:
                self._parts(type(value).__name__, *map(_whole, parts(value)))
            case _ if _is_setting(value):
                fields = [getattr(value, field.name) for field in dataclasses.fields(value)]
                self._parts(type(value).__name__, *map(_whole, fields))
            case _ if (name := _mark_name(value)) is not None:
                self.say("mark", *name)
            case _ if is_native(type(value)):
                raise Unportable(f"the program depends on an object of type {type(value).__name__}")
            case _ if any(is_native(base) for base in type(value).__mro__[:-1]):
                raise Unportable("the user's class of an object is one of Python's or a library's too")
            case _:
                self.say("instance")
                self.value(type(value))

    def _parts(self, kind: str, *parts: object) -> None:
        self.say(kind, len(parts))
        for part in parts:
            self.value(part)

    def _function(self, function: FunctionType) -> None:
        """A function of the user's: the text of its file, where it stands in it, and what goes with it."""
        code = function.__code__
        self.say("function", function.__module__, function.__qualname__, code.co_name, code.co_firstlineno)
        self._code(code)
        if code.co_filename not in UNFILED:
            self._text(code.co_filename, function.__globals__)
        self._parts("defaults", function.__defaults__, function.__kwdefaults__)
        self._annotations(function)
        self._parts("names", function.__globals__, *(function.__closure__ or ()))

    def _annotations(self, function: FunctionType) -> None:
        """What the annotations of a function say of its arguments."""
        for name, annotation in function.__annotations__.items():
            found = resolved(function, annotation)
            self.say("annotation", name, repr(found) if type(found) is Annotation else "")

    def _code(self, code: CodeType) -> None:
        """The code of a function: a line may hold several, and some stand in no file."""
        self.say("code", code.co_code, code.co_names, code.co_varnames, code.co_linetable, code.co_flags)
        self.say(code.co_freevars, code.co_cellvars)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._code(constant)
            elif isinstance(constant, frozenset):  # what `in {…}` asks, in an order of this process
                self.say("frozenset", sorted(map(repr, constant)))
            else:
                self.say(type(constant).__name__, repr(constant))

    def _text(self, file: str, namespace: dict[str, Any] | None = None) -> None:
        """The text of a file that has not changed since this process has read it."""
        try:
            is_new = os.stat(file).st_mtime >= STARTED
        except OSError:
            is_new = False
        linecache.checkcache(file)
        lines = () if is_new else lines_of(file, namespace)
        if not lines:
            raise Unportable(f"the text of {file} is not known for certain")
        self.say("text", file, _digest_of(lines))

    def _class(self, kind: type) -> None:
        """A class of the user's: what it is made of, and the text of its module."""
        module = sys.modules.get(kind.__module__)
        if type(kind) not in _METACLASSES or module is None or _named(module, kind.__qualname__) is not kind:
            raise Unportable(f"the class {kind.__qualname__} is not found by its name")
        self.say("class", kind.__module__, kind.__qualname__)
        file = getattr(module, "__file__", None)
        if isinstance(file, str):
            self._text(file, vars(module))
        elif kind.__module__ != "__main__":
            raise Unportable(f"the text of the class {kind.__qualname__} is not known")
        self._parts("order", *kind.__mro__[1:])
        for name in sorted(vars(kind)):
            if name in ("__dict__", "__weakref__", "__doc__", "__annotations__", "__dataclass_fields__"):
                continue
            part = vars(kind)[name]
            self.say("has", name, type(part).__qualname__)
            if type(part) in _PARTS_OF_CLASSES:
                self.value(part)
        if issubclass(kind, enum.Enum):
            for name, member in kind.__members__.items():
                self.say("member", name)
                self.value(member._value_)
        for field in dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ():
            self.say(field.name, str(field.type), field.init, field.kw_only)
            self._parts("field", field.default, field.default_factory)


def _is_setting(value: object) -> bool:
    """Whether an object is one of Anadrome's own values: a rule, an option."""
    is_ours = type(value).__module__.partition(".")[0] == "anadrome" and dataclasses.is_dataclass(value)
    return is_ours and bool(type(value).__dataclass_params__.frozen)  # type: ignore[attr-defined]


def native_name(value: Any) -> tuple[str, str] | None:
    """The module and the name of what belongs to Python, NumPy, SciPy or Anadrome; None of anything else."""
    kind = type(value)
    if kind is ModuleType:
        return ("module", value.__name__) if is_native(value) else None
    if not is_native(kind) or not isinstance(value, _NAMED_KINDS):
        return None
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if not isinstance(name, str):
        return None
    module = getattr(value, "__module__", None)
    homes: Iterable[str] = (module,) if isinstance(module, str) else ()
    if isinstance(value, np.ufunc):
        homes = ("numpy", "scipy.special")
    if isinstance(value, WrapperDescriptorType):  # such as `object.__setattr__`
        homes = (value.__objclass__.__module__,)
    for home in homes:
        if is_library(home) and _named(sys.modules.get(home), name) is value:
            return home, name
    return None


_ABSENT = object()

_READERS: dict[type, Callable[[Any], object]] = {
    int: int.__int__,
    float: float.__float__,
    str: str.__str__,
}
"""What a member of an enumeration is beside its value, read without its class."""

_FIELD_OF_TUPLE = type(vars(namedtuple("_Of", "field"))["field"])

_NAMED_KINDS = (
    *(FunctionType, BuiltinFunctionType, type, np.ufunc, type(np.sum)),
    *(MethodDescriptorType, WrapperDescriptorType),
)


def _whole(value: object) -> object:
    """A container in one of Anadrome's own values as a tuple, which is said whole."""
    if type(value) is dict:
        return ("dict", *((key, _whole(part)) for key, part in value.items()))
    if type(value) in (list, tuple):
        return (type(value).__name__, *map(_whole, value))  # type: ignore[call-overload]
    return value


def _refuse_tricks(kind: type) -> None:
    """Refuse objects that decide by themselves what their attributes and their class are."""
    for base in kind.__mro__:
        if not {"__getattribute__", "__class__"}.isdisjoint(vars(base)) and is_own(base):
            raise Unportable(f"{kind.__qualname__} decides what its attributes are")


def _static(value: object, name: str) -> Any:
    """An attribute as it stands in an object or its class, without asking either."""
    return inspect.getattr_static(value, name, _ABSENT)


def _attribute(value: Any, names: str) -> Any:
    """An attribute that is read without running code of the user's; `m.__func__` is the function of a method.

    Raises `Unportable` where it takes more.
    """
    name, _, rest = names.partition(".")
    if isinstance(value, enum.Enum) and name in ("value", "name"):
        return getattr(value, f"_{name}_")
    found = _static(value, name)
    if found is _ABSENT or rest not in ("", "__func__"):
        raise Unportable(f"no attribute `{name}` is there that is read without running code")
    if rest:
        return found if isinstance(found, FunctionType) else found.__func__
    if isinstance(found, staticmethod):
        return found.__func__
    if isinstance(found, MemberDescriptorType | GetSetDescriptorType | classmethod | _FIELD_OF_TUPLE):
        return getattr(value, name)
    is_function = isinstance(found, FunctionType | BuiltinFunctionType | MethodType)
    is_of_class = not isinstance(value, type) and _static(type(value), name) is found
    if is_of_class and not is_function and _static(type(found), "__get__") is not _ABSENT:
        raise Unportable(f"the attribute `{name}` is computed")
    return found


def _mark_name(value: object) -> tuple[str, str] | None:
    """The module and the name of an object that is what it is by its name; None of any other."""
    home = type(value).__module__
    if home.partition(".")[0] not in _HOMES_OF_MARKS:
        return None
    names = (name for name, one in vars(sys.modules[home]).items() if one is value)
    return next(((home, name) for name in names), None)


def _named(module: ModuleType | None, name: str) -> object:
    """What a module has under a dotted name; the module itself where there is nothing."""
    found: object = module
    for part in name.split("."):
        found = getattr(found, part, module)
    return found


@functools.lru_cache(maxsize=64)
def _digest_of(lines: tuple[str, ...]) -> str:
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
