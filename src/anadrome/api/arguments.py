"""Which leaves of the arguments a transform differentiates by, and what it says of those it cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from anadrome.api import pytree
from anadrome.api.closures import like_leaf, staged_leaf
from anadrome.api.pytree import Structure
from anadrome.array_ir.nodes import ArrayType, Size
from anadrome.dtypes import BOOL
from anadrome.errors.api import ArgumentNumbers, IntegerArgument, NothingToDifferentiate, SettingMismatch
from anadrome.frontend.arrays import describe
from anadrome.frontend.context import Context
from anadrome.frontend.values import Array, Scalar, Staged, Value

Argnums = int | str | Sequence[int | str]
"""Positions and names of arguments."""

Selection = int | str | tuple[int | str, ...]
"""Positions and names of arguments, as a value."""


@dataclass(frozen=True, slots=True, eq=False)
class Active:
    """The arguments a transform differentiates by.

    `leaves` are their floats by position among all flattened arguments. `structure` is that of the
    derivative; `others` are, by place among its leaves, those that are not differentiated by: integers and
    bools, of which the derivative holds zeros, and what it keeps (`kept`): strings and their like, and the
    pattern of a sparse matrix.
    """

    leaves: Mapping[int, Staged]
    structure: Structure
    others: Mapping[int, Value]
    kept: Set[int]

    def derivative(self, context: Context, parts: Sequence[Value], result: Sequence[Size] = ()) -> Value:
        """One part for each active leaf, in the form of the arguments, of a result of this shape."""
        supply = iter(parts)
        found: list[Value] = []
        for place in range(len(self.leaves) + len(self.others)):
            leaf = self.others.get(place)
            if place not in self.others:
                found.append(next(supply))
            elif place in self.kept or not isinstance(leaf, Scalar | Array):
                found.append(leaf)
            else:
                found.append(zero(context, leaf, result))
        return pytree.unflatten(self.structure, found)


def zero(context: Context, leaf: Staged, result: Sequence[Size] = ()) -> Value:
    """The derivative of a result of this shape by an integer or bool: zeros of its own type."""
    found = context.builder.zeros(ArrayType(leaf.dtype, (*result, *leaf.shape)))
    return like_leaf(context, found, not result and isinstance(leaf, Scalar) and leaf.is_weak, 0)


def active_arguments(
    context: Context,
    transform: str,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    argnums: Argnums,
    names: Sequence[str] = (),
) -> Active:
    """The leaves of the arguments that `argnums` chooses. Integers in containers are not differentiated by.

    `names` are those of the positional parameters.
    """
    leaves: dict[int, Staged] = {}
    others: dict[int, Value] = {}
    structures: list[Structure] = []
    kept: set[int] = set()
    for chosen in chosen_arguments(transform, args, kwargs, argnums, names):
        found, structure = pytree.flatten(chosen.value)
        staged = [staged_leaf(context, leaf) for leaf in found]
        _check_floats(transform, chosen.name, staged, structure)
        places = pytree.pattern_places(structure)
        for offset, (leaf, one) in enumerate(zip(found, staged, strict=True)):
            if one is not None and one.dtype.is_float and not places[offset]:
                leaves[chosen.start + offset] = one
                continue
            if one is None or places[offset]:
                kept.add(len(leaves) + len(others))
            others[len(leaves) + len(others)] = leaf if one is None else one
        structures.append(structure)
    if isinstance(argnums, int | str):
        return Active(leaves, structures[0], others, kept)
    return Active(leaves, pytree.Node(tuple, (), tuple(structures)), others, kept)


def _check_floats(transform: str, name: str, leaves: Sequence[Staged | None], structure: Structure) -> None:
    """Refuse an argument without a float, and a list in which whole numbers stand among floats: a container
    of settings it is not, so they are floats that were written short."""
    paths = pytree.leaf_paths(structure, name)
    whole = [place for place, leaf in enumerate(leaves) if leaf is not None and not leaf.dtype.is_float]
    if not any(leaf is not None and leaf.dtype.is_float for leaf in leaves):
        if not whole:
            raise NothingToDifferentiate(transform, name)
        found = leaves[whole[0]]
        assert found is not None
        raise IntegerArgument(transform, paths[whole[0]], describe(found))
    lists = pytree.lists_around(structure)
    numbers = [isinstance(leaf, Scalar) and lists[place] is not None for place, leaf in enumerate(leaves)]
    of_floats = {lists[place] for place, is_number in enumerate(numbers) if is_number and place not in whole}
    for place in whole:
        leaf = leaves[place]
        if numbers[place] and leaf is not None and leaf.dtype is not BOOL and lists[place] in of_floats:
            raise IntegerArgument(transform, paths[place], f"{describe(leaf)} in a list of floats")


# ---------------------------------------------------------------------------- which arguments
@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """An argument that is differentiated by: its name, and where its leaves start among those of all."""

    name: str
    value: Value
    start: int


def selection(transform: str, argnums: Argnums | None, argnames: str | Sequence[str] | None) -> Selection:
    """What a user has chosen to differentiate by, as a value; the first argument where nothing is said.

    What is no position and no name is refused when the transform is called.
    """
    if argnames is None:
        given = 0 if argnums is None else argnums
        return tuple(given) if isinstance(given, list | tuple | range) else given  # type: ignore[return-value]
    if argnums is not None:
        help = "`argnums` takes names as well: `argnums=(0, 'scale')`"
        raise SettingMismatch(transform, "argnames", "left out where `argnums` is given", argnames, help)
    several = argnames if isinstance(argnames, list | tuple) else (argnames,)
    if not all(isinstance(name, str) for name in several):
        help = "write `argnames='scale'`, or `argnames=('scale', 'shift')`"
        raise SettingMismatch(transform, "argnames", "a name, or a tuple of names", argnames, help)
    return argnames if isinstance(argnames, str) else tuple(argnames)


def chosen_arguments(
    transform: str,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    argnums: Argnums,
    names: Sequence[str] = (),
) -> list[Chosen]:
    """The arguments that `argnums` chooses, each at most once; one passed by name has its position too."""
    starts = [0]
    for value in (*args, *kwargs.values()):
        starts.append(starts[-1] + len(pytree.flatten(value)[0]))
    labels = [names[place] if place < len(names) else str(place) for place in range(len(args))]
    places = {label: place for place, label in enumerate((*labels, *kwargs))}
    given = tuple(argnums) if isinstance(argnums, tuple | list) else (argnums,)
    found = [_place(one, len(args), names, places) for one in given]
    if not found or None in found or len(set(found)) < len(found):
        raise ArgumentNumbers(transform, argnums, [*labels, *kwargs])
    values = (*args, *kwargs.values())
    spelled = (*labels, *kwargs)
    return [Chosen(spelled[place], values[place], starts[place]) for place in found if place is not None]


def _place(one: object, count: int, names: Sequence[str], places: Mapping[str, int]) -> int | None:
    """Where an argument stands, those by position first; `count` are given by position."""
    if isinstance(one, str):
        return places.get(one) if one.isidentifier() else None
    if not isinstance(one, int):
        return None
    given = [place for place, name in enumerate(names) if place >= count and name in places]
    number = one + max((*given, count - 1)) + 1 if one < 0 else one
    if 0 <= number < count:
        return number
    return places[names[number]] if number in given else None
