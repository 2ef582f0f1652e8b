"""What staging reads of the objects around a program, and whether it still is as it was.

A program holds what was known while it was compiled: numbers and functions that globals, closures, attributes
and defaults gave, the items of lists and dicts, the elements of small arrays. Each such reading is recorded
here as a place, the way to read it again and what was seen. Before each call the places are read again
(`frontend.guards`); where one differs the program is another one.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from operator import attrgetter, itemgetter
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any, TypeGuard

import numpy as np

from anadrome.dtypes import from_numpy
from anadrome.frontend.guards import Binding, Form, Guards, Placed, Written, form_of
from anadrome.frontend.own import is_native
from anadrome.frontend.structures import children, is_dataclass_instance
from anadrome.frontend.values import Array, Complex, Maybe, Missing, Scalar, Value, is_staged

_ATOMS = frozenset(
    {int, float, bool, complex, str, bytes, type(None), type(Ellipsis), range, slice, type, ModuleType}
    | {FunctionType, BuiltinFunctionType, np.ufunc, Scalar, Array, Complex, Maybe, Missing}
)
"""Types of values that hold nothing that can change."""

_NUMBERS = _ATOMS - {FunctionType}

_CONTAINERS = (list, dict, set, deque, bytearray)

_NO_ATTRIBUTES = (
    *(str, bytes, int, float, complex, tuple, list, dict, set, frozenset, range, slice),
    *(np.ndarray, np.generic, np.dtype, np.ufunc),
)
"""Types whose attributes are methods and parts that do not change by themselves."""

_INERT = (isinstance, issubclass, type, callable, id, print)
"""Builtins that read nothing of their arguments but the type."""

KEPT = "__anadrome_transforms__"
"""The attribute under which functions and instances keep their transforms: no part of their state."""

_END = object()

_COMPUTED = "plain Python computes an attribute of what the program has made"


@dataclasses.dataclass(slots=True)
class Readings:
    """What staging has read of one object, by the names under which another process reads it again.

    `arrays` are (name, number): an array that stands there, passed as the number says or, where that is -1,
    written into the program. Of a cell, and of an array that has no other place, the name is empty.
    """

    items: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    arrays: tuple[tuple[str, int], ...] = ()
    is_function: bool = False
    is_cell: bool = False
    has_contents: bool = False
    has_elements: bool = False


class Surroundings:
    """The record of one staging run; arrays of at most `limit` elements are written into the program."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._items: dict[int, tuple[Mapping[str, object], dict[str, object]]] = {}
        self._attributes: dict[int, tuple[object, dict[str, object]]] = {}
        self._cells: dict[int, tuple[CellType, object]] = {}
        self._functions: dict[FunctionType, None] = {}
        self._contents: dict[int, tuple[object, tuple[object, ...]]] = {}
        self._arrays: dict[int, np.ndarray] = {}
        self._placed: dict[object, tuple[Callable[[], object], Form]] = {}
        self._written: dict[object, bytes] = {}
        self._placed_ids: dict[int, np.ndarray] = {}
        self._absent: dict[int, tuple[Mapping[str, object], set[str]]] = {}
        self._missing: list[tuple[object, str]] = []
        self._asked: set[tuple[type, str]] = set()
        self._own: dict[int, object] = {}
        self._whole: dict[int, object] = {}
        self._fields: dict[int, object] = {}
        self._of_modules: dict[str, dict[str, None]] = {}
        self._passed: list[Placed] = []
        self.local: str | None = None
        """Why another process may not take over what was read, if so."""

    # ------------------------------------------------------------------ places
    def item(self, mapping: Mapping[str, object], name: str, value: object) -> None:
        """A name of a module's globals was read."""
        self._items.setdefault(id(mapping), (mapping, {}))[1].setdefault(name, value)

    def no_item(self, mapping: Mapping[str, object], name: str) -> None:
        """A name was not among a module's globals, so that a builtin was meant."""
        self._absent.setdefault(id(mapping), (mapping, set()))[1].add(name)

    def cell(self, cell: CellType, value: object) -> None:
        """A name of an enclosing function was read."""
        self._cells.setdefault(id(cell), (cell, value))

    def function(self, function: FunctionType) -> None:
        """A function's text and defaults were used."""
        self._functions[function] = None
        if function.__kwdefaults__:
            self.see(function.__kwdefaults__)

    def has_place(self, base: Value, value: Value) -> bool:
        """Whether an attribute of this object can change between calls."""
        if id(base) in self._own or (isinstance(base, _NO_ATTRIBUTES) and is_native(type(base))):
            return False
        if isinstance(base, type | ModuleType) and is_native(base):
            return False
        is_builtin = isinstance(value, BuiltinFunctionType | MethodWrapperType)
        if is_staged(value) or (is_builtin and getattr(value, "__self__", None) is base):
            return False
        return not _has_staged(base, set())

    def without_place(self, base: Value, name: str) -> None:
        """An attribute was read of an object that the program has made, or of a module of Python's or its
        libraries, which is the same in this process. What the object has of the user's class counts."""
        kind = type(base)
        if isinstance(base, ModuleType):
            self._of_modules.setdefault(base.__name__, {})[name] = None
        if is_native(kind) or isinstance(base, type) or id(kind) in self._own:
            return
        found = inspect.getattr_static(kind, name, _END)
        is_of_tuple = type(found).__module__ in ("collections", "_collections")  # a named tuple's field
        if isinstance(found, MemberDescriptorType) or is_of_tuple:
            return
        is_computed = hasattr(type(found), "__get__") and not isinstance(
            found, FunctionType | staticmethod | classmethod
        )
        if "__getattribute__" in _names_of_own(kind) or is_computed:
            self.stays_here(_COMPUTED)
        elif name not in getattr(base, "__dict__", ()):
            if found is _END:
                self.stays_here(_COMPUTED)
            else:
                self.attribute(kind, name, getattr(kind, name))

    def class_of(self, value: object) -> None:
        """What the class of an object says was read: `value.__class__` may become another one."""
        if not is_native(type(value)) and self.has_place(value, None):
            self.attribute(value, "__class__", type(value))

    def special(self, value: Value, name: str) -> None:
        """A special method of the user's class of a value was asked for."""
        kind = type(value)
        self.class_of(value)
        if (kind, name) in self._asked:
            return
        self._asked.add((kind, name))
        if is_native(kind) or id(kind) in self._own:
            return
        method = getattr(kind, name, None)
        if method is None:
            self._missing.append((kind, name))
        else:
            self.attribute(kind, name, method)

    def stays_here(self, reason: str) -> None:
        """The program depends on what only this process knows."""
        self.local = self.local or reason

    def attribute(self, base: object, name: str, value: object) -> None:
        """An attribute was read; of a method, which is made at each reading, the function counts."""
        if isinstance(value, MethodType) and value.__self__ is base:
            name, value = f"{name}.__func__", value.__func__
        self._attributes.setdefault(id(base), (base, {}))[1].setdefault(name, value)

    # ------------------------------------------------------------------ contents
    def made(self, value: object) -> None:
        """An object that the program has made itself: it is the same in every run of a process."""
        if isinstance(value, set) and not all(isinstance(item, int | float) for item in value):
            self.stays_here("each process has another order of the items of a set")
        self._own[id(value)] = value

    def see(self, value: Value) -> None:
        """The items of containers, and what they hold, count from here on; so do elements of small arrays."""
        kind = type(value)
        if kind in _ATOMS or id(value) in self._contents or id(value) in self._own:
            return
        if isinstance(value, np.ndarray):
            self.elements(value)
        elif isinstance(value, _CONTAINERS):
            if _has_staged(value, set()):  # an argument, taken apart and put together again
                self.made(value)
                return
            self._contents[id(value)] = (value, tuple(_reader(value)(value)))
            self._see_all(value.values() if isinstance(value, dict) else value)
        elif isinstance(value, tuple | frozenset):
            self._see_all(value)

    def _see_all(self, values: Iterable[object]) -> None:
        for value in values:
            if type(value) not in _ATOMS and not (isinstance(value, np.ndarray) and value.size > self._limit):
                self.see(value)

    def _elements(self, array: np.ndarray) -> None:
        """The elements of an array; a view of one that counts already counts with it."""
        owner = array.base
        if id(array) not in self._arrays and not (
            isinstance(owner, np.ndarray) and id(owner) in self._arrays
        ):
            self._arrays[id(array)] = array
            self._written[id(array)] = array.tobytes()

    def array(self, place: object, fetch: Callable[[], object], array: np.ndarray) -> None:
        """A small array was read at a place, where another one of the same elements will do as well."""
        self._placed.setdefault(place, (fetch, form_of(array)))
        self._written.setdefault(place, array.tobytes())
        self._placed_ids[id(array)] = array

    def elements(self, array: np.ndarray) -> None:
        """The elements of an array are written into the program."""
        if id(array) not in self._placed_ids and id(array) not in self._own:
            self._elements(array)

    def read_by(self, function: object, values: Iterable[Value]) -> None:
        """Plain Python has read these values: of objects, all of their attributes count."""
        given = tuple(values)
        for value in given:
            self.class_of(value)
        if function in (getattr, hasattr) and len(given) > 1 and isinstance(given[1], str):
            base, name = given[0], given[1]
            if not hasattr(base, name):
                self._missing.append((base, name))
            elif self.has_place(base, getattr(base, name)):
                self.attribute(base, name, getattr(base, name))
                self.see(getattr(base, name))
        elif function not in _INERT:
            for value in given:
                self.whole(value)

    def _is_first(self, value: Value, known: dict[int, object], visited: set[int]) -> bool:
        """Whether a walk is here first. What the program makes may have changed since an earlier walk."""
        if isinstance(value, tuple) or id(value) in self._own:
            is_first = id(value) not in visited
            visited.add(id(value))
        else:
            is_first = id(value) not in known
            known[id(value)] = value
        return is_first

    def fields(self, value: Value, visited: set[int] | None = None) -> None:
        """The parts of a tree of containers and dataclasses count."""
        visited = set() if visited is None else visited
        if type(value) in _ATOMS or not self._is_first(value, self._fields, visited):
            return
        self.see(value)
        if is_dataclass_instance(value) and self.has_place(value, None):
            for field in dataclasses.fields(value):  # type: ignore[arg-type]
                self.attribute(value, field.name, getattr(value, field.name))
        for part in children(value) or ():
            self.fields(part, visited)

    def items_of(self, value: Value) -> None:
        """Plain Python has looked into an object by index or iteration; containers count by themselves."""
        if not isinstance(value, _NO_ATTRIBUTES):
            self.whole(value)

    def truth_of(self, value: Value) -> None:
        """Plain Python has asked an object whether it is true."""
        if hasattr(value, "__bool__") or hasattr(value, "__len__"):
            self.items_of(value)

    def whole(self, value: Value, visited: set[int] | None = None) -> None:
        """All that is reached from a value counts."""
        visited = set() if visited is None else visited
        if type(value) in _NUMBERS or not self._is_first(value, self._whole, visited):
            return
        self.see(value)
        if isinstance(value, FunctionType):
            self.stays_here("plain Python has run or shown a function")
            if not is_native(value):
                self._names_of(value)
            return
        if isinstance(value, dict | list | tuple | set | frozenset | deque):
            parts: Iterable[object] = value.values() if isinstance(value, dict) else value
        elif isinstance(value, np.ndarray | np.generic | type) or is_native(type(value)):
            return
        else:
            self.stays_here("plain Python has looked into an object")
            state = {name: part for name, part in _state(value).items() if name != KEPT}
            if id(value) not in self._own:
                for name, part in state.items():
                    self.attribute(value, name, part)
            parts = state.values()
        for part in list(parts):
            self.whole(part, visited)

    def _names_of(self, function: FunctionType) -> None:
        """What a function that plain Python runs may read."""
        self.function(function)
        for name in function.__code__.co_names:
            if name in function.__globals__:
                self.item(function.__globals__, name, function.__globals__[name])
                self.see(function.__globals__[name])
        for cell in function.__closure__ or ():
            with suppress(ValueError):  # a cell that is empty yet
                self.cell(cell, cell.cell_contents)
                self.whole(cell.cell_contents)

    # ------------------------------------------------------------------ the result
    def readings(self) -> dict[int, Readings]:
        """What was read of each object, by its id. The record holds on to the objects.

        Raises `KeyError` where an array was read at a place that is no name of an object.
        """
        found: dict[int, Readings] = {}

        def of(key: int) -> Readings:
            return found.setdefault(key, Readings())

        for key, (_, names) in self._items.items():
            of(key).items = tuple(names)
        for key, (_, absent) in self._absent.items():
            of(key).absent = tuple(sorted(absent))
        for key, (_, names) in self._attributes.items():
            of(key).attributes = tuple(names)
        for base, name in self._missing:
            of(id(base)).missing += (name,)
        for function in self._functions:
            of(id(function)).is_function = True
        for key in self._cells:
            of(key).is_cell = True
        for key in self._contents:
            of(key).has_contents = True
        for key in self._arrays:
            of(key).has_elements = True
        places = [(place, number) for number, (place, _, _) in enumerate(self._passed)]
        for place, number in [*places, *((place, -1) for place in self._placed)]:
            match place:
                case (int() as key, str() as name):
                    of(key).arrays += ((name, number),)
                case int() as key:
                    of(key).arrays += (("", number),)
                case _:
                    raise KeyError(place)
        return found

    def holders(self) -> dict[int, object]:
        """The objects that `readings` speaks of, but for those that hold arrays alone."""
        return {
            **{key: mapping for key, (mapping, _) in (*self._items.items(), *self._absent.items())},
            **{key: base for key, (base, _) in self._attributes.items()},
            **{id(base): base for base, _ in self._missing},
            **{id(function): function for function in self._functions},
            **{key: cell for key, (cell, _) in self._cells.items()},
            **{key: value for key, (value, _) in self._contents.items()},
            **self._arrays,
        }

    def of_modules(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The names that were read of modules of Python's and its libraries."""
        return tuple((module, tuple(names)) for module, names in self._of_modules.items())

    def read_again(self, value: Any, readings: Readings) -> None:
        """Record of an object what another process has read of its like, but for arrays at its places."""
        for name in readings.items:
            self.item(value, name, value[name])
        for name in readings.absent:
            self.no_item(value, name)
        for name in readings.attributes:
            self._attributes.setdefault(id(value), (value, {}))[1][name] = attrgetter(name)(value)
        self._missing += [(value, name) for name in readings.missing]
        if readings.is_function:
            self._functions[value] = None
        if readings.is_cell:
            self.cell(value, value.cell_contents)
        if readings.has_contents:
            self._contents[id(value)] = (value, tuple(_reader(value)(value)))
        if readings.has_elements:
            self._elements(value)

    def finish(self, passed: Iterable[Placed] = ()) -> Guards:
        """What is to be looked at before each call."""
        self._passed += passed
        bindings: list[Binding] = []
        for mapping, names in self._items.values():
            bindings.append((_getter(itemgetter, names), mapping, _padded(names)))
        for base, names in self._attributes.values():
            bindings.append((_getter(attrgetter, names), base, _padded(names)))
        if self._cells:
            cells, contents = zip(*self._cells.values(), strict=True)
            bindings.append((partial(map, attrgetter("cell_contents")), cells, contents))
        functions = tuple(self._functions)
        for name in ("__defaults__", "__kwdefaults__"):
            taken = tuple(one for one in functions if getattr(one, name) is not None)
            if taken:
                seen = tuple(getattr(one, name) for one in taken)
                bindings.append((partial(map, attrgetter(name)), taken, seen))
        bindings += [(_reader(value), value, seen) for value, seen in self._contents.values()]
        arrays: list[Written] = [
            (None, partial(_itself, array), form_of(array), self._written[place])
            for place, array in self._arrays.items()
        ]
        arrays += [(place, *found, self._written[place]) for place, found in self._placed.items()]
        codes = [(function, function.__code__) for function in functions]
        absent = list(self._absent.values())
        around = tuple((fetch, array.dtype, array.shape) for _, fetch, array in self._passed)
        return Guards(codes, bindings, arrays, absent, self._missing, around)


def place_of(value: Any, name: str) -> tuple[object, Callable[[], object]]:
    """The place of an array at an object, and how it is fetched there."""
    if isinstance(value, CellType):
        return id(value), partial(getattr, value, "cell_contents")
    if isinstance(value, np.ndarray):
        return id(value), partial(_itself, value)
    return (id(value), name), partial(
        itemgetter(name) if isinstance(value, dict) else attrgetter(name), value
    )


def _has_staged(value: Value, visited: set[int]) -> bool:
    """Whether there is a staged value in a tree, which may also be a graph with cycles."""
    if is_staged(value) or isinstance(value, Complex):
        return True
    if type(value) in _ATOMS or id(value) in visited:
        return False
    visited.add(id(value))
    return any(_has_staged(part, visited) for part in children(value) or ())


def _state(value: object) -> dict[str, object]:
    """The attributes an object holds itself, in its dict or in slots."""
    found = dict(getattr(value, "__dict__", {}))
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name) and name not in ("__dict__", "__weakref__"):
                found[name] = getattr(value, name)
    return found


