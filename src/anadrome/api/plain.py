"""What the parallel operations mean: plain Python on NumPy, one value after the other.

This is what runs outside compiled functions, and the oracle of the compiled forms in `frontend.parallel`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anadrome.api import pytree
from anadrome.errors.parallel import (
    CastRefused,
    IdentityDiffers,
    IdentityMissing,
    OperatorDiffers,
    OperatorUndefined,
    UnsuitableBounds,
    UnsuitableValues,
)
from anadrome.errors.runtime import EmptyReduction, IndexOutOfBounds, SizeMismatch
from anadrome.frontend.parallel.operators import SYNONYMS, check_inverse, named
from anadrome.frontend.parallel.places import BOUNDS, index_argument, start_argument, start_words

UFUNCS: Mapping[str, np.ufunc] = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.logical_and,
    "or": np.logical_or,
}


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """A sequence of items, leaf by leaf: one array for each. `weak`: the leaves are Python numbers."""

    arrays: tuple[np.ndarray[Any, Any], ...]
    weak: tuple[bool, ...]
    structure: pytree.Structure

    def __len__(self) -> int:
        return len(self.arrays[0])

    def __iter__(self) -> Iterator[Any]:
        return (self.together([array[index] for array in self.arrays]) for index in range(len(self)))

    def together(self, leaves: Sequence[Any]) -> Any:
        """One value for each leaf as an item."""
        return pytree.unflatten(
            self.structure, [one.item() if weak else one for one, weak in zip(leaves, self.weak, strict=True)]
        )


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 0


def _words(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}"
    names = {int: "int64", float: "float64"}
    return names.get(type(value), type(value).__name__)


def _native(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array in the byte order of this machine."""
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def columns_of(name: str, xs: Any, axis: int = 0) -> Columns:
    """The items of a sequence: rows of an array or of several, or what an iterable gives."""
    if not isinstance(xs, list | np.ndarray) or pytree.is_complex(type(xs), xs):
        leaves, structure = pytree.flatten(xs)
        if leaves and all(_is_array(leaf) for leaf in leaves):
            arrays = tuple(np.moveaxis(_native(leaf), axis, 0) for leaf in leaves)
            if len({len(array) for array in arrays}) > 1:
                raise SizeMismatch(f"{name}: the sizes {[len(array) for array in arrays]} differ")
            return Columns(arrays, (False,) * len(arrays), structure)
    if isinstance(xs, np.ndarray):
        if not xs.ndim:
            raise UnsuitableValues(name, "xs", "an array or an iterable", "a number")
        return Columns((np.moveaxis(_native(xs), axis, 0),), (False,), pytree.LEAF)
    try:
        items = list(xs)
    except TypeError:
        raise UnsuitableValues(name, "xs", "an array or an iterable", _words(xs)) from None
    if not items:
        raise UnsuitableValues(
            name, "xs", "an array, whose type is known, or at least one item", "an empty list"
        )
    return stacked(name, items)


def stacked(name: str, items: Sequence[Any]) -> Columns:
    """Items of one structure, leaf by leaf."""
    flat = [pytree.flatten(item) for item in items]
    structure = flat[0][1]
    if any(other != structure for _, other in flat) or not flat[0][0]:
        raise UnsuitableValues(name, "xs", "items of numbers and arrays that are all alike", "a mixture")
    leaves = list(zip(*(found for found, _ in flat), strict=True))
    weak = tuple(
        all(isinstance(one, int | float) and not isinstance(one, bool | np.generic) for one in column)
        for column in leaves
    )
    return Columns(tuple(np.array(column) for column in leaves), weak, structure)


# ---------------------------------------------------------------------------- operators
Combine = Callable[[Any, Any], Any]


def _named(
    name: str, operator: Any, dtypes: Sequence[np.dtype[Any]], structure: pytree.Structure
) -> str | None:
    """The named operator, where it is one on these scalar types; complex numbers, part by part, are added."""
    found = named(name, operator)
    is_complex = any(pytree.imaginary_places(structure))
    if is_complex and found is not None and found != "add":
        raise OperatorUndefined(name, found, "complex128")
    if found is None:
        synonym = SYNONYMS.get(operator) if hasattr(operator, "__hash__") and operator.__hash__ else None
        if is_complex and synonym != "add":
            return None
        return synonym if synonym and all(_is_defined(synonym, dtype) for dtype in dtypes) else None
    for dtype in dtypes:
        if not _is_defined(found, dtype):
            raise OperatorUndefined(name, found, str(dtype))
    return found


