"""Whether what a program has read around it still is as it was: asked before each call.

Identity decides, at the speed of C; what is not identical is compared as a value where it is a number, a
string or another immutable object. Large arrays are no part of it: they are arguments, fetched at each call.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from operator import is_
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from anadrome.frontend.own import is_native

Binding = tuple[Callable[[Any], Iterable[object]], object, tuple[object, ...]]
"""(read, holder, seen): `read(holder)` gave objects identical to `seen`."""

Passed = tuple[Callable[[], object], np.dtype[Any], tuple[int, ...]]
"""How an array is fetched, with the scalar type and shape it must have."""

Placed = tuple[object, Callable[[], object], np.ndarray]
"""An array that is passed: its place, how it is fetched there, and the one that stood there."""

Form = tuple[np.dtype[Any], tuple[int, ...], tuple[int, ...]]
"""The scalar type of an array, its shape, and its strides: they decide what NumPy makes a view of what is
computed from it."""

Written = tuple[object, Callable[[], object], Form, bytes]
"""An array whose elements are in the program: its place, how it is fetched there, form, and elements."""


class Guards:
    """What a program has seen around it, to be read again before each call.

    `changed` are the places of small arrays whose elements were found to be others.
    """

    def __init__(
        self,
        codes: list[tuple[FunctionType, CodeType]],
        bindings: list[Binding],
        arrays: list[Written],
        absent: list[tuple[Mapping[str, object], set[str]]],
        missing: list[tuple[object, str]],
        passed: tuple[Passed, ...],
    ) -> None:
        self._codes = codes
        self._bindings = bindings
        self._arrays = arrays
        self._absent = [(mapping.keys(), frozenset(names)) for mapping, names in absent]
        self._missing = missing
        self._passed = passed
        self.changed: set[object] = set()

    def read(self) -> list[np.ndarray] | None:
        """The arrays that are passed to the program, or None where the program is no longer right."""
        try:
            for function, code in self._codes:
                if function.__code__ is not code:
                    return None
            for number, (get, holder, seen) in enumerate(self._bindings):
                if not all(map(is_, get(holder), seen)) and not self._is_equal(number):
                    return None
            for names, absent in self._absent:
                if not names.isdisjoint(absent):
                    return None
            for base, name in self._missing:
                if hasattr(base, name):
                    return None
            for place, fetch, form, content in self._arrays:
                array = fetch()
                if not isinstance(array, np.ndarray) or form_of(array) != form:
                    return None
                if array.tobytes() != content:
                    self.changed.add(place)
                    return None
            found: list[np.ndarray] = []
            for fetch, dtype, shape in self._passed:
                value = fetch()
                if not isinstance(value, np.ndarray) or value.shape != shape or value.dtype != dtype:
                    return None
                found.append(value)
            return found
        except Exception:  # a name is gone, or a property of the user's fails: staging again says so
            return None

    def _is_equal(self, number: int) -> bool:
        """Whether a binding holds other objects of the same value; those are then the ones it looks for."""
        get, holder, seen = self._bindings[number]
        now = tuple(get(holder))
        if len(now) != len(seen) or not all(map(is_same, seen, now)):
            return False
        self._bindings[number] = (get, holder, now)
        return True


def form_of(array: np.ndarray) -> Form:
    """The form of an array; the stride of a vector says nothing."""
    return array.dtype, array.shape, array.strides if array.ndim > 1 else ()


def is_same(seen: object, now: object) -> bool:
    """Whether two objects are the same for every program: equal to the bit, and immutable."""
    if seen is now:
        return True
    if type(seen) is not type(now):
        return False
    if isinstance(seen, float) and isinstance(now, float):
        return struct.pack("d", seen) == struct.pack("d", now)
    if isinstance(seen, np.generic) and isinstance(now, np.generic):
        return seen.dtype == now.dtype and seen.tobytes() == now.tobytes()
    if isinstance(seen, complex) and isinstance(now, complex):
        return struct.pack("dd", seen.real, seen.imag) == struct.pack("dd", now.real, now.imag)
    if isinstance(seen, tuple) and isinstance(now, tuple):
        return len(seen) == len(now) and all(map(is_same, seen, now))
    if isinstance(seen, MethodType) and isinstance(now, MethodType):
        return seen.__self__ is now.__self__ and seen.__func__ is now.__func__
    if not is_native(type(seen)) or type(seen).__eq__ is object.__eq__ or type(seen).__hash__ is None:
        return False
    return bool(seen == now) and overlooked(seen) == overlooked(now)


def overlooked(value: object) -> Hashable:
    """What a program depends on of an immutable object and `==` overlooks: 1, 1.0 and True are equal, 0.0 and
    -0.0 too, and so are tuples, frozen sets and frozen dataclasses of these.

    >>> (1, 0.0) == (True, -0.0), overlooked((1, 0.0)) == overlooked((True, -0.0))
    (True, False)
    """
    kind: Any = type(value)
    if isinstance(value, float | np.floating):
        return kind, bool(np.signbit(value))
    if isinstance(value, complex | np.complexfloating):
        return kind, bool(np.signbit(value.real)), bool(np.signbit(value.imag))
    if isinstance(value, tuple):
        return kind, *map(overlooked, value)
    if isinstance(value, frozenset):
        return kind, frozenset([(item, overlooked(item)) for item in value])
    if not isinstance(value, type) and is_dataclass(value) and type(value).__eq__ is not object.__eq__:
        parts: Any = value
        kind = kind, *[overlooked(getattr(parts, field.name, None)) for field in fields(parts)]
    found: Hashable = kind
    return found
