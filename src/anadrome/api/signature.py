"""What a compiled program depends on of its arguments: types, ranks, small dimensions, and static values.

Every leaf of a call has a *key*: two calls whose keys agree run the same program. An array's key is its
scalar type and its shape, in which a dimension above `Config.small_dimension` is only known to be large; a
number's key is its type; anything else is static and is its own key.

Large dimensions of different arrays that are equal in the first call are one size in its program: what goes
over several arrays goes over them together, and needs no checks. Where others are equal in a later call, a
program is made that takes all of them for different, and serves every call from then on that has no program
of its own.
"""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anadrome.api.pytree import Structure, flatten, imaginary_places, leaf_paths
from anadrome.dtypes import BOOL, F64, I64, DType, from_numpy
from anadrome.errors.api import (
    CallError,
    NestedTooDeep,
    StaticUnhashable,
    UnhashableStatic,
    UnsupportedArray,
    UnsupportedSparse,
)
from anadrome.errors.base import indefinite
from anadrome.frontend.drawing import GENERATORS
from anadrome.frontend.functions import StagedFunction
from anadrome.frontend.guards import overlooked
from anadrome.frontend.sparse_matrices import is_sparse

LARGE = -1
"""Stands in a key for a dimension whose size the program does not depend on."""


@dataclass(frozen=True, slots=True)
class NumberKey:
    """A scalar argument: its type, and whether it is a Python number, which adapts to what it meets (NEP
    50)."""

    dtype: DType
    is_weak: bool


@dataclass(frozen=True, slots=True)
class ArrayKey:
    """An array argument: its scalar type and its dimensions, large ones as `LARGE`.

    The layout in memory decides what NumPy makes a view of what is computed from it.
    """

    dtype: DType
    shape: tuple[int, ...]
    is_contiguous: bool = True


@dataclass(frozen=True, slots=True)
class StaticKey:
    """A value that is known when the program is compiled, and what `==` overlooks in it: 1, 1.0 and True are
    equal."""

    value: Hashable
    overlooked: Hashable


@dataclass(frozen=True, slots=True)
class Static:
    """An argument that the user has declared static, so that its parts are not looked into."""

    value: Hashable


@dataclass(frozen=True, slots=True)
class GeneratorKey:
    """A random generator: what it draws is made anew for each call, so one program serves all of a type."""

    type: type


Key = NumberKey | ArrayKey | StaticKey | GeneratorKey


def is_passed(key: Key) -> bool:
    """Whether a leaf of this key is an argument of the compiled code."""
    return isinstance(key, NumberKey | ArrayKey)