def _is_defined(operator: str, dtype: np.dtype[Any]) -> bool:
    return dtype.kind not in "SUMmV" and (operator in ("and", "or")) == (dtype.kind == "b")


def _neutral(operator: str, dtype: np.dtype[Any]) -> Any:
    if operator in ("min", "max"):
        if dtype.kind == "f":
            return dtype.type(np.inf if operator == "min" else -np.inf)
        info = np.iinfo(dtype)
        return dtype.type(info.max if operator == "min" else info.min)
    return dtype.type({"add": 0, "mul": 1, "and": 1, "or": 0}[operator])


def _fits(leaf: Any, dtype: np.dtype[Any], shape: tuple[int, ...], is_broadcast: bool) -> Any:
    """A leaf as an element or row of a type; None where it is of another."""
    own = np.asarray(leaf)
    if own.dtype != dtype:
        is_number = isinstance(leaf, int | float) and not isinstance(leaf, bool | np.generic)
        if not is_number or dtype.kind == "b" or (own.dtype.kind == "f" and dtype.kind != "f"):
            return None
    if own.shape != shape:
        if not is_broadcast or own.shape:
            return None
        return np.full(shape, own, dtype)
    return own.astype(dtype) if shape else dtype.type(own)


def _typed(columns: Columns, value: Any, is_broadcast: bool) -> list[Any] | None:
    if pytree.is_complex_node(columns.structure) and isinstance(value, int | float):
        value = complex(value)
    leaves, structure = pytree.flatten(value)
    if structure != columns.structure:
        return None
    fitted = [
        _fits(leaf, array.dtype, array.shape[1:], is_broadcast)
        for leaf, array in zip(leaves, columns.arrays, strict=True)
    ]
    return None if any(one is None for one in fitted) else fitted


def _identity(name: str, columns: Columns, identity: Any) -> list[Any]:
    if identity is None:
        raise IdentityMissing(name)
    found = _typed(columns, identity, is_broadcast=True)
    if found is None:
        raise IdentityDiffers(name, _words(identity), _described(columns))
    return found


def _described(columns: Columns) -> str:
    parts = [f"{a.dtype}{a.shape[1:]}" if a.ndim > 1 else str(a.dtype) for a in columns.arrays]
    return parts[0] if columns.structure == pytree.LEAF else f"({', '.join(parts)})"


def _folded(name: str, columns: Columns, operator: Combine, start: list[Any]) -> Iterator[list[Any]]:
    """The running value of a fold by a function: at the start, and after each item."""
    running = start
    yield running
    for item in columns:
        result = operator(columns.together(running), item)
        fitted = _typed(columns, result, is_broadcast=False)
        if fitted is None:
            raise OperatorDiffers(name, _words(result), _described(columns))
        running = fitted
        yield running


# ---------------------------------------------------------------------------- reduce, scan
def reduce(operator: Any, xs: Any, identity: Any, axis: int, inverse: Any) -> Any:
    """x_0 ⊕ x_1 ⊕ …"""
    name = "ad.reduce"
    named(name, operator)
    check_inverse(name, inverse)
    columns = columns_of(name, xs, axis)
    operation = _named(name, operator, [array.dtype for array in columns.arrays], columns.structure)
    if operation is None:
        *_, last = _folded(name, columns, operator, _identity(name, columns, identity))
        return columns.together(last)
    if not len(columns) and identity is None and operation in ("min", "max"):
        raise EmptyReduction(f"{name}({operation!r}) of nothing without an identity")
    ufunc = UFUNCS[operation]
    results = [
        ufunc.reduce(array, axis=0, dtype=array.dtype, initial=_neutral(operation, array.dtype))
        for array in columns.arrays
    ]
    if identity is not None:
        start = _identity(name, columns, identity)
        results = [ufunc(one, two) for one, two in zip(start, results, strict=True)]
    return columns.together(results)


