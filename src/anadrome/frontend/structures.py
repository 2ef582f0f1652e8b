"""Static containers that hold staged values: going into them, and putting them together again.

A complex number is one of them: a container of its two parts. So is a sparse matrix.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, ItemsView, Iterator, ValuesView
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from anadrome.array_ir.build import number
from anadrome.array_ir.nodes import Atom, Const, Size, i64
from anadrome.frontend.sparse_matrices import made_of, parts_of
from anadrome.frontend.sparse_program import Sparse
from anadrome.frontend.values import Array, Complex, Maybe, RunText, Scalar, Value, is_staged

Inside = Callable[[Value], list[Value] | None]
"""The parts of a value that are gone into, or None where it is one thing."""

Rebuild = Callable[[Iterator[Value]], Value]
"""Takes as many leaves as were found and gives the container again."""


@dataclass(frozen=True, slots=True, eq=False)
class RowList:
    """A run-time list of tuples (or other containers): one array for each leaf of a row. `example` is one of
    the rows, with which all others have in common what is known while compiling; `inside` are its parts."""

    columns: tuple[Array, ...]
    rebuild: Rebuild
    example: Value
    inside: Inside
    is_apart: bool = False
    """Whether no two rows are one object, or share one."""
    python_name: ClassVar[str] = "list of run-time length"

    @property
    def extent(self) -> Size:
        """How many rows there are."""
        return self.columns[0].shape[0]


@dataclass(slots=True, eq=False)
class Pool:
    """Objects that lists hold and that are changed there: one array for each leaf of them, as in a list of
    copies. Lists and names hold places in it, so that all of them see a change."""

    rows: Any
    """The list of copies: what a comprehension has made, or one that grows."""
    home: Any
    """The scope that made it: no object of it can be reached where that is closed."""
    met: set[str]
    """Names of classes of which objects of two pools were to be one value, in the whole program."""
    places: Array | None = None
    """0, 1, …, n - 1: what the list holds that the comprehension gives."""
    iota: Atom | None = None
    """Those while nobody has exchanged an item of the list."""
    read: list[Value] = field(default_factory=list)
    """The objects in which attributes stand, as they were read since the last change."""


@dataclass(frozen=True, slots=True)
class Reference:
    """Which object of a pool an instance is: the one at a place, or what that one holds, by its attributes.
    `is_proved`: whether the place is known to be in the pool."""

    pool: Pool
    place: Atom
    is_proved: bool = False
    path: tuple[str, ...] = ()


REFERENCE = "an object of a pool"
"""The attribute in which an instance has its `Reference`: no program can name it."""


def reference_of(value: Value) -> Reference | None:
    """Which object of a pool an instance is, or None for anything else."""
    held = getattr(value, "__dict__", None)
    return held.get(REFERENCE) if type(held) is dict and not isinstance(value, super) else None


def class_name(value: Value) -> str:
    """What says of which class an instance is, whenever the class is made."""
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


def can_refer(value: Value) -> bool:
    """Whether a value is an instance of a class of the user's, which is its attributes."""
    kind, held = type(value), getattr(value, "__dict__", None)
    if type(held) is not dict or kind.__module__.partition(".")[0] == "anadrome":
        return False
    if is_dataclass_instance(value):
        return {*held} <= {own.name for own in dataclasses.fields(value)} | {REFERENCE}  # type: ignore[arg-type]
    return children(value) is None


def pool_of(value: Value) -> Pool | None:
    """The pool of which an instance is an object."""
    reference = reference_of(value)
    return None if reference is None else reference.pool


def kind_of_reference(value: Value) -> tuple[Pool, tuple[str, ...]] | None:
    """Of which pool an instance is an object, and how it is reached from what is at its place."""
    reference = reference_of(value)
    return None if reference is None else (reference.pool, reference.path)


def referring(like: Value, reference: Reference) -> Any:
    """An instance of a class that is one object of a pool. Its attributes are read where it is looked at."""
    new = object.__new__(type(like))
    new.__dict__[REFERENCE] = reference
    return new


def are_apart(value: Value) -> bool:
    """Whether a value is a list of run-time length in which no two rows are one object."""
    return isinstance(value, RowList) and value.is_apart


def shared(value: Value) -> Value:
    """A list of run-time length of which two rows may be one object; any other value as it is."""
    return dataclasses.replace(value, is_apart=False) if isinstance(value, RowList) else value


def is_number(value: Value) -> bool:
    """Whether a value is a static number, other than a complex one."""
    return isinstance(value, bool | int | float | np.generic) and not isinstance(value, np.complexfloating)


def may_be_number(value: Value) -> bool:
    """Whether a key that is known may be equal to a number of the run."""
    return not isinstance(value, str | bytes | tuple | frozenset | type(None))


def is_dataclass_instance(value: Value) -> bool:
    """Whether a value is an instance of a dataclass."""
    is_instance = dataclasses.is_dataclass(value) and not isinstance(value, type)
    return is_instance and not is_staged(value) and not isinstance(value, Complex)


