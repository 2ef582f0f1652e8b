"""Containers of numbers: tuples, lists, dicts, named tuples and dataclasses taken apart and put together
again.

`flatten` gives the leaves of a value in order and its structure, which is hashable: two values of one
structure differ in their leaves alone. `None` is a container of nothing. What is not a container is a leaf.
Subclasses of list and dict, and dataclass types themselves, are leaves: their meaning is their own. So are
the dataclasses of this package, staged values among them.

A complex number or array is a container of its real and its imaginary part, which are leaves. A sparse matrix
is one of its stored values, its two arrays of places, and its shape: by the first it is differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import count
from typing import Any

import numpy as np

from anadrome.frontend import sparse_matrices
from anadrome.frontend.guards import overlooked
from anadrome.frontend.sparse_matrices import kind_of, made_of, part_names
from anadrome.frontend.sparse_program import Sparse
from anadrome.frontend.structures import joined
from anadrome.frontend.values import Complex


@dataclass(frozen=True, slots=True)
class Leaf:
    """The place of a leaf in a structure."""


@dataclass(frozen=True, slots=True)
class Node:
    """A container: its type, the keys or field names of its parts (none for tuples and lists), and their
    structure. `overlooked` tells keys apart that are equal, such as 1 and True."""

    type: type
    names: tuple[Hashable, ...]
    parts: tuple[Structure, ...]
    overlooked: Hashable = ()


Structure = Leaf | Node
LEAF = Leaf()
NOTHING = Node(type(None), (), ())


def flatten(tree: object) -> tuple[list[Any], Structure]:
    """The leaves of a value, in order, and its structure.

    >>> leaves, structure = flatten({"weight": 1.0, "bias": (2.0, None)})
    >>> leaves
    [1.0, 2.0]
    >>> unflatten(structure, [3.0, 4.0])
    {'weight': 3.0, 'bias': (4.0, None)}
    """
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves)


def _flatten(tree: object, leaves: list[Any]) -> Structure:
    if tree is None:
        return NOTHING
    found = parts_of(tree)
    if found is None:
        leaves.append(tree)
        return LEAF
    names, parts = found
    kind = Complex if names is PARTS else kind_of(tree) or type(tree)
    return Node(kind, names, tuple([_flatten(part, leaves) for part in parts]), overlooked_keys(names))


def overlooked_keys(names: Sequence[object]) -> Hashable:
    """What tells keys of a dict apart that are equal; nothing where all of them are texts."""
    return () if all(type(name) is str for name in names) else overlooked(tuple(names))


def parts_of(tree: object) -> tuple[tuple[Hashable, ...], Sequence[object]] | None:
    """The names and parts of a container; None for a leaf."""
    kind = type(tree)
    if kind is tuple or kind is list:
        return (), tree  # type: ignore[return-value]
    if kind is dict:
        return tuple(tree), tuple(tree.values())  # type: ignore[arg-type, attr-defined]
    if is_complex(kind, tree):
        return PARTS, (tree.real, tree.imag)  # type: ignore[attr-defined]
    sparse = kind_of(tree)
    if sparse is not None:
        return part_names(sparse), sparse_matrices.parts_of(tree, sparse)
    if is_named_tuple(kind):
        return kind._fields, tree  # type: ignore[attr-defined, return-value]
    if is_container_class(kind):
        names = tuple(field.name for field in fields(tree))  # type: ignore[arg-type]
        return names, tuple(getattr(tree, name) for name in names)
    return None


PARTS = ("real", "imag")


def is_complex(kind: type, value: object) -> bool:
    """Whether a value of this type is a complex number or array, staged or not."""
    if kind is np.ndarray or kind is np.memmap:
        return value.dtype.kind == "c"  # type: ignore[attr-defined, no-any-return]
    return kind in COMPLEX_NUMBERS


COMPLEX_NUMBERS = (Complex, complex, np.complex64, np.complex128)


def is_complex_node(structure: Structure) -> bool:
    """Whether this is the structure of a complex number or array."""
    return isinstance(structure, Node) and structure.type is Complex


def imaginary_places(structure: Structure) -> list[bool]:
    """Of each leaf, whether it is an imaginary part.

    >>> imaginary_places(flatten((1.0, 2j))[1])
    [False, False, True]
    """
    if isinstance(structure, Leaf):
        return [False]
    if is_complex_node(structure):
        return [False, True]
    return [place for part in structure.parts for place in imaginary_places(part)]


def is_sparse_node(structure: Structure) -> bool:
    """Whether this is the structure of a sparse matrix."""
    return isinstance(structure, Node) and issubclass(structure.type, Sparse)


def has_sparse(structure: Structure) -> bool:
    """Whether there is a sparse matrix in a structure."""
    return any(pattern_places(structure))


def pattern_places(structure: Structure) -> list[bool]:
    """Of each leaf, whether it says where a sparse matrix has its values, or of what shape it is."""
    if isinstance(structure, Leaf):
        return [False]
    of_parts = [pattern_places(part) for part in structure.parts]
    if is_sparse_node(structure):
        of_parts[1:] = [[True]] * (len(of_parts) - 1)
    return [place for part in of_parts for place in part]


def is_container_class(kind: type) -> bool:
    """Whether a type is a user's dataclass."""
    return is_dataclass(kind) and not kind.__module__.startswith("anadrome.")