def scan(operator: Any, xs: Any, identity: Any, exclusive: bool, axis: int) -> Any:
    """x_0, x_0 ⊕ x_1, …; exclusive: the identity first, and the last item left out."""
    name = "ad.scan"
    named(name, operator)
    columns = columns_of(name, xs, axis)
    operation = _named(name, operator, [array.dtype for array in columns.arrays], columns.structure)
    if operation is None:
        running = list(_folded(name, columns, operator, _identity(name, columns, identity)))
    else:
        ufunc = UFUNCS[operation]
        neutral = [np.full(a.shape[1:], _neutral(operation, a.dtype), a.dtype)[()] for a in columns.arrays]
        start = neutral if identity is None else _identity(name, columns, identity)
        running = [start]
        for row in zip(*columns.arrays, strict=True):
            running.append([ufunc(one, two) for one, two in zip(running[-1], row, strict=True)])
    taken = running[:-1] if exclusive else running[1:]
    results = []
    for position, array in enumerate(columns.arrays):
        result = np.empty(array.shape, array.dtype)
        for index, one in enumerate(taken):
            result[index] = one[position]
        results.append(np.moveaxis(result, 0, axis))
    return pytree.unflatten(columns.structure, results)


# ---------------------------------------------------------------------------- places
def _indices(name: str, at: Any, bounds: Any) -> list[np.ndarray[Any, Any]]:
    if not isinstance(bounds, str) or bounds not in BOUNDS:
        raise UnsuitableBounds(name, repr(bounds) if isinstance(bounds, str) else _words(bounds))
    given = [
        np.asarray(one) if isinstance(one, np.ndarray | list | range) else one
        for one in (at if isinstance(at, tuple) else (at,))
    ]
    for one in given:
        if not isinstance(one, np.ndarray) or one.dtype.kind not in "iu" or not one.ndim:
            raise UnsuitableValues(
                name, index_argument(name), "an array of integers, or a tuple of them", _words(one)
            )
    if not given:
        raise UnsuitableValues(
            name, index_argument(name), "an array of integers, or a tuple of them", "an empty tuple"
        )
    if len({one.shape for one in given}) > 1:
        raise SizeMismatch(f"{name}: the index arrays have the shapes {[one.shape for one in given]}")
    return given


def _is_size(init: Any) -> bool:
    parts = init if isinstance(init, tuple) and init else (init,)
    return all(isinstance(part, int | np.integer) and not isinstance(part, bool) for part in parts)


def _leaves_of(values: Any) -> tuple[list[Any], pytree.Structure]:
    if isinstance(values, list):
        return pytree.flatten(np.asarray(values))
    return pytree.flatten(values)


def placed(
    name: str,
    init: Any,
    at: Any,
    values: Any,
    bounds: Any,
    operator: Any = None,
    identity: Any = None,
    inverse: Any = None,
) -> Any:
    """`init` with the values put at their places, or, with an operator, combined with what stands there."""
    if operator is not None:
        named(name, operator)
    check_inverse(name, inverse)
    indices = _indices(name, at, bounds)
    leaves, structure = _leaves_of(values)
    arrays = _started(name, init, indices, leaves, structure, operator, identity)
    rows = [_spread(name, leaf, array, indices) for leaf, array in zip(leaves, arrays, strict=True)]
    columns = Columns(tuple(rows), (False,) * len(rows), structure)
    combine = _combination(name, operator, columns, identity)
    flat = [one.ravel() for one in indices]
    for position, index in enumerate(zip(*flat, strict=True)):
        place = _place(index, arrays[0].shape, bounds)
        if place is None:
            continue
        new = [row[position] for row in rows]
        if combine is not None:
            new = combine([array[place] for array in arrays], new)
        for array, one in zip(arrays, new, strict=True):
            array[place] = one
    return pytree.unflatten(structure, arrays)


def _started(
    name: str,
    init: Any,
    indices: Sequence[np.ndarray[Any, Any]],
    leaves: Sequence[Any],
    structure: pytree.Structure,
    operator: Any,
    identity: Any,
) -> list[np.ndarray[Any, Any]]:
    """Copies of the arrays of `init`; where it is a size, arrays full of the operator's identity."""
    if operator is None or not _is_size(init):
        arrays, own = pytree.flatten(init)
        for array in arrays or (init,):
            if not _is_array(array):
                raise UnsuitableValues(name, start_argument(name), start_words(name), _words(array))
        if own != structure:
            raise UnsuitableValues(name, "values", "a container like `init`", _words(leaves))
        return [np.array(array) for array in arrays]
    shape = init if isinstance(init, tuple) else (init,)
    if len(shape) != len(indices):
        expected = f"{len(indices)} size(s), one for each index array"
        raise UnsuitableValues(name, start_argument(name), expected, str(shape))
    if any(size < 0 for size in shape):
        raise SizeMismatch(f"{name}: the size {min(shape)} is negative")
    rank = indices[0].ndim
    parts = [np.asarray(leaf) for leaf in leaves]
    columns = Columns(
        tuple(np.zeros((0, *part.shape[rank:]), part.dtype) for part in parts),
        (False,) * len(parts),
        structure,
    )
    operation = _named(name, operator, [part.dtype for part in parts], structure)
    start = (
        _identity(name, columns, identity)
        if operation is None
        else [_neutral(operation, part.dtype) for part in parts]
    )
    return [
        np.full((*shape, *part.shape[rank:]), one, part.dtype) for part, one in zip(parts, start, strict=True)
    ]