def children(value: Value) -> list[Value] | None:
    """The parts of a container in order, or None for anything else."""
    if is_staged(value) or isinstance(value, str | bytes | int | float):
        return None
    if isinstance(value, tuple | list):
        return list(value)
    if isinstance(value, slice):
        return [value.start, value.stop, value.step]
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, Complex):
        return [value.real, value.imag]
    if isinstance(value, Sparse):
        is_made = hasattr(value, "data")  # its `__init__` has run
        return list(parts_of(value, type(value))) if is_made else []
    if isinstance(value, Maybe):
        return [value.is_there, value.value] + ([] if value.other is None else [value.other])
    reference = reference_of(value)
    if reference is not None:
        return [Scalar(reference.place, is_weak=True)]
    if is_dataclass_instance(value) and type(value).__module__.partition(".")[0] != "anadrome":
        return [getattr(value, field.name) for field in dataclasses.fields(value)]  # type: ignore[arg-type]
    return None


def with_children(value: Any, parts: list[Value]) -> Value:
    """A container like `value` with other parts."""
    if isinstance(value, list):
        return parts
    if isinstance(value, tuple):
        return value._make(parts) if hasattr(value, "_make") else tuple(parts)
    if isinstance(value, slice):
        return slice(*parts)
    if isinstance(value, dict):
        return dict(zip(value, parts, strict=True))
    if isinstance(value, Complex):
        return joined(*parts)
    if isinstance(value, Sparse):
        return made_of(type(value), parts)
    if isinstance(value, Maybe):
        return maybe(*parts)
    reference = reference_of(value)
    if reference is not None:
        return referring(value, Reference(reference.pool, place_in(parts[0]), path=reference.path))
    new = object.__new__(type(value))
    for own, part in zip(dataclasses.fields(value), parts, strict=True):
        object.__setattr__(new, own.name, part)
    return new


def place_in(part: Value) -> Atom:
    """The place that a part of a reference says; a column of places stands for each of them."""
    match part:
        case Scalar(atom=atom):
            return atom
        case Array(cell=cell):
            return cell.var
        case _:
            return i64(int(part))  # type: ignore[call-overload]


def maybe(is_there: Any, value: Value, other: Any = None) -> Value:
    """A value, or another one where it is not there; one of them where it is known which."""
    if not isinstance(is_there, Scalar):  # of a result, after the run
        return value if is_there else other
    if isinstance(is_there.atom, Const):
        return value if is_there.atom.value else other
    return Maybe(is_there, value, other)


def first_maybe(value: Value) -> Maybe | None:
    """The value, or the first one in a container, of which only the run knows if it is None, or its type."""
    if isinstance(value, Maybe):
        return value
    return next(filter(None, map(first_maybe, children(value) or ())), None)


def joined(real: Any, imag: Any) -> Any:
    """The complex value of two parts: static where they are numbers or NumPy arrays, else a `Complex`."""
    if is_staged(real) or is_staged(imag):
        return Complex(*(_beside(part, other) for part, other in ((real, imag), (imag, real))))
    if isinstance(real, np.ndarray):
        made = np.empty(real.shape, np.result_type(real.dtype, np.complex64))
        made.real, made.imag = real, imag
        return made
    if isinstance(real, np.generic):
        return np.result_type(real.dtype, np.complex64).type(complex(real, imag))
    return complex(real, imag) if isinstance(real, int | float) else Complex(real, imag)


def _beside(part: Any, other: Any) -> Any:
    """A part that is known now beside one that is not."""
    return Scalar(number(float(part), other.dtype), other.is_weak) if is_number(part) else part


def is_alike(left: Value, right: Value) -> bool:
    """Whether two containers have the same type, length and keys."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right)
    if kind_of_reference(left) != kind_of_reference(right):
        for pool in filter(None, map(pool_of, (left, right))):
            pool.met.add(class_name(left))
        return False
    one, two = children(left), children(right)
    return one is not None and two is not None and len(one) == len(two)


def has_staged(value: Value) -> bool:
    """Whether a value is staged or a container with a staged value somewhere in it, such as a string."""
    if is_staged(value) or isinstance(value, RunText):
        return True
    parts = list(value) if isinstance(value, ValuesView | ItemsView) else children(value)
    return parts is not None and any(has_staged(part) for part in parts)


def has_text(value: Value) -> bool:
    """Whether a value is a string of run-time values, or a container with one somewhere in it."""
    return isinstance(value, RunText) or any(map(has_text, children(value) or ()))


def flatten(
    value: Value,
    is_leaf: Callable[[Value], bool],
    inside: Inside = children,
    like: Callable[[Any, list[Value]], Value] = with_children,
) -> tuple[list[Value], Rebuild]:
    """The leaves of a nested container and how to put others in their place; other values stay.

    `like` makes a container like another one with other parts.
    """
    if is_leaf(value):
        return [value], next
    parts = inside(value)
    if parts is None:
        return [], lambda _: value
    leaves: list[Value] = []
    rebuilds: list[Rebuild] = []
    for part in parts:
        found, rebuild = flatten(part, is_leaf, inside, like)
        leaves += found
        rebuilds.append(rebuild)
    if not leaves:
        return [], lambda _: value
    return leaves, lambda new: like(value, [rebuild(new) for rebuild in rebuilds])