def is_named_tuple(kind: type) -> bool:
    """Whether a type is a named tuple's."""
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def unflatten(structure: Structure, leaves: Sequence[object]) -> Any:
    """The value of a structure with these leaves."""
    supply = iter(leaves)
    tree = _unflatten(structure, supply)
    assert next(supply, _END) is _END, "as many leaves as the structure has"
    return tree


_END = object()


def _unflatten(structure: Structure, leaves: Iterator[object]) -> Any:
    if isinstance(structure, Leaf):
        return next(leaves)
    kind = structure.type
    parts = [_unflatten(part, leaves) for part in structure.parts]
    if kind is list:
        return parts
    if kind is tuple:
        return tuple(parts)
    if kind is dict:
        return dict(zip(structure.names, parts, strict=True))
    if kind is type(None):
        return None
    if kind is Complex:
        return joined(*parts)
    if issubclass(kind, Sparse):
        return made_of(kind, parts)
    if is_named_tuple(kind):
        return kind(*parts)
    made: Any = object.__new__(kind)
    for name, part in zip(structure.names, parts, strict=True):
        object.__setattr__(made, str(name), part)
    return made


def leaf_paths(structure: Structure, start: str = "") -> list[str]:
    """How Python would write the way to each leaf, after the name of the whole.

    >>> leaf_paths(flatten([1, {"a": (2, 3)}])[1], "x")
    ['x[0]', "x[1]['a'][0]", "x[1]['a'][1]"]
    """
    if isinstance(structure, Leaf):
        return [start]
    paths: list[str] = []
    for position, part in enumerate(structure.parts):
        if not structure.names:
            step = f"[{position}]"
        elif structure.type is dict:
            step = f"[{structure.names[position]!r}]"
        else:
            step = f".{structure.names[position]}"
        paths += leaf_paths(part, start + step)
    return paths


def lists_around(structure: Structure) -> list[int | None]:
    """Of each leaf, which list it is an item of, by number; None where it is no item of a list.

    >>> lists_around(flatten((1.0, [2.0, 3.0], [4.0, (5.0,)]))[1])
    [None, 0, 0, 1, None]
    """
    numbers = count()

    def around(part: Structure, parent: int | None) -> list[int | None]:
        if isinstance(part, Leaf):
            return [parent]
        own = next(numbers) if part.type is list else None
        return [found for inner in part.parts for found in around(inner, own)]

    return around(structure, None)


def map_leaves(function: Callable[[Any], object], tree: object) -> Any:
    """The value with `function` applied to each of its leaves."""
    leaves, structure = flatten(tree)
    return unflatten(structure, [function(leaf) for leaf in leaves])


def describe(structure: Structure) -> str:
    """A structure for people: `*` is a leaf.

    >>> describe(flatten((1, [2, {"a": 3}]))[1])
    "(*, [*, {'a': *}])"
    """
    if isinstance(structure, Leaf):
        return "*"
    if is_complex_node(structure):
        return "a complex *"
    parts = [describe(part) for part in structure.parts]
    if structure.type is type(None):
        return "None"
    if structure.type is list:
        return f"[{', '.join(parts)}]"
    if structure.type is tuple:
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    if structure.type is dict:
        return "{" + ", ".join(f"{k!r}: {p}" for k, p in zip(structure.names, parts, strict=True)) + "}"
    named = ", ".join(f"{name}={part}" for name, part in zip(structure.names, parts, strict=True))
    return f"{structure.type.__name__}({named})"