def _spread(
    name: str, leaf: Any, array: np.ndarray[Any, Any], indices: Sequence[np.ndarray[Any, Any]]
) -> np.ndarray[Any, Any]:
    """The values of one array one after the other, under its scalar type."""
    own = np.asarray(leaf)
    if not np.can_cast(own.dtype, array.dtype, "same_kind") or (own.dtype.kind == "b") != (
        array.dtype.kind == "b"
    ):
        raise CastRefused(name, str(own.dtype), str(array.dtype))
    shape, rest = indices[0].shape, array.shape[len(indices) :]
    if own.ndim and own.shape != (*shape, *rest):
        raise UnsuitableValues(name, "values", f"an array of shape {(*shape, *rest)}", _words(own))
    spread = np.broadcast_to(own, (*shape, *rest)).astype(array.dtype)
    return spread.reshape((indices[0].size, *rest))


def _combination(
    name: str, operator: Any, columns: Columns, identity: Any
) -> Callable[[list[Any], list[Any]], list[Any]] | None:
    if operator is None:
        return None
    operation = _named(name, operator, [array.dtype for array in columns.arrays], columns.structure)
    if operation is not None:
        ufunc = UFUNCS[operation]
        return lambda old, new: [ufunc(*pair) for pair in zip(old, new, strict=True)]
    _identity(name, columns, identity)

    def combine(old: list[Any], new: list[Any]) -> list[Any]:
        result = operator(columns.together(old), columns.together(new))
        fitted = _typed(columns, result, is_broadcast=False)
        if fitted is None:
            raise OperatorDiffers(name, _words(result), _described(columns))
        return fitted

    return combine


def _place(index: tuple[Any, ...], shape: tuple[int, ...], bounds: str) -> tuple[int, ...] | None:
    """An index with negative parts counted from the end; None where it is outside and to be ignored."""
    place = tuple(int(one) + size if one < 0 else int(one) for one, size in zip(index, shape, strict=False))
    for one, given, size in zip(place, index, shape, strict=False):
        if not 0 <= one < size:
            if bounds == "ignore":
                return None
            raise IndexOutOfBounds(f"index {given} is out of range for a dimension of size {size}")
    return place


# ---------------------------------------------------------------------------- selection
def kept(predicate: Any, xs: Any) -> Any:
    """The items for which the predicate holds, or where a mask is true."""
    name = "ad.filter"
    columns = columns_of(name, xs)
    if callable(predicate):
        mask = np.array([bool(predicate(item)) for item in columns], bool)
    else:
        mask = np.asarray(predicate)
        if mask.dtype.kind != "b" or mask.ndim != 1:
            raise UnsuitableValues(name, "predicate", "a function or a vector of bools", _words(mask))
        if len(mask) != len(columns):
            raise SizeMismatch(f"{name}: sizes {len(mask)} and {len(columns)} differ")
    return pytree.unflatten(columns.structure, [array[mask] for array in columns.arrays])


def mapped(function: Any, xs: Sequence[Any]) -> Any:
    """The function of every item, leaf by leaf in arrays."""
    name = "ad.map"
    if not callable(function):
        raise UnsuitableValues(name, "function", "a function of one item of each sequence", _words(function))
    if not xs:
        raise UnsuitableValues(name, "xs", "at least one sequence", "nothing")
    parts = [columns_of(name, one) for one in xs]
    if len({len(part) for part in parts}) > 1:
        raise SizeMismatch(f"{name}: the sizes {[len(part) for part in parts]} differ")
    results = [function(*items) for items in zip(*parts, strict=True)]
    if not results:
        return np.zeros(0)
    columns = stacked(name, results)
    return pytree.unflatten(columns.structure, columns.arrays)