NUMBERS: dict[type, NumberKey] = {
    float: NumberKey(F64, True),
    int: NumberKey(I64, True),
    bool: NumberKey(BOOL, True),
    **{
        numpy_type: NumberKey(dtype, False)
        for numpy_type in (
            *(np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
            *(np.float32, np.float64, np.longlong, np.ulonglong),
        )
        if (dtype := from_numpy(numpy_type)) is not None
    },
}
"""The type of a scalar argument -> its key."""

ARRAY_TYPES = (np.ndarray, np.memmap)


@dataclass(frozen=True, slots=True)
class Signature:
    """The keys of all leaves of a call, positional arguments before keyword arguments, and their
    structure."""

    structure: Structure
    keys: tuple[Key, ...]
    equal: tuple[int, ...] = ()
    """For each large dimension, in order, the number of its size; empty where all are different (see
    `equal_lengths`)."""

    def apart(self) -> Signature:
        """The signature of the program for all lengths of large dimensions."""
        return Signature(self.structure, self.keys)

    def labels(self) -> Iterator[int]:
        """A number for each large dimension, in order, which those share that are one size."""
        return iter(self.equal) if self.equal else itertools.count()


def signature_of(
    function: str,
    args: Sequence[object],
    kwargs: dict[str, object],
    names: Sequence[str],
    small_dimension: int,
) -> tuple[Signature, list[object]]:
    """The signature of a call and its leaves; raises the error that names the argument."""
    try:
        leaves, structure = flatten((tuple(args), kwargs))
    except RecursionError:
        raise NestedTooDeep(function) from None
    try:
        keys = tuple([leaf_key(leaf, small_dimension) for leaf in leaves])
    except _NoKey as refusal:
        position = next(place for place, leaf in enumerate(leaves) if leaf is refusal.leaf)
        name = argument_names(structure, names)[position]
        if imaginary_places(structure)[position : position + 2] == [False, True]:
            words = re.sub(r"float(\d+)", lambda bits: f"complex{2 * int(bits[1])}", refusal.facts[0])
            raise UnsupportedArray(function, name.removesuffix(".real"), words, CONVERSIONS["c"]) from None
        raise refusal.error(function, name, *refusal.facts) from None
    shapes = [
        [length for length in leaf.shape if length > small_dimension]
        for leaf, key in zip(leaves, keys, strict=True)
        if isinstance(leaf, np.ndarray) and isinstance(key, ArrayKey)
    ]
    return Signature(structure, keys, equal_lengths(shapes)), leaves


def equal_lengths(shapes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """A number for each length of each array, in order; those with one number are one size. Nothing where all
    are different.

    Two dimensions of one array never are one size: that a matrix is square is chance, or says nothing of what
    is computed. Among several dimensions as long, the one as far from the end is taken, as NumPy broadcasts.
    """
    if len(shapes) < 2:
        return ()
    found: list[int] = []
    known: dict[int, list[tuple[int, int]]] = {}
    count = 0
    for shape in shapes:
        own: list[int] = []
        for axis, length in enumerate(reversed(shape)):
            others = known.setdefault(length, [])
            free = [(place != axis, number) for number, place in others if number not in own]
            if free:
                own.append(min(free)[1])
            else:
                others.append((count, axis))
                own.append(count)
                count += 1
        found += own[::-1]
    return tuple(found) if count < len(found) else ()


class _NoKey(Exception):
    """A leaf that cannot be an argument, and the error that says so once its name is known."""

    def __init__(self, leaf: object, error: Callable[..., CallError], *facts: str) -> None:
        super().__init__()
        self.leaf = leaf
        self.error = error
        self.facts = facts


def leaf_key(leaf: object, small_dimension: int) -> Key:
    """The key of one leaf."""
    kind = type(leaf)
    if kind in NUMBERS:
        return NUMBERS[kind]
    if kind in ARRAY_TYPES:
        assert isinstance(leaf, np.ndarray)
        dtype = from_numpy(leaf.dtype) if leaf.dtype.isnative else None
        if dtype is None:
            raise _NoKey(leaf, UnsupportedArray, array_words(leaf), conversion(leaf))
        shape = tuple([size if size <= small_dimension else LARGE for size in leaf.shape])
        return ArrayKey(dtype, shape, len(shape) < 2 or leaf.flags.c_contiguous)
    if isinstance(leaf, GENERATORS):
        return GeneratorKey(kind)
    if isinstance(leaf, Static):
        try:
            hash(leaf.value)
        except (TypeError, ValueError):
            raise _NoKey(leaf, StaticUnhashable, indefinite(type(leaf.value).__qualname__)) from None
        return StaticKey(leaf.value, overlooked(leaf.value))
    if is_sparse(leaf):
        raise _NoKey(leaf, UnsupportedSparse, indefinite(kind.__name__), conversion(leaf))
    if (hasattr(leaf, "__array__") and not isinstance(leaf, type)) or _is_buffer(leaf):
        raise _NoKey(leaf, UnsupportedArray, array_words(leaf), conversion(leaf))
    try:
        hash(leaf)
    except TypeError:
        raise _NoKey(leaf, UnhashableStatic, indefinite(kind.__qualname__)) from None
    return StaticKey(leaf, overlooked(leaf))


def array_words(leaf: object) -> str:
    """What an array is, for people."""
    if not isinstance(leaf, np.ndarray | np.generic):
        module = type(leaf).__module__
        return indefinite(f"{'' if module == 'builtins' else f'{module}.'}{type(leaf).__qualname__}")
    order = "" if leaf.dtype.isnative else " in foreign byte order"
    subclass = (
        ""
        if type(leaf) in ARRAY_TYPES or isinstance(leaf, np.generic)
        else f" in {indefinite(type(leaf).__qualname__)}"
    )
    return f"{leaf.dtype.name}{order}{subclass}"


CONVERSIONS: dict[str, str] = {
    "c": "{}.astype(np.complex128)",
    "M": "({0} - {0}.min()) / np.timedelta64(1, 's')",
    "m": "{} / np.timedelta64(1, 's')",
    "V": "{}['field']",
}
"""The kind of a scalar type that no program has -> what makes an argument of it; others become floats."""


def conversion(leaf: object) -> str:
    """The code that makes a supported array of what is none."""
    if isinstance(leaf, np.ma.MaskedArray):
        return "{}.filled(0.0)"
    if is_sparse(leaf):
        return _sparse_conversion(leaf)
    if not isinstance(leaf, np.ndarray | np.generic):
        return "np.asarray({})"
    if from_numpy(leaf.dtype) is None:
        return CONVERSIONS.get(leaf.dtype.kind, "{}.astype(np.float64)")
    return "np.asarray({})" if leaf.dtype.isnative else "{0}.astype({0}.dtype.newbyteorder('='))"


def _sparse_conversion(matrix: Any) -> str:
    """The code that makes a sparse matrix that a program can have."""
    if matrix.ndim != 2:
        return "{}.toarray()"
    return "{}.prune()" if matrix.format in ("csr", "csc") else "{}.tocsr()"


def _is_buffer(leaf: object) -> bool:
    """Whether a value is memory of numbers that NumPy can look into; texts of bytes are static values."""
    if isinstance(leaf, bytes):
        return False
    try:
        memoryview(leaf)  # type: ignore[arg-type]
    except TypeError:
        return False
    except ValueError:  # one that was released
        return True
    return True


def argument_names(structure: Structure, names: Sequence[str]) -> list[str]:
    """The name of every leaf of a call: `points`, `model.weights`, `layers[0]`."""
    positional, keyword = structure.parts  # type: ignore[union-attr]
    found: list[str] = []
    for position, part in enumerate(positional.parts):  # type: ignore[union-attr]
        found += leaf_paths(part, names[position] if position < len(names) else f"{position}")
    for name, part in zip(keyword.names, keyword.parts, strict=True):  # type: ignore[union-attr]
        found += leaf_paths(part, str(name))
    return found


def parameter_names(function: object) -> tuple[str, ...]:
    """The names of the positional parameters; none where they are not known."""
    if isinstance(function, StagedFunction):
        node = function.text.node
        return tuple([one.arg for one in (*node.args.posonlyargs, *node.args.args)])
    try:
        parameters = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ()
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return tuple(parameter.name for parameter in parameters if parameter.kind in positional)
