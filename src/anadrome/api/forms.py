"""The form of a call, found in one quick walk: what the choice of its program depends on.

A call that differs from an earlier one in values alone finds its program by this walk and a look into a
dictionary. `signature` says the same of a call in full, and refuses what cannot be an argument: a call with a
value that the walk does not know has no form, and goes that way.

The form of an array is its scalar type and its shape, and whether it is contiguous, which decides what NumPy
makes a view of what is computed from it; of a number it is its type. A container has its type and how many
parts it has or what they are called; anything else is static, and a part of the form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from anadrome.api.pytree import (
    COMPLEX_NUMBERS,
    is_complex,
    is_container_class,
    is_named_tuple,
    overlooked_keys,
)
from anadrome.api.signature import LARGE, NUMBERS, equal_lengths
from anadrome.frontend.drawing import GENERATORS
from anadrome.frontend.guards import overlooked
from anadrome.frontend.sparse_matrices import is_sparse

Walk = Callable[[Any, list[object], list[Any]], None]
"""Add the form of a value, behind its type, and its leaves."""

MOST_CLASSES = 1_000
"""The classes whose walk is remembered."""


class _NoForm(Exception):
    """A value that the walk does not know, or that cannot be an argument."""


def form_of(args: Sequence[object], kwargs: Mapping[str, object]) -> tuple[list[object], list[Any]] | None:
    """The form of a call and its leaves, complex ones whole; None where the long way must be gone.

    >>> form_of((1.0, [np.zeros(3)]), {})[0]
    [<class 'float'>, <class 'list'>, 1, dtype('float64'), (3,)]
    """
    form: list[object] = []
    leaves: list[Any] = []
    try:
        if not kwargs:
            _add_all(args, form, leaves)
        else:
            form.append(tuple(kwargs))
            _add_all([*args, *kwargs.values()], form, leaves)
    except (_NoForm, RecursionError):
        return None
    return form, leaves


def general(form: Iterable[object], small: int) -> tuple[object, ...]:
    """A form in which dimensions above `small` are only large, and some of them one size."""
    found: list[object] = []
    shapes: list[list[int]] = []
    is_shape = False
    for part in form:
        if is_shape:
            assert isinstance(part, tuple)
            found.append(tuple([size if size <= small else LARGE for size in part]))
            shapes.append([size for size in part if size > small])
        else:
            found.append(part)
        is_shape = isinstance(part, np.dtype)
    if len(shapes) > 1:
        found.append(equal_lengths(shapes))
    return tuple(found)


def parts_of_complex(leaves: Iterable[Any]) -> list[Any]:
    """The leaves, with the two parts of each that is complex."""
    found: list[Any] = []
    for leaf in leaves:
        found += (leaf.real, leaf.imag) if is_complex(type(leaf), leaf) else (leaf,)
    return found


def _add_all(values: Iterable[Any], form: list[object], leaves: list[Any]) -> None:
    for value in values:
        kind = type(value)
        if kind is np.ndarray:
            shape = value.shape
            form.append(value.dtype)
            form.append(shape)
            if len(shape) > 1:
                form.append(value.flags.c_contiguous)
            leaves.append(value)
        elif kind is float:
            form.append(kind)
            leaves.append(value)
        else:
            walk = _WALKS.get(kind) or _walk_of(value)
            form.append(kind)
            walk(value, form, leaves)


def _add_mapped(value: Any, form: list[object], leaves: list[Any]) -> None:
    _add_all((value.view(np.ndarray),), form, leaves)


def _add_number(value: Any, _: list[object], leaves: list[Any]) -> None:
    leaves.append(value)


def _add_nothing(value: Any, form: list[object], _: list[Any]) -> None:
    form.append(value)


def _add_items(value: Any, form: list[object], leaves: list[Any]) -> None:
    form.append(len(value))
    _add_all(value, form, leaves)


def _add_dict(value: Any, form: list[object], leaves: list[Any]) -> None:
    names = tuple(value)
    form.append((names, overlooked_keys(names)))
    _add_all(value.values(), form, leaves)


def _add_static(value: Any, form: list[object], leaves: list[Any]) -> None:
    try:
        hash(value)
    except (TypeError, ValueError):
        raise _NoForm from None
    form.append((value, overlooked(value)))  # never a scalar type, behind which a shape stands
    leaves.append(value)


def _refuse(*_: object) -> None:
    raise _NoForm


_WALKS: dict[type, Walk] = {
    tuple: _add_items,
    list: _add_items,
    dict: _add_dict,
    type(None): _add_nothing,
    **dict.fromkeys((*NUMBERS, *COMPLEX_NUMBERS, *GENERATORS), _add_number),
    np.memmap: _add_mapped,
}


def _walk_of(value: object) -> Walk:
    """How values of the class of this one are walked."""
    kind = type(value)
    if len(_WALKS) >= MOST_CLASSES:
        return _new_walk(value, kind)
    return _WALKS.setdefault(kind, _new_walk(value, kind))


def _new_walk(value: object, kind: type) -> Walk:
    if is_sparse(value) or hasattr(kind, "__array__"):
        return _refuse
    if is_named_tuple(kind):
        return _add_items
    if not is_container_class(kind):
        return _add_static
    names = [field.name for field in fields(kind)]
    return lambda one, form, leaves: _add_items([getattr(one, name) for name in names], form, leaves)