def _names_of_own(kind: type) -> set[str]:
    """The names that the user's classes of an object define."""
    return {name for base in kind.__mro__ if not is_native(base) for name in vars(base)}


def _padded(names: Mapping[str, object]) -> tuple[object, ...]:
    """The values; one alone stands twice, because a getter of one name gives no tuple."""
    values = tuple(names.values())
    return values * 2 if len(values) == 1 else values


def _getter(make: Callable[..., Callable[[Any], Any]], names: Mapping[str, object]) -> Callable[[Any], Any]:
    several = tuple(names)
    return make(*(several * 2 if len(several) == 1 else several))


def _reader(value: object) -> Callable[[Any], Iterable[object]]:
    """How a container's items are read, with a mark at their end so that lengths count."""
    return _pairs if isinstance(value, dict) else _items


def _items(value: Iterable[object]) -> tuple[object, ...]:
    return (*value, _END)


def _pairs(value: Mapping[object, object]) -> tuple[object, ...]:
    return (*value, *value.values(), _END)


def _itself(array: np.ndarray) -> np.ndarray:
    return array


def complex_array(found: object) -> np.ndarray:
    """What stands at the place of a complex array now, which must be one still."""
    if not isinstance(found, np.ndarray) or found.dtype.kind != "c":
        raise TypeError("no complex array stands there any more")
    return found


def is_complex_passed(value: Value, limit: int) -> TypeGuard[np.ndarray]:
    """Whether a value around the program is a complex array whose parts are passed to it."""
    return isinstance(value, np.ndarray) and value.dtype.kind == "c" and value.size > limit


def is_passed(value: Value, limit: int) -> TypeGuard[np.ndarray]:
    """Whether a value around the program is an array that is passed to it rather than written into it."""
    return isinstance(value, np.ndarray) and value.size > limit and from_numpy(value.dtype) is not None
